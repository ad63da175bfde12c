"""TunedClassifier: the protocol's tuning, as an estimator that any experiment can hold."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import KFold, StratifiedKFold

from paragone.errors import unknown_name
from paragone.generate.classifiers import TrialScoring, confidence, score_on, source_of
from paragone.generate.methods import configured, reseeded
from paragone.methods import Method, check_space, finished_trial, new_study, suggest
from paragone.ties import least_loss
from paragone.validation import FloatArray

SCORINGS: tuple[TrialScoring, ...] = ("auroc", "hard", "classes", "r2")


class TunedClassifier(ClassifierMixin, BaseEstimator):
    """A classifier tuned by Optuna's TPE on folds of its training data, then refitted on all of it.

    Parameters
    ----------
    classifier : estimator, str or mapping
        What is tuned, with the parameters that stay.
    space : mapping, optional
        The search space; without one nothing is tuned.
    trials : int, default=200
        Number of trials.
    first : sequence of mappings
        Configurations that the first trials try, as they stand: what they leave out keeps the
        classifier's own value. Without a space they are all that is tried.
    folds : int, default=10
        Stratified folds, shuffled by the seed.
    scored_folds : int, optional
        Score a trial on the first of the folds only; on all where it is not given.
    tolerance : float, optional
        Stop a trial that falls further than this behind the best one, and estimate its score: see
        `pruned_mean`.
    scoring : {"auroc", "hard", "classes", "r2"}, default="auroc"
        ``"hard"`` scores hard labels, as the published search did: that is balanced accuracy,
        whatever it is called. ``"classes"`` is the mean AUROC of each of several classes against
        the rest, ``"r2"`` that of numbers.
    seed : int, default=0
        Of the folds, the sampler and the classifier.
    fresh_seeds : bool, default=False
        Whether seeds that were set in the classifier, however deep, give way to ones drawn from
        ``seed``: what holds for one seed only is then not taken for a property of the method.

    Attributes
    ----------
    best_params_ : dict
        The parameters chosen.
    best_score_ : float
        Their mean score over the folds; NaN where nothing was tuned.
    n_bounded_ : int
        Fits of the search that hit a bound on iterations.
    warned_ : tuple of str
        The first warning of each fit of the search that warned.

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
        classifier: Any,
        space: Mapping[str, Mapping[str, Any]] | None = None,
        trials: int = 200,
        first: Sequence[Mapping[str, Any]] = (),
        folds: int = 10,
        scored_folds: int | None = None,
        tolerance: float | None = None,
        scoring: TrialScoring = "auroc",
        seed: int = 0,
        fresh_seeds: bool = False,
    ) -> None:
        self.classifier = classifier
        self.space = space
        self.trials = trials
        self.first = first
        self.folds = folds
        self.scored_folds = scored_folds
        self.tolerance = tolerance
        self.scoring = scoring
        self.seed = seed
        self.fresh_seeds = fresh_seeds

    def fit(self, X: Any, y: Any) -> Self:
        """Choose the parameters on folds of ``X, y`` and fit on all of them."""
        if self.scoring not in SCORINGS:
            raise unknown_name("scoring", str(self.scoring), SCORINGS)
        features, labels = np.asarray(X, dtype=np.float64), np.asarray(y)
        check_space(self.space or {}, "the space")
        method = Method.declare(self.classifier, kind="classifier")
        search = FoldScore(
            method, features, labels, self.folds, self.scoring, self.seed, self.fresh_seeds
        )
        is_search = bool(self.space) or len(self.first) > 1
        only = dict(self.first[0]) if self.first else {}
        self.best_params_, self.best_score_ = (
            self._searched(search) if is_search else (only, float("nan"))
        )
        self.n_bounded_ = search.n_bounded
        self.warned_ = tuple(search.warned)
        self.classifier_ = search.built(self.best_params_).fit(features, labels)
        self.classes_ = getattr(self.classifier_, "classes_", np.unique(labels))
        return self

    def _searched(self, search: FoldScore) -> tuple[dict[str, Any], float]:
        study = new_study(self.seed)
        space = self.space or {}
        best: tuple[float, ...] = ()
        last = self.trials if space else min(self.trials, len(self.first))
        for number in range(last):
            # A configuration that is asked for is tried as it stands, and the sampler learns of
            # what the space knows.
            asked = dict(self.first[number]) if number < len(self.first) else None
            trial = study.ask() if asked is None else None
            params = suggest(trial, space) if asked is None else asked
            value, seen = pruned_mean(search.each(params, self.scored_folds), best, self.tolerance)
            # Only a trial that was scored on all folds can be what later ones are stopped by.
            if not best or (len(seen) == len(best) and value > float(np.mean(best))):
                best = seen
            if trial is None:
                study.add_trial(finished_trial(params, space, value))
            else:
                trial.set_user_attr("params", params)
                study.tell(trial, value)
        # Not Optuna's best trial: ties go to the earliest by the package's rule of ties.
        done = [trial for trial in study.trials if trial.value is not None]
        chosen = done[least_loss([-trial.value for trial in done], size=1.0)]
        return dict(chosen.user_attrs["params"]), float(chosen.value)

    @property
    def score_source(self) -> str:
        """What the classifier is scored by; ``predict`` means hard labels."""
        return source_of(self.classifier_)

    def decision_function(self, X: Any) -> FloatArray:
        """Return the classifier's values for class 1: probabilities, decision values or hard labels."""
        return confidence(
            self.classifier_, np.asarray(X, dtype=np.float64), self.classes_[-1]
        ).values

    def predict(self, X: Any) -> NDArray[Any]:
        """Return hard labels."""
        return np.asarray(self.classifier_.predict(X))

    def __getattr__(self, name: str) -> Any:
        # Only a classifier with probabilities has them here too.
        if name == "predict_proba" and "classifier_" in self.__dict__:
            return getattr(self.__dict__["classifier_"], name)
        raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")


