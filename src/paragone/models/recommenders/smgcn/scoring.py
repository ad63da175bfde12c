"""Scores of a trained SMGCN from its final embeddings, in NumPy: no network is needed any more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from paragone.validation import FloatArray

Float32Array = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class FinalEmbeddings:
    """What scoring needs: embeddings of tokens and items, and the syndrome layer."""

    tokens: Float32Array
    items: Float32Array
    weight: Float32Array
    bias: Float32Array

    def score(self, queries: Any) -> FloatArray:
        """Return the logits of all items; a query without tokens has the syndrome of the zero vector."""
        syndromes = mean_rows(queries) @ self.tokens
        hidden = np.maximum(syndromes @ self.weight + self.bias, np.float32(0.0))
        return np.asarray(hidden @ self.items.T, dtype=np.float64)


def mean_rows(queries: sparse.csr_array) -> sparse.csr_array:
    """Divide every row by its sum; a row of zeros stays."""
    rows = sparse.csr_array(queries, dtype=np.float32)
    sums = np.asarray(rows.sum(axis=1)).ravel()
    scale = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 0)
    return sparse.csr_array(sparse.diags_array(scale.astype(np.float32)) @ rows)
