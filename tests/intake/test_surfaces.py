"""One answer: word, p and interval of a pair are the same on every surface that prints them."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import NamedTuple

import pytest

import paragone as package
from answers import TURNED, json_of
from intake.random_tables import KINDS, as_written, random_table

SEEDS = (0, 1, 2)
WORDS = ("better", "worse", "undecided", "equivalent")
HERE, NEW = "on this data", "on new datasets"
NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:e[-+]?\d+)?")
INTERVAL = re.compile(
    rf"\[\s*({NUMBER.pattern})\s*,\s*({NUMBER.pattern})\s*\]|({NUMBER.pattern}) to ({NUMBER.pattern})"
)


FIELDS = ("word", "p", "difference", "low", "high")


class Scope(NamedTuple):
    """What is said of a pair in one scope."""

    word: str
    p: float | None
    difference: float | None
    low: float | None
    high: float | None


Known = dict[tuple[str, str], dict[str, Scope]]


def _turned(one: Scope) -> Scope:
    low, high = (None if limit is None else -limit for limit in (one.high, one.low))
    difference = None if one.difference is None else -one.difference
    return Scope(TURNED.get(one.word, one.word), one.p, difference, low, high)


def known_of(answer: dict) -> Known:
    """Return what the JSON says of every pair, from both sides, scope by scope."""
    found: Known = {}
    main = NEW if answer["unit"] == "dataset" else HERE
    for row in answer["pairs"]:
        scopes = {main: Scope(*(row.get(name) for name in FIELDS))}
        if row.get("here_word"):
            scopes[HERE] = Scope(*(row.get(f"here_{name}") for name in FIELDS))
        found[row["method"], row["rival"]] = scopes
        found[row["rival"], row["method"]] = {name: _turned(one) for name, one in scopes.items()}
    return found


def is_shown(text: str, value: float) -> bool:
    """Whether a number is printed as a value, to as many places as are printed."""
    plain = text.replace("\N{MINUS SIGN}", "-").replace("\\textless{}", "<").strip()
    if "<" in plain:
        return value < float(NUMBER.findall(plain)[0])
    found = NUMBER.findall(plain)
    if len(found) != 1:
        return False
    digits = found[0].partition("e")[0].partition(".")[2]
    exponent = int(found[0].partition("e")[2] or 0)
    half = 0.5 * 10.0 ** (exponent - len(digits))
    return math.isclose(float(found[0]), value, rel_tol=0, abs_tol=half * (1 + 1e-6))


def agrees(text: str, one: Scope) -> bool:
    """Whether an interval in a text, if there is any, is that of a pair, seen from one side or the other."""
    found = INTERVAL.search(text.replace("\N{MINUS SIGN}", "-"))
    if found is None or one.low is None:
        return True
    low, high = (limit for limit in found.groups() if limit is not None)
    return is_shown(low, one.low) and is_shown(high, one.high)


# --- surfaces ------------------------------------------------------------------------------------


def html_tables(text: str) -> Iterator[list[list[str]]]:
    for table in re.findall(r"<table.*?</table>", text, flags=re.DOTALL):
        rows = re.findall(r"<tr.*?</tr>", table, flags=re.DOTALL)
        cells = (re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, flags=re.DOTALL) for row in rows)
        yield [[unescape(re.sub(r"<[^>]+>", "", cell)).strip() for cell in row] for row in cells]


def latex_table(text: str) -> list[list[str]]:
    plain = re.sub(r"\\\(-\\\)|\$-\$", "-", text)
    plain = re.sub(r"\\(textbf|textit|emph)\{([^}]*)\}", r"\2", plain).replace("\\_", "_")
    lines = [line for line in plain.splitlines() if " & " in line]
    return [[cell.strip() for cell in line.removesuffix("\\\\").split("&")] for line in lines]


def markdown_table(text: str) -> list[list[str]]:
    lines = [line.strip().strip("|") for line in text.splitlines() if line.startswith("|")]
    rows = [
        [cell.strip().strip("*").replace("\\", "") for cell in line.split("|")] for line in lines
    ]
    return [row for row in rows if not set("".join(row)) <= set("-: ")]


def check_table(rows: list[list[str]], known: Known, where: str) -> int:
    """Check a table of pairs against what is known, and count the words that it says."""
    if len(rows) < 2 or not {"method", "rival"} <= set(rows[0]):
        return 0
    head, checked = rows[0], 0
    for row in rows[1:]:
        if len(row) != len(head):
            continue
        pair = (row[head.index("method")], row[head.index("rival")])
        scopes, scope = known[pair], None
        for name, cell in zip(head, row, strict=True):
            if name in (HERE, NEW):
                scope = scopes.get(name)
                if cell in WORDS:
                    assert scope is not None, (where, pair, name)
                    assert cell == scope.word, (where, pair, name)
                    checked += 1
            elif scope is not None and name == "p adjusted" and cell not in ("", "-"):
                assert is_shown(cell, scope.p), (where, pair, cell, scope)
            elif scope is not None and "difference" in name:
                assert agrees(cell, scope), (where, pair, cell, scope)
    return checked


def check_answer(text: str, answer: dict, known: Known, where: str) -> None:
    """Check the rows of the short answer: one per rival of the leader."""
    leader = answer["leader"]
    rivals = [name for name in answer["methods"] if name != leader]
    rows = {
        name: line
        for line in text.splitlines()
        for name in rivals
        if line.strip().startswith(f"{name} ") and len(NUMBER.findall(line.replace(name, ""))) >= 1
    }
    for name, line in rows.items():
        said = [word for word in WORDS if re.search(rf"\b{word}\b", line)]
        if not said:
            continue
        fitting = [
            one
            for one in known[leader, name].values()
            if [one.word] == said
            and agrees(line, one)
            and any(
                is_shown(part, one.p)
                for part in re.findall(r"<? ?[.\d]\S*", line.rpartition("]")[2])
            )
        ]
        assert fitting, (where, name, line, known[leader, name])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KINDS)
def test_word_p_and_interval_are_the_same_everywhere(kind, seed, paragone, tmp_path):
    (path,) = as_written(random_table(seed, kind)).write(tmp_path / "given")
    answer = json_of(paragone("compare", path, "--json"))
    known = known_of(answer)
    out = tmp_path / "out"
    ended = paragone("compare", path, "--out", out)
    assert ended.code == 0, ended.err
    check_answer(ended.out, answer, known, "terminal")
    check_answer("\n".join(answer["answer"]), answer, known, "answer in JSON")
    page = (out / "report.html").read_text(encoding="utf-8")
    checked = sum(check_table(rows, known, "page") for rows in html_tables(page))
    checked += check_table(latex_table((out / "pairs.tex").read_text()), known, "pairs.tex")
    checked += check_table(markdown_table((out / "pairs.md").read_text()), known, "pairs.md")
    assert checked
    assert json.loads((out / "comparison.json").read_text())["pairs"] == answer["pairs"]
    check_csv(out / "pairs.csv", answer)


def check_csv(path: Path, answer: dict) -> None:
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(answer["pairs"])
    for row, known in zip(rows, answer["pairs"], strict=True):
        for name in ("method", "rival", "word"):
            assert row[name] == known[name]
        for name in ("p", "difference", "low", "high"):
            if known.get(name) is None:
                assert row[name] == ""
            else:
                assert float(row[name]) == pytest.approx(known[name], rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_notebook_shows_the_words_of_the_command_line(kind, paragone, tmp_path):
    (path,) = as_written(random_table(4, kind)).write(tmp_path)
    answer = json_of(paragone("compare", path, "--json"))
    found = package.compare(path)
    assert repr(found) == "\n".join(answer["answer"])
    check_answer(repr(found), answer, known_of(answer), "repr")
    for rows in html_tables(found._repr_html_()):
        check_table(rows, known_of(answer), "notebook")
