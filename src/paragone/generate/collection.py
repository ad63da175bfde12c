"""Collection: generated datasets with their evidence, as a file whose content proves itself by hashes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass, field, fields, replace
from importlib.resources import as_file
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from paragone.data import (
    Dataset,
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
from paragone.errors import InputError, unknown_name
from paragone.generate.claims import ClaimRecord, OpenPair, VariantClaims
from paragone.generate.evidence import Evidence
from paragone.generate.formulas import simplify
from paragone.generate.inspection import Inspection, Specimen, inspect_sets
from paragone.generate.manifests import write_sets
from paragone.generate.proof import ProofPlan
from paragone.generate.sampling import GeneratorSpec, TargetKind
from paragone.generate.targets import CEILINGS, METRICS, target_of
from paragone.generate.thresholds import population
from paragone.generate.truth import active_columns, bayes_scores, truth_sheet
from paragone.generate.variants import VariantGenerator
from paragone.reading import read_json
from paragone.stats import Interval
from paragone.ties import least_loss

if TYPE_CHECKING:
    import pandas as pd

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
        import pandas as pd

        rows = [
            (item.name, method, seed, value)
            for item in self.sets
            for method, values in item.aurocs.items()
            for seed, value in enumerate(values, start=1)
        ]
        return pd.DataFrame(rows, columns=["dataset", "method", "seed", "value"])

    def table(self) -> pd.DataFrame:
        """Return the mean score by dataset (down) and method (across)."""
        import pandas as pd

        means = {
            item.name: {m: sum(v) / len(v) for m, v in item.aurocs.items()} for item in self.sets
        }
        return pd.DataFrame(means).T

    def evidence_table(self) -> pd.DataFrame:
        """Return each method's mean score with its interval on every dataset."""
        import pandas as pd

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
        import pandas as pd

        methods = list(self.sets[0].aurocs) if self.sets else []
        counts = pd.DataFrame(0, index=methods, columns=methods)
        for item in self.sets:
            for up, down in item.proven(self.margin):
                counts.loc[up, down] += 1
        return counts

    def leads(self) -> pd.DataFrame:
        """Return, for every ordered pair, the dataset with the largest lower bound of the difference, proven or not."""
        import pandas as pd

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
