"""Nearest neighbours along a growing set of features, compiled.

Which rows are neighbours depends on the set of the features alone, never on their order. The
squared distance of two rows is the sum of their squared differences. Rows whose distance is that of
the last neighbour up to rounding are tied with it, and ties go to the lower index: so rows that are
equally far in exact arithmetic are tied although their features were scaled or have no exact binary
form. There is one threshold per query row, so that no chain of small differences can tie what is
far apart.

The sums are added in ranked order, which is quick, and their last bits depend on it. So every
comparison knows how large that error can be. Where it could decide something, the squares of the
rows in question are sorted and added anew, which gives one sum for every order. Where features are
whole multiples of one power of two (as whole numbers and 0/1 are) and small enough, the sums are
exact, and only equal distances are tied.

Rows are worked through in small blocks whose distances stay in the processor's cache for the whole
grid: no n x n matrix is ever built.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from paragone.validation import FloatArray, IntArray

TIED = 2.0**-43
"""Relative difference of squared distances up to which rows are tied: a thousand half units in the last place."""
HALF_UNIT = 2.0**-53
"""The relative error of one addition."""
FIVE = 5
"""Features whose squares are added up before they join the distance: a sum has a fifth of the roundings."""
ROW_BLOCK = 8
"""Query rows worked on together: they share the training rows in the cache."""
TILE = 256
"""Training rows worked on together: five features of them fit into the innermost cache."""
CHUNK = 32
"""Distances that are passed over together when even the smallest is too large."""


@njit(cache=True)
def grow_distances(
    queries: FloatArray, base: FloatArray, begin: int, end: int, first: int, distances: FloatArray
) -> None:
    """Add features ``begin .. end``, a multiple of five, to the squared distances of a block of query rows, in place.

    ``queries`` is samples x features, ``base`` features x samples, so that the inner loop runs
    along memory.
    """
    n_rows, n_base = distances.shape
    for start in range(0, n_base, TILE):
        stop = min(start + TILE, n_base)
        for r in range(n_rows):
            row = distances[r, start:stop]
            query = queries[first + r]
            for f in range(begin, end, FIVE):
                q0, q1, q2, q3, q4 = (
                    query[f],
                    query[f + 1],
                    query[f + 2],
                    query[f + 3],
                    query[f + 4],
                )
                b0, b1, b2 = base[f, start:stop], base[f + 1, start:stop], base[f + 2, start:stop]
                b3, b4 = base[f + 3, start:stop], base[f + 4, start:stop]
                for j in range(len(row)):
                    difference = q0 - b0[j]
                    total = difference * difference
                    difference = q1 - b1[j]
                    total += difference * difference
                    difference = q2 - b2[j]
                    total += difference * difference
                    difference = q3 - b3[j]
                    total += difference * difference
                    difference = q4 - b4[j]
                    total += difference * difference
                    row[j] += total


@njit(cache=True)
def add_rest(
    queries: FloatArray,
    base: FloatArray,
    begin: int,
    end: int,
    first: int,
    whole: FloatArray,
    distances: FloatArray,
) -> None:
    """Write ``whole`` plus the fewer than five features ``begin .. end`` into ``distances``."""
    for r in range(len(whole)):
        row = distances[r]
        row[:] = 0.0
        for f in range(begin, end):
            value, column = queries[first + r, f], base[f]
            for j in range(len(row)):
                difference = value - column[j]
                row[j] += difference * difference
        for j in range(len(row)):
            row[j] += whole[r, j]


# Distances are never NaN nor -0, and only under that promise does the minimum vectorise.
@njit(cache=True, fastmath={"nnan", "nsz"})
def chunk_minima(distances: FloatArray, minima: FloatArray) -> None:
    """Write the smallest distance of every chunk."""
    full = len(distances) // CHUNK
    for chunk in range(full):
        smallest = distances[chunk * CHUNK]
        for i in range(1, CHUNK):
            value = distances[chunk * CHUNK + i]
            smallest = value if value < smallest else smallest
        minima[chunk] = smallest
    if full * CHUNK < len(distances):
        smallest = distances[full * CHUNK]
        for j in range(full * CHUNK, len(distances)):
            value = distances[j]
            smallest = value if value < smallest else smallest
        minima[full] = smallest


@njit(cache=True)
def select_nearest(
    distances: FloatArray,
    minima: FloatArray,
    bound: float,
    neighbors: IntArray,
    nearest: FloatArray,
) -> None:
    """Write the indices of the smallest distances into ``neighbors``, ties to the lower index.

    ``bound`` must be at least the largest distance selected: only smaller or equal ones are looked
    at. It comes from the neighbours of the point before on the grid, whose distances can only have
    grown. ``minima`` and ``nearest`` are room to work in.
    """
    chunk_minima(distances, minima)
    count = len(neighbors)
    size = len(distances)
    filled = 0
    limit = np.nextafter(bound, np.inf)
    for chunk in range(len(minima)):
        if minima[chunk] >= limit:
            continue
        for j in range(chunk * CHUNK, min((chunk + 1) * CHUNK, size)):
            value = distances[j]
            if value >= limit:
                continue
            place = filled if filled < count else count - 1
            while place > 0 and nearest[place - 1] > value:
                nearest[place] = nearest[place - 1]
                neighbors[place] = neighbors[place - 1]
                place -= 1
            nearest[place] = value
            neighbors[place] = j
            if filled < count:
                filled += 1
            if filled == count:
                limit = nearest[count - 1]


@njit(cache=True)
def roundings(n_features: int) -> int:
    """Return a bound on the additions behind a squared distance, with some to spare for the arithmetic of bounds."""
    return n_features // FIVE + 7


@njit(cache=True)
def tied_range(farthest: float, n_features: int) -> tuple[float, float]:
    """Return the least and the largest distance that are tied with that of the last neighbour.

    Above 600 features what rounding can do outgrows `TIED`; twice that is then tied.
    """
    width = farthest * max(TIED, 8 * roundings(n_features) * HALF_UNIT)
    return farthest - width, farthest + width


@njit(cache=True)
def sorted_sum(squares: FloatArray) -> float:
    """Add up squares from the smallest to the largest, five at a time: every order of them gives the same sum."""
    ascending = np.sort(squares)
    total = 0.0
    for begin in range(0, len(ascending), FIVE):
        five = 0.0
        for square in ascending[begin : begin + FIVE]:
            five += square
        total += five
    return total


@njit(cache=True)
def count_within(distances: FloatArray, minima: FloatArray, limit: float) -> int:
    """Count the distances up to a limit; ``minima`` are the least of every chunk."""
    within = 0
    for chunk in range(len(minima)):
        if minima[chunk] <= limit:
            for j in range(chunk * CHUNK, min((chunk + 1) * CHUNK, len(distances))):
                within += distances[j] <= limit
    return within


@njit(cache=True)
def settle_ties(
    distances: FloatArray,
    minima: FloatArray,
    query: FloatArray,
    base: FloatArray,
    n_features: int,
    farthest: float,
    neighbors: IntArray,
) -> None:
    """Replace the neighbours by sums in ranked order with those of the definition.

    ``farthest`` is the distance of the last of ``neighbors`` and ``minima`` the least of every
    chunk, both by sums in ranked order. Such a sum and that of the sorted squares each lie within
    their roundings of the exact sum, and so do the distances of the last neighbour; ``doubt`` is
    all of that together.
    """
    if farthest == 0.0:
        return
    count, size = len(neighbors), len(distances)
    doubt = 4 * roundings(n_features) * HALF_UNIT * farthest
    low, high = tied_range(farthest, n_features)
    below, above = low - doubt, high + doubt
    if count_within(distances, minima, above) == count:
        return
    nearer = 0
    doubtful = False
    for chunk in range(len(minima)):
        if minima[chunk] <= above:
            for j in range(chunk * CHUNK, min((chunk + 1) * CHUNK, size)):
                value = distances[j]
                nearer += value < low
                doubtful |= abs(value - low) <= doubt
                doubtful |= abs(value - high) <= doubt
    if doubtful:
        settle_doubts(distances, query, base, n_features, below, above, neighbors)
        return
    filled, tied = 0, count - nearer
    for chunk in range(len(minima)):
        if minima[chunk] <= high:
            for j in range(chunk * CHUNK, min((chunk + 1) * CHUNK, size)):
                value = distances[j]
                if value < low:
                    neighbors[filled] = j
                    filled += 1
                elif value <= high and tied > 0:
                    neighbors[filled] = j
                    filled += 1
                    tied -= 1
        if filled == count:
            return


@njit(cache=True)
def settle_doubts(
    distances: FloatArray,
    query: FloatArray,
    base: FloatArray,
    n_features: int,
    below: float,
    above: float,
    neighbors: IntArray,
) -> None:
    """Choose the neighbours by sums that do not depend on the order of the features, for rows between two bounds."""
    count = len(neighbors)
    filled = 0
    rows = np.flatnonzero((distances >= below) & (distances <= above))
    for j in np.flatnonzero(distances < below):
        neighbors[filled] = j
        filled += 1
    sums = np.empty(len(rows))
    squares = np.empty(n_features)
    for i in range(len(rows)):
        for f in range(n_features):
            difference = query[f] - base[f, rows[i]]
            squares[f] = difference * difference
        sums[i] = sorted_sum(squares)
    low, high = tied_range(np.sort(sums)[count - filled - 1], n_features)
    for i in range(len(rows)):
        if sums[i] < low:
            neighbors[filled] = rows[i]
            filled += 1
    for i in range(len(rows)):
        if filled < count and low <= sums[i] <= high:
            neighbors[filled] = rows[i]
            filled += 1


EXACT = 2.0**52
"""Whole numbers up to here are added without rounding, with a bit to spare for the rounding of the bound itself."""


@njit(cache=True)
def unit_of(bits: int) -> float:
    """Return the largest power of two of which a number is a whole multiple; infinity for 0.

    ``bits`` is the number's binary64 pattern read as an integer.
    """
    exponent = (bits >> 52) & 0x7FF
    mantissa = bits & 0xFFFFFFFFFFFFF
    if exponent == 0:
        exponent = 1
    else:
        mantissa |= 1 << 52
    if mantissa == 0:
        return np.inf
    return math.ldexp(float(mantissa & -mantissa), exponent - 1075)


@njit(cache=True)
def exact_prefix(base: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the common unit and the largest size of the first 1, 2, ... features, while sums over them are exact."""
    n_features, n_base = base.shape
    units, sizes = np.empty(n_features), np.empty(n_features)
    unit, size = np.inf, 0.0
    bits = base.view(np.int64)
    for f in range(n_features):
        for j in range(n_base):
            unit = min(unit, unit_of(bits[f, j]))
            size = max(size, abs(base[f, j]))
        if (f + 1) * (2.0 * size / unit) ** 2 > EXACT:
            return units[:f], sizes[:f]
        units[f], sizes[f] = unit, size
    return units, sizes


