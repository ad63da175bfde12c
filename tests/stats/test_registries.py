"""Tests and corrections by name: ours, a stranger's function, and one from a file of the user's."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from paragone.errors import InputError
from paragone.stats import Correction, Test, TestResult, compare, compare_samples, pairwise
from paragone.stats.corrections import holm
from paragone.stats.registries import corrections, find_correction, find_test, tests

OWN = """
import numpy as np
from scipy.stats import binomtest
from paragone.stats import Correction, Test, TestResult

def sign(differences):
    up, down = int((differences > 0).sum()), int((differences < 0).sum())
    p = binomtest(up, up + down).pvalue if up + down else 1.0
    return TestResult(p=p, side=up - down, exact=True, smallest_p=min(1.0, 2.0 ** (1 - up - down)))

SIGN = Test("sign", "sign", sign, heading="Sign test", label="sign test", units=("dataset", "subject"))

def sidak(p_values):
    return 1 - (1 - np.asarray(p_values)) ** len(p_values)

SIDAK = Correction("sidak", "Sidak", sidak)
"""
FAST = {"n_samples": 100}


@pytest.fixture
def own(tmp_path, monkeypatch):
    (tmp_path / "own_statistics.py").write_text(OWN, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    # Another test may have imported a module of this name.
    sys.modules.pop("own_statistics", None)
    yield tmp_path
    sys.modules.pop("own_statistics", None)


def frame(n: int = 12, seed: int = 3) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    values = generator.normal((0.85, 0.83, 0.8), 0.05, (n, 3))
    return pd.DataFrame(values, columns=["A", "B", "C"]).assign(dataset=[f"d{i}" for i in range(n)])


def test_our_own_are_found_in_the_order_of_their_declaration():
    assert {"wilcoxon", "paired-t", "corrected-t", "clustered-t", "corrected-sample-t"} <= set(
        tests.names()
    )
    known = [one.name for one in corrections if not one.on_ranks]
    assert known[:5] == ["holm", "hochberg", "hommel", "bonferroni", "benjamini-hochberg"]


@pytest.mark.parametrize("name", ["wilcoxon", "paired-t", "clustered-t"])
def test_a_test_by_name_gives_its_p_and_its_title(name):
    result = compare(frame(), metric="accuracy", reference="A", test=name, **FAST)
    values = frame()
    expected = stats.wilcoxon if name == "wilcoxon" else stats.ttest_1samp
    for pair in result.pairs:
        difference = values["A"] - values[pair.rival]
        p = (
            expected(difference, 0.0).pvalue
            if name != "wilcoxon"
            else expected(difference, method="exact").pvalue
        )
        assert pair.p_raw == pytest.approx(p, rel=1e-9)
    assert result.choices["test"].startswith(find_test(name, "dataset").title)


def test_a_file_of_the_users_brings_a_test_and_a_correction(own):
    options = {"test": "own_statistics:SIGN", "correction": "own_statistics:SIDAK"}
    result = compare(frame(), metric="accuracy", reference="A", **options, **FAST)
    for pair in result.pairs:
        expected = stats.binomtest(len(pair.won), len(pair.won) + len(pair.lost)).pvalue
        assert pair.p_raw == pytest.approx(expected)
        assert pair.p == pytest.approx(1 - (1 - expected) ** 2)
        assert pair.smallest_p == pytest.approx(1 - (1 - 2.0**-11) ** 2)
    assert "sign, two-sided" in result.choices["test"]
    assert "Sidak over a family of 2" in result.choices["correction"]
    assert "Sidak" in result.verdict
    # The power is that of the signed-rank test, so nothing is said of it for another one.
    assert "80 % power" not in result.verdict
    assert "not worked out for this test" in result.choices["power"]
    two = pairwise(
        frame()["C"], frame()["A"], metric="accuracy", test="own_statistics:SIGN", **FAST
    )
    assert two.choices["test"].startswith("sign, two-sided")
    assert two.pairs[0].p_raw == pytest.approx(
        next(pair.p_raw for pair in result.pairs if pair.rival == "C")
    )


def test_the_command_line_takes_what_a_file_in_the_current_folder_brings(own, monkeypatch):
    frame().to_csv(own / "scores.csv", index=False)
    command = [
        sys.executable,
        "-m",
        "paragone",
        "compare",
        "scores.csv",
        "--metric",
        "accuracy",
        "--reference",
        "A",
    ]
    command += ["--test", "own_statistics:sign", "--correction", "own_statistics:sidak", "--json"]
    ended = subprocess.run(command, cwd=own, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert "sidak over a family of 2" in ended.stdout
    assert '"sign, two-sided, n = 12"' in ended.stdout


def test_a_function_is_a_test_and_may_ask_for_options():
    def t_at_level(differences, *, level):
        found = stats.ttest_1samp(differences, 0.0)
        # What is left of the level to one of the two pairs, and what two one-sided tests look at.
        assert level in (1 - 0.05 / 2, 1 - 0.05)
        return TestResult(p=found.pvalue, side=differences.mean())

    result = compare(frame(), metric="accuracy", reference="A", test=t_at_level, **FAST)
    assert [pair.p_raw for pair in result.pairs] == pytest.approx(
        [
            pair.p_raw
            for pair in compare(
                frame(), metric="accuracy", reference="A", test="paired-t", **FAST
            ).pairs
        ]
    )


def test_samples_take_another_correction_and_name_it():
    generator = np.random.default_rng(0)
    rows = [
        {"method": m, "sample": i, "metric": metric, "at": 5, "value": generator.uniform()}
        for metric in ("recall", "precision")
        for m in ("A", "B")
        for i in range(20)
    ]
    result = compare_samples(pd.DataFrame(rows), correction="bonferroni")
    assert result.table["p"].tolist() == pytest.approx(
        [min(1.0, 2 * p) for p in result.table["p_raw"]]
    )
    assert "Bonferroni" in result.verdict
    with pytest.raises(InputError, match="does not fit"):
        compare_samples(pd.DataFrame(rows), correction="shaffer")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"test": "wilcoxn"}, "unknown test 'wilcoxn': did you mean 'wilcoxon'"),
        ({"correction": "Holmm"}, "unknown correction 'Holmm': did you mean 'holm'"),
        ({"test": "no_such_module:test"}, "cannot import 'no_such_module'"),
        ({"test": "corrected-t"}, "not right for datasets"),
        ({"test": 3}, "a test is a function"),
        ({"correction": 3}, "a correction is a function"),
        ({"test": lambda d, *, mood: None}, "asks for 'mood'"),
        ({"test": lambda d: 0.5}, "must return a TestResult"),
        ({"correction": lambda p: p[:1]}, "as many p-values"),
        ({"zeros": "drop"}, "unknown treatment of zeros"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(options, words):
    with pytest.raises(InputError, match=words):
        compare(frame(), metric="accuracy", **options, **FAST)


def test_a_wilcoxon_on_folds_is_refused():
    a = pd.Series([0.1, 0.2, 0.3], index=pd.Index([0, 1, 2], name="fold"))
    with pytest.raises(InputError, match="'wilcoxon' is not right for folds"):
        pairwise(a, a + 0.1, metric="accuracy", test="wilcoxon", name_a="a", name_b="b")


def test_some_of_a_larger_family_are_adjusted_as_if_the_others_stood_at_one():
    p = np.array([0.001, np.nan, 0.02])
    whole = holm([0.001, 0.02, *[1.0] * 8])
    found = find_correction("holm").adjust_among(p, 10)
    assert found[[0, 2]].tolist() == whole[:2].tolist()
    assert np.isnan(found[1])


def test_another_thing_under_a_known_name_is_refused():
    with pytest.raises(InputError, match="there already"):
        tests.add(Test("wilcoxon", "mine", lambda d: TestResult(p=1.0, side=0.0)))
    with pytest.raises(InputError, match="there already"):
        corrections.add(Correction("mine", "mine", lambda p: p, aliases=("holm",)))
