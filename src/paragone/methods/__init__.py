"""Methods in scikit-learn's interface: how they are named, the rankers, the recommenders and the presets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paragone.methods.mlknn import MLkNN

__all__ = ["ALIASES", "MLkNN"]

ALIASES: dict[str, str] = {
    "mlknn": "paragone.methods.mlknn:MLkNN",
    "logistic": "paragone.methods.presets:Logistic",
    "linear-svc": "paragone.methods.presets:OneVsRestLinearSVC",
    "pls": "paragone.methods.presets:PLS",
    "random-forest": "paragone.methods.presets:RandomForest",
}
"""Short names of the models that come with Paragone, each with its ``module:Class``."""


def __getattr__(name: str) -> Any:
    """Import ML-kNN, which needs Numba, when it is first used: whoever only wants a hash need not wait for it."""
    if name != "MLkNN":
        raise AttributeError(f"module 'paragone.methods' has no attribute {name!r}")
    from paragone.methods.mlknn import MLkNN

    return MLkNN
