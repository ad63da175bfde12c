"""What went wrong, and what a reader must know: failures with their tracebacks, gaps, notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from paragone.reporting.page_model import Block, Listing, Points, Prose, Sheet
from paragone.reporting.views import View
from paragone.reporting.wording import Wording
from paragone.results import STATUSES, Results
from paragone.results.warned import Warned, verdict_sentences, warned_groups
from paragone.store.kept import notes_of
from paragone.tables import Column, Table

if TYPE_CHECKING:
    import pandas as pd

LISTED = 200
TRACEBACKS = 20


def trouble(results: Results, experiment: str, views: Sequence[View], wording: Wording) -> tuple[Block, ...]:
    """Return everything that did not go as planned, or a sentence that nothing did not."""
    warned = warned_groups(results, experiment, wording.names)
    places = results.places()
    places = places[places["experiment"] == experiment]
    failures = results.failures()
    failures = failures[failures["experiment"] == experiment]
    blocks: list[Block] = [Prose((_counts(places),))]
    if len(failures):
        blocks += [_failures(failures, wording), *_tracebacks(failures, wording)]
    if warned:
        blocks += [Points(verdict_sentences(warned, LISTED)), _warned(warned)]
    lines = [*_notes(places, wording), *_warnings(views)]
    if lines:
        blocks.append(Points(tuple(lines)))
    unknown = int((places["seconds"].notna() & ~places["costs_kept"]).sum())
    if unknown:
        blocks.append(Prose((_not_kept(unknown, len(failures)),)))
    elif failures.empty and not lines and not warned:
        blocks.append(Prose(("There are no failures and no warnings.",)))
    return tuple(blocks)


def _not_kept(cells: int, failed: int) -> str:
    none = "" if failed else "There are no failures. "
    whose = f"{cells} cell{'s' * (cells != 1)}"
    return (
        f"{none}What the methods warned of is not known of {whose}: an older version, which did not keep it, ran them."
    )


def _warned(groups: Sequence[Warned]) -> Sheet:
    rows = [
        [group.method, group.category, f"{group.cells} of {group.of_cells}", str(group.times), group.message]
        for group in groups[:LISTED]
    ]
    numbers = tuple((None, None, float(g.cells), float(g.times), None) for g in groups[:LISTED])
    left_out = len(groups) - len(rows)
    caption = (
        "What the methods warned of: in how many of their cells that have a result, refits included, and how often in "
        "all. Messages that differ in their numbers only count together; the first one is shown."
    )
    caption += f" {left_out} more kinds are not listed." if left_out else ""
    columns: list[str | Column] = [Column("method", "left"), Column("warning", "left"), "cells", "times"]
    return Sheet(
        "warnings", "Warnings", Table.of([*columns, Column("message", "left")], rows, caption=caption), numbers
    )


def _counts(places: pd.DataFrame) -> str:
    counts = places["status"].value_counts()
    shown = ", ".join(f"{counts[status]} {status}" for status in STATUSES if status in counts)
    return f"{len(places)} cells: {shown}."


def _failures(failures: pd.DataFrame, wording: Wording) -> Sheet:
    rows = [
        [
            wording.name(row.method),
            wording.name(row.dataset),
            f"{row.fold}" + (f", seed {row.repeat}" if row.repeat else ""),
            row.status,
            row.error,
            f"{row.seconds:.2f}",
        ]
        for row in failures.head(LISTED).itertuples()
    ]
    columns: list[str | Column] = [Column(n, "left") for n in ("method", "dataset", "fold", "status", "error")]
    left_out = len(failures) - len(rows)
    caption = "Cells that failed or ran out of time." + (f" {left_out} more are not listed." if left_out else "")
    numbers = tuple((*(None,) * 5, float(row.seconds)) for row in failures.head(LISTED).itertuples())
    return Sheet("failures", "Failed cells", Table.of([*columns, "wall s"], rows, caption=caption), numbers)


def _tracebacks(failures: pd.DataFrame, wording: Wording) -> list[Block]:
    """Return each distinct traceback once, with the number of cells that ended so."""
    distinct = failures[failures["traceback"] != ""].groupby("traceback", sort=False)
    blocks: list[Block] = []
    for traceback, rows in list(distinct)[:TRACEBACKS]:
        first = rows.iloc[0]
        where = f"{wording.name(first['method'])} on {wording.name(first['dataset'])}, fold {first['fold']}"
        more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
        blocks.append(Listing(f"Traceback of {where}{more}", str(traceback)))
    if len(distinct) > TRACEBACKS:
        blocks.append(Prose((f"{len(distinct) - TRACEBACKS} more kinds of traceback: paragone status --tracebacks",)))
    return blocks


def _notes(places: pd.DataFrame, wording: Wording) -> list[str]:
    notes: Counter[str] = Counter()
    for row in places[places["notes"].notna()].itertuples():
        notes.update(f"{wording.name(row.dataset)}: {note}" for note in notes_of(row.notes))
    lines = [f"{text} ({count} cells)" for text, count in notes.items()]
    stale = places.loc[places["status"] == "stale", "why"].value_counts()
    return [*lines, *(f"{count} results are stale: {why}" for why, count in stale.items())]


def _warnings(views: Sequence[View]) -> list[str]:
    found = [text for view in views if view.comparison for text in view.comparison.warnings]
    return list(dict.fromkeys([*found, *(view.refusal for view in views if view.refusal)]))


def warned_words(results: Results, experiment: str, wording: Wording) -> tuple[Block, ...]:
    """Return what a verdict must say of the methods' warnings, a paragraph each."""
    sentences = verdict_sentences(warned_groups(results, experiment, wording.names))
    return tuple(Prose((sentence,), "warning") for sentence in sentences)
