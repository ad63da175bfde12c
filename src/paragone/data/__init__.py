"""Datasets, their readers and writers, and splits."""

from paragone.data.dataset import Dataset, Task

__all__ = ["Dataset", "Task"]
