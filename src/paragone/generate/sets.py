"""Datasets made from formula and seed: the DIGEN sets, the evolved collections and their variants.

An experiment names such a dataset like any other: the readers at the end of this module are among
those of `paragone.data`. What was proven of a dataset is proven of the dataset as it is: nothing is
claimed of a variant, which has the same formula and cut and rows of its own, unless it was put to
proof itself.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache, partial
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.data import Dataset, Reader, ReadOptions, Task, add_reader
from paragone.errors import InputError, unknown_name
from paragone.generate.expressions import Expression
from paragone.reading import read_json
from paragone.validation import FloatArray, IntArray

_FOLDER = files("paragone.generate").joinpath("collections")


@dataclass(frozen=True)
class DigenEntry:
    """One set of the collection.

    Parameters
    ----------
    number, seed : int
        As in the published name, ``digen8_4426``.
    formula : str
        The published text.
    md5 : str
        The published hash of the text.
    x_hash, y_hash : str
        Hashes of the features (to six decimals) and of the labels.
    auroc : mapping of str to float
        The published AUROC of the eight reference methods on the test split.

    Examples
    --------
    >>> entry = find_digen("digen8")
    >>> entry.name, entry.seed, round(entry.auroc["XGBClassifier"], 2)
    ('digen8_4426', 4426, 0.99)
    """

    number: int
    seed: int
    formula: str
    md5: str
    x_hash: str
    y_hash: str
    auroc: Mapping[str, float]

    @property
    def name(self) -> str:
        """The published name."""
        return f"digen{self.number}_{self.seed}"

    def expression(self) -> Expression:
        """Return the formula, checked against its published hash."""
        return checked_formula(self.name, self.formula, self.md5)


@cache
def digen_entries() -> tuple[DigenEntry, ...]:
    """Return the 40 sets, by number.

    Examples
    --------
    >>> len(digen_entries())
    40
    >>> digen_entries()[7].name, digen_entries()[7].formula
    ('digen8_4426', 'safeDiv(X0, mul(X5, X2))')
    """
    table = csv.reader(_FOLDER.joinpath("digen.csv").read_text(encoding="utf-8").splitlines())
    methods = next(table)[6:]
    return tuple(
        DigenEntry(
            int(row[0]),
            int(row[1]),
            row[2],
            row[3],
            row[4],
            row[5],
            dict(zip(methods, map(float, row[6:]), strict=True)),
        )
        for row in table
    )


def find_digen(reference: str) -> DigenEntry:
    """Return a set by its number, its short or its published name.

    Examples
    --------
    >>> find_digen("8") is find_digen("digen8") is find_digen("digen8_4426")
    True
    """
    for entry in digen_entries():
        if reference in (str(entry.number), f"digen{entry.number}", entry.name):
            return entry
    raise unknown_name("DIGEN set", reference, [f"digen{e.number}" for e in digen_entries()])


SMALL_RANGE = 16


def legacy_argsort(values: FloatArray) -> IntArray:
    """Return the order of the values as NumPy's old quicksort gave it; NaN last.

    Examples
    --------
    >>> legacy_argsort(np.array([3.0, 1.0, 2.0]))
    array([1, 2, 0])
    """
    # Ranks stand for values where there are NaNs: all of them share the last rank.
    keys = _sortable(np.asarray(values, dtype=np.float64))
    order = list(range(len(keys)))
    waiting: list[tuple[int, int]] = []
    low, high = 0, len(keys) - 1
    while True:
        while high - low > SMALL_RANGE:
            cut = _partition(keys, order, low, high)
            if cut - low < high - cut:
                waiting.append((cut + 1, high))
                high = cut - 1
            else:
                waiting.append((low, cut - 1))
                low = cut + 1
        _insertion_sort(keys, order, low, high)
        if not waiting:
            return np.array(order, dtype=np.int64)
        low, high = waiting.pop()


def _sortable(values: FloatArray) -> list[float]:
    if np.isnan(values).any():
        values = np.unique(values, return_inverse=True)[1].astype(np.float64)
    return list(map(float, values))


def _partition(keys: list[float], order: list[int], low: int, high: int) -> int:
    middle = low + (high - low) // 2
    for a, b in ((middle, low), (high, middle), (middle, low)):
        if keys[order[a]] < keys[order[b]]:
            order[a], order[b] = order[b], order[a]
    pivot = keys[order[middle]]
    i, j = low, high - 1
    order[middle], order[j] = order[j], order[middle]
    while True:
        i += 1
        while keys[order[i]] < pivot:
            i += 1
        j -= 1
        while pivot < keys[order[j]]:
            j -= 1
        if i >= j:
            break
        order[i], order[j] = order[j], order[i]
    order[i], order[high - 1] = order[high - 1], order[i]
    return i


def _insertion_sort(keys: list[float], order: list[int], low: int, high: int) -> None:
    for i in range(low + 1, high + 1):
        entry = order[i]
        j = i
        while j > low and keys[entry] < keys[order[j - 1]]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = entry


@dataclass(frozen=True, eq=False)
class HalfCut:
    """Labels by the half rule.

    Parameters
    ----------
    labels : ndarray of uint8
        1 for the upper half of the values, else 0.
    n_tied : int
        Rows that share the value at the cut; 0 where the cut separates two values.
    noise : float
        The share of rows whose label an unstable sort decided against the larger part of the rows
        that they tie with. No classifier can learn these.
    ceiling : float
        The AUROC of the formula's own values: what the best classifier can reach on these labels.

    Examples
    --------
    >>> cut_in_half(np.array([0.3, 0.1, 0.9, 0.5])).ceiling
    1.0
    """

    labels: NDArray[np.uint8]
    n_tied: int
    noise: float
    ceiling: float


def cut_in_half(values: FloatArray) -> HalfCut:
    """Label the upper half 1; rows that tie at the cut fall as the published sort lets them.

    With an odd number of rows the upper half has one row more.

    Examples
    --------
    >>> cut_in_half(np.array([0.3, 0.1, 0.9, 0.5])).labels
    array([0, 0, 1, 1], dtype=uint8)
    >>> tied = cut_in_half(np.array([0.0, 0.0, 0.0, 1.0]))
    >>> tied.n_tied, tied.noise, tied.ceiling
    (3, 0.25, 0.75)
    """
    values = np.asarray(values, dtype=np.float64)
    half = len(values) // 2
    if half == 0:
        raise InputError("the half rule needs at least two rows")
    order = legacy_argsort(values)
    labels = np.zeros(len(values), dtype=np.uint8)
    labels[order[half:]] = 1
    below, above = values[order[half - 1]], values[order[half]]
    if below != above:
        return HalfCut(labels, 0, 0.0, 1.0)
    tied = values == above
    upper = int(labels[tied].sum())
    lower = int(tied.sum()) - upper
    # Pairs of a tied 1 and a tied 0 count half; all others are in the right order.
    lost = 0.5 * upper * lower / (half * (len(values) - half))
    return HalfCut(labels, upper + lower, min(upper, lower) / len(values), 1.0 - lost)


N_ROWS = 1000
N_FEATURES = 10
HASHED_DECIMALS = 6
"""Logarithms differ in the last bit from one system to another; to six decimals the features agree everywhere."""


def digen_features(seed: int) -> FloatArray:
    """Return the 1000 x 10 normal features of a seed, as the generator of that time drew them."""
    return np.random.RandomState(seed).normal(size=(N_ROWS, N_FEATURES))


def hash_features(X: FloatArray) -> str:
    """Hash features to six decimals.

    Examples
    --------
    >>> hash_features(np.zeros((1, 2))) == hash_features(np.full((1, 2), -1e-15))
    True
    """
    whole = np.rint(np.asarray(X) * 10**HASHED_DECIMALS).astype("<i8")
    return hashlib.sha256(repr(whole.shape).encode() + whole.tobytes()).hexdigest()[:16]


def hash_labels(y: NDArray[np.generic]) -> str:
    """Hash 0/1 labels."""
    return hashlib.sha256(np.asarray(y).astype(np.uint8).tobytes()).hexdigest()[:16]


def check_hashes(
    name: str, X: FloatArray, y: NDArray[Any], known: tuple[str, str], where: str = "made here"
) -> None:
    """Refuse rows other than those that the hashes are of: gaps count as 0, numbers to predict to six decimals."""
    is_number = y.dtype.kind == "f"
    found = {
        "features": hash_features(np.nan_to_num(X)),
        "numbers" if is_number else "labels": hash_target(y),
    }
    for (what, own), wanted in zip(found.items(), known, strict=True):
        if own != wanted:
            raise InputError(f"{name}: the {what} {where} have the hash {own}, not {wanted}")


def hash_target(y: Any) -> str:
    """Hash the target of a dataset: labels as they are, numbers to six decimals.

    Examples
    --------
    >>> hash_target(np.array([0, 1])) == hash_target(np.array([0.0, 1.0]))
    False
    """
    values = np.asarray(y)
    return hash_features(values[:, None]) if values.dtype.kind == "f" else hash_labels(values)


def checked_formula(name: str, formula: str, md5: str) -> Expression:
    """Read the formula of a dataset; one with another hash than is known of it is refused."""
    expression = Expression.parse(formula)
    if expression.md5 != md5:
        raise InputError(f"{name}: the formula was altered: its md5 is {expression.md5}, not {md5}")
    return expression


def _dataset(
    name: str, X: FloatArray, labels: NDArray[np.uint8], notes: tuple[str, ...] = ()
) -> Dataset:
    names = tuple(f"X{j}" for j in range(X.shape[1]))
    y = labels.astype(np.int64)
    return Dataset(
        name, X, y, "classification", feature_names=names, target_names=("target",), notes=notes
    )


def make_digen(entry: DigenEntry) -> Dataset:
    """Make a set from its formula and seed, and check formula, features and labels by their hashes.

    Examples
    --------
    >>> make_digen(find_digen("digen8"))
    Dataset 'digen8_4426': 1000 samples x 10 features, classification, 2 classes
    """
    X = digen_features(entry.seed)
    cut = cut_in_half(entry.expression().evaluate(X))
    notes = (
        (f"{cut.noise:.1%} of the labels were decided by the order of ties",) if cut.noise else ()
    )
    check_hashes(entry.name, X, cut.labels, (entry.x_hash, entry.y_hash))
    return _dataset(entry.name, X, cut.labels, notes)


_VARIANT_SEEDS = 4 << 48
"""Lies above the seeds of all other rows: those of a dataset, of races and of a proof."""
_OTHER_ROWS = 8
_MOST_BLOCKS = 200


@dataclass(frozen=True)
class DatasetVariant:
    """How a variant differs from its dataset.

    Parameters
    ----------
    name : str
        What stands behind the last colon of a reference.
    words : str
        What is different, in words.
    n_rows : int, optional
        Its rows; as many as the dataset has where it is not given.
    noise : float, default=0.0
        The share of labels that are drawn anew with the shares of the classes.
    positive : float, optional
        The exact share of class 1 among the rows; the population's where it is not given.

    Examples
    --------
    >>> VARIANTS["small"].n_rows
    200
    """

    name: str
    words: str
    n_rows: int | None = None
    noise: float = 0.0
    positive: float | None = None

    def seed(self, md5: str, seed: int) -> int:
        """Return the seed of the variant's own rows, which follows from the formula's hash and the dataset's seed."""
        read = hashlib.sha256(f"{self.name}\n{md5}\n{seed}".encode()).hexdigest()
        return _VARIANT_SEEDS + int(read[:12], 16)

    def note(self, dataset: str) -> str:
        """Say what it is and what is not claimed of it.

        Examples
        --------
        >>> VARIANTS["noisy"].note("paragone-v1-3").partition("; ")[0]
        'paragone-v1-3 with 10 % of the labels drawn anew'
        """
        return (
            f"{dataset} with {self.words}; claims are of {dataset} itself, and nothing is claimed"
            " of this variant unless it was put to proof"
        )


