"""How a table of scores is laid out: which columns are keys, which hold scores, and whether methods stand in rows.

A table is not trusted to be what it looks like. Numbers that are no scores of a method, such as
``n_rows``, are left out and named; a layout that can be read in two ways is asked about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pandas as pd

from paragone.data.number_texts import is_numeric, read_numbers
from paragone.errors import InputError, argument, unknown_name
from paragone.metrics import named_metric, same_metric

MethodsIn = Literal["rows", "columns"]

UNITS = ("dataset", "repeat", "fold", "seed", "subject")
"""Keys that say which score belongs to which."""
KEY_NAMES = ("experiment", "protocol", *UNITS, "metric", "at")
ROLES = (*KEY_NAMES, "method", "value")
ITEMS = (
    "item",
    "question",
    "example",
    "instance",
    "image",
    "sentence",
    "prompt",
    "utterance",
    "case",
    "sample",
    "user",
)
"""Columns that name items, each a unit of its own; the more telling first."""

_ALSO = {
    "method": ("model", "algorithm", "classifier", "regressor", "learner", "estimator", "approach"),
    "value": ("score", "result"),
    "dataset": ("data set", "data_set", "dataset_name"),
    "subject": ("participant", "patient", "person"),
    "seed": ("random_state", "random seed", "random_seed"),
    "repeat": ("rep", "repetition", "repeats"),
    "fold": ("cv_fold", "folds", "split"),
}
ROLE_OF = {name: role for role, names in _ALSO.items() for name in names}
AMBIGUOUS = ("run", "runs", "trial", "replicate", "iteration")
_PARTS = {"train", "training", "test", "testing", "val", "valid", "validation", "dev"}

_COUNTED = "rows?|samples?|instances?|examples?|features?|attributes?|columns|classes|labels?|targets|items|users"
_NO_METHOD = re.compile(
    r"^((n|no|num|number|#)[ _.]?(of)?["
    rf" _]?({_COUNTED}|train|test|params?|parameters)|{_COUNTED}|(train|test)[ _]?size"
    r"|((fit|train|training|test|score|predict|prediction|cpu|gpu|wall|run|total|elapsed|mean)["
    r" _]?)?"
    r"(time|seconds|runtime|duration|memory|ram)(["
    r" _(\[].*)?|year|date|index|id|rank|weight|unnamed: \d+|)$",
    re.IGNORECASE,
)
_METHOD_WORDS = re.compile(
    r"(?<![a-z])(svm|svc|svr|[kt]?nn|knn|cnn|rnn|lstm|mlp|gbm|gbdt|rf|lda|qda|pls|lasso|ridge|elastic"
    r" ?net|forests?|"
    r"tree|trees|boost\w*|\w*boost|bagging|bayes|logistic|linear|regression|network|net|transformer|bert|gpt\S*|"
    r"baseline|ours|proposed|random|dummy|chance)(?![a-z])",
    re.IGNORECASE,
)


@dataclass
class LaidOut:
    """Scores in long form, and what was noticed on the way there."""

    frame: pd.DataFrame
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    split_named: bool = False
    """Whether what stands for folds is called splits, which may be hold-outs as well."""


def long_form(
    frame: pd.DataFrame,
    metric: str | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    methods_in: MethodsIn | None = None,
    ignore: Iterable[str] = (),
) -> LaidOut:
    """Return a table with one row per score and the columns ``method``, ``value`` and its keys.

    Parameters
    ----------
    frame : DataFrame
        Long (a column of methods, and one of scores or one per metric) or wide (a column or a row
        per method).
    metric : str, optional
        The metric that is wanted.
    columns : mapping of str to str, optional
        What columns are, by their names, where those do not tell: one of `ROLES`.
    methods_in : {"rows", "columns"}, optional
        Where the methods of a wide table stand.
    ignore : iterable of str
        Columns, methods and datasets to leave out.

    Examples
    --------
    >>> wide = pd.DataFrame({"dataset": ["iris"], "n_rows": [150], "A": [0.9], "B": [0.8]})
    >>> found = long_form(wide)
    >>> found.frame["method"].tolist(), found.warnings[0].split(":")[0]
    (['A', 'B'], 'The column n_rows holds no scores of a method by its name and was left out')
    """
    if methods_in not in (None, "rows", "columns"):
        raise unknown_name("place of the methods", str(methods_in), ("rows", "columns"))
    left_out = [ignore] if isinstance(ignore, str) else list(ignore)
    found = LaidOut(frame.drop(columns=[name for name in left_out if name in frame.columns]))
    kept_as_scores = give_roles(found, columns or {})
    _refuse_ambiguous(found.frame)
    names = set(found.frame.columns)
    if "value" not in names:
        _refuse_scores_as_names(found.frame)
    if "method" in names and "value" in names:
        pass
    elif "method" in names and names & {*UNITS} and methods_in is None:
        _metrics_in_columns(found, metric, kept_as_scores)
    elif methods_in == "rows" or ("method" in names and methods_in is None):
        _methods_in_rows(found, kept_as_scores)
    else:
        _methods_in_columns(found, methods_in, kept_as_scores)
    _leave_out(found, frame, left_out)
    return found


def _refuse_scores_as_names(frame: pd.DataFrame) -> None:
    """Refuse a column called method that holds scores: whole numbers may be names, broken ones are none."""
    if "method" not in frame.columns or not is_numeric(frame["method"]):
        return
    values = pd.to_numeric(frame["method"], errors="coerce").dropna()
    broken = values[values % 1 != 0]
    if len(broken):
        raise InputError(
            f"the column 'method' holds numbers such as {broken.iloc[0]:g}, which are no names of"
            " methods: call the column otherwise if it holds the scores of a method"
        )


def give_roles(found: LaidOut, given: Mapping[str, str]) -> set[str]:
    """Name columns by what they are; return those that are said to hold the scores of a method.

    Parameters
    ----------
    found : LaidOut
        Its frame is renamed, its notes say how.
    given : mapping of str to str
        What the user says of columns, one of `ROLES` each.
    """
    frame = found.frame
    names = [str(name) for name in frame.columns]
    renamed: dict[str, str] = {}
    for name, role in given.items():
        if name not in names:
            raise unknown_name("column", name, names)
        if role not in ROLES:
            raise unknown_name(f"role of the column {name!r}", role, ROLES)
        renamed[name] = role
    scores = {name for name, role in renamed.items() if role == "value"}
    if scores and ("method" not in {*names, *renamed.values()} or len(scores) > 1):
        # A wide table: the column is a method, whatever its name looks like.
        renamed = {name: role for name, role in renamed.items() if role != "value"}
    taken = {*renamed.values(), *(name for name in names if name in ROLES)}
    for name in names:
        plain = name.strip().lower()
        if plain in ROLES and plain not in taken and name not in given:
            renamed[name] = plain
            taken.add(plain)
    for name in names:
        role = ROLE_OF.get(name.strip().lower(), "")
        if not role or role in taken or name in renamed:
            continue
        if role == "method" and is_numeric(frame[name]):
            continue
        if role == "value" and "method" not in taken and not _names_methods(frame, names):
            continue
        others = [
            one
            for one in names
            if ROLE_OF.get(one.strip().lower()) == role and one not in renamed and one != name
        ]
        if role == "method" and any(not is_numeric(frame[one]) for one in others):
            raise InputError(
                f"both {name!r} and {others[0]!r} may name the methods: say"
                f" {_column(name, 'method')}"
            )
        renamed[name] = role
        taken.add(role)
        if name.strip().lower() == "split":
            found.split_named = True
        if role in ("method", "value"):
            found.notes.append(
                f"The column {name!r} holds the {'methods' if role == 'method' else 'scores'}."
            )
    found.frame = frame.rename(columns=renamed)
    return scores


def _names_methods(frame: pd.DataFrame, names: Sequence[str]) -> bool:
    return any(
        ROLE_OF.get(one.strip().lower()) == "method" and not is_numeric(frame[one]) for one in names
    )


def scores_by_name(columns: Iterable[str], kept: set[str]) -> list[str]:
    """Return the columns that may hold the scores of a method by their names, or are said to.

    Examples
    --------
    >>> scores_by_name(["n_rows", "Forest", "time"], {"time"})
    ['Forest', 'time']
    """
    return [name for name in columns if name in kept or not _NO_METHOD.match(name.strip())]


def _column(name: str, role: str) -> str:
    """Return how a message tells to say what a column is."""
    return argument("columns", {name: role})


def _refuse_ambiguous(frame: pd.DataFrame) -> None:
    """Ask about columns that may be seeds or repeats, and refuse scores of train beside those of test."""
    for name in frame.columns:
        plain = str(name).strip().lower()
        if plain in AMBIGUOUS and frame[name].nunique() > 1:
            raise InputError(
                f"the column {name!r} may count seeds on one split or new splits of the rows, which"
                f" are tested differently: say {_column(name, 'seed')} or {_column(name, 'repeat')}"
            )
        parts = (
            {str(value).strip().lower() for value in frame[name].unique()}
            if plain == "fold"
            else set()
        )
        if parts and parts <= _PARTS and len(parts) > 1:
            raise InputError(
                f"the splits are called {', '.join(sorted(parts))}: keep the rows of the test"
                " scores only"
            )


def melted_scores(
    frame: pd.DataFrame, keys: Sequence[str], scores: Sequence[str], names: str
) -> pd.DataFrame:
    """Return one row per score, the names of its columns under ``names``; a column may itself be called value.

    Examples
    --------
    >>> frame = pd.DataFrame({"dataset": ["x"], "value": [0.1], "B": [0.2]})
    >>> melted_scores(frame, ["dataset"], ["value", "B"], "method")
      dataset method  value
    0       x  value    0.1
    1       x      B    0.2
    """
    if not scores:
        raise InputError("the table holds no column of scores")
    hidden = "scores of the table"
    melted = frame[[*keys, *scores]].melt(
        id_vars=list(keys), value_vars=list(scores), var_name=hidden, value_name=f"{hidden}."
    )
    return melted.rename(columns={hidden: names, f"{hidden}.": "value"})


def _metrics_in_columns(found: LaidOut, metric: str | None, kept: set[str]) -> None:
    """Read a long table whose scores stand in columns called by their metric."""
    frame = found.frame
    keys = [name for name in frame.columns if name in (*KEY_NAMES, "method")]
    rest = [name for name in frame.columns if name not in keys and is_numeric(frame[name])]
    wanted = [name for name in rest if metric is not None and same_metric(name, metric)]
    scores = wanted or scores_by_name(rest, kept)
    if not scores:
        raise InputError("the table has a column of methods and none of scores: call it value")
    if len(scores) == 1 and "metric" in keys:
        found.frame = frame[[*keys, scores[0]]].rename(columns={scores[0]: "value"})
        return
    if "metric" in keys:
        raise InputError(
            f"several columns may hold the scores ({', '.join(scores)}): say"
            f" {_column(scores[0], 'value')}"
        )
    melted = melted_scores(frame, keys, scores, "metric")
    if len(scores) == 1 and metric is not None:
        melted["metric"] = metric
    elif len(scores) == 1 and named_metric(scores[0]).higher_is_better is None:
        melted = melted.drop(columns="metric")
    found.notes.append(
        f"The scores stand in the column{'s' * (len(scores) > 1)} {', '.join(scores)}."
    )
    found.frame = melted


def _methods_in_rows(found: LaidOut, kept: set[str]) -> None:
    """Read a table with one row per method and one column per dataset."""
    frame = found.frame
    key = "method"
    if key not in frame.columns:
        text = [name for name in frame.columns if not is_numeric(frame[name])]
        if not text:
            raise InputError(f"no column names the methods in the rows: add one called {key}")
        key = text[0]
    rest = [name for name in frame.columns if name != key and name not in KEY_NAMES]
    numeric = scores_by_name([name for name in rest if is_numeric(frame[name])], kept)
    if numeric and all(named_metric(name).higher_is_better is not None for name in numeric):
        raise InputError(
            f"the table has one row per method and the metrics {', '.join(numeric)}, but no"
            " datasets, folds or subjects: a column that names them is needed for pairing"
        )
    say_left_out(found, [name for name in rest if name not in numeric])
    found.notes.append(
        f"Methods stand in rows, named by the column {key.strip() or 'without a name'!r}; columns"
        " are datasets."
    )
    found.frame = melted_scores(
        frame.rename(columns={key: "method"}), ["method"], numeric, "dataset"
    )


def _methods_in_columns(found: LaidOut, methods_in: MethodsIn | None, kept: set[str]) -> None:
    """Read a table with one column per method."""
    frame = found.frame
    keys = [name for name in frame.columns if name in KEY_NAMES]
    rest = [name for name in frame.columns if name not in KEY_NAMES]
    if not {*UNITS} & set(keys):
        item = next(
            (name for name in rest if name.strip().lower().removesuffix("_id") in ITEMS), None
        )
        if item is not None:
            raise InputError(
                f"the table has one row per {item}: compare_items of paragone.stats compares on"
                f" those, and so does `paragone compare`; say {_column(item, 'dataset')} if each is"
                " a dataset"
            )
        text = [name for name in rest if not is_numeric(frame[name])]
        unnamed = [name for name in rest if name.startswith("Unnamed:") or not name.strip()]
        key = next(iter(text or unnamed), None)
        if key is None:
            frame = frame.assign(dataset=[f"row {i + 1}" for i in range(len(frame))])
            found.notes.append(
                "No column names the rows, so each row is a dataset of its own, called by its"
                " number."
            )
        else:
            rest = [name for name in rest if name != key]
            if methods_in is None:
                _ask_where_methods_stand(frame[key], rest)
            frame = frame.rename(columns={key: "dataset"})
            found.notes.append(f"Rows are keyed by the column {key.strip() or 'without a name'!r}.")
        keys.append("dataset")
    numeric = [name for name in rest if is_numeric(frame[name])]
    methods = scores_by_name(numeric, kept)
    text = [
        name for name in rest if name not in numeric and not frame[name].map(_may_be_score).any()
    ]
    if len(methods) + len(rest) - len(numeric) - len(text) >= 2:
        say_left_out(found, [name for name in numeric if name not in methods], text)
        rest = [
            name for name in rest if name in methods or (name not in numeric and name not in text)
        ]
    rest = _without_summaries(found, frame, rest, kept)
    if len(rest) < 2:
        raise InputError(
            f"a comparison needs two methods or more; the table has {len(rest)} method column(s):"
            f" {', '.join(rest)}"
        )
    found.frame = melted_scores(frame, keys, rest, "method")


def _may_be_score(value: object) -> bool:
    return isinstance(value, (int, float)) and value == value


def _ask_where_methods_stand(rows: pd.Series, columns: Sequence[str]) -> None:
    """Refuse to guess where the names of the rows look like methods and those of the columns do not."""
    named = [str(name) for name in rows.dropna()]
    like = [name for name in named if _METHOD_WORDS.search(name)]
    if (
        2 * len(like) >= len(named)
        and len(like) > 1
        and not any(_METHOD_WORDS.search(name) for name in columns)
    ):
        rows_or_columns = (
            f"say {argument('methods_in', 'rows')}, or {argument('methods_in', 'columns')} if it is"
            " not so"
        )
        raise InputError(
            f"the rows look like methods ({', '.join(like[:3])}) and the columns like datasets "
            f"({', '.join(columns[:3])}): {rows_or_columns}"
        )


def say_left_out(found: LaidOut, numeric: Sequence[str], text: Sequence[str] = ()) -> None:
    """Say which columns were left out: numbers by their names, and text."""
    for name in numeric:
        shown = name.strip() or "without a name"
        found.warnings.append(
            f"The column {shown} holds no scores of a method by its name and was left out: say "
            f"{_column(name, 'value')} if it does."
        )
    if text:
        found.notes.append(f"Columns of text were left out: {', '.join(text)}.")


def _without_summaries(
    found: LaidOut, frame: pd.DataFrame, methods: list[str], kept: set[str]
) -> list[str]:
    """Leave out columns that are called mean, best or the like and are just that of the others."""
    named = [name for name in methods if name not in kept and _SUMMARY_COLUMN.match(name.strip())]
    others = [name for name in methods if name not in named]
    if not named or len(others) < 2:
        return methods
    values = np.column_stack([read_numbers(frame[name])[0].to_numpy() for name in others])
    left = []
    with np.errstate(invalid="ignore"):
        sums = [
            values.mean(axis=1),
            np.median(values, axis=1),
            values.max(axis=1),
            values.min(axis=1),
            values.std(axis=1),
        ]
        sums += [values.sum(axis=1), values.std(axis=1, ddof=1)]
    for name in named:
        own = read_numbers(frame[name])[0].to_numpy()
        if any(np.allclose(own, one, rtol=1e-3, atol=1e-12, equal_nan=True) for one in sums):
            left.append(name)
    if left:
        found.warnings.append(f"Columns that sum up others were left out: {', '.join(left)}.")
    return [name for name in methods if name not in left]


_SUMMARY_COLUMN = re.compile(
    r"^(avg\.?|average|mean|median|best|max|min|worst|std\.?|sd|sum|total|overall)$", re.IGNORECASE
)


def _leave_out(found: LaidOut, before: pd.DataFrame, names: Sequence[str]) -> None:
    """Leave out methods and datasets by name; a name that nothing has is refused."""
    frame = found.frame
    spelt = {
        column: frame[column].astype(str).str.strip()
        for column in ("method", "dataset")
        if column in frame.columns
    }
    gone = np.zeros(len(frame), dtype=bool)
    for name in names:
        here = np.zeros(len(frame), dtype=bool)
        for column in spelt.values():
            here |= (column == name).to_numpy()
        if not here.any() and name not in before.columns:
            known = dict.fromkeys(value for column in spelt.values() for value in column)
            raise unknown_name("method, dataset or column to leave out", name, known)
        gone |= here
    found.frame = frame[~gone]
