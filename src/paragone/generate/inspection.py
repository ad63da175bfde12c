"""Inspection: what a collection of generated datasets really holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from paragone.data.digen import Expression, cut_in_half, entries
from paragone.data.digen.datasets import digen_features
from paragone.generate.concepts import active_features, group_concepts, signature
from paragone.generate.coverage import MARGIN, duel_matrix, open_pairs
from paragone.generate.simplification import simplify
from paragone.generate.threshold import Threshold
from paragone.validation import FloatArray

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Specimen:
    """A dataset to be inspected: its formula, its rows and the scores that are known of it."""

    name: str
    expression: Expression
    X: FloatArray
    scores: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Inspection:
    """What a collection holds.

    Parameters
    ----------
    name : str
        The collection.
    sets : DataFrame
        One row a dataset: formula, simplified formula, features that matter, concept, label noise, Bayes ceiling.
    coverage : DataFrame
        On how many datasets the row's method beats the column's by the margin.
    margin : float
        The margin of the coverage.

    Examples
    --------
    >>> import pandas as pd
    >>> sets = pd.DataFrame({"dataset": ["one", "two"], "concept": [1, 1]})
    >>> coverage = pd.DataFrame([[0, 2], [0, 0]], index=["A", "B"], columns=["A", "B"])
    >>> inspection = Inspection("a pair", sets, coverage, margin=0.05)
    >>> inspection.n_concepts, inspection.open_pairs
    (1, (('B', 'A'),))
    """

    name: str
    sets: pd.DataFrame
    coverage: pd.DataFrame
    margin: float

    @property
    def concept_sizes(self) -> tuple[int, ...]:
        """How many datasets every concept has, largest first."""
        return tuple(sorted(Counter(self.sets["concept"]).values(), reverse=True))

    @property
    def n_concepts(self) -> int:
        """The number of distinct concepts."""
        return len(self.concept_sizes)

    @property
    def open_pairs(self) -> tuple[tuple[str, str], ...]:
        """The ordered pairs of methods that no dataset tells apart by the margin."""
        return open_pairs(self.coverage) if len(self.coverage) else ()

    @property
    def n_pairs(self) -> int:
        """The number of ordered pairs."""
        return len(self.coverage) * (len(self.coverage) - 1)

    def findings(self) -> tuple[str, ...]:
        """Return what is worth knowing, a sentence each."""
        sizes = self.concept_sizes
        largest = self.sets.loc[self.sets["concept"].map(self.sets["concept"].value_counts()) == sizes[0]]
        said = [f"{len(self.sets)} datasets are {self.n_concepts} concepts (sizes {_shown(sizes)})"]
        if sizes[0] > 1:
            said.append(f"{sizes[0]} datasets are one concept: {largest['simplified'].iloc[0]}")
        noisy = self.sets.loc[self.sets["noise"] > 0].sort_values("noise", ascending=False, kind="stable")
        if len(noisy):
            worst = ", ".join(f"{row.dataset} {row.noise:.1%}" for row in noisy.head(3).itertuples())
            said.append(f"{len(noisy)} datasets have labels that ties decided ({worst})")
        if len(self.coverage):
            missing = self.open_pairs
            said.append(
                f"{self.n_pairs - len(missing)} of {self.n_pairs} ordered pairs differ by {self.margin:g} on some "
                f"dataset; {len(missing)} on none"
            )
        return tuple(said)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "collection": self.name,
            "n_concepts": self.n_concepts,
            "concept_sizes": list(self.concept_sizes),
            "sets": self.sets.to_dict("records"),
            "coverage": self.coverage.to_dict("index"),
            "margin": self.margin,
            "open_pairs": [list(pair) for pair in self.open_pairs],
            "findings": list(self.findings()),
        }

    def __repr__(self) -> str:
        return f"Inspection of {self.name}: " + "; ".join(self.findings())


def inspect_sets(name: str, specimens: Sequence[Specimen], margin: float = MARGIN) -> Inspection:
    """Inspect datasets: which concepts they are, how noisy, how far a perfect method would get, what they tell apart.

    A formula's concept is taken with the cut of the dataset's own rows.
    """
    import pandas as pd

    rows, signatures = [], []
    for specimen in specimens:
        values = specimen.expression.evaluate(specimen.X)
        cut, threshold = cut_in_half(values), Threshold.halving(values)
        n_features = specimen.X.shape[1]
        signatures.append(signature(specimen.expression, threshold, n_features))
        active = sorted(active_features(specimen.expression, threshold, n_features))
        rows.append(
            {
                "dataset": specimen.name,
                "formula": str(specimen.expression),
                "simplified": str(simplify(specimen.expression, specimen.X)),
                "active": " ".join(f"X{feature}" for feature in active),
                "noise": cut.noise,
                "ceiling": cut.ceiling,
            }
        )
    concepts = group_concepts(signatures)
    numbers = {leader: number for number, leader in enumerate(sorted(set(concepts)), start=1)}
    sets = pd.DataFrame(rows)
    sets.insert(1, "concept", [numbers[concept] for concept in concepts])
    methods = list(specimens[0].scores) if specimens else []
    return Inspection(name, sets, duel_matrix([s.scores for s in specimens], methods, margin), margin)


def inspect_digen(margin: float = MARGIN) -> Inspection:
    """Inspect the DIGEN collection with its published scores.

    Examples
    --------
    >>> inspect_digen().n_concepts
    20
    """
    specimens = [Specimen(e.name, e.expression(), digen_features(e.seed), e.auroc) for e in entries()]
    return inspect_sets("digen", specimens, margin)


def _shown(sizes: Sequence[int]) -> str:
    several = [str(size) for size in sizes if size > 1]
    ones = int(np.sum(np.array(sizes) == 1))
    return ", ".join([*several, f"{ones} of one"] if ones else several)
