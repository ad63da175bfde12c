from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import paragone
from paragone.errors import InputError
from paragone.intake.frames import read_frame
from paragone.stats import compare
from paragone.stats.intake import is_summary, natural_order
from paragone.stats.scores import score_table


def tidy_scores(n_methods=3, n_datasets=4, n_folds=5, seed=0):
    generator = np.random.default_rng(seed)
    rows = [
        {
            "method": f"M{m}",
            "dataset": f"data {d}",
            "fold": f,
            "metric": "micro_f1",
            "value": generator.random(),
        }
        for m in range(n_methods)
        for d in range(n_datasets)
        for f in range(n_folds)
    ]
    return pd.DataFrame(rows)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_order_of_the_rows_changes_not_one_bit(seed):
    frame = tidy_scores()
    shuffled = frame.sample(frac=1, random_state=seed)
    first, second = score_table(frame), score_table(shuffled)
    assert first.values.tobytes() == second.values.tobytes()
    assert (first.methods, first.datasets, first.fold_names) == (
        second.methods,
        second.datasets,
        second.fold_names,
    )
    assert [f.tobytes() for f in first.folds] == [f.tobytes() for f in second.folds]


def test_tidy_and_wide_forms_give_the_same_table():
    frame = tidy_scores()
    wide = frame.pivot(index=["dataset", "fold"], columns="method", values="value")
    first = score_table(frame)
    flat = wide.reset_index()
    assert first.values.tobytes() == score_table(flat, metric="micro_f1").values.tobytes()
    for form in (wide, flat, flat.rename(columns={"dataset": "Dataset"})):
        other = paragone.compare(form, metric="micro_f1", bayes=False).scores
        assert first.values.tobytes() == other.values.tobytes()


def test_values_are_fold_means():
    frame = tidy_scores()
    expected = frame.groupby(["dataset", "method"])["value"].mean().unstack()
    assert score_table(frame).values == pytest.approx(expected.to_numpy())


def test_fold_ten_comes_after_fold_nine():
    table = score_table(tidy_scores(n_folds=12))
    assert table.fold_names[0] == tuple(str(f) for f in range(12))
    assert sorted(["a10", "a9", "a"], key=natural_order) == ["a", "a9", "a10"]


def test_results_objects_are_asked_for_their_scores():
    class Results:
        def scores(self, metric=None):
            return tidy_scores()

    assert score_table(Results()).values.tobytes() == score_table(tidy_scores()).values.tobytes()


def test_incomplete_blocks_are_dropped_and_listed():
    frame = tidy_scores()
    frame.loc[3, "value"] = np.nan
    frame = frame.drop(index=frame.index[(frame.dataset == "data 2") & (frame.method == "M1")])
    table = score_table(frame)
    assert table.datasets == ("data 0", "data 1", "data 3")
    assert len(table.folds[0]) == 4
    assert set(table.dropped) == {"data 0 fold 3", *(f"data 2 fold {f}" for f in range(5))}
    assert "6 of 20 blocks" in table.warnings[0]
    assert "M0 1, M1 5" in table.warnings[0]


@pytest.mark.parametrize("higher", [True, False])
def test_failures_rank_last_under_the_worst_policy(higher):
    frame = tidy_scores(n_folds=1)
    frame.loc[(frame.method == "M1") & (frame.dataset == "data 2"), "value"] = np.nan
    table = score_table(frame.drop(columns="metric"), higher_is_better=higher, missing="worst")
    # It is kept as it is: what it counts as is for the ranks to say, and no number is made up for
    # it.
    assert np.argwhere(np.isnan(table.values)).tolist() == [[table.datasets.index("data 2"), 1]]
    assert (
        compare(frame.drop(columns="metric"), higher_is_better=higher, missing="worst").ranks[2, 1]
        == 3
    )
    assert "M1 on data 2 fold 0" in table.warnings[0]


def test_refusing_policy_names_the_first_missing_score():
    frame = tidy_scores()
    frame.loc[7, "value"] = np.nan
    with pytest.raises(InputError, match=r"'M0' has no score on data 1 fold 2 \(1 missing"):
        score_table(frame, missing="refuse")


def test_infinite_scores_count_as_missing_and_are_counted():
    frame = tidy_scores()
    frame.loc[0, "value"] = np.inf
    table = score_table(frame)
    assert "1 infinite" in table.notes[0]
    assert table.dropped == ("data 0 fold 0",)


def test_grid_is_reduced_to_its_mean_or_to_a_chosen_point():
    frame = tidy_scores().assign(value=lambda scores: scores.value / 4)
    curve = pd.concat([frame.assign(at=k, value=frame.value + k / 100) for k in (10, 20, 60)])
    mean, point = score_table(curve), score_table(curve, at=20)
    assert mean.values == pytest.approx(score_table(frame).values + 0.3)
    assert point.values == pytest.approx(score_table(frame).values + 0.2)
    assert (mean.point, point.point) == ("mean over the grid 10, 20, 60", "at 20")


def test_grids_that_differ_between_methods_are_not_averaged():
    frame = tidy_scores()
    curve = pd.concat([frame.assign(at=k) for k in (10, 20)])
    curve = curve[~((curve.method == "M1") & (curve["at"] == 20))]
    with pytest.raises(InputError, match="same grid"):
        score_table(curve)


