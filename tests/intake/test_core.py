"""Files of results together: who is called what, what is paired with what, and what is said of the rest."""

from __future__ import annotations

import gzip
import json
from math import comb

import numpy as np
import pandas as pd
import pytest

from paragone.errors import InputError
from paragone.intake import (
    Asked,
    Condition,
    Records,
    ResultReader,
    Source,
    read_results,
    result_readers,
)
from paragone.intake.joining import check_conditions, join_items
from paragone.testing import check_reader


def items(path, values, **columns):
    """Write one row per item."""
    frame = pd.DataFrame({"question": range(len(values)), "accuracy": values, **columns})
    frame.to_csv(path, index=False)
    return path


def records(method, values, *, dataset="task", evidence=None, **columns):
    frame = pd.DataFrame(
        {"method": method, "dataset": dataset, "item": range(len(values)), "acc": values, **columns}
    )
    if evidence is not None:
        frame["evidence"] = evidence
    return Records(frame.astype({"acc": float}), "item", {"acc": True}, Source(None))


def test_two_files_of_items_are_compared_by_mcnemars_exact_test(tmp_path):
    generator = np.random.default_rng(0)
    a, b = (generator.random(80) < 0.8).astype(int), (generator.random(80) < 0.6).astype(int)
    found = read_results(items(tmp_path / "a.csv", a), items(tmp_path / "b.csv", b))
    (pair,) = found.compare().pairs
    wins, losses = int(((a == 1) & (b == 0)).sum()), int(((a == 0) & (b == 1)).sum())
    n, fewer = wins + losses, min(wins, losses)
    by_hand = min(1.0, 2 * sum(comb(n, k) for k in range(fewer + 1)) / 2**n)
    assert pair.p_raw == pytest.approx(by_hand, rel=1e-12)
    assert pair.mean_difference == pytest.approx(a.mean() - b.mean())


def test_the_order_of_rows_and_of_files_changes_nothing(tmp_path):
    generator = np.random.default_rng(1)
    a, b = generator.uniform(size=40), generator.uniform(size=40) ** 2
    one, two = items(tmp_path / "a.csv", a), items(tmp_path / "b.csv", b)
    straight = read_results(one, two).compare().pairs[0]
    pd.read_csv(two).sample(frac=1.0, random_state=0).to_csv(two, index=False)
    turned = read_results(two, one).compare(reference="a").pairs[0]
    assert turned.p == pytest.approx(straight.p, rel=1e-12)
    assert turned.mean_difference == pytest.approx(straight.mean_difference)


def test_items_that_one_lacks_are_counted_and_left_out(tmp_path):
    generator = np.random.default_rng(2)
    a, b = generator.uniform(size=30), generator.uniform(size=30)
    one, two = items(tmp_path / "a.csv", a), items(tmp_path / "b.csv", b)
    pd.read_csv(two).iloc[3:].to_csv(two, index=False)
    compared = read_results(one, two).compare()
    assert compared.pairs[0].n == 27
    assert compared.pairs[0].mean_difference == pytest.approx((a - b)[3:].mean())
    assert any("3 items" in line and "b lacks" in line for line in compared.warnings)


def test_equal_names_with_other_contents_are_not_paired():
    a, b = records("A", [1, 0, 1], evidence=[1, 2, 3]), records("B", [1, 1, 1], evidence=[1, 2, 4])
    with pytest.raises(
        InputError, match="1 items of task have the same name and different contents"
    ):
        join_items([a, b], "acc")
    assert len(join_items([a, b], "acc", trust_ids=True).frame) == 6


def test_items_under_other_numbers_are_paired_by_their_contents():
    a, b = (
        records("A", [1, 0, 0], evidence=[11, 12, 13]),
        records("B", [0, 0, 1], evidence=[13, 12, 11]),
    )
    wide = join_items([a, b], "acc").frame.pivot(index="sample", columns="method", values="value")
    assert (wide["A"] == wide["B"]).all()


