"""A run of cells: which comes next, where, how long the rest will take, and what becomes of the results."""

from __future__ import annotations

import math
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from dataclasses import dataclass, field
from typing import Any
from typing import Protocol as Interface

from paragone.errors import InputError
from paragone.lab.cells import Cell, Outcome
from paragone.lab.engine.packing import FOR_MEMORY, Loss
from paragone.lab.engine.resources import format_duration
from paragone.lab.engine.task import CellTask
from paragone.lab.engine.workers import Seat, Workplace
from paragone.lab.store import Store
from paragone.lab.store.runs import BEAT_SECONDS


@dataclass
class _Mean:
    total: float = 0.0
    count: int = 0

    def add(self, value: float, count: int = 1) -> None:
        self.total += value
        self.count += count

    @property
    def value(self) -> float:
        return self.total / self.count


@dataclass
class Estimates:
    """What cells took, by method and dataset, and what that says of others.

    A cell is expected to take the mean of its method on its dataset; where that has not ended yet,
    the mean of its method's seconds for each unit of a dataset's size, times its own dataset's
    size; where its method has not ended anywhere, nothing is known.

    Parameters
    ----------
    sizes : mapping of str to float
        The size of every dataset, such as rows times columns.

    Examples
    --------
    >>> from paragone.lab.cells import Parts
    >>> def cell(method, dataset):
    ...     return Cell(dataset, 0, method, "curve", Parts("", "", "", "", "", ""), "")
    >>> estimates = Estimates({"small": 100.0, "large": 1000.0})
    >>> estimates.learn(cell("A", "small"), 2.0)
    >>> estimates.learn(cell("A", "small"), 4.0)
    >>> estimates.expect(cell("A", "small")), estimates.expect(cell("A", "large")), estimates.expect(cell("B", "small"))
    (3.0, 30.0, None)
    """

    sizes: Mapping[str, float]
    _by_place: dict[tuple[str, str], _Mean] = field(default_factory=dict)
    _rates: dict[str, _Mean] = field(default_factory=dict)
    _all: _Mean = field(default_factory=_Mean)

    def learn(self, cell: Cell, seconds: float) -> None:
        """Take note of a cell that ended by itself."""
        self.learn_at(cell.method, cell.dataset, seconds)

    def learn_at(self, method: str, dataset: str, seconds: float, count: int = 1) -> None:
        """Take note of what cells of a method on a dataset took together."""
        self._by_place.setdefault((method, dataset), _Mean()).add(seconds, count)
        self._rates.setdefault(method, _Mean()).add(seconds / self._size(dataset), count)
        self._all.add(seconds, count)

    def expect(self, cell: Cell) -> float | None:
        """Return the seconds that a cell may take; None where its method is not known yet."""
        return self.expect_at(cell.method, cell.dataset)

    def expect_at(self, method: str, dataset: str) -> float | None:
        """Return the seconds that a cell of a method on a dataset may take; None where the method is not known yet."""
        known = self._by_place.get((method, dataset))
        if known is not None:
            return known.value
        rate = self._rates.get(method)
        return None if rate is None else rate.value * self._size(dataset)

    @property
    def mean(self) -> float | None:
        """The mean over all cells that ended; None where there is none."""
        return self._all.value if self._all.count else None

    def _size(self, dataset: str) -> float:
        return max(self.sizes.get(dataset, 1.0), 1.0)


@dataclass(frozen=True)
class Rest:
    """What is left of a run: cells whose time is known by others of their kind, and cells of which nothing is known.

    Whoever says how long a run may still take says it by this, so that the terminal and the browser
    say the same.

    Examples
    --------
    >>> Rest(known_seconds=60.0, n_known=6, n_unknown=2).seconds_left(mean=10.0, at_once=4)
    20.0
    >>> Rest(known_seconds=60.0, n_known=1).seconds_left(mean=10.0, at_once=4)
    60.0
    """

    known_seconds: float = 0.0
    n_known: int = 0
    n_unknown: int = 0

    def __add__(self, other: Rest) -> Rest:
        return Rest(
            self.known_seconds + other.known_seconds,
            self.n_known + other.n_known,
            self.n_unknown + other.n_unknown,
        )

    @classmethod
    def of(cls, expected: float | None, count: int = 1) -> Rest:
        """Return so many cells of one kind."""
        return cls(n_unknown=count) if expected is None else cls(expected * count, count)

    def seconds_left(self, mean: float | None, at_once: int) -> float | None:
        """Return the seconds that the rest may take on so many workers; None where nothing is known at all.

        A cell of which nothing is known counts as the mean of all that ended; no more workers count
        than cells.
        """
        cells = self.n_known + self.n_unknown
        if not cells:
            return 0.0
        if mean is None:
            return None
        return (max(0.0, self.known_seconds) + mean * self.n_unknown) / max(1, min(at_once, cells))


