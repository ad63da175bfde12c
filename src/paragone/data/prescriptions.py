"""Prescriptions: rows that pair a set of query tokens (symptoms) with an ordered list of items (herbs)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from paragone.data.dataset import Dataset
from paragone.errors import InputError
from paragone.validation import IntArray

MAX_ID = 9_999_999
"""The largest id that a file may name."""


@dataclass(frozen=True, eq=False, repr=False)
class Prescriptions:
    """Query token sets and the ordered items that answer them.

    Parameters
    ----------
    queries : csr_array of shape (n_rows, n_tokens)
        1.0 where a token (a symptom) stands in the query of a row.
    indptr, items : ndarray of int64, ndarray of int32
        The items (herbs) of row i are ``items[indptr[i]:indptr[i + 1]]``, in the order of the file.
    n_items : int
        Number of items there are.
    name : str
        What messages call it.
    notes : tuple of str
        What the reader changed or noticed.

    Examples
    --------
    >>> rows = Prescriptions.from_rows([([0, 1], [2, 0]), ([1], [1])])
    >>> rows
    Prescriptions 'rows': 2 rows, 2 tokens, 3 items
    >>> rows.multi_hot().toarray()
    array([[1., 0., 1.],
           [0., 1., 0.]])
    """

    queries: sparse.csr_array
    indptr: IntArray
    items: NDArray[np.int32]
    n_items: int
    name: str = "rows"
    notes: tuple[str, ...] = ()

    @classmethod
    def from_rows(
        cls,
        rows: Sequence[tuple[Sequence[int], Sequence[int]]],
        *,
        n_tokens: int | None = None,
        n_items: int | None = None,
        name: str = "rows",
    ) -> Prescriptions:
        """Build from pairs (tokens, items); the numbers of tokens and items default to the largest id + 1.

        A query is a set, so a token that stands twice counts once; a note says how many there were.
        """
        tokens = [np.unique(np.asarray(query, dtype=np.int64)) for query, _ in rows]
        items = [np.asarray(answer, dtype=np.int32) for _, answer in rows]
        flat_tokens = np.concatenate(tokens) if tokens else np.empty(0, np.int64)
        flat_items = np.concatenate(items) if items else np.empty(0, np.int32)
        width = _size(n_tokens, flat_tokens, f"{name}: token")
        n_items = _size(n_items, flat_items, f"{name}: item")
        starts = np.concatenate(([0], np.cumsum([len(row) for row in tokens], dtype=np.int64)))
        queries = sparse.csr_array(
            (np.ones(len(flat_tokens)), flat_tokens, starts),
            shape=(len(rows), width),
            dtype=np.float64,
        )
        indptr = np.concatenate(([0], np.cumsum([len(row) for row in items], dtype=np.int64)))
        repeated = sum(len(query) for query, _ in rows) - len(flat_tokens)
        notes = (f"{repeated} repeated token(s) in queries were counted once",) if repeated else ()
        return cls(queries, indptr, flat_items, n_items, name, notes)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.indptr) - 1

    @property
    def n_tokens(self) -> int:
        """Number of query tokens there are."""
        return int(self.queries.shape[1])

    @property
    def truth(self) -> tuple[IntArray, NDArray[np.int32]]:
        """The items as the pair (indptr, items) that `topk_scores` takes."""
        return self.indptr, self.items

    def multi_hot(self) -> sparse.csr_array:
        """Return the items as a 0/1 matrix of shape (n_rows, n_items)."""
        # Copies: taking out duplicates writes into the arrays of the matrix.
        arrays = (np.ones(len(self.items)), self.items.copy(), self.indptr.copy())
        ones = sparse.csr_array(arrays, shape=(self.n_rows, self.n_items))
        ones.sum_duplicates()
        ones.data[:] = 1.0
        return ones

    def take(self, rows: Any, *, name: str | None = None) -> Prescriptions:
        """Return some rows, in the order asked for."""
        chosen = np.asarray(rows)
        chosen = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen.astype(np.int64)
        sizes = np.diff(self.indptr)[chosen]
        indptr = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        entries = np.arange(indptr[-1]) + np.repeat(self.indptr[:-1][chosen] - indptr[:-1], sizes)
        return Prescriptions(
            self.queries[chosen], indptr, self.items[entries], self.n_items, name or self.name
        )

    def without(self, rows: Any, *, name: str | None = None) -> Prescriptions:
        """Return all rows but some, in their order."""
        keep = np.ones(self.n_rows, dtype=np.bool_)
        keep[np.asarray(rows)] = False
        return self.take(keep, name=name)

    @cached_property
    def query_codes(self) -> IntArray:
        """Number the distinct queries; rows with the same set of tokens have the same number."""
        keys = [_row_bytes(self.queries, row) for row in range(self.n_rows)]
        return np.unique(np.asarray(keys, dtype=object), return_inverse=True)[1].astype(np.int64)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the content, order of the items included."""
        digest = hashlib.sha256(f"{self.n_tokens} {self.n_items}".encode())
        for array in (self.queries.indptr, self.queries.indices, self.indptr, self.items):
            digest.update(np.ascontiguousarray(array, dtype=np.int64).tobytes())
        return digest.hexdigest()

    def __repr__(self) -> str:
        return (
            f"Prescriptions {self.name!r}: {self.n_rows} rows, {self.n_tokens} tokens,"
            f" {self.n_items} items"
        )


