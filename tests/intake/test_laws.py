"""One answer: the order of rows, columns and files and the names of methods change no word, p or interval."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from answers import Told, json_of, pairs_told
from intake.random_tables import KINDS, RandomTable, Writing, as_written, random_table, writings

QUICK = 12
"""Tables of each kind in the suite; `make test-slow` runs 10,000."""
MANY = 10_000


def told_of(command, table: RandomTable, writing: Writing, folder) -> dict[tuple[str, str], Told]:
    """Return what is said of every pair, under the first names of the methods."""
    sources = writing.write(folder / writing.change)
    options = ["--metric", table.metric] if writing.change == "wide" else []
    answer = json_of(command("compare", *sources, *options, "--json"))
    first = {called: name for name, called in writing.names.items()}
    return {(first[a], first[b]): told for (a, b), told in pairs_told(answer).items()}


def same(one: Told, other: Told) -> bool:
    """Whether two verdicts are one, but for the last digits that an order of sums leaves."""
    numbers = [
        (one.p, other.p),
        (one.difference, other.difference),
        (one.low, other.low),
        (one.high, other.high),
    ]
    return one.word == other.word and all(_equal(first, second) for first, second in numbers)


def _equal(first: float | None, second: float | None) -> bool:
    if first is None or second is None:
        return first is second
    return math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-12)


def differing(command, seed: int, kind: str | None, folder) -> str:
    """Say which writing of a table gives another answer; nothing where all give the same."""
    table = random_table(seed, kind)
    known = told_of(command, table, as_written(table), folder)
    for writing in writings(table, seed):
        found = told_of(command, table, writing, folder)
        if found.keys() != known.keys():
            return f"table {seed} ({table.kind}), {writing.change}: other pairs"
        for pair, told in found.items():
            if not same(told, known[pair]):
                return f"table {seed} ({table.kind}), {writing.change}, {pair}: {told}, not {known[pair]}"
    return ""


@pytest.mark.parametrize("kind", KINDS)
def test_order_names_and_form_change_nothing(kind, paragone, tmp_path):
    for seed in range(QUICK):
        assert differing(paragone, seed, kind, tmp_path / str(seed)) == ""


@pytest.mark.slow
def test_order_names_and_form_change_nothing_in_ten_thousand_tables(paragone, tmp_path):
    for seed in range(QUICK, MANY // 6):
        assert differing(paragone, seed, None, tmp_path / str(seed)) == ""


def nine_hundred_questions() -> RandomTable:
    """Return six models on 900 questions of five tasks, near enough to each other that a family decides."""
    generator = np.random.default_rng(900)
    tasks = np.repeat(["code", "logic", "math", "trivia", "law"], [120, 100, 180, 300, 200])
    hard = generator.normal(0, 1, 900)
    parts = []
    for place, ability in enumerate((0.45, 0.6, 0.1, 0.3, 0.5, 0.2)):
        right = hard + generator.normal(0, 1, 900) < ability
        parts.append(
            pd.DataFrame(
                {
                    "method": f"org/model-{place}",
                    "task": tasks,
                    "question": [f"q{n}" for n in range(900)],
                    "correct": right.astype(int),
                }
            )
        )
    return RandomTable(
        "answers of tasks", pd.concat(parts, ignore_index=True), ("task", "question"), "correct"
    )


def test_long_and_wide_tables_of_models_and_questions_say_the_same(paragone, tmp_path):
    table = nine_hundred_questions()
    known = told_of(paragone, table, as_written(table), tmp_path)
    for writing in _orders(table):
        found = told_of(paragone, table, writing, tmp_path)
        assert found.keys() == known.keys()
        for pair, told in found.items():
            assert same(told, known[pair]), (writing.change, pair)


def _orders(table: RandomTable) -> list[Writing]:
    """Return the wide table with each model as its first column, and the long one with each first."""
    names = {name: name for name in table.methods}
    found = []
    for place, name in enumerate(table.methods):
        order = [name, *(other for other in table.methods if other != name)]
        wide = table.wide()[[*table.keys, *order]]
        found.append(Writing("wide", {f"wide_{place}.csv": wide}, names))
        rows = pd.concat([table.frame[table.frame["method"] == one] for one in order])
        found.append(Writing(f"long {place}", {"long.csv": rows}, names))
    return found
