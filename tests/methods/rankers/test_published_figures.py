"""The rankers on real data: published micro-F1 at 20 % of the features, and every ranker above chance."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paragone import Experiment, Results, ranking_curve
from paragone.data import load, scale_split
from paragone.methods.method import Method
from paragone.protocols import Curve, PGrid

KNOWN = json.loads((Path(__file__).parent / "published_figures.json").read_text())
EIGHT = ["DAGFS", "LRMFS", "GRRO", "SRFS", "SCNMF", "LSMFS", "LRDG", "RFSFS"]
AT_20_PERCENT = Curve(
    p=PGrid(0.2, 0.2, 0.1, target=0.2), metrics=("micro_f1",), keep_predictions=False
)
SETS = [
    "arts",
    "business",
    "education",
    "emotions",
    "enron",
    "flags",
    "health",
    "medical",
    "scene",
    "science",
    "yeast",
]


# The figures of LSMFS were made with all weights at 1, where its guard stops it; our defaults
# converge.
AS_PUBLISHED = {name: name.lower() for name in EIGHT} | {
    "LSMFS": {"use": "lsmfs", "params": dict.fromkeys(("alpha", "beta", "gamma", "lambda_"), 1.0)}
}
OURS = {name: name.lower() for name in [*EIGHT, "Random"]}


def figures(
    data_folder: Path, store: Path, sets: list[str], methods: dict[str, Any], **split
) -> dict:
    """Mean and deviation of micro-F1 at p = 20 % by dataset and method, over repeated hold-outs."""
    experiment = Experiment(
        [load(data_folder / "multilabel" / name, name=name) for name in sets],
        methods,
        {"kind": "holdout", **split},
        AT_20_PERCENT,
        seed=1,
    )
    with experiment.run(store, workers=2) as results:
        assert isinstance(results, Results)
        scores = results.scores("micro_f1")
    return scores.groupby(["dataset", "method"])["value"].agg(["mean", "std"]).to_dict("index")


@pytest.mark.slow
@pytest.mark.known_answer
@pytest.mark.parametrize("name", KNOWN["mulan"])
def test_mulan_sets_give_the_published_figures_within_fold_noise(data_folder, tmp_path, name):
    known = KNOWN["mulan"][name]
    found = figures(
        data_folder,
        tmp_path / "a.sqlite",
        [name],
        AS_PUBLISHED,
        folds=5,
        test_size=known["test_size"],
    )
    for method, figure in known["micro_f1"].items():
        noise = 2.5 * max(found[name, method]["std"], known["fold_std"])
        assert abs(found[name, method]["mean"] - figure) < noise, (
            method,
            found[name, method],
            figure,
        )
    if name == "medical":
        assert found[name, "SCNMF"]["mean"] > 0.4
        assert found[name, "LRDG"]["mean"] > 0.4


def on_the_2000(data_folder: Path, name: str, method: str, seeds: int) -> list[float]:
    """Micro-F1 at p = 20 % on the file's own split, trained on its 2000 rows as the papers do."""
    dataset = load(data_folder / "multilabel" / name)
    train, test = np.flatnonzero(~dataset.train_part), np.flatnonzero(dataset.train_part)
    X_train, X_test = scale_split(dataset.X[train], dataset.X[test], "minmax")
    Y_train, Y_test = dataset.y[train], dataset.y[test]
    k = int(np.round(0.2 * dataset.n_features))
    values = []
    for seed in range(seeds):
        ranking = Method.declare(method.lower()).build(seed).fit(X_train, Y_train).ranking_
        curve = ranking_curve(ranking, X_train, Y_train, X_test, Y_test, [k], metrics=["micro_f1"])
        values.append(float(curve["micro_f1"][k]))
    return values


@pytest.mark.known_answer
@pytest.mark.parametrize("name", KNOWN["yahoo"])
def test_a_deterministic_ranker_gives_the_published_yahoo_figure_exactly(data_folder, name):
    assert round(on_the_2000(data_folder, name, "GRRO", 1)[0], 3) == KNOWN["yahoo"][name]["GRRO"]


@pytest.mark.slow
@pytest.mark.known_answer
@pytest.mark.parametrize("name", KNOWN["yahoo"])
def test_random_rankers_give_the_published_yahoo_figures_within_the_noise_of_seeds(
    data_folder, name
):
    for method in ("DAGFS", "SRFS", "RFSFS", "LRMFS", "Random"):
        values = on_the_2000(data_folder, name, method, 5)
        noise = 2.5 * max(np.std(values, ddof=1), KNOWN["yahoo_fold_std"])
        assert abs(np.mean(values) - KNOWN["yahoo"][name][method]) < noise, (method, values)


@pytest.mark.slow
@pytest.mark.known_answer
def test_every_ranker_beats_a_random_order_on_the_mean_over_the_sets(data_folder, tmp_path):
    found = figures(data_folder, tmp_path / "a.sqlite", SETS, OURS, folds=3, test_size=0.4)
    means = {m: np.mean([found[name, m]["mean"] for name in SETS]) for m in [*EIGHT, "Random"]}
    for method in EIGHT:
        assert means[method] > means["Random"], means
