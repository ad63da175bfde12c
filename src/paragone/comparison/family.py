"""Which pairs are tested together, and how their p-values are adjusted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import ndtr

from paragone.comparison import corrections
from paragone.comparison.bonferroni_dunn import bonferroni_dunn
from paragone.comparison.nemenyi import nemenyi
from paragone.comparison.rank_z import rank_z
from paragone.errors import InputError, unknown_name
from paragone.ties import FloatArray

Adjust = Callable[[FloatArray], FloatArray]

ANY_FAMILY: dict[str, Adjust] = {
    "holm": corrections.holm,
    "hochberg": corrections.hochberg,
    "hommel": corrections.hommel,
    "bonferroni": corrections.bonferroni,
    "benjamini-hochberg": corrections.benjamini_hochberg,
}
ALL_PAIRS: dict[str, Adjust] = {"shaffer": corrections.shaffer, "bergmann": corrections.bergmann_hommel}
RANK_TESTS = ("nemenyi", "bonferroni-dunn")
CORRECTIONS = (*ANY_FAMILY, *ALL_PAIRS, *RANK_TESTS)

TITLES = {
    "holm": "Holm",
    "hochberg": "Hochberg",
    "hommel": "Hommel",
    "bonferroni": "Bonferroni",
    "benjamini-hochberg": "Benjamini-Hochberg",
    "shaffer": "Shaffer (static)",
    "bergmann": "Bergmann-Hommel",
    "nemenyi": "Nemenyi",
    "bonferroni-dunn": "Bonferroni-Dunn",
}


@dataclass(frozen=True)
class Family:
    """The tests that are made together.

    Attributes
    ----------
    pairs : tuple of (int, int)
        Positions of the two methods of each test; the first is the reference where there is one.
    reference : int or None
        Position of the reference.
    correction : str
        Name of the correction.
    on_ranks : bool
        Whether average ranks are tested (Nemenyi, Bonferroni-Dunn) rather than differences (Wilcoxon).
    """

    pairs: tuple[tuple[int, int], ...]
    reference: int | None
    correction: str
    on_ranks: bool

    @property
    def title(self) -> str:
        """The correction's name as it is printed."""
        return TITLES[self.correction]

    def adjust(self, p: FloatArray) -> FloatArray:
        """Adjust the raw p-values of Wilcoxon tests."""
        return (ANY_FAMILY | ALL_PAIRS)[self.correction](p)

    def rank_p(self, average_ranks: FloatArray, n_datasets: int) -> tuple[FloatArray, FloatArray]:
        """Return raw and adjusted p of the rank tests."""
        first, second = np.array(self.pairs).T
        raw: FloatArray = 2 * ndtr(-rank_z(average_ranks, n_datasets))[first, second]
        if self.correction == "nemenyi":
            return raw, nemenyi(average_ranks, n_datasets)[first, second]
        return raw, bonferroni_dunn(average_ranks, n_datasets, int(first[0]))[second]


def choose_family(n_methods: int, reference: int | None, correction: str | None) -> Family:
    """Return the family of tests: reference against each, or all pairs.

    Parameters
    ----------
    n_methods : int
        Number of methods.
    reference : int or None
        Position of the reference, or None for all pairs.
    correction : str or None
        Name of the correction; by default Holm with a reference and Shaffer for all pairs.

    Returns
    -------
    Family
        Checked: Shaffer, Bergmann-Hommel and Nemenyi need all pairs, Bonferroni-Dunn a reference.

    Examples
    --------
    >>> choose_family(3, None, None).correction, choose_family(3, 1, None).pairs
    ('shaffer', ((1, 0), (1, 2)))
    """
    default = "shaffer" if reference is None else "holm"
    name = _canonical(correction) if correction is not None else default
    if reference is None:
        pairs = tuple(combinations(range(n_methods), 2))
        if name == "bonferroni-dunn":
            raise InputError("Bonferroni-Dunn compares with one reference: name it, or choose nemenyi")
    else:
        pairs = tuple((reference, other) for other in range(n_methods) if other != reference)
        if name in (*ALL_PAIRS, "nemenyi"):
            raise InputError(f"{TITLES[name]} needs all pairs: leave out the reference, or choose holm")
    if name == "bergmann" and n_methods > 9:
        raise InputError(f"Bergmann-Hommel takes at most 9 methods, not {n_methods}: choose shaffer")
    return Family(pairs, reference, name, name in RANK_TESTS)


def _canonical(name: str) -> str:
    spelt = name.strip().lower().replace("_", "-")
    spelt = {"bergmann-hommel": "bergmann", "fdr": "benjamini-hochberg"}.get(spelt, spelt)
    if spelt not in CORRECTIONS:
        raise unknown_name("correction", name, CORRECTIONS)
    return spelt
