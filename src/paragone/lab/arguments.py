"""The arguments of an experiment: names, datasets, methods, split and protocol, checked one by one."""

from __future__ import annotations

import math
import operator
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from paragone.data import Dataset, SplitPlan, Task, load
from paragone.data.loading import expand
from paragone.data.offered import offered_datasets
from paragone.data.roles import Roles
from paragone.errors import InputError, unknown_name
from paragone.lab.protocol import Protocol, default_kind, our_kinds, protocols
from paragone.methods.method import Method


def check_names(kind: str, names: Iterable[str]) -> None:
    """Refuse names that a table, a file or a command line would take for others.

    Parameters
    ----------
    kind : str
        What is named, for the message.
    names : iterable of str
        The names; a blank at either end, nothing at all and control characters are refused,
        anything else is fine.

    Examples
    --------
    >>> check_names("method", ["A & B", "<b>", "%s"])
    >>> check_names("method", ["A "])
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: the method 'A ' begins or ends with a blank: give it a name without
    """
    for name in names:
        if not name:
            raise InputError(f"a {kind} has an empty name: give it one")
        if name != name.strip():
            raise InputError(
                f"the {kind} {name!r} begins or ends with a blank: give it a name without"
            )
        bad = next(
            (letter for letter in name if unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp")),
            None,
        )
        if bad is not None:
            raise InputError(
                f"the {kind} {name!r} has a control character (U+{ord(bad):04X}) in its name: give"
                " it a name without"
            )


MOST_SEEDS = 100_000
_DATA = "names, paths or datasets in a list, or a mapping such as {'wine': (X, y)}"
_BUNCH = {"data", "target"}
_OWN_KEYS = {"X", "y", "task", "groups", "feature_names", "target_names"}


def data_argument(
    data: Any, methods: Mapping[str, Method], protocol: Protocol
) -> list[str | Path | Dataset]:
    """Return the datasets, paths and references of an experiment as a list.

    Parameters
    ----------
    data : str, Path, Dataset, mapping or iterable of those
        One of them or several; a mapping gives each a name, and may hold ``(X, y)``, a ``Bunch`` or
        a mapping with ``X``, ``y`` and what else a `Dataset` has.
    methods : mapping of str to Method
        Where the task is not said, methods that are all classifiers or all regressors say it.
    protocol : Protocol
        Says what ``y`` means, where it can.

    Examples
    --------
    >>> from paragone.protocols import Curve
    >>> data_argument({"tiny": (np.eye(4), np.eye(4, 2))}, {}, Curve())
    [Dataset 'tiny': 4 samples x 4 features, multilabel, 2 labels]
    >>> data_argument("wine", {}, Curve())
    ['wine']
    """
    if protocol.facts.takes_tables:
        return list(offered_datasets(data, Roles(task=_task_said(methods, protocol))))
    if isinstance(data, (str, Path, Dataset)):
        return _entries([data])
    if isinstance(data, Mapping):
        if _is_data(data):
            raise InputError(
                "data: this is one dataset without a name: write data={'name': ...} with it inside"
            )
        check_names("dataset", _text_keys("data", data))
        return [_named(name, value, methods, protocol) for name, value in data.items()]
    if _is_table(data):
        raise InputError(
            f"data: a {type(data).__name__} alone has no name and no target: write data={{'name':"
            " (X, y)}"
        )
    if isinstance(data, (set, frozenset, bytes)) or not isinstance(data, Iterable):
        raise InputError(f"data: expected {_DATA}, got {_shown(data)}")
    return _entries(list(data))


def _task_said(methods: Mapping[str, Method], protocol: Protocol) -> Task | None:
    """Return what the protocol or the methods say of the target; None where neither says it."""
    said = getattr(protocol, "task", None)
    kinds = {predicted_task(method) for method in methods.values()} if said is None else {said}
    return kinds.pop() if len(kinds) == 1 else None


def _entries(entries: list[Any]) -> list[str | Path | Dataset]:
    for place, entry in enumerate(entries, start=1):
        if isinstance(entry, (str, Path, Dataset)):
            continue
        hint = (
            ": arrays need a name, write data={'name': (X, y)}"
            if _is_table(entry) or _is_pair(entry)
            else ""
        )
        raise InputError(
            f"data: entry {place} is {_shown(entry)}, expected a name, a path or a Dataset{hint}"
        )
    return entries


def _named(name: str, value: Any, methods: Mapping[str, Method], protocol: Protocol) -> Dataset:
    where = f"data: {name!r}"
    if isinstance(value, Dataset):
        return replace(value, name=name)
    if isinstance(value, (str, Path)):
        if isinstance(value, str) and list(expand(value)) != [value]:
            raise InputError(
                f"{where}: {value!r} stands for several datasets, which one name cannot tell apart"
            )
        return load(value, name=name)
    if isinstance(value, Mapping):
        return _of_mapping(name, value, methods, protocol)
    if _is_pair(value):
        return _of_arrays(name, value[0], value[1], {}, methods, protocol)
    if _is_table(value):
        raise InputError(f"{where} is a {type(value).__name__} without a target: write (X, y)")
    raise InputError(f"{where}: expected (X, y), a Dataset, a path or a Bunch, got {_shown(value)}")


def _of_mapping(
    name: str, value: Mapping[str, Any], methods: Mapping[str, Method], protocol: Protocol
) -> Dataset:
    if set(value) >= _BUNCH:
        # What scikit-learn's loaders return; its target_names are the classes' names, which y does
        # not hold.
        kept = (
            {"feature_names": value["feature_names"]}
            if value.get("feature_names") is not None
            else {}
        )
        return _of_arrays(name, value["data"], value["target"], kept, methods, protocol)
    if not {"X", "y"} <= set(value):
        raise InputError(
            f"data: {name!r}: a mapping needs X and y (or data and target), it has {_listed(value)}"
        )
    for key in value:
        if key not in _OWN_KEYS:
            raise unknown_name(f"key of the dataset {name!r}", str(key), sorted(_OWN_KEYS))
    others = {
        key: given for key, given in value.items() if key not in ("X", "y") and given is not None
    }
    return _of_arrays(name, value["X"], value["y"], others, methods, protocol)


def _of_arrays(
    name: str,
    X: Any,
    y: Any,
    others: Mapping[str, Any],
    methods: Mapping[str, Any],
    protocol: Protocol,
) -> Dataset:
    described = {**_column_names(X, y), **others}
    task = described.pop("task", None) or _task_of_arrays(name, _array(y), methods, protocol)
    feature_names, target_names = (
        _texts(name, key, described.pop(key, ())) for key in ("feature_names", "target_names")
    )
    try:
        return Dataset(
            name,
            _array(X),
            _array(y),
            task,
            feature_names=feature_names,
            target_names=target_names,
            **described,
        )
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"data: {name!r}: X and y must be tables of numbers, one row per sample ({error})"
        ) from error


