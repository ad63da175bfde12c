"""Cross-validation with refit: the prediction ledger, its scores, selection and refit."""

from paragone.protocols.crossval.partition import StoredFolds
from paragone.protocols.crossval.protocol import Crossval
from paragone.protocols.crossval.selection import Criterion

__all__ = ["Criterion", "Crossval", "StoredFolds"]
