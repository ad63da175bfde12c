"""Protocol: how a method is run on a split and what follows; the registry of protocols."""

from __future__ import annotations

import pkgutil
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from paragone.cores import cpu_clock
from paragone.data import Dataset, Scale, Split, SplitPlan, Task, make_splits
from paragone.errors import InputError
from paragone.hashing import digest
from paragone.lab.cells import CellScores, Fitted, Place, Score, SplitData
from paragone.methods.method import Method
from paragone.metrics import described_functions, named_metric
from paragone.page import Cover, Section
from paragone.registry import Registry
from paragone.validation import IntArray

# The folder inside the scratch folder of a fit whose files are kept beside the store.
KEPT = "kept"
PACKAGE = "paragone.protocols"


@dataclass(frozen=True, eq=False)
class Arrangement:
    """A dataset made ready for a protocol: its splits, what to tell the user, and what the store keeps of them.

    Parameters
    ----------
    dataset : Dataset
        With a name of its own in the experiment.
    splits : tuple of Split
        Numbered from 0; a cell's fold is the place here.
    later : int
        How many of the last splits belong to later stages: their cells are named by
        `Protocol.next`.
    notes : tuple of str
        For the user, before the run.
    origin : str
        The name of the declared dataset, where a protocol makes several of it.
    most_later : int
        How many cells `Protocol.next` names at most.

    Examples
    --------
    >>> from paragone.data import SplitPlan, load, make_splits
    >>> iris = load("iris")
    >>> len(Arrangement(iris, make_splits(iris, SplitPlan(folds=3), seed=0)).first)
    3
    """

    dataset: Dataset
    splits: tuple[Split, ...]
    later: int = 0
    notes: tuple[str, ...] = ()
    origin: str = ""
    most_later: int = 0

    @property
    def first(self) -> tuple[Split, ...]:
        """The splits of the first stage."""
        return self.splits[: len(self.splits) - self.later]

    def method(self, method: Method) -> Method:
        """Return a method as it is run on this dataset: with what the dataset's columns ask for before it."""
        return method

    def kept_data(self) -> dict[str, NDArray[Any]]:
        """Return arrays of the dataset that results need beside the predictions: which rows belong together."""
        return {} if self.dataset.groups is None else {"groups": self.dataset.groups}

    def kept_split(self, split: Split) -> dict[str, NDArray[Any]]:
        """Return arrays of a split that results need: the targets of the test rows."""
        y = self.dataset.y[split.test]
        return {"y": np.asarray(y.tolist()) if y.dtype == object else y}

    @classmethod
    def split_of(
        cls, fold: int, train: IntArray, test: IntArray, kept: Mapping[str, NDArray[Any]]
    ) -> Split:
        """Make a split of its rows and of what `kept_split` kept of it; ValueError where that makes none."""
        return Split(fold, train, test, validation=kept.get("validation"))

    @classmethod
    def datasets_of(
        cls, dataset: Dataset, options: Mapping[str, Any], seed: int
    ) -> Iterator[tuple[Dataset, str]]:
        """Yield what cells call by name of a declared dataset, and its own name where that is another.

        Nothing is split and nothing run: an audit asks with the checked options of an experiment
        file, which are not to have code imported.
        """
        yield dataset, ""


