"""The page of a selection, whatever the protocol, and what there is to choose from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from paragone.directions import higher_is_better
from paragone.errors import InputError, unknown_name
from paragone.reporting.crossval_page import crossval_page
from paragone.reporting.crossval_tables import CLASS_FIGURES, REGRESSION_FIGURES, problem_name
from paragone.reporting.crossval_views import narrowed
from paragone.reporting.curve_charts import dataset_curves
from paragone.reporting.curve_page import curve_page
from paragone.reporting.fold_scores import grid_scores
from paragone.reporting.page_model import Page
from paragone.reporting.topk_page import topk_page
from paragone.reporting.topk_tables import TopKFigures
from paragone.reporting.views import views_of
from paragone.reporting.wording import Wording
from paragone.results import Results
from paragone.view.selection import Selection, options, select

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
        if higher_is_better(metric) is not None
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
