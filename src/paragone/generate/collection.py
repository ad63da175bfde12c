"""What a collection says of pairs of methods: claims that were put to proof, and pairs that stayed open.

Manifests: generated datasets written as tables, with a file beside them that says what each of them is.

Collection: generated datasets with their evidence, as a file whose content proves itself by hashes.

The claims of a collection put to proof on variants of its datasets, with a level of their own.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field, fields, replace
from importlib.resources import as_file
from itertools import permutations
from math import inf, isfinite, isinf, nan
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd

from paragone.data import Dataset
from paragone.errors import InputError, unknown_name
from paragone.generate.formulas import simplify
from paragone.generate.inspection import Inspection, Specimen, inspect_sets
from paragone.generate.laboratory import Laboratory
from paragone.generate.methods import CEILINGS, METRICS, Contender, reference_methods, target_of
from paragone.generate.proof import Evidence, LeadClaim, Proof, ProofPlan, prove
from paragone.generate.sampling import GeneratorSpec, Part, TargetKind, VariantGenerator, population
from paragone.generate.sets import (
    DatasetVariant,
    EvolvedEntry,
    check_hashes,
    checked_formula,
    collection_file,
    hash_features,
    hash_labels,
    hash_target,
    make_evolved,
    make_variant,
    variant_named,
)
from paragone.generate.truth import active_columns, bayes_scores, truth_sheet
from paragone.reading import read_json
from paragone.stats import Interval
from paragone.tables import frame_to_file
from paragone.ties import least_loss

_NO_LIMIT = {"low": -inf, "high": inf}


def limits_as_json(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields without infinite limits, which JSON does not know: a lead of R2 may have none on few samples.

    Examples
    --------
    >>> limits_as_json({"mean": 0.1, "low": -inf, "high": 0.4})
    {'mean': 0.1, 'low': None, 'high': 0.4}
    """
    return {
        key: None if key in _NO_LIMIT and isinf(value) else value for key, value in content.items()
    }


