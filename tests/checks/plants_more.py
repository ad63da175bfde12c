"""More leaks that people make: rows repeated in other ways, targets in other clothes, figures of all rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
from planted_leaks import data_plant
from plants_rows import classed, split
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import PowerTransformer

from paragone.checks.material import Material
from paragone.data import Dataset

ROWS = (50, 200, 1000)


def with_number(rng: np.random.Generator, n: int, make) -> Material:
    """Put a column made from a target of noise and signal beside six normal ones."""
    X = rng.normal(size=(n, 6))
    y = X[:, 0] + 0.5 * rng.normal(size=n)
    return split(Dataset("plant", np.column_stack([X, make(X, y)]), y, "regression"))


# ---------------------------------------------------------------- rows


@data_plant(
    "rows",
    "a file pasted twice",
    "PG101",
    n=200,
    amount=2,
    unit="{n} rows, each {amount} times",
    rows=ROWS,
)
def _(rng, n, times):
    """The file was put together from parts, and one part was taken more than once."""
    X = rng.normal(size=(n // int(times), 6))
    rows = np.tile(np.arange(len(X)), int(times))
    return split(Dataset("plant", X[rows], classed(rng, X)[rows], "classification"))


@data_plant(
    "rows",
    "a bootstrap before the split",
    "PG101",
    n=200,
    amount=1,
    unit="{n} rows drawn with replacement",
    rows=ROWS,
)
def _(rng, n, _):
    """Rows are drawn with replacement, and then split."""
    X = rng.normal(size=(n, 6))
    rows = rng.integers(0, n, n)
    return split(Dataset("plant", X[rows], classed(rng, X)[rows], "classification"))


@data_plant(
    "rows",
    "rounded twins",
    "PG102",
    n=200,
    amount=2,
    unit="10 of {n} rows copied, with {amount} decimals",
    sizes=(1, 2, 3),
    rows=(100, 200, 1000),
)
def _(rng, n, decimals):
    """Ten rows stand there a second time, as another program printed them."""
    X = rng.normal(size=(n, 6))
    y = X[:, 0] + rng.normal(size=n)
    X, y = np.concatenate([X, X[:10].round(int(decimals))]), np.concatenate([y, y[:10]])
    return split(Dataset("plant", X, y, "regression"))


@data_plant(
    "rows",
    "copies with noise, before the split",
    "PG130",
    "PG102",
    n=200,
    amount=0.05,
    unit="{n} rows, three of each, noise {amount}",
    sizes=(0.02, 0.05, 0.1, 0.3),
    rows=(100, 200, 1000),
)
def _(rng, n, noise):
    """Data is made larger by copies with noise, shuffled, and then split."""
    X = rng.normal(size=(n // 3 + 1, 6))
    rows = rng.permutation(np.arange(n) // 3)
    return split(
        Dataset(
            "plant",
            X[rows] + noise * rng.normal(size=(n, 6)),
            classed(rng, X)[rows],
            "classification",
        )
    )


@data_plant(
    "rows",
    "mixtures of two rows",
    "PG135",
    n=200,
    amount=30,
    unit="{amount} mixtures beside {n} rows",
    sizes=(5, 10, 30),
    rows=(100, 200, 400),
)
def _(rng, n, mixed):
    """Means of two rows, target and all, are added before the split."""
    X = rng.normal(size=(n, 6))
    y = X[:, 0] + rng.normal(size=n)
    one, other = rng.integers(0, n, (2, int(mixed)))
    X = np.concatenate([X, (X[one] + X[other]) / 2])
    return split(Dataset("plant", X, np.concatenate([y, (y[one] + y[other]) / 2]), "regression"))


@data_plant(
    "rows",
    "a series at twice its rate",
    "PG135",
    "PG132",
    n=200,
    amount=2,
    unit="{n} rows",
    rows=(100, 200, 600),
)
def _(rng, n, _):
    """Values between two measurements are filled in by straight lines, and then rows are split at random."""
    walk = np.cumsum(rng.normal(size=(n // 2 + 1, 5)), axis=0)
    place = np.arange(n) / 2
    X = np.column_stack([np.interp(place, np.arange(len(walk)), column) for column in walk.T])
    return split(Dataset("plant", X[:, :4], X[:, 4], "regression"))


# ---------------------------------------------------------------- columns


@data_plant(
    "columns",
    "the answer as text",
    "PG105",
    n=40,
    amount=1,
    unit="{amount} column, {n} rows",
    rows=(20, 25, 30, 40),
)
def _(rng, n, _):
    """A text column names the class in other words."""
    X = rng.normal(size=(n, 2))
    y = rng.permutation(np.arange(n) % 2)
    frame = pd.DataFrame({"a": X[:, 0], "found": np.where(y, "ill", "well"), "b": X[:, 1]})
    return split(Dataset("plant", frame, y, "classification"))


@data_plant(
    "columns",
    "the target in other units",
    "PG105",
    n=40,
    amount=1,
    unit="{amount} column, {n} rows",
    rows=(10, 20, 40),
)
def _(rng, n, _):
    """A column is the target in Fahrenheit."""
    return with_number(rng, n, lambda _, y: 32 + 1.8 * y)


@data_plant(
    "columns",
    "the target with noise",
    "PG120",
    n=200,
    amount=0.1,
    unit="noise {amount} of the spread, {n} rows",
    sizes=(0.01, 0.05, 0.1, 0.3),
    rows=ROWS,
)
def _(rng, n, noise):
    """A column is a second measurement of the target."""
    return with_number(rng, n, lambda _, y: y + noise * y.std() * rng.normal(size=n))


@data_plant(
    "columns",
    "the rank of the target",
    "PG106",
    n=100,
    amount=1,
    unit="{amount} column, {n} rows",
    rows=(20, 50, 100),
)
def _(rng, n, _):
    """A column holds the place of each row when all are sorted by the target."""
    return with_number(rng, n, lambda _, y: np.argsort(np.argsort(y)).astype(float))


@data_plant(
    "columns",
    "the target less another column",
    "PG121",
    n=60,
    amount=1,
    unit="{amount} column, {n} rows",
    rows=(20, 60, 200),
)
def _(rng, n, _):
    """A column is what is left of the target when another column is taken from it."""
    return with_number(rng, n, lambda X, y: y - X[:, 1])


@data_plant(
    "columns",
    "a date that tells the class",
    "PG106",
    n=60,
    amount=1,
    unit="{amount} column, {n} rows",
    rows=(20, 30, 60),
)
def _(rng, n, _):
    """One class was collected a year later than the other."""
    y = rng.permutation(np.arange(n) % 2)
    day = pd.Timestamp("2020-01-01") + pd.to_timedelta(400 * y + rng.integers(0, 300, n), unit="D")
    return split(
        Dataset("plant", pd.DataFrame({"a": rng.normal(size=n), "day": day}), y, "classification")
    )


@data_plant(
    "columns",
    "numbers given out by class",
    "PG106",
    n=60,
    amount=1,
    unit="{amount} column, {n} rows",
    rows=(20, 30, 60),
)
def _(rng, n, _):
    """One class has the numbers from 5000 on."""
    y = rng.permutation(np.arange(n) % 2)
    number = 5000 * y + rng.permutation(5000)[:n]
    return split(
        Dataset("plant", np.column_stack([rng.normal(size=(n, 3)), number]), y, "classification")
    )


@data_plant(
    "columns",
    "means of a number over all other rows",
    "PG122",
    n=100,
    amount=8,
    unit="{amount} categories, {n} rows",
    sizes=(3, 8, 20),
    rows=(50, 100, 1000),
)
def _(rng, n, categories):
    """A category, which stands beside it, is replaced by the mean of the target over its other rows."""
    X, y, category = (
        rng.normal(size=(n, 4)),
        rng.normal(size=n),
        rng.integers(0, int(categories), n),
    )
    counts = np.bincount(category)[category]
    others = (np.bincount(category, weights=y)[category] - y) / np.maximum(counts - 1, 1)
    return split(Dataset("plant", np.column_stack([X, category, others]), y, "regression"))


COLUMNS = {
    "sizes": (1, 2, 4, 8),
    "rows": (30, 100, 1000),
    "unit": "{amount} of 8 columns, {n} rows",
    "n": 60,
}


def turned(rng: np.random.Generator, n: int, transformer, columns: float) -> Material:
    X = np.exp(rng.normal(size=(n, 8)))
    made = transformer.fit_transform(X[:, : int(columns)])
    X = np.column_stack([made, X[:, int(columns) :]])
    return split(Dataset("plant", X, rng.permutation(np.arange(n) % 2), "classification"))


@data_plant("columns", "made normal by a power over all rows", "PG107", amount=2, **COLUMNS)
def _(rng, n, columns):
    """Columns go through Yeo and Johnson's transformation, fitted on all rows."""
    return turned(rng, n, PowerTransformer(), columns)


@data_plant("columns", "whitened over all rows", "PG107", amount=4, **COLUMNS)
def _(rng, n, columns):
    """Columns are turned into principal components of all rows, each of deviation 1."""
    return turned(rng, n, PCA(whiten=True), columns)


@data_plant(
    "columns",
    "gaps filled in with medians of all rows",
    "PG124",
    n=200,
    amount=0.05,
    unit="{amount} of the values of {n} rows",
    sizes=(0.02, 0.05, 0.2),
    rows=ROWS,
)
def _(rng, n, gaps):
    """Values are missing at random in six columns and filled in with the median of each."""
    X = rng.normal(size=(n, 6))
    y = classed(rng, X)
    X[rng.random(X.shape) < gaps] = np.nan
    return split(
        Dataset("plant", SimpleImputer(strategy="median").fit_transform(X), y, "classification")
    )
