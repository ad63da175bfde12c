"""The comparison of methods over datasets, over subjects, or over the splits of one dataset, and its tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd

from paragone.errors import unknown_name
from paragone.intervals import Interval
from paragone.metrics import named_metric
from paragone.stats.deciding import DecidingSize, deciding_sizes
from paragone.stats.evidence import Told, dataset_choices
from paragone.stats.family import ComparisonSettings, Family
from paragone.stats.pairs import Pair, UnitScores
from paragone.stats.profiles import FEWEST, run_profiles
from paragone.stats.ranks import Friedman
from paragone.stats.registries import Correction, find_correction
from paragone.stats.result import Comparison
from paragone.stats.scopes import learners_of, why_untold
from paragone.stats.scores import ScoreTable, listed
from paragone.stats.standings import Order, order_by_mean
from paragone.stats.verdicts import Scope, Verdict, adjusted_where_known
from paragone.stats.words import Findings, counted, too_few, wins_in_words
from paragone.tables import (
    Column,
    Table,
    TableCell,
    format_mean_std,
    format_number,
    mark_best,
)
from paragone.ties import FloatArray


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class DatasetComparison(Comparison):
    """What the statistics say about many methods on many datasets.

    Attributes
    ----------
    scores : ScoreTable
        The scores that were compared.
    family : Family
        The tests made together.
    ranks : ndarray of shape (n_datasets, n_methods)
        Rank of each method on each dataset.
    friedman : Friedman
        Friedman's chi-square and Iman-Davenport's F.
    learners : tuple of Verdict
        The same pairs on the datasets at hand, from folds and repeats; empty where nothing can be
        told.
    per_dataset : DataFrame
        Tests on the folds of each dataset.
    threshold : float, optional
        Chance level: units on which both of two methods are no better are left out.
    unfiltered : DatasetComparison, optional
        The same without the threshold.

    Examples
    --------
    >>> from paragone import compare
    >>> names = [f"set {number}" for number in range(8)]
    >>> better, worse = [0.9, 0.8, 0.7, 0.9, 0.8, 0.7, 0.6, 0.9], [0.8, 0.7, 0.6, 0.7, 0.7, 0.5, 0.5, 0.8]
    >>> comparison = compare(pd.DataFrame({"dataset": names, "A": better, "B": worse}), metric="accuracy")
    >>> comparison.leader, comparison.pairs[0].word, comparison.pairs[0].p_raw
    ('A', 'better', 0.0078125)
    >>> comparison.friedman.average_ranks
    (1.0, 2.0)
    """

    scores: ScoreTable
    family: Family
    ranks: FloatArray
    friedman: Friedman
    learners: tuple[Verdict, ...]
    per_dataset: pd.DataFrame
    threshold: float | None = None
    unfiltered: DatasetComparison | None = None

    @property
    def leader(self) -> str:
        """The reference, or without one the first of the order: the method with the best mean over the datasets."""
        if self.family.reference is not None:
            return self.scores.methods[self.family.reference]
        return self.ordered[0]

    @cached_property
    def order(self) -> Order:
        """The one order of the methods, by their mean over the datasets; every leader and ranked table goes by it."""
        return order_by_mean(
            self.scores.values,
            higher_is_better=self.scores.higher_is_better,
            average_ranks=self.ranks.mean(axis=0),
            size=self.settings.size,
        )

    @cached_property
    def ordered(self) -> tuple[str, ...]:
        """The methods from best to worst."""
        return tuple(self.scores.methods[place] for place in self.order.places)

    @cached_property
    def leading_pairs(self) -> tuple[Pair, ...]:
        """The pairs that the verdict is about: the leader with each rival, the best rival first."""
        places = {method: place for place, method in enumerate(self.ordered)}
        mine = [
            pair.seen_from(self.leader)
            for pair in self.pairs
            if self.leader in (pair.method, pair.rival)
        ]
        return tuple(sorted(mine, key=lambda pair: places[pair.rival]))

    @cached_property
    def leading_learners(self) -> tuple[Verdict, ...]:
        """What the datasets at hand tell of the leader and each rival, in the order of the leading pairs."""
        return self.learners_of(self.leader, [pair.rival for pair in self.leading_pairs])

    def learners_of(self, leader: str, rivals: Sequence[str]) -> tuple[Verdict, ...]:
        """Return what the datasets at hand tell of a method and each of some rivals."""
        mine = {
            pair.seen_from(leader).rival: pair.seen_from(leader)
            for pair in self.learners
            if leader in (pair.method, pair.rival)
        }
        return tuple(mine[rival] for rival in rivals if rival in mine)

    @cached_property
    def means(self) -> dict[str, float]:
        """Mean score over the datasets that a method has, by method; of logarithms where those are compared."""
        return dict(zip(self.scores.methods, _column_means(self.scores.values), strict=True))

    @cached_property
    def own_scores(self) -> dict[str, Interval]:
        """The mean score of every method with its interval; none where logarithms are compared."""
        if self.scores.differences == "log":
            return {}
        return learners_of(self.scores).own_scores(self.settings.alpha)

    @property
    def is_alone(self) -> bool:
        """Whether there is one dataset only, whose splits are then the units."""
        return self.unit == "fold"

    @property
    def verdicts_here(self) -> tuple[Verdict, ...]:
        """The pairs on this data, where the datasets speak of new ones."""
        return () if self.is_alone else self.learners

    @cached_property
    def findings(self) -> Findings:
        """What is said of the leader and its rivals, in both scopes."""
        logarithms = self.scores.differences == "log"
        # A pair in which one failed has no mean difference.
        here = tuple(
            pair for pair in self.leading_learners if not math.isnan(pair.difference.estimate)
        )
        scopes: dict[Scope, tuple[Verdict, ...]] = {"this data": here}
        n_family = self.family.n_of_leader
        if self.unit == "dataset":
            scopes["new datasets"] = self.leading_pairs
        else:
            scopes["this data"] = self.leading_pairs
        found = Findings(
            leader=self.leader,
            metric=self.scores.metric or "",
            higher_is_better=self.scores.higher_is_better,
            means={
                name: math.exp(self.means[name]) if logarithms else self.means[name]
                for name in self.ordered
            },
            scopes=scopes,
            untold=self.untold,
            measured=self.measured,
            won={pair.rival: wins_in_words(pair) for pair in self.leading_pairs},
            level=1 - self.settings.alpha,
            margin=self.settings.margin,
            logarithms=logarithms,
        )
        if found.shown != "this data" or self.unit == "subject":
            n_family = len(self.pairs)
        return replace(found, n_family=n_family, remarks=tuple(self._remarks(found)))

    @property
    def measured(self) -> str:
        """On how much it was measured, in words."""
        table = self.scores
        told = f"{len(table.methods)} methods on {counted(len(table.datasets), self._called)}"
        sizes = sorted({len(folds) for folds in table.folds})
        if self.is_alone:
            told = f"{len(table.methods)} methods on {table.datasets[0]}"
        if table.datasets == ("data",):
            # Nobody named it.
            told = f"{len(table.methods)} methods on {counted(sizes[0], 'fold')}"
        elif sizes != [1]:
            span = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
            told += f", means of {span} folds"
        return f"{told}, {table.point}" if table.point else told

    @property
    def _called(self) -> str:
        return "subject" if self.unit == "subject" else "dataset"

    @cached_property
    def untold(self) -> dict[Scope, str]:
        """Why it cannot be told more, by scope."""
        told: dict[Scope, str] = {}
        n_folds = [len(folds) for folds in self.scores.folds]
        one_split = any(one is not None and one.n_splits == 1 for one in self.scores.designs)
        untested = all(math.isnan(pair.p_raw) for pair in self.learners)
        if self.learners and self._lacking:
            told["this data"] = "A score failed, which leaves no mean difference on this data."
        elif self.unit != "subject" and (untested or one_split):
            by_rows = bool(self.learners)
            told["this data"] = why_untold(self.scores.designs, n_folds, by_rows=by_rows)
            if self.is_alone and not told["this data"]:
                told["this data"] = (
                    "The seeds of one split say how much fitting again changes, not what other data"
                    " would: give the scores of folds."
                    if self.scores.seeds
                    else "One score of each method says nothing of chance: give the scores of folds."
                )
        undecided = all(pair.word == "undecided" for pair in self.leading_pairs)
        if self.unit == "dataset" and undecided and not self.family.on_ranks:
            told["new datasets"] = too_few(
                len(self.scores.datasets), len(self.family.pairs), self.settings.alpha
            )
        return {scope: text for scope, text in told.items() if text}

    def _remarks(self, found: Findings) -> list[str]:
        """Say what the threshold left out, and what would decide the first rival that is undecided."""
        remarks = []
        if self.unfiltered is not None:
            n = self.unfiltered.pairs[0].n - self.pairs[0].n
            remarks.append(
                f"Without {counted(n, 'double fail')} (both no better than {self.threshold:g});"
                f" of all {counted(self.unfiltered.pairs[0].n, self.unit)}:"
                f" {self.unfiltered.findings.said}."
            )
        open_ones = [pair for pair in found.pairs if pair.word == "undecided"]
        if not open_ones or math.isnan(open_ones[0].p_raw):
            return remarks
        first = open_ones[0]
        if isinstance(first, Pair) and first.unit != "fold":
            if first.needed is not None:
                needed = counted(first.needed, self._called)
                remarks.append(f"To decide {first.rival}: about {needed} like these.")
            return remarks
        size = deciding_sizes(self.scores, first, self.family.n_of_leader, self.settings)[0]
        if size is not None and size.datasets is not None:
            times = f"{size.rows:.2g}" if size.rows < 10 else f"{math.ceil(size.rows)}"
            datasets = counted(size.datasets, "dataset")
            remarks.append(
                f"To decide {first.rival}: about {times} times the rows, or {datasets} like these."
            )
        return remarks

    @property
    def told(self) -> Told:
        """What the lines of evidence need to know."""
        scope: Scope = "new datasets" if self.unit == "dataset" else "this data"
        corrections: dict[Scope, str] = {"this data": self.family.for_learners}
        if scope == "new datasets":
            corrections[scope] = self.family.title
        if len(self.family.pairs) == 1:
            corrections = dict.fromkeys(corrections, "")
        return Told(
            self.settings,
            corrections,
            {"this data": "mean difference", scope: self.test.estimate},
            self.scores.decimals,
            self.scores.higher_is_better,
            self.scores.differences == "log",
            self.family.on_ranks,
            self.test.power is not None,
            {rival: self._deciding_words(sizes) for rival, sizes in self.deciding.items()},
        )

    @property
    def test_in_words(self) -> str:
        """What p is and how it was adjusted, as a caption says it."""
        p = (
            "p of average ranks"
            if self.family.on_ranks
            else self.test.p_in_words(self.settings.options)
        )
        if self.unit != "dataset" and self.family.with_best:
            return f"{p}, adjusted {self.family.for_learners}"
        return f"{p} and its {self.family.title} adjustment"

    @property
    def correction_within(self) -> Correction:
        """The correction of tests on the folds of one dataset: the family's, or Holm's where that does not fit."""
        chosen = self.family.correction
        return chosen if chosen.family == "any" and not chosen.on_ranks else find_correction("holm")

    def leader_on(self, dataset: str) -> pd.DataFrame:
        """Return the leader's tests on the folds of a dataset, their p adjusted over the rivals on that dataset."""
        rows = self._leading_tests.get(dataset)
        if rows is None:
            return self.per_dataset.iloc[:0]
        return rows.assign(
            p=adjusted_where_known(rows["p"].to_list(), self.correction_within.adjust)
        )

    @cached_property
    def _leading_tests(self) -> dict[str, pd.DataFrame]:
        """The leader's tests by dataset, looked up once: there may be a thousand datasets."""
        if self.per_dataset.empty:
            return {}
        mine = self.per_dataset[self.per_dataset["method"] == self.leader]
        return {str(dataset): rows for dataset, rows in mine.groupby("dataset", sort=False)}

    @cached_property
    def deciding(self) -> dict[str, tuple[DecidingSize | None, DecidingSize | None]]:
        """What would decide the leader against each undecided rival on this data: a difference, an equivalence."""
        n_family = self.family.n_of_leader
        return {
            pair.rival: deciding_sizes(self.scores, pair, n_family, self.settings)
            for pair in self.leading_learners
            if pair.word == "undecided" and not math.isnan(pair.p_raw)
        }

    def _deciding_words(self, sizes: Sequence[DecidingSize | None]) -> list[str]:
        whats = (
            "show a difference of this size",
            f"show one of less than {self.settings.margin:g}",
        )
        designs = self.scores.designs
        return [
            size.words(what, designs)
            for size, what in zip(sizes, whats, strict=True)
            if size is not None
        ]

    @property
    def caption(self) -> str:
        """The sentence that states metric, test, correction and n."""
        table, choices = self.scores, self.choices
        by = f" by {choices['metric']}" if table.metric else f", {choices['metric']}"
        ranks = "" if self.unit == "fold" else f" {self.friedman.words()}."
        return (
            f"{self.measured}{by}.{ranks} Pairs: {choices['test']}; {choices['correction']}; alpha ="
            f" {self.settings.alpha:g}."
        )

    @property
    def method_warnings(self) -> tuple[str, ...]:
        """What the store says of the methods that a verdict must not leave out, such as fits that did not converge."""
        return self.scores.method_warnings

    @cached_property
    def choices(self) -> Mapping[str, str]:
        """Everything that was chosen, in words."""
        return dataset_choices(self.scores, self.family, self.test, self.pairs, self.settings)

    @cached_property
    def rank_table(self) -> pd.DataFrame:
        """One row per method: average rank, mean score, datasets on which it is best; in the one order."""
        own = [self.own_scores.get(name, Interval(math.nan)) for name in self.scores.methods]
        frame = pd.DataFrame(
            {
                "method": self.scores.methods,
                "average_rank": self.ranks.mean(axis=0),
                "mean": _column_means(self.scores.values),
                "mean_low": [one.low for one in own],
                "mean_high": [one.high for one in own],
                "median": [
                    (
                        float(np.median(column[~np.isnan(column)]))
                        if not np.isnan(column).all()
                        else math.nan
                    )
                    for column in self.scores.values.T
                ],
                "failed_on": np.isnan(self.scores.values).sum(axis=0),
                "best_on": (self.ranks == self.ranks.min(axis=1, keepdims=True)).sum(axis=0),
            }
        )
        return frame.iloc[list(self.order.places)].reset_index(drop=True)

    def against(self, rival: str | None = None) -> PairUnits:
        """Return the leader beside one rival, unit by unit; by default the best rival."""
        rivals = {pair.rival: pair for pair in self.leading_pairs}
        name = next(iter(rivals)) if rival is None else rival
        if name not in rivals:
            raise unknown_name("rival", name, list(rivals))
        whole = self if self.unfiltered is None else self.unfiltered
        scored = whole.units
        places = scored.methods.index(self.leader), scored.methods.index(name)
        return PairUnits(
            pair=rivals[name],
            unit=self.unit,
            metric=self.scores.metric,
            higher_is_better=scored.higher_is_better,
            keys=np.array(scored.names, dtype=object),
            mine=scored.values[:, places[0]],
            theirs=scored.values[:, places[1]],
            differences=scored.differences([places], self.settings)[:, 0],
            counts=np.isin(scored.names, self.units.names),
            settings=self.settings,
            threshold=self.threshold,
        )

    @property
    def units(self) -> UnitScores:
        """The scores unit by unit: of the datasets, or of the splits of the only one."""
        table = self.scores
        names, values = table.datasets, table.values
        if self.unit == "fold":
            names, values = table.fold_names[0], table.folds[0]
        return UnitScores(table.methods, names, values, table.higher_is_better)

    def tables(self) -> Mapping[str, Callable[[], Table]]:
        """Return what makes ``summary`` (a row per method), ``pairs`` and ``scores`` (a row per dataset)."""
        makers: dict[str, Callable[[], Table]] = {"summary": partial(summary_table, self)}
        makers |= super().tables()
        makers["scores"] = partial(scores_table, self)
        if all(len(folds) > 1 for folds in self.scores.folds) and not self._lacking:
            makers["profiles"] = partial(profiles_table, self)
        return makers

    @property
    def _lacking(self) -> bool:
        """Whether a score of a fold failed."""
        return any(bool(np.isnan(folds).any()) for folds in self.scores.folds)

    def frames(self) -> Mapping[str, pd.DataFrame]:
        """Return the unrounded figures, by the names of their files."""
        found = {"ranks": self.rank_table, "pairs": self.table}
        if len(self.scores.methods) == 2 and self.pairs:
            found["differences"] = self.against().frame
        return found | ({"per_dataset": self.per_dataset} if len(self.per_dataset) else {})

    def texts(self) -> dict[str, str]:
        """Return the answer, the tables and the unrounded figures as texts, by the names of their files."""
        return {**super().texts(), "scores.csv": self.to_csv("scores")}

    def picture(self) -> tuple[str, str]:
        """Return the name of the chart that a notebook shows, and what it shows in words."""
        return "forest", f"Differences between {self.leader} and each other method"

    def further(self) -> dict[str, Any]:
        """Return what a comparison over datasets has beyond its pairs, for JSON."""
        table = self.scores
        found: dict[str, Any] = {
            # Values are the error's: the scorer that was asked for is named beside it, for
            # programs that look.
            **({} if table.scorer is None else {"scorer": table.scorer}),
            "datasets": list(table.datasets),
            "reference": None if self.family.reference is None else self.leader,
            "ranks": self.rank_table.to_dict("records"),
            "deciding": [
                {"rival": rival, "to_show": what, **asdict(size)}
                for rival, sizes in self.deciding.items()
                for what, size in zip(("difference", "equivalence"), sizes, strict=True)
                if size is not None
            ],
            "per_dataset": self.per_dataset.to_dict("records"),
        }
        if self.unit != "fold":
            found["friedman"] = asdict(self.friedman)
        if self.unfiltered is not None:
            found["threshold"] = self.threshold
            found["double_fails"] = self.unfiltered.pairs[0].n - self.pairs[0].n
            found["unfiltered"] = self.unfiltered.table.to_dict("records")
        return found

    def blocks(self) -> Sequence[tuple[str, str | Table]]:
        """Return everything in detail: beside the pairs the test of all methods, and where the leader wins."""
        where = "\n".join(
            f"{pair.rival}: wins {len(pair.won)} ({listed(pair.won, 5) or '-'}); "
            f"loses {len(pair.lost)} ({listed(pair.lost, 5) or '-'})"
            for pair in self.leading_pairs
        )
        first, *rest = super().blocks()
        found = [first, ("Compared", self.caption), *rest]
        return [*found, (f"Where ({self.leader} against each rival)", where)] if where else found


