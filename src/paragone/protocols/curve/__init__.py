"""Rank features, predict with the best of them, and score along a grid; folders of such results are compared."""

from __future__ import annotations

from typing import Any

from paragone.intake import Asked, ResultReader, Source, result_readers
from paragone.registry import imported

ELSEWHERE = "paragone.protocols.curve.elsewhere"


def _recognises(source: Source) -> bool:
    # What knows such folders brings the rankers along: no file is worth loading them.
    if not source.is_folder:
        return False
    return bool(imported(f"{ELSEWHERE}:is_results_folder", "reader")(source.path))


def _compares(path: Any, **settings: Any) -> Any:
    return imported(f"{ELSEWHERE}:compare_results_folder", "reader")(path, **settings)


def _reads(source: Source, asked: Asked) -> list[Any]:
    return []


result_readers.add(
    ResultReader(
        "protocol",
        "folders of a protocol's results",
        _reads,
        _recognises,
        order=-10,
        compares=_compares,
    )
)
