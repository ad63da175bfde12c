"""The charts of a cross-validation, in one grammar: predictions, residuals, components, heat map, folds, confusion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from paragone.charts import BLUE, GREY, PALETTE, VERMILION, from_rows, styled
from paragone.charts.theme import colour_where
from paragone.metrics.confusion import Confusion
from paragone.protocols.crossval.ledger import Chain
from paragone.protocols.crossval.problem import Problem
from paragone.protocols.crossval.run import CrossvalRun
from paragone.protocols.crossval.scores import best_first, metric_name, score_name
from paragone.protocols.crossval.tables import problem_name
from paragone.ties import loss_order

SIZE = 320
MOST_COLOURS = 10
"""More folds than this share one colour: nobody could tell them apart."""


def _prediction_rows(chain: Chain) -> list[dict[str, Any]]:
    """List validation predictions by fold, and the refit's test predictions where there are any."""
    told_apart = len(chain.folds) <= MOST_COLOURS
    groups = [
        (f"fold {fold.fold}" if told_apart else "out of fold", fold.val) for fold in chain.folds
    ]
    if chain.final is not None:
        groups.append(("test (refit)", chain.final.test))
    return [
        {
            "model": name,
            "sample": int(sample),
            "measured": float(truth),
            "predicted": float(predicted),
            "residual": float(predicted - truth),
        }
        for name, part in groups
        for sample, truth, predicted in zip(part.samples, part.y_true, part.y_pred, strict=True)
    ]


def _colour(rows: Sequence[dict[str, Any]]) -> Any:
    import altair as alt

    names = list(dict.fromkeys(row["model"] for row in rows))
    folds = [name for name in names if not name.startswith("test")]
    colours = [PALETTE[place % (len(PALETTE) - 1)] for place in range(len(folds))]
    colours += ["#000000"] * (len(names) - len(folds))
    return alt.Color(
        "model:N", title="predicted by", sort=names, scale=alt.Scale(domain=names, range=colours)
    )


def predicted_chart(problem: Problem, run: CrossvalRun, variant: str) -> Any:
    """Draw predicted against measured, out of fold in a colour a fold, with the 1:1 line."""
    import altair as alt

    rows = _prediction_rows(problem.chains[variant])
    values = [row[key] for row in rows for key in ("measured", "predicted")]
    low, high = min(values), max(values)
    room = 0.04 * (high - low or 1.0)
    scale = alt.Scale(domain=[low - room, high + room], nice=False, zero=False)
    points = (
        from_rows(rows)
        .mark_point(filled=True, size=38, opacity=0.75)
        .encode(
            x=alt.X("measured:Q", title=f"measured {problem.target}", scale=scale),
            y=alt.Y("predicted:Q", title=f"predicted {problem.target}", scale=scale),
            color=_colour(rows),
            tooltip=[
                alt.Tooltip("sample:Q"),
                alt.Tooltip("model:N"),
                alt.Tooltip("measured:Q"),
                alt.Tooltip("predicted:Q"),
            ],
        )
    )
    ends = [{"measured": v, "predicted": v} for v in (low - room, high + room)]
    line = (
        from_rows(ends)
        .mark_line(color=GREY, strokeDash=[5, 3])
        .encode(x=alt.X("measured:Q"), y=alt.Y("predicted:Q"))
    )
    chart = (line + points).properties(width=SIZE, height=SIZE)
    return styled(
        chart,
        f"{variant} on {problem_name(problem, run)}",
        "out-of-fold and test predictions; dashed: 1:1",
    )


def residual_chart(problem: Problem, run: CrossvalRun, variant: str) -> Any:
    """Draw residuals, prediction minus truth, against the prediction."""
    import altair as alt

    axis = alt.Axis(labelFlush=False, tickCount=7)
    rows = _prediction_rows(problem.chains[variant])
    points = (
        from_rows(rows)
        .mark_point(filled=True, size=38, opacity=0.75)
        .encode(
            x=alt.X(
                "predicted:Q",
                title=f"predicted {problem.target}",
                scale=alt.Scale(zero=False),
                axis=axis,
            ),
            y=alt.Y("residual:Q", title="residual (predicted - measured)"),
            color=_colour(rows),
            tooltip=[
                alt.Tooltip("sample:Q"),
                alt.Tooltip("model:N"),
                alt.Tooltip("measured:Q"),
                alt.Tooltip("residual:Q"),
            ],
        )
    )
    zero = (
        from_rows([{"residual": 0.0}])
        .mark_rule(color=GREY, strokeDash=[5, 3])
        .encode(y=alt.Y("residual:Q"))
    )
    chart = (zero + points).properties(width=SIZE + 100, height=SIZE - 80)
    return styled(
        chart,
        f"Residuals of {variant} on {problem_name(problem, run)}",
        "out-of-fold and test predictions",
    )


