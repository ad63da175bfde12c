"""Splits: the plan by which datasets are split and scaled, the partitions it gives, and scaling fitted on train."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from inspect import signature
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from scipy import sparse

from paragone.data.dataset import Dataset
from paragone.data.stratification import iterative_stratification
from paragone.errors import InputError, setting, unknown_name
from paragone.registry import imported
from paragone.validation import FloatArray, IntArray

Scale: TypeAlias = Literal["minmax", "zscore", "none"]

SPLIT_KINDS = ("kfold", "holdout", "groups", "time", "official", "stored")
GIVEN = "given"
"""The kind of a plan that holds a splitter or row numbers themselves, which only Python can give."""
DEFAULT_FOLDS = 5


@dataclass(frozen=True)
class SplitPlan:
    """How every dataset of an experiment is split, and how its features are scaled inside a split.

    Parameters
    ----------
    kind : str, default="kfold"
        ``kfold``; ``holdout`` (repeated); ``groups`` (groups kept together); ``time`` (every fold
        tests on rows later than those it trains on); ``official`` (the train and test part a
        dataset comes in); ``stored`` (the folds it comes in); or ``"module:Class"``, any splitter
        in scikit-learn's interface, which is given the features, the target and the groups. A
        dataset with stored folds is split by them under the default plan too.
    folds : int or "all", optional
        Number of folds, 5 where it is not given. For ``groups``, ``"all"`` or nothing means one
        fold per group.
    test_size : float, default=0.2
        Share of the rows that ``holdout`` tests on.
    scale : {"minmax", "zscore", "none"}, optional
        Fitted on the train rows of each split. Where it is not given it is ``minmax``, and ``none``
        for stored folds, which usually hold scaled values already, and for a cross-validation,
        whose methods bring their own preprocessing.
    order : {1, 2}, default=1
        Order of the iterative stratification of multi-label data.
    shuffle : bool, default=True
        Whether ``kfold`` takes the rows in random order. Without it multi-label data is cut into
        consecutive blocks.
    stratify : bool, default=True
        Whether labels or classes are spread evenly over the folds.
    params : mapping
        Parameters of a ``"module:Class"`` splitter.
    splitter : splitter or sequence of (train, test), optional
        A splitter of scikit-learn's interface, or row numbers; see `SplitPlan.of`. Rows stay in the
        order it gives.

    Examples
    --------
    >>> SplitPlan(kind="kfold", folds=10).n_folds
    10
    >>> SplitPlan(kind="kfolds")
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: unknown kind of split 'kfolds': did you mean 'kfold'?
    """

    kind: str = "kfold"
    folds: int | Literal["all"] | None = None
    test_size: float = 0.2
    scale: Scale | None = None
    order: Literal[1, 2] = 1
    shuffle: bool = True
    stratify: bool = True
    params: Mapping[str, Any] = field(default_factory=dict)
    splitter: Any = field(default=None, repr=False)

    # Read by pydantic where an experiment file holds a plan: unknown keys are errors there too.
    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012

    @classmethod
    def of(cls, splitter: Any) -> SplitPlan:
        """Return the plan that a splitter object or a list of ``(train, test)`` row numbers stands for.

        Examples
        --------
        >>> from sklearn.model_selection import KFold
        >>> SplitPlan.of(KFold(3)).kind
        'given'
        """
        if callable(getattr(splitter, "split", None)):
            return cls(GIVEN, splitter=splitter)
        pairs = (
            list(splitter)
            if isinstance(splitter, Iterable) and not isinstance(splitter, (str, bytes))
            else []
        )
        if not pairs or not all(
            isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in pairs
        ):
            raise InputError(
                "split: expected a splitter with split(), or pairs of train and test row numbers"
            )
        return cls(
            GIVEN, splitter=tuple((np.asarray(train), np.asarray(test)) for train, test in pairs)
        )

    def __post_init__(self) -> None:
        if (self.splitter is None) == (self.kind == GIVEN):
            raise InputError(
                "split: a splitter object is given in Python as it is; a file says kind ="
                " 'module:Class'"
            )
        if not isinstance(self.kind, str):
            raise InputError(f"split: kind must be a text such as 'kfold', it is {self.kind!r}")
        if not isinstance(self.params, Mapping):
            raise InputError(f"split: params are names with their values, not {self.params!r}")
        for name in ("shuffle", "stratify"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(
                    f"split: {name} must be true or false, it is {getattr(self, name)!r}"
                )
        if isinstance(self.test_size, bool) or not isinstance(self.test_size, (int, float)):
            raise InputError(f"split: test_size must lie between 0 and 1, it is {self.test_size!r}")
        if ":" not in self.kind and self.kind not in (*SPLIT_KINDS, GIVEN):
            raise unknown_name("kind of split", self.kind, SPLIT_KINDS)
        if self.scale is not None and self.scale not in get_args(Scale):
            raise unknown_name("scale", self.scale, get_args(Scale))
        if self.order not in (1, 2):
            raise InputError(f"split: order must be 1 or 2, it is {self.order}")
        if not 0 < self.test_size < 1:
            raise InputError(f"split: test_size must lie between 0 and 1, it is {self.test_size}")
        if self.params and ":" not in self.kind:
            raise InputError(
                f"split: params belong to a 'module:Class' splitter, not to {self.kind!r}"
            )
        self._check_folds()

    def _check_folds(self) -> None:
        if self.folds is None:
            return
        if ":" in self.kind or self.kind in ("official", "stored", GIVEN):
            where = "its params" if ":" in self.kind else "the dataset"
            raise InputError(
                f"split: {self.kind!r} takes no folds; their number follows from {where}"
            )
        if self.folds == "all":
            if self.kind != "groups":
                raise InputError(f"split: folds = 'all' goes with groups, not with {self.kind!r}")
            return
        least = 1 if self.kind == "holdout" else 2
        if isinstance(self.folds, bool) or not isinstance(self.folds, int) or self.folds < least:
            raise InputError(
                f"split: folds must be a whole number of at least {least}, it is {self.folds!r}"
            )

    @property
    def n_folds(self) -> int | None:
        """The number of folds where the plan alone says it, else None."""
        if self.kind == "official":
            return 1
        if (
            ":" in self.kind
            or self.kind in ("stored", GIVEN)
            or (self.kind == "groups" and self.folds in (None, "all"))
        ):
            return None
        return DEFAULT_FOLDS if self.folds is None else int(self.folds)

    @property
    def leaves_splits_open(self) -> bool:
        """Whether the plan asks for no certain way to split, so that stored folds may have their own."""
        default = SplitPlan(test_size=self.test_size, scale=self.scale)
        return self == default

    def scale_of(self, dataset: Dataset) -> Scale:
        """Return how the features of a dataset are scaled: as asked, else by what the dataset is.

        Examples
        --------
        >>> from paragone.data import load
        >>> SplitPlan().scale_of(load("iris")), SplitPlan(scale="zscore").scale_of(load("iris"))
        ('minmax', 'zscore')
        """
        if self.scale is not None:
            return self.scale
        return "minmax" if dataset.stored_splits is None else "none"


_Pairs: TypeAlias = Iterable[tuple[Any, Any]]


@dataclass(frozen=True, eq=False)
class Split:
    """One numbered train/test partition: row indices, in rising order unless a splitter gave them in another.

    Some protocols set ``validation`` rows aside, which are then neither in train nor in test.

    Examples
    --------
    >>> split = Split(0, np.array([0, 2]), np.array([1]))
    >>> split
    Split 0: 2 train, 1 test
    >>> split == Split(0, np.array([0, 2]), np.array([1]))
    True
    """

    fold: int
    train: IntArray
    test: IntArray
    validation: IntArray | None = field(default=None, kw_only=True)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the train, test and validation indices; not of the fold's number."""
        digest = hashlib.sha256()
        for indices in (self.train, self.test, self.validation):
            if indices is None:
                continue
            array = np.ascontiguousarray(indices, dtype="<i8")
            digest.update(len(array).to_bytes(8, "little"))
            digest.update(array.data)
        return digest.hexdigest()

    @property
    def held_out(self) -> dict[str, IntArray]:
        """The rows that are not fitted on, by the role that they are scored or chosen on in."""
        roles = {"test": self.test, "validation": self.validation}
        return {role: rows for role, rows in roles.items() if rows is not None and len(rows)}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Split):
            return NotImplemented
        return self.fold == other.fold and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash((self.fold, self.fingerprint))

    def __repr__(self) -> str:
        aside = "" if self.validation is None else f", {len(self.validation)} validation"
        return f"Split {self.fold}: {len(self.train)} train, {len(self.test)} test{aside}"


