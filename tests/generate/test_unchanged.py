"""A search for two classes stays what it was: stored searches of earlier versions go on without a cell run again.

The known answers were made before searches took other targets. What a cell is identified by beside
the code (data, split, method, protocol, seed), the seeds of rows, the keys of times and the
formulas that are drawn must not change; a search of days would begin anew.
"""

from __future__ import annotations

from dataclasses import replace

from known_leads import InProcess
from paragone.generate.duels import DuelPlan
from paragone.generate.evolution import Evolution
from paragone.generate.evolve_spec import EvolveSpec
from paragone.generate.methods import opponent
from paragone.generate.proof import row_seed, tuner_of
from paragone.hashing import digest
from paragone.lab.experiment import Experiment
from paragone.methods.method import Method

METHODS = {
    "LR": {"use": "paragone.generate.classifiers:PlainLogisticRegression"},
    "KNN": {
        "use": "sklearn.neighbors:KNeighborsClassifier",
        "portfolio": [{"n_neighbors": 5}, {"n_neighbors": 20}],
    },
    "Forest": {
        "use": "sklearn.ensemble:RandomForestClassifier",
        "scout": "forest",
        "portfolio": [{"n_estimators": 5, "max_depth": 4}],
    },
}
SPEC = EvolveSpec(
    "kept", seed=4, generations=1, batch=8, chunk=4, screened=2, n_train=100, n_test=120, n_features=4, races=0,
    methods=METHODS, defaults=False,
)  # fmt: skip
NOISY = replace(SPEC, data={"noise": 0.1, "irrelevant": 2})


def drawn(spec, folder, monkeypatch):
    """Return a hash of all that identifies the cells of a first generation's scouts, and its formulas."""
    cells = []
    plain = Experiment.cells

    def noted(experiment):
        found = plain(experiment)
        if "scouted" in experiment.name:
            cells.extend(
                (cell.dataset, cell.method, *replace(cell.parts, version="").values)
                for cell in found
            )
        return found

    monkeypatch.setattr(Experiment, "cells", noted)
    evolution = Evolution(spec, InProcess(folder / "s.sqlite"))
    evolution.step()
    # Which of them are screened depends on scores: those of the scouts are asked of all.
    return digest(sorted({str(cell) for cell in cells}))[:16], evolution.breeder.counts["seen"]


def test_the_cells_of_a_binary_search_are_what_they_were(tmp_path, monkeypatch):
    assert drawn(SPEC, tmp_path, monkeypatch) == ("4827d01b6d716167", 20)


def test_so_are_those_with_kinds_of_data(tmp_path, monkeypatch):
    assert drawn(NOISY, tmp_path, monkeypatch) == ("c882a4abeeba43ac", 17)


def test_so_are_the_keys_of_times_the_seeds_of_rows_and_what_is_tuned():
    key = SPEC.key(None, "both")[:16]
    fought = DuelPlan(seed=2, rows=80).key((opponent("forest"), opponent("logistic")))[:16]
    generator = SPEC.generator("mul(X0, X1)")
    tuned = Method.declare(tuner_of(opponent("forest"), SPEC.plan())).identity()[:16]
    assert (key, fought, generator.identity, tuned) == (
        "9c591eee9d1d3be2",
        "8657deea48f9cda8",
        "c900c7d511605345",
        "87627584a39f7389",
    )
    assert row_seed("evidence", 4, generator.identity, 3) == 990479654307897
    assert DuelPlan(seed=2, rows=80).search((opponent("tree"), opponent("bayes"))).data == {}
