"""ARFF files, dense and sparse, with Mulan's XML or MEKA's relation name saying which are the labels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from paragone.data.columns import ColumnTable, FileColumn, dataset_from, text_column
from paragone.data.dataset import Dataset
from paragone.data.reader import Reader, ReadOptions, data_files, name_of, readers, train_and_test
from paragone.errors import InputError, setting
from paragone.reading import check_size

_QUOTED = r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\""
_ATTRIBUTE = re.compile(rf"\s*@attribute\s+({_QUOTED}|[^\s{{]+)\s*(.*)$", re.IGNORECASE)
_VALUE = re.compile(rf"\s*({_QUOTED}|[^,]*?)\s*(?:,|$)")
_RELATION = re.compile(r"\s*@relation\s*(.*)$", re.IGNORECASE)
_MEKA = re.compile(r"-C\s+(-?\d{1,9})(?!\d)")
_NUMERIC = ("numeric", "real", "integer")


@dataclass(frozen=True)
class Attribute:
    """One ``@attribute`` line: its name, and its values where it is nominal."""

    name: str
    kind: str
    categories: tuple[str, ...] = ()


@dataclass(frozen=True)
class Header:
    """What stands before ``@data``, and the number of lines it takes (``@data`` included)."""

    relation: str
    attributes: tuple[Attribute, ...]
    n_lines: int


def unquote(text: str) -> str:
    r"""Take quotes and backslash escapes off an ARFF name or value.

    Examples
    --------
    >>> unquote(r"'it\'s'"), unquote(r"rock\'n\'roll"), unquote("plain")
    ("it's", "rock'n'roll", 'plain')
    """
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    return re.sub(r"\\(['\"\\%{}, ])", r"\1", text)


def parse_header(lines: list[str], where: str) -> Header:
    """Read the declarations up to ``@data``.

    Examples
    --------
    >>> header = parse_header(["@relation r", "@attribute 'a b' {no, yes}", "@data"], "r.arff")
    >>> header.attributes
    (Attribute(name='a b', kind='nominal', categories=('no', 'yes')),)
    """
    relation, attributes = "", []
    for number, line in enumerate(lines, start=1):
        word = line.split(None, 1)[0].lower() if line.strip() else ""
        if word == "@relation" and (match := _RELATION.match(line)):
            relation = unquote(match[1])
        elif word == "@attribute":
            attributes.append(_attribute(line, f"{where}, line {number}"))
        elif word == "@data":
            _check_distinct(attributes, where)
            return Header(relation, tuple(attributes), number)
        elif word and not word.startswith("%"):
            raise InputError(
                f"{where}, line {number}: {line.strip()[:40]!r} is not an ARFF declaration"
            )
    raise InputError(f"{where}: no @data line found; is it an ARFF file?")


def _attribute(line: str, where: str) -> Attribute:
    match = _ATTRIBUTE.match(line)
    if match is None:
        raise InputError(f"{where}: cannot read the attribute {line.strip()[:60]!r}")
    if _is_open(match[1]):
        raise InputError(f"{where}: the quote around {match[1][:40]!r} is never closed")
    name, kind = unquote(match[1]), match[2].strip()
    if kind.startswith("{"):
        return Attribute(name, "nominal", _categories(kind, f"{where}: attribute {name!r}"))
    word = kind.split(None, 1)[0].lower() if kind else ""
    if word in _NUMERIC:
        return Attribute(name, "numeric")
    if word == "string":
        return Attribute(name, "string")
    if word == "date":
        return Attribute(name, "date")
    raise InputError(f"{where}: attribute {name!r} has the type {kind[:40]!r}, which is not read")


def _is_open(text: str) -> bool:
    """Tell whether a name or value begins with a quote that does not end it."""
    return text[:1] in ("'", '"') and re.fullmatch(_QUOTED, text) is None


def _categories(kind: str, where: str) -> tuple[str, ...]:
    end = kind.rfind("}")
    if end < 0:
        raise InputError(f"{where}: the list of values has no closing brace")
    inner, values, position = kind[1:end].strip(), [], 0
    while position < len(inner):
        match = _VALUE.match(inner, position)
        if match is None or match.end() == position:
            raise InputError(
                f"{where}: cannot read the list of values near {inner[position : position + 20]!r}"
            )
        if _is_open(match[1]):
            raise InputError(
                f"{where}: the quote around the value {match[1][:40]!r} is never closed"
            )
        values.append(unquote(match[1]))
        position = match.end()
    if not values or len(set(values)) < len(values):
        raise InputError(f"{where}: the list of values is empty or names a value twice")
    return tuple(values)


def _check_distinct(attributes: list[Attribute], where: str) -> None:
    seen: set[str] = set()
    for attribute in attributes:
        if attribute.name in seen:
            raise InputError(f"{where}: attribute {attribute.name!r} is declared twice")
        seen.add(attribute.name)
    if not attributes:
        raise InputError(f"{where}: no @attribute line found")


def meka_count(relation: str) -> int | None:
    """Return the number of labels that MEKA wrote into the relation name, with its sign.

    A positive number means the first attributes, a negative one the last. After a Weka filter has
    moved the attributes the number no longer says where the labels are, so None is returned.

    Examples
    --------
    >>> meka_count("Music: -C 6"), meka_count("Music: -C -6"), meka_count("Music")
    (6, -6, None)
    >>> meka_count("MEDC: -C 45 -weka.filters.unsupervised.attribute.Remove-R1-45") is None
    True
    """
    match = _MEKA.search(relation)
    if match is None or "weka.filters" in relation[match.end() :]:
        return None
    return int(match[1])


def read_labels(path: Path) -> tuple[str, ...]:
    """Return the label names of a Mulan XML file in its order; nested labels follow their parent.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "tiny.xml"
    ...     _ = path.write_text('<labels><label name="a"><label name="b"/></label></labels>')
    ...     read_labels(path)
    ('a', 'b')
    """
    try:
        text = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    # In whatever encoding: those of two or four bytes per character have zeros between the letters.
    if b"<!ENTITY" in text.replace(b"\0", b""):
        raise InputError(f"{path}: entity declarations are not read; write the label names out")
    try:
        root = ElementTree.fromstring(text)  # noqa: S314  entities were refused above
    except ElementTree.ParseError as error:
        raise InputError(f"{path}: not well-formed XML ({error})") from error
    elements = [element for element in root.iter() if element.tag.rpartition("}")[2] == "label"]
    names = tuple(element.get("name", "") for element in elements)
    if not names or "" in names:
        raise InputError(f"{path}: no <label name=...> found, or one without a name")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"{path}: label {twice!r} stands twice")
    return names


_PART_ENDINGS = ("-train", "-test", "_train", "_test")


@dataclass(frozen=True, eq=False)
class _Part:
    """One ARFF file: its header and its rows, as lists or (sparse) as index -> value."""

    path: Path
    header: Header
    rows: list[Any]
    is_sparse: bool


def read_arff(path: Path, options: ReadOptions) -> Dataset:
    r"""Read an ARFF file, or a folder with one or with the train and the test part of a dataset, which are pooled.

    The labels are those of Mulan's XML beside the file, where there is one of the same name; in a
    folder with one dataset it may have any name.

    Parameters
    ----------
    path : Path
        The file or folder.
    options : ReadOptions
        Labels or target where no XML names them, and how nominals are coded.

    Returns
    -------
    Dataset
        Sparse where every file is; ``train_part`` set where there are two.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "tiny.arff"
    ...     _ = path.write_text("@relation 't: -C 1'\n@attribute l {0,1}\n@attribute x real\n@data\n1,2\n0,3")
    ...     read_arff(path, ReadOptions())
    Dataset 'tiny': 2 samples x 1 features, multilabel, 1 label
    """
    options = replace(options, nominal=options.nominal or "ordinal")
    paths = _parts_in(path) if path.is_dir() else (path,)
    if not paths:
        raise InputError(f"{path}: it holds neither one ARFF file nor a train and a test part")
    xml = _xml_in(path, paths[0]) if path.is_dir() else None
    parts = [_read_part(file) for file in paths]
    table = _pool(parts, name_of(path), options)
    labels = _label_names(table, parts[0], options, xml or _xml_beside(paths[0]))
    if labels is not None:
        if options.task not in (None, "multilabel"):
            raise InputError(
                f"{table.where}: it names {len(labels)} labels, so its task is multilabel"
            )
        check_size(table.n_rows * len(labels), table.where)
        return dataset_from(table, labels, "multilabel", options)
    if not options.target or options.task is None:
        raise InputError(
            f"{table.where}: nothing says which attributes are labels; put Mulan's XML beside it,"
            f" give {setting('labels')} (names, or a number as in MEKA's -C), or"
            f" {setting('target')} and {setting('task')}"
        )
    return dataset_from(table, options.target, options.task, options)


def _read_part(path: Path) -> _Part:
    lines = _text(path).splitlines()
    header = parse_header(lines, str(path))
    first = next(
        (line for line in map(str.strip, lines[header.n_lines :]) if line and line[0] != "%"), None
    )
    if first is None:
        raise InputError(f"{path}: no data rows after @data")
    is_sparse = first.startswith("{")
    return _Part(path, header, _decode(path, header, lines[header.n_lines :], is_sparse), is_sparse)


def _text(path: Path) -> str:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _decode(path: Path, header: Header, data: list[str], is_sparse: bool) -> list[Any]:
    """Let the library cut the rows into values; every value comes back as text, None for ``?``.

    The declarations are replaced by plain ones of the same number: the library rounds ``integer``
    attributes down and takes escaped names apart wrongly, and types are checked here with the
    attribute's name in the message.
    """
    import arff

    plain = [
        "@relation r",
        *(f"@attribute a{j} string" for j in range(len(header.attributes))),
        "@data",
    ]
    try:
        decoded = arff.loads(
            "\n".join(plain + data), return_type=arff.LOD if is_sparse else arff.DENSE
        )
        return list(decoded["data"])
    except arff.ArffException as error:
        # The library puts the line into its message by %, and fails where the row itself has a %.
        told = error.message.replace("%d", str(error.line + header.n_lines - len(plain)), 1)
        raise InputError(f"{path}: {told[:300]}") from error
    except (IndexError, ValueError) as error:
        raise InputError(f"{path}: a row cannot be read ({error})") from error


def _pool(parts: Sequence[_Part], name: str, options: ReadOptions) -> ColumnTable:
    where = " + ".join(str(part.path) for part in parts)
    names = [attribute.name for attribute in parts[0].header.attributes]
    for part in parts[1:]:
        if [attribute.name for attribute in part.header.attributes] != names:
            raise InputError(
                f"{where}: the parts do not have the same attributes in the same order"
            )
        if part.is_sparse != parts[0].is_sparse:
            raise InputError(f"{where}: one part is sparse and the other is not")
    rows = [row for part in parts for row in part.rows]
    # A row of a sparse file takes two braces; a text of it, where it is left out, stands for the
    # text 0.
    n_texts = sum(attribute.kind == "string" for attribute in parts[0].header.attributes)
    check_size(8 * len(rows) * n_texts, where)
    values, positions = _by_column(rows, len(names), parts[0].is_sparse)
    columns = []
    for j, attribute in enumerate(_merge(parts)):
        if attribute.name in options.drop:
            columns.append(
                FileColumn(attribute.name, np.zeros(0), rows=np.zeros(0, dtype=np.int64))
            )
        else:
            columns.append(_column(attribute, values[j], positions[j], len(rows), where))
    n_train = len(parts[0].rows) if len(parts) == 2 else None
    return ColumnTable(name, where, columns, len(rows), n_train, parts[0].is_sparse)


def _by_column(rows: list[Any], n_columns: int, is_sparse: bool) -> tuple[list[Any], list[Any]]:
    if not is_sparse:
        return list(zip(*rows, strict=True)), [None] * n_columns
    values: list[list[Any]] = [[] for _ in range(n_columns)]
    positions: list[list[int]] = [[] for _ in range(n_columns)]
    for i, row in enumerate(rows):
        for j, value in row.items():
            values[j].append(value)
            positions[j].append(i)
    return values, [np.array(where, dtype=np.int64) for where in positions]


def _merge(parts: Sequence[_Part]) -> list[Attribute]:
    merged = []
    for declared in zip(*(part.header.attributes for part in parts), strict=True):
        kinds = {attribute.kind for attribute in declared}
        if len(kinds) > 1:
            raise InputError(
                f"{parts[1].path}: attribute {declared[0].name!r} is {declared[1].kind} here and "
                f"{declared[0].kind} in the other part"
            )
        union = dict.fromkeys(value for attribute in declared for value in attribute.categories)
        merged.append(Attribute(declared[0].name, declared[0].kind, tuple(union)))
    return merged


def _column(
    attribute: Attribute, values: Sequence[Any], positions: Any, n_rows: int, where: str
) -> FileColumn:
    if attribute.kind == "date":
        raise InputError(
            f"{where}: attribute {attribute.name!r} is a date; leave it out with {setting('drop')}"
        )
    if attribute.kind == "numeric":
        return FileColumn(
            attribute.name, _floats(attribute.name, values, positions, where), rows=positions
        )
    if attribute.kind == "string":
        full: list[Any] = list(values)
        if positions is not None:
            full = ["0"] * n_rows
            for i, value in zip(positions, values, strict=True):
                full[i] = value
        return text_column(attribute.name, full)
    declared = {None, *attribute.categories}
    strange = next((value for value in values if value not in declared), None)
    if strange is not None:
        raise InputError(
            f"{where}: attribute {attribute.name!r} holds {strange!r}, which is none of its"
            " declared values"
        )
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return FileColumn(attribute.name, array, attribute.categories, rows=positions)


def _floats(name: str, values: Sequence[Any], positions: Any, where: str) -> Any:
    try:
        return np.fromiter(map(float, values), dtype=np.float64, count=len(values))
    except (TypeError, ValueError):
        # A missing value or a text: slower, and it says which.
        return _floats_one_by_one(name, values, positions, where)


def _floats_one_by_one(name: str, values: Sequence[Any], positions: Any, where: str) -> Any:
    numbers = np.empty(len(values))
    for i, value in enumerate(values):
        try:
            numbers[i] = np.nan if value is None else float(value)
        except ValueError as error:
            row = (i if positions is None else int(positions[i])) + 1
            raise InputError(
                f"{where}: row {row} of the numeric attribute {name!r} holds {value!r}"
            ) from error
    return numbers


def _parts_in(folder: Path) -> tuple[Path, ...]:
    """Return the train and the test part in a folder, or its only data file; nothing where there is no ARFF dataset."""
    if not folder.is_dir():
        return ()
    files = data_files(folder)
    alone = (files[0],) if len(files) == 1 and files[0].suffix.lower() == ".arff" else ()
    return train_and_test(folder, ".arff") or alone


def _xml_in(folder: Path, arff: Path) -> Path | None:
    found = sorted(
        path for path in folder.iterdir() if path.is_file() and path.suffix.lower() == ".xml"
    )
    same = [path for path in found if arff.stem.lower().startswith(path.stem.lower())]
    if len(same or found) > 1:
        raise InputError(f"{folder}: several XML files; keep the one that names the labels")
    return next(iter(same or found), None)


def _xml_beside(path: Path) -> Path | None:
    stems = [
        path.stem,
        *(path.stem[: -len(end)] for end in _PART_ENDINGS if path.stem.endswith(end)),
    ]
    return next((xml for stem in stems if (xml := path.with_name(f"{stem}.xml")).is_file()), None)


def _label_names(
    table: ColumnTable, part: _Part, options: ReadOptions, xml: Path | None
) -> list[str] | None:
    names = [column.name for column in table.columns]
    if isinstance(options.labels, tuple):
        return [table.column(label, "label").name for label in options.labels]
    if options.labels is None and not options.target and xml is not None:
        known = set(names)
        wanted = [label if label in known else unquote(label) for label in read_labels(xml)]
        return [table.column(label, f"label (named in {xml.name})").name for label in wanted]
    count = options.labels
    if count is None and not options.target:
        count = meka_count(part.header.relation)
    if count is None:
        return None
    if not 0 < abs(count) < len(names):
        raise InputError(
            f"{table.where}: {abs(count)} labels among {len(names)} attributes leave no feature"
        )
    return names[:count] if count > 0 else names[count:]


readers.add(Reader("arff", read_arff, (".arff",), lambda path: bool(_parts_in(path)), order=20))
