"""The same table, changed and written in other ways: what it says stays what it is."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from intake.shapes import Content, Key, Reading, Shape

OTHER_NAMES = ("zeta-7b v2", "Mean Teacher", "TabNet (tuned)", "AdaBoost.R2")
"""What methods are called instead: in another order, and with words that also name a mean and a metric."""


@dataclass(frozen=True)
class Case:
    """A shape as it lies on the disk after a change."""

    shape: Shape
    change: str
    files: Mapping[str, Content]
    sources: tuple[str, ...]
    reading: Reading

    @property
    def name(self) -> str:
        return f"{self.shape.name}-{self.change}"

    def write(self, folder: Path) -> list[str]:
        """Write the files and return what is given on the command line."""
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(path, content)
        return [_placed(folder, source) for source in self.sources]


def _placed(folder: Path, source: str) -> str:
    name, equals, path = source.rpartition("=")
    return f"{name}{equals}{folder / path}"


def _write(path: Path, content: Content) -> None:
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif isinstance(content, str):
        path.write_text(content, encoding="utf-8")
    else:
        WRITERS[path.suffix](content, path)


def _texts_where_mixed(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the table with one type a column, as Parquet wants it."""
    mixed = [name for name in frame if frame[name].map(type).nunique() > 1]
    return frame.astype(dict.fromkeys(mixed, str)) if mixed else frame


def _markdown(frame: pd.DataFrame, path: Path) -> None:
    lines = [
        list(map(str, frame.columns)),
        ["---"] * frame.shape[1],
        *frame.astype(str).to_numpy().tolist(),
    ]
    path.write_text("".join(f"| {' | '.join(cells)} |\n" for cells in lines), encoding="utf-8")


def _rows(frame: pd.DataFrame) -> list[dict[str, object]]:
    return json.loads(frame.to_json(orient="records", double_precision=15))


WRITERS: dict[str, Callable[[pd.DataFrame, Path], object]] = {
    ".csv": lambda frame, path: frame.to_csv(path, index=False),
    ".tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    ".jsonl": lambda frame, path: path.write_text(
        "".join(json.dumps(row) + "\n" for row in _rows(frame))
    ),
    ".json": lambda frame, path: path.write_text(json.dumps(_rows(frame), indent=1)),
    ".md": _markdown,
    ".xlsx": lambda frame, path: frame.to_excel(path, index=False),
    ".parquet": lambda frame, path: _texts_where_mixed(frame).to_parquet(path, index=False),
}
FORMS = tuple(suffix for suffix in WRITERS if suffix != ".csv")


def as_it_is(shape: Shape) -> Case:
    """Return the shape unchanged."""
    return Case(shape, "as it is", shape.files, shape.sources or tuple(shape.files), shape.reading)


def _of_frame(
    shape: Shape, change: str, frame: pd.DataFrame, reading: Reading | None = None
) -> Case:
    name = next(iter(shape.files))
    return Case(shape, change, {name: frame}, (name,), reading or shape.reading)


def shuffled_rows(shape: Shape) -> Case:
    return _of_frame(shape, "rows", shape.frame.sample(frac=1, random_state=5, ignore_index=True))


def shuffled_columns(shape: Shape) -> Case:
    order = np.random.default_rng(6).permutation(shape.frame.shape[1])
    return _of_frame(shape, "columns", shape.frame.iloc[:, order])


def renamed(shape: Shape) -> Case:
    """Return the shape with other names of its methods, wherever they stand as a whole."""
    other = dict(zip(shape.reading.methods, OTHER_NAMES, strict=False))
    affixes = [f"{{}}{affix}" for affix in ("", *shape.reading.affixes, *_behind(shape))]
    headings = {
        form.format(old): form.format(new) for old, new in other.items() for form in affixes
    }
    frame = shape.frame.rename(columns=headings).replace(other)
    values = {(other[m], d, u): value for (m, d, u), value in shape.reading.values.items()}
    left_out = tuple(headings.get(name, name) for name in shape.reading.left_out)
    return _of_frame(
        shape, "renamed", frame, replace(shape.reading, values=values, left_out=left_out)
    )


def _behind(shape: Shape) -> list[str]:
    """Return what stands behind the names of methods in columns of their spreads."""
    found = re.findall(r"_std\b", " ".join(shape.reading.left_out))
    return sorted(set(found))


def transposed(shape: Shape) -> Case:
    label = shape.layout.label
    turned = shape.frame.set_index(label).T
    turned.columns.name = None
    turned.index.name = ""
    return _of_frame(shape, "transposed", turned.reset_index())


