"""Chains that are equal on paper: whatever the last bits of their predictions, the same lines are printed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paragone.protocols.crossval.frames import final_frame, top_frame
from paragone.protocols.crossval.problem import FoldRows, Settings, Truth, choose, make_problem
from paragone.protocols.crossval.run import CrossvalRun
from paragone.protocols.crossval.scores import Criterion
from paragone.protocols.crossval.tables import crossval_tables, distinction_words
from paragone.protocols.crossval.words import (
    answer_sheet,
    crossval_views,
    problem_headline,
    summary,
)
from paragone.reporting.sections import Behind
from paragone.tables import to_text
from score_oracles import selected

N, N_TEST = 24, 6
VARIANTS = ("worse", "twin B", "twin A", "simple")
CRITERIA = (Criterion("rmsecv", 2), Criterion("one_se", 1))


def lab(
    twist: int, *, offset: float = 100.0, noise: float = 0.5, declared: tuple[str, ...] = VARIANTS
) -> CrossvalRun:
    """Return two problems whose twins differ in the last bits of every prediction, in another way for every twist."""
    settings = Settings(
        metric="rmse", select=CRITERIA, variants={v: {"method": v.split()[0]} for v in declared}
    )
    rng = np.random.default_rng(0)
    problems = []
    for name in ("lake", "pond"):
        y = offset + rng.normal(size=N + N_TEST)
        exact = {
            "worse": y + 4 * noise * rng.normal(size=len(y)),
            "twin B": y + noise * rng.normal(size=len(y)),
        }
        exact |= {"twin A": exact["twin B"], "simple": y + 3 * noise * rng.normal(size=len(y))}
        bits = (
            np.random.default_rng(twist).integers(-3, 4, size=(2, len(y)))
            if twist
            else np.zeros((2, len(y)))
        )
        for twin, moved in zip(("twin A", "twin B"), bits, strict=True):
            exact[twin] = exact[twin] + moved * np.spacing(exact[twin])
        rows = np.arange(N)
        test = np.arange(N, N + N_TEST)
        folds = [FoldRows(rows[rows % 4 != k], rows[rows % 4 == k], test) for k in range(4)]
        final = FoldRows(rows, np.empty(0, dtype=int), test)

        def predicted(variant, number, exact=exact, folds=folds, final=final):
            part = [*folds, final][number]
            return {"y": exact[variant][np.concatenate([part.train, part.val, part.test])]}

        problems.append(make_problem(name, "y", Truth(y), folds, final, declared, predicted))
    return CrossvalRun("made", settings, tuple(problems))


def printed(run: CrossvalRun) -> str:
    """Return everything that is said in words and tables about a cross-validation."""
    views = crossval_views(run)
    behind = Behind()
    lines = [to_text(table) for table in crossval_tables(run)]
    lines += [
        to_text(answer_sheet(views, behind).table),
        summary(views),
        *(problem_headline(view) for view in views),
    ]
    lines += [distinction_words(view.distinction) for view in views]
    return "\n\n".join(lines)


@settings(max_examples=15)
@given(st.integers(1, 10_000))
def test_the_last_bits_of_predictions_change_no_printed_line(twist):
    assert printed(lab(twist)) == printed(lab(0))


@pytest.mark.parametrize("twist", range(6))
def test_ties_go_by_declared_order_and_all_of_them_are_the_best(twist):
    run = lab(twist)
    problem = run.problems[0]
    assert choose([problem], run.settings).variants[:2] == ("twin B", "twin A")
    assert selected([problem], run) == list(choose([problem], run.settings).variants), (
        "the second derivation chooses alike"
    )
    assert top_frame(run)["variant"].tolist()[:2] == ["twin B", "twin A"]
    final = final_frame(replace(run, problems=(problem,)))
    assert final.loc[final["best_of"] == "rmsecv", "variant"].tolist() == ["twin B", "twin A"]
    view, _ = crossval_views(run)
    assert view.best == ("twin B", "twin A")
    assert problem_headline(view).startswith(
        "lake: twin B and twin A, which are tied, are the best of 4 pipelines"
    )


@pytest.mark.parametrize("twist", range(4))
def test_both_twins_are_starred_in_every_table(twist):
    run = lab(twist)
    final, top = crossval_tables(run)[:2]
    for table, cell in ((final, 2), (top, 2)):
        assert {row[-1].text for row in table.rows if row[cell].bold} >= {"twin A", "twin B"}
    answer = answer_sheet(crossval_views(run), Behind()).table
    assert [row[0].text for row in answer.rows if row[1].bold] == ["twin B", "twin A"]
    assert [row[0].text for row in answer.rows if row[3].text == "1.50"] == ["twin B", "twin A"]


def test_the_declared_order_is_all_that_orders_twins():
    turned = ("simple", "twin A", "twin B", "worse")
    for twist in range(5):
        run = lab(twist, declared=turned)
        assert choose([run.problems[0]], run.settings).variants[:2] == ("twin A", "twin B")


@pytest.mark.parametrize("twist", range(1, 7))
def test_a_twin_is_not_told_from_the_best_by_rounding(twist):
    """With residuals far below the measurements the rounding of these is all that is between the twins."""
    run = lab(twist, offset=1e6, noise=1e-3)
    for view in crossval_views(run):
        twin = next(pair for pair in view.distinction.pairs if pair.rival == "twin A")
        assert twin.p == 1.0


@pytest.mark.parametrize("metric", ["rmse", "mse", "mae", "r2", "rpd", "rpiq", "bias", "max_error"])
def test_fits_that_are_perfect_but_for_rounding_are_tied_by_every_metric(metric):
    for twist in range(1, 6):
        run = lab(twist, noise=0.0)
        view, _ = crossval_views(replace(run, metric=metric))
        assert view.best == VARIANTS, "all are perfect but for rounding"


def test_within_one_standard_error_includes_what_lies_on_the_edge_but_for_rounding():
    """Means .70 and .75 with a standard error of .05, from folds that add up to them along another road."""
    from paragone.protocols.crossval.ledger import Chain, FoldLedger, Predictions
    from paragone.protocols.crossval.scores import ChainScores, Scoring, select

    parts = [
        Predictions(np.arange(2) + 2 * fold, np.array([0.0, 1.0]), np.zeros(2)) for fold in range(2)
    ]
    folds = tuple(FoldLedger(str(place), 0, part, part, part) for place, part in enumerate(parts))
    chain = {name: Chain(name, "classification", folds) for name in ("a", "b")}
    scoring = Scoring("classification", "accuracy")
    for best in (0.75, 0.75 - 1.2e-16, 0.75 + 2.3e-16):
        for edge in (0.7, 0.7 - 1.2e-16, 0.7 + 1.2e-16):
            rows = [
                ChainScores(chain["a"], scoring, edge, edge, np.array([edge, edge])),
                ChainScores(chain["b"], scoring, best, best, np.array([best - 0.05, best + 0.05])),
            ]
            assert select([Criterion("one_se")], [rows]).variants == ("a",)
