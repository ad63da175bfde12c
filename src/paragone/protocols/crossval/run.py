"""Cross-validations read back: the problems of an experiment with the chains of all their variants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from paragone.errors import InputError
from paragone.lab.store import Store
from paragone.lab.store.queries import arrays_of, kept_arrays, kept_dataset, kept_rows
from paragone.protocols.crossval.problem import FoldRows, Problem, Settings, Truth, make_problem

CELLS = """
SELECT p.dataset, p.fold, p.method, p.protocol, p.data_part, p.split_part, c.status, c.error, f.arrays
FROM plan p JOIN experiments e ON e.id = p.experiment_id
LEFT JOIN cells c USING (key) LEFT JOIN fits f ON f.fit_key = p.fit_key
WHERE e.name = ? AND p.current = 1 {and_one}
ORDER BY p.position
"""


@dataclass(frozen=True, eq=False)
class CrossvalRun:
    """One experiment's cross-validations: what was declared, and the problems with their ledgers."""

    experiment: str
    settings: Settings
    problems: tuple[Problem, ...]

    def of_dataset(self, dataset: str) -> list[Problem]:
        """Return the problems of a dataset: one a target."""
        return [problem for problem in self.problems if problem.dataset == dataset]


def read_crossval(store: Store, experiment: str, only: tuple[str, str] | None = None) -> CrossvalRun:
    """Read an experiment's ledgers.

    Parameters
    ----------
    store : Store
        The store.
    experiment : str
        The experiment's name.
    only : tuple of str, optional
        Read one variant on one of the plan's datasets only, which is quick.

    Returns
    -------
    CrossvalRun
        With every chain that is complete, and the failures.
    """
    kept = store.settings(experiment)
    if not kept:
        raise InputError(f"experiment {experiment!r} is no cross-validation")
    settings = Settings.from_json(kept)
    by_dataset: dict[str, list[tuple[Any, ...]]] = {}
    sql = CELLS.format(and_one="AND p.dataset = ? AND p.method = ?" if only else "")
    for row in store.read(sql, (experiment, *(only or ()))):
        by_dataset.setdefault(row[0], []).append(row)
    reader = _Reader(store)
    problems = [problem for name, rows in by_dataset.items() for problem in reader.problems(name, rows, settings)]
    return CrossvalRun(experiment, settings, tuple(problems))


class _Reader:
    """Looks up rows and targets, each once."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def problems(self, name: str, rows: list[tuple[Any, ...]], settings: Settings) -> list[Problem]:
        data_part = rows[0][4]
        splits = {row[1]: row[5] for row in rows if row[3] == "crossval"}
        refits = [row[5] for row in rows if row[3] == "refit"]
        folds = [self._rows(data_part, splits[number]) for number in sorted(splits)]
        final = self._rows(data_part, refits[0]) if refits else None
        results = {(row[2], row[1]): self.result(row) for row in rows}
        described = settings.problems[name]
        truths = self._truths(data_part, len(described["targets"]))
        n_features = self._n_features(data_part)
        return [
            make_problem(
                described["dataset"],
                target,
                truth,
                folds,
                final,
                list(settings.variants),
                lambda variant, number: results.get((variant, number)),
                column=column if len(truths) > 1 else None,
                n_features=n_features,
            )
            for column, (target, truth) in enumerate(zip(described["targets"], truths, strict=True))
        ]

    def _rows(self, data_part: str, split_part: str) -> FoldRows:
        train, held = kept_rows(self._store, split_part)
        return FoldRows.of(train, held, int(kept_arrays(self._store, f"{data_part}/{split_part}")["n_val"]))

    def _truths(self, data_part: str, n_targets: int) -> list[Truth]:
        kept = kept_arrays(self._store, data_part)
        columns = [kept["y"]] if n_targets == 1 else list(kept["y"].T)
        return [Truth(y, kept.get("classes"), kept.get("groups")) for y in columns]

    def _n_features(self, data_part: str) -> int:
        return int(kept_dataset(self._store, data_part)["n_features"])

    def result(self, row: tuple[Any, ...]) -> Mapping[str, NDArray[Any]] | str | None:
        """Return what came of a cell: its arrays, or why there are none."""
        status, error, arrays = row[6:]
        if status is None:
            return None
        return arrays_of(arrays, self._store.path) if status == "done" else error or str(status)
