"""The sections that stand on every page: the table of scores, dataset by dataset, method by method."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from paragone.lab.grids import GridScores
from paragone.lab.view import Measure, View, Wording
from paragone.page import Block, Fold, Gallery, NumberDetails, Prose, Sheet, figure
from paragone.reporting.charts import dataset_curves
from paragone.reporting.tables import marked, score_table
from paragone.reporting.words import direction, size_of, title_of
from paragone.stats import DatasetComparison
from paragone.stats.corrections import holm
from paragone.tables import Column, Table, TableCell, format_mean_std, format_number, format_p, format_signed, mark_best
from paragone.ties import least_loss, rank_losses, slack_of

if TYPE_CHECKING:
    import pandas as pd

WORSE, BETTER = "−", "+"


@dataclass
class Behind:
    """Collects what is behind the numbers of a page."""

    found: dict[str, NumberDetails] = field(default_factory=dict)

    def folds(self, scores: GridScores, metric: str, dataset: str, method: str) -> str:
        """Return the key of the fold scores of a mean, or nothing where there are none; they must be known."""
        key = _key(scores, metric, dataset, method)
        return key if key in self.found else ""

    def add(self, key: str, evidence: NumberDetails) -> str:
        """Keep evidence and return its key."""
        self.found.setdefault(key, evidence)
        return key


def _key(scores: GridScores, *parts: str) -> str:
    """Name evidence; a slash inside a name is doubled, so that no two places share a key."""
    return "/".join((scores.suffix, *(part.replace("/", "//") for part in parts)))


def evidence(view: View) -> Behind:
    """Return what is behind the numbers of a page, with the fold scores of every mean."""
    behind = Behind()
    for measure in view.measures:
        folds = measure.scores.folds
        _keep_folds(behind, measure.scores, measure.metric, folds[folds["metric"] == measure.metric])
    return behind


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
        With a mark where a method differs from the reference on a dataset, and means, ranks and p below.
    """
    table = score_table(scores, metric, Wording())
    rows = scores.folds[scores.folds["metric"] == metric]
    datasets, methods = rows["dataset"].unique().tolist(), rows["method"].unique().tolist()
    means = rows.groupby(["dataset", "method"], sort=False)["value"].mean().unstack("method")
    means = means.reindex(index=datasets, columns=methods)
    marks = {} if comparison is None else significance_marks(comparison)
    body = [
        (row[0], *(replace(c, superscript=marks.get((d, m), "")) for m, c in zip(methods, row[1:], strict=True)))
        for d, row in zip(datasets, table.rows, strict=True)
    ]
    numbers: list[tuple[float | None, ...]] = [(None, *(_or_none(v) for v in means.loc[d])) for d in datasets]
    links = [("", *(behind.folds(scores, metric, d, m) for m in methods)) for d in datasets]
    footer = _Footer([], [], [])
    caption = table.caption
    if comparison is not None:
        footer = _footer(scores, metric, comparison, methods, behind)
        caption += f" {_explained(comparison, bool(marks))}"
    whole = Table.of(
        [column.name for column in table.columns],
        [*body, *footer.rows],
        caption=caption,
        label=table.label,
        rules=(len(body),),
    )
    return Sheet(
        name=f"answer-{name}",
        title=f"{title_of(metric)}: {scores.reduction}" if scores.reduction else title_of(metric),
        table=whole,
        numbers=(*numbers, *footer.numbers),
        behind=(*links, *footer.links),
        n_footer=len(footer.rows),
        wide=True,
        tags=tags,
    )


def significance_marks(comparison: DatasetComparison) -> dict[tuple[str, str], str]:
    """Return the marks of cells that differ from the reference on their dataset.

    The corrected resampled t on the folds of a dataset, adjusted by Holm over the rivals on that dataset.
    """
    frame, alpha = comparison.per_dataset, comparison.settings.alpha
    marks = {}
    for dataset, rows in frame.groupby("dataset", sort=False):
        rows = rows[(rows["method"] == comparison.leader) | (rows["rival"] == comparison.leader)]
        for row, p in zip(rows.itertuples(), holm(rows["p"].to_numpy()), strict=True):
            if p <= alpha:
                is_leader = row.method == comparison.leader
                gain = row.mean_difference if is_leader else -row.mean_difference
                marks[dataset, row.rival if is_leader else row.method] = WORSE if gain > 0 else BETTER
    return marks