def make_splits(dataset: Dataset, plan: SplitPlan, seed: int) -> tuple[Split, ...]:
    """Split a dataset as the plan says; the same seed gives the same indices everywhere.

    Multi-label data is split by our own iterative stratification, classes by scikit-learn's
    stratified splitters, numbers by its plain ones. Where a dataset has groups, ``kfold`` and
    ``holdout`` keep them together as well: `describe_splits` says which splitter it is. A
    ``"module:Class"`` splitter is given the features as the dataset holds them (dense or sparse,
    not scaled), the target and the groups, so that it may split by them, as k-means, Kennard-Stone
    and SPXY do. Fold f of ``holdout`` is drawn with ``seed + f``. A dataset with stored folds is
    split by them, under ``stored`` and under the default plan; every other plan is refused, since
    its rows may hold one sample several times.

    Parameters
    ----------
    dataset : Dataset
        What to split.
    plan : SplitPlan
        How.
    seed : int
        Not negative.

    Returns
    -------
    tuple of Split
        Checked: no row twice, none in train and test, neither empty.

    Examples
    --------
    >>> from paragone.data import load
    >>> make_splits(load("iris"), SplitPlan(folds=3), seed=0)
    (Split 0: 100 train, 50 test, Split 1: 100 train, 50 test, Split 2: 100 train, 50 test)
    """
    if seed < 0:
        raise InputError(f"the seed of a split must not be negative, it is {seed}")
    if dataset.stored_splits is not None or plan.kind == "stored":
        stored = _stored(dataset, plan)
        return tuple(
            _checked(fold, train, test, dataset, plan) for fold, (train, test) in enumerate(stored)
        )
    if (
        plan.n_folds is not None
        and plan.kind in ("kfold", "groups")
        and plan.n_folds > dataset.n_samples
    ):
        raise InputError(
            f"dataset {dataset.name!r}: {plan.n_folds} folds need as many rows, it has"
            f" {dataset.n_samples}"
        )
    try:
        pairs = list(_pairs(dataset, plan, seed))
    except InputError:
        raise
    except Exception as error:
        # scikit-learn's splitters say what is wrong with a ValueError; a stranger's may fail in any
        # way.
        if ":" not in plan.kind and plan.kind != GIVEN and not isinstance(error, ValueError):
            raise
        told = str(error) or type(error).__name__
        raise InputError(
            f"dataset {dataset.name!r} cannot be split by {plan.kind!r}: {told}"
        ) from error
    return tuple(
        _checked(fold, train, test, dataset, plan) for fold, (train, test) in enumerate(pairs)
    )


