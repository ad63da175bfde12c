"""A reader that distrusts the table: layouts, headings, numbers as people write them, and what is suspicious."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from command_ends import refused
from paragone import compare, pairwise
from paragone.data.number_texts import written_number
from paragone.errors import InputError
from paragone.intake.collect import frame_results
from paragone.intake.frames import read_frame
from paragone.stats.designs import Design
from paragone.stats.intake import is_summary
from paragone.stats.pairing import one_side, pair_scores
from paragone.stats.scores import ScoreTable, score_table

SETS = [f"set{number}" for number in range(8)]
QUICK = {"bayes": False}


def scores_of(*methods: str, seed: int = 0) -> pd.DataFrame:
    """Return shares with three digits, one row per dataset and one column per method."""
    generator = np.random.default_rng(seed)
    columns = {name: np.round(generator.uniform(0.6, 0.95, len(SETS)), 3) for name in methods}
    return pd.DataFrame({"dataset": SETS, **columns})


def table_of(frame: pd.DataFrame, **options) -> ScoreTable:
    """Return the scores that a table of somebody else's holds, with all that is said of them."""
    found = compare(frame, bayes=False, **options)
    return replace(found.scores, warnings=found.warnings)


# Which way round, and what the columns are


def test_d9_a_column_of_methods_settles_that_methods_stand_in_rows():
    right = scores_of("A", "B", "C")
    turned = right.set_index("dataset").T.rename_axis("method").reset_index()
    first, second = table_of(right, metric="accuracy"), table_of(turned, metric="accuracy")
    assert second.methods == ("A", "B", "C")
    assert first.values.tobytes() == second.values.tobytes()


def test_d9_rows_that_look_like_methods_are_methods_and_names_that_say_nothing_are_asked_about():
    turned = (
        scores_of("SVM", "Random forest", "kNN")
        .set_index("dataset")
        .T.rename_axis("what")
        .reset_index()
    )
    turned.columns.name = None
    table = turned.rename(columns={"what": "name"})
    found = table_of(table, metric="accuracy")
    assert found.methods == ("Random forest", "SVM", "kNN")
    assert "Methods stand in rows, named by 'name'; columns are datasets." in found.warnings
    nothing = table.assign(name=["u1", "v2", "w3"])
    with pytest.raises(InputError, match=r"columns=\{'name': 'method'\} if the rows are"):
        table_of(nothing, metric="accuracy")
    rows = table_of(nothing, metric="accuracy", methods_in="rows")
    assert rows.methods == ("u1", "v2", "w3")
    assert table_of(table, metric="accuracy", methods_in="columns").methods == tuple(SETS)


@pytest.mark.parametrize(
    "name", ["n_rows", "time", "fit_time (s)", "n features", "Unnamed: 0", "# classes", "Memory"]
)
def test_d10_numbers_that_are_no_methods_are_left_out_and_named(name):
    table = scores_of("A", "B")
    table.insert(1, name, np.arange(len(table)) * 700 + 150)
    found = table_of(table, metric="accuracy")
    assert found.methods == ("A", "B")
    assert f"Left out, no scores by their names: {name} (say" in found.warnings[0]
    assert f"columns={{{name!r}: 'value'}}" in found.warnings[0]
    kept = table_of(table, higher_is_better=True, columns={name: "value"})
    assert name in kept.methods


def test_d10_a_value_outside_the_range_of_a_bounded_metric_is_refused():
    table = scores_of("A", "B").assign(complexity=np.arange(len(SETS)) * 1000 + 4000)
    with pytest.raises(
        InputError, match=r"4000 of method 'complexity' on dataset 'set0' .* ignore='complexity'"
    ):
        table_of(table, metric="accuracy")
    one = scores_of("A", "B", "C")
    one.loc[2, "B"] = 1.2
    (line,) = table_of(one, metric="accuracy").warnings
    assert line.startswith(
        "One score lies outside the range of accuracy, 0 to 1 (1.2 of method 'B' on dataset 'set2')"
    )
    counts = pd.concat(
        [one, pd.DataFrame({"dataset": ["victories"], "A": [5.0], "B": [2.0], "C": [1.0]})]
    )
    with pytest.raises(
        InputError, match="as most of that dataset do: leave it out with ignore='victories'"
    ):
        table_of(counts, metric="accuracy")
    assert table_of(table, metric="accuracy", ignore=["complexity"]).methods == ("A", "B")
    with pytest.raises(
        InputError, match="unknown method, dataset or column to leave out 'complexiti'"
    ):
        table_of(table, metric="accuracy", ignore=["complexiti"])