VARIANTS = {
    variant.name: variant
    for variant in (
        DatasetVariant("small", "200 rows", n_rows=200),
        DatasetVariant("balanced", "exactly half of the rows in each class", positive=0.5),
        DatasetVariant("imbalanced", "exactly one row in ten of class 1", positive=0.1),
        DatasetVariant("noisy", "10 % of the labels drawn anew", noise=0.1),
    )
}
"""By their names."""


def variant_named(name: str) -> DatasetVariant:
    """Return a variant by its name.

    Examples
    --------
    >>> variant_named("noisi")
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: unknown variant 'noisi': did you mean 'noisy'?
    """
    if name not in VARIANTS:
        raise unknown_name("variant", name, VARIANTS)
    return VARIANTS[name]


def split_variant(wanted: str) -> tuple[str, DatasetVariant | None]:
    """Return the dataset of a reference, and the variant that stands behind a colon.

    Examples
    --------
    >>> split_variant("3:small")[0], split_variant("3")
    ('3', ('3', None))
    """
    dataset, colon, name = wanted.partition(":")
    return (dataset, variant_named(name)) if colon else (wanted, None)


def draw_variant(
    formula: Expression,
    cut: tuple[float, bool],
    shape: tuple[int, int],
    variant: DatasetVariant,
    seed: np.random.SeedSequence,
) -> tuple[FloatArray, NDArray[np.uint8]]:
    """Draw standard normal rows and their labels as a variant has them.

    Parameters
    ----------
    formula : Expression
        What the labels follow from.
    cut : (float, bool)
        Labels are 1 above this value, and at it where that is included.
    shape : (int, int)
        Rows and columns.
    variant : DatasetVariant
        Noise and shares of the classes.
    seed : SeedSequence
        Of the rows.

    Examples
    --------
    >>> seed, above_one = np.random.SeedSequence(1), (1.0, True)
    >>> X, labels = draw_variant(Expression.parse("X0"), above_one, (50, 2), VARIANTS["balanced"], seed)
    >>> X.shape, int(labels.sum())
    ((50, 2), 25)
    """
    rng = np.random.default_rng(seed)
    if variant.positive is not None:
        return _with_shares(formula, cut, shape, variant.positive, rng)
    X = rng.normal(size=shape)
    labels = _labelled(formula, cut, X)
    if variant.noise:
        # The label of another row, seen by nobody, has the shares of the classes and knows nothing
        # of this one.
        own = np.random.default_rng(
            np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, _OTHER_ROWS))
        )
        again = own.random(shape[0]) < variant.noise
        labels = np.where(again, _labelled(formula, cut, own.normal(size=shape)), labels)
    return X, labels


