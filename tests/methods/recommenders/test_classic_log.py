"""The classic text of SMGCN is what the printf of the authors' program gives, with F1 where it has NDCG."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from paragone.errors import InputError
from paragone.methods.recommenders.smgcn import SMGCN
from paragone.methods.recommenders.smgcn.training import TrainingDivergedError
from paragone.testing.recommenders import example_prescriptions

SMALL = {
    "widths": (4, 6, 8),
    "batch_size": 16,
    "max_epochs": 6,
    "evaluate_every": 2,
    "ks": (1, 2, 3),
    "patience": None,
}
SMALL |= {"choose_by": "recall@3", "token_pairs_from": 2, "item_pairs_from": 2, "seed": 4}
N_TRAIN = 45
SECONDS = re.compile(r"(\d+\.\d)s|@\[(\d+\.\d)\]")


class PowerCutError(Exception):
    """Stands for a kill in the middle of a fit."""


@pytest.fixture(scope="module")
def rows():
    made = example_prescriptions(60, 7, 11, seed=2)
    return made.take(range(N_TRAIN), name="train"), made.take(range(N_TRAIN, 60), name="validation")


def fit(rows, folder, stop_after=None, **changes):
    """Fit with both logs, to its end or until a power cut."""

    def progress(epoch, last, loss):
        if epoch == stop_after:
            raise PowerCutError

    places = {
        "log": folder / "log.jsonl",
        "classic": folder / "text.log",
        "result_file": folder / "best.result",
    }
    made = SMGCN(**(SMALL | changes)).observe(
        **places, checkpoint=folder / "fit.npz", progress=progress
    )
    return made.fit(*rows)


def without_seconds(text):
    return SECONDS.sub("_", text)


def printf(form, *values):
    """Format as C does; the formats of the authors' program are written so."""
    return form % values


def printed_by_the_authors_program(records, n_steps):
    """Write the lines of the evaluated epochs with the authors' formats, from the numbers of the JSON log."""
    lines = []
    for record in records:
        losses = [n_steps * record[name] for name in ("total", "loss", "penalty")]
        m = record["metrics"]
        ends = [
            m[name][place] for name in ("recall", "precision", "f1", "rmrr") for place in (0, -1)
        ]
        form = (
            "Epoch %d [_ + _]: train==[%.5f=%.5f + %.5f + %.5f ]\n recall=[%.5f, %.5f], "
            "precision=[%.5f, %.5f],  f1=[%.5f, %.5f], RMRR=[%.5f, %.5f]"
        )
        lines.append(printf(form, record["epoch"] - 1, *losses, 0.0, *ends))
    return lines


