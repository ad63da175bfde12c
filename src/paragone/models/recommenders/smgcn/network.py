"""The SMGCN network in PyTorch. Import it only where torch is there (see `torch_import`)."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import torch
from scipy import sparse
from torch import nn
from torch.nn import functional

from paragone.models.recommenders.smgcn.graphs import Graphs


class Tower(nn.Module):
    """Bipartite graph convolutions that end in the embeddings of one side."""

    def __init__(self, widths: tuple[int, ...], dropout: float) -> None:
        super().__init__()
        steps = list(itertools.pairwise(widths))
        self.messages = nn.ParameterList([nn.Parameter(torch.empty(width, width)) for width, _ in steps])
        self.weights = nn.ParameterList([nn.Parameter(torch.empty(2 * width, after)) for width, after in steps])
        self.biases = nn.ParameterList([nn.Parameter(torch.empty(1, after)) for _, after in steps])
        self.dropout = dropout

    def forward(self, embedded: Any, first_sums: Any, propagation: Any, own: Any, own_rows: slice) -> Any:
        """Return the last layer, rows of the own side, L2-normalised.

        ``first_sums`` is ``propagation @ embedded``, which the two towers share. The last layer is computed
        for the own rows only: nothing else of it is used.
        """
        hidden, sums = embedded, first_sums
        last = len(self.weights) - 1
        for layer in range(len(self.weights)):
            if layer == last:
                sums = sums[own_rows] if layer == 0 else torch.sparse.mm(own, hidden)
                hidden = hidden[own_rows]
            elif layer > 0:
                sums = torch.sparse.mm(propagation, hidden)
            neighbours = torch.tanh(sums @ self.messages[layer])
            joined = torch.cat([hidden, neighbours], dim=1)
            hidden = torch.tanh(joined @ self.weights[layer] + self.biases[layer])
            hidden = functional.dropout(hidden, self.dropout, self.training)
        return functional.normalize(hidden, dim=1)


class Network(nn.Module):
    """Embeddings, two towers, synergy graphs, and the syndrome layer.

    The graphs are held dense where ``dense`` is set: a GPU multiplies a thousand nodes faster than it finds its way
    through a sparse matrix, a CPU does not.
    """

    def __init__(
        self, graphs: Graphs, widths: tuple[int, ...], dropout: float, fusion: str, *, dense: bool = False
    ) -> None:
        super().__init__()
        n_tokens = graphs.token_synergy.shape[0]
        n_items = graphs.item_synergy.shape[0]
        self.fusion = fusion
        self.token_rows = slice(0, n_tokens)
        self.item_rows = slice(n_tokens, n_tokens + n_items)
        self.token_embedding = nn.Parameter(torch.empty(n_tokens, widths[0]))
        self.item_embedding = nn.Parameter(torch.empty(n_items, widths[0]))
        self.token_tower = Tower(widths, dropout)
        self.item_tower = Tower(widths, dropout)
        self.token_synergy_weight = nn.Parameter(torch.empty(widths[0], widths[-1]))
        self.item_synergy_weight = nn.Parameter(torch.empty(widths[0], widths[-1]))
        size = widths[-1] * (2 if fusion == "concat" else 1)
        self.syndrome_weight = nn.Parameter(torch.empty(size, size))
        self.syndrome_bias = nn.Parameter(torch.empty(1, size))
        for parameter in self.parameters():
            nn.init.xavier_uniform_(parameter)
        for name, matrix in (
            ("propagation", graphs.propagation),
            ("token_part", graphs.propagation[self.token_rows]),
            ("item_part", graphs.propagation[self.item_rows]),
            ("token_graph", graphs.token_synergy),
            ("item_graph", graphs.item_synergy),
        ):
            held = torch.as_tensor(matrix.toarray(), dtype=torch.float32) if dense else csr_tensor(matrix)
            self.register_buffer(name, held, persistent=False)

    def embeddings(self) -> tuple[Any, Any]:
        """Return the final embeddings of the tokens and of the items."""
        embedded = torch.cat([self.token_embedding, self.item_embedding])
        sums = torch.sparse.mm(self.propagation, embedded)
        tokens = self.token_tower(embedded, sums, self.propagation, self.token_part, self.token_rows)
        items = self.item_tower(embedded, sums, self.propagation, self.item_part, self.item_rows)
        token_pairs = torch.tanh(torch.sparse.mm(self.token_graph, self.token_embedding) @ self.token_synergy_weight)
        item_pairs = torch.tanh(torch.sparse.mm(self.item_graph, self.item_embedding) @ self.item_synergy_weight)
        if self.fusion == "concat":
            return torch.cat([tokens, token_pairs], dim=1), torch.cat([items, item_pairs], dim=1)
        return tokens + token_pairs, items + item_pairs

    def logits(self, mean_queries: Any, tokens: Any, items: Any) -> Any:
        """Score all items for queries given as rows of token weights that sum to one."""
        syndromes = functional.relu((mean_queries @ tokens) @ self.syndrome_weight + self.syndrome_bias)
        return syndromes @ items.T


def csr_tensor(matrix: sparse.csr_array) -> Any:
    """Return a SciPy matrix as a float32 CSR tensor."""
    ordered = sparse.csr_array(matrix)
    ordered.sort_indices()
    with warnings.catch_warnings():
        # Said once a process by every use of the layout; nothing here depends on what may change.
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        return torch.sparse_csr_tensor(
            torch.as_tensor(ordered.indptr, dtype=torch.int64),
            torch.as_tensor(ordered.indices, dtype=torch.int64),
            torch.as_tensor(ordered.data, dtype=torch.float32),
            size=ordered.shape,
            check_invariants=True,
        )
