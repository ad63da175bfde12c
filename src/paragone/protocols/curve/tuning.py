"""TunedRanker: choose a ranker's parameters on inner splits of train, then rank on all of train."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator

from paragone.data import Dataset, Scale, Split, SplitPlan, make_splits, scale_split
from paragone.errors import InputError
from paragone.methods.method import Method, methods
from paragone.metrics import ranking_metric
from paragone.protocols.curve.evaluate import predict_along
from paragone.protocols.curve.protocol import curve_values
from paragone.ties import least_loss
from paragone.validation import FloatArray, IntArray, LabelArray, check_features, check_indicator

SPACE_KEYS = {"low", "high", "log", "step", "choices"}


class TunedRanker(BaseEstimator):
    """A ranker whose parameters are chosen on inner splits of the training data.

    Every candidate ranks the features of each inner train part and is scored on the inner
    validation part with a share ``p`` of them; the candidate with the best mean wins, ties to the
    one declared first. The winner then ranks on all of train. Nothing outside train is seen.

    Parameters
    ----------
    ranker : estimator, str or mapping
        What is tuned.
    grid : mapping of str to sequence, optional
        Values of each parameter; every combination is tried, in the order declared.
    space : mapping of str to mapping, optional
        Ranges for Optuna instead: ``{"low": 1e-3, "high": 10, "log": True}`` or ``{"choices":
        [...]}``.
    trials : int, default=20
        Number of trials with a space.
    folds : int, default=3
        Inner folds.
    metric : str, callable or Metric, default="micro_f1"
        What is optimised, in its own direction.
    p : float, default=0.2
        Share of the features at which it is measured.
    evaluator : estimator, str or mapping, default="mlknn"
        What predicts.
    scale : {"minmax", "zscore", "none"}, default="minmax"
        Scaling fitted on each inner train part.
    seed : int, default=0
        Seed of the inner splits, the search and the ranker.

    Attributes
    ----------
    best_params_ : dict
        The parameters chosen.
    candidates_ : list of dict
        Every candidate with its parameters and mean score.

    Examples
    --------
    >>> from paragone.data import load
    >>> dataset = load("wine-traits")
    >>> tuned = TunedRanker("dagfs", grid={"alpha": [0.1, 10.0]}, folds=2).fit(dataset.X, dataset.y)
    >>> sorted(tuned.best_params_), len(tuned.candidates_)
    (['alpha'], 2)
    """

    method_parameters = ("ranker", "evaluator")

    def __init__(
        self,
        ranker: Any,
        grid: Mapping[str, Sequence[Any]] | None = None,
        space: Mapping[str, Mapping[str, Any]] | None = None,
        trials: int = 20,
        folds: int = 3,
        metric: str = "micro_f1",
        p: float = 0.2,
        evaluator: Any = "mlknn",
        scale: Scale = "minmax",
        seed: int = 0,
    ) -> None:
        self.ranker = ranker
        self.grid = grid
        self.space = space
        self.trials = trials
        self.folds = folds
        self.metric = metric
        self.p = p
        self.evaluator = evaluator
        self.scale = scale
        self.seed = seed

    def fit(self, X: Any, Y: Any) -> Self:
        """Choose the parameters on inner splits of ``X, Y`` and rank on all of them."""
        if bool(self.grid) == bool(self.space):
            raise InputError("tune: give either a grid or a space")
        metric = ranking_metric(self.metric, "multilabel")
        features = check_features(X)
        labels = check_indicator(Y, n_samples=len(features))
        method = Method.declare(self.ranker, kind="ranker to tune")
        inner = _InnerScore(self, method, features, labels)
        self.candidates_ = list(self._by_grid(inner) if self.grid else self._by_space(inner))
        sign = -1.0 if metric.higher_is_better else 1.0
        losses = [sign * candidate["score"] for candidate in self.candidates_]
        best = self.candidates_[least_loss(losses, size=metric.score_size)]
        self.best_params_: dict[str, Any] = best["params"]
        self.ranker_ = with_params(method, self.best_params_).build(self.seed).fit(features, labels)
        self.ranking_: IntArray = self.ranker_.ranking_
        self.scores_: FloatArray = getattr(self.ranker_, "scores_", np.zeros(0))
        self.diagnostics_ = {
            **getattr(self.ranker_, "diagnostics_", {}),
            "tuned": self.best_params_,
            "candidates": self.candidates_,
        }
        return self

    def _by_grid(self, inner: _InnerScore) -> Iterator[dict[str, Any]]:
        grid = self.grid or {}
        for values in itertools.product(*grid.values()):
            params = dict(zip(grid, values, strict=True))
            yield {"params": params, "score": inner(params)}

    def _by_space(self, inner: _InnerScore) -> Iterator[dict[str, Any]]:
        try:
            import optuna
        except ImportError as error:
            raise InputError(
                "tune: a space needs Optuna: pip install 'paragone[boost]', or give a grid"
            ) from error
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        higher = ranking_metric(self.metric, "multilabel").higher_is_better
        direction: Literal["maximize", "minimize"] = "maximize" if higher else "minimize"
        study = optuna.create_study(
            direction=direction, sampler=optuna.samplers.TPESampler(seed=self.seed)
        )
        for _ in range(self.trials):
            trial = study.ask()
            params = {
                name: _suggest(trial, name, limits) for name, limits in (self.space or {}).items()
            }
            score = inner(params)
            study.tell(trial, score)
            yield {"params": params, "score": score}


class _InnerScore:
    """Scores a candidate: the mean over inner folds of the metric at a share of the features."""

    def __init__(self, tuner: TunedRanker, method: Method, X: FloatArray, Y: LabelArray) -> None:
        self._tuner = tuner
        self._method = method
        self._X, self._Y = X, Y
        plan = SplitPlan(kind="kfold", folds=tuner.folds)
        self._splits = make_splits(Dataset("train part", X, Y, "multilabel"), plan, tuner.seed)

    def __call__(self, params: dict[str, Any]) -> float:
        return float(np.mean([self._on_fold(params, split) for split in self._splits]))

    def _on_fold(self, params: dict[str, Any], split: Split) -> float:
        tuner = self._tuner
        X_train, X_validation = scale_split(self._X[split.train], self._X[split.test], tuner.scale)
        Y_train = self._Y[split.train]
        ranker = with_params(self._method, params).build(tuner.seed).fit(X_train, Y_train)
        n_features = X_train.shape[1]
        k = min(n_features, max(1, int(np.round(tuner.p * n_features))))
        evaluator = Method.declare(tuner.evaluator, kind="evaluator").build(tuner.seed)
        predictions = predict_along(evaluator, ranker.ranking_, [k], X_train, Y_train, X_validation)
        (value,) = curve_values(predictions, self._Y[split.test], [tuner.metric])[k].values()
        return value


def with_params(method: Method, params: Mapping[str, Any]) -> Method:
    """Return the method with some parameters set anew; an unknown one is refused."""
    changed = Method(method.factory, {**method.params, **params})
    changed.check_params("the ranker to tune")
    return changed


def _suggest(trial: Any, name: str, limits: Mapping[str, Any]) -> Any:
    unknown = set(limits) - SPACE_KEYS
    if unknown or not ({"low", "high"} <= set(limits) or "choices" in limits):
        raise InputError(f"tune: the space of {name!r} needs low and high (log, step), or choices")
    if "choices" in limits:
        return trial.suggest_categorical(name, list(limits["choices"]))
    whole = isinstance(limits["low"], int) and isinstance(limits["high"], int)
    suggest = trial.suggest_int if whole else trial.suggest_float
    options = {key: limits[key] for key in ("log", "step") if key in limits}
    return suggest(name, limits["low"], limits["high"], **options)


methods.add(TunedRanker, "tuned")
