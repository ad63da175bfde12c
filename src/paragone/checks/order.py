"""PG132 to PG134: what the order of the rows tells, and held-out rows that are not like train."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from paragone.checks.arrays import codes_of, column_blocks, target_codes, union
from paragone.checks.finding import SHOWN, Ledger
from paragone.checks.material import Material, Side, measured_columns
from paragone.checks.registry import check
from paragone.checks.words import agree, counted, share
from paragone.data import Dataset
from paragone.validation import FloatArray, IntArray

ORDER = "rows in order"
FEWEST_ROWS = 40
ALIKE = 0.5
STEADY = 6.0
MOST_SERIES = 64
TOUCHING = 0.5
DRIFT = "held-out rows against train"
DRIFT_LEVEL = 1e-4


@check(
    "PG132",
    "warning",
    "rows like the row before them, split at random",
    "name the time column (time = ...) or split in order (shuffle = false): neighbours in time give"
    " each other away",
    of="data",
)
def check_order(material: Material, ledger: Ledger) -> None:
    """Find data in which rows are like the row before them, and splits that take neighbours apart."""
    dataset = material.dataset
    n_rows = dataset.n_samples
    order = np.arange(n_rows) if dataset.time is None else np.argsort(dataset.time, kind="stable")
    touching = max((_touching(order, side) for side in material.sides), default=0.0)
    if touching < TOUCHING or dataset.groups is not None or n_rows < FEWEST_ROWS:
        return
    sorted_by = _sorted_by(dataset) if dataset.time is None else ""
    if sorted_by:
        ledger.miss(ORDER, n_rows, "rows", f"they are sorted by {sorted_by}")
        return
    features, targets = _series(dataset)
    ledger.look(ORDER, n_rows, "rows", counted(len(features) + len(targets), "columns"))
    alike = [autocorrelation(one[order]) for one in features]
    of_targets = [autocorrelation(one[order]) for one in targets]
    limit = max(ALIKE, STEADY / np.sqrt(n_rows))
    kept, kept_targets = (sum(value >= limit for value in values) for values in (alike, of_targets))
    # A target that changes slowly gives nothing away where no feature tells the place of a row.
    if kept and (kept_targets or 2 * kept >= len(alike)):
        ledger.find(
            "PG132",
            "rows are like the row before them (rank correlation up to"
            f" {max([*of_targets, *alike]):.2f}, at least {limit:.2f} in"
            f" {share(kept, len(alike), 'features')} and"
            f" {share(kept_targets, len(of_targets), 'targets')}), and {touching:.0%} of the"
            " held-out rows stand next to a row of train",
            kept + kept_targets,
            len(alike) + len(of_targets),
        )


@check(
    "PG133",
    "warning",
    "held-out rows that are earlier than train",
    "split by time: kind = 'time', or leave kind out",
    of="data",
)
def check_declared_time(material: Material, ledger: Ledger) -> None:
    """Find held-out rows that are earlier than a row of train, where the time is declared."""
    time = material.dataset.time
    if time is None:
        return
    ledger.look("times on both sides", material.n_held, "held-out rows")
    early = [
        side.held[time[side.held] < time[side.train].max()]
        for side in material.sides
        if len(side.train)
    ]
    rows = union(early)
    if len(rows):
        ledger.find(
            "PG133",
            f"{share(len(rows), material.n_held, 'held-out rows')} {agree(len(rows), 'is', 'are')}"
            " earlier than a row of the train side of the same split",
            len(rows),
            material.n_held,
            [f"row {row}" for row in rows[:SHOWN]],
        )


def _touching(order: IntArray, side: Side) -> float:
    """Return the share of the held-out rows that stand next to a train row in this order."""
    role = np.zeros(len(order), dtype=np.int8)
    role[side.train], role[side.held] = 1, 2
    role = role[order]
    beside = np.zeros(len(order), dtype=bool)
    beside[1:] |= role[:-1] == 1
    beside[:-1] |= role[1:] == 1
    held = role == 2
    return float(beside[held].mean()) if held.any() else 0.0


def _sorted_by(dataset: Dataset) -> str:
    """Name what the rows are sorted by; a column that counts them in equal steps, or holds dates, is their time."""
    if dataset.task == "regression":
        # Classes and sets of labels are taken out of all columns, so that sorting by them does not
        # show.
        for name, column in zip(
            dataset.target_names, dataset.y.reshape(dataset.n_samples, -1).T, strict=True
        ):
            if _is_sorted(column):
                return str(name)
    dates: set[str] = set()
    if dataset.is_table:
        from paragone.data.frames import column_kinds

        dates = {name for name, kind in column_kinds(dataset.X).items() if kind == "date"}
    for first, block in column_blocks(dataset.numbers):
        steps = np.diff(block, axis=0)
        ordered = (steps >= 0).all(axis=0) | (steps <= 0).all(axis=0)
        for j in np.flatnonzero(ordered & (steps != 0).any(axis=0)):
            even = np.ptp(steps[:, j]) <= 1e-6 * abs(steps[:, j].mean())
            if not even and dataset.feature_names[first + j] not in dates:
                return dataset.feature_names[first + j]
    return ""


def _is_sorted(column: Any) -> bool:
    steps = np.diff(np.asarray(column, dtype=np.float64))
    return bool(((steps >= 0).all() or (steps <= 0).all()) and (steps != 0).any())


def _series(dataset: Dataset) -> tuple[list[FloatArray], list[FloatArray]]:
    """Return features and targets, each without what the class tells: sorted classes are no order in time."""
    targets: list[FloatArray] = []
    if dataset.task == "regression":
        columns = dataset.y.reshape(dataset.n_samples, -1).T
        targets = [
            one for one in columns[:MOST_SERIES] if not np.isnan(one).any() and np.ptp(one) > 0
        ]
        classes = np.zeros(dataset.n_samples, dtype=np.int64)
    else:
        classes = target_codes(np.asarray(dataset.y))
        if (
            np.count_nonzero(np.diff(classes)) > 2 * classes.max() + 2
        ):  # else they are sorted, which is no order in time
            targets = [
                (classes == one).astype(np.float64)
                for one in range(min(int(classes.max()) + 1, MOST_SERIES))
            ]
    features: list[FloatArray] = []
    for _, block in column_blocks(dataset.numbers[:, measured_columns(dataset)]):
        for one in block.T[: MOST_SERIES - len(features)]:
            if not np.isnan(one).any() and np.ptp(one) > 0:
                features.append(one - (np.bincount(classes, one) / np.bincount(classes))[classes])
    return features, targets


def autocorrelation(values: FloatArray) -> float:
    """Return the correlation of the ranks of values with those of the value before, as von Neumann's ratio gives it.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> autocorrelation(np.cumsum(rng.normal(size=300))) > 0.9, abs(autocorrelation(rng.normal(size=300))) < 0.2
    (True, True)
    """
    from scipy.stats import rankdata

    ranks = rankdata(values)
    ranks -= ranks.mean()
    spread = float(ranks @ ranks)
    # Half the mean squared step: unlike the plain product it does not grow with a difference
    # between the two ends.
    return 1.0 - float(np.sum(np.diff(ranks) ** 2)) / (2.0 * spread) if spread > 0 else 0.0


# ---------------------------------------------------------------- drift


@check(
    "PG134",
    "warning",
    "held-out rows that are not distributed like train",
    "see whether rows were sorted before they were cut into folds; shuffle them, or say that the"
    " parts differ by design",
    of="data",
)
def check_drift(material: Material, ledger: Ledger) -> None:
    """Find columns and targets whose distribution differs between train and the held-out rows."""
    dataset = material.dataset
    ledger.look(DRIFT, dataset.n_features, "columns", counted(len(material.sides), "splits"))
    if dataset.time is not None or dataset.groups is not None:
        return  # later rows and other groups may differ: that is what such a split asks about
    found: dict[str, float] = {}
    total = dataset.n_features + dataset.n_targets
    for name, column in _columns_and_targets(dataset):
        p = min((two_sample_p(column, side) for side in material.sides), default=1.0)
        if p * total * len(material.sides) <= DRIFT_LEVEL:
            found[name] = p * total * len(material.sides)
    if found:
        ledger.find(
            "PG134",
            f"{len(found)} of {total} columns and targets"
            f" {agree(len(found), 'is', 'are')} distributed otherwise among held-out rows than in"
            f" train (Kolmogorov-Smirnov, p over all columns and splits {DRIFT_LEVEL:g})",
            len(found),
            total,
            [f"{name}: p = {found[name]:.1g}" for name in sorted(found, key=found.__getitem__)],
        )


def _columns_and_targets(dataset: Dataset) -> Iterator[tuple[str, FloatArray]]:
    for first, block in column_blocks(dataset.numbers):
        yield from zip(dataset.feature_names[first:], block.T, strict=False)
    targets = np.asarray(dataset.y)
    if dataset.task == "classification":
        targets = codes_of(targets)
    columns = targets.reshape(dataset.n_samples, -1).astype(np.float64).T
    yield from zip(dataset.target_names, columns, strict=True)


def two_sample_p(column: FloatArray, side: Side) -> float:
    """Return the p of the two-sample Kolmogorov-Smirnov test; at most too large where values are tied.

    Examples
    --------
    >>> side = Side(0, "test", np.arange(50), np.arange(50, 100))
    >>> two_sample_p(np.arange(100.0), side) < 1e-9, two_sample_p(np.arange(100.0) % 10, side)
    (True, 1.0)
    """
    from scipy.special import kolmogorov

    levels, values = np.unique(column, return_inverse=True)
    values = values.ravel()
    n_train, n_held = len(side.train), len(side.held)
    if len(levels) < 2 or not n_train or not n_held:
        return 1.0
    train = np.cumsum(np.bincount(values[side.train], minlength=len(levels))) / n_train
    held = np.cumsum(np.bincount(values[side.held], minlength=len(levels))) / n_held
    size = np.sqrt(n_train * n_held / (n_train + n_held))
    return float(kolmogorov(size * np.abs(train - held).max()))
