"""Write the results of a store as the protocol's own files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paragone.data.whole_folder import whole_folder
from paragone.errors import InputError
from paragone.exchange.metrics_files import kgrid_document, pgrid_document, write_document
from paragone.exchange.places import CPU_TIME, KGRID, PGRID, RANKING, TIME, Place
from paragone.exchange.ranking_files import write_ranking, write_seconds
from paragone.protocols import PGrid
from paragone.results import Results

if TYPE_CHECKING:
    import pandas as pd


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


def export_protocol_files(results: Results, out: str | Path, experiment: str | None = None) -> Exported:
    """Write ``OUT/<METHOD>/<DATASET>_fold<i>_...``: ranking, time and curves of every done cell.

    The folder appears whole or not at all. The seeds of a repeated method are written as methods of their own,
    ``NAME``, ``NAME#1``, ``NAME#2``. A ranking has two time files: ``..._time.txt`` with its wall time and
    ``..._cpu_time.txt`` with its processor time, where that is known. Those of a ranking that was imported are the
    ones it came with.

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
    >>> from paragone.experiment import Experiment
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
            place = Place(_name(cell.method, cell.repeat), cell.dataset, cell.fold)
            address = (cell.dataset, cell.fold, cell.method, name, cell.repeat)
            _write(place, folder, results, address, curves[place], grids)
    return Exported(Path(out), len(done), len(cells) - len(done))


def _write(
    place: Place,
    folder: Path,
    results: Results,
    address: tuple[str, int, str, str, int],
    curves: dict[str, pd.DataFrame],
    grids: dict[str, PGrid | None],
) -> None:
    ranking = results.ranking(*address)
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
            write_document(place.file(folder, PGRID), pgrid_document(at, lists, declared, len(ranking)))


def _lists(frame: pd.DataFrame) -> tuple[list[float], dict[str, list[float]]]:
    """Return the grid and the values of every metric along it, as stored."""
    by_metric = {str(metric): rows for metric, rows in frame.groupby("metric", sort=False)}
    at = next(iter(by_metric.values()))["at"].tolist()
    return at, {metric: rows["value"].tolist() for metric, rows in by_metric.items()}


def _curves(scores: pd.DataFrame, experiment: str) -> dict[Place, dict[str, pd.DataFrame]]:
    own = scores[(scores["experiment"] == experiment) & scores["protocol"].str.startswith("curve")]
    found: dict[Place, dict[str, pd.DataFrame]] = {}
    keys = ["dataset", "fold", "method", "repeat", "protocol"]
    for (dataset, fold, method, repeat, protocol), rows in own.groupby(keys, sort=False):
        found.setdefault(Place(_name(method, repeat), dataset, int(fold)), {})[protocol] = rows
    return found


def _chosen(results: Results, experiment: str | None) -> str:
    names = results.experiments()
    if experiment is None and len(names) != 1:
        have = ", ".join(names) or "none"
        raise InputError(f"{results.path} holds several experiments or none ({have}): say which with --experiment")
    return names[0] if experiment is None else experiment


def _name(method: str, repeat: int) -> str:
    """Name the seeds of a repeated method apart; the first has the method's own name."""
    return method if repeat == 0 else f"{method}#{repeat}"


def _declared_grids(protocol: dict[str, Any]) -> dict[str, PGrid | None]:
    """Say which grids there are; the p-grid with all that it declares."""
    p = protocol.get("p")
    grids: dict[str, PGrid | None] = {} if protocol.get("k") is None else {"k": None}
    return grids if p is None else {**grids, "p": PGrid(**p)}
