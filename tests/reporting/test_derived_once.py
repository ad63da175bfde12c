"""Law: one command derives each score once, however many tables and charts show it."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

import paragone
from paragone.protocols.crossval import problem
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
    derived = counting(monkeypatch, problem, "chain_scores", lambda chain, scoring: (id(chain), scoring))
    paragone.report(store, tmp_path / "report", charts=False)
    assert len(derived) == 14
    assert set(derived.values()) == {1}


def test_a_report_evaluates_the_lists_of_a_recommender_once(tmp_path, monkeypatch):
    store = topk_lab(tmp_path / "lab.sqlite")
    evaluated = counting(monkeypatch, reader, "evaluate_lists", lambda lists, *rest: lists["items"].tobytes())
    paragone.report(store, tmp_path / "report", charts=False)
    assert len(evaluated) == 5
    assert set(evaluated.values()) == {1}