def test_d10_percent_beside_shares_is_brought_to_shares():
    table = scores_of("A", "B")
    mixed = table_of(table.assign(B=table["B"] * 100), metric="accuracy")
    assert mixed.values == pytest.approx(table_of(table, metric="accuracy").values)
    assert (
        "The scores of B lie beyond 1, unlike the others, and were taken for percent"
        in mixed.warnings[0]
    )
    whole = table_of(table.assign(A=table["A"] * 100, B=table["B"] * 100), metric="accuracy")
    assert whole.values == pytest.approx(mixed.values)
    assert "The scores lie beyond 1 and" in whole.warnings[0]


@pytest.mark.parametrize(
    "name",
    ["# wins", "Wins", "W/T/L", "Average rank", "avg", "win/tie/loss", "No. best", "p-value"],
)
def test_d10_rows_that_sum_up_others_are_no_datasets(name):
    table = pd.concat(
        [scores_of("A", "B"), pd.DataFrame({"dataset": [name], "A": [5.0], "B": [3.0]})]
    )
    found = table_of(table, metric="accuracy")
    assert found.datasets == tuple(SETS)
    assert f"Rows that sum up others were left out: {name}." in found.warnings


@pytest.mark.parametrize("name", ["winsconsin", "w", "wine", "besttime", "ranking data"])
def test_datasets_that_begin_like_a_count_of_wins_are_kept(name):
    assert not is_summary(name)


def test_a_column_that_is_the_mean_of_the_others_is_left_out_and_a_method_called_so_is_kept_if_one_says_so():
    table = scores_of("A", "B")
    found = table_of(table.assign(Average=((table.A + table.B) / 2).round(4)), metric="accuracy")
    assert found.methods == ("A", "B")
    assert any("no scores by their names: Average" in line for line in found.warnings)
    called = table_of(table.assign(Mean=0.5), metric="accuracy", columns={"Mean": "value"})
    assert called.methods == ("A", "B", "Mean")


@pytest.mark.parametrize(
    ("method", "value"),
    [("model", "accuracy"), ("method", "score"), ("Algorithm", "result"), ("classifier", "value")],
)
def test_usual_headings_of_long_tables_are_read_as_what_they_are(method, value):
    wide = scores_of("Ours", "Theirs")
    long = wide.melt(id_vars="dataset", var_name=method, value_name=value)
    found, expected = table_of(long, metric="accuracy"), table_of(wide, metric="accuracy")
    assert found.methods == ("Ours", "Theirs")
    assert found.values.tobytes() == expected.values.tobytes()


def test_a_long_table_with_a_column_per_metric_needs_the_metric_and_leaves_times_out():
    wide = scores_of("A", "B")
    long = wide.melt(id_vars="dataset", var_name="model", value_name="accuracy").assign(
        rmse=2.0, fit_time=3.0
    )
    with pytest.raises(InputError, match="choose one of accuracy, rmse"):
        table_of(long)
    assert (
        table_of(long, metric="accuracy").values.tobytes()
        == table_of(wide, metric="accuracy").values.tobytes()
    )
    alone = long.drop(columns="rmse")
    assert table_of(alone).metric == "accuracy"
    assert table_of(alone, metric="fit_time", higher_is_better=False).values.max() == 3.0


def test_two_columns_that_may_name_the_methods_are_asked_about():
    long = scores_of("A", "B").melt(id_vars="dataset", var_name="model", value_name="value")
    assert table_of(long.assign(learner="x"), metric="accuracy").methods == ("A", "B")
    long["learner"] = np.resize(["x", "y", "z"], len(long))
    with pytest.raises(InputError, match="both 'model' and 'learner' may name the methods"):
        table_of(long, metric="accuracy")
    assert table_of(long, metric="accuracy", columns={"model": "method"}).methods == ("A", "B")


def test_a_run_is_asked_about_and_train_scores_are_not_taken_for_folds():
    runs = pd.concat([scores_of("A", "B", seed=run).assign(run=run) for run in range(3)])
    with pytest.raises(
        InputError, match=r"the column 'run' may count seeds .* columns=\{'run': 'seed'\}"
    ):
        table_of(runs, metric="accuracy")
    assert table_of(runs, metric="accuracy", columns={"run": "seed"}).designs[0] is None
    parts = pd.concat(
        [
            scores_of("A", "B", seed=run).assign(split=part)
            for run, part in enumerate(("train", "test"))
        ]
    )
    with pytest.raises(InputError, match="called test, train: keep the rows of the test scores"):
        table_of(parts, metric="accuracy")


