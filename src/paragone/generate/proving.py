"""Proving: candidates are raced on a few fresh samples, and measured in full where that may add a pair or a concept.

A race looks at the methods of the pairs a candidate may prove, on samples of its own. It is won when the bound that the
full measurement would have, if the race's mean and spread held, reaches the margin; a candidate that loses is
dropped at once. What counts is the full measurement, on samples that nothing was chosen by.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paragone.generate.collection import GeneratedSet
from paragone.generate.concepts import BOOK_ROWS, EliteArchive, ScreenedFormula, Signature, signature
from paragone.generate.duel import DuelSettings
from paragone.generate.evidence import CONFIDENCE, Evidence, measure
from paragone.generate.evolve_spec import EvolveSpec
from paragone.generate.laboratory import Holdout, Laboratory, parted
from paragone.generate.methods import Contender
from paragone.generate.sampling import GeneratorSpec
from paragone.stats import tested_mean

TUNING_SEED = 500_000
"""Samples for tuning have seeds of their own, apart from those of searches, races and evidence."""
GIVE_UP = 0.1
"""A trial that falls further behind the best is not tried on all folds."""


def tuned(
    spec: EvolveSpec,
    laboratory: Laboratory,
    generator: GeneratorSpec,
    screened: Sequence[tuple[Contender, Mapping[str, Any]]],
) -> list[tuple[Contender, Mapping[str, Any]]]:
    """Tune every method that has a space on a sample that is used for nothing else; the portfolio is tried first."""
    sample = generator.sample(spec.n_train + spec.n_test, TUNING_SEED + spec.seed, name=generator.expression.md5)
    tuners = {}
    for method, _ in screened:
        if method.space:
            tuner = DuelSettings(folds=spec.folds, tolerance=GIVE_UP).tuner(method, spec.seed, spec.trials)
            tuner["params"]["first"] = [_within(params, method.space) for params in method.portfolio]
            tuners[method.name] = tuner
    if not tuners:
        return list(screened)
    found = laboratory.run(
        f"{spec.name} tunes {generator.expression.md5}",
        [parted(sample, np.arange(spec.n_train))],
        tuners,
        Holdout(keep_values=False),
        seed=spec.seed,
    )
    chosen = {method: fitted.info["params"] for (_, method), fitted in found.items()}
    return [(method, chosen.get(method.name, params)) for method, params in screened]


def _within(params: Mapping[str, Any], space: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that the space draws; others of a portfolio change the cost, not the outcome."""
    return {name: value for name, value in params.items() if name in space}


RACE_SEED = 2_000_000
"""Samples of races have seeds of their own: the evidence is not measured on rows that chose what is measured."""
NOVEL = 0.95
"""A concept is worth a measurement of its own when it agrees with no proven one beyond this."""

OrderedPair = tuple[int, int]
Configured = list[tuple[Contender, Mapping[str, Any]]]


@dataclass(frozen=True, eq=False)
class Hope:
    """A candidate and the pairs that it may prove."""

    candidate: ScreenedFormula
    concept: int
    pairs: tuple[OrderedPair, ...]


