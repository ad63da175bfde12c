"""Evaluate: run methods on data and say which is better; the answer knows scores, finding, page and models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from paragone.checks import check_before_run
from paragone.data import Dataset
from paragone.data.offered import offered_datasets
from paragone.data.roles import Roles, said_of_data
from paragone.errors import InputError, unknown_name
from paragone.everyday.usual import usual_methods
from paragone.hashing import digest
from paragone.lab.arguments import methods_argument, predicted_task
from paragone.lab.experiment import Experiment
from paragone.lab.results import Results
from paragone.lab.store import Store
from paragone.lab.view import View
from paragone.methods.method import Method
from paragone.metrics import choose_metric, find_scorers, named_metric
from paragone.protocols import Predict
from paragone.stats.ranking import MethodRanking
from paragone.terminal import say_in_words

if TYPE_CHECKING:
    import pandas as pd

    from paragone.lab.engine import Observer
    from paragone.stats import DatasetComparison

DEFAULT_STORE = "paragone.sqlite"
USUAL_METRICS = {
    "binary": ("roc_auc", "balanced_accuracy", "accuracy", "f1_macro", "neg_log_loss"),
    "classes": ("balanced_accuracy", "accuracy", "f1_macro", "neg_log_loss"),
    "regression": ("neg_root_mean_squared_error", "neg_mean_absolute_error", "r2"),
}
"""What is scored where no metric is named; the first is what methods are ranked by."""


def evaluate(
    methods: Any = None,
    data: Any = None,
    *,
    target: str | None = None,
    task: str | None = None,
    groups: str | None = None,
    time: str | None = None,
    weight: str | None = None,
    drop: Sequence[str] = (),
    split: Any = 5,
    metrics: Any = None,
    seeds: int = 1,
    tune: int | None = None,
    spaces: Mapping[str, Mapping[str, Any]] | None = None,
    prepare: bool = True,
    name: str | None = None,
    seed: int = 0,
    store: str | Path = DEFAULT_STORE,
    workers: int | None = None,
    accept_leak: str | Sequence[str] = (),
    observer: Observer | None = None,
    verbose: bool = True,
) -> Evaluation:
    """Run methods on data, leak-free and in parallel, and answer which is better.

    Parameters
    ----------
    methods : mapping or list, optional
        Estimators and pipelines of scikit-learn's interface, classes, or ``"module:Class"``, with
        names of your own or those of their classes; the usual methods where none is given.
    data : Dataset, (X, y), table, path, name, or a mapping or list of those
        Tables keep the types of their columns: text, categories, dates and gaps travel as they are.
    target : str, optional
        The column of tables that is predicted.
    task : {"classification", "regression"}, optional
        What the target is, where neither the methods nor its values are to say it.
    groups, time, weight : str, optional
        The columns that say which rows belong together, when they were measured, and how much they
        count.
    drop : sequence of str
        Columns to leave out.
    split : int, float, splitter or iterable of (train, test), default=5
        Folds, a share to test on, any splitter of scikit-learn's interface, or row numbers. Folds
        are stratified by class, keep groups together, and go forward in time where the data say so.
    metrics : str, callable or list, optional
        Names of scikit-learn's scorers, scorers or functions; methods are ranked by the first.
    seeds : int, default=1
        How many seeds every method that has an open ``random_state`` is run with.
    tune : int, optional
        Give every method whose space is known, or named in ``spaces``, so many trials on inner
        splits of train.
    spaces : mapping of str to mapping, optional
        Spaces of methods by name, as `TunedEstimator` takes them.
    prepare : bool, default=True
        Whether methods that need numbers are given the default preparation of tables, fitted on
        train in every split.
    name : str, optional
        What the store calls it; by default a name that follows from data, methods, splits and
        metrics.
    seed : int
        Every random thing follows from it.
    store : str or Path
        The file that keeps every prediction: the same call again goes on from there.
    workers : int, optional
        How many cells are worked on at a time; one per core where it is not given.
    accept_leak : str or sequence of str
        Codes of leaks, such as ``"PG101"``, or ``"all"``, that may stand: the data is looked at
        before the first fit, and errors stop it otherwise. What was accepted is kept in the store
        and said with the finding.
    observer : Observer, optional
        Whoever follows the run, instead of the lines that are printed.
    verbose : bool, default=True
        Whether to print what was inferred and how far the run is.

    Returns
    -------
    Evaluation
        With the finding, scores, comparison, report and models.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.dummy import DummyClassifier
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     answer = evaluate({"bayes": GaussianNB(), "floor": DummyClassifier()}, "wine",
    ...                       store=f"{folder}/a.sqlite", workers=0, verbose=False)
    ...     print(answer.finding)
    On this data, bayes is better than floor: 0.974 against 0.333.
    """
    if data is None:
        raise InputError(
            "evaluate: say what on: evaluate(methods, data), such as evaluate(methods, (X, y))"
        )
    roles = Roles(target, groups, time, weight, tuple([drop] if isinstance(drop, str) else drop))
    datasets = offered_datasets(data, replace(roles, task=_task(task, methods)))
    tasks = {dataset.task for dataset in datasets}
    if len(tasks) > 1:
        listed = ", ".join(f"{dataset.name} ({dataset.task})" for dataset in datasets)
        raise InputError(f"evaluate: datasets of different tasks are different questions: {listed}")
    (found_task,) = tasks
    chosen = methods_argument(usual_methods(found_task) if methods is None else methods)
    if tune is not None:
        named = usual_metrics(datasets) if metrics is None else metrics
        scoring = next(iter(named), None) if isinstance(named, (list, tuple)) else named
        own = dict(spaces or {})
        unknown = next((name for name in own if name not in chosen), None)
        if unknown is not None:
            raise unknown_name("method in spaces", str(unknown), chosen)
        chosen = {
            name: tuned_method(name, given, tune, own.get(name), scoring)
            for name, given in chosen.items()
        }
    elif spaces:
        raise InputError("evaluate: spaces are for tuning: say tune=20 as well")
    protocol = Predict(
        metrics=usual_metrics(datasets) if metrics is None else metrics,
        task=found_task,
        prepare_tables=prepare,
    )
    check_direction(protocol, found_task)
    name = content_name(datasets, chosen, split, protocol, seed, seeds) if name is None else name
    experiment = Experiment(
        datasets, chosen, split, protocol, name=name, seed=seed, repeats=_repeats(chosen, seeds)
    )
    watch = observer
    if verbose:
        for line in introduction(experiment):
            say_in_words(line, stderr=True)
    passed = check_before_run(
        experiment, store, accept_leak, tell=_tell_on_stderr if verbose else _tell_nobody
    )
    if verbose and watch is None:
        from paragone.everyday.progress import ProgressBar

        with ProgressBar() as bar:
            experiment.run(store, workers, observer=bar, checks=passed).close()
        return Evaluation(experiment, Path(store))
    experiment.run(store, workers, observer=watch, checks=passed).close()
    return Evaluation(experiment, Path(store))


def _tell_on_stderr(line: str) -> None:
    say_in_words(f"  {line}", stderr=True)


def _tell_nobody(line: str) -> None:
    """Leave it to the answer's warnings."""


