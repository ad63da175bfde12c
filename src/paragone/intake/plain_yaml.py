"""The YAML that programs write of their settings: nested keys and plain values, read without anything being built."""

from __future__ import annotations

import re

_LINE = re.compile(
    r"^(?P<indent>"
    r" *)(?P<key>'[^']*'|\"[^\"]*\"|[^\s#:'\"-][^:#]*?|-?[^\s#:'\"-][^:#]*?)\s*:(?:\s+(?P<value>.*))?$"
)


def plain_yaml(text: str) -> dict[str, str]:
    r"""Return the values of a YAML file by their dotted keys, as text; lists, tags and blocks are passed over.

    Examples
    --------
    >>> plain_yaml("model:\n  name: 'xgb'\n  depth: 3\nseed: 1 # of all\nlayers:\n- 1\n- 2\n")
    {'model.name': 'xgb', 'model.depth': '3', 'seed': '1'}
    """
    found: dict[str, str] = {}
    above: list[tuple[int, str]] = []
    for line in text.splitlines():
        match = _LINE.match(line)
        if match is None or line.lstrip().startswith("- "):
            continue
        indent = len(match["indent"])
        while above and above[-1][0] >= indent:
            above.pop()
        key = ".".join([*(name for _, name in above), match["key"].strip("'\"")])
        value = (match["value"] or "").strip()
        if not value or value.startswith("#"):
            above.append((indent, match["key"].strip("'\"")))
        elif value[0] not in "[{|>&*!":
            found[key] = _scalar(value)
    return found


def plain_list(text: str) -> list[str]:
    r"""Return the entries of a YAML list of plain values.

    Examples
    --------
    >>> plain_list("- model=xgb\n- seed=1\n")
    ['model=xgb', 'seed=1']
    """
    return [_scalar(line[1:].strip()) for line in text.splitlines() if line.startswith("- ")]


def _scalar(value: str) -> str:
    if value[:1] in ("'", '"'):
        end = value.find(value[0], 1)
        return value[1 : end if end > 0 else None]
    return value.split(" #", 1)[0].strip()
