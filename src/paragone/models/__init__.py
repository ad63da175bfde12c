"""Models: ML-kNN and the presets people expect beside it."""

from paragone.models.mlknn import MLkNN

__all__ = ["ALIASES", "MLkNN"]

ALIASES: dict[str, str] = {"mlknn": "paragone.models.mlknn:MLkNN"}
