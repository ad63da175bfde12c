"""What is said of two methods on common subjects or folds: figures, tables and sentences."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import pandas as pd

from paragone.metrics import metric_in_words
from paragone.stats.bayes import draws_in_words
from paragone.stats.family import PROCEDURES, Family
from paragone.stats.pairing import Paired
from paragone.stats.pairs import Pair
from paragone.stats.registries import Test, tests
from paragone.stats.result import Comparison, plain
from paragone.stats.signed_rank import pairs_needed
from paragone.stats.t_tests import TTest
from paragone.stats.words import direction_in_words
from paragone.tables import (
    Table,
    decimals_for,
    format_interval,
    format_number,
    format_p,
    format_signed,
    p_is,
)
from paragone.ties import settle_differences

PairKind = Literal["subjects", "folds"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PairedComparison(Comparison):
    """What the statistics say about two methods on common pairs.

    Attributes
    ----------
    name_a, name_b : str
        The methods. Every difference is b less a, signed so that positive favours b.
    metric : str or None
        The metric's name.
    higher_is_better : bool
        Its direction.
    threshold : float or None
        Chance level of the double-fail filter.
    paired : Paired
        The scores, and what was left out.
    fails : ndarray of bool
        Which pairs are double fails.
    family : Family or None
        The tests that this one belongs to, where the two were taken out of a comparison of many.

    Examples
    --------
    >>> from paragone import pairwise
    >>> result = pairwise([0.6, 0.7, 0.8, 0.6, 0.7, 0.9], [0.7, 0.8, 0.9, 0.7, 0.8, 0.95], higher_is_better=True)
    >>> result.differences["winner"].unique().tolist(), result.p
    (['B'], 0.03125)
    >>> result.charts
    charts: scatter, differences, posterior
    """

    name_a: str
    name_b: str
    metric: str | None
    higher_is_better: bool
    threshold: float | None
    paired: Paired
    fails: np.ndarray
    family: Family | None = None
    scorer: str | None = None

    @property
    def kind(self) -> PairKind:
        """Whether the pairs are independent (subjects) or share training rows (folds)."""
        return "folds" if self.unit == "fold" else "subjects"

    @property
    def units(self) -> str:
        """What the pairs are called: subjects, datasets or folds."""
        return f"{self.unit}s"

    @property
    def decimals(self) -> int:
        """How many decimals scores of this size are printed with."""
        return decimals_for([*self.paired.a, *self.paired.b])

    @property
    def n_double_fails(self) -> int:
        """How many pairs both methods fail."""
        return int(self.fails.sum())

    @property
    def everything(self) -> Pair:
        """Everything about all pairs: b against a."""
        return self.pairs[0]

    @property
    def effective(self) -> Pair | None:
        """The same without double fails; None without a threshold, or where nothing is left."""
        return self.pairs[1] if len(self.pairs) > 1 else None

    @property
    def main(self) -> Pair:
        """The effective figures where there are any, those of all pairs otherwise."""
        return self.pairs[-1]

    @property
    def p(self) -> float:
        """The p-value of the test that fits the pairs: by default signed-rank for subjects, corrected t for folds."""
        return self.main.p_raw

    @property
    def verdict(self) -> str:
        """What this does and does not show, how many pairs it would take, and what the filter does."""
        parts = [
            _shown_sentence(self),
            _needed_sentence(self),
            _filter_sentence(self),
            _fold_sentence(self),
        ]
        return " ".join(part for part in parts if part)

    @cached_property
    def choices(self) -> Mapping[str, str]:
        """Everything that was chosen, in words."""
        settings, folds, family = self.settings, self.unit == "fold", self.family
        threshold = (
            "none"
            if self.threshold is None
            else f"{self.threshold:g}, declared; double fails excluded"
        )
        of = (
            "one test" if family is None else f"{family.title} over a family of {len(family.pairs)}"
        )
        margin = f", margin {settings.margin:g}" if settings.margin > 0 else ""
        draws = draws_in_words(self.main.n, settings.n_samples)
        bayes = f"correlated t{margin}" if folds else f"signed-rank{margin}, {draws}"
        lines = {
            "metric": (
                f"{metric_in_words(self.metric) if self.metric else 'not named'} "
                f"({direction_in_words(self.higher_is_better)})"
            ),
            "pairs": f"{self.everything.n} {self.units}, paired by key",
            "threshold": threshold,
            "test": self.test.in_words([self.main.test], settings.options),
            "level": f"alpha = {settings.alpha:g}, {of}",
            "margin": (
                "none was stated, so nothing can be shown to be equivalent"
                if settings.margin <= 0
                else f"{settings.margin:g}, two one-sided tests"
            ),
            "ties": f"differences within {settings.tolerance:g} (relative) are zero or tied",
            "interval": self.test.intervals(f"{1 - settings.alpha:.0%}"),
            "bayes": f"{bayes}; decides no word",
            "seed": str(settings.seed),
        }
        return MappingProxyType(lines)

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per figure, one column per set of pairs (all, effective)."""
        return pd.DataFrame(
            {
                name: _figures(self, p)
                for name, p in zip(("all", "effective"), self.pairs, strict=False)
            }
        )

    @cached_property
    def differences(self) -> pd.DataFrame:
        """One row per pair: both scores, the difference (positive favours b), who won, double fail or not."""
        low, high = (
            (self.paired.a, self.paired.b)
            if self.higher_is_better
            else (self.paired.b, self.paired.a)
        )
        difference = settle_differences(low, high, self.settings.tolerance, size=self.settings.size)
        winner = np.select([difference > 0, difference < 0], [self.name_b, self.name_a], "tie")
        others = {"difference": difference, "winner": winner, "double_fail": self.fails}
        # A method may be called as a column is.
        scores = {
            f"{name} (score)" if name in ("key", *others) else name: values
            for name, values in ((self.name_a, self.paired.a), (self.name_b, self.paired.b))
        }
        return pd.DataFrame({"key": self.paired.keys, **scores, **others})

    def tables(self) -> Mapping[str, Callable[[], Table]]:
        """Return what makes the table of figures."""
        return {"figures": self._figures_table}

    def frames(self) -> Mapping[str, pd.DataFrame]:
        """Return the unrounded figures, by the names of their files."""
        return {
            "differences": self.differences,
            "figures": self.table.rename_axis("figure").reset_index(),
        }

    def picture(self) -> tuple[str, str]:
        """Return the name of the chart that a notebook shows, and what it shows in words."""
        return "scatter", f"Scores of {self.name_b} against those of {self.name_a}"

    def _figures_table(self) -> Table:
        figures = zip(self.table.index, self.table.to_numpy(), strict=True)
        rows = [
            [str(name), *(_printed(str(name), value, self.decimals) for value in row)]
            for name, row in figures
        ]
        chosen = self.choices
        text = (
            f"{self.name_a} and {self.name_b} by {chosen['metric']} on {chosen['pairs']}. Test:"
            f" {chosen['test']}. Differences are {self.name_b} less {self.name_a}, positive where"
            f" {self.name_b} is better."
        )
        if self.threshold is not None:
            text += (
                f" Effective: without {self.n_double_fails} double fails (tau ="
                f" {self.threshold:g})."
            )
        return Table.of(["", *self.table.columns], rows, caption=text, label="tab:pairwise")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        values: dict[str, Any] = plain(
            {
                "name_a": self.name_a,
                "name_b": self.name_b,
                "metric": self.metric,
                **({} if self.scorer is None else {"scorer": self.scorer}),
                "higher_is_better": self.higher_is_better,
                "threshold": self.threshold,
                "pairs": self.kind,
                "word": self.main.word,
                "p": self.p,
                "p_adjusted": self.main.p,
                "double_fails": self.n_double_fails,
                "figures": {name: frame.to_dict() for name, frame in self.table.items()},
                "verdict": self.verdict,
                "choices": dict(self.choices),
                "warnings": list(self.warnings),
                "only_a": list(self.paired.only_a),
                "only_b": list(self.paired.only_b),
                "differences": self.differences.to_dict("records"),
            }
        )
        return values

    def blocks(self) -> Sequence[tuple[str, str | Table]]:
        """Return what a terminal shows: the figures, the verdict, what was chosen and what to know of the input."""
        found = [("", "\n".join([*_headline(self), *_further_lines(self)])), ("", self.verdict)]
        found.append(
            (
                "Chosen",
                "\n".join(f"  {name + ':':<12}{text}" for name, text in self.choices.items()),
            )
        )
        return (
            [*found, ("Note", "\n".join(f"  {text}" for text in self.warnings))]
            if self.warnings
            else found
        )

    def __repr__(self) -> str:
        return "\n\n".join(
            f"{heading}\n{text}" if heading else str(text) for heading, text in self.blocks()
        )


