"""The door: one comparison of whatever holds results, in files or in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_type_hints

import pandas as pd

from paragone.errors import RARE, InputError, argument, setting, unknown_name
from paragone.intake.collect import (
    Collected,
    frame_results,
    named_path,
    read_results,
)
from paragone.intake.files import WhatWasRead, file_facts
from paragone.intake.joining import check_conditions
from paragone.intake.objects import from_objects
from paragone.intake.reader import Asked, ResultReader, reader_of_results, result_readers
from paragone.intake.records import Records
from paragone.intake.source import Source
from paragone.intake.top_lists import compare_top_lists
from paragone.metrics import asked_name
from paragone.stats.compare import compare as compare_scores
from paragone.stats.designs import Design
from paragone.stats.pairing import one_side
from paragone.stats.pairwise import PairKind
from paragone.stats.pairwise import pairwise as compare_pairs
from paragone.stats.result import Comparison
from paragone.stats.samples import compare_samples
from paragone.stats.scores import Missing
from paragone.stats.several import compare_metrics
from paragone.stats.signed_rank import Zeros
from paragone.stats.suspicions import Differences
from paragone.ties import TOLERANCE

UNITS = ("dataset", "item", "subject", "fold")
"""What may be asked to be the unit of a comparison; any other name is that of a column or field."""
GROUP = "group"
STORES = (".sqlite", ".sqlite3", ".db")
PERMISSIONS = ("seed", "run_code", "reader")
"""Settings that are harmless where they are not needed."""
OF_READING = ("method", "dataset", "unit", "columns", "row", "trust_ids", "ignore", "methods_in")
OF_FOLDS = ("zeros", "tolerance", "test_train_ratio", "repeats")
OF_TESTS = ("reference", "test", "alpha", "higher_is_better")
OVER_DATASETS = (
    *OF_TESTS,
    *OF_FOLDS,
    "at",
    "margin",
    "threshold",
    "missing",
    "correction",
    "designs",
    "differences",
    "n_samples",
    "bayes",
    "seed",
)
OF_ITEMS = (*OF_TESTS, "weights", "margin", "threshold", "correction")
OF_SAMPLES = ("reference", "alpha", "higher_is_better", "margin", "correction")
OF_LISTS = ("reference", "test", "alpha", "metric", "at", "correction")
OF_A_PROTOCOL = (*OF_TESTS, *OF_FOLDS, "metric", "at", "margin", "missing", "correction")
OF_PAIRS = (
    *OF_FOLDS,
    "threshold",
    "reference",
    "test",
    "alpha",
    "margin",
    "n_samples",
    "seed",
    "higher_is_better",
)


@dataclass(frozen=True)
class CompareSettings:
    """What may be asked of a comparison: of the reading of its sources, and of its statistics.

    Attributes
    ----------
    metric : str, callable or Metric, optional
        Which metric, needed where there are several; ``"a,b"`` takes both as one family.
    reference : str, optional
        The method that is compared with each other one.
    higher_is_better : bool, optional
        Direction of a metric that is not known; it is never guessed.
    at : float, optional
        Point of the grid (k, p or K); else the mean over it.
    margin : float, default=0.0
        The largest difference that does not matter, in units of the metric, stated before the
        scores are looked at. Only with a margin can methods be found equivalent.
    threshold : float, optional
        Chance level of two methods: pairs on which both are no better are left out of the
        effective figures.
    test, correction : str or callable, optional
        How differences are tested and adjusted: a name, ``module:name`` or a function.
    alpha : float, default=0.05
        Level of the whole family.
    unit : str, optional
        What is paired: ``dataset``, ``item``, ``subject`` or ``fold``, or the column or field that
        names it.
    method, dataset : str, optional
        The column or field that names the method, and the dataset or task.
    columns : mapping of str to str
        What columns are, where their names do not tell: ``{"run": "seed", "time": "value"}``.
    reader : str, optional
        The format of the files, where their content does not tell it.
    truth : str or Path, optional
        What is relevant to whom: the sources are then top-K runs or lists.
    seed : int, default=0
        Seed of bootstrap and posterior.
    run_code : bool, default=False
        Whether a pickle may be read, which runs what stands in it.
    missing : {"complete", "worst", "refuse"}, optional
        What a missing or failed score counts as: its block is left out for all methods; it is a
        loss to any score; or it is refused.
    zeros : {"wilcox", "pratt", "split"}, default="wilcox"
        Treatment of zero differences.
    tolerance : float, default=1e-9
        Relative tolerance of a tie.
    test_train_ratio : float, optional
        ``n_test / n_train`` of a split, for tests on folds.
    repeats : int, optional
        How often rows were split anew, for tests on the folds of a file.
    designs : mapping of str to Design, optional
        How each dataset was split, where the scores do not tell.
    differences : {"plain", "log"}, optional
        Compare scores as they are, or by their log ratios; by default the latter where units
        differ.
    methods_in : {"rows", "columns"}, optional
        Where the methods of a wide table stand.
    ignore : tuple of str
        Methods, datasets and columns to leave out.
    weights : {"equal", "size"}, default="equal"
        How the tasks of items count: equally, or by the number of their items.
    bayes : bool, optional
        Whether Bayesian probabilities are computed.
    n_samples : int, optional
        Posterior draws.
    row : str, optional
        Which row of a log of training is its result: ``last``, or ``best:COLUMN``.
    trust_ids : bool, default=False
        Pair items by their names even where their contents differ.
    display_map : str, Path or mapping of str to str, optional
        Displayed names, for a folder of a protocol's results.

    Examples
    --------
    >>> CompareSettings(margin=0.01, reference="A").given
    ('reference', 'margin')
    """

    metric: Any = None
    reference: str | None = None
    higher_is_better: bool | None = None
    at: float | None = None
    margin: float = 0.0
    threshold: float | None = None
    test: Any = None
    correction: Any = None
    alpha: float = 0.05
    unit: str | None = None
    method: str | None = None
    dataset: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    reader: str | None = None
    truth: str | Path | None = None
    seed: int = 0
    run_code: bool = False
    missing: Missing | None = None
    zeros: Zeros = "wilcox"
    tolerance: float = TOLERANCE
    test_train_ratio: float | None = None
    repeats: int | None = None
    designs: Mapping[str, Design | None] | None = None
    differences: Differences | None = None
    methods_in: Literal["rows", "columns"] | None = None
    ignore: tuple[str, ...] = ()
    weights: Literal["equal", "size"] = "equal"
    bayes: bool | None = None
    n_samples: int | None = None
    row: str | None = None
    trust_ids: bool = False
    display_map: str | Path | Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        names = (self.ignore,) if isinstance(self.ignore, str) else tuple(self.ignore)
        object.__setattr__(self, "ignore", names)

    @property
    def given(self) -> tuple[str, ...]:
        """The names of the settings that are not as they are by themselves."""
        usual = CompareSettings()
        return tuple(
            one.name for one in fields(self) if getattr(self, one.name) != getattr(usual, one.name)
        )

    def taken(self, names: Iterable[str], what: str) -> dict[str, Any]:
        """Return what a kind of comparison takes; anything else that was given is refused."""
        for name in self.given:
            if name not in (*names, *PERMISSIONS):
                raise InputError(f"{setting(name)} is not for {what}")
        return {name: getattr(self, name) for name in names}

    @property
    def reading(self) -> Asked:
        """What readers are asked."""
        kind = self.unit in ("dataset", "item")
        own = {value: name for name, value in self.columns.items()}
        return Asked(
            method=self.method,
            dataset=self.dataset,
            unit=None if kind else self.unit,
            value=own.get("value"),
            metric=_wanted(self.metric),
            run_code=self.run_code,
            row=self.row,
            columns=self.columns,
            methods_in=self.methods_in,
            ignore=self.ignore,
        )


@dataclass(frozen=True)
class Compared:
    """What a comparison found, and what it was read from.

    Attributes
    ----------
    result : Comparison
        What was found.
    sources : callable, optional
        Says where the scores come from, for a page; None where the result tells that by itself.

    Examples
    --------
    >>> scores = pd.DataFrame({"dataset": list("abcdef"), "new": [0.9] * 6, "old": [0.8] * 6})
    >>> found = compared([scores], CompareSettings(metric="accuracy"))
    >>> type(found.result).__name__, found.sources
    ('DatasetComparison', None)
    """

    result: Any
    sources: Callable[[], WhatWasRead] | None = None


def compare(*sources: Any, **options: Any) -> Comparison:
    """Say which methods are better, where, and how sure that is.

    Parameters
    ----------
    *sources : str, Path, DataFrame, Results, mapping, Series or array
        A store; a table of scores, tidy or wide, as a file or a DataFrame; any number of files and
        folders that other programs wrote, where ``NAME=PATH`` names a method; two of
        ``STORE::METHOD`` or ``FILE::COLUMN``; top-K runs or lists, with ``truth``; what
        scikit-learn or skore returned, by method; or two Series or arrays of paired scores.
    **options
        The attributes of `paragone.intake.CompareSettings`.

    Returns
    -------
    Comparison
        The verdict in words, the tables, the choices, the charts; of several metrics one by one.

    Examples
    --------
    >>> scores = pd.DataFrame({
    ...     "dataset": list("abcdefgh"),
    ...     "new": [0.91, 0.83, 0.77, 0.95, 0.68, 0.88, 0.79, 0.93],
    ...     "old": [0.88, 0.80, 0.75, 0.90, 0.66, 0.84, 0.78, 0.87],
    ... })
    >>> pair = compare(scores, metric="accuracy", reference="new").pairs[0]
    >>> pair.word, round(pair.mean_difference, 4)
    ('better', 0.0325)
    """
    result: Comparison = compared(sources, settings_of(options)).result
    return result


def pairwise(a: Any, b: Any, **options: Any) -> Comparison:
    """Say whether two methods differ on the pairs that both were measured on.

    Parameters
    ----------
    a, b : str, Path, Series, mapping or array
        Two sources of `compare`, each of one method.
    **options
        Those of `compare`.

    Returns
    -------
    Comparison
        What `compare` says of the same scores.

    Examples
    --------
    >>> old = pd.Series([0.31, 0.20, 0.45, 0.38, 0.26, 0.52, 0.41], index=list("stuvwxy"), name="old")
    >>> new = pd.Series([0.36, 0.24, 0.47, 0.47, 0.21, 0.60, 0.44], index=list("stuvwxy"), name="new")
    >>> print(pairwise(old, new, metric="accuracy").finding)
    On this data, new against old is undecided: 0.399 against 0.361.
    """
    result: Comparison = compared((a, b), settings_of(options), two=True).result
    return result


def settings_of(options: Mapping[str, Any]) -> CompareSettings:
    """Return settings of keyword options; an unknown one is refused with the nearest that exists."""
    known = [one.name for one in fields(CompareSettings)]
    for name in options:
        if name not in known:
            raise unknown_name("option", name, known)
    return CompareSettings(**options)


def settings_of_texts(texts: Iterable[str], *kinds: type[Any]) -> dict[str, Any]:
    """Return settings that are written as texts, as ``--set`` takes them: of a comparison, and of other dataclasses.

    Examples
    --------
    >>> settings_of_texts(["tolerance=1e-6", "ignore=a", "ignore=b", "bayes=no", "zeros=pratt"])
    {'tolerance': 1e-06, 'ignore': ('a', 'b'), 'bayes': False, 'zeros': 'pratt'}
    """
    hints = get_type_hints(CompareSettings)
    known = {name: hints[name] for name in RARE}
    for kind in kinds:
        known |= get_type_hints(kind)
    found: dict[str, Any] = {}
    for text in texts:
        name, _, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if name not in known:
            raise unknown_name("setting", name, known)
        if name == "ignore":
            found[name] = (*found.get(name, ()), value)
        else:
            found[name] = _value_of(name, value.strip(), known[name])
    return found


YES = {"yes": True, "true": True, "": True, "no": False, "false": False}


def _value_of(name: str, text: str, hint: Any) -> Any:
    """Return the value that a text stands for, by the type of its setting."""
    kinds = [one for one in get_args(hint) or (hint,) if one is not NoneType]
    choices = [one for one in get_args(hint) if isinstance(one, str)]
    for kind in kinds:
        choices += [one for one in get_args(kind) if isinstance(one, str)]
    if choices:
        if text not in choices:
            raise unknown_name(f"choice of {setting(name)}", text, choices)
        return text
    if bool in kinds:
        if text.lower() not in YES:
            raise InputError(f"{setting(name)} is yes or no, not {text!r}")
        return YES[text.lower()]
    number = next((kind for kind in (int, float) if kind in kinds), None)
    if number is not None:
        try:
            return number(text)
        except ValueError as error:
            raise InputError(f"{setting(name)} is a number, not {text!r}") from error
    return text


def compared(sources: Sequence[Any], settings: CompareSettings, *, two: bool = False) -> Compared:
    """Compare whatever sources hold, by the comparison that fits them.

    Parameters
    ----------
    sources : sequence
        As `compare` takes them.
    settings : CompareSettings
        What was asked.
    two : bool, default=False
        Whether the sources are two sides, each of one method.

    Returns
    -------
    Compared
        What was found, and what it was read from.

    Examples
    --------
    >>> scores = pd.DataFrame({"dataset": list("abcdef"), "new": [0.9] * 6, "old": [0.8] * 6})
    >>> compared([scores], CompareSettings(metric="accuracy")).result.pairs[0].word
    'better'
    """
    if not sources:
        raise InputError("there is nothing to compare: name a table, a store or a folder")
    if all(isinstance(one, str | Path) for one in sources):
        return _of_files([str(one) for one in sources], settings, two=two)
    if len(sources) == 1 and not two:
        return Compared(_of_object(sources[0], settings))
    if len(sources) == 2 and not any(isinstance(one, str | Path) for one in sources):
        return Compared(_of_sides([_side_of_object(one, settings) for one in sources], settings))
    raise InputError(
        "give files, or one object, or two of paired scores: not several kinds at once"
    )


def _of_files(sources: Sequence[str], settings: CompareSettings, *, two: bool) -> Compared:
    read = partial(what_was_read, *sources)
    if settings.truth is not None:
        what = "top-K lists, which are compared user by user"
        options = settings.taken((*OF_LISTS, "truth"), what)
        truth = options.pop("truth")
        return Compared(compare_top_lists(sources, truth, **options), partial(read, str(truth)))
    named = any(split_name(one)[1] for one in sources)
    if two or named or (settings.threshold is not None and len(sources) == 2):
        if len(sources) != 2:
            raise InputError("::NAME names one of two sides: give two, or leave it out")
        found = None if named else _two_methods(sources, settings)
        if found is not None and found.unit == "item":
            return Compared(_of_collected(found, settings), found.facts)
        sides = (
            [_side_of_file(one, settings) for one in sources]
            if found is None
            else [
                _side_of(found, name, sources[n], settings) for n, name in enumerate(found.methods)
            ]
        )
        return Compared(_of_sides(sides, settings), read)
    if len(sources) == 1 and (stored := _stored(Path(sources[0]).expanduser(), settings, read)):
        return stored
    found = read_results(*sources, reader=settings.reader, asked=settings.reading)
    return Compared(_of_collected(found, settings), found.facts)


def _two_methods(sources: Sequence[str], settings: CompareSettings) -> Collected | None:
    """Return two sources of one method each, read together; None where one is a store."""
    readers = [_own_reader(named_path(one)[1]) for one in sources]
    if any(one is not None and (one.opens or one.compares) for one in readers):
        return None
    found = read_results(*sources, reader=settings.reader, asked=settings.reading)
    if len(found.methods) != 2:
        raise InputError(
            f"two methods are compared, and {' and '.join(sources)} hold {len(found.methods)}"
            f" ({', '.join(found.methods[:6])}): choose with ::NAME, as in {sources[0]}::{found.methods[0]}"
        )
    return found


def _stored(
    path: Path, settings: CompareSettings, read: Callable[[], WhatWasRead]
) -> Compared | None:
    """Compare what a store of own runs or a protocol's folder holds; None for anything else."""
    asked = settings.reading
    said = any((asked.method, asked.dataset, asked.unit, asked.value))
    if settings.reader or said or not path.exists():
        return None
    reader = _own_reader(path)
    if reader is not None and reader.compares is not None:
        options = settings.taken((*OF_A_PROTOCOL, "display_map"), reader.title)
        asked_for = {name: value for name, value in options.items() if value is not None}
        return Compared(reader.compares(path, **asked_for))
    if reader is not None and reader.opens is not None:
        with closing(reader.opens(path)) as opened:
            return None if opened.holds_given() else Compared(_of_object(opened, settings), read)
    return None


