"""What a store holds, as tables: experiments, cells and their scores, as they were written."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from paragone.data import Split
from paragone.errors import InputError, unknown_name
from paragone.lab.arguments import DeclaredComparison
from paragone.lab.cells import Fitted
from paragone.lab.store import Store, queries
from paragone.lab.store.queries import damaged_part, json_object
from paragone.lab.store.records import Names, ScoreColumns, StoredCell, StoredCells, read_cells
from paragone.lab.store.runs import RunIdentity
from paragone.metrics import FUNCTIONS, remember
from paragone.stats.designs import Design, design_of

if TYPE_CHECKING:
    import pandas as pd

TIMES = ("seconds", "cpu_seconds", "peak_memory")
MODEL_COSTS = ("fit_cpu_seconds", "predict_cpu_seconds", "model_bytes")


def costs_by_method(places: pd.DataFrame) -> pd.DataFrame:
    """Return what a method cost in the mean over its done cells, from the cells that `StoreContents.places` lists.

    Returns
    -------
    DataFrame
        A row per method: ``fit_cpu_seconds`` and ``predict_cpu_seconds`` of a split,
        ``model_bytes`` of a model as it would lie on disk, all means, and the most that a cell
        held, ``peak_memory``, in bytes; NaN where not known.

    Examples
    --------
    >>> import pandas as pd
    >>> row = {"method": "A", "status": "done", "fit_cpu_seconds": 1.0, "predict_cpu_seconds": 0.5, "model_bytes": 80}
    >>> costs_by_method(pd.DataFrame([{**row, "peak_memory": 10}, {**row, "peak_memory": 30}])).loc["A"].tolist()
    [1.0, 0.5, 80.0, 30.0]
    """
    done = places[places["status"] == "done"].groupby("method", sort=False)
    return done[list(MODEL_COSTS)].mean().assign(peak_memory=done["peak_memory"].max())


"""Wall time, processor time and memory of a cell."""
STATUSES = ("done", "failed", "timeout", "running", "stale", "missing")


EXPERIMENTS_OF = """
SELECT DISTINCT e.name FROM plan p JOIN experiments e ON e.id = p.experiment_id
WHERE p.current = 1 AND p.protocol = ? ORDER BY e.id
"""
KINDS = "SELECT DISTINCT protocol FROM plan WHERE current = 1"


NUMBERS = re.compile(r"0x[0-9a-fA-F]+|\d+(?:\.\d+)?")


@dataclass(frozen=True)
class FailureCause:
    """Cells that failed alike: how they ended, the error of one of them, and how many of each method."""

    status: str
    error: str
    cell: int
    methods: dict[str, int] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many cells."""
        return sum(self.methods.values())


