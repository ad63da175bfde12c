"""The progress bar of a run: done cells, rate, time left, failures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from paragone.terminal import console, printable

if TYPE_CHECKING:
    from paragone.lab.cells import Cell, Outcome
    from paragone.lab.engine import Tally

PLAIN_STEPS = 10


class ProgressBar:
    """Follows a run: a bar on a terminal, a line every tenth of the way in a log."""

    def __init__(self) -> None:
        self.tally: Tally | None = None
        self._console = console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            TextColumn("[red]{task.fields[failures]}"),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._task = self._bar.add_task("cells", rate="", left="", failures="")
        self._next_step = 0

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def began(self, tally: Tally) -> None:
        """Show what is there already."""
        self.tally = tally
        self._bar.update(self._task, total=tally.total, completed=tally.finished)
        self._next_step = tally.finished + 1

    def finished(self, cell: Cell, outcome: Outcome | None, tally: Tally) -> None:
        """Move on by a cell."""
        speed = self._bar.tasks[0].speed
        self._bar.update(
            self._task,
            completed=tally.finished,
            failures=failures_of(tally),
            left=time_left(tally),
            rate=f"{speed:.1f}/s" if speed else "",
        )
        if outcome is not None and outcome.status != "done":
            where = f"{cell.method} on {cell.dataset}, fold {cell.fold}"
            self._print(f"{outcome.status}: {where}: {outcome.error}")
        elif not self._console.is_terminal and (
            tally.finished >= self._next_step or tally.finished == tally.total
        ):
            left = time_left(tally)
            self._print(f"{tally.finished} of {tally.total} cells{left and ', '}{left}")
            self._next_step = tally.finished + max(1, tally.total // PLAIN_STEPS)

    def said(self, sentence: str, tally: Tally) -> None:
        """Show what was said, and the losses."""
        self._bar.update(self._task, failures=failures_of(tally))
        self._print(sentence)

    def _print(self, sentence: str) -> None:
        """Print above the bar."""
        self._bar.console.print(printable(sentence), markup=False, soft_wrap=True)


def time_left(tally: Tally) -> str:
    """Say how long the rest of a run may take; nothing where nothing is left, or nothing known.

    Examples
    --------
    >>> from paragone.lab.engine import Tally
    >>> time_left(Tally(10, done=9, seconds_left=200.0)), time_left(Tally(10, done=10, seconds_left=3.6e-15))
    ('about 3 min left', '')
    """
    from paragone.lab.engine.resources import spoken_duration

    if tally.seconds_left is None or tally.finished >= tally.total:
        return ""
    return f"{spoken_duration(tally.seconds_left)} left"


def failures_of(tally: Tally) -> str:
    """Say what went wrong so far: failed cells, and workers that died.

    Examples
    --------
    >>> from paragone.lab.engine import Tally
    >>> failures_of(Tally(10, failed=1, timeout=1, lost=2)), failures_of(Tally(10))
    ('2 failed, 2 workers lost', '')
    """
    bad = tally.failed + tally.timeout
    workers = f"{tally.lost} worker{'s' * (tally.lost != 1)} lost" if tally.lost else ""
    return ", ".join(part for part in (f"{bad} failed" if bad else "", workers) if part)
