"""The script that measures claims again: nothing of the package is in it, and it gives what the package declares."""

from __future__ import annotations

import ast
import csv
import importlib.util
import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from known_leads import InProcess
from paragone.generate import EvolveSpec, GeneratorSpec, Grammar, evolve
from paragone.generate.collection import Collection
from paragone.generate.expressions import Expression

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "remeasure.py"
SMALL = {"samples": 4, "trials": 3, "test_rows": 1000}


@pytest.fixture(scope="module")
def script():
    specification = importlib.util.spec_from_file_location("remeasure", SCRIPT)
    module = importlib.util.module_from_spec(specification)
    sys.modules["remeasure"] = module
    specification.loader.exec_module(module)
    yield module
    del sys.modules["remeasure"]


def item_of(generator, **more):
    """Return an item of a collection's file that holds what a generator declares."""
    data = {k: v for k, v in generator.declaration().items() if k not in ("formula", "n_features")}
    return {
        "name": "one",
        "formula": generator.formula,
        "n_features": generator.n_features,
        "data": data,
        **more,
    }


@pytest.fixture
def planted(tmp_path):
    """Write a collection with a claim that is true, and its reverse."""
    told = {
        "mean": 0.1,
        "low": 0.06,
        "high": 0.2,
        "share_won": 1.0,
        "holds": True,
        "ending": "shown",
    }
    true = {"up": "LogisticRegression", "down": "DecisionTreeClassifier", **told}
    false = {"up": "DecisionTreeClassifier", "down": "LogisticRegression", **told}
    lost = {**true, "up": "SVC", "holds": False, "low": -0.1}
    item = item_of(
        GeneratorSpec("add(X0, add(X1, sub(X2, X3)))", noise=0.1),
        n_rows=300,
        cut=0.0,
        inclusive=True,
    )
    sets = [{**item, "claims": [true, false, lost]}]
    content = {"format": 1, "name": "planted", "margin": 0.05, "plan": {}, "sets": sets}
    path = tmp_path / "planted.json"
    path.write_text(json.dumps(content))
    return path


def test_no_code_of_the_package_is_imported():
    tree = ast.parse(SCRIPT.read_text(encoding="utf-8"))
    imported = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            imported.add(node.module.split(".")[0])
        elif isinstance(node, ast.Name):
            assert node.id not in ("__import__", "eval", "exec", "importlib")
    # Not a list of what is forbidden: a helper beside it, or the package's tuner, would come in
    # under any name.
    assert imported - sys.stdlib_module_names == {
        "numpy",
        "scipy",
        "sklearn",
        "xgboost",
        "lightgbm",
    }


def test_formulas_have_the_package_s_values_bit_for_bit(script):
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(300, 10))
    rows[:20] = rng.integers(-1, 2, size=(20, 10))
    grammar = Grammar(n_features=10)
    operators = set()
    for _ in range(200):
        formula = str(grammar.half_and_half(rng, 1, 6))
        operators |= {
            node.func.id for node in ast.walk(ast.parse(formula)) if isinstance(node, ast.Call)
        }
        mine, theirs = script.evaluate(formula, rows), Expression.parse(formula).evaluate(rows)
        np.testing.assert_array_equal(mine.view(np.int64), theirs.view(np.int64), err_msg=formula)
    assert len(operators) == 12


