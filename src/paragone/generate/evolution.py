"""Evolution: one search that serves all duels, by MAP-Elites over pairs and concepts.

Candidates are bred with their targets on the rows of the search; what is of no use or known is left
out. Cheap scouts score a generation first; what would enter their archive is screened with the
methods themselves; what leads there is raced on fresh samples, and what wins is put down for proof.
The search is a pure function of its spec: every generation draws from a generator seeded by the
spec's seed and the generation's number, and scores come from cells of the store. Stopped and
started again, it goes the same way. Proofs come after it and do not steer it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.data import Dataset
from paragone.errors import InputError
from paragone.generate.concepts import ConceptBook, EliteArchive, ScreenedFormula, concept_rule
from paragone.generate.evolve_spec import EvolveSpec
from paragone.generate.expressions import Expression
from paragone.generate.formulas import Grammar, reason_to_reject
from paragone.generate.laboratory import Laboratory
from paragone.generate.proving import Prover
from paragone.generate.sampling import Threshold
from paragone.generate.screening import Screening, candidate_batch, screen_of
from paragone.ties import least_loss
from paragone.validation import FloatArray

FOLD_SHARE = 0.5
"""The share of random formulas that fold one operator over many features."""
MOST_SQUARES = 0.5
"""Where one row of a part holds so much of the sum of squares, R2 is about that row."""
MAX_DRAWS = 50
"""Draws per wanted candidate before a generation continues with fewer."""


def searched_rows(spec: EvolveSpec, formula: str) -> Dataset:
    """Return the rows of the search with the labels of a formula, of the kind of data that a spec declares.

    The features are the same for every formula. Redundant columns, which follow from the formula,
    come with the races.

    Examples
    --------
    >>> spec = EvolveSpec("noisy", n_train=60, n_test=60, n_features=3, data={"noise": 0.2, "irrelevant": 2})
    >>> searched_rows(spec, "mul(X0, X1)").X.shape
    (120, 5)
    """
    generator = replace(spec.generator(formula), redundant=0)
    return generator.parts(spec.n_train, spec.n_test, spec.seed)


Parents = Callable[[np.random.Generator], tuple[Expression, Expression] | None]


@dataclass(frozen=True, eq=False)
class Child:
    """A formula with its target on the rows of the search: labels, or numbers."""

    expression: Expression
    labels: NDArray[Any]


@dataclass(eq=False)
class Breeder:
    """Makes the candidates of a search.

    Parameters
    ----------
    spec : EvolveSpec
        Sizes, shares and the grammar.
    X : ndarray
        The rows of the search; train rows first.
    """

    spec: EvolveSpec
    X: FloatArray
    counts: dict[str, int] = field(
        default_factory=lambda: {"seen": 0, "rejected": 0, "duplicates": 0}
    )
    _met: set[bytes] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.grammar = Grammar(self.spec.n_features, self.spec.constants, self.spec.max_size)

    def children(self, rng: np.random.Generator, parents: Parents) -> list[Child]:
        """Draw until a batch of usable, new candidates is there."""
        children: list[Child] = []
        for _ in range(MAX_DRAWS * self.spec.batch):
            if len(children) == self.spec.batch:
                break
            expression = self._drawn(rng, parents)
            self.counts["seen"] += 1
            labels, fate = self.labelled(expression)
            if labels is None:
                self.counts[fate] += 1
            else:
                children.append(Child(expression, labels))
        return children

    def labelled(self, expression: Expression) -> tuple[NDArray[Any] | None, str]:
        """Return a formula's labels or numbers, or the reason why it is not a candidate."""
        n_train = self.spec.n_train
        labels = self._declared_labels(expression) if self.spec.data else self._halved(expression)
        if labels is None or not self._is_usable(labels):
            return None, "rejected"
        key = same_target_key(labels[:n_train])
        if key in self._met:
            return None, "duplicates"
        self._met.add(key)
        return labels, ""

    def _is_usable(self, labels: NDArray[Any]) -> bool:
        """Say whether every class has its rows; of numbers, whether no row alone decides how they are scored."""
        n_train, least = self.spec.n_train, self.spec.smallest_class
        if self.spec.target == "binary":
            share = float(labels[n_train:].mean())
            return min(share, 1 - share) >= least
        if self.spec.target == "regression":
            return (
                max(_largest_square(labels[:n_train]), _largest_square(labels[n_train:]))
                < MOST_SQUARES
            )
        generator = self.spec.generator("X0")
        wanted = np.array(generator.shares or (1 / generator.n_classes,) * generator.n_classes)
        shares = np.bincount(labels[n_train:], minlength=len(wanted)) / len(labels[n_train:])
        return bool((shares >= 2 * least * wanted).all())

    def _halved(self, expression: Expression) -> NDArray[np.uint8] | None:
        """Cut a formula in the middle of the train rows, the quick way for noise-free balanced data."""
        values, n_train = expression.evaluate(self.X), self.spec.n_train
        if reason_to_reject(values[:n_train]) or not np.isfinite(values).all():
            return None
        return Threshold.halving(values[:n_train]).label(values)

    def _declared_labels(self, expression: Expression) -> NDArray[Any] | None:
        """Label the rows of the search as the declared kind of data does; None where a formula cannot be made so."""
        try:
            made = searched_rows(self.spec, str(expression)).y
        except InputError:
            return None
        return np.asarray(made, dtype=np.float64 if self.spec.target == "regression" else np.uint8)

    def _drawn(self, rng: np.random.Generator, parents: Parents) -> Expression:
        pair = None if rng.random() < self.spec.random_share else parents(rng)
        if pair is None:
            return (
                self.grammar.fold(rng)
                if rng.random() < FOLD_SHARE
                else self.grammar.half_and_half(rng)
            )
        return self.grammar.breed(rng, *pair)


