"""Folders of runs: what differs in the path is the key of a pair, and a declared rule picks the row of a log."""

import json

import numpy as np
import pandas as pd
import pytest

from paragone import pairwise
from paragone.errors import InputError
from paragone.intake import Asked, read_results

A = [0.61, 0.24, 0.55, 0.72, 0.20, 0.66, 0.58, 0.49, 0.23, 0.70, 0.64, 0.52]
B = [0.66, 0.22, 0.61, 0.75, 0.21, 0.66, 0.65, 0.47, 0.31, 0.78, 0.69, 0.60]


def one_file_each(folder, values, name="subject{:02d}.json", metric="test_acc"):
    """Write a JSON file for every value."""
    for number, value in enumerate(values, start=1):
        path = folder / name.format(number)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({metric: value, "epochs": 3, "note": "ok"}))
    return folder


def lightning(folder, numbers, tested=True):
    """Write metrics.csv as Lightning's CSV logger does: training, validation and test values in rows of their own."""
    for number in numbers:
        log = folder / f"fold_{number}" / "lightning_logs" / "version_0" / "metrics.csv"
        log.parent.mkdir(parents=True)
        lines = ["epoch,step,test_acc,train_loss,val_acc,val_loss"]
        for epoch, (acc, loss) in enumerate([(0.5, 0.9), (0.8 + number / 100, 0.3), (0.7, 0.4)]):
            lines += [
                f"{epoch},{10 * epoch},,{loss + 0.1},,",
                f"{epoch},{10 * epoch + 9},,,{acc},{loss}",
            ]
        if tested:
            lines.append(f"3,30,{0.75 + number / 100},,,")
        log.write_text("\n".join(lines) + "\n")
    return folder


def test_two_folders_of_subjects_are_compared_as_two_arrays_are(tmp_path, paragone):
    one_file_each(tmp_path / "csp", A)
    one_file_each(tmp_path / "eegnet", B)
    ended = paragone(
        "pairwise",
        tmp_path / "csp",
        tmp_path / "eegnet",
        "--metric",
        "test_acc",
        "--threshold",
        0.25,
        "--json",
    )
    assert ended.code == 0, ended.err
    told = json.loads(ended.out)
    expected = pairwise(
        pd.Series(A, range(1, len(A) + 1), name="csp"),
        pd.Series(B, range(1, len(B) + 1), name="eegnet"),
        threshold=0.25,
        higher_is_better=True,
        metric="test_acc",
    )
    assert told["double_fails"] == 2
    # Every figure and every word: effective means, wins, ties, losses, p, verdict, each difference.
    assert told == json.loads(json.dumps(expected.to_dict(), default=str))


def test_subjects_are_paired_by_their_number_and_not_by_their_order(tmp_path, paragone):
    one_file_each(tmp_path / "a", A, "subject{:02d}.json")
    one_file_each(tmp_path / "b", B, "subject_{}/results.json")
    (tmp_path / "b" / "subject_3" / "results.json").unlink()
    ended = paragone("pairwise", tmp_path / "a", tmp_path / "b", "--metric", "test_acc")
    assert ended.code == 0, ended.err
    kept = [number for number in range(12) if number != 2]
    expected = pairwise(np.array(A)[kept], np.array(B)[kept], higher_is_better=True)
    assert f"{expected.pairs[0].p:.3g}"[:5] in ended.out
    assert "1 with a score of a only, left out: 3" in ended.out


def test_a_folder_of_methods_holds_all_of_them(tmp_path):
    for name, values in (("svm", A), ("forest", B)):
        one_file_each(tmp_path / "runs" / name, values, "fold_{}/results.json")
    found = read_results(tmp_path / "runs")
    assert found.parts[0].reader == "runs"
    assert (found.methods, found.unit, found.metrics) == (
        ["forest", "svm"],
        "fold",
        {"test_acc": True},
    )
    result = found.compare()
    assert result.scores.designs[0].folds == 12
    assert result.scores.values[0].tolist() == pytest.approx([np.mean(B), np.mean(A)])


def test_several_folders_are_methods_and_what_is_in_them_datasets(tmp_path):
    for method, values in (("svm", A), ("forest", B)):
        for dataset in ("iris", "wine"):
            one_file_each(
                tmp_path / method / dataset,
                values[:5],
                "seed{}_fold{}.json".replace("fold{}", "fold0"),
            )
    found = read_results(tmp_path / "svm", tmp_path / "forest")
    assert (found.methods, found.datasets) == (["svm", "forest"], ["iris", "wine"])
    assert sorted(found.scores("test_acc")["seed"].unique()) == ["1", "2", "3", "4", "5"]


