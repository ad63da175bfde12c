"""The page of a comparison: the finding first, then what was read, the tables, the charts and every choice."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from paragone.charts import check_formats
from paragone.folders import replaced_folder, written_files
from paragone.intake import WhatWasRead
from paragone.metrics import error_name
from paragone.page import (
    Block,
    Choice,
    Collapsible,
    Figure,
    Gallery,
    Leaderboard,
    Page,
    Points,
    Prose,
    Section,
    Sheet,
    figure,
    frame_sheet,
)
from paragone.reporting.boards import MethodFacts, comparison_board, pair_board, panels_of
from paragone.reporting.render import render_page
from paragone.reporting.words import listing, title_of
from paragone.stats import DatasetComparison
from paragone.stats.chart_rows import cliques_of
from paragone.stats.result import Comparison, write_texts
from paragone.stats.samples import Measurement, SampleComparison
from paragone.stats.several import SeveralComparisons
from paragone.stats.untested import UntestedComparison
from paragone.tables import frame_as_csv

PAGE, FILES = "report.html", "read_files.csv"
CHARTS = (
    "critical_difference",
    "forest",
    "win_tie_loss",
    "rank_boxes",
    "pair_matrix",
    "scatter",
    "differences",
)
MATRIX_UP_TO = 14
OPEN_UP_TO = 8
NAMED_UP_TO = 4

AnyComparison: TypeAlias = Comparison | SeveralComparisons


def save_compared(
    result: AnyComparison,
    folder: str | Path,
    *,
    formats: tuple[str, ...] = ("svg", "pdf"),
    read: WhatWasRead | None = None,
) -> tuple[Path, ...]:
    """Write the files of a comparison and a page of it into a folder, whole or not at all; return the files.

    Parameters
    ----------
    result : Comparison or SeveralComparisons
        What was found.
    folder : str or Path
        What an earlier comparison wrote there is replaced as a whole.
    formats : tuple of str
        Of the charts; without any, there are no files of them.
    read : WhatWasRead, optional
        Where the scores come from.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from paragone import compare
    >>> frame = pd.DataFrame({"dataset": ["a", "b", "c"], "A": [0.9, 0.8, 0.7], "B": [0.8, 0.7, 0.5]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = save_compared(compare(frame, metric="accuracy"), Path(folder) / "answer", formats=())
    >>> {"report.html", "verdict.txt", "summary.tex"} <= {file.name for file in files}
    True
    """
    check_formats(formats)
    with replaced_folder(folder, "comparison") as content:
        result.write_files(content, formats)
        texts = {PAGE: render_page(comparison_page(result, read))}
        if read is not None and len(read.files):
            texts[FILES] = frame_as_csv(read.files)
        write_texts(content, texts)
        files = written_files(content)
    return tuple(Path(folder) / file for file in files)


def comparison_page(result: AnyComparison, read: WhatWasRead | None = None) -> Page:
    """Make the page of a comparison, by one metric or by several."""
    several = isinstance(result, SeveralComparisons)
    by_metric: Mapping[str, Comparison] = (
        result if isinstance(result, SeveralComparisons) else {"": result}
    )
    known = () if read is None else read.notes
    parts = {
        metric: ComparisonPart(
            one, known, {"metric": metric} if several else {}, f"_{metric}" if several else ""
        )
        for metric, one in by_metric.items()
    }
    finding = list(_of_each(parts, ComparisonPart.finding))
    if isinstance(result, SeveralComparisons):
        finding.append(Prose(tuple(result.verdict.splitlines())))
        finding.append(Sheet("words", "Words by metric", result.as_table()))
    sections = [Section("verdict", "The finding", tuple(finding))]
    panels = _of_each(parts, ComparisonPart.panels)
    sections += [Section("where", "Where, and pair by pair", panels)] * bool(panels)
    sections.append(Section("evidence", "Rival by rival", _of_each(parts, ComparisonPart.evidence)))
    if read is not None:
        sections.append(Section("read", "What was read", _read_blocks(read)))
    sections.append(Section("tables", "Tables", _of_each(parts, ComparisonPart.tables)))
    sections.append(Section("how", "How it was compared", _of_each(parts, ComparisonPart.choices)))
    choices = (
        (
            Choice(
                "metric", "Metric", {metric: title_of(str(error_name(metric))) for metric in parts}
            ),
        )
        if several
        else ()
    )
    first = next(iter(by_metric.values()))
    return Page(_title(first), _subtitle(by_metric), choices, tuple(sections), {})


def sample_board(
    result: SampleComparison,
    name: str,
    place: Measurement | None = None,
    *,
    facts: MethodFacts | None = None,
    tags: Mapping[str, str] | None = None,
) -> Leaderboard:
    """Return what was compared on samples, by the only value or by one of several, as a leaderboard."""
    chosen = place or result.measurements[0]
    keys = chosen.dataset, chosen.metric, chosen.at
    pairs = [
        pair
        for one, pair in zip(result.measurements, result.pairs, strict=True)
        if (one.dataset, one.metric) == keys[:2] and (one.at == chosen.at or math.isnan(chosen.at))
    ]
    means: dict[str, float] = {}
    for pair in pairs:
        means |= {pair.method: float(pair.mean_method), pair.rival: float(pair.mean_rival)}
    at = f" at {chosen.at:g}" if math.isfinite(chosen.at) else ""
    together = (
        f", which holds for all {result.n_family} differences at once"
        if result.n_family > 1
        else ""
    )
    return pair_board(
        name,
        f"{title_of(chosen.metric)}{at}",
        pairs,
        means,
        drawn=f"mean difference and its {100 * (1 - result.alpha):g} % interval{together}",
        facts=facts,
        reference=result.reference,
        # Differences are signed so that positive is better, whoever said which way that is.
        higher_is_better=not any(
            (pair.mean_method - pair.mean_rival) * pair.mean_difference < 0 for pair in pairs
        ),
        measured=f"mean over {max(pair.n for pair in pairs)} {result.units}",
        tags=tags,
    )


def comparison_figures(comparison: Comparison, ending: str = "") -> tuple[Figure, ...]:
    """Return the charts that a page shows of a comparison, each once."""
    drawn = comparison.charts
    wanted = list(CHARTS)
    if isinstance(comparison, DatasetComparison):
        # Among several methods the scatter shows one rival of all.
        wanted.remove("scatter")
        if len(comparison.scores.methods) > MATRIX_UP_TO:
            wanted.remove("pair_matrix")
            if cliques_of(comparison).reason is not None:
                # The matrix would stand in for the diagram, and nobody reads one of so many
                # methods.
                wanted.remove("critical_difference")
    figures = {
        name: figure(f"{name}{ending}", drawn[name], only_file=True)
        for name in wanted
        if name in drawn
    }
    if "critical_difference" in figures and figures["critical_difference"].title == "Pair matrix":
        # Where bars would mislead, the matrix stands in for the diagram; once is enough.
        figures.pop("pair_matrix", None)
    return tuple(figures.values())


@dataclass(frozen=True)
class ComparisonPart:
    """The comparison by one metric as blocks of a page, and what these are called where there are several.

    ``known`` holds what is said elsewhere on the page already.
    """

    result: Comparison
    known: tuple[str, ...]
    tags: Mapping[str, str]
    ending: str

    def finding(self) -> list[Block]:
        """Return the finding with the methods ranked, and what must be known."""
        board = self.board()
        blocks: list[Block] = [Prose((self.finding_text,), "lead", self.tags)]
        if board is not None:
            blocks = [replace(board, notes=tuple(self.warnings))]
        else:
            blocks += [Prose((text,), "warning", self.tags) for text in self.warnings]
        return blocks

    @property
    def finding_text(self) -> str:
        """The finding in a sentence for each scope; of values that cannot be tested, why."""
        return self.result.finding if self.result.pairs else self.result.verdict

    def board(self) -> Leaderboard | None:
        """Return the methods ranked; None where they were compared by more than one value."""
        result, name = self.result, f"board{self.ending.replace('_', '-', 1)}"
        if not result.pairs:
            return None
        if isinstance(result, DatasetComparison):
            return comparison_board(result, name, tags=self.tags)
        assert isinstance(result, SampleComparison)
        if len({(place.dataset, place.metric, place.at) for place in result.measurements}) > 1:
            return None
        return sample_board(result, name, tags=self.tags)

    def evidence(self) -> list[Block]:
        """Return every line of the verdict, and everything that must be known."""
        lines = (*self.result.verdict.splitlines(), *self.warnings)
        return [
            Collapsible(
                "The evidence, rival by rival",
                (Points(lines),),
                len(lines) <= OPEN_UP_TO,
                self.tags,
            )
        ]

    def panels(self) -> list[Block]:
        """Return the drawings that the ranked methods have the numbers for."""
        board = self.board()
        return [] if board is None else list(panels_of(board))

    @property
    def warnings(self) -> list[str]:
        """What must be known, but for what stands beside the files."""
        told = (
            *self.result.method_warnings,
            *(text for text in self.result.warnings if text not in self.known),
        )
        return list(dict.fromkeys(told))

    def tables(self) -> list[Block]:
        """Return every table; what stands on the page already, above or below the first, is not said again."""
        made = {name: make() for name, make in self.result.tables().items()}
        first = next(iter(made))
        above = (*self.result.warnings, *self.result.method_warnings)
        return [
            Sheet(
                f"{name}{self.ending}",
                name.replace("_", " ").capitalize(),
                replace(
                    table,
                    caption=(
                        ""
                        if name != first and made[first].caption.startswith(table.caption)
                        else table.caption
                    ),
                    notes=tuple(note for note in table.notes if note not in above),
                ),
                tags=self.tags,
            )
            for name, table in made.items()
        ]

    def charts(self) -> list[Block]:
        """Return the charts, where this kind of comparison has any."""
        figures = comparison_figures(self.result, self.ending)
        return [Gallery(figures, tags=self.tags)] if figures else []

    def choices(self) -> list[Block]:
        """Return everything that was chosen."""
        return [
            Points(
                tuple(f"{name}: {text}" for name, text in self.result.choices.items()), self.tags
            )
        ]


def _of_each(
    parts: Mapping[str, ComparisonPart], make: Callable[[ComparisonPart], list[Block]]
) -> tuple[Block, ...]:
    return tuple(block for part in parts.values() for block in make(part))


def _read_blocks(read: WhatWasRead) -> tuple[Block, ...]:
    blocks: list[Block] = (
        [] if read.table is None else [frame_sheet("found", "Results", read.table)]
    )
    if read.notes:
        blocks.append(Points(read.notes))
    if read.files.empty:
        return (*blocks, Prose(("The scores came by the standard input.",)))
    sheet = frame_sheet("files", "Files", read.files)
    sheet = replace(
        sheet, table=replace(sheet.table, caption=f"Also in {FILES}, to be checked with sha256sum.")
    )
    few = len(read.files) <= OPEN_UP_TO
    return (
        *blocks,
        sheet if few else Collapsible(f"{len(read.files)} files, each with its SHA-256", (sheet,)),
    )


def _title(result: Comparison) -> str:
    verb = "compared"
    methods = list(
        dict.fromkeys(name for pair in result.pairs for name in (pair.method, pair.rival))
    )
    if isinstance(result, UntestedComparison):
        methods = list(result.methods)
        verb = "beside each other"
    return (
        f"{listing(methods)} {verb}"
        if len(methods) <= NAMED_UP_TO
        else f"{len(methods)} methods {verb}"
    )


def _subtitle(by_metric: Mapping[str, Comparison]) -> str:
    first = next(iter(by_metric.values()))
    if isinstance(first, UntestedComparison):
        return title_of(first.metric) if first.metric else "values"
    if isinstance(first, DatasetComparison):
        metrics = [
            one.scores.metric for one in by_metric.values() if isinstance(one, DatasetComparison)
        ]
        counted = len(first.units.values)
        units = f"{first.unit}{'s' * (counted != 1)}"
    else:
        assert isinstance(first, SampleComparison)
        metrics = list(dict.fromkeys(one.metric for one in first.measurements))
        counted, units = max(pair.n for pair in first.pairs), first.units
    named = [title_of(name) for name in metrics if name]
    return f"{listing(named)}, {counted} {units}" if named else f"{counted} {units}"
