"""From scores or lists to the top places of every sample, with what is needed to judge their ties."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numba
import numpy as np
from numpy.typing import NDArray

from paragone.errors import InputError
from paragone.metrics.topk.candidates import Candidates, keep_candidates
from paragone.metrics.topk.truth import GroundTruth, ItemArray, as_rows
from paragone.validation import IntArray


@numba.njit(cache=True, nogil=True)
def first_not_finite(scores: Any) -> Any:
    """Return (row, column) of the first NaN or infinite score, or (-1, -1)."""
    for row in range(scores.shape[0]):
        # A finite x has x - x == 0; the sum of all those is 0 exactly, so no branch is needed
        # inside.
        total = 0
        for column in range(scores.shape[1]):
            value = scores[row, column]
            total += (value - value) != 0
        if total:
            for column in range(scores.shape[1]):
                if not np.isfinite(scores[row, column]):
                    return row, column
    return -1, -1


@numba.njit(cache=True, nogil=True)
def _stripes_for(n_items: int, places: int) -> int:
    """How many scores share a lane: few enough that there are at least twice as many lanes as places."""
    return max(1, min(16, n_items // (2 * places)))


@numba.njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def _lane_maxima(row: Any, lanes: int, maxima: Any) -> None:
    """Write the maximum of every lane; lane l holds the scores l, l + lanes, l + 2 lanes ..."""
    for lane in range(lanes):
        maxima[lane] = row[lane]
    start = lanes
    while start + lanes <= len(row):
        stripe = row[start : start + lanes]
        for lane in range(lanes):
            maxima[lane] = stripe[lane] if stripe[lane] > maxima[lane] else maxima[lane]
        start += lanes
    for column in range(start, len(row)):
        lane = column - start
        maxima[lane] = row[column] if row[column] > maxima[lane] else maxima[lane]


@numba.njit(cache=True, nogil=True)
def _kth_largest(values: Any, count: int, k: int, best: Any) -> Any:
    """Return the k-th largest of the first ``count`` values, or -inf where there are fewer."""
    if count < k:
        return -np.inf
    for index in range(k):
        place = index
        while place > 0 and best[place - 1] < values[index]:
            best[place] = best[place - 1]
            place -= 1
        best[place] = values[index]
    for index in range(k, count):
        value = values[index]
        if value > best[k - 1]:
            place = k - 1
            while place > 0 and best[place - 1] < value:
                best[place] = best[place - 1]
                place -= 1
            best[place] = value
    return best[k - 1]


@numba.njit(cache=True, nogil=True)
def _fill_row(row: Any, maxima: Any, lanes: int, bound: Any, items: Any, values: Any) -> Any:
    """Insert the scores that reach ``bound``, best first, equal scores by id.

    Returns the places filled, and how many scores equal to that of the last place stayed outside.
    Once all places are filled, ``bound`` is the last score: what is lower is not looked at, and
    what it pushes out was equal or lower.
    """
    places = len(items)
    filled = 0
    outside = 0
    for lane in range(lanes):
        if maxima[lane] < bound:
            continue
        for column in range(lane, len(row), lanes):
            value = row[column]
            if value < bound or value == -np.inf:
                continue
            if filled < places:
                place = filled
                filled += 1
            elif value == bound and column > items[places - 1]:
                outside += 1
                continue
            else:
                place = places - 1
                outside += 1
            while place > 0 and (
                values[place - 1] < value
                or (values[place - 1] == value and items[place - 1] > column)
            ):
                values[place] = values[place - 1]
                items[place] = items[place - 1]
                place -= 1
            values[place] = value
            items[place] = column
            if filled == places and values[places - 1] > bound:
                bound = values[places - 1]
                outside = 0
    return filled, outside


@numba.njit(cache=True, nogil=True)
def select_rows(scores: Any, first: int, items: Any, values: Any, tied: Any) -> None:
    """Select the top places of a block of rows.

    ``scores`` is the block, -inf marking what is no candidate; ``first`` is the number of its first
    row in the outputs. ``items`` (ids, -1 where a row has fewer candidates) and ``values`` get one
    row a sample, ``tied`` the number of candidates of the whole row that share the score of its
    last place.

    The k-th largest lane maximum is a lower bound of the k-th best score, so only lanes that reach
    it are read again; a lane is a strided subset because the maxima of all lanes are then found
    without branches.
    """
    n_rows, n_items = scores.shape
    places = items.shape[1]
    lanes = -(-n_items // _stripes_for(n_items, places))
    maxima = np.empty(lanes, scores.dtype)
    best = np.empty(places, scores.dtype)
    for index in range(n_rows):
        row = scores[index]
        out_items = items[first + index]
        out_values = values[first + index]
        _lane_maxima(row, lanes, maxima)
        bound = _kth_largest(maxima, lanes, places, best)
        filled, outside = _fill_row(row, maxima, lanes, bound, out_items, out_values)
        for place in range(filled, places):
            out_items[place] = -1
            out_values[place] = -np.inf
        tied[first + index] = outside
        for place in range(filled - 1, -1, -1):
            if out_values[place] != out_values[filled - 1]:
                break
            tied[first + index] += 1


@numba.njit(cache=True, nogil=True)
def mark_tied_truth(
    scores: Any, first: int, items: Any, values: Any, indptr: Any, truth: Any, out: Any
) -> None:
    """Mark each relevant item that has the score of the last place and yet stands outside the list."""
    places = items.shape[1]
    for index in range(scores.shape[0]):
        sample = first + index
        last = places - 1
        while last >= 0 and items[sample, last] < 0:
            last -= 1
        for entry in range(indptr[sample], indptr[sample + 1]):
            out[entry] = False
            if last < 0 or scores[index, truth[entry]] != values[sample, last]:
                continue
            inside = False
            for place in range(last, -1, -1):
                if values[sample, place] != values[sample, last]:
                    break
                inside = inside or items[sample, place] == truth[entry]
            out[entry] = not inside


Block: TypeAlias = NDArray[Any]
BlockSource: TypeAlias = Callable[[slice], Block]

# A factor model is always multiplied in row tiles of this size at the same places, because a BLAS
# product may round differently for another number of rows; so results are equal for any block size
# and thread count.
FACTOR_TILE = 256
_TILE_BYTES = 1 << 20


@dataclass(frozen=True, eq=False)
class Ranking:
    """The first places of every sample's list, best first, equal scores by item id.

    Parameters
    ----------
    items : ndarray of int32 of shape (n_samples, n_places)
        Item ids; -1 after the end of a list that is shorter.
    scores : ndarray of shape (n_samples, n_places), optional
        Their scores; ``None`` where only lists are known.
    tied : ndarray of int32 of shape (n_samples,), optional
        How many candidates of the whole row share the score of its last place.
    tied_truth : ndarray of bool, optional
        One mark an entry of the truth: it has the score of the last place but stands outside the
        list.
    n_items : int
        Number of items there are.

    Examples
    --------
    >>> from paragone.metrics.topk import topk_scores
    >>> ranking = topk_scores([[0.1, 0.9, 0.5]], [[1]], k=2).ranking
    >>> ranking.items, ranking.any_tie()
    (array([[1, 2]], dtype=int32), array([False]))
    """

    items: ItemArray
    scores: NDArray[Any] | None
    tied: NDArray[np.int32] | None
    tied_truth: NDArray[np.bool_] | None
    n_items: int

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of places filled in each list."""
        return np.asarray((self.items >= 0).sum(axis=1))

    def tie_across(self, k: int) -> NDArray[np.bool_] | None:
        """Mark the samples in which a group of equal scores lies across the cut-off ``k``."""
        if self.scores is None or self.tied is None:
            return None
        places = self.items.shape[1]
        if k < places:
            return np.asarray(
                (self.scores[:, k - 1] == self.scores[:, k]) & (self.items[:, k] >= 0)
            )
        lengths = self.lengths
        last = self.scores[np.arange(len(self.items)), np.maximum(lengths - 1, 0)]
        shown = ((self.scores == last[:, None]) & (self.items >= 0)).sum(axis=1)
        return np.asarray(self.tied > shown)

    def any_tie(self) -> NDArray[np.bool_]:
        """Mark the samples whose list holds, or is cut inside, a group of equal scores."""
        if self.scores is None:
            return np.zeros(len(self.items), dtype=np.bool_)
        inside = (self.scores[:, 1:] == self.scores[:, :-1]) & (self.items[:, 1:] >= 0)
        across = self.tie_across(self.items.shape[1])
        return np.asarray(inside.any(axis=1) | (across if across is not None else False))


