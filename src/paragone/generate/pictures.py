"""The plane that matters: the two strongest features of a formula, the truth on them, and what methods make of it.

A plane is a slice: the other features stand still. Where they stand is chosen so that the slice
shows something: with three features under a product, a slice through the middle would show nothing
at all.


Pictures of what a duel proved: the plane that matters with both decision surfaces, and learning curves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from math import isfinite
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from paragone.charts import BLUE, LIGHT_GREY, VERMILION, Plot, from_rows, styled
from paragone.data import Dataset
from paragone.generate.concepts import NEGLIGIBLE, active_features
from paragone.generate.duels import DuelResult, shown_seed
from paragone.generate.laboratory import CellResult, FreshRows, Holdout, Laboratory, parted
from paragone.generate.methods import CEILINGS, METRICS, Contender
from paragone.generate.proof import Proof, mean_interval, tuned_fits, tuner_of
from paragone.generate.sampling import GeneratorSpec, TargetKind, Threshold
from paragone.generate.truth import TruthSheet, truth_sheet
from paragone.validation import FloatArray

REACH = 2.5
"""The plane goes from minus to plus so many standard deviations: 98.8 % of a feature's rows."""
STEPS = 50
PLACES = (0.0, 0.7, -0.7)
"""Where the other features may stand: the middle, and about the two quartiles."""
ELSEWHERE = 0.7
"""Where features stand that do not matter. Not at 0: a square of theirs is 0 there alone, and may tie the cut."""
BETTER = 0.03
"""A slice further from the middle is taken for so much more of the smaller class, not for less."""
MOST_MOVED = 4
"""Of the other features, so many are tried at all places: more would be thousands of slices, and change little."""
LEVELS = 10
OUTER = 0.05
"""Numbers are drawn between the quantiles that leave this share of the population on either side."""
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
        The label of every cell, without noise; rows go up. Numbers of classes, and numbers, from 0
        to 1 by ``scale``.
    target : {"binary", "multiclass", "regression"}, default="binary"
        What the formula's value becomes.
    scale : (float, float)
        The target that is drawn as 0, and the one that is drawn as 1.
    """

    across: int
    up: int
    held: Mapping[int, float]
    at: FloatArray
    truth: FloatArray
    target: TargetKind = "binary"
    scale: tuple[float, float] = (0.0, 1.0)

    def drawn(self, values: Any) -> FloatArray:
        """Return values of the target between 0 and 1, as they are drawn."""
        low, high = self.scale
        return np.clip((np.asarray(values, dtype=np.float64) - low) / (high - low), 0, 1)

    @property
    def colours(self) -> str:
        """What the colours mean, in words."""
        low, high = (f"{value:.3g}".replace("-", "−") for value in self.scale)
        if self.target == "regression":
            return f"Blue: {low} and less, orange: {high} and more"
        return f"Blue: class {low}, orange: class {high}" + (
            ", between them the others" * (self.target == "multiclass")
        )

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
        The formula and its target.

    Examples
    --------
    >>> plane = plane_of(GeneratorSpec("mul(X3, mul(X1, X2))"))
    >>> sorted({plane.across, plane.up, *plane.held}), abs(next(iter(plane.held.values())))
    ([1, 2, 3], 0.7)
    """
    expression, n, is_binary = (
        generator.expression,
        generator.n_features,
        generator.target == "binary",
    )
    rule = generator.threshold() if is_binary else generator.resolved()
    active = active_features(expression, rule, n, negligible=NEGLIGIBLE)
    # A formula of one feature is shown beside another one that does nothing.
    chosen = [*active[:2], *(feature for feature in range(n) if feature not in active[:2])][:2]
    across, up = sorted(chosen) if n > 1 else (0, 0)
    others = [feature for feature in active if feature not in (across, up)]
    moved, still = others[:MOST_MOVED], dict.fromkeys(others[MOST_MOVED:], 0.0)
    edges = np.linspace(-REACH, REACH, STEPS + 1)
    at = (edges[1:] + edges[:-1]) / 2
    scale = _scale(generator)
    best: tuple[float, Mapping[int, float], FloatArray] | None = None
    for places in product(PLACES, repeat=len(moved)):
        held = {**dict(zip(moved, places, strict=True)), **still}
        values = np.broadcast_to(
            expression.evaluate(_rows(at, across, up, held, n)), (STEPS * STEPS,)
        )
        if isinstance(rule, Threshold):
            truth = rule.label(values).astype(np.float64)
            shown = min(float(truth.mean()), 1 - float(truth.mean()))
        else:
            found = rule.classes(values) if rule.shares else values
            truth = np.clip((found - scale[0]) / (scale[1] - scale[0]), 0, 1)
            shown = float(truth.std())
        # The most balanced slice, or the one of most change; of nearly equal ones that met first,
        # near the middle.
        if best is None or shown > best[0] + BETTER:
            best = (shown, held, truth.reshape(STEPS, STEPS))
    assert best is not None
    return Plane(across, up, best[1], at, best[2], generator.target, scale)


