"""What every comparison has, whatever its unit: a verdict in words, tables, charts, and files of them all."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from paragone.charts import check_formats, embedded, save_chart
from paragone.errors import unknown_name
from paragone.folders import replaced_folder, written_files
from paragone.stats.family import ComparisonSettings
from paragone.stats.pairs import Pair
from paragone.stats.registries import Test, Unit
from paragone.tables import Table, frame_as_csv, to_csv, to_html, to_latex, to_markdown


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
    def verdict(self) -> str:
        """What this does and does not show, in words."""

    @property
    @abstractmethod
    def choices(self) -> Mapping[str, str]:
        """Everything that was chosen, in words."""

    @abstractmethod
    def tables(self) -> Mapping[str, Callable[[], Table]]:
        """Return what makes each table for a paper, by its name; the first is the main one."""

    @abstractmethod
    def frames(self) -> Mapping[str, pd.DataFrame]:
        """Return the unrounded figures, by the names of their files."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""

    @property
    def method_warnings(self) -> tuple[str, ...]:
        """What is known of the methods that a verdict must not leave out, such as fits that did not converge."""
        return ()

    @abstractmethod
    def blocks(self) -> Sequence[tuple[str, str | Table]]:
        """Return what a terminal shows, texts and tables under their headings; without one where it needs none."""

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
            "verdict.txt": repr(self),
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
            f"<li>{escape(line)}</li>"
            for line in (*self.verdict.splitlines(), *self.method_warnings)
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


_CHARTS: dict[type[Comparison], dict[str, Callable[..., Any]]] = {}


def add_charts(kind: type[Comparison], **drawers: Callable[..., Any]) -> None:
    """Give a kind of comparison its charts: functions of the comparison, by name."""
    _CHARTS.setdefault(kind, {}).update(drawers)


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
        # The posterior of folds has a closed form: there are no draws to show.
        self._drawers = {
            name: draw
            for name, draw in drawers.items()
            if (name, comparison.unit) != ("posterior", "fold")
        }

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
