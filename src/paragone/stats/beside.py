"""What stands beside a verdict on demand and never decides a word: the hierarchical model, strengths, profiles, 5x2cv.

Each is a function from a comparison's scores to a `Beside`: a table to read and plain values for
JSON. Adding one is a function here and its line in `BESIDE`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from paragone.errors import InputError, argument, unknown_name
from paragone.intervals import Interval
from paragone.metrics import named_metric
from paragone.stats.family import ComparisonSettings
from paragone.stats.hierarchical import Hierarchical, hierarchical_model, moderated_variances
from paragone.stats.pairs import UnitScores
from paragone.stats.profiles import FEWEST, run_profiles
from paragone.stats.registries import tests
from paragone.stats.scopes import dataset_estimates
from paragone.stats.scores import ScoreTable
from paragone.stats.strengths import method_strengths
from paragone.tables import Column, Table, format_interval, format_number, format_p, format_signed


@dataclass(frozen=True)
class Beside:
    """One thing that stands beside a verdict.

    Attributes
    ----------
    name, heading : str
        How it is asked for, and what stands above it.
    table : Table
        To read; its notes say what was assumed.
    values : mapping
        Everything, as plain values.
    """

    name: str
    heading: str
    table: Table
    values: Mapping[str, Any]


@dataclass(frozen=True)
class Leading:
    """What is looked at: the scores, the leader and its rivals in order, and the settings."""

    scores: ScoreTable
    leader: str
    rivals: tuple[str, ...]
    settings: ComparisonSettings


def pair_model(given: Leading, rival: str) -> tuple[Hierarchical, tuple[str, ...]]:
    """Fit the hierarchical model to the leader and a rival; return it and the datasets that it is of.

    A dataset on which one of the two failed, or whose splits are not known, is left out; one whose
    folds show no spread at all takes the mean variance of the others, because no spread in a few
    folds is not none.
    """
    table, settings = given.scores, given.settings
    pair = (table.methods.index(given.leader), table.methods.index(rival))
    kept, means, variances, freedoms = [], [], [], []
    for dataset, folds, design in zip(table.datasets, table.folds, table.designs, strict=True):
        scored = UnitScores(table.methods, (), folds, table.higher_is_better)
        mean, variance, freedom = dataset_estimates(scored.differences([pair], settings), design)
        if np.isfinite(variance[0]):
            kept.append(dataset)
            means.append(float(mean[0]))
            variances.append(float(variance[0]))
            freedoms.append(freedom)
    if len(kept) < 2:
        raise InputError(
            "the hierarchical model needs two or more datasets with folds of known design, three"
            f" splits or more each: {given.leader} and {rival} have {len(kept)}"
        )
    noise = np.array(variances)
    if not (noise > 0).any():
        raise InputError(
            f"the folds of {given.leader} and {rival} show no spread: there is nothing to model"
        )
    noise = np.where(noise > 0, noise, noise[noise > 0].mean())
    metric = named_metric(table.metric)
    fit = hierarchical_model(
        means,
        *moderated_variances(noise, freedoms),
        margin=settings.margin,
        level=1 - settings.alpha,
        # Log-ratios have no bounds, whatever the metric has.
        span=math.inf if table.differences == "log" else metric.highest - metric.lowest,
    )
    return fit, tuple(kept)


def hierarchical_beside(given: Leading) -> Beside:
    """Model the leader and each rival over datasets."""
    margin, decimals = given.settings.margin, given.scores.decimals
    rows, values = [], []
    for rival in given.rivals:
        fit, datasets = pair_model(given, rival)
        chances = fit.next_dataset
        others = {name: one.better for name, one in fit.sensitivity().items()}
        ends = min([fit.better, *others.values()]), max([fit.better, *others.values()])
        mean = format_interval(fit.mean.estimate, fit.mean.low, fit.mean.high, decimals)
        row = [given.leader, rival, mean, format_number(fit.better, 3)]
        row += [format_number(one, 3) for one in (chances.below, chances.inside, chances.above)]
        row += [format_number(fit.between, decimals), f"{ends[0]:.3f} to {ends[1]:.3f}"]
        rows.append(row)
        values.append(
            {
                "method": given.leader,
                "rival": rival,
                "difference": asdict(fit.mean),
                "p_better": fit.better,
                "next_dataset": asdict(chances),
                "between_datasets": fit.between,
                "p_normal": fit.normal,
                "prior": {
                    **asdict(fit.prior),
                    "degrees": [x if math.isfinite(x) else "normal" for x in fit.prior.degrees],
                },
                "p_better_under_other_priors": others,
                "datasets": {
                    name: asdict(one) for name, one in zip(datasets, fit.shrunken, strict=True)
                },
            }
        )
    columns: list[str | Column] = [
        Column("method", "left"),
        Column("rival", "left"),
        "mean difference",
        "P(better)",
    ]
    columns += [
        "next: worse",
        "next: within",
        "next: better",
        "spread between",
        "P(better), other priors",
    ]
    notes = [
        "Next: the chances that the true difference on one more dataset lies below, within and"
        f" above the margin ({margin:g}). Flat priors; Corani et al. (2017)."
    ]
    heading = "Hierarchical model (beside the verdict)"
    return Beside(
        "hierarchical",
        heading,
        Table.of(columns, rows, label="tab:hierarchical", notes=notes),
        {"pairs": values},
    )


def strengths_beside(given: Leading) -> Beside:
    """Say how strong all methods are."""
    table, settings = given.scores, given.settings
    found = method_strengths(
        table.values,
        table.methods,
        higher_is_better=table.higher_is_better,
        alpha=settings.alpha,
        size=settings.size,
        tolerance=settings.tolerance,
        seed=settings.seed,
    )
    columns: list[str | Column] = [
        Column("method", "left"),
        "effect",
        "rank",
        "true rank",
        "may be best",
        "Elo",
    ]
    decimals = table.decimals if found.on == "scores" else 2
    rows = [
        (
            one.method,
            f"{one.effect:+.{decimals}f}",
            f"{one.rank:g}",
            f"{one.rank_low} to {one.rank_high}",
            "yes" if one.may_be_best else "no",
            f"{one.elo.estimate:.0f}"
            + ("" if math.isnan(one.elo.low) else f" [{one.elo.low:.0f}, {one.elo.high:.0f}]"),
        )
        for one in found.methods
    ]
    level = f"{1 - settings.alpha:.0%}"
    notes = [
        f"Effect: mean distance from the mean of a dataset, by {found.on}, positive is better. True"
        f" ranks hold for all methods together ({level}), and so does the set of methods that may"
        " be best; Elo intervals for each alone."
    ]
    heading = "Strengths (beside the verdict)"
    return Beside(
        "strengths",
        heading,
        Table.of(columns, rows, label="tab:strengths", notes=notes),
        asdict(found),
    )


def profiles_beside(given: Leading) -> Beside:
    """Sum up the scores of all splits."""
    table = given.scores
    metric = named_metric(table.metric)
    best = None if table.differences == "log" else metric.best
    # Nothing overlaps between subjects, and nothing between runs that the user names as such.
    independent = all(design is not None and design.ratio == 0 for design in table.designs)
    found = run_profiles(
        table.folds,
        table.methods,
        higher_is_better=table.higher_is_better,
        target=best if best is not None and math.isfinite(best) else None,
        reference=given.leader,
        independent=independent,
        alpha=given.settings.alpha,
        seed=given.settings.seed,
    )
    chance = {one.rival: one for one in found.improvements}
    columns: list[str | Column] = [Column("method", "left"), "interquartile mean", "optimality gap"]
    columns += [f"P({given.leader} beats it)", "on the same split"]
    decimals = table.decimals
    rows = []
    sign = -1 if table.higher_is_better else 1
    for one in sorted(found.methods, key=lambda one: sign * one.interquartile_mean.estimate):
        row = [
            one.method,
            _unsigned(one.interquartile_mean, decimals),
            _unsigned(one.optimality_gap, decimals),
        ]
        against = chance.get(one.method)
        row += (
            ["-", "-"]
            if against is None
            else [_unsigned(against.chance, 3), _unsigned(against.paired, 3)]
        )
        rows.append(row)
    what = "runs" if independent else "splits"
    if not independent:
        named = argument("columns", {"run": "subject"})
        how = (
            "Splits share training rows: there are no intervals. Independent runs have them"
            f" ({named} names runs)."
        )
    elif math.isnan(found.methods[0].interquartile_mean.low):
        how = (
            f"Fewer than {FEWEST} runs beyond the first of each dataset are too few for intervals."
        )
    else:
        how = (
            f"{1 - given.settings.alpha:.0%} intervals, for each figure alone, by the stratified"
            " bootstrap over runs."
        )
    notes = [f"Over all {what}; the gap is to {found.target:g}. {how}"]
    values = {
        "methods": [asdict(one) for one in found.methods],
        "improvements": [asdict(one) for one in found.improvements],
        "thresholds": found.thresholds.tolist(),
        "shares": found.shares.tolist(),
        "target": found.target,
    }
    heading = "Run profiles (beside the verdict)"
    return Beside(
        "profiles", heading, Table.of(columns, rows, label="tab:profiles", notes=notes), values
    )


def _unsigned(interval: Interval, decimals: int) -> str:
    alone, low, high = (
        format_number(one, decimals) for one in (interval.estimate, interval.low, interval.high)
    )
    return alone if math.isnan(interval.low) else f"{alone} [{low}, {high}]"


def five_by_two_beside(given: Leading) -> Beside:
    """Test the leader and each rival on every dataset that was split five times into two folds."""
    table, test = given.scores, tests.get("5x2cv-f")
    pairs = [
        (table.methods.index(given.leader), table.methods.index(rival)) for rival in given.rivals
    ]
    values: list[dict[str, Any]] = []
    fit = [
        place
        for place, one in enumerate(table.designs)
        if one is not None and (one.folds, one.repeats) == (2, 5)
    ]
    if not fit:
        raise InputError(
            "the 5x2cv F test is of five repeats of two folds, which no dataset here has"
        )
    for place in fit:
        scored = UnitScores(table.methods, (), table.folds[place], table.higher_is_better)
        for rival, column in zip(
            given.rivals, scored.differences(pairs, given.settings).T, strict=True
        ):
            there = bool(np.isfinite(column).all())
            p = test.run(column, {"repeats": 5}).p if there else math.nan
            values.append(
                {
                    "dataset": table.datasets[place],
                    "method": given.leader,
                    "rival": rival,
                    "mean_difference": float(column.mean()) if there else math.nan,
                    "p": p,
                }
            )
    names = ("dataset", "method", "rival")
    rows = [
        [
            *(one[name] for name in names),
            format_signed(one["mean_difference"], table.decimals),
            format_p(one["p"]),
        ]
        for one in values
    ]
    columns: list[str | Column] = [
        *(Column(name, "left") for name in names),
        "mean difference",
        "p",
    ]
    notes = [
        "p is raw, for one dataset and pair; in simulations it falls below .05 in up to 14 % of"
        " true nulls."
    ]
    if out := len(table.datasets) - len(fit):
        notes.append(
            f"{out} of {len(table.datasets)} datasets were not split five times into two folds."
        )
    if any(math.isnan(one["p"]) for one in values):
        notes.append("There is no p where a score failed.")
    shown = Table.of(columns, rows, label="tab:five-by-two", notes=notes)
    return Beside("5x2cv-f", "5x2cv F test (beside the verdict)", shown, {"tests": values})


BESIDE: Mapping[str, Callable[[Leading], Beside]] = {
    "hierarchical": hierarchical_beside,
    "strengths": strengths_beside,
    "profiles": profiles_beside,
    "5x2cv-f": five_by_two_beside,
}


def checked_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of what is to stand beside a verdict, each once, if they are known.

    Examples
    --------
    >>> checked_names(["strengths", "strengths"])
    ('strengths',)
    """
    for name in names:
        if name not in BESIDE:
            raise unknown_name("thing beside a verdict", name, BESIDE)
    return tuple(dict.fromkeys(names))
