"""The experiment file as JSON Schema, for editors that complete keys and mark mistakes while one writes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from inspect import cleandoc
from typing import Any

from paragone.lab import declaration
from paragone.lab.declaration import Declaration, protocol_section
from paragone.lab.protocol import default_kind, protocols
from paragone.registry import Registry

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_HEADED = re.compile(r"^(\w+(?:, \w+)*) :.*$")
"""A line of a numpydoc section that names parameters."""


def experiment_schema() -> dict[str, Any]:
    """Return the JSON Schema of an experiment file, with every protocol that is installed.

    Returns
    -------
    dict
        What the sentences of a refusal check, as far as a schema can say it; the meaning of every
        key is that of the documentation.

    Examples
    --------
    >>> schema = experiment_schema()
    >>> schema["required"], schema["properties"]["seed"]["minimum"]
    (['name', 'data', 'methods'], 0)
    >>> schema["$defs"]["SplitPlan"]["properties"]["test_size"]["description"]
    'Share of the rows that ``holdout`` tests on.'
    """
    schema = Declaration.model_json_schema()
    parts = schema["$defs"]
    for name, part in parts.items():
        owner = getattr(declaration, name, None)
        if isinstance(owner, type):
            _describe(part, owner)
    # A method may be its name alone, and a splitter is given in Python only.
    methods = schema["properties"]["methods"]
    methods["additionalProperties"] = {
        "anyOf": [{"type": "string"}, {"$ref": "#/$defs/MethodSection"}]
    }
    parts["SplitPlan"]["properties"].pop("splitter", None)
    schema["properties"]["protocol"] = {"anyOf": [*_protocols(protocols, parts), _OWN_PROTOCOL]}
    _describe(schema, Declaration)
    return {"$schema": DIALECT, **schema, "title": "An experiment of Paragone"}


_OWN_PROTOCOL = {
    "type": "object",
    "description": "A protocol of your own, as module:name, with its own keys.",
    "properties": {"kind": {"type": "string", "pattern": ":", "description": "Which protocol."}},
    "required": ["kind"],
}


def _protocols(known: Registry[Any], parts: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the table of every protocol; the definitions that they need go to the others."""
    found = []
    for name in known.names():
        protocol = known.get(name)
        section = protocol_section(protocol).model_json_schema()
        for part, content in section.pop("$defs", {}).items():
            if part not in parts:
                parts[part] = content
                _explain(content, meanings(content.get("description", "")))
        section["properties"]["kind"] = {"const": name, "description": "Which protocol."}
        # Its fields have no default here, which says that the protocol decides; an editor would
        # show null.
        for key in section["properties"].values():
            key.pop("default", None)
        section["title"] = name
        _describe(section, protocol)
        found.append(section if name == default_kind() else section | {"required": ["kind"]})
    return found


def _describe(part: dict[str, Any], owner: type) -> None:
    """Give every key of a table its meaning, as the docstrings of its class and of what it extends say it."""
    said: dict[str, str] = {}
    for one in reversed(owner.__mro__):
        said |= meanings(one.__doc__ or "")
    _explain(part, said)
    part["description"] = _first_sentence(owner.__doc__)


def _explain(part: dict[str, Any], said: Mapping[str, str]) -> None:
    for key, entry in part.get("properties", {}).items():
        entry.pop("title", None)
        if key in said:
            entry["description"] = said[key]
    part["description"] = _first_sentence(part.get("description"))


def meanings(docstring: str) -> dict[str, str]:
    """Read what a docstring in numpydoc's form says of each parameter.

    Examples
    --------
    >>> meanings(Declaration.__doc__)["seed"]
    'Every random thing of the experiment follows from it.'
    """
    found: dict[str, list[str]] = {}
    names: list[str] = []
    inside = False
    lines = cleandoc(docstring).splitlines()
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if below and set(below) == {"-"}:
            inside = line in ("Parameters", "Attributes")
            names = []
        elif inside and (head := _HEADED.match(line)):
            names = head[1].split(", ")
        elif inside and line.startswith(" "):
            for name in names:
                found.setdefault(name, []).append(line.strip())
    return {name: " ".join(text) for name, text in found.items()}


def _first_sentence(docstring: str | None) -> str:
    return cleandoc(docstring or "").partition("\n\n")[0].replace("\n", " ")
