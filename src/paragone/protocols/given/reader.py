"""Reading results from elsewhere back from a store, as their readers gave them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from numpy.typing import NDArray
from typing_extensions import override

from paragone.intake import Records
from paragone.lab.store.queries import arrays_of, damaged_part, json_object
from paragone.lab.view import Rescored, ResultsReader, View
from paragone.protocols.given.records import records_of

ELSEWHERE = "they were measured elsewhere: only who measured them can compute them again"
PART = "part"
FITS = """
SELECT p.method, p.dataset, f.arrays, f.info FROM plan p JOIN experiments e ON e.id = p.experiment_id
JOIN cells USING (key) LEFT JOIN fits f ON f.fit_key = p.fit_key
WHERE e.name = ? AND p.current = 1 ORDER BY p.position
"""


class GivenReader(ResultsReader):
    """What a store keeps of results from elsewhere."""

    @override
    def kept_records(self, view: View) -> list[Records] | None:
        """Return the records of an experiment, source by source, each with where it comes from."""
        told: Mapping[str, Any] | None = view.described.get("settings", {}).get("parts")
        if told is None:
            return None
        cells: dict[str, list[tuple[str, str, Mapping[str, NDArray[Any]]]]] = {
            name: [] for name in told
        }
        path = self._store.path
        for method, dataset, arrays, info in self._store.read(FITS, (view.experiment,)):
            part = None if info is None else json_object(path, info).get(PART)
            if part not in cells:
                raise damaged_part(path, f"results of {method!r} on {dataset}")
            cells[part].append((method, dataset, arrays_of(arrays, path)))
        try:
            return [
                records_of(told[name], found, path, view.experiment)
                for name, found in cells.items()
                if found
            ]
        except (ValueError, LookupError, TypeError) as error:
            raise damaged_part(path, f"results of {view.experiment!r}") from error

    @override
    def rescored(self, view: View) -> Iterator[Rescored]:
        for cell in view.cells.cells:
            yield Rescored(cell, view.cells.scores(cell), why_not=ELSEWHERE)
