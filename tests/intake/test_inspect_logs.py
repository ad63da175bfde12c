"""Logs of inspect_ai: every packing gives the same numbers, and a spoiled log a sentence or the right ones."""

from __future__ import annotations

import builtins
import json
import zipfile
from dataclasses import replace
from math import comb

import numpy as np
import pytest

from intake.inspect_files import Log
from paragone.errors import InputError
from paragone.intake import read_results

LETTERS = np.array(["I", "C"])


def graded(seed, share, n=198, epochs=1):
    """Return grades by id, one per epoch."""
    right = np.random.default_rng(seed).random((n, epochs)) < share
    return {f"rec{place}": LETTERS[row.astype(int)].tolist() for place, row in enumerate(right)}


def two(**settings):
    return Log("lab/strong", graded(1, 0.7), **settings), Log(
        "lab/weak", graded(2, 0.5), **settings
    )


def right(log):
    return np.array([grades[0] == "C" for grades in log.grades.values()])


def by_hand(a, b):
    wins, losses = int((a & ~b).sum()), int((~a & b).sum())
    n = wins + losses
    return min(1.0, 2 * sum(comb(n, k) for k in range(min(wins, losses) + 1)) / 2**n)


WAYS = {
    "json": lambda log, path: log.write_json(path.with_suffix(".json")),
    "deflate": lambda log, path: log.write_eval(path),
    "zstandard": lambda log, path: log.write_eval(path, packing="zstandard"),
    "no summaries": lambda log, path: log.write_eval(path, summaries=False),
    "journal": lambda log, path: log.write_eval(path, finished=False),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_packing_gives_mcnemars_exact_p(tmp_path, way):
    strong, weak = two()
    # The other log is a plain file: contents that summaries shorten are the same contents.
    paths = WAYS[way](strong, tmp_path / "a.eval"), weak.write_json(tmp_path / "b.json")
    found = read_results(*paths)
    assert found.methods == ["lab/strong", "lab/weak"]
    assert found.metrics == {"choice": True}
    (pair,) = found.compare().pairs
    assert pair.p_raw == pytest.approx(by_hand(right(strong), right(weak)), rel=1e-9)
    assert (pair.mean_method, pair.n) == (pytest.approx(right(strong).mean()), 198)
    assert any("status started" in note for note in found.notes) == (way == "journal")


def test_epochs_are_averaged_within_an_item(tmp_path):
    logs = Log("a", graded(1, 0.7, n=60, epochs=4)), Log("b", graded(2, 0.5, n=60, epochs=4))
    paths = [log.write_eval(tmp_path / f"{log.model}.eval") for log in logs]
    result = read_results(*paths).compare()
    means = [
        np.array([[g == "C" for g in grades] for grades in log.grades.values()]).mean(axis=1)
        for log in logs
    ]
    d = means[0] - means[1]
    (pair,) = result.pairs
    assert pair.n == 60
    assert pair.mean_method == pytest.approx(means[0].mean())
    assert pair.difference.estimate == pytest.approx(d.mean())
    assert pair.test.standard_error == pytest.approx(d.std(ddof=1) / np.sqrt(60), rel=1e-9)
    assert any("mean over up to 4 repeats" in line for line in result.warnings)


def test_grades_are_numbers_and_c_is_never_an_option(tmp_path):
    values = ["C", "I", "P", "N", "yes", "No", "true", "0.25", 0.75, True]
    log = Log("a", {place: [value] for place, value in enumerate(values)})
    (part,) = read_results(log.write_json(tmp_path / "a.json")).parts
    assert part.frame["choice"].tolist() == [1, 0, 0.5, 0, 1, 0, 1, 0.25, 0.75, 1]


def test_keys_of_a_scorer_are_metrics_and_texts_are_refused(tmp_path):
    values = {place: [{"help": place / 10, "mood": "calm"}] for place in range(8)}
    paths = [
        Log(name, values, scorer="judge").write_json(tmp_path / f"{name}.json") for name in "ab"
    ]
    found = read_results(*paths)
    assert found.metrics == {"judge/help": None}
    assert any(
        "judge/mood is not compared: an item holds the text 'calm'" in note for note in found.notes
    )
    with pytest.raises(InputError, match=r"not known .*say higher_is_better"):
        found.compare()


def test_a_list_of_values_is_refused(tmp_path):
    log = Log("a", {place: [[1, 0]] for place in range(8)})
    with pytest.raises(InputError, match="choice cannot be compared: an item holds several values"):
        read_results(log.write_json(tmp_path / "a.json")).compare()


# What happens to logs.


def test_samples_that_ended_with_an_error_are_counted_and_left_out(tmp_path):
    strong, weak = two(errors=(("rec3", 1), ("rec5", 1)))
    found = read_results(
        strong.write_eval(tmp_path / "a.eval"), weak.write_json(tmp_path / "b.json")
    )
    assert any("2 samples of lab/strong ended with an error" in note for note in found.notes)
    kept = np.array([name not in ("rec3", "rec5") for name in strong.grades])
    assert found.compare().pairs[0].p_raw == pytest.approx(
        by_hand(right(strong)[kept], right(weak)[kept]), rel=1e-9
    )


def test_items_that_are_missing_are_counted(tmp_path):
    strong, weak = two()
    fewer = replace(weak, grades=dict(list(weak.grades.items())[20:]), status="cancelled")
    found = read_results(
        strong.write_eval(tmp_path / "a.eval"), fewer.write_eval(tmp_path / "b.eval")
    )
    result = found.compare()
    assert any("did not end well (status cancelled): 178" in note for note in found.notes)
    assert any(
        "20 items of inspect_evals/gpqa_diamond, which lab/weak lacks" in line
        for line in result.warnings
    )
    assert result.pairs[0].p_raw == pytest.approx(
        by_hand(right(strong)[20:], right(weak)[20:]), rel=1e-9
    )


def test_other_targets_under_the_same_ids_stop(tmp_path):
    strong, weak = two()
    paths = (
        strong.write_eval(tmp_path / "a.eval"),
        replace(weak, target="B").write_eval(tmp_path / "b.eval"),
    )
    with pytest.raises(
        InputError, match="198 items of inspect_evals/gpqa_diamond have the same name and different"
    ):
        read_results(*paths).compare()


def test_a_sample_that_stands_twice_counts_once_or_stops(tmp_path):
    strong, weak = two()
    path, other = strong.write_json(tmp_path / "a.json"), weak.write_json(tmp_path / "b.json")
    told = json.loads(path.read_text())
    path.write_text(json.dumps({**told, "samples": told["samples"] + told["samples"][:9]}))
    result = read_results(path, other).compare()
    assert any("9 rows that stand twice with the same value" in line for line in result.warnings)
    assert result.pairs[0].p_raw == pytest.approx(by_hand(right(strong), right(weak)), rel=1e-9)
    turned = [{**told["samples"][0], "scores": {"choice": {"value": "P"}}}]
    path.write_text(json.dumps({**told, "samples": told["samples"] + turned}))
    with pytest.raises(InputError, match="stands twice with different values"):
        read_results(path, other).compare()


def test_another_scorer_is_not_compared(tmp_path):
    strong, weak = two()
    paths = (
        strong.write_eval(tmp_path / "a.eval"),
        replace(weak, scorer="match").write_eval(tmp_path / "b.eval"),
    )
    with pytest.raises(InputError, match="no metric is there for every method"):
        read_results(*paths).compare()


def test_other_settings_are_said_and_another_version_stops(tmp_path):
    strong, weak = two()
    other = replace(weak, about={"task_args": {"cot": True}, "config": {"epochs": 1, "limit": 198}})
    result = read_results(
        strong.write_eval(tmp_path / "a.eval"), other.write_eval(tmp_path / "b.eval")
    ).compare()
    said = " ".join(result.warnings)
    assert "set of arguments of the task differs" in said
    assert "limit on the number of items differs" in said
    newer = replace(weak, about={"task_version": 1}).write_eval(tmp_path / "c.eval")
    with pytest.raises(InputError, match="version of the task differs"):
        read_results(tmp_path / "a.eval", newer).compare()


def test_one_model_with_two_solvers_has_two_names(tmp_path):
    strong, weak = two()
    same = replace(weak, model="lab/strong", about={"solver": "chain_of_thought"})
    found = read_results(
        strong.write_eval(tmp_path / "a.eval"), same.write_eval(tmp_path / "b.eval")
    )
    assert found.methods == [
        "lab/strong (solver multiple_choice)",
        "lab/strong (solver chain_of_thought)",
    ]


@pytest.mark.parametrize("packing", ["deflate", "zstandard"])
@pytest.mark.parametrize("keep", [0.3, 0.9, 0.999])
def test_an_archive_that_was_cut_off_is_refused(tmp_path, packing, keep):
    path = two()[0].write_eval(tmp_path / "a.eval", packing=packing)
    path.write_bytes(path.read_bytes()[: int(keep * path.stat().st_size)])
    with pytest.raises(InputError, match=r"a\.eval"):
        read_results(path)


@pytest.mark.parametrize("packing", ["deflate", "zstandard"])
def test_a_damaged_member_is_refused(tmp_path, packing):
    path = two()[0].write_eval(tmp_path / "a.eval", packing=packing)
    content = bytearray(path.read_bytes())
    place = content.rindex(b"summaries.json", 0, content.rindex(b"PK\x01\x02")) + 200
    content[place] ^= 0x55
    path.write_bytes(bytes(content))
    with pytest.raises(InputError, match=r"a\.eval: summaries\.json"):
        read_results(path)


def test_a_member_larger_than_the_limit_is_refused_unread(tmp_path, monkeypatch):
    path = two()[0].write_eval(tmp_path / "a.eval", packing="zstandard")
    monkeypatch.setenv("PARAGONE_READ_LIMIT", "5KiB")
    with pytest.raises(InputError, match="more than the limit of 5 KiB"):
        read_results(path)


def test_without_the_module_for_zstandard_a_sentence_says_what_to_install(tmp_path, monkeypatch):
    path = two()[0].write_eval(tmp_path / "a.eval", packing="zstandard")
    real = builtins.__import__

    def without(name, *rest, **more):
        if name == "zstandard":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    if hasattr(zipfile, "ZIP_ZSTANDARD"):
        # From Python 3.14 on nothing is missing.
        assert read_results(path).methods == ["lab/strong"]
        return
    with pytest.raises(InputError, match=r"packed with Zstandard.*pip install 'paragone\[logs\]'"):
        read_results(path)


def test_an_item_of_which_one_epoch_failed_has_no_value(tmp_path):
    logs = [Log(name, graded(seed, 0.6, n=40, epochs=3)) for name, seed in (("a", 1), ("b", 2))]
    logs[1].errors = (("rec7", 2),)
    result = read_results(
        *(log.write_eval(tmp_path / f"{log.model}.eval") for log in logs)
    ).compare()
    means = [
        np.array([[g == "C" for g in of] for of in log.grades.values()]).mean(axis=1)
        for log in logs
    ]
    kept = np.arange(40) != 7
    assert result.pairs[0].n == 39
    assert result.pairs[0].difference.estimate == pytest.approx((means[0] - means[1])[kept].mean())
    assert any(
        "1 items of inspect_evals/gpqa_diamond without a value" in line for line in result.warnings
    )