def component_variants(run: CrossvalRun) -> dict[str, tuple[str, float]]:
    """Find the variants along a number of components: variant to the rest of its description and the number."""
    found = {}
    for variant, described in run.settings.variants.items():
        for key, value in described.get("varied", {}).items():
            if key.rpartition("__")[2] == "n_components" and isinstance(value, (int, float)):
                rest = [f"{k}={v}" for k, v in described["varied"].items() if k != key]
                steps = [step for step in described.get("steps", ()) if step != "raw"] or ["raw"]
                found[variant] = (", ".join([described["method"], *steps, *rest]), float(value))
    return found


def components_chart(problem: Problem, run: CrossvalRun, metric: str | None = None) -> Any | None:
    """Draw the pooled and the train score against the number of components; None where nothing varies it."""
    import altair as alt

    along = component_variants(run)
    scoring = run.settings.scoring(problem.truth.task, metric)
    cv = score_name("cv_score", scoring.metric, run.settings.naming, holdout=run.settings.holdout)
    train = score_name("train_score", scoring.metric, run.settings.naming)
    rows: list[dict[str, Any]] = []
    for variant, scores in problem.scores(scoring).items():
        if variant in along:
            pipeline, number = along[variant]
            for name, value in (
                (cv, scores.cv_score),
                (train, float(np.nanmean(scores.fold_train))),
            ):
                rows.append(
                    {"pipeline": pipeline, "components": number, "score": name, "value": value}
                )
    if len({row["components"] for row in rows}) < 2:
        return None
    pipelines = list(dict.fromkeys(row["pipeline"] for row in rows))
    colours = [PALETTE[place % len(PALETTE)] for place in range(len(pipelines))]
    legend = alt.Legend(
        symbolType="stroke", symbolStrokeWidth=2, symbolStrokeColor="#333333", symbolSize=500
    )
    axis = alt.Axis(tickMinStep=1, format="d", labelFlush=False)
    base = from_rows(rows).encode(
        x=alt.X("components:Q", title="number of components", axis=axis),
        y=alt.Y("value:Q", title=metric_name(scoring.metric), scale=alt.Scale(zero=False)),
        color=alt.Color(
            "pipeline:N",
            title="preprocessing and model",
            sort=pipelines,
            scale=alt.Scale(domain=pipelines, range=colours),
        ),
        tooltip=[
            alt.Tooltip("pipeline:N"),
            alt.Tooltip("components:Q"),
            alt.Tooltip("score:N"),
            alt.Tooltip("value:Q", format=".4f"),
        ],
    )
    dash = alt.StrokeDash("score:N", title="score", sort=[cv, train], legend=legend)
    lines, points = base.mark_line().encode(strokeDash=dash), base.mark_point(filled=True, size=22)
    chart = (lines + points).properties(width=SIZE + 140, height=SIZE - 60)
    subtitle = f"{cv} pooled out of fold; {train} as the mean over the folds' models"
    return styled(chart, f"{cv} and {train} on {problem_name(problem, run)}", subtitle)


def heat_map(run: CrossvalRun, n: int = 40, metric: str | None = None) -> Any | None:
    """Draw variants against datasets: the pooled score, relative to the best of the dataset; None for one dataset.

    The ``n`` variants that are best on average stand there.
    """
    import altair as alt

    rows: list[dict[str, Any]] = []
    for problem in run.problems:
        scoring = run.settings.scoring(problem.truth.task, metric)
        scores = {
            v: s.cv_score for v, s in problem.scores(scoring).items() if not np.isnan(s.cv_score)
        }
        if not scores:
            continue
        best = max(scores.values()) if scoring.higher_is_better else min(scores.values())
        for variant, value in scores.items():
            behind = abs(value - best) / abs(best) if best else abs(value - best)
            rows.append(
                {
                    "pipeline": variant,
                    "dataset": problem_name(problem, run),
                    "score": value,
                    "behind": behind,
                }
            )
    if len({row["dataset"] for row in rows}) < 2:
        return None
    variants = dict.fromkeys(row["pipeline"] for row in rows)
    means = {
        v: float(np.mean([row["behind"] for row in rows if row["pipeline"] == v])) for v in variants
    }
    kept = [list(means)[place] for place in loss_order(list(means.values()), size=1.0)[:n]]
    shown = [row for row in rows if row["pipeline"] in kept]
    base = from_rows(shown).encode(
        x=alt.X("dataset:N", title=None, axis=alt.Axis(labelAngle=-30)),
        y=alt.Y("pipeline:N", title=None, sort=kept),
    )
    # A variant many times worse than the best must not wash out the others.
    scale = alt.Scale(scheme="viridis", reverse=True, domain=[0, 1], clamp=True)
    tiles = base.mark_rect().encode(
        color=alt.Color(
            "behind:Q", title="behind the best", scale=scale, legend=alt.Legend(format="%")
        ),
        tooltip=[
            alt.Tooltip("pipeline:N"),
            alt.Tooltip("dataset:N"),
            alt.Tooltip("score:Q", format=".4f"),
            alt.Tooltip("behind:Q", format=".1%"),
        ],
    )
    dark = colour_where("datum.behind > 0.5", "white", "black")
    texts = base.mark_text(fontSize=9).encode(text=alt.Text("score:Q", format=".3g"), color=dark)
    subtitle = (
        "pooled out-of-fold score; colour: share behind the dataset's best, from 100 % on the same"
    )
    if len(kept) < len(means):
        subtitle = f"the {len(kept)} of {len(means)} pipelines that are best on average; {subtitle}"
    return styled(
        (tiles + texts).properties(width=alt.Step(86), height=alt.Step(16)),
        "Pipelines on datasets",
        subtitle,
    )


