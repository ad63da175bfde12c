"""CellQueue: the cells that wait, longest first as far as anything is known about them."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterable

from paragone.cells import Cell
from paragone.engine.estimates import Estimates, Rest

SHORT_SECONDS = 1.0
REORDER_SECONDS = 2.0
REORDER_SHARE = 0.02


class CellQueue:
    """Cells that wait for a seat.

    First come cells of methods of which nothing is known, in the order of the plan; then those that are expected to
    take longest. Times within a factor of two count as equal, and all under a second do: among these the order of the
    plan stands, in which neighbours share the arrays of a split. Results do not depend on the order.

    Parameters
    ----------
    estimates : Estimates
        What is known by now.
    """

    def __init__(self, estimates: Estimates) -> None:
        self._estimates = estimates
        self._position: dict[str, int] = {}
        self._waiting: list[Cell] = []  # the next one is the last
        self._expected: list[float | None] = []
        self._kinds: Counter[tuple[str, str]] = Counter()
        self._first: list[Cell] = []
        self._fresh = False
        self._next_order = 0.0

    def __len__(self) -> int:
        return len(self._waiting) + len(self._first)

    def extend(self, cells: Iterable[Cell]) -> None:
        """Add cells in the order of the plan."""
        for cell in cells:
            self._position.setdefault(cell.key, len(self._position))
            self._waiting.append(cell)
            self._count(cell, 1)
        self._next_order = 0.0
        self._fresh = False

    def put_first(self, cell: Cell) -> None:
        """Have a cell be the next one."""
        self._first.append(cell)
        self._count(cell, 1)

    def learnt(self) -> None:
        """Note that the estimates know more now."""
        self._fresh = False

    def pop(self, within: float = math.inf) -> Cell | None:
        """Return the next cell that may be expected to end within so many seconds; None where there is none."""
        self._order()
        if self._first:
            cell = self._first.pop()
            self._count(cell, -1)
            return cell
        for place in range(len(self._waiting) - 1, -1, -1):
            expected = self._expected[place]
            if expected is None or expected <= within:
                del self._expected[place]
                cell = self._waiting.pop(place)
                self._count(cell, -1)
                return cell
        return None

    def drain(self) -> list[Cell]:
        """Take all cells out."""
        left = [*self._first, *reversed(self._waiting)]
        self._first, self._waiting, self._expected = [], [], []
        self._kinds.clear()
        return left

    def rest(self) -> Rest:
        """Return what waits, by what is known now; the order may be older than that."""
        rest = Rest()
        for (method, dataset), count in self._kinds.items():
            rest += Rest.of(self._estimates.expect_at(method, dataset), count)
        return rest

    def shortest(self) -> float | None:
        """Return what the shortest waiting cell may take; None where that of none is known."""
        return min((seconds for seconds in self._expected if seconds is not None), default=None)

    def _count(self, cell: Cell, change: int) -> None:
        kind = cell.method, cell.dataset
        self._kinds[kind] += change
        if not self._kinds[kind]:
            del self._kinds[kind]

    def _order(self) -> None:
        """Sort anew where something was learnt, but not so often that sorting costs more than it gives."""
        begun = time.monotonic()
        if self._fresh or begun < self._next_order:
            return
        expected = {cell.key: self._estimates.expect(cell) for cell in self._waiting}
        self._waiting.sort(key=lambda cell: self._rank(cell, expected[cell.key]), reverse=True)
        self._expected = [expected[cell.key] for cell in self._waiting]
        self._fresh = True
        now = time.monotonic()
        self._next_order = now + max(REORDER_SECONDS, (now - begun) / REORDER_SHARE)

    def _rank(self, cell: Cell, seconds: float | None) -> tuple[float, int]:
        if seconds is None:
            return -math.inf, self._position[cell.key]
        return -float(math.frexp(max(seconds, SHORT_SECONDS))[1]), self._position[cell.key]
