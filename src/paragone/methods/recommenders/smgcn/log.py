"""What a training run of SMGCN leaves: its log, the log in the classic form, and the checkpoint to go on from."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from paragone.errors import InputError
from paragone.methods.recommenders.smgcn.settings import SMGCNSettings
from paragone.reading import parse_json, read_arrays

# What the authors' program calls the adjacency and the algorithm that are built in here.
ADJACENCY, ALGORITHM = "norm", "SMGCN"
DIVERGED = "ERROR: loss is nan."
SHOWN = ("recall", "precision", "f1", "rmrr")


@dataclass(frozen=True)
class EpochTimes:
    """What is kept of an epoch beside its metrics: seconds and mean losses.

    Attributes
    ----------
    training, evaluation : float
        Seconds; the second is 0 where nothing was evaluated.
    total, loss, penalty : float
        Means over the steps of the epoch.
    """

    training: float
    evaluation: float
    total: float
    loss: float
    penalty: float


def epoch_lines(
    epoch: int, times: EpochTimes, n_steps: int, evaluated: Mapping[str, Any] | None, paras: str
) -> str:
    r"""Return the text of one epoch, with its line ends.

    Parameters
    ----------
    epoch : int
        Counted from 1, as everywhere else here; printed from 0.
    times : EpochTimes
        Its seconds and losses.
    n_steps : int
        Steps of an epoch; the authors' program prints sums over them.
    evaluated : mapping, optional
        The metrics, where the epoch was evaluated on validation rows.
    paras : str
        The parameters, as `parameters` writes them, repeated after every evaluation.

    Examples
    --------
    >>> times = EpochTimes(1.25, 0.5, 3.0, 2.5, 0.5)
    >>> epoch_lines(9, times, 2, None, "")
    'Epoch 8 [1.2s]: train==[6.00000=5.00000 + 1.00000 + 0.00000  ]\n'
    >>> metrics = {name: [0.5, 0.3, 0.25] for name in SHOWN}
    >>> print(epoch_lines(10, times, 2, metrics, "0.001"), end="")
    Epoch 9 [1.2s + 0.5s]: train==[6.00000=5.00000 + 1.00000 + 0.00000 ]
     recall=[0.50000, 0.25000], precision=[0.50000, 0.25000],  f1=[0.50000, 0.25000], RMRR=[0.50000, 0.25000]
    paras	 0.001
    """
    total, loss, penalty = (n_steps * mean for mean in (times.total, times.loss, times.penalty))
    losses = f"{total:.5f}={loss:.5f} + {penalty:.5f} + {0:.5f}"
    if evaluated is None:
        return f"Epoch {epoch - 1} [{times.training:.1f}s]: train==[{losses}  ]\n"
    shown = {name: f"[{evaluated[name][0]:.5f}, {evaluated[name][-1]:.5f}]" for name in SHOWN}
    return (
        f"Epoch {epoch - 1} [{times.training:.1f}s + {times.evaluation:.1f}s]: train==[{losses} ]\n"
        f" recall={shown['recall']}, precision={shown['precision']},  f1={shown['f1']},"
        f" RMRR={shown['rmrr']}\nparas\t {paras}\n"
    )


def best_line(iteration: int, seconds: float, metrics: Mapping[str, Sequence[float]]) -> str:
    r"""Return the line of the chosen evaluation, all cut-offs, tabs between them.

    Examples
    --------
    >>> best_line(0, 1.25, {name: [0.5, 0.25] for name in SHOWN})
    'Best Iter=[0]@[1.2]\trecall=[0.50000\t0.25000], precision=[0.50000\t0.25000],  f1=[0.50000\t0.25000], rmrr=[...]'
    """
    shown = {
        name: "[" + "\t".join(f"{value:.5f}" for value in metrics[name]) + "]" for name in SHOWN
    }
    return (
        f"Best Iter=[{iteration}]@[{seconds:.1f}]\trecall={shown['recall']},"
        f" precision={shown['precision']},  f1={shown['f1']}, rmrr={shown['rmrr']}"
    )


def parameters(settings: SMGCNSettings) -> str:
    """Return the parameters in one word, as they are repeated after every evaluation."""
    rate, penalty = f"{settings.learning_rate:g}", f"[{settings.penalty:g}]"
    return f"{rate}_{penalty}_{_dropouts(settings)}_{settings.widths[0]}_{ADJACENCY}_{ALGORITHM}"


def result_text(settings: SMGCNSettings, best: str, now: datetime) -> str:
    """Return what is appended to the result file: a line of hyper-parameters, and the best line after a tab."""
    layers = ",".join(str(width) for width in settings.widths[1:])
    return (
        f"time={now:%Y-%m-%d %H:%M:%S}, fusion={settings.fusion}, embed_size={settings.widths[0]},"
        f" lr={settings.learning_rate:g}, layer_size=[{layers}],"
        f" mess_dropout={_dropouts(settings)}, regs=[{settings.penalty:g}],"
        f" adj_type={ADJACENCY}\n\t{best}\n"
    )


def _dropouts(settings: SMGCNSettings) -> str:
    return "[" + ", ".join(str(float(settings.dropout)) for _ in settings.widths[1:]) + "]"


Arrays = dict[str, NDArray[Any]]


@dataclass
class TrainingProgress:
    """How far a training run has come.

    Attributes
    ----------
    epoch : int
        Epochs finished.
    parameters, moments, best : dict of str to ndarray
        The network, Adam's moments, and the network of the best evaluation so far.
    history : list of dict
        The evaluations so far.
    best_epoch : int
        Where ``best`` is from; 0 before any evaluation.
    seconds : float
        Time spent on training so far, interruptions left out.
    epochs : list of list of float
        Of every epoch finished: seconds of training, seconds of evaluation, mean total, loss and
        penalty.
    """

    epoch: int = 0
    parameters: Arrays = field(default_factory=dict)
    moments: Arrays = field(default_factory=dict)
    best: Arrays = field(default_factory=dict)
    history: list[dict[str, Any]] = field(default_factory=list)
    best_epoch: int = 0
    seconds: float = 0.0
    epochs: list[list[float]] = field(default_factory=list)


PLAIN = ("epoch", "history", "best_epoch", "seconds", "epochs")
"""What a checkpoint holds beside arrays."""


def save_progress(path: Path, progress: TrainingProgress, identity: str) -> None:
    """Write a checkpoint; a crash while writing leaves the one before."""
    meta = {"identity": identity, **{name: getattr(progress, name) for name in PLAIN}}
    arrays = {
        f"{group}/{name}": array
        for group in ("parameters", "moments", "best")
        for name, array in getattr(progress, group).items()
    }
    partial = path.with_name(path.name + ".partial")
    with partial.open("wb") as stream:
        np.savez(stream, meta=np.asarray(json.dumps(meta)), **arrays)
    os.replace(partial, path)


def load_progress(path: Path, identity: str) -> TrainingProgress | None:
    """Read a checkpoint; ``None`` where there is none, an error where it belongs to another fit."""
    if not path.exists():
        return None
    try:
        arrays = read_arrays(path, f"checkpoint {path}")
        meta = parse_json(str(arrays.pop("meta", "")), f"checkpoint {path}")
    except InputError as error:
        raise InputError(f"{error}: delete it to start afresh") from error
    if meta["identity"] != identity:
        raise InputError(
            f"checkpoint {path} belongs to a fit with other settings or data: delete it or use"
            " another"
        )
    if len(meta.get("epochs", ())) != meta["epoch"]:
        raise InputError(f"checkpoint {path} is of an earlier version: delete it to start afresh")
    progress = TrainingProgress(**{name: meta[name] for name in PLAIN})
    for name, array in arrays.items():
        group, _, rest = name.partition("/")
        getattr(progress, group)[rest] = array
    return progress


def replace_text(path: Path, text: str) -> None:
    """Write a text file; a crash while writing leaves the one before."""
    partial = path.with_name(path.name + ".partial")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)


Record: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Observation:
    """Where a training run reports to; none of it changes what is learned.

    Parameters
    ----------
    log : path, optional
        JSON lines: one per finished evaluation, one for each warning, one for the choice at the
        end.
    classic : callable or path, optional
        Gets the classic text: a function line by line, such as ``print``; a file as a whole, so
        that a fit that goes on from a checkpoint leaves the text of an uninterrupted one.
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

    def resume(self, progress: TrainingProgress) -> None:
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

    def __init__(self, observation: Observation, settings: SMGCNSettings, n_steps: int) -> None:
        self._observation = observation
        self._settings = settings
        self._n_steps = n_steps
        self._paras = parameters(settings)

    def begin(self, progress: TrainingProgress) -> None:
        """Begin the file with the epochs that a checkpoint holds, whatever was in it."""
        if isinstance(self._observation.classic, Path):
            epochs = range(1, len(progress.epochs) + 1)
            replace_text(
                self._observation.classic, "".join(self._of(progress, epoch) for epoch in epochs)
            )

    def epoch(self, progress: TrainingProgress) -> None:
        """Write the last epoch."""
        if self._observation.classic is not None:
            self._write(self._of(progress, progress.epoch))

    def diverged(self) -> None:
        """Write what the authors' program writes before it ends at a loss that is not a number."""
        self._write(DIVERGED + "\n")

    def end(self, progress: TrainingProgress, chosen: int) -> None:
        """Write the line of the chosen epoch, and append it to the result file."""
        evaluated = [record for record in progress.history if "metrics" in record]
        iteration = next(
            (place for place, record in enumerate(evaluated) if record["epoch"] == chosen), None
        )
        if iteration is None:
            return
        seconds = sum(times[0] + times[1] for times in progress.epochs)
        best = best_line(iteration, seconds, evaluated[iteration]["metrics"])
        self._write(best + "\n")
        if self._observation.result_file is not None:
            with self._observation.result_file.open("a", encoding="utf-8") as stream:
                stream.write(result_text(self._settings, best, datetime.now().astimezone()))

    def _of(self, progress: TrainingProgress, epoch: int) -> str:
        record: Record = next(
            (entry for entry in reversed(progress.history) if entry["epoch"] == epoch), {}
        )
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
