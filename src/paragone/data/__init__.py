"""Datasets, their readers and writers, and splits."""

from paragone.data.bundled import bundled_names, bundled_sets, load_bundled, make_synthetic
from paragone.data.dataset import Dataset, DatasetDescription, Task, describe
from paragone.data.loading import load
from paragone.data.prescriptions import prescription_dataset, prescriptions_of
from paragone.data.reader import Reader, ReadOptions, add_reader
from paragone.data.readers.folds import export_folds, fold_sets, read_folds
from paragone.data.readers.npz import save_npz
from paragone.data.splits import (
    Scale,
    Scaler,
    Split,
    SplitPlan,
    describe_splits,
    fit_scaler,
    make_splits,
    scale_split,
)
from paragone.data.stratification import iterative_stratification

__all__ = [
    "Dataset",
    "DatasetDescription",
    "ReadOptions",
    "Reader",
    "Scale",
    "Scaler",
    "Split",
    "SplitPlan",
    "Task",
    "add_reader",
    "bundled_names",
    "bundled_sets",
    "describe",
    "describe_splits",
    "export_folds",
    "fit_scaler",
    "fold_sets",
    "iterative_stratification",
    "load",
    "load_bundled",
    "make_splits",
    "make_synthetic",
    "prescription_dataset",
    "prescriptions_of",
    "read_folds",
    "save_npz",
    "scale_split",
]
