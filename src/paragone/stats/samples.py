"""Compare methods on the samples of a test set: paired, clustered, and with what could have been detected at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from paragone.errors import InputError, unknown_name
from paragone.metrics import metric_in_words, metric_title, named_metric
from paragone.stats.family import PROCEDURES, ComparisonSettings
from paragone.stats.pairs import Pair, UnitScores, judged, measure_pairs
from paragone.stats.registries import Correction, Test, TestResult, find_correction, find_test
from paragone.stats.result import Comparison, plain
from paragone.stats.t_tests import TTest, detectable_errors
from paragone.tables import Table, TableCell, format_number, format_p, format_signed, p_is, to_text
from paragone.ties import TOLERANCE, FloatArray

KEYS = ("dataset", "metric", "at")
TASKS_SHOWN = 30
"""More tasks than these are in the files only."""
NEEDED = ("method", "sample", "value")


class Measurement(NamedTuple):
    """What a difference on samples was measured on: a dataset, a metric at a cut-off, and so many clusters."""

    dataset: str
    metric: str
    at: float
    clusters: int


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SampleComparison(Comparison):
    """What the samples of a test set say about a reference and its rivals.

    Differences are reference less rival, signed so that positive favours the reference.

    Attributes
    ----------
    reference : str
        The method compared with each other one; empty where all pairs are compared.
    measurements : tuple of Measurement
        Beside each of the pairs.
    correction : Correction
        How the p-values were adjusted together.
    clustered : bool
        Whether samples hang together.
    n_family : int
        How many tests the correction counts.
    units : str
        What the samples are called.
    strata : str
        How strata were weighted, in words; empty where there are none.
    by_task : DataFrame, optional
        The samples and the means of every method on each stratum, by metric and cut-off; nothing is
        tested there.
    cluster : str
        What a cluster of samples is called.

    Examples
    --------
    >>> wide = pd.DataFrame({"sample": [0, 1, 2], "A": [1.0, 0.5, 1.0], "B": [0.0, 0.5, 0.5]})
    >>> frame = wide.melt("sample", var_name="method").assign(dataset="d", metric="recall", at=5)
    >>> comparison = compare_samples(frame, reference="A")
    >>> [(row.rival, row.difference) for row in comparison.rows]
    [('B', 0.5)]
    """

    reference: str
    measurements: tuple[Measurement, ...]
    correction: Correction
    clustered: bool
    n_family: int
    units: str = "samples"
    strata: str = ""
    by_task: pd.DataFrame | None = None
    cluster: str = "query"

    @property
    def alpha(self) -> float:
        """The family-wise level."""
        return self.settings.alpha

    def detectable(self, pair: Pair) -> float:
        """Return the least difference found with 80 % power; NaN where the test has no standard error."""
        if not isinstance(pair.test, TTest) or pair.test.df < 1:
            return np.nan
        return (
            detectable_errors(self.alpha / self.n_family, pair.test.df) * pair.test.standard_error
        )

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per dataset, metric, cut-off and rival.

        ``detectable`` is the least difference that 80 % of such tests would have found at the level
        that is left to one of the family, with its degrees of freedom: 2.8 standard errors for one
        test on many samples, more for several tests or few samples.
        """
        adjusted = f"p_{self.correction.name.replace('-', '_')}"
        return pd.DataFrame(
            [
                {
                    "dataset": place.dataset,
                    "metric": place.metric,
                    "at": place.at,
                    **({} if self.reference else {"method": pair.method}),
                    "rival": pair.rival,
                    "n": pair.n,
                    "clusters": place.clusters,
                    "mean_reference" if self.reference else "mean_method": pair.mean_method,
                    "mean_rival": pair.mean_rival,
                    "difference": pair.difference.estimate,
                    "low": pair.difference.low,
                    "high": pair.difference.high,
                    "detectable": self.detectable(pair),
                    "p": pair.p_raw,
                    adjusted: pair.p,
                }
                for place, pair in zip(self.measurements, self.pairs, strict=True)
            ]
        )

    @cached_property
    def rows(self) -> tuple[Any, ...]:
        """The rows of the table, each with the columns as attributes."""
        return tuple(self.table.itertuples(index=False, name="SampleDifference"))

    @property
    def method(self) -> str:
        """How it was done, in words."""
        clusters = (
            f", those with the same {self.cluster} as one cluster (cluster-robust)"
            if self.clustered
            else ""
        )
        whom = "rivals" if self.reference else "pairs"
        every = (
            f"{self.correction.title} over all {self.n_family} differences (metrics, cut-offs,"
            f" {whom}); "
        )
        known = any(np.isfinite(self.detectable(pair)) for pair in self.pairs)
        return (
            f"{self.test.title} over {self.units}{clusters}{self.strata};"
            f" {every if self.n_family > 1 else ''}"
            f"{'detectable: found with 80 % power at the level of one of them' if known else ''}"
        ).removesuffix("; ")

    @property
    def choices(self) -> Mapping[str, str]:
        """Everything that was chosen, in words."""
        return MappingProxyType(
            {"method": self.method, "level": f"alpha = {self.alpha:g}, for the whole family"}
        )

    @property
    def verdict(self) -> str:
        """One sentence per rival, or per pair."""
        lines = []
        for method, rival in dict.fromkeys((pair.method, pair.rival) for pair in self.pairs):
            both = zip(self.measurements, self.pairs, strict=True)
            mine = [
                (place, pair)
                for place, pair in both
                if (pair.method, pair.rival) == (method, rival)
            ]
            if len(mine) == 1 and not np.isfinite(mine[0][0].at):
                lines.append(self._one_sentence(*mine[0]))
                continue
            shown = [pair for _, pair in mine if pair.p <= self.alpha]
            ahead = sum(pair.mean_difference > 0 for pair in shown)
            words = [f"better by {ahead}"] * bool(ahead) + [f"worse by {len(shown) - ahead}"] * (
                ahead < len(shown)
            )
            found = " and ".join(words) if shown else "not significantly different by any"
            place, surest = min(mine, key=lambda one: (one[1].p, -abs(one[1].mean_difference)))
            lines.append(
                f"{method} against {rival}: {found} of {len(mine)} values after"
                f" {self.correction.title}; surest: {metric_in_words(place.metric)} at"
                f" {place.at:g}, {format_signed(surest.difference.estimate)}"
                f" [{format_signed(surest.difference.low)},"
                f" {format_signed(surest.difference.high)}], {p_is(surest.p)},"
                f" {format_number(self.detectable(surest))} detectable."
            )
        return "\n".join(lines)

    def _one_sentence(self, place: Measurement, pair: Pair) -> str:
        """Return what is said of a rival that was compared by one value."""
        claim = {
            "better": f"is better than {pair.rival}",
            "worse": f"is worse than {pair.rival}",
        }.get(pair.word, f"against {pair.rival} is undecided")
        low, high = pair.difference.low, pair.difference.high
        within = (
            f" [{format_signed(low)}, {format_signed(high)}]"
            if np.isfinite([low, high]).all()
            else ""
        )
        least = self.detectable(pair)
        found = (
            f"; {format_number(least)} would be found with 80 % power" if np.isfinite(least) else ""
        )
        adjusted = f" {self.correction.title}" if self.n_family > 1 else ""
        return (
            f"On {self.units} like these {pair.method} {claim} by {metric_in_words(place.metric)}"
            f" (difference {format_signed(pair.difference.estimate)}{within},"
            f" {p_is(pair.p)}{adjusted}{found})."
        )

    def tables(self) -> Mapping[str, Callable[[], Table]]:
        """Return what makes the table of differences, and that of the tasks where there are several."""
        tasks = {} if self.by_task is None else {"tasks": self._tasks_table}
        return {"differences": self._differences_table, **tasks}

    def frames(self) -> Mapping[str, pd.DataFrame]:
        """Return the unrounded figures, by the names of their files."""
        return {
            "differences": self.table,
            **({} if self.by_task is None else {"tasks": self.by_task}),
        }

    def _tasks_table(self) -> Table:
        """Make the table of means by task."""
        assert self.by_task is not None
        frame = self.by_task.dropna(axis=1, how="all")
        own = [name for name in ("task", "metric", "at", "n") if name in frame.columns]
        methods = [name for name in frame.columns if name not in own]
        body = [
            [
                *(
                    TableCell(f"{row[name]:g}" if name in ("at", "n") else str(row[name]))
                    for name in own
                ),
                *(TableCell(format_number(row[name])) for name in methods),
            ]
            for _, row in frame.iterrows()
        ]
        caption = (
            f"Means by task over the {self.units} that all methods have; nothing is tested here."
        )
        heading = [
            {"task": "Task", "metric": "Metric", "at": "K", "n": self.units}[name] for name in own
        ]
        return Table.of([*heading, *methods], body, caption=caption, label="tab:tasks")

    def _differences_table(self) -> Table:
        """Make the table for a paper; bold where the adjusted p is at most alpha."""
        several = len({place.dataset for place in self.measurements}) > 1
        cut = any(np.isfinite(place.at) for place in self.measurements)
        heading = [*(["Dataset"] if several else []), "Metric", *(["K"] if cut else [])]
        heading += ["Rival", self.reference] if self.reference else ["Method", "Rival", "method"]
        heading += ["rival", "difference"]
        heading += [
            f"{100 * (1 - self.alpha):g} % interval",
            "detectable",
            "p",
            f"p ({self.correction.title})",
        ]
        body = [
            [
                *([TableCell(place.dataset)] if several else []),
                TableCell(metric_title(place.metric)),
                *([TableCell(f"{place.at:g}")] if cut else []),
                *([] if self.reference else [TableCell(pair.method)]),
                TableCell(pair.rival),
                TableCell(format_number(pair.mean_method)),
                TableCell(format_number(pair.mean_rival)),
                TableCell(format_signed(pair.difference.estimate)),
                TableCell(
                    f"[{format_signed(pair.difference.low)}, {format_signed(pair.difference.high)}]"
                ),
                TableCell(format_number(self.detectable(pair))),
                TableCell(format_p(pair.p_raw)),
                TableCell(format_p(pair.p), bold=pair.p <= self.alpha),
            ]
            for place, pair in zip(self.measurements, self.pairs, strict=True)
        ]
        named = "queries" if self.cluster == "query" else f"{self.cluster}s"
        groups = f" in {self.measurements[0].clusters} {named}" if self.clustered else ""
        who = f"{self.reference} against each rival" if self.reference else "All pairs"
        caption = (
            f"{who} on {self.pairs[0].n} {self.units}{groups}: {self.method}. Positive differences"
            f" favour {self.reference or 'the method'}."
        )
        return Table.of(heading, body, caption=caption, label="tab:samples", notes=self.warnings)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        values: dict[str, Any] = plain(
            {
                "reference": self.reference or None,
                "alpha": self.alpha,
                "method": self.method,
                "verdict": self.verdict,
                "differences": self.table.to_dict("records"),
                "notes": list(self.warnings),
            }
        )
        return values

    def blocks(self) -> Sequence[tuple[str, str | Table]]:
        """Return what a terminal shows: the table, that of the tasks where there are a few, then the verdict."""
        return (*(("", make()) for make in self._shown()), ("", self.verdict))

    def _shown(self) -> list[Callable[[], Table]]:
        few = self.by_task is not None and len(self.by_task) <= TASKS_SHOWN
        return [make for name, make in self.tables().items() if few or name != "tasks"]

    def __repr__(self) -> str:
        return "\n\n".join([*(to_text(make()) for make in self._shown()), self.verdict])


