"""Generators of variants: the rows of a dataset's variant as a source without end, for truth sheets and for proofs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from typing_extensions import override

from paragone.data import DatasetVariant, draw_variant, variant_named
from paragone.errors import InputError
from paragone.generate.sampling import Drawn, GeneratorSpec
from paragone.generate.thresholds import TargetRule


@dataclass(frozen=True)
class VariantGenerator(GeneratorSpec):
    """A formula whose rows are those of a variant: the same cut, other shares of the classes or noisy labels.

    Parameters
    ----------
    variant : str
        Its name; see `paragone.data.VARIANTS`.

    Examples
    --------
    >>> product = GeneratorSpec("mul(X0, X1)", n_features=2, cut=0.5)
    >>> half = VariantGenerator.of_variant(product, variant_named("balanced"))
    >>> float(half.parts(100, 50, seed=1).y.mean()), half.resolved().shares
    (0.5, (0.5, 0.5))
    """

    variant: str = ""

    @classmethod
    def of_variant(cls, generator: GeneratorSpec, variant: DatasetVariant) -> VariantGenerator:
        """Return the source of a variant's rows; one of other targets or with kinds of data of its own has none."""
        if generator.target != "binary":
            raise InputError(
                f"{generator.formula} has a {generator.target} target: variants are for two classes"
                " only"
            )
        cut = generator.threshold()
        plain = GeneratorSpec(
            generator.formula, generator.n_features, cut=cut.value, inclusive=cut.inclusive
        )
        kinds = [key for key in generator.declaration() if key not in plain.declaration()]
        if kinds:
            raise InputError(
                f"{generator.formula} has kinds of data of its own ({', '.join(kinds)}), and so no"
                " variants"
            )
        return cls(
            generator.formula,
            generator.n_features,
            noise=variant.noise,
            cut=cut.value,
            inclusive=cut.inclusive,
            variant=variant.name,
        )

    @override
    def resolved(self) -> TargetRule:
        found, positive = super().resolved(), variant_named(self.variant).positive
        return found if positive is None else replace(found, shares=(1 - positive, positive))

    @override
    def _drawn(self, n_train: int, n_test: int, seed: int, stream: int) -> Drawn:
        # The train part has the seed itself, so that a sample of it is the dataset that
        # `paragone.load` makes.
        drawn = [
            draw_variant(
                self.expression,
                (self.threshold().value, self.threshold().inclusive),
                (n, self.n_features),
                variant_named(self.variant),
                np.random.SeedSequence(seed, spawn_key=spawn_key),
            )
            for n, spawn_key in ((n_train, ()), (n_test, (1,)))
            if n
        ]
        if not drawn:
            raise InputError("n must be at least 1, it is 0")
        return Drawn(
            np.vstack([X for X, _ in drawn]),
            np.concatenate([y for _, y in drawn]).astype(np.int64),
            None,
        )