def _task(task: str | None, methods: Any) -> Any:
    if task is not None and task not in ("classification", "regression"):
        raise unknown_name("task", task, ("classification", "regression"))
    if task is not None or methods is None:
        return task
    declared = [
        Method.declare(given, kind=f"method {name!r}")
        for name, given in methods_argument(methods).items()
    ]
    kinds = {predicted_task(method) for method in declared} - {None}
    if len(kinds) > 1:
        raise InputError(
            "evaluate: some methods are classifiers and some regressors: compare one kind at a time"
        )
    return kinds.pop() if kinds else None


def usual_metrics(datasets: Sequence[Dataset]) -> tuple[str, ...]:
    """Return what is scored where nobody names a metric; the first is what methods are ranked by."""
    if datasets[0].task == "regression":
        return USUAL_METRICS["regression"]
    binary = all(len(np.unique(dataset.y)) == 2 for dataset in datasets)
    return USUAL_METRICS["binary" if binary else "classes"]


def check_direction(protocol: Predict, task: str) -> None:
    """Refuse to rank methods by a metric of which nobody says whether higher or lower is better."""
    first = find_scorers(protocol.metrics, task)[0]
    if first.higher_is_better is None:
        raise InputError(
            f"metric {first.name!r} has no better direction, so nothing can be ranked by it: set "
            f"{first.name}.higher_is_better = True or False beside the function"
        )


