"""The page of an experiment: sections that every page has, made of a view, and what its protocol adds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from paragone.charts.theme import unchecked
from paragone.lab.measures import Measure, Wording
from paragone.lab.reproduction import experiment_record
from paragone.lab.view import View
from paragone.page import (
    Block,
    Choice,
    Collapsible,
    Cover,
    Figure,
    Gallery,
    Leaderboard,
    NumberDetails,
    Page,
    Panel,
    Points,
    Prose,
    Section,
    figure,
    words_of,
)
from paragone.registry import Registry
from paragone.reporting.boards import panels_of, view_boards
from paragone.reporting.charts import dataset_plots, mean_plot
from paragone.reporting.compared import OPEN_UP_TO, comparison_figures
from paragone.reporting.costs import costs_sheet
from paragone.reporting.how import failure_blocks, how_blocks, methods_paragraph, page_choices
from paragone.reporting.predictions import prediction_blocks
from paragone.reporting.sections import answer_sheet, dataset_blocks, evidence, method_blocks
from paragone.reporting.tables import paper_tables
from paragone.reporting.words import bibtex, reference_keys, title_of

TITLES = {
    "verdict": "The finding",
    "charts": "Where, at what cost, pair by pair",
    "evidence": "Rival by rival",
    "answer": "The answer table",
    "datasets": "Dataset by dataset",
    "predictions": "What was predicted",
    "methods": "Method by method",
    "failures": "Failures and warnings",
    "how": "How it was done",
}
"""The sections of every page, in their order."""
GRID_TITLES = {"k": "mean over k", "p": "at the target p"}

MOST_LINES = 40
"""Lines of evidence that a page shows of a metric."""

Make = TypeVar("Make", bound=Callable[[View], Any])


@dataclass(frozen=True, eq=False)
class PageBlock:
    """A function that makes blocks of a view, and the section of the page that they stand in.

    ``is_common`` says that a protocol's own section of that name stands in their place.
    """

    name: str
    section: str
    make: Callable[[View], Any]
    kinds: tuple[str, ...] = ()
    is_common: bool = False

    def blocks(self, view: View) -> tuple[Block, ...]:
        """Return what it makes of a view: a block, several, or nothing."""
        made = self.make(view)
        if made is None:
            return ()
        return tuple(made) if isinstance(made, (tuple, list)) else (made,)


sections: Registry[PageBlock] = Registry("section", "sections")
"""What stands on pages, ours and that of others: one entry per chart or table."""


def section(name: str, kinds: Iterable[str] = ()) -> Callable[[Make], Make]:
    """Put what a function makes of a view into a section of every page, or of pages of certain protocols.

    Parameters
    ----------
    name : str
        A section of every page, such as ``charts``, or one of your own.
    kinds : iterable of str
        Kinds of protocols; every page where none is named.

    Examples
    --------
    >>> from paragone.page import Prose
    >>> @section("methods", kinds=["none"])
    ... def how_many(view):
    ...     return Prose((f"There are {len(view.method_facts)} methods.",))
    >>> sections.get("how_many").section
    'methods'
    """

    def add(make: Make) -> Make:
        is_common = make.__module__ == __name__
        sections.add(PageBlock(make.__name__, name, make, tuple(kinds), is_common))
        return make

    return add


def page_of(view: View) -> Page:
    """Make the page of an experiment, whatever its protocol.

    Parameters
    ----------
    view : View
        The experiment, as it is to be shown.

    Returns
    -------
    Page
        Ready to be rendered.
    """
    with unchecked():
        made = view.once(own_parts)
        own = {part.name: part for part in made if isinstance(part, Section)}
        parts = {
            name: Section(name, title, _blocks(view, name, own.pop(name, None)))
            for name, title in TITLES.items()
        }
        # What a protocol adds comes after the methods; the end of a page is the same everywhere.
        added = {
            name: replace(part, blocks=_blocks(view, name, part)) for name, part in own.items()
        }
        others = {block.section for block in _registered(view)} - {*TITLES, *own}
        added |= {
            name: Section(name, name.capitalize(), _blocks(view, name, None))
            for name in sorted(others)
        }
    cover = view.once(cover_of)
    order = [*list(TITLES)[:-2], *added, *list(TITLES)[-2:]]
    found = {name: part for name, part in {**_with_panels(parts), **added}.items() if part.blocks}
    told = {
        "The verdict": words_of((*parts["verdict"].blocks, *parts["evidence"].blocks)),
        "How it was done": cover.paragraph,
    }
    return Page(
        view.experiment,
        cover.subtitle,
        cover.choices or (),
        tuple(found[name] for name in order if name in found),
        view.once(evidence_of),
        bibtex(cover.references or ()),
        told,
        experiment_record(view.results, view.experiment),
        cover.lines,
    )


def own_parts(view: View) -> tuple[Section | Cover, ...]:
    """Return what the protocol says of its page."""
    return () if view.protocol is None else tuple(view.protocol.sections(view))


def _registered(view: View) -> list[PageBlock]:
    return [block for block in sections if not block.kinds or view.kind in block.kinds]


def _blocks(view: View, name: str, own: Section | None) -> tuple[Block, ...]:
    """Return the blocks of a section: the protocol's own or the common ones, then those of others."""
    mine = [block for block in _registered(view) if block.section == name]
    first = (
        own.blocks if own is not None else _made(view, [block for block in mine if block.is_common])
    )
    return (*first, *_made(view, [block for block in mine if not block.is_common]))