def _labelled(formula: Expression, cut: tuple[float, bool], X: FloatArray) -> NDArray[np.uint8]:
    value, inclusive = cut
    values = formula.evaluate(X)
    if not np.isfinite(values).all():
        raise InputError(f"the formula {formula} is not finite on every row of the sample")
    return (values >= value if inclusive else values > value).astype(np.uint8)


def _with_shares(
    formula: Expression,
    cut: tuple[float, bool],
    shape: tuple[int, int],
    positive: float,
    rng: np.random.Generator,
) -> tuple[FloatArray, NDArray[np.uint8]]:
    """Take the first rows of each class, in the order in which they were drawn."""
    n_of = {1: round(shape[0] * positive)}
    n_of[0] = shape[0] - n_of[1]
    rows, labels = np.empty((0, shape[1])), np.empty(0, dtype=np.uint8)
    for _ in range(_MOST_BLOCKS):
        block = rng.normal(size=shape)
        rows, labels = (
            np.vstack([rows, block]),
            np.concatenate([labels, _labelled(formula, cut, block)]),
        )
        if all((labels == one).sum() >= n for one, n in n_of.items()):
            taken = np.sort(
                np.concatenate([np.flatnonzero(labels == one)[:n] for one, n in n_of.items()])
            )
            return rows[taken], labels[taken]
    raise InputError(
        f"{formula}: one class is too rare to be {max(positive, 1 - positive):.0%} of {shape[0]}"
        " rows"
    )


