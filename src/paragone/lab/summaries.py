"""What a store's scores and warnings come to: means, one chart, sentences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from paragone.charts import BLUE, PALETTE, embedded, from_rows, styled
from paragone.lab.contents import StoreContents
from paragone.metrics import named_metric
from paragone.tables import Table, TableCell, format_number, mark_best, to_html
from paragone.ties import loss_order

if TYPE_CHECKING:
    import pandas as pd

MAX_DATASETS = 6
MAX_METHODS = 12
COLUMNS = 3


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
    ['micro_f1, mean over folds']
    """
    metric, protocol = scores[["metric", "protocol"]].iloc[0]
    mine = scores[(scores["metric"] == metric) & (scores["protocol"] == protocol)]
    datasets = list(dict.fromkeys(mine["dataset"]))
    methods = _best(mine, metric)
    shown = mine[mine["dataset"].isin(datasets[:MAX_DATASETS]) & mine["method"].isin(methods)]
    means = shown.groupby(["dataset", "method", "at"], sort=False, dropna=False)["value"].mean().reset_index()
    along = mine["at"].nunique() > 1
    panel = _curves(means, methods, metric) if along else _dots(means, methods, metric)
    left_out = _left_out(len(datasets) - MAX_DATASETS, mine["method"].nunique() - len(methods))
    return styled(panel, f"{metric}, mean over folds", left_out)


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
    parts = [f"{count} more {name}" for count, name in ((datasets, "datasets"), (methods, "methods")) if count > 0]
    return f"not drawn: {' and '.join(parts)}" if parts else ""


def _rows(means: pd.DataFrame) -> list[dict[str, Any]]:
    columns = means[["dataset", "method", "at", "value"]].astype({"at": float, "value": float})
    return [
        {"dataset": str(dataset), "method": str(method), "at": at if at == at else None, "value": value}
        for dataset, method, at, value in columns.itertuples(index=False)
        if value == value
    ]


def _curves(means: pd.DataFrame, methods: list[str], metric: str) -> Any:
    import altair as alt

    colour = alt.Color(
        "method:N", title="method", sort=methods, scale=alt.Scale(domain=methods, range=[*PALETTE, *PALETTE])
    )
    line = from_rows(_rows(means)).mark_line(point=alt.OverlayMarkDef(size=16), strokeWidth=1.6)
    encoded = line.encode(
        x=alt.X("at:Q", title="at", scale=alt.Scale(zero=False, nice=False)),
        y=alt.Y("value:Q", title=metric, scale=alt.Scale(zero=False)),
        color=colour,
    )
    return _panels(encoded.properties(width=210, height=150))


def _dots(means: pd.DataFrame, methods: list[str], metric: str) -> Any:
    import altair as alt

    encoded = (
        from_rows(_rows(means))
        .mark_point(filled=True, size=55, color=BLUE, opacity=1)
        .encode(
            x=alt.X("value:Q", title=metric, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=4)),
            y=alt.Y("method:N", title=None, sort=methods),
        )
    )
    return _panels(encoded.properties(width=210, height=18 * len(methods)))


def _panels(chart: Any) -> Any:
    import altair as alt

    facet = alt.Facet("dataset:N", title=None, sort=None, header=alt.Header(labelLimit=210))
    return chart.facet(facet=facet, columns=COLUMNS).resolve_scale(x="independent", y="independent")


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


def means_as_html(heading: str, scores: pd.DataFrame) -> str:
    """Return a heading, a chart and the mean scores as HTML: best in bold, second underlined."""
    picture = embedded(score_chart(scores), heading) if len(scores) else ""
    tables = [to_html(_shown(frame, metric, protocol)) for (protocol, metric), frame in mean_table(scores).items()]
    # Many variants make a wide table: it scrolls by itself, not the notebook.
    wide = '<div style="overflow-x:auto">' + "\n".join(tables) + "</div>"
    return f"<div><p>{escape(heading)}</p>\n{picture}\n{wide}</div>"


