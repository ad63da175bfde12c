"""Leaks planted between the rows of the two sides of a split."""

from __future__ import annotations

import numpy as np
import pandas as pd
from planted_leaks import data_plant

from paragone.checks.material import Material, sides_of
from paragone.data import Dataset, SplitPlan, make_splits

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
