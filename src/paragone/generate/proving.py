"""Proving: candidates are raced, winners are put down for proof, and the proofs come when the search is over.

A race looks at the methods of the pairs a candidate may prove, on rows of its own: first in the
configurations that did best in screening, then, for the pairs that lead there, tuned as in the
proof. It is won when the bound that the proof would have at its last look, if the race's mean and
spread held, reaches the margin. What wins is put down on a docket, which only grows and never
beyond the claims that the spec allows: their level covers all of them. The search is steered by
races alone; what the proof comes to changes nothing about what is searched, raced or put down.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paragone.generate.collection import ClaimRecord, GeneratedSet
from paragone.generate.concepts import (
    BOOK_ROWS,
    EliteArchive,
    ScreenedFormula,
    Signature,
    concept_rule,
    signature,
)
from paragone.generate.evolve_spec import EvolveSpec
from paragone.generate.laboratory import Laboratory
from paragone.generate.methods import Contender
from paragone.generate.proof import (
    NOTHING_KNOWN,
    Evidence,
    KnownFits,
    LeadClaim,
    Proof,
    TunedFit,
    measure,
    prove,
    row_seed,
    tuned_fits,
)
from paragone.generate.sampling import GeneratorSpec
from paragone.validation import FloatArray

CLAIMED_AGAIN = 3
"""A dataset claims every pair that no other does, and so many in all where it has fewer of these."""
NOVEL = 0.95
"""A concept is worth a proof of its own when it agrees with none on the docket beyond this."""

OrderedPair = tuple[int, int]
Configured = list[tuple[Contender, Mapping[str, Any]]]


@dataclass(frozen=True, eq=False)
class Hope:
    """A candidate and the pairs that it may prove."""

    candidate: ScreenedFormula
    concept: int
    pairs: tuple[OrderedPair, ...]


@dataclass(frozen=True, eq=False)
class Race:
    """What a race came to; it steers the search, and is told of pairs that stay open.

    Parameters
    ----------
    formula : str
        The candidate.
    pairs, tuned_pairs : tuple of pairs of names
        Those that it was raced for, and those that led and were raced under tuning.
    untuned, tuned : Evidence or None
        The scores of both parts; None where a fit failed, or a part was not run.
    """

    formula: str
    pairs: tuple[tuple[str, str], ...]
    tuned_pairs: tuple[tuple[str, str], ...]
    untuned: Evidence | None
    tuned: Evidence | None


@dataclass(frozen=True, eq=False)
class DocketEntry:
    """A dataset that is put down for proof, and what is claimed on it.

    Parameters
    ----------
    hope : Hope
        The candidate that won its race, with the pairs that it won.
    generator : GeneratorSpec
        The source of rows.
    claims : tuple of LeadClaim
        What is to be proven.
    """

    hope: Hope
    generator: GeneratorSpec
    claims: tuple[LeadClaim, ...]


@dataclass(frozen=True, eq=False)
class DatasetProof:
    """What the proof of a dataset came to.

    Parameters
    ----------
    entry : DocketEntry
        What was put to proof.
    proofs : tuple of Proof
        One per claim.
    item : GeneratedSet or None
        The dataset with its claims; None where nothing was shown, or time or a failed fit left it
        without scores.
    fits : tuple of TunedFit
        Every fit, those of the methods that nothing is claimed of included.
    """

    entry: DocketEntry
    proofs: tuple[Proof, ...]
    item: GeneratedSet | None
    fits: tuple[TunedFit, ...]


class Prover:
    """Races candidates, puts the winners down for proof, and proves them.

    Parameters
    ----------
    spec : EvolveSpec
        Sizes, the margin and the level.
    methods : sequence of Contender
        The methods, in the order of the candidates' scores.
    laboratory : Laboratory
        Where the fits run.
    wanted : sequence of pairs
        The ordered pairs that count.
    """

    def __init__(
        self,
        spec: EvolveSpec,
        methods: Sequence[Contender],
        laboratory: Laboratory,
        wanted: Sequence[OrderedPair],
    ) -> None:
        self.spec, self.methods, self.laboratory = spec, methods, laboratory
        self.wanted = tuple(wanted)
        self.docket: list[DocketEntry] = []
        self.promised: Counter[OrderedPair] = Counter()
        self.verdicts: list[DatasetProof] = []
        self.races: list[Race] = []
        self.known: KnownFits = NOTHING_KNOWN
        self._looks = spec.plan().family(spec.target)
        self._bars = dict.fromkeys(self.wanted, spec.margin)
        self._tried: set[str] = set()
        self._known: list[Signature] = []
        self._stale: set[int] = set()

    @property
    def n_raced(self) -> int:
        """Candidates that were raced."""
        return len(self.races)

    @property
    def n_concepts(self) -> int:
        """Concepts on the docket that agree with no other there."""
        return len(self._known)

    @property
    def room(self) -> int:
        """How many claims more may be put to proof."""
        return self.spec.claims - sum(len(entry.claims) for entry in self.docket)

    def proven(self) -> tuple[set[tuple[str, str]], int]:
        """Return the pairs that are proven so far, and how many datasets prove some."""
        shown = [item.proven(self.spec.margin) for item in self.measured()]
        return {pair for pairs in shown for pair in pairs}, sum(map(bool, shown))

    def measured(self) -> tuple[GeneratedSet, ...]:
        """Return the datasets that were proven, each with its claims."""
        return tuple(verdict.item for verdict in self.verdicts if verdict.item is not None)

    def advance(self, archive: EliteArchive, n_races: int, over: Callable[[], bool]) -> int:
        """Race the candidates that may add most, pairs and concepts in turn; return how many were raced."""
        for position in range(n_races):
            choices = (self._by_pairs, self._by_concept)
            # In turn, so that neither open pairs nor new concepts use up all races.
            first, second = choices if (self.n_raced + position) % 2 == 0 else choices[::-1]
            hope = None if over() or not self.room else first(archive) or second(archive)
            if hope is None:
                return position
            self._race(hope)
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
        """Return the candidate that may prove most pairs that nothing on the docket claims."""
        hopes = [
            (hope, [p for p in hope.pairs if p not in self.promised])
            for hope in self._hopes(archive)
        ]
        useful = [(hope, pairs) for hope, pairs in hopes if pairs]
        if not useful:
            return None
        hope, pairs = max(
            useful, key=lambda item: (len(item[1]), sum(item[0].candidate.lead(p) for p in item[1]))
        )
        return Hope(hope.candidate, hope.concept, tuple(pairs))

    def _by_concept(self, archive: EliteArchive) -> Hope | None:
        """Return the candidate of a new concept that may prove the pairs that the fewest datasets claim."""

        def value(hope: Hope) -> float:
            return sum(1 / (1 + self.promised[pair]) ** 2 for pair in hope.pairs)

        if self.n_concepts >= self.spec.concepts:
            return None
        for hope in sorted(self._hopes(archive), key=lambda hope: -value(hope)):
            if hope.concept not in self._stale:
                if self._is_novel(self._signature(hope.candidate)):
                    return hope
                self._stale.add(hope.concept)
        return None

    def _signature(self, candidate: ScreenedFormula) -> Signature:
        rule = concept_rule(self.spec.generator(str(candidate.expression)))
        return signature(candidate.expression, rule, self.spec.n_features, n_rows=BOOK_ROWS)

    def _is_novel(self, mine: Signature) -> bool:
        return all(known.agreement(mine) < NOVEL for known in self._known)

    def take_up(
        self, entries: Sequence[DocketEntry], races: Sequence[Race], known: KnownFits
    ) -> None:
        """Take up the docket of an earlier sitting, with the races that filled it and the fits that were made."""
        self.docket, self.races, self.known = list(entries), list(races), known
        self.promised.update(pair for entry in entries for pair in entry.hope.pairs)

    # Racing

    def _race(self, hope: Hope) -> None:
        formula = str(hope.candidate.expression)
        self._tried.add(formula)
        generator = self.spec.generator(formula)
        untuned = self._untuned_race(hope, generator)
        led = self._won(hope.pairs, untuned)
        tuned = self._tuned_race(led, generator) if led else None
        won = self._won(led, tuned)
        self.races.append(Race(formula, self._named(hope.pairs), self._named(led), untuned, tuned))
        self._raise_bars(hope, set(hope.pairs) - set(won))
        if won:
            self._put_down(hope, generator, self._worth_claiming(hope.candidate, won)[: self.room])

    def _named(self, pairs: Sequence[OrderedPair]) -> tuple[tuple[str, str], ...]:
        return tuple((self.methods[up].name, self.methods[down].name) for up, down in pairs)

    def _worth_claiming(
        self, candidate: ScreenedFormula, won: Sequence[OrderedPair]
    ) -> tuple[OrderedPair, ...]:
        """Return the pairs that nothing claims yet, filled up with those that the fewest datasets claim."""
        rarest = sorted(won, key=lambda pair: (self.promised[pair], -candidate.lead(pair)))
        n_open = sum(pair not in self.promised for pair in won)
        return tuple(rarest[: max(n_open, CLAIMED_AGAIN)])

    def _won(self, pairs: Sequence[OrderedPair], race: Evidence | None) -> tuple[OrderedPair, ...]:
        if race is None:
            return ()
        return tuple(pair for pair in pairs if self._foreseen(race, pair) >= self.spec.margin)

    def _foreseen(self, race: Evidence, pair: OrderedPair) -> float:
        """Return the lower bound that the last look has if the race's mean and spread hold."""
        return self._looks.foreseen(race.leads(*(self.methods[i].name for i in pair)))

    def _untuned_race(self, hope: Hope, generator: GeneratorSpec) -> Evidence | None:
        configured: Configured = [
            (self.methods[i], self.methods[i].portfolio[hope.candidate.configurations[i]])
            for i in sorted({method for pair in hope.pairs for method in pair})
        ]
        seeds = [
            row_seed("race", self.spec.seed, generator.identity, i)
            for i in range(self.spec.race_seeds)
        ]
        sizes = {"n_train": self.spec.n_train, "n_fresh": self.spec.n_test}
        return measure(
            f"race {generator.identity}",
            generator,
            configured,
            self.laboratory,
            seeds=seeds,
            **sizes,
        )

    def _tuned_race(
        self, pairs: Sequence[OrderedPair], generator: GeneratorSpec
    ) -> Evidence | None:
        racing = [self.methods[i] for i in sorted({method for pair in pairs for method in pair})]
        samples = range(self.spec.race_seeds)
        fits = tuned_fits(
            generator,
            racing,
            self.laboratory,
            self.spec.plan(),
            self.spec.seed,
            samples,
            role="race",
        )
        if len(fits) < len(racing) * len(samples):
            return None
        scores = [[fits[method.name, i].score for method in racing] for i in samples]
        return Evidence(tuple(method.name for method in racing), np.array(scores))

    def _put_down(self, hope: Hope, generator: GeneratorSpec, won: tuple[OrderedPair, ...]) -> None:
        names = [method.name for method in self.methods]
        claims = tuple(LeadClaim(names[up], names[down], generator) for up, down in won)
        self.docket.append(DocketEntry(Hope(hope.candidate, hope.concept, won), generator, claims))
        self.promised.update(won)
        mine = self._signature(hope.candidate)
        if self._is_novel(mine):
            self._known.append(mine)
            self._stale.clear()

    def _raise_bars(self, hope: Hope, lost: set[OrderedPair]) -> None:
        """Ask more of the next candidate for a pair on which this one's lead in screening did not hold in the race."""
        for pair in lost:
            self._bars[pair] = max(self._bars[pair], hope.candidate.lead(pair))

    # Proving

    def prove_next(self, over: Callable[[], bool]) -> DatasetProof | None:
        """Prove the next dataset of the docket; None where it is at its end or the time is over."""
        if len(self.verdicts) == len(self.docket) or over():
            return None
        entry = self.docket[len(self.verdicts)]
        plan, seed = self.spec.plan(), self.spec.seed
        proofs = prove(
            entry.claims, self.methods, self.laboratory, plan, seed, over=over, known=self.known
        )
        fits = {(fit.method, fit.sample): fit for proof in proofs for fit in proof.fits}
        item = None
        if any(proof.holds for proof in proofs):
            # All methods are shown on the first look's samples, tuned alike: whoever comes later is
            # put beside them.
            first = range(plan.looks[0])
            fits |= tuned_fits(
                entry.generator, self.methods, self.laboratory, plan, seed, first, known=self.known
            )
            item = self._item(entry, proofs, fits)
        verdict = DatasetProof(entry, proofs, item, tuple(fits.values()))
        self.verdicts.append(verdict)
        return verdict

    def _item(
        self, entry: DocketEntry, proofs: Sequence[Proof], fits: Mapping[tuple[str, int], TunedFit]
    ) -> GeneratedSet | None:
        first = range(self.spec.looks[0])
        names = tuple(method.name for method in self.methods)
        if any((name, i) not in fits for name in names for i in first):
            return None
        scores: FloatArray = np.array([[fits[name, i].score for name in names] for i in first])
        # The dataset has rows of its own, which nothing was searched, raced or proven on.
        shown = row_seed("shown", self.spec.seed, entry.generator.identity)
        name = f"{self.spec.name}-{len(self.measured()) + 1}"
        return GeneratedSet.of(
            name,
            entry.generator,
            entry.hope.concept,
            shown,
            self.spec.n_train,
            Evidence(names, scores),
            {name: dict(fits[name, 0].params) for name in names},
            # A claim without leads, by a failed fit or for want of time, says nothing of the
            # dataset.
            tuple(ClaimRecord.of(proof) for proof in proofs if proof.leads),
        )
