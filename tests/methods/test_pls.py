"""`pls` is PLS regression as spectroscopists fit it: it does not scale."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cross_decomposition import PLSRegression
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.pipeline import make_pipeline

from paragone import Crossval, Dataset, Experiment, load
from paragone.methods.method import resolve
from paragone.methods.presets import PLS
from paragone.protocols.crossval.variants import declare_step, expand


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 8)) * np.logspace(0, 3, 8)
    return X, X[:, 7] + X[:, 2] + rng.normal(size=30)


@pytest.mark.parametrize("n_components", [1, 3, 6])
def test_it_is_scikit_learns_without_scaling(data, n_components):
    X, y = data
    plain = PLSRegression(n_components, scale=False).fit(X, y)
    np.testing.assert_array_equal(
        resolve("pls")(n_components).fit(X, y).predict(X), plain.predict(X)
    )


def test_scaling_can_be_asked_for(data):
    X, y = data
    np.testing.assert_array_equal(
        PLS(3, scale=True).fit(X, y).predict(X), PLSRegression(3).fit(X, y).predict(X)
    )


def test_it_clones_and_takes_parameters_like_any_estimator():
    assert clone(PLS(4, tol=1e-8)).get_params() == {
        "n_components": 4, "scale": False, "max_iter": 500, "tol": 1e-8, "copy": True,
    }  # fmt: skip


def test_a_grid_of_it_shares_one_fit_and_is_never_mixed_up_with_the_one_that_scales():
    both = expand(
        {
            "own": {"use": "pls", "grid": {"n_components": [1, 5]}},
            "theirs": {
                "use": "sklearn.cross_decomposition:PLSRegression",
                "grid": {"n_components": [1, 5]},
            },
        }
    )
    assert {variant.path_end for variant in both.values()} == {5}
    assert both["own(n_components=1)"].family != both["theirs(n_components=1)"].family


def test_both_in_one_experiment_are_what_scikit_learn_makes_of_them(tmp_path, data):
    X, y = data
    methods = {
        "own": {"use": "pls", "grid": {"n_components": [1, 3]}},
        "theirs": {
            "use": "sklearn.cross_decomposition:PLSRegression",
            "grid": {"n_components": [1, 3]},
        },
    }
    experiment = Experiment(
        [Dataset("d", X, y, "regression")], methods, {"folds": 5}, Crossval(), seed=3
    )
    with experiment.run(tmp_path / "a.sqlite", workers=0) as results:
        scores = results.reader().cv_scores().set_index("variant")["RMSECV"]
    folds = KFold(5, shuffle=True, random_state=3)
    for name, scale in (("own", False), ("theirs", True)):
        for m in (1, 3):
            predicted = cross_val_predict(PLSRegression(m, scale=scale), X, y, cv=folds).ravel()
            assert scores[f"{name}(n_components={m})"] == pytest.approx(
                np.sqrt(np.mean((predicted - y) ** 2)), rel=1e-10
            )


@pytest.mark.known_answer
def test_scaling_the_derivative_of_gasoline_makes_the_error_much_larger(data_folder):
    gasoline = load(data_folder / "nirs" / "gasoline")
    y = gasoline.y.ravel()
    step = declare_step({"use": "savgol", "window": 15, "deriv": 1}, where="step").method
    folds = KFold(5, shuffle=True, random_state=42)
    error = {}
    for model in (PLS(6), PLSRegression(6)):
        predicted = cross_val_predict(
            make_pipeline(step.build(), model), gasoline.X, y, cv=folds
        ).ravel()
        error[type(model).__name__] = np.sqrt(np.mean((predicted - y) ** 2))
    assert error["PLS"] == pytest.approx(0.227, abs=0.001)
    assert error["PLSRegression"] == pytest.approx(0.341, abs=0.001)