@dataclass(frozen=True, eq=False)
class PairUnits:
    """Two methods unit by unit.

    Attributes
    ----------
    pair : Pair
        What is said of them.
    unit : str
        What the units are.
    metric : str or None
        The metric's name.
    higher_is_better : bool
        Its direction.
    keys : ndarray of str
        The names of the units.
    mine, theirs : ndarray of shape (n,)
        The scores of the method and of the rival.
    differences : ndarray of shape (n,)
        Settled, positive where the method is better.
    counts : ndarray of bool
        Which units count; the others are double fails.
    settings : ComparisonSettings
        The choices.
    threshold : float or None
        The level that both fail there.
    """

    pair: Pair
    unit: str
    metric: str | None
    higher_is_better: bool
    keys: np.ndarray
    mine: FloatArray
    theirs: FloatArray
    differences: FloatArray
    counts: np.ndarray
    settings: ComparisonSettings
    threshold: float | None = None

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row per unit: both scores, the difference, who won, double fail or not."""
        method, rival = self.pair.method, self.pair.rival
        winner = np.select([self.differences > 0, self.differences < 0], [method, rival], "tie")
        others = {"difference": self.differences, "winner": winner, "double_fail": ~self.counts}
        # A method may be called as a column is.
        scores = {
            f"{name} (score)" if name in ("key", *others) else name: values
            for name, values in ((method, self.mine), (rival, self.theirs))
        }
        return pd.DataFrame({"key": self.keys, **scores, **others})


def _column_means(values: FloatArray) -> FloatArray:
    """Return the means of what is there: a failed score has none."""
    means: FloatArray = np.ma.masked_invalid(values).mean(axis=0).filled(np.nan)
    return means


def _mean_cells(comparison: DatasetComparison, methods: Sequence[str]) -> Any:
    """Return the cells of mean scores; a mean of fewer datasets than others have is never the best."""
    table, means = comparison.scores, comparison.means
    n = {
        name: int((~np.isnan(column)).sum())
        for name, column in zip(table.methods, table.values.T, strict=True)
    }
    whole = [n[method] == len(table.datasets) for method in methods]
    texts = [
        _mean_text(comparison, method) + ("" if all_ else f" (of {n[method]})")
        for method, all_ in zip(methods, whole, strict=True)
    ]
    values = [
        means[method] if all_ else math.nan for method, all_ in zip(methods, whole, strict=True)
    ]
    how: dict[str, Any] = {
        "higher_is_better": table.higher_is_better,
        "size": comparison.settings.size,
    }
    return mark_best(values, texts, **how)


def _mean_text(comparison: DatasetComparison, method: str) -> str:
    """Return a mean score, with its interval where there is one."""
    decimals, own = comparison.scores.decimals, comparison.own_scores.get(method)
    if own is None or math.isnan(own.low):
        return format_number(comparison.means[method], decimals)
    return f"{own.estimate:.{decimals}f} [{own.low:.{decimals}f}, {own.high:.{decimals}f}]"


BETTER_THAN = "better than"


def summary_table(comparison: DatasetComparison) -> Table:
    """Return one row per method, numbered from the best: score, rank, and the numbers of the methods that it beats."""
    frame = comparison.rank_table
    place = {method: number for number, method in enumerate(frame["method"], 1)}
    beaten: dict[str, list[int]] = {method: [] for method in place}
    for pair in comparison.verdicts:
        if pair.word in ("better", "worse"):
            winner, loser = (
                (pair.method, pair.rival) if pair.word == "better" else (pair.rival, pair.method)
            )
            beaten[winner].append(place[loser])
    means = _mean_cells(comparison, frame["method"].tolist())
    columns: list[str | Column] = ["", Column("method", "left"), "mean"]
    rows: list[list[str | TableCell]] = [
        [str(place[method]), method, mean]
        for method, mean in zip(frame["method"], means, strict=True)
    ]
    if not comparison.is_alone:
        average = frame["average_rank"]
        ranks = mark_best(average, [f"{r:.2f}" for r in average], higher_is_better=False)
        columns += ["average rank", "best on"]
        for row, rank, best in zip(rows, ranks, frame["best_on"], strict=True):
            row += [rank, str(best)]
    text = comparison.caption
    if any(beaten.values()):
        columns.append(Column(BETTER_THAN, "left"))
        for row, method in zip(rows, frame["method"], strict=True):
            row.append(numbers_in_words(beaten[method]))
        scope = comparison.verdicts[0].scope
        text += f" Better than: the methods, by number, that are worse on {scope}."
    return Table.of(columns, rows, caption=text, label="tab:comparison")


def numbers_in_words(numbers: Sequence[int]) -> str:
    """List whole numbers, those that follow each other as a range.

    Examples
    --------
    >>> numbers_in_words([7, 3, 4, 5, 9, 10]), numbers_in_words([])
    ('3-5, 7, 9, 10', '')
    """
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(
        f"{run[0]}-{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs
    )


def scores_table(comparison: DatasetComparison) -> Table:
    """Return one row per dataset with mean and deviation over folds, best in bold; means and ranks below."""
    table = comparison.scores
    how: dict[str, Any] = {
        "higher_is_better": table.higher_is_better,
        "size": comparison.settings.size,
    }
    order = [table.methods.index(method) for method in comparison.rank_table["method"]]
    rows: list[tuple[str | TableCell, ...]] = []
    for dataset, values, folds in zip(table.datasets, table.values, table.folds, strict=True):
        spread = folds.std(axis=0, ddof=1) if len(folds) > 1 else np.full(len(values), np.nan)
        texts = [
            (
                "failed"
                if math.isnan(values[i])
                else format_mean_std(values[i], spread[i], table.decimals)
            )
            for i in order
        ]
        rows.append((dataset, *mark_best(values[order], texts, **how)))
    rank = comparison.ranks.mean(axis=0)[order]
    rows.append(("Mean", *_mean_cells(comparison, [table.methods[i] for i in order])))
    rows.append(
        ("Average rank", *mark_best(rank, [f"{r:.2f}" for r in rank], higher_is_better=False))
    )
    columns = ["dataset", *(table.methods[i] for i in order)]
    return Table.of(
        columns, rows, caption=comparison.caption, label="tab:scores", rules=(len(table.datasets),)
    )


def profiles_table(comparison: DatasetComparison) -> Table:
    """Return the interquartile mean and optimality gap of every method over all splits, and who improves on whom."""
    table = comparison.scores
    metric = named_metric(table.metric)
    best = None if table.differences == "log" else metric.best
    # Nothing overlaps between subjects, and nothing between runs that the user names as such.
    independent = all(design is not None and design.ratio == 0 for design in table.designs)
    found = run_profiles(
        table.folds,
        table.methods,
        higher_is_better=table.higher_is_better,
        target=best if best is not None and math.isfinite(best) else None,
        reference=comparison.leader,
        independent=independent,
        alpha=comparison.settings.alpha,
        seed=comparison.settings.seed,
    )
    chance = {one.rival: one for one in found.improvements}
    heads = ("interquartile mean", "optimality gap", f"P({comparison.leader} beats it)")
    columns: list[str | Column] = [Column("method", "left"), *heads, "on the same split"]
    rows = []
    sign = -1 if table.higher_is_better else 1
    for one in sorted(found.methods, key=lambda one: sign * one.interquartile_mean.estimate):
        against = chance.get(one.method)
        cells = ["-", "-"]
        if against is not None:
            cells = [_unsigned(against.chance, 3), _unsigned(against.paired, 3)]
        gap = _unsigned(one.optimality_gap, table.decimals)
        rows.append([one.method, _unsigned(one.interquartile_mean, table.decimals), gap, *cells])
    how = (
        f"{1 - comparison.settings.alpha:.0%} intervals, for each figure alone, by the stratified"
        " bootstrap over runs."
    )
    if not independent:
        how = "Splits share training rows: there are no intervals."
    elif math.isnan(found.methods[0].interquartile_mean.low):
        how = f"Fewer than {FEWEST} runs beyond the first of each dataset: no intervals."
    notes = [f"Over all splits; the gap is to {found.target:g}. {how}"]
    return Table.of(columns, rows, label="tab:profiles", notes=notes)


def _unsigned(interval: Interval, decimals: int) -> str:
    alone, low, high = (
        format_number(one, decimals) for one in (interval.estimate, interval.low, interval.high)
    )
    return alone if math.isnan(interval.low) else f"{alone} [{low}, {high}]"
