"""duel: two methods and some minutes; datasets on which each beats the other, proven, or the word that none was found.

A search proposes formulas in both directions. The most promising ones of different concepts are
raced: both methods are tuned on a few samples. The winners are proven on rows that neither the
search nor the races saw, at one level for all claims. Every score is kept in a store, and the time
at every decision beside it: stopped at any instant and started again, a duel makes the same
decisions and goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import astuple, dataclass, field, fields, replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from paragone.data import Dataset
from paragone.errors import InputError
from paragone.generate.evolution import Evolution, Stopwatch
from paragone.generate.evolve_spec import EvolveSpec
from paragone.generate.laboratory import Laboratory
from paragone.generate.methods import CEILINGS, METRICS, Contender, check_methods, target_of
from paragone.generate.proof import (
    LeadClaim,
    Proof,
    ProofPlan,
    mean_interval,
    prove,
    row_seed,
    tuned_fits,
)
from paragone.generate.sampling import GeneratorSpec, TargetKind
from paragone.generate.truth import TruthSheet, truth_sheet
from paragone.hashing import digest
from paragone.methods import Method

SEARCH_SHARE, PROOF_SHARE = 0.4, 0.85
"""Parts of the time by which the search, and the races with the proofs, begin nothing new; curves take the rest."""
MOST_GENERATIONS = 10_000
PATIENCE = 8
"""A search in which no formula leads by a fifth of the margin after so many generations is given up."""
RAREST = 0.6
"""The part of its declared share that a class must have in the rows of the search: .3 of two halves."""
RACE_SAMPLES = 3
RACES_PER_TURN = 2
"""Formulas that are raced in a direction, at most, before the other one has its turn."""
STORE = "duel.sqlite"


@dataclass(frozen=True)
class DuelPlan:
    """How two methods are put against each other.

    Parameters
    ----------
    minutes : float, default=10
        For everything, earlier sittings included; nothing new is begun when the time of a part is
        over.
    seed : int, default=0
        Every random thing follows from it; another seed is a replication.
    rows, features : int
        Training rows of every dataset, and columns that formulas may use.
    margin : float, default=0.05
        By how much the score must differ: AUROC, or R2 where the target is a number.
    trials, folds : int
        Configurations that each method may try on every sample of races and proof, and inner folds
        that decide.
    finalists : int, default=3
        Formulas per direction that are put to proof, at most; up to twice as many are raced.
    looks : tuple of int, default=(6, 12, 24, 48)
        Samples at which a proof is looked at.
    fresh : int, default=3000
        Fresh rows that a sample is scored on.
    batch : int, default=32
        Formulas per generation.
    kinds : mapping
        What the data is like beside the formula: ``target``, ``noise``, ``irrelevant``,
        ``missing``, ...; see `GeneratorSpec`. Search, races and proofs all have such data;
        redundant columns, which follow from the formula that is to be found, come with the races.

    Examples
    --------
    >>> DuelPlan(minutes=2, kinds={"noise": 0.1}).generator("mul(X0, X1)").noise
    0.1
    """

    minutes: float = 10.0
    seed: int = 0
    rows: int = 500
    features: int = 10
    margin: float = 0.05
    trials: int = 8
    folds: int = 3
    finalists: int = 3
    looks: tuple[int, ...] = (6, 12, 24, 48)
    fresh: int = 3000
    batch: int = 32
    kinds: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.minutes > 0:
            raise InputError(f"minutes must be more than 0, it is {self.minutes:g}")
        if not 0 < self.margin < 1:
            raise InputError(f"margin must lie between 0 and 1, it is {self.margin:g}")
        for name, least in (
            ("rows", 50),
            ("features", 2),
            ("finalists", 1),
            ("fresh", 50),
            ("batch", 2),
            ("seed", 0),
        ):
            if getattr(self, name) < least:
                raise InputError(f"{name} must be at least {least}, it is {getattr(self, name)}")
        if "n_classes" in self.kinds and self.target != "multiclass":
            raise InputError(
                f"a number of classes is for a multiclass target, and the target is {self.target!r}"
            )
        self.generator("add(X0, X1)")
        self.proof()

    @property
    def target(self) -> TargetKind:
        """What formulas' values become: two classes, several, or numbers."""
        return target_of(self.kinds)

    @property
    def metric(self) -> str:
        """What scores are called.

        Examples
        --------
        >>> DuelPlan().metric, DuelPlan(kinds={"target": "regression"}).metric
        ('AUROC', 'R2')
        """
        return METRICS[self.target]

    def generator(self, formula: str) -> GeneratorSpec:
        """Return a formula with the kinds of data that are asked for."""
        return GeneratorSpec(formula, self.features, **self.kinds)

    def proof(self) -> ProofPlan:
        """Return the plan of the proof: all claims that may be made are one family, fixed before anything is seen."""
        return ProofPlan(
            margin=self.margin,
            trials=self.trials,
            folds=self.folds,
            n_train=self.rows,
            n_fresh=self.fresh,
            looks=self.looks,
            n_claims=2 * self.finalists,
            defaults=True,
        )

    def search(self, methods: Sequence[Contender]) -> EvolveSpec:
        """Return the search for both directions, without proofs of its own."""
        share = self.kinds.get("positive")
        # Of a class that is to be rare, the same part of its share must be there as of two halves.
        rare = {} if share is None else {"smallest_class": RAREST * min(share, 1 - share)}
        return EvolveSpec(
            "duel",
            seed=self.seed,
            generations=MOST_GENERATIONS,
            batch=self.batch,
            chunk=max(2, self.batch // 4),
            n_train=self.rows,
            n_test=max(500, self.rows),
            n_features=self.features,
            margin=self.margin,
            screened=max(4, self.batch // 4),
            races=0,
            finalists=0,
            methods={method.name: method.table() for method in methods},
            data=dict(self.kinds),
            **rare,
        )

    def key(self, methods: Sequence[Contender]) -> str:
        """Return what identifies the search: everything but the minutes and what only proofs use."""
        ignored = ("minutes", "trials", "folds", "finalists", "looks", "fresh", "margin")
        own = {
            item.name: getattr(self, item.name) for item in fields(self) if item.name not in ignored
        }
        built = [
            {
                "name": method.name,
                "method": Method.declare(method.declared()).identity(),
                "space": dict(method.space),
                "portfolio": [dict(params) for params in method.portfolio],
                "scout": method.scout,
            }
            for method in methods
        ]
        # Searches on clean rows, as they once were whatever the kinds of data, go other ways.
        searched = {"searched": "kinds"} if self.kinds else {}
        return digest({**own, "kinds": dict(self.kinds), "methods": built, **searched})


@dataclass(frozen=True)
class Raced:
    """A formula that was raced in one direction: its lead in the search, and on the samples of the race."""

    up: str
    down: str
    formula: str
    screened: float
    leads: tuple[float, ...]

    @property
    def lead(self) -> float:
        """The mean lead of the race; NaN where a fit failed."""
        return float(np.mean(self.leads)) if self.leads else float("nan")


@dataclass(frozen=True, eq=False)
class DuelResult:
    """What came of a duel.

    Parameters
    ----------
    methods : tuple of Contender
        The two.
    plan : DuelPlan
        How they were put against each other.
    raced : tuple of Raced
        Every formula that was raced.
    proofs : tuple of Proof
        Every claim that was put to proof.
    curve : tuple of (minutes, lead, lead)
        After every generation: the best lead of the first method over the second in the search, and
        the other way.
    n_formulas, n_screened, n_failed : int
        Formulas that were looked at, those that were scored with the methods themselves, and cells
        that failed.
    seconds : float
        What search and proofs took.
    ended_by : str
        Why the search ended, in words.

    Examples
    --------
    >>> both = tuple(Contender(name, f"sklearn.svm:{name}") for name in ("SVC", "NuSVC"))
    >>> DuelResult(both, DuelPlan(minutes=2), (), (), (), 1200, 60, 0, 120.0, "the time was over").directions
    (('SVC', 'NuSVC'), ('NuSVC', 'SVC'))
    """

    methods: tuple[Contender, Contender]
    plan: DuelPlan
    raced: tuple[Raced, ...]
    proofs: tuple[Proof, ...]
    curve: tuple[tuple[float, float, float], ...]
    n_formulas: int
    n_screened: int
    n_failed: int
    seconds: float
    ended_by: str

    @property
    def names(self) -> tuple[str, str]:
        """The names of the two methods."""
        return self.methods[0].name, self.methods[1].name

    @property
    def directions(self) -> tuple[tuple[str, str], tuple[str, str]]:
        """Both ordered pairs, as they were asked for."""
        return self.names, self.names[::-1]

    def proven(self, up: str, down: str) -> tuple[Proof, ...]:
        """Return the proofs that hold in a direction, the largest lower limit first."""
        held = [
            proof
            for proof in self.proofs
            if proof.holds and (proof.claim.up, proof.claim.down) == (up, down)
        ]
        return tuple(sorted(held, key=lambda proof: -proof.interval.low))

    def sentence(self, up: str, down: str) -> str:
        """Say what was found in a direction, or that nothing was and what was tried."""
        held = self.proven(up, down)
        margin = f"{self.plan.margin:g} {self.plan.metric}"
        if held:
            best = held[0]
            n = len(held)
            return (
                f"{up} beats {down} by {margin} or more on {n} proven dataset{'s' * (n != 1)}: at"
                f" best by {best.interval.estimate:.3f} [{best.interval.low:.3f},"
                f" {best.interval.high:.3f}], ahead on {best.share_won:.0%} of {best.stopped_at}"
                " samples"
            )
        return (
            f"no dataset was found on which {up} beats {down} by {margin}: {self.tried(up, down)}"
        )

    def _put(self, up: str, down: str) -> list[Proof]:
        return [proof for proof in self.proofs if (proof.claim.up, proof.claim.down) == (up, down)]

    def tried(self, up: str, down: str) -> str:
        """Say how hard a direction was tried."""
        raced = [one for one in self.raced if (one.up, one.down) == (up, down)]
        said = [
            f"{self.n_formulas:,} formulas were looked at",
            f"{len(raced)} of them raced under tuning",
        ]
        known = [one.lead for one in raced if np.isfinite(one.lead)]
        if known:
            said.append(f"the best led by {max(known):.3f} there")
        if known and max(known) >= self.plan.margin and not self._put(up, down):
            said.append("its proof did not fit into the time: give more minutes")
        put = self._put(up, down)
        if put:
            # Few samples bound nothing: a limit of -1 says no more than that.
            ends = [proof.interval.low for proof in put if proof.interval.low > -1]
            reached = f", the best lower limit was {max(ends):.3f}" if ends else ""
            cut = [p for p in put if p.ending == "not shown" and p.stopped_at < self.plan.looks[-1]]
            short = f", {len(cut)} of them cut short by the time" if cut else ""
            said.append(f"{len(put)} put to proof{reached}{short}")
        return "; ".join(said) + f"; {time_in_words(self.seconds)} of search and proof"


def time_in_words(seconds: float) -> str:
    """Return a time in minutes, or in seconds where it is shorter than one.

    Examples
    --------
    >>> time_in_words(90), time_in_words(1.5)
    ('1.5 minutes', '1.5 seconds')
    """
    return f"{seconds:.1f} seconds" if seconds < 60 else f"{seconds / 60:.1f} minutes"


def duel(
    one: Contender,
    other: Contender,
    folder: str | Path,
    plan: DuelPlan | None = None,
    workers: int = 0,
    *,
    executor: Executor | None = None,
    retry_failed: bool = False,
    tell: Callable[[str], None] | None = None,
) -> DuelResult:
    """Look for datasets on which each of two methods beats the other, and prove them.

    Parameters
    ----------
    one, other : Contender
        The methods; see `opponent`.
    folder : str or Path
        Where scores and times are kept; the same duel in the same folder goes on where it stopped,
        and one with more minutes goes further.
    plan : DuelPlan, optional
        Minutes, sizes and kinds of data.
    workers : int, default=0
        Worker processes; nothing but the time depends on them.
    executor : concurrent.futures.Executor, optional
        Where to work instead.
    retry_failed : bool, default=False
        Whether cells that failed before run again.
    tell : callable, optional
        Called with one sentence of progress, the time left in it.

    Returns
    -------
    DuelResult
        Every race and proof.

    Examples
    --------
    >>> import tempfile
    >>> from paragone.generate.methods import opponent
    >>> small = DuelPlan(minutes=0.001, rows=60, features=2, trials=1, finalists=1, looks=(6,), fresh=60, batch=4)
    >>> with tempfile.TemporaryDirectory() as place:
    ...     found = duel(opponent("bayes"), opponent("tree"), place, small)
    >>> found.names
    ('bayes', 'DecisionTreeClassifier')
    """
    plan = plan or DuelPlan()
    methods = distinct_names(one, other)
    check_methods(methods, plan.target)
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    watch = Stopwatch(place / "duel.times.jsonl", plan.key(methods))
    clock = DuelClock(watch, plan.minutes * 60, tell or (lambda _: None))
    with Laboratory(
        place / STORE, workers, executor=executor, retry_failed=retry_failed
    ) as laboratory:
        evolution, curve, ended_by = _searched(plan, methods, laboratory, clock)
        raced, proofs = _contested(plan, methods, laboratory, clock, evolution)
        progress = evolution.progress
        return DuelResult(
            methods,
            plan,
            raced,
            proofs,
            curve,
            progress.seen,
            progress.fitted,
            laboratory.n_failed,
            clock.last,
            ended_by,
        )


def distinct_names(one: Contender, other: Contender) -> tuple[Contender, Contender]:
    """Return the two under two names: a method may be put against itself, or against one of the same name."""
    return one, replace(other, name=f"{other.name} (second)") if one.name == other.name else other


class DuelClock:
    """Knows the time at every decision: that of the first time it was made, however often it is made again.

    Parameters
    ----------
    watch : Stopwatch
        Keeps the times.
    seconds : float
        All that there are.
    tell : callable
        Called with sentences.
    """

    def __init__(self, watch: Stopwatch, seconds: float, tell: Callable[[str], None]) -> None:
        self.watch, self.seconds, self._tell = watch, seconds, tell
        self.last = 0.0
        self._generation = 0
        self._decisions = count(1)

    def searched(self, generation: int, seconds: float) -> bool:
        """Note a generation; say whether the time of the search is over."""
        self._generation, self.last = generation, seconds
        return seconds >= SEARCH_SHARE * self.seconds

    def over(self) -> bool:
        """Make a decision: whether races and proofs are to begin nothing new."""
        self.last = self.watch.at((self._generation, next(self._decisions)))
        return self.last >= PROOF_SHARE * self.seconds

    def say(self, text: str) -> None:
        """Tell how far it is, with the time left."""
        left = max(0.0, self.seconds - self.last)
        minutes, seconds = divmod(round(left), 60)
        self._tell(f"{text}; {minutes} min {seconds:02d} s left")


def _searched(
    plan: DuelPlan, methods: tuple[Contender, Contender], laboratory: Laboratory, clock: DuelClock
) -> tuple[Evolution, tuple[tuple[float, float, float], ...], str]:
    evolution = Evolution(plan.search(methods), laboratory, clock.watch)
    curve: list[tuple[float, float, float]] = []
    first, second = (method.name for method in methods)
    while True:
        evolution.step()
        progress = evolution.progress
        bests = [_best_lead(evolution, pair) for pair in ((0, 1), (1, 0))]
        curve.append((progress.seconds / 60, bests[0], bests[1]))
        is_over = clock.searched(progress.generation, progress.seconds)
        clock.say(
            f"search: generation {progress.generation}, {progress.seen} formulas, best lead of"
            f" {first} {bests[0]:.3f}, of {second} {bests[1]:.3f}"
        )
        if is_over:
            return evolution, tuple(curve), "its part of the time was over"
        if progress.generation >= PATIENCE and not progress.fitted and laboratory.n_failed:
            said = (
                f"after {progress.generation} generations no formula could be scored, since fits of"
                " a method failed"
            )
            return evolution, tuple(curve), said
        if progress.generation >= PATIENCE and max(bests) < plan.margin / 5:
            said = (
                f"after {progress.generation} generations no formula led by a fifth of the margin"
                " in either direction"
            )
            return evolution, tuple(curve), said


def _best_lead(evolution: Evolution, pair: tuple[int, int]) -> float:
    return max(
        (candidate.lead(pair) for candidate in evolution.archive.niches[pair].values()), default=0.0
    )


def _contested(
    plan: DuelPlan,
    methods: tuple[Contender, Contender],
    laboratory: Laboratory,
    clock: DuelClock,
    evolution: Evolution,
) -> tuple[tuple[Raced, ...], tuple[Proof, ...]]:
    """Race and prove in turn, direction by direction, so that both have got their best by the time it is over."""
    waiting = {
        pair: [
            (str(c.expression), c.lead(pair))
            for _, c in evolution.archive.best(pair)
            if c.lead(pair) > 0
        ]
        for pair in ((0, 1), (1, 0))
    }
    raced: list[Raced] = []
    proofs: list[Proof] = []

    def winner(pair: tuple[int, int]) -> Raced | None:
        """Race the next formulas of a direction, each of another concept, until one leads by the margin."""
        for _ in range(RACES_PER_TURN):
            if not waiting[pair] or clock.over():
                return None
            formula, screened = waiting[pair].pop(0)
            up, down = methods[pair[0]], methods[pair[1]]
            one = Raced(
                up.name,
                down.name,
                formula,
                screened,
                race_leads(plan, formula, up, down, laboratory),
            )
            raced.append(one)
            clock.say(f"race: {up.name} over {down.name} by {one.lead:.3f} under tuning")
            if one.lead >= plan.margin:
                return one
        return None

    for _ in range(plan.finalists):
        # Both race before either is proven: a race is short, and says something of a direction that
        # has no time left.
        for one in [winner(pair) for pair in waiting]:
            if one is not None and not clock.over():
                claim = LeadClaim(one.up, one.down, plan.generator(one.formula))
                # One after another, at the level of the whole family: a proof that is there cannot
                # be lost by the next.
                (proof,) = prove(
                    [claim], methods, laboratory, plan.proof(), plan.seed, over=clock.over
                )
                if proof.ending != "not begun":
                    proofs.append(proof)
                    clock.say(_told(proof))
    return tuple(raced), tuple(proofs)


def _told(proof: Proof) -> str:
    limits = proof.interval
    between = (
        f", {limits.estimate:.3f} [{limits.low:.3f}, {limits.high:.3f}]" if proof.leads else ""
    )
    samples = f"after {proof.stopped_at} samples"
    return f"proof: {proof.claim.up} over {proof.claim.down} {proof.ending} {samples}{between}"


def race_leads(
    plan: DuelPlan, formula: str, up: Contender, down: Contender, laboratory: Laboratory
) -> tuple[float, ...]:
    """Return the leads of a method on a few samples that are used for nothing else; nothing where a fit failed."""
    generator = plan.generator(formula)
    # The key makes the rows: those of a race are never those of a proof, whose key is the identity
    # itself.
    key = f"race {generator.identity}"
    fits = tuned_fits(
        generator, (up, down), laboratory, plan.proof(), plan.seed, range(RACE_SAMPLES), key=key
    )
    if len(fits) < 2 * RACE_SAMPLES:
        return ()
    return tuple(fits[up.name, i].score - fits[down.name, i].score for i in range(RACE_SAMPLES))


def shown_seed(plan: DuelPlan, generator: GeneratorSpec) -> int:
    """Return the seed of the rows that are shown and written: no race and no proof saw them."""
    return row_seed("shown", plan.seed, generator.identity)


CURVE_SIZES = (0.25, 0.5, 1.0, 2.0)
"""Training rows of a learning curve, in units of the rows of the duel."""
CURVE_SAMPLES = 4
CURVE_TRIALS = 4
CURVES_PER_DIRECTION = 1
"""Learning curves are of the best dataset of each direction: each takes as long as a proof."""


@dataclass(frozen=True, eq=False)
class ProvenSet:
    """A proven dataset with all that is shown of it.

    Parameters
    ----------
    name : str
        The dataset.
    proof : Proof
        What was proven on it.
    data : Dataset
        The rows that are written; no race and no proof saw them.
    truth : TruthSheet
        Ceiling and active features.
    curve : DataFrame, optional
        Columns ``method, rows, mean, low, high``.
    """

    name: str
    proof: Proof
    data: Dataset
    truth: TruthSheet
    curve: pd.DataFrame | None = None

    @property
    def generator(self) -> GeneratorSpec:
        """The source of rows."""
        return self.proof.claim.generator

    @property
    def ceiling(self) -> float:
        """The score of the best rule."""
        return self.truth.scores[CEILINGS[self.generator.target]].value

    @property
    def metric(self) -> str:
        """What scores are called."""
        return METRICS[self.generator.target]

    @property
    def has_curve(self) -> bool:
        """Whether learning curves were measured, and some point of them."""
        return self.curve is not None and len(self.curve) > 0


def proven_sets(
    result: DuelResult,
    laboratory: Laboratory,
    name: str,
    tell: Callable[[str], None] | None = None,
) -> tuple[ProvenSet, ...]:
    """Return every dataset that a duel proved, direction by direction, the surest first.

    Parameters
    ----------
    result : DuelResult
        What was proven.
    laboratory : Laboratory
        Where learning curves are measured; the store of the duel.
    name : str
        Datasets are called by it and a number.
    tell : callable, optional
        Called with one sentence per dataset.
    """
    plan = result.plan
    found: list[ProvenSet] = []
    for up, down in result.directions:
        for place, proof in enumerate(result.proven(up, down)):
            called, generator = f"{name}-{len(found) + 1}", proof.claim.generator
            data = generator.sample(plan.rows, shown_seed(plan, generator), name=called)
            curve = None
            if place < CURVES_PER_DIRECTION:
                curve = learning_curves(result, generator, laboratory)
            found.append(ProvenSet(called, proof, data, truth_sheet(generator), curve))
            if tell is not None:
                tell(f"drawn: {called}, {up} over {down}")
    return tuple(found)


def learning_curves(
    result: DuelResult, generator: GeneratorSpec, laboratory: Laboratory
) -> pd.DataFrame:
    """Measure both methods at several numbers of training rows, tuned at each with the same small budget.

    Returns
    -------
    DataFrame
        Columns ``method, rows, mean, low, high``; points where a fit failed are left out.
    """
    plan, samples = result.plan, range(CURVE_SAMPLES)
    rows: list[tuple[Any, ...]] = []
    for size in sorted({max(40, round(share * plan.rows)) for share in CURVE_SIZES}):
        small = replace(plan.proof(), n_train=size, trials=min(CURVE_TRIALS, plan.trials))
        key = f"curve {size} {generator.identity}"
        fits = tuned_fits(generator, result.methods, laboratory, small, plan.seed, samples, key=key)
        for name in result.names:
            scores = [fits[name, i].score for i in samples if (name, i) in fits]
            if len(scores) == CURVE_SAMPLES:
                rows.append((name, size, *astuple(mean_interval(np.array(scores)))))
    return pd.DataFrame(rows, columns=["method", "rows", "mean", "low", "high"])
