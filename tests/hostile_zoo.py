"""The zoo: methods that do to their process, their data and their neighbours what methods should not.

Each is a ranker. ``ENDS`` says how its cells must end; whatever they do, nobody else's may be
touched.
"""

from __future__ import annotations

import asyncio
import builtins
import ctypes
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from functools import lru_cache
from pathlib import Path

import numpy as np
import scipy.linalg

SEEN: dict[bytes, object] = {}
LAST: list[object] = []
LEFT_BEHIND = "424242.4242"
"""How long the children that are left behind would sleep: a number to find them by."""


def ranked(X, by=None):
    return np.argsort(-(X.mean(axis=0) if by is None else by), kind="stable")


class Honest:
    """Ranks by the mean of its columns, and by nothing else."""

    def fit(self, X, Y):
        self.ranking_ = np.argsort(-np.mean(X, axis=0) - 1e-3 * np.asarray(Y).mean(), kind="stable")
        return self


class Careless:
    """Draws from every global generator and seeds none."""

    def fit(self, X, Y):
        import torch

        draws = np.random.rand(X.shape[1])  # noqa: NPY002
        draws += np.array([random.random() for _ in range(X.shape[1])])
        draws += torch.rand(X.shape[1], dtype=torch.float64).numpy() + compiled_draws(X.shape[1])
        draws += np.array([hash(f"column {i}") % 7 for i in range(X.shape[1])])
        self.ranking_ = np.argsort(draws, kind="stable")
        return self


@lru_cache(maxsize=1)
def _compiled():
    from numba import njit

    return njit(lambda n: np.random.random(n))  # noqa: NPY002


def compiled_draws(n):
    return _compiled()(n)


# Writers into what they were handed


class PivotQR:
    def fit(self, X, Y):
        factor, _ = scipy.linalg.qr(X.T, overwrite_a=True, mode="r", pivoting=True)
        self.ranking_ = np.argsort(-np.abs(factor).sum(1), kind="stable")
        return self


class TorchAdds:
    def fit(self, X, Y):
        import torch

        torch.from_numpy(X).add_(torch.arange(X.shape[1], dtype=torch.float64))
        self.ranking_ = ranked(X)
        return self


class Memset:
    def fit(self, X, Y):
        ctypes.memset(X.ctypes.data, 0, X.nbytes)
        ctypes.memset(Y.ctypes.data, 0, Y.nbytes)
        self.ranking_ = ranked(X)
        return self


class SortsInPlace:
    def fit(self, X, Y):
        X.sort(axis=0)
        Y[...] = 1 - Y
        self.ranking_ = ranked(X)
        return self


class MakesWritable:
    def fit(self, X, Y):
        base = X if X.base is None else X.base
        for array in (X, Y):
            array.flags.writeable = True
            array[...] = 0
        self.ranking_ = np.arange(X.shape[1])
        self.kept = base
        return self


# Caches


class Memo:
    def fit(self, X, Y):
        known = sum(row.tobytes() in SEEN for row in X)
        SEEN.update((row.tobytes(), labels) for row, labels in zip(X, Y, strict=True))
        self.ranking_ = np.roll(np.arange(X.shape[1]), known)
        return self


class WarmStart:
    def fit(self, X, Y):
        LAST.append(X.mean(axis=0))
        self.ranking_ = np.argsort(-np.sum(LAST, axis=0), kind="stable")
        return self


class HidesInNumpy:
    def fit(self, X, Y):
        shift = len(getattr(np, "_zoo", ()))
        np._zoo = (*getattr(np, "_zoo", ()), X)
        self.ranking_ = np.roll(np.arange(X.shape[1]), shift)
        return self


class CachesOnDisk:
    def fit(self, X, Y):
        file = Path(tempfile.gettempdir()) / "zoo-cache.npy"
        shift = int(file.exists())
        np.save(file, X)
        self.ranking_ = np.roll(np.arange(X.shape[1]), shift)
        return self


# Patchers


class PatchesMean:
    def fit(self, X, Y):
        np.mean = np.max
        np.argsort = lambda values, **_: np.arange(len(values))
        self.ranking_ = np.arange(X.shape[1])
        return self


class PatchesBuiltins:
    def fit(self, X, Y):
        builtins.len = lambda _: 3
        builtins.sum = max
        self.ranking_ = np.arange(X.shape[1])
        return self


class PatchesSeeding:
    def fit(self, X, Y):
        np.random.seed = random.seed = lambda *_: None
        self.ranking_ = np.arange(X.shape[1])
        return self


class ChangesErrorState:
    def fit(self, X, Y):
        np.seterr(all="raise")
        np.set_printoptions(precision=1)
        warnings.simplefilter("error")
        sys.setrecursionlimit(200)
        self.ranking_ = np.arange(X.shape[1])
        return self


class ChangesSurroundings:
    def fit(self, X, Y):
        os.chdir("/")
        os.environ.clear()
        os.umask(0o777)
        sys.path.clear()
        tempfile.tempdir = "/nowhere"
        self.ranking_ = np.arange(X.shape[1])
        return self


class IgnoresSignals:
    def fit(self, X, Y):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
            signal.signal(number, signal.SIG_IGN)
        self.ranking_ = np.arange(X.shape[1])
        return self


class ForgetsModules:
    def fit(self, X, Y):
        self.ranking_ = np.arange(X.shape[1])
        for name in [
            name for name in sys.modules if name.startswith(("scipy", "sklearn", "pandas"))
        ]:
            del sys.modules[name]
        return self


# Quitters


class Exits:
    def fit(self, X, Y):
        raise SystemExit(0)


class Interrupts:
    def fit(self, X, Y):
        raise KeyboardInterrupt


