"""From tidy scores to a complete matrix of datasets x methods, with nothing lost in silence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from paragone.errors import InputError, argument, direction_argument, unknown_name
from paragone.metrics import choose_metric, error_name, is_negated, metrics, named_metric
from paragone.stats.designs import Design, asked_for, design_of_columns, said_design
from paragone.stats.intake import natural_order, to_tidy
from paragone.stats.rows import RowMoments
from paragone.stats.seeds import SeedSpread, mean_over_seeds
from paragone.stats.stored_rows import NOTHING_KNOWN, StoredRows
from paragone.stats.suspicions import (
    Differences,
    failures_of_one,
    in_logarithms,
    in_range,
    twin_datasets,
    unit_of_differences,
)
from paragone.tables import decimals_for
from paragone.ties import FloatArray


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
        raise InputError(
            f"the scores hold {len(known)} metrics; choose one of {', '.join(known)} with"
            f" {argument('metric', 'NAME')}"
        )
    chosen = known[0] if metric is None else choose_metric(metric, known)
    return frame[frame["metric"] == chosen], chosen


def direction(metric: str | None, higher: bool | None) -> bool:
    """Return the metric's direction, as given or as the registry has it; it is never guessed.

    Examples
    --------
    >>> direction("rmse", None), direction("my_score", True)
    (False, True)
    """
    known = named_metric(metric)
    chosen = known.higher_is_better if higher is None else higher
    if chosen is None and known.function is not None and not known.is_ours:
        raise InputError(
            f"which way of {metric!r} is better is not known: say {_either_way()}, or set"
            f" {metric}.higher_is_better beside the function"
        )
    if chosen is None:
        what = (
            f"the metric {metric!r} is not known"
            if metric
            else "the scores do not say which metric they are"
        )
        near = f" (known: {', '.join(metrics.names()[:3])}, ...)" if metric else ""
        raise InputError(f"{what}{near}: say {_either_way()}")
    return chosen


def _either_way() -> str:
    return direction_argument()


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
    >>> keys = {"dataset": "d", "repeat": "", "fold": "0", "seed": "", "method": "A"}
    >>> frame = pd.DataFrame({**keys, "at": [10, 20], "value": [0.5, 0.7]})
    >>> select_point(frame, None)[0]["value"].tolist()
    [0.6]
    """
    if "at" not in frame.columns or frame["at"].isna().all():
        if at is not None:
            raise InputError(f"the scores have no grid, so there is no point {at:g} to choose")
        return frame, None
    grid = pd.to_numeric(frame["at"], errors="coerce")
    if grid.isna().any():
        raise InputError(
            "the column at must hold numbers for all scores of this metric or for none"
        )
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
    keys = [*BLOCK, "seed", "method"]
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
        # A missing point makes the mean missing: a mean over fewer points would be another
        # quantity.
        means.loc[same, "value"] = values[rows].mean(axis=1)
    differing = means.groupby("dataset")["grid"].nunique()
    if (differing > 1).any():
        raise InputError(
            f"on dataset {differing.idxmax()!r} the methods were not all measured on the same grid:"
            f" choose one point with {argument('at', 'POINT')}"
        )
    return means.drop(columns="grid")


def duplicated_key(row: pd.Series) -> InputError:
    """Build the error for a key that stands twice.

    Examples
    --------
    >>> import pandas as pd
    >>> print(duplicated_key(pd.Series({"method": "A", "dataset": "iris", "repeat": "", "fold": "1", "seed": ""})))
    the score of method 'A' on dataset 'iris', fold '1' stands twice: keep one
    """
    where = "".join(f", {name} {row[name]!r}" for name in (*BLOCK[1:], "seed") if row[name])
    return InputError(
        f"the score of method {row['method']!r} on dataset {row['dataset']!r}{where} stands twice:"
        " keep one"
    )


Missing = Literal["complete", "worst", "refuse"]

BLOCK = ("dataset", "repeat", "fold")
"""The keys of a block: scores that all methods have from the same split."""