ENDING = ".json"
COLLECTION = "collection.json"
"""The file of a collection in the folder that a duel or a search wrote."""


@dataclass(frozen=True)
class EvolvedEntry:
    """What a dataset is made of.

    Parameters
    ----------
    name, formula : str
        The dataset and its formula.
    seed, n_rows, n_features : int
        Of its standard normal features.
    cut : float or None
        Labels are 1 above this value of the formula; None where there are not two classes.
    inclusive : bool
        Whether they are 1 at it too.
    md5, x_hash, y_hash : str
        Of the formula, the features (to six decimals) and the labels.
    data : mapping
        Its kinds of data, such as noise or a target of numbers.

    Examples
    --------
    >>> EvolvedEntry("half", "X0", 1, 100, 2, 0.0, True, "", "", "").formula
    'X0'
    """

    name: str
    formula: str
    seed: int
    n_rows: int
    n_features: int
    cut: float | None
    inclusive: bool
    md5: str
    x_hash: str
    y_hash: str
    data: Mapping[str, Any] = field(default_factory=dict)


@cache
def collection_names() -> tuple[str, ...]:
    """Return the names of the collections: of all whose file lies in the folder.

    Examples
    --------
    >>> "paragone-v1" in collection_names()
    True
    """
    found = (file.name for file in _FOLDER.iterdir() if file.name.endswith(ENDING))
    return tuple(sorted(name.removesuffix(ENDING) for name in found))


