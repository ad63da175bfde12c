"""Units that stand in several datasets are clusters; items that are only numbered anew in each are not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from paragone.intake import Records, Source, read_results
from paragone.intake.joining import join_items


def files(folder, names, datasets=("h1", "h2", "h3"), unit="question"):
    """Write the values of two methods on units in several datasets, and return their differences by unit."""
    generator = np.random.default_rng(5)
    hard = generator.normal(size=len(names))
    mine = {}
    for method, better in (("a", 0.3), ("b", 0.0)):
        own = better + generator.normal(0, 0.3, len(names))
        rows = [
            {"task": d, unit: n, "score": own[i] + hard[i] + generator.normal(0, 0.05)}
            for d in datasets
            for i, n in enumerate(names)
        ]
        frame = pd.DataFrame(rows).sample(frac=1, random_state=3)
        frame.to_csv(folder / f"{method}.csv", index=False)
        mine[method] = frame.groupby(unit)["score"].mean()
    return [folder / "a.csv", folder / "b.csv"], mine["a"] - mine["b"]


def test_a_unit_in_several_datasets_counts_once(tmp_path):
    paths, by_unit = files(tmp_path, [f"basin {n}" for n in range(20)])
    found = read_results(*paths).compare("score", higher_is_better=True)
    (pair,) = found.pairs
    own = stats.ttest_1samp(by_unit, 0.0)
    assert pair.p_raw == pytest.approx(own.pvalue, rel=1e-9)
    low, high = own.confidence_interval()
    assert (pair.difference.low, pair.difference.high) == pytest.approx((low, high), rel=1e-9)
    assert any("20 units stand in up to 3 datasets" in line for line in found.warnings)


def test_numbers_that_start_anew_in_every_dataset_are_other_items(tmp_path):
    paths, _ = files(tmp_path, range(20))
    found = read_results(*paths).compare("score", higher_is_better=True)
    assert not any("units stand in" in line for line in found.warnings)
    assert found.pairs[0].p_raw < 0.01


@pytest.mark.parametrize("same", [True, False])
def test_contents_tell_more_than_numbers(same):
    parts = []
    for task in ("plain", "cot"):
        for method in "ab":
            proofs = [f"{'' if same else task}{n}" for n in range(30)]
            values = np.random.default_rng(ord(method)).normal(size=30)
            frame = pd.DataFrame({"item": range(30), "evidence": proofs, "acc": values})
            frame = frame.assign(method=method, dataset=task)
            parts.append(Records(frame, "item", {"acc": True}, Source(__file__)))

    assert ("cluster" in join_items(parts, "acc").frame) is same
