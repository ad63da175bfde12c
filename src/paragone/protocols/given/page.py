"""The page of results from elsewhere: compared as their files are, with where each comes from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import pandas as pd

from paragone.errors import InputError
from paragone.intake import Collected
from paragone.intake.collect import collect
from paragone.lab.view import View
from paragone.page import Block, Cover, Points, Prose, Section, frame_sheet
from paragone.reporting.compared import ComparisonPart
from paragone.reporting.how import span
from paragone.reporting.words import title_of
from paragone.stats.result import Comparison


def kept_results(view: View) -> Collected:
    """Return the results of an experiment as they were read."""
    return collect(view.reader.kept_records(view) or [])


def shown_results(view: View) -> Collected:
    """Return the results of the methods and datasets that a reader chose."""
    whole = view.of_whole(kept_results)
    if not view.methods and not view.datasets:
        return whole
    parts = []
    for one in whole.parts:
        rows = pd.Series(True, index=one.frame.index)
        for column, chosen in (("method", view.methods), ("dataset", view.datasets)):
            rows &= one.frame[column].isin(chosen) if chosen else True
        if rows.any():
            parts.append(replace(one, frame=one.frame[rows]))
    return replace(whole, parts=tuple(parts))


def _compared(view: View, found: Collected) -> Iterator[tuple[str, Comparison | str]]:
    """Compare by every metric; a metric that cannot be compared gives the sentence that says why."""
    for metric in (
        [view.metric]
        if view.metric
        else list(dict.fromkeys(m for one in found.parts for m in one.metrics))
    ):
        try:
            yield metric, found.compare(metric, reference=view.wanted_reference)
        except InputError as error:
            yield metric, str(error)


def sections(view: View) -> Iterable[Section | Cover]:
    """Return the finding by every metric, its tables and charts, the scores, and where they come from."""
    if view.reader.kept_records(view) is None:
        return
    found = view.once(shown_results)
    parts: list[ComparisonPart] = []
    refused: list[Block] = []
    for metric, result in _compared(view, found):
        tags = {"metric": metric}
        if isinstance(result, str):
            refused.append(Prose((f"{title_of(metric)}: {result}.",), "lead", tags))
        else:
            parts.append(ComparisonPart(result, found.notes, tags, f"_{metric}"))
    yield Section(
        "verdict", "The finding", (*refused, *(block for part in parts for block in part.finding()))
    )
    drawn = [block for part in parts for block in (*part.panels(), *part.charts())]
    yield Section("charts", "Where, and pair by pair", tuple(drawn))
    yield Section(
        "evidence", "Rival by rival", tuple(block for part in parts for block in part.evidence())
    )
    yield Section("answer", "Tables", tuple(block for part in parts for block in part.tables()))
    yield Section("datasets", "Dataset by dataset", _scores(view))
    yield Section("methods", "Methods", (frame_sheet("found", "Results", found.table()),))
    yield Section("origins", "Where the results come from", _origins(found))
    paragraph = _paragraph(found)
    choices = [block for part in parts for block in part.choices()]
    yield Section("how", "How it was compared", (Prose((paragraph,)), *choices))
    yield Cover(paragraph=paragraph, references=())


def _scores(view: View) -> tuple[Block, ...]:
    rows = view.scores.groupby(["metric", "dataset", "method"], sort=False)["value"]
    # A score that is missing makes the mean missing: a mean over the others would be of easier
    # ones.
    table = rows.agg(mean=lambda values: values.mean(skipna=False), scores="size").reset_index()
    blocks = []
    for metric in table["metric"].unique():
        mine = table[table["metric"] == metric].drop(columns="metric")
        sheet = frame_sheet(f"scores_{metric}", f"{title_of(metric)}: means", mine, decimals=4)
        blocks.append(replace(sheet, tags={"metric": metric}))
    return tuple(blocks)


def _origins(found: Collected) -> tuple[Block, ...]:
    files = [
        (", ".join(one.methods), one.reader, *file)
        for one in found.parts
        for file in one.kept_files
    ]
    table = pd.DataFrame(
        files, columns=["methods", "format", "file", "bytes", "sha256"]
    ).drop_duplicates()
    notes = (Points(found.notes),) if found.notes else ()
    return (*notes, frame_sheet("files", "Files", table))


def _paragraph(found: Collected) -> str:
    n_methods, n_datasets = len(found.methods), len(found.datasets)
    files = {row for one in found.parts for row in one.kept_files}
    formats = ", ".join(sorted({one.reader for one in found.parts}))
    rows = span([len(one.frame) for one in found.parts])
    return (
        f"Results of {n_methods} method{'s' * (n_methods != 1)} on {n_datasets}"
        f" dataset{'s' * (n_datasets != 1)} were measured elsewhere and read from {len(files)}"
        f" file{'s' * (len(files) != 1)} ({formats}; {rows} rows a source). They are shown and"
        " compared as they were given; nothing was run."
    )
