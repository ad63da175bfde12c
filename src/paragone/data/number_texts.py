"""Numbers as people write them in tables: gaps, percent signs, spreads behind a mean, decimal commas.

What is not a plain number is read where it can mean one thing only, and said; the rest is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

from paragone.data.written_tables import GAP_MARKS
from paragone.errors import InputError

_NUMBER = r"[-+−]?(?:\d+(?:[.,]\d+)?|[.,]\d+)(?:[eE][-+]?\d+)?"
_PLUS_MINUS = r"(?:±|\+\s*/?\s*[-−]|\\pm)"
_WRITTEN = re.compile(
    rf"^\$?\s*(?P<value>{_NUMBER})\s*(?P<percent>\\?%)?\s*"
    rf"(?:{_PLUS_MINUS}\s*(?P<spread>{_NUMBER})\s*(?P<late>\\?%)?"
    rf"|\(\s*{_PLUS_MINUS}?\s*(?P<inner>{_NUMBER})\s*\))?"
    # A change against a baseline, in brackets, and marks of footnotes say nothing of the value.
    rf"\s*(?:\([-+−]?{_NUMBER}\s*%\))?\s*[*†‡§^★]*\s*\$?$"
)
_THOUSANDS = re.compile(r"^[-+−]?[1-9]\d{0,2},\d{3}$")


@dataclass(frozen=True)
class WrittenNumber:
    """A number as it was written: its value, the spread behind it (NaN without), and what had to be read into it."""

    value: float
    spread: float = np.nan
    percent: bool = False
    comma: bool = False


def written_number(text: str) -> WrittenNumber | None:
    """Return what a text says as a number; NaN for a gap, None where it is not a number.

    Examples
    --------
    >>> written_number("91.2%").value, written_number("0,79 ± 0,01"), written_number("NA").value
    (0.912, WrittenNumber(value=0.79, spread=0.01, percent=False, comma=True), nan)
    >>> written_number("failed") is None
    True
    """
    if text.strip().lower() in GAP_MARKS:
        return WrittenNumber(np.nan)
    found = _WRITTEN.match(text.strip())
    if found is None:
        return None
    share = 100.0 if found["percent"] or found["late"] else 1.0
    parts = [found["value"], found["spread"] or found["inner"] or "nan"]
    value, spread = (float(part.replace(",", ".").replace("−", "-")) / share for part in parts)
    return WrittenNumber(value, spread, share > 1, any("," in part for part in parts))


def is_numeric(values: pd.Series) -> bool:
    """Say whether a column holds numbers, written in whatever way; one of gaps alone does.

    Examples
    --------
    >>> is_numeric(pd.Series(["0.9", "NA"])), is_numeric(pd.Series(["iris", "1"]))
    (True, False)
    """
    if pd.api.types.is_numeric_dtype(values):
        return True
    return all(
        not isinstance(one, str) or written_number(one) is not None
        for one in values.dropna().unique()
    )


def read_numbers(
    values: pd.Series, owners: pd.Series | None = None
) -> tuple[pd.Series, pd.Series, tuple[str, ...]]:
    """Read a column of numbers, or name the first text in it.

    Parameters
    ----------
    values : Series
        Numbers and texts.
    owners : Series, optional
        The method of each, for the message.

    Returns
    -------
    values, spreads : Series of float
        What was measured, and the spread that was written behind it (NaN without).
    notes : tuple of str
        What was read into the texts.

    Examples
    --------
    >>> values, spreads, notes = read_numbers(pd.Series(["0.79 ± 0.01", 0.8]))
    >>> values.tolist(), spreads.tolist(), len(notes)
    ([0.79, 0.8], [0.01, nan], 1)
    """
    numeric = pd.to_numeric(values, errors="coerce").astype("float64")
    spreads = pd.Series(np.nan, index=values.index)
    text = (numeric.isna() & values.notna()).to_numpy()
    if not text.any():
        return numeric, spreads, ()
    codes, distinct = pd.factorize(values[text].astype(str))
    read = [written_number(one) for one in distinct]
    if None in read:
        place = int(np.flatnonzero(text)[np.flatnonzero(codes == read.index(None))[0]])
        of = "" if owners is None else f" of method {owners.iloc[place]!r}"
        raise InputError(
            f"the value{of} in data row {place + 1} is the text {values.iloc[place]!r}, not a"
            " number: leave failed scores empty"
        )
    known = [one for one in read if one is not None]
    commas = [name for name, one in zip(distinct, known, strict=True) if one.comma]
    if commas and all(_THOUSANDS.match(name.strip()) for name in commas):
        raise InputError(
            f"{commas[0]!r} may be a decimal comma or thousands: write it with a point or without a"
            " comma"
        )
    numeric[text] = np.array([one.value for one in known])[codes]
    spreads[text] = np.array([one.spread for one in known])[codes]
    return numeric, spreads, _notes(known, list(distinct), codes)


def _notes(known: list[WrittenNumber], texts: list[str], codes: np.ndarray) -> tuple[str, ...]:
    counts = np.bincount(codes, minlength=len(known))

    def told(where: list[bool]) -> tuple[int, str, WrittenNumber]:
        first = where.index(True)
        return int(counts[np.array(where)].sum()), texts[first], known[first]

    notes = []
    gaps = [bool(np.isnan(one.value)) for one in known]
    if any(gaps):
        count, text, _ = told(gaps)
        notes.append(
            f"{count} cell{'s' * (count > 1)} such as {text!r} count{'s' * (count == 1)} as"
            " missing."
        )
    percent = [one.percent for one in known]
    if any(percent):
        count, text, one = told(percent)
        notes.append(
            f"{count} scores with a percent sign were read as shares: {text!r} is {one.value:g}."
        )
    spread = [not np.isnan(one.spread) for one in known]
    if any(spread):
        count, text, one = told(spread)
        notes.append(
            f"{count} scores have a spread behind them, which was kept apart: {text!r} is the score"
            f" {one.value:g}; a spread is not folds and is not tested."
        )
    commas = [one.comma for one in known]
    if any(commas):
        count, text, one = told(commas)
        notes.append(f"{count} decimal commas were read: {text!r} is {one.value:g}.")
    return tuple(notes)
