"""Results from elsewhere: every plant is made by hand and has a clean counterpart that differs in the plant alone."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import paragone
from paragone import InputError
from paragone.checks.elsewhere import decimals_of, equal_methods, greatest_deviation, is_share_of
from paragone.cli import app


def codes(path, **options) -> set[str]:
    return {finding.code for finding in paragone.audit(path, **options).findings}


def written(folder, text: str, name: str = "scores.csv"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


ITEMS_HEAD = "dataset,n_items,method,accuracy\n"
WIDE_HEAD = "dataset,A,B,C\n"
TEN = [0.811, 0.722, 0.931, 0.644, 0.874, 0.915, 0.786, 0.707, 0.658, 0.829]


def ten(second, third) -> str:
    return WIDE_HEAD + "".join(
        f"d{i},{a},{b},{c}\n" for i, (a, b, c) in enumerate(zip(TEN, second, third, strict=True))
    )


OTHER = [round(value - 0.013 * (i % 3) + 0.007, 3) for i, value in enumerate(TEN)]
THIRD = [round(value + 0.011 * (i % 4) - 0.015, 3) for i, value in enumerate(TEN)]

PLANTS = {
    "a mean of 30 items that no count gives": (
        "PG321",
        ITEMS_HEAD + "iris,30,A,0.91\niris,30,B,0.83\n",
        ITEMS_HEAD + "iris,30,A,0.90\niris,30,B,0.83\n",
        {},
    ),
    "the same in percent": (
        "PG321",
        ITEMS_HEAD + "iris,30,A,91.1\niris,30,B,83.3\n",
        ITEMS_HEAD + "iris,30,A,90.0\niris,30,B,83.3\n",
        {},
    ),
    "in a wide table, with the column named": (
        "PG321",
        "dataset,n,A,B\niris,30,0.91,0.83\nwine,36,0.75,0.81\n",
        "dataset,n,A,B\niris,30,0.90,0.83\nwine,36,0.75,0.81\n",
        {"metric": "accuracy", "items": "n"},
    ),
    "with the number of items said": (
        "PG321",
        "dataset,method,accuracy\niris,A,0.333\niris,B,0.45\n",
        "dataset,method,accuracy\niris,A,0.35\niris,B,0.45\n",
        {"items": 40},
    ),
    "a deviation behind a mean": (
        "PG322",
        "dataset,method,accuracy\niris,A,0.95 ± 0.41\niris,B,0.83 ± 0.02\n",
        "dataset,method,accuracy\niris,A,0.95 ± 0.04\niris,B,0.83 ± 0.02\n",
        {},
    ),
    "a deviation in its own column, of ten runs": (
        "PG322",
        "dataset,method,auc,auc_std,n_runs\niris,A,0.95,0.25,10\niris,B,0.83,0.02,10\n",
        "dataset,method,auc,auc_std,n_runs\niris,A,0.95,0.22,10\niris,B,0.83,0.02,10\n",
        {},
    ),
    "an accuracy beyond 1": (
        "PG323",
        "dataset,method,accuracy\niris,A,1.03\niris,B,0.83\nwine,A,0.9\nwine,B,0.8\n",
        "dataset,method,accuracy\niris,A,1.00\niris,B,0.83\nwine,A,0.9\nwine,B,0.8\n",
        {},
    ),
    "a negative F1 in percent": (
        "PG323",
        "dataset,method,micro_f1\niris,A,-3.1\niris,B,83.1\nwine,A,90.1\nwine,B,80.2\n",
        "dataset,method,micro_f1\niris,A,0.31\niris,B,83.1\nwine,A,90.1\nwine,B,80.2\n",
        {},
    ),
    "a share of a harness beyond 1": (
        "PG323",
        'dataset,method,"acc,none"\niris,A,1.03\niris,B,0.83\nwine,A,0.9\nwine,B,0.8\n',
        'dataset,method,"acc,none"\niris,A,1.0\niris,B,0.83\nwine,A,0.9\nwine,B,0.8\n',
        {},
    ),
    "a copied column": ("PG324", ten(TEN, THIRD), ten([*TEN[:9], 0.828], THIRD), {}),
    "folds of one value": (
        "PG327",
        "dataset,fold,method,accuracy\n"
        + "".join(f"iris,{i},A,0.91\niris,{i},B,0.8{i}\n" for i in range(5)),
        "dataset,fold,method,accuracy\n"
        + "".join(f"iris,{i},A,0.9{i}\niris,{i},B,0.8{i}\n" for i in range(5)),
        {},
    ),
    "a printed deviation of 0": (
        "PG327",
        "dataset,method,accuracy\niris,A,0.912 ± 0.000\niris,B,0.83 ± 0.02\n",
        "dataset,method,accuracy\niris,A,1.000 ± 0.000\niris,B,0.83 ± 0.02\n",
        {},
    ),
}


@pytest.mark.parametrize("name", PLANTS)
def test_a_plant_is_found_and_nothing_else(name, tmp_path):
    code, planted, clean, options = PLANTS[name]
    assert codes(written(tmp_path, planted), **options) == {code}
    assert codes(written(tmp_path, clean), **options) == set()


def items_of(right, drop=()) -> str:
    return "id,acc\n" + "".join(
        f"q{i},{int(one)}\n" for i, one in enumerate(right) if i not in drop
    )


@pytest.fixture
def answers():
    rng = np.random.default_rng(3)
    hard = rng.random(60)
    return {name: rng.random(60) < 0.35 + 0.5 * hard for name in "ABC"}


def folder_of(tmp_path, answers, drop=()):
    for name, right in answers.items():
        written(tmp_path, items_of(right, drop if name == "B" else ()), f"{name}.csv")
    return tmp_path


def test_the_answers_of_one_method_under_two_names_are_found(tmp_path, answers):
    found = paragone.audit(folder_of(tmp_path, answers | {"B": answers["A"]}))
    (twin,) = found.findings
    assert (twin.code, twin.count, twin.method) == ("PG325", 60, "B")


def test_one_other_answer_is_another_method(tmp_path, answers):
    other = answers["A"].copy()
    other[7] = ~other[7]
    assert codes(folder_of(tmp_path, answers | {"B": other})) == set()


def test_items_that_one_method_lacks_are_counted(tmp_path, answers):
    (finding,) = paragone.audit(folder_of(tmp_path, answers, drop=(3, 4, 5))).findings
    assert (finding.code, finding.count, finding.total, finding.examples) == (
        "PG326",
        3,
        60,
        ("B lacks 3",),
    )


def test_items_in_one_wide_table(tmp_path, answers):
    frame = pd.DataFrame(
        {"question": range(60)} | {name: right.astype(int) for name, right in answers.items()}
    )
    path = tmp_path / "items.csv"
    frame.to_csv(path, index=False)
    assert codes(path, metric="accuracy") == set()
    frame.assign(C=frame["A"]).to_csv(path, index=False)
    assert codes(path, metric="accuracy") == {"PG325"}


@pytest.mark.parametrize("value", ["1.0", "0.9"])
def test_equal_coarse_scores_are_no_wonder(value, tmp_path):
    # Eight easy datasets on which everybody has the same score, and one on which two of three meet.
    rows = "".join(f"d{i},{value},{value},{value}\n" for i in range(8))
    assert codes(written(tmp_path, WIDE_HEAD + rows + "e,0.8,0.8,0.7\n")) == set()


def test_two_runs_of_percent_errors_are_not_out_of_range(tmp_path):
    text = "dataset,method,hamming_loss\na,A,0.8\na,B,1.2\nb,A,0.5\nb,B,3.4\n"
    assert codes(written(tmp_path, text)) == set()


def test_means_over_runs_are_left_alone_until_all_items_are_said(tmp_path):
    path = written(tmp_path, ITEMS_HEAD + "iris,30,A,0.91 ± 0.02\niris,30,B,0.83 ± 0.01\n")
    found = paragone.audit(path)
    assert found.clean
    assert any("several runs" in one.why and one.count == 2 for one in found.unchecked)
    assert codes(path, items=30) == {"PG321"}
    assert codes(path, items=300) == set()


@given(st.integers(1, 400), st.integers(0, 5), st.data())
def test_a_share_is_what_some_count_rounds_to(n, decimals, data):
    unit = 10**decimals
    printed = data.draw(st.integers(0, unit))
    half = Fraction(1, 2 * unit)
    oracle = any(abs(Fraction(k, n) - Fraction(printed, unit)) <= half for k in range(n + 1))
    assert is_share_of(printed / unit, decimals, n) == oracle


@given(st.integers(1, 10_000), st.data())
def test_a_true_share_is_never_impossible_however_it_is_printed(n, data):
    share = data.draw(st.integers(0, n)) / n
    for printed in (
        share,
        float(np.float32(share)),
        *(round(share, digits) for digits in range(1, 9)),
    ):
        assert is_share_of(printed, decimals_of(printed), n)
        percent = round(100 * share, 2)
        assert is_share_of(percent / 100, decimals_of(percent) + 2, n)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=12))
def test_no_values_vary_more_than_the_bound(values):
    mean, deviation = float(np.mean(values)), float(np.std(values, ddof=1))
    assert deviation <= greatest_deviation(mean, 1e-9, len(values), 0, 1) + 1e-7


@given(st.integers(1, 12), st.integers(0, 12))
def test_zeros_and_ones_reach_the_bound(zeros, ones):
    values = [0.0] * zeros + [1.0] * (ones + 1)
    bound = greatest_deviation(float(np.mean(values)), 0.0, len(values), 0, 1)
    assert bound == pytest.approx(np.std(values, ddof=1), abs=1e-12)


def test_how_likely_equal_methods_are_against_a_loop():
    cells = np.round(np.random.default_rng(0).normal(0.8, 0.02, (6, 5)), 2)
    cells[:, 3] = cells[:, 1]
    ((first, second, count, chance),) = equal_methods(cells)
    others = [0, 1, 2, 4]
    seen = cells[:, others].ravel().tolist()
    equal = sum((seen.count(value) / len(seen)) ** 2 for value in set(seen))
    ties = [
        sum(row[a] == row[b] for i, a in enumerate(others) for b in others[i + 1 :])
        for row in cells
    ]
    pooled = max(equal, (sum(ties) + equal) / (6 * 6 + 1))
    expected = 1.0
    for tied in ties:
        expected *= (tied + pooled) / 7
    assert (first, second, count) == (1, 3, 6)
    assert chance == pytest.approx(expected, rel=1e-12)


def test_independent_coarse_methods_are_seldom_called_the_same():
    # Six methods of like strength on five datasets of 20 items: columns that agree are chance.
    rng = np.random.default_rng(1)
    alarms = 0
    for _ in range(300):
        cells = rng.binomial(20, 0.9, (5, 6)) / 20
        alarms += any(chance * 15 <= 1e-3 for *_, chance in equal_methods(cells))
    assert alarms <= 3


def test_the_command_line(tmp_path):
    path = written(tmp_path, PLANTS["an accuracy beyond 1"][1])
    ended = CliRunner().invoke(app, ["audit", str(path), "--json"])
    assert ended.exit_code == 1
    assert [one["code"] for one in json.loads(ended.stdout)["findings"]] == ["PG323"]
    clean = CliRunner().invoke(
        app, ["audit", str(written(tmp_path, PLANTS["an accuracy beyond 1"][2]))]
    )
    assert (clean.exit_code, clean.stdout.splitlines()[0]) == (
        0,
        "Audit of scores.csv: no open finding",
    )


def test_what_cannot_be_asked_is_refused(tmp_path):
    path = written(tmp_path, ten(OTHER, THIRD))
    with pytest.raises(InputError, match="column"):
        paragone.audit(path, items="n_things")
    with pytest.raises(InputError, match="1 or more"):
        paragone.audit(path, items=0)
    with pytest.raises(InputError, match="no column holds numbers"):
        paragone.audit(written(tmp_path, "dataset,method,accuracy\na,A,\na,B,\n", "gaps.csv"))
    with pytest.raises(InputError, match="compared with a store"):
        paragone.audit(path, against=[path])


def test_known_findings_are_acknowledged(tmp_path):
    path = written(tmp_path, ten(TEN, THIRD))
    assert paragone.audit(
        path, known=[{"code": "PG324", "reason": "B is A under its old name"}]
    ).clean


def test_what_is_not_looked_at_is_counted(tmp_path):
    text = "dataset,n_items,method,accuracy\na,10,A,0.5\na,-3,B,inf\nb,10,A,\nb,10,B,0.4\n"
    found = paragone.audit(written(tmp_path, text))
    assert [one.code for one in found.findings] == ["PG323"]
    told = [(one.count, one.why) for one in found.unchecked]
    assert (1, "1 values that are missing") in told
    assert (1, "no whole number of items behind accuracy is known: --items N or COLUMN") in told
    with pytest.raises(InputError, match="stands twice"):
        paragone.audit(written(tmp_path, text + "a,10,A,0.6\n", "twice.csv"))


def test_honest_tables_of_all_sizes_raise_nothing(tmp_path):
    rng = np.random.default_rng(5)
    for _ in range(60):
        n_datasets, n_methods, decimals = (
            int(rng.integers(*ends)) for ends in ((2, 15), (2, 7), (2, 5))
        )
        percent = rng.random() < 0.4
        rows = []
        for dataset in range(n_datasets):
            n = int(rng.choice([20, 50, 97, 150, 500, 1319]))
            ease = rng.normal(1.5, 1.2) + rng.normal(0, 1.5, n)
            for method in range(n_methods):
                share = (rng.random(n) < 1 / (1 + np.exp(-ease - 0.1 * method))).mean()
                text = (
                    f"{100 * share:.{max(1, decimals - 2)}f}"
                    if percent
                    else f"{share:.{decimals}f}"
                )
                rows.append(f"d{dataset},{n},M{method},{text}\n")
        path = written(tmp_path, ITEMS_HEAD + "".join(rows))
        assert codes(path) == set(), path.read_text()
