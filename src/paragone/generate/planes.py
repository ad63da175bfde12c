"""The plane that matters: the two strongest features of a formula, the truth on them, and what methods make of it.

A plane is a slice: the other features stand still. Where they stand is chosen so that the slice shows something: with
three features under a product, a slice through the middle would show nothing at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np

from paragone.charts import BLUE, VERMILION, from_rows, styled
from paragone.data import Dataset
from paragone.generate.concepts import NEGLIGIBLE, active_features
from paragone.generate.laboratory import Holdout, Laboratory, parted
from paragone.generate.sampling import GeneratorSpec
from paragone.validation import FloatArray

REACH = 2.5
"""The plane goes from minus to plus so many standard deviations: 98.8 % of a feature's rows."""
STEPS = 50
PLACES = (0.0, 0.7, -0.7)
"""Where the other features may stand: the middle, and about the two quartiles."""
BETTER = 0.03
"""A slice further from the middle is taken for so much more of the smaller class, not for less."""
MOST_MOVED = 4
"""Of the other features, so many are tried at all places: more would be thousands of slices, and change little."""
LEVELS = 10
FRESH = 400
"""Rows of the generator that are predicted beside the plane, so that both classes are there to be scored."""


@dataclass(frozen=True, eq=False)
class Plane:
    """A slice of a formula's features.

    Parameters
    ----------
    across, up : int
        The two features.
    held : mapping of int to float
        Where the other active features stand.
    at : ndarray of shape (STEPS,)
        The middles of the cells, the same for both features.
    truth : ndarray of shape (STEPS, STEPS)
        The label of every cell, without noise; rows go up.
    """

    across: int
    up: int
    held: Mapping[int, float]
    at: FloatArray
    truth: FloatArray

    def rows(self, n_features: int) -> FloatArray:
        """Return the cells as rows of features, row by row from below."""
        return _rows(self.at, self.across, self.up, self.held, n_features)

    @property
    def told(self) -> str:
        """Where the other features stand, in words."""
        if not self.held:
            return "the other features do not matter"
        moved = [f"X{i} = {v:g}".replace("-", "−") for i, v in sorted(self.held.items()) if v]
        still = "the other features at 0" if len(moved) < len(self.held) else ""
        return f"a slice with {', '.join(part for part in (*moved, still) if part)}"


def plane_of(generator: GeneratorSpec) -> Plane:
    """Return the plane of the two strongest features, in the slice where the label changes most.

    Parameters
    ----------
    generator : GeneratorSpec
        The formula and its cut; a binary target.

    Examples
    --------
    >>> plane = plane_of(GeneratorSpec("mul(X3, mul(X1, X2))"))
    >>> sorted({plane.across, plane.up, *plane.held}), abs(next(iter(plane.held.values())))
    ([1, 2, 3], 0.7)
    """
    expression, threshold = generator.expression, generator.threshold()
    n = generator.n_features
    active = active_features(expression, threshold, n, negligible=NEGLIGIBLE)
    # A formula of one feature is shown beside another one that does nothing.
    chosen = [*active[:2], *(feature for feature in range(n) if feature not in active[:2])][:2]
    across, up = sorted(chosen) if n > 1 else (0, 0)
    others = [feature for feature in active if feature not in (across, up)]
    moved, still = others[:MOST_MOVED], dict.fromkeys(others[MOST_MOVED:], 0.0)
    edges = np.linspace(-REACH, REACH, STEPS + 1)
    at = (edges[1:] + edges[:-1]) / 2
    best: tuple[float, Mapping[int, float], FloatArray] | None = None
    for places in product(PLACES, repeat=len(moved)):
        held = {**dict(zip(moved, places, strict=True)), **still}
        values = expression.evaluate(_rows(at, across, up, held, n))
        truth = threshold.label(np.broadcast_to(values, (STEPS * STEPS,))).astype(np.float64)
        share = float(truth.mean())
        # The most balanced slice; of nearly equal ones that met first, which is the nearest to the middle.
        if best is None or min(share, 1 - share) > best[0] + BETTER:
            best = (min(share, 1 - share), held, truth.reshape(STEPS, STEPS))
    assert best is not None
    return Plane(across, up, best[1], at, best[2])


def _rows(at: FloatArray, across: int, up: int, held: Mapping[int, float], n_features: int) -> FloatArray:
    rows = np.zeros((len(at) ** 2, n_features))
    rows[:, up] = np.repeat(at, len(at))
    rows[:, across] = np.tile(at, len(at))
    for feature, value in held.items():
        rows[:, feature] = value
    return rows