def _scale(generator: GeneratorSpec) -> tuple[float, float]:
    """Return the values of the target that are drawn as 0 and as 1."""
    if generator.target == "regression":
        values = generator.population_values()
        low, high = np.quantile(values, [OUTER, 1 - OUTER])
        # Where nearly all rows have one value, the others are what is to be seen.
        return (
            (float(low), float(high)) if high > low else (float(values.min()), float(values.max()))
        )
    return 0.0, float(len(generator.resolved().cuts)) if generator.target == "multiclass" else 1.0


def _rows(
    at: FloatArray, across: int, up: int, held: Mapping[int, float], n_features: int
) -> FloatArray:
    rows = np.full((len(at) ** 2, n_features), ELSEWHERE)
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
    """Return how sure each method is of class 1 in every cell of the plane, or what it predicts there, from 0 to 1.

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
        By method; one that failed is left out. Decision values are turned into 0 to 1 by the
        logistic function at their own scale: their sign is kept. Of several classes the mean number
        is shown where there are probabilities, else the likeliest.
    """
    fresh = generator.sample(FRESH, seed=FRESH, name=name)
    cells = np.zeros((STEPS * STEPS, train.n_features))
    cells[:, : generator.n_features] = plane.rows(generator.n_features)
    X = np.vstack(
        [np.asarray(train.X, dtype=np.float64), np.asarray(fresh.X, dtype=np.float64), cells]
    )
    truth = plane.truth.ravel() * (plane.scale[1] - plane.scale[0]) + plane.scale[0]
    y = np.concatenate([train.y, fresh.y, truth.astype(np.asarray(train.y).dtype)])
    whole = Dataset(name, X, y, train.task, feature_names=train.feature_names)
    marked = parted(whole, np.arange(train.n_samples))
    if plane.target != "binary":
        protocol = FreshRows(metric="r2" if plane.target == "regression" else "auroc")
        found = laboratory.run(f"plane of {name}", [marked], methods, protocol)
        done = {method: found[name, method] for method in methods if (name, method) in found}
        return {method: _predicted(plane, result) for method, result in done.items()}
    found = laboratory.run(f"plane of {name}", [marked], methods, Holdout(metrics=("auroc",)))
    shown = {}
    for method in methods:
        result = found.get((name, method))
        if result is not None:
            values = np.asarray(result.arrays["values"], dtype=np.float64)[FRESH:]
            sure = _as_share(values) if result.info["source"] == "decision_function" else values
            shown[method] = np.clip(sure, 0, 1).reshape(STEPS, STEPS)
    return shown


def _predicted(plane: Plane, result: CellResult) -> FloatArray:
    """Return the numbers that a method predicts, or the numbers of the classes, as they are drawn."""
    values = np.asarray(result.arrays["values"], dtype=np.float64)[FRESH:]
    if plane.target == "multiclass":
        is_sure = result.info["source"] == "predict_proba"
        values = (
            values @ np.arange(values.shape[1])
            if is_sure
            else values.argmax(axis=1).astype(np.float64)
        )
    return plane.drawn(values).reshape(STEPS, STEPS)


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


def plane_chart(
    plane: Plane, values: FloatArray, title: str, points: Sequence[tuple[float, float, float]] = ()
) -> Any:
    """Draw one surface of a plane: blue for class 0 or low numbers, orange for the last class or high ones.

    Parameters
    ----------
    plane : Plane
        What is shown.
    values : ndarray of shape (STEPS, STEPS)
        From 0 to 1; the truth, or how sure a method is of class 1, or what it predicts.
    title : str
        Whose surface it is.
    points : sequence of (across, up, label)
        Rows of the dataset, where all that matters lies in the plane; labels from 0 to 1, as they
        are drawn.

    Examples
    --------
    >>> plane = plane_of(GeneratorSpec("mul(X0, X1)"))
    >>> plane_chart(plane, plane.truth, "The truth").to_dict()["title"]["text"]
    ['The truth']
    """
    axes: dict[str, Any] = {"scale": alt.Scale(domain=[-REACH, REACH], nice=False)}
    shades = alt.Scale(domain=[0, 0.5, 1], range=[BLUE, "#FFFFFF", VERMILION], interpolate="rgb")
    colour = alt.Color("sure:Q", scale=shades, legend=None)
    layers = [
        from_rows(runs(values, plane.at))
        .mark_rect(strokeWidth=0)
        .encode(
            x=alt.X(
                "x:Q", title=f"X{plane.across}", axis=alt.Axis(tickCount=5, grid=False), **axes
            ),
            x2="x2:Q",
            y=alt.Y("y:Q", title=f"X{plane.up}", axis=alt.Axis(tickCount=5, grid=False), **axes),
            y2="y2:Q",
            color=colour,
        )
    ]
    if points:
        inside = [point for point in points if max(abs(point[0]), abs(point[1])) < REACH]
        rows: list[dict[str, Any]] = [{"x": a, "y": b, "label": label} for a, b, label in inside]
        inks = alt.Scale(domain=[0, 1], range=["#00375A", "#7A2E00"])
        kind = "label:N" if plane.target == "binary" else "label:Q"
        layers.append(
            from_rows(rows)
            .mark_circle(size=12, opacity=0.75)
            .encode(
                x=alt.X("x:Q", **axes),
                y=alt.Y("y:Q", **axes),
                color=alt.Color(kind, scale=inks, legend=None),
            )
        )
    chart = (
        alt.layer(*layers).resolve_scale(color="independent").properties(width=SIDE, height=SIDE)
    )
    return styled(chart, title, f"{plane.colours}; {plane.told}")


