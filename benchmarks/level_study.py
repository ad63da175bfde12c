"""The level of every word and the coverage of every interval that a comparison prints, simulated at many sizes.

Two scopes. *On new datasets*: scores of datasets are drawn, and the dataset is the unit. *On this
data*: fold scores are drawn with the luck that training sets share, and cheap learners
are really fitted to drawn data; the two learners of a pair see exchangeable halves of the columns,
so that by symmetry neither is better. Groups of several datasets are drawn from a pool of results,
with random signs: that is the same null, and their standard error slightly too small. Only public
functions are called.

Every group is a function of ``share``, the share of the full number of runs; seeds are fixed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from math import sqrt
from typing import Literal

import numpy as np
import pandas as pd

from paragone import compare, pairwise
from paragone.intake.collect import frame_results
from paragone.stats import compare_losses, compare_samples
from paragone.stats.designs import Design
from paragone.stats.profiles import run_profiles
from paragone.stats.scopes import compare_learners
from study_learners import (
    Fit,
    best_column_scores,
    in_words,
    lda_scores,
    lottery_scores,
    nearest_mean_scores,
    neighbour_scores,
    one_design,
    ridge_values,
    stump_scores,
)

ALPHA = 0.05
LEAST_COVERAGE = 0.93

Rule = Literal["equal", "at most", "above", "shown", "level", "covers"]


@dataclass(frozen=True)
class Check:
    """One simulated rate beside the rate it should have.

    ``level``: the false-claim rate of a word, at most alpha and two standard errors; ``covers``: an
    interval called 95 %, which must hold the truth in 93 % or more; ``equal``: within three
    standard errors; ``at most``: not above by more than three; ``above``: a procedure that is shown
    because it is invalid, and must be seen to be; ``shown``: reported and not judged.
    """

    group: str
    name: str
    expected: float
    observed: float
    n_runs: int
    rule: Rule

    @property
    def standard_error(self) -> float:
        """Binomial standard error of the simulated rate, were the expected one true."""
        return sqrt(self.expected * (1 - self.expected) / self.n_runs)

    @property
    def holds(self) -> bool:
        """Whether the rule is kept."""
        gap = self.observed - self.expected
        return {
            "shown": True,
            "covers": self.observed >= LEAST_COVERAGE,
            "level": gap <= 2 * self.standard_error,
            "equal": abs(gap) <= 3 * self.standard_error,
            "at most": gap <= 3 * self.standard_error,
            "above": gap > 3 * self.standard_error,
        }[self.rule]

    @property
    def far_off(self) -> bool:
        """Whether the rule is broken by more than a run of few draws can be out by chance."""
        if self.rule == "covers":
            return self.observed < LEAST_COVERAGE - 3 * self.standard_error
        return (
            self.observed - self.expected > 4 * self.standard_error
            if self.rule == "level"
            else not self.holds
        )


def runs_of(full: int, share: float) -> int:
    return max(40, round(full * share))


def told_apart(word: str) -> bool:
    return word in ("better", "worse")


# ---------------------------------------------------------------- on new datasets

SHAPES: dict[str, Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]] = {
    "normal": lambda g, size: g.normal(size=size),
    "heavy tails (t with 2.5)": lambda g, size: g.standard_t(2.5, size),
    "ties (whole steps)": lambda g, size: np.round(1.3 * g.normal(size=size)),
}


def two_methods_over_datasets(share: float = 1.0) -> Iterator[Check]:
    """Two methods of which neither is better, and two that differ by exactly the margin."""
    for shape, draw in SHAPES.items():
        for n in (1, 2, 3, 4, 6, 10, 20, 60):
            n_runs = runs_of(1500, share)
            generator = np.random.default_rng([1, n, len(shape)])
            wrong = false_equal = printed = inside = 0
            for _ in range(n_runs):
                d = draw(generator, (n,))
                found = pairwise(np.zeros(n), d, higher_is_better=True, **QUICK).pairs[0]
                wrong += told_apart(found.word)
                if np.isfinite(found.difference.low):
                    printed += 1
                    inside += found.difference.low <= 0 <= found.difference.high
                # The true difference lies on the margin's edge: one standard deviation, the
                # review's design.
                edge = pairwise(
                    np.zeros(n), d + 1, higher_is_better=True, margin=1.0, **QUICK
                ).pairs[0]
                false_equal += edge.word == "equivalent" or edge.within
            of = f"{n} dataset{'s' * (n > 1)}, {shape}"
            like = "On new datasets, two methods"
            yield Check(f"{like}: better or worse", of, ALPHA, wrong / n_runs, n_runs, "level")
            yield Check(f"{like}: equivalent", of, ALPHA, false_equal / n_runs, n_runs, "level")
            if printed:
                yield Check(f"{like}: interval", of, 1 - ALPHA, inside / printed, printed, "covers")


QUICK = {"n_samples": 100}


def table(values: np.ndarray) -> pd.DataFrame:
    """Return scores of datasets x methods as a frame."""
    columns = {f"method {j}": column for j, column in enumerate(values.T)}
    return pd.DataFrame({"dataset": [f"set {i}" for i in range(len(values))], **columns})


def many_methods_over_datasets(share: float = 1.0) -> Iterator[Check]:
    """A family of methods of which none is better; then one that is worse, which must not lend its p to the others."""
    group = "On new datasets, many methods: any false word, all intervals"
    for n_methods, n, bad, full, reference in (
        (5, 10, False, 500, None),
        (5, 20, True, 400, None),
        (10, 20, False, 200, None),
        (10, 60, True, 100, None),
        (30, 20, False, 200, "method 0"),
    ):
        n_runs = runs_of(full, share)
        generator = np.random.default_rng([2, n_methods, n])
        wrong = covered = 0
        for _ in range(n_runs):
            values = generator.normal(size=(n, 1)) + generator.normal(size=(n, n_methods))
            if bad:
                values[:, -1] -= 2.0
            found = compare(table(values), higher_is_better=True, reference=reference, bayes=False)
            worst = f"method {n_methods - 1}" if bad else ""
            equals = [one for one in found.pairs if worst not in (one.method, one.rival)]
            wrong += any(told_apart(one.word) for one in equals)
            covered += all(
                not one.difference.low > 0 and not one.difference.high < 0 for one in equals
            )
        who = "all pairs" if reference is None else "one reference"
        name = f"{n_methods} methods on {n} datasets, {who}{', one of them worse' if bad else ''}"
        yield Check(group, f"words, {name}", ALPHA, wrong / n_runs, n_runs, "level")
        yield Check(group, f"intervals, {name}", 1 - ALPHA, covered / n_runs, n_runs, "covers")


def failures_over_datasets(share: float = 1.0) -> Iterator[Check]:
    """Failures are outcomes: alike for both methods they favour neither, and nothing is equivalent where one failed."""
    group = "On new datasets, with failures"
    for n, chance in ((10, 0.1), (20, 0.3)):
        n_runs = runs_of(500, share)
        generator = np.random.default_rng([3, n])
        wrong = equal = 0
        for _ in range(n_runs):
            values = generator.normal(0.8, 0.002, (n, 2))
            values[generator.random(values.shape) < chance] = np.nan
            if np.isnan(values).all(axis=0).any():
                continue
            found = compare(
                table(values), metric="accuracy", missing="worst", margin=0.01, bayes=False
            ).pairs[0]
            wrong += told_apart(found.word)
            # Where both failed on a dataset it is no comparison of the two; where one did, nothing
            # is equal.
            equal += bool((np.isnan(values).sum(axis=1) == 1).any()) and found.word == "equivalent"
        name = f"{n} datasets, each score fails in {chance:.0%}"
        yield Check(group, f"better or worse, {name}", ALPHA, wrong / n_runs, n_runs, "level")
        yield Check(
            group,
            f"equivalent though one of the two failed, {name}",
            0.0,
            equal / n_runs,
            n_runs,
            "level",
        )


# ---------------------------------------------------------------- on this data: drawn fold
# scores


def fold_scores(
    generator: np.random.Generator, design: Design, n_methods: int, shape: str, spread: float
) -> dict[str, np.ndarray]:
    """Return scores per split of methods that are alike: luck that all splits of a dataset share, and that of each.

    The shared part has the share of a test set in the data, as Nadeau and Bengio (2003) take it.
    """
    luck = design.ratio / (1 + design.ratio)
    shared = generator.normal(0, sqrt(luck), (1, n_methods))
    own = SHAPES[shape](generator, (design.n_splits, n_methods)) * sqrt(1 - luck)
    return {f"method {j}": spread * column for j, column in enumerate((shared + own).T)}


def drawn_folds(share: float = 1.0) -> Iterator[Check]:
    """From one dataset to sixty, from three folds to a hundred, with repeats, unequal folds and unequal spread."""
    normal, heavy, ties = SHAPES
    group = "On this data, drawn fold scores"
    for name, folds, n, n_methods, shape in (
        ("1 dataset, 3 folds", [(3, 1)], 1, 2, normal),
        ("1 dataset, 5 folds", [(5, 1)], 1, 2, normal),
        ("1 dataset, 10 folds, heavy tails", [(10, 1)], 1, 2, heavy),
        ("1 dataset, 10 folds, ties", [(10, 1)], 1, 2, ties),
        ("1 dataset, 100 folds", [(100, 1)], 1, 2, normal),
        ("1 dataset, 10 x 10 folds", [(10, 10)], 1, 2, normal),
        ("1 dataset, 5 x 2 folds", [(2, 5)], 1, 2, normal),
        ("2 datasets, 5 folds", [(5, 1)], 2, 2, normal),
        ("4 datasets, 5 folds", [(5, 1)], 4, 2, normal),
        ("4 datasets, 5 folds, heavy tails", [(5, 1)], 4, 2, heavy),
        ("6 datasets, 3, 5 and 10 folds in turn", [(3, 1), (5, 1), (10, 1)], 6, 2, normal),
        ("8 datasets, 10 folds and 3 x 5 folds in turn", [(10, 1), (5, 3)], 8, 2, normal),
        ("20 datasets, 5 folds, ties", [(5, 1)], 20, 2, ties),
        ("60 datasets, 5 folds", [(5, 1)], 60, 2, normal),
        ("4 datasets, 5 folds, 5 methods", [(5, 1)], 4, 5, normal),
        ("8 datasets, 10 folds, 10 methods", [(10, 1)], 8, 10, normal),
        ("4 datasets, 5 folds, 30 methods", [(5, 1)], 4, 30, normal),
    ):
        n_runs = runs_of(2000 if n_methods < 10 else 600, share)
        generator = np.random.default_rng([4, len(name), n, n_methods])
        wrong = covered = equal = told = 0
        for _ in range(n_runs):
            designs = {f"set {i}": one_design(*folds[i % len(folds)]) for i in range(n)}
            spread = np.exp(generator.normal(0, 0.5, n))
            true = generator.normal(0, 1.0, n)
            true -= true.mean()
            scores = {}
            for i, (dataset, design) in enumerate(designs.items()):
                scores[dataset] = fold_scores(generator, design, n_methods, shape, float(spread[i]))
                # True differences on single datasets that cancel out over them.
                scores[dataset]["method 0"] = scores[dataset]["method 0"] + true[i]
            found = compare_learners(scores, designs, higher_is_better=True)
            wrong += any(told_apart(one.word) for one in found)
            told += bool(np.isfinite([one.p for one in found]).all())
            covered += all(
                not one.difference.low > 0 and not one.difference.high < 0 for one in found
            )
            if n_methods == 2:
                for by_method in scores.values():
                    by_method["method 0"] = by_method["method 0"] + 1.0
                (edge,) = compare_learners(scores, designs, higher_is_better=True, margin=1.0)
                equal += edge.word == "equivalent" or edge.within
        yield Check(f"{group}: better or worse", name, ALPHA, wrong / n_runs, n_runs, "level")
        yield Check(f"{group}: interval", name, 1 - ALPHA, covered / n_runs, n_runs, "covers")
        if n_methods == 2:
            yield Check(f"{group}: equivalent", name, ALPHA, equal / n_runs, n_runs, "level")


# ---------------------------------------------------------------- on this data: learners that
# are really fitted


def accuracy(y: np.ndarray, score: np.ndarray) -> float:
    return float(np.mean((score > 0) == (y == 1)))


def area_under_curve(y: np.ndarray, score: np.ndarray) -> float:
    gaps = score[y == 1][:, None] - score[y == 0]
    return float(((np.sign(gaps) + 1) / 2).mean()) if gaps.size else 0.5


def minus_rmse(y: np.ndarray, value: np.ndarray) -> float:
    return -float(np.sqrt(np.mean((y - value) ** 2)))


@dataclass(frozen=True)
class Trial:
    """A learner, what it is scored by, and the data it sees: rows, and columns of each of the two halves."""

    fit: Fit
    score: Callable[[np.ndarray, np.ndarray], float]
    n_rows: int
    n_columns: int
    shift: float


TRIALS: dict[str, Trial] = {
    "nearest mean, 60 rows": Trial(nearest_mean_scores, accuracy, 60, 3, 0.5),
    "LDA, 150 rows": Trial(lda_scores, accuracy, 150, 4, 0.4),
    "LDA by AUC, 150 rows": Trial(lda_scores, area_under_curve, 150, 4, 0.4),
    "LDA, 1000 rows": Trial(lda_scores, accuracy, 1000, 4, 0.3),
    "1-NN, 60 rows": Trial(neighbour_scores, accuracy, 60, 3, 0.6),
    "best of 20 columns, 100 rows": Trial(best_column_scores, accuracy, 100, 20, 0.3),
    "best of 20 columns by AUC, 100 rows": Trial(
        best_column_scores, area_under_curve, 100, 20, 0.3
    ),
    "stump on 5 columns, 100 rows": Trial(stump_scores, accuracy, 100, 5, 0.4),
    "lottery LDA, 60 rows": Trial(lottery_scores, accuracy, 60, 8, 0.4),
    "ridge by RMSE, 60 rows": Trial(ridge_values, minus_rmse, 60, 4, 0.5),
}


def fitted_differences(generator: np.random.Generator, trial: Trial, design: Design) -> np.ndarray:
    """Return the score differences of one learner on two exchangeable halves of the columns, split by split."""
    n, p = trial.n_rows, trial.n_columns
    if trial.score is minus_rmse:
        rows = generator.normal(size=(n, 2 * p))
        y = trial.shift * rows.sum(axis=1) + generator.normal(size=n)
    else:
        y = np.arange(n) % 2
        rows = generator.normal(size=(n, 2 * p)) + trial.shift * y[:, None]
    halves = rows[:, :p], rows[:, p:]
    found = []
    for _ in range(design.repeats):
        order = generator.permutation(n)
        # Stratified where there are classes: a fold without one of them has no AUC.
        order = (
            order[np.argsort(y[order], kind="stable")] if trial.score is not minus_rmse else order
        )
        part = np.empty(n, dtype=int)
        # Of a hold-out only the first part is tested on.
        part[order] = np.arange(n) % (
            design.folds if design.folds > 1 else round(1 + 1 / design.ratio)
        )
        for fold in range(design.folds):
            test = part == fold
            one, other = (
                trial.score(y[test], trial.fit(half[~test], y[~test], half[test], generator))
                for half in halves
            )
            found.append(one - other)
    return np.array(found)


@cache
def pool(name: str, design: Design, n_datasets: int) -> tuple[np.ndarray, ...]:
    """Return the differences on many drawn datasets."""
    generator = np.random.default_rng([5, list(TRIALS).index(name), design.folds, design.repeats])
    return tuple(fitted_differences(generator, TRIALS[name], design) for _ in range(n_datasets))


UNSTEADY = ("best of 20 columns, 100 rows", "stump on 5 columns, 100 rows")
"""Learners that go by one column or cut of many: the folds of a dataset share more luck than a figure of them shows."""


def fitted_learners(share: float = 1.0) -> Iterator[Check]:
    """Learners that are really fitted, stable and unstable ones, on one dataset and on groups of them."""
    for name, trial in TRIALS.items():
        size = runs_of(2000 if trial.n_rows < 1000 else 800, share)
        splits = [(one_design(5), size, (1, 4)), (one_design(10), size, (1, 20))]
        splits += [(one_design(10, 10), max(size // 3, 40), (1, 4))]
        if name in UNSTEADY:
            splits += [
                (one_design(20), size, (1, 4)),
                (one_design(5, 3), max(size // 2, 40), (1, 4)),
            ]
            splits += [(one_design(2, 5), size, (1, 20)), (Design(1, 10, 1 / 4), size, (1, 4))]
        for design, full, sizes in splits:
            results = pool(name, design, full)
            for n in sizes:
                yield from _groups(f"{name}, {in_words(design)}", [(results, design)], n, share)
    neighbours = [
        (pool("1-NN, 60 rows", one_design(k), runs_of(2000, share)), one_design(k)) for k in (5, 10)
    ]
    yield from _groups("1-NN, 60 rows, 5 and 10 folds in turn", neighbours, 6, share)
    yield from _groups("1-NN, 60 rows, 5 folds", neighbours[:1], 60, share)
    discriminant = [(pool("LDA, 150 rows", one_design(10), runs_of(2000, share)), one_design(10))]
    yield from _groups("LDA, 150 rows, 10 folds", discriminant, 60, share)


Pool = tuple[tuple[np.ndarray, ...], Design]


def _groups(name: str, pools: list[Pool], n: int, share: float) -> Iterator[Check]:
    """Compare on groups of n datasets, taken from pools in turn."""
    generator = np.random.default_rng([6, n, len(name)])
    alone = n == 1
    n_runs = len(pools[0][0]) if alone else runs_of(2000 if n <= 6 else 1000, share)
    wrong = covered = told = 0
    for run in range(n_runs):
        scores, designs = {}, {}
        for i in range(n):
            results, design = pools[i % len(pools)]
            difference = results[run if alone else int(generator.integers(len(results)))]
            sign = 1 if alone else generator.choice([-1, 1])
            scores[f"set {i}"] = {"A": sign * difference, "B": np.zeros(len(difference))}
            designs[f"set {i}"] = design
        (found,) = compare_learners(scores, designs, higher_is_better=True)
        wrong += told_apart(found.word)
        if np.isfinite(found.difference.low):
            told += 1
            covered += found.difference.low <= 0 <= found.difference.high
    of = f"{name}, {n} dataset{'s' * (n > 1)}"
    yield Check(
        "On this data, fitted learners: better or worse",
        of,
        ALPHA,
        wrong / n_runs,
        n_runs,
        "level",
    )
    if told:
        group = "On this data, fitted learners: interval"
        yield Check(group, of, 1 - ALPHA, covered / told, told, "covers")


def whole_comparison(share: float = 1.0) -> Iterator[Check]:
    """Both scopes from one call of compare on a frame with folds, as a user makes it."""
    group = "Both scopes from one table with folds"
    for n, folds, repeats in ((4, 5, 1), (8, 5, 2), (20, 10, 1)):
        n_runs = runs_of(300, share)
        generator = np.random.default_rng([7, n])
        design = one_design(folds, repeats)
        wrong = {"on this data": 0, "on new datasets": 0}
        for _ in range(n_runs):
            found = compare(
                _table_of_folds(generator, design, n, 2), higher_is_better=True, bayes=False
            )
            wrong["on this data"] += any(told_apart(one.word) for one in found.learners)
            wrong["on new datasets"] += any(told_apart(one.word) for one in found.pairs)
        for scope, count in wrong.items():
            name = f"{scope}: {n} datasets, {in_words(design)}"
            yield Check(group, name, ALPHA, count / n_runs, n_runs, "level")


# ---------------------------------------------------------------- seeds, families, failures within
# datasets


def seeds_and_families(share: float = 1.0) -> Iterator[Check]:
    """Several seeds per fold, seeds on one split, many methods at once, and folds that failed."""
    yield from _seeds(share)
    group = "Many methods, all pairs, and failures, from one table"
    for name, n, n_methods, folds, chance in (
        ("30 methods on 12 datasets, 5 folds", 12, 30, 5, 0.0),
        ("5 methods on 8 datasets, 10 folds, each score fails in 1%", 8, 5, 10, 0.01),
        ("3 methods on 6 datasets, 3 x 5 folds, each score fails in 2%", 6, 3, 15, 0.02),
    ):
        n_runs = runs_of(60 if n_methods == 30 else 300, share)
        generator = np.random.default_rng([14, n, n_methods])
        design = one_design(5, 3) if folds == 15 else one_design(folds)
        wrong = {"on this data": 0, "on new datasets": 0}
        for _ in range(n_runs):
            frame = _table_of_folds(generator, design, n, n_methods)
            scores = frame.filter(like="method")
            frame[scores.columns] = scores.mask(generator.random(scores.shape) < chance)
            found = compare(frame, metric="accuracy", missing="worst", bayes=False)
            wrong["on this data"] += any(told_apart(one.word) for one in found.learners)
            wrong["on new datasets"] += any(told_apart(one.word) for one in found.pairs)
        for scope, count in wrong.items():
            yield Check(group, f"{scope}: {name}", ALPHA, count / n_runs, n_runs, "level")


def _table_of_folds(
    generator: np.random.Generator, design: Design, n: int, n_methods: int
) -> pd.DataFrame:
    parts = []
    for i in range(n):
        scores = fold_scores(generator, design, n_methods, "normal", 0.02)
        keys = {"dataset": f"set {i}", "repeat": np.repeat(np.arange(design.repeats), design.folds)}
        keys["fold"] = np.tile(np.arange(design.folds), design.repeats)
        parts.append(
            pd.DataFrame({**keys, **{name: 0.7 + values for name, values in scores.items()}})
        )
    return pd.concat(parts, ignore_index=True)


def _seeds(share: float) -> Iterator[Check]:
    group = "Seeds are not folds"
    for n, design, n_seeds, noise in (
        (1, one_design(5), 5, 0.02),
        (4, one_design(5), 3, 0.05),
        (4, one_design(10), 2, 0.005),
        (8, Design(1, 1, 0.25), 5, 0.02),
    ):
        n_runs = runs_of(300, share)
        generator = np.random.default_rng([15, n, n_seeds])
        wrong = {"on this data": 0, "on new datasets": 0}
        for _ in range(n_runs):
            frame = _table_of_folds(generator, design, n, 2)
            several = pd.concat(
                [frame.assign(seed=seed) for seed in range(n_seeds)], ignore_index=True
            )
            methods = ["method 0", "method 1"]
            several[methods] += generator.normal(0, noise, (len(several), 2))
            several = several.drop(columns=["fold", "repeat"]) if design.n_splits == 1 else several
            found = compare(several, metric="accuracy", bayes=False)
            wrong["on this data"] += any(told_apart(one.word) for one in found.learners)
            wrong["on new datasets"] += any(told_apart(one.word) for one in found.pairs)
        where = in_words(design) if design.n_splits > 1 else "one split"
        for scope, count in wrong.items():
            name = f"{scope}: {n} dataset{'s' * (n > 1)}, {where}, {n_seeds} seeds each"
            yield Check(group, name, ALPHA, count / n_runs, n_runs, "level")


def items(share: float = 1.0) -> Iterator[Check]:
    """Files with one row per item: right or wrong, values, documents that hang together, several tasks."""
    group = "On items of a file"
    for name, n, kind in (
        ("40 items, right or wrong (McNemar)", 40, "right"),
        ("300 items, right or wrong (McNemar)", 300, "right"),
        ("60 items, values", 60, "values"),
        ("20 documents of 1 to 9 items, right or wrong", 20, "clusters"),
        ("3 tasks of 10, 30 and 90 items, values", 130, "tasks"),
        ("3 tasks of 10, 30 and 90 items, right or wrong", 130, "right tasks"),
    ):
        n_runs = runs_of(1000, share)
        generator = np.random.default_rng([16, n, len(kind)])
        wrong = inside = printed = 0
        for _ in range(n_runs):
            keys: dict[str, np.ndarray] = {}
            if kind == "clusters":
                sizes = generator.integers(1, 10, n)
                keys["document"] = np.repeat(np.arange(n), sizes)
            size = int(sizes.sum()) if kind == "clusters" else n
            if "tasks" in kind:
                keys["task"] = np.repeat(["a", "b", "c"], [10, 30, 90])
            values = generator.normal(size=(size, 1)) + generator.normal(size=(size, 2))
            if kind == "clusters":
                values += generator.normal(size=(n, 2))[keys["document"]]
            values = values if kind in ("values", "tasks") else values > -0.5
            frame = pd.DataFrame(
                {"item": np.arange(size), **keys, "A": values[:, 0], "B": values[:, 1]}
            )
            (found,) = frame_results(frame).compare(higher_is_better=True).pairs
            wrong += told_apart(found.word)
            if np.isfinite(found.difference.low):
                printed += 1
                inside += found.difference.low <= 0 <= found.difference.high
        yield Check(group, f"better or worse, {name}", ALPHA, wrong / n_runs, n_runs, "level")
        if printed:
            yield Check(f"{group}: interval", name, 1 - ALPHA, inside / printed, printed, "covers")


# ---------------------------------------------------------------- samples, clusters, replicates


def samples(share: float = 1.0) -> Iterator[Check]:
    """Rows that hang together in clusters, and losses of rows out of cross-validation."""
    group = "On samples"
    for n_clusters, per_cluster, shape in (
        (12, 5, "normal"),
        (30, 4, "heavy tails (t with 2.5)"),
        (40, 1, "normal"),
    ):
        n_runs = runs_of(1000, share)
        generator = np.random.default_rng([8, n_clusters])
        wrong = inside = 0
        for _ in range(n_runs):
            cluster = np.repeat(np.arange(n_clusters), per_cluster)
            difference = SHAPES[shape](generator, (n_clusters,))[cluster] + generator.normal(
                size=cluster.size
            )
            frame = pd.DataFrame(
                {"sample": np.arange(cluster.size), "topic": cluster, "metric": "m", "at": 1.0}
            )
            both = pd.concat(
                [frame.assign(method="A", value=difference), frame.assign(method="B", value=0.0)]
            )
            (found,) = compare_samples(both, cluster="topic", higher_is_better=True).pairs
            wrong += told_apart(found.word)
            inside += found.difference.low <= 0 <= found.difference.high
        name = f"{n_clusters} clusters of {per_cluster}, {shape}"
        yield Check(group, f"better or worse, {name}", ALPHA, wrong / n_runs, n_runs, "level")
        yield Check(f"{group}: interval", name, 1 - ALPHA, inside / n_runs, n_runs, "covers")
    n_runs = runs_of(1000, share)
    generator = np.random.default_rng(9)
    wrong = inside = 0
    for _ in range(n_runs):
        losses = out_of_fold_losses(generator, TRIALS["nearest mean, 60 rows"], 5)
        (found,) = compare_losses(losses, n_train=48, n_family=1).pairs
        wrong += told_apart(found.word)
        inside += found.difference.low <= 0 <= found.difference.high
    name = "rows of a 5-fold cross-validation, nearest mean"
    yield Check(group, f"better or worse, {name}", ALPHA, wrong / n_runs, n_runs, "level")
    yield Check(f"{group}: interval", name, 1 - ALPHA, inside / n_runs, n_runs, "covers")


def out_of_fold_losses(
    generator: np.random.Generator, trial: Trial, folds: int
) -> dict[str, np.ndarray]:
    """Return the mistakes of one learner on two exchangeable halves of the columns, row by row."""
    y = np.arange(trial.n_rows) % 2
    rows = generator.normal(size=(trial.n_rows, 2 * trial.n_columns)) + trial.shift * y[:, None]
    part = generator.permutation(trial.n_rows) % folds
    losses = {}
    for name, half in (("A", rows[:, : trial.n_columns]), ("B", rows[:, trial.n_columns :])):
        loss = np.empty(trial.n_rows)
        for fold in range(folds):
            test = part == fold
            score = trial.fit(half[~test], y[~test], half[test], generator)
            loss[test] = (score > 0) != (y[test] == 1)
        losses[name] = loss
    return losses


# ---------------------------------------------------------------- beside the verdict


def beside_the_verdict(share: float = 1.0) -> Iterator[Check]:
    """Profiles."""
    group = "Beside the verdict: interquartile mean of independent runs"
    for n, runs in ((4, 5), (1, 16), (10, 10)):
        n_runs, inside = runs_of(4000, share), 0
        generator = np.random.default_rng([10, n])
        for run in range(n_runs):
            drawn = [generator.normal(size=(runs, 2)) for _ in range(n)]
            middle = (
                run_profiles(drawn, "AB", n_resamples=400, seed=run).methods[0].interquartile_mean
            )
            inside += middle.low <= 0 <= middle.high
        yield Check(
            group, f"{n} datasets, {runs} runs", 1 - ALPHA, inside / n_runs, n_runs, "covers"
        )


STUDY: tuple[Callable[[float], Iterator[Check]], ...] = (
    two_methods_over_datasets,
    many_methods_over_datasets,
    failures_over_datasets,
    drawn_folds,
    fitted_learners,
    whole_comparison,
    seeds_and_families,
    items,
    samples,
    beside_the_verdict,
)
