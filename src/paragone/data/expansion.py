"""References that stand for many datasets."""

from __future__ import annotations

from paragone.data.digen.datasets import PREFIX
from paragone.data.digen.datasets import expand as expand_digen
from paragone.data.evolved import expand as expand_evolved


def expand(reference: str) -> tuple[str, ...]:
    """Return the references that a reference stands for: many for ``digen:all`` or ``paragone-v1:all``, else itself.

    Examples
    --------
    >>> len(expand("digen:all")), expand("iris")
    (40, ('iris',))
    """
    return expand_digen(reference) if reference.startswith(PREFIX) else expand_evolved(reference)
