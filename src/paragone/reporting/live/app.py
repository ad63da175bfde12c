"""The live view as an ASGI application: read-only, for this machine only, under a strict policy."""

from __future__ import annotations

import hashlib
import re
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paragone.errors import InputError
from paragone.lab.results import Results
from paragone.lab.view import CellAddress
from paragone.reporting.live.details import cell_details, fold_details, progress_of
from paragone.reporting.live.pages import Keeper, Selection
from paragone.reporting.render import page_script, static_file

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

TOKEN = "token"  # noqa: S105 - the name of the parameter, not a token
TOKEN_BYTES = 24
REFUSAL = (
    "this view asks for its token: open the whole address that `paragone view` printed, with"
    " everything after the question mark"
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

    The loopback address keeps other machines out, not other people on this one. So the address that
    is printed holds a random token; the first request trades it for a cookie and goes on to the
    same address without it, so that neither the address bar nor a screenshot shows the token.

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
        from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse

        request = Request(scope)
        if self._is_right(request.cookies.get(self._cookie)) and TOKEN not in request.query_params:
            await self._app(scope, receive, send)
            return
        answer: Response
        if self._is_right(request.query_params.get(TOKEN)):
            query = str(request.url.remove_query_params(TOKEN).query)
            # A path on this server, whatever slashes the request begins with: never the name of
            # another server.
            there = "/" + request.url.path.lstrip("/\\")
            answer = RedirectResponse(
                there + (f"?{query}" if query else ""), 303, headers=self._headers
            )
            answer.set_cookie(
                self._cookie, self._token.decode(), httponly=True, samesite="lax", path="/"
            )
        elif request.url.path == "/":
            answer = PlainTextResponse(f"{REFUSAL.capitalize()}.\n", 403, headers=self._headers)
        else:
            answer = JSONResponse({"error": REFUSAL}, 403, headers=self._headers)
        await answer(scope, receive, send)

    def _is_right(self, given: str | None) -> bool:
        # Compared in constant time: how long a refusal takes tells nothing about the token.
        return given is not None and secrets.compare_digest(given.encode(), self._token)


def render_shell(stores: Sequence[str], store: int, experiments: Sequence[str]) -> str:
    """Return the frame; everything else is asked for by its script.

    Parameters
    ----------
    stores : sequence of str
        The names of the stores that can be shown.
    store : int
        Which of them is.
    experiments : sequence of str
        The experiments of that store.

    Examples
    --------
    >>> "&lt;lab&gt;.sqlite" in render_shell(["<lab>.sqlite"], 0, ["a"])
    True
    """
    shell = _environment().get_template("shell.html")
    text: str = shell.render(
        title=stores[store], stores=stores, store=store, experiments=experiments
    )
    return text


@cache
def view_file(name: str) -> str:
    """Return the text of a file of the view."""
    return (files("paragone.reporting.live") / "static" / name).read_text(encoding="utf-8")


@cache
def _environment() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("paragone.reporting.live"), autoescape=True, undefined=StrictUndefined
    )


LONGEST_SHOWN = 40
NOT_YET, SOON = (
    "has no scores yet: run it first",
    "has no scores yet: the report appears with the first ones",
)
HOSTS = ("127.0.0.1", "localhost", "[::1]", "::1")
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:;"
        " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def create_app(
    store: str | Path | Sequence[str | Path],
    keeper: Keeper | None = None,
    token: str | None = None,
    *,
    run_code: bool = False,
) -> Starlette:
    """Return the application that shows a store, or several.

    Parameters
    ----------
    store : str, Path or sequence of them
        The stores; they are only read.
    keeper : Keeper, optional
        Who builds the report of the first; each has one with a process of its own where it is not
        given.
    token : str, optional
        What a browser must have to see anything; where it is not given, every user of this machine
        sees the view.
    run_code : bool, default=False
        Whether the code of a protocol that a store names is imported.

    Returns
    -------
    Starlette
        Ready for any ASGI server that listens on this machine only.
    """
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.middleware.gzip import GZipMiddleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware
    from starlette.routing import Route

    paths = [Path(store)] if isinstance(store, (str, Path)) else [Path(one) for one in store]
    for path in paths:
        Results.open(path).close()
    keepers = [Keeper(path, run_code=run_code) for path in paths[1 if keeper else 0 :]]
    views = _Views(paths, [keeper, *keepers] if keeper else keepers)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        for one in views.keepers:
            one.close()

    routes = [
        Route("/", views.shell, methods=["GET"]),
        Route("/report", views.report, methods=["GET"]),
        Route("/progress", views.progress, methods=["GET"]),
        Route("/folds", views.folds, methods=["GET"]),
        Route("/cell", views.cell, methods=["GET"]),
        Route("/static/{name}", views.static, methods=["GET"]),
    ]
    middleware = [
        Middleware(TrustedHostMiddleware, allowed_hosts=list(HOSTS), www_redirect=False),
        Middleware(GZipMiddleware, minimum_size=2000),
    ]
    if token is not None:
        # After the host, so that a page elsewhere, whose name was led to this machine, learns
        # nothing at all.
        middleware.insert(1, Middleware(TokenGate, token=token, headers=HEADERS))
    return Starlette(routes=routes, middleware=middleware, lifespan=lifespan)


def _answering(
    work: Callable[[_Views, Request], Any],
) -> Callable[[_Views, Request], Awaitable[Response]]:
    """Run a view in a thread, with the headers of all answers; a wrong request is told what is wrong."""

    async def answer(views: _Views, request: Request) -> Response:
        from starlette.concurrency import run_in_threadpool
        from starlette.responses import JSONResponse
        from starlette.responses import Response as Plain

        try:
            found = await run_in_threadpool(work, views, request)
        except InputError as error:
            return JSONResponse({"error": str(error)}, status_code=400, headers=HEADERS)
        if isinstance(found, Plain):
            found.headers.update(HEADERS)
            return found
        return JSONResponse(found, headers=HEADERS)

    return answer


