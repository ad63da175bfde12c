"""Results that are in memory already: what scikit-learn and skore return, compared without a file between."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from paragone.errors import InputError
from paragone.intake.collect import Collected, collect
from paragone.intake.cross_validated import (
    CrossValidated,
    cross_validated_records,
    is_cross_validation,
    is_search,
    of_cross_validation,
    of_search,
)
from paragone.intake.folders import few
from paragone.intake.records import Records
from paragone.intake.source import Source
from paragone.metrics import read_name


def from_objects(objects: Mapping[str, Any] | Any, *, dataset: str = "data") -> Collected:
    """Take in results that other libraries returned, each under the name of its method.

    Parameters
    ----------
    objects : mapping of str to object
        By method: what ``cross_validate`` returned, a fitted search or its ``cv_results_``, or a
        report of skore. A mapping of such mappings is taken as dataset by dataset. A single report
        that compares several, or a single search, needs no name.
    dataset : str
        What the data are called, where the objects are not mapped by dataset.

    Returns
    -------
    Collected
        Ready to be compared.

    Examples
    --------
    >>> scores = {"lr": {"test_score": [0.9, 0.8, 0.9]}, "svm": {"test_score": [0.8, 0.7, 0.7]}}
    >>> found = from_objects(scores)
    >>> found.methods, found.scores()["value"].tolist()
    (['lr', 'svm'], [0.9, 0.8, 0.9, 0.8, 0.7, 0.7])
    """
    parts: list[Records] = []
    for name, of_dataset, one in _entries(objects, dataset):
        parts += records_of_object(one, name, of_dataset, Source(Path(name or "object")))
    if not parts:
        raise InputError(
            "there is nothing to compare: give a mapping from names of methods to their results"
        )
    return collect([replace(one, reader=one.reader or "scikit-learn") for one in parts])


def _entries(objects: Any, dataset: str) -> Iterable[tuple[str, str, Any]]:
    if not isinstance(objects, Mapping) or is_cross_validation(objects) or is_search(objects):
        yield "", dataset, objects
        return
    for name, one in objects.items():
        if isinstance(one, Mapping) and not is_cross_validation(one) and not is_search(one):
            yield from ((str(method), str(name), inner) for method, inner in one.items())
        else:
            yield str(name), dataset, one


def records_of_object(found: Any, name: str, dataset: str, source: Source) -> list[Records]:
    """Return the records of one object: a cross-validation, a search, a report; others are refused."""
    if isinstance(found, pd.DataFrame):
        found = found.to_dict("list")
    results = getattr(found, "cv_results_", found)
    if is_search(results):
        before = f"{name}: " if name else ""
        return cross_validated_records(of_search(results, dataset, before), source)
    if is_cross_validation(found):
        one = of_cross_validation(found, name or "method", dataset)
        return cross_validated_records([one], source)
    reports = getattr(found, "reports_", None)
    if reports is not None and hasattr(found, "split_indices"):
        return [_of_report(found, name, dataset, source)]
    if reports is not None:
        if not isinstance(reports, Mapping):
            reports = {one.estimator_name_: one for one in reports}
        if len(reports) < len(found.reports_):
            raise InputError(
                "two reports are of estimators with one name: compare them under names of their own"
            )
        found = (records_of_object(one, str(n), dataset, source) for n, one in reports.items())
        return list(chain.from_iterable(found))
    if hasattr(found, "estimator_name_") and hasattr(found, "metrics"):
        raise InputError(
            f"the report of {name or found.estimator_name_!r} is of one split: cross-validate it"
        )
    raise InputError(
        f"{name or 'the object'} is {type(found).__name__}: what cross_validate returns, a fitted"
        " search, its cv_results_ or a report of skore is needed"
    )


def _of_report(report: Any, name: str, dataset: str, source: Source) -> Records:
    """Return the records of a cross-validation report of skore, by what its own summary says of every split."""
    table = report.metrics.summarize().frame(aggregate=None)
    splits = tuple((np.asarray(train), np.asarray(test)) for train, test in report.split_indices)
    if table.shape[1] != len(splits):
        raise InputError(
            f"the report of {name!r} shows {table.shape[1]} splits and has {len(splits)}"
        )
    table.index = [
        "_".join(filter(None, key)) if isinstance(key, tuple) else key for key in table.index
    ]
    table.index = table.index.str.lower().str.replace(" ", "_")
    scores = {key: row.to_numpy(float) for key, row in table.iterrows() if read_name(key).is_score}
    if not scores:
        raise InputError(f"the report of {name!r} holds no metric whose direction is known")
    one = CrossValidated(name or str(report.estimator_name_), dataset, scores, splits)
    (found,) = cross_validated_records([one], source)
    others = [key for key in table.index if key not in scores]
    notes = (*found.notes, *([f"Left out of the reports: {few(others)}."] if others else []))
    return replace(found, metrics=dict.fromkeys(scores), notes=notes, reader="skore")