def _own_reader(path: Path) -> ResultReader | None:
    """Return the reader of a path: that which recognises it, or that of stores by the ending of its name."""
    found = reader_of_results(Source(path, path)) if path.exists() else None
    if found is None and path.suffix.lower() in STORES:
        return result_readers.get("paragone")
    return found


def _of_collected(found: Collected, settings: CompareSettings) -> Any:
    """Compare what readers gave, by items or over datasets; where nothing can be paired, the values are told."""
    metric = _wanted(settings.metric)
    several = _several(settings.metric)
    why = found.why_untested()
    if why:
        settings.taken(
            (*OVER_DATASETS, *OF_ITEMS, *OF_READING, "metric", "threshold"), "values without pairs"
        )
        return found.told(why, several or ([metric] if metric else None), settings.higher_is_better)
    if found.unit == "item" and settings.unit != "dataset":
        options = settings.taken((*OF_ITEMS, *OF_READING, "metric"), ITEMS)
        return found.compare(
            metric, trust_ids=settings.trust_ids, **{name: options[name] for name in OF_ITEMS}
        )
    if settings.unit == "item":
        raise InputError("no column of the table names its items, such as question, user or item")
    options = _over_datasets(settings)
    if several and metric not in found.metrics:
        return compare_metrics(found, several, **options)
    chosen = found.choose_metric(metric)
    options["missing"] = settings.missing
    return found.compare(chosen, per_dataset=True, trust_ids=settings.trust_ids, **options)