def _explained(comparison: DatasetComparison, marked: bool) -> str:
    n = len(comparison.scores.datasets)
    text = (
        f"Below: mean over the {n} dataset{'s' * (n != 1)} that every method has, average rank, and the p of "
        f"{comparison.leader} against each ({comparison.choices['test']}; {comparison.choices['correction']})."
    )
    if marked:
        text += (
            f" {WORSE} and {BETTER}: worse and better than {comparison.leader} on that dataset alone (corrected "
            f"resampled t on its folds, Holm over the rivals, alpha = {comparison.settings.alpha:g})."
        )
    return text


@dataclass(frozen=True)
class _Footer:
    rows: list[tuple[TableCell, ...]]
    numbers: list[tuple[float | None, ...]]
    links: list[tuple[str, ...]]


def _footer(
    scores: GridScores, metric: str, comparison: DatasetComparison, methods: list[str], behind: Behind
) -> _Footer:
    table = comparison.scores
    places = [table.methods.index(method) for method in methods]
    means, ranks = table.values.mean(axis=0)[places], comparison.ranks.mean(axis=0)[places]
    p = {pair.rival: pair.p_adjusted for pair in comparison.leading_pairs}
    adjusted = [p.get(method, np.nan) for method in methods]
    alpha = comparison.settings.alpha
    rows = [
        (
            TableCell("Mean"),
            *mark_best(
                means,
                [format_number(v) for v in means],
                higher_is_better=table.higher_is_better,
                size=comparison.settings.size,
            ),
        ),
        (TableCell("Average rank"), *mark_best(ranks, [f"{rank:.2f}" for rank in ranks], higher_is_better=False)),
        (TableCell("p (adjusted)"), *(TableCell(format_p(value), bold=value <= alpha) for value in adjusted)),
    ]
    numbers: list[tuple[float | None, ...]] = [
        (None, *(_or_none(value) for value in values)) for values in (means, ranks, adjusted)
    ]
    links = [
        ("", *(_mean_evidence(behind, scores, metric, comparison, method) for method in methods)),
        ("", *(_rank_evidence(behind, scores, metric, comparison, method) for method in methods)),
        ("", *(_p_evidence(behind, scores, metric, comparison, method) if method in p else "" for method in methods)),
    ]
    return _Footer(rows, numbers, links)


def _keep_folds(behind: Behind, scores: GridScores, metric: str, rows: pd.DataFrame) -> None:
    for (dataset, method), folds in rows.groupby(["dataset", "method"], sort=False):
        behind.add(
            _key(scores, metric, dataset, method),
            NumberDetails(
                f"{method} on {dataset}: {title_of(metric)}",
                ("fold", title_of(metric)),
                tuple((str(fold), float(value), "") for fold, value in zip(folds["fold"], folds["value"], strict=True)),
                f"A fold's score is {scores.reduction}." if scores.reduction else "",
                (dataset, method),
            ),
        )


def _mean_evidence(behind: Behind, scores: GridScores, metric: str, comparison: DatasetComparison, method: str) -> str:
    table = comparison.scores
    column = table.values[:, table.methods.index(method)]
    rows = _by_dataset(behind, scores, metric, method, zip(table.datasets, column, strict=True))
    title = f"{method}: {title_of(metric)} on every dataset"
    return behind.add(
        _key(scores, metric, "", method, "mean"), NumberDetails(title, ("dataset", title_of(metric)), rows)
    )


def _rank_evidence(behind: Behind, scores: GridScores, metric: str, comparison: DatasetComparison, method: str) -> str:
    table = comparison.scores
    column = comparison.ranks[:, table.methods.index(method)]
    rows = _by_dataset(behind, scores, metric, method, zip(table.datasets, column, strict=True))
    title = f"{method}: rank by {title_of(metric)} on every dataset"
    return behind.add(_key(scores, metric, "", method, "rank"), NumberDetails(title, ("dataset", "rank"), rows))


def _p_evidence(behind: Behind, scores: GridScores, metric: str, comparison: DatasetComparison, rival: str) -> str:
    table, leader = comparison.scores, comparison.leader
    sign = 1 if table.higher_is_better else -1
    gain = sign * (table.values[:, table.methods.index(leader)] - table.values[:, table.methods.index(rival)])
    rows = _by_dataset(behind, scores, metric, rival, zip(table.datasets, gain, strict=True))
    pair = next(pair for pair in comparison.leading_pairs if pair.rival == rival)
    note = (
        f"Positive favours {leader}. p = {format_p(pair.p)}, adjusted {format_p(pair.p_adjusted)} "
        f"({comparison.choices['test']}; {comparison.choices['correction']})."
    )
    title = f"{leader} against {rival}: differences in {title_of(metric)}"
    return behind.add(_key(scores, metric, "", rival, "p"), NumberDetails(title, ("dataset", "gain"), rows, note))


