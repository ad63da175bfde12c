"""Models: ML-kNN and the presets people expect beside it."""

from paragone.models.mlknn import MLkNN

__all__ = ["ALIASES", "MLkNN"]

ALIASES: dict[str, str] = {
    "mlknn": "paragone.models.mlknn:MLkNN",
    "logistic": "paragone.models.presets:Logistic",
    "linear-svc": "paragone.models.presets:OneVsRestLinearSVC",
    "pls": "paragone.models.pls:PLS",
    "random-forest": "paragone.models.presets:RandomForest",
}
"""Short names of the models that come with Paragone, each with its ``module:Class``."""
