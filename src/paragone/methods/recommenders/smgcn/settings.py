"""What SMGCN is configured by and learns from: its settings, its graphs, and PyTorch where it is installed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from paragone.data.prescriptions import Prescriptions, cooccurring_pairs, read_pairs
from paragone.errors import InputError, unknown_name
from paragone.validation import FloatArray, IntArray

LOSSES = ("bce", "weighted_mse")
FUSIONS = ("add", "concat")
# The published rate suits the published loss; cross-entropy converges with a larger one.
LEARNING_RATES = {"bce": 1e-3, "weighted_mse": 2e-4}


@dataclass(frozen=True)
class SMGCNSettings:
    """Checked parameters of one training run; `SMGCN` says what they mean."""

    loss: str
    fusion: str
    widths: tuple[int, ...]
    dropout: float
    learning_rate: float
    penalty: float
    batch_size: int
    max_epochs: int
    evaluate_every: int
    patience: int | None
    choose_by: tuple[str, int]
    ks: tuple[int, ...]
    n_threads: int
    device: str
    seed: int

    def __post_init__(self) -> None:
        for what, value, known in (("loss", self.loss, LOSSES), ("fusion", self.fusion, FUSIONS)):
            if value not in known:
                raise unknown_name(f"smgcn {what}", value, known)
        if not 0 <= self.dropout < 1:
            raise InputError(f"smgcn: dropout must lie in [0, 1), it is {self.dropout}")
        if len(self.widths) < 2 or min(self.widths) < 1:
            raise InputError(
                f"smgcn: widths must be two or more positive sizes, they are {self.widths}"
            )
        positive = {
            "learning_rate": self.learning_rate,
            "batch_size": self.batch_size,
            "max_epochs": self.max_epochs,
            "evaluate_every": self.evaluate_every,
            "n_threads": self.n_threads,
            "patience": 1 if self.patience is None else self.patience,
        }
        for name, number in positive.items():
            if not number > 0:
                raise InputError(f"smgcn: {name} must be above 0, it is {number}")
        if self.penalty < 0:
            raise InputError(f"smgcn: penalty must not be negative, it is {self.penalty}")

    def as_json(self) -> dict[str, object]:
        """Return the settings as JSON can hold them."""
        return {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in asdict(self).items()
        }


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
        raise InputError(
            f"{kind} pairs name id {int(pairs.max())}, there are {size} {kind}s, numbered from 0"
        )
    ones = np.ones(len(pairs))
    half = sparse.coo_array((ones, (pairs[:, 0], pairs[:, 1])), shape=(size, size)).tocsr()
    graph = sparse.csr_array(half + half.T + sparse.eye_array(size))
    graph.data = np.minimum(graph.data, 1.0)
    return graph


def pairs_from(
    given: str | Path | IntArray | None, matrix: sparse.csr_array, at_least: int
) -> IntArray:
    """Return the pairs of a file or an array, or make them from training rows where none are given."""
    if given is None:
        return cooccurring_pairs(matrix, at_least)
    if isinstance(given, (str, Path)):
        return read_pairs(given, n_ids=matrix.shape[1])
    pairs = np.asarray(given, dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise InputError(f"pairs must have two columns, their shape is {pairs.shape}")
    return pairs


def require_torch() -> Any:
    """Return the torch module, or say how to install it."""
    try:
        return import_module("torch")
    except ImportError as error:
        raise InputError(
            "smgcn needs PyTorch, which is not installed: pip install 'paragone[recsys]' (or pip"
            " install torch)"
        ) from error
