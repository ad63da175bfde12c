"""Write a comparison into a folder: the answer as text, tables, unrounded figures and charts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paragone.charts import check_formats, save_chart
from paragone.folders import replaced_folder, written_files
from paragone.tables import frame_as_csv

if TYPE_CHECKING:
    from paragone.stats.paired_comparison import PairedComparison
    from paragone.stats.result import Comparison
    from paragone.stats.samples import SampleComparison


def save_comparison(comparison: Comparison, folder: Path, formats: Iterable[str]) -> tuple[Path, ...]:
    """Write everything about a comparison of many methods."""
    texts = {
        "verdict.txt": repr(comparison),
        "comparison.json": _json(comparison.to_dict()),
        "summary.tex": comparison.to_latex("summary"),
        "summary.md": comparison.to_markdown("summary"),
        "pairs.tex": comparison.to_latex("pairs"),
        "pairs.md": comparison.to_markdown("pairs"),
        "scores.tex": comparison.to_latex("scores"),
        "scores.md": comparison.to_markdown("scores"),
        "ranks.csv": frame_as_csv(comparison.rank_table),
        "pairs.csv": frame_as_csv(comparison.table),
        "corrections.csv": frame_as_csv(comparison.corrections),
        "scores.csv": comparison.to_csv("scores"),
    }
    if len(comparison.per_dataset):
        texts["per_dataset.csv"] = frame_as_csv(comparison.per_dataset)
    return _write(folder, texts, comparison.charts, tuple(formats))


def save_paired(result: PairedComparison, folder: Path, formats: Iterable[str]) -> tuple[Path, ...]:
    """Write everything about a comparison of two methods."""
    texts = {
        "verdict.txt": repr(result),
        "comparison.json": _json(result.to_dict()),
        "differences.csv": frame_as_csv(result.differences),
        "figures.csv": frame_as_csv(result.table.rename_axis("figure").reset_index()),
        "figures.tex": result.to_latex(),
        "figures.md": result.to_markdown(),
    }
    return _write(folder, texts, result.charts, tuple(formats))


def save_samples(result: SampleComparison, folder: Path) -> tuple[Path, ...]:
    """Write everything about a comparison on samples."""
    return _write(folder, sample_texts(result), {}, ())


def sample_texts(result: SampleComparison) -> dict[str, str]:
    """Return the texts of a comparison on samples by the names of their files."""
    return {
        "verdict.txt": repr(result),
        "comparison.json": _json(result.to_dict()),
        "differences.csv": frame_as_csv(result.table),
        "differences.tex": result.to_latex(),
        "differences.md": result.to_markdown(),
    }


def write_texts(folder: Path, texts: Mapping[str, str]) -> None:
    """Write texts into a folder that exists, each with a line feed at its end."""
    for name, text in texts.items():
        (folder / name).write_text(text if text.endswith("\n") else text + "\n", encoding="utf-8", newline="\n")


def _json(values: dict[str, Any]) -> str:
    return json.dumps(values, indent=2, ensure_ascii=False)


def _write(
    folder: Path, texts: Mapping[str, str], charts: Mapping[str, Any], formats: tuple[str, ...]
) -> tuple[Path, ...]:
    check_formats(formats)
    with replaced_folder(folder, "comparison") as content:
        write_texts(content, texts)
        for name, chart in charts.items() if formats else ():
            save_chart(chart, content / name, formats)
        files = written_files(content)
    return tuple(folder / file for file in files)
