"""The comparison of many methods over many datasets, and its tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from string import ascii_lowercase
from typing import Any

import numpy as np
import pandas as pd

from paragone.errors import unknown_name
from paragone.stats.family import Family, fitting_corrections
from paragone.stats.pairs import OPPOSITE, Pair
from paragone.stats.pairwise import PairedComparison, pairwise
from paragone.stats.ranks import Friedman
from paragone.stats.registries import Correction, find_correction
from paragone.stats.result import Comparison, indented, plain
from paragone.stats.scores import ScoreTable, listed
from paragone.stats.words import dataset_choices, dataset_sentence
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
    p_is,
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
    per_dataset : DataFrame
        Tests on the folds of each dataset.

    Examples
    --------
    >>> from paragone import compare
    >>> names = [f"set {number}" for number in range(8)]
    >>> better, worse = [0.9, 0.8, 0.7, 0.9, 0.8, 0.7, 0.6, 0.9], [0.8, 0.7, 0.6, 0.7, 0.7, 0.5, 0.5, 0.8]
    >>> comparison = compare(pd.DataFrame({"dataset": names, "A": better, "B": worse}), metric="accuracy")
    >>> comparison.leader, comparison.pairs[0].verdict, comparison.pairs[0].p
    ('A', 'better', 0.0078125)
    >>> comparison.friedman.average_ranks
    (1.0, 2.0)
    """

    scores: ScoreTable
    family: Family
    ranks: FloatArray
    friedman: Friedman
    per_dataset: pd.DataFrame

    @property
    def leader(self) -> str:
        """The reference, or without one the method with the best average rank (the first of equals)."""
        if self.family.reference is not None:
            return self.scores.methods[self.family.reference]
        ranks = self.friedman.average_ranks
        return self.scores.methods[ranks.index(min(ranks))]

    @cached_property
    def leading_pairs(self) -> tuple[Pair, ...]:
        """The pairs that the verdict is about: the leader with each rival, the best-ranked rival first."""
        ranks = dict(zip(self.scores.methods, self.friedman.average_ranks, strict=True))
        mine = [pair.seen_from(self.leader) for pair in self.pairs if self.leader in (pair.method, pair.rival)]
        return tuple(sorted(mine, key=lambda pair: (ranks[pair.rival], pair.rival)))

    @property
    def test_in_words(self) -> str:
        """What p is and how it was adjusted, as a caption says it."""
        p = "p of average ranks" if self.family.on_ranks else self.test.p_in_words(self.settings.options)
        return f"{p} and its {self.family.title} adjustment"

    @property
    def correction_within(self) -> Correction:
        """The correction of tests on the folds of one dataset: the family's, or Holm's where that does not fit."""
        chosen = self.family.correction
        return chosen if chosen.family == "any" and not chosen.on_ranks else find_correction("holm")

    def leader_on(self, dataset: str) -> pd.DataFrame:
        """Return the leader's tests on the folds of a dataset, their p adjusted over the rivals on that dataset."""
        frame = self.per_dataset
        rows = frame[(frame["dataset"] == dataset) & (frame["method"] == self.leader)]
        return rows.assign(p=self.correction_within.adjust(rows["p"].to_numpy())) if len(rows) else rows

    @property
    def verdict(self) -> str:
        """The verdict in words, one line per rival of the leader."""
        known = self.family, self.test, self.settings, self.scores.decimals
        return "\n".join(dataset_sentence(pair, *known) for pair in self.leading_pairs)

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
        return pd.DataFrame([_pair_row(pair) for pair in self.pairs])

    @cached_property
    def rank_table(self) -> pd.DataFrame:
        """One row per method: average rank, mean score, datasets on which it is best; best first."""
        frame = pd.DataFrame(
            {
                "method": self.scores.methods,
                "average_rank": self.ranks.mean(axis=0),
                "mean": self.scores.values.mean(axis=0),
                "median": np.median(self.scores.values, axis=0),
                "best_on": (self.ranks == self.ranks.min(axis=1, keepdims=True)).sum(axis=0),
            }
        )
        return frame.sort_values(["average_rank", "method"], kind="stable", ignore_index=True)

    @cached_property
    def corrections(self) -> pd.DataFrame:
        """Adjusted p of every pair under every correction that fits this family."""
        raw = np.array([pair.test.p for pair in self.pairs])
        names = {"method": [pair.method for pair in self.pairs], "rival": [pair.rival for pair in self.pairs]}
        frame = pd.DataFrame({**names, "raw": raw})
        for correction in fitting_corrections(self.family, len(self.scores.methods)):
            if correction.on_ranks:
                on_ranks = replace(self.family, correction=correction)
                average, n = np.array(self.friedman.average_ranks), self.friedman.n_datasets
                frame[f"{correction.title} (ranks)"] = on_ranks.rank_p(average, n)[1]
            else:
                frame[correction.title] = correction.adjust(raw)
        return frame

    @cached_property
    def _rivals(self) -> dict[str, PairedComparison]:
        return {}

    def against(self, rival: str | None = None) -> PairedComparison:
        """Return the leader beside one rival, dataset by dataset; by default the best-ranked rival."""
        table = self.scores
        name = self.leading_pairs[0].rival if rival is None else rival
        if name not in table.methods or name == self.leader:
            raise unknown_name("rival", name, [method for method in table.methods if method != self.leader])
        if name not in self._rivals:
            columns = {method: table.values[:, table.methods.index(method)] for method in (name, self.leader)}
            index = pd.Index(table.datasets, name="dataset")
            sides = [pd.Series(values, index=index, name=method) for method, values in columns.items()]
            self._rivals[name] = pairwise(
                *sides,
                metric=table.metric,
                higher_is_better=table.higher_is_better,
                test=self.test,
                alpha=self.settings.alpha,
                rope=self.settings.rope,
                zeros=self.settings.zeros,
                tolerance=self.settings.tolerance,
                n_resamples=self.settings.n_resamples,
                n_samples=self.settings.n_samples,
                seed=self.settings.seed,
            )
        return self._rivals[name]

    def tables(self) -> Mapping[str, Callable[[], Table]]:
        """Return what makes ``summary`` (a row per method), ``pairs`` and ``scores`` (a row per dataset)."""
        makers = {"summary": summary_table, "pairs": pairs_table, "scores": scores_table}
        return {name: partial(make, self) for name, make in makers.items()}

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
                "higher_is_better": table.higher_is_better,
                "methods": list(table.methods),
                "datasets": list(table.datasets),
                "reference": None if self.family.reference is None else self.leader,
                "verdict": self.verdict.splitlines(),
                "method_warnings": list(self.method_warnings),
                "friedman": asdict(self.friedman),
                "ranks": self.rank_table.to_dict("records"),
                "pairs": [
                    {**row, "won": pair.won, "tied": pair.tied, "lost": pair.lost, "flipped_by": pair.flipped_by}
                    for row, pair in zip(self.table.to_dict("records"), self.pairs, strict=True)
                ],
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
        found: dict[str, str | Table] = {
            "": caption(self),
            "Verdict": "\n".join([self.verdict, *self.method_warnings]),
            "Ranks (letters: methods that are significantly worse; * best)": summary,
            f"Where ({self.leader} against each rival)": where,
            "Pairs (positive favours the method)": pairs,
            "Chosen": "\n".join(f"{name + ':':<13}{text}" for name, text in self.choices.items()),
            "Note": "\n".join(self.warnings),
        }
        return [(heading, block) for heading, block in found.items() if block]

    def __repr__(self) -> str:
        (_, above), *blocks = self.blocks()
        texts = [(heading, block if isinstance(block, str) else to_text(block)) for heading, block in blocks]
        return "\n\n".join([str(above), *(f"{heading}\n{indented(text)}" for heading, text in texts)])