@dataclass(frozen=True, eq=False)
class Factors:
    """Scores of a factor model, ``users @ items.T``, which are never stored as a whole.

    Parameters
    ----------
    users, items : ndarray of shape (n_users, f) and (n_items, f)
        The factors.

    Examples
    --------
    >>> import numpy as np
    >>> Factors(np.eye(2), np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]])).block(slice(0, 2))
    array([[0., 1., 2.],
           [1., 0., 2.]])
    """

    users: NDArray[Any]
    items: NDArray[Any]

    def __post_init__(self) -> None:
        for name in ("users", "items"):
            # Frozen, so the checked arrays take the place of what was given.
            object.__setattr__(self, name, _factor_matrix(getattr(self, name), name))
        if (
            self.users.ndim != 2
            or self.items.ndim != 2
            or self.users.shape[1] != self.items.shape[1]
        ):
            raise InputError(
                f"factors must be users x f and items x f, they are {self.users.shape} and"
                f" {self.items.shape}"
            )

    def block(self, rows: slice) -> Block:
        """Multiply out some rows; ``rows`` must start at a multiple of 256 to be reproducible."""
        part = self.users[rows]
        if len(part) < FACTOR_TILE:
            part = np.concatenate(
                (part, np.zeros((FACTOR_TILE - len(part), part.shape[1]), part.dtype))
            )
        return np.asarray(part @ self.items.T)[: rows.stop - rows.start]


