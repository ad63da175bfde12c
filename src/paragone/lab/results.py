"""Results: the read side of a store, as tidy tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from paragone.errors import unknown_name
from paragone.lab.places import STATUSES, PlaceResults, score_frame
from paragone.lab.protocol import import_protocol, our_kinds
from paragone.lab.reader import ResultsReader, reader_class, reader_of
from paragone.lab.store import Store, queries
from paragone.lab.store.queries import kept_object, spoilt
from paragone.lab.store.records import read_scores
from paragone.lab.store.runs import RunIdentity
from paragone.lab.summaries import means_as_html, verdict_sentences, warned_groups
from paragone.metrics import FUNCTIONS, asked_name, remember

if TYPE_CHECKING:
    import pandas as pd


class Results(PlaceResults):
    """What a store holds, as tables; safe to use while a run writes.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from paragone.lab.store import Store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "lab.sqlite"
    ...     Store(path, create=True).close()
    ...     with Results.open(path) as results:
    ...         print(results.scores().shape)
    (0, 8)
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        # Names of metrics that are not ours get their title and direction before anybody reads a score.
        for (described,) in store.read(queries.WITH_OWN_METRICS, (FUNCTIONS,)):
            remember(kept_object(store, described, ("protocol",))["protocol"].get(FUNCTIONS, ()))

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

    def described(self, experiment: str | None = None) -> dict[str, Any]:
        """Return what is known of an experiment's declaration: seed, split, protocol, methods."""
        names = self.experiments()
        chosen = experiment or (names[0] if len(names) == 1 else None)
        if chosen not in names:
            raise unknown_name("experiment", str(experiment), names or ["(none yet)"])
        rows = self._store.read(queries.DESCRIBED, (chosen,))
        if not rows:
            raise spoilt(self.path, f"experiment {chosen!r}")
        return kept_object(self._store, rows[0][0], ("name", "seed", "split", "protocol", "methods", "data", "repeats"))

    def run_code(self, experiment: str | None = None) -> None:
        """Import the code of a user's own protocol, which the store names: only for stores that you trust.

        Without it, what that protocol adds to pages and tables is left out.
        """
        names = self.experiments() if experiment is None else [experiment]
        for name in names:
            import_protocol(self.described(name)["protocol"], self.path.resolve().parent)

    def declared(self, experiment: str | None = None) -> str:
        """Return an experiment's declaration as text: its file, or a JSON summary."""
        name = self.described(experiment)["name"]
        rows = self._store.read(queries.DECLARED, (name,))
        if not rows:
            raise spoilt(self.path, f"the declaration of experiment {name!r}")
        return str(rows[0][0])

    def datasets(self, experiment: str | None = None) -> dict[str, dict[str, Any]]:
        """Return what is known of every dataset of an experiment, by name: size, names, notes."""
        name = self.described(experiment)["name"]
        rows = self._store.read(queries.DATASETS, (name,))
        return {dataset: kept_object(self._store, described) for dataset, described in rows}

    def fingerprints(self, experiment: str | None = None) -> dict[str, str]:
        """Return the hash of the content of every dataset of an experiment, by name."""
        name = self.described(experiment)["name"]
        return dict(self._store.read(queries.FINGERPRINTS, (name,)))

    def runs(self) -> pd.DataFrame:
        """Return the runs that wrote into the store: workers, versions and machine, begin, whether it still lives."""
        import pandas as pd

        rows = [
            (run, workers, kept_object(self._store, environment), begun, RunIdentity(*who).lives(beat))
            for run, workers, environment, begun, beat, *who in self._store.read(queries.RUNS)
        ]
        return pd.DataFrame(rows, columns=["run", "workers", "environment", "begun_at", "lives"])

    def scores(self, metric: str | None = None, *, repeats: bool = False) -> pd.DataFrame:
        """Return the scores of all done cells, one row per value.

        Parameters
        ----------
        metric : str, callable or Metric, optional
            Keep one metric only; a cross-validation is scored by any.
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

        metric = asked_name(metric)
        derived = self._derived_scores(metric)
        if metric is not None and not derived:
            known = [row[0] for row in self._store.read(queries.METRICS)]
            if metric not in known:
                raise unknown_name("metric in this store", metric, known or ["(none yet)"])
        frame = score_frame(read_scores(self._store, metric), repeats=repeats)
        derived = [part.assign(repeat=0) for part in derived] if repeats else derived
        found = [part[frame.columns] for part in (frame, *derived) if len(part)]
        return pd.concat(found, ignore_index=True) if derived else frame

    def _derived_scores(self, metric: str | None) -> list[pd.DataFrame]:
        """Return the scores that protocols derive from predictions; none where a metric is of another task."""
        found = []
        for kind in self.kinds():
            reader = reader_of(self, kind)
            if type(reader).derived_scores is not ResultsReader.derived_scores:
                found += [reader.derived_scores(name, metric) for name in self.experiments_of(kind)]
        return [frame for frame in found if frame is not None and len(frame)]

    def experiment_scores(self, experiment: str, *, repeats: bool = False) -> pd.DataFrame:
        """Return the scores of one experiment, with the grid of each in a column ``grid``."""
        kind = str(self.described(experiment)["protocol"]["kind"])
        derived = reader_of(self, kind).derived_scores(experiment, None)
        if derived is not None:
            return derived.assign(grid="", **({"repeat": 0} if repeats else {}))
        frame = score_frame(read_scores(self._store), repeats=repeats, with_grid=True)
        return frame[frame["experiment"] == experiment]

    def __getattr__(self, name: str) -> Any:
        """Ask the readers of our protocols: ``ranking`` is of curves, ``cv_scores`` of cross-validations."""
        if not name.startswith("_"):
            for kind in our_kinds():
                found = reader_class(kind)
                if hasattr(found, name) and not hasattr(ResultsReader, name):
                    return getattr(found(self), name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def warned(self, experiment: str | None = None) -> tuple[str, ...]:
        """Return what a verdict should say of the methods' warnings, such as fits that did not converge, in sentences.

        `warnings` has them row by row.
        """
        names = self.experiments() if experiment is None else [experiment]
        return tuple(line for name in names for line in verdict_sentences(warned_groups(self, name)))

    def __repr__(self) -> str:
        counts = self.places()["status"].value_counts()
        shown = ", ".join(f"{counts[s]} {s}" for s in STATUSES if s in counts) or "nothing planned"
        return f"Results of {', '.join(self.experiments()) or 'no experiment'} in {self.path.name}: {shown}"

    def _repr_html_(self) -> str:
        """Show cells by status and the mean scores in a notebook: best in bold, second underlined."""
        return means_as_html(repr(self), self.scores())


FORMAT, VERSION = "paragone-provenance", 1
ELEMENT = "paragone-provenance"
"""The id of the script element that holds the record in a page."""


def experiment_record(results: Results, experiment: str) -> dict[str, Any]:
    """Return all that `paragone reproduce` needs of an experiment in a store.

    Parameters
    ----------
    results : Results
        An open store.
    experiment : str
        The experiment's name.

    Returns
    -------
    dict
        Its declaration as text, the runs with their provenance, and what identifies the datasets.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from paragone.lab.experiment import Experiment
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "a.sqlite"
    ...     with Experiment(["wine-traits"], {"V": "variance"}, {"folds": 2}, seed=3).run(path, 0) as results:
    ...         record = experiment_record(results, "experiment")
    >>> record["seed"], list(record["datasets"])
    (3, ['wine-traits'])
    """
    described = results.described(experiment)
    runs = results.runs()
    # Runs of a version that did not say whose they were count for every experiment of the store.
    mine = [run for run in runs.itertuples() if run.environment.get("experiment", experiment) == experiment]
    return {
        "format": FORMAT,
        "version": VERSION,
        "experiment": described["name"],
        "seed": described["seed"],
        "declared": results.declared(experiment),
        "data": [str(name) for name in described["data"]],
        "datasets": results.fingerprints(experiment),
        "runs": [
            {"begun_at": run.begun_at, "workers": int(run.workers), "environment": run.environment} for run in mine
        ],
    }
