"""The Bayesian correlated t-test, for the folds of one dataset."""

from __future__ import annotations

from numpy.typing import ArrayLike

from paragone.comparison.bayes.posterior import Posterior, check_rope
from paragone.comparison.corrected_t import corrected_resampled_t


def bayesian_correlated_t(
    differences: ArrayLike, *, rope: float = 0.0, test_train_ratio: float | None = None
) -> Posterior:
    """Return the probabilities that the mean difference lies above, within and below the ROPE.

    The posterior is a Student t with the centre and the scale of the corrected resampled t-test.

    Parameters
    ----------
    differences : array-like of shape (n_folds,)
        ``b - a`` on every fold.
    rope : float, default=0.0
        Half-width of the region of practical equivalence.
    test_train_ratio : float, optional
        ``n_test / n_train``; left out, that of one cross-validation with as many folds.

    Returns
    -------
    Posterior
        In closed form, without a sample. Equal differences leave no doubt: one probability is 1, and a
        mean of exactly zero without a ROPE is shared between the sides.

    References
    ----------
    Corani and Benavoli (2015) *Machine Learning* 100:285-304.

    Examples
    --------
    >>> posterior = bayesian_correlated_t([0.02, 0.01, 0.03, 0.00, 0.04], rope=0.01)
    >>> round(posterior.better, 4), round(posterior.equal, 4), round(posterior.worse, 4)
    (0.8004, 0.1759, 0.0237)
    """
    from scipy.special import stdtr

    check_rope(rope)
    test = corrected_resampled_t(differences, test_train_ratio=test_train_ratio)
    if test.standard_error == 0:
        return _certain(test.mean, rope)
    worse = float(stdtr(test.df, (-rope - test.mean) / test.standard_error))
    better = float(stdtr(test.df, (test.mean - rope) / test.standard_error))
    return Posterior(better, max(0.0, 1 - better - worse) if rope > 0 else 0.0, worse, rope)


def _certain(mean: float, rope: float) -> Posterior:
    if rope == 0 and mean == 0:
        return Posterior(0.5, 0.0, 0.5, rope)
    return Posterior(float(mean > rope), float(abs(mean) <= rope), float(mean < -rope), rope)