@dataclass(frozen=True, eq=False)
class ScoreSource:
    """Where the scores of a block of rows come from."""

    block: BlockSource
    n_samples: int
    n_items: int
    tile: int | None = None
    candidates: Candidates = field(default_factory=Candidates)
    reverse: bool = False
    single: bool = False

    def read(self, rows: slice) -> Block:
        """Return a block in the type in which its scores are compared."""
        block = as_float(self.block(rows))
        if not self.single:
            return block
        # Too large for float32 becomes infinite, and is refused as such.
        with np.errstate(over="ignore"):
            return block.astype(np.float32, copy=False)

    def checked(self, rows: slice) -> Block:
        """Return a finite, C-ordered block with what is no candidate set to -inf."""
        block = self.read(rows)
        if block.shape != (rows.stop - rows.start, self.n_items):
            raise InputError(
                f"scores of rows {rows.start}..{rows.stop - 1} have the shape {block.shape}, "
                f"{(rows.stop - rows.start, self.n_items)} was expected"
            )
        row, column = first_not_finite(block)
        if row >= 0:
            compared = " as float32" if self.single else ""
            raise InputError(
                f"the score of sample {rows.start + row}, item {column} is"
                f" {block[row, column]}{compared}: scores must be finite (to leave an item out,"
                " name it in `exclude`)"
            )
        return self._masked(block, rows)

    def _masked(self, block: Block, rows: slice) -> Block:
        marks = self.candidates.block(rows)
        if marks is not None:
            block = np.where(marks, block, -np.inf).astype(block.dtype)
        # Selecting prefers the lower id, so the mirrored block gives the higher id first.
        return np.ascontiguousarray(block[:, ::-1]) if self.reverse else block


def _factor_matrix(given: Any, name: str) -> NDArray[Any]:
    try:
        matrix = np.asarray(as_rows(given, f"factors of {name}"))
    except ValueError as error:
        raise InputError(f"factors of {name} must be a matrix of numbers ({error})") from error
    if matrix.dtype.kind not in "fiu":
        raise InputError(f"factors of {name} must be real numbers, they are {matrix.dtype}")
    return matrix


