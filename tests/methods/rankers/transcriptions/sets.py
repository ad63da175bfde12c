"""The train part of a real set, min-max scaled."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import arff
import numpy as np
from scipy.io import loadmat
from sklearn.preprocessing import MinMaxScaler


class Problem(NamedTuple):
    X: np.ndarray
    Y: np.ndarray


def load(folder: Path, name: str) -> Problem:
    if name == "arts":
        stored = loadmat(next((folder / "arts" / "official_split").glob("*.mat")))
        X, Y = stored["train_data"], stored["train_target"].T > 0
    else:
        X, Y = read_arff(folder / name / f"{name}-train.arff", folder / name / f"{name}.xml")
    return Problem(MinMaxScaler().fit_transform(X), Y.astype(int))


def read_arff(path: Path, labels: Path) -> tuple[np.ndarray, np.ndarray]:
    """Read a set of numbers and 0/1 labels; the sets used here have nothing else."""
    text = path.read_text()
    rows = text[text.lower().index("@data") + 5 :].strip().lower().splitlines()
    is_sparse = rows[0].lstrip().startswith("{")
    content: dict[str, Any] = arff.loads(text, return_type=arff.LOD if is_sparse else arff.DENSE)
    names = [attribute for attribute, _ in content["attributes"]]
    wanted = re.findall(r'label name="([^"]+)"', labels.read_text())
    if is_sparse:
        table = np.zeros((len(content["data"]), len(names)))
        for number, row in enumerate(content["data"]):
            table[number, list(row)] = [float(value) for value in row.values()]
    else:
        table = np.array(content["data"], dtype=float)
    columns = [names.index(name) for name in wanted]
    return np.delete(table, columns, axis=1), table[:, columns]
