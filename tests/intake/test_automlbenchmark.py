"""Results of the AutoML benchmark: both directions, failures, constraints, and files that something happened to."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from intake.automlbenchmark_files import FRAMEWORKS, new_file, old_file, scores
from paragone.errors import InputError
from paragone.intake import Asked, read_results


def written(tmp_path, frame, name="results.csv"):
    path = tmp_path / name
    frame.to_csv(path, index=False)
    return path


def wins_by_hand(frame, a, b):
    """Return on how many tasks the mean of `a` over folds is the better one, in each task's own direction."""
    means = (
        frame.groupby(["task", "metric", "framework"])["value"]
        .mean()
        .unstack("framework")
        .reset_index()
    )
    sign = np.where(means["metric"] == "logloss", -1, 1)
    return int((sign * (means[a] - means[b]) > 0).sum()), len(means)


def against_flaml(result):
    """Return the row of the reference against flaml."""
    (row,) = result.table.loc[result.table["rival"] == "flaml"].to_dict("records")
    return row


@pytest.mark.parametrize("make", [new_file, old_file])
def test_every_task_is_read_in_its_own_direction(tmp_path, make):
    found = read_results(written(tmp_path, make()))
    assert found.parts[0].reader == "automlbenchmark"
    assert found.methods == list(FRAMEWORKS)
    assert found.metrics == {"result": True}
    result = found.compare(reference="autogluon")
    won, n = wins_by_hand(scores(), "autogluon", "flaml")
    row = against_flaml(result)
    assert won == n == 6
    assert (row["wins"], row["losses"]) == (won, n - won)
    assert row["p_raw"] == pytest.approx(binomtest(won, n).pvalue)
    assert row["p"] == pytest.approx(2 * row["p_raw"])
    assert row["word"] == "undecided"
    assert any("only who is better on a dataset counts" in line for line in result.warnings)


def test_one_metric_is_compared_on_the_tasks_that_have_it(tmp_path):
    frame = new_file()
    frame.loc[
        frame["framework"].eq("flaml") & frame["task"].eq("kc1"), ["result", "auc", "acc"]
    ] = None
    found = read_results(written(tmp_path, frame), asked=Asked(metric="auc"))
    assert found.datasets == ["adult", "bank", "kc1"]
    assert any("90 rows of tasks that have no auc" in note for note in found.notes)
    result = found.compare("auc")
    # flaml failed on kc1, which is an outcome: the task is there, and its value is missing.
    assert result.scores.datasets == ("adult", "bank", "kc1")
    table = pd.DataFrame(result.scores.values, result.scores.datasets, result.scores.methods)
    assert np.isnan(table.loc["kc1", "flaml"])
    expected = scores().query("task == 'adult' and framework == 'autogluon'")["value"].mean()
    assert table.loc["adult", "autogluon"] == pytest.approx(expected, abs=1e-12)
    assert {design.folds for design in result.scores.designs} == {10}


def test_a_failed_run_loses_and_a_run_that_is_not_there_does_not(tmp_path):
    frame = old_file()
    failed = frame["framework"].eq("autogluon") & frame["task"].eq("adult")
    spoiled = frame.copy()
    spoiled.loc[failed, ["result", "acc", "auc", "logloss"]] = None
    spoiled.loc[failed, "info"] = "Error: no space left, really"
    lost = read_results(written(tmp_path, spoiled)).compare(reference="autogluon")
    gap = read_results(written(tmp_path, frame[~failed], "gap.csv")).compare(reference="autogluon")
    row = against_flaml(lost)
    assert row["p_raw"] == pytest.approx(binomtest(5, 6).pvalue)
    assert "A dataset on which a split of a method failed counts as failed for it." in lost.warnings
    row = against_flaml(gap)
    assert row["p_raw"] == pytest.approx(binomtest(5, 5).pvalue)
    assert any("10 splits that some method has no row for" in line for line in gap.warnings)


def test_two_constraints_of_one_framework_are_two_methods(tmp_path):
    both = pd.concat([new_file(), new_file(scores(1), "4h8c")])
    found = read_results(written(tmp_path, both))
    assert "flaml (constraint 1h8c)" in found.methods
    assert "flaml (constraint 4h8c)" in found.methods
    assert any("time constraint differs" in line for line in found.compare().warnings)


def test_a_second_run_appended_is_refused_and_a_copy_is_counted(tmp_path):
    with pytest.raises(
        InputError, match="stands twice with different values: the file holds two runs"
    ):
        read_results(written(tmp_path, pd.concat([new_file(), new_file(scores(1))])))
    found = read_results(written(tmp_path, pd.concat([new_file(), new_file().head(7)])))
    assert "Left out: 7 rows that stand twice." in found.notes


def test_a_line_that_is_cut_off_is_no_failure(tmp_path):
    path = written(tmp_path, old_file())
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.rindex(b"aws.docker")])
    found = read_results(path)
    assert "Left out: 1 last line that is cut off." in found.notes
    assert not found.scores("result")["value"].isna().any()


def test_a_result_that_is_no_metric_or_no_number_is_refused(tmp_path):
    frame = old_file()
    frame.loc[frame["task"] == "car", "result"] += 0.1
    with pytest.raises(InputError, match="the result of task 'car' equals no column of a metric"):
        read_results(written(tmp_path, frame))
    frame = new_file().astype({"result": object})
    frame.loc[5, "result"] = "0.8.1"
    with pytest.raises(InputError, match=r"'0\.8\.1' in column 'result' is not a number"):
        read_results(written(tmp_path, frame))
    frame = new_file()
    frame.loc[frame["task"] == "car", "result"] *= -1
    with pytest.raises(InputError, match="neg_logloss of task 'car' is above zero"):
        read_results(written(tmp_path, frame))


def test_a_task_with_two_metrics_is_refused(tmp_path):
    frame = new_file()
    frame.loc[3, "metric"] = "acc"
    with pytest.raises(InputError, match="task 'adult' is acc here and auc there"):
        read_results(written(tmp_path, frame))


def test_a_metric_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match="unknown metric 'logless': did you mean 'logloss'"):
        read_results(written(tmp_path, new_file()), asked=Asked(metric="logless"))
