"""Protocols: how one cell is scored."""

from paragone.protocols.base import Protocol
from paragone.protocols.curve import Curve, ranking_curve
from paragone.protocols.grids import KGrid, PGrid

__all__ = ["Curve", "KGrid", "PGrid", "Protocol", "ranking_curve"]
