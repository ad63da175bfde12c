"""Inspection: what a collection of generated datasets really holds, and which pairs of methods it tells apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd

from paragone.errors import InputError
from paragone.generate.concepts import agreements, numbered_concepts, signature
from paragone.generate.expressions import Expression
from paragone.generate.formulas import canonical_key, simplify
from paragone.generate.sampling import GeneratorSpec, TargetKind, TargetRule, Threshold
from paragone.generate.sets import cut_in_half, digen_entries, digen_features
from paragone.generate.truth import truth_sheet
from paragone.validation import FloatArray

MARGIN = 0.05


def duel_matrix(
    scores: Sequence[Mapping[str, float]], methods: Sequence[str], margin: float = MARGIN
) -> pd.DataFrame:
    """Count the datasets on which the row's method beats the column's by a margin.

    Parameters
    ----------
    scores : sequence of mappings
        One per dataset: each method's AUROC.
    methods : sequence of str
        The methods, in the order of the table.
    margin : float, default=0.05
        By how much a method must win. Exactly the margin counts.

    Returns
    -------
    DataFrame
        Methods down and across; the diagonal is 0.

    Examples
    --------
    >>> print(duel_matrix([{"A": 0.9, "B": 0.6}, {"A": 0.9, "B": 0.85}], ["A", "B"]))
       A  B
    A  0  2
    B  0  0
    """
    counts = pd.DataFrame(0, index=list(methods), columns=list(methods))
    for winner, loser in permutations(methods, 2):
        # Scores have four decimals in published tables: a difference of .05 must not fail by its
        # last bit.
        counts.loc[winner, loser] = sum(
            round(row[winner] - row[loser] - margin, 9) >= 0 for row in scores
        )
    return counts


def open_pairs(counts: pd.DataFrame) -> tuple[tuple[str, str], ...]:
    """Return the ordered pairs (winner, loser) that no dataset shows.

    Examples
    --------
    >>> open_pairs(duel_matrix([{"A": 0.9, "B": 0.6}], ["A", "B"]))
    (('B', 'A'),)
    """
    return tuple((a, b) for a, b in permutations(counts.index, 2) if counts.loc[a, b] == 0)


DIGEN_TEST_ROWS = 200


@dataclass(frozen=True, eq=False)
class Specimen:
    """A dataset to be inspected.

    Parameters
    ----------
    name : str
        The dataset.
    generator : GeneratorSpec
        Its formula, and what was made of it.
    X : ndarray
        Its rows.
    threshold : Threshold or TargetRule
        Where its values are cut; the rule of several classes or numbers.
    noise : float
        The share of labels that do not follow from the formula; for numbers in units of the value's
        spread.
    ceiling : float
        The best score that any method can reach.
    """

    name: str
    generator: GeneratorSpec
    X: FloatArray
    threshold: Threshold | TargetRule
    noise: float
    ceiling: float

    @classmethod
    def halved(cls, name: str, expression: Expression, X: FloatArray) -> Specimen:
        """Describe a dataset whose own rows are cut in half, ties and all, as DIGEN does."""
        values = expression.evaluate(X)
        cut = cut_in_half(values)
        generator = GeneratorSpec(str(expression), X.shape[1])
        return cls(name, generator, X, Threshold.halving(values), cut.noise, cut.ceiling)

    @property
    def expression(self) -> Expression:
        """Its formula."""
        return self.generator.expression


@dataclass(frozen=True, eq=False)
class Inspection:
    """What a collection holds.

    Parameters
    ----------
    name : str
        The collection.
    sets : DataFrame
        One row per dataset: formula, simplified formula, features that matter, their Shapley
        shares, concept and its key, label noise, Bayes ceiling, and the other dataset that it
        agrees with most.
    coverage : DataFrame
        On how many datasets the row's method beats the column's by the margin.
    margin : float
        The margin of the coverage.
    basis : str
        What a dataset's verdict on two methods rests on.
    remarks : tuple of str
        What else is worth knowing of this collection.
    target : {"binary", "multiclass", "regression"}, default="binary"
        What the datasets have to predict.

    Examples
    --------
    >>> import pandas as pd
    >>> sets = pd.DataFrame({"dataset": ["one", "two"], "concept": [1, 1]})
    >>> coverage = pd.DataFrame([[0, 2], [0, 0]], index=["A", "B"], columns=["A", "B"])
    >>> inspection = Inspection("a pair", sets, coverage, margin=0.05, basis="by scores")
    >>> inspection.n_concepts, inspection.open_pairs
    (1, (('B', 'A'),))
    """

    name: str
    sets: pd.DataFrame
    coverage: pd.DataFrame
    margin: float
    basis: str
    remarks: tuple[str, ...] = ()
    target: TargetKind = "binary"

    @property
    def duplicates(self) -> tuple[tuple[str, ...], ...]:
        """The datasets whose formulas are one formula in other spellings, group by group."""
        keys = [canonical_key(Expression.parse(text)) for text in self.sets["formula"]]
        groups = [
            tuple(self.sets["dataset"][[own == key for own in keys]]) for key in dict.fromkeys(keys)
        ]
        return tuple(group for group in groups if len(group) > 1)

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
        largest = self.sets.loc[
            self.sets["concept"].map(self.sets["concept"].value_counts()) == sizes[0]
        ]
        n_sets = len(self.sets)
        if n_sets == 1:
            said = ["1 dataset of 1 concept"]
        elif sizes[0] == 1:
            said = [f"{n_sets} datasets, each of a concept of its own"]
        else:
            said = [f"{n_sets} datasets are {self.n_concepts} concepts (sizes {_shown(sizes)})"]
        if sizes[0] > 1:
            said.append(
                f"{sizes[0]} datasets are one concept: {min(largest['simplified'], key=len)}"
            )
        noisy = self.sets.loc[self.sets["noise"] > 0].sort_values(
            "noise", ascending=False, kind="stable"
        )
        if len(noisy) and self.target == "binary":
            worst = ", ".join(
                f"{row.dataset} {row.noise:.1%}" for row in noisy.head(3).itertuples()
            )
            said.append(f"{len(noisy)} datasets have labels that ties decided ({worst})")
        said += [
            f"one formula in several spellings: {', '.join(group)}" for group in self.duplicates
        ]
        if len(self.coverage):
            missing = self.open_pairs
            said.append(
                f"{self.n_pairs - len(missing)} of {self.n_pairs} ordered pairs differ by"
                f" {self.margin:g} on some dataset, {self.basis}; {len(missing)} on none"
            )
        return (*said, *self.remarks)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "collection": self.name,
            "n_concepts": self.n_concepts,
            "concept_sizes": list(self.concept_sizes),
            "sets": self.sets.to_dict("records"),
            "coverage": self.coverage.to_dict("index"),
            "margin": self.margin,
            "basis": self.basis,
            "duplicates": [list(group) for group in self.duplicates],
            "open_pairs": [list(pair) for pair in self.open_pairs],
            "findings": list(self.findings()),
        }

    def __repr__(self) -> str:
        return f"Inspection of {self.name}: " + "; ".join(self.findings())


def inspect_sets(
    name: str,
    specimens: Sequence[Specimen],
    coverage: pd.DataFrame,
    margin: float = MARGIN,
    basis: str = "",
) -> Inspection:
    """Inspect datasets: which concepts they are, how noisy, how far a perfect method would get, what they tell apart.

    A formula's concept is taken with the cut of the dataset itself.
    """
    if not specimens:
        raise InputError(f"collection {name!r} holds no datasets: there is nothing to inspect")
    shown = [_row(specimen) for specimen in specimens]
    marks = [signature(s.expression, s.threshold, s.X.shape[1]) for s in specimens]
    agreement = agreements(marks)
    sets = pd.DataFrame(shown)
    sets.insert(1, "concept", numbered_concepts(agreement))
    # A dataset agrees with itself: -1 keeps it from being its own nearest.
    others = np.where(np.eye(len(marks), dtype=bool), -1.0, agreement)
    nearest = others.argmax(axis=1)
    sets["nearest"] = [specimens[other].name if len(marks) > 1 else "" for other in nearest]
    sets["agreement"] = others.max(axis=1).clip(0)
    return Inspection(name, sets, coverage, margin, basis)


def _row(specimen: Specimen) -> dict[str, Any]:
    sheet = truth_sheet(specimen.generator)
    return {
        "dataset": specimen.name,
        "formula": str(specimen.expression),
        "simplified": str(simplify(specimen.expression, specimen.X)),
        "active": " ".join(f"X{feature}" for feature in sheet.active),
        "shapley": " ".join(
            f"X{found.feature}:{found.shapley.value:.2f}" for found in sheet.features
        ),
        "key": sheet.concept,
        "noise": specimen.noise,
        "ceiling": specimen.ceiling,
    }


def inspect_digen(margin: float = MARGIN) -> Inspection:
    """Inspect the DIGEN collection with its published scores.

    Examples
    --------
    >>> inspect_digen().n_concepts
    20
    """
    found = digen_entries()
    specimens = [Specimen.halved(e.name, e.expression(), digen_features(e.seed)) for e in found]
    coverage = duel_matrix([e.auroc for e in found], list(found[0].auroc), margin)
    basis = "by the published scores of one split, without intervals"
    found_out = inspect_sets("digen", specimens, coverage, margin, basis)
    return replace(
        found_out, remarks=(_close_calls([list(entry.auroc.values()) for entry in found]),)
    )


def _close_calls(scores: Sequence[Sequence[float]]) -> str:
    """Say on how many datasets the best two methods are closer than one split can tell."""
    # The standard error is taken at .9, a usual best score: it is smaller for better ones.
    ordered = np.sort(np.array(scores), axis=1)
    error = auroc_error(0.9, DIGEN_TEST_ROWS // 2, DIGEN_TEST_ROWS // 2)
    close = int((ordered[:, -1] - ordered[:, -2] < error).sum())
    return (
        f"on {close} of {len(ordered)} datasets the best two methods differ by less than"
        f" {error:.3f}, the standard error of one AUROC of .9 on {DIGEN_TEST_ROWS} test rows"
    )


def auroc_error(area: float, n_positive: int, n_negative: int) -> float:
    """Return the standard error of an AUROC after Hanley and McNeil (1982).

    Examples
    --------
    >>> round(auroc_error(0.9, 100, 100), 4)
    0.0226
    """
    one, two = area / (2 - area), 2 * area**2 / (1 + area)
    spread = (
        area * (1 - area) + (n_positive - 1) * (one - area**2) + (n_negative - 1) * (two - area**2)
    )
    return float(np.sqrt(spread / (n_positive * n_negative)))


def _shown(sizes: Sequence[int]) -> str:
    several = [str(size) for size in sizes if size > 1]
    ones = int(np.sum(np.array(sizes) == 1))
    return ", ".join([*several, f"{ones} of one"] if ones else several)