def _by_dataset(
    behind: Behind, scores: GridScores, metric: str, method: str, values: Iterable[tuple[str, float]]
) -> tuple[tuple[str, float, str], ...]:
    """Return a row a dataset: its name, the value, and the key of the fold scores behind it."""
    return tuple((dataset, float(value), behind.folds(scores, metric, dataset, method)) for dataset, value in values)


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


OPEN_UP_TO = 2


def dataset_blocks(view: View) -> tuple[Block, ...]:
    """Return a part that opens and closes for every dataset."""
    behind, curves = view.once(evidence), view.once(dataset_curves)
    names = list(dict.fromkeys(name for measure in view.measures for name in measure.means))
    parts: list[Block] = []
    for place, name in enumerate(names):
        blocks: list[Block] = [Prose((_facts(view.dataset_facts[name]),))]
        for measure in view.measures:
            if name not in measure.means:
                continue
            drawn = curves.get((measure.scores.suffix, measure.metric), {})
            if name in drawn:
                blocks.append(Gallery((figure(f"{name}_{measure.key}", drawn[name]),), measure.tags))
            blocks.append(_dataset_sheet(measure, name, place, behind))
        parts.append(Fold(name, tuple(blocks), is_open=len(names) <= OPEN_UP_TO))
    return tuple(parts)


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
    ranks = np.full(len(values), np.nan) if higher is None else rank_losses(-values if higher else values, size=size)
    tests = _tests(measure, dataset)
    rows, numbers, links = [], [], []
    for method, cell, value, rank in zip(
        methods, marked(values.tolist(), texts, measure.metric), values, ranks, strict=True
    ):
        gain, t, p = tests.get(method, (np.nan, np.nan, np.nan))
        tested = [
            TableCell("" if np.isnan(gain) else format_signed(gain)),
            TableCell("" if np.isnan(t) else format_signed(t, 2)),
            TableCell("" if np.isnan(p) else format_p(p)),
        ]
        rows.append([TableCell(method), cell, TableCell("-" if np.isnan(rank) else f"{rank:g}"), *tested])
        numbers.append((None, *(None if np.isnan(v) else float(v) for v in (value, rank, gain, t, p))))
        key = behind.folds(measure.scores, measure.metric, dataset, method)
        links.append(("", key, key, *(key if not np.isnan(gain) else "" for _ in range(3))))
    leader = measure.comparison.leader if measure.comparison else ""
    columns = ["method", title_of(measure.metric), "rank", f"gain of {leader}" if leader else "gain", "t", "p (Holm)"]
    if not tests:
        columns, rows = columns[:3], [row[:3] for row in rows]
        numbers, links = [n[:3] for n in numbers], [link[:3] for link in links]
    caption = (
        f"{title_of(measure.metric)} on {dataset}: {measure.scores.before_mean}mean ± standard deviation over folds."
    )
    if tests:
        caption += (
            f" Gain of {leader} over each, corrected resampled t on the folds, and its p adjusted by Holm over the "
            "rivals on this dataset."
        )
    return Sheet(
        f"dataset-{place}-{measure.key}",
        f"{title_of(measure.metric)} on {dataset}",
        Table.of(columns, rows, caption=caption, label=f"tab:dataset-{place}-{measure.key}"),
        tuple(numbers),
        tuple(links),
        tags=measure.tags,
    )


def _tests(measure: Measure, dataset: str) -> dict[str, tuple[float, float, float]]:
    """Return gain of the leader, t and adjusted p by rival."""
    if measure.comparison is None:
        return {}
    frame, leader = measure.comparison.per_dataset, measure.comparison.leader
    rows = frame[(frame["dataset"] == dataset) & (frame["method"] == leader)]
    if rows.empty:
        return {}
    adjusted = holm(rows["p"].to_numpy())
    return {
        row.rival: (float(row.mean_difference), float(row.t), float(p))
        for row, p in zip(rows.itertuples(), adjusted, strict=True)
    }