def as_float(block: Any) -> Block:
    """Return the block as C-ordered float32 or float64 with the same order of its values."""
    array = np.asarray(block)
    if array.dtype == np.float16:
        array = array.astype(np.float32)
    elif array.dtype not in (np.float32, np.float64):
        if not (np.issubdtype(array.dtype, np.integer) or array.dtype == np.bool_):
            raise InputError(f"scores must be real numbers, they are {array.dtype}")
        if (
            array.size
            and array.dtype.itemsize == 8
            and np.abs(array.astype(np.float64)).max() > 2.0**53
        ):
            raise InputError("integer scores above 2^53 would be rounded into ties: rescale them")
        array = array.astype(np.float64)
    return np.ascontiguousarray(array)


def rank_scores(
    source: ScoreSource,
    truth: GroundTruth,
    places: int,
    *,
    block_rows: int | None = None,
    n_threads: int = 1,
) -> Ranking:
    """Select the top places of every row, block by block; no more than a block of scores is ever held.

    Parameters
    ----------
    source : ScoreSource
        Gives the scores.
    truth : GroundTruth
        Decides which ties matter.
    places : int
        How many places to keep; fewer are kept where there are fewer items.
    block_rows : int, optional
        Rows a block; about a megabyte of scores where not given. It changes no result.
    n_threads : int, default=1
        Threads to use. It changes no result.

    Returns
    -------
    Ranking
        The lists and their ties.
    """
    places = min(places, source.n_items)
    dtype = (
        source.read(slice(0, min(1, source.n_samples))).dtype if source.n_samples else np.float64
    )
    items = np.empty((source.n_samples, places), np.int32)
    values = np.empty((source.n_samples, places), dtype)
    tied = np.empty(source.n_samples, np.int32)
    tied_truth = np.zeros(len(truth.items), np.bool_)
    relevant = (
        truth.items if not source.reverse else (source.n_items - 1 - truth.items).astype(np.int32)
    )

    def work(rows: slice) -> None:
        block = source.checked(rows)
        if block.dtype.itemsize > np.dtype(dtype).itemsize:
            raise InputError(
                f"scores of rows {rows.start}..{rows.stop - 1} are {block.dtype}, those before are"
                f" {np.dtype(dtype)}: return one type, or scores that differ become ties"
            )
        block = block.astype(dtype, copy=False)
        select_rows(block, rows.start, items, values, tied)
        mark_tied_truth(block, rows.start, items, values, truth.indptr, relevant, tied_truth)

    blocks = _blocks(source, np.dtype(dtype).itemsize, block_rows)
    if n_threads == 1:
        for rows in blocks:
            work(rows)
    else:
        with ThreadPoolExecutor(n_threads) as pool:
            list(pool.map(work, blocks))
    if source.reverse:
        items = np.where(items >= 0, source.n_items - 1 - items, -1).astype(np.int32)
    return Ranking(items, values, tied, tied_truth, source.n_items)


