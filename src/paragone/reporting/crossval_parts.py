"""The page of a cross-validation, problem by problem and method by method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paragone.protocols.crossval.problem import choose
from paragone.reporting.answer_table import Behind
from paragone.reporting.crossval_answer import fold_key
from paragone.reporting.crossval_charts import (
    candlestick_chart,
    components_chart,
    confusion_chart,
    predicted_chart,
    residual_chart,
)
from paragone.reporting.crossval_tables import final_table, model_table, top_table
from paragone.reporting.crossval_views import COMPARED, ProblemView
from paragone.reporting.crossval_words import folds_in_words
from paragone.reporting.figures import figure
from paragone.reporting.method_parts import methods_overview
from paragone.reporting.page_model import Block, Figure, Fold, Gallery, Prose, Sheet
from paragone.reporting.provenance import time_words
from paragone.reporting.wording import Wording
from paragone.results import Results
from paragone.tables import Cell, Column, Table, format_number, format_signed

if TYPE_CHECKING:
    import pandas as pd

OPEN_UP_TO = 2
MODELS_SHOWN = 3


def refitted(view: ProblemView) -> tuple[str, ...]:
    """Return the refitted variants of a problem, in the order they were chosen."""
    run, problem = view.run, view.problem
    together = run.of_dataset(problem.dataset) if run.settings.aggregate else [problem]
    if any(not other.chains for other in together):
        return ()
    chosen = choose(together, run.settings).variants
    return tuple(v for v in chosen if v in problem.chains and problem.chains[v].final is not None)


def problem_figures(view: ProblemView) -> tuple[Figure, ...]:
    """Return the charts of a problem: folds, components, and what the first refitted model predicts."""
    problem, run = view.problem, view.run
    drawn = {
        "folds": candlestick_chart(problem, run, view.metric),
        "components": components_chart(problem, run, view.metric),
    }
    for variant in refitted(view)[:1]:
        if problem.truth.task == "regression":
            drawn["predicted"] = predicted_chart(problem, run, variant)
            drawn["residuals"] = residual_chart(problem, run, variant)
        else:
            drawn["confusion"] = confusion_chart(problem, run, variant)
    stem = view.name.replace(": ", "_")
    return tuple(figure(f"{stem}_{name}", chart) for name, chart in drawn.items() if chart is not None)


def problem_folds(views: Sequence[ProblemView], behind: Behind) -> tuple[Block, ...]:
    """Return a part that opens and closes for every problem."""
    parts: list[Block] = []
    for place, view in enumerate(views):
        blocks: list[Block] = [Prose((_facts(view),))]
        if refitted(view):
            blocks.append(_final_sheet(view, place))
        blocks.append(_top_sheet(view, place, behind))
        if len(views) > 1:
            blocks.append(Gallery(problem_figures(view)))
        blocks += [
            Sheet(f"model-{place}-{number}", f"Figures of {variant}", model_table(view.problem, view.run, variant))
            for number, variant in enumerate(refitted(view)[:MODELS_SHOWN])
        ]
        parts.append(Fold(view.name, tuple(blocks), is_open=len(views) <= OPEN_UP_TO))
    return tuple(parts)


def _facts(view: ProblemView) -> str:
    problem = view.problem
    task = problem.truth.task
    text = f"{len(problem.truth.y)} samples, {problem.n_features} features, target {problem.target} ({task}); "
    text += "one hold-out" if view.run.settings.holdout else folds_in_words(problem)
    text += f"; {len(view.scores)} variants with all their folds"
    text += f", {len(problem.failures)} that failed" if problem.failures else ""
    text += f", {len(problem.pending)} not finished" if problem.pending else ""
    return text + "."


def _final_sheet(view: ProblemView, place: int) -> Sheet:
    table = final_table(view.problem, view.run, metric=view.metric)
    return Sheet(f"final-{place}", f"Final scores on {view.name}", table, _numbers(table))


def _top_sheet(view: ProblemView, place: int, behind: Behind) -> Sheet:
    table = top_table(view.problem, view.run, COMPARED, metric=view.metric)
    variant = len(table.columns) - 1
    links = []
    for row in table.rows:
        key = fold_key(view, row[variant].text)
        links.append(tuple(key if 2 <= i < variant and key in behind.found else "" for i in range(len(row))))
    title = f"The best chains on {view.name}, with their folds"
    return Sheet(f"chains-{place}", title, table, _numbers(table), tuple(links))


def _numbers(table: Table) -> tuple[tuple[float | None, ...], ...]:
    """Return what the printed cells of a table sort by: their numbers where they are numbers."""
    return tuple(tuple(_number(cell.text) for cell in row) for row in table.rows)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def crossval_methods(
    results: Results, described: Mapping[str, Any], views: Sequence[ProblemView], wording: Wording
) -> tuple[Block, ...]:
    """Return every method with its best chain on every problem, and the table of all variants."""
    places = results.places()
    places = places[places["experiment"] == described["name"]]
    blocks: list[Block] = []
    for number, method in enumerate(methods_of(views)):
        variants = variants_of(views, method)
        told = f"{len(variants)} variant{'s' * (len(variants) != 1)}{_seconds(places, described, method)}."
        blocks.append(Fold(method, (Prose((told,)), _method_sheet(views, method, variants, number))))
    return (*blocks, Fold("Every variant: class, parameters, time", (methods_overview(described, places, wording),)))


def methods_of(views: Sequence[ProblemView]) -> list[str]:
    """Return the methods that the variants are of."""
    return list(dict.fromkeys(str(facts.get("method", v)) for v, facts in views[0].run.settings.variants.items()))


def variants_of(views: Sequence[ProblemView], method: str) -> list[str]:
    """Return the variants of a method."""
    return [v for v, facts in views[0].run.settings.variants.items() if str(facts.get("method", v)) == method]


def _seconds(places: pd.DataFrame, described: Mapping[str, Any], method: str) -> str:
    mine = [name for name, facts in described["methods"].items() if facts.get("method", name) == method]
    done = places[places["method"].isin(mine) & (places["status"] == "done")]
    return f"; {time_words(done)} in {len(done)} cell{'s' * (len(done) != 1)}" if len(done) else ""


def _method_sheet(views: Sequence[ProblemView], method: str, variants: Sequence[str], number: int) -> Sheet:
    """Make the table of a method: its best chain on every problem, and how far it is from the best of all."""
    rows, numbers, links = [], [], []
    for view in views:
        mine = [v for v in view.scores if v in variants]
        if not mine:
            continue
        best, overall = view.scores[mine[0]], next(iter(view.scores.values()))
        behind_best = float(view.scoring.loss(best.cv_score) - view.scoring.loss(overall.cv_score))
        test = best.test_score if best.chain.final is not None else np.nan
        rows.append(
            [
                Cell(view.name),
                Cell(mine[0]),
                Cell(format_number(best.cv_score, view.digits), bold=mine[0] in view.best),
                Cell("best of all" if mine[0] in view.best else format_signed(behind_best, view.digits)),
                Cell(format_number(test, view.digits)),
            ]
        )
        values = (best.cv_score, behind_best, test)
        numbers.append((None, None, *(None if np.isnan(value) else float(value) for value in values)))
        key = fold_key(view, mine[0])
        links.append(("", "", key, key, key if not np.isnan(test) else ""))
    columns: list[str | Column] = [
        "problem",
        Column("best chain", "left"),
        views[0].called("cv_score"),
        "behind the best",
    ]
    columns.append(views[0].called("test_score"))
    caption = (
        f"{method}: its best chain on every problem, how much worse its loss is than the best of all methods, "
        "and the test score where that chain was refitted."
    )
    table = Table.of(columns, rows, caption=caption)
    return Sheet(f"method-{number}", f"{method} on every problem", table, tuple(numbers), tuple(links))
