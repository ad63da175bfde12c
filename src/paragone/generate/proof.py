"""Proof: claims that one method beats another, both tuned alike on every sample, on rows that nothing was chosen by.

A sample is fresh train rows and fresh test rows. Both methods are tuned at the same budget on the
train rows alone, with seeds that are new on every sample, and scored on the test rows. A claim
holds when the lower end of an interval that covers all claims of the family, at all looks, reaches
the margin. Claims that are shown stop early, hopeless ones too.

A lead may be a coin: in one sample of ten the winner does not find the structure and falls to
chance. Ten samples without such a fall show a small spread, and Student's interval takes it at its
word: for a coin that comes up well in 80 % of the samples it is wrong a thousand times as often as
it says, at the level of a family of 150 claims. The bound here is Student's with one sample more
than was seen, on which the lead lies half an AUROC on the wrong side of the bound (the winner at
chance, the loser perfect). That is what the next sample could be, for all that the seen ones can
tell. It fades as samples grow in number, and asks for more of them the larger the family of claims
is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.special import stdtrit

from paragone.errors import InputError, unknown_name
from paragone.generate.laboratory import Laboratory, fresh_protocol, parted
from paragone.generate.methods import SCORING, Contender, plain_params
from paragone.generate.sampling import GeneratorSpec, TargetKind
from paragone.hashing import digest
from paragone.stats import Interval, paired_t
from paragone.ties import rank_losses, settle
from paragone.validation import FloatArray

UNSEEN = 0.5
"""How far on the wrong side of the bound the unseen sample lies: from chance to perfect in AUROC."""
SPENDING = 2
"""After n of N samples the share (n / N) ** 2 of the level is spent: early looks ask for more (Kim and DeMets 1987)."""


@dataclass(frozen=True)
class Looks:
    """The numbers of samples at which claims are looked at, and the level that each look has.

    Parameters
    ----------
    at : tuple of int
        The numbers of samples, rising.
    alpha : float, default=0.05
        The chance that an interval of any claim, at any look, misses its mean lead.
    n_claims : int, default=1
        The size of the family, fixed before anything is looked at.
    unseen : float, default=0.5
        See `UNSEEN`; 0 gives Student's interval.
    widest : float, default=1.0
        The largest lead that there can be; infinite for scores without a bound, such as R2.

    Examples
    --------
    >>> looks = Looks((6, 12, 24), n_claims=10)
    >>> [round(level, 5) for level in looks.levels]
    [0.00031, 0.00094, 0.00375]
    >>> steady = np.full(24, 0.3)
    >>> [round(looks.interval(steady[:n]).low, 3) for n in looks.at]
    [-1.0, -0.05, 0.199]
    """

    at: tuple[int, ...] = (6, 12, 24)
    alpha: float = 0.05
    n_claims: int = 1
    unseen: float = UNSEEN
    widest: float = 1.0

    def __post_init__(self) -> None:
        if not self.at or self.at[0] < 2 or list(self.at) != sorted(set(self.at)):
            raise InputError(
                "looks are rising numbers of samples, the first at least 2; they are"
                f" {list(self.at)}"
            )
        if not 0 < self.alpha < 1:
            raise InputError(f"alpha must lie between 0 and 1, it is {self.alpha}")
        if self.n_claims < 1:
            raise InputError(f"a family has at least one claim, n_claims is {self.n_claims}")
        if not self.unseen >= 0:
            raise InputError(f"unseen must not be negative, it is {self.unseen}")

    @property
    def levels(self) -> tuple[float, ...]:
        """The two-sided level of one claim at each look; over looks and claims they add up to alpha at most."""
        spent = (np.array([0, *self.at]) / self.at[-1]) ** SPENDING
        return tuple((np.diff(spent) * self.alpha / self.n_claims).tolist())

    def interval(self, leads: Sequence[float] | FloatArray) -> Interval:
        """Return the mean lead with its interval at a look; the widest there is where so few samples bound nothing.

        The limits m are those at which Student's test of ``leads - m``, with one value more at
        ``-unseen`` (or ``unseen`` for the upper limit), just reaches the level of the look.
        """
        values = np.asarray(leads, dtype=np.float64)
        if len(values) not in self.at:
            raise InputError(
                f"{len(values)} samples are not a look: looks are at {', '.join(map(str, self.at))}"
            )
        half = float(self.half_width(len(values), float(((values - values.mean()) ** 2).sum())))
        mean = float(values.mean())
        return Interval(mean, max(mean - half, -self.widest), min(mean + half, self.widest))

    def half_width(self, n: int, squares: float | FloatArray) -> FloatArray:
        """Return how far the limits lie from the mean, for samples with this sum of squared deviations."""
        level, spread = self.levels[self.at.index(n)], np.asarray(squares, dtype=np.float64)
        # The unseen sample is one more, and so is its degree of freedom.
        t = float(stdtrit(n if self.unseen else n - 1, 1 - level / 2))
        if not self.unseen:
            return np.asarray(t * np.sqrt(spread / (n - 1) / n))
        # With x = mean - m and u = unseen, (n x - u) / (n + 1) = t se, squared: a quadratic in x.
        u, first = self.unseen, n * n - t * t
        if first <= 0:
            return np.full(spread.shape, np.inf)
        second = u * (n + t * t)
        third = u * u * (1 - t * t) - t * t * (n + 1) * spread / n
        return np.asarray((second + np.sqrt(second * second - first * third)) / first)

    def foreseen(self, leads: Sequence[float] | FloatArray, errors: float = 0.0) -> float:
        """Return the lower limit of the last look, if mean and spread stay as in these leads.

        Parameters
        ----------
        leads : sequence of float
            At least two.
        errors : float, default=0.0
            By how many standard errors the mean may turn out higher.
        """
        values = np.asarray(leads, dtype=np.float64)
        last, variance = self.at[-1], float(values.var(ddof=1))
        hoped = float(values.mean()) + errors * float(np.sqrt(variance / len(values)))
        return hoped - float(self.half_width(last, variance * (last - 1)))

    def is_hopeless(self, leads: Sequence[float] | FloatArray, margin: float) -> bool:
        """Say whether the last look would not reach the margin even if the mean turned out one error higher.

        Giving up never makes a claim true: the level stays what it is.
        """
        return self.foreseen(leads, errors=1.0) < margin


FIRST_SEED = 1_000_000
"""Evidence seeds begin here, far from those of searches: nothing is measured on rows that it was chosen on."""
CONFIDENCE = 0.95

RowRole: TypeAlias = Literal["shown", "race", "evidence"]
"""What rows are for: the dataset itself, the races that choose what is proven, the proof."""
_ROLES: Mapping[RowRole, int] = {"shown": 1 << 31, "race": 2 << 48, "evidence": 3 << 48}
"""Added to a hash of 31 bits for the dataset itself, whose seed many a library takes, and of 48 bits else."""


def row_seed(role: RowRole, seed: int, key: str, sample: int = 0) -> int:
    """Return the seed of the rows of one sample: rows of two roles are never the same.

    The role is in the highest bits, so no seed of one role is one of another, nor one that a person
    would write (those of searches are such). Below is a hash of the collection's seed, the
    dataset's key and the sample's number: every dataset has rows of its own, and another collection
    seed gives other rows.

    Parameters
    ----------
    role : {"shown", "race", "evidence"}
        What the rows are for.
    seed : int
        Of the collection.
    key : str
        Of the dataset, such as its generator's ``identity``.
    sample : int, default=0
        The number of the sample.

    Returns
    -------
    int
        Below 2**53, so that every reader of JSON keeps it; below 2**32 for the dataset itself.

    Examples
    --------
    >>> row_seed("race", 1, "product", 0) >> 48, row_seed("evidence", 1, "product", 0) >> 48
    (2, 3)
    >>> row_seed("evidence", 1, "product", 0) != row_seed("evidence", 2, "product", 0)
    True
    """
    if role not in _ROLES:
        raise unknown_name("role of rows", role, _ROLES)
    base = _ROLES[role]
    return base + int(digest([role, seed, key, sample])[:12], 16) % min(base, 1 << 48)


def mean_interval(values: FloatArray) -> Interval:
    """Return the mean over samples with its two-sided Student interval; one sample alone has no limits (NaN).

    Examples
    --------
    >>> found = mean_interval(np.array([0.1, 0.2, 0.3]))
    >>> round(found.estimate, 4), round(found.low, 4), round(found.high, 4)
    (0.2, -0.0484, 0.4484)
    """
    if len(values) < 2 or not np.isfinite(values).all():
        return Interval(float(np.mean(values)))
    return paired_t(values, level=CONFIDENCE).interval


@dataclass(frozen=True, eq=False)
class Evidence:
    """Every method's score on the same samples of a generator: AUROC, or R2 where the target is a number.

    Parameters
    ----------
    methods : tuple of str
        The methods.
    aurocs : ndarray of shape (n_seeds, n_methods)
        On the fresh rows of each sample.
    bounded : int
        Fits that hit a bound on iterations.

    Examples
    --------
    >>> evidence = Evidence(("A", "B"), np.array([[0.9, 0.7], [0.92, 0.71], [0.91, 0.72]]))
    >>> round(evidence.lead("A", "B").low, 4), evidence.proven(0.05)
    (0.1752, (('A', 'B'),))
    """

    methods: tuple[str, ...]
    aurocs: FloatArray
    bounded: int = 0

    def of(self, method: str) -> Interval:
        """Return a method's mean AUROC with its interval."""
        return mean_interval(self.aurocs[:, self.methods.index(method)])

    def lead(self, up: str, down: str) -> Interval:
        """Return the mean paired difference of two methods with its interval."""
        return mean_interval(self.leads(up, down))

    def leads(self, up: str, down: str) -> FloatArray:
        """Return the difference of two methods on every sample."""
        return np.asarray(
            self.aurocs[:, self.methods.index(up)] - self.aurocs[:, self.methods.index(down)]
        )

    def proven(self, margin: float) -> tuple[tuple[str, str], ...]:
        """Return the ordered pairs whose difference reaches the margin with its lower bound."""
        return tuple(p for p in permutations(self.methods, 2) if self.lead(*p).low >= margin)

    @property
    def stability(self) -> float:
        """How alike the order of the methods is from sample to sample: the mean Spearman correlation with the mean."""
        from scipy.stats import spearmanr

        whole = rank_losses(self.aurocs.mean(axis=0), size=1.0)
        if np.ptp(whole) == 0:
            return 0.0
        # Values that differ in rounding only must have equal ranks, or the correlation counts
        # noise.
        rows = settle(self.aurocs.T, size=1.0).T
        each = [spearmanr(row, whole).statistic if np.ptp(row) else 0.0 for row in rows]
        return float(np.mean(each))


