"""Exported runs of Weights & Biases: finished ones count, and what names a method is told or asked for."""

import numpy as np
import pandas as pd
import pytest

from paragone.errors import InputError
from paragone.intake import Asked, read_results


def export():
    """Return an exported table: two models on six datasets, three seeds each, and a run that crashed."""
    draws = np.random.default_rng(0)
    rows = []
    for number in range(6):
        for model, better in (("vit", 0.05), ("resnet", 0.0)):
            for seed in range(3):
                accuracy = 0.7 + better + 0.02 * number + draws.normal(0, 0.005)
                rows.append(
                    (
                        f"proud-sun-{len(rows)}",
                        "finished",
                        model,
                        f"d{number}",
                        seed,
                        0.1,
                        accuracy,
                        1.2,
                        300,
                    )
                )
    rows.append(("sad-sun", "crashed", "vit", "d0", 1, 0.1, 0.1, 1.0, 12))
    names = [
        "Name",
        "State",
        "model",
        "dataset",
        "seed",
        "lr",
        "test_accuracy",
        "train_loss",
        "Runtime",
    ]
    return pd.DataFrame(rows, columns=names).assign(Sweep=None, Group=None)


def written(tmp_path, frame):
    frame.to_csv(tmp_path / "wandb_export.csv", index=False)
    return tmp_path / "wandb_export.csv"


def test_finished_runs_are_compared_by_the_config_that_names_them(tmp_path):
    frame = export()
    found = read_results(written(tmp_path, frame), asked=Asked(metric="test_accuracy"))
    assert found.parts[0].reader == "wandb"
    assert (found.methods, len(found.datasets)) == (["vit", "resnet"], 6)
    assert "Left out: 1 runs that failed, were stopped or still run." in found.notes
    result = found.compare("test_accuracy")
    mine = (
        frame[frame["State"] == "finished"]
        .groupby(["dataset", "model"])["test_accuracy"]
        .mean()
        .unstack("model")
    )
    assert result.scores.values[:, 1].tolist() == pytest.approx(mine["vit"].tolist())
    assert result.table["mean_difference"].tolist() == pytest.approx(
        [(mine["vit"] - mine["resnet"]).mean()]
    )


def test_several_metrics_are_asked_about_and_a_sweep_is_said(tmp_path):
    found = read_results(written(tmp_path, export().assign(val_loss=0.5, Sweep="q1")))
    assert any("of a sweep, whose best run looks better than it is" in note for note in found.notes)
    with pytest.raises(
        InputError, match="the results hold 2 metrics; choose one of test_accuracy, val_loss"
    ):
        found.compare()


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (
            lambda frame: frame.rename(columns={"model": "arch"}),
            "which field names the method is not told",
        ),
        (lambda frame: pd.concat([frame, frame.head(4)]), "4 runs are second ones"),
        (lambda frame: frame.assign(test_accuracy="n.a."), "is not a number"),
        (lambda frame: frame.assign(State="crashed"), "no finished run has test_accuracy"),
        (
            lambda frame: frame.rename(columns={"test_accuracy": "x"}),
            "there is no column 'test_accuracy'",
        ),
        (
            lambda frame: frame.assign(model=frame["model"].where(frame.index > 3)),
            "4 of 36 runs have no model",
        ),
    ],
)
def test_spoiled_exports_are_one_sentence(tmp_path, spoil, sentence):
    with pytest.raises(InputError, match=sentence):
        read_results(written(tmp_path, spoil(export())), asked=Asked(metric="test_accuracy"))


def test_a_line_that_is_cut_off_is_counted(tmp_path):
    path = written(tmp_path, export())
    path.write_bytes(path.read_bytes()[:-12])
    found = read_results(path, asked=Asked(metric="test_accuracy"))
    assert "Left out: 1 last line that is cut off." in found.notes


def test_a_field_may_be_named(tmp_path):
    frame = export().rename(columns={"model": "arch"})
    assert read_results(written(tmp_path, frame), asked=Asked(method="arch")).methods == [
        "vit",
        "resnet",
    ]


def test_an_export_without_states_takes_every_run_and_says_so(tmp_path):
    frame = export().drop(columns="State").iloc[:36]
    found = read_results(written(tmp_path, frame), asked=Asked(metric="test_accuracy"))
    assert (found.methods, len(found.scores("test_accuracy"))) == (["vit", "resnet"], 36)
    assert any("no column State" in note for note in found.notes)


def test_of_the_curves_of_a_chart_the_last_values_are_read(tmp_path):
    frame = pd.DataFrame({"Step": range(4)})
    for name, last in (("ppo", 9.0), ("sac", 7.0)):
        frame[f"{name} - mean_reward"] = [1.0, 2.0, last, np.nan]
        for limit in ("__MIN", "__MAX"):
            frame[f"{name} - mean_reward{limit}"] = 1.0
    found = read_results(written(tmp_path, frame))
    assert found.metrics == {"mean_reward": True}
    assert found.scores().set_index("method")["value"].to_dict() == {"ppo": 9.0, "sac": 7.0}
