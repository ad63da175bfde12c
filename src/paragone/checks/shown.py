"""What published tables show of a store, and what they hide: a best method behind the digits, metrics and datasets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from paragone.checks.claims import PaperClaim, judge_claim
from paragone.checks.differences import compared_by_names
from paragone.checks.finding import Ledger
from paragone.checks.tables import PublishedNumber, PublishedTable, is_numeric, numbers_in
from paragone.checks.words import counted, share
from paragone.errors import InputError
from paragone.lab.view import View
from paragone.metrics import named_metric

ROUNDING = "the best method behind the printed digits"
LEFT_OUT = "metrics and datasets of the store that tables show"
_WORD = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True)
class Contestant:
    """A method in a row or column of a printed table: what is printed and marked, and what the store has."""

    method: str
    printed: PublishedNumber
    bold: bool
    exact: float


def best_match(table: PublishedTable, means: Iterable[PublishedTable]) -> PublishedTable | None:
    """Return the table of means that a table is about, if half or more of its numbers are roundings of those there."""
    found = [match for one in means if (match := compared_by_names(table, one)) is not None]
    best = max(found, key=lambda match: match.likeness(table), default=None)
    if best is None or 2 * sum(one.kind == "number" for one in best.differences) > best.compared:
        return None
    return best.expected


def contests_of(
    table: PublishedTable, means: PublishedTable
) -> Iterator[tuple[str, list[Contestant]]]:
    """Go through the datasets of a table, each with the methods whose printed numbers are roundings of the store's."""
    exact = {
        (row[0].text, column): numbers_in(cell.text)[0].value
        for row in means.rows
        for column, cell in zip(means.columns[1:], row[1:], strict=True)
        if is_numeric(cell.text)
    }
    found: dict[str, list[Contestant]] = {}
    for row in table.rows:
        for column, cell in zip(table.columns[1:], row[1:], strict=False):
            value = exact.get((row[0].text, column))
            numbers = numbers_in(cell.text) if is_numeric(cell.text) else []
            if value is None or not numbers or not numbers[0].agrees(value):
                continue
            dataset, method = (
                (row[0].text, column) if means.columns[0] == "dataset" else (column, row[0].text)
            )
            found.setdefault(dataset, []).append(Contestant(method, numbers[0], cell.bold, value))
    yield from ((dataset, methods) for dataset, methods in found.items() if len(methods) > 1)


def hidden_best(methods: Sequence[Contestant], higher_is_better: bool) -> str:
    """Say how the print hides which method is best, or nothing where it does not.

    A method that is not the best is marked as it alone; or the best has the printed number of
    another, whose exact one is more than half a unit of the last digit away.

    Examples
    --------
    >>> printed = numbers_in("0.89")[0]
    >>> methods = [Contestant("A", printed, False, 0.8949), Contestant("B", printed, False, 0.8851)]
    >>> hidden_best(methods, True)
    'A and B are both printed as 0.89, the store has 0.8949 and 0.8851'
    >>> hidden_best(methods[:1], True)
    ''
    """
    sign = 1 if higher_is_better else -1
    best = max(methods, key=lambda one: sign * one.exact)
    marked = [one for one in methods if one.bold]
    apart = [
        one for one in marked if abs(one.exact - best.exact) > 1e-9 * max(1.0, abs(best.exact))
    ]
    if marked and len(apart) == len(marked):
        other = apart[0]
        return (
            f"{other.method} is marked as best with {other.printed.text}, the store has"
            f" {other.exact:.6g}, and {best.exact:.6g} for {best.method}"
        )
    for other in methods:
        if other is best or other.printed.value != best.printed.value:
            continue
        # Where the best alone is marked, the table says which it is.
        told = best.bold and not other.bold
        if not told and abs(other.exact - best.exact) > 0.5 * max(
            best.printed.unit, other.printed.unit
        ):
            return (
                f"{best.method} and {other.method} are both printed as {best.printed.text}, the"
                f" store has {best.exact:.6g} and {other.exact:.6g}"
            )
    return ""


def check_rounding(table: PublishedTable, means: Iterable[PublishedTable], ledger: Ledger) -> None:
    """Find datasets where the print hides which method is best, or marks another one (PG309)."""
    about = best_match(table, means)
    if about is None:
        return
    higher = named_metric(about.caption).higher_is_better
    contests = list(contests_of(table, about))
    if higher is None:
        ledger.miss(
            ROUNDING,
            len(contests),
            "datasets",
            f"nobody says whether higher {about.caption} is better",
        )
        return
    ledger.look(ROUNDING, len(contests), "datasets", f"table {table.number}, {about.caption}")
    hidden = [
        (dataset, words) for dataset, methods in contests if (words := hidden_best(methods, higher))
    ]
    if hidden:
        ledger.find(
            "PG309",
            f"table {table.number} ({about.caption}): on"
            f" {share(len(hidden), len(contests), 'datasets')} the print hides which method is"
            " best, or marks another",
            file=table.file,
            count=len(hidden),
            total=len(contests),
            examples=tuple(f"{dataset}: {words}" for dataset, words in hidden),
        )


