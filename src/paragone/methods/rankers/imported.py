"""ImportedRanking: a ranking made elsewhere, as a ranker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from typing_extensions import override

from paragone.errors import InputError
from paragone.methods.rankers.base import Ranker, Scored
from paragone.validation import FloatArray, check_ranking


class ImportedRanking(Ranker):
    """Gives the ranking it was given, whatever it is fitted on.

    Being parameters, the ranking and its time are part of what identifies a cell: another ranking
    is another piece of work. A feature's score is its place, counted from the end.

    Parameters
    ----------
    ranking : sequence of int
        Features, 0-based, best first.
    seconds : float, optional
        The wall time of the ranking where it was made, if that is known; kept in the diagnostics.
    cpu_seconds : float, optional
        Its processor time, likewise.

    Examples
    --------
    >>> ranker = ImportedRanking([2, 0, 1], seconds=1.5).fit(np.eye(3), np.eye(3, 2))
    >>> ranker.ranking_, ranker.diagnostics_
    (array([2, 0, 1]), {'imported': True, 'imported_seconds': 1.5})
    """

    def __init__(
        self,
        ranking: Sequence[int] | Any = (),
        seconds: float | None = None,
        cpu_seconds: float | None = None,
    ) -> None:
        self.ranking = ranking
        self.seconds = seconds
        self.cpu_seconds = cpu_seconds

    @override
    def _score(self, X: FloatArray, Y: FloatArray) -> Scored:
        n_features = X.shape[1]
        scores = np.empty(n_features)
        scores[check_ranking(self.ranking, n_features)] = np.arange(n_features, 0, -1)
        cpu = {} if self.cpu_seconds is None else {"imported_cpu_seconds": self.cpu_seconds}
        return Scored(scores, {"imported": True, "imported_seconds": self.seconds, **cpu})


class MissingRanking(Ranker):
    """Stands where no ranking was found, so that its cell fails and says why.

    Parameters
    ----------
    reason : str
        What is missing.

    Examples
    --------
    >>> MissingRanking("no ranking of A for fold 2").fit(np.eye(3), np.eye(3, 2))
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: no ranking of A for fold 2
    """

    def __init__(self, reason: str = "no ranking") -> None:
        self.reason = reason

    @override
    def _score(self, X: FloatArray, Y: FloatArray) -> Scored:
        raise InputError(self.reason)