def test_a_log_is_read_where_one_row_holds_the_metric_or_a_rule_says_which(tmp_path):
    folder = lightning(tmp_path / "net", range(5))
    values = read_results(folder, asked=Asked(metric="test_acc")).scores("test_acc")
    assert values.set_index("fold")["value"].to_dict() == {
        str(n): pytest.approx(0.75 + n / 100) for n in range(5)
    }
    unsaid = read_results(folder, asked=Asked(metric="val_acc"))
    assert unsaid.scores("val_acc")["value"].tolist() == [0.7] * 5
    assert any("The result of a log is its last row" in note for note in unsaid.notes)
    best = read_results(folder, asked=Asked(metric="val_acc", row="best:val_loss"))
    assert best.scores("val_acc")["value"].tolist() == pytest.approx(
        [0.8 + n / 100 for n in range(5)]
    )
    assert any("the rule best:val_loss picks" in note for note in best.notes)
    last = read_results(folder, asked=Asked(metric="val_acc", row="last"))
    assert last.scores("val_acc")["value"].tolist() == [0.7] * 5


def test_test_rows_choose_nothing(tmp_path):
    folder = lightning(tmp_path / "net", range(3))
    with pytest.raises(InputError, match="test rows must not choose anything"):
        read_results(folder, asked=Asked(metric="val_acc", row="best:test_acc"))
    with pytest.raises(InputError, match="write last, or best:COLUMN"):
        read_results(folder, asked=Asked(metric="val_acc", row="first"))


def test_hydra_tells_method_and_seed_of_numbered_jobs(tmp_path):
    job = 0
    for model in ("cnn", "mlp"):
        for seed in (1, 2, 3):
            hidden = tmp_path / "multirun" / str(job) / ".hydra"
            hidden.mkdir(parents=True)
            (hidden / "overrides.yaml").write_text(f"- model={model}\n- seed={seed}\n")
            (hidden / "config.yaml").write_text(
                f"model: {model}\nseed: {seed}\noptim:\n  lr: 0.1\n"
            )
            (hidden.parent / "results.json").write_text(
                json.dumps({"test": {"accuracy": 0.5 + job / 100}})
            )
            job += 1
    found = read_results(tmp_path / "multirun", asked=Asked(metric="accuracy"))
    assert found.methods == ["cnn", "mlp"]
    assert found.scores("accuracy").set_index(["method", "seed"])["value"]["mlp"].to_dict() == {
        "1": 0.53,
        "2": 0.54,
        "3": 0.55,
    }


def stages(folder):
    """Write runs of two methods, each at a stage of its own, and return the error of every seed."""
    values = {}
    for method, stage in (("mlp", "0-evaluation"), ("tabr", "2-evaluation")):
        for place, dataset in enumerate(("adult", "diamond", "house")):
            for seed in range(3):
                path = folder / method / dataset / stage / str(seed) / "report.json"
                path.parent.mkdir(parents=True)
                value = 0.3 + place + seed / 100 + (method == "mlp") / 10
                told = {"metrics": {"train": {"rmse": 0.1}, "test": {"rmse": value}}}
                path.write_text(json.dumps(told))
                values[method, dataset, str(seed)] = value
    return values


def test_a_level_of_folders_may_be_ignored_or_be_of_the_method(tmp_path):
    values = stages(tmp_path / "exp")
    asked = {"metric": "rmse", "unit": "seed"}
    with pytest.raises(InputError) as caught:
        read_results(tmp_path / "exp", asked=Asked(**asked))
    said = "method='path1' dataset='path2' columns={'path3': 'ignore'}"
    assert "path3: 0-evaluation, 2-evaluation" in str(caught.value)
    assert said in str(caught.value)
    asked |= {"method": "path1", "dataset": "path2"}
    found = read_results(tmp_path / "exp", asked=Asked(**asked, columns={"path3": "ignore"}))
    read = found.scores("rmse").set_index(["method", "dataset", "seed"])["value"]
    assert read.to_dict() == values
    joined = read_results(tmp_path / "exp", asked=Asked(**asked, columns={"path3": "method"}))
    assert joined.methods == ["mlp/0-evaluation", "tabr/2-evaluation"]


def test_folders_of_a_method_and_a_dataset_each_need_no_option(tmp_path):
    for method in ("gte", "bert"):
        for dataset in ("a", "b", "c"):
            path = tmp_path / "results" / method / f"{dataset}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({"accuracy": len(method) / 10, "n": 5}))
    found = read_results(tmp_path / "results")
    assert (found.methods, found.datasets) == (["bert", "gte"], ["a", "b", "c"])
    assert any("are read as methods" in note for note in found.notes)
    assert any("are read as datasets" in note for note in found.notes)