PREDICTED: tuple[Task, ...] = ("regression", "classification")


def _task_of_arrays(name: str, y: Any, methods: Mapping[str, Method], protocol: Protocol) -> Task:
    """Say what the target of bare arrays means: it is never guessed from its values."""
    if protocol.facts.array_task is not None:
        return protocol.facts.array_task
    if not protocol.facts.predicts_target:
        raise InputError(
            f"data: {name!r}: a {protocol.kind} experiment cannot tell what y means: give a Dataset"
        )
    declared = getattr(protocol, "task", None)
    if declared is not None:
        return next((task for task in PREDICTED if task == declared), "classification")
    found = {predicted_task(method) for method in methods.values()}
    if len(found) == 1 and (task := found.pop()) is not None:
        return task
    if getattr(y, "dtype", np.dtype(float)).kind in "OUSTb":
        return "classification"
    own = type(protocol).__name__
    raise InputError(
        f"data: {name!r}: y may be numbers to predict or numbers of classes: say"
        f" {own}(task='regression') or {own}(task='classification')"
    )


def predicted_task(method: Method) -> Task | None:
    """Say whether a declared method is scikit-learn's regressor or classifier; None where that cannot be told.

    Examples
    --------
    >>> predicted_task(Method.declare("sklearn.linear_model:Ridge"))
    'regression'
    """
    from sklearn.base import is_classifier, is_regressor

    try:
        model = method.build()
    except (TypeError, ValueError):
        return None  # an impossible method fails alone, when it is fitted
    if not hasattr(model, "__sklearn_tags__"):
        return None
    return (
        "classification" if is_classifier(model) else "regression" if is_regressor(model) else None
    )