class Prover:
    """Chooses what is measured, measures it, and knows what is proven.

    Parameters
    ----------
    spec : EvolveSpec
        Sizes and the margin.
    methods : sequence of Contender
        The methods, in the order of the candidates' scores.
    laboratory : Laboratory
        Where the fits run.
    wanted : sequence of pairs
        The ordered pairs that count.
    """

    def __init__(
        self, spec: EvolveSpec, methods: Sequence[Contender], laboratory: Laboratory, wanted: Sequence[OrderedPair]
    ) -> None:
        self.spec, self.methods, self.laboratory = spec, methods, laboratory
        self.wanted = tuple(wanted)
        self.measured: list[GeneratedSet] = []
        self.proven: Counter[OrderedPair] = Counter()
        self.n_raced = 0
        self._bars = dict.fromkeys(self.wanted, spec.margin)
        self._tried: set[str] = set()
        self._known: list[Signature] = []
        self._stale: set[int] = set()

    @property
    def n_concepts(self) -> int:
        """Concepts that prove some pair and agree with no other that does."""
        return len(self._known)

    def advance(self, archive: EliteArchive, n_races: int, over: Callable[[], bool]) -> int:
        """Race the candidates that may add most, pairs and concepts in turn; return how many were raced."""
        for position in range(n_races):
            choices = (self._by_pairs, self._by_concept)
            # In turn, so that neither open pairs nor new concepts use up all races.
            first, second = choices if (self.n_raced + position) % 2 == 0 else choices[::-1]
            hope = None if over() else first(archive) or second(archive)
            if hope is None:
                return position
            self._prove(hope)
        return n_races

    # Choosing

    def _hopes(self, archive: EliteArchive) -> list[Hope]:
        """Return the untried candidates with the pairs on which they lead by more than has failed before."""
        found: dict[str, Hope] = {}
        for pair in self.wanted:
            for concept, candidate in archive.best(pair):
                text = str(candidate.expression)
                if text not in self._tried and text not in found:
                    pairs = tuple(p for p in self.wanted if candidate.lead(p) > self._bars[p])
                    if pairs:
                        found[text] = Hope(candidate, concept, pairs)
        return list(found.values())

    def _by_pairs(self, archive: EliteArchive) -> Hope | None:
        """Return the candidate that may prove most open pairs."""
        hopes = [(hope, [p for p in hope.pairs if p not in self.proven]) for hope in self._hopes(archive)]
        useful = [(hope, pairs) for hope, pairs in hopes if pairs]
        if not useful:
            return None
        hope, pairs = max(useful, key=lambda item: (len(item[1]), sum(item[0].candidate.lead(p) for p in item[1])))
        return Hope(hope.candidate, hope.concept, tuple(pairs))

    def _by_concept(self, archive: EliteArchive) -> Hope | None:
        """Return the candidate of a new concept that may prove the pairs that the fewest datasets prove."""

        def value(hope: Hope) -> float:
            return sum(1 / (1 + self.proven[pair]) ** 2 for pair in hope.pairs)

        if self.n_concepts >= self.spec.concepts:
            return None
        for hope in sorted(self._hopes(archive), key=lambda hope: -value(hope)):
            if hope.concept not in self._stale:
                if self._is_novel(self._signature(hope.candidate)):
                    return hope
                self._stale.add(hope.concept)
        return None

    def _signature(self, candidate: ScreenedFormula) -> Signature:
        return signature(candidate.expression, n_features=self.spec.n_features, n_rows=BOOK_ROWS)

    def _is_novel(self, mine: Signature) -> bool:
        return all(known.agreement(mine) < NOVEL for known in self._known)

    # Measuring

    def _prove(self, hope: Hope) -> None:
        self._tried.add(str(hope.candidate.expression))
        self.n_raced += 1
        generator = GeneratorSpec(str(hope.candidate.expression), self.spec.n_features)
        screened = [
            (method, method.portfolio[position])
            for method, position in zip(self.methods, hope.candidate.configurations, strict=True)
        ]
        if not self._wins_race(hope, generator, screened):
            return
        configured = tuned(self.spec, self.laboratory, generator, screened) if self.spec.trials else screened
        sizes = {"n_fresh": self.spec.evidence_rows, "n_seeds": self.spec.evidence_seeds}
        evidence = self._evidence(generator, configured, **sizes)
        if evidence is not None:
            self._record(hope, generator, evidence, {m.name: dict(params) for m, params in configured})

    def _wins_race(self, hope: Hope, generator: GeneratorSpec, screened: Configured) -> bool:
        racing = sorted({method for pair in hope.pairs for method in pair})
        sizes = {"n_fresh": self.spec.n_test, "n_seeds": self.spec.race_seeds, "first_seed": RACE_SEED}
        evidence = self._evidence(generator, [screened[i] for i in racing], **sizes)
        if evidence is None:
            return False
        won = [pair for pair in hope.pairs if self._foreseen(evidence, pair) >= self.spec.margin]
        self._raise_bars(hope, set(hope.pairs) - set(won))
        return bool(won)

    def _foreseen(self, race: Evidence, pair: OrderedPair) -> float:
        """Return the lower bound that the full measurement has if the race's mean and spread hold."""
        leads, n = race.leads(*(self.methods[i].name for i in pair)), self.spec.evidence_seeds
        error = float(leads.std(ddof=1) / np.sqrt(n))
        return tested_mean(float(leads.mean()), error, n - 1, CONFIDENCE).interval.low

    def _evidence(self, generator: GeneratorSpec, configured: Configured, **sizes: int) -> Evidence | None:
        name, n_train = generator.expression.md5, self.spec.n_train
        return measure(name, generator, configured, self.laboratory, n_train=n_train, **sizes)

    def _record(
        self, hope: Hope, generator: GeneratorSpec, evidence: Evidence, parameters: Mapping[str, Mapping[str, Any]]
    ) -> None:
        name = f"{self.spec.name}-{len(self.measured) + 1}"
        seed = self.spec.seed
        item = GeneratedSet.of(name, generator, hope.concept, seed, self.spec.n_train, evidence, parameters)
        self.measured.append(item)
        names = [method.name for method in self.methods]
        shown = {(names.index(up), names.index(down)) for up, down in evidence.proven(self.spec.margin)}
        self.proven.update(pair for pair in self.wanted if pair in shown)
        self._raise_bars(hope, set(hope.pairs) - shown)
        mine = self._signature(hope.candidate)
        if shown & set(self.wanted) and self._is_novel(mine):
            self._known.append(mine)
            self._stale.clear()

    def _raise_bars(self, hope: Hope, lost: set[OrderedPair]) -> None:
        """Ask more of the next candidate for a pair on which this one's lead in screening did not hold."""
        for pair in lost:
            self._bars[pair] = max(self._bars[pair], hope.candidate.lead(pair))
