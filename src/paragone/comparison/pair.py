"""What is known about one pair of methods over the datasets."""

from __future__ import annotations

from dataclasses import dataclass

from paragone.comparison.bayes import Posterior
from paragone.comparison.wilcoxon import Wilcoxon


@dataclass(frozen=True)
class Pair:
    """One method against one rival; every difference is signed so that positive favours the method.

    Attributes
    ----------
    method, rival : str
        The two names.
    verdict : {"better", "worse", "practically equal", "undecided"}
        What the method is, compared with the rival.
    p, p_adjusted : float
        Raw p-value and that after the correction.
    test : Wilcoxon
        The signed-rank test in full.
    smallest_p_adjusted : float
        The smallest adjusted p this pair could reach with as many datasets, the other tests as they are.
    mean_difference, mean_low, mean_high : float
        Mean difference with its BCa bootstrap interval.
    median_difference, median_low, median_high : float
        Median difference with its percentile bootstrap interval.
    won, tied, lost : tuple of str
        Datasets where the method is ahead, level, behind.
    cliffs_delta, a12, rank_biserial : float
        Effect sizes; the first two ignore the pairing.
    posterior : Posterior or None
        Bayesian signed-rank probabilities.
    flipped_by : tuple of str
        Datasets whose removal changes the test's decision.
    datasets_needed : int or None
        Datasets in all for 80 % power at the observed effect; None where there is no effect to speak of.
    """

    method: str
    rival: str
    verdict: str
    p: float
    p_adjusted: float
    test: Wilcoxon
    smallest_p_adjusted: float
    mean_difference: float
    mean_low: float
    mean_high: float
    median_difference: float
    median_low: float
    median_high: float
    won: tuple[str, ...]
    tied: tuple[str, ...]
    lost: tuple[str, ...]
    cliffs_delta: float
    a12: float
    rank_biserial: float
    posterior: Posterior | None
    flipped_by: tuple[str, ...]
    datasets_needed: int | None
