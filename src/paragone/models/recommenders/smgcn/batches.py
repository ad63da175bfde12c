"""Batches of training rows as tensors: sparse on a CPU, resident and dense on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from paragone.data.prescriptions import Prescriptions
from paragone.models.recommenders.smgcn.network import csr_tensor
from paragone.models.recommenders.smgcn.scoring import mean_rows

# Training rows up to this size are kept on a GPU as they are; larger ones are sent batch by batch.
_RESIDENT_BYTES = 4 << 30


class Batches:
    """The training rows, handed out by row numbers."""

    def __init__(self, train: Prescriptions, device: Any) -> None:
        self.device = device
        self.n_rows = train.n_rows
        self.queries = mean_rows(train.queries)
        self.answers = train.multi_hot().astype(np.float32)
        size = 4 * train.n_rows * (train.n_tokens + train.n_items)
        self.resident: tuple[Any, Any] | None = None
        if device.type != "cpu" and size <= _RESIDENT_BYTES:
            dense = [torch.as_tensor(part.toarray(), device=device) for part in (self.queries, self.answers)]
            self.resident = (dense[0], dense[1])

    def take(self, rows: Any) -> tuple[Any, Any, Any]:
        """Return mean queries, the tokens that are present (0 or 1), and targets of some rows."""
        if self.resident is not None:
            chosen = torch.as_tensor(rows, device=self.device)
            queries = self.resident[0][chosen]
            return queries, (queries > 0).any(dim=0).to(queries.dtype), self.resident[1][chosen]
        part = self.queries[rows]
        present = torch.as_tensor((part.sum(axis=0) > 0).astype(np.float32), device=self.device)
        targets = torch.as_tensor(self.answers[rows].toarray(), device=self.device)
        return csr_tensor(part).to(self.device), present, targets
