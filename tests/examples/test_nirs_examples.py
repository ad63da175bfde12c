"""The spectroscopy examples run on the real sets, each from its one short file."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from paragone import Experiment, load
from paragone.data import describe
from paragone.protocols.crossval.tables import gap_lines

pytestmark = pytest.mark.known_answer

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def run(tmp_path, data_folder):
    """Copy an example beside the data and run it."""

    def start(name: str):
        (tmp_path / "nirs").symlink_to(data_folder / "nirs")
        file = Path(shutil.copy(EXAMPLES / f"nirs-{name}.toml", tmp_path))
        experiment = Experiment.from_toml(file)
        return experiment, experiment.run(tmp_path / "a.sqlite", workers=0)

    return start


def test_gasoline_is_predicted_well_below_its_spread(run):
    experiment, results = run("gasoline")
    assert (
        experiment.notes[0]
        == "40 pipelines (preprocessing and model, with the parameters of each) of 1 method: PLS 40"
    )
    final = results.reader().final_scores()
    assert len(final) == 6
    assert (
        final["RMSECV"].min() < 0.25 < np.std(experiment.layout.arrangements["gasoline"].dataset.y)
    )


@pytest.mark.slow
def test_corn_gives_a_score_a_target(run):
    _, results = run("corn")
    scores = results.reader().cv_scores()
    assert scores["target"].unique().tolist() == ["Moisture", "Oil", "Protein", "Starch"]
    assert (scores["repeats"] == 2).all()
    assert results.reader().final_scores().groupby("target").size().tolist() == [2, 2, 2, 2]


def test_tecators_duplicate_spectra_are_reported(run, data_folder):
    description = describe(load(data_folder / "nirs" / "tecator"))
    X = load(data_folder / "nirs" / "tecator").X
    assert description.duplicated_rows == len(X) - len(np.unique(X, axis=0)) > 0
    _, results = run("tecator")
    assert results.failures().empty


def test_yarn_is_tested_on_its_official_part(run, data_folder):
    _, results = run("yarn")
    ledger = results.reader().ledger().query("fold == 'final'")
    assert ledger.groupby("role")["sample"].nunique().to_dict() == {"test": 7, "train": 21}
    part = load(data_folder / "nirs" / "yarn").train_part
    assert set(ledger[ledger["role"] == "test"]["sample"]) == set(np.flatnonzero(~part))
    assert (
        results.reader().ledger().query("role == 'val'").groupby(["variant", "fold"]).size() == 1
    ).all()


def test_mayonnaise_replicates_flatter_a_nearest_neighbour(run):
    _, results = run("mayonnaise")
    scores = (
        results.reader().cv_scores().pivot(index="variant", columns="dataset", values="CV_Accuracy")
    )
    gap = scores["replicates torn apart"] - scores["replicates together"]
    assert gap["kNN(raw, n_neighbors=1)"] > 0.1
    (line,) = gap_lines(results.reader().crossval())
    assert f"{gap.mean():+.4f}" in line
    by_group = results.reader().by_group()
    assert set(by_group["dataset"]) == {"replicates together"}
    assert by_group.query("role == 'val'")["n_groups"].unique().tolist() == [40]


def test_diesel_counts_the_missing_values_of_every_target(run):
    experiment, results = run("diesel")
    assert (
        "diesel_swri:CN: 403 of 784 rows have no target value and are left out" in experiment.notes
    )
    assert results.reader().cv_scores()["target"].nunique() == 7
    rows = (
        results.reader()
        .ledger()
        .query("fold == 'final'")
        .groupby(["target", "variant"])["sample"]
        .nunique()
    )
    assert rows["CN"].unique().tolist() == [381]
    assert results.reader().ledger()["y_true"].notna().all()


def test_spectral_steps_are_those_of_their_formulas(data_folder):
    from scipy.signal import savgol_filter

    from paragone.protocols.crossval.variants import declare_step

    X = load(data_folder / "nirs" / "gasoline").X
    snv = declare_step("snv", where="step").method.build().fit_transform(X)
    assert snv == pytest.approx(
        (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True), abs=1e-9
    )
    given = {"use": "savgol", "window": 15, "deriv": 1}
    ours = declare_step(given, where="step").method.build().fit_transform(X)
    assert ours == pytest.approx(savgol_filter(X, 15, 2, deriv=1, mode="nearest"), abs=1e-12)