def describe_splits(dataset: Dataset, plan: SplitPlan) -> str:
    """Say in one line how `make_splits` splits this dataset.

    Examples
    --------
    >>> from paragone.data import load
    >>> describe_splits(load("digits-traits"), SplitPlan())
    '5 folds, iterative stratification of order 1'
    >>> describe_splits(load("digits-by-writer"), SplitPlan())
    '5 folds, groups kept together (StratifiedGroupKFold)'
    """
    if dataset.stored_splits is not None:
        return f"the dataset's own {len(_stored(dataset, plan))} stored folds"
    if plan.kind == "official":
        return "the dataset's own train and test part"
    if ":" in plan.kind:
        return plan.kind.partition(":")[2]
    if plan.kind == GIVEN:
        return (
            "row numbers given"
            if isinstance(plan.splitter, tuple)
            else type(plan.splitter).__name__
        )
    if _by_time(dataset, plan):
        return f"{plan.n_folds} folds in the order of time (TimeSeriesSplit)"
    if plan.n_folds is None:
        return "one fold per group (LeaveOneGroupOut)"
    count = (
        f"{plan.n_folds} folds"
        if plan.kind != "holdout"
        else f"{plan.n_folds} hold-outs of {plan.test_size:g}"
    )
    if _iterative(dataset, plan):
        return f"{count}, iterative stratification of order {plan.order}"
    name = type(_splitter(dataset, plan, seed=0)).__name__
    return f"{count}, groups kept together ({name})" if "Group" in name else f"{count} ({name})"