ITEMS = "rows that are items, which unit dataset reads as datasets"


def _of_object(source: Any, settings: CompareSettings) -> Any:
    """Compare what is in memory: a frame, the results of a store, or what another library returned."""
    if isinstance(source, Collected):
        return _of_collected(source, settings)
    if isinstance(source, Mapping) or hasattr(source, "cv_results_") or hasattr(source, "reports_"):
        return _of_collected(from_objects(source), settings)
    if isinstance(source, pd.DataFrame):
        return _of_collected(frame_results(source, settings.reading), settings)
    if hasattr(source, "declared_comparison"):
        if _by_samples(source, settings):
            return _of_samples(source, settings)
        settings = _as_declared(source, settings)
    options = _over_datasets(settings)
    several = _several(settings.metric)
    if several:
        return compare_metrics(source, several, **options)
    return compare_scores(source, metric=settings.metric, **options)


def _over_datasets(settings: CompareSettings) -> dict[str, Any]:
    """Return the options of a comparison over datasets."""
    settings.taken((*OVER_DATASETS, *OF_READING, "metric"), "a comparison over datasets")
    options = {name: getattr(settings, name) for name in OVER_DATASETS}
    options["missing"] = settings.missing or "complete"
    if settings.n_samples is None:
        del options["n_samples"]
    return options


