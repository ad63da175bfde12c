"""From files and folders to one comparison: find the readers, name the methods, and say what was read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd

from paragone.errors import InputError, argument, direction_argument, unknown_name
from paragone.intake.files import WhatWasRead, file_facts
from paragone.intake.folders import SHOWN, few, files_in, read_each, said_unread, short_names
from paragone.intake.joining import (
    Joined,
    check_conditions,
    folds_not_shown,
    join_items,
    knows_folds,
    same_tasks,
)
from paragone.intake.paper_tables import STANDARD_INPUT, chosen_part
from paragone.intake.reader import Asked, ResultReader, reader_of_results, result_readers
from paragone.intake.records import KEYS, Records
from paragone.intake.source import Source
from paragone.intake.table import DATA, VALUE, table_records, with_index_as_key
from paragone.intake.words import OWN
from paragone.metrics import called_metrics, read_name
from paragone.stats.compare import compare
from paragone.stats.items import compare_items
from paragone.stats.result import Comparison
from paragone.stats.untested import untested


def read_results(
    *sources: str | Path,
    reader: str | None = None,
    asked: Asked | None = None,
    name: str | None = None,
) -> Collected:
    r"""Read results from elsewhere: files and folders of any format that a reader knows, together.

    Parameters
    ----------
    *sources : str or Path
        Files and folders; ``NAME=PATH`` calls the method behind a path NAME.
    reader : str, optional
        The reader of all of them, by its name or as ``module:name``, where their content does not
        tell it.
    asked : Asked, optional
        Which columns or fields hold what, where that is not told either.
    name : str, optional
        What the only method in a single source is called.

    Returns
    -------
    Collected
        Everything that was read, ready to be compared.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, value in (("a", 0.9), ("b", 0.8)):
    ...         text = f"subject,accuracy\n1,{value}\n2,{value / 2}\n"
    ...         _ = (Path(folder) / f"{name}.csv").write_text(text)
    ...     found = read_results(f"{folder}/a.csv", f"{folder}/b.csv")
    >>> found.methods, found.metrics, found.unit
    (['a', 'b'], {'accuracy': True}, 'subject')
    """
    chosen = None if reader is None else result_readers.get(reader)
    wanted = asked or Asked()
    parts: list[Records] = []
    unknown: list[Path] = []
    unread: list[str] = []
    for given in sources:
        source = _named(given, name, alone=len(sources) == 1)
        before = len(parts)
        given_reader = result_readers.get("table") if _is_table_alone(source) else chosen
        read, failed = read_each(
            recognised(source, given_reader, unknown), lambda one: one[1].records(one[0], wanted)
        )
        parts += _by_places([one for several in read for one in several], source)
        unread += failed
        if len(parts) == before:
            raise _nothing_known(source)
        if source.name is not None:
            parts[before:] = _called(parts[before:], source.name)
    found = collect(parts, unknown, said_unread(unread), wanted.ignore)
    if unread and len(found.methods) < 2:
        raise InputError(unread[0])
    return found


def frame_results(frame: pd.DataFrame, asked: Asked | None = None) -> Collected:
    """Read a table in memory as the same table in a file is read.

    Examples
    --------
    >>> wide = pd.DataFrame({"dataset": ["iris", "wine"], "A": [0.9, 0.8], "B": [0.7, 0.9]})
    >>> frame_results(wide).methods
    ['A', 'B']
    """
    if frame.empty:
        raise InputError("there are no scores: the table has no rows")
    wanted = asked or Asked()
    source = Source(Path("table"))
    return collect(table_records(with_index_as_key(frame), source, wanted), ignore=wanted.ignore)


def collect(
    parts: Sequence[Records],
    unknown: Sequence[Path] = (),
    said: Sequence[str] = (),
    ignore: Sequence[str] = (),
) -> Collected:
    """Put together what readers gave: with names that tell methods apart, without what is another task for each.

    Parameters
    ----------
    parts : sequence of Records
        What was read.
    unknown : sequence of Path
        Files that no reader knows.
    said : sequence of str
        What was left out on the way.
    ignore : sequence of str
        Methods and datasets to leave out; a name that nothing has is refused.
    """
    kept, others = same_tasks(_named_apart(_without(parts, ignore)))
    called, full = _with_short_names(kept)
    return Collected(tuple(called), tuple(unknown), (*said, *others, *full))


def _with_short_names(parts: Sequence[Records]) -> tuple[list[Records], list[str]]:
    """Call methods by the shortest names that tell them apart, and say long ones in full once."""
    names = list(dict.fromkeys(method for one in parts for method in one.methods))
    short = dict(zip(names, short_names(names), strict=True))
    told = [f"{called} is {name}" for name, called in short.items() if name != called]
    if not told:
        return list(parts), []
    found = [
        replace(one, frame=one.frame.assign(method=one.frame["method"].astype(str).map(short)))
        for one in parts
    ]
    return found, [f"Names in full: {'; '.join(told)}."]


def _without(parts: Sequence[Records], names: Sequence[str]) -> list[Records]:
    """Leave out methods and datasets by their names."""
    found = list(parts)
    for name in names:
        there = any(name in (*one.methods, *one.datasets, *one.ignored) for one in found)
        if not there:
            known = dict.fromkeys(n for one in found for n in (*one.methods, *one.datasets))
            raise unknown_name("method, dataset or column to leave out", name, known)
        left = []
        for one in found:
            frame = one.frame
            gone = (frame["method"].astype(str) == name) | (frame["dataset"].astype(str) == name)
            left.append(replace(one, frame=frame[~gone]) if gone.any() else one)
        found = [one for one in left if len(one.frame)]
    return found


def _is_table_alone(source: Source) -> bool:
    """Say whether a source can be nothing but a table: the standard input, or one of several in a file."""
    return str(source.path) == STANDARD_INPUT or source.part is not None


def _named(given: str | Path, name: str | None, *, alone: bool) -> Source:
    called, path = named_path(str(given))
    whole, part = chosen_part(path)
    if str(path) == STANDARD_INPUT or part is not None:
        return Source(whole, whole, called or name or None, alone, part=part)
    if not path.exists():
        raise InputError(f"there is no file or folder {path}")
    return Source(path, path, called or name or None, alone)


def named_path(given: str) -> tuple[str | None, Path]:
    """Split ``NAME=PATH`` into the name of the method and the path; a file that is called so is itself.

    Examples
    --------
    >>> named_path("A=scores.csv"), named_path("scores.csv")
    (('A', PosixPath('scores.csv')), (None, PosixPath('scores.csv')))
    """
    path = Path(given).expanduser()
    name, equals, rest = given.partition("=")
    return (name.strip(), Path(rest).expanduser()) if equals and not path.exists() else (None, path)


def recognised(
    source: Source, chosen: ResultReader | None, unknown: list[Path]
) -> Iterator[tuple[Source, ResultReader]]:
    """Go through what of a source some reader knows: the whole of it, or else what is in the folder."""
    reader = chosen or reader_of_results(source)
    if reader is not None:
        yield source, reader
        return
    if not source.is_folder:
        unknown.append(source.path)
        return
    for one in files_in(source.path):
        inside = Source(one.path, source.given, source.name, source.alone)
        yield from recognised(inside, None, unknown)


def _by_places(parts: list[Records], source: Source) -> list[Records]:
    """Let the files of items in MODEL/TASK.jsonl say by their places which method and task they are of."""
    plain = all(
        one.unit == "item" and one.datasets == [DATA] and one.methods == [one.source.called]
        for one in parts
    )
    tasks = [one.source.stem for one in parts]
    folders = [one.source.path.parent for one in parts]
    alone = source.alone and source.name is None
    n_files = len(set(tasks)) * (len(set(folders)) if alone else 1)
    if (
        not plain
        or len(set(tasks)) < 2
        or n_files != len(parts)
        or (alone and len(set(folders)) < 2)
    ):
        return parts
    return [
        replace(
            one,
            frame=one.frame.assign(
                dataset=task, method=folder.name if alone else one.source.called
            ),
        )
        for one, task, folder in zip(parts, tasks, folders, strict=True)
    ]


def _called(parts: Sequence[Records], name: str) -> list[Records]:
    """Call the only method of a source as the user does; a name for several methods is refused."""
    methods = dict.fromkeys(method for one in parts for method in one.methods)
    if len(methods) > 1:
        where = parts[0].source.given or parts[0].source.path
        raise InputError(
            f"{name}= can name one method, but {where} holds {len(methods)} ({few(methods)}): give"
            f" it without {name}="
        )
    if list(methods) == [name]:
        return list(parts)
    return [replace(one, frame=one.frame.assign(method=name)) for one in parts]


def _nothing_known(source: Source) -> InputError:
    what = "holds no results" if source.is_folder else "is not of a format"
    known = ", ".join(result_readers.names())
    return InputError(
        f"{source.where} {what} that a reader of results knows: say {argument('reader', 'FORMAT')}, one"
        f" of {known}"
    )


def _named_apart(parts: Sequence[Records]) -> list[Records]:
    """Give methods of one name that come from several sources names of their own, by what tells the sources apart."""
    found = list(parts)
    holders: dict[str, list[int]] = {}
    for place, one in enumerate(found):
        for method in one.methods:
            holders.setdefault(method, []).append(place)
    for method, places in holders.items():
        if len(places) == 1:
            continue
        units = [_units_of(found[place]) for place in places]
        if not _clash(units) or not _clash(_with_items(found[place]) for place in places):
            continue
        for place, label in zip(
            places, _labels([found[place] for place in places], units, method), strict=True
        ):
            # What only the file was called after is better called after what tells it apart.
            source = found[place].source
            folders = source.path.resolve().parts[:-1]
            told = label if source.stem == method and label in folders else f"{method} ({label})"
            names = (
                found[place]
                .frame["method"]
                .astype("category")
                .cat.rename_categories({method: told})
            )
            found[place] = replace(found[place], frame=found[place].frame.assign(method=names))
    return found


def _units_of(part: Records) -> set[tuple[str, ...]]:
    """Return what a source has results of, the items aside: datasets, with folds and repeats where there are any."""
    names = ["dataset", *(key for key in part.keys if key != "item")]
    if names == ["dataset"]:
        return {(name,) for name in part.datasets}
    return {
        tuple(map(str, row)) for row in part.frame[names].drop_duplicates().itertuples(index=False)
    }


def _with_items(part: Records) -> set[tuple[str, ...]]:
    """Return what a source has results of, item by item: two files may hold parts of one test set."""
    names = ["dataset", *part.keys]
    rows = part.frame[names].drop_duplicates()
    return set(zip(*(rows[name].astype(str) for name in names), strict=True))


def _clash(units: Iterable[set[tuple[str, ...]]]) -> bool:
    """Whether several sources of one method have the same unit."""
    seen: set[tuple[str, ...]] = set()
    for mine in units:
        if seen & mine:
            return True
        seen |= mine
    return False


def _labels(
    parts: Sequence[Records], units: Sequence[set[tuple[str, ...]]], method: str
) -> list[str]:
    """Return what tells sources with a method of one name apart: a setting, or a part of their paths.

    Several sources may belong to one method, as the files of its tasks do: what tells apart is the
    first setting or part by which none of the methods that it makes has a unit twice.
    """
    paths = [(*one.source.path.resolve().parts[:-1], one.source.stem) for one in parts]
    names = dict.fromkeys(key for one in parts for key in one.settings)
    settings = [[f"{name} {one.settings.get(name, 'none')}" for one in parts] for name in names]
    differing = [labels for labels in settings if len(set(labels)) > 1]
    ways = [
        *settings,
        [", ".join(together) for together in zip(*differing, strict=True)] or [""] * len(parts),
    ]
    ways += [[path[-depth] for path in paths] for depth in range(1, min(map(len, paths)) + 1)]
    good = [
        labels
        for labels in (*ways, ["/".join(path) for path in paths])
        if _tells_apart(labels, units)
    ]
    if good:
        # The names of files may tell every file from every other, where folders tell the methods
        # apart.
        return min(good, key=lambda labels: len(set(labels)))
    twice = next(path[-1] for path in paths if paths.count(path) > 1)
    raise InputError(f"{twice} was given twice, or holds two results of {method!r} for one unit")


def _tells_apart(labels: Sequence[str], units: Sequence[set[tuple[str, ...]]]) -> bool:
    return not any(
        _clash(mine for label, mine in zip(labels, units, strict=True) if label == one)
        for one in set(labels)
    )


@dataclass(frozen=True)
class Collected:
    """Results from elsewhere, read and named, with what was left out.

    Attributes
    ----------
    parts : tuple of Records
        What the readers gave, source by source.
    unknown : tuple of Path
        Files in the folders that no reader knows.
    said : tuple of str
        What was left out of all that was read together.

    Examples
    --------
    >>> Collected(parts=()).methods
    []
    """

    parts: tuple[Records, ...]
    unknown: tuple[Path, ...] = ()
    said: tuple[str, ...] = ()

    @property
    def methods(self) -> list[str]:
        """The methods, in the order in which they come."""
        return list(dict.fromkeys(name for one in self.parts for name in one.methods))

    @property
    def datasets(self) -> list[str]:
        """The datasets or tasks, in the order in which they come."""
        return list(dict.fromkeys(name for one in self.parts for name in one.datasets))

    @property
    def unit(self) -> str:
        """What a row is; sources that differ in it cannot be compared."""
        units = {one.unit: one.source.where for one in self.parts}
        if set(units) == {"fold", "dataset"} and any(knows_folds(one) for one in self.parts):
            # Own runs beside one value per dataset: means are paired.
            return "fold"
        if len(units) > 1:
            (first, here), (second, there), *_ = units.items()
            raise InputError(
                f"{here} has one row per {first} and {there} one per {second}: compare like with"
                " like"
            )
        return next(iter(units))

    @cached_property
    def metrics(self) -> dict[str, bool | None]:
        """The metrics that every method has, and whether higher is better; None where nobody says it."""
        found: dict[str, bool | None] = {}
        having: dict[str, set[str]] = {}
        for one in self.parts:
            for name, higher in one.metrics.items():
                known = read_name(name).higher_is_better if higher is None else higher
                if name in found and known is not None and found[name] not in (None, known):
                    raise InputError(
                        f"{one.source.where}: {name} is better the other way round than elsewhere"
                    )
                found[name] = known if found.get(name) is None else found[name]
                having.setdefault(name, set()).update(one.methods)
        everybody = set(self.methods)
        return {name: higher for name, higher in found.items() if having[name] == everybody}

    def choose_metric(self, metric: str | None) -> str:
        """Return the metric that is asked for, by its name or the part of it before a comma, or the only one."""
        known = list(self.metrics)
        refused = {name: why for one in self.parts for name, why in one.refused.items()}
        if metric is None and len(known) == 1:
            return known[0]
        if metric is None:
            if refused and not any(one.metrics for one in self.parts):
                name, why = next(iter(refused.items()))
                raise InputError(f"{name} cannot be compared: {why}")
            if not known:
                own = "; ".join(
                    f"{', '.join(one.methods)}: {', '.join(one.metrics)}"
                    for one in self.parts[:SHOWN]
                )
                raise InputError(f"no metric is there for every method ({own})")
            raise InputError(
                f"the results hold {len(known)} metrics; choose one of {', '.join(known)} with "
                f"{argument('metric', 'NAME')}"
            )
        fits = called_metrics(metric, known)
        if len(fits) == 1:
            return fits[0]
        if fits:
            raise InputError(
                f"{metric!r} is there in several ways: choose one of {', '.join(fits)}"
            )
        if metric in refused:
            raise InputError(f"{metric} cannot be compared: {refused[metric]}")
        raise unknown_name("metric", metric, known)

    def table(self) -> pd.DataFrame:
        """Return what was read: a row per reader and method."""
        rows = []
        for (reader, method), group in groupby(
            sorted(
                ((one.reader, method, one) for one in self.parts for method in one.methods),
                key=lambda each: each[:2],
            ),
            key=lambda each: each[:2],
        ):
            mine = [one for _, _, one in group]
            frames = [one.frame[(one.frame["method"] == method).to_numpy()] for one in mine]
            tasks = dict.fromkeys(
                str(name) for frame in frames for name in pd.unique(frame["dataset"])
            )
            metrics = dict.fromkeys(name for one in mine for name in one.metrics)
            rows.append(
                {
                    "format": reader,
                    "method": method,
                    "datasets": few(tasks),
                    "unit": mine[0].unit,
                    "rows": sum(map(len, frames)),
                    "metrics": few({name: self._directed(name) for name in metrics}.values()),
                }
            )
        order = {name: place for place, name in enumerate(self.methods)}
        return pd.DataFrame(sorted(rows, key=lambda row: order[str(row["method"])]))

    def _directed(self, name: str) -> str:
        higher = self.metrics.get(name)
        return name if higher is None else f"{name} ({'higher' if higher else 'lower'} is better)"

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out and what must be known, with the number of each."""
        dropped: dict[str, int] = {}
        for one in self.parts:
            for why, count in one.dropped.items():
                dropped[why] = dropped.get(why, 0) + count
        lines = [*self.said]
        lines += [f"Left out: {count} {why}." for why, count in dropped.items() if count]
        refused: dict[tuple[str, str], dict[str, None]] = {}
        for one in self.parts:
            for name, why in one.refused.items():
                refused.setdefault((name, why), {}).update(dict.fromkeys(one.datasets))
        there = {name for one in self.parts for name in one.metrics}
        for (name, why), datasets in refused.items():
            where = f" on {few(datasets)}" if name in there else ""
            lines.append(f"{name} is not compared{where}: {why}.")
        if self.unknown:
            lines.append(
                f"{len(self.unknown)} files are of no known format:"
                f" {few(p.name for p in self.unknown)}."
            )
        return tuple(dict.fromkeys([*(note for one in self.parts for note in one.notes), *lines]))

    def files(self) -> pd.DataFrame:
        """Return every file behind the results with its size and SHA-256, those that a store was filled from too."""
        found = file_facts(one.source for one in self.parts)
        kept = dict.fromkeys(
            (one.source.path.name, *row) for one in self.parts for row in one.kept_files
        )
        rows = [(f"{name} (kept in {store})", size, sha) for store, name, size, sha in kept]
        return (
            pd.concat([found, pd.DataFrame(rows, columns=found.columns)], ignore_index=True)
            if rows
            else found
        )

    def facts(self) -> WhatWasRead:
        """Return what a page says of the sources."""
        return WhatWasRead(self.files(), self.table(), self.notes)

    def why_untested(self) -> str:
        """Say why nothing of all that was read can be tested; nothing where something can.

        One value of each method on one dataset has nothing to be paired with, of whatever many
        metrics: these are not repetitions of each other.
        """
        if len(self.methods) < 2 or any(one.keys for one in self.parts):
            return ""
        if len(self.datasets) > 1:
            return ""
        named = "names no datasets" if self.datasets == [DATA] else f"has {self.datasets[0]} alone"
        return (
            "Nothing can be tested: each method has one value. What was read"
            f" {named}, no folds, seeds or items, and metrics of one prediction are not repetitions"
            " of each other. Give predictions (one row per item) or the scores of folds."
        )

    def whose_gaps(self, metric: str) -> str:
        """Say which method lacks most datasets, where none has the scores of all; else nothing."""
        frame = self.scores(metric).dropna(subset=["value"])
        there = pd.crosstab(frame["dataset"], frame["method"]) > 0
        if len(there) < 2 or there.shape[1] < 2 or there.all(axis=1).any():
            return ""
        left = there
        gone: list[str] = []
        while left.shape[1] > 2 and not left.all(axis=1).any():
            # The method whose absence leaves the most datasets complete goes first.
            whole = {name: left.drop(columns=name).all(axis=1).sum() for name in left.columns}
            most = max(whole.values())
            lacking = {name: int((~left[name]).sum()) for name in left if whole[name] == most}
            gone.append(max(lacking, key=lambda name: lacking[name]))
            left = left.drop(columns=gone[-1])
        gaps = ", ".join(
            f"{name} lacks {int((~there[name]).sum())}" for name in gone or there.columns
        )
        text = f"no dataset has a score of all {there.shape[1]} methods ({gaps} of {len(there)})"
        n_whole = int(left.all(axis=1).sum())
        if not n_whole:
            return f"{text}: nothing can be paired"
        ways = " ".join(argument("ignore", name) for name in gone)
        return f"{text}: {ways} compares the others on the {n_whole} that they have in common"

    def told(
        self, why: str, metrics: Sequence[str] | None, higher_is_better: bool | None = None
    ) -> Comparison:
        """Return the values, of the metrics that are asked for or of all, and why nothing is tested."""
        names = [self.choose_metric(name) for name in metrics] if metrics else list(self.metrics)
        pieces = [self.scores(name) for name in names]
        known = self.metrics.get(names[0])
        return untested(
            pd.concat(pieces, ignore_index=True)[["method", "dataset", "metric", "value"]],
            why,
            metric=names[0] if len(names) == 1 else None,
            higher_is_better=known if higher_is_better is None else higher_is_better,
            warnings=self.warned(),
        )

    def joined(self, metric: str | None = None, *, trust_ids: bool = False) -> Joined:
        """Return the values of a metric that are paired, item by item, with what was left out."""
        return join_items(self.parts, self.choose_metric(metric), trust_ids=trust_ids)

    def scores(self, metric: str | None = None) -> pd.DataFrame:
        """Return the values of a metric as tidy scores: a row per method, dataset and unit; of items their mean."""
        chosen = self.choose_metric(metric)
        if self.unit == "item":
            return _means_of_items(self.joined(chosen), chosen)
        frames = []
        for one in self.parts:
            if chosen not in one.metrics:
                continue
            own = [name for name in OWN if name in one.frame.columns and name != chosen]
            kept = ["method", "dataset", *one.keys, *own, chosen]
            frames.append(
                one.frame[kept]
                .rename(columns={chosen: "value"})
                .astype({"method": str, "dataset": str})
            )
        return pd.concat(frames, ignore_index=True).assign(metric=chosen)

    def designs(self, experiment: str | None = None) -> dict[str, Any]:
        """Return how datasets were split, where the sources tell it."""
        return {dataset: design for one in self.parts for dataset, design in one.designs.items()}

    def warned(self) -> tuple[str, ...]:
        """Return what a verdict must not leave out: what was left out, and which conditions differ."""
        return (*self.notes, *check_conditions(self.parts))

    def side(self, metric: str, method: str) -> pd.Series:
        """Return the values of one method, indexed by every key that tells its rows apart."""
        frame = self.scores(metric)
        mine = frame[(frame["method"] == method).to_numpy()]
        if None in self.designs().values():
            # How these splits came about is known of none of the two, then.
            mine = mine.rename(columns={"fold": "split"})
        keys = [name for name in ("dataset", *KEYS, "split") if name in mine.columns]
        if "dataset" in keys and mine["dataset"].nunique() == 1 and len(keys) > 1:
            keys.remove("dataset")
        return mine.set_index(keys)["value"].rename(method)

    def compare(
        self,
        metric: str | None = None,
        *,
        higher_is_better: bool | None = None,
        trust_ids: bool = False,
        per_dataset: bool = False,
        **options: Any,
    ) -> Comparison:
        """Say which methods are better, by the comparison that fits the unit.

        Parameters
        ----------
        metric : str, optional
            Needed where there are several.
        higher_is_better : bool, optional
            The direction, where the sources do not say it.
        trust_ids : bool, default=False
            Pair items by their names even where their contents differ.
        per_dataset : bool, default=False
            Let datasets or tasks be the units, by their means, even where there are items.
        **options
            Of `paragone.compare`, or of `paragone.stats.compare_items` where the unit is the item.
        """
        chosen = self.choose_metric(metric)
        higher = self.metrics[chosen] if higher_is_better is None else higher_is_better
        if higher is None and chosen == VALUE:
            ways = direction_argument()
            raise InputError(
                f"the scores do not say which metric they are: say {argument('metric', 'NAME')}, or"
                f" {ways}"
            )
        gaps = self.whose_gaps(chosen) if self.unit != "item" else ""
        if gaps and options.get("missing") in (None, "complete"):
            raise InputError(gaps)
        if self.unit == "item" and not per_dataset:
            joined = self.joined(chosen, trust_ids=trust_ids)
            result: Comparison = compare_items(
                joined.frame, metric=chosen, higher_is_better=higher, **options
            )
            notes = joined.notes
        else:
            joined_items = self.joined(chosen, trust_ids=trust_ids) if self.unit == "item" else None
            result, notes = self._compare_scores(chosen, higher, options, joined_items)
        return replace(result, warnings=(*self.warned(), *notes, *result.warnings))

    def _compare_scores(
        self, metric: str, higher: bool | None, options: dict[str, Any], joined: Joined | None
    ) -> tuple[Comparison, tuple[str, ...]]:
        """Compare over datasets; a failure that a source tells of is an outcome, a row that is not there is a gap."""
        frame = self.scores(metric) if joined is None else _means_of_items(joined, metric)
        notes: list[str] = [] if joined is None else list(joined.notes)
        unshown = [
            name for name in folds_not_shown(self.parts, metric) if name in set(frame["dataset"])
        ]
        if unshown:
            frame = _means_of(frame, unshown)
            notes.append(
                f"The folds of {few(unshown)} are not shown to be the same for all methods: only"
                " their means are paired."
            )
        known = {name: design for name, design in self.designs().items() if name not in unshown}
        known |= options.pop("designs", None) or {}
        mixed = dict.fromkeys(one.mixed[metric] for one in self.parts if metric in one.mixed)
        failed = any(one.failures for one in self.parts) and bool(frame["value"].isna().any())
        if options.get("missing") is None:
            options["missing"] = "worst" if failed else "complete"
        if mixed or (failed and options["missing"] == "worst"):
            frame, said = _without_gaps(frame)
            notes += said
        if mixed:
            if failed and len(frame) > len(frame.drop_duplicates(["method", "dataset"])):
                notes.append(
                    "A dataset on which a split of a method failed counts as failed for it."
                )
            frame = _mean_per_dataset(frame)
            known = {}
            asked = "test" in options and options["test"] is not None
            options |= {} if asked else {"test": "sign", "bayes": False}
            notes.append(
                f"{metric} is {'; '.join(mixed)}: means over datasets of several metrics have no"
                " unit, so "
                f"{'the sizes of differences mean little' if asked else 'only who is better on a dataset counts'}."
            )
        found = compare(
            frame, metric=metric, higher_is_better=higher, designs=known or None, **options
        )
        return found, tuple(notes)


