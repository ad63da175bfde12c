"""Results of MTEB: a task and subset is a unit, and other data stop."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import wilcoxon

from paragone.errors import InputError
from paragone.intake import Asked, read_results

TASKS = [f"Task{place:02d}" for place in range(12)]
REVISION = "0123456789abcdef0123456789abcdef01234567"


def write(
    folder, model, scores, *, revision="r1", subsets=("default",), splits=("test",), meta=True
):
    """Write the folder of a model: a file per task."""
    place = folder / model.replace("/", "__") / REVISION
    place.mkdir(parents=True)
    if meta:
        (place / "model_meta.json").write_text(json.dumps({"name": model, "revision": REVISION}))
    for task, score in zip(TASKS, scores, strict=True):
        entries = [
            {
                "hf_subset": subset,
                "languages": ["eng-Latn"],
                "main_score": score + n / 100,
                "ndcg_at_10": score / 2,
            }
            for n, subset in enumerate(subsets)
        ]
        told = {"dataset_revision": revision, "task_name": task, "mteb_version": "2.26.0"}
        (place / f"{task}.json").write_text(
            json.dumps({**told, "scores": dict.fromkeys(splits, entries)})
        )
    return place


draws = np.random.default_rng(0)
A = draws.uniform(0.5, 0.8, 12)
B = A - draws.uniform(0.005, 0.05, 12)


def test_tasks_are_units_and_wilcoxons_p_is_scipys(tmp_path):
    write(tmp_path, "lab/a", A), write(tmp_path, "lab/b", B)
    found = read_results(tmp_path)
    assert (found.methods, found.unit, found.datasets) == (["lab/a", "lab/b"], "dataset", TASKS)
    result = found.compare()
    row = result.table.to_dict("records")[0]
    assert row["p"] == pytest.approx(wilcoxon(A, B).pvalue)
    assert not any("no known format" in note for note in found.notes)


def test_subsets_are_units_of_their_own(tmp_path):
    place = write(tmp_path, "lab/a", A, subsets=("en", "de"))
    (part,) = read_results(place).parts
    assert part.datasets[:2] == ["Task00 (en)", "Task00 (de)"]
    assert part.frame["main_score"].to_numpy()[1] == pytest.approx(A[0] + 0.01)


def test_another_metric_of_the_files_can_be_asked_for(tmp_path):
    place = write(tmp_path, "lab/a", A)
    (part,) = read_results(place, asked=Asked(metric="ndcg_at_10")).parts
    assert part.frame["ndcg_at_10"].to_numpy() == pytest.approx(A / 2)
    assert part.metrics == {"ndcg_at_10": True}


def test_only_the_test_split_counts(tmp_path):
    place = write(tmp_path, "lab/a", A, splits=("dev", "test"))
    assert read_results(place).datasets == TASKS


# What happens to such folders.


def test_another_revision_of_the_data_stops(tmp_path):
    write(tmp_path, "lab/a", A), write(tmp_path, "lab/b", B, revision="r2")
    with pytest.raises(InputError, match="revision of the data differs on Task00 and 11 more"):
        read_results(tmp_path).compare()


def test_a_task_that_one_model_lacks_is_said(tmp_path):
    write(tmp_path, "lab/a", A), (write(tmp_path, "lab/b", B) / "Task03.json").unlink()
    result = read_results(tmp_path).compare()
    assert any("Task03" in line or "1 dataset" in line for line in result.warnings)


def test_one_task_in_two_files_is_refused(tmp_path):
    place = write(tmp_path, "lab/a", A)
    (place / "copy.json").write_text((place / "Task00.json").read_text())
    with pytest.raises(InputError, match="Task00 stands in two files"):
        read_results(place)


def test_a_subset_that_stands_twice_is_refused(tmp_path):
    place = write(tmp_path, "lab/a", A, subsets=("en", "en"))
    with pytest.raises(InputError, match="the subset en of test stands twice"):
        read_results(place)


def test_a_file_that_was_cut_off_costs_itself(tmp_path):
    place = write(tmp_path, "lab/a", A)
    write(tmp_path, "lab/b", B)
    path = place / "Task05.json"
    path.write_bytes(path.read_bytes()[:-30])
    found = read_results(tmp_path)
    a = found.parts[0].frame.set_index("dataset")["main_score"]
    assert a.to_dict() == dict(zip(TASKS[:5] + TASKS[6:], np.delete(A, 5), strict=True))
    assert any("Task05.json: cannot be read as JSON" in note for note in found.notes)


def test_some_tasks_with_another_revision_are_left_out_and_named(tmp_path):
    write(tmp_path, "lab/a", A)
    place = write(tmp_path, "lab/b", B)
    for task in ("Task03", "Task07"):
        told = json.loads((place / f"{task}.json").read_text()) | {"dataset_revision": "r9"}
        (place / f"{task}.json").write_text(json.dumps(told))
    found = read_results(tmp_path)
    kept = [task for task in found.datasets if task not in ("Task03", "Task07")]
    assert found.datasets == kept
    assert len(kept) == len(A) - 2
    note = (
        "2 of 12 datasets, whose revision of the data differs between the methods: Task03, Task07"
    )
    assert any(note in line for line in found.notes)
    difference = np.mean([A[int(task[4:])] - B[int(task[4:])] for task in kept])
    (pair,) = found.compare(reference="lab/a").pairs
    assert pair.mean_difference == pytest.approx(difference, abs=1e-12)


def test_large_files_that_end_with_the_name_of_the_task_are_read(tmp_path):
    place = write(tmp_path, "lab/a", A)
    for path in place.glob("Task*.json"):
        told = json.loads(path.read_text())
        told["scores"]["test"][0]["details"] = ["x" * 100] * 1000
        path.write_text(json.dumps(dict(sorted(told.items()))))
        assert path.stat().st_size > 2**16
    assert len(read_results(place).datasets) == len(A)


def test_a_task_without_the_score_is_counted(tmp_path):
    place = write(tmp_path, "lab/a", A)
    told = json.loads((place / "Task02.json").read_text())
    told["scores"]["test"][0]["main_score"] = None
    (place / "Task02.json").write_text(json.dumps(told))
    found = read_results(place)
    assert "Task02" not in found.datasets
    assert "Left out: 1 tasks without a main_score." in found.notes


def test_without_its_description_a_model_is_called_by_its_folder(tmp_path):
    assert read_results(write(tmp_path, "lab/a", A, meta=False)).methods == ["lab/a"]
