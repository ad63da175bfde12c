"""Results: the read side of a store, as tidy tables."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from paragone.cells import Parts
from paragone.directions import higher_is_better
from paragone.errors import InputError, unknown_name
from paragone.protocols.predictions import CurvePredictions
from paragone.results_crossval import CrossvalResults
from paragone.results_topk import TopKResults
from paragone.store import Store, truth_key
from paragone.store.arrays import unpack
from paragone.store.runs import RunIdentity
from paragone.tables import Cell, Table, format_number, mark_best, to_html
from paragone.validation import IntArray

if TYPE_CHECKING:
    import pandas as pd

SCORE_COLUMNS = ["experiment", "protocol", "dataset", "fold", "method", "metric", "at", "value"]
STATUSES = ("done", "failed", "timeout", "running", "stale", "missing")

SCORES = """
SELECT e.name, p.protocol, p.dataset, p.fold, p.method, p.repeat, m.metric, m.grid, s.at, s.value
FROM plan p
JOIN experiments e ON e.id = p.experiment_id
JOIN cells c USING (key)
JOIN scores s ON s.cell_id = c.id
JOIN measures m ON m.id = s.measure_id
WHERE p.current = 1 AND c.status = 'done' {and_metric}
ORDER BY p.experiment_id, p.position, s.position
"""
FAILURES = """
SELECT e.name, p.dataset, p.fold, p.method, p.repeat, c.status, c.error, c.traceback, c.seconds
FROM plan p JOIN experiments e ON e.id = p.experiment_id JOIN cells c USING (key)
WHERE p.current = 1 AND c.status <> 'done'
ORDER BY p.experiment_id, p.position
"""
PLACES = """
SELECT e.name, p.dataset, p.fold, p.method, p.repeat, p.key, c.status, c.error, c.seconds, c.notes, f.seconds
FROM plan p JOIN experiments e ON e.id = p.experiment_id
LEFT JOIN cells c USING (key) LEFT JOIN fits f ON f.fit_key = c.fit_key
WHERE p.current = 1
ORDER BY p.experiment_id, p.position
"""
RUNS = """
SELECT id, workers, environment, begun_at, beat, host, pid, process_start FROM runs ORDER BY id
"""
DATASETS = """
SELECT DISTINCT p.dataset, d.described FROM plan p
JOIN experiments e ON e.id = p.experiment_id JOIN datasets d USING (data_part)
WHERE p.current = 1 AND e.name = ? ORDER BY p.position
"""
COUNTS = """
SELECT c.status, count(*), sum(c.seconds) FROM plan p JOIN experiments e ON e.id = p.experiment_id
LEFT JOIN cells c USING (key) WHERE p.current = 1 AND e.name = ? GROUP BY c.status
"""
ENDED = """
SELECT p.dataset, p.fold, p.method, p.repeat, c.status, c.seconds, c.error, c.traceback, c.finished_at, c.id
FROM plan p JOIN experiments e ON e.id = p.experiment_id JOIN cells c USING (key)
WHERE p.current = 1 AND e.name = ? {and_status} ORDER BY {order} LIMIT ?
"""
ONE_CELL = """
SELECT e.name, p.key, p.fit_key, p.data_part, p.split_part, p.method_part, p.protocol_part,
       p.version_part, p.seed_part
