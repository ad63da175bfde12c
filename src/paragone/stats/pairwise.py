"""Compare two methods on the subjects, or folds, that both have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pandas as pd

from paragone.errors import InputError, unknown_name
from paragone.metrics import asked_name, error_name, is_negated, named_metric
from paragone.stats.designs import Design
from paragone.stats.family import PROCEDURES, ComparisonSettings
from paragone.stats.paired_comparison import PairedComparison, PairKind
from paragone.stats.pairing import Paired, pair_scores
from paragone.stats.pairs import UnitScores, judged, measure_pairs
from paragone.stats.registries import Test, TestResult, Unit, find_test
from paragone.stats.scores import direction
from paragone.stats.signed_rank import Zeros
from paragone.ties import TOLERANCE, FloatArray, slack_of


def pairwise(
    a: Any,
    b: Any,
    *,
    threshold: float | None = None,
    metric: str | None = None,
    higher_is_better: bool | None = None,
    name_a: str | None = None,
    name_b: str | None = None,
    pairs: PairKind | None = None,
    test: str | Test | Callable[..., TestResult] | None = None,
    alpha: float = 0.05,
    margin: float = 0.0,
    zeros: Zeros = "wilcox",
    tolerance: float = TOLERANCE,
    test_train_ratio: float | None = None,
    repeats: int | None = None,
    design: Design | None = None,
    n_samples: int = 50_000,
    seed: int = 0,
) -> PairedComparison:
    """Say whether two methods differ on the pairs both were measured on.

    Parameters
    ----------
    a, b : Series, mapping or array-like
        Scores keyed by subject, or equally long arrays. Where the index has several levels
        (``dataset``, ``repeat``, ``fold``, ``seed``, ``subject``) they are paired by all that both
        have; datasets are then the pairs, else subjects, else folds. Differences are ``b - a``,
        signed so that positive favours ``b``.
    threshold : float, optional
        Chance level (0.0 is one like any other). Pairs on which both methods are no better than it
        are double fails; the effective figures leave them out, and stand beside those of all pairs.
    metric : str, optional
        The metric's name, which gives its direction.
    higher_is_better : bool, optional
        Direction of a metric that is not known; it is never guessed.
    name_a, name_b : str, optional
        Names; by default those of the Series, or A and B.
    pairs : {"subjects", "folds"}, optional
        Subjects are independent (signed-rank test); folds of one dataset share training rows
        (corrected resampled t). By default by the names of the Series' index.
    test : str, Test or callable, optional
        How the differences are tested; by default ``wilcoxon`` for subjects and ``corrected-t`` for
        folds.
    design : Design, optional
        How the rows were split, where the pairs are folds; by default one cross-validation, up to
        20 folds.
    alpha, margin, zeros, tolerance, test_train_ratio, repeats, n_samples, seed
        As in :func:`paragone.compare`.

    Returns
    -------
    PairedComparison
        Figures, verdict in words, choices and charts.

    Examples
    --------
    >>> import pandas as pd
    >>> old = pd.Series([0.31, 0.20, 0.45, 0.38, 0.26, 0.52, 0.41], index=list("stuvwxy"), name="old")
    >>> new = pd.Series([0.36, 0.24, 0.47, 0.47, 0.21, 0.60, 0.44], index=list("stuvwxy"), name="new")
    >>> print(pairwise(old, new, metric="accuracy", threshold=0.25))
    Global mean     old 0.3614   new 0.3986
    Effective mean  old 0.3883   new 0.4250   (1 double fail excluded, tau = 0.25)
    Win / tie / loss (effective)  1 / 0 / 5   (old / tie / new)
    Wilcoxon p  0.188 (exact, two-sided, n = 6)
    ...
    """
    metric = asked_name(metric)
    higher = direction(metric, higher_is_better)
    if threshold is not None and not np.isfinite(threshold):
        raise InputError(f"the threshold must be a finite score, not {threshold}")
    first, second = name_a or _name(a, "A"), name_b or _name(b, "B")
    if first == second:
        raise InputError(
            f"both methods are called {first!r}: give them different names (name_a, name_b)"
        )
    paired = pair_scores(a, b, name_a=first, name_b=second)
    scorer = None
    if higher_is_better is not False and is_negated(metric, np.concatenate([paired.a, paired.b])):
        # Minus an error is shown as the error, and so is the threshold that was given in the same
        # terms.
        paired = replace(paired, a=0.0 - paired.a, b=0.0 - paired.b)
        scorer, metric, higher = metric, error_name(metric), False
        threshold = None if threshold is None else 0.0 - threshold
    unit = _unit(paired, pairs)
    # Datasets as pairs are independent as subjects are.
    engine_unit: Unit = "fold" if unit == "fold" else "subject"
    chosen = find_test(PROCEDURES[engine_unit].test if test is None else test, engine_unit)
    split = None if unit != "fold" else paired.design(design, repeats, test_train_ratio)
    settings = ComparisonSettings(
        alpha=alpha,
        margin=margin,
        zeros=zeros,
        tolerance=tolerance,
        size=named_metric(metric).score_size,
        test_train_ratio=test_train_ratio if split is None else split.ratio,
        repeats=1 if split is None else split.repeats,
        n_samples=n_samples,
        seed=seed,
    )
    fails = double_fails(paired.a, paired.b, threshold, higher_is_better=higher, size=settings.size)
    keys, values = np.array(paired.keys, dtype=object), np.stack([paired.a, paired.b], axis=1)
    everything = np.ones(len(keys), dtype=bool)
    sets = [everything] if threshold is None or fails.all() else [everything, ~fails]
    warnings = paired.warnings
    if len(sets) > 1 and fails.any() and settings.repeats > 1:
        sets = [everything]
        warnings = (
            *warnings,
            "Double fails leave repeats without some of their scores, so they are not left out.",
        )
    return PairedComparison(
        unit=unit,
        test=chosen,
        pairs=tuple(
            judged(
                measure_pairs(
                    UnitScores((first, second), tuple(keys[kept]), values[kept], higher),
                    [(1, 0)],
                    unit=engine_unit,
                    test=chosen,
                    settings=settings,
                ),
                np.asarray,
                settings,
            )[0]
            for kept in sets
        ),
        settings=settings,
        warnings=warnings,
        name_a=first,
        name_b=second,
        metric=metric,
        scorer=scorer,
        higher_is_better=higher,
        threshold=threshold,
        paired=paired,
        fails=fails,
    )


def double_fails(
    a: FloatArray,
    b: FloatArray,
    threshold: float | None,
    *,
    higher_is_better: bool,
    size: float = 0.0,
) -> np.ndarray:
    """Return where both scores are no better than the threshold; nowhere without one.

    Parameters
    ----------
    a, b : ndarray of shape (n,)
        Paired scores.
    threshold : float or None
        Chance level; 0.0 is a level like any other.
    higher_is_better : bool
        The metric's direction.
    size : float, default=0.0
        The size of what the scores were made from.

    Returns
    -------
    ndarray of bool of shape (n,)
        True for a double fail.

    Examples
    --------
    >>> import numpy as np
    >>> double_fails(np.array([0.0, 0.2]), np.array([-0.1, 0.0]), 0.0, higher_is_better=True).tolist()
    [True, False]
    """
    if threshold is None:
        return np.zeros(a.shape, dtype=bool)
    sign = 1 if higher_is_better else -1
    better = np.maximum(sign * a, sign * b)
    # A score that equals the threshold but for rounding is no better than it.
    return np.asarray(better <= sign * threshold + slack_of(abs(threshold), size))


def _name(side: Any, default: str) -> str:
    name = getattr(side, "name", None) if isinstance(side, pd.Series) else None
    return str(name) if name is not None else default


def _unit(paired: Paired, pairs: PairKind | None) -> Unit:
    """Return what the pairs are: as said, or by the names of their keys."""
    if pairs is not None and pairs not in get_args(PairKind):
        raise unknown_name("kind of pairs", pairs, get_args(PairKind))
    if pairs == "folds":
        return "fold"
    return "subject" if pairs == "subjects" and paired.unit == "fold" else paired.unit