def _pair_row(pair: Pair) -> dict[str, Any]:
    posterior = pair.posterior
    return {
        "method": pair.method,
        "rival": pair.rival,
        "verdict": pair.verdict,
        "p": pair.p,
        "p_adjusted": pair.p_adjusted,
        "exact": pair.test.exact,
        "n_used": pair.n_used,
        "mean_difference": pair.mean.estimate,
        "mean_low": pair.mean.low,
        "mean_high": pair.mean.high,
        "median_difference": pair.median.estimate,
        "median_low": pair.median.low,
        "median_high": pair.median.high,
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
        "datasets_needed": pair.needed,
        "flipped_by": "; ".join(pair.flipped_by),
        "won": "; ".join(pair.won),
        "lost": "; ".join(pair.lost),
    }


def caption(comparison: DatasetComparison) -> str:
    """Return the sentence that states metric, test, correction and n."""
    table, choices, friedman = comparison.scores, comparison.choices, comparison.friedman
    n = len(table.datasets)
    return (
        f"{len(table.methods)} methods on {n} dataset{'s' * (n > 1)} by {choices['metric']}. "
        f"Friedman chi2({friedman.df[0]}) = {friedman.chi2:.3f} with tie correction, {p_is(friedman.p)}; "
        f"Iman-Davenport F({friedman.df[0]}, {friedman.df[1]}) = {format_number(friedman.f, 3)}, "
        f"{p_is(friedman.p_f)}. "
        f"Pairs: {choices['test']}; {choices['correction']}; alpha = {comparison.settings.alpha:g}."
    )


