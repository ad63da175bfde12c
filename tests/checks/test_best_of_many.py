"""Choosing on test: the best of many variants by the scores that are then shown, and what the choice is worth."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import paragone
from paragone import Experiment
from paragone.checks.best_of_many import choice, families
from paragone.data import Dataset
from paragone.protocols import Predict

sys.path.insert(0, str(Path(__file__).parent))

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


def written(folder: Path, methods, cells) -> Path:
    lines = [",".join(["dataset", *methods])]
    lines += [
        ",".join([name, *(f"{cells(method, name):.4f}" for method in methods)])
        for name in ("d0", "d1", "d2")
    ]
    (folder / "table.csv").write_text("\n".join(lines) + "\n")
    return folder / "table.csv"


def codes(store, **given) -> list[str]:
    return [
        one.code
        for one in paragone.audit(store, **given).findings
        if one.code in ("PG145", "PG146")
    ]


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
        from test_shown import kept_in

        kept = kept_in(tmp_path, {name: {"accuracy": [0.5, 0.6, 0.7]} for name in "ABCD"})
        assert codes(kept) == []


class TestTables:
    def test_a_table_of_the_best_variant_alone_is_found(self, store, means, tmp_path):
        best = ranked(means)[0]
        path = written(tmp_path, [best, "tree"], lambda method, name: means[method, name])
        (finding,) = paragone.audit(store, against=[path]).of("PG146")
        assert (finding.method, finding.count, finding.total) == (best, 1, 6)
        assert "once in 6" in finding.message

    def test_so_is_one_of_the_best_two(self, store, means, tmp_path):
        path = written(
            tmp_path, [*ranked(means)[:2], "tree"], lambda method, name: means[method, name]
        )
        (finding,) = paragone.audit(store, against=[path]).of("PG146")
        assert "once in 15" in finding.message

    def test_a_display_name_does_not_hide_it(self, store, means, tmp_path):
        best = ranked(means)[0]
        path = written(
            tmp_path,
            ["Ours", "tree"],
            lambda method, name: means[best if method == "Ours" else method, name],
        )
        assert codes(store, against=[path], display_map={best: "Ours"}) == ["PG146", "PG145"]

    @pytest.mark.parametrize("which", [1, 3, 5])
    def test_a_variant_that_is_not_the_best_was_not_chosen_by_these_scores(
        self, store, means, tmp_path, which
    ):
        path = written(
            tmp_path, [ranked(means)[which], "tree"], lambda method, name: means[method, name]
        )
        assert codes(store, against=[path]) == ["PG145"]

    def test_all_variants_hide_nothing(self, store, means, tmp_path):
        path = written(tmp_path, [*ranked(means), "tree"], lambda method, name: means[method, name])
        assert codes(store, against=[path]) == ["PG145"]

    def test_the_best_of_each_dataset_under_one_name_is_found(self, store, means, tmp_path):
        winners = {
            name: max((f"k{k}" for k in K), key=lambda method: means[method, name])
            for name in ("d0", "d1", "d2")
        }
        assert len(set(winners.values())) > 1, "one variant wins everywhere, so this proves nothing"

        def cell(method, name):
            return means[winners[name] if method == "kNN" else method, name]

        (finding,) = paragone.audit(store, against=[written(tmp_path, ["kNN", "tree"], cell)]).of(
            "PG146"
        )
        assert "'kNN' is not a method of the store" in finding.message
        assert finding.examples == tuple(f"{name}: {method}" for name, method in winners.items())

    def test_a_name_with_other_numbers_is_not(self, store, means, tmp_path):
        def cell(method, name):
            return 0.1234 if method == "kNN" else means[method, name]

        assert codes(store, against=[written(tmp_path, ["kNN", "tree"], cell)]) == ["PG145"]


class TestClaims:
    def claimed(self, folder: Path, text: str) -> Path:
        (folder / "claims.toml").write_text(f'[[claim]]\nmetric = "accuracy"\n{text}\n')
        return folder / "claims.toml"

    def test_the_value_of_the_best_variant_is_luck_in_part(self, store, means, tmp_path):
        best = ranked(means)[0]
        text = f'value = {overall(means, best):.4f}\nof = "{best}"'
        (finding,) = paragone.audit(store, claims=self.claimed(tmp_path, text)).of("PG146")
        assert f"claim 1: {best} is the best of 6 variants" in finding.message

    def test_that_of_another_variant_is_not(self, store, means, tmp_path):
        other = ranked(means)[2]
        text = f'value = {overall(means, other):.4f}\nof = "{other}"'
        assert codes(store, claims=self.claimed(tmp_path, text)) == ["PG145"]

    def test_a_lead_that_the_choice_alone_made_is_told(self, store, means, tmp_path):
        best = ranked(means)[0]
        (note,) = paragone.audit(store).of("PG145")
        chosen = float(note.message.split("the choice comes to ")[1].split(",")[0])
        assert chosen < overall(means, "tree") < overall(means, best), (
            "the choice made no lead, so this proves nothing"
        )
        claims = self.claimed(tmp_path, f'better = "{best}"\nthan = "tree"')
        (finding,) = paragone.audit(store, claims=claims).of("PG146")
        assert f"and tree has {overall(means, 'tree'):.4g}" in finding.message

    def test_a_claim_of_every_variant_has_chosen_none(self, store, means, tmp_path):
        text = "".join(
            f'[[claim]]\nmetric = "accuracy"\nvalue = {overall(means, name):.4f}\nof = "{name}"\n'
            for name in ranked(means)
        )
        (tmp_path / "all.toml").write_text(text)
        assert codes(store, claims=tmp_path / "all.toml") == ["PG145"]
