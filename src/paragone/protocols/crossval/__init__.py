"""Cross-validation with refit: the prediction ledger, its scores, selection and refit."""

from paragone.protocols.crossval.protocol import Crossval
from paragone.protocols.crossval.scores import Criterion
from paragone.protocols.crossval.splits import StoredFolds

__all__ = ["Criterion", "Crossval", "StoredFolds"]