class Cancels:
    def fit(self, X, Y):
        raise asyncio.CancelledError("cancelled from within")


class ClosesGenerator:
    def fit(self, X, Y):
        raise GeneratorExit


class EndsAtOnce:
    def fit(self, X, Y):
        os._exit(0)


class Aborts:
    def fit(self, X, Y):
        os.abort()


class ReadsAddressZero:
    def fit(self, X, Y):
        ctypes.string_at(0)


class RecursesForEver:
    def fit(self, X, Y):
        return self.fit(X, Y)


class CannotSayWhy:
    class Wordless(Exception):  # noqa: N818
        def __str__(self):
            raise RuntimeError("no words")

    def fit(self, X, Y):
        raise self.Wordless


class SpeaksNoUtf8:
    def fit(self, X, Y):
        raise ValueError("a file called \udcff\x00")


class TalksTooMuch:
    def fit(self, X, Y):
        raise ValueError("x" * 50_000_000)


class AsksForTooMuch:
    def fit(self, X, Y):
        return np.ones((1 << 50,))


# Printers


class PrintsForLong:
    def fit(self, X, Y):
        for _ in range(200):
            sys.stdout.write("p" * 100_000 + "\n")
        os.write(1, b"\xff\x00\x1b]0;title\x07")
        ctypes.CDLL(None).puts(b"from native code")
        self.ranking_ = np.arange(X.shape[1])
        return self


class ClosesItsFiles:
    def fit(self, X, Y):
        os.closerange(0, 256)
        sys.stdout = None
        self.ranking_ = np.arange(X.shape[1])
        return self


# Leakers


class LeaksThreads:
    def fit(self, X, Y):
        for _ in range(20):
            threading.Thread(target=time.sleep, args=(600.0,)).start()
        self.ranking_ = np.arange(X.shape[1])
        return self


class LeaksFiles:
    def fit(self, X, Y):
        self.files = [os.open(os.devnull, os.O_RDONLY) for _ in range(400)]
        self.ranking_ = np.arange(X.shape[1])
        return self


class LeaksChildren:
    def fit(self, X, Y):
        subprocess.Popen(["sleep", LEFT_BEHIND])
        self.ranking_ = np.arange(X.shape[1])
        return self


class LeaksGrandchildren:
    def fit(self, X, Y):
        # In a session of its own, and with its parent gone: no group and no family leads back to
        # the cell.
        command = f"sleep {LEFT_BEHIND} & disown; exit"
        subprocess.run(
            ["bash", "-c", command], start_new_session=True, stdout=subprocess.DEVNULL, check=True
        )
        self.ranking_ = np.arange(X.shape[1])
        return self


class FillsItsFolder:
    def fit(self, X, Y):
        for place in range(20):
            Path(tempfile.mkdtemp(), "large").write_bytes(bytes(1_000_000 + place))
        self.ranking_ = np.arange(X.shape[1])
        return self


# Killers


class KillsItsParent:
    def fit(self, X, Y):
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(60.0)


class KillsItself:
    def fit(self, X, Y):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60.0)


class KillsItsGroup:
    def fit(self, X, Y):
        os.killpg(0, signal.SIGKILL)
        time.sleep(60.0)


# Givers of what cannot be kept


class GivesObjects:
    def fit(self, X, Y):
        self.ranking_ = np.array([object() for _ in range(X.shape[1])])
        return self


class TellsObjects:
    def fit(self, X, Y):
        self.ranking_ = np.arange(X.shape[1])
        self.diagnostics_ = {"model": threading.Lock()}
        return self


# Those that do not end


class HoldsTheInterpreter:
    def fit(self, X, Y):
        import re

        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        re.match(r"(a+)+$", "a" * 40 + "b")


class StopsItself:
    def fit(self, X, Y):
        os.kill(os.getpid(), signal.SIGSTOP)


DONE = "done"
ENDS = {
    PivotQR: DONE,
    TorchAdds: DONE,
    Memset: DONE,
    SortsInPlace: DONE,
    MakesWritable: DONE,
    Memo: DONE,
    WarmStart: DONE,
    HidesInNumpy: DONE,
    CachesOnDisk: DONE,
    PatchesMean: DONE,
    PatchesBuiltins: None,
    PatchesSeeding: DONE,
    ChangesErrorState: DONE,
    ChangesSurroundings: DONE,
    IgnoresSignals: DONE,
    ForgetsModules: DONE,
    Exits: "SystemExit: 0",
    Interrupts: "KeyboardInterrupt",
    Cancels: "CancelledError: cancelled from within",
    ClosesGenerator: "GeneratorExit",
    EndsAtOnce: "ended its own process (exit code 0)",
    Aborts: "crashed its process in native code (SIGABRT)",
    ReadsAddressZero: "crashed its process in native code (SIGSEGV)",
    RecursesForEver: "RecursionError",
    CannotSayWhy: "Wordless: (its text cannot be had: RuntimeError)",
    SpeaksNoUtf8: "ValueError: a file called \\udcff\\0",
    TalksTooMuch: "ValueError: xxx",
    AsksForTooMuch: "memory: ",
    PrintsForLong: DONE,
    ClosesItsFiles: None,
    LeaksThreads: DONE,
    LeaksFiles: DONE,
    LeaksChildren: DONE,
    LeaksGrandchildren: DONE,
    FillsItsFolder: DONE,
    KillsItsParent: "the worker process died 3 times",
    KillsItself: "the worker process died 3 times",
    KillsItsGroup: "the worker process died 3 times",
    GivesObjects: None,
    TellsObjects: None,
}
"""How the cells of each end: done, or failed with a reason that begins so; None where only others matter."""
ENDLESS = (HoldsTheInterpreter, StopsItself)
