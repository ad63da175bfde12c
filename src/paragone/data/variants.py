"""Variants of generated datasets: fewer rows, classes of exact shares, noisy labels, with rows of their own.

What was proven of a dataset is proven of the dataset as it is. A variant has the same formula and
the same cut, and nothing is claimed of it unless it was put to proof itself.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from paragone.data.dataset import Dataset
from paragone.data.digen import checked_formula
from paragone.data.formulas import Expression
from paragone.errors import InputError, unknown_name
from paragone.validation import FloatArray

_VARIANT_SEEDS = 4 << 48
"""Lies above the seeds of all other rows: those of a dataset, of races and of a proof."""
_OTHER_ROWS = 8
_MOST_BLOCKS = 200


@dataclass(frozen=True)
class DatasetVariant:
    """How a variant differs from its dataset.

    Parameters
    ----------
    name : str
        What stands behind the last colon of a reference.
    words : str
        What is different, in words.
    n_rows : int, optional
        Its rows; as many as the dataset has where it is not given.
    noise : float, default=0.0
        The share of labels that are drawn anew with the shares of the classes.
    positive : float, optional
        The exact share of class 1 among the rows; the population's where it is not given.

    Examples
    --------
    >>> VARIANTS["small"].n_rows
    200
    """

    name: str
    words: str
    n_rows: int | None = None
    noise: float = 0.0
    positive: float | None = None

    def seed(self, md5: str, seed: int) -> int:
        """Return the seed of the variant's own rows, which follows from the formula's hash and the dataset's seed."""
        read = hashlib.sha256(f"{self.name}\n{md5}\n{seed}".encode()).hexdigest()
        return _VARIANT_SEEDS + int(read[:12], 16)

    def note(self, dataset: str) -> str:
        """Say what it is and what is not claimed of it.

        Examples
        --------
        >>> VARIANTS["noisy"].note("paragone-v1-3").partition("; ")[0]
        'paragone-v1-3 with 10 % of the labels drawn anew'
        """
        return (
            f"{dataset} with {self.words}; claims are of {dataset} itself, and nothing is claimed"
            " of this variant unless it was put to proof"
        )


VARIANTS = {
    variant.name: variant
    for variant in (
        DatasetVariant("small", "200 rows", n_rows=200),
        DatasetVariant("balanced", "exactly half of the rows in each class", positive=0.5),
        DatasetVariant("imbalanced", "exactly one row in ten of class 1", positive=0.1),
        DatasetVariant("noisy", "10 % of the labels drawn anew", noise=0.1),
    )
}
"""By their names."""


def variant_named(name: str) -> DatasetVariant:
    """Return a variant by its name.

    Examples
    --------
    >>> variant_named("noisi")
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: unknown variant 'noisi': did you mean 'noisy'?
    """
    if name not in VARIANTS:
        raise unknown_name("variant", name, VARIANTS)
    return VARIANTS[name]


def split_variant(wanted: str) -> tuple[str, DatasetVariant | None]:
    """Return the dataset of a reference, and the variant that stands behind a colon.

    Examples
    --------
    >>> split_variant("3:small")[0], split_variant("3")
    ('3', ('3', None))
    """
    dataset, colon, name = wanted.partition(":")
    return (dataset, variant_named(name)) if colon else (wanted, None)


