"""Charts: what they hold, that labels are whole, and that bars are honest. How they look was looked at."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise as neighbours

import numpy as np
import pandas as pd
import pytest

from paragone.charts.save import chart_specification, save_chart
from paragone.errors import InputError
from paragone.stats import compare, pairwise
from paragone.stats.chart_rows import ROW, cliques_of
from paragone.stats.charts import critical_difference


def comparison(n_methods=3, n_datasets=14, seed=0, gap=0.02, **options):
    generator = np.random.default_rng(seed)
    names = [f"A method with quite a long name, number {i}" for i in range(n_methods)]
    base = generator.uniform(0.2, 0.6, (n_datasets, 1))
    values = base + gap * np.arange(n_methods) + generator.normal(0, 0.02, (n_datasets, n_methods))
    frame = pd.DataFrame(values.round(4), columns=names)
    frame.insert(0, "dataset", [f"d{i}" for i in range(n_datasets)])
    return compare(frame, metric="micro_f1", n_samples=500, **options)


def texts(chart, tmp_path):
    (file,) = save_chart(chart, tmp_path / "chart", ["svg"])
    return re.findall(r">([^<>]*)</(?:text|tspan)>", file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("n_methods", [3, 25])
@pytest.mark.parametrize(
    "name", ["critical_difference", "pair_matrix", "forest", "win_tie_loss", "rank_boxes"]
)
def test_no_name_is_cut(n_methods, name, tmp_path):
    result = comparison(n_methods, correction="nemenyi" if n_methods > 9 else None)
    drawn = " | ".join(texts(result.charts[name], tmp_path))
    expected = (
        result.scores.methods if name != "forest" else [pair.rival for pair in result.leading_pairs]
    )
    rivals = [m for m in expected if not (name == "win_tie_loss" and m == result.leader)]
    assert all(method in drawn for method in rivals)
    assert "…" not in drawn


@pytest.mark.parametrize("n_methods", [2, 3, 8, 25])
def test_labels_of_the_rank_diagram_stand_in_rows_of_their_own(n_methods):
    chart = chart_specification(critical_difference(comparison(n_methods, correction="nemenyi")))
    sides = [layer for layer in chart["layer"] if layer["mark"]["type"] == "text"]
    assert sum(len(side["data"]["values"]) for side in sides) == n_methods
    for side in sides:
        heights = sorted(row["y"] for row in side["data"]["values"])
        assert all(b - a >= ROW - 1e-9 for a, b in neighbours(heights))


def with_p_values(result, ranks, p_values):
    """Return the comparison with other ranks and adjusted p-values (keyed by the methods' positions)."""
    pairs = tuple(
        replace(pair, p=p_values.get(place, 0.001))
        for place, pair in zip(result.family.pairs, result.pairs, strict=True)
    )
    return replace(result, pairs=pairs, friedman=replace(result.friedman, average_ranks=ranks))


def test_cliques_that_are_no_intervals_are_drawn_as_a_matrix_with_the_reason():
    frame = pd.DataFrame(np.random.default_rng(0).random((9, 4)), columns=list("ABCD"))
    plain = compare(frame.assign(dataset=[f"d{i}" for i in range(9)]), metric="r2", n_samples=500)
    broken = with_p_values(plain, (1.5, 2.2, 2.6, 3.7), {(0, 2): 0.30, (0, 1): 0.01, (1, 2): 0.02})
    drawn = chart_specification(broken.charts["critical_difference"])
    assert drawn["title"]["text"] == ["Pair matrix"]
    subtitle = " ".join(drawn["title"]["subtitle"])
    assert (
        "No critical-difference diagram: A and C do not differ significantly, but B, which ranks"
        " between them" in subtitle
    )
    mended = with_p_values(plain, (1.5, 2.2, 2.6, 3.7), {(0, 2): 0.30, (0, 1): 0.41, (1, 2): 0.52})
    assert cliques_of(mended).bars == ((0, 1, 2),)
    assert chart_specification(mended.charts["critical_difference"])["title"]["text"] == [
        "Critical-difference diagram"
    ]


def test_reference_with_a_stranger_between_it_and_its_like_gets_no_bar():
    frame = pd.DataFrame(np.random.default_rng(0).random((9, 3)), columns=list("ABC"))
    frame = frame.assign(dataset=[f"d{i}" for i in range(9)])
    plain = compare(frame, metric="r2", reference="A", n_samples=500)
    broken = with_p_values(plain, (1.2, 2.0, 2.8), {(0, 2): 0.3})
    assert cliques_of(broken).reason == "B differs from A but ranks among those that do not"
    mended = with_p_values(plain, (1.2, 2.0, 2.8), {(0, 1): 0.3})
    assert cliques_of(mended).bars == ((0, 1),)


def test_pair_matrix_of_a_reference_shows_p_only_where_it_was_tested():
    result = comparison(4, reference="A method with quite a long name, number 0")
    cells = next(
        layer["data"]["values"]
        for layer in chart_specification(result.charts["pair_matrix"])["layer"]
        if "difference" in layer.get("data", {}).get("values", [{}])[0]
    )
    tested = [cell for cell in cells if "p " in cell["text"].splitlines()[-1]]
    assert len(cells) == 12
    assert len(tested) == 6
    assert all(result.leader in (cell["row"], cell["column"]) for cell in tested)


def test_charts_about_one_rival_take_any_and_refuse_strangers():
    result = comparison(4)
    rival = result.leading_pairs[-1].rival
    assert rival in str(chart_specification(result.charts.scatter(rival)))
    with pytest.raises(InputError, match="unknown rival"):
        result.charts.posterior("nobody at all")
    with pytest.raises(InputError, match="did you mean 'forest'"):
        result.charts["forst"]


@pytest.mark.parametrize("margin", [0.0, 0.02])
def test_posterior_is_a_histogram_without_a_margin_and_a_triangle_with_one(margin, tmp_path):
    result = comparison(3, margin=margin)
    drawn = " ".join(texts(result.charts["posterior"], tmp_path))
    # D15: it is the mean of two differences that a draw is about, not a win on one more pair.
    assert ("on average" in drawn) == (margin == 0)
    assert ("equal 0." in drawn or "equal 1." in drawn) == (margin > 0)


def test_double_fails_are_grey_and_thresholds_drawn():
    generator = np.random.default_rng(0)
    a = pd.Series(generator.uniform(0.1, 0.6, 20), index=[f"S{i}" for i in range(20)], name="old")
    b = (a + generator.normal(0, 0.1, 20)).rename("new")
    result = pairwise(a, b, metric="accuracy", threshold=0.25)
    for name in ("scatter", "differences"):
        rows = [
            row
            for layer in chart_specification(result.charts[name])["layer"]
            for row in layer["data"]["values"]
            if row.get("group") == "double fail"
        ]
        assert len(rows) == result.unfiltered.pairs[0].n - result.pairs[0].n > 0
    assert "threshold 0.25" in str(chart_specification(result.charts["scatter"]))


def test_folds_have_no_signed_rank_posterior():
    index = pd.Index(range(5), name="fold")
    a, b = (
        pd.Series([0.1, 0.2, 0.3, 0.4, 0.5], index=index),
        pd.Series([0.2, 0.2, 0.4, 0.3, 0.6], index=index),
    )
    assert "posterior" not in pairwise(a, b, metric="accuracy").charts


def test_samples_have_a_line_per_rival_with_its_interval_and_word():
    from paragone.stats import compare_samples

    random = np.random.default_rng(0)
    base = random.normal(size=60)
    frames = [
        pd.DataFrame(
            {"method": name, "sample": range(60), "value": base + gain + random.normal(0, 0.1, 60)}
        )
        for name, gain in (("A", 0.5), ("B", 0.0), ("C", 0.49))
    ]
    compared = compare_samples(pd.concat(frames), reference="A", higher_is_better=True)
    spec = compared.charts["forest"].to_dict()
    rows = next(
        layer["data"]["values"] for layer in spec["layer"] if "label" in layer["data"]["values"][0]
    )
    for row, pair in zip(rows, compared.pairs, strict=True):
        shown = (row["label"], row["low"], row["high"], row["verdict"])
        assert shown == (pair.rival, pair.difference.low, pair.difference.high, pair.word)
