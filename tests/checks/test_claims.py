"""The claims of a paper against the store: every verdict of these is known beforehand, from scores made by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest

import paragone
from paragone import InputError
from paragone.checks.claims import judge_claim, parse_claims
from paragone.lab.results import Results
from paragone.lab.view import View

# Ten datasets: up is above base by about 0.05 on every one, near is level with base up to 0.0005.


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("claims")
    rng = np.random.default_rng(0)
    rows = []
    for number in range(10):
        base = 0.6 + 0.02 * number
        for name, value in (
            ("up", base + 0.05 + 0.001 * (number % 3)),
            ("base", base),
            ("near", base + 0.0005 * (-1) ** number),
            ("loose", base + 0.1 * rng.normal()),
        ):
            rows.append(f"d{number},{name},{value:.6f}")
    (folder / "scores.csv").write_text("dataset,method,accuracy\n" + "\n".join(rows) + "\n")
    paths = []
    for name in ("up", "base", "near", "loose"):
        mine = [row.split(",") for row in rows if row.split(",")[1] == name]
        path = folder / f"{name}.csv"
        path.write_text("dataset,accuracy\n" + "".join(f"{d},{v}\n" for d, _, v in mine))
        paths.append(str(path))
    return folder, paths


@pytest.fixture(scope="module")
def kept(store):
    from typer.testing import CliRunner

    from paragone.cli import app

    folder, paths = store
    ended = CliRunner().invoke(
        app, ["import", *paths, "--store", str(folder / "s.sqlite"), "--name", "paper"]
    )
    assert ended.exit_code == 0, ended.output
    return folder / "s.sqlite"


def claim(text: str) -> str:
    return f'[[claim]]\nmetric = "accuracy"\n{text}\n'


@pytest.mark.parametrize(
    ("text", "standing"),
    [
        ('better = "up"\nthan = "base"', "holds"),
        ('better = "base"\nthan = "up"', "is contradicted"),
        ('better = "near"\nthan = "base"', "does not follow"),
        ('better = "up"\nthan = "base"\nmargin = 0.03', "holds"),
        ('better = "up"\nthan = "base"\nmargin = 0.2', "is contradicted"),
        ('better = "up"\nthan = ["base", "near"]', "holds"),
        ('better = "up"\nthan = ["base", "loose"]\nmargin = 0.04', "does not follow"),
        ('equal = ["near", "base"]\nmargin = 0.01', "holds"),
        ('equal = ["up", "base"]\nmargin = 0.01', "is contradicted"),
        # Three datasets cannot show an order: the smallest two-sided p of the signed-rank test is
        # 1/4.
        ('better = "up"\nthan = "base"\ndatasets = ["d0", "d1", "d2"]', "does not follow"),
        ('value = 0.600\nof = "base"\non = "d0"', "holds"),
        ('value = 0.60\nof = "up"\non = "d0"', "is contradicted"),
        # (0.60 + 0.62 + ... + 0.78) / 10
        ('value = 0.69\nof = "base"', "holds"),
        ('value = 0.70\nof = "base"', "is contradicted"),
    ],
)
def test_every_claim_stands_as_the_scores_say(kept, text, standing):
    with Results.open(kept) as results:
        judged = judge_claim(parse_claims(claim(text))[0], View(results))
    assert judged.standing == standing, judged.sentence


def test_the_command_names_every_claim_with_its_sentence(paragone, kept, tmp_path):
    file = tmp_path / "claims.toml"
    good = claim('better = "up"\nthan = "base"\ntext = "Up beats base"')
    bad = claim('better = "base"\nthan = "up"\ntext = "Base beats up"')
    file.write_text(good)
    ended = paragone("audit", kept, "--claims", file)
    assert ended.code == 0, ended.out
    assert "claim 1 ('Up beats base') holds: up is better than base by accuracy" in ended.out
    file.write_text(good + bad)
    ended = paragone("audit", kept, "--claims", file, "--json")
    assert ended.code == 1
    (found,) = [one for one in json.loads(ended.out)["findings"] if one["code"] == "PG307"]
    assert "claim 2 ('Base beats up') is contradicted: base is worse than up" in found["message"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('better = "upp"\nthan = "base"', "did you mean 'up'"),
        ('better = "up"\nthan = "base"\ndatasets = ["x0"]', "unknown dataset 'x0'"),
        ('best = "up"\nvalue = 0.5', "one of better, best, equal, value"),
        ('equal = ["up", "base"]', "needs a margin"),
        ('better = "up"\nthan = "up"', "needs two methods"),
        ('value = "many"\nof = "up"', "must be one number"),
        ('better = "up"\nthan = "base"\nscope = "all"', "choose one of these, like"),
        ('better = "up"\nthan = "base"\non = "d0"', "has no place beside better"),
    ],
)
def test_a_wrong_claim_is_one_sentence(kept, text, words, tmp_path):
    file = tmp_path / "claims.toml"
    file.write_text(claim(text))
    with pytest.raises(InputError, match=words):
        paragone.audit(kept, claims=file)
