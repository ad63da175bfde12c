"""Stored folds: a dataset as numbered train/test files, read and written."""

from paragone.data.folds.files import fold_files, fold_sets
from paragone.data.folds.reading import read_folds
from paragone.data.folds.writing import export_folds

__all__ = ["export_folds", "fold_files", "fold_sets", "read_folds"]
