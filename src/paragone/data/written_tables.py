"""Tables of text as people's programs write them: their encoding, their separator, and numbers written as text.

A spreadsheet in half of the world writes semicolons and decimal commas, an older one Windows-1252,
a form ``?`` for a gap and ``$1,200`` for a number. What can mean one thing only is read so and
said; the rest stays what it is.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pandas as pd

READING_NOTES = "paragone: how the file was read"
"""Where a frame keeps what is to be said of how it was read (`DataFrame.attrs`)."""
LINES_LOOKED_AT = 50
MOST_SHOWN = 3
SEPARATORS = "\t;|,"
SEPARATOR_NAMES = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas"}
ENCODING_NAMES = {"cp1252": "Windows-1252", "latin-1": "Latin-1"}
GAP_MARKS = frozenset(
    {"", "na", "n/a", "#n/a", "n.a.", "null", "none", "nan", "-", "--", "–", "—", "?", "."}
)
"""What people write where there is no number, in lower case."""

_PLAIN = re.compile(r"[-+−]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")
_POINT = re.compile(r"[-+−]?(?:[1-9]\d{0,2}(?:,\d{3})+)(?:\.\d+)?")
_COMMA = re.compile(r"[-+−]?(?:[1-9]\d{0,2}(?:\.\d{3})+|\d+)?,\d+(?:[eE][-+]?\d+)?")
_WHOLE = re.compile(r"[-+−]?(?:\d+(?:[eE][-+]?\d+)?|[1-9]\d{0,2}(?:\.\d{3})+)")
THOUSANDS = re.compile(r"\s*[-+−]?[1-9]\d{0,2}(?:\.\d{3})+\s*")
"""A number that has points between its thousands, if commas stand before the decimals of its file."""
_UNIT = re.compile(r"(?P<before>[$€£¥])?\s*(?P<number>.*?)\s*(?P<after>[$€£¥%])?")

DECIMAL_COMMAS = "decimal commas read"
"""How the note begins that says which columns have them."""

Mark = Literal["point", "comma"]
"""What stands before the decimals."""


def encoding_of(blocks: Iterable[bytes]) -> str:
    r"""Return the encoding of a text: UTF-8 or UTF-16 where it is that, else that of older programs.

    Examples
    --------
    >>> encoding_of([b"a;b"]), encoding_of(["Größe".encode("cp1252")]), encoding_of([b"\xff\xfea\x00"])
    ('utf-8-sig', 'cp1252', 'utf-16')
    """
    strict: codecs.IncrementalDecoder | None = codecs.getincrementaldecoder("utf-8")()
    holes = False
    for number, block in enumerate(blocks):
        if number == 0 and block.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-16"
        # Five bytes are no letter in cp1252; Latin-1 has all.
        holes = holes or any(bytes([one]) in block for one in (0x81, 0x8D, 0x8F, 0x90, 0x9D))
        if strict is not None:
            try:
                strict.decode(block)
            except UnicodeDecodeError:
                strict = None
    if strict is not None:
        try:
            strict.decode(b"", final=True)
        except UnicodeDecodeError:
            strict = None
    return "utf-8-sig" if strict is not None else "latin-1" if holes else "cp1252"


def separator_of(text: str, usual: str = "") -> str:
    r"""Return the separator that cuts the first lines into equally many parts, the most; of equals not the comma.

    Parameters
    ----------
    text : str
        The beginning of a table.
    usual : str
        What to return where none cuts every line alike, as with texts that have line ends in them;
        by default the one that cuts the first line into the most parts.

    Examples
    --------
    >>> separator_of("dataset;A\niris;0,9\n"), separator_of("a,b\n1,x;y\n"), separator_of("alone\n1\n", usual=",")
    (';', ',', ',')
    """
    lines = [line for line in text.splitlines()[:LINES_LOOKED_AT] if line.strip()]

    def cut(separator: str) -> tuple[bool, int]:
        try:
            widths = [len(row) for row in csv.reader(lines, delimiter=separator)]
        except csv.Error:
            # A field that is longer than the module takes: not by this separator.
            widths = []
        return bool(widths) and len(set(widths)) == 1 and widths[0] > 1, widths[0] if widths else 0

    best = max(SEPARATORS, key=cut)
    even, width = cut(best)
    return usual if usual and not even and (width < 2 or cut(usual)[1] > 1) else best


@dataclass(frozen=True)
class _Written:
    """A column of texts that are numbers and gaps: the numbers without their unit, and how they may be read."""

    name: str
    texts: Sequence[str]
    units: frozenset[str]
    gaps: Sequence[str]
    can_be: frozenset[Mark]
    evidence: Mark | None


def with_numbers_read(frame: pd.DataFrame, separator: str = ",") -> tuple[pd.DataFrame, list[str]]:
    """Read columns of text whose every value is a number or a gap as numbers, and say which and how.

    Parameters
    ----------
    frame : DataFrame
        As a file was parsed.
    separator : str
        What cuts its lines: a program that separates by commas does not write them before decimals.

    Returns
    -------
    DataFrame, list of str
        The same columns in the same order, and a note for each way of writing.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"dose": ["0,5", "1,25"], "age": ["?", "41"], "town": ["Ulm", "?"]})
    >>> read, notes = with_numbers_read(table)
    >>> read["dose"].tolist(), read["age"].tolist(), read["town"].tolist()
    ([0.5, 1.25], [nan, 41.0], ['Ulm', '?'])
    >>> notes
    ["decimal commas read: 'dose' ('0,5' is 0.5)", "text read as numbers: 'age' ('?' is a gap)"]
    """
    import pandas as pd

    written = [found for name in frame.columns if (found := _written(frame[name])) is not None]
    marks: set[Mark] = {one.evidence for one in written if one.evidence is not None}
    if written and any(_has_decimals(frame[name]) for name in frame.columns):
        marks.add("point")
    read: dict[str, Any] = {}
    told: dict[str, list[str]] = {}
    for one in written:
        mark = _mark(one, marks, separator)
        if mark is None:
            example = next(text for text in one.texts if "," in text or "." in text)
            told.setdefault("left as text", []).append(
                f"{one.name!r} ({example!r} may have thousands or decimals)"
            )
            continue
        texts = frame[one.name].map(lambda text, mark=mark: _number(text, mark), na_action="ignore")
        read[one.name] = pd.to_numeric(texts).astype("float64")
        what, shown = _said(one, mark)
        told.setdefault(what, []).append(shown)
    return (frame.assign(**read) if read else frame), [
        _listed(what, shown) for what, shown in told.items()
    ]


def with_thousands_read(frame: pd.DataFrame, texts: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Read the points of numbers as thousands where every one of a column has them, in a file with decimal commas.

    Parameters
    ----------
    frame : DataFrame
        As it was parsed.
    texts : DataFrame
        The texts of those of its columns that were taken for numbers with decimals.

    Examples
    --------
    >>> import pandas as pd
    >>> with_thousands_read(pd.DataFrame({"a": [1.2, 3.5]}), pd.DataFrame({"a": ["1.200", "3.500"]}))[0]["a"].tolist()
    [1200.0, 3500.0]
    """
    read: dict[str, Any] = {}
    told = []
    for name in texts.columns:
        there = texts[name].dropna()
        if len(there) and there.map(lambda text: THOUSANDS.fullmatch(text) is not None).all():
            read[name] = texts[name].str.replace(".", "").str.replace("−", "-").astype("float64")
            told.append(f"{name!r} ({there.iloc[0]!r} is {read[name][there.index[0]]:.10g})")
    return (frame.assign(**read) if read else frame), (
        [_listed("thousands read", told)] if told else []
    )


