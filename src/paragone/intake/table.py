"""The one reader of plain tables: who is a method, what is paired and which numbers are scores, whatever the shape.

No single name decides: the names of all rows and all columns are looked at together (`paragone.intake.words`).
What can be read in two ways is asked about, and what is left out is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from paragone.data.number_texts import is_numeric, read_numbers
from paragone.errors import InputError, argument, unknown_name
from paragone.intake.frames import NOTES
from paragone.intake.reader import Asked
from paragone.intake.records import Records, unit_of
from paragone.intake.source import Source
from paragone.intake.words import (
    AMBIGUOUS,
    HOLD_OUTS,
    KEY_ROLES,
    OWN,
    PARTS,
    ROLE_WORDS,
    TRUTH,
    Label,
    NamedSide,
    label_of,
    plain_heading,
    role_of,
    side_of,
)
from paragone.metrics import read_name, same_metric
from paragone.stats.intake import is_summary, spell_all, summary_rows

ROLES = (*ROLE_WORDS, *OWN, "ignore")
"""What a user may say that a column is."""
DATA = "data"
"""What the only dataset is called where a table names none."""
VALUE = "value"
"""What a metric is called that nobody names."""
RIGHT = "correct"
"""What a metric is called whose values are right and wrong."""
_RIGHT = {"right": 1.0, "true": 1.0, "correct": 1.0, "yes": 1.0, "pass": 1.0, "passed": 1.0}
_WRONG = {"wrong": 0.0, "false": 0.0, "incorrect": 0.0, "no": 0.0, "fail": 0.0, "failed": 0.0}
_TRUTH = _RIGHT | _WRONG
_BINARY_ROWS = 20
"""Tasks that are right or wrong are items rather than datasets from so many on."""


@dataclass
class Laid:
    """A table on its way to records: its cells, what each column is, and what was noticed.

    Attributes
    ----------
    frame : DataFrame
        The cells, under texts as headings.
    source : Source
        Where it was read.
    asked : Asked
        What the user says.
    roles : dict of str to str
        What columns are, by their headings; several may be the dataset together.
    notes : list of str
        What was left out or read into the cells.
    ignored : tuple of str
        Columns that the user leaves out.
    """

    frame: pd.DataFrame
    source: Source
    asked: Asked
    roles: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    ignored: tuple[str, ...] = ()
    looked_at: dict[str, bool] = field(default_factory=dict)

    def of_role(self, role: str) -> list[str]:
        """The columns that play a role, in the order of the table."""
        return [name for name in self.frame.columns if self.roles.get(name) == role]

    @property
    def rest(self) -> list[str]:
        """The columns without a role."""
        return [name for name in self.frame.columns if name not in self.roles]

    @property
    def scored(self) -> list[str]:
        """The columns without a role that hold numbers, or right and wrong in words."""
        return [name for name in self.rest if not _may_count_runs(name) and self.holds_scores(name)]

    def holds_scores(self, name: str) -> bool:
        """Whether a column holds numbers, or right and wrong in words; looked at once."""
        if name not in self.looked_at:
            self.looked_at[name] = _holds_scores(self.frame[name])
        return self.looked_at[name]

    def error(self, text: str) -> InputError:
        """Build a refusal that names the table."""
        return InputError(f"{self.source.where}: {text}")


def table_records(frame: pd.DataFrame, source: Source, asked: Asked) -> list[Records]:
    """Return the records that a table of results holds, whatever its form is.

    Parameters
    ----------
    frame : DataFrame
        The cells as they stand.
    source : Source
        Where they were read.
    asked : Asked
        What the user says of columns.

    Examples
    --------
    >>> from pathlib import Path
    >>> rows = pd.DataFrame({"model": ["A", "B"], "question": ["q1", "q1"], "correct": [1, 0]})
    >>> (one,) = table_records(rows, Source(Path("rows.json")), Asked())
    >>> one.methods, one.unit, one.metrics
    (['A', 'B'], 'item', {'correct': True})
    >>> wide = pd.DataFrame({"model": ["A", "B"], "accuracy": [0.9, 0.8], "f1": [0.7, 0.6]})
    >>> (one,) = table_records(wide, Source(Path("wide.csv")), Asked())
    >>> one.datasets, list(one.metrics)
    (['data'], ['accuracy', 'f1'])
    """
    laid = Laid(_with_plain_headings(frame), source, asked, notes=list(frame.attrs.get(NOTES, ())))
    _leave_out_ignored(laid)
    _take_what_is_said(laid)
    _find_roles(laid)
    turned = _turned_if_metrics_stand_in_rows(laid)
    if turned is not None:
        return table_records(turned, source, asked)
    if laid.of_role("method") and not _is_matrix_of_methods(laid):
        return [_long(laid)]
    return [_wide(laid)]


def with_index_as_key(frame: pd.DataFrame) -> pd.DataFrame:
    """Let a telling index (named, or of text) of a frame in memory be a column; plain row numbers are none.

    Examples
    --------
    >>> with_index_as_key(pd.DataFrame({"A": [0.9]}, index=["iris"])).columns.tolist()
    ['dataset', 'A']
    """
    index = frame.index
    names = [str(name) for name in frame.columns]
    if index.nlevels == 1 and index.name is None:
        keyed = any(role_of(name)[0] in KEY_ROLES for name in names)
        if keyed or pd.api.types.is_integer_dtype(index.dtype):
            return frame
        return frame.rename_axis("dataset").reset_index()
    levels = [f"level {i}" if name is None else str(name) for i, name in enumerate(index.names)]
    if index.nlevels == 1 and not role_of(levels[0])[0] and "dataset" not in names:
        levels = ["dataset"]
    clash = set(levels) & set(names)
    if clash:
        raise InputError(
            f"{min(clash)!r} names both a column and a level of the index: rename one of them"
        )
    return frame.rename_axis(levels).reset_index()


# --- headings and roles --------------------------------------------------------------------------


def _with_plain_headings(frame: pd.DataFrame) -> pd.DataFrame:
    names = [str(name).strip() for name in frame.columns]
    twice = next((name for name in names if name and names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"the column {twice!r} stands twice in the scores: rename one of them")
    found = frame.set_axis(names, axis=1)
    found.attrs.clear()
    return found.dropna(axis=1, how="all").dropna(axis=0, how="all").reset_index(drop=True)


def _leave_out_ignored(laid: Laid) -> None:
    wanted = (*laid.asked.named("ignore"), *laid.asked.ignore)
    laid.ignored = tuple(name for name in wanted if name in laid.frame.columns)
    laid.frame = laid.frame.drop(columns=list(laid.ignored))


def _take_what_is_said(laid: Laid) -> None:
    """Give columns the roles that the user says."""
    names = list(laid.frame.columns)
    for name, role in laid.asked.columns.items():
        if role not in ROLES:
            raise unknown_name(f"role of the column {name!r}", role, ROLES)
        if role == "ignore":
            continue
        if name not in names:
            raise unknown_name("column", name, names)
        laid.roles[name] = role
    for option in ("method", "dataset", "unit"):
        given = getattr(laid.asked, option)
        if given is None or (option == "unit" and given not in names and given in KEY_ROLES):
            continue
        for name in _columns_named(given, names, option):
            laid.roles[name] = _role_of_unit(name) if option == "unit" else option
    value = laid.asked.value
    if value is not None:
        if value not in names:
            raise unknown_name("column (--value)", value, names)
        laid.roles.setdefault(value, "value")


def _columns_named(given: str, names: Sequence[str], option: str) -> list[str]:
    """Return the columns that an option names: one, or several behind commas."""
    if given in names:
        return [given]
    found = []
    for part in given.split(","):
        match = next((n for n in names if plain_heading(n) == plain_heading(part)), None)
        if match is None:
            raise unknown_name(f"column (--{option})", part.strip(), names)
        found.append(match)
    return found


def _role_of_unit(name: str) -> str:
    role = role_of(name)[0]
    return role if role in KEY_ROLES and role != "dataset" else "item"


def _find_roles(laid: Laid) -> None:
    """Give the other columns roles by their headings, where the cells agree."""
    found: dict[str, list[tuple[int, str]]] = {}
    for name in laid.rest:
        if name in OWN and "method" in (plain_heading(n) for n in laid.frame.columns):
            laid.roles[name] = name
            continue
        role, rank = role_of(name)
        if role and not _is_asked_metric(name, laid.asked) and _fits(laid.frame[name], role, name):
            found.setdefault(role, []).append((rank, name))
    said = set(laid.roles.values())
    for role, names in found.items():
        if role in said or (role == "item" and "unit" in said):
            continue
        chosen = _choose_column(laid, role, [name for _, name in sorted(names)])
        if chosen is not None:
            laid.roles[chosen] = role
    _settle_values(laid, said)
    _settle_items(laid)
    _settle_seeds(laid)
    _refuse_train_and_test(laid)


def _is_asked_metric(name: str, asked: Asked) -> bool:
    return asked.metric is not None and name == asked.metric


def _fits(values: pd.Series, role: str, name: str) -> bool:
    """Say whether the cells of a column can be what its heading says."""
    numeric = is_numeric(values)
    if role == "value":
        return numeric
    if role == "metric":
        return not numeric
    if role == "method":
        if plain_heading(name) == "method":
            _refuse_scores_as_names(values)
        return not numeric or (plain_heading(name) in ("method", "model") and _are_whole(values))
    if role in ("fold", "repeat", "seed"):
        # "Resamples:" in the corner of a table is what its columns are, not its rows.
        return not name.endswith(":") and (numeric or name.lower() == role or _are_numbered(values))
    return not numeric or _are_whole(values)


def _are_numbered(values: pd.Series) -> bool:
    """Say whether texts are names of units: with a number in most of them, or parts such as test."""
    texts = values.dropna().astype(str).str.lower()
    return bool(texts.str.contains(r"\d").mean() > 0.5 or texts.isin(PARTS).all())


def _are_whole(values: pd.Series) -> bool:
    numbers = pd.to_numeric(values, errors="coerce").dropna()
    return bool((numbers % 1 == 0).all())


def _refuse_scores_as_names(values: pd.Series) -> None:
    if not is_numeric(values):
        return
    numbers = pd.to_numeric(values, errors="coerce").dropna()
    broken = numbers[numbers % 1 != 0]
    if len(broken):
        raise InputError(
            f"the column 'method' holds numbers such as {broken.iloc[0]:g}, which are no names of"
            " methods: call the column otherwise if it holds the scores of a method"
        )


def _choose_column(laid: Laid, role: str, names: Sequence[str]) -> str | None:
    """Return the column that plays a role; of several the finer one, or the more telling one."""
    if len(names) == 1 or role not in ("method", "dataset"):
        return names[0]
    best = names[0]
    for name in names[1:]:
        here, there = laid.frame[best].astype(str), laid.frame[name].astype(str)
        pairs = len(pd.DataFrame({"a": here, "b": there}).drop_duplicates())
        if pairs == here.nunique():
            continue
        if pairs == there.nunique():
            best = name
        elif role == "method":
            raise laid.error(
                f"both {best!r} and {name!r} may name the methods: say"
                f" {argument('columns', {best: 'method'})}"
            )
    return best


def _settle_values(laid: Laid, said: set[str]) -> None:
    """Keep a column called value as that of the scores only where it is the one."""
    values = laid.of_role("value")
    metrics = [name for name in laid.scored if label_of(name).kind == "metric"]
    asked = laid.asked.metric
    if "value" in said or not values:
        return
    named = any(name == asked or same_metric(name, asked or "") for name in metrics)
    if named or (metrics and plain_heading(values[0]) != "value" and not laid.of_role("metric")):
        for name in values:
            del laid.roles[name]


def _settle_items(laid: Laid) -> None:
    """Take a column for the items only where it pairs methods, or numbers the rows of one."""
    methods, items = laid.of_role("method"), laid.of_role("item")
    if not items or laid.asked.unit in laid.frame.columns:
        return
    (name,) = items[:1]
    if methods:
        owners = laid.frame.groupby(laid.frame[name].astype(str))[methods[0]].nunique()
        shared = float((owners > 1).mean())
        again = laid.frame.duplicated([methods[0], name]).any()
        least = 0.5 + again if plain_heading(name) == "id" else 0.0
        if laid.frame[methods[0]].nunique() > 1 and shared <= least:
            del laid.roles[name]
            return
    bare = plain_heading(name) == "id"
    alone = not methods or laid.frame[methods[0]].nunique() == 1
    if bare and alone and laid.of_role("dataset"):
        del laid.roles[name]


def _settle_seeds(laid: Laid) -> None:
    """Count what this program calls repeats as the seeds that they are, and forget a constant seed."""
    names = set(laid.frame.columns)
    if {"experiment", "protocol", "repeat"} <= names and "seed" not in names:
        several = laid.frame["repeat"].nunique() > 1
        laid.roles["repeat"] = "seed" if several else "ignore"
    for name in laid.of_role("seed"):
        if laid.frame[name].nunique(dropna=False) <= 1 and laid.asked.unit != name:
            laid.roles[name] = "ignore"


def _refuse_train_and_test(laid: Laid) -> None:
    for name in laid.of_role("fold"):
        parts = {str(value).strip().lower() for value in laid.frame[name].unique()}
        if parts <= PARTS and len(parts) > 1:
            raise InputError(
                f"the splits are called {', '.join(sorted(parts))}: keep the rows of the test"
                " scores only"
            )


# --- cells ---------------------------------------------------------------------------------------


def _is_truth(value: object) -> bool:
    return isinstance(value, bool | np.bool_) or str(value).strip().lower() in _TRUTH


def _holds_scores(values: pd.Series) -> bool:
    if pd.api.types.is_numeric_dtype(values):
        return True
    counts = values.value_counts()
    counts = counts[counts > 0]
    distinct = pd.Series(counts.index.astype(object))
    if distinct.empty:
        return False
    if is_numeric(distinct) or all(_is_truth(one) for one in distinct):
        return True
    # A failure among numbers is refused by its row, not left out as a column of text.
    numbers = pd.to_numeric(distinct, errors="coerce").notna().to_numpy()
    return bool(2 * counts.to_numpy()[numbers].sum() > counts.sum())


def _numbers(
    values: pd.Series, owners: pd.Series | None = None
) -> tuple[pd.Series, tuple[str, ...]]:
    """Return the numbers of a column, and what was read into its cells."""
    if not pd.api.types.is_numeric_dtype(values):
        there = values.dropna()
        if len(there) and all(_is_truth(one) for one in there.unique()):
            right = values.map(lambda one: _TRUTH.get(str(one).strip().lower(), np.nan))
            return right.astype(float), ()
    numbers, _, said = read_numbers(values, owners)
    return numbers, said


# --- tables with methods as names in rows --------------------------------------------------------


def _is_matrix_of_methods(laid: Laid) -> bool:
    """Say whether every method has one row, without anything that says what it was measured on."""
    methods = laid.of_role("method")
    if any(laid.of_role(role) for role in (*KEY_ROLES, "metric", *OWN)) or laid.of_role("value"):
        return False
    return len(methods) == 1 and laid.frame[methods[0]].is_unique


def _long(laid: Laid) -> Records:
    """Read a table with a row per method and unit."""
    (method,) = laid.of_role("method")[:1]
    _unpivot_numbered_columns(laid)
    metrics = _score_columns(laid)
    frame = _keys(laid, _names_of(laid, method))
    _ask_about_runs(laid, frame)
    own = [name for name in metrics if laid.roles.get(name) == "value"]
    if laid.of_role("metric") and len(metrics) == 1:
        frame, names = _one_column_per_metric(laid, frame, metrics[0])
    else:
        names = []
        for name in metrics:
            called = _called(laid, name) if name in own else name
            frame[called] = _read_column(laid, name, frame["method"])
            names.append(called)
    frame = _without_summaries(laid, frame)
    frame = _paired_rows(laid, frame, names)
    return _records(laid, frame, names)


def _names_of(laid: Laid, column: str) -> pd.Series:
    names = spell_all(laid.frame[column])
    empty = (names == "").to_numpy()
    if empty.any():
        raise laid.error(f"data row {empty.argmax() + 1} of the scores has no method")
    return names


def _keys(laid: Laid, methods: pd.Series) -> pd.DataFrame:
    """Return the methods, the dataset and every key, spelt."""
    found = pd.DataFrame({"method": methods})
    datasets = laid.of_role("dataset")
    only = f"table {laid.source.part}" if laid.source.part else DATA
    found["dataset"] = _joined(laid.frame, datasets) if datasets else only
    if datasets and (found["dataset"] == "").any():
        row = int((found["dataset"] == "").to_numpy().argmax()) + 1
        raise laid.error(f"data row {row} of the scores has no dataset")
    for role in ("fold", "repeat", "seed", "subject", "item", "cluster"):
        names = laid.of_role(role)
        if names:
            found[role] = _joined(laid.frame, names)
    for name in OWN:
        if laid.of_role(name):
            found[name] = laid.frame[name]
    if "cluster" in found and "item" not in found:
        found = found.drop(columns="cluster")
    return found


def _joined(frame: pd.DataFrame, names: Sequence[str]) -> pd.Series:
    """Return the names of a key, of several columns together."""
    parts = [spell_all(frame[name]) for name in names]
    found = parts[0]
    for part in parts[1:]:
        found = found + ", " + part
    return found


def _unpivot_numbered_columns(laid: Laid) -> None:
    """Let numbered columns (``fold1``, ``seed_2``) beside names of methods be units of their rows."""
    scored = laid.scored
    side = side_of(scored)
    if side.kind != "units" or laid.of_role("value"):
        return
    kept = side.kept
    _say_left_out(laid, [one.text for one in side.labels if one not in kept])
    wide = [one.text for one in kept]
    rest = [name for name in laid.frame.columns if name not in scored]
    frame = laid.frame[[*rest, *wide]].melt(rest, wide, "numbered columns", "scores of columns")
    numbers = {one.text: one.name for one in kept}
    laid.frame = frame.assign(**{"numbered columns": frame["numbered columns"].map(numbers)})
    laid.roles |= {"numbered columns": kept[0].unit, "scores of columns": "value"}


def _score_columns(laid: Laid) -> list[str]:
    """Return the columns of scores: as the user says, those called by a metric, or the only one."""
    values = laid.of_role("value")
    scored = laid.scored
    asked = laid.asked.metric
    if values:
        _say_left_out(laid, scored)
        return values[:1]
    labels = {name: label_of(name) for name in scored}
    wanted = [name for name in scored if asked is not None and _is_called(name, asked)]
    known = [
        name
        for name, one in labels.items()
        if one.kind == "metric" or name in wanted or (one.kind == "property" and one.metric)
    ]
    named = [name for name in known if labels[name].kind != "property" or name in wanted]
    others = [name for name, one in labels.items() if one.kind in ("name", "crossed")]
    chosen = named or others or known
    if laid.of_role("metric") and len(chosen) > 1:
        raise laid.error(
            f"several columns may hold the scores ({', '.join(chosen)}): say"
            f" {argument('columns', {chosen[0]: 'value'})}"
        )
    if not chosen:
        raise _no_scores(laid)
    _say_left_out(laid, [name for name in scored if name not in chosen])
    return chosen


def _is_called(column: str, asked: str) -> bool:
    return column == asked or plain_heading(column) == plain_heading(asked)


def _no_scores(laid: Laid) -> InputError:
    """Build the refusal of a table without numbers: a metric's column that holds text is named."""
    for name in laid.rest:
        if label_of(name).kind == "metric":
            text = next((one for one in laid.frame[name].dropna() if isinstance(one, str)), "")
            return laid.error(f"the column {name!r} holds the text {text!r}, not numbers")
    column = argument("columns", {"COLUMN": "value"})
    return laid.error(f"no column holds numbers that may be scores: say {column}")


