"""Seals: one number a cell from which a changed score is noticed whenever scores are read.

A checksum of the whole cell is for `paragone doctor`, which has time; a seal costs so little that no score is ever given
out unchecked. SQLite itself notices damage to its own structures, but not a changed byte inside of a value.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from paragone.cells import Score

Words = NDArray[np.uint64]

_NOTHING = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFTS = tuple(np.uint64(bits) for bits in (30, 27, 31))


def seal_of(scores: Sequence[Score]) -> int:
    """Return the seal of a cell's scores.

    Examples
    --------
    >>> one = seal_of([Score("micro_f1", 0.5, "k", 10.0)])
    >>> one == seal_of([Score("micro_f1", 0.5, "k", 10.0)])
    True
    >>> one == seal_of([Score("micro_f1", 0.25, "k", 10.0)])
    False
    """
    names = {(score.metric, score.grid): measure_word(score.metric, score.grid) for score in scores}
    words = score_words(
        np.array([names[score.metric, score.grid] for score in scores], dtype=np.uint64),
        np.arange(len(scores)),
        np.array([np.nan if score.at is None else score.at for score in scores], dtype=np.float64),
        np.array([score.value for score in scores], dtype=np.float64),
    )
    return int(words.sum(dtype=np.uint64).astype(np.int64)) if len(words) else 0


def measure_word(metric: str, grid: str) -> int:
    """Return a number for the name of a measure."""
    return int.from_bytes(hashlib.blake2b(f"{metric}\0{grid}".encode(), digest_size=8).digest(), "little")


def score_words(
    measures: Words, positions: NDArray[np.int64], at: NDArray[np.float64], values: NDArray[np.float64]
) -> Words:
    """Return one number a score; their sum over a cell is its seal.

    Parameters
    ----------
    measures : ndarray of uint64
        The `measure_word` of every score.
    positions : ndarray of int
        Its place in the cell.
    at, values : ndarray of float
        The point of the grid and the score; NaN where there is none.
    """
    word = _mixed(measures ^ positions.astype(np.uint64))
    return _mixed(_bits(values) ^ _mixed(_bits(at) ^ word))


def _bits(numbers: NDArray[np.float64]) -> Words:
    # SQLite knows no NaN and one zero only.
    bits = (numbers + 0.0).view(np.uint64)
    return np.where(np.isnan(numbers), _NOTHING, bits)


def _mixed(words: Words) -> Words:
    """Spread every bit over the whole number: the finalizer of splitmix64 (Steele, Lea and Flood, 2014)."""
    words = (words ^ (words >> _SHIFTS[0])) * _FIRST
    words = (words ^ (words >> _SHIFTS[1])) * _SECOND
    return words ^ (words >> _SHIFTS[2])
