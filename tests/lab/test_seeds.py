"""Seeds follow from the experiment's seed, the repeat, the fold, the targets and the method: from nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from paragone import Dataset, Experiment, load
from paragone.data import SplitPlan, export_folds
from paragone.lab import planning as seeds
from paragone.lab.planning import seed_part
from paragone.lab.running import cell_task
from paragone.methods.method import Method, methods
from paragone.protocols import Crossval, Curve, KGrid

RANKERS = [
    name for name, path in methods.paths().items() if path.startswith("paragone.methods.rankers.")
]
SEEDED = {alias: alias for alias in RANKERS if Method.declare(alias).seed_parameters()}
GRID = KGrid(3, 9, 3)


class DrawsGlobally:
    """A ranker that has no seed parameter and draws from NumPy's global generator."""

    def fit(self, X, Y):
        self.ranking_ = np.random.permutation(X.shape[1])  # noqa: NPY002
        return self


def counts_data(name: str = "counts", seed: int = 0) -> Dataset:
    """Word counts: mostly zeros, so that they may as well be sparse."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.4, (72, 12)).astype(float)
    Y = (X[:, :4] + rng.normal(0, 0.5, (72, 4)) > 0.6).astype(int)
    return Dataset(name, X, Y, "multilabel")


def scores_of(dataset, methods, protocol, store, **options):
    split = {"folds": 3} if dataset.stored_splits is None else {"kind": "stored"}
    results = Experiment([dataset], methods, split, protocol, seed=7, **options).run(
        store, workers=0
    )
    frame = results.scores()
    assert len(frame) > 0
    assert results.failures().empty
    return frame.set_index(["fold", "method", "metric", frame["at"].fillna(-1)])["value"].to_dict()


def as_sparse(dataset, folder):
    return replace(dataset, X=sparse.csr_array(dataset.X))


def as_exported(dataset, folder):
    """Features scaled, rows numbered anew, fold after fold: what another program is handed."""
    written = load(export_folds(dataset, folder / "folds", SplitPlan(folds=3), seed=7))
    assert written.fingerprint != dataset.fingerprint
    assert written.n_samples == 3 * dataset.n_samples
    return written


def as_exported_sparse(dataset, folder):
    return as_exported(as_sparse(dataset, folder), folder)


@pytest.mark.parametrize("other", [as_sparse, as_exported, as_exported_sparse])
class TestTheSameDataInAnotherFormGivesTheSameScores:
    def test_with_every_seeded_ranker(self, other, tmp_path):
        assert {"dagfs", "lrdg", "random", "srfs"} <= set(SEEDED)
        self.check(other, tmp_path, SEEDED, Curve(GRID))

    def test_with_a_ranker_that_draws_from_the_global_generator(self, other, tmp_path):
        self.check(other, tmp_path, {"Draws": DrawsGlobally}, Curve(GRID))

    def test_with_a_ranker_that_is_tuned_on_seeded_inner_splits(self, other, tmp_path):
        tuned = {
            "use": "tuned",
            "params": {"ranker": "dagfs", "grid": {"alpha": [0.1, 1.0, 10.0]}, "folds": 2},
        }
        self.check(other, tmp_path, {"Tuned": tuned}, Curve(GRID))

    def test_with_an_evaluator_that_draws(self, other, tmp_path):
        forest = {
            "use": "sklearn.ensemble:RandomForestClassifier",
            "params": {"n_estimators": 3, "max_depth": 3},
        }
        self.check(
            other, tmp_path, {"V": "variance"}, Curve(GRID, evaluator=Method.declare(forest))
        )

    def test_with_several_repeats(self, other, tmp_path):
        self.check(other, tmp_path, {"Random": "random"}, Curve(GRID), repeats={"Random": 3})

    @staticmethod
    def check(other, folder, methods, protocol, **options):
        dataset = counts_data()
        wanted = scores_of(dataset, methods, protocol, folder / "a.sqlite", **options)
        found = scores_of(other(dataset, folder), methods, protocol, folder / "b.sqlite", **options)
        assert found == wanted


def test_sparse_features_give_the_cross_validation_of_dense_ones(tmp_path):
    rng = np.random.default_rng(3)
    X = rng.poisson(0.4, (60, 8)).astype(float)
    dense = Dataset("d", X, X[:, 0] + rng.normal(size=60), "regression")
    model = {"use": "sklearn.ensemble:ExtraTreesRegressor", "params": {"n_estimators": 3}}
    found = [
        scores_of(given, {"Trees": model}, Crossval(), tmp_path / f"{number}.sqlite")
        for number, given in enumerate((dense, replace(dense, X=sparse.csr_array(X))))
    ]
    assert found[0] == found[1]


def tasks_of(data, methods, seed=7, protocol=None, split=None, **options):
    experiment = Experiment(data, methods, split, protocol or Curve(GRID), seed=seed, **options)
    return {cell.place: cell_task(experiment, cell, "nowhere") for cell in experiment.cells()}


class TestWhatDiffersHasItsOwnSeed:
    def test_folds_repeats_methods_datasets_and_experiments(self):
        methods = {
            "Random": "random",
            "DAGFS": "dagfs",
            "Stronger": {"use": "dagfs", "params": {"alpha": 9.0}},
        }
        repeats = {"Random": 4, "DAGFS": 2}
        # Equal shapes: nothing but the targets tells the two datasets apart.
        data = [counts_data("a", 0), counts_data("b", 1)]
        seeds = [
            task.seed
            for seed in (7, 8)
            for task in tasks_of(data, methods, seed=seed, repeats=repeats).values()
        ]
        assert len(seeds) == len(set(seeds)) == 2 * 2 * 5 * (4 + 2 + 1)

    def test_folds_whose_targets_are_equal(self):
        y = np.tile([0, 1, 2], 20)
        data = Dataset("periodic", np.random.default_rng(0).random((60, 3)), y, "classification")
        split = {"kind": "sklearn.model_selection:KFold", "params": {"n_splits": 4}}
        tasks = tasks_of(
            [data], {"A": "sklearn.tree:DecisionTreeClassifier"}, protocol=Crossval(), split=split
        )
        train = [y[task.split.train].tolist() for task in tasks.values()]
        assert train[0] == train[1] == train[2]
        assert len({task.seed for task in tasks.values()}) == len(tasks) == 4
        assert len({task.score_seed for task in tasks.values()}) == 4

    @given(st.lists(st.tuples(*[st.integers(0, 10**6)] * 3), min_size=2, max_size=8, unique=True))
    def test_no_two_numberings_share_a_seed_part(self, numberings):
        assert len({seed_part(*numbering) for numbering in numberings}) == len(numberings)

    @pytest.mark.parametrize("field", ["target", "rows of train", "features", "task"])
    def test_targets_and_shapes_enter_the_seed(self, field):
        dataset = counts_data()
        Y = dataset.y.copy()
        Y[0, 0] = 1 - Y[0, 0]
        changed = {
            "target": replace(dataset, y=Y),
            "rows of train": replace(dataset, X=dataset.X[1:], y=dataset.y[1:]),
            "features": replace(dataset, X=dataset.X[:, 1:], feature_names=()),
            "task": replace(dataset, y=dataset.y[:, 0], task="regression", target_names=()),
        }[field]
        split = SplitLike(np.arange(10, 40), np.arange(10))
        assert seeds.targets_digest(dataset, split) != seeds.targets_digest(changed, split)


class SplitLike:
    def __init__(self, train, test):
        self.train, self.test, self.validation = train, test, None


class TestWhatIsSharedHasOneSeed:
    def test_two_names_of_one_method_are_one_cell_with_one_seed(self):
        tasks = tasks_of([counts_data()], {"One": "random", "Other": {"use": "random"}})
        for fold in range(3):
            assert tasks["counts", fold, "One", 0].seed == tasks["counts", fold, "Other", 0].seed

    def test_the_scoring_of_all_methods_on_a_fold_shares_its_seed(self):
        tasks = tasks_of([counts_data()], {"Random": "random", "V": "variance"})
        for fold in range(3):
            assert (
                tasks["counts", fold, "Random", 0].score_seed
                == tasks["counts", fold, "V", 0].score_seed
            )

    def test_a_renamed_dataset_keeps_its_seeds(self):
        seeds = [
            [task.seed for task in tasks_of([counts_data(name)], {"Random": "random"}).values()]
            for name in ("a", "b")
        ]
        assert seeds[0] == seeds[1]

    def test_equal_keys_mean_equal_seeds(self):
        """What is stored under a key is what any cell of that key would compute."""
        dataset = counts_data()
        halves = (np.arange(36), np.arange(36, 72))
        twice = replace(dataset, stored_splits=(halves, halves, halves[::-1]))
        experiment = Experiment([twice], {"Random": "random"}, protocol=Curve(GRID))
        by_key: dict[str, set[int]] = {}
        for cell in experiment.cells():
            by_key.setdefault(cell.key, set()).add(cell_task(experiment, cell, "nowhere").seed)
        assert all(len(found) == 1 for found in by_key.values())
        assert len(set.union(*by_key.values())) == 3


class TestResultsOfAnEarlierDerivation:
    """Before the derivation had a number, the seed's part was the bare seed, with the repeat after a stroke."""

    def test_no_cell_has_the_key_that_it_had_before(self):
        experiment = Experiment(
            [counts_data()], {"R": "random"}, protocol=Curve(GRID), seed=7, repeats={"R": 2}
        )
        for cell in experiment.cells():
            before = replace(cell.parts, seed="7" if cell.repeat == 0 else f"7/{cell.repeat}")
            assert cell.key != before.key
            assert cell.fit_key != before.fit_key(cell.parts.version)

    def test_they_are_stale_and_run_again(self, tmp_path, monkeypatch):
        def experiment():
            return Experiment([counts_data()], {"R": "random"}, {"folds": 2}, Curve(GRID), name="e")

        store = tmp_path / "lab.sqlite"
        with monkeypatch.context() as earlier:
            earlier.setattr(seeds, "DERIVATION", "v1")
            experiment().run(store, workers=0)
            assert len(experiment().forecast(store).to_run) == 0
        forecast = experiment().forecast(store)
        assert len(forecast.to_run) == 2
        assert forecast.reused_fits == 0
        assert set(forecast.stale.values()) == {("derivation of seeds",)}
