"""The page, dataset by dataset: what each is, its curves, and every method on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from paragone.comparison.corrections import holm
from paragone.directions import higher_is_better, score_size
from paragone.reporting.answer_table import Behind
from paragone.reporting.figures import figure
from paragone.reporting.page_model import Block, Fold, Gallery, Prose, Sheet
from paragone.reporting.views import View
from paragone.reporting.wording import Wording, title_of
from paragone.results import Results
from paragone.tables import Cell, Table, format_mean_std, format_p, format_signed, mark_best
from paragone.ties import rank_losses

OPEN_UP_TO = 2


def dataset_folds(
    results: Results,
    described: Mapping[str, Any],
    views: Sequence[View],
    wording: Wording,
    behind: Behind,
    curves: Mapping[tuple[str, str], Mapping[str, Mapping[str, Any]]],
) -> tuple[Block, ...]:
    """Return a part that opens and closes for every dataset."""
    known = {wording.name(name): facts for name, facts in results.datasets(described["name"]).items()}
    names = list(dict.fromkeys(name for view in views for name in view.means))
    parts: list[Block] = []
    for place, name in enumerate(names):
        mine = [view for view in views if name in view.means]
        blocks: list[Block] = [Prose((_facts(known[name]),))]
        for view in mine:
            curve = figure(dataset_figure_name(name, view.key), curves[view.scores.suffix, view.metric][name])
            blocks += [Gallery((curve,), view.tags), _sheet(view, name, place, behind)]
        parts.append(Fold(name, tuple(blocks), is_open=len(names) <= OPEN_UP_TO))
    return tuple(parts)


def dataset_figure_name(dataset: str, key: str) -> str:
    """Name the chart of a dataset, as its save button and its files do."""
    return f"{dataset}_{key}"


def _facts(facts: Mapping[str, Any]) -> str:
    sizes = [
        f"{facts['n_samples']} samples",
        f"{facts['n_features']} features",
        f"{len(facts['target_names'])} targets ({facts['task']})",
    ]
    return ", ".join(sizes) + "".join(f"; {note}" for note in facts["notes"]) + "."


def _sheet(view: View, dataset: str, place: int, behind: Behind) -> Sheet:
    found = view.means[dataset]
    methods, values = list(found), np.array([mean for mean, _ in found.values()])
    higher = bool(higher_is_better(view.metric))
    texts = [format_mean_std(mean, spread) for mean, spread in found.values()]
    size = score_size(view.metric)
    ranks = rank_losses(-values if higher else values, size=size)
    tests = _tests(view, dataset)
    rows, numbers, links = [], [], []
    for method, cell, value, rank in zip(
        methods, mark_best(values.tolist(), texts, higher_is_better=higher, size=size), values, ranks, strict=True
    ):
        gain, t, p = tests.get(method, (np.nan, np.nan, np.nan))
        tested = [
            Cell("" if np.isnan(gain) else format_signed(gain)),
            Cell("" if np.isnan(t) else format_signed(t, 2)),
            Cell("" if np.isnan(p) else format_p(p)),
        ]
        rows.append([Cell(method), cell, Cell("-" if np.isnan(rank) else f"{rank:g}"), *tested])
        numbers.append((None, *(None if np.isnan(v) else float(v) for v in (value, rank, gain, t, p))))
        key = behind.folds(view.scores, view.metric, dataset, method)
        links.append(("", key, key, *(key if not np.isnan(gain) else "" for _ in range(3))))
    leader = view.comparison.leader if view.comparison else ""
    columns = ["method", title_of(view.metric), "rank", f"gain of {leader}" if leader else "gain", "t", "p (Holm)"]
    if not tests:
        columns, rows = columns[:3], [row[:3] for row in rows]
        numbers, links = [n[:3] for n in numbers], [link[:3] for link in links]
    caption = f"{title_of(view.metric)} on {dataset}: {view.scores.reduction}, mean ± standard deviation over folds."
    if tests:
        caption += (
            f" Gain of {leader} over each, corrected resampled t on the folds, and its p adjusted by Holm over the "
            "rivals on this dataset."
        )
    return Sheet(
        f"dataset-{place}-{view.key}",
        f"{title_of(view.metric)} on {dataset}",
        Table.of(columns, rows, caption=caption, label=f"tab:dataset-{place}-{view.key}"),
        tuple(numbers),
        tuple(links),
        tags=view.tags,
    )


def _tests(view: View, dataset: str) -> dict[str, tuple[float, float, float]]:
    """Return gain of the leader, t and adjusted p by rival."""
    if view.comparison is None:
        return {}
    frame, leader = view.comparison.per_dataset, view.comparison.leader
    rows = frame[(frame["dataset"] == dataset) & (frame["method"] == leader)]
    if rows.empty:
        return {}
    adjusted = holm(rows["p"].to_numpy())
    return {
        row.rival: (float(row.mean_difference), float(row.t), float(p))
        for row, p in zip(rows.itertuples(), adjusted, strict=True)
    }
