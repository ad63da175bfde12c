"""Archive: the best candidates found for every ordered pair of methods, one a concept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import permutations

from paragone.data.digen import Expression
from paragone.generate.concepts import AGREEMENT, Signature, signature
from paragone.validation import FloatArray


@dataclass(frozen=True, eq=False)
class Candidate:
    """A formula with the screened AUROC of every method, and each method's best configuration."""

    expression: Expression
    scores: FloatArray
    configurations: tuple[int, ...]
    generation: int

    def lead(self, pair: tuple[int, int]) -> float:
        """By how much the pair's first method beats its second."""
        return float(self.scores[pair[0]] - self.scores[pair[1]])


@dataclass
class ConceptBook:
    """Concepts met so far, numbered in the order of meeting."""

    n_features: int
    signatures: list[Signature] = field(default_factory=list)
    _known: dict[str, int] = field(default_factory=dict)

    def number(self, expression: Expression) -> int:
        """Return the concept of a formula: a known one that agrees with it, or a new one."""
        text = str(expression)
        if text not in self._known:
            mine = signature(expression, n_features=self.n_features)
            found = (i for i, known in enumerate(self.signatures) if known.agreement(mine) >= AGREEMENT)
            concept = next(found, len(self.signatures))
            if concept == len(self.signatures):
                self.signatures.append(mine)
            self._known[text] = concept
        return self._known[text]


class Archive:
    """Keeps, for every ordered pair of methods, the best candidate of each of the best concepts.

    Parameters
    ----------
    n_methods : int
        Methods; there are ``n_methods * (n_methods - 1)`` ordered pairs.
    concepts : ConceptBook
        Tells concepts apart.
    depth : int, default=6
        How many concepts a pair keeps.
    floor : float, default=0.02
        A lead below this is not kept.
    """

    def __init__(self, n_methods: int, concepts: ConceptBook, depth: int = 6, floor: float = 0.02) -> None:
        self.pairs = tuple(permutations(range(n_methods), 2))
        self.concepts = concepts
        self.depth = depth
        self.floor = floor
        self.niches: dict[tuple[int, int], dict[int, Candidate]] = {pair: {} for pair in self.pairs}

    def offer(self, candidate: Candidate) -> int:
        """Put a candidate into every niche where it is the best; return how many."""
        wanted = [pair for pair in self.pairs if self._could_enter(pair, candidate)]
        if not wanted:
            return 0
        concept = self.concepts.number(candidate.expression)
        return sum(self._enter(pair, concept, candidate) for pair in wanted)

    def _could_enter(self, pair: tuple[int, int], candidate: Candidate) -> bool:
        niche, lead = self.niches[pair], candidate.lead(pair)
        if lead < self.floor:
            return False
        return len(niche) < self.depth or lead > min(kept.lead(pair) for kept in niche.values())

    def _enter(self, pair: tuple[int, int], concept: int, candidate: Candidate) -> bool:
        niche = self.niches[pair]
        held = niche.get(concept)
        if held is not None and held.lead(pair) >= candidate.lead(pair):
            return False
        niche[concept] = candidate
        if len(niche) > self.depth:
            del niche[min(niche, key=lambda number: (niche[number].lead(pair), -number))]
        return niche.get(concept) is candidate

    def best(self, pair: tuple[int, int]) -> Sequence[tuple[int, Candidate]]:
        """Return the pair's concepts and candidates, largest lead first."""
        return sorted(self.niches[pair].items(), key=lambda item: (-item[1].lead(pair), item[0]))

    @property
    def n_filled(self) -> int:
        """Niches that hold a candidate."""
        return sum(map(len, self.niches.values()))

    def covered(self, margin: float) -> tuple[tuple[int, int], ...]:
        """Return the pairs whose best screened lead reaches the margin."""
        return tuple(p for p in self.pairs if any(c.lead(p) >= margin for c in self.niches[p].values()))