def measure(
    name: str,
    generator: GeneratorSpec,
    methods: Sequence[tuple[Contender, Mapping[str, Any]]],
    laboratory: Laboratory,
    *,
    n_train: int,
    n_fresh: int,
    n_seeds: int = 0,
    first_seed: int = FIRST_SEED,
    seeds: Sequence[int] = (),
) -> Evidence | None:
    """Fit every method in a given configuration on fresh samples and score it on fresh rows.

    What a collection claims is measured otherwise, with both methods tuned on every sample:
    `paragone.generate.proof`.

    Parameters
    ----------
    name : str
        What the store calls it.
    generator : GeneratorSpec
        The source of rows.
    methods : sequence of (Contender, parameters)
        The methods, each with the configuration it was found to do best with.
    laboratory : Laboratory
        Where the fits run.
    n_train, n_fresh, n_seeds : int
        Rows to train on, fresh rows to score on, and samples; methods see the same samples.
    first_seed : int
        Of the first sample.
    seeds : sequence of int, optional
        Of all samples, in place of their number and the first one.

    Returns
    -------
    Evidence or None
        None where a fit failed on some sample: nothing is claimed then.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> methods = [(Contender(name, f"sklearn.{use}"), {}) for name, use in
    ...            {"NB": "naive_bayes:GaussianNB", "Tree": "tree:DecisionTreeClassifier"}.items()]
    >>> with tempfile.TemporaryDirectory() as folder, Laboratory(Path(folder) / "lab.sqlite") as laboratory:
    ...     generator = GeneratorSpec("add(X0, X1)", n_features=3)
    ...     evidence = measure("sum", generator, methods, laboratory, n_train=200, n_fresh=500, n_seeds=3)
    >>> evidence.aurocs.shape, bool(evidence.of("NB").low > 0.9)
    ((3, 2), True)
    """
    seeds = seeds or range(first_seed, first_seed + n_seeds)
    if len(seeds) < 2:
        raise InputError(f"evidence needs at least two samples, n_seeds is {n_seeds}")
    datasets = [
        parted(generator.sample(n_train + n_fresh, seed, name=f"sample {i}"), np.arange(n_train))
        for i, seed in enumerate(seeds)
    ]
    built = {contender.name: contender.configured(params) for contender, params in methods}
    protocol, metric = fresh_protocol(generator.target)
    found = laboratory.run(f"evidence {name}", datasets, built, protocol)
    # Leaving out the failed sample would favour the method that failed on it.
    if len(found) < len(datasets) * len(built):
        return None
    aurocs = [[found[d.name, method].scores[metric] for method in built] for d in datasets]
    bounded = sum(int(result.info["bounded"]) for result in found.values())
    return Evidence(tuple(built), np.array(aurocs), bounded)


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
        See `paragone.generate.proof`.
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

    def scores_of(self, method: str) -> list[float]:
        """Return the scores of a method, sample by sample."""
        return [fit.score for fit in self.fits if fit.method == method]

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
        Fits of an earlier sitting, which are not fitted again; see `paragone.generate.evolving`.

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
