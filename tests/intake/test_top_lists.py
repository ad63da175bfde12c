"""Top-K runs of any program against one truth: every value by a naive loop, all pairs, ties bounded, gaps counted."""

from __future__ import annotations

import itertools
import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from paragone.errors import InputError
from paragone.intake.top_lists import compare_top_lists

sys.path.insert(0, str(Path(__file__).parents[1]))
from command_ends import refused

USERS = [f"u{i:02d}" for i in range(40)]
ITEMS = [f"i{i:02d}" for i in range(30)]
LEVELS = {"good": 2.0, "fair": 1.0, "poor": 0.2}


@pytest.fixture
def data(tmp_path):
    """Truth by user, and of every method the scores of 15 items per user; written in every format by name."""
    rng = np.random.default_rng(7)
    truth = {user: sorted(rng.choice(ITEMS, rng.integers(1, 6), replace=False)) for user in USERS}
    runs: dict[str, dict[str, dict[str, float]]] = {}
    for name, level in LEVELS.items():
        runs[name] = {}
        for user in USERS:
            scores = {item: rng.standard_normal() + level * (item in truth[user]) for item in ITEMS}
            best = sorted(scores, key=scores.__getitem__, reverse=True)[:15]
            runs[name][user] = {item: float(round(scores[item], 6)) for item in best}
    write(tmp_path, truth, runs)
    return tmp_path, truth, runs


def write(folder: Path, truth, runs) -> None:
    pairs = [(user, item) for user, items in truth.items() for item in items]
    (folder / "t.qrels").write_text("".join(f"{user} 0 {item} 1\n" for user, item in pairs))
    (folder / "t.tsv").write_text(
        "".join(f"{user}\t{item}\t{i % 5}\t99\n" for i, (user, item) in enumerate(pairs))
    )
    inter = "".join(f"{item}\t{user}\t4.0\n" for user, item in pairs)
    (folder / "t.inter").write_text(f"item_id:token\tuser_id:token\trating:float\n{inter}")
    for name, run in runs.items():
        rows = [
            (user, item, score) for user, scores in run.items() for item, score in scores.items()
        ]
        (folder / f"{name}.run").write_text(
            "".join(f"{u} Q0 {i} 0 {s!r} {name}\n" for u, i, s in rows)
        )
        (folder / f"{name}.tsv").write_text(
            "".join(f"{u}\t{i}\t{s!r}\n" for u, i, s in reversed(rows))
        )


def naive(truth, run, metric: str, cut: int) -> list[float]:
    """Return the value of every user, in plain loops."""
    values = []
    for user in USERS:
        ranked = sorted(run[user], key=lambda item: (-run[user][item], item))[:cut]
        hits = [place for place, item in enumerate(ranked) if item in truth[user]]
        if metric == "recall":
            values.append(len(hits) / len(truth[user]))
        elif metric == "precision":
            values.append(len(hits) / cut)
        else:
            ideal = sum(1 / math.log2(place + 2) for place in range(min(cut, len(truth[user]))))
            values.append(sum(1 / math.log2(place + 2) for place in hits) / ideal)
    return values


def holm(raw: list[float]) -> list[float]:
    order = sorted(range(len(raw)), key=raw.__getitem__)
    found, so_far = [0.0] * len(raw), 0.0
    for rank, place in enumerate(order):
        so_far = max(so_far, min(1.0, raw[place] * (len(raw) - rank)))
        found[place] = so_far
    return found


