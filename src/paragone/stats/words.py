"""The verdict over datasets in words, one line per rival with the evidence in brackets, and every choice behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from paragone.stats.designs import designs_in_words
from paragone.stats.family import ComparisonSettings, Family, wants_bayes
from paragone.stats.pairs import Pair
from paragone.stats.registries import Test
from paragone.stats.scores import ScoreTable, listed
from paragone.tables import format_interval, format_p, p_is

_MISSING = {
    "complete": "only blocks (dataset and fold) that every method has",
    "worst": "a missing score counts as just below the worst of its block",
    "refuse": "a missing score is refused",
}


def direction_in_words(higher_is_better: bool) -> str:
    """Say which way is better."""
    return "higher is better" if higher_is_better else "lower is better"


def dataset_choices(
    table: ScoreTable, family: Family, test: Test, pairs: Sequence[Pair], settings: ComparisonSettings
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
    point = f", {table.point}" if table.point else ""
    who = "all pairs" if family.reference is None else "the reference against each"
    how = "average ranks, normal deviates, two-sided"
    if not family.on_ranks:
        how = test.in_words([pair.test for pair in pairs], settings.options)
    lines = {
        "metric": f"{table.metric or 'not named'} ({direction_in_words(table.higher_is_better)}){point}",
        "blocks": f"{len(table.datasets)} datasets; {_folds(table)}",
        "missing": _MISSING[settings.missing] + (f"; {len(table.dropped)} left out" if table.dropped else ""),
        "test": f"{how}, n = {len(table.datasets)}",
        "correction": f"{family.title} over a family of {len(family.pairs)} ({who})",
        "level": f"alpha = {settings.alpha:g}, for the whole family",
        "ties": f"scores within {settings.tolerance:g} (relative) are equal",
        "intervals": _intervals(table, settings),
        "bayes": _bayes(family, settings),
        "per dataset": _per_dataset(table),
        "robustness": "every decision taken again, correction included, without each dataset in turn",
        "power": f"Noether's formula at alpha/{len(family.pairs)}, the observed effect taken as the true one"
        if test.power is not None
        else "not worked out for this test",
        "seed": str(settings.seed),
    }
    return MappingProxyType(lines)


def _folds(table: ScoreTable) -> str:
    counts = sorted({len(folds) for folds in table.folds})
    if counts == [1]:
        return "one score each"
    span = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"each the mean of its {span} folds"


def _intervals(table: ScoreTable, settings: ComparisonSettings) -> str:
    if len(table.datasets) < 2:
        return "no interval: one dataset says nothing of its spread"
    return (
        f"{settings.level:.0%} paired bootstrap over datasets: mean BCa ({settings.n_resamples} resamples), "
        "median percentile (exact)"
    )


def _bayes(family: Family, settings: ComparisonSettings) -> str:
    if not wants_bayes(family, settings):
        return f"left out for {len(family.pairs)} pairs; bayes=True (--bayes) computes it"
    return f"signed-rank, ROPE {settings.rope:g}, prior weight 0.5 at zero, {settings.n_samples} draws"


def _per_dataset(table: ScoreTable) -> str:
    if max(len(folds) for folds in table.folds) < 2:
        return "no folds, so no test within a dataset"
    return f"corrected resampled t and Bayesian correlated t, {designs_in_words(table.designs)}; p not adjusted"


def dataset_sentence(pair: Pair, family: Family, test: Test, settings: ComparisonSettings, decimals: int) -> str:
    """Return one line about one pair over datasets: the claim, and its evidence in brackets."""
    return f"{_claim(pair)} ({'; '.join(_evidence(pair, family, test, settings, decimals))})."


def _claim(pair: Pair) -> str:
    if pair.verdict == "practically equal":
        return f"{pair.method} and {pair.rival} are practically equal"
    if pair.verdict == "undecided":
        return f"{pair.method} against {pair.rival} is undecided"
    return f"{pair.method} is {pair.verdict} than {pair.rival}"


def _evidence(pair: Pair, family: Family, test: Test, settings: ComparisonSettings, decimals: int) -> list[str]:
    parts = [
        f"{p_is(pair.p_adjusted)} {family.title}",
        f"mean difference {format_interval(pair.mean.estimate, pair.mean.low, pair.mean.high, decimals)}",
        f"won {len(pair.won)}, tied {len(pair.tied)}, lost {len(pair.lost)}",
    ]
    if pair.posterior is not None:
        posterior = pair.posterior
        shares = f"P(better) {posterior.better:.2f}, P(equal) {posterior.equal:.2f}, P(worse) {posterior.worse:.2f}"
        parts.append(shares)
    if pair.n_used == 0:
        parts.append("every dataset is a tie")
    elif pair.verdict == "undecided":
        parts += _why_undecided(pair, family, test, settings)
    elif pair.verdict in ("better", "worse"):
        parts += _doubts(pair)
    return parts


def _why_undecided(pair: Pair, family: Family, test: Test, settings: ComparisonSettings) -> list[str]:
    if not family.on_ranks and pair.smallest_p_adjusted > settings.alpha:
        differing = "one dataset that differs" if pair.n_used == 1 else f"{pair.n_used} datasets that differ"
        return [
            f"cannot be significant at this size: with {differing} the smallest "
            f"attainable p is {format_p(pair.test.smallest_p)}, {format_p(pair.smallest_p_adjusted)} after correction"
        ]
    if test.power is None:
        return []
    if pair.needed is None:
        return ["no effect to speak of: more than 10 000 datasets like these would be needed"]
    more = max(pair.needed - pair.n, 0)
    tail = f", {more} more" if more else ""
    return [f"about {pair.needed} datasets like these would give 80 % power{tail}"]


def _doubts(pair: Pair) -> list[str]:
    doubts = []
    if pair.mean_difference * (1 if pair.verdict == "better" else -1) < 0:
        doubts.append("the mean difference points the other way: a few large losses outweigh many wins")
    if pair.flipped_by:
        doubts.append(f"not robust: leaving out {listed(pair.flipped_by, 3)} makes it undecided or turns it")
    else:
        doubts.append("holds without any one dataset")
    return doubts
