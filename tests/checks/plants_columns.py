"""Leaks planted in columns: features made from the target, and scalers, encoders and selections fitted on all rows."""

from __future__ import annotations

import numpy as np
from planted_leaks import data_plant
from plants_rows import split
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from paragone.checks.material import Material
from paragone.data import Dataset


def with_column(rng: np.random.Generator, n: int, make) -> Material:
    """Put a column made from fair labels beside seven normal ones."""
    X, y = rng.normal(size=(n, 8)), rng.integers(0, 2, n)
    X[:, 3] = make(X[:, 3], y)
    return split(Dataset("plant", X, y, "classification"))


def skewed(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.exp(rng.normal(size=(n, 8))) @ (np.eye(8) + 0.3 * rng.normal(size=(8, 8)))


def transformed(rng: np.random.Generator, n: int, transformer, columns: float) -> Material:
    """Fit a transformer on all rows of some columns of eight."""
    X = skewed(rng, n)
    y = rng.integers(0, 2, n)
    some = slice(0, int(columns))
    made = transformer.fit_transform(X[:, some])
    return split(
        Dataset("plant", np.column_stack([made, X[:, int(columns) :]]), y, "classification")
    )


RIGHT = {"sizes": (0.8, 0.9, 0.95, 1.0), "rows": (50, 100, 200, 1000)}


@data_plant(
    "columns",
    "a copy of the label with errors",
    "PG120",
    n=200,
    amount=0.95,
    unit="{amount} of {n} rows",
    **RIGHT,
)
def _(rng, n, right):
    """A 0/1 column equals the label in some of the rows, at random."""
    return with_column(rng, n, lambda _, y: np.where(rng.random(n) < right, y, 1 - y))


@data_plant(
    "columns",
    "an exact copy",
    "PG105",
    n=40,
    amount=1,
    unit="{amount} column, {n} rows",
    rows=(20, 25, 30, 40),
)
def _(rng, n, _):
    """A column is another code of the label."""
    return with_column(rng, n, lambda _, y: 7 - 3 * y)


@data_plant(
    "columns",
    "the parity of an id",
    "PG120",
    n=200,
    amount=0.95,
    unit="{amount} of {n} ids",
    **RIGHT,
)
def _(rng, n, right):
    """A whole number is odd where the label is 1, in some of the rows."""
    return with_column(
        rng,
        n,
        lambda _, y: (
            2 * rng.choice(9 * n, n, replace=False) + np.where(rng.random(n) < right, y, 1 - y)
        ),
    )


@data_plant(
    "columns",
    "gaps that tell the label",
    "PG120",
    "PG106",
    n=200,
    amount=0.7,
    unit="{amount} more gaps in one class of {n} rows",
    sizes=(0.3, 0.5, 0.7, 0.9),
    rows=(50, 100, 200, 1000),
)
def _(rng, n, more):
    """A value is missing in 5 % of the rows of one class and in more of those of the other."""
    return with_column(
        rng, n, lambda x, y: np.where(rng.random(n) < 0.05 + y * min(more, 0.95), np.nan, x)
    )


@data_plant(
    "columns",
    "a column that is constant within a class",
    "PG120",
    "PG106",
    n=400,
    amount=1,
    unit="{amount} of 2 classes, {n} rows",
)
def _(rng, n, _):
    """A measurement holds one value for all rows of one class."""
    return with_column(rng, n, lambda x, y: np.where(y, x, 0.5))


@data_plant(
    "columns",
    "either of two columns, not both",
    "PG121",
    n=200,
    amount=0.95,
    unit="{amount} of {n} rows",
    **RIGHT,
)
def _(rng, n, right):
    """The label is the exclusive or of two 0/1 columns of twenty, in some of the rows."""
    X = rng.integers(0, 2, (n, 20))
    y = X[:, 4] ^ X[:, 11]
    return split(Dataset("plant", X, np.where(rng.random(n) < right, y, 1 - y), "classification"))


@data_plant(
    "columns",
    "the difference of two columns",
    "PG121",
    n=200,
    amount=0,
    unit="noise {amount} of the spread, {n} rows",
    sizes=(0, 0.01, 0.05, 0.2),
    rows=(50, 100, 200, 1000),
)
def _(rng, n, noise):
    """The label says which of two normal columns of twenty is greater, but for noise."""
    X = rng.normal(size=(n, 20))
    y = (X[:, 4] - X[:, 11] + noise * rng.normal(size=n) > 0).astype(int)
    return split(Dataset("plant", X, y, "classification"))


@data_plant(
    "columns",
    "a target that is the sum of two columns",
    "PG121",
    n=60,
    amount=0.005,
    unit="noise {amount} of the spread, {n} rows",
    sizes=(0, 0.005, 0.02, 0.1),
    rows=(20, 60, 200, 1000),
)
def _(rng, n, noise):
    """The target is the sum of two normal columns of twenty, but for noise."""
    X = rng.normal(size=(n, 20))
    return split(Dataset("plant", X, X[:, 4] + X[:, 11] + noise * rng.normal(size=n), "regression"))


COLUMNS = {
    "sizes": (1, 2, 4, 8),
    "rows": (30, 100, 1000),
    "unit": "{amount} of 8 columns, {n} rows",
    "n": 60,
}


@data_plant("columns", "standardised on all rows", "PG107", amount=1, **COLUMNS)
def _(rng, n, columns):
    """Mean and deviation of all rows are taken from and divided into columns."""
    return transformed(rng, n, StandardScaler(), columns)


@data_plant("columns", "brought to (0, 1) on all rows", "PG107", amount=4, **COLUMNS)
def _(rng, n, columns):
    """Columns are brought to (0, 1) by the least and greatest of all rows."""
    return transformed(rng, n, MinMaxScaler(), columns)


@data_plant("columns", "divided by the greatest of all rows", "PG107", amount=4, **COLUMNS)
def _(rng, n, columns):
    """Columns are divided by the greatest size of all rows."""
    return transformed(rng, n, MaxAbsScaler(), columns)


@data_plant("columns", "scaled by median and quartiles of all rows", "PG107", amount=1, **COLUMNS)
def _(rng, n, columns):
    """The median of all rows is taken from columns, and their quartiles brought 1 apart."""
    return transformed(rng, n, RobustScaler(), columns)


@data_plant("columns", "ranks over all rows", "PG107", amount=1, **COLUMNS)
def _(rng, n, columns):
    """Columns are turned into quantiles of all rows."""
    return transformed(rng, n, QuantileTransformer(n_quantiles=min(n, 1000)), columns)


@data_plant("columns", "normal scores over all rows", "PG107", amount=1, **COLUMNS)
def _(rng, n, columns):
    """Columns are turned into normal scores of all rows."""
    return transformed(
        rng, n, QuantileTransformer(n_quantiles=min(n, 1000), output_distribution="normal"), columns
    )


@data_plant("columns", "principal components of all rows", "PG107", amount=4, **COLUMNS)
def _(rng, n, columns):
    """Columns are turned into the principal components of all rows."""
    return transformed(rng, n, PCA(), columns)


@data_plant(
    "columns",
    "gaps filled in with means of all rows",
    "PG124",
    n=200,
    amount=0.05,
    unit="{amount} of the values of {n} rows",
    sizes=(0.01, 0.02, 0.05, 0.2),
    rows=(50, 200, 1000),
)
def _(rng, n, gaps):
    """Values are missing at random in eight columns and filled in with the mean of each."""
    X = skewed(rng, n)
    X[rng.random(X.shape) < gaps] = np.nan
    return split(
        Dataset("plant", SimpleImputer().fit_transform(X), rng.integers(0, 2, n), "classification")
    )


@data_plant(
    "columns",
    "means of the label over all rows",
    "PG122",
    n=100,
    amount=8,
    unit="{amount} categories, {n} rows",
    sizes=(3, 5, 8, 40),
    rows=(30, 100, 1000),
)
def _(rng, n, categories):
    """A category without bearing on the label is replaced by the mean of the label, over all rows."""
    category = rng.integers(0, int(categories), n)
    return with_column(
        rng,
        n,
        lambda _, y: (np.bincount(category, weights=y) / np.maximum(np.bincount(category), 1))[
            category
        ],
    )


@data_plant(
    "columns",
    "means of a number, drawn to the mean of all rows",
    "PG122",
    n=100,
    amount=8,
    unit="{amount} categories, {n} rows",
    sizes=(3, 5, 8, 40),
    rows=(30, 100, 1000),
)
def _(rng, n, categories):
    """A category without bearing on the target is replaced by (sum + 10 mean of all) / (rows + 10)."""
    X, y, category = (
        rng.normal(size=(n, 6)),
        rng.normal(size=n),
        rng.integers(0, int(categories), n),
    )
    sums, counts = np.bincount(category, weights=y), np.bincount(category)
    X[:, 2] = ((sums + 10 * y.mean()) / (counts + 10))[category]
    return split(Dataset("plant", X, y, "regression"))


@data_plant(
    "columns",
    "columns chosen on all rows",
    "PG123",
    n=100,
    amount=40,
    unit="{amount} of 2000 columns of noise, {n} rows",
    sizes=(10, 20, 40, 100),
    rows=(60, 100, 500),
)
def _(rng, n, kept):
    """Of 2000 columns of noise those are kept that correlate best with fair labels, over all rows."""
    X, y = rng.normal(size=(n, 2000)), rng.integers(0, 2, n)
    strength = np.abs((X - X.mean(axis=0)).T @ (y - y.mean())) / X.std(axis=0)
    return split(
        Dataset("plant", X[:, np.sort(np.argsort(-strength)[: int(kept)])], y, "classification")
    )
