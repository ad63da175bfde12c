"""PG101 and PG115: held-out rows that occur in train, by their content and by their number."""

from __future__ import annotations

import numpy as np

from paragone.auditing.finding import SHOWN, Ledger
from paragone.auditing.material import Material, Side, row_codes, target_codes
from paragone.validation import IntArray

CHECK = "rows on both sides, exactly"


def check_exact_rows(material: Material, ledger: Ledger) -> None:
    """Find held-out rows whose features equal those of a row of train, and rows that stand on both sides."""
    codes = row_codes(material.dataset.X)
    ledger.look(CHECK, material.n_held, f"held-out rows of {material.name}")
    _check_numbers(material, ledger)
    twins = [held_twins(codes, side) for side in material.sides]
    leaked = np.unique(np.concatenate(twins)) if twins else np.empty(0, dtype=np.int64)
    if not len(leaked):
        return
    sizes = np.bincount(codes)
    in_groups = int(sizes[sizes > 1].sum())
    # Rows of one number are one row under two numbers only where PG115 has something to say.
    ledger.find(
        "PG101",
        f"{len(leaked)} of {material.n_held} held-out rows equal a row of the train side of their split in every "
        f"feature ({_by_role(material, twins)}); {_with_same_target(material, codes, twins)}; in all "
        f"{material.dataset.n_samples} rows, {in_groups} have a twin ({int((sizes > 1).sum())} sets of equal rows)",
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
            f"{len(rows)} rows stand in train and are held out in the same split, in {folds} of {len(both)} splits",
            dataset=material.name,
            count=len(rows),
            total=material.n_held,
            examples=[f"row {row}" for row in rows[:SHOWN]],
        )


def _by_role(material: Material, twins: list[IntArray]) -> str:
    roles: dict[str, list[IntArray]] = {}
    for side, found in zip(material.sides, twins, strict=True):
        roles.setdefault(side.role, []).append(found)
    return ", ".join(f"{len(np.unique(np.concatenate(found)))} {role}" for role, found in roles.items())


def _with_same_target(material: Material, codes: IntArray, twins: list[IntArray]) -> str:
    target = target_codes(material.dataset.y)
    both = codes * (target.max() + 1) + target
    same = [found[np.isin(both[found], both[side.train])] for side, found in zip(material.sides, twins, strict=True)]
    return f"{len(np.unique(np.concatenate(same)))} of them with the same target as a twin"


def _examples(material: Material, codes: IntArray, twins: list[IntArray]) -> list[str]:
    named: list[str] = []
    for side, found in zip(material.sides, twins, strict=True):
        for row in found[: SHOWN - len(named)]:
            twin = side.train[np.flatnonzero(codes[side.train] == codes[row])[0]]
            named.append(f"fold {side.fold}: {side.role} row {row} equals train row {twin}")
    return named
