"""SMGCN: syndrome-aware herb recommendation. Importing it needs no PyTorch; fitting does."""

from __future__ import annotations

from paragone.methods.recommenders.smgcn.model import SMGCN

__all__ = ["SMGCN"]