def check_left_out(
    tables: Sequence[PublishedTable],
    means: Sequence[PublishedTable],
    view: View,
    names: Mapping[str, str],
    ledger: Ledger,
) -> None:
    """Note metrics and datasets of the store that no table shows, and whether the leader leads by those too (PG310)."""
    texts = {text.lower() for table in tables for text in _texts(table)}
    joined = {_plain(text) for text in texts}
    shown = {about.caption for table in tables if (about := best_match(table, means)) is not None}
    scores = view.tidy_scores
    metrics = [str(name) for name in scores["metric"].unique()]
    datasets = [str(name) for name in scores["dataset"].unique()]

    def is_named(metric: str) -> bool:
        # In whatever spelling: a metric that is shown must not be called hidden.
        known = named_metric(metric)
        spelt = {
            _plain(one) for one in (metric, known.title, known.short, names.get(metric, ""))
        } - {""}
        return any(one in text for one in spelt for text in joined)

    def is_told(dataset: str) -> bool:
        spelt = {dataset.lower(), names.get(dataset, "").lower()} - {""}
        return any(
            re.search(rf"(?<!\w){re.escape(one)}(?!\w)", text) for one in spelt for text in texts
        )

    seen = [name for name in metrics if name in shown or is_named(name)]
    told = [name for name in datasets if is_told(name)]
    ledger.look(
        LEFT_OUT,
        len(seen) + len(told),
        "names of metrics and datasets",
        f"of {len(metrics)} and {len(datasets)}",
    )
    if told and len(told) < len(datasets):
        missing = [name for name in datasets if name not in told]
        ledger.find(
            "PG310",
            f"the store holds {counted(len(datasets), 'datasets')}, the tables show {len(told)}:"
            f" without {', '.join(missing)}",
            count=len(missing),
            total=len(datasets),
        )
    if seen and len(seen) < len(metrics):
        missing = [name for name in metrics if name not in seen]
        ledger.find(
            "PG310",
            f"the store holds {counted(len(metrics), 'metrics')}, the tables show {len(seen)}:"
            f" without {', '.join(missing)}",
            count=len(missing),
            total=len(metrics),
            examples=tuple(_verdicts(view, seen[0], missing)),
        )


def _verdicts(view: View, shown: str, missing: Sequence[str]) -> Iterator[str]:
    """Say what the leader by a shown metric is by the metrics that are not shown, against the same rival."""
    higher = named_metric(shown).higher_is_better
    rows = view.tidy_scores[(view.tidy_scores["metric"] == shown).to_numpy()]
    means = (
        rows.groupby(["method", "dataset"], sort=False)["value"]
        .mean()
        .groupby("method", sort=False)
        .mean()
    )
    if higher is None or len(means) < 2:
        return
    if len(view.grids) > 1:
        yield (
            "which method leads there depends on the point of the grid: claim it in a file"
            " (--claims)"
        )
        return
    leader, rival = (
        str(name) for name in means.sort_values(ascending=not higher, kind="stable").index[:2]
    )
    try:
        first = judge_claim(PaperClaim(0, "better", (leader, rival), shown), view)
        others = [
            judge_claim(PaperClaim(0, "better", (leader, rival), name), view) for name in missing
        ]
    except InputError as error:
        yield (
            f"whether {leader} leads there too cannot be said:"
            f" {str(error).removeprefix('claim 0: ')}"
        )
        return
    # What says something else comes first: only a few examples are shown.
    for other in sorted(others, key=lambda one: one.standing == first.standing):
        unlike = other.standing != first.standing
        yield other.sentence + (f"; by a metric that is shown, {first.sentence}" if unlike else "")


def _plain(text: str) -> str:
    return _WORD.sub("", text.lower())


def _texts(table: PublishedTable) -> Iterator[str]:
    yield from (
        table.file.replace("\\", "/").rpartition("/")[2],
        table.caption,
        table.label,
        *table.notes,
    )
    yield from table.columns
    yield from (cell.text for row in table.rows for cell in row if not is_numeric(cell.text))
