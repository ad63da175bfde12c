"""Comparison results as DataFrames and as plain values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from paragone.stats.family import ALL_PAIRS, ANY_FAMILY, TITLES, Family, Pair, choose_family
from paragone.stats.ranks import Friedman
from paragone.stats.scores import ScoreTable
from paragone.ties import FloatArray

if TYPE_CHECKING:
    from paragone.stats.result import Comparison


def pairs_frame(pairs: Sequence[Pair]) -> pd.DataFrame:
    """Return one row a pair."""
    return pd.DataFrame([_pair_row(pair) for pair in pairs])


def _pair_row(pair: Pair) -> dict[str, Any]:
    posterior = pair.posterior
    return {
        "method": pair.method,
        "rival": pair.rival,
        "verdict": pair.verdict,
        "p": pair.p,
        "p_adjusted": pair.p_adjusted,
        "exact": pair.test.exact,
        "n_used": pair.test.n_used,
        "mean_difference": pair.mean_difference,
        "mean_low": pair.mean_low,
        "mean_high": pair.mean_high,
        "median_difference": pair.median_difference,
        "median_low": pair.median_low,
        "median_high": pair.median_high,
        "wins": len(pair.won),
        "ties": len(pair.tied),
        "losses": len(pair.lost),
        "cliffs_delta": pair.cliffs_delta,
        "a12": pair.a12,
        "rank_biserial": pair.rank_biserial,
        "p_better": math.nan if posterior is None else posterior.better,
        "p_equal": math.nan if posterior is None else posterior.equal,
        "p_worse": math.nan if posterior is None else posterior.worse,
        "smallest_p": pair.test.smallest_p,
        "smallest_p_adjusted": pair.smallest_p_adjusted,
        "datasets_needed": pair.datasets_needed,
        "flipped_by": "; ".join(pair.flipped_by),
        "won": "; ".join(pair.won),
        "lost": "; ".join(pair.lost),
    }


def ranks_frame(table: ScoreTable, ranks: FloatArray) -> pd.DataFrame:
    """Return one row a method, the best average rank first."""
    frame = pd.DataFrame(
        {
            "method": table.methods,
            "average_rank": ranks.mean(axis=0),
            "mean": table.values.mean(axis=0),
            "median": np.median(table.values, axis=0),
            "best_on": (ranks == ranks.min(axis=1, keepdims=True)).sum(axis=0),
        }
    )
    return frame.sort_values(["average_rank", "method"], kind="stable", ignore_index=True)


def corrections_frame(pairs: Sequence[Pair], family: Family, friedman: Friedman) -> pd.DataFrame:
    """Return adjusted p-values, one column a correction that fits the family."""
    raw = np.array([pair.p if not family.on_ranks else pair.test.p for pair in pairs])
    names = [*ANY_FAMILY, *(n for n in ALL_PAIRS if n != "bergmann" or friedman.n_methods <= 9)]
    frame = pd.DataFrame({"method": [p.method for p in pairs], "rival": [p.rival for p in pairs], "raw": raw})
    for name in names if family.reference is None else ANY_FAMILY:
        frame[TITLES[name]] = choose_family(friedman.n_methods, family.reference, name).adjust(raw)
    rank_test = "nemenyi" if family.reference is None else "bonferroni-dunn"
    on_ranks = choose_family(friedman.n_methods, family.reference, rank_test)
    average = np.array(friedman.average_ranks)
    frame[f"{TITLES[rank_test]} (ranks)"] = on_ranks.rank_p(average, friedman.n_datasets)[1]
    return frame


def comparison_dict(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison as plain values; what does not exist is None."""
    table = comparison.scores
    values: dict[str, Any] = plain(
        {
            "metric": table.metric,
            "higher_is_better": table.higher_is_better,
            "methods": list(table.methods),
            "datasets": list(table.datasets),
            "reference": None if comparison.family.reference is None else comparison.leader,
            "verdict": comparison.verdict.splitlines(),
            "method_warnings": list(comparison.method_warnings),
            "friedman": asdict(comparison.friedman),
            "ranks": comparison.rank_table.to_dict("records"),
            "pairs": [
                row | _where(pair)
                for row, pair in zip(comparison.table.to_dict("records"), comparison.pairs, strict=True)
            ],
            "choices": dict(comparison.choices),
            "warnings": list(comparison.warnings),
        }
    )
    return values


def _where(pair: Pair) -> dict[str, list[str]]:
    return {
        "won": list(pair.won),
        "tied": list(pair.tied),
        "lost": list(pair.lost),
        "flipped_by": list(pair.flipped_by),
    }


def plain(value: Any) -> Any:
    """Return nested values without NumPy types; NaN becomes None, which JSON knows.

    Examples
    --------
    >>> import numpy as np
    >>> plain({"a": [np.float64(1.5), float("nan")], "n": np.int64(3), "b": np.bool_(True)})
    {'a': [1.5, None], 'n': 3, 'b': True}
    """
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value
