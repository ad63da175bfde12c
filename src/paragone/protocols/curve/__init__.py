"""The curve protocol: rank the features on train, score growing sets of them on test."""

from paragone.protocols.curve.protocol import Curve, KGrid, PGrid, ranking_curve

__all__ = ["Curve", "KGrid", "PGrid", "ranking_curve"]
