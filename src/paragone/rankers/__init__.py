"""Feature rankers in scikit-learn's interface, one file each."""

from paragone.rankers.base import Ranker

__all__ = ["ALIASES", "Ranker"]

ALIASES: dict[str, str] = {}