# Numbers as people write them


def test_gaps_percent_signs_spreads_and_decimal_commas_are_read_and_said(tmp_path):
    (tmp_path / "s.csv").write_text(
        "dataset;A, tuned;B\niris;0,91 ± 0,02;91.2%\nwine;0,85;NA\nglass;0,71 (0,03);70.5%\n",
        encoding="utf-8",
    )
    table = table_of(read_frame(tmp_path / "s.csv"), metric="accuracy")
    assert table.methods == ("A, tuned", "B")
    assert table.datasets == ("glass", "iris")
    assert table.values == pytest.approx(np.array([[0.71, 0.705], [0.91, 0.912]]))
    assert [len(folds) for folds in table.folds] == [1, 1]
    told = " ".join(table.warnings)
    for part in (
        "'NA' counts as missing",
        "'91.2%' is 0.912",
        "a spread is not folds",
        "decimal commas",
    ):
        assert part in told


@pytest.mark.parametrize(
    ("text", "value", "spread"),
    [
        ("0.79 ± 0.01", 0.79, 0.01),
        ("0.79+/-0.01", 0.79, 0.01),
        ("79.1 ± 0.5%", 0.791, 0.005),
        ("0.79 (0.01)", 0.79, 0.01),
        (r"$0.79 \pm 0.01$", 0.79, 0.01),
        ("-1,5", -1.5, np.nan),
        ("−0.5", -0.5, np.nan),
        ("n/a", np.nan, np.nan),
        (" 1e-3 %", 1e-5, np.nan),
    ],
)
def test_written_numbers(text, value, spread):
    found = written_number(text)
    assert found.value == pytest.approx(value, nan_ok=True)
    assert found.spread == pytest.approx(spread, nan_ok=True)


def test_a_comma_that_may_be_thousands_is_asked_about():
    table = pd.DataFrame({"dataset": ["x", "y"], "A": ["1,234", "2,345"], "B": [1.0, 2.0]})
    with pytest.raises(InputError, match="decimal comma or thousands"):
        table_of(table, metric="rmse")


def test_latin_1_is_read_and_said(tmp_path):
    (tmp_path / "s.csv").write_bytes(
        "dataset,Naïve,Ours\nÄpfel,0.9,0.8\nwine,0.7,0.6\n".encode("latin-1")
    )
    table = table_of(read_frame(tmp_path / "s.csv"), metric="accuracy")
    assert table.methods == ("Naïve", "Ours")
    assert any("Windows-1252" in note for note in table.warnings)


def test_a_column_that_stands_twice_in_a_file_is_refused(tmp_path):
    (tmp_path / "s.csv").write_text("dataset,A,A,B\nx,1,2,3\ny,1,2,3\n")
    with pytest.raises(InputError, match="'A' stands twice"):
        read_frame(tmp_path / "s.csv")


def test_separators_are_told_by_lines_not_by_their_heading(tmp_path):
    (tmp_path / "s.csv").write_text(
        "dataset;Forest, tuned, deep;Net, wide, deep\nx;0,9;0,8\ny;0,7;0,6\n"
    )
    assert read_frame(tmp_path / "s.csv").columns.tolist() == [
        "dataset",
        "Forest, tuned, deep",
        "Net, wide, deep",
    ]


# Suspicions


def test_identical_rows_under_several_names_are_named():
    table = scores_of("A", "B")
    thrice = pd.concat([table.assign(dataset=table.dataset + end) for end in ("", "-b", "-c")])
    lines = [
        line
        for line in table_of(thrice, metric="accuracy").warnings
        if "same scores of every method" in line
    ]
    assert len(lines) == 1
    assert "set0, set0-b and set0-c" in lines[0]
    assert "ignore=['set0-b', 'set0-c', 'set1-b']" in lines[0]
    assert not [
        line for line in table_of(table, metric="accuracy").warnings if "same scores" in line
    ]
    rounded = pd.DataFrame({"dataset": ["x", "y", "z"], "A": [0.8, 0.8, 0.7], "B": [0.7, 0.7, 0.9]})
    assert not table_of(rounded, metric="accuracy").warnings


