"""Scores of groups as frames: physical samples and subjects instead of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from paragone.protocols.crossval.aggregation import Aggregate, aggregate_by_group
from paragone.protocols.crossval.frames import PLACE, place_of
from paragone.protocols.crossval.ledger import Predictions
from paragone.protocols.crossval.problem import Problem, Settings

if TYPE_CHECKING:
    import pandas as pd


def group_frame(
    problems: Sequence[Problem],
    settings: Settings,
    *,
    how: Aggregate | None = None,
    exclude_outliers: bool = False,
    metric: str | None = None,
) -> pd.DataFrame:
    """Return scores a physical sample beside those a spectrum: the same metric on aggregated predictions.

    Parameters
    ----------
    problems : sequence of Problem
        Those without groups are left out.
    settings : Settings
        As declared.
    how : {"mean", "median", "vote"}, optional
        Mean for regression, vote for classification where not given; probabilities are averaged.
    exclude_outliers : bool, default=False
        The MAD rule, see `aggregate_by_group`.
    metric : str, optional
        Another metric.

    Returns
    -------
    DataFrame
        One row a variant and role: ``val`` pooled out-of-fold, and ``test`` of the refit where there is one.
    """
    import pandas as pd

    rows = []
    for problem in problems:
        groups = problem.truth.groups
        if groups is None:
            continue
        scoring = settings.scoring(problem.truth.task, metric)
        for variant, chain in problem.chains.items():
            parts = {"val": chain.validation()}
            if chain.final is not None:
                parts["test"] = chain.final.test
            for role, part in parts.items():
                if not len(part):
                    continue
                found = aggregate_by_group(
                    part,
                    groups[part.samples],
                    task=problem.truth.task,
                    how=how,
                    exclude_outliers=exclude_outliers,
                    classes=chain.classes,
                )
                together = Predictions(np.arange(len(found.groups)), found.y_true, found.y_pred, found.probabilities)
                values = [scoring.of(part, chain.classes), scoring.of(together, chain.classes)]
                counts = [len(part), len(found.groups), int(found.excluded.sum())]
                rows.append([*place_of(problem, variant, settings), role, scoring.metric, *values, *counts])
    names = ["role", "metric", "by_row", "by_group", "n_rows", "n_groups", "n_excluded"]
    return pd.DataFrame(rows, columns=[*PLACE, *names])


def group_score_frame(problems: Sequence[Problem], settings: Settings, metric: str | None = None) -> pd.DataFrame:
    """Return the score of every variant on every group's out-of-fold predictions, ready to be paired by group.

    Parameters
    ----------
    problems : sequence of Problem
        Those without groups are left out.
    settings : Settings
        As declared.
    metric : str, optional
        Another metric.

    Returns
    -------
    DataFrame
        Columns ``dataset, target, group, method, metric, value``.
    """
    import pandas as pd

    rows = []
    for problem in problems:
        groups = problem.truth.groups
        if groups is None:
            continue
        scoring = settings.scoring(problem.truth.task, metric)
        for variant, chain in problem.chains.items():
            part = chain.validation()
            names, codes = np.unique(groups[part.samples], return_inverse=True)
            for code, name in enumerate(names.tolist()):
                value = scoring.of(part.rows(codes == code), chain.classes)
                rows.append([problem.dataset, problem.target, name, variant, scoring.metric, value])
    return pd.DataFrame(rows, columns=["dataset", "target", "group", "method", "metric", "value"])
