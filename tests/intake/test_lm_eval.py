"""Logs of lm-evaluation-harness: every schema gives the same numbers, a spoiled log a sentence or the right ones."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from math import comb

import numpy as np
import pytest

from intake.harness_files import Run, right, two_runs
from paragone.errors import InputError
from paragone.intake import read_results

ARC = {"arc_challenge": 1172}


def mcnemar_by_hand(a, b):
    """Return the exact p of McNemar's test by whole numbers."""
    wins, losses = sum((a == 1) & (b == 0)), sum((a == 0) & (b == 1))
    n = int(wins + losses)
    return min(1.0, float(2 * sum(comb(n, k) for k in range(int(min(wins, losses)) + 1)) / 2**n))


def both(tmp_path, one, two):
    return read_results(one.write(tmp_path), two.write(tmp_path))


def arc(run):
    return run.values["arc_challenge"]["acc"]


def rewritten(path, change):
    """Write the lines of a file again after something happened to them."""
    lines = [json.loads(line) for line in path.read_text().split("\n") if line]
    path.write_text("".join(json.dumps(line) + "\n" for line in change(lines)))


@pytest.mark.parametrize("schema", ["new", "middle", "old", "list"])
def test_every_schema_gives_mcnemars_exact_p(tmp_path, schema):
    one, two = two_runs(ARC, schema=schema)
    found = both(tmp_path, one, two)
    assert found.methods == ["lab/better", "lab/worse"]
    assert found.metrics == {"acc,none": True}
    (pair,) = found.compare("acc").pairs
    assert pair.p_raw == pytest.approx(mcnemar_by_hand(arc(one), arc(two)), rel=1e-9)
    assert pair.mean_method == pytest.approx(arc(one).mean())
    assert pair.word == "better"
    assert any("by their numbers alone" in note for note in found.notes) == (
        schema in ("old", "list")
    )


def test_tasks_are_strata_that_count_the_same_or_by_size(tmp_path):
    one, two = two_runs(groups={"mmlu": ["mmlu_anatomy", "mmlu_virology"]})
    found = both(tmp_path, one, two)
    assert any("mmlu: its 2 tasks are strata" in note for note in found.notes)
    differences = [one.values[task]["acc"] - two.values[task]["acc"] for task in one.values]
    means = [float(d.mean()) for d in differences]
    error = np.sqrt(sum(d.var(ddof=1) / len(d) for d in differences)) / len(means)
    (equal,) = found.compare().pairs
    assert equal.difference.estimate == pytest.approx(np.mean(means), rel=1e-12)
    assert equal.test.standard_error == pytest.approx(error, rel=1e-9)
    (size,) = found.compare(weights="size").pairs
    assert size.difference.estimate == pytest.approx(np.concatenate(differences).mean(), rel=1e-12)


def test_filters_are_metrics_of_their_own_and_never_mixed(tmp_path):
    strict, flexible = (
        (right(seed, 300, 0.4) for seed in (1, 2)),
        (right(seed, 300, 0.8) for seed in (3, 4)),
    )
    runs = [
        Run(
            f"m{place}",
            {"gsm8k": {"exact_match,strict-match": s, "exact_match,flexible-extract": f}},
        )
        for place, (s, f) in enumerate(zip(strict, flexible, strict=True))
    ]
    found = both(tmp_path, *runs)
    with pytest.raises(InputError, match="2 metrics; choose one of"):
        found.compare()
    with pytest.raises(InputError, match="several ways"):
        found.compare("exact_match")
    for name in ("exact_match,strict-match", "exact_match,flexible-extract"):
        values = [run.values["gsm8k"][name] for run in runs]
        assert found.compare(name).pairs[0].p_raw == pytest.approx(
            mcnemar_by_hand(*values), rel=1e-9
        )
    unnamed = [replace(run, schema="middle", model=f"old{run.model}") for run in runs]
    again = both(tmp_path, *unnamed)
    for name in found.metrics:
        assert again.compare(name).pairs[0].p_raw == found.compare(name).pairs[0].p_raw


def test_filters_without_names_need_the_results_file(tmp_path):
    values = {"gsm8k": {"exact_match,a": right(1, 50, 0.4), "exact_match,b": right(2, 50, 0.8)}}
    folder = Run("m", values, schema="middle").write(tmp_path)
    next(folder.glob("results_*")).unlink()
    with pytest.raises(InputError, match="several filters, which the results file of the same run"):
        read_results(folder)


def test_filters_of_which_lines_are_missing_are_refused(tmp_path):
    run = Run(
        "m",
        {"gsm8k": {"exact_match,a": right(1, 50, 0.4), "exact_match,b": right(2, 50, 0.8)}},
        schema="middle",
    )
    folder = run.write(tmp_path)
    rewritten(run.samples(tmp_path, "gsm8k"), lambda lines: lines[:-3])
    with pytest.raises(InputError, match="not every doc_id stands once for each of a, b"):
        read_results(folder)


