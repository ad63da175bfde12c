"""Stores that audits look at, each made once, and a copy of one for every test that spoils it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from paragone import Experiment
from paragone.cli import main

sys.path.insert(0, str(Path(__file__).parent))

from made_labs import CURVE, crossval_experiments, topk_experiment


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str


@pytest.fixture
def paragone(monkeypatch, capsys) -> Callable[..., Ended]:
    def call(*args: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["paragone", *(str(arg) for arg in args)])
        try:
            main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        captured = capsys.readouterr()
        return Ended(code, captured.out, captured.err)

    return call


@pytest.fixture(scope="session")
def made_curve(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("curve")
    (folder / "curves.toml").write_text(CURVE)
    Experiment.from_toml(folder / "curves.toml").run(folder / "curves.sqlite", workers=0).close()
    return folder


@pytest.fixture(scope="session")
def made_crossval(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("crossval")
    for name, experiment in crossval_experiments().items():
        experiment.run(folder / f"{name}.sqlite", workers=0).close()
    return folder


@pytest.fixture(scope="session")
def made_topk(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("topk")
    topk_experiment().run(folder / "garden.sqlite", workers=0).close()
    return folder


@pytest.fixture
def curve_lab(made_curve, tmp_path) -> Path:
    return shutil.copytree(made_curve, tmp_path / "curve")


@pytest.fixture
def crossval_lab(made_crossval, tmp_path) -> Path:
    return shutil.copytree(made_crossval, tmp_path / "crossval")


@pytest.fixture
def topk_lab(made_topk, tmp_path) -> Path:
    return shutil.copytree(made_topk, tmp_path / "topk")