def test_a_second_row_for_one_item_is_never_a_second_item():
    again = records("A", [1, 0])
    twice = Records(pd.concat([again.frame, again.frame]), "item", {"acc": True}, Source(None))
    joined = join_items([twice, records("B", [1, 1])], "acc")
    assert len(joined.frame) == 4
    assert joined.notes == ("Left out: 2 rows that stand twice with the same value.",)
    other = Records(
        pd.concat([again.frame, again.frame.assign(acc=[0.0, 0.0])]),
        "item",
        {"acc": True},
        Source(None),
    )
    with pytest.raises(
        InputError, match="stands twice with different values for 'A': the file holds two runs"
    ):
        join_items([other, records("B", [1, 1])], "acc")


def test_repeats_of_an_item_are_averaged_first():
    frame = pd.DataFrame(
        {
            "method": "A",
            "dataset": "t",
            "item": [1, 1, 2, 2],
            "repeat": [1, 2, 1, 2],
            "acc": [1.0, 0, 1, 1],
        }
    )
    one = Records(frame, "item", {"acc": True}, Source(None))
    two = Records(frame.assign(method="B", acc=[0.0, 0, 1, 0]), "item", {"acc": True}, Source(None))
    joined = join_items([one, two], "acc")
    wide = joined.frame.pivot(index="sample", columns="method", values="value")
    assert wide["A"].tolist() == [0.5, 1.0]
    assert wide["B"].tolist() == [0.0, 0.5]
    assert "repeats of one are not further items" in joined.notes[0]


def test_an_item_without_a_value_is_left_out_on_both_sides():
    joined = join_items([records("A", [1, np.nan, 0]), records("B", [1, 1, 1])], "acc")
    assert len(joined.frame) == 4
    assert joined.notes == ("Left out: 1 items of task without a value of some method.",)


def test_a_task_that_one_method_lacks_is_left_out_and_named():
    both = [records("A", [1, 0]), records("A", [1, 0], dataset="other"), records("B", [1, 1])]
    joined = join_items(both, "acc")
    assert joined.frame["dataset"].unique().tolist() == ["task"]
    assert joined.notes == ("Left out: 2 items of other, which B lacks.",)


def test_conditions_that_differ_stop_or_are_said():
    def of(method, value, stops):
        told = (Condition("task", "version of the task", value, stops),)
        base = records(method, [1])
        return Records(base.frame, "item", {"acc": True}, Source(None), conditions=told)

    assert check_conditions([of("A", "1", False), of("B", "1", False)]) == ()
    with pytest.raises(InputError, match=r"the version of the task differs on task \(A: 1, B: 2\)"):
        check_conditions([of("A", "1", True), of("B", "2", True)])


def test_methods_of_one_name_are_told_apart_by_their_folders(tmp_path):
    for folder, gain in (("base", 0.0), ("tuned", 0.1)):
        (tmp_path / folder).mkdir()
        items(tmp_path / folder / "model.csv", np.linspace(0, 1, 9) + gain)
    found = read_results(tmp_path / "base" / "model.csv", tmp_path / "tuned" / "model.csv")
    assert found.methods == ["base", "tuned"]
    named = read_results(
        f"Base={tmp_path / 'base' / 'model.csv'}", f"Tuned={tmp_path / 'tuned' / 'model.csv'}"
    )
    assert named.methods == ["Base", "Tuned"]


def test_a_name_is_given_to_the_only_method_and_refused_for_several(tmp_path):
    table = pd.DataFrame({"method": "A", "dataset": list("xyz"), "accuracy": [0.5, 0.6, 0.7]})
    table.to_csv(tmp_path / "a.csv", index=False)
    table.assign(method="B").to_csv(tmp_path / "b.csv", index=False)
    found = read_results(f"Ours={tmp_path / 'a.csv'}", tmp_path / "b.csv")
    assert found.methods == ["Ours", "B"]
    pd.concat([table, table.assign(method="B")]).to_csv(tmp_path / "both.csv", index=False)
    with pytest.raises(InputError, match=r"Ours= can name one method, but .* holds 2 \(A, B\)"):
        read_results(f"Ours={tmp_path / 'both.csv'}", tmp_path / "b.csv")


