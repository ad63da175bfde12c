"""Protocol: how a method is scored on a split, in two steps, so that other scores reuse a fit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from paragone.cells import Fitted, Score, SplitData
from paragone.data import Dataset


class Protocol(ABC):
    """What the engine asks of a protocol.

    `fit` runs the method on train and keeps what it gave; `score` turns that into scores. What `fit` gives
    must not depend on anything that only `score` uses: a changed grid, metric or evaluator then reuses it.
    """

    kind: ClassVar[str]

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
