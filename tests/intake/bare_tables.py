"""Forty tables as people leave them about, and a judge of what is answered without one option.

The judge computes by itself, with SciPy, from the reading that stands beside a shape: whether the
methods are those, who is ahead how often, and what the test says of every pair.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy import stats

from answers import raw_p, words_of_superiority
from intake.shape_changes import plain_name
from intake.shapes import SHAPES, Reading, Shape

NAMES = (
    "model_comparison", "train_and_test_errors", "hyphens_and_areas", "means_and_spreads_of_folds", "ml_model_name",
    "model_type", "leaderboard_of_win_rates", "scores_and_times", "vision_models", "forecasters",
    "log_of_experiments", "log_with_a_dataset", "speech_leaderboard", "test_accuracy_and_f1_of_sets",
    "benchmarks_with_suffixes", "metrics_down_the_side", "folds_in_columns", "folds_down_the_side",
    "properties_of_datasets", "an_average_as_a_column", "the_best_of_the_others", "summary_rows_below",
    "an_average_of_benchmarks", "win_rates_and_their_average", "index_of_pandas", "questions_under_prompts",
    "seeds_on_datasets", "headings_classifier_name_dataset_name", "headings_algo_env_id", "year_and_encoder_beside",
    "metric_names_in_a_column", "several_metrics_of_a_long_table", "iterations_are_asked_about", "tasks_at_budgets",
    "times_of_platforms_and_sizes", "two_header_rows", "spreads_and_changes_behind_numbers", "bold_winners",
    "questions_of_tasks", "questions_with_models_in_columns",
)  # fmt: skip
BARE: tuple[Shape, ...] = tuple(SHAPES[name] for name in NAMES)


@dataclass(frozen=True)
class OwnPair:
    """What is computed here of a pair, as seen from its first method."""

    wins: int
    ties: int
    losses: int
    mean: float
    p: float | None


def means_of(reading: Reading) -> dict[str, dict[str, float]]:
    """Return the mean of every method on every dataset, or its value on every unit where there is one dataset."""
    found: dict[str, dict[str, list[float]]] = {}
    by_unit = reading.units[0] in ("item", "subject") or len(reading.datasets) == 1
    for (method, dataset, unit), value in reading.values.items():
        name = f"{dataset} {unit}" if by_unit else dataset
        found.setdefault(plain_name(method, reading.affixes), {}).setdefault(name, []).append(value)
    return {
        method: {name: float(np.mean(values)) for name, values in theirs.items()}
        for method, theirs in found.items()
    }


def own_pairs(reading: Reading) -> dict[tuple[str, str], OwnPair]:
    """Compute every pair; a p only where datasets are the units, which are tested by their signed ranks."""
    means = means_of(reading)
    found = {}
    for first, second in combinations(means, 2):
        units = [unit for unit in means[first] if unit in means[second]]
        differences = np.array([means[first][unit] - means[second][unit] for unit in units])
        differences[np.abs(differences) < 1e-12] = 0.0
        if not reading.higher:
            differences = -differences
        found[first, second] = OwnPair(
            int((differences > 0).sum()),
            int((differences == 0).sum()),
            int((differences < 0).sum()),
            float(differences.mean()),
            _signed_ranks(differences)
            if len(reading.datasets) > 1 and reading.units[0] in ("dataset", "fold")
            else None,
        )
    return found


def _signed_ranks(differences: np.ndarray) -> float:
    """Return the exact two-sided p of Wilcoxon's signed ranks by going through all signs."""
    kept = differences[differences != 0]
    ranks = stats.rankdata(np.abs(kept))
    signs = 1 - 2 * ((np.arange(2 ** len(kept))[:, None] >> np.arange(len(kept))) & 1)
    sums = signs @ ranks
    return float(np.mean(np.abs(sums) >= abs(float(np.sign(kept) @ ranks)) - 1e-9))


def judged(shape: Shape, answer: Mapping[str, Any], printed: str) -> str:
    """Say what is false in an answer that was given; nothing where it is right."""
    reading = shape.reading
    methods = {plain_name(m, reading.affixes) for m in reading.methods}
    got = {plain_name(m, reading.affixes) for m in answer["methods"]}
    if got != methods:
        return f"methods {sorted(got)}, expected {sorted(methods)}"
    if not shape.testable:
        words = words_of_superiority(printed)
        return f"says {words} where nothing can be tested" if words or answer.get("pairs") else ""
    if answer["higher_is_better"] is not reading.higher:
        return f"higher_is_better is {answer['higher_is_better']}"
    own = own_pairs(reading)
    for row in answer["pairs"]:
        names = (
            plain_name(row["method"], reading.affixes),
            plain_name(row["rival"], reading.affixes),
        )
        sign = 1 if names in own else -1
        mine = own[names[::sign]]
        if (row["wins"], row["ties"], row["losses"])[::sign] != (mine.wins, mine.ties, mine.losses):
            return f"{names}: won {row['wins']}, tied {row['ties']}, lost {row['losses']}, expected {mine}"
        if mine.p is not None and abs(raw_p(row) - mine.p) > 1e-6:
            return f"{names}: p {raw_p(row)}, expected {mine.p}"
    return ""


def choices(shape: Shape) -> dict[str, str]:
    """Return what a person would choose where a question leaves the value open."""
    return dict(zip(shape.options[::2], shape.options[1::2], strict=True))
