"""The `trec_eval` preset against trec_eval's rules, written down once more in plain Python.

trec_eval keeps a score in a C `float`, orders by falling score and then by falling document name,
and looks at the whole list for map and recip_rank; queries that only one file knows, or without a
relevant document, are left out.
"""

from __future__ import annotations

import json
import math
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paragone import Experiment
from paragone.data import prescription_dataset
from paragone.data.toplists import join_run, read_qrels, read_run
from paragone.errors import InputError
from paragone.metrics.topk import PRESETS, topk_scores
from paragone.protocols import TopK
from paragone.testing.recommenders import example_prescriptions

KS = (1, 3, 8)


def as_c_float(value: float) -> float:
    """Round to a C `float` and back, as `(float) atof(text)` does."""
    return struct.unpack("f", struct.pack("f", value))[0]


def trec_measures(run: dict[str, float], qrels: dict[str, int]) -> dict[str, list[float]]:
    """P, recall, ndcg_cut, map, recip_rank and success of one query, from the definitions."""
    order = sorted(run, key=lambda name: (as_c_float(run[name]), name.encode()), reverse=True)
    gains = [qrels.get(name, 0) > 0 for name in order]
    n = sum(grade > 0 for grade in qrels.values())
    hits = [sum(gains[:k]) for k in KS]
    dcg = [sum(gain / math.log2(rank + 2) for rank, gain in enumerate(gains[:k])) for k in KS]
    ideal = [sum(1 / math.log2(rank + 2) for rank in range(min(n, k))) for k in KS]
    ap = [
        sum(sum(gains[: rank + 1]) / (rank + 1) for rank, gain in enumerate(gains[:k]) if gain) / n
        for k in KS
    ]
    rr = [next((1 / (rank + 1) for rank, gain in enumerate(gains[:k]) if gain), 0.0) for k in KS]
    return {
        "precision": [hit / k for hit, k in zip(hits, KS, strict=True)],
        "recall": [hit / n for hit in hits],
        "ndcg[idcg=min]": [a / b for a, b in zip(dcg, ideal, strict=True)],
        "map[over=n]": ap,
        "mrr": rr,
        "hit_rate": [float(hit > 0) for hit in hits],
    }


def near(rng, count):
    """Scores of which many differ as float64 and few as float32."""
    return 1.0 + rng.integers(0, 3, count) * 1e-3 + rng.integers(0, 50, count) * 1e-10


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 100_000))
def test_every_measure_is_that_of_the_plain_rules(seed):
    rng = np.random.default_rng(seed)
    run = {
        f"q{i}": {
            f"d{j}": float(s) for j, s in zip(rng.permutation(12)[:8], near(rng, 8), strict=True)
        }
        for i in range(4)
    }
    qrels = {
        f"q{i}": {f"d{j}": int(rng.integers(0, 2)) for j in rng.permutation(12)[:6]}
        for i in range(4)
    }
    judged = [query for query in qrels if any(qrels[query].values())]
    if not judged:
        return
    joined = join_run(run, qrels)
    result = topk_scores(
        joined.scores, joined.truth, k=KS, preset="trec_eval", exclude=~joined.retrieved
    )
    for name in PRESETS["trec_eval"].metrics:
        expected = np.mean(
            [trec_measures(run[query], qrels[query])[name] for query in judged], axis=0
        )
        np.testing.assert_allclose(result.means[name], expected, rtol=0, atol=1e-12)


def test_scores_that_differ_only_beyond_float32_are_ties_and_go_by_name():
    scores = np.array([[1.0 + 1e-9, 1.0]])
    assert topk_scores(scores, [[0]], k=1).ranking.items.tolist() == [[0]]
    by_trec = topk_scores(scores, [[0]], k=1, preset="trec_eval")
    assert by_trec.ranking.items.tolist() == [[1]]
    assert by_trec.tie_share.tolist() == [1.0]
    by_block = topk_scores(lambda rows: scores[rows], [[0]], k=1, preset="trec_eval", n_items=2)
    assert by_block.ranking.items.tolist() == [[1]]
    assert topk_scores(
        scores, [[0]], k=1, preset="trec_eval", ties="id"
    ).ranking.items.tolist() == [[0]]


def test_float32_scores_are_compared_as_they_are():
    scores = np.array([[0.25, 0.5, 0.5]], dtype=np.float32)
    assert topk_scores(scores, [[0]], k=2, preset="trec_eval").ranking.items.tolist() == [[2, 1]]


def test_a_score_too_large_for_float32_is_refused_by_its_place():
    with pytest.raises(InputError, match="sample 0, item 1 is inf as float32"):
        topk_scores(np.array([[1.0, 1e300]]), [[0]], k=1, preset="trec_eval")


def test_the_command_line_compares_as_float32_too(paragone, tmp_path):
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 1.000000001 t\nq1 Q0 d2 2 1.0 t\n")
    (tmp_path / "a.qrels").write_text("q1 0 d2 1\nq1 0 d9 1\n")
    run, qrels = read_run(tmp_path / "a.run"), read_qrels(tmp_path / "a.qrels")
    options = (
        "--scores",
        tmp_path / "a.run",
        "--truth",
        tmp_path / "a.qrels",
        "--k",
        "1,3,8",
        "--json",
    )
    ended = paragone("topk", "evaluate", *options, "--preset", "trec_eval")
    found = json.loads(ended.out)
    values = {(row["metric"].partition("@")[0], row["at"]): row["value"] for row in found["scores"]}
    for name, expected in trec_measures(run["q1"], qrels["q1"]).items():
        for k, value in zip(KS, expected, strict=True):
            assert values[name.partition("[")[0], k] == pytest.approx(value, abs=1e-12)
    assert values["precision", 1] == 1.0
    assert any("1 of 2 relevant items" in note for note in found["notes"])


class Near:
    """Scores all items alike but for a difference that float32 does not see."""

    def fit(self, train, validation=None):
        self.n_items = train.n_items
        return self

    def score(self, block):
        return np.tile(1.0 + 1e-9 * np.arange(self.n_items)[::-1], (block.shape[0], 1))


def test_the_protocol_keeps_the_lists_that_float32_gives_and_fits_of_other_presets_apart(tmp_path):
    rows = example_prescriptions(40, 6, 9, seed=1)
    data = prescription_dataset("rows", rows.take(np.arange(30)), rows.take(np.arange(30, 40)))
    keys = {}
    for preset in ("trec_eval", "rectools"):
        protocol = TopK(k=(2,), preset=preset, validation="none", floors=False)
        results = Experiment([data], {"near": Near}, protocol=protocol).run(
            tmp_path / f"{preset}.sqlite", workers=0
        )
        listed = results.reader().topk_result("rows", "near").ranking.items[0, :2].tolist()
        assert listed == ([8, 7] if preset == "trec_eval" else [0, 1])
        keys[preset] = {
            cell.fit_key for cell in Experiment([data], {"near": Near}, protocol=protocol).cells()
        }
    assert not keys["trec_eval"] & keys["rectools"]