def method_blocks(view: View) -> tuple[Block, ...]:
    """Return the table of all methods, and a part that opens and closes for each."""
    behind = view.once(evidence)
    blocks: list[Block] = [methods_overview(view)]
    for number, (name, declared) in enumerate(view.method_facts.items()):
        shown = view.name(name)
        sheets = [
            _method_sheet(measure, shown, number, behind)
            for measure in view.measures
            if (measure.scores.folds["method"] == shown).any()
        ]
        blocks.append(Fold(shown, (Prose((declared_words(declared),)), *sheets)))
    return tuple(blocks)


def declared_words(declared: Mapping[str, Any]) -> str:
    """Say what class a method is of, and its parameters."""
    params = declared["params"]
    return f"{declared['use']} with {_parameters(params)}." if params else f"{declared['use']} with its defaults."


def _parameters(params: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in params.items())


def methods_overview(view: View) -> Sheet:
    """Return the table of all methods: class, parameters, times, cells."""
    rows, numbers = [], []
    for name, declared in view.method_facts.items():
        mine = view.places[view.places["method"] == name]
        done = mine[mine["status"] == "done"]
        bad = int(mine["status"].isin(["failed", "timeout"]).sum())
        fit, cell, cpu = (float(done[column].mean()) for column in ("fit_seconds", "seconds", "cpu_seconds"))
        peak = float(done["peak_memory"].max()) / 2**20
        memory = "" if np.isnan(peak) else f"{peak:.0f}"
        texts = [*(_seconds(value) for value in (fit, cell, cpu)), memory, f"{len(done)} of {len(mine)}", str(bad)]
        rows.append([view.name(name), declared["use"], _parameters(declared["params"]) or "defaults", *texts])
        finite = [None if np.isnan(value) else value for value in (fit, cell, cpu, peak)]
        numbers.append((None, None, None, *finite, float(len(done)), float(bad)))
    columns: list[str | Column] = [Column(name, "left") for name in ("method", "class", "parameters")]
    columns += ["wall s per fit", "wall s per cell", "CPU s per cell", "peak MiB", "cells done", "failed"]
    caption = (
        "Every method: its class, its parameters, the mean wall time of a fit and of a whole cell, the mean processor "
        "time of a cell, the most memory that a cell held (empty where not known), and its cells."
    )
    return Sheet("methods-overview", "Methods", Table.of(columns, rows, caption=caption), tuple(numbers))


def _seconds(value: float) -> str:
    return format_number(value, 3 if value < 10 else 1)


def _method_sheet(measure: Measure, method: str, number: int, behind: Behind) -> Sheet:
    sign = 1 if direction(measure.metric) else -1
    rows, numbers, links = [], [], []
    for dataset, means in measure.means.items():
        if method not in means:
            continue
        value, spread = means[method]
        rivals = {name: sign * mean for name, (mean, _) in means.items() if name != method and not np.isnan(mean)}
        size = size_of(measure.metric)
        best = list(rivals)[least_loss([-mean for mean in rivals.values()], size=size)] if rivals else ""
        gap = sign * value - rivals[best] if rivals else np.nan
        key = behind.folds(measure.scores, measure.metric, dataset, method)
        other = behind.folds(measure.scores, measure.metric, dataset, best) if best else ""
        mean = TableCell(format_mean_std(value, spread), bold=bool(gap >= -slack_of(abs(value), size)))
        rows.append([TableCell(dataset), mean, TableCell(best), TableCell(format_signed(gap) if best else "")])
        numbers.append((None, value, None, None if np.isnan(gap) else gap))
        links.append(("", key, "", other))
    columns: list[str | Column] = ["dataset", title_of(measure.metric), Column("best rival", "left"), "gain over it"]
    reduced = f", {measure.scores.reduction}" if measure.scores.reduction else ""
    caption = f"{method}: {title_of(measure.metric)}{reduced}; bold where no rival is better."
    if direction(measure.metric) is None:
        # Nobody has said which way is better: the values stand alone.
        plain = Table.of(
            columns[:2], [[row[0], TableCell(row[1].text)] for row in rows], caption=f"{caption.split(';')[0]}."
        )
        return Sheet(
            f"method-{number}-{measure.key}",
            f"{title_of(measure.metric)} of {method}",
            plain,
            tuple(one[:2] for one in numbers),
            tuple(one[:2] for one in links),
            tags=measure.tags,
        )
    return Sheet(
        f"method-{number}-{measure.key}",
        f"{title_of(measure.metric)} of {method}",
        Table.of(columns, rows, caption=caption),
        tuple(numbers),
        tuple(links),
        tags=measure.tags,
    )