def test_metrics_without_a_value_per_item_are_refused_with_the_reason(tmp_path):
    n = 60
    pairs = [[1, 0]] * n
    loss = -np.random.default_rng(0).uniform(1, 3, n)
    values = {
        "lambada": {
            "acc": right(1, n, 0.5),
            "f1": pairs,
            "perplexity": loss,
            "word_perplexity": pairs,
        }
    }
    other = {"lambada": {**values["lambada"], "acc": right(2, n, 0.5)}}
    found = both(
        tmp_path,
        Run("a", values, higher={"perplexity": False}),
        Run("b", other, higher={"perplexity": False}),
    )
    assert list(found.metrics) == ["acc,none"]
    assert any(
        note.startswith("f1 is not compared: an item holds several values") for note in found.notes
    )
    with pytest.raises(
        InputError, match="perplexity cannot be compared: an item holds a log-likelihood"
    ):
        found.compare("perplexity")


def test_a_score_that_is_not_the_mean_of_its_items_is_refused(tmp_path):
    one, two = two_runs(ARC)
    folders = one.write(tmp_path), two.write(tmp_path)
    path = next(folders[0].glob("results_*"))
    told = json.loads(path.read_text())
    told["results"]["arc_challenge"]["acc,none"] = 0.123
    path.write_text(json.dumps(told))
    with pytest.raises(
        InputError, match=r"the results file says 0\.123 and the items have the mean"
    ):
        read_results(*folders).compare("acc,none")


def test_a_lower_metric_is_lower_better(tmp_path):
    generator = np.random.default_rng(0)
    low, high = generator.uniform(0, 1, 80), generator.uniform(0.5, 1.5, 80)
    runs = [
        Run(n, {"t": {"loss": v}}, higher={"loss": False})
        for n, v in (("low", low), ("high", high))
    ]
    (pair,) = both(tmp_path, *runs).compare().pairs
    assert (pair.method, pair.word) == ("low", "better")


def test_means_of_repeats_stand_beside_what_was_logged(tmp_path):
    one, two = two_runs(ARC)
    draws = {
        run.model: np.random.default_rng(len(run.model)).integers(0, 2, (1172, 4))
        for run in (one, two)
    }
    for run in (one, two):
        run.write(tmp_path)
        each = draws[run.model].tolist()
        rewritten(
            run.samples(tmp_path, "arc_challenge"),
            lambda lines, each=each: [
                {**o, "scores_per_repeat": {"acc": r}} for o, r in zip(lines, each, strict=True)
            ],
        )
    found = read_results(tmp_path)
    assert list(found.metrics) == ["acc,none", "acc (mean of repeats),none"]
    (pair,) = found.compare("acc (mean of repeats)").pairs
    assert pair.mean_method == pytest.approx(draws["lab/better"].mean())
    assert found.compare("acc").pairs[0].mean_method == pytest.approx(arc(one).mean())


def test_prompts_of_one_model_with_the_same_items_are_what_is_compared(tmp_path):
    one, two = two_runs(ARC)
    one.write(tmp_path), two.write(tmp_path / "other")
    first = one.samples(tmp_path, "arc_challenge").rename(tmp_path / "samples_L1.jsonl")
    second = two.samples(tmp_path / "other", "arc_challenge").rename(
        tmp_path / "samples_baseline.jsonl"
    )
    found = read_results(first, second)
    assert found.methods == ["L1", "baseline"]
    said = "L1 and baseline hold the same 1172 items (by hash): compared as L1 and baseline."
    assert said in found.notes
    assert found.compare().pairs[0].p_raw == pytest.approx(
        mcnemar_by_hand(arc(one), arc(two)), rel=1e-9
    )


def test_tasks_of_other_names_with_the_same_items_are_one_task(tmp_path):
    one, two = two_runs(ARC)
    one.write(tmp_path), two.write(tmp_path)
    path = two.samples(tmp_path, "arc_challenge")
    path.rename(path.with_name(path.name.replace("arc_challenge", "arc_de")))
    found = read_results(tmp_path)
    assert found.datasets == ["arc_challenge and arc_de"]
    assert found.compare().pairs[0].n == 1172


# What happens to logs: the right numbers and a sentence, or only a sentence.


def test_items_that_are_missing_are_counted_and_the_others_compared(tmp_path):
    one, two = two_runs(ARC)
    one.write(tmp_path), two.write(tmp_path)
    rewritten(two.samples(tmp_path, "arc_challenge"), lambda lines: lines[100:])
    found = read_results(tmp_path)
    assert any("1072 of the 1172 items of its run are there" in note for note in found.notes)
    result = found.compare()
    assert result.pairs[0].p_raw == pytest.approx(
        mcnemar_by_hand(arc(one)[100:], arc(two)[100:]), rel=1e-9
    )
    assert any(
        "Left out: 100 items of arc_challenge, which lab/worse lacks." in line
        for line in result.warnings
    )


