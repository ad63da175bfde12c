"""Scorers of scikit-learn as metrics, and what a model answered in the place of the model, for them to ask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from paragone.errors import InputError
from paragone.metrics.finding import find_metrics, named_scorer, split_names, usual_name
from paragone.metrics.metric import Metric, metrics
from paragone.metrics.names import named_metric


def find_scorers(uses: Any, task: str | None) -> tuple[Metric, ...]:
    """Return the metrics of a list as scikit-learn's users mean them: a scorer's name is that scorer.

    Examples
    --------
    >>> [metric.scorer is not None for metric in find_scorers(["f1_macro", "cohen_kappa"], "classification")]
    [True, False]
    """
    from sklearn.metrics import get_scorer_names

    given = split_names(uses)
    if not all(isinstance(use, str) or callable(use) for use in given):
        raise InputError(f"metrics are names or functions, {given!r} has something else")
    scorers = get_scorer_names()
    ours = [one.name for one in metrics]
    given = [
        usual_name(use, (*scorers, *ours)) or use if isinstance(use, str) else use for use in given
    ]
    # A scorer is not taken up under its name: another metric of ours may have it.
    named = {use: named_scorer(use) for use in given if isinstance(use, str) and use in scorers}
    others = [use for use in given if use not in named]
    own = iter(find_metrics(others, task) if others or not given else ())
    found = tuple(named[use] if use in named else next(own) for use in given)
    names = [one.name for one in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"metric {twice!r} is named twice")
    return found


def is_at_hand(name: str) -> bool:
    """Whether a name alone says how to compute a metric: ours, or a scorer of scikit-learn, and no code of a user.

    Examples
    --------
    >>> is_at_hand("accuracy"), is_at_hand("neg_log_loss"), is_at_hand("my_metric")
    (True, True, False)
    """
    from sklearn.metrics import get_scorer_names

    return named_metric(name).is_computable or name in get_scorer_names()


@dataclass(frozen=True, eq=False)
class Responses:
    """What a fitted model answered for some rows, in the place of the model: scorers of scikit-learn may ask it.

    Parameters
    ----------
    predicted : ndarray
        Labels or values.
    probabilities, decisions : ndarray, optional
        Of ``predict_proba`` and ``decision_function``, as they were.
    classes : ndarray, optional
        The classes in the order of the columns; None for a regression.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.metrics import get_scorer
    >>> get_scorer("accuracy")(Responses(np.array([1, 0]), classes=np.array([0, 1])), None, [1, 1])
    0.5
    """

    predicted: Any
    probabilities: Any = None
    decisions: Any = None
    classes: Any = None

    # A method that the model did not have must not be there, since scorers look for it; and they
    # ask for its name.

    @property
    def predict_proba(self) -> Any:
        """The method of that name, where the model had it."""

        def predict_proba(X: Any) -> Any:
            return self.probabilities

        return _there(self.probabilities, predict_proba)

    @property
    def decision_function(self) -> Any:
        """The method of that name, where the model had it."""

        def decision_function(X: Any) -> Any:
            return self.decisions

        return _there(self.decisions, decision_function)

    @property
    def classes_(self) -> Any:
        """The classes, where it was a classifier."""
        return _there(self.classes, self.classes)

    def predict(self, X: Any) -> Any:
        """Return the labels or values."""
        return self.predicted

    def fit(self, X: Any, y: Any = None) -> Any:
        """Refuse: a model that has answered is not fitted again."""
        raise NotImplementedError("answers that were kept are not fitted again")

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, RegressorTags, Tags, TargetTags

        if self.classes is None:
            return Tags("regressor", TargetTags(required=True), regressor_tags=RegressorTags())
        tags = ClassifierTags(multi_class=True)
        return Tags("classifier", TargetTags(required=True), classifier_tags=tags)


def _there(answer: Any, thing: Any) -> Any:
    if answer is None:
        raise AttributeError("the model did not have it")
    return thing