def summary_table(comparison: DatasetComparison) -> Table:
    """Return one row per method: score, rank, and the letters of the methods it beats significantly."""
    frame = comparison.rank_table
    letters = dict(zip(frame["method"], _letters(len(frame)), strict=True))
    beaten = dict.fromkeys(letters, "")
    for pair in comparison.pairs:
        if pair.verdict in OPPOSITE:
            winner, loser = (pair.method, pair.rival) if pair.verdict == "better" else (pair.rival, pair.method)
            beaten[winner] += f" {letters[loser]}"
    marks = [",".join(sorted(beaten[m].split(), key=lambda s: (len(s), s))) for m in frame["method"]]
    higher = comparison.scores.higher_is_better
    texts = [format_number(value, comparison.scores.decimals) for value in frame["mean"]]
    means = mark_best(frame["mean"], texts, higher_is_better=higher, superscripts=marks, size=comparison.settings.size)
    ranks = mark_best(frame["average_rank"], [f"{r:.2f}" for r in frame["average_rank"]], higher_is_better=False)
    rows = [
        (letters[method], method, mean, rank, str(best))
        for method, mean, rank, best in zip(frame["method"], means, ranks, frame["best_on"], strict=True)
    ]
    columns: list[str | Column] = [Column("", "left"), Column("method", "left"), "mean", "average rank", "best on"]
    text = caption(comparison) + " Superscripts: methods that are significantly worse."
    return Table.of(columns, rows, caption=text, label="tab:comparison")


def _letters(count: int) -> list[str]:
    """Return a, b, ..., z, aa, ab, ..."""
    single = list(ascii_lowercase)
    return (single + [a + b for a in single for b in single])[:count]


def pairs_table(comparison: DatasetComparison) -> Table:
    """Return one row per pair, the leader's pairs first."""
    rest = [p for p in comparison.pairs if comparison.leader not in (p.method, p.rival)]
    columns: list[str | Column] = [Column(name, "left") for name in ("method", "rival", "verdict")]
    columns += ["p", "p adjusted", "mean difference", "median difference", "W/T/L", "delta", "A12"]
    bayes = any(pair.posterior is not None for pair in comparison.pairs)
    columns += ["P(better)", "P(equal)", "P(worse)"] if bayes else []
    rows = [_pair_cells(pair, bayes, comparison.scores.decimals) for pair in (*comparison.leading_pairs, *rest)]
    # A sharper correction that takes longer stands beside the chosen one, where the methods are few enough for it.
    fit = {one.name: one.title for one in fitting_corrections(comparison.family, len(comparison.scores.methods))}
    if title := fit.get(comparison.family.correction.beside):
        frame = comparison.corrections
        beside = {frozenset(pair): p for *pair, p in frame[["method", "rival", title]].itertuples(index=False)}
        columns.insert(5, f"p {title.partition('-')[0]}")
        for row in rows:
            row.insert(5, format_p(beside[frozenset(row[:2])]))
    return Table.of(columns, rows, caption=caption(comparison), label="tab:pairs")


def _pair_cells(pair: Pair, bayes: bool, decimals: int) -> list[str]:
    cells = [
        pair.method,
        pair.rival,
        pair.verdict,
        format_p(pair.p),
        format_p(pair.p_adjusted),
        format_interval(pair.mean.estimate, pair.mean.low, pair.mean.high, decimals),
        format_interval(pair.median.estimate, pair.median.low, pair.median.high, decimals),
        f"{len(pair.won)}/{len(pair.tied)}/{len(pair.lost)}",
        format_signed(pair.cliffs_delta, 2),
        format_number(pair.a12, 2),
    ]
    if bayes and pair.posterior is not None:
        shares = pair.posterior.better, pair.posterior.equal, pair.posterior.worse
        cells += [format_number(share, 3) for share in shares]
    return cells


def scores_table(comparison: DatasetComparison) -> Table:
    """Return one row per dataset with mean and deviation over folds, best in bold; means and ranks below."""
    table = comparison.scores
    how: dict[str, Any] = {"higher_is_better": table.higher_is_better, "size": comparison.settings.size}
    order = [table.methods.index(method) for method in comparison.rank_table["method"]]
    rows: list[tuple[str | TableCell, ...]] = []
    for dataset, values, folds in zip(table.datasets, table.values, table.folds, strict=True):
        spread = folds.std(axis=0, ddof=1) if len(folds) > 1 else np.full(len(values), np.nan)
        texts = [format_mean_std(values[i], spread[i], table.decimals) for i in order]
        rows.append((dataset, *mark_best(values[order], texts, **how)))
    mean, rank = table.values.mean(axis=0)[order], comparison.ranks.mean(axis=0)[order]
    texts = [format_number(value, table.decimals) for value in mean]
    rows.append(("Mean", *mark_best(mean, texts, **how)))
    rows.append(("Average rank", *mark_best(rank, [f"{r:.2f}" for r in rank], higher_is_better=False)))
    columns = ["dataset", *(table.methods[i] for i in order)]
    return Table.of(columns, rows, caption=caption(comparison), label="tab:scores", rules=(len(table.datasets),))
