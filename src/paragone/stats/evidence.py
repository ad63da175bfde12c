"""What stands behind the words, for those who ask: every choice, and one line per rival with its evidence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from paragone.errors import argument
from paragone.metrics import metric_in_words
from paragone.stats.bayes import draws_in_words
from paragone.stats.designs import designs_in_words
from paragone.stats.family import ComparisonSettings, Family, leader_alone_within, wants_bayes
from paragone.stats.pairs import Pair
from paragone.stats.registries import Test
from paragone.stats.scores import ScoreTable, listed
from paragone.stats.verdicts import Scope, Verdict
from paragone.stats.words import claim_of, counted, direction_in_words
from paragone.tables import format_interval, format_p, p_is

FEW = 6
"""Fewer datasets than can be significant at 5 %: the Bayesian bootstrap of so few differences is overconfident."""
_MISSING = {
    "complete": "only blocks (dataset and fold) that every method has",
    "worst": (
        "a missing score is a loss to any score, the largest in ranks; means and intervals leave"
        " it out"
    ),
    "refuse": "a missing score is refused",
}


def dataset_choices(
    table: ScoreTable,
    family: Family,
    test: Test,
    pairs: Sequence[Pair],
    settings: ComparisonSettings,
) -> Mapping[str, str]:
    """Return what was chosen for a comparison over datasets, one line per choice.

    Parameters
    ----------
    table : ScoreTable
        The scores.
    family : Family
        The tests made together.
    test : Test
        How differences were tested.
    pairs : sequence of Pair
        Their results.
    settings : ComparisonSettings
        The options.

    Returns
    -------
    mapping of str to str
        Read-only, in the order of printing.
    """
    n = len(table.datasets)
    point = f", {table.point}" if table.point else ""
    who = "all pairs" if family.reference is None else "the reference against each"
    how = "average ranks, normal deviates, two-sided"
    if not family.on_ranks or n == 1:
        how = "nothing can be tested"
        if pairs:
            how = test.in_words([pair.test for pair in pairs], settings.options)
    lines = {
        "metric": (
            f"{metric_in_words(table.metric) if table.metric else 'not named'} "
            f"({direction_in_words(table.higher_is_better)}){point}"
        ),
        "blocks": f"{counted(n, 'dataset')}; {_folds(table)}",
        "missing": (
            _MISSING[settings.missing]
            + (f"; {len(table.dropped)} left out" if table.dropped else "")
        ),
        "test": f"{how}, n = {pairs[0].n if pairs else n}",
        "correction": _correction(family, who, alone=n == 1),
        "level": f"alpha = {settings.alpha:g}, {family.correction.controls} of the whole family",
        "margin": _margin(family, settings),
        "ties": f"scores within {settings.tolerance:g} (relative) are equal",
        "intervals": _intervals(table, family, test, settings),
        "bayes": _bayes(family, settings, len(table.datasets)),
        "per dataset": _per_dataset(table, family),
        "robustness": (
            "every decision taken again, correction included, without each dataset in turn"
        ),
        "power": (
            f"Noether's formula, 80 % at alpha / {len(family.pairs)}, the observed effect taken as"
            " the true one"
            if test.power is not None
            else "not worked out for this test"
        ),
        "seed": str(settings.seed),
    }
    return MappingProxyType(lines)


def _correction(family: Family, who: str, *, alone: bool) -> str:
    """Return how p-values are adjusted; on one dataset the leader's are those of comparisons with the best."""
    every = f"{family.title} over a family of {len(family.pairs)} ({who})"
    if not alone or not family.with_best or len(family.pairs) == 1:
        return every
    return (
        f"comparisons with the best: the leader's pairs by Bonferroni over {family.n_of_leader};"
        f" the others {every}"
    )


def _margin(family: Family, settings: ComparisonSettings) -> str:
    if settings.margin <= 0:
        return "none was stated, so nothing can be shown to be equivalent"
    if family.on_ranks:
        return f"{settings.margin:g}, but a test of average ranks cannot show an equivalence"
    return f"{settings.margin:g}, two one-sided tests, Holm over the family"


def _folds(table: ScoreTable) -> str:
    counts = sorted({len(folds) for folds in table.folds})
    if counts == [1]:
        return "one score each"
    span = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"each the mean of its {span} folds"


def _intervals(table: ScoreTable, family: Family, test: Test, settings: ComparisonSettings) -> str:
    if family.on_ranks:
        return "none: a test of average ranks gives no interval of a difference"
    if 1 < len(table.datasets) < 3:
        return f"none: of {counted(len(table.datasets), 'dataset')} the spread is not known"
    return test.intervals(f"{1 - settings.alpha:.0%} for the whole family together")


def _bayes(family: Family, settings: ComparisonSettings, n: int) -> str:
    if not wants_bayes(family, settings):
        n = len(family.pairs)
        return f"left out for {n} pair{'s' * (n > 1)}; {argument('bayes', True)} computes it"
    margin = f"margin {settings.margin:g}, " if settings.margin > 0 else ""
    if n == 1:
        return f"correlated t, {margin}decides no word"
    few = ", and overconfident of so few datasets" if n < FEW else ""
    draws = draws_in_words(n, settings.n_samples, len(family.pairs))
    return f"signed-rank, {margin}prior weight 0.5 at zero, {draws}; decides no word{few}"


