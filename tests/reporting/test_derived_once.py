"""Law: one command derives each score once, however many tables and charts show it."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

import paragone
from paragone.cli.app import app
from paragone.lab import results, view
from paragone.protocols.crossval import frames, problem
from paragone.protocols.crossval import reader as crossval_reader
from paragone.protocols.topk import reader

sys.path.insert(0, str(Path(__file__).parent))
from small_labs import crossval_lab, topk_lab


def counting(monkeypatch: pytest.MonkeyPatch, module: object, name: str, key) -> Counter:
    counts: Counter = Counter()
    real = getattr(module, name)

    def counted(*arguments, **options):
        counts[key(*arguments)] += 1
        return real(*arguments, **options)

    monkeypatch.setattr(module, name, counted)
    return counts


def test_a_report_derives_every_score_of_a_chain_once(tmp_path, monkeypatch):
    store = crossval_lab(tmp_path / "lab.sqlite", ("PLS", "Ridge"))
    derived = counting(
        monkeypatch, problem, "chain_scores", lambda chain, scoring: (id(chain), scoring)
    )
    paragone.report(store, tmp_path / "report", charts=False)
    assert len(derived) == 14
    assert set(derived.values()) == {1}


def test_a_report_evaluates_the_lists_of_a_recommender_once(tmp_path, monkeypatch):
    store = topk_lab(tmp_path / "lab.sqlite")
    evaluated = counting(
        monkeypatch, reader, "evaluate_lists", lambda lists, *rest: lists["items"].tobytes()
    )
    paragone.report(store, tmp_path / "report", charts=False)
    assert len(evaluated) == 5
    assert set(evaluated.values()) == {1}


COMMANDS = (
    ["scores"],
    ["scores", "--json"],
    ["compare", "--set", "bayes=no"],
    ["audit"],
    ["status"],
)
"""Commands that show scores or what hangs on them; the page has tests of its own above."""


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_command_derives_the_scores_of_a_cross_validation_once(tmp_path, monkeypatch, command):
    store = crossval_lab(tmp_path / "lab.sqlite", ("PLS", "Ridge"))
    ledgers = counting(
        monkeypatch, crossval_reader, "read_crossval", lambda store, experiment: experiment
    )
    derived = counting(monkeypatch, frames, "tidy_frame", lambda run: run.experiment)
    ended = CliRunner().invoke(app, [command[0], str(store), *command[1:]])
    assert ended.exit_code in (0, 1), ended.output
    assert ledgers == ({} if command == ["status"] else {"lab": 1})
    assert set(derived.values()) <= {1}


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_command_reads_stored_scores_once(tmp_path, monkeypatch, command):
    store = topk_lab(tmp_path / "lab.sqlite", datasets=("herbs", "roots"))
    read: Counter = Counter()
    real = view.read_scores

    def counted(*asked):
        read["stores"] += 1
        return real(*asked)

    for module in (results, view):
        monkeypatch.setattr(module, "read_scores", counted)
    ended = CliRunner().invoke(app, [command[0], str(store), *command[1:]])
    assert ended.exit_code in (0, 1), ended.output
    # An audit scores again what every cell keeps; the table of scores is for families of variants.
    assert read["stores"] == (0 if command[0] in ("status", "audit") else 1)


def test_an_audit_against_tables_derives_the_scores_once(tmp_path, monkeypatch):
    store = crossval_lab(tmp_path / "lab.sqlite", ("PLS", "Ridge"))
    files = paragone.report(store, tmp_path / "report", charts=False)
    tables = [file for file in files if file.suffix == ".csv"]
    ledgers = counting(
        monkeypatch, crossval_reader, "read_crossval", lambda store, experiment: experiment
    )
    found = paragone.audit(store, against=tables)
    assert not found.at_least("error").findings
    assert ledgers == {"lab": 1}
