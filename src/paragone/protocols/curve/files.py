"""Files of the original protocol: rankings, times and curves, out of a store and into one."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from paragone.data import Dataset, SplitPlan, fold_sets, load, make_splits
from paragone.data.output import name_of_file, safe_file_name, whole_folder
from paragone.errors import InputError, unknown_name
from paragone.lab.experiment import Experiment
from paragone.lab.planning import SplitMethods
from paragone.lab.protocol import Protocol
from paragone.lab.results import Results
from paragone.methods.method import Method
from paragone.methods.rankers.imported import ImportedRanking, MissingRanking
from paragone.metrics.multilabel import ZeroDivision
from paragone.protocols.curve.protocol import DEFAULT_METRICS, Curve, KGrid, PGrid
from paragone.validation import IntArray

if TYPE_CHECKING:
    import pandas as pd

Curves = Mapping[str, Sequence[float]]


def kgrid_document(ks: Sequence[float], curves: Curves) -> dict[str, Any]:
    """Return the k-grid document: ``k_values`` and one list a metric.

    Examples
    --------
    >>> kgrid_document([10.0, 20.0], {"micro_f1": [0.5, float("nan")]})
    {'k_values': [10, 20], 'micro_f1': [0.5, None]}
    """
    return {
        "k_values": [int(k) for k in ks],
        **{metric: _values(values) for metric, values in curves.items()},
    }


def pgrid_document(
    ps: Sequence[float], curves: Curves, grid: PGrid, n_features: int
) -> dict[str, Any]:
    """Return the p-grid document: the lists, and of every metric the value at the target and the mean.

    Parameters
    ----------
    ps : sequence of float
        The shares of features.
    curves : mapping of str to sequence of float
        The values of every metric at those shares.
    grid : PGrid
        The grid as declared: it alone knows the target and how a share becomes a number of
        features.
    n_features : int
        The number of features of the dataset.

    Examples
    --------
    >>> pgrid_document([0.1, 0.2], {"micro_f1": [0.25, 0.75]}, PGrid(0.1, 0.2, 0.1), 20)
    {'p_values': [0.1, 0.2], 'k_values': [2, 4], 'p_target': 0.2, 'micro_f1': [0.25, 0.75],
     'micro_f1_at_p_target': 0.75, 'micro_f1_mean': 0.5}
    """
    points = grid.points(n_features)
    numbers = dict(zip(points.at, points.k, strict=True))
    target = int(np.argmin(np.abs(np.asarray(ps) - grid.target)))
    document: dict[str, Any] = {
        "p_values": list(ps),
        "k_values": [numbers[p] for p in ps],
        "p_target": ps[target],
        **{metric: _values(values) for metric, values in curves.items()},
    }
    for metric, values in curves.items():
        document[f"{metric}_at_p_target"] = _value(values[target])
        document[f"{metric}_mean"] = _value(float(np.mean(values)))
    return document


def write_document(path: Path, document: Mapping[str, Any]) -> None:
    """Write a document as strict JSON: an undefined value is null."""
    path.write_text(
        json.dumps(document, indent=1, allow_nan=False) + "\n", encoding="utf-8", newline="\n"
    )


def _values(values: Sequence[float]) -> list[float | None]:
    return [_value(value) for value in values]


def _value(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


RANKING, KGRID, PGRID = "ranking.csv", "kgrid_metrics.json", "pgrid_metrics.json"
TIME, CPU_TIME = "time.txt", "cpu_time.txt"
"""Wall time and processor time of a ranking, each one number of seconds."""
_FILE = re.compile(
    r"(.+)_fold(\d{1,9})_(ranking\.csv|time\.txt|cpu_time\.txt|kgrid_metrics\.json|pgrid_metrics\.json)"
)


@dataclass(frozen=True, order=True)
class FilePlace:
    """Whose files: a method on a fold of a dataset.

    Examples
    --------
    >>> FilePlace("a/b", "Arts", 0).file(Path("run"), RANKING).as_posix()
    'run/a%2Fb/Arts_fold0_ranking.csv'
    """

    method: str
    dataset: str
    fold: int

    def file(self, run: Path, ending: str) -> Path:
        """Return where a file of this place stands; names are made safe, so it never leaves the run."""
        return (
            run
            / safe_file_name(self.method)
            / f"{safe_file_name(self.dataset)}_fold{self.fold}_{ending}"
        )

    def __str__(self) -> str:
        return f"{self.method} on {self.dataset}, fold {self.fold}"


def find_rankings(run: Path) -> tuple[dict[FilePlace, Path], int]:
    """Return the ranking files of a run by their place, and how many files in it are none of the protocol's.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = Path(folder)
    ...     (run / "DAGFS").mkdir()
    ...     _ = (run / "DAGFS" / "Arts_fold0_ranking.csv").write_text("1")
    ...     _ = (run / "DAGFS" / "notes.txt").write_text("mine")
    ...     places, others = find_rankings(run)
    >>> list(places), others
    ([FilePlace(method='DAGFS', dataset='Arts', fold=0)], 1)
    """
    files, others = find_files(run)
    found = {place: path for (place, ending), path in files.items() if ending == RANKING}
    if not found:
        raise InputError(
            f"{run}: no ranking files; they are called <METHOD>/<DATASET>_fold<i>_ranking.csv"
        )
    return found, others


def find_files(run: Path) -> tuple[dict[tuple[FilePlace, str], Path], int]:
    """Return the protocol's files of a run by place and ending, and how many files in its folders are none of them."""
    if not run.is_dir():
        raise InputError(f"no folder at {run}: give the folder that holds one folder a method")
    found: dict[tuple[FilePlace, str], Path] = {}
    others = 0
    for path in sorted(run.glob("*/*")):
        match = _FILE.fullmatch(path.name) if path.is_file() else None
        if match is None:
            others += 1
            continue
        place = FilePlace(name_of_file(path.parent.name), name_of_file(match[1]), int(match[2]))
        _check_inside(path, run)
        if (place, match[3]) in found:
            what = match[3].partition(".")[0].replace("_", " ")
            raise InputError(f"{found[place, match[3]]} and {path} both are the {what} of {place}")
        found[place, match[3]] = path
    return found, others


