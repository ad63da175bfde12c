"""Compare methods on the samples of a test set: paired, clustered, and with what could have been detected at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from paragone.directions import higher_is_better as known_direction
from paragone.directions import score_size
from paragone.errors import InputError, unknown_name
from paragone.stats.corrections import holm
from paragone.stats.export import save_samples
from paragone.stats.frames import plain
from paragone.stats.t_tests import clustered_t
from paragone.tables import Cell, Table, format_number, format_p, format_signed, p_is, to_latex, to_markdown, to_text
from paragone.ties import TOLERANCE, settle_differences

DETECTABLE = 2.8
"""Standard errors of the least difference that a test at 5 % finds with 80 % power: 1.96 + 0.84."""

KEYS = ("dataset", "metric", "at")
NEEDED = ("method", "sample", "value")


@dataclass(frozen=True)
class SampleDifference:
    """A rival against the reference by one metric at one cut-off; differences are reference less rival.

    They are signed so that positive favours the reference. ``detectable`` is the least difference that 80 % of such
    tests would have found, 2.8 standard errors (``2.8 sd / sqrt(n)`` where samples are independent).
    """

    dataset: str
    metric: str
    at: float
    rival: str
    n: int
    clusters: int
    mean_reference: float
    mean_rival: float
    difference: float
    low: float
    high: float
    detectable: float
    p: float
    p_holm: float


@dataclass(frozen=True, eq=False, repr=False)
class SampleComparison:
    """What the samples of a test set say about a reference and its rivals.

    Examples
    --------
    >>> import pandas as pd
    >>> wide = pd.DataFrame({"sample": [0, 1, 2], "A": [1.0, 0.5, 1.0], "B": [0.0, 0.5, 0.5]})
    >>> frame = wide.melt("sample", var_name="method").assign(dataset="d", metric="recall", at=5)
    >>> comparison = compare_samples(frame, reference="A")
    >>> [(row.rival, row.difference) for row in comparison.rows]
    [('B', 0.5)]
    """

    reference: str
    rows: tuple[SampleDifference, ...]
    alpha: float
    clustered: bool
    notes: tuple[str, ...]

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row a dataset, metric, cut-off and rival."""
        return pd.DataFrame([asdict(row) for row in self.rows])

    @property
    def method(self) -> str:
        """How it was done, in words."""
        unit = "samples, those with the same query as one cluster (cluster-robust)" if self.clustered else "samples"
        return (
            f"paired t over {unit}; Holm over all {len(self.rows)} differences (metrics, cut-offs, rivals); "
            f"detectable: {DETECTABLE} standard errors, found with 80 % power"
        )

    @property
    def verdict(self) -> str:
        """One sentence a rival."""
        lines = []
        for rival in dict.fromkeys(row.rival for row in self.rows):
            mine = [row for row in self.rows if row.rival == rival]
            shown = [row for row in mine if row.p_holm <= self.alpha]
            ahead = sum(row.difference > 0 for row in shown)
            words = [f"better by {ahead}"] * bool(ahead) + [f"worse by {len(shown) - ahead}"] * (ahead < len(shown))
            told = " and ".join(words) if shown else "told apart by none"
            surest = min(mine, key=lambda row: (row.p, -abs(row.difference)))
            lines.append(
                f"{self.reference} against {rival}: {told} of {len(mine)} values after Holm; surest: {surest.metric} "
                f"at {surest.at:g}, {format_signed(surest.difference)} [{format_signed(surest.low)}, "
                f"{format_signed(surest.high)}], {p_is(surest.p_holm)}, {format_number(surest.detectable)} detectable."
            )
        return "\n".join(lines)

    def as_table(self) -> Table:
        """Return the table for a paper; bold where Holm's p is at most alpha."""
        several = len({row.dataset for row in self.rows}) > 1
        heading = [*(["Dataset"] if several else []), "Metric", "K", "Rival", self.reference, "rival"]
        heading += ["difference", f"{100 * (1 - self.alpha):g} % interval", "detectable", "p", "p (Holm)"]
        body = [
            [
                *([Cell(row.dataset)] if several else []),
                Cell(row.metric),
                Cell(f"{row.at:g}"),
                Cell(row.rival),
                Cell(format_number(row.mean_reference)),
                Cell(format_number(row.mean_rival)),
                Cell(format_signed(row.difference)),
                Cell(f"[{format_signed(row.low)}, {format_signed(row.high)}]"),
                Cell(format_number(row.detectable)),
                Cell(format_p(row.p)),
                Cell(format_p(row.p_holm), bold=row.p_holm <= self.alpha),
            ]
            for row in self.rows
        ]
        first = self.rows[0]
        groups = f" in {first.clusters} queries" if self.clustered else ""
        caption = (
            f"{self.reference} against each rival on {first.n} samples{groups}: {self.method}. Positive differences "
            f"favour {self.reference}."
        )
        return Table.of(heading, body, caption=caption, label="tab:samples", notes=self.notes)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        values: dict[str, Any] = plain(
            {
                "reference": self.reference,
                "alpha": self.alpha,
                "method": self.method,
                "verdict": self.verdict,
                "differences": [asdict(row) for row in self.rows],
                "notes": list(self.notes),
            }
        )
        return values

    def to_latex(self) -> str:
        """Write a booktabs table."""
        return to_latex(self.as_table())

    def to_markdown(self) -> str:
        """Write a Markdown table."""
        return to_markdown(self.as_table())

    def save(self, folder: str | Path) -> tuple[Path, ...]:
        """Write the verdict, the table and the unrounded figures into a folder; return the files."""
        return save_samples(self, Path(folder))

    def __repr__(self) -> str:
        return f"{to_text(self.as_table())}\n\n{self.verdict}"


