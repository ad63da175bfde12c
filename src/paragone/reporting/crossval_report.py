"""The report of a cross-validation: tables as text, LaTeX and CSV, and charts, written to a folder."""

from __future__ import annotations

import re
from pathlib import Path

from paragone.charts import save_chart
from paragone.protocols.crossval.frames import cv_frame, final_frame, fold_frame
from paragone.protocols.crossval.group_frames import group_frame
from paragone.protocols.crossval.problem import Problem, choose
from paragone.reporting.crossval_charts import (
    candlestick_chart,
    components_chart,
    confusion_chart,
    heat_map,
    predicted_chart,
    residual_chart,
)
from paragone.reporting.crossval_tables import crossval_tables, gap_lines, model_table
from paragone.store.chains import CrossvalRun
from paragone.tables import to_latex, to_markdown


def write_crossval(
    run: CrossvalRun, folder: Path, *, charts: bool = True, formats: tuple[str, ...] = ("svg", "pdf")
) -> None:
    """Write every table and chart of a cross-validation into a folder that exists.

    Parameters
    ----------
    run : CrossvalRun
        The experiment with its ledgers.
    folder : Path
        Where to.
    charts : bool, default=True
        Whether charts are drawn.
    formats : tuple of str
        Of the charts.
    """
    tables = crossval_tables(run)
    for problem in run.problems:
        tables += [model_table(problem, run, variant) for variant in refitted(problem, run)]
    lines = gap_lines(run)
    text = "\n\n".join([*(to_markdown(table) for table in tables), *lines])
    (folder / "tables.md").write_text(text + "\n", encoding="utf-8")
    (folder / "tables.tex").write_text("\n\n".join(to_latex(table) for table in tables) + "\n", encoding="utf-8")
    cv_frame(run.problems, run.settings).to_csv(folder / "cv_scores.csv", index=False)
    final_frame(run.problems, run.settings).to_csv(folder / "final_scores.csv", index=False)
    fold_frame(run.problems, run.settings).to_csv(folder / "fold_scores.csv", index=False)
    if any(problem.truth.groups is not None for problem in run.problems):
        group_frame(run.problems, run.settings).to_csv(folder / "group_scores.csv", index=False)
    if charts:
        (folder / "figures").mkdir(exist_ok=True)
        write_charts(run, folder / "figures", formats)


def refitted(problem: Problem, run: CrossvalRun) -> tuple[str, ...]:
    """Return the refitted variants of a problem, in the order they were chosen."""
    together = run.of_dataset(problem.dataset) if run.settings.aggregate else [problem]
    return tuple(v for v in choose(together, run.settings).variants if problem.chains[v].final is not None)


def write_charts(run: CrossvalRun, folder: Path, formats: tuple[str, ...]) -> None:
    """Draw the charts of every problem, and the heat map over all of them."""
    overview = heat_map(run)
    if overview is not None:
        save_chart(overview, folder / "heat_map", formats)
    for problem in run.problems:
        if not problem.chains:
            continue
        stem = _safe(
            problem.dataset if len(run.of_dataset(problem.dataset)) == 1 else f"{problem.dataset}_{problem.target}"
        )
        drawn = {"folds": candlestick_chart(problem, run), "components": components_chart(problem, run)}
        for variant in refitted(problem, run)[:1]:
            if problem.truth.task == "regression":
                drawn["predicted"] = predicted_chart(problem, run, variant)
                drawn["residuals"] = residual_chart(problem, run, variant)
            else:
                drawn["confusion"] = confusion_chart(problem, run, variant)
        for name, chart in drawn.items():
            if chart is not None:
                save_chart(chart, folder / f"{stem}_{name}", formats)


def _safe(name: str) -> str:
    return re.sub(r"[^\w.-]+", "_", name)[:80]
