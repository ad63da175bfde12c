"""Long names made short for a narrow place, so that what differs between them is kept."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from rich.cells import cell_len

HEAD = 3
"""Letters that a shortened name begins with at least."""


def shortened(texts: Sequence[str], width: int) -> tuple[str, ...]:
    """Cut long texts in the middle, so that what differs between them is kept.

    Parameters
    ----------
    texts : sequence of str
        Such as the names of methods.
    width : int
        How many places a text may take.

    Returns
    -------
    tuple of str
        As they are where no cut of this width keeps them apart.

    Examples
    --------
    >>> shortened(["Boosting(learning_rate=0.05)", "Boosting(learning_rate=0.10)", "Forest"], 13)
    ('Boosti…=0.05)', 'Boosti…=0.10)', 'Forest')
    >>> shortened(["long-method-a-variant", "long-method-b-variant"], 15)
    ('long-…a-variant', 'long-…b-variant')
    >>> shortened(["Boosting(learning_rate=0.05, max_depth=4)", "Boosting(learning_rate=0.1, max_depth=4)"], 12)
    ('Boo…0.05, m…', 'Boo…0.1, ma…')
    """
    middle = (width - 1) // 2
    for head in sorted(range(HEAD, width), key=lambda kept: abs(kept - middle)):
        tail = width - 1 - head
        cut = tuple(
            text if cell_len(text) <= width else f"{text[:head]}…{text[len(text) - tail :]}"
            for text in texts
        )
        if len(set(cut)) == len(set(texts)):
            return cut
    # Nothing at either end tells them apart: show where they begin to differ.
    long = [text for text in texts if cell_len(text) > width]
    same = sum(
        1 for _ in takewhile(lambda letters: len(set(letters)) == 1, zip(*long, strict=False))
    )
    begin, room = max(same - 2, HEAD + 1), width - HEAD - 2
    cut = tuple(
        f"{text[:HEAD]}…{text[begin:][:room]}…" if cell_len(text) > width else text
        for text in texts
    )
    return cut if len(set(cut)) == len(set(texts)) else tuple(texts)