SHORT_SECONDS = 1.0
# Sorting a hundred thousand cells takes as long as many of them: it may cost this share of the run,
# and no more.
REORDER_SECONDS = 2.0
REORDER_SHARE = 0.02


class CellQueue:
    """Cells that wait for a seat.

    First come cells of methods of which nothing is known, in the order of the plan; then those that
    are expected to take longest. Times within a factor of two count as equal, and all under a
    second do: among these the order of the plan stands, in which neighbours share the arrays of a
    split. Results do not depend on the order.

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
            # What is unknown runs first: the sooner it is known, the better the order of all
            # others.
            return -math.inf, self._position[cell.key]
        return -float(math.frexp(max(seconds, SHORT_SECONDS))[1]), self._position[cell.key]


@dataclass
class Tally:
    """How many cells of a run there are, were there before, and ended in which way.

    ``total`` counts the cells of later stages too, such as refits; ``later`` is how many of them
    are not planned yet. ``lost`` counts the workers that died under a cell, which then began again;
    ``seconds_left`` is what the rest may take, as far as the cells that ended tell;
    ``out_of_budget`` says that the run stopped because its time was over.
    """

    total: int
    skipped: int = 0
    done: int = 0
    failed: int = 0
    timeout: int = 0
    lost: int = 0
    seconds_left: float | None = None
    out_of_budget: bool = False
    shortest_left: float | None = None
    later: int = 0

    @property
    def finished(self) -> int:
        """Cells that have a result, from before or from now."""
        return self.skipped + self.done + self.failed + self.timeout


class Observer(Interface):
    """Whoever wants to follow a run."""

    def began(self, tally: Tally) -> None:
        """Take note that the run begins."""

    def finished(self, cell: Cell, outcome: Outcome | None, tally: Tally) -> None:
        """Take note of a cell that ended; no outcome where another run did it."""

    def said(self, sentence: str, tally: Tally) -> None:
        """Take note of something else, such as a worker that was lost."""


class Silent:
    """An observer that says nothing; a base for those that follow only some things."""

    def began(self, tally: Tally) -> None:
        """Say nothing."""

    def finished(self, cell: Cell, outcome: Outcome | None, tally: Tally) -> None:
        """Say nothing."""

    def said(self, sentence: str, tally: Tally) -> None:
        """Say nothing."""


# Long enough to cost a waiting run nothing, short enough that a core of a finished neighbour is not
# idle for long.
WAIT_FOR_OTHERS_SECONDS = 0.2
# One loss is the machine's, a second may be chance; a cell that takes three workers along would
# take them all.
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
        When to stop, by ``time.monotonic``. No cell begins that is expected to end later; those
        that are still at work then are ended, where the workplace can, and stay missing.
    again : set of str
        Keys that run although they have a result.
    """

    def __init__(
        self,
        store: Store,
        run: int,
        workplace: Workplace,
        prepare: Callable[[Cell], CellTask],
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
                self._check_length()
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
        within = min(self._deadline - time.monotonic(), self._workplace.longest)
        while (cell := self._queue.pop(within)) is not None:
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
                    f"worker processes die while they start ({self._bad_starts} times): see that"
                    f" there is memory left and that nothing kills them; {error}"
                ) from error
        else:
            self._bad_starts = 0
        return [seat]

    def _check_length(self) -> None:
        """End the run where only cells are left that no worker lives long enough for."""
        shortest = self._queue.shortest()
        longest = self._workplace.longest
        if self._queue and not self._taken and shortest is not None and shortest > longest:
            raise InputError(
                f"{len(self._queue)} cells are left that may take {format_duration(shortest)} or"
                f" more, and a job has {format_duration(longest)} for a cell: give"
                " jobs more time with --job walltime=TIME; every finished cell is kept"
            )

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
        # Before the commit, which waits for the disk.
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
        why = f", {loss.why}" if loss.why.startswith(FOR_MEMORY) else ""
        self._observer.said(f"a worker died at {where} (loss {count} of it{why}): {again}", tally)

    def _given_up(self, cell: Cell, loss: Loss) -> Outcome:
        times = self._losses[cell.key]
        died = f"the worker process died {times} times at this cell"
        if loss.why.startswith(FOR_MEMORY):
            sentence = f"memory: {loss.why}; {died}"
        else:
            sentence = f"{died}, as when the system runs out of memory"
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

        Cells at work count whole: a store does not say how far they are, and the browser is to say
        the same.
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
