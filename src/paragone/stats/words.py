"""Every choice behind a comparison, in words, to be printed under its table."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from paragone.stats.family import Family, Pair, Settings
from paragone.stats.pairs import wants_bayes
from paragone.stats.scores import ScoreTable

_ZEROS = {
    "wilcox": "zero differences dropped",
    "pratt": "zero differences ranked, then dropped (Pratt)",
    "split": "zero differences ranked and split",
}
_MISSING = {
    "complete": "only blocks (dataset and fold) that every method has",
    "worst": "a missing score counts as just below the worst of its block",
    "refuse": "a missing score is refused",
}


def describe(table: ScoreTable, family: Family, pairs: tuple[Pair, ...], settings: Settings) -> Mapping[str, str]:
    """Return what was chosen, one line a choice.

    Parameters
    ----------
    table : ScoreTable
        The scores.
    family : Family
        The tests made together.
    pairs : tuple of Pair
        Their results.
    settings : Settings
        The options.

    Returns
    -------
    mapping of str to str
        Read-only, in the order of printing.
    """
    direction = "higher is better" if table.higher_is_better else "lower is better"
    point = f", {table.point}" if table.point else ""
    lines = {
        "metric": f"{table.metric or 'not named'} ({direction}){point}",
        "blocks": f"{len(table.datasets)} datasets; {_folds(table)}",
        "missing": _MISSING[settings.missing] + (f"; {len(table.dropped)} left out" if table.dropped else ""),
        "test": _test(table, family, pairs, settings),
        "correction": _correction(family),
        "level": f"alpha = {settings.alpha:g}, for the whole family",
        "ties": f"scores within {settings.tolerance:g} (relative) are equal",
        "intervals": _intervals(table, settings),
        "bayes": _bayes(family, settings),
        "per dataset": _per_dataset(table, settings),
        "robustness": "every decision taken again, correction included, without each dataset in turn",
        "power": f"Noether's formula at alpha/{len(family.pairs)}, the observed effect taken as the true one",
        "seed": str(settings.seed),
    }
    return MappingProxyType(lines)


def _folds(table: ScoreTable) -> str:
    counts = sorted({len(folds) for folds in table.folds})
    if counts == [1]:
        return "one score each"
    span = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"each the mean of its {span} folds"


def _test(table: ScoreTable, family: Family, pairs: tuple[Pair, ...], settings: Settings) -> str:
    if family.on_ranks:
        return f"average ranks, normal deviates, two-sided, n = {len(table.datasets)}"
    exact = {pair.test.exact for pair in pairs}
    how = "exact" if exact == {True} else "normal approximation" if exact == {False} else "exact where n <= 50"
    return f"Wilcoxon signed-rank, two-sided, {how}, {_ZEROS[settings.zeros]}, n = {len(table.datasets)}"


def _correction(family: Family) -> str:
    who = "all pairs" if family.reference is None else "the reference against each"
    return f"{family.title} over a family of {len(family.pairs)} ({who})"


def _intervals(table: ScoreTable, settings: Settings) -> str:
    if len(table.datasets) < 2:
        return "no interval: one dataset says nothing of its spread"
    return (
        f"{settings.level:.0%} paired bootstrap over datasets: mean BCa ({settings.n_resamples} resamples), "
        "median percentile (exact)"
    )


def _bayes(family: Family, settings: Settings) -> str:
    if not wants_bayes(family, settings):
        return f"left out for {len(family.pairs)} pairs; bayes=True (--bayes) computes it"
    return f"signed-rank, ROPE {settings.rope:g}, prior weight 0.5 at zero, {settings.n_samples} draws"


def _per_dataset(table: ScoreTable, settings: Settings) -> str:
    if max(len(folds) for folds in table.folds) < 2:
        return "no folds, so no test within a dataset"
    given = settings.test_train_ratio
    ratio = "1/(folds - 1), as in one cross-validation" if given is None else f"{given:g}"
    return f"corrected resampled t and Bayesian correlated t on folds, n_test/n_train = {ratio}; p not adjusted"
