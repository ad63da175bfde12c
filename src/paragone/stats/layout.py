"""Lay a comparison out: tables for papers, text for a terminal, HTML for a notebook."""

from __future__ import annotations

from dataclasses import replace
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import numpy as np

from paragone.errors import unknown_name
from paragone.stats.bayes import Posterior
from paragone.stats.family import Pair
from paragone.stats.scores import listed
from paragone.tables import (
    Cell,
    Column,
    Table,
    format_interval,
    format_mean_std,
    format_number,
    format_p,
    format_signed,
    mark_best,
    p_is,
    to_text,
)

if TYPE_CHECKING:
    from paragone.stats.result import Comparison

_OPPOSITE = {"better": "worse", "worse": "better"}


def seen_from(pair: Pair, method: str) -> Pair:
    """Return the pair as it looks from one of its two methods."""
    if pair.method == method:
        return pair
    posterior = pair.posterior
    return replace(
        pair,
        method=pair.rival,
        rival=pair.method,
        verdict=_OPPOSITE.get(pair.verdict, pair.verdict),
        test=replace(pair.test, w_plus=pair.test.w_minus, w_minus=pair.test.w_plus),
        mean_difference=-pair.mean_difference,
        mean_low=-pair.mean_high,
        mean_high=-pair.mean_low,
        median_difference=-pair.median_difference,
        median_low=-pair.median_high,
        median_high=-pair.median_low,
        won=pair.lost,
        lost=pair.won,
        cliffs_delta=-pair.cliffs_delta,
        a12=1 - pair.a12,
        rank_biserial=-pair.rank_biserial,
        posterior=None
        if posterior is None
        else Posterior(posterior.worse, posterior.equal, posterior.better, posterior.rope),
    )


def build(comparison: Comparison, which: str) -> Table:
    """Return one of the tables for a paper."""
    builders = {"summary": summary_table, "pairs": pairs_table, "scores": scores_table}
    if which not in builders:
        raise unknown_name("table", which, builders)
    return builders[which](comparison)


def caption(comparison: Comparison) -> str:
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


def summary_table(comparison: Comparison) -> Table:
    """Return one row a method: score, rank, and the letters of the methods it beats significantly."""
    frame = comparison.rank_table
    letters = dict(zip(frame["method"], _letters(len(frame)), strict=True))
    beaten = dict.fromkeys(letters, "")
    for pair in comparison.pairs:
        if pair.verdict in _OPPOSITE:
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


def pairs_table(comparison: Comparison) -> Table:
    """Return one row a pair, the leader's pairs first."""
    leading = comparison.leading_pairs
    rest = [p for p in comparison.pairs if comparison.leader not in (p.method, p.rival)]
    columns: list[str | Column] = [Column(name, "left") for name in ("method", "rival", "verdict")]
    columns += ["p", "p adjusted", "mean difference", "median difference", "W/T/L", "delta", "A12"]
    bayes = any(pair.posterior is not None for pair in comparison.pairs)
    both = comparison.family.correction == "shaffer" and comparison.friedman.n_methods <= 9
    bergmann = _bergmann(comparison) if both else {}
    columns += ["P(better)", "P(equal)", "P(worse)"] if bayes else []
    if both:
        columns.insert(5, "p Bergmann")
    rows = []
    for pair in (*leading, *rest):
        row = _pair_cells(pair, bayes, comparison.scores.decimals)
        if both:
            row.insert(5, format_p(bergmann[frozenset((pair.method, pair.rival))]))
        rows.append(row)
    return Table.of(columns, rows, caption=caption(comparison), label="tab:pairs")


def _bergmann(comparison: Comparison) -> dict[frozenset[str], float]:
    frame = comparison.corrections
    return {
        frozenset((method, rival)): float(p)
        for method, rival, p in zip(frame["method"], frame["rival"], frame["Bergmann-Hommel"], strict=True)
    }


def _pair_cells(pair: Pair, bayes: bool, decimals: int) -> list[str | Cell]:
    cells: list[str | Cell] = [
        pair.method,
        pair.rival,
        pair.verdict,
        format_p(pair.p),
        format_p(pair.p_adjusted),
        format_interval(pair.mean_difference, pair.mean_low, pair.mean_high, decimals),
        format_interval(pair.median_difference, pair.median_low, pair.median_high, decimals),
        f"{len(pair.won)}/{len(pair.tied)}/{len(pair.lost)}",
        format_signed(pair.cliffs_delta, 2),
        format_number(pair.a12, 2),
    ]
    if bayes and pair.posterior is not None:
        cells += [format_number(share, 3) for share in (pair.posterior.better, pair.posterior.equal)]
        cells.append(format_number(pair.posterior.worse, 3))
    return cells


def scores_table(comparison: Comparison) -> Table:
    """Return one row a dataset with mean and deviation over folds, best in bold; means and ranks below."""
    table = comparison.scores
    how: dict[str, Any] = {"higher_is_better": table.higher_is_better, "size": comparison.settings.size}
    order = [table.methods.index(method) for method in comparison.rank_table["method"]]
    rows: list[tuple[str | Cell, ...]] = []
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


def as_text(comparison: Comparison) -> str:
    """Return the whole answer as text: verdict, tables, choices, warnings."""
    summary = replace(summary_table(comparison), caption="")
    pairs = replace(pairs_table(comparison), caption="")
    blocks = [
        caption(comparison),
        "Verdict\n" + _indent("\n".join([comparison.verdict, *comparison.method_warnings])),
        "Ranks (letters: methods that are significantly worse; * best)\n" + _indent(to_text(summary)),
        f"Where ({comparison.leader} against each rival)\n" + _indent(_where(comparison)),
        "Pairs (positive favours the method)\n" + _indent(to_text(pairs)),
        "Chosen\n" + _indent("\n".join(f"{name + ':':<13}{text}" for name, text in comparison.choices.items())),
    ]
    if comparison.warnings:
        blocks.append("Note\n" + _indent("\n".join(comparison.warnings)))
    return "\n\n".join(blocks)


def _where(comparison: Comparison) -> str:
    """Return on which datasets the leader wins and loses, a line a rival."""
    return "\n".join(
        f"{pair.rival}: wins {len(pair.won)} ({listed(pair.won, 5) or '-'}); "
        f"loses {len(pair.lost)} ({listed(pair.lost, 5) or '-'})"
        for pair in comparison.leading_pairs
    )


def _indent(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
