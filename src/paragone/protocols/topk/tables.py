"""The tables and charts of a recommendation paper: metrics at K with intervals, ties, segments, beyond accuracy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from paragone.charts import Plot
from paragone.errors import unknown_name
from paragone.lab.measures import Wording
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


def metric_table(scores: pd.DataFrame, dataset: str, metric: str, wording: Wording) -> Table:
    """Make the table of a metric: methods down, cut-offs across, with intervals; the best possible in the last row."""
    rows = scores[scores["metric"] == metric]
    methods, ks = list(dict.fromkeys(rows["method"])), list(dict.fromkeys(rows["at"]))
    columns = []
    for cut in ks:
        at = rows[rows["at"] == cut].set_index("method").loc[methods]
        texts = [_with_interval(row) for row in at.itertuples()]
        columns.append(marked(at["value"].tolist(), texts, metric))
    body = [
        [TableCell(_named(rows, method, wording)), *(c[place] for c in columns)]
        for place, method in enumerate(methods)
    ]
    best = [rows.loc[rows["at"] == cut, "ceiling"].iloc[0] for cut in ks]
    rules = []
    if rows["ceiling"].notna().any():
        rules.append(len(body))
        body.append(
            [
                TableCell("best possible"),
                *(number_cell(value, format_number(value)) for value in best),
            ]
        )
    caption = (
        f"{metric_title(metric)} on {wording.name(dataset)}: mean over {int(rows['n'].iloc[0])}"
        " samples and its 95 % bootstrap interval, equal queries resampled together. Best in bold,"
        " second best underlined."
    )
    heading = ["Method", *(metric_title(_label(metric, int(cut))) for cut in ks)]
    return Table.of(
        heading,
        body,
        caption=wording.caption(caption),
        label=_name(metric, dataset, wording),
        rules=rules,
    )


def _with_interval(row: object) -> str:
    value, low, high = (format_number(getattr(row, name)) for name in ("value", "low", "high"))
    return f"{value} [{low}, {high}]"


def _named(rows: pd.DataFrame, method: str, wording: Wording) -> str:
    seeds = int(rows.loc[rows["method"] == method, "seeds"].iloc[0])
    return wording.name(method) if seeds == 1 else f"{wording.name(method)} (mean of {seeds} seeds)"


def tie_table(scores: pd.DataFrame, dataset: str, wording: Wording) -> Table:
    """Make the table of ties: the share of samples with equal scores across each cut-off, and what they could do."""
    metric = scores["metric"].iloc[0]
    rows = scores[scores["metric"] == metric]
    ks = list(dict.fromkeys(rows["at"]))
    body = []
    for method, mine in rows.groupby("method", sort=False):
        by_cut = mine.set_index("at")
        body.append([wording.name(method), *(_tied(by_cut.loc[cut]) for cut in ks)])
    caption = (
        f"Ties on {wording.name(dataset)}: share of samples with equal scores across the cut-off;"
        f" above 0.1 % also {metric_in_words(metric)} if all ties fell out worst and best."
    )
    heading = ["Method", *(f"K = {int(cut)}" for cut in ks)]
    return Table.of(
        heading, body, caption=wording.caption(caption), label=_name("ties", dataset, wording)
    )


def _tied(row: pd.Series) -> str:
    share = f"{100 * row['tie_share']:.2f} %"
    return (
        share
        if row["tie_low"] != row["tie_low"]
        else f"{share} ({row['tie_low']:.4f}..{row['tie_high']:.4f})"
    )


def segment_tables(segments: pd.DataFrame, dataset: str, wording: Wording) -> list[Table]:
    """Make the tables of segments: the first metric at the first cut-off, and the second at the last."""
    metrics, ks = list(dict.fromkeys(segments["metric"])), list(dict.fromkeys(segments["at"]))
    wanted = list(dict.fromkeys([(metrics[0], ks[0]), (metrics[min(1, len(metrics) - 1)], ks[-1])]))
    return [_segment_table(segments, dataset, metric, int(cut), wording) for metric, cut in wanted]


def _segment_table(
    segments: pd.DataFrame, dataset: str, metric: str, cut: int, wording: Wording
) -> Table:
    rows = segments[(segments["metric"] == metric) & (segments["at"] == cut)]
    methods = list(dict.fromkeys(rows["method"]))
    body = []
    for segment, mine in rows.groupby("segment", sort=False):
        by_method = mine.set_index("method").reindex(methods)
        texts = [_with_interval(row) for row in by_method.itertuples()]
        cells = marked(by_method["value"].tolist(), texts, metric)
        first = mine.iloc[0]
        body.append(
            [
                TableCell(segment),
                TableCell(str(int(first["n"]))),
                TableCell(format_number(first["ceiling"])),
                *cells,
            ]
        )
    caption = (
        f"{metric_title(_label(metric, cut))} on segments of {wording.name(dataset)}, with 95 %"
        " intervals and the best value possible. Head items are the most frequent fifth of train;"
        " segments of items count only the relevant items inside."
    )
    heading = ["Segment", "n", "best possible", *(wording.name(method) for method in methods)]
    label = _name(f"segments-{metric}-{cut}", dataset, wording)
    return Table.of(heading, body, caption=wording.caption(caption), label=label)


def beyond_table(beyond: pd.DataFrame, dataset: str, wording: Wording) -> Table:
    """Make the table beyond accuracy at the largest cut-off."""
    cut = int(beyond["at"].max())
    rows = beyond[beyond["at"] == cut]
    body = [
        [wording.name(row["method"]), *(format_number(row[name]) for name in BEYOND)]
        for row in rows.to_dict("records")
    ]
    caption = (
        f"Beyond accuracy on {wording.name(dataset)} at K = {cut}: share of items shown at all,"
        " Gini coefficient of their exposures (0 is even), mean of -log2 of the share of training"
        " rows with a shown item, recall of tail items."
    )
    heading = ["Method", "coverage", "Gini of exposure", "novelty", "tail recall"]
    return Table.of(
        heading, body, caption=wording.caption(caption), label=_name("beyond", dataset, wording)
    )


def _label(metric: str, cut: int) -> str:
    """Name a metric at a cut-off in full; a user's own by its bare name."""
    name, _, rest = metric.partition("[")
    return f"{name}@{cut}[{rest}" if rest else f"{name}@{cut}"


def _name(what: str, dataset: str, wording: Wording) -> str:
    text = "".join(letter if letter.isalnum() else "-" for letter in f"{what}-{dataset}")
    return wording.label(text.strip("-"))


def topk_plot(scores: pd.DataFrame, dataset: str, wording: Wording, metric: str) -> Plot:
    """Return a metric against K for every method of a dataset, with 95 % intervals."""
    mine = scores[(scores["dataset"] == dataset) & (scores["metric"] == metric)]
    columns = ["at", "value", "low", "high"]
    series = {
        wording.name(str(method)): tuple(map(tuple, rows[columns].to_numpy(dtype=float).tolist()))
        for method, rows in mine.groupby("method", sort=False)
    }
    title = f"{metric_title(metric)} at K on {wording.name(dataset)}"
    subtitle = (
        "mean over test samples, band: 95 % interval, equal queries resampled together; axes do not"
        " begin at 0"
    )
    return Plot("lines", title, "K", metric_title(metric), series, subtitle)
