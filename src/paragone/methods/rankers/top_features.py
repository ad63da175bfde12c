"""TopFeatures: keep the best features of a ranker, as a step of a scikit-learn pipeline."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from paragone.errors import InputError
from paragone.methods.rankers.base import BoolArray, Ranker


class TopFeatures(MetaEstimatorMixin, SelectorMixin, BaseEstimator):
    """Keep the ``k`` features that a ranker puts first, in their original order.

    Parameters
    ----------
    ranker : Ranker
        Any ranker; a clone is fitted.
    k : int, default=10
        How many features to keep.

    Attributes
    ----------
    ranker_ : Ranker
        The fitted ranker.

    Examples
    --------
    >>> import numpy as np
    >>> from paragone.methods.rankers import Variance
    >>> X = np.array([[0.0, 0.0, 1.0], [0.0, 3.0, 2.0]])
    >>> TopFeatures(Variance(), k=2).fit_transform(X, [0, 1])
    array([[0., 1.],
           [3., 2.]])
    """

    def __init__(self, ranker: Ranker, k: int = 10) -> None:
        self.ranker = ranker
        self.k = k

    def fit(self, X: Any, y: Any) -> Self:
        """Fit a clone of the ranker on training data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training features.
        y : array-like of shape (n_samples, n_labels)
            Labels coded 0/1 or -1/+1.
        """
        validate_data(self, X, skip_check_array=True)
        fitted = clone(self.ranker).fit(X, y)
        if not 1 <= self.k <= fitted.n_features_in_:
            raise InputError(
                f"TopFeatures cannot keep k = {self.k} of {fitted.n_features_in_} features: "
                f"choose k from 1 to {fitted.n_features_in_}"
            )
        self.ranker_ = fitted
        return self

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self, "ranker_")
        mask = np.zeros(self.ranker_.n_features_in_, dtype=np.bool_)
        mask[self.ranker_.ranking_[: self.k]] = True
        return mask

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
