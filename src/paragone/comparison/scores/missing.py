"""What a missing or failed score counts as: declared, applied, and said."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import pandas as pd

from paragone.errors import InputError, unknown_name

Missing = Literal["complete", "worst", "refuse"]

HAIR = 1e-6
"""A failure lies this much (relative) below the worst score that was measured, so that it ranks last."""


def fill_blocks(
    blocks: pd.DataFrame, policy: Missing, *, higher_is_better: bool
) -> tuple[pd.DataFrame, tuple[str, ...], tuple[str, ...]]:
    """Apply the policy to a frame of blocks (dataset, fold) x methods.

    Parameters
    ----------
    blocks : DataFrame
        Indexed by (dataset, fold), one column a method; missing and failed scores are NaN.
    policy : {"complete", "worst", "refuse"}
        Keep only the blocks that all methods have; let a failure count as just below the worst score of
        its block; or stop at the first missing score.
    higher_is_better : bool
        The metric's direction.

    Returns
    -------
    blocks : DataFrame
        Without a missing value.
    dropped : tuple of str
        Names of the blocks that were left out.
    warnings : tuple of str
        What was done, in words.

    Examples
    --------
    >>> import pandas as pd
    >>> index = pd.MultiIndex.from_tuples([("iris", ""), ("wine", "")], names=["dataset", "fold"])
    >>> blocks = pd.DataFrame({"A": [0.9, 0.8], "B": [0.7, None]}, index=index)
    >>> kept, dropped, _ = fill_blocks(blocks, "complete", higher_is_better=True)
    >>> len(kept), dropped
    (1, ('wine',))
    """
    if policy not in get_args(Missing):
        raise unknown_name("policy for missing scores", policy, get_args(Missing))
    _refuse_empty_methods(blocks)
    missing = blocks.isna()
    if not missing.to_numpy().any():
        return blocks, (), ()
    if policy == "refuse":
        block, method = next((b, m) for b, row in missing.iterrows() for m in row.index[row])
        raise InputError(
            f"method {method!r} has no score on {block_name(block)} ({int(missing.to_numpy().sum())} missing in "
            "all): run it, or choose missing=complete or missing=worst"
        )
    return _complete(blocks, missing) if policy == "complete" else _worst(blocks, missing, higher_is_better)


def block_name(block: tuple[str, str]) -> str:
    """Return how a block is called in a sentence.

    Examples
    --------
    >>> block_name(("iris", "3")), block_name(("iris", ""))
    ('iris fold 3', 'iris')
    """
    return f"{block[0]} fold {block[1]}" if block[1] else block[0]


def _refuse_empty_methods(blocks: pd.DataFrame) -> None:
    empty = blocks.columns[blocks.isna().all(axis=0)]
    if len(empty):
        raise InputError(f"method {empty[0]!r} has not one finite score: leave it out or run it again")


def _complete(blocks: pd.DataFrame, missing: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...], tuple[str, ...]]:
    incomplete = missing.any(axis=1).to_numpy()
    kept = blocks[~incomplete]
    if kept.empty:
        raise InputError("no dataset and fold has a score of every method: nothing is left to compare")
    dropped = tuple(block_name(block) for block in blocks.index[incomplete])
    by_method = missing.sum(axis=0)
    who = ", ".join(f"{method} {count}" for method, count in by_method[by_method > 0].items())
    gone = sorted(set(blocks.index.get_level_values(0)) - set(kept.index.get_level_values(0)))
    whole = f" Whole datasets left out: {listed(gone)}." if gone else ""
    warning = (
        f"{len(dropped)} of {len(blocks)} blocks were left out because a method has no score there "
        f"(missing: {who}): {listed(dropped)}.{whole}"
    )
    return kept, dropped, (warning,)


def _worst(
    blocks: pd.DataFrame, missing: pd.DataFrame, higher_is_better: bool
) -> tuple[pd.DataFrame, tuple[str, ...], tuple[str, ...]]:
    nobody = missing.all(axis=1).to_numpy()
    kept = blocks[~nobody]
    worst = kept.min(axis=1) if higher_is_better else kept.max(axis=1)
    hair = HAIR * np.maximum(kept.abs().max(axis=1), np.finfo(float).tiny)
    last = worst - hair if higher_is_better else worst + hair
    filled = kept.apply(lambda column: column.fillna(last))
    names = [f"{m} on {block_name(b)}" for b, row in missing[~nobody].iterrows() for m in row.index[row]]
    warnings = [f"{len(names)} missing scores count as just below the worst of their block: {listed(names)}."]
    dropped = tuple(block_name(block) for block in blocks.index[nobody])
    if dropped:
        warnings.append(f"Blocks where no method has a score were left out: {listed(dropped)}.")
    return filled, dropped, tuple(warnings)


def listed(names: list[str] | tuple[str, ...], most: int = 8) -> str:
    """Return names in a row, the first few of many.

    Examples
    --------
    >>> listed(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