def test_d22_a_metric_with_a_unit_is_compared_by_log_ratios_where_units_differ():
    generator = np.random.default_rng(0)
    unit = 10.0 ** np.arange(9)
    better = generator.uniform(0.9, 1.0, 9)
    table = pd.DataFrame({"dataset": [f"d{i}" for i in range(9)], "A": unit * better, "B": unit})
    result = compare(table, metric="rmse", **QUICK)
    pair = result.pairs[0].seen_from("A")
    assert pair.mean_difference == pytest.approx(-np.log(better).mean())
    assert any("natural logarithms are compared" in line for line in result.warnings)
    assert "natural logarithms" in result.choices["metric"]
    plain = compare(table, metric="rmse", differences="plain", **QUICK)
    assert plain.pairs[0].seen_from("A").mean_difference == pytest.approx(
        (unit * (1 - better)).mean()
    )
    # The same in any unit: scores of each dataset times anything.
    other = table.assign(A=table.A * unit[::-1] ** 0.5, B=table.B * unit[::-1] ** 0.5)
    assert compare(other, metric="rmse", **QUICK).pairs[0].p_raw == result.pairs[0].p_raw
    near = pd.DataFrame({"dataset": ["x", "y"], "A": [1.0, 3.0], "B": [1.2, 3.1]})
    assert table_of(near, metric="rmse").differences == "plain"
    assert (
        table_of(
            table.assign(A=table.A / unit.max(), B=table.B / unit.max()), metric="mape"
        ).differences
        == "plain"
    )


def test_scores_that_differ_by_rounding_alone_tie_in_logarithms_too():
    values = 10.0 ** np.arange(6)
    table = pd.DataFrame({"dataset": list("abcdef"), "A": values, "B": values * (1 + 1e-13)})
    assert len(compare(table, metric="rmse", **QUICK).pairs[0].tied) == 6


def test_failures_of_one_method_that_decide_for_all_are_named():
    table = scores_of("A", "B", "C")
    table.loc[2:, "C"] = np.nan
    lines = table_of(table, metric="accuracy").warnings
    assert any(
        "C has 6 of the 6 missing scores" in line and "ignore=['C']" in line for line in lines
    )
    assert table_of(table, metric="accuracy", ignore="C").values.shape == (8, 2)


# Seeds and subjects


def seeded(n_seeds=4, n_folds=1, n_datasets=3):
    generator = np.random.default_rng(3)
    rows = [
        (f"d{d}", fold, seed, method, 0.7 + 0.05 * generator.normal())
        for d in range(n_datasets)
        for fold in range(n_folds)
        for method in "AB"
        for seed in range(n_seeds)
    ]
    return pd.DataFrame(rows, columns=["dataset", "fold", "seed", "method", "value"])


@pytest.mark.parametrize("form", ["long", "wide"])
def test_d21_seeds_are_read_and_their_mean_stands_for_the_split(form):
    frame = seeded(n_folds=5)
    given = (
        frame
        if form == "long"
        else frame.pivot(index=["dataset", "fold", "seed"], columns="method", values="value")
    )
    table = table_of(
        given.reset_index(), metric="accuracy", ignore=["index"] if form == "long" else ()
    )
    expected = frame.groupby(["dataset", "fold", "method"])["value"].mean().unstack()
    assert np.concatenate(table.folds) == pytest.approx(expected.to_numpy())
    assert table.designs == (Design(5, 1, 0.25),) * 3
    assert any(line.startswith("Seeds are not folds") for line in table.notes)


def test_d21_variance_components_are_those_of_a_one_way_analysis_of_variance():
    frame = seeded(n_folds=6, n_datasets=1)
    table = table_of(frame, metric="accuracy")
    for spread in table.seeds:
        mine = (
            frame[frame.method == spread.method]
            .pivot(index="fold", columns="seed", values="value")
            .to_numpy()
        )
        within = ((mine - mine.mean(axis=1, keepdims=True)) ** 2).sum() / (6 * 3)
        between = ((mine.mean(axis=1) - mine.mean()) ** 2).sum() / 5
        assert spread.seed == pytest.approx(np.sqrt(within))
        assert spread.data == pytest.approx(np.sqrt(max(0, between - within / 4)))
        assert spread.n_seeds == 4


def test_d21_seeds_on_one_split_say_what_they_are_about_and_are_not_tested_as_folds():
    result = compare(seeded().drop(columns="fold"), metric="accuracy", **QUICK)
    assert any("these fitted models, this test set" in line for line in result.warnings)
    assert result.per_dataset.empty
    assert [len(folds) for folds in result.scores.folds] == [1, 1, 1]
    assert np.isnan([spread.data for spread in result.scores.seeds]).all()