@pytest.mark.parametrize(
    "formula", ["pow(X0, X1)", "X0 + X1", "add(X0)", "__import__('os')", "add(X0, Y1)"]
)
def test_what_is_no_formula_is_refused(script, formula):
    with pytest.raises(ValueError, match="not"):
        script.evaluate(formula, np.zeros((2, 2)))


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"noise": 0.3},
        {"positive": 0.2, "noise": 0.25},
        {"correlation": 0.5, "irrelevant": 2, "redundant": 3},
        {"categorical": (0,), "levels": 5, "drift": 0.7},
        {"missing": 0.2, "missing_by": "value", "irrelevant": 1},
    ],
)
@pytest.mark.parametrize("formula", ["mul(X0, add(X1, 0.5))", "max(X0, sub(X1, X2))"])
def test_rows_and_labels_are_distributed_as_those_of_the_package(script, formula, settings):
    generator = GeneratorSpec(formula, n_features=3, **settings)
    n = 40_000
    theirs = generator.draw(n, 3, "test")
    # The file of a collection states the cut; without it the script finds its own.
    for stated in (
        {},
        {"cut": generator.threshold().value, "inclusive": generator.threshold().inclusive},
    ):
        source = script.Source(item_of(generator, **stated))
        X, y = source.draw(n, np.random.default_rng(8), drifted=True)
        assert X.shape == theirs.X.shape
        assert abs(y.mean() - theirs.y.mean()) < 5 * math.sqrt(0.5 / n)
        np.testing.assert_allclose(
            np.isnan(X).mean(axis=0), np.isnan(theirs.X).mean(axis=0), atol=0.015
        )
        mine, other = np.column_stack([X, y]), np.column_stack([theirs.X, theirs.y])
        for moment in (np.nanmean, np.nanstd):
            np.testing.assert_allclose(moment(mine, axis=0), moment(other, axis=0), atol=0.04)
        correlations = [np.corrcoef(np.nan_to_num(part), rowvar=False) for part in (mine, other)]
        np.testing.assert_allclose(*correlations, atol=0.04)
        if not (generator.missing or generator.categorical or generator.drift):
            # Noise is where the label is not what the cut says.
            turned = [np.mean((generator.threshold().label(Expression.parse(formula).evaluate(p[:, :3]))) != p[:, -1])
                      for p in (mine, other)]  # fmt: skip
            assert turned[0] == pytest.approx(turned[1], abs=0.012)


def test_data_that_it_does_not_make_are_refused(script):
    with pytest.raises(ValueError, match="group_size"):
        script.Source(item_of(GeneratorSpec("X0", group_size=5)))
    with pytest.raises(ValueError, match="regression"):
        script.Source(item_of(GeneratorSpec("X0", target="regression")))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_configuration_of_every_method_can_be_fitted(script):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] > 0).astype(int)
    for method in script.METHODS:
        found = script.configurations(method, 9, rng)
        assert len(found) == 9
        assert found[0] == {}
        for configuration in found:
            model = script.Made(method, 1, configuration).fit(X, y)
            assert np.isfinite(model.decision_function(X)).all()


def test_rows_and_seeds_differ_by_sample_and_only_seeds_by_method(script, monkeypatch):
    source = script.Source(item_of(GeneratorSpec("X0", n_features=2), cut=0.0))
    drawn, seeds = [], []
    monkeypatch.setattr(
        source, "draw", lambda n, rng, drifted=False: drawn.append(rng.normal()) or _draw(rng, n)
    )
    made = script.Made
    monkeypatch.setattr(
        script, "Made", lambda method, seed: seeds.append(seed) or made(method, seed)
    )

    def _draw(rng, n):
        X = rng.normal(size=(n, 2))
        return X, (X[:, 0] > 0).astype(int)

    for method in ("DecisionTreeClassifier", "KNeighborsClassifier"):
        for sample in range(3):
            script.measure(script.Cell("one", method, sample, 1, 60, 50), source)
    assert len(set(drawn)) == 6
    assert drawn[:6] == drawn[6:]
    assert len(set(seeds)) == 6


