"""The claims of a collection put to proof on variants of its datasets, with a level of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from paragone.data import DatasetVariant, variant_named
from paragone.errors import InputError
from paragone.generate.claims import ClaimRecord, VariantClaims
from paragone.generate.collection import Collection, GeneratedSet
from paragone.generate.laboratory import Laboratory
from paragone.generate.methods import Contender, reference_methods
from paragone.generate.proof import LeadClaim, ProofPlan, prove
from paragone.generate.truth import bayes_scores
from paragone.generate.variants import VariantGenerator


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
