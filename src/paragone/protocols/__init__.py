"""Protocols: how one cell is scored."""

from paragone.protocols.base import Protocol
from paragone.protocols.crossval import Criterion, Crossval
from paragone.protocols.curve.protocol import Curve, KGrid, PGrid, ranking_curve
from paragone.protocols.topk import TopK

__all__ = ["Criterion", "Crossval", "Curve", "KGrid", "PGrid", "Protocol", "TopK", "ranking_curve"]