def by_method(shape: Shape) -> Case:
    """Return the shape in two files, each with a part of the methods."""
    methods = shape.reading.methods
    first = set(methods[: len(methods) // 2])
    frame, layout = shape.frame, shape.layout
    if layout.across == "methods":
        others = [name for name in frame if name not in methods]
        parts = [
            frame[[*others, *(m for m in methods if (m in first) is wanted)]]
            for wanted in (True, False)
        ]
    else:
        here = frame[layout.method or layout.label].isin(first)
        parts = [frame[here], frame[~here]]
    return _in_two(shape, "by method", parts)


def by_dataset(shape: Shape) -> Case:
    """Return the shape in two files, each with a part of the datasets, or of the units of one dataset."""
    frame, layout = shape.frame, shape.layout
    names = frame[layout.dataset or layout.label]
    first = set(names.drop_duplicates().iloc[: names.nunique() // 2])
    here = names.isin(first)
    return _in_two(shape, "by dataset", [frame[here], frame[~here]])


def _in_two(shape: Shape, change: str, parts: list[pd.DataFrame]) -> Case:
    files = {f"part_{place}.csv": part for place, part in enumerate(parts, start=1)}
    return Case(shape, change, files, tuple(files), shape.reading)


def a_file_a_method(shape: Shape) -> Case:
    """Return the shape in a file per method, whose name alone says which."""
    files = {
        f"{name}.csv": part.drop(columns=shape.layout.method)
        for name, part in shape.frame.groupby(shape.layout.method, sort=False)
    }
    return Case(shape, "a file a method", files, tuple(files), shape.reading)


def named_files(shape: Shape) -> Case:
    """Return the shape in a file per method, named on the command line."""
    case = a_file_a_method(shape)
    other = dict(zip(shape.reading.methods, OTHER_NAMES, strict=False))
    files = {f"{place}.csv": part for place, part in enumerate(case.files.values())}
    owners = [name.removesuffix(".csv") for name in case.files]
    sources = tuple(f"{other[owner]}={file}" for owner, file in zip(owners, files, strict=True))
    values = {(other[m], d, u): value for (m, d, u), value in shape.reading.values.items()}
    return Case(shape, "named files", files, sources, replace(shape.reading, values=values))


def in_a_folder(shape: Shape) -> Case:
    name, frame = next(iter(shape.files.items()))
    return Case(shape, "in a folder", {f"folder/{name}": frame}, ("folder",), shape.reading)


def written(shape: Shape, suffix: str) -> Case:
    name = next(iter(shape.files))
    file = Path(name).with_suffix(suffix).name
    return Case(shape, suffix, {file: shape.frame}, (file,), shape.reading)


def cases_of(shape: Shape) -> Iterator[Case]:
    """Go through every way in which a shape may lie on the disk."""
    yield as_it_is(shape)
    layout = shape.layout
    if layout is None:
        return
    reading = shape.reading
    whole = not reading.left_out
    enough = len(reading.methods) >= 4 or bool(layout.method)
    if not reading.counted:
        yield shuffled_rows(shape)
    if not layout.fixed:
        yield shuffled_columns(shape)
    yield renamed(shape)
    if layout.across and not layout.fixed and shape.frame[layout.label].is_unique:
        yield transposed(shape)
    if whole and enough and (layout.method or layout.across != "methods" or shape.testable):
        yield by_method(shape)
    if whole and shape.testable and (layout.dataset or layout.across == "methods"):
        yield by_dataset(shape)
    if layout.method and whole:
        yield a_file_a_method(shape)
        yield named_files(shape)
    yield in_a_folder(shape)
    for suffix in FORMS:
        yield written(shape, suffix)


# --- what was read, beside what should have been -------------------------------------------------


def plain_name(text: object, affixes: tuple[str, ...] = ()) -> str:
    """Return a name without what may stand around it; parts of a key of several columns are told by a space."""
    found = str(text)
    for affix in sorted(affixes, key=len, reverse=True):
        found = found.removeprefix(affix).removesuffix(affix)
    found = re.sub(r"\b[\w ]+[=:] ?", "", found)
    words = re.findall(r"[\w.+#-]+", found)
    return " ".join(re.sub(r"(?<=\d)\.0$", "", word) for word in words)


def comparable(values: Mapping[Key, float], reading: Reading) -> dict[Key, float]:
    """Return values under names that can be compared: one dataset needs none, and units that are counted are."""
    named = {
        (
            plain_name(m, reading.affixes),
            plain_name(d, reading.affixes),
            plain_name(u, reading.affixes),
        ): float(value)
        for (m, d, u), value in values.items()
    }
    assert len(named) == len(values), "two values of one method, dataset and unit"
    if len({d for _, d, _ in named}) == 1:
        named = {(m, "", u): value for (m, _, u), value in named.items()}
    if not reading.counted:
        return named
    counted: dict[Key, float] = {}
    places: dict[tuple[str, str], int] = {}
    for (m, d, _), value in sorted(named.items(), key=lambda row: (row[0][:2], float(row[0][2]))):
        place = places.setdefault((m, d), 0)
        counted[m, d, str(place)] = value
        places[m, d] += 1
    return counted


def difference(read: Mapping[Key, float], reading: Reading) -> str:
    """Say how what was read differs from what a table says; nothing where it does not."""
    got, expected = comparable(read, reading), comparable(reading.values, reading)
    for place, what in enumerate(("methods", "datasets", "units")):
        mine, theirs = ({key[place] for key in values} for values in (got, expected))
        if mine != theirs:
            return f"{what} {sorted(mine)[:8]}, expected {sorted(theirs)[:8]}"
    lacking, added = expected.keys() - got.keys(), got.keys() - expected.keys()
    if lacking or added:
        return f"lacking {sorted(lacking)[:3]}, added {sorted(added)[:3]}"
    wrong = [
        key for key, value in expected.items() if not np.isclose(got[key], value, rtol=1e-9, atol=0)
    ]
    return f"{wrong[0]} is {got[wrong[0]]}, expected {expected[wrong[0]]}" if wrong else ""
