"""The clean zoo: kinds of datasets without a leak, made with seeds, on which an audit must not find an error.

Rows are independent draws, or belong together in a way that is declared and that the split keeps.
The features bear on the target as they do in practice: weakly, strongly, through a few of them or
not at all. A kind is a function from a generator to a dataset; `clean_material` makes the material
of a kind with a seed, split as the kind says.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import sparse

from paragone.checks.material import Material, sides_of
from paragone.data import Dataset, SplitPlan, make_splits
from paragone.data.dataset import with_replicates

Draw = np.random.Generator


@dataclass(frozen=True)
class CleanKind:
    """A kind of clean data: its name, whether all of its features are coarse, how it is made and how it is split."""

    name: str
    discrete: bool
    make: Callable[[Draw], Dataset]
    plan: SplitPlan


CLEAN: dict[str, CleanKind] = {}

FAMILIES: dict[str, tuple[str, ...]] = {
    "continuous": (
        "normal",
        "heavy tails",
        "skewed",
        "scales",
        "collinear",
        "spectra",
        "circle",
        "clusters",
        "ring",
    ),
    "yes and no": ("binary", "yes and no", "bits", "black or white", "votes"),
    "Likert and other answers": ("Likert", "answers", "ordinal", "preference", "examination"),
    "counts": ("counts", "dice"),
    "rounded": ("rounded", "whole years", "whole numbers", "eight-bit", "whole percent", "fifths"),
    "text and categories": (
        "text",
        "words",
        "categories",
        "a town",
        "a product code",
        "names that",
    ),
    "imbalanced": (
        "is positive",
        "are positive",
        "rare",
        "mostly zero",
        "very different frequency",
    ),
    "tiny": ("tiny", "two dozen", "five of sixty", "one row", "design, once"),
    "columns twice": (
        "stand there twice",
        "sums of others",
        "collinear",
        "function of one",
        "their product",
    ),
    "series split in order": ("split in order",),
}
"""The families that the law names, each by words in the names of its kinds; a kind may be of several."""


def family(name: str) -> list[str]:
    """Return the kinds of a family."""
    return [kind for kind in CLEAN if any(words in kind for words in FAMILIES[name])]


def clean(name: str, *, discrete: bool = False, plan: SplitPlan | None = None):
    """Put a maker of datasets into the zoo."""

    def keep(make: Callable[[Draw], Dataset]) -> Callable[[Draw], Dataset]:
        # pytest reads a module a second time to look for examples in it.
        assert (
            name not in CLEAN
            or CLEAN[name].make.__code__.co_firstlineno == make.__code__.co_firstlineno
        )
        CLEAN[name] = CleanKind(name, discrete, make, plan or SplitPlan())
        return make

    return keep


def clean_material(name: str, seed: int) -> Material:
    """Make a dataset of a kind, and split it."""
    kind = CLEAN[name]
    dataset = kind.make(np.random.default_rng([zlib.crc32(name.encode()), seed]))
    return Material(name, dataset, sides_of(make_splits(dataset, kind.plan, seed)), (dataset,))


# ---------------------------------------------------------------- targets


def two_classes(rng: Draw, score: np.ndarray, strength: float = 1.5) -> np.ndarray:
    """Draw two classes, the odds of which follow a score."""
    spread = np.std(score)
    odds = strength * (score - np.mean(score)) / (spread if spread > 0 else 1.0)
    y = (rng.random(len(score)) < 1 / (1 + np.exp(-odds))).astype(int)
    y[:4] = 0, 0, 1, 1  # stratified folds need some of each
    return y


def classed(rng: Draw, X, score: np.ndarray | None = None, strength: float = 1.5) -> Dataset:
    score = np.asarray(X[:, 0] if score is None else score, dtype=float)
    return Dataset("clean", X, two_classes(rng, score, strength), "classification")


def valued(rng: Draw, X, score: np.ndarray | None = None, noise: float = 0.5, **more) -> Dataset:
    score = np.asarray(X[:, 0] if score is None else score, dtype=float)
    return Dataset(
        "clean",
        X,
        score + noise * np.std(score) * rng.normal(size=len(score)),
        "regression",
        **more,
    )


# ---------------------------------------------------------------- continuous features


@clean("normal, two classes")
def _(rng):
    return classed(rng, rng.normal(size=(200, 8)))


@clean("normal, no bearing on the class")
def _(rng):
    return classed(rng, rng.normal(size=(200, 8)), rng.normal(size=200))


@clean("normal, one feature")
def _(rng):
    return classed(rng, rng.normal(size=(150, 1)))


@clean("normal, ten classes far apart")
def _(rng):
    y = np.arange(400) % 10
    return Dataset(
        "clean", 4 * rng.normal(size=(10, 6))[y] + rng.normal(size=(400, 6)), y, "classification"
    )


@clean("classes that one column nearly tells")
def _(rng):
    return classed(rng, rng.normal(size=(300, 5)), strength=8.0)


@clean("a linear regression")
def _(rng):
    X = rng.normal(size=(200, 10))
    return valued(rng, X, X @ rng.normal(size=10))


@clean("a regression with hardly any noise")
def _(rng):
    X = rng.normal(size=(200, 5))
    return valued(rng, X, X @ rng.normal(size=5), noise=0.01)


@clean("several targets")
def _(rng):
    X = rng.normal(size=(180, 12))
    return Dataset(
        "clean", X, X @ rng.normal(size=(12, 3)) + rng.normal(size=(180, 3)), "regression"
    )


@clean("targets with gaps")
def _(rng):
    X = rng.normal(size=(160, 6))
    Y = X[:, :2] + rng.normal(size=(160, 2))
    Y[rng.random((160, 2)) < 0.1] = np.nan
    return Dataset("clean", X, Y, "regression")


@clean("heavy tails (t with 2)")
def _(rng):
    return valued(rng, rng.standard_t(2, size=(250, 6)))


@clean("very heavy tails (Cauchy)")
def _(rng):
    return classed(rng, rng.standard_cauchy(size=(250, 6)), rng.normal(size=250))


@clean("skewed (lognormal)")
def _(rng):
    return valued(rng, rng.lognormal(0, 1.5, size=(250, 6)))


@clean("scales from 1e-9 to 1e9")
def _(rng):
    return classed(rng, rng.normal(size=(200, 7)) * 10.0 ** np.arange(-9, 10, 3))


@clean("collinear columns")
def _(rng):
    hidden = rng.normal(size=(200, 2))
    return valued(rng, hidden @ rng.normal(size=(2, 15)) + 0.01 * rng.normal(size=(200, 15)))


@clean("many more columns than rows")
def _(rng):
    return classed(rng, rng.normal(size=(60, 1000)))


@clean("smooth spectra", plan=SplitPlan(folds=4))
def _(rng):
    grid = np.linspace(0, 1, 120)
    parts = np.stack(
        [np.exp(-(((grid - c) / w) ** 2)) for c, w in rng.uniform(0.1, 0.6, size=(6, 2))]
    )
    amounts = rng.random((120, 6))
    return valued(
        rng, amounts @ parts + 1e-3 * rng.normal(size=(120, 120)), amounts[:, 0], noise=0.05
    )


@clean("points on a circle")
def _(rng):
    angle = rng.uniform(0, 2 * np.pi, 300)
    return valued(rng, np.column_stack([np.cos(angle), np.sin(angle)]), np.sin(3 * angle))


@clean("a few wide clusters")
def _(rng):
    which = rng.integers(0, 5, 300)
    return classed(
        rng,
        6 * rng.normal(size=(5, 4))[which] + rng.normal(size=(300, 4)),
        (which % 2).astype(float),
    )


@clean("a ring within a ring")
def _(rng):
    angle, y = rng.uniform(0, 2 * np.pi, 300), np.arange(300) % 2
    radius = 1 + y + 0.2 * rng.normal(size=300)
    return Dataset(
        "clean",
        np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]),
        y,
        "classification",
    )


@clean("tiny, twelve rows", plan=SplitPlan(folds=3))
def _(rng):
    return Dataset("clean", rng.normal(size=(12, 4)), np.arange(12) % 2, "classification")


@clean("tiny, twenty-four rows of many columns", plan=SplitPlan(folds=3))
def _(rng):
    return valued(rng, rng.normal(size=(24, 60)))


@clean("one in twenty-five is positive")
def _(rng):
    y = (np.arange(500) % 25 == 0).astype(int)
    return Dataset("clean", rng.normal(size=(500, 6)) + y[:, None] * 0.8, y, "classification")


@clean("gaps at random")
def _(rng):
    X = rng.normal(size=(220, 6))
    dataset = classed(rng, X.copy())
    X[rng.random(X.shape) < 0.1] = np.nan
    return Dataset("clean", X, dataset.y, "classification")


@clean("gaps that hang on the class a little")
def _(rng):
    X = rng.normal(size=(300, 5))
    y = two_classes(rng, X[:, 0])
    X[rng.random(X.shape) < np.where(y, 0.25, 0.1)[:, None]] = np.nan
    return Dataset("clean", X, y, "classification")


@clean("columns that stand there twice")
def _(rng):
    X = rng.normal(size=(200, 4))
    return valued(rng, np.column_stack([X, X, 3 - 2 * X[:, 0]]))


@clean("columns that are sums of others")
def _(rng):
    X = rng.normal(size=(200, 5))
    return classed(rng, np.column_stack([X, X[:, 0] + X[:, 1], X[:, 2] * X[:, 3]]))


@clean("sorted by class, folds drawn at random")
def _(rng):
    y = np.sort(rng.integers(0, 3, 240))
    return Dataset("clean", rng.normal(size=(240, 6)) + y[:, None], y, "classification")


@clean("sorted by target, folds drawn at random")
def _(rng):
    X = rng.normal(size=(240, 5))
    made = valued(rng, X)
    order = np.argsort(made.y)
    return Dataset("clean", X[order], made.y[order], "regression")


@clean("sorted by a feature, folds drawn at random")
def _(rng):
    X = rng.normal(size=(240, 5))
    X = X[np.argsort(X[:, 2])]
    return valued(rng, X, X[:, 2] + X[:, 0])


@clean("one holdout of a fifth", plan=SplitPlan("holdout", folds=1))
def _(rng):
    return classed(rng, rng.normal(size=(300, 6)))


@clean("official parts drawn at random", plan=SplitPlan("official"))
def _(rng):
    X = rng.normal(size=(300, 6))
    return Dataset(
        "clean", X, two_classes(rng, X[:, 0]), "classification", train_part=rng.random(300) < 0.7
    )


@clean("labels, ten of them")
def _(rng):
    X = rng.normal(size=(250, 10))
    Y = (X @ rng.normal(size=(10, 10)) + rng.normal(size=(250, 10)) > 2).astype(int)
    Y[:3] = 1
    return Dataset("clean", X, Y, "multilabel")


@clean("an autoregressive series split in order", plan=SplitPlan("time"))
def _(rng):
    state = np.zeros((300, 4))
    for step in range(1, 300):
        state[step] = 0.8 * state[step - 1] + rng.normal(size=4)
    return valued(rng, state, time=np.arange(300.0))


@clean("random walks split in order", plan=SplitPlan("time"))
def _(rng):
    return valued(rng, np.cumsum(rng.normal(size=(300, 4)), axis=0), time=np.arange(300.0))


@clean("seasons and a trend split in order", plan=SplitPlan("time"))
def _(rng):
    day = np.arange(365.0)
    X = np.column_stack(
        [np.sin(2 * np.pi * day / 7), np.sin(2 * np.pi * day / 365), rng.normal(size=365)]
    )
    return valued(rng, X, X[:, 0] + day / 100, time=day)


@clean("subjects kept together")
def _(rng):
    subject = np.repeat(np.arange(40), 6)
    X = (2 * rng.normal(size=(40, 5)))[subject] + 0.5 * rng.normal(size=(240, 5))
    y = (rng.random(40) < 0.5).astype(int)[subject]
    return Dataset("clean", X, y, "classification", groups=subject)


@clean("subjects shuffled and kept together", plan=SplitPlan(folds=5))
def _(rng):
    subject = rng.permutation(np.repeat(np.arange(40), 6))
    X = (2 * rng.normal(size=(40, 5)))[subject] + 0.2 * rng.normal(size=(240, 5))
    return valued(rng, X, X[:, 0], groups=subject)


@clean("replicates declared")
def _(rng):
    samples = rng.normal(size=(60, 8))
    X = np.repeat(samples, 3, axis=0) + 0.05 * rng.normal(size=(180, 8))
    y = np.repeat(samples[:, 0] + rng.normal(size=60), 3)
    return with_replicates(Dataset("clean", X, y, "regression"), 3)


@clean("features scaled inside the split only")
def _(rng):
    return valued(rng, 50 + 12 * rng.normal(size=(200, 6)))


# ---------------------------------------------------------------- sparse features


@clean("a bag of words")
def _(rng):
    rates = rng.dirichlet(np.full(400, 0.3), size=3)
    topic = rng.integers(0, 3, 250)
    X = np.stack([rng.multinomial(60, rates[one]) for one in topic])
    return classed(rng, sparse.csr_array(X.astype(float)), topic.astype(float))


@clean("weighted words")
def _(rng):
    X = np.where(rng.random((250, 300)) < 0.05, rng.random((250, 300)), 0.0)
    return classed(rng, sparse.csr_array(X), X.sum(axis=1))


@clean("sparse features and labels")
def _(rng):
    X = np.where(rng.random((250, 200)) < 0.08, rng.random((250, 200)), 0.0)
    Y = (rng.random((250, 6)) < 0.2).astype(int)
    Y[:4] = 1
    return Dataset("clean", sparse.csr_array(X), Y, "multilabel")


# ---------------------------------------------------------------- tables of mixed columns


@clean("a table of numbers, categories and text")
def _(rng):
    n = 260
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "income": rng.lognormal(10, 0.6, n).round(2),
            "town": rng.choice([f"town {k}" for k in range(15)], n),
            "size": pd.Categorical(rng.choice(["S", "M", "L"], n)),
            "member": rng.random(n) < 0.3,
        }
    )
    return Dataset("clean", frame, two_classes(rng, frame["age"].to_numpy(float)), "classification")


@clean("a table with gaps and dates")
def _(rng):
    n = 240
    frame = pd.DataFrame(
        {
            "born": (
                pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 20000, n), unit="D")
            ),
            "height": np.where(rng.random(n) < 0.1, np.nan, rng.normal(170, 9, n).round(1)),
            "eyes": rng.choice(np.array(["blue", "brown", "green", None], dtype=object), n),
            "pulse": rng.normal(70, 8, n).round(),
        }
    )
    return Dataset(
        "clean", frame, rng.normal(size=n) + frame["pulse"].to_numpy() / 20, "regression"
    )


@clean("a town that tells the price")
def _(rng):
    n = 400
    town = rng.integers(0, 25, n)
    level = rng.normal(size=25)
    frame = pd.DataFrame(
        {
            "town": [f"t{k}" for k in town],
            "area": rng.normal(80, 20, n),
            "rooms": rng.integers(1, 7, n),
        }
    )
    return Dataset(
        "clean", frame, level[town] + 0.02 * frame["area"] + 0.5 * rng.normal(size=n), "regression"
    )


@clean("a product code with many values")
def _(rng):
    n = 400
    code = rng.zipf(1.4, n) % 80
    frame = pd.DataFrame(
        {
            "product": code.astype(str),
            "price": rng.lognormal(2, 0.5, n),
            "week": rng.integers(1, 53, n),
        }
    )
    return Dataset("clean", frame, two_classes(rng, np.cos(code)), "classification")


# ---------------------------------------------------------------- discrete features


@clean("ten fair binary columns", discrete=True)
def _(rng):
    return classed(rng, rng.integers(0, 2, (200, 10)).astype(float))


@clean("ten fair binary columns, a number as target", discrete=True)
def _(rng):
    return valued(rng, rng.integers(0, 2, (200, 10)).astype(float))


@clean("twenty rare binary columns", discrete=True)
def _(rng):
    return classed(rng, (rng.random((300, 20)) < 0.06).astype(float), rng.normal(size=300))


@clean("binary columns with a common cause", discrete=True)
def _(rng):
    cause = rng.normal(size=(300, 1))
    return classed(rng, (1.5 * cause + rng.normal(size=(300, 20)) > 0).astype(float), cause[:, 0])


@clean("Likert, eight independent questions", discrete=True)
def _(rng):
    return classed(rng, rng.integers(1, 6, (300, 8)).astype(float))


@clean("Likert, twelve questions of one trait", discrete=True)
def _(rng):
    trait = rng.normal(size=(400, 1))
    X = np.clip(np.round(3 + 1.1 * trait + 0.5 * rng.normal(size=(400, 12))), 1, 5)
    return valued(rng, X, trait[:, 0])


@clean("Likert, some always give the same answer", discrete=True)
def _(rng):
    X = np.clip(np.round(3 + rng.normal(size=(400, 15))), 1, 5)
    lazy = rng.random(400) < 0.12
    X[lazy] = rng.choice([3, 3, 3, 4, 5], lazy.sum())[:, None]
    return classed(rng, X)


@clean("Likert, a whole number as target", discrete=True)
def _(rng):
    X = rng.integers(1, 6, (300, 5)).astype(float)
    return Dataset("clean", X, np.round(X.mean(axis=1) + rng.normal(size=300)), "regression")


@clean("small counts", discrete=True)
def _(rng):
    return classed(rng, rng.poisson(1.0, (300, 5)).astype(float))


@clean("larger counts", discrete=True)
def _(rng):
    return valued(rng, rng.poisson(6.0, (300, 4)).astype(float))


@clean("counts with a common size", discrete=True)
def _(rng):
    size = rng.gamma(0.7, 2.0, (300, 1))
    return classed(rng, rng.poisson(size * rng.random(8), (300, 8)).astype(float), size[:, 0])


@clean("counts, mostly zero", discrete=True)
def _(rng):
    X = np.where(rng.random((300, 10)) < 0.9, 0, rng.poisson(2.0, (300, 10)))
    return classed(rng, X.astype(float), rng.normal(size=300))


@clean("rounded to one decimal", discrete=True)
def _(rng):
    return classed(rng, rng.normal(size=(300, 3)).round(1))


@clean("rounded, one column", discrete=True)
def _(rng):
    return valued(rng, rng.uniform(0, 100, (300, 1)).round(1))


@clean("rounded columns, each a function of one", discrete=True)
def _(rng):
    hidden = rng.uniform(0, 50, 300).round(1)
    return valued(rng, np.column_stack([hidden, hidden**2, 3 * hidden - 7, np.sqrt(hidden)]))


@clean("a logarithm of counts", discrete=True)
def _(rng):
    return classed(rng, np.log1p(rng.negative_binomial(2, 0.05, (300, 2))))


@clean("whole years, kilos and centimetres", discrete=True)
def _(rng):
    height = rng.normal(170, 8, 400)
    weight = height - 100 + rng.normal(0, 6, 400)
    return valued(
        rng, np.column_stack([rng.integers(20, 40, 400), weight.round(), height.round()]), weight
    )


@clean("standardised whole numbers", discrete=True)
def _(rng):
    X = rng.poisson(4.0, (300, 4)).astype(float)
    return classed(rng, (X - 4.1) / 1.93)


@clean("eight-bit sensors", discrete=True)
def _(rng):
    signal = rng.normal(size=(400, 1))
    return valued(
        rng,
        np.clip(np.round(128 + 20 * signal + 4 * rng.normal(size=(400, 2))), 0, 255),
        signal[:, 0],
    )


@clean("categories as text", discrete=True)
def _(rng):
    frame = pd.DataFrame({f"c{j}": rng.choice(list("abcdef")[: j + 2], 300) for j in range(4)})
    return Dataset(
        "clean", frame, two_classes(rng, (frame["c2"] == "a").to_numpy(float)), "classification"
    )


@clean("categories of very different frequency", discrete=True)
def _(rng):
    frame = pd.DataFrame({f"c{j}": (rng.zipf(1.6, 350) % 40).astype(str) for j in range(4)})
    return Dataset("clean", frame, rng.integers(0, 2, 350), "classification")


@clean("categories as indicators", discrete=True)
def _(rng):
    codes = rng.integers(0, 4, (300, 6))
    return classed(
        rng,
        np.concatenate([np.eye(4)[codes[:, j]] for j in range(6)], axis=1),
        codes[:, 0].astype(float),
    )


@clean("types with small deviations", discrete=True)
def _(rng):
    kind = rng.integers(0, 12, 400)
    X = rng.integers(0, 2, (12, 22))[kind] ^ (rng.random((400, 22)) < 0.06)
    return classed(rng, X.astype(float), (kind % 3).astype(float))


@clean("fingerprints of sixty-four bits", discrete=True)
def _(rng):
    kind = rng.integers(0, 20, 300)
    X = (rng.random((20, 64)) < 0.2)[kind] ^ (rng.random((300, 64)) < 0.03)
    return valued(rng, X.astype(float), X.sum(axis=1))


@clean("genotypes in blocks", discrete=True)
def _(rng):
    alleles = np.zeros((2, 300, 15))
    for strand in alleles:
        strand[:, 0] = rng.random(300) < 0.4
        for j in range(1, 15):
            redrawn = rng.random(300) < (0.5 if j % 5 == 0 else 0.08)
            strand[:, j] = np.where(redrawn, rng.random(300) < 0.4, strand[:, j - 1])
    return classed(rng, alleles.sum(axis=0))


@clean("all settings of a design, three times each", discrete=True)
def _(rng):
    X = np.stack(np.meshgrid(*[np.arange(3.0)] * 4), axis=-1).reshape(-1, 4)
    return valued(rng, rng.permutation(np.repeat(X, 3, axis=0)), noise=1.0)


@clean("all settings of a design, once each", discrete=True)
def _(rng):
    X = np.stack(np.meshgrid(*[np.arange(4.0)] * 4), axis=-1).reshape(-1, 4)
    return classed(rng, rng.permutation(X))


@clean("two dice", discrete=True)
def _(rng):
    return classed(rng, rng.integers(1, 7, (200, 2)).astype(float))


@clean("orders of preference", discrete=True)
def _(rng):
    return classed(rng, np.stack([rng.permutation(7) for _ in range(300)]).astype(float))


@clean("orders of preference, eight of them", discrete=True)
def _(rng):
    return valued(rng, np.stack([rng.permutation(8) for _ in range(300)]).astype(float))


@clean("hour, weekday and month", discrete=True)
def _(rng):
    X = np.column_stack(
        [rng.integers(0, 24, 500), rng.integers(0, 7, 500), rng.integers(1, 13, 500)]
    ).astype(float)
    return valued(rng, X, np.sin(X[:, 0] / 4))


@clean("short texts, words there or not", discrete=True)
def _(rng):
    rate = rng.dirichlet(np.full(150, 0.2))
    X = np.stack([np.minimum(rng.multinomial(rng.poisson(3), rate), 1) for _ in range(300)])
    return classed(rng, sparse.csr_array(X.astype(float)), X[:, int(rate.argmax())].astype(float))


@clean("pixels, black or white", discrete=True)
def _(rng):
    kind = rng.integers(0, 4, 300)
    shape = rng.random((4, 36)) < 0.5
    return classed(
        rng,
        np.where(rng.random((300, 36)) < 0.1, ~shape[kind], shape[kind]).astype(float),
        kind * 1.0,
    )


@clean("binary columns and several labels", discrete=True)
def _(rng):
    X = rng.integers(0, 2, (250, 9)).astype(float)
    Y = (rng.random((250, 4)) < 0.2 + 0.4 * X[:, :4]).astype(int)
    return Dataset("clean", X, Y, "multilabel")


@clean("binary columns and a rare class", discrete=True)
def _(rng):
    y = (np.arange(400) % 20 == 0).astype(int)
    return Dataset(
        "clean", (rng.random((400, 12)) < 0.3 + 0.2 * y[:, None]).astype(float), y, "classification"
    )


@clean("a tree of yes and no", discrete=True)
def _(rng):
    X = rng.integers(0, 2, (300, 12)).astype(float)
    for j in range(4, 12):
        X[:, j] *= X[:, j % 4]  # asked only where an earlier answer was yes
    return classed(rng, X)


@clean("an ordinal scale with gaps", discrete=True)
def _(rng):
    X = rng.integers(1, 8, (250, 4)).astype(float)
    dataset = classed(rng, X.copy())
    X[rng.random(X.shape) < 0.15] = np.nan
    return Dataset("clean", X, dataset.y, "classification")


@clean("tiny, thirty rows of Likert", discrete=True, plan=SplitPlan(folds=3))
def _(rng):
    return Dataset(
        "clean", rng.integers(1, 6, (30, 4)).astype(float), np.arange(30) % 2, "classification"
    )


# A module of its own, which registers its kinds with `clean`.
import clean_zoo_odd  # noqa: E402, F401
