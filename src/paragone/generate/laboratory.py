"""Laboratory: one store for the many small experiments of a search, and the protocol that they run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
import sklearn
from numpy.typing import NDArray
from typing_extensions import override

from paragone.data import Dataset, SplitPlan
from paragone.errors import InputError, unknown_name
from paragone.generate.classifiers import (
    NOT_A_NUMBER,
    class_values,
    confidence,
    positive_class,
    source_of,
)
from paragone.generate.methods import metric_of
from paragone.generate.sampling import TargetKind
from paragone.generate.tuned import TunedClassifier
from paragone.hashing import digest
from paragone.lab import CellScores, Experiment, Fitted, Score, SplitData, StoredCells
from paragone.metrics import find_metric
from paragone.protocols import Arrangement, Facts, Protocol
from paragone.sources import own_version
from paragone.validation import FloatArray


@dataclass(frozen=True, eq=False)
class CellResult:
    """What came of a cell: its scores by metric, and what its fit kept."""

    scores: Mapping[str, float]
    arrays: Mapping[str, NDArray[Any]]
    info: Mapping[str, Any]


class Laboratory:
    """Runs experiments one after another into a store.

    What the store has already is looked up and not run again: a search that is started again with
    the same seed goes the same way up to where it was stopped, and continues from there.

    Parameters
    ----------
    store : str or Path
        The SQLite file, made where it is missing.
    workers : int, default=0
        How many cells are worked on at a time; 0 is one.
    executor : concurrent.futures.Executor, optional
        Where to work instead, such as a Dask client's; ``workers`` is then how many cells it is
        given at a time.
    seconds_limit : float, optional
        A cell that takes longer counts as ``timeout``.
    retry_failed : bool, default=False
        Whether cells that failed before run again.

    Examples
    --------
    >>> import tempfile
    >>> from paragone.generate.laboratory import Holdout
    >>> from paragone.generate.sampling import GeneratorSpec
    >>> data = parted(GeneratorSpec("add(X0, X1)", n_features=3).sample(200, seed=1, name="sum"), range(100))
    >>> with tempfile.TemporaryDirectory() as folder, Laboratory(Path(folder) / "lab.sqlite") as laboratory:
    ...     found = laboratory.run("try", [data], {"NB": "sklearn.naive_bayes:GaussianNB"}, Holdout())
    >>> found["sum", "NB"].scores["auroc"] > 0.9
    True
    """

    def __init__(
        self,
        store: str | Path,
        workers: int = 0,
        *,
        executor: Executor | None = None,
        seconds_limit: float | None = None,
        retry_failed: bool = False,
    ) -> None:
        self.store = Path(store)
        self._workers = workers
        self._executor = executor
        self._seconds_limit = seconds_limit
        self._retry_failed = retry_failed
        self.n_failed = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: no file is open between two experiments."""

    def run(
        self,
        name: str,
        datasets: Sequence[Dataset],
        methods: Mapping[str, Any],
        protocol: Protocol,
        *,
        seed: int = 0,
        isolation: Literal["cell", "worker", "none"] = "cell",
    ) -> dict[tuple[str, str], CellResult]:
        """Run every method on every dataset, on its own train part, and return what they gave.

        Parameters
        ----------
        name : str
            What the store calls it.
        datasets : sequence of Dataset
            With a train part each.
        methods : mapping
            As an experiment declares them.
        protocol : Protocol
            How they are run and scored.
        seed : int, default=0
            Of the experiment.
        isolation : {"cell", "worker", "none"}, default="cell"
            How far cells are kept from each other. Screening, which runs millions of tiny cells and
            proves nothing, may use ``worker``.

        Returns
        -------
        dict
            What came of each (dataset, method) that ended well; the others are counted in
            ``n_failed``.
        """
        # Generated features are standard normal already, and the published sets are not scaled.
        plan = SplitPlan(kind="official", scale="none")
        limit = self._seconds_limit
        experiment = Experiment(
            datasets, methods, plan, protocol, name=name, seed=seed, seconds_limit=limit
        )
        results = experiment.run(
            self.store,
            self._workers,
            self._executor,
            retry_failed=self._retry_failed,
            isolation=isolation,
        )
        with results:
            stored, keys = (
                StoredCells(results.store, name),
                {cell.key for cell in experiment.cells()},
            )
            found: dict[tuple[str, str], CellResult] = {}
            for cell in stored.cells:
                if cell.key in keys:
                    # The store's own scores, so that what an earlier version kept of a fit does not
                    # matter.
                    scores = {
                        score.metric: score.value for score in stored.scores(cell) if not score.grid
                    }
                    found[cell.dataset, cell.method] = CellResult(
                        scores, stored.arrays(cell), stored.info(cell)
                    )
            self.n_failed += len(experiment.cells()) - len(found)
            return found