def _wanted(metric: Any) -> str | None:
    """Return the name of a metric; a text is left to whoever knows the names that are there."""
    plain = isinstance(metric, str) and ":" not in metric
    return str(metric) if plain else asked_name(metric)


def _several(metric: Any) -> list[str]:
    """Return the names of several metrics; none where one is asked for, or none."""
    text = metric if isinstance(metric, str) and "," in metric else ""
    return [name.strip() for name in text.split(",")] if text else []


def _by_samples(results: Any, settings: CompareSettings) -> bool:
    """Say whether a store is compared on its test samples: where it is asked for, or for want of datasets."""
    if settings.unit is not None:
        return settings.unit == "item"
    beside = set(settings.given) - {*OF_SAMPLES, *PERMISSIONS, "metric", "at"}
    return not beside and bool(results.compares_samples())


def _of_samples(results: Any, settings: CompareSettings) -> Comparison:
    options = settings.taken((*OF_SAMPLES, "metric", "at", "unit"), "a comparison on test samples")
    at = None if settings.at is None else int(settings.at)
    samples = results.reader(having="sample_scores").sample_scores(_wanted(settings.metric), at)
    result = compare_samples(samples, **{name: options[name] for name in OF_SAMPLES})
    told = (*results.warned(), *results.seed_notes())
    return replace(result, warnings=(*told, *result.warnings))


