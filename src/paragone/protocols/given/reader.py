"""Reading results from elsewhere back from a store, as their readers gave them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from numpy.typing import NDArray
from typing_extensions import override

from paragone.intake import Records
from paragone.lab.store.queries import damaged_part
from paragone.lab.view import Rescored, ResultsReader, View
from paragone.protocols.given.records import records_of

ELSEWHERE = "they were measured elsewhere: only who measured them can compute them again"
PART = "part"
FITS = """
SELECT p.method, p.dataset, p.fit_key FROM plan p JOIN experiments e ON e.id = p.experiment_id
JOIN cells USING (key) WHERE e.name = ? AND p.current = 1 ORDER BY p.position
"""


class GivenReader(ResultsReader):
    """What a store keeps of results from elsewhere."""

    @override
    def kept_records(self, view: View) -> list[Records] | None:
        """Return the records of an experiment, source by source, each with where it comes from."""
        told: Mapping[str, Any] | None = view.described.get("settings", {}).get("parts")
        if told is None:
            return None
        cells: dict[str, list[tuple[str, str, Mapping[str, NDArray[Any]]]]] = {name: [] for name in told}
        for method, dataset, fit_key in self._store.read(FITS, (view.experiment,)):
            fitted = self._store.fitted(fit_key)
            part = None if fitted is None else fitted.info.get(PART)
            if fitted is None or part not in cells:
                raise damaged_part(self._store.path, f"results of {method!r} on {dataset}")
            cells[part].append((method, dataset, fitted.arrays))
        return [
            records_of(told[name], found, self._store.path, view.experiment) for name, found in cells.items() if found
        ]

    @override
    def rescored(self, view: View) -> Iterator[Rescored]:
        for cell in view.cells.cells:
            yield Rescored(cell, view.cells.scores(cell), why_not=ELSEWHERE)


READER = GivenReader
