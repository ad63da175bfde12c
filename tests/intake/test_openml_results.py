"""Results of OpenML: evaluations by task, and predictions from which every metric is computed again."""

import numpy as np
import pandas as pd
import pytest

from paragone.errors import InputError
from paragone.intake import Asked, read_results
from paragone.stats.designs import Design

CLASSES = ("setosa", "versicolor")


def evaluations(n_folds=10, setups=(7,), spell=np.ndarray.tolist):
    """Return a table of evaluations: two flows on six tasks."""
    draws = np.random.default_rng(0)
    rows = []
    for task in range(6):
        for flow, better in (("sklearn.forest", 0.03), ("weka.J48", 0.0)):
            for setup in setups:
                folds = (0.8 + better + 0.01 * setup + draws.normal(0, 0.01, n_folds)).round(6)
                for function, sign in (("predictive_accuracy", 1), ("mean_absolute_error", -1)):
                    values = (folds if sign > 0 else 1 - folds).round(6)
                    rows.append(
                        (
                            len(rows) // 2,
                            task,
                            setup,
                            flow,
                            f"data{task}",
                            function,
                            values.mean().round(6),
                            list(values),
                        )
                    )
    names = [
        "run_id",
        "task_id",
        "setup_id",
        "flow_name",
        "data_name",
        "function",
        "value",
        "values",
    ]
    return pd.DataFrame(rows, columns=names).assign(array_data=None, uploader=1)


def written(tmp_path, frame):
    frame.to_csv(tmp_path / "evals.csv")
    return tmp_path / "evals.csv"


def predictions(path, wrong, n=60, folds=5, repeats=1, truth="correct", shift=0):
    """Write predictions.arff: rows in `wrong` are predicted falsely, and confidences are sure of what is said."""
    lines = [
        "@RELATION openml_task_1_predictions",
        "@ATTRIBUTE repeat INTEGER",
        "@ATTRIBUTE fold INTEGER",
    ]
    lines += ["@ATTRIBUTE sample INTEGER", "@ATTRIBUTE row_id INTEGER"]
    lines += [f"@ATTRIBUTE confidence.{name} REAL" for name in CLASSES]
    lines += [
        f"@ATTRIBUTE prediction {{{','.join(CLASSES)}}}",
        f"@ATTRIBUTE {truth} {{{','.join(CLASSES)}}}",
        "@DATA",
    ]
    for repeat in range(repeats):
        for row in range(n):
            label = CLASSES[row % 2]
            said = CLASSES[(row + (row in wrong)) % 2]
            sure = [0.9 if name == said else 0.1 for name in CLASSES]
            fold = (row + repeat + shift) % folds
            lines.append(f"{repeat},{fold},0,{row},{sure[0]},{sure[1]},{said},{label}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")
    return path


def test_evaluations_are_paired_by_task_and_fold(tmp_path):
    found = read_results(
        written(tmp_path, evaluations()), asked=Asked(metric="predictive_accuracy")
    )
    assert found.parts[0].reader == "openml-evaluations"
    assert found.methods == ["sklearn.forest", "weka.J48"]
    assert found.metrics == {"predictive_accuracy": True}
    result = found.compare("predictive_accuracy")
    own = (
        evaluations()
        .query("function == 'predictive_accuracy'")
        .set_index(["data_name", "flow_name"])["values"]
    )
    assert result.scores.values[2, 0] == pytest.approx(np.mean(own["data2", "sklearn.forest"]))
    # Ten values may be ten folds or five repeats of two.
    assert result.scores.designs == (None,) * 6
    assert found.compare("predictive_accuracy", repeats=5).scores.designs[0] == Design(2, 5, 1.0)


def test_five_values_are_folds_and_without_values_the_dataset_is_the_unit(tmp_path):
    found = read_results(
        written(tmp_path, evaluations(5)), asked=Asked(metric="mean_absolute_error")
    )
    assert found.compare().scores.designs[0] == Design(5, 1, 0.25)
    assert found.metrics == {"mean_absolute_error": False}
    whole = read_results(written(tmp_path, evaluations().drop(columns="values")))
    assert whole.unit == "dataset"
    assert whole.compare("predictive_accuracy").table["wins"].tolist() == [6]


def test_numbers_of_numpy_in_a_list_are_read(tmp_path):
    plain = read_results(written(tmp_path, evaluations())).scores("predictive_accuracy")
    typed = read_results(written(tmp_path, evaluations(spell=list))).scores("predictive_accuracy")
    assert "np.float64(" in (tmp_path / "evals.csv").read_text()
    pd.testing.assert_frame_equal(plain, typed)


