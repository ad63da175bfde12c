"""Files and folders that other programs wrote, on the command line: what is for the readers, and what they read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from paragone.cli.output import show_table
from paragone.terminal import say

if TYPE_CHECKING:
    from paragone.intake import Asked, Collected
    from paragone.reporting.compared import WhatWasRead


def is_from_elsewhere(sources: Sequence[str], as_format: str | None, asked: Asked) -> bool:
    """Say whether sources are for the readers of results: several, a named format, or one that a reader recognises."""
    from paragone.cli.sources import is_store
    from paragone.intake import Source
    from paragone.intake.collect import recognised
    from paragone.intake.reader import reader_of_results

    named = as_format or any(
        getattr(asked, name) for name in ("method", "dataset", "unit", "value")
    )
    path = Path(sources[0]).expanduser()
    if len(sources) > 1 or named or ("=" in sources[0] and not path.exists()):
        return True
    if not path.exists():
        return False
    reader = reader_of_results(Source(path, path))
    if is_store(sources[0]):
        from paragone.lab.stored_results import holds_given_results

        # Databases of other programs have the same endings as stores: their tables tell.
        other = reader is not None and reader.name != "paragone" and not path.is_dir()
        return other or holds_given_results(path)
    found = (
        [reader]
        if reader is not None
        else [one for _, one in recognised(Source(path, path), None, [])]
    )
    # A single table has more ways to be laid out than the reader of several knows.
    return any(one.name != "table" for one in found)


def read_elsewhere(
    sources: Sequence[str], as_format: str | None, asked: Asked, *, quiet: bool
) -> Collected | None:
    """Read what other programs wrote, and print what was read before anything is said of it; None for other sources."""
    if not is_from_elsewhere(sources, as_format, asked):
        return None
    return read_sources(sources, as_format, asked, quiet=quiet)


def read_sources(
    sources: Sequence[str], as_format: str | None, asked: Asked, *, quiet: bool
) -> Collected:
    """Read what other programs wrote, and print what was read."""
    from paragone.cli.sources import import_from_here
    from paragone.intake import read_results

    import_from_here(as_format)
    found = read_results(*sources, reader=as_format, asked=asked)
    if not quiet:
        show_table(found.table(), title="Read")
        say("")
    return found


def what_elsewhere(found: Collected) -> WhatWasRead:
    """Return what the page of a comparison says of the sources."""
    from paragone.reporting.compared import WhatWasRead

    return WhatWasRead(found.files(), found.table(), found.notes)
