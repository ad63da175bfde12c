"""Compare methods on the samples of a test set: paired, clustered, and with what could have been detected at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from paragone.errors import InputError, unknown_name
from paragone.metrics import metric_in_words, named_metric
from paragone.stats.evidence import Told
from paragone.stats.family import PROCEDURES, ComparisonSettings
from paragone.stats.pairs import Pair, UnitScores, double_fails, judged, measure_pairs
from paragone.stats.registries import Correction, Test, TestResult, find_correction, find_test
from paragone.stats.result import Comparison, pair_row, verdict_cells
from paragone.stats.t_tests import TTest, detectable_errors
from paragone.stats.words import Findings, counted, number, wins_in_words
from paragone.tables import Column, Table, decimals_for, format_number
from paragone.ties import TOLERANCE, FloatArray, loss_order

KEYS = ("dataset", "metric", "at")
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
    tasks : tuple of (str, Pair)
        The leader against each rival on every stratum, together as one family.
    outcomes : tuple of int
        Of two methods that are right or wrong: both right, only the leader, only the rival, both
        wrong.
    unfiltered : SampleComparison, optional
        The same without the threshold.
    cluster : str
        What a cluster of samples is called.
    about : str
        What names the samples, and what is said of them; empty where that is known.

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
    tasks: tuple[tuple[str, Pair], ...] = ()
    outcomes: tuple[int, ...] = ()
    threshold: float | None = None
    unfiltered: SampleComparison | None = None
    cluster: str = "query"
    about: str = ""

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
        """One row per pair, metric and cut-off.

        ``detectable`` is the least difference that 80 % of such tests would have found at the level
        that is left to one of the family, with its degrees of freedom: 2.8 standard errors for one
        test on many samples, more for several tests or few samples.
        """
        rows = [
            {
                **pair_row(pair),
                "dataset": place.dataset,
                "metric": place.metric,
                "at": place.at,
                "clusters": place.clusters,
                "detectable": self.detectable(pair),
            }
            for place, pair in zip(self.measurements, self.pairs, strict=True)
        ]
        return pd.DataFrame(rows)

    @property
    def places(self) -> tuple[tuple[str, ...], Sequence[tuple[str, ...]]]:
        """Dataset, metric and cut-off of every pair, as far as there are several."""
        shown = [
            (place.dataset, metric_in_words(place.metric), f"{place.at:g}")
            for place in self.measurements
        ]
        several = [len(set(column)) > 1 for column in zip(*shown, strict=True)]
        heads = tuple(compress(KEYS, several))
        return heads, [tuple(compress(row, several)) for row in shown]

    @cached_property
    def rows(self) -> tuple[Any, ...]:
        """The rows of the table, each with the columns as attributes."""
        return tuple(self.table.itertuples(index=False, name="SampleDifference"))

    @cached_property
    def first(self) -> tuple[Pair, ...]:
        """The pairs by the first dataset, metric and cut-off, which the findings speak of."""
        of_first = self.measurements[0][:3] if self.measurements else ()
        both = zip(self.measurements, self.pairs, strict=True)
        # NaN is no cut-off, and not equal to itself.
        return tuple(pair for place, pair in both if str(place[:3]) == str(of_first))

    @cached_property
    def findings(self) -> Findings:
        """What is said of the leader and its rivals, by the first metric and cut-off."""
        leader, means = self.reference, self.means
        leader = leader or next(iter(means))
        pairs = {
            pair.seen_from(leader).rival: pair.seen_from(leader)
            for pair in self.first
            if leader in (pair.method, pair.rival)
        }
        place = self.measurements[0] if self.measurements else Measurement("", "", np.nan, 0)
        rivals = [name for name in means if name in pairs]
        return Findings(
            leader=leader,
            metric=place.metric,
            higher_is_better=self.higher_is_better,
            means=means,
            scopes={"this data": tuple(pairs[name] for name in rivals)},
            measured=self.measured,
            won={name: wins_in_words(pairs[name]) for name in rivals},
            n_family=self.n_family,
            level=1 - self.alpha,
            margin=self.settings.margin,
            tasks=dict(self.tasks) if len(rivals) == 1 else {},
            remarks=tuple(self._remarks(leader, [pairs[name] for name in rivals])),
        )

    @property
    def higher_is_better(self) -> bool:
        """Which way the first metric is better: differences are signed so that positive is better."""
        return not any(
            (pair.mean_method - pair.mean_rival) * pair.mean_difference < 0 for pair in self.first
        )

    @cached_property
    def means(self) -> dict[str, float]:
        """Mean values by the first metric and cut-off, the best first."""
        found: dict[str, float] = {self.reference: np.nan} if self.reference else {}
        for pair in self.first:
            found |= {pair.method: float(pair.mean_method), pair.rival: float(pair.mean_rival)}
        names = sorted(found)
        losses = np.array([found[name] for name in names]) * (-1 if self.higher_is_better else 1)
        return {names[place]: found[names[place]] for place in loss_order(losses)}

    @property
    def measured(self) -> str:
        """On how much it was measured, in words."""
        n = max((pair.n for pair in self.first), default=0)
        told = f"{n} {self.units}"
        if self.clustered:
            told += f" in {counted(self.measurements[0].clusters, self.cluster)}"
        return told + self.strata

    def _remarks(self, leader: str, pairs: Sequence[Pair]) -> list[str]:
        remarks = []
        if self.outcomes and pairs:
            both, mine, theirs, none = self.outcomes
            remarks.append(
                f"Both right {both}, only {leader} {mine}, only {pairs[0].rival} {theirs}, both"
                f" wrong {none}."
            )
        if self.unfiltered is not None and pairs:
            n = self.unfiltered.pairs[0].n
            remarks.append(
                f"Without {counted(n - pairs[0].n, 'double fail')} (both no better than"
                f" {self.threshold:g}); of all {n} {self.units}: {self.unfiltered.findings.said}."
            )
        if len(self.first) < len(self.pairs):
            remarks.append(self._other_values(leader))
        open_ones = [pair for pair in pairs if pair.word == "undecided"]
        least = self.detectable(open_ones[0]) if open_ones else np.nan
        # Where all samples tie, nothing varies, and no number of samples would do.
        if least > 0:
            remarks.append(
                f"To decide {open_ones[0].rival}: {pairs[0].n} {self.units} can show a difference of"
                f" {number(least)}, not this one."
            )
        return remarks

    def _other_values(self, leader: str) -> str:
        """Say how the leader does by all metrics and cut-offs together."""
        words = [
            pair.seen_from(leader).word
            for pair in self.pairs
            if leader in (pair.method, pair.rival)
        ]
        place = self.measurements[0]
        at = f" at {place.at:g}" if np.isfinite(place.at) else ""
        better, worse = words.count("better"), words.count("worse")
        return (
            f"Shown: {metric_in_words(place.metric)}{at} on {place.dataset}. Of all"
            f" {len(words)} differences of {leader}, {better} are better and {worse} worse."
        )

    @property
    def told(self) -> Told:
        """What the lines of evidence need to know."""
        means = [mean for pair in self.first for mean in (pair.mean_method, pair.mean_rival)]
        return Told(
            self.settings,
            {"this data": self.correction.title if self.n_family > 1 else ""},
            {"this data": self.test.estimate},
            decimals_for(means),
            self.higher_is_better,
            powered=False,
        )

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
            f"; {self.correction.title} over all {self.n_family} differences (metrics, cut-offs,"
            f" {whom})"
        )
        return (
            f"{self.test.title} over {self.units}{clusters}{self.strata}"
            f"{every if self.n_family > 1 else ''}"
        )

    @property
    def choices(self) -> Mapping[str, str]:
        """Everything that was chosen, in words."""
        return MappingProxyType(
            {
                **({"units": self.about} if self.about else {}),
                "method": self.method,
                "level": f"alpha = {self.alpha:g}, for the whole family",
            }
        )

    @property
    def caption(self) -> str:
        """The sentence of a caption: what was compared, and how."""
        who = f"{self.reference} against each rival" if self.reference else "All pairs"
        return f"{who} on {self.measured}: {self.method}."

    def tables(self) -> Mapping[str, Callable[[], Table]]:
        """Return what makes the table of pairs, and that of the tasks where there are several."""
        return {**super().tables(), **({"tasks": self._tasks_table} if self.tasks else {})}

    def frames(self) -> Mapping[str, pd.DataFrame]:
        """Return the unrounded figures, by the names of their files."""
        found = {**super().frames()}
        if self.tasks:
            found["tasks"] = pd.DataFrame(
                [{"task": task, **pair_row(pair)} for task, pair in self.tasks]
            )
        return found

    def _tasks_table(self) -> Table:
        """Make the table of differences by task."""
        heads = [
            "task",
            self.units,
            "method",
            "rival",
            "method",
            "rival",
            "difference",
            "word",
            "p",
        ]
        decimals = self.told.decimals
        rows = [
            [
                task,
                str(pair.n),
                pair.method,
                pair.rival,
                format_number(pair.mean_method, decimals),
                format_number(pair.mean_rival, decimals),
                *verdict_cells(pair, decimals)[::-1],
            ]
            for task, pair in self.tasks
        ]
        rows = [[*row[:6], row[6], row[8], row[7]] for row in rows]
        caption = (
            f"Differences by task; p and intervals hold for all {len(self.tasks)} together (Holm)."
        )
        columns = [
            Column(head, "left" if place in (0, 2, 3, 7) else "right")
            for place, head in enumerate(heads)
        ]
        return Table.of(columns, rows, caption=caption, label="tab:tasks")

    def further(self) -> dict[str, Any]:
        """Return what a comparison on samples has beyond its pairs, for JSON."""
        found: dict[str, Any] = {
            "reference": self.reference or None,
            "alpha": self.alpha,
            "method": self.method,
            "tasks": [{"task": task, **pair_row(pair)} for task, pair in self.tasks],
        }
        if self.outcomes:
            names = ("both_right", "only_leader", "only_rival", "both_wrong")
            found["outcomes"] = dict(zip(names, self.outcomes, strict=True))
        if self.unfiltered is not None:
            found["threshold"] = self.threshold
            found["unfiltered"] = self.unfiltered.table.to_dict("records")
        return found


def compare_samples(
    samples: pd.DataFrame,
    *,
    reference: str | None = None,
    metric: str | None = None,
    at: float | None = None,
    cluster: str | None = "query",
    strata: str | None = None,
    weights: Literal["equal", "size"] = "equal",
    test: str | Test | Callable[..., TestResult] | None = None,
    correction: str | Correction | Callable[..., Any] | None = None,
    higher_is_better: bool | None = None,
    alpha: float = 0.05,
    margin: float = 0.0,
    threshold: float | None = None,
    tolerance: float = TOLERANCE,
) -> SampleComparison:
    """Compare a method with each other one on the samples that all of them have.

    Parameters
    ----------
    samples : DataFrame
        One row per method and sample: columns ``method, sample, value`` and, where there are
        several, ``dataset, metric, at``; ``results.reader().sample_scores()`` gives it.
    reference : str, optional
        The method compared with each other one; all pairs where it is not given.
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
    correction : str, Correction or callable, optional
        How the p-values of everything shown are adjusted together: by default ``shaffer`` for all
        pairs by one value, else ``holm``.
    higher_is_better : bool, optional
        Direction of the metrics, whatever Paragone knows of their names. Left out, those of unknown
        direction are left out: it is never guessed.
    alpha : float, default=0.05
        Family-wise level; intervals are at ``1 - alpha``.
    margin : float, default=0.0
        The largest difference that does not matter; only with one can methods be found equivalent.
    threshold : float, optional
        Chance level of two methods: samples on which both are no better are left out.
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
    methods = list(map(str, pd.unique(frame["method"])))
    if reference is not None and reference not in methods:
        raise unknown_name("reference", reference, methods)
    by_default = PROCEDURES["sample"].test if strata is None else "stratified-t"
    chosen = find_test(by_default if test is None else test, "sample")
    if strata is not None and (strata not in frame.columns or "strata" not in chosen.needs):
        raise _no_strata(strata, frame, chosen)
    several = any(name in frame.columns and frame[name].nunique() > 1 for name in KEYS)
    whole = reference is None and not (several and strata is None)
    adjustment = find_correction(correction or ("shaffer" if whole else "holm"))
    if adjustment.on_ranks or adjustment.family not in ("any", *(["all pairs"] if whole else [])):
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
    settings = ComparisonSettings(alpha=alpha, tolerance=tolerance, margin=margin)
    given: list[tuple[Measurement, UnitScores, float]] = []
    tasks_of_first: list[str] = []
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
        there = [method for method in methods if method in values]
        scored = UnitScores(
            tuple(there),
            (),
            np.stack([values[method] for method in there], axis=1),
            higher,
            clusters=groups,
            strata=tasks,
            weights=weights,
        )
        if threshold is not None:
            scored = _without_double_fails(scored, threshold, known.score_size)
            groups = scored.clusters
        tasks_of_first = tasks_of_first or names_of_tasks
        n_clusters = len(scored.values) if groups is None else len(np.unique(groups))
        given.append((Measurement(dataset, name, cut, n_clusters), scored, known.score_size))
    # Intervals hold for everything that is shown together, so how much that is must be known first.
    against = [
        [
            (a, b)
            for a in range(len(scored.methods))
            for b in range(len(scored.methods))
            if (a < b if reference is None else scored.methods[a] == reference and a != b)
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
    result_of = SampleComparison(
        unit="sample",
        test=chosen,
        pairs=judged([pair for _, pair in found], adjustment.adjust, settings),
        settings=settings,
        warnings=tuple(dict.fromkeys(notes)),
        reference=reference or "",
        measurements=tuple(place for place, _ in found),
        correction=adjustment,
        clustered=clustered,
        n_family=n_family,
        strata="" if strata is None else f", means by {strata} weighted {how}",
        threshold=threshold,
    )
    if threshold is not None:
        unfiltered = compare_samples(
            samples,
            reference=reference,
            metric=metric,
            at=at,
            cluster=cluster,
            strata=strata,
            weights=weights,
            test=test,
            correction=correction,
            higher_is_better=higher_is_better,
            alpha=alpha,
            margin=margin,
            tolerance=tolerance,
        )
        result_of = replace(result_of, unfiltered=unfiltered)
    return _in_detail(result_of, given[0][1], tasks_of_first)


def _in_detail(
    result: SampleComparison, scored: UnitScores, names: Sequence[str]
) -> SampleComparison:
    """Add the differences on every task, as one family, and the counts of two methods that are right or wrong."""
    leader = result.findings.leader
    mine = scored.methods.index(leader)
    rivals = [place for place in range(len(scored.methods)) if place != mine]
    values = scored.values
    outcomes: tuple[int, ...] = ()
    right = values == (1 if scored.higher_is_better else 0)
    if len(rivals) == 1 and np.isin(values, (0, 1)).all():
        a, b = right[:, mine], right[:, rivals[0]]
        outcomes = tuple(int(both.sum()) for both in (a & b, a & ~b, ~a & b, ~a & ~b))
    result = replace(result, outcomes=outcomes)
    if scored.strata is None or len(names) < 2 or len(result.first) < len(result.pairs):
        return result
    # The leader may have been chosen by these values: every pair counts, whichever leads.
    n_family = len(names) * len(result.first)
    binary = bool(outcomes) and scored.clusters is None and not result.settings.margin
    test = find_test("mcnemar" if binary else PROCEDURES["sample"].test, "sample")
    tasks = np.asarray(scored.strata)
    told: list[str] = []
    pairs: list[Pair] = []
    for place, name in enumerate(names):
        inside = tasks == place
        if not inside.any():
            continue
        clusters = None if scored.clusters is None else np.asarray(scored.clusters)[inside]
        part = replace(scored, values=values[inside], clusters=clusters, strata=None)
        measured = measure_pairs(
            part,
            [(mine, rival) for rival in rivals],
            unit="sample",
            test=test,
            settings=result.settings,
            n_family=n_family,
        )
        told += [name] * len(rivals)
        pairs += measured
    holm = find_correction("holm")
    found = judged(pairs, lambda p: holm.adjust_among(p, n_family), result.settings)
    return replace(result, tasks=tuple(zip(told, found, strict=True)))


def _without_double_fails(scored: UnitScores, threshold: float, size: float) -> UnitScores:
    """Return the samples on which one of two methods is better than the threshold."""
    if len(scored.methods) != 2:
        raise InputError(
            f"a threshold is for two methods, not {len(scored.methods)}: keep two, or leave it out"
        )
    fails = double_fails(
        scored.values, threshold, higher_is_better=scored.higher_is_better, size=size
    )
    if fails.all():
        raise InputError(f"no value of either method is better than the threshold {threshold:g}")
    clusters, strata = (
        None if labels is None else np.asarray(labels)[~fails]
        for labels in (scored.clusters, scored.strata)
    )
    return replace(scored, values=scored.values[~fails], clusters=clusters, strata=strata)


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
