"""How often the checks of methods blame an honest one, and how much a method must know to be found.

``benchmarks/audit_power.py`` runs this: parts ``honest`` and ``knowing``. Honest methods are
scikit-learn's models on small data of many kinds, each audited in one cell as `paragone audit` does
it. A knowing method is a nearest neighbour that has the true labels of a share of all rows from
elsewhere.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn import dummy, ensemble, linear_model, naive_bayes, neighbors, neural_network, svm, tree
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from paragone import Experiment
from paragone.checks.bench import Bench
from paragone.checks.canary import check_methods, method_steps
from paragone.checks.changed_data import TargetNames, exchanged
from paragone.checks.finding import Ledger
from paragone.checks.foreknowledge import (
    FIRST_PAIRS,
    LEAST,
    LEVEL,
    KnownTruth,
    PermutedPair,
    pairs_needed,
)
from paragone.data import Dataset, SplitPlan
from paragone.lab.protocol import RowAnswers
from paragone.protocols import Predict

CLASSIFIERS = (
    neighbors.KNeighborsClassifier(1),
    neighbors.KNeighborsClassifier(4),
    neighbors.NearestCentroid(),
    tree.DecisionTreeClassifier(max_depth=3),
    ensemble.RandomForestClassifier(20),
    linear_model.LogisticRegression(),
    linear_model.LogisticRegression(class_weight="balanced"),
    linear_model.Perceptron(),
    naive_bayes.GaussianNB(),
    neural_network.MLPClassifier(8, max_iter=50),
    svm.SVC(),
    dummy.DummyClassifier(strategy="stratified"),
)
REGRESSORS = (
    linear_model.LinearRegression(),
    linear_model.LinearRegression(positive=True),
    linear_model.PoissonRegressor(),
    linear_model.GammaRegressor(),
    neighbors.KNeighborsRegressor(3),
    tree.DecisionTreeRegressor(),
    ensemble.GradientBoostingRegressor(loss="quantile", alpha=0.9, n_estimators=20),
    svm.SVR(),
)
SHARES, ROWS = (0.1, 0.2, 0.3, 0.5, 1.0), (30, 60, 120, 300)


def classes(random: np.random.Generator, n: int) -> Dataset:
    """Clusters, rare outliers, counts, answers of yes and no, and rows of zeros; even and uneven classes."""
    k, d = int(random.choice([2, 3, 5])), int(random.choice([1, 2, 8]))
    shares = (
        np.full(k, 1 / k) if random.random() < 0.5 else np.r_[0.85, np.full(k - 1, 0.15 / (k - 1))]
    )
    y = random.choice(k, size=n, p=shares)
    y[: 4 * k] = np.arange(4 * k) % k
    kinds = (
        6 * random.normal(size=(k, d))[y] + random.normal(size=(n, d)),
        random.normal(size=(n, d)) * np.where(y == k - 1, 6, 1)[:, None],
        random.poisson(np.exp(random.normal(size=(k, d)))[y] / 2),
        random.random((n, d)) < random.random((k, d))[y],
        np.where((y == 0)[:, None], 0, random.poisson(0.7, size=(n, d))),
    )
    return Dataset(
        "classes", np.asarray(kinds[random.integers(len(kinds))], dtype=float), y, "classification"
    )


def numbers(random: np.random.Generator, n: int) -> Dataset:
    """Lines, skewed sizes, and two levels; features with and without long tails."""
    d = int(random.choice([1, 3, 8]))
    X = random.normal(size=(n, d)) * (
        np.exp(random.normal(size=(n, 1))) if random.random() < 0.5 else 1
    )
    kinds = (
        X @ random.normal(size=d),
        np.exp(np.clip(np.abs(X).mean(axis=1), 0, 4)),
        10.0 * (X[:, 0] > 0),
    )
    y = kinds[random.integers(len(kinds))] + 0.1 * random.random(n)
    return Dataset("numbers", X, y - y.min() + 0.1, "regression")


def honest_trial(seed: int) -> dict[str, Any]:
    """Audit one honest method on one dataset: the model, what was looked at, and the codes that were found."""
    random = np.random.default_rng([seed, 1])
    make, models = ((classes, CLASSIFIERS), (numbers, REGRESSORS))[random.integers(2)]
    model = models[random.integers(len(models))]
    data = make(random, int(random.choice([40, 80, 200])))
    if "random_state" in model.get_params():
        model = clone(model).set_params(random_state=int(random.integers(1 << 30)))
    ledger = Ledger("honest")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        experiment = Experiment([data], {"M": model}, SplitPlan(folds=2), Predict(), name="honest")
        bench = Bench(experiment, in_process=True)
        try:
            check_methods(experiment, ledger, bench=bench, seed=seed)
        finally:
            bench.close()
    looked = [one.check for one in ledger.checked if one.check in method_steps()]
    codes = sorted({one.code for one in ledger.findings})
    return {"model": type(model).__name__, "looked": looked, "codes": codes}


class KnowsSome(ClassifierMixin, BaseEstimator):
    """A nearest neighbour that has the labels of some rows from elsewhere."""

    known: dict[bytes, Any] = {}  # noqa: RUF012

    def fit(self, X: Any, y: Any) -> KnowsSome:
        """Keep train."""
        self.nearest_ = neighbors.KNeighborsClassifier(1).fit(X, y)
        self.classes_ = self.nearest_.classes_
        return self

    def predict(self, X: Any) -> Any:
        """Look rows up, and ask the nearest neighbour where they are not known."""
        said = self.nearest_.predict(X)
        return np.array(
            [self.known.get(row.tobytes(), one) for row, one in zip(X, said, strict=True)]
        )


def knowing_found(share: float, n: int, seed: int) -> bool:
    """Say whether the inverted canary finds a method that knows the true labels of a share of noise."""
    random = np.random.default_rng([seed, 2])
    data = Dataset(
        "noise", random.normal(size=(n, 3)), random.permutation(np.arange(n) % 2), "classification"
    )
    rows = random.permutation(n)[: round(share * n)]
    KnowsSome.known = {data.X[row].tobytes(): data.y[row] for row in rows}
    return is_blamed(KnowsSome(), data, random)


def is_blamed(model: Any, data: Dataset, random: np.random.Generator) -> bool:
    """Train a model on permuted labels as an audit of one cell does."""
    order = random.permutation(data.n_samples)
    test, train = np.array_split(order, [data.n_samples // 3])
    names = TargetNames.of(data)
    truth = KnownTruth.of(names, data.y[test])
    shares: list[Any] = []
    while truth is not None and len(shares) < pairs_needed(1):
        mixed = data.y[exchanged(data.n_samples, [train, test], random)]
        namings = names.draw(random)
        said = [answers(model, data, names.renamed(mixed, one), train, test) for one in namings]
        shares.append(truth.shares(PermutedPair(*namings, (said[0], said[1]))))
        if len(shares) >= FIRST_PAIRS and truth.known(np.array(shares)) < LEAST:
            return False
    return truth is not None and truth.p_value(np.array(shares)) <= LEVEL


def answers(model: Any, data: Dataset, y: Any, train: Any, test: Any) -> RowAnswers:
    """Fit a copy of a model and ask it about the test rows."""
    fresh = clone(model).fit(data.X[train], y[train])
    return RowAnswers(fresh.predict(data.X[test]), None, fresh.classes_)
