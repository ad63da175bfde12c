"""A factor model ranked with PyTorch, on a GPU where there is one: products and selection never leave the device."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from paragone.errors import InputError
from paragone.metrics.topk.ranking import Factors, Ranking, mark_tied_truth, select_rows
from paragone.metrics.topk.truth import GroundTruth

# Rows multiplied at a time; fixed, because another size may round differently.
DEVICE_TILE = 16384
# Scores that share a lane (see `selection`): measured fastest of 16, 32 and 64 for rows of 20,000.
_STRIPES = 16


def rank_on_device(factors: Factors, truth: GroundTruth, places: int, device: str) -> Ranking:
    """Rank all items for all users on a device; equal scores by lower id, exactly as on the CPU.

    The top lanes of a row (strided subsets, by their maximum) hold its top places, so only those
    are sorted. A row in which a tie could reach across the last place is handed to the CPU kernels,
    with the device's own scores.

    Parameters
    ----------
    factors : Factors
        The model.
    truth : GroundTruth
        Decides which ties matter.
    places : int
        How many places to keep.
    device : str
        A PyTorch device, such as ``"cuda"``.

    Returns
    -------
    Ranking
        The lists and their ties.
    """
    torch = _torch(device)
    _check_range(factors)
    n_users, n_items = len(factors.users), len(factors.items)
    places = min(places, n_items)
    items = torch.as_tensor(np.ascontiguousarray(factors.items)).to(device)
    found = Ranking(
        np.empty((n_users, places), np.int32),
        np.empty((n_users, places), factors.users.dtype),
        np.empty(n_users, np.int32),
        np.zeros(len(truth.items), np.bool_),
        n_items,
    )
    with torch.no_grad():
        for start in range(0, n_users, DEVICE_TILE):
            part = factors.users[start : start + DEVICE_TILE]
            scores = tile_scores(
                torch, torch.as_tensor(np.ascontiguousarray(part)).to(device), items
            )[: len(part)]
            _rank_tile(torch, scores, n_items, start, found, truth)
    return found


def tile_scores(torch: Any, users: Any, items: Any) -> Any:
    """Multiply a tile; its columns are filled up with -inf to a multiple of the lanes."""
    n_items, stripes = len(items), min(_STRIPES, len(items))
    width = -(-n_items // stripes) * stripes
    if len(users) < DEVICE_TILE:
        users = torch.cat([users, users.new_zeros((DEVICE_TILE - len(users), users.shape[1]))])
    # Rows of zeros for the columns that are no items: one product then fills the whole tile.
    padded = (
        torch.cat([items, items.new_zeros((width - n_items, items.shape[1]))])
        if width > n_items
        else items
    )
    scores = torch.matmul(users, padded.T)
    scores[:, n_items:] = -torch.inf
    return scores


def select_tile(torch: Any, scores: Any, n_items: int, places: int) -> tuple[Any, Any, Any]:
    """Return items, their scores, and the rows in which a tie may reach across the last place."""
    stripes = min(_STRIPES, n_items)
    lanes = scores.shape[1] // stripes
    maxima = scores.view(len(scores), stripes, lanes).amax(dim=1)
    n_lanes = min(places, lanes)
    top = torch.topk(maxima, min(places + 1, lanes), dim=1)
    steps = torch.arange(stripes, device=scores.device) * lanes
    columns = (top.indices[:, :n_lanes, None] + steps).flatten(1)
    best = torch.topk(scores.gather(1, columns), min(places + 1, columns.shape[1]), dim=1)
    values, ids = best.values[:, :places], columns.gather(1, best.indices[:, :places])
    last = values[:, -1]
    doubtful = torch.zeros(len(scores), dtype=torch.bool, device=scores.device)
    if best.values.shape[1] > places:
        doubtful |= best.values[:, places] == last
    if top.values.shape[1] > n_lanes:
        doubtful |= top.values[:, n_lanes] == last
    # topk leaves equal scores in any order: sort by id first, then stably by score.
    ids, order = torch.sort(ids, dim=1)
    values, order = torch.sort(values.gather(1, order), dim=1, descending=True, stable=True)
    return ids.gather(1, order), values, doubtful


def _rank_tile(
    torch: Any, scores: Any, n_items: int, start: int, found: Ranking, truth: GroundTruth
) -> None:
    assert found.scores is not None
    assert found.tied is not None
    ids, values, doubtful = select_tile(torch, scores, n_items, found.items.shape[1])
    rows = slice(start, start + len(scores))
    found.items[rows] = ids.to(torch.int32).cpu().numpy()
    found.scores[rows] = values.cpu().numpy()
    found.tied[rows] = (values == values[:, -1:]).sum(dim=1).to(torch.int32).cpu().numpy()
    if bool(doubtful.any()):
        local = torch.nonzero(doubtful).ravel()
        _settle_ties(
            scores[local, :n_items].contiguous().cpu().numpy(),
            local.cpu().numpy() + start,
            found,
            truth,
        )


def _settle_ties(scores: Any, rows: Any, found: Ranking, truth: GroundTruth) -> None:
    """Select some rows anew with the CPU kernels, which know all about ties."""
    assert found.scores is not None
    assert found.tied is not None
    assert found.tied_truth is not None
    items, values, tied = (
        np.empty_like(found.items[rows]),
        np.empty_like(found.scores[rows]),
        found.tied[rows],
    )
    select_rows(scores, 0, items, values, tied)
    part = truth.take(rows)
    marks = np.zeros(len(part.items), np.bool_)
    mark_tied_truth(scores, 0, items, values, part.indptr, part.items, marks)
    found.items[rows], found.scores[rows], found.tied[rows] = items, values, tied
    entries = np.arange(len(part.items)) + np.repeat(
        truth.indptr[:-1][rows] - part.indptr[:-1], part.sizes
    )
    found.tied_truth[entries] = marks


def _check_range(factors: Factors) -> None:
    if factors.users.dtype != factors.items.dtype or factors.users.dtype not in (
        np.float32,
        np.float64,
    ):
        raise InputError("factors on a device must both be float32 or both be float64")
    norms = [
        np.linalg.norm(part.astype(np.float64), axis=1).max()
        for part in (factors.users, factors.items)
    ]
    # No product can be larger than the product of the norms, so a finite bound makes every score
    # finite.
    if not norms[0] * norms[1] < np.finfo(factors.users.dtype).max:
        raise InputError("factors hold NaN, infinite or too large values: scores must be finite")


def _torch(device: str) -> Any:
    try:
        torch = import_module("torch")
    except ImportError as error:
        raise InputError(
            "a device needs PyTorch, which is not installed: pip install 'paragone[recsys]'"
        ) from error
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"device {device!r} cannot be used: {reason}") from error
    return torch