def _as_declared(results: Any, settings: CompareSettings) -> CompareSettings:
    """Return what was asked, and what the only experiment declares beside; its code is not imported unasked."""
    if len(results.experiments()) != 1:
        return settings
    declared = results.declared_comparison()
    unasked = {
        name: getattr(declared, name)
        for name in ("test", "correction", "margin")
        if not getattr(settings, name) and getattr(declared, name)
    }
    for name in declared.code_to_import():
        for option in unasked:
            if unasked[option] == name:
                raise InputError(
                    f"the experiment declares {name}, which is code: {argument(option, name)}"
                    " imports it"
                )
    return replace(settings, **unasked)


@dataclass(frozen=True)
class OneSide:
    """The scores of one of two methods, and what is known of them.

    Attributes
    ----------
    scores : Series, mapping or array
        Scores by every key that there is.
    name, metric : str, optional
        What the method is called, and what was measured.
    place : str
        What tells it from another of the same name.
    warned : tuple of str
        What a verdict must not leave out.
    design : Design, optional
        How a store split its only dataset.
    higher_is_better : bool, optional
        The direction, where what was read says it and the metric's name alone does not.
    parts : tuple of Records
        What a folder of runs holds.
    """

    scores: Any
    name: str | None = None
    metric: Any = None
    place: str = ""
    warned: tuple[str, ...] = ()
    design: Design | None = None
    higher_is_better: bool | None = None
    parts: tuple[Records, ...] = ()