def test_lines_in_another_order_change_nothing(tmp_path):
    one, two = two_runs(ARC)
    one.write(tmp_path), two.write(tmp_path)
    rewritten(two.samples(tmp_path, "arc_challenge"), lambda lines: lines[::-1])
    assert read_results(tmp_path).compare().pairs[0].p_raw == pytest.approx(
        mcnemar_by_hand(arc(one), arc(two)), rel=1e-9
    )


def test_other_prompts_are_counted_and_said(tmp_path):
    one, two = two_runs(ARC)
    result = both(tmp_path, one, replace(two, template="chat")).compare()
    assert any(
        line.startswith("1172 items were shown to the methods in different prompts")
        for line in result.warnings
    )


def test_other_contents_under_the_same_numbers_stop(tmp_path):
    one, two = two_runs(ARC)
    found = both(tmp_path, one, replace(two, revision="of May"))
    with pytest.raises(
        InputError, match="1172 items of arc_challenge have the same name and different contents"
    ):
        found.compare()
    assert found.compare(trust_ids=True).pairs[0].n == 1172


def test_items_under_other_numbers_are_paired_by_their_contents(tmp_path):
    one, two = two_runs(ARC)
    one.write(tmp_path), two.write(tmp_path)
    rewritten(
        two.samples(tmp_path, "arc_challenge"),
        lambda lines: [{**line, "doc_id": (line["doc_id"] + 7) % 1172} for line in lines],
    )
    assert read_results(tmp_path).compare().pairs[0].p_raw == pytest.approx(
        mcnemar_by_hand(arc(one), arc(two)), rel=1e-9
    )


def test_another_filter_is_not_compared(tmp_path):
    one = Run("a", {"gsm8k": {"exact_match,strict-match": right(1, 90, 0.5)}})
    two = Run("b", {"gsm8k": {"exact_match,flexible-extract": right(2, 90, 0.5)}})
    with pytest.raises(InputError, match="no metric is there for every method"):
        both(tmp_path, one, two).compare()


def test_a_run_that_was_appended_twice_counts_once(tmp_path):
    one, two = two_runs(ARC)
    one.write(tmp_path), two.write(tmp_path)
    rewritten(two.samples(tmp_path, "arc_challenge"), lambda lines: lines * 2)
    found = read_results(tmp_path)
    assert any("1172 lines that stand twice with the same content" in note for note in found.notes)
    (pair,) = found.compare().pairs
    assert (pair.n, pair.p_raw) == (
        1172,
        pytest.approx(mcnemar_by_hand(arc(one), arc(two)), rel=1e-9),
    )


def test_another_run_appended_is_refused(tmp_path):
    one, two = two_runs(ARC)
    one.write(tmp_path), two.write(tmp_path)
    rewritten(
        two.samples(tmp_path, "arc_challenge"),
        lambda lines: [*lines, *({**o, "acc": 1.0 - o["acc"]} for o in lines)],
    )
    with pytest.raises(
        InputError, match="doc_id 0 stands twice with different content: the file holds two runs"
    ):
        read_results(tmp_path)


def test_a_line_that_was_cut_off_is_left_out_and_counted(tmp_path):
    one, two = two_runs(ARC)
    one.write(tmp_path), two.write(tmp_path)
    path = two.samples(tmp_path, "arc_challenge")
    path.write_bytes(path.read_bytes()[:-200])
    found = read_results(tmp_path)
    assert any("Left out: 1 lines that are cut off or broken." in note for note in found.notes)
    assert found.compare().pairs[0].p_raw == pytest.approx(
        mcnemar_by_hand(arc(one)[:-1], arc(two)[:-1]), rel=1e-9
    )


def test_a_line_that_goes_on_in_the_next_is_not_read_as_one(tmp_path):
    one, two = two_runs(ARC)
    one.write(tmp_path), two.write(tmp_path)
    path = two.samples(tmp_path, "arc_challenge")
    lines = path.read_text().split("\n")
    lines[5] = lines[5][:40] + "\n" + lines[5][40:]
    path.write_text("\n".join(lines))
    found = read_results(tmp_path)
    assert any("Left out: 2 lines that are cut off or broken." in note for note in found.notes)
    assert found.compare().pairs[0].n == 1171


