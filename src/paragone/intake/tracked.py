"""Runs of an experiment tracker as records: which runs count, and which fields name method, dataset and split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from paragone.errors import InputError, argument, unknown_name
from paragone.intake.reader import Asked
from paragone.intake.records import KEYS, Records
from paragone.intake.roles import assign_roles, check_once
from paragone.intake.source import Source
from paragone.metrics import read_name

METRICS = "metrics."
SYSTEM = ("metrics.system/", "metrics.system.")
"""What a tracker measures of the machine is no result."""


@dataclass
class TrackedRuns:
    """Runs as a tracker keeps them.

    Attributes
    ----------
    frame : DataFrame
        One row per run: ``run``, ``finished`` and ``parent``, fields such as ``params.model``, and
        ``metrics.*``.
    dropped : dict of str to int
        What was left out on the way here.
    notes : list of str
        What is to be said.
    """

    frame: pd.DataFrame
    dropped: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def tracked_records(
    runs: TrackedRuns, fields: Sequence[str], source: Source, asked: Asked
) -> Records:
    """Return the records of finished runs; parents of nested runs are left out beside their children.

    Parameters
    ----------
    runs : TrackedRuns
        What was read.
    fields : sequence of str
        The columns that may name something.
    source : Source
        Where.
    asked : Asked
        What the user says.
    """
    frame, dropped = runs.frame, runs.dropped
    metrics = _chosen([name for name in frame.columns if name.startswith(METRICS)], asked, source)
    frame = _kept(
        frame,
        frame["finished"].to_numpy(dtype=bool),
        dropped,
        "runs that failed, were stopped or still run",
    )
    there = frame[metrics].notna().any(axis=1).to_numpy()
    shown = ", ".join(name.removeprefix(METRICS) for name in metrics[:3])
    frame = _kept(frame, there, dropped, f"runs without {shown}")
    if frame.empty:
        raise InputError(f"{source.where}: no finished run has {shown}")
    parents = frame["run"].isin(set(frame["parent"].dropna()) - {""}).to_numpy()
    frame = _kept(frame, ~parents, dropped, "parents of nested runs, whose children are compared")
    known = [name for name in fields if name in frame.columns and frame[name].notna().any()]
    found, unit = assign_roles(frame, known, asked, source.where, method=source.name)
    _refuse_several_experiments(frame, found, asked, source)
    found = _without_constant_keys(found)
    own = {name: name.removeprefix(METRICS) for name in metrics}
    for name in own.values():
        if name in ("method", "dataset", *KEYS):
            raise InputError(f"{source.where}: a metric cannot be called {name!r}")
    for name, called in own.items():
        found[called] = frame[name].to_numpy(dtype=np.float64)
    found = found.reset_index(drop=True)
    telling = [name for name in known if 1 < frame[name].nunique() <= len(frame)]
    check_once(found, source.where, telling)
    directions = {called: read_name(called).higher_is_better for called in own.values()}
    return Records(found, unit, directions, source, dropped=dropped, notes=tuple(runs.notes))


def _chosen(metrics: list[str], asked: Asked, source: Source) -> list[str]:
    wanted = asked.value or asked.metric
    own = [name for name in metrics if not name.startswith(SYSTEM)]
    if not own:
        raise InputError(f"{source.where}: no run has a metric")
    if wanted is None:
        return own
    for name in (wanted, f"{METRICS}{wanted}"):
        if name in metrics:
            return [name]
    raise unknown_name("metric", wanted, [name.removeprefix(METRICS) for name in own])


def _kept(frame: pd.DataFrame, mask: np.ndarray, dropped: dict[str, int], why: str) -> pd.DataFrame:
    if not mask.all():
        dropped[why] = dropped.get(why, 0) + int((~mask).sum())
    return frame[mask].reset_index(drop=True)


def _without_constant_keys(found: pd.DataFrame) -> pd.DataFrame:
    """Leave out seeds and repeats that are the same for all: they tell nothing apart."""
    same = [name for name in ("seed", "repeat") if name in found and found[name].nunique() == 1]
    return found.drop(columns=same)


def _refuse_several_experiments(
    frame: pd.DataFrame, found: pd.DataFrame, asked: Asked, source: Source
) -> None:
    """Refuse runs of several experiments that no dataset tells apart: they may be of different data."""
    if (
        "experiment" not in frame
        or frame["experiment"].nunique() < 2
        or "experiment" in (asked.method, asked.dataset)
    ):
        return
    if (found["dataset"] == "data").all():
        names = ", ".join(str(name) for name in pd.unique(frame["experiment"])[:3])
        raise InputError(
            f"{source.where} holds several experiments ({names}) and no field names the dataset:"
            f" say {argument('dataset', 'experiment')} or {argument('dataset', 'FIELD')}"
        )
