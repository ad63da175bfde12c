"""Choosing on test: the best of many variants by the scores that are then shown, and what the choice is worth."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import paragone
from paragone import Experiment
from paragone.checks.best_of_many import choice, families
from paragone.cli import app
from paragone.data import Dataset
from paragone.protocols import Predict

K = (1, 3, 5, 7, 9, 15)


def noise(name: str, seed: int, n: int = 97) -> Dataset:
    random = np.random.default_rng(seed)
    return Dataset(
        name, random.normal(size=(n, 3)), random.permutation(np.arange(n) % 2), "classification"
    )


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    """Six nearest neighbours and a tree on three datasets of noise: whatever is best there is best by luck."""
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    methods = {f"k{k}": KNeighborsClassifier(k) for k in K} | {
        "tree": DecisionTreeClassifier(random_state=0)
    }
    data = [noise(f"d{i}", 48 + i) for i in range(3)]
    path = tmp_path_factory.mktemp("many") / "lab.sqlite"
    lab = Experiment(data, methods, {"folds": 3}, Predict(metrics=("accuracy",)), name="lab")
    lab.run(path, workers=0).close()
    return path


@pytest.fixture(scope="module")
def means(store) -> dict[tuple[str, str], float]:
    """Means over folds, straight from the scores."""
    with paragone.Results.open(store) as results:
        scores = results.scores()
    return scores.groupby(["method", "dataset"])["value"].mean().to_dict()


def overall(means, method: str) -> float:
    return float(np.mean([value for (name, _), value in means.items() if name == method]))


def ranked(means) -> list[str]:
    found = sorted((f"k{k}" for k in K), key=lambda name: -overall(means, name))
    assert len({round(overall(means, name), 9) for name in found}) == len(K), "variants are level"
    return found


def naive_choice(scores: np.ndarray, datasets: np.ndarray) -> tuple[float, float]:
    """The best mean, and the mean of choices without the fold that they are scored on, by plain loops."""

    def mean(rows, column):
        by_dataset = [
            np.mean([scores[r, column] for r in rows if datasets[r] == d])
            for d in {datasets[r] for r in rows}
        ]
        return np.mean(by_dataset)

    everything = list(range(len(scores)))
    shown = max(mean(everything, column) for column in range(scores.shape[1]))
    taken = {}
    for left in everything:
        rest = [r for r in everything if r != left]
        best = max(range(scores.shape[1]), key=lambda column: (mean(rest, column), -column))
        taken.setdefault(datasets[left], []).append(scores[left, best])
    return shown, float(np.mean([np.mean(one) for one in taken.values()]))


class TestTheChoice:
    @pytest.mark.parametrize("seed", range(5))
    def test_it_is_what_plain_loops_give(self, seed):
        random = np.random.default_rng(seed)
        datasets = np.repeat([0, 1, 2], [3, 5, 2])
        scores = random.random((10, 7))
        found = choice(scores, datasets)
        assert (found.shown, found.chosen) == pytest.approx(naive_choice(scores, datasets))
        turned = choice(-scores, datasets, higher_is_better=False)
        assert (-turned.shown, -turned.chosen, turned.best) == pytest.approx(
            (found.shown, found.chosen, found.best)
        )

    def test_the_luck_of_the_best_of_equals_is_known(self):
        """Means of ten folds with deviation 1: the greatest of 25 stands 1.965 deviations above the mean."""
        random = np.random.default_rng(0)
        found = [
            choice(random.normal(size=(10, 25)), np.zeros(10, dtype=int), seed=k) for k in range(40)
        ]
        assert np.mean([one.by_chance for one in found]) == pytest.approx(
            1.965 / np.sqrt(10), rel=0.05
        )
        # Chosen without the fold, it comes to nothing, as it should.
        assert np.mean([one.chosen for one in found]) == pytest.approx(0, abs=0.15)
        assert np.mean([one.shown for one in found]) > 0.5

    def test_equals_are_seldom_said_to_differ(self):
        random = np.random.default_rng(1)
        p = [
            choice(random.normal(size=(6, 8)), np.zeros(6, dtype=int), seed=k).p for k in range(100)
        ]
        assert np.mean(np.array(p) <= 0.05) <= 0.12
        assert choice(np.arange(8) + random.normal(size=(6, 8)), np.zeros(6, dtype=int)).p <= 0.01

    def test_a_single_fold_says_nothing(self):
        assert choice(np.ones((1, 4)), np.zeros(1, dtype=int)) is None


class TestFamilies:
    def test_chains_of_the_same_classes_are_variants_and_others_are_not(self):
        def chain(last, **params):
            steps = [
                ["scale", {"use": "sklearn.preprocessing:StandardScaler"}],
                ["last", {"use": last, "params": params}],
            ]
            return {"use": "sklearn.pipeline:Pipeline", "params": {"steps": steps}}

        methods = {f"c{c}": chain("sklearn.svm:SVC", C=c) for c in (1, 2, 3)}
        methods |= {f"r{a}": chain("sklearn.linear_model:RidgeClassifier", alpha=a) for a in (1, 2)}
        assert [one.methods for one in families(methods)] == [("c1", "c2", "c3")]

    def test_two_settings_are_a_comparison(self):
        assert not families({name: {"use": "variance"} for name in "ab"})


class TestStores:
    def test_variants_are_noted_with_the_luck_of_choosing(self, store, means):
        (finding,) = paragone.audit(store).of("PG145")
        best = ranked(means)[0]
        assert (
            f"{best} is the best of 6 variants of KNeighborsClassifier by the accuracy"
            in finding.message
        )
        assert f"with {overall(means, best):.4g}" in finding.message
        assert not finding.is_open

    def test_results_from_elsewhere_are_no_family(self, tmp_path):
        files = []
        for name in "ABCD":
            files.append(tmp_path / f"{name}.csv")
            files[-1].write_text("dataset,accuracy\nd1,0.5\nd2,0.6\nd3,0.7\n")
        kept = str(tmp_path / "s.sqlite")
        ended = CliRunner().invoke(app, ["import", *map(str, files), "--store", kept])
        assert ended.exit_code == 0, ended.output
        assert paragone.audit(kept).of("PG145") == ()