def _made(view: View, wanted: Iterable[PageBlock]) -> tuple[Block, ...]:
    return tuple(block for one in wanted for block in one.blocks(view))


def evidence_of(view: View) -> Mapping[str, NumberDetails]:
    """Return what is behind the numbers of a page: a protocol's own, or the folds of every mean."""
    own = next((part.evidence for part in view.once(own_parts) if isinstance(part, Cover)), None)
    return view.once(evidence).found if own is None else own


def cover_of(view: View) -> Cover:
    """Return what is said of a page as a whole, by its protocol or by default."""
    own = next((part for part in view.once(own_parts) if isinstance(part, Cover)), Cover())
    return replace(
        own,
        subtitle=own.subtitle or counts_of(view, view.kind),
        choices=_choices(view) if own.choices is None else own.choices,
        paragraph=own.paragraph or methods_paragraph(view),
        references=_references(view) if own.references is None else own.references,
        decisions=_decisions(view) if own.decisions is None else own.decisions,
    )


def counts_of(view: View, what: str) -> str:
    """Say how many methods and datasets a page is about, and of what kind it is."""
    folds = view.grids[0].folds
    counts = [(folds["method"].nunique(), "method"), (folds["dataset"].nunique(), "dataset")]
    return ", ".join(f"{n} {name}{'s' * (n != 1)}" for n, name in counts) + f"; {what}"


def _choices(view: View) -> tuple[Choice, ...]:
    metrics = {measure.metric: title_of(measure.metric) for measure in view.measures}
    grids = {
        scores.suffix: GRID_TITLES.get(scores.grid, scores.reduction)
        for scores in view.grids
        if scores.suffix
    }
    return Choice("metric", "Metric", metrics), *(
        (Choice("grid", "Score", grids),) if grids else ()
    )


def _references(view: View) -> tuple[str, ...]:
    return reference_keys(view.described, view.comparison is not None)


def _decisions(view: View) -> dict[str, str]:
    return {} if view.comparison is None else page_choices(view.comparison)


@section("verdict")
def finding(view: View) -> tuple[Block, ...]:
    """Say who leads by every metric and how sure that is, with the methods ranked."""
    return view.once(view_boards)


