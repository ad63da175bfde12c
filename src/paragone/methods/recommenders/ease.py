"""EASE: a linear autoencoder whose diagonal is zero, in closed form (Steck, WWW 2019)."""

from __future__ import annotations

import numpy as np
from scipy import linalg, sparse

from paragone.data.prescriptions import Prescriptions
from paragone.errors import InputError
from paragone.methods.method import methods
from paragone.methods.recommenders.base import Recommender, evaluate_recommender
from paragone.ties import least_loss
from paragone.validation import FloatArray

PENALTIES = (50.0, 200.0, 1000.0, 5000.0, 20_000.0, 100_000.0)
DEFAULT_PENALTY = 1000.0
CHOSEN_AT = 20


class EASE(Recommender):
    """Predict every token and item of a row from all the others; score items from the query's tokens.

    The rows are ``Z = [queries, items]``. With ``P = (Z'Z + penalty I)^-1`` the weights are ``B_ij
    = -P_ij / P_jj`` off the diagonal and 0 on it, the least-squares solution under that constraint.
    A query has tokens only, so its scores are ``x B`` from tokens to items.

    Parameters
    ----------
    penalty : float, optional
        Weight of the squared coefficients. Where not given, the value of 50, 200, 1000 ... 100,000
        with the best recall@20 on the validation rows is taken (the right one differs by orders of
        magnitude between data sets), and 1000 where there are none. ``penalty_`` says which.
    same_space : bool, default=False
        Set it where the tokens *are* the items (a history of items asks for further ones): the rows
        are then the union of query and answer, as in the original.

    References
    ----------
    .. code-block:: bibtex

        @inproceedings{steck2019,
          author    = {Steck, Harald},
          title     = {Embarrassingly Shallow Autoencoders for Sparse Data},
          booktitle = {The World Wide Web Conference (WWW)},
          pages     = {3251--3257},
          year      = {2019}
        }

    Examples
    --------
    >>> from paragone.data.prescriptions import Prescriptions
    >>> train = Prescriptions.from_rows([([0], [0]), ([1], [1])])
    >>> EASE(penalty=1.0).fit(train).score(train.queries)
    array([[0.5, 0. ],
           [0. , 0.5]])
    """

    weights_: FloatArray
    penalty_: float

    def __init__(self, penalty: float | None = None, same_space: bool = False) -> None:
        self.penalty = penalty
        self.same_space = same_space

    def _fit(self, train: Prescriptions, validation: Prescriptions | None) -> None:
        if self.penalty is not None and self.penalty <= 0:
            raise InputError(f"ease: penalty must be above 0, it is {self.penalty}")
        if self.same_space and train.n_tokens != train.n_items:
            raise InputError(
                f"ease: same_space needs as many tokens as items, there are {train.n_tokens} and"
                f" {train.n_items}"
            )
        answers = train.multi_hot()
        if self.same_space:
            rows = ((train.queries + answers) > 0).astype(np.float64)
        else:
            rows = sparse.hstack([train.queries, answers], format="csr")
        gram = (rows.T @ rows).toarray()
        if self.penalty is not None or validation is None:
            self._solve(gram, self.penalty or DEFAULT_PENALTY)
            return
        recalls = []
        for penalty in PENALTIES:
            self._solve(gram, penalty)
            result = evaluate_recommender(
                self, validation, k=CHOSEN_AT, metrics=("recall",), empty="skip"
            )
            recalls.append(result.value("recall", CHOSEN_AT))
        self._solve(gram, PENALTIES[least_loss([-recall for recall in recalls], size=1.0)])

    def _solve(self, gram: FloatArray, penalty: float) -> None:
        weights = ease_weights(gram, penalty)
        self.penalty_ = penalty
        self.weights_ = weights if self.same_space else weights[: self.n_tokens_, self.n_tokens_ :]

    @property
    def diagnostics_(self) -> dict[str, float]:
        """The penalty that was used."""
        return {"penalty": self.penalty_}

    def _score(self, queries: sparse.csr_array) -> FloatArray:
        return np.asarray(queries @ self.weights_)


def ease_weights(gram: FloatArray, penalty: float) -> FloatArray:
    """Return the zero-diagonal weights from the Gram matrix of the rows."""
    size = len(gram)
    inverse = linalg.cho_solve(linalg.cho_factor(gram + penalty * np.eye(size)), np.eye(size))
    weights = -inverse / np.diag(inverse)[None, :]
    np.fill_diagonal(weights, 0.0)
    return np.asarray(weights)


methods.add(EASE, "ease")
