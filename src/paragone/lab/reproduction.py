"""Reproduce an experiment: its file and the environment it ran in, out of a report page or a store."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from typing import Any

from paragone.data.output import safe_file_name, whole_folder
from paragone.errors import InputError, unknown_name
from paragone.lab.contents import StoreContents
from paragone.lab.store.opening import HEADER
from paragone.reading import check_size, parse_json

REQUIREMENTS, PYTHON, README = "requirements.txt", ".python-version", "REPRODUCE.md"
_PACKAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.!+_-]*")
_HASH = re.compile(r"[0-9a-f]{64}")
_MAIN = ("paragone", "numpy", "scipy", "scikit-learn", "numba")


FORMAT, VERSION = "paragone-provenance", 1
ELEMENT = "paragone-provenance"
"""The id of the script element that holds the record in a page."""


def experiment_record(results: StoreContents, experiment: str) -> dict[str, Any]:
    """Return all that `paragone store reproduce` needs of an experiment in a store.

    Parameters
    ----------
    results : Results
        An open store.
    experiment : str
        The experiment's name.

    Returns
    -------
    dict
        Its declaration as text, the runs with their provenance, and what identifies the datasets.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from paragone.lab.experiment import Experiment
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "a.sqlite"
    ...     with Experiment(["wine-traits"], {"V": "variance"}, {"folds": 2}, seed=3).run(path, 0) as results:
    ...         record = experiment_record(results, "experiment")
    >>> record["seed"], list(record["datasets"])
    (3, ['wine-traits'])
    """
    described = results.described(experiment)
    runs = results.runs()
    # Runs of a version that did not say whose they were count for every experiment of the store.
    mine = [
        run
        for run in runs.itertuples()
        if run.environment.get("experiment", experiment) == experiment
    ]
    return {
        "format": FORMAT,
        "version": VERSION,
        "experiment": described["name"],
        "seed": described["seed"],
        "declared": results.declared(experiment),
        "data": [str(name) for name in described["data"]],
        "datasets": results.fingerprints(experiment),
        "runs": [
            {"begun_at": run.begun_at, "workers": int(run.workers), "environment": run.environment}
            for run in mine
        ],
    }


@dataclass(frozen=True)
class Reproduction:
    """What was written: the folder, the experiment file, and what the user has to bring.

    Parameters
    ----------
    folder : Path
        Where it stands.
    experiment : str
        The file with the declaration, as it was.
    runnable : bool
        Whether it is an experiment file; one that was declared in Python is a summary in JSON.
    notes : tuple of str
        What is missing, such as own modules and data, and where runs differed.
    """

    folder: Path
    experiment: str
    runnable: bool
    notes: tuple[str, ...]

    def __str__(self) -> str:
        lines = [f"{self.experiment}, {REQUIREMENTS} and {README} written to {self.folder}"]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])


def reproduce(
    source: str | Path, folder: str | Path, experiment: str | None = None
) -> Reproduction:
    """Write an experiment's file and environment as they were.

    Parameters
    ----------
    source : str or Path
        A report page or a store.
    folder : str or Path
        The folder to write; it must not exist, or be empty.
    experiment : str, optional
        Which experiment, where a store holds several.

    Returns
    -------
    Reproduction
        What was written, and what has to be brought.
    """
    record = read_record(Path(source), experiment)
    name, text, runnable = _experiment_file(record)
    environment = _environment(record)
    notes = (*_missing(environment, record, runnable), *_differences(record))
    with whole_folder(Path(folder)) as content:
        (content / name).write_bytes(text.encode("utf-8"))
        _write(content / REQUIREMENTS, _requirements(environment, record["experiment"]))
        _write(content / PYTHON, f"{environment['python']}\n")
        _write(content / README, _readme(record, environment, name, runnable, notes))
    return Reproduction(Path(folder), name, runnable, notes)


def read_record(source: Path, experiment: str | None = None) -> dict[str, Any]:
    """Return the record of an experiment out of a report page or a store."""
    if not source.is_file():
        raise InputError(f"{source}: no such file; give a report page (report.html) or a store")
    with source.open("rb") as file:
        is_store = file.read(len(HEADER)) == HEADER
    if not is_store:
        return _record_of_page(source, experiment)
    with StoreContents.open(source) as results:
        names = results.experiments()
        if experiment is None and len(names) != 1:
            have = ", ".join(names) or "none"
            raise InputError(
                f"{source} holds several experiments or none ({have}): say which with --experiment"
            )
        return _checked(experiment_record(results, experiment or names[0]), str(source))


class _Finder(HTMLParser):
    """Finds the text of the script element with our id; everything else goes by."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.text: str | None = None
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag == "script" and dict(attrs).get("id") == ELEMENT and self.text is None

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.text = (self.text or "") + data

    def handle_endtag(self, tag: str) -> None:
        self._inside = False


