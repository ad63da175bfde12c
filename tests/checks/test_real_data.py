"""What audits find in real data, each count checked by a naive loop."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import paragone
from paragone import Crossval, Experiment, TopK
from paragone.checks.material import materials
from paragone.checks.replicates import check_replicates
from paragone.checks.rows import check_exact_rows, check_topk_rows
from paragone.data import load
from paragone.data.dataset import with_replicates

sys.path.insert(0, str(Path(__file__).parent))
from made_labs import found_by

pytestmark = pytest.mark.known_answer

RIDGE = {"Ridge": "sklearn.linear_model:Ridge"}


def material_of(experiment: Experiment):
    return materials(tuple(experiment.layout.arrangements.values()))[0]


def lines(folder: Path, file: str) -> list[str]:
    return (folder / file).read_text(encoding="utf-8").splitlines()


def test_tecator_holds_spectra_twice_and_folds_tear_them_apart(data_folder):
    folder = data_folder / "nirs" / "tecator"
    experiment = Experiment([folder], RIDGE, {"folds": 10}, Crossval(test=0.25), seed=7)
    made = material_of(experiment)
    spectra = [tuple(map(float, line.split(","))) for line in lines(folder, "X.csv")[1:]]
    leaked = set()
    for side in made.sides:
        train = {spectra[row] for row in side.train}
        leaked |= {row for row in side.held.tolist() if spectra[row] in train}
    twins = [row for row in range(len(spectra)) if spectra.count(spectra[row]) > 1]
    (finding,) = found_by(check_exact_rows, made).findings
    assert (finding.code, finding.count, finding.total) == ("PG101", len(leaked), 240)
    assert f"{len(twins)} have a twin ({len(twins) // 2} sets of equal rows)" in finding.message
    assert len(twins) == 48


def test_arts_repeats_rows_and_stratified_folds_tear_them_apart(data_folder):
    experiment = Experiment([data_folder / "multilabel" / "arts"], {"Random": "random"}, seed=42)
    made = material_of(experiment)
    X = made.dataset.X.toarray() if hasattr(made.dataset.X, "toarray") else made.dataset.X
    rows = [row.tobytes() for row in X + 0.0]
    leaked = set()
    for side in made.sides:
        train = {rows[row] for row in side.train}
        leaked |= {row for row in side.held.tolist() if rows[row] in train}
    counts: dict[bytes, int] = {}
    for row in rows:
        counts[row] = counts.get(row, 0) + 1
    (finding,) = found_by(check_exact_rows, made).findings
    assert (finding.count, finding.total) == (len(leaked), 5000)
    assert f"{sum(n for n in counts.values() if n > 1)} have a twin" in finding.message
    assert len(leaked) > 50


@pytest.mark.parametrize("together", [True, False])
def test_mayonnaise_is_measured_three_times_a_sample(data_folder, together):
    data = load(data_folder / "nirs" / "mayonnaise")
    if together:
        data = with_replicates(data, 3)
    method = {"LDA": "sklearn.discriminant_analysis:LinearDiscriminantAnalysis"}
    made = material_of(
        Experiment([data], method, {"folds": 6}, Crossval(test=0.25, metric="accuracy"), seed=3)
    )
    found = found_by(check_replicates, made, looks=not together).findings
    if together:
        assert not found
        return
    torn = {
        row
        for side in made.sides
        for row in side.held.tolist()
        if any(row // 3 == mate // 3 for mate in side.train)
    }
    assert [(f.code, f.count, f.total) for f in found] == [("PG104", len(torn), 162)]
    assert "54 sets of 3" in found[0].message
    assert len(torn) > 100


@pytest.mark.parametrize("name", ["corn", "gasoline", "yarn", "diesel_swri", "tecator"])
def test_spectra_without_replicates_are_not_taken_for_any(data_folder, name):
    from paragone.checks.replicates import replication

    X = load(data_folder / "nirs" / name).X
    assert replication(np.asarray(X)) is None


def test_the_validation_rows_of_herbs_stand_in_train_unless_they_are_taken_out(data_folder):
    folder = data_folder / "herb"
    n_rows = len([line for line in lines(folder, "train.txt") if line.strip()])
    named = {int(line) for line in lines(folder, "valid_row_indices.txt") if line.strip()}
    assert len(named & set(range(n_rows))) == 1162
    for validation, wanted in (("none", [("PG114", 1162, 1162)]), ("file", [])):
        protocol = TopK(k=(5,), validation=validation, floors=False)
        made = material_of(Experiment([folder], {"Popularity": "popularity"}, protocol=protocol))
        found = found_by(check_topk_rows, made).findings
        assert [(f.code, f.count, f.total) for f in found] == wanted


def test_no_herb_test_row_stands_in_train_by_a_naive_loop(data_folder):
    folder = data_folder / "herb"

    def sets(file: str) -> list[tuple[frozenset[str], frozenset[str]]]:
        return [
            tuple(frozenset(part.split()) for part in line.split("\t"))
            for line in lines(folder, file)
            if line
        ]

    assert not set(sets("test.txt")) & set(sets("train.txt"))


@pytest.mark.slow
def test_the_whole_of_tecator_is_audited_and_everything_else_is_clean(data_folder, tmp_path):
    pls = {"use": "sklearn.cross_decomposition:PLSRegression", "grid": {"n_components": [2, 8]}}
    experiment = Experiment(
        [data_folder / "nirs" / "tecator"],
        {"PLS": pls},
        {"folds": 5},
        Crossval(test=0.25),
        seed=7,
        name="tecator",
    )
    experiment.run(tmp_path / "t.sqlite", workers=0).close()
    found = paragone.audit(tmp_path / "t.sqlite", declaration=experiment, in_process=True)
    assert {finding.code for finding in found.findings} == {"PG101"}
    assert not found.unchecked
