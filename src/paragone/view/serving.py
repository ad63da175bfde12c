"""Serve the live view to this machine."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

from paragone.errors import InputError
from paragone.view.gate import TOKEN, new_token

ADDRESS = "127.0.0.1"


def serve(
    store: str | Path, port: int = 8765, told: Callable[[str], None] | None = None, *, ask_token: bool = True
) -> None:
    """Show a store to the browsers of this machine until interrupted.

    Parameters
    ----------
    store : str or Path
        The store; it is only read.
    port : int, default=8765
        Where to listen; 0 for any free port.
    told : callable, optional
        Is told the address when it can be opened.
    ask_token : bool, default=True
        Whether the address holds a random token that every request must know, so that other users of this machine see
        nothing.
    """
    try:
        import uvicorn

        from paragone.view.app import create_app
        from paragone.view.connections import ImpatientProtocol
    except ImportError as error:
        raise InputError("the live view needs starlette and uvicorn: pip install 'paragone[view]'") from error
    token = new_token() if ask_token else None
    app = create_app(store, token=token)
    listening = listen(port)
    if told is not None:
        told(f"http://{ADDRESS}:{listening.getsockname()[1]}/" + (f"?{TOKEN}={token}" if token else ""))
    config = uvicorn.Config(
        app, http=ImpatientProtocol, ws="none", log_level="error", access_log=False, server_header=False
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
        raise InputError(f"port {port} cannot be used: {error}; give another with --port") from error
    listening.listen()
    return listening