def test_a_value_that_is_no_number_is_missing(tmp_path):
    one, two = two_runs(ARC)
    one.write(tmp_path), two.write(tmp_path)
    rewritten(
        two.samples(tmp_path, "arc_challenge"),
        lambda lines: [{**lines[0], "acc": float("nan")}, *lines[1:]],
    )
    result = read_results(tmp_path).compare()
    assert result.pairs[0].n == 1171
    assert any("1 items of arc_challenge without a value" in line for line in result.warnings)


def test_another_version_of_the_task_stops(tmp_path):
    one, two = two_runs(ARC)
    with pytest.raises(
        InputError, match=r"version of the task differs on arc_challenge .*not the same task"
    ):
        both(tmp_path, one, replace(two, version=2.0)).compare()


def test_other_shots_settings_and_limits_are_said(tmp_path):
    one, two = two_runs(ARC)
    cut = {"arc_challenge": {"acc": arc(two)[:200]}}
    result = both(
        tmp_path, one, replace(two, shots=25, gen_kwargs="temperature=1", limit=200.0, values=cut)
    ).compare()
    said = " ".join(result.warnings)
    assert "number of shots differs on arc_challenge (lab/better: 0, lab/worse: 25)" in said
    assert "setting of generation differs" in said
    assert "limit on the number of items differs" in said
    assert (
        "lab/worse was run with limit 200.0: on the first items of a task, not on a random part."
        in said
    )
    assert result.pairs[0].p_raw == pytest.approx(
        mcnemar_by_hand(arc(one)[:200], arc(two)[:200]), rel=1e-9
    )


def test_of_several_runs_in_one_folder_the_newest_is_read(tmp_path):
    one, two = two_runs(ARC)
    older = replace(
        two, time="2025-01-01T00-00-00.5", values={"arc_challenge": {"acc": 1 - arc(two)}}
    )
    older.write(tmp_path)
    found = both(tmp_path, one, two)
    assert any("the newest is read, 1 older files are left out" in note for note in found.notes)
    assert found.compare().pairs[0].mean_rival == pytest.approx(arc(two).mean())


def test_runs_of_one_model_with_other_settings_have_names_of_their_own(tmp_path):
    one, two = two_runs(ARC)
    tuned = replace(
        one, time="2026-04-01T00-00-00.5", model_args="pretrained=x,peft=y", model="lab/worse"
    )
    folder = two.write(tmp_path)
    tuned.write(tmp_path)
    found = read_results(folder)
    assert found.methods == [
        "lab/worse (model_args pretrained=x)",
        "lab/worse (model_args pretrained=x,peft=y)",
    ]
    (pair,) = found.compare().pairs
    assert pair.p_raw == pytest.approx(mcnemar_by_hand(arc(one), arc(two)), rel=1e-9)


def test_files_of_several_tasks_and_one_model_name_are_told_apart_by_their_folders(tmp_path):
    one, two = two_runs()
    one.write(tmp_path / "base"), replace(two, model="lab/better").write(tmp_path / "tuned")
    paths = [
        path
        for where in ("base", "tuned")
        for path in sorted((tmp_path / where).rglob("samples_*"))
    ]
    found = read_results(*paths)
    assert found.methods == ["lab/better (base)", "lab/better (tuned)"]
    assert len(found.datasets) == 3


def test_files_that_users_renamed_are_methods_by_their_names(tmp_path):
    one, two = two_runs(ARC)
    for run, name in ((one, "a"), (two, "b")):
        run.write(tmp_path / "out")
        run.samples(tmp_path / "out", "arc_challenge").rename(tmp_path / f"{name}.jsonl")
    packed = gzip.compress((tmp_path / "b.jsonl").read_bytes())
    (tmp_path / "b.jsonl.gz").write_bytes(packed)
    found = read_results(tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz")
    assert found.methods == ["a", "b"]
    assert found.compare().pairs[0].p_raw == pytest.approx(
        mcnemar_by_hand(arc(one), arc(two)), rel=1e-9
    )


def test_results_without_samples_compare_tasks(tmp_path):
    sizes = {f"task{place}": 50 for place in range(8)}
    one, two = two_runs(sizes, groups={"all": list(sizes)})
    for run in (one, two):
        for path in run.write(tmp_path).glob("samples_*"):
            path.unlink()
    found = read_results(tmp_path)
    assert found.unit == "dataset"
    assert found.datasets == list(sizes)
    assert any("Groups are left out" in note for note in found.notes)
    scores = found.scores("acc").set_index(["method", "dataset"])["value"]
    assert scores["lab/better", "task3"] == pytest.approx(one.values["task3"]["acc"].mean())


def test_the_command_prints_what_it_read_and_the_verdict(tmp_path, paragone):
    one, two = two_runs(ARC)
    folders = one.write(tmp_path), two.write(tmp_path)
    for sources in (folders, [tmp_path]):
        ended = paragone("compare", *sources)
        assert ended.code == 0
        assert "lab/better is better than lab/worse" in " ".join(ended.out.split())
