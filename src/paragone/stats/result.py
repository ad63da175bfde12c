"""What every comparison has, whatever its unit: a verdict in words, tables, charts, and files of them all."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from paragone.charts import check_formats, embedded, save_chart
from paragone.errors import unknown_name
from paragone.folders import replaced_folder, written_files
from paragone.stats.answer import answer_lines
from paragone.stats.evidence import Told, rival_line
from paragone.stats.family import ComparisonSettings
from paragone.stats.pairs import Pair
from paragone.stats.registries import Test, Unit
from paragone.stats.verdicts import Verdict
from paragone.stats.words import SCOPES, Findings
from paragone.tables import (
    Column,
    Table,
    format_interval,
    format_number,
    format_p,
    format_signed,
    frame_as_csv,
    to_csv,
    to_html,
    to_latex,
    to_markdown,
    to_text,
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Comparison(ABC):
    """What the statistics say about methods on common units: datasets, subjects, samples or folds.

    Attributes
    ----------
    unit : {"dataset", "subject", "sample", "fold"}
        What one difference belongs to.
    test : Test
        How differences were tested.
    pairs : tuple of Pair
        Everything about every pair of methods.
    settings : ComparisonSettings
        The options.
    warnings : tuple of str
        What a reader must know about the input.

    Examples
    --------
    >>> from paragone import compare, pairwise
    >>> frame = pd.DataFrame({"dataset": list("abcdefgh"), "A": np.arange(8) / 8 + 0.1, "B": np.arange(8) / 8})
    >>> over_datasets = compare(frame, metric="accuracy")
    >>> two = pairwise(frame["A"].tolist(), frame["B"].tolist(), metric="accuracy")
    >>> [(one.unit, one.pairs[0].p_raw) for one in (over_datasets, two) if isinstance(one, Comparison)]
    [('dataset', 0.0078125), ('subject', 0.0078125)]
    """

    unit: Unit
    test: Test
    pairs: tuple[Pair, ...]
    settings: ComparisonSettings
    warnings: tuple[str, ...] = ()

    @property
    @abstractmethod
    def findings(self) -> Findings:
        """What is said of the leader and its rivals, in both scopes."""

    @property
    @abstractmethod
    def told(self) -> Told:
        """What the lines of evidence need to know."""

    @property
    @abstractmethod
    def choices(self) -> Mapping[str, str]:
        """Everything that was chosen, in words."""

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Every pair, in the scope of the unit."""
        return self.pairs

    @property
    def verdicts_here(self) -> tuple[Verdict, ...]:
        """The pairs on this data, where the unit speaks of new datasets."""
        return ()

    @property
    def leader(self) -> str:
        """The reference, or without one the method with the best mean."""
        return self.findings.leader

    @property
    def finding(self) -> str:
        """What is shown, in a sentence for each scope."""
        return str(self.findings)

    @property
    def verdict(self) -> str:
        """The findings with their evidence, one line per rival of the leader."""
        by_rival: dict[str, list[Verdict]] = {}
        for scope in SCOPES:
            for pair in self.findings.tested(scope):
                by_rival.setdefault(pair.rival, []).append(pair)
        return "\n".join(rival_line(pairs, self.told) for pairs in by_rival.values())

    @cached_property
    def answer(self) -> tuple[str, ...]:
        """The answer in lines for one screen."""
        return answer_lines(self.findings, (*self.method_warnings, *self.warnings))

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per pair, with everything beside its p."""
        here = {frozenset((pair.method, pair.rival)): pair for pair in self.verdicts_here}
        rows = (
            pair_row(pair, here.get(frozenset((pair.method, pair.rival)))) for pair in self.verdicts
        )
        # Without pairs there are no keys: the headings are what remains to be read.
        return pd.DataFrame(rows, columns=None if self.verdicts else HEADINGS)

    @property
    def places(self) -> tuple[tuple[str, ...], Sequence[tuple[str, ...]]]:
        """Headings, and a row of cells beside every verdict, that tell apart rows of one pair."""
        return (), [()] * len(self.verdicts)

    def tables(self) -> Mapping[str, Callable[[], Table]]:
        """Return what makes each table for a paper, by its name; the first is the main one."""
        return {"pairs": partial(pairs_table, self)}

    def frames(self) -> Mapping[str, pd.DataFrame]:
        """Return the unrounded figures, by the names of their files."""
        return {"pairs": self.table}

    @property
    def caption(self) -> str:
        """The sentence of a caption: what was compared, by which test and correction."""
        return f"{self.findings.measured}. {'; '.join(self.choices.values())}."

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON; what does not exist is None."""
        found = self.findings
        values: dict[str, Any] = plain(
            {
                "metric": found.metric or None,
                "higher_is_better": found.higher_is_better,
                "unit": self.unit,
                "methods": list(found.means),
                "means": dict(found.means),
                "leader": found.leader,
                "finding": self.finding,
                "answer": list(self.answer),
                "verdict": self.verdict.splitlines(),
                "pairs": self.table.to_dict("records"),
                "choices": dict(self.choices),
                "warnings": list(self.warnings),
                "method_warnings": list(self.method_warnings),
                **self.further(),
            }
        )
        return values

    def further(self) -> dict[str, Any]:
        """Return what this kind of comparison has beyond its pairs, for JSON."""
        return {}

    @property
    def method_warnings(self) -> tuple[str, ...]:
        """What is known of the methods that a verdict must not leave out, such as fits that did not converge."""
        return ()

    def blocks(self) -> Sequence[tuple[str, str | Table]]:
        """Return everything in detail, texts and tables under their headings."""
        tables = {name: replace(make(), caption="") for name, make in self.tables().items()}
        found: dict[str, str | Table] = {
            "Finding": self.finding,
            "Evidence": "\n".join([self.verdict, *self.method_warnings]),
            **{name.replace("_", " ").capitalize(): table for name, table in tables.items()},
            "Chosen": "\n".join(f"{name + ':':<13}{text}" for name, text in self.choices.items()),
            "Notes": "\n".join(self.warnings),
        }
        return [(heading, block) for heading, block in found.items() if block]

    @property
    def details(self) -> str:
        """Everything in detail, as plain text."""
        texts = (
            (heading, block if isinstance(block, str) else to_text(block))
            for heading, block in self.blocks()
        )
        return "\n\n".join(f"{heading}\n{indented(text)}" for heading, text in texts)

    def __repr__(self) -> str:
        return "\n".join(self.answer)

    def picture(self) -> tuple[str, str] | None:
        """Return the name of the chart that a notebook shows, and what it shows in words."""
        return None

    @property
    def charts(self) -> Charts:
        """The charts, drawn when asked for by name, such as ``comparison.charts["forest"]``."""
        return Charts(self)

    def as_table(self, which: str | None = None) -> Table:
        """Return a table for a paper, by default the main one."""
        tables = self.tables()
        name = next(iter(tables)) if which is None else which
        if name not in tables:
            raise unknown_name("table", name, tables)
        return tables[name]()

    def to_latex(self, which: str | None = None, *, columns_a_block: int | None = None) -> str:
        """Write a booktabs table, with a caption that states test, correction and n."""
        return to_latex(self.as_table(which), columns_a_block=columns_a_block)

    def to_markdown(self, which: str | None = None) -> str:
        """Write a Markdown table."""
        return to_markdown(self.as_table(which))

    def to_html(self, which: str | None = None) -> str:
        """Write an HTML table."""
        return to_html(self.as_table(which))

    def to_csv(self, which: str | None = None) -> str:
        """Write the printed table as CSV; :meth:`frames` has the unrounded figures."""
        return to_csv(self.as_table(which))

    def texts(self) -> dict[str, str]:
        """Return the answer, the tables and the unrounded figures as texts, by the names of their files."""
        made = {name: make() for name, make in self.tables().items()}
        return {
            "verdict.txt": f"{self!r}\n\n{self.details}",
            "comparison.json": json.dumps(self.to_dict(), indent=2, ensure_ascii=False),
            **{f"{name}.tex": to_latex(table) for name, table in made.items()},
            **{f"{name}.md": to_markdown(table) for name, table in made.items()},
            **{f"{name}.csv": frame_as_csv(frame) for name, frame in self.frames().items()},
        }

    def save(
        self, folder: str | Path, *, formats: tuple[str, ...] = ("svg", "pdf")
    ) -> tuple[Path, ...]:
        """Write the answer as text, tables, unrounded figures and charts into a folder; return the files."""
        check_formats(formats)
        target = Path(folder)
        with replaced_folder(target, "comparison") as content:
            self.write_files(content, formats)
            files = written_files(content)
        return tuple(target / file for file in files)

    def write_files(self, folder: Path, formats: tuple[str, ...]) -> None:
        """Write what :meth:`save` writes into a folder that exists, file by file."""
        write_texts(folder, self.texts())
        for name, chart in self.charts.items() if formats else ():
            save_chart(chart, folder / name, formats)

    def _repr_html_(self) -> str:
        """Show the verdict, one chart, the tables, and what was chosen."""
        verdict = "".join(
            f"<li>{escape(line)}</li>" for line in (self.finding, *self.method_warnings)
        )
        shown = self.picture()
        picture = "" if shown is None else embedded(self.charts[shown[0]], shown[1])
        chosen = "".join(
            f"<li>{escape(name)}: {escape(text)}</li>" for name, text in self.choices.items()
        )
        details = f"<details><summary>What was chosen</summary><ul>{chosen}</ul></details>"
        notes = "".join(f"<p>{escape(text)}</p>" for text in self.warnings)
        tables = [make() for make in list(self.tables().values())[:2]]
        # A caption is as narrow as its table; this one is a paragraph.
        above = f"<ul>{verdict}</ul><p>{escape(tables[0].caption)}</p>"
        drawn = (to_html(replace(table, caption="")) for table in tables)
        return "\n".join(["<div>", above, picture, *drawn, f"{details}{notes}</div>"])


