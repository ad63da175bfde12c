"""From whatever holds scores to a complete matrix of datasets x methods, with nothing lost in silence."""

from paragone.comparison.scores.read import read_frame
from paragone.comparison.scores.side import one_side
from paragone.comparison.scores.table import Missing, ScoreTable, score_table

__all__ = ["Missing", "ScoreTable", "one_side", "read_frame", "score_table"]
