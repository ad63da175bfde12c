"""PG141: methods that know the true labels although they were trained on permuted ones.

The labels of train are permuted among its rows, and renamed: the classes exchange their names, so
do the labels of multi-label data and the items of lists; numbers are turned upside down in their
range. Nothing that a method is handed then tells anything about the true labels of the held-out
rows, and whatever its predictions still have in common with them came from elsewhere: a file, an
import, another process, a cache, the network, a table in its source.

What chance gives is not found by permuting the held-out labels: predictions are alike where rows
are alike, and so are labels, so that a classifier of noise may agree with nearly all true labels,
or with nearly none. Instead every permutation is trained on twice, under two namings. A method that
learns from what it is handed, and treats the names alike, gives twice the same answers under other
names: it agrees with the true labels as well as with the labels under exchanged names, exactly if
it draws nothing, and in law if it does. The difference between the two agreements is thus as likely
to be d as -d, for every permutation, and the exact test flips the signs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit
from scipy.stats import rankdata

from paragone.checks.changed_data import TargetNames, agreement, exchanged, roles
from paragone.checks.finding import Ledger
from paragone.checks.registry import check
from paragone.checks.trial import Trial
from paragone.checks.words import counted
from paragone.lab.protocol import RowAnswers
from paragone.ties import slack_of
from paragone.validation import FloatArray, IntArray

PERMUTED = "inverted canary: trained on permuted labels"
LEVEL = 0.005
"""How often an audit may blame an honest method: over all cells that it looks at together (Bonferroni)."""
LEAST = 0.25
"""Less than this share of what full knowledge gives is not blamed. Rules for ties, weights of classes and models that
may only rise do not treat all names alike; in simulations that came to more in two of ten thousand."""
FIRST_PAIRS = 2
"""After so many pairs of fits a method that shows less than the least share is let go."""
MOST_PAIRS = 20


@check(
    "PG141",
    "error",
    "a method that knows true labels although it was trained on permuted ones",
    "find out where it has them from; acknowledge a rule that needs no labels, and say so beside its scores",
    of="method",
)
def check_foreknowledge(trial: Trial, ledger: Ledger) -> bool:
    """Train on permuted and renamed labels, in pairs, and compare the answers with the true held-out labels.

    Returns
    -------
    bool
        Whether it could be judged.
    """
    names = TargetNames.of(trial.dataset)
    truth = KnownTruth.of(names, trial.dataset.y[trial.split.test])
    needed = pairs_needed(trial.n_cells)
    if truth is None:
        return trial.miss(PERMUTED, "too few different held-out targets to tell")
    if needed > MOST_PAIRS:
        return trial.miss(PERMUTED, "too many cells are looked at to blame one; look at fewer")
    random = np.random.default_rng([trial.seed, 1])
    shares: list[FloatArray] = []
    answers: list[RowAnswers] = []
    while len(shares) < needed:
        pair = _pair(trial, names, random, 2 * len(shares) + 1)
        if isinstance(pair, str):
            return trial.miss(PERMUTED, pair)
        share = truth.shares(pair)
        if not len(share) or not np.isfinite(share).all():
            return trial.miss(PERMUTED, "nothing finite is kept of its predictions")
        shares.append(share)
        answers += pair.answers
        if len(shares) >= FIRST_PAIRS and truth.known(np.array(shares)) < LEAST:
            break
    trial.needs_no_labels = _are_equal(answers)
    if len(shares) == needed:
        _judge(trial, truth, np.array(shares))
    return True


def _judge(trial: Trial, truth: KnownTruth, shares: FloatArray) -> None:
    known, p = truth.known(shares), truth.p_value(shares)
    if known < LEAST or p > LEVEL / trial.n_cells:
        return
    ways = "a file, an import, a process, a cache, the network, or its source may tell them"
    if trial.plain.opened:
        ways = f"it reads {', '.join(trial.plain.opened[:3])}"
    elif trial.needs_no_labels:
        ways = (
            "its predictions do not change with the labels that it is handed: it has a rule that"
            " needs none, or a table"
        )
    trial.find(
        "PG141",
        f"trained on permuted labels it still knows {known:.0%} of the true labels of the held-out"
        " rows, where 100% is all and 0% is chance (exact test over"
        f" {counted(len(shares), 'pairs of fits')}, p = {p:.2g})",
        (trial.where, ways),
    )


def pairs_needed(n_cells: int) -> int:
    """Return how many pairs of fits can give a p-value low enough to blame one of so many cells.

    Examples
    --------
    >>> pairs_needed(1), pairs_needed(10)
    (8, 11)
    """
    return max(FIRST_PAIRS, math.ceil(math.log2(n_cells / LEVEL)))


def sign_flip_p(values: NDArray[np.float64]) -> float:
    """Return the exact p-value of the greatest of the columns' sums, when every row is as likely as its negative.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns)
        At most 20 rows; columns of one row keep together.

    Returns
    -------
    float
        The share of the 2^n_rows ways to choose signs that give as great a sum in any column.

    Examples
    --------
    >>> sign_flip_p(np.array([[1.0], [2.0], [3.0]])), sign_flip_p(np.zeros((3, 1)))
    (0.125, 1.0)
    """
    sums = np.zeros((1, values.shape[1]))
    for row in values:
        sums = np.concatenate([sums + row, sums - row])
    greatest = sums.max(axis=1)
    # The first of all ways is the one that was seen.
    slack = slack_of(float(greatest[0]), 1.0)
    return float(np.mean(greatest >= greatest[0] - slack))


@dataclass(frozen=True, eq=False)
class PermutedPair:
    """Two fits on one permutation of the labels, under two namings, and what they said of the held-out rows."""

    first: IntArray
    second: IntArray
    answers: tuple[RowAnswers, RowAnswers]


def _pair(
    trial: Trial, names: TargetNames, random: np.random.Generator, draw: int
) -> PermutedPair | str:
    """Train twice on one permutation of the labels; say why where that cannot be done."""
    dataset = trial.dataset
    # Held-out labels are exchanged too: what the engine keeps of them is not the truth.
    mixed = dataset.y[exchanged(dataset.n_samples, roles(dataset, trial.split), random)]
    namings = names.draw(random)
    found: list[RowAnswers] = []
    for number, order in enumerate(namings):
        renamed = replace(dataset, y=names.renamed(mixed, order))
        # A seed that was set would start every fit alike, and a net that learns little then says
        # the same of a row whatever it is trained on: names are treated alike over all seeds alone.
        run = trial.run(dataset=renamed, draw=draw + number, reseed=True)
        if not run.done:
            return f"trained on permuted labels: {run.why_not}"
        answers = trial.bench.answers(trial.cell, run)
        if answers is None or not answers.of_rows():
            return "its protocol keeps no predictions of single rows"
        found.append(answers)
    return PermutedPair(*namings, (found[0], found[1]))


@dataclass(frozen=True, eq=False)
class KnownTruth:
    """The true targets of the held-out rows, and how answers are compared with them."""

    names: TargetNames
    y: Any

    @classmethod
    def of(cls, names: TargetNames, y: Any) -> KnownTruth | None:
        """Take the targets; None where they are all alike."""
        truth = names.truth(y)
        return None if names.count < 2 or agreement(truth, truth) <= 0 else cls(names, y)

    @property
    def is_of_numbers(self) -> bool:
        """Whether the targets are numbers."""
        return self.names.task == "regression"

    def known(self, shares: FloatArray) -> float:
        """Return how much of the truth several pairs know together.

        Of classes and their probabilities it is the one that knows more. Numbers must agree by
        value and by rank: an honest model with an exponential in it may predict a few enormous
        values, and a nearly constant one has ranks.
        """
        means = shares.mean(axis=0)
        return float(means.min() if self.is_of_numbers else means.max())

    def p_value(self, shares: FloatArray) -> float:
        """Return the exact p-value of what several pairs know."""
        if self.is_of_numbers:
            return max(sign_flip_p(column[:, None]) for column in shares.T)
        return sign_flip_p(shares)

    def shares(self, pair: PermutedPair) -> FloatArray:
        """Return how much of the truth a pair knows: 1 for all of it, 0 for chance; one number per kind of answer."""
        # The naming of the second fit as a renaming of that of the first.
        onward = pair.second[np.argsort(pair.first)]
        first, second = (self._kinds(answers) for answers in pair.answers)
        kinds = enumerate(zip(first, second, strict=True))
        return np.array(
            [self._share(*columns, onward, by_rank=bool(kind)) for kind, columns in kinds]
        )

    def _share(self, first: Any, second: Any, onward: IntArray, *, by_rank: bool) -> float:
        orders = (np.arange(self.names.count), onward, np.argsort(onward))
        own, forth, back = (
            self._truth(self.names.renamed(self.y, order), by_rank=by_rank) for order in orders
        )
        perfect = own
        if self.is_of_numbers:
            # In units of their variance, so that targets count alike.
            variance = own.var(axis=0)
            weights = np.divide(1.0, variance, out=np.zeros_like(variance), where=variance > 0)
            own, forth, back = own * weights, forth * weights, back * weights

        def difference(one: Any, other: Any) -> float:
            agreed = agreement(one, own) + agreement(other, own)
            return agreed - agreement(one, back) - agreement(other, forth)

        whole = difference(perfect, perfect)
        # Labels that are all alike under both names tell nothing.
        return (
            0.0
            if whole <= slack_of(agreement(perfect, own), 1.0)
            else difference(first, second) / whole
        )

    def _truth(self, y: Any, *, by_rank: bool) -> Any:
        truth = self.names.truth(y)
        return rankdata(truth, axis=0) if by_rank and self.is_of_numbers else truth

    def _kinds(self, answers: RowAnswers) -> list[Any]:
        """Return answers in the columns of the truth, one entry per kind of answer; numbers by value, then by rank."""
        if answers.lists is not None:
            return [self._listed(answers.lists)]
        found: list[Any] = []
        if answers.predicted is not None:
            found.append(self.names.truth(np.asarray(answers.predicted)))
        if self.is_of_numbers:
            return [
                each
                for one in found
                for each in (np.clip(one, *self.names.classes), rankdata(one, axis=0))
            ]
        if answers.scores is not None:
            found.append(
                self._scored(np.asarray(answers.scores, dtype=np.float64), answers.classes)
            )
        return found

    def _scored(self, scores: FloatArray, classes: NDArray[Any] | None) -> FloatArray:
        if not ((scores >= 0) & (scores <= 1)).all():
            scores = expit(scores)
        if classes is None or self.names.task != "classification":
            return scores.reshape(len(scores), -1)
        if scores.ndim == 1 or scores.shape[1] == 1:
            scores = np.column_stack([1.0 - scores.ravel(), scores.ravel()])
        found = np.zeros((len(scores), self.names.count))
        for column, name in zip(scores.T, classes, strict=False):
            found[:, self.names.classes == name] = column[:, None]
        return found

    def _listed(self, lists: NDArray[Any]) -> Any:
        """Mark as many items of every list as its row truly has."""
        places = np.arange(lists.shape[1])
        taken = (places < np.diff(self.y.indptr)[:, None]) & (lists >= 0)
        rows = np.repeat(np.arange(len(lists)), taken.sum(axis=1))
        return sparse.csr_array((np.ones(len(rows)), (rows, lists[taken])), shape=self.y.shape)


def _are_equal(answers: list[RowAnswers]) -> bool:
    """Say whether what was learnt is the same in all runs; where that is not told, whether all answers are."""
    first, *others = (one.learnt or one.of_rows() for one in answers)
    return all(np.array_equal(first[name], other[name]) for other in others for name in first)
