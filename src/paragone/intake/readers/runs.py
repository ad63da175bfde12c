"""Folders of runs as training scripts leave them: one file or sub-folder per fold, subject or seed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from paragone.errors import InputError, argument
from paragone.intake.plain_yaml import plain_list, plain_yaml
from paragone.intake.reader import Asked, ResultReader, result_readers
from paragone.intake.records import KEYS, Records, Unit
from paragone.intake.roles import asked_field, assign_roles, find_field
from paragone.intake.run_files import (
    SUFFIXES,
    Row,
    check_rule,
    metrics_in,
    name_in,
    rows_of,
    said_rule,
    value_of,
)
from paragone.intake.source import Source
from paragone.metrics import read_name

TITLE = "folders of runs"
MOST_FILES = 200_000
VALUES = 80
"""The order from which on readers know the values of single files, of which runs are made."""
LOOKED_AT = 400
"""Files of a folder by which it is recognised."""
WORDS = {
    "fold": ("fold", "kfold", "cvfold", "split", "cv"),
    "subject": ("subject", "subj", "sub", "participant", "patient", "person"),
    "seed": ("seed",),
    "repeat": ("repeat", "rep", "repetition"),
    "run": ("run", "trial", "version", "job", "exp", "experiment", "session"),
}
_ROLE_OF = {word: role for role, words in WORDS.items() for word in words}
_TOKEN = re.compile(
    rf"(?<![a-z])(?P<word>{'|'.join(sorted(_ROLE_OF, key=len, reverse=True))})[_\-="
    r" ]?(?P<number>\d+)(?!\d)",
    re.IGNORECASE,
)
_SHORT = re.compile(r"^(?P<word>[sp])(?P<number>\d+)$", re.IGNORECASE)
_NUMBER = re.compile(r"^\d+$")


@dataclass(frozen=True)
class _Run:
    """A file of a run: the keys that its path tells, the other parts of it, and the folder that holds its settings."""

    path: Path
    keys: dict[str, str]
    names: tuple[str, ...]
    in_name: bool
    """Whether the name of the file itself holds a key."""


def _walk(folder: Path, most: int) -> Iterator[Path]:
    """Go through the files of a folder that may hold results, hidden ones left out, in order."""
    count = 0
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if (
                not name.startswith(".")
                and Path(name.removesuffix(".gz")).suffix.lower() in SUFFIXES
            ):
                yield Path(place) / name
                count += 1
                if count >= most:
                    return


def _place(folder: Path, path: Path) -> _Run:
    """Take the path of a file apart: numbers behind a known word are keys, what is left are names."""
    inside = path.relative_to(folder)
    parts = [*inside.parts[:-1], inside.name.removesuffix(".gz").rsplit(".", 1)[0]]
    keys: dict[str, str] = {}
    names = []
    for part in parts:
        rest = part
        tokens = list(_TOKEN.finditer(part)) or [match for match in [_SHORT.match(part)] if match]
        for token in tokens:
            role = _ROLE_OF.get(token["word"].lower(), "subject")
            if role not in keys:
                keys[role] = str(int(token["number"]))
                rest = rest.replace(token[0], "", 1)
        if _NUMBER.match(part):
            keys.setdefault("run", str(int(part)))
            rest = ""
        names.append(rest.strip("_- ,="))
    in_name = names[-1] != parts[-1]
    suffix = Path(path.name.removesuffix(".gz")).suffix.lower()
    return _Run(path, keys, (*names, suffix), in_name)


def _recognises(source: Source) -> bool:
    if not source.is_folder:
        return False
    files = list(_walk(source.path, LOOKED_AT))
    groups: dict[tuple[str, ...], list[_Run]] = {}
    for path in files:
        run = _place(source.path, path)
        if run.keys or (path.parent / ".hydra").is_dir():
            groups.setdefault(run.names, []).append(run)
    several = [
        runs for runs in groups.values() if len({tuple(run.keys.items()) for run in runs}) > 1
    ]
    if not several:
        return False
    looked = [runs[0].path for runs in several][:3]
    others = [one for one in result_readers if one.name != "runs" and one.order < VALUES]
    asked = [Source(one) for path in looked for one in (path, path.parent) if one != source.path]
    return not any(reader.recognises(one) for reader in others for one in asked)


def _read(source: Source, asked: Asked) -> Records:
    if not source.is_folder:
        raise InputError(f"{source.where} is a file; {TITLE} are folders")
    check_rule(asked.row)
    files = list(_walk(source.path, MOST_FILES + 1))
    if len(files) > MOST_FILES:
        raise InputError(
            f"{source.where} holds more than {MOST_FILES} files: name a folder further down"
        )
    wanted = asked.value or asked.metric
    found: dict[tuple[tuple[str, str], ...], dict[str, object]] = {}
    metrics: dict[str, None] = {}
    having: set[tuple[str, ...]] = set()
    without: list[tuple[str, ...]] = []
    unread: list[str] = []
    logs = False
    for path in files:
        run = _place(source.path, path)
        where = str(path.relative_to(source.path))
        try:
            rows = rows_of(Source(path))
        except InputError:
            unread.append(where)
            continue
        logs |= len(rows) > 1
        values = _values(rows, wanted, asked.row, f"{source.where}: {where}")
        if not values:
            without.append(run.names)
            continue
        having.add(run.names)
        fields = _fields(source.path, run, asked)
        mine = found.setdefault(tuple(sorted(fields.items())), {**fields})
        for name, value in values.items():
            if mine.get(name, value) != value:
                raise InputError(
                    f"{source.where}: {name} of {_spoken(fields)} stands in two files ({where} is"
                    f" the second): keep one, or say {argument('method', 'file')} where files are"
                    " methods"
                )
            mine[name] = value
            metrics[name] = None
    if not metrics:
        what = f"a number called {wanted!r}" if wanted else "a number that is a metric by its name"
        broken = f" ({len(unread)} cannot be read)" if unread else ""
        say = "" if wanted else f": say {argument('metric', 'NAME')}"
        raise InputError(f"{source.where}: none of {len(files)} files holds {what}{broken}{say}")
    frame = pd.DataFrame(list(found.values()))
    fields_told = [name for name in frame.columns if name not in metrics]
    records, notes = _named(frame, fields_told, source, asked)
    unit = _unit_of(records)
    for name in metrics:
        records[name] = frame[name].to_numpy(dtype=float)
    _refuse_doubles(records, list(metrics), source)
    lacking = {f"files without {wanted or 'a metric'}": sum(names in having for names in without)}
    if unread:
        lacking["files that cannot be read"] = len(unread)
        notes.append(
            f"Could not be read: {', '.join(unread[:4])}{' and more' if len(unread) > 4 else ''}."
        )
    if asked.row is not None or logs:
        notes.append(said_rule(asked.row))
    directions = {name: read_name(name).higher_is_better for name in metrics}
    return Records(records, unit, directions, source, dropped=lacking, notes=tuple(notes))


def _values(
    rows: Sequence[Row], wanted: str | None, rule: str | None, where: str
) -> dict[str, float]:
    if wanted is not None:
        name = name_in(rows, wanted)
        return {} if name is None else {wanted: value_of(rows, name, rule, where)}
    return {name: value_of(rows, name, rule, where) for name in metrics_in(rows)}


def _fields(folder: Path, run: _Run, asked: Asked) -> dict[str, str]:
    """Return what identifies a run: keys and names of its path, and what Hydra overrode for it."""
    fields = {f"path.{role}": number for role, number in run.keys.items()}
    for place, name in enumerate(run.names[:-2], start=1):
        if name:
            fields[f"path{place}"] = name
    # Where folders tell units apart, several files make up a run and their names tell nothing.
    if run.names[-2] and (run.in_name or not run.keys or "file" in (asked.method, asked.dataset)):
        fields["file"] = run.names[-2]
    above = run.path.parent
    while above != folder.parent:
        if (above / ".hydra").is_dir():
            return fields | _hydra(above / ".hydra")
        above = above.parent
    return fields


def _hydra(folder: Path) -> dict[str, str]:
    overrides = folder / "overrides.yaml"
    config = folder / "config.yaml"
    found: dict[str, str] = {}
    if config.is_file():
        values = plain_yaml(Source(config).content().decode("utf-8", errors="replace"))
        for role in ("method", "dataset", "fold", "repeat", "seed", "subject"):
            name = find_field([f"config.{key}" for key in values], role)
            if name is not None:
                found[name] = values[name.removeprefix("config.")]
    if overrides.is_file():
        for text in plain_list(Source(overrides).content().decode("utf-8", errors="replace")):
            key, _, value = text.lstrip("+~").partition("=")
            if value:
                found[f"config.{key}"] = value
    return found


def _named(
    frame: pd.DataFrame, fields: Sequence[str], source: Source, asked: Asked
) -> tuple[pd.DataFrame, list[str]]:
    """Return method, dataset and keys of every run, from the parts of the paths that differ and Hydra's settings."""
    notes: list[str] = []
    differing = [name for name in fields if frame[name].nunique(dropna=False) > 1]
    config = [name for name in differing if name.startswith("config.")]
    if config:
        # Settings tell runs apart better than the numbers of jobs do.
        path = [name for name in differing if name.startswith("path.") and name != "path.run"]
        found, _ = assign_roles(
            frame, [*config, *path], asked, source.where, method=_own_name(source)
        )
        used = [name for name in config if not _plays(name, found, frame)]
        if used and found.duplicated().any():
            raise InputError(
                f"{source.where}: runs differ in {', '.join(used)} too: say what it is,"
                f" {argument('method', used[0])} or {argument('unit', used[0])}"
            )
        return found, notes
    found = pd.DataFrame(index=frame.index)
    for name in (one for one in differing if one.startswith("path.")):
        role = name.removeprefix("path.")
        if role == "run":
            role = _role_of_runs(frame, source, asked)
        elif asked.unit in KEYS and sum(one.startswith("path.") for one in differing) == 1:
            role = str(asked.unit)
        if role in found:
            raise InputError(f"{source.where}: two parts of the paths are called {role}")
        if frame[name].isna().any():
            raise InputError(
                f"{source.where}: some paths have a {role} and others have none: name the right"
                " folder"
            )
        found[role] = frame[name]
    levels = [name for name in differing if not name.startswith("path.")]
    told = {
        role: asked_field(fields, role, str(getattr(asked, role)))
        for role in ("method", "dataset")
        if getattr(asked, role)
    }
    left = [name for name in levels if name not in told.values()]
    if left and len(left) == 1 and len(told) < 2:
        role = "dataset" if "method" in told or source.name or not source.alone else "method"
        role = "method" if "dataset" in told else role
        told[role] = left.pop()
        seen = sorted(frame[told[role]].dropna().unique())
        notes.append(
            f"{', '.join(seen[:3])}{' and more' if len(seen) > 3 else ''} in {source.path.name} are"
            f" read as {role}s."
        )
    if left:
        examples = ", ".join(f"{name}: {frame[name].dropna().iloc[0]}" for name in left)
        raise InputError(
            f"{source.where}: the paths differ in several names ({examples}): say which is which"
            f" with {argument('method', left[0])} and {argument('dataset', left[-1])}"
        )
    found.insert(
        0, "dataset", frame[told["dataset"]].fillna("data") if "dataset" in told else "data"
    )
    found.insert(
        0, "method", frame[told["method"]].fillna("none") if "method" in told else _own_name(source)
    )
    return found, notes


