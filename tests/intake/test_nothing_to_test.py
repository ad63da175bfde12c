"""Where there is nothing to test, no method is called better on any surface, and the values are printed."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest

from answers import words_of_superiority
from intake.shape_changes import as_it_is
from intake.shapes import SHAPES, Shape, grid, long

NOTHING = [shape for shape in SHAPES.values() if not shape.testable]
TEXTS = (".txt", ".md", ".tex", ".csv", ".json", ".html")


def seen(page: str) -> str:
    """Return what a reader of a page sees."""
    without = re.sub(r"<(script|style)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return unescape(re.sub(r"<[^>]+>", " ", without))


@pytest.mark.parametrize("shape", NOTHING, ids=lambda shape: shape.name)
def test_values_are_printed_and_nobody_is_better(shape: Shape, paragone, tmp_path):
    sources = as_it_is(shape).write(tmp_path)
    ended = paragone("compare", *sources, *shape.options)
    assert ended.code == 0, ended.err
    assert words_of_superiority(ended.out) == []
    for (method, _, _), value in shape.reading.values.items():
        assert method in ended.out
        assert f"{value:.3g}".rstrip("0") in ended.out


@pytest.mark.parametrize("shape", NOTHING, ids=lambda shape: shape.name)
@pytest.mark.parametrize(
    "more", [("--details",), ("--json",), ("--pairs",)], ids=lambda more: more[0]
)
def test_nobody_is_better_in_detail_either(shape: Shape, more, paragone, tmp_path):
    ended = paragone("compare", *as_it_is(shape).write(tmp_path), *shape.options, *more)
    assert ended.code == 0, ended.err
    assert words_of_superiority(ended.out) == []
    if more == ("--json",):
        assert not json.loads(ended.out).get("pairs")


@pytest.mark.parametrize("shape", NOTHING, ids=lambda shape: shape.name)
def test_nobody_is_better_without_an_option(shape: Shape, paragone, tmp_path):
    ended = paragone("compare", *as_it_is(shape).write(tmp_path))
    assert ended.code in (0, 2)
    assert words_of_superiority(ended.out + ended.err) == []


@pytest.mark.parametrize("direction", ["higher", "lower"])
@pytest.mark.parametrize("shape", NOTHING, ids=lambda shape: shape.name)
def test_a_direction_switches_no_doubt_off(shape: Shape, direction, paragone, tmp_path):
    ended = paragone("compare", *as_it_is(shape).write(tmp_path), "--direction", direction)
    assert ended.code in (0, 2)
    assert words_of_superiority(ended.out + ended.err) == []


@pytest.mark.parametrize("shape", NOTHING[::4], ids=lambda shape: shape.name)
def test_nobody_is_better_in_written_files(shape: Shape, paragone, tmp_path):
    sources = as_it_is(shape).write(tmp_path / "given")
    ended = paragone("compare", *sources, *shape.options, "--out", tmp_path / "answer")
    assert ended.code == 0, ended.err
    for path in sorted((tmp_path / "answer").rglob("*")):
        if path.suffix in TEXTS:
            text = path.read_text(encoding="utf-8")
            assert words_of_superiority(seen(text) if path.suffix == ".html" else text) == [], path


def test_where_no_dataset_has_every_method_it_is_said_whose_gaps(paragone, tmp_path):
    envs = [f"env{n}" for n in range(9)]
    values = grid(1, ("ppo", "sac", "dqn", "qrdqn"), envs, low=10.0, high=900.0, digits=1)
    discrete = set(envs[:4])
    kept = {
        (m, d, u): value
        for (m, d, u), value in values.items()
        if (d in discrete) != (m == "sac") and (m != "qrdqn" or d != "env0")
    }
    frame = long(kept, method="algo", dataset="env_id", value="mean_reward")
    frame.to_csv(tmp_path / "benchmark.csv", index=False)
    ended = paragone("compare", tmp_path / "benchmark.csv")
    assert "sac" in ended.out + ended.err
    assert ended.code == 0 or "--column" in ended.err or "--set" in ended.err, ended.err
