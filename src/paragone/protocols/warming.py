"""Warming: load the compiled kernels of protocols once, in the process that the cells are forked from."""

from __future__ import annotations

import numpy as np

from paragone.cells import Fitted, SplitData
from paragone.plugins import Method
from paragone.protocols.curve import Curve
from paragone.protocols.grids import KGrid


def load_curve_kernels() -> None:
    """Score a tiny curve with every metric: loading a kernel from Numba's cache takes longer than a small cell.

    Examples
    --------
    >>> load_curve_kernels()
    """
    X = np.arange(24.0).reshape(8, 3)
    Y = (np.arange(16).reshape(8, 2) % 3 == 0).astype(np.int8)
    data = SplitData(X, Y, X[:4], Y[:4], task="multilabel")
    curve = Curve(k=KGrid(1, 3, 1), evaluator=Method.declare({"use": "mlknn", "params": {"n_neighbors": 2}}))
    curve.score(Fitted({"ranking": np.arange(3)}), data, 0)
