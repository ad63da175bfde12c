"""The tables and charts of a recommendation paper: metrics at K with intervals, ties, segments, beyond accuracy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from paragone.charts import Plot
from paragone.errors import unknown_name
from paragone.lab.view import View
from paragone.metrics import metric_in_words, metric_title
from paragone.protocols.topk.reader import (
    BEYOND,
    TopKReader,
    TopKRun,
    beyond_frame,
    score_frame,
    segment_frame,
)
from paragone.reporting.tables import marked
from paragone.stats import SampleComparison, compare_samples
from paragone.tables import Table, TableCell, format_number, number_cell

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class TopKFigures:
    """Everything a topk report says, computed once.

    Attributes
    ----------
    view : View
        The experiment.
    run : TopKRun
        The experiment, or the part of it to tell.
    reference : str or None
        The method that is compared with each other; the first where it is None.
    metric : str or None
        Show this metric only; the comparison is of all, so that a look at one does not change its
        p.
    at : int or None
        Show this cut-off only.
    """

    view: View
    run: TopKRun
    reference: str | None = None
    metric: str | None = None
    at: int | None = None

    def name(self, name: str) -> str:
        """Return what a method or dataset is called."""
        return self.view.name(name)

    def table(
        self,
        what: str,
        dataset: str,
        heading: Sequence[str],
        rows: Sequence[Sequence[str | TableCell]],
        caption: str,
    ) -> Table:
        """Return a table about a dataset, labelled by what it holds."""
        wording = self.view.wording
        label = "".join(letter if letter.isalnum() else "-" for letter in f"{what}-{dataset}")
        return Table.of(
            heading, rows, caption=wording.caption(caption), label=wording.label(label.strip("-"))
        )

    @cached_property
    def segments(self) -> pd.DataFrame:
        """Values by segment."""
        return segment_frame(self.run)

    @cached_property
    def scores(self) -> pd.DataFrame:
        """Values of all samples, with ties and spread over seeds."""
        frame = score_frame(self.run, self.segments, self.view.repeats)
        for column, wanted in (("metric", self.metric), ("at", self.at)):
            if wanted is not None and not (frame[column] == wanted).any():
                raise unknown_name(
                    {"at": "cut-off"}.get(column, column),
                    str(wanted),
                    [str(v) for v in dict.fromkeys(frame[column])],
                )
            frame = frame if wanted is None else frame[frame[column] == wanted]
        return frame

    @cached_property
    def tidy_by_place(self) -> pd.DataFrame:
        """Scores of every fold and seed, by dataset, method, metric and cut-off."""
        return self.view.repeats.set_index(["dataset", "method", "metric", "at"]).sort_index()

    @cached_property
    def beyond(self) -> pd.DataFrame:
        """Beyond accuracy."""
        return beyond_frame(self.run)

    @cached_property
    def comparison(self) -> SampleComparison | None:
        """The reference against each other method on the samples; None where there is one method."""
        if len(self.run.methods) < 2:
            return None
        samples = TopKReader(self.view.results).sample_scores(experiment=self.run.experiment)
        mine = samples["method"].isin(self.run.methods) & samples["dataset"].isin(self.run.datasets)
        return compare_samples(samples[mine], reference=self.reference)


def metric_table(figures: TopKFigures, dataset: str, metric: str) -> Table:
    """Make the table of a metric: methods down, cut-offs across, with intervals; the best possible in the last row."""
    rows = of_place(figures.scores, dataset, metric)
    columns, best = [], []
    for _, at in rows.groupby("at", sort=False):
        texts = [_with_interval(row) for row in at.itertuples()]
        columns.append(marked(at["value"].tolist(), texts, metric))
        best.append(at["ceiling"].iloc[0])
    seeds = rows.drop_duplicates("method").set_index("method")["seeds"]
    body = []
    for place, (method, count) in enumerate(seeds.items()):
        name = figures.name(str(method))
        if count != 1:
            name += f" (mean of {int(count)} seeds)"
        body.append([TableCell(name), *(column[place] for column in columns)])
    caption = (
        f"{metric_title(metric)} on {figures.name(dataset)}: mean over {int(rows['n'].iloc[0])}"
        " samples and its 95 % bootstrap interval, equal queries resampled together. Best in bold,"
        " second best underlined."
    )
    rules: tuple[int, ...] = ()
    if rows["ceiling"].notna().any():
        rules = (len(body),)
        highest = [number_cell(value, format_number(value)) for value in best]
        body.append([TableCell("best possible"), *highest])
    cuts = dict.fromkeys(rows["at"])
    heading = ["Method", *(metric_title(_label(metric, int(cut))) for cut in cuts)]
    return replace(figures.table(metric, dataset, heading, body, caption), rules=rules)


def of_place(frame: pd.DataFrame, dataset: str, metric: str) -> pd.DataFrame:
    """Return the rows of a metric on a dataset."""
    return frame[(frame["dataset"] == dataset) & (frame["metric"] == metric)]


def _with_interval(row: object) -> str:
    value, low, high = (format_number(getattr(row, name)) for name in ("value", "low", "high"))
    return f"{value} [{low}, {high}]"


def tie_table(figures: TopKFigures, dataset: str) -> Table:
    """Make the table of ties: the share of samples with equal scores across each cut-off, and what they could do."""
    metric = figures.scores["metric"].iloc[0]
    rows = of_place(figures.scores, dataset, metric)
    body = []
    for method, mine in rows.groupby("method", sort=False):
        body.append([figures.name(str(method)), *(_tied(row) for row in mine.itertuples())])
    caption = (
        f"Ties on {figures.name(dataset)}: share of samples with equal scores across the cut-off;"
        f" above 0.1 % also {metric_in_words(metric)} if all ties fell out worst and best."
    )
    heading = ["Method", *(f"K = {int(cut)}" for cut in dict.fromkeys(rows["at"]))]
    return figures.table("ties", dataset, heading, body, caption)


def _tied(row: Any) -> str:
    share = f"{100 * row.tie_share:.2f} %"
    if math.isnan(row.tie_low):
        return share
    return f"{share} ({row.tie_low:.4f}..{row.tie_high:.4f})"


def segment_tables(figures: TopKFigures, dataset: str) -> list[Table]:
    """Make the tables of segments: the first metric at the first cut-off, and the second at the last."""
    frame = figures.segments[figures.segments["dataset"] == dataset]
    metrics, ks = list(dict.fromkeys(frame["metric"])), list(dict.fromkeys(frame["at"]))
    second = metrics[min(1, len(metrics) - 1)]
    wanted = dict.fromkeys([(metrics[0], ks[0]), (second, ks[-1])])
    return [_segment_table(figures, dataset, metric, int(cut)) for metric, cut in wanted]


def _segment_table(figures: TopKFigures, dataset: str, metric: str, cut: int) -> Table:
    rows = of_place(figures.segments, dataset, metric)
    rows = rows[rows["at"] == cut]
    methods = list(dict.fromkeys(rows["method"]))
    body = []
    for segment, mine in rows.groupby("segment", sort=False):
        by_method = mine.set_index("method").reindex(methods)
        texts = [_with_interval(row) for row in by_method.itertuples()]
        first = mine.iloc[0]
        head = (segment, str(int(first["n"])), format_number(first["ceiling"]))
        cells = marked(by_method["value"].tolist(), texts, metric)
        body.append([*map(TableCell, head), *cells])
    caption = (
        f"{metric_title(_label(metric, cut))} on segments of {figures.name(dataset)}, with 95 %"
        " intervals and the best value possible. Head items are the most frequent fifth of train;"
        " segments of items count only the relevant items inside."
    )
    heading = ["Segment", "n", "best possible", *map(figures.name, methods)]
    return figures.table(f"segments-{metric}-{cut}", dataset, heading, body, caption)


def beyond_table(figures: TopKFigures, dataset: str) -> Table:
    """Make the table beyond accuracy at the largest cut-off."""
    rows = figures.beyond[figures.beyond["dataset"] == dataset]
    cut = int(rows["at"].max())
    body = [
        [figures.name(row["method"]), *(format_number(row[name]) for name in BEYOND)]
        for row in rows[rows["at"] == cut].to_dict("records")
    ]
    caption = (
        f"Beyond accuracy on {figures.name(dataset)} at K = {cut}: share of items shown at all,"
        " Gini coefficient of their exposures (0 is even), mean of -log2 of the share of training"
        " rows with a shown item, recall of tail items."
    )
    heading = ["Method", "coverage", "Gini of exposure", "novelty", "tail recall"]
    return figures.table("beyond", dataset, heading, body, caption)


def _label(metric: str, cut: int) -> str:
    """Name a metric at a cut-off in full; a user's own by its bare name."""
    name, _, rest = metric.partition("[")
    return f"{name}@{cut}[{rest}" if rest else f"{name}@{cut}"


def topk_plot(figures: TopKFigures, dataset: str, metric: str) -> Plot:
    """Return a metric against K for every method of a dataset, with 95 % intervals."""
    columns = ["at", "value", "low", "high"]
    groups = of_place(figures.scores, dataset, metric).groupby("method", sort=False)
    series = {
        figures.name(str(method)): tuple(
            map(tuple, rows[columns].astype(float).to_numpy().tolist())
        )
        for method, rows in groups
    }
    title = f"{metric_title(metric)} at K on {figures.name(dataset)}"
    subtitle = (
        "mean over test samples, band: 95 % interval, equal queries resampled together; axes do not"
        " begin at 0"
    )
    return Plot("lines", title, "K", metric_title(metric), series, subtitle)
