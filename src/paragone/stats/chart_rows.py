"""What the charts of comparisons show, as rows of plain values; `paragone.stats.charts` draws them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from paragone.charts.parts import Path, Row
from paragone.metrics import metric_title
from paragone.stats.pairs import UnitScores
from paragone.stats.ranks import Cliques, rank_cliques
from paragone.stats.words import SCOPES
from paragone.tables import format_p, format_signed
from paragone.ties import FloatArray, settled_mean

if TYPE_CHECKING:
    from paragone.stats.datasets import DatasetComparison, PairUnits
    from paragone.stats.result import Comparison
    from paragone.stats.samples import SampleComparison
    from paragone.stats.verdicts import Verdict

MOST_LINES = 60
"""More lines with intervals than these are not read any more."""
MOST_FLOWING = 40
"""Datasets whose ranks are still read one by one."""
BINS = 70
"""Squares along the base of the posterior's triangle."""
CORNERS = np.array([[0.0, 0.0], [0.5, math.sqrt(3) / 2], [1.0, 0.0]])
"""Where the posterior lies entirely on a is better, equal, b is better."""
ROW, BAR, TOP = 18, 9, 14
"""Heights in the rank diagram: of a label, of a bar over methods, and from the axis to the first bar."""


def pair_cells(comparison: DatasetComparison) -> list[Row]:
    """Return how the method of a row does against that of a column, in a few lines of text, for every two."""
    table = comparison.scores
    scored = UnitScores(table.methods, table.datasets, table.values, table.higher_is_better)
    tested = {frozenset((pair.method, pair.rival)): pair for pair in comparison.pairs}
    cells = []
    for i, j in permutations(range(len(table.methods)), 2):
        method, rival = table.methods[i], table.methods[j]
        difference = scored.differences([(i, j)], comparison.settings)[:, 0]
        both = ~np.isnan(table.values[:, [i, j]]).any(axis=1)
        mean = float(settled_mean(difference[both])) if both.any() else 0.0
        counts = [str(int(np.sum(np.sign(difference) == sign))) for sign in (1, 0, -1)]
        texts = [format_signed(mean, table.decimals), "/".join(counts)]
        pair = tested.get(frozenset((method, rival)))
        if pair is not None:
            texts.append(f"p {format_p(pair.p)}")
        cells.append(
            {
                "row": method,
                "column": rival,
                "difference": mean,
                "text": "\n".join(texts),
                "significant": pair is not None and pair.word in ("better", "worse"),
            }
        )
    return cells


def cliques_of(comparison: DatasetComparison) -> Cliques:
    """Return the bars over methods that do not differ, or the reason against them."""
    names, family = comparison.scores.methods, comparison.family
    alpha = comparison.settings.alpha
    p = np.ones((len(names), len(names)))
    for (i, j), pair in zip(family.pairs, comparison.pairs, strict=True):
        p[i, j] = p[j, i] = pair.p
    ranks = np.array(comparison.friedman.average_ranks)
    if family.reference is None:
        return rank_cliques(ranks, p, names, alpha)
    # With a reference there is one bar, over all methods like it, if nothing under it differs.
    alike = p[family.reference] > alpha
    alike[family.reference] = True
    low, high = ranks[alike].min(), ranks[alike].max()
    inside = np.flatnonzero((low <= ranks) & (ranks <= high))
    strangers = inside[~alike[inside]]
    if strangers.size:
        who, reference = names[strangers[0]], names[family.reference]
        return Cliques((), f"{who} differs from {reference} but ranks among those that do not")
    ordered = tuple(inside[np.argsort(ranks[inside], kind="stable")].tolist())
    return Cliques((ordered,) if len(ordered) > 1 else (), None)


def rank_diagram(
    ranks: Sequence[float], names: Sequence[str], n_bars: int
) -> tuple[list[Path], dict[str, list[Row]], float]:
    """Return the line to every label, the labels of each side, and the height of a rank diagram.

    Every label has a row of its own, so that none can overlap.
    """
    k = len(names)
    n_left = (k + 1) // 2
    first_row = TOP + BAR * n_bars
    elbows: list[Path] = []
    sides: dict[str, list[Row]] = {"right": [], "left": []}
    for place, i in enumerate(sorted(range(k), key=lambda i: (ranks[i], names[i]))):
        on_left = place < n_left
        edge = 1.0 if on_left else float(k)
        y = first_row + ROW * ((place if on_left else k - 1 - place) + 0.5)
        elbows.append([(ranks[i], 0.0), (ranks[i], y), (edge, y)])
        parts = [names[i], f"{ranks[i]:.2f}"]
        text = "  ".join(parts if on_left else parts[::-1])
        # A text left of the axis is aligned to its right end.
        sides["right" if on_left else "left"].append({"x": edge, "y": y, "text": text})
    return elbows, sides, first_row + ROW * n_left + 6


def interval_row(label: str, scope: str, pair: Verdict) -> Row:
    """Return one line of a chart of intervals."""
    difference = pair.difference
    ends = {"low": difference.low, "high": difference.high}
    return {
        "label": label,
        "scope": scope,
        "difference": difference.estimate,
        "verdict": pair.word,
        **{end: None if math.isnan(value) else value for end, value in ends.items()},
    }


