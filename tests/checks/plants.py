"""The one list of planted leaks: in rows, columns, methods and reports, and those that are known to be missed."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from made_labs import herb_garden
from method_lab import codes_of_method, found_codes, leaky, leaky_folder, noise
from planted_leaks import data_plant, plant
from sklearn.decomposition import PCA
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier

import paragone
from paragone import Experiment
from paragone.checks.material import Material, sides_of
from paragone.data import Dataset, SplitPlan, make_splits
from paragone.protocols import Crossval, Curve, KGrid, Predict, TopK

# ---------------------------------------------------------------- rows


Draw = np.random.Generator


def split(dataset: Dataset, plan: SplitPlan | None = None, seed: int = 0) -> Material:
    return Material(
        dataset.name, dataset, sides_of(make_splits(dataset, plan or SplitPlan(), seed)), (dataset,)
    )


def classed(rng: Draw, X) -> np.ndarray:
    return (
        np.asarray(X)[:, 0] + rng.normal(size=X.shape[0]) > np.median(np.asarray(X)[:, 0])
    ).astype(int)


def with_twins(
    rng: Draw, X: np.ndarray, y: np.ndarray, twins: int
) -> tuple[np.ndarray, np.ndarray]:
    """Put a copy of some rows in the place of others, target and all."""
    rows = rng.permutation(len(X))[: 2 * twins]
    X, y = X.copy(), y.copy()
    X[rows[:twins]], y[rows[:twins]] = X[rows[twins:]], y[rows[twins:]]
    return X, y


@data_plant(
    "rows",
    "twins of measured rows",
    "PG101",
    n=200,
    amount=5,
    unit="{amount} of {n} rows copied",
    sizes=(1, 2, 5, 10),
    rows=(50, 200, 1000),
)
def _(rng, n, twins):
    """Rows of eight normal features stand there twice; five folds."""
    X = rng.normal(size=(n, 8))
    X, y = with_twins(rng, X, classed(rng, X), int(twins))
    return split(Dataset("plant", X, y, "classification"))


@data_plant(
    "rows",
    "near twins",
    "PG102",
    n=400,
    amount=0.05,
    unit="5 of {n} rows copied with {amount} of the spread",
    sizes=(0.01, 0.05, 0.1, 0.2),
    rows=(100, 400, 1000),
)
def _(rng, n, noise):
    """Rows of eight normal features stand there twice, the second time with noise."""
    X = rng.normal(size=(n, 8))
    X, y = with_twins(rng, X, classed(rng, X), 5)
    return split(Dataset("plant", X + noise * rng.normal(size=X.shape), y, "classification"))


@data_plant(
    "rows",
    "replicates in file order",
    "PG104",
    n=180,
    amount=0.3,
    unit="{n} rows in threes, noise {amount}",
    sizes=(0.1, 0.3, 0.6, 1.0),
    rows=(60, 180, 600),
)
def _(rng, n, noise):
    """Samples are measured three times, one after the other, and nobody says so."""
    samples = rng.normal(size=(n // 3, 6))
    X = np.repeat(samples, 3, axis=0) + noise * rng.normal(size=(n // 3 * 3, 6))
    return split(Dataset("plant", X, np.repeat(samples[:, 0], 3), "regression"))


@data_plant(
    "rows",
    "groups torn apart",
    "PG103",
    n=120,
    amount=1,
    unit="{amount} of 30 groups of {n} rows torn",
    sizes=(1, 3),
    rows=(60, 120, 240),
)
def _(rng, n, torn):
    """A stored split tears some of the declared groups apart."""
    groups = np.arange(n) // 4
    held = np.isin(groups, np.arange(6))
    held[[4 * group for group in range(int(torn))]] = False
    pair = (np.flatnonzero(~held), np.flatnonzero(held))
    X = rng.normal(size=(n, 4))
    return split(Dataset("plant", X, X[:, 0], "regression", groups=groups), SplitPlan.of([pair]))


@data_plant(
    "rows",
    "twins in answers",
    "PG101",
    n=300,
    amount=12,
    unit="{amount} of {n} rows copied",
    sizes=(3, 6, 12, 24),
    rows=(100, 300, 1000),
)
def _(rng, n, twins):
    """Rows of fourteen answers from 1 to 5, which hang together, stand there twice."""
    trait = rng.normal(size=(n, 1))
    X = np.clip(np.round(3 + 0.8 * trait + rng.normal(size=(n, 14))), 1, 5)
    X, y = with_twins(rng, X, classed(rng, trait), int(twins))
    return split(Dataset("plant", X, y, "classification"))


@data_plant(
    "rows",
    "twins among yes and no with a measured target",
    "PG101",
    n=300,
    amount=10,
    unit="{amount} of {n} rows copied",
    sizes=(5, 10, 20),
    rows=(150, 300, 1000),
)
def _(rng, n, twins):
    """Rows of ten binary features and a measured target stand there twice; many others are equal by chance."""
    X = rng.integers(0, 2, (n, 10)).astype(float)
    X, y = with_twins(rng, X, X[:, 0] + rng.normal(size=n), int(twins))
    return split(Dataset("plant", X, y, "regression"))


@data_plant(
    "rows",
    "the rare class repeated before the split",
    "PG101",
    n=300,
    amount=4,
    unit="each of 15 rows {amount} times",
    sizes=(2, 4, 8),
    rows=(100, 300, 1000),
)
def _(rng, n, times):
    """Rows of a rare class are repeated until the classes are less uneven, and then the data is split."""
    y = (np.arange(n) < 15).astype(int)
    X = rng.normal(size=(n, 6)).round(2) + y[:, None]
    rows = rng.permutation(np.concatenate([np.arange(n), np.repeat(np.arange(15), int(times) - 1)]))
    return split(Dataset("plant", X[rows], y[rows], "classification"))


@data_plant(
    "rows",
    "twins of spectra",
    "PG101",
    n=120,
    amount=6,
    unit="{amount} of {n} rows copied",
    sizes=(2, 4, 6, 12),
    rows=(60, 120, 400),
)
def _(rng, n, twins):
    """Smooth spectra, kept with four decimals, stand there twice."""
    grid = np.linspace(0, 1, 100)
    parts = np.stack([np.exp(-(((grid - c) / 0.2) ** 2)) for c in (0.2, 0.5, 0.8)])
    amounts = rng.random((n, 3))
    X, y = with_twins(rng, (amounts @ parts).round(4), amounts[:, 0], int(twins))
    return split(Dataset("plant", X, y, "regression"))


@data_plant(
    "rows",
    "twins of texts",
    "PG101",
    n=300,
    amount=5,
    unit="{amount} of {n} rows copied",
    sizes=(1, 2, 5, 10),
    rows=(100, 300, 1000),
)
def _(rng, n, twins):
    """Counts of 300 words in texts of about 60 words; some texts stand there twice."""
    from scipy import sparse

    rate = rng.dirichlet(np.full(300, 0.3))
    X = np.stack([rng.multinomial(rng.poisson(60), rate) for _ in range(n)]).astype(float)
    X, y = with_twins(rng, X, rng.integers(0, 2, n), int(twins))
    return split(Dataset("plant", sparse.csr_array(X), y, "classification"))


@data_plant(
    "rows",
    "shuffled groups",
    "PG130",
    n=240,
    amount=0.15,
    unit="40 people, {n} rows in any order, noise {amount}",
    sizes=(0.05, 0.15, 0.3, 0.5),
    rows=(120, 240, 800),
)
def _(rng, n, noise):
    """Forty people are measured several times, rows are shuffled, nobody is named, and the label is the person's."""
    who = rng.permutation(np.arange(n) % 40)
    X = rng.normal(size=(40, 6))[who] + noise * rng.normal(size=(n, 6))
    return split(Dataset("plant", X, rng.integers(0, 2, 40)[who], "classification"))


