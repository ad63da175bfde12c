"""Compare many methods over many datasets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from paragone.comparison.choices import describe
from paragone.comparison.comparison import Comparison
from paragone.comparison.family import choose_family
from paragone.comparison.friedman import friedman_of_ranks
from paragone.comparison.pairs import all_pairs, better_ranked_first
from paragone.comparison.per_dataset import per_dataset_tests
from paragone.comparison.ranking import method_ranks
from paragone.comparison.scores import Missing, ScoreTable, read_frame, score_table
from paragone.comparison.settings import Settings
from paragone.comparison.wilcoxon import Zeros
from paragone.directions import score_size
from paragone.errors import unknown_name
from paragone.ties import TOLERANCE

FEW = 6
"""Fewer datasets than can be significant at 5 %: the Bayesian bootstrap of so few differences is overconfident."""


def compare(
    scores: Any,
    *,
    metric: str | None = None,
    reference: str | None = None,
    higher_is_better: bool | None = None,
    at: float | None = None,
    missing: Missing = "complete",
    correction: str | None = None,
    alpha: float = 0.05,
    rope: float = 0.0,
    zeros: Zeros = "wilcox",
    tolerance: float = TOLERANCE,
    test_train_ratio: float | None = None,
    n_resamples: int = 10_000,
    n_samples: int = 20_000,
    bayes: bool | None = None,
    seed: int = 0,
) -> Comparison:
    """Say which methods are better, where, and how sure that is.

    Parameters
    ----------
    scores : DataFrame, path or object with ``scores()``
        Scores in tidy form (columns ``method``, ``dataset``, ``value``; optionally ``fold`` or ``subject``,
        ``metric``, ``at``) or wide with one column a method; a CSV or Parquet file of the same; or the
        results of an experiment.
    metric : str, optional
        Which metric; needed where the scores hold several.
    reference : str, optional
        The method that is compared with each other one. Left out, all pairs are compared.
    higher_is_better : bool, optional
        Direction of a metric that Paragone does not know; it is never guessed.
    at : float, optional
        The point of the grid; left out, a grid is reduced to its mean.
    missing : {"complete", "worst", "refuse"}, default="complete"
        What a missing or failed score counts as.
    correction : str, optional
        ``holm`` (default with a reference), ``shaffer`` (default for all pairs), ``bergmann`` (up to 9
        methods), ``hochberg``, ``hommel``, ``bonferroni``, ``benjamini-hochberg``, ``nemenyi`` or
        ``bonferroni-dunn``.
    alpha : float, default=0.05
        Family-wise level.
    rope : float, default=0.0
        Half-width of the region of practical equivalence, in units of the metric. Only with a ROPE can
        methods be found practically equal.
    zeros : {"wilcox", "pratt", "split"}, default="wilcox"
        Treatment of zero differences.
    tolerance : float, default=1e-9
        Relative tolerance of a tie.
    test_train_ratio : float, optional
        ``n_test / n_train`` of a split, for the tests within a dataset.
    n_resamples, n_samples : int
        Bootstrap resamples and posterior draws.
    bayes : bool, optional
        Whether to compute Bayesian probabilities; by default with a reference, or for up to 45 pairs.
    seed : int, default=0
        Seed of bootstrap and posterior.

    Returns
    -------
    Comparison
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
    new is better than old (p = 0.00781 Holm; mean difference +0.0325 [+0.0225, ...
    """
    settings = Settings(
        alpha=alpha,
        rope=rope,
        missing=missing,
        zeros=zeros,
        tolerance=tolerance,
        test_train_ratio=test_train_ratio,
        n_resamples=n_resamples,
        n_samples=n_samples,
        bayes=bayes,
        seed=seed,
    )
    frame = read_frame(scores) if isinstance(scores, str | Path) else scores
    table = score_table(frame, metric=metric, higher_is_better=higher_is_better, at=at, missing=missing)
    return compare_table(table, reference=reference, correction=correction, settings=settings)


def compare_table(
    table: ScoreTable, *, reference: str | None = None, correction: str | None = None, settings: Settings
) -> Comparison:
    """Compare the methods of a table of scores that is complete already."""
    if reference is not None and reference not in table.methods:
        raise unknown_name("reference", reference, table.methods)
    place = None if reference is None else table.methods.index(reference)
    family = choose_family(len(table.methods), place, correction)
    settings = replace(settings, size=score_size(table.metric))
    ranks = method_ranks(
        table.values, higher_is_better=table.higher_is_better, tolerance=settings.tolerance, size=settings.size
    )
    pairs = all_pairs(table, family, ranks, settings)
    turned = better_ranked_first(family, np.asarray(ranks.mean(axis=0)))
    return Comparison(
        scores=table,
        family=family,
        settings=settings,
        ranks=ranks,
        friedman=friedman_of_ranks(ranks),
        pairs=pairs,
        per_dataset=per_dataset_tests(
            table,
            turned,
            rope=settings.rope,
            tolerance=settings.tolerance,
            size=settings.size,
            test_train_ratio=settings.test_train_ratio,
        ),
        choices=describe(table, family, pairs, settings),
        warnings=(*table.warnings, *table.notes, *_warnings(table, pairs[0].posterior is not None)),
    )


def _warnings(table: ScoreTable, has_bayes: bool) -> tuple[str, ...]:
    warnings = []
    if len(table.datasets) == 1:
        warnings.append(
            "There is one dataset only, so nothing can be said about datasets in general; its folds are compared by "
            "the corrected resampled t in per_dataset."
        )
    if has_bayes and len(table.datasets) < FEW:
        warnings.append(
            f"With {len(table.datasets)} dataset{'s' * (len(table.datasets) > 1)} the Bayesian probabilities are "
            "overconfident, because the posterior knows only the few differences it has seen: do not lean on them."
        )
    return tuple(warnings)