def _size(declared: int | None, ids: NDArray[Any], what: str) -> int:
    found = int(ids.max()) + 1 if len(ids) else 0
    if len(ids) and int(ids.min()) < 0:
        raise InputError(f"{what} id {int(ids.min())} is negative: number them from 0")
    if declared is not None and found > declared:
        raise InputError(
            f"{what} id {found - 1} is out of range: there are {declared}, numbered from 0"
        )
    return found if declared is None else declared


def _row_bytes(matrix: sparse.csr_array, row: int) -> bytes:
    tokens = matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]
    return bytes(np.sort(tokens).astype(np.int64).tobytes())


def read_prescriptions(
    path: str | Path, *, n_tokens: int | None = None, n_items: int | None = None
) -> Prescriptions:
    """Read a file of lines ``token token ...<TAB>item item ...`` (ids from 0).

    Parameters
    ----------
    path : path
        The file; UTF-8, any line ending, a blank line only at the end.
    n_tokens, n_items : int, optional
        How many there are; ids must be below. The largest id decides where not given.

    Returns
    -------
    Prescriptions
        Named after the file.

    Raises
    ------
    InputError
        Naming the line that is malformed.
    """
    rows = []
    for number, line in enumerate(read_lines(path), start=1):
        where = f"{path}, line {number}"
        parts = line.split("\t")
        if len(parts) != 2:
            raise InputError(
                f"{where}: expected 'tokens<TAB>items', found {len(parts) - 1} tab(s) in"
                f" {line[:60]!r}"
            )
        tokens, items = _ids(parts[0], where, n_tokens), _ids(parts[1], where, n_items)
        if not tokens or not items:
            raise InputError(
                f"{where}: {'no tokens before' if not tokens else 'no items after'} the tab"
            )
        rows.append((tokens, items))
    if not rows:
        raise InputError(f"{path} is empty: expected lines 'tokens<TAB>items'")
    return Prescriptions.from_rows(rows, n_tokens=n_tokens, n_items=n_items, name=Path(path).stem)


def read_mapping(path: str | Path) -> dict[int, str]:
    """Read a file of lines ``name id`` and return the names by id.

    Gaps are allowed (a released file may leave an unused id out); an id given twice is an error.
    """
    names: dict[int, str] = {}
    for number, line in enumerate(read_lines(path), start=1):
        name, _, last = line.strip().rpartition(" ")
        identifiers = _ids(last, f"{path}, line {number}", None)
        if not name or len(identifiers) != 1:
            raise InputError(f"{path}, line {number}: expected 'name id', found {line[:60]!r}")
        if identifiers[0] in names:
            raise InputError(
                f"{path}, line {number}: id {identifiers[0]} was given to {names[identifiers[0]]!r}"
            )
        names[identifiers[0]] = name
    return names


