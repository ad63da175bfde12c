"""Evolution: one search that serves all duels; MAP-Elites over pairs and concepts, or NSGA-III.

A generation is looked over by cheap scouts; what would enter an archive of theirs is screened with the methods
themselves; what leads there is proven on fresh samples. The search is a pure function of its spec: every generation
draws from a generator seeded by the spec's seed and the generation's number, and scores come from cells of the
store. Stopped and started again, it goes the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from paragone.data.digen import Expression
from paragone.generate.archive import Archive, Candidate, ConceptBook
from paragone.generate.breeding import Breeder, Child
from paragone.generate.evolve_spec import EvolveSpec
from paragone.generate.laboratory import Laboratory
from paragone.generate.nsga3 import NSGA3Survival, reference_directions
from paragone.generate.progress import Progress, Stopwatch
from paragone.generate.proving import Prover
from paragone.generate.screening import Screening, candidate_batch, scout_of, screen_of
from paragone.ties import least_loss
from paragone.validation import FloatArray

N_PARTITIONS = 12
OPEN_WEIGHT = 4.0
"""How much more often parents come from a pair that is not proven yet."""


@dataclass(eq=False)
class Evolution:
    """A running search.

    Parameters
    ----------
    spec : EvolveSpec
        What is searched, and how.
    laboratory : Laboratory
        Where candidates are scored.
    stopwatch : Stopwatch
        Knows the time that the search has taken, earlier runs included.
    focus : str, optional
        Only pairs in which this method stands count.
    goal : {"both", "wins", "loses"}, default="both"
        What the method in focus is to do.
    """

    spec: EvolveSpec
    laboratory: Laboratory
    stopwatch: Stopwatch = field(default_factory=Stopwatch)
    focus: str | None = None
    goal: str = "both"
    progress: Progress = field(default_factory=Progress)
    curve: list[Progress] = field(default_factory=list)

    def __post_init__(self) -> None:
        spec = self.spec
        self.methods = spec.contenders()
        concepts = ConceptBook(spec.n_features)
        self.archive = Archive(len(self.methods), concepts, spec.depth)
        self.scouting = Archive(len(self.methods), concepts, spec.depth)
        self.X = np.random.default_rng([spec.seed, 0]).normal(size=(spec.n_train + spec.n_test, spec.n_features))
        self.breeder = Breeder(spec, self.X)
        self.prover = Prover(spec, self.methods, self.laboratory, self._wanted())
        self._population: list[Candidate] = []
        self._survival = NSGA3Survival(reference_directions(2, N_PARTITIONS))

    def run(self, tell: Callable[[Progress], None], over: Callable[[], bool]) -> None:
        """Go on until the spec's generations are done or the time is over."""
        while self.progress.generation < self.spec.generations and not over():
            self.step(over)
            tell(self.progress)

    def step(self, over: Callable[[], bool] = lambda: False) -> None:
        """Make, scout, screen, archive and prove one generation."""
        generation = self.progress.generation + 1
        rng = np.random.default_rng([self.spec.seed, generation])
        children = self.breeder.children(rng, self._parents)
        candidates = self._screened(generation, children)
        for candidate in candidates:
            self.archive.offer(candidate)
        if self.spec.strategy == "nsga3":
            self._survive(candidates, generation, rng)
        self.prover.advance(self.archive, self.spec.races, over)
        before = self.progress
        self.progress = replace(
            before,
            generation=generation,
            scouted=before.scouted + len(children),
            fitted=before.fitted + len(candidates),
        )
        self.note()

    def prove_rest(self, tell: Callable[[Progress], None], over: Callable[[], bool]) -> None:
        """Race what the archive still promises."""
        for _ in range(self.spec.finalists):
            if over() or not self.prover.advance(self.archive, 1, over):
                return
            self.note()
            tell(self.progress)

    def note(self) -> None:
        """Count where the search stands, and keep it on the curve."""
        prover = self.prover
        moment = (self.progress.generation, prover.n_raced)
        self.progress = replace(
            self.progress,
            **self.breeder.counts,
            failed=self.laboratory.n_failed,
            niches=self.archive.n_filled,
            concepts=len({number for niche in self.archive.niches.values() for number in niche}),
            covered=len(set(self.archive.covered(self.spec.margin)) & set(prover.wanted)),
            raced=prover.n_raced,
            measured=len(prover.measured),
            proven=len(prover.proven),
            proven_concepts=prover.n_concepts,
            pairs=len(prover.wanted),
            seconds=self.stopwatch.at(moment),
        )
        self.curve.append(self.progress)

    def _wanted(self) -> tuple[tuple[int, int], ...]:
        names = [method.name for method in self.methods]

        def counts(up: str, down: str) -> bool:
            wins, loses = up == self.focus, down == self.focus
            return self.focus is None or (wins and self.goal != "loses") or (loses and self.goal != "wins")

        return tuple(pair for pair in self.archive.pairs if counts(names[pair[0]], names[pair[1]]))

    def _weights(self) -> dict[tuple[int, int], float]:
        return {pair: 1.0 if pair in self.prover.proven else OPEN_WEIGHT for pair in self.prover.wanted}

    # Parents

    def _parents(self, rng: np.random.Generator) -> tuple[Expression, Expression] | None:
        if self.spec.strategy == "nsga3":
            if not self._population:
                return None
            first, second = (self._population[int(rng.integers(len(self._population)))] for _ in range(2))
            return first.expression, second.expression
        return self._elites(rng)

    def _elites(self, rng: np.random.Generator) -> tuple[Expression, Expression] | None:
        """Draw an elite of a wanted pair, more often of one that is open, and a mate from anywhere in the archive."""
        niches = self.archive.niches
        wanted = [pair for pair in self.prover.wanted if niches[pair]]
        if not wanted:
            return None
        weights = np.array([self._weights()[pair] for pair in wanted])
        pair = wanted[int(rng.choice(len(wanted), p=weights / weights.sum()))]
        filled = [pair for pair in self.archive.pairs if niches[pair]]
        mate = filled[int(rng.integers(len(filled)))]
        drawn = []
        for elites in (self.archive.best(pair), self.archive.best(mate)):
            drawn.append(elites[int(rng.integers(len(elites)))][1].expression)
        return drawn[0], drawn[1]

    def _survive(self, candidates: Sequence[Candidate], generation: int, rng: np.random.Generator) -> None:
        """Choose the next parents by NSGA-III, for a pair that is still open, in turn."""
        open_pairs = [pair for pair in self.prover.wanted if pair not in self.prover.proven] or self.prover.wanted
        pair = open_pairs[generation % len(open_pairs)]
        pool = [*self._population, *candidates]
        if pool:
            objectives = np.array([[-c.lead(pair), -float(np.std(c.scores))] for c in pool])
            kept = self._survival.select(objectives, self.spec.batch, rng)
            self._population = [pool[position] for position in sorted(kept.tolist())]

    # Scores

    def _screened(self, generation: int, children: Sequence[Child]) -> list[Candidate]:
        """Scout all children, and score those worth it with the methods that were only stood in for."""
        scouts = dict(scout_of(method) for method in self.methods)
        scouted = self._scores(f"generation {generation} scouted", children, scouts)
        names = [scout_of(method)[0] for method in self.methods]
        found = [(child, _candidate(child, tables, names, generation), tables) for child, tables in scouted]
        dear = {method.name: screen_of(method) for method in self.methods if method.scout}
        if not dear:
            return [candidate for _, candidate, _ in found]
        worth = self._worth([candidate for _, candidate, _ in found])
        chosen = {str(found[position][0].expression): found[position][2] for position in worth}
        screened = self._scores(f"generation {generation}", [found[position][0] for position in worth], dear)
        own = [method.name for method in self.methods]
        return [
            _candidate(child, {**chosen[str(child.expression)], **tables}, own, generation)
            for child, tables in screened
        ]

    def _worth(self, scouted: Sequence[Candidate]) -> list[int]:
        """Return which candidates get real fits: those that enter the scouts' archive, the most promising first."""
        promises = [self.scouting.promise(candidate, self._weights()) for candidate in scouted]
        order = sorted(range(len(scouted)), key=lambda position: (-promises[position], position))
        worth: list[int] = []
        for position in order:
            if len(worth) < self.spec.screened and self.scouting.offer(scouted[position]):
                worth.append(position)
        return worth

    def _scores(
        self, step: str, children: Sequence[Child], screens: Mapping[str, Any]
    ) -> list[tuple[Child, dict[str, FloatArray]]]:
        """Return children with the AUROC of each configuration of each screen; one with a failed cell is left out."""
        if not children:
            return []
        size = self.spec.chunk
        chunks = [children[begin : begin + size] for begin in range(0, len(children), size)]
        batches = [
            candidate_batch(f"batch {number}", self.X, [child.labels for child in chunk], self.spec.n_train)
            for number, chunk in enumerate(chunks)
        ]
        # Screening only steers the search; whatever is claimed is measured again, every cell by itself.
        found = self.laboratory.run(
            f"{self.spec.name} {step}", batches, screens, Screening(), seed=self.spec.seed, isolation="worker"
        )
        scored = []
        for batch, chunk in zip(batches, chunks, strict=True):
            if all((batch.name, name) in found for name in screens):
                tables = {name: np.asarray(found[batch.name, name].arrays["auroc"]) for name in screens}
                scored += [(child, {n: tables[n][row] for n in screens}) for row, child in enumerate(chunk)]
        return scored


def _candidate(child: Child, tables: Mapping[str, FloatArray], names: Sequence[str], generation: int) -> Candidate:
    scores = np.array([tables[name].max() for name in names])
    return Candidate(child.expression, scores, tuple(least_loss(-tables[name], size=1.0) for name in names), generation)