def _means_of(frame: pd.DataFrame, datasets: Sequence[str]) -> pd.DataFrame:
    """Return the scores with one mean per method in the place of the folds of some datasets."""
    keys = [name for name in KEYS if name in frame.columns]
    theirs = frame["dataset"].isin(datasets)
    means = _mean_per_dataset(frame[theirs]).assign(**dict.fromkeys(keys, 0))
    rest = frame[~theirs]
    return pd.concat([rest, means], ignore_index=True) if len(rest) else means.drop(columns=keys)


def _without_gaps(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Leave out datasets and folds for which a method has no row at all: nobody says that it failed there."""
    keys = [name for name in ("dataset", *KEYS) if name in frame.columns]
    rows = frame.groupby(keys, dropna=False, sort=False)["method"].transform("nunique")
    whole = (rows == frame["method"].nunique()).to_numpy()
    if whole.all():
        return frame, []
    if not whole.any():
        raise InputError("no dataset and fold has a row of every method: nothing can be paired")
    n_units = len(frame.loc[~whole, keys].drop_duplicates())
    return frame[whole], [
        (
            f"Left out: {n_units} splits that some method has no row for, which is not a failure."
            if len(keys) > 1
            else (
                f"Left out: {n_units} datasets that some method has no row for, which is not a"
                " failure."
            )
        )
    ]


def _mean_per_dataset(frame: pd.DataFrame) -> pd.DataFrame:
    """Return one value per method and dataset, where every split has a row of every method."""
    keys = [name for name in KEYS if name in frame.columns]
    if not keys:
        return frame
    doubled = frame.duplicated(["method", "dataset", *keys])
    if doubled.any():
        row = frame[doubled].iloc[0]
        where = ", ".join(f"{name} {row[name]}" for name in keys)
        raise InputError(
            f"the score of {row['method']!r} on {row['dataset']}, {where} stands twice: keep one"
        )
    # A failed split makes the mean missing: a mean over the others would be of easier ones.
    means = frame.groupby(["method", "dataset"], sort=False)["value"].agg(
        lambda values: values.mean(skipna=False)
    )
    return means.reset_index().assign(metric=frame["metric"].iloc[0])


def _means_of_items(joined: Joined, metric: str) -> pd.DataFrame:
    """Return the mean of every method over the paired items of each dataset."""
    means = (
        joined.frame.groupby(["method", "dataset"], observed=True, sort=False)["value"]
        .mean()
        .reset_index()
    )
    return means.astype({"method": str, "dataset": str}).assign(metric=metric)