def _per_dataset(table: ScoreTable, family: Family) -> str:
    if max(len(folds) for folds in table.folds) < 2:
        return "no folds, so no test within a dataset"
    if not any(table.designs):
        return "how the splits came about is not known, so no test within a dataset"
    alone = leader_alone_within(family, len(table.datasets))
    which = (
        "; of the leader against each other method only, for all pairs would be too many"
        if alone
        else ""
    )
    where = f"{designs_in_words(table.designs)}; p not adjusted{which}"
    if any(one is not None for one in table.moments):
        return f"rows and folds together, on {where}"
    apart = any(one is not None and one.ratio == 0 for one in table.designs)
    told = "; with the predictions, intervals would be about half as wide" if not apart else ""
    return f"corrected t on {where}{told}"


@dataclass(frozen=True)
class Told:
    """What the lines of a comparison need to know beside their verdicts.

    Attributes
    ----------
    settings : ComparisonSettings
        Level and margin.
    corrections, estimates : mapping of str to str
        By scope, what p is adjusted by, and what a difference is.
    decimals : int
        Of differences.
    higher_is_better : bool
        The metric's direction.
    logarithms : bool
        Whether differences are log-ratios.
    on_ranks : bool
        Whether average ranks are tested, of which nothing else is known.
    powered : bool
        Whether the test tells how many units it would take.
    deciding : mapping of str to sequence of str
        By rival, what would decide it on this data, in words.
    """

    settings: ComparisonSettings
    corrections: Mapping[Scope, str]
    estimates: Mapping[Scope, str]
    decimals: int
    higher_is_better: bool
    logarithms: bool = False
    on_ranks: bool = False
    powered: bool = True
    deciding: Mapping[str, Sequence[str]] = field(default_factory=dict)


def rival_line(pairs: Sequence[Verdict], told: Told) -> str:
    """Return one line about a rival: the claim in every scope that was tested, and its evidence in brackets."""
    return " ".join(
        f"On {pair.scope}, {claim_of(pair, told.settings.margin)} ({'; '.join(_evidence(pair, told))})."
        for pair in pairs
    )


def _evidence(pair: Verdict, told: Told) -> list[str]:
    parts = ["no p at this size"]
    if not math.isnan(pair.p):
        parts = [f"{p_is(pair.p)} {told.corrections[pair.scope]}".rstrip()]
    if pair.within:
        parts.append(f"within the margin, {p_is(pair.p_equal)} Holm")
    parts.append(_difference(pair, told))
    if isinstance(pair, Pair):
        parts += _of_units(pair, told)
    elif pair.word == "undecided":
        parts += told.deciding.get(pair.rival, ())
    if pair.word == "undecided" and not told.on_ranks and math.isfinite(pair.smallest_margin):
        unit = 10.0**-told.decimals
        margin = math.ceil(pair.smallest_margin / unit) * unit
        parts.append(f"the smallest margin that could be shown is {margin:.{told.decimals}f}")
    return parts


def _difference(pair: Verdict, told: Told) -> str:
    what = told.estimates[pair.scope]
    if told.logarithms:
        what = what.replace("difference", "log-ratio")
    favours = "" if told.higher_is_better else f" (positive favours {pair.method})"
    interval = pair.difference
    size = format_interval(interval.estimate, interval.low, interval.high, told.decimals)
    return f"{what} {size}{favours}"


def _of_units(pair: Pair, told: Told) -> list[str]:
    """Return what is known of a pair unit by unit: failures, wins, what would decide it, and what speaks against it."""
    parts = []
    if any(pair.failed):
        both = [
            f"{name} failed on {n}"
            for name, n in zip((pair.method, pair.rival), pair.failed, strict=True)
            if n
        ]
        parts.append(
            f"{' and '.join(both)}, counted as lost; the difference is of the {pair.n_common} that"
            " both have"
        )
    parts.append(f"won {pair.wins}, tied {pair.ties}, lost {pair.losses}")
    if pair.word != "undecided":
        return [*parts, *_doubts(pair)] if pair.word != "equivalent" else parts
    if pair.n_used == 0:
        return [*parts, f"every {pair.unit} is a tie"]
    if not told.on_ranks and pair.smallest_p > told.settings.alpha:
        parts.append(
            "cannot be significant at this size: the smallest attainable p is"
            f" {format_p(pair.smallest_p)}"
        )
    elif pair.unit == "fold":
        parts += told.deciding.get(pair.rival, ())
    elif told.powered:
        parts.append(_needed(pair, pair.needed, "show a difference of this size"))
        if told.settings.margin > 0 and not told.on_ranks:
            what = f"show one of less than {told.settings.margin:g}"
            parts.append(_needed(pair, pair.needed_for_margin, what))
    return parts


def _needed(pair: Pair, needed: int | None, what: str) -> str:
    if needed is None:
        return f"more than 10 000 {pair.unit}s like these would be needed to {what}"
    return f"about {counted(needed, pair.unit)} like these would {what} with 80 % power"


def _doubts(pair: Pair) -> list[str]:
    doubts = []
    if pair.mean_difference * (1 if pair.word == "better" else -1) < 0:
        few, many = ("losses", "wins") if pair.word == "better" else ("wins", "losses")
        doubts.append(
            f"the mean difference points the other way: a few large {few} outweigh many {many}"
        )
    if pair.flipped_by:
        doubts.append(
            f"not robust: leaving out {listed(pair.flipped_by, 3)} makes it undecided or turns it"
        )
    elif pair.unit == "dataset":
        doubts.append("holds without any one dataset")
    return doubts