HEADINGS = ["method", "rival", "word", "p", "p_raw", "difference", "low", "high", "n"]

OF_A_PAIR = (
    "wins",
    "ties",
    "losses",
    "n_used",
    "mean_method",
    "mean_rival",
    "mean_difference",
    "median_difference",
    "cliffs_delta",
    "a12",
    "rank_biserial",
    "smallest_p",
    "needed",
    "needed_for_margin",
)


def pair_row(pair: Verdict, here: Verdict | None = None) -> dict[str, Any]:
    """Return a pair as a row of unrounded figures, with what is said of it on this data where that is another scope."""
    row: dict[str, Any] = {
        "method": pair.method,
        "rival": pair.rival,
        "word": pair.word,
        "p": pair.p,
        "p_raw": pair.p_raw,
        "difference": pair.difference.estimate,
        "low": pair.difference.low,
        "high": pair.difference.high,
        "n": pair.n,
        "p_equal": pair.p_equal,
        "within_margin": pair.within,
        "smallest_margin": pair.smallest_margin,
    }
    if isinstance(pair, Pair):
        row |= {name: getattr(pair, name) for name in OF_A_PAIR}
        row |= {"method_failed": pair.failed[0], "rival_failed": pair.failed[1]}
        row |= {"exact": pair.test.exact, "smallest_p_raw": pair.test.smallest_p}
        row |= {name: "; ".join(getattr(pair, name)) for name in ("flipped_by", "won", "lost")}
        if pair.posterior is not None:
            row |= {"chance_better": pair.posterior.better, "chance_worse": pair.posterior.worse}
            row["chance_equal"] = pair.posterior.equal if pair.posterior.margin > 0 else math.nan
    if here is not None:
        here = here.seen_from(pair.method)
        row["here_word"] = None if math.isnan(here.p_raw) else here.word
        row |= {f"here_{name}": getattr(here, name) for name in ("p", "p_raw", "p_equal")}
        row["here_difference"] = here.difference.estimate
        row |= {"here_low": here.difference.low, "here_high": here.difference.high}
    return row