def test_one_file_given_twice_is_refused(tmp_path):
    path = items(tmp_path / "a.csv", [1.0, 2.0])
    with pytest.raises(InputError, match="was given twice"):
        read_results(path, path)


def test_several_metrics_ask_which(tmp_path):
    for name in "ab":
        items(tmp_path / f"{name}.csv", [1, 0, 1, 1], f1=[0.5, 0.4, 0.3, 0.2])
    found = read_results(tmp_path / "a.csv", tmp_path / "b.csv")
    with pytest.raises(InputError, match="the results hold 2 metrics; choose one of accuracy, f1"):
        found.compare()


def test_sources_of_other_units_are_not_compared(tmp_path):
    items(tmp_path / "a.csv", [1, 0])
    pd.DataFrame({"fold": [0, 1], "accuracy": [0.5, 0.6]}).to_csv(tmp_path / "b.csv", index=False)
    with pytest.raises(
        InputError, match=r"one row per item and .* one per fold: compare like with like"
    ):
        read_results(tmp_path / "a.csv", tmp_path / "b.csv").compare()


def test_files_of_folds_are_compared_as_the_table_of_both_is(tmp_path):
    from paragone import compare

    generator = np.random.default_rng(3)
    rows = pd.DataFrame({"dataset": np.repeat(["x", "y", "z"], 5), "fold": list(range(5)) * 3})
    values = {name: generator.normal(0.8, 0.05, 15) for name in "AB"}
    for name, scores in values.items():
        rows.assign(accuracy=scores).to_csv(tmp_path / f"{name}.csv", index=False)
    apart = read_results(tmp_path / "A.csv", tmp_path / "B.csv").compare(bayes=False)
    together = compare(rows.assign(**values), metric="accuracy", bayes=False)
    assert apart.pairs[0].p_raw == together.pairs[0].p_raw
    assert apart.verdict == together.verdict


def test_a_user_names_the_columns(tmp_path):
    frame = pd.DataFrame(
        {
            "who": ["A", "A", "B", "B"],
            "what": ["x", "y"] * 2,
            "n": [3, 4, 5, 6],
            "got": [1.0, 2, 3, 4],
        }
    )
    frame.to_csv(tmp_path / "a.csv", index=False)
    asked = Asked(method="who", dataset="what", value="got", metric="accuracy")
    found = read_results(tmp_path / "a.csv", asked=asked)
    assert found.methods == ["A", "B"]
    assert found.datasets == ["x", "y"]
    assert found.scores()["value"].tolist() == [1.0, 2.0, 3.0, 4.0]
    with pytest.raises(InputError, match=r"unknown column \(--method\) 'whom': did you mean 'who'"):
        read_results(tmp_path / "a.csv", asked=Asked(method="whom"))


def test_what_nobody_knows_is_refused_with_the_formats_that_are_known(tmp_path):
    (tmp_path / "a.bin").write_bytes(b"\x00\x01")
    with pytest.raises(
        InputError,
        match="is not of a format that a reader of results knows: say reader=FORMAT, one of",
    ):
        read_results(tmp_path / "a.bin")


def test_tasks_may_be_the_units_of_items(tmp_path):
    generator = np.random.default_rng(4)
    for name in "ab":
        items(
            tmp_path / f"{name}.csv",
            (generator.random(60) < 0.7).astype(int),
            task=np.repeat(["x", "y", "z"], 20),
        )
    found = read_results(tmp_path / "a.csv", tmp_path / "b.csv")
    by_hand = pd.read_csv(tmp_path / "a.csv").groupby("task")["accuracy"].mean()
    means = found.scores().query("method == 'a'").set_index("dataset")["value"]
    assert means.to_dict() == pytest.approx(by_hand.to_dict())


