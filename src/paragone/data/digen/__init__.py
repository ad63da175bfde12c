"""The DIGEN collection: 40 published formulas and seeds, and the datasets that follow from them.

Formulas are read and evaluated here, below `paragone.generate`, so that an experiment can name a DIGEN set
like any other dataset; everything that makes new formulas is in `paragone.generate`.
"""

from paragone.data.digen.catalogue import DigenEntry, entries, find, names
from paragone.data.digen.datasets import expand, load_digen, make_digen
from paragone.data.digen.expression import OPERATORS, Expression, Feature, Token
from paragone.data.digen.half_rule import HalfCut, cut_in_half
from paragone.data.digen.legacy_sort import legacy_argsort

__all__ = [
    "OPERATORS",
    "DigenEntry",
    "Expression",
    "Feature",
    "HalfCut",
    "Token",
    "cut_in_half",
    "entries",
    "expand",
    "find",
    "legacy_argsort",
    "load_digen",
    "make_digen",
    "names",
]
