"""Cell: one method on one split of one dataset under one protocol, its key, and what came of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from paragone.hashing import digest
from paragone.methods.method import Method
from paragone.sources import changed_words

Status: TypeAlias = Literal["done", "failed", "timeout"]
Place: TypeAlias = tuple[str, int, str, int]
MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Parts:
    """The hashes of everything that determines a cell's result, part by part.

    A stored cell whose parts differ from the planned one's is stale, and the parts say why.
    """

    data: str
    split: str
    method: str
    protocol: str
    version: str
    seed: str

    @property
    def key(self) -> str:
        """The cell's key: a hash of all parts."""
        return digest(list(self.values))[:32]

    @property
    def values(self) -> tuple[str, str, str, str, str, str]:
        """The parts themselves, in the order in which they are declared."""
        return self.data, self.split, self.method, self.protocol, self.version, self.seed

    def fit_key(self, fit_version: str) -> str:
        """Return the key of the fit: all parts but the protocol, so that other scores reuse it."""
        return digest([self.data, self.split, self.method, fit_version, self.seed])[:32]

    def changed(
        self, earlier: Parts, code: Mapping[str, Mapping[str, str]] | None = None
    ) -> tuple[str, ...]:
        """Name what this cell has otherwise than an earlier one.

        Parameters
        ----------
        earlier : Parts
            Of the cell before.
        code : mapping, optional
            The files and packages behind version parts, where they are known: those that changed
            are then named.
        """
        reasons: list[str] = []
        for name in (
            part.name
            for part in fields(self)
            if getattr(self, part.name) != getattr(earlier, part.name)
        ):
            if name == "version" and code and {self.version, earlier.version} <= set(code):
                words = changed_words(code[earlier.version], code[self.version])
                more = [f"{len(words) - MOST_NAMED} more"] if len(words) > MOST_NAMED else []
                reasons += [*words[:MOST_NAMED], *more] or [name]
            elif name == "seed" and self.seed.partition("/")[0] != earlier.seed.partition("/")[0]:
                # Its first word is how seeds are derived; in the first stores it was the seed
                # itself.
                reasons.append("derivation of seeds")
            else:
                reasons.append(name)
        return tuple(reasons)


@dataclass(frozen=True, slots=True)
class Cell:
    """One method on one fold of one dataset: its names, its parts and its keys.

    A method that is repeated over seeds has one cell per repeat. ``key`` is the hash of everything
    that determines the result; names do not. There may be a million cells at a time, so they are
    kept small.
    """

    dataset: str
    fold: int
    method: str
    protocol: str
    parts: Parts
    fit_key: str
    repeat: int = 0
    key: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", self.parts.key)

    @property
    def place(self) -> Place:
        """Where the cell stands in the experiment: dataset, fold, method, repeat."""
        return self.dataset, self.fold, self.method, self.repeat


@dataclass(frozen=True, eq=False)
class FitContext:
    """What a cell is beside its arrays.

    Parameters
    ----------
    method : Method
        As it was declared; the estimator that `Protocol.fit` is given was built of it.
    seed, split_seed : int
        Of the cell; and of what all methods on its split share.
    scratch : Path, optional
        A folder in which a long fit may keep its progress, to go on from after a kill: there for
        protocols that say ``keeps_progress``. It need not exist; it is the fit's own, and the run
        removes it once the cell is committed. What the fit leaves in the folder ``kept`` inside is
        kept beside the store.
    """

    method: Method
    seed: int = 0
    split_seed: int = 0
    scratch: Path | None = None


@dataclass(frozen=True, eq=False)
class SplitData:
    """The rows of one split, scaled on train: all that a protocol sees.

    Rows that were set aside to choose on are in ``X_validation`` and ``y_validation``; ``w_train``
    and ``w_test`` weigh rows where the dataset does, ``g_train`` and ``g_test`` say by numbers
    which of them belong together. Where the target is sparse, all arrays are, and nothing is
    scaled; a table stays a DataFrame. ``context`` says which cell they are for.

    Examples
    --------
    >>> rows = SplitData([[0.0], [1.0]], np.array([0, 1]), [[2.0]], np.array([1]), task="binary")
    >>> len(rows.X_train), rows.X_validation is None
    (2, True)
    """

    X_train: Any
    y_train: NDArray[Any]
    X_test: Any
    y_test: NDArray[Any]
    task: str = ""
    X_validation: Any = None
    y_validation: Any = None
    context: FitContext | None = None
    w_train: NDArray[np.float64] | None = None
    w_test: NDArray[np.float64] | None = None
    g_train: NDArray[np.int64] | None = None
    g_test: NDArray[np.int64] | None = None


@dataclass(frozen=True)
class Score:
    """One value of a cell: of a metric, at a point of a grid where there is one.

    Examples
    --------
    >>> Score("f1_micro", 0.81, grid="n_features", at=10.0).at
    10.0
    """

    metric: str
    value: float
    grid: str = ""
    at: float | None = None


@dataclass(frozen=True, eq=False)
class CellScores:
    """The scores of a cell, and what else is kept of scoring it: packed predictions, notes for the user.

    Examples
    --------
    >>> CellScores((Score("accuracy", 0.9),)).scores[0].value
    0.9
    """

    scores: tuple[Score, ...] = ()
    predictions: bytes | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class WarningCount:
    """A warning that a cell raised, and how often: the class's name, the message, the count.

    Examples
    --------
    >>> WarningCount("ConvergenceWarning", "lbfgs failed to converge", 3).count
    3
    """

    category: str
    message: str
    count: int = 1


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a method gave on a split: arrays and diagnostics, kept for every later scoring.

    ``seconds`` is the wall time of the fit alone, ``cpu_seconds`` its processor time; NaN where it
    is not known. What the method warned of in the fit is kept with it, for the cells that reuse it.
    ``predict_cpu_seconds`` is what its model took to predict the test rows, ``model_bytes`` what
    the model takes on disk; NaN and 0 where not known.

    Examples
    --------
    >>> Fitted({"ranking": np.array([2, 0, 1])}, seconds=0.2).arrays["ranking"].tolist()
    [2, 0, 1]
    """

    arrays: Mapping[str, NDArray[Any]]
    info: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    cpu_seconds: float = math.nan
    warnings: tuple[WarningCount, ...] = ()
    predict_cpu_seconds: float = math.nan
    model_bytes: int = 0


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of a cell; committed whole or not at all.

    Parameters
    ----------
    seconds : float
        Wall-clock time of the cell.
    cpu_seconds : float
        Processor time of the cell and of the processes that it started; NaN where it is not known.
    peak_memory : int
        The most bytes that the cell itself held at a time, without the data that it was handed; 0
        where not known.
    warnings : tuple of WarningCount
        What the method warned of, each distinct message once.
    output : str
        What the cell printed, cut to a limit.
    """

    status: Status
    scores: tuple[Score, ...] = ()
    fitted: Fitted | None = None
    predictions: bytes | None = None
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    error: str = ""
    traceback: str = ""
    cpu_seconds: float = math.nan
    peak_memory: int = 0
    warnings: tuple[WarningCount, ...] = ()
    output: str = ""
