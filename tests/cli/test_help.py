"""The help: verbs in the order in which they are needed, options as people write them, an example for each verb."""

from __future__ import annotations

import re

import pytest
import typer
from typer.testing import CliRunner

from paragone.cli import app
from paragone.cli.app import KEEP, LOOK, MORE, START

VERBS = sorted(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


def help_of(*arguments: str) -> str:
    ended = CliRunner().invoke(app, [*arguments, "--help"], env={"COLUMNS": "80", "NO_COLOR": "1"})
    assert ended.exit_code == 0
    return ended.output


def test_alone_it_says_what_to_do_first() -> None:
    ended = CliRunner().invoke(app, [])
    assert ended.exit_code == 0
    assert "paragone try TABLE.csv --target COLUMN" in ended.output
    assert max(map(len, ended.output.splitlines())) <= 80


def test_verbs_stand_in_parts_and_the_first_ones_first() -> None:
    shown = help_of()
    places = [shown.index(f"─ {part} ─") for part in (START, LOOK, KEEP, MORE)]
    assert places == sorted(places)
    first = [shown.index(f"│ {verb} ") for verb in ("try", "init", "run", "compare")]
    assert first == sorted(first)
    assert places[0] < first[0] < first[-1] < places[1]
    assert all(f"│ {verb} " in shown for verb in VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_options_are_shown_as_people_write_them(verb: str) -> None:
    shown = help_of(verb)
    assert "<bool>" not in shown
    assert not re.search(r"<(path|str|int|float|list)|\{\w+", shown)
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.parametrize(
    "verb", [verb for verb in VERBS if verb not in ("data", "generate", "topk")]
)
def test_every_verb_has_an_example(verb: str) -> None:
    assert f"Example: paragone {verb} " in " ".join(help_of(verb).split())
