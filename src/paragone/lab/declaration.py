"""The declaration: an experiment's TOML file, checked section by section, and what it names."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_type_hints

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    create_model,
    field_validator,
)

from paragone.data import Dataset, ReadOptions, SplitPlan, load
from paragone.data.bundled import bundled_names
from paragone.data.dataset import with_replicates
from paragone.data.loading import expand
from paragone.data.offered import offered_datasets
from paragone.data.roles import Roles
from paragone.errors import InputError, messages_of, unknown_name
from paragone.lab.engine.resources import parse_size
from paragone.lab.engine.workers import Isolation
from paragone.lab.protocol import Protocol, default_kind, protocol_of_section, protocols
from paragone.methods.method import Method
from paragone.reading import parse_toml

HEADER = re.compile(r"^\s*\[\[?\s*(?P<path>[^\]]+?)\s*\]\]?\s*(#.*)?$")
PART = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)\s*(?:\.|$)""")
ASSIGNMENT = re.compile(r"""^\s*(?P<path>(?:"[^"]*"|'[^']*'|[A-Za-z0-9_.-]|\s)+?)\s*=""")


def line_of(text: str, path: Sequence[str]) -> int | None:
    r"""Return the number of the line where a key stands, or of the nearest table around it.

    Parameters
    ----------
    text : str
        The TOML document.
    path : sequence of str
        The key, table by table, such as ``("split", "folds")``.

    Returns
    -------
    int or None
        Counted from 1; None where not even the outermost table is found.

    Examples
    --------
    >>> text = "name = 'x'\n[split]\nkind = 'kfold'\nfoldz = 5\n"
    >>> line_of(text, ("split", "foldz"))
    4
    >>> line_of(text, ("split", "missing"))
    2
    """
    wanted = tuple(path)
    found = _key_lines(text)
    while wanted:
        if wanted in found:
            return found[wanted]
        wanted = wanted[:-1]
    return None


def _key_lines(text: str) -> dict[tuple[str, ...], int]:
    lines: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), start=1):
        header = HEADER.match(line)
        assignment = ASSIGNMENT.match(line)
        if header:
            table = _parts(header["path"])
            lines.setdefault(table, number)
        elif assignment:
            path = table + _parts(assignment["path"])
            lines.setdefault(path, number)
            # Keys of an inline table stand on the line of the key that holds it.
            for inner in re.findall(r"""[{,]\s*("[^"]*"|'[^']*'|[A-Za-z0-9_-]+)\s*=""", line):
                lines.setdefault((*path, _plain(inner)), number)
    return lines


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(_plain(part) for part in PART.findall(dotted))


def _plain(part: str) -> str:
    return part[1:-1] if part[:1] in "\"'" else part


