"""Folders of runs as training scripts leave them: one file or sub-folder per fold, subject or seed, at any depth."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from paragone.errors import InputError, argument
from paragone.intake.folders import few
from paragone.intake.plain_yaml import plain_list, plain_yaml
from paragone.intake.reader import Asked, ResultReader, result_readers
from paragone.intake.records import KEYS, Records, unit_of
from paragone.intake.roles import ROLES, assign_roles, find_field
from paragone.intake.run_files import (
    SUFFIXES,
    check_rule,
    metrics_in,
    name_in,
    rows_of,
    said_rule,
    value_of,
)
from paragone.intake.source import Source

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
_WORD = "|".join(sorted(_ROLE_OF, key=len, reverse=True))
_TOKEN = re.compile(rf"(?<![a-z])({_WORD})[_\-= ]?(\d+)(?!\d)", re.IGNORECASE)
_SHORT = re.compile(r"^([sp])(\d+)$", re.IGNORECASE)
_NUMBER = re.compile(r"^()(\d+)$")
_DATED = re.compile(r"_\d{4}-\d{2}-\d{2}_\d{2}-\d{2}-\d{2}\w*$")
RAY = ("result.json", "progress.csv", "params.json")


def _walk(folder: Path, most: int) -> Iterator[Path]:
    """Go through the files of a folder that may hold results, hidden ones left out, in order."""
    count = 0
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        # Ray writes the same rows twice, and settings that are no results.
        twice = RAY[1:] if RAY[0] in files else ()
        for name in sorted(set(files) - set(twice)):
            ending = Path(name.removesuffix(".gz")).suffix.lower()
            if not name.startswith(".") and ending in SUFFIXES:
                yield Path(place) / name
                count += 1
                if count >= most:
                    return


def _fields(folder: Path, path: Path, whole: Sequence[str]) -> dict[str, str]:
    """Take a path apart: numbers behind a known word are keys, what is left of a level is its name.

    Levels that the user names are taken as they are.
    """
    inside = path.relative_to(folder)
    names = {f"path{place}": part for place, part in enumerate(inside.parts[:-1], start=1)}
    names["file"] = inside.name.removesuffix(".gz").rsplit(".", 1)[0]
    keys: dict[str, str] = {}
    levels: dict[str, str] = {}
    for level, part in names.items():
        rest = _DATED.sub("", part)
        tokens = [*_TOKEN.finditer(part), *_SHORT.finditer(part), *_NUMBER.finditer(part)]
        for token in () if level in whole else tokens:
            role = _ROLE_OF.get(token[1].lower(), "subject" if token[1] else "run")
            if keys.setdefault(f"path.{role}", str(int(token[2]))) == str(int(token[2])):
                rest = rest.replace(token[0], "", 1)
        levels[level] = rest if rest == part else rest.strip("_- ,=")
    # Where folders tell units apart, several files make up a run and their names tell nothing.
    if keys and levels["file"] == names["file"] and "file" not in whole:
        del levels["file"]
    return {name: text for name, text in levels.items() if text} | keys


def _is_grid(frame: pd.DataFrame, levels: Sequence[str]) -> bool:
    """Whether every name of one level stands with every name of the other."""
    sizes = [frame[level].nunique() for level in levels]
    pairs = frame[list(levels)].drop_duplicates()
    return len(levels) == 2 and min(sizes) > 1 and len(pairs) == sizes[0] * sizes[1]


def _recognises(source: Source) -> bool:
    if not source.is_folder:
        return False
    paths = list(_walk(source.path, LOOKED_AT))
    frame = pd.DataFrame([_fields(source.path, path, ()) for path in paths])
    keys = [name for name in frame if name.startswith("path.")]
    places = frame[keys].dropna(how="all").drop_duplicates().index
    if len(places) < 2:
        settings = [(path.parent / name).exists() for path in paths for name in (".hydra", RAY[2])]
        grid = bool(paths) and not frame.isna().any(axis=None) and _is_grid(frame, [*frame])
        grid = grid and result_readers.get("json-values").recognises(Source(paths[0]))
        places = frame.index if grid or sum(settings) > 1 else []
    looked = [paths[place] for place in places[:3]]
    asked = {one for path in looked for one in (path, path.parent)} - {source.path}
    others = [one for one in result_readers if one.name != "runs" and one.order < VALUES]
    return bool(asked) and not any(one.recognises(Source(path)) for one in others for path in asked)


def _read(source: Source, asked: Asked) -> Records:
    if not source.is_folder:
        raise InputError(f"{source.where} is a file; {TITLE} are folders")
    check_rule(asked.row)
    files = list(_walk(source.path, MOST_FILES + 1))
    if len(files) > MOST_FILES:
        raise InputError(
            f"{source.where} holds more than {MOST_FILES} files: name a folder further down"
        )
    wanted, told = asked.value or asked.metric, _told(asked)
    runs: dict[tuple[tuple[str, str], ...], dict[str, Any]] = {}
    metrics: dict[str, bool | None] = {}
    having: set[str] = set()
    without: list[Path] = []
    unread: list[str] = []
    logs = asked.row is not None
    for path in files:
        where = str(path.relative_to(source.path))
        try:
            rows = rows_of(Source(path))
        except InputError:
            unread.append(where)
            continue
        names = {name: name for name in metrics_in(rows)}
        if wanted is not None:
            own = name_in(rows, wanted)
            names = {wanted: own} if own else {}
        if not names:
            without.append(path)
            continue
        having.add(_kind(path))
        logs |= len(rows) > 1
        fields = _fields(source.path, path, [*told]) | _settings(source.path, path)
        run = runs.setdefault(tuple(sorted(fields.items())), dict(fields))
        for name, own in names.items():
            value = value_of(rows, own, asked.row, f"{source.where}: {where}")
            if run.setdefault(name, value) != value:
                raise InputError(
                    f"{source.where}: {name} of {_spoken(fields)} stands in two files ({where} is"
                    f" the second): keep one, or say {argument('method', 'file')} where files are"
                    " methods"
                )
            metrics[name] = None
    if not metrics:
        what = f"a number called {wanted!r}" if wanted else "a number that is a metric by its name"
        say = "" if wanted else f": say {argument('metric', 'NAME')}"
        raise InputError(
            f"{source.where}: none of {len(files)} files holds {what}{say} ({len(unread)} cannot be"
            " read)"
        )
    frame = pd.DataFrame(list(runs.values()))
    records, notes = _named(frame.drop(columns=[*metrics]), told, source, asked)
    doubled = records.duplicated()
    if doubled.any():
        which = _spoken(records[doubled].iloc[0].to_dict())
        raise InputError(f"{source.where}: there are two runs of {which}: keep one")
    dropped = {
        f"files without {wanted or 'a metric'}": sum(_kind(one) in having for one in without),
        "files that cannot be read": len(unread),
    }
    notes += [f"Could not be read: {few(unread)}."] if unread else []
    notes += [said_rule(asked.row)] if logs else []
    return Records(
        records.join(frame[[*metrics]].astype(float)),
        unit_of(records),
        metrics,
        source,
        dropped=dropped,
        notes=tuple(notes),
    )


def _kind(path: Path) -> str:
    """Return what files of one kind are called, whatever they are numbered."""
    return re.sub(r"\d+", "#", path.name)


def _told(asked: Asked) -> dict[str, str]:
    """Return the roles of levels as the user says; a level that tells units apart holds seeds, unless it is said."""
    told = {name: role for role in ("method", "dataset") for name in asked.named(role)}
    if asked.unit is not None and asked.unit not in KEYS:
        told[asked.unit] = "seed"
    return told | dict(asked.columns)


def _settings(folder: Path, path: Path) -> dict[str, str]:
    """Return what Hydra overrode for a run, or what Ray was told of it."""
    for above in (path.parent, *path.parent.parents):
        if (above / ".hydra").is_dir():
            return _hydra(above / ".hydra")
        if (above / RAY[2]).is_file():
            told = Source(above / RAY[2]).json()
            return {f"config.{key}": one for key, one in told.items() if isinstance(one, str)}
        if above == folder:
            break
    return {}


def _hydra(folder: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in ("config.yaml", "overrides.yaml"):
        path = folder / name
        text = Source(path).content().decode("utf-8", "replace") if path.is_file() else ""
        for entry in plain_list(text):
            key, _, value = entry.lstrip("+~").partition("=")
            if value:
                found[f"config.{key}"] = value
        values = {f"config.{key}": value for key, value in plain_yaml(text).items()}
        for role in ROLES:
            field = find_field([*values], role)
            if field is not None:
                found[field] = values[field]
    return found


def _named(
    frame: pd.DataFrame, told: Mapping[str, str], source: Source, asked: Asked
) -> tuple[pd.DataFrame, list[str]]:
    """Return method, dataset and keys of every run, from the parts of the paths that differ and the settings."""
    differing = [name for name in frame if frame[name].nunique(dropna=False) > 1]
    config = [name for name in differing if name.startswith("config.")]
    own = source.name or source.path.resolve().name
    if config:
        # Settings tell runs apart better than the numbers of jobs do.
        path = [name for name in differing if name.startswith("path.") and name != "path.run"]
        found, _ = assign_roles(frame, [*config, *path], asked, source.where, method=own)
        used = [name for name in config if not any(found[c].eq(frame[name]).all() for c in found)]
        if used and found.duplicated().any():
            raise InputError(
                f"{source.where}: runs differ in {few(used)} too: say what it is,"
                f" {argument('method', used[0])} or {argument('unit', used[0])}"
            )
        return found, []
    roles = {name: role for name, role in told.items() if name in frame}
    keys = [name for name in differing if name.startswith("path.")]
    for name in keys:
        role = roles[name] = name.removeprefix("path.")
        if asked.unit in KEYS and (role == "run" or len(keys) == 1):
            roles[name] = str(asked.unit)
        elif role == "run":
            raise InputError(
                f"{source.where}: the numbers of its runs ({few(frame[name].dropna().unique())})"
                f" may count folds, seeds or subjects: say {argument('unit', 'fold')},"
                f" {argument('unit', 'seed')} or {argument('unit', 'subject')}"
            )
        if frame[name].isna().any():
            raise InputError(
                f"{source.where}: some paths have a {role} and others have none: name the right"
                " folder"
            )
    left = [name for name in differing if name not in roles]
    free = [role for role in ("method", "dataset") if role not in roles.values()]
    if (source.name or not source.alone) and "method" in free and len(left) < 2:
        free.remove("method")
    if len(left) > len(free) or (len(left) == 2 and not _is_grid(frame, left)):
        raise InputError(_question(frame, left, free, source))
    notes = []
    for name, role in zip(left, free, strict=False):
        roles[name] = role
        shown = few(sorted(frame[name].dropna().unique()))
        notes.append(f"{shown} in {source.path.name} are read as {role}s.")
    found = pd.DataFrame(index=frame.index)
    for role, usual in (("method", own), ("dataset", "data"), *((key, None) for key in KEYS)):
        names = [name for name, plays in roles.items() if plays == role]
        if names:
            parts = frame[names].fillna("none" if role == "method" else "data")
            found[role] = parts.agg("/".join, axis=1)
        elif usual:
            found[role] = usual
    return found, notes


def _question(frame: pd.DataFrame, left: list[str], free: Sequence[str], source: Source) -> str:
    """Return the question what the levels are, with an answer that can be pasted."""
    examples = "; ".join(f"{name}: {few(frame[name].dropna().unique())}" for name in left)
    say = [argument(role, name) for role, name in zip(free, left, strict=False)]
    say += [argument("columns", {name: "ignore"}) for name in left[len(free) :]]
    return (
        f"{source.where}: the paths differ in several names ({examples}): say which are which, as"
        f" in {' '.join(say)}"
    )


def _spoken(fields: Mapping[str, str]) -> str:
    named = {name.removeprefix("path."): value for name, value in fields.items()}
    return (
        ", ".join(f"{name} {value}" for name, value in named.items() if value != "data") or "a run"
    )


result_readers.add(
    ResultReader(
        "runs",
        TITLE,
        _read,
        _recognises,
        traps=(
            "Of a log of training one row is the result; --set row= says which, never by test rows.",
            "Runs that are only numbered may be folds, seeds or subjects: --unit says it.",
            "A level of folders is --method pathN, --dataset pathN, or --column pathN=ignore.",
            "A file that cannot be read is left out and named; two files of one unit are refused.",
        ),
        order=90,
    )
)