def leader_rows(comparison: Comparison) -> list[Row]:
    """Return the leader's difference from every rival, in both scopes where both are known."""
    found = comparison.findings
    told: dict[str, list[Row]] = {name: [] for name in found.means}
    for scope in SCOPES:
        for pair in found.scopes.get(scope, ()):
            if scope == found.shown or not math.isnan(pair.p_raw):
                told[pair.rival].append(interval_row(pair.rival, f"on {scope}", pair))
    return [row for rows in told.values() for row in rows]


def sample_rows(comparison: SampleComparison) -> list[Row]:
    """Return every difference on samples; of more than are read, the surest."""
    both = list(zip(comparison.measurements, comparison.pairs, strict=True))
    several = len({(place.dataset, place.metric, place.at) for place, _ in both}) > 1
    if len(both) > MOST_LINES:
        both = sorted(both, key=lambda line: line[1].p)[:MOST_LINES]
    rows = []
    for place, pair in both:
        label = pair.rival if comparison.reference else f"{pair.method} against {pair.rival}"
        if several:
            at = f" at {place.at:g}" if np.isfinite(place.at) else ""
            label = f"{label}, {metric_title(place.metric)}{at}"
        rows.append(interval_row(label, comparison.units, pair))
    return rows


def outcome_rows(comparison: DatasetComparison) -> list[Row]:
    """Return how many datasets the leader wins, ties and loses against every rival, one after the other."""
    rows: list[Row] = []
    for pair in comparison.leading_pairs:
        start = 0
        outcomes = {"wins": pair.won, "ties": pair.tied, "losses": pair.lost}
        for outcome, names in outcomes.items():
            end = start + len(names)
            rows.append({"rival": pair.rival, "outcome": outcome, "from": start, "to": end})
            start = end
    return rows


def behind_the_best(comparison: DatasetComparison) -> FloatArray:
    """Return by how much every method is behind the best of each dataset, datasets down; a failure by infinity."""
    oriented = comparison.scores.values * (1 if comparison.scores.higher_is_better else -1)
    best = np.max(np.where(np.isnan(oriented), -np.inf, oriented), axis=1, keepdims=True)
    return np.where(np.isnan(oriented), np.inf, best - oriented)


def profile_rows(comparison: DatasetComparison) -> list[Row]:
    """Return on what share of the datasets every method is within each distance of the best."""
    behind = behind_the_best(comparison)
    end = float(behind[np.isfinite(behind)].max(initial=0.0)) or 1.0
    rows = []
    for name in comparison.rank_table["method"]:
        own = behind[:, comparison.scores.methods.index(name)]
        steps = np.unique(np.append(own[np.isfinite(own)], [0.0, end]))
        shares = (own <= steps[:, None]).mean(axis=1)
        rows += [
            {"method": name, "within": within, "share": share}
            for within, share in zip(steps.tolist(), shares.tolist(), strict=True)
        ]
    return rows


def rank_rows(comparison: DatasetComparison, places: Sequence[int]) -> list[Row]:
    """Return the rank of every method on the datasets at some places."""
    table, ranks = comparison.scores, comparison.ranks
    return [
        {"dataset": table.datasets[place], "method": method, "rank": float(ranks[place, column])}
        for place in places
        for column, method in enumerate(table.methods)
    ]


def most_telling(ranks: FloatArray) -> list[int]:
    """Return the places of the datasets whose ranks are shown, those that depart most from the mean."""
    away = np.abs(ranks - ranks.mean(axis=0)).sum(axis=1)
    places: list[int] = np.sort(np.argsort(-away, kind="stable")[:MOST_FLOWING]).tolist()
    return places


def unit_rows(result: PairUnits) -> list[Row]:
    """Return both scores of every unit, their difference, and whom it favours."""
    frame = result.frame
    group = frame["winner"].map(lambda name: "tie" if name == "tie" else f"{name} better")
    group = group.mask(frame["double_fail"], "double fail")
    columns = result.keys, result.theirs, result.mine, frame["difference"], group
    return [
        {"key": key, "a": float(a), "b": float(b), "difference": float(d), "group": name}
        for key, a, b, d, name in zip(*columns, strict=True)
    ]


def triangle_rows(sample: FloatArray) -> list[Row]:
    """Count the draws of a posterior in small squares, so that the file stays small."""
    cells = np.floor(sample @ CORNERS * BINS).astype(np.int64)
    cells, counts = np.unique(cells, axis=0, return_counts=True)
    return [
        {"x": (i + 0.5) / BINS, "y": (j + 0.5) / BINS, "count": count}
        for (i, j), count in zip(cells.tolist(), counts.tolist(), strict=True)
    ]


def histogram_rows(shares: FloatArray) -> list[Row]:
    """Return which share of the draws lies in each sixtieth between 0 and 1."""
    counts, edges = np.histogram(shares, bins=60, range=(0, 1))
    columns = edges[:-1].tolist(), edges[1:].tolist(), (counts / shares.size).tolist()
    return [
        {"from": low, "to": high, "share": share, "base": 0.0}
        for low, high, share in zip(*columns, strict=True)
    ]
