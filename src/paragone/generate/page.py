"""The page of a benchmarked method: tables and charts in one HTML file that works offline."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

from paragone.charts import save_chart
from paragone.errors import InputError
from paragone.generate.benchmark import MethodBenchmark

STYLE = """
body { font-family: sans-serif; max-width: 1100px; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; font-size: 0.85rem; } td, th { padding: 0.2rem 0.6rem; text-align: right; }
th { border-bottom: 1px solid #999; } td:first-child, th:first-child { text-align: left; }
figure { margin: 2rem 0; overflow-x: auto; } .note { background: #fff4d6; padding: 0.5rem 1rem; }
"""


def write_benchmark(benchmark: MethodBenchmark, folder: str | Path, formats: tuple[str, ...] = ("svg",)) -> Path:
    """Write scores, parameters, charts and the page into a folder, and return the page.

    Parameters
    ----------
    benchmark : MethodBenchmark
        What is shown.
    folder : str or Path
        Made where it is missing.
    formats : tuple of str
        Chart formats; SVG is always among them, for the page.

    Examples
    --------
    >>> import tempfile
    >>> from paragone.generate import Contender, DuelSettings, Laboratory, benchmark_method
    >>> own = Contender("NB", "sklearn.naive_bayes:GaussianNB")
    >>> with tempfile.TemporaryDirectory() as folder, Laboratory(Path(folder) / "lab.sqlite") as laboratory:
    ...     result = benchmark_method(own, laboratory, sets=["digen8"], settings=DuelSettings(folds=3))
    ...     page = write_benchmark(result, Path(folder) / "page")
    ...     page.name, (Path(folder) / "page" / "heat_map.svg").is_file()
    ('index.html', True)
    """
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} is no folder to write to: {error}") from error
    benchmark.scores.to_csv(folder / "scores.csv", index=False)
    (folder / "parameters.json").write_text(json.dumps(benchmark.chosen, indent=1) + "\n", encoding="utf-8")
    drawings = {}
    for name, chart in benchmark.charts().items():
        save_chart(chart, folder / name, dict.fromkeys(("svg", *formats)))
        drawings[name] = (folder / f"{name}.svg").read_text(encoding="utf-8")
    page = folder / "index.html"
    page.write_text(_page(benchmark, drawings), encoding="utf-8")
    return page


def _page(benchmark: MethodBenchmark, drawings: dict[str, str]) -> str:
    title = escape(f"{benchmark.method} on {benchmark.collection}")
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in benchmark.notes)
    figures = "".join(f"<figure>{drawing}</figure>" for drawing in drawings.values())
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{STYLE}</style></head><body><h1>{title}</h1>{notes}{_summary(benchmark)}{figures}"
        f"<h2>AUROC by dataset</h2>{_table(benchmark)}</body></html>\n"
    )


def _summary(benchmark: MethodBenchmark) -> str:
    table = benchmark.table()
    ranks = table.rank(axis=1, ascending=False).mean().sort_values()
    rows = "".join(
        f"<tr><td>{escape(str(m))}</td><td>{table[m].mean():.4f}</td><td>{rank:.2f}</td></tr>"
        for m, rank in ranks.items()
    )
    return f"<table><tr><th>method</th><th>mean AUROC</th><th>mean rank</th></tr>{rows}</table>"


def _table(benchmark: MethodBenchmark) -> str:
    table = benchmark.table()
    head = "".join(f"<th>{escape(str(method))}</th>" for method in table.columns)
    body = "".join(f"<tr><td>{escape(str(name))}</td>{_cells(row)}</tr>" for name, row in table.iterrows())
    return f"<table><tr><th>dataset</th>{head}</tr>{body}</table>"


def _cells(row: Any) -> str:
    return "".join(f"<td>{value:.4f}</td>" for value in row)
