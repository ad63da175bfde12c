"""Small experiments on disk, with methods that behave and methods that do not."""

from __future__ import annotations

import textwrap
from pathlib import Path

METHODS = '''
"""Rankers that behave badly on purpose, and one that does nothing."""

import os
import signal
import time

import numpy as np


class Still:
    """Ranks in file order."""

    def fit(self, X, Y):
        self.scores_ = np.zeros(X.shape[1])
        self.ranking_ = np.arange(X.shape[1])
        return self


class Raises(Still):
    def fit(self, X, Y):
        raise ArithmeticError("the matrix is singular")


class NeedsTwoWords(Exception):
    """Cannot be unpickled: its arguments are not those of __init__."""

    def __init__(self, one, two):
        super().__init__(one + two)


class RaisesStrangely(Still):
    def fit(self, X, Y):
        raise NeedsTwoWords("odd ", "error")


class GivesNaN(Still):
    def fit(self, X, Y):
        super().fit(X, Y)
        self.scores_[1] = np.nan
        return self


class GivesNoPermutation(Still):
    def fit(self, X, Y):
        super().fit(X, Y)
        self.ranking_[0] = self.ranking_[1]
        return self


class Hangs(Still):
    def fit(self, X, Y):
        time.sleep(1000)


class HangsInNativeCode(Still):
    """Holds on to the processor where no Python signal handler can run."""

    def fit(self, X, Y):
        sum(iter(int, 1))


class IsKilled(Still):
    """Dies as by the out-of-memory killer."""

    def fit(self, X, Y):
        os.kill(os.getpid(), signal.SIGKILL)


class TakesItsParentDown(Still):
    """Kills the process that started its own."""

    def fit(self, X, Y):
        time.sleep(1)
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(60)


class IsKilledOnce(Still):
    """Is killed the first time, as by a machine that goes down; where it was is no part of its identity."""

    def fit(self, X, Y):
        marker = os.path.join(os.environ["LAB_MARKERS"], f"{X.shape[0]}-{abs(float(X[0].sum())):.6f}")
        if not os.path.exists(marker):
            open(marker, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, Y)


class Hoards(Still):
    """Fills a gibibyte at once, or bit by bit."""

    def __init__(self, slowly=False):
        self.slowly = slowly

    def fit(self, X, Y):
        blocks = [np.ones(2**17) for _ in range(1024)] if self.slowly else [np.ones(2**27)]
        time.sleep(60)
        return super().fit(X, Y)


class WritesIntoItsInput(Still):
    def fit(self, X, Y):
        X[0, 0] = 7.0
        return super().fit(X, Y)


class UsesGlobalRandomness(Still):
    def fit(self, X, Y):
        super().fit(X, Y)
        self.ranking_ = np.random.permutation(X.shape[1])
        return self


class NapsAsTold(Still):
    def __init__(self, seconds=1.0):
        self.seconds = seconds

    def fit(self, X, Y):
        time.sleep(self.seconds)
        return super().fit(X, Y)


class Naps(Still):
    """Takes a little while, so that a run can be interrupted, and notes that it was called.

    How long it takes and where it notes that is no part of its identity.
    """

    def __init__(self, shift=0):
        self.shift = shift

    def fit(self, X, Y):
        time.sleep(float(os.environ.get("LAB_NAP", "0")))
        super().fit(X, Y)
        self.ranking_ = np.roll(self.ranking_, self.shift)
        if "LAB_FITS" in os.environ:
            with open(os.environ["LAB_FITS"], "a") as notes:
                notes.write(f"{self.shift} {X.sum():.17g}\\n")
        return self
'''


def write_lab(folder: Path, methods: dict[str, str], **sections: str) -> Path:
    """Write an experiment file and the module of methods beside it; sections replace the defaults."""
    (folder / "lab_methods.py").write_text(METHODS)
    sections = {
        "top": 'name = "lab"\nseed = 7',
        "data": 'sets = ["wine-traits"]',
        "split": "folds = 3",
        "protocol": 'k = { min = 2, max = 8, step = 2 }\nmetrics = ["micro_f1", "hamming_loss"]',
        **sections,
    }
    parts = [sections.pop("top")]
    parts += [f"[{name}]\n{textwrap.dedent(body)}" for name, body in sections.items()]
    parts += [f"[methods.{name}]\n{body}" for name, body in methods.items()]
    file = folder / "lab.toml"
    file.write_text("\n\n".join(parts) + "\n")
    return file
