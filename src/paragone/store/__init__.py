"""The store: one SQLite file; this package alone knows SQL."""

from paragone.store.store import Plan, Store, truth_key

__all__ = ["Plan", "Store", "truth_key"]
