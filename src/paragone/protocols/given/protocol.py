"""The protocol of scores that are given: nothing is fitted, what somebody measured is kept as it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from typing_extensions import override

from paragone.lab.cells import Fitted, Score, SplitData
from paragone.lab.protocol import Facts, Protocol, protocols, sections_of
from paragone.page import Cover, Section


class GivenScores(BaseEstimator):
    """A method of which only its scores are known.

    Parameters
    ----------
    scores : mapping of str to float
        The value of every metric; NaN where the method failed.
    """

    def __init__(self, scores: Mapping[str, float]) -> None:
        self.scores = scores


@protocols.add
@dataclass(frozen=True)
class GivenResults(Protocol):
    """Keep scores that were measured elsewhere; `paragone import` makes its experiments of files.

    Parameters
    ----------
    metrics : tuple of str
        The metrics, by the names that the files have; all that a method is given where none is
        named.

    Examples
    --------
    >>> fitted = GivenResults().fit(GivenScores({"accuracy": 0.75}), None)
    >>> [(score.metric, score.value) for score in GivenResults().scores(fitted, None)]
    [('accuracy', 0.75)]
    """

    kind: ClassVar[str] = "given"
    facts: ClassVar[Facts] = Facts(
        default_scale="none",
        repeats_methods=False,
        takes_tables=True,
    )
    reader: ClassVar[str] = "paragone.protocols.given.reader:GivenReader"
    imports: ClassVar[str] = "paragone.protocols.given.keeping:keep_results"

    metrics: tuple[str, ...] = ()

    @override
    def fit(self, estimator: Any, data: SplitData | None) -> Fitted:
        return Fitted({name: np.array([float(value)]) for name, value in estimator.scores.items()})

    @override
    def scores(self, fitted: Fitted, data: SplitData | None) -> Iterable[Score]:
        wanted = self.metrics or tuple(fitted.arrays)
        return [Score(name, float(fitted.arrays[name][0])) for name in wanted]

    @override
    def sections(self, view: Any) -> Iterable[Section | Cover]:
        return sections_of("paragone.protocols.given.page:sections", view)