def _iterative(dataset: Dataset, plan: SplitPlan) -> bool:
    multilabel = dataset.task == "multilabel" and dataset.groups is None
    return multilabel and plan.stratify and plan.shuffle and plan.kind in ("kfold", "holdout")


def _pairs(dataset: Dataset, plan: SplitPlan, seed: int) -> _Pairs:
    if plan.kind == "official":
        return _official(dataset)
    if plan.kind == GIVEN:
        return _given(dataset, plan, seed)
    if _by_time(dataset, plan):
        return _in_time(dataset, plan)
    if plan.kind == "groups" and dataset.groups is None:
        raise InputError(
            f"dataset {dataset.name!r} has no groups; name their column with {setting('groups')},"
            " or use kfold"
        )
    if _iterative(dataset, plan):
        return (
            _iterative_kfold(dataset, plan, seed)
            if plan.kind == "kfold"
            else _iterative_holdout(dataset, plan, seed)
        )
    if plan.kind == "holdout":
        repeats = range(plan.n_folds or 0)
        return [
            pair
            for f in repeats
            for pair in _sklearn_pairs(_splitter(dataset, plan, seed + f), dataset)
        ]
    return _sklearn_pairs(_splitter(dataset, plan, seed), dataset)


def _by_time(dataset: Dataset, plan: SplitPlan) -> bool:
    """Whether rows are split in the order of time: where the plan says it, or where only the dataset says anything."""
    if plan.kind != "kfold" or dataset.time is None:
        return plan.kind == "time"
    return plan == SplitPlan(folds=plan.folds, scale=plan.scale)


def _in_time(dataset: Dataset, plan: SplitPlan) -> _Pairs:
    from sklearn.model_selection import TimeSeriesSplit

    if dataset.time is None:
        raise InputError(
            f"dataset {dataset.name!r} has no times; name their column with time=, or use kfold"
        )
    order = np.argsort(dataset.time, kind="stable")
    pairs = TimeSeriesSplit(plan.n_folds or DEFAULT_FOLDS).split(order)
    return [(order[train], order[test]) for train, test in pairs]


def _given(dataset: Dataset, plan: SplitPlan, seed: int) -> _Pairs:
    if isinstance(plan.splitter, tuple):
        return plan.splitter
    splitter = deepcopy(plan.splitter)
    # Without a seed of its own it would split another way at every look, and nothing stored would
    # be found again.
    if getattr(splitter, "random_state", seed) is None and getattr(splitter, "shuffle", True):
        splitter.random_state = seed
    return _sklearn_pairs(splitter, dataset)


