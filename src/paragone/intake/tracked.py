"""Runs of an experiment tracker as records: which runs count, and which fields name method, dataset and split."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pandas as pd

from paragone.errors import InputError, argument, unknown_name
from paragone.intake.folders import few
from paragone.intake.reader import Asked
from paragone.intake.records import Records
from paragone.intake.roles import assign_roles, find_field
from paragone.intake.source import Source

METRICS = "metrics."
SYSTEM = ("metrics.system/", "metrics.system.")
"""What a tracker measures of the machine is no result."""
RUN_NAMES = ("tags.mlflow.runName", "Name")
GENERATED = re.compile(r"[a-z]+-[a-z]+-\d+|(?:run|trial|test|exp\w*|job)?[-_ ]?\d*|[0-9a-f]{8,}")
"""Names of runs that a tracker thinks of by itself, or that only count."""


@dataclass
class TrackedRuns:
    """Runs as a tracker keeps them.

    Attributes
    ----------
    frame : DataFrame
        One row per run: ``run``, ``finished``, ``parent``, ``experiment`` and ``started`` where
        they are known, fields such as ``params.model``, and ``metrics.*``.
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
    frame, dropped, notes = runs.frame, dict(runs.dropped), list(runs.notes)
    metrics = _chosen([name for name in frame.columns if name.startswith(METRICS)], asked, source)
    shown = few(name.removeprefix(METRICS) for name in metrics)
    finished = frame["finished"].astype(bool)
    there = frame[metrics].notna().any(axis=1)
    parents = frame["run"].isin(frame["parent"][finished & there].dropna())
    left = finished | True
    for why, mask in (
        ("runs that failed, were stopped or still run", finished),
        (f"runs without {shown}", there),
        ("parents of nested runs, whose children are compared", ~parents),
    ):
        dropped[why] = int((left & ~mask).sum())
        left &= mask
    if not left.any():
        raise InputError(f"{source.where}: no finished run has {shown}")
    frame = frame[left]
    frame = frame.reset_index(drop=True)
    known = [name for name in fields if name in frame and frame[name].notna().any()]
    asked = _with_method(frame, known, source, asked, notes)
    found, unit = assign_roles(frame, known, asked, source.where, method=source.name)
    _refuse_several_experiments(frame, found, asked, source)
    # Seeds and repeats that are the same for all tell nothing apart.
    same = [name for name in ("seed", "repeat") if name in found and found[name].nunique() == 1]
    found = found.drop(columns=same)
    settings = [name for name in known if not name.startswith("tags.") and name not in RUN_NAMES]
    kept = _newest(frame, found, settings, source)
    dropped["earlier runs with the same settings, of which the newest is read"] = int((~kept).sum())
    own = {name: name.removeprefix(METRICS) for name in metrics}
    found = found.join(frame[metrics].astype(float).rename(columns=own))[kept]
    directions = dict.fromkeys(own.values())
    found = found.reset_index(drop=True)
    return Records(found, unit, directions, source, dropped=dropped, notes=tuple(notes))


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


def _with_method(
    frame: pd.DataFrame, known: Sequence[str], source: Source, asked: Asked, notes: list[str]
) -> Asked:
    """Return what is asked with the field of the method: by its name, or what the runs or experiments are called."""
    by_name = find_field(known, "method")
    if asked.method or source.name or (by_name and frame[by_name].notna().all()):
        return asked
    for name in RUN_NAMES:
        texts = frame[name].astype(str) if name in known else pd.Series(dtype=str)
        if len(texts) and frame[name].notna().all() and not texts.map(GENERATED.fullmatch).any():
            notes.append(f"Methods are what the runs are called: {few(texts.unique())} ({name}).")
            return replace(asked, method=name)
    params = frame[[name for name in known if name.startswith("params.")]].notna()
    if by_name is None and "experiment" in known and params.shape[1] and asked.dataset is None:
        names = params.apply(lambda row: ", ".join(params.columns[row]), axis=1)
        kinds = pd.DataFrame({"experiment": frame["experiment"], "names": names}).drop_duplicates()
        if len(kinds) > 1 and kinds["experiment"].is_unique and kinds["names"].is_unique:
            notes.append(
                f"Methods are the experiments, each with parameters of its own:"
                f" {few(kinds['experiment'])}."
            )
            return replace(asked, method="experiment")
    return asked


def _newest(
    frame: pd.DataFrame, found: pd.DataFrame, settings: Sequence[str], source: Source
) -> pd.Series:
    """Say which runs count: of equal ones the newest; several with other settings are a search and refused."""
    again = found.duplicated(keep=False)
    theirs = frame[again].groupby([found[name][again] for name in found], sort=False)
    differing = [name for name in settings if (theirs[name].nunique(dropna=False) > 1).any()]
    dated = "started" in frame and frame["started"].notna().all()
    if again.any() and (differing or not dated):
        row = found[found.duplicated()].iloc[0]
        which = ", ".join(f"{key} {value}" for key, value in row.items())
        why = f": they differ in {few(differing)}, as the tries of a search do" * bool(differing)
        told = [name for name in settings if frame[name].nunique() > 1]
        raise InputError(
            f"{source.where}: {int(found.duplicated().sum())} runs are second ones of a method,"
            f" dataset and split (first: {which}){why}. Keep one of each, or say which field tells"
            f" them apart with {argument('unit', 'FIELD')} or {argument('method', 'FIELD')}"
            f" ({few(told)})"
        )
    if not again.any():
        return ~again
    order = frame["started"].sort_values(kind="stable").index
    return ~found.loc[order].duplicated(keep="last").sort_index()


def _refuse_several_experiments(
    frame: pd.DataFrame, found: pd.DataFrame, asked: Asked, source: Source
) -> None:
    """Refuse runs of several experiments that no dataset tells apart: they may be of different data."""
    if "experiment" not in frame or "experiment" in (asked.method, asked.dataset):
        return
    names = frame["experiment"].unique()
    if len(names) > 1 and (found["dataset"] == "data").all():
        raise InputError(
            f"{source.where} holds several experiments ({few(map(str, names))}) and no field names"
            f" the dataset: say {argument('dataset', 'experiment')} or"
            f" {argument('dataset', 'FIELD')}"
        )
