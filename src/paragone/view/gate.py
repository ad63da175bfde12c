"""Who may see the live view: whoever has the token of the printed address, as every other user of the machine has not.

The loopback address keeps other machines out, not other people on this one. So the address that is printed holds a
random token; the first request trades it for a cookie and goes on to the same address without it, so that neither the
address bar nor a screenshot shows the token.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import ASGIApp, Receive, Scope, Send

TOKEN = "token"  # noqa: S105 - the name of the parameter, not a token
TOKEN_BYTES = 24
REFUSAL = (
    "this view asks for its token: open the whole address that `paragone view` printed, with everything after the "
    "question mark"
)


def new_token() -> str:
    """Return a token that nobody guesses.

    Examples
    --------
    >>> len(new_token()), new_token() == new_token()
    (32, False)
    """
    return secrets.token_urlsafe(TOKEN_BYTES)


def cookie_name(token: str) -> str:
    """Return the name of the cookie; two views on two ports, which share their cookies, have one each.

    Examples
    --------
    >>> cookie_name("a") == cookie_name("b")
    False
    """
    return f"paragone-view-{hashlib.sha256(token.encode()).hexdigest()[:12]}"


class TokenGate:
    """Lets requests through that have the token's cookie, and gives the cookie to those that have the token.

    Parameters
    ----------
    app : ASGI application
        What is behind the gate.
    token : str
        What is asked for.
    headers : mapping of str to str
        Headers of the gate's own answers.
    """

    def __init__(self, app: ASGIApp, token: str, headers: Mapping[str, str]) -> None:
        self._app = app
        self._token = token.encode()
        self._cookie = cookie_name(token)
        self._headers = dict(headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        from starlette.requests import Request
        from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response

        request = Request(scope)
        if self._is_right(request.cookies.get(self._cookie)) and TOKEN not in request.query_params:
            await self._app(scope, receive, send)
            return
        answer: Response
        if self._is_right(request.query_params.get(TOKEN)):
            query = str(request.url.remove_query_params(TOKEN).query)
            # A path on this server, whatever slashes the request begins with: never the name of another server.
            there = "/" + request.url.path.lstrip("/\\")
            answer = RedirectResponse(there + (f"?{query}" if query else ""), 303, headers=self._headers)
            answer.set_cookie(self._cookie, self._token.decode(), httponly=True, samesite="lax", path="/")
        elif request.url.path == "/":
            answer = PlainTextResponse(f"{REFUSAL.capitalize()}.\n", 403, headers=self._headers)
        else:
            answer = JSONResponse({"error": REFUSAL}, 403, headers=self._headers)
        await answer(scope, receive, send)

    def _is_right(self, given: str | None) -> bool:
        # Compared in constant time: how long a refusal takes tells nothing about the token.
        return given is not None and secrets.compare_digest(given.encode(), self._token)
