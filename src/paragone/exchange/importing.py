"""Take rankings made elsewhere and make an experiment of them that scores them like any other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from paragone.data import Dataset, SplitPlan, make_splits
from paragone.errors import InputError
from paragone.exchange.data_sets import find_datasets
from paragone.exchange.places import CPU_TIME, RANKING, TIME, Place, find_rankings
from paragone.exchange.ranking_files import read_ranking, read_seconds
from paragone.experiment import Experiment
from paragone.experiment.split_methods import SplitMethods
from paragone.plugins import Method
from paragone.protocols import Protocol
from paragone.rankers.imported import ImportedRanking, MissingRanking


@dataclass(frozen=True, eq=False)
class Imported:
    """An experiment of imported rankings, ready to run, and what to tell the user about the files.

    Examples
    --------
    >>> import tempfile
    >>> from paragone.data import load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     own = Path(folder) / "elsewhere" / "Mine"
    ...     own.mkdir(parents=True)
    ...     numbers = [str(feature + 1) for feature in range(load("wine-traits").n_features)]
    ...     for fold in range(2):
    ...         _ = (own / f"wine-traits_fold{fold}_ranking.csv").write_text(",".join(numbers))
    ...     imported = import_rankings(own.parent, ["wine-traits"], SplitPlan(folds=2), seed=42)
    ...     imported.experiment, len(imported.notes)
    (Experiment 'elsewhere': 1 dataset x 1 method, curve, 0)
    """

    experiment: Experiment
    notes: tuple[str, ...]


def import_rankings(
    run: str | Path,
    data: Sequence[Dataset | str],
    split: SplitPlan | None = None,
    protocol: Protocol | None = None,
    *,
    name: str | None = None,
    seed: int | None = None,
    allow_missing: bool = False,
) -> Imported:
    """Make an experiment of the rankings ``RUN/<METHOD>/<DATASET>_fold<i>_ranking.csv``.

    Every file is checked before anything runs. A cell's key holds its own ranking, so a changed file makes
    its own cell anew and no other. Metrics files in the run are not read: the curves are measured here.

    Parameters
    ----------
    run : str or Path
        The folder with one folder a method.
    data : sequence of Dataset or str
        The datasets that the files name: stored folds, folders of those, or any other with ``split`` and
        ``seed``; see `find_datasets`.
    split : SplitPlan, optional
        The split that the rankings were made on, for data that do not come in stored folds.
    protocol : Protocol, optional
        How to score; the curve protocol where it is not given.
    name : str, optional
        What to call the experiment; the run's folder where it is not given.
    seed : int, optional
        The seed of that split; needed for data that do not come in stored folds.
    allow_missing : bool, default=False
        Let a method lack folds that others have: those cells fail and say so.

    Returns
    -------
    Imported
        The experiment, and notes on what was left out.

    Examples
    --------
    >>> import tempfile
    >>> from paragone.data import load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     own = Path(folder) / "elsewhere" / "Mine"
    ...     own.mkdir(parents=True)
    ...     for i in range(2):
    ...         text = ",".join(str(j + 1) for j in range(load("wine-traits").n_features))
    ...         _ = (own / f"wine-traits_fold{i}_ranking.csv").write_text(text)
    ...     imported = import_rankings(own.parent, ["wine-traits"], SplitPlan(folds=2), seed=42)
    ...     imported.experiment
    Experiment 'elsewhere': 1 dataset x 1 method, curve
    """
    run = Path(run)
    files, others = find_rankings(run)
    datasets, unused = _datasets(data, {place.dataset for place in files})
    plan = split or SplitPlan()
    n_folds = {dataset.name: _n_folds(dataset, plan, seed) for dataset in datasets}
    _check_folds(files, n_folds)
    missing = _missing(files, n_folds)
    if missing and not allow_missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise InputError(f"{run}: no ranking of {missing[0]}{more}; --allow-missing goes on without")
    sizes = {dataset.name: dataset.n_features for dataset in datasets}
    methods = {place: _method(path, sizes[place.dataset]) for place, path in files.items()}
    methods |= {place: Method(MissingRanking, {"reason": f"no ranking of {place} in the import"}) for place in missing}
    experiment = Experiment(
        datasets, _by_name(methods), plan, protocol, name=name or run.resolve().name, seed=seed or 0
    )
    return Imported(experiment, _notes(unused, others, missing, len(methods)))


def _datasets(data: Sequence[Dataset | str], wanted: set[str]) -> tuple[list[Dataset], list[str]]:
    loaded = [dataset for dataset in data if isinstance(dataset, Dataset)]
    here = {dataset.name for dataset in loaded}
    found, unused = find_datasets([d for d in data if not isinstance(d, Dataset)], wanted - here)
    unused += sorted(here - wanted)
    return [dataset for dataset in loaded if dataset.name in wanted] + found, unused


def _n_folds(dataset: Dataset, plan: SplitPlan, seed: int | None) -> int:
    if seed is None and dataset.stored_splits is None:
        raise InputError(
            f"dataset {dataset.name!r} does not come in stored folds: say which split the rankings were made on, "
            "with its seed (and mode, folds, scale)"
        )
    return len(make_splits(dataset, plan, seed or 0))


def _check_folds(files: Mapping[Place, Path], n_folds: Mapping[str, int]) -> None:
    for place, path in files.items():
        if place.fold >= n_folds[place.dataset]:
            have = n_folds[place.dataset]
            raise InputError(f"{path}: there is no fold {place.fold}, {place.dataset} has {have} (counted from 0)")


def _missing(files: Mapping[Place, Path], n_folds: Mapping[str, int]) -> list[Place]:
    methods = dict.fromkeys(place.method for place in files)
    every = (Place(m, dataset, fold) for m in methods for dataset, n in n_folds.items() for fold in range(n))
    return [place for place in every if place not in files]


def _method(path: Path, n_features: int) -> Method:
    wall, cpu = (path.with_name(path.name.removesuffix(RANKING) + ending) for ending in (TIME, CPU_TIME))
    seconds = read_seconds(wall) if wall.is_file() else None
    # A ranking that came without its processor time keeps the key that it always had.
    known = {"cpu_seconds": read_seconds(cpu)} if cpu.is_file() else {}
    return Method(ImportedRanking, {"ranking": read_ranking(path, n_features), "seconds": seconds, **known})


def _by_name(methods: Mapping[Place, Method]) -> dict[str, SplitMethods]:
    names = dict.fromkeys(place.method for place in methods)
    return {
        name: SplitMethods(
            ImportedRanking, by_place={(p.dataset, p.fold): m for p, m in methods.items() if p.method == name}
        )
        for name in names
    }


def _notes(unused: Sequence[str], others: int, missing: Sequence[Place], total: int) -> tuple[str, ...]:
    notes = []
    if unused:
        notes.append(f"no ranking mentions {', '.join(unused)}: left out")
    if others:
        notes.append(f"{others} other file(s) in the run were left alone")
    if missing:
        notes.append(f"{len(missing)} of {total} rankings are missing: their cells will fail")
    return tuple(notes)
