"""Metrics as values: directions, names and where they are found, functions of others, and the contract of all."""

from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest
from sklearn import metrics as sk
from sklearn.metrics import get_scorer, make_scorer

import paragone
from paragone import Crossval, Curve, Experiment, Results, TopK
from paragone.errors import InputError
from paragone.metrics import (
    Metric,
    adopt,
    base_name,
    declare_metric,
    find_metric,
    metric_names,
    metric_values,
    metrics,
    named_metric,
    ranking_metric,
    remember,
)
from paragone.metrics import names as home
from paragone.protocols import KGrid
from paragone.testing import check_metric

LOWER_BY_SPEC = [
    "hamming_loss",
    "one_error",
    "ranking_loss",
    "coverage",
    "rmse",
    "mae",
    "log_loss",
    "sep",
]
HIGHER_BY_SPEC = [
    "micro_f1",
    "avg_precision",
    "balanced_accuracy",
    "r2",
    "rpd",
    "ndcg",
    "rmrr",
    "consistency",
]
# Names that scores from elsewhere have, with the direction that the first release gave them.
OTHER_NAMES = {
    "auc": True,
    "auprc": True,
    "auroc": True,
    "quadratic_weighted_kappa": True,
    "rmsec": False,
    "rmsecv": False,
    "rmsep": False,
    "f1_of_means": True,
    "gini_exposure": False,
    "item_coverage": True,
    "novelty": True,
    "tail_recall": True,
}
IN_THE_TARGETS_UNIT = {
    "bias",
    "mae",
    "max_error",
    "median_ae",
    "mse",
    "rmse",
    "rmsec",
    "rmsecv",
    "rmsep",
    "sep",
}


@pytest.fixture(autouse=True)
def _only_ours(monkeypatch):
    """Whatever a test adds to the registry is gone after it."""
    find_metric("rmse")
    monkeypatch.setattr(metrics, "_known", dict(metrics._known))
    monkeypatch.setattr(metrics, "_aliases", dict(metrics._aliases))
    monkeypatch.setattr(home, "_REMEMBERED", {})


@pytest.mark.parametrize("metric", LOWER_BY_SPEC)
def test_losses_and_errors_are_better_when_lower(metric):
    assert named_metric(metric).higher_is_better is False


@pytest.mark.parametrize("metric", HIGHER_BY_SPEC)
def test_scores_are_better_when_higher(metric):
    assert named_metric(metric).higher_is_better is True


@pytest.mark.parametrize(("name", "higher"), OTHER_NAMES.items())
def test_names_of_scores_from_elsewhere_have_a_direction(name, higher):
    assert named_metric(name).higher_is_better is higher


def test_cut_off_and_convention_do_not_change_the_direction():
    assert named_metric("ndcg[min]@20").higher_is_better is True
    assert named_metric("recall@5").higher_is_better is True
    assert named_metric("f1 (macro)").higher_is_better is True


def test_unknown_and_signed_metrics_have_no_direction():
    assert named_metric("zest").higher_is_better is None
    assert named_metric("bias").higher_is_better is None


def test_every_name_is_its_own_base_name():
    assert all(base_name(one.name) == one.name for one in metrics)


def test_only_errors_in_the_targets_unit_have_a_unit():
    assert {one.name for one in metrics if one.has_unit} == IN_THE_TARGETS_UNIT
    assert named_metric("rmse").score_size == 0.0
    assert named_metric("r2").score_size == named_metric("ndcg@10").score_size == 1.0
    assert named_metric("my_score").score_size == named_metric(None).score_size == 0.0


def test_metrics_of_one_name_agree_on_what_a_table_says_of_them():
    for one in metrics:
        if one.task == "topk" and one.name in metrics:
            other = metrics.get(one.name)
            assert (other.title, other.higher_is_better, other.has_unit) == (
                one.title,
                one.higher_is_better,
                False,
            )


@pytest.mark.parametrize(
    "metric",
    [one for one in metrics if one.is_ours and one.is_computable],
    ids=lambda one: f"{one.task}-{one.name}",
)
def test_every_metric_keeps_the_contract(metric):
    assert len(check_metric(metric)) >= 6


def test_every_metric_says_where_it_is_from():
    assert [
        one.name for one in metrics if one.is_ours and one.is_computable and not one.reference
    ] == []


