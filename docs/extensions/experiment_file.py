"""The experiment file as a page: every table and key, read off the schema that the command prints."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from paragone.lab.file_schema import experiment_schema

TITLE = "The experiment file"
INTRODUCTION = """\
An experiment file is TOML. A wrong key or value is refused in a sentence that names the line. `paragone init TABLE.csv`
writes a commented one; `paragone schema --out experiment.schema.json` writes this page as JSON Schema, by which editors
(Taplo, Even Better TOML, PyCharm) complete keys and mark mistakes once the first line of the file says
`#:schema experiment.schema.json`.
"""
HEADS = {
    "DataSection": "`[data]`",
    "SetSection": "A dataset with options",
    "SplitPlan": "`[split]`",
    "MethodSection": "`[methods.NAME]`",
    "TuneSection": "`[methods.NAME.tune]`",
    "LimitsSection": "`[limits]`",
    "CompareSection": "`[compare]`",
    "AcknowledgeSection": "`[[audit.acknowledge]]`",
}


def page() -> str:
    """Return the page as Markdown."""
    schema = experiment_schema()
    parts = schema["$defs"]
    lines = [f"# {TITLE}", "", INTRODUCTION, "## The whole", "", *_table(schema)]
    for name, head in HEADS.items():
        lines += [f"## {head}", "", *_table(parts[name])]
    for protocol in schema["properties"]["protocol"]["anyOf"]:
        if "title" in protocol:
            lines += [
                f'## `[protocol]`, kind = "{protocol["title"]}"',
                "",
                _text(protocol["description"]),
                "",
            ]
            lines += _table(protocol)
    for name, part in parts.items():
        if name not in HEADS and name not in ("AuditSection", "EstimatorSection"):
            lines += [f"## {name}", "", _text(part["description"]), "", *_table(part)]
    return "\n".join(lines)


def _table(part: Mapping[str, Any]) -> Iterator[str]:
    yield from ("| key | value | what |", "|---|---|---|")
    for key, entry in part["properties"].items():
        needed = "**needed**. " if key in part.get("required", ()) else ""
        yield (
            f"| `{key}` | {_value(entry)} |"
            f" {needed}{_text(entry.get('description', ''))}{_default(entry)} |"
        )
    yield ""


def _value(entry: Mapping[str, Any]) -> str:
    """Say in a few words what a key takes."""
    if "const" in entry:
        return f'`"{entry["const"]}"`'
    if "enum" in entry:
        return ", ".join(f"`{json.dumps(one)}`" for one in entry["enum"])
    if "anyOf" in entry:
        return " or ".join(
            dict.fromkeys(_value(one) for one in entry["anyOf"] if one.get("type") != "null")
        )
    if "$ref" in entry:
        return "table"
    if entry.get("type") == "array":
        items = entry.get("items") or {}
        return f"list of {_value(items)}" if items else "list"
    return {
        "string": "text",
        "integer": "whole number",
        "number": "number",
        "boolean": "true or false",
    }.get(str(entry.get("type", "table")), "table")


def _default(entry: Mapping[str, Any]) -> str:
    default = entry.get("default")
    return (
        ""
        if default in (None, "", [], {}) or isinstance(default, dict)
        else f" By default `{json.dumps(default)}`."
    )


def _text(text: str) -> str:
    return text.replace("``", "`").replace("|", "\\|").replace("\n", " ")
