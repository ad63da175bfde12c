"""The level, width and power of rows and folds (`paragone.stats.rows`) on fitted learners, beside the folds alone.

The two learners of a pair see exchangeable halves of the columns, so that by symmetry neither is
better; two different learners see the same columns, and what they differ by on the whole is taken
off. Power is the share of intervals that leave out 0 once the difference is moved by a true one.
``python benchmarks/rows_study.py --share 0.2`` runs a fifth and writes ``build/validation/rows.md``
in the form of docs/validation.md. Seeds are fixed.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import sqrt
from pathlib import Path

import numpy as np
from scipy.special import expit

from level_study import (
    ALPHA,
    Check,
    Fit,
    best_column_scores,
    in_words,
    lda_scores,
    lottery_scores,
    nearest_mean_scores,
    neighbour_scores,
    one_design,
    ridge_values,
    runs_of,
    stump_scores,
)
from paragone.metrics import find_metric, metric_slopes
from paragone.stats.designs import Design
from paragone.stats.rows import (
    Pivots,
    RowLayout,
    combined,
    dataset_pieces,
    fold_pieces,
    plain_scale,
    row_moments,
    why_not_by_rows,
)

ROOT = Path(__file__).resolve().parents[1]
FAMILY = 15
"""Pairs of six methods: the level that one of them is tested at is 0.05 / 15."""

CLASSES = np.array([0, 1])


@dataclass(frozen=True)
class Learner:
    """A learner, the data it sees, the metrics it is scored by, and whether it throws dice of its own."""

    fit: Fit
    n_rows: int
    n_columns: int
    shift: float
    metrics: tuple[str, ...] = ("accuracy", "roc_auc")
    positives: float = 0.5
    heavy: bool = False
    rival: Fit | None = None
    has_dice: bool = False

    @property
    def is_regression(self) -> bool:
        """Whether it predicts numbers."""
        return self.metrics[0] == "rmse"


LEARNERS = {
    "nearest mean, 60 rows": Learner(nearest_mean_scores, 60, 3, 0.5),
    "LDA, 60 rows": Learner(lda_scores, 60, 4, 0.4, ("accuracy", "roc_auc", "log_loss")),
    "LDA, 150 rows": Learner(lda_scores, 150, 4, 0.4, ("accuracy", "roc_auc", "log_loss")),
    "LDA, 600 rows": Learner(lda_scores, 600, 4, 0.3, ("accuracy", "roc_auc", "log_loss")),
    "LDA, 600 rows, 5 % positives": Learner(
        lda_scores, 600, 4, 0.6, ("balanced_accuracy", "roc_auc", "auprc"), 0.05
    ),
    "1-NN, 60 rows": Learner(neighbour_scores, 60, 3, 0.6, ("accuracy", "f1_macro")),
    "1-NN, 600 rows": Learner(neighbour_scores, 600, 3, 0.6, ("accuracy", "f1_macro")),
    "best of 20 columns, 100 rows": Learner(best_column_scores, 100, 20, 0.3),
    "best of 20 columns, 600 rows": Learner(best_column_scores, 600, 20, 0.15),
    "stump on 5 columns, 100 rows": Learner(stump_scores, 100, 5, 0.4),
    "stump on 5 columns, 600 rows": Learner(stump_scores, 600, 5, 0.3),
    "lottery LDA, 150 rows": Learner(lottery_scores, 150, 8, 0.4, has_dice=True),
    "LDA against 1-NN, 150 rows": Learner(
        lda_scores, 150, 4, 0.4, ("accuracy", "f1_macro"), rival=neighbour_scores
    ),
    "LDA against the best of 20 columns, 100 rows": Learner(
        lda_scores, 100, 20, 0.3, rival=best_column_scores
    ),
    "LDA against lottery LDA, 150 rows": Learner(
        lda_scores, 150, 8, 0.4, rival=lottery_scores, has_dice=True
    ),
    "LDA against lottery LDA, 600 rows": Learner(
        lda_scores, 600, 8, 0.3, rival=lottery_scores, has_dice=True
    ),
    "ridge, 60 rows": Learner(ridge_values, 60, 4, 0.5, ("rmse", "mae", "r2")),
    "ridge, 150 rows, noise of t with 3": Learner(
        ridge_values, 150, 4, 0.5, ("rmse", "mae", "r2"), heavy=True
    ),
}


def drawn(generator: np.random.Generator, learner: Learner) -> tuple[np.ndarray, np.ndarray]:
    """Return columns of both halves and the target."""
    n, p = learner.n_rows, learner.n_columns
    rows = generator.normal(size=(n, 2 * p))
    if learner.is_regression:
        noise = generator.standard_t(3, n) if learner.heavy else generator.normal(size=n)
        return rows, learner.shift * rows.sum(axis=1) + noise
    y = (np.arange(n) < round(learner.positives * n)).astype(np.int64)
    return rows + learner.shift * y[:, None], y


def parts(
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


def given(learner: Learner, answer: np.ndarray) -> dict[str, object]:
    """Return what a metric looks at: a decision value is the log odds of an LDA."""
    if learner.is_regression:
        return {"predicted": answer}
    chance = expit(answer)
    return {
        "predicted": (answer > 0).astype(np.int64),
        "probabilities": np.stack([1 - chance, chance], axis=1),
        "classes": CLASSES,
    }


def judged(
    generator: np.random.Generator, learner: Learner, design: Design
) -> dict[str, tuple[Pivots, Pivots]]:
    """Return what rows and folds, and folds alone, make of one drawn dataset, by metric."""
    rows, y = drawn(generator, learner)
    p = learner.n_columns
    task = "regression" if learner.is_regression else "classification"
    layout = RowLayout(
        parts(generator, y, design, not learner.is_regression),
        design,
        classes=None if learner.is_regression else y,
    )
    answers = []
    for test in layout.tests:
        train = np.ones(len(y), dtype=bool)
        train[test] = False
        sides = [(learner.fit, rows[:, :p]), (learner.rival or learner.fit, rows[:, p:])]
        if learner.rival is not None:
            sides[1] = (learner.rival, rows[:, :p])
        answers.append([fit(half[train], y[train], half[test], generator) for fit, half in sides])
    found = {}
    for name in learner.metrics:
        metric = find_metric(name, task)
        if why_not_by_rows(layout, metric.rows):
            continue
        scores, slopes = [], []
        for test, pair in zip(layout.tests, answers, strict=True):
            told = [given(learner, one) for one in pair]
            of_rows = [metric_slopes(metric, task, y[test], **one) for one in told]
            slopes.append(np.stack(of_rows, axis=1))
            scores.append([score(metric, y[test], one) for one in told])
        extent = metric.highest - metric.lowest
        extent = extent if np.isfinite(extent) else np.inf
        moments = row_moments(layout, slopes, metric.rows, extent if extent < np.inf else 1.0)
        gap = np.array(scores)[:, :1] - np.array(scores)[:, 1:]
        scale = plain_scale(1, 0.0, extent)
        found[name] = (
            combined([dataset_pieces(gap, design, moments, [(0, 1)], [learner.has_dice])], scale),
            combined([fold_pieces(gap, design)], scale),
        )
    return found


def score(metric: object, truth: np.ndarray, told: dict[str, object]) -> float:
    if metric.needs == "probabilities":  # type: ignore[attr-defined]
        return metric(truth, told["probabilities"], classes=CLASSES)  # type: ignore[operator]
    return metric(truth, told["predicted"])  # type: ignore[operator]


@dataclass(frozen=True)
class Cell:
    """One learner, design and metric: false claims, and widths and power of both rules."""

    name: str
    n_runs: int
    level: float
    of_family: float
    today: float
    width: float
    width_of_family: float
    power: tuple[float, float]
    rule: str

    @property
    def check(self) -> Check:
        """The level as the other parts of the study tell it."""
        group = "On this data, rows and folds: better or worse"
        return Check(group, self.name, ALPHA, self.level, self.n_runs, self.rule)  # type: ignore[arg-type]


def cells(share: float = 1.0) -> Iterator[Cell]:
    for place, (name, learner) in enumerate(LEARNERS.items()):
        for design in (one_design(5), one_design(10), one_design(5, 5)):
            generator = np.random.default_rng([21, place, design.folds, design.repeats])
            size = runs_of(2000 if learner.n_rows < 200 else 1000, share)
            if design.repeats > 1:
                size = max(size // 3, 40)
            kept: dict[str, list[tuple[Pivots, Pivots]]] = {}
            for _ in range(size):
                for metric, pair in judged(generator, learner, design).items():
                    kept.setdefault(metric, []).append(pair)
            for metric, pairs in kept.items():
                yield summed(f"{name}, {metric}, {in_words(design)}", pairs, learner)


def summed(name: str, pairs: list[tuple[Pivots, Pivots]], learner: Learner) -> Cell:
    if learner.rival is not None:
        # What they differ by on the whole is the mean over all datasets.
        centre = float(np.mean([pair[0].mean[0] for pair in pairs]))
        pairs = [tuple(replace(one, mean=one.mean - centre) for one in pair) for pair in pairs]
    # Where nothing can be told, nothing is claimed.
    p = np.nan_to_num(np.array([[float(one.p()[0]) for one in pair] for pair in pairs]), nan=1.0)
    halves = {
        tail: np.array([[float(one.half(tail)[0]) for one in pair] for pair in pairs])
        for tail in (ALPHA / 2, ALPHA / 2 / FAMILY)
    }
    known = np.isfinite(halves[ALPHA / 2]).all(axis=1)
    means = np.array([float(pair[0].mean[0]) for pair in pairs])
    shown = [
        float(np.mean(np.abs(means + 0.1)[:, None] > halves[ALPHA / 2][:, [rule]]))
        for rule in (0, 1)
    ]
    new, old = (halves[ALPHA / 2][known, rule] for rule in (0, 1))
    new_15, old_15 = (halves[ALPHA / 2 / FAMILY][known, rule] for rule in (0, 1))
    return Cell(
        name,
        len(pairs),
        float(np.mean(p[:, 0] <= ALPHA)),
        float(np.mean(p[:, 0] <= ALPHA / FAMILY)),
        float(np.mean(p[:, 1] <= ALPHA)),
        float(new.mean() / old.mean()),
        float(new_15.mean() / old_15.mean()),
        (shown[0], shown[1]),
        "shown" if learner.has_dice else "level",
    )


def table(found: list[Cell], share: float) -> str:
    lines = [
        "## On this data, rows and folds",
        "",
        f"False claims of two equal learners at 5 %; a share of {share:g} of the study. Width and power"
        " beside those of the folds alone; power is for a difference of .10 in the metric's unit."
        " Cells that throw dice are shown, not judged.",
        "",
        "| cell | runs | level | at .05/15 | folds alone | width | width at .05/15 | power (folds) | |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---|",
    ]
    for one in found:
        error = sqrt(ALPHA * (1 - ALPHA) / one.n_runs)
        word = (
            "shown"
            if one.rule == "shown"
            else "ok"
            if one.level <= ALPHA + 2 * error
            else "**fails**"
        )
        lines.append(
            f"| {one.name} | {one.n_runs} | {one.level:.3f} | {one.of_family:.4f} | {one.today:.3f} |"
            f" {one.width:.2f} | {one.width_of_family:.2f} | {one.power[0]:.2f} ({one.power[1]:.2f}) | {word} |"
        )
    judged_cells = [one for one in found if one.rule == "level"]
    widths = [
        (one.width, one.width_of_family) for one in judged_cells if "folds, 5" not in one.name
    ]
    lines += [
        "",
        f"{len(judged_cells)} cells judged; worst level {max(one.level for one in judged_cells):.3f}; mean width"
        f" {np.mean([w for w, _ in widths]):.2f} of that of the folds for one pair,"
        f" {np.mean([w for _, w in widths]):.2f} in a family of {FAMILY}.",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--only", default="", help="learners whose name holds this text")
    options = parser.parse_args()
    for name in list(LEARNERS):
        if options.only not in name:
            # Seeds go by the place of a learner, so it stays in the list.
            LEARNERS[name] = replace(LEARNERS[name], metrics=())
    found = []
    for cell in cells(options.share):
        found.append(cell)
        print(f"{cell.name}: {cell.level:.3f} (folds {cell.today:.3f}), width {cell.width:.2f}")
    folder = ROOT / "build" / "validation"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "rows.md").write_text(table(found, options.share), encoding="utf-8")


if __name__ == "__main__":
    main()
