"""The answer of `paragone compare` as its surfaces print it, for tests that look from the outside."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from command_ends import Ended

Command = Callable[..., Ended]

_DIRECTIONS = re.compile(
    r"(higher|lower)[- ](values? )?(is|are)[- ]better|win[_ ]rate", re.IGNORECASE
)
SUPERIORITY = re.compile(
    r"\b(better|worse|wins?|won|leads?|leading|beats?|superior|outperforms?)\b", re.IGNORECASE
)


def words_of_superiority(text: str) -> list[str]:
    """Return the words of a text that say that a method is better than another.

    Examples
    --------
    >>> words_of_superiority("A is better than B by accuracy (higher is better)")
    ['better']
    """
    return SUPERIORITY.findall(_DIRECTIONS.sub("", text))


@dataclass(frozen=True)
class Told:
    """What an answer says of a pair, as seen from its first method."""

    word: str
    p: float | None
    difference: float | None
    low: float | None
    high: float | None


TURNED = {"better": "worse", "worse": "better"}


def turned(told: Told) -> Told:
    """Return the same as seen from the rival."""
    sides = (told.difference, told.high, told.low)
    turned_sides = (None if side is None else -side for side in sides)
    return Told(TURNED.get(told.word, told.word), told.p, *turned_sides)


def raw_p(row: Mapping[str, Any]) -> float:
    """Return the p of a pair in JSON before any correction."""
    return row.get("p_raw", row["p"])


def word_of(row: Mapping[str, Any]) -> str:
    """Return the word of a pair in JSON."""
    return row.get("word", row.get("verdict"))


def pairs_told(answer: Mapping[str, Any]) -> dict[tuple[str, str], Told]:
    """Return what the JSON of an answer says of every pair, from both sides."""
    found: dict[tuple[str, str], Told] = {}
    for row in answer["pairs"]:
        p = row.get("p") if "p_raw" in row else row.get("p_adjusted")
        told = Told(word_of(row), p, *(row.get(name) for name in ("difference", "low", "high")))
        found[row["method"], row["rival"]] = told
        found[row["rival"], row["method"]] = turned(told)
    return found


def json_of(ended: Ended) -> dict[str, Any]:
    """Return the answer that a command printed as JSON."""
    assert ended.code == 0, ended.err
    return json.loads(ended.out)


# --- what a refusal advises ----------------------------------------------------------------------

_OPTION = re.compile(r"(--[a-z][a-z-]*)(?:[ =]((?:\"[^\"]*\"|'[^']*'|[^\s,;:()`]|,(?=\S))+))?")
_HOLLOW = re.compile(r"^[A-Z][A-Z_]*(=[A-Z]+)?$")


def advised(message: str, known: Mapping[str, str]) -> list[str]:
    """Return the options that a refusal tells to paste, in its order.

    Parameters
    ----------
    message : str
        What was printed.
    known : mapping of str to str
        What a person would choose for an option whose value is left open (``--metric NAME``),
        provided that the message lists it.
    """
    found: dict[str, str] = {}
    for option, value in _OPTION.findall(message):
        chosen = value.strip("\"'.").replace('"', "").replace("'", "")
        listed = known.get(option, "")
        if (not chosen or _HOLLOW.match(chosen) or "|" in chosen) and listed and listed in message:
            chosen = listed
        if chosen and not _HOLLOW.match(chosen) and option not in found:
            found[option] = chosen
    return [part for pair in found.items() for part in pair]


def answer_of(
    command: Command,
    sources: Sequence[str | Path],
    options: Sequence[str],
    known: Mapping[str, str],
) -> tuple[Ended, list[str], int]:
    """Compare, obeying what is advised at each refusal; the last answer, its options and how often was asked."""
    given = list(options)
    for rounds in range(4):
        ended = command("compare", *sources, *given)
        if ended.code == 0:
            return ended, given, rounds
        more = advised(ended.err, known)
        fresh = [
            part
            for option, value in zip(more[::2], more[1::2], strict=True)
            if option not in given
            for part in (option, value)
        ]
        if not fresh:
            break
        given += fresh
    return ended, given, rounds
