"""A file of under seventy lines outside the package brings a protocol, two metrics, a reader and a chart."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from paragone.lab.results import Results

HERE = Path(__file__).parent
EXPERIMENT = """
name = "moons"
seed = 3

[data]
sets = [{ path = "left.points", reader = "moons:points" }, { path = "right.points", reader = "moons:points" }]

[split]
folds = 3

[protocol]
kind = "moons:Clustering"
n_clusters = 2

[methods.KMeans]
use = "sklearn.cluster:KMeans"

[methods.Bisecting]
use = "sklearn.cluster:BisectingKMeans"

[methods.MiniBatch]
use = "sklearn.cluster:MiniBatchKMeans"
"""


def paragone(folder: Path, *arguments: str, code: int = 0) -> str:
    command = [sys.executable, "-m", "paragone", *arguments]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert ended.returncode == code, ended.stdout + ended.stderr
    return ended.stdout


def write_points(file: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = [
        (name, rng.normal(place, 0.9, 2))
        for name, place in (("upper", 1.0), ("lower", -1.0))
        for _ in range(30)
    ]
    file.write_text(
        "\n".join(f"{x:.4f};{y:.4f} = {name}" for name, (x, y) in rows), encoding="utf-8"
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("moons")
    shutil.copy(HERE / "moons.py", place)
    write_points(place / "left.points", 1)
    write_points(place / "right.points", 2)
    (place / "moons.toml").write_text(EXPERIMENT, encoding="utf-8")
    paragone(place, "run", "moons.toml", "--workers", "0")
    return place


def test_the_file_is_short():
    lines = (HERE / "moons.py").read_text(encoding="utf-8").splitlines()
    assert len(lines) < 70


def test_status_and_scores_know_its_cells_and_metrics(folder):
    cells = json.loads(paragone(folder, "status", "moons.sqlite", "--json"))
    assert [cell["status"] for cell in cells] == ["done"] * 18
    assert {cell["protocol"] for cell in cells} == {"clustering"}
    scores = json.loads(paragone(folder, "scores", "moons.sqlite", "--json"))
    assert {score["metric"] for score in scores} == {"silhouette", "adjusted_rand"}
    assert len(scores) == 36
    assert "Silhouette (clustering, higher is better)" in paragone(folder, "scores", "moons.sqlite")


def test_its_page_has_the_common_sections_and_its_own_chart_with_consent_alone(folder):
    paragone(folder, "report", "moons.sqlite", "--out", "plain", "--no-charts")
    paragone(folder, "report", "moons.sqlite", "--out", "whole", "--no-charts", "--run-code")
    plain, whole = (
        (folder / name / "report.html").read_text(encoding="utf-8") for name in ("plain", "whole")
    )
    common = ["verdict", "charts", "evidence", "answer", "datasets", "methods", "failures", "how"]
    assert re.findall(r'<section id="([\w-]+)"', plain) == common
    assert re.findall(r'<section id="([\w-]+)"', whole) == [*common[:6], "clusters", *common[6:]]
    assert "its code is not at hand" in plain
    assert "its code is not at hand" not in whole
    assert '<img alt="All folds" src="data:image/svg+xml;base64,' in whole
    assert (folder / "whole" / "table_silhouette.tex").is_file()


def test_its_methods_are_compared(folder):
    found = json.loads(
        paragone(folder, "compare", "moons.sqlite", "--metric", "adjusted_rand", "--json")
    )
    assert "KMeans" in json.dumps(found)


def test_an_audit_runs_its_cells_again(folder):
    told = paragone(folder, "audit", "moons.sqlite", "--run-code", "--json")
    assert json.loads(told)


def test_a_run_that_was_killed_goes_on_to_the_same_scores(folder):
    command = [
        sys.executable,
        "-m",
        "paragone",
        "run",
        "moons.toml",
        "--store",
        "killed.sqlite",
        "--workers",
        "1",
    ]
    started = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while started.poll() is None and not (folder / "killed.sqlite").exists():
        time.sleep(0.05)
    if started.poll() is None:
        os.kill(started.pid, signal.SIGKILL)
        started.wait()
    paragone(folder, "run", "moons.toml", "--store", "killed.sqlite", "--workers", "1")
    with (
        Results.open(folder / "killed.sqlite") as killed,
        Results.open(folder / "moons.sqlite") as whole,
    ):
        assert killed.scores().equals(whole.scores())


def test_the_live_view_shows_it(folder):
    from paragone.reporting.live.pages import Selection, build

    built = build(folder / "moons.sqlite", Selection())
    assert not built.refusal
    assert "Silhouette" in built.html
    assert built.options["metric"] == ["silhouette", "adjusted_rand"]