def compare_samples(
    samples: pd.DataFrame,
    *,
    reference: str | None = None,
    metric: str | None = None,
    at: float | None = None,
    cluster: str | None = "query",
    higher_is_better: bool | None = None,
    alpha: float = 0.05,
    tolerance: float = TOLERANCE,
) -> SampleComparison:
    """Compare a method with each other one on the samples that all of them have.

    Parameters
    ----------
    samples : DataFrame
        One row a method and sample: columns ``method, sample, value`` and, where there are several, ``dataset, metric,
        at``; `Results.sample_scores` gives it.
    reference : str, optional
        The method compared with each other one; the first where it is not given.
    metric : str, optional
        Keep one metric only.
    at : float, optional
        Keep one cut-off only.
    cluster : str, optional
        The column that says which samples hang together; all are independent where there is no such column, or None.
    higher_is_better : bool, optional
        Direction of metrics that Paragone does not know, which are left out otherwise: it is never guessed.
    alpha : float, default=0.05
        Family-wise level; intervals are at ``1 - alpha``.
    tolerance : float, default=1e-9
        Relative tolerance of a tie.

    Returns
    -------
    SampleComparison
        Differences with intervals, what was detectable, and p adjusted by Holm over everything shown.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({
    ...     "method": ["new"] * 4 + ["old"] * 4, "sample": [0, 1, 2, 3] * 2, "query": [0, 0, 1, 2] * 2,
    ...     "metric": "recall", "at": 5, "value": [0.5, 0.6, 0.4, 0.9, 0.3, 0.5, 0.4, 0.6],
    ... })
    >>> row = compare_samples(frame).rows[0]
    >>> row.rival, round(row.difference, 3), row.clusters
    ('old', 0.15, 3)
    """
    frame = _checked(samples, metric, at)
    methods = list(dict.fromkeys(frame["method"]))
    reference = methods[0] if reference is None else reference
    if reference not in methods:
        raise unknown_name("reference", reference, methods)
    clustered = cluster is not None and cluster in frame.columns
    found: list[SampleDifference] = []
    notes: list[str] = []
    if "fold" in frame.columns and frame["fold"].nunique() > 1:
        notes.append("samples of several folds are pooled; their training rows overlap, which no test here knows of")
    for (dataset, name, cut), rows in frame.groupby(list(KEYS), sort=False, dropna=False):
        values, groups, left_out = _aligned(rows, cluster if clustered else None)
        if left_out:
            notes.append(f"{left_out} samples of {dataset} ({name} at {cut:g}) lack a value of some method: left out")
        higher = known_direction(name) if known_direction(name) is not None else higher_is_better
        if higher is None:
            notes.append(f"{name}: which way is better is not known, so it is left out: say higher_is_better")
            continue
        sign = 1.0 if higher else -1.0
        for rival in (method for method in methods if method != reference and method in values):
            difference = sign * settle_differences(values[rival], values[reference], tolerance, size=score_size(name))
            test = clustered_t(difference, groups, level=1 - alpha)
            means = float(values[reference].mean()), float(values[rival].mean())
            ends = test.low, test.high, DETECTABLE * test.standard_error, test.p, np.nan
            found.append(
                SampleDifference(dataset, name, cut, rival, len(difference), test.df + 1, *means, test.mean, *ends)
            )
    if not found:
        raise InputError(f"nothing can be compared: {'; '.join(notes)}")
    adjusted = holm([row.p for row in found])
    rows_found = tuple(_with_holm(row, float(p)) for row, p in zip(found, adjusted, strict=True))
    return SampleComparison(reference, rows_found, alpha, clustered, tuple(dict.fromkeys(notes)))


def _with_holm(row: SampleDifference, p: float) -> SampleDifference:
    return SampleDifference(**{**asdict(row), "p_holm": p})


def _checked(samples: pd.DataFrame, metric: str | None, at: float | None) -> pd.DataFrame:
    missing = [name for name in NEEDED if name not in samples.columns]
    if missing:
        raise InputError(
            f"values a sample need a column {missing[0]!r}; there are {', '.join(map(str, samples.columns))}"
        )
    defaults = {"dataset": "data", "metric": "score", "at": float("nan")}
    frame = samples.assign(**{name: value for name, value in defaults.items() if name not in samples.columns})
    for column, wanted in (("metric", metric), ("at", at)):
        if wanted is not None:
            known: Sequence[Any] = list(dict.fromkeys(frame[column]))
            if wanted not in known:
                raise unknown_name(column, str(wanted), [str(one) for one in known])
            frame = frame[frame[column] == wanted]
    if frame["method"].nunique() < 2:
        raise InputError("a comparison needs two methods or more")
    return frame


def _aligned(rows: pd.DataFrame, cluster: str | None) -> tuple[dict[str, Any], Any, int]:
    """Return values by method on the samples that all have, their clusters, and how many samples were left out."""
    if rows.duplicated(["method", "sample"]).any():
        raise InputError("a method has several values for one sample: average them first")
    wide = rows.pivot(index="sample", columns="method", values="value")
    whole = wide.dropna()
    groups = None
    if cluster is not None:
        groups = rows.drop_duplicates("sample").set_index("sample")[cluster].reindex(whole.index).to_numpy()
    return {str(name): whole[name].to_numpy() for name in whole.columns}, groups, len(wide) - len(whole)
