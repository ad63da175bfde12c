"""What the stored predictions of an experiment say of chance: the moments of rows, dataset by dataset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from paragone.errors import InputError
from paragone.metrics import Metric, find_metric, is_at_hand
from paragone.stats.designs import Design
from paragone.stats.stored_rows import StoredRows, mean_slopes, stored_moments

if TYPE_CHECKING:
    from paragone.lab.view import View


def rows_of(view: View, metric: str | None) -> dict[str, StoredRows]:
    """Return what the rows of an experiment's datasets tell of its methods, by the names of the store.

    Parameters
    ----------
    view : View
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
    designs = view.results.designs(view.experiment)
    for dataset in view.scores["dataset"].unique().tolist():
        design, known = designs.get(dataset), view.reader.row_metric(view, dataset, metric)
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
    view: View, dataset: str, design: Design, metric: Metric, facts: Mapping[str, Any]
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
    moments = stored_moments(splits, design, metric, groups)
    if isinstance(moments, str):
        return None
    found = StoredRows(
        tuple(slopes),
        np.array([[one.value for one in split] for split in splits]),
        moments,
        with_dice=frozenset(facts["dice"]),
    )
    logarithms = stored_moments(splits, design, metric, groups, logarithms=True)
    if not metric.has_unit or isinstance(logarithms, str):
        return found
    return replace(found, logarithms=logarithms)
