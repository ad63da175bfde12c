"""Protocol: how a method is scored on a split, in two steps, so that other scores reuse a fit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from paragone.data import Dataset, Scale, Split, SplitPlan, Task, make_splits
from paragone.errors import InputError
from paragone.lab.cells import Fitted, Place, Score, SplitData
from paragone.methods.method import Method

# The folder inside the scratch folder of a fit whose files are kept beside the store.
KEPT = "kept"


@dataclass(frozen=True, eq=False)
class Arrangement:
    """A dataset made ready for a protocol: its splits, and what to tell the user.

    Parameters
    ----------
    dataset : Dataset
        With a name of its own in the experiment.
    splits : tuple of Split
        Numbered from 0; a cell's fold is the place here.
    later : int
        How many of the last splits belong to later stages: their cells are named by `Protocol.next_places`.
    notes : tuple of str
        For the user, before the run.
    origin : str
        The name of the declared dataset, where a protocol makes several of it.
    """

    dataset: Dataset
    splits: tuple[Split, ...]
    later: int = 0
    notes: tuple[str, ...] = ()
    origin: str = ""

    @property
    def first(self) -> tuple[Split, ...]:
        """The splits of the first stage."""
        return self.splits[: len(self.splits) - self.later]


class Protocol(ABC):
    """What the engine asks of a protocol.

    `fit` runs the method on train and keeps what it gave; `score` turns that into scores. What `fit` gives
    must not depend on anything that only `score` uses: a changed grid, metric or evaluator then reuses it.

    Examples
    --------
    >>> from paragone.protocols import Curve
    >>> protocol = Curve()
    >>> isinstance(protocol, Protocol), protocol.kind, protocol.described()["evaluator"]["use"]
    (True, 'curve', 'paragone.methods.mlknn:MLkNN')
    """

    kind: ClassVar[str]
    later_kind: ClassVar[str] = ""
    default_scale: ClassVar[Scale | None] = None
    repeats_methods: ClassVar[bool] = True
    keeps_progress: ClassVar[bool] = False
    warm_ups: ClassVar[tuple[str, ...]] = ()
    """Functions, as ``module:function``, that load compiled code once for all cells; they must start no thread."""

    @abstractmethod
    def identity(self) -> str:
        """Return a hash of everything in the protocol that determines a score."""

    @abstractmethod
    def described(self) -> dict[str, Any]:
        """Return what a report says about the protocol, as plain values."""

    @abstractmethod
    def versions(self) -> dict[str, str]:
        """Return the package versions that `score` depends on."""

    @abstractmethod
    def check(self, dataset: Dataset) -> tuple[str, ...]:
        """Refuse a dataset that cannot be scored; return what to tell the user, such as a clipped grid."""

    @abstractmethod
    def check_split(self, dataset: Dataset, n_train: int) -> None:
        """Refuse a split that cannot be scored, before anything runs."""

    @abstractmethod
    def fit(self, estimator: Any, data: SplitData) -> Fitted:
        """Run the method on the training part."""

    @abstractmethod
    def score(
        self, fitted: Fitted, data: SplitData, seed: int
    ) -> tuple[tuple[Score, ...], bytes | None, tuple[str, ...]]:
        """Return the scores, the packed predictions and notes; ``seed`` is the same for all methods."""

    # What protocols with variants, parts of their own or several stages do in another way.

    def declare(self, methods: Mapping[str, Any]) -> dict[str, Method]:
        """Make methods of what the user declared; a protocol may write out variants."""
        return {name: Method.declare(given, kind=f"method {name!r}") for name, given in methods.items()}

    def group_of(self, method: Method) -> str:
        """Name the cells of a split that share work in one process; empty where each is to be alone.

        What is shared must be the same whoever makes it: a cell's result may not depend on which of them ran before.
        """
        return ""

    def announce(self, methods: Mapping[str, Method]) -> tuple[str, ...]:
        """Return what to tell the user about the methods before the run."""
        return ()

    def arrange(self, dataset: Dataset, plan: SplitPlan, seed: int) -> tuple[Arrangement, ...]:
        """Check a dataset and split it."""
        notes = self.check(dataset)
        splits = make_splits(dataset, plan, seed)
        for split in splits:
            self.check_split(dataset, len(split.train))
        return (Arrangement(dataset, splits, notes=notes),)

    def task_of_arrays(self, name: str, y: Any, methods: Mapping[str, Method]) -> Task:
        """Say what the target of bare arrays means: it is never guessed from its values.

        Parameters
        ----------
        name : str
            What the dataset is called.
        y : ndarray or sparse matrix
            Its target.
        methods : mapping of str to Method
            What is to be compared.
        """
        raise InputError(f"data: {name!r}: a {self.kind} experiment cannot tell what y means: give a Dataset")

    def check_method(self, name: str, method: Method, dataset: Dataset) -> None:  # noqa: B027  most take any
        """Refuse a method that cannot work on a dataset."""

    def kept_data(self, dataset: Dataset) -> dict[str, NDArray[Any]]:
        """Return arrays of a dataset that results need beside the predictions."""
        return {}

    def kept_split(self, dataset: Dataset, split: Split) -> dict[str, NDArray[Any]]:
        """Return arrays of a split that results need: the targets of the test rows."""
        y = dataset.y[split.test]
        return {"y": np.asarray(y.tolist()) if y.dtype == object else y}

    def fit_method(self, method: Method, data: SplitData, seed: int, split_seed: int) -> Fitted:
        """Build a method and fit it; ``split_seed`` is the same for all methods on a split."""
        return self.fit(method.build(seed), data)

    def fit_with_scratch(self, method: Method, data: SplitData, seed: int, split_seed: int, scratch: Path) -> Fitted:
        """Fit with a folder in which a long fit may keep its progress, to go on from after a kill.

        Asked for where ``keeps_progress`` is set. The folder need not exist; it is the fit's own, and the run
        removes it once the cell is committed. What the fit left in the folder `KEPT` inside is kept beside the store.
        """
        return self.fit_method(method, data, seed, split_seed)

    def with_logs(self, methods: Mapping[str, Method], log: str) -> dict[str, Method]:
        """Return the methods with logs of this kind kept beside the store, by those that write one."""
        raise InputError(f"methods of kind {self.kind} write no {log} log: leave --log out")

    def logged(self, methods: Mapping[str, Method]) -> tuple[str, ...]:
        """Name the methods whose logs are to be kept."""
        return ()

    def next_places(
        self,
        arrangements: Sequence[Arrangement],
        methods: Mapping[str, Method],
        fitted: Callable[[Place], Fitted | None],
    ) -> list[Place]:
        """Name the cells of the next stage, given all results of the first; None for a cell that failed."""
        return []

    def later_cells(self, arrangements: Sequence[Arrangement], methods: Mapping[str, Method]) -> int:
        """Return how many cells `next_places` may name at most, before any result is there."""
        return 0

    def settings(self, methods: Mapping[str, Method], arrangements: Sequence[Arrangement]) -> dict[str, Any]:
        """Return what results need to know of the protocol, as plain JSON values."""
        return {}
