"""Which fields of a table of runs name the method, the dataset and the split: as the user says, or by their names."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from paragone.errors import InputError, argument, unknown_name
from paragone.intake.folders import few
from paragone.intake.reader import Asked
from paragone.intake.records import KEYS, Unit, unit_of
from paragone.intake.words import role_of
from paragone.stats.intake import spell_all

ROLES = ("method", "dataset", "subject", "fold", "repeat", "seed")
TELLING = 11
"""How many words of a role count among settings, of which some are called as loosely as ``optimizer``."""
_PREFIXES = ("", "params.", "tags.", "config.", "path.")


def find_field(columns: Sequence[str], role: str) -> str | None:
    """Return the column that plays a role by its name; the more telling name, and of equal ones the first.

    Examples
    --------
    >>> find_field(["params.lr", "params.model_name", "tags.model"], "method")
    'tags.model'
    """
    found: dict[int, str] = {}
    for name in columns:
        plays, place = role_of(name.removesuffix("._target_").removesuffix(".value"))
        if plays == role and place % 100 < TELLING:
            found.setdefault(place, name)
    return found[min(found)] if found else None


def asked_field(columns: Sequence[str], option: str, name: str) -> str:
    """Return the column that the user names, with or without what stands before it."""
    for prefix in _PREFIXES:
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
    told: dict[str, str] = {}
    if asked.unit is not None and asked.unit not in KEYS:
        unit = asked_field(fields, "unit", asked.unit)
        role, _ = role_of(unit)
        told[role if role in ROLES else "subject"] = unit
    for role in ROLES:
        name = getattr(asked, role, None)
        if name is not None:
            told[role] = asked_field(fields, role, name)
            continue
        name = find_field([one for one in fields if one not in told.values()], role)
        # A constant seed is a setting of all runs and tells none apart.
        if name is not None and (role != "seed" or runs[name].nunique() > 1):
            told.setdefault(role, name)
    if "method" not in told and method is None:
        raise InputError(
            f"{where}: which field names the method is not told: say {argument('method', 'FIELD')},"
            f" one of {few(fields)}, or NAME=PATH where it holds one method"
        )
    found = pd.DataFrame({"method": method, "dataset": "data"}, index=runs.index)
    for role in sorted(told, key=ROLES.index):
        name = told[role]
        lacking = int((runs[name].isna() | (runs[name].astype(str).str.strip() == "")).sum())
        if lacking:
            raise InputError(
                f"{where}: {lacking} of {len(runs)} runs have no {name}, which tells what they are"
            )
        found[role] = spell_all(runs[name])
    return found, unit_of(found)
