"""The grids a ranking is measured on: numbers of features (k) and shares of features (p)."""

from __future__ import annotations

import io
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from annotated_types import MinLen
from typing_extensions import override

from paragone.cores import cpu_clock
from paragone.data import Dataset, SplitPlan
from paragone.errors import InputError, argument
from paragone.hashing import digest
from paragone.lab.cells import CellScores, Fitted, Score, SplitData
from paragone.lab.protocol import Arrangement, Facts, Protocol, RowAnswers, protocols, sections_of
from paragone.methods.method import Method
from paragone.methods.mlknn import MLkNN, check_neighbors
from paragone.metrics import Metric, described_functions, find_metrics, metric_values
from paragone.metrics.multilabel import ZeroDivision
from paragone.page import Cover, Section
from paragone.protocols.curve.evaluate import CurvePredictions, predict_along
from paragone.validation import IntArray, LabelArray, check_features, check_indicator, check_ranking

if TYPE_CHECKING:
    import pandas as pd

CLEAN_DECIMALS = 10


@dataclass(frozen=True)
class GridPoints:
    """The points of a grid on a dataset: what is printed (``at``) and how many features that is (``k``)."""

    at: tuple[float, ...]
    k: tuple[int, ...]
    note: str = ""


@dataclass(frozen=True)
class KGrid:
    """Numbers of features ``min, min + step, ...`` up to ``max``, clipped to the features there are.

    Attributes
    ----------
    min, max : int
        The least and the greatest number of features.
    step : int
        From one number to the next.

    Examples
    --------
    >>> KGrid(10, 50, 10).points(34)
    GridPoints(at=(10, 20, 30), k=(10, 20, 30), note='k-grid 10..50 clipped to 30: there are 34
    features')
    >>> KGrid(10, 50, 10).points(7).k
    (7,)
    """

    min: int = 10
    max: int = 300
    step: int = 10

    def __post_init__(self) -> None:
        if self.min < 1 or self.step < 1 or self.max < self.min:
            raise InputError(
                f"k-grid: needs 1 <= min <= max and step >= 1, got {self.min}, {self.max},"
                f" {self.step}"
            )

    def points(self, n_features: int) -> GridPoints:
        """Return the points on a dataset of ``n_features``; a single one at all features below ``min``."""
        if n_features < self.min:
            note = (
                f"k-grid starts at {self.min} but there are {n_features} features: measured at all"
                " of them"
            )
            return GridPoints((n_features,), (n_features,), note)
        ks = tuple(range(self.min, min(self.max, n_features) + 1, self.step))
        declared = range(self.min, self.max + 1, self.step)[-1]
        clipped = ks[-1] < declared
        note = f"k-grid {self.min}..{declared} clipped to {ks[-1]}: there are {n_features} features"
        return GridPoints(ks, ks, note if clipped else "")


@dataclass(frozen=True)
class PGrid:
    """Shares of the features ``min, min + step, ...`` up to ``max``; tables show the ``target``.

    ``k(p) = min(d, max(1, round(p d)))`` on the floats of ``np.arange`` with halves to even, so
    that files made by others are matched. The share that is stored is the clean one (0.15, not
    0.15000000000000002).

    Attributes
    ----------
    min, max : float
        The least and the greatest share of the features.
    step : float
        From one share to the next.
    target : float
        The share that tables show.

    Examples
    --------
    >>> PGrid(0.05, 0.20, 0.05).points(72)
    GridPoints(at=(0.05, 0.1, 0.15, 0.2), k=(4, 7, 11, 14), note='')
    >>> PGrid(0.25, 0.25, 0.05, target=0.25).points(1186).k  # MATLAB's round gives 297
    (296,)
    """

    min: float = 0.05
    max: float = 0.50
    step: float = 0.05
    target: float = 0.20

    def __post_init__(self) -> None:
        if not (0 < self.min <= self.max <= 1 and self.step > 0):
            raise InputError(
                f"p-grid: needs 0 < min <= max <= 1 and step > 0, got {self.min}, {self.max},"
                f" {self.step}"
            )
        if not any(abs(at - self.target) < 1e-9 for at in self._shares()):
            raise InputError(
                f"p-grid: the target {self.target} is not one of its points {list(self._shares())}"
            )

    def _raw(self) -> tuple[float, ...]:
        return tuple(float(p) for p in np.arange(self.min, self.max + 1e-12, self.step))

    def _shares(self) -> tuple[float, ...]:
        return tuple(round(p, CLEAN_DECIMALS) for p in self._raw())

    def points(self, n_features: int) -> GridPoints:
        """Return the points on a dataset of ``n_features``; several shares may fall on the same k."""
        ks = tuple(min(n_features, max(1, int(np.round(p * n_features)))) for p in self._raw())
        return GridPoints(self._shares(), ks)