def _stored(dataset: Dataset, plan: SplitPlan) -> tuple[tuple[IntArray, IntArray], ...]:
    if dataset.stored_splits is None:
        raise InputError(
            f"dataset {dataset.name!r} does not come in stored folds; use kfold or holdout instead"
        )
    if plan.kind != "stored" and not plan.leaves_splits_open:
        raise InputError(
            f"dataset {dataset.name!r} comes in stored folds, whose rows may hold one sample"
            f" several times: split it by kind = 'stored', not by {plan.kind!r} with settings of"
            " its own"
        )
    return dataset.stored_splits


def _official(dataset: Dataset) -> _Pairs:
    if dataset.train_part is None:
        raise InputError(
            f"dataset {dataset.name!r} does not come in a train and a test part; use kfold or"
            " holdout instead"
        )
    return [(np.flatnonzero(dataset.train_part), np.flatnonzero(~dataset.train_part))]


def _iterative_kfold(
    dataset: Dataset, plan: SplitPlan, seed: int
) -> Iterator[tuple[IntArray, IntArray]]:
    n_folds = plan.n_folds or 0
    folds = iterative_stratification(
        dataset.y, [1.0] * n_folds, np.random.default_rng(seed), order=plan.order
    )
    for fold in range(n_folds):
        yield np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)


def _iterative_holdout(
    dataset: Dataset, plan: SplitPlan, seed: int
) -> Iterator[tuple[IntArray, IntArray]]:
    for fold in range(plan.n_folds or 0):
        rng = np.random.default_rng(seed + fold)
        part = iterative_stratification(
            dataset.y, [1.0 - plan.test_size, plan.test_size], rng, order=plan.order
        )
        yield np.flatnonzero(part == 0), np.flatnonzero(part == 1)


def _splitter(dataset: Dataset, plan: SplitPlan, seed: int) -> Any:
    """Make the scikit-learn splitter for everything that is not iterative stratification."""
    from sklearn import model_selection as ms

    if ":" in plan.kind:
        return _custom(plan, seed)
    by_class = plan.stratify and dataset.task == "classification"
    if plan.kind == "holdout":
        if dataset.groups is not None:
            kind = ms.GroupShuffleSplit
        else:
            kind = ms.StratifiedShuffleSplit if by_class else ms.ShuffleSplit
        return kind(n_splits=1, test_size=plan.test_size, random_state=seed)
    if plan.n_folds is None:
        return ms.LeaveOneGroupOut()
    random = {"shuffle": plan.shuffle, "random_state": seed if plan.shuffle else None}
    if dataset.groups is not None:
        # GroupKFold balances sizes only while it does not shuffle, so the seed has no say there.
        return (
            ms.StratifiedGroupKFold(plan.n_folds, **random)
            if by_class
            else ms.GroupKFold(plan.n_folds)
        )
    return (ms.StratifiedKFold if by_class else ms.KFold)(plan.n_folds, **random)


def _custom(plan: SplitPlan, seed: int) -> Any:
    kind = imported(plan.kind, "split")
    if not callable(getattr(kind, "split", None)):
        raise InputError(
            f"split {plan.kind!r} has no split method: it is not a splitter in scikit-learn's"
            " interface"
        )
    params = dict(plan.params)
    known = signature(kind).parameters
    # A K-fold that does not shuffle refuses a random_state.
    shuffles = params.get("shuffle", known["shuffle"].default if "shuffle" in known else True)
    if "random_state" in known and shuffles:
        params.setdefault("random_state", seed)
    try:
        return kind(**params)
    except (TypeError, ValueError) as error:
        raise InputError(f"split {plan.kind!r} does not take these params ({error})") from error


def _sklearn_pairs(splitter: Any, dataset: Dataset) -> _Pairs:
    """Ask a splitter in scikit-learn's interface, which may look at the features, the target and the groups."""
    given = {"X": dataset.X, "y": dataset.y, "groups": dataset.groups}
    if not type(splitter).__module__.startswith("sklearn."):
        # Unlike scikit-learn's, it may write into what it is given, and every method sees these
        # arrays after it.
        given = {name: None if array is None else array.copy() for name, array in given.items()}
    # Plenty of splitters are written as split(X, y) or split(X), and some take what follows by name
    # only.
    taken = signature(splitter.split).parameters.values()
    n_places = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in taken)
    places = list(given.values())[
        : len(given) if any(p.kind is p.VAR_POSITIONAL for p in taken) else n_places
    ]
    by_name = {p.name: given[p.name] for p in taken if p.kind is p.KEYWORD_ONLY and p.name in given}
    pairs: _Pairs = splitter.split(*places, **by_name)
    return pairs