def read_pairs(path: str | Path, *, n_ids: int | None = None) -> IntArray:
    """Read a file of lines ``a b`` and return the pairs, each with its lower id first, sorted."""
    pairs = []
    for number, line in enumerate(read_lines(path), start=1):
        found = _ids(line, f"{path}, line {number}", n_ids)
        if len(found) != 2 or found[0] == found[1]:
            raise InputError(
                f"{path}, line {number}: expected two different ids, found {line[:60]!r}"
            )
        pairs.append((min(found), max(found)))
    return np.asarray(sorted(set(pairs)), dtype=np.int64).reshape(-1, 2)


def read_row_numbers(path: str | Path, *, n_rows: int) -> IntArray:
    """Read a file of 0-based row numbers, one per line, without repeats."""
    rows = []
    for number, line in enumerate(read_lines(path), start=1):
        found = _ids(line, f"{path}, line {number}", n_rows)
        if len(found) != 1:
            raise InputError(f"{path}, line {number}: expected one row number, found {line[:60]!r}")
        rows.append(found[0])
    if len(set(rows)) < len(rows):
        raise InputError(f"{path}: a row number stands twice")
    return np.asarray(rows, dtype=np.int64)


def cooccurring_pairs(matrix: sparse.csr_array, at_least: int) -> IntArray:
    """Return the pairs of columns that are both 1 in at least so many rows, sorted, lower id first.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> cooccurring_pairs(sparse.csr_array(np.array([[1, 1, 0], [1, 1, 1]])), 2)
    array([[0, 1]])
    """
    if at_least < 1:
        raise InputError(f"pairs must occur together at least once, {at_least} was asked for")
    binary = sparse.csr_array(matrix, dtype=np.float64)
    counts = sparse.triu(binary.T @ binary, k=1).tocoo()
    kept = counts.data >= at_least
    pairs = np.stack((counts.coords[0][kept], counts.coords[1][kept]), axis=1).astype(np.int64)
    return np.asarray(pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))])


def read_lines(path: str | Path) -> list[str]:
    """Return the lines of a UTF-8 file without their ends and without the empty ones at the end of the file."""
    lines = read_all_lines(path)
    while lines and not lines[-1]:
        lines.pop()
    return lines