def _blocks(source: ScoreSource, itemsize: int, block_rows: int | None) -> Iterator[slice]:
    size = (
        source.tile
        or block_rows
        or max(1, min(4096, _TILE_BYTES // max(1, itemsize * source.n_items)))
    )
    for start in range(0, source.n_samples, size):
        yield slice(start, min(start + size, source.n_samples))


def rank_lists(
    lists: Any, n_items: int, places: int, candidates: Candidates | None = None
) -> Ranking:
    """Take lists of item ids, best first, as they are; a shorter list simply ends.

    Parameters
    ----------
    lists : 2-D integer array or sequence of sequences of int
        Item ids, 0-based; -1 may fill up the end of a row.
    n_items : int
        Ids must be below it.
    places : int
        How many places to keep.
    candidates : Candidates, optional
        What is not a candidate is taken out; a list that is then too short to tell its first places
        is refused.

    Returns
    -------
    Ranking
        Without scores, so without ties.

    Examples
    --------
    >>> rank_lists([[2, 0], [1]], 3, 5).items
    array([[ 2,  0],
           [ 1, -1]], dtype=int32)
    """
    padded = _pad(lists)
    listed = padded >= 0
    _refuse(padded < -1, "names a negative item", "number them from 0")
    _refuse(listed[:, 1:] & ~listed[:, :-1], "goes on after its end (-1)", "close the gap")
    _refuse(padded >= n_items, "names an item out of range", f"item ids are 0..{n_items - 1}")
    ordered = np.sort(padded, axis=1)
    repeated = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
    _refuse(repeated, "names an item twice", "if these are scores and not ids, pass kind='scores'")
    if candidates:
        padded = keep_candidates(padded, candidates, n_items, places)
    return Ranking(
        np.ascontiguousarray(padded[:, :places], dtype=np.int32), None, None, None, n_items
    )


def _pad(lists: Any) -> NDArray[np.int64]:
    """Bring lists of any lengths into one array, -1 after their ends."""
    if isinstance(lists, np.ndarray) and lists.ndim == 2:
        filled: list[NDArray[Any]] = [lists]
        lengths = np.full(len(lists), lists.shape[1])
    else:
        filled = [np.asarray(row) for row in lists]
        lengths = np.asarray([len(row) for row in filled], dtype=np.int64)
    if not all(np.issubdtype(part.dtype, np.integer) for part in filled if part.size):
        raise InputError("lists must hold whole item ids; if these are scores, pass kind='scores'")
    padded = np.full((len(lists), int(lengths.max(initial=0))), -1, dtype=np.int64)
    if padded.size:
        inside = np.arange(padded.shape[1])[None, :] < lengths[:, None]
        padded[inside] = np.concatenate([part.ravel() for part in filled if part.size])
    return padded


def _refuse(bad: NDArray[np.bool_], what: str, advice: str) -> None:
    if bad.any():
        raise InputError(f"list of sample {int(np.argmax(bad.any(axis=1)))} {what}: {advice}")


_ENTRIES = 100_000


def cut_ranking(ranking: Ranking, truth: GroundTruth, places: int) -> Ranking:
    """Return the first places of every list, with what is needed to judge their ties.

    Parameters
    ----------
    ranking : Ranking
        Lists of that length or longer.
    truth : GroundTruth
        The relevant items of the same samples.
    places : int
        The length wanted; lists that are no longer stay as they are.

    Returns
    -------
    Ranking
        The same as ranking for so many places from the start.

    Examples
    --------
    >>> from paragone.metrics.topk import topk_scores
    >>> run = topk_scores([[0.9, 0.5, 0.5, 0.1]], [[2]], k=(1, 4))
    >>> short = cut_ranking(run.ranking, run.truth, 2)
    >>> short.items.tolist(), short.tied.tolist(), short.tied_truth.tolist()
    ([[0, 1]], [2], [True])
    """
    width = ranking.items.shape[1]
    if places >= width:
        return ranking
    items = np.ascontiguousarray(ranking.items[:, :places])
    if ranking.scores is None or ranking.tied is None or ranking.tied_truth is None:
        return Ranking(items, None, None, None, ranking.n_items)
    lengths, rows = ranking.lengths, np.arange(len(items))
    end = ranking.scores[rows, np.maximum(np.minimum(lengths, places) - 1, 0)]
    # The group at the new end reaches to the old end, of which the whole row was counted, or it is
    # all in the list.
    open_end = end == ranking.scores[rows, np.maximum(lengths - 1, 0)]
    listed = ((ranking.scores == end[:, None]) & (ranking.items >= 0)).sum(axis=1)
    tied = np.where(open_end, ranking.tied, listed).astype(np.int32)
    sample = np.repeat(rows, truth.sizes)
    below = _cut_off(ranking, truth, sample, end, places)
    tied_truth = below | (ranking.tied_truth & open_end[sample])
    return Ranking(
        items, np.ascontiguousarray(ranking.scores[:, :places]), tied, tied_truth, ranking.n_items
    )


def _cut_off(
    ranking: Ranking, truth: GroundTruth, sample: IntArray, end: NDArray[Any], places: int
) -> NDArray[np.bool_]:
    """Mark the relevant items that stand after the new end with the score of its last place."""
    assert ranking.scores is not None
    marks = np.zeros(len(truth.items), dtype=np.bool_)
    for start in range(0, len(marks), _ENTRIES):
        part = slice(start, start + _ENTRIES)
        rows = sample[part]
        there = ranking.items[rows, places:] == truth.items[part, None]
        marks[part] = (there & (ranking.scores[rows, places:] == end[rows, None])).any(axis=1)
    return marks
