"""The protocol's results folder that any program wrote: its curves, taken as they are.

``METHOD/DATASET_fold<i>_kgrid_metrics.json`` and ``..._pgrid_metrics.json`` hold the whole of what
the tables show, so neither the data nor a store is needed. Every file is checked against the
others: one grid per dataset, one target, values that their metric can have. What is missing is
counted and said.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paragone.errors import InputError, argument
from paragone.lab.contents import GRID_COLUMNS, mean_over_repeats
from paragone.metrics import named_metric
from paragone.protocols.curve.files import KGRID, PGRID, RANKING, FilePlace, find_files
from paragone.protocols.curve.protocol import CLEAN_DECIMALS
from paragone.reading import check_size, read_json
from paragone.reporting.words import listing
from paragone.stats.scores import listed
from paragone.stats.suspicions import SLACK

if TYPE_CHECKING:
    import pandas as pd

ENDINGS = {"k": KGRID, "p": PGRID}
AXES = {"k": "k_values", "p": "p_values"}
ABOUT = {"k_values", "p_values", "p_target"}
_DERIVED = re.compile(r"(.+)_(at_p_target|mean)")
_SEED = re.compile(r"(.+)#([1-9]\d{0,5})")


def is_results_folder(path: Path) -> bool:
    """Say whether a folder holds curves in the protocol's files.

    Examples
    --------
    >>> is_results_folder(Path("no such folder"))
    False
    """
    return path.is_dir() and any(
        True for ending in ENDINGS.values() for _ in path.glob(f"*/*_fold*_{ending}")
    )


@dataclass(frozen=True)
class CurveFile:
    """One metrics file: the points of its grid, the values of every metric there, and what was odd about it."""

    path: Path
    grid: str
    at: tuple[float, ...]
    ks: tuple[float, ...]
    target: float | None
    curves: Mapping[str, tuple[float, ...]]
    ignored: tuple[str, ...]
    contradicted: tuple[str, ...]


def read_curve_file(path: Path, grid: str) -> CurveFile:
    """Read a metrics file of the protocol; whatever its lists cannot be is refused.

    Parameters
    ----------
    path : Path
        The file.
    grid : {"k", "p"}
        Which grid its name says.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "Arts_fold0_kgrid_metrics.json"
    ...     _ = path.write_text('{"k_values": [10, 20], "micro_f1": [0.25, 0.5], "program": "mine"}')
    ...     read = read_curve_file(path, "k")
    >>> read.at, dict(read.curves), read.ignored
    ((10.0, 20.0), {'micro_f1': (0.25, 0.5)}, ('program',))
    """
    check_size(path.stat().st_size, str(path))
    content = read_json(path)
    axis = AXES[grid]
    if not isinstance(content, dict) or axis not in content:
        raise InputError(f"{path}: there are no {axis} in it, the points of its grid")
    at = tuple(round(point, CLEAN_DECIMALS) for point in _numbers(content[axis], path, axis))
    if not at or not all(math.isfinite(a) for a in at) or any(b <= a for a, b in pairwise(at)):
        raise InputError(f"{path}: {axis} are not growing numbers, as the points of a grid are")
    curves, ignored = {}, []
    for name, values in content.items():
        derived = _DERIVED.fullmatch(name)
        if name in ABOUT or (derived and derived[1] in content):
            continue
        curve = _curve(name, values, len(at), path)
        if curve is None:
            ignored.append(name)
        else:
            _check_range(name, curve, at, grid, path)
            curves[name] = curve
    if not curves:
        raise InputError(f"{path}: beside {axis} it has no list of values of any metric")
    ks = _numbers(content.get("k_values", ()), path, "k_values")
    if len(ks) != len(at) and "k_values" in content:
        raise InputError(f"{path}: {len(ks)} k_values stand beside {len(at)} {axis}")
    target = _target(content, at, path) if grid == "p" else None
    return CurveFile(
        path,
        grid,
        at,
        ks,
        target,
        curves,
        tuple(ignored),
        _contradicted(content, curves, at, target),
    )


def _numbers(values: Any, path: Path, name: str) -> tuple[float, ...]:
    """Return a list of numbers; null is an undefined one, and a number alone a list of one, as MATLAB writes it."""
    listed_ = values if isinstance(values, list | tuple) else [values]
    found = []
    for value in listed_:
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise InputError(f"{path}: {name} holds {str(value)[:40]!r}, which is not a number")
        try:
            found.append(math.nan if value is None else float(value))
        except OverflowError as error:
            raise InputError(f"{path}: {name} holds a number that is too large") from error
    return tuple(found)


def _curve(name: str, values: Any, n_points: int, path: Path) -> tuple[float, ...] | None:
    """Return the values of a metric along the grid; None for what is no list of them and has no metric's name."""
    if named_metric(name).higher_is_better is not None:
        found = _numbers(values, path, name)
        if len(found) != n_points:
            raise InputError(
                f"{path}: {len(found)} values of {name} stand beside {n_points} points of the grid"
            )
        return found
    if not isinstance(values, list) or len(values) != n_points:
        return None
    numbers = all(
        value is None or (isinstance(value, int | float) and not isinstance(value, bool))
        for value in values
    )
    return _numbers(values, path, name) if numbers else None


