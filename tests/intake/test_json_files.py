"""JSON that evaluations leave behind: rows of items, metrics of runs, methods and benchmarks in each other."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import binomtest

from paragone.errors import InputError
from paragone.intake import Asked, read_results


def lines(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def whole(path, told):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(told, indent=1))
    return path


def values(read, metric):
    """Return the values of each method by item or dataset."""
    found: dict[str, dict[str, float]] = {}
    for part in read.parts:
        key = "item" if part.unit == "item" else "dataset"
        for row in part.frame.to_dict("records"):
            found.setdefault(str(row["method"]), {})[str(row[key])] = row[metric]
    return found


def test_two_models_on_humaneval_are_paired_by_mcnemar(tmp_path):
    generator = np.random.default_rng(0)
    passed = {"small": generator.random(60) < 0.3, "large": generator.random(60) < 0.7}
    files = [
        lines(
            tmp_path / f"{name}_results.jsonl",
            [
                {"task_id": f"HumanEval/{n}", "completion": "def f():\n    return 1\n" * 20,
                 "result": "passed" if one else "failed", "passed": bool(one)}
                for n, one in enumerate(mine)
            ],
        )
        for name, mine in passed.items()
    ]  # fmt: skip
    read = read_results(*files)
    assert (read.unit, read.metrics) == ("item", {"passed": True})
    (pair,) = read.compare().pairs
    only_large = int((passed["large"] & ~passed["small"]).sum())
    only_small = int((passed["small"] & ~passed["large"]).sum())
    n = only_large + only_small
    assert pair.p == pytest.approx(binomtest(only_small, n).pvalue, rel=1e-9)
    assert abs(pair.mean_difference) == pytest.approx((only_large - only_small) / 60)


def test_several_answers_to_a_task_are_repeats_of_it(tmp_path):
    rows = [{"task_id": f"t{n % 5}", "passed": n % 3 == 0} for n in range(20)]
    read = read_results(lines(tmp_path / "a.jsonl", rows), lines(tmp_path / "b.jsonl", rows))
    joined = read.joined("passed").frame
    means = [np.mean([n % 3 == 0 for n in range(20) if n % 5 == task]) for task in range(5)]
    assert sorted(joined[joined["method"] == "a"]["value"]) == pytest.approx(sorted(means))


def test_turns_are_repeats_and_minus_one_is_no_judgement(tmp_path):
    rows = [
        {"question_id": q, "model": m, "judge": ["gpt-4", "single-v1"], "judgment": "long " * 99,
         "score": -1 if (m, q, turn) == ("A", 3, 1) else q + turn + (m == "A"), "turn": turn}
        for m in "AB"
        for q in range(1, 8)
        for turn in (1, 2)
    ]  # fmt: skip
    read = read_results(lines(tmp_path / "gpt-4_single.jsonl", rows))
    joined = read.joined("score").frame.pivot(index="sample", columns="method", values="value")
    assert len(joined) == 6
    assert sorted(joined["B"]) == pytest.approx([q + 1.5 for q in (1, 2, 4, 5, 6, 7)])


def test_evalplus_has_two_values_of_every_task(tmp_path):
    told = {
        "date": "2024-01-01", "hash": "ab",
        "eval": {f"HumanEval/{n}": [{"task_id": f"HumanEval/{n}", "solution": "x\n" * 400,
                                     "base_status": "pass", "plus_status": "pass" if n % 2 else "fail"}]
                 for n in range(30)},
    }  # fmt: skip
    read = read_results(whole(tmp_path / "m_eval_results.json", told))
    (part,) = read.parts
    assert part.unit == "item"
    assert part.frame["base"].mean() == 1.0
    assert part.frame["plus"].mean() == 0.5


def test_texts_of_questions_name_items_where_nothing_else_does(tmp_path):
    rows = [
        {"question": f"What is {n}?" + " please" * 60, "answer": "x", "correct": n % 2 == 0}
        for n in range(12)
    ]
    files = [lines(tmp_path / f"{name}.jsonl", rows[: 12 - n]) for n, name in enumerate("ab")]
    read = read_results(*files)
    assert read.unit == "item"
    assert len(read.joined("correct").frame) == 22


def test_a_list_inside_an_object_with_its_model(tmp_path):
    for name, shift in (("one", 0), ("two", 1)):
        rows = [{"id": n, "score": {"f1": (n + shift) / 20}} for n in range(9)]
        whole(tmp_path / f"{name}.json", {"model": f"org/{name}", "results": rows, "n": 9})
    read = read_results(tmp_path / "one.json", tmp_path / "two.json")
    assert read.methods == ["org/one", "org/two"]
    assert read.choose_metric(None) == "score.f1"
    assert read.joined("score.f1").frame["value"].sum() == pytest.approx((36 + 45) / 20)


def test_lines_that_were_cut_off_are_counted(tmp_path):
    rows = [{"id": n, "correct": n % 2} for n in range(200)]
    path = lines(tmp_path / "a.jsonl", rows)
    path.write_bytes(path.read_bytes()[:-9])
    (part,) = read_results(path).parts
    assert len(part.frame) == 199
    assert part.dropped == {"lines that are cut off or broken": 1}


def test_runs_with_flat_metrics_are_called_by_what_tells_their_paths_apart(tmp_path):
    for name, value in (("baseline", 0.81), ("tuned", 0.84)):
        whole(tmp_path / name / "metrics.json", {"accuracy": value, "train": {"accuracy": 0.99}})
    read = read_results(tmp_path / "baseline/metrics.json", tmp_path / "tuned/metrics.json")
    assert values(read, "accuracy") == {"baseline": {"data": 0.81}, "tuned": {"data": 0.84}}


def test_metrics_of_dvc_in_yaml_and_of_the_test_part(tmp_path):
    for name, value in (("old", 0.5), ("new", 0.75)):
        text = f"train:\n  rmse: 0.1\ntest:\n  rmse: {value}\nval:\n  rmse: 0.3\nseed: 7\n"
        (tmp_path / f"{name}.yaml").write_text(text)
    read = read_results(tmp_path / "old.yaml", tmp_path / "new.yaml")
    assert values(read, "rmse") == {"old": {"data": 0.5}, "new": {"data": 0.75}}
    assert read.metrics == {"rmse": False}


def test_a_classification_report_is_one_method(tmp_path):
    one = {"precision": 0.5, "recall": 0.5, "f1-score": 0.5, "support": 10.0}
    told = {
        "0": one,
        "1": one,
        "accuracy": 0.7,
        "macro avg": one | {"recall": 0.6},
        "weighted avg": one,
    }
    read = read_results(whole(tmp_path / "report.json", told))
    assert read.methods == ["report"]
    assert values(read, "accuracy") == {"report": {"data": 0.7}}
    assert values(read, "recall") == {"report": {"data": 0.6}}
    assert any("Parts of report.json are not read: 0, 1" in note for note in read.notes)


def test_methods_and_datasets_may_be_turned(tmp_path):
    tree = {
        m: {d: {"accuracy": (n + k) / 10} for k, d in enumerate("xyz")} for n, m in enumerate("AB")
    }
    path = whole(tmp_path / "results.json", tree)
    straight = values(read_results(path), "accuracy")
    turned = values(read_results(path, asked=Asked(method="level2", dataset="level1")), "accuracy")
    assert straight["B"] == pytest.approx({"x": 0.1, "y": 0.2, "z": 0.3})
    assert turned["x"] == pytest.approx({"A": 0.0, "B": 0.1})
    assert any("--method" in note or "method='level2'" in note for note in read_results(path).notes)


def test_numbered_folds_are_folds_and_bare_numbers_a_question(tmp_path):
    told = {f"fold_{n}": {"accuracy": n / 10} for n in range(5)}
    (part,) = read_results(whole(tmp_path / "a.json", told)).parts
    assert part.unit == "fold"
    assert part.frame["accuracy"].tolist() == [0.0, 0.1, 0.2, 0.3, 0.4]
    path = whole(tmp_path / "b.json", {str(n): {"accuracy": n / 10} for n in range(5)})
    with pytest.raises(InputError, match="may count folds or seeds: say unit='fold'"):
        read_results(path)
    assert read_results(path, asked=Asked(unit="seed")).parts[0].frame["seed"].nunique() == 5


def test_a_grid_of_numbers_without_a_metric_has_no_direction(tmp_path):
    tree = {m: {d: n + k for k, d in enumerate("xyz")} for n, m in enumerate("ABC")}
    path = whole(tmp_path / "results.json", tree)
    with pytest.raises(InputError, match=r"direction|higher"):
        read_results(path).compare()
    found = values(read_results(path, asked=Asked(metric="accuracy")), "accuracy")
    assert found["C"] == {"x": 2.0, "y": 3.0, "z": 4.0}


def test_settings_are_no_results(tmp_path):
    path = whole(tmp_path / "config.json", {"hidden_size": 768, "dropout": 0.1, "layers": 12})
    with pytest.raises(InputError, match="not of a format"):
        read_results(path)


def test_names_too_deep_are_a_question_that_can_be_answered(tmp_path):
    tree = {
        m: {
            d: {p: {"accuracy": n + k + j} for j, p in enumerate("pq")} for k, d in enumerate("xyz")
        }
        for n, m in enumerate("AB")
    }
    path = whole(tmp_path / "results.json", tree)
    with pytest.raises(
        InputError, match=r"3 levels deep \(level1: A, B; level2: x, y, z; level3: p, q\)"
    ):
        read_results(path)
    asked = Asked(columns={"level1": "method", "level2": "dataset", "level3": "repeat"})
    (part,) = read_results(path, asked=asked).parts
    assert part.frame.groupby("method")["accuracy"].sum().to_dict() == {"A": 9, "B": 15}


def test_the_history_of_a_trainer_is_a_log_whose_loss_is_of_training(tmp_path):
    for name, last in (("base", 0.8), ("tuned", 0.9)):
        history = [{"loss": 0.3, "step": 1}, {"eval_accuracy": 0.5, "step": 1}]
        history += [{"loss": 0.2, "step": 2}, {"eval_accuracy": last, "step": 2}]
        told = {"best_metric": 0.9, "log_history": history}
        whole(tmp_path / name / "trainer_state.json", told)
    paths = [tmp_path / name / "trainer_state.json" for name in ("base", "tuned")]
    read = read_results(*paths)
    assert read.metrics == {"eval_accuracy": True}
    assert values(read, "eval_accuracy") == {"base": {"data": 0.8}, "tuned": {"data": 0.9}}


def test_a_monitor_is_the_mean_of_its_last_hundred_episodes(tmp_path):
    rewards = np.random.default_rng(1).normal(50, 9, 130).round(3)
    for name, shift in (("ppo", 0.0), ("sac", 5.0)):
        rows = "".join(f"{one + shift:.3f},200,{n}.5\n" for n, one in enumerate(rewards))
        (tmp_path / name).mkdir()
        text = '#{"t_start": 1.5, "env_id": "Ant-v3"}\nr,l,t\n' + rows
        (tmp_path / name / "0.monitor.csv").write_text(text)
    read = read_results(tmp_path / "ppo/0.monitor.csv", tmp_path / "sac/0.monitor.csv")
    found = values(read, "mean_reward")
    assert found["ppo"]["data"] == pytest.approx(rewards[-100:].mean())
    assert found["sac"]["data"] == pytest.approx(rewards[-100:].mean() + 5)


@pytest.mark.parametrize("alone", [True, False])
def test_items_in_a_folder_a_model_and_a_file_a_task_are_told_by_their_places(tmp_path, alone):
    for m, model in enumerate(("gpt", "llama")):
        for t, task in enumerate(("arc", "boolq")):
            rows = [{"id": n, "correct": (n + m + t) % 3 == 0} for n in range(10 + t)]
            lines(tmp_path / "out" / model / f"{task}.jsonl", rows)
    folder = tmp_path / "out"
    read = read_results(*([folder] if alone else [folder / "gpt", folder / "llama"]))
    assert (read.methods, read.datasets) == (["gpt", "llama"], ["arc", "boolq"])
    assert len(read.joined("correct").frame) == 42