def _of_sides(sides: Sequence[OneSide], settings: CompareSettings) -> Comparison:
    """Compare two methods on the pairs that both have."""
    a, b = sides
    options = settings.taken((*OF_PAIRS, *OF_READING, "metric", "at", "designs"), "two methods")
    if a.metric != b.metric:
        raise InputError(
            f"{a.place} holds {a.metric or 'an unnamed metric'} and {b.place} "
            f"{b.metric or 'an unnamed metric'}"
        )
    names = [a.name, b.name]
    if a.name is not None and a.name == b.name:
        names = [f"{Path(one.place).resolve().parent.name}/{one.name}" for one in sides]
    designs = list((settings.designs or {}).values()) or [
        a.design if a.design == b.design else None
    ]
    own = {name: options[name] for name in OF_PAIRS}
    if settings.higher_is_better is None:
        own["higher_is_better"] = a.higher_is_better
    if settings.n_samples is None:
        del own["n_samples"]
    result = compare_pairs(
        a.scores,
        b.scores,
        metric=a.metric,
        name_a=names[0],
        name_b=names[1],
        pairs=PAIRS.get(settings.unit or ""),
        design=designs[0],
        **own,
    )
    notes = (*a.warned, *b.warned, *check_conditions([*a.parts, *b.parts]))
    return replace(result, warnings=(*dict.fromkeys(notes), *result.warnings))


