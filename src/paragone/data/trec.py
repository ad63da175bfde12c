"""TREC run and qrels files: the scored documents of each query, and which of them are relevant."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from paragone.data.prescriptions import read_lines
from paragone.errors import InputError
from paragone.validation import FloatArray

RUN_LINE = "query Q0 document rank score tag"
QRELS_LINE = "query 0 document relevance"


@dataclass(frozen=True, eq=False)
class TrecRun:
    """A run joined with its judgements, ready for `topk_scores`.

    Documents are numbered for each query by themselves, in the order of their names, so that the higher number is
    the later name; only documents that the run or the judgements name have one.

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


def join_run(run: dict[str, dict[str, float]], qrels: dict[str, dict[str, int]], *, relevant_from: int = 1) -> TrecRun:
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
    numbers = [{name: index for index, name in enumerate(sorted({*run[query], *qrels[query]}))} for query in queries]
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
        notes.append(f"{without_run} judged queries are not in the run: left out, as trec_eval does")
    if without_qrels:
        notes.append(f"{without_qrels} queries of the run are not judged: left out")
    if any(grade > 1 for judged in qrels.values() for grade in judged.values()):
        notes.append("graded judgements count as relevant or not; NDCG takes no account of the grade")
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
        raise InputError(f"{where}: {text[:40]!r} is no number") from error
    if not math.isfinite(number):
        raise InputError(f"{where}: {text[:40]!r} is no finite number")
    return number
