"""ARFF files, dense and sparse, with Mulan's XML or MEKA's relation name saying which are the labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from paragone.data.columns import Column, text_column
from paragone.data.dataset import Dataset
from paragone.data.options import ReadOptions
from paragone.data.readers.arff_header import Attribute, Header, meka_count, parse_header, unquote
from paragone.data.readers.mulan import read_labels
from paragone.data.targets import Table, dataset_from
from paragone.errors import InputError
from paragone.reading import check_size

_PART_ENDINGS = ("-train", "-test", "_train", "_test")


@dataclass(frozen=True, eq=False)
class _Part:
    """One ARFF file: its header and its rows, as lists or (sparse) as index -> value."""

    path: Path
    header: Header
    rows: list[Any]
    is_sparse: bool


def read_arff(
    paths: Sequence[Path], options: ReadOptions, *, xml: Path | None = None, name: str | None = None
) -> Dataset:
    r"""Read one ARFF file, or the train and the test part of a dataset, in this order.

    Parameters
    ----------
    paths : sequence of Path
        One file, or two: the train part and the test part, which are pooled.
    options : ReadOptions
        Labels or target where no XML names them, and how nominals are coded.
    xml : Path, optional
        Mulan's label file; the XML beside the first file with the same stem where it is not given.
    name : str, optional
        The dataset's name; the stem of the first file where it is not given.

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
    ...     read_arff([path], ReadOptions())
    Dataset 'tiny': 2 samples x 1 features, multilabel, 1 label
    """
    options = replace(options, nominal=options.nominal or "ordinal")
    parts = [_read_part(path) for path in paths]
    table = _pool(parts, name or paths[0].stem, options)
    labels = _label_names(table, parts[0], options, xml or _xml_beside(paths[0]))
    if labels is not None:
        if options.task not in (None, "multilabel"):
            raise InputError(f"{table.where}: it names {len(labels)} labels, so its task is multilabel")
        check_size(table.n_rows * len(labels), table.where)
        return dataset_from(table, labels, "multilabel", options)
    if not options.target or options.task is None:
        raise InputError(
            f"{table.where}: nothing says which attributes are labels; put Mulan's XML beside it, give "
            "labels= (names, or a number as in MEKA's -C), or target= and task="
        )
    return dataset_from(table, options.target, options.task, options)


def _read_part(path: Path) -> _Part:
    lines = _text(path).splitlines()
    header = parse_header(lines, str(path))
    first = next((line for line in map(str.strip, lines[header.n_lines :]) if line and line[0] != "%"), None)
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
    attributes down and takes escaped names apart wrongly, and types are checked here with the attribute's
    name in the message.
    """
    import arff

    plain = ["@relation r", *(f"@attribute a{j} string" for j in range(len(header.attributes))), "@data"]
    try:
        decoded = arff.loads("\n".join(plain + data), return_type=arff.LOD if is_sparse else arff.DENSE)
        return list(decoded["data"])
    except arff.ArffException as error:
        # The library puts the line into its message by %, and fails where the row itself has a %.
        told = error.message.replace("%d", str(error.line + header.n_lines - len(plain)), 1)
        raise InputError(f"{path}: {told[:300]}") from error
    except (IndexError, ValueError) as error:
        raise InputError(f"{path}: a row cannot be read ({error})") from error


def _pool(parts: Sequence[_Part], name: str, options: ReadOptions) -> Table:
    where = " + ".join(str(part.path) for part in parts)
    names = [attribute.name for attribute in parts[0].header.attributes]
    for part in parts[1:]:
        if [attribute.name for attribute in part.header.attributes] != names:
            raise InputError(f"{where}: the parts do not have the same attributes in the same order")
        if part.is_sparse != parts[0].is_sparse:
            raise InputError(f"{where}: one part is sparse and the other is not")
    rows = [row for part in parts for row in part.rows]
    # A row of a sparse file takes two braces; a text of it, where it is left out, stands for the text 0.
    n_texts = sum(attribute.kind == "string" for attribute in parts[0].header.attributes)
    check_size(8 * len(rows) * n_texts, where)
    values, positions = _by_column(rows, len(names), parts[0].is_sparse)
    columns = []
    for j, attribute in enumerate(_merge(parts)):
        if attribute.name in options.drop:
            columns.append(Column(attribute.name, np.zeros(0), rows=np.zeros(0, dtype=np.int64)))
        else:
            columns.append(_column(attribute, values[j], positions[j], len(rows), where))
    n_train = len(parts[0].rows) if len(parts) == 2 else None
    return Table(name, where, columns, len(rows), n_train, parts[0].is_sparse)


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


def _column(attribute: Attribute, values: Sequence[Any], positions: Any, n_rows: int, where: str) -> Column:
    if attribute.kind == "date":
        raise InputError(f"{where}: attribute {attribute.name!r} is a date; leave it out with drop=")
    if attribute.kind == "numeric":
        return Column(attribute.name, _floats(attribute.name, values, positions, where), rows=positions)
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
            f"{where}: attribute {attribute.name!r} holds {strange!r}, which is none of its declared values"
        )
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return Column(attribute.name, array, attribute.categories, rows=positions)


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
            raise InputError(f"{where}: row {row} of the numeric attribute {name!r} holds {value!r}") from error
    return numbers


def _xml_beside(path: Path) -> Path | None:
    stems = [path.stem, *(path.stem[: -len(end)] for end in _PART_ENDINGS if path.stem.endswith(end))]
    return next((xml for stem in stems if (xml := path.with_name(f"{stem}.xml")).is_file()), None)


def _label_names(table: Table, part: _Part, options: ReadOptions, xml: Path | None) -> list[str] | None:
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
        raise InputError(f"{table.where}: {abs(count)} labels among {len(names)} attributes leave no feature")
    return names[:count] if count > 0 else names[count:]