def draw_variant(
    formula: Expression,
    cut: tuple[float, bool],
    shape: tuple[int, int],
    variant: DatasetVariant,
    seed: np.random.SeedSequence,
) -> tuple[FloatArray, NDArray[np.uint8]]:
    """Draw standard normal rows and their labels as a variant has them.

    Parameters
    ----------
    formula : Expression
        What the labels follow from.
    cut : (float, bool)
        Labels are 1 above this value, and at it where that is included.
    shape : (int, int)
        Rows and columns.
    variant : DatasetVariant
        Noise and shares of the classes.
    seed : SeedSequence
        Of the rows.

    Examples
    --------
    >>> seed, above_one = np.random.SeedSequence(1), (1.0, True)
    >>> X, labels = draw_variant(Expression.parse("X0"), above_one, (50, 2), VARIANTS["balanced"], seed)
    >>> X.shape, int(labels.sum())
    ((50, 2), 25)
    """
    rng = np.random.default_rng(seed)
    if variant.positive is not None:
        return _with_shares(formula, cut, shape, variant.positive, rng)
    X = rng.normal(size=shape)
    labels = _labelled(formula, cut, X)
    if variant.noise:
        # The label of another row, seen by nobody, has the shares of the classes and knows nothing
        # of this one.
        own = np.random.default_rng(
            np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, _OTHER_ROWS))
        )
        again = own.random(shape[0]) < variant.noise
        labels = np.where(again, _labelled(formula, cut, own.normal(size=shape)), labels)
    return X, labels


def _labelled(formula: Expression, cut: tuple[float, bool], X: FloatArray) -> NDArray[np.uint8]:
    value, inclusive = cut
    values = formula.evaluate(X)
    if not np.isfinite(values).all():
        raise InputError(f"the formula {formula} is not finite on every row of the sample")
    return (values >= value if inclusive else values > value).astype(np.uint8)


def _with_shares(
    formula: Expression,
    cut: tuple[float, bool],
    shape: tuple[int, int],
    positive: float,
    rng: np.random.Generator,
) -> tuple[FloatArray, NDArray[np.uint8]]:
    """Take the first rows of each class, in the order in which they were drawn."""
    n_of = {1: round(shape[0] * positive)}
    n_of[0] = shape[0] - n_of[1]
    rows, labels = np.empty((0, shape[1])), np.empty(0, dtype=np.uint8)
    for _ in range(_MOST_BLOCKS):
        block = rng.normal(size=shape)
        rows, labels = (
            np.vstack([rows, block]),
            np.concatenate([labels, _labelled(formula, cut, block)]),
        )
        if all((labels == one).sum() >= n for one, n in n_of.items()):
            taken = np.sort(
                np.concatenate([np.flatnonzero(labels == one)[:n] for one, n in n_of.items()])
            )
            return rows[taken], labels[taken]
    raise InputError(
        f"{formula}: one class is too rare to be {max(positive, 1 - positive):.0%} of {shape[0]}"
        " rows"
    )


class _Entry(Protocol):
    """What a dataset is made of; `paragone.data.evolved` has such entries, and reads this module."""

    @property
    def name(self) -> str: ...
    @property
    def formula(self) -> str: ...
    @property
    def md5(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def cut(self) -> float | None: ...
    @property
    def inclusive(self) -> bool: ...


def make_variant(entry: _Entry, variant: DatasetVariant) -> Dataset:
    """Make a variant of a dataset, with rows of its own; its note says that nothing is claimed of it.

    Examples
    --------
    >>> from paragone.data.evolved import find
    >>> half = make_variant(find("paragone-v1", "1"), VARIANTS["balanced"])
    >>> half.name, float(half.y.mean())
    ('paragone-v1-1-balanced', 0.5)
    """
    if entry.cut is None:
        raise InputError(
            f"dataset {entry.name!r} has no cut between two classes, and so no variants"
        )
    X, labels = draw_variant(
        checked_formula(entry.name, entry.formula, entry.md5),
        (entry.cut, entry.inclusive),
        (variant.n_rows or entry.n_rows, entry.n_features),
        variant,
        np.random.SeedSequence(variant.seed(entry.md5, entry.seed)),
    )
    return Dataset(
        f"{entry.name}-{variant.name}",
        X,
        labels.astype(np.int64),
        "classification",
        feature_names=tuple(f"X{j}" for j in range(entry.n_features)),
        target_names=("target",),
        notes=(variant.note(entry.name),),
    )
