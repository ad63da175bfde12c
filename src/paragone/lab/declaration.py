"""The declaration: an experiment's TOML file, checked section by section, and what it names."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError, field_validator

from paragone.data import Dataset, ReadOptions, SplitPlan, load
from paragone.data.dataset import with_replicates
from paragone.data.loading import expand
from paragone.errors import InputError, unknown_name
from paragone.lab.engine.resources import parse_size
from paragone.lab.engine.workers import Isolation
from paragone.methods.method import Method
from paragone.metrics.multilabel import ZeroDivision
from paragone.metrics.topk.evaluate import DEFAULT_K
from paragone.protocols import Crossval, Curve, Protocol, TopK
from paragone.protocols.crossval import Criterion, StoredFolds
from paragone.protocols.crossval.ledger import Weighting
from paragone.protocols.crossval.scores import Naming
from paragone.protocols.curve.protocol import DEFAULT_METRICS, KGrid, PGrid
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


class Section(BaseModel):
    """A table of the file: unknown keys and wrong types are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


@dataclass(frozen=True, kw_only=True)
class SetSection(ReadOptions):
    """A dataset that needs options to be read: ``{ path = "x.csv", target = ["y"], task = "regression" }``."""

    path: str
    # One name may stand without a list; the options make a tuple of it.
    target: str | tuple[str, ...] = ()  # type: ignore[assignment]
    replicates: Annotated[int, Field(ge=2)] | None = None

    def options(self) -> ReadOptions:
        """Return the options of the readers."""
        return ReadOptions(**{field.name: getattr(self, field.name) for field in fields(ReadOptions)})


class DataSection(Section):
    """``[data]``: the datasets."""

    sets: Annotated[tuple[str | SetSection, ...], Field(min_length=1)]


class EstimatorSection(Section):
    """An estimator: what to use and its parameters."""

    use: str
    params: dict[str, Any] = Field(default_factory=dict)


class TuneSection(Section):
    """``[methods.X.tune]``: choose parameters on inner splits of train."""

    grid: dict[str, Annotated[list[Any], Field(min_length=1)]] = Field(default_factory=dict)
    space: dict[str, dict[str, Any]] = Field(default_factory=dict)
    trials: Annotated[int, Field(ge=1)] = 20
    folds: Annotated[int, Field(ge=2)] = 3
    metric: str = "micro_f1"
    p: Annotated[float, Field(gt=0, le=1)] = 0.2
    evaluator: str | EstimatorSection = "mlknn"
    scale: Literal["minmax", "zscore", "none"] = "minmax"


class MethodSection(EstimatorSection):
    """``[methods.X]``: an estimator, how often it is repeated, how it is tuned, and its variants."""

    seeds: Annotated[int, Field(ge=1)] = 1
    tune: TuneSection | None = None
    grid: dict[str, Any] = Field(default_factory=dict)
    steps: list[Any] = Field(default_factory=list)
    log: str | None = None

    def declared(self) -> dict[str, Any]:
        """Return the method as protocols declare it: the estimator with its variants, or the tuner around it."""
        estimator = {"use": self.use, "params": self.params}
        if self.tune is None:
            variants = {"grid": self.grid, "steps": self.steps, "log": self.log}
            return {**estimator, **{key: value for key, value in variants.items() if value}}
        tuned = {"use": "tuned", "params": {"ranker": estimator, **self.tune.model_dump(exclude_defaults=True)}}
        return {**tuned, **({} if self.log is None else {"log": self.log})}


class ProtocolSection(Section):
    """``[protocol]``: how a method is scored."""

    kind: Literal["curve"] = "curve"
    k: KGrid | None = None
    p: PGrid | None = None
    evaluator: str | EstimatorSection = "mlknn"
    metrics: Annotated[tuple[str, ...], Field(min_length=1)] = DEFAULT_METRICS
    zero_division: ZeroDivision = 0
    keep_predictions: bool = True


class CrossvalSection(Section):
    """``[protocol]`` of kind ``crossval``."""

    kind: Literal["crossval"]
    metric: str | None = None
    select: Annotated[tuple[Criterion, ...], Field(min_length=1)] = (Criterion(),)
    test: float | str | None = None
    repeats: Annotated[int, Field(ge=1)] = 1
    stored: str | None = None
    targets: Literal["separate", "joint"] = "separate"
    aggregate: Literal["mean"] | None = None
    naming: Naming = "nirs"
    weighting: Weighting = "compat"
    ddof: Literal[0, 1] = 0
    task: Literal["regression", "classification"] | None = None
    share: bool = True


class TopKSection(Section):
    """``[protocol]`` of kind ``topk``."""

    kind: Literal["topk"]
    k: Annotated[tuple[int, ...], Field(min_length=1)] = DEFAULT_K
    metrics: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    ties: str | None = None
    preset: str | None = None
    idcg: str = "min"
    empty: str | None = None
    validation: str | float = "file"
    floors: bool = True


SECTIONS: dict[str, type[Section]] = {"curve": ProtocolSection, "crossval": CrossvalSection, "topk": TopKSection}