def surfaces(
    name: str,
    plane: Plane,
    generator: GeneratorSpec,
    train: Dataset,
    methods: Mapping[str, Any],
    laboratory: Laboratory,
) -> dict[str, FloatArray]:
    """Return how sure each method is of class 1 in every cell of the plane, from 0 to 1.

    Parameters
    ----------
    name : str
        What the store calls it.
    plane : Plane
        The cells.
    generator : GeneratorSpec
        What the dataset was drawn of.
    train : Dataset
        What methods are fitted on: the dataset itself.
    methods : mapping
        As an experiment declares them, in the configurations that are to be shown.
    laboratory : Laboratory
        Where the fits run.

    Returns
    -------
    dict
        By method; one that failed is left out. Decision values are turned into 0 to 1 by the logistic function at their
        own scale: their sign is kept.
    """
    fresh = generator.sample(FRESH, seed=FRESH, name=name)
    cells = np.zeros((STEPS * STEPS, train.n_features))
    cells[:, : generator.n_features] = plane.rows(generator.n_features)
    X = np.vstack([np.asarray(train.X, dtype=np.float64), np.asarray(fresh.X, dtype=np.float64), cells])
    y = np.concatenate([train.y, fresh.y, plane.truth.ravel().astype(np.asarray(train.y).dtype)])
    whole = Dataset(name, X, y, "classification", feature_names=train.feature_names)
    marked = parted(whole, np.arange(train.n_samples))
    found = laboratory.run(f"plane of {name}", [marked], methods, Holdout(metrics=("auroc",)))
    shown = {}
    for method in methods:
        result = found.get((name, method))
        if result is not None:
            values = np.asarray(result.arrays["values"], dtype=np.float64)[FRESH:]
            sure = _as_share(values) if result.info["source"] == "decision_function" else values
            shown[method] = np.clip(sure, 0, 1).reshape(STEPS, STEPS)
    return shown


def _as_share(values: FloatArray) -> FloatArray:
    scale = float(np.median(np.abs(values))) or 1.0
    return np.asarray(1 / (1 + np.exp(-np.clip(values / scale, -30, 30))))


def runs(values: FloatArray, at: FloatArray) -> list[dict[str, float]]:
    """Return a surface as few rectangles: neighbours of one level in a row of cells are one.

    Examples
    --------
    >>> at = np.array([-1.0, 0.0, 1.0])
    >>> len(runs(np.array([[0.0, 0.0, 1.0], [1.0, 1.0, 1.0], [0.0, 1.0, 0.0]]), at))
    6
    """
    half = float(at[1] - at[0]) / 2
    levels = np.minimum((values * LEVELS).astype(int), LEVELS - 1)
    found: list[dict[str, float]] = []
    for row, y in zip(levels, at, strict=True):
        begins = [0, *(np.flatnonzero(np.diff(row)) + 1).tolist(), len(row)]
        for begin, end in pairwise(begins):
            found.append(
                {
                    "x": round(float(at[begin]) - half, 4),
                    "x2": round(float(at[end - 1]) + half, 4),
                    "y": round(float(y) - half, 4),
                    "y2": round(float(y) + half, 4),
                    "sure": (int(row[begin]) + 0.5) / LEVELS,
                }
            )
    return found


SIDE = 250


def plane_chart(plane: Plane, values: FloatArray, title: str, points: Sequence[tuple[float, float, int]] = ()) -> Any:
    """Draw one surface of a plane: blue for class 0, red for class 1, white in between.

    Parameters
    ----------
    plane : Plane
        What is shown.
    values : ndarray of shape (STEPS, STEPS)
        From 0 to 1; the truth, or how sure a method is of class 1.
    title : str
        Whose surface it is.
    points : sequence of (across, up, label)
        Rows of the dataset, where all that matters lies in the plane.

    Examples
    --------
    >>> plane = plane_of(GeneratorSpec("mul(X0, X1)"))
    >>> plane_chart(plane, plane.truth, "The truth").to_dict()["title"]["text"]
    ['The truth']
    """
    import altair as alt

    axes: dict[str, Any] = {"scale": alt.Scale(domain=[-REACH, REACH], nice=False)}
    shades = alt.Scale(domain=[0, 0.5, 1], range=[BLUE, "#FFFFFF", VERMILION], interpolate="rgb")
    colour = alt.Color("sure:Q", scale=shades, legend=None)
    layers = [
        from_rows(runs(values, plane.at))
        .mark_rect(strokeWidth=0)
        .encode(
            x=alt.X("x:Q", title=f"X{plane.across}", axis=alt.Axis(tickCount=5, grid=False), **axes),
            x2="x2:Q",
            y=alt.Y("y:Q", title=f"X{plane.up}", axis=alt.Axis(tickCount=5, grid=False), **axes),
            y2="y2:Q",
            color=colour,
        )
    ]
    if points:
        rows = [{"x": a, "y": b, "label": int(label)} for a, b, label in points if max(abs(a), abs(b)) < REACH]
        inks = alt.Scale(domain=[0, 1], range=["#00375A", "#7A2E00"])
        layers.append(
            from_rows(rows)
            .mark_circle(size=12, opacity=0.75)
            .encode(
                x=alt.X("x:Q", **axes),
                y=alt.Y("y:Q", **axes),
                color=alt.Color("label:N", scale=inks, legend=None),
            )
        )
    chart = alt.layer(*layers).resolve_scale(color="independent").properties(width=SIDE, height=SIDE)
    return styled(chart, title, f"Blue: class 0, red: class 1; {plane.told}")
