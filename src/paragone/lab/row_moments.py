"""What the stored predictions of an experiment say of chance: moments of rows, by dataset."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from paragone.errors import InputError
from paragone.metrics import Metric, find_metric, is_at_hand
from paragone.stats.designs import Design
from paragone.stats.stored_rows import SplitSlopes, StoredRows, mean_slopes, stored_moments

_OF_A_CLASS = re.compile(r"f1|f_beta|precision|recall|jaccard")
TOSS_UP = 1.05
"""Two classes whose numbers of rows differ by less may change places in another sample."""


def rows_of(view: Any, metric: str | None) -> dict[str, StoredRows]:
    """Return what the rows of an experiment tell of its methods, by the names of the store.

    Parameters
    ----------
    view : View, which imports this module
        The experiment.
    metric : str or None
        The metric that is compared, as scores call it.

    Returns
    -------
    dict of str to StoredRows
        Only of the datasets whose rows tell; nothing of a store that does not say which rows belong
        together.
    """
    facts = view.described.get("rows")
    if metric is None or facts is None:
        return {}
    found = {}
    for dataset, design in view.results.designs(view.experiment).items():
        known = view.reader.row_metric(view, dataset, metric)
        if design is None or known is None:
            continue
        told = _of_dataset(view, dataset, design, known, facts)
        if told is not None:
            found[dataset] = told
    return found


def computable(metric: str, task: str) -> Metric | None:
    """Return a metric whose function is at hand: no code runs that a file names."""
    if not is_at_hand(metric):
        return None
    try:
        return find_metric(metric, task)
    except InputError:
        return None


def _of_dataset(
    view: Any, dataset: str, design: Design, metric: Metric, facts: Mapping[str, Any]
) -> StoredRows | None:
    groups = view.reader.groups_of(view, dataset)
    if groups is None and dataset in facts["grouped"]:
        return None
    slopes = {}
    for method in view.described["methods"]:
        mine = view.reader.row_slopes(view, dataset, method, metric)
        if set(mine) == set(range(design.n_splits)):
            slopes[method] = [mean_slopes(mine[fold]) for fold in range(design.n_splits)]
    if not slopes:
        return None
    splits = list(zip(*slopes.values(), strict=True))
    scores = np.array([[one.value for one in split] for split in splits])
    moments = stored_moments(splits, design, metric, groups)
    if isinstance(moments, str):
        why = f"On {dataset} the intervals come from the folds alone: {moments}."
        return StoredRows(tuple(slopes), scores, None, warnings=(why,))
    found = StoredRows(
        tuple(slopes),
        scores,
        moments,
        with_dice=frozenset(facts["dice"]),
        warnings=tuple(_warnings(view, dataset, design, metric, splits[0][0])),
    )
    logarithms = stored_moments(splits, design, metric, groups, logarithms=True)
    if not metric.has_unit or isinstance(logarithms, str):
        return found
    return replace(found, logarithms=logarithms)


def _warnings(
    view: Any, dataset: str, design: Design, metric: Metric, split: SplitSlopes
) -> Iterator[str]:
    """Say where simulation found a level that is not kept, and where it can be seen."""
    methods = view.described["methods"]
    uses = {name: str(facts) for name, facts in methods.items()}
    known = view.dataset_facts.get(view.name(dataset), {})
    n_train = known.get("n_samples", 0) / (1 + design.ratio)
    for name, use in uses.items():
        if "LinearRegression" in use and known.get("n_features", 0) > n_train / 2:
            yield (
                f"{name} is least squares without a penalty, with nearly as many columns as rows:"
                " its intervals are too narrow."
            )
    constants = [name for name, use in uses.items() if "DummyClassifier" in use]
    if split.labels is None or not constants or not _OF_A_CLASS.match(metric.name):
        return
    counts = np.sort(np.unique(split.labels, return_counts=True)[1])
    if len(counts) > 1 and counts[-1] <= TOSS_UP * counts[-2]:
        yield (
            f"Which class {constants[0]} predicts is a toss-up that all folds share, and"
            f" {metric.title} hangs on it: what is said against it may be luck."
        )