def _protocol_kind(given: Any) -> str:
    """Tell which protocol's table this is; the curve's, where it does not say, or says something unknown."""
    kind = given.get("kind") if isinstance(given, dict) else getattr(given, "kind", None)
    return kind if kind in SECTIONS else "curve"


AnyProtocol = Annotated[
    Annotated[ProtocolSection, Tag("curve")]
    | Annotated[CrossvalSection, Tag("crossval")]
    | Annotated[TopKSection, Tag("topk")],
    Discriminator(_protocol_kind),
]


def _size(given: str | int) -> int:
    try:
        return parse_size(given)
    except InputError as error:
        raise ValueError(str(error)) from error


class LimitsSection(Section):
    """``[limits]``: what a cell may cost."""

    seconds: Annotated[float, Field(gt=0)] | None = None
    memory: Annotated[str | int, AfterValidator(_size)] | None = None


class AcknowledgeSection(Section):
    """``[[audit.acknowledge]]``: a finding of an audit that may stand, with the reason."""

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


class AuditSection(Section):
    """``[audit]``: what is known of the findings of an audit; no part of any result."""

    acknowledge: tuple[AcknowledgeSection, ...] = ()


class Declaration(Section):
    """The whole file."""

    name: Annotated[str, Field(min_length=1)]
    seed: Annotated[int, Field(ge=0)] = 0
    isolation: Isolation = "cell"
    data: DataSection
    split: SplitPlan = SplitPlan()
    protocol: AnyProtocol = ProtocolSection()
    methods: Annotated[dict[str, MethodSection], Field(min_length=1)]
    limits: LimitsSection = LimitsSection()
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
        # As bytes: the text is kept, and comes back by `paragone reproduce`, with the line ends that it has.
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
    paragone.errors.InputError: experiment, line 5: unknown key 'methods.A.usee': did you mean 'use'?
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
        return Declaration.model_validate_json(plain)
    except ValidationError as error:
        raise _explained(error, text, document, where) from error


def _explained(error: ValidationError, text: str, document: dict[str, Any], where: str) -> InputError:
    problem = max(error.errors(), key=lambda found: (found["type"] == "extra_forbidden", len(found["loc"])))
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
        ("protocol",): SECTIONS[_protocol_kind(document.get("protocol", {}))],
        ("protocol", "k"): KGrid,
        ("protocol", "p"): PGrid,
        ("protocol", "evaluator"): EstimatorSection,
        ("limits",): LimitsSection,
        ("audit",): AuditSection,
    }
    section = sections.get(tuple(path))
    if section is None:
        by_table: dict[str, Any] = {"data": SetSection, "protocol": Criterion, "audit": AcknowledgeSection}
        section = by_table.get(str(path[0]), TuneSection if path[-1] == "tune" else MethodSection)
    fields = getattr(section, "model_fields", None) or section.__dataclass_fields__
    return list(fields)


def declared_protocol(section: ProtocolSection | CrossvalSection | TopKSection, folder: Path) -> Protocol:
    """Make the protocol of its section; file names in it are relative to the experiment file's folder."""
    if isinstance(section, CrossvalSection):
        return _crossval(section, folder)
    if isinstance(section, TopKSection):
        return TopK(**section.model_dump(exclude={"kind"}))
    evaluator = section.evaluator if isinstance(section.evaluator, str) else section.evaluator.model_dump()
    return Curve(
        section.k,
        section.p,
        Method.declare(evaluator, kind="evaluator"),
        section.metrics,
        section.zero_division,
        section.keep_predictions,
    )


def _crossval(section: CrossvalSection, folder: Path) -> Crossval:
    return Crossval(
        metric=section.metric,
        select=section.select,
        test=section.test,
        repeats=section.repeats,
        folds=None if section.stored is None else StoredFolds.read(folder / section.stored),
        targets=section.targets,
        aggregate=section.aggregate,
        naming=section.naming,
        weighting=section.weighting,
        ddof=section.ddof,
        task=section.task,
        share=section.share,
    )


def loaded(given: str | Path | Dataset) -> list[Dataset]:
    """Load what an experiment was given in Python; a name may stand for several datasets.

    Examples
    --------
    >>> [dataset.name for dataset in loaded("wine-traits")]
    ['wine-traits']
    """
    if isinstance(given, Dataset):
        return [given]
    return [load(given)] if isinstance(given, Path) else [load(reference) for reference in expand(given)]


def load_entry(entry: str | SetSection, folder: Path) -> list[Dataset]:
    """Load an entry of the file; a path with a star stands for everything that it matches, by name."""
    if not isinstance(entry, str):
        dataset = load(entry.path, base=folder, options=entry.options())
        return [dataset if entry.replicates is None else with_replicates(dataset, entry.replicates)]
    if "*" not in entry:
        return [load(reference, base=folder) for reference in expand(entry)]
    found = sorted(folder.glob(entry))
    if not found:
        raise InputError(f"nothing matches {entry!r} in {folder}")
    return [load(path) for path in found]
