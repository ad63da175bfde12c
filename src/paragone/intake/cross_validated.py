"""What cross-validation of scikit-learn leaves: the dict of ``cross_validate`` and the ``cv_results_`` of a search."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from paragone.errors import InputError, argument
from paragone.intake.records import Condition, Records
from paragone.intake.source import Source
from paragone.stats.designs import Design, design_of

CERTAIN_FOLDS = 5
"""Up to so many scores are folds of one cross-validation; ten may as well be five repeats of two, or two of five."""
_SPLIT = re.compile(r"^split(?P<split>\d+)_test_(?P<scorer>.+)$")
SAME_SPLITS = (
    "That all methods were split the same way (one cv object, one random_state) is not told:"
    " cross_validate with return_indices=True keeps it."
)
WINNER = (
    "The best candidate of a search looks better than it is, because its folds chose it: its score"
    " is optimistic until rows that the search did not see confirm it."
)
HALVING = (
    "successive halving gives candidates different numbers of rows, so their folds are not paired"
)


@dataclass(frozen=True)
class CrossValidated:
    """Scores of one method on the splits of one dataset, and the rows of the splits where they are known."""

    method: str
    dataset: str
    scores: dict[str, np.ndarray]
    splits: tuple[tuple[np.ndarray, np.ndarray], ...] = ()
    searched: bool = False


def is_cross_validation(found: object) -> bool:
    """Say whether something is what ``cross_validate`` returns, as it is or as JSON."""
    return (
        isinstance(found, Mapping)
        and any(str(name).startswith("test_") for name in found)
        and all(
            isinstance(value, Sequence | Mapping | np.ndarray | pd.Series)
            for value in _tests(found).values()
        )
    )


def is_search(found: object) -> bool:
    """Say whether something is a ``cv_results_``."""
    return isinstance(found, Mapping) and any(_SPLIT.match(str(name)) for name in found)


def _tests(found: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(name): value for name, value in found.items() if str(name).startswith("test_")}


def of_cross_validation(found: Mapping[Any, Any], method: str, dataset: str) -> CrossValidated:
    """Take the dict of ``cross_validate`` apart.

    Examples
    --------
    >>> one = of_cross_validation({"fit_time": [1, 1], "test_score": [0.9, 0.8]}, "lr", "iris")
    >>> one.scores["test_score"].tolist()
    [0.9, 0.8]
    """
    scores = {
        name: _numbers(value, f"{name} of {method!r}") for name, value in _tests(found).items()
    }
    sizes = {len(values) for values in scores.values()}
    if len(sizes) != 1 or 0 in sizes:
        raise InputError(f"the scores of {method!r} have different numbers of folds")
    indices = found.get("indices")
    splits: tuple[tuple[np.ndarray, np.ndarray], ...] = ()
    if isinstance(indices, Mapping) and {"train", "test"} <= set(indices):
        splits = tuple(
            (np.asarray(train, dtype=np.int64), np.asarray(test, dtype=np.int64))
            for train, test in zip(indices["train"], indices["test"], strict=True)
        )
        if len(splits) != next(iter(sizes)):
            raise InputError(f"{method!r} has {next(iter(sizes))} scores and {len(splits)} splits")
    return CrossValidated(method, dataset, scores, splits)


def _numbers(values: Any, what: str) -> np.ndarray:
    if isinstance(values, Mapping):
        # A frame as JSON: the rows stand under their numbers.
        values = [values[key] for key in sorted(values, key=lambda key: int(key))]
    try:
        found = np.asarray(
            [np.nan if value is None else value for value in values], dtype=np.float64
        )
    except (TypeError, ValueError) as error:
        raise InputError(f"the {what} are not all numbers") from error
    if found.ndim != 1:
        raise InputError(f"the {what} are not one number per fold")
    return found


def of_search(found: Mapping[Any, Any], dataset: str, before: str = "") -> list[CrossValidated]:
    """Take a ``cv_results_`` apart: every candidate is a method, called by the parameters that differ.

    Examples
    --------
    >>> table = {"param_C": [1, 10], "split0_test_score": [0.8, 0.9], "split1_test_score": [0.7, 0.8]}
    >>> [(one.method, one.scores["test_score"].tolist()) for one in of_search(table, "iris")]
    [('C=1', [0.8, 0.7]), ('C=10', [0.9, 0.8])]
    """
    if "n_resources" in found and "iter" in found:
        raise InputError(HALVING)
    columns: dict[str, dict[int, np.ndarray]] = {}
    for name, values in found.items():
        match = _SPLIT.match(str(name))
        if match is not None:
            scorer = columns.setdefault(f"test_{match['scorer']}", {})
            scorer[int(match["split"])] = _numbers(values, str(name))
    for name, splits in columns.items():
        if sorted(splits) != list(range(len(splits))):
            lacking = next(number for number in range(len(splits)) if number not in splits)
            raise InputError(f"{name} has no column of split {lacking}")
    n = len(next(iter(next(iter(columns.values())).values())))
    names = _candidates(found, n)
    if len(set(names)) < n:
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(
            f"the candidate {twice!r} stands twice: the table holds two searches, keep one"
        )
    tables = {
        name: np.stack([splits[i] for i in range(len(splits))], axis=1)
        for name, splits in columns.items()
    }
    return [
        CrossValidated(
            f"{before}{names[i]}",
            dataset,
            {name: table[i] for name, table in tables.items()},
            searched=True,
        )
        for i in range(n)
    ]


def _candidates(found: Mapping[Any, Any], n: int) -> list[str]:
    settings = {
        str(name).removeprefix("param_"): [str(value) for value in _listed(values)]
        for name, values in found.items()
        if str(name).startswith("param_")
    }
    differing = {name: values for name, values in settings.items() if len(set(values)) > 1}
    if differing:
        return [
            ", ".join(f"{name}={values[i]}" for name, values in differing.items()) for i in range(n)
        ]
    params = [str(value) for value in _listed(found.get("params", []))]
    return params if len(params) == n else [f"candidate {i + 1}" for i in range(n)]


def _listed(values: Any) -> list[Any]:
    return list(values.values()) if isinstance(values, Mapping) else list(values)


def cross_validated_records(found: Iterable[CrossValidated], source: Source) -> list[Records]:
    """Return the records of cross-validated methods; what is not known of their splits is not guessed."""
    parts = []
    for one in found:
        n_splits = len(next(iter(one.scores.values())))
        frame = pd.DataFrame(
            {
                "method": one.method,
                "dataset": one.dataset,
                "fold": [str(i) for i in range(n_splits)],
                **one.scores,
            }
        )
        conditions = [Condition(one.dataset, "number of folds", str(n_splits), stops=True)]
        notes = [WINNER] if one.searched else []
        design: Design | None = (
            Design(n_splits, 1, 1 / (n_splits - 1)) if 1 < n_splits <= CERTAIN_FOLDS else None
        )
        if one.splits:
            design = design_of(
                [SimpleNamespace(train=train, test=test) for train, test in one.splits]
            )
            told = sha256(b"".join(test.tobytes() + b"|" for _, test in one.splits)).hexdigest()[
                :12
            ]
            conditions.append(Condition(one.dataset, "split into folds", told, stops=True))
        elif not one.searched:
            notes.append(SAME_SPLITS)
        if design is None and n_splits > 1:
            notes.append(
                f"{n_splits} scores may be one cross-validation or a repeated one, which"
                f" scikit-learn writes in one row: say {argument('repeats', 1)} or how many repeats"
                " there are."
            )
        parts.append(
            Records(
                frame,
                "fold",
                # Scorers are higher-better by convention, those of errors by their minus sign.
                dict.fromkeys(one.scores, True),
                source,
                conditions=tuple(conditions),
                notes=tuple(notes),
                designs={one.dataset: design},
                failures=True,
            )
        )
    return parts
