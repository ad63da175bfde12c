"""Recommenders: order items for a query. Short names, and the floors every experiment runs."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from paragone.errors import unknown_name

if TYPE_CHECKING:
    from paragone.models.recommenders.base import Recommender
    from paragone.models.recommenders.evaluation import evaluate_recommender

# Short name -> where it lives; imported when asked for, because smgcn needs PyTorch.
RECOMMENDERS = {
    "popularity": "paragone.models.recommenders.popularity:Popularity",
    "conditional": "paragone.models.recommenders.conditional:Conditional",
    "set-knn": "paragone.models.recommenders.set_knn:SetKNN",
    "ridge": "paragone.models.recommenders.ridge:Ridge",
    "ease": "paragone.models.recommenders.ease:EASE",
    "smgcn": "paragone.models.recommenders.smgcn:SMGCN",
}

# Trivial methods that any other must beat; they run in every experiment unless switched off.
FLOORS = ("popularity", "conditional", "set-knn", "ridge")

_LAZY = {
    "Recommender": "paragone.models.recommenders.base",
    "evaluate_recommender": "paragone.models.recommenders.evaluation",
}

__all__ = ["FLOORS", "RECOMMENDERS", "Recommender", "evaluate_recommender", "make_recommender"]


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
