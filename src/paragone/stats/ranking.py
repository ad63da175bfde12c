"""The ranking of methods by one metric: who leads on the datasets at hand, by how much, and how sure that is.

A ranking is made of scores per split. What it says is what `paragone.compare` says of the same
scores, in both scopes: it holds that comparison, and has no test of its own.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from paragone.intervals import Interval
from paragone.metrics import error_name, in_target_unit, is_negated, metric_in_words, metric_title
from paragone.shortening import shortened
from paragone.stats.compare import compare
from paragone.stats.datasets import DatasetComparison
from paragone.stats.designs import Design
from paragone.stats.verdicts import Verdict
from paragone.stats.words import named, number, signed
from paragone.tables import Column, Table, TableCell

if TYPE_CHECKING:
    import pandas as pd

WIDTH = 80


@dataclass(frozen=True)
class RankedMethod:
    """A method in a ranking: its rank and mean, what is said of it against the leader, its cost and failures."""

    method: str
    rank: float
    mean: float
    against: Verdict | None
    seconds: float
    n_failed: int

    @property
    def word(self) -> str:
        """What stands beside it in a table."""
        if self.n_failed:
            return f"{self.n_failed} failed"
        if self.against is None:
            return "best" if self.rank == 1 else ""
        return self.against.word


def complete_methods(frame: pd.DataFrame) -> list[str]:
    """Return the methods that have as many finite scores on every dataset as any method has.

    Parameters
    ----------
    frame : DataFrame
        Columns ``dataset``, ``method``, ``value``; one score per split.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"dataset": "d", "method": list("AAB"), "value": [0.1, 0.2, 0.3]})
    >>> complete_methods(frame)
    ['A']
    """
    there = frame[np.isfinite(frame["value"])]
    counts = there.groupby(["dataset", "method"], sort=False).size().unstack(fill_value=0)
    whole = frame.groupby(["dataset", "method"]).size().groupby(level=0).max().reindex(counts.index)
    return [str(method) for method in counts.columns if (counts[method] == whole).all()]


@dataclass(frozen=True, eq=False)
class MethodRanking:
    """Methods ranked by one metric.

    Parameters
    ----------
    metric : str
        What they are ranked by. A scorer that is minus an error becomes the error, with its scores
        and direction.
    higher_is_better : bool
        Its direction.
    frame : DataFrame
        Columns ``dataset, fold, method, value``; a score per split.
    designs : mapping of str to Design
        How each dataset was split; None where that is not known.
    methods : tuple of str
        All that were run, in declared order; those without a score in every split are ranked last.
    failed : mapping of str to int
        Cells that failed, by method.
    seconds : mapping of str to float
        Processor time, by method.
    margin : float
        The largest difference that does not matter; 0: none was stated.
    compared : DatasetComparison, optional
        What decides every word, of the methods that have all their scores; by default all pairs are
        compared. With a reference the ranking is about it instead of the best.
    reduction : str
        What a score of a split is, where it is one number made of several: "the mean over the
        k-grid".

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [("d", fold, method, value + 0.01 * (fold % 2)) for fold in range(5)
    ...         for method, value in (("A", 0.9 + 0.001 * fold), ("B", 0.7))]
    >>> frame = pd.DataFrame(rows, columns=["dataset", "fold", "method", "value"])
    >>> MethodRanking("accuracy", True, frame, {"d": Design(5, 1, 0.25)}, ("A", "B")).finding
    'On this data, A is better than B: 0.906 against 0.704.'
    """

    metric: str
    higher_is_better: bool
    frame: pd.DataFrame
    designs: Mapping[str, Design | None]
    methods: tuple[str, ...]
    failed: Mapping[str, int] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    margin: float = 0.0
    compared: DatasetComparison | None = None
    reduction: str = ""

    def __post_init__(self) -> None:
        if self.higher_is_better and is_negated(self.metric, self.frame["value"].to_numpy()):
            set_field = object.__setattr__
            set_field(self, "metric", error_name(self.metric))
            set_field(self, "higher_is_better", False)
            set_field(self, "frame", self.frame.assign(value=0.0 - self.frame["value"]))

    @property
    def datasets(self) -> list[str]:
        """The datasets, in declared order."""
        return list(self.designs)

    @cached_property
    def scores(self) -> dict[str, dict[str, Any]]:
        """Scores by dataset and method, one per split; only of methods that have as many as there are splits."""
        mine = self.frame[self.frame["dataset"].isin(self.datasets)]
        whole = complete_methods(mine) if set(mine["dataset"]) == set(self.datasets) else []
        found: dict[str, dict[str, Any]] = {name: {} for name in self.designs}
        for (dataset, method), rows in mine.groupby(["dataset", "method"], sort=False):
            if method in whole:
                found[dataset][method] = rows.sort_values("fold")["value"].to_numpy(dtype=float)
        complete = [method for method in self.methods if method in whole]
        return {name: {method: by[method] for method in complete} for name, by in found.items()}

    @cached_property
    def comparison(self) -> DatasetComparison | None:
        """The comparison of the methods that have all their scores; None where there are not two."""
        if self.compared is not None:
            return self.compared
        complete = list(next(iter(self.scores.values()), {}))
        if len(complete) < 2:
            return None
        frame = self.frame[
            self.frame["method"].isin(complete) & self.frame["dataset"].isin(self.datasets)
        ]
        return compare(
            frame.assign(metric=self.metric),
            metric=self.metric,
            higher_is_better=self.higher_is_better,
            designs=self.designs,
            margin=self.margin,
            bayes=False,
        )

    @cached_property
    def own_scores(self) -> Mapping[str, Interval]:
        """The mean of every method with its own interval, where the splits or the rows tell."""
        return {} if self.comparison is None else self.comparison.own_scores

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings of the ranked table."""
        ratio = "log-ratio" if self.in_logarithms else "difference"
        return "", "method", "mean", f"{ratio} to {self.reference or 'the best'}", "", "CPU s"

    @property
    def reference(self) -> str | None:
        """The method that the others were compared with; None where all pairs were."""
        found = self.comparison
        return None if found is None or found.family.reference is None else found.leader

    @property
    def in_logarithms(self) -> bool:
        """Whether differences are log-ratios: of a metric in the units of several targets."""
        return self.comparison is not None and self.comparison.scores.differences == "log"

    def pair(self, method: str, rival: str) -> Verdict | None:
        """Return what the datasets at hand tell of a method against another."""
        return (
            next(iter(self.comparison.learners_of(method, [rival])), None)
            if self.comparison
            else None
        )

    @cached_property
    def rows(self) -> tuple[RankedMethod, ...]:
        """The methods from best to worst, those that failed last."""
        complete = list(next(iter(self.scores.values()), {}))
        means = {
            m: float(np.mean([np.mean(by_method[m]) for by_method in self.scores.values()]))
            for m in complete
        }
        if self.in_logarithms and self.comparison is not None:
            # Errors in the units of several targets have no common mean but the geometric one.
            means = {method: math.exp(self.comparison.means[method]) for method in complete}
        ranks: dict[str, float] = dict.fromkeys(means, 1.0)
        ordered, leader = list(means), next(iter(means), "")
        if self.comparison is not None:
            # The comparison names the leader; nothing is ordered a second time.
            ranks = dict(zip(self.comparison.ordered, self.comparison.order.ranks, strict=True))
            ordered = sorted(
                means,
                key=lambda method: list(ranks).index(method) if method in ranks else len(ranks),
            )
            leader = self.comparison.leader
        return tuple(
            RankedMethod(
                method,
                float(ranks.get(method, np.nan)),
                means.get(method, np.nan),
                self.pair(method, leader) if method in means and method != leader else None,
                float(self.seconds.get(method, np.nan)),
                int(self.failed.get(method, 0)),
            )
            for method in [*ordered, *(one for one in self.methods if one not in means)]
        )

    @cached_property
    def finding(self) -> str:
        """The answer in a sentence or two."""
        ranked = [one for one in self.rows if math.isfinite(one.mean)]
        alone = self._without_scores()
        if not ranked:
            return f"No method has a score in every split: {alone}."
        if self.comparison is None:
            alone = f" {alone}." if alone else ""
            by = metric_in_words(self.metric)
            return f"{ranked[0].method} reaches {number(ranked[0].mean)} by {by}.{alone}"
        return self.comparison.finding

    def _without_scores(self) -> str:
        """Say which methods lack scores: those that failed, and those that are not done yet."""
        lacking = [one for one in self.rows if not math.isfinite(one.mean)]
        failed = [one.method for one in lacking if one.n_failed]
        open_ones = [one.method for one in lacking if not one.n_failed]
        told = [f"{named(failed)} failed"] if failed else []
        if open_ones:
            told.append(f"{named(open_ones)} {'are' if len(open_ones) > 1 else 'is'} not done yet")
        return ", and ".join(told)

    def text(self, notes: Sequence[str] = (), foot: str = "") -> str:
        """Return the finding and the ranked table for a terminal of 80 columns."""
        rows = [self.headings, *_cells(self)]
        widths = [max(len(row[place]) for row in rows) for place in range(len(self.headings))]
        # Long names give way: the numbers are what is looked at.
        room = max(12, WIDTH - sum(widths[:1] + widths[2:]) - 2 * (len(widths) - 1))
        if widths[1] > room:
            names = shortened([row[1] for row in rows], room)
            rows = [(row[0], name, *row[2:]) for row, name in zip(rows, names, strict=True)]
            widths[1] = max(map(len, names))
        lines = []
        for row in rows:
            shown = [
                t.rjust(w) if r else t.ljust(w)
                for t, w, r in zip(row, widths, TO_THE_RIGHT, strict=True)
            ]
            lines.append("  ".join(shown).rstrip())
        told = [line for note in notes for line in wrap(f"! {note}", WIDTH, subsequent_indent="  ")]
        mean = "geometric mean" if self.in_logarithms else "mean"
        of = f"{self.reduction}, " if self.reduction else ""
        held = "methods" if self.reference is None else "rivals"
        together = f"; intervals of differences hold for all {held} together"
        if not any(one.against and math.isfinite(one.against.difference.low) for one in self.rows):
            together = ""
        unit = "in the target's unit, " if in_target_unit(self.metric) else ""
        better = "" if self.higher_is_better else f" ({unit}lower is better)"
        by = f"{metric_in_words(self.metric)}{better}"
        end = (
            f"by {by if self.metric else 'no metric'}, {of}{mean} over splits and datasets"
            f"{together}"
        )
        return "\n".join(
            [*wrap(self.finding, WIDTH), "", *lines, "", *told, *wrap(end + foot, WIDTH)]
        )

    def html(self, notes: Sequence[str] = (), foot: str = "") -> str:
        """Return the finding, the ranked table with its intervals drawn, and the notes for a notebook."""
        head = "".join(
            f"<th>{escape(text)}</th>" for text in (*self.headings[:4], "", *self.headings[4:])
        )
        span = self._span()
        body = []
        for one, row in zip(self.rows, _cells(self), strict=True):
            drawn = "" if one.against is None else _bar(one.against.difference, span)
            cells = [*(f"<td>{escape(text)}</td>" for text in row[:4]), f"<td>{drawn}</td>"]
            cells += [f"<td>{escape(text)}</td>" for text in row[4:]]
            body.append(f"<tr>{''.join(cells)}</tr>")
        told = "".join(f"<p>⚠ {escape(text)}</p>" for text in notes)
        by = escape(f"by {metric_in_words(self.metric)}{foot}")
        return (
            f"<p><strong>{escape(self.finding)}</strong></p><table><thead><tr>{head}</tr></thead>"
            f"<tbody>{''.join(body)}</tbody></table>{told}<p><small>{by}</small></p>"
        )

    def table(self, caption: str = "", label: str = "") -> Table:
        """Return the ranked table for a page or a paper."""
        columns = tuple(
            Column(
                heading or ("rank" if place == 0 else "word"), align="right" if right else "left"
            )
            for place, (heading, right) in enumerate(zip(self.headings, TO_THE_RIGHT, strict=True))
        )
        rows = tuple(
            tuple(TableCell(text, bold=row[0] == "1") for text in row) for row in _cells(self)
        )
        return Table(columns, rows, caption=caption, label=label)

    def chart(self) -> Any:
        """Draw the difference of every method to the best, with its interval; None where there is nothing to draw."""
        from paragone.charts import from_rows, styled

        shown = [one for one in self.rows if one.against is not None]
        if not shown:
            return None
        import altair as alt

        rows: list[dict[str, Any]] = [
            {
                "method": one.method,
                "difference": one.against.difference.estimate,
                "low": one.against.difference.low,
                "high": one.against.difference.high,
                "word": one.against.word,
            }
            for one in shown
            if one.against is not None
        ]
        for row in rows:
            # Without limits the dot stands alone.
            if not math.isfinite(row["low"]):
                row["low"] = row["high"] = row["difference"]
        order = [one.method for one in shown]
        y = alt.Y("method:N", sort=order, title=None)
        leader = self.reference or self.rows[0].method
        colours = {
            "worse": "#b2182b",
            "undecided": "#777777",
            "equivalent": "#1b7837",
            "better": "#2166ac",
        }
        words = {row["word"] for row in rows}
        present = {word: shade for word, shade in colours.items() if word in words}
        colour = alt.Color(
            "word:N",
            scale=alt.Scale(domain=list(present), range=list(present.values())),
            legend=alt.Legend(title=None, orient="bottom"),
        )
        base = from_rows(rows).encode(y=y, color=colour)
        x = alt.X(
            "low:Q",
            title=f"{self.headings[3].partition(' to ')[0]} to {leader}, positive is better",
        )
        line = base.mark_rule(strokeWidth=2).encode(x=x, x2="high:Q")
        dot = base.mark_point(filled=True, size=60, opacity=1).encode(x=alt.X("difference:Q"))
        zero = from_rows([{"zero": 0}]).mark_rule(color="#333333").encode(x=alt.X("zero:Q"))
        counts = Counter(row["word"] for row in rows)
        title = f"Against {leader}: {', '.join(f'{n} {word}' for word, n in counts.most_common())}"
        layers: Any = alt.layer(zero, line, dot).properties(width=460, height=alt.Step(24))
        return styled(
            layers,
            title,
            f"{metric_title(self.metric)}: mean difference and interval, for all pairs together",
        )

    def _span(self) -> tuple[float, float]:
        ends = [0.0]
        for one in self.rows:
            if one.against is not None:
                found = one.against.difference
                ends += [
                    end for end in (found.estimate, found.low, found.high) if math.isfinite(end)
                ]
        return min(ends), max(ends)


