"""All that belongs around the numbers of one evaluation, in one call: guards, segments, beyond accuracy."""

from __future__ import annotations

from typing import Any

import numpy as np

from paragone.errors import InputError
from paragone.metrics.topk.beyond import beyond_accuracy
from paragone.metrics.topk.guards import Rows, check_rows
from paragone.metrics.topk.result import TopKResult
from paragone.metrics.topk.segments import segment_table


def look_around(result: TopKResult, train: Rows, evaluated: Rows, validation: Rows | None = None) -> dict[str, Any]:
    """Return ``findings`` (sentences), ``segments`` (a DataFrame) and ``beyond`` (lists over the cut-offs)."""
    n_items = result.ranking.n_items
    for rows in (train, evaluated):
        if len(rows.items) and int(rows.items.max()) >= n_items:
            raise InputError(f"rows name item {int(rows.items.max())}, the scores have {n_items} items")
    counts = np.bincount(train.items, minlength=n_items)
    beyond = beyond_accuracy(result, counts, len(train.indptr) - 1)
    return {
        "findings": [finding.message for finding in check_rows(train, evaluated, validation)],
        "segments": segment_table(result, train, evaluated),
        "beyond": {name: values.tolist() for name, values in beyond.items()},
    }
