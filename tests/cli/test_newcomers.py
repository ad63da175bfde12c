"""The first commands of somebody new: a run ends in its answer, and what is wrong is told in the words of the place."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

RANKER = """
import numpy as np


class Spread:
    def fit(self, X, y):
        self.ranking_ = np.argsort(-np.asarray(X, dtype=float).std(axis=0), kind="stable")
        return self
"""
METHODS = (
    'methods.Mine.use = "spread:Spread"\nmethods.A-random-one-with-a-very-long-name-of-its-own.use'
    ' = "random"\n'
)
TABLE = "genes.csv"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 12)) * np.arange(12, 0, -1)
    table = pd.DataFrame(X.round(2), columns=[f"g{place}" for place in range(12)])
    table["up"], table["down"] = (X[:, 0] > 0).astype(int), (X[:, 1] > 0).astype(int)
    table["kind"] = np.select([X[:, 0] > 4, X[:, 0] < -4], ["high", "low"], "middle")
    table.to_csv(tmp_path / TABLE, index=False)
    (tmp_path / "spread.py").write_text(RANKER)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def experiment(folder: Path, data: str) -> str:
    begin = f'name = "genes"\ndata.sets = ["{TABLE}"]\n{data}\n'
    rest = "split.folds = 2\nprotocol.k = { min = 2, max = 6, step = 2 }\n"
    (folder / "genes.toml").write_text(begin + rest + METHODS)
    return "genes.toml"


@pytest.mark.parametrize(
    "data",
    [
        'data.target = ["up", "down"]\ndata.task = "multilabel"\ndata.drop = ["kind"]',
        'data.target = "kind"\ndata.task = "multilabel"\ndata.drop = ["up", "down"]',
    ],
)
def test_a_run_of_an_own_ranker_on_an_own_table_ends_in_its_answer(
    paragone, folder: Path, data: str
) -> None:
    ended = paragone("run", experiment(folder, data), "--workers", 0)
    assert ended.code == 0, ended.err
    lines = ended.out.splitlines()
    assert lines[0].startswith("Mine has ")
    finding = " ".join(ended.out.partition("\n\n")[0].split())
    assert finding.endswith(
        "Two scores of a dataset say too little of their spread: nothing is said of the learners."
    )
    means = dict(re.findall(r"(\S+) has (\d\.\d{3})", finding))
    shown = {float(number) for number in re.findall(r"^\d  \S+ +(\S+)", ended.out, re.MULTILINE)}
    assert set(means) == {"Mine", "A-random-one-with-a-very-long-name-of-its-own"}
    assert set(map(float, means.values())) == shown
    # Nothing was tested, so there is no interval to be explained.
    assert "interval" not in ended.out
    assert max(map(len, lines)) <= 80
    ranked = [line.split()[:2] for line in lines if re.match(r"\d  \w", line)]
    assert [rank for rank, _ in ranked] == ["1", "2"]
    assert {name for _, name in ranked if "…" not in name} == {"Mine"}
    assert lines[-1] == "next: paragone report genes.sqlite --out genes-report"


SETTINGS = r"(?<![\w\"'-])(target|task|drop|groups|labels|name|time|weight|metric|method|dataset|value|reference|at)="
"""An argument of Python as messages write it; `--target=` and `k=10` are no such thing."""


@pytest.mark.parametrize(
    ("command", "word"),
    [
        (("try", TABLE), "--target"),
        (("init", TABLE), "--target"),
        (("data", "describe", TABLE), "--target"),
        (("data", "describe", TABLE, "--target", "up"), "--task"),
        (("compare", "wide.csv"), "--direction higher"),
        (("compare", "two.csv"), "--metric"),
        (("compare", "wide.csv", "--metric", "accuracy", "--reference", "C"), "'C'"),
        (("run", "no-target.toml"), "key 'target'"),
        (("run", "no-task.toml"), "key 'task'"),
        (("run", "classes.toml"), 'task = "multilabel"'),
        (("run", "groups.toml"), "key 'groups'"),
        (("run", "time.toml"), "'data.time'"),
    ],
)
def test_messages_of_the_shell_speak_of_options_and_keys(
    paragone, folder: Path, command: tuple[str, ...], word: str
) -> None:
    wide = pd.DataFrame(
        {"dataset": list("abcd"), "A": [0.5, 0.6, 0.7, 0.8], "B": [0.4, 0.5, 0.9, 0.7]}
    )
    wide.to_csv(folder / "wide.csv", index=False)
    long = wide.melt("dataset", var_name="method", value_name="accuracy").assign(f1=0.5)
    long.to_csv(folder / "two.csv", index=False)
    labels = 'data.target = ["up", "down"]\ndata.task = "multilabel"'
    files = {
        "no-target.toml": "",
        "no-task.toml": 'data.target = "up"',
        "classes.toml": 'data.target = "kind"\ndata.task = "classification"',
        "groups.toml": f'{labels}\ndata.drop = ["kind"]\nsplit.kind = "groups"',
        "time.toml": f'{labels}\ndata.time = "kind"',
    }
    if command[1] in files:
        (folder / experiment(folder, files[command[1]])).rename(folder / command[1])
    ended = paragone(*command)
    assert ended.code == 2
    assert word in ended.err
    assert re.search(SETTINGS, ended.err) is None, ended.err
    assert len(ended.err.splitlines()) == 1


@pytest.mark.parametrize("verb", ["run", "try", "compare", "report", "view"])
def test_a_command_says_at_once_what_it_begins_with_and_only_to_people(
    paragone, tmp_path, monkeypatch, verb
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "none.csv" in paragone(verb, "none.csv").err.splitlines()[-1]
    monkeypatch.setattr("paragone.terminal.sys.stderr.isatty", lambda: True, raising=False)
    first, *_ = paragone(verb, "none.csv").err.splitlines()
    assert re.search(r"(reading|opening) none\.csv", first)