def limits_from_json(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields with infinity where a file names no limit.

    Examples
    --------
    >>> limits_from_json({"mean": 0.1, "low": None, "high": 0.4})
    {'mean': 0.1, 'low': -inf, 'high': 0.4}
    """
    return {
        key: _NO_LIMIT[key] if key in _NO_LIMIT and value is None else value
        for key, value in content.items()
    }


@dataclass(frozen=True)
class ClaimRecord:
    """What became of the claim that a method beats another on a dataset, both tuned alike on every sample.

    Parameters
    ----------
    up, down : str
        The methods.
    mean, low, high : float
        The mean lead and its limits; these cover all claims of the collection together.
    share_won : float
        The share of samples on which the method was ahead.
    holds : bool
        Whether the lower limit reached the margin.
    ending : str
        How the proof ended: shown, hopeless, not shown, failed or not begun.
    leads : tuple of float
        On every sample.
    row_seeds : tuple of int
        The seeds of the samples' rows.

    Examples
    --------
    >>> record = ClaimRecord("A", "B", 0.3, 0.1, 0.5, 1.0, True, "shown", (0.29, 0.31), (1, 2))
    >>> record.interval.low
    0.1
    """

    up: str
    down: str
    mean: float
    low: float
    high: float
    share_won: float
    holds: bool
    ending: str
    leads: tuple[float, ...]
    row_seeds: tuple[int, ...]

    @classmethod
    def of(cls, proof: Proof) -> Self:
        """Keep what a proof came to."""
        claim, seeds = proof.claim, dict.fromkeys(fit.row_seed for fit in proof.fits)
        found = (proof.interval.estimate, proof.interval.low, proof.interval.high, proof.share_won)
        leads = tuple(round(lead, 6) for lead in proof.leads)
        return cls(claim.up, claim.down, *found, proof.holds, proof.ending, leads, tuple(seeds))

    @classmethod
    def read(cls, content: Mapping[str, Any]) -> Self:
        """Read it as it stands in a collection's file."""
        lists = {"leads": tuple(content["leads"]), "row_seeds": tuple(content["row_seeds"])}
        return cls(**{**limits_from_json(content), **lists})

    def as_dict(self) -> dict[str, Any]:
        """Return it as it stands in a collection's file."""
        return limits_as_json(asdict(self))

    @property
    def interval(self) -> Interval:
        """The mean lead between its limits."""
        return Interval(self.mean, self.low, self.high)


@dataclass(frozen=True)
class OpenPair:
    """An ordered pair that nothing in a collection proves, and how hard that was tried.

    Parameters
    ----------
    up, down : str
        The methods.
    raced, raced_tuned : int
        Candidates that were raced for the pair, and those of them that went on to the race under
        tuning.
    race_formula, race_mean, race_won : str, float and float
        The tuned race with the largest mean lead: its formula, the lead, and the share of samples
        won. Where no race was tuned, of the races in the configurations of the screening.
    tried : int
        Datasets on which the pair was put to proof.
    formula, mean, low, high, share_won, samples, ending
        The proof with the largest mean lead: formula, mean with its limits, share of samples won,
        number of samples, and how it ended; empty and NaN where the pair was never put to proof.

    Examples
    --------
    >>> print(OpenPair("Tree", "Forest", raced=3, raced_tuned=1, race_mean=0.02, race_won=0.5))
    Tree over Forest: raced 3 times, 1 of them tuned (best lead 0.020, ahead on 50% of samples);
    never put to proof
    """

    up: str
    down: str
    raced: int = 0
    raced_tuned: int = 0
    race_formula: str = ""
    race_mean: float = nan
    race_won: float = nan
    tried: int = 0
    formula: str = ""
    mean: float = nan
    low: float = nan
    high: float = nan
    share_won: float = nan
    samples: int = 0
    ending: str = ""

    def __str__(self) -> str:
        return f"{self.up} over {self.down}: {self._races_in_words()}; {self._proofs_in_words()}"

    def _races_in_words(self) -> str:
        if not self.raced:
            return "no candidate was worth a race"
        best = f" (best lead {self.race_mean:.3f}, ahead on {self.race_won:.0%} of samples)"
        tuned = f", {self.raced_tuned} of them tuned"
        return f"raced {_times(self.raced)}{tuned}{best if isfinite(self.race_mean) else ''}"

    def _proofs_in_words(self) -> str:
        if not self.tried:
            return "never put to proof"
        if not isfinite(self.mean):
            return f"put to proof {_times(self.tried)}, without an outcome"
        is_bounded = isfinite(self.low) and isfinite(self.high)
        limits = f"[{self.low:.3f}, {self.high:.3f}]" if is_bounded else "without limits"
        return (
            f"put to proof {_times(self.tried)}, at best {self.mean:.3f} {limits}, ahead on"
            f" {self.share_won:.0%} of {self.samples} samples"
        )

    def as_dict(self) -> dict[str, Any]:
        """Return what is known, as plain values: numbers that there are none of are left out."""
        return limits_as_json({key: value for key, value in asdict(self).items() if value == value})

    @classmethod
    def read(cls, content: Mapping[str, Any]) -> Self:
        """Read it as it stands in a collection's file; what a later version adds is passed over."""
        known = {item.name for item in fields(cls)}
        return cls(
            **{key: value for key, value in limits_from_json(content).items() if key in known}
        )


@dataclass(frozen=True)
class VariantClaims:
    """What became of a dataset's claims on one of its variants.

    Parameters
    ----------
    dataset, variant : str
        Which variant of which dataset.
    bayes : float
        The best AUROC that any method can reach on it.
    claims : tuple of ClaimRecord
        What was put to proof; their intervals cover the claims on all variants together.

    Examples
    --------
    >>> VariantClaims("paragone-v1-3", "noisy", 0.95, ()).variant
    'noisy'
    """

    dataset: str
    variant: str
    bayes: float
    claims: tuple[ClaimRecord, ...]

    @classmethod
    def read(cls, content: Mapping[str, Any]) -> Self:
        """Read it as it stands in a collection's file."""
        claims = tuple(ClaimRecord.read(claim) for claim in content["claims"])
        return cls(content["dataset"], content["variant"], content["bayes"], claims)

    def as_dict(self) -> dict[str, Any]:
        """Return it as it stands in a collection's file."""
        return {**asdict(self), "claims": [claim.as_dict() for claim in self.claims]}


def variant_table(variants: Iterable[VariantClaims]) -> pd.DataFrame:
    """Return every claim that was put to proof on a variant, one row each.

    Examples
    --------
    >>> claim = ClaimRecord("A", "B", 0.3, 0.1, 0.5, 1.0, True, "shown", (0.29, 0.31), (1, 2))
    >>> table = variant_table([VariantClaims("one", "small", 1.0, (claim,))])
    >>> table[["dataset", "variant", "up", "low", "holds"]].to_numpy().tolist()
    [['one', 'small', 'A', 0.1, True]]
    """
    rows = [
        (
            of.dataset,
            of.variant,
            c.up,
            c.down,
            c.mean,
            c.low,
            c.high,
            c.share_won,
            len(c.leads),
            c.ending,
            c.holds,
        )
        for of in variants
        for c in of.claims
    ]
    columns = [
        "dataset",
        "variant",
        "up",
        "down",
        "mean",
        "low",
        "high",
        "share_won",
        "samples",
        "ending",
        "holds",
    ]
    return pd.DataFrame(rows, columns=columns)


def open_table(pairs: Iterable[OpenPair]) -> pd.DataFrame:
    """Return open pairs as a table, one row each.

    Examples
    --------
    >>> open_table([OpenPair("Tree", "Forest", raced=3)])[["up", "down", "raced", "tried"]].to_numpy().tolist()
    [['Tree', 'Forest', 3, 0]]
    """
    return pd.DataFrame(
        [asdict(pair) for pair in pairs], columns=[item.name for item in fields(OpenPair)]
    )


def _times(n: int) -> str:
    return "once" if n == 1 else f"{n} times"


MANIFEST = "manifest.json"
FILE_FORMATS = ("csv", "parquet")


def write_sets(
    sets: Iterable[tuple[Dataset, Mapping[str, Any]]],
    folder: str | Path,
    collection: str,
    file_format: str = "csv",
) -> tuple[Path, ...]:
    """Write datasets as tables with the column ``target`` last, and a manifest of what is said of them.

    Groups, where there are some, are in the column ``group`` before it.

    Parameters
    ----------
    sets : iterable of (Dataset, mapping)
        Each with its entry in the manifest.
    folder : str or Path
        Made where it is missing; a file of the same name in it is replaced.
    collection : str
        What the manifest calls them together.
    file_format : {"csv", "parquet"}, default="csv"
        Of the tables; Parquet needs pyarrow.

    Returns
    -------
    tuple of Path
        The tables, and the manifest last.

    Examples
    --------
    >>> import tempfile
    >>> from paragone.generate import GeneratorSpec
    >>> made = GeneratorSpec("mul(X0, X1)", n_features=2).sample(50, seed=1, name="product")
    >>> [path.name for path in write_sets([(made, {"name": "product"})], tempfile.mkdtemp(), "mine")]
    ['product.csv', 'manifest.json']
    """
    if file_format not in FILE_FORMATS:
        raise unknown_name("file format", file_format, FILE_FORMATS)
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} is not a folder to write to: {error}") from error
    written, described = [], []
    for dataset, entry in sets:
        path = folder / f"{dataset.name}.{file_format}"
        frame = pd.DataFrame(dataset.X, columns=list(dataset.feature_names))
        if dataset.groups is not None:
            frame = frame.assign(group=dataset.groups)
        frame_to_file(frame.assign(target=dataset.y), path)
        written.append(path)
        described.append({"file": path.name, **entry})
    manifest = folder / MANIFEST
    content = {"collection": collection, "sets": described}
    manifest.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return (*written, manifest)


