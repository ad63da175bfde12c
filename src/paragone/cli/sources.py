"""Where scores on the command line come from: a score file, a folder with one, or a store."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from paragone.errors import InputError, unknown_name

if TYPE_CHECKING:
    import pandas as pd

    from paragone.lab.results import Results
    from paragone.reporting.compared import WhatWasRead
    from paragone.stats.designs import Design

GROUP = "group"
STORES = (".sqlite", ".sqlite3", ".db")


def is_store(path: str) -> bool:
    """Tell by its ending whether a path is that of a store."""
    return Path(path).suffix.lower() in STORES


def open_scores(path: str) -> pd.DataFrame | Results:
    """Return the scores behind a path: a DataFrame, or the results of a store."""
    if is_store(path):
        return open_results(path)
    from paragone.stats.intake import read_frame

    return read_frame(Path(path))


def open_results(path: str) -> Results:
    """Return the results of a store."""
    file = Path(path)
    if not file.is_file():
        raise InputError(f"there is no store {file}")
    from paragone.lab.results import Results

    return Results.open(file)


def import_from_here(*names: str | None) -> None:
    """Let a ``module:name`` that the user gave be found in the current folder, as it is beside an experiment's file."""
    # Without one nothing is imported from there: the folder may be a stranger's, who put a store
    # into it.
    if any(name and ":" in name for name in names) and os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())


def what_was_read(*sources: str) -> WhatWasRead:
    """Return the files behind what the user named, each with its size and hash."""
    from paragone.intake import Source
    from paragone.intake.files import file_facts
    from paragone.reporting.compared import WhatWasRead

    paths = []
    for source in sources:
        path = Path(split_name(source)[0]).expanduser()
        # NAME=PATH names a method.
        paths.append(
            path if path.exists() else Path(source.partition("=")[2] or source).expanduser()
        )
    return WhatWasRead(file_facts(Source(path) for path in paths if path.exists()))


def split_name(source: str) -> tuple[str, str | None]:
    """Split ``file.csv::NAME`` into the path and the name of a method or column.

    Examples
    --------
    >>> split_name("lab.sqlite::DAGFS"), split_name("a.csv")
    (('lab.sqlite', 'DAGFS'), ('a.csv', None))
    """
    path, _, name = source.rpartition("::")
    return (path, name) if path else (source, None)


def direction_flag(higher: bool, lower: bool) -> bool | None:
    """Turn the two flags into a direction, None where neither was given.

    Examples
    --------
    >>> direction_flag(True, False), direction_flag(False, False)
    (True, None)
    """
    if higher and lower:
        raise InputError("choose one of --higher-is-better and --lower-is-better")
    return True if higher else False if lower else None


def chart_formats(text: str) -> tuple[str, ...]:
    """Split a list of chart formats such as ``svg,pdf``; an empty text draws no charts.

    Examples
    --------
    >>> chart_formats("svg, png"), chart_formats("")
    (('svg', 'png'), ())
    """
    return tuple(part.strip().lower().lstrip(".") for part in text.split(",") if part.strip())


@dataclass(frozen=True)
class TwoSides:
    """Two Series of scores, what they are called, the metric both are, and what their stores say of them."""

    a: pd.Series
    b: pd.Series
    name_a: str
    name_b: str
    metric: str | None
    warned: tuple[str, ...] = ()
    design: Design | None = None
    higher_is_better: bool | None = None
    """The direction, where what was read says it and the metric's name alone does not."""


def read_two_sides(
    a: str, b: str, *, metric: str | None, key: str | None, at: float | None, row: str | None = None
) -> TwoSides:
    """Read both sides of a pairwise comparison; names come from ``::NAME``, the file or its folder."""
    (path_a, method_a), (path_b, method_b) = split_name(a), split_name(b)
    if holds_runs(path_a) and holds_runs(path_b):
        return _two_folders((path_a, method_a), (path_b, method_b), metric, key, row)
    if row is not None:
        raise InputError("--row is for folders of runs")
    first, metric_a, design = _side(path_a, method_a, metric, key, at)
    second, metric_b, other = _side(path_b, method_b, metric, key, at)
    if metric_a != metric_b:
        raise InputError(
            f"{a} holds {metric_a or 'an unnamed metric'} and {b} {metric_b or 'an unnamed metric'}"
        )
    names = [method_a or Path(path_a).stem, method_b or Path(path_b).stem]
    if names[0] == names[1]:
        folders = [Path(path).resolve().parent.name for path in (path_a, path_b)]
        names = [f"{folder}/{name}" for folder, name in zip(folders, names, strict=True)]
    warned = dict.fromkeys([*_warned(path_a, method_a), *_warned(path_b, method_b)])
    return TwoSides(
        first,
        second,
        names[0],
        names[1],
        metric_a,
        tuple(warned),
        design if design == other else None,
    )