class FileSection(BaseModel):
    """A table of the file: unknown keys and wrong types are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


@dataclass(frozen=True, kw_only=True)
class SetSection(ReadOptions):
    """A dataset that needs options to be read: ``{ path = "x.csv", target = ["y"], task = "regression" }``.

    Attributes
    ----------
    path : str
        The file, folder or bundled name.
    replicates : int, optional
        Rows that are measurements of one sample: so many after each other, kept on one side of
        every split.
    time : str, optional
        The column with the time.
    weight : str, optional
        The column with the weights of rows.
    """

    path: str
    # One name may stand without a list; the options make a tuple of it.
    target: str | tuple[str, ...] = ()  # type: ignore[assignment]
    replicates: Annotated[int, Field(ge=2)] | None = None
    time: str | None = None
    weight: str | None = None

    def options(self) -> ReadOptions:
        """Return the options of the readers."""
        return ReadOptions(
            **{field.name: getattr(self, field.name) for field in fields(ReadOptions)}
        )


class DataSection(FileSection):
    """``[data]``: the datasets, and what their columns are for where that is the same in all of them.

    Attributes
    ----------
    sets : list
        The datasets: bundled names, files, folders, patterns such as ``data/*.csv``, or tables with
        options.
    target : str or list of str, optional
        The column that is predicted, or the columns of labels.
    task : {"classification", "regression", "multilabel"}, optional
        What the target is, where its values are not to say it.
    groups : str, optional
        The column that says which rows belong together.
    time : str, optional
        The column with the time.
    weight : str, optional
        The column with the weights of rows.
    drop : list of str
        Columns to leave out.
    """

    sets: Annotated[tuple[str | SetSection, ...], Field(min_length=1)]
    target: str | tuple[str, ...] | None = None
    task: Literal["multilabel", "classification", "regression"] | None = None
    groups: str | None = None
    time: str | None = None
    weight: str | None = None
    drop: tuple[str, ...] = ()

    @property
    def targets(self) -> tuple[str, ...]:
        """The columns that are predicted."""
        return (self.target,) if isinstance(self.target, str) else self.target or ()

    def options(self, entry: str | SetSection) -> ReadOptions:
        """Return how an entry is read: what it says itself, else what the section says of a file."""
        own = ReadOptions() if isinstance(entry, str) else entry.options()
        path = entry if isinstance(entry, str) else entry.path
        unused = next(
            (role for role in ("time", "weight") if getattr(self, role) is not None), None
        )
        if unused is not None:
            raise InputError(
                f"'data.{unused}' is for tables as they stand, which this protocol does not take"
            )
        if path in bundled_names():
            return own
        return dataclasses.replace(
            own,
            target=own.target or self.targets,
            task=own.task or self.task,
            groups=own.groups or self.groups,
            drop=own.drop or self.drop,
        )

    def roles(self, entry: str | SetSection) -> Roles:
        """Return what the columns of an entry are for: what it says itself, else what the section says."""
        targets = self.targets if isinstance(entry, str) else entry.target or self.targets
        if len(targets) > 1:
            where = "data.target" if isinstance(entry, str) else entry.path
            raise InputError(f"{where}: one column is predicted, {', '.join(targets)} are named")
        common = Roles(
            next(iter(self.targets), None),
            self.groups,
            self.time,
            self.weight,
            self.drop,
            self.task,
        )
        if isinstance(entry, str):
            return common
        own: dict[str, Any] = {
            "target": next(iter(entry.target), None),
            "groups": entry.groups,
            "time": entry.time,
            "weight": entry.weight,
            "drop": entry.drop or None,
            "task": entry.task,
        }
        said = {role: value for role, value in own.items() if value is not None}
        return dataclasses.replace(common, **said, keep_ids=not entry.drop_ids)


class EstimatorSection(FileSection):
    """An estimator: what to use and its parameters.

    Attributes
    ----------
    use : str
        A name that Paragone knows, or ``module:Class``.
    params : table
        Its parameters.
    """

    use: str
    params: dict[str, Any] = Field(default_factory=dict)


class TuneSection(FileSection):
    """``[methods.X.tune]``: choose parameters on inner splits of train.

    Attributes
    ----------
    grid : table
        Values of parameters, every combination of which is tried.
    space : table
        Ranges of parameters, of which some points are drawn.
    trials : int
        How many points of the space are drawn.
    folds : int
        Inner folds of train.
    metric : str
        What is the best on the inner folds.
    p : float
        Of a ranker: the share of its best features that the inner evaluation uses.
    evaluator : str or table
        Of a ranker: the classifier of the inner evaluation.
    scale : {"minmax", "zscore", "none"}
        How features are scaled inside an inner split.
    """

    grid: dict[str, Annotated[list[Any], Field(min_length=1)]] = Field(default_factory=dict)
    space: dict[str, dict[str, Any]] = Field(default_factory=dict)
    trials: Annotated[int, Field(ge=1)] = 20
    folds: Annotated[int, Field(ge=2)] = 3
    metric: str = "micro_f1"
    p: Annotated[float, Field(gt=0, le=1)] = 0.2
    evaluator: str | EstimatorSection = "mlknn"
    scale: Literal["minmax", "zscore", "none"] = "minmax"


def _by_name(given: Any) -> Any:
    """A name alone stands for a table with nothing but ``use``."""
    return {"use": given} if isinstance(given, str) else given


class MethodSection(EstimatorSection):
    """``[methods.X]``: an estimator, how often it is repeated, how it is tuned, and its grid.

    Attributes
    ----------
    seeds : int
        How often a random method is repeated with another seed.
    tune : table, optional
        How its parameters are chosen, on inner splits of train.
    grid : table
        Values of parameters: each combination is a pipeline of its own.
    steps : list
        Preprocessing before it, fitted on train alone.
    log : str, optional
        How its training log is kept.
    """

    seeds: Annotated[int, Field(ge=1)] = 1
    tune: TuneSection | None = None
    grid: dict[str, Any] = Field(default_factory=dict)
    steps: list[Any] = Field(default_factory=list)
    log: str | None = None

    def declared(self) -> dict[str, Any]:
        """Return the method as protocols declare it: the estimator with its grid, or the tuner around it."""
        estimator = {"use": self.use, "params": self.params}
        if self.tune is None:
            variants = {"grid": self.grid, "steps": self.steps, "log": self.log}
            return {**estimator, **{key: value for key, value in variants.items() if value}}
        tuned = {
            "use": "tuned",
            "params": {"ranker": estimator, **self.tune.model_dump(exclude_defaults=True)},
        }
        return {**tuned, **({} if self.log is None else {"log": self.log})}


@cache
def protocol_section(kind: type[Protocol]) -> type[FileSection]:
    """Return the table of a protocol: its fields are the keys, but for what it says of itself in ``file_options``."""
    keys = {**get_type_hints(kind, include_extras=True), **kind.facts.file_options}
    declared: tuple[dataclasses.Field[Any], ...] = (
        dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
    )
    given = {field.name for field in declared if field.init}
    wanted = [
        name
        for name in keys
        if (name in given or name in kind.facts.file_options) and keys[name] is not None
    ]
    # A key that is not there is left to the protocol: no default stands here a second time.
    found: dict[str, Any] = {name: (_in_file(keys[name]), None) for name in wanted}
    return create_model(f"{kind.__name__}Section", __base__=FileSection, kind=(str, ""), **found)


def _in_file(hint: Any) -> Any:
    """Return how a file gives what a field holds: an estimator is a name, or a table with its parameters."""
    return str | EstimatorSection if hint is Method else hint


def _protocol_class(given: Any) -> type[Protocol] | None:
    """Return the protocol that a table names; None for ``module:name``, which is imported when the experiment is."""
    kind = given.get("kind", default_kind()) if isinstance(given, dict) else default_kind()
    if isinstance(kind, str) and ":" in kind:
        return None
    return protocols.get(kind)


def check_protocol(given: dict[str, Any]) -> dict[str, Any]:
    """Check the table of a protocol and return its values; nothing is imported for ``module:name``."""
    protocol = _protocol_class(given)
    if protocol is None:
        return {name: value for name, value in given.items() if name != "kind"}
    return _values(protocol, given)


def _values(protocol: type[Protocol], given: dict[str, Any]) -> dict[str, Any]:
    section = protocol_section(protocol).model_validate_json(json.dumps(given))
    set_here = section.model_fields_set - {"kind"}
    found = {name: getattr(section, name) for name in given if name in set_here}
    return {
        name: value.model_dump() if isinstance(value, FileSection) else value
        for name, value in found.items()
    }


def _size(given: str | int) -> int:
    try:
        return parse_size(given)
    except InputError as error:
        raise ValueError(str(error)) from error


class LimitsSection(FileSection):
    """``[limits]``: what a cell may cost.

    Attributes
    ----------
    seconds : float, optional
        A cell that takes longer is ended and called a timeout.
    memory : str or int, optional
        A cell that holds more, such as "4GiB", is ended and called failed.
    """

    seconds: Annotated[float, Field(gt=0)] | None = None
    memory: Annotated[str | int, AfterValidator(_size)] | None = None


class AcknowledgeSection(FileSection):
    """``[[audit.acknowledge]]``: a finding of an audit that may stand, with the reason.

    Attributes
    ----------
    code : str
        Which finding, such as PG101.
    reason : str
        Why it may stand.
    dataset, method, file : str
        Where it may stand; everywhere where nothing is said.
    """

    code: Annotated[str, Field(pattern=r"^PG\d{3}$")]
    reason: str
    dataset: str = ""
    method: str = ""
    file: str = ""

    @field_validator("reason")
    @classmethod
    def _said(cls, reason: str) -> str:
        if not reason.strip():
            raise ValueError("the reason is empty; say why the finding may stand")
        return reason


class AuditSection(FileSection):
    """``[audit]``: what is known of the findings of an audit; no part of any result.

    Attributes
    ----------
    acknowledge : list of tables
        Findings that may stand, each with its reason.
    """

    acknowledge: tuple[AcknowledgeSection, ...] = ()


class CompareSection(FileSection):
    """``[compare]``: how reports test and correct the differences over datasets; no part of any cell.

    Attributes
    ----------
    test : str, optional
        How differences over datasets are tested.
    correction : str, optional
        How p-values are adjusted over the family.
    margin : float, optional
        The largest difference that does not matter, in units of the metric.
    """

    test: str | None = None
    correction: str | None = None
    margin: Annotated[float, Field(gt=0)] | None = None


class Declaration(FileSection):
    """An experiment file: what is compared on which data, how it is split and scored.

    Attributes
    ----------
    name : str
        What the experiment is called, and its store where none is named.
    seed : int
        Every random thing of the experiment follows from it.
    isolation : {"cell", "worker", "none"}
        How far cells are kept apart: a process per cell, a process per worker, or none, for a
        debugger.
    data : table
        The datasets.
    split : table
        How every dataset is split.
    protocol : table
        What is done on a split, and how it is scored.
    methods : table
        What is compared, by name: an estimator's name alone, or a table.
    sections : list of str
        Sections of your own on the page, as ``module:function``.
    limits : table
        What a cell may cost.
    compare : table
        How differences over datasets are tested.
    audit : table
        Which findings of an audit may stand.
    """

    name: Annotated[str, Field(min_length=1)]
    seed: Annotated[int, Field(ge=0)] = 0
    isolation: Isolation = "cell"
    data: DataSection
    split: SplitPlan = SplitPlan()
    protocol: dict[str, Any] = Field(default_factory=dict)
    methods: Annotated[
        dict[str, Annotated[MethodSection, BeforeValidator(_by_name)]], Field(min_length=1)
    ]
    sections: tuple[str, ...] = ()
    limits: LimitsSection = LimitsSection()
    compare: CompareSection = CompareSection()
    audit: AuditSection = AuditSection()


def read_declaration(path: Path) -> tuple[Declaration, str]:
    """Read an experiment file and return it with its text.

    Parameters
    ----------
    path : Path
        A TOML file.

    Returns
    -------
    Declaration, str
        The checked content, and the text as it stands.
    """
    if path.is_dir():
        raise InputError(f"{path} is a folder: give an experiment file")
    try:
        # As bytes: the text is kept, and comes back by `paragone store reproduce`, with the line ends
        # that it has.
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError as error:
        raise InputError(f"no experiment file at {path}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    return parse_declaration(text, where=str(path)), text


def parse_declaration(text: str, *, where: str = "experiment") -> Declaration:
    r"""Check the text of an experiment file.

    Examples
    --------
    >>> parse_declaration('name = "x"\n[data]\nsets = ["iris"]\n[methods.A]\nusee = "random"\n')
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: experiment, line 5: unknown key 'methods.A.usee': did you mean
    'use'?
    """
    document = parse_toml(text, where)
    try:
        # By way of JSON, where a list may stand for a tuple and types are strict all the same.
        plain = json.dumps(document, default=str)
    except ValueError as error:
        raise InputError(f"{where} is not valid TOML: {error}") from error
    except RecursionError as error:
        raise InputError(f"{where} is not valid TOML: it is nested too deeply") from error
    try:
        declaration = Declaration.model_validate_json(plain)
    except ValidationError as error:
        raise _explained(error.errors(), text, document, where) from error
    try:
        check_protocol(declaration.protocol)
    except ValidationError as error:
        problems = [{**problem, "loc": ("protocol", *problem["loc"])} for problem in error.errors()]
        raise _explained(problems, text, document, where) from error
    except InputError as error:
        line = line_of(text, ["protocol", "kind"])
        raise InputError(
            f"{where if line is None else f'{where}, line {line}'}: 'protocol.kind': {error}"
        ) from error
    return declaration


def _explained(
    problems: Sequence[Any], text: str, document: dict[str, Any], where: str
) -> InputError:
    problem = max(
        problems, key=lambda found: (found["type"] == "extra_forbidden", len(found["loc"]))
    )
    path = _document_path(problem["loc"], document)
    line = line_of(text, [str(part) for part in path])
    place = where if line is None else f"{where}, line {line}"
    key = ".".join(str(part) for part in path)
    if problem["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        hint = str(unknown_name("key", str(path[-1]), _known_keys(path[:-1], document)))
        return InputError(f"{place}: {hint.replace(repr(path[-1]), repr(key), 1)}")
    if problem["type"] == "missing":
        return InputError(f"{place}: the key {key!r} is missing")
    message = problem["msg"].removeprefix("Value error, ")
    given = f", got {problem['input']!r}" if problem["type"] != "value_error" else ""
    return InputError(f"{place}: {key!r}: {message[0].lower()}{message[1:]}{given}")


def _document_path(loc: tuple[int | str, ...], document: Any) -> list[int | str]:
    """Keep of pydantic's location what stands in the document: it also names the branches of unions."""
    path: list[int | str] = []
    here = document
    for position, part in enumerate(loc):
        inside = (isinstance(here, dict) and part in here) or (
            isinstance(here, list) and isinstance(part, int) and part < len(here)
        )
        if inside:
            path.append(part)
            here = here[part]
        elif position == len(loc) - 1 and isinstance(here, dict) and str(part).isidentifier():
            path.append(part)
    return path


def _known_keys(path: list[int | str], document: dict[str, Any]) -> list[str]:
    """List the keys that a table may have."""
    sections: dict[tuple[int | str, ...], Any] = {
        (): Declaration,
        ("data",): DataSection,
        ("split",): SplitPlan,
        ("limits",): LimitsSection,
        ("audit",): AuditSection,
        ("compare",): CompareSection,
    }
    if path[:1] == ["protocol"]:
        return _keys_inside(_protocol_class(document["protocol"]), path[1:])
    section = sections.get(tuple(path))
    if section is None:
        by_table: dict[str, Any] = {"data": SetSection, "audit": AcknowledgeSection}
        section = by_table.get(str(path[0]), TuneSection if path[-1] == "tune" else MethodSection)
    fields = getattr(section, "model_fields", None) or section.__dataclass_fields__
    return list(fields)


def _keys_inside(protocol: type[Protocol] | None, path: list[int | str]) -> list[str]:
    """List the keys of a protocol's table, or of a table in it."""
    if protocol is None:
        return []
    fields = protocol_section(protocol).model_fields
    if not path:
        return list(fields)
    inner = next((one for one in _classes_in(fields[str(path[0])].annotation)), None)
    return list(getattr(inner, "model_fields", None) or getattr(inner, "__dataclass_fields__", {}))


def _classes_in(hint: Any) -> Iterator[type]:
    """Find the tables in a type such as ``tuple[Criterion, ...] | None``."""
    if isinstance(hint, type) and (dataclasses.is_dataclass(hint) or issubclass(hint, FileSection)):
        yield hint
    for inner in get_args(hint):
        yield from _classes_in(inner)


def declared_protocol(given: dict[str, Any], folder: Path) -> Protocol:
    """Make the protocol of its table; file names in it are relative to the experiment file's folder."""
    kind = given.get("kind", default_kind())
    protocol = protocols.get(kind)
    try:
        return protocol_of_section(protocol, _values(protocol, given), folder)
    except ValidationError as error:
        # Only the table of a user's own protocol comes here unchecked: its code was not to be
        # imported before.
        problem = error.errors()[0]
        where = ".".join(["protocol", *(str(part) for part in problem["loc"])])
        raise InputError(f"{where!r}: {problem['msg']}") from error


def loaded(given: str | Path | Dataset) -> list[Dataset]:
    """Load what an experiment was given in Python; a name may stand for several datasets.

    Examples
    --------
    >>> [dataset.name for dataset in loaded("wine-traits")]
    ['wine-traits']
    """
    if isinstance(given, Dataset):
        return [given]
    return (
        [load(given)]
        if isinstance(given, Path)
        else [load(reference) for reference in expand(given)]
    )


def load_entries(section: DataSection, folder: Path, *, as_tables: bool) -> list[Dataset]:
    """Load the datasets of a file, as tables where the protocol takes them."""
    return [
        dataset
        for entry in section.sets
        for dataset in load_entry(entry, folder, section, as_tables=as_tables)
    ]


def load_entry(
    entry: str | SetSection, folder: Path, section: DataSection, *, as_tables: bool
) -> list[Dataset]:
    """Load an entry of the file; a path with a star stands for everything that it matches, by name."""
    with messages_of("keys"):
        if as_tables and (
            isinstance(entry, str) or (entry.nominal is None and entry.reader is None)
        ):
            return _load_tables(entry, folder, section.roles(entry))
        options = section.options(entry)
        if not isinstance(entry, str):
            dataset = load(entry.path, base=folder, options=options)
            return [
                dataset if entry.replicates is None else with_replicates(dataset, entry.replicates)
            ]
        if "*" not in entry:
            return [
                load(reference, base=folder, options=options) for reference in expand(entry, folder)
            ]
        return [load(path, options=options) for path in _matching(entry, folder)]


def _load_tables(entry: str | SetSection, folder: Path, roles: Roles) -> list[Dataset]:
    if isinstance(entry, str):
        several = _matching(entry, folder) if "*" in entry else [entry]
        return [dataset for one in several for dataset in offered_datasets(one, roles, folder)]
    (dataset,) = offered_datasets(entry.path, roles, folder)
    dataset = dataset if entry.name is None else dataclasses.replace(dataset, name=entry.name)
    return [dataset if entry.replicates is None else with_replicates(dataset, entry.replicates)]


def _matching(pattern: str, folder: Path) -> list[Path]:
    found = sorted(folder.glob(pattern))
    if not found:
        raise InputError(f"nothing matches {pattern!r} in {folder}")
    return found
