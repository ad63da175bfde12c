"""Seeds are not folds: scores of several seeds on one split tell how a method varies, not how it does on other data.

The spread of scores has two parts. The seed's part shrinks with more seeds; the part of the data,
which differ between splits, does not, and cannot be seen on one split at all. So the mean over
seeds stands for a split.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd


@dataclass(frozen=True)
class SeedSpread:
    """Where the spread of a method's scores within a dataset comes from.

    Attributes
    ----------
    method : str
        Whose.
    n_seeds : float
        Seeds per split, the mean.
    seed : float
        Standard deviation between the seeds of a split; NaN with one seed.
    data : float
        Standard deviation between splits, without the seeds' part; NaN with one split.
    """

    method: str
    n_seeds: float
    seed: float
    data: float


def seed_spreads(frame: pd.DataFrame, split: Sequence[str]) -> tuple[SeedSpread, ...]:
    """Estimate both parts of the spread of every method, pooled over datasets (one-way analysis of variance).

    Parameters
    ----------
    frame : DataFrame
        Columns ``method``, ``dataset``, those of ``split``, ``seed`` and ``value``.
    split : sequence of str
        The columns that name a split, the dataset's first.

    Examples
    --------
    >>> rows = [("A", "d", fold, seed, fold + 0.1 * seed) for fold in (0, 1) for seed in (0, 1)]
    >>> frame = pd.DataFrame(rows, columns=["method", "dataset", "fold", "seed", "value"])
    >>> (found,) = seed_spreads(frame, ["dataset", "fold"])
    >>> found.n_seeds, round(found.seed, 4), round(found.data, 4)
    (2.0, 0.0707, 0.7053)
    """
    found = []
    for method, mine in frame.groupby("method", sort=True):
        splits = mine.groupby(list(split), sort=False)["value"].agg(["size", "mean", "var"])
        inside = splits[splits["size"] > 1]
        seed = _pooled(inside["var"], inside["size"])
        means = splits.groupby(level=0, sort=False)["mean"].agg(["size", "var"])
        several = means[means["size"] > 1]
        between = _pooled(several["var"], several["size"])
        share = 0.0 if np.isnan(seed) else seed * float((1 / splits["size"]).mean())
        data = np.sqrt(max(0.0, between - share)) if not np.isnan(between) else np.nan
        found.append(
            SeedSpread(str(method), float(splits["size"].mean()), float(np.sqrt(seed)), float(data))
        )
    return tuple(found)


def _pooled(variances: pd.Series, sizes: pd.Series) -> float:
    freedom = float((sizes - 1).sum())
    return float(((sizes - 1) * variances).sum() / freedom) if freedom > 0 else np.nan


def mean_over_seeds(
    frame: pd.DataFrame, split: Sequence[str]
) -> tuple[pd.DataFrame, tuple[SeedSpread, ...], tuple[str, ...]]:
    """Let the mean over seeds stand for each split, and say what that means.

    Parameters
    ----------
    frame : DataFrame
        Columns ``method``, those of ``split``, ``seed`` (empty where there is none) and ``value``.
    split : sequence of str
        The columns that name a split, the dataset's first.

    Returns
    -------
    frame : DataFrame
        One row per split and method. A seed that failed leaves its split without a score.
    spreads : tuple of SeedSpread
        Empty where no split has several seeds.
    notes : tuple of str
        In words.

    Examples
    --------
    >>> rows = [("A", "d", seed, 0.5 + 0.1 * seed) for seed in (0, 1, 2)]
    >>> frame = pd.DataFrame(rows, columns=["method", "dataset", "seed", "value"])
    >>> found, _, notes = mean_over_seeds(frame, ["dataset"])
    >>> found["value"].round(6).tolist(), "these fitted models, this test set" in notes[1]
    ([0.6], True)
    """
    seeds = frame["seed"].unique()
    if len(seeds) == 1:
        said = (
            f"All scores are of one seed ({seeds[0]}): of a random method they hold for that seed"
            " only."
        )
        return frame.drop(columns="seed"), (), (said,) if seeds[0] else ()
    keys = [*split, "method"]
    spreads = seed_spreads(frame, split)
    several = [one for one in spreads if one.n_seeds > 1]
    groups = frame.sort_values([*keys, "seed"]).groupby(keys, sort=False)["value"]
    means = groups.mean().where(groups.count() == groups.size()).reset_index()
    if not several:
        # Every split has a seed of its own.
        return means, (), ()
    parts = ", ".join(f"{one.method} {one.seed:.3g} over {one.n_seeds:g}" for one in several[:6])
    notes = [
        "Seeds are not folds: each score is the mean over its seeds (deviation between seeds:"
        f" {parts})."
    ]
    if means.groupby(["dataset", "method"]).size().max() == 1:
        notes.append(
            "There is one split per dataset: more seeds make the seeds' part of the error small,"
            " but that of the data is unknown. Within a dataset this is about these fitted models,"
            " this test set."
        )
    return means, spreads, tuple(notes)
