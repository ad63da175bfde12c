"""Proof: claims that one method beats another, both tuned alike on every sample, on rows that nothing was chosen by.

A sample is fresh train rows and fresh test rows. Both methods are tuned at the same budget on the
train rows alone, with seeds that are new on every sample, and scored on the test rows. A claim
holds when the lower end of an interval that covers all claims of the family, at all looks, reaches
the margin. Claims that are shown stop early, hopeless ones too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np

from paragone.errors import InputError, unknown_name
from paragone.generate.evidence import RowRole, row_seed
from paragone.generate.laboratory import Laboratory
from paragone.generate.looks import UNSEEN, Looks
from paragone.generate.methods import Contender, plain_params
from paragone.generate.sampling import GeneratorSpec, TargetKind
from paragone.generate.targets import fresh_protocol
from paragone.generate.tuned import TrialScoring
from paragone.stats import Interval

GIVE_UP = 0.1
"""A configuration that falls further behind the best after two folds is not tried on the others."""

Ending: TypeAlias = Literal[
    "shown", "hopeless", "not shown", "failed", "not begun", "not confirmed"
]
"""How a claim ended: at a look that showed it or had no hope for it, after all looks, by a failed fit, or by time; or
shown at first, and not when it was measured again by other means."""


@dataclass(frozen=True)
class LeadClaim:
    """That a method beats another on the rows of a generator.

    Parameters
    ----------
    up, down : str
        The names of the methods.
    generator : GeneratorSpec
        The source of rows.
    key : str
        Names the dataset: claims with one key are proven on the same samples. Where it is empty,
        the generator's identity.

    Examples
    --------
    >>> product = GeneratorSpec("mul(X0, X1)", n_features=2)
    >>> LeadClaim("SVC", "Tree", product).key == product.identity
    True
    """

    up: str
    down: str
    generator: GeneratorSpec
    key: str = ""

    def __post_init__(self) -> None:
        if self.up == self.down:
            raise InputError(f"a method cannot be claimed to beat itself: {self.up}")
        if not self.key:
            object.__setattr__(self, "key", self.generator.identity)


@dataclass(frozen=True)
class ProofPlan:
    """How claims are proven: fixed before anything is looked at.

    Parameters
    ----------
    margin : float, default=0.05
        By how much the score of the two methods must differ.
    alpha : float, default=0.05
        The chance that any interval of the family misses the mean lead.
    trials, folds : int
        Configurations that each method may try on each sample, and inner folds of the train rows
        that decide.
    n_train, n_fresh : int
        Train and test rows of a sample.
    looks : tuple of int, default=(6, 12, 24)
        Numbers of samples at which claims are looked at.
    n_claims : int, default=1
        The claims of the whole family, those of other calls included.
    unseen : float, default=0.5
        See `paragone.generate.looks`.
    defaults : bool, default=False
        Whether the first configuration that each method tries is that of its library: a search
        space may leave it out, and a method that loses to its own defaults was not tuned.

    Examples
    --------
    >>> [round(level, 5) for level in ProofPlan(n_claims=20).family().levels]
    [0.00016, 0.00047, 0.00188]
    """

    margin: float = 0.05
    alpha: float = 0.05
    trials: int = 20
    folds: int = 3
    n_train: int = 1000
    n_fresh: int = 5000
    looks: tuple[int, ...] = (6, 12, 24)
    n_claims: int = 1
    unseen: float = UNSEEN
    defaults: bool = False

    def __post_init__(self) -> None:
        for name, least in (("trials", 1), ("folds", 2), ("n_train", 10), ("n_fresh", 10)):
            if getattr(self, name) < least:
                raise InputError(f"{name} must be at least {least}, it is {getattr(self, name)}")
        self.family()

    def family(self, target: TargetKind = "binary") -> Looks:
        """Return the looks with their levels.

        From chance to perfect R2 goes twice as far as AUROC, and has no lower bound: so do leads of
        it.
        """
        if target == "regression":
            return Looks(
                tuple(self.looks), self.alpha, self.n_claims, 2 * self.unseen, widest=float("inf")
            )
        return Looks(tuple(self.looks), self.alpha, self.n_claims, self.unseen)


@dataclass(frozen=True)
class TunedFit:
    """A method on a sample of the evidence: the rows, the configuration that tuning chose, and the scores.

    Parameters
    ----------
    method : str
        The method.
    sample, row_seed : int
        The number of the sample, and the seed of its rows.
    params : mapping
        What tuning chose; empty for a method without anything to tune.
    tuning_score : float
        Its mean over the inner folds; NaN where nothing was tuned.
    score : float
        On the fresh test rows.
    """

    method: str
    sample: int
    row_seed: int
    params: Mapping[str, Any]
    tuning_score: float
    score: float


@dataclass(frozen=True)
class Proof:
    """What became of a claim.

    Parameters
    ----------
    claim : LeadClaim
        What was claimed.
    leads : tuple of float
        The difference of the two methods on every sample.
    interval : Interval
        The mean lead with its family-wise limits; NaN before the first look.
    holds : bool
        Whether the lower limit reaches the margin.
    ending : str
        See `Ending`.
    fits : tuple of TunedFit
        Every fit of the two methods.

    Examples
    --------
    >>> claim = LeadClaim("SVC", "Tree", GeneratorSpec("mul(X0, X1)", n_features=2))
    >>> proof = Proof(claim, (0.2, 0.3, -0.1, 0.2), Interval(0.15, -0.1, 0.4), False, "not shown")
    >>> proof.stopped_at, proof.share_won
    (4, 0.75)
    """

    claim: LeadClaim
    leads: tuple[float, ...]
    interval: Interval
    holds: bool
    ending: Ending
    fits: tuple[TunedFit, ...] = field(repr=False, default=())

    @property
    def stopped_at(self) -> int:
        """The number of samples that it took."""
        return len(self.leads)

    @property
    def share_won(self) -> float:
        """The share of samples on which the method was ahead: near a half, the lead is a coin."""
        return float(np.mean(np.array(self.leads) > 0)) if self.leads else float("nan")


TunedFits: TypeAlias = dict[tuple[str, int], TunedFit]
"""By method and number of the sample."""
KnownFits: TypeAlias = Mapping[tuple[str, str, int], TunedFit]
"""Fits of an earlier sitting, by the key of the dataset, method and number of the sample."""
NOTHING_KNOWN: KnownFits = MappingProxyType({})


def prove(
    claims: Sequence[LeadClaim],
    methods: Sequence[Contender],
    laboratory: Laboratory,
    plan: ProofPlan,
    seed: int,
    *,
    tell: Callable[[Proof], None] | None = None,
    over: Callable[[], bool] = lambda: False,
    known: KnownFits = NOTHING_KNOWN,
) -> tuple[Proof, ...]:
    """Prove claims, or not.

    Datasets are taken one after another in the order of their claims. What the store has already is
    not fitted again, so a proof that was stopped goes on where it was.

    Parameters
    ----------
    claims : sequence of LeadClaim
        At most ``plan.n_claims``.
    methods : sequence of Contender
        The methods that they name.
    laboratory : Laboratory
        Where the fits run.
    plan : ProofPlan
        Budget, margin and level.
    seed : int
        Of the collection: another one is a replication on other rows.
    tell : callable, optional
        Called with every proof as it ends.
    over : callable, optional
        Asked before each look whether the time is over; the claims left then do not hold.
    known : mapping, optional
        Fits of an earlier sitting, which are not fitted again; see `paragone.generate.docket`.

    Returns
    -------
    tuple of Proof
        In the order of the claims.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> line = GeneratorSpec("add(X0, X1)", n_features=3)
    >>> stump = Contender("Stump", "sklearn.tree:DecisionTreeClassifier", {"max_depth": 1})
    >>> methods = [Contender("NB", "sklearn.naive_bayes:GaussianNB"), stump]
    >>> plan = ProofPlan(n_train=100, n_fresh=500, looks=(6, 24), n_claims=2)
    >>> with tempfile.TemporaryDirectory() as folder, Laboratory(Path(folder) / "lab.sqlite") as laboratory:
    ...     claims = LeadClaim("NB", "Stump", line), LeadClaim("Stump", "NB", line)
    ...     for proof in prove(claims, methods, laboratory, plan, seed=1):
    ...         print(proof.claim.up, proof.holds, proof.ending, proof.stopped_at, proof.share_won)
    NB True shown 24 1.0
    Stump False hopeless 6 0.0
    """
    named = {method.name: method for method in methods}
    for claim in claims:
        for name in (claim.up, claim.down):
            if name not in named:
                raise unknown_name("method in a claim", name, named)
    if len(set(claims)) > plan.n_claims:
        raise InputError(
            f"{len(set(claims))} claims are put to proof, but the family was fixed at"
            f" {plan.n_claims}"
        )
    by_key: dict[str, list[LeadClaim]] = {}
    for claim in dict.fromkeys(claims):
        same = by_key.setdefault(claim.key, [])
        if same and same[0].generator != claim.generator:
            raise InputError(f"claims with the key {claim.key!r} are about two generators")
        same.append(claim)
    found: dict[LeadClaim, Proof] = {}
    for together in by_key.values():
        for proof in _proven_together(together, named, laboratory, plan, seed, over, known):
            found[proof.claim] = proof
            if tell is not None:
                tell(proof)
    return tuple(found[claim] for claim in claims)


def _proven_together(
    claims: Sequence[LeadClaim],
    methods: Mapping[str, Contender],
    laboratory: Laboratory,
    plan: ProofPlan,
    seed: int,
    over: Callable[[], bool],
    known: KnownFits,
) -> list[Proof]:
    """Prove the claims about one dataset: they share its samples, and a method is fitted while a claim needs it."""
    looks, fits = plan.family(claims[0].generator.target), TunedFits()
    ended: dict[LeadClaim, Proof] = {}
    seen = 0
    for look in looks.at:
        open_claims = [claim for claim in claims if claim not in ended]
        if not open_claims or over():
            break
        names = dict.fromkeys(name for claim in open_claims for name in (claim.up, claim.down))
        needed = [methods[name] for name in names]
        samples = range(seen, look)
        fits |= tuned_fits(
            claims[0].generator,
            needed,
            laboratory,
            plan,
            seed,
            samples,
            key=claims[0].key,
            known=known,
        )
        seen = look
        for claim in open_claims:
            proof = _looked_at(claim, fits, looks, plan.margin, look)
            if proof.ending != "not shown" or look == looks.at[-1]:
                ended[claim] = proof
    return [
        ended.get(claim) or _looked_at(claim, fits, looks, plan.margin, seen) for claim in claims
    ]


def _looked_at(claim: LeadClaim, fits: TunedFits, looks: Looks, margin: float, n: int) -> Proof:
    own = tuple(
        fits[name, i] for i in range(n) for name in (claim.up, claim.down) if (name, i) in fits
    )
    if not n:
        return Proof(claim, (), Interval(float("nan")), False, "not begun")
    # Leaving out the sample on which a method failed would favour that method.
    if len(own) < 2 * n:
        return Proof(claim, (), Interval(float("nan")), False, "failed", own)
    leads = tuple(fits[claim.up, i].score - fits[claim.down, i].score for i in range(n))
    interval = looks.interval(leads)
    holds = interval.low >= margin
    hopeless = not holds and n < looks.at[-1] and looks.is_hopeless(leads, margin)
    ending: Ending = "shown" if holds else "hopeless" if hopeless else "not shown"
    return Proof(claim, leads, interval, holds, ending, own)


def tuned_fits(
    generator: GeneratorSpec,
    methods: Sequence[Contender],
    laboratory: Laboratory,
    plan: ProofPlan,
    seed: int,
    samples: Sequence[int],
    *,
    key: str = "",
    role: RowRole = "evidence",
    known: KnownFits = NOTHING_KNOWN,
) -> TunedFits:
    """Tune methods on samples of a generator, all with the same budget, and score them on fresh rows.

    Parameters
    ----------
    generator : GeneratorSpec
        The source of rows.
    methods : sequence of Contender
        The methods; each is tuned by its space and portfolio.
    laboratory : Laboratory
        Where the fits run.
    plan : ProofPlan
        Rows and budget.
    seed : int
        Of the collection.
    samples : sequence of int
        The numbers of the samples.
    key : str
        Of the dataset; the generator's identity where it is empty.
    role : {"evidence", "race", "shown"}, default="evidence"
        What the rows are for; those of two roles are never the same.
    known : mapping, optional
        Fits that need not be made again. A method that is known on some of the samples only is
        fitted on all of them.

    Returns
    -------
    dict
        By method and number of the sample; a fit that failed is left out.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> tree = Contender("Tree", "sklearn.tree:DecisionTreeClassifier", portfolio=({"max_depth": 1}, {"max_depth": 5}))
    >>> plan = ProofPlan(n_train=200, n_fresh=200, trials=2)
    >>> square = GeneratorSpec("mul(X0, X0)", n_features=2)
    >>> with tempfile.TemporaryDirectory() as folder, Laboratory(Path(folder) / "lab.sqlite") as laboratory:
    ...     tuned_fits(square, [tree], laboratory, plan, 1, [0])["Tree", 0].params
    {'max_depth': 5}
    """
    key = key or generator.identity
    whole = list(methods)
    methods = [
        method
        for method in whole
        if any((key, method.name, sample) not in known for sample in samples)
    ]
    seeds = {sample: row_seed(role, seed, key, sample) for sample in samples}
    if not methods:
        return {
            (method.name, sample): known[key, method.name, sample]
            for sample in samples
            for method in whole
        }
    datasets = {
        sample: generator.parts(plan.n_train, plan.n_fresh, seeds[sample], name=f"sample {sample}")
        for sample in samples
    }
    protocol, scored = fresh_protocol(generator.target)
    found = laboratory.run(
        f"{role} {key}",
        list(datasets.values()),
        {method.name: tuner_of(method, plan, generator.target) for method in methods},
        protocol,
        seed=seed,
    )
    fits: TunedFits = {}
    for sample, dataset in datasets.items():
        for method in whole:
            cell = found.get((dataset.name, method.name))
            if cell is not None:
                tuning, score = cell.scores.get("cv", float("nan")), cell.scores[scored]
                fits[method.name, sample] = TunedFit(
                    method.name, sample, seeds[sample], dict(cell.info["params"]), tuning, score
                )
            elif (key, method.name, sample) in known:
                fits[method.name, sample] = known[key, method.name, sample]
    return fits


SCORING: Mapping[TargetKind, TrialScoring] = {
    "binary": "auroc",
    "multiclass": "classes",
    "regression": "r2",
}
"""What tuning looks at, and what claims are about: AUROC, its mean over classes against the rest, or R2."""


def tuner_of(method: Contender, plan: ProofPlan, target: TargetKind = "binary") -> dict[str, Any]:
    """Return a method with the tuning of a plan, as an experiment declares it; its seed is the experiment's to set."""
    first = [plain_params(params) for params in method.portfolio]
    if plan.defaults and (method.space or len(first) > 1):
        first = [{}, *(params for params in first if params)]
    params = {
        "classifier": method.declared(),
        "space": {name: dict(limits) for name, limits in method.space.items()},
        "first": first,
        "trials": plan.trials,
        "folds": plan.folds,
        "tolerance": GIVE_UP,
        "fresh_seeds": True,
    }
    if target != "binary":
        params["scoring"] = SCORING[target]
    if target == "regression":
        # R2 may be negative, where falling behind by a share of it means nothing.
        params["tolerance"] = None
    return {"use": "paragone.generate.tuned:TunedClassifier", "params": params}