def test_setups_are_methods_and_tasks_of_one_dataset_are_apart(tmp_path):
    found = read_results(written(tmp_path, evaluations(setups=(7, 8))))
    assert "weka.J48 (setup 7)" in found.methods
    same = evaluations().assign(data_name="adult")
    assert "adult (task 3)" in read_results(written(tmp_path, same)).datasets


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (
            lambda frame: pd.concat([frame, frame.assign(value=0.1)]),
            "the file holds two runs, keep one",
        ),
        (lambda frame: frame.assign(value="high"), "is not a number"),
        (
            lambda frame: frame.assign(
                values=[v[: 10 - (i == 0)] for i, v in enumerate(frame["values"])]
            ),
            "runs on data0 have 9 and 10 values of folds",
        ),
        (lambda frame: frame.assign(function="f_measure"), "unknown metric 'predictive_accuracy'"),
    ],
)
def test_spoiled_evaluations_are_one_sentence(tmp_path, spoil, sentence):
    with pytest.raises(InputError, match=sentence):
        read_results(
            written(tmp_path, spoil(evaluations())), asked=Asked(metric="predictive_accuracy")
        )


def test_a_task_that_one_flow_lacks_is_left_out(tmp_path):
    frame = evaluations()
    gap = frame["flow_name"].eq("weka.J48") & frame["task_id"].eq(2)
    result = read_results(written(tmp_path, frame[~gap])).compare("predictive_accuracy")
    assert "Whole datasets left out: data2" in " ".join(result.warnings)


def test_metrics_are_computed_from_rows_and_correct_is_the_label(tmp_path):
    a = predictions(tmp_path / "forest" / "predictions.arff", wrong={0, 7})
    b = predictions(
        tmp_path / "tree" / "predictions.arff", wrong=set(range(0, 60, 4)), truth="truth"
    )
    found = read_results(a, b)
    assert found.methods == ["forest", "tree"]
    values = found.scores("accuracy").set_index(["method", "fold"])["value"]
    # Row 0 is in fold 0 and row 7 in fold 2, of twelve rows each.
    assert values["forest"].to_dict() == pytest.approx(
        {"0": 11 / 12, "1": 1.0, "2": 11 / 12, "3": 1.0, "4": 1.0}
    )
    loss = found.scores("log_loss").set_index(["method", "fold"])["value"]
    assert loss["forest", "0"] == pytest.approx(-(11 * np.log(0.9) + np.log(0.1)) / 12)
    assert found.compare("accuracy").scores.designs == (Design(5, 1, 0.25),)


def test_repeats_are_told_apart(tmp_path):
    a = predictions(tmp_path / "a.arff", wrong={1}, repeats=3)
    b = predictions(tmp_path / "b.arff", wrong={1, 2}, repeats=3)
    assert read_results(a, b).compare("accuracy").scores.designs == (Design(5, 3, 0.25),)


def test_other_splits_and_missing_rows_are_refused(tmp_path):
    a = predictions(tmp_path / "a.arff", wrong={1})
    other = predictions(tmp_path / "b.arff", wrong={1, 2}, shift=1)
    fewer = predictions(tmp_path / "c.arff", wrong={1, 2}, n=58)
    for path in (other, fewer):
        with pytest.raises(InputError, match="the split into folds differs on data"):
            read_results(a, path).compare("accuracy")


def test_spoiled_predictions_are_one_sentence(tmp_path):
    path = predictions(tmp_path / "a.arff", wrong={1})
    whole = path.read_text()
    path.write_text(whole + "0,0,0,0,0.9,0.1,setosa,setosa\n")
    assert "Left out: 1 rows that stand twice." in read_results(path).notes
    path.write_text(whole + "0,0,0,0,0.1,0.9,versicolor,setosa\n")
    with pytest.raises(InputError, match="the file holds two runs"):
        read_results(path)
    path.write_text(whole + "0,0,0,1,0.9,0.1,versicolor,versicolor\n")
    with pytest.raises(InputError, match="row 1 is in two folds of repeat 0"):
        read_results(path)
    path.write_text(whole + "1,0,0,3,0.9,0.1,setosa,setosa\n")
    with pytest.raises(InputError, match="a row has two true labels"):
        read_results(path)
    path.write_text(whole.replace("setosa,setosa", "virginica,setosa", 1))
    with pytest.raises(InputError, match="cannot be read as ARFF"):
        read_results(path)
    path.write_text(whole[:-20])
    assert "Left out: 1 last line that is cut off." in read_results(path).notes


def test_the_number_of_a_row_takes_no_memory(tmp_path):
    path = predictions(tmp_path / "a.arff", wrong={1})
    text = path.read_text()
    path.write_text(text.replace(",59,", f",{10**15},"))
    assert str(10**15) in path.read_text()
    (design,) = read_results(path).designs().values()
    assert design.folds == 5