def _check_range(
    name: str, curve: Sequence[float], at: Sequence[float], grid: str, path: Path
) -> None:
    metric = named_metric(name)
    for point, value in zip(at, curve, strict=True):
        if math.isinf(value) or not (
            math.isnan(value) or metric.lowest - SLACK <= value <= metric.highest + SLACK
        ):
            hint = (
                " (shares are wanted, not percent)"
                if 1 < value <= 100 and metric.highest == 1
                else ""
            )
            raise InputError(
                f"{path}: {name} is {value:g} at {grid} = {point:g}, outside its range "
                f"{metric.lowest:g} to {metric.highest:g}{hint}"
            )


def _target(content: Mapping[str, Any], at: Sequence[float], path: Path) -> float:
    stated = _numbers(content.get("p_target"), path, "p_target")
    near = [
        point
        for point in at
        if len(stated) == 1 and abs(point - stated[0]) < 10.0**-CLEAN_DECIMALS * 2
    ]
    if not near:
        raise InputError(
            f"{path}: its p_target is not one of its p_values, so it is not known which point"
            " counts"
        )
    return near[0]


def _contradicted(
    content: Mapping[str, Any],
    curves: Mapping[str, Sequence[float]],
    at: Sequence[float],
    target: float | None,
) -> tuple[str, ...]:
    """Name the values at the target and the means in a file that are not those of its own curves."""
    found = []
    for name, curve in curves.items():
        wanted = {f"{name}_mean": math.fsum(curve) / len(curve)}
        if target is not None:
            wanted[f"{name}_at_p_target"] = curve[at.index(target)]
        for key, value in wanted.items():
            said = content.get(key)
            if isinstance(said, int | float) and not (
                math.isnan(value) or math.isclose(said, value, rel_tol=1e-6)
            ):
                found.append(f"{key} ({said:g}, the curve has {value:g})")
    return tuple(found)


@dataclass(frozen=True, eq=False)
class ReadCurves:
    """The curves of a folder as tidy scores, the target of its p-grid, and what is to be said of the files."""

    folder: Path
    scores: pd.DataFrame
    target: float | None
    n_files: int
    notes: tuple[str, ...]

    def said(self, at: str = "") -> str:
        """Say in a line what was read, and which point of a curve counts."""
        counts = [(self.scores[name].nunique(), name) for name in ("method", "dataset", "fold")]
        shape = " x ".join(f"{n} {name}{'s' * (n != 1)}" for n, name in counts)
        metrics = listing(self.scores["metric"].unique().tolist())
        grids = []
        for grid, rows in self.scores.groupby("grid", sort=False):
            counts_as = "its mean counts" if grid == "k" else f"p = {self.target:g} counts"
            span = f"the {grid}-grid {rows['at'].min():g} to {rows['at'].max():g}"
            grids.append(span if at else f"{span} ({counts_as})")
        return (
            f"Read {shape} from {self.n_files} files of {self.folder}: {metrics} along"
            f" {listing(grids)}{f', where {at} counts' if at else ''}."
        )


