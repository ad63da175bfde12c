"""The charts of a cross-validation as rows: predictions, residuals, components, heat map, folds, confusion."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from paragone.charts import Plot
from paragone.metrics.confusion import Confusion
from paragone.protocols.crossval.ledger import Chain, Predictions
from paragone.protocols.crossval.problem import Problem
from paragone.protocols.crossval.run import CrossvalRun
from paragone.protocols.crossval.scores import best_first, metric_name
from paragone.ties import loss_order

MOST_COLOURS = 10
"""More folds than this share one colour: nobody could tell them apart."""
FOLDS_SHOWN = 12
REST = "out-of-fold and test predictions"


def _predictions(chain: Chain) -> dict[str, Predictions]:
    """Return the validation predictions by fold, and the refit's test predictions where there are any."""
    parts = {f"fold {fold.fold}": fold.val for fold in chain.folds}
    if len(parts) > MOST_COLOURS:
        parts = {"out of fold": chain.validation()}
    if chain.final is not None:
        parts["test (refit)"] = chain.final.test
    return {name: part for name, part in parts.items() if len(part)}


def predicted_plot(problem: Problem, run: CrossvalRun, variant: str) -> Plot:
    """Return predicted against measured, out of fold in a colour a fold, with the 1:1 line."""
    series = {
        name: tuple(zip(part.y_true.tolist(), part.y_pred.tolist(), strict=True))
        for name, part in _predictions(problem.chains[variant]).items()
    }
    title = f"{variant} on {run.name(problem)}"
    axes = (f"measured {problem.target}", f"predicted {problem.target}")
    return Plot("points", title, *axes, series, f"{REST}; dashed: 1:1", guide="diagonal")


def residual_plot(problem: Problem, run: CrossvalRun, variant: str) -> Plot:
    """Return residuals, prediction minus truth, against the prediction."""
    series = {
        name: tuple(zip(part.y_pred.tolist(), (part.y_pred - part.y_true).tolist(), strict=True))
        for name, part in _predictions(problem.chains[variant]).items()
    }
    title = f"Residuals of {variant} on {run.name(problem)}"
    axes = (f"predicted {problem.target}", "residual (predicted - measured)")
    return Plot("points", title, *axes, series, REST, guide="zero")


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


def components_plot(problem: Problem, run: CrossvalRun) -> Plot | None:
    """Return the pooled and the train score along the number of components; None where nothing varies it."""
    along = component_variants(run)
    cv, train = run.called("cv_score", problem), run.called("train_score", problem)
    series: dict[str, list[tuple[float, float]]] = {}
    for variant, scores in run.scores(problem).items():
        if variant in along:
            pipeline, number = along[variant]
            values = {cv: scores.cv_score, train: float(np.nanmean(scores.fold_train))}
            for name, value in values.items():
                series.setdefault(f"{pipeline}, {name}", []).append((number, value))
    if len({point[0] for points in series.values() for point in points}) < 2:
        return None
    title = f"{cv} and {train} on {run.name(problem)}"
    subtitle = f"{cv} pooled out of fold; {train} as the mean over the folds' models"
    lines = {name: tuple(points) for name, points in series.items()}
    y = metric_name(run.scoring(problem).metric)
    return Plot("lines", title, "number of components", y, lines, subtitle)


def heat_plot(run: CrossvalRun, n: int = 40) -> Plot | None:
    """Return pooled scores of pipelines on datasets, tinted by how far each is behind the best of its dataset.

    The ``n`` pipelines that are best on average stand there; None for one dataset.
    """
    columns: dict[str, dict[str, tuple[float, float]]] = {}
    for problem in run.problems:
        scoring = run.scoring(problem)
        scores = {v: s.cv_score for v, s in run.scores(problem).items()}
        scores = {v: value for v, value in scores.items() if not np.isnan(value)}
        if scores:
            best = max(scores.values()) if scoring.higher_is_better else min(scores.values())
            unit = abs(best) or 1.0
            columns[run.name(problem)] = {
                v: (value, abs(value - best) / unit) for v, value in scores.items()
            }
    if len(columns) < 2:
        return None
    variants = list(dict.fromkeys(v for column in columns.values() for v in column))
    shares = [[c[v][1] for c in columns.values() if v in c] for v in variants]
    kept = [variants[place] for place in loss_order([np.mean(one) for one in shares], size=1.0)[:n]]
    nothing = (float("nan"), float("nan"))
    series = {v: tuple(c.get(v, nothing) for c in columns.values()) for v in kept}
    subtitle = (
        "pooled out-of-fold score; colour: share behind the dataset's best, from 100 % on the same"
    )
    if len(kept) < len(variants):
        which = f"the {len(kept)} of {len(variants)} pipelines that are best on average"
        subtitle = f"{which}; {subtitle}"
    title = "Pipelines on datasets"
    return Plot("matrix", title, "dataset", "pipeline", series, subtitle, tuple(columns))


def fold_plot(problem: Problem, run: CrossvalRun) -> Plot:
    """Return the score of every fold of the best chains: dots, for few values need no box."""
    there = [one for one in run.scores(problem).values() if not np.isnan(one.cv_score)]
    series = {
        one.variant: tuple((float(value),) for value in one.fold_val)
        for one in best_first(there)[:FOLDS_SHOWN]
    }
    title = f"Folds on {run.name(problem)}"
    subtitle = f"the {len(series)} best pipelines; a dot is a fold, the line their mean"
    x = f"{metric_name(run.scoring(problem).metric)} of a fold"
    return Plot("dots", title, x, "", series, subtitle)


def confusion_plot(problem: Problem, run: CrossvalRun, variant: str) -> Plot:
    """Return the confusion matrix of the out-of-fold predictions: counts, tinted by the share of the true class."""
    chain = problem.chains[variant]
    part = chain.validation()
    confusion = Confusion.of(part.y_true, part.y_pred, chain.classes)
    labels = tuple(str(label) for label in confusion.labels.tolist())
    shares = confusion.counts / np.maximum(confusion.true, 1)[:, None]
    series: Mapping[str, tuple[tuple[float, float], ...]] = {
        label: tuple(zip(confusion.counts[at].tolist(), shares[at].tolist(), strict=True))
        for at, label in enumerate(labels)
    }
    title = f"{variant} on {run.name(problem)}"
    return Plot("matrix", title, "predicted", "true", series, "out-of-fold predictions", labels)


def problem_plots(problem: Problem, run: CrossvalRun, variant: str) -> dict[str, Plot]:
    """Return the charts of a problem: folds, components, and what a refitted variant predicts, where there is one."""
    found = {"folds": fold_plot(problem, run)}
    along = components_plot(problem, run)
    if along is not None:
        found["components"] = along
    if variant and problem.truth.task == "regression":
        found["predicted"] = predicted_plot(problem, run, variant)
        found["residuals"] = residual_plot(problem, run, variant)
    elif variant:
        found["confusion"] = confusion_plot(problem, run, variant)
    return found