def _plays(name: str, found: pd.DataFrame, frame: pd.DataFrame) -> bool:
    return any(
        (found[column].astype(str) == frame[name].astype(str)).all() for column in found.columns
    )


def _own_name(source: Source) -> str:
    return source.name or source.path.resolve().name


def _role_of_runs(frame: pd.DataFrame, source: Source, asked: Asked) -> str:
    if asked.unit in KEYS:
        return str(asked.unit)
    some = ", ".join(frame["path.run"].dropna().unique()[:3])
    raise InputError(
        f"{source.where}: the numbers of its runs ({some}, ...) may count folds, seeds or subjects:"
        f" say {argument('unit', 'fold')}, {argument('unit', 'seed')} or"
        f" {argument('unit', 'subject')}"
    )


def _unit_of(found: pd.DataFrame) -> Unit:
    return (
        "subject"
        if "subject" in found
        else "fold"
        if {"fold", "repeat", "seed"} & set(found.columns)
        else "dataset"
    )


def _refuse_doubles(records: pd.DataFrame, metrics: Sequence[str], source: Source) -> None:
    keys = [name for name in records.columns if name not in metrics]
    doubled = records.duplicated(keys)
    if doubled.any():
        row = records[doubled].iloc[0]
        which = ", ".join(
            f"{key} {row[key]}" for key in keys if key != "dataset" or row[key] != "data"
        )
        raise InputError(f"{source.where}: there are two runs of {which}: keep one")


def _spoken(fields: dict[str, str]) -> str:
    return (
        ", ".join(f"{name.removeprefix('path.')} {value}" for name, value in fields.items())
        or "a run"
    )


result_readers.add(
    ResultReader(
        "runs",
        TITLE,
        _read,
        _recognises,
        traps=(
            (
                "A log of training has a row per epoch: one row must hold the metric, or --set row= says"
                " which is the result; a rule that would choose by test rows is refused."
            ),
            "Runs that are only numbered may be folds, seeds or subjects: --unit says it.",
            "A file that cannot be read is left out and named; two files of one unit are refused.",
        ),
        order=90,
    )
)