# Where metrics are found


def test_a_name_is_found_for_its_task_alone():
    assert find_metric("precision", "topk") is not find_metric("precision", "classification")
    assert find_metric("precision@5") is find_metric("precision", "topk")
    with pytest.raises(InputError, match="unknown classification metric 'rmse'"):
        find_metric("rmse", "classification")
    with pytest.raises(InputError, match="unknown metric 'mirco_f1': did you mean 'micro_f1'"):
        find_metric("mirco_f1", "multilabel")
    with pytest.raises(InputError, match="did you mean 'neg_mean_gamma_deviance'"):
        find_metric("neg_mean_gama_deviance", "regression")


def test_names_of_scikit_learn_are_found_after_ours_and_give_its_values():
    y, p = np.array([1.0, 2.0, 4.0]), np.array([1.5, 2.0, 3.0])
    found = find_metric("neg_root_mean_squared_error", "regression")
    assert found.higher_is_better is True
    assert found(y, p) == -sk.root_mean_squared_error(y, p)
    assert find_metric("r2", "regression").function.__module__ == "paragone.metrics.prediction"


def test_scorers_of_two_and_more_classes_give_scikit_learns_values():
    rng = np.random.default_rng(0)
    for classes in (np.array(["a", "b"]), np.array(["a", "b", "c"])):
        y = rng.permutation(np.resize(classes, 30))
        P = rng.dirichlet(np.ones(len(classes)), 30)
        labels = classes[P.argmax(axis=1)]
        many = len(classes) > 2
        wanted = {
            "neg_log_loss": -sk.log_loss(y, P, labels=classes),
            "roc_auc_ovr": sk.roc_auc_score(y, P if many else P[:, 1], multi_class="ovr"),
            "f1_weighted": sk.f1_score(y, labels, average="weighted"),
        }
        values = metric_values(
            list(wanted), "classification", y, labels, probabilities=P, classes=classes
        )
        assert values == pytest.approx(wanted, rel=1e-12)


def test_a_scorer_object_is_a_metric_with_its_arguments():
    scorer = make_scorer(sk.fbeta_score, beta=2.0, average="macro")
    y, p = np.array([0, 1, 1, 0]), np.array([0, 1, 0, 0])
    found = find_metric(scorer, "classification")
    assert metric_values([found], "classification", y, p) == {
        "fbeta_score": sk.fbeta_score(y, p, beta=2, average="macro")
    }
    assert find_metric(get_scorer("neg_mean_absolute_error")).name == "neg_mean_absolute_error"
    with pytest.raises(InputError, match="takes labels; top-K has lists"):
        find_metric(scorer, "topk")


def test_probabilities_of_labels_are_refused_where_their_order_alone_is_kept():
    Y = np.eye(2, dtype=np.uint8)
    with pytest.raises(InputError, match="needs probabilities, of which only the order is kept"):
        metric_values(["neg_log_loss"], "multilabel", Y, Y, scores=Y.astype(float))


def gain(y_true, y_pred):
    return float(np.mean(np.asarray(y_true) == np.asarray(y_pred)))


def test_a_function_is_a_metric_by_its_name_and_what_it_says_of_itself():
    found = find_metric(gain)
    assert (found.name, found.higher_is_better, found.use) == ("gain", None, f"{__name__}:gain")
    gain_with_words = dataclasses.replace(found, higher_is_better=True, lowest=0, highest=1)
    assert gain_with_words.best == 1
    with pytest.raises(
        InputError, match=r"set gain\.higher_is_better = True or False beside the function"
    ):
        ranking_metric(gain, "regression")
    with pytest.raises(InputError, match="neither a name nor a function"):
        find_metric(3)


def test_what_gives_no_number_is_refused_by_name():
    with pytest.raises(InputError, match="metric 'words' gave 'no', which is not a number"):
        Metric("words", lambda truth, prediction: "no")([1], [1])


def test_ours_are_identified_by_name_and_others_by_content():
    assert find_metric("micro_f1").identity() == "micro_f1"
    assert find_metric(gain).identity() == ["gain", gain, {}, False]
    # The names alone make the key, as in the first release: stored cells stay valid.
    assert (
        Curve(metrics=("micro_f1", "coverage")).identity()
        != Curve(metrics=("micro_f1", find_metric(gain))).identity()
    )


