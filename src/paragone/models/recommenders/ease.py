"""EASE: a linear autoencoder whose diagonal is zero, in closed form (Steck, WWW 2019)."""

from __future__ import annotations

import numpy as np
from scipy import linalg, sparse

from paragone.data.prescriptions import Prescriptions
from paragone.errors import InputError
from paragone.models.recommenders.base import Recommender
from paragone.validation import FloatArray


class EASE(Recommender):
    """Predict every token and item of a row from all the others; score items from the query's tokens.

    The rows are ``Z = [queries, items]``. With ``P = (Z'Z + penalty I)^-1`` the weights are
    ``B_ij = -P_ij / P_jj`` off the diagonal and 0 on it, the least-squares solution under that constraint. A query
    has tokens only, so its scores are ``x B`` from tokens to items.

    Parameters
    ----------
    penalty : float, default=200.0
        Weight of the squared coefficients.
    same_space : bool, default=False
        Set it where the tokens *are* the items (a history of items asks for further ones): the rows are then the
        union of query and answer, as in the original.

    Examples
    --------
    >>> from paragone.data.prescriptions import Prescriptions
    >>> train = Prescriptions.from_rows([([0], [0]), ([1], [1])])
    >>> EASE(penalty=1.0).fit(train).score(train.queries)
    array([[0.5, 0. ],
           [0. , 0.5]])
    """

    weights_: FloatArray

    def __init__(self, penalty: float = 200.0, same_space: bool = False) -> None:
        self.penalty = penalty
        self.same_space = same_space

    def _fit(self, train: Prescriptions, validation: Prescriptions | None) -> None:
        if self.penalty <= 0:
            raise InputError(f"ease: penalty must be above 0, it is {self.penalty}")
        if self.same_space and train.n_tokens != train.n_items:
            raise InputError(
                f"ease: same_space needs as many tokens as items, there are {train.n_tokens} and {train.n_items}"
            )
        answers = train.multi_hot()
        if self.same_space:
            rows = ((train.queries + answers) > 0).astype(np.float64)
        else:
            rows = sparse.hstack([train.queries, answers], format="csr")
        weights = ease_weights((rows.T @ rows).toarray(), self.penalty)
        self.weights_ = weights if self.same_space else weights[: train.n_tokens, train.n_tokens :]

    def _score(self, queries: sparse.csr_array) -> FloatArray:
        return np.asarray(queries @ self.weights_)


def ease_weights(gram: FloatArray, penalty: float) -> FloatArray:
    """Return the zero-diagonal weights from the Gram matrix of the rows."""
    size = len(gram)
    inverse = linalg.cho_solve(linalg.cho_factor(gram + penalty * np.eye(size)), np.eye(size))
    weights = -inverse / np.diag(inverse)[None, :]
    np.fill_diagonal(weights, 0.0)
    return np.asarray(weights)
