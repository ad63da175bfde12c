"""Evolved collections that come with the package: datasets made from formula and seed, checked by their hashes."""

from paragone.data.evolved.catalogue import EvolvedEntry, collection_file, collections, entries, find
from paragone.data.evolved.datasets import expand, is_evolved, load_evolved, make_evolved

__all__ = [
    "EvolvedEntry",
    "collection_file",
    "collections",
    "entries",
    "expand",
    "find",
    "is_evolved",
    "load_evolved",
    "make_evolved",
]