DEFAULT_METRICS = ("micro_f1", "macro_f1", "hamming_loss")


@protocols.add
@dataclass(frozen=True)
class Curve(Protocol):
    """Score a ranker by the predictions from its first k features, over a k-grid, a p-grid or both.

    Parameters
    ----------
    k, p : KGrid, PGrid, optional
        The grids; a k-grid of 10, 20, ..., 300 where neither is given.
    evaluator : Method
        The multi-label classifier that predicts; ML-kNN by default.
    metrics : tuple of str, callable or Metric
        Names of multi-label metrics, functions ``f(Y, labels) -> float``, scikit-learn's scorers or
        their names, or where functions are: ``"module:function"``.
    zero_division : {0, 1, "skip"}
        What macro F1 counts for a label neither present nor predicted.
    keep_predictions : bool
        Whether every prediction is stored beside the scores.

    Examples
    --------
    >>> Curve(k=KGrid(5, 20, 5)).points(18)
    {'k': GridPoints(at=(5, 10, 15), k=(5, 10, 15), note='k-grid 5..20 clipped to 15: there are 18
    features')}
    """

    kind: ClassVar[str] = "curve"
    facts: ClassVar[Facts] = Facts(
        array_task="multilabel",
        warm_ups=("paragone.protocols.curve.protocol:load_curve_kernels",),
        file_options={"metrics": Annotated[tuple[str, ...], MinLen(1)]},
    )
    reader: ClassVar[str] = "paragone.protocols.curve.reader:CurveReader"
    exports: ClassVar[str] = "paragone.protocols.curve.files:export_protocol_files"
    imports: ClassVar[str] = "paragone.protocols.curve.files:import_files"

    k: KGrid | None = None
    p: PGrid | None = None
    evaluator: Method = field(default_factory=lambda: Method(MLkNN))
    metrics: tuple[Any, ...] = DEFAULT_METRICS
    zero_division: ZeroDivision = 0
    keep_predictions: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.metrics, (str, Sequence)) and not callable(self.metrics):
            raise InputError(
                "metrics: expected names of multi-label metrics, such as ('micro_f1',"
                " 'hamming_loss')"
            )
        found = find_metrics(self.metrics, "multilabel")
        # Ours go by name; another travels to the workers with its function.
        object.__setattr__(
            self, "metrics", tuple(one.name if one.is_ours else one for one in found)
        )
        for name, grid, wanted in (("k", self.k, KGrid), ("p", self.p, PGrid)):
            if grid is not None and not isinstance(grid, wanted):
                raise InputError(
                    f"{name}: expected a {wanted.__name__} such as {wanted()!r}, got {grid!r}"
                )
        if self.zero_division not in (0, 1, "skip"):
            raise InputError(f"zero_division: expected 0, 1 or 'skip', got {self.zero_division!r}")
        object.__setattr__(self, "evaluator", Method.declare(self.evaluator, kind="evaluator"))
        if self.k is None and self.p is None:
            object.__setattr__(self, "k", KGrid())

    @cached_property
    def _metrics(self) -> tuple[Metric, ...]:
        return find_metrics(self.metrics, "multilabel")

    def points(self, n_features: int) -> dict[str, GridPoints]:
        """Return the points of every grid on a dataset of ``n_features``."""
        grids = {"k": self.k, "p": self.p}
        return {name: grid.points(n_features) for name, grid in grids.items() if grid is not None}

    @override
    def sections(self, view: Any) -> Iterable[Section | Cover]:
        return sections_of("paragone.protocols.curve.page:sections", view)

    @override
    def identity(self) -> str:
        grids = [None if g is None else vars(g) for g in (self.k, self.p)]
        rules = [
            [one.identity() for one in self._metrics],
            self.zero_division,
            self.keep_predictions,
        ]
        return digest([self.kind, grids, self.evaluator.identity(), rules])

    @override
    def described(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "k": None if self.k is None else vars(self.k),
            "p": None if self.p is None else vars(self.p),
            "evaluator": self.evaluator.described(),
            "metrics": [one.name for one in self._metrics],
            "zero_division": self.zero_division,
            **described_functions(self._metrics),
        }

    @override
    def tasks(self, dataset: Dataset, plan: SplitPlan, seed: int) -> tuple[Arrangement, ...]:
        if dataset.task != "multilabel":
            raise InputError(
                f"dataset {dataset.name!r} is for {dataset.task}; the curve protocol needs"
                f" multi-label data: {argument('task', 'multilabel')} makes a label of every class"
                " of a table, and `paragone data list` names bundled sets with labels"
            )
        check_features(dataset.X, name=f"dataset {dataset.name!r}: X")
        (arrangement,) = super().tasks(dataset, plan, seed)
        self._check_neighbors(arrangement)
        notes = (points.note for points in self.points(dataset.n_features).values())
        return (
            replace(arrangement, notes=tuple(f"{dataset.name}: {note}" for note in notes if note)),
        )

    def _check_neighbors(self, arrangement: Arrangement) -> None:
        """Refuse a split with fewer train rows than the evaluator asks for neighbours."""
        evaluator = self.evaluator.build()
        if isinstance(evaluator, MLkNN):
            for split in arrangement.splits:
                try:
                    check_neighbors(evaluator.n_neighbors, len(split.train))
                except InputError as error:
                    raise InputError(f"dataset {arrangement.dataset.name!r}: {error}") from error

    @override
    def fit(self, estimator: Any, data: SplitData) -> Fitted:
        begun, cpu_begun = time.perf_counter(), cpu_clock()
        estimator.fit(data.X_train, data.y_train)
        seconds, cpu_seconds = time.perf_counter() - begun, cpu_clock() - cpu_begun
        if not hasattr(estimator, "ranking_"):
            raise InputError(
                f"{type(estimator).__name__} has no ranking_ after fit: it is not a ranker"
            )
        scores = np.asarray(getattr(estimator, "scores_", ()), dtype=np.float64)
        if not np.isfinite(scores).all():
            count = int((~np.isfinite(scores)).sum())
            raise InputError(
                f"{type(estimator).__name__} gave {count} NaN or infinite feature scores"
            )
        ranking = check_ranking(estimator.ranking_, data.X_train.shape[1])
        told = dict(getattr(estimator, "diagnostics_", {}))
        return Fitted({"ranking": ranking, "scores": scores}, told, seconds, cpu_seconds)

    @override
    def scores(self, fitted: Fitted, data: SplitData) -> CellScores:
        seed = 0 if data.context is None else data.context.split_seed
        ranking = np.asarray(fitted.arrays["ranking"], dtype=np.int64)
        grids = self.points(len(ranking))
        predictions = self._predict(
            ranking, [k for points in grids.values() for k in points.k], data, seed
        )
        scores = self.scores_of(predictions, data.y_test, len(ranking))
        return CellScores(
            scores,
            predictions.to_bytes() if self.keep_predictions else None,
            self._notes(data.y_test),
        )

    @override
    def row_answers(
        self, fitted: Fitted, predictions: bytes | None, n_test: int
    ) -> RowAnswers | None:
        learnt = {name: fitted.arrays[name] for name in ("ranking", "scores")}
        if predictions is None:
            return RowAnswers(learnt=learnt)
        with np.load(io.BytesIO(predictions), allow_pickle=False) as arrays:
            along = CurvePredictions.of_arrays(dict(arrays))
        points = range(len(along.ks))
        scores = [one for one in map(along.scores, points) if one is not None]
        labels = np.mean([along.labels(point) for point in points], axis=0)
        return RowAnswers(labels, np.mean(scores, axis=0) if scores else None, learnt=learnt)

    def scores_of(
        self, predictions: CurvePredictions, y_test: LabelArray, n_features: int
    ) -> tuple[Score, ...]:
        """Score predictions at every point of the grids on a dataset of ``n_features``: nothing else decides them."""
        values = curve_values(predictions, y_test, self._metrics, self.zero_division)
        return tuple(
            Score(metric.name, values[k][metric.name], grid, at)
            for grid, points in self.points(n_features).items()
            for metric in self._metrics
            for at, k in zip(points.at, points.k, strict=True)
            if k in values
        )

    def _predict(
        self, ranking: IntArray, ks: Sequence[int], data: SplitData, seed: int
    ) -> CurvePredictions:
        evaluator = self.evaluator.build(seed)
        return predict_along(evaluator, ranking, ks, data.X_train, data.y_train, data.X_test)

    def _notes(self, y_test: LabelArray) -> tuple[str, ...]:
        notes = (one.note(y_test) for one in self._metrics if one.note is not None)
        return tuple(note for note in notes if note)