def read_results_folder(run: str | Path, order: Iterable[str] = ()) -> ReadCurves:
    """Read the curves of a results folder.

    Parameters
    ----------
    run : str or Path
        The folder with one folder per method.
    order : iterable of str
        Methods and datasets that come first, in this order; the others follow by name.

    Returns
    -------
    ReadCurves
        Scores in the order in which a store has them: dataset, fold, method, metric, point.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for method in ("A", "B"):
    ...         (Path(folder) / method).mkdir()
    ...         file = Path(folder) / method / "Arts_fold0_kgrid_metrics.json"
    ...         _ = file.write_text('{"k_values": [10, 20], "micro_f1": [0.25, 0.5]}')
    ...     read = read_results_folder(folder)
    >>> len(read.scores), read.notes
    (4, ('A and B have the same curves everywhere: one may be a copy of the other.',))
    """
    import pandas as pd

    run = Path(run)
    found, others = find_files(run)
    grids = {ending: grid for grid, ending in ENDINGS.items()}
    files = {
        (place, grids[ending]): read_curve_file(path, grids[ending])
        for (place, ending), path in found.items()
        if ending in grids
    }
    if not files:
        raise InputError(
            f"{run}: no curves; they are called <METHOD>/<DATASET>_fold<i>_kgrid_metrics.json"
        )
    _refuse_twins_by_case(files)
    _refuse_other_grids(files)
    target = _one_target(files.values())
    seeds = _seeds({place.method for place, _ in files})
    first = {name: place for place, name in enumerate(order)}

    def rank(name: str) -> tuple[int, str]:
        return first.get(name, len(first)), name

    def key(entry: tuple[FilePlace, str]) -> tuple[Any, ...]:
        place, grid = entry
        method, repeat = seeds[place.method]
        return rank(place.dataset), place.fold, rank(method), repeat, grid

    rows = []
    for place, grid in sorted(files, key=key):
        method, repeat = seeds[place.method]
        names = (run.name, "", place.dataset, place.fold, method)
        for metric, curve in files[place, grid].curves.items():
            points = zip(files[place, grid].at, curve, strict=True)
            rows += [(*names, repeat, metric, grid, point, value) for point, value in points]
    frame = pd.DataFrame(rows, columns=[*GRID_COLUMNS[:5], "repeat", *GRID_COLUMNS[5:]])
    notes = (*_notes(files, found, others, seeds), *_same_curves(frame))
    return ReadCurves(run, mean_over_repeats(frame, GRID_COLUMNS), target, len(files), notes)


Files = Mapping[tuple[FilePlace, str], CurveFile]


def _refuse_twins_by_case(files: Files) -> None:
    """Refuse names that differ in case alone: on another computer they were one, so one of them is a leftover."""
    for what in ("method", "dataset"):
        seen: dict[str, str] = {}
        for place, _ in files:
            name = getattr(place, what)
            other = seen.setdefault(name.casefold(), name)
            if other != name:
                raise InputError(
                    f"the {what}s {other!r} and {name!r} differ in capitals alone: remove one, or"
                    " give it another name"
                )


def _refuse_other_grids(files: Files) -> None:
    """Refuse a file with another grid than the others of its dataset: means over other points do not compare."""
    by_dataset: dict[tuple[str, str], dict[tuple[float, ...], list[CurveFile]]] = defaultdict(dict)
    for (place, grid), file in files.items():
        by_dataset[place.dataset, grid].setdefault(file.at, []).append(file)
    for (dataset, grid), found in by_dataset.items():
        if len(found) > 1:
            usual = max(found, key=lambda at: len(found[at]))
            odd = next(at for at in found if at != usual)
            raise InputError(
                f"{found[odd][0].path} has another {grid}-grid ({_shown(odd)}) than"
                f" {len(found[usual])} other files of {dataset} ({_shown(usual)}), and means over"
                " other points do not compare: measure it again, or move it away"
            )


def _shown(at: Sequence[float]) -> str:
    points = [f"{point:g}" for point in at]
    return (
        f"{len(points)} points:"
        f" {', '.join(points if len(points) <= 4 else [*points[:2], '...', points[-1]])}"
    )


def _one_target(files: Iterable[CurveFile]) -> float | None:
    targets: dict[float, Path] = {}
    for file in files:
        if file.target is not None:
            targets.setdefault(file.target, file.path)
    if len(targets) > 1:
        (one, path), (other, another), *_ = targets.items()
        raise InputError(
            f"{path} has p_target {one:g}, {another} has {other:g}: tables show one point of the"
            " p-grid"
        )
    return next(iter(targets), None)


