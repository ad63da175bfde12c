"""Regressors whose loss has a scale of its own, on a target that is brought to unit variance first.

The tube of a support vector regressor, the weight of its errors and the steps of a network are
numbers in units of the target. A formula's values have any unit. Scaled on the training rows, and
predictions scaled back, these methods give the same answer in every unit, as trees and linear
models do by themselves.
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPRegressor
from sklearn.svm import SVR, LinearSVR

from paragone.validation import FloatArray


class _ScaledTarget:
    """Fits on the target less its mean, divided by its standard deviation, and predicts in the target's own unit."""

    def fit(self, X: Any, y: Any) -> Self:
        """Fit on the scaled target; a bound on iterations that is hit is told in ``hit_bound_``, not warned of."""
        target = np.asarray(y, dtype=np.float64)
        self.mean_ = float(target.mean())
        # One value for all rows has no spread, and any scale does.
        self.spread_ = float(target.std()) or 1.0
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            super().fit(X, (target - self.mean_) / self.spread_)  # type: ignore[misc]
        bounded = [one for one in caught if issubclass(one.category, ConvergenceWarning)]
        self.hit_bound_ = bool(bounded)
        for one in caught:
            if one not in bounded:
                warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
        return self

    def predict(self, X: Any) -> FloatArray:
        """Return numbers in the unit of the target."""
        found: FloatArray = super().predict(X)  # type: ignore[misc]
        return np.asarray(found, dtype=np.float64) * self.spread_ + self.mean_


class ScaledSVR(_ScaledTarget, SVR):
    """A support vector regressor on a target of unit variance.

    Examples
    --------
    >>> X = np.linspace(-2, 2, 50)[:, None]
    >>> small, large = (ScaledSVR().fit(X, unit * X[:, 0] ** 2).predict(X[:1])[0] for unit in (1.0, 1000.0))
    >>> bool(abs(large / small - 1000) < 1e-6)
    True
    """


class ScaledLinearSVR(_ScaledTarget, LinearSVR):
    """A linear support vector regressor on a target of unit variance.

    Examples
    --------
    >>> X = np.linspace(-2, 2, 50)[:, None]
    >>> ScaledLinearSVR(random_state=0).fit(X, 500 * X[:, 0]).predict([[1.0]]).round(-1)
    array([500.])
    """


class ScaledMLPRegressor(_ScaledTarget, MLPRegressor):
    """A neural network on a target of unit variance.

    Examples
    --------
    >>> X = np.linspace(-2, 2, 50)[:, None]
    >>> net = ScaledMLPRegressor(solver="lbfgs", max_iter=50, random_state=0).fit(X, 500 * X[:, 0])
    >>> bool(abs(net.predict([[1.0]])[0] - 500) < 50)
    True
    """
