"""The compiled loops of iterative stratification."""

from __future__ import annotations

import numpy as np
from numba import njit

from paragone.validation import FloatArray, IntArray

NOTHING_LEFT = np.iinfo(np.int64).max


@njit(cache=True)  # type: ignore[untyped-decorator,unused-ignore]
def pairs_of_rows(start: IntArray, labels: IntArray, n_labels: int) -> tuple[IntArray, IntArray]:
    """List the pairs of labels of every row as ``first * n_labels + second``, first below second."""
    n_rows = len(start) - 1
    pair_start = np.zeros(n_rows + 1, dtype=np.int64)
    for i in range(n_rows):
        size = start[i + 1] - start[i]
        pair_start[i + 1] = pair_start[i] + size * (size - 1) // 2
    keys = np.empty(pair_start[n_rows], dtype=np.int64)
    position = 0
    for i in range(n_rows):
        for a in range(start[i], start[i + 1]):
            for b in range(a + 1, start[i + 1]):
                keys[position] = labels[a] * n_labels + labels[b]
                position += 1
    return pair_start, keys


@njit(cache=True)  # type: ignore[untyped-decorator,unused-ignore]
def _lower(tree: IntArray, node: int) -> None:
    """Bring the minimum up from a changed leaf to the root of a tournament tree."""
    node //= 2
    while node >= 1:
        smallest = min(tree[2 * node], tree[2 * node + 1])
        if tree[node] == smallest:
            break
        tree[node] = smallest
        node //= 2


@njit(cache=True)  # type: ignore[untyped-decorator,unused-ignore]
def _choose(wanted_item: FloatArray, wanted_rows: FloatArray, draw: float) -> int:
    """Return the fold that wants most of the item; ties by the rows it wants, further ties by the draw."""
    best_item, best_rows, tied = -np.inf, -np.inf, 0
    for fold in range(len(wanted_rows)):
        if wanted_item[fold] > best_item or (
            wanted_item[fold] == best_item and wanted_rows[fold] > best_rows
        ):
            best_item, best_rows, tied = wanted_item[fold], wanted_rows[fold], 1
        elif wanted_item[fold] == best_item and wanted_rows[fold] == best_rows:
            tied += 1
    pick = int(draw * tied)
    for fold in range(len(wanted_rows)):
        if wanted_item[fold] == best_item and wanted_rows[fold] == best_rows:
            if pick == 0:
                return fold
            pick -= 1
    return -1


@njit(cache=True)  # type: ignore[untyped-decorator,unused-ignore]
def deal(
    item_start: IntArray,
    items: IntArray,
    row_start: IntArray,
    rows: IntArray,
    wanted_items: FloatArray,
    wanted_rows: FloatArray,
    draws: FloatArray,
) -> IntArray:
    """Deal rows to folds, scarcest item first; a tournament tree keeps the scarcest at hand."""
    n_rows, n_items = len(item_start) - 1, len(row_start) - 1
    width = 1
    while width < n_items:
        width *= 2
    # A key orders by the rows that are left, then by the index: both in one integer.
    tree = np.full(2 * width, NOTHING_LEFT, dtype=np.int64)
    left = np.empty(n_items, dtype=np.int64)
    for item in range(n_items):
        left[item] = row_start[item + 1] - row_start[item]
        if left[item] > 0:
            tree[width + item] = left[item] * n_items + item
    for node in range(width - 1, 0, -1):
        tree[node] = min(tree[2 * node], tree[2 * node + 1])
    folds = np.full(n_rows, -1, dtype=np.int64)
    while tree[1] != NOTHING_LEFT:
        scarcest = tree[1] % n_items
        for position in range(row_start[scarcest], row_start[scarcest + 1]):
            row = rows[position]
            if folds[row] >= 0:
                continue
            fold = _choose(wanted_items[scarcest], wanted_rows, draws[row])
            folds[row] = fold
            wanted_rows[fold] -= 1.0
            for k in range(item_start[row], item_start[row + 1]):
                item = items[k]
                wanted_items[item, fold] -= 1.0
                left[item] -= 1
                tree[width + item] = left[item] * n_items + item if left[item] > 0 else NOTHING_LEFT
                _lower(tree, width + item)
    nothing = np.zeros(len(wanted_rows))
    for row in range(n_rows):
        if folds[row] < 0:
            folds[row] = _choose(nothing, wanted_rows, draws[row])
            wanted_rows[folds[row]] -= 1.0
    return folds
