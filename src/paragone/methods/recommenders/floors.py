"""The floors that every recommender must beat: popularity, conditional frequencies, nearest sets, ridge regression."""

from __future__ import annotations

import numpy as np
from scipy import linalg, sparse

from paragone.data.prescriptions import Prescriptions
from paragone.errors import InputError
from paragone.methods.method import methods
from paragone.methods.recommenders.base import Recommender
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


# Similarities to all training rows are held for so many queries at a time.
_ROWS = 256


class SetKNN(Recommender):
    """Score items by the answers to similar queries, shrunk towards popularity.

    With J_r the Jaccard similarity of the query and training row r: ``score_h = (sum_r J_r^power
    y_rh + shrink prior_h) / (sum_r J_r^power + shrink)``, where ``prior_h`` is the share of
    training rows with item h.

    Parameters
    ----------
    power : float, default=6.0
        How much closer rows count more.
    shrink : float, default=0.5
        Weight of the prior.
    n_neighbors : int, optional
        Let only so many nearest rows vote (ties to the earlier row); all of them where not given.

    Examples
    --------
    >>> from paragone.data.prescriptions import Prescriptions
    >>> train = Prescriptions.from_rows([([0], [0]), ([1], [1])])
    >>> SetKNN(shrink=1.0).fit(train).score(train.queries)
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """

    def __init__(
        self, power: float = 6.0, shrink: float = 0.5, n_neighbors: int | None = None
    ) -> None:
        self.power = power
        self.shrink = shrink
        self.n_neighbors = n_neighbors

    def _fit(self, train: Prescriptions, validation: Prescriptions | None) -> None:
        if (
            self.power <= 0
            or self.shrink <= 0
            or (self.n_neighbors is not None and self.n_neighbors < 1)
        ):
            raise InputError("set-knn: power, shrink and n_neighbors must be above 0")
        self.queries_ = train.queries
        self.answers_ = train.multi_hot()
        self.sizes_ = np.asarray(train.queries.sum(axis=1)).ravel()
        self.prior_ = np.asarray(self.answers_.sum(axis=0)).ravel() / train.n_rows

    def _score(self, queries: sparse.csr_array) -> FloatArray:
        out = np.empty((queries.shape[0], self.n_items_))
        for start in range(0, queries.shape[0], _ROWS):
            votes = self._votes(queries[start : start + _ROWS])
            total = np.asarray(votes.sum(axis=1)).ravel()[:, None]
            summed = (votes @ self.answers_).toarray()
            out[start : start + _ROWS] = (summed + self.shrink * self.prior_) / (
                total + self.shrink
            )
        return out

    def _votes(self, queries: sparse.csr_array) -> sparse.csr_array:
        """Return J^power for the pairs of query and training row that share a token."""
        shared = (queries @ self.queries_.T).tocsr()
        shared.sort_indices()
        own = np.repeat(np.asarray(queries.sum(axis=1)).ravel(), np.diff(shared.indptr))
        shared.data = (
            shared.data / (own + self.sizes_[shared.indices] - shared.data)
        ) ** self.power
        if self.n_neighbors is not None:
            _keep_largest(shared, self.n_neighbors)
        return shared


def _keep_largest(matrix: sparse.csr_array, count: int) -> None:
    """Set all but the largest values of each row to zero; the earlier column wins a tie."""
    for row in range(matrix.shape[0]):
        values = matrix.data[matrix.indptr[row] : matrix.indptr[row + 1]]
        values[np.argsort(-values, kind="stable")[count:]] = 0.0


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


methods.add(Popularity, "popularity")
methods.add(Conditional, "conditional")
methods.add(SetKNN, "set-knn")
methods.add(Ridge, "ridge")
