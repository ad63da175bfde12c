"""Results: the read side of a store, as tidy tables, and as a notebook shows them."""

from __future__ import annotations

import sys
from html import escape
from typing import TYPE_CHECKING, Any

from paragone.charts import BLUE, PALETTE, embedded, from_rows, styled
from paragone.errors import InputError
from paragone.lab.contents import STATUSES, StoreContents, score_frame
from paragone.lab.grids import mean_table
from paragone.lab.method_seeds import seed_sentences
from paragone.lab.method_warnings import verdict_sentences
from paragone.lab.protocol import import_protocol
from paragone.lab.store import queries
from paragone.lab.store.records import read_scores
from paragone.lab.view import ResultsReader, View, reader_class, reader_of
from paragone.metrics import (
    asked_name,
    metric_title,
    named_metric,
    unknown_metric,
    with_errors,
)
from paragone.registry import imported
from paragone.stats.stored_rows import StoredRows
from paragone.tables import Table, TableCell, format_number, mark_best, to_html
from paragone.ties import loss_order

if TYPE_CHECKING:
    import pandas as pd


MAX_DATASETS = 6
MAX_METHODS = 12
COLUMNS = 3


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

    _derived_from: tuple[View, ...] = ()

    def run_code(self, experiment: str | None = None) -> None:
        """Import a user's own protocol, sections, test and correction, which the store names: for stores you trust.

        Without it, what they add to pages and tables is left out, and nothing is compared by that
        test.
        """
        folder = self.path.resolve().parent
        for name in self._named(experiment):
            import_protocol(self.described(name)["protocol"], folder)
            compared = self.declared_comparison(name)
            sections = self.described(name).get("sections", ())
            if (compared.code_to_import() or sections) and str(folder) not in sys.path:
                sys.path.append(str(folder))
            compared.load()
            for use in sections:
                imported(str(use), "section")

    def scores(self, metric: str | None = None, *, repeats: bool = False) -> pd.DataFrame:
        """Return the scores of all done cells, one row per value.

        Parameters
        ----------
        metric : str, callable or Metric, optional
            Keep one metric only; a cross-validation is scored by any.
        repeats : bool, default=False
            Whether the repeats of a method over seeds stand row by row, with a column ``repeat``;
            else their mean stands.

        Returns
        -------
        DataFrame
            Columns ``experiment, protocol, dataset, fold, method, metric, at, value``. Where an
            experiment has both a k-grid and a p-grid, their rows are told apart by the protocol,
            ``curve-k`` and ``curve-p``.
        """
        import pandas as pd

        known = [row[0] for row in self._store.read(queries.METRICS)]
        metric = asked_name(metric, known)
        derived = self._derived_scores(metric)
        if metric is not None and metric not in known and not derived:
            raise unknown_metric("metric in this store", metric, known or ["(none yet)"])
        frame = score_frame(read_scores(self._store, metric), repeats=repeats)
        derived = [part.assign(repeat=0) for part in derived] if repeats else derived
        found = [part[frame.columns] for part in (frame, *derived) if len(part)]
        return pd.concat(found, ignore_index=True) if derived else frame

    def stored_rows(self, metric: str | None) -> dict[str, StoredRows]:
        """Return what the predictions of the only experiment tell of chance by a metric."""
        if len(self.experiments()) != 1:
            return {}
        # What scores were derived from tells their rows as well, of the same moment of a run.
        (view,) = self._derived_from or (View(self),)
        return view.stored_rows(metric)

    def _derived_scores(self, metric: str | None) -> list[pd.DataFrame]:
        """Return the scores that protocols derive from predictions; none where a metric is of another task."""
        kinds = self._kinds_with("derived_scores")
        names = [name for kind in kinds for name in self.experiments_of(kind)]
        self._derived_from = tuple(View(self, name) for name in names)
        found = [view.reader.derived_scores(view, metric) for view in self._derived_from]
        return [frame for frame in found if frame is not None and len(frame)]

    def reader(self, experiment: str | None = None, *, having: str = "") -> Any:
        """Return what reads back what a protocol alone keeps: rankings of curves, losses of cross-validations.

        Parameters
        ----------
        experiment : str, optional
            Needed where the store holds experiments of several protocols.
        having : str, default=""
            What it must be able to do, as ``"sample_scores"``: experiments whose reader is not are
            passed over.
        """
        kinds = {View(self, name).kind for name in self._named(experiment)}
        kinds = {kind for kind in kinds if not having or hasattr(reader_class(kind), having)}
        if not kinds and having:
            raise InputError(
                f"{self.path} has no {having.replace('_', ' ')}: no protocol here does"
            )
        if len(kinds) != 1:
            raise InputError(
                f"{self.path} holds experiments of {len(kinds)} protocols: say which experiment"
            )
        (kind,) = kinds
        return reader_of(self, kind)

    def holds_given(self) -> bool:
        """Say whether results from elsewhere are kept here."""
        return bool(self._kinds_with("kept_records"))

    def _kinds_with(self, part: str) -> list[str]:
        """Return the kinds of experiments here whose readers have a part of their own."""
        usual = getattr(ResultsReader, part)
        return [kind for kind in self.kinds() if getattr(reader_class(kind), part) is not usual]

    def compares_samples(self) -> bool:
        """Say whether the only experiment is compared on test samples, for want of datasets."""
        if len(self.experiments()) != 1:
            return False
        view = View(self)
        return view.reader.compares_samples(view)

    def _named(self, experiment: str | None) -> list[str]:
        return self.experiments() if experiment is None else [experiment]

    def warned(
        self, experiment: str | None = None, *, method: str | None = None
    ) -> tuple[str, ...]:
        """Return what a verdict should say of accepted leaks and of the methods' warnings, in sentences.

        `warnings` has those of the methods, such as fits that did not converge, row by row.
        """
        lines: list[str] = []
        for name in self._named(experiment):
            view = View(self, name)
            mine = [group for group in view.warned if method in (None, group.method)]
            lines += [*view.accepted_leaks, *verdict_sentences(mine)]
        return tuple(lines)

    def seed_notes(
        self, experiment: str | None = None, *, method: str | None = None
    ) -> tuple[str, ...]:
        """Return whose seed was fixed, and which methods are the same but for it, in sentences."""
        lines: list[str] = []
        for name in self._named(experiment):
            known = self.described(name)["methods"].items()
            lines += seed_sentences({one: facts for one, facts in known if method in (None, one)})
        return tuple(lines)

    def __repr__(self) -> str:
        counts = self.places()["status"].value_counts()
        shown = ", ".join(f"{counts[s]} {s}" for s in STATUSES if s in counts) or "nothing planned"
        return (
            f"Results of {', '.join(self.experiments()) or 'no experiment'} in {self.path.name}:"
            f" {shown}"
        )

    def _repr_html_(self) -> str:
        """Show cells by status and the mean scores in a notebook: best in bold, second underlined."""
        return means_as_html(repr(self), self.scores())


