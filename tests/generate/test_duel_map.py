"""Maps of duels: intervals by a second way, borders by hand, and points that are means of real fits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from paragone.charts.save import chart_specification
from paragone.errors import InputError
from paragone.generate import Contender
from paragone.generate.duel_map import (
    DuelMap,
    MapPoint,
    border_of,
    map_duel,
    simultaneous,
)
from paragone.generate.duels import DuelPlan
from paragone.generate.pages import plane_chart, write_map
from paragone.stats import Interval

LINEAR = Contender("Linear", "sklearn.linear_model:LogisticRegression")
TREE = Contender("Tree", "sklearn.tree:DecisionTreeClassifier", {"max_depth": 4})
SMALL = DuelPlan(seed=3, rows=100, features=2, trials=1, folds=2, fresh=200)


def point(rows, lead, half=0.01, axis="noise", value=0.0):
    return MapPoint(
        "mul(X0, X1)", axis, value, rows, (lead, lead), Interval(lead, lead - half, lead + half)
    )


def test_intervals_are_students_at_bonferronis_level():
    leads = np.random.default_rng(1).normal(0.1, 0.05, size=6)
    found = simultaneous(leads, 24)
    low, high = stats.t.interval(1 - 0.05 / 24, 5, leads.mean(), stats.sem(leads))
    assert (found.estimate, found.low, found.high) == pytest.approx((leads.mean(), low, high))
    # Leads without any spread leave nothing to doubt; one lead alone bounds nothing.
    assert (simultaneous([0.2, 0.2, 0.2], 3).low, np.isnan(simultaneous([0.2], 3).low)) == (
        pytest.approx(0.2),
        True,
    )


@pytest.mark.parametrize(
    ("leads", "expected"),
    [
        ((-0.1, -0.05, 0.2), (200.0, 400.0, "A overtakes B between 200 and 400 rows")),
        ((0.1, -0.05, -0.2), (100.0, 200.0, "B overtakes A between 100 and 200 rows")),
        ((0.1, -0.1, 0.2), (200.0, 400.0, "A overtakes B between 200 and 400 rows")),
    ],
)
def test_the_border_is_where_the_lead_changes_its_sign_for_the_last_time(leads, expected):
    line = [point(rows, lead) for rows, lead in zip((100, 200, 400), leads, strict=True)]
    assert border_of(line, "A", "B") == expected
    assert border_of(line[:1], "A", "B")[2].endswith("from 100 to 100 rows")


def test_a_border_without_a_sure_point_says_that_means_alone_speak():
    line = [point(rows, lead, half=0.3) for rows, lead in ((100, -0.1), (200, 0.1))]
    assert border_of(line, "A", "B")[2].endswith(
        "between 100 and 200 rows, by the means alone: no interval excludes 0"
    )
    # One sure point on either side of the border is enough; one elsewhere is not.
    sure = [line[0], point(200, 0.4, half=0.3)]
    assert border_of(sure, "A", "B")[2].endswith("between 100 and 200 rows")
    assert "means alone" in border_of([point(50, -0.4, half=0.3), *line], "A", "B")[2]


def test_no_limit_of_a_difference_of_aurocs_is_beyond_one():
    found = simultaneous([-0.9, 0.2, -0.6], 20)
    assert (found.low, found.high) == (-1, 1)


def test_a_point_is_sure_only_where_its_interval_excludes_zero():
    assert [point(1, 0.02).verdict, point(1, -0.02).verdict, point(1, 0.005).verdict] == [
        "first",
        "second",
        "open",
    ]
    found = DuelMap("A", "B", (point(100, 0.02), point(200, -0.3), point(400, 0.0)), 2, 1)
    assert "A is ahead at 1 of 3 points, B at 1, 1 are open" in found.sentences()[0]
    cells = chart_specification(plane_chart(found, "mul(X0, X1)", "noise"))["data"]["values"]
    assert [(cell["rows"], cell["lead"], cell["text"]) for cell in cells] == [
        ("100", 0.02, "+0.02"), ("200", -0.3, "−0.30"), ("400", 0.0, "+0.00"),
    ]  # fmt: skip


def test_a_map_is_measured_on_its_knobs_and_written_with_its_borders(tmp_path):
    axes = {"noise": (0.0, 0.9)}
    found = map_duel(
        LINEAR, TREE, ["mul(X0, X1)"], tmp_path, SMALL, axes=axes, row_shares=(0.5, 2.0), samples=3
    )
    table = found.table().set_index(["value", "rows"])
    assert sorted(table.index) == [(0.0, 50), (0.0, 200), (0.9, 50), (0.9, 200)]
    # A linear model cannot see a product, and nobody can see what is nearly all noise.
    assert table.loc[(0.0, 200), "lead"] < -0.25
    assert abs(table.loc[(0.9, 200), "lead"]) < 0.12
    assert table.loc[(0.0, 200), "samples won"] == 0
    page = write_map(found, tmp_path / "map").read_text()
    assert "Where Linear beats Tree" in page
    assert "Tree is ahead of Linear from 50 to 200 rows" in page
    assert (tmp_path / "map" / "borders.csv").is_file()
    with pytest.raises(InputError, match="at least two samples"):
        map_duel(LINEAR, TREE, ["mul(X0, X1)"], tmp_path, SMALL, samples=1)
    with pytest.raises(InputError, match="the formula uses X7"):
        map_duel(LINEAR, TREE, ["X7"], tmp_path, SMALL)