class StoreContents:
    """What a store holds, as tables: experiments and their cells, planned and ended; nothing of it is derived."""

    def __init__(self, store: Store) -> None:
        self._store = store
        # Names of metrics that are not ours get their title and direction before anybody reads a
        # score.
        for (described,) in store.read(queries.WITH_OWN_METRICS, (FUNCTIONS,)):
            remember(
                json_object(store.path, described, ("protocol",))["protocol"].get(FUNCTIONS, ())
            )

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open a store for reading."""
        return cls(Store(path))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    @property
    def store(self) -> Store:
        """The store."""
        return self._store

    @property
    def path(self) -> Path:
        """The store's file."""
        return self._store.path

    def experiments(self) -> list[str]:
        """Return the names of the experiments in the store."""
        return [row[0] for row in self._store.read(queries.EXPERIMENTS)]

    def described(self, experiment: str | None = None) -> dict[str, Any]:
        """Return what is known of an experiment's declaration: seed, split, protocol, methods."""
        names = self.experiments()
        chosen = experiment or (names[0] if len(names) == 1 else None)
        if chosen not in names:
            raise unknown_name("experiment", str(experiment), names or ["(none yet)"])
        rows = self._store.read(queries.DESCRIBED, (chosen,))
        if not rows:
            raise damaged_part(self.path, f"experiment {chosen!r}")
        return json_object(
            self.path,
            rows[0][0],
            ("name", "seed", "split", "protocol", "methods", "data", "repeats"),
        )

    def declared(self, experiment: str | None = None) -> str:
        """Return an experiment's declaration as text: its file, or a JSON summary."""
        name = self.described(experiment)["name"]
        rows = self._store.read(queries.DECLARED, (name,))
        if not rows:
            raise damaged_part(self.path, f"the declaration of experiment {name!r}")
        return str(rows[0][0])

    def declared_comparison(self, experiment: str | None = None) -> DeclaredComparison:
        """Return test, correction and margin that an experiment declares for its reports; nothing is imported."""
        given = self.described(experiment).get("compare", {})
        kinds: dict[str, Any] = {"margin": float}
        try:
            return DeclaredComparison(
                **{name: kinds.get(name, str)(value) for name, value in given.items()}
            )
        except (AttributeError, TypeError, ValueError) as error:
            raise damaged_part(
                self.path, f"the [compare] section of experiment {experiment!r}"
            ) from error

    def designs(self, experiment: str | None = None) -> dict[str, Design | None]:
        """Return how the datasets of an experiment were split: folds, repeats, test rows per train row, by dataset."""
        described = self.described(experiment)
        kept = described.get("designs")
        if kept is None:
            return self._designs_of_rows(described)
        try:
            return {name: None if one is None else Design(**one) for name, one in kept.items()}
        except (AttributeError, TypeError) as error:
            raise damaged_part(
                self.path, f"the splits of experiment {described['name']!r}"
            ) from error

    def _designs_of_rows(self, described: Mapping[str, Any]) -> dict[str, Design | None]:
        """Work the designs out from the rows of the splits, for a store of a version that did not keep them."""
        cells = StoredCells(self._store, described["name"])
        splits: dict[str, dict[int, StoredCell]] = {}
        for cell in cells.planned():
            # What a later stage adds, such as a refit on all rows, is no split of the comparison.
            if cell.protocol == described["protocol"]["kind"]:
                splits.setdefault(cell.dataset, {}).setdefault(cell.fold, cell)
        return {
            dataset: design_of(
                [Split(fold, *cells.rows(cell)) for fold, cell in sorted(by_fold.items())]
            )
            for dataset, by_fold in splits.items()
        }

    def datasets(self, experiment: str | None = None) -> dict[str, dict[str, Any]]:
        """Return what is known of every dataset of an experiment, by name: size, names, notes."""
        name = self.described(experiment)["name"]
        rows = self._store.read(queries.DATASETS, (name,))
        return {dataset: json_object(self.path, described) for dataset, described in rows}

    def fingerprints(self, experiment: str | None = None) -> dict[str, str]:
        """Return the hash of the content of every dataset of an experiment, by name."""
        name = self.described(experiment)["name"]
        return dict(self._store.read(queries.FINGERPRINTS, (name,)))

    def runs(self) -> pd.DataFrame:
        """Return the runs that wrote into the store: workers, versions and machine, begin, whether it still lives."""
        import pandas as pd

        rows = [
            (
                run,
                workers,
                json_object(self.path, environment),
                begun,
                RunIdentity(*who).lives(beat),
            )
            for run, workers, environment, begun, beat, *who in self._store.read(queries.RUNS)
        ]
        return pd.DataFrame(rows, columns=["run", "workers", "environment", "begun_at", "lives"])

    def living(self) -> list[RunIdentity]:
        """Return the processes that have cells of the store at work; one that ended its run and lives on is none."""
        return self._store.at_work()

    def failures(self) -> pd.DataFrame:
        """Return the cells that failed or ran out of time, with error and traceback."""
        import pandas as pd

        columns = [
            "experiment",
            "dataset",
            "fold",
            "method",
            "repeat",
            "status",
            "error",
            "traceback",
            *TIMES,
        ]
        frame = pd.DataFrame(self._store.read(queries.FAILURES), columns=columns)
        return frame.astype({"cpu_seconds": float, "peak_memory": float})

    def losses(self) -> pd.DataFrame:
        """Return the workers that died under cells, which then began again: no fault of the methods'."""
        import pandas as pd

        rows = self._store.read(queries.LOSSES)
        return pd.DataFrame(rows, columns=["run", "key", "why", "lost_at"])

    def places(self) -> pd.DataFrame:
        """Return every planned cell with its status: done, failed, timeout, running, stale or missing.

        The column ``why`` says what changed where a result is stale, and the error where one
        failed. ``seconds`` is the wall time of the cell and ``fit_seconds`` that of the fit in it;
        ``cpu_seconds`` and ``fit_cpu_seconds`` are processor time, as is ``predict_cpu_seconds``;
        ``peak_memory`` and ``model_bytes`` are in bytes. They are NaN where they are not known;
        ``costs_kept`` is False where nothing was kept of what the cell cost and warned of, as in a
        store of an older version.
        """
        import pandas as pd

        columns = [
            "experiment",
            "dataset",
            "fold",
            "method",
            "repeat",
            "key",
            "status",
            "why",
            "seconds",
            "notes",
        ]
        further = ["protocol", *TIMES[1:], "costs_kept", "fit_key"]
        with self._store.one_moment():
            frame = pd.DataFrame(self._store.read(queries.PLACES), columns=[*columns, *further])
            running = self._store.running()
            changed = self._changes() if frame["status"].isna().any() else {}
            fit_costs = {
                "fit_seconds": dict(self._store.read(queries.FIT_TIMES)),
                "fit_cpu_seconds": dict(self._store.read(queries.FIT_CPU_TIMES)),
            }
            models = self._store.read(queries.MODEL_COSTS)
        fit_costs["predict_cpu_seconds"] = {fit_key: seconds for fit_key, seconds, _ in models}
        fit_costs["model_bytes"] = {fit_key: size for fit_key, _, size in models}
        fit_keys = frame.pop("fit_key").tolist()
        for name, known in fit_costs.items():
            frame[name] = np.array([known.get(fit_key) for fit_key in fit_keys], dtype=float)
        frame = frame[[*columns, "fit_seconds", "protocol", *TIMES[1:], *MODEL_COSTS, "costs_kept"]]
        frame = frame.astype(
            dict.fromkeys((*TIMES[1:], *MODEL_COSTS), float) | {"costs_kept": bool}
        )
        open_ = frame.index[frame["status"].isna()]
        where = frame.loc[open_, columns[:5]].itertuples(index=False, name=None)
        why = pd.Series([changed.get(place, "") for place in where], index=open_, dtype=object)
        at_work = frame.loc[open_, "key"].isin(running)
        stale = open_[~at_work & (why != "")]
        frame["status"] = frame["status"].fillna("missing")
        frame["why"] = frame["why"].fillna("")
        frame.loc[open_[at_work], "status"] = "running"
        frame.loc[stale, "status"] = "stale"
        frame.loc[stale, "why"] = why[stale] + " changed"
        return frame

    def cell_counts(self) -> pd.DataFrame:
        """Return how many planned cells ended how, a row for each method, status and reason, in the order of the plan.

        The columns are ``experiment, method, status, why, notes, cells``, the sums ``seconds`` and
        ``cpu_seconds``, ``cpu_cells``, of how many cells the latter is known, and ``peak_memory``,
        the most of any. Counted by the store, so that a million cells take no more memory than a
        thousand; :meth:`places` lists them one by one.
        """
        import pandas as pd

        columns = [
            "experiment",
            "method",
            "status",
            "why",
            "notes",
            "cells",
            "seconds",
            "cpu_cells",
            "cpu_seconds",
        ]
        with self._store.one_moment():
            rows = [list(row) for row in self._store.read(queries.CELL_COUNTS)]
            running = set(self._store.running()) if any(row[2] is None for row in rows) else set()
            changed = self._changes() if any(row[2] is None for row in rows) else {}
            open_ = self._store.read(queries.OPEN_PLACES) if running or changed else []
        found: dict[tuple[str, str], Counter[tuple[str, str]]] = {}
        for *place, key in open_:
            why = changed.get(tuple(place), "")
            status = "running" if key in running else "stale" if why else "missing"
            reason = f"{why} changed" if status == "stale" else ""
            found.setdefault((place[0], place[3]), Counter())[status, reason] += 1
        counted = []
        for experiment, method, status, why, notes, cells, *costs in rows:
            if status is not None:
                counted.append([experiment, method, status, why, notes, cells, *costs])
                continue
            how = found.get((experiment, method), {("missing", ""): cells})
            counted += [
                [experiment, method, *one, "[]", count, *costs] for one, count in how.items()
            ]
        frame = pd.DataFrame(counted, columns=[*columns, "peak_memory"])
        return frame.astype({"seconds": float, "cpu_seconds": float, "peak_memory": float})

    def _changes(self) -> dict[tuple[str, str, int, str, int], str]:
        """Name the parts that changed at every place that has a result, but none of the current plan."""
        found = {}
        code = self._store.code_states()
        for experiment in self.experiments():
            earlier = self._store.outdated_parts(experiment)
            if not earlier:
                continue
            for place, parts in self._store.planned_parts(experiment).items():
                if place in earlier and earlier[place] != parts:
                    found[(experiment, *place)] = ", ".join(parts.changed(earlier[place], code))
        return found

    def folds_of(self, experiment: str, dataset: str, method: str) -> pd.DataFrame:
        """Return the folds of a method on a dataset; quick to ask for.

        The columns are ``fold, repeat, protocol, status, seconds, cpu_seconds, peak_memory``. The
        status is ``missing`` where there is no result yet, whether one is being computed or not.
        """
        import pandas as pd

        rows = self._store.read(queries.FOLDS, (experiment, dataset, method))
        frame = pd.DataFrame(rows, columns=["fold", "repeat", "protocol", "status", *TIMES])
        frame = frame.astype(dict.fromkeys(TIMES, float))
        return frame.assign(status=frame["status"].fillna("missing"))

    def counts(self, experiment: str) -> dict[str, int]:
        """Return how many cells of an experiment have which status; ``missing`` counts stale ones too.

        Quicker than :meth:`places`, for whoever asks again and again.
        """
        rows = self._store.read(queries.COUNTS, (experiment,))
        counts = {status or "missing": int(count) for status, count, _ in rows}
        claimed = set(self._store.running())
        if claimed and counts.get("missing"):
            open_keys = self._store.read(queries.OPEN_KEYS, (experiment,))
            running = len(claimed & {row[0] for row in open_keys})
            counts["running"] = running
            counts["missing"] -= running
        return {status: counts[status] for status in STATUSES if counts.get(status)}

    def times(self, experiment: str) -> list[tuple[str, str, int, int, float, int]]:
        """Return of every dataset and method its cells, how many ended, their seconds, and how many took time."""
        return self._store.read(queries.TIMES, (experiment,))

    def matrix(self, experiment: str) -> dict[tuple[str, str], dict[str, int]]:
        """Return how many cells of every dataset and method have which status; quick to ask for."""
        found: dict[tuple[str, str], dict[str, int]] = {}
        for dataset, method, status, count in self._store.read(queries.MATRIX, (experiment,)):
            found.setdefault((dataset, method), {})[status or "missing"] = int(count)
        return found

    def causes(self, experiment: str) -> list[FailureCause]:
        """Return why cells of an experiment failed, the commonest cause first; quick to ask for."""
        found: dict[tuple[str, str], FailureCause] = {}
        for status, error, method, count, cell in self._store.read(queries.CAUSES, (experiment,)):
            # Numbers and addresses differ from cell to cell of one cause.
            alike = found.setdefault(
                (status, NUMBERS.sub("0", error or "")), FailureCause(status, error or "", cell)
            )
            alike.methods[method] = alike.methods.get(method, 0) + int(count)
        return sorted(found.values(), key=lambda cause: -cause.count)

    def traceback_of(self, cause: FailureCause) -> str:
        """Return the traceback of one of the cells of a cause."""
        rows = self._store.read(queries.TRACEBACK, (cause.cell,))
        return str(rows[0][0] or "") if rows else ""

    def version(self, experiment: str) -> str:
        """Return a text that changes whenever a cell of the experiment ends; quick to ask for."""
        rows = self._store.read(queries.NEWEST, (experiment,))
        return f"{rows[0][0]}-{rows[0][1] or 0}"

    def ended(
        self,
        experiment: str,
        *,
        order: Literal["latest", "slowest"] = "latest",
        failed: bool = False,
        limit: int = 20,
    ) -> pd.DataFrame:
        """Return cells that ended, the latest or the slowest first, or those that failed only."""
        import pandas as pd

        sql = queries.ENDED.format(
            and_status="AND c.status <> 'done'" if failed else "",
            order={"latest": "c.id DESC", "slowest": "c.seconds DESC, c.id"}[order],
        )
        columns = [
            "dataset",
            "fold",
            "method",
            "repeat",
            "status",
            "seconds",
            "error",
            "traceback",
            "finished_at",
        ]
        rows = self._store.read(sql, (experiment, limit))
        frame = pd.DataFrame(rows, columns=[*columns, "cell", *TIMES[1:]])
        return frame.astype({"cpu_seconds": float, "peak_memory": float})

    def warnings(self, experiment: str | None = None) -> pd.DataFrame:
        """Return what the methods warned of: a row for each distinct warning of a cell, with its count.

        Parameters
        ----------
        experiment : str, optional
            Which experiment; all of the store where it is not given.

        Returns
        -------
        DataFrame
            Columns ``experiment, protocol, dataset, fold, method, repeat, category, message,
            count``; empty for a store of an older version, which kept none.
        """
        import pandas as pd

        rows = self._store.read(queries.WARNINGS)
        columns = [
            "experiment",
            "protocol",
            "dataset",
            "fold",
            "method",
            "repeat",
            "category",
            "message",
            "count",
        ]
        frame = pd.DataFrame(rows, columns=columns)
        return (
            frame
            if experiment is None
            else frame[frame["experiment"] == experiment].reset_index(drop=True)
        )

    def ended_counts(self, experiment: str) -> dict[tuple[str, str], int]:
        """Return how many cells of an experiment have a result, by method and protocol; quick to ask for."""
        rows = self._store.read(queries.ENDED_COUNTS, (experiment,))
        return {(method, protocol): count for method, protocol, count in rows}

    def diagnostics(
        self, dataset: str, fold: int, method: str, experiment: str | None = None, repeat: int = 0
    ) -> dict[str, Any]:
        """Return what a method told about its fit, its ``seconds`` of wall time and its ``cpu_seconds``, if known."""
        fitted = self.fitted(dataset, fold, method, experiment, repeat)
        known = {} if math.isnan(fitted.cpu_seconds) else {"cpu_seconds": fitted.cpu_seconds}
        return {**fitted.info, "seconds": fitted.seconds, **known}

    def output(
        self, dataset: str, fold: int, method: str, experiment: str | None = None, repeat: int = 0
    ) -> str:
        """Return what a cell printed, cut to a limit; empty where it printed nothing or nothing was kept."""
        address = self.stored_cell(dataset, fold, method, experiment, repeat)
        rows = self._store.read(queries.OUTPUT, (address.key,))
        return str(rows[0][0]) if rows else ""

    def fitted(
        self, dataset: str, fold: int, method: str, experiment: str | None = None, repeat: int = 0
    ) -> Fitted:
        """Return what the fit of a cell gave."""
        address = self.stored_cell(dataset, fold, method, experiment, repeat)
        fitted = self._store.fitted(address.fit_key)
        if fitted is None:
            raise InputError(f"{method} on {dataset}, fold {fold}, has no result yet")
        return fitted

    def stored_cell(
        self, dataset: str, fold: int, method: str, experiment: str | None = None, repeat: int = 0
    ) -> StoredCell:
        """Return where a cell is in the store; one that is not there, or of several experiments, is refused."""
        named = (dataset, fold, method, repeat)
        where = "p.dataset = ? AND p.fold = ? AND p.method = ? AND p.repeat = ?"
        cells = [
            cell
            for cell in read_cells(self._store, where, named)
            if experiment in (None, cell.experiment)
        ]
        if not cells:
            raise InputError(
                f"no cell of method {method!r} on dataset {dataset!r}, fold {fold}, in"
                f" {self._store.path}"
            )
        if len(cells) > 1:
            names = ", ".join(cell.experiment for cell in cells)
            raise InputError(
                f"several experiments have this cell ({names}): say which with experiment="
            )
        return cells[0]

    def experiments_of(self, kind: str) -> list[str]:
        """Return the experiments whose cells are of a protocol; quick to ask for."""
        return [row[0] for row in self._store.read(EXPERIMENTS_OF, (kind,))]

    def kinds(self) -> list[str]:
        """Return the protocols of the planned cells."""
        return [row[0] for row in self._store.read(KINDS)]


