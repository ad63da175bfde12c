"""Collection: generated datasets with their evidence, as a file whose content proves itself by hashes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from paragone.data import Dataset
from paragone.data.digen import Expression
from paragone.data.digen.datasets import hash_features, hash_labels
from paragone.errors import InputError, unknown_name
from paragone.generate.concepts import active_features
from paragone.generate.evidence import Evidence
from paragone.generate.inspection import Inspection, Specimen, inspect_sets
from paragone.generate.sampling import GeneratorSpec
from paragone.generate.simplification import simplify
from paragone.generate.threshold import population
from paragone.reading import read_json

if TYPE_CHECKING:
    import pandas as pd

FORMAT = 1


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
        The AUROC of the true formula.
    md5, x_hash, y_hash : str
        Of the formula, the features (to six decimals) and the labels.
    aurocs : mapping of str to tuple of float
        Each method's AUROC on the fresh rows of every evidence sample.
    stability : float
        How alike the order of the methods is from sample to sample.
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
    aurocs: Mapping[str, tuple[float, ...]]
    stability: float

    @classmethod
    def of(cls, name: str, generator: GeneratorSpec, concept: int, seed: int, n_rows: int, evidence: Evidence) -> Self:
        """Describe a generator's sample with its evidence."""
        expression = generator.expression
        sample = generator.sample(n_rows, seed)
        return cls(
            name,
            generator.formula,
            str(simplify(expression, population(generator.n_features))),
            concept,
            seed,
            n_rows,
            generator.n_features,
            tuple(sorted(active_features(expression, n_features=generator.n_features))),
            generator.bayes_auroc,
            expression.md5,
            hash_features(np.asarray(sample.X)),
            hash_labels(sample.y),
            {m: tuple(round(float(v), 6) for v in evidence.aurocs[:, i]) for i, m in enumerate(evidence.methods)},
            round(evidence.stability, 6),
        )

    def generator(self) -> GeneratorSpec:
        """Return the source of rows."""
        return GeneratorSpec(self.formula, self.n_features)

    def evidence(self) -> Evidence:
        """Return what was measured."""
        return Evidence(tuple(self.aurocs), np.array(list(self.aurocs.values())).T)

    def load(self) -> Dataset:
        """Make the dataset, checked by its hashes."""
        found_md5 = Expression.parse(self.formula).md5
        if found_md5 != self.md5:
            raise InputError(f"{self.name}: the formula was altered: its md5 is {found_md5}, not {self.md5}")
        dataset = self.generator().sample(self.n_rows, self.seed, name=self.name)
        for what, found, kept in (
            ("features", hash_features(np.asarray(dataset.X)), self.x_hash),
            ("labels", hash_labels(dataset.y), self.y_hash),
        ):
            if found != kept:
                raise InputError(f"{self.name}: the {what} made here have the hash {found}, not {kept}")
        return dataset


@dataclass(frozen=True)
class Collection:
    """Generated datasets that were chosen together.

    Parameters
    ----------
    name : str
        The collection.
    margin : float
        The difference in AUROC that counts.
    evidence_rows : int
        Fresh rows of each evidence sample.
    sets : tuple of GeneratedSet
        The datasets.
    """

    name: str
    margin: float
    evidence_rows: int
    sets: tuple[GeneratedSet, ...]

    def covered(self) -> dict[tuple[str, str], str]:
        """Return the ordered pairs that are proven, each with the dataset of the largest lower bound."""
        best: dict[tuple[str, str], tuple[float, str]] = {}
        for item in self.sets:
            evidence = item.evidence()
            for pair in evidence.proven(self.margin):
                best[pair] = max(best.get(pair, (-1.0, "")), (evidence.lead(*pair).low, item.name))
        return {pair: name for pair, (_, name) in sorted(best.items())}

    def evidence_table(self) -> pd.DataFrame:
        """Return each method's mean AUROC with its interval on every dataset."""
        import pandas as pd

        rows = []
        for item in self.sets:
            evidence = item.evidence()
            for method in evidence.methods:
                found = evidence.of(method)
                rows.append({"dataset": item.name, "concept": item.concept, "method": method, **asdict(found)})
        return pd.DataFrame(rows, columns=["dataset", "concept", "method", "mean", "low", "high"])

    def load(self, name: str) -> Dataset:
        """Make one of the datasets."""
        for item in self.sets:
            if item.name == name:
                return item.load()
        raise unknown_name(f"dataset in {self.name}", name, [item.name for item in self.sets])

    def inspect(self) -> Inspection:
        """Inspect the datasets, with the mean AUROCs of the evidence."""
        specimens = [
            Specimen(
                item.name,
                Expression.parse(item.formula),
                np.asarray(item.load().X),
                {method: float(np.mean(values)) for method, values in item.aurocs.items()},
            )
            for item in self.sets
        ]
        return inspect_sets(self.name, specimens, self.margin)

    def write(self, path: str | Path) -> None:
        """Write the collection as JSON."""
        content = {"format": FORMAT, **asdict(self)}
        Path(path).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a collection; datasets are checked by their hashes when they are made."""
        path = Path(path)
        content = read_json(path, f"collection {path}")
        try:
            if content["format"] != FORMAT:
                raise InputError(f"collection {path} has the format {content['format']}, this Paragone reads {FORMAT}")
            sets = tuple(_read_set(item) for item in content["sets"])
            return cls(content["name"], content["margin"], content["evidence_rows"], sets)
        except (KeyError, TypeError) as error:
            raise InputError(f"collection {path} is not a collection file: {error}") from error


def _read_set(item: Mapping[str, Any]) -> GeneratedSet:
    aurocs = {method: tuple(values) for method, values in item["aurocs"].items()}
    return GeneratedSet(**{**item, "active": tuple(item["active"]), "aurocs": aurocs})


def greedy_cover(sets: Sequence[GeneratedSet], margin: float, per_concept: int) -> tuple[GeneratedSet, ...]:
    """Choose datasets that prove as many ordered pairs as possible, few of one concept.

    In each step the dataset that proves most pairs that are still open; ties to the one whose order of methods is
    the most stable, then to the earlier one. A concept is taken at most ``per_concept`` times.
    """
    proven = {item.name: set(item.evidence().proven(margin)) for item in sets}
    left, chosen, done = list(sets), list[GeneratedSet](), set[tuple[str, str]]()
    while left:
        best = max(left, key=lambda item: (len(proven[item.name] - done), item.stability))
        if not proven[best.name] - done:
            break
        chosen.append(best)
        done |= proven[best.name]
        left.remove(best)
        taken = sum(item.concept == best.concept for item in chosen)
        if taken >= per_concept:
            left = [item for item in left if item.concept != best.concept]
    return tuple(chosen)
