"""The run: work off the missing cells on the seats there are, and commit each as it ends."""

from __future__ import annotations

import math
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from dataclasses import dataclass
from typing import Any

from paragone.cells import Cell, Outcome
from paragone.engine.estimates import Estimates, Rest
from paragone.engine.losses import Loss
from paragone.engine.progress import Observer, Tally
from paragone.engine.queue import CellQueue
from paragone.engine.seats import Seat, Workplace
from paragone.engine.task import Task
from paragone.errors import InputError
from paragone.store import Store
from paragone.store.runs import BEAT_SECONDS

WAIT_FOR_OTHERS_SECONDS = 0.2
MOST_LOSSES = 3
MOST_BAD_STARTS = 3
ESTIMATE_SHARE = 0.02


@dataclass
class _Running:
    cell: Cell
    seat: Seat
    begun: float


class CellRun:
    """Runs cells at a workplace until none is left, or the time is over.

    Parameters
    ----------
    store : Store
        Where results go; the run alone writes, the workers only compute.
    run : int
        The run's id in the store.
    workplace : Workplace
        Where the cells are worked on; at most one is at each of its seats.
    prepare : callable
        Makes the task of a cell.
    observer : Observer
        Whoever follows.
    estimates : Estimates
        How long cells may take; the run adds to it.
    deadline : float, default=inf
        When to stop, by ``time.monotonic``. No cell begins that is expected to end later; those that are still at work
        then are ended, where the workplace can, and stay missing.
    again : set of str
        Keys that run although they have a result.
    """

    def __init__(
        self,
        store: Store,
        run: int,
        workplace: Workplace,
        prepare: Callable[[Cell], Task],
        observer: Observer,
        *,
        estimates: Estimates,
        deadline: float = math.inf,
        again: frozenset[str] = frozenset(),
    ) -> None:
        self._store = store
        self._run = run
        self._workplace = workplace
        self._prepare = prepare
        self._observer = observer
        self._estimates = estimates
        self._deadline = deadline
        self._again = again
        self._queue = CellQueue(estimates)
        self._running: dict[Future[Any], _Running] = {}
        self._warming: dict[Future[Any], Seat] = {}
        self._taken: deque[Cell] = deque()
        self._free: list[Seat] = []
        self._n_seats = 0
        self._losses: Counter[str] = Counter()
        self._bad_starts = 0
        self._last_beat = time.monotonic()
        self._next_estimate = 0.0

    def work(self, cells: Sequence[Cell], tally: Tally) -> Tally:
        """Run the cells; return the tally."""
        self._queue.extend(cells)
        while self._queue or self._running or self._taken:
            self._fit_seats()
            while self._free and self._start_next(self._free[-1], tally):
                self._free.pop()
            if self._is_over(tally):
                break
            if not self._running and not self._warming:
                self._await_other_runs()
                continue
            busy: list[Future[Any]] = [*self._running, *self._warming]
            ended, _ = wait(busy, timeout=self._patience(), return_when=FIRST_COMPLETED)
            self._note_lost_workers(tally)
            for future in ended:
                if future in self._warming:
                    self._free += self._welcome(future)
                elif future in self._running:
                    self._free += self._finish(future, tally)
            self._beat()
        return tally

    def _fit_seats(self) -> None:
        """Have as many seats as the workplace has room for now."""
        wanted = self._workplace.size(self._estimates.mean)
        while self._n_seats < wanted:
            self._free.append(self._workplace.new_seat())
            self._n_seats += 1
        while self._n_seats > wanted and self._free:
            self._free.pop()
            self._n_seats -= 1

    def _start_next(self, seat: Seat, tally: Tally) -> bool:
        """Begin the next cell that is free on a seat; False where there is none."""
        if not self._queue or time.monotonic() >= self._deadline:
            return False
        warming = seat.warm_up()
        if warming is not None:
            self._warming[warming] = seat
            return True
        while (cell := self._queue.pop(self._deadline - time.monotonic())) is not None:
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

    def _welcome(self, warm: Future[Any]) -> list[Seat]:
        """Return a seat that got ready; a process that dies before its first cell is the machine's matter."""
        seat = self._warming.pop(warm)
        try:
            warm.result()
        except BrokenExecutor as error:
            seat.end()
            self._bad_starts += 1
            if self._bad_starts >= MOST_BAD_STARTS:
                raise InputError(
                    f"worker processes die while they start ({self._bad_starts} times): see that there is memory left "
                    f"and that nothing kills them; {error}"
                ) from error
        else:
            self._bad_starts = 0
        return [seat]

    def _await_other_runs(self) -> None:
        """Look again, after a moment, at the cells that another run was at."""
        if self._taken:
            time.sleep(WAIT_FOR_OTHERS_SECONDS)
            self._queue.extend(self._taken)
            self._taken.clear()
            self._beat()

    def _finish(self, future: Future[Any], tally: Tally) -> list[Seat]:
        """Commit a cell that ended and return its seat, if that is free now.

        The seat takes up the next cell before the commit, so that no core waits for the disk.
        """
        running = self._running.pop(future)
        ended = running.seat.collect(future)
        if isinstance(ended, Future):
            self._running[ended] = running
            return []
        outcome = self._after_loss(running.cell, ended, tally) if isinstance(ended, Loss) else ended
        busy = self._start_next(running.seat, tally)
        if outcome is not None:
            self._commit(running.cell, outcome, tally)
        return [] if busy else [running.seat]

    def _after_loss(self, cell: Cell, loss: Loss, tally: Tally) -> Outcome | None:
        """Count a worker that died under a cell, and have the cell begin again; not for ever, though."""
        self._count_loss(cell, loss, tally)
        if self._losses[cell.key] >= MOST_LOSSES or loss.final:
            return self._given_up(cell, loss)
        self._queue.put_first(cell)
        return None

    def _count_loss(self, cell: Cell, loss: Loss, tally: Tally) -> None:
        self._losses[cell.key] += 1
        tally.lost += 1
        self._store.note_loss(self._run, cell.key, loss.why)
        where = f"{cell.method} on {cell.dataset}, fold {cell.fold}"
        count = self._losses[cell.key]
        again = "it begins again" if count < MOST_LOSSES and not loss.final else "it is given up"
        self._observer.said(f"a worker died at {where} (loss {count} of it): {again}", tally)

    def _given_up(self, cell: Cell, loss: Loss) -> Outcome:
        times = self._losses[cell.key]
        sentence = f"the worker process died {times} times at this cell, as when the system runs out of memory"
        return Outcome("failed", error=sentence, traceback=loss.why)

    def _note_lost_workers(self, tally: Tally) -> None:
        """Count the losses that the workplace made good by itself; take its cell from a worker killer."""
        for sentence in self._workplace.news():
            self._observer.said(sentence, tally)
        for future, loss in self._workplace.lost():
            running = self._running.get(future)
            if running is None:
                continue
            self._count_loss(running.cell, loss, tally)
            if self._losses[running.cell.key] >= MOST_LOSSES:
                del self._running[future]
                running.seat.end()
                self._commit(running.cell, self._given_up(running.cell, loss), tally)
                self._free.append(running.seat)

    def _commit(self, cell: Cell, outcome: Outcome, tally: Tally) -> None:
        self._store.commit(cell.key, cell.fit_key, outcome)
        setattr(tally, outcome.status, getattr(tally, outcome.status) + 1)
        if outcome.seconds > 0:
            self._estimates.learn(cell, outcome.seconds)
            self._queue.learnt()
        now = time.monotonic()
        if now >= self._next_estimate or tally.finished >= tally.total:
            tally.seconds_left = self._seconds_left(tally)
            # Where there are very many kinds of cells, it is not made after every single one.
            self._next_estimate = now + (time.monotonic() - now) / ESTIMATE_SHARE
        self._observer.finished(cell, outcome, tally)

    def _seconds_left(self, tally: Tally) -> float | None:
        """Return what the rest may take, later stages included, spread over the workers there are.

        Cells at work count whole: a store does not say how far they are, and the browser is to say the same.
        """
        rest = self._queue.rest() + Rest(n_unknown=tally.later)
        for running in self._running.values():
            rest += Rest.of(self._estimates.expect(running.cell))
        for cell in self._taken:
            rest += Rest.of(self._estimates.expect(cell))
        return rest.seconds_left(self._estimates.mean, self._workplace.at_once())

    def _is_over(self, tally: Tally) -> bool:
        """Tell whether the time is over, and end the cells that are still at work then.

        It is over early where no cell is at work and none that waits is expected to end in time.
        """
        at_work = bool(self._running or self._warming or self._taken)
        if self._deadline == math.inf or (at_work and time.monotonic() < self._deadline):
            return False
        if not (self._queue or at_work) or (self._running and not self._workplace.can_end):
            return False
        for running in self._running.values():
            running.seat.end()
        self._running.clear()
        tally.out_of_budget = True
        tally.shortest_left = self._queue.shortest()
        return True

    def _patience(self) -> float:
        waits = [BEAT_SECONDS, self._workplace.look_seconds or BEAT_SECONDS]
        left = self._deadline - time.monotonic()
        if left > 0 or self._workplace.can_end:
            waits.append(max(0.0, left))
        return min(waits)

    def _beat(self) -> None:
        if time.monotonic() - self._last_beat >= BEAT_SECONDS:
            self._store.beat(self._run)
            self._last_beat = time.monotonic()
