"""Imported rankings: given back as they are, checked against the features."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paragone.errors import InputError
from paragone.methods.method import Method
from paragone.methods.rankers.base import rank_descending
from paragone.methods.rankers.imported import ImportedRanking

X, Y = np.random.default_rng(0).random((10, 6)), np.eye(10, 2)


@given(st.permutations(range(6)))
def test_the_ranking_and_its_scores_agree(ranking):
    ranker = ImportedRanking(ranking).fit(X, Y)
    assert ranker.ranking_.tolist() == list(ranking)
    assert rank_descending(ranker.scores_).tolist() == list(ranking)


def test_another_number_of_features_is_refused():
    with pytest.raises(InputError, match="index 5 is missing"):
        ImportedRanking([0, 1, 2, 3, 4]).fit(X, Y)


def test_the_ranking_is_the_identity():
    def identity(ranking, seconds=None):
        return Method(
            ImportedRanking, {"ranking": np.array(ranking), "seconds": seconds}
        ).identity()

    assert identity([0, 1]) == identity([0, 1])
    assert len({identity([0, 1]), identity([1, 0]), identity([0, 1], 2.0)}) == 3
