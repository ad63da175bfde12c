"""The plan: every cell of an experiment with its key, its split and its seed, stage by stage."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
from scipy import sparse
from typing_extensions import override

from paragone.data import Dataset, Scale, Split, SplitPlan
from paragone.errors import InputError
from paragone.hashing import digest
from paragone.lab.arguments import PREDICTED, check_names, predicted_task
from paragone.lab.cells import Cell, Fitted, Parts, Place
from paragone.lab.protocol import Arrangement, Protocol, protocol_versions
from paragone.lab.store import Store, truth_key
from paragone.lab.store.queries import pack
from paragone.methods.method import Method
from paragone.sources import code_words, one_look
from paragone.stats.designs import Design, design_of

# Stands in the key of every cell: results whose seeds were derived in another way are not taken for
# these.
DERIVATION = "v2"
SEED_BITS = 31


def seed_part(seed: int, repeat: int, fold: int) -> str:
    """Return the seed's part of a cell's key: all that seeds follow from and that no other part holds.

    Examples
    --------
    >>> seed_part(seed=42, repeat=0, fold=3)
    'v2/42/0/3'
    """
    # One text for all cells of a fold, of which there may be many.
    return sys.intern(f"{DERIVATION}/{seed}/{repeat}/{fold}")


def seed_of(*parts: str) -> int:
    """Derive a seed from texts: the same everywhere, and different for different texts.

    Examples
    --------
    >>> seed_of("a", "b") == seed_of("a", "b") != seed_of("a", "c")
    True
    """
    return int(digest(list(parts))[:16], 16) % (1 << SEED_BITS)


@dataclass(frozen=True)
class CellSeeds:
    """The seeds of a cell: of its method, and of what all methods on its split share.

    Examples
    --------
    >>> CellSeeds(method=1, split=2).split
    2
    """

    method: int
    split: int

    @classmethod
    def of(cls, parts: Parts, targets: str) -> CellSeeds:
        """Derive the seeds of a cell from the experiment's seed, the repeat, the fold, the targets and the method.

        The features' values stay out, and so do row numbers and the scale: exported folds, whose
        features are scaled already and whose rows are numbered anew, and sparse features give the
        seeds of the data that they were made of.
        """
        return cls(seed_of(parts.seed, targets, parts.method), seed_of(parts.seed, targets))


def targets_digest(dataset: Dataset, split: Split) -> str:
    """Hash the task, the number of features and the targets of a split's parts: what exporting folds keeps.

    Examples
    --------
    >>> from paragone.data import load
    >>> iris, split = load("iris"), Split(0, np.arange(100), np.arange(100, 150))
    >>> sparse_iris = Dataset("thin", sparse.csr_array(iris.X), iris.y, iris.task)
    >>> targets_digest(iris, split) == targets_digest(sparse_iris, split)
    True
    """
    found = hashlib.sha256(f"{dataset.task} {dataset.n_features}".encode())
    for rows in (split.train, split.test, split.validation):
        for array in () if rows is None else _plain_arrays(dataset.y[rows]):
            found.update(f"{array.dtype.str}{array.shape}".encode())
            found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()


def _plain_arrays(targets: Any) -> tuple[Any, ...]:
    """Return arrays whose bytes are their values."""
    if sparse.issparse(targets):
        return (
            targets.data.astype("<i8"),
            targets.indices.astype("<i8"),
            targets.indptr.astype("<i8"),
        )
    if targets.dtype.kind in "OUST":
        # The buffer of an object array holds addresses; the length of fixed-width text depends on
        # the longest.
        return (
            np.frombuffer(repr([str(value) for value in targets.ravel()]).encode(), dtype="u1"),
        )
    return (targets.astype("<f8") if targets.dtype.kind == "f" else targets.astype("<i8"),)


@dataclass(frozen=True)
class SplitMethods(Method):
    """A method by dataset and fold; a cell is identified by the one of its own fold alone.

    Parameters
    ----------
    factory, params
        What stands where ``by_place`` has nothing.
    by_place : mapping of (str, int) to Method
        The method of a dataset's name and fold.

    Examples
    --------
    >>> from paragone.methods.rankers.imported import ImportedRanking
    >>> first = Method(ImportedRanking, {"ranking": [1, 0]})
    >>> method_at(SplitMethods(ImportedRanking, by_place={("wine", 0): first}), "wine", 0) is first
    True
    """

    by_place: Mapping[tuple[str, int], Method] = field(default_factory=dict)


def method_at(method: Method, dataset: str, fold: int) -> Method:
    """Return what a method is on a fold: itself, unless it is another one on every fold."""
    if isinstance(method, SplitMethods):
        return method.by_place.get((dataset, fold), method)
    return method


PART_LENGTH = 32


class PackedArrays(Mapping[str, bytes]):
    """Arrays by name, each packed when it is asked for: a run that goes on asks for none.

    Examples
    --------
    >>> from paragone.lab.store.queries import unpack
    >>> unpack(PackedArrays({"a": lambda: {"y": np.arange(2)}})["a"])
    {'y': array([0, 1])}
    """

    def __init__(self, arrays: Mapping[str, Callable[[], Mapping[str, Any]]]) -> None:
        self._arrays = arrays

    @override
    def __getitem__(self, name: str) -> bytes:
        return pack(self._arrays[name]())

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    @override
    def __len__(self) -> int:
        return len(self._arrays)


@dataclass(frozen=True, eq=False)
class Layout:
    """An experiment worked out: what every cell refers to by name.

    ``is_extended`` says that the cells of later stages are among these. ``code`` holds, by the
    cells' version part, the files and packages that it is the hash of.
    """

    arrangements: Mapping[str, Arrangement]
    cells: tuple[Cell, ...]
    notes: tuple[str, ...]
    protocol: Protocol
    identities: Mapping[str, _Identity]
    scales: Mapping[str, Scale]
    seed: int
    code: Mapping[str, Mapping[str, str]]
    is_extended: bool = False

    def scale(self, cell: Cell) -> Scale:
        """Return how the features of a cell's dataset are scaled."""
        return self.scales[cell.dataset]

    @property
    def datasets(self) -> dict[str, Dataset]:
        """The datasets by their names."""
        return {name: arrangement.dataset for name, arrangement in self.arrangements.items()}

    def split(self, cell: Cell) -> Split:
        """Return the split of a cell."""
        return self.arrangements[cell.dataset].splits[cell.fold]

    def seeds(self, cell: Cell) -> CellSeeds:
        """Return the seeds of a cell."""
        place = cell.dataset, cell.fold
        if place not in self._targets:
            self._targets[place] = targets_digest(
                self.arrangements[cell.dataset].dataset, self.split(cell)
            )
        return CellSeeds.of(cell.parts, self._targets[place])

    @cached_property
    def _targets(self) -> dict[tuple[str, int], str]:
        """Hashes of targets by dataset and fold, made when they are first asked for: the methods share them."""
        return {}

    def later_cells(self, methods: Mapping[str, Method]) -> int:
        """Return how many cells later stages may have that are not among these yet."""
        if self.is_extended:
            return 0
        return sum(
            min(len(methods), arrangement.most_later) for arrangement in self.arrangements.values()
        )

    def with_places(self, places: Sequence[Place]) -> Layout:
        """Return the layout with the cells of a later stage after its own."""
        return replace(
            self,
            cells=self.cells + tuple(self._cell_at(place) for place in places),
            is_extended=True,
        )

    def _cell_at(self, place: Place) -> Cell:
        dataset, position, method, repeat = place
        arrangement = self.arrangements[dataset]
        cell = _cell(
            arrangement.dataset,
            arrangement.splits[position],
            self.scales[dataset],
            method,
            self.identities[method],
            self.protocol,
            self.seed,
            repeat,
        )
        return replace(cell, fold=position, protocol=self.protocol.facts.later_kind)

    @property
    def designs(self) -> dict[str, Design | None]:
        """How the splits of every dataset are made up: folds, repeats, and test rows per train row."""
        return {name: _design(arrangement) for name, arrangement in self.arrangements.items()}

    def split_rows(self) -> dict[str, tuple[Any, Any]]:
        """Return the row numbers of every split by the cells' split part."""
        return {
            cell.parts.split: (self.split(cell).train, self.split(cell).test) for cell in self.cells
        }

    def truths(self) -> Mapping[str, bytes]:
        """Return the packed targets of every split's test rows, packed when somebody asks for them."""
        arrays: dict[str, Callable[[], Mapping[str, Any]]] = {}
        for cell in self.cells:
            key = truth_key(cell.parts)
            if key not in arrays:
                arrangement = self.arrangements[cell.dataset]
                arrays[key] = partial(arrangement.kept_split, self.split(cell))
                if cell.parts.data not in arrays and arrangement.kept_data():
                    arrays[cell.parts.data] = arrangement.kept_data
        return PackedArrays(arrays)

    @property
    def grouped(self) -> list[str]:
        """The datasets some of whose rows belong together."""
        return [name for name, one in self.arrangements.items() if one.dataset.groups is not None]

    @property
    def has_later_stage(self) -> bool:
        """Whether the protocol may name more cells once these have a result."""
        return any(arrangement.later for arrangement in self.arrangements.values())

    def described(self) -> dict[str, dict[str, Any]]:
        """Return what is kept of every dataset by the cells' data part."""
        return {d.fingerprint[:PART_LENGTH]: _described(d) for d in self.datasets.values()}


