"""`paragone topk`: what it prints, what it writes, and how it fails."""

from __future__ import annotations

import json

import numpy as np
import pytest


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "scores.npy", rng.random((6, 30), dtype=np.float32))
    (tmp_path / "truth.txt").write_text("0 1\t3 1\n1\t2\n0 1\t0 4 5\n2\t29\n0\t7 8\n2 1\t9\n")
    (tmp_path / "train.txt").write_text("0 1\t3 1\n2\t29\n1\t5 6\n")
    return tmp_path


def test_evaluate_prints_names_with_their_conventions(paragone, files):
    code, out, _ = paragone("topk", "evaluate", "--scores", files / "scores.npy", "--truth", files / "truth.txt",
                            "--metrics", "precision,ndcg", "--k", "5,20")  # fmt: skip
    assert code == 0
    assert "precision@5" in out
    assert "ndcg@20[idcg=min]" in out


def test_evaluate_writes_tables_values_and_lists(paragone, files):
    common = ("--scores", files / "scores.npy", "--truth", files / "truth.txt")
    code, out, _ = paragone("topk", "evaluate", *common, "--train", files / "train.txt", "--cluster-queries", "--out",
                            files / "out", "--json")  # fmt: skip
    assert code == 0
    content = json.loads(out)
    assert {path.name for path in (files / "out").iterdir()} == {
        "scores.csv", "samples.csv", "result.json", "lists.npz", "segments.csv", ".paragone-files.json",
    }  # fmt: skip
    assert content["findings"][0].startswith("2 of 6 evaluation rows stand in train")


def test_evaluate_takes_lists_and_a_cluster_file(paragone, files):
    (files / "lists.csv").write_text("3,1\n0\n4\n29\n1\n9\n")
    (files / "groups.txt").write_text("a\na\nb\nb\nc\nc\n")
    code, out, _ = paragone("topk", "evaluate", "--scores", files / "lists.csv", "--truth", files / "truth.txt",
                            "--cluster", files / "groups.txt", "--k", "1")  # fmt: skip
    assert code == 0
    assert "3 clusters" in out
    assert "lists carry no scores" in out


def test_evaluate_takes_trec_files(paragone, files):
    (files / "a.run").write_text("q1 Q0 d1 1 2.0 t\nq1 Q0 d2 2 1.0 t\n")
    (files / "a.qrels").write_text("q1 0 d2 1\n")
    code, out, _ = paragone("topk", "evaluate", "--scores", files / "a.run", "--truth", files / "a.qrels", "--preset",
                            "trec_eval", "--k", "1,2", "--json")  # fmt: skip
    assert code == 0
    values = {row["metric"]: row["value"] for row in json.loads(out)["scores"]}
    assert values["precision@2"] == 0.5
    assert values["mrr@2"] == 0.5


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("--k", "0,5"), "k must be at least 1"),
        (("--k", "10,5"), "k must rise"),
        (("--k", "five"), "--k must be whole numbers"),
        (("--metrics", "precison"), "did you mean 'precision'"),
        (("--truth", "bad.txt"), "bad.txt, line 2"),
        (("--truth", "short.txt"), "6 rows of scores or lists, but 1 rows of truth"),
        (("--truth", "wide.txt"), "names item 30"),
        (("--truth", "none.txt"), "does not exist"),
        (("--scores", "nan.npy"), "sample 1, item 0 is nan"),
        (("--scores", "a.run"), "expected 'query 0 document relevance'"),
        (("--train", "bad.txt"), "bad.txt, line 2"),
    ],
)
def test_bad_input_ends_in_one_sentence_and_exit_code_2(
    paragone, files, monkeypatch, change, words
):
    monkeypatch.chdir(files)
    (files / "bad.txt").write_text("0\t1\nno tab here\n")
    (files / "short.txt").write_text("0\t1\n")
    (files / "wide.txt").write_text("0\t30\n" + "1\t0\n" * 5)
    (files / "a.run").write_text("q1 Q0 d1 1 2.0 t\n")
    scores = np.load("scores.npy")
    scores[1, 0] = np.nan
    np.save("nan.npy", scores)
    options = {"--scores": "scores.npy", "--truth": "truth.txt"} | {change[0]: change[1]}
    code, out, err = paragone(
        "topk", "evaluate", *(word for pair in options.items() for word in pair), "--out", "result"
    )
    assert code == 2
    assert words in err
    assert len(err.strip().splitlines()) == 1
    assert out == ""
    assert not (files / "result").exists()