def candlestick_chart(problem: Problem, run: CrossvalRun, metric: str | None = None) -> Any:
    """Draw the spread of every model's folds: quartiles as a box, extremes as a line, for its best chain."""
    import altair as alt

    scoring = run.settings.scoring(problem.truth.task, metric)
    scores = {v: s for v, s in problem.scores(scoring).items() if not np.isnan(s.cv_score)}
    ranked = [found.variant for found in best_first(scores.values())[:12]]
    rows: list[dict[str, Any]] = []
    for variant in ranked:
        folds = scores[variant].fold_val[~np.isnan(scores[variant].fold_val)]
        low, first, middle, third, high = np.percentile(folds, [0, 25, 50, 75, 100]).tolist()
        row = {
            "pipeline": variant,
            "low": low,
            "first": first,
            "middle": middle,
            "third": third,
            "high": high,
        }
        rows.append({**row, "pooled": scores[variant].cv_score})
    base = from_rows(rows).encode(y=alt.Y("pipeline:N", title=None, sort=ranked))
    title = f"{metric_name(scoring.metric)} of the folds"
    axis = alt.X("low:Q", title=title, scale=alt.Scale(zero=False), axis=alt.Axis(labelFlush=False))
    whisker = base.mark_rule(color=GREY).encode(x=axis, x2=alt.X2("high:Q"))
    box = base.mark_bar(size=11, color=BLUE, opacity=0.75).encode(
        x=alt.X("first:Q"), x2=alt.X2("third:Q")
    )
    middle_line = base.mark_tick(color="white", thickness=2, size=11).encode(x=alt.X("middle:Q"))
    pooled = base.mark_point(
        filled=True, shape="diamond", color=VERMILION, size=42, opacity=1
    ).encode(x=alt.X("pooled:Q"))
    chart = (whisker + box + middle_line + pooled).properties(width=SIZE + 100, height=alt.Step(20))
    subtitle = (
        f"the {len(ranked)} best pipelines; line: all folds, box: quartiles, white: median,"
        " diamond: pooled score"
    )
    return styled(chart, f"Folds on {problem_name(problem, run)}", subtitle)


def confusion_chart(problem: Problem, run: CrossvalRun, variant: str) -> Any:
    """Draw the confusion matrix of the out-of-fold predictions: counts, coloured by the share of the true class."""
    import altair as alt

    chain = problem.chains[variant]
    part = chain.validation()
    confusion = Confusion.of(part.y_true, part.y_pred, chain.classes)
    totals = np.maximum(confusion.true, 1)
    rows = [
        {
            "true": str(true),
            "predicted": str(predicted),
            "count": int(confusion.counts[i, j]),
            "share": float(confusion.counts[i, j] / totals[i]),
        }
        for i, true in enumerate(confusion.labels.tolist())
        for j, predicted in enumerate(confusion.labels.tolist())
    ]
    order = [str(label) for label in confusion.labels.tolist()]
    base = from_rows(rows).encode(
        x=alt.X("predicted:N", title="predicted", sort=order, axis=alt.Axis(labelAngle=0)),
        y=alt.Y("true:N", title="true", sort=order),
    )
    scale = alt.Scale(scheme="blues", domain=[0, 1])
    tiles = base.mark_rect().encode(
        color=alt.Color(
            "share:Q", title="of the true class", scale=scale, legend=alt.Legend(format="%")
        )
    )
    dark = colour_where("datum.share > 0.55", "white", "black")
    texts = base.mark_text(fontSize=12).encode(text=alt.Text("count:Q"), color=dark)
    chart = (tiles + texts).properties(width=alt.Step(46), height=alt.Step(46))
    return styled(chart, f"{variant} on {problem_name(problem, run)}", "out-of-fold predictions")
