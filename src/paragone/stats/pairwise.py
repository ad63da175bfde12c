"""Compare two methods on the subjects, or folds, that both have."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pandas as pd

from paragone.directions import score_size
from paragone.errors import InputError, unknown_name
from paragone.stats.family import Settings
from paragone.stats.paired_comparison import PairedComparison
from paragone.stats.paired_figures import PairKind, paired_figures
from paragone.stats.pairing import pair_scores
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
    alpha: float = 0.05,
    rope: float = 0.0,
    zeros: Zeros = "wilcox",
    tolerance: float = TOLERANCE,
    test_train_ratio: float | None = None,
    n_resamples: int = 10_000,
    n_samples: int = 50_000,
    seed: int = 0,
) -> PairedComparison:
    """Say whether two methods differ on the pairs both were measured on.

    Parameters
    ----------
    a, b : Series, mapping or array-like
        Scores keyed by subject, or equally long arrays. Differences are ``b - a``, signed so that positive
        favours ``b``.
    threshold : float, optional
        Chance level (0.0 is one like any other). Pairs on which both methods are no better than it are
        double fails; the effective figures leave them out, and stand beside those of all pairs.
    metric : str, optional
        The metric's name, which gives its direction.
    higher_is_better : bool, optional
        Direction of a metric that is not known; it is never guessed.
    name_a, name_b : str, optional
        Names; by default those of the Series, or A and B.
    pairs : {"subjects", "folds"}, optional
        Subjects are independent (signed-rank test); folds of one dataset share training rows (corrected
        resampled t). By default folds where the Series' index is called ``fold``, subjects otherwise.
    alpha, rope, zeros, tolerance, test_train_ratio, n_resamples, n_samples, seed
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
    higher = direction(metric, higher_is_better)
    if threshold is not None and not np.isfinite(threshold):
        raise InputError(f"the threshold must be a finite score, not {threshold}")
    first, second = name_a or _name(a, "A"), name_b or _name(b, "B")
    if first == second:
        raise InputError(f"both methods are called {first!r}: give them different names (name_a, name_b)")
    kind = _kind(a, b, pairs)
    settings = Settings(
        alpha=alpha,
        rope=rope,
        zeros=zeros,
        tolerance=tolerance,
        size=score_size(metric),
        test_train_ratio=test_train_ratio,
        n_resamples=n_resamples,
        n_samples=n_samples,
        seed=seed,
    )
    paired = pair_scores(a, b, name_a=first, name_b=second)
    fails = double_fails(paired.a, paired.b, threshold, higher_is_better=higher, size=settings.size)
    options: dict[str, Any] = {"higher_is_better": higher, "kind": kind, "settings": settings}
    filtered = threshold is not None and not fails.all()
    return PairedComparison(
        name_a=first,
        name_b=second,
        metric=metric,
        higher_is_better=higher,
        threshold=threshold,
        kind=kind,
        unit=_unit(a, b, kind),
        paired=paired,
        fails=fails,
        everything=paired_figures(paired.a, paired.b, **options),
        effective=paired_figures(paired.a[~fails], paired.b[~fails], **options) if filtered else None,
        settings=settings,
    )


def double_fails(
    a: FloatArray, b: FloatArray, threshold: float | None, *, higher_is_better: bool, size: float = 0.0
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


def _kind(a: Any, b: Any, pairs: PairKind | None) -> PairKind:
    if pairs is not None:
        if pairs not in get_args(PairKind):
            raise unknown_name("kind of pairs", pairs, get_args(PairKind))
        return pairs
    return "folds" if _index_names(a, b) & {"fold", "folds"} else "subjects"


def _unit(a: Any, b: Any, kind: PairKind) -> str:
    return "datasets" if kind == "subjects" and _index_names(a, b) & {"dataset", "datasets"} else kind


def _index_names(a: Any, b: Any) -> set[str]:
    return {str(side.index.name).lower() for side in (a, b) if isinstance(side, pd.Series)}
