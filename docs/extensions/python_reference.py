"""The Python reference: one page a public package, written from what its ``__all__`` lists."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from inspect import cleandoc

from public_names import PublicName, homes, names_of

DIRECTIVES = {"class": "autoclass", "exception": "autoexception", "function": "autofunction", "data": "autodata"}


def page(module: str) -> str:
    """Return the page of a module as reStructuredText: a table of its names, then each in full at its home."""
    found = homes()
    names = names_of(module)
    here = [name for name in names if found[id(name.value)].path == name.path]
    said = cleandoc(import_module(module).__doc__ or "")
    title = f"``{module}``"
    lines = [title, "=" * len(title), "", f".. py:module:: {module}", "", said, "", *_table(names, found), ""]
    return "\n".join([*lines, *(_entry(name) for name in here)])


def _table(names: list[PublicName], found: Mapping[int, PublicName]) -> list[str]:
    lines = [".. list-table::", "   :widths: 30 70", ""]
    for name in names:
        home = found[id(name.value)]
        lines += [f"   * - :py:obj:`{name.name} <{home.path}>`", f"     - {name.first_sentence or _datum(name)}"]
    return lines


def _datum(name: PublicName) -> str:
    return f"A {type(name.value).__name__}." if name.kind == "data" else ""


def _entry(name: PublicName) -> str:
    options = ["   :members:"] if name.kind == "class" else ["   :no-value:"] if name.kind == "data" else []
    heading = f"``{name.name}``"
    return "\n".join([heading, "-" * len(heading), "", f".. {DIRECTIVES[name.kind]}:: {name.path}", *options, "", ""])