def test_trials_of_ray_are_paired_by_their_settings_and_not_by_their_dates(tmp_path):
    for place, method in enumerate(("atari-a2c", "atari-impala")):
        for env in ("Breakout", "Qbert"):
            trial = f"{method.upper()}_{env}_0_env={env}_2018-11-1{place}_22-17-2{place}ab_{place}"
            folder = tmp_path / method / trial
            folder.mkdir(parents=True)
            (folder / "params.json").write_text(json.dumps({"env": env, "lr": 0.1, "gpus": 1}))
            rows = [
                {"training_iteration": n, "episode_reward_mean": n + len(method), "done": False}
                for n in range(1, 4)
            ]
            (folder / "result.json").write_text("\n".join(map(json.dumps, rows)) + "\n")
            (folder / "progress.csv").write_text('training_iteration,config\n1,"{cut')
    asked = Asked(metric="episode_reward_mean")
    found = read_results(tmp_path / "atari-a2c", tmp_path / "atari-impala", asked=asked)
    assert (found.methods, found.datasets) == (["atari-a2c", "atari-impala"], ["Breakout", "Qbert"])
    assert sorted(found.scores(asked.metric)["value"]) == [12.0, 12.0, 15.0, 15.0]


def test_results_of_recbole_are_those_of_test_rows(tmp_path):
    for seed in range(3):
        result = {
            "best_valid_score": 0.3,
            "best_valid_result": {"recall@10": 0.3, "ndcg@10": 0.2},
            "test_result": {"recall@10": 0.2 + seed / 100, "ndcg@10": 0.1},
        }
        (tmp_path / "BPR").mkdir(exist_ok=True)
        (tmp_path / "BPR" / f"seed_{seed}.json").write_text(json.dumps(result))
    found = read_results(tmp_path / "BPR", asked=Asked(metric="recall@10"))
    assert found.metrics == {"recall@10": True}
    assert found.scores("recall@10")["value"].tolist() == pytest.approx([0.2, 0.21, 0.22])


def test_numbers_that_may_be_anything_are_asked_about(tmp_path):
    one_file_each(tmp_path / "a", A, "run_{}.json")
    with pytest.raises(InputError, match="may count folds, seeds or subjects: say unit='fold'"):
        read_results(tmp_path / "a")
    assert read_results(tmp_path / "a", asked=Asked(unit="subject")).unit == "subject"


def test_a_file_that_is_cut_off_is_left_out_and_named(tmp_path):
    one_file_each(tmp_path / "a", A)
    (tmp_path / "a" / "subject04.json").write_text('{"test_acc": 0.7')
    (tmp_path / "a" / "subject05.json").write_text('{"val_acc": 0.7}')
    found = read_results(tmp_path / "a", asked=Asked(metric="test_acc"))
    assert len(found.scores("test_acc")) == 10
    assert "Left out: 1 files that cannot be read." in found.notes
    assert "Left out: 1 files without test_acc." in found.notes
    assert "Could not be read: subject04.json." in found.notes


def test_two_results_of_one_subject_are_refused(tmp_path):
    one_file_each(tmp_path / "a", A)
    (tmp_path / "a" / "subject7.json").write_text('{"test_acc": 0.1}')
    with pytest.raises(InputError, match="test_acc of subject 7 stands in two files"):
        read_results(tmp_path / "a")


def test_a_second_run_appended_to_a_log_is_refused(tmp_path):
    folder = lightning(tmp_path / "net", range(3))
    log = folder / "fold_1" / "lightning_logs" / "version_0" / "metrics.csv"
    log.write_text(log.read_text() + "".join(log.read_text().splitlines(keepends=True)[1:]))
    with pytest.raises(InputError, match="its column epoch starts again: the file holds two runs"):
        read_results(folder, asked=Asked(metric="test_acc"))


def test_a_second_version_of_a_fold_is_refused(tmp_path):
    folder = lightning(tmp_path / "net", range(3))
    first = folder / "fold_1" / "lightning_logs" / "version_0" / "metrics.csv"
    second = folder / "fold_1" / "lightning_logs" / "version_1" / "metrics.csv"
    second.parent.mkdir()
    second.write_text(first.read_text())
    with pytest.raises(InputError, match="may count folds, seeds or subjects"):
        read_results(folder, asked=Asked(metric="test_acc"))


def test_a_metric_that_no_file_holds_is_one_sentence(tmp_path):
    one_file_each(tmp_path / "a", A)
    with pytest.raises(InputError, match="none of 12 files holds a number called 'test_f1'"):
        read_results(tmp_path / "a", asked=Asked(metric="test_f1"))


def test_another_metric_in_the_other_folder_is_one_sentence(tmp_path, paragone):
    one_file_each(tmp_path / "a", A)
    one_file_each(tmp_path / "b", B, metric="test_loss")
    ended = paragone("pairwise", tmp_path / "a", tmp_path / "b", "--threshold", 0.25)
    assert ended.code == 2
    assert "no metric is there for every method (a: test_acc; b: test_loss)" in ended.err


def test_items_are_not_the_steps_of_a_run(tmp_path):
    for fold in range(3):
        rows = [{"question_id": n, "correct": n % 2, "f1": 0.5} for n in range(4)]
        (tmp_path / f"fold_{fold}.json").write_text(json.dumps(rows))
    with pytest.raises(InputError, match="none of 3 files holds"):
        read_results(tmp_path, reader="runs", asked=Asked(metric="correct"))
