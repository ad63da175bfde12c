"""The report: the page of an experiment of any protocol and everything on it, written whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path

from paragone.errors import InputError
from paragone.folders import replaced_folder, written_files
from paragone.reading import read_json
from paragone.reporting.chart_files import Drawing, drawn_charts
from paragone.reporting.order import Order
from paragone.reporting.wording import Wording
from paragone.results import Results

WRITERS = {
    "curve": "paragone.reporting.curve_report:write_curve",
    "crossval": "paragone.reporting.crossval_report:write_crossval",
    "topk": "paragone.reporting.topk_report:write_topk",
}
"""Where each protocol's writer is: importing the others would take longer than a small report."""


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
    """Write the page, the tables and the charts of an experiment.

    Parameters
    ----------
    results : Results or path
        The results, or the store that holds them.
    out : str or Path
        The folder to write to. The files of an earlier report are replaced as a whole, or stay as they are where
        something goes wrong; files that no report wrote are kept. `paragone.folders` says how.
    reference : str, optional
        The method that the statistics compare with each other; the first one where it is not given. A
        cross-validation compares with the best variant of each problem instead.
    experiment : str, optional
        Needed where the store holds several.
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
    >>> from paragone.experiment import Experiment
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
        described = opened.described(experiment)
        wording = Wording(dict(display_map or {}), caption_note, label_suffix)
        order = Order(opened, described, reference, wording, split_columns)
        with replaced_folder(out, "report") as folder:
            with drawn_charts(wanted=charts) as drawing:
                _writer(described["protocol"]["kind"])(order, folder, drawing)
            files = written_files(folder)
        return tuple(Path(out) / file for file in files)
    finally:
        if opened is not results:
            opened.close()


def _writer(kind: str) -> Callable[[Order, Path, Drawing], None]:
    module, _, name = WRITERS[kind].partition(":")
    writer: Callable[[Order, Path, Drawing], None] = getattr(import_module(module), name)
    return writer


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
