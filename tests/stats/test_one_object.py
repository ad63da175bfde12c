"""One comparison, one answer: random tables through text, JSON, HTML, LaTeX, charts and `against`.

Shapes, gaps, ties, names, scales and directions are drawn at random; a table is refused in a
sentence, or answered the same way everywhere. The order of rows and columns changes no character,
other names of methods no number.
"""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest

from paragone import compare
from paragone.errors import InputError
from paragone.stats.datasets import DatasetComparison
from paragone.tables import escape_latex, format_interval, format_p

NAMES = [
    "A",
    "Ours, new",
    "50 %",
    "naïve_Bayes",
    "{x}",
    "method",
    "π & co",
    "a\\b",
    "M 10",
    "M 9",
    "better",
    "<b>",
]
FAST_TABLES, ALL_TABLES, CHUNK = 100, 10_000, 500


def drawn(seed: int) -> tuple[pd.DataFrame, dict]:
    """Return a random table in wide form and the options to compare it with."""
    random = np.random.default_rng(seed)
    n_datasets, n_methods = int(random.integers(1, 10)), int(random.integers(2, 6))
    folds, repeats = (int(random.choice(few)) for few in ([1, 1, 2, 3, 5], [1, 1, 2]))
    scale = float(random.choice([1e-6, 1.0, 1.0, 1e4]))
    gaps = random.choice([0.0, 0.0, 0.03, 0.2], n_methods)
    names = [str(name) for name in random.permutation(NAMES)[:n_methods]]
    rows = []
    for dataset in range(n_datasets):
        level = (
            random.uniform(0.4, 0.8)
            + gaps
            + random.normal(0, random.choice([0.0, 0.01, 0.1]), n_methods)
        )
        for repeat in range(repeats):
            for fold in range(folds):
                values = level + random.normal(0, random.choice([0.0, 0.005, 0.05]), n_methods)
                rows.append(
                    [
                        f"set {dataset}",
                        repeat,
                        fold,
                        *(np.round(values, random.choice([1, 2, 6])) * scale),
                    ]
                )
    frame = pd.DataFrame(rows, columns=["dataset", "repeat", "fold", *names])
    frame[names] = frame[names].where(
        random.random((len(frame), n_methods)) >= random.choice([0.0, 0.0, 0.05, 0.4])
    )
    if folds == 1:
        frame = frame.drop(columns="fold")
    if repeats == 1:
        frame = frame.drop(columns="repeat")
    options = {
        "higher_is_better": bool(random.random() < 0.6),
        "missing": str(random.choice(["complete", "worst"])),
        "margin": float(random.choice([0.0, 0.02, 0.3])) * scale,
        "reference": str(random.choice(names)) if random.random() < 0.4 else None,
        "bayes": bool(random.random() < 0.1),
        "n_samples": 100,
    }
    if options["reference"] is None and random.random() < 0.3:
        options["correction"] = str(
            random.choice(["holm", "bergmann", "hommel", "fdr", "nemenyi", "bonferroni"])
        )
    if random.random() < 0.2:
        options["test"] = "paired-t"
    return frame, options


def numbers(found: DatasetComparison) -> dict:
    """Return p, interval and word of every pair in both scopes, as each looks from the first of its names by order."""
    told = {}
    for scope, pairs in (("these", found.learners), ("like", found.pairs)):
        for pair in pairs:
            one = pair.seen_from(min(pair.method, pair.rival))
            values = [
                one.p_raw,
                one.p,
                one.difference.estimate,
                one.difference.low,
                one.difference.high,
            ]
            told[scope, one.method, one.rival] = (one.word, values)
    return told


def check_words_and_intervals(found: DatasetComparison) -> None:
    """A word can be read off the interval that stands beside it."""
    alpha, margin = found.settings.alpha, found.settings.margin
    for pair in (*found.learners, *found.pairs):
        low, high = pair.difference.low, pair.difference.high
        if pair.word in ("better", "worse"):
            assert pair.p <= alpha
        if pair.word == "equivalent":
            assert margin > 0
            assert pair.p_equal <= alpha
        if math.isnan(low) or any(getattr(pair, "failed", ())):
            continue
        outside = not (margin > 0 and max(-low, high) < margin * (1 - 1e-9))
        read = {
            "better": low >= 0,
            "worse": high <= 0,
            "equivalent": -margin <= low <= 0 <= high <= margin,
            "undecided": low <= 0 <= high and outside,
        }
        assert read[pair.word], pair


