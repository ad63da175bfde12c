"""Runs of HELM: values of instances, and what perturbed copies, splits, repeats and damage do to them."""

from __future__ import annotations

import json
from math import comb

import numpy as np
import pytest

from paragone.errors import InputError
from paragone.intake import read_results

N = 111


def right(seed, share):
    return (np.random.default_rng(seed).random(N) < share).astype(float)


def stat(name, value, split="test", count=1):
    return {"name": {"name": name, "split": split}, "count": count, "sum": value, "mean": value}


def instances(values, *, split="test", trial=0, text="q"):
    """Return the statistics of each instance, scores among counts of tokens."""
    return [
        {
            "instance_id": f"id{place}",
            "train_trial_index": trial,
            "stats": [stat("num_prompt_tokens", 99.0, split), stat("exact_match", value, split)],
        }
        for place, value in enumerate(values)
    ]


def run(folder, model, stats, *, shots=5, text="q", asks=True):
    """Write the folder of a run."""
    name = f"mmlu:subject=anatomy,method=joint,model={model.replace('/', '_')}"
    place = folder / name
    place.mkdir(parents=True)
    spec = {
        "name": name,
        "adapter_spec": {"model": model, "max_train_instances": shots, "max_eval_instances": 1000},
    }
    (place / "run_spec.json").write_text(json.dumps(spec))
    (place / "per_instance_stats.json").write_text(json.dumps(stats, indent=1))
    if asks:
        asked = [
            {
                "id": f"id{n}",
                "input": {"text": f"{text}{n}"},
                "references": [{"output": {"text": "A"}, "tags": ["correct"]}],
            }
            for n in range(N)
        ]
        (place / "instances.json").write_text(json.dumps(asked))
    return place


def by_hand(a, b):
    wins, losses = int(((a == 1) & (b == 0)).sum()), int(((a == 0) & (b == 1)).sum())
    n = wins + losses
    return min(1.0, 2 * sum(comb(n, k) for k in range(min(wins, losses) + 1)) / 2**n)


A, B = right(1, 0.8), right(2, 0.55)


def test_instances_give_mcnemars_exact_p(tmp_path):
    run(tmp_path, "lab/a", instances(A)), run(tmp_path, "lab/b", instances(B))
    found = read_results(tmp_path)
    assert (found.methods, found.datasets) == (
        ["lab/a", "lab/b"],
        ["mmlu:subject=anatomy,method=joint"],
    )
    assert found.metrics == {"exact_match": True}
    (pair,) = found.compare().pairs
    assert pair.p_raw == pytest.approx(by_hand(A, B), rel=1e-9)
    assert (pair.mean_method, pair.mean_rival) == (pytest.approx(A.mean()), pytest.approx(B.mean()))


def test_trials_are_averaged_within_an_instance(tmp_path):
    second = right(3, 0.8)
    run(tmp_path, "a", instances(A) + instances(second, trial=1))
    run(tmp_path, "b", instances(B) + instances(B, trial=1))
    (pair,) = read_results(tmp_path).compare().pairs
    assert pair.n == N
    assert pair.difference.estimate == pytest.approx(((A + second) / 2 - B).mean())


def test_perturbed_copies_and_other_splits_are_left_out_and_counted(tmp_path):
    copies = [{**one, "perturbation": {"name": "typos"}} for one in instances(1 - A)]
    valid = [
        {**one, "instance_id": f"v{one['instance_id']}"} for one in instances(1 - A, split="valid")
    ]
    run(tmp_path, "a", instances(A) + copies + valid), run(tmp_path, "b", instances(B))
    found = read_results(tmp_path)
    assert any(f"{N} copies of instances that were perturbed" in note for note in found.notes)
    assert any(f"{N} instances of other splits than test" in note for note in found.notes)
    assert found.compare().pairs[0].p_raw == pytest.approx(by_hand(A, B), rel=1e-9)


def test_what_was_counted_on_nothing_has_no_value(tmp_path):
    stats = instances(A)
    stats[0]["stats"][1] = stat("exact_match", 0.0, count=0)
    run(tmp_path, "a", stats), run(tmp_path, "b", instances(B))
    result = read_results(tmp_path).compare()
    assert result.pairs[0].p_raw == pytest.approx(by_hand(A[1:], B[1:]), rel=1e-9)
    assert any("1 items" in line and "without a value" in line for line in result.warnings)


def test_missing_instances_are_counted(tmp_path):
    run(tmp_path, "a", instances(A)), run(tmp_path, "b", instances(B)[11:])
    result = read_results(tmp_path).compare()
    assert result.pairs[0].p_raw == pytest.approx(by_hand(A[11:], B[11:]), rel=1e-9)
    assert any("Left out: 11 items" in line for line in result.warnings)


def test_other_questions_under_the_same_ids_stop(tmp_path):
    run(tmp_path, "a", instances(A)), run(tmp_path, "b", instances(B), text="other")
    with pytest.raises(
        InputError, match=f"{N} items of mmlu.* have the same name and different contents"
    ):
        read_results(tmp_path).compare()


def test_without_questions_ids_pair_and_it_is_said(tmp_path):
    run(tmp_path, "a", instances(A), asks=False), run(tmp_path, "b", instances(B))
    found = read_results(tmp_path)
    assert any("has no instances.json: ids alone pair its items" in note for note in found.notes)
    assert found.compare().pairs[0].p_raw == pytest.approx(by_hand(A, B), rel=1e-9)


def test_an_instance_that_stands_twice_stops(tmp_path):
    run(tmp_path, "a", instances(A) + instances(1 - A)), run(tmp_path, "b", instances(B))
    with pytest.raises(InputError, match="stands twice with different values"):
        read_results(tmp_path).compare()


def test_other_shots_are_said(tmp_path):
    run(tmp_path, "a", instances(A)), run(tmp_path, "b", instances(B), shots=0)
    assert any(
        "number of shots differs" in line for line in read_results(tmp_path).compare().warnings
    )


def test_a_file_that_was_cut_off_is_refused(tmp_path):
    path = run(tmp_path, "a", instances(A)) / "per_instance_stats.json"
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.raises(InputError, match=r"per_instance_stats\.json: cannot be read"):
        read_results(tmp_path)