def compare_samples(
    samples: pd.DataFrame,
    *,
    reference: str | None = None,
    all_pairs: bool = False,
    metric: str | None = None,
    at: float | None = None,
    cluster: str | None = "query",
    strata: str | None = None,
    weights: Literal["equal", "size"] = "equal",
    test: str | Test | Callable[..., TestResult] | None = None,
    correction: str | Correction | Callable[..., Any] = "holm",
    higher_is_better: bool | None = None,
    alpha: float = 0.05,
    tolerance: float = TOLERANCE,
) -> SampleComparison:
    """Compare a method with each other one on the samples that all of them have.

    Parameters
    ----------
    samples : DataFrame
        One row per method and sample: columns ``method, sample, value`` and, where there are
        several, ``dataset, metric, at``; `Results.sample_scores` gives it.
    reference : str, optional
        The method compared with each other one; the first where it is not given.
    all_pairs : bool, default=False
        Whether each method is compared with each other one, in place of a reference.
    metric : str, optional
        Keep one metric only.
    at : float, optional
        Keep one cut-off only.
    cluster : str, optional
        The column that says which samples hang together; all are independent where there is no such
        column, or None.
    strata : str, optional
        The column of tasks, such as ``dataset``, whose means are weighted into one. The tasks are
        fixed: nothing is said about others.
    weights : {"equal", "size"}, default="equal"
        Whether every task counts the same, or every sample.
    test : str, Test or callable, optional
        How the differences are tested; by default ``clustered-t``, with strata ``stratified-t``.
        ``mcnemar`` and ``mcnemar-mid-p`` are for right and wrong (1 and 0), ``wilcoxon``, ``sign``
        and ``permutation`` for values.
    correction : str, Correction or callable, default="holm"
        How the p-values of everything shown are adjusted together.
    higher_is_better : bool, optional
        Direction of the metrics, whatever Paragone knows of their names. Left out, those of unknown
        direction are left out: it is never guessed.
    alpha : float, default=0.05
        Family-wise level; intervals are at ``1 - alpha``.
    tolerance : float, default=1e-9
        Relative tolerance of a tie.

    Returns
    -------
    SampleComparison
        Differences with intervals, what was detectable, and p adjusted over everything shown.

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
    methods = list(pd.unique(frame["method"]))
    reference = methods[0] if reference is None else reference
    if reference not in methods:
        raise unknown_name("reference", reference, methods)
    by_default = PROCEDURES["sample"].test if strata is None else "stratified-t"
    chosen = find_test(by_default if test is None else test, "sample")
    if strata is not None and (strata not in frame.columns or "strata" not in chosen.needs):
        raise _no_strata(strata, frame, chosen)
    adjustment = find_correction(correction)
    if adjustment.family != "any":
        raise InputError(f"{adjustment.title} does not fit differences on samples: choose holm")
    clustered = cluster is not None and cluster in frame.columns
    if clustered and "clusters" not in chosen.needs:
        raise InputError(
            f"samples hang together by {cluster!r}, which the test {chosen.name!r} does not know:"
            " choose clustered-t, or say cluster=None if they are independent"
        )
    if strata is not None:
        frame = frame.assign(stratum=frame[strata])
    if strata == "dataset":
        frame = frame.drop(columns="dataset")
    settings = ComparisonSettings(alpha=alpha, tolerance=tolerance)
    given: list[tuple[Measurement, UnitScores, float]] = []
    by_task: list[pd.DataFrame] = []
    notes: list[str] = []
    if "fold" in frame.columns and frame["fold"].nunique() > 1:
        notes.append(
            "samples of several folds are pooled; their training rows overlap, which no test here"
            " knows of"
        )
    for (dataset, name, cut), rows in _measured_together(
        frame, "data" if strata != "dataset" else "all datasets"
    ):
        values, groups, tasks, names_of_tasks, left_out = _aligned(
            rows, cluster if clustered else None
        )
        if left_out:
            notes.append(
                f"{left_out} samples of {dataset} ({name} at {cut:g}) lack a value of some method:"
                " left out"
            )
        known = named_metric(name)
        higher = known.higher_is_better if higher_is_better is None else higher_is_better
        if higher is None:
            notes.append(
                f"{name}: which way is better is not known, so it is left out: say higher_is_better"
            )
            continue
        there = [
            reference,
            *(method for method in methods if method != reference and method in values),
        ]
        scored = UnitScores(
            tuple(there),
            (),
            np.stack([values[method] for method in there], axis=1),
            higher,
            clusters=groups,
            strata=tasks,
            weights=weights,
        )
        if tasks is not None:
            by_task.append(_means_by_task(scored, names_of_tasks, name, cut))
        n_clusters = len(scored.values) if groups is None else len(np.unique(groups))
        given.append((Measurement(dataset, name, cut, n_clusters), scored, known.score_size))
    # Intervals hold for everything that is shown together, so how much that is must be known first.
    against = [
        [
            (a, b)
            for a in range(len(scored.methods))
            for b in range(a + 1, len(scored.methods))
            if all_pairs or a == 0
        ]
        for _, scored, _ in given
    ]
    n_family = sum(map(len, against))
    if not n_family:
        raise InputError(f"nothing can be compared: {'; '.join(notes)}")
    found = [
        (place, pair)
        for (place, scored, size), wanted in zip(given, against, strict=True)
        for pair in measure_pairs(
            scored,
            wanted,
            unit="sample",
            test=chosen,
            settings=replace(settings, size=size),
            n_family=n_family,
        )
    ]
    how = "equally" if weights == "equal" else "by size"
    return SampleComparison(
        unit="sample",
        test=chosen,
        pairs=judged([pair for _, pair in found], adjustment.adjust, settings),
        settings=settings,
        warnings=tuple(dict.fromkeys(notes)),
        reference="" if all_pairs else reference,
        measurements=tuple(place for place, _ in found),
        correction=adjustment,
        clustered=clustered,
        n_family=n_family,
        by_task=pd.concat(by_task, ignore_index=True) if by_task else None,
        strata="" if strata is None else f", means by {strata} weighted {how}",
    )


def compare_losses(
    losses: Mapping[str, FloatArray],
    *,
    n_train: float,
    n_family: int,
    size: float = 0.0,
    dataset: str = "data",
    units: str = "samples",
    alpha: float = 0.05,
) -> SampleComparison:
    """Compare the first of several methods with each other one by out-of-fold losses, of which the lower is better.

    The unit is a physical sample: replicates and repeated validations of one are averaged first,
    since they are not independent observations. A plain paired test on such losses would forget
    that they share their training rows: two equally good methods, of which one had the luck of this
    training set, were told apart in 9 to 19 % of simulated cross-validations at a nominal 5 %. So
    they are tested by `paragone.stats.t_tests.corrected_sample_t`.

    Parameters
    ----------
    losses : mapping of str to ndarray of shape (n,)
        Of every method, one loss per sample, in the same order of samples; the reference first.
    n_train : float
        Samples in a training set.
    n_family : int
        How many tests the correction counts. Where the reference was chosen by the same data, the
        family is every pair of methods, whichever of them turns out to be the best.
    size : float, default=0.0
        The size of the measurements that the losses are the rest of. See `paragone.ties`.
    dataset, units : str
        How the dataset and its samples are called.
    alpha : float, default=0.05
        Family-wise level.

    Returns
    -------
    SampleComparison
        With fewer than three samples p is NaN, and nothing is decided.

    Examples
    --------
    >>> losses = {"best": np.array([0.1, 0.2, 0.1, 0.3]), "other": np.array([0.2, 0.5, 0.3, 0.7])}
    >>> pair, = compare_losses(losses, n_train=3.0, n_family=1).pairs
    >>> pair.rival, round(pair.p, 4), pair.word
    ('other', 0.085, 'undecided')
    """
    scored = UnitScores(
        tuple(losses), (), np.stack(list(losses.values()), axis=1), False, n_train=n_train
    )
    settings = ComparisonSettings(alpha=alpha, size=size)
    test, correction = find_test("corrected-sample-t", "sample"), find_correction("holm")
    against = [(0, rival) for rival in range(1, len(losses))]
    pairs = measure_pairs(
        scored, against, unit="sample", test=test, settings=settings, n_family=n_family
    )
    n = len(scored.values)
    return SampleComparison(
        unit="sample",
        test=test,
        pairs=judged(pairs, lambda p: correction.adjust_among(p, n_family), settings),
        settings=settings,
        reference=scored.methods[0],
        measurements=(Measurement(dataset, "loss", np.nan, n),) * len(pairs),
        correction=correction,
        clustered=False,
        n_family=n_family,
        units=units,
    )


def _checked(samples: pd.DataFrame, metric: str | None, at: float | None) -> pd.DataFrame:
    missing = [name for name in NEEDED if name not in samples.columns]
    if missing:
        raise InputError(
            f"values per sample need a column {missing[0]!r}; there are"
            f" {', '.join(map(str, samples.columns))}"
        )
    frame = samples
    for column, wanted, default in (("metric", metric, "score"), ("at", at, float("nan"))):
        if wanted is not None:
            known: Sequence[Any] = (
                list(pd.unique(frame[column])) if column in frame.columns else [default]
            )
            if wanted in known and column not in frame.columns:
                continue
            if wanted not in known:
                raise unknown_name(column, str(wanted), [str(one) for one in known])
            frame = frame[frame[column] == wanted]
    if frame["method"].nunique() < 2:
        raise InputError("a comparison needs two methods or more")
    return frame


def _means_by_task(
    scored: UnitScores, names: Sequence[str], metric: str, cut: float
) -> pd.DataFrame:
    """Return how many samples each task has, and the mean of every method on them."""
    tasks = np.asarray(scored.strata)
    sizes = np.bincount(tasks, minlength=len(names))
    with np.errstate(invalid="ignore"):
        means = {
            method: np.bincount(tasks, scored.values[:, place], minlength=len(names)) / sizes
            for place, method in enumerate(scored.methods)
        }
    found = pd.DataFrame({"task": list(names), "metric": metric, "at": cut, "n": sizes, **means})
    return found[found["n"] > 0]


def _no_strata(strata: str, frame: pd.DataFrame, test: Test) -> InputError:
    if strata not in frame.columns:
        return unknown_name("column of strata", strata, [str(name) for name in frame.columns])
    return InputError(f"the test {test.name!r} knows no strata: choose stratified-t")


def _measured_together(
    frame: pd.DataFrame, dataset: str
) -> Iterator[tuple[tuple[Any, ...], pd.DataFrame]]:
    """Go through the datasets, metrics and cut-offs; most tables have one of each, which needs no grouping."""
    one = {"dataset": dataset, "metric": "score", "at": float("nan")}
    several = []
    for name in KEYS:
        if name in frame.columns:
            known = pd.unique(frame[name])
            one[name] = known[0]
            if len(known) > 1:
                several.append(name)
    if not several:
        yield tuple(one.values()), frame
        return
    for key, rows in frame.groupby(several, sort=False, dropna=False, observed=True):
        yield tuple((one | dict(zip(several, key, strict=True))).values()), rows


def _aligned(
    rows: pd.DataFrame, cluster: str | None
) -> tuple[dict[str, Any], Any, Any, list[str], int]:
    """Return values by method on the samples that all have, clusters, strata and their names, and how many are out."""
    methods, names = pd.factorize(rows["method"])
    sample, samples = pd.factorize(rows["sample"], sort=True, use_na_sentinel=False)
    stratum, strata = None, pd.Index([])
    unit, n_units = sample.astype(np.int64), len(samples)
    if "stratum" in rows.columns:
        stratum, strata = pd.factorize(rows["stratum"], sort=True)
        unit, n_units = stratum * np.int64(n_units) + unit, len(strata) * n_units
    if n_units > 4 * len(rows):
        # Strata of very different sizes: most places between the largest and the smallest would be
        # empty.
        present, unit = np.unique(unit, return_inverse=True)
        n_units = len(present)
    if np.bincount(unit * len(names) + methods, minlength=1).max() > 1:
        raise InputError("a method has several values for one sample: average them first")
    wide = np.full((n_units, len(names)), np.nan)
    wide[unit, methods] = rows["value"].to_numpy(dtype=np.float64)
    there = np.zeros(n_units, dtype=bool)
    there[unit] = True
    whole = ~np.isnan(wide).any(axis=1)
    left_out = int(there.sum() - whole.sum())
    first = np.zeros(n_units, dtype=np.int64)
    # Backwards, so that of several rows of a unit the first one stays.
    first[unit[::-1]] = np.arange(len(rows))[::-1]
    groups = None if cluster is None else rows[cluster].to_numpy()[first[whole]]
    tasks = None if stratum is None else stratum[first[whole]]
    values = wide[whole]
    by_method = {str(name): values[:, place] for place, name in enumerate(names)}
    return by_method, groups, tasks, [str(name) for name in strata], left_out