@pytest.mark.parametrize(
    ("ending", "truth_file"), [("run", "t.qrels"), ("tsv", "t.tsv"), ("tsv", "t.inter")]
)
def test_all_pairs_are_those_of_a_naive_loop(data, ending, truth_file):
    folder, truth, runs = data
    files = [str(folder / f"{name}.{ending}") for name in LEVELS]
    found = compare_top_lists(files, folder / truth_file, metric="ndcg,recall@5", at=10)
    wanted = []
    for metric, cut in (("ndcg", 10), ("recall", 5)):
        for a, b in itertools.combinations(LEVELS, 2):
            first, second = (np.array(naive(truth, runs[name], metric, cut)) for name in (a, b))
            p = stats.ttest_rel(first, second).pvalue
            wanted.append(
                (metric, cut, a, b, first.mean(), second.mean(), (first - second).mean(), p)
            )
    assert len(found.table) == len(wanted) == found.n_family == 6
    for row, (metric, cut, a, b, *numbers), adjusted in zip(
        found.rows, wanted, holm([one[-1] for one in wanted]), strict=True
    ):
        assert (row.metric.partition("[")[0], row.at, row.method, row.rival) == (metric, cut, a, b)
        ours = [row.mean_method, row.mean_rival, row.difference, row.p_raw, row.p]
        np.testing.assert_allclose(ours, [*numbers, adjusted], rtol=1e-9, atol=1e-12)
    against_poor = [pair.word for pair in found.pairs if pair.rival == "poor"]
    assert against_poor[:1] == ["better"]
    drawn = json.dumps(found.charts["forest"].to_dict())
    assert "good against poor, Recall at 5" in drawn
    assert "All pairs" in drawn
    assert found.units == ("queries" if ending == "run" else "users")


def test_a_reference_makes_a_smaller_family(data):
    folder, truth, runs = data
    files = [f"Ours={folder}/fair.run", str(folder / "good.run"), str(folder / "poor.run")]
    found = compare_top_lists(files, folder / "t.qrels", metric="precision", at=5, reference="Ours")
    assert [(row.rival, row.n) for row in found.rows] == [("good", 40), ("poor", 40)]
    values = {name: np.array(naive(truth, runs[name], "precision", 5)) for name in LEVELS}
    raw = [stats.ttest_rel(values["fair"], values[name]).pvalue for name in ("good", "poor")]
    np.testing.assert_allclose([row.p for row in found.rows], holm(raw), rtol=1e-9)
    assert "Precision divides by K, however long a list is." in found.warnings


def test_lists_of_ids_and_scores_are_compared_row_by_row_and_queries_hang_together(tmp_path):
    rng = np.random.default_rng(1)
    truth = [sorted(rng.choice(20, 3, replace=False).tolist()) for _ in range(30)]
    (tmp_path / "truth.txt").write_text(
        "".join(f"{row // 2}\t{' '.join(map(str, t))}\n" for row, t in enumerate(truth))
    )
    scores = rng.random((30, 20)) + np.array(
        [[0.5 * (item in t) for item in range(20)] for t in truth]
    )
    np.save(tmp_path / "scores.npy", scores)
    lists = [np.argsort(-row, kind="stable")[:5].tolist() for row in rng.random((30, 20))]
    (tmp_path / "lists.txt").write_text("".join(" ".join(map(str, row)) + "\n" for row in lists))
    files = [str(tmp_path / "scores.npy"), str(tmp_path / "lists.txt")]
    found = compare_top_lists(files, tmp_path / "truth.txt", metric="recall", at=5)
    (row,) = found.rows
    by_hand = [
        np.mean([len(set(one[:5]) & set(t)) / 3 for one, t in zip(ranked, truth, strict=True)])
        for ranked in (np.argsort(-scores, axis=1, kind="stable").tolist(), lists)
    ]
    assert [row.mean_method, row.mean_rival] == pytest.approx(by_hand, abs=1e-12)
    assert row.clusters == 15
    assert "Lists carry no scores, so it is not known whether scores were equal." in found.warnings


def test_ties_are_bounded_and_an_unsettled_sign_is_said(data):
    folder, truth, runs = data
    flat = {user: dict.fromkeys(scores, 1.0) for user, scores in runs["good"].items()}
    write(folder, truth, {**runs, "flat": flat})
    found = compare_top_lists(
        [str(folder / "flat.run"), str(folder / "poor.run")],
        folder / "t.qrels",
        metric="recall",
        at=5,
    )
    hits = [sum(item in truth[user] for item in flat[user]) for user in USERS]
    low = np.mean([max(0, h - 10) / len(truth[u]) for u, h in zip(USERS, hits, strict=True)])
    high = np.mean([min(5, h) / len(truth[u]) for u, h in zip(USERS, hits, strict=True)])
    told = next(note for note in found.warnings if note.startswith("flat: 100.0 %"))
    assert f"is {low:.4f} to {high:.4f}" in told
    assert any(
        "flat less poor is" in note and "its sign is not settled" in note for note in found.warnings
    )