FROM plan p JOIN experiments e ON e.id = p.experiment_id
WHERE p.current = 1 AND p.dataset = ? AND p.fold = ? AND p.method = ? AND p.repeat = ?
"""


@dataclass(frozen=True)
class _Address:
    experiment: str
    key: str
    fit_key: str
    parts: Parts


def mean_table(scores: pd.DataFrame) -> dict[tuple[str, str], pd.DataFrame]:
    """Return, for every protocol and metric, the mean over folds and grid: datasets down, methods across.

    Examples
    --------
    >>> import pandas as pd
    >>> row = {"protocol": "curve", "dataset": "d", "method": "A", "metric": "micro_f1", "fold": 0}
    >>> frame = pd.DataFrame([{**row, "at": 10, "value": 0.2}, {**row, "at": 20, "value": 0.4}])
    >>> print(mean_table(frame)["curve", "micro_f1"]["A"][0].round(10))
    0.3
    """
    tables = {}
    for (protocol, metric), rows in scores.groupby(["protocol", "metric"], sort=False):
        per_fold = rows.groupby(["dataset", "method", "fold"], sort=False)["value"].mean()
        means = per_fold.groupby(["dataset", "method"], sort=False).mean().unstack("method", sort=False)
        tables[protocol, metric] = means.reset_index().rename_axis(columns=None)
    return tables


class Results(CrossvalResults, TopKResults):
    """What a store holds, as tables; safe to use while a run writes.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from paragone.store import Store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "lab.sqlite"
    ...     Store(path, create=True).close()
    ...     with Results.open(path) as results:
    ...         print(results.scores().shape)
    (0, 8)
    """

    def __init__(self, store: Store) -> None:
        self._store = store

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
    def path(self) -> Path:
        """The store's file."""
        return self._store.path

    def experiments(self) -> list[str]:
        """Return the names of the experiments in the store."""
        return [row[0] for row in self._store.read("SELECT name FROM experiments ORDER BY id")]

    def described(self, experiment: str | None = None) -> dict[str, Any]:
        """Return what is known of an experiment's declaration: seed, split, protocol, methods."""
        names = self.experiments()
        chosen = experiment or (names[0] if len(names) == 1 else None)
        if chosen not in names:
            raise unknown_name("experiment", str(experiment), names or ["(none yet)"])
        rows = self._store.read("SELECT described FROM experiments WHERE name = ?", (chosen,))
        found: dict[str, Any] = json.loads(rows[0][0])
        return found

    def declared(self, experiment: str | None = None) -> str:
        """Return an experiment's declaration as text: its file, or a JSON summary."""
        name = self.described(experiment)["name"]
        return str(self._store.read("SELECT declared FROM experiments WHERE name = ?", (name,))[0][0])

    def datasets(self, experiment: str | None = None) -> dict[str, dict[str, Any]]:
        """Return what is known of every dataset of an experiment, by name: size, names, notes."""
        name = self.described(experiment)["name"]
        return {dataset: json.loads(described) for dataset, described in self._store.read(DATASETS, (name,))}

    def runs(self) -> pd.DataFrame:
        """Return the runs that wrote into the store: workers, versions and machine, begin, whether it still lives."""
        import pandas as pd

        rows = [
            (run, workers, json.loads(environment), begun, RunIdentity(*who).lives(beat))
            for run, workers, environment, begun, beat, *who in self._store.read(RUNS)
        ]
        return pd.DataFrame(rows, columns=["run", "workers", "environment", "begun_at", "lives"])

    def scores(self, metric: str | None = None, *, repeats: bool = False) -> pd.DataFrame:
        """Return the scores of all done cells, one row a value.

        Parameters
        ----------
        metric : str, optional
            Keep one metric only.
        repeats : bool, default=False
            Whether the repeats of a method over seeds stand row by row, with a column ``repeat``; else their
            mean stands.

        Returns
        -------
        DataFrame
            Columns ``experiment, protocol, dataset, fold, method, metric, at, value``. Where an experiment
            has both a k-grid and a p-grid, their rows are told apart by the protocol, ``curve-k`` and
            ``curve-p``.
        """
        import pandas as pd

        derived = self._crossval_scores(metric)
        if metric is not None and not derived:
            known = [row[0] for row in self._store.read("SELECT DISTINCT metric FROM measures")]
            if metric not in known:
                raise unknown_name("metric in this store", metric, known or ["(none yet)"])
        sql = SCORES.format(and_metric="" if metric is None else "AND m.metric = ?")
        rows = self._store.read(sql, () if metric is None else (metric,))
        columns = [*SCORE_COLUMNS[:5], "repeat", "metric", "grid", "at", "value"]
        frame = pd.DataFrame(rows, columns=columns).astype({"at": float, "value": float})
        both = frame.groupby("experiment")["grid"].transform("nunique") > 1
        frame.loc[both, "protocol"] = frame["protocol"] + "-" + frame["grid"]
        if repeats:
            columns = [*SCORE_COLUMNS[:5], "repeat", *SCORE_COLUMNS[5:]]
            derived = [part.assign(repeat=0) for part in derived]
        else:
            columns = SCORE_COLUMNS
            if (frame["repeat"] > 0).any():
                means = frame.groupby(SCORE_COLUMNS[:-1], sort=False, dropna=False)["value"].mean()
                frame = means.reset_index()
        found = [part[columns] for part in (frame, *derived) if len(part)]
        return pd.concat(found, ignore_index=True) if derived else frame[columns]

    def failures(self) -> pd.DataFrame:
        """Return the cells that failed or ran out of time, with error and traceback."""
        import pandas as pd

        columns = ["experiment", "dataset", "fold", "method", "repeat", "status", "error", "traceback", "seconds"]
        return pd.DataFrame(self._store.read(FAILURES), columns=columns)

    def places(self) -> pd.DataFrame:
        """Return every planned cell with its status: done, failed, timeout, running, stale or missing.

        The column ``why`` says what changed where a result is stale, and the error where one failed.
        """
        import pandas as pd

        columns = ["experiment", "dataset", "fold", "method", "repeat", "key", "status", "why", "seconds", "notes"]
        rows = self._store.read(PLACES)
        frame = pd.DataFrame(rows, columns=[*columns, "fit_seconds"])
        running = frame["status"].isna() & frame["key"].isin(self._store.running())
        changed = self._changes()
        places = frame[["experiment", "dataset", "fold", "method", "repeat"]].itertuples(index=False, name=None)
        reasons = pd.Series([changed.get(place, "") for place in places], index=frame.index, dtype=object)
        stale = frame["status"].isna() & ~running & (reasons != "")
        frame.loc[running, "status"] = "running"
        frame.loc[stale, "status"] = "stale"
        frame.loc[stale, "why"] = reasons[stale] + " changed"
        frame["status"] = frame["status"].fillna("missing")
        frame["why"] = frame["why"].fillna("")
        return frame

    def _changes(self) -> dict[tuple[str, str, int, str, int], str]:
        """Name the parts that changed at every place whose newest result is not of the current plan."""
        found = {}
        for experiment in self.experiments():
            earlier = self._store.earlier_parts(experiment)
            for place, parts in self._store.planned_parts(experiment).items():
                if place in earlier and earlier[place] != parts:
                    found[(experiment, *place)] = ", ".join(parts.changed(earlier[place]))
        return found

    def counts(self, experiment: str) -> dict[str, int]:
        """Return how many cells of an experiment have which status; ``missing`` counts stale ones too.

        Quicker than :meth:`places`, for whoever asks again and again.
        """
        rows = self._store.read(COUNTS, (experiment,))
        counts = {status or "missing": int(count) for status, count, _ in rows}
        claimed = set(self._store.running())
        if claimed and counts.get("missing"):
            open_keys = self._store.read(
                "SELECT p.key FROM plan p JOIN experiments e ON e.id = p.experiment_id LEFT JOIN cells c USING (key) "
                "WHERE p.current = 1 AND e.name = ? AND c.key IS NULL",
                (experiment,),
            )
            running = len(claimed & {row[0] for row in open_keys})
            counts["running"] = running
            counts["missing"] -= running
        return {status: counts[status] for status in STATUSES if counts.get(status)}

    def version(self, experiment: str) -> str:
        """Return a text that changes whenever a cell of the experiment ends; quick to ask for."""
        rows = self._store.read(
            "SELECT count(c.id), max(c.id) FROM plan p JOIN experiments e ON e.id = p.experiment_id "
            "JOIN cells c USING (key) WHERE p.current = 1 AND e.name = ?",
            (experiment,),
        )
        return f"{rows[0][0]}-{rows[0][1] or 0}"

    def ended(
        self, experiment: str, *, order: Literal["latest", "slowest"] = "latest", failed: bool = False, limit: int = 20
    ) -> pd.DataFrame:
        """Return cells that ended, the latest or the slowest first, or those that failed only."""
        import pandas as pd

        sql = ENDED.format(
            and_status="AND c.status <> 'done'" if failed else "",
            order={"latest": "c.id DESC", "slowest": "c.seconds DESC, c.id"}[order],
        )
        columns = ["dataset", "fold", "method", "repeat", "status", "seconds", "error", "traceback", "finished_at"]
        return pd.DataFrame(self._store.read(sql, (experiment, limit)), columns=[*columns, "cell"])

    def ranking(self, dataset: str, fold: int, method: str, experiment: str | None = None, repeat: int = 0) -> IntArray:
        """Return a feature ranking: 0-based feature indices, best first."""
        return np.asarray(self._fitted(dataset, fold, method, experiment, repeat).arrays["ranking"], dtype=np.int64)

    def diagnostics(
        self, dataset: str, fold: int, method: str, experiment: str | None = None, repeat: int = 0
    ) -> dict[str, Any]:
        """Return what a method told about its fit, and the seconds it took."""
        fitted = self._fitted(dataset, fold, method, experiment, repeat)
        return {**fitted.info, "seconds": fitted.seconds}

    def _fitted(self, dataset: str, fold: int, method: str, experiment: str | None, repeat: int) -> Any:
        address = self._address(dataset, fold, method, experiment, repeat)
        fitted = self._store.fitted(address.fit_key)
        if fitted is None:
            raise InputError(f"{method} on {dataset}, fold {fold}, has no result yet")
        return fitted

    def predictions(
        self, dataset: str, fold: int, method: str, k: int | None = None, experiment: str | None = None, repeat: int = 0
    ) -> pd.DataFrame:
        """Return the stored predictions of a cell on its test rows, one row a sample and label.

        Parameters
        ----------
        dataset, fold, method : str, int, str
            The cell.
        k : int, optional
            Keep one number of features only.
        experiment : str, optional
            Needed where several experiments of the store have such a cell.
        repeat : int, default=0
            Which of the seeds, where the method is repeated over several.

        Returns
        -------
        DataFrame
            Columns ``k, sample, label, y_true, y_pred, score``; ``sample`` is the row number in the dataset.
        """
        import pandas as pd

        address = self._address(dataset, fold, method, experiment, repeat)
        if address.experiment in self.topk_experiments():
            raise InputError(f"experiment {address.experiment!r} keeps lists: ask for recommendations or sample_scores")
        rows = self._store.read(
            "SELECT payload FROM predictions JOIN cells ON cells.id = cell_id WHERE key = ?", (address.key,)
        )
        if not rows:
            raise InputError(f"{method} on {dataset}, fold {fold}, has no stored predictions")
        predictions = CurvePredictions.from_bytes(rows[0][0])
        points = [i for i, n in enumerate(predictions.ks) if k is None or n == k]
        if not points:
            raise InputError(f"no predictions at k = {k}: there are {predictions.ks.tolist()}")
        y_true, samples, labels = self._truth(address)
        n_rows, n_labels = y_true.shape
        frames = [
            pd.DataFrame(
                {
                    "k": int(predictions.ks[point]),
                    "sample": np.repeat(samples, n_labels),
                    "label": np.tile(np.asarray(labels, dtype=object), n_rows),
                    "y_true": y_true.ravel(),
                    "y_pred": predictions.labels(point).ravel(),
                    "score": np.nan if scores is None else scores.ravel(),
                }
            )
            for point in points
            for scores in [predictions.scores(point)]
        ]
        return pd.concat(frames, ignore_index=True)

    def _truth(self, address: _Address) -> tuple[Any, IntArray, list[str]]:
        parts = address.parts
        payload = self._store.read("SELECT payload FROM truths WHERE truth_key = ?", (truth_key(parts),))
        test = self._store.read("SELECT test FROM splits WHERE split_part = ?", (parts.split,))
        described = self._store.read("SELECT described FROM datasets WHERE data_part = ?", (parts.data,))
        samples = np.frombuffer(test[0][0], dtype="<i8").astype(np.int64)
        return unpack(payload[0][0])["y"], samples, json.loads(described[0][0])["target_names"]

    def _address(self, dataset: str, fold: int, method: str, experiment: str | None, repeat: int) -> _Address:
        rows = self._store.read(ONE_CELL, (dataset, fold, method, repeat))
        if experiment is not None:
            rows = [row for row in rows if row[0] == experiment]
        if not rows:
            raise InputError(f"no cell of method {method!r} on dataset {dataset!r}, fold {fold}, in {self.path}")
        if len(rows) > 1:
            names = ", ".join(row[0] for row in rows)
            raise InputError(f"several experiments have this cell ({names}): say which with experiment=")
        name, key, fit_key, *parts = rows[0]
        return _Address(name, key, fit_key, Parts(*parts))

    def __repr__(self) -> str:
        counts = self.places()["status"].value_counts()
        shown = ", ".join(f"{counts[s]} {s}" for s in STATUSES if s in counts) or "nothing planned"
        return f"Results of {', '.join(self.experiments()) or 'no experiment'} in {self.path.name}: {shown}"

    def _repr_html_(self) -> str:
        """Show cells by status and the mean scores in a notebook: best in bold, second underlined."""
        tables = [
            to_html(_shown(frame, metric, protocol)) for (protocol, metric), frame in mean_table(self.scores()).items()
        ]
        return f"<div><p>{escape(repr(self))}</p>\n" + "\n".join(tables) + "</div>"


def _shown(means: pd.DataFrame, metric: str, protocol: str) -> Table:
    """Return a frame of means as a table; without a known direction nothing is marked."""
    higher = higher_is_better(metric)
    rows = []
    for row in means.itertuples(index=False):
        texts = [format_number(value) for value in row[1:]]
        cells = [Cell(text) for text in texts] if higher is None else mark_best(row[1:], texts, higher_is_better=higher)
        rows.append([Cell(str(row[0])), *cells])
    return Table.of(list(means.columns), rows, caption=f"{metric} ({protocol}), mean over folds and grid")