def described_sample(
    dataset: Dataset, generator: GeneratorSpec, seed: int, part: Part = "train"
) -> dict[str, Any]:
    """Return the manifest's entry of a sample: its generator, hashes of what came out, and what is true of it."""
    X = np.nan_to_num(np.asarray(dataset.X, dtype=np.float64), nan=0.0)
    target = np.asarray(dataset.y, dtype=np.float64)
    return {
        "name": dataset.name,
        "seed": seed,
        "part": part,
        "n_rows": dataset.n_samples,
        **asdict(generator),
        "columns": dict(Counter(generator.roles)),
        "x_hash": hash_features(X),
        "y_hash": hash_features(target[:, None]),
        "truth": truth_sheet(generator, part).as_dict(),
    }


FORMAT = 1
_OWN_FIELDS = ("formula", "n_features", "cut", "inclusive")
"""Parts of a generator that a dataset has fields of its own for."""


@dataclass(frozen=True)
class GeneratedSet:
    """One dataset of a collection, and what was measured on its generator.

    Parameters
    ----------
    name, formula, simplified : str
        Its name and formula, as found and simplified on the population.
    concept : int
        Datasets of one concept share the number.
    seed, n_rows, n_features : int
        The sample that is the dataset.
    active : tuple of int
        The features that matter: the truth for feature selection.
    bayes : float
        The best score that any method can reach on fresh rows: AUROC, or R2 where the target is a
        number.
    md5, x_hash, y_hash : str
        Of the formula, the features (to six decimals) and the labels, or the numbers (to six
        decimals).
    cut, inclusive : float and bool
        Labels are 1 above this value of the formula, and at it where that is included; None where
        there are not two classes.
    aurocs : mapping of str to tuple of float
        Each method's score on the fresh rows of every evidence sample: AUROC, or R2 where the
        target is a number.
    stability : float
        How alike the order of the methods is from sample to sample.
    parameters : mapping of str to mapping
        The configuration in which each method was measured; on the first sample, where it was tuned
        on each.
    claims : tuple of ClaimRecord
        What was put to proof under tuning; empty in collections of the first release, whose claims
        are those that the evidence shows by itself.
    key : str
        What the rows of the proof follow from, beside the collection's seed.
    data : mapping
        What the data are like beside the formula, such as their noise; empty for noise-free
        balanced ones.

    Examples
    --------
    >>> generator = GeneratorSpec("mul(X0, X1)", n_features=3)
    >>> evidence = Evidence(("A", "B"), np.array([[0.9, 0.7], [0.92, 0.71]]))
    >>> item = GeneratedSet.of("product", generator, 1, seed=7, n_rows=50, evidence=evidence, parameters={})
    >>> item.active, item.load()
    ((0, 1), Dataset 'product': 50 samples x 3 features, classification, 2 classes)
    """

    name: str
    formula: str
    simplified: str
    concept: int
    seed: int
    n_rows: int
    n_features: int
    active: tuple[int, ...]
    bayes: float
    md5: str
    x_hash: str
    y_hash: str
    cut: float | None
    inclusive: bool
    aurocs: Mapping[str, tuple[float, ...]]
    stability: float
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    claims: tuple[ClaimRecord, ...] = ()
    key: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        name: str,
        generator: GeneratorSpec,
        concept: int,
        seed: int,
        n_rows: int,
        evidence: Evidence,
        parameters: Mapping[str, Mapping[str, Any]] | None = None,
        claims: tuple[ClaimRecord, ...] = (),
    ) -> Self:
        """Describe a generator's sample with its evidence."""
        expression = generator.expression
        sample = generator.sample(n_rows, seed)
        # Several classes have several cuts and numbers none: these follow from the declaration.
        cut = generator.threshold() if generator.target == "binary" else None
        return cls(
            name,
            generator.formula,
            str(simplify(expression, population(generator.n_features))),
            concept,
            seed,
            n_rows,
            generator.n_features,
            active_columns(generator),
            bayes_scores(generator)[0][CEILINGS[generator.target]].value,
            expression.md5,
            hash_features(np.nan_to_num(np.asarray(sample.X, dtype=np.float64))),
            hash_target(sample.y),
            None if cut is None else cut.value,
            True if cut is None else cut.inclusive,
            # Six decimals: a score on thousands of fresh rows is not known better, and files stay
            # small.
            {
                m: tuple(round(float(v), 6) for v in evidence.aurocs[:, i])
                for i, m in enumerate(evidence.methods)
            },
            round(evidence.stability, 6),
            {method: dict(params) for method, params in (parameters or {}).items()},
            claims,
            generator.identity if claims else "",
            {key: v for key, v in generator.declaration().items() if key not in _OWN_FIELDS},
        )

    @property
    def target(self) -> TargetKind:
        """What the formula's value becomes: two classes, several, or a number."""
        return target_of(self.data)

    def generator(self) -> GeneratorSpec:
        """Return the source of rows."""
        if self.data:
            # Noise is drawn by the shares of the classes, so these follow from the declaration and
            # not from the cut.
            return GeneratorSpec.of(
                {"formula": self.formula, "n_features": self.n_features, **self.data}
            )
        return GeneratorSpec(self.formula, self.n_features, cut=self.cut, inclusive=self.inclusive)

    def evidence(self) -> Evidence:
        """Return what was measured."""
        return Evidence(tuple(self.aurocs), np.array(list(self.aurocs.values())).T)

    def proven(self, margin: float) -> tuple[tuple[str, str], ...]:
        """Return the ordered pairs that are proven by the margin: by the claims, where some were put to proof."""
        if not self.claims:
            return self.evidence().proven(margin)
        return tuple(
            (claim.up, claim.down) for claim in self.claims if claim.holds and claim.low >= margin
        )

    def lead(self, up: str, down: str) -> Interval:
        """Return the mean lead of a pair with its interval; without limits where the pair was not put to proof."""
        if not self.claims:
            return self.evidence().lead(up, down)
        for claim in self.claims:
            if (claim.up, claim.down) == (up, down):
                return claim.interval
        return Interval(float(self.evidence().leads(up, down).mean()))

    def load(self) -> Dataset:
        """Make the dataset, checked by its hashes."""
        if not self.data:
            return make_evolved(self._entry())
        checked_formula(self.name, self.formula, self.md5)
        made = self.generator().sample(self.n_rows, self.seed, name=self.name)
        X = np.asarray(made.X, dtype=np.float64)
        check_hashes(self.name, X, made.y, (self.x_hash, self.y_hash))
        return made

    def variant(self, name: str) -> Dataset:
        """Make a variant of the dataset, with rows of its own; nothing is claimed of it unless it was put to proof.

        Examples
        --------
        >>> Collection.named("paragone-v1").sets[2].variant("small")
        Dataset 'paragone-v1-3-small': 200 samples x 10 features, classification, 2 classes
        """
        return make_variant(self._entry(), variant_named(name))

    def described(self) -> dict[str, Any]:
        """Return the manifest's entry: what the dataset is. What was measured on it is in the collection."""
        evidence = ("aurocs", "stability", "parameters", "claims", "key")
        return {key: value for key, value in asdict(self).items() if key not in evidence}

    def _entry(self) -> EvolvedEntry:
        return EvolvedEntry(
            **{item.name: getattr(self, item.name) for item in fields(EvolvedEntry)}
        )


