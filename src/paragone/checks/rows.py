"""PG101, PG103 and PG113 to PG115: rows and groups that stand on both sides of a split."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.checks.arrays import row_codes, target_codes, union
from paragone.checks.coincidence import coincidence, shared_targets
from paragone.checks.finding import SHOWN, Ledger
from paragone.checks.material import Material, Side
from paragone.checks.registry import check
from paragone.checks.words import agree, counted, share
from paragone.data.prescriptions import prescriptions_of
from paragone.validation import IntArray

EXACT_ROWS = "rows on both sides, exactly"
TWO_ROLES = "rows in two roles"


@check(
    "PG101",
    "error",
    "held-out rows that occur in train",
    "remove the repeats, or name a groups column that keeps equal rows together",
    of="data",
)
def check_exact_rows(material: Material, ledger: Ledger) -> None:
    """Find held-out rows whose features equal those of a row of train."""
    dataset = material.dataset
    codes = row_codes(dataset.numbers)
    twins = [held_twins(codes, side) for side in material.sides]
    leaked = union(twins)
    note = ""
    if len(leaked):
        torn = np.unique(codes[leaked])
        chance = coincidence(dataset.numbers, codes, torn)
        shared = shared_targets(dataset, codes, torn)
        if chance.by_chance and shared.by_chance:
            note = (
                f"{len(leaked)} {agree(len(leaked), 'equals', 'equal')} a train row, as chance has"
                " it in such data"
            )
    ledger.look(EXACT_ROWS, material.n_held, "held-out rows", note)
    if note or not len(leaked):
        return
    sizes = np.bincount(codes)
    in_groups = int(sizes[sizes > 1].sum())
    # Rows of one number are one row under two numbers only where PG115 has something to say.
    ledger.find(
        "PG101",
        f"{share(len(leaked), material.n_held, 'held-out rows')}"
        f" {agree(len(leaked), 'equals', 'equal')} a row of the train side of the same split in"
        f" every feature ({_by_role(material, twins)});"
        f" {_with_same_target(material, codes, twins)}; in all {dataset.n_samples} rows,"
        f" {in_groups} {agree(in_groups, 'has', 'have')} a twin"
        f" ({counted(int((sizes > 1).sum()), 'sets of equal rows')});"
        f" {(shared if chance.by_chance else chance).sentence}",
        len(leaked),
        material.n_held,
        [
            f"fold {side.fold}: {side.role} row {row} equals train row {twin}"
            for side, found in zip(material.sides, twins, strict=True)
            for row, twin in _with_twins(codes, found[:SHOWN], side)
        ],
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


def _with_twins(codes: IntArray, rows: IntArray, side: Side) -> list[tuple[int, int]]:
    """Return rows, each with the first row of train that equals it."""
    return [(row, side.train[np.argmax(codes[side.train] == codes[row])]) for row in rows.tolist()]


@check(
    "PG115",
    "error",
    "row numbers on both sides of a split",
    "mend the stored folds: a row has one role a fold",
    of="data",
)
def check_row_numbers(material: Material, ledger: Ledger) -> None:
    """Find rows that are in train and held out in one split."""
    both = [np.intersect1d(side.train, side.held) for side in material.sides]
    rows = union(both)
    ledger.look("row numbers on both sides", material.n_held, "held-out rows")
    if len(rows):
        folds = sum(len(found) > 0 for found in both)
        ledger.find(
            "PG115",
            f"{counted(len(rows), 'rows')}"
            f" {agree(len(rows), 'stands in train and is', 'stand in train and are')} held out in"
            f" the same split, in {share(folds, len(both), 'splits')}",
            len(rows),
            material.n_held,
            [f"row {row}" for row in rows[:SHOWN]],
        )


def _by_role(material: Material, twins: list[IntArray]) -> str:
    roles: dict[str, list[IntArray]] = {}
    for side, found in zip(material.sides, twins, strict=True):
        roles.setdefault(side.role, []).append(found)
    return ", ".join(f"{len(union(found))} {role}" for role, found in roles.items())


def _with_same_target(material: Material, codes: IntArray, twins: list[IntArray]) -> str:
    target = target_codes(material.dataset.y)
    both = codes * (target.max() + 1) + target
    same = [
        found[np.isin(both[found], both[side.train])]
        for side, found in zip(material.sides, twins, strict=True)
    ]
    return f"{len(union(same))} of them with the same target as a twin"


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


@check(
    "PG113",
    "error",
    "evaluation rows that stand in train",
    "take them out of train, or acknowledge the repeats",
    of="lists",
)
@check(
    "PG114",
    "error",
    "rows set aside to choose on that stand in train or test",
    "say validation = 'file', so that they are taken out of train",
    of="lists",
)
def check_topk_rows(material: Material, ledger: Ledger) -> None:
    """Find evaluation and validation rows that stand in train, and rows chosen on that are evaluated on."""
    codes = prescription_codes(material)
    n_rows = material.dataset.n_samples
    ledger.look(TWO_ROLES, n_rows, "rows", "same tokens and same items")
    validation = {side.fold: side for side in material.sides if side.role == "validation"}
    for side in material.sides:
        if side.role == "test":
            _check_inside(material, codes, side, "PG113", ledger)
            chosen = validation.get(side.fold)
            if chosen is not None:
                _check_inside(material, codes, chosen, "PG114", ledger)
                on_both = Side(side.fold, "test", chosen.held, side.held)
                _check_inside(material, codes, on_both, "PG114", ledger, "the validation rows")
            _check_set_aside(material, side, ledger)


def _check_inside(
    material: Material,
    codes: IntArray,
    side: Side,
    code: str,
    ledger: Ledger,
    among: str = "train",
) -> None:
    leaked = side.held[np.isin(codes[side.held], codes[side.train])]
    if len(leaked):
        ledger.find(
            code,
            f"{share(len(leaked), len(side.held), f'{side.role} rows')} of fold {side.fold}"
            f" {agree(len(leaked), 'stands', 'stand')} in {among}, with the same tokens and the"
            " same items",
            len(leaked),
            len(side.held),
            [
                f"{side.role} row {row} equals row {twin} of {among}"
                for row, twin in _with_twins(codes, leaked[:SHOWN], side)
            ],
        )


def _check_set_aside(material: Material, side: Side, ledger: Ledger) -> None:
    """Find rows that the data set aside to choose on and that were left in train, by their number."""
    marked = material.dataset.validation_part
    if marked is None:
        return
    inside = side.train[marked[side.train]]
    if len(inside):
        ledger.find(
            "PG114",
            f"{len(inside)} of the {counted(int(marked.sum()), 'rows')} that the data set aside for"
            f" validation {agree(len(inside), 'stands', 'stand')} in train in fold {side.fold}:"
            " whatever is chosen on them was trained on them",
            len(inside),
            int(marked.sum()),
            [f"row {row}" for row in inside[:SHOWN]],
        )


@check(
    "PG103",
    "error",
    "groups on both sides of a split",
    "split by groups: kind = 'groups', or leave kind out",
    of="data",
)
def check_groups(material: Material, ledger: Ledger) -> None:
    """Find groups that stand in train and among the held-out rows of one split."""
    groups = material.dataset.groups
    if groups is None:
        return
    n_groups = len(np.unique(groups))
    ledger.look("groups on both sides", n_groups, "groups")
    torn: list[tuple[Side, NDArray[Any]]] = []
    for side in material.sides:
        both = np.intersect1d(groups[side.train], groups[side.held])
        if len(both):
            torn.append((side, both))
    if torn:
        found = union([names for _, names in torn])
        rows = union([side.held[np.isin(groups[side.held], names)] for side, names in torn])
        ledger.find(
            "PG103",
            f"{share(len(found), n_groups, 'groups')}"
            f" {agree(len(found), 'stands', 'stand')} on both sides of a split:"
            f" {share(len(rows), material.n_held, 'held-out rows')}"
            f" {agree(len(rows), 'has its', 'have their')} group in train, in"
            f" {share(len(torn), len(material.sides), 'splits')}",
            len(found),
            n_groups,
            [
                f"fold {side.fold}: group {name} is in train and among the {side.role} rows"
                for side, names in torn
                for name in names[:2]
            ],
        )
