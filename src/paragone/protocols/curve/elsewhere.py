"""Curves that another program measured: compared, and written as the protocol's tables, as those of a store are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from paragone.errors import InputError, argument
from paragone.folders import replaced_folder, written_files
from paragone.lab.measures import Measure, MeasuredScores, Wording
from paragone.protocols.curve.results_folder import (
    ReadCurves,
    is_results_folder,
    read_results_folder,
)
from paragone.reporting.tables import paper_tables, statistics_table
from paragone.reporting.words import headline, title_of
from paragone.reporting.write import read_display_map
from paragone.stats import DatasetComparison, compare
from paragone.stats.answer import answer_lines
from paragone.stats.lines import MOST_LINES, blocks_apart, cut, wrapped
from paragone.stats.pairs import Pair
from paragone.stats.result import indented
from paragone.stats.scores import listed
from paragone.stats.suspicions import SLACK
from paragone.tables import Table, to_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["compare_results_folder", "is_results_folder"]


class MeasuredCurves(MeasuredScores):
    """The curves of a results folder, reduced and compared as those of a store.

    Parameters
    ----------
    read : ReadCurves
        What was read.
    options : mapping
        How metrics are compared, as `paragone.compare` takes it.
    **choices
        What is shown, as `MeasuredScores` takes it. Without a reference all pairs are compared.
    """

    def __init__(self, read: ReadCurves, options: Mapping[str, Any], **choices: Any) -> None:
        super().__init__(**choices)
        self.read = read
        self.options = options

    @override
    @property
    def where(self) -> str:
        return str(self.read.folder)

    @override
    @cached_property
    def scores(self) -> pd.DataFrame:
        return self.read.scores

    @override
    def target_of(self, grid: str) -> float | None:
        return self.read.target if grid == "p" else None

    @override
    def compared(self, rows: pd.DataFrame, metric: str) -> DatasetComparison:
        reference = None if self.wanted_reference is None else self.reference
        return compare(rows, metric=metric, reference=reference, bayes=False, **self.options)


@dataclass(frozen=True, eq=False)
class FolderComparison:
    """The comparison of a results folder by every metric: what was read, the finding, the tables of a paper."""

    view: MeasuredCurves

    @property
    def read(self) -> ReadCurves:
        """What was read."""
        return self.view.read

    def save(self, out: str | Path) -> tuple[Path, ...]:
        """Write the protocol's tables and the means, whole or not at all; return the files."""
        if self.view.wanted_reference is None:
            names = listed(self.view.known_methods, 4)
            raise InputError(
                f"say whom the tables compare with each other: {argument('reference', 'NAME')}"
                f" ({names})"
            )
        if self.view.at:
            raise InputError(
                f"the protocol's tables are of whole curves: leave {argument('at')} out"
            )
        with replaced_folder(out, "tables") as folder:
            for attachment in paper_tables(self.view):
                file = folder / attachment.name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(attachment.text, encoding="utf-8", newline="\n")
            files = written_files(folder)
        return tuple(Path(out) / file for file in files)

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The pairs of the one comparison that was asked for; of several metrics there are none."""
        alone = self._alone()
        return () if alone is None else alone.pairs

    @property
    def answer(self) -> tuple[str, ...]:
        """The answer in lines for one screen: every finding, or the whole of the one asked for."""
        alone = self._alone()
        read = (self.read.said(self.view.at), *self.read.notes)
        if alone is not None:
            return answer_lines(alone.findings, (*read, *alone.method_warnings, *alone.warnings))
        told = [
            line
            for one in self.view.measures
            for line in wrapped(f"{self._named(one)}: {_finding(one)}")
        ]
        notes = [line for text in read for line in wrapped(text, "! ")]
        room = MOST_LINES - len(notes) - 3
        return tuple(blocks_apart([cut(told, room, "and {} more lines: --details"), notes]))

    def _named(self, measure: Measure) -> str:
        """Return the title of a metric, with the way along its grid where there are several."""
        title = title_of(measure.metric)
        several = len(self.view.grids) > 1
        return f"{title}, {measure.scores.reduction}" if several else title

    def tables(self) -> Mapping[str, Callable[[], Table]]:
        """Return what makes each table of the one comparison that was asked for."""
        alone = self._alone()
        return {} if alone is None else alone.tables()

    def as_table(self, which: str | None = None) -> Table:
        """Return a table of the one comparison that was asked for."""
        alone = self._alone()
        if alone is None:
            raise InputError(f"a table of pairs is of one metric: {argument('metric', 'NAME')}")
        return alone.as_table(which)

    def blocks(self) -> Sequence[tuple[str, str | Table]]:
        """Return what a terminal shows: what was read, then every metric, grid by grid."""
        found: list[tuple[str, str | Table]] = [
            ("", "\n".join([self.read.said(self.view.at), *self.read.notes]))
        ]
        alone = self._alone()
        if alone is not None:
            return [*found, *alone.blocks()]
        for scores in self.view.grids:
            here = [measure for measure in self.view.measures if measure.scores is scores]
            lines = "\n".join(f"{title_of(one.metric)}: {_finding(one)}" for one in here)
            found.append((f"Finding, by {scores.reduction}", lines))
            compared = {one.metric: one.comparison for one in here if one.comparison}
            if (
                compared
                and self.view.wanted_reference is not None
                and scores.folds["dataset"].nunique() > 1
            ):
                found.append(("", statistics_table(compared, scores, Wording())))
            told = dict.fromkeys(text for one in compared.values() for text in one.warnings)
            if told:
                found.append(("Note", "\n".join(told)))
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        scores = self.read.scores
        return {
            "read": {
                "folder": str(self.read.folder),
                "files": self.read.n_files,
                **{
                    f"{name}s": scores[name].unique().tolist()
                    for name in ("method", "dataset", "metric")
                },
                "notes": list(self.read.notes),
            },
            "comparisons": [
                {
                    "metric": one.metric,
                    "grid": one.scores.grid,
                    "counts": one.scores.reduction,
                    **(one.comparison.to_dict() if one.comparison else {"refused": one.refusal}),
                }
                for one in self.view.measures
            ],
        }

    def __repr__(self) -> str:
        (_, above), *blocks = self.blocks()
        shown = [str(above)]
        for heading, block in blocks:
            text = block if isinstance(block, str) else to_text(block)
            shown.append(f"{heading}\n{indented(text)}" if heading else text)
        return "\n\n".join(shown)

    def _alone(self) -> DatasetComparison | None:
        """Return the one comparison where one metric on one grid was asked for; a refusal of it is raised."""
        if self.view.metric is None or len(self.view.measures) != 1:
            return None
        (measure,) = self.view.measures
        if measure.comparison is None:
            raise InputError(measure.refusal)
        return measure.comparison


def _finding(measure: Measure) -> str:
    return measure.refusal if measure.comparison is None else headline(measure.comparison)


def compare_results_folder(
    run: str | Path,
    *,
    reference: str | None = None,
    metric: str | None = None,
    at: float | None = None,
    display_map: str | Path | Mapping[str, str] | None = None,
    **options: Any,
) -> FolderComparison:
    """Compare the methods of a results folder by every metric that its files hold.

    Parameters
    ----------
    run : str or Path
        The folder with one folder per method.
    reference : str, optional
        The method that is compared with each other; all pairs where it is not given.
    metric : str, optional
        This metric only.
    at : float, optional
        A point of the grid; else the mean over the k-grid, and the target of the p-grid.
    display_map : Path or mapping of str to str, optional
        Names to display; methods and datasets stand in this order.
    **options
        How methods are compared, as `paragone.compare` takes it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for method, best in (("A", 0.5), ("B", 0.75)):
    ...         (Path(folder) / method).mkdir()
    ...         for fold in range(3):
    ...             file = Path(folder) / method / f"Arts_fold{fold}_kgrid_metrics.json"
    ...             _ = file.write_text(f'{{"k_values": [10, 20], "micro_f1": [0.25, {best + fold / 100}]}}')
    ...     found = compare_results_folder(folder, reference="B")
    >>> found.view.measures[0].means["Arts"]["B"][0].__round__(4)
    0.505
    """
    if isinstance(display_map, str | Path):
        display_map = read_display_map(Path(display_map))
    names = display_map or {}
    read = read_results_folder(run, names)
    point = "" if at is None else _point(read.scores, at)
    if options.get("higher_is_better") is not None and metric is None:
        raise InputError(
            f"a direction is that of one metric: say which with {argument('metric', 'NAME')}"
        )
    if reference is not None:
        options["correction"] = options.get("correction") or "holm"
    view = MeasuredCurves(
        read, options, metric=metric, at=point, reference=reference, wording=Wording(names)
    )
    # A reference that is not there is refused once, not told in the place of every comparison.
    _ = view.reference
    return FolderComparison(view)


def _point(scores: pd.DataFrame, at: float) -> str:
    grids = [
        str(grid)
        for grid, rows in scores.groupby("grid", sort=False)
        if (rows["at"] - at).abs().min() < SLACK
    ]
    return f"{grids[0] if grids else scores['grid'].iloc[0]}={at:g}"