def test_a_metric_travels_to_other_processes():
    for use in ("rmse", "roc_auc", "neg_log_loss", gain):
        found = find_metric(use)
        assert pickle.loads(pickle.dumps(found)).name == found.name  # noqa: S301
    curve = pickle.loads(pickle.dumps(Curve(metrics=("micro_f1", gain))))  # noqa: S301
    assert [getattr(one, "name", one) for one in curve.metrics] == ["micro_f1", "gain"]


def test_a_declared_metric_is_known_and_one_name_is_one_metric():
    @declare_metric(
        task="regression", title="Largest gap", higher_is_better=False, lowest=0, unit=1
    )
    def largest_gap(y_true, y_pred):
        return np.abs(np.subtract(y_true, y_pred)).max()

    assert "largest_gap" in metric_names("regression")
    assert find_metric(largest_gap).title == "Largest gap"
    with pytest.raises(InputError, match="metric 'rmse' is there already"):
        adopt(Metric("rmse", gain), "regression")


def test_the_words_of_a_metric_are_checked():
    with pytest.raises(InputError, match="unknown need of metric 'x'"):
        Metric("x", gain, needs="label")
    with pytest.raises(InputError, match="its lowest value 1 is not below 0"):
        Metric("x", gain, lowest=1, highest=0)


def test_a_store_tells_of_metrics_that_are_not_ours_without_running_them():
    remember(
        [
            "rmse",
            {
                "name": "yield",
                "title": "Yield",
                "higher_is_better": True,
                "use": "no_such_module:yield_",
            },
        ]
    )
    assert (named_metric("yield").title, named_metric("yield").higher_is_better) == ("Yield", True)
    with pytest.raises(
        InputError,
        match=(
            "no code runs that a file names: name it yourself, with --metric no_such_module:yield_"
        ),
    ):
        find_metric("yield", "regression")
    with pytest.raises(InputError, match="another direction"):
        remember([{"name": "yield", "higher_is_better": False}])


# Metrics of others, all the way

MODULE = """
import numpy as np


def exact_rows(Y, labels):
    return float((Y == labels).all(axis=1).mean())


exact_rows.higher_is_better = True
exact_rows.title = "Exact rows"


def worst_error(y_true, y_pred):
    return float(np.abs(y_true - y_pred).max())


worst_error.higher_is_better = False


def first_place(recommended, relevant, k):
    return float(recommended[0] in relevant)


first_place.higher_is_better = True
"""


