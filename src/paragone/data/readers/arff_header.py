"""The header of an ARFF file: relation, attribute names and types as written."""

from __future__ import annotations

import re
from dataclasses import dataclass

from paragone.errors import InputError

_QUOTED = r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\""
_ATTRIBUTE = re.compile(rf"\s*@attribute\s+({_QUOTED}|[^\s{{]+)\s*(.*)$", re.IGNORECASE)
_VALUE = re.compile(rf"\s*({_QUOTED}|[^,]*?)\s*(?:,|$)")
_RELATION = re.compile(r"\s*@relation\s*(.*)$", re.IGNORECASE)
_MEKA = re.compile(r"-C\s+(-?\d{1,9})(?!\d)")
_NUMERIC = ("numeric", "real", "integer")


@dataclass(frozen=True)
class Attribute:
    """One ``@attribute`` line: its name, and its values where it is nominal."""

    name: str
    kind: str
    categories: tuple[str, ...] = ()


@dataclass(frozen=True)
class Header:
    """What stands before ``@data``, and the number of lines it takes (``@data`` included)."""

    relation: str
    attributes: tuple[Attribute, ...]
    n_lines: int


def unquote(text: str) -> str:
    r"""Take quotes and backslash escapes off an ARFF name or value.

    Examples
    --------
    >>> unquote(r"'it\'s'"), unquote(r"rock\'n\'roll"), unquote("plain")
    ("it's", "rock'n'roll", 'plain')
    """
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    return re.sub(r"\\(['\"\\%{}, ])", r"\1", text)


def parse_header(lines: list[str], where: str) -> Header:
    """Read the declarations up to ``@data``.

    Examples
    --------
    >>> header = parse_header(["@relation r", "@attribute 'a b' {no, yes}", "@data"], "r.arff")
    >>> header.attributes
    (Attribute(name='a b', kind='nominal', categories=('no', 'yes')),)
    """
    relation, attributes = "", []
    for number, line in enumerate(lines, start=1):
        word = line.split(None, 1)[0].lower() if line.strip() else ""
        if word == "@relation" and (match := _RELATION.match(line)):
            relation = unquote(match[1])
        elif word == "@attribute":
            attributes.append(_attribute(line, f"{where}, line {number}"))
        elif word == "@data":
            _check_distinct(attributes, where)
            return Header(relation, tuple(attributes), number)
        elif word and not word.startswith("%"):
            raise InputError(f"{where}, line {number}: {line.strip()[:40]!r} is no ARFF declaration")
    raise InputError(f"{where}: no @data line found; is it an ARFF file?")


def _attribute(line: str, where: str) -> Attribute:
    match = _ATTRIBUTE.match(line)
    if match is None:
        raise InputError(f"{where}: cannot read the attribute {line.strip()[:60]!r}")
    if _is_open(match[1]):
        raise InputError(f"{where}: the quote around {match[1][:40]!r} is never closed")
    name, kind = unquote(match[1]), match[2].strip()
    if kind.startswith("{"):
        return Attribute(name, "nominal", _categories(kind, f"{where}: attribute {name!r}"))
    word = kind.split(None, 1)[0].lower() if kind else ""
    if word in _NUMERIC:
        return Attribute(name, "numeric")
    if word == "string":
        return Attribute(name, "string")
    if word == "date":
        return Attribute(name, "date")
    raise InputError(f"{where}: attribute {name!r} has the type {kind[:40]!r}, which is not read")


def _is_open(text: str) -> bool:
    """Tell whether a name or value begins with a quote that does not end it."""
    return text[:1] in ("'", '"') and re.fullmatch(_QUOTED, text) is None


def _categories(kind: str, where: str) -> tuple[str, ...]:
    end = kind.rfind("}")
    if end < 0:
        raise InputError(f"{where}: the list of values has no closing brace")
    inner, values, position = kind[1:end].strip(), [], 0
    while position < len(inner):
        match = _VALUE.match(inner, position)
        if match is None or match.end() == position:
            raise InputError(f"{where}: cannot read the list of values near {inner[position : position + 20]!r}")
        if _is_open(match[1]):
            raise InputError(f"{where}: the quote around the value {match[1][:40]!r} is never closed")
        values.append(unquote(match[1]))
        position = match.end()
    if not values or len(set(values)) < len(values):
        raise InputError(f"{where}: the list of values is empty or names a value twice")
    return tuple(values)


def _check_distinct(attributes: list[Attribute], where: str) -> None:
    seen: set[str] = set()
    for attribute in attributes:
        if attribute.name in seen:
            raise InputError(f"{where}: attribute {attribute.name!r} is declared twice")
        seen.add(attribute.name)
    if not attributes:
        raise InputError(f"{where}: no @attribute line found")


def meka_count(relation: str) -> int | None:
    """Return the number of labels that MEKA wrote into the relation name, with its sign.

    A positive number means the first attributes, a negative one the last. After a Weka filter has moved
    the attributes the number no longer says where the labels are, so None is returned.

    Examples
    --------
    >>> meka_count("Music: -C 6"), meka_count("Music: -C -6"), meka_count("Music")
    (6, -6, None)
    >>> meka_count("MEDC: -C 45 -weka.filters.unsupervised.attribute.Remove-R1-45") is None
    True
    """
    match = _MEKA.search(relation)
    if match is None or "weka.filters" in relation[match.end() :]:
        return None
    return int(match[1])
