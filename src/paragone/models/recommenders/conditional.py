"""Conditional: the sum over the query's tokens of the chance of an item given the token."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from paragone.data.prescriptions import Prescriptions
from paragone.models.recommenders.base import Recommender
from paragone.validation import FloatArray


class Conditional(Recommender):
    """Score item h for query q by the sum over s in q of P(h | s), counted in train.

    A token that train never saw adds nothing.

    Examples
    --------
    >>> from paragone.data.prescriptions import Prescriptions
    >>> train = Prescriptions.from_rows([([0], [0, 1]), ([0, 1], [1])])
    >>> Conditional().fit(train).score(train.queries)
    array([[0.5, 1. ],
           [0.5, 2. ]])
    """

    chance_: FloatArray

    def _fit(self, train: Prescriptions, validation: Prescriptions | None) -> None:
        together = (train.queries.T @ train.multi_hot()).toarray()
        occurs = np.asarray(train.queries.sum(axis=0)).ravel()
        self.chance_ = together / np.maximum(occurs, 1.0)[:, None]

    def _score(self, queries: sparse.csr_array) -> FloatArray:
        return np.asarray(queries @ self.chance_)
