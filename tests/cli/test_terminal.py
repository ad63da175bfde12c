"""What the command line prints: no sequence that comes from data, JSON alone where it is asked for, no formulas."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import unicodedata
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import paragone.cli
from paragone.cli import main
from paragone.reporting import report
from paragone.stats import compare
from paragone.tables import no_formula
from paragone.terminal import printable

sys.path.insert(0, str(Path(__file__).parents[1] / "reporting"))
from synthetic_stores import SyntheticStore, write_store

TITLE, LINK, CLIPBOARD = (
    "\x1b]0;owned\x07",
    "\x1b]8;;http://evil\x1b\\click\x1b]8;;\x1b\\",
    "\x1b]52;c;cm0gLXJm\x07",
)
COLOUR, CURSOR, C1, BIDI = (
    "\x1b[31;1m",
    "\x1b[2J\x1b[1;1H",
    "\x9b31m\x9d0;owned\x9c",
    "\u202etxt.exe\u2066",
)
HOSTILE = (f"A{TITLE}", f"B{LINK}{C1}", f"C{CLIPBOARD}{BIDI}")
REORDERING = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
FORMULA = "=cmd|' /C calc'!A0"


def is_command(character: str) -> bool:
    """Tell by its Unicode category whether a terminal may take a character for a command."""
    return (
        unicodedata.category(character) == "Cc" and character not in "\n\t"
    ) or character in REORDERING


def commands_in(text: str) -> set[str]:
    return {character for character in text if is_command(character)}


@given(
    st.text()
    | st.lists(st.sampled_from([*"\x1b\x9b\x9d\x90[]0;mA\x07\\\n \x9c\u202e\ud800"])).map("".join)
)
def test_nothing_that_is_printed_is_a_command(text):
    shown = printable(text)
    assert commands_in(shown) == set()
    shown.encode()
    assert printable(shown) == shown


@given(
    st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="".join(REORDERING)))
)
def test_text_of_any_language_is_printed_as_it_stands(text):
    assert printable(f"{text}\n\t{text}") == f"{text}\n\t{text}"


@pytest.mark.parametrize(
    ("sequence", "left"),
    [
        (TITLE, ""),
        (LINK, "click"),
        (CLIPBOARD, ""),
        (COLOUR, ""),
        (CURSOR, ""),
        (C1, ""),
        (BIDI, "txt.exe"),
        ("\x1bP1$r0m\x1b\\", ""),
        ("\x1b_hidden\x1b\\", ""),
        ("\x1b(0", ""),
        ("\x1bc", ""),
        ("100 %\rfake", "100 %fake"),
        ("\x1b]0;never ended\nthe next line", "\nthe next line"),
        ("\x08\x7f", ""),
    ],
)
def test_a_sequence_goes_with_all_that_belongs_to_it(sequence, left):
    assert printable(f"before {sequence} after") == f"before {left} after"


@pytest.fixture
def hostile(tmp_path) -> Path:
    lab = SyntheticStore(tmp_path / "lab.sqlite", HOSTILE, [f"x{TITLE}", f"y{COLOUR}"])
    for place, cell in enumerate(lab.cells):
        (lab.fail if place == 4 else lab.commit)(cell)
    lab.store.release(lab.run)
    lab.store.close()
    return tmp_path / "lab.sqlite"


def ran(monkeypatch, capsys, *args: object) -> tuple[str, str]:
    monkeypatch.setattr(sys, "argv", ["paragone", *map(str, args)])
    with pytest.raises(SystemExit):
        main()
    return capsys.readouterr()


@pytest.mark.parametrize(
    "command",
    [
        ["status", "STORE"],
        ["status", "STORE", "--tracebacks"],
        ["status", "STORE", "--json"],
        ["scores", "STORE"],
        ["scores", "STORE", "--json"],
        ["compare", "STORE", "--metric", "micro_f1"],
        ["compare", "STORE", "--metric", "micro_f1", "--json"],
        ["compare", "STORE", "--metric", "micro_f1", "--reference", f"none{TITLE}"],
        ["pairwise", f"STORE::{HOSTILE[0]}", f"STORE::{HOSTILE[1]}", "--metric", "micro_f1"],
        ["report", "STORE", "--out", "OUT", "--no-charts"],
        ["report", "STORE", "--out", "OUT", "--reference", f"none{C1}"],
        ["store", "check", "STORE"],
        ["status", f"none{TITLE}.sqlite"],
    ],
    ids=lambda command: (
        " ".join(command).replace("\x1b", "ESC").replace("\x07", "").replace("\x9b", "C1")
    ),
)
def test_no_verb_prints_what_a_store_wants_the_terminal_to_do(
    hostile, tmp_path, monkeypatch, capsys, command
):
    named = [
        part.replace("STORE", str(hostile)).replace("OUT", str(tmp_path / "out"))
        for part in command
    ]
    out, err = ran(monkeypatch, capsys, *named)
    assert out + err
    assert commands_in(out) == set()
    assert commands_in(err) == set()
    # JSON, and a sentence that quotes what was given, show a sequence as the escapes it is written
    # with.
    if "--json" not in command and not any(part.startswith("none") for part in command):
        assert "owned" not in out + err


def test_the_command_line_prints_in_one_place():
    """Every other module of it asks that place, so that nothing is printed that was not made harmless."""
    places = {"terminal.py", "output.py"}
    for file in Path(paragone.cli.__file__).parent.rglob("*.py"):
        found = {
            ast.unparse(node)
            for node in ast.walk(ast.parse(file.read_text()))
            if isinstance(node, ast.Call)
        }
        direct = [
            call
            for call in found
            if call.startswith(("typer.echo(", "print(", "Console(", "sys.stdout.w"))
        ]
        assert not direct or file.name in places, (file.name, direct)


PRINTER = """
import atexit, os, subprocess, sys
import numpy as np
from sklearn.base import BaseEstimator

