"""The result of comparing two methods: frozen, readable, and able to write itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from paragone.stats import paired_layout
from paragone.stats.family import Settings
from paragone.stats.paired_figures import PairedFigures, PairKind
from paragone.stats.pairing import Paired
from paragone.tables import Table, decimals_for, to_csv, to_html, to_latex, to_markdown
from paragone.ties import settle_differences

if TYPE_CHECKING:
    from paragone.stats.charts import PairedCharts


@dataclass(frozen=True, eq=False, repr=False)
class PairedComparison:
    """What the statistics say about two methods on common pairs.

    Attributes
    ----------
    name_a, name_b : str
        The methods. Every difference is b less a, signed so that positive favours b.
    metric : str or None
        The metric's name.
    higher_is_better : bool
        Its direction.
    threshold : float or None
        Chance level of the double-fail filter.
    kind : {"subjects", "folds"}
        Whether the pairs are independent or share training rows.
    unit : str
        What a pair is called: subjects, datasets or folds.
    paired : Paired
        The scores, and what was left out.
    fails : ndarray of bool
        Which pairs are double fails.
    everything : PairedFigures
        Figures of all pairs.
    effective : PairedFigures or None
        Figures without double fails; None without a threshold, or where nothing is left.
    settings : Settings
        The options.

    Examples
    --------
    >>> from paragone import pairwise
    >>> result = pairwise([0.6, 0.7, 0.8, 0.6, 0.7, 0.9], [0.7, 0.8, 0.9, 0.7, 0.8, 0.95], higher_is_better=True)
    >>> result.differences["winner"].unique().tolist(), result.p
    (['B'], 0.03125)
    """

    name_a: str
    name_b: str
    metric: str | None
    higher_is_better: bool
    threshold: float | None
    kind: PairKind
    unit: str
    paired: Paired
    fails: np.ndarray
    everything: PairedFigures
    effective: PairedFigures | None
    settings: Settings

    @property
    def decimals(self) -> int:
        """How many decimals scores of this size are printed with."""
        return decimals_for([*self.paired.a, *self.paired.b])

    @property
    def n_double_fails(self) -> int:
        """How many pairs both methods fail."""
        return int(self.fails.sum())

    @property
    def main(self) -> PairedFigures:
        """The effective figures where there are any, those of all pairs otherwise."""
        return self.effective or self.everything

    @property
    def p(self) -> float:
        """The p-value of the test that fits the pairs: signed-rank for subjects, corrected t for folds."""
        return paired_layout.main_p(self.main, self.kind)

    @property
    def verdict(self) -> str:
        """What this does and does not show, in words."""
        return paired_layout.verdict(self)

    @cached_property
    def choices(self) -> Mapping[str, str]:
        """Everything that was chosen, in words."""
        return paired_layout.choices(self)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know about the input."""
        return self.paired.warnings

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row a figure, one column a set of pairs (all, effective)."""
        return paired_layout.figures_frame(self)

    @cached_property
    def differences(self) -> pd.DataFrame:
        """One row a pair: both scores, the difference (positive favours b), who won, double fail or not."""
        low, high = (self.paired.a, self.paired.b) if self.higher_is_better else (self.paired.b, self.paired.a)
        difference = settle_differences(low, high, self.settings.tolerance, size=self.settings.size)
        winner = np.select([difference > 0, difference < 0], [self.name_b, self.name_a], "tie")
        columns = {"key": self.paired.keys, self.name_a: self.paired.a, self.name_b: self.paired.b}
        return pd.DataFrame({**columns, "difference": difference, "winner": winner, "double_fail": self.fails})

    @property
    def charts(self) -> PairedCharts:
        """The charts, drawn when asked for by name: ``scatter``, ``differences``, ``posterior``."""
        from paragone.stats.charts import PairedCharts

        return PairedCharts(self)

    def as_table(self) -> Table:
        """Return the table of figures for a paper."""
        return paired_layout.build(self)

    def to_latex(self) -> str:
        """Write a booktabs table, with a caption that states test and n."""
        return to_latex(self.as_table())

    def to_markdown(self) -> str:
        """Write a Markdown table."""
        return to_markdown(self.as_table())

    def to_html(self) -> str:
        """Write an HTML table."""
        return to_html(self.as_table())

    def to_csv(self) -> str:
        """Write the printed figures as CSV; :attr:`differences` has the pairs."""
        return to_csv(self.as_table())

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return paired_layout.as_dict(self)

    def save(self, folder: str | Path, *, formats: tuple[str, ...] = ("svg", "pdf")) -> tuple[Path, ...]:
        """Write the differences, the figures and the charts into a folder; return the files."""
        from paragone.stats.export import save_paired

        return save_paired(self, Path(folder), formats)

    def __repr__(self) -> str:
        return paired_layout.as_text(self)

    def _repr_html_(self) -> str:
        from paragone.stats.notebook import paired_html

        return paired_html(self)
