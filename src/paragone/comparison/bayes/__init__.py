"""Bayesian tests: the probabilities that one method is better, practically equal, or worse."""

from paragone.comparison.bayes.correlated_t import bayesian_correlated_t
from paragone.comparison.bayes.posterior import Posterior
from paragone.comparison.bayes.sign import bayesian_sign
from paragone.comparison.bayes.signed_rank import bayesian_signed_rank

__all__ = ["Posterior", "bayesian_correlated_t", "bayesian_sign", "bayesian_signed_rank"]
