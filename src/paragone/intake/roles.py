"""Which fields of a table of runs name the method, the dataset and the split: as the user says, or by their names."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from paragone.errors import InputError, argument, unknown_name
from paragone.intake.folders import few
from paragone.intake.reader import Asked
from paragone.intake.records import KEYS, Unit

NAMES = {
    "method": ("method", "model", "algorithm", "classifier", "regressor", "estimator", "system", "framework",
               "learner"),
    "dataset": ("dataset", "data", "benchmark", "problem", "task", "env", "environment"),
    "fold": ("fold", "split", "cv_fold", "cv", "fold_idx", "fold_id"),
    "repeat": ("repeat", "rep", "repetition"),
    "seed": ("seed", "random_state", "random_seed"),
    "subject": ("subject", "participant", "patient"),
}  # fmt: skip
"""What each is called, the more telling name first."""
_PREFIXES = ("params.", "tags.", "config.", "path.", "")
_BEHIND = ("", "_name", ".name", "/name", "_id", ".id", "._target_", ".type", "_type", ".value")


def find_field(columns: Sequence[str], role: str) -> str | None:
    """Return the column that plays a role by its name; parameters come before tags.

    Examples
    --------
    >>> find_field(["params.lr", "params.model_name", "tags.model"], "method")
    'params.model_name'
    """
    plain = {name.lower(): name for name in reversed(columns)}
    for prefix in _PREFIXES:
        for name in NAMES[role]:
            for behind in _BEHIND:
                if prefix + name + behind in plain:
                    return plain[prefix + name + behind]
    return None


def asked_field(columns: Sequence[str], option: str, name: str) -> str:
    """Return the column that the user names, with or without what stands before it."""
    for prefix in ("", *_PREFIXES):
        if prefix + name in columns:
            return prefix + name
    raise unknown_name(f"field (--{option})", name, columns)


def assign_roles(
    runs: pd.DataFrame,
    fields: Sequence[str],
    asked: Asked,
    where: str,
    *,
    method: str | None = None,
) -> tuple[pd.DataFrame, Unit]:
    """Return the runs with the columns ``method``, ``dataset`` and keys, and what a row is.

    Parameters
    ----------
    runs : DataFrame
        One row per run.
    fields : sequence of str
        The columns that may name something, such as ``params.model``.
    asked : Asked
        What the user says.
    where : str
        What messages call the source.
    method : str, optional
        What the only method is called, where no field tells.
    """
    known = list(fields)
    columns: dict[str, pd.Series] = {}
    of_method = (
        asked_field(known, "method", asked.method) if asked.method else find_field(known, "method")
    )
    if of_method is None and method is None:
        raise InputError(
            f"{where}: which field names the method is not told: say {argument('method', 'FIELD')},"
            f" one of {few(known)}, or NAME=PATH where it holds one method"
        )
    columns["method"] = (
        _texts(runs, of_method, where) if of_method else pd.Series(method, index=runs.index)
    )
    of_dataset = (
        asked_field(known, "dataset", asked.dataset)
        if asked.dataset
        else find_field(known, "dataset")
    )
    columns["dataset"] = (
        _texts(runs, of_dataset, where) if of_dataset else pd.Series("data", index=runs.index)
    )
    used = {of_method, of_dataset}
    unit = None
    if asked.unit is not None and asked.unit not in KEYS:
        unit = asked_field(known, "unit", asked.unit)
        role = next(
            (key for key, names in NAMES.items() if key in KEYS and find_field([unit], key)),
            "subject",
        )
        columns[role] = _texts(runs, unit, where)
        used.add(unit)
    for role in ("subject", "fold", "repeat", "seed"):
        name = find_field([one for one in known if one not in used], role)
        # A constant seed is a setting of all runs and tells none apart.
        if (
            name is not None
            and role not in columns
            and (role != "seed" or runs[name].nunique() > 1)
        ):
            columns[role] = _texts(runs, name, where)
            used.add(name)
    found = pd.DataFrame(columns)
    kind: Unit = (
        "subject"
        if "subject" in found
        else "fold"
        if {"fold", "repeat", "seed"} & set(found)
        else "dataset"
    )
    return found, kind


def _texts(runs: pd.DataFrame, name: str, where: str) -> pd.Series:
    """Return a column of names; a run that lacks it cannot be placed."""
    found = runs[name]
    lacking = int(found.isna().sum() + (found.astype(str).str.strip() == "").sum())
    if lacking:
        raise InputError(
            f"{where}: {lacking} of {len(runs)} runs have no {name}, which tells what they are"
        )
    return found.map(
        lambda one: (
            str(int(one)) if isinstance(one, float) and one.is_integer() else str(one).strip()
        )
    )
