"""The run: work off the missing cells on the seats there are, and commit each as it ends."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from typing import Any

from paragone.cells import Cell, Outcome
from paragone.engine.progress import Observer, Tally
from paragone.engine.seats import Seat
from paragone.engine.task import Task
from paragone.store import Store
from paragone.store.runs import BEAT_SECONDS

WAIT_FOR_OTHERS_SECONDS = 0.2


@dataclass
class _Running:
    cell: Cell
    seat: Seat
    begun: float


class CellRun:
    """Runs cells on seats until none is left.

    Parameters
    ----------
    store : Store
        Where results go; the run alone writes, the workers only compute.
    run : int
        The run's id in the store.
    seats : sequence of Seat
        Places to work; at most one cell is at each.
    prepare : callable
        Makes the task of a cell.
    observer : Observer
        Whoever follows.
    seconds_limit : float, optional
        A cell that takes longer is ended and counts as ``timeout``.
    again : set of str
        Keys that run although they have a result.
    """

    def __init__(
        self,
        store: Store,
        run: int,
        seats: Sequence[Seat],
        prepare: Callable[[Cell], Task],
        observer: Observer,
        *,
        seconds_limit: float | None = None,
        again: frozenset[str] = frozenset(),
    ) -> None:
        self._store = store
        self._run = run
        self._seats = seats
        self._prepare = prepare
        self._observer = observer
        self._seconds_limit = seconds_limit
        self._again = again
        self._running: dict[Future[Outcome], _Running] = {}
        self._warming: dict[Future[None], Seat] = {}
        self._pending: deque[Cell] = deque()
        self._taken: deque[Cell] = deque()
        self._last_beat = time.monotonic()

    def work(self, cells: Sequence[Cell], tally: Tally) -> Tally:
        """Run the cells; return the tally."""
        self._pending.extend(cells)
        free = list(self._seats)
        while self._pending or self._running or self._taken:
            while free and self._start_next(free[-1], tally):
                free.pop()
            if not self._running and not self._warming:
                self._await_other_runs()
                continue
            busy: list[Future[Any]] = [*self._running, *self._warming]
            ended, _ = wait(busy, timeout=self._patience(), return_when=FIRST_COMPLETED)
            for future in ended:
                free.extend(self._welcome(future) if future in self._warming else self._finish(future, tally))
            free.extend(self._end_overdue(tally))
            self._beat()
        return tally

    def _start_next(self, seat: Seat, tally: Tally) -> bool:
        """Begin the next cell that is free on a seat; False where there is none."""
        warming = seat.warm_up() if self._pending else None
        if warming is not None:
            self._warming[warming] = seat
            return True
        while self._pending:
            cell = self._pending.popleft()
            claim = self._store.claim(cell.key, self._run, again=cell.key in self._again)
            if claim == "claimed":
                future = seat.submit(self._prepare(cell))
                self._running[future] = _Running(cell, seat, time.monotonic())
                return True
            if claim == "taken":
                self._taken.append(cell)
            else:
                tally.skipped += 1
                self._observer.finished(cell, None, tally)
        return False

    def _welcome(self, warm: Future[None]) -> list[Seat]:
        """Return a seat that got ready; an error here is the machine's, not a method's."""
        seat = self._warming.pop(warm)
        warm.result()
        return [seat]

    def _await_other_runs(self) -> None:
        """Look again, after a moment, at the cells that another run was at."""
        if self._taken:
            time.sleep(WAIT_FOR_OTHERS_SECONDS)
            self._pending.extend(self._taken)
            self._taken.clear()
            self._beat()

    def _finish(self, future: Future[Outcome], tally: Tally) -> list[Seat]:
        """Commit a cell that ended and return its seat, if that is free now.

        The seat takes up the next cell before the commit, so that no core waits for the disk.
        """
        running = self._running.pop(future)
        outcome = running.seat.collect(future)
        busy = self._start_next(running.seat, tally)
        self._commit(running.cell, outcome, tally)
        return [] if busy else [running.seat]

    def _commit(self, cell: Cell, outcome: Outcome, tally: Tally) -> None:
        self._store.commit(cell.key, cell.fit_key, outcome)
        setattr(tally, outcome.status, getattr(tally, outcome.status) + 1)
        self._observer.finished(cell, outcome, tally)

    def _patience(self) -> float:
        if self._seconds_limit is None or not self._running:
            return BEAT_SECONDS
        oldest = min(running.begun for running in self._running.values())
        return min(BEAT_SECONDS, max(0.0, oldest + self._seconds_limit - time.monotonic()))

    def _end_overdue(self, tally: Tally) -> list[Seat]:
        if self._seconds_limit is None:
            return []
        now = time.monotonic()
        overdue = [f for f, r in self._running.items() if now - r.begun >= self._seconds_limit and not f.done()]
        freed = []
        for future in overdue:
            running = self._running.pop(future)
            running.seat.kill()
            limit = f"took longer than the limit of {self._seconds_limit:g} s"
            self._commit(running.cell, Outcome("timeout", seconds=now - running.begun, error=limit), tally)
            freed.append(running.seat)
        return freed

    def _beat(self) -> None:
        if time.monotonic() - self._last_beat >= BEAT_SECONDS:
            self._store.beat(self._run)
            self._last_beat = time.monotonic()