def test_a_true_claim_holds_and_its_reverse_is_found_reversed(script, planted, tmp_path):
    (true, false), refused = script.remeasure(planted, folder=tmp_path / "kept", **SMALL)
    assert refused == []
    assert true["holds"]
    assert true["bound_holds"]
    assert not true["reversed"]
    assert (true["share_won"], true["samples"]) == (1.0, 4)
    assert not false["holds"]
    assert not false["bound_holds"]
    assert false["below_margin"]
    assert false["reversed"]
    assert false["mean"] == -true["mean"]
    text = "\n".join(script.told([true, false], refused))
    assert "1 of 2 claims hold (50.0%), 1 reversed" in text
    with (tmp_path / "kept" / "planted-best.csv").open() as file:
        assert [row["reversed"] for row in csv.DictReader(file)] == ["False", "True"]


def test_a_run_that_was_stopped_goes_on_to_the_same_outcome(script, planted, tmp_path, monkeypatch):
    straight, _ = script.remeasure(planted, folder=tmp_path / "a", **SMALL)
    nothing, _ = script.remeasure(planted, folder=tmp_path / "b", minutes=0, **SMALL)
    assert [row["samples"] for row in nothing] == [0, 0]
    assert "not measured yet" in "\n".join(script.told(nothing, []))
    whole = (tmp_path / "a" / "cells.jsonl").read_text()
    # Stopped in the middle of a line.
    lines = whole.splitlines(keepends=True)
    (tmp_path / "b" / "cells.jsonl").write_text("".join(lines[:3]) + lines[3][:40])
    calls, real = [], script.measure
    monkeypatch.setattr(
        script, "measure", lambda cell, source: calls.append(cell) or real(cell, source)
    )
    resumed, _ = script.remeasure(planted, folder=tmp_path / "b", **SMALL)
    assert len(calls) == len(lines) - 3
    assert resumed == straight
    again, _ = script.remeasure(planted, folder=tmp_path / "b", **SMALL)
    assert len(calls) == len(lines) - 3
    assert again == straight


def test_what_was_asked_for_and_found_is_written_as_json(script, planted, tmp_path):
    rows, _ = script.remeasure(planted, folder=tmp_path / "kept", **SMALL)
    written = json.loads((tmp_path / "kept" / "planted-best.json").read_text())
    assert written["rows"] == rows
    assert (written["collection"], written["samples"], written["trials"]) == ("planted", 4, 3)
    assert written["totals"] == {
        "claims": 2, "measured": 2, "holds": 1, "reversed": 1, "bound_holds": 1, "below_margin": 1,
        "share_that_holds": 0.5,
    }  # fmt: skip
    # Two methods on four samples, though two claims name each of them.
    assert (written["cost"]["fits"], written["cost"]["fits_left"]) == (8, 0)
    script.remeasure(planted, folder=tmp_path / "none", minutes=0, **SMALL)
    unmeasured = json.loads((tmp_path / "none" / "planted-best.json").read_text())
    assert (unmeasured["totals"]["measured"], unmeasured["rows"][0]["mean"]) == (0, None)
    assert unmeasured["cost"]["fits_left"] == 8


def test_one_dataset_can_be_asked_for(script, planted, tmp_path):
    content = json.loads(planted.read_text())
    content["sets"].append({**content["sets"][0], "name": "two"})
    planted.write_text(json.dumps(content))
    rows, _ = script.remeasure(planted, folder=tmp_path / "kept", minutes=0, sets=("two",), **SMALL)
    assert {row["dataset"] for row in rows} == {"two"}
    with pytest.raises(SystemExit, match="there is no dataset 'three'"):
        script.remeasure(planted, folder=tmp_path / "kept", minutes=0, sets=("three",), **SMALL)


