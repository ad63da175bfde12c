"""PG101, PG103, PG104 and PG113 to PG115: rows, groups and replicates that stand on both sides of a split."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.checks.coincidence import coincidence, shared_targets
from paragone.checks.finding import SHOWN, Ledger
from paragone.checks.material import Material, Side, row_codes, target_codes
from paragone.checks.words import agree, counted, share
from paragone.data.prescriptions import prescriptions_of
from paragone.validation import IntArray

EXACT_ROWS = "rows on both sides, exactly"


def check_exact_rows(material: Material, ledger: Ledger) -> None:
    """Find held-out rows whose features equal those of a row of train, and rows that stand on both sides."""
    codes = row_codes(material.dataset.numbers)
    _check_numbers(material, ledger)
    twins = [held_twins(codes, side) for side in material.sides]
    leaked = np.unique(np.concatenate(twins)) if twins else np.empty(0, dtype=np.int64)
    unit = f"held-out rows of {material.name}"
    if not len(leaked):
        ledger.look(EXACT_ROWS, material.n_held, unit)
        return
    torn = np.unique(codes[leaked])
    chance = coincidence(material.dataset.numbers, codes, torn)
    shared = shared_targets(material.dataset, codes, torn)
    if chance.by_chance and shared.by_chance:
        ledger.look(
            EXACT_ROWS,
            material.n_held,
            unit,
            f"{len(leaked)} {agree(len(leaked), 'equals', 'equal')} a train row, as chance has it"
            " in such data",
        )
        return
    ledger.look(EXACT_ROWS, material.n_held, unit)
    sizes = np.bincount(codes)
    in_groups = int(sizes[sizes > 1].sum())
    # Rows of one number are one row under two numbers only where PG115 has something to say.
    ledger.find(
        "PG101",
        f"{share(len(leaked), material.n_held, 'held-out rows')}"
        f" {agree(len(leaked), 'equals', 'equal')} a row of the train side of the same split in"
        f" every feature ({_by_role(material, twins)});"
        f" {_with_same_target(material, codes, twins)}; in all {material.dataset.n_samples} rows,"
        f" {in_groups} {agree(in_groups, 'has', 'have')} a twin"
        f" ({counted(int((sizes > 1).sum()), 'sets of equal rows')});"
        f" {(shared if chance.by_chance else chance).sentence}",
        dataset=material.name,
        count=len(leaked),
        total=material.n_held,
        examples=_examples(material, codes, twins),
    )


def held_twins(codes: IntArray, side: Side) -> IntArray:
    """Return the held-out rows of a side that have an equal row, of another number, in train.

    Examples
    --------
    >>> held_twins(np.array([7, 8, 7]), Side(0, "test", np.array([0, 1]), np.array([2]))).tolist()
    [2]
    """
    held = side.held[~np.isin(side.held, side.train)]
    return np.asarray(held[np.isin(codes[held], codes[side.train])])


def _check_numbers(material: Material, ledger: Ledger) -> None:
    both = [np.intersect1d(side.train, side.held) for side in material.sides]
    rows = np.unique(np.concatenate(both)) if both else np.empty(0, dtype=np.int64)
    if len(rows):
        folds = sum(len(found) > 0 for found in both)
        ledger.find(
            "PG115",
            f"{counted(len(rows), 'rows')}"
            f" {agree(len(rows), 'stands in train and is', 'stand in train and are')} held out in"
            f" the same split, in {share(folds, len(both), 'splits')}",
            dataset=material.name,
            count=len(rows),
            total=material.n_held,
            examples=[f"row {row}" for row in rows[:SHOWN]],
        )


def _by_role(material: Material, twins: list[IntArray]) -> str:
    roles: dict[str, list[IntArray]] = {}
    for side, found in zip(material.sides, twins, strict=True):
        roles.setdefault(side.role, []).append(found)
    return ", ".join(
        f"{len(np.unique(np.concatenate(found)))} {role}" for role, found in roles.items()
    )


def _with_same_target(material: Material, codes: IntArray, twins: list[IntArray]) -> str:
    target = target_codes(material.dataset.y)
    both = codes * (target.max() + 1) + target
    same = [
        found[np.isin(both[found], both[side.train])]
        for side, found in zip(material.sides, twins, strict=True)
    ]
    return f"{len(np.unique(np.concatenate(same)))} of them with the same target as a twin"


def _examples(material: Material, codes: IntArray, twins: list[IntArray]) -> list[str]:
    named: list[str] = []
    for side, found in zip(material.sides, twins, strict=True):
        for row in found[: SHOWN - len(named)]:
            twin = side.train[np.flatnonzero(codes[side.train] == codes[row])[0]]
            named.append(f"fold {side.fold}: {side.role} row {row} equals train row {twin}")
    return named


TWO_ROLES = "rows in two roles"


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
    ledger.look(
        TWO_ROLES,
        material.dataset.n_samples,
        f"rows of {material.name}",
        "same tokens and same items",
    )
    by_fold: dict[int, dict[str, Side]] = {}
    for side in material.sides:
        by_fold.setdefault(side.fold, {})[side.role] = side
    for fold, roles in by_fold.items():
        test, validation = roles["test"], roles.get("validation")
        _check_inside(material, codes, test, "PG113", "test", fold, ledger)
        if validation is not None:
            _check_inside(material, codes, validation, "PG114", "validation", fold, ledger)
            chosen = Side(fold, "test", validation.held, test.held)
            _check_inside(
                material, codes, chosen, "PG114", "test", fold, ledger, among="the validation rows"
            )
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
        first = [
            (row, side.train[np.flatnonzero(codes[side.train] == codes[row])[0]])
            for row in leaked[:SHOWN]
        ]
        ledger.find(
            code,
            f"{share(len(leaked), len(side.held), f'{role} rows')} of fold {fold}"
            f" {agree(len(leaked), 'stands', 'stand')} in {among}, with the same tokens and the"
            " same items",
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
            f"{len(inside)} of the {counted(int(marked.sum()), 'rows')} that the data set aside for"
            f" validation {agree(len(inside), 'stands', 'stand')} in train in fold {fold}: whatever"
            " is chosen on them was trained on them",
            dataset=material.name,
            count=len(inside),
            total=int(marked.sum()),
            examples=[f"row {row}" for row in inside[:SHOWN]],
        )


def check_groups(material: Material, ledger: Ledger) -> None:
    """Find groups that stand in train and among the held-out rows of one split."""
    groups = material.dataset.groups
    if groups is None:
        return
    ledger.look("groups on both sides", len(np.unique(groups)), f"groups of {material.name}")
    torn = [np.intersect1d(groups[side.train], groups[side.held]) for side in material.sides]
    found = np.unique(np.concatenate(torn)) if torn else np.empty(0)
    if len(found):
        rows = np.unique(
            np.concatenate([s.held[np.isin(groups[s.held], t)] for s, t in _pairs(material, torn)])
        )
        ledger.find(
            "PG103",
            f"{share(len(found), len(np.unique(groups)), 'groups')}"
            f" {agree(len(found), 'stands', 'stand')} on both sides of a split:"
            f" {share(len(rows), material.n_held, 'held-out rows')}"
            f" {agree(len(rows), 'has its', 'have their')} group in train, in"
            f" {share(sum(len(t) > 0 for t in torn), len(torn), 'splits')}",
            dataset=material.name,
            count=len(found),
            total=len(np.unique(groups)),
            examples=[
                f"fold {side.fold}: group {name} is in train and among the {side.role} rows"
                for side, names in _pairs(material, torn)
                for name in names[:2]
            ],
        )


def _pairs(material: Material, torn: list[NDArray[Any]]) -> list[tuple[Side, NDArray[Any]]]:
    return [(side, names) for side, names in zip(material.sides, torn, strict=True) if len(names)]
