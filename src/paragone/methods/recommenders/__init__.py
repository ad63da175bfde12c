"""Recommenders: order items for a query; the floors that every experiment runs are among them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from paragone.methods.method import resolve

if TYPE_CHECKING:
    from paragone.methods.recommenders.base import Recommender, evaluate_recommender

__all__ = ["FLOORS", "Recommender", "evaluate_recommender", "make_recommender"]

# Trivial methods that any other must beat; they run in every experiment unless switched off.
FLOORS = ("popularity", "conditional", "set-knn", "ridge")


def __getattr__(name: str) -> Any:
    """Import what is heavy (scikit-learn, Numba) when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("paragone.methods.recommenders.base"), name)


def make_recommender(name: str, **parameters: Any) -> Recommender:
    """Return a recommender by its short name.

    Examples
    --------
    >>> make_recommender("ridge", penalty=10.0)
    Ridge(penalty=10.0)
    """
    made: Recommender = resolve(name, kind="recommender")(**parameters)
    return made
