"""The page of a comparison: the finding, where the scores come from, whole or not at all."""

from __future__ import annotations

import hashlib
import html
import re

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from paragone import compare, pairwise
from paragone.cli import app
from paragone.folders import LIST
from paragone.reporting import compared
from paragone.reporting.compared import WhatWasRead, comparison_page, save_compared

NASTY = '<script>alert("x")</script>'


def scores(metrics=("accuracy",), names=("A", "B", "C")) -> pd.DataFrame:
    generator = np.random.default_rng(1)
    rows = [
        (
            name,
            f"set {place}",
            fold,
            metric,
            0.6 + 0.02 * place + 0.05 * (name == names[0]) + generator.normal(0, 0.01),
        )
        for place in range(8)
        for fold in range(3)
        for name in names
        for metric in metrics
    ]
    return pd.DataFrame(rows, columns=["method", "dataset", "fold", "metric", "value"])


def run(*arguments) -> str:
    result = CliRunner().invoke(app, [*map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result.output


def shown(folder) -> str:
    """Return what a reader of the page reads, without its scripts."""
    text = (folder / "report.html").read_text(encoding="utf-8")
    return html.unescape(
        re.sub(r"<script.*?</script>|<style.*?</style>", "", text, flags=re.DOTALL)
    )


def plain(text: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", text).split())


def test_the_page_has_the_finding_first_then_the_files_with_their_hashes(tmp_path):
    scores().to_csv(tmp_path / "s.csv", index=False)
    run("compare", tmp_path / "s.csv", "--out", tmp_path / "answer", "--set", "formats=svg")
    page = plain(shown(tmp_path / "answer"))
    digest = hashlib.sha256((tmp_path / "s.csv").read_bytes()).hexdigest()
    shown_first = (
        "On this data",
        "verdict",
        "The evidence, rival by rival",
    )
    order = [page.index(text) for text in (*shown_first, digest, "average rank", "seed: 0")]
    assert order == sorted(order)
    size = (tmp_path / "s.csv").stat().st_size
    assert (
        tmp_path / "answer" / "read_files.csv"
    ).read_text() == f"file,bytes,sha256\ns.csv,{size},{digest}\n"
    assert str(tmp_path) not in page


def test_items_from_elsewhere_show_what_was_read_and_what_was_left_out(tmp_path):
    generator = np.random.default_rng(2)
    for name, n in (("A", 40), ("B", 37)):
        frame = pd.DataFrame(
            {"item": range(n), "accuracy": (generator.random(n) < 0.7).astype(float)}
        )
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    run("compare", tmp_path / "A.csv", tmp_path / "B.csv", "--out", tmp_path / "answer")
    page = plain(shown(tmp_path / "answer"))
    assert "A and B compared" in page
    assert "37 items" in page
    assert "Left out: 3 items of data, which B lacks." in page
    assert all(
        hashlib.sha256((tmp_path / f"{n}.csv").read_bytes()).hexdigest() in page for n in "AB"
    )


def test_several_metrics_and_pairs_have_pages_too(tmp_path):
    scores(("accuracy", "roc_auc")).to_csv(tmp_path / "s.csv", index=False)
    out = tmp_path / "answer"
    run(
        "compare",
        tmp_path / "s.csv",
        "--metric",
        "accuracy,roc_auc",
        "--out",
        out,
        "--set",
        "formats=",
    )
    page = plain(shown(out))
    for line in (out / "verdict.txt").read_text().splitlines()[:2]:
        assert line in page
    assert "Charts" not in page
    values = pd.DataFrame({"subject": range(9), "accuracy": np.linspace(0.5, 0.9, 9)})
    values.to_csv(tmp_path / "a.csv", index=False)
    values.assign(accuracy=values["accuracy"] - 0.1).to_csv(tmp_path / "b.csv", index=False)
    run(
        "pairwise",
        tmp_path / "a.csv",
        tmp_path / "b.csv",
        "--metric",
        "accuracy",
        "--out",
        tmp_path / "two",
    )
    a = values["accuracy"].rename("a")
    found = pairwise(a, (a - 0.1).rename("b"), metric="accuracy")
    assert " ".join(found.verdict.split()) in plain(shown(tmp_path / "two"))


def test_a_page_that_cannot_be_made_leaves_the_folder_as_it_was(tmp_path, monkeypatch):
    result = compare(scores(), metric="accuracy")
    save_compared(result, tmp_path / "answer", formats=())
    before = {file.name: file.read_bytes() for file in (tmp_path / "answer").iterdir()}

    def fails(page):
        raise RuntimeError("the disk is on fire")

    monkeypatch.setattr(compared, "render_page", fails)
    with pytest.raises(RuntimeError):
        save_compared(
            compare(scores(names=("X", "Y")), metric="accuracy"), tmp_path / "answer", formats=()
        )
    assert {file.name: file.read_bytes() for file in (tmp_path / "answer").iterdir()} == before
    assert LIST in before


def test_names_and_notes_are_text_on_the_page(tmp_path):
    result = compare(scores(names=(NASTY, "B")), metric="accuracy")
    read = WhatWasRead(
        pd.DataFrame({"file": [NASTY], "bytes": [1], "sha256": ["0" * 64]}),
        None,
        (f"left out {NASTY}",),
    )
    save_compared(result, tmp_path / "answer", formats=("svg",), read=read)
    assert NASTY not in (tmp_path / "answer" / "report.html").read_text(encoding="utf-8")


def test_a_caption_and_a_warning_stand_once():
    generator = np.random.default_rng(3)
    frame = pd.DataFrame(
        {"dataset": range(9), "A": generator.random(9), "B": generator.random(9), "rows": range(9)}
    )
    result = compare(frame, metric="accuracy")
    page = comparison_page(result)
    ranked, *captions = (sheet.table.caption for sheet in page.sheets())
    assert "methods ranked by Accuracy" in ranked
    assert [bool(text) for text in captions] == [True, False, False]
    (board,) = page.boards()
    assert set(result.warnings) <= set(board.notes)


def test_scores_from_the_standard_input_say_so(tmp_path):
    text = "dataset,A,B\n" + "".join(f"d{n},{0.5 + n / 50},{0.4 + n / 50}\n" for n in range(8))
    arguments = [
        "compare",
        "-",
        "--metric",
        "accuracy",
        "--out",
        str(tmp_path / "answer"),
        "--set",
        "formats=",
    ]
    result = CliRunner().invoke(app, arguments, input=text)
    assert result.exit_code == 0, result.output
    assert "The scores came by the standard input." in plain(shown(tmp_path / "answer"))
    assert not (tmp_path / "answer" / "read_files.csv").exists()


def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path):
    for folder, value in (("one", 0.5), ("two", 0.6)):
        (tmp_path / folder).mkdir()
        pd.DataFrame({"subject": range(8), "accuracy": value + np.arange(8) / 50}).to_csv(
            tmp_path / folder / "scores.csv", index=False
        )
    out = tmp_path / "answer"
    run(
        "compare",
        tmp_path / "one/scores.csv",
        tmp_path / "two/scores.csv",
        "--out",
        out,
        "--set",
        "formats=",
    )
    assert pd.read_csv(out / "read_files.csv")["file"].tolist() == [
        "one/scores.csv",
        "two/scores.csv",
    ]