def _texts(name: str, key: str, given: Any) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(
            f"data: {name!r}: {key} is a list of names, one per column, not {_shown(given)}"
        )
    return tuple(str(each) for each in given)


def _column_names(X: Any, y: Any) -> dict[str, Any]:
    """Return the names that frames and series have."""
    names: dict[str, Any] = {}
    if hasattr(X, "columns"):
        names["feature_names"] = tuple(map(str, X.columns))
    if hasattr(y, "columns"):
        names["target_names"] = tuple(map(str, y.columns))
    elif getattr(y, "name", None) is not None:
        names["target_names"] = (str(y.name),)
    return names


def _array(values: Any) -> Any:
    """Return a frame, a series or nested lists as an array; sparse matrices stay as they are."""
    if sparse.issparse(values):
        return values
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InputError(f"data: rows of different lengths are no table ({error})") from error
    if array.dtype.kind == "O" and array.ndim > 0:
        try:
            return array.astype(np.float64)
        except (TypeError, ValueError):
            return array
    return array


def _is_table(value: Any) -> bool:
    return sparse.issparse(value) or isinstance(value, np.ndarray) or hasattr(value, "columns")


def _is_pair(value: Any) -> bool:
    return (
        isinstance(value, (tuple, list))
        and len(value) == 2
        and not any(isinstance(v, (str, Path)) for v in value)
    )


def _is_data(data: Mapping[Any, Any]) -> bool:
    keys = set(data)
    return (
        bool(data)
        and (keys >= _BUNCH or {"X", "y"} <= keys <= _OWN_KEYS)
        and not isinstance(next(iter(data.values())), (tuple, Dataset))
    )


def methods_argument(methods: Any) -> dict[str, Any]:
    """Return methods by their names; those of a list are called by what they are.

    Examples
    --------
    >>> methods_argument("dagfs")
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: methods: expected a list, or a mapping of names to methods, got
    'dagfs'
    >>> list(methods_argument(["sklearn.svm:SVC", "sklearn.svm:SVC"]))
    ['SVC', 'SVC 2']
    """
    if isinstance(methods, (list, tuple)):
        return named_methods(methods)
    if not isinstance(methods, Mapping):
        raise InputError(
            f"methods: expected a list, or a mapping of names to methods, got {_shown(methods)}"
        )
    check_names("method", _text_keys("methods", methods))
    return dict(methods)


def named_methods(methods: Iterable[Any]) -> dict[str, Any]:
    """Name methods by their class, that of a pipeline by its last step; a number tells equal names apart."""
    found: dict[str, Any] = {}
    for method in methods:
        name = method_name(method)
        place = sum(known == name or known.startswith(f"{name} ") for known in found) + 1
        found[name if place == 1 else f"{name} {place}"] = method
    return found


def method_name(method: Any) -> str:
    """Return a readable name of a method.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import SVC
    >>> method_name(make_pipeline(StandardScaler(), SVC())), method_name("sklearn.svm:LinearSVC"), method_name("dagfs")
    ('SVC', 'LinearSVC', 'dagfs')
    """
    if isinstance(method, str):
        return method.rpartition(":")[2].rpartition(".")[2]
    if isinstance(method, Mapping) and isinstance(method.get("use"), str):
        return method_name(method["use"])
    if isinstance(method, partial):
        return method_name(method.func)
    steps = getattr(method, "steps", None)
    if isinstance(steps, list) and steps and isinstance(steps[-1], tuple):
        return method_name(steps[-1][1])
    named = method if hasattr(method, "__name__") else type(method)
    return str(named.__name__).strip("<>")