def _listed(what: str, shown: Sequence[str]) -> str:
    more = f" and {len(shown) - MOST_SHOWN} more columns" if len(shown) > MOST_SHOWN else ""
    return f"{what}: {', '.join(shown[:MOST_SHOWN])}{more}"


def _has_decimals(numbers: pd.Series[Any]) -> bool:
    return numbers.dtype.kind == "f" and bool((numbers.dropna() % 1 != 0).any())


def _written(column: pd.Series[Any]) -> _Written | None:
    """Return what a column of texts holds if every one is a number or a gap, and at least one a number."""
    import pandas as pd

    if not (pd.api.types.is_object_dtype(column) or pd.api.types.is_string_dtype(column)):
        return None
    distinct = column.dropna().unique()
    texts, gaps, units = [], [], set()
    can_be: set[Mark] = {"point", "comma"}
    evidence: set[Mark] = set()
    for value in distinct:
        text = str(value).strip()
        if isinstance(value, str) and text.lower() in GAP_MARKS:
            gaps.append(text)
            continue
        number, unit = _without_unit(text)
        units.add(unit)
        ways: set[Mark] = set()
        if _PLAIN.fullmatch(number) or _POINT.fullmatch(number):
            ways.add("point")
        if _COMMA.fullmatch(number) or _WHOLE.fullmatch(number):
            ways.add("comma")
        can_be &= ways
        if not can_be:
            return None
        if len(ways) == 1:
            evidence |= ways
        texts.append(text)
    if not texts or len(units) > 1:
        return None
    if units & {"$", "£"}:
        evidence.add("point")
    decided = evidence & can_be
    return _Written(
        str(column.name),
        texts,
        frozenset(units),
        gaps,
        frozenset(can_be),
        next(iter(decided)) if len(decided) == 1 else None,
    )


def _without_unit(text: str) -> tuple[str, str]:
    found = _UNIT.fullmatch(text)
    if found is None or (found["before"] and found["after"]):
        return text, ""
    return found["number"], found["before"] or found["after"] or ""


def _mark(one: _Written, marks: set[Mark], separator: str) -> Mark | None:
    """Say what stands before the decimals of a column: by itself, by the file's other columns, or by its separator."""
    if len(one.can_be) == 1:
        return next(iter(one.can_be))
    if one.evidence is not None:
        return one.evidence
    if not any("," in text or "." in text for text in one.texts):
        return "point"
    told = marks & one.can_be
    if len(told) == 1:
        return next(iter(told))
    return "point" if separator == "," and not marks else None


def _number(text: object, mark: Mark) -> object:
    if not isinstance(text, str):
        return text
    plain = text.strip()
    if plain.lower() in GAP_MARKS:
        return None
    number = _without_unit(plain)[0].replace("−", "-")
    return number.replace(",", "") if mark == "point" else number.replace(".", "").replace(",", ".")


def _said(one: _Written, mark: Mark) -> tuple[str, str]:
    """Say what was done to a column of texts, with an example of what is least plain in it."""
    odd = next((text for text in one.texts if not _PLAIN.fullmatch(text)), None)
    shown = [] if odd is None else [f"{odd!r} is {float(str(_number(odd, mark))):.10g}"]
    if one.gaps:
        are = "is a gap" if len(one.gaps) == 1 else "are gaps"
        shown.append(f"{' and '.join(map(repr, one.gaps[:2]))} {are}")
    what = (
        DECIMAL_COMMAS
        if mark == "comma" and odd is not None and "," in odd
        else "text read as numbers"
    )
    return what, f"{one.name!r} ({', '.join(shown)})"
