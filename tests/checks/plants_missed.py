"""Leaks that the audit does not find, kept so that the page says so: whoever finds one moves it to its kind."""

from __future__ import annotations

import numpy as np
from planted_leaks import data_plant
from plants_rows import classed, split
from sklearn.impute import KNNImputer

from paragone.data import Dataset


@data_plant(
    "missed",
    "gaps filled in from near rows of all parts",
    "PG124",
    n=200,
    amount=0.05,
    unit="{amount} of the values of {n} rows",
)
def _(rng, n, gaps):
    """Values are missing at random and filled in with means of the five nearest rows, test rows too."""
    X = rng.normal(size=(n, 6))
    y = classed(rng, X)
    X[rng.random(X.shape) < gaps] = np.nan
    return split(Dataset("plant", KNNImputer().fit_transform(X), y, "classification"))


@data_plant(
    "missed",
    "bins of equal size over all rows",
    "PG107",
    n=200,
    amount=6,
    unit="{amount} of 6 columns, {n} rows",
)
def _(rng, n, _):
    """Columns are cut at the quintiles of all rows."""
    X = rng.normal(size=(n, 6))
    bins = np.argsort(np.argsort(X, axis=0), axis=0) * 5 // n
    return split(Dataset("plant", bins.astype(float), classed(rng, X), "classification"))


@data_plant(
    "missed",
    "centred within each class",
    "PG122",
    "PG107",
    n=200,
    amount=6,
    unit="{amount} of 6 columns, {n} rows",
)
def _(rng, n, _):
    """The mean of each class, over all rows, is taken from its rows."""
    X = rng.normal(size=(n, 6))
    y = classed(rng, X)
    X = X - np.stack([X[y == 0].mean(axis=0), X[y == 1].mean(axis=0)])[y]
    return split(Dataset("plant", X, y, "classification"))


@data_plant("missed", "either of three columns", "PG121", n=200, amount=1, unit="all {n} rows")
def _(rng, n, _):
    """The label is the exclusive or of three 0/1 columns of eight; pairs alone are looked at."""
    X = rng.integers(0, 2, (n, 8))
    return split(Dataset("plant", X, X[:, 0] ^ X[:, 1] ^ X[:, 2], "classification"))


@data_plant("missed", "the last digit", "PG120", n=200, amount=1, unit="all {n} rows")
def _(rng, n, _):
    """The second decimal of a column is odd for one class; remainders of whole numbers alone are looked at."""
    X = rng.normal(size=(n, 6))
    y = classed(rng, X)
    X[:, 3] = rng.normal(50, 9, n).round(1) + 0.01 * (2 * rng.integers(0, 5, n) + y)
    return split(Dataset("plant", X.round(2), y, "classification"))


@data_plant(
    "missed", "the target of the next row", "PG120", "PG132", n=200, amount=1, unit="all {n} rows"
)
def _(rng, n, _):
    """A column holds the target of the row after, in rows that are otherwise independent."""
    X = rng.normal(size=(n, 6))
    y = X[:, 0] + 0.5 * rng.normal(size=n)
    return split(Dataset("plant", np.column_stack([X, np.roll(y, -1)]), y, "regression"))
