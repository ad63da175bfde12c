"""The DIGEN formulas measured as evolved ones are: many samples, fresh rows, intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from paragone.data.digen import entries, find
from paragone.generate.collection import Collection, GeneratedSet
from paragone.generate.coverage import MARGIN
from paragone.generate.evidence import measure
from paragone.generate.inspection import inspect_digen
from paragone.generate.laboratory import Laboratory
from paragone.generate.methods import Contender, digen_tuned, reference_methods
from paragone.generate.sampling import GeneratorSpec


def measure_digen(
    laboratory: Laboratory,
    *,
    sets: Sequence[str] = (),
    methods: Sequence[Contender] = (),
    n_train: int = 1000,
    n_fresh: int = 20_000,
    n_seeds: int = 10,
    tell: Callable[[str], None] | None = None,
) -> Collection:
    """Measure the reference methods, in their published tuning, on fresh samples of the DIGEN formulas.

    A formula is cut at the population's middle; a block of ties goes whole to one side, so that labels have no noise.
    The SVC's iterations are bounded.

    Parameters
    ----------
    laboratory : Laboratory
        Where the fits run.
    sets : sequence of str
        Some of the 40; all where it is empty.
    methods : sequence of Contender
        Some of the eight; all where it is empty.
    n_train, n_fresh, n_seeds : int
        Rows to train on, fresh rows, and samples.
    tell : callable, optional
        Is told in a sentence how far it is.

    Returns
    -------
    Collection
        With the evidence; a formula on which a fit failed is left out.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> chosen = [method for method in reference_methods() if method.letter in "KR"]
    >>> with tempfile.TemporaryDirectory() as folder, Laboratory(Path(folder) / "digen.sqlite") as laboratory:
    ...     sizes = {"n_train": 200, "n_fresh": 500, "n_seeds": 2}
    ...     measured = measure_digen(laboratory, sets=["digen8"], methods=chosen, **sizes)
    >>> [item.name for item in measured.sets]
    ['digen8_4426']
    """
    chosen = [find(name) for name in sets] or list(entries())
    concepts = inspect_digen().sets.set_index("dataset")["concept"]
    measured = []
    for position, entry in enumerate(chosen, start=1):
        generator = GeneratorSpec(entry.formula)
        tuned = digen_tuned()[entry.name]
        configured = [(method, tuned[method.name]) for method in methods or reference_methods()]
        sizes = {"n_train": n_train, "n_fresh": n_fresh, "n_seeds": n_seeds}
        evidence = measure(entry.name, generator, configured, laboratory, **sizes)
        if evidence is not None:
            concept = int(concepts[entry.name])
            parameters = {method.name: params for method, params in configured}
            described = (entry.name, generator, concept, entry.seed, n_train, evidence, parameters)
            measured.append(GeneratedSet.of(*described))
        if tell is not None:
            tell(f"measured {position} of {len(chosen)}")
    return Collection("digen, measured", MARGIN, n_fresh, tuple(measured))