def _say_left_out(laid: Laid, names: Iterable[str]) -> None:
    shown = [name or "a column without a name" for name in names]
    if shown:
        laid.notes.append(
            f"Left out, no scores by their names: {', '.join(shown)} (say"
            f" {argument('columns', {shown[0]: 'value'})} if one is)."
        )


def _called(laid: Laid, column: str) -> str:
    """Return what the metric of a column that names none is called."""
    heading = plain_heading(column)
    told = read_name(column).higher_is_better is not None
    own = column if told or heading not in ("value", "result", "scores of columns") else ""
    asked = laid.asked.metric or ""
    if "," in asked:
        alone = argument("metric", asked.partition(",")[0].strip())
        raise laid.error(
            f"it has one metric, which no heading names, and not several; name it: {alone}"
        )
    return asked or own or _metric_of_file(laid) or VALUE


def _metric_of_file(laid: Laid) -> str:
    read = read_name(laid.source.stem)
    return read.metric if read.metric is not None and read.higher_is_better is not None else ""


def _read_column(laid: Laid, name: str, owners: pd.Series) -> pd.Series:
    numbers, said = _numbers(laid.frame[name], owners)
    laid.notes += [one for one in said if one not in laid.notes]
    return numbers


def _ask_about_runs(laid: Laid, frame: pd.DataFrame) -> None:
    """Ask whether runs are seeds or repeats where they tell rows apart."""
    keys = list(frame.columns)
    if laid.of_role("metric"):
        frame = frame.assign(metric=spell_all(laid.frame[laid.of_role("metric")[0]]))
        keys.append("metric")
    if frame.duplicated(keys).any():
        _refuse_runs(laid)


