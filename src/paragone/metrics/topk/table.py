"""Tables of a top-K result: tidy frames and the text of its `repr`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paragone.metrics.topk.result import TIE_SHARE_SHOWN

if TYPE_CHECKING:
    import pandas as pd

    from paragone.metrics.topk.result import TopKResult


COLUMNS = ["metric", "name", "at", "value", "low", "high", "n", "tie_share", "tie_low", "tie_high"]


def result_table(result: TopKResult) -> pd.DataFrame:
    """Return one row a metric and cut-off: value, interval, share of tied samples, and what ties could do.

    ``tie_low`` and ``tie_high`` are filled where over 0.1 % of the samples have a tie across the cut-off.
    """
    import pandas as pd

    shown = result.tie_share > TIE_SHARE_SHOWN
    bounds = result.tie_bounds if shown.any() else {}
    rows: list[dict[str, Any]] = []
    for key in result.names:
        low, high = result.intervals[key]
        for index, k in enumerate(result.ks):
            tie_low, tie_high = bounds.get(key, (None, None))
            inside = tie_low is not None and bool(shown[index])
            rows.append(
                {
                    "metric": result.label(key, k),
                    "name": key,
                    "at": k,
                    "value": float(result.means[key][index]),
                    "low": float(low[index]),
                    "high": float(high[index]),
                    "n": int(result.evaluated.sum()),
                    "tie_share": float(result.tie_share[index]),
                    "tie_low": float(tie_low[index]) if inside and tie_low is not None else np.nan,
                    "tie_high": float(tie_high[index]) if inside and tie_high is not None else np.nan,
                }
            )
    return pd.DataFrame(rows, columns=COLUMNS)


def samples_table(result: TopKResult) -> pd.DataFrame:
    """Return the per-sample values of the evaluated samples in tidy form."""
    import pandas as pd

    samples = np.flatnonzero(result.evaluated)
    parts = [pd.DataFrame({"sample": [], "metric": [], "at": [], "value": []})] if not result.per_sample else []
    for key in result.names:
        if key not in result.per_sample:
            continue
        values = result.per_sample[key][samples]
        parts.append(
            pd.DataFrame(
                {
                    "sample": np.repeat(samples, len(result.ks)),
                    "metric": key,
                    "at": np.tile(result.ks, len(samples)),
                    "value": values.ravel(),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def result_text(result: TopKResult) -> str:
    """Write the result as a plain table with its notes."""
    table = result_table(result)
    percent = f"{100 * result.confidence:g} %"
    clustered = "" if result.clusters is None else f", {len(np.unique(result.clusters))} clusters"
    lines = [f"Top-K of {int(result.evaluated.sum())} samples{clustered}, ties: {result.ties}"]
    width = max((len(name) for name in table["metric"]), default=6)
    lines.append(f"{'metric':<{width}}  {'value':>8}  {percent + ' interval':>20}")
    for row in table.itertuples():
        line = f"{row.metric:<{width}}  {row.value:8.5f}  [{row.low:8.5f}, {row.high:8.5f}]"
        if np.isfinite(row.tie_low):
            line += f"  ties: {row.tie_low:.5f}..{row.tie_high:.5f}"
        lines.append(line)
    lines += [f"note: {note}" for note in (*_tie_notes(result), *result.notes)]
    lines += [f"failed: {name}: {error}" for name, error in result.errors.items()]
    return "\n".join(lines)


def _tie_notes(result: TopKResult) -> list[str]:
    if np.isnan(result.tie_share).all():
        return ["lists carry no scores, so ties are not known"]
    if not result.tie_share.any():
        return []
    shares = ", ".join(f"{100 * share:.2f} % at {k}" for share, k in zip(result.tie_share, result.ks, strict=True))
    return [f"samples with equal scores across the cut-off: {shares}"]
