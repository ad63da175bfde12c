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
    tests = _tests(found)
    kinds = (Sequence, Mapping, np.ndarray, pd.Series)
    return bool(tests) and all(isinstance(value, kinds) for value in tests.values())


def is_search(found: object) -> bool:
    """Say whether something is a ``cv_results_``."""
    return isinstance(found, Mapping) and any(_SPLIT.match(str(name)) for name in found)


def _tests(found: object) -> dict[str, Any]:
    entries = found.items() if isinstance(found, Mapping) else ()
    return {str(name): value for name, value in entries if str(name).startswith("test_")}


def of_cross_validation(found: Mapping[Any, Any], method: str, dataset: str) -> CrossValidated:
    """Take the dict of ``cross_validate`` apart.

    Examples
    --------
    >>> one = of_cross_validation({"fit_time": [1, 1], "test_score": [0.9, 0.8]}, "lr", "iris")
    >>> one.scores["test_score"].tolist()
    [0.9, 0.8]
    """
    tests = _tests(found).items()
    scores = {name: _numbers(value, f"{name} of {method!r}") for name, value in tests}
    n, *others = {len(values) for values in scores.values()}
    if others or not n:
        raise InputError(f"the scores of {method!r} have different numbers of folds")
    indices = found.get("indices")
    splits: tuple[tuple[np.ndarray, np.ndarray], ...] = ()
    if isinstance(indices, Mapping) and {"train", "test"} <= set(indices):
        pairs = zip(indices["train"], indices["test"], strict=True)
        splits = tuple((np.array(train, int), np.array(test, int)) for train, test in pairs)
        if len(splits) != n:
            raise InputError(f"{method!r} has {n} scores and {len(splits)} splits")
    return CrossValidated(method, dataset, scores, splits)


def _listed(values: Any) -> list[Any]:
    """Return a column; of a frame as JSON the rows stand under their numbers."""
    if isinstance(values, Mapping):
        return [values[key] for key in sorted(values, key=int)]
    return list(values)


def _numbers(values: Any, what: str) -> np.ndarray:
    try:
        return np.array(
            [np.nan if value is None else float(value) for value in _listed(values)], dtype=float
        )
    except (TypeError, ValueError) as error:
        raise InputError(f"the {what} are not one number per fold") from error


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
    tables = {}
    for name, splits in columns.items():
        for number in range(len(splits)):
            if number not in splits:
                raise InputError(f"{name} has no column of split {number}")
        tables[name] = np.stack([splits[number] for number in range(len(splits))], axis=1)
    names = _candidates(found, len(next(iter(tables.values()))))
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(
            f"the candidate {twice!r} stands twice: the table holds two searches, keep one"
        )
    return [
        CrossValidated(before + name, dataset, {m: t[i] for m, t in tables.items()}, searched=True)
        for i, name in enumerate(names)
    ]


def _candidates(found: Mapping[Any, Any], n: int) -> list[str]:
    texts = {
        str(name): [str(one) for one in _listed(of)]
        for name, of in found.items()
        if str(name)[:5] == "param"
    }
    differing = {
        name.removeprefix("param_"): values
        for name, values in texts.items()
        if len(set(values)) > 1 and name != "params"
    }
    if differing:
        return [", ".join(f"{name}={of[i]}" for name, of in differing.items()) for i in range(n)]
    return texts.get("params") or [f"candidate {i + 1}" for i in range(n)]


def cross_validated_records(found: Iterable[CrossValidated], source: Source) -> list[Records]:
    """Return the records of cross-validated methods; what is not known of their splits is not guessed."""
    return [_records(one, source) for one in found]


def _records(one: CrossValidated, source: Source) -> Records:
    frame = pd.DataFrame(one.scores)
    n = len(frame)
    frame = frame.assign(method=one.method, dataset=one.dataset, fold=frame.index.astype(str))
    conditions = [Condition(one.dataset, "number of folds", str(n), stops=True)]
    notes = [WINNER] if one.searched else []
    design = Design(n, 1, 1 / (n - 1)) if 1 < n <= CERTAIN_FOLDS else None
    if one.splits:
        design = design_of([SimpleNamespace(train=train, test=test) for train, test in one.splits])
        told = sha256(b"".join(test.tobytes() + b"|" for _, test in one.splits)).hexdigest()
        conditions.append(Condition(one.dataset, "split into folds", told[:12], stops=True))
    elif not one.searched:
        notes.append(SAME_SPLITS)
    if design is None and n > 1:
        notes.append(
            f"{n} scores may be one cross-validation or a repeated one, which scikit-learn writes"
            f" in one row: say {argument('repeats', 1)} or how many repeats there are."
        )
    return Records(
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
