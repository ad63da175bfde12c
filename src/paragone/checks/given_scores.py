"""Given scores: results that other programs or people wrote, with what was printed beside them.

They are read as `compare` reads them. A comparison needs the scores alone; an audit also wants the
number of items and runs behind a mean and the spread behind it, which are looked up in the table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from paragone.checks.words import counted
from paragone.data.number_texts import is_numeric, read_numbers
from paragone.errors import InputError, unknown_name
from paragone.intake import Asked, Records, Source, read_results
from paragone.intake.frames import read_frame
from paragone.intake.paper_tables import chosen_part
from paragone.intake.reader import reader_of_results
from paragone.stats.intake import spell_all

STORE_ENDINGS = (".sqlite", ".sqlite3", ".db")
GIVEN_COLUMNS = ("metric", "method", "dataset", "unit", "kind", "value", "spread", "items", "runs")

# Counts of rows or of a test part are not among them: a mean over folds is not one over that many
# items.
_ITEM_COUNT = re.compile(
    r"^(n|no|num|number|#)[ _.]?(of)?[ _]?(test[ _])?(items?|questions?|prompts?)$", re.IGNORECASE
)
_RUN_COUNT = re.compile(
    r"^(n|no|num|number|#)[ _.]?(of)?[ _]?(folds?|seeds?|runs?|repeats?)$", re.IGNORECASE
)
_SPREAD = re.compile(r"(std|sd|stdev|std_dev|standard_deviation)")


def is_given(subject: Path) -> bool:
    """Say whether a path holds results from elsewhere: it exists, and is neither an experiment file nor a store.

    Examples
    --------
    >>> is_given(Path("lab.toml")), is_given(Path("lab.sqlite"))
    (False, False)
    """
    path, _ = chosen_part(subject)
    if not path.exists() or path.suffix.lower() == ".toml":
        return False
    if path.is_dir() or path.suffix.lower() not in STORE_ENDINGS:
        return True
    # Databases of other programs have the same endings as stores: their tables tell.
    reader = reader_of_results(Source(path, path))
    return reader is not None and reader.name != "paragone"


def given_scores(
    subject: Path, metric: str | None = None, items: str | None = None
) -> tuple[pd.DataFrame, list[str]]:
    r"""Read all results behind a path.

    Parameters
    ----------
    subject : Path
        A file or folder that a reader of results knows.
    metric : str, optional
        What the values of a table are that does not say it.
    items : str, optional
        How many right or wrong answers are behind every mean: a number, or the column that says it.

    Returns
    -------
    frame : DataFrame
        A row per value, with the columns `GIVEN_COLUMNS`; ``spread``, ``items`` and ``runs`` are
        NaN where nobody says them, ``kind`` is the unit of the row: item, fold, subject or dataset.
    left_out : list of str
        What could not be read, with its number.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = file.write_text("dataset,n_items,method,accuracy\niris,30,A,0.9 ± 0.1\niris,30,B,0.8\n")
    >>> given_scores(file)[0][["method", "value", "spread", "items"]].to_numpy().tolist()
    [['A', 0.9, 0.1, 30.0], ['B', 0.8, nan, 30.0]]
    """
    path, _ = chosen_part(subject)
    reader = reader_of_results(Source(path, path))
    is_table = reader is not None and reader.name == "table"
    printed = Printed.of(read_frame(subject), items) if is_table else None
    aside = dict.fromkeys(printed.aside, "ignore") if printed else {}
    found = read_results(subject, asked=Asked(metric=metric, columns=aside))
    left_out = [
        f"{count} {why}" for one in found.parts for why, count in one.dropped.items() if count
    ]
    left_out += [f"{name}: {why}" for one in found.parts for name, why in one.refused.items()]
    if found.unknown:
        left_out.append(f"{counted(len(found.unknown), 'files')} of no known format")
    whole = pd.concat([_framed(one) for one in found.parts], ignore_index=True)
    if printed is not None:
        whole = printed.beside(whole)
    if items is not None and items.isdigit():
        whole["items"] = whole["items"].where(whole["kind"] == "item", float(items))
    known = whole["value"].notna().to_numpy()
    if not known.any():
        raise InputError(f"{subject} holds no value: all {len(whole)} are missing")
    if not known.all():
        left_out.append(f"{int((~known).sum())} values that are missing")
    return whole[known].reset_index(drop=True), left_out


def _framed(records: Records) -> pd.DataFrame:
    """Return records as a row per value."""
    frame = records.frame
    unit = pd.Series("", index=frame.index)
    for key in records.keys:
        unit = unit + "/" + spell_all(frame[key])
    rows = pd.DataFrame(
        {"method": frame["method"].astype(str), "dataset": frame["dataset"].astype(str)}
    ).assign(unit=unit.str[1:], kind=records.unit, spread=np.nan, items=np.nan, runs=np.nan)
    each = [rows.assign(metric=name, value=frame[name].astype(float)) for name in records.metrics]
    return pd.concat(each, ignore_index=True)[list(GIVEN_COLUMNS)]


@dataclass(frozen=True, eq=False)
class Printed:
    """A table as it was printed: its cells, and the columns that say what is behind its scores.

    Attributes
    ----------
    cells : DataFrame
        The cells as they stand.
    counts : mapping of str to str
        The columns of the numbers of items and of runs, under these two names.
    spreads : mapping of str to str
        The columns that hold the spread of another one, by the name of that; that of all under an
        empty name.
    """

    cells: pd.DataFrame
    counts: dict[str, str]
    spreads: dict[str, str]

    @classmethod
    def of(cls, raw: pd.DataFrame, items: str | None) -> Printed:
        """Find the columns beside the scores; ``items`` may name that of the numbers of items."""
        raw = raw.set_axis([str(name).strip() for name in raw.columns], axis=1)
        column = None if items is None or items.isdigit() else items
        if column is not None and column not in raw.columns:
            raise unknown_name("column (--items)", column, list(raw.columns))
        patterns = {"items": _ITEM_COUNT, "runs": _RUN_COUNT}
        counts = {
            role: name
            for role, known in patterns.items()
            for name in raw.columns
            if known.match(name)
        }
        if column is not None:
            counts["items"] = column
        spreads = {}
        plain = {name.lower().replace(" ", "_").replace("-", "_"): name for name in raw.columns}
        for written, name in plain.items():
            base = _SPREAD.sub("", written).strip("_")
            if base != written and (not base or base in plain):
                spreads[plain.get(base, "")] = name
        return cls(raw, counts, spreads)

    @property
    def aside(self) -> tuple[str, ...]:
        """The columns that hold no scores."""
        return (*self.counts.values(), *self.spreads.values())

    def beside(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Put numbers of items, of runs and spreads beside values, where one row of the table has the value."""
        scored = [n for n in self.cells if n not in self.aside and is_numeric(self.cells[n])]
        read = {name: read_numbers(self.cells[name])[:2] for name in scored}
        texts = {name: spell_all(self.cells[name]).to_numpy() for name in self.cells}
        rows_of: dict[str, set[int]] = {}
        for column in texts.values():
            for row, text in enumerate(column):
                rows_of.setdefault(text, set()).add(row)
        found = frame.copy()
        every = set(range(len(self.cells)))
        for place, (method, dataset, value) in enumerate(
            zip(frame["method"], frame["dataset"], frame["value"], strict=True)
        ):
            named = [rows_of[name] for name in (method, dataset) if name in rows_of]
            rows = sorted(every.intersection(*named))
            cells = [
                (row, name) for row in rows for name in scored if read[name][0].iat[row] == value
            ]
            if len({row for row, _ in cells}) == 1:
                for role, number in self._of_cell(*cells[0], read):
                    found.loc[found.index[place], role] = number
        return found

    def _of_cell(
        self, row: int, name: str, read: dict[str, tuple[pd.Series, pd.Series]]
    ) -> Iterator[tuple[str, float]]:
        for role, column in self.counts.items():
            yield role, float(read_numbers(self.cells[column])[0].iat[row])
        spread_column = self.spreads.get(name) or (self.spreads.get("") if len(read) == 1 else None)
        spread = read[name][1]
        if spread_column is not None:
            spread = read_numbers(self.cells[spread_column])[0]
        yield "spread", float(spread.iat[row])
