"""PG123: features that seem to be chosen by the target on all rows, held-out ones included.

Choose, among thousands of columns, those that go best with the target over all rows, and every one
of them is stronger than some cut, most by very little: noise above a cut piles up right behind it.
Columns that nobody chose do not do so. Their strength z = sqrt(n - 3) artanh(r) has a normal error
of deviation 1, whatever their true effects are, and what is blurred has no sharp edge.

That is a test with a known null. The sum of a normal error and any independent effect is more
spread than the error alone, in the dispersive order (Lewis and Thompson, Journal of Applied
Probability 18, 1981), so the distance from the weakest column to the middle one is at least as
large, in distribution, as that of equally strong columns. The chance that k columns of one strength
delta have a weakest of at least c and a middle one at most t above it is

    k * integral over x >= c of f(x) (1 - F(x))^(k - 1) P(B >= m - 1) dx,

with B binomial of k - 1 and (F(x + t) - F(x)) / (1 - F(x)), m the middle, and F the distribution of |z|: the chi
distribution with delta as its noncentrality, of one degree of freedom (of K - 1 for K > 2 classes). The greatest over
delta, times the number of labels, must be at most 1e-4. Columns that correlate, given the target, share their errors
and lie closer together: only columns that hardly do are kept, and t is divided by sqrt(1 - r) for their mean r.

Selection on train alone leaves the sharper edge on train, and is told by that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom, ncx2

from paragone.checks.finding import Ledger
from paragone.checks.material import Columns
from paragone.checks.registry import check
from paragone.checks.words import against
from paragone.validation import FloatArray, IntArray

CHOSEN = "features chosen by the target on all rows"
LEVEL = 1e-4
FEWEST_COLUMNS = 10
MOST_COLUMNS = 300
FEWEST_ROWS = 30
WEAKEST = 1.0
"""Columns weaker than that are among those that nobody chose."""
HARDLY_CORRELATED = 0.2
MOST_LABELS = 50
MOST_SIDES = 5


@dataclass(frozen=True)
class Edge:
    """The strengths of columns, in order: how weak the weakest is, and how near the middle one."""

    n_columns: int
    weakest: float
    to_middle: float
    freedom: int
    shared: float = 0.0

    @property
    def chance(self) -> float:
        """The greatest chance of such an edge over all strengths that the columns may have."""
        return edge_chance(
            self.n_columns, self.weakest, self.to_middle / np.sqrt(1 - self.shared), self.freedom
        )


def edge_chance(n_columns: int, weakest: float, to_middle: float, freedom: int = 1) -> float:
    """Bound the chance that columns nobody chose are all so strong, and half of them so nearly as weak as the weakest.

    Parameters
    ----------
    n_columns : int
        How many columns there are.
    weakest : float
        The strength of the weakest.
    to_middle : float
        How far above it the middle one lies.
    freedom : int, default=1
        Degrees of freedom of the strength: one less than there are classes.

    Examples
    --------
    >>> edge_chance(20, 3.0, 0.3) < 1e-4 < edge_chance(20, 3.0, 1.0)
    True
    """
    delta = np.arange(0.0, weakest + to_middle + 6.0, 0.25)[:, None]
    x = np.linspace(weakest, weakest + to_middle + 10.0, 400)[None, :]
    # A noncentrality of 0 is the central distribution, which SciPy's routine takes only nearly so.
    central = np.maximum(delta, 1e-6) ** 2
    below, above = (
        ncx2.cdf(x**2, freedom, central),
        ncx2.cdf((x + to_middle) ** 2, freedom, central),
    )
    left = np.maximum(1.0 - below, 1e-300)
    near = np.clip((above - below) / left, 0.0, 1.0)
    enough = binom.sf((n_columns + 1) // 2 - 2, n_columns - 1, near)
    weakest_here = -np.diff(left**n_columns, axis=1)
    return float((weakest_here * np.maximum(enough[:, :-1], enough[:, 1:])).sum(axis=1).max())


@check(
    "PG123",
    "warning",
    "features that seem to be chosen by the target on all rows",
    "start from all features and choose among them on train inside every split",
    of="columns",
)
def check_chosen(columns: Columns, ledger: Ledger) -> None:
    """Find features that were chosen by the target on all rows."""
    places = columns.columns[columns.is_number][:MOST_COLUMNS]
    block = columns.block(places)
    usable = ~np.isnan(block).any(axis=0) & (np.ptp(block, axis=0) > 0)
    block, places = block[:, usable], places[usable]
    targets = list(_targets(columns))
    ledger.look(CHOSEN, len(places), "columns", against(len(targets)))
    left = columns.dataset.n_features - len(places)
    why = f"numbers without gaps are looked at, and {MOST_COLUMNS} columns"
    ledger.miss(CHOSEN, left, "columns", why)
    if len(places) < FEWEST_COLUMNS or columns.n_rows < FEWEST_ROWS:
        return
    for target, name in targets:
        edge, kept = edge_of(block, target)
        if edge is None or edge.chance * len(targets) > LEVEL:
            continue
        on_train = [
            _to_middle(_strengths(block[side.train][:, kept], target[side.train])[0])
            for side in columns.sides[:MOST_SIDES]
        ]
        if on_train and np.median(on_train) > edge.to_middle:
            ledger.find(
                "PG123",
                f"{edge.n_columns} of {len(places)} columns that hardly correlate are all at"
                f" least {edge.weakest:.2f} standard errors strong against {name}, and half of"
                f" them at most {edge.to_middle:.2f} stronger than the weakest, over all rows;"
                " on train rows alone that edge is blurred to"
                f" {float(np.median(on_train)):.2f}. Chance: {edge.chance * len(targets):.1g}",
                edge.n_columns,
                len(places),
                [columns.dataset.feature_names[j] for j in places[kept]],
            )
            break


def _targets(columns: Columns) -> Iterator[tuple[FloatArray, str]]:
    """Walk over the targets as columns of numbers: each itself, or one column less than there are classes."""
    if columns.dataset.task == "classification":
        values, codes = columns.classes
        if len(values) > 1:
            yield np.eye(len(values))[codes][:, 1:], columns.dataset.target_names[0]
        return
    for target, name in columns.numbers[:MOST_LABELS]:
        if not np.isnan(target).any() and np.ptp(target) > 0:
            yield target[:, None], name


def edge_of(block: FloatArray, target: FloatArray) -> tuple[Edge | None, IntArray]:
    """Return the edge of the columns that hardly correlate given the target, and their places; None without one."""
    n = len(block)
    strengths, left = _strengths(block, target)
    nowhere = np.empty(0, dtype=np.int64)
    if strengths.min() < WEAKEST:
        return None, nowhere
    between = left.T @ left
    kept: list[int] = []
    most = max(HARDLY_CORRELATED, 4 / np.sqrt(n))
    for j in range(len(strengths)):
        if not kept or np.abs(between[j, kept]).max() < most:
            kept.append(j)
    k = len(kept)
    if k < FEWEST_COLUMNS:
        return None, nowhere
    among = between[np.ix_(kept, kept)]
    shared = max(0.0, float((np.abs(among).sum() - k) / (k * (k - 1))))
    chosen = np.array(kept, dtype=np.int64)
    freedom = target.shape[1]
    return (
        Edge(k, float(strengths[kept].min()), _to_middle(strengths[kept]), freedom, shared),
        chosen,
    )


def _to_middle(strengths: FloatArray) -> float:
    ordered = np.sort(strengths)
    return float(ordered[(len(ordered) + 1) // 2 - 1] - ordered[0])


def _strengths(block: FloatArray, target: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the strength of every column, and what the target leaves of it, of length 1."""
    n = len(block)
    centred = block - block.mean(axis=0)
    basis, _ = np.linalg.qr(target - target.mean(axis=0))
    explained = basis.T @ centred
    size = np.maximum(np.einsum("ij,ij->j", centred, centred), 1e-300)
    share = np.clip(np.einsum("ij,ij->j", explained, explained) / size, 0.0, 1 - 1e-12)
    left = centred - basis @ explained
    left = left / np.sqrt(np.maximum(np.einsum("ij,ij->j", left, left), 1e-300))
    if target.shape[1] == 1:
        return np.arctanh(np.sqrt(share)) * np.sqrt(n - 3), left
    # Bartlett's approximation of the likelihood ratio of K means by chi squared.
    return np.sqrt(-(n - 1 - target.shape[1] / 2) * np.log1p(-share)), left
