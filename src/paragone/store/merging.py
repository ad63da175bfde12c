"""Merge two stores of one experiment into a third: the union of their cells by key."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from paragone.errors import InputError
from paragone.store.faults import damaged
from paragone.store.transfer import check_references, new_store, reading
from paragone.store.union import Union

Side: TypeAlias = Literal["A", "B"]

SHOWN = 5


@dataclass(frozen=True)
class Merged:
    """What a merge did.

    Parameters
    ----------
    path : Path
        The merged store.
    cells_of_a, cells_of_b, in_both, cells : int
        Cells in either store, in both, and in the merged one.
    completed : int
        Cells that failed in one store and are done in the other: the done result stands.
    left_out : int
        Cells of the other store that rest on a fit which differs from the preferred one: the next run computes them.
    conflicts : tuple of str
        What both have with different content, by name; settled by the side that was preferred.
    """

    path: Path
    cells_of_a: int
    cells_of_b: int
    in_both: int
    cells: int
    completed: int
    left_out: int
    conflicts: tuple[str, ...]

    def __str__(self) -> str:
        told = (
            f"{self.cells:,} cells in {self.path}: {self.cells_of_a:,} of A, {self.cells_of_b:,} of B, "
            f"{self.in_both:,} in both"
        )
        told += f"; {self.completed} failed in one and done in the other" * bool(self.completed)
        told += f"; {self.left_out} left out, for their fit differs" * bool(self.left_out)
        return told + f"; {len(self.conflicts)} conflicts settled" * bool(self.conflicts)


def merge(a: str | Path, b: str | Path, out: str | Path, *, prefer: Side | None = None) -> Merged:
    """Make a store with the cells of two; neither of them is changed.

    A cell that both have with the same result is taken once. One that failed in one store and is done in
    the other is done. Anything else that both have with different content, be it scores, predictions, a fit or
    the declaration of an experiment, is a conflict: all are named, and nothing is written unless a side
    is preferred. Runs and their provenance are kept from both.

    Parameters
    ----------
    a, b : str or Path
        The stores.
    out : str or Path
        The store to make; it must not exist.
    prefer : {"A", "B"}, optional
        Whose content stands where they differ.

    Returns
    -------
    Merged
        The counts.

    Examples
    --------
    >>> import tempfile
    >>> from paragone.store import Store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = Path(folder)
    ...     for name in ("a.sqlite", "b.sqlite"):
    ...         Store(place / name, create=True).close()
    ...     merge(place / "a.sqlite", place / "b.sqlite", place / "c.sqlite").cells
    0
    """
    if prefer not in (None, "A", "B"):
        raise InputError(f"prefer {prefer!r}: say A or B")
    with reading(a) as first, reading(b) as second:
        try:
            # What stands is what comes first, so the preferred side does.
            sides = (second, first) if prefer == "B" else (first, second)
            merging = Union(*sides)
            conflicts = merging.conflicts()
            if conflicts and prefer is None:
                raise InputError(_refusal(conflicts, a, b))
            with new_store(Path(out)) as database:
                merging.write(database)
                check_references(database, str(out))
                cells = database.execute("SELECT count(*) FROM cells").fetchone()[0]
        except sqlite3.DatabaseError as error:
            raise damaged(Path(a), error) from error
        of_a, of_b = (side.database.execute("SELECT count(*) FROM cells").fetchone()[0] for side in (first, second))
    shared, completed = len(merging.shared), len(merging.completed)
    return Merged(Path(out), of_a, of_b, shared, cells, completed, merging.left_out, tuple(conflicts))


def _refusal(conflicts: Sequence[str], a: str | Path, b: str | Path) -> str:
    more = f" and {len(conflicts) - SHOWN} more" if len(conflicts) > SHOWN else ""
    return (
        f"{a} and {b} differ in {len(conflicts)} places: {'; '.join(conflicts[:SHOWN])}{more}. "
        "Say whose content stands with --prefer A or --prefer B"
    )
