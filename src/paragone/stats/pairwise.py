"""Compare two methods on the units that both have: `compare` of what was paired by key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from paragone.errors import InputError, unknown_name
from paragone.metrics import asked_name, error_name, is_negated
from paragone.stats.compare import compare_table
from paragone.stats.datasets import DatasetComparison
from paragone.stats.designs import Design
from paragone.stats.family import ComparisonSettings
from paragone.stats.pairing import Paired, pair_scores
from paragone.stats.registries import Test, TestResult, Unit
from paragone.stats.scores import ScoreTable, direction
from paragone.stats.signed_rank import Zeros
from paragone.ties import TOLERANCE

PairKind = Literal["subjects", "folds"]


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
    reference: str | None = None,
    test: str | Test | Callable[..., TestResult] | None = None,
    alpha: float = 0.05,
    margin: float = 0.0,
    zeros: Zeros = "wilcox",
    tolerance: float = TOLERANCE,
    test_train_ratio: float | None = None,
    repeats: int | None = None,
    design: Design | None = None,
    n_samples: int = 20_000,
    seed: int = 0,
) -> DatasetComparison:
    """Say whether two methods differ on the pairs both were measured on.

    Parameters
    ----------
    a, b : Series, mapping or array-like
        Scores, as `pair_scores` takes them.
    threshold : float, optional
        Chance level, as `compare` takes it.
    metric : str, optional
        The metric's name, which gives its direction.
    higher_is_better : bool, optional
        Direction of a metric that is not known; it is never guessed.
    name_a, name_b : str, optional
        Names; by default those of the Series, or A and B.
    pairs : {"subjects", "folds"}, optional
        Subjects are independent (signed-rank test); folds of one dataset share training rows
        (corrected resampled t). By default by the names of the Series' index.
    reference : str, optional
        The method that the words are about; by default the better one.
    test : str, Test or callable, optional
        How the differences are tested; by default ``wilcoxon`` for subjects and datasets, and
        ``corrected-t`` for folds.
    design : Design, optional
        How the rows were split, where the pairs are folds; by default one cross-validation, up to
        20 folds.
    alpha, margin, zeros, tolerance, test_train_ratio, repeats, n_samples, seed
        As in :func:`paragone.compare`.

    Returns
    -------
    DatasetComparison
        What `compare` says of the same scores.

    Examples
    --------
    >>> import pandas as pd
    >>> old = pd.Series([0.31, 0.20, 0.45, 0.38, 0.26, 0.52, 0.41], index=list("stuvwxy"), name="old")
    >>> new = pd.Series([0.36, 0.24, 0.47, 0.47, 0.21, 0.60, 0.44], index=list("stuvwxy"), name="new")
    >>> print(pairwise(old, new, metric="accuracy").finding)
    On this data, new against old is undecided: 0.399 against 0.361.
    """
    metric = asked_name(metric)
    higher = direction(metric, higher_is_better)
    first, second = name_a or _name(a, "A"), name_b or _name(b, "B")
    if first == second:
        raise InputError(
            f"both methods are called {first!r}: give them different names (name_a, name_b)"
        )
    paired = pair_scores(a, b, name_a=first, name_b=second)
    settings = ComparisonSettings(
        alpha=alpha,
        margin=margin,
        zeros=zeros,
        tolerance=tolerance,
        test_train_ratio=test_train_ratio,
        n_samples=n_samples,
        bayes=True,
        seed=seed,
    )
    unit = _unit(paired, pairs)
    split = None if unit != "fold" else paired.design(design, repeats, test_train_ratio)
    return compare_table(
        _table(paired, (first, second), metric, higher, split, subjects=unit == "subject"),
        reference=reference,
        test=test,
        settings=settings,
        threshold=threshold,
    )


def _table(
    paired: Paired,
    names: tuple[str, str],
    metric: str | None,
    higher: bool,
    split: Design | None,
    *,
    subjects: bool,
) -> ScoreTable:
    """Return paired scores as a table: a dataset per unit, or the folds of one dataset."""
    values, scorer = np.stack([paired.a, paired.b], axis=1), None
    if higher and is_negated(metric, values):
        # Minus an error is shown as the error.
        values, scorer, metric, higher = 0.0 - values, metric, error_name(metric), False
    shared: dict[str, Any] = {
        "methods": names,
        "metric": metric,
        "higher_is_better": higher,
        "scorer": scorer,
        "point": None,
        "dropped": (*paired.only_a, *paired.only_b),
        "notes": (),
        "warnings": paired.warnings,
    }
    if split is not None:
        return ScoreTable(
            datasets=("data",),
            values=values.mean(axis=0, keepdims=True),
            folds=(values,),
            fold_names=(paired.keys,),
            designs=(split,),
            **shared,
        )
    return ScoreTable(
        datasets=paired.keys,
        values=values,
        folds=tuple(values[:, None, :]),
        fold_names=(("",),) * len(values),
        designs=(None,) * len(values),
        subjects=subjects,
        **shared,
    )


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