def test_halving_gives_up_the_worse_half_after_two_folds(script):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(240, 4))
    y = (X[:, 0] + 0.8 * rng.normal(size=240) > 0).astype(int)
    tried = script.configurations("DecisionTreeClassifier", 6, rng)
    folds = list(StratifiedKFold(5, shuffle=True, random_state=1).split(X, y))
    made = script.Made("DecisionTreeClassifier", 1)
    fits, real = [], script.Made.fit
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            script.Made,
            "fit",
            lambda self, X, y: fits.append(self.configuration) or real(self, X, y),
        )
        chosen, mean = script.halved(made, tried, folds, X, y)
    assert len(fits) == 6 * 2 + 3 * 3

    def scored(one, fit, out):
        return roc_auc_score(
            y[out], script.Made(made.method, 1, one).fit(X[fit], y[fit]).decision_function(X[out])
        )

    scores = np.array([[scored(one, *fold) for fold in folds] for one in tried])
    left = set(np.argsort(-scores[:, :2].mean(axis=1), kind="stable")[:3].tolist())
    best = max(left, key=lambda place: scores[place].mean())
    assert (chosen, mean) == (tried[best], pytest.approx(scores[best].mean()))
    whole, top = script.searched(made, tried, folds, X, y)
    assert (whole, top) == (
        tried[int(scores.mean(axis=1).argmax())],
        pytest.approx(scores.mean(axis=1).max()),
    )


def test_halved_fits_are_kept_apart_from_whole_ones(script, planted, tmp_path):
    whole, _ = script.remeasure(planted, folder=tmp_path / "kept", **SMALL)
    half, _ = script.remeasure(planted, folder=tmp_path / "kept", halve=True, **SMALL)
    assert len(script.read_kept(tmp_path / "kept" / "cells.jsonl")) == 16
    assert half[0]["holds"]
    assert half[1]["reversed"]
    again, _ = script.remeasure(planted, folder=tmp_path / "kept", **SMALL)
    assert again == whole


def test_a_collection_as_evolve_writes_it_is_measured_again(script, tmp_path, monkeypatch):
    monkeypatch.setattr("paragone.generate.evolving.Laboratory", InProcess)
    methods = {
        "LogisticRegression": {"use": "paragone.generate.classifiers:PlainLogisticRegression"},
        "DecisionTreeClassifier": {
            "use": "sklearn.tree:DecisionTreeClassifier",
            "portfolio": [{"max_depth": 4}],
        },
    }
    spec = EvolveSpec(
        "tiny", generations=2, batch=8, chunk=8, n_train=300, n_test=300, n_features=3, looks=(4, 12), claims=3,
        race_seeds=2, evidence_rows=400, finalists=2, methods=methods,
    )  # fmt: skip
    found = evolve(spec, tmp_path / "s.sqlite")
    found.write(tmp_path / "tiny")
    proven = {(item.name, *pair) for item in found.collection.sets for pair in item.proven(0.05)}
    assert proven
    rows, refused = script.remeasure(
        tmp_path / "tiny" / "collection.json", folder=tmp_path / "kept", **SMALL
    )
    assert refused == []
    assert {(row["dataset"], row["up"], row["down"]) for row in rows} == proven
    assert not any(row["reversed"] for row in rows)
    assert any(row["holds"] for row in rows)


def test_a_method_that_it_does_not_know_is_told(script, planted, tmp_path):
    planted.write_text(planted.read_text().replace("LogisticRegression", "Mine"))
    rows, refused = script.remeasure(planted, folder=tmp_path / "kept", **SMALL)
    assert rows == []
    assert all("Mine" in why for _, why in refused)
    assert len(refused) == 2


def test_the_claims_of_the_first_release_are_those_that_the_package_prints(script):
    content = json.loads((script.SHIPPED / "paragone-v1.json").read_text())
    shipped = Collection.named("paragone-v1")
    best = {(claim.up, claim.down): claim.dataset for claim in script.read_claims(content)}
    assert best == shipped.covered()
    everything = {
        (claim.dataset, claim.up, claim.down) for claim in script.read_claims(content, "all")
    }
    assert everything == {
        (item.name, *pair) for item in shipped.sets for pair in item.proven(shipped.margin)
    }
    refuted = script.read_claims(content, "refuted")
    assert {(claim.up, claim.down) for claim in refuted} == set(shipped.refuted)