def fill_blocks(
    blocks: pd.DataFrame, policy: Missing
) -> tuple[pd.DataFrame, tuple[str, ...], tuple[str, ...]]:
    """Apply the policy to a frame of blocks (dataset, repeat, fold) x methods.

    Parameters
    ----------
    blocks : DataFrame
        Indexed by (dataset, repeat, fold), one column per method; missing and failed scores are
        NaN.
    policy : {"complete", "worst", "refuse"}
        Keep only the blocks that all methods have; keep a failure, which is lost to any score; or
        stop at the first missing score.

    Returns
    -------
    blocks : DataFrame
        What is left; a value is missing only where the policy is ``worst``.
    dropped : tuple of str
        Names of the blocks that were left out.
    warnings : tuple of str
        What was done, in words.

    Examples
    --------
    >>> import pandas as pd
    >>> index = pd.MultiIndex.from_tuples([("iris", "", ""), ("wine", "", "")], names=["dataset", "repeat", "fold"])
    >>> blocks = pd.DataFrame({"A": [0.9, 0.8], "B": [0.7, None]}, index=index)
    >>> kept, dropped, _ = fill_blocks(blocks, "complete")
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
            f"method {method!r} has no score on {block_name(block)}"
            f" ({int(missing.to_numpy().sum())} missing in all): run it, or choose"
            f" {argument('missing', 'complete')} or {argument('missing', 'worst')}"
        )
    return _complete(blocks, missing) if policy == "complete" else _worst(blocks, missing)


def block_name(block: tuple[str, str, str]) -> str:
    """Return how a block is called in a sentence.

    Examples
    --------
    >>> block_name(("iris", "", "3")), block_name(("iris", "", "")), block_name(("iris", "1", "3"))
    ('iris fold 3', 'iris', 'iris repeat 1 fold 3')
    """
    dataset, repeat, fold = block
    return f"{dataset}{f' repeat {repeat}' if repeat else ''}{f' fold {fold}' if fold else ''}"


def _refuse_empty_methods(blocks: pd.DataFrame) -> None:
    empty = blocks.columns[blocks.isna().all(axis=0)]
    if len(empty):
        raise InputError(
            f"method {empty[0]!r} has not one finite score: leave it out or run it again"
        )


def _complete(
    blocks: pd.DataFrame, missing: pd.DataFrame
) -> tuple[pd.DataFrame, tuple[str, ...], tuple[str, ...]]:
    incomplete = missing.any(axis=1).to_numpy()
    kept = blocks[~incomplete]
    if kept.empty:
        raise InputError(
            "no dataset and fold has a score of every method: nothing is left to compare"
        )
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
    blocks: pd.DataFrame, missing: pd.DataFrame
) -> tuple[pd.DataFrame, tuple[str, ...], tuple[str, ...]]:
    # Where no method has a score all have failed: a tie, which keeps two methods from being called
    # equivalent.
    names = [f"{m} on {block_name(b)}" for b, row in missing.iterrows() for m in row.index[row]]
    return (
        blocks,
        (),
        (f"{len(names)} missing scores count as lost to any score: {listed(names)}.",),
    )


def listed(names: list[str] | tuple[str, ...], most: int = 8) -> str:
    """Return names in a row, the first few of many.

    Examples
    --------
    >>> listed(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


@dataclass(frozen=True)
class ScoreTable:
    """One score per dataset and method, and the folds behind it.

    Attributes
    ----------
    methods, datasets : tuple of str
        Names, sorted.
    values : ndarray of shape (n_datasets, n_methods)
        Mean over folds.
    folds : tuple of ndarray of shape (n_folds, n_methods)
        The fold scores of every dataset.
    fold_names : tuple of tuple of str
        Their names.
    designs : tuple of (Design or None)
        How the splits of every dataset came about, as many as there are scores; None where that is
        not known.
    seeds : tuple of SeedSpread
        Where the spread of every method comes from, if scores are means over seeds.
    differences : {"plain", "log"}
        Whether the scores stand as they were given, or their natural logarithms.
    metric : str or None
        The metric's name.
    higher_is_better : bool
        Its direction.
    scorer : str or None
        The name that the scores were given under where they were minus an error, such as
        ``neg_log_loss``: values, metric and direction are those of the error, as people read it.
    moments : tuple of (RowMoments or None)
        What the rows of every dataset say of the methods; None where they do not tell.
    with_dice : frozenset of str
        The methods that are single models whose seed matters, where rows tell.
    subjects : bool
        Whether what stands as datasets are subjects of one.
    point : str or None
        The point of the grid, or how the grid was reduced.
    dropped : tuple of str
        Blocks that were left out.
    notes, warnings : tuple of str
        What was done to the input, and what a reader must know about it.

    Examples
    --------
    >>> frame = pd.DataFrame({"dataset": ["a", "b"], "A": [0.9, 0.8], "B": [0.7, 0.6]})
    >>> table = score_table(frame, metric="accuracy")
    >>> table.methods, table.datasets, table.values.tolist()
    (('A', 'B'), ('a', 'b'), [[0.9, 0.7], [0.8, 0.6]])
    """

    methods: tuple[str, ...]
    datasets: tuple[str, ...]
    values: FloatArray
    folds: tuple[FloatArray, ...]
    fold_names: tuple[tuple[str, ...], ...]
    designs: tuple[Design | None, ...]
    metric: str | None
    higher_is_better: bool
    point: str | None
    dropped: tuple[str, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    method_warnings: tuple[str, ...] = ()
    seeds: tuple[SeedSpread, ...] = ()
    differences: Differences = "plain"
    scorer: str | None = None
    moments: tuple[RowMoments | None, ...] = ()
    with_dice: frozenset[str] = frozenset()
    subjects: bool = False

    def with_rows(self, rows: Mapping[str, StoredRows]) -> ScoreTable:
        """Return it with what the rows of its datasets tell, where they belong to these scores."""
        logarithms = self.differences == "log"
        moments = []
        for dataset, folds in zip(self.datasets, self.folds, strict=True):
            known = rows.get(dataset, NOTHING_KNOWN)
            moments.append(known.of(self.methods, folds, logarithms=logarithms))
        dice = frozenset[str]().union(*(one.with_dice for one in rows.values()))
        warnings = [line for one in rows.values() for line in one.warnings]
        return replace(
            self,
            moments=tuple(moments),
            with_dice=dice,
            warnings=(*self.warnings, *dict.fromkeys(warnings)),
        )

    @property
    def size(self) -> float:
        """The size of what the scores were made from, which sets what is a tie; see `paragone.ties`."""
        # An error relative to the score is one relative to 1 in its logarithm.
        return 1.0 if self.differences == "log" else named_metric(self.metric).score_size

    @cached_property
    def decimals(self) -> int:
        """How many decimals scores of this size are printed with."""
        return decimals_for(self.values)


def score_table(
    scores: Any,
    *,
    metric: str | None = None,
    higher_is_better: bool | None = None,
    at: float | None = None,
    missing: Missing = "complete",
    repeats: int | None = None,
    test_train_ratio: float | None = None,
    designs: Mapping[str, Design | None] | None = None,
    differences: Differences | None = None,
) -> ScoreTable:
    """Bring scores into a complete table, paired by key and sorted by it.

    Parameters
    ----------
    scores : DataFrame or object with ``scores()``
        Tidy or wide.
    metric : str, optional
        Which metric; needed where there are several.
    higher_is_better : bool, optional
        Direction of a metric that is not known.
    at : float, optional
        Point of the grid; left out, the mean over the grid.
    missing : {"complete", "worst", "refuse"}, default="complete"
        Policy for missing and failed scores.
    repeats : int, optional
        How often the rows were split anew; it overrules what the columns or a store tell.
    test_train_ratio : float, optional
        ``n_test / n_train`` of a split; it overrules the same.
    designs : mapping of str to Design, optional
        How the datasets were split, where the scores themselves do not tell.
    differences : {"plain", "log"}, optional
        Whether scores are compared as they are or by log-ratios; by default the latter where a
        metric with a unit, such as RMSE, has scores of very different size.

    Returns
    -------
    ScoreTable
        The same bytes for any order of the rows.

    Examples
    --------
    >>> import pandas as pd
    >>> wide = pd.DataFrame({"dataset": ["b", "a"], "X": [0.9, 0.8], "Y": [0.7, 0.6]})
    >>> table = score_table(wide, higher_is_better=True)
    >>> table.datasets, table.values.tolist()
    (('a', 'b'), [[0.8, 0.6], [0.9, 0.7]])
    """
    tidy = to_tidy(scores, metric)
    frame, name = select_metric(one_run(tidy.frame), metric)
    scorer = (
        name
        if is_negated(name, frame["value"].to_numpy()) and higher_is_better is not False
        else None
    )
    if scorer is not None:
        name, higher_is_better = error_name(name), False
        frame = frame.assign(metric=name, value=0.0 - frame["value"].astype("float64"))
    known = named_metric(name)
    higher = direction(name, higher_is_better)
    frame, of_range = in_range(frame, known)
    frame, point = select_point(frame, at)
    doubled = frame.duplicated([*BLOCK, "seed", "method"])
    if doubled.any():
        raise duplicated_key(frame[doubled].iloc[0])
    frame, seeds, of_seeds = mean_over_seeds(frame, BLOCK)
    blocks, notes = _blocks(frame)
    filled, dropped, warnings = fill_blocks(blocks, missing)
    names = filled.index.get_level_values(0).to_numpy()
    starts = [0, *(np.flatnonzero(names[1:] != names[:-1]) + 1)]
    folds = np.split(np.ascontiguousarray(filled.to_numpy()), starts[1:])
    splits = [f"repeat {r} fold {f}".removesuffix(" fold ") if r else f for _, r, f in filled.index]
    fold_names = np.split(np.array(splits, dtype=object), starts[1:])
    if designs is None:
        designs = _subjects(blocks) if tidy.subjects else tidy.designs
    found, asked = _designs(blocks, filled, designs, repeats, test_train_ratio)
    twins = twin_datasets(names[starts].tolist(), folds)
    unit, of_unit = unit_of_differences(folds, known, differences)
    if unit == "log":
        folds = [in_logarithms(scores) for scores in folds]
        point = "natural logarithms" if point is None else f"{point}, natural logarithms"
    lonely = failures_of_one(blocks) if missing == "complete" else ()
    return ScoreTable(
        methods=tuple(filled.columns),
        datasets=tuple(names[starts].tolist()),
        values=np.stack([fold.mean(axis=0) for fold in folds]),
        folds=tuple(folds),
        fold_names=tuple(tuple(part.tolist()) for part in fold_names),
        designs=found,
        metric=name,
        higher_is_better=higher,
        point=point,
        dropped=dropped,
        notes=(*tidy.notes, *notes, *of_seeds),
        warnings=(*tidy.warnings, *of_range, *of_unit, *twins, *asked, *warnings, *lonely),
        method_warnings=tidy.method_warnings,
        seeds=seeds,
        differences=unit,
        scorer=scorer,
        subjects=tidy.subject_is_dataset,
    )


def _subjects(blocks: pd.DataFrame) -> dict[str, Design | None]:
    """Return the designs of datasets with one score per subject: subjects are independent, nothing overlaps."""
    sizes = blocks.groupby(level=0, sort=False).size()
    return {str(dataset): Design(1, int(size), 0.0) for dataset, size in sizes.items()}


def _designs(
    blocks: pd.DataFrame,
    filled: pd.DataFrame,
    known: Mapping[str, Design | None],
    repeats: int | None,
    ratio: float | None,
) -> tuple[tuple[Design | None, ...], tuple[str, ...]]:
    """Return how the datasets were split that are left, and what to ask of the user."""
    found: list[Design | None] = []
    asked: dict[str, list[str]] = {}
    kept = set(filled.index)
    for dataset, part in blocks.groupby(level=0, sort=False):
        left = [place for place, block in enumerate(part.index) if block in kept]
        if not left:
            continue
        _, of_repeats, of_folds = zip(*part.index, strict=True)
        told = design_of_columns(of_repeats, of_folds)
        design = known.get(dataset) if dataset in known else told
        design = said_design(design, len(part), repeats, ratio)
        if design is not None and len(part) != design.n_splits:
            # A run in its middle: its folds are numbered from zero.
            left = [int(fold) for _, _, fold in part.index[left] if fold.isdecimal()]
            design = design if all(place < design.n_splits for place in left) else None
        if len(part) > 1 and (design is None or math.isnan(design.ratio)):
            asked.setdefault(asked_for(len(part), of_folds), []).append(f"{dataset} ({len(part)})")
            design = None
        found.append(None if design is None else design.of_places(left))
    return tuple(found), tuple(
        f"How the splits of {listed(names, 3)} came about is not known, so nothing is tested within"
        f" them: say {what}."
        for what, names in asked.items()
    )


def _blocks(frame: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return a frame of blocks (dataset, repeat, fold) x methods in natural order; what is not finite is missing."""
    wide = frame.set_index([*BLOCK, "method"])["value"].unstack("method")
    if wide.empty:
        raise InputError("there are no scores: no row of the table holds any")
    if wide.shape[1] < 2:
        raise InputError(
            f"a comparison needs two methods or more, the scores hold one: {wide.columns[0]}"
        )
    methods = sorted(wide.columns, key=natural_order)
    blocks = sorted(wide.index, key=lambda block: tuple(map(natural_order, block)))
    wide = wide.loc[blocks, methods].astype("float64")
    infinite = int(np.isinf(wide.to_numpy()).sum())
    notes = (f"{infinite} infinite scores count as missing.",) if infinite else ()
    return wide.where(np.isfinite(wide)), notes
