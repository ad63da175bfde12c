"""The examples of the help: each is taken by its verb, and each runs in a folder that has its files."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import typer
from scipy.io import savemat
from typer.testing import CliRunner

from paragone.cli import app

FIRST = """
name = "first"
data.sets = ["wine-traits", "breast-cancer-traits"]
split.folds = 2
protocol = { kind = "curve", k = { min = 4, max = 8, step = 4 }, metrics = ["micro_f1"] }
methods.DAGFS.use = "variance"
methods.Random.use = "random"
"""
ELSEWHERE = {
    "a cluster": ("--engine dask", "--engine slurm"),
    "it serves until it is stopped": ("paragone view",),
    "tests of their own run them": (
        "paragone demo",
        "paragone duel",
        "paragone generate",
        "paragone import llama.jsonl",
        "paragone import run",
        "paragone topk",
    ),
}
"""Examples that are parsed here and run elsewhere, or need what a test does not have."""
LONG = (
    "paragone try",
    "paragone report",
    "paragone compare",
    "paragone pairwise",
    "paragone figure",
    "paragone audit",
)
"""Examples that fit many models or draw many charts."""


def verbs(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if hasattr(command, "commands"):
        for name, inner in command.commands.items():
            yield from verbs(inner, (*path, name))
    else:
        yield path, command


def examples() -> list[str]:
    found = []
    for path, command in verbs(typer.main.get_command(app)):
        text = " ".join(
            re.sub(r"\[/?bold\]", "", f"{command.help or ''} {command.epilog or ''}").split()
        )
        mine = re.findall(r"Example: (paragone .*?)(?= Example:|$)", text)
        assert mine, f"paragone {' '.join(path)} has no example"
        found += mine
    return found


EXAMPLES = examples()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "first.toml").write_text(FIRST)
    houses = pd.DataFrame(
        {"size": rng.normal(100, 20, 40).round(1), "price": rng.normal(300, 50, 40).round(1)}
    )
    houses.to_csv("houses.csv", index=False)
    churn = pd.DataFrame({"calls": rng.poisson(2, 60), "bill": rng.gamma(4, 10, 60).round(2)})
    churn["churned"] = np.where(churn["calls"] + rng.normal(0, 1, 60) > 2, "yes", "no")
    churn.to_csv("churn.csv", index=False)
    for name, level in (("mma", 0.4), ("au", 0.3)):
        accuracy = (level + rng.normal(0, 0.05, 12)).round(3)
        pd.DataFrame({"subject": range(12), "accuracy": accuracy}).to_csv(
            f"{name}.csv", index=False
        )
    savemat("Arts.mat", {"X": rng.normal(size=(60, 5)), "Y": rng.integers(0, 2, (60, 3))})
    return tmp_path


def run(command: str) -> None:
    ended = CliRunner().invoke(app, [*shlex.split(command)[1:]], catch_exceptions=False)
    # An audit that finds something ends with 1.
    assert ended.exit_code in ((0, 1) if command.startswith("paragone audit") else (0,)), (
        f"{command}\n{ended.output}"
    )


def prepare(command: str, folder: Path) -> None:
    """Make what a command works on by the commands that come before it."""
    words = shlex.split(command)
    if any(
        word
        in (
            "first.sqlite",
            "laptop.sqlite",
            "first-archive",
            "report/report.html",
            "scores.csv",
        )
        for word in words
    ):
        run("paragone run examples/first.toml --store first.sqlite --workers 0")
    if "scores.csv" in words and "--out" in words and words[1] == "compare":
        run("paragone scores first.sqlite --metric micro_f1 --out scores.csv")
    if words[1:3] == ["store", "merge"]:
        shutil.copy("first.sqlite", "laptop.sqlite")
        shutil.move("first.sqlite", "cluster.sqlite")
    if words[1] == "import":
        run("paragone store archive first.sqlite --out first-archive")
        (folder / "first.sqlite").unlink()
    if words[1:3] == ["store", "reproduce"]:
        run("paragone report first.sqlite --out report --no-charts")
    if words[1] == "audit":
        run("paragone report first.sqlite --out paper --no-charts")


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_is_taken_by_its_verb(example: str) -> None:
    words = shlex.split(example)[1:]
    command = typer.main.get_command(app)
    while hasattr(command, "commands"):
        command = command.commands[words.pop(0)]
    command.make_context("paragone", words, resilient_parsing=False).close()


@pytest.mark.parametrize(
    "example",
    [
        pytest.param(one, marks=[pytest.mark.slow] if one.startswith(LONG) else [])
        for one in EXAMPLES
        if not any(part in one for parts in ELSEWHERE.values() for part in parts)
    ],
)
def test_every_example_runs_where_its_files_are(example: str, folder: Path) -> None:
    prepare(example, folder)
    run(example)
