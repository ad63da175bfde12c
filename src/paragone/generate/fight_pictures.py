"""Pictures of what a fight proved: the plane that matters with both decision surfaces, and learning curves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, Any

from paragone.charts import BLUE, GREY, LIGHT_GREY, VERMILION, from_rows, styled
from paragone.data import Dataset
from paragone.generate.evidence import mean_interval
from paragone.generate.fight import FightResult, shown_seed
from paragone.generate.laboratory import Laboratory
from paragone.generate.methods import Contender
from paragone.generate.planes import Plane, plane_of, surfaces
from paragone.generate.proof import Proof, tuned_fits, tuner_of
from paragone.generate.sampling import GeneratorSpec
from paragone.generate.targets import CEILINGS, METRICS
from paragone.generate.truth import TruthSheet, truth_sheet
from paragone.validation import FloatArray

if TYPE_CHECKING:
    import pandas as pd

CURVE_SIZES = (0.25, 0.5, 1.0, 2.0)
"""Training rows of a learning curve, in units of the rows of the fight."""
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
    result: FightResult,
    laboratory: Laboratory,
    name: str,
    tell: Callable[[str], None] | None = None,
) -> tuple[Picture, ...]:
    """Make the pictures of every dataset that a fight proved, direction by direction, the surest first.

    Parameters
    ----------
    result : FightResult
        What was proven.
    laboratory : Laboratory
        Where fits run; the store of the fight.
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
    result: FightResult, proof: Proof, laboratory: Laboratory, name: str, *, with_curve: bool
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
    result: FightResult, generator: GeneratorSpec, laboratory: Laboratory
) -> pd.DataFrame:
    """Measure both methods at several numbers of training rows, tuned at each with the same small budget.

    Returns
    -------
    DataFrame
        Columns ``method, rows, mean, low, high``: the mean score over samples with its 95 %
        interval. Where a fit failed the point is left out.
    """
    import pandas as pd

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


def curve_chart(picture: Picture, methods: tuple[Contender, Contender]) -> Any:
    """Draw the learning curves of both methods with their intervals and the ceiling."""
    import altair as alt

    assert picture.curve is not None
    rows: list[dict[str, Any]] = [
        {
            "method": str(row["method"]),
            "rows": int(row["rows"]),
            "auroc": row["mean"],
            "low": row["low"],
            "high": row["high"],
        }
        for row in picture.curve.to_dict("records")
    ]
    sizes = sorted({int(row["rows"]) for row in rows})
    # The ceiling is a line among the others, so that every drawing of the chart has it.
    rows += [
        {
            "method": CEILING,
            "rows": size,
            "auroc": picture.ceiling,
            "low": picture.ceiling,
            "high": picture.ceiling,
        }
        for size in sizes
    ]
    names = [method.name for method in methods]
    colours = alt.Scale(domain=[*names, CEILING], range=[BLUE, VERMILION, GREY])
    x = alt.X("rows:Q", title="training rows")
    colour = alt.Color(
        "method:N", scale=colours, sort=None, legend=alt.Legend(title=None, orient="bottom")
    )
    base = from_rows(rows)
    axis = f"{picture.metric} on fresh rows"
    y = alt.Y("auroc:Q", title=axis, scale=alt.Scale(zero=False))
    lines = base.mark_line(point=True, strokeWidth=2).encode(x=x, y=y, color=colour)
    low = alt.Y("low:Q", title=axis)
    bands = base.mark_area(opacity=0.15).encode(x=x, y=low, y2="high:Q", color=colour)
    chart = alt.layer(bands, lines).properties(width=330, height=250)
    said = f"Both tuned at every size, mean over {CURVE_SAMPLES} samples; band: 95 % interval"
    return styled(chart, "Learning curves", said)


def claims_chart(result: FightResult) -> Any:
    """Draw the lead of every claim that was put to proof with its family-wise interval, and the margin."""
    import altair as alt

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


def search_chart(result: FightResult) -> Any:
    """Draw the best lead that the search had found, in both directions, over its time."""
    import altair as alt

    names = list(result.names)
    last = result.curve[-1][0] if result.curve else 0.0
    unit, factor = ("minutes", 1) if last >= SHORT_SEARCH else ("seconds", 60)
    rows = [
        {unit: factor * minutes, "lead": lead, "winner": name}
        for minutes, *leads in [(0.0, 0.0, 0.0), *result.curve]
        for lead, name in zip(leads, names, strict=True)
    ]
    colour = alt.Color(
        "winner:N",
        scale=alt.Scale(domain=names, range=[BLUE, VERMILION]),
        legend=alt.Legend(title=None, orient="bottom"),
    )
    lines = (
        from_rows(rows)
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            x=alt.X(f"{unit}:Q", title=unit),
            y=alt.Y("lead:Q", title="best lead in screening"),
            color=colour,
        )
    )
    chart = alt.layer(lines).properties(width=330, height=220)
    said = (
        "The largest lead of each method over the other so far, without tuning: it proposes, and"
        " proves nothing"
    )
    return styled(chart, "How the search went", said)
