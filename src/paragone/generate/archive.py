"""EliteArchive: the best formulas found for every ordered pair of methods, one per concept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from paragone.data.digen import Expression
from paragone.generate.concepts import AGREEMENT, Signature, signature
from paragone.ties import least_loss, loss_order
from paragone.validation import FloatArray

BOOK_ROWS = 1024


@dataclass(frozen=True, eq=False)
class ScreenedFormula:
    """A formula with the screened AUROC of every method, and each method's best configuration."""

    expression: Expression
    scores: FloatArray
    configurations: tuple[int, ...]
    generation: int

    def lead(self, pair: tuple[int, int]) -> float:
        """By how much the pair's first method beats its second."""
        return float(self.scores[pair[0]] - self.scores[pair[1]])


class ConceptBook:
    """Concepts met so far, numbered in the order of meeting.

    A formula is of a known concept when some placement of its features agrees with it; see `concepts`. The book looks
    at fewer probe rows than `inspect` does, since every candidate is looked up.

    Parameters
    ----------
    n_features : int
        Features of the formulas.
    """

    def __init__(self, n_features: int) -> None:
        self.n_features = n_features
        self._known: dict[str, int] = {}
        self._labels = np.zeros((0, BOOK_ROWS), dtype=np.float32)
        self._placed: list[int] = []
        self._wide: dict[int, Signature] = {}

    def number(self, expression: Expression) -> int:
        """Return the concept of a formula: a known one that agrees with it, or a new one."""
        text = str(expression)
        if text not in self._known:
            self._known[text] = self._found(signature(expression, n_features=self.n_features, n_rows=BOOK_ROWS))
        return self._known[text]

    def _found(self, mine: Signature) -> int:
        if mine.is_wide:
            alike = (number for number, known in self._wide.items() if known.agreement(mine) >= AGREEMENT)
            concept = next(alike, len(self._placed))
            if concept == len(self._placed):
                self._wide[concept] = mine
                self._add(mine)
            return concept
        shared = np.abs(self._labels @ mine.labels.T.astype(np.float32)).max(axis=1, initial=0) / BOOK_ROWS
        # Only the first placement of a known concept is kept: one with more features cannot be moved onto fewer.
        fits = (shared + 1) / 2 >= AGREEMENT
        for concept in map(int, np.flatnonzero(fits)):
            if self._placed[concept] <= len(mine.placed):
                return concept
        self._add(mine)
        return len(self._placed) - 1

    def _add(self, mine: Signature) -> None:
        self._labels = np.vstack([self._labels, mine.labels[:1].astype(np.float32)])
        self._placed.append(len(mine.placed))


class EliteArchive:
    """Keeps, for every ordered pair of methods, the best candidate of each of the best concepts.

    Parameters
    ----------
    n_methods : int
        Methods; there are ``n_methods * (n_methods - 1)`` ordered pairs.
    concepts : ConceptBook
        Tells concepts apart.
    depth : int, default=6
        How many concepts a pair keeps.
    floor : float, default=0.0
        Leads up to this are not kept.
    """

    def __init__(self, n_methods: int, concepts: ConceptBook, depth: int = 6, floor: float = 0.0) -> None:
        self.pairs = tuple(permutations(range(n_methods), 2))
        self.concepts = concepts
        self.depth = depth
        self.floor = floor
        self.niches: dict[tuple[int, int], dict[int, ScreenedFormula]] = {pair: {} for pair in self.pairs}

    def offer(self, candidate: ScreenedFormula) -> int:
        """Put a candidate into every niche where it is the best; return how many."""
        wanted = [pair for pair in self.pairs if self._could_enter(pair, candidate)]
        if not wanted:
            return 0
        concept = self.concepts.number(candidate.expression)
        return sum(self._enter(pair, concept, candidate) for pair in wanted)

    def promise(self, candidate: ScreenedFormula, weights: Mapping[tuple[int, int], float]) -> float:
        """Return the weight of the pairs whose niches the candidate may enter, whatever its concept."""
        return sum(weight for pair, weight in weights.items() if self._could_enter(pair, candidate))

    def _could_enter(self, pair: tuple[int, int], candidate: ScreenedFormula) -> bool:
        niche, lead = self.niches[pair], candidate.lead(pair)
        if lead <= self.floor:
            return False
        return len(niche) < self.depth or lead > min(kept.lead(pair) for kept in niche.values())

    def _enter(self, pair: tuple[int, int], concept: int, candidate: ScreenedFormula) -> bool:
        niche = self.niches[pair]
        held = niche.get(concept)
        if held is not None and held.lead(pair) >= candidate.lead(pair):
            return False
        niche[concept] = candidate
        if len(niche) > self.depth:
            # Of concepts with equal leads the one that was met last leaves.
            numbers = sorted(niche, reverse=True)
            del niche[numbers[least_loss([niche[number].lead(pair) for number in numbers], size=1.0)]]
        return niche.get(concept) is candidate

    def best(self, pair: tuple[int, int]) -> Sequence[tuple[int, ScreenedFormula]]:
        """Return the pair's concepts and candidates, largest lead first."""
        held = sorted(self.niches[pair].items())
        return [held[place] for place in loss_order([-one.lead(pair) for _, one in held], size=1.0)]

    @property
    def n_filled(self) -> int:
        """Niches that hold a candidate."""
        return sum(map(len, self.niches.values()))

    def covered(self, margin: float) -> tuple[tuple[int, int], ...]:
        """Return the pairs whose best screened lead reaches the margin."""
        return tuple(p for p in self.pairs if any(c.lead(p) >= margin for c in self.niches[p].values()))
