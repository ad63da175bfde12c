"""The words of an answer: the finding in a sentence, the ranked table in 80 columns, and both in a notebook."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from paragone.stats import Interval

if TYPE_CHECKING:
    from paragone.everyday.evaluation import Evaluation, Standing

ENOUGH_DATASETS = 6
"""Below this, not even a method that wins on every dataset can be shown to win on others (two-sided, alpha = 0.05)."""
WIDTH = 80
MOST_NAMED = 4


def number(value: float) -> str:
    """Return a number as people read it: three digits that count.

    Examples
    --------
    >>> number(0.97185), number(1234.5), number(float("nan"))
    ('0.972', '1234', '-')
    """
    if not math.isfinite(value):
        return "-"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}" if abs(value) >= 1 else f"{value:.3f}"


def signed(interval: Interval) -> str:
    """Return a difference with its interval.

    Examples
    --------
    >>> signed(Interval(0.1, 0.05, 0.15)), signed(Interval(0.1))
    ('+0.100 [+0.050, +0.150]', '+0.100')
    """

    def plus(value: float) -> str:
        return f"+{number(value)}" if value >= 0 else number(value)

    shown = plus(interval.estimate)
    if math.isfinite(interval.low):
        shown += f" [{plus(interval.low)}, {plus(interval.high)}]"
    return shown


def listed(names: Sequence[str]) -> str:
    """Return names as a sentence has them.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed(list("abcdef"))
    ('a, b and c', 'a, b, c, d and 2 others')
    """
    if len(names) > MOST_NAMED + 1:
        return f"{', '.join(names[:MOST_NAMED])} and {len(names) - MOST_NAMED} others"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def finding(answer: Evaluation) -> str:
    """Say what came out: on these datasets, and whether that can be said of others."""
    ranked = [one for one in answer.table if math.isfinite(one.mean)]
    datasets = list(answer.experiment.layout.arrangements)
    where = f"On {datasets[0]}" if len(datasets) == 1 else f"On these {len(datasets)} datasets"
    failed = [one.method for one in answer.table if not math.isfinite(one.mean)]
    if not ranked:
        return f"{where}, no method has a score in every split: {listed(failed)} failed."
    best = ranked[0]
    if len(ranked) == 1:
        alone = f" {listed(failed)} failed." if failed else ""
        return f"{where}, {best.method} reaches {number(best.mean)} by {answer.metric}.{alone}"
    return " ".join([_on_these(where, answer, ranked), *_on_others(answer, ranked, datasets)])


def _on_these(where: str, answer: Evaluation, ranked: Sequence[Standing]) -> str:
    best, others = ranked[0], ranked[1:]
    beaten = [one for one in others if one.against_best is not None and one.against_best.word == "worse"]
    open_ = [one.method for one in others if one not in beaten]
    if not beaten:
        told = any(one.against_best is not None and math.isfinite(one.against_best.p) for one in others)
        why = "" if told else ": one split says nothing of the spread, give more folds"
        return (
            f"{where}, no method can be told apart from {best.method} by {answer.metric} ({number(best.mean)}; next "
            f"{others[0].method}, {number(others[0].mean)}){why}."
        )
    if not open_:
        rival = others[0]
        pair = answer.pair(best.method, rival.method)
        difference = "" if pair is None else f" ({signed(pair.difference)})"
        whom = rival.method if len(others) == 1 else f"all {len(others)} others"
        against = "against" if len(others) == 1 else f"the next, {rival.method},"
        return (
            f"{where}, {best.method} is better than {whom} by {answer.metric}: {number(best.mean)} {against} "
            f"{number(rival.mean)}{difference}."
        )
    return (
        f"{where}, {best.method} leads by {answer.metric} ({number(best.mean)}): better than "
        f"{listed([one.method for one in beaten])}, and not told apart from {listed(open_)}."
    )


def _on_others(answer: Evaluation, ranked: Sequence[Standing], datasets: Sequence[str]) -> list[str]:
    """Say what the datasets show of others like them, the dataset as the unit."""
    if len(datasets) == 1:
        return []
    if len(datasets) < ENOUGH_DATASETS:
        return [
            f"Whether that holds for other datasets, {len(datasets)} cannot show (at least {ENOUGH_DATASETS} are "
            "needed)."
        ]
    best = ranked[0].method
    found = answer.compare(reference=best, bayes=False, correction="holm")
    better = [pair.rival if pair.method == best else pair.method for pair in found.pairs if _wins(pair, best)]
    if not better:
        return ["On datasets like these, nothing is shown: no difference holds over the datasets as a sample."]
    return [f"On datasets like these it is better than {listed(better)} (signed-rank test over datasets, Holm)."]


def _wins(pair: object, best: str) -> bool:
    word = str(getattr(pair, "verdict", ""))
    return word.startswith("better") if getattr(pair, "method", "") == best else word.startswith("worse")


HEADINGS = ("", "method", "mean", "difference to the best", "", "CPU s")


def _cells(answer: Evaluation) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for one in answer.table:
        pair = one.against_best
        difference = "" if pair is None else signed(pair.difference)
        word: str = "best" if one.rank == 1 else "" if pair is None else pair.word
        if one.n_failed:
            word = f"{one.n_failed} failed"
        rank = f"{one.rank:g}" if math.isfinite(one.rank) else ""
        rows.append((rank, one.method, number(one.mean), difference, word, number(one.seconds)))
    return rows


def as_text(answer: Evaluation) -> str:
    """Return the answer for a terminal of 80 columns."""
    from textwrap import wrap

    rows = [HEADINGS, *_cells(answer)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(HEADINGS))]
    # Long names give way: the numbers are what is looked at.
    widths[1] = max(6, min(widths[1], WIDTH - sum(widths[:1] + widths[2:]) - 2 * (len(widths) - 1)))
    right = (True, False, True, False, False, True)
    lines = []
    for row in rows:
        cut = [text if len(text) <= width else f"{text[: width - 1]}…" for text, width in zip(row, widths, strict=True)]
        shown = [t.rjust(w) if r else t.ljust(w) for t, w, r in zip(cut, widths, right, strict=True)]
        lines.append("  ".join(shown).rstrip())
    told = [line for warning in answer.warnings for line in wrap(f"! {warning}", WIDTH, subsequent_indent="  ")]
    foot = f"by {answer.metric}, mean over splits and datasets; intervals hold for all pairs together"
    foot += f"; kept in {answer.store}"
    return "\n".join([*wrap(answer.finding, WIDTH), "", *lines, "", *told, *wrap(foot, WIDTH)])


def as_html(answer: Evaluation) -> str:
    """Return the answer for a notebook: the finding, the ranked table with its intervals drawn, the warnings."""
    head = "".join(f"<th>{escape(text)}</th>" for text in (*HEADINGS[:4], "", *HEADINGS[4:]))
    span = _span(answer)
    body = []
    for one, row in zip(answer.table, _cells(answer), strict=True):
        drawn = "" if one.against_best is None else _bar(one.against_best.difference, span)
        cells = [*(f"<td>{escape(text)}</td>" for text in row[:4]), f"<td>{drawn}</td>"]
        cells += [f"<td>{escape(text)}</td>" for text in row[4:]]
        body.append(f"<tr>{''.join(cells)}</tr>")
    told = "".join(f"<p>⚠ {escape(text)}</p>" for text in answer.warnings)
    return (
        f"<p><strong>{escape(answer.finding)}</strong></p><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(body)}</tbody></table>{told}"
        f"<p><small>by {escape(answer.metric)}; kept in {escape(str(answer.store))}</small></p>"
    )


DRAWN = 160


def _span(answer: Evaluation) -> tuple[float, float]:
    ends = [0.0]
    for one in answer.table:
        if one.against_best is not None:
            found = one.against_best.difference
            ends += [end for end in (found.estimate, found.low, found.high) if math.isfinite(end)]
    return min(ends), max(ends)


def _bar(interval: Interval, span: tuple[float, float]) -> str:
    """Draw an interval on a line, with zero marked."""
    low, high = span
    width = (high - low) or 1.0

    def at(value: float) -> float:
        return 4 + (DRAWN - 8) * (value - low) / width

    whole = math.isfinite(interval.low)
    line = (
        f'<line x1="{at(interval.low):.1f}" x2="{at(interval.high):.1f}" y1="8" y2="8" stroke="#333" stroke-width="2"/>'
        if whole
        else ""
    )
    return (
        f'<svg width="{DRAWN}" height="16" role="img" aria-label="{escape(signed(interval))}">'
        f'<line x1="{at(0):.1f}" x2="{at(0):.1f}" y1="0" y2="16" stroke="#bbb"/>{line}'
        f'<circle cx="{at(interval.estimate):.1f}" cy="8" r="3.5" fill="#333"/></svg>'
    )
