"""Details of lighteval: a row per item, paired by what it asks, with answers unread."""

from __future__ import annotations

from math import comb

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from paragone.errors import InputError
from paragone.intake import read_results

TIME = "2026-03-01T10-00-00.123456"
N = 198


def right(seed, share):
    return (np.random.default_rng(seed).random(N) < share).astype(float)


def rows(values, *, text="q", ids=True, metric="extractive_match"):
    return [
        {
            "doc": {
                **({"id": str(place)} if ids else {}),
                "query": f"{text} {place}",
                "choices": ["A", "B"],
                "gold_index": [place % 2],
            },
            "metric": {metric: value, "corpus": [1.0, 0.0]},
            "model_response": {"text": ["x" * 30]},
        }
        for place, value in enumerate(values)
    ]


def write(folder, model, table, *, shots=0, time=TIME):
    place = folder / "details" / model / time
    place.mkdir(parents=True)
    path = place / f"details_lighteval|gpqa:diamond|{shots}_{time}.parquet"
    parquet.write_table(pa.Table.from_pylist(table), path)
    return path


def by_hand(a, b):
    wins, losses = int(((a == 1) & (b == 0)).sum()), int(((a == 0) & (b == 1)).sum())
    n = wins + losses
    return min(1.0, 2 * sum(comb(n, k) for k in range(min(wins, losses) + 1)) / 2**n)


A, B = right(1, 0.7), right(2, 0.5)


@pytest.mark.parametrize("ids", [True, False])
def test_rows_give_mcnemars_exact_p_whatever_their_order(tmp_path, ids):
    write(tmp_path, "lab/a", rows(A, ids=ids)), write(tmp_path, "lab/b", rows(B, ids=ids)[::-1])
    found = read_results(tmp_path)
    assert (found.methods, found.datasets) == (["lab/a", "lab/b"], ["lighteval|gpqa:diamond"])
    assert found.metrics == {"extractive_match": True}
    assert any(
        "corpus is not compared: an item holds several values" in note for note in found.notes
    )
    (pair,) = found.compare().pairs
    assert (pair.n, pair.p_raw) == (N, pytest.approx(by_hand(A, B), rel=1e-9))


def test_missing_items_are_counted(tmp_path):
    write(tmp_path, "a", rows(A)), write(tmp_path, "b", rows(B)[8:])
    result = read_results(tmp_path).compare()
    assert result.pairs[0].p_raw == pytest.approx(by_hand(A[8:], B[8:]), rel=1e-9)
    assert any("Left out: 8 items" in line for line in result.warnings)


def test_other_questions_under_the_same_ids_stop(tmp_path):
    write(tmp_path, "a", rows(A)), write(tmp_path, "b", rows(B, text="another"))
    with pytest.raises(
        InputError, match=f"{N} items of .* have the same name and different contents"
    ):
        read_results(tmp_path).compare()


def test_other_shots_are_said(tmp_path):
    write(tmp_path, "a", rows(A)), write(tmp_path, "b", rows(B), shots=5)
    assert any(
        "number of shots differs" in line for line in read_results(tmp_path).compare().warnings
    )


def test_another_metric_is_not_compared(tmp_path):
    write(tmp_path, "a", rows(A)), write(tmp_path, "b", rows(B, metric="qem"))
    with pytest.raises(InputError, match="no metric is there for every method"):
        read_results(tmp_path).compare()


def test_a_second_run_in_one_file_stops_and_the_same_run_twice_counts_once(tmp_path):
    write(tmp_path, "a", rows(A) + rows(1 - A)), write(tmp_path, "b", rows(B))
    with pytest.raises(InputError, match="stands twice with different values"):
        read_results(tmp_path).compare()
    write(tmp_path / "again", "a", rows(A) * 2), write(tmp_path / "again", "b", rows(B))
    assert read_results(tmp_path / "again").compare().pairs[0].p_raw == pytest.approx(
        by_hand(A, B), rel=1e-9
    )


def test_two_runs_of_one_model_have_names_of_their_own(tmp_path):
    (
        write(tmp_path, "lab/a", rows(A)),
        write(tmp_path, "lab/a", rows(B), time="2026-04-01T10-00-00.5"),
    )
    assert read_results(tmp_path).methods == [
        f"lab/a (run of {TIME})",
        "lab/a (run of 2026-04-01T10-00-00.5)",
    ]


def test_a_file_that_was_cut_off_is_refused(tmp_path):
    path = write(tmp_path, "a", rows(A))
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(InputError, match="details_"):
        read_results(path)


def test_details_of_early_versions_are_read(tmp_path):
    for model, values in (("a", A), ("b", B)):
        table = [
            {
                "example": f"q{n}",
                "full_prompt": "p",
                "gold": ["A"],
                "predictions": ["B"],
                "metrics": {"acc": v},
            }
            for n, v in enumerate(values)
        ]
        write(tmp_path, model, table)
    assert read_results(tmp_path).compare().pairs[0].p_raw == pytest.approx(by_hand(A, B), rel=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_flipped_bits_give_rows_or_a_sentence(tmp_path, seed):
    path = write(tmp_path, "a", rows(A)[:10])
    content = bytearray(path.read_bytes())
    draws = np.random.default_rng(seed)
    # The end of the file describes all columns: what is broken there is met before any value is.
    for place in draws.integers(len(content) // 2, len(content), 3):
        content[place] ^= 1 << int(draws.integers(8))
    path.write_bytes(bytes(content))
    try:
        found = read_results(path)
    except InputError:
        return
    assert found.methods == ["a"]
