"""`paragone figure`: one chart of a comparison at the width of a printed column."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from paragone.cli.app import LOOK, app
from paragone.errors import InputError, unknown_name
from paragone.terminal import say

CALIBRATION = "calibration"


@app.command(rich_help_panel=LOOK)
def figure(
    source: Annotated[
        str, typer.Argument(help="A store, or a table of scores.", show_default=False)
    ],
    name: Annotated[
        str | None,
        typer.Argument(help="Which chart; without it, all are listed.", show_default=False),
    ] = None,
    width: Annotated[
        str,
        typer.Option(help="single (84mm), double (174mm), or a number with mm, cm, in, pt or px."),
    ] = "single",
    metric: Annotated[
        str | None, typer.Option(help="Which metric, needed where there are several.")
    ] = None,
    reference: Annotated[
        str | None, typer.Option(help="Compare this method with each other one.")
    ] = None,
    at: Annotated[
        float | None, typer.Option(help="Point of the grid (k, p or K); else the mean over it.")
    ] = None,
    margin: Annotated[
        float, typer.Option(help="The largest difference that does not matter.", min=0)
    ] = 0.0,
    formats: Annotated[
        str, typer.Option(help="svg, pdf (fonts embedded) or png, separated by commas.")
    ] = "svg,pdf",
    dataset: Annotated[
        str | None, typer.Option(help="Of calibration: which dataset.", show_default=False)
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(help="Of calibration: which methods, four at most; the best by default."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="The file without its ending; the chart's name by default.", show_default=False
        ),
    ] = None,
) -> None:
    """Draw one chart for a paper, redrawn at the width of a column so that its text keeps its size.

    Example: paragone figure first.sqlite critical_difference --metric micro_f1 --width 84mm
    """
    from paragone.charts.save import chart_specification
    from paragone.charts.sizing import parse_width, save_at
    from paragone.cli.sources import chart_formats, is_store
    from paragone.intake import compare
    from paragone.stats import DatasetComparison

    millimetres = parse_width(width)
    wanted = chart_formats(formats)
    stem = out or Path(name or "figure")
    if not stem.parent.is_dir():
        raise InputError(f"--out {stem}: the folder {stem.parent} does not exist")
    if name != CALIBRATION and (dataset is not None or method):
        raise InputError("--dataset and --method are for calibration")
    if name == CALIBRATION:
        chart, names = _calibration(source, metric, dataset, method or ())
    else:
        result = compare(source, metric=metric, reference=reference, at=at, margin=margin)
        known = [*result.charts, *([CALIBRATION] if is_store(source) else [])]
        if name is None:
            for one in known:
                say(one)
            return
        if name not in result.charts:
            raise unknown_name("chart", name, known)
        both = (one for pair in result.pairs for one in (pair.method, pair.rival))
        chart, names = result.charts[name], [*dict.fromkeys(both)]
        if isinstance(result, DatasetComparison):
            names += result.scores.datasets
    files = save_at(chart_specification(chart), stem, millimetres, wanted, names)
    say(f"{', '.join(map(str, files))}: {millimetres:g} mm wide")


def _calibration(
    source: str, metric: str | None, dataset: str | None, methods: Sequence[str]
) -> tuple[Any, Sequence[str]]:
    """Return the calibration of the methods of a store, and the names that it may cut."""
    from paragone.cli.sources import is_store, open_results
    from paragone.lab.view import View
    from paragone.reporting.calibration import calibration_chart

    if not is_store(source):
        raise InputError(
            f"{source} holds scores alone: calibration needs a store, which keeps probabilities"
        )
    view = View(open_results(source), metric=metric)
    return calibration_chart(view, dataset, methods), [
        view.name(name) for name in view.method_facts
    ]