def _refuse_runs(laid: Laid) -> None:
    """Ask what a column of runs counts, if there is one."""
    for name in laid.rest:
        if _may_count_runs(name) and laid.frame[name].nunique() > 1:
            raise laid.error(
                f"the column {name!r} may count seeds on one split or new splits of the rows,"
                f" which are tested differently: say {argument('columns', {name: 'seed'})} or"
                f" {argument('columns', {name: 'repeat'})}"
            )


def _may_count_runs(heading: str) -> bool:
    return plain_heading(heading).removesuffix("s") in AMBIGUOUS


def _one_column_per_metric(
    laid: Laid, frame: pd.DataFrame, value: str
) -> tuple[pd.DataFrame, list[str]]:
    """Turn a column of metrics and one of values into a column per metric."""
    metric = spell_all(laid.frame[laid.of_role("metric")[0]])
    keys = list(frame.columns)
    long = frame.assign(metric=metric, value=_read_column(laid, value, frame["method"]))
    doubled = long.duplicated([*keys, "metric"])
    if doubled.any():
        row = long[doubled].iloc[0]
        raise _stands_twice(laid, long[doubled], f"the {row['metric']}")
    names = [str(name) for name in pd.unique(metric)]
    wide = long.pivot(index=keys, columns="metric", values="value").reset_index()
    return wide.rename_axis(columns=None)[[*keys, *names]], names