def _check_inside(path: Path, run: Path) -> None:
    if not path.resolve().is_relative_to(run.resolve()):
        raise InputError(f"{path} leads out of {run}: copy the file instead of linking to it")


def write_ranking(path: Path, ranking: IntArray) -> None:
    """Write a 0-based ranking as 1-based numbers, one a line.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a_fold0_ranking.csv"
    ...     write_ranking(path, np.array([2, 0, 1]))
    ...     path.read_text().split(), read_ranking(path, 3)
    (['3', '1', '2'], array([2, 0, 1]))
    """
    text = "".join(f"{feature + 1}\n" for feature in ranking.tolist())
    path.write_text(text, encoding="ascii", newline="\n")


def read_ranking(path: Path, n_features: int) -> IntArray:
    """Read a ranking file as a 0-based ranking; anything but a permutation of 1..d is refused.

    Numbers may stand one a line or on one line with commas or blanks between, and may be written as
    floats that are whole (``3.0``, ``3e+00``).

    Parameters
    ----------
    path : Path
        The file.
    n_features : int
        The number of features of the dataset, d.

    Returns
    -------
    ndarray of int64
        0-based, best first.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a_fold0_ranking.csv"
    ...     _ = path.write_text("3, 1, 2")
    ...     read_ranking(path, 3)
    array([2, 0, 1])
    """
    numbers = _numbers(path)
    length = (
        ""
        if len(numbers) == n_features
        else f" (it holds {len(numbers)} numbers, there are {n_features} features)"
    )
    outside = numbers[(numbers < 1) | (numbers > n_features)]
    if outside.size:
        hint = "; rankings in files are counted from 1" if outside[0] == 0 else ""
        raise InputError(
            f"{path}: index {outside[0]} is out of range 1..{n_features}{hint}{length}"
        )
    counts = np.bincount(numbers, minlength=n_features + 1)[1:]
    doubled, missing = np.flatnonzero(counts > 1) + 1, np.flatnonzero(counts == 0) + 1
    faults = [f"{_listed(missing)} missing"] if missing.size else []
    faults += [f"{_listed(doubled)} there more than once"] if doubled.size else []
    if faults:
        raise InputError(
            f"{path}: no permutation of 1..{n_features}: {' and '.join(faults)}{length}"
        )
    return numbers - 1


