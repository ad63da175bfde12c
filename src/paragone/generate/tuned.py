"""TunedClassifier: the protocol's tuning, as an estimator that any experiment can hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import StratifiedKFold

from paragone.errors import InputError
from paragone.generate.methods import Contender
from paragone.generate.scoring import auroc, confidence, source_of
from paragone.generate.spaces import suggest
from paragone.validation import FloatArray

Scoring: TypeAlias = Literal["auroc", "hard"]


class TunedClassifier(ClassifierMixin, BaseEstimator):
    """A classifier tuned by Optuna's TPE on folds of its training data, then refitted on all of it.

    Parameters
    ----------
    use : str
        The class, as an alias or ``module:Class``.
    fixed, space : mapping
        Parameters that are always set, and the search space. With an empty space nothing is tuned.
    trials : int, default=200
        Number of trials.
    folds : int, default=10
        Stratified folds, shuffled by the seed.
    scoring : {"auroc", "hard"}, default="auroc"
        ``"hard"`` scores hard labels, as the published search did: that is balanced accuracy, whatever it is called.
    seed : int, default=0
        Of the folds, the sampler and the classifier.
    journal : str, optional
        A file that keeps the trials, so that a search that was stopped goes on; in memory where it is not given.

    Attributes
    ----------
    best_params_ : dict
        The parameters chosen.
    best_score_ : float
        Their mean score over the folds; NaN where nothing was tuned.
    n_bounded_ : int
        Fits of the search that hit a bound on iterations.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y = (X[:, 0] > 0).astype(int)
    >>> space = {"max_depth": {"low": 1, "high": 3}}
    >>> tuned = TunedClassifier("sklearn.tree:DecisionTreeClassifier", space=space, trials=3, folds=3).fit(X, y)
    >>> sorted(tuned.best_params_), tuned.predict_proba(X).shape
    (['max_depth'], (60, 2))
    """

    def __init__(
        self,
        use: str,
        fixed: Mapping[str, Any] | None = None,
        space: Mapping[str, Mapping[str, Any]] | None = None,
        trials: int = 200,
        folds: int = 10,
        scoring: Scoring = "auroc",
        seed: int = 0,
        journal: str | None = None,
    ) -> None:
        self.use = use
        self.fixed = fixed
        self.space = space
        self.trials = trials
        self.folds = folds
        self.scoring = scoring
        self.seed = seed
        self.journal = journal

    def fit(self, X: Any, y: Any) -> Self:
        """Choose the parameters on folds of ``X, y`` and fit on all of them."""
        if self.scoring not in ("auroc", "hard"):
            raise InputError(f"scoring is 'auroc' or 'hard', not {self.scoring!r}")
        features, labels = np.asarray(X, dtype=np.float64), np.asarray(y)
        contender = Contender(self.use, self.use, self.fixed or {}, self.space or {})
        search = FoldScore(contender, features, labels, self.folds, self.scoring, self.seed)
        self.best_params_, self.best_score_ = self._searched(search) if self.space else ({}, float("nan"))
        self.n_bounded_ = search.n_bounded
        self.classifier_ = contender.configured(self.best_params_).build(self.seed).fit(features, labels)
        self.classes_ = getattr(self.classifier_, "classes_", np.unique(labels))
        return self

    def _searched(self, search: FoldScore) -> tuple[dict[str, Any], float]:
        study = new_study(self.seed, self.journal)
        for _ in range(self.trials - len(study.trials)):
            trial = study.ask()
            params = suggest(trial, self.space or {})
            trial.set_user_attr("params", params)
            study.tell(trial, search(params))
        return dict(study.best_trial.user_attrs["params"]), float(study.best_value)

    @property
    def score_source(self) -> str:
        """What the classifier is scored by; ``predict`` means hard labels."""
        return source_of(self.classifier_)

    def decision_function(self, X: Any) -> FloatArray:
        """Return the classifier's values for class 1: probabilities, decision values or hard labels."""
        return confidence(self.classifier_, np.asarray(X, dtype=np.float64)).values

    def predict(self, X: Any) -> NDArray[Any]:
        """Return hard labels."""
        return np.asarray(self.classifier_.predict(X))

    def __getattr__(self, name: str) -> Any:
        # Only a classifier with probabilities has them here too.
        if name == "predict_proba" and "classifier_" in self.__dict__:
            return getattr(self.__dict__["classifier_"], name)
        raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")


class FoldScore:
    """The score of a configuration: its mean over the first folds of fixed stratified folds."""

    def __init__(
        self, contender: Contender, X: FloatArray, y: NDArray[Any], folds: int, scoring: Scoring, seed: int
    ) -> None:
        self._contender, self._scoring, self._seed = contender, scoring, seed
        self._X, self._y = X, y
        splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
        self._splits = list(splitter.split(X, y))
        self.n_bounded = 0

    def __call__(self, params: Mapping[str, Any], n_folds: int | None = None) -> float:
        """Return the mean score over the first folds, all where ``n_folds`` is not given."""
        return float(np.mean(self.each(params, n_folds)))

    def each(self, params: Mapping[str, Any], n_folds: int | None = None) -> list[float]:
        """Return the score of every fold."""
        return [self._on(params, train, test) for train, test in self._splits[:n_folds]]

    def _on(self, params: Mapping[str, Any], train: NDArray[Any], test: NDArray[Any]) -> float:
        classifier = self._contender.configured(params).build(self._seed).fit(self._X[train], self._y[train])
        self.n_bounded += bool(getattr(classifier, "hit_bound_", False))
        if self._scoring == "hard":
            values = (np.asarray(classifier.predict(self._X[test])) == self._y.max()).astype(np.float64)
        else:
            values = confidence(classifier, self._X[test]).values
        return auroc(self._y[test] == self._y.max(), values)


def new_study(seed: int, journal: str | None = None) -> Any:
    """Open a search for a maximum: in memory, or in a journal file that a later search goes on with.

    A search that goes on draws other values than one that was never stopped: the sampler's own state is not kept.
    """
    try:
        import optuna
    except ImportError as error:
        raise InputError("tuning needs Optuna: pip install 'paragone[boost]'") from error
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    storage = None
    if journal is not None:
        backend = optuna.storages.journal.JournalFileBackend(journal)
        storage = optuna.storages.JournalStorage(backend)
    sampler = optuna.samplers.TPESampler(seed=seed)
    return optuna.create_study(
        direction="maximize", sampler=sampler, storage=storage, study_name="tuning", load_if_exists=True
    )
