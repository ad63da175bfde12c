"""Ridge: every item is a linear function of the query's tokens."""

from __future__ import annotations

import numpy as np
from scipy import linalg, sparse

from paragone.data.prescriptions import Prescriptions
from paragone.errors import InputError
from paragone.models.recommenders.base import Recommender
from paragone.validation import FloatArray


class Ridge(Recommender):
    """Least squares of the item indicators on the token indicators, with a squared penalty.

    Parameters
    ----------
    penalty : float, default=50.0
        Weight of the squared coefficients.

    Examples
    --------
    >>> from paragone.data.prescriptions import Prescriptions
    >>> train = Prescriptions.from_rows([([0], [0]), ([1], [1])])
    >>> Ridge(penalty=1.0).fit(train).score(train.queries)
    array([[0.5, 0. ],
           [0. , 0.5]])
    """

    coefficients_: FloatArray

    def __init__(self, penalty: float = 50.0) -> None:
        self.penalty = penalty

    def _fit(self, train: Prescriptions, validation: Prescriptions | None) -> None:
        if self.penalty <= 0:
            raise InputError(f"ridge: penalty must be above 0, it is {self.penalty}")
        gram = (train.queries.T @ train.queries).toarray() + self.penalty * np.eye(train.n_tokens)
        together = (train.queries.T @ train.multi_hot()).toarray()
        self.coefficients_ = linalg.solve(gram, together, assume_a="pos")

    def _score(self, queries: sparse.csr_array) -> FloatArray:
        return np.asarray(queries @ self.coefficients_)
