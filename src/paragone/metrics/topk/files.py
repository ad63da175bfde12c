"""A result as files: a table, the per-sample values, and the lists with their ties, enough to go on from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paragone.errors import InputError
from paragone.folders import replaced_folder, written_files
from paragone.metrics.topk.ranking import Ranking
from paragone.metrics.topk.result import TopKResult
from paragone.metrics.topk.truth import GroundTruth
from paragone.reading import read_arrays
from paragone.tables import frame_to_csv

if TYPE_CHECKING:
    import pandas as pd

LISTS = "lists.npz"


def result_json(result: TopKResult) -> dict[str, Any]:
    """Return the result as JSON can hold it; NaN becomes ``None``."""
    rows = result.table().drop(columns="name").to_dict("records")
    return {
        "k": list(result.ks),
        "ties": result.ties,
        "n": int(result.evaluated.sum()),
        "confidence": result.confidence,
        "scores": [{key: _plain(value) for key, value in row.items()} for row in rows],
        "errors": result.errors,
        "notes": list(result.notes),
    }


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and np.isnan(value) else value


def list_arrays(result: TopKResult) -> dict[str, NDArray[Any]]:
    """Return the lists, their ties and the truth as plain arrays, all that is needed to evaluate them anew."""
    arrays: dict[str, Any] = {
        "items": result.ranking.items,
        "n_items": np.asarray(result.ranking.n_items),
        "indptr": result.truth.indptr,
        "truth": result.truth.items,
        "places": np.asarray(result.ks[-1]),
    }
    if result.ranking.scores is not None:
        arrays["scores"] = result.ranking.scores
        arrays["tied"] = np.asarray(result.ranking.tied)
        arrays["tied_truth"] = np.asarray(result.ranking.tied_truth)
    return arrays


def lists_from_arrays(arrays: Mapping[str, NDArray[Any]], where: str = "arrays") -> tuple[Ranking, GroundTruth, int]:
    """Take what `list_arrays` gave: the lists, the truth and the largest cut-off.

    Examples
    --------
    >>> from paragone.metrics.topk import topk_scores
    >>> ranking, truth, places = lists_from_arrays(list_arrays(topk_scores([[0.1, 0.9]], [[1]], k=1)))
    >>> ranking.items.tolist(), truth.items.tolist(), places
    ([[1]], [1], 1)
    """
    missing = {"items", "n_items", "indptr", "truth", "places"} - set(arrays)
    if missing:
        raise InputError(f"{where} lacks {', '.join(sorted(missing))}: it was not written by this program")
    ranking = Ranking(
        arrays["items"], arrays.get("scores"), arrays.get("tied"), arrays.get("tied_truth"), int(arrays["n_items"])
    )
    return ranking, GroundTruth(arrays["indptr"], arrays["truth"]), int(arrays["places"])


def save_result(result: TopKResult, folder: str | Path, beside: Mapping[str, pd.DataFrame] | None = None) -> list[Path]:
    """Write a result into a folder; what an earlier one left there is replaced as a whole.

    Parameters
    ----------
    result : TopKResult
        Goes into ``scores.csv``, ``samples.csv``, ``result.json`` and ``lists.npz``.
    folder : str or Path
        Made where it is missing.
    beside : mapping of str to DataFrame, optional
        More tables, by the names of their files without the ending.

    Returns
    -------
    list of Path
        The files.
    """
    tables = {"scores": result.table(), "samples": result.samples(), **(beside or {})}
    with replaced_folder(folder, "topk") as content:
        for name, table in tables.items():
            frame_to_csv(table, content / f"{name}.csv")
        (content / "result.json").write_text(json.dumps(result_json(result), indent=1), encoding="utf-8")
        arrays: dict[str, Any] = list_arrays(result)
        np.savez_compressed(content / LISTS, **arrays)
        files = written_files(content)
    return [Path(folder) / name for name in files]


def load_lists(folder: str | Path) -> tuple[Ranking, GroundTruth, int]:
    """Read the lists, the truth and the largest cut-off that `save_result` wrote."""
    path = Path(folder) / LISTS
    if not path.exists():
        raise InputError(f"{folder} holds no {LISTS}: write it with `paragone topk evaluate ... --out {folder}`")
    return lists_from_arrays(read_arrays(path, str(path)), str(path))