def test_queries_of_some_files_only_are_counted_and_left_out(data):
    folder, truth, runs = data
    less = {user: scores for user, scores in runs["fair"].items() if user not in USERS[:4]}
    write(folder, truth, {**runs, "fair": less})
    found = compare_top_lists(
        [str(folder / "good.run"), str(folder / "fair.run")], folder / "t.qrels", at=10
    )
    assert "36 of 40 queries are in all files and were compared (fair lacks 4)." in found.warnings
    assert found.rows[0].n == 36
    values = naive(truth, runs["good"], "ndcg", 10)[4:]
    assert found.rows[0].mean_method == pytest.approx(np.mean(values), abs=1e-12)


def test_a_copy_is_told_and_nothing_is_found(data):
    folder, _, _ = data
    (folder / "copy.run").write_bytes((folder / "good.run").read_bytes())
    found = compare_top_lists(
        [str(folder / "good.run"), str(folder / "copy.run")], folder / "t.qrels"
    )
    assert "good and copy are the same file, byte for byte." in found.warnings
    assert found.pairs[0].word == "undecided"


def test_on_the_command_line(data, paragone, tmp_path):
    folder, _, _ = data
    files = [folder / f"{name}.run" for name in LEVELS]
    ended = paragone("compare", *files, "--truth", folder / "t.qrels", "--json")
    assert ended.code == 0, ended.err
    assert len(json.loads(ended.out)["pairs"]) == 3
    ended = paragone(
        "compare",
        *files,
        "--truth",
        folder / "t.qrels",
        "--metric",
        "ndcg,recall@5",
        "--out",
        tmp_path / "o",
    )
    assert ended.code == 0, ended.err
    assert "NDCG[idcg=min]" in ended.out
    assert "good is better than" in ended.out


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda f: (f / "good.run").write_text((f / "good.run").read_text() + "u00 Q0 i1\n"),
            "found 3 column",
        ),
        (
            lambda f: (f / "good.run").write_text((f / "good.run").read_text() * 2),
            "stands twice in query",
        ),
        (lambda f: (f / "good.run").write_text("x Q0 i1 1 1.0 t\n"), "no query in common"),
        (lambda f: (f / "good.run").write_text("u00 Q0 i1 1 nan t\n"), "not a finite number"),
        (
            lambda f: (f / "good.run").write_bytes((f / "good.tsv").read_bytes()),
            "name their users in different ways",
        ),
        (lambda f: (f / "t.qrels").write_text(""), "is empty"),
        (lambda f: (f / "t.qrels").write_text((f / "t.qrels").read_text() * 2), "judged twice"),
        (lambda f: (f / "good.run").unlink(), "there is no file"),
    ],
)
def test_spoiled_files_are_refused_in_a_sentence(data, paragone, change, sentence):
    folder, _, _ = data
    change(folder)
    files = [folder / "good.run", folder / "poor.run"]
    refused(paragone("compare", *files, "--truth", folder / "t.qrels"), sentence)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"metric": "ndgc"}, "did you mean 'ndcg'"),
        ({"metric": "recall@x"}, "a cut-off is a whole number"),
        ({"at": 2.5}, "a cut-off is a whole number"),
        ({"reference": "god"}, "did you mean 'good'"),
        ({"metric": "f1_of_means"}, "no value per user"),
    ],
)
def test_wrong_requests_are_refused(data, options, sentence):
    folder, _, _ = data
    with pytest.raises(InputError, match=sentence):
        compare_top_lists(
            [str(folder / "good.run"), str(folder / "poor.run")], folder / "t.qrels", **options
        )


def test_runs_and_judgements_of_ranx_are_those_of_trec(data):
    folder, truth, runs = data
    judged = {user: dict.fromkeys(items, 1) for user, items in truth.items()}
    (folder / "qrels.json").write_text(json.dumps(judged))
    for name in ("good", "fair"):
        (folder / f"{name}.json").write_text(json.dumps(runs[name]))
    found = compare_top_lists([f"{folder}/good.json", f"{folder}/fair.json"], folder / "qrels.json")
    other = compare_top_lists([f"{folder}/good.run", f"{folder}/fair.run"], folder / "t.qrels")
    assert found.pairs[0].mean_method == other.pairs[0].mean_method
    assert found.pairs[0].p == other.pairs[0].p
    assert found.units == "queries"