def pairs_table(comparison: Comparison) -> Table:
    """Return one row per pair, the leader's first: the word, p and interval in every scope that was told."""
    leader = comparison.leader
    heads, places = comparison.places
    placed = zip(places, comparison.verdicts, strict=True)
    ordered = sorted(placed, key=lambda both: leader not in (both[1].method, both[1].rival))
    here = {frozenset((pair.method, pair.rival)): pair for pair in comparison.verdicts_here}
    decimals = comparison.told.decimals
    columns: list[str | Column] = [Column(name, "left") for name in (*heads, "method", "rival")]
    columns += [Column("on this data", "left"), "p adjusted", "difference"] if here else []
    scope = comparison.verdicts[0].scope if comparison.verdicts else SCOPES[0]
    columns += [Column(f"on {scope}", "left"), "p", "p adjusted", "difference"]
    measured = any(isinstance(pair, Pair) for pair in comparison.verdicts)
    columns += ["mean", "W/T/L", "A12"] if measured else []
    rows = []
    for place, verdict in ordered:
        pair = verdict.seen_from(leader) if leader == verdict.rival else verdict
        told = here.get(frozenset((pair.method, pair.rival)))
        cells = [*place, pair.method, pair.rival]
        if here:
            said = [] if told is None else verdict_cells(told.seen_from(pair.method), decimals)
            cells += said or ["-", "-", "-"]
        word, *numbers = verdict_cells(pair, decimals)
        cells += [word, format_p(pair.p_raw), *numbers]
        if isinstance(pair, Pair):
            cells.append(format_signed(pair.mean_difference, decimals))
            cells += [f"{pair.wins}/{pair.ties}/{pair.losses}", format_number(pair.a12, 2)]
        rows.append(cells)
    return Table.of(columns, rows, caption=comparison.caption, label="tab:pairs")


