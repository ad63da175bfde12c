"""Curves as the protocol's JSON documents: parallel lists over the k-grid and over the p-grid."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paragone.protocols import PGrid

Curves = Mapping[str, Sequence[float]]


def kgrid_document(ks: Sequence[float], curves: Curves) -> dict[str, Any]:
    """Return the k-grid document: ``k_values`` and one list a metric.

    Examples
    --------
    >>> kgrid_document([10.0, 20.0], {"micro_f1": [0.5, float("nan")]})
    {'k_values': [10, 20], 'micro_f1': [0.5, None]}
    """
    return {"k_values": [int(k) for k in ks], **{metric: _values(values) for metric, values in curves.items()}}


def pgrid_document(ps: Sequence[float], curves: Curves, grid: PGrid, n_features: int) -> dict[str, Any]:
    """Return the p-grid document: the lists, and of every metric the value at the target and the mean.

    Parameters
    ----------
    ps : sequence of float
        The shares of features.
    curves : mapping of str to sequence of float
        The values of every metric at those shares.
    grid : PGrid
        The grid as declared: it alone knows the target and how a share becomes a number of features.
    n_features : int
        The number of features of the dataset.

    Examples
    --------
    >>> pgrid_document([0.1, 0.2], {"micro_f1": [0.25, 0.75]}, PGrid(0.1, 0.2, 0.1), 20)
    {'p_values': [0.1, 0.2], 'k_values': [2, 4], 'p_target': 0.2, 'micro_f1': [0.25, 0.75],
     'micro_f1_at_p_target': 0.75, 'micro_f1_mean': 0.5}
    """
    points = grid.points(n_features)
    numbers = dict(zip(points.at, points.k, strict=True))
    target = int(np.argmin(np.abs(np.asarray(ps) - grid.target)))
    document: dict[str, Any] = {
        "p_values": list(ps),
        "k_values": [numbers[p] for p in ps],
        "p_target": ps[target],
        **{metric: _values(values) for metric, values in curves.items()},
    }
    for metric, values in curves.items():
        document[f"{metric}_at_p_target"] = _value(values[target])
        document[f"{metric}_mean"] = _value(float(np.mean(values)))
    return document


def write_document(path: Path, document: Mapping[str, Any]) -> None:
    """Write a document as strict JSON: an undefined value is null."""
    path.write_text(json.dumps(document, indent=1, allow_nan=False) + "\n", encoding="utf-8", newline="\n")


def _values(values: Sequence[float]) -> list[float | None]:
    return [_value(value) for value in values]


def _value(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
