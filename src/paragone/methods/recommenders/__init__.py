"""Recommenders: order items for a query. Short names, and the floors every experiment runs."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from paragone.errors import unknown_name

if TYPE_CHECKING:
    from paragone.methods.recommenders.base import Recommender, evaluate_recommender

__all__ = ["FLOORS", "RECOMMENDERS", "Recommender", "evaluate_recommender", "make_recommender"]

# Short name -> where it lives; imported when asked for, because smgcn needs PyTorch.
RECOMMENDERS = {
    "popularity": "paragone.methods.recommenders.floors:Popularity",
    "conditional": "paragone.methods.recommenders.floors:Conditional",
    "set-knn": "paragone.methods.recommenders.floors:SetKNN",
    "ridge": "paragone.methods.recommenders.floors:Ridge",
    "ease": "paragone.methods.recommenders.ease:EASE",
    "smgcn": "paragone.methods.recommenders.smgcn:SMGCN",
}

# Trivial methods that any other must beat; they run in every experiment unless switched off.
FLOORS = ("popularity", "conditional", "set-knn", "ridge")

_LAZY = {
    "Recommender": "paragone.methods.recommenders.base",
    "evaluate_recommender": "paragone.methods.recommenders.base",
}


def __getattr__(name: str) -> Any:
    """Import what is heavy (scikit-learn, Numba) when it is first used."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)


def make_recommender(name: str, **parameters: Any) -> Recommender:
    """Return a recommender by its short name.

    Examples
    --------
    >>> make_recommender("ridge", penalty=10.0)
    Ridge(penalty=10.0)
    """
    if name not in RECOMMENDERS:
        raise unknown_name("recommender", name, RECOMMENDERS)
    module, _, attribute = RECOMMENDERS[name].partition(":")
    made: Recommender = getattr(import_module(module), attribute)(**parameters)
    return made