def curve_values(
    predictions: CurvePredictions,
    Y_test: LabelArray,
    metrics: Sequence[Any],
    zero_division: ZeroDivision = 0,
) -> dict[int, dict[str, float]]:
    """Compute every metric at every point of the predictions: k -> metric -> value."""
    found = find_metrics(metrics, "multilabel")
    needs_scores = any(one.needs in ("scores", "probabilities") for one in found)
    values = {}
    for point, k in enumerate(predictions.ks):
        ordering = predictions.ordering(point) if needs_scores else None
        labels = predictions.labels(point)
        values[int(k)] = metric_values(
            found, "multilabel", Y_test, labels, scores=ordering, zero_division=zero_division
        )
    return values


def ranking_curve(
    ranking: Any,
    X_train: Any,
    Y_train: Any,
    X_test: Any,
    Y_test: Any,
    k: Sequence[int],
    evaluator: Any = "mlknn",
    metrics: Sequence[Any] = DEFAULT_METRICS,
    zero_division: ZeroDivision = 0,
) -> pd.DataFrame:
    """Score a feature ranking on arrays: predict the test rows from the first k features, for every k.

    Parameters
    ----------
    ranking : array-like of int
        A permutation of the features, 0-based, best first.
    X_train, Y_train, X_test, Y_test : array-like
        Features, and labels coded 0/1 or -1/+1. Features are taken as they are: scale them on train
        first.
    k : sequence of int
        Numbers of features, each between 1 and the number there is.
    evaluator : str, mapping, class or estimator, default="mlknn"
        A multi-label classifier.
    metrics : sequence of str, callable or Metric
        As in `Curve`.
    zero_division : {0, 1, "skip"}, default=0
        What macro F1 counts for a label neither present nor predicted.

    Returns
    -------
    DataFrame
        Index ``k`` in the order given, one column a metric.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((80, 4))
    >>> Y = (X[:, :2] > 0.5).astype(int)
    >>> curve = ranking_curve([0, 1, 2, 3], X[:60], Y[:60], X[60:], Y[60:], k=[1, 2], metrics=["micro_f1"])
    >>> curve.index.name, list(curve.index), list(curve.columns)
    ('k', [1, 2], ['micro_f1'])
    >>> bool(curve.micro_f1[2] > curve.micro_f1[1])
    True
    """
    import pandas as pd

    train = check_features(X_train, name="X_train")
    test = check_features(X_test, name="X_test")
    if train.shape[1] != test.shape[1]:
        raise InputError(f"X_train has {train.shape[1]} features, X_test has {test.shape[1]}")
    Y_known = check_indicator(Y_train, n_samples=len(train), name="Y_train")
    Y_true = check_indicator(Y_test, n_samples=len(test), name="Y_test")
    if Y_known.shape[1] != Y_true.shape[1]:
        raise InputError(f"Y_train has {Y_known.shape[1]} labels, Y_test has {Y_true.shape[1]}")
    order = check_ranking(ranking, train.shape[1])
    ks = _check_ks(k, train.shape[1])
    found = find_metrics(metrics, "multilabel")
    model = Method.declare(evaluator, kind="evaluator").build(seed=0)
    predictions = predict_along(model, order, ks, train, Y_known, test)
    values = curve_values(predictions, Y_true, found, zero_division)
    names = [one.name for one in found]
    return pd.DataFrame([values[n] for n in ks], index=pd.Index(ks, name="k"), columns=names)


def _check_ks(ks: Sequence[int], n_features: int) -> list[int]:
    numbers = [int(k) for k in ks]
    if not numbers:
        raise InputError("k is empty: give at least one number of features")
    if any(number != k for number, k in zip(numbers, ks, strict=True)):
        raise InputError(f"k must hold whole numbers, got {list(ks)}")
    for number in numbers:
        if not 1 <= number <= n_features:
            raise InputError(f"k = {number} is outside 1..{n_features}, the number of features")
    return numbers


def load_curve_kernels() -> None:
    """Score a tiny curve with every metric: loading a kernel from Numba's cache takes longer than a small cell.

    Examples
    --------
    >>> load_curve_kernels()
    """
    X = np.arange(24.0).reshape(8, 3)
    Y = (np.arange(16).reshape(8, 2) % 3 == 0).astype(np.int8)
    data = SplitData(X, Y, X[:4], Y[:4], task="multilabel")
    curve = Curve(
        k=KGrid(1, 3, 1), evaluator=Method.declare({"use": "mlknn", "params": {"n_neighbors": 2}})
    )
    curve.scores(Fitted({"ranking": np.arange(3)}), data)