def _headline(result: PairedComparison) -> list[str]:
    main, label = result.main, " (effective)" if result.effective else ""
    lines = [f"Global mean     {_means(result, result.everything)}"]
    if result.threshold is not None:
        fails = result.n_double_fails
        excluded = f"({fails} double fail{'s' * (fails != 1)} excluded, tau = {result.threshold:g})"
        means = (
            _means(result, main) if result.effective else "none left: every pair is a double fail"
        )
        lines.append(f"Effective mean  {means}   {excluded}")
    lines.append(
        f"Win / tie / loss{label}  {_win_tie_loss(main)}   ({result.name_a} / tie /"
        f" {result.name_b})"
    )
    family = result.family
    adjusted = "" if family is None else f"; {format_p(main.p)} after {family.title}"
    lines.append(
        f"{result.test.heading} p  {format_p(result.p)}"
        f" ({main.test.words(main.n, result.units)}){adjusted}"
    )
    return lines


def _further_lines(result: PairedComparison) -> list[str]:
    """Return the figures that stand beside the p, and those of all pairs beside the effective ones."""
    main, lines = result.main, []
    if result.effective:
        every = result.everything
        lines += [
            f"Without the filter: win / tie / loss {_win_tie_loss(every)}, {p_is(every.p_raw)}, "
            f"{result.test.estimate} {_difference(every, result.decimals)}"
        ]
    label = result.test.estimate[:1].upper() + result.test.estimate[1:]
    lines += [
        (
            f"{label} {result.name_b} - {result.name_a}  {_difference(main, result.decimals)}, mean"
            f" {format_signed(main.mean_difference, result.decimals)}, median"
            f" {format_signed(main.median_difference, result.decimals)} (positive favours"
            f" {result.name_b})"
        ),
        (
            f"Effect sizes  Cliff's delta {format_signed(main.cliffs_delta, 2)}, A12"
            f" {main.a12:.2f}, rank-biserial {format_signed(main.rank_biserial, 2)}"
        ),
    ]
    if (beside := _beside(result)) and isinstance(main.beside, TTest):
        df = main.beside.df
        lines.append(
            f"{beside.heading} p  {format_p(main.beside.p)} (for reference, two-sided, df = {df})"
        )
    if main.posterior is not None:
        post = main.posterior
        equal = f"P(equal) {post.equal:.3f}, " if post.margin > 0 else ""
        margin = f" (margin {post.margin:g})" if post.margin > 0 else ""
        lines.append(
            f"Bayes  P({result.name_b} better) {post.better:.3f}, {equal}"
            f"P({result.name_a} better) {post.worse:.3f}{margin}; for this pair alone"
        )
    return lines