def split_argument(split: Any) -> SplitPlan:
    """Return the plan that a number of folds, a share to test on, a kind, a splitter or a mapping stands for.

    Examples
    --------
    >>> split_argument({"folds": 3}).n_folds, split_argument(4).n_folds, split_argument(0.25).kind
    (3, 4, 'holdout')
    >>> split_argument({"fold": 3})
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: unknown key of split 'fold': did you mean 'folds'?
    """
    if split is None:
        return SplitPlan()
    if isinstance(split, SplitPlan):
        return split
    if isinstance(split, str):
        return SplitPlan(split)
    if _whole(split) is not None:
        return SplitPlan(folds=_whole(split))
    if isinstance(split, float):
        return SplitPlan("holdout", folds=1, test_size=split)
    if not isinstance(split, Mapping):
        if not hasattr(split, "split") and not isinstance(split, Iterable):
            raise InputError(
                "split: expected a number of folds, a splitter or {'folds': 5}, got"
                f" {_shown(split)}"
            )
        return SplitPlan.of(split)
    known = [field.name for field in fields(SplitPlan)]
    for key in _text_keys("split", split):
        if key not in known:
            raise unknown_name("key of split", key, known)
    return SplitPlan(**split)


def protocol_argument(protocol: Any) -> Protocol:
    """Return the protocol; the usual one for nothing."""
    if protocol is None:
        return protocols.get(default_kind())()
    if isinstance(protocol, type) and issubclass(protocol, Protocol):
        raise InputError(
            f"protocol: {protocol.__name__} is the class: write protocol={protocol.__name__}()"
        )
    if isinstance(protocol, str):
        return protocols.get(protocol)()
    if not isinstance(protocol, Protocol):
        names = ", ".join(f"{protocols.get(kind).__name__}()" for kind in our_kinds())
        raise InputError(f"protocol: expected a protocol, such as {names}, got {_shown(protocol)}")
    return protocol


@dataclass(frozen=True)
class DeclaredComparison:
    """Test, correction and margin by which the reports of an experiment compare its methods: names or ``module:name``.

    Statistics are imported only where one is named: a run needs none.

    Examples
    --------
    >>> DeclaredComparison(test="wilcoxn").load()
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: unknown test 'wilcoxn': did you mean 'wilcoxon'?
    >>> DeclaredComparison(test="mine:sign_test").code_to_import()
    ('mine:sign_test',)
    """

    test: str | None = None
    correction: str | None = None
    margin: float | None = None

    def load(self) -> None:
        """Import what is named, and check that it fits the reference against each other method over datasets."""
        if self.margin is not None and not 0 < self.margin < math.inf:
            raise InputError(
                "compare: margin is a difference in units of the metric, above 0, not"
                f" {self.margin}"
            )
        if self.test is not None:
            from paragone.stats.registries import find_test, tests

            test = find_test(self.test, "dataset")
            if ":" in self.test:
                tests.add(test, self.test)
        if self.correction is not None:
            from paragone.stats.family import choose_family
            from paragone.stats.registries import corrections

            correction = choose_family(2, 0, self.correction).correction
            if ":" in self.correction:
                corrections.add(correction, self.correction)

    def code_to_import(self) -> tuple[str, ...]:
        """Return each ``module:name`` that was not imported yet: a store's word alone never has it imported."""
        from paragone.stats.registries import corrections, tests

        named = ((self.test, tests), (self.correction, corrections))
        return tuple(name for name, known in named if name and ":" in name and name not in known)

    def chosen(self) -> dict[str, str | float]:
        """Return what was chosen, without what is left to the default."""
        return {name: value for name, value in vars(self).items() if value is not None}


