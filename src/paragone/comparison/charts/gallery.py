"""The charts of a result by name, each drawn when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from paragone.comparison.charts.critical_difference import critical_difference
from paragone.comparison.charts.difference_bars import difference_bars
from paragone.comparison.charts.forest import forest
from paragone.comparison.charts.pair_matrix import pair_matrix
from paragone.comparison.charts.posterior_triangle import posterior_triangle
from paragone.comparison.charts.rank_boxes import rank_boxes
from paragone.comparison.charts.score_scatter import score_scatter
from paragone.comparison.charts.win_tie_loss import win_tie_loss
from paragone.errors import unknown_name

if TYPE_CHECKING:
    from paragone.comparison.comparison import Comparison
    from paragone.comparison.paired_comparison import PairedComparison


class _Gallery(Mapping[str, Any]):
    """A read-only mapping from names to charts."""

    _drawers: Mapping[str, Callable[[], Any]]

    def __getitem__(self, name: str) -> Any:
        if name not in self._drawers:
            raise unknown_name("chart", name, self._drawers)
        return self._drawers[name]()

    def __contains__(self, name: object) -> bool:
        return name in self._drawers

    def __iter__(self) -> Iterator[str]:
        return iter(self._drawers)

    def __len__(self) -> int:
        return len(self._drawers)

    def __repr__(self) -> str:
        return f"charts: {', '.join(self._drawers)}"


class Charts(_Gallery):
    """The charts of a :class:`Comparison`; those about one rival take the best-ranked one.

    :meth:`scatter`, :meth:`differences` and :meth:`posterior` take any other rival by name.

    Examples
    --------
    >>> import pandas as pd
    >>> from paragone import compare
    >>> frame = pd.DataFrame({"dataset": ["a", "b", "c"], "A": [0.9, 0.8, 0.7], "B": [0.8, 0.7, 0.5]})
    >>> charts = compare(frame, metric="accuracy").charts
    >>> charts
    charts: critical_difference, pair_matrix, forest, win_tie_loss, rank_boxes, scatter, differences, posterior
    >>> charts["forest"].to_dict()["title"]["text"]
    ['A against each rival']
    """

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison
        self._paired: dict[str | None, PairedComparison] = {}
        self._drawers = {
            "critical_difference": lambda: critical_difference(comparison),
            "pair_matrix": lambda: pair_matrix(comparison),
            "forest": lambda: forest(comparison),
            "win_tie_loss": lambda: win_tie_loss(comparison),
            "rank_boxes": lambda: rank_boxes(comparison),
            "scatter": self.scatter,
            "differences": self.differences,
            "posterior": self.posterior,
        }

    def _against(self, rival: str | None) -> PairedComparison:
        """Compute a pair once for all charts about it."""
        if rival not in self._paired:
            self._paired[rival] = self._comparison.against(rival)
        return self._paired[rival]

    def scatter(self, rival: str | None = None) -> Any:
        """Draw the leader's scores against a rival's."""
        return score_scatter(self._against(rival))

    def differences(self, rival: str | None = None) -> Any:
        """Draw the sorted differences between the leader and a rival."""
        return difference_bars(self._against(rival))

    def posterior(self, rival: str | None = None) -> Any:
        """Draw the posterior of the leader and a rival."""
        return posterior_triangle(self._against(rival))


class PairedCharts(_Gallery):
    """The charts of a :class:`PairedComparison`.

    Examples
    --------
    >>> from paragone import pairwise
    >>> pairwise([0.6, 0.7, 0.8], [0.7, 0.8, 0.7], higher_is_better=True).charts
    charts: scatter, differences, posterior
    """

    def __init__(self, result: PairedComparison) -> None:
        self._drawers = {
            "scatter": lambda: score_scatter(result),
            "differences": lambda: difference_bars(result),
        }
        if result.kind == "subjects":
            self._drawers["posterior"] = lambda: posterior_triangle(result)
