"""Choose one metric and one point of the grid, so that each method has one score a fold."""

from __future__ import annotations

import numpy as np
import pandas as pd

from paragone.directions import DIRECTIONS, higher_is_better
from paragone.errors import InputError, unknown_name


def select_metric(frame: pd.DataFrame, metric: str | None) -> tuple[pd.DataFrame, str | None]:
    """Keep the rows of one metric; a table without a metric column holds one already.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"metric": ["f1", "rmse"], "value": [0.9, 2.0]})
    >>> select_metric(frame, "rmse")[0]["value"].tolist()
    [2.0]
    """
    if "metric" not in frame.columns or (frame["metric"] == "").all():
        return frame, metric
    known = sorted(set(frame["metric"]))
    if metric is None and len(known) > 1:
        raise InputError(f"the scores hold {len(known)} metrics; choose one of {', '.join(known)} with metric=")
    chosen = known[0] if metric is None else metric
    if chosen not in known:
        raise unknown_name("metric", chosen, known)
    return frame[frame["metric"] == chosen], chosen


def direction(metric: str | None, higher: bool | None) -> bool:
    """Return the metric's direction, as given or as the registry has it; it is never guessed.

    Examples
    --------
    >>> direction("rmse", None), direction("my_score", True)
    (False, True)
    """
    known = higher_is_better(metric) if metric else None
    chosen = known if higher is None else higher
    if chosen is None:
        what = f"the metric {metric!r} is not known" if metric else "the scores do not say which metric they are"
        near = f" (known: {', '.join(sorted(DIRECTIONS)[:3])}, ...)" if metric else ""
        raise InputError(f"{what}{near}: say --higher-is-better or --lower-is-better (higher_is_better=True or False)")
    return chosen


def one_run(frame: pd.DataFrame) -> pd.DataFrame:
    """Refuse scores of several experiments or protocols at once.

    Examples
    --------
    >>> import pandas as pd
    >>> len(one_run(pd.DataFrame({"experiment": ["x", "x"]})))
    2
    """
    for name in ("experiment", "protocol"):
        if name in frame.columns and frame[name].nunique() > 1:
            found = ", ".join(sorted(set(frame[name])))
            raise InputError(f"the scores hold several {name}s ({found}): filter them to one first")
    return frame


def select_point(frame: pd.DataFrame, at: float | None) -> tuple[pd.DataFrame, str | None]:
    """Keep one point of the grid, or reduce the whole grid to its mean, and say which.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"dataset": "d", "fold": "0", "method": "A", "at": [10, 20], "value": [0.5, 0.7]})
    >>> select_point(frame, None)[0]["value"].tolist()
    [0.6]
    """
    if "at" not in frame.columns or frame["at"].isna().all():
        if at is not None:
            raise InputError(f"the scores have no grid, so there is no point {at:g} to choose")
        return frame, None
    grid = pd.to_numeric(frame["at"], errors="coerce")
    if grid.isna().any():
        raise InputError("the column at must hold numbers for all scores of this metric or for none")
    frame = frame.assign(at=grid.astype("float64"))
    points = np.unique(frame["at"])
    if at is not None:
        near = np.isclose(points, at, rtol=1e-9, atol=1e-12)
        if not near.any():
            raise InputError(f"no score was measured at {at:g}; the grid is {_grid(points)}")
        return frame[np.isclose(frame["at"], at, rtol=1e-9, atol=1e-12)], f"at {at:g}"
    if points.size == 1:
        return frame, f"at {points[0]:g}"
    return _mean_over_grid(frame), f"mean over the grid {_grid(points)}"


def _grid(points: np.ndarray) -> str:
    shown = [f"{point:g}" for point in points]
    return ", ".join(shown if len(shown) <= 6 else [*shown[:3], "...", shown[-1]])


def _mean_over_grid(frame: pd.DataFrame) -> pd.DataFrame:
    keys = ["dataset", "fold", "method"]
    doubled = frame.duplicated([*keys, "at"])
    if doubled.any():
        raise duplicated_key(frame[doubled].iloc[0])
    ordered = frame.sort_values([*keys, "at"], kind="stable")
    starts = np.flatnonzero((ordered[keys] != ordered[keys].shift()).any(axis=1))
    means = ordered.iloc[starts][keys].reset_index(drop=True)
    sizes = np.diff([*starts, len(ordered)])
    at, values = (ordered[name].to_numpy(dtype=np.float64) for name in ("at", "value"))
    means["value"] = np.nan
    means["grid"] = ""
    for size in np.unique(sizes):
        same = np.flatnonzero(sizes == size)
        rows = starts[same][:, None] + np.arange(size)
        _, grid = np.unique(at[rows], axis=0, return_inverse=True)
        means.loc[same, "grid"] = [f"{size}/{number}" for number in grid.reshape(-1)]
        # A missing point makes the mean missing: a mean over fewer points would be another quantity.
        means.loc[same, "value"] = values[rows].mean(axis=1)
    differing = means.groupby("dataset")["grid"].nunique()
    if (differing > 1).any():
        raise InputError(
            f"on dataset {differing.idxmax()!r} the methods were not all measured on the same grid: "
            "choose one point with at="
        )
    return means.drop(columns="grid")


def duplicated_key(row: pd.Series) -> InputError:
    """Build the error for a key that stands twice.

    Examples
    --------
    >>> import pandas as pd
    >>> print(duplicated_key(pd.Series({"method": "A", "dataset": "iris", "fold": "1"})))
    the score of method 'A' on dataset 'iris', fold '1' stands twice: keep one
    """
    fold = f", fold {row['fold']!r}" if row["fold"] else ""
    return InputError(
        f"the score of method {row['method']!r} on dataset {row['dataset']!r}{fold} stands twice: keep one"
    )