TO_THE_RIGHT = (True, False, True, False, False, True)


def _cells(ranking: MethodRanking) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for one in ranking.rows:
        difference = "" if one.against is None else signed(one.against.difference)
        rank = f"{one.rank:g}" if math.isfinite(one.rank) else ""
        mean = number(one.mean)
        if one.method in ranking.own_scores:
            own = ranking.own_scores[one.method]
            mean += f" [{number(own.low)}, {number(own.high)}]" if math.isfinite(own.low) else ""
        rows.append((rank, one.method, mean, difference, one.word, number(one.seconds)))
    return rows


DRAWN = 160


def _bar(interval: Interval, span: tuple[float, float]) -> str:
    """Draw an interval on a line, with zero marked."""
    low, high = span
    width = (high - low) or 1.0

    def at(value: float) -> float:
        return 4 + (DRAWN - 8) * (value - low) / width

    whole = math.isfinite(interval.low)
    line = (
        f'<line x1="{at(interval.low):.1f}" x2="{at(interval.high):.1f}" y1="8" y2="8"'
        ' stroke="#333" stroke-width="2"/>'
        if whole
        else ""
    )
    return (
        f'<svg width="{DRAWN}" height="16" role="img" aria-label="{escape(signed(interval))}">'
        f'<line x1="{at(0):.1f}" x2="{at(0):.1f}" y1="0" y2="16" stroke="#bbb"/>{line}'
        f'<circle cx="{at(interval.estimate):.1f}" cy="8" r="3.5" fill="#333"/></svg>'
    )
