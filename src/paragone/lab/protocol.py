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
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from paragone.cores import cpu_clock
from paragone.data import Dataset, Scale, Split, SplitPlan, Task, make_splits
from paragone.errors import InputError
from paragone.hashing import digest
from paragone.lab.cells import CellScores, Fitted, Place, Score, SplitData
from paragone.methods.method import Method
from paragone.metrics import (
    FUNCTIONS,
    declared_by_name,
    described_functions,
    is_at_hand,
    named_metric,
)
from paragone.page import Cover, Section
from paragone.registry import Registry, imported
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
        """Return arrays of the dataset that results need: which rows belong together."""
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


@dataclass(frozen=True)
class Facts:
    """What a protocol says of itself once, for all its cells.

    Parameters
    ----------
    arrangement : type of Arrangement
        What its datasets are made into: a class of its own where the store is to keep more of them
        than test targets.
    file_options : mapping
        Types of keys of the experiment file that are not those of the fields; None for a field that
        no key sets.
    files : mapping
        Keys of the experiment file that name a file beside it: which field is set, and what reads
        the file.
    aliases : mapping
        The short names that methods and steps have under this protocol alone, with ``module:name``.
    array_task : str, optional
        What the target of bare arrays means; where methods predict the target itself, they and
        ``task`` say it.
    predicts_target : bool
        Whether methods predict the target itself: a classifier of numbers is then refused before
        anything runs.
    later_kind : str
        What cells of later stages are called.
    default_scale : str, optional
        How features are scaled where nobody says it.
    repeats_methods : bool
        Whether a method may be repeated over seeds.
    takes_tables : bool
        Whether methods are given features as the dataset holds them, tables and sparse matrices
        included.
    scores_answers : bool
        Whether ``scores`` of its own needs what fits keep, the truth and metrics by name, so that a
        store alone can show it right.
    compares_all : bool
        Whether pages compare all pairs of the methods without a failure, unless a reader asks for a
        reference.
    keeps_progress : bool
        Whether a fit keeps its progress, so that it can go on.
    shares_work : bool
        Whether cells may share work, so that the first of them bears its cost: no method's own cost
        is known then.
    own_comparison : str
        How pages compare methods, where it is not over datasets as ``[compare]`` says.
    of_truth : frozenset of str
        Arrays of a fit, or ``predictions``, that depend on the truth by definition: the canary
        leaves them out.
    warm_ups : tuple of str
        Functions, as ``module:function``, that load compiled code once for all cells; they must
        start no thread.
    versions : mapping
        Packages that scores depend on beside those of the estimators among the fields.

    Examples
    --------
    >>> Facts(predicts_target=True, later_kind="refit").takes_tables
    False
    """

    arrangement: type[Arrangement] = Arrangement
    file_options: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, tuple[str, Callable[[Path], Any]]] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    array_task: Task | None = None
    predicts_target: bool = False
    later_kind: str = ""
    default_scale: Scale | None = None
    repeats_methods: bool = True
    takes_tables: bool = False
    scores_answers: bool = False
    compares_all: bool = False
    keeps_progress: bool = False
    shares_work: bool = False
    own_comparison: str = ""
    of_truth: frozenset[str] = frozenset()
    warm_ups: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)


class Protocol(ABC):
    """How a method is run on a split, what is kept of it, and how that is scored and told.

    A protocol is a frozen dataclass whose fields are its section of the experiment file. It must
    have a ``kind`` and `fit`; all else has a default, and running, resuming, scores, comparison,
    report, live view and audit follow. What `fit` gives must not depend on anything that only
    `scores` uses: changed metrics then reuse it.

    Attributes
    ----------
    kind : str
        Its name.
    facts : Facts
        What it says of itself.
    reader : str or type of ResultsReader
        What reads back what it alone keeps; as ``module:name``, so that what a cell's result rests
        on does not take in how it is shown.
    exports, imports : str
        Functions, as ``module:name``, that write its results as files for other programs, and that
        make results of such files.

    Examples
    --------
    >>> from paragone.protocols import Predict
    >>> protocol = Predict(metrics=("accuracy",))
    >>> isinstance(protocol, Protocol), list(protocol.described()["metrics"])
    (True, ['accuracy'])
    """

    kind: ClassVar[str]
    facts: ClassVar[Facts] = Facts()
    reader: ClassVar[Any] = "paragone.lab.view:ResultsReader"
    exports: ClassVar[str] = ""
    imports: ClassVar[str] = ""

    def tasks(self, dataset: Dataset, plan: SplitPlan, seed: int) -> tuple[Arrangement, ...]:
        """Check a dataset and split it; refuse what cannot be worked with, and tell the user what he should know."""
        return (self.facts.arrangement(dataset, make_splits(dataset, plan, seed)),)

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
        return ()

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
        names = list(map(str, getattr(self, "metrics", ())))
        functions = described_functions(named_metric(name) for name in names)
        if not ours and (added := declared_by_name()):
            functions = {FUNCTIONS: [*functions.get(FUNCTIONS, ()), *added]}
        return {"kind": self.kind, **use, **_fields(self), **functions}

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