def _checked(fold: int, train: Any, test: Any, dataset: Dataset, plan: SplitPlan) -> Split:
    where = f"dataset {dataset.name!r}: fold {fold} of {plan.kind!r}"
    parts = []
    for what, indices in (("train", train), ("test", test)):
        array = np.asarray(indices)
        if array.dtype.kind == "b" and array.shape == (dataset.n_samples,):
            array = np.flatnonzero(array)
        if array.size and (array.ndim != 1 or array.dtype.kind not in "iu"):
            raise InputError(
                f"{where}: {what} rows are given by their numbers, not by {array.dtype} of"
                f" {array.ndim}-d"
            )
        rows = np.sort(array.astype(np.int64))
        if len(rows) == 0:
            raise InputError(f"{where} has no {what} rows; use fewer folds or another test size")
        if rows[0] < 0 or rows[-1] >= dataset.n_samples or (np.diff(rows) == 0).any():
            raise InputError(f"{where} has {what} rows that stand twice or do not exist")
        parts.append(array.astype(np.int64) if plan.kind == GIVEN else rows)
    if np.intersect1d(parts[0], parts[1], assume_unique=True).size:
        raise InputError(f"{where} has rows in train and in test")
    return Split(fold, parts[0], parts[1])


# scikit-learn's bound for a range that is nothing but rounding.
_NO_RANGE = 10 * np.finfo(np.float64).eps
_BLOCK_BYTES = 1 << 25
_FEWEST_COLUMNS = 8


@dataclass(frozen=True, eq=False)
class Scaler:
    """A fitted column-wise scaling; made by `fit_scaler`.

    Parameters
    ----------
    how : {"minmax", "zscore", "none"}
        The kind.
    center, spread : ndarray of shape (n_features,)
        Minimum and range, or mean and deviation, of the train columns; spread is 1 for a constant
        one.

    Examples
    --------
    >>> fit_scaler([[1.0], [3.0]], "minmax").spread
    array([2.])
    """

    how: Scale
    center: FloatArray
    spread: FloatArray

    def transform_in_place(self, X: FloatArray) -> None:
        """Scale dense float64 rows where they lie; the same bytes as `transform` gives, without a second copy.

        Examples
        --------
        >>> rows = np.array([[2.0], [5.0]])
        >>> fit_scaler([[0.0], [4.0]], "minmax").transform_in_place(rows)
        >>> rows.tolist()
        [[0.5], [1.25]]
        """
        with np.errstate(invalid="ignore"):
            if self.how == "zscore":
                X -= self.center
                X /= self.spread
            elif self.how == "minmax":
                factor = 1.0 / self.spread
                X *= factor
                X += 0.0 - self.center * factor

    def transform(self, X: Any) -> Any:
        """Scale rows; a sparse X stays sparse where no column is shifted, else it becomes dense.

        Examples
        --------
        >>> fit_scaler([[0.0], [4.0]], "minmax").transform([[2.0], [5.0]])
        array([[0.5 ],
               [1.25]])
        """
        X = _array(X)
        if X.shape[1] != len(self.center):
            raise InputError(
                f"the scaling was fitted on {len(self.center)} columns, X has {X.shape[1]}"
            )
        if self.how == "none":
            return X
        if sparse.issparse(X):
            if not self.center.any():
                return sparse.csr_array(X.multiply((1.0 / self.spread)[None, :]))
            X = X.toarray()
        with np.errstate(invalid="ignore"):
            if self.how == "zscore":
                return (X - self.center) / self.spread
            # The order of scikit-learn's MinMaxScaler, so that the same bytes come out.
            factor = 1.0 / self.spread
            return X * factor + (0.0 - self.center * factor)


