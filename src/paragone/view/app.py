"""The live view as an ASGI application: read-only, for this machine only, under a strict policy."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paragone.charts.vega_script import vega_bundle
from paragone.errors import InputError
from paragone.reporting.page_render import static_file
from paragone.results import Results
from paragone.view.building import Keeper
from paragone.view.details import Place, cell_details, fold_details
from paragone.view.gate import TokenGate
from paragone.view.progress import progress_of
from paragone.view.selection import Selection
from paragone.view.shell import render_shell, view_file

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

LONGEST_SHOWN = 40
HOSTS = ("127.0.0.1", "localhost", "[::1]", "::1")
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def create_app(store: str | Path, keeper: Keeper | None = None, token: str | None = None) -> Starlette:
    """Return the application that shows a store.

    Parameters
    ----------
    store : str or Path
        The store; it is only read.
    keeper : Keeper, optional
        Who builds the report; one with a process of its own where it is not given.
    token : str, optional
        What a browser must have to see anything; where it is not given, every user of this machine sees the view.

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

    path = Path(store)
    Results.open(path).close()
    views = _Views(path, keeper or Keeper(path))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        views.keeper.close()

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
        # After the host, so that a page elsewhere, whose name was led to this machine, learns nothing at all.
        middleware.insert(1, Middleware(TokenGate, token=token, headers=HEADERS))
    return Starlette(routes=routes, middleware=middleware, lifespan=lifespan)


def _answering(work: Callable[[_Views, Request], Any]) -> Callable[[_Views, Request], Awaitable[Response]]:
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

    def __init__(self, store: Path, keeper: Keeper) -> None:
        self.store = store
        self.keeper = keeper

    @_answering
    def shell(self, request: Request) -> Any:
        from starlette.responses import HTMLResponse

        with Results.open(self.store) as results:
            return HTMLResponse(render_shell(self.store.name, results.experiments()))

    @_answering
    def progress(self, request: Request) -> Any:
        with Results.open(self.store) as results:
            return progress_of(results, _experiment(results, request.query_params.get("experiment", "")))

    @_answering
    def report(self, request: Request) -> Any:
        """Answer with the newest report there is, or without it where the reader has that one already."""
        pairs = [pair for pair in request.query_params.multi_items() if pair[1]]
        has = dict(pairs).get("has", "")
        selection = Selection.of(pair for pair in pairs if pair[0] != "has")
        with Results.open(self.store) as results:
            version = results.version(_experiment(results, selection.experiment))
            running = bool(results.runs()["lives"].any())
        found = self.keeper.report(selection, version, running=running)
        if found is None:
            return {"version": "", "newest": version, "html": "", "options": {}, "refusal": ""}
        of_version, built = found
        return {
            "version": of_version,
            "newest": version,
            "html": "" if has == of_version else built.html,
            "options": {} if has == of_version else built.options,
            "refusal": built.refusal,
        }

    @_answering
    def folds(self, request: Request) -> Any:
        query = request.query_params
        with Results.open(self.store) as results:
            return fold_details(results, _place(results, query))

    @_answering
    def cell(self, request: Request) -> Any:
        with Results.open(self.store) as results:
            return cell_details(results, _place(results, request.query_params))

    @_answering
    def static(self, request: Request) -> Any:
        from starlette.responses import PlainTextResponse
        from starlette.responses import Response as Plain

        files: dict[str, tuple[Callable[[], str], str]] = {
            "vega.js": (vega_bundle, "text/javascript"),
            "page.js": (lambda: static_file("page.js"), "text/javascript"),
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


def _place(results: Results, query: Mapping[str, str]) -> Place:
    return Place(
        _experiment(results, query.get("experiment", "")),
        query.get("dataset", ""),
        query.get("method", ""),
        _number(query.get("fold", "0")),
        _number(query.get("repeat", "0")),
    )


def _number(text: str) -> int:
    # Not str.isdigit, for which a superscript is a digit too; and no number is longer than the store can hold.
    if not re.fullmatch(r"[0-9]{1,9}", text):
        shown = text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."
        raise InputError(f"{shown!r} is not the number of a fold")
    return int(text)
