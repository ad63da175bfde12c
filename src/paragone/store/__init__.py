"""The store: one SQLite file; this package alone knows SQL."""

from paragone.store.code_states import CODE_STATES
from paragone.store.plans import Plan, truth_key
from paragone.store.store import Store

__all__ = ["CODE_STATES", "Plan", "Store", "truth_key"]
