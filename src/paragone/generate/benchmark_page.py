"""The page of a benchmarked method: the verdict, charts and every score, in one HTML file that works offline."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from paragone.charts import save_chart
from paragone.errors import InputError
from paragone.generate.benchmark import MethodBenchmark
from paragone.generate.sheets import frame_sheet, sample_evidence, score_sheet
from paragone.page import Block, Gallery, Listing, Page, Points, Prose, Section, figure
from paragone.reporting.render import render_page
from paragone.tables import frame_to_csv
from paragone.ties import best_losses, loss_order, rank_losses

if TYPE_CHECKING:
    import pandas as pd


def write_benchmark(benchmark: MethodBenchmark, folder: str | Path, formats: tuple[str, ...] = ("svg",)) -> Path:
    """Write scores, parameters, charts and the page into a folder, and return the page.

    Parameters
    ----------
    benchmark : MethodBenchmark
        What is shown.
    folder : str or Path
        Made where it is missing.
    formats : tuple of str
        Chart formats; SVG is always among them.

    Examples
    --------
    >>> import tempfile
    >>> from paragone.generate import Contender, DuelSettings, Laboratory, benchmark_method
    >>> own = Contender("NB", "sklearn.naive_bayes:GaussianNB")
    >>> with tempfile.TemporaryDirectory() as folder, Laboratory(Path(folder) / "lab.sqlite") as laboratory:
    ...     result = benchmark_method(own, laboratory, sets=["digen8"], settings=DuelSettings(folds=3))
    ...     page = write_benchmark(result, Path(folder) / "page")
    ...     page.name, (Path(folder) / "page" / "heat_map.svg").is_file()
    ('report.html', True)
    """
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} is no folder to write to: {error}") from error
    frame_to_csv(benchmark.scores, folder / "scores.csv")
    (folder / "parameters.json").write_text(json.dumps(benchmark.chosen, indent=1) + "\n", encoding="utf-8")
    charts = benchmark.charts()
    for name, chart in charts.items():
        save_chart(chart, folder / name, dict.fromkeys(("svg", *formats)))
    path = folder / "report.html"
    path.write_text(render_page(benchmark_page(benchmark, charts)), encoding="utf-8", newline="\n")
    return path


def benchmark_page(benchmark: MethodBenchmark, charts: dict[str, Any] | None = None) -> Page:
    """Make the page of a benchmarked method; its charts are drawn where they are not given."""
    drawn = {name: figure(name, chart) for name, chart in (charts or benchmark.charts()).items()}
    evidence, keys = sample_evidence(benchmark.scores, "seed")
    table = benchmark.table()
    notes: tuple[Block, ...] = (Points(tuple(f"Note: {note}." for note in benchmark.notes)),) if benchmark.notes else ()
    standing = frame_sheet("standing", "Standing", _standing(table), decimals=4)
    where = [drawn[name] for name in ("heat_map", "parallel_coordinates", "boxes", "boxes_over_seeds") if name in drawn]
    who = [drawn[name] for name in ("critical_difference", "duels") if name in drawn]
    sections = (
        Section("verdict", "The verdict", (*notes, *_verdict(benchmark), standing)),
        Section("who", "Who beats whom", (Gallery(tuple(who)),)),
        Section("where", "Where", (Gallery(tuple(where)), score_sheet("scores", "AUROC by dataset", table, keys))),
        Section("curves", "ROC and precision-recall curves", (Gallery((drawn["roc"], drawn["precision_recall"])),)),
        Section("how", "How it was done", _how(benchmark)),
    )
    subtitle = f"{len(table)} dataset{'s' * (len(table) != 1)}, {len(table.columns)} methods, AUROC"
    return Page(f"{benchmark.method} on {benchmark.collection}", subtitle, (), sections, evidence)


def _verdict(benchmark: MethodBenchmark) -> tuple[Block, ...]:
    table = benchmark.table()
    first = int(best_losses(-table.to_numpy(dtype=float).T, size=1.0)[table.columns.get_loc(benchmark.method)].sum())
    duels = benchmark.duels().loc[benchmark.method].drop(benchmark.method)
    lead = (
        f"{benchmark.method} is first on {first} of {len(table)} datasets, and beats {int((duels > 0).sum())} of "
        f"{len(duels)} methods by .05 on some dataset."
    )
    if len(table) < 2:
        return (Prose((lead,), "lead"),)
    return (Prose((lead,), "lead"), Points(tuple(benchmark.comparison(benchmark.method).verdict.splitlines())))


def _standing(table: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    ranks = np.mean([rank_losses(-row, size=1.0) for row in table.to_numpy(dtype=float)], axis=0)
    rows = [
        {"method": method, "mean rank": rank, "mean AUROC": table[method].mean(), "lowest": table[method].min()}
        for method, rank in ((table.columns[place], float(ranks[place])) for place in loss_order(ranks))
    ]
    return pd.DataFrame(rows)


def _how(benchmark: MethodBenchmark) -> tuple[Block, ...]:
    chosen = json.dumps(benchmark.chosen, indent=1)
    return (Prose((benchmark.how,)), Listing(f"Parameters of {benchmark.method}, by dataset", chosen))
