"""Every code an audit can give: how bad it is, what it means, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from paragone.errors import unknown_name

Severity: TypeAlias = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


@dataclass(frozen=True)
class Code:
    """One kind of finding.

    Attributes
    ----------
    code : str
        ``PG1..`` leaks, ``PG2..`` determinism, ``PG3..`` verification, ``PG4..`` completeness.
    severity : {"error", "warning", "note"}
        ``error``: a number cannot be trusted; ``warning``: it may be too good; ``note``: worth knowing.
    title : str
        What it is.
    advice : str
        What to do.

    Examples
    --------
    >>> CODES["PG103"].severity, CODES["PG103"].title
    ('error', 'groups on both sides of a split')
    """

    code: str
    severity: Severity
    title: str
    advice: str


def _catalogue(*codes: Code) -> dict[str, Code]:
    return {code.code: code for code in codes}


CODES: dict[str, Code] = _catalogue(
    Code(
        "PG101",
        "error",
        "held-out rows that occur in train",
        "remove the repeats, or name a groups column that keeps equal rows together",
    ),
    Code(
        "PG102",
        "warning",
        "held-out rows that nearly occur in train",
        "look at the pairs; where they are one sample measured twice, name a groups column",
    ),
    Code("PG103", "error", "groups on both sides of a split", "split by groups: kind = 'groups', or leave kind out"),
    Code(
        "PG104",
        "error",
        "replicates of one sample on both sides of a split",
        "say replicates = R for the dataset, or name a groups column",
    ),
    Code(
        "PG105",
        "error",
        "a feature that is a copy of a label or target",
        "drop the column (drop = [...]): it will not be there when the label is asked for",
    ),
    Code(
        "PG106",
        "warning",
        "a feature that determines a label alone",
        "see whether the column is known before the label is; drop it where it is not",
    ),
    Code(
        "PG107",
        "warning",
        "features scaled as a whole before the split",
        "start from the unscaled data and let `scale` fit on train inside every split",
    ),
    Code("PG108", "note", "constant columns", "drop them, or acknowledge them: no method can use them"),
    Code("PG109", "warning", "id-like columns", "drop the column: it tells where a row stands, not what it is"),
    Code(
        "PG110",
        "error",
        "a result that changes when the held-out labels are scrambled",
        "find where the method reads labels that it was not handed",
    ),
    Code(
        "PG111",
        "warning",
        "a method that opens data files while it is fitted",
        "hand the method all it may know through fit; a file may hold the test labels",
    ),
    Code(
        "PG112",
        "error",
        "a choice that does not follow from inner scores",
        "choose parameters and variants by inner splits or cross-validation alone, and run again",
    ),
    Code("PG113", "error", "evaluation rows that stand in train", "take them out of train, or acknowledge the repeats"),
    Code(
        "PG114",
        "error",
        "rows set aside to choose on that stand in train or test",
        "say validation = 'file', so that they are taken out of train",
    ),
    Code("PG115", "error", "row numbers on both sides of a split", "mend the stored folds: a row has one role a fold"),
    Code(
        "PG201",
        "error",
        "a cell that gives other bytes when it is run again",
        "seed everything random in the method; see whether packages changed since the run",
    ),
    Code(
        "PG301",
        "error",
        "a score that does not follow from the stored predictions",
        "do not publish it: restore the store, or run the cell again with --overwrite",
    ),
    Code(
        "PG302",
        "error",
        "truth in the store that is not that of the data",
        "see which of the two was changed; run again on the right data",
    ),
    Code("PG303", "error", "a published number that differs", "put the recomputed value into the table"),
    Code(
        "PG304",
        "warning",
        "a mark or text in a published table that differs",
        "put the mark or text there that belongs there",
    ),
    Code(
        "PG305",
        "warning",
        "a published table or row that cannot be checked",
        "see that its headings and names are those of the store; give --display-map where names are shown otherwise",
    ),
    Code(
        "PG306",
        "error",
        "a published table that lost or gained a row or column, or shows numbers under another name",
        "put back what was left out, and every number under its own dataset and method; say why where it is meant",
    ),
    Code("PG401", "warning", "missing cells", "run the experiment again: it goes on where it was"),
    Code(
        "PG402", "warning", "failed cells", "see `paragone status STORE --tracebacks`; mend and run with --retry-failed"
    ),
    Code("PG403", "warning", "cells that ran out of time", "raise limits.seconds and run with --retry-failed"),
    Code("PG404", "warning", "stale cells", "run the experiment again: what a result depends on has changed"),
    Code(
        "PG405",
        "error",
        "a verdict that hangs on incomplete datasets",
        "complete the cells before drawing a conclusion, or report both verdicts",
    ),
)
"""The catalogue, in the order of the codes."""


def code_of(code: str) -> Code:
    """Return a code's entry.

    Examples
    --------
    >>> code_of("PG101").severity
    'error'
    >>> code_of("PG1O1")
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: unknown audit code 'PG1O1': did you mean ...?
    """
    if code not in CODES:
        raise unknown_name("audit code", code, CODES)
    return CODES[code]