def test_one_seed_for_all_scores_is_said():
    table = score_table(seeded(n_seeds=1, n_folds=5), metric="accuracy")
    assert any("hold for that seed only" in line for line in table.notes)


def test_d18_subjects_within_datasets_are_independent():
    generator = np.random.default_rng(5)
    rows = [
        {
            "dataset": d,
            "subject": f"s{i}",
            "A": 0.5 + 0.1 * generator.normal(),
            "B": 0.53 + 0.1 * generator.normal(),
        }
        for d in ("x", "y")
        for i in range(10)
    ]
    frame = pd.DataFrame(rows)
    result = compare(frame, higher_is_better=True, **QUICK)
    for dataset, mine in frame.groupby("dataset"):
        p = result.per_dataset.set_index("dataset").loc[dataset, "p"]
        assert p == pytest.approx(stats.ttest_rel(mine.A, mine.B).pvalue)
    assert "10 subjects" in result.choices["per dataset"]


def test_d18_splits_are_not_taken_for_subjects():
    frame = scores_of("A", "B").rename(columns={"dataset": "split"})
    assert table_of(frame, metric="accuracy").designs == (None,)
    assert table_of(frame, metric="accuracy", repeats=1).designs == (Design(8, 1, 1 / 7),)
    assert table_of(frame, metric="accuracy", columns={"split": "fold"}).designs[0].folds == 8
    told = frame.rename(columns={"split": "resample"})
    assert table_of(told, metric="accuracy").designs == (None,)
    assert frame_results(frame).side("value", "A").index.names == ["split"]
    sides = [frame.set_index("split")[name] for name in "AB"]
    with pytest.raises(InputError, match="how these 8 splits came about is not known"):
        pairwise(*sides, metric="accuracy")
    assert pairwise(*sides, metric="accuracy", test_train_ratio=0.25).unit == "fold"


# The command line


def test_the_command_line_mends_what_it_asks_about(tmp_path, paragone):
    turned = scores_of("u1", "v2", "w3").set_index("dataset").T.rename_axis("name").reset_index()
    turned.to_csv(tmp_path / "t.csv", index=False)
    refused(
        paragone("compare", tmp_path / "t.csv", "--metric", "accuracy"),
        "Say --column name=dataset if the columns are, --column name=method if the rows are",
    )
    mended = paragone(
        "compare", tmp_path / "t.csv", "--metric", "accuracy", "--set", "methods_in=rows", "--json"
    )
    assert sorted(json.loads(mended.out)["methods"]) == ["u1", "v2", "w3"]
    runs = pd.concat([scores_of("A", "B", seed=run).assign(run=run) for run in range(3)])
    runs.to_csv(tmp_path / "r.csv", index=False)
    refused(
        paragone("compare", tmp_path / "r.csv", "--metric", "accuracy"),
        "say --column run=seed or --column run=repeat",
    )
    assert (
        paragone("compare", tmp_path / "r.csv", "--metric", "accuracy", "--column", "run=seed").code
        == 0
    )
    refused(
        paragone("compare", tmp_path / "r.csv", "--metric", "accuracy", "--column", "run"),
        "--column run=seed",
    )
    left = paragone(
        "compare",
        tmp_path / "t.csv",
        "--metric",
        "accuracy",
        "--set",
        "methods_in=rows",
        "--set",
        "ignore=u1",
        "--json",
    )
    assert sorted(json.loads(left.out)["methods"]) == ["v2", "w3"]


def test_json_has_corrections_and_tests_within_datasets_and_null_for_what_is_not_finite(
    tmp_path, paragone
):
    frame = pd.DataFrame(
        [
            {"dataset": d, "fold": f, "A": 0.8 + f / 100, "B": 0.7 + f / 50}
            for d in "xy"
            for f in range(4)
        ]
    )
    frame.to_csv(tmp_path / "s.csv", index=False)
    text = paragone("compare", tmp_path / "s.csv", "--metric", "accuracy", "--json").out
    assert '"inf"' not in text
    found = json.loads(text)
    assert [row["dataset"] for row in found["per_dataset"]] == ["x", "y"]


def test_one_dataset_is_not_called_datasets(tmp_path, paragone):
    (tmp_path / "s.csv").write_text("dataset,A,B\nx,0.9,0.8\n")
    assert "1 datasets" not in paragone("compare", tmp_path / "s.csv", "--metric", "accuracy").out


