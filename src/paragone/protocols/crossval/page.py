"""The page and the files of a cross-validation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paragone.lab.view import View
from paragone.page import Attachment, Block, Cover, Figure, Fold, Gallery, Points, Prose, Section, Sheet, figure
from paragone.protocols.crossval.charts import (
    candlestick_chart,
    components_chart,
    confusion_chart,
    heat_map,
    predicted_chart,
    residual_chart,
)
from paragone.protocols.crossval.frames import cv_frame, final_frame, fold_frame, group_frame
from paragone.protocols.crossval.problem import choose
from paragone.protocols.crossval.run import CrossvalRun
from paragone.protocols.crossval.tables import distinction_words, final_table, gap_lines, model_table, top_table
from paragone.protocols.crossval.words import (
    COMPARED,
    ProblemView,
    answer_sheet,
    crossval_choices,
    crossval_paragraph,
    crossval_references,
    fold_key,
    folds_in_words,
    problem_headline,
    problem_views,
    summary,
)
from paragone.reporting.how import time_words, warned_words
from paragone.reporting.pages import TITLES
from paragone.reporting.sections import Behind, methods_overview
from paragone.tables import Column, Table, TableCell, format_number, format_signed, frame_as_csv

if TYPE_CHECKING:
    import pandas as pd

PROBLEMS_OPEN_UP_TO = 2
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
        parts.append(Fold(view.name, tuple(blocks), is_open=len(views) <= PROBLEMS_OPEN_UP_TO))
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
    return Sheet(f"final-{place}", f"Final scores on {view.name}", table, _numbers(table), printed=True)


def _top_sheet(view: ProblemView, place: int, behind: Behind) -> Sheet:
    table = top_table(view.problem, view.run, COMPARED, metric=view.metric)
    variant = len(table.columns) - 1
    links = []
    for row in table.rows:
        key = fold_key(view, row[variant].text)
        links.append(tuple(key if 2 <= i < variant and key in behind.found else "" for i in range(len(row))))
    title = f"The best chains on {view.name}, with their folds"
    return Sheet(f"chains-{place}", title, table, _numbers(table), tuple(links), printed=True)


def _numbers(table: Table) -> tuple[tuple[float | None, ...], ...]:
    """Return what the printed cells of a table sort by: their numbers where they are numbers."""
    return tuple(tuple(_number(cell.text) for cell in row) for row in table.rows)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def crossval_methods(view: View, views: Sequence[ProblemView]) -> tuple[Block, ...]:
    """Return every method with its best chain on every problem, and the table of all variants."""
    places, described = view.places, view.described
    blocks: list[Block] = []
    for number, method in enumerate(methods_of(views)):
        variants = variants_of(views, method)
        told = f"{len(variants)} variant{'s' * (len(variants) != 1)}{_seconds(places, described, method)}."
        blocks.append(Fold(method, (Prose((told,)), _method_sheet(views, method, variants, number))))
    return (*blocks, Fold("Every variant: class, parameters, time", (methods_overview(view),)))


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
                TableCell(view.name),
                TableCell(mine[0]),
                TableCell(format_number(best.cv_score, view.digits), bold=mine[0] in view.best),
                TableCell("best of all" if mine[0] in view.best else format_signed(behind_best, view.digits)),
                TableCell(format_number(test, view.digits)),
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


OPEN_UP_TO = 2


def sections(view: View) -> Iterable[Section | Cover]:
    """Return the page of a cross-validation but for what every page has: failures and how it was done."""
    views, behind = view.once(problem_views), Behind()
    answer = answer_sheet(views, behind)
    files = tuple(Attachment(name, frame_as_csv(frame)) for name, frame in score_files(views[0].run).items())
    yield Section("verdict", TITLES["verdict"], (*_verdict(views), *warned_words(view)))
    yield Section("answer", TITLES["answer"], (answer, *files))
    yield Section("charts", TITLES["charts"], _charts(views))
    yield Section("datasets", TITLES["datasets"], problem_folds(views, behind))
    yield Section("methods", TITLES["methods"], crossval_methods(view, views))
    yield Cover(
        subtitle=_subtitle(views),
        choices=(),
        paragraph=crossval_paragraph(view, views),
        references=crossval_references(views),
        decisions=crossval_choices(views),
        lines=tuple(gap_lines(views[0].run, views[0].metric)),
        evidence=behind.found,
    )


def score_files(run: CrossvalRun) -> dict[str, pd.DataFrame]:
    """Return the frames that stand beside the page, by the names of their files."""
    problems, settings = run.problems, run.settings
    found = {
        "cv_scores.csv": cv_frame(problems, settings),
        "final_scores.csv": final_frame(problems, settings),
        "fold_scores.csv": fold_frame(problems, settings),
    }
    if any(problem.truth.groups is not None for problem in problems):
        found["group_scores.csv"] = group_frame(problems, settings)
    return found


def _subtitle(views: Sequence[ProblemView]) -> str:
    variants, n = len(views[0].run.settings.variants), len(views)
    kind = "hold-out" if views[0].run.settings.holdout else "cross-validation with refit"
    return f"{variants} variant{'s' * (variants != 1)}, {n} problem{'s' * (n != 1)}; {kind}"


def _verdict(views: Sequence[ProblemView]) -> tuple[Block, ...]:
    sentences = tuple(problem_headline(view) for view in views)
    blocks: list[Block] = []
    if len(views) == 1:
        blocks.append(Prose(sentences, "lead"))
    else:
        blocks += [Prose((summary(views),), "lead"), Points(sentences)]
    blocks += [Prose((line,), "warning") for line in gap_lines(views[0].run, views[0].metric)]
    lines = tuple(
        f"{view.name}: {distinction_words(view.distinction)}" for view in views if view.distinction is not None
    )
    if lines:
        blocks.append(Fold("The evidence, problem by problem", (Points(lines),), len(lines) <= OPEN_UP_TO))
    return tuple(blocks)


def _charts(views: Sequence[ProblemView]) -> tuple[Block, ...]:
    overview = heat_map(views[0].run, metric=views[0].metric)
    figures = [figure("heat_map", overview)] if overview is not None else []
    if len(views) == 1 or not figures:
        figures += problem_figures(views[0])
    if len(views) > 1 and len(figures) == 1:
        words = "The charts of a problem stand with it, under Dataset by dataset."
        return Gallery(tuple(figures), wide=True), Prose((words,), "note")
    return (Gallery(tuple(figures)),)
