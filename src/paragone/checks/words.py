"""Words: counts and verbs that agree with them, for the sentences of findings."""

from __future__ import annotations

import re


def counted(count: int, things: str, thing: str = "") -> str:
    """Return a count with what is counted, in the plural or, for one, in the singular.

    Parameters
    ----------
    count : int
        How many.
    things : str
        What, in the plural; what is counted is the first word that ends in an s.
    thing : str, optional
        The singular, where leaving out that s does not give it.

    Examples
    --------
    >>> counted(2, "such pairs"), counted(1, "such pairs"), counted(1, "held-out rows of the splits")
    ('2 such pairs', '1 such pair', '1 held-out row of the splits')
    >>> counted(1, "labels or targets", "label or target"), counted(1, "of 8 cells")
    ('1 label or target', '1 of 8 cells')
    """
    if count != 1 or things.startswith("of "):
        return f"{count} {things}"
    return f"{count} {thing or re.sub(r's(?= |$)', '', things, count=1)}"


def share(count: int, total: int, things: str, thing: str = "") -> str:
    """Return how many of how many.

    Examples
    --------
    >>> share(1, 9, "columns"), share(1, 1, "columns")
    ('1 of 9 columns', '1 of 1 column')
    """
    return f"{count} of {counted(total, things, thing)}"


def agree(count: int, one: str, several: str) -> str:
    """Return the word that goes with a count.

    Examples
    --------
    >>> agree(1, "holds", "hold"), agree(0, "holds", "hold")
    ('holds', 'hold')
    """
    return one if count == 1 else several


def against(targets: int) -> str:
    """Say against how many labels or targets something is looked at.

    Examples
    --------
    >>> against(1), against(3)
    ('against 1 label or target', 'against 3 labels or targets')
    """
    return f"against {counted(targets, 'labels or targets', 'label or target')}"
