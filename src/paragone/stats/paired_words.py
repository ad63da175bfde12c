"""The sentences under a comparison of two methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paragone.stats.signed_rank import pairs_needed
from paragone.tables import format_p, format_signed, p_is

if TYPE_CHECKING:
    from paragone.stats.paired_comparison import PairedComparison


def shown_sentence(result: PairedComparison) -> str:
    """Say what the test shows and what it does not."""
    main, alpha, what = result.main, result.settings.alpha, result.unit
    if main.wilcoxon.n_used == 0:
        return f"Every one of the {main.n} differences is zero, so p = 1: nothing tells the two methods apart."
    if result.kind == "subjects" and main.wilcoxon.smallest_p > alpha:
        return (
            f"With {main.wilcoxon.n_used} {what} that differ nothing can be significant at this size: the smallest "
            f"attainable p is {format_p(main.wilcoxon.smallest_p)}, and {pairs_needed(alpha)} are the least."
        )
    if main.n < 2:
        return "One pair alone cannot be tested."
    if result.p <= alpha:
        return _difference_shown(result)
    return (
        f"This does not show that {result.name_a} and {result.name_b} differ ({p_is(result.p)}), and it does not "
        "show that they are equal."
    )


def _difference_shown(result: PairedComparison) -> str:
    main = result.main
    side = main.mean_difference if result.kind == "folds" else main.wilcoxon.w_plus - main.wilcoxon.w_minus
    ahead, behind = (result.name_b, result.name_a) if side > 0 else (result.name_a, result.name_b)
    text = (
        f"On {result.unit} like these {ahead} is better than {behind} ({p_is(result.p)}); this says nothing about "
        "other data, and the interval says how large the difference may be."
    )
    if side * main.mean_difference < 0:
        text += f" The mean difference points the other way: {behind} wins more where it wins."
    return text


def needed_sentence(result: PairedComparison) -> str:
    """Say how many subjects it would take, where the question is open."""
    main = result.main
    if result.kind == "folds" or result.p <= result.settings.alpha or main.wilcoxon.n_used == 0:
        return ""
    if main.needed is None:
        return f"The observed effect is next to nothing: more than 10 000 {result.unit} like these would be needed."
    filtered = " that are no double fails" if result.effective else ""
    more = max(main.needed - main.n, 0)
    return (
        f"If the observed effect is the true one, about {main.needed} {result.unit}{filtered} would give 80 % power"
        + (f", {more} more than there are." if more else ".")
    )


def filter_sentence(result: PairedComparison) -> str:
    """Say what the double-fail filter does to the gap and to the test."""
    if result.threshold is None:
        return ""
    if result.effective is None:
        return "Every pair is a double fail, so the effective set is empty and all pairs are shown."
    gap = format_signed(result.everything.mean_difference, result.decimals)
    effective = format_signed(result.effective.mean_difference, result.decimals)
    return (
        f"Leaving out double fails keeps the level of the test but tends to widen the gap between the means, by "
        f"about 10 % in simulations; here it goes from {gap} to {effective}, so quote both. The threshold must "
        "be fixed before the scores are seen: trying several and keeping the best p is invalid."
    )


def fold_sentence(result: PairedComparison) -> str:
    """Say why folds are not tested as subjects are."""
    if result.kind == "subjects":
        return ""
    return (
        "The pairs are folds of one dataset: they share training rows and are not independent, so a Wilcoxon or "
        "plain t test rejects true nulls too often (in simulations up to 18 % on one 10-fold cross-validation and "
        "65 % on ten, at a nominal 5 %). The corrected resampled t (Nadeau and Bengio 2003) is used instead; it is "
        "approximate, and for unstable learners under repeated cross-validation still too ready to reject."
    )
