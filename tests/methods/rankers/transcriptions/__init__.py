"""Straight transcriptions of the rankers' formulas: slow, plain, and sharing no line with the package."""