def check_all_writers(found: DatasetComparison) -> None:
    """Text, JSON, HTML, LaTeX, charts and `against` have the same p, interval and word of every pair."""
    text, kept = found.details, json.loads(json.dumps(found.to_dict(), allow_nan=False))
    latex, html = found.to_latex("pairs"), found.to_html("pairs")
    decimals, table = found.scores.decimals, found.as_table("pairs")
    headings = [column.name for column in table.columns]
    rows = {frozenset((row[0].text, row[1].text)): row for row in table.rows}
    for pair, record in zip(found.pairs, kept["pairs"], strict=True):
        assert (record["method"], record["rival"], record["word"]) == (
            pair.method,
            pair.rival,
            pair.word,
        )
        assert record["p"] == (None if math.isnan(pair.p) else pair.p)
        row = rows[frozenset((pair.method, pair.rival))]
        shown = pair.seen_from(row[0].text)
        difference = shown.difference
        wanted = {
            f"on {pair.scope}": "-" if math.isnan(pair.p_raw) else shown.word,
            "difference": format_interval(
                difference.estimate, difference.low, difference.high, decimals
            ),
        }
        cells = {name: cell.text for name, cell in zip(headings, row, strict=True)}
        assert {name: cells[name] for name in wanted} == wanted
        assert format_p(pair.p) in [cell.text for cell in row]
        for name in (pair.method, pair.rival):
            assert escape_latex(name) in latex
        assert wanted["difference"] in text
        assert wanted["difference"] in html
    for scope in ("here_word", "word"):
        pairs = found.learners if scope == "here_word" else found.pairs
        words = [None if math.isnan(pair.p_raw) else pair.word for pair in pairs] or [None] * len(
            found.pairs
        )
        if scope == "here_word" and not found.is_alone and found.learners:
            assert [record[scope] for record in kept["pairs"]] == words
    if not found.pairs:
        return
    layers = found.charts["forest"].to_dict()["layer"]
    values = next(
        layer["data"]["values"] for layer in layers if "scope" in layer["data"]["values"][0]
    )
    drawn_rows = [row for row in values if row["scope"] == f"on {found.pairs[0].scope}"]
    for row, pair in zip(drawn_rows, found.leading_pairs, strict=True):
        assert (row["label"], row["verdict"]) == (pair.rival, pair.word)
        assert row["low"] == (None if math.isnan(pair.difference.low) else pair.difference.low)
        alone = found.against(pair.rival)
        assert alone.pair is pair
    lines = found.verdict.splitlines()
    for line, pair in zip(lines, found.leading_pairs, strict=True):
        claims = [one.word for one in (*found.learners_of(found.leader, [pair.rival]), pair)]
        if f"{found.leader} is better than {pair.rival}" in line:
            assert "better" in claims
        if "are equivalent within" in line:
            assert "equivalent" in claims
    assert found.finding in text
    assert "told apart" not in found.finding + found.verdict


def answer(frame: pd.DataFrame, options: dict) -> DatasetComparison | None:
    """Return the comparison, or nothing where it is refused."""
    try:
        found = compare(frame, **options)
    except InputError:
        return None
    return found if isinstance(found, DatasetComparison) else None


def check_table(seed: int, *, writers: bool = True, orders: bool = True) -> bool:
    """Compare one random table in every way; return whether it was answered."""
    frame, options = drawn(seed)
    found = answer(frame, options)
    if found is None:
        return False
    check_words_and_intervals(found)
    if writers:
        check_all_writers(found)
    if orders:
        check_orders(found, frame, options, seed)
    return True


def check_orders(found: DatasetComparison, frame: pd.DataFrame, options: dict, seed: int) -> None:
    """Other orders of rows and columns change no character, other names of methods no number."""
    random = np.random.default_rng(seed)
    keys = [name for name in ("dataset", "repeat", "fold") if name in frame.columns]
    methods = [name for name in frame.columns if name not in keys]
    shuffled = frame.sample(frac=1, random_state=seed % 2**32)[
        [*keys, *random.permutation(methods)]
    ]
    assert repr(compare(shuffled, **options)) == repr(found)
    renamed = dict(
        zip(methods, [f"N{place}" for place in random.permutation(len(methods))], strict=True)
    )
    if options["reference"] is not None:
        options = {**options, "reference": renamed[options["reference"]]}
    other, told = numbers(compare(frame.rename(columns=renamed), **options)), numbers(found)
    for (scope, method, rival), (word, values) in told.items():
        new = renamed[method], renamed[rival]
        turned = new[0] != min(new)
        again, its = other[scope, min(new), max(new)]
        if turned:
            again = {"better": "worse", "worse": "better"}.get(again, again)
            its = [its[0], its[1], -its[2], -its[4], -its[3]]
        assert again == word
        np.testing.assert_allclose(
            its, values, rtol=1e-7, atol=1e-12 * max(1.0, *np.nan_to_num(np.abs(values)))
        )


def test_random_tables_are_refused_in_a_sentence_or_answered_the_same_everywhere():
    # Every other table goes through all writers, the others through all orders; the slow test does
    # both with each.
    answered = sum(
        check_table(seed, writers=seed % 2 == 0, orders=seed % 2 == 1)
        for seed in range(FAST_TABLES)
    )
    assert answered > FAST_TABLES / 2


@pytest.mark.slow
@pytest.mark.parametrize("start", range(FAST_TABLES, ALL_TABLES, CHUNK))
def test_ten_thousand_tables_are_answered_the_same_everywhere(start):
    for seed in range(start, min(start + CHUNK, ALL_TABLES)):
        check_table(seed)