def _beside(result: PairedComparison) -> Test | None:
    """Return the test that is shown for reference; that beside the folds' own would mislead."""
    name = PROCEDURES["subject"].beside
    return None if result.unit == "fold" or result.test.name == name else tests.get(name)


def _means(result: PairedComparison, pair: Pair) -> str:
    mean_a, mean_b = (
        format_number(mean, result.decimals) for mean in (pair.mean_rival, pair.mean_method)
    )
    return f"{result.name_a} {mean_a}   {result.name_b} {mean_b}"


def _win_tie_loss(pair: Pair) -> str:
    return f"{len(pair.lost)} / {len(pair.tied)} / {len(pair.won)}"


def _difference(pair: Pair, decimals: int) -> str:
    return format_interval(
        pair.difference.estimate, pair.difference.low, pair.difference.high, decimals
    )


def _figures(result: PairedComparison, pair: Pair) -> dict[str, float]:
    values: dict[str, float] = {
        "n": pair.n,
        f"mean {result.name_a}": pair.mean_rival,
        f"mean {result.name_b}": pair.mean_method,
        f"{result.name_a} wins": len(pair.lost),
        "ties": len(pair.tied),
        f"{result.name_b} wins": len(pair.won),
        "mean difference": pair.mean_difference,
        "median difference": pair.median_difference,
        "difference": pair.difference.estimate,
        "difference, low": pair.difference.low,
        "difference, high": pair.difference.high,
    }
    if pair.n >= result.test.least:
        values[f"{result.test.label} p"] = pair.p_raw
    if result.family is not None:
        values[f"{result.family.title} p"] = pair.p
    if result.settings.margin > 0:
        values["equivalence p"] = pair.p_equal
    if (beside := _beside(result)) and pair.beside is not None:
        values[f"{beside.label} p"] = pair.beside.p
    values |= {
        "Cliff's delta": pair.cliffs_delta,
        "A12": pair.a12,
        "rank-biserial": pair.rank_biserial,
    }
    if pair.posterior is not None:
        values[f"P({result.name_b} better)"] = pair.posterior.better
        if pair.posterior.margin > 0:
            values["P(equal)"] = pair.posterior.equal
        values[f"P({result.name_a} better)"] = pair.posterior.worse
    return values


def _printed(name: str, value: float, decimals: int) -> str:
    if name in ("n", "ties") or name.endswith(" wins"):
        return str(int(value))
    if name.endswith(" p"):
        return format_p(value)
    if "difference" in name:
        return format_signed(value, decimals)
    return format_number(value, decimals if name.startswith("mean ") else 4)


