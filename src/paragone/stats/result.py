"""The result of a comparison: frozen, readable, and able to write itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from paragone.errors import unknown_name
from paragone.stats import frames, layout
from paragone.stats.family import Family, Pair, Settings
from paragone.stats.ranks import Friedman
from paragone.stats.scores import ScoreTable
from paragone.stats.verdict import Setting, sentence
from paragone.tables import Table, to_csv, to_html, to_latex, to_markdown
from paragone.ties import FloatArray

if TYPE_CHECKING:
    from paragone.stats.charts import Charts
    from paragone.stats.paired_comparison import PairedComparison

Which = Literal["summary", "pairs", "scores"]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """What the statistics say about many methods on many datasets.

    Attributes
    ----------
    scores : ScoreTable
        The scores that were compared.
    family : Family
        The tests made together.
    settings : Settings
        The options.
    ranks : ndarray of shape (n_datasets, n_methods)
        Rank of each method on each dataset.
    friedman : Friedman
        Friedman's chi-square and Iman-Davenport's F.
    pairs : tuple of Pair
        Everything about every pair.
    per_dataset : DataFrame
        Tests on the folds of each dataset.
    choices : mapping of str to str
        Everything that was chosen, in words.
    warnings : tuple of str
        What a reader must know about the input.

    Examples
    --------
    >>> import pandas as pd
    >>> from paragone import compare
    >>> names = [f"set {number}" for number in range(8)]
    >>> better, worse = [0.9, 0.8, 0.7, 0.9, 0.8, 0.7, 0.6, 0.9], [0.8, 0.7, 0.6, 0.7, 0.7, 0.5, 0.5, 0.8]
    >>> comparison = compare(pd.DataFrame({"dataset": names, "A": better, "B": worse}), metric="accuracy")
    >>> comparison.leader, comparison.pairs[0].verdict, comparison.pairs[0].p
    ('A', 'better', 0.0078125)
    >>> comparison.friedman.average_ranks
    (1.0, 2.0)
    """

    scores: ScoreTable
    family: Family
    settings: Settings
    ranks: FloatArray
    friedman: Friedman
    pairs: tuple[Pair, ...]
    per_dataset: pd.DataFrame
    choices: Mapping[str, str]
    warnings: tuple[str, ...]

    @property
    def leader(self) -> str:
        """The reference, or without one the method with the best average rank (the first of equals)."""
        if self.family.reference is not None:
            return self.scores.methods[self.family.reference]
        ranks = self.friedman.average_ranks
        return self.scores.methods[ranks.index(min(ranks))]

    @property
    def leading_pairs(self) -> tuple[Pair, ...]:
        """The pairs that the verdict is about: the leader with each rival, the best-ranked rival first."""
        ranks = dict(zip(self.scores.methods, self.friedman.average_ranks, strict=True))
        mine = [layout.seen_from(pair, self.leader) for pair in self.pairs if self.leader in (pair.method, pair.rival)]
        return tuple(sorted(mine, key=lambda pair: (ranks[pair.rival], pair.rival)))

    @property
    def verdict(self) -> str:
        """The verdict in words, one line a rival of the leader."""
        setting = Setting(
            alpha=self.settings.alpha,
            correction=self.family.title,
            n_datasets=len(self.scores.datasets),
            on_ranks=self.family.on_ranks,
            decimals=self.scores.decimals,
        )
        return "\n".join(sentence(pair, setting) for pair in self.leading_pairs)

    @property
    def method_warnings(self) -> tuple[str, ...]:
        """What the store says of the methods that a verdict must not leave out, such as fits that did not converge."""
        return self.scores.told

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row a pair, with everything beside its p."""
        return frames.pairs_frame(self.pairs)

    @cached_property
    def rank_table(self) -> pd.DataFrame:
        """One row a method: average rank, mean score, datasets on which it is best; best first."""
        return frames.ranks_frame(self.scores, self.ranks)

    @cached_property
    def corrections(self) -> pd.DataFrame:
        """Adjusted p of every pair under every correction that fits this family."""
        return frames.corrections_frame(self.pairs, self.family, self.friedman)

    @property
    def charts(self) -> Charts:
        """The charts, drawn when asked for by name: ``comparison.charts["forest"]``."""
        from paragone.stats.charts import Charts

        return Charts(self)

    def against(self, rival: str | None = None) -> PairedComparison:
        """Return the leader beside one rival, dataset by dataset; by default the best-ranked rival."""
        from paragone.stats.pairwise import pairwise

        table = self.scores
        name = self.leading_pairs[0].rival if rival is None else rival
        if name not in table.methods or name == self.leader:
            raise unknown_name("rival", name, [method for method in table.methods if method != self.leader])
        columns = {method: table.values[:, table.methods.index(method)] for method in (name, self.leader)}
        index = pd.Index(table.datasets, name="dataset")
        sides = [pd.Series(values, index=index, name=method) for method, values in columns.items()]
        return pairwise(
            *sides,
            metric=table.metric,
            higher_is_better=table.higher_is_better,
            alpha=self.settings.alpha,
            rope=self.settings.rope,
            zeros=self.settings.zeros,
            tolerance=self.settings.tolerance,
            n_resamples=self.settings.n_resamples,
            n_samples=self.settings.n_samples,
            seed=self.settings.seed,
        )

    def as_table(self, which: Which = "summary") -> Table:
        """Return a table for a paper: ``summary`` (a row a method), ``pairs`` or ``scores`` (a row a dataset)."""
        return layout.build(self, which)

    def to_latex(self, which: Which = "summary", *, columns_a_block: int | None = None) -> str:
        """Write a booktabs table, with a caption that states test, correction and n."""
        return to_latex(self.as_table(which), columns_a_block=columns_a_block)

    def to_markdown(self, which: Which = "summary") -> str:
        """Write a Markdown table."""
        return to_markdown(self.as_table(which))

    def to_html(self, which: Which = "summary") -> str:
        """Write an HTML table."""
        return to_html(self.as_table(which))

    def to_csv(self, which: Which = "summary") -> str:
        """Write the printed table as CSV; :attr:`table` has the unrounded figures."""
        return to_csv(self.as_table(which))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return frames.comparison_dict(self)

    def save(self, folder: str | Path, *, formats: tuple[str, ...] = ("svg", "pdf")) -> tuple[Path, ...]:
        """Write tables, figures and the answer as text into a folder; return the files."""
        from paragone.stats.export import save_comparison

        return save_comparison(self, Path(folder), formats)

    def __repr__(self) -> str:
        return layout.as_text(self)

    def _repr_html_(self) -> str:
        from paragone.stats.notebook import comparison_html

        return comparison_html(self)
