"""The page of what the reader chose, built in a process of its own."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from loky import ProcessPoolExecutor

from paragone.errors import InputError, unknown_name
from paragone.lab.engine.guard import end_with
from paragone.lab.results import Results
from paragone.lab.view import View
from paragone.metrics import metric_title
from paragone.page import Page
from paragone.reporting.pages import page_of
from paragone.reporting.render import render_report


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
                raise unknown_name(
                    "choice", name, ["experiment", "metric", "at", "reference", *many]
                )
        return cls(**one, datasets=tuple(many["dataset"]), methods=tuple(many["method"]))


def selected_page(results: Results, selection: Selection) -> tuple[Page, dict[str, list[str]]]:
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
    experiment = selection.experiment or results.experiments()[0]
    whole = View(results, experiment)
    options = whole.options()
    options["metric_titles"] = [metric_title(name) if name else "" for name in options["metric"]]
    # One metric is shown at a time, unless the first choice is all of them.
    metric = selection.metric or next(iter(options["metric"]), "")
    view = whole.narrowed(
        metric=metric or None,
        at=selection.at,
        reference=selection.reference or None,
        datasets=selection.datasets,
        methods=selection.methods,
    )
    return page_of(view), options


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


def build(store: Path, selection: Selection, run_code: bool = False) -> Built:
    """Build the report of a selection, with the code of a protocol that the store names where that is allowed."""
    # Loaded once a process, and no part of what a report costs.
    import altair  # noqa: F401
    import pandas  # noqa: F401

    begun = time.process_time()
    try:
        with Results.open(store) as results:
            if run_code:
                results.run_code()
            page, choices = selected_page(results, selection)
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
    run_code : bool, default=False
        Whether the code of a protocol that the store names is imported.
    """

    def __init__(
        self,
        store: Path,
        executor: Executor | None = None,
        clock: Callable[[], float] = time.monotonic,
        *,
        run_code: bool = False,
    ) -> None:
        self._store = store
        self._run_code = run_code
        self._executor = executor or ProcessPoolExecutor(
            1, initializer=_step_aside, initargs=(os.getpid(),), timeout=None
        )
        self._clock = clock
        self._lock = threading.Lock()
        self._built: dict[Selection, tuple[str, float, Built]] = {}
        self._building: dict[Selection, Future[Built]] = {}

    def report(
        self, selection: Selection, version: str, *, running: bool = True
    ) -> tuple[str, Built] | None:
        """Return the newest report there is, at once, with the version it is of; None where none was built yet.

        Where the store has a newer version, a new one is begun, unless one is under way or, while a
        run goes on, the last is too fresh.
        """
        with self._lock:
            known = self._built.get(selection)
            if self._wanted(selection, known, version, running):
                future = self._executor.submit(build, self._store, selection, self._run_code)
                self._building[selection] = future
                future.add_done_callback(partial(self._keep, selection, version))
            known = self._built.get(selection)
            return None if known is None else (known[0], known[2])

    def _wanted(
        self,
        selection: Selection,
        known: tuple[str, float, Built] | None,
        version: str,
        running: bool,
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
            built = (
                Built("", {}, 1.0, f"the page could not be built: {error!r}")
                if error
                else future.result()
            )
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
