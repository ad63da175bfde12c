"""The checksum of a cell's scores alone: so quick to check that no score is given out unchecked.

The checksum of the whole cell covers its predictions too, and is for `paragone doctor`. SQLite notices damage to its
own structures, but not a changed byte inside of a value.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from paragone.cells import Score
from paragone.validation import FloatArray, IntArray

RECORD_BYTES = 32
NOTHING = np.uint64(0xFFFFFFFFFFFFFFFF)


def scores_checksum(scores: Sequence[Score]) -> bytes:
    """Return the checksum of a cell's scores.

    Examples
    --------
    >>> one = scores_checksum([Score("micro_f1", 0.5, "k", 10.0)])
    >>> one == scores_checksum([Score("micro_f1", 0.5, "k", 10.0)])
    True
    >>> one == scores_checksum([Score("micro_f1", 0.25, "k", 10.0)])
    False
    """
    words = {(score.metric, score.grid): measure_word(score.metric, score.grid) for score in scores}
    records = score_records(
        np.array([words[score.metric, score.grid] for score in scores], dtype=np.uint64),
        np.arange(len(scores)),
        np.array([np.nan if score.at is None else score.at for score in scores], dtype=np.float64),
        np.array([score.value for score in scores], dtype=np.float64),
    )
    return hashlib.sha256(records.tobytes()).digest()


def measure_word(metric: str, grid: str) -> int:
    """Return a number for the name of a measure."""
    return int.from_bytes(hashlib.sha256(f"{metric}\0{grid}".encode()).digest()[:8], "little")


def score_records(
    measures: NDArray[np.uint64], positions: IntArray, at: FloatArray, values: FloatArray
) -> NDArray[np.uint64]:
    """Return the bytes that are summed up: `RECORD_BYTES` a score.

    Parameters
    ----------
    measures : ndarray of uint64
        The `measure_word` of every score.
    positions : ndarray of int
        Its place in the cell.
    at, values : ndarray of float
        The point of the grid and the score; NaN where there is none.
    """
    records = np.empty((len(values), 4), dtype="<u8")
    for column, numbers in enumerate((measures, positions, _bits(at), _bits(values))):
        records[:, column] = numbers
    return records


def _bits(numbers: FloatArray) -> NDArray[np.uint64]:
    # SQLite knows no NaN, and one zero only.
    return np.where(np.isnan(numbers), NOTHING, (numbers + 0.0).view(np.uint64))