DECIMALS = 6


def same_target_key(target: NDArray[Any]) -> bytes:
    """Return what two formulas have in common that are one candidate: equal labels up to the names of the classes.

    Numbers count to six decimals, up to shift, scale and sign.

    Examples
    --------
    >>> same_target_key(np.array([0, 1, 1], dtype=np.uint8)) == same_target_key(np.array([1, 0, 0], dtype=np.uint8))
    True
    >>> same_target_key(np.array([0.0, 1.0, 3.0])) == same_target_key(np.array([5.0, 3.0, -1.0]))
    True
    """
    if target.dtype == np.float64:
        centred = target - target.mean()
        steps = np.rint(centred / float(np.sqrt(np.mean(centred**2))) * 10**DECIMALS).astype(
            np.int64
        )
        turned = steps[np.flatnonzero(steps)[0]] < 0
        return bytes((-steps if turned else steps).tobytes())
    if target.max() < 2:
        return np.packbits(target ^ target[0]).tobytes()
    # Classes are numbered in the order in which they are met.
    classes, first, place = np.unique(target, return_index=True, return_inverse=True)
    numbers = np.empty(len(classes), dtype=np.uint8)
    numbers[np.argsort(first)] = np.arange(len(classes))
    return bytes(numbers[place].tobytes())


def _largest_square(values: FloatArray) -> float:
    """Return the part of the sum of squares that one row holds; 1 where all rows are alike."""
    squares = (values - values.mean()) ** 2
    return float(squares.max() / squares.sum()) if squares.sum() > 0 else 1.0


