"""The sections that stand on every page: the table of scores, dataset by dataset, method by method."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from paragone.lab.grids import GridScores
from paragone.lab.measures import Measure, Wording
from paragone.lab.view import View
from paragone.page import Block, Collapsible, Gallery, NumberDetails, Points, Prose, Sheet, figure
from paragone.reporting.charts import dataset_curves
from paragone.reporting.how import warned_words
from paragone.reporting.tables import marked, score_table
from paragone.reporting.words import direction, size_of, title_of
from paragone.stats import DatasetComparison
from paragone.tables import (
    Column,
    Table,
    TableCell,
    format_mean_std,
    format_number,
    format_p,
    format_signed,
    mark_best,
    number_cell,
)
from paragone.ties import least_loss, rank_losses, slack_of
from paragone.validation import FloatArray

if TYPE_CHECKING:
    import pandas as pd

MOST_MEANS = 20_000
"""Means of a method on a dataset up to which a page shows each by itself, with its folds behind it."""
SHOWN_METHODS = 12
"""Methods that have a column in a table of more means than that."""
WORSE, BETTER = "−", "+"


@dataclass
class Behind:
    """Collects what is behind the numbers of a page."""

    found: dict[str, NumberDetails] = field(default_factory=dict)
    is_left_out: bool = False
    """Whether there are too many numbers for a page to hold what is behind each."""

    def folds(self, scores: GridScores, metric: str, dataset: str, method: str) -> str:
        """Return the key of the fold scores of a mean, or nothing where there are none; they must be known."""
        return self.known(_key(scores, metric, dataset, method))

    def known(self, key: str) -> str:
        """Return a key where there is something behind it, or nothing."""
        return key if key in self.found else ""

    def add(self, key: str, evidence: NumberDetails) -> str:
        """Keep evidence and return its key; nothing where it is left out."""
        if self.is_left_out:
            return ""
        self.found.setdefault(key, evidence)
        return key


def evidence_key(*parts: str) -> str:
    """Name evidence; a slash inside a name is doubled, so that no two places share a key.

    Examples
    --------
    >>> evidence_key("rmse", "a/b", "Ridge")
    'rmse/a//b/Ridge'
    """
    return "/".join(part.replace("/", "//") for part in parts)


def _key(scores: GridScores, *parts: str) -> str:
    return evidence_key(scores.suffix, *parts)


def evidence(view: View) -> Behind:
    """Return what is behind the numbers of a page, with the fold scores of every mean."""
    if n_means(view) > MOST_MEANS:
        return Behind(is_left_out=True)
    behind = Behind()
    for measure in view.measures:
        folds = measure.scores.folds
        _keep_folds(
            behind, measure.scores, measure.metric, folds[folds["metric"] == measure.metric]
        )
    return behind


def n_means(view: View) -> int:
    """Return how many means of a method on a dataset a page is about, over all metrics and grids."""
    return sum(len(means) for measure in view.measures for means in measure.means.values())


def best_shown(scores: GridScores, metric: str, comparison: DatasetComparison | None) -> list[str]:
    """Return the methods that a table on a page has columns for: all, or of very many the best by mean.

    The leader is always among them; without a comparison they are the first.
    """
    rows = scores.folds[scores.folds["metric"] == metric]
    methods: list[str] = rows["method"].unique().tolist()
    if rows["dataset"].nunique() * len(methods) <= MOST_MEANS or len(methods) <= SHOWN_METHODS:
        return methods
    if comparison is None:
        return methods[:SHOWN_METHODS]
    best = sorted(comparison.ordered, key=lambda name: name != comparison.leader)[:SHOWN_METHODS]
    return [name for name in methods if name in best]


def answer_sheet(
    scores: GridScores,
    metric: str,
    comparison: DatasetComparison | None,
    behind: Behind,
    name: str,
    tags: Mapping[str, str],
) -> Sheet:
    """Make the answer table of one metric.

    Parameters
    ----------
    scores : GridScores
        Under the names to display.
    metric : str
        Which metric.
    comparison : DatasetComparison or None
        Of the reference with each other method; None where there is nothing to compare.
    behind : Behind
        Where the fold scores behind the numbers go.
    name : str
        The table's anchor and file name.
    tags : mapping
        When it shows.

    Returns
    -------
    Sheet
        With a mark where a method differs from the reference on a dataset, and means, ranks and p
        below.
    """
    n_methods = scores.folds.loc[scores.folds["metric"] == metric, "method"].nunique()
    shown = best_shown(scores, metric, comparison)
    if len(shown) < n_methods:
        scores = replace(scores, folds=scores.folds[scores.folds["method"].isin(shown)])
    table = score_table(scores, metric, Wording())
    rows = scores.folds[scores.folds["metric"] == metric]
    datasets, methods = rows["dataset"].unique().tolist(), rows["method"].unique().tolist()
    marks = {} if comparison is None else significance_marks(comparison)
    body = [
        (
            row[0],
            *(
                replace(
                    cell,
                    superscript=marks.get((d, m), ""),
                    behind=behind.folds(scores, metric, d, m),
                )
                for m, cell in zip(methods, row[1:], strict=True)
            ),
        )
        for d, row in zip(datasets, table.rows, strict=True)
    ]
    footer: list[tuple[TableCell, ...]] = []
    caption = table.caption
    if comparison is not None:
        footer = _footer(scores, metric, comparison, methods, behind)
        caption += f" {_explained(comparison, bool(marks))}"
    if len(shown) < n_methods:
        which = "the first" if comparison is None else "the best by mean"
        caption += (
            f" Columns and marks are of {len(shown)} of {n_methods} methods, {which}; the files"
            " have all."
        )
    heading = [column.name for column in table.columns]
    whole = Table.of(
        heading, [*body, *footer], caption=caption, label=table.label, rules=(len(body),)
    )
    title = f"{title_of(metric)}: {scores.reduction}" if scores.reduction else title_of(metric)
    return Sheet(f"answer-{name}", title, whole, n_footer=len(footer), wide=True, tags=tags)


def significance_marks(comparison: DatasetComparison) -> dict[tuple[str, str], str]:
    """Return the marks of cells that differ from the reference on their dataset.

    The corrected resampled t on the folds of a dataset, adjusted over the rivals on that dataset.
    """
    return {
        (dataset, row.rival): WORSE if row.mean_difference > 0 else BETTER
        for dataset in comparison.per_dataset["dataset"].unique()
        for row in comparison.leader_on(dataset).itertuples()
        if row.p <= comparison.settings.alpha
    }


def _explained(comparison: DatasetComparison, marked: bool) -> str:
    n = len(comparison.scores.datasets)
    text = (
        f"Below: mean over the {n} dataset{'s' * (n != 1)} that every method has, average rank, and"
        f" the p of {comparison.leader} against each ({comparison.choices['test']};"
        f" {comparison.choices['correction']})."
    )
    if marked:
        text += (
            f" {WORSE} and {BETTER}: worse and better than {comparison.leader} on that dataset"
            f" alone (corrected resampled t on its folds, {comparison.correction_within.title} over"
            f" the rivals, alpha = {comparison.settings.alpha:g})."
        )
    return text


def _footer(
    scores: GridScores,
    metric: str,
    comparison: DatasetComparison,
    methods: list[str],
    behind: Behind,
) -> list[tuple[TableCell, ...]]:
    """Return the rows below: means, average ranks, and the p of the reference against each."""
    table, settings, leader = comparison.scores, comparison.settings, comparison.leader
    # A method that failed may not be among those compared.
    place = {method: at for at, method in enumerate(table.methods) if method in methods}
    pairs = {pair.rival: pair for pair in comparison.leading_pairs}
    score, higher = title_of(metric), table.higher_is_better

    def keep(method: str, what: str, column: FloatArray, details: NumberDetails) -> str:
        """Keep a row a dataset: its name, the value, and the key of the fold scores behind it."""
        rows = tuple(
            (dataset, float(value), behind.folds(scores, metric, dataset, method))
            for dataset, value in zip(table.datasets, column, strict=True)
        )
        return behind.add(_key(scores, metric, "", method, what), replace(details, rows=rows))

    by_mean, by_rank, by_p = {}, {}, {}
    for name in methods:
        if name in place:
            details = NumberDetails(f"{name}: {score} on every dataset", ("dataset", score), ())
            by_mean[name] = keep(name, "mean", table.values[:, place[name]], details)
    for name in methods:
        if name in place:
            title = f"{name}: rank by {score} on every dataset"
            details = NumberDetails(title, ("dataset", "rank"), ())
            by_rank[name] = keep(name, "rank", comparison.ranks[:, place[name]], details)
    for name in methods:
        if name in pairs:
            pair = pairs[name]
            note = (
                f"Positive favours {leader}. p = {format_p(pair.p_raw)}, adjusted"
                f" {format_p(pair.p)} ({comparison.choices['test']};"
                f" {comparison.choices['correction']})."
            )
            title = f"{leader} against {name}: differences in {score}"
            details = NumberDetails(title, ("dataset", "gain"), (), note)
            of = {one: table.values[:, table.methods.index(one)] for one in (leader, name)}
            gain = of[leader] - of[name]
            by_p[name] = keep(name, "p", gain if higher else -gain, details)

    averages = {
        "mean": dict(zip(table.methods, table.values.mean(axis=0).tolist(), strict=True)),
        "rank": dict(zip(table.methods, comparison.ranks.mean(axis=0).tolist(), strict=True)),
    }
    means, ranks = ([found.get(m, np.nan) for m in methods] for found in averages.values())
    adjusted = [(pairs[m].p if m in pairs else np.nan, by_p.get(m, "")) for m in methods]
    return [
        (
            TableCell("Mean"),
            *mark_best(
                means,
                [format_number(mean) for mean in means],
                higher_is_better=higher,
                size=settings.size,
                behind=[by_mean.get(m, "") for m in methods],
            ),
        ),
        (
            TableCell("Average rank"),
            *mark_best(
                ranks,
                [format_number(rank, 2) for rank in ranks],
                higher_is_better=False,
                behind=[by_rank.get(m, "") for m in methods],
            ),
        ),
        (
            TableCell("p (adjusted)"),
            *(
                number_cell(value, format_p(value), bold=value <= settings.alpha, behind=key)
                for value, key in adjusted
            ),
        ),
    ]


def _keep_folds(behind: Behind, scores: GridScores, metric: str, rows: pd.DataFrame) -> None:
    for (dataset, method), folds in rows.groupby(["dataset", "method"], sort=False):
        behind.add(
            _key(scores, metric, dataset, method),
            NumberDetails(
                f"{method} on {dataset}: {title_of(metric)}",
                ("fold", title_of(metric)),
                tuple(
                    (str(fold), float(value), "")
                    for fold, value in zip(folds["fold"], folds["value"], strict=True)
                ),
                f"A fold's score is {scores.reduction}." if scores.reduction else "",
                (dataset, method),
            ),
        )


OPEN_UP_TO = 2


def verdict_blocks(
    view: View,
    lead: Block,
    points: Sequence[str] = (),
    warnings: Sequence[str] = (),
    evidence: Block | None = None,
) -> tuple[Block, ...]:
    """Return a verdict: the finding, its points, what to beware of, the evidence, and what the methods warned of."""
    told: list[Block] = [lead, *([Points(tuple(points))] if points else [])]
    told += [Prose((line,), "warning") for line in warnings]
    return (*told, *([evidence] if evidence is not None else []), *warned_words(view))


def folds_of(parts: Mapping[str, Sequence[Block]]) -> tuple[Block, ...]:
    """Return a part that opens and closes for each name; few stand open."""
    return tuple(
        Collapsible(name, tuple(blocks), is_open=len(parts) <= OPEN_UP_TO)
        for name, blocks in parts.items()
    )


def dataset_blocks(view: View) -> tuple[Block, ...]:
    """Return a part that opens and closes for every dataset; of very many, one table of what they are."""
    if n_means(view) > MOST_MEANS:
        return _dataset_overview(view)
    behind, curves = view.once(evidence), view.once(dataset_curves)
    names = list(dict.fromkeys(name for measure in view.measures for name in measure.means))
    parts: dict[str, list[Block]] = {}
    for place, name in enumerate(names):
        blocks = parts[name] = [Prose((_facts(view.dataset_facts[name]),))]
        for measure in view.measures:
            if name not in measure.means:
                continue
            drawn = curves.get((measure.scores.suffix, measure.metric), {})
            if name in drawn:
                blocks.append(
                    Gallery((figure(f"{name}_{measure.key}", drawn[name]),), measure.tags)
                )
            blocks.append(_dataset_sheet(measure, name, place, behind))
    return folds_of(parts)


def _dataset_overview(view: View) -> tuple[Block, ...]:
    """Return one table of all datasets: what each is, and which method has the best mean on it by every metric."""
    ranked = [measure for measure in view.measures if direction(measure.metric) is not None]
    names = list(dict.fromkeys(name for measure in view.measures for name in measure.means))
    rows = []
    for name in names:
        facts = view.dataset_facts[name]
        row = [
            TableCell(name),
            *(number_cell(facts[size], str(facts[size])) for size in ("n_samples", "n_features")),
        ]
        rows.append([*row, *(TableCell(_best_on(measure, name)) for measure in ranked)])
    titles = [f"best by {title_of(measure.metric)}{measure.scores.dashed}" for measure in ranked]
    columns: list[str | Column] = [
        "dataset",
        "samples",
        "features",
        *(Column(title, "left") for title in titles),
    ]
    words = (
        f"There are {len(names)} datasets: too many to show each by itself, with the folds behind"
        " every number. The files beside this page have the mean of every method on every dataset."
    )
    return Prose((words,)), Sheet("datasets-overview", "Datasets", Table.of(columns, rows))


def _best_on(measure: Measure, dataset: str) -> str:
    """Return the method with the best mean on a dataset, the first of equals."""
    means = {
        name: mean
        for name, (mean, _) in measure.means.get(dataset, {}).items()
        if not np.isnan(mean)
    }
    if not means:
        return ""
    losses = [-mean if direction(measure.metric) else mean for mean in means.values()]
    return list(means)[least_loss(losses, size=size_of(measure.metric))]


def _facts(facts: Mapping[str, Any]) -> str:
    n_targets = len(facts["target_names"])
    sizes = [
        f"{facts['n_samples']} samples",
        f"{facts['n_features']} features",
        f"{n_targets} target{'s' * (n_targets != 1)} ({facts['task']})",
    ]
    return ", ".join(sizes) + "".join(f"; {note}" for note in facts["notes"]) + "."


def _dataset_sheet(measure: Measure, dataset: str, place: int, behind: Behind) -> Sheet:
    found = measure.means[dataset]
    methods, values = list(found), np.array([mean for mean, _ in found.values()])
    texts = [format_mean_std(mean, spread) for mean, spread in found.values()]
    # Without a known direction there is no rank either.
    higher, size = direction(measure.metric), size_of(measure.metric)
    ranks = (
        np.full(len(values), np.nan)
        if higher is None
        else rank_losses(-values if higher else values, size=size)
    )
    tests = _tests(measure, dataset)
    rows = []
    for method, cell, rank in zip(
        methods, marked(values.tolist(), texts, measure.metric), ranks, strict=True
    ):
        key = behind.folds(measure.scores, measure.metric, dataset, method)
        row = [TableCell(method), replace(cell, behind=key)]
        row.append(number_cell(rank, "-" if np.isnan(rank) else f"{rank:g}"))
        if tests:
            gain, t, p = tests.get(method, (np.nan, np.nan, np.nan))
            printed = (format_signed(gain), format_signed(t, 2), format_p(p))
            row += [
                TableCell("") if np.isnan(value) else number_cell(value, text)
                for value, text in zip((gain, t, p), printed, strict=True)
            ]
        rows.append(row)
    leader = measure.comparison.leader if measure.comparison else ""
    correction = measure.comparison.correction_within.title if measure.comparison else ""
    columns = ["method", title_of(measure.metric), "rank"]
    caption = (
        f"{title_of(measure.metric)} on {dataset}: {measure.scores.before_mean}mean ± standard"
        " deviation over folds."
    )
    if tests:
        columns += [f"gain of {leader}", "t", f"p ({correction})"]
        caption += (
            f" Gain of {leader} over each, corrected resampled t on the folds, and its p adjusted"
            f" by {correction} over the rivals on this dataset."
        )
    table = Table.of(columns, rows, caption=caption, label=f"tab:dataset-{place}-{measure.key}")
    title = f"{title_of(measure.metric)} on {dataset}"
    return Sheet(f"dataset-{place}-{measure.key}", title, table, tags=measure.tags)


def _tests(measure: Measure, dataset: str) -> dict[str, tuple[float, float, float]]:
    """Return gain of the leader, t and adjusted p by rival."""
    if measure.comparison is None:
        return {}
    found = measure.comparison.leader_on(dataset)
    return {
        row.rival: (float(row.mean_difference), float(row.t), float(row.p))
        for row in found.itertuples()
    }


def method_blocks(view: View) -> tuple[Block, ...]:
    """Return the table of all methods, and a part that opens and closes for each unless there are very many scores."""
    if n_means(view) > MOST_MEANS:
        return (methods_overview(view),)
    behind = view.once(evidence)

    def sheets(name: str, number: int) -> list[Sheet]:
        mine = [m for m in view.measures if (m.scores.folds["method"] == view.name(name)).any()]
        return [_method_sheet(measure, view.name(name), number, behind) for measure in mine]

    return each_method(view, view.method_facts, sheets)


def each_method(
    view: View, names: Iterable[str], sheets: Callable[[str, int], Sequence[Sheet]]
) -> tuple[Block, ...]:
    """Return the table of all methods, and for each what it is and its own tables, given its name and place."""
    parts: list[Block] = [methods_overview(view)]
    for number, name in enumerate(names):
        words = Prose((declared_words(view.method_facts[name]),))
        parts.append(Collapsible(view.name(name), (words, *sheets(name, number))))
    return tuple(parts)


def declared_words(declared: Mapping[str, Any]) -> str:
    """Say what class a method is of, and its parameters."""
    params = declared["params"]
    return (
        f"{declared['use']} with {_parameters(params)}."
        if params
        else f"{declared['use']} with its defaults."
    )


def _parameters(params: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in params.items()
    )


def methods_overview(view: View) -> Sheet:
    """Return the table of all methods: class, parameters, times, cells."""
    rows = []
    for name, declared in view.method_facts.items():
        mine = view.places[view.places["method"] == name]
        done = mine[mine["status"] == "done"]
        bad = int(mine["status"].isin(["failed", "timeout"]).sum())
        times = (float(done[column].mean()) for column in ("fit_seconds", "seconds", "cpu_seconds"))
        peak = float(done["peak_memory"].max()) / 2**20
        rows.append(
            [
                *(view.name(name), declared["use"], _parameters(declared["params"]) or "defaults"),
                *(number_cell(value, _seconds(value)) for value in times),
                number_cell(peak, "" if np.isnan(peak) else f"{peak:.0f}"),
                number_cell(len(done), f"{len(done)} of {len(mine)}"),
                number_cell(bad, str(bad)),
            ]
        )
    columns: list[str | Column] = [
        Column(name, "left") for name in ("method", "class", "parameters")
    ]
    columns += [
        "wall s per fit",
        "wall s per cell",
        "CPU s per cell",
        "peak MiB",
        "cells done",
        "failed",
    ]
    caption = (
        "Every method: its class, its parameters, the mean wall time of a fit and of a whole cell,"
        " the mean processor time of a cell, the most memory that a cell held (empty where not"
        " known), and its cells."
    )
    return Sheet("methods-overview", "Methods", Table.of(columns, rows, caption=caption))


def _seconds(value: float) -> str:
    return format_number(value, 3 if value < 10 else 1)


def _method_sheet(measure: Measure, method: str, number: int, behind: Behind) -> Sheet:
    # Where nobody has said which way is better, the values stand alone.
    higher, size = direction(measure.metric), size_of(measure.metric)
    ranked, sign = higher is not None, 1 if higher else -1
    rows = []
    for dataset, means in measure.means.items():
        if method not in means:
            continue
        value, spread = means[method]
        key = behind.folds(measure.scores, measure.metric, dataset, method)
        row = [TableCell(dataset), number_cell(value, format_mean_std(value, spread), behind=key)]
        if ranked:
            rivals = {
                name: sign * mean
                for name, (mean, _) in means.items()
                if name != method and not np.isnan(mean)
            }
            best = (
                list(rivals)[least_loss([-mean for mean in rivals.values()], size=size)]
                if rivals
                else ""
            )
            gap = sign * value - rivals[best] if rivals else np.nan
            row[1] = replace(row[1], bold=bool(gap >= -slack_of(abs(value), size)))
            row += [TableCell(best), number_cell(gap, format_signed(gap) if best else "")]
        rows.append(row)
    columns: list[str | Column] = ["dataset", title_of(measure.metric)]
    columns += [Column("best rival", "left"), "gain over it"] if ranked else []
    caption = f"{method}: {title_of(measure.metric)}"
    caption += f", {measure.scores.reduction}" if measure.scores.reduction else ""
    caption += "; bold where no rival is better." if ranked else "."
    table = Table.of(columns, rows, caption=caption)
    return Sheet(
        f"method-{number}-{measure.key}",
        f"{title_of(measure.metric)} of {method}",
        table,
        tags=measure.tags,
    )