CURVE_SIZES = (0.25, 0.5, 1.0, 2.0)
"""Training rows of a learning curve, in units of the rows of the duel."""
CURVE_SAMPLES = 4
CURVE_TRIALS = 4
CEILING = "best possible"
CURVES_PER_DIRECTION = 1
"""Learning curves are of the best dataset of each direction: each takes as long as a proof."""
SHORT_SEARCH = 2.0
"""A search of fewer minutes is drawn over seconds."""


@dataclass(frozen=True, eq=False)
class Picture:
    """A proven dataset with all that is shown of it.

    Parameters
    ----------
    name : str
        The dataset.
    proof : Proof
        What was proven on it.
    data : Dataset
        The rows that are written and drawn; no race and no proof saw them.
    truth : TruthSheet
        Ceiling and active features.
    plane : Plane
        The two strongest features.
    shown : mapping of str to ndarray
        How sure each method is of class 1 in every cell of the plane, or what it predicts, after
        tuning on these rows.
    curve : DataFrame, optional
        Columns ``method, rows, mean, low, high``.
    """

    name: str
    proof: Proof
    data: Dataset
    truth: TruthSheet
    plane: Plane
    shown: Mapping[str, FloatArray]
    curve: pd.DataFrame | None = None

    @property
    def generator(self) -> GeneratorSpec:
        """The source of rows."""
        return self.proof.claim.generator

    @property
    def ceiling(self) -> float:
        """The score of the best rule."""
        return self.truth.scores[CEILINGS[self.generator.target]].value

    @property
    def metric(self) -> str:
        """What scores are called."""
        return METRICS[self.generator.target]


def pictures(
    result: DuelResult,
    laboratory: Laboratory,
    name: str,
    tell: Callable[[str], None] | None = None,
) -> tuple[Picture, ...]:
    """Make the pictures of every dataset that a duel proved, direction by direction, the surest first.

    Parameters
    ----------
    result : DuelResult
        What was proven.
    laboratory : Laboratory
        Where fits run; the store of the duel.
    name : str
        Datasets are called by it and a number.
    tell : callable, optional
        Called with one sentence per dataset.
    """
    found: list[Picture] = []
    for up, down in result.directions:
        for place, proof in enumerate(result.proven(up, down)):
            called = f"{name}-{len(found) + 1}"
            found.append(
                _picture(result, proof, laboratory, called, with_curve=place < CURVES_PER_DIRECTION)
            )
            if tell is not None:
                tell(f"drawn: {called}, {up} over {down}")
    return tuple(found)


def _picture(
    result: DuelResult, proof: Proof, laboratory: Laboratory, name: str, *, with_curve: bool
) -> Picture:
    plan, generator = result.plan, proof.claim.generator
    data = generator.sample(plan.rows, shown_seed(plan, generator), name=name)
    plane = plane_of(generator)
    tuned = {
        method.name: tuner_of(method, plan.proof(), generator.target) for method in result.methods
    }
    shown = surfaces(f"{name} {generator.identity}", plane, generator, data, tuned, laboratory)
    curve = learning_curves(result, generator, laboratory) if with_curve else None
    return Picture(name, proof, data, truth_sheet(generator), plane, shown, curve)


