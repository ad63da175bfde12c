"""The report: the page of an experiment and everything on it, written whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from paragone.errors import InputError
from paragone.folders import replaced_folder, written_files
from paragone.lab.measures import Wording
from paragone.lab.results import Results
from paragone.lab.view import View
from paragone.metrics import asked_name
from paragone.page import Page, Sheet
from paragone.reading import read_json
from paragone.reporting.drawing import Drawing, drawn_charts, file_stem
from paragone.reporting.pages import page_of
from paragone.reporting.render import render_page
from paragone.reporting.reuse import KIND, WHOLE, EarlierCharts, report_identity, signs_of_writing
from paragone.tables import Table, escape_markdown, to_csv, to_latex, to_markdown


def report(
    results: Results | str | Path,
    out: str | Path,
    *,
    reference: str | None = None,
    experiment: str | None = None,
    metric: Any = None,
    display_map: Mapping[str, str] | None = None,
    split_columns: int | None = None,
    caption_note: str = "",
    label_suffix: str = "",
    charts: bool = True,
) -> tuple[Path, ...]:
    """Write the page, the tables and the charts of an experiment.

    Parameters
    ----------
    results : Results or path
        The results, or the store that holds them.
    out : str or Path
        The folder to write to. The files of an earlier report are replaced as a whole, or stay as
        they are where something goes wrong; files that no report wrote are kept. `paragone.folders`
        says how.
    reference : str, optional
        The method that the statistics compare with each other; the first one where it is not given.
        A cross-validation compares with the best variant of each problem instead.
    experiment : str, optional
        Needed where the store holds several.
    metric : str, callable or Metric, optional
        Show this metric only, as `find_metric` takes it; a cross-validation is scored by it.
    display_map : mapping of str to str, optional
        Names to show instead of identifiers.
    split_columns : int, optional
        Stack wide LaTeX tables in blocks of so many columns.
    caption_note, label_suffix : str
        Added to every caption and label.
    charts : bool, default=True
        Whether to draw every chart of the page as SVG and PDF too.

    Returns
    -------
    tuple of Path
        Every file written.

    Examples
    --------
    >>> import tempfile
    >>> from paragone.lab.experiment import Experiment
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     methods = {"Variance": "variance", "Random": "random"}
    ...     results = Experiment(["wine-traits"], methods, {"folds": 2}).run(Path(folder) / "a.sqlite", 0)
    ...     files = report(results, Path(folder) / "paper", charts=False)
    ...     results.close()
    ...     sorted(file.name for file in files if file.parent.name == "paper")[:3]
    ['benchmark_means_kgrid.csv', 'references.bib', 'report.html']
    """
    opened = results if isinstance(results, Results) else Results.open(results)
    try:
        wording = Wording(dict(display_map or {}), caption_note, label_suffix, split_columns)
        view = View(
            opened, experiment, metric=asked_name(metric), reference=reference, wording=wording
        )
        return written_report(view, out, charts=charts)[0]
    finally:
        if opened is not results:
            opened.close()


def written_report(
    view: View, out: str | Path, *, charts: bool = True, plain: bool = False
) -> tuple[tuple[Path, ...], Page]:
    """Write the report of a view into a folder, whole or not at all, and return its files and the page.

    Parameters
    ----------
    view : View
        What is reported.
    out : str or Path
        The folder.
    charts : bool, default=True
        Whether charts are drawn into files too.
    plain : bool, default=False
        Whether no code but Paragone's own has a part in it: only then is written down what the
        whole is made from.
    """
    made_from: dict[str, str] = {}
    before = signs_of_writing(view)
    identity = report_identity(view, charts=charts) if plain else None
    with replaced_folder(out, KIND, made_from) as folder:
        with drawn_charts(wanted=charts) as drawing:
            earlier = EarlierCharts(out, made_from)
            if not earlier.are_there:
                drawing.expect(
                    len(view.described["data"])
                    * len(view.described["protocol"].get("metrics") or ())
                )
            page = page_of(view)
            draw_page(page, folder, drawing, earlier if charts else None)
            write_page(page, folder, view.wording.split_columns)
        files = written_files(folder)
        # What was written while the page was made may be on it or not: then nobody can tell what it
        # was made from.
        if identity is not None and before == signs_of_writing(view):
            made_from[WHOLE] = identity
    return tuple(Path(out) / file for file in files), page


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
    if not isinstance(content, dict) or not all(
        isinstance(value, str) for value in content.values()
    ):
        raise InputError(
            f'display map {path} must be an object of names, such as {{"dagfs": "DAGFS"}}'
        )
    return content


LATEX_HEAD = "% Every table of the page. Needs \\usepackage{booktabs} and \\usepackage{graphicx}.\n"

FLOATS = 12


def draw_page(
    page: Page, folder: Path, drawing: Drawing, earlier: EarlierCharts | None = None
) -> None:
    """Have every chart of the page drawn into files named as its save button names them, but for those that stand."""
    for figure in page.figures():
        stem = folder / "figures" / file_stem(figure.name)
        if earlier is None or not earlier.take(stem, folder, figure.specification):
            drawing.add(stem, figure.specification)


def write_page(page: Page, folder: Path, split_columns: int | None = None) -> None:
    """Write the page, and beside it its tables and its references.

    Parameters
    ----------
    page : Page
        What is written.
    folder : Path
        Where to; it must exist.
    split_columns : int, optional
        Stack wide LaTeX tables in blocks of so many columns.
    """
    _write(folder / "report.html", render_page(page))
    sheets = page.sheets()
    texts = [
        f"## {escape_markdown(sheet.title)}\n\n{to_markdown(sheet.table)}\n" for sheet in sheets
    ]
    words = [
        f"## {escape_markdown(title)}\n\n{_prose(text)}\n" for title, text in page.told.items()
    ]
    _write(folder / "tables.md", "\n".join([*words, *texts]))
    latex = [
        to_latex(captioned(sheet), columns_a_block=split_columns, fit=True) for sheet in sheets
    ]
    # LaTeX gives up on more than a few dozen floats in a row.
    pages = ["\n\n".join(latex[i : i + FLOATS]) for i in range(0, len(latex), FLOATS)]
    _write(folder / "tables.tex", LATEX_HEAD + "\n\n\\clearpage\n".join(pages) + "\n")
    (folder / "tables").mkdir(exist_ok=True)
    for sheet in sheets:
        _write(folder / "tables" / f"{file_stem(sheet.name)}.csv", to_csv(sheet.table))
    if page.references:
        _write(folder / "references.bib", page.references + "\n")
    for attachment in page.attachments():
        file = folder / attachment.name
        file.parent.mkdir(parents=True, exist_ok=True)
        _write(file, attachment.text)


def captioned(sheet: Sheet) -> Table:
    """Return a sheet's table with a caption and a label of its own, as a paper needs them."""
    table = sheet.table
    return replace(
        table,
        caption=table.caption or f"{sheet.title}.",
        label=table.label or f"tab:{file_stem(sheet.name)}",
    )


def _prose(text: str) -> str:
    """Return paragraphs and lists as Markdown that shows them as they stand: names in them come from data."""
    return "\n".join(_prose_line(line.strip()) for line in text.splitlines())


def _prose_line(line: str) -> str:
    return f"- {escape_markdown(line[2:])}" if line.startswith("- ") else escape_markdown(line)


def _write(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8", newline="\n")
