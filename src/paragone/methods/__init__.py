"""Methods in scikit-learn's interface: how they are named, the rankers, the recommenders and the presets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paragone.methods.method import SEED_PARAMETERS, Method, methods
from paragone.methods.spaces import check_space, finished_trial, known_space, new_study, suggest

if TYPE_CHECKING:
    from paragone.methods.mlknn import MLkNN

__all__ = [
    "SEED_PARAMETERS",
    "MLkNN",
    "Method",
    "check_space",
    "finished_trial",
    "known_space",
    "methods",
    "new_study",
    "suggest",
]


def __getattr__(name: str) -> Any:
    """Import ML-kNN, which needs Numba, when it is first used: whoever only wants a hash need not wait for it."""
    if name != "MLkNN":
        raise AttributeError(f"module 'paragone.methods' has no attribute {name!r}")
    from paragone.methods.mlknn import MLkNN

    return MLkNN