@data_plant(
    "rows",
    "shuffled replicates",
    "PG130",
    "PG102",
    n=180,
    amount=0.1,
    unit="{n} rows in threes, noise {amount}",
    sizes=(0.03, 0.1, 0.2, 0.4),
    rows=(90, 180, 600),
)
def _(rng, n, noise):
    """Samples are measured three times and the file is shuffled."""
    sample = rng.permutation(np.arange(n) // 3)
    X = rng.normal(size=(n // 3 + 1, 8))[sample] + noise * rng.normal(size=(n, 8))
    return split(Dataset("plant", X, X[:, 0], "regression"))


@data_plant(
    "rows",
    "a subject column",
    "PG131",
    n=240,
    amount=40,
    unit="{amount} people, {n} rows",
    sizes=(20, 40, 80),
    rows=(120, 240, 800),
)
def _(rng, n, people):
    """A text column names the person, whose label all the person's rows share; other features say little."""
    who = rng.integers(0, int(people), n)
    y = rng.integers(0, 2, int(people))[who]
    frame = pd.DataFrame(
        {
            "subject": [f"s{k:03d}" for k in who],
            "a": rng.normal(size=n),
            "b": rng.normal(size=n) + 0.3 * y,
        }
    )
    return split(Dataset("plant", frame, y, "classification"))


@data_plant(
    "rows",
    "a subject column as indicators",
    "PG131",
    n=240,
    amount=40,
    unit="{amount} people, {n} rows",
    sizes=(20, 40, 80),
    rows=(120, 240, 800),
)
def _(rng, n, people):
    """The person is given as one column for each, 0 or 1."""
    who = np.concatenate([np.arange(int(people)), rng.integers(0, int(people), n - int(people))])
    y = rng.normal(size=int(people))[who] + 0.1 * rng.normal(size=n)
    return split(
        Dataset(
            "plant",
            np.column_stack([rng.normal(size=(n, 3)), np.eye(int(people))[who]]),
            y,
            "regression",
        )
    )


@data_plant(
    "rows",
    "a patient number",
    "PG131",
    n=300,
    amount=0.6,
    unit="50 patients, {n} rows, noise {amount}",
    sizes=(0.3, 0.6, 1.0, 1.5),
    rows=(150, 300, 1000),
)
def _(rng, n, noise):
    """A column of whole numbers names the patient, whose measurements are alike; the label is the visit's."""
    who = rng.integers(0, 50, n)
    X = rng.normal(size=(50, 8))[who] + noise * rng.normal(size=(n, 8))
    return split(
        Dataset("plant", np.column_stack([1000 + 7 * who, X]), classed(rng, X), "classification")
    )


@data_plant(
    "rows",
    "a random walk split at random",
    "PG132",
    n=200,
    amount=1,
    unit="{n} steps",
    sizes=(1,),
    rows=(50, 100, 200, 1000),
)
def _(rng, n, step):
    """Features and target are random walks, folds are drawn at random."""
    walk = np.cumsum(rng.normal(size=(n, 4)), axis=0)
    return split(Dataset("plant", walk, walk[:, 0] + np.cumsum(rng.normal(size=n)), "regression"))


@data_plant(
    "rows",
    "a series split at random",
    "PG132",
    n=300,
    amount=0.8,
    unit="{n} steps, autocorrelation {amount}",
    sizes=(0.3, 0.5, 0.6, 0.8),
    rows=(100, 300, 1000),
)
def _(rng, n, memory):
    """Features and target keep a share of their last value, folds are drawn at random."""
    state = np.zeros((n, 6))
    for place in range(1, n):
        state[place] = memory * state[place - 1] + rng.normal(size=6)
    return split(Dataset("plant", state[:, :5], state[:, 5] + state[:, 0], "regression"))


@data_plant(
    "rows",
    "labels that last, split at random",
    "PG132",
    n=300,
    amount=10,
    unit="{n} rows, {amount} a state",
    sizes=(2, 5, 10, 30),
    rows=(100, 300, 1000),
)
def _(rng, n, length):
    """A machine stays in one of three states for a while; features are noisy and change slowly."""
    state = rng.integers(0, 3, int(n // length) + 1)[np.arange(n) // int(length)]
    drift = np.cumsum(rng.normal(size=(n, 5)), axis=0)
    return split(Dataset("plant", drift + rng.normal(size=(n, 5)), state, "classification"))


@data_plant(
    "rows",
    "time declared, rows drawn at random",
    "PG133",
    n=200,
    amount=0.2,
    unit="{amount} of {n} rows held out",
    sizes=(0.05, 0.2, 0.4),
    rows=(50, 200, 1000),
)
def _(rng, n, share):
    """The time of every row is known, but the test rows are drawn at random."""
    X = rng.normal(size=(n, 4))
    dataset = Dataset("plant", X, X[:, 0], "regression", time=np.arange(float(n)))
    return split(dataset, SplitPlan("holdout", folds=1, test_size=share))


@data_plant(
    "rows",
    "sorted by class, folds in order",
    "PG134",
    n=150,
    amount=3,
    unit="{amount} classes, {n} rows",
    sizes=(2, 3, 6),
    rows=(60, 150, 600),
)
def _(rng, n, classes):
    """The file is sorted by class and cut into folds as it is."""
    y = np.sort(rng.integers(0, int(classes), n))
    pairs = [(np.setdiff1d(np.arange(n), part), part) for part in np.array_split(np.arange(n), 5)]
    return split(
        Dataset("plant", rng.normal(size=(n, 5)) + y[:, None], y, "classification"),
        SplitPlan.of(pairs),
    )


@data_plant(
    "rows",
    "drift between the parts",
    "PG134",
    n=400,
    amount=0.8,
    unit="one of 6 columns shifted by {amount}, {n} rows",
    sizes=(0.2, 0.4, 0.8, 1.2),
    rows=(100, 400, 1000),
)
def _(rng, n, shift):
    """One column was measured otherwise in the test part."""
    train = np.arange(n) < 0.7 * n
    X = rng.normal(size=(n, 6))
    X[~train, 2] += shift
    return split(
        Dataset("plant", X, X[:, 0], "regression", train_part=train), SplitPlan("official")
    )


@data_plant(
    "rows",
    "oversampled before the split",
    "PG135",
    n=200,
    amount=20,
    unit="{amount} made rows beside {n}",
    sizes=(3, 5, 10, 20),
    rows=(100, 200, 1000),
)
def _(rng, n, made):
    """New rows of the rare class are made between two near rows of it (as SMOTE does), then the data is split."""
    y = (np.arange(n) < 30).astype(int)
    X = rng.normal(size=(n, 6)) + 1.5 * y[:, None]
    rare = X[y == 1]
    new = []
    for row in rng.integers(0, len(rare), int(made)):
        near = np.argsort(((rare - rare[row]) ** 2).sum(axis=1))[1:6]
        new.append(rare[row] + rng.random() * (rare[rng.choice(near)] - rare[row]))
    X, y = np.concatenate([X, new]), np.concatenate([y, np.ones(len(new), dtype=int)])
    order = rng.permutation(len(X))
    return split(Dataset("plant", X[order], y[order], "classification"))


# ---------------------------------------------------------------- columns


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


# ---------------------------------------------------------------- more rows and columns


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


@data_plant("columns", "made normal by a power over all rows", "PG107", amount=2, **COLUMNS)
def _(rng, n, columns):
    """Columns go through Yeo and Johnson's transformation, fitted on all rows."""
    return transformed(rng, n, PowerTransformer(), columns)


@data_plant("columns", "whitened over all rows", "PG107", amount=4, **COLUMNS)
def _(rng, n, columns):
    """Columns are turned into principal components of all rows, each of deviation 1."""
    return transformed(rng, n, PCA(whiten=True), columns)


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


# ---------------------------------------------------------------- missed: whoever finds one moves it to its kind


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


# ---------------------------------------------------------------- methods


ALL = "all labels of 80 rows of noise, 2 folds"

# Name, module and class of a classifier of noise, the codes of which one must be found, and how it
# does it.
CLASSIFIERS = (
    ("labels from a CSV", "lookups:ByOpen", ("PG141",), "It opens the data file in fit."),
    (
        "labels by os.open",
        "lookups:ByOsOpen",
        ("PG141",),
        "It reads the data file by the system's own calls.",
    ),
    ("labels by np.load", "lookups:ByNumpy", ("PG141",), "It loads an array that holds all rows."),
    ("labels by cat", "lookups:ByCat", ("PG141",), "It has another program print the data file."),
    ("labels by a shell", "lookups:ByShell", ("PG141",), "It has a shell read the data file."),
    (
        "labels read at import",
        "lookups:AtImport",
        ("PG141",),
        "Its module reads the data file when it is imported.",
    ),
    (
        "labels under another ending",
        "lookups:ByOtherEnding",
        ("PG141",),
        "The data file does not look like one.",
    ),
    ("labels from a store", "lookups:BySqlite", ("PG141",), "It asks an SQLite file."),
    (
        "labels from a pickle",
        "lookups:ByPickle",
        ("PG141",),
        "It loads a pickle beside its module.",
    ),
    (
        "labels by native code",
        "lookups:ByNativeCode",
        ("PG141",),
        "The C library opens the file, unheard by Python.",
    ),
    (
        "labels from a server",
        "lookups:ByServer",
        ("PG141",),
        "It asks a program on this machine over the network.",
    ),
    (
        "labels typed into the source",
        "lookups:InSource",
        ("PG141",),
        "The labels are a table in a module.",
    ),
    (
        "half of the labels in the source",
        "lookups:HalfKnown",
        ("PG141",),
        "Every other label is in a module.",
    ),
    (
        "test rows added to train",
        "lookups:AddsTestRows",
        ("PG141",),
        "A nearest neighbour that also has all test rows.",
    ),
    (
        "labels by frames",
        "reaching:ByFrames",
        ("PG110",),
        "It finds the test labels in the frame of its caller.",
    ),
    (
        "labels by the garbage collector",
        "reaching:ByGarbage",
        ("PG110",),
        "It finds the test labels among all objects.",
    ),
    (
        "labels of the spool",
        "reaching:BySpool",
        ("PG110",),
        "It reads the labels that the engine laid out for workers.",
    ),
    (
        "test rows in fit",
        "reaching:TestRowsInFit",
        ("PG142",),
        "It shifts by the mean of the test rows, found in a frame.",
    ),
    (
        "a cache on disk",
        "remembering:OnDisk",
        ("PG144",),
        "It keeps rows and labels in a file from cell to cell.",
    ),
    (
        "scaling by the test part",
        "batches:ScalesByTest",
        ("PG142",),
        "Predict scales by the rows that it is asked about.",
    ),
    (
        "ranks within the test part",
        "batches:RanksTheBatch",
        ("PG142",),
        "The upper half of the rows gets one class.",
    ),
    (
        "neighbours in the test part",
        "batches:AsksTheNeighbours",
        ("PG142",),
        "Test rows vote on each other's class.",
    ),
    (
        "answers by place",
        "batches:ByPlace",
        ("PG142",),
        "The answer depends on where a row stands.",
    ),
    (
        "the best of a hundred on a file of labels",
        "choosing:BestOnAFile",
        ("PG141", "PG142"),
        (
            "Of a hundred stumps it takes the one that agrees best with the test labels, which"
            " stand in a file."
        ),
    ),
    (
        "the best of a hundred on labels in memory",
        "choosing:BestInMemory",
        ("PG110",),
        (
            "Of a hundred stumps it takes the one that is best on the test part, found in the frame"
            " of its caller."
        ),
    ),
)


def _classifier(use: str):
    module, _, name = use.partition(":")
    return lambda seed: codes_of_method(module, name, noise(seed=seed + 4), seed=seed)


for _name, _use, _codes, _how in CLASSIFIERS:
    _find = _classifier(_use)
    _find.__doc__ = _how
    plant("methods", _name, *_codes, size=ALL, slow=True)(_find)


def remembered(name: str, seed: int) -> set[str]:
    data = noise(seed=seed + 4)
    with leaky_folder(data) as folder:
        lab = leaky("remembering", name, data=data)
        lab.run(folder / "lab.sqlite", workers=1, isolation="worker").close()
        found = paragone.audit(
            folder / "lab.sqlite", declaration=lab, sample=2, canary="none", seed=seed
        )
    return found_codes(found).get(name, set())


@plant(
    "methods",
    "a dictionary of the module",
    "PG201",
    size="a store run with isolation = 'worker'",
    slow=True,
)
def _(seed):
    """It remembers the rows of other folds in its process; cells run alone give other bytes."""
    return remembered("Memo", seed)


@plant(
    "methods", "a cached function", "PG201", size="a store run with isolation = 'worker'", slow=True
)
def _(seed):
    """The same in a function with lru_cache."""
    return remembered("Cached", seed)


def numbers(seed: int) -> Dataset:
    random = np.random.default_rng(seed)
    return Dataset(
        "numbers", random.normal(size=(60, 3)).round(4), random.gamma(2.0, size=60), "regression"
    )


@plant(
    "methods",
    "numbers typed into the source",
    "PG141",
    size="all numbers of 60 rows of noise",
    slow=True,
)
def _(seed):
    """A regressor with a table of the targets, cross-validated."""
    return codes_of_method("other_tasks", "Numbers", numbers(seed), Crossval(), seed)


@plant(
    "methods",
    "half-known numbers",
    "PG141",
    size="half of the way to the numbers of 60 rows",
    slow=True,
)
def _(seed):
    """A regressor that mixes the mean of train with a table of the targets."""
    return codes_of_method("other_tasks", "HalfNumbers", numbers(seed), Crossval(), seed)


def labelled(seed: int) -> Dataset:
    random = np.random.default_rng(seed)
    X = random.normal(size=(60, 4)).round(4)
    return Dataset("labels", X, (random.random((60, 3)) < 0.4).astype(int), "multilabel")


@plant(
    "methods",
    "an evaluator that knows the labels",
    "PG141",
    size="3 labels of 60 rows of noise",
    slow=True,
)
def _(seed):
    """The classifier behind a curve has a table of the labels."""
    data = labelled(seed)
    with leaky_folder(data):
        # All features in their order, as the table has them.
        curve = Curve(k=KGrid(4, 4, 1), evaluator="other_tasks:Labels")
        lab = Experiment(
            [data], {"First": "other_tasks:FirstComes"}, {"folds": 2, "scale": "none"}, curve
        )
        return found_codes(paragone.audit(lab, seed=seed)).get("First", set())


@plant("methods", "a ranking by test rows", "PG143", size="60 rows, 4 features", slow=True)
def _(seed):
    """A ranker finds the test rows in a frame and ranks by their spread."""
    return codes_of_method(
        "other_tasks", "RanksByTestRows", labelled(seed), Curve(k=KGrid(2, 4, 2)), seed
    )


@plant("methods", "lists from a file", "PG141", size="lists of 30 test rows", slow=True)
def _(seed):
    """A recommender looks the items of a set of tokens up in a file."""
    data = herb_garden(seed=seed)
    rows = zip(*(np.split(m.indices, m.indptr[1:-1]) for m in (data.X, data.y)), strict=True)
    lists = {" ".join(map(str, sorted(tokens.tolist()))): items.tolist() for tokens, items in rows}
    with leaky_folder(noise()) as folder:
        (folder / "lists.json").write_text(json.dumps(lists))
        lab = leaky("other_tasks", "Recommends", data=data, protocol=TopK(k=(3,), floors=False))
        return found_codes(paragone.audit(lab, seed=seed)).get("Recommends", set())


# ---------------------------------------------------------------- reports


VARIANTS = [f"k{k}" for k in range(1, 25, 2)]
Means = dict[tuple[str, str], float]


def of_store(seed: int, spoil: Callable[[Path, Means], dict]) -> set[str]:
    """Run twelve nearest neighbours and a tree on three datasets of noise, and audit what somebody makes of it."""
    random = np.random.default_rng(seed + 48)
    data = [
        Dataset(
            f"d{k}",
            random.normal(size=(97, 3)),
            random.permutation(np.arange(97) % 2),
            "classification",
        )
        for k in range(3)
    ]
    methods = {name: KNeighborsClassifier(int(name[1:])) for name in VARIANTS}
    methods["tree"] = DecisionTreeClassifier(random_state=0)
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "lab.sqlite"
        lab = Experiment(data, methods, {"folds": 3}, Predict(metrics=("accuracy",)), name="lab")
        lab.run(store, workers=0).close()
        with paragone.Results.open(store) as results:
            means = results.scores().groupby(["method", "dataset"])["value"].mean().to_dict()
        given = spoil(Path(folder), means)
        return {one.code for one in paragone.audit(store, **given).findings}


def table(folder: Path, methods: list[str], cell: Callable[[str, str], str]) -> dict:
    lines = [",".join(["dataset", *methods])]
    lines += [",".join([f"d{k}", *(cell(method, f"d{k}") for method in methods)]) for k in range(3)]
    (folder / "table.csv").write_text("\n".join(lines) + "\n")
    return {"against": [folder / "table.csv"]}


@plant("reports", "settings of one method", "PG145", size="12 variants, 3 datasets of noise")
def _(seed):
    """Twelve settings of one method were scored on the test rows."""
    return of_store(seed, lambda folder, means: {})


@plant("reports", "one digit", "PG303", size="1 of 9 numbers, by 0.01")
def _(seed):
    """One number of a table is higher than the store has it."""

    def spoil(folder: Path, means: Means) -> dict:
        raised = (VARIANTS[0], "d1")
        methods = [*VARIANTS, "tree"]
        return table(folder, methods, lambda m, d: f"{means[m, d] + 0.01 * ((m, d) == raised):.4f}")

    return of_store(seed, spoil)


def of_table(text: str, **given) -> set[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "printed.csv"
        path.write_text(text)
        return {one.code for one in paragone.audit(path, **given).findings}


def printed(seed: int, n: int = 8) -> np.ndarray:
    return np.random.default_rng(seed).integers(60, 99, (n, 3)) / 100


@plant(
    "reports",
    "a mean that no number of right answers gives",
    "PG321",
    size="1 of 16 means of 36 items",
)
def _(seed):
    """An accuracy of 36 items is printed that is no k/36."""
    rows = ["dataset,n_items,method,accuracy"]
    right = np.random.default_rng(seed).integers(20, 36, (8, 2))
    rows += [f"d{k},36,{'AB'[j]},{right[k, j] / 36:.3f}" for k in range(8) for j in range(2)]
    rows[3] = "d1,36,A,0.954"
    return of_table("\n".join(rows) + "\n")


@plant("reports", "a deviation that shares cannot have", "PG322", size="1 of 8 deviations")
def _(seed):
    """A mean of 0.97 is printed with a deviation of 0.41."""
    rows = ["dataset,method,accuracy"]
    rows += [
        f"d{k},{'AB'[j]},{one[j]} ± 0.02"
        for k, one in enumerate(printed(seed, 4))
        for j in range(2)
    ]
    rows[3] = "d1,A,0.97 ± 0.41"
    return of_table("\n".join(rows) + "\n")


@plant("reports", "a copied column", "PG324", size="8 datasets")
def _(seed):
    """Two of three methods have the same number on every dataset."""
    rows = ["dataset,A,B,C"] + [f"d{k},{a},{b},{a}" for k, (a, b, _) in enumerate(printed(seed))]
    return of_table("\n".join(rows) + "\n", metric="accuracy")
