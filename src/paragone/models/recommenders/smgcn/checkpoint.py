"""Checkpoints inside a fit: everything needed to go on as if nothing had happened, in one npz file."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.errors import InputError
from paragone.reading import parse_json, read_arrays

Arrays = dict[str, NDArray[Any]]


@dataclass
class Progress:
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
        Of every epoch finished: seconds of training, seconds of evaluation, mean total, loss and penalty.
    """

    epoch: int = 0
    parameters: Arrays = field(default_factory=dict)
    moments: Arrays = field(default_factory=dict)
    best: Arrays = field(default_factory=dict)
    history: list[dict[str, Any]] = field(default_factory=list)
    best_epoch: int = 0
    seconds: float = 0.0
    epochs: list[list[float]] = field(default_factory=list)


def save_progress(path: Path, progress: Progress, identity: str) -> None:
    """Write a checkpoint; a crash while writing leaves the one before."""
    meta = {
        "identity": identity,
        "epoch": progress.epoch,
        "history": progress.history,
        "best_epoch": progress.best_epoch,
        "seconds": progress.seconds,
        "epochs": progress.epochs,
    }
    arrays = {
        f"{group}/{name}": array
        for group in ("parameters", "moments", "best")
        for name, array in getattr(progress, group).items()
    }
    partial = path.with_name(path.name + ".partial")
    with partial.open("wb") as stream:
        np.savez(stream, meta=np.asarray(json.dumps(meta)), **arrays)
    os.replace(partial, path)


def load_progress(path: Path, identity: str) -> Progress | None:
    """Read a checkpoint; ``None`` where there is none, an error where it belongs to another fit."""
    if not path.exists():
        return None
    try:
        arrays = read_arrays(path, f"checkpoint {path}")
        meta = parse_json(str(arrays.pop("meta", "")), f"checkpoint {path}")
    except InputError as error:
        raise InputError(f"{error}: delete it to start afresh") from error
    if meta["identity"] != identity:
        raise InputError(f"checkpoint {path} belongs to a fit with other settings or data: delete it or use another")
    if len(meta.get("epochs", ())) != meta["epoch"]:
        raise InputError(f"checkpoint {path} is of an earlier version: delete it to start afresh")
    progress = Progress(
        meta["epoch"],
        history=meta["history"],
        best_epoch=meta["best_epoch"],
        seconds=meta["seconds"],
        epochs=meta["epochs"],
    )
    for name, array in arrays.items():
        group, _, rest = name.partition("/")
        getattr(progress, group)[rest] = array
    return progress


def replace_text(path: Path, text: str) -> None:
    """Write a text file; a crash while writing leaves the one before."""
    partial = path.with_name(path.name + ".partial")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)
