"""The report: a page, tables, CSV and charts of an experiment, written to a folder whole or not at all."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from paragone.charts.save import chart_specification
from paragone.errors import InputError, unknown_name
from paragone.reading import read_json
from paragone.reporting.chart_files import written_charts
from paragone.reporting.crossval_report import write_crossval
from paragone.reporting.curve_charts import dataset_curves, mean_chart
from paragone.reporting.curve_page import curve_page
from paragone.reporting.curve_tables import (
    Wording,
    comparisons,
    means_frame,
    rank_table,
    score_table,
    statistics_table,
)
from paragone.reporting.fold_scores import GridScores, grid_scores
from paragone.reporting.page_model import Page
from paragone.reporting.page_render import render_page
from paragone.reporting.stability import seed_stability
from paragone.reporting.topk_report import topk_figures, write_topk
from paragone.reporting.views import named
from paragone.results import Results
from paragone.tables import Table, to_latex, to_markdown

TABLE_NAMES = {"micro_f1": "microf1", "macro_f1": "macrof1", "hamming_loss": "hamming"}


def report(
    results: Results | str | Path,
    out: str | Path,
    *,
    reference: str | None = None,
    experiment: str | None = None,
    display_map: Mapping[str, str] | None = None,
    split_columns: int | None = None,
    caption_note: str = "",
    label_suffix: str = "",
    charts: bool = True,
) -> tuple[Path, ...]:
    """Write the tables, the CSV and the charts of a curve or topk experiment or of a cross-validation.

    Parameters
    ----------
    results : Results or path
        The results, or the store that holds them.
    out : str or Path
        The folder to write to; files of an earlier report are replaced.
    reference : str, optional
        The method that the statistics compare with each other; the first one where it is not given.
    experiment : str, optional
        Needed where the store holds several.
    display_map : mapping of str to str, optional
        Names to show instead of identifiers.
    split_columns : int, optional
        Stack wide tables in blocks of so many methods.
    caption_note, label_suffix : str
        Added to every caption and label.
    charts : bool, default=True
        Whether to draw the curves too (SVG and PDF).

    Returns
    -------
    tuple of Path
        Every file written.
    """
    opened = results if isinstance(results, Results) else Results.open(results)
    described = opened.described(experiment)
    if described["protocol"]["kind"] == "crossval":
        with tempfile.TemporaryDirectory() as scratch:
            write_crossval(opened.crossval(described["name"]), Path(scratch), charts=charts)
            return _move(Path(scratch), Path(out))
    wording = Wording(dict(display_map or {}), caption_note, label_suffix)
    if described["protocol"]["kind"] == "topk":
        with tempfile.TemporaryDirectory() as scratch:
            figures = topk_figures(opened, described["name"], reference)
            write_topk(figures, Path(scratch), wording, charts=charts)
            return _move(Path(scratch), Path(out))
    grids = grid_scores(opened, described["name"])
    chosen = _reference(grids, reference)
    shown = [named(scores, wording) for scores in grids]
    curves = dataset_curves(shown)
    with tempfile.TemporaryDirectory() as scratch:
        folders = {scores.suffix: _folder(Path(scratch), scores, len(grids)) for scores in grids}
        files = _chart_files(grids, shown, curves, folders) if charts else {}
        with written_charts(files):
            for scores in grids:
                _write_tables(scores, folders[scores.suffix], chosen, wording, split_columns)
            stability = seed_stability(opened, described["name"])
            if not stability.empty:
                stability.to_csv(Path(scratch) / "seed_stability.csv", index=False)
            page = curve_page(opened, described, shown, wording.name(chosen), wording, curves)
            _write_page(page, Path(scratch))
        return _move(Path(scratch), Path(out))


def _folder(scratch: Path, scores: GridScores, n_grids: int) -> Path:
    folder = scratch / scores.suffix if n_grids > 1 else scratch
    folder.mkdir(exist_ok=True)
    return folder


def read_display_map(path: Path) -> dict[str, str]:
    """Read a display map: a JSON object of identifier to name.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "names.json"
    ...     _ = file.write_text('{"dagfs": "DAGFS"}')
    ...     read_display_map(file)
    {'dagfs': 'DAGFS'}
    """
    content = read_json(path, f"display map {path}")
    if not isinstance(content, dict) or not all(isinstance(value, str) for value in content.values()):
        raise InputError(f'display map {path} must be an object of names, such as {{"dagfs": "DAGFS"}}')
    return content


def _reference(grids: list[GridScores], reference: str | None) -> str:
    methods = list(dict.fromkeys(grids[0].folds["method"]))
    if reference is not None and reference not in methods:
        raise unknown_name("reference", reference, methods)
    return reference or methods[0]


def _write_tables(
    scores: GridScores, folder: Path, reference: str, wording: Wording, split_columns: int | None
) -> None:
    metrics = list(dict.fromkeys(scores.folds["metric"]))
    for metric in metrics:
        name = f"table_{TABLE_NAMES.get(metric, metric)}.tex"
        _write(folder / name, score_table(scores, metric, wording), split_columns)
    if scores.folds["method"].nunique() > 1 and scores.folds["dataset"].nunique() > 1:
        found = comparisons(scores, metrics, reference)
        _write(folder / "table_stats.tex", statistics_table(found, scores, reference, wording), None)
        _write(folder / "table_ranks.tex", rank_table(found, scores, wording), None)
    means_frame(scores).to_csv(folder / f"benchmark_means_{scores.suffix}.csv", index=False)


def _write_page(page: Page, folder: Path) -> None:
    """Write the page, and every table on it as Markdown beside it."""
    (folder / "report.html").write_text(render_page(page), encoding="utf-8", newline="\n")
    texts = [f"## {sheet.title}\n\n{to_markdown(sheet.table)}\n" for sheet in page.sheets()]
    (folder / "tables.md").write_text("\n".join(texts), encoding="utf-8", newline="\n")


def _write(file: Path, table: Table, split_columns: int | None) -> None:
    file.write_text(to_latex(table, columns_a_block=split_columns) + "\n", encoding="utf-8")


def _chart_files(
    grids: Sequence[GridScores],
    shown: Sequence[GridScores],
    curves: Mapping[tuple[str, str], Mapping[str, Mapping[str, Any]]],
    folders: Mapping[str, Path],
) -> dict[Path, Mapping[str, Any]]:
    """Return what to draw into which file; files are named by identifiers, whatever names are displayed."""
    files: dict[Path, Mapping[str, Any]] = {}
    for scores, displayed in zip(grids, shown, strict=True):
        folder = folders[scores.suffix] / "figures"
        identifiers = dict(zip(displayed.curves["dataset"], scores.curves["dataset"], strict=True))
        for metric in dict.fromkeys(scores.curves["metric"]):
            mine = curves[scores.suffix, metric]
            files |= {folder / f"{_safe(identifiers[name])}_{metric}": spec for name, spec in mine.items()}
            if len(mine) > 1:
                files[folder / f"mean_{metric}"] = chart_specification(mean_chart(displayed, metric, Wording()))
    return files


def _safe(name: str) -> str:
    return re.sub(r"[^\w.-]+", "_", name)[:80]


def _move(scratch: Path, out: Path) -> tuple[Path, ...]:
    """Put the finished files into place."""
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file: give a folder to write the report to")
    out.mkdir(parents=True, exist_ok=True)
    files = sorted(path.relative_to(scratch) for path in scratch.rglob("*") if path.is_file())
    for file in files:
        (out / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.move(scratch / file, out / file)
    return tuple(out / file for file in files)
