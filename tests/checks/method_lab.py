"""A folder with methods that leak (``method_leaks``), and every kind of file that holds rows with their labels."""

from __future__ import annotations

import json
import pickle
import shutil
import socket
import sqlite3
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import paragone
from paragone import Experiment
from paragone.checks.finding import Audit
from paragone.data import Dataset
from paragone.protocols import Predict

LEAKS = Path(__file__).parent / "method_leaks"
METHOD_CODES = ("PG110", "PG111", "PG141", "PG142", "PG143", "PG144", "PG201")


def noise(n: int = 80, seed: int = 4) -> Dataset:
    """Features and labels that have nothing to do with each other, with decimals that a text file keeps."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3)).round(4)
    return Dataset("noise", X, random.permutation(np.arange(n) % 2), "classification")


def known_labels(data: Dataset) -> dict[str, Any]:
    """Every row with its label, as the lookups know them."""
    rows = zip(data.X, data.y.tolist(), strict=True)
    return {" ".join(f"{value:.6f}" for value in row): label for row, label in rows}


@contextmanager
def leaky_folder(data: Dataset) -> Iterator[Path]:
    """Lay out the modules of ``method_leaks`` with files of all labels, and a program that tells them."""
    with (
        tempfile.TemporaryDirectory() as scratch,
        socket.create_server(("127.0.0.1", 0)) as listening,
    ):
        place = Path(scratch) / "lab"
        shutil.copytree(LEAKS, place)
        _write_labels(place, data)
        (place / "port.py").write_text(str(listening.getsockname()[1]))
        answer = json.dumps(known_labels(data)).encode()
        threading.Thread(target=_serve, args=(listening, answer), daemon=True).start()
        sys.path.insert(0, str(place))
        try:
            yield place
        finally:
            sys.path.remove(str(place))
            for name in [file.stem for file in place.glob("*.py")]:
                sys.modules.pop(name, None)


def _write_labels(place: Path, data: Dataset) -> None:
    known = known_labels(data)
    text = "\n".join(",".join([*name.split(), str(label)]) for name, label in known.items())
    for name in ("rows.csv", "at_import.csv", "rows.measured"):
        (place / name).write_text(text)
    if data.y.ndim == 1:
        np.save(place / "rows.npy", np.column_stack([data.X, data.y]))
    (place / "rows.pkl").write_bytes(pickle.dumps(known))
    (place / "typed_in.py").write_text(f"LABELS = {known!r}\n")
    with sqlite3.connect(place / "rows.sqlite") as database:
        database.execute("CREATE TABLE rows (name TEXT, label TEXT)")
        database.executemany(
            "INSERT INTO rows VALUES (?, ?)", [(name, str(label)) for name, label in known.items()]
        )
    database.close()


def _serve(listening: socket.socket, answer: bytes) -> None:
    while True:
        try:
            connection, _ = listening.accept()
        except OSError:
            return
        with connection:
            connection.sendall(answer)


def found_codes(audit: Audit) -> dict[str, set[str]]:
    """The codes about methods, of every method that has one."""
    found: dict[str, set[str]] = {}
    for finding in audit.findings:
        if finding.code in METHOD_CODES:
            found.setdefault(finding.method, set()).add(finding.code)
    return found


def leaky(
    module: str, *names: str, data: Dataset | None = None, protocol: Any = None
) -> Experiment:
    """An experiment with methods of one of the modules."""
    methods = {name: f"{module}:{name}" for name in names}
    return Experiment([data or noise()], methods, {"folds": 2}, protocol or Predict(), name="lab")


def codes_of_method(
    module: str, name: str, data: Dataset, protocol: Any = None, seed: int = 0
) -> set[str]:
    """Audit one method of one module, every cell in a process of its own."""
    with leaky_folder(data):
        found = paragone.audit(leaky(module, name, data=data, protocol=protocol), seed=seed)
    return found_codes(found).get(name, set())