def collection_file(name: str) -> Traversable:
    """Return the file of a collection.

    Examples
    --------
    >>> collection_file("paragone-v1").name
    'paragone-v1.json'
    """
    if name not in collection_names():
        raise unknown_name("collection", name, collection_names())
    return _FOLDER.joinpath(f"{name}{ENDING}")


@cache
def evolved_entries(collection: str) -> tuple[EvolvedEntry, ...]:
    """Return the datasets of a collection.

    Examples
    --------
    >>> evolved_entries("paragone-v1")[0].name
    'paragone-v1-1'
    """
    with as_file(collection_file(collection)) as path:
        return read_entries(path)


def load_evolved(collection: str | Path, wanted: str) -> Dataset:
    """Make a dataset of a collection, shipped or one's own, by its number or name, or a variant of it.

    One with noise, gaps, several classes, numbers to predict or other kinds of data is read from
    the table beside the collection, whose rows were drawn by `paragone.generate`.

    Examples
    --------
    >>> load_evolved("paragone-v1", "3:small")
    Dataset 'paragone-v1-3-small': 200 samples x 10 features, classification, 2 classes
    """
    found = (
        read_entries(collection) if isinstance(collection, Path) else evolved_entries(collection)
    )
    dataset, variant = split_variant(wanted)
    entry = find_entry(found, dataset, str(collection))
    if variant is not None:
        return make_variant(entry, variant)
    return _from_table(Path(collection).parent, entry) if entry.data else make_evolved(entry)


def own_collection(reference: str, base: str | Path = ".") -> tuple[Path, str] | None:
    """Return the collection file that ``PATH:NAME`` names by itself or by its folder, and what stands behind it.

    None for a reference of any other kind. Behind the name may stand a variant:
    ``PATH:NAME:VARIANT``.

    Examples
    --------
    >>> own_collection("digen:8") is None
    True
    """
    place, behind = reference, ""
    for _ in range(2):
        place, colon, last = place.rpartition(":")
        if not colon or not place:
            return None
        behind = f"{last}:{behind}" if behind else last
        path = Path(base) / Path(place).expanduser()
        path = path / COLLECTION if path.is_dir() else path
        if path.suffix == ENDING and path.is_file():
            return path, behind
    return None


def _from_table(folder: Path, entry: EvolvedEntry) -> Dataset:
    import pandas as pd

    table = folder / "data" / f"{entry.name}.csv"
    if not table.is_file():
        raise InputError(f"dataset {entry.name!r} is read from its table, and there is no {table}")
    frame = pd.read_csv(table)
    if "target" not in frame:
        raise InputError(f"{table} has no column 'target'")
    task: Task = "regression" if entry.data.get("target") == "regression" else "classification"
    y = frame.pop("target").to_numpy()
    # Groups stand in a column of their own before the target.
    groups = frame.pop("group").to_numpy() if "group" in frame else None
    X, names = frame.to_numpy(dtype=np.float64), tuple(map(str, frame.columns))
    check_hashes(entry.name, X, y, (entry.x_hash, entry.y_hash), f"in {table}")
    return Dataset(
        entry.name, X, y, task, groups=groups, feature_names=names, target_names=("target",)
    )


