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


def test_a_file_that_was_cut_off_is_counted_as_unread_or_refused(tmp_path):
    place = write(tmp_path, "lab/a", A)
    path = place / "Task05.json"
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(InputError, match=r"Task05\.json: cannot be read as JSON"):
        read_results(place)


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
