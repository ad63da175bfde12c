"""Pair two sets of scores by key, never by row order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from paragone.comparison.scores.keys import is_summary, natural_order, spell
from paragone.comparison.scores.missing import listed
from paragone.comparison.scores.tidy import numbers
from paragone.errors import InputError
from paragone.ties import FloatArray


@dataclass(frozen=True)
class Paired:
    """Scores of two methods on the subjects (or folds) that both have, sorted by key.

    Attributes
    ----------
    keys : tuple of str
        The subjects.
    a, b : ndarray of shape (n,)
        Their scores.
    only_a, only_b : tuple of str
        Subjects left out because the other side has no finite score.
    warnings : tuple of str
        What was left out, in words.
    """

    keys: tuple[str, ...]
    a: FloatArray
    b: FloatArray
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    warnings: tuple[str, ...]


def pair_scores(a: Any, b: Any, *, name_a: str = "A", name_b: str = "B") -> Paired:
    """Pair the scores of two methods.

    Parameters
    ----------
    a, b : Series, mapping or array-like
        Series and mappings are paired by key. Plain arrays have no keys; they must be equally long and
        are paired by position.
    name_a, name_b : str
        Names for messages.

    Returns
    -------
    Paired
        Only complete pairs; the others are listed.

    Examples
    --------
    >>> import pandas as pd
    >>> pair_scores({"s1": 0.5, "s2": 0.6}, pd.Series([0.7, 0.4], index=["s2", "s1"])).b.tolist()
    [0.4, 0.7]
    """
    keyed = [isinstance(side, pd.Series | Mapping) for side in (a, b)]
    if keyed[0] != keyed[1]:
        raise InputError("one side has keys and the other has none: give two Series keyed by subject, or two arrays")
    if not keyed[0] and np.shape(a) != np.shape(b):
        raise InputError(
            f"{name_a} has {np.size(a)} scores and {name_b} has {np.size(b)}: without keys both must be equally long"
        )
    (first, summaries_a), (second, summaries_b) = _keyed(a, name_a), _keyed(b, name_b)
    finite_a, finite_b = _finite(first), _finite(second)
    common = sorted(set(finite_a) & set(finite_b), key=natural_order)
    if not common:
        raise InputError(f"{name_a} and {name_b} have no subject with a score in common: check the key column")
    only_a = tuple(sorted(set(finite_a) - set(finite_b), key=natural_order))
    only_b = tuple(sorted(set(finite_b) - set(finite_a), key=natural_order))
    neither = sorted((set(first) | set(second)) - set(finite_a) - set(finite_b), key=natural_order)
    warnings = [
        f"{len(names)} with a score of {name} only, left out: {listed(names)}."
        for names, name in ((only_a, name_a), (only_b, name_b))
        if names
    ]
    if neither:
        warnings.append(f"{len(neither)} without a finite score on either side, left out: {listed(neither)}.")
    if summaries := sorted({*summaries_a, *summaries_b}):
        warnings.append(f"Rows that sum up others were left out: {', '.join(summaries)}.")
    return Paired(
        tuple(common),
        np.array([finite_a[key] for key in common]),
        np.array([finite_b[key] for key in common]),
        only_a,
        only_b,
        tuple(warnings),
    )


def _keyed(side: Any, name: str) -> tuple[dict[str, float], list[str]]:
    """Return scores by key, and the keys of summary rows that were taken out."""
    if isinstance(side, Mapping):
        side = pd.Series(dict(side), dtype=object)
    if not isinstance(side, pd.Series):
        values = np.asarray(side)
        if values.ndim != 1 or values.size == 0:
            raise InputError(f"the scores of {name} must be a flat list with one or more numbers")
        side = pd.Series(values, index=range(1, values.size + 1))
    scores = numbers(side.reset_index(drop=True)).tolist()
    keys = [" ".join(map(spell, key)) if isinstance(key, tuple) else spell(key) for key in side.index]
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            raise InputError(f"the key {key!r} of {name} stands twice: keep one")
        seen.add(key)
    kept = {key: value for key, value in zip(keys, scores, strict=True) if not is_summary(key)}
    return kept, [key for key in keys if is_summary(key)]


def _finite(scores: dict[str, float]) -> dict[str, float]:
    return {key: value for key, value in scores.items() if np.isfinite(value)}
