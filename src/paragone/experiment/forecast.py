"""Forecast: what a run would do to a store, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from paragone.cells import Cell, Parts, Place
from paragone.errors import unknown_name
from paragone.store import Store


@dataclass(frozen=True)
class Forecast:
    """Which cells have a result, which would run, which of those reuse a fit, and why results are stale.

    Parameters
    ----------
    distinct : tuple of Cell
        One cell a key: equal content under two names is one piece of work.
    to_run : tuple of Cell
        Those that would run.
    reused_fits : int
        How many of those would reuse a stored fit.
    stale : mapping of Cell to tuple of str
        Cells that would run although an older result stands in their place, with the parts that changed.
    statuses : mapping of str to str
        Status of the cells that have a result, by key.
    """

    distinct: tuple[Cell, ...]
    to_run: tuple[Cell, ...]
    reused_fits: int
    stale: Mapping[str, tuple[str, ...]]
    statuses: Mapping[str, str]

    @classmethod
    def of(
        cls,
        cells: Sequence[Cell],
        statuses: Mapping[str, str],
        fit_keys: set[str],
        earlier: Mapping[Place, Parts],
        *,
        again: frozenset[str],
        retry_failed: bool,
        code: Mapping[str, Mapping[str, str]] | None = None,
    ) -> Forecast:
        """Compare the planned cells with what a store holds; ``code`` tells what is behind version parts."""
        distinct = tuple({cell.key: cell for cell in reversed(cells)}.values())[::-1]
        to_run = tuple(
            cell
            for cell in distinct
            if cell.key in again or cell.key not in statuses or (retry_failed and statuses[cell.key] != "done")
        )
        reused = sum(cell.fit_key in fit_keys and cell.key not in again for cell in to_run)
        stale = {
            cell.key: cell.parts.changed(earlier[cell.place], code)
            for cell in to_run
            if cell.key not in statuses and cell.place in earlier
        }
        return cls(distinct, to_run, reused, stale, statuses)

    def as_dict(self) -> dict[str, object]:
        """Return the counts, for programs."""
        return {
            "cells": len(self.distinct),
            "with_result": dict(Counter(self.statuses.values())),
            "to_run": len(self.to_run),
            "to_fit": len(self.to_run) - self.reused_fits,
            "reused_fits": self.reused_fits,
            "stale": {", ".join(parts): count for parts, count in Counter(self.stale.values()).items()},
        }

    def __str__(self) -> str:
        have = Counter(self.statuses.values())
        known = ", ".join(f"{count} {status}" for status, count in sorted(have.items())) or "none yet"
        lines = [
            f"{len(self.distinct)} cells; with a result: {known}; to run: {len(self.to_run)}, of which "
            f"{self.reused_fits} reuse a stored fit and {len(self.to_run) - self.reused_fits} are fitted"
        ]
        for parts, count in sorted(Counter(self.stale.values()).items()):
            lines.append(f"{count} stale: {', '.join(parts)} changed since the stored result")
        return "\n".join(lines)


def store_forecast(
    store: Store,
    experiment: str,
    cells: Sequence[Cell],
    again: frozenset[str],
    retry_failed: bool,
    code: Mapping[str, Mapping[str, str]],
) -> Forecast:
    """Compare the planned cells of an experiment with what an open store holds."""
    statuses = store.statuses(cell.key for cell in cells)
    # Of an experiment that is done, which may be large, nothing more needs to be known.
    done = not again and all(statuses.get(cell.key) == "done" for cell in cells)
    return Forecast.of(
        cells,
        statuses,
        set() if done else store.fit_keys(),
        {} if done else store.earlier_parts(experiment),
        again=again,
        retry_failed=retry_failed,
        code={} if done else {**store.code_states(), **code},
    )


def overwritten(overwrite: bool | str, methods: Collection[str], cells: Sequence[Cell]) -> frozenset[str]:
    """Return the keys that run although they may be done: none, all, or those of one method.

    Examples
    --------
    >>> overwritten("DAGFS", {"DAGFS": ..., "LRDG": ...}, [])
    frozenset()
    >>> overwritten("DAGSF", {"DAGFS": ..., "LRDG": ...}, [])
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: unknown method 'DAGSF': did you mean 'DAGFS'?
    """
    if isinstance(overwrite, str) and overwrite not in methods:
        raise unknown_name("method", overwrite, methods)
    if not overwrite:
        return frozenset()
    return frozenset(cell.key for cell in cells if overwrite is True or cell.method == overwrite)
