"""Lay a comparison of two methods out: text, table, verdict in words."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pandas as pd

from paragone.stats.frames import plain
from paragone.stats.paired_figures import PairedFigures, PairKind
from paragone.stats.paired_words import filter_sentence, fold_sentence, needed_sentence, shown_sentence
from paragone.tables import Table, format_interval, format_number, format_p, format_signed, p_is

if TYPE_CHECKING:
    from paragone.stats.paired_comparison import PairedComparison


def main_p(figures: PairedFigures, kind: PairKind) -> float:
    """Return the p of the test that fits the pairs."""
    if kind == "subjects":
        return figures.wilcoxon.p
    return 1.0 if figures.t_test is None else figures.t_test.p


def as_text(result: PairedComparison) -> str:
    """Return the whole answer as text."""
    lines = [*_headline(result), *_beside(result), "", result.verdict, "", "Chosen"]
    lines += [f"  {name + ':':<12}{text}" for name, text in result.choices.items()]
    if result.warnings:
        lines += ["", "Note", *(f"  {text}" for text in result.warnings)]
    return "\n".join(lines)


def _headline(result: PairedComparison) -> list[str]:
    every, main, label = result.everything, result.main, " (effective)" if result.effective else ""
    lines = [f"Global mean     {_means(result, every)}"]
    if result.threshold is not None:
        fails = result.n_double_fails
        excluded = f"({fails} double fail{'s' * (fails != 1)} excluded, tau = {result.threshold:g})"
        means = _means(result, main) if result.effective else "none left: every pair is a double fail"
        lines.append(f"Effective mean  {means}   {excluded}")
    lines.append(f"Win / tie / loss{label}  {_win_tie_loss(main)}   ({result.name_a} / tie / {result.name_b})")
    lines.append(_test_line(result, main))
    return lines


def _beside(result: PairedComparison) -> list[str]:
    """Return the figures that stand beside the p, and those of all pairs beside the effective ones."""
    main = result.main
    lines = []
    if result.effective:
        every = result.everything
        lines += [
            f"Without the filter: win / tie / loss {_win_tie_loss(every)}, {p_is(main_p(every, result.kind))}, "
            f"mean difference {_difference(every, result.decimals)}"
        ]
    lines += [
        f"Mean difference {result.name_b} - {result.name_a}  {_difference(main, result.decimals)}, median "
        f"{format_signed(main.median_difference, result.decimals)} (positive favours {result.name_b})",
        f"Effect sizes  Cliff's delta {format_signed(main.cliffs_delta, 2)}, A12 {main.a12:.2f}, "
        f"rank-biserial {format_signed(main.rank_biserial, 2)}",
    ]
    if result.kind == "subjects" and main.t_test is not None:
        lines.append(f"Paired t p  {format_p(main.t_test.p)} (for reference, two-sided, df = {main.t_test.df})")
    if main.posterior is not None:
        post = main.posterior
        lines.append(
            f"Bayes  P({result.name_b} better) {post.better:.3f}, P(equal) {post.equal:.3f}, "
            f"P({result.name_a} better) {post.worse:.3f} (ROPE {post.rope:g})"
        )
    return lines


def _means(result: PairedComparison, figures: PairedFigures) -> str:
    mean_a, mean_b = (format_number(mean, result.decimals) for mean in (figures.mean_a, figures.mean_b))
    return f"{result.name_a} {mean_a}   {result.name_b} {mean_b}"


def _win_tie_loss(figures: PairedFigures) -> str:
    return f"{figures.a_wins} / {figures.ties} / {figures.b_wins}"


def _difference(figures: PairedFigures, decimals: int) -> str:
    return format_interval(figures.mean_difference, figures.mean_low, figures.mean_high, decimals)


def _test_line(result: PairedComparison, figures: PairedFigures) -> str:
    if result.kind == "folds":
        t = figures.t_test
        detail = f"(two-sided, {figures.n} folds)" if t is None else f"(two-sided, {figures.n} folds, t = {t.t:.3f})"
        return f"Corrected resampled t p  {format_p(main_p(figures, 'folds'))} {detail}"
    how = "exact" if figures.wilcoxon.exact else "normal approximation"
    return f"Wilcoxon p  {format_p(figures.wilcoxon.p)} ({how}, two-sided, n = {figures.n})"


def verdict(result: PairedComparison) -> str:
    """Return what this does and does not show, how many pairs it would take, and what the filter does."""
    parts = [shown_sentence(result), needed_sentence(result), filter_sentence(result), fold_sentence(result)]
    return " ".join(part for part in parts if part)


def choices(result: PairedComparison) -> Mapping[str, str]:
    """Return what was chosen, one line a choice."""
    settings = result.settings
    direction = "higher is better" if result.higher_is_better else "lower is better"
    folds = result.kind == "folds"
    ratio = "1/(folds - 1)" if settings.test_train_ratio is None else f"{settings.test_train_ratio:g}"
    test = (
        f"corrected resampled t, two-sided, n_test/n_train = {ratio}"
        if folds
        else f"Wilcoxon signed-rank, two-sided, zeros: {settings.zeros}, "
        f"{'exact' if result.main.wilcoxon.exact else 'normal approximation'}"
    )
    lines = {
        "metric": f"{result.metric or 'not named'} ({direction})",
        "pairs": f"{result.everything.n} {result.unit}, paired by key",
        "threshold": "none" if result.threshold is None else f"{result.threshold:g}, declared; double fails excluded",
        "test": test,
        "level": f"alpha = {settings.alpha:g}, one test",
        "ties": f"differences within {settings.tolerance:g} (relative) are zero or tied",
        "interval": f"{settings.level:.0%}, "
        + ("corrected t" if folds else f"BCa bootstrap over {result.unit} ({settings.n_resamples} resamples)"),
        "bayes": (
            f"correlated t, ROPE {settings.rope:g}"
            if folds
            else f"signed-rank, ROPE {settings.rope:g}, {settings.n_samples} draws"
        ),
        "seed": str(settings.seed),
    }
    return MappingProxyType(lines)


def figures_frame(result: PairedComparison) -> pd.DataFrame:
    """Return one row a figure, one column a set of pairs."""
    columns = {"all": result.everything} | ({"effective": result.effective} if result.effective else {})
    return pd.DataFrame({name: _figures(result, figures) for name, figures in columns.items()})


def _figures(result: PairedComparison, figures: PairedFigures) -> dict[str, float]:
    t, post = figures.t_test, figures.posterior
    values: dict[str, float] = {
        "n": figures.n,
        f"mean {result.name_a}": figures.mean_a,
        f"mean {result.name_b}": figures.mean_b,
        f"{result.name_a} wins": figures.a_wins,
        "ties": figures.ties,
        f"{result.name_b} wins": figures.b_wins,
        "mean difference": figures.mean_difference,
        "mean difference, low": figures.mean_low,
        "mean difference, high": figures.mean_high,
        "median difference": figures.median_difference,
    }
    if result.kind == "subjects":
        values["Wilcoxon p"] = figures.wilcoxon.p
    if t is not None:
        values["corrected t p" if result.kind == "folds" else "paired t p"] = t.p
    values |= {
        "Cliff's delta": figures.cliffs_delta,
        "A12": figures.a12,
        "rank-biserial": figures.rank_biserial,
    }
    if post is not None:
        values |= {
            f"P({result.name_b} better)": post.better,
            "P(equal)": post.equal,
            f"P({result.name_a} better)": post.worse,
        }
    return values


def build(result: PairedComparison) -> Table:
    """Return the table of figures for a paper."""
    frame = figures_frame(result)
    figures = zip(frame.index, frame.to_numpy(), strict=True)
    rows = [[str(name), *(_print(str(name), value, result.decimals) for value in row)] for name, row in figures]
    chosen = result.choices
    text = (
        f"{result.name_a} and {result.name_b} by {chosen['metric']} on {chosen['pairs']}. Test: {chosen['test']}. "
        f"Differences are {result.name_b} less {result.name_a}, positive where {result.name_b} is better."
    )
    if result.threshold is not None:
        text += f" Effective: without {result.n_double_fails} double fails (tau = {result.threshold:g})."
    return Table.of(["", *frame.columns], rows, caption=text, label="tab:pairwise")


def _print(name: str, value: float, decimals: int) -> str:
    if name in ("n", "ties") or name.endswith(" wins"):
        return str(int(value))
    if name.endswith(" p"):
        return format_p(value)
    if "difference" in name:
        return format_signed(value, decimals)
    return format_number(value, decimals if name.startswith("mean ") else 4)


def as_dict(result: PairedComparison) -> dict[str, Any]:
    """Return everything as plain values."""
    values: dict[str, Any] = plain(
        {
            "name_a": result.name_a,
            "name_b": result.name_b,
            "metric": result.metric,
            "higher_is_better": result.higher_is_better,
            "threshold": result.threshold,
            "pairs": result.kind,
            "p": result.p,
            "double_fails": result.n_double_fails,
            "figures": {name: frame.to_dict() for name, frame in figures_frame(result).items()},
            "verdict": result.verdict,
            "choices": dict(result.choices),
            "warnings": list(result.warnings),
            "only_a": list(result.paired.only_a),
            "only_b": list(result.paired.only_b),
            "differences": result.differences.to_dict("records"),
        }
    )
    return values
