"""The recommender interface: `fit(train, validation) -> self` and `score(block) -> array`."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from paragone.data.prescriptions import Prescriptions
from paragone.errors import InputError
from paragone.metrics.topk import TopKResult, topk_scores
from paragone.validation import FloatArray


class Recommender(BaseEstimator):
    """Base of the recommenders: checks the input and remembers its sizes.

    A subclass sets its parameters in ``__init__`` as scikit-learn asks and implements ``_fit`` and
    ``_score``. ``packages`` names what it needs beside Paragone's own dependencies. Fitted
    attributes: ``n_tokens_``, ``n_items_``; a mapping ``diagnostics_``, where there is one, is kept
    with the results.

    Examples
    --------
    >>> class FirstItems(Recommender):
    ...     def _fit(self, train, validation):
    ...         pass
    ...
    ...     def _score(self, queries):
    ...         return np.tile(-np.arange(self.n_items_, dtype=float), (queries.shape[0], 1))
    >>> train = Prescriptions.from_rows([([0, 1], [2, 0]), ([1], [1])])
    >>> FirstItems().fit(train).score(train.queries)[0]
    array([-0., -1., -2.])
    """

    packages: ClassVar[tuple[str, ...]] = ()
    n_tokens_: int
    n_items_: int

    def fit(self, train: Prescriptions, validation: Prescriptions | None = None) -> Self:
        """Learn from the training rows.

        Parameters
        ----------
        train : Prescriptions
            What to learn from.
        validation : Prescriptions, optional
            What to choose on (epochs, for one); methods that choose nothing do not look at it.

        Returns
        -------
        self
            Fitted.
        """
        if train.n_rows == 0:
            raise InputError(f"{type(self).__name__}: there are no training rows")
        if validation is not None and (validation.n_tokens, validation.n_items) != (
            train.n_tokens,
            train.n_items,
        ):
            raise InputError(
                f"validation has {validation.n_tokens} tokens and {validation.n_items} items, train"
                f" has {train.n_tokens} and {train.n_items}: declare the sizes when reading them"
            )
        self.n_tokens_, self.n_items_ = train.n_tokens, train.n_items
        self._fit(train, validation)
        return self

    def score(self, block: Any) -> FloatArray:
        """Score every item for each query of a block.

        Parameters
        ----------
        block : array or sparse matrix of shape (n_rows, n_tokens)
            Queries, 1 where a token stands.

        Returns
        -------
        ndarray of shape (n_rows, n_items)
            Larger is better.
        """
        if not hasattr(self, "n_items_"):
            raise NotFittedError(f"{type(self).__name__} is not fitted: call fit first")
        queries = sparse.csr_array(block, dtype=np.float64)
        if queries.shape[1] != self.n_tokens_:
            raise InputError(
                f"queries have {queries.shape[1]} tokens, the training rows had {self.n_tokens_}"
            )
        return self._score(queries)

    @abstractmethod
    def _fit(self, train: Prescriptions, validation: Prescriptions | None) -> None:
        """Learn; the input is checked."""

    @abstractmethod
    def _score(self, queries: sparse.csr_array) -> FloatArray:
        """Score; the input is checked."""


# Fixed, because a product may round differently for another number of rows.
BLOCK_ROWS = 1024


class ScoresQueries(Protocol):
    """Anything that scores all items for a block of queries."""

    def score(self, block: Any) -> FloatArray:
        """Return one row per query, one column per item."""


def evaluate_recommender(fitted: ScoresQueries, rows: Prescriptions, **options: Any) -> TopKResult:
    """Score the queries of some rows and compare with their items; the whole score matrix never exists.

    Parameters
    ----------
    fitted : recommender
        With ``score(block)``.
    rows : Prescriptions
        What to evaluate on.
    **options
        Passed on to `topk_scores`. Intervals resample equal queries together unless ``cluster`` is
        given.

    Returns
    -------
    TopKResult
        The evaluation.

    Examples
    --------
    >>> from paragone.methods.recommenders import make_recommender
    >>> from paragone.testing.recommenders import example_prescriptions
    >>> rows = example_prescriptions()
    >>> result = evaluate_recommender(make_recommender("ridge").fit(rows), rows, k=3)
    >>> 0.5 < result.value("recall", 3) <= 1
    True
    """
    settings: dict[str, Any] = {"cluster": rows.query_codes, "block_rows": BLOCK_ROWS} | options
    return topk_scores(
        lambda part: fitted.score(rows.queries[part]), rows.truth, n_items=rows.n_items, **settings
    )