def learning_curves(
    result: DuelResult, generator: GeneratorSpec, laboratory: Laboratory
) -> pd.DataFrame:
    """Measure both methods at several numbers of training rows, tuned at each with the same small budget.

    Returns
    -------
    DataFrame
        Columns ``method, rows, mean, low, high``: the mean score over samples with its 95 %
        interval. Where a fit failed the point is left out.
    """
    plan = result.plan
    rows: list[tuple[Any, ...]] = []
    for size in sorted({max(40, round(share * plan.rows)) for share in CURVE_SIZES}):
        small = replace(plan.proof(), n_train=size, trials=min(CURVE_TRIALS, plan.trials))
        key = f"curve {size} {generator.identity}"
        fits = tuned_fits(
            generator, result.methods, laboratory, small, plan.seed, range(CURVE_SAMPLES), key=key
        )
        for method in result.methods:
            scores = [
                fits[method.name, i].score for i in range(CURVE_SAMPLES) if (method.name, i) in fits
            ]
            if len(scores) == CURVE_SAMPLES:
                found = mean_interval(_array(scores))
                rows.append((method.name, size, found.estimate, found.low, found.high))
    return pd.DataFrame(rows, columns=["method", "rows", "mean", "low", "high"])


def _array(values: list[float]) -> FloatArray:
    import numpy as np

    return np.array(values, dtype=np.float64)


def curve_chart(picture: Picture, methods: tuple[Contender, Contender]) -> Plot:
    """Return the learning curves of both methods with their intervals and the ceiling."""
    assert picture.curve is not None
    columns = ["rows", "mean", "low", "high"]
    found = {str(name): rows[columns] for name, rows in picture.curve.groupby("method", sort=False)}
    series = {
        one.name: tuple(map(tuple, found[one.name].to_numpy(dtype=float).tolist()))
        for one in methods
        if one.name in found
    }
    sizes = sorted(float(size) for size in picture.curve["rows"].unique())
    # The ceiling is a line among the others, so that every drawing of the chart has it.
    series[CEILING] = tuple((size, *[float(picture.ceiling)] * 3) for size in sizes)
    said = f"Both tuned at every size, mean over {CURVE_SAMPLES} samples; band: 95 % interval"
    axes = ("training rows", f"{picture.metric} on fresh rows")
    return Plot("lines", "Learning curves", *axes, series, said)


def claims_chart(result: DuelResult) -> Any:
    """Draw the lead of every claim that was put to proof with its family-wise interval, and the margin."""
    first, second = result.names
    ends = [
        abs(end) for proof in result.proofs for end in (proof.interval.low, proof.interval.high)
    ]
    # A lead of R2 that few samples do not bound has no limits: it is drawn as wide as all others.
    reach = max([1.0, *(end for end in ends if isfinite(end))])
    rows = [
        {
            "claim": f"claim {place}",
            "winner": proof.claim.up,
            "mean": proof.interval.estimate,
            "low": max(proof.interval.low, -reach),
            "high": min(proof.interval.high, reach),
            "shade": 1.0 if proof.holds else 0.35,
        }
        for place, proof in enumerate(result.proofs, start=1)
        if proof.leads
    ]
    colours = alt.Scale(domain=[first, second], range=[BLUE, VERMILION])
    base = from_rows(rows).encode(
        y=alt.Y("claim:N", sort=None, axis=alt.Axis(title=None)),
        color=alt.Color(
            "winner:N", scale=colours, legend=alt.Legend(title=None, orient="bottom", columns=1)
        ),
        opacity=alt.Opacity("shade:Q", scale=None),
    )
    bars = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", title="lead of the winner, both tuned"), x2="high:Q"
    )
    dots = base.mark_circle(size=60).encode(x="mean:Q")
    rules = [{"at": 0.0}, {"at": result.plan.margin}]
    lines = from_rows(rules).mark_rule(color=LIGHT_GREY, strokeDash=[4, 4]).encode(x="at:Q")
    chart = alt.layer(lines, bars, dots).properties(width=230, height=max(60, 28 * len(rows)))
    said = (
        "Intervals hold for all claims together; pale: not proven; dashed: 0 and"
        f" {result.plan.margin:g}"
    )
    return styled(chart, "What the proof came to", said)


def search_chart(result: DuelResult) -> Plot:
    """Return the best lead that the search had found, in both directions, over its time."""
    last = result.curve[-1][0] if result.curve else 0.0
    unit, factor = ("minutes", 1) if last >= SHORT_SEARCH else ("seconds", 60)
    moments = [(0.0, 0.0, 0.0), *result.curve]
    series = {
        name: tuple((float(factor * one[0]), float(one[place])) for one in moments)
        for place, name in enumerate(result.names, start=1)
    }
    said = (
        "The largest lead of each method over the other so far, without tuning: it proposes, and"
        " proves nothing"
    )
    title = "How the search went"
    return Plot("lines", title, unit, "best lead in screening", series, said, steps=True)
