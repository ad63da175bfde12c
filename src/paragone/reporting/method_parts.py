"""The page, method by method: what each is, how long it takes, and where it does well."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paragone.directions import higher_is_better, score_size
from paragone.reporting.answer_table import Behind
from paragone.reporting.page_model import Block, Fold, Prose, Sheet
from paragone.reporting.views import View
from paragone.reporting.wording import Wording, title_of
from paragone.results import Results
from paragone.tables import Cell, Column, Table, format_mean_std, format_number, format_signed
from paragone.ties import least_loss, slack_of

if TYPE_CHECKING:
    import pandas as pd


def method_blocks(
    results: Results, described: Mapping[str, Any], views: Sequence[View], wording: Wording, behind: Behind
) -> tuple[Block, ...]:
    """Return the table of all methods, and a part that opens and closes for each."""
    places = results.places()
    places = places[places["experiment"] == described["name"]]
    blocks: list[Block] = [methods_overview(described, places, wording)]
    for number, (name, declared) in enumerate(described["methods"].items()):
        shown = wording.name(name)
        sheets = [_sheet(view, shown, number, behind) for view in views if (view.scores.folds["method"] == shown).any()]
        blocks.append(Fold(shown, (Prose((declared_words(declared),)), *sheets)))
    return tuple(blocks)


def declared_words(declared: Mapping[str, Any]) -> str:
    """Say what class a method is of, and its parameters."""
    params = declared["params"]
    return f"{declared['use']} with {_parameters(params)}." if params else f"{declared['use']} with its defaults."


def _parameters(params: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in params.items())


def methods_overview(described: Mapping[str, Any], places: pd.DataFrame, wording: Wording) -> Sheet:
    """Return the table of all methods: class, parameters, times, cells."""
    rows, numbers = [], []
    for name, declared in described["methods"].items():
        mine = places[places["method"] == name]
        done = mine[mine["status"] == "done"]
        bad = int(mine["status"].isin(["failed", "timeout"]).sum())
        fit, cell, cpu = (float(done[column].mean()) for column in ("fit_seconds", "seconds", "cpu_seconds"))
        peak = float(done["peak_memory"].max()) / 2**20
        memory = "" if np.isnan(peak) else f"{peak:.0f}"
        texts = [*(_seconds(value) for value in (fit, cell, cpu)), memory, f"{len(done)} of {len(mine)}", str(bad)]
        rows.append([wording.name(name), declared["use"], _parameters(declared["params"]) or "defaults", *texts])
        finite = [None if np.isnan(value) else value for value in (fit, cell, cpu, peak)]
        numbers.append((None, None, None, *finite, float(len(done)), float(bad)))
    columns: list[str | Column] = [Column(name, "left") for name in ("method", "class", "parameters")]
    columns += ["wall s per fit", "wall s per cell", "CPU s per cell", "peak MiB", "cells done", "failed"]
    caption = (
        "Every method: its class, its parameters, the mean wall time of a fit and of a whole cell, the mean processor "
        "time of a cell, the most memory that a cell held (empty where not known), and its cells."
    )
    return Sheet("methods-overview", "Methods", Table.of(columns, rows, caption=caption), tuple(numbers))


def _seconds(value: float) -> str:
    return format_number(value, 3 if value < 10 else 1)


def _sheet(view: View, method: str, number: int, behind: Behind) -> Sheet:
    sign = 1 if higher_is_better(view.metric) else -1
    rows, numbers, links = [], [], []
    for dataset, means in view.means.items():
        if method not in means:
            continue
        value, spread = means[method]
        rivals = {name: sign * mean for name, (mean, _) in means.items() if name != method and not np.isnan(mean)}
        size = score_size(view.metric)
        best = list(rivals)[least_loss([-mean for mean in rivals.values()], size=size)] if rivals else ""
        gap = sign * value - rivals[best] if rivals else np.nan
        key = behind.folds(view.scores, view.metric, dataset, method)
        other = behind.folds(view.scores, view.metric, dataset, best) if best else ""
        mean = Cell(format_mean_std(value, spread), bold=bool(gap >= -slack_of(abs(value), size)))
        rows.append([Cell(dataset), mean, Cell(best), Cell(format_signed(gap) if best else "")])
        numbers.append((None, value, None, None if np.isnan(gap) else gap))
        links.append(("", key, "", other))
    columns: list[str | Column] = ["dataset", title_of(view.metric), Column("best rival", "left"), "gain over it"]
    caption = f"{method}: {title_of(view.metric)}, {view.scores.reduction}; bold where no rival is better."
    return Sheet(
        f"method-{number}-{view.key}",
        f"{title_of(view.metric)} of {method}",
        Table.of(columns, rows, caption=caption),
        tuple(numbers),
        tuple(links),
        tags=view.tags,
    )
