"""How the scores of a dataset came about: folds, repeats, and how many rows a split tests on per row it trains on.

A test on folds is only as good as this. Ten times ten folds that are taken for a hundred folds of
one cross-validation reject true nulls in 42 % of cases at a nominal 5 %, so what is not known is
not guessed: there is no design, and no p.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from paragone.errors import InputError, argument
from paragone.validation import FloatArray

MOST_FOLDS = 20
"""One cross-validation rarely has more folds; a column with more of them is asked about."""

HOLD_OUT_LUCK = 0.25
"""What is added to the share of test rows for hold-outs, in units of the variance of their differences."""

_REPEAT_AND_FOLD = re.compile(r"^\D*(\d+)\D+(\d+)\D*$")


@dataclass(frozen=True)
class Design:
    """How the scores of a dataset came about.

    Parameters
    ----------
    folds : int
        Splits per repeat whose test rows do not overlap; 1 for hold-outs.
    repeats : int
        How often the rows were split anew.
    ratio : float
        Test rows per train row, the mean over the splits; 0 where nothing overlaps, as between
        subjects.
    torn_groups : bool, default=False
        Whether rows of one group stand in train and in test of one split. They are not independent
        then, and no variance of folds knows by how much: false claims of 9 to 23 % were seen.

    Examples
    --------
    >>> Design(5, 2, 0.25).n_splits
    10
    """

    folds: int
    repeats: int
    ratio: float
    torn_groups: bool = field(default=False, repr=False)

    @property
    def n_splits(self) -> int:
        """How many scores a method has."""
        return self.folds * self.repeats

    def variance_of_mean(self, differences: FloatArray) -> tuple[FloatArray, int]:
        """Return the variance of the mean difference, overlapping training rows counted in, and its degrees of freedom.

        Parameters
        ----------
        differences : ndarray of shape (n_splits,) or (n_splits, n_pairs)
            In the order of the splits, repeat by repeat.

        Returns
        -------
        variance : ndarray
            Of each column.
        df : int
            Degrees of freedom.

        Notes
        -----
        With s2 the variance of all differences, b2 that of the means of r repeats, K folds and q test rows per train
        row, Nadeau and Bengio (2003, *Machine Learning* 52:239-281) take ``s2 (1/K + q)``. That counts the luck of the
        training rows as if it shrank with the test sets. It does not for learners that choose one column or cut of
        many, whose false claims reached 11 % with 10 folds, 20 % with 20 and 16 % with 10 x 10. So ``e s2`` is added,
        ``e = max(0, cbrt(q) / 2 - q)``. Repeats are no new data, but show how much hangs on the split: where they
        agree, less is added, ``(2 (r - 1) b2 + e s2) / r``. Hold-outs overlap in their test rows too: ``s2 (1/J + q +
        1/4)``. The constants come from simulation: they are about the smallest that kept the level of every learner
        tried (docs/validation.md).

        Examples
        --------
        >>> variance, df = Design(5, 1, 0.25).variance_of_mean(np.array([0.02, 0.01, 0.03, 0.00, 0.04]))
        >>> round(float(variance), 7), df
        (0.0001287, 4)
        """
        values = np.asarray(differences, dtype=np.float64)
        spread = values.var(axis=0, ddof=1)
        if self.ratio == 0:
            return spread / self.n_splits, self.n_splits - 1
        if self.folds == 1:
            return spread * (1 / self.n_splits + self.ratio + HOLD_OUT_LUCK), self.n_splits - 1
        # More folds than usual share no less luck.
        luck = (
            np.maximum(np.cbrt(np.maximum(self.ratio, 1 / (MOST_FOLDS - 1))) / 2 - self.ratio, 0.0)
            * spread
        )
        if self.repeats > 1:
            means = values.reshape(self.repeats, self.folds, *values.shape[1:]).mean(axis=1)
            seen = 2 * means.var(axis=0, ddof=1)
            luck = np.minimum(luck, ((self.repeats - 1) * seen + luck) / self.repeats)
        return spread * (1 / self.folds + self.ratio) + luck, self.repeats * (self.folds - 1)

    def of_places(self, places: Sequence[int]) -> Design | None:
        """Return the design of what is left of the splits; None where repeats keep unequal numbers of folds.

        Examples
        --------
        >>> Design(5, 2, 0.25).of_places([0, 1, 2, 3, 5, 6, 7, 8]), Design(5, 2, 0.25).of_places([0, 5, 6])
        (Design(folds=4, repeats=2, ratio=0.25), None)
        """
        if self.folds == 1:
            return replace(self, repeats=len(places))
        left = np.bincount(np.asarray(places, dtype=np.int64) // self.folds, minlength=self.repeats)
        kept = left[left > 0]
        if len(kept) == 0 or (kept != kept[0]).any():
            return None
        return replace(self, folds=int(kept[0]), repeats=len(kept))


def design_of(splits: Sequence[Any]) -> Design | None:
    """Tell folds from repeats by the rows they test on; None where the splits are of no kind that is known.

    Parameters
    ----------
    splits : sequence of Split
        In order, repeat by repeat.

    Examples
    --------
    >>> from paragone.data import SplitPlan, load, make_splits
    >>> design_of(make_splits(load("iris"), SplitPlan(folds=5), seed=0))
    Design(folds=5, repeats=1, ratio=0.25)
    """
    sizes: list[int] = []
    seen = np.zeros(1 + max((int(split.test.max()) for split in splits), default=0), dtype=bool)
    for split in splits:
        if not sizes or seen[split.test].any():
            sizes.append(0)
            seen[:] = False
        seen[split.test] = True
        sizes[-1] += 1
    if len(set(sizes)) != 1:
        return None
    ratio = float(np.mean([len(split.test) / len(split.train) for split in splits]))
    return Design(sizes[0], len(sizes), ratio)


def design_of_columns(repeats: Sequence[str], folds: Sequence[str]) -> Design | None:
    """Return the design that the columns ``repeat`` and ``fold`` of a file tell; None where they do not tell it.

    Parameters
    ----------
    repeats, folds : sequence of str
        The keys of every split of a dataset, empty where there is no such column.

    Examples
    --------
    >>> design_of_columns([""] * 10, list("0123456789"))
    Design(folds=10, repeats=1, ratio=0.1111111111111111)
    >>> design_of_columns(["0", "0", "1", "1"], list("abab"))
    Design(folds=2, repeats=2, ratio=1.0)
    >>> print(design_of_columns([""] * 100, [str(number) for number in range(100)]))
    None
    """
    _, counts = np.unique(np.asarray(repeats, dtype=object).astype(str), return_counts=True)
    n_folds = int(counts[0])
    if (counts != n_folds).any() or (
        len(counts) == 1 and (n_folds > MOST_FOLDS or named_repeats(folds))
    ):
        return None
    if n_folds == 1:
        # Hold-outs: how many rows they test on, no column tells.
        return Design(1, len(counts), np.nan) if len(counts) > 1 else None
    return Design(n_folds, len(counts), 1 / (n_folds - 1))


def named_repeats(folds: Sequence[str]) -> int:
    """Return how many repeats the names of folds speak of, such as ``r0f3``; 0 where they do not.

    Examples
    --------
    >>> named_repeats(["r0f0", "r0f1", "r1f0", "r1f1"]), named_repeats(["fold0", "fold1"]), named_repeats(["0", "1"])
    (2, 0, 0)
    """
    found = [_REPEAT_AND_FOLD.match(name) for name in folds]
    if not found or not all(found):
        return 0
    firsts = {match[1] for match in found if match}
    return len(firsts) if len(firsts) > 1 else 0


def said_design(
    known: Design | None, n_splits: int, repeats: int | None, ratio: float | None
) -> Design | None:
    """Return the design as the user says it is, which overrules what is known of it.

    Parameters
    ----------
    known : Design or None
        What the splits or the columns tell.
    n_splits : int
        How many scores a method has on the dataset.
    repeats : int or None
        How often the rows were split anew.
    ratio : float or None
        ``n_test / n_train`` of a split. Where it is that of k folds and the scores are several
        times k, they are taken for repeats of k folds, which claims less than as many hold-outs
        would.

    Examples
    --------
    >>> said_design(None, 100, 10, None)
    Design(folds=10, repeats=10, ratio=0.1111111111111111)
    >>> said_design(None, 30, None, 0.25), said_design(Design(1, 12, 0.09), 12, None, 1.0)
    (Design(folds=5, repeats=6, ratio=0.25), Design(folds=1, repeats=12, ratio=1.0))
    """
    if n_splits < 2 or (repeats is None and ratio is None):
        return known
    if repeats is None:
        share = float(ratio if ratio is not None else np.nan)
        if known is not None:
            return replace(known, ratio=share)
        folds = round(1 / share) + 1
        whole = abs(1 / share + 1 - folds) <= 0.02 * folds and n_splits % folds == 0
        return Design(folds, n_splits // folds, share) if whole else Design(1, n_splits, share)
    if repeats < 1 or n_splits % repeats:
        divides = f"choose {argument('repeats')} that divide them"
        raise InputError(f"{n_splits} folds are not {repeats} repeats of equally many: {divides}")
    folds = n_splits // repeats
    if folds == 1 and ratio is None:
        also = argument("test_train_ratio", "N_TEST/N_TRAIN")
        raise InputError(f"{n_splits} repeats of one split are hold-outs: say {also} as well")
    of_known = known.ratio if known is not None and known.folds == folds else 1 / max(folds - 1, 1)
    torn = known is not None and known.torn_groups
    return Design(folds, repeats, of_known if ratio is None else ratio, torn)


def asked_for(n_splits: int, folds: Sequence[str]) -> str:
    """Return what to say so that the folds of a dataset can be tested; without folds, that of hold-outs.

    Examples
    --------
    >>> asked_for(100, [str(number) for number in range(100)])
    'repeats=10 (if they are 10 times 10 folds), repeats=1 (one cross-validation) or
    test_train_ratio=N_TEST/N_TRAIN'
    """
    ratio = argument("test_train_ratio", "N_TEST/N_TRAIN")
    if not any(folds):
        return ratio
    likely = named_repeats(folds) or next(
        (n_splits // k for k in (10, 5, 2) if n_splits % k == 0), 1
    )
    several = (
        f"{argument('repeats', likely)} (if they are {likely} times {n_splits // likely} folds), "
    )
    return (
        f"{several if likely > 1 else ''}{argument('repeats', 1)} (one cross-validation) or {ratio}"
    )


def designs_in_words(designs: Sequence[Design | None]) -> str:
    """Say how datasets were split, each way once.

    Examples
    --------
    >>> designs_in_words([Design(5, 1, 0.25), Design(5, 1, 0.25), Design(1, 12, 1.0), None])
    '5 folds (n_test/n_train = 0.25); 12 hold-outs (n_test/n_train = 1); not known for 1 dataset'
    """
    texts: dict[str, None] = {}
    for one in designs:
        if one is None:
            continue
        if one.ratio == 0:
            texts[f"{one.n_splits} subjects"] = None
            continue
        what = f"{one.repeats} hold-outs" if one.folds == 1 else f"{one.folds} folds"
        times = f"{one.repeats} x " if one.folds > 1 and one.repeats > 1 else ""
        texts[f"{times}{what} (n_test/n_train = {one.ratio:.3g})"] = None
    unknown = sum(one is None for one in designs)
    return "; ".join(
        [*texts, *([f"not known for {unknown} dataset{'s' * (unknown > 1)}"] if unknown else [])]
    )
