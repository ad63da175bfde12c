"""The verdict in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paragone.comparison import Comparison

NAMED = 3
CLAIMS = {
    "better": "better than {}",
    "practically equal": "practically equal to {}",
    "undecided": "not told apart from {}",
    "worse": "worse than {}",
}


def headline(comparison: Comparison) -> str:
    """Say in one sentence how the leader does against its rivals.

    Examples
    --------
    >>> import pandas as pd, paragone
    >>> scores = pd.DataFrame({"dataset": list("abcdefgh"), "new": range(1, 9), "old": range(8)})
    >>> headline(paragone.compare(scores, metric="accuracy", reference="new"))
    'new is better than old. Its average rank is 1.00, the best of 2.'
    """
    verdicts: dict[str, list[str]] = {}
    for pair in comparison.leading_pairs:
        verdicts.setdefault(pair.verdict, []).append(pair.rival)
    n_rivals = len(comparison.leading_pairs)
    claims = [
        CLAIMS[verdict].format(_whom(verdicts[verdict], n_rivals, "any of its" if verdict == "undecided" else "all"))
        for verdict in CLAIMS
        if verdict in verdicts
    ]
    return " ".join([f"{comparison.leader} is {listing(claims)}.", *_size(comparison), _rank(comparison)])


def _size(comparison: Comparison) -> list[str]:
    """Say so where no difference, however clear, could have been significant."""
    alpha, n = comparison.settings.alpha, len(comparison.scores.datasets)
    if comparison.family.on_ranks or any(pair.smallest_p_adjusted <= alpha for pair in comparison.leading_pairs):
        return []
    return [f"With {n} dataset{'s' * (n != 1)} nothing can be significant at this size."]


def listing(parts: Sequence[str]) -> str:
    """Join parts as a sentence does.

    Examples
    --------
    >>> listing(["a"]), listing(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _whom(rivals: Sequence[str], n_rivals: int, all_of: str) -> str:
    if len(rivals) <= NAMED:
        return listing(rivals)
    return f"{all_of} {n_rivals} rivals" if len(rivals) == n_rivals else f"{len(rivals)} of {n_rivals} rivals"


def _rank(comparison: Comparison) -> str:
    ranks = dict(zip(comparison.scores.methods, comparison.friedman.average_ranks, strict=True))
    mine = ranks[comparison.leader]
    better = sorted((rank, name) for name, rank in ranks.items() if rank < mine)
    place = f"the best of {len(ranks)}" if not better else f"behind {better[0][1]} with {better[0][0]:.2f}"
    return f"Its average rank is {mine:.2f}, {place}."


def join_words(text: Any) -> str:
    """Return a chart's title as one line.

    Examples
    --------
    >>> join_words(["Micro-F1", "on emotions"]), join_words("Ranks")
    ('Micro-F1 on emotions', 'Ranks')
    """
    return " ".join(text) if isinstance(text, list) else str(text)
