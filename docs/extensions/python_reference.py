"""The Python reference: one page a public package, written from what its ``__all__`` lists."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from inspect import cleandoc

from public_names import PublicName, homes, names_of

DIRECTIVES = {
    "class": "autoclass",
    "exception": "autoexception",
    "function": "autofunction",
    "data": "autodata",
}


def page(module: str) -> str:
    """Return the page of a module as reStructuredText: a table of its names, then each in full at its home."""
    found = homes()
    names = names_of(module)
    here = [name for name in names if found[id(name.value)].path == name.path]
    said = cleandoc(import_module(module).__doc__ or "")
    title = f"``{module.removeprefix('paragone.')}``"
    imported = f"``from {module} import ...``"
    lines = [title, "=" * len(title), "", f".. py:module:: {module}", "", said, "", imported, ""]
    lines += [*_table(names, found), ""]
    return "\n".join([*lines, *(_entry(name, found) for name in here)])


def overview(modules: list[str]) -> str:
    """Return a table of modules in Markdown: each with a link to its page and the line that says what is in it."""
    rows = ["| package | what is in it |", "|---|---|"]
    for module in modules:
        said = (
            cleandoc(import_module(module).__doc__ or "")
            .partition("\n\n")[0]
            .replace("\n", " ")
            .replace("|", "\\|")
        )
        rows.append(f"| [`{module}`]({module}.rst) | {said} |")
    return "\n".join([*rows, ""])


def _table(names: list[PublicName], found: Mapping[int, PublicName]) -> list[str]:
    lines = [".. list-table::", "   :widths: 30 70", ""]
    for name in names:
        home = found[id(name.value)]
        lines += [
            f"   * - :py:obj:`{name.name} <{home.path}>`",
            f"     - {name.first_sentence or _datum(name)}",
        ]
    return lines


def _datum(name: PublicName) -> str:
    return f"A {type(name.value).__name__}." if name.kind == "data" else ""


def _entry(name: PublicName, found: Mapping[int, PublicName]) -> str:
    options = {"class": [":members:"], "data": [":no-value:"]}.get(name.kind, [])
    if name.kind == "class":
        options += _inherited(name.value, found)
    return "\n".join(
        [f".. {DIRECTIVES[name.kind]}:: {name.path}", *(f"   {each}" for each in options), "", ""]
    )


def _inherited(value: type, found: Mapping[int, PublicName]) -> list[str]:
    """Ask for what a class has from bases of ours that are documented nowhere else; the option names the others."""
    ours = [
        base
        for base in value.__mro__[1:]
        if base.__module__.startswith("paragone.") and id(base) not in found
    ]
    others = [base.__name__ for base in value.__mro__[1:] if base not in ours]
    return [f":inherited-members: {','.join(others)}"] if ours else []
