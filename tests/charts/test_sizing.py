"""Charts of a printed width: as wide as asked for, with text of its own size."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from paragone import compare
from paragone.charts.save import chart_specification
from paragone.charts.sizing import PIXELS_PER_MM, drawn_at, parse_width
from paragone.cli import app
from paragone.errors import InputError
from paragone.stats.chart_rows import behind_the_best

LONG = (
    "HistGradientBoosting(learning_rate=0.05, max_depth=4)",
    "HistGradientBoosting(learning_rate=0.1, max_depth=4)",
)


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    random = np.random.default_rng(0)
    scores = {name: random.uniform(0.6, 0.9, 12).round(3) for name in ("A", "B", "C", "D")}
    return pd.DataFrame({"dataset": [f"d{number}" for number in range(12)], **scores})


def font_sizes(svg: str) -> set[str]:
    return set(re.findall(r'font-size="([\d.]+)px"', svg))


@pytest.mark.parametrize(
    "name", ["critical_difference", "forest", "profile", "rank_flow", "scatter", "win_tie_loss"]
)
def test_a_chart_is_as_wide_as_asked_and_keeps_its_text(frame, name):
    chart = chart_specification(compare(frame, metric="accuracy").charts[name])
    drawings = {width: drawn_at(chart, width) for width in (84.0, 174.0)}
    for width, svg in drawings.items():
        assert f'width="{width:g}mm"' in svg
        assert float(re.search(r'viewBox="0 0 ([\d.]+)', svg)[1]) == pytest.approx(
            width * PIXELS_PER_MM, abs=1
        )
    assert font_sizes(drawings[84.0]) == font_sizes(drawings[174.0])


def test_long_names_are_cut_in_the_middle_and_stay_apart(frame):
    renamed = frame.rename(columns=dict(zip("AB", LONG, strict=True)))
    result = compare(renamed, metric="accuracy")
    svg = drawn_at(chart_specification(result.charts["forest"]), 84.0, result.scores.methods)
    assert LONG[0] not in svg
    assert "…" in svg


def test_what_cannot_be_narrower_is_refused(frame):
    chart = chart_specification(compare(frame, metric="accuracy").charts["pair_matrix"])
    with pytest.raises(InputError, match="too narrow"):
        drawn_at(chart, 60.0)


@pytest.mark.parametrize("width", ["84", "0mm", "-3mm", "900mm", "wide"])
def test_a_width_that_is_none_is_refused(width):
    with pytest.raises(InputError, match="width"):
        parse_width(width)


def test_profiles_against_a_loop():
    frame = pd.DataFrame({"dataset": list("abc"), "A": [0.9, 0.7, np.nan], "B": [0.8, 0.7, 0.5]})
    result = compare(frame, metric="accuracy", missing="worst")
    behind = behind_the_best(result)
    assert behind[:, result.scores.methods.index("A")].tolist() == pytest.approx([0, 0, np.inf])
    assert behind[:, result.scores.methods.index("B")].tolist() == pytest.approx([0.1, 0, 0])
    rows = result.charts["profile"].to_dict()["data"]["values"]
    for row in rows:
        mine = behind[:, result.scores.methods.index(row["method"])]
        assert row["share"] == sum(value <= row["within"] for value in mine) / 3


def test_the_command_lists_and_writes(frame, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # The table is read as that of `paragone compare` is.
    frame.rename(columns={"dataset": "Data set"}).assign(n_rows=90).to_csv("s.csv", index=False)
    listed = CliRunner().invoke(app, ["figure", "s.csv", "--metric", "accuracy"])
    assert {"forest", "profile", "rank_flow"} <= set(listed.output.split())
    asked = [
        "figure",
        "s.csv",
        "forest",
        "--metric",
        "accuracy",
        "--width",
        "double",
        "--formats",
        "svg,pdf,png",
    ]
    written = CliRunner().invoke(app, asked)
    assert written.exit_code == 0, written.output
    assert {file.suffix for file in tmp_path.glob("forest.*")} == {".svg", ".pdf", ".png"}
    assert "n_rows" not in (tmp_path / "forest.svg").read_text()
    box = re.search(rb"/MediaBox\s*\[\s*0 0 ([\d.]+)", (tmp_path / "forest.pdf").read_bytes())
    assert box is None or float(box[1]) == pytest.approx(174 / 25.4 * 72, abs=1)
