"""Popularity: every query gets the items most frequent in train."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from paragone.data.prescriptions import Prescriptions
from paragone.models.recommenders.base import Recommender
from paragone.validation import FloatArray


class Popularity(Recommender):
    """Score an item by the share of training rows that hold it, whatever the query.

    Examples
    --------
    >>> from paragone.data.prescriptions import Prescriptions
    >>> train = Prescriptions.from_rows([([0], [0, 1]), ([1], [1])])
    >>> Popularity().fit(train).score(train.queries)
    array([[0.5, 1. ],
           [0.5, 1. ]])
    """

    share_: FloatArray

    def _fit(self, train: Prescriptions, validation: Prescriptions | None) -> None:
        self.share_ = np.asarray(train.multi_hot().sum(axis=0)).ravel() / train.n_rows

    def _score(self, queries: sparse.csr_array) -> FloatArray:
        return np.tile(self.share_, (queries.shape[0], 1))
