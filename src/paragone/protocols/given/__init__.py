"""Scores that were measured elsewhere, kept in a store beside own runs."""