def read_all_lines(path: str | Path) -> list[str]:
    """Return every line of a UTF-8 file without its end, empty ones too, or say why the file cannot be read.

    What follows the last line end is a line only where it holds something, as `wc -l` and editors
    count.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise InputError(f"{path} does not exist") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text (byte {error.start})") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    # Not splitlines(): that would also split at characters which may stand inside a name.
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []


def _ids(text: str, where: str, limit: int | None) -> list[int]:
    found = []
    for word in text.split():
        number = whole_number(word, where)
        if limit is not None and number >= limit:
            raise InputError(
                f"{where}: id {word} is out of range, there are {limit}, numbered from 0"
            )
        found.append(number)
    return found


def whole_number(word: str, where: str) -> int:
    """Return the id that a word of a file is.

    Examples
    --------
    >>> whole_number("12", "herbs.txt"), MAX_ID
    (12, 9999999)
    """
    if not (word.isascii() and word.isdigit()):
        raise InputError(f"{where}: {word[:40]!r} is not an id; ids are whole numbers from 0")
    # The number of ids is that of the largest one, and every one of them takes memory.
    if len(word.lstrip("0")) > len(str(MAX_ID)):
        raise InputError(
            f"{where}: id {word[:20]} is too large, {MAX_ID} is the largest; number them without"
            " gaps"
        )
    return int(word)


def prescription_dataset(
    name: str,
    train: Prescriptions,
    test: Prescriptions | None = None,
    validation: Any = None,
    *,
    token_names: Sequence[str] = (),
    item_names: Sequence[str] = (),
) -> Dataset:
    """Make a dataset for the `topk` protocol of prescriptions.

    Parameters
    ----------
    name : str
        What tables call it.
    train : Prescriptions
        The rows of the train part, or all rows where there is no test part.
    test : Prescriptions, optional
        The rows of the official test part.
    validation : array-like of int, optional
        Row numbers of ``train`` that are set aside to choose on.
    token_names, item_names : sequence of str, optional
        What tokens and items are called.

    Returns
    -------
    Dataset
        Of task ``topk``: ``X`` the queries, ``y`` the place of every relevant item in its row,
        counted from 1.

    Examples
    --------
    >>> train = Prescriptions.from_rows([([0, 1], [2, 0]), ([1], [1])])
    >>> data = prescription_dataset("tiny", train, validation=[1])
    >>> data, data.y.toarray().tolist()
    (Dataset 'tiny': 2 samples x 2 features, topk, 3 items, [[2, 0, 1], [0, 1, 0]])
    """
    parts = [train] if test is None else [train, test]
    n_tokens, n_items = max(part.n_tokens for part in parts), max(part.n_items for part in parts)
    places, repeated = zip(*(_places(part, n_items) for part in parts), strict=True)
    queries = [sparse.csr_array(part.queries, copy=True) for part in parts]
    for matrix in queries:
        matrix.resize((matrix.shape[0], n_tokens))
    n_rows = sum(part.n_rows for part in parts)
    notes = [f"{part.name}: {note}" for part in parts for note in part.notes]
    if sum(repeated):
        notes.append(
            f"{sum(repeated)} repeated item(s) in the lists were counted once, at their first place"
        )
    return Dataset(
        name=name,
        X=sparse.vstack(queries, format="csr"),
        y=sparse.vstack(places, format="csr"),
        task="topk",
        feature_names=tuple(token_names) or tuple(f"token {token}" for token in range(n_tokens)),
        target_names=tuple(item_names) or tuple(f"item {item}" for item in range(n_items)),
        train_part=None if test is None else np.arange(n_rows) < train.n_rows,
        validation_part=(
            None if validation is None else _marks(validation, train.n_rows, n_rows, name)
        ),
        notes=tuple(notes),
    )


def prescriptions_of(X: Any, y: Any, name: str = "rows") -> Prescriptions:
    """Return rows of such a dataset as prescriptions again, the items in their order.

    Examples
    --------
    >>> rows = Prescriptions.from_rows([([0, 1], [2, 0]), ([1], [1])])
    >>> data = prescription_dataset("tiny", rows)
    >>> prescriptions_of(data.X, data.y).items.tolist()
    [2, 0, 1]
    """
    rows = np.repeat(np.arange(y.shape[0]), np.diff(y.indptr))
    order = np.lexsort((y.data, rows))
    items = np.asarray(y.indices[order], dtype=np.int32)
    return Prescriptions(X, np.asarray(y.indptr, dtype=np.int64), items, int(y.shape[1]), name)


def _places(rows: Prescriptions, n_items: int) -> tuple[sparse.csr_array, int]:
    """Number the items of every row from 1; of an item that stands twice the first place counts."""
    sizes = np.diff(rows.indptr)
    row = np.repeat(np.arange(rows.n_rows), sizes)
    _, first = np.unique(row * np.int64(n_items) + rows.items, return_index=True)
    kept = np.zeros(len(rows.items), dtype=np.bool_)
    kept[first] = True
    counts = np.concatenate(([0], np.cumsum(kept)))
    indptr = counts[rows.indptr]
    places = np.arange(1, indptr[-1] + 1) - np.repeat(indptr[:-1], np.diff(indptr))
    matrix = sparse.csr_array(
        (places.astype(np.int32), rows.items[kept], indptr), shape=(rows.n_rows, n_items)
    )
    return matrix, int((~kept).sum())


def _marks(validation: Any, n_train: int, n_rows: int, name: str) -> Any:
    rows: IntArray = np.asarray(validation, dtype=np.int64)
    if rows.size and (rows.min() < 0 or rows.max() >= n_train):
        raise InputError(
            f"dataset {name!r}: validation row {rows.max()} is not a row of train, which has"
            f" {n_train}"
        )
    marks = np.zeros(n_rows, dtype=np.bool_)
    marks[rows] = True
    return marks