def _shown(means: pd.DataFrame, metric: str, protocol: str) -> Table:
    """Return a frame of means as a table; without a known direction nothing is marked."""
    known = named_metric(metric)
    rows = []
    for row in means.itertuples(index=False):
        texts = [format_number(value) for value in row[1:]]
        cells = mark_best(row[1:], texts, higher_is_better=known.higher_is_better, size=known.score_size)
        rows.append([TableCell(str(row[0])), *cells])
    return Table.of(list(means.columns), rows, caption=f"{metric} ({protocol}), mean over folds and grid")


CONVERGENCE = "ConvergenceWarning"
FOR_DEVELOPERS = ("DeprecationWarning", "ImportWarning", "ResourceWarning")
"""Endings of the classes that Python itself hides from users: they tell nothing about the numbers of a comparison."""
REFIT = "refit"
ONE_LINE = 200
_NUMBERS = re.compile(r"0x[0-9a-fA-F]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


@dataclass(frozen=True)
class Warned:
    """One kind of warning of one method, over all cells of an experiment that have a result.

    Messages that differ in their numbers only are of one kind, and all that say that a fit did not converge.

    Attributes
    ----------
    method, category, message : str
        Whose it is, the class, and the message as it was given first, on one line.
    fits, of_fits : int
        In how many fits of how many; a fit is a cell: one method on one split.
    refits, of_refits : int
        The same for the refits on all training rows of a cross-validation.
    times : int
        How often it was given in all.

    Examples
    --------
    >>> print(Warned("LR", "ConvergenceWarning", "lbfgs failed to converge", 10, 15, 1, 1, 11).sentence)
    LR did not converge in 10 of 15 fits and in 1 of 1 refits.
    >>> print(Warned("LSMFS", "GuardWarning", "it diverged", 2, 3, 0, 0, 2).sentence)
    LSMFS warned in 2 of 3 fits: it diverged
    >>> print(Warned("LSMFS", "GuardWarning", "it diverged", 2, 3, 0, 0, 2).line)
    LSMFS: GuardWarning in 2 of 3 cells: it diverged
    """

    method: str
    category: str
    message: str
    fits: int
    of_fits: int
    refits: int
    of_refits: int
    times: int

    @property
    def cells(self) -> int:
        """In how many cells it was given, refits included."""
        return self.fits + self.refits

    @property
    def of_cells(self) -> int:
        """How many cells of the method have a result."""
        return self.of_fits + self.of_refits

    @property
    def where(self) -> str:
        """In how many fits and refits."""
        fits = f"in {self.fits} of {self.of_fits} fits" if self.fits or not self.refits else ""
        refits = f"in {self.refits} of {self.of_refits} refits" if self.refits else ""
        return " and ".join(part for part in (fits, refits) if part)

    @property
    def sentence(self) -> str:
        """What a verdict says of it."""
        if self.category == CONVERGENCE:
            return f"{self.method} did not converge {self.where}."
        return f"{self.method} warned {self.where}: {self.message}"

    @property
    def line(self) -> str:
        """What a list says of it."""
        return f"{self.method}: {self.category} in {self.cells} of {self.of_cells} cells: {self.message}"

    @property
    def touches_numbers(self) -> bool:
        """Whether a reader of the numbers should know; not where it is for developers of the method only."""
        return not self.category.endswith(FOR_DEVELOPERS)


def warned_groups(
    results: StoreContents, experiment: str, names: Mapping[str, str] | None = None
) -> tuple[Warned, ...]:
    """Put together what the methods of an experiment warned of.

    Parameters
    ----------
    results : Results
        An open store.
    experiment : str
        The experiment's name.
    names : mapping of str to str, optional
        Names to display instead of the declared ones.

    Returns
    -------
    tuple of Warned
        By method in the order of their declaration, what is in most cells first. The variants of a method that a
        cross-validation writes out count together.
    """
    warnings = results.warnings(experiment)
    if warnings.empty:
        return ()
    owners = {
        variant: str(facts.get("method", variant))
        for variant, facts in results.described(experiment)["methods"].items()
    }
    totals: Counter[tuple[str, bool]] = Counter()
    for (variant, protocol), count in results.ended_counts(experiment).items():
        totals[owners.get(variant, variant), protocol == REFIT] += count
    texts = list(zip(warnings["category"], warnings["message"], strict=True))
    kinds = {text: _kind(*text) for text in set(texts)}
    warnings = warnings.assign(
        owner=warnings["method"].map(owners).fillna(warnings["method"]),
        refit=warnings["protocol"] == REFIT,
        kind=[kinds[text] for text in texts],
    )
    shown = names or {}
    found = [
        _group(str(owner), shown.get(str(owner), str(owner)), rows, totals)
        for (owner, _, _), rows in warnings.groupby(["owner", "category", "kind"], sort=False)
    ]
    order = {owner: place for place, owner in enumerate(dict.fromkeys(shown.get(o, o) for o in owners.values()))}
    return tuple(sorted(found, key=lambda group: (order.get(group.method, len(order)), -group.cells)))


def _group(owner: str, shown: str, rows: pd.DataFrame, totals: Mapping[tuple[str, bool], int]) -> Warned:
    cells = rows.drop_duplicates(["dataset", "fold", "method", "repeat"])
    refits = int(cells["refit"].sum())
    return Warned(
        shown,
        one_line(str(rows["category"].iloc[0])),
        one_line(str(rows["message"].iloc[0])),
        len(cells) - refits,
        int(totals.get((owner, False), 0)),
        refits,
        int(totals.get((owner, True), 0)),
        int(rows["count"].sum()),
    )


def verdict_sentences(groups: Iterable[Warned], most: int = 5) -> tuple[str, ...]:
    """Return what a verdict says of warnings: a sentence a kind, methods that warned of the same together.

    Parameters
    ----------
    groups : iterable of Warned
        As `warned_groups` gives them.
    most : int, default=5
        How many sentences at most; one more counts the rest.

    Examples
    --------
    >>> verdict_sentences([Warned(name, "GuardWarning", "set 3 aside", 3, 4, 0, 0, 3) for name in "AB"])
    ('A and B warned in 6 of 8 fits: set 3 aside',)
    >>> verdict_sentences([Warned("LR", "ConvergenceWarning", "gave up", 10, 15, 0, 0, 10)])
    ('LR did not converge in 10 of 15 fits.',)
    """
    together: dict[tuple[str, ...], list[Warned]] = {}
    for group in groups:
        if group.touches_numbers:
            # That a method did not converge is told of each by itself: the reader wants to know how often.
            whose = (group.method,) if group.category == CONVERGENCE else ()
            together.setdefault((*whose, group.category, _kind(group.category, group.message)), []).append(group)
    sentences = [_joined(alike).sentence for alike in sorted(together.values(), key=lambda g: -_joined(g).cells)]
    more = len(sentences) - most
    if more > 0:
        rest = f"{more} more kind{'s' * (more != 1)} of warnings: see the list of failures and warnings."
        return (*sentences[:most], rest)
    return tuple(sentences)


def _joined(groups: list[Warned]) -> Warned:
    names = [group.method for group in groups]
    shown = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    first = groups[0]
    totals = (sum(getattr(g, name) for g in groups) for name in ("fits", "of_fits", "refits", "of_refits", "times"))
    return Warned(shown, first.category, first.message, *totals)


def warning_lines(groups: Iterable[Warned], most: int = 20) -> tuple[str, ...]:
    """Return a line a kind of warning for a list, the last one counting those that are left out."""
    lines = [group.line for group in groups]
    more = len(lines) - most
    return (*lines[:most], *([f"{more} more kinds of warnings"] if more > 0 else ()))


def one_line(text: str, most: int = ONE_LINE) -> str:
    r"""Return a stranger's text on one line, without control characters, cut.

    Examples
    --------
    >>> one_line("lbfgs failed\n   to converge \x1b[31mred")
    'lbfgs failed to converge [31mred'
    """
    plain = " ".join("".join(c if c.isprintable() or c.isspace() else "" for c in text).split())
    return plain if len(plain) <= most else plain[: most - 1] + "…"


def _kind(category: str, message: str) -> str:
    return "" if category == CONVERGENCE else _NUMBERS.sub("#", message)
