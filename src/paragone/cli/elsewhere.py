"""`paragone compare A B ...` on files and folders that other programs wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paragone.cli.output import show_comparison, show_table
from paragone.errors import InputError
from paragone.terminal import say

if TYPE_CHECKING:
    from paragone.intake import Asked, Collected


def is_from_elsewhere(sources: Sequence[str], as_format: str | None, asked: Asked) -> bool:
    """Say whether sources are for the readers of results: several, a named format, or one that a reader recognises."""
    from paragone.cli.sources import is_store
    from paragone.intake import Source
    from paragone.intake.reader import reader_of_results

    named = as_format or any(getattr(asked, name) for name in ("method", "dataset", "unit", "value"))
    if len(sources) > 1 or named:
        return True
    path = Path(sources[0]).expanduser()
    if "=" in sources[0] and not path.exists():
        return True
    if is_store(sources[0]) or not path.exists():
        return False
    reader = reader_of_results(Source(path, path))
    return reader is not None and reader.name != "table"


def compare_elsewhere(
    sources: Sequence[str],
    as_format: str | None,
    asked: Asked,
    options: Mapping[str, Any],
    of_items: Mapping[str, Any],
    of_scores: Mapping[str, Any],
    given: Sequence[str],
    trust_ids: bool,
    as_json: bool,
    out: Path | None,
    formats: str,
) -> None:
    """Read the sources, say what was read, and compare."""
    from paragone.cli.sources import chart_formats
    from paragone.intake import read_results

    found = read_results(*sources, reader=as_format, asked=asked)
    if not as_json:
        show_read(found)
    if found.unit == "item":
        for name in (name for name in given if name != "test"):
            raise InputError(f"--{name} is not for files with one row per item")
        chosen = {**options, **of_items}
    else:
        chosen = {**options, **of_scores}
    result = found.compare(asked.metric, trust_ids=trust_ids, **chosen)
    show_comparison(result, as_json=as_json, out=out, formats=chart_formats(formats))


def show_read(found: Collected) -> None:
    """Print what was read, before anything is said of it."""
    show_table(found.table(), title="Read")
    say("")
