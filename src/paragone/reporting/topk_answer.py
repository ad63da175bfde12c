"""The answer tables of a topk experiment: methods down, cut-offs across, and what is behind every number."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from paragone.directions import higher_is_better, score_size
from paragone.reporting.answer_table import BETTER, WORSE, Behind
from paragone.reporting.chart_files import file_stem
from paragone.reporting.page_model import Evidence, Sheet
from paragone.reporting.topk_tables import TopKFigures, metric_table
from paragone.reporting.wording import Wording
from paragone.tables import Cell, Column, Table, format_number
from paragone.ties import best_losses

if TYPE_CHECKING:
    from paragone.comparison import SampleComparison


def topk_tags(figures: TopKFigures, dataset: str, metric: str) -> dict[str, str]:
    """Return when a block about a dataset and metric shows."""
    several = len(figures.run.datasets) > 1
    return {"metric": metric, **({"dataset": dataset} if several else {})}


def answer_sheets(figures: TopKFigures, wording: Wording, behind: Behind) -> tuple[Sheet, ...]:
    """Make the table of every metric on every dataset.

    Parameters
    ----------
    figures : TopKFigures
        What is to be told.
    wording : Wording
        Names to display.
    behind : Behind
        Where the scores behind the numbers go.

    Returns
    -------
    tuple of Sheet
        With a mark where a method differs from the reference; the best that any list could have in the footer.
    """
    return tuple(
        _sheet(figures, dataset, str(metric), wording, behind)
        for dataset in figures.run.datasets
        for metric in dict.fromkeys(figures.scores.loc[figures.scores["dataset"] == dataset, "metric"])
    )


def _sheet(figures: TopKFigures, dataset: str, metric: str, wording: Wording, behind: Behind) -> Sheet:
    mine = figures.scores[figures.scores["dataset"] == dataset]
    table = metric_table(mine, dataset, metric, wording)
    rows = mine[mine["metric"] == metric]
    methods, cuts = list(dict.fromkeys(rows["method"])), list(dict.fromkeys(rows["at"]))
    values = rows.set_index(["method", "at"])["value"]
    marks = sample_marks(figures.comparison)
    body, numbers, links = [], [], []
    for method, row in zip(methods, table.rows, strict=False):
        cells = [
            replace(c, superscript=marks.get((dataset, metric, k, method), ""))
            for k, c in zip(cuts, row[1:], strict=True)
        ]
        body.append((row[0], *cells))
        numbers.append((None, *(float(values[method, k]) for k in cuts)))
        links.append(("", *(_seeds_key(figures, dataset, method, metric, k, wording, behind) for k in cuts)))
    footer: list[tuple[Cell, ...]] = list(table.rows[len(methods) :])
    for row in footer:
        numbers.append((None, *(_finite(cell.text) for cell in row[1:])))
        links.append(("",) * len(row))
    if figures.comparison is not None and marks:
        reference = wording.name(figures.comparison.reference)
        note = (
            f" {WORSE} and {BETTER}: worse and better than {reference} on the same samples "
            f"({figures.comparison.method.split(';')[0]}; "
            f"Holm over all differences, alpha = {figures.comparison.alpha:g})."
        )
        table = replace(table, caption=table.caption + note)
    whole = replace(table, rows=(*body, *footer))
    name = file_stem(f"answer-{metric}-{dataset}")
    title = f"{metric} on {wording.name(dataset)}"
    tags = topk_tags(figures, dataset, metric)
    return Sheet(name, title, whole, tuple(numbers), tuple(links), n_footer=len(footer), wide=True, tags=tags)


def _finite(text: str) -> float | None:
    return None if text == "-" else float(text)


def sample_marks(comparison: SampleComparison | None) -> dict[tuple[str, str, float, str], str]:
    """Return the marks of values that differ from the reference's on the same samples, after Holm."""
    if comparison is None:
        return {}
    return {
        (row.dataset, row.metric, row.at, row.rival): WORSE if row.difference > 0 else BETTER
        for row in comparison.rows
        if row.p_holm <= comparison.alpha
    }


def _seeds_key(
    figures: TopKFigures, dataset: str, method: str, metric: str, at: float, wording: Wording, behind: Behind
) -> str:
    """Keep the score of every fold and seed behind a mean, and return the key."""
    key = "/".join(part.replace("/", "//") for part in (metric, f"{at:g}", dataset, method))
    rows = figures.tidy_by_place.loc[[(dataset, method, metric, at)]]
    several = len(rows) > 1
    evidence = tuple(
        (f"fold {fold}, seed {repeat}" if several else f"fold {fold}", float(value), "")
        for fold, repeat, value in rows[["fold", "repeat", "value"]].itertuples(index=False)
    )
    title = f"{wording.name(method)} on {wording.name(dataset)}: {metric} at {at:g}"
    note = "The mean over the samples of a fold; the table's mean is over all samples, seeds averaged first."
    return behind.add(key, Evidence(title, ("fold", metric), evidence, note, (dataset, method)))


def method_sheet(figures: TopKFigures, method: str, number: int, wording: Wording, behind: Behind) -> Sheet:
    """Make the table of one method: every metric on every dataset, over the cut-offs.

    Parameters
    ----------
    figures : TopKFigures
        What is to be told.
    method : str
        Which method.
    number : int
        Its place, for the anchor.
    wording : Wording
        Names to display.
    behind : Behind
        Knows the scores behind the numbers.

    Returns
    -------
    Sheet
        Bold where no rival is better.
    """
    mine = figures.scores[figures.scores["method"] == method]
    cuts = list(dict.fromkeys(figures.scores["at"]))
    rows, numbers, links = [], [], []
    for (dataset, metric), part in mine.groupby(["dataset", "metric"], sort=False):
        values = part.set_index("at")["value"]
        rivals = figures.scores[(figures.scores["dataset"] == dataset) & (figures.scores["metric"] == metric)]
        by_cut = rivals.pivot(index="method", columns="at", values="value")
        sign = 1 if higher_is_better(metric) is False else -1
        marks = best_losses(sign * by_cut.to_numpy(), size=score_size(metric))[by_cut.index.get_loc(method)]
        best = dict(zip(by_cut.columns, marks.tolist(), strict=True))
        rows.append(
            [
                Cell(wording.name(dataset)),
                Cell(metric),
                *(Cell(format_number(values[k]), bold=best[k]) for k in cuts),
            ]
        )
        numbers.append((None, None, *(None if np.isnan(values[k]) else float(values[k]) for k in cuts)))
        keys = ["/".join(p.replace("/", "//") for p in (metric, f"{k:g}", dataset, method)) for k in cuts]
        links.append(("", "", *(key if key in behind.found else "" for key in keys)))
    columns: list[str | Column] = ["dataset", Column("metric", "left"), *(f"K = {k:g}" for k in cuts)]
    caption = f"{wording.name(method)}: means over test samples; bold where no method is better."
    table = Table.of(columns, rows, caption=caption)
    return Sheet(f"method-{number}", f"{wording.name(method)} at every cut-off", table, tuple(numbers), tuple(links))