def _design(arrangement: Arrangement) -> Design | None:
    """Return how a dataset is split, and whether a split tears its groups, as a splitter that ignores them does."""
    found, groups = design_of(arrangement.first), arrangement.dataset.groups
    if found is None or groups is None:
        return found
    torn = any(
        np.isin(groups[split.test], groups[split.train]).any() for split in arrangement.first
    )
    return replace(found, torn_groups=bool(torn))


@one_look()
def lay_out(
    datasets: Sequence[Dataset],
    plan: SplitPlan,
    methods: Mapping[str, Method],
    protocol: Protocol,
    seed: int,
    repeats: Mapping[str, int],
) -> Layout:
    """Work out every cell of an experiment, dataset by dataset, fold by fold, method by method.

    Parameters
    ----------
    datasets : sequence of Dataset
        With names of their own.
    plan : SplitPlan
        How to split and scale.
    methods : mapping of str to Method
        The methods by name.
    protocol : Protocol
        How to score.
    seed : int
        The experiment's seed.
    repeats : mapping of str to int
        How many seeds a method is repeated over; one where it is not named.

    Returns
    -------
    Layout
        The cells in order of work, with the datasets, the splits and notes for the user.
    """
    names = [dataset.name for dataset in datasets]
    check_names("dataset", names)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two datasets are called {twice!r}: give one of them another name")
    notes: list[str] = []
    arrangements: dict[str, Arrangement] = {}
    for dataset in datasets:
        notes += [f"{dataset.name}: {note}" for note in dataset.notes]
        for name, method in methods.items():
            if protocol.facts.predicts_target:
                _check_predictor(name, method, dataset)
        for arrangement in protocol.tasks(dataset, plan, seed):
            if arrangement.dataset.name in arrangements:
                raise InputError(
                    f"two datasets are called {arrangement.dataset.name!r}: rename one of them"
                )
            arrangements[arrangement.dataset.name] = arrangement
            notes += arrangement.notes
    scales = {
        name: plan.scale_of(arrangement.dataset) for name, arrangement in arrangements.items()
    }
    identities = {name: _identity(method, protocol) for name, method in methods.items()}
    code = {identity.version: identity.code for identity in identities.values()}

    def identity_at(name: str, arrangement: Arrangement, fold: int) -> _Identity:
        method = arrangement.method(method_at(methods[name], arrangement.dataset.name, fold))
        if method is methods[name]:
            return identities[name]
        identity = _identity(method, protocol)
        code[identity.version] = identity.code
        return identity

    cells = tuple(
        _cell(
            arrangement.dataset,
            split,
            scales[arrangement.dataset.name],
            name,
            identity_at(name, arrangement, split.fold),
            protocol,
            seed,
            repeat,
        )
        for arrangement in arrangements.values()
        for split in arrangement.first
        for name in methods
        for repeat in range(repeats.get(name, 1))
    )
    return Layout(arrangements, cells, tuple(notes), protocol, identities, scales, seed, code)


