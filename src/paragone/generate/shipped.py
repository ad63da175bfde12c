"""What comes with the package beside its collections: how a search went, every fit of a proof, DIGEN measured.

A collection is shipped by its files lying in two folders, and no list names it: ``NAME.json`` among
the ``collections``, and among the ``evidence_files``, where they are known, ``NAME-curve.csv``,
``NAME-fits.csv.xz`` and ``NAME-again.csv``.

The DIGEN sets are made by name, written as files, and measured as evolved ones are.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from paragone.data import Dataset
from paragone.data import load as load_dataset
from paragone.errors import InputError, unknown_name
from paragone.generate.collection import Collection, GeneratedSet, write_sets
from paragone.generate.inspection import MARGIN, inspect_digen
from paragone.generate.laboratory import Holdout, Laboratory, parted
from paragone.generate.methods import Contender, digen_tuned, reference_methods
from paragone.generate.proof import measure
from paragone.generate.sampling import GeneratorSpec
from paragone.generate.sets import (
    COLLECTION,
    collection_file,
    collection_names,
    digen_entries,
    find_digen,
    make_digen,
)
from paragone.ties import least_loss

MEASURED = "evidence_files"
"""The folder of measurements that come with the package."""
CURVE = "coverage_curve.csv"
"""The progress of a search over time, in the folder that it wrote."""
FITS = "fits.csv.xz"
"""Every fit of the proofs, in the folder that a search wrote."""
FIT_COLUMNS = (
    "dataset",
    "formula",
    "method",
    "sample",
    "row_seed",
    "tuning_score",
    "score",
    "parameters",
)


def search_curve(collection: str) -> pd.DataFrame | None:
    """Return the progress of the search for a shipped collection over time; None where it was not kept.

    Examples
    --------
    >>> bool(search_curve("paragone-v1")["proven"].is_monotonic_increasing)
    True
    """
    return _kept(collection, "curve")


def measured_again(collection: str) -> pd.DataFrame | None:
    """Return what a script that shares no code with the search measured of a shipped collection's claims; or None.

    One row per claim: the printed mean and lower limit, and the mean lead on new samples with its
    standard error.

    Examples
    --------
    >>> measured_again("paragone-v1") is None
    True
    """
    return _kept(collection, "again")


def _kept(collection: str, what: str) -> pd.DataFrame | None:

    collection_file(collection)
    table = files("paragone.generate").joinpath(MEASURED, f"{collection}-{what}.csv")
    if not table.is_file():
        return None
    with as_file(table) as path:
        return pd.read_csv(path)


def read_fits(collection: str | Path) -> pd.DataFrame:
    """Return every fit of the proofs of a collection: rows, configuration and scores.

    Parameters
    ----------
    collection : str or Path
        The name of one that comes with the package, or the folder that a search wrote.

    Returns
    -------
    DataFrame
        One row per fit: ``dataset`` (empty where nothing was shown on it; with a number beyond
        those of the collection where something was, and it was not chosen), ``formula``,
        ``method``, ``sample``, ``row_seed``, ``tuning_score``, ``score`` and ``parameters`` (a dict
        each). The lead of a claim on a sample is the difference of two scores.

    Examples
    --------
    >>> read_fits("paragone-v1")
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: the fits of collection 'paragone-v1' were not kept: its file holds
    scores only
    """
    name = str(collection)
    if name in collection_names():
        shipped = files("paragone.generate").joinpath(MEASURED, f"{name}-{FITS}")
        if not shipped.is_file():
            raise InputError(
                f"the fits of collection {name!r} were not kept: its file holds scores only"
            )
        with as_file(shipped) as path:
            return _read_fits(path)
    folder = Path(collection)
    folder = folder.parent if folder.is_file() else folder
    if not (folder / COLLECTION).is_file():
        raise unknown_name("collection", name, [*collection_names(), "FOLDER"])
    if not (folder / FITS).is_file():
        raise InputError(
            f"{folder} holds no {FITS}: only a search that proves under tuning writes it"
        )
    return _read_fits(folder / FITS)


def _read_fits(path: Path) -> pd.DataFrame:

    try:
        # Python reads to the last bit: the leads of a claim are differences of these.
        exact = {"score": float, "tuning_score": lambda text: float(text or "nan")}
        fits = pd.read_csv(path, keep_default_na=False, converters=exact)
        found = fits[list(FIT_COLUMNS)]
        parameters = [_parameters(text) for text in found["parameters"]]
    except (KeyError, ValueError, EOFError, OSError, lzma.LZMAError) as error:
        raise InputError(f"{path} is not a table of fits: {error}") from error
    return found.assign(parameters=parameters)


def _parameters(text: str) -> dict[str, Any]:
    read = json.loads(text)
    if not isinstance(read, dict):
        raise ValueError(f"parameters are a table, not {text}")
    return read


def digen_measured() -> Collection:
    """Return the DIGEN formulas measured on fresh samples, with intervals.

    Examples
    --------
    >>> len(digen_measured().sets)
    40
    """
    with as_file(files("paragone.generate").joinpath(MEASURED, "digen-measured.json")) as path:
        return Collection.read(path)


def shown_beside(reference: str, collection: Collection | None) -> dict[str, Any]:
    """Return what the page of a collection shows beside its evidence, where it is known, by names of arguments.

    Parameters
    ----------
    reference : str
        The name of a collection that comes with the package, or a collection file or folder.
    collection : Collection or None
        The same, read; None stands for DIGEN.

    Examples
    --------
    >>> sorted(shown_beside("paragone-v1", Collection.named("paragone-v1")))
    ['again', 'beside', 'curve']
    """
    if collection is not None and reference in collection_names():
        # DIGEN was measured in fixed configurations: beside proofs under tuning it would look
        # better than it is.
        beside = digen_measured() if collection.plan is None else None
        return {
            "curve": search_curve(reference),
            "again": measured_again(reference),
            "beside": beside,
        }
    curve = Path(reference) / CURVE
    return {"curve": pd.read_csv(curve)} if curve.is_file() else {}


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