def test_items_that_one_lacks_are_counted_where_tasks_are_the_units_too(tmp_path):
    generator = np.random.default_rng(6)
    for name in "ab":
        items(
            tmp_path / f"{name}.csv",
            (generator.random(60) < 0.7).astype(int),
            task=np.repeat(["x", "y", "z"], 20),
        )
    pd.read_csv(tmp_path / "b.csv").iloc[4:].to_csv(tmp_path / "b.csv", index=False)
    compared = read_results(tmp_path / "a.csv", tmp_path / "b.csv").compare(
        per_dataset=True, bayes=False
    )
    assert any("4 items of x, which b lacks" in line for line in compared.warnings)


class TestSource:
    """Streams, limits and broken lines."""

    def lines(self, path, rows):
        path.write_bytes(b"\n".join(json.dumps(row).encode() for row in rows) + b"\n")
        return Source(path)

    def test_lines_end_at_byte_ten_only(self, tmp_path):
        source = self.lines(tmp_path / "a.jsonl", [{"id": 1, "text": "a\u2028b\x85c"}, {"id": 2}])
        assert list(source.records(["id"])) == [(1,), (2,)]

    def test_a_line_that_was_cut_off_is_counted(self, tmp_path):
        source = self.lines(tmp_path / "a.jsonl", [{"id": number} for number in range(300)])
        source.path.write_bytes(source.path.read_bytes()[:-4])
        assert len(list(source.records(["id"]))) == 299
        assert source.said_broken() == {"lines that are cut off or broken": 1}

    def test_many_broken_lines_are_refused(self, tmp_path):
        (tmp_path / "a.jsonl").write_text("{]\n" * 10)
        with pytest.raises(InputError, match="10 of 10 lines are no JSON objects"):
            list(Source(tmp_path / "a.jsonl").records(["id"]))

    def test_packed_files_are_read_and_broken_packing_is_a_sentence(self, tmp_path):
        text = b'{"id": 1}\n{"id": 2}\n'
        (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(text))
        source = Source(tmp_path / "a.jsonl.gz")
        assert (source.suffix, source.stem, list(source.records(["id"]))) == (
            ".jsonl",
            "a",
            [(1,), (2,)],
        )
        (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(text)[:-6])
        with pytest.raises(InputError, match="gzip packing is broken or cut off"):
            list(Source(tmp_path / "b.jsonl.gz").records(["id"]))

    def test_names_of_fields_may_be_any_text(self, tmp_path):
        source = self.lines(tmp_path / "a.jsonl", [{"f1@5, strict": 0.5, "class": None}])
        assert list(source.records(["f1@5, strict", "class", "absent"])) == [(0.5, None, None)]


def test_the_table_reader_keeps_the_contract(tmp_path):
    laws = check_reader(result_readers.get("table"), items(tmp_path / "a.csv", [1.0, 0.5, 0.25]))
    assert len(laws) == 7


def test_the_contract_finds_a_reader_that_breaks_it(tmp_path):
    path = items(tmp_path / "a.csv", [1.0, 0.5])

    def read(source, asked):
        frame = (
            pd.read_csv(source.path)
            .assign(method=str(source.path), dataset="d")
            .rename(columns={"question": "item"})
        )
        return Records(frame, "item", {"accuracy": True}, source)

    reader = ResultReader("mine", "my files", read, lambda source: source.suffix == ".csv")
    with pytest.raises(AssertionError, match="another folder gives another result"):
        check_reader(reader, path)


def test_long_names_become_the_shortest_that_tell_them_apart(tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    for method in ("ppo", "sac"):
        path = folder / f"continuous_action_with_everything_logged_{method}_seeds_pooled.csv"
        path.write_text("dataset,reward\nant,1.5\nhopper,2.5\nwalker,3.5\n")
    found = read_results(*sorted(folder.iterdir()))
    assert found.methods == ["ppo", "sac"]
    (note,) = [one for one in found.notes if one.startswith("Names in full")]
    assert "ppo is continuous_action_with_everything_logged_ppo_seeds_pooled" in note
