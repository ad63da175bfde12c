"""What the page tells of the runs: machine, threads, seeds, versions, and the state of the user's code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from paragone.reporting.page_model import Block, Listing, Sheet
from paragone.results import Results
from paragone.tables import Column, Table

MAIN = ("paragone", "python", "numpy", "scipy", "scikit-learn", "numba")


def run_blocks(results: Results, experiment: str) -> list[Block]:
    """Return the tables of an experiment's runs, of what they ran with, and the versions of all packages."""
    runs = results.runs()
    mine = [run for run in runs.itertuples() if run.environment.get("experiment", experiment) == experiment]
    rows = [
        [str(run.run), run.begun_at, str(run.workers), run.environment.get("system", ""), _versions(run.environment)]
        for run in mine
    ]
    blocks: list[Block] = [_sheet("runs", "Runs, machine and versions", ROW_NAMES, rows)]
    facts = [[str(run.run), *fact] for run in mine for fact in run_facts(run.environment)]
    if facts:
        blocks.append(_sheet("provenance", "What the runs ran with", ("run", "what", "which"), facts))
    packages = [run.environment["packages"] for run in mine if run.environment.get("packages")]
    if packages:
        text = "\n".join(f"{name}=={version}" for name, version in packages[-1].items())
        blocks.append(Listing("The packages of the last run, pinned", text))
    return blocks


ISOLATION = {
    "cell": "each in a process of its own",
    "worker": "one process per worker: what a method left behind in it could reach the next cell",
    "none": "all in one process: what a method left behind in it could reach the next cell",
}
"""What is said of the kinds of isolation."""
ROW_NAMES = ("run", "begun at", "workers", "system", "versions")


def main_versions(environment: Mapping[str, Any]) -> dict[str, str]:
    """Return the versions that a methods paragraph names.

    Examples
    --------
    >>> main_versions({"python": "3.12.1", "system": "Linux", "seed": 1, "paragone": "0.1.0"})
    {'paragone': '0.1.0', 'python': '3.12.1'}
    """
    return {name: str(environment[name]) for name in MAIN if name in environment}


def run_facts(environment: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what a run recorded of its seed, machine, threads and code, in words; nothing for an old one.

    Examples
    --------
    >>> list(run_facts({"seed": 3, "code": [{"what": "experiment file", "file": "a.toml", "sha256": "ab" * 32}]}))
    [('seed', '3'), ('experiment file', 'a.toml, SHA-256 abababababab, in no git repository')]
    """
    if "seed" in environment:
        yield "seed", str(environment["seed"])
    machine = environment.get("machine") or {}
    if machine:
        memory = machine.get("memory_bytes")
        size = f", {memory / 2**30:.0f} GiB of memory" if memory else ""
        yield "machine", f"{machine.get('processor')}, {machine.get('cores')} cores{size}"
    if "isolation" in environment:
        yield "cells", ISOLATION.get(environment["isolation"], str(environment["isolation"]))
    threads = environment.get("threads") or {}
    if threads:
        told = [f"{threads.get('a cell')} a cell"]
        told += [f"{name}={value}" for name, value in threads.get("variables", {}).items()]
        yield "threads", ", ".join(told)
        pools = [" ".join(str(part) for part in pool.values()) for pool in threads.get("libraries", ())]
        if pools:
            yield "libraries with threads", ", ".join(pools)
    for code in environment.get("code") or ():
        yield str(code.get("what")), f"{code.get('file')}, SHA-256 {str(code.get('sha256'))[:12]}, {_commit(code)}"
    if environment.get("checkout"):
        yield "Paragone's sources", _commit(environment["checkout"])


def _commit(code: Mapping[str, Any]) -> str:
    if not code.get("commit"):
        return "in no git repository"
    state = "with changes that are not committed" if code.get("dirty") else "clean"
    return f"commit {code['commit'][:12]} of {code.get('repository')}, {state}"


def _versions(environment: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {version}" for name, version in main_versions(environment).items())


def _sheet(name: str, title: str, columns: tuple[str, ...], rows: list[list[str]]) -> Sheet:
    return Sheet(name, title, Table.of([Column(column, "left") for column in columns], rows))
