"""The answer is short, whatever comes in: at most 24 lines of 80 columns, piped as on a terminal."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rich.cells import cell_len

MOST_LINES, WIDTH = 24, 80
LONG = "results/lm-evaluation-harness/org__a-model-with-a-name-that-nobody-shortens-before-publishing-it-v{:03d}"


def long_names(n: int) -> list[str]:
    names = [LONG.format(place) for place in range(n)]
    assert all(len(name) >= 95 for name in names)
    return names


def over_datasets(methods: Sequence[str], n: int, seed: int = 0) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    effects = np.linspace(0, 0.2, len(methods))
    values = (
        generator.uniform(0.3, 0.7, (n, 1)) + effects + generator.normal(0, 0.03, (n, len(methods)))
    )
    frame = pd.DataFrame(values.round(4), columns=list(methods))
    frame.insert(0, "dataset", [f"data set {place}" for place in range(n)])
    return frame.melt("dataset", var_name="method", value_name="accuracy")


def of_items(methods: Sequence[str], tasks: int, items: int) -> pd.DataFrame:
    generator = np.random.default_rng(1)
    rows = [(f"mmlu_subject_{t:02d}", f"q{t}-{n}") for t in range(tasks) for n in range(items)]
    parts = [
        pd.DataFrame(rows, columns=["task", "question"]).assign(
            model=name, correct=(generator.random(len(rows)) < 0.5 + 0.02 * place).astype(int)
        )
        for place, name in enumerate(methods)
    ]
    return pd.concat(parts, ignore_index=True)


def with_folds(methods: Sequence[str], datasets: int, folds: int) -> pd.DataFrame:
    parts = [over_datasets(methods, datasets, seed).assign(fold=seed) for seed in range(folds)]
    return pd.concat(parts, ignore_index=True)


def one_value_each(n_models: int, n_metrics: int) -> pd.DataFrame:
    generator = np.random.default_rng(2)
    names = [
        "accuracy",
        "precision",
        "recall",
        "f1",
        "roc_auc",
        "mcc",
        "log_loss",
        "rmse",
        "mae",
        "kappa",
    ][:n_metrics]
    values = generator.uniform(0.5, 0.9, (n_models, len(names))).round(3)
    return pd.DataFrame(values, columns=names).assign(model=[f"model {n}" for n in range(n_models)])


TABLES: dict[str, Callable[[], pd.DataFrame]] = {
    "two methods": lambda: over_datasets(("A", "B"), 12),
    "two methods on one dataset": lambda: with_folds(("A", "B"), 1, 10),
    "seven methods with folds": lambda: with_folds([f"method {n}" for n in range(7)], 9, 5),
    "sixty methods on 112 datasets": lambda: over_datasets([f"method {n}" for n in range(60)], 112),
    "two models in 57 tasks": lambda: of_items(("base", "new"), 57, 12),
    "six models in 57 tasks": lambda: of_items([f"model {n}" for n in range(6)], 57, 8),
    "names of a hundred letters": lambda: over_datasets(long_names(5), 14),
    "two names of a hundred letters": lambda: of_items(long_names(2), 5, 20),
    "sixty names of a hundred letters": lambda: over_datasets(long_names(60), 20),
    "one value of sixty models": lambda: one_value_each(60, 1),
    "ten metrics of sixty models": lambda: one_value_each(60, 10),
    "wide characters": lambda: over_datasets(("モデル一号機", "模型二", "naïve Bayes"), 12),
}


def check_short(text: str) -> None:
    lines = text.rstrip("\n").split("\n")
    assert len(lines) <= MOST_LINES, text
    assert max(map(cell_len, lines)) <= WIDTH, text
    assert "\x1b" not in text


@pytest.mark.parametrize("name", TABLES)
def test_an_answer_fits_on_a_screen(name, paragone, tmp_path):
    TABLES[name]().to_csv(tmp_path / "table.csv", index=False)
    ended = paragone("compare", tmp_path / "table.csv")
    assert ended.code == 0, ended.err
    check_short(ended.out)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("metric", ["accuracy", "nothing of the kind"])
def test_a_question_fits_on_a_screen(name, metric, paragone, tmp_path):
    frame = TABLES[name]()
    odd = frame.rename(columns={"dataset": "x1", "question": "x2", "fold": "x3", "accuracy": "x4"})
    odd.to_csv(tmp_path / "table.csv", index=False)
    ended = paragone("compare", tmp_path / "table.csv", "--metric", metric)
    told = re.sub(r"\s+", " ", ended.err)
    assert len(told) <= MOST_LINES * WIDTH
    if ended.code == 0:
        check_short(ended.out)


@pytest.mark.system
@pytest.mark.parametrize(
    "name", ["two models in 57 tasks", "names of a hundred letters", "seven methods with folds"]
)
def test_a_pipe_gets_what_a_terminal_shows(name, tmp_path):
    TABLES[name]().to_csv(tmp_path / "table.csv", index=False)
    piped = _run(tmp_path, None)
    ours, theirs = pty.openpty()
    try:
        _run(tmp_path, theirs)
        os.close(theirs)
        shown = _everything(ours)
    finally:
        os.close(ours)
    plain = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", shown).replace("\r\n", "\n")
    assert [line.rstrip() for line in plain.splitlines()] == [
        line.rstrip() for line in piped.splitlines()
    ]


def _run(folder: Path, out: int | None) -> str:
    """Compare in a process of its own and return what it wrote into a pipe; or let it write to a terminal."""
    environment = {**os.environ, "COLUMNS": str(WIDTH), "LINES": "24", "TERM": "xterm-256color"}
    ended = subprocess.run(
        [sys.executable, "-m", "paragone", "compare", "table.csv"],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if out is None else out,
        stderr=subprocess.PIPE,
        text=True,
        check=True,
    )
    return ended.stdout or ""


def _everything(end: int) -> str:
    """Return what stands in the buffer of a terminal whose other end is closed."""
    parts = []
    while True:
        try:
            part = os.read(end, 65536)
        except OSError:
            break
        if not part:
            break
        parts.append(part)
    return b"".join(parts).decode()
