"""Several metrics as one family: the words on all of them hold together.

Every metric is compared at its share of alpha (Bonferroni over metrics, the chosen correction over
the pairs within each), so that the chance of a single false word among all metrics and pairs is at
most alpha, however the metrics depend on each other. Each comparison is whole in itself: words,
intervals and charts agree as they do for one metric.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from paragone.errors import InputError
from paragone.metrics import asked_name, metric_title
from paragone.stats.compare import compare
from paragone.stats.datasets import DatasetComparison
from paragone.stats.lines import MOST_LINES, blocks_apart, cut, wrapped
from paragone.stats.result import Comparison, write_texts
from paragone.tables import Column, Table, TableCell, to_latex, to_markdown, to_text


@dataclass(frozen=True, eq=False, repr=False)
class SeveralComparisons(Mapping[str, DatasetComparison]):
    """Comparisons by metric whose words hold together; each is there under the name of its metric.

    Parameters
    ----------
    by_metric : mapping of str to DatasetComparison
        Each at its share of alpha.
    alpha : float
        The level of all of them together.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [(name, f"d{d}", metric, value + d / 100) for d in range(10)
    ...         for name, value in [("A", 0.8), ("B", 0.7)] for metric in ("accuracy", "roc_auc")]
    >>> both = compare_metrics(pd.DataFrame(rows, columns=["method", "dataset", "metric", "value"]),
    ...                        ["accuracy", "roc_auc"])
    >>> list(both), both["accuracy"].settings.alpha
    (['accuracy', 'roc_auc'], 0.025)
    """

    by_metric: Mapping[str, DatasetComparison]
    alpha: float

    def __getitem__(self, metric: str) -> DatasetComparison:
        return self.by_metric[metric]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_metric)

    def __len__(self) -> int:
        return len(self.by_metric)

    @property
    def verdict(self) -> str:
        """What every metric shows, in words that hold for all metrics together."""
        return "\n".join(
            f"{metric_title(one.scores.metric)}: {one.finding}" for one in self.by_metric.values()
        )

    pairs: ClassVar[tuple[()]] = ()

    @cached_property
    def answer(self) -> tuple[str, ...]:
        """The findings in lines for one screen."""
        told = [wrapped(line) for line in self.verdict.splitlines()]
        room = MOST_LINES - 2
        return tuple(cut(blocks_apart(told), room, "and more: --details"))

    def tables(self) -> Mapping[str, Callable[[], Table]]:
        """Return what makes the table of words."""
        return {"words": self.as_table}

    def as_table(self, which: str | None = None) -> Table:
        """Return the words of every pair by every metric, with p adjusted over metrics and pairs."""
        words: dict[tuple[str, str], dict[str, TableCell]] = {}
        for metric, one in self.by_metric.items():
            for pair in one.pairs:
                shown = pair.seen_from(pair.rival) if (pair.rival, pair.method) in words else pair
                p = min(1.0, len(self) * shown.p)
                cell = TableCell(f"{shown.word} ({p:.3g})", bold=shown.word in ("better", "worse"))
                words.setdefault((shown.method, shown.rival), {})[metric] = cell
        rows: list[list[str | TableCell]] = [
            [method, rival, *(cells.get(metric, TableCell("")) for metric in self)]
            for (method, rival), cells in words.items()
        ]
        titles = [metric_title(one.scores.metric) for one in self.by_metric.values()]
        columns = [
            Column("method", "left"),
            Column("rival", "left"),
            *(Column(title, "left") for title in titles),
        ]
        caption = (
            f"What a method is compared with a rival, by {len(self)} metrics"
            " as one family; in brackets p, adjusted over pairs and metrics (alpha ="
            f" {self.alpha:g})."
        )
        return Table.of(columns, rows, caption=caption)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return {
            "alpha": self.alpha,
            "answer": list(self.answer),
            "metrics": {metric: one.to_dict() for metric, one in self.by_metric.items()},
        }

    def blocks(self) -> Sequence[tuple[str, str | Table]]:
        """Return what a terminal shows, under its headings."""
        return [("Finding", self.verdict), ("Words", self.as_table())]

    save = Comparison.save

    def write_files(self, folder: Path, formats: tuple[str, ...]) -> None:
        """Write what :meth:`save` writes into a folder that exists, file by file."""
        table = self.as_table()
        for metric, one in self.by_metric.items():
            inside = folder / re.sub(r"[^\w.-]+", "_", metric)
            inside.mkdir()
            one.write_files(inside, formats)
        texts = {
            "words.md": to_markdown(table),
            "words.tex": to_latex(table),
            "verdict.txt": f"{self.verdict}\n\n{to_text(table)}",
        }
        write_texts(
            folder,
            texts | {"comparison.json": json.dumps(self.to_dict(), indent=2, ensure_ascii=False)},
        )

    def __repr__(self) -> str:
        return "\n".join(self.answer)


def compare_metrics(
    scores: Any, metrics: Sequence[Any], *, alpha: float = 0.05, **options: Any
) -> SeveralComparisons:
    """Compare methods by several metrics as one family.

    Parameters
    ----------
    scores : DataFrame or object with ``scores()``
        As `compare` takes them, of all the metrics.
    metrics : sequence
        Two or more, each as `compare` takes it; choose them before the scores are looked at.
    alpha : float, default=0.05
        The level of all metrics and pairs together.
    **options
        As `compare` takes them, for every metric.

    Returns
    -------
    SeveralComparisons
        A comparison per metric, each at its share of alpha.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [(name, f"d{d}", metric, value + d / 100)
    ...         for d in range(10) for name, metric, value in
    ...         [("A", "accuracy", 0.9), ("B", "accuracy", 0.8), ("A", "f1", 0.5), ("B", "f1", 0.5 + (-1) ** d / 50)]]
    >>> frame = pd.DataFrame(rows, columns=["method", "dataset", "metric", "value"])
    >>> both = compare_metrics(frame, ["accuracy", "f1"], higher_is_better=True)
    >>> {metric: one.pairs[0].word for metric, one in both.items()}
    {'accuracy': 'better', 'f1': 'undecided'}
    """
    names = [asked_name(metric) for metric in metrics] if not isinstance(metrics, str) else []
    if len(names) < 2 or len(set(names)) < len(names):
        raise InputError(
            "several metrics: give two or more different ones, such as ['accuracy', 'roc_auc']"
        )
    if "metric" in options:
        raise InputError("several metrics: name them in metrics, not in metric")
    if not 0 < alpha < 1:
        raise InputError(f"alpha lies between 0 and 1, not {alpha}")
    share = alpha / len(names)
    found = {
        str(name): compare(scores, metric=metric, alpha=share, **options)
        for name, metric in zip(names, metrics, strict=True)
    }
    return SeveralComparisons(found, alpha)
