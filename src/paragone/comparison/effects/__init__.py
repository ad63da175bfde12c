"""Effect sizes: how large a difference is, beside how sure."""

from paragone.comparison.effects.cliffs_delta import cliffs_delta
from paragone.comparison.effects.rank_biserial import rank_biserial
from paragone.comparison.effects.vargha_delaney import vargha_delaney_a12

__all__ = ["cliffs_delta", "rank_biserial", "vargha_delaney_a12"]
