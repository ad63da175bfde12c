"""Compare many methods over many datasets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from paragone.errors import InputError, unknown_name
from paragone.metrics import asked_name
from paragone.stats.datasets import DatasetComparison
from paragone.stats.designs import Design
from paragone.stats.family import (
    PROCEDURES,
    ComparisonSettings,
    Family,
    better_ranked_first,
    choose_family,
    leader_alone_within,
    wants_bayes,
)
from paragone.stats.pairs import Pair, UnitScores, double_fails, judged, measure_pairs, with_verdict
from paragone.stats.ranks import friedman_of_ranks, method_ranks
from paragone.stats.registries import Correction, Test, TestResult, Unit, find_test
from paragone.stats.robustness import dataset_pairs
from paragone.stats.rows import Pivots
from paragone.stats.scopes import learner_pairs, learners_of
from paragone.stats.scores import Missing, ScoreTable, score_table
from paragone.stats.signed_rank import Zeros
from paragone.stats.standings import order_by_mean
from paragone.stats.stored_rows import StoredRows
from paragone.stats.suspicions import Differences
from paragone.stats.verdicts import Verdict
from paragone.ties import TOLERANCE

COLUMNS = [
    "dataset",
    "method",
    "rival",
    "folds",
    "mean_difference",
    "t",
    "p",
    "p_better",
    "p_equal",
    "p_worse",
]


def per_dataset_tests(
    table: ScoreTable, pairs: Sequence[tuple[int, int]], settings: ComparisonSettings
) -> pd.DataFrame:
    """Test every pair on the splits of every dataset that has two or more, if it is known how they came about.

    Parameters
    ----------
    table : ScoreTable
        Scores with their folds.
    pairs : sequence of (int, int)
        Positions of method and rival.
    settings : ComparisonSettings
        The options.

    Returns
    -------
    DataFrame
        One row per dataset and pair; the p-values are raw, one dataset at a time.

    Examples
    --------
    >>> frame = pd.DataFrame({"dataset": "d", "fold": [0, 1, 2], "A": [3.0, 4, 6], "B": [1.0, 2, 3]})
    >>> table = score_table(frame, higher_is_better=True)
    >>> per_dataset_tests(table, [(0, 1)], ComparisonSettings())["p"].round(4).tolist()
    [0.0474]
    """
    first, second = np.array(pairs).T
    names = {
        "method": [table.methods[i] for i in first],
        "rival": [table.methods[i] for i in second],
    }
    learners = learners_of(table)
    parts = []
    for place, (dataset, folds) in enumerate(zip(table.datasets, table.folds, strict=True)):
        if not learners.tells(place):
            continue
        tests = _tests(learners.on(place).pivots(pairs, settings), settings.margin)
        sizes = {"dataset": [dataset] * len(pairs), "folds": [len(folds)] * len(pairs)}
        parts.append({**sizes, **names, **tests})
    return pd.DataFrame(
        {name: np.concatenate([part[name] for part in parts]) if parts else [] for name in COLUMNS}
    )


def _tests(pivots: Pivots, margin: float) -> dict[str, Any]:
    """Return the p of all pairs of a dataset, with the posterior that belongs to it."""
    worse, better = pivots.p_beyond(margin)
    with np.errstate(invalid="ignore"):
        equal = np.maximum(0.0, 1 - better - worse)
    return {
        "mean_difference": pivots.mean,
        "t": pivots.mean / pivots.errors.max(axis=0),
        "p": pivots.p(),
        "p_better": better,
        "p_equal": equal if margin > 0 else np.full(better.shape, np.nan),
        "p_worse": worse,
    }


def compare(
    scores: Any,
    *,
    metric: str | None = None,
    reference: str | None = None,
    higher_is_better: bool | None = None,
    at: float | None = None,
    missing: Missing = "complete",
    test: str | Test | Callable[..., TestResult] | None = None,
    correction: str | Correction | Callable[..., Any] | None = None,
    alpha: float = 0.05,
    margin: float = 0.0,
    zeros: Zeros = "wilcox",
    tolerance: float = TOLERANCE,
    test_train_ratio: float | None = None,
    repeats: int | None = None,
    designs: Mapping[str, Design | None] | None = None,
    rows: Mapping[str, StoredRows] | None = None,
    differences: Differences | None = None,
    threshold: float | None = None,
    n_samples: int = 20_000,
    bayes: bool | None = None,
    seed: int = 0,
) -> DatasetComparison:
    """Say which methods are better, where, and how sure that is.

    Parameters
    ----------
    scores : DataFrame or object with ``scores()``
        Scores in tidy form (columns ``method``, ``dataset``, ``value``; optionally ``repeat``,
        ``fold``, ``seed`` or ``subject``, ``metric``, ``at``) or wide with one column per method;
        or the results of an experiment.
    metric : str, callable or Metric, optional
        Which metric, as `find_metric` takes it; needed where the scores hold several.
    reference : str, optional
        The method that is compared with each other one. Left out, all pairs are compared.
    higher_is_better : bool, optional
        Direction of a metric that Paragone does not know; it is never guessed.
    at : float, optional
        The point of the grid; left out, a grid is reduced to its mean.
    missing : {"complete", "worst", "refuse"}, default="complete"
        What a missing or failed score counts as: its block is left out for all methods; it is a
        loss to any score; or it is refused.
    test : str, Test or callable, optional
        How differences over datasets are tested: a name (``wilcoxon`` by default, ``paired-t``),
        ``module:name``, or a function of differences that returns a
        :class:`~paragone.stats.TestResult`.
    correction : str, Correction or callable, optional
        ``holm`` (default with a reference), ``shaffer`` (default for all pairs), ``bergmann`` (up
        to 9 methods), ``hochberg``, ``hommel``, ``bonferroni``, ``benjamini-hochberg``,
        ``nemenyi``, ``bonferroni-dunn``, ``module:name``, or a function from raw to adjusted
        p-values.
    alpha : float, default=0.05
        Level for the whole family.
    margin : float, default=0.0
        The largest difference that does not matter, in units of the metric, stated before the
        scores are looked at. Only with a margin can methods be found equivalent.
    zeros : {"wilcox", "pratt", "split"}, default="wilcox"
        Treatment of zero differences.
    tolerance : float, default=1e-9
        Relative tolerance of a tie.
    test_train_ratio : float, optional
        ``n_test / n_train`` of a split, for the tests within a dataset. By default from the splits
        of an experiment; in a file k folds per repeat test on ``1 / (k - 1)`` as many rows as they
        train on.
    repeats : int, optional
        How often the rows of a dataset were split anew; needed where a file has more than 20 folds
        and no column ``repeat``.
    designs : mapping of str to Design, optional
        How each dataset was split, where the scores do not tell.
    rows : mapping of str to StoredRows, optional
        What the stored predictions of each dataset tell, where the scores do not bring it along.
    differences : {"plain", "log"}, optional
        Compare scores as they are or by log-ratios; by default the latter where a metric that has
        the target's unit (RMSE, MAE) has scores of very different size on the datasets.
    threshold : float, optional
        Chance level of two methods (0.0 is one like any other): units on which both are no better
        than it are double fails, and left out. What all units say stands beside. Fix it before the
        scores are seen: trying several and keeping the best p is invalid.
    n_samples : int, default=20000
        Posterior draws.
    bayes : bool, optional
        Whether to compute Bayesian probabilities; by default with a reference, or for up to 45
        pairs.
    seed : int, default=0
        Seed of the posterior.

    Returns
    -------
    DatasetComparison
        The verdict in words, the table, the choices, the charts.

    Examples
    --------
    >>> import pandas as pd
    >>> scores = pd.DataFrame({
    ...     "dataset": list("abcdefgh"),
    ...     "new": [0.91, 0.83, 0.77, 0.95, 0.68, 0.88, 0.79, 0.93],
    ...     "old": [0.88, 0.80, 0.75, 0.90, 0.66, 0.84, 0.78, 0.87],
    ... })
    >>> result = compare(scores, metric="accuracy", reference="new")
    >>> print(result.verdict)
    On new datasets, new is better than old (p = 0.00781; difference +0.0300 [+0.0200,
    ...
    """
    settings = ComparisonSettings(
        alpha=alpha,
        margin=margin,
        missing=missing,
        zeros=zeros,
        tolerance=tolerance,
        test_train_ratio=test_train_ratio,
        n_samples=n_samples,
        bayes=bayes,
        seed=seed,
    )
    table = score_table(
        scores,
        metric=asked_name(metric),
        higher_is_better=higher_is_better,
        at=at,
        missing=missing,
        repeats=repeats,
        test_train_ratio=test_train_ratio,
        designs=designs,
        differences=differences,
    )
    told = getattr(scores, "stored_rows", None) if rows is None else None
    if callable(told):
        rows = told(table.metric)
    if rows is not None:
        table = table.with_rows(rows)
    return compare_table(
        table,
        reference=reference,
        test=test,
        correction=correction,
        settings=settings,
        threshold=threshold,
    )


def compare_table(
    table: ScoreTable,
    *,
    reference: str | None = None,
    test: str | Test | Callable[..., TestResult] | None = None,
    correction: str | Correction | Callable[..., Any] | None = None,
    settings: ComparisonSettings,
    threshold: float | None = None,
) -> DatasetComparison:
    """Compare the methods of a table of scores that is complete already."""
    if threshold is not None:
        return _without_double_fails(
            table,
            threshold,
            partial(
                compare_table,
                reference=reference,
                test=test,
                correction=correction,
                settings=settings,
            ),
        )
    if reference is not None and reference not in table.methods:
        raise unknown_name("reference", reference, table.methods)
    place = None if reference is None else table.methods.index(reference)
    family = choose_family(len(table.methods), place, correction)
    unit: Unit = "subject" if table.subjects else "dataset"
    if unit == "dataset" and len(table.datasets) == 1:
        unit = "fold"
    over_splits = test is not None and unit == "fold"
    chosen = find_test(
        PROCEDURES["dataset"].test if test is None or over_splits else test, "dataset"
    )
    settings = replace(settings, size=table.size)
    if np.isnan(table.values).all():
        raise InputError(
            "no method has the scores of all folds of any dataset: nothing is left to compare"
        )
    # A failed score ranks last: below all others by more than any tie.
    oriented = table.values if table.higher_is_better else -table.values
    last = np.nanmin(oriented) - 1 - np.nanmax(np.abs(oriented))
    ranks = method_ranks(
        np.where(np.isnan(oriented), last, oriented),
        tolerance=settings.tolerance,
        size=settings.size,
    )
    scored = UnitScores(table.methods, table.datasets, table.values, table.higher_is_better)
    pairs = dataset_pairs(
        scored, family, ranks, chosen, settings, "subject" if unit == "subject" else "dataset"
    )
    friedman = friedman_of_ranks(ranks)
    turned = better_ranked_first(family, ranks.mean(axis=0))
    order = order_by_mean(
        table.values,
        higher_is_better=table.higher_is_better,
        average_ranks=ranks.mean(axis=0),
        size=settings.size,
    )
    within: Sequence[tuple[int, int]] = better_ranked_first(
        family, np.argsort(order.places).astype(float)
    )
    if leader_alone_within(family, len(table.datasets)):
        within = [pair for pair in within if pair[0] == order.places[0]]
    on_these: tuple[Verdict, ...] = ()
    learners = learners_of(table)
    if all(learners.tells(place) for place in range(len(table.datasets))):
        on_these = learner_pairs(
            learners,
            turned,
            adjust=family.on_this_data.adjust,
            settings=settings,
            best=order.places[0] if family.with_best else None,
        )
    if unit == "fold":
        design = table.designs[0]
        if design is not None:
            settings = replace(settings, test_train_ratio=design.ratio, repeats=design.repeats)
        chosen, pairs = split_pairs(table, family, turned, test, settings, on_these)
    return DatasetComparison(
        unit=unit,
        test=chosen,
        scores=table,
        family=family,
        settings=settings,
        ranks=ranks,
        friedman=friedman,
        pairs=pairs,
        learners=on_these,
        per_dataset=per_dataset_tests(table, within, settings),
        warnings=(
            *table.warnings,
            *table.notes,
            *(learners.warnings(order.places[0], settings) if learners.by_rows else ()),
            *_warnings(family, settings),
        ),
    )


def split_pairs(
    table: ScoreTable,
    family: Family,
    turned: Sequence[tuple[int, int]],
    test: str | Test | Callable[..., TestResult] | None,
    settings: ComparisonSettings,
    learners: Sequence[Verdict],
) -> tuple[Test, tuple[Pair, ...]]:
    """Return the pairs on the splits of the only dataset, and how they were tested; none where that is not known.

    The verdict is that of the learners, which rows may know more of than the splits; with a test of
    one's own it is that test's.
    """
    chosen = find_test(PROCEDURES["fold"].test if test is None else test, "fold")
    if not learners:
        return chosen, ()
    measured = measure_pairs(
        UnitScores(table.methods, table.fold_names[0], table.folds[0], table.higher_is_better),
        turned,
        unit="fold",
        test=chosen,
        settings=settings,
        bayes=wants_bayes(family, settings),
    )
    pairs = judged(measured, family.on_this_data.adjust, settings)
    if test is not None:
        return chosen, pairs
    told = {frozenset((one.method, one.rival)): one for one in learners}
    return chosen, tuple(
        with_verdict(pair, told[frozenset((pair.method, pair.rival))])
        for pair in pairs
        if frozenset((pair.method, pair.rival)) in told
    )


def _without_double_fails(
    table: ScoreTable, threshold: float, compared: Callable[[ScoreTable], DatasetComparison]
) -> DatasetComparison:
    """Compare two methods on the units that are no double fails, with what all units say beside."""
    if len(table.methods) != 2:
        raise InputError(
            f"a threshold is for two methods, not {len(table.methods)}: keep two, or leave it out"
        )
    if not np.isfinite(threshold):
        raise InputError(f"the threshold must be a finite score, not {threshold}")
    if table.scorer is not None:
        # It was given in the terms of the scorer, which is minus the error that is shown.
        threshold = 0.0 - threshold
    alone = len(table.datasets) == 1 and table.designs[0] is not None
    values = table.folds[0] if alone else table.values
    fails = double_fails(
        values, threshold, higher_is_better=table.higher_is_better, size=table.size
    )
    whole = compared(table)
    # What rows tell is of all units, so without some of them the scores speak alone.
    table = replace(table, moments=())
    kept = np.flatnonzero(~fails).tolist()
    design = table.designs[0]
    left = design.of_places(kept) if alone and design is not None and kept else None
    if not kept or (alone and left is None):
        why = "Every unit is a double fail: none is left out."
        if kept:
            why = "Double fails leave repeats without some of their scores: none is left out."
        return replace(whole, warnings=(why, *whole.warnings))
    if alone:
        names = tuple(table.fold_names[0][place] for place in kept)
        some = replace(
            table,
            values=values[kept].mean(axis=0, keepdims=True),
            folds=(values[kept],),
            fold_names=(names,),
            designs=(left,),
        )
    else:
        some = replace(
            table,
            values=values[kept],
            datasets=tuple(table.datasets[place] for place in kept),
            folds=tuple(table.folds[place] for place in kept),
            fold_names=tuple(table.fold_names[place] for place in kept),
            designs=tuple(table.designs[place] for place in kept),
        )
    return replace(compared(some), threshold=threshold, unfiltered=whole)


def _warnings(family: Family, settings: ComparisonSettings) -> tuple[str, ...]:
    warnings = []
    if family.on_ranks and settings.margin > 0:
        warnings.append(
            f"{family.title} tests average ranks and cannot show an equivalence: choose another"
            " correction."
        )
    return tuple(warnings)