def content_name(
    datasets: Sequence[Dataset],
    methods: Mapping[str, Any],
    split: Any,
    protocol: Predict,
    seed: int,
    seeds: int,
) -> str:
    """Return a name for an evaluation: the same call has the same name, and another one has another."""
    declared = {
        name: Method.declare(given, kind=f"method {name!r}") for name, given in methods.items()
    }
    shown = split if isinstance(split, (int, float, str)) else repr(split)
    whole = (
        [[d.name, d.fingerprint] for d in datasets],
        declared,
        shown,
        protocol.identity(),
        seed,
        seeds,
    )
    return f"evaluation {digest(list(whole))[:8]}"


def tuned_method(name: str, given: Any, trials: int, space: Any, scoring: Any) -> Method:
    """Return a method tuned by so many trials; as it is where no space is known for it."""
    from paragone.methods.spaces import check_space, known_space
    from paragone.methods.tuned_estimator import TunedEstimator

    if isinstance(trials, bool) or not isinstance(trials, int) or trials < 1:
        raise InputError(f"tune: expected a whole number of trials of at least 1, got {trials!r}")
    method = Method.declare(given, kind=f"method {name!r}")
    if space is None and not known_space(method.build()):
        return method
    check_space(space or {}, f"spaces: method {name!r}")
    own = {} if space is None else {"space": {key: dict(limits) for key, limits in space.items()}}
    scored = {"scoring": scoring} if isinstance(scoring, str) else {}
    return Method(TunedEstimator, {"estimator": method, "trials": trials, **own, **scored})


def _repeats(methods: Mapping[str, Any], seeds: int) -> dict[str, int]:
    if isinstance(seeds, bool) or not isinstance(seeds, int) or seeds < 1:
        raise InputError(f"seeds: expected a whole number of at least 1, got {seeds!r}")
    if seeds == 1:
        return {}
    declared = {
        name: Method.declare(given, kind=f"method {name!r}") for name, given in methods.items()
    }
    return {name: seeds for name, method in declared.items() if method.has_seed}


def introduction(experiment: Experiment) -> list[str]:
    """Say what is going to be run: every dataset with what was inferred of it, how it is split, what is prepared."""
    from paragone.data.splits import describe_splits

    lines = []
    for name, arrangement in experiment.layout.arrangements.items():
        dataset = arrangement.dataset
        lines.append(
            f"{name}: {dataset.n_samples} rows; {'; '.join(dataset.notes) or _seen(dataset)}"
        )
        lines.append(f"  split: {describe_splits(dataset, experiment.split)}")
        lines += [f"  note: {told}" for told in said_of_data(dataset, arrangement.splits)]
        prepared = [
            one
            for one, method in experiment.methods.items()
            if arrangement.method(method) is not method
        ]
        if prepared:
            lines.append(
                f"  prepared on train in every split (text, dates, gaps): {', '.join(prepared)}"
            )
    tuned = {
        name: method.params["trials"]
        for name, method in experiment.methods.items()
        if "trials" in method.params
    }
    if tuned:
        left = [name for name in experiment.methods if name not in tuned]
        rest = f"; as they stand: {', '.join(left)}" if left else ""
        lines.append(
            f"tuned by {max(tuned.values())} trials on inner splits of train:"
            f" {', '.join(tuned)}{rest}"
        )
    return lines


def _seen(dataset: Dataset) -> str:
    what = f"{len(np.unique(dataset.y))} classes" if dataset.task == "classification" else "numbers"
    return f"{dataset.n_features} features; the target holds {what}: {dataset.task}"


