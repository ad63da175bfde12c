"""The page of what the reader chose, built in a process of its own."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from loky import ProcessPoolExecutor

from paragone.errors import InputError, unknown_name
from paragone.lab.engine.guard import end_with
from paragone.metrics import named_metric
from paragone.page import Page
from paragone.reporting.crossval import crossval_page
from paragone.reporting.crossval_tables import CLASS_FIGURES, REGRESSION_FIGURES, problem_name
from paragone.reporting.crossval_words import narrowed
from paragone.reporting.curve import curve_page, dataset_curves
from paragone.reporting.render import render_report
from paragone.reporting.scores import GridScores, at_point, grid_scores, views_of
from paragone.reporting.topk import topk_page
from paragone.reporting.topk_tables import TopKFigures
from paragone.reporting.words import Wording
from paragone.results import Results


@dataclass(frozen=True)
class Selection:
    """A choice; empty parts mean the first, or all.

    Attributes
    ----------
    experiment, metric, reference : str
        Names; empty for the first.
    at : str
        A point of the grid; empty for the grid reduced as the experiment declares.
    datasets, methods : tuple of str
        Names; empty for all.
    """

    experiment: str = ""
    metric: str = ""
    at: str = ""
    reference: str = ""
    datasets: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]]) -> Selection:
        """Read a selection from the pairs of a query; unknown names are refused.

        Examples
        --------
        >>> Selection.of([("metric", "micro_f1"), ("method", "A"), ("method", "B")]).methods
        ('A', 'B')
        """
        one: dict[str, str] = {}
        many: dict[str, list[str]] = {"dataset": [], "method": []}
        for name, value in pairs:
            if name in many:
                many[name].append(value)
            elif name in ("experiment", "metric", "at", "reference"):
                one[name] = value
            else:
                raise unknown_name("choice", name, ["experiment", "metric", "at", "reference", *many])
        return cls(**one, datasets=tuple(many["dataset"]), methods=tuple(many["method"]))


def select(selection: Selection, grids: Sequence[GridScores]) -> list[GridScores]:
    """Keep what was chosen; a name that is not there is refused.

    Parameters
    ----------
    selection : Selection
        The choice.
    grids : sequence of GridScores
        All there is.

    Returns
    -------
    list of GridScores
        One metric on one grid.
    """
    metrics = list(dict.fromkeys(metric for scores in grids for metric in scores.folds["metric"].unique()))
    metric = selection.metric or metrics[0]
    for kind, name, known in (
        ("metric", metric, metrics),
        *(("method", name, grids[0].folds["method"].unique().tolist()) for name in selection.methods),
        *(("dataset", name, grids[0].folds["dataset"].unique().tolist()) for name in selection.datasets),
    ):
        if name not in known:
            raise unknown_name(kind, name, known)
    chosen = [_kept(scores, metric, selection) for scores in grids]
    return [_at(chosen, selection.at)]


def _kept(scores: GridScores, metric: str, selection: Selection) -> GridScores:
    def keep(frame: Any) -> Any:
        frame = frame[frame["metric"] == metric]
        for column, names in (("method", selection.methods), ("dataset", selection.datasets)):
            frame = frame[frame[column].isin(names)] if names else frame
        return frame

    return replace(scores, curves=keep(scores.curves), folds=keep(scores.folds))


def _at(grids: Sequence[GridScores], at: str) -> GridScores:
    """Take a grid at a point, given as ``k=10`` or ``p=0.2``; the first grid as it is where none is given."""
    if not at:
        return grids[0]
    name, _, value = at.partition("=")
    found = [scores for scores in grids if scores.grid == name]
    try:
        point = float(value)
    except ValueError as error:
        raise InputError(f"the point {at!r} is no point of a grid: say k=10 or p=0.2") from error
    if not found:
        raise unknown_name("grid", name, [scores.grid for scores in grids])
    return at_point(found[0], point)


def options(described: Mapping[str, Any], grids: Sequence[GridScores]) -> dict[str, list[str]]:
    """Return what there is to choose from."""
    points = []
    for scores in grids:
        places = sorted(scores.curves["at"].unique())
        points += [f"{scores.grid}={place:g}" for place in places]
    return {
        "metric": list(described["protocol"]["metrics"]),
        "at": points,
        "reference": list(described["methods"]),
        "method": list(described["methods"]),
        "dataset": list(dict.fromkeys(name for scores in grids for name in scores.folds["dataset"].unique())),
    }


Options = dict[str, list[str]]
Described = Mapping[str, Any]


def page_of(results: Results, selection: Selection) -> tuple[Page, Options]:
    """Make the page of a selection.

    Parameters
    ----------
    results : Results
        An open store.
    selection : Selection
        What the reader chose.

    Returns
    -------
    Page, dict
        The page, and what there is to choose from; a part without a choice has none.
    """
    described = results.described(selection.experiment or results.experiments()[0])
    return PAGES[described["protocol"]["kind"]](results, described, selection)


def _curve(results: Results, described: Described, selection: Selection) -> tuple[Page, Options]:
    grids = grid_scores(results, described["name"])
    choices = options(described, grids)
    chosen = select(selection, grids)
    methods = chosen[0].folds["method"].unique().tolist()
    reference = _reference(selection, methods, list(described["methods"]))
    shown = {**described, "methods": {m: v for m, v in described["methods"].items() if m in methods}}
    views = views_of(chosen, reference, described["split"])
    return curve_page(results, shown, views, reference, Wording(), dict(dataset_curves(chosen))), choices


def _topk(results: Results, described: Described, selection: Selection) -> tuple[Page, Options]:
    run = results.topk(described["name"])
    if not run.cells:
        raise InputError(f"experiment {described['name']!r} has no scores yet")
    mine = run.narrowed(selection.datasets, selection.methods)
    reference = _reference(selection, mine.methods, list(described["methods"]))
    cut = _cut(selection.at)
    figures = TopKFigures(results, mine, reference, selection.metric or None, cut)
    # Named as in the tables: a user's functions stand beside the metrics of ours.
    metrics = [str(name) for name in dict.fromkeys(figures.segments["metric"])]
    choices = {
        "metric": ["", *metrics],
        "at": [f"K={cut}" for cut in run.ks],
        "reference": run.methods,
        "method": run.methods,
        "dataset": run.datasets,
    }
    return topk_page(figures, described, Wording()), choices


def _cut(at: str) -> int | None:
    """Read a cut-off, given as ``K=10``."""
    name, _, value = at.partition("=")
    if at and (name != "K" or not value.isdigit()):
        raise InputError(f"the point {at!r} is no cut-off: say K=10")
    return int(value) if at else None


def _crossval(results: Results, described: Described, selection: Selection) -> tuple[Page, Options]:
    run = results.crossval(described["name"])
    tasks = {problem.truth.task for problem in run.problems}
    known = [
        metric
        for metric in (REGRESSION_FIGURES if tasks == {"regression"} else CLASS_FIGURES)
        if named_metric(metric).higher_is_better is not None
    ]
    declared = run.settings.scoring(next(iter(tasks))).metric
    metrics = list(dict.fromkeys([declared, *known])) if len(tasks) == 1 else []
    if selection.metric and selection.metric not in metrics:
        raise unknown_name("metric", selection.metric, metrics or ["(the declared one)"])
    metric = selection.metric if selection.metric != declared else None
    methods = [str(facts.get("method", name)) for name, facts in run.settings.variants.items()]
    choices = {
        "metric": metrics,
        "at": [],
        "reference": [],
        "method": list(dict.fromkeys(methods)),
        "dataset": [problem_name(problem, run) for problem in run.problems],
    }
    mine = narrowed(run, selection.datasets, selection.methods)
    return crossval_page(results, described, mine, Wording(), metric or None), choices


def _reference(selection: Selection, methods: list[str], declared: list[str]) -> str:
    """Return the reference; the first method shown where the one chosen is not shown."""
    if selection.reference and selection.reference not in declared:
        raise InputError(f"there is no method {selection.reference!r} to compare with")
    return selection.reference if selection.reference in methods else methods[0]


PAGES: dict[str, Callable[[Results, Described, Selection], tuple[Page, Options]]] = {
    "curve": _curve,
    "crossval": _crossval,
    "topk": _topk,
}


KEPT = 12
REST = 20
"""A page that took a CPU second to build is not built again for so many seconds while a run writes."""


@dataclass(frozen=True)
class Built:
    """A report: its HTML, what there is to choose from, the CPU seconds it took; or why there is none."""

    html: str
    options: dict[str, list[str]]
    seconds: float
    refusal: str = ""


def build(store: Path, selection: Selection) -> Built:
    """Build the report of a selection."""
    # Loaded once a process, and no part of what a report costs.
    import altair  # noqa: F401
    import pandas  # noqa: F401

    begun = time.process_time()
    try:
        with Results.open(store) as results:
            page, choices = page_of(results, selection)
            html = render_report(page)
            return Built(html, choices, time.process_time() - begun)
    except InputError as refusal:
        return Built("", {}, time.process_time() - begun, str(refusal))


def _step_aside(view: int) -> None:
    """Give way to the run, for whatever the machine has left is enough for a page; and end with the view."""
    threading.Thread(target=end_with, args=(view,), daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(15)


class Keeper:
    """Keeps the newest report of every selection, and has it built again when the store has news.

    Parameters
    ----------
    store : Path
        The store.
    executor : Executor, optional
        Where to build; a process of its own where it is not given.
    clock : callable, optional
        Tells the time in seconds.
    """

    def __init__(
        self, store: Path, executor: Executor | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._store = store
        self._executor = executor or ProcessPoolExecutor(
            1, initializer=_step_aside, initargs=(os.getpid(),), timeout=None
        )
        self._clock = clock
        self._lock = threading.Lock()
        self._built: dict[Selection, tuple[str, float, Built]] = {}
        self._building: dict[Selection, Future[Built]] = {}

    def report(self, selection: Selection, version: str, *, running: bool = True) -> tuple[str, Built] | None:
        """Return the newest report there is, at once, with the version it is of; None where none was built yet.

        Where the store has a newer version, a new one is begun, unless one is under way or, while a run goes on, the
        last is too fresh.
        """
        with self._lock:
            known = self._built.get(selection)
            if self._wanted(selection, known, version, running):
                future = self._executor.submit(build, self._store, selection)
                self._building[selection] = future
                future.add_done_callback(partial(self._keep, selection, version))
            known = self._built.get(selection)
            return None if known is None else (known[0], known[2])

    def _wanted(
        self, selection: Selection, known: tuple[str, float, Built] | None, version: str, running: bool
    ) -> bool:
        if selection in self._building or len(self._building) >= KEPT:
            return False
        if known is None:
            return True
        of_version, when, built = known
        rested = not running or self._clock() - when >= REST * built.seconds
        return of_version != version and rested

    def _keep(self, selection: Selection, version: str, future: Future[Built]) -> None:
        with self._lock:
            self._building.pop(selection, None)
            if future.cancelled():
                return
            error = future.exception()
            built = Built("", {}, 1.0, f"the page could not be built: {error!r}") if error else future.result()
            self._built.pop(selection, None)
            self._built[selection] = (version, self._clock(), built)
            while len(self._built) > KEPT:
                self._built.pop(next(iter(self._built)))

    def close(self) -> None:
        """End the building process."""
        if isinstance(self._executor, ProcessPoolExecutor):
            self._executor.shutdown(wait=False, kill_workers=True)
        else:
            self._executor.shutdown(wait=False)
