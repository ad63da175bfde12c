"""One row per item: recognised by a column's name, McNemar's test for right and wrong, clusters and tasks."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from command_ends import refused
from paragone import compare
from paragone.errors import InputError
from paragone.intake.collect import frame_results


def answers(n=80, seed=0, a=0.8, b=0.6):
    generator = np.random.default_rng(seed)
    return pd.DataFrame(
        {"question": range(n), "A": generator.random(n) < a, "B": generator.random(n) < b}
    )


def mcnemar_p(frame):
    """Return the exact p of McNemar's test from the two counts that matter."""
    only_a, only_b = int((frame.A & ~frame.B).sum()), int((frame.B & ~frame.A).sum())
    return stats.binomtest(only_a, only_a + only_b).pvalue


@pytest.mark.parametrize("form", ["wide", "words", "long", "numbers"])
def test_right_and_wrong_are_tested_by_mcnemar_in_every_form(form):
    frame = answers()
    given = {
        "wide": frame,
        "words": frame.replace({True: "right", False: "wrong"}),
        "long": frame.melt(id_vars="question", var_name="model", value_name="score"),
        "numbers": frame.assign(A=frame.A.astype(int), B=frame.B.astype(int)),
    }[form]
    result = compare(
        given.sample(frac=1, random_state=1),
        reference="A",
        higher_is_better=True if form == "numbers" else None,
    )
    assert result.test.name == "mcnemar"
    assert result.pairs[0].p_raw == pytest.approx(mcnemar_p(frame), rel=1e-12)
    assert result.units == "items"


def test_numbers_need_a_direction():
    frame = answers().assign(A=lambda f: f.A.astype(int), B=lambda f: f.B.astype(int))
    with pytest.raises(InputError, match="or higher_is_better=True or False"):
        compare(frame)
    assert compare(frame, metric="accuracy").pairs[0].p_raw == pytest.approx(mcnemar_p(answers()))


def test_values_are_tested_by_students_t_and_clusters_hang_together():
    generator = np.random.default_rng(2)
    frame = pd.DataFrame(
        {
            "item": range(60),
            "document": np.repeat(range(12), 5),
            "A": generator.normal(0.6, 0.1, 60),
        }
    )
    frame["B"] = (
        frame.A - 0.02 + generator.normal(0, 0.05, 60) + np.repeat(generator.normal(0, 0.05, 12), 5)
    )
    clustered = compare(frame, higher_is_better=True)
    assert clustered.clustered
    assert clustered.pairs[0].test.df == 11
    alone = compare(frame, ignore="document", higher_is_better=True)
    assert alone.pairs[0].p_raw == pytest.approx(stats.ttest_rel(frame.A, frame.B).pvalue)


def test_tasks_are_strata_whose_means_count_equally_or_by_size():
    generator = np.random.default_rng(3)
    sizes = {"x": 20, "y": 60}
    frame = pd.concat(
        [
            pd.DataFrame(
                {"task": task, "item": range(n), "A": generator.normal(gap, 0.1, n), "B": 0.0}
            )
            for (task, n), gap in zip(sizes.items(), (0.1, 0.3), strict=True)
        ]
    )
    means = frame.groupby("task")["A"].mean()
    equal = compare(frame, reference="A", higher_is_better=True)
    by_size = compare(frame, reference="A", higher_is_better=True, weights="size")
    assert equal.pairs[0].difference.estimate == pytest.approx(means.mean())
    assert by_size.pairs[0].difference.estimate == pytest.approx(frame["A"].mean())


def test_tables_of_datasets_and_subjects_are_no_item_tables():
    for key in ("dataset", "subject"):
        frame = pd.DataFrame({key: ["x", "y"], "A": [0.2, 0.3], "B": [0.1, 0.5]})
        assert frame_results(frame).unit != "item"
    assert (
        len(compare(answers(), metric="accuracy", columns={"question": "dataset"}).scores.datasets)
        == 80
    )


def test_the_command_line_recognises_items(tmp_path, paragone):
    answers().to_csv(tmp_path / "q.csv", index=False)
    found = json.loads(paragone("compare", tmp_path / "q.csv", "--reference", "A", "--json").out)
    assert found["pairs"][0]["p_raw"] == pytest.approx(mcnemar_p(answers()))
    refused(
        paragone("compare", tmp_path / "q.csv", "--set", "repeats=2"),
        "--set repeats is not for rows that are items",
    )
    said = paragone("compare", tmp_path / "q.csv", "--reference", "A")
    assert said.out.startswith("On this data, A is better than B")
    assert "nan" not in said.out
    assert "One row per item" in paragone("compare", tmp_path / "q.csv", "--details").out
    pd.DataFrame({"dataset": ["x", "y"], "A": [0.1, 0.2], "B": [0.2, 0.3]}).to_csv(
        tmp_path / "d.csv", index=False
    )
    refused(
        paragone("compare", tmp_path / "d.csv", "--metric", "accuracy", "--unit", "item"),
        "no column of the table names its items",
    )
