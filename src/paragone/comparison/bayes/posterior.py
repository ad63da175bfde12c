"""Three probabilities that sum to one, and the sample they were counted on."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from paragone.ties import FloatArray


@dataclass(frozen=True)
class Posterior:
    """Probabilities that ``b`` is better, equal within the ROPE, or worse.

    Attributes
    ----------
    better, equal, worse : float
        They sum to 1.
    rope : float
        Half-width of the region of practical equivalence.
    sample : ndarray of shape (n_samples, 3) or None
        Posterior draws of the three shares (worse, equal, better), for a chart; None where the posterior
        has a closed form.

    Examples
    --------
    >>> Posterior(better=0.9, equal=0.08, worse=0.02, rope=0.01).better
    0.9
    """

    better: float
    equal: float
    worse: float
    rope: float
    sample: FloatArray | None = field(default=None, compare=False, repr=False)


def count_winners(sample: FloatArray, rope: float, *, keep: bool = True) -> Posterior:
    """Count in which draws which of the three shares is the largest; ties of two are halved.

    Examples
    --------
    >>> import numpy as np
    >>> p = count_winners(np.array([[0.5, 0.0, 0.5], [0.1, 0.2, 0.7]]), 0.0)
    >>> p.better, p.equal, p.worse
    (0.75, 0.0, 0.25)
    """
    # Shares that are equal on paper come out of different sums, so equal means equal but for rounding.
    largest = sample >= sample.max(axis=1, keepdims=True) - 1e-12
    worse, equal, better = (largest / largest.sum(axis=1, keepdims=True)).mean(axis=0).tolist()
    return Posterior(better, equal, worse, rope, sample if keep else None)


def check_rope(rope: float) -> float:
    """Return the ROPE if it is a finite half-width, not negative.

    Examples
    --------
    >>> check_rope(0.01)
    0.01
    """
    from paragone.errors import InputError

    if not (np.isfinite(rope) and rope >= 0):
        raise InputError(f"the ROPE is a half-width in units of the metric, 0 or more, not {rope}")
    return float(rope)