def test_the_sign_of_a_difference_in_losses_is_explained():
    table = scores_of("A", "B").assign(B=lambda frame: frame.A + 0.01)
    assert "(positive favours A)" in compare(table, metric="log_loss", **QUICK).verdict


HEADINGS = [
    "dataset",
    "fold",
    "repeat",
    "seed",
    "subject",
    "method",
    "model",
    "value",
    "score",
    "run",
    "split",
    "n_rows",
    "time",
    "A",
    "B",
    "Mean",
    "metric",
    "at",
    "question",
    "task",
    "document",
    "accuracy",
    "rmse",
    "Dataset",
    "experiment",
    "protocol",
    "key",
    "id",
]
CELLS = {
    "count": lambda g, n: g.integers(0, 4, n).tolist(),
    "share": lambda g, n: g.random(n).round(3).tolist(),
    "text": (
        lambda g, n: g.choice(["x", "y", "Mean", "NA", "SVM", "RF", "# wins", "", None], n).tolist()
    ),
    "written": (
        lambda g, n: g.choice(["0.9", "91.2%", "0,79", "0.7 ± 0.1", "NA", "-", "1e5"], n).tolist()
    ),
    "nothing": lambda g, n: [np.nan] * n,
    "right": lambda g, n: (g.random(n) < 0.5).tolist(),
    "infinite": lambda g, n: g.choice([np.inf, 0.3, -np.inf], n).tolist(),
}


@pytest.mark.parametrize("batch", range(3))
def test_any_table_is_read_or_refused_in_a_sentence(batch):
    refusals = []
    for seed in range(100 * batch, 100 * (batch + 1)):
        g = np.random.default_rng(seed)
        n, names = int(g.integers(1, 9)), g.choice(HEADINGS, int(g.integers(1, 7)), replace=False)
        frame = pd.DataFrame({name: CELLS[g.choice(list(CELLS))](g, n) for name in names})
        options = {
            "metric": [None, "accuracy", "rmse", "zest"][g.integers(4)],
            "higher_is_better": [None, True, False][g.integers(3)],
            "missing": ["complete", "worst", "refuse"][g.integers(3)],
            "repeats": [None, 1, 2][g.integers(3)],
            "methods_in": [None, "rows", "columns"][g.integers(3)],
            "differences": [None, "log", "plain"][g.integers(3)],
        }
        of_scores = ("metric", "higher_is_better", "missing", "repeats", "differences")
        for read in (
            partial(compare, frame, bayes=False, **options),
            partial(score_table, frame, **{name: options[name] for name in of_scores}),
            partial(_paired_with_itself, frame, options["metric"]),
        ):
            try:
                read()
            except InputError as refusal:
                refusals.append(str(refusal).strip())
    assert all(refusals)
    assert 0 < len(refusals) < 300


def _paired_with_itself(frame, metric):
    return pair_scores(*(one_side(frame, metric=metric)[0] for _ in range(2)))


def test_scores_under_the_heading_method_are_no_names():
    frame = pd.DataFrame({"dataset": list("abc"), "method": [0.76, 0.8, 0.7], "B": [0.9, 0.8, 0.7]})
    with pytest.raises(InputError, match=r"numbers such as 0\.76, which are no names"):
        compare(frame, metric="accuracy")
    tidy = pd.DataFrame(
        {"dataset": list("aabb"), "method": [0.1, 0.5] * 2, "value": [0.9, 0.8, 0.7, 0.6]}
    )
    with pytest.raises(InputError, match=r"numbers such as 0\.1, which are no names"):
        compare(tidy, metric="accuracy")


def test_folds_beside_subjects_are_asked_about_and_each_answer_is_taken():
    rng = np.random.default_rng(3)
    rows = pd.DataFrame(
        {"subject": [f"s{i}" for i in range(8)], "fold": np.arange(8) % 4, "A": rng.random(8)}
    )
    rows["B"] = rows["A"] - 0.1
    with pytest.raises(
        InputError, match="ignore='fold' compares subject by subject, ignore='subject' fold by fold"
    ):
        compare(rows, metric="accuracy")
    assert len(compare(rows, metric="accuracy", ignore="fold", bayes=False).scores.datasets) == 8
    means = rows.groupby("fold", as_index=False)[["A", "B"]].mean()
    assert compare(means, metric="accuracy", bayes=False).scores.designs[0].folds == 4
