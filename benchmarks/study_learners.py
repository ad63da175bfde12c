"""The learners that the simulations fit: cheap ones by hand, and those of scikit-learn beside them.

Every learner is a function of training rows, their target, test rows and a generator, which only
those with dice of their own ask. It answers decision values (positive: class 1), values, or a
matrix of labels. Nothing here needs more than NumPy and scikit-learn.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from paragone.stats.designs import Design

Fit = Callable[[np.ndarray, np.ndarray, np.ndarray, np.random.Generator], np.ndarray]


def nearest_mean_scores(
    rows: np.ndarray, y: np.ndarray, test: np.ndarray, _: np.random.Generator
) -> np.ndarray:
    first, second = rows[y == 0].mean(axis=0), rows[y == 1].mean(axis=0)
    return (test - (first + second) / 2) @ (second - first)


def lda_scores(
    rows: np.ndarray, y: np.ndarray, test: np.ndarray, _: np.random.Generator
) -> np.ndarray:
    first, second = rows[y == 0].mean(axis=0), rows[y == 1].mean(axis=0)
    centred = rows - np.where(y[:, None] == 0, first, second)
    within = centred.T @ centred / (len(rows) - 2) + 1e-9 * np.eye(rows.shape[1])
    return (test - (first + second) / 2) @ np.linalg.solve(within, second - first)


def lottery_scores(
    rows: np.ndarray, y: np.ndarray, test: np.ndarray, generator: np.random.Generator
) -> np.ndarray:
    """LDA on two columns that are drawn anew in every fit: a random learner."""
    kept = generator.permutation(rows.shape[1])[:2]
    return lda_scores(rows[:, kept], y, test[:, kept], generator)


def best_column_scores(
    rows: np.ndarray, y: np.ndarray, test: np.ndarray, _: np.random.Generator
) -> np.ndarray:
    first, second = rows[y == 0].mean(axis=0), rows[y == 1].mean(axis=0)
    column = int(np.argmax(np.abs(second - first)))
    return (test[:, column] - (first + second)[column] / 2) * np.sign((second - first)[column])


def neighbour_scores(
    rows: np.ndarray, y: np.ndarray, test: np.ndarray, _: np.random.Generator
) -> np.ndarray:
    squares = (rows**2).sum(axis=1) - 2 * test @ rows.T
    return np.where(y[squares.argmin(axis=1)] == 1, 1.0, -1.0)


def stump_scores(
    rows: np.ndarray, y: np.ndarray, test: np.ndarray, _: np.random.Generator
) -> np.ndarray:
    """One cut of one column, that with the fewest mistakes on the training rows."""
    order = np.argsort(rows, axis=0)
    right = np.cumsum(np.where(y[order] == 0, 1, -1), axis=0)[:-1] + int(y.sum())
    hits = np.maximum(right, len(y) - right)
    cut, column = np.unravel_index(int(np.argmax(hits)), hits.shape)
    at = rows[order[[cut, cut + 1], column], column].mean()
    return (test[:, column] - at) * (1 if 2 * right[cut, column] >= len(y) else -1)


def ridge_values(
    rows: np.ndarray, y: np.ndarray, test: np.ndarray, _: np.random.Generator
) -> np.ndarray:
    middle = rows.mean(axis=0)
    centred = rows - middle
    weights = np.linalg.solve(
        centred.T @ centred + np.eye(rows.shape[1]), centred.T @ (y - y.mean())
    )
    return (test - middle) @ weights + y.mean()


def noisy_neighbours(k: int) -> Fit:
    """Return the vote of the k nearest rows; the share of votes breaks no tie by chance."""

    def fit(
        rows: np.ndarray, y: np.ndarray, test: np.ndarray, _: np.random.Generator
    ) -> np.ndarray:
        squares = (rows**2).sum(axis=1) - 2 * test @ rows.T
        near = np.argpartition(squares, k - 1, axis=1)[:, :k]
        return y[near].mean(axis=1) - 0.5

    return fit


def neighbour_values(k: int) -> Fit:
    def fit(
        rows: np.ndarray, y: np.ndarray, test: np.ndarray, _: np.random.Generator
    ) -> np.ndarray:
        squares = (rows**2).sum(axis=1) - 2 * test @ rows.T
        return y[np.argpartition(squares, k - 1, axis=1)[:, :k]].mean(axis=1)

    return fit


def prior_scores(
    rows: np.ndarray, y: np.ndarray, test: np.ndarray, _: np.random.Generator
) -> np.ndarray:
    """The same for every row: the share of the classes."""
    share = y.mean()
    return np.full(len(test), np.log(share / (1 - share)) if 0 < share < 1 else 0.0)


def mean_value(
    rows: np.ndarray, y: np.ndarray, test: np.ndarray, _: np.random.Generator
) -> np.ndarray:
    return np.full(len(test), y.mean())


def least_squares_values(
    rows: np.ndarray, y: np.ndarray, test: np.ndarray, _: np.random.Generator
) -> np.ndarray:
    middle = rows.mean(axis=0)
    weights = np.linalg.lstsq(rows - middle, y - y.mean(), rcond=None)[0]
    return (test - middle) @ weights + y.mean()


def tuned_lda_scores(
    rows: np.ndarray, y: np.ndarray, test: np.ndarray, generator: np.random.Generator
) -> np.ndarray:
    """LDA on the columns that tell the classes apart best: how many, three inner folds choose."""
    sizes = [size for size in (1, 2, 4, 8, 16) if size <= rows.shape[1]]
    part = np.arange(len(y)) % 3
    right = np.zeros(len(sizes))
    for fold in range(3):
        kept = part != fold
        order = _by_gap(rows[kept], y[kept])
        for place, size in enumerate(sizes):
            columns = order[:size]
            told = lda_scores(rows[kept][:, columns], y[kept], rows[~kept][:, columns], generator)
            right[place] += np.count_nonzero((told > 0) == (y[~kept] == 1))
    columns = _by_gap(rows, y)[: sizes[int(right.argmax())]]
    return lda_scores(rows[:, columns], y, test[:, columns], generator)


def _by_gap(rows: np.ndarray, y: np.ndarray) -> np.ndarray:
    gap = np.abs(rows[y == 1].mean(axis=0) - rows[y == 0].mean(axis=0)) / rows.std(axis=0)
    return np.argsort(-gap, kind="stable")


def network_scores(
    rows: np.ndarray, y: np.ndarray, test: np.ndarray, generator: np.random.Generator
) -> np.ndarray:
    """A network of eight hidden units from a random start: 80 steps of gradient descent with momentum."""
    hidden = 8
    first = generator.normal(0, 1 / np.sqrt(rows.shape[1]), (rows.shape[1], hidden))
    second, shifts, shift = generator.normal(0, 0.5, hidden), np.zeros(hidden), 0.0
    speed = [np.zeros_like(first), np.zeros_like(second), np.zeros(hidden), 0.0]
    middle, spread = rows.mean(axis=0), rows.std(axis=0)
    inner = (rows - middle) / spread
    for _ in range(80):
        layer = np.tanh(inner @ first + shifts)
        error = (1 / (1 + np.exp(-(layer @ second + shift))) - y) / len(y)
        back = error[:, None] * second * (1 - layer**2)
        steps = [inner.T @ back, layer.T @ error, back.sum(axis=0), error.sum()]
        speed = [0.9 * old - 0.5 * new for old, new in zip(speed, steps, strict=True)]
        first, second = first + speed[0], second + speed[1]
        shifts, shift = shifts + speed[2], shift + speed[3]
    return np.tanh((test - middle) / spread @ first + shifts) @ second + shift


def of_scikit_learn(make: Callable[[int], object]) -> Fit:
    """Return an estimator of scikit-learn as a learner; it gets a seed of its own for every fit."""

    def fit(
        rows: np.ndarray, y: np.ndarray, test: np.ndarray, generator: np.random.Generator
    ) -> np.ndarray:
        model = make(int(generator.integers(2**31 - 1))).fit(rows, y)  # type: ignore[attr-defined]
        if not hasattr(model, "predict_proba"):
            return np.asarray(model.predict(test))
        chance = np.clip(model.predict_proba(test)[:, 1], 1e-3, 1 - 1e-3)
        return np.asarray(np.log(chance / (1 - chance)))

    return fit


def tree(depth: int | None = None) -> Fit:
    from sklearn.tree import DecisionTreeClassifier

    return of_scikit_learn(lambda seed: DecisionTreeClassifier(max_depth=depth, random_state=0))


def tree_values(depth: int | None = None) -> Fit:
    from sklearn.tree import DecisionTreeRegressor

    return of_scikit_learn(lambda seed: DecisionTreeRegressor(max_depth=depth, random_state=0))


def random_tree() -> Fit:
    """Return a tree that looks at one column drawn for each cut."""
    from sklearn.tree import DecisionTreeClassifier

    return of_scikit_learn(lambda seed: DecisionTreeClassifier(max_features=1, random_state=seed))


def forest() -> Fit:
    from sklearn.ensemble import RandomForestClassifier

    return of_scikit_learn(lambda seed: RandomForestClassifier(30, random_state=seed))


def boosting() -> Fit:
    from sklearn.ensemble import GradientBoostingClassifier

    return of_scikit_learn(
        lambda seed: GradientBoostingClassifier(n_estimators=30, max_depth=2, random_state=0)
    )


def label_neighbours(
    rows: np.ndarray, labels: np.ndarray, test: np.ndarray, _: np.random.Generator
) -> np.ndarray:
    """The labels that most of the seven nearest rows have."""
    squares = (rows**2).sum(axis=1) - 2 * test @ rows.T
    near = np.argpartition(squares, 6, axis=1)[:, :7]
    return (labels[near].mean(axis=1) > 0.5).astype(np.int64)


def one_design(folds: int, repeats: int = 1) -> Design:
    return Design(folds, repeats, 1 / (folds - 1))


def in_words(design: Design) -> str:
    if design.folds == 1:
        return f"{design.repeats} hold-outs of {design.ratio / (1 + design.ratio):.0%}"
    return f"{f'{design.repeats} x ' if design.repeats > 1 else ''}{design.folds} folds"
