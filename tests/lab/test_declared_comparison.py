"""An experiment file names the test and the correction of its reports; a store's word alone has nothing imported."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from paragone import Experiment
from paragone.errors import InputError
from paragone.lab.declaration import parse_declaration
from paragone.lab.named_code import code_named_by
from paragone.lab.results import Results
from paragone.lab.view import View
from paragone.protocols import Crossval, Curve, KGrid, TopK
from paragone.reporting import report

STATISTICS = """
from paragone.stats import Correction, Test, TestResult


def halves(differences):
    return TestResult(p=0.5, side=float(differences.sum()))


def doubled(p_values):
    return (2 * p_values).clip(max=1)


HALVES = Test("halves", "test of halves", halves)
DOUBLED = Correction("doubled", "Doubling", doubled)
"""

FILE = """
name = "declared"
[data]
sets = ["wine-traits", "digits-traits"]
[split]
folds = 2
[protocol]
kind = "curve"
k = { min = 2, max = 4, step = 2 }
metrics = ["micro_f1"]
[methods.Variance]
use = "variance"
[methods.Random]
use = "random"
[compare]
test = "TEST"
correction = "CORRECTION"
"""

GRID = Curve(k=KGrid(2, 4, 2), metrics=("micro_f1",))


def arrays(n_sets: int = 2) -> dict:
    rng = np.random.default_rng(0)
    sets = [rng.random((40, 5)) for _ in range(n_sets)]
    return {f"d{place}": (X, (X[:, :3] > 0.5).astype(int)) for place, X in enumerate(sets)}


def experiment(compare=None, protocol=GRID, **options) -> Experiment:
    return Experiment(
        arrays(),
        {"V": "variance", "R": "random"},
        {"folds": 2},
        protocol,
        compare=compare,
        **options,
    )


def statistics_in(folder: Path) -> str:
    """Return the table of the reference against each rival, by the whole grid."""
    return (folder / "table_stats.tex").read_text(encoding="utf-8")


def test_reports_go_by_the_declared_test_and_correction_and_say_so(tmp_path):
    plain, declared = (
        experiment(given).run(tmp_path / f"{name}.sqlite", workers=0)
        for name, given in (
            ("plain", None),
            ("declared", {"test": "paired-t", "correction": "bonferroni"}),
        )
    )
    usual, chosen = View(plain).comparison, View(declared).comparison
    assert (usual.test.name, usual.family.correction.name) == ("wilcoxon", "holm")
    assert (chosen.test.name, chosen.family.correction.name) == ("paired-t", "bonferroni")
    assert "compare" not in plain.described()
    report(plain, tmp_path / "a", charts=False)
    report(declared, tmp_path / "b", charts=False)
    before, after = (statistics_in(tmp_path / folder) for folder in "ab")
    assert (
        "two-sided Wilcoxon signed-rank p (zero differences dropped) and its Holm adjustment"
        in before
    )
    assert "p (Holm)" in before
    assert "two-sided paired t p and its Bonferroni adjustment" in after
    assert "p (Bonferroni)" in after
    assert "Holm" not in after


def test_a_declared_margin_is_that_of_the_reports(tmp_path):
    results = experiment({"margin": 0.25}).run(tmp_path / "a.sqlite", workers=0)
    assert View(results).comparison.settings.margin == results.declared_comparison().margin == 0.25
    declared = parse_declaration(
        FILE.replace("TEST", "wilcoxon").replace("CORRECTION", "holm") + "margin = 0.25\n"
    )
    assert declared.compare.margin == 0.25


def test_none_changes_a_cell():
    with_both = experiment({"test": "paired-t", "correction": "hommel", "margin": 0.1})
    assert [cell.key for cell in with_both.cells()] == [cell.key for cell in experiment().cells()]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"test": "wilcoxn"}, "did you mean 'wilcoxon'"),
        ({"test": "corrected-t"}, "is not right for datasets"),
        ({"correction": "shaffer"}, "needs all pairs"),
        ({"correction": "nowhere:at_all"}, "cannot import 'nowhere'"),
        ({"tets": "wilcoxon"}, "did you mean 'test'"),
        ({"test": 3}, "got 3"),
        ({"margin": -0.1}, "margin is a difference in units of the metric, above 0"),
        ({"margin": "wide"}, "margin is a number, got"),
        ("wilcoxon", "expected a mapping"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_runs(given, words):
    with pytest.raises(InputError, match=words):
        experiment(given)


@pytest.mark.parametrize("protocol", [Crossval(), TopK()])
def test_a_protocol_that_compares_in_its_own_way_refuses_both(protocol):
    with pytest.raises(InputError, match=f"{protocol.kind} compares"):
        experiment({"test": "paired-t"}, protocol)


def test_a_misspelt_key_of_the_file_is_named_with_its_line():
    text = FILE.replace("correction =", "corection =")
    with pytest.raises(
        InputError, match=r"line 17: unknown key 'compare.corection': did you mean 'correction'"
    ):
        parse_declaration(text)


def test_what_the_file_names_is_told_before_it_is_imported(tmp_path):
    text = FILE.replace("TEST", "own_statistics:HALVES").replace("CORRECTION", "holm")
    assert "own_statistics:HALVES" in [
        one.use for one in code_named_by(parse_declaration(text), tmp_path)
    ]


@pytest.mark.system
def test_code_that_a_store_names_is_imported_with_consent_only(tmp_path):
    (tmp_path / "declared_statistics.py").write_text(STATISTICS)
    text = FILE.replace("TEST", "declared_statistics:HALVES").replace(
        "CORRECTION", "declared_statistics:DOUBLED"
    )
    (tmp_path / "declared.toml").write_text(text)

    def paragone(*words: str, code: int = 0) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "paragone", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stderr
        return done.stdout + done.stderr

    paragone("run", "declared.toml", "--store", "lab.sqlite", "--workers", "0")
    refused = View(Results.open(tmp_path / "lab.sqlite")).measures
    assert {measure.comparison for measure in refused} == {None}
    assert "declared_statistics:HALVES is code, which --run-code imports" in refused[0].refusal
    assert "declared_statistics" not in sys.modules

    paragone("report", "lab.sqlite", "--out", "with", "--no-charts", "--run-code")
    assert "two-sided test of halves p and its Doubling adjustment" in statistics_in(
        tmp_path / "with"
    )

    said = paragone("compare", "lab.sqlite", "--reference", "Variance", code=2)
    assert "--test declared_statistics:HALVES imports it" in said
    named = ("--test", "declared_statistics:HALVES", "--correction", "declared_statistics:DOUBLED")
    found = json.loads(
        paragone("compare", "lab.sqlite", "--reference", "Variance", "--json", *named)
    )
    assert [pair["p"] for pair in found["pairs"]] == [1.0]
