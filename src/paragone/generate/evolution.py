"""Evolution: one search that serves all duels; MAP-Elites over pairs and concepts, or NSGA-III.

The search is a pure function of its spec: every generation draws from a generator seeded by the spec's seed and
the generation's number, and scores come from cells of the store. Stopped and started again, it goes the same way.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from paragone.data.digen import Expression
from paragone.generate.archive import Archive, Candidate, ConceptBook
from paragone.generate.evolve_spec import EvolveSpec
from paragone.generate.laboratory import Laboratory
from paragone.generate.nsga3 import NSGA3Survival, reference_directions
from paragone.generate.random_trees import Grammar
from paragone.generate.rejection import reason_to_reject
from paragone.generate.screening import Screening, candidate_batch, screen_of
from paragone.generate.threshold import Threshold

CROSSOVER_SHARE = 0.7
N_PARTITIONS = 12
MAX_DRAWS = 50
"""Draws a wanted candidate may take before a generation goes on with fewer."""


@dataclass(frozen=True)
class Progress:
    """Where a search stands."""

    generation: int = 0
    seen: int = 0
    rejected: int = 0
    duplicates: int = 0
    fitted: int = 0
    failed: int = 0
    niches: int = 0
    concepts: int = 0
    covered: int = 0
    pairs: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        return (
            f"generation {self.generation}: {self.covered} of {self.pairs} pairs, {self.niches} niches, "
            f"{self.concepts} concepts; {self.seen} seen, {self.rejected} rejected, "
            f"{self.duplicates} duplicates, {self.fitted} fitted, {self.failed} failed"
        )


@dataclass(eq=False)
class Evolution:
    """A running search.

    Parameters
    ----------
    spec : EvolveSpec
        What is searched, and how.
    laboratory : Laboratory
        Where candidates are screened.
    """

    spec: EvolveSpec
    laboratory: Laboratory
    progress: Progress = field(default_factory=Progress)
    curve: list[Progress] = field(default_factory=list)

    def __post_init__(self) -> None:
        spec = self.spec
        self.methods = spec.contenders()
        self.archive = Archive(len(self.methods), ConceptBook(spec.n_features), spec.depth)
        self.grammar = Grammar(spec.n_features, spec.constants, spec.max_size)
        rng = np.random.default_rng([spec.seed, 0])
        self.X = rng.normal(size=(spec.n_train + spec.n_test, spec.n_features))
        self._met: set[bytes] = set()
        self._population: list[Candidate] = []
        self._survival = NSGA3Survival(reference_directions(2, N_PARTITIONS))
        self._begun = time.monotonic()

    def run(self, hours: float | None = None, tell: Callable[[Progress], None] | None = None) -> None:
        """Go on until the spec's generations are done or the hours are over."""
        while self.progress.generation < self.spec.generations:
            if hours is not None and time.monotonic() - self._begun > hours * 3600:
                return
            self.step()
            if tell is not None:
                tell(self.progress)

    def step(self) -> None:
        """Make, screen and archive one generation."""
        generation = self.progress.generation + 1
        rng = np.random.default_rng([self.spec.seed, generation])
        children = self._children(rng)
        candidates = self._screened(generation, children)
        for candidate in candidates:
            self.archive.offer(candidate)
        if self.spec.strategy == "nsga3":
            self._survive(candidates, generation, rng)
        self.progress = replace(
            self.progress,
            generation=generation,
            fitted=self.progress.fitted + len(candidates),
            failed=self.laboratory.n_failed,
            niches=self.archive.n_filled,
            concepts=len({number for niche in self.archive.niches.values() for number in niche}),
            covered=len(self.archive.covered(self.spec.margin)),
            pairs=len(self.archive.pairs),
            seconds=time.monotonic() - self._begun,
        )
        self.curve.append(self.progress)

    # Making children

    def _children(self, rng: np.random.Generator) -> list[tuple[Expression, NDArray[np.uint8]]]:
        children: list[tuple[Expression, NDArray[np.uint8]]] = []
        counts = {"seen": 0, "rejected": 0, "duplicates": 0}
        for _ in range(MAX_DRAWS * self.spec.batch):
            if len(children) == self.spec.batch:
                break
            expression = self._drawn(rng)
            counts["seen"] += 1
            labels, fate = self._labelled(expression)
            if labels is None:
                counts[fate] += 1
            else:
                children.append((expression, labels))
        before = self.progress
        self.progress = replace(before, **{name: getattr(before, name) + n for name, n in counts.items()})
        return children

    def _labelled(self, expression: Expression) -> tuple[NDArray[np.uint8] | None, str]:
        """Return a formula's labels, or the reason why it is no candidate."""
        values = expression.evaluate(self.X)
        if reason_to_reject(values[: self.spec.n_train]) or not np.isfinite(values).all():
            return None, "rejected"
        labels = Threshold.halving(values[: self.spec.n_train]).label(values)
        if min(labels[self.spec.n_train :].mean(), 1 - labels[self.spec.n_train :].mean()) < self.spec.smallest_class:
            return None, "rejected"
        train = labels[: self.spec.n_train]
        key = np.packbits(train ^ train[0]).tobytes()
        if key in self._met:
            return None, "duplicates"
        self._met.add(key)
        return labels, ""

    def _drawn(self, rng: np.random.Generator) -> Expression:
        if rng.random() < self.spec.random_share:
            return self.grammar.half_and_half(rng)
        parents = self._parents(rng)
        if parents is None:
            return self.grammar.half_and_half(rng)
        if rng.random() < CROSSOVER_SHARE:
            return self.grammar.cross(rng, *parents)
        return self.grammar.mutate(rng, parents[0])

    def _parents(self, rng: np.random.Generator) -> tuple[Expression, Expression] | None:
        if self.spec.strategy == "nsga3":
            if not self._population:
                return None
            first, second = (self._population[int(rng.integers(len(self._population)))] for _ in range(2))
            return first.expression, second.expression
        return self._elites(rng)

    def _elites(self, rng: np.random.Generator) -> tuple[Expression, Expression] | None:
        """Draw an elite of a pair, open pairs twice as often, and a mate from anywhere in the archive."""
        filled = [pair for pair in self.archive.pairs if self.archive.niches[pair]]
        if not filled:
            return None
        done = set(self.archive.covered(self.spec.margin))
        weights = np.array([1.0 if pair in done else 2.0 for pair in filled])
        drawn = []
        for share in (weights / weights.sum(), None):
            pair = filled[int(rng.choice(len(filled), p=share))]
            elites = self.archive.best(pair)
            drawn.append(elites[int(rng.integers(len(elites)))][1].expression)
        return drawn[0], drawn[1]

    # Screening

    def _screened(self, generation: int, children: Sequence[tuple[Expression, NDArray[np.uint8]]]) -> list[Candidate]:
        if not children:
            return []
        size = self.spec.chunk
        chunks = [children[begin : begin + size] for begin in range(0, len(children), size)]
        batches = [
            candidate_batch(f"batch {number}", self.X, [labels for _, labels in chunk], self.spec.n_train)
            for number, chunk in enumerate(chunks)
        ]
        screens = {method.name: screen_of(method) for method in self.methods}
        name = f"{self.spec.name} generation {generation}"
        found = self.laboratory.run(name, batches, screens, Screening(), seed=self.spec.seed)
        candidates = []
        for batch, chunk in zip(batches, chunks, strict=True):
            places = [(batch.name, method.name) for method in self.methods]
            if all(place in found for place in places):
                tables = [np.asarray(found[place].arrays["auroc"]) for place in places]
                candidates += [_candidate(e, tables, row, generation) for row, (e, _) in enumerate(chunk)]
        return candidates

    def _survive(self, candidates: Sequence[Candidate], generation: int, rng: np.random.Generator) -> None:
        """Choose the next parents by NSGA-III, for a pair that is still open, in turn."""
        done = set(self.archive.covered(self.spec.margin))
        open_pairs = [pair for pair in self.archive.pairs if pair not in done] or list(self.archive.pairs)
        pair = open_pairs[generation % len(open_pairs)]
        pool = [*self._population, *candidates]
        if pool:
            objectives = np.array([[-c.lead(pair), -float(np.std(c.scores))] for c in pool])
            kept = self._survival.select(objectives, self.spec.batch, rng)
            self._population = [pool[position] for position in sorted(kept.tolist())]


def _candidate(expression: Expression, tables: Sequence[NDArray[np.float64]], row: int, generation: int) -> Candidate:
    scores = np.array([table[row].max() for table in tables])
    return Candidate(expression, scores, tuple(int(table[row].argmax()) for table in tables), generation)
