"""Stores that audits look at, each made once, and a copy of one for every test that spoils it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from paragone import Experiment

sys.path.insert(0, str(Path(__file__).parent))

from made_labs import CURVE, crossval_experiments, topk_experiment


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
