"""The clean zoo, continued: files in an order, odd columns and targets, odd splits; `clean_zoo` reads this module."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
from clean_zoo import classed, clean, two_classes, valued
from sklearn.model_selection import LeaveOneOut, RepeatedStratifiedKFold, ShuffleSplit

from paragone.data import Dataset, SplitPlan

ONE_BY_ONE = SplitPlan.of(LeaveOneOut())
FOUR_TIMES = SplitPlan.of(RepeatedStratifiedKFold(n_splits=5, n_repeats=4, random_state=0))


def settings(*levels: int) -> np.ndarray:
    """All settings of a design in their usual order."""
    return np.array(list(product(*(range(n) for n in levels))), dtype=float)


def with_memory(rng, n: int, spread=1.0) -> np.ndarray:
    """A series that keeps four fifths of its last value."""
    steps, state = rng.normal(size=n) * spread, np.zeros(n)
    for place in range(1, n):
        state[place] = 0.8 * state[place - 1] + steps[place]
    return state


# ---------------------------------------------------------------- files in an order


@clean("all settings of a design in their usual order", discrete=True)
def _(rng):
    X = settings(6, 5, 4, 3)
    return valued(rng, X, X @ rng.normal(size=4))


@clean("yes and no, all settings in their usual order", discrete=True)
def _(rng):
    X = settings(*[2] * 8)
    return valued(rng, X, X[:, 0] + X[:, 5], noise=1.0)


@clean("all kinds of cars in their usual order", discrete=True)
def _(rng):
    levels = [
        ["v", "h", "m", "l"],
        ["v", "h", "m", "l"],
        ["2", "3", "4", "5"],
        ["s", "m", "b"],
        ["l", "m", "h"],
    ]
    frame = pd.DataFrame(
        list(product(*levels)), columns=["price", "upkeep", "doors", "boot", "safety"]
    )
    score = (frame["price"] == "v").to_numpy(float) + (frame["safety"] == "l").to_numpy(float)
    return Dataset("clean", frame, two_classes(rng, score, 4.0), "classification")


@clean("an exact rule over all settings", discrete=True)
def _(rng):
    X = settings(3, 3, 2, 3, 4, 2)
    return Dataset(
        "clean", X, ((X[:, 0] == X[:, 1]) | (X[:, 4] == 0)).astype(int), "classification"
    )


@clean("points of a mesh in order")
def _(rng):
    place = settings(40, 10) * 0.1
    x, y = place.T
    fields = np.column_stack([np.sin(x) * np.cos(y), np.exp(-x) * y, x * y])
    return valued(rng, np.column_stack([place, fields]), x + y**2)


@clean("doses in turn")
def _(rng):
    dose = np.tile([0.0, 1.0, 2.0, 5.0], 60)
    X = np.column_stack([dose, rng.normal(size=(240, 3))])
    return valued(rng, X, dose + X[:, 1])


@clean("four phases in turn")
def _(rng):
    phase = np.tile(np.arange(4), 70)
    return Dataset(
        "clean",
        2 * rng.normal(size=(4, 5))[phase] + rng.normal(size=(280, 5)),
        rng.normal(size=280),
        "regression",
    )


@clean("three classes in turn")
def _(rng):
    y = np.tile(np.arange(3), 80)
    return Dataset(
        "clean",
        3 * rng.normal(size=(3, 5))[y] + 0.5 * rng.normal(size=(240, 5)),
        y,
        "classification",
    )


@clean("weekdays that differ")
def _(rng):
    level = np.array([0, 0, 0, 0, 0.2, 2, 2.2])[np.arange(364) % 7]
    return valued(rng, level[:, None] * rng.random(5) + 0.3 * rng.normal(size=(364, 5)))


@clean("weekday, customers and temperature", discrete=True)
def _(rng):
    day = np.arange(364) % 7
    customers = rng.poisson(100 + 30 * (day > 4))
    return valued(
        rng,
        np.column_stack([day, customers, rng.normal(15, 5, 364).round(1)]),
        customers.astype(float),
    )


@clean("months of thirty years, some noisier")
def _(rng):
    month = np.arange(360) % 12
    return valued(rng, rng.normal(size=(360, 4)) * (1 + 4 * (month == 0))[:, None])


@clean("sales with weekdays, a trend and a memory, split in order", plan=SplitPlan("time"))
def _(rng):
    day = np.arange(364)
    weekend = day % 7 > 4
    level = with_memory(rng, 364) + 3 * weekend + day / 100
    X = np.column_stack([level, rng.poisson(50 + 30 * weekend), day % 7]).astype(float)
    return valued(rng, X, time=day.astype(float))


@clean("sales, noisier at weekends, split in order", plan=SplitPlan("time"))
def _(rng):
    day = np.arange(364)
    state = with_memory(rng, 364, 1 + 3.0 * (day % 7 > 4))
    return valued(
        rng,
        np.column_stack([state, np.roll(state, 1), rng.normal(size=364)]),
        time=day.astype(float),
    )


@clean("one column, sorted")
def _(rng):
    return valued(rng, np.sort(rng.normal(size=(240, 1)), axis=0))


# ---------------------------------------------------------------- odd columns


@clean("columns of one value and of none")
def _(rng):
    X = rng.normal(size=(150, 6))
    X[:, 1], X[:, 4] = 3.0, np.nan
    return classed(rng, X)


@clean("whole numbers beyond 2**53 and times in nanoseconds")
def _(rng):
    stamp = rng.integers(16 * 10**17, 17 * 10**17, 200)
    frame = pd.DataFrame(
        {"n": rng.integers(2**60, 2**62, 200), "stamp": stamp, "a": rng.normal(size=200)}
    )
    return Dataset("clean", frame, two_classes(rng, frame["a"].to_numpy()), "classification")


@clean("names that are all different")
def _(rng):
    frame = pd.DataFrame(
        {"id": [f"P{k:05d}" for k in rng.permutation(3000)[:200]], "a": rng.normal(size=200)}
    )
    return Dataset("clean", frame, two_classes(rng, frame["a"].to_numpy()), "classification")


@clean("three columns of yes and no", discrete=True)
def _(rng):
    X = rng.integers(0, 2, (200, 3)).astype(float)
    return classed(rng, X, X[:, 0] + 2 * X[:, 1], 4.0)


@clean("shares of four parts")
def _(rng):
    X = rng.dirichlet(np.ones(4), 250)
    return valued(rng, X, X[:, 0] * X[:, 1])


@clean("shares of four parts, in whole percent", discrete=True)
def _(rng):
    return valued(rng, (100 * rng.dirichlet(np.ones(4), 250)).round())


@clean("a census: age, schooling, sex, hours, gains", discrete=True)
def _(rng):
    n = 1500
    schooling = np.r_[[0.01] * 8, 0.32, 0.22, 0.04, 0.03, 0.17, 0.06, 0.04, 0.04]
    frame = pd.DataFrame(
        {
            "age": np.clip(rng.normal(38, 13, n), 17, 90).astype(int),
            "schooling": rng.choice(16, n, p=schooling),
            "sex": rng.choice(["m", "f"], n, p=[0.67, 0.33]),
            "hours": (
                np.where(rng.random(n) < 0.47, 40, np.clip(rng.normal(40, 12, n), 1, 99)).astype(
                    int
                )
            ),
            "gains": np.where(rng.random(n) < 0.92, 0, rng.choice([7298, 15024, 3103, 5178], n)),
        }
    )
    return Dataset("clean", frame, two_classes(rng, frame["age"].to_numpy(float)), "classification")


@clean("forms with few fields filled in", discrete=True)
def _(rng):
    X = np.where(rng.random((500, 12)) < 0.93, 0, rng.integers(1, 9, (500, 12)))
    return classed(rng, X.astype(float), rng.normal(size=500))


@clean("a roof with solar cells, nights too", discrete=True)
def _(rng):
    hour = rng.integers(0, 24, 600)
    light = np.where((hour > 5) & (hour < 20), rng.gamma(2, 100, 600).round(), 0)
    power = np.where(light > 0, (0.2 * light + rng.normal(size=600)).round(1), 0)
    return valued(rng, np.column_stack([hour, light, power, rng.normal(12, 6, 600).round()]), light)


@clean("price, number and their product")
def _(rng):
    number, price = rng.integers(1, 9, 300), rng.lognormal(2, 0.7, 300).round(2)
    return classed(rng, np.column_stack([number, price, (price * number).round(2)]))


@clean("a forecast in fifths, as good as it says", discrete=True)
def _(rng):
    share = rng.integers(0, 6, 120) / 5
    y = (rng.random(120) < share).astype(int)
    y[:4] = 0, 0, 1, 1
    return Dataset("clean", np.column_stack([share, rng.integers(1, 6, 120)]), y, "classification")


@clean("the votes of three, and of a fourth as label")
def _(rng):
    leaning = rng.random(200)
    X = np.column_stack([rng.binomial(3, leaning) / 3, rng.normal(size=(200, 2))])
    return Dataset("clean", X, (rng.random(200) < leaning).astype(int), "classification")


@clean("figures of districts, which stay together")
def _(rng):
    district = rng.integers(0, 30, 400)
    income, people = rng.normal(30, 6, 30).round(1), rng.integers(1000, 90000, 30)
    X = np.column_stack([income[district], people[district], rng.normal(size=(400, 2))])
    return Dataset(
        "clean", X, 2 * income[district] + rng.normal(0, 4, 400), "regression", groups=district
    )


@clean("sensors that go no further")
def _(rng):
    signal = rng.normal(size=(300, 1))
    return valued(rng, np.clip(signal + 0.3 * rng.normal(size=(300, 4)), -0.5, 0.5), signal[:, 0])


@clean("answers, some refused throughout", discrete=True)
def _(rng):
    trait = rng.normal(size=(350, 1))
    X = np.clip(np.round(3 + trait + rng.normal(size=(350, 10))), 1, 5)
    X[rng.random(350) < 0.1] = 99
    return classed(rng, X, trait[:, 0])


@clean("an examination with easy questions", discrete=True)
def _(rng):
    skill = rng.normal(size=(300, 1))
    X = rng.random((300, 15)) < 1 / (1 + np.exp(-(3 + skill - 0.5 * rng.normal(size=15))))
    return classed(rng, X.astype(float), skill[:, 0])


@clean("counts of atoms", discrete=True)
def _(rng):
    carbon = rng.poisson(6, 400)
    X = np.column_stack(
        [carbon, 2 * carbon + 2 - 2 * rng.integers(0, 3, 400), rng.poisson(0.8, 400)]
    )
    return valued(rng, X.astype(float))


@clean("ratios of small counts", discrete=True)
def _(rng):
    one, other = rng.poisson(3, 300) + 1, rng.poisson(3, 300) + 1
    return classed(rng, np.column_stack([one / other, other / one]), one / other)


@clean("two dozen rows of three thousand yes and no", discrete=True)
def _(rng):
    return Dataset(
        "clean", rng.integers(0, 2, (24, 3000)).astype(float), np.arange(24) % 2, "classification"
    )


# ---------------------------------------------------------------- odd targets


@clean("a target that is mostly zero")
def _(rng):
    y = np.where(rng.random(250) < 0.9, 0.0, rng.gamma(2, 3, 250))
    return Dataset("clean", rng.normal(size=(250, 6)), y, "regression")


@clean("counts that are mostly zero, from answers", discrete=True)
def _(rng):
    y = np.where(rng.random(250) < 0.9, 0, rng.poisson(3, 250)).astype(float)
    return Dataset("clean", rng.integers(0, 4, (250, 4)).astype(float), y, "regression")


@clean("five of sixty are positive")
def _(rng):
    return Dataset(
        "clean",
        rng.normal(size=(60, 5)),
        rng.permutation(np.arange(60) < 5).astype(int),
        "classification",
    )


@clean("twenty rare labels and rare words", discrete=True)
def _(rng):
    Y = (rng.random((200, 20)) < 0.03).astype(int)
    Y[:2] = 1
    return Dataset("clean", (rng.random((200, 150)) < 0.03).astype(float), Y, "multilabel")


@clean("an exact law of three columns")
def _(rng):
    X = rng.uniform(1, 5, (250, 3))
    return Dataset("clean", X, X[:, 0] * X[:, 1] / X[:, 2] ** 2, "regression")


# ---------------------------------------------------------------- odd splits


@clean("one row held out at a time", plan=ONE_BY_ONE)
def _(rng):
    return classed(rng, rng.normal(size=(40, 4)))


@clean("one row of yes and no held out at a time", discrete=True, plan=ONE_BY_ONE)
def _(rng):
    return classed(rng, rng.integers(0, 2, (40, 6)).astype(float))


@clean("five folds, four times", plan=FOUR_TIMES)
def _(rng):
    return classed(rng, rng.normal(size=(120, 6)))


@clean(
    "answers in five folds, four times",
    discrete=True,
    plan=FOUR_TIMES,
)
def _(rng):
    return classed(rng, rng.integers(1, 6, (150, 6)).astype(float))


@clean("twenty holdouts", plan=SplitPlan.of(ShuffleSplit(20, test_size=0.2, random_state=0)))
def _(rng):
    return valued(rng, rng.normal(size=(150, 5)))


@clean("a group for every row")
def _(rng):
    X = rng.normal(size=(100, 4))
    return Dataset("clean", X, two_classes(rng, X[:, 0]), "classification", groups=np.arange(100))
