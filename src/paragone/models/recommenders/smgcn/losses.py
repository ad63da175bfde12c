"""The two losses of SMGCN, and the penalty on the final embeddings."""

from __future__ import annotations

from typing import Any

from torch.nn import functional

LOSSES = ("bce", "weighted_mse")


def sample_loss(kind: str, logits: Any, targets: Any, item_weights: Any) -> Any:
    """Return the loss summed over items and averaged over the samples of the batch.

    ``weighted_mse`` is the published one, ``sum_h w_h (y - sigmoid)^2`` with ``w_h = max_freq / freq_h``; ``bce`` is
    the binary cross-entropy of the logits.
    """
    if kind == "bce":
        return functional.binary_cross_entropy_with_logits(logits, targets, reduction="sum") / len(logits)
    return ((targets - logits.sigmoid()).square() * item_weights).sum() / len(logits)


def embedding_penalty(tokens: Any, items: Any, present: Any, strength: float, batch_size: int) -> Any:
    """Return ``strength / B * (|S rows of the batch|^2 + |H|^2) / 2``; ``present`` marks the batch's tokens."""
    own = (tokens.square().sum(dim=1) * present).sum()
    return strength / batch_size * 0.5 * (own + items.square().sum())
