"""SMGCN: syndrome-aware herb recommendation. Importing it needs no PyTorch; fitting does."""

from paragone.models.recommenders.smgcn.model import SMGCN

__all__ = ["SMGCN"]