def parted(dataset: Dataset, train: Any) -> Dataset:
    """Return a dataset whose train part is given by row numbers or marks."""
    marks = np.zeros(dataset.n_samples, dtype=bool)
    marks[train] = True
    return replace(dataset, train_part=marks)


METRICS = ("auroc", "auprc", "f1")
VERSIONS = {"paragone": own_version(), "sklearn": str(sklearn.__version__)}


@dataclass(frozen=True, kw_only=True)
class Holdout(Protocol):
    """Fit on train, predict class 1 on test, score AUROC, AUPRC and F1; a tuned one also gives its score in tuning.

    Parameters
    ----------
    metrics : tuple of str, default=("auroc", "auprc", "f1")
        What is scored. AUROC alone spares the hard labels, which take many methods as long as the
        values do.
    keep_values : bool, default=True
        Whether the values for class 1 are kept as they are, for whoever wants more than scores.
        Without them their order is kept, which AUROC and AUPRC follow from to the last bit, in a
        quarter of the space.
    """

    kind: ClassVar[str] = "holdout"
    facts: ClassVar[Facts] = Facts(array_task="classification", versions=VERSIONS)

    metrics: tuple[str, ...] = METRICS
    keep_values: bool = True

    def __post_init__(self) -> None:
        for name in self.metrics:
            if name not in METRICS:
                raise unknown_name("metric", name, METRICS)

    @override
    def identity(self) -> str:
        # As it was first written: another text would make every stored cell stale.
        return digest({"kind": self.kind, "metrics": self.metrics, "keep_values": self.keep_values})

    @override
    def tasks(self, dataset: Dataset, plan: SplitPlan, seed: int) -> tuple[Arrangement, ...]:
        if dataset.task != "classification" or len(np.unique(dataset.y)) != 2:
            raise InputError(f"dataset {dataset.name!r}: the holdout protocol scores two classes")
        return super().tasks(dataset, plan, seed)

    @override
    def fit(self, estimator: Any, data: SplitData) -> Fitted:
        model = estimator.fit(data.X_train, data.y_train)
        found = confidence(model, data.X_test, positive_class(data.y_train))
        if np.isnan(found.values).any():
            raise InputError(NOT_A_NUMBER)
        arrays = (
            {"values": found.values} if self.keep_values else {"order": dense_ranks(found.values)}
        )
        if "f1" in self.metrics:
            # By way of a list: text becomes text, which a store can keep, where a classifier gives
            # objects.
            arrays["predicted"] = np.asarray(np.asarray(model.predict(data.X_test)).tolist())
        return _told(model, arrays, found.source)

    @override
    def scores(self, fitted: Fitted, data: SplitData) -> CellScores:
        arrays, info, notes = fitted.arrays, fitted.info, []
        if "scores" in arrays:
            # Fits of Paragone 0.1 hold scores where predictions are now.
            known = dict(zip(METRICS, map(float, arrays["scores"]), strict=False))
        else:
            known = self._scored(arrays, data)
        found = [Score(name, known[name]) for name in self.metrics]
        if "cv" in arrays and not np.isnan(arrays["cv"]):
            found.append(Score("cv", float(arrays["cv"])))
        if info["source"] == "predict":
            notes.append(
                "scored by hard labels: it has neither predict_proba nor decision_function"
            )
        if info.get("warned"):
            warned = info["warned"]
            notes.append(
                f"{len(warned)} fits in tuning warned, the first: {warned[0].splitlines()[0]}"
            )
        if info["bounded"]:
            notes.append(f"{info['bounded']} fits hit the bound on iterations")
        return CellScores(tuple(found), notes=tuple(notes))

    def _scored(self, arrays: Mapping[str, NDArray[Any]], data: SplitData) -> dict[str, float]:
        positive = positive_class(data.y_train, data.y_test)
        truth = np.asarray(data.y_test) == positive
        values = np.asarray(arrays["values" if "values" in arrays else "order"], dtype=np.float64)
        both = np.column_stack([-values, values])
        wanted = [name for name in self.metrics if name != "f1"]
        found = {name: find_metric(name)(truth, both, classes=(False, True)) for name in wanted}
        if "f1" in self.metrics:
            # F1 is that of class 1, as published: with class 1 as the only label, micro-F1 is its
            # F1.
            found["f1"] = find_metric("micro_f1")(
                truth[:, None], (arrays["predicted"] == positive)[:, None]
            )
        return found