@section("evidence")
def evidence_lines(view: View) -> tuple[Block, ...]:
    """Give the evidence on every metric, rival by rival."""
    blocks: list[Block] = []
    replaced = {part.name for part in view.once(own_parts) if isinstance(part, Section)}
    for measure in () if "verdict" in replaced else view.measures:
        if measure.comparison is not None:
            lines = Points(_first_lines(measure.comparison.verdict.splitlines()))
            title = f"The evidence on {title_of(measure.metric)}, rival by rival"
            blocks.append(
                Collapsible(title, (lines,), len(lines.lines) <= OPEN_UP_TO, measure.tags)
            )
            blocks += [
                Prose((text,), "warning", measure.tags) for text in measure.comparison.warnings
            ]
    return tuple(blocks)


def _first_lines(lines: list[str]) -> tuple[str, ...]:
    """Return lines of evidence; of very many the first, which are of the closest rivals, and how many are not shown."""
    if len(lines) <= MOST_LINES:
        return tuple(lines)
    return (
        *lines[:MOST_LINES],
        f"{len(lines) - MOST_LINES} more rivals, ranked lower, are in the ranked table.",
    )


@section("answer")
def answer(view: View) -> tuple[Block, ...]:
    """Return the table of every metric: datasets down, methods across; and the tables of a paper as files."""
    behind = view.once(evidence)
    return (
        *(
            answer_sheet(m.scores, m.metric, m.comparison, behind, m.key, m.tags)
            for m in view.measures
        ),
        *paper_tables(view),
    )


@section("charts")
def charts(view: View) -> tuple[Block, ...]:
    """Return the charts of every metric: along the grid where there is one, and of the comparison."""
    galleries = [Gallery(_figures(measure), measure.tags) for measure in view.measures]
    return tuple(gallery for gallery in galleries if gallery.figures)


def _with_panels(parts: dict[str, Section]) -> dict[str, Section]:
    """Put what the leaderboards of a page have the numbers for before its charts."""
    boards = [block for block in parts["verdict"].blocks if isinstance(block, Leaderboard)]
    there = {block.board for block in parts["charts"].blocks if isinstance(block, Panel)}
    panels = tuple(
        panel for board in boards if board.name not in there for panel in panels_of(board)
    )
    return {**parts, "charts": replace(parts["charts"], blocks=(*panels, *parts["charts"].blocks))}


def _figures(measure: Measure) -> tuple[Figure, ...]:
    curves, plain = measure.scores.curves, Wording()
    compared = (
        ()
        if measure.comparison is None
        else comparison_figures(measure.comparison, f"_{measure.key}")
    )
    if measure.scores.is_along and curves["dataset"].nunique() > 1:
        mean = mean_plot(measure.scores, measure.metric, plain)
        return (figure(f"mean_curve_{measure.key}", mean), *compared)
    if not compared and measure.scores.is_along:
        alone = next(iter(dataset_plots(measure.scores, measure.metric, plain).values()))
        return (figure(f"curve_{measure.key}", alone),)
    return compared


@section("datasets")
def datasets(view: View) -> tuple[Block, ...]:
    """Return every dataset: what it is, its curves, and every method on it."""
    return dataset_blocks(view)


@section("predictions")
def predictions(view: View) -> tuple[Block, ...]:
    """Return what the methods predicted: confusions, calibration, predicted against measured, the wrong ones first."""
    return prediction_blocks(view)


@section("methods")
def methods(view: View) -> tuple[Block, ...]:
    """Return every method: what it is, what it takes, and where it does well."""
    costs = costs_sheet(view)
    return (*method_blocks(view), *(() if costs is None else (costs,)))


@section("failures")
def failures(view: View) -> tuple[Block, ...]:
    """Return what failed, what methods warned of, and what the comparisons warn of."""
    replaced = {part.name for part in view.once(own_parts) if isinstance(part, Section)}
    return failure_blocks(view, () if "answer" in replaced else view.measures)


@section("how")
def how(view: View) -> tuple[Block, ...]:
    """Return how it was done: the methods paragraph, choices, runs, references."""
    return how_blocks(view, view.once(cover_of))
