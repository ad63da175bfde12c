"""Level, coverage, width and power of rows and folds (`paragone.stats.rows`) on fitted learners.

The methods of a setting see exchangeable blocks of columns, so that by symmetry none is better; or
different learners see the same columns, and what they differ by in the mean over all draws is taken
off. The functions that are judged are the product's own; this file needs no more than NumPy, SciPy
and scikit-learn beside them. Two steps::

    python benchmarks/rows_study.py draw --jobs 16 --minutes 9 --first 0 --out build/rows_0.npz
    python benchmarks/rows_study.py merge build/rows_*.npz --out build/validation/rows.md

Every job draws its own datasets of all settings, turn by turn, until its time is over or every
setting has ``--most`` datasets. What a job draws hangs on its number alone: a second command goes
on with ``--first 16``. ``--only`` takes settings whose name holds a text.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from itertools import combinations
from math import sqrt
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType

# Jobs share the processor; the threads of one would only be in the way of the others.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "src")]
if find_spec("pandas") is None:
    # The package's door imports tables and charts; its rooms with the rules do without.
    bare = ModuleType("paragone.stats")
    bare.__path__ = [str(ROOT / "src" / "paragone" / "stats")]
    sys.modules["paragone.stats"] = bare

import numpy as np  # noqa: E402
from scipy.special import expit, stdtr, stdtrit  # noqa: E402
from scipy.stats import wilcoxon  # noqa: E402

from paragone.metrics import Contributions, find_metric, metric_slopes  # noqa: E402
from paragone.metrics.contributions import mean_slopes  # noqa: E402
from paragone.stats.best import against_best, duels_of  # noqa: E402
from paragone.stats.corrections import holm  # noqa: E402
from paragone.stats.designs import Design  # noqa: E402
from paragone.stats.own_scores import own_scores  # noqa: E402
from paragone.stats.rows import (  # noqa: E402
    Pivots,
    RowLayout,
    RowMoments,
    combined,
    dataset_pieces,
    fold_pieces,
    row_moments,
    scale_of,
    why_not_by_rows,
)
from study_learners import (  # noqa: E402
    Fit,
    best_column_scores,
    boosting,
    forest,
    in_words,
    label_neighbours,
    lda_scores,
    least_squares_values,
    lottery_scores,
    mean_value,
    nearest_mean_scores,
    neighbour_scores,
    neighbour_values,
    network_scores,
    noisy_neighbours,
    one_design,
    prior_scores,
    random_tree,
    ridge_values,
    stump_scores,
    tree,
    tree_values,
    tuned_lda_scores,
)

ALPHA = 0.05
FAMILIES = (1, 6, 15, 45)
GAP = 0.10
"""The true difference whose power is shown, for metrics of finite range."""

CLASSES = np.array([0, 1])
LABELS = ("micro_f1", "macro_f1", "hamming_loss")
LISTS = ("hits in the first 5", "reciprocal rank")
ONE, TEN, REPEATED = one_design(5), one_design(10), one_design(5, 5)
ALL = ((ONE,), (TEN,), (REPEATED,))

Answers = list[list[np.ndarray]]


@dataclass(frozen=True)
class Setting:
    """Learners, the data they see, and what they are scored by.

    ``designs`` are ways to split, each with one design per dataset: the mean over several datasets
    is then what is judged. ``shown`` says why a level is not kept, where that is known.
    """

    fits: tuple[Fit, ...]
    n_rows: int
    n_columns: int
    shift: float
    metrics: tuple[str, ...] = ("accuracy", "roc_auc")
    positives: float = 0.5
    kind: str = "classes"
    heavy: bool = False
    same_columns: bool = False
    has_dice: bool = False
    shown: str = ""
    designs: tuple[tuple[Design, ...], ...] = ALL

    @property
    def is_centred(self) -> bool:
        """Whether by symmetry no method is better."""
        return not self.same_columns


def twice(fit: Fit, *sizes: float, **more: object) -> Setting:
    return Setting((fit, fit), int(sizes[0]), int(sizes[1]), sizes[2], **more)  # type: ignore[arg-type]


def beside(one: Fit, other: Fit, *sizes: float, **more: object) -> Setting:
    return Setting(
        (one, other),
        int(sizes[0]),
        int(sizes[1]),
        sizes[2],
        same_columns=True,
        **more,  # type: ignore[arg-type]
    )


def many(fit: Fit, n_methods: int, *sizes: float, **more: object) -> Setting:
    return Setting((fit,) * n_methods, int(sizes[0]), int(sizes[1]), sizes[2], **more)  # type: ignore[arg-type]


WITH_LOSS = ("accuracy", "roc_auc", "log_loss")
BY_CLASS = ("balanced_accuracy", "f1", "roc_auc", "auprc")
ERRORS = ("rmse", "mae", "r2")
RARE = ("balanced_accuracy", "roc_auc", "auprc")
SEVERAL = (
    (one_design(5), one_design(10)),
    (one_design(3), one_design(5), one_design(10), one_design(5, 5)),
    (one_design(5), one_design(10)) * 4,
)


def settings() -> dict[str, Setting]:
    """Return all settings by name; estimators are imported here, for those who draw."""
    of_dice: dict[str, object] = {"has_dice": True}
    return {
        "nearest mean, 60 rows": twice(nearest_mean_scores, 60, 3, 0.5),
        "LDA, 60 rows": twice(lda_scores, 60, 4, 0.4, metrics=(*WITH_LOSS, "balanced_accuracy")),
        "LDA, 150 rows": twice(lda_scores, 150, 4, 0.4, metrics=(*WITH_LOSS, *BY_CLASS[:2])),
        "LDA, 600 rows": twice(lda_scores, 600, 4, 0.3, metrics=(*WITH_LOSS, "matthews_corrcoef")),
        "LDA, 2000 rows": twice(lda_scores, 2000, 4, 0.3, metrics=WITH_LOSS),
        "LDA, 10000 rows": twice(lda_scores, 10_000, 4, 0.3, designs=((ONE,), (TEN,))),
        "LDA, 5 % positives, 600 rows": twice(
            lda_scores, 600, 4, 0.6, metrics=RARE, positives=0.05
        ),
        "LDA, 5 % positives, 2000 rows": twice(
            lda_scores, 2000, 4, 0.6, metrics=RARE, positives=0.05
        ),
        "5-NN, 5 % positives, 2000 rows": twice(
            noisy_neighbours(5), 2000, 4, 0.8, metrics=RARE, positives=0.05
        ),
        "LDA, nearly perfect, 600 rows": twice(lda_scores, 600, 4, 1.35),
        "1-NN, 60 rows": twice(neighbour_scores, 60, 3, 0.6, metrics=("accuracy", "f1_macro")),
        "1-NN, 600 rows": twice(neighbour_scores, 600, 3, 0.6, metrics=("accuracy", "f1_macro")),
        "1-NN on noise, 150 rows": twice(neighbour_scores, 150, 3, 0.0, metrics=("accuracy",)),
        "15-NN against 14-NN, 600 rows": beside(
            noisy_neighbours(15), noisy_neighbours(14), 600, 4, 0.3
        ),
        "best of 20 columns, 100 rows": twice(best_column_scores, 100, 20, 0.3),
        "best of 20 columns, 600 rows": twice(best_column_scores, 600, 20, 0.15),
        "stump, 100 rows": twice(stump_scores, 100, 5, 0.4),
        "stump, 600 rows": twice(stump_scores, 600, 5, 0.3),
        "stump, 10000 rows": twice(
            stump_scores, 10_000, 5, 0.2, metrics=("accuracy",), designs=((ONE,),)
        ),
        "tree, 150 rows": twice(tree(), 150, 4, 0.5, metrics=("accuracy", "f1")),
        "tree of depth 3, 600 rows": twice(tree(3), 600, 4, 0.4, metrics=WITH_LOSS),
        "forest, 150 rows": twice(forest(), 150, 4, 0.4, designs=((ONE,), (TEN,))),
        "boosting, 600 rows": twice(boosting(), 600, 4, 0.3, designs=((ONE,),)),
        "LDA against a tree, 150 rows": beside(lda_scores, tree(), 150, 4, 0.4),
        "LDA against 1-NN, 150 rows": beside(
            lda_scores, neighbour_scores, 150, 4, 0.4, metrics=("accuracy", "f1_macro")
        ),
        "LDA against the best of 20 columns, 100 rows": beside(
            lda_scores, best_column_scores, 100, 20, 0.3
        ),
        "LDA against the prior, 60 rows": beside(
            lda_scores, prior_scores, 60, 4, 0.4, metrics=("roc_auc",), positives=0.3
        ),
        "LDA against the prior, 600 rows": beside(
            lda_scores,
            prior_scores,
            600,
            4,
            0.3,
            metrics=("accuracy", "roc_auc", "balanced_accuracy"),
            positives=0.3,
        ),
        "LDA against a toss-up constant, 150 rows": beside(
            lda_scores,
            prior_scores,
            150,
            4,
            0.4,
            metrics=("f1",),
            shown="the constant is a toss-up",
        ),
        "columns chosen by inner folds, 150 rows": twice(tuned_lda_scores, 150, 16, 0.2),
        "columns chosen by inner folds, 600 rows": twice(tuned_lda_scores, 600, 16, 0.1),
        "LDA against columns chosen by inner folds, 150 rows": beside(
            lda_scores, tuned_lda_scores, 150, 16, 0.2
        ),
        "network, 150 rows": twice(network_scores, 150, 4, 0.4, **of_dice),
        "network, 600 rows": twice(network_scores, 600, 4, 0.3, metrics=WITH_LOSS, **of_dice),
        "LDA against a network, 150 rows": beside(
            lda_scores, network_scores, 150, 4, 0.4, **of_dice
        ),
        "LDA against a network, 600 rows": beside(
            lda_scores, network_scores, 600, 4, 0.3, **of_dice
        ),
        "random tree, 150 rows": twice(random_tree(), 150, 8, 0.4, **of_dice),
        "LDA against a random tree, 600 rows": beside(
            lda_scores, random_tree(), 600, 8, 0.3, **of_dice
        ),
        "lottery LDA, 150 rows": twice(lottery_scores, 150, 8, 0.4, **of_dice),
        "LDA against lottery LDA, 150 rows": beside(
            lda_scores, lottery_scores, 150, 8, 0.4, **of_dice
        ),
        "LDA against lottery LDA, 600 rows": beside(
            lda_scores, lottery_scores, 600, 8, 0.3, **of_dice
        ),
        "ridge, 60 rows": twice(ridge_values, 60, 4, 0.5, metrics=ERRORS, kind="values"),
        "ridge, 600 rows": twice(ridge_values, 600, 4, 0.5, metrics=ERRORS, kind="values"),
        "ridge, noise of t with 3, 150 rows": twice(
            ridge_values, 150, 4, 0.5, metrics=ERRORS, kind="values", heavy=True
        ),
        "tree of values, noise of t with 3, 150 rows": twice(
            tree_values(4), 150, 4, 0.5, metrics=ERRORS, kind="values", heavy=True
        ),
        "5-NN of values, noise of t with 3, 600 rows": twice(
            neighbour_values(5), 600, 4, 0.5, metrics=ERRORS, kind="values", heavy=True
        ),
        "ridge against 5-NN of values, 150 rows": beside(
            ridge_values, neighbour_values(5), 150, 4, 0.5, metrics=ERRORS, kind="values"
        ),
        "ridge against the mean, 150 rows": beside(
            ridge_values, mean_value, 150, 4, 0.3, metrics=("rmse", "r2"), kind="values"
        ),
        "least squares on 40 columns, 60 rows": twice(
            least_squares_values,
            60,
            40,
            0.2,
            metrics=("rmse", "mae"),
            kind="values",
            shown="as many columns as rows, nearly",
        ),
        "7-NN of labels, 150 rows": twice(
            label_neighbours, 150, 5, 0.8, metrics=LABELS, kind="labels"
        ),
        "7-NN of labels, 600 rows": twice(
            label_neighbours, 600, 5, 0.8, metrics=LABELS, kind="labels"
        ),
        "items of the same baskets, 150 users": twice(
            label_neighbours, 150, 20, 1.0, metrics=LISTS, kind="lists"
        ),
        "items of the same baskets, 600 users": twice(
            label_neighbours, 600, 20, 1.0, metrics=LISTS, kind="lists"
        ),
        "4 LDAs, 150 rows": many(lda_scores, 4, 150, 4, 0.4, designs=((ONE,),)),
        "6 LDAs, 150 rows": many(lda_scores, 6, 150, 4, 0.4, designs=((ONE,), (REPEATED,))),
        "7 LDAs, 600 rows": many(lda_scores, 7, 600, 4, 0.3, designs=((ONE,), (REPEATED,))),
        "7 stumps, 600 rows": many(stump_scores, 7, 600, 5, 0.3, designs=((ONE,),)),
        "7 nearest means, 2000 rows": many(nearest_mean_scores, 7, 2000, 3, 0.3, designs=((ONE,),)),
        "10 LDAs, 600 rows": many(lda_scores, 10, 600, 4, 0.3, designs=((ONE,),)),
        "LDA on several datasets, 100 rows": twice(
            lda_scores, 100, 4, 0.4, metrics=WITH_LOSS, designs=SEVERAL
        ),
        "stump on several datasets, 100 rows": twice(stump_scores, 100, 5, 0.4, designs=SEVERAL),
        "ridge on several datasets, 60 rows": twice(
            ridge_values, 60, 4, 0.5, metrics=ERRORS, kind="values", designs=SEVERAL
        ),
        "lottery LDA on several datasets, 100 rows": twice(
            lottery_scores, 100, 8, 0.4, designs=SEVERAL, **of_dice
        ),
    }


# ---------------------------------------------------------------- one dataset


def drawn(
    generator: np.random.Generator, setting: Setting
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return the columns and the target that each method sees."""
    n, p, m = setting.n_rows, setting.n_columns, len(setting.fits)
    blocks = 1 if setting.same_columns else m
    rows = generator.normal(size=(n, blocks * p))
    if setting.kind == "values":
        noise = generator.standard_t(3, n) if setting.heavy else generator.normal(size=n)
        targets = [setting.shift * rows.sum(axis=1) + noise] * m
    elif setting.kind == "classes":
        y = (np.arange(n) < round(setting.positives * n)).astype(np.int64)
        rows = rows + setting.shift * y[:, None]
        targets = [y] * m
    elif setting.kind == "labels":
        # Every label hangs on one of two directions of a method's own block, alike in all.
        targets = [_labels(generator, rows, setting)] * m
    else:
        return _baskets(generator, setting)
    parts = [rows[:, block * p : (block + 1) * p] for block in range(blocks)]
    return parts * (m // blocks), targets


def _labels(generator: np.random.Generator, rows: np.ndarray, setting: Setting) -> np.ndarray:
    n_labels = 6
    p = setting.n_columns
    weights = np.tile(np.eye(p)[:, np.arange(n_labels) % p], (rows.shape[1] // p, 1))
    strength = setting.shift * rows @ weights + generator.normal(size=(len(rows), n_labels))
    return np.asarray(strength > 0.6, dtype=np.int64)


def _baskets(
    generator: np.random.Generator, setting: Setting
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return, of a shop of each method's own, what users have and what they take next; tastes are shared."""
    n, p = setting.n_rows, setting.n_columns
    taste = generator.normal(size=(n, 3))
    have, take = [], []
    for _ in setting.fits:
        pull = taste @ np.tile(np.eye(3), (1, p // 3 + 1))[:, :p]
        noise = generator.gumbel(size=(n, p))
        order = np.argsort(-(setting.shift * pull + noise), axis=1)
        basket, later = np.zeros((n, p)), np.zeros((n, p))
        np.put_along_axis(basket, order[:, :5:2], 1.0, axis=1)
        np.put_along_axis(later, order[:, 1:6:2], 1.0, axis=1)
        have.append(basket)
        take.append(later)
    return have, take


def recommended(have: np.ndarray, take: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Return how strongly the baskets of others ask for each item, by what was taken after what."""
    strength = test @ (have.T @ take)
    strength[test > 0] = -1.0
    return strength


def parts_of(
    generator: np.random.Generator, y: np.ndarray, design: Design, stratify: bool
) -> tuple[np.ndarray, ...]:
    """Return the test rows of every split, with the classes spread over the folds."""
    tests = []
    for _ in range(design.repeats):
        order = generator.permutation(len(y))
        if stratify:
            order = order[np.argsort(y[order], kind="stable")]
        tests += [np.sort(order[fold :: design.folds]) for fold in range(design.folds)]
    return tuple(tests)


@dataclass(frozen=True)
class Judged:
    """What one dataset says by one metric."""

    scores: np.ndarray
    design: Design
    moments: RowMoments
    limits: tuple[float, float]
    constant: float
    sign: int
    is_share: bool


def one_dataset(
    generator: np.random.Generator, setting: Setting, design: Design
) -> dict[str, Judged]:
    columns, targets = drawn(generator, setting)
    y = targets[0]
    of_classes = setting.kind == "classes"
    layout = RowLayout(
        parts_of(generator, y, design, of_classes), design, classes=y if of_classes else None
    )
    answers: Answers = []
    for test in layout.tests:
        train = np.ones(len(y), dtype=bool)
        train[test] = False
        answers.append(
            [
                recommended(rows[train], target[train], rows[test])
                if setting.kind == "lists"
                else fit(rows[train], target[train], rows[test], generator)
                for fit, rows, target in zip(setting.fits, columns, targets, strict=True)
            ]
        )
    found = {}
    for name in setting.metrics:
        one = _judged(name, setting, layout, targets, answers)
        if one is not None:
            found[name] = one
    return found


def _judged(
    name: str, setting: Setting, layout: RowLayout, targets: list[np.ndarray], answers: Answers
) -> Judged | None:
    ask, contributions, limits, sign = _asked(name, setting.kind)
    if why_not_by_rows(layout, contributions):
        return None
    scores, slopes = [], []
    for test, told in zip(layout.tests, answers, strict=True):
        pairs = [ask(target[test], one) for target, one in zip(targets, told, strict=True)]
        if any(slope is None for _, slope in pairs):
            return None
        scores.append([value for value, _ in pairs])
        slopes.append(np.stack([slope for _, slope in pairs], axis=1))  # type: ignore[arg-type]
    extent = limits[1] - limits[0]
    moments = row_moments(layout, slopes, contributions, extent if np.isfinite(extent) else 1.0)
    constant = contributions.constant(2) if contributions.constant is not None else np.nan
    values = np.array(scores)
    return Judged(values, layout.design, moments, limits, constant, sign, contributions.is_share)


Ask = Callable[[np.ndarray, np.ndarray], tuple[float, np.ndarray | None]]


def _asked(name: str, kind: str) -> tuple[Ask, Contributions, tuple[float, float], int]:
    """Return how a metric is asked for its value and slopes, what it says of rows, its range and direction."""
    if kind == "lists":
        of_rows = Contributions(mean_slopes, unseen="row")

        def ask_lists(taken: np.ndarray, strength: np.ndarray) -> tuple[float, np.ndarray]:
            order = np.argsort(-strength, axis=1, kind="stable")[:, :5]
            hits = np.take_along_axis(taken, order, axis=1)
            first = np.where(hits.any(axis=1), 1 / (1 + hits.argmax(axis=1)), 0.0)
            values = hits.any(axis=1).astype(float) if name == LISTS[0] else first
            return float(values.mean()), mean_slopes(values)

        return ask_lists, of_rows, (0.0, 1.0), 1
    task = {"classes": "classification", "values": "regression", "labels": "multilabel"}[kind]
    metric = find_metric(name, task)
    limits = (float(metric.lowest), float(metric.highest))
    sign = 1 if metric.higher_is_better else -1

    def ask_labels(labels: np.ndarray, told: np.ndarray) -> tuple[float, np.ndarray | None]:
        return metric(labels, told), metric.slopes(labels, told)

    def ask(truth: np.ndarray, answer: np.ndarray) -> tuple[float, np.ndarray | None]:
        if kind == "values":
            return metric(truth, answer), metric_slopes(metric, task, truth, answer)
        chance = expit(answer)
        told = np.stack([1 - chance, chance], axis=1)
        labels = (answer > 0).astype(np.int64)
        slope = metric_slopes(metric, task, truth, labels, probabilities=told, classes=CLASSES)
        if metric.needs == "probabilities":
            return metric(truth, told, classes=CLASSES), slope
        return metric(truth, labels), slope

    return (ask_labels if kind == "labels" else ask), metric.rows, limits, sign


# ---------------------------------------------------------------- what is kept of a draw

COLUMNS = (
    "mean", "e_rows", "f_rows", "e_folds", "f_folds", "e_dice", "f_dice", "e_today", "f_today",
    "ratio", "low", "high", "own", "own_low", "own_high", "signed",
    "any_pairs", "any_today", "any_worse", "first_worse", "found_pairs", "found_best", "found_today",
)  # fmt: skip
"""Of the first pair: mean difference, standard errors and degrees of freedom by rows, by folds, by
the rule for dice and of today, F, the interval; the first method's own score; the p of ranks over
datasets; of the family: whether anything is claimed, by all pairs, today and against the best,
whether the first is called worse, and the share of rivals that are once it leads by the gap."""


def kept_of(setting: Setting, datasets: Sequence[Judged]) -> np.ndarray:
    m = len(setting.fits)
    pairs = list(combinations(range(m), 2))
    first, second = np.array(pairs).T
    one = datasets[0]
    gaps = [each.sign * (each.scores[:, first] - each.scores[:, second]) for each in datasets]
    dice = [True] * len(pairs)
    pieces = [
        dataset_pieces(gap, each.design, each.moments, pairs, dice)
        for gap, each in zip(gaps, datasets, strict=True)
    ]
    told = [each.moments for each in datasets]
    limits = one.limits if one.sign > 0 else (-one.limits[1], -one.limits[0])
    own = [each.sign * each.scores for each in datasets]
    scale = scale_of(own, told, pairs, one.sign * one.constant, limits)
    known = combined(pieces, scale)
    pivots = replace(known, errors=known.errors[:2], freedoms=known.freedoms[:2])
    today = combined(
        [fold_pieces(gap, each.design) for gap, each in zip(gaps, datasets, strict=True)], scale
    )
    today = replace(today, errors=today.errors[:1], freedoms=today.freedoms[:1])
    row = dict.fromkeys(COLUMNS, np.nan)
    low, high = pivots.interval(ALPHA / 2)
    row |= {"mean": pivots.mean[0], "low": low[0], "high": high[0], "ratio": pieces[0].ratio[0]}
    for rule, place in (("rows", 0), ("folds", 1), ("dice", 2)):
        row |= {f"e_{rule}": known.errors[place, 0], f"f_{rule}": known.freedoms[place, 0]}
    row |= {"e_today": today.errors[0, 0], "f_today": today.freedoms[0, 0]}
    mine = own_scores(
        [each.scores for each in datasets],
        [each.design for each in datasets],
        told,
        one.limits,
        is_share=one.is_share,
    )[0]
    row |= {"own": mine.estimate, "own_low": mine.low, "own_high": mine.high}
    if len(datasets) >= 6:
        means = np.array([float(gap[:, 0].mean()) for gap in gaps])
        row["signed"] = wilcoxon(means).pvalue
    if m > 2:
        row |= _of_family(setting, pairs, pivots, today)
    return np.array([row[name] for name in COLUMNS], dtype=np.float32)


def _of_family(
    setting: Setting, pairs: list[tuple[int, int]], pivots: Pivots, today: Pivots
) -> dict[str, float]:
    m = len(setting.fits)

    def claims(found: Pivots) -> np.ndarray:
        return holm(np.nan_to_num(found.p(), nan=1.0)) <= ALPHA

    def worse(found: Pivots) -> list[bool]:
        told = against_best(duels_of(m, pairs, found, ALPHA), ALPHA)
        return [one.word == "worse" for one in told]

    leads = np.array([GAP if pair[0] == 0 else 0.0 for pair in pairs])
    of_first = leads > 0
    moved = [replace(found, mean=found.mean + leads) for found in (pivots, today)]
    named = worse(pivots)
    return {
        "any_pairs": claims(pivots).any(),
        "any_today": claims(today).any(),
        "any_worse": any(named),
        "first_worse": named[0],
        "found_pairs": claims(moved[0])[of_first].mean(),
        "found_today": claims(moved[1])[of_first].mean(),
        "found_best": float(np.mean(worse(moved[0])[1:])),
    }


@dataclass
class Task:
    """A setting split in one way: the draws of one job, by metric."""

    name: str
    setting: Setting
    designs: tuple[Design, ...]
    place: int
    done: int = 0
    kept: dict[str, list[np.ndarray]] = field(default_factory=dict)

    def draw(self, job: int) -> None:
        """Draw one more dataset of each design, and keep what it says."""
        generator = np.random.default_rng([31, self.place, job, self.done])
        found = [one_dataset(generator, self.setting, design) for design in self.designs]
        for metric in self.setting.metrics:
            if all(metric in one for one in found):
                row = kept_of(self.setting, [one[metric] for one in found])
                self.kept.setdefault(metric, []).append(row)
        self.done += 1


def tasks(only: str) -> Iterator[Task]:
    for place, (name, setting) in enumerate(settings().items()):
        for way, designs in enumerate(setting.designs):
            words = in_words(designs[0])
            if len(designs) > 1:
                words = f"{len(designs)} datasets, {' and '.join(dict.fromkeys(map(in_words, designs)))}"
            if only in name:
                yield Task(f"{name}, {words}", setting, designs, 10 * place + way)


def drawn_by_job(job: int, minutes: float, most: int, only: str) -> dict[str, np.ndarray]:
    """Draw turn by turn, so that every cell has as many datasets whenever time is over."""
    end = time.monotonic() + 60 * minutes
    waiting = list(tasks(only))
    everything = list(waiting)
    while waiting and time.monotonic() < end:
        task = min(waiting, key=lambda one: one.done)
        task.draw(job)
        waiting = [one for one in waiting if one.done < most]
    return {
        f"{task.name}|{metric}": np.stack(rows)
        for task in everything
        for metric, rows in task.kept.items()
    }


def draw(options: argparse.Namespace) -> None:
    jobs = range(options.first, options.first + options.jobs)
    told = (options.minutes, -(-options.most // options.jobs), options.only)
    if options.jobs == 1:
        parts = [drawn_by_job(options.first, *told)]
    else:
        with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as seats:
            parts = [one.result() for one in [seats.submit(drawn_by_job, j, *told) for j in jobs]]
    options.out.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(options.out, **joined(parts))  # type: ignore[arg-type]
    counts = [len(rows) for rows in joined(parts).values()]
    print(f"{len(counts)} cells, {min(counts)} to {max(counts)} datasets each")


def joined(parts: Sequence[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    names = dict.fromkeys(name for part in parts for name in part)
    return {name: np.concatenate([part[name] for part in parts if name in part]) for name in names}


# ---------------------------------------------------------------- the table


@dataclass(frozen=True)
class Cell:
    """One setting, split and metric."""

    name: str
    n: int
    levels: tuple[float, ...]
    known: float
    today: float
    width: float
    width_of_family: float
    coverage: float
    own: float
    power: tuple[float, float]
    family: dict[str, float]
    why: str

    def fails(self, rate: float, level: float) -> bool:
        """Say whether a rate is above its level by more than two standard errors."""
        return rate > level + 2 * sqrt(level * (1 - level) / self.n)

    @property
    def word(self) -> str:
        """What stands behind the row."""
        failing = [
            f"{level:.3f} at .05/{size}"
            for level, size in zip(self.levels, FAMILIES, strict=True)
            if self.fails(level, ALPHA / size)
        ]
        if not failing:
            return "ok"
        if self.why == "dice":
            kept = not self.fails(self.known, ALPHA)
            return (
                f"shown: dice; known to throw them {self.known:.3f}{'' if kept else ' **fails**'}"
            )
        return f"shown: {self.why}" if self.why else f"**fails**: {', '.join(failing)}"


def cell_of(name: str, rows: np.ndarray, setting: Setting) -> Cell:
    at = {column: rows[:, place].astype(np.float64) for place, column in enumerate(COLUMNS)}
    truth = 0.0 if setting.is_centred else float(np.nanmean(at["mean"]))
    gap = np.abs(at["mean"] - truth)

    def p(*rules: str) -> np.ndarray:
        with np.errstate(invalid="ignore", divide="ignore"):
            found = [2 * stdtr(at[f"f_{rule}"], -gap / at[f"e_{rule}"]) for rule in rules]
        # Where nothing can be told, nothing is claimed.
        return np.nan_to_num(np.max(found, axis=0), nan=1.0)

    def half(tail: float, *rules: str) -> np.ndarray:
        return np.max([-stdtrit(at[f"f_{rule}"], tail) * at[f"e_{rule}"] for rule in rules], axis=0)

    inside = (at["low"] <= truth) & (truth <= at["high"])
    bent = np.isfinite(at["low"]).any() and "against the prior" in name and "roc_auc" in name
    levels = [float(np.mean(p("rows", "folds") <= ALPHA / size)) for size in FAMILIES]
    if bent:
        # The interval of a score beside a constant is not even around the mean.
        levels = [1 - float(np.mean(inside))] + [0.0] * (len(FAMILIES) - 1)
    new, old = half(ALPHA / 2, "rows", "folds"), half(ALPHA / 2, "today")
    tail = ALPHA / 2 / 15
    new_15, old_15 = half(tail, "rows", "folds"), half(tail, "today")
    own = float(np.nanmean(at["own"]))
    known = np.isfinite(at["own_low"])
    moved = [np.nanmean(np.abs(at["mean"] - truth + GAP) > one) for one in (new, old)]
    family = {
        column: float(np.nanmean(at[column]))
        for column in COLUMNS[COLUMNS.index("signed") :]
        if np.isfinite(at[column]).any()
    }
    if "signed" in family:
        family["signed"] = float(np.mean(at["signed"] <= ALPHA))
    return Cell(
        name,
        len(rows),
        tuple(levels),
        float(np.mean(p("rows", "folds", "dice") <= ALPHA)),
        float(np.mean(p("today") <= ALPHA)),
        float(np.nanmean(new) / np.nanmean(old)),
        float(np.nanmean(new_15) / np.nanmean(old_15)),
        float(np.mean(inside)),
        float(np.mean(((at["own_low"] <= own) & (own <= at["own_high"]))[known]))
        if known.any()
        else np.nan,
        (float(moved[0]), float(moved[1])),
        family,
        "dice" if setting.has_dice else setting.shown,
    )


def merge(options: argparse.Namespace) -> None:
    parts = [dict(np.load(path)) for path in options.parts]
    kinds = {task.name: task.setting for task in tasks("")}
    found = [
        cell_of(name, rows, kinds[name.partition("|")[0]]) for name, rows in joined(parts).items()
    ]
    found = [one for one in found if one.n >= options.least]
    options.out.parent.mkdir(parents=True, exist_ok=True)
    text = table(found)
    options.out.write_text(text, encoding="utf-8")
    print(text)


def table(found: list[Cell]) -> str:
    lines = [
        "## On this data, rows and folds",
        "",
        "False claims of two methods of which neither is better; width and power beside those of the folds alone;"
        f" power is for a difference of {GAP:.2f} in the metric's unit; coverage of the pair's interval and of a"
        " method's own, both at 95 %. Known exceptions are shown with their reason.",
        "",
        "| cell | metric | runs | at .05 | at .05/6 | at .05/15 | at .05/45 | folds alone | width | width at .05/15 |"
        " power (folds) | covers | own covers | |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|",
    ]
    for one in found:
        cell, _, metric = one.name.partition("|")
        levels = " | ".join(f"{level:.4f}" for level in one.levels[1:])
        lines.append(
            f"| {cell} | {metric} | {one.n} | {one.levels[0]:.3f} | {levels} | {one.today:.3f} | {one.width:.2f} |"
            f" {one.width_of_family:.2f} | {one.power[0]:.2f} ({one.power[1]:.2f}) | {one.coverage:.3f} |"
            f" {one.own:.3f} | {one.word} |"
        )
    lines += ["", *_families(found), "", *_summary(found)]
    return "\n".join(lines) + "\n"


def _families(found: list[Cell]) -> list[str]:
    lines = [
        "### Many methods, and datasets as the unit",
        "",
        "False claims of all pairs (Holm), of all pairs by folds alone, that the best is worse (of methods all equal:"
        " any of them, and one named before), and of signed ranks over datasets; and the share of rivals that are"
        f" told to be worse by {GAP:.2f}: all pairs, against the best, all pairs by folds alone.",
        "",
        "| cell | metric | runs | all pairs | folds alone | any worse | the named one worse | signed ranks |"
        " found: pairs | found: best | found: folds alone |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    order = ("any_pairs", "any_today", "any_worse", "first_worse", "signed")
    order = (*order, "found_pairs", "found_best", "found_today")
    for one in found:
        if one.family:
            cell, _, metric = one.name.partition("|")
            figures = " | ".join(
                f"{one.family[name]:.3f}" if name in one.family else "" for name in order
            )
            lines.append(f"| {cell} | {metric} | {one.n} | {figures} |")
    return lines


def _summary(found: list[Cell]) -> list[str]:
    judged = [one for one in found if not one.why]
    single = [one for one in judged if "x 5 folds" not in one.name and "datasets" not in one.name]
    failing = [one.name for one in found if "**fails**" in one.word]
    return [
        f"{len(judged)} cells judged, worst level {max(one.levels[0] for one in judged):.3f}; {len(failing)} fail"
        f"{': ' if failing else ''}{'; '.join(failing)}. One cross-validation: mean width"
        f" {np.mean([one.width for one in single]):.2f} of that of the folds for one pair,"
        f" {np.mean([one.width_of_family for one in single]):.2f} in a family of 15. Own intervals: least coverage"
        f" {min(one.own for one in judged if np.isfinite(one.own)):.3f}."
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    steps = parser.add_subparsers(dest="step", required=True)
    drawing = steps.add_parser("draw")
    drawing.add_argument("--jobs", type=int, default=1)
    drawing.add_argument("--minutes", type=float, default=3.0)
    drawing.add_argument("--first", type=int, default=0, help="the number of the first job")
    drawing.add_argument(
        "--most", type=int, default=4000, help="datasets per cell, all jobs together"
    )
    drawing.add_argument("--only", default="")
    drawing.add_argument("--out", type=Path, required=True)
    merging = steps.add_parser("merge")
    merging.add_argument("parts", nargs="+", type=Path)
    merging.add_argument(
        "--least", type=int, default=40, help="cells of fewer datasets are left out"
    )
    merging.add_argument("--out", type=Path, default=ROOT / "build" / "validation" / "rows.md")
    options = parser.parse_args()
    {"draw": draw, "merge": merge}[options.step](options)


if __name__ == "__main__":
    main()