@pytest.fixture
def own_module(tmp_path, monkeypatch):
    (tmp_path / "own_metrics_of_test.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    return "own_metrics_of_test"


def test_a_function_of_a_file_scores_a_curve_from_toml_to_verdict(own_module, tmp_path):
    path = tmp_path / "curve.toml"
    path.write_text(
        'name = "own"\n[data]\nsets = ["wine-traits"]\n[split]\nfolds = 3\n[protocol]\nkind ='
        f' "curve"\nk = {{ min = 2, max = 4, step = 2 }}\nmetrics = ["{own_module}:exact_rows",'
        ' "subset_accuracy"]\n[methods.A]\nuse = "variance"\n[methods.B]\nuse = "random"\n'
    )
    with Experiment.from_toml(path).run(tmp_path / "own.sqlite", workers=2) as results:
        scores = results.scores().pivot_table(
            index=["fold", "method", "at"], columns="metric", values="value"
        )
        np.testing.assert_allclose(scores["exact_rows"], scores["subset_accuracy"])
        metrics._known.pop("exact_rows")
    with Results.open(tmp_path / "own.sqlite") as again:
        frame = again.scores("exact_rows")
        assert named_metric("exact_rows").title == "Exact rows"
        sides = {
            name: rows.set_index("fold")["value"]
            for name, rows in frame[frame["at"] == 4].groupby("method")
        }
        verdict = paragone.pairwise(
            sides["A"].rename("A"), sides["B"].rename("B"), metric="exact_rows"
        )
        assert verdict.to_dict()["higher_is_better"] is True


def test_editing_the_function_makes_other_cells(own_module, tmp_path):
    before = Curve(metrics=(f"{own_module}:exact_rows",)).identity()
    assert Curve(metrics=(f"{own_module}:exact_rows",)).identity() == before
    assert Curve(metrics=(f"{own_module}:worst_error",)).identity() != before


def test_a_cross_validation_selects_by_a_function_of_a_file(own_module, tmp_path):
    protocol = Crossval(metric=f"{own_module}:worst_error", task="regression")
    twin = Crossval(metric="max_error", task="regression")
    frames = []
    for place, one in enumerate((protocol, twin)):
        methods = {
            "ridge": {"use": "sklearn.linear_model:Ridge", "grid": {"alpha": [0.01, 1.0, 100.0]}}
        }
        with Experiment(["diabetes"], methods, {"folds": 3}, one, seed=1).run(
            tmp_path / f"{place}.sqlite", 0
        ) as results:
            frames.append(results.scores())
    assert set(frames[0]["metric"]) == {"worst_error"}
    np.testing.assert_allclose(frames[0]["value"], frames[1]["value"])


def test_a_cross_validation_refuses_a_function_without_a_direction():
    with pytest.raises(InputError, match="metric 'gain' has no better direction"):
        Crossval(metric=gain)


def test_an_undirected_function_is_scored_and_reported_and_not_compared(own_module, tmp_path):
    gain_of_labels = Metric(
        "gain_of_labels", title="Gain", function=lambda Y, labels: float((labels == Y).mean())
    )
    methods, protocol = (
        {"A": "variance", "B": "random"},
        Curve(k=KGrid(2, 4, 2), metrics=(gain_of_labels, "micro_f1")),
    )
    data = ["wine-traits", "digits-traits"]
    with Experiment(data, methods, {"folds": 2}, protocol).run(
        tmp_path / "own.sqlite", 0
    ) as results:
        frame = results.scores("gain_of_labels")
        assert frame["value"].between(0, 1).all()
        with pytest.raises(
            InputError,
            match=(
                r"which way of 'gain_of_labels' is better is not known.*set"
                r" gain_of_labels\.higher_is_better"
            ),
        ):
            paragone.compare(frame)
        paragone.report(results, tmp_path / "report")
    page = (tmp_path / "report" / "tables.md").read_text()
    assert "Nothing is ranked by Gain: which way it is better is not known." in page
    assert "Gain (higher" not in page
    assert "Gain (lower" not in page


def test_a_person_may_name_a_metric_by_its_function(own_module, tmp_path):
    methods = {"ridge": {"use": "sklearn.linear_model:Ridge", "grid": {"alpha": [1.0, 100.0]}}}
    with Experiment(["diabetes"], methods, {"folds": 3}, Crossval(task="regression")).run(
        tmp_path / "a.sqlite", 0
    ) as results:
        own = results.scores(f"{own_module}:worst_error")
        np.testing.assert_allclose(own["value"], results.scores("max_error")["value"])
        assert set(own["metric"]) == {"worst_error"}


def test_a_top_k_function_of_a_file_is_found_by_its_name(own_module):
    protocol = TopK(metrics=("precision", f"{own_module}:first_place"))
    assert protocol.metric_names == ("precision", "first_place")
    assert named_metric("first_place@5").higher_is_better is True
    assert TopK(metrics=("first_place",)).metric_names == ("first_place",)


def test_grids_stay_as_they_were():
    assert Curve(k=KGrid(5, 20, 5)).points(18)["k"].k == (5, 10, 15)


@pytest.mark.parametrize("as_text", [False, True])
def test_the_newer_classification_metrics_agree_with_scikit_learn(as_text):
    rng = np.random.default_rng(3)
    classes = np.array(["a", "b", "c"]) if as_text else np.array([0, 1, 2])
    y, p = classes[rng.integers(0, 3, 50)], classes[rng.integers(0, 3, 50)]
    P = rng.integers(1, 6, (50, 3)).astype(float)
    P /= P.sum(axis=1, keepdims=True)
    names = ["quadratic_weighted_kappa", "auprc"]
    values = metric_values(names, "classification", y, p, probabilities=P, classes=classes)
    assert values["quadratic_weighted_kappa"] == pytest.approx(
        sk.cohen_kappa_score(y, p, weights="quadratic"), rel=1e-12
    )
    each = [sk.average_precision_score(y == one, P[:, place]) for place, one in enumerate(classes)]
    assert values["auprc"] == pytest.approx(np.mean(each), rel=1e-12)