@njit(cache=True)
def exact_features(query: FloatArray, units: FloatArray, sizes: FloatArray) -> int:
    """Return how many of the first features of a query row have exact distances to every base row."""
    bits = query.view(np.int64)
    unit, size = np.inf, 0.0
    for f in range(len(units)):
        unit, size = min(unit, unit_of(bits[f])), max(size, abs(query[f]))
        if (f + 1) * ((size + sizes[f]) / min(unit, units[f])) ** 2 > EXACT:
            return f
    return len(units)


@njit(cache=True)
def count_along(
    queries: FloatArray,
    base: FloatArray,
    base_labels: NDArray[np.uint8],
    grid: IntArray,
    n_neighbors: int,
    same: bool,
) -> NDArray[np.uint8]:
    """Do the work of `neighbor_label_counts` on features whose squares neither overflow nor vanish."""
    n_queries = queries.shape[0]
    n_base = base.shape[1]
    n_labels = base_labels.shape[1]
    n_points = len(grid)
    counts = np.zeros((n_points, n_queries, n_labels), dtype=np.uint8)
    block, with_rest = np.empty((ROW_BLOCK, n_base)), np.empty((ROW_BLOCK, n_base))
    neighbors = np.empty((ROW_BLOCK, n_neighbors), dtype=np.int64)
    nearest = np.empty(n_neighbors)
    minima = np.empty((n_base + CHUNK - 1) // CHUNK)
    units, sizes = exact_prefix(base)
    exact = np.empty(ROW_BLOCK, dtype=np.int64)
    for first in range(0, n_queries, ROW_BLOCK):
        rows = min(ROW_BLOCK, n_queries - first)
        whole = block[:rows]
        whole[:] = 0.0
        for r in range(rows):
            exact[r] = exact_features(queries[first + r], units, sizes)
            if same:
                whole[r, first + r] = np.inf
        begin = 0
        for g in range(n_points):
            end = grid[g] - grid[g] % FIVE
            grow_distances(queries, base, begin, end, first, whole)
            begin = end
            distances = whole
            if end < grid[g]:
                distances = with_rest[:rows]
                add_rest(queries, base, end, grid[g], first, whole, distances)
            for r in range(rows):
                bound = np.inf
                if g > 0:
                    bound = 0.0
                    for t in range(n_neighbors):
                        bound = max(bound, distances[r, neighbors[r, t]])
                select_nearest(distances[r], minima, bound, neighbors[r], nearest)
                if grid[g] > exact[r]:
                    farthest = nearest[n_neighbors - 1]
                    settle_ties(
                        distances[r],
                        minima,
                        queries[first + r],
                        base,
                        grid[g],
                        farthest,
                        neighbors[r],
                    )
                for t in range(n_neighbors):
                    labels = base_labels[neighbors[r, t]]
                    for label in range(n_labels):
                        counts[g, first + r, label] += labels[label]
    return counts


ROOM = 100
"""Features between 2^-ROOM and 2^ROOM in size are taken as they are; others are multiplied by a power of two."""
SCALED = 400
"""The binary exponent that the largest feature is given then: differences down to 2^-900 of it still count."""
CLIPPED = 2.0**480
"""A query value this far from every base value is at the same distance of all, however far it is exactly."""


def neighbor_label_counts(
    queries: FloatArray,
    base: FloatArray,
    base_labels: NDArray[np.uint8],
    grid: IntArray,
    n_neighbors: int,
    same: bool,
) -> NDArray[np.uint8]:
    """Count each label among the nearest neighbours of every query at every grid point.

    Any finite features will do: where squares would overflow or vanish, all features of a point are
    multiplied by a power of two first, which changes no comparison. The power follows from the base
    rows and the features of the point alone, so that neither other queries nor other points of the
    grid have a say.

    Parameters
    ----------
    queries : ndarray of shape (n_queries, n_features)
        Rows whose neighbours are wanted, features in ranked order; finite.
    base : ndarray of shape (n_features, n_base)
        The training rows, transposed, features in ranked order; finite.
    base_labels : ndarray of uint8 of shape (n_base, n_labels)
        Labels of the training rows, 0/1.
    grid : ndarray of int64
        Rising numbers of features; the first ``grid[g]`` count at point ``g``.
    n_neighbors : int
        How many neighbours; at most 255, and fewer than there are base rows.
    same : bool
        Whether the queries are the training rows themselves: a row is then never its own neighbour.

    Returns
    -------
    ndarray of uint8 of shape (n_points, n_queries, n_labels)
        The counts.

    Examples
    --------
    >>> import numpy as np
    >>> base, labels = np.array([[0.0, 1e300, 3e300]]), np.array([[1], [0], [1]], dtype=np.uint8)
    >>> neighbor_label_counts(np.array([[9e299], [4e300]]), base, labels, np.array([1]), 1, False).ravel()
    array([0, 1], dtype=uint8)
    """
    largest = np.maximum.accumulate(np.maximum(base.max(axis=1), -base.min(axis=1)))[grid - 1]
    exponents = np.frexp(largest)[1].astype(np.int64)
    shifts = np.where((largest == 0) | (np.abs(exponents) <= ROOM), 0, SCALED - exponents)
    parts = []
    for shift in dict.fromkeys(shifts.tolist()):
        part = grid[shifts == shift]
        used = slice(0, part[-1])
        parts.append(
            count_along(
                _shifted(queries[:, used], shift),
                _shifted(base[used], shift),
                base_labels,
                part,
                n_neighbors,
                same,
            )
        )
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _shifted(features: FloatArray, shift: int) -> FloatArray:
    """Multiply by ``2 ** shift`` and clip; the very same array where neither changes anything."""
    if shift == 0 and max(features.max(), -features.min()) <= CLIPPED:
        return np.ascontiguousarray(features)
    with np.errstate(over="ignore", under="ignore"):
        return np.ascontiguousarray(np.clip(np.ldexp(features, shift), -CLIPPED, CLIPPED))


@njit(cache=True)
def count_histograms(
    counts: NDArray[np.uint8], labels: NDArray[np.uint8], n_neighbors: int
) -> tuple[IntArray, IntArray]:
    """Histogram the counts of training rows, apart for positives and negatives of each label.

    Returns two arrays of shape (n_points, n_labels, n_neighbors + 1).
    """
    n_points, n_samples, n_labels = counts.shape
    positive = np.zeros((n_points, n_labels, n_neighbors + 1), dtype=np.int64)
    negative = np.zeros((n_points, n_labels, n_neighbors + 1), dtype=np.int64)
    for g in range(n_points):
        for i in range(n_samples):
            for label in range(n_labels):
                if labels[i, label]:
                    positive[g, label, counts[g, i, label]] += 1
                else:
                    negative[g, label, counts[g, i, label]] += 1
    return positive, negative