def _check_predictor(name: str, method: Method, dataset: Dataset) -> None:
    """Refuse a regressor for classes and a classifier for numbers."""
    found = predicted_task(method)
    if found is not None and dataset.task in PREDICTED and found != dataset.task:
        what = "classifier" if found == "classification" else "regressor"
        raise InputError(
            f"method {name!r} is a {what}, dataset {dataset.name!r} is for {dataset.task}"
        )


@dataclass(frozen=True)
class _Identity:
    method: str
    fit_version: str
    version: str
    protocol: str
    code: Mapping[str, str]


def _identity(method: Method, protocol: Protocol) -> _Identity:
    own, around = method.versions(), {**code_words([type(protocol)]), **protocol_versions(protocol)}
    return _Identity(
        method.identity()[:PART_LENGTH],
        digest(own)[:PART_LENGTH],
        digest([own, around])[:PART_LENGTH],
        protocol.identity()[:PART_LENGTH],
        {**around, **own},
    )


@lru_cache(maxsize=1024)
def _split_part(split: str, scale: str) -> str:
    """Return the part of a split; the cells of all methods on it ask for it one after the other."""
    return digest([split, scale])[:PART_LENGTH]


def _cell(
    dataset: Dataset,
    split: Split,
    scale: str,
    method: str,
    identity: _Identity,
    protocol: Protocol,
    seed: int,
    repeat: int,
) -> Cell:
    parts = Parts(
        data=sys.intern(dataset.fingerprint[:PART_LENGTH]),
        split=_split_part(split.fingerprint, scale),
        method=identity.method,
        protocol=identity.protocol,
        version=identity.version,
        seed=seed_part(seed, repeat, split.fold),
    )
    fit_key = parts.fit_key(identity.fit_version)
    return Cell(dataset.name, split.fold, method, protocol.kind, parts, fit_key, repeat)


def _described(dataset: Dataset) -> dict[str, Any]:
    return {
        "name": dataset.name,
        "task": dataset.task,
        "n_samples": dataset.n_samples,
        "n_features": dataset.n_features,
        "feature_names": list(dataset.feature_names),
        "target_names": list(dataset.target_names),
        "notes": list(dataset.notes),
    }


def extended(layout: Layout, methods: Mapping[str, Method], store: Store) -> Layout:
    """Return the layout with the cells of the next stage, where the store has all results of the first.

    Parameters
    ----------
    layout : Layout
        The first stage.
    methods : mapping of str to Method
        The methods by name.
    store : Store
        Where results are.

    Returns
    -------
    Layout
        The same one where results are missing, or where the protocol has one stage.
    """
    if not layout.has_later_stage:
        return layout
    statuses = store.statuses(cell.key for cell in layout.cells)
    if any(cell.key not in statuses for cell in layout.cells):
        return layout
    cells = {cell.place: cell for cell in layout.cells}

    def fitted(place: Place) -> Fitted | None:
        cell = cells[place]
        return store.fitted(cell.fit_key) if statuses[cell.key] == "done" else None

    places = layout.protocol.next(tuple(layout.arrangements.values()), methods, fitted)
    return layout.with_places(places)