def write_seconds(path: Path, seconds: float) -> None:
    """Write a time of a ranking: seconds, in the shortest form that reads back as the same number."""
    path.write_text(f"{seconds!r}\n", encoding="ascii", newline="\n")


def read_seconds(path: Path) -> float:
    """Read a time of a ranking; which one, the name of the file says.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a_fold0_time.txt"
    ...     write_seconds(path, 0.1)
    ...     read_seconds(path)
    0.1
    """
    try:
        seconds = float(_text(path).strip())
    except ValueError as error:
        raise InputError(f"{path}: holds no number of seconds") from error
    if not math.isfinite(seconds) or seconds < 0:
        raise InputError(f"{path}: {seconds} is no number of seconds")
    return seconds


def _numbers(path: Path) -> IntArray:
    words = re.split(r"[,;\s]+", _text(path).strip())
    if words == [""]:
        raise InputError(f"{path}: the file is empty")
    numbers = [_whole(word) for word in words if word]
    if None in numbers:
        word = words[numbers.index(None)]
        raise InputError(
            f"{path}: {word[:40]!r} is no whole number; a ranking file holds feature numbers alone"
        )
    return np.array(numbers, dtype=np.int64)


def _whole(word: str) -> int | None:
    try:
        number = float(word)
    except ValueError:
        return None
    # Beyond 2^53 a float is not sure of its last digit, and no dataset has as many features.
    return int(number) if number.is_integer() and abs(number) < 2**53 else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read ({error})") from error


def _listed(indices: IntArray) -> str:
    shown = ", ".join(str(index) for index in indices[:3])
    more = f" and {len(indices) - 3} more" if len(indices) > 3 else ""
    return f"index {shown} is" if len(indices) == 1 else f"indices {shown}{more} are"


@dataclass(frozen=True)
class Exported:
    """What `export_protocol_files` wrote: how many cells, and how many have no result to write.

    Examples
    --------
    >>> print(Exported(Path("run"), written=6, left_out=1))
    6 rankings with their curves written to run; 1 cells have no result and were left out
    """

    folder: Path
    written: int
    left_out: int

    def __str__(self) -> str:
        rest = f"; {self.left_out} cells have no result and were left out" if self.left_out else ""
        return f"{self.written} rankings with their curves written to {self.folder}{rest}"