class _Views:
    """What is answered to which request."""

    def __init__(self, stores: Sequence[Path], keepers: Sequence[Keeper]) -> None:
        self.stores = stores
        self.keepers = keepers

    def _chosen(self, request: Request) -> int:
        place = _number(request.query_params.get("store") or "0")
        if place >= len(self.stores):
            raise InputError(
                f"there is no store {place}: {len(self.stores)} are shown, counted from 0"
            )
        return place

    def _opened(self, request: Request) -> Results:
        return Results.open(self.stores[self._chosen(request)])

    @_answering
    def shell(self, request: Request) -> Any:
        from starlette.responses import HTMLResponse

        names = [path.name for path in self.stores]
        with self._opened(request) as results:
            page = render_shell(names, self._chosen(request), results.experiments())
            return HTMLResponse(page)

    @_answering
    def progress(self, request: Request) -> Any:
        with self._opened(request) as results:
            return progress_of(
                results, _experiment(results, request.query_params.get("experiment", ""))
            )

    @_answering
    def report(self, request: Request) -> Any:
        """Answer with the newest report there is, or without it where the reader has that one already."""
        pairs = [pair for pair in request.query_params.multi_items() if pair[1]]
        has = dict(pairs).get("has", "")
        selection = Selection.of(pair for pair in pairs if pair[0] not in ("has", "store"))
        with self._opened(request) as results:
            version = results.version(_experiment(results, selection.experiment))
            running = bool(results.runs()["lives"].any())
        found = self.keepers[self._chosen(request)].report(selection, version, running=running)
        if found is None:
            return {"version": "", "newest": version, "html": "", "options": {}, "refusal": ""}
        of_version, built = found
        return {
            "version": of_version,
            "newest": version,
            "html": "" if has == of_version else built.html,
            "options": {} if has == of_version else built.options,
            # While a run goes on, nobody has to run anything.
            "refusal": built.refusal.replace(NOT_YET, SOON) if running else built.refusal,
        }

    @_answering
    def folds(self, request: Request) -> Any:
        with self._opened(request) as results:
            return fold_details(results, _place(results, request.query_params))

    @_answering
    def cell(self, request: Request) -> Any:
        with self._opened(request) as results:
            return cell_details(results, _place(results, request.query_params))

    @_answering
    def static(self, request: Request) -> Any:
        from starlette.responses import PlainTextResponse
        from starlette.responses import Response as Plain

        files: dict[str, tuple[Callable[[], str], str]] = {
            "page.js": (page_script, "text/javascript"),
            "page.css": (lambda: static_file("page.css"), "text/css"),
            "view.js": (lambda: view_file("view.js"), "text/javascript"),
            "view.css": (lambda: view_file("view.css"), "text/css"),
        }
        name = request.path_params["name"]
        if name not in files:
            return PlainTextResponse("there is no such file", status_code=404)
        text, kind = files[name]
        return Plain(text(), media_type=kind)


def _experiment(results: Results, name: str) -> str:
    names = results.experiments()
    if not names:
        raise InputError("nothing was planned into this store yet")
    return str(results.described(name or names[0])["name"])


def _place(results: Results, query: Mapping[str, str]) -> CellAddress:
    return CellAddress(
        _experiment(results, query.get("experiment", "")),
        query.get("dataset", ""),
        query.get("method", ""),
        _number(query.get("fold", "0")),
        _number(query.get("repeat", "0")),
    )


def _number(text: str) -> int:
    # Not str.isdigit, for which a superscript is a digit too; and no number is longer than the
    # store can hold.
    if not re.fullmatch(r"[0-9]{1,9}", text):
        shown = text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."
        raise InputError(f"{shown!r} is not the number of a fold")
    return int(text)


ADDRESS = "127.0.0.1"


def serve(
    store: str | Path | Sequence[str | Path],
    port: int = 8765,
    told: Callable[[str], None] | None = None,
    *,
    ask_token: bool = True,
    run_code: bool = False,
) -> None:
    """Show a store, or several, to the browsers of this machine until interrupted.

    Parameters
    ----------
    store : str, Path or sequence of them
        The stores; they are only read.
    port : int, default=8765
        Where to listen; 0 for any free port.
    told : callable, optional
        Is told the address when it can be opened.
    ask_token : bool, default=True
        Whether the address holds a random token that every request must know, so that other users
        of this machine see nothing.
    run_code : bool, default=False
        Whether the code of a protocol that the store names is imported.
    """
    try:
        import uvicorn

        from paragone.reporting.live.connections import ImpatientProtocol
    except ImportError as error:
        raise InputError(
            "the live view needs starlette and uvicorn: pip install 'paragone[view]'"
        ) from error
    token = new_token() if ask_token else None
    app = create_app(store, token=token, run_code=run_code)
    listening = listen(port)
    if told is not None:
        told(
            f"http://{ADDRESS}:{listening.getsockname()[1]}/"
            + (f"?{TOKEN}={token}" if token else "")
        )
    config = uvicorn.Config(
        app,
        http=ImpatientProtocol,
        ws="none",
        log_level="error",
        access_log=False,
        server_header=False,
    )
    uvicorn.Server(config).run(sockets=[listening])


def listen(port: int) -> socket.socket:
    """Open the port on the loopback address; one that is taken is said so."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((ADDRESS, port))
    except OSError as error:
        listening.close()
        raise InputError(
            f"port {port} cannot be used: {error}; give another with --port"
        ) from error
    listening.listen()
    return listening
