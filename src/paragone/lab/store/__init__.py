"""The store: one SQLite file; this package alone knows SQL."""

from __future__ import annotations

from paragone.lab.store.plans import Plan, truth_key
from paragone.lab.store.records import StoredCells
from paragone.lab.store.store import CODE_STATES, Store

__all__ = ["CODE_STATES", "Plan", "Store", "StoredCells", "truth_key"]
