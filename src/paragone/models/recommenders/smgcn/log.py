"""The training log: a JSON line an evaluation, and the classic text lines on request."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

Record: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Observation:
    """Where a training run reports to; none of it changes what is learned.

    Parameters
    ----------
    log : path, optional
        JSON lines: one a finished evaluation, one for each warning, one for the choice at the end.
    classic : callable, optional
        Gets the classic text lines, such as ``print``.
    result_file : path, optional
        The classic line of the best epoch is appended to it.
    checkpoint : path, optional
        Written at every evaluation; a fit that finds it goes on from there.
    progress : callable, optional
        Called as ``progress(epoch, max_epochs, loss)`` after every epoch.
    """

    log: Path | None = None
    classic: Callable[[str], Any] | None = None
    result_file: Path | None = None
    checkpoint: Path | None = None
    progress: Callable[[int, int, float], Any] | None = None

    def write(self, record: Record) -> None:
        """Append a record to the JSON-lines log."""
        if self.log is not None:
            with self.log.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(record, ensure_ascii=False) + "\n")


def classic_epoch(record: Mapping[str, Any]) -> str:
    """Return the classic text line of an evaluation.

    Examples
    --------
    >>> values = {name: [0.5] for name in ("recall", "precision", "f1", "rmrr")}
    >>> classic_epoch({"epoch": 9, "seconds": 1.25, "total": 3.0, "loss": 2.5, "penalty": 0.5, "metrics": values})
    'Epoch 9 [1.2s]: train==[3.00000=2.50000 + 0.50000 + 0.00000], recall=[0.50000], precision=[0.50000], ...'
    """
    metrics = record["metrics"]
    losses = f"{record['total']:.5f}={record['loss']:.5f} + {record['penalty']:.5f} + {0:.5f}"
    parts = [f"{name}=[{_join(metrics[name.lower()])}]" for name in ("recall", "precision", "f1", "RMRR")]
    return f"Epoch {record['epoch']} [{record['seconds']:.1f}s]: train==[{losses}], {', '.join(parts)}"


def classic_best(epoch: int, seconds: float, metrics: Mapping[str, Sequence[float]]) -> str:
    """Return the classic text line of the chosen epoch.

    Examples
    --------
    >>> classic_best(9, 1.25, {name: [0.5, 0.25] for name in ("recall", "precision", "f1", "rmrr")})
    'Best Iter=[9]@[1.2] recall=[0.50000 0.25000] precision=[0.50000 0.25000], f1=[0.50000 0.25000], rmrr=[...]'
    """
    recall, *rest = (f"{name}=[{_join(metrics[name])}]" for name in ("recall", "precision", "f1", "rmrr"))
    return f"Best Iter=[{epoch}]@[{seconds:.1f}] {recall} {', '.join(rest)}"


def _join(values: Sequence[float]) -> str:
    return " ".join(f"{value:.5f}" for value in values)
