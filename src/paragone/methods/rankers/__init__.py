"""Feature rankers in scikit-learn's interface, one file each; every one that adds itself is found here by its name."""

from __future__ import annotations

from typing import Any

from paragone.methods.method import methods
from paragone.methods.rankers.base import Ranker, Scored
from paragone.methods.rankers.top_features import TopFeatures

__all__ = ["Ranker", "Scored", "TopFeatures"]


def __getattr__(name: str) -> Any:
    """Find the class of a ranker when it is first asked for."""
    for alias, place in methods.paths().items() if not name.startswith("_") else ():
        if place.startswith(__name__) and place.endswith(f":{name}"):
            return methods.get(alias)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
