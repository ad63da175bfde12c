"""TunedEstimator: any estimator with parameters chosen on inner splits of its training rows, then refitted on all."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.utils.metaestimators import available_if

from paragone.errors import InputError
from paragone.methods.spaces import check_space, known_space, new_study, suggest
from paragone.metrics import named_metric
from paragone.ties import least_loss


def _has(name: str) -> Any:
    def has(self: TunedEstimator) -> bool:
        getattr(getattr(self, "estimator_", self.estimator), name)
        return True

    return has


class TunedEstimator(MetaEstimatorMixin, BaseEstimator):
    """An estimator tuned by Optuna's TPE on folds of its training rows.

    Parameters
    ----------
    estimator : estimator
        What is tuned.
    space : mapping, optional
        Parameter to ``{"low": ..., "high": ..., "log": True}`` or ``{"choices": [...]}``; the usual
        one of the class where it is not given.
    trials : int, default=20
        How many configurations are tried; the first is the estimator as it stands.
    folds : int, default=4
        Inner folds, stratified by class and shuffled by the seed; whole groups where they are
        given.
    scoring : str, optional
        A scorer of scikit-learn; balanced accuracy for classes and R2 for numbers where it is not
        given.
    random_state : int, optional
        Of the folds and the search.

    Attributes
    ----------
    estimator_ : estimator
        Fitted on all rows with the parameters chosen.
    best_params_ : dict
        The parameters; empty where the estimator as it stands was best.
    best_after_ : list of float
        The best score after each trial.
    n_failed_ : int
        Trials that could not be fitted or scored.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> X = np.linspace(0, 1, 80)[:, None]
    >>> tuned = TunedEstimator(DecisionTreeRegressor(), trials=3, random_state=0).fit(X, X[:, 0])
    >>> len(tuned.best_after_), tuned.predict(X).shape
    (3, (80,))
    """

    splits_by_groups = True

    def __init__(
        self,
        estimator: Any,
        space: Mapping[str, Mapping[str, Any]] | None = None,
        trials: int = 20,
        folds: int = 4,
        scoring: str | None = None,
        random_state: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.space = space
        self.trials = trials
        self.folds = folds
        self.scoring = scoring
        self.random_state = random_state

    def fit(self, X: Any, y: Any, groups: Any = None, **options: Any) -> Self:
        """Choose the parameters on folds of these rows alone, groups kept together, and fit on all of them."""
        space = known_space(self.estimator) if self.space is None else dict(self.space)
        if not space:
            raise InputError(
                f"{type(self.estimator).__name__}: no space is known for it: say it with space="
            )
        check_space(space, f"the space of {type(self.estimator).__name__}")
        seed = 0 if self.random_state is None else int(self.random_state)
        study = new_study(seed)
        splits = self._splits(y, groups, seed)
        found: list[tuple[dict[str, Any], float]] = []
        self.best_after_: list[float] = []
        self.n_failed_ = 0
        for number in range(self.trials):
            trial = None if number == 0 else study.ask()
            params = {} if trial is None else suggest(trial, space)
            value = self._score(params, X, y, splits, options)
            found.append((params, value))
            if trial is not None:
                study.tell(
                    trial, **({"values": value} if np.isfinite(value) else {"state": _failed()})
                )
            self.best_after_.append(max(score for _, score in found))
        scores = np.array([score for _, score in found])
        if not np.isfinite(scores).any():
            raise InputError(
                f"{type(self.estimator).__name__}: none of its {self.trials} trials could be fitted"
            )
        # Ties go to the earliest, by the package's rule of ties; errors in a unit have no size but
        # their own.
        size = named_metric(self.scoring).score_size if self.scoring else 1.0
        kept = np.flatnonzero(np.isfinite(scores))
        chosen = int(kept[least_loss(-scores[kept], size=size)])
        self.best_params_, self.best_score_ = found[chosen]
        self.estimator_ = clone(self.estimator).set_params(**self.best_params_).fit(X, y, **options)
        return self

    @property
    def tuning_(self) -> dict[str, Any]:
        """What the search came to, as plain values."""
        params = {name: _plain(value) for name, value in self.best_params_.items()}
        return {
            "trials": self.trials,
            "params": params,
            "best_after": self.best_after_,
            "failed": self.n_failed_,
        }

    def _splits(self, y: Any, groups: Any, seed: int) -> list[tuple[Any, Any]]:
        from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

        target = np.asarray(y)
        folds = self.folds
        kinds = (KFold, GroupKFold)
        if is_classifier(self.estimator):
            # A class that is rarer than there are folds is in some of them only.
            folds = max(2, min(folds, int(np.unique(target, return_counts=True)[1].min())))
            kinds = (StratifiedKFold, StratifiedGroupKFold)
        if groups is not None:
            n_groups = len(np.unique(groups))
            if n_groups < 2:
                raise InputError(
                    "tuning needs two groups at least among the training rows, there is one"
                )
            folds = min(folds, n_groups)
        splitter = kinds[groups is not None](folds, shuffle=True, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return list(splitter.split(np.zeros(len(target)), target, groups))

    def _score(
        self, params: dict[str, Any], X: Any, y: Any, splits: Any, options: Mapping[str, Any]
    ) -> float:
        from sklearn.metrics import get_scorer
        from sklearn.utils import _safe_indexing

        scorer = get_scorer(
            self.scoring or ("balanced_accuracy" if is_classifier(self.estimator) else "r2")
        )
        values = []
        for train, test in splits:
            part = {name: _safe_indexing(value, train) for name, value in options.items()}
            try:
                model = clone(self.estimator).set_params(**params)
                model.fit(_safe_indexing(X, train), _safe_indexing(y, train), **part)
                values.append(
                    float(scorer(model, _safe_indexing(X, test), _safe_indexing(y, test)))
                )
            except (ValueError, ArithmeticError, np.linalg.LinAlgError):
                # An impossible configuration is the worst of all, and the search goes on.
                self.n_failed_ += 1
                return -np.inf
        return float(np.mean(values))

    @property
    def classes_(self) -> Any:
        """The classes of a classifier."""
        return self.estimator_.classes_

    def predict(self, X: Any) -> Any:
        """Return what the chosen estimator predicts."""
        return self.estimator_.predict(X)

    @available_if(_has("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """Return the chosen classifier's probabilities."""
        return self.estimator_.predict_proba(X)

    @available_if(_has("decision_function"))
    def decision_function(self, X: Any) -> Any:
        """Return the chosen classifier's decision values."""
        return self.estimator_.decision_function(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = self.estimator.__sklearn_tags__()
        tags.estimator_type, tags.input_tags = inner.estimator_type, inner.input_tags
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        return tags


def _failed() -> Any:
    from optuna.trial import TrialState

    return TrialState.FAIL


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