def holds_runs(path: str) -> bool:
    """Say whether a path is a folder of runs, and not one with a single table of scores."""
    folder = Path(path)
    if not folder.is_dir():
        return False
    from paragone.intake import Source
    from paragone.intake.reader import reader_of_results

    found = reader_of_results(Source(folder))
    return found is not None and found.name == "runs"


def _two_folders(
    a: tuple[str, str | None],
    b: tuple[str, str | None],
    metric: str | None,
    key: str | None,
    row: str | None,
) -> TwoSides:
    """Read two folders with a result per fold, subject or seed; a name behind ``::`` picks one of several methods."""
    from paragone.intake import Asked, read_results
    from paragone.intake.joining import check_conditions

    asked = Asked(metric=metric, unit=key, row=row)
    sides = []
    for path, method in (a, b):
        found = read_results(path, reader="runs", asked=asked)
        if len(found.methods) > 1 and method is None:
            raise InputError(
                f"{path} holds {len(found.methods)} methods: choose one with ::NAME"
                f" ({found.methods[0]})"
            )
        if method is not None and method not in found.methods:
            raise unknown_name("method", method, found.methods)
        sides.append((found, method or found.methods[0]))
    (first, name_a), (second, name_b) = sides
    chosen, other = first.choose_metric(metric), second.choose_metric(metric)
    if chosen != other:
        raise InputError(f"{a[0]} holds {chosen} and {b[0]} {other}")
    if name_a == name_b:
        name_a, name_b = (f"{Path(path).resolve().parent.name}/{name_a}" for path, _ in (a, b))
    notes = dict.fromkeys(
        [*first.notes, *second.notes, *check_conditions([*first.parts, *second.parts])]
    )
    return TwoSides(
        first.side(chosen, sides[0][1]),
        second.side(chosen, sides[1][1]),
        name_a,
        name_b,
        chosen,
        tuple(notes),
        higher_is_better=first.metrics[chosen],
    )


def _warned(path: str, method: str | None) -> tuple[str, ...]:
    """Return what a store says of a method that a verdict must not leave out; a file says nothing."""
    if not is_store(path):
        return ()
    from paragone.lab.method_seeds import seed_sentences
    from paragone.lab.method_warnings import verdict_sentences, warned_groups

    with open_results(path) as results:
        names = results.experiments()
        groups = [group for name in names for group in warned_groups(results, name)]
        methods = {
            one: facts
            for name in names
            for one, facts in results.described(name)["methods"].items()
        }
    mine = {one: facts for one, facts in methods.items() if method in (None, one)}
    return (
        *verdict_sentences(group for group in groups if method in (None, group.method)),
        *seed_sentences(mine),
    )


def _side(
    path: str, method: str | None, metric: str | None, key: str | None, at: float | None
) -> tuple[pd.Series, str | None, Design | None]:
    """Return the scores of a side, their metric, and how a store split its only dataset."""
    from paragone.stats.intake import read_frame
    from paragone.stats.pairing import one_side

    if not is_store(path):
        return *one_side(read_frame(Path(path)), method, metric=metric, key=key, at=at), None
    with open_results(path) as results:
        if key == GROUP:
            return *results.scores_by_group(method, metric), None
        frame = results.scores()
        designs = [one for name in results.experiments() for one in results.designs(name).values()]
    return *one_side(frame, method, metric=metric, key=key, at=at), (
        designs[0] if len(designs) == 1 else None
    )


def column_roles(given: list[str] | None) -> dict[str, str]:
    """Split what columns are, such as ``run=seed``.

    Examples
    --------
    >>> column_roles(["run=seed"]), column_roles(None)
    ({'run': 'seed'}, {})
    """
    roles = {}
    for text in given or ():
        name, _, role = text.rpartition("=")
        if not name:
            raise InputError(f"--column {text}: say which column is what, as in --column run=seed")
        roles[name] = role
    return roles