@pytest.mark.parametrize(
    "name", ["MEAN", "avg", "Average", "std", "Mean ± std", "Overall mean", "avg. rank"]
)
def test_summary_rows_are_left_out_and_said(name):
    wide = pd.DataFrame({"subject": ["s1", "s2", name], "A": [1.0, 2.0, 1.5], "B": [2.0, 1.0, 1.5]})
    table = score_table(wide, higher_is_better=True)
    assert table.datasets == ("s1", "s2")
    assert name in table.warnings[0]


@pytest.mark.parametrize("name", ["meander", "Sumatra", "standard", "media", "totals of 2", "s1"])
def test_names_that_only_begin_like_a_summary_are_kept(name):
    assert not is_summary(name)


def test_subjects_are_blocks_of_their_own_on_one_dataset_and_stand_within_several():
    wide = pd.DataFrame({"subject": ["s1", "s2"], "A": [1.0, 2.0], "B": [2.0, 1.0]})
    assert score_table(wide, higher_is_better=True).datasets == ("s1", "s2")
    several = pd.concat([wide.assign(dataset="x"), wide.assign(dataset="y")])
    table = score_table(several, higher_is_better=True)
    assert (table.datasets, table.fold_names) == (("x", "y"), (("s1", "s2"), ("s1", "s2")))


BAD = {
    "one method": (tidy_scores(n_methods=1), {}, "two methods or more"),
    "doubled key": (
        pd.concat([tidy_scores(), tidy_scores().iloc[:1]]),
        {},
        "'M0' on dataset 'data 0', fold '0' stands",
    ),
    "all missing": (
        tidy_scores().assign(value=lambda f: f.value.where(f.method != "M2")),
        {},
        "'M2' has not one",
    ),
    "unknown metric": (tidy_scores().assign(metric="zest"), {}, "'zest' is not known"),
    "no metric": (tidy_scores().drop(columns="metric"), {}, "do not say which metric"),
    "text": (tidy_scores().assign(value="good"), {}, "the text 'good'"),
    "wrong metric": (tidy_scores(), {"metric": "mirco_f1"}, "did you mean 'micro_f1'"),
    "no such point": (tidy_scores().assign(at=10), {"at": 15}, "no score was measured at 15"),
    "no grid": (tidy_scores(), {"at": 15}, "have no grid"),
    "no rows": (tidy_scores().iloc[:0], {}, "no rows"),
    "no dataset": (tidy_scores().assign(dataset=None), {}, "has no dataset"),
    "policy": (tidy_scores(), {"missing": "worse"}, "did you mean 'worst'"),
    "no key": (pd.DataFrame({"method": ["a", "b"], "value": [1, 2]}), {}, "needed for pairing"),
    "two experiments": (
        tidy_scores().assign(experiment=["a", "b"] * 30),
        {},
        "several experiments",
    ),
    "not a frame": ([1, 2, 3], {}, "must be a DataFrame"),
    "wide text": (
        pd.DataFrame({"dataset": ["a"], "A": [1.0], "B": ["x"]}),
        {"higher_is_better": True},
        "'B' in data",
    ),
    "nothing common": (
        pd.DataFrame({"dataset": ["a", "b"], "A": [1.0, None], "B": [None, 2.0]}),
        {"higher_is_better": True},
        "nothing is left",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_in_one_clear_sentence(case):
    frame, options, message = BAD[case]
    with pytest.raises(InputError, match=message):
        score_table(frame, **options)


def test_several_metrics_need_a_choice():
    both = pd.concat([tidy_scores(), tidy_scores().assign(metric="hamming_loss")])
    with pytest.raises(InputError, match="choose one of hamming_loss, micro_f1"):
        score_table(both)
    assert score_table(both, metric="hamming_loss").higher_is_better is False


@pytest.mark.parametrize(("suffix", "separator"), [(".csv", ","), (".csv", ";"), (".tsv", "\t")])
def test_files_are_read_with_the_separator_they_have(tmp_path, suffix, separator):
    file = tmp_path / f"scores{suffix}"
    tidy_scores().to_csv(file, sep=separator, index=False)
    assert (
        score_table(read_frame(file)).values.tobytes()
        == score_table(tidy_scores()).values.tobytes()
    )


def test_parquet_files_are_read(tmp_path):
    tidy_scores().to_parquet(tmp_path / "scores.parquet")
    assert read_frame(tmp_path / "scores.parquet").shape == (60, 5)


def test_a_dataset_called_na_is_a_name(tmp_path):
    (tmp_path / "s.csv").write_text("dataset,A,B\nNA,1,2\nnone,2,1\nx,,3\n")
    table = score_table(read_frame(tmp_path / "s.csv"), higher_is_better=True)
    assert table.datasets == ("NA", "none")
    assert table.dropped == ("x",)


def test_unreadable_files_are_refused(tmp_path):
    with pytest.raises(InputError, match="no file or folder"):
        read_frame(tmp_path / "missing.csv")
    (tmp_path / "a.docx").write_text("x")
    with pytest.raises(InputError, match="neither CSV nor Parquet"):
        read_frame(tmp_path / "a.docx")
    (tmp_path / "e.csv").write_text("")
    with pytest.raises(InputError, match="cannot be read"):
        read_frame(tmp_path / "e.csv")
    (tmp_path / "h.csv").write_text("a,b\n")
    with pytest.raises(InputError, match="no rows"):
        read_frame(tmp_path / "h.csv")