def test_evaluated_epochs_are_printed_as_the_authors_program_prints_them(rows, tmp_path):
    fit(rows, tmp_path)
    records = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    evaluations = [record for record in records if record["event"] == "evaluation"]
    # An epoch is n // B + 1 draws.
    expected = printed_by_the_authors_program(evaluations, N_TRAIN // 16 + 1)
    text = without_seconds((tmp_path / "text.log").read_text())
    assert [f"{part}\n" for part in expected] == re.findall(r"Epoch \d+ \[_ \+ _\].*\n.*\n", text)
    # The parameters follow every evaluation, in one word.
    assert text.count("paras\t 0.001_[0.007]_[0.0, 0.0]_4_norm_SMGCN\n") == len(evaluations)


def test_every_epoch_has_its_line_counted_from_0(rows, tmp_path):
    fit(rows, tmp_path)
    lines = (tmp_path / "text.log").read_text().splitlines()
    epochs = [line for line in lines if line.startswith("Epoch")]
    assert [int(line.split()[1]) for line in epochs] == [0, 1, 2, 3, 4, 5]
    between = re.compile(r"Epoch \d+ \[\d+\.\ds\]: train==\[(\S+)=(\S+) \+ (\S+) \+ (\S+)  \]")
    for line in epochs[::2]:
        total, loss, penalty, nothing = map(float, between.fullmatch(line).groups())
        assert total == pytest.approx(loss + penalty, abs=2e-5)
        assert nothing == 0.0


def test_the_best_iteration_is_the_number_of_an_evaluation_and_the_values_stand_between_tabs(
    rows, tmp_path
):
    made = fit(rows, tmp_path)
    values = [record["metrics"]["recall"][2] for record in made.history_]
    place = values.index(max(values))
    best = made.history_[place]["metrics"]
    joined = [
        "\t".join(printf("%.5f", value) for value in best[name])
        for name in ("recall", "precision", "f1", "rmrr")
    ]
    expected = printf(
        "Best Iter=[%d]_\trecall=[%s], precision=[%s],  f1=[%s], rmrr=[%s]", place, *joined
    )
    last = (tmp_path / "text.log").read_text().splitlines()[-1]
    assert without_seconds(last) == expected
    assert made.epoch_ == 2 * (place + 1)


def test_the_seconds_are_training_plus_evaluation_and_the_last_is_their_sum(rows, tmp_path):
    fit(rows, tmp_path, max_epochs=4)
    text = (tmp_path / "text.log").read_text()
    spent = [float(seconds) for seconds, _ in SECONDS.findall(text) if seconds]
    assert len(spent) == 2 * 1 + 2 * 2
    total = float(re.search(r"Best Iter=\[\d+\]@\[([\d.]+)\]", text)[1])
    # Every number is rounded to a tenth.
    assert total == pytest.approx(sum(spent), abs=0.05 * (len(spent) + 1))


def test_the_result_file_gets_a_line_of_hyper_parameters_and_the_best_line_after_a_tab(
    rows, tmp_path
):
    fit(rows, tmp_path, learning_rate=2e-4, dropout=0.1, fusion="concat")
    header, best = (tmp_path / "best.result").read_text().splitlines()
    parameters = (
        "fusion=concat, embed_size=4, lr=0.0002, layer_size=[6,8], mess_dropout=[0.1, 0.1],"
        " regs=[0.007], "
    )
    assert re.fullmatch(
        r"time=\d{4}-\d\d-\d\d \d\d:\d\d:\d\d, " + re.escape(parameters + "adj_type=norm"), header
    )
    assert best == "\t" + (tmp_path / "text.log").read_text().splitlines()[-1]
    (tmp_path / "fit.npz").unlink()
    fit(rows, tmp_path)
    assert len((tmp_path / "best.result").read_text().splitlines()) == 4


@pytest.mark.parametrize("stop_after", [1, 2, 3, 5])
def test_a_fit_that_was_cut_off_and_went_on_leaves_the_text_of_an_uninterrupted_one(
    rows, tmp_path, stop_after
):
    (tmp_path / "whole").mkdir()
    (tmp_path / "cut").mkdir()
    fit(rows, tmp_path / "whole")
    with pytest.raises(PowerCutError):
        fit(rows, tmp_path / "cut", stop_after)
    # What a kill leaves behind: half a line, and lines of epochs after the checkpoint.
    for name in ("text.log", "log.jsonl"):
        with (tmp_path / "cut" / name).open("a") as stream:
            stream.write('{"event": "evaluation", "epoch": 9, "tot')
    fit(rows, tmp_path / "cut")
    whole, cut = ((tmp_path / name / "text.log").read_text() for name in ("whole", "cut"))
    assert without_seconds(cut) == without_seconds(whole)
    logs = [(tmp_path / name / "log.jsonl").read_text().splitlines() for name in ("whole", "cut")]
    plain = [
        [{k: v for k, v in json.loads(line).items() if k != "seconds"} for line in lines]
        for lines in logs
    ]
    assert plain[0] == plain[1]


def test_a_fit_that_was_killed_after_its_last_line_does_not_repeat_it(rows, tmp_path):
    fit(rows, tmp_path)
    before = (tmp_path / "text.log").read_text()
    # The checkpoint of the last epoch is still there: the fit goes on from it and ends at once.
    fit(rows, tmp_path)
    after = (tmp_path / "text.log").read_text()
    assert without_seconds(after) == without_seconds(before)
    assert after.count("Best Iter=") == 1
    assert (tmp_path / "log.jsonl").read_text().count('"chosen"') == 1


def test_a_function_gets_the_lines_of_a_file(rows, tmp_path):
    fit(rows, tmp_path)
    lines = []
    SMGCN(**SMALL).observe(classic=lines.append).fit(*rows)
    assert without_seconds("\n".join(lines) + "\n") == without_seconds(
        (tmp_path / "text.log").read_text()
    )


def test_without_validation_there_are_epochs_and_nothing_to_choose(rows, tmp_path):
    SMGCN(**SMALL).observe(classic=tmp_path / "text.log", result_file=tmp_path / "best.result").fit(
        rows[0]
    )
    lines = (tmp_path / "text.log").read_text().splitlines()
    assert len(lines) == 6
    assert all(line.startswith("Epoch ") for line in lines)
    assert not (tmp_path / "best.result").exists()


def test_a_loss_that_is_not_a_number_is_the_last_line(rows, tmp_path):
    with pytest.raises(TrainingDivergedError):
        fit(rows, tmp_path, learning_rate=1e30)
    assert (tmp_path / "text.log").read_text().splitlines()[-1] == "ERROR: loss is nan."


def test_a_log_changes_nothing_that_is_learnt(rows, tmp_path):
    told, silent = fit(rows, tmp_path), SMGCN(**SMALL).fit(*rows)
    assert told.score(rows[1].queries).tobytes() == silent.score(rows[1].queries).tobytes()
    assert told.diagnostics_ == silent.diagnostics_


def test_a_checkpoint_of_an_earlier_version_is_refused_in_a_sentence(rows, tmp_path):
    fit(rows, tmp_path)
    with np.load(tmp_path / "fit.npz") as stored:
        arrays = dict(stored)
    meta = json.loads(str(arrays.pop("meta")))
    del meta["epochs"]
    np.savez(tmp_path / "fit.npz", meta=np.asarray(json.dumps(meta)), **arrays)
    with pytest.raises(InputError, match="of an earlier version: delete it"):
        fit(rows, tmp_path)
