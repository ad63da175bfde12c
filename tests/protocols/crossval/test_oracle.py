"""Known answers: every score of eight cases from their predictions, and the unit oracles."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from paragone.protocols.crossval.ledger import (
    Chain,
    FoldLedger,
    Predictions,
    aggregate_by_group,
    align_probabilities,
    fold_weights,
    hard_vote,
    pooled,
    soft_vote,
)
from paragone.protocols.crossval.scores import Scoring, chain_scores, ensemble

pytestmark = pytest.mark.known_answer

REGRESSION = [
    "reg_gasoline_pls6",
    "reg_kfold5",
    "reg_kfold5_notest",
    "reg_kfold5_uneven",
    "reg_shufflesplit",
]
CASES = [*REGRESSION, "clf3_int"]


def read_rows(folder: Path) -> dict[tuple[str, str, str], list[list[str]]]:
    rows: dict[tuple[str, str, str], list[list[str]]] = {}
    with (folder / "predictions.csv").open() as file:
        for row in list(csv.reader(file))[1:]:
            rows.setdefault((row[2], row[3], row[4]), []).append(row)
    return rows


def predictions(rows: list[list[str]], n_train: int) -> Predictions:
    if not rows:
        return pooled([])
    # Ids of train and val rows are positions among the train rows, those of test rows are ids.
    samples = np.array([int(row[5]) + (n_train if row[4] == "test" else 0) for row in rows])
    values = np.array([[float(value) for value in row[6:]] for row in rows])
    return Predictions(
        samples, values[:, 0], values[:, 1], values[:, 2:] if values.shape[1] > 2 else None
    )


def read_case(data_folder: Path, name: str) -> tuple[dict, dict[str, Chain]]:
    folder = data_folder / "nirs" / "oracle" / name
    said = json.loads((folder / "scores.json").read_text())
    rows = read_rows(folder)
    task = "regression" if said["task"] == "regression" else "classification"
    chains = {}
    for variant in dict.fromkeys(key[0] for key in rows):
        ledgers = {}
        for fold in dict.fromkeys(key[1] for key in rows if key[0] == variant):
            parts = [
                predictions(rows.get((variant, fold, role), []), said["n_train"])
                for role in ("train", "val", "test")
            ]
            ledgers[fold] = FoldLedger(fold, 0, *parts)
        folds = tuple(ledgers[fold] for fold in sorted(f for f in ledgers if f.isdigit()))
        classes = np.array([0.0, 1.0, 2.0]) if task == "classification" else None
        chains[variant] = Chain(variant, task, folds, ledgers.get("final"), classes)
    return said, chains


@pytest.mark.parametrize("name", CASES)
def test_every_score_of_every_case_follows_from_its_predictions(data_folder, name):
    said, chains = read_case(data_folder, name)
    tolerance = 1e-6 if name in REGRESSION else 1e-12
    checked = 0
    for entry in said["entries"]:
        chain = chains[entry["preprocessings"]]
        scores = chain_scores(chain, Scoring(chain.task, entry["metric"]))
        fold = entry["fold_id"]
        found = {
            "avg": (scores.cv_score, scores.ens_test, scores.ens_train),
            "w_avg": (scores.cv_score, scores.w_ens_test, scores.w_ens_train),
            "final": (scores.cv_score, scores.test_score, scores.train_score),
        }
        if fold.isdigit():
            found[fold] = tuple(
                part[int(fold)] for part in (scores.fold_val, scores.fold_test, scores.fold_train)
            )
            assert scores.weights == pytest.approx(entry["weights"], abs=tolerance)
        expected = (entry["val_score"], entry["test_score"], entry["train_score"])
        for value, right in zip(found[fold], expected, strict=True):
            assert (np.isnan(value) and right is None) or value == pytest.approx(
                right, abs=tolerance
            ), (fold, name)
            checked += 1
    assert checked >= 3 * (len(chains) * 6 + 1)


@pytest.mark.parametrize("name", CASES)
def test_every_score_worked_out_by_hand_is_met(data_folder, name):
    said, chains = read_case(data_folder, name)
    by_hand = json.loads(
        (data_folder / "nirs" / "oracle" / name / "expected_by_hand.json").read_text()
    )
    # The ledgers were made in single precision, the answers by hand in double.
    tolerance = 2e-6 if name in REGRESSION else 1e-12
    keys = {
        "RMSECV": "cv_score",
        "MF_Val": "mean_fold_cv",
        "Ens_Test": "ens_test",
        "W_Ens_Test": "w_ens_test",
    }
    keys |= {"RMSEP": "test_score", "RMSEC": "train_score"}
    for right in by_hand:
        chain = chains[right["preprocessing"]]
        scores = chain_scores(chain, Scoring(chain.task, said["entries"][0]["metric"]))
        suffix = "" if name in REGRESSION else "_BalAcc"
        for shown, key in keys.items():
            shown = (
                {"RMSECV": "CV", "RMSEP": "Test", "RMSEC": "Train"}.get(shown, shown)
                if suffix
                else shown
            )
            refitted = chain.final is not None or key not in ("test_score", "train_score")
            if right.get(f"{shown}{suffix}") is not None and refitted:
                assert getattr(scores, key) == pytest.approx(
                    right[f"{shown}{suffix}"], abs=tolerance
                ), (shown, name)
        assert scores.weights == pytest.approx(right["weights"], abs=1e-5)


def test_the_ensembles_of_a_classification_are_met_sample_by_sample(data_folder):
    said, chains = read_case(data_folder, "clf3_int")
    rows = read_rows(data_folder / "nirs" / "oracle" / "clf3_int")
    for variant, chain in chains.items():
        weights = chain_scores(chain, Scoring("classification", "balanced_accuracy")).weights
        for fold, ours in (
            ("avg", ensemble(chain, "test")),
            ("w_avg", ensemble(chain, "test", weights, confidence=True)),
        ):
            theirs = predictions(rows[variant, fold, "test"], said["n_train"])
            assert (ours.y_pred == theirs.y_pred).all()
            assert ours.probabilities == pytest.approx(theirs.probabilities, abs=1e-6)


@pytest.fixture(scope="module")
def unit(data_folder):
    return json.loads((data_folder / "nirs" / "oracle" / "unit_oracles.json").read_text())


def test_compat_weights_meet_the_known_answers(unit):
    for case in unit["scores_to_weights"]:
        scores = [np.nan if s is None else s for s in case["scores"]]
        weights = fold_weights(scores, higher_is_better=case["higher_is_better"])
        if None in case["weights"]:
            # The known program loses all weights here; a fold without a score has weight 0.
            exists = ~np.isnan(scores)
            alone = fold_weights(
                np.array(scores)[exists], higher_is_better=case["higher_is_better"]
            )
            assert weights[exists].tolist() == alone.tolist()
            assert (weights[~exists] == 0).all()
        else:
            assert weights == pytest.approx(case["weights"], rel=1e-12, abs=1e-18)


def test_soft_votes_meet_the_known_answers(unit):
    members = [np.array(member) for member in unit["soft_vote"]["probas"]]
    for case in unit["soft_vote"]["cases"]:
        weights = None if case["weights"] is None else np.array(case["weights"])
        probabilities = soft_vote(members, weights, confidence=case["confidence"])
        assert probabilities == pytest.approx(np.array(case["proba"]), abs=1e-12)
        assert probabilities.argmax(axis=1).tolist() == case["pred"]


def test_a_missing_class_is_aligned_by_its_label_and_not_by_position(unit):
    case = unit["soft_vote_missing_class_padded_right"]
    full, short = (np.array(member) for member in case["probas"])
    classes = np.array([0, 1, 2])
    padded_right = soft_vote([full, align_probabilities(short, [0, 1], classes)])
    assert padded_right == pytest.approx(np.array(case["proba"]))
    # A model that saw the classes 0 and 2 gives its second column to class 2.
    aligned = soft_vote([full, align_probabilities(short, [0, 2], classes)])
    assert aligned[:, 1] == pytest.approx(full[:, 1] / 2)
    assert aligned[:, 2] == pytest.approx((full[:, 2] + short[:, 1]) / 2)


def test_hard_votes_meet_the_known_answers(unit):
    members = [np.array(member) for member in unit["hard_vote"]["preds"]]
    assert hard_vote(members).tolist() == unit["hard_vote"]["unweighted"]
    assert hard_vote(members, np.array([0.6, 0.3, 0.1])).tolist() == unit["hard_vote"]["weighted"]


def test_groups_are_aggregated_as_the_known_answers_say(unit):
    given = unit["aggregate_by_group"]
    rows = Predictions(np.arange(8), np.array(given["y_true"]), np.array(given["y_pred"]))
    for case in given["cases"]:
        found = aggregate_by_group(
            rows,
            given["groups"],
            task="regression",
            how=case["method"],
            exclude_outliers=case["exclude_outliers"],
        )
        right = case["result"]
        assert found.y_pred == pytest.approx(right["y_pred"], rel=1e-12)
        assert found.y_true == pytest.approx(right["y_true"], rel=1e-12)
        assert found.groups.tolist() == right["group_ids"]
        assert found.sizes.tolist() == right["group_sizes"]
        assert found.excluded.tolist() == right.get("outliers_excluded", [0, 0])


def test_integer_valued_regression_targets_are_averaged_and_not_voted_on(unit):
    given = unit["aggregate_integer_regression_switches_to_vote"]
    y = np.array(given["y_pred"])
    found = aggregate_by_group(Predictions(np.arange(4), y, y), given["groups"], task="regression")
    assert found.y_pred == pytest.approx([11 / 3, 7.0])
