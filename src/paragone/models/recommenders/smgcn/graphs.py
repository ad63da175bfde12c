"""The three graphs of SMGCN: who occurs with whom in the training prescriptions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from paragone.data.prescriptions import Prescriptions, cooccurring_pairs, read_pairs
from paragone.errors import InputError
from paragone.validation import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Graphs:
    """What message passing runs over.

    Attributes
    ----------
    propagation : csr_array of shape (n_tokens + n_items, n_tokens + n_items)
        Row-normalised ``A + I`` of the bipartite graph of tokens and items, tokens first.
    token_synergy, item_synergy : csr_array
        Binary pair graphs plus the identity, not normalised.
    item_frequency : ndarray
        Training rows that hold each item.
    """

    propagation: sparse.csr_array
    token_synergy: sparse.csr_array
    item_synergy: sparse.csr_array
    item_frequency: FloatArray


def build_graphs(train: Prescriptions, token_pairs: IntArray, item_pairs: IntArray) -> Graphs:
    """Build the graphs from training rows and the pairs of tokens and of items that go together.

    Examples
    --------
    >>> import numpy as np
    >>> from paragone.data.prescriptions import Prescriptions
    >>> train = Prescriptions.from_rows([([0], [0]), ([0], [1])])
    >>> none = np.empty((0, 2), dtype=np.int64)
    >>> build_graphs(train, none, none).propagation.toarray().round(2)
    array([[0.33, 0.33, 0.33],
           [0.5 , 0.5 , 0.  ],
           [0.5 , 0.  , 0.5 ]])
    """
    answers = train.multi_hot()
    together = (train.queries.T @ answers).tocsr()
    together.data[:] = 1.0
    blocks = sparse.block_array([[None, together], [together.T, None]], format="csr")
    adjacency = sparse.csr_array(blocks + sparse.eye_array(train.n_tokens + train.n_items))
    degrees = np.asarray(adjacency.sum(axis=1)).ravel()
    propagation = sparse.csr_array(sparse.diags_array(1.0 / degrees) @ adjacency)
    return Graphs(
        propagation,
        _synergy(token_pairs, train.n_tokens, "token"),
        _synergy(item_pairs, train.n_items, "item"),
        np.asarray(answers.sum(axis=0)).ravel(),
    )


def _synergy(pairs: IntArray, size: int, kind: str) -> sparse.csr_array:
    if len(pairs) and int(pairs.max()) >= size:
        raise InputError(f"{kind} pairs name id {int(pairs.max())}, there are {size} {kind}s, numbered from 0")
    ones = np.ones(len(pairs))
    half = sparse.coo_array((ones, (pairs[:, 0], pairs[:, 1])), shape=(size, size)).tocsr()
    graph = sparse.csr_array(half + half.T + sparse.eye_array(size))
    graph.data = np.minimum(graph.data, 1.0)
    return graph


def pairs_from(given: str | Path | IntArray | None, matrix: sparse.csr_array, at_least: int) -> IntArray:
    """Return the pairs of a file or an array, or make them from training rows where none are given."""
    if given is None:
        return cooccurring_pairs(matrix, at_least)
    if isinstance(given, (str, Path)):
        return read_pairs(given, n_ids=matrix.shape[1])
    pairs = np.asarray(given, dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise InputError(f"pairs must have two columns, their shape is {pairs.shape}")
    return pairs
