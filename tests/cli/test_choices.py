"""Options that take one of a few words: they are the library's, and any other word is refused with all of them."""

from __future__ import annotations

from typing import get_args

import pytest
from rich.text import Text

from paragone.checks.canary import Canary
from paragone.checks.finding import Severity
from paragone.data.reader import Nominal
from paragone.data.splits import Scale
from paragone.generate.sampling import TargetKind
from paragone.protocols.crossval.scores import Naming

EXPORT = ("data", "export-folds", "wine-traits", "--out", "folds")


@pytest.mark.parametrize(
    ("command", "option", "choices"),
    [
        (("audit", "lab.sqlite"), "--canary", get_args(Canary)),
        (("audit", "lab.sqlite"), "--level", get_args(Severity)),
        (("compare", "scores.csv"), "--direction", ("higher", "lower")),
        (("data", "describe", "houses.csv"), "--nominal", get_args(Nominal)),
        (
            ("data", "describe", "houses.csv"),
            "--task",
            ("multilabel", "classification", "regression"),
        ),
        (EXPORT, "--mode", ("kfold", "holdout")),
        (EXPORT, "--scale", get_args(Scale)),
        (("generate", "sample", "X0", "--out", "sets"), "--target", get_args(TargetKind)),
        (("import", "run", "--store", "lab.sqlite"), "--scale", get_args(Scale)),
        (("scores", "lab.sqlite"), "--naming", get_args(Naming)),
    ],
)
def test_another_word_is_refused_and_the_choices_are_named(
    paragone, tmp_path, monkeypatch, command, option, choices
):
    monkeypatch.chdir(tmp_path)
    ended = paragone(*command, option, "other")
    assert (ended.code, ended.out) == (2, "")
    said = " ".join(Text.from_ansi(ended.err).plain.replace("│", " ").split())
    assert f"Invalid value for '{option}'" in said
    assert f"'other' is not one of {', '.join(map(repr, choices))}." in said
    assert list(tmp_path.iterdir()) == []