def export_protocol_files(
    results: Results, out: str | Path, experiment: str | None = None
) -> Exported:
    """Write ``OUT/<METHOD>/<DATASET>_fold<i>_...``: ranking, time and curves of every done cell.

    The folder appears whole or not at all. The seeds of a repeated method are written as methods of
    their own, ``NAME``, ``NAME#1``, ``NAME#2``. A ranking has two time files: ``..._time.txt`` with
    its wall time and ``..._cpu_time.txt`` with its processor time, where that is known. Those of a
    ranking that was imported are the ones it came with.

    Parameters
    ----------
    results : Results
        An open store.
    out : str or Path
        The folder to write; it must not exist, or be empty.
    experiment : str, optional
        Needed where the store holds several.

    Returns
    -------
    Exported
        The counts.

    Examples
    --------
    >>> import tempfile
    >>> from paragone.lab.experiment import Experiment
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = Path(folder)
    ...     results = Experiment(["wine-traits"], {"V": "variance"}, {"folds": 2}).run(place / "a.sqlite", 0)
    ...     _ = export_protocol_files(results, place / "run")
    ...     [path.name for path in sorted((place / "run" / "V").iterdir()) if path.suffix == ".txt"][:2]
    ['wine-traits_fold0_cpu_time.txt', 'wine-traits_fold0_time.txt']
    """
    name = _chosen(results, experiment)
    grids = _declared_grids(results.described(name)["protocol"])
    places = results.places()
    cells = places[places["experiment"] == name]
    done = cells[cells["status"] == "done"]
    curves = _curves(results.scores(repeats=True), name)
    if done.empty or not curves:
        raise InputError(f"{results.path}: experiment {name!r} has no finished curve to export yet")
    with whole_folder(Path(out)) as folder:
        for cell in done.itertuples():
            place = FilePlace(_name(cell.method, cell.repeat), cell.dataset, cell.fold)
            address = (cell.dataset, cell.fold, cell.method, name, cell.repeat)
            _write(place, folder, results, address, curves[place], grids)
    return Exported(Path(out), len(done), len(cells) - len(done))


def _write(
    place: FilePlace,
    folder: Path,
    results: Results,
    address: tuple[str, int, str, str, int],
    curves: dict[str, pd.DataFrame],
    grids: dict[str, PGrid | None],
) -> None:
    ranking = results.reader(address[3]).ranking(*address)
    told = results.diagnostics(*address)
    place.file(folder, RANKING).parent.mkdir(exist_ok=True)
    write_ranking(place.file(folder, RANKING), ranking)
    whose = "imported_" if told.get("imported") else ""
    for ending, name in ((TIME, "seconds"), (CPU_TIME, "cpu_seconds")):
        seconds = told.get(whose + name)
        if seconds is not None:
            write_seconds(place.file(folder, ending), seconds)
    for protocol, frame in curves.items():
        # Rows name their grid only where the experiment has both.
        grid = protocol.rpartition("-")[2] if "-" in protocol else next(iter(grids))
        at, lists = _lists(frame)
        declared = grids[grid]
        if declared is None:
            write_document(place.file(folder, KGRID), kgrid_document(at, lists))
        else:
            write_document(
                place.file(folder, PGRID), pgrid_document(at, lists, declared, len(ranking))
            )


def _lists(frame: pd.DataFrame) -> tuple[list[float], dict[str, list[float]]]:
    """Return the grid and the values of every metric along it, as stored."""
    by_metric = {str(metric): rows for metric, rows in frame.groupby("metric", sort=False)}
    at = next(iter(by_metric.values()))["at"].tolist()
    return at, {metric: rows["value"].tolist() for metric, rows in by_metric.items()}


def _curves(scores: pd.DataFrame, experiment: str) -> dict[FilePlace, dict[str, pd.DataFrame]]:
    own = scores[(scores["experiment"] == experiment) & scores["protocol"].str.startswith("curve")]
    found: dict[FilePlace, dict[str, pd.DataFrame]] = {}
    keys = ["dataset", "fold", "method", "repeat", "protocol"]
    for (dataset, fold, method, repeat, protocol), rows in own.groupby(keys, sort=False):
        found.setdefault(FilePlace(_name(method, repeat), dataset, int(fold)), {})[protocol] = rows
    return found


def _chosen(results: Results, experiment: str | None) -> str:
    names = results.experiments()
    if experiment is None and len(names) != 1:
        have = ", ".join(names) or "none"
        raise InputError(
            f"{results.path} holds several experiments or none ({have}): say which with"
            " --experiment"
        )
    return names[0] if experiment is None else experiment


def _name(method: str, repeat: int) -> str:
    """Name the seeds of a repeated method apart; the first has the method's own name."""
    return method if repeat == 0 else f"{method}#{repeat}"


def _declared_grids(protocol: dict[str, Any]) -> dict[str, PGrid | None]:
    """Say which grids there are; the p-grid with all that it declares."""
    p = protocol.get("p")
    grids: dict[str, PGrid | None] = {} if protocol.get("k") is None else {"k": None}
    return grids if p is None else {**grids, "p": PGrid(**p)}


