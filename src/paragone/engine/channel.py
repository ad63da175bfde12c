"""Channel: whole Python values and open files between two processes of this machine, over a pair of sockets."""

from __future__ import annotations

import pickle
import socket
import struct
from collections.abc import Sequence
from typing import Any

HEADER = struct.Struct("<QI")
MOST_DESCRIPTORS = 4


class Channel:
    """One end of a connection. Whoever closes its end, or dies, ends the other's waiting with EOFError.

    Parameters
    ----------
    connection : socket.socket
        A connected stream socket of the family AF_UNIX.

    Examples
    --------
    >>> here, there = Channel.pair()
    >>> here.send({"answer": 42})
    >>> there.receive()
    ({'answer': 42}, [])
    >>> here.close()
    >>> there.receive()
    Traceback (most recent call last):
    EOFError: the other end is closed
    """

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection

    @classmethod
    def pair(cls) -> tuple[Channel, Channel]:
        """Return the two ends of a new connection; neither is inherited by a program that is executed."""
        here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        return cls(here), cls(there)

    @classmethod
    def of_descriptor(cls, descriptor: int) -> Channel:
        """Return the end that an open descriptor of this process is."""
        return cls(socket.socket(fileno=descriptor))

    def fileno(self) -> int:
        """Return the descriptor, to wait for."""
        return self._socket.fileno()

    def send(self, value: Any, descriptors: Sequence[int] = ()) -> None:
        """Send a value, and open files with it, which the other end gets as descriptors of its own."""
        body = pickle.dumps(value, protocol=5)
        # Descriptors ride on the first byte, so that the receiver knows their number from the header on.
        socket.send_fds(self._socket, [HEADER.pack(len(body), len(descriptors))], list(descriptors))
        self._socket.sendall(body)

    def receive(self) -> tuple[Any, list[int]]:
        """Wait for a value; return it with the descriptors that came along.

        Raises
        ------
        EOFError
            Where the other end is closed.
        """
        try:
            header, descriptors, _, _ = socket.recv_fds(self._socket, HEADER.size, MOST_DESCRIPTORS)
            if header and len(header) < HEADER.size:
                header += self._exactly(HEADER.size - len(header))
            if not header:
                raise EOFError("the other end is closed")
            length, _ = HEADER.unpack(header)
            return pickle.loads(self._exactly(length)), descriptors  # noqa: S301  from a process that we started
        except ConnectionError as error:
            raise EOFError("the other end is closed") from error

    def _exactly(self, length: int) -> bytes:
        received = bytearray(length)
        view = memoryview(received)
        while view:
            count = self._socket.recv_into(view)
            if not count:
                raise EOFError("the other end is closed")
            view = view[count:]
        return bytes(received)

    def end_sending(self) -> None:
        """Tell the other end that nothing more will come; what it still sends can be read."""
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError:
            return

    def wait_for_end(self, seconds: float) -> bool:
        """Read and forget until the other end is closed; False where it is not within the time."""
        self._socket.settimeout(seconds)
        try:
            while self._socket.recv(1 << 16):
                pass
        except TimeoutError:
            return False
        except OSError:
            return True
        return True

    def close(self) -> None:
        """Close this end."""
        self._socket.close()


def read_all(descriptor: int) -> bytes:
    """Return the content of an open file, whatever its offset is, and close it.

    Examples
    --------
    >>> import os
    >>> file = os.memfd_create("example")
    >>> os.write(file, b"content")
    7
    >>> read_all(file)
    b'content'
    """
    with open(descriptor, "rb") as file:
        file.seek(0)
        return file.read()
