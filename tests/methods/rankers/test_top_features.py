"""TopFeatures as a step of a scikit-learn pipeline."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from paragone.errors import InputError
from paragone.methods.rankers import DAGFS, TopFeatures, Variance


def problem() -> tuple[pd.DataFrame, np.ndarray]:
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.random((60, 6)), columns=list("abcdef"))
    return X, np.column_stack([X["c"] > 0.5, X["c"] + X["e"] > 1]).astype(int)


def test_it_keeps_the_first_of_the_ranking_in_their_own_order() -> None:
    X, Y = problem()
    selector = TopFeatures(DAGFS(), k=2).fit(X, Y)
    assert selector.get_support(indices=True).tolist() == sorted(
        selector.ranker_.ranking_[:2].tolist()
    )
    assert selector.get_feature_names_out().tolist() == ["c", "e"]
    np.testing.assert_array_equal(selector.transform(X), X[["c", "e"]])
    assert not hasattr(selector.ranker, "ranking_")


def test_it_works_in_a_pipeline_and_a_grid_search() -> None:
    X, Y = problem()
    pipeline = make_pipeline(MinMaxScaler(), TopFeatures(DAGFS(), k=2), KNeighborsClassifier(3))
    search = GridSearchCV(
        pipeline, {"topfeatures__k": [1, 2], "topfeatures__ranker__alpha": [0.1, 1.0]}, cv=3
    )
    assert search.fit(X, Y).predict(X).shape == Y.shape


def test_more_features_than_there_are_cannot_be_kept() -> None:
    X, Y = problem()
    for k in (0, 7):
        with pytest.raises(InputError, match=f"k = {k} of 6 features"):
            TopFeatures(Variance(), k=k).fit(X, Y)


def test_before_fitting_there_is_no_support() -> None:
    with pytest.raises(NotFittedError):
        clone(TopFeatures(Variance())).get_support()
