"""`paragone doctor`: is a store whole, and what can be done where it is not."""

from __future__ import annotations

from typing import Annotated

import typer

from paragone.cli.app import KEEP, app
from paragone.cli.options import AsJson, StoreFile
from paragone.cli.output import print_json
from paragone.terminal import say

EXIT_DAMAGE = 1


@app.command(rich_help_panel=KEEP)
def doctor(
    store: StoreFile,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair", help="Delete what is damaged, so that the next run computes it again."
        ),
    ] = False,
    compact: Annotated[
        bool,
        typer.Option("--compact", help="Delete what nothing refers to and give the space back."),
    ] = False,
    drop_stale: Annotated[
        bool,
        typer.Option(
            "--drop-stale", help="With --compact: delete results of earlier declarations too."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Examine a store: database, references, schema, and every artifact against its checksum.

    Nothing is changed unless --repair or --compact is given. Exit code 0: healthy, or healthy
    again; 1: something is damaged; 2: this is no store, or it cannot be opened.

    Example: paragone doctor first.sqlite --repair
    """
    from dataclasses import asdict

    from paragone.errors import InputError
    from paragone.lab.store.doctor import compact as compact_store
    from paragone.lab.store.doctor import examine
    from paragone.lab.store.doctor import repair as repair_store

    if drop_stale and not compact:
        raise InputError("--drop-stale says what --compact deletes: give both")
    outcome: dict[str, object] = {}
    lines = []
    if repair:
        repaired = repair_store(store)
        diagnosis = repaired.after
        outcome["repair"] = {
            **asdict(repaired),
            "before": repaired.before.as_dict(),
            "after": diagnosis.as_dict(),
        }
        lines.append(str(repaired))
    else:
        diagnosis = examine(store)
    if compact and diagnosis.is_healthy:
        compacted = compact_store(store, drop_stale=drop_stale)
        diagnosis = examine(store)
        outcome["compaction"] = asdict(compacted)
        lines.append(str(compacted))
    if as_json:
        print_json({"diagnosis": diagnosis.as_dict(), **outcome})
    else:
        for line in (*lines, str(diagnosis)):
            say(line)
    if not diagnosis.is_healthy:
        advice = "it is damaged: not compacted; " if compact else ""
        say(f"{advice}run `paragone doctor {store} --repair`", stderr=True)
        raise typer.Exit(EXIT_DAMAGE)
