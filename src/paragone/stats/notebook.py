"""Comparisons as a notebook shows them: the verdict, one chart, the tables, and what was chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING

from paragone.charts import embedded
from paragone.tables import Table, to_html

if TYPE_CHECKING:
    from paragone.stats.paired_comparison import PairedComparison
    from paragone.stats.result import Comparison


def comparison_html(comparison: Comparison) -> str:
    """Return a comparison of many methods as HTML, with the differences from the leader as its chart."""
    verdict = "".join(f"<li>{escape(line)}</li>" for line in _lines(comparison))
    picture = embedded(comparison.charts["forest"], f"Differences between {comparison.leader} and each other method")
    summary = comparison.as_table("summary")
    # A caption is as narrow as its table; this one is a paragraph.
    heading = f"<p>{escape(summary.caption)}</p>"
    tables = replace(summary, caption=""), replace(comparison.as_table("pairs"), caption="")
    return _snippet(f"<ul>{verdict}</ul>{heading}", picture, tables, comparison.choices, comparison.warnings)


def _lines(comparison: Comparison) -> list[str]:
    return [*comparison.verdict.splitlines(), *comparison.method_warnings]


def paired_html(result: PairedComparison) -> str:
    """Return a comparison of two methods as HTML, with the scores of one against the other as its chart."""
    picture = embedded(result.charts["scatter"], f"Scores of {result.name_b} against those of {result.name_a}")
    table = replace(result.as_table(), caption="")
    return _snippet(f"<p>{escape(result.verdict)}</p>", picture, (table,), result.choices, result.warnings)


def _snippet(
    verdict: str, picture: str, tables: Sequence[Table], choices: Mapping[str, str], warnings: Sequence[str]
) -> str:
    chosen = "".join(f"<li>{escape(name)}: {escape(text)}</li>" for name, text in choices.items())
    details = f"<details><summary>What was chosen</summary><ul>{chosen}</ul></details>"
    notes = "".join(f"<p>{escape(text)}</p>" for text in warnings)
    return "\n".join(["<div>", verdict, picture, *map(to_html, tables), f"{details}{notes}</div>"])