def means_as_html(heading: str, scores: pd.DataFrame) -> str:
    """Return a heading, a chart and the mean scores as HTML: best in bold, second underlined."""
    scores = with_errors(scores)
    picture = embedded(score_chart(scores), heading) if len(scores) else ""
    tables = [
        to_html(_shown(frame, metric, protocol))
        for (protocol, metric), frame in mean_table(scores).items()
    ]
    # Many variants make a wide table: it scrolls by itself, not the notebook.
    wide = '<div style="overflow-x:auto">' + "\n".join(tables) + "</div>"
    return f"<div><p>{escape(heading)}</p>\n{picture}\n{wide}</div>"


def _shown(means: pd.DataFrame, metric: str, protocol: str) -> Table:
    """Return a frame of means as a table; without a known direction nothing is marked."""
    known = named_metric(metric)
    rows = []
    for row in means.itertuples(index=False):
        texts = [format_number(value) for value in row[1:]]
        cells = mark_best(
            row[1:], texts, higher_is_better=known.higher_is_better, size=known.score_size
        )
        rows.append([TableCell(str(row[0])), *cells])
    return Table.of(
        list(means.columns),
        rows,
        caption=f"{metric_title(metric)} ({protocol}), mean over folds and grid",
    )


def score_chart(scores: pd.DataFrame) -> Any:
    """Draw the first metric of the first protocol, one panel a dataset, and say in the title what is left out.

    Parameters
    ----------
    scores : DataFrame
        Tidy scores with at least one row.

    Returns
    -------
    altair chart
        Means over folds: along the grid, or one dot a method.

    Examples
    --------
    >>> import pandas as pd
    >>> row = {"protocol": "curve", "dataset": "d", "fold": 0, "method": "A", "metric": "micro_f1"}
    >>> frame = pd.DataFrame([{**row, "at": 10.0, "value": 0.2}, {**row, "at": 20.0, "value": 0.4}])
    >>> score_chart(frame).to_dict()["title"]["text"]
    ['Micro-F1, mean over folds']
    """
    metric, protocol = scores[["metric", "protocol"]].iloc[0]
    mine = scores[(scores["metric"] == metric) & (scores["protocol"] == protocol)]
    datasets = list(dict.fromkeys(mine["dataset"]))
    methods = _best(mine, metric)
    shown = mine[mine["dataset"].isin(datasets[:MAX_DATASETS]) & mine["method"].isin(methods)]
    means = (
        shown.groupby(["dataset", "method", "at"], sort=False, dropna=False)["value"]
        .mean()
        .reset_index()
    )
    along = mine["at"].nunique() > 1
    panel = _curves(means, methods, metric) if along else _dots(means, methods, metric)
    left_out = _left_out(len(datasets) - MAX_DATASETS, mine["method"].nunique() - len(methods))
    return styled(panel, f"{metric_title(metric)}, mean over folds", left_out)


