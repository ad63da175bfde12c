"""Scorers that are minus an error are shown as the error, the same number on every surface, and no verdict turns.

Every number is computed a second time here, by scikit-learn's functions on the predictions that the
store keeps.
"""

import csv
import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import (
    get_scorer,
    get_scorer_names,
    log_loss,
    make_scorer,
    mean_absolute_error,
    mean_squared_error,
    r2_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeRegressor
from typer.testing import CliRunner

import paragone
from paragone import Dataset, Experiment
from paragone.cli.app import app
from paragone.lab.results import Results
from paragone.lab.view import View
from paragone.metrics import error_name, metric_title, named_metric, with_errors
from paragone.protocols import Crossval
from paragone.reporting.live.pages import Selection, selected_page
from paragone.reporting.pages import page_of
from paragone.reporting.render import render_page

RMSE, MAE = "neg_root_mean_squared_error", "neg_mean_absolute_error"


def heights(n, scale, seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    return X, scale * (X @ [1.0, 2.0, 0.0, -1.0] + random.normal(size=n))


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Return an evaluation of two tables whose targets have units of one size, and the folder of its report."""
    folder = tmp_path_factory.mktemp("errors")
    methods = {
        "ridge": Ridge(),
        "tree": DecisionTreeRegressor(random_state=0),
        "floor": DummyRegressor(),
    }
    data = {"cm": heights(90, 1.0, 0), "ft": heights(80, 1.5, 1)}
    answer = paragone.evaluate(
        methods, data, split=4, store=folder / "lab.sqlite", workers=0, verbose=False
    )
    answer.report(folder / "page")
    return answer, folder


def by_hand(answer, function):
    """Return the mean over folds by dataset and method, straight from the predictions."""
    found = {}
    for (dataset, method), rows in answer.predictions().groupby(["dataset", "method"], sort=False):
        folds = [function(fold["truth"], fold["predicted"]) for _, fold in rows.groupby("fold")]
        found[dataset, method] = float(np.mean(folds))
    return found


def rmse(truth, predicted):
    return mean_squared_error(truth, predicted) ** 0.5


def test_every_scorer_of_scikit_learn_has_a_name_that_people_read_and_the_right_direction():
    for name in get_scorer_names():
        shown = str(error_name(name))
        assert "_" not in metric_title(shown), name
        is_error = get_scorer(name)._sign < 0
        assert (shown != name) == is_error, name
        assert named_metric(shown).higher_is_better is not is_error, name
        assert named_metric(name).higher_is_better is True, name


def test_the_terminal_names_the_error_and_prints_it_without_a_minus(lab):
    answer, _ = lab
    text, hand = repr(answer), by_hand(answer, rmse)
    assert "neg_" not in text
    assert "by RMSE (in the target's unit, lower is better)" in " ".join(text.split())
    for method in ("ridge", "tree", "floor"):
        mean = np.mean([hand[dataset, method] for dataset in ("cm", "ft")])
        row = next(line for line in text.splitlines() if re.match(rf"^\s*\d+\s+{method}\s", line))
        assert float(row.split()[2]) == pytest.approx(mean, rel=5e-3)
    assert answer.ranking.rows[0].method == min(
        answer.experiment.methods, key=lambda m: hand["cm", m] + hand["ft", m]
    )


def test_a_positive_difference_favours_the_method_with_the_smaller_error(lab):
    answer, _ = lab
    hand = by_hand(answer, rmse)
    found = answer.compare()
    for pair in found.pairs:
        gap = np.mean([hand[d, pair.rival] - hand[d, pair.method] for d in ("cm", "ft")])
        assert pair.mean_difference == pytest.approx(gap)


@pytest.mark.parametrize(
    ("scorer", "function", "title", "higher"),
    [
        (RMSE, rmse, "RMSE", False),
        (MAE, mean_absolute_error, "MAE", False),
        ("r2", r2_score, "R2", True),
    ],
)
class TestEverySurface:
    """The same number by hand, on the page, in LaTeX, CSV and JSON."""

    def test_page_and_its_files(self, lab, scorer, function, title, higher):
        answer, folder = lab
        hand, key = by_hand(answer, function), error_name(scorer)
        with (folder / f"page/tables/answer-{key}.csv").open() as file:
            head, *rows = csv.reader(file)
        tex = (folder / f"page/table_{key}.tex").read_text().replace(r"\(-\)", "-")
        assert f"{title} ({'higher' if higher else 'lower'} is better)" in tex
        for row in rows[:2]:
            for method, cell in zip(head[1:], row[1:], strict=True):
                value = hand[row[0], method]
                assert float(cell.split()[0].replace("−", "-")) == pytest.approx(value, abs=6e-4)
                assert f"{value:.4f} " in tex

    def test_the_board_of_the_page(self, lab, scorer, function, title, higher):
        answer, folder = lab
        hand, key = by_hand(answer, function), error_name(scorer)
        with Results.open(folder / "lab.sqlite") as results:
            page = page_of(View(results))
        board = next(
            b
            for s in page.sections
            for b in s.blocks
            if getattr(b, "tags", {}).get("metric") == key
        )
        assert board.metric == title
        assert board.higher_is_better is higher
        means = {m: np.mean([hand[d, m] for d in ("cm", "ft")]) for m in answer.experiment.methods}
        assert {one.method: one.mean for one in board.standings} == pytest.approx(means)
        best = (max if higher else min)(means, key=means.__getitem__)
        assert board.standings[0].method == best
        for pair in board.pairs:
            gap = means[pair.method] - means[pair.rival]
            assert pair.difference == pytest.approx(gap if higher else -gap)
            assert pair.word in ("", "undecided") or (pair.word == "better") == (
                pair.difference > 0
            )
        assert {c.name: c.options for c in page.choices}["metric"][key] == title

    def test_json_names_the_scorer_and_has_the_errors(self, lab, scorer, function, title, higher):
        answer, folder = lab
        hand = by_hand(answer, function)
        ended = CliRunner().invoke(
            app, ["compare", str(folder / "lab.sqlite"), "--metric", scorer, "--json"]
        )
        assert ended.exit_code == 0, ended.output
        found = json.loads(ended.stdout)
        assert (found["metric"], found.get("scorer", scorer)) == (error_name(scorer), scorer)
        assert found["higher_is_better"] is higher
        for row in found["ranks"]:
            assert row["mean"] == pytest.approx(
                np.mean([hand[d, row["method"]] for d in ("cm", "ft")])
            )
        assert "neg_" not in found["finding"]

    def test_stored_scores_keep_the_scorers_name_and_sign(
        self, lab, scorer, function, title, higher
    ):
        answer, folder = lab
        hand = by_hand(answer, function)
        ended = CliRunner().invoke(
            app, ["scores", str(folder / "lab.sqlite"), "--metric", scorer, "--json"]
        )
        frame = pd.DataFrame(json.loads(ended.stdout))
        assert set(frame["metric"]) == {scorer}
        means = frame.groupby(["dataset", "method"])["value"].mean().to_dict()
        assert means == pytest.approx(
            {place: (1 if higher else -1) * value for place, value in hand.items()}
        )
        own = answer.scores(scorer).groupby(["dataset", "method"])["value"].mean().to_dict()
        assert own == pytest.approx(means)

    def test_the_scores_table_of_the_terminal(self, lab, scorer, function, title, higher):
        _, folder = lab
        ended = CliRunner().invoke(app, ["scores", str(folder / "lab.sqlite"), "--metric", scorer])
        assert ended.exit_code == 0, ended.output
        assert f"{title} (predict, {'higher' if higher else 'lower'} is better)" in ended.output
        assert "neg_" not in ended.output


def test_the_words_are_those_of_the_scorers_own_values(lab):
    """Turning the sign turns nothing else: the comparison of minus the error says the same of every pair."""
    answer, _ = lab
    frame = answer.scores(MAE)
    shown = paragone.compare(frame, metric=MAE, designs=answer.experiment.layout.designs)
    raw = paragone.compare(
        frame.assign(metric="gain"),
        metric="gain",
        higher_is_better=True,
        designs=answer.experiment.layout.designs,
    )
    assert (shown.leader, list(shown.ordered)) == (raw.leader, list(raw.ordered))
    for one, other in zip(shown.learners, raw.learners, strict=True):
        assert (one.method, one.rival, one.word) == (other.method, other.rival, other.word)
        assert one.p == pytest.approx(other.p)
        assert one.difference.estimate == pytest.approx(other.difference.estimate)


def test_errors_in_units_far_apart_are_compared_by_log_ratios_as_rmse_is(tmp_path):
    data = {"mm": heights(60, 1000.0, 0), "km": heights(60, 0.001, 1)}
    methods = {"ridge": Ridge(), "floor": DummyRegressor()}
    answer = paragone.evaluate(
        methods, data, split=4, store=tmp_path / "u.sqlite", workers=0, verbose=False
    )
    hand = by_hand(answer, rmse)
    means = {m: float(np.exp(np.mean(np.log([hand[d, m] for d in data])))) for m in methods}
    assert answer.compare().scores.differences == "log"
    found = {row.method: row.mean for row in answer.ranking.rows}
    # The mean of the logarithms of folds is near that of the logarithm of their mean.
    assert found == pytest.approx(means, rel=0.02)
    assert answer.ranking.rows[0].method == "ridge"


def test_log_loss_of_a_classifier(tmp_path):
    random = np.random.default_rng(3)
    X = random.normal(size=(80, 3))
    y = (X[:, 0] + random.normal(size=80) > 0).astype(int)
    methods = {"lr": LogisticRegression(), "bayes": GaussianNB()}
    answer = paragone.evaluate(
        methods, (X, y), split=3, metrics=["neg_log_loss", "roc_auc"], store=tmp_path / "c.sqlite", workers=0,
        verbose=False,
    )  # fmt: skip
    predicted = answer.predictions()
    for row in answer.ranking.rows:
        mine = predicted[predicted["method"] == row.method]
        hand = np.mean(
            [log_loss(fold["truth"], fold[["p(0)", "p(1)"]]) for _, fold in mine.groupby("fold")]
        )
        assert row.mean == pytest.approx(hand)
    screen = " ".join(repr(answer).split())
    assert screen.count("by log loss (lower is better)") == 1
    other = " ".join(repr(answer.compare("roc_auc")).split())
    assert other.count("AUROC") == 1
    assert "ower is better" not in other


def test_a_cross_validation_by_a_negated_scorer_is_one_by_its_error(tmp_path):
    X, y = heights(60, 1.0, 0)
    methods = {"Ridge": "sklearn.linear_model:Ridge", "Floor": "sklearn.dummy:DummyRegressor"}
    protocol = Crossval(metric=MAE, test=0.2)
    data = [Dataset("lake", X, y, "regression")]
    with Experiment(data, methods, {"folds": 4}, protocol).run(
        tmp_path / "cv.sqlite", 0
    ) as results:
        ledger, scores = (
            results.reader().ledger(),
            results.reader().cv_scores().set_index("variant"),
        )
    val = ledger[ledger["role"] == "val"]
    name = next(column for column in scores.columns if "MAE" in column)
    for method, rows in val.groupby("variant"):
        assert scores.loc[method, name] == pytest.approx(
            mean_absolute_error(rows["y_true"], rows["y_pred"])
        )
    with Results.open(tmp_path / "cv.sqlite") as results:
        text = render_page(page_of(View(results)))
    assert "Ridge is the best of 2 pipelines" in text
    assert "NEG_" not in text


def own_loss(truth, predicted):
    return float(np.mean(np.abs(truth - predicted) ** 1.5))


def test_a_negated_scorer_of_the_users_own_is_shown_as_its_loss(tmp_path):
    scorer = make_scorer(own_loss, greater_is_better=False)
    answer = paragone.evaluate(
        {"ridge": Ridge(), "floor": DummyRegressor()}, heights(60, 1.0, 0), split=3, metrics=[scorer],
        store=tmp_path / "o.sqlite", workers=0, verbose=False,
    )  # fmt: skip
    hand = by_hand(answer, own_loss)
    assert {row.method: row.mean for row in answer.ranking.rows} == pytest.approx(
        {method: value for (_, method), value in hand.items()}
    )
    assert " ".join(repr(answer).split()).count("by own_loss (lower is better)") == 1
    answer.report(tmp_path / "page", charts=False)
    assert r"own\_loss (lower is better)" in (tmp_path / "page/table_own_loss.tex").read_text()


def test_errors_written_down_under_a_scorers_name_are_left_as_they_are():
    frame = pd.DataFrame({"metric": RMSE, "value": [3.0, 4.0]})
    assert with_errors(frame).equals(frame)
    both = pd.DataFrame({"metric": ["neg_log_loss", "log_loss"], "value": [-0.5, 0.5]})
    assert with_errors(both).equals(both)


def test_pairwise_shows_the_error_and_turns_the_threshold():
    a = pd.Series([-3.0, -2.0, -5.0, -4.0], index=list("wxyz"), name="a")
    b = pd.Series([-2.5, -1.0, -4.8, -4.1], index=list("wxyz"), name="b")
    found = paragone.pairwise(a, b, metric=MAE, unit="subject", threshold=-4.5)
    told, (everything,) = found.to_dict(), found.unfiltered.pairs
    assert (told["scorer"], told["higher_is_better"], told["double_fails"]) == (MAE, False, 1)
    assert (everything.method, everything.rival) == ("b", "a")
    assert everything.mean_method == pytest.approx(3.1)
    assert everything.mean_difference == pytest.approx(0.4)
    screen = " ".join(repr(found).split())
    assert "MAE" in screen
    assert screen.count("Lower is better; positive differences favour b.") == 1


def test_the_live_view_offers_titles_and_takes_either_name(lab):
    _, folder = lab
    with Results.open(folder / "lab.sqlite") as results:
        page, options = selected_page(results, Selection())
        assert options["metric"] == ["root_mean_squared_error", "mean_absolute_error", "r2"]
        assert options["metric_titles"] == ["RMSE", "MAE", "R2"]
        other, _ = selected_page(results, Selection(metric=MAE))
    assert "MAE" in {c for choice in other.choices for c in choice.options.values()}
    assert page.title == other.title