def read_entries(path: Path) -> tuple[EvolvedEntry, ...]:
    """Read the datasets of a collection of one's own from its file.

    Examples
    --------
    >>> from importlib.resources import as_file
    >>> with as_file(collection_file("paragone-v1")) as path:
    ...     len(read_entries(path))
    26
    """
    content = read_json(path, f"collection {path}")
    wanted = [item.name for item in fields(EvolvedEntry) if item.name != "data"]
    try:
        return tuple(
            EvolvedEntry(**{name: item[name] for name in wanted}, data=item.get("data", {}))
            for item in content["sets"]
        )
    except (KeyError, TypeError) as error:
        raise InputError(f"collection {path} is not a collection file: {error}") from error


def find_entry(found: tuple[EvolvedEntry, ...], wanted: str, where: str) -> EvolvedEntry:
    """Return a dataset by its name, or by the number behind the last hyphen of its name.

    Examples
    --------
    >>> find_entry(evolved_entries("paragone-v1"), "2", "paragone-v1").name
    'paragone-v1-2'
    """
    for entry in found:
        if wanted in (entry.name, entry.name.rpartition("-")[2]):
            return entry
    raise unknown_name(f"dataset in {where}", wanted, [entry.name for entry in found])


def make_evolved(entry: EvolvedEntry) -> Dataset:
    """Make a dataset, and check formula, features and labels by their hashes.

    Examples
    --------
    >>> make_evolved(evolved_entries("paragone-v1")[0])
    Dataset 'paragone-v1-1': 1000 samples x 10 features, classification, 2 classes
    """
    expression = checked_formula(entry.name, entry.formula, entry.md5)
    X = np.random.default_rng(entry.seed).normal(size=(entry.n_rows, entry.n_features))
    values = expression.evaluate(X)
    if entry.cut is None:
        raise InputError(
            f"dataset {entry.name!r} has no cut between two classes: its kind of data is missing"
        )
    labels = (values >= entry.cut if entry.inclusive else values > entry.cut).astype(np.uint8)
    check_hashes(entry.name, X, labels, (entry.x_hash, entry.y_hash))
    return _dataset(entry.name, X, labels)


def make_variant(entry: EvolvedEntry, variant: DatasetVariant) -> Dataset:
    """Make a variant of a dataset, with rows of its own; its note says that nothing is claimed of it.

    Examples
    --------
    >>> half = make_variant(evolved_entries("paragone-v1")[0], VARIANTS["balanced"])
    >>> half.name, float(half.y.mean())
    ('paragone-v1-1-balanced', 0.5)
    """
    target = entry.data.get("target", "binary")
    if target != "binary":
        raise InputError(
            f"dataset {entry.name!r} has a {target} target: variants are for two classes only"
        )
    if entry.data:
        named = ", ".join(entry.data)
        raise InputError(
            f"dataset {entry.name!r} has kinds of data of its own ({named}), and so no variants"
        )
    if entry.cut is None:
        raise InputError(
            f"dataset {entry.name!r} has no cut between two classes, and so no variants"
        )
    X, labels = draw_variant(
        checked_formula(entry.name, entry.formula, entry.md5),
        (entry.cut, entry.inclusive),
        (variant.n_rows or entry.n_rows, entry.n_features),
        variant,
        np.random.SeedSequence(variant.seed(entry.md5, entry.seed)),
    )
    return _dataset(f"{entry.name}-{variant.name}", X, labels, (variant.note(entry.name),))


def _add(name: str, make: Callable[[Any], Dataset], **more: Any) -> None:
    def read(wanted: Any, options: ReadOptions) -> Dataset:
        shown = wanted if isinstance(wanted, str) else wanted[1]
        options.refuse_all_but_name(f"dataset '{name}:{shown}' is generated")
        return make(wanted)

    add_reader(Reader(name, read, is_of_paths=False, **more))


def _names_of(entries: tuple[EvolvedEntry, ...]) -> list[str]:
    return [entry.name for entry in entries]


_add(
    "digen",
    lambda wanted: make_digen(find_digen(wanted)),
    members=lambda: [str(entry.number) for entry in digen_entries()],
)
for _name in collection_names():
    _add(
        _name,
        partial(load_evolved, _name),
        members=lambda name=_name: _names_of(evolved_entries(name)),
    )
_add(
    "collection",
    lambda found: load_evolved(*found),
    members=lambda path: _names_of(read_entries(path)),
    located=own_collection,
)
