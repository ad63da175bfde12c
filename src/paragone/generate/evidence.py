"""Evidence: methods measured again, on many samples with many fresh rows, and what that proves about pairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from itertools import permutations
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from paragone.errors import InputError, unknown_name
from paragone.generate.laboratory import Laboratory, parted
from paragone.generate.methods import Contender
from paragone.generate.sampling import GeneratorSpec
from paragone.generate.targets import CEILINGS, fresh_protocol
from paragone.generate.truth import bayes_scores
from paragone.hashing import digest
from paragone.stats import Interval, paired_t
from paragone.ties import rank_losses, settle
from paragone.validation import FloatArray

if TYPE_CHECKING:
    import pandas as pd

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


Axis: TypeAlias = Literal["n", "noise", "irrelevant"]
AXES: Mapping[Axis, Callable[[float], Any]] = {"n": int, "noise": float, "irrelevant": int}


def learning_curve(
    generator: GeneratorSpec,
    methods: Sequence[tuple[Contender, Mapping[str, Any]]],
    laboratory: Laboratory,
    over: Axis,
    values: Sequence[float],
    *,
    n_train: int = 1000,
    n_fresh: int = 20_000,
    n_seeds: int = 10,
) -> pd.DataFrame:
    """Measure methods on fresh rows while one thing about the data changes.

    Parameters
    ----------
    generator : GeneratorSpec
        The source of rows.
    methods : sequence of (Contender, parameters)
        What is measured.
    laboratory : Laboratory
        Where the fits run.
    over : {"n", "noise", "irrelevant"}
        What changes: training rows, label noise, or irrelevant columns.
    values : sequence of float
        Its values.
    n_train, n_fresh, n_seeds : int
        Rows to train on (where they do not change), fresh rows, and samples.

    Returns
    -------
    DataFrame
        Columns ``over, at, method, mean, low, high, bayes``; a point where a fit failed is left
        out.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> tree = Contender("Tree", "sklearn.tree:DecisionTreeClassifier")
    >>> with tempfile.TemporaryDirectory() as folder, Laboratory(Path(folder) / "lab.sqlite") as laboratory:
    ...     generator = GeneratorSpec("add(X0, X1)", n_features=3)
    ...     curve = learning_curve(generator, [(tree, {})], laboratory, "n", [50, 800], n_fresh=500, n_seeds=3)
    >>> bool(curve["mean"].is_monotonic_increasing)
    True
    """
    import pandas as pd

    if over not in AXES:
        raise InputError(f"a learning curve is over 'n', 'noise' or 'irrelevant', not {over!r}")
    rows = []
    for value in values:
        changed = generator if over == "n" else replace(generator, **{over: AXES[over](value)})
        evidence = measure(
            f"{generator.formula} at {over} {value:g}",
            changed,
            methods,
            laboratory,
            n_train=int(value) if over == "n" else n_train,
            n_fresh=n_fresh,
            n_seeds=n_seeds,
        )
        if evidence is not None:
            rows += [
                (
                    over,
                    value,
                    m,
                    *astuple(evidence.of(m)),
                    bayes_scores(changed)[0][CEILINGS[changed.target]].value,
                )
                for m in evidence.methods
            ]
    return pd.DataFrame(rows, columns=["over", "at", "method", "mean", "low", "high", "bayes"])