PAIRS: Mapping[str, PairKind] = {"subject": "subjects", "fold": "folds"}


def _side_of_object(source: Any, settings: CompareSettings) -> OneSide:
    """Return scores that are in memory: paired already, or of one method of a frame."""
    if not isinstance(source, pd.DataFrame):
        return OneSide(source, metric=_wanted(settings.metric))
    return _side_of(frame_results(source, settings.reading), None, "the table", settings)


def _key(settings: CompareSettings) -> str | None:
    return None if settings.unit in UNITS else settings.unit


def _side_of_file(source: str, settings: CompareSettings) -> OneSide:
    """Read one of two sides: of a folder of runs, a store or a table; ``::NAME`` picks one of several methods."""
    given, method = split_name(source)
    name, path = named_path(given)
    reader = _own_reader(path)
    if path.is_dir() and reader is not None and reader.name == "runs":
        return _side_of_runs(path, name, method, settings)
    if settings.row is not None:
        raise InputError(f"{setting('row')} is for folders of runs")
    if reader is None or reader.opens is None:
        found = read_results(given, asked=settings.reading)
        return _side_of(found, method, str(path), settings)
    metric, key = _wanted(settings.metric), _key(settings)
    side = OneSide(None, name or method or path.stem, place=str(path))
    with closing(reader.opens(path)) as results:
        told = (*results.warned(method=method), *results.seed_notes(method=method))
        side = replace(side, warned=told)
        if key == GROUP:
            scores, metric = results.reader(having="scores_by_group").scores_by_group(
                method, metric
            )
            return replace(side, scores=scores, metric=metric)
        every = [one for name in results.experiments() for one in results.designs(name).values()]
        scores, metric = one_side(results.scores(), method, metric=metric, at=settings.at)
    return replace(side, scores=scores, metric=metric, design=every[0] if len(every) == 1 else None)


def _side_of_runs(
    path: Path, name: str | None, method: str | None, settings: CompareSettings
) -> OneSide:
    found = read_results(path, reader="runs", asked=settings.reading)
    side = _side_of(found, method, str(path), settings)
    return replace(side, name=name or side.name)


def _side_of(
    found: Collected, method: str | None, place: str, settings: CompareSettings
) -> OneSide:
    """Return the scores of one method of what was read; ``::NAME`` picks a method, or else a metric."""
    metric = _wanted(settings.metric)
    known = found.methods
    if method is not None and method not in known and len(known) == 1 and method in found.metrics:
        method, metric = None, method
    if method is None and len(known) > 1:
        raise InputError(f"{place} holds {len(known)} methods: choose one with ::NAME ({known[0]})")
    if method is not None and method not in known:
        raise unknown_name("method", method, known)
    chosen = found.choose_metric(metric)
    own = method or known[0]
    return OneSide(
        found.side(chosen, own),
        own,
        chosen,
        # The folder itself tells two methods of one name apart.
        str(Path(place) / own),
        warned=found.notes,
        higher_is_better=found.metrics[chosen],
        parts=found.parts,
    )


def split_name(source: str) -> tuple[str, str | None]:
    """Split ``file.csv::NAME`` into the path and the name of a method or column.

    Examples
    --------
    >>> split_name("lab.sqlite::DAGFS"), split_name("a.csv")
    (('lab.sqlite', 'DAGFS'), ('a.csv', None))
    """
    path, _, name = source.rpartition("::")
    return (path, name) if path else (source, None)


def what_was_read(*sources: str) -> WhatWasRead:
    """Return the files behind what the user named, each with its size and hash."""
    paths = [named_path(split_name(source)[0])[1] for source in sources]
    return WhatWasRead(file_facts(Source(path) for path in paths if path.exists()))