def _best(scores: pd.DataFrame, metric: str) -> list[str]:
    """Return the methods to draw: all, or where there are many the best by their mean, in the order declared."""
    declared = list(dict.fromkeys(scores["method"]))
    if len(declared) <= MAX_METHODS:
        return declared
    means = scores.groupby("method", sort=False)["value"].mean()
    losses = -means if named_metric(metric).higher_is_better else means
    best = set(means.index[loss_order(losses, size=named_metric(metric).score_size)[:MAX_METHODS]])
    return [method for method in declared if method in best]


def _left_out(datasets: int, methods: int) -> str:
    parts = [
        f"{count} more {name}"
        for count, name in ((datasets, "datasets"), (methods, "methods"))
        if count > 0
    ]
    return f"not drawn: {' and '.join(parts)}" if parts else ""


def _rows(means: pd.DataFrame) -> list[dict[str, Any]]:
    columns = means[["dataset", "method", "at", "value"]].dropna(subset=["value"]).astype(object)
    found: list[dict[str, Any]] = columns.where(columns.notna(), None).to_dict("records")
    return found


def _curves(means: pd.DataFrame, methods: list[str], metric: str) -> Any:
    import altair as alt

    colour = alt.Color(
        "method:N",
        title="method",
        sort=methods,
        scale=alt.Scale(domain=methods, range=[*PALETTE, *PALETTE]),
    )
    line = from_rows(_rows(means)).mark_line(point=alt.OverlayMarkDef(size=16), strokeWidth=1.6)
    encoded = line.encode(
        x=alt.X("at:Q", title="at", scale=alt.Scale(zero=False, nice=False)),
        y=alt.Y("value:Q", title=metric_title(metric), scale=alt.Scale(zero=False)),
        color=colour,
    )
    return _panels(encoded.properties(width=210, height=150))


def _dots(means: pd.DataFrame, methods: list[str], metric: str) -> Any:
    import altair as alt

    encoded = (
        from_rows(_rows(means))
        .mark_point(filled=True, size=55, color=BLUE, opacity=1)
        .encode(
            x=alt.X(
                "value:Q",
                title=metric_title(metric),
                scale=alt.Scale(zero=False),
                axis=alt.Axis(tickCount=4),
            ),
            y=alt.Y("method:N", title=None, sort=methods),
        )
    )
    return _panels(encoded.properties(width=210, height=18 * len(methods)))


def _panels(chart: Any) -> Any:
    import altair as alt

    facet = alt.Facet("dataset:N", title=None, sort=None, header=alt.Header(labelLimit=210))
    return chart.facet(facet=facet, columns=COLUMNS).resolve_scale(x="independent", y="independent")