@dataclass(eq=False, repr=False)
class Evaluation:
    """What came of an evaluation: print it, or ask it for more.

    Parameters
    ----------
    experiment : Experiment
        What was run.
    store : Path
        Where every prediction is kept.
    metric : str, optional
        What methods are ranked by; the first that was scored where it is not given.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.naive_bayes import GaussianNB
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     answer = evaluate({"bayes": GaussianNB()}, "iris", split=3, metrics="accuracy",
    ...                       store=f"{folder}/a.sqlite", workers=0, verbose=False)
    ...     print(answer.scores()["value"].round(2).tolist(), answer.refit("bayes").classes_.tolist())
    [0.96, 0.94, 0.98] ['setosa', 'versicolor', 'virginica']
    """

    experiment: Experiment
    store: Path
    metric: str = ""

    def __post_init__(self) -> None:
        names = self._all_scores["metric"].unique().tolist() if len(self._all_scores) else []
        if self.metric:
            self.metric = choose_metric(self.metric, names)
        elif names:
            self.metric = str(names[0])

    @property
    def results(self) -> Results:
        """The read side of the store; open until you close it."""
        return Results.open(self.store)

    @cached_property
    def _all_scores(self) -> pd.DataFrame:
        with self.results as results:
            return View(results, self.experiment.name).stored_scores

    def scores(self, metric: str | None = None) -> pd.DataFrame:
        """Return every score in tidy form: dataset, fold, method, metric, value; another metric needs no new fit."""
        if metric is None:
            return self._all_scores[["dataset", "fold", "method", "metric", "value"]].reset_index(
                drop=True
            )
        known = self._all_scores["metric"].unique().tolist()
        if metric not in known:
            return self._scored_again(metric)
        mine = self._all_scores[self._all_scores["metric"] == metric]
        return mine[["dataset", "fold", "method", "metric", "value"]].reset_index(drop=True)

    def _scored_again(self, metric: Any) -> pd.DataFrame:
        """Score the kept predictions by a metric that the run did not know."""
        import pandas as pd

        from paragone.protocols.predict import score_answers

        rows = [
            (cell.dataset, cell.fold, cell.method, score.metric, score.value)
            for cell, arrays in self._answers()
            for score in score_answers(
                arrays,
                self.experiment.layout.arrangements[cell.dataset].dataset.task,
                self._truth(cell),
                (metric,),
            )
        ]
        frame = pd.DataFrame(rows, columns=["dataset", "fold", "method", "metric", "value"])
        return frame.groupby(["dataset", "fold", "method", "metric"], sort=False, as_index=False)[
            "value"
        ].mean()

    def _truth(self, cell: Any) -> Any:
        arrangement = self.experiment.layout.arrangements[cell.dataset]
        y = arrangement.dataset.y[arrangement.splits[cell.fold].test]
        return np.asarray(y.tolist()) if y.dtype == object else y

    def _answers(self) -> list[tuple[Any, Mapping[str, Any]]]:
        found = []
        with Store(self.store) as store:
            for cell in self.experiment.cells():
                fitted = store.fitted(cell.fit_key)
                if fitted is not None and "predicted" in fitted.arrays:
                    found.append((cell, fitted.arrays))
        return found

    def predictions(self) -> pd.DataFrame:
        """Return what every method predicted for every test row, with the truth and a column of each probability."""
        import pandas as pd

        frames = []
        for cell, arrays in self._answers():
            split = self.experiment.layout.split(cell)
            frame = pd.DataFrame(
                {
                    "dataset": cell.dataset,
                    "fold": cell.fold,
                    "row": split.test,
                    "method": cell.method,
                }
            )
            frame = frame.assign(
                repeat=cell.repeat, truth=self._truth(cell), predicted=arrays["predicted"]
            )
            if "probabilities" in arrays:
                for place, label in enumerate(arrays["classes"]):
                    frame[f"p({label})"] = arrays["probabilities"][:, place]
            frames.append(frame)
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()

    def tuning(self) -> pd.DataFrame:
        """Return what every tuned method got: trials, parameters chosen, best inner score after each trial."""
        import pandas as pd

        rows = []
        with Store(self.store) as store:
            for cell in self.experiment.cells():
                fitted = store.fitted(cell.fit_key)
                told = None if fitted is None else fitted.info.get("tuning")
                if told is not None:
                    place = (cell.dataset, cell.fold, cell.method, cell.repeat)
                    rows.append(
                        (*place, told["trials"], told["failed"], told["params"], told["best_after"])
                    )
        columns = [
            "dataset",
            "fold",
            "method",
            "repeat",
            "trials",
            "failed",
            "params",
            "best_after",
        ]
        return pd.DataFrame(rows, columns=columns)

    def costs(self) -> pd.DataFrame:
        """Return what a method cost on a split: processor time of fit and prediction, memory, size of the model."""
        from paragone.lab.contents import costs_by_method

        with self.results as results:
            places = results.places()
        return costs_by_method(places[places["experiment"] == self.experiment.name])

    def compare(self, metric: str | None = None, **options: Any) -> DatasetComparison:
        """Return the whole comparison over datasets; options are those of `paragone.compare`."""
        from paragone.stats import compare

        chosen = metric or self.metric
        known: dict[str, Any] = {
            "higher_is_better": self._higher(chosen),
            "designs": self.experiment.layout.designs,
        }
        with self.results as results:
            known["rows"] = View(results, self.experiment.name).stored_rows(chosen)
        return compare(self.scores(chosen), metric=chosen, **(known | options))

    def report(self, folder: str | Path, **options: Any) -> tuple[Path, ...]:
        """Write the page, tables and charts into a folder."""
        from paragone.reporting import report

        with self.results as results:
            return report(results, folder, experiment=self.experiment.name, **options)

    def refit(self, method: str, dataset: str | None = None) -> Any:
        """Fit a method on all rows of a dataset and return it: the preparation and the model as one estimator."""
        if method not in self.experiment.methods:
            raise unknown_name("method", method, self.experiment.methods)
        arrangements = self.experiment.layout.arrangements
        name = (
            dataset
            if dataset is not None
            else next(iter(arrangements))
            if len(arrangements) == 1
            else None
        )
        if name is None:
            raise InputError(f"refit: on which dataset? Name one of {', '.join(arrangements)}")
        if name not in arrangements:
            raise unknown_name("dataset", name, arrangements)
        from paragone.protocols.predict import fit_arguments

        data = arrangements[name].dataset
        estimator = (
            arrangements[name].method(self.experiment.methods[method]).build(self.experiment.seed)
        )
        return estimator.fit(data.X, data.y, **fit_arguments(estimator, data.weights, data.groups))

    # The finding

    def _higher(self, metric: str) -> bool | None:
        from sklearn.metrics import get_scorer_names

        return True if metric in get_scorer_names() else named_metric(metric).higher_is_better

    @cached_property
    def ranking(self) -> MethodRanking:
        """The methods from best to worst, with what is said of each."""
        with self.results as results:
            places = results.places()
            compared = View(results, self.experiment.name, metric=self.metric).comparison
        mine = places[places["experiment"] == self.experiment.name].groupby("method", sort=False)
        return MethodRanking(
            self.metric,
            bool(self._higher(self.metric)),
            self.scores(self.metric)[["dataset", "fold", "method", "value"]],
            self.experiment.layout.designs,
            tuple(self.experiment.methods),
            mine["status"]
            .agg(lambda ended: int(ended.isin(["failed", "timeout"]).sum()))
            .to_dict(),
            mine["fit_cpu_seconds"].sum().to_dict(),
            compared=compared,
        )

    @property
    def finding(self) -> str:
        """The answer in a sentence or two, true at the size of the data."""
        return self.ranking.finding

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What the methods warned of, the cells that failed, and whose seed was fixed."""
        with self.results as results:
            warned = (
                *results.warned(self.experiment.name),
                *results.seed_notes(self.experiment.name),
            )
            failures = results.failures()
        mine = failures[failures["experiment"] == self.experiment.name]
        told = [
            f"{method} failed in {len(rows)} of its fits: {rows['error'].iloc[0]}"
            for method, rows in mine.groupby("method")
        ]
        return (*told, *warned)

    def __repr__(self) -> str:
        return self.ranking.text(self.warnings, f"; kept in {self.store}")

    def _repr_html_(self) -> str:
        return self.ranking.html(self.warnings, f"; kept in {self.store}")