_FOLDS = "folds:"


def find_datasets(
    references: Sequence[str], wanted: Collection[str]
) -> tuple[list[Dataset], list[str]]:
    """Load the wanted datasets out of what the user points at.

    Parameters
    ----------
    references : sequence of str
        Each a dataset as `load` takes it, a folder of folders of stored folds, or ``NAME=DATASET``
        to give a dataset the name that the files use.
    wanted : collection of str
        The names that the rankings mention; each must be found once.

    Returns
    -------
    list of Dataset, list of str
        The datasets in the order given, and the names of those that no ranking mentions.

    Examples
    --------
    >>> find_datasets(["wine-traits", "digits-traits"], {"wine-traits"})[1]
    ['digits-traits']
    """
    found: dict[str, Dataset] = {}
    unused: list[str] = []
    for name, reference in [pair for given in references for pair in _named(given)]:
        if name is not None and name not in wanted:
            unused.append(name)
            continue
        dataset = load(reference, name=name)
        if dataset.name not in wanted:
            unused.append(dataset.name)
        elif dataset.name in found:
            raise InputError(f"two datasets are called {dataset.name!r}: give one of them")
        else:
            found[dataset.name] = dataset
    for name in sorted(set(wanted) - set(found)):
        hint = unknown_name("dataset of the rankings", name, [*found, *unused] or ["(none given)"])
        raise InputError(
            f"{hint} (give it with --data, or a dataset of another name as --data {name}=PATH)"
        )
    return list(found.values()), unused


def _named(given: str) -> list[tuple[str | None, str]]:
    """Take a reference apart into datasets, with their names where those are known before reading."""
    name, equals, rest = given.partition("=")
    if equals and name and "/" not in name and not Path(given).exists():
        return [(name, rest)]
    folder = Path(given.removeprefix(_FOLDS)).expanduser()
    stored = fold_sets(folder)
    if stored and not (len(stored) == 1 and stored[0] == folder):
        return [(name_of_file(path.name), f"{_FOLDS}{path}") for path in stored]
    return [(None, given)]


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

    Every file is checked before anything runs. A cell's key holds its own ranking, so a changed
    file makes its own cell anew and no other. Metrics files in the run are not read: the curves are
    measured here.

    Parameters
    ----------
    run : str or Path
        The folder with one folder a method.
    data : sequence of Dataset or str
        The datasets that the files name: stored folds, folders of those, or any other with
        ``split`` and ``seed``; see `find_datasets`.
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
        raise InputError(
            f"{run}: no ranking of {missing[0]}{more}; --allow-missing goes on without"
        )
    sizes = {dataset.name: dataset.n_features for dataset in datasets}
    methods = {place: _method(path, sizes[place.dataset]) for place, path in files.items()}
    methods |= {
        place: Method(MissingRanking, {"reason": f"no ranking of {place} in the import"})
        for place in missing
    }
    experiment = Experiment(
        datasets, _by_name(methods), plan, protocol, name=name or run.resolve().name, seed=seed or 0
    )
    return Imported(experiment, _notes(unused, others, missing, len(methods)))


def import_files(
    run: Path, data: Sequence[str], split: SplitPlan, options: Mapping[str, Any], **others: Any
) -> Imported:
    """Make an experiment of rankings as the command line asks for it: `import_rankings`, with a protocol in texts.

    Parameters
    ----------
    run, data, split, others
        As in `import_rankings`.
    options : mapping
        ``k`` and ``p`` as ``MIN:MAX:STEP``, ``p_target``, ``metrics`` with commas between,
        ``evaluator`` and ``zero_division``.
    """
    k, p, metrics, zero = (options[name] for name in ("k", "p", "metrics", "zero_division"))
    if zero not in ZERO_DIVISIONS:
        raise unknown_name("zero_division", zero, ZERO_DIVISIONS)
    protocol = Curve(
        None if k is None else KGrid(*_grid(k, int, "--k 10:300:10")),
        (
            None
            if p is None
            else PGrid(*_grid(p, float, "--p 0.05:0.5:0.05"), target=options["p_target"])
        ),
        Method.declare(options["evaluator"], kind="evaluator"),
        (
            DEFAULT_METRICS
            if metrics is None
            else tuple(metric.strip() for metric in metrics.split(","))
        ),
        ZERO_DIVISIONS[zero],
    )
    return import_rankings(run, data, split, protocol, **others)


