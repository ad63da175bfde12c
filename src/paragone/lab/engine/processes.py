"""Between processes of one machine: channels for values and open files, and what Linux offers to keep them together."""

from __future__ import annotations

import ctypes
import io
import os
import pickle
import signal
import socket
import struct
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from typing_extensions import override

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
        # Descriptors ride on the first byte, so that the receiver knows their number from the
        # header on.
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
            return (
                pickle.loads(self._exactly(length)),  # noqa: S301
                descriptors,
            )  # noqa: RUF100, S301
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


PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
MADV_COLLAPSE = 25
KIB = 1024
# Loaded once, in the process that cells are forked from.
_LIBRARY = ctypes.CDLL(None, use_errno=True) if sys.platform != "win32" else ctypes.CDLL("msvcrt")


def can_fork() -> bool:
    """Tell whether cells can be forked from a warmed process here: Linux, with memory files and process descriptors.

    Examples
    --------
    >>> can_fork() in (True, False)
    True
    """
    return sys.platform == "linux" and hasattr(os, "memfd_create") and hasattr(os, "pidfd_open")


def end_with_parent(parent: int) -> None:
    """Have the kernel end this process when its parent ends, even inside native code that holds the interpreter."""
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    # A parent that was gone before the line above will not be missed by anybody.
    if os.getppid() != parent:
        os._exit(1)


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ends, so that they can be found and ended."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def flush_native_output() -> None:
    """Write out what native code printed and the C library still holds back."""
    _LIBRARY.fflush(None)


def collapse_memory() -> None:
    """Have the private memory of this process in large pages, where the kernel can: forking it is quicker then."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        words = line.split()
        is_anonymous = len(words) == 5 or words[5] == "[heap]"
        if is_anonymous and words[1].startswith("rw") and words[1].endswith("p"):
            begin, end = (int(address, 16) for address in words[0].split("-"))
            # An old kernel refuses, and the fork is as slow as it was: nothing is wrong then.
            _LIBRARY.madvise(ctypes.c_void_p(begin), ctypes.c_size_t(end - begin), MADV_COLLAPSE)


def child_processes(process: int) -> list[int]:
    """Return the processes that any thread of a process started, or that it adopted, and that live.

    Examples
    --------
    >>> child_processes(0)
    []
    """
    found: list[int] = []
    for listing in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            found += [int(word) for word in listing.read_text().split()]
        except OSError:
            continue
    return found


def memory_figures(process: int | str = "self") -> dict[str, int]:
    """Return what a process's status file says of its memory, in bytes; nothing where it is gone.

    Examples
    --------
    >>> memory_figures()["VmRSS"] > 0
    True
    """
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return {}
    words = [line.split() for line in lines if line.endswith("kB")]
    return {name.rstrip(":"): int(count) * KIB for name, count, _ in words}


def forget_peak_memory() -> None:
    """Begin to measure the peak of this process's memory anew."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def _prctl(option: int, value: int) -> None:
    if _LIBRARY.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


ALLOWED = {
    "paragone.lab.cells": {"Outcome", "Fitted", "Score", "WarningCount"},
    "paragone.lab.engine.packing": {"Loss", "Refused"},
    "numpy": {"ndarray", "dtype"},
    "numpy._core.multiarray": {"_reconstruct", "scalar"},
    "numpy.core.multiarray": {"_reconstruct", "scalar"},
    "numpy._core.numeric": {"_frombuffer"},
    "numpy.core.numeric": {"_frombuffer"},
    "builtins": {"complex", "set", "frozenset", "bytearray"},
    "_codecs": {"encode"},
}


class _PlainUnpickler(pickle.Unpickler):
    @override
    def find_class(self, module: str, name: str) -> Any:
        if name not in ALLOWED.get(module, ()):
            raise pickle.UnpicklingError(
                f"it holds a {module}.{name}, which is neither a number, a text nor an array"
            )
        return super().find_class(module, name)


def load_plain(content: bytes) -> Any:
    """Return the value of a pickle that holds outcomes, arrays and plain values only.

    Examples
    --------
    >>> load_plain(pickle.dumps((1, "a")))
    (1, 'a')
    >>> load_plain(pickle.dumps(io.BytesIO))
    Traceback (most recent call last):
    _pickle.UnpicklingError: it holds a _io.BytesIO, which is neither a number, a text nor an array
    """
    return _PlainUnpickler(io.BytesIO(content)).load()