print("hello from the import")
os.write(1, b"native hello from the import\\n")
atexit.register(print, "bye")

class Printer(BaseEstimator):
    def fit(self, X, y):
        print("{}")
        os.write(1, b"native\\n")
        sys.__stdout__.write("dunder\\n")
        subprocess.run(["echo", "a child"])
        self.ranking_ = np.arange(X.shape[1])
        return self
"""
LAB = """
name = "lab"
[data]
sets = ["wine-traits"]
[split]
folds = 2
[protocol]
k = { min = 2, max = 4, step = 2 }
[methods.Printer]
use = "printer:Printer"
"""


def strict_json(text: str) -> object:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize("workers", ["0", "1"])
def test_run_prints_json_only_whatever_a_method_prints(tmp_path, workers):
    (tmp_path / "printer.py").write_text(PRINTER)
    (tmp_path / "lab.toml").write_text(LAB)
    command = [sys.executable, "-m", "paragone", "run", "lab.toml", "--json", "--workers", workers]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert strict_json(ended.stdout) == {
        "store": "lab.sqlite",
        "cells": {"done": 2},
        "warnings": [],
    }
    assert "hello from the import" in ended.stderr


def test_numbers_that_json_does_not_know_are_null(hostile, monkeypatch, capsys):
    for command in (
        ["status", hostile],
        ["scores", hostile],
        ["compare", hostile, "--metric", "micro_f1"],
    ):
        out, _ = ran(monkeypatch, capsys, *command, "--json")
        assert strict_json(out)


def test_every_table_for_people_is_without_formulas(tmp_path, monkeypatch, capsys):
    store = write_store(tmp_path / "lab.sqlite", [FORMULA, "+B", "@C"], ["x", "y", "z"])
    ran(monkeypatch, capsys, "scores", store, "--out", tmp_path / "scores.csv")
    report(store, tmp_path / "report", charts=False)
    compare(pd.read_csv(tmp_path / "scores.csv"), metric="micro_f1").save(
        tmp_path / "answer", formats=()
    )
    frame = (
        pd.DataFrame({FORMULA: [1.0, 2, 3, 4, 5, 6], "B": [2.0, 3, 4, 5, 6, 8]})
        .rename_axis("dataset")
        .reset_index()
    )
    compare(frame, metric="score", higher_is_better=True).save(tmp_path / "own", formats=())
    files = sorted(tmp_path.rglob("*.csv"))
    assert len(files) > 12
    for file in files:
        cells = pd.read_csv(file, header=None, dtype=str, keep_default_na=False).to_numpy().ravel()
        assert [cell for cell in cells if cell[:1] in "=+@" and cell != no_formula(cell)] == [], (
            file.name
        )
    assert f"'{FORMULA}" in pd.read_csv(tmp_path / "scores.csv")["method"].unique()


def test_markdown_prose_shows_names_as_they_stand(tmp_path):
    names = (
        "<script>alert(1)</script>",
        "[x](javascript:alert(1))",
        "![i](http://evil/i.png)",
        "# *a* `b` _c_",
    )
    store = write_store(tmp_path / "lab.sqlite", names, [*names, "y"])
    report(store, tmp_path / "report", charts=False)
    text = (tmp_path / "report" / "tables.md").read_text()
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(text)
    inside = [token for block in tokens for token in (block, *(block.children or ()))]
    tags = {token.content for token in inside if token.type in ("html_inline", "html_block")}
    assert tags <= {"<u>", "</u>", "<sup>", "</sup>"}
    assert not {"link_open", "image", "code_inline", "em_open"} & {token.type for token in inside}
    shown = "".join(token.content for token in inside if token.type == "text")
    for name in names:
        assert shown.count(name) > 3
    verdict = text[: text.index("## How it was done")]
    assert "alert" in verdict