class FoldScore:
    """The scores of a configuration on fixed stratified folds."""

    def __init__(
        self,
        method: Method,
        X: FloatArray,
        y: NDArray[Any],
        folds: int,
        scoring: TrialScoring,
        seed: int,
        fresh_seeds: bool = False,
    ) -> None:
        self._method, self._scoring, self._seed, self._fresh_seeds = (
            method,
            scoring,
            seed,
            fresh_seeds,
        )
        self._X, self._y, self._classes = X, y, np.unique(y)
        kind = KFold if scoring == "r2" else StratifiedKFold
        splitter = kind(folds, shuffle=True, random_state=seed)
        self._splits = list(splitter.split(X, y))
        self.n_bounded = 0
        self.warned: list[str] = []

    def built(self, params: Mapping[str, Any]) -> Any:
        """Return the classifier with parameters, not fitted."""
        classifier = configured(self._method, params).build(self._seed)
        return reseeded(classifier, self._seed) if self._fresh_seeds else classifier

    def each(self, params: Mapping[str, Any], n_folds: int | None = None) -> Iterator[float]:
        """Go through the scores of the first folds, or of all; a fold is fitted when its score is asked for."""
        return (self._on(params, train, test) for train, test in self._splits[:n_folds])

    def _on(self, params: Mapping[str, Any], train: NDArray[Any], test: NDArray[Any]) -> float:
        # A search fits hundreds of times: what a fit warns of is kept and counted, not printed each
        # time.
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            classifier = self.built(params).fit(self._X[train], self._y[train])
        self.warned += [str(caught[0].message)] if caught else []
        self.n_bounded += bool(getattr(classifier, "hit_bound_", False))
        return score_on(classifier, self._X[test], self._y[test], self._scoring, self._classes)


def pruned_mean(
    scores: Iterable[float], best: Sequence[float], tolerance: float | None
) -> tuple[float, tuple[float, ...]]:
    """Return the mean over folds, stopped early where it falls behind the best, and the scores that were looked at.

    After k >= 2 folds with ``mean_k * (1 + tolerance) < best mean_k`` the rest is estimated from
    the best's: ``mean_k / best_k * best_all``. Without a best or a tolerance nothing is stopped.

    Examples
    --------
    >>> pruned_mean([0.5, 0.5, 0.9, 0.9], [0.8, 0.8, 0.8, 0.8], 0.1)
    (0.5, (0.5, 0.5))
    >>> len(pruned_mean([0.8, 0.8, 0.7, 0.9], [0.8, 0.8, 0.8, 0.8], 0.1)[1])
    4
    """
    seen: list[float] = []
    for score in scores:
        seen.append(score)
        k = len(seen)
        if tolerance is not None and 2 <= k < len(best):
            mine, theirs = float(np.mean(seen)), float(np.mean(best[:k]))
            if mine * (1 + tolerance) < theirs:
                return mine / theirs * float(np.mean(best)), tuple(seen)
    return float(np.mean(seen)), tuple(seen)
