"""Completeness: cells that are missing, failed, late or stale are counted, and so is what hangs on them."""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path

import numpy as np

import paragone
from paragone import Experiment
from paragone.data import Dataset
from paragone.lab.view import View
from paragone.protocols import Curve, KGrid

sys.path.insert(0, str(Path(__file__).parent))
from made_labs import small_curve

QUIET = {"canary": "none", "sample": 0, "in_process": True}


def codes(found) -> dict[str, int]:
    return {f.code: f.count for f in found.findings if f.code.startswith("PG4")}


def test_a_complete_store_is_silent(made_curve):
    found = paragone.audit(made_curve / "curves.sqlite", **QUIET)
    assert codes(found) == {}
    assert [one.count for one in found.checked if one.check == "completeness"] == [3 * 2 * 4]


def test_missing_failed_and_late_cells_are_told_apart(curve_lab):
    store = curve_lab / "curves.sqlite"
    with sqlite3.connect(store) as db:
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("DELETE FROM cells WHERE id = 1")
        db.execute("UPDATE cells SET status = 'failed', error = 'singular' WHERE id IN (2, 3)")
        db.execute("UPDATE cells SET status = 'timeout', error = 'too long' WHERE id = 5")
    found = paragone.audit(store, **QUIET)
    counted = codes(found)
    counted.pop("PG405", None)
    assert counted == {"PG401": 1, "PG402": 2, "PG403": 1}
    (failed,) = found.of("PG402")
    assert "1 of 3 datasets is incomplete (wine-traits)" in failed.message
    assert failed.examples[0].endswith("failed: singular")


def test_a_method_without_any_result_is_named_and_its_datasets_drop_out(curve_lab):
    store = curve_lab / "curves.sqlite"
    with sqlite3.connect(store) as db:
        keys = "SELECT key FROM plan WHERE method = 'Variance'"
        db.execute(f"UPDATE cells SET status = 'failed', error = 'x' WHERE key IN ({keys})")
    (failed,) = paragone.audit(store, **QUIET).of("PG402")
    assert "3 drop out of comparisons" in failed.message
    assert "without any result: Variance" in failed.message


def test_results_of_an_earlier_plan_are_stale_with_the_reason(tmp_path):
    store = tmp_path / "s.sqlite"
    small_curve().run(store, workers=0).close()
    changed = Experiment(
        ["wine-traits"],
        {"Variance": "variance"},
        {"folds": 2},
        Curve(k=KGrid(2, 8, 2)),
        name="lab",
        seed=5,
    )
    found = paragone.audit(store, declaration=changed, **QUIET)
    (stale,) = found.of("PG404")
    assert (stale.count, stale.total) == (2, 2)
    assert "protocol" in stale.message
    assert "seed" in stale.message


def test_data_that_changed_since_the_run_are_said(tmp_path):
    rng = np.random.default_rng(0)
    X, Y = rng.random((50, 4)), (rng.random((50, 2)) < 0.5).astype(int)
    protocol = Curve(k=KGrid(2, 4, 2))
    Experiment(
        [Dataset("d", X, Y, "multilabel")], {"V": "variance"}, {"folds": 2}, protocol, name="lab"
    ).run(tmp_path / "d.sqlite", workers=0).close()
    X[0, 0] += 1e-9
    now = Experiment(
        [Dataset("d", X, Y, "multilabel")], {"V": "variance"}, {"folds": 2}, protocol, name="lab"
    )
    found = paragone.audit(tmp_path / "d.sqlite", declaration=now, **QUIET)
    assert "because data" in found.of("PG404")[0].message
    assert any(
        one.why == "the data found now are not those of the store" for one in found.unchecked
    )


def test_a_verdict_that_needs_the_incomplete_dataset_is_found(monkeypatch):
    scores = _tidy(incomplete=True)
    found = _verdicts(monkeypatch, scores, complete=False)
    (finding,) = found.of("PG405")
    assert "on all 6 datasets" in finding.message
    assert "A is better than B" in finding.message
    assert "no difference is significant" in finding.message


def test_the_same_verdict_without_it_is_silent(monkeypatch):
    assert not _verdicts(monkeypatch, _tidy(incomplete=True, n=12), complete=False).of("PG405")


def _tidy(*, incomplete: bool, n: int = 6):
    import pandas as pd

    rng = np.random.default_rng(1)
    rows = []
    for number in range(n):
        for method, lead in (("A", 0.1), ("B", 0.0)):
            folds = 1 if incomplete and number == 0 and method == "B" else 3
            for fold in range(folds):
                value = 0.5 + lead + 0.01 * number + 0.001 * rng.random()
                rows.append(("lab", "curve", f"d{number}", fold, method, "micro_f1", 10.0, value))
    columns = ["experiment", "protocol", "dataset", "fold", "method", "metric", "at", "value"]
    return pd.DataFrame(rows, columns=columns)


def _verdicts(monkeypatch, scores, *, complete: bool):
    """Run the check of completeness on made-up scores: dataset d0 lacks folds of B."""
    import pandas as pd

    from paragone.checks.completeness import check_completeness
    from paragone.checks.finding import Audit, Ledger

    there = {(row.dataset, row.fold, row.method) for row in scores.itertuples()}
    planned = [
        (d, f, m) for d in dict.fromkeys(scores["dataset"]) for f in range(3) for m in ("A", "B")
    ]
    places = pd.DataFrame(
        [
            ("lab", d, f, m, 0, "done" if (d, f, m) in there else "missing", "")
            for d, f, m in planned
        ],
        columns=["experiment", "dataset", "fold", "method", "repeat", "status", "why"],
    )
    assert (places["status"] == "done").all() == complete
    view = object.__new__(View)
    monkeypatch.setattr(View, "places", places)
    monkeypatch.setattr(View, "tidy_scores", scores)
    ledger = Ledger("lab")
    check_completeness(view, ledger)
    return Audit("lab", tuple(ledger.findings))
