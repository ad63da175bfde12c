"""The comparison of many methods over many datasets, and its tables."""

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
from paragone.stats.family import Family, fitting_corrections
from paragone.stats.paired_comparison import PairedComparison
from paragone.stats.pairing import Paired
from paragone.stats.pairs import Pair
from paragone.stats.profiles import FEWEST, run_profiles
from paragone.stats.ranks import Friedman
from paragone.stats.registries import Correction, find_correction
from paragone.stats.result import Comparison, indented, plain
from paragone.stats.scopes import learners_of, why_untold
from paragone.stats.scores import ScoreTable, listed
from paragone.stats.standings import Order, order_by_mean
from paragone.stats.verdicts import Verdict, adjusted_where_known
from paragone.stats.words import (
    Told,
    TwoScopes,
    dataset_choices,
    dataset_sentence,
    datasets_in_words,
    direction_in_words,
    where_in_words,
)
from paragone.tables import (
    Column,
    Table,
    TableCell,
    format_interval,
    format_mean_std,
    format_number,
    format_p,
    format_signed,
    mark_best,
    to_text,
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
        """The mean score of every method with its own interval; none where logarithms are compared."""
        if self.scores.differences == "log":
            return {}
        return learners_of(self.scores).own_scores(self.settings.alpha)

    @property
    def finding(self) -> str:
        """What is shown on these datasets and on datasets like these, in a sentence each."""
        return str(self.finding_of(self.leader))

    def finding_of(self, leader: str) -> TwoScopes:
        """Return what is said of one method against the others that it was compared with."""
        pairs = [
            pair.seen_from(leader) for pair in self.pairs if leader in (pair.method, pair.rival)
        ]
        names = {leader, *(pair.rival for pair in pairs)}
        order = [name for name in self.ordered if name in names]
        logarithms = self.scores.differences == "log"
        told = self.learners_of(leader, [pair.rival for pair in pairs])
        one_split = any(one is not None and one.n_splits == 1 for one in self.scores.designs)
        # A pair in which one failed has no mean difference.
        told = tuple(pair for pair in told if not math.isnan(pair.difference.estimate))
        return TwoScopes(
            leader=leader,
            metric=self.scores.metric or "score",
            datasets=self.scores.datasets,
            means={
                name: math.exp(self.means[name]) if logarithms else self.means[name]
                for name in order
            },
            on_these=told,
            untold=""
            if any(not math.isnan(pair.p_raw) for pair in told) and not one_split
            else self.untold,
            like_these=tuple(pairs),
            family=self.family,
            test=self.test,
            settings=self.settings,
            logarithms=logarithms,
        )

    @property
    def untold(self) -> str:
        """Why nothing is said of the learners on these datasets; empty where it is, or where there are no folds."""
        if self.learners and self._lacking:
            return (
                "A score failed, which leaves no mean difference of the learners on these datasets."
            )
        n_scores, by_rows = [len(folds) for folds in self.scores.folds], bool(self.learners)
        return why_untold(self.scores.designs, n_scores, by_rows=by_rows)

    @property
    def test_in_words(self) -> str:
        """What p is and how it was adjusted, as a caption says it."""
        p = (
            "p of average ranks"
            if self.family.on_ranks
            else self.test.p_in_words(self.settings.options)
        )
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
        """What would decide the leader against each undecided rival on these datasets: a difference, an equivalence."""
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
    def verdict(self) -> str:
        """The verdict in words, one line per rival of the leader."""
        learners = {pair.rival: pair for pair in self.leading_learners}
        told = Told(
            self.family,
            self.test,
            self.settings,
            self.scores.decimals,
            self.scores.higher_is_better,
            where_in_words(self.scores.datasets),
            len(self.scores.datasets),
            self.scores.differences == "log",
            {rival: self._deciding_words(sizes) for rival, sizes in self.deciding.items()},
        )
        return "\n".join(
            dataset_sentence(pair, learners.get(pair.rival), told) for pair in self.leading_pairs
        )

    @property
    def marked(self) -> tuple[Verdict, ...]:
        """The pairs whose words the table of methods marks: with the dataset as unit, or the folds of the only one."""
        return self.learners if len(self.scores.datasets) == 1 and self.learners else self.pairs

    @property
    def marked_where(self) -> str:
        """In which scope the table of methods marks what is significantly worse."""
        one = len(self.scores.datasets) == 1 and self.learners
        return f"on {self.scores.datasets[0]}" if one else "on datasets like these"

    @property
    def method_warnings(self) -> tuple[str, ...]:
        """What the store says of the methods that a verdict must not leave out, such as fits that did not converge."""
        return self.scores.method_warnings

    @cached_property
    def choices(self) -> Mapping[str, str]:
        """Everything that was chosen, in words."""
        return dataset_choices(self.scores, self.family, self.test, self.pairs, self.settings)

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per pair, with everything beside its p."""
        learners = {frozenset((pair.method, pair.rival)): pair for pair in self.learners}
        return pd.DataFrame(
            [
                _pair_row(pair, learners.get(frozenset((pair.method, pair.rival))))
                for pair in self.pairs
            ]
        )

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

    @cached_property
    def corrections(self) -> pd.DataFrame:
        """Adjusted p of every pair under every correction that fits this family."""
        raw = np.array([pair.test.p for pair in self.pairs])
        names = {
            "method": [pair.method for pair in self.pairs],
            "rival": [pair.rival for pair in self.pairs],
        }
        frame = pd.DataFrame({**names, "raw": raw})
        for correction in fitting_corrections(self.family, len(self.scores.methods)):
            if correction.on_ranks:
                on_ranks = replace(self.family, correction=correction)
                average, n = np.array(self.friedman.average_ranks), self.friedman.n_datasets
                frame[f"{correction.title} (ranks)"] = on_ranks.rank_p(average, n)[1]
            else:
                frame[correction.title] = adjusted_where_known(raw.tolist(), correction.adjust)
        return frame

    def against(self, rival: str | None = None) -> PairedComparison:
        """Return the leader beside one rival, dataset by dataset; by default the best rival.

        Its p, interval and word are those of this comparison, adjusted over the whole family.
        """
        table, leader = self.scores, self.leader
        name = self.leading_pairs[0].rival if rival is None else rival
        if name not in table.methods or name == leader:
            raise unknown_name(
                "rival", name, [method for method in table.methods if method != leader]
            )
        pair = next(pair for pair in self.leading_pairs if pair.rival == name)
        a, b = (table.values[:, table.methods.index(method)] for method in (name, leader))
        there = ~(np.isnan(a) | np.isnan(b))
        keys = np.array(table.datasets, dtype=object)
        only_a, only_b = (
            tuple(keys[np.isnan(gone) & ~np.isnan(has)]) for gone, has in ((b, a), (a, b))
        )
        return PairedComparison(
            unit="dataset",
            test=self.test,
            pairs=(pair,),
            settings=self.settings,
            name_a=name,
            name_b=leader,
            metric=table.metric,
            scorer=table.scorer,
            higher_is_better=table.higher_is_better,
            threshold=None,
            paired=Paired(tuple(keys[there]), a[there], b[there], "dataset", only_a, only_b, ()),
            fails=np.zeros(int(there.sum()), dtype=bool),
            family=self.family if len(self.pairs) > 1 or self.family.on_ranks else None,
        )

    def tables(self) -> Mapping[str, Callable[[], Table]]:
        """Return what makes ``summary`` (a row per method), ``pairs`` and ``scores`` (a row per dataset)."""
        makers = {"summary": summary_table, "pairs": pairs_table, "scores": scores_table}
        if all(len(folds) > 1 for folds in self.scores.folds) and not self._lacking:
            makers["profiles"] = profiles_table
        return {name: partial(make, self) for name, make in makers.items()}

    @property
    def _lacking(self) -> bool:
        """Whether a score of a fold failed."""
        return any(bool(np.isnan(folds).any()) for folds in self.scores.folds)

    def frames(self) -> Mapping[str, pd.DataFrame]:
        """Return the unrounded figures, by the names of their files."""
        found = {"ranks": self.rank_table, "pairs": self.table, "corrections": self.corrections}
        return found | ({"per_dataset": self.per_dataset} if len(self.per_dataset) else {})

    def texts(self) -> dict[str, str]:
        """Return the answer, the tables and the unrounded figures as texts, by the names of their files."""
        return {**super().texts(), "scores.csv": self.to_csv("scores")}

    def picture(self) -> tuple[str, str]:
        """Return the name of the chart that a notebook shows, and what it shows in words."""
        return "forest", f"Differences between {self.leader} and each other method"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON; what does not exist is None."""
        table = self.scores
        values: dict[str, Any] = plain(
            {
                "metric": table.metric,
                # Values are the error's: the scorer that was asked for is named beside it, for
                # programs that look.
                **({} if table.scorer is None else {"scorer": table.scorer}),
                "higher_is_better": table.higher_is_better,
                "methods": list(table.methods),
                "datasets": list(table.datasets),
                "reference": None if self.family.reference is None else self.leader,
                "leader": self.leader,
                "finding": self.finding,
                "verdict": self.verdict.splitlines(),
                "method_warnings": list(self.method_warnings),
                "friedman": asdict(self.friedman),
                "ranks": self.rank_table.to_dict("records"),
                "pairs": [
                    {
                        **row,
                        "won": pair.won,
                        "tied": pair.tied,
                        "lost": pair.lost,
                        "flipped_by": pair.flipped_by,
                    }
                    for row, pair in zip(self.table.to_dict("records"), self.pairs, strict=True)
                ],
                "deciding": [
                    {"rival": rival, "to_show": what, **asdict(size)}
                    for rival, sizes in self.deciding.items()
                    for what, size in zip(("difference", "equivalence"), sizes, strict=True)
                    if size is not None
                ],
                "corrections": self.corrections.to_dict("records"),
                "per_dataset": self.per_dataset.to_dict("records"),
                "choices": dict(self.choices),
                "warnings": list(self.warnings),
            }
        )
        return values

    def blocks(self) -> Sequence[tuple[str, str | Table]]:
        """Return what a terminal shows: the verdict and all that stands behind it."""
        summary, pairs = (replace(self.as_table(name), caption="") for name in ("summary", "pairs"))
        where = "\n".join(
            f"{pair.rival}: wins {len(pair.won)} ({listed(pair.won, 5) or '-'}); "
            f"loses {len(pair.lost)} ({listed(pair.lost, 5) or '-'})"
            for pair in self.leading_pairs
        )
        told = f"better than: the methods, by number, that are worse {self.marked_where}; "
        if summary.columns[-1].name != BETTER_THAN:
            told = ""
        found: dict[str, str | Table] = {
            "": caption(self),
            "Finding": self.finding,
            "Verdict": "\n".join([self.verdict, *self.method_warnings]),
            f"Ranks ({told}* best)": summary,
            f"Where ({self.leader} against each rival)": where,
            "Pairs (positive favours the method)": pairs,
            "Chosen": "\n".join(f"{name + ':':<13}{text}" for name, text in self.choices.items()),
            "Note": "\n".join(self.warnings),
        }
        return [(heading, block) for heading, block in found.items() if block]

    def __repr__(self) -> str:
        (_, above), *blocks = self.blocks()
        texts = [
            (heading, block if isinstance(block, str) else to_text(block))
            for heading, block in blocks
        ]
        return "\n\n".join(
            [str(above), *(f"{heading}\n{indented(text)}" for heading, text in texts)]
        )


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


def _pair_row(pair: Pair, learner: Verdict | None) -> dict[str, Any]:
    here = None if learner is None else learner.seen_from(pair.method)
    posterior, unknown = pair.posterior, math.nan
    told_here = {
        "here_word": None if here is None or math.isnan(here.p_raw) else here.word,
        "here_p": unknown if here is None else here.p,
        "here_p_raw": unknown if here is None else here.p_raw,
        "here_difference": unknown if here is None else here.difference.estimate,
        "here_low": unknown if here is None else here.difference.low,
        "here_high": unknown if here is None else here.difference.high,
        "here_p_equal": unknown if here is None else here.p_equal,
    }
    return {
        "method": pair.method,
        "rival": pair.rival,
        "word": pair.word,
        "p": pair.p,
        "p_raw": pair.p_raw,
        "difference": pair.difference.estimate,
        "low": pair.difference.low,
        "high": pair.difference.high,
        "wins": pair.wins,
        "ties": pair.ties,
        "losses": pair.losses,
        **told_here,
        "p_equal": pair.p_equal,
        "within_margin": pair.within,
        "exact": pair.test.exact,
        "n_used": pair.n_used,
        "mean_difference": pair.mean_difference,
        "median_difference": pair.median_difference,
        "method_failed": pair.failed[0],
        "rival_failed": pair.failed[1],
        "cliffs_delta": pair.cliffs_delta,
        "a12": pair.a12,
        "rank_biserial": pair.rank_biserial,
        "chance_better": unknown if posterior is None else posterior.better,
        "chance_equal": (
            unknown if posterior is None or posterior.margin <= 0 else posterior.equal
        ),
        "chance_worse": unknown if posterior is None else posterior.worse,
        "smallest_p": pair.smallest_p,
        "smallest_p_raw": pair.test.smallest_p,
        "smallest_margin": pair.smallest_margin,
        "needed": pair.needed,
        "needed_for_margin": pair.needed_for_margin,
        "flipped_by": "; ".join(pair.flipped_by),
        "won": "; ".join(pair.won),
        "lost": "; ".join(pair.lost),
    }


def caption(comparison: DatasetComparison) -> str:
    """Return the sentence that states metric, test, correction and n."""
    table, choices = comparison.scores, comparison.choices
    n = len(table.datasets)
    by = (
        f" by {choices['metric']}"
        if table.metric
        else f", {direction_in_words(table.higher_is_better)}"
    )
    return (
        f"{len(table.methods)} methods on {datasets_in_words(n)}{by}. "
        f"{comparison.friedman.words()}. "
        f"Pairs: {choices['test']}; {choices['correction']}; alpha = {comparison.settings.alpha:g}."
    )


BETTER_THAN = "better than"


def summary_table(comparison: DatasetComparison) -> Table:
    """Return one row per method, numbered from the best: score, rank, and the numbers of the methods that it beats."""
    frame = comparison.rank_table
    place = {method: number for number, method in enumerate(frame["method"], 1)}
    beaten: dict[str, list[int]] = {method: [] for method in place}
    for pair in comparison.marked:
        if pair.word in ("better", "worse"):
            winner, loser = (
                (pair.method, pair.rival) if pair.word == "better" else (pair.rival, pair.method)
            )
            beaten[winner].append(place[loser])
    means = _mean_cells(comparison, frame["method"].tolist())
    ranks = mark_best(
        frame["average_rank"], [f"{r:.2f}" for r in frame["average_rank"]], higher_is_better=False
    )
    rows = [
        (str(place[method]), method, mean, rank, str(best), numbers_in_words(beaten[method]))
        for method, mean, rank, best in zip(
            frame["method"], means, ranks, frame["best_on"], strict=True
        )
    ]
    columns: list[str | Column] = ["", Column("method", "left"), "mean", "average rank", "best on"]
    if not any(beaten.values()):
        return Table.of(
            columns, [row[:-1] for row in rows], caption=caption(comparison), label="tab:comparison"
        )
    columns.append(Column(BETTER_THAN, "left"))
    text = (
        caption(comparison)
        + f" Better than: the methods, by number, that are worse {comparison.marked_where}."
    )
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


def pairs_table(comparison: DatasetComparison) -> Table:
    """Return one row per pair, the leader's pairs first; first on these datasets, then on datasets like these."""
    rest = [p for p in comparison.pairs if comparison.leader not in (p.method, p.rival)]
    learners = {frozenset((pair.method, pair.rival)): pair for pair in comparison.learners}
    columns: list[str | Column] = [Column("method", "left"), Column("rival", "left")]
    columns += [Column("on these", "left"), "p adjusted", "mean difference"] if learners else []
    columns += [
        Column("like these", "left"),
        "p",
        "p adjusted",
        "difference",
        "mean",
        "W/T/L",
        "delta",
        "A12",
    ]
    bayes = any(pair.posterior is not None for pair in comparison.pairs)
    equal = bayes and comparison.settings.margin > 0
    columns += ["P(better)", *(["P(equal)"] if equal else []), "P(worse)"] if bayes else []
    rows = []
    for pair in (*comparison.leading_pairs, *rest):
        learner = learners.get(frozenset((pair.method, pair.rival)))
        told = (
            []
            if learner is None
            else _learner_cells(learner.seen_from(pair.method), comparison.scores.decimals)
        )
        rows.append(
            [
                pair.method,
                pair.rival,
                *told,
                *_pair_cells(pair, bayes, equal, comparison.scores.decimals),
            ]
        )
    # A sharper correction that takes longer stands beside the chosen one, where the methods are few
    # enough for it.
    fit = {
        one.name: one.title
        for one in fitting_corrections(comparison.family, len(comparison.scores.methods))
    }
    if title := fit.get(comparison.family.correction.beside):
        frame = comparison.corrections
        beside = {
            frozenset(pair): p
            for *pair, p in frame[["method", "rival", title]].itertuples(index=False)
        }
        place = 8 if learners else 5
        columns.insert(place, f"p {title.partition('-')[0]}")
        for row in rows:
            row.insert(place, format_p(beside[frozenset(row[:2])]))
    return Table.of(columns, rows, caption=caption(comparison), label="tab:pairs")


def _learner_cells(pair: Verdict, decimals: int) -> list[str]:
    word = "-" if math.isnan(pair.p_raw) else pair.word
    difference = pair.difference
    return [
        word,
        format_p(pair.p),
        format_interval(difference.estimate, difference.low, difference.high, decimals),
    ]


def _pair_cells(pair: Pair, bayes: bool, equal: bool, decimals: int) -> list[str]:
    difference = pair.difference
    cells = [
        pair.word,
        format_p(pair.p_raw),
        format_p(pair.p),
        format_interval(difference.estimate, difference.low, difference.high, decimals),
        format_signed(pair.mean_difference, decimals),
        f"{len(pair.won)}/{len(pair.tied)}/{len(pair.lost)}",
        format_signed(pair.cliffs_delta, 2),
        format_number(pair.a12, 2),
    ]
    if bayes and pair.posterior is not None:
        posterior = pair.posterior
        shares = [posterior.better, *([posterior.equal] if equal else []), posterior.worse]
        cells += [format_number(share, 3) for share in shares]
    return cells


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
        columns, rows, caption=caption(comparison), label="tab:scores", rules=(len(table.datasets),)
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
