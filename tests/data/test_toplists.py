"""Scores, lists, truth and TREC files from elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from paragone.data.toplists import (
    join_run,
    looks_like_run,
    read_qrels,
    read_run,
    read_scores,
    read_truth,
)
from paragone.errors import InputError
from paragone.metrics.topk import topk_scores


def test_matrices_and_lists_are_told_apart(tmp_path):
    np.save(tmp_path / "scores.npy", np.eye(2, dtype=np.float32))
    np.savez(tmp_path / "scores.npz", any_name=np.eye(2))
    (tmp_path / "scores.csv").write_text("0.5,1\n2,3e-1\n")
    (tmp_path / "lists.csv").write_text("3,1,2\n0\n")
    assert read_scores(tmp_path / "scores.npy").dtype == np.float32
    assert read_scores(tmp_path / "scores.npz").shape == (2, 2)
    assert read_scores(tmp_path / "scores.csv").tolist() == [[0.5, 1.0], [2.0, 0.3]]
    assert [row.tolist() for row in read_scores(tmp_path / "lists.csv")] == [[3, 1, 2], [0]]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.csv", b"0.5,1\n2\n", "line 2: 1 scores, the first line has 2"),
        ("a.csv", b"0.5,x\n", "line 1"),
        ("a.csv", b"", "empty"),
        ("a.npy", b"rubbish", "not a NumPy array"),
        ("a.npz", b"rubbish", "not a readable"),
    ],
)
def test_unreadable_scores_are_explained(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=words):
        read_scores(tmp_path / name)


def test_arrays_of_the_wrong_kind_are_explained(tmp_path):
    np.savez(tmp_path / "two.npz", a=np.eye(2), b=np.eye(2))
    with pytest.raises(InputError, match="holds 2 arrays"):
        read_scores(tmp_path / "two.npz")
    np.save(tmp_path / "flat.npy", np.ones(3))
    with pytest.raises(InputError, match="matrix of numbers"):
        read_scores(tmp_path / "flat.npy")
    with pytest.raises(InputError, match="does not exist"):
        read_scores(tmp_path / "none.npy")


def test_truth_comes_with_queries_or_without(tmp_path):
    (tmp_path / "plain.txt").write_text("3 1\n\n2,0\n")
    assert read_truth(tmp_path / "plain.txt") == ([[3, 1], [], [2, 0]], None)
    (tmp_path / "rows.txt").write_text("0 1\t3 1\n2\t0\n")
    truth, rows = read_truth(tmp_path / "rows.txt")
    assert truth == [[3, 1], [0]]
    assert rows.n_rows == 2
    (tmp_path / "bad.txt").write_text("3\nx\n")
    with pytest.raises(InputError, match="line 2: 'x'"):
        read_truth(tmp_path / "bad.txt")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("empty", [0, 1, 2])
@pytest.mark.parametrize("closed", [True, False])
def test_an_empty_line_is_a_sample_without_items_at_the_end_too(tmp_path, end, empty, closed):
    lines = ["3 1", "", "2,0", *[""] * empty]
    # The last line may lack its end, but an empty line without one does not exist.
    text = end.join(lines) + (end if closed or empty else "")
    (tmp_path / "a.txt").write_bytes(text.encode())
    assert read_truth(tmp_path / "a.txt")[0] == [[3, 1], [], [2, 0], *[[]] * empty]
    assert [row.tolist() for row in read_scores(tmp_path / "a.txt")] == [
        [3, 1],
        [],
        [2, 0],
        *[[]] * empty,
    ]


def test_a_last_sample_without_items_reaches_the_numbers(tmp_path):
    (tmp_path / "truth.txt").write_text("0\n1\n\n")
    truth, _ = read_truth(tmp_path / "truth.txt")
    scores = np.array([[0.9, 0.1], [0.1, 0.9], [0.5, 0.4]])
    assert topk_scores(scores, truth, k=1, empty="zero").value("recall", 1) == pytest.approx(2 / 3)
    with pytest.raises(InputError, match="sample 2"):
        topk_scores(scores, truth, k=1)


def test_empty_lines_after_scores_or_rows_with_queries_are_still_nothing(tmp_path):
    (tmp_path / "scores.csv").write_text("0.5,1\n2,3e-1\n\n\n")
    assert read_scores(tmp_path / "scores.csv").shape == (2, 2)
    (tmp_path / "rows.txt").write_text("0 1\t3 1\n2\t0\n\n\n")
    assert read_truth(tmp_path / "rows.txt")[0] == [[3, 1], [0]]


def test_a_first_line_without_a_tab_does_not_turn_tokens_into_relevant_items(tmp_path):
    (tmp_path / "rows.txt").write_text("\n0 1\t3 1\n")
    with pytest.raises(InputError, match="line 1: expected 'tokens<TAB>items'"):
        read_truth(tmp_path / "rows.txt")


RUN = (
    "q1 Q0 d2 1 2.5 tag\nq1 Q0 d1 2 2.5 tag\nq1 Q0 d3 3 1.0 tag\nq2 Q0 d1 1 0.5 tag\nq9 Q0 d1 1 1"
    " tag\n"
)
QRELS = "q1 0 d1 1\nq1 0 d2 0\nq1 0 d7 2\nq2 0 d1 1\nq5 0 d1 1\n"


def test_a_trec_run_is_judged_as_trec_eval_judges_it(tmp_path):
    (tmp_path / "a.run").write_text(RUN)
    (tmp_path / "a.qrels").write_text(QRELS)
    assert looks_like_run(tmp_path / "a.run")
    assert not looks_like_run(tmp_path / "a.qrels")
    joined = join_run(read_run(tmp_path / "a.run"), read_qrels(tmp_path / "a.qrels"))
    assert joined.queries == ("q1", "q2")
    assert len(joined.notes) == 3
    result = topk_scores(
        joined.scores, joined.truth, k=(1, 3), preset="trec_eval", exclude=~joined.retrieved
    )
    # d2 and d1 tie: trec_eval puts the later name first, so q1 is right at rank 2; d7 is never
    # retrieved.
    assert result.per_sample["precision"].tolist() == [[0.0, 1 / 3], [1.0, 1 / 3]]
    assert result.per_sample["map[over=n]"].tolist() == [[0.0, 0.25], [1.0, 1.0]]
    assert result.per_sample["mrr"].tolist() == [[0.0, 0.5], [1.0, 1.0]]


@pytest.mark.parametrize(
    ("reader", "text", "words"),
    [
        (read_run, "q1 Q0 d1 1 2.5\n", "line 1: expected 'query Q0"),
        (read_run, "q1 Q0 d1 1 x tag\n", "line 1: 'x' is not a number"),
        (read_run, "q1 Q0 d1 1 2 t\nq1 Q0 d1 2 1 t\n", "line 2: document 'd1' stands twice"),
        (read_run, "", "empty"),
        (read_qrels, "q1 0 d1\n", "line 1: expected 'query 0"),
        (read_qrels, "q1 0 d1 1\nq1 0 d1 0\n", "line 2: document 'd1' is judged twice"),
        (read_qrels, "", "empty"),
    ],
)
def test_malformed_trec_lines_are_named(tmp_path, reader, text, words):
    path = tmp_path / "file"
    path.write_text(text)
    with pytest.raises(InputError, match=words):
        reader(path)


def test_files_without_a_common_query_are_refused():
    with pytest.raises(InputError, match="no query in common"):
        join_run({"a": {"d": 1.0}}, {"b": {"d": 1}})