def comparison_argument(compare: Any, protocol: Protocol) -> DeclaredComparison:
    """Return test, correction and margin of an experiment's reports, imported and checked."""
    given = compare or {}
    if not isinstance(given, Mapping):
        raise InputError(
            f'compare: expected a mapping such as {{"test": "paired-t"}}, got {_shown(compare)}'
        )
    keys = [field.name for field in fields(DeclaredComparison)]
    for name, value in given.items():
        if name not in keys:
            raise unknown_name("key of compare", str(name), keys)
        kind: Any = str
        wanted = "a name or 'module:name'"
        if name == "margin":
            kind, wanted = int | float, "a number"
        if isinstance(value, bool) or not isinstance(value, kind):
            raise InputError(f"compare: {name} is {wanted}, got {_shown(value)}")
    if given and protocol.facts.own_comparison:
        raise InputError(
            f"compare is for experiments that are compared over datasets: {protocol.kind} compares "
            f"{protocol.facts.own_comparison}"
        )
    chosen = DeclaredComparison(**given)
    chosen.load()
    return chosen


def name_argument(name: Any) -> str:
    """Check the name of an experiment."""
    if not isinstance(name, str):
        raise InputError(f"name: expected a text, got {_shown(name)}")
    check_names("experiment", [name])
    return name


def seed_argument(seed: Any) -> int:
    """Return a seed: a whole number, not negative.

    Examples
    --------
    >>> seed_argument(np.int64(3))
    3
    >>> seed_argument(0.5)
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: seed: expected a whole number of at least 0, got 0.5
    """
    found = _whole(seed)
    if found is None or found < 0:
        raise InputError(f"seed: expected a whole number of at least 0, got {_shown(seed)}")
    return found


def repeats_argument(repeats: Any, methods: Mapping[str, Any]) -> dict[str, int]:
    """Return how many seeds methods are repeated over."""
    if repeats is None:
        return {}
    if not isinstance(repeats, Mapping):
        raise InputError(
            "repeats: expected a mapping of a method's name to its number of seeds, got"
            f" {_shown(repeats)}"
        )
    found: dict[str, int] = {}
    for name, count in repeats.items():
        if name not in methods:
            raise unknown_name("method in repeats", str(name), methods)
        number = _whole(count)
        if number is None or not 1 <= number <= MOST_SEEDS:
            raise InputError(
                f"method {name!r}: the number of seeds must be a whole number from 1 to"
                f" {MOST_SEEDS}, it is {_shown(count)}"
            )
        found[name] = number
    return found


def folder_argument(folder: Any) -> Path:
    """Return a folder; the working folder for nothing."""
    if folder is None:
        return Path()
    if not isinstance(folder, (str, Path)):
        raise InputError(f"folder: expected a path, got {_shown(folder)}")
    return Path(folder)


def store_argument(store: Any) -> Path:
    """Return the path of a store."""
    if not isinstance(store, (str, Path)) or not str(store):
        raise InputError(
            f"store: expected the path of a file, such as 'lab.sqlite', got {_shown(store)}"
        )
    return Path(store)


def workers_argument(workers: Any) -> int | None:
    """Return a number of workers; None for one per core."""
    number = _whole(workers)
    if workers is not None and (number is None or number < 0):
        raise InputError(f"workers: expected a whole number of at least 0, got {_shown(workers)}")
    return number


def _whole(value: Any) -> int | None:
    """Return a whole number as an int, NumPy's too; None for anything else, True and False included."""
    if isinstance(value, (bool, np.bool_)):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def _text_keys(what: str, given: Mapping[Any, Any]) -> list[str]:
    for key in given:
        if not isinstance(key, str):
            raise InputError(f"{what}: names are texts, {_shown(key)} is not one")
    return list(given)


def _listed(given: Iterable[Any]) -> str:
    return ", ".join(sorted(map(str, given))) or "nothing"


def _shown(value: Any) -> str:
    """Write a value as short as it is telling."""
    if value is None or isinstance(value, (str, bool, int, float)):
        text = repr(value)
        return text if len(text) <= 60 else f"{text[:57]}..."
    return f"a {type(value).__name__}"