def _without_summaries(laid: Laid, frame: pd.DataFrame) -> pd.DataFrame:
    """Leave out rows that sum up others, by the names of their datasets and folds."""
    summary = pd.Series(False, index=frame.index)
    for key in ("dataset", "fold", "item"):
        if key in frame.columns and frame[key].nunique() > 1:
            summary |= summary_rows(frame[key])
    if not summary.any() or summary.all():
        return frame
    names = dict.fromkeys(
        str(frame.loc[row, key])
        for row in frame.index[summary]
        for key in ("dataset", "fold", "item")
        if key in frame.columns and is_summary(str(frame.loc[row, key]))
    )
    laid.notes.append(f"Rows that sum up others were left out: {', '.join(names)}.")
    return frame[~summary].reset_index(drop=True)


def _paired_rows(laid: Laid, frame: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """Return rows that each stand once; what tells the others apart is asked for."""
    keys = [name for name in frame.columns if name not in metrics]
    again = frame.duplicated(keys, keep=False)
    if not again.any():
        return frame
    if laid.asked.unit in ("seed", "repeat", "fold") and laid.asked.unit not in frame.columns:
        unit = str(laid.asked.unit)
        laid.notes.append(f"Rows with equal names are {unit}s, counted in their order.")
        return frame.assign(**{unit: frame.groupby(keys, sort=False).cumcount().astype(str)})
    kinds = frame[again].drop_duplicates([*keys, *metrics])
    if not kinds.duplicated(keys).any():
        kept = frame[~frame.duplicated(keys)].reset_index(drop=True)
        laid.notes.append(
            f"Left out: {len(frame) - len(kept)} rows that stand twice with the same values."
        )
        return kept
    if "item" in frame.columns and not {"repeat", "fold"} & set(frame.columns):
        # Several answers to one question are told from each other by their order.
        return frame.assign(repeat=frame.groupby(keys, sort=False).cumcount().astype(str))
    raise _stands_twice(laid, frame[again], "the score")


def _stands_twice(laid: Laid, rows: pd.DataFrame, what: str) -> InputError:
    """Build the question what tells rows with equal names apart."""
    row = rows.iloc[0]
    where = "" if row["dataset"] == DATA else f" on {row['dataset']!r}"
    units = "".join(
        f", {key} {row[key]!r}"
        for key in ("fold", "repeat", "seed", "subject", "item")
        if key in rows
    )
    datasets = laid.of_role("dataset")
    telling = _telling_columns(laid, [*laid.of_role("method"), *datasets])
    repeats = f"{argument('unit', 'seed')} if rows of equal names are repetitions"
    if telling:
        names = ",".join([*datasets, *telling])
        parts = " and ".join(telling)
        verb = "tells" if len(telling) == 1 else "tell"
        advice = (
            f"say {argument('dataset', names)} if {parts} {verb} what was measured on, or {repeats}"
        )
    else:
        advice = f"say {repeats}; else keep one"
    missing = "" if datasets or units else ", and no column names a dataset, fold or subject"
    roles = {role: laid.of_role(role) for role in ("method", "dataset")}
    read = "; ".join(f"{role}: {', '.join(names)}" for role, names in roles.items() if names)
    return laid.error(
        f"read as {read}, {what} of {row['method']!r}{where}{units} stands twice{missing}: {advice}"
    )


def _telling_columns(laid: Laid, keys: Sequence[str]) -> list[str]:
    """Return the columns that tell rows with equal names apart, as few as do; dates and ids are none."""
    rows = laid.frame[[*keys]].astype(str)
    candidates = []
    for name in laid.rest:
        label = label_of(name)
        plain = plain_heading(name)
        known = label.kind in ("metric", "crossed", "spread") or (
            label.kind == "property" and label.metric
        )
        if known or plain in ("id", "date", "time", "index") or plain.startswith("unnamed"):
            continue
        values = laid.frame[name].astype(str)
        shared = values.duplicated(keep=False).mean()
        if values.nunique() > 1 and shared > 0.5:
            candidates.append(name)
    chosen: list[str] = []
    for name in candidates:
        before = len(rows.drop_duplicates())
        rows = rows.assign(**{name: laid.frame[name].astype(str)})
        if len(rows.drop_duplicates()) > before:
            chosen.append(name)
    return chosen


# --- tables with names on two sides --------------------------------------------------------------


def _turned_if_metrics_stand_in_rows(laid: Laid) -> pd.DataFrame | None:
    """Return a table turned round where its rows are metrics, or datasets crossed with metrics."""
    label = _label_column(laid)
    if label is None or laid.of_role("method") or len(laid.scored) < 2:
        return None
    if laid.roles.get(label) not in (None, "metric") or laid.asked.method or laid.asked.dataset:
        return None
    texts = spell_all(laid.frame[label])
    rows = side_of(texts)
    columns = side_of(laid.scored)
    if not texts.is_unique or columns.kind != "names":
        return None
    crossed = rows.kind == "crossed"
    if rows.kind != "metrics" and not crossed:
        return None
    turned = laid.frame[[label, *laid.scored]].astype({label: str}).set_index(label).T
    turned.columns.name = None
    heading = "dataset" if crossed and columns.methodness < -0.5 else "method"
    found = turned.rename_axis(heading).reset_index()
    found = _with_numbers(found, heading)
    found.attrs[NOTES] = [
        *laid.notes,
        "Metrics stand in the rows: the table was read turned round.",
    ]
    return found


def _with_numbers(frame: pd.DataFrame, heading: str) -> pd.DataFrame:
    """Read the columns of a turned table, which lost their types, where they hold numbers alone."""
    for name in frame.columns:
        if name != heading:
            numbers = pd.to_numeric(frame[name], errors="coerce")
            if numbers.notna().sum() == frame[name].notna().sum():
                frame[name] = numbers
    return frame


def _label_column(laid: Laid) -> str | None:
    """Return the column of text, without a role or with one, that names the rows; the first of several."""
    for role in ("dataset", "metric", "method"):
        if laid.of_role(role):
            return laid.of_role(role)[0]
    text = [name for name in laid.rest if not laid.holds_scores(name)]
    if text:
        return text[0]
    unnamed: list[str] = [name for name in laid.rest if not name or name.startswith("Unnamed:")]
    return unnamed[0] if unnamed and laid.frame[unnamed[0]].is_unique else None


@dataclass(frozen=True)
class BothSides:
    """The rows and the columns of scores of a table with names on both sides."""

    rows: NamedSide | None
    columns: NamedSide
    label: str | None


def _wide(laid: Laid) -> Records:
    """Read a table with scores under several columns: of methods, datasets, metrics or units."""
    keys = [name for name in laid.frame.columns if laid.roles.get(name) in KEY_ROLES]
    label = None if keys else _label_column(laid)
    scored = [name for name in laid.frame.columns if name in (*laid.scored, *laid.of_role("value"))]
    scored = [name for name in scored if name != label]
    if not scored:
        raise _no_scores(laid)
    said = set(laid.of_role("value"))
    columns = (
        side_of([name for name in scored if name not in said])
        if len(said) != len(scored)
        else side_of(scored)
    )
    if said and len(said) < len(scored):
        columns = NamedSide(columns.kind, (*columns.labels, *(Label(n, "name", n) for n in said)))
    _refuse_predictions(laid, scored)
    if keys and laid.of_role("method") == []:
        return _with_keys(laid, columns, scored)
    if laid.of_role("method"):
        return _rows_are_methods(laid, columns, laid.of_role("method")[0])
    if label is None:
        return _without_names(laid, columns)
    rows = side_of(spell_all(laid.frame[label]))
    return _by_evidence(laid, BothSides(rows, columns, label))


def _refuse_predictions(laid: Laid, scored: Sequence[str]) -> None:
    """Refuse a table of predictions beside what is right: labels are no scores of a method."""
    truth = next((name for name in scored if plain_heading(name) in TRUTH), None)
    if truth is None or laid.asked.value is not None or len(scored) < 2:
        return
    others = [name for name in scored if name != truth]
    raise laid.error(
        f"the column {truth!r} holds what is right, so {', '.join(others[:3])} are predictions and no"
        f" scores: write 1 where one is right and 0 where it is wrong, or leave {truth!r} out with"
        f" {argument('ignore', truth)}"
    )


def _with_keys(laid: Laid, columns: NamedSide, scored: list[str]) -> Records:
    """Read a table whose rows are datasets or units: its columns are methods, or the metrics of one."""
    datasets = laid.of_role("dataset")
    if columns.kind == "metrics" or _is_one_method(laid, columns):
        return _one_method(laid, columns)
    if columns.kind == "units" and datasets:
        return _units_in_columns(laid, columns, of_datasets=True)
    kept = columns.kept
    if len(kept) < 2 and not laid.source.alone:
        return _one_method(laid, columns)
    _say_left_out(laid, [one.text for one in columns.labels if one not in kept])
    return _methods_in_columns(laid, columns)


def _is_one_method(laid: Laid, columns: NamedSide) -> bool:
    """Say whether the scores are of one method, which the file or the user names."""
    if len(columns.kept) == 1:
        return True
    if laid.asked.value is not None:
        # Beside several columns of methods in the only table the column is one more of them.
        return not laid.source.alone
    asked = laid.asked.metric
    return asked is not None and any(_is_called(one.text, asked) for one in columns.labels)


def _one_method(laid: Laid, columns: NamedSide) -> Records:
    """Read a table of one method: keys, and a column per metric."""
    method = _method_of_file(laid, named=columns.kind == "metrics")
    laid.frame = laid.frame.assign(**{"method of the file": method})
    laid.roles["method of the file"] = "method"
    _binary_tasks_are_items(laid)
    return _long(laid)


def _method_of_file(laid: Laid, *, named: bool) -> str:
    """Return the method that a file is called after, without a metric in its name where the table names none."""
    called = laid.source.called
    if laid.source.name is not None or named or called != laid.source.stem:
        return called
    read = read_name(called)
    if read.metric is None or not read.rest or read.higher_is_better is None:
        return called
    return label_of(called).name.strip(" _-.") or called


def _binary_tasks_are_items(laid: Laid) -> None:
    """Let many tasks that are right or wrong be items: problems of one benchmark."""
    datasets = laid.of_role("dataset")
    if len(datasets) != 1 or any(
        laid.of_role(role) for role in ("item", "fold", "seed", "repeat", "subject")
    ):
        return
    if not plain_heading(datasets[0]).startswith("task") or not laid.frame[datasets[0]].is_unique:
        return
    scores = [_numbers(laid.frame[name])[0].dropna() for name in laid.scored]
    if (
        len(laid.frame) >= _BINARY_ROWS
        and scores
        and all(one.isin([0.0, 1.0]).all() for one in scores)
    ):
        laid.roles[datasets[0]] = "item"


def _methods_in_columns(laid: Laid, columns: NamedSide) -> Records:
    """Read a column per method, or per method and metric."""
    kept = columns.kept
    if len({one.name for one in kept}) < 2 and laid.source.alone:
        raise laid.error(
            "a comparison needs two methods or more; the table has"
            f" {len(kept)} method column(s){': ' if kept else ''}{', '.join(one.text for one in kept)}"
        )
    return _melted(laid, kept, "method")


def _melted(laid: Laid, kept: Sequence[Label], across: str) -> Records:
    """Return records of the columns, whose names are those of methods, datasets or units."""
    crossed = kept[0].kind == "crossed"
    owners = laid.of_role("method")
    frame: pd.DataFrame | None = None
    names: list[str] = []
    for metric in dict.fromkeys(one.metric if crossed else "" for one in kept):
        mine = [one for one in kept if not crossed or one.metric == metric]
        pieces = []
        for one in mine:
            name = one.name or one.text
            methods = _names_of(laid, owners[0]) if owners else pd.Series(name, laid.frame.index)
            piece = _keys(laid, methods)
            pieces.append(piece if across == "method" else piece.assign(**{across: name}))
        keys = pd.concat(pieces, ignore_index=True)
        _ask_about_runs(laid, keys)
        cells = pd.concat([laid.frame[one.text] for one in mine], ignore_index=True)
        called = metric or _called_by_cells(laid, cells)
        values, said = _numbers(cells, keys["method"])
        laid.notes += said
        names.append(called)
        keyed = keys.assign(**{called: values})
        frame = (
            keyed
            if frame is None
            else frame.merge(keyed, on=list(keys.columns), how="outer", sort=False)
        )
    assert frame is not None
    frame = _without_summaries(laid, frame)
    return _records(laid, _paired_rows(laid, frame, names), names)


def _called_by_cells(laid: Laid, cells: pd.Series) -> str:
    """Return what the metric is called; right and wrong in words say it themselves."""
    called = _called(laid, VALUE)
    words = not pd.api.types.is_numeric_dtype(cells) or pd.api.types.is_bool_dtype(cells)
    in_words = words and all(_is_truth(one) for one in cells.dropna().unique())
    return RIGHT if called == VALUE and in_words else called


def _rows_are_methods(laid: Laid, columns: NamedSide, label: str) -> Records:
    """Read a row per method: its columns are metrics, datasets, both, or numbered units of one dataset."""
    laid.roles[label] = "method"
    kept = columns.kept
    properties = [one for one in columns.labels if one not in kept]
    rows = spell_all(laid.frame[label])
    summaries = [
        place for place, name in enumerate(rows) if label_of(name).kind in ("summary", "spread")
    ]
    if summaries and len(summaries) < len(rows) - 1:
        laid.notes.append(
            f"Rows that sum up others were left out: {', '.join(rows.iloc[summaries])}."
        )
        laid.frame = laid.frame.drop(index=laid.frame.index[summaries]).reset_index(drop=True)
    if columns.kind == "metrics":
        return _long(laid)
    if not kept:
        raise _no_scores(laid)
    _say_left_out(laid, [one.text for one in properties])
    if columns.kind == "units":
        return _units_in_columns(laid, columns, of_datasets=False)
    if len(kept) == 1 and kept[0].kind == "name":
        laid.roles[kept[0].text] = "value"
        return _long(laid)
    return _melted(laid, kept, "item" if _are_right_or_wrong(laid, kept) else "dataset")


def _are_right_or_wrong(laid: Laid, kept: Sequence[Label]) -> bool:
    """Say whether many columns hold right and wrong alone: each is then a question and not a dataset."""
    if len(kept) < _BINARY_ROWS or kept[0].kind != "name":
        return False
    return all(_numbers(laid.frame[one.text])[0].dropna().isin([0.0, 1.0]).all() for one in kept)


def _units_in_columns(laid: Laid, columns: NamedSide, *, of_datasets: bool) -> Records:
    """Read numbered columns as folds, seeds or repeats of the file's method, or of the methods in the rows."""
    kept = columns.kept
    if of_datasets:
        laid.frame = laid.frame.assign(**{"method of the file": _method_of_file(laid, named=False)})
        laid.roles["method of the file"] = "method"
    _say_left_out(laid, [one.text for one in columns.labels if one not in kept])
    laid.notes.append(f"The columns {kept[0].text} to {kept[-1].text} are {kept[0].unit}s.")
    laid.frame = laid.frame[[*laid.roles, *(one.text for one in kept)]]
    plain = [Label(one.text, "unit", one.name) for one in kept]
    return _melted(laid, plain, kept[0].unit)


def _without_names(laid: Laid, columns: NamedSide) -> Records:
    """Read a table whose rows have no names."""
    _refuse_runs(laid)
    if columns.kind in ("metrics", "units") or len(laid.frame) == 1:
        raise laid.error(
            f"no column names what its rows are ({', '.join(laid.frame.columns[:6])}): say"
            f" {argument('columns', {'COLUMN': 'dataset'})}, or {argument('row', 'last')} if it is a"
            " log of training"
        )
    laid.frame = laid.frame.assign(dataset=[f"row {n + 1}" for n in range(len(laid.frame))])
    laid.roles["dataset"] = "dataset"
    laid.notes.append(
        "No column names the rows, so each row is a dataset of its own, called by its number."
    )
    return _with_keys(laid, columns, laid.scored)


def _by_evidence(laid: Laid, sides: BothSides) -> Records:
    """Read a table with names on both sides, whose first heading says nothing."""
    rows, columns, label = sides.rows, sides.columns, str(sides.label)
    assert rows is not None
    if columns.kind == "metrics":
        if rows.methodness < 0 and not laid.source.is_all:
            laid.roles[label] = "dataset"
            return _one_method(laid, columns)
        return _rows_are_methods(laid, columns, label)
    if rows.kind == "units":
        laid.roles[label] = rows.kept[0].unit
        numbers = {one.text: one.name for one in rows.kept}
        kept = spell_all(laid.frame[label]).map(numbers)
        _leave_out_rows(laid, rows, kept.notna())
        laid.frame[label] = kept.dropna().to_list()
        return _with_keys(laid, columns, laid.scored)
    if columns.kind == "units":
        corner = role_of(label)[0] in ("fold", "repeat", "seed")
        if corner or (rows.methodness <= 0 and not laid.source.alone):
            laid.roles[label] = "dataset"
            return _units_in_columns(laid, columns, of_datasets=True)
        if rows.methodness > 0:
            return _rows_are_methods(laid, columns, label)
        raise laid.error(
            f"the columns {columns.kept[0].text} to {columns.kept[-1].text} are folds or seeds; are the"
            f" rows ({rows.kept[0].text}) methods or datasets? Say {argument('columns', {label: 'method'})}"
            f" or {argument('columns', {label: 'dataset'})}"
        )
    return _names_on_both_sides(laid, rows, columns, label)


def _leave_out_rows(laid: Laid, rows: NamedSide, kept: pd.Series) -> None:
    names = [one.text for one in rows.labels if one not in rows.kept]
    if names:
        laid.notes.append(
            f"Rows that are no scores by their names were left out: {', '.join(names)}."
        )
        laid.frame = laid.frame[kept.to_numpy()].reset_index(drop=True)


def _names_on_both_sides(laid: Laid, rows: NamedSide, columns: NamedSide, label: str) -> Records:
    """Decide by all names whether methods stand in the rows or in the columns, or ask."""
    evidence = rows.methodness - columns.methodness
    evidence += 0.5 * (rows.has_properties - columns.has_properties)
    if columns.kind == "crossed":
        evidence += 0.25
    if abs(evidence) < 0.2 and laid.asked.methods_in is None:
        first = f"rows ({', '.join(one.text for one in rows.kept[:3])})"
        second = f"columns ({', '.join(one.text for one in columns.kept[:3])})"
        say, other = _sides_as_options(label)
        raise laid.error(
            f"are the {first} or the {second} the methods? Say {other} if the columns are, {say} if"
            " the rows are"
        )
    in_rows = evidence > 0 if laid.asked.methods_in is None else laid.asked.methods_in == "rows"
    texts = {one.text for one in rows.kept}
    _leave_out_rows(laid, rows, spell_all(laid.frame[label]).isin(texts))
    called = {one.text: one.name or one.text for one in rows.kept}
    laid.frame[label] = spell_all(laid.frame[label]).map(called)
    metric = rows.kept[0].metric if rows.kind == "affixed" else ""
    heading = label or "the first column"
    if in_rows:
        laid.notes.append(f"Methods stand in rows, named by {heading!r}; columns are datasets.")
        found = _rows_are_methods(laid, columns, label)
    else:
        laid.notes.append(f"Methods stand in columns; rows are datasets, named by {heading!r}.")
        laid.roles[label] = "dataset"
        found = _with_keys(laid, columns, laid.scored)
    return found if not metric else _with_metric(found, metric)


def _sides_as_options(label: str) -> tuple[str, str]:
    """Return how to say that methods stand in the rows, and how that they stand in the columns."""
    if not label or label.startswith("Unnamed:"):
        return argument("methods_in", "rows"), argument("methods_in", "columns")
    return argument("columns", {label: "method"}), argument("columns", {label: "dataset"})


def _with_metric(found: Records, metric: str) -> Records:
    """Call the only metric as the names of the rows do."""
    (name,) = found.metrics
    if name not in (VALUE,):
        return found
    return Records(
        found.frame.rename(columns={name: metric}),
        found.unit,
        {metric: read_name(metric).higher_is_better},
        found.source,
        notes=found.notes,
    )


# --- records -------------------------------------------------------------------------------------


def _records(laid: Laid, frame: pd.DataFrame, metrics: Sequence[str]) -> Records:
    text = [name for name in laid.rest if not laid.holds_scores(name)]
    notes = list(laid.notes)
    if text:
        notes.append(
            f"Columns of text were left out: {', '.join(name or 'one without a name' for name in text)}."
        )
    directions: Mapping[str, bool | None] = {
        name: read_name(name).higher_is_better for name in metrics
    }
    told = tuple(dict.fromkeys(notes))
    return Records(
        frame,
        unit_of(frame.columns),
        directions,
        laid.source,
        notes=told,
        designs=dict.fromkeys(frame["dataset"].unique()) if _may_be_hold_outs(laid) else {},
        ignored=laid.ignored,
    )


def _may_be_hold_outs(laid: Laid) -> bool:
    """Say whether folds are called splits, which may be hold-outs as well; a user who says fold means it."""
    return any(
        plain_heading(name).removesuffix("s") in HOLD_OUTS and name not in laid.asked.columns
        for name in laid.of_role("fold")
    )
