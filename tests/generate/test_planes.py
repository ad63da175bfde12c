"""Planes: the truth of every cell is the formula's own, surfaces are what the methods say, drawings hold both."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from paragone.charts.save import chart_specification
from paragone.generate import GeneratorSpec, Laboratory
from paragone.generate.pictures import (
    ELSEWHERE,
    LEVELS,
    STEPS,
    plane_chart,
    plane_of,
    runs,
    surfaces,
)


@pytest.mark.parametrize(
    "formula", ["mul(X0, X1)", "mul(X3, mul(X1, add(X2, X5)))", "gt(X4, 0.3)", "add(X0, X9)"]
)
def test_the_truth_of_a_cell_is_the_label_of_the_row_that_it_stands_for(formula):
    generator = GeneratorSpec(formula)
    plane, threshold = plane_of(generator), generator.threshold()
    for up, across in ((0, 0), (7, 31), (STEPS - 1, 2)):
        row = np.zeros(10)
        for feature, value in {
            **plane.held,
            plane.across: plane.at[across],
            plane.up: plane.at[up],
        }.items():
            row[feature] = value
        assert (
            plane.truth[up, across] == threshold.label(generator.expression.evaluate(row[None]))[0]
        )
    # The slice shows both classes, a parity of three too.
    assert 0.2 < plane.truth.mean() < 0.8


def test_the_strongest_features_span_the_plane_and_the_rest_stand_still():
    plane = plane_of(GeneratorSpec("add(mul(3.0, X2), add(mul(2.0, X7), mul(0.5, X4)))"))
    assert (plane.across, plane.up, list(plane.held)) == (2, 7, [4])
    assert plane.told == "a slice with the other features at 0"
    parity = plane_of(GeneratorSpec("mul(X3, mul(X1, X2))"))
    assert parity.told == f"a slice with X{next(iter(parity.held))} = 0.7"
    assert plane_of(GeneratorSpec("add(X0, X1)")).told == "the other features do not matter"


def test_a_surface_is_what_the_method_says_of_the_cells(tmp_path):
    generator = GeneratorSpec("add(X0, X1)", n_features=3)
    data, plane = generator.sample(200, seed=1, name="sum"), plane_of(generator)
    methods = {
        "L": {"use": "sklearn.linear_model:LogisticRegression"},
        "S": {"use": "sklearn.svm:LinearSVC"},
    }
    with Laboratory(tmp_path / "lab.sqlite") as laboratory:
        shown = surfaces("sum", plane, generator, data, methods, laboratory)
    cells = np.full((STEPS * STEPS, 3), ELSEWHERE)
    cells[:, 0], cells[:, 1] = np.tile(plane.at, STEPS), np.repeat(plane.at, STEPS)
    expected = LogisticRegression().fit(data.X, data.y).predict_proba(cells)[:, 1]
    np.testing.assert_allclose(shown["L"].ravel(), expected, atol=1e-6)
    # Decision values keep their sign: more than a half says class 1.
    assert ((shown["S"] > 0.5) == plane.truth.astype(bool)).mean() > 0.95


def test_rectangles_cover_every_cell_once_with_its_level():
    rng = np.random.default_rng(0)
    at = np.arange(8) + 0.5
    values = rng.random((8, 8))
    covered = np.full((8, 8), np.nan)
    for one in runs(values, at):
        part = covered[int(one["y"]) : int(one["y2"]), int(one["x"]) : int(one["x2"])]
        assert np.isnan(part).all()
        part[:] = one["sure"]
    np.testing.assert_array_equal(covered, (np.floor(values * LEVELS) + 0.5) / LEVELS)


def test_points_of_the_dataset_are_drawn_with_their_labels():
    plane = plane_of(GeneratorSpec("mul(X0, X1)"))
    layers = chart_specification(
        plane_chart(plane, plane.truth, "t", [(0.1, 0.2, 1), (9.0, 0.0, 0)])
    )["layer"]
    assert layers[1]["data"]["values"] == [{"x": 0.1, "y": 0.2, "label": 1}]


def test_features_that_do_not_matter_do_not_tie_the_truth_of_a_slice():
    """At X3 = 0 the minimum is 0 where X1 and X2 have one sign, and X0 would decide nothing there."""
    plane = plane_of(GeneratorSpec("mul(X0, min(mul(X3, X3), mul(X1, X2)))", n_features=4))
    assert {plane.across, plane.up, *plane.held} == {0, 1, 2}
    rows = plane.rows(4)
    sign = np.prod(rows[:, :3], axis=1) >= 0
    np.testing.assert_array_equal(plane.truth.ravel(), sign)
    assert 0.4 < plane.truth.mean() < 0.6