@dataclass(frozen=True, eq=False)
class RowAnswers:
    """What a cell says of its test rows one by one, and what it learnt without them: what an audit compares.

    Parameters
    ----------
    predicted : ndarray, optional
        One row per test row, in the shape of the target: classes, numbers, or a share per label.
    scores : ndarray, optional
        Probabilities or decision values, one row per test row and one column per class or label.
    classes : ndarray, optional
        What the columns of the scores stand for, where the target is a class.
    lists : ndarray of int, optional
        One list of items per test row, best first; -1 after its end.
    learnt : mapping of str to ndarray
        What follows from train alone, such as a ranking of the features.

    Examples
    --------
    >>> RowAnswers(np.array([1, 0])).of_rows()
    {'predicted': array([1, 0])}
    """

    predicted: NDArray[Any] | None = None
    scores: NDArray[Any] | None = None
    classes: NDArray[Any] | None = None
    lists: NDArray[Any] | None = None
    learnt: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def of_rows(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that have a row per test row."""
        named = {"predicted": self.predicted, "scores": self.scores, "lists": self.lists}
        return {name: array for name, array in named.items() if array is not None}


class Protocol(ABC):
    """How a method is run on a split, what is kept of it, and how that is scored and told.

    A protocol is a frozen dataclass whose fields are its section of the experiment file. It must
    have a ``kind`` and `fit`; `tasks`, `scores`, `next` and `sections` have defaults, and running,
    resuming, scores, comparison, report, live view and audit follow. What `fit` gives must not
    depend on anything that only `scores` uses: changed metrics then reuse it.

    Examples
    --------
    >>> from paragone.protocols import Predict
    >>> protocol = Predict(metrics=("accuracy",))
    >>> isinstance(protocol, Protocol), list(protocol.described()["metrics"])
    (True, ['accuracy'])
    """

    kind: ClassVar[str]

    def tasks(self, dataset: Dataset, plan: SplitPlan, seed: int) -> tuple[Arrangement, ...]:
        """Check a dataset and split it; refuse what cannot be worked with, and tell the user what he should know."""
        return (self.arrangement(dataset, make_splits(dataset, plan, seed)),)

    @abstractmethod
    def fit(self, estimator: Any, data: SplitData) -> Fitted | Mapping[str, NDArray[Any]]:
        """Run the method on the training part and return the arrays to keep; ``data.context`` says more of the cell."""

    def scores(self, fitted: Fitted, data: SplitData) -> Iterable[Score] | CellScores:
        """Score what a fit gave; by default by every metric of the task, where it predicted the test rows.

        The arrays ``predicted`` and, for classes, ``probabilities`` with their ``classes`` are then
        looked at.
        """
        from paragone.metrics import find_metrics, metric_names, metric_values

        if "predicted" not in fitted.arrays:
            raise InputError(
                f"protocol {self.kind!r} keeps no predictions: it must say how it is scored, in"
                " scores()"
            )
        named = find_metrics(getattr(self, "metrics", ()) or metric_names(data.task), data.task)
        # A method without probabilities is scored by the metrics that do without.
        unknown = () if "probabilities" in fitted.arrays else ("probabilities", "scores")
        wanted = [metric for metric in named if metric.needs not in unknown]
        values = metric_values(
            wanted,
            data.task,
            data.y_test,
            fitted.arrays["predicted"],
            probabilities=fitted.arrays.get("probabilities"),
            classes=fitted.arrays.get("classes"),
        )
        return [Score(name, float(value)) for name, value in values.items()]

    def next(
        self,
        arrangements: Sequence[Arrangement],
        methods: Mapping[str, Method],
        fitted: Callable[[Place], Fitted | None],
    ) -> list[Place]:
        """Name the cells of the next stage, given all results of the first; None for a cell that failed."""
        return []

    def sections(self, view: Any) -> Iterable[Section | Cover]:
        """Return what the page of an experiment has of its own, given its `View`.

        A section with the name of a common one stands in its place: ``verdict``, ``answer``,
        ``charts``, ``datasets``, ``methods``, ``failures``, ``how``. Others come before the
        failures. A `Cover` says what the page is about.
        """
        page = part_of(self.kind, "page")
        return () if page is None else page.sections(view)

    # Facts that a protocol states.

    arrangement: ClassVar[type[Arrangement]] = Arrangement
    """What its datasets are made into: a class of its own where the store is to keep more of them than test targets."""
    file_options: ClassVar[Mapping[str, Any]] = {}
    """Types of keys of the experiment file that are not those of the fields; None for a field that no key sets."""
    aliases: ClassVar[Mapping[str, str]] = {}
    """The short names that methods and steps have under this protocol alone, with ``module:name``."""
    array_task: ClassVar[Task | None] = None
    """What the target of bare arrays means; where methods predict the target itself, they and ``task`` say it."""
    predicts_target: ClassVar[bool] = False
    """Whether methods predict the target itself: a classifier of numbers is then refused before anything runs."""
    later_kind: ClassVar[str] = ""
    default_scale: ClassVar[Scale | None] = None
    repeats_methods: ClassVar[bool] = True
    takes_tables: ClassVar[bool] = False
    """Whether methods are given features as the dataset holds them, tables and sparse matrices included."""
    scores_answers: ClassVar[bool] = True
    """Whether `scores` needs what fits keep, the truth and metrics by name, so that a store alone can show it right."""
    compares_all: ClassVar[bool] = False
    """Whether pages compare all pairs of the methods without a failure, unless a reader asks for a reference."""
    keeps_progress: ClassVar[bool] = False
    shares_work: ClassVar[bool] = False
    """Whether cells may share work, so that the first of them bears its cost: no method's own cost is known then."""
    own_comparison: ClassVar[str] = ""
    """How pages compare methods, where it is not over datasets as ``[compare]`` says."""
    of_truth: ClassVar[frozenset[str]] = frozenset()
    """Arrays of a fit, or ``predictions``, that depend on the truth by definition: the canary leaves them out."""
    warm_ups: ClassVar[tuple[str, ...]] = ()
    """Functions, as ``module:function``, that load compiled code once for all cells; they must start no thread."""

    # What follows from the fields of the dataclass, unless a protocol says it in another way.

    def identity(self) -> str:
        """Return a hash of everything in the protocol that determines a score."""
        return digest([self.kind, _fields(self)])

    def described(self) -> dict[str, Any]:
        """Return what a report says about the protocol, as plain values."""
        own = type(self)
        ours = own.__module__.startswith(f"{PACKAGE}.")
        use = {} if ours else {"use": f"{own.__module__}:{own.__qualname__}"}
        # The store remembers which way a user's own metrics are better: whoever reads it does not
        # have their code.
        functions = described_functions(
            named_metric(str(name)) for name in getattr(self, "metrics", ())
        )
        return {"kind": self.kind, **use, **_fields(self), **functions}

    def versions(self) -> dict[str, str]:
        """Return the package versions that scores depend on: those of the estimators among the fields."""
        used = [value for value in _fields(self).values() if isinstance(value, Method)]
        return {name: version for method in used for name, version in method.versions().items()}

    @classmethod
    def from_section(cls, options: Mapping[str, Any], folder: Path) -> Self:
        """Make the protocol of its section in an experiment file; file names in it are relative to a folder."""
        return cls(**options)

    @classmethod
    def of_described(cls, described: Mapping[str, Any]) -> Self:
        """Make the protocol of what a store knows of it, to ask it for sections and scores; it is not run."""
        if cls.described is not Protocol.described or not is_dataclass(cls):
            return cls()
        known = {field.name for field in fields(cls) if field.init}
        return cls(**{name: value for name, value in described.items() if name in known})

    def declare(self, methods: Mapping[str, Any]) -> dict[str, Method]:
        """Make methods of what the user declared; a protocol may write out variants."""
        return {
            name: Method.declare(given, kind=f"method {name!r}") for name, given in methods.items()
        }

    def row_answers(
        self, fitted: Fitted, predictions: bytes | None, n_test: int
    ) -> RowAnswers | None:
        """Return what a cell says of its test rows; None where what it keeps does not tell.

        By default the arrays that `scores` looks at by default. An audit asks, to compare cells
        that were run on changed data.
        """
        kept = fitted.arrays
        if "predicted" not in kept:
            return None
        return RowAnswers(
            kept["predicted"], kept.get("probabilities", kept.get("decisions")), kept.get("classes")
        )

    def settings(
        self, methods: Mapping[str, Method], arrangements: Sequence[Arrangement]
    ) -> dict[str, Any]:
        """Return what results need to know of the protocol, as plain JSON values."""
        return {}


def _fields(protocol: Protocol) -> dict[str, Any]:
    return (
        {one.name: getattr(protocol, one.name) for one in fields(protocol)}
        if is_dataclass(protocol)
        else {}
    )


def fit_in(protocol: Protocol, data: SplitData) -> Fitted:
    """Build the method of a cell, fit it as the protocol does, and take the time; ``data.context`` says which cell."""
    assert data.context is not None
    estimator = data.context.method.build(data.context.seed)
    begun, cpu_begun = time.perf_counter(), cpu_clock()
    given = protocol.fit(estimator, data)
    fitted = given if isinstance(given, Fitted) else Fitted(dict(given))
    # A protocol that took the time of the fit alone knows better.
    if fitted.seconds:
        return fitted
    return replace(fitted, seconds=time.perf_counter() - begun, cpu_seconds=cpu_clock() - cpu_begun)


def score_in(protocol: Protocol, fitted: Fitted, data: SplitData) -> CellScores:
    """Score what a fit gave, as the protocol does."""
    given = protocol.scores(fitted, data)
    return given if isinstance(given, CellScores) else CellScores(tuple(given))


class _Protocols(Registry[type[Protocol]]):
    """Protocols by kind. Ours are folders with the modules ``protocol``, ``reader`` and ``page``, or single modules."""

    def add(self, thing: type[Protocol], name: str | None = None) -> type[Protocol]:
        """Add a protocol under its kind; also a decorator."""
        return super().add(thing, name or thing.kind)

    def get(self, use: str) -> type[Protocol]:
        """Return the protocol of a kind or of ``module:name``."""
        # The others are left alone: importing them takes longer than a small report.
        if isinstance(use, str):
            part_of(use, "protocol")
        return super().get(use)

    def _complete(self) -> None:
        for kind in our_kinds():
            part_of(kind, "protocol")
        super()._complete()


def _checked(found: Any) -> type[Protocol]:
    if not (isinstance(found, type) and issubclass(found, Protocol)):
        raise InputError(
            f"protocol: expected a class derived from paragone.protocols.Protocol, got {found!r}"
        )
    return found


protocols: _Protocols = _Protocols("protocol", "protocols", (PACKAGE,), _checked)


def part_of(kind: str, part: str) -> ModuleType | None:
    """Return a module of one of our own protocols, such as its ``page``; None where there is none.

    They are found by name, so that what a cell's result rests on does not take in how it is told.

    Examples
    --------
    >>> part_of("nothing", "page") is None
    True
    """
    if not kind.isidentifier() or find_spec(f"{PACKAGE}.{kind}") is None:
        return None
    module = f"{PACKAGE}.{kind}.{part}"
    whole = import_module(f"{PACKAGE}.{kind}")
    if not hasattr(whole, "__path__"):
        return whole if part == "protocol" else None
    return import_module(module) if find_spec(module) is not None else None


def exchanging_part(name: str = "files") -> Any:
    """Return a module of the protocol whose results other programs read and write as files of their own."""
    return next(part for kind in our_kinds() if (part := part_of(kind, name)) is not None)


def default_kind() -> str:
    """Return the kind of an experiment that names no protocol."""
    return str(import_module(PACKAGE).DEFAULT_KIND)


def our_kinds() -> list[str]:
    """Return the kinds of our own protocols, without importing any."""
    found = pkgutil.iter_modules(import_module(PACKAGE).__path__)
    return sorted(module.name for module in found)


def protocol_of(kind: str) -> type[Protocol] | None:
    """Return the protocol of a kind where its code is at hand: ours, installed, or imported already.

    A store's word alone never has anything imported.
    """
    part_of(kind, "protocol")
    found = next((one for one in _derived(Protocol) if one.__dict__.get("kind") == kind), None)
    return protocols.get(kind) if found is None and kind in protocols else found


def import_protocol(described: Mapping[str, Any], folder: Path) -> None:
    """Import the code of a user's own protocol that a store names: only with consent to run what it names.

    Parameters
    ----------
    described : mapping
        What the store knows of the protocol.
    folder : Path
        Where the module is looked for last, as beside an experiment file.
    """
    use = described.get("use")
    if isinstance(use, str) and protocol_of(str(described.get("kind"))) is None:
        if str(folder) not in sys.path:
            sys.path.append(str(folder))
        protocols.get(use)


def _derived(cls: Any) -> Iterator[type[Protocol]]:
    for one in cls.__subclasses__():
        yield one
        yield from _derived(one)