def _record_of_page(page: Path, experiment: str | None) -> dict[str, Any]:
    check_size(page.stat().st_size, str(page))
    finder = _Finder()
    try:
        finder.feed(page.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, AssertionError) as error:
        raise InputError(f"{page}: neither a store nor a page ({error})") from error
    if finder.text is None:
        raise InputError(
            f"{page}: neither a store nor a report page of this version: it has no record of its"
            " experiment"
        )
    record = _checked(parse_json(finder.text, f"{page}: its record"), str(page))
    if experiment not in (None, record["experiment"]):
        raise unknown_name(f"experiment in {page}", str(experiment), [record["experiment"]])
    return record


def _checked(record: Any, where: str) -> dict[str, Any]:
    """Refuse a record that is not whole; a page may have been made by anybody."""
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise InputError(f"{where}: its record is none of an experiment")
    if record.get("version") != VERSION:
        raise InputError(
            f"{where}: its record has version {record.get('version')!r}, this Paragone knows"
            f" {VERSION}"
        )
    types = {
        "experiment": str,
        "declared": str,
        "seed": int,
        "data": list,
        "datasets": dict,
        "runs": list,
    }
    for key, kind in types.items():
        if not isinstance(record.get(key), kind):
            raise InputError(f"{where}: its record says nothing about {key}")
    whole = all(
        isinstance(run, dict) and isinstance(run.get("environment"), dict) for run in record["runs"]
    )
    if not whole or not record["experiment"]:
        raise InputError(f"{where}: its record is not whole")
    try:
        record["declared"].encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(f"{where}: the text of its experiment is no UTF-8") from error
    return record


def _experiment_file(record: Mapping[str, Any]) -> tuple[str, str, bool]:
    """Return the name and the text of the experiment file, and whether it can be run."""
    text = record["declared"]
    runnable = not text.lstrip().startswith("{")
    kept = [code.get("file") for code in _code(record) if code.get("what") == "experiment file"]
    name = kept[-1] if kept and isinstance(kept[-1], str) and kept[-1] else record["experiment"]
    # A name out of a page must not lead anywhere, nor take the place of another file.
    stem = PurePosixPath(name.replace("\\", "/")).name.removesuffix(".toml") or "experiment"
    return f"{safe_file_name(stem)[:100]}.{'toml' if runnable else 'json'}", text, runnable


def _environment(record: Mapping[str, Any]) -> dict[str, Any]:
    if not record["runs"]:
        raise InputError(
            f"experiment {record['experiment']!r} was never run: nothing says in which environment"
        )
    environment: dict[str, Any] = dict(record["runs"][-1]["environment"])
    packages = environment.get("packages")
    if not isinstance(packages, dict) or not packages:
        # A run of the first version told the main ones only.
        packages = {name: environment[name] for name in _MAIN if name in environment}
    for name, version in packages.items():
        if not _PACKAGE.fullmatch(str(name)) or not _VERSION.fullmatch(str(version)):
            raise InputError(f"the record names a package that cannot be: {name!r} {version!r}")
    if not _VERSION.fullmatch(str(environment.get("python", ""))):
        raise InputError("the record does not say which Python was used")
    return {**environment, "packages": packages, "python": str(environment["python"])}