@dataclass(frozen=True)
class SearchProgress:
    """Where a search stands.

    Parameters
    ----------
    generation : int
        Generations done.
    seen, rejected, duplicates, scouted, fitted, failed : int
        Candidates made; those that give no usable dataset; met before; scored by scouts; scored by
        every method; cells that failed.
    niches, concepts : int
        Filled niches of the archive, and the concepts in it.
    covered : int
        Pairs whose margin some candidate reaches in screening.
    raced, promised, claims : int
        Candidates that were raced, pairs that some race won, and claims put down for proof.
    tried, measured : int
        Datasets that were put to proof, and those of them that proved something.
    proven, proven_concepts, pairs : int
        Pairs that are proven, concepts that prove some pair, and all pairs.
    seconds : float
        Since the search began, pauses between runs left out.
    """

    generation: int = 0
    seen: int = 0
    rejected: int = 0
    duplicates: int = 0
    scouted: int = 0
    fitted: int = 0
    failed: int = 0
    niches: int = 0
    concepts: int = 0
    covered: int = 0
    raced: int = 0
    promised: int = 0
    claims: int = 0
    tried: int = 0
    measured: int = 0
    proven: int = 0
    proven_concepts: int = 0
    pairs: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        return (
            f"generation {self.generation}: {self.proven} of {self.pairs} pairs proven by"
            f" {self.proven_concepts} concepts, {self.tried} datasets put to proof; {self.promised}"
            f" pairs promised by {self.claims} claims, {self.raced} raced; screened: {self.covered}"
            f" pairs, {self.niches} niches, {self.concepts} concepts; {self.seen} seen,"
            f" {self.rejected} rejected, {self.duplicates} duplicates, {self.scouted} scouted,"
            f" {self.fitted} fitted, {self.failed} failed"
        )


Moment = tuple[int, ...]
"""Generations done, candidates raced, datasets put to proof; 0 for those that are left out."""
_COUNTS = ("generation", "raced", "tried")


