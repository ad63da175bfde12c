"""What would decide it on these datasets: the power of the noncentral t, the variance rule term by term, the floor."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from paragone import compare
from paragone.stats.deciding import deciding_sizes
from paragone.stats.designs import Design


def frame(gain, n_datasets=3, repeats=1, folds=5, seed=0, spread=0.02):
    rng = np.random.default_rng(seed)
    keys = [
        (f"d{d}", r, f) for d in range(n_datasets) for r in range(repeats) for f in range(folds)
    ]
    values = rng.normal(0.7, 0.02, len(keys))
    noise = rng.normal(0, spread, len(keys))
    both = pd.DataFrame({"A": values + gain + noise - noise.mean(), "B": values})
    return pd.DataFrame(keys, columns=["dataset", "repeat", "fold"]).join(both)


def estimated(table, repeats, folds):
    """Return mean, variance and degrees of freedom of A - B over the datasets, by the rule of the verdict."""
    difference = (table["A"] - table["B"]).to_numpy().reshape(-1, repeats * folds)
    found = [Design(folds, repeats, 1 / (folds - 1)).variance_of_mean(one) for one in difference]
    variances, freedoms = (np.array(part, dtype=float) for part in zip(*found, strict=True))
    n = len(found)
    return (
        difference.mean(),
        variances.sum() / n**2,
        variances.sum() ** 2 / (variances**2 / freedoms).sum(),
    )


def power(mean, variance, freedom, alpha=0.05):
    critical = stats.t.isf(alpha / 2, freedom)
    return stats.nct.sf(critical, freedom, abs(mean) / math.sqrt(variance))


@pytest.mark.parametrize(("gain", "repeats"), [(0.006, 1), (0.01, 1), (0.006, 3)])
def test_rows_and_datasets_reach_eighty_percent_and_fewer_do_not(gain, repeats):
    table = frame(gain, repeats=repeats)
    found = compare(table, metric="accuracy", bayes=False)
    assert found.learners[0].word == "undecided"
    size, _ = deciding_sizes(found.scores, found.learners[0], 1, found.settings)
    mean, variance, freedom = estimated(table, repeats, 5)
    # More rows of the same datasets: the variance falls as they grow, the degrees of freedom stay.
    assert power(mean, variance / size.rows, freedom) == pytest.approx(0.8, abs=1e-6)
    # More datasets: so do the degrees of freedom.
    reached, before = (
        power(mean, variance * 3 / n, freedom * n / 3) for n in (size.datasets, size.datasets - 1)
    )
    assert before < 0.8 <= reached


def at_best(table, repeats, folds=5):
    """Return the smallest variance that the rule gives any repeats with the spread of the one that was seen."""
    difference = (table["A"] - table["B"]).to_numpy().reshape(-1, folds)
    rng, total, n = np.random.default_rng(1), 0.0, len(difference)
    design = Design(folds, repeats, 1 / (folds - 1))
    for one in difference:
        least = np.inf
        for share in np.linspace(0, 1, 21):
            # Repeats whose means have a part of the variance that independent ones would have.
            inside = rng.permuted(np.tile(one - one.mean(), (repeats, 1)), axis=1) * math.sqrt(
                1 - share / folds
            )
            means = rng.permutation(np.linspace(-1, 1, repeats))
            means *= math.sqrt(share / folds) * one.std(ddof=1) / means.std(ddof=1)
            values = (inside + means[:, None]).ravel()
            values *= one.std(ddof=1) / values.std(ddof=1)
            least = min(least, float(design.variance_of_mean(values)[0]))
        total += least
    return total / n**2


@pytest.mark.parametrize("seed", range(4))
def test_more_repeats_are_promised_only_where_the_rule_lets_them_decide(seed):
    for gain in (0.004, 0.012, 0.016, 0.02):
        table = frame(gain, seed=seed)
        found = compare(table, metric="accuracy", bayes=False)
        if found.learners[0].word != "undecided":
            continue
        size, _ = deciding_sizes(found.scores, found.learners[0], 1, found.settings)
        mean = abs(table["A"].mean() - table["B"].mean())
        if size.repeats is None:
            # Not even a thousand of the most helpful repeats, whatever they have in common.
            assert power(mean, at_best(table, 1000), 3 * 1000 * 4) < 0.8
        else:
            assert size.at_best
            assert power(mean, at_best(table, size.repeats) * 0.999, 3 * size.repeats * 4) >= 0.79


def test_an_equivalence_within_the_margin_has_sizes_of_its_own():
    table = frame(0.002, spread=0.03)
    found = compare(table, metric="accuracy", bayes=False, margin=0.012)
    _, size = deciding_sizes(found.scores, found.learners[0], 1, found.settings)
    mean, variance, freedom = estimated(table, 1, 5)
    error = math.sqrt(variance / size.rows)
    critical = stats.t.isf(0.05, freedom)
    near, far = (
        stats.nct.sf(critical, freedom, (0.012 - side * abs(mean)) / error) for side in (1, -1)
    )
    assert near == pytest.approx(0.9, abs=1e-6)
    assert near + far - 1 >= 0.8


def test_it_stands_in_text_and_json_and_never_beside_a_decided_word():
    found = compare(frame(0.006), metric="accuracy", bayes=False)
    size = found.deciding["B"][0]
    assert (
        f"times the rows, or {size.datasets} datasets like these, would show a difference"
        in found.verdict
    )
    assert "more repeats will not" in found.verdict
    told = json.loads(json.dumps(found.to_dict()))["deciding"]
    assert [(one["rival"], one["to_show"], one["rows"]) for one in told] == [
        ("B", "difference", size.rows)
    ]
    assert compare(frame(0.2), metric="accuracy", bayes=False).deciding == {}


def test_a_difference_of_nothing_needs_more_than_can_be_named():
    table = frame(0.0, n_datasets=1)
    table["A"] -= (table["A"] - table["B"]).mean() - 1e-6
    assert (
        "more than 10 000 times the rows would be needed"
        in compare(table, metric="accuracy", bayes=False).verdict
    )


def test_subjects_are_asked_for_where_subjects_are_the_unit():
    table = frame(0.004).drop(columns="repeat").rename(columns={"fold": "subject"})
    verdict = compare(table, metric="accuracy", bayes=False).verdict
    assert "times the subjects, or" in verdict
    assert "repeats" not in verdict
