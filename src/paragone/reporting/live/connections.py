"""Connections that do not stay half open: a request comes whole within some seconds, or its connection is closed."""

from __future__ import annotations

import asyncio

from typing_extensions import override
from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_SECONDS = 10.0
"""How long a request may take to arrive: a browser of this machine needs milliseconds."""


class ImpatientProtocol(H11Protocol):
    """HTTP that waits a limited time for a request, counted from its first byte or from the opening of the connection.

    Uvicorn ends connections that are idle between two requests, but waits for ever for the rest of
    one that was begun.
    """

    _deadline: asyncio.TimerHandle | None = None

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect_request()

    @override
    def data_received(self, data: bytes) -> None:
        if self._deadline is None and not self._is_answering():
            self._expect_request()
        super().data_received(data)
        if self._is_answering():
            self._forget_deadline()

    @override
    def on_response_complete(self) -> None:
        # Between two requests the connection is idle, which Uvicorn limits by itself.
        self._forget_deadline()
        super().on_response_complete()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._forget_deadline()
        super().connection_lost(exc)

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _expect_request(self) -> None:
        self._deadline = asyncio.get_running_loop().call_later(REQUEST_SECONDS, self._give_up)

    def _forget_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        if not self.transport.is_closing():
            self.transport.close()
