"""Laboratory: one store for the many small experiments of a search, and the protocol that they run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import sklearn
from typing_extensions import override

from paragone.data import Dataset, SplitPlan
from paragone.errors import InputError, unknown_name
from paragone.generate.classifiers import auroc, confidence, positive_class
from paragone.generate.tuned import TunedClassifier
from paragone.hashing import digest
from paragone.lab.cells import CellScores, Fitted, Score, SplitData
from paragone.lab.experiment import Experiment
from paragone.lab.store import Store
from paragone.metrics import find_metric
from paragone.protocols import Arrangement, Protocol
from paragone.validation import FloatArray

if TYPE_CHECKING:
    from paragone.lab.engine import Observer


class Laboratory:
    """Runs experiments one after another into a store.

    What the store has already is looked up and not run again: a search that is started again with the same seed goes
    the same way up to where it was stopped, and continues from there.

    Parameters
    ----------
    store : str or Path
        The SQLite file, made where it is missing.
    workers : int, default=0
        How many cells are worked on at a time; 0 is one.
    executor : concurrent.futures.Executor, optional
        Where to work instead, such as a Dask client's; ``workers`` is then how many cells it is given at a time.
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
    >>> bool(found["sum", "NB"].arrays["scores"][0] > 0.9)
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
        observer: Observer | None = None,
        isolation: Literal["cell", "worker", "none"] = "cell",
    ) -> dict[tuple[str, str], Fitted]:
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
        observer : Observer, optional
            Called as cells begin and end.
        isolation : {"cell", "worker", "none"}, default="cell"
            How far cells are kept from each other. Screening, which runs millions of tiny cells and proves nothing,
            may use ``worker``.

        Returns
        -------
        dict
            What came of each (dataset, method) that ended well; the others are counted in ``n_failed``.
        """
        # Generated features are standard normal already, and the published sets are not scaled.
        plan = SplitPlan(kind="official", scale="none")
        limit = self._seconds_limit
        experiment = Experiment(datasets, methods, plan, protocol, name=name, seed=seed, seconds_limit=limit)
        experiment.run(
            self.store,
            self._workers,
            self._executor,
            retry_failed=self._retry_failed,
            observer=observer,
            isolation=isolation,
        ).close()
        with Store(self.store) as store:
            statuses = store.statuses(cell.key for cell in experiment.cells())
            done = [cell for cell in experiment.cells() if statuses.get(cell.key) == "done"]
            self.n_failed += len(experiment.cells()) - len(done)
            found = {(cell.dataset, cell.method): store.fitted(cell.fit_key) for cell in done}
        return {place: fitted for place, fitted in found.items() if fitted is not None}


def parted(dataset: Dataset, train: Any) -> Dataset:
    """Return a dataset whose train part is given by row numbers or marks."""
    marks = np.zeros(dataset.n_samples, dtype=bool)
    marks[train] = True
    return replace(dataset, train_part=marks)


METRICS = ("auroc", "auprc", "f1")


@dataclass(frozen=True, kw_only=True)
class Holdout(Protocol):
    """Fit on train, score AUROC, AUPRC and F1 on test; a tuned classifier also gives its score in tuning (``cv``).

    Parameters
    ----------
    keep_values : bool, default=True
        Whether the classifier's values on the test rows are kept, for curves; without them only scores are.
    metrics : tuple of str, default=("auroc", "auprc", "f1")
        What is scored. AUROC alone spares the hard labels, which take many methods as long as the values do.
    """

    kind: ClassVar[str] = "holdout"
    keep_values: bool = True
    metrics: tuple[str, ...] = METRICS

    def __post_init__(self) -> None:
        for name in self.metrics:
            if name not in METRICS:
                raise unknown_name("metric", name, METRICS)

    @override
    def identity(self) -> str:
        # As it was first written: another text would make every stored cell stale.
        return digest({"kind": self.kind, "metrics": self.metrics, "keep_values": self.keep_values})

    @override
    def versions(self) -> dict[str, str]:
        from paragone import __version__

        return {"paragone": __version__, "sklearn": str(sklearn.__version__)}

    @override
    def tasks(self, dataset: Dataset, plan: SplitPlan, seed: int) -> tuple[Arrangement, ...]:
        if dataset.task != "classification" or len(np.unique(dataset.y)) != 2:
            raise InputError(f"dataset {dataset.name!r}: the holdout protocol scores two classes")
        return super().tasks(dataset, plan, seed)

    @override
    def fit(self, estimator: Any, data: SplitData) -> Fitted:
        fitted = estimator.fit(data.X_train, data.y_train)
        found = confidence(fitted, data.X_test, positive_class(data.y_train, data.y_test))
        # Only our own tuner is asked for its search: libraries have attributes of the same names and other meanings.
        tuned = isinstance(fitted, TunedClassifier)
        info = {
            "source": fitted.score_source if tuned else found.source,
            "params": fitted.best_params_ if tuned else {},
            "bounded": int(fitted.n_bounded_ if tuned else getattr(fitted, "hit_bound_", False)),
            "warned": list(fitted.warned_) if tuned else [],
        }
        arrays = {"scores": np.array(self._scored(fitted, data, found.values))}
        if tuned:
            arrays["cv"] = np.array(fitted.best_score_)
        if self.keep_values:
            arrays["values"] = found.values
        return Fitted(arrays, info)

    @override
    def scores(self, fitted: Fitted, data: SplitData) -> CellScores:
        scores = [Score(name, float(v)) for name, v in zip(self.metrics, fitted.arrays["scores"], strict=True)]
        if "cv" in fitted.arrays and not np.isnan(fitted.arrays["cv"]):
            scores.append(Score("cv", float(fitted.arrays["cv"])))
        notes = []
        if fitted.info["source"] == "predict":
            notes.append("scored by hard labels: it has neither predict_proba nor decision_function")
        if fitted.info.get("warned"):
            warned = fitted.info["warned"]
            notes.append(f"{len(warned)} fits in tuning warned, the first: {warned[0].splitlines()[0]}")
        if fitted.info["bounded"]:
            notes.append(f"{fitted.info['bounded']} fits hit the bound on iterations")
        return CellScores(tuple(scores), notes=tuple(notes))

    def _scored(self, fitted: Any, data: SplitData, values: FloatArray) -> list[float]:
        from sklearn.metrics import f1_score

        scored = positive_class(data.y_train, data.y_test)
        positive = np.asarray(data.y_test) == scored

        def hard_labels() -> Any:
            return np.asarray(fitted.predict(data.X_test)) == scored

        # F1 is that of class 1, as published; the metric of that name is a mean over both classes.
        known: dict[str, Callable[[], float]] = {
            "auroc": lambda: auroc(positive, values),
            "auprc": lambda: find_metric("auprc")(positive, np.column_stack([-values, values]), classes=(False, True)),
            "f1": lambda: f1_score(positive, hard_labels(), zero_division=0),
        }
        return [float(known[name]()) for name in self.metrics]