SCORE_COLUMNS = ["experiment", "protocol", "dataset", "fold", "method", "metric", "at", "value"]
GRID_COLUMNS = [*SCORE_COLUMNS[:6], "grid", *SCORE_COLUMNS[6:]]


def score_frame(columns: ScoreColumns, *, repeats: bool, with_grid: bool = False) -> pd.DataFrame:
    """Return scores as a frame, one row per value.

    Parameters
    ----------
    columns : ScoreColumns
        The scores.
    repeats : bool
        Whether the repeats of a method stand row by row; else their mean stands.
    with_grid : bool, default=False
        Whether the grid is a column; else the protocol's name tells the grids of an experiment that
        has several apart.

    Returns
    -------
    DataFrame
        Columns `SCORE_COLUMNS`, with ``repeat`` after the method where asked.
    """
    import pandas as pd

    frame = pd.DataFrame(
        {
            "experiment": _texts(columns.experiment),
            "protocol": _texts(columns.protocol if with_grid else _protocols(columns)),
            "dataset": _texts(columns.dataset),
            "fold": columns.fold,
            "method": _texts(columns.method),
            "repeat": columns.repeat,
            "metric": _texts(columns.metric),
            **({"grid": _texts(columns.grid)} if with_grid else {}),
            "at": columns.at,
            "value": columns.value,
        }
    )
    return (
        frame if repeats else mean_over_repeats(frame, GRID_COLUMNS if with_grid else SCORE_COLUMNS)
    )


def mean_over_repeats(frame: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Return scores with the mean over the seeds of each method in the place of its repeats."""
    if (frame["repeat"] > 0).any():
        frame = frame.groupby(columns[:-1], sort=False, dropna=False)["value"].mean().reset_index()
    return frame[columns]


def _texts(names: Names) -> pd.Series:
    import pandas as pd

    return pd.Series(list(names.distinct), dtype="str").take(names.codes).reset_index(drop=True)


def _protocols(columns: ScoreColumns) -> Names:
    """Tell the rows of a k-grid from those of a p-grid by the protocol, where an experiment has both."""
    grids = len(columns.grid.distinct)
    pairs = np.unique(columns.experiment.codes * grids + columns.grid.codes)
    both = (
        np.bincount(pairs // grids, minlength=len(columns.experiment.distinct)) > 1
        if grids
        else np.zeros(0, bool)
    )
    if not both.any():
        return columns.protocol
    joined = columns.protocol.codes * grids + columns.grid.codes
    plain = tuple(columns.protocol.distinct)
    named = tuple(f"{protocol}-{grid}" for protocol in plain for grid in columns.grid.distinct)
    return Names(
        plain + named,
        np.where(both[columns.experiment.codes], len(plain) + joined, columns.protocol.codes),
    )
