"""Forty tables given to `compare` without an option: answered right, or asked about with a command that is right."""

from __future__ import annotations

import json

from answers import answer_of
from intake.bare_tables import BARE, NAMES, choices, judged
from intake.shape_changes import as_it_is
from intake.shapes import Shape

LEAST_RIGHT = 30


def outcome(shape: Shape, command, folder) -> tuple[str, str]:
    """Return right, obeyed (right once what is advised is pasted), refused or false, and why."""
    sources = as_it_is(shape).write(folder)
    bare = command("compare", *sources, "--json")
    if bare.code == 0:
        why = judged(shape, json.loads(bare.out), command("compare", *sources).out)
        return ("false", why) if why else ("right", "")
    ended, given, rounds = answer_of(command, sources, ["--json"], choices(shape))
    if ended.code:
        return "refused", f"{bare.err} / with {given}: {ended.err}"
    printed = command("compare", *sources, *(one for one in given if one != "--json")).out
    why = judged(shape, json.loads(ended.out), printed)
    return ("false", f"with {given}: {why}") if why else ("obeyed", f"{rounds} {given[1:]}")


def test_nothing_false_is_said_of_forty_tables_and_three_in_four_are_answered(paragone, tmp_path):
    found = {shape.name: outcome(shape, paragone, tmp_path / shape.name) for shape in BARE}
    assert len(found) == len(NAMES) == 40
    false = {name: why for name, (kind, why) in found.items() if kind == "false"}
    assert false == {}
    refused = {name: why for name, (kind, why) in found.items() if kind == "refused"}
    assert len(NAMES) - len(refused) >= LEAST_RIGHT, refused
