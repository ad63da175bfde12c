"""The answer table: datasets down, methods across, means and tests below, and the folds behind every number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from paragone.comparison import Comparison
from paragone.comparison.corrections import holm
from paragone.reporting.curve_tables import score_table
from paragone.reporting.fold_scores import GridScores
from paragone.reporting.page_model import Evidence, Sheet
from paragone.reporting.wording import Wording, title_of
from paragone.tables import Cell, Table, format_number, format_p, mark_best

if TYPE_CHECKING:
    import pandas as pd

WORSE, BETTER = "−", "+"


@dataclass
class Behind:
    """Collects what is behind the numbers of a page."""

    found: dict[str, Evidence] = field(default_factory=dict)

    def folds(self, scores: GridScores, metric: str, dataset: str, method: str) -> str:
        """Return the key of the fold scores of a mean, or nothing where there are none; they must be known."""
        key = _key(scores, metric, dataset, method)
        return key if key in self.found else ""

    def add(self, key: str, evidence: Evidence) -> str:
        """Keep evidence and return its key."""
        self.found.setdefault(key, evidence)
        return key


def _key(scores: GridScores, *parts: str) -> str:
    """Name evidence; a slash inside a name is doubled, so that no two places share a key."""
    return "/".join((scores.suffix, *(part.replace("/", "//") for part in parts)))


def answer_sheet(
    scores: GridScores,
    metric: str,
    comparison: Comparison | None,
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
    comparison : Comparison or None
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
    _keep_folds(behind, scores, metric, rows)
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
        title=f"{title_of(metric)}: {scores.reduction}",
        table=whole,
        numbers=(*numbers, *footer.numbers),
        behind=(*links, *footer.links),
        n_footer=len(footer.rows),
        wide=True,
        tags=tags,
    )


def significance_marks(comparison: Comparison) -> dict[tuple[str, str], str]:
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


def _explained(comparison: Comparison, marked: bool) -> str:
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
    rows: list[tuple[Cell, ...]]
    numbers: list[tuple[float | None, ...]]
    links: list[tuple[str, ...]]


def _footer(scores: GridScores, metric: str, comparison: Comparison, methods: list[str], behind: Behind) -> _Footer:
    table = comparison.scores
    places = [table.methods.index(method) for method in methods]
    means, ranks = table.values.mean(axis=0)[places], comparison.ranks.mean(axis=0)[places]
    p = {pair.rival: pair.p_adjusted for pair in comparison.leading_pairs}
    adjusted = [p.get(method, np.nan) for method in methods]
    alpha = comparison.settings.alpha
    rows = [
        (
            Cell("Mean"),
            *mark_best(
                means,
                [format_number(v) for v in means],
                higher_is_better=table.higher_is_better,
                size=comparison.settings.size,
            ),
        ),
        (Cell("Average rank"), *mark_best(ranks, [f"{rank:.2f}" for rank in ranks], higher_is_better=False)),
        (Cell("p (adjusted)"), *(Cell(format_p(value), bold=value <= alpha) for value in adjusted)),
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
            Evidence(
                f"{method} on {dataset}: {title_of(metric)}",
                ("fold", title_of(metric)),
                tuple((str(fold), float(value), "") for fold, value in zip(folds["fold"], folds["value"], strict=True)),
                f"A fold's score is {scores.reduction}.",
                (dataset, method),
            ),
        )


def _mean_evidence(behind: Behind, scores: GridScores, metric: str, comparison: Comparison, method: str) -> str:
    table = comparison.scores
    column = table.values[:, table.methods.index(method)]
    rows = _by_dataset(behind, scores, metric, method, zip(table.datasets, column, strict=True))
    title = f"{method}: {title_of(metric)} on every dataset"
    return behind.add(_key(scores, metric, "", method, "mean"), Evidence(title, ("dataset", title_of(metric)), rows))


def _rank_evidence(behind: Behind, scores: GridScores, metric: str, comparison: Comparison, method: str) -> str:
    table = comparison.scores
    column = comparison.ranks[:, table.methods.index(method)]
    rows = _by_dataset(behind, scores, metric, method, zip(table.datasets, column, strict=True))
    title = f"{method}: rank by {title_of(metric)} on every dataset"
    return behind.add(_key(scores, metric, "", method, "rank"), Evidence(title, ("dataset", "rank"), rows))


def _p_evidence(behind: Behind, scores: GridScores, metric: str, comparison: Comparison, rival: str) -> str:
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
    return behind.add(_key(scores, metric, "", rival, "p"), Evidence(title, ("dataset", "gain"), rows, note))


def _by_dataset(
    behind: Behind, scores: GridScores, metric: str, method: str, values: Iterable[tuple[str, float]]
) -> tuple[tuple[str, float, str], ...]:
    """Return a row a dataset: its name, the value, and the key of the fold scores behind it."""
    return tuple((dataset, float(value), behind.folds(scores, metric, dataset, method)) for dataset, value in values)


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