@dataclass
class Stopwatch:
    """The time a search has taken at each of its moments, kept in a file so that a resumed search goes on counting.

    Parameters
    ----------
    path : Path, optional
        A file with one line per moment; without it nothing is kept.
    key : str
        Of the search: lines of other searches in the file are left alone.

    Examples
    --------
    >>> watch = Stopwatch()
    >>> watch.at((1, 0, 0)) <= watch.at((2, 0, 0))
    True
    """

    path: Path | None = None
    key: str = ""
    _past: dict[Moment, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._begun = time.monotonic()
        self._before, self._ending = 0.0, ""
        if self.path is None or not self.path.exists():
            return
        text = self.path.read_text(encoding="utf-8")
        self._ending = "\n" if text and not text.endswith("\n") else ""
        for line in text.splitlines():
            # A kill in the middle of a write leaves a last line that is cut: that moment is timed
            # again.
            try:
                entry = json.loads(line)
                if entry["search"] == self.key:
                    # Earlier versions kept no number of proofs.
                    moment = entry["generation"], entry["raced"], entry.get("tried", 0)
                    self._past[moment] = float(entry["seconds"])
            except ValueError:
                continue
            except (KeyError, TypeError) as error:
                raise InputError(
                    f"{self.path} is not the time table of a search: {error}"
                ) from error
        # All that earlier runs took counts, what they proved after their last generation too.
        self._before = max(self._past.values(), default=0.0)

    def at(self, moment: Moment) -> float:
        """Return the seconds at a moment: those of the first time it was reached."""
        moment = (*moment, 0, 0, 0)[: len(_COUNTS)]
        if moment in self._past:
            self._begun = time.monotonic()
            return self._past[moment]
        now = time.monotonic()
        # As it is written: a decision by the time must be the same when the time is read again.
        seconds = round(self._before + now - self._begun, 3)
        self._past[moment], self._before, self._begun = seconds, seconds, now
        if self.path is not None:
            counts = dict(zip(_COUNTS, moment, strict=True))
            entry = {"search": self.key, **counts, "seconds": seconds}
            with self.path.open("a", encoding="utf-8") as file:
                file.write(self._ending + json.dumps(entry) + "\n")
            self._ending = ""
        return seconds

    def know(self, times: Mapping[Moment, float]) -> None:
        """Take over the times of another file's moments."""
        self._past = {**times, **self._past}
        self._before, self._begun = max(self._past.values(), default=0.0), time.monotonic()

    def furthest(self) -> Moment:
        """Return the moment of the most proofs that earlier runs reached, of these the latest; zeros before any.

        Examples
        --------
        >>> watch = Stopwatch()
        >>> for moment in ((1, 2, 0), (1, 2, 1), (2, 4, 0)):
        ...     _ = watch.at(moment)
        >>> watch.furthest()
        (1, 2, 1)
        """
        return max(self._past, key=lambda moment: (moment[2], *moment[:2]), default=(0, 0, 0))


OPEN_WEIGHT = 4.0
"""How much more often parents come from a pair that no race has won yet."""


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
        Only pairs with this method count.
    goal : {"both", "wins", "loses"}, default="both"
        What the method in focus is to do.
    """

    spec: EvolveSpec
    laboratory: Laboratory
    stopwatch: Stopwatch = field(default_factory=Stopwatch)
    focus: str | None = None
    goal: str = "both"
    progress: SearchProgress = field(default_factory=SearchProgress)
    curve: list[SearchProgress] = field(default_factory=list)

    def __post_init__(self) -> None:
        spec = self.spec
        self.methods = spec.contenders()
        concepts = ConceptBook(
            spec.n_features, lambda formula: concept_rule(spec.generator(str(formula)))
        )
        self.archive = EliteArchive(len(self.methods), concepts, spec.depth)
        # Scouts have an archive of their own: their scores and those of the methods cannot be
        # compared.
        self.scouting = EliteArchive(len(self.methods), concepts, spec.depth)
        if spec.data:
            self.X = np.asarray(searched_rows(spec, "X0").X)
        else:
            self.X = np.random.default_rng([spec.seed, 0]).normal(
                size=(spec.n_train + spec.n_test, spec.n_features)
            )
        self.breeder = Breeder(spec, self.X)
        self.prover = Prover(spec, self.methods, self.laboratory, self._wanted())
        self.is_taken_up = False

    def run(self, tell: Callable[[SearchProgress], None], over: Callable[[], bool]) -> None:
        """Go on until the spec's generations are done, its claims are put down, or the time is over."""
        while self.progress.generation < self.spec.generations and self.prover.room and not over():
            self.step(over)
            tell(self.progress)

    def step(self, over: Callable[[], bool] = lambda: False) -> None:
        """Make, scout, screen, archive and race one generation."""
        generation = self.progress.generation + 1
        rng = np.random.default_rng([self.spec.seed, generation])
        children = self.breeder.children(rng, self._elites)
        candidates = self._screened(generation, children)
        for candidate in candidates:
            self.archive.offer(candidate)
        self.prover.advance(self.archive, self.spec.races, over)
        before = self.progress
        self.progress = replace(
            before,
            generation=generation,
            scouted=before.scouted + len(children),
            fitted=before.fitted + len(candidates),
        )
        self.note()

    def race_rest(self, tell: Callable[[SearchProgress], None], over: Callable[[], bool]) -> None:
        """Race what the archive still promises."""
        for _ in range(self.spec.finalists):
            if over() or not self.prover.advance(self.archive, 1, over):
                return
            self.note()
            tell(self.progress)

    def prove(self, tell: Callable[[SearchProgress], None], over: Callable[[], bool]) -> None:
        """Prove what was put down, dataset by dataset."""
        while self.prover.prove_next(over) is not None:
            self.note()
            tell(self.progress)

    def take_up(self, searched: Sequence[SearchProgress], times: Mapping[Moment, float]) -> None:
        """Begin where a search of an earlier sitting had ended: its proofs go on, and nothing more is searched."""
        self.is_taken_up = True
        self.curve = list(searched)
        self.progress = searched[-1] if searched else SearchProgress()
        self.stopwatch.know(times)

    def note(self) -> None:
        """Count where the search stands, and keep it on the curve."""
        prover = self.prover
        moment = (self.progress.generation, prover.n_raced, len(prover.verdicts))
        proven, n_proving = prover.proven()
        measured = [item for item in prover.measured() if item.proven(self.spec.margin)]
        if not self.is_taken_up:
            self.progress = replace(
                self.progress,
                **self.breeder.counts,
                niches=self.archive.n_filled,
                concepts=len(
                    {number for niche in self.archive.niches.values() for number in niche}
                ),
                covered=len(set(self.archive.covered(self.spec.margin)) & set(prover.wanted)),
            )
        self.progress = replace(
            self.progress,
            failed=self.laboratory.n_failed,
            raced=prover.n_raced,
            promised=len(prover.promised),
            claims=sum(len(entry.claims) for entry in prover.docket),
            tried=len(prover.verdicts),
            measured=n_proving,
            proven=len(proven),
            proven_concepts=len({item.concept for item in measured}),
            pairs=len(prover.wanted),
            seconds=self.stopwatch.at(moment),
        )
        self.curve.append(self.progress)

    def _wanted(self) -> tuple[tuple[int, int], ...]:
        names = [method.name for method in self.methods]

        def counts(up: str, down: str) -> bool:
            wins, loses = up == self.focus, down == self.focus
            return (
                self.focus is None
                or (wins and self.goal != "loses")
                or (loses and self.goal != "wins")
            )

        return tuple(pair for pair in self.archive.pairs if counts(names[pair[0]], names[pair[1]]))

    def _weights(self) -> dict[tuple[int, int], float]:
        return {
            pair: 1.0 if pair in self.prover.promised else OPEN_WEIGHT
            for pair in self.prover.wanted
        }

    # Parents

    def _elites(self, rng: np.random.Generator) -> tuple[Expression, Expression] | None:
        """Draw an elite of a wanted pair, more often of one that no race won, and a mate from all of the archive."""
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

    # Scores

    def _screened(self, generation: int, children: Sequence[Child]) -> list[ScreenedFormula]:
        """Scout all children, and score those worth it with the methods that scouts replaced."""
        target = self.spec.target
        own = dict(screen_of(method, target) for method in self.methods)
        first = [screen_of(method, target, by_scout=True) for method in self.methods]
        if len(dict(first)) == 1:
            # One scout for all methods sees no lead of any: they look first themselves.
            first = list(own.items())
        scouts, names = dict(first), [name for name, _ in first]
        scouted = self._scores(f"generation {generation} scouted", children, scouts)
        found = [
            (child, _candidate(child, tables, names, generation), tables)
            for child, tables in scouted
        ]
        dear = {name: screen for name, screen in own.items() if name not in names}
        if not dear:
            return [candidate for _, candidate, _ in found]
        worth = self._worth([candidate for _, candidate, _ in found])
        chosen = {str(found[position][0].expression): found[position][2] for position in worth}
        screened = self._scores(
            f"generation {generation}", [found[position][0] for position in worth], dear
        )
        return [
            _candidate(child, {**chosen[str(child.expression)], **tables}, list(own), generation)
            for child, tables in screened
        ]

    def _worth(self, scouted: Sequence[ScreenedFormula]) -> list[int]:
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
        """Return children with the score of each configuration of each screen; one with a failed cell is left out."""
        if not children:
            return []
        size = self.spec.chunk
        chunks = [children[begin : begin + size] for begin in range(0, len(children), size)]
        target, protocol = self.spec.target, Screening(target=self.spec.target)
        batches = []
        for number, chunk in enumerate(chunks):
            columns = [child.labels for child in chunk]
            batches.append(
                candidate_batch(f"batch {number}", self.X, columns, self.spec.n_train, target)
            )
        # Screening only steers the search; whatever is claimed is measured again, every cell by
        # itself.
        found = self.laboratory.run(
            f"{self.spec.name} {step}",
            batches,
            screens,
            protocol,
            seed=self.spec.seed,
            isolation="worker",
        )
        scored = []
        for batch, chunk in zip(batches, chunks, strict=True):
            # A candidate without the score of one method has no leads: its whole batch is dropped.
            if all((batch.name, name) in found for name in screens):
                tables = {
                    name: np.asarray(found[batch.name, name].arrays[protocol.metric])
                    for name in screens
                }
                scored += [
                    (child, {n: tables[n][row] for n in screens}) for row, child in enumerate(chunk)
                ]
        return scored


def _candidate(
    child: Child, tables: Mapping[str, FloatArray], names: Sequence[str], generation: int
) -> ScreenedFormula:
    scores = np.array([tables[name].max() for name in names])
    return ScreenedFormula(
        child.expression,
        scores,
        tuple(least_loss(-tables[name], size=1.0) for name in names),
        generation,
    )
