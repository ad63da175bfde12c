"""Where the protocol's files stand: ``RUN/<METHOD>/<DATASET>_fold<i>_ranking.csv`` and its companions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from paragone.data.file_names import name_of_file, safe_file_name
from paragone.errors import InputError

RANKING, KGRID, PGRID = "ranking.csv", "kgrid_metrics.json", "pgrid_metrics.json"
TIME, CPU_TIME = "time.txt", "cpu_time.txt"
"""Wall time and processor time of a ranking, each one number of seconds."""
_RANKING_FILE = re.compile(r"(.+)_fold(\d+)_ranking\.csv")
_KNOWN_FILE = re.compile(r".+_fold\d+_(ranking\.csv|time\.txt|cpu_time\.txt|kgrid_metrics\.json|pgrid_metrics\.json)")


@dataclass(frozen=True, order=True)
class Place:
    """Whose files: a method on a fold of a dataset.

    Examples
    --------
    >>> Place("a/b", "Arts", 0).file(Path("run"), RANKING).as_posix()
    'run/a%2Fb/Arts_fold0_ranking.csv'
    """

    method: str
    dataset: str
    fold: int

    def file(self, run: Path, ending: str) -> Path:
        """Return where a file of this place stands; names are made safe, so it never leaves the run."""
        return run / safe_file_name(self.method) / f"{safe_file_name(self.dataset)}_fold{self.fold}_{ending}"

    def __str__(self) -> str:
        return f"{self.method} on {self.dataset}, fold {self.fold}"


def find_rankings(run: Path) -> tuple[dict[Place, Path], int]:
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
    ([Place(method='DAGFS', dataset='Arts', fold=0)], 1)
    """
    if not run.is_dir():
        raise InputError(f"no folder at {run}: give the folder that holds one folder a method")
    found: dict[Place, Path] = {}
    others = 0
    for path in sorted(run.glob("*/*")):
        if not path.is_file() or not _KNOWN_FILE.fullmatch(path.name):
            others += 1
            continue
        match = _RANKING_FILE.fullmatch(path.name)
        if match:
            place = Place(name_of_file(path.parent.name), name_of_file(match.group(1)), int(match.group(2)))
            _check_inside(path, run)
            if place in found:
                raise InputError(f"{found[place]} and {path} both are the ranking of {place}")
            found[place] = path
    if not found:
        raise InputError(f"{run}: no ranking files; they are called <METHOD>/<DATASET>_fold<i>_ranking.csv")
    return found, others


def _check_inside(path: Path, run: Path) -> None:
    if not path.resolve().is_relative_to(run.resolve()):
        raise InputError(f"{path} leads out of {run}: copy the file instead of linking to it")
