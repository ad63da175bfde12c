"""Which ordered pairs of methods a collection tells apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

MARGIN = 0.05


def duel_matrix(scores: Sequence[Mapping[str, float]], methods: Sequence[str], margin: float = MARGIN) -> pd.DataFrame:
    """Count the datasets on which the row's method beats the column's by a margin.

    Parameters
    ----------
    scores : sequence of mappings
        One a dataset: each method's AUROC.
    methods : sequence of str
        The methods, in the order of the table.
    margin : float, default=0.05
        By how much a method must win. Exactly the margin counts.

    Returns
    -------
    DataFrame
        Methods down and across; the diagonal is 0.

    Examples
    --------
    >>> print(duel_matrix([{"A": 0.9, "B": 0.6}, {"A": 0.9, "B": 0.85}], ["A", "B"]))
       A  B
    A  0  2
    B  0  0
    """
    import pandas as pd

    counts = pd.DataFrame(0, index=list(methods), columns=list(methods))
    for winner, loser in permutations(methods, 2):
        # Scores have four decimals in published tables: a difference of .05 must not fail by its last bit.
        counts.loc[winner, loser] = sum(round(row[winner] - row[loser] - margin, 9) >= 0 for row in scores)
    return counts


def open_pairs(counts: pd.DataFrame) -> tuple[tuple[str, str], ...]:
    """Return the ordered pairs (winner, loser) that no dataset shows.

    Examples
    --------
    >>> open_pairs(duel_matrix([{"A": 0.9, "B": 0.6}], ["A", "B"]))
    (('B', 'A'),)
    """
    return tuple((a, b) for a, b in permutations(counts.index, 2) if counts.loc[a, b] == 0)
