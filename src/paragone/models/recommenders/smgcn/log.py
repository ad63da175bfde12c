"""The training log: a JSON line an evaluation, and the classic text on request; both whole after a kill."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeAlias

from paragone.errors import InputError
from paragone.models.recommenders.smgcn.checkpoint import Progress, replace_text
from paragone.models.recommenders.smgcn.classic import (
    DIVERGED,
    EpochTimes,
    best_line,
    epoch_lines,
    parameters,
    result_text,
)
from paragone.models.recommenders.smgcn.settings import Settings
from paragone.reading import parse_json

Record: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Observation:
    """Where a training run reports to; none of it changes what is learned.

    Parameters
    ----------
    log : path, optional
        JSON lines: one a finished evaluation, one for each warning, one for the choice at the end.
    classic : callable or path, optional
        Gets the classic text: a function line by line, such as ``print``; a file as a whole, so that a fit that goes on
        from a checkpoint leaves the text of an uninterrupted one.
    result_file : path, optional
        The classic line of the best epoch is appended to it, after one of hyper-parameters.
    checkpoint : path, optional
        Written at every evaluation; a fit that finds it goes on from there.
    progress : callable, optional
        Called as ``progress(epoch, max_epochs, loss)`` after every epoch.
    """

    log: Path | None = None
    classic: Callable[[str], Any] | Path | None = None
    result_file: Path | None = None
    checkpoint: Path | None = None
    progress: Callable[[int, int, float], Any] | None = None

    def write(self, record: Record) -> None:
        """Append a record to the JSON-lines log."""
        if self.log is not None:
            with self.log.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(record, ensure_ascii=False) + "\n")

    def resume(self, progress: Progress) -> None:
        """Take out of the JSON lines what an interrupted fit wrote after its checkpoint: it is written again."""
        if self.log is None or self.checkpoint is None or not self.log.exists():
            return
        kept = []
        for line in self.log.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                record = parse_json(line, "log")
            except InputError:
                # The line that was being written when the fit was killed.
                continue
            if (
                isinstance(record, dict)
                and record.get("event") != "chosen"
                and record.get("epoch", 0) <= progress.epoch
            ):
                kept.append(line + "\n")
        replace_text(self.log, "".join(kept))


class ClassicText:
    """Writes the classic text of one fit to where its observation says."""

    def __init__(self, observation: Observation, settings: Settings, n_steps: int) -> None:
        self._observation = observation
        self._settings = settings
        self._n_steps = n_steps
        self._paras = parameters(settings)

    def begin(self, progress: Progress) -> None:
        """Begin the file with the epochs that a checkpoint holds, whatever was in it."""
        if isinstance(self._observation.classic, Path):
            epochs = range(1, len(progress.epochs) + 1)
            replace_text(self._observation.classic, "".join(self._of(progress, epoch) for epoch in epochs))

    def epoch(self, progress: Progress) -> None:
        """Write the last epoch."""
        if self._observation.classic is not None:
            self._write(self._of(progress, progress.epoch))

    def diverged(self) -> None:
        """Write what the authors' program writes before it ends at a loss that is not a number."""
        self._write(DIVERGED + "\n")

    def end(self, progress: Progress, chosen: int) -> None:
        """Write the line of the chosen epoch, and append it to the result file."""
        evaluated = [record for record in progress.history if "metrics" in record]
        iteration = next((place for place, record in enumerate(evaluated) if record["epoch"] == chosen), None)
        if iteration is None:
            return
        seconds = sum(times[0] + times[1] for times in progress.epochs)
        best = best_line(iteration, seconds, evaluated[iteration]["metrics"])
        self._write(best + "\n")
        if self._observation.result_file is not None:
            with self._observation.result_file.open("a", encoding="utf-8") as stream:
                stream.write(result_text(self._settings, best, datetime.now().astimezone()))

    def _of(self, progress: Progress, epoch: int) -> str:
        record: Record = next((entry for entry in reversed(progress.history) if entry["epoch"] == epoch), {})
        times = EpochTimes(*progress.epochs[epoch - 1])
        return epoch_lines(epoch, times, self._n_steps, record.get("metrics"), self._paras)

    def _write(self, text: str) -> None:
        target = self._observation.classic
        if isinstance(target, Path):
            with target.open("a", encoding="utf-8") as stream:
                stream.write(text)
        elif target is not None:
            for line in text.splitlines():
                target(line)
