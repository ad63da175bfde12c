"""check_ranker: run a feature ranker through its contract."""

from __future__ import annotations

from typing import Any

from paragone.testing.ranker_laws import RANKER_CONTRACT


def check_ranker(ranker: Any) -> list[str]:
    """Check that a ranker keeps every law of the contract.

    The laws: it sees training data only, gives the same bytes for the same data and parameters, leaves its
    input and the global random state alone, orders all features by falling score, takes labels coded 0/1 and
    -1/+1 and refuses others, refuses NaN, copes with thin labels, can be cloned and pickled. A class that
    sets ``deterministic = True`` must follow a permutation of the features; one with a parameter
    ``guard=True`` must put constant columns last.

    Parameters
    ----------
    ranker : Ranker or type
        A ranker, or a class that can be made without arguments. It is cloned, never fitted itself.

    Returns
    -------
    list of str
        The laws that were checked.

    Raises
    ------
    AssertionError
        Names the law that is broken and how.

    Examples
    --------
    >>> from paragone.rankers import Variance
    >>> len(check_ranker(Variance)) > 10
    True
    """
    subject = ranker() if isinstance(ranker, type) else ranker
    return RANKER_CONTRACT.check(subject, name=type(subject).__name__)
