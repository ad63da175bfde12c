"""Results: the read side of a store, as tidy tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paragone.errors import unknown_name
from paragone.lab.contents import STATUSES, StoreContents, score_frame
from paragone.lab.protocol import import_protocol, our_kinds
from paragone.lab.store import queries
from paragone.lab.store.records import read_scores
from paragone.lab.summaries import means_as_html, verdict_sentences, warned_groups
from paragone.lab.view import ResultsReader, View, reader_class
from paragone.metrics import asked_name

if TYPE_CHECKING:
    import pandas as pd


class Results(StoreContents):
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

    def run_code(self, experiment: str | None = None) -> None:
        """Import the code of a user's own protocol, which the store names: only for stores that you trust.

        Without it, what that protocol adds to pages and tables is left out.
        """
        names = self.experiments() if experiment is None else [experiment]
        for name in names:
            import_protocol(self.described(name)["protocol"], self.path.resolve().parent)

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
        deriving = [
            kind for kind in self.kinds() if reader_class(kind).derived_scores is not ResultsReader.derived_scores
        ]
        views = [View(self, name) for kind in deriving for name in self.experiments_of(kind)]
        found = [view.reader.derived_scores(view, metric) for view in views]
        return [frame for frame in found if frame is not None and len(frame)]

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