def _seeds(methods: set[str]) -> dict[str, tuple[str, int]]:
    """Say which method and which of its seeds a folder is: NAME, NAME#1, NAME#2, as `paragone export` calls them."""
    found = {name: (name, 0) for name in methods}
    for name in methods:
        match = _SEED.fullmatch(name)
        if (
            match
            and match[1] in methods
            and all(f"{match[1]}#{n}" in methods for n in range(1, int(match[2])))
        ):
            found[name] = match[1], int(match[2])
    return found


def _notes(
    files: Files,
    found: Mapping[tuple[FilePlace, str], Path],
    others: int,
    seeds: Mapping[str, tuple[str, int]],
) -> list[str]:
    """Count what is missing, undefined, odd or left alone."""
    notes = []
    repeated = [name for name, (_, repeat) in seeds.items() if repeat]
    if repeated:
        whose = sorted({seeds[name][0] for name in repeated})
        notes.append(
            f"The folders NAME#1, NAME#2, ... are seeds of {listing(whose)}: their mean counts."
        )
    places = {place for place, _ in files}
    folds: dict[str, set[int]] = defaultdict(set)
    for place in places:
        folds[place.dataset].add(place.fold)
    for grid in dict.fromkeys(grid for _, grid in files):
        wanted = [
            FilePlace(method, dataset, fold)
            for method in sorted(seeds)
            for dataset in folds
            for fold in folds[dataset]
        ]
        lost = [place for place in sorted(wanted) if (place, grid) not in files]
        if lost:
            ranked = sum((place, RANKING) in found for place in lost)
            beside = f" ({ranked} of them with a ranking)" if ranked else ""
            notes.append(
                f"{len(lost)} of {len(wanted)} curves along the {grid}-grid are missing{beside}: "
                f"{listed([str(place) for place in lost], 3)}."
            )
    notes += _metrics_missing(files)
    undefined = [
        f"{metric} of {place} at {sum(map(math.isnan, curve))} of {len(curve)} points of the"
        f" {grid}-grid"
        for (place, grid), file in files.items()
        for metric, curve in file.curves.items()
        if any(map(math.isnan, curve))
    ]
    if undefined:
        notes.append(
            f"Without a value: {listed(undefined, 3)}; such a fold has no mean over the grid."
        )
    contradicted = [
        f"{file.path.name}: {text}" for file in files.values() for text in file.contradicted
    ]
    if contradicted:
        notes.append(
            f"{len(contradicted)} summaries in the files are not those of their curves, and the"
            f" curves count: {listed(contradicted, 3)}."
        )
    counts: dict[tuple[str, float], set[float]] = defaultdict(set)
    for (place, grid), file in files.items():
        for point, k in zip(file.at, file.ks, strict=False):
            counts[place.dataset, point] |= {k} if grid == "p" else set()
    rounded = [
        f"{dataset} at p = {point:g}" for (dataset, point), ks in counts.items() if len(ks) > 1
    ]
    if rounded:
        notes.append(
            "Not all methods had the same number of features at the same share"
            f" ({listed(rounded, 3)}): programs round halves up or to even."
        )
    ignored = sorted({name for file in files.values() for name in file.ignored})
    if ignored:
        notes.append(f"Not values along the grid, and left alone: {listed(ignored)}.")
    unknown = sorted(
        {
            m
            for file in files.values()
            for m in file.curves
            if named_metric(m).higher_is_better is None
        }
    )
    if unknown:
        notes.append(
            f"Which way is better is not known of {listed(unknown)}: shown, but not compared; "
            f"{argument('metric', unknown[0])} {argument('higher_is_better', True)} compares by it."
        )
    if others:
        notes.append(f"{others} other files or folders were left alone.")
    return notes


def _metrics_missing(files: Files) -> list[str]:
    counts: dict[str, int] = defaultdict(int)
    for file in files.values():
        for metric in file.curves:
            counts[metric] += 1
    return [
        f"{metric} is in {n} of {len(files)} files only."
        for metric, n in counts.items()
        if n < len(files)
    ]


def _same_curves(frame: pd.DataFrame) -> list[str]:
    seen: dict[bytes, list[str]] = defaultdict(list)
    keys = ["dataset", "fold", "metric", "grid", "at"]
    for method, rows in frame[frame["repeat"] == 0].groupby("method", sort=False):
        ordered = rows.sort_values(keys)
        seen[repr(ordered[[*keys, "value"]].to_numpy().tolist()).encode()].append(str(method))
    return [
        f"{listing(names)} have the same curves everywhere: one may be a copy of the other."
        for names in seen.values()
        if len(names) > 1
    ]