def _code(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    runs = record["runs"]
    files = runs[-1]["environment"].get("code") if runs else None
    return [code for code in files if isinstance(code, dict)] if isinstance(files, list) else []


def _missing(
    environment: Mapping[str, Any], record: Mapping[str, Any], runnable: bool
) -> list[str]:
    notes = []
    if not runnable:
        notes.append(
            "the experiment was declared in Python: the file is a summary of it, the script has to"
            " be brought"
        )
    for code in _code(record):
        if code.get("what") == "experiment file":
            continue
        commit = code.get("commit")
        where = (
            f"commit {_plain(commit)} of {_plain(code.get('repository'))}"
            if commit
            else "no repository"
        )
        state = ", changed since" if code.get("dirty") else ""
        notes.append(
            f"bring {_plain(code.get('file'))} ({_plain(code.get('what'))}, {where}{state})"
        )
    if not isinstance(environment.get("packages"), dict) or len(environment["packages"]) <= len(
        _MAIN
    ):
        notes.append("the run told its main packages only: the others are whatever pip chooses")
    return notes


def _differences(record: Mapping[str, Any]) -> list[str]:
    """Name the packages in which earlier runs differed from the last: parts of the scores came from those."""
    versions = [
        {"python": run["environment"].get("python"), **(run["environment"].get("packages") or {})}
        for run in record["runs"]
        if isinstance(run["environment"].get("packages") or {}, dict)
    ]
    differing = sorted(
        {
            str(name)
            for packages in versions
            for name in packages
            if packages[name] != versions[-1].get(name)
        }
    )
    if not differing:
        return []
    shown = ", ".join(_plain(name) for name in differing[:8])
    return [f"earlier runs had other versions of {shown}: parts of the results may come from those"]


def _requirements(environment: Mapping[str, Any], experiment: str) -> str:
    head = [
        (
            f"# The packages that experiment {_plain(experiment)} ran with, under Python"
            f" {environment['python']}."
        ),
        "# pip install -r requirements.txt",
    ]
    return (
        "\n".join(
            [*head, *(f"{name}=={version}" for name, version in environment["packages"].items())]
        )
        + "\n"
    )


def _readme(
    record: Mapping[str, Any],
    environment: Mapping[str, Any],
    name: str,
    runnable: bool,
    notes: tuple[str, ...],
) -> str:
    system = _plain(environment.get("system", "unknown system"))
    lines = [
        f"# {_plain(record['experiment'])}, again",
        "",
        f"Seed {record['seed']}, Python {environment['python']}, {system}.",
        "",
        "    python -m venv again",
        "    again/bin/pip install -r requirements.txt",
    ]
    lines += [f"    again/bin/paragone run {shlex.quote(name)}"] if runnable else []
    lines += [
        "",
        "The data, by the hash of their content; a run with other data has other cells:",
        "",
    ]
    lines += [
        f"- {_plain(dataset)}: {_plain(part)}" for dataset, part in record["datasets"].items()
    ]
    hashes = [code for code in _code(record) if _HASH.fullmatch(str(code.get("sha256")))]
    if hashes:
        lines += ["", "The files of code, by their SHA-256:", ""]
        lines += [f"- {_plain(code.get('file'))}: {code['sha256']}" for code in hashes]
    if notes:
        lines += ["", "To know:", "", *(f"- {note}" for note in notes)]
    return "\n".join(lines) + "\n"


def _plain(value: Any) -> str:
    """Return a text of a record on one line, as nothing but text."""
    return " ".join(str(value).split())[:200].encode("utf-8", "replace").decode()


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
