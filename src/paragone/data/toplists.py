"""Ranked lists from files: Paragone's own top lists, and TREC runs with their judgements."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.data.prescriptions import (
    Prescriptions,
    read_all_lines,
    read_lines,
    read_prescriptions,
    whole_number,
)
from paragone.errors import InputError
from paragone.reading import map_array, read_arrays
from paragone.validation import FloatArray


def read_scores(path: str | Path) -> Any:
    """Read scores (samples x items) or lists of item ids from ``.npy``, ``.npz``, ``.csv`` or ``.txt``.

    Parameters
    ----------
    path : path
        A ``.npy`` is mapped, not loaded. A ``.npz`` must hold one array. In a text file each line
        is a sample, its values separated by commas or blanks: whole numbers throughout are lists of
        ids (of any length, best first, an empty line is an empty list), anything else is a matrix
        of scores.

    Returns
    -------
    ndarray of float, or list of ndarray of int
        What `topk_scores` takes.
    """
    name = Path(path)
    if not name.exists():
        raise InputError(f"{path} does not exist")
    if name.suffix == ".npy":
        return _numeric(map_array(name, str(name)), name)
    if name.suffix == ".npz":
        stored = read_arrays(name, str(name))
        if len(stored) != 1:
            raise InputError(
                f"{path} holds {len(stored)} arrays ({', '.join(stored)}): one is expected"
            )
        return _numeric(next(iter(stored.values())), name)
    return _read_text(name)


def _numeric(array: NDArray[Any], path: Path) -> NDArray[Any]:
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise InputError(
            f"{path} must hold a matrix of numbers, it holds {array.dtype} of shape {array.shape}"
        )
    return array


def _read_text(path: Path) -> Any:
    words = [line.replace(",", " ").split() for line in read_all_lines(path)]
    if not any(words):
        raise InputError(f"{path} is empty: expected one line a sample")
    if all(word.isascii() and word.isdigit() for row in words for word in row):
        # An empty line is an empty list, the last one too.
        return [
            np.asarray([whole_number(word, str(path)) for word in row], dtype=np.int64)
            for row in words
        ]
    while not words[-1]:
        # A row of scores cannot be empty, so empty lines at the end mean nothing.
        words.pop()
    rows = []
    for number, row in enumerate(words, start=1):
        if len(row) != len(words[0]):
            raise InputError(
                f"{path}, line {number}: {len(row)} scores, the first line has {len(words[0])}"
            )
        try:
            rows.append([float(word) for word in row])
        except ValueError as error:
            raise InputError(f"{path}, line {number}: {error}") from error
    return np.asarray(rows)


def read_truth(path: str | Path) -> tuple[list[list[int]], Prescriptions | None]:
    """Read the relevant items of each sample.

    Parameters
    ----------
    path : path
        Lines ``tokens<TAB>items`` (the items are the truth and the queries come along), or lines of
        item ids separated by blanks or commas; an empty line is a sample without relevant items,
        the last one too.

    Returns
    -------
    list of list of int, Prescriptions or None
        The truth, and the whole rows where the file has queries.
    """
    lines = read_all_lines(path)
    if not lines:
        raise InputError(f"{path} is empty: expected one line a sample")
    # Any line, because ids after a first line without a tab would be read together with the tokens
    # before it.
    if any("\t" in line for line in lines):
        rows = read_prescriptions(path)
        bounds = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
        return [rows.items[start:stop].tolist() for start, stop in bounds], rows
    truth = []
    for number, line in enumerate(lines, start=1):
        words = line.replace(",", " ").split()
        truth.append([whole_number(word, f"{path}, line {number}") for word in words])
    return truth, None


def looks_like_run(path: str | Path) -> bool:
    """Whether the first line of a file has the six columns of a TREC run, ``Q0`` in the second."""
    name = Path(path)
    if name.suffix in (".npy", ".npz") or not name.is_file():
        return False
    with name.open("rb") as stream:
        words = stream.readline().split()
    return len(words) == 6 and words[1].upper() == b"Q0"


RUN_LINE = "query Q0 document rank score tag"
QRELS_LINE = "query 0 document relevance"


@dataclass(frozen=True, eq=False)
class TrecRun:
    """A run joined with its judgements, ready for `topk_scores`.

    Documents are numbered for each query by themselves, in the order of their names, so that the
    higher number is the later name; only documents that the run or the judgements name have one.

    Attributes
    ----------
    queries : tuple of str
        Names of the queries: those that both files know.
    scores : ndarray of shape (n_queries, width)
        Scores of the retrieved documents; 0 where ``retrieved`` is False.
    retrieved : ndarray of bool of shape (n_queries, width)
        Which documents the run names; no other is a candidate.
    truth : list of list of int
        Relevant documents of each query, in the order of the qrels file.
    notes : tuple of str
        Queries of one file only, and graded judgements.
    """

    queries: tuple[str, ...]
    scores: FloatArray
    retrieved: NDArray[np.bool_]
    truth: list[list[int]]
    notes: tuple[str, ...]


def read_run(path: str | Path) -> dict[str, dict[str, float]]:
    """Read lines ``query Q0 document rank score tag``; the rank is not looked at, as in trec_eval."""
    run: dict[str, dict[str, float]] = {}
    for where, (query, _, document, _, text, _) in _columns(path, RUN_LINE):
        score = _number(text, where)
        if document in run.setdefault(query, {}):
            raise InputError(f"{where}: document {document!r} stands twice in query {query!r}")
        run[query][document] = score
    if not run:
        raise InputError(f"{path} is empty: expected lines {RUN_LINE!r}")
    return run


def read_qrels(path: str | Path) -> dict[str, dict[str, int]]:
    """Read lines ``query 0 document relevance`` and return the judgements of each query, in order."""
    qrels: dict[str, dict[str, int]] = {}
    for where, (query, _, document, text) in _columns(path, QRELS_LINE):
        if document in qrels.setdefault(query, {}):
            raise InputError(f"{where}: document {document!r} is judged twice in query {query!r}")
        qrels[query][document] = int(_number(text, where))
    if not qrels:
        raise InputError(f"{path} is empty: expected lines {QRELS_LINE!r}")
    return qrels


def looks_like_triples(path: str | Path) -> bool:
    """Whether the first line of a file is a user, an item and a score with tabs between, as Elliot writes them."""
    name = Path(path)
    if name.suffix in (".npy", ".npz") or not name.is_file():
        return False
    with name.open("rb") as stream:
        words = stream.readline(2**16).rstrip(b"\r\n").split(b"\t")
    try:
        return len(words) == 3 and math.isfinite(float(words[2]))
    except ValueError:
        return False


def read_triples(path: str | Path) -> dict[str, dict[str, float]]:
    """Read lines ``user<TAB>item<TAB>score`` as a run; the order of lines is not looked at."""
    run: dict[str, dict[str, float]] = {}
    for number, line in enumerate(read_lines(path), start=1):
        where, parts = f"{path}, line {number}", line.split("\t")
        if len(parts) != 3:
            raise InputError(f"{where}: expected a user, an item and a score with tabs between")
        user, item, text = (part.strip() for part in parts)
        if item in run.setdefault(user, {}):
            raise InputError(f"{where}: item {item!r} stands twice in the list of user {user!r}")
        run[user][item] = _number(text, where)
    return run


def read_relevant(path: str | Path) -> tuple[dict[str, dict[str, int]], tuple[str, ...]]:
    """Read who is relevant to whom by names: TREC qrels, or interactions ``user<TAB>item`` with or without a rating.

    Parameters
    ----------
    path : path
        Four columns of which the second is one and the same throughout are qrels. Tabs between two
        to four columns are interactions, each relevant whatever its rating; a heading such as
        RecBole's ``user_id:token`` may stand above.

    Returns
    -------
    dict, tuple of str
        Judgements of each query or user as `read_qrels` gives them, and notes.
    """
    lines = read_lines(path)
    if not lines:
        raise InputError(
            f"{path} is empty: expected {QRELS_LINE!r}, or a user and an item with a tab between"
        )
    rows = [line.split() for line in lines]
    if all(len(row) == 4 for row in rows) and len({row[1] for row in rows}) == 1:
        return read_qrels(path), ()
    heading = [name.partition(":")[0] for name in lines[0].split("\t")] if ":" in lines[0] else []
    columns = [0, 1]
    if heading:
        try:
            columns = [heading.index("user_id"), heading.index("item_id")]
        except ValueError as error:
            raise InputError(
                f"{path}: its heading has no user_id and item_id: {lines[0][:60]!r}"
            ) from error
    found: dict[str, dict[str, int]] = {}
    ratings = set()
    for number, line in enumerate(lines[bool(heading) :], start=1 + bool(heading)):
        parts = [part.strip() for part in line.split("\t")]
        if len(parts) < 2 or (not heading and len(parts) > 4) or len(parts) <= max(columns):
            raise InputError(
                f"{path}, line {number}: expected {QRELS_LINE!r}, or a user and an item with tabs"
                " between"
            )
        user, item = (parts[column] for column in columns)
        if item in found.setdefault(user, {}):
            raise InputError(f"{path}, line {number}: item {item!r} stands twice for user {user!r}")
        found[user][item] = 1
        ratings.add(parts[2] if len(parts) > 2 and not heading else "")
    graded = (
        ("every interaction of the truth counts as relevant, whatever its rating",)
        if len(ratings) > 1
        else ()
    )
    return found, graded


def join_run(
    run: dict[str, dict[str, float]], qrels: dict[str, dict[str, int]], *, relevant_from: int = 1
) -> TrecRun:
    """Join a run with its judgements over the queries both know.

    Parameters
    ----------
    run, qrels : dict
        As `read_run` and `read_qrels` give them.
    relevant_from : int, default=1
        The lowest judgement that counts as relevant.

    Returns
    -------
    TrecRun
        With a note for what was left out.

    Examples
    --------
    >>> joined = join_run({"q": {"b": 2.0, "a": 1.0}}, {"q": {"c": 1, "b": 1}})
    >>> joined.scores, joined.truth
    (array([[1., 2., 0.]]), [[2, 1]])
    """
    queries = tuple(query for query in qrels if query in run)
    if not queries:
        raise InputError("the run and the judgements have no query in common")
    numbers = [
        {name: index for index, name in enumerate(sorted({*run[query], *qrels[query]}))}
        for query in queries
    ]
    width = max(len(number) for number in numbers)
    scores = np.zeros((len(queries), width))
    retrieved = np.zeros((len(queries), width), dtype=np.bool_)
    truth = []
    for row, (query, number) in enumerate(zip(queries, numbers, strict=True)):
        columns = [number[document] for document in run[query]]
        scores[row, columns] = list(run[query].values())
        retrieved[row, columns] = True
        judged = qrels[query].items()
        truth.append([number[document] for document, grade in judged if grade >= relevant_from])
    return TrecRun(queries, scores, retrieved, truth, _notes(run, qrels, queries))


def _notes(
    run: dict[str, dict[str, float]], qrels: dict[str, dict[str, int]], queries: tuple[str, ...]
) -> tuple[str, ...]:
    notes = []
    without_run, without_qrels = len(qrels) - len(queries), len(run) - len(queries)
    if without_run:
        notes.append(
            f"{without_run} judged queries are not in the run: left out, as trec_eval does"
        )
    if without_qrels:
        notes.append(f"{without_qrels} queries of the run are not judged: left out")
    if any(grade > 1 for judged in qrels.values() for grade in judged.values()):
        notes.append(
            "graded judgements count as relevant or not; NDCG takes no account of the grade"
        )
    return tuple(notes)


def _columns(path: str | Path, form: str) -> Iterator[tuple[str, list[str]]]:
    """Give every line's place and its columns, as many as the form has words."""
    n_columns = len(form.split())
    for number, line in enumerate(read_lines(path), start=1):
        parts = line.split()
        where = f"{path}, line {number}"
        if len(parts) != n_columns:
            raise InputError(f"{where}: expected {form!r}, found {len(parts)} column(s)")
        yield where, parts


def _number(text: str, where: str) -> float:
    try:
        number = float(text)
    except ValueError as error:
        raise InputError(f"{where}: {text[:40]!r} is not a number") from error
    if not math.isfinite(number):
        raise InputError(f"{where}: {text[:40]!r} is not a finite number")
    return number