def verdict_cells(pair: Verdict, decimals: int) -> list[str]:
    """Return the word, the p and the difference of a pair as cells; no word where nothing was tested."""
    difference = pair.difference
    return [
        "-" if math.isnan(pair.p_raw) else pair.word,
        format_p(pair.p),
        format_interval(difference.estimate, difference.low, difference.high, decimals),
    ]


_CHARTS: dict[type[Comparison], dict[str, Callable[..., Any]]] = {}


def add_charts(kind: type[Comparison], **drawers: Callable[..., Any]) -> None:
    """Give a kind of comparison its charts: functions of the comparison, by name."""
    _CHARTS.setdefault(kind, {}).update(drawers)


NOT_OF_FOLDS = ("critical_difference", "rank_boxes", "rank_flow", "profile", "posterior")


class Charts(Mapping[str, Any]):
    """The charts of a comparison by name, each drawn when it is asked for.

    Those of a comparison over datasets that show one rival take the best of them; :meth:`scatter`,
    :meth:`differences` and :meth:`posterior` take any other by name.

    Examples
    --------
    >>> from paragone import compare
    >>> frame = pd.DataFrame({"dataset": ["a", "b", "c"], "A": [0.9, 0.8, 0.7], "B": [0.8, 0.7, 0.5]})
    >>> charts = compare(frame, metric="accuracy").charts
    >>> charts
    charts: critical_difference, pair_matrix, forest, win_tie_loss, rank_boxes, scatter,
    differences, posterior,
    profile, rank_flow
    >>> charts["forest"].to_dict()["title"]["text"]
    ['A against each rival']
    """

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison
        drawers = _CHARTS.get(type(comparison), {})
        # Folds of one dataset have no ranks, and their posterior has a closed form: there are no
        # draws to show.
        left_out: Sequence[str] = NOT_OF_FOLDS if comparison.unit == "fold" else ()
        if not comparison.pairs:
            left_out = list(drawers)
        self._drawers = {name: draw for name, draw in drawers.items() if name not in left_out}

    def __getitem__(self, name: str) -> Any:
        if name not in self._drawers:
            raise unknown_name("chart", name, self._drawers)
        return self._drawers[name](self._comparison)

    def __contains__(self, name: object) -> bool:
        return name in self._drawers

    def __iter__(self) -> Iterator[str]:
        return iter(self._drawers)

    def __len__(self) -> int:
        return len(self._drawers)

    def __repr__(self) -> str:
        return f"charts: {', '.join(self._drawers)}"

    def scatter(self, rival: str) -> Any:
        """Draw the leader's scores against a rival's."""
        return self._drawers["scatter"](self._comparison, rival)

    def differences(self, rival: str) -> Any:
        """Draw the sorted differences between the leader and a rival."""
        return self._drawers["differences"](self._comparison, rival)

    def posterior(self, rival: str) -> Any:
        """Draw the posterior of the leader and a rival."""
        return self._drawers["posterior"](self._comparison, rival)


def write_texts(folder: Path, texts: Mapping[str, str]) -> None:
    """Write texts into a folder that exists, each with a line feed at its end."""
    for name, text in texts.items():
        (folder / name).write_text(
            text if text.endswith("\n") else text + "\n", encoding="utf-8", newline="\n"
        )


def indented(text: str) -> str:
    """Return text with every line moved in by two places."""
    return "\n".join(f"  {line}" for line in text.splitlines())


def plain(value: Any) -> Any:
    """Return nested values without NumPy types; what is not finite becomes None, which JSON knows.

    Examples
    --------
    >>> plain({"a": [np.float64(1.5), float("nan")], "n": np.int64(3), "b": np.bool_(True)})
    {'a': [1.5, None], 'n': 3, 'b': True}
    """
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