def _shown_sentence(result: PairedComparison) -> str:
    """Say what the test shows and what it does not."""
    main, settings = result.main, result.settings
    if main.word == "equivalent":
        return (
            f"On {result.units} like these {result.name_a} and {result.name_b} are equivalent"
            f" within {settings.margin:g} ({p_is(main.p_equal)}, two one-sided tests)."
        )
    if main.word == "undecided":
        return _undecided_sentence(result)
    ahead, behind = (
        (main.method, main.rival) if main.word == "better" else (main.rival, main.method)
    )
    small = ", by less than the margin" if main.within else ""
    size = (
        ""
        if math.isnan(main.difference.low)
        else ", and the interval says how large the difference may be"
    )
    text = (
        f"On {result.units} like these {ahead} is better than {behind}{small}"
        f" ({p_is(main.p)}); this says nothing about other data{size}."
    )
    if main.test.side * main.mean_difference < 0:
        text += f" The mean difference points the other way: {behind} wins more where it wins."
    return text


def _undecided_sentence(result: PairedComparison) -> str:
    main, settings = result.main, result.settings
    if main.n_used == 0:
        return (
            f"Every one of the {main.n} differences is zero, so p = 1: nothing tells the two"
            " methods apart."
        )
    if math.isnan(main.p):
        return (
            f"{main.n} {result.units} without a spread among their differences give no p: give "
            f"{result.test.least} or more that differ in size."
        )
    if main.test.smallest_p > settings.alpha:
        return (
            f"With {main.n_used} {result.units} that differ nothing can be significant at this"
            f" size: the smallest attainable p is {format_p(main.test.smallest_p)}, and"
            f" {pairs_needed(settings.alpha)} are the least."
        )
    text = f"This does not show that {result.name_a} and {result.name_b} differ ({p_is(main.p)})"
    if settings.margin > 0:
        return (
            f"{text}, nor that they are equivalent within {settings.margin:g}"
            f" ({p_is(main.p_equal)})."
        )
    return f"{text}, and it does not show that they are equal."


def _needed_sentence(result: PairedComparison) -> str:
    """Say how many subjects it would take, and which margin could be shown, where the question is open."""
    main, units = result.main, result.units
    if main.word != "undecided" or main.n_used == 0 or math.isnan(main.p):
        return ""
    parts = []
    filtered = " that are no double fails" if result.effective else ""
    for needed, what in (
        (main.needed, "a difference of this size"),
        (main.needed_for_margin, "the equivalence"),
    ):
        if needed is not None:
            more = f", {needed - main.n} more than there are" if needed > main.n else ""
            parts.append(
                f"If the observed effect is the true one, about {needed} {units}{filtered} would"
                f" show {what} with 80 % power{more}."
            )
    if main.needed is None and result.test.power is not None:
        parts.append(
            f"The observed effect is next to nothing: more than 10 000 {units} like these would be"
            " needed."
        )
    if math.isfinite(main.smallest_margin):
        decimals = result.decimals
        margin = math.ceil(main.smallest_margin * 10**decimals) / 10**decimals
        parts.append(f"The smallest margin that these {units} could show is {margin:.{decimals}f}.")
    return " ".join(parts)


def _filter_sentence(result: PairedComparison) -> str:
    """Say what the double-fail filter does to the gap and to the test."""
    if result.threshold is None:
        return ""
    if result.effective is None:
        return "Every pair is a double fail, so the effective set is empty and all pairs are shown."
    gap = format_signed(result.everything.mean_difference, result.decimals)
    effective = format_signed(result.effective.mean_difference, result.decimals)
    return (
        "Leaving out double fails keeps the level of the test but tends to widen the gap between"
        f" the means, by about 10 % in simulations; here it goes from {gap} to {effective}, so"
        " quote both. The threshold must be fixed before the scores are seen: trying several and"
        " keeping the best p is invalid."
    )


def _fold_sentence(result: PairedComparison) -> str:
    """Say why folds are not tested as subjects are."""
    if result.unit != "fold":
        return ""
    why = (
        "The pairs are folds of one dataset: they share training rows and are not independent, so a"
        " Wilcoxon or plain t test rejects true nulls too often (in simulations up to 18 % on one"
        " 10-fold cross-validation and 65 % on ten, at a nominal 5 %)."
    )
    if result.test.name != PROCEDURES["fold"].test:
        return why
    return (
        f"{why} The corrected resampled t is used instead: the variance of Nadeau and Bengio"
        " (2003), with more added for the luck that training sets share."
    )