def _told(model: Any, arrays: Mapping[str, NDArray[Any]], source: str) -> Fitted:
    """Return what a fit gave with what the model tells of it."""
    # Only our own tuner is asked for its search: libraries have attributes of the same names and
    # other meanings.
    if not isinstance(model, TunedClassifier):
        bounded = int(getattr(model, "hit_bound_", False))
        return Fitted(arrays, {"source": source, "params": {}, "bounded": bounded, "warned": []})
    info = {
        "source": model.score_source,
        "params": model.best_params_,
        "bounded": model.n_bounded_,
        "warned": list(model.warned_),
    }
    return Fitted({**arrays, "cv": np.array(model.best_score_)}, info)


@dataclass(frozen=True, kw_only=True)
class FreshRows(Protocol):
    """Fit on train, predict test, score several classes by AUROC (each against the rest) and numbers by R2.

    `Holdout` is for two classes, of which it keeps the order of values alone.

    Parameters
    ----------
    metric : {"auroc", "r2"}, default="auroc"
        What is scored.
    """

    kind: ClassVar[str] = "fresh rows"
    facts: ClassVar[Facts] = Facts(versions=VERSIONS)

    metric: Literal["auroc", "r2"] = "auroc"

    def __post_init__(self) -> None:
        if self.metric not in ("auroc", "r2"):
            raise unknown_name("metric", self.metric, ("auroc", "r2"))

    @override
    def identity(self) -> str:
        return digest({"kind": self.kind, "metric": self.metric})

    @override
    def fit(self, estimator: Any, data: SplitData) -> Fitted:
        model = estimator.fit(data.X_train, data.y_train)
        held = model.classifier_ if isinstance(model, TunedClassifier) else model
        if self.metric == "r2":
            values, source = np.asarray(held.predict(data.X_test), dtype=np.float64), "predict"
        else:
            values, source = (
                class_values(held, data.X_test, np.unique(data.y_train)),
                source_of(held),
            )
        if np.isnan(values).any():
            raise InputError(f"a method gave NaN for some row: {self.metric} is not defined")
        return _told(model, {"values": values}, source)

    @override
    def scores(self, fitted: Fitted, data: SplitData) -> CellScores:
        values = np.asarray(fitted.arrays["values"])
        classes = {} if self.metric == "r2" else {"classes": np.unique(data.y_train)}
        found = [Score(self.metric, find_metric(self.metric)(data.y_test, values, **classes))]
        if "cv" in fitted.arrays and not np.isnan(fitted.arrays["cv"]):
            found.append(Score("cv", float(fitted.arrays["cv"])))
        return CellScores(tuple(found))


def fresh_protocol(target: TargetKind) -> tuple[Holdout | FreshRows, str]:
    """Return how methods are measured on fresh rows of a target, and the metric that counts.

    Examples
    --------
    >>> fresh_protocol("regression")[1], fresh_protocol("binary")[0].kind
    ('r2', 'holdout')
    """
    if target == "binary":
        return Holdout(keep_values=False, metrics=("auroc",)), "auroc"
    metric = metric_of(target)
    return FreshRows(metric=metric), metric


def dense_ranks(values: FloatArray) -> NDArray[np.unsignedinteger]:
    """Number the distinct values from the smallest, in the smallest type that holds them all.

    Examples
    --------
    >>> dense_ranks(np.array([0.3, -1.0, 0.3, 7.5]))
    array([1, 0, 1, 2], dtype=uint8)
    """
    distinct, ranks = np.unique(values, return_inverse=True)
    return ranks.astype(np.min_scalar_type(len(distinct)))