ZERO_DIVISIONS: dict[str, ZeroDivision] = {"0": 0, "1": 1, "skip": "skip"}


def _grid(text: str, number: Any, example: str) -> tuple[Any, Any, Any]:
    try:
        low, high, step = (number(part) for part in text.split(":"))
    except ValueError as error:
        raise InputError(f"grid {text!r}: write it as MIN:MAX:STEP, such as {example}") from error
    return low, high, step


# What `paragone export` and `paragone import` ask a protocol with files of its own for.


def _datasets(data: Sequence[Dataset | str], wanted: set[str]) -> tuple[list[Dataset], list[str]]:
    loaded = [dataset for dataset in data if isinstance(dataset, Dataset)]
    here = {dataset.name for dataset in loaded}
    found, unused = find_datasets([d for d in data if not isinstance(d, Dataset)], wanted - here)
    unused += sorted(here - wanted)
    return [dataset for dataset in loaded if dataset.name in wanted] + found, unused


def _n_folds(dataset: Dataset, plan: SplitPlan, seed: int | None) -> int:
    if seed is None and dataset.stored_splits is None:
        raise InputError(
            f"dataset {dataset.name!r} does not come in stored folds: say which split the rankings"
            " were made on, with its seed (and mode, folds, scale)"
        )
    return len(make_splits(dataset, plan, seed or 0))


def _check_folds(files: Mapping[FilePlace, Path], n_folds: Mapping[str, int]) -> None:
    for place, path in files.items():
        if place.fold >= n_folds[place.dataset]:
            have = n_folds[place.dataset]
            raise InputError(
                f"{path}: there is no fold {place.fold}, {place.dataset} has {have} (counted"
                " from 0)"
            )


def _missing(files: Mapping[FilePlace, Path], n_folds: Mapping[str, int]) -> list[FilePlace]:
    methods = dict.fromkeys(place.method for place in files)
    every = (
        FilePlace(m, dataset, fold)
        for m in methods
        for dataset, n in n_folds.items()
        for fold in range(n)
    )
    return [place for place in every if place not in files]


def _method(path: Path, n_features: int) -> Method:
    wall, cpu = (
        path.with_name(path.name.removesuffix(RANKING) + ending) for ending in (TIME, CPU_TIME)
    )
    seconds = read_seconds(wall) if wall.is_file() else None
    # A ranking that came without its processor time keeps the key that it always had.
    known = {"cpu_seconds": read_seconds(cpu)} if cpu.is_file() else {}
    return Method(
        ImportedRanking, {"ranking": read_ranking(path, n_features), "seconds": seconds, **known}
    )


def _by_name(methods: Mapping[FilePlace, Method]) -> dict[str, SplitMethods]:
    names = dict.fromkeys(place.method for place in methods)
    return {
        name: SplitMethods(
            ImportedRanking,
            by_place={(p.dataset, p.fold): m for p, m in methods.items() if p.method == name},
        )
        for name in names
    }


def _notes(
    unused: Sequence[str], others: int, missing: Sequence[FilePlace], total: int
) -> tuple[str, ...]:
    notes = []
    if unused:
        notes.append(f"no ranking mentions {', '.join(unused)}: left out")
    if others:
        notes.append(f"{others} other file(s) in the run were left alone")
    if missing:
        notes.append(f"{len(missing)} of {total} rankings are missing: their cells will fail")
    return tuple(notes)