def described_variant(
    item: GeneratedSet, dataset: Dataset, variant: DatasetVariant
) -> tuple[Dataset, dict[str, Any]]:
    """Return a variant with its entry in the manifest: its own seed, hashes and sheet of truth, and its note."""
    sheet = truth_sheet(VariantGenerator.of_variant(item.generator(), variant))
    entry = {
        **item.described(),
        "name": dataset.name,
        "variant": variant.name,
        "variant_of": item.name,
        "seed": variant.seed(item.md5, item.seed),
        "n_rows": dataset.n_samples,
        "noise": variant.noise,
        "bayes": sheet.scores["roc_auc"].value,
        "x_hash": hash_features(np.asarray(dataset.X)),
        "y_hash": hash_labels(dataset.y),
        "truth": sheet.as_dict(),
        "note": dataset.notes[0],
    }
    return dataset, entry


@dataclass(frozen=True)
class Collection:
    """Generated datasets that were chosen together.

    Parameters
    ----------
    name : str
        The collection.
    margin : float
        The difference in the score that counts: AUROC, or R2 where the target is a number.
    evidence_rows : int
        Fresh rows of each evidence sample.
    sets : tuple of GeneratedSet
        The datasets.
    plan : ProofPlan, optional
        How the claims were proven; None in collections of the first release.
    seed : int, optional
        What the rows of the proof follow from.
    refuted : tuple of (str, str)
        Ordered pairs that were proven for fixed configurations and did not hold when both methods
        were tuned.
    open : tuple of OpenPair
        Pairs that nothing here proves, with how hard each was tried; empty where the search did not
        tell.
    variants : tuple of VariantClaims
        What became of the claims on variants of the datasets, where these were put to proof.
    target : {"binary", "multiclass", "regression"}, default="binary"
        What the datasets have to predict.

    Examples
    --------
    >>> generator = GeneratorSpec("mul(X0, X1)", n_features=3)
    >>> evidence = Evidence(("A", "B"), np.array([[0.9, 0.7], [0.92, 0.71]]))
    >>> item = GeneratedSet.of("product", generator, 1, seed=7, n_rows=50, evidence=evidence, parameters={})
    >>> Collection("one", margin=0.05, evidence_rows=100, sets=(item,)).covered()
    {('A', 'B'): 'product'}
    """

    name: str
    margin: float
    evidence_rows: int
    sets: tuple[GeneratedSet, ...]
    plan: ProofPlan | None = None
    seed: int | None = None
    refuted: tuple[tuple[str, str], ...] = ()
    open: tuple[OpenPair, ...] = ()
    variants: tuple[VariantClaims, ...] = ()
    target: TargetKind = "binary"

    @property
    def metric(self) -> str:
        """What the scores are called.

        Examples
        --------
        >>> Collection("numbers", 0.05, 100, (), target="regression").metric
        'R2'
        """
        return METRICS[self.target]

    def covered(self) -> dict[tuple[str, str], str]:
        """Return the ordered pairs that are proven, each with the dataset of the largest lower bound."""
        leads = self.leads().sort_values(["up", "down"])
        return {(lead.up, lead.down): lead.dataset for lead in leads.itertuples() if lead.proven}

    def surviving(self) -> dict[tuple[str, str], str]:
        """Return the proven pairs without those that did not hold when both methods were tuned.

        Examples
        --------
        >>> shipped = Collection.named("paragone-v1")
        >>> len(shipped.covered()), len(shipped.surviving())
        (39, 33)
        """
        return {
            pair: dataset for pair, dataset in self.covered().items() if pair not in self.refuted
        }

    def scores(self) -> pd.DataFrame:
        """Return the evidence, tidy: ``dataset, method, seed, value``."""
        rows = [
            (item.name, method, seed, value)
            for item in self.sets
            for method, values in item.aurocs.items()
            for seed, value in enumerate(values, start=1)
        ]
        return pd.DataFrame(rows, columns=["dataset", "method", "seed", "value"])

    def table(self) -> pd.DataFrame:
        """Return the mean score by dataset (down) and method (across)."""
        means = {
            item.name: {m: sum(v) / len(v) for m, v in item.aurocs.items()} for item in self.sets
        }
        return pd.DataFrame(means).T

    def evidence_table(self) -> pd.DataFrame:
        """Return each method's mean score with its interval on every dataset."""
        rows = []
        for item in self.sets:
            evidence = item.evidence()
            rows += [
                (item.name, item.concept, m, *astuple(evidence.of(m))) for m in evidence.methods
            ]
        return pd.DataFrame(rows, columns=["dataset", "concept", "method", "mean", "low", "high"])

    def load(self, name: str) -> Dataset:
        """Make one of the datasets."""
        for item in self.sets:
            if item.name == name:
                return item.load()
        raise unknown_name(f"dataset in {self.name}", name, [item.name for item in self.sets])

    def coverage(self) -> pd.DataFrame:
        """Count the datasets that prove the row's method better than the column's by the margin."""
        methods = list(self.sets[0].aurocs) if self.sets else []
        counts = pd.DataFrame(0, index=methods, columns=methods)
        for item in self.sets:
            for up, down in item.proven(self.margin):
                counts.loc[up, down] += 1
        return counts

    def leads(self) -> pd.DataFrame:
        """Return, for every ordered pair, the dataset with the largest lower bound of the difference, proven or not."""
        rows = []
        for up, down in permutations(self.sets[0].aurocs if self.sets else (), 2):
            leads = [(item.lead(up, down), item) for item in self.sets]
            bounds = np.array([found.low for found, _ in leads])
            # Where no dataset was put to proof for the pair, none has a bound: the largest mean is
            # shown.
            losses = -np.array([found.estimate for found, _ in leads])
            if np.isfinite(bounds).any():
                losses = np.where(np.isfinite(bounds), -bounds, np.nan)
            # A bound that was not confirmed counts after all that were, however large it is.
            is_proven = np.array([(up, down) in item.proven(self.margin) for item in self.sets])
            if is_proven.any():
                losses = np.where(is_proven, -bounds, np.nan)
            lead, item = leads[least_loss(losses, size=1.0)]
            rows.append(
                (up, down, item.name, *astuple(lead), (up, down) in item.proven(self.margin))
            )
        return pd.DataFrame(
            rows, columns=["up", "down", "dataset", "mean", "low", "high", "proven"]
        )

    def inspect(self) -> Inspection:
        """Inspect the datasets; a pair counts where the evidence proves it."""
        specimens = []
        for item in self.sets:
            generator = item.generator()
            # What is shown of a column may be its category, or nothing: the formula is looked at on
            # what it uses.
            rows = (
                population(item.n_features)[: item.n_rows]
                if item.data
                else np.asarray(item.load().X)
            )
            cut = generator.threshold() if generator.target == "binary" else generator.resolved()
            specimens.append(Specimen(item.name, generator, rows, cut, generator.noise, item.bayes))
        basis = self._basis()
        found = inspect_sets(self.name, specimens, self.coverage(), self.margin, basis)
        # A dataset has one concept number, that of the collection, in every table and on the page.
        numbered = found.sets.assign(concept=[item.concept for item in self.sets])
        return replace(
            found, sets=numbered, remarks=(*found.remarks, *self._remarks()), target=self.target
        )

    def _remarks(self) -> tuple[str, ...]:
        """Say what the counts of proven pairs do not."""
        if not self.refuted:
            return ()
        n, named = len(self.refuted), ", ".join(f"{up} over {down}" for up, down in self.refuted)
        return (
            (
                f"{n} of these pairs, proven for fixed configurations, were not shown under tuning:"
                f" {named}"
            ),
        )

    def _basis(self) -> str:
        """Say what a pair counts by."""
        if self.plan is None:
            n_seeds = min((item.evidence().aurocs.shape[0] for item in self.sets), default=0)
            return (
                f"by the lower 95 % bound over {n_seeds} samples of {self.evidence_rows:,} fresh"
                " rows"
            )
        return (
            f"with both methods tuned on every sample ({self.plan.trials} trials each), by the"
            f" lower end of an interval that covers all {self.plan.n_claims} claims at once, over"
            f" up to {self.plan.looks[-1]} samples of {self.evidence_rows:,} fresh rows"
        )

    def write_data(
        self, folder: str | Path, file_format: str = "csv", variant: str | None = None
    ) -> tuple[Path, ...]:
        """Write the datasets, or a variant of each, as tables with a manifest; see `write_sets`."""
        described = ((item.load(), item.described()) for item in self.sets)
        if variant is None:
            return write_sets(described, folder, self.name, file_format)
        changed = (
            described_variant(item, item.variant(variant), variant_named(variant))
            for item in self.sets
        )
        return write_sets(changed, folder, f"{self.name}, {variant}", file_format)

    def write(self, path: str | Path) -> None:
        """Write the collection as JSON."""
        # Files of the first release lack what came later: what says nothing is left out, and theirs
        # stay as they are.
        later: dict[str, Any] = {
            "plan": None,
            "seed": None,
            "refuted": (),
            "open": [],
            "variants": [],
            "target": "binary",
        }
        told = {
            **asdict(self),
            "sets": [
                {**asdict(item), "claims": [claim.as_dict() for claim in item.claims]}
                for item in self.sets
            ],
            "open": [pair.as_dict() for pair in self.open],
            "variants": [found.as_dict() for found in self.variants],
        }
        content = {
            "format": FORMAT,
            **{
                key: value for key, value in told.items() if key not in later or value != later[key]
            },
        }
        Path(path).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")

    @classmethod
    def named(cls, name: str) -> Self:
        """Read a collection that comes with the package.

        Examples
        --------
        >>> Collection.named("paragone-v1").margin
        0.05
        """
        with as_file(collection_file(name)) as path:
            return cls.read(path)

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a collection from its file or its folder; datasets are checked by their hashes when they are made."""
        path = Path(path)
        path = path / "collection.json" if path.is_dir() else path
        content = read_json(path, f"collection {path}")
        try:
            if content["format"] != FORMAT:
                raise InputError(
                    f"collection {path} has the format {content['format']}, this Paragone reads"
                    f" {FORMAT}"
                )
            sets = tuple(_read_set(item) for item in content["sets"])
            plan = content.get("plan")
            return cls(
                content["name"],
                content["margin"],
                content["evidence_rows"],
                sets,
                None if plan is None else ProofPlan(**{**plan, "looks": tuple(plan["looks"])}),
                content.get("seed"),
                tuple((up, down) for up, down in content.get("refuted", ())),
                tuple(OpenPair.read(pair) for pair in content.get("open", ())),
                tuple(VariantClaims.read(found) for found in content.get("variants", ())),
                content.get("target", "binary"),
            )
        except (KeyError, TypeError) as error:
            raise InputError(f"collection {path} is not a collection file: {error}") from error


def _read_set(item: Mapping[str, Any]) -> GeneratedSet:
    aurocs = {method: tuple(values) for method, values in item["aurocs"].items()}
    claims = tuple(ClaimRecord.read(claim) for claim in item.get("claims", ()))
    return GeneratedSet(
        **{**item, "active": tuple(item["active"]), "aurocs": aurocs, "claims": claims}
    )


def prove_variants(
    collection: Collection,
    laboratory: Laboratory,
    variants: Sequence[str],
    *,
    methods: Sequence[Contender] = (),
    tell: Callable[[str], None] | None = None,
    over: Callable[[], bool] = lambda: False,
) -> Collection:
    """Put what a collection proves to proof on variants of its datasets.

    The claims on all variants asked for are one family, with the level of the collection's plan:
    asked for other variants, the same fits have other intervals. Rows are those of no other proof.
    What the store has is not fitted again, so the same call goes on where it was stopped.

    Parameters
    ----------
    collection : Collection
        Proven under tuning.
    laboratory : Laboratory
        Where the fits run.
    variants : sequence of str
        Their names; see `paragone.data.VARIANTS`.
    methods : sequence of Contender
        The methods of the collection; the eight references where none are given.
    tell : callable, optional
        Called with one sentence after every variant of a dataset.
    over : callable, optional
        Asked before each look whether the time is over.

    Returns
    -------
    Collection
        The same, with `Collection.variants`. A claim for which the time was over before its first
        look is left out.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from paragone.generate import Evidence, GeneratorSpec
    >>> stump = Contender("Stump", "sklearn.tree:DecisionTreeClassifier", {"max_depth": 1})
    >>> methods = [Contender("NB", "sklearn.naive_bayes:GaussianNB"), stump]
    >>> evidence = Evidence(("NB", "Stump"), np.array([[0.99, 0.7], [0.99, 0.7]]))
    >>> claim = ClaimRecord("NB", "Stump", 0.3, 0.2, 0.4, 1.0, True, "shown", (0.3, 0.3), (1, 2))
    >>> line = GeneratorSpec("add(X0, X1)", n_features=3)
    >>> item = GeneratedSet.of("line", line, 1, 7, 100, evidence, {}, (claim,))
    >>> plan = ProofPlan(n_train=100, n_fresh=400, looks=(6, 24))
    >>> one = Collection("one", 0.05, 400, (item,), plan, seed=3)
    >>> with tempfile.TemporaryDirectory() as folder, Laboratory(Path(folder) / "lab.sqlite") as laboratory:
    ...     found = prove_variants(one, laboratory, ["noisy"], methods=methods)
    >>> [(of.dataset, of.variant, of.bayes, of.claims[0].holds) for of in found.variants]
    [('line', 'noisy', 0.95, True)]
    """
    plan, say = collection.plan, tell or (lambda _: None)
    if plan is None or collection.seed is None:
        raise InputError(
            f"collection {collection.name!r} was not proven under tuning: there is no plan to"
            " prove by"
        )
    asked = [variant_named(name) for name in dict.fromkeys(variants)]
    if not asked:
        raise InputError("name at least one variant to prove")
    held = [(item, item.proven(collection.margin)) for item in collection.sets]
    family = replace(plan, n_claims=max(len(asked) * sum(len(pairs) for _, pairs in held), 1))
    proven: list[VariantClaims] = []
    for variant in asked:
        for item, pairs in held:
            if pairs:
                found = _proven(item, pairs, variant, family, methods or reference_methods(), laboratory,
                                collection.seed, over)  # fmt: skip
                proven.append(found)
                n_held = sum(claim.holds for claim in found.claims)
                say(f"{item.name}, {variant.name}: {n_held} of {len(pairs)} claims hold")
    return replace(collection, variants=tuple(proven))


def _proven(
    item: GeneratedSet,
    pairs: Sequence[tuple[str, str]],
    variant: DatasetVariant,
    family: ProofPlan,
    methods: Sequence[Contender],
    laboratory: Laboratory,
    seed: int,
    over: Callable[[], bool],
) -> VariantClaims:
    generator = VariantGenerator.of_variant(item.generator(), variant)
    # A variant's rows are no rows of the dataset's own proof, a small one's neither: its key is
    # another.
    claims = [
        LeadClaim(up, down, generator, key=f"{item.key}:{variant.name}") for up, down in pairs
    ]
    plan = replace(family, n_train=variant.n_rows or family.n_train)
    proofs = prove(claims, methods, laboratory, plan, seed, over=over)
    records = tuple(ClaimRecord.of(proof) for proof in proofs if proof.leads)
    return VariantClaims(
        item.name, variant.name, bayes_scores(generator)[0]["roc_auc"].value, records
    )
