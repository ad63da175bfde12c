"""The DIGEN sets: made by name, written as files, and measured as evolved ones are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paragone.data import Dataset, collection_names, digen_entries, find_digen, make_digen
from paragone.data import load as load_dataset
from paragone.generate.collection import Collection, GeneratedSet
from paragone.generate.evidence import measure
from paragone.generate.inspection import MARGIN, inspect_digen
from paragone.generate.laboratory import Holdout, Laboratory, parted
from paragone.generate.manifests import write_sets
from paragone.generate.methods import Contender, digen_tuned, reference_methods
from paragone.generate.sampling import GeneratorSpec
from paragone.ties import least_loss

TUNING_SEED = 500_000
"""The sample on which configurations are chosen has a seed of its own, apart from those of the evidence."""
CHOOSING_ROWS = 2000


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
    """Measure the reference methods on fresh samples of the DIGEN formulas, as evolved ones are measured.

    Every method is measured in the configuration that does best on a sample of its own, among its
    portfolio and its published tuning. The published tuning alone would be unfair: it was found for
    an SVC without a bound on its iterations, and with the bound some of it fails. A formula is cut
    at the population's middle; a block of ties goes whole to one side, so that labels have no
    noise.

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
        Called with one sentence of progress after each formula.

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
    chosen = [find_digen(name) for name in sets] or list(digen_entries())
    concepts = inspect_digen().sets.set_index("dataset")["concept"]
    measured = []
    for position, entry in enumerate(chosen, start=1):
        generator = GeneratorSpec(entry.formula)
        taking_part = methods or reference_methods()
        # The published tuning comes last: where it is tied with the portfolio, the portfolio is
        # taken.
        options = [(m, (*m.portfolio, digen_tuned()[entry.name][m.name])) for m in taking_part]
        configured = best_configurations(
            entry.name, generator, options, laboratory, n_train=n_train
        )
        evidence = measure(
            entry.name,
            generator,
            configured,
            laboratory,
            n_train=n_train,
            n_fresh=n_fresh,
            n_seeds=n_seeds,
        )
        if evidence is not None:
            concept = int(concepts[entry.name])
            parameters = {method.name: params for method, params in configured}
            described = (entry.name, generator, concept, entry.seed, n_train, evidence, parameters)
            measured.append(GeneratedSet.of(*described))
        if tell is not None:
            tell(f"measured {position} of {len(chosen)}")
    return Collection("digen, measured", MARGIN, n_fresh, tuple(measured))


def best_configurations(
    name: str,
    generator: GeneratorSpec,
    options: Sequence[tuple[Contender, Sequence[Mapping[str, Any]]]],
    laboratory: Laboratory,
    *,
    n_train: int,
) -> list[tuple[Contender, Mapping[str, Any]]]:
    """Return each method with the configuration of the largest AUROC on a sample that is used for nothing else."""
    sample = parted(
        generator.sample(n_train + CHOOSING_ROWS, TUNING_SEED, name=name), np.arange(n_train)
    )
    built = {
        f"{method.name} {place}": method.configured(params)
        for method, choices in options
        for place, params in enumerate(choices)
    }
    found = laboratory.run(
        f"choosing for {name}", [sample], built, Holdout(keep_values=False, metrics=("auroc",))
    )
    scores = {method: result.scores["auroc"] for (_, method), result in found.items()}
    chosen = []
    for method, choices in options:
        # A configuration that failed loses against every one that ran.
        values = [scores.get(f"{method.name} {place}", -1.0) for place in range(len(choices))]
        chosen.append((method, choices[least_loss([-value for value in values], size=1.0)]))
    return chosen


def load(name: str) -> Dataset:
    """Make a generated dataset by its name, checked by its hashes.

    Parameters
    ----------
    name : str
        A DIGEN set by its short or published name, or a dataset of an evolved collection, as
        ``paragone-v1:3`` or ``paragone-v1-3``.

    Examples
    --------
    >>> load("digen8")
    Dataset 'digen8_4426': 1000 samples x 10 features, classification, 2 classes
    >>> load("paragone-v1-1")
    Dataset 'paragone-v1-1': 1000 samples x 10 features, classification, 2 classes
    """
    for collection in collection_names():
        if name.startswith((f"{collection}:", f"{collection}-")):
            return load_dataset(f"{collection}:{name[len(collection) + 1 :]}")
    return make_digen(find_digen(name.removeprefix("digen:")))


def write_digen(folder: str | Path, file_format: str = "csv") -> tuple[Path, ...]:
    """Write the 40 sets with a manifest of formulas, seeds and hashes.

    Parameters
    ----------
    folder : str or Path
        Made where it is missing; a file of the same name in it is replaced.
    file_format : {"csv", "parquet"}, default="csv"
        Of the tables.

    Returns
    -------
    tuple of Path
        The 40 tables, and the manifest last.

    Examples
    --------
    >>> import tempfile
    >>> written = write_digen(tempfile.mkdtemp())
    >>> len(written), written[-1].name
    (41, 'manifest.json')
    """
    told = ("name", "formula", "md5", "seed", "x_hash", "y_hash")
    sets = (
        (make_digen(entry), {word: getattr(entry, word) for word in told})
        for entry in digen_entries()
    )
    return write_sets(sets, folder, "digen", file_format)
