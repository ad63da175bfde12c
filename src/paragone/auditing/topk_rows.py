"""PG113 and PG114: rows of recommendation data that stand in two roles."""

from __future__ import annotations

import numpy as np

from paragone.auditing.finding import SHOWN, Ledger
from paragone.auditing.material import Material, Side
from paragone.data.prescription_sets import prescriptions_of
from paragone.validation import IntArray

CHECK = "rows in two roles"


def prescription_codes(material: Material) -> IntArray:
    """Number the rows so that rows with the same set of tokens and the same set of items have equal numbers."""
    rows = prescriptions_of(material.dataset.X, material.dataset.y)
    known: dict[tuple[frozenset[int], frozenset[int]], int] = {}
    codes = np.empty(rows.n_rows, dtype=np.int64)
    for row in range(rows.n_rows):
        tokens = rows.queries.indices[rows.queries.indptr[row] : rows.queries.indptr[row + 1]]
        items = rows.items[rows.indptr[row] : rows.indptr[row + 1]]
        key = frozenset(tokens.tolist()), frozenset(items.tolist())
        codes[row] = known.setdefault(key, len(known))
    return codes


def check_topk_rows(material: Material, ledger: Ledger) -> None:
    """Find evaluation and validation rows that stand in train, and rows chosen on that are evaluated on."""
    codes = prescription_codes(material)
    ledger.look(CHECK, material.dataset.n_samples, f"rows of {material.name}", "same tokens and same items")
    by_fold: dict[int, dict[str, Side]] = {}
    for side in material.sides:
        by_fold.setdefault(side.fold, {})[side.role] = side
    for fold, roles in by_fold.items():
        test, validation = roles["test"], roles.get("validation")
        _check_inside(material, codes, test, "PG113", "test", fold, ledger)
        if validation is not None:
            _check_inside(material, codes, validation, "PG114", "validation", fold, ledger)
            chosen = Side(fold, "test", validation.held, test.held)
            _check_inside(material, codes, chosen, "PG114", "test", fold, ledger, among="the validation rows")
        _check_set_aside(material, test, fold, ledger)


def _check_inside(
    material: Material,
    codes: IntArray,
    side: Side,
    code: str,
    role: str,
    fold: int,
    ledger: Ledger,
    among: str = "train",
) -> None:
    leaked = side.held[np.isin(codes[side.held], codes[side.train])]
    if len(leaked):
        first = [(row, side.train[np.flatnonzero(codes[side.train] == codes[row])[0]]) for row in leaked[:SHOWN]]
        ledger.find(
            code,
            f"{len(leaked)} of {len(side.held)} {role} rows of fold {fold} stand in {among}, with the same tokens and "
            "the same items",
            dataset=material.name,
            count=len(leaked),
            total=len(side.held),
            examples=[f"{role} row {row} equals row {twin} of {among}" for row, twin in first],
        )


def _check_set_aside(material: Material, side: Side, fold: int, ledger: Ledger) -> None:
    """Find rows that the data set aside to choose on and that were left in train, by their number."""
    marked = material.dataset.validation_part
    if marked is None:
        return
    inside = side.train[marked[side.train]]
    if len(inside):
        ledger.find(
            "PG114",
            f"{len(inside)} of the {int(marked.sum())} rows that the data set aside for validation stand in train in "
            f"fold {fold}: whatever is chosen on them was trained on them",
            dataset=material.name,
            count=len(inside),
            total=int(marked.sum()),
            examples=[f"row {row}" for row in inside[:SHOWN]],
        )