def sections_of(use: str, view: Any) -> Iterable[Section | Cover]:
    """Return what a function, as ``module:name``, makes of a `View` for its page.

    By name, so that what a cell's result rests on does not take in how it is shown.
    """
    found: Iterable[Section | Cover] = imported(use, "page")(view)
    return found


def protocol_versions(protocol: Protocol) -> dict[str, str]:
    """Return the package versions that scores depend on: those of the estimators among the fields, and what it says."""
    used = [value for value in _fields(protocol).values() if isinstance(value, Method)]
    found = {name: version for method in used for name, version in method.versions().items()}
    return {**found, **protocol.facts.versions}


def protocol_of_section(kind: type[Protocol], options: Mapping[str, Any], folder: Path) -> Protocol:
    """Make a protocol of its section in an experiment file; file names in it are relative to a folder."""
    given = dict(options)
    for key, (name, read) in kind.facts.files.items():
        file = given.pop(key, None)
        if file is not None:
            given[name] = read(folder / file)
    return kind(**given)


def protocol_of_described(kind: type[Protocol], described: Mapping[str, Any]) -> Protocol:
    """Make the protocol of what a store knows of it, to ask it for sections and scores; it is not run."""
    if not is_dataclass(kind):
        return kind()
    known = {one.name: described[one.name] for one in fields(kind) if one.name in described}
    if "metrics" in known:
        # A metric that is code is not imported by a store's word.
        known["metrics"] = tuple(name for name in known["metrics"] if is_at_hand(str(name)))
    try:
        return kind(**known)
    except (InputError, TypeError, ValueError, AttributeError):
        # What it says of itself is not what it is made of.
        return kind()


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
    """Protocols by kind. Ours are folders with a module ``protocol``, or single modules."""

    def add(self, thing: type[Protocol], name: str | None = None) -> type[Protocol]:
        """Add a protocol under its kind; also a decorator."""
        return super().add(thing, name or thing.kind)

    def get(self, use: str) -> type[Protocol]:
        """Return the protocol of a kind or of ``module:name``."""
        if isinstance(use, str):
            _import_ours(use)
        return super().get(use)

    def _complete(self) -> None:
        for kind in our_kinds():
            _import_ours(kind)
        super()._complete()


def _checked(found: Any) -> type[Protocol]:
    if not (isinstance(found, type) and issubclass(found, Protocol)):
        raise InputError(
            f"protocol: expected a class derived from paragone.protocols.Protocol, got {found!r}"
        )
    return found


protocols: _Protocols = _Protocols("protocol", "protocols", (PACKAGE,), _checked)


def _import_ours(kind: str) -> None:
    """Import one of our own protocols, and no other: that takes longer than a small report."""
    if not kind.isidentifier() or find_spec(f"{PACKAGE}.{kind}") is None:
        return
    if hasattr(import_module(f"{PACKAGE}.{kind}"), "__path__"):
        import_module(f"{PACKAGE}.{kind}.protocol")


def exchange(kind: str, way: Literal["exports", "imports"]) -> Callable[..., Any]:
    """Return the function by which a protocol exchanges results with other programs; a sentence where it has none."""
    use = getattr(protocol_of(kind) or Protocol, way)
    if not use:
        raise InputError(
            f"results of protocol {kind!r} have no files of their own: `paragone scores STORE --out"
            " FILE.csv` writes its scores, `paragone store archive` all of it"
        )
    found: Callable[..., Any] = imported(use, way)
    return found


def default_kind() -> str:
    """Return the kind of an experiment that names no protocol."""
    return str(import_module(PACKAGE).DEFAULT_KIND)


def given_kind() -> str:
    """Return the kind of experiments that hold results from elsewhere."""
    return str(import_module(PACKAGE).GIVEN_KIND)


def our_kinds() -> list[str]:
    """Return the kinds of our own protocols, without importing any."""
    found = pkgutil.iter_modules(import_module(PACKAGE).__path__)
    return sorted(module.name for module in found)


def protocol_of(kind: str) -> type[Protocol] | None:
    """Return the protocol of a kind where its code is at hand: ours, installed, or imported already.

    A store's word alone never has anything imported.
    """
    _import_ours(kind)
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