def fit_scaler(X: Any, how: Scale) -> Scaler:
    """Fit a scaling on train rows.

    ``minmax`` is scikit-learn's MinMaxScaler: train columns fill [0, 1], test values may leave it
    and are not clipped. ``zscore`` has mean 0 and deviation 1 (ddof = 0). A column that is constant
    in train becomes 0 in train, and x minus that constant in test. A NaN makes its column NaN. A
    column whose range or deviation is larger than any float is refused: its scaled values would all
    be 0 or NaN.

    Examples
    --------
    >>> fit_scaler([[1.0, 7.0], [3.0, 7.0]], "zscore").transform([[1.0, 7.0], [3.0, 8.0]])
    array([[-1.,  0.],
           [ 1.,  1.]])
    """
    if how not in get_args(Scale):
        raise unknown_name("scale", how, get_args(Scale))
    X = _array(X)
    if how == "none":
        return Scaler(how, np.zeros(X.shape[1]), np.ones(X.shape[1]))
    low, high = _extreme(X, "min"), _extreme(X, "max")
    with np.errstate(invalid="ignore", over="ignore"):
        if how == "minmax":
            return Scaler(how, low, _without_zeros(_held(high - low, low, high)))
        mean, deviation = _moments(_dense(X))
    constant = low == high
    spread = _held(np.where(constant, 0.0, deviation), low, high)
    return Scaler(how, np.where(constant, low, mean), _without_zeros(spread))


def scale_split(X_train: Any, X_test: Any, how: Scale) -> tuple[FloatArray, FloatArray]:
    """Scale the two parts of a split by what train alone says; both come back dense.

    Examples
    --------
    >>> train, test = scale_split([[0.0], [2.0]], [[3.0]], "minmax")
    >>> train.tolist(), test.tolist()
    ([[0.0], [1.0]], [[1.5]])
    """
    scaler = fit_scaler(X_train, how)
    return _dense(scaler.transform(X_train)), _dense(scaler.transform(X_test))


def _array(X: Any) -> Any:
    return X if sparse.issparse(X) else np.asarray(X, dtype=np.float64)


def _dense(X: Any) -> FloatArray:
    return np.ascontiguousarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def _extreme(X: Any, which: str) -> FloatArray:
    found = getattr(X, which)(axis=0)
    return np.asarray(
        found.toarray() if sparse.issparse(found) else found, dtype=np.float64
    ).ravel()


def _moments(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and deviation of the columns; a few columns at a time, since NumPy takes a whole copy for it."""
    width = max(_FEWEST_COLUMNS, _BLOCK_BYTES // max(1, X.shape[0] * X.itemsize))
    # One column alone would be summed in another order than a column among others.
    starts = (
        range(0, max(1, X.shape[1] - _FEWEST_COLUMNS + 1), width) if X.shape[1] > width else [0]
    )
    ends = [*list(starts)[1:], X.shape[1]]
    blocks = [X[:, start:end] for start, end in zip(starts, ends, strict=True)]
    mean = np.concatenate([block.mean(axis=0) for block in blocks])
    return mean, np.concatenate([block.std(axis=0) for block in blocks])


def _held(spread: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the spreads, or name a finite column whose spread no float can hold."""
    too_wide = np.flatnonzero(np.isfinite(low) & np.isfinite(high) & ~np.isfinite(spread))
    if too_wide.size:
        first = too_wide[0]
        raise InputError(
            f"column {first} goes from {low[first]:.6g} to {high[first]:.6g}, too far apart to be"
            " scaled in floating point: divide it by a constant first"
        )
    return spread


def _without_zeros(spread: FloatArray) -> FloatArray:
    return np.where(spread < _NO_RANGE, 1.0, spread)
