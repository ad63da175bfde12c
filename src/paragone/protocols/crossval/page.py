"""The page and the files of a cross-validation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from paragone.lab.view import View
from paragone.page import (
    Attachment,
    Block,
    Collapsible,
    Cover,
    Figure,
    Gallery,
    Leaderboard,
    Points,
    Prose,
    Section,
    Sheet,
    figure,
)
from paragone.protocols.crossval.charts import heat_plot, problem_plots
from paragone.protocols.crossval.frames import cv_frame, final_frame, fold_frame, group_frame
from paragone.protocols.crossval.run import CrossvalRun
from paragone.protocols.crossval.tables import (
    distinction_words,
    final_table,
    gap_lines,
    model_table,
    top_table,
)
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
from paragone.reporting.boards import view_boards
from paragone.reporting.how import time_words
from paragone.reporting.pages import TITLES
from paragone.reporting.sections import (
    OPEN_UP_TO,
    Behind,
    folds_of,
    methods_overview,
    verdict_blocks,
)
from paragone.tables import (
    Column,
    Table,
    TableCell,
    format_signed,
    frame_as_csv,
    number_cell,
)

if TYPE_CHECKING:
    import pandas as pd

MODELS_SHOWN = 3
MOST_RANKED = 40
"""More variants than these make too many pairs to tell any two of them apart."""


def problem_figures(view: ProblemView) -> tuple[Figure, ...]:
    """Return the charts of a problem: folds, components, and what the first refitted model predicts."""
    first = next(iter(view.refitted), "")
    stem = view.name.replace(": ", "_")
    plots = problem_plots(view.problem, view.run, first)
    return tuple(figure(f"{stem}_{name}", plot) for name, plot in plots.items())


def problem_blocks(
    view: ProblemView, place: int, behind: Behind, *, with_charts: bool
) -> list[Block]:
    """Return what the page says of a problem: what it is, what was refitted, the best chains, charts."""
    blocks: list[Block] = [Prose((_facts(view),))]
    if view.refitted:
        final = final_table(view.problem, view.run)
        blocks.append(Sheet(f"final-{place}", f"Final scores on {view.name}", final, printed=True))
    top = top_table(
        view.problem, view.run, COMPARED, lambda variant: behind.known(fold_key(view, variant))
    )
    title = f"The best pipelines on {view.name}, with their folds"
    blocks.append(Sheet(f"chains-{place}", title, top, printed=True))
    if with_charts:
        blocks.append(Gallery(problem_figures(view)))
    for number, variant in enumerate(view.refitted[:MODELS_SHOWN]):
        table = model_table(view.problem, view.run, variant)
        blocks.append(Sheet(f"model-{place}-{number}", f"Figures of {variant}", table))
    return blocks


def _facts(view: ProblemView) -> str:
    problem = view.problem
    task = problem.truth.task
    text = (
        f"{len(problem.truth.y)} samples, {problem.n_features} features, target {problem.target}"
        f" ({task}); "
    )
    text += "one hold-out" if view.run.settings.holdout else folds_in_words(problem)
    text += f"; {len(view.scores)} pipelines with all their folds"
    text += f", {len(problem.failures)} that failed" if problem.failures else ""
    text += f", {len(problem.pending)} not finished" if problem.pending else ""
    return text + "."


def crossval_methods(view: View, views: Sequence[ProblemView]) -> tuple[Block, ...]:
    """Return every method with its best chain on every problem, and the table of all variants."""
    run = views[0].run
    families: dict[str, list[str]] = {}
    for variant in run.settings.variants:
        families.setdefault(run.method(variant), []).append(variant)
    blocks: list[Block] = []
    for number, (method, variants) in enumerate(families.items()):
        count = f"{len(variants)} pipeline{'s' * (len(variants) != 1)}"
        costs = Prose((f"{count}{_seconds(view, method)}.",))
        sheet = _method_sheet(views, method, variants, number)
        blocks.append(Collapsible(method, (costs, sheet)))
    every = Collapsible("Every pipeline: class, parameters, time", (methods_overview(view),))
    return (*blocks, every)


def _seconds(view: View, method: str) -> str:
    described = view.described["methods"].items()
    mine = [name for name, facts in described if facts.get("method", name) == method]
    places = view.places
    done = places[places["method"].isin(mine) & (places["status"] == "done")]
    return f"; {time_words(done)} in {len(done)} cell{'s' * (len(done) != 1)}" if len(done) else ""


def _method_sheet(
    views: Sequence[ProblemView], method: str, variants: Sequence[str], number: int
) -> Sheet:
    """Make the table of a method: its best chain on every problem, and how far it is from the best of all."""
    rows: list[list[TableCell]] = []
    for view in views:
        mine = next((v for v in view.scores if v in variants), None)
        if mine is None:
            continue
        best, overall = view.scores[mine], next(iter(view.scores.values()))
        loss = float(view.scoring.loss(best.cv_score) - view.scoring.loss(overall.cv_score))
        test = best.test_score if best.chain.final is not None else np.nan
        is_best, key = mine in view.best, fold_key(view, mine)
        words = "best of all" if is_best else format_signed(loss, view.digits)
        score = number_cell(best.cv_score, view.text(best.cv_score), bold=is_best, behind=key)
        tested = number_cell(test, view.text(test), behind="" if np.isnan(test) else key)
        behind_best = number_cell(loss, words, behind=key)
        rows.append([TableCell(view.name), TableCell(mine), score, behind_best, tested])
    columns: list[str | Column] = [
        "problem",
        Column("best pipeline", "left"),
        views[0].called("cv_score"),
        "behind the best",
        views[0].called("test_score"),
    ]
    caption = (
        f"{method}: its best pipeline on every problem, how much worse its loss is than the best of"
        " all methods, and the test score where that pipeline was refitted."
    )
    return Sheet(
        f"method-{number}", f"{method} on every problem", Table.of(columns, rows, caption=caption)
    )


def sections(view: View) -> Iterable[Section | Cover]:
    """Return the page of a cross-validation but for what every page has: failures and how it was done."""
    views, behind = view.once(problem_views), Behind()
    answer = answer_sheet(views, behind)
    files = tuple(
        Attachment(name, frame_as_csv(frame)) for name, frame in score_files(views[0].run).items()
    )
    boards, words = _boards(view), _told(view, views)
    yield Section("verdict", TITLES["verdict"], boards or words)
    yield Section("evidence", TITLES["evidence"], words if boards else ())
    yield Section("answer", TITLES["answer"], (answer, *files))
    yield Section("charts", TITLES["charts"], _charts(views))
    parts = {
        one.name: problem_blocks(one, place, behind, with_charts=len(views) > 1)
        for place, one in enumerate(views)
    }
    yield Section("datasets", TITLES["datasets"], folds_of(parts))
    yield Section("methods", TITLES["methods"], crossval_methods(view, views))
    yield Cover(
        subtitle=_subtitle(views),
        choices=(),
        paragraph=crossval_paragraph(view, views),
        references=crossval_references(views),
        decisions=crossval_choices(views),
        lines=tuple(gap_lines(views[0].run)),
        evidence=behind.found,
    )


def score_files(run: CrossvalRun) -> dict[str, pd.DataFrame]:
    """Return the frames that stand beside the page, by the names of their files."""
    run = replace(run, metric=None)
    found = {
        "cv_scores.csv": cv_frame(run),
        "final_scores.csv": final_frame(run),
        "fold_scores.csv": fold_frame(run),
    }
    if any(problem.truth.groups is not None for problem in run.problems):
        found["group_scores.csv"] = group_frame(run)
    return found


def _subtitle(views: Sequence[ProblemView]) -> str:
    variants, n = len(views[0].run.settings.variants), len(views)
    kind = "hold-out" if views[0].run.settings.holdout else "cross-validation with refit"
    return f"{variants} pipeline{'s' * (variants != 1)}, {n} problem{'s' * (n != 1)}; {kind}"


def _boards(view: View) -> tuple[Leaderboard, ...]:
    """Return the variants ranked by the mean over folds of the declared metric, where they are few enough."""
    if view.metric is not None or len(view.method_facts) > MOST_RANKED:
        return ()
    return tuple(
        block for block in view.once(view_boards) if isinstance(block, Leaderboard) and block.pairs
    )


def _told(view: View, views: Sequence[ProblemView]) -> tuple[Block, ...]:
    sentences = tuple(problem_headline(one) for one in views)
    alone = len(views) == 1
    lines = tuple(
        f"{one.name}: {distinction_words(one.distinction)}"
        for one in views
        if one.distinction is not None
    )
    evidence = Collapsible(
        "The evidence, problem by problem", (Points(lines),), len(lines) <= OPEN_UP_TO
    )
    return verdict_blocks(
        view,
        Prose(sentences if alone else (summary(views),), "lead"),
        () if alone else sentences,
        gap_lines(views[0].run),
        evidence if lines else None,
    )


def _charts(views: Sequence[ProblemView]) -> tuple[Block, ...]:
    overview = heat_plot(views[0].run)
    figures = [figure("heat_map", overview)] if overview is not None else []
    if len(views) == 1 or not figures:
        figures += problem_figures(views[0])
    if len(views) > 1 and len(figures) == 1:
        words = "The charts of a problem stand with it, under Dataset by dataset."
        return Gallery(tuple(figures), wide=True), Prose((words,), "note")
    return (Gallery(tuple(figures)),)
