"""Methods by name: resolve an alias or ``module:Class``, keep the parameters, say what identifies them."""

from __future__ import annotations

import hashlib
import inspect
import json
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from json.encoder import encode_basestring_ascii
from pathlib import Path
from typing import Any, Self

import numpy as np

from paragone.errors import InputError, unknown_name
from paragone.registry import Registry, first_name, imported, present_name
from paragone.sources import code_words

SEED_PARAMETERS = ("random_state", "seed")


methods: Registry[Any] = Registry(
    "method",
    "methods",
    # The last holds the ranker that is tuned by the scores of a protocol.
    (
        "paragone.methods",
        "paragone.methods.rankers",
        "paragone.methods.recommenders",
        "paragone.protocols.curve.tuning",
    ),
)
"""Every ranker, recommender and model with a short name: a class in a file of its own that adds itself."""


def resolve(use: str, *, kind: str = "method") -> Any:
    """Return the class that an alias or ``module:Class`` names.

    Parameters
    ----------
    use : str
        A short name such as ``"dagfs"`` or a path such as ``"sklearn.svm:LinearSVC"``.
    kind : str, default="method"
        What to call it in an error.

    Returns
    -------
    type or callable
        What makes the estimator.

    Examples
    --------
    >>> resolve("mlknn").__name__
    'MLkNN'
    >>> resolve("sklearn.svm:LinearSVC").__name__
    'LinearSVC'
    """
    if not isinstance(use, str):
        raise InputError(f"{kind}: expected a short name or 'module:Class', got {use!r}")
    if ":" not in use and use not in methods:
        raise unknown_name(kind, use, methods.names())
    found = imported(use, kind) if ":" in use else methods.get(use)
    if not callable(found):
        raise InputError(f"{kind} {use!r} is not a class")
    try:
        inspect.signature(found)
    except (TypeError, ValueError) as error:
        raise InputError(f"{kind} {use!r} is not a class of Python whose parameters can be seen") from error
    if inspect.isbuiltin(found):
        raise InputError(f"{kind} {use!r} is a built-in function: name a class with a fit method, or what makes one")
    return found


def reference_of(use: str) -> str:
    """Return the paper behind a method of ours or of an installed package, as BibTeX; empty where none is known.

    It stands in the docstring of the class. Only code that adds methods to Paragone is imported for it, since the name
    may come from a store of somebody else.

    Examples
    --------
    >>> reference_of("paragone.rankers.dagfs:DAGFS").splitlines()[0]
    '@misc{casu2026,'
    >>> reference_of("somewhere:Else")
    ''
    """
    path = present_name(use)
    found = next((methods.get(name) for name, place in methods.paths().items() if place == path), None)
    entry = re.search(r"^    @\w+\{.*?^    \}$", inspect.getdoc(found) or "", re.MULTILINE | re.DOTALL)
    return textwrap.dedent(entry[0]) if entry else ""


@dataclass(frozen=True)
class Method:
    """A configured estimator that can be built afresh anywhere, and hashed.

    Parameters
    ----------
    factory : type
        The class, or a function that makes the estimator.
    params : mapping
        The parameters that were set; a mapping with a ``use`` key inside stands for another estimator.

    Examples
    --------
    >>> method = Method.declare({"use": "mlknn", "params": {"n_neighbors": 5}})
    >>> method.build()
    MLkNN(n_neighbors=5)
    >>> method.label
    'paragone.methods.mlknn:MLkNN'
    """

    factory: Any
    params: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def declare(cls, given: Any, *, kind: str = "method") -> Self:
        """Make a method of an alias, a ``{use, params}`` mapping, a class or a configured estimator."""
        if isinstance(given, cls):
            return given
        if isinstance(given, str):
            return cls(resolve(given, kind=kind))
        if isinstance(given, Mapping):
            unknown = set(given) - {"use", "params"}
            if unknown or "use" not in given:
                wrong = f"unknown key {sorted(unknown)[0]!r}" if unknown else "the key 'use' is missing"
                raise InputError(f"{kind}: {wrong}; write {{ use = ..., params = {{...}} }}")
            params = given.get("params") or {}
            if not isinstance(params, Mapping) or not all(isinstance(name, str) for name in params):
                raise InputError(f"{kind}: params are names with their values, not {params!r}")
            method = cls(resolve(given["use"], kind=kind), dict(params))
            method.check_params(kind)
            return method
        if inspect.isclass(given):
            if not hasattr(given, "fit"):
                raise InputError(f"{kind}: the class {given.__name__} has no fit()")
            return cls(given)
        if hasattr(given, "fit"):
            return cls(type(given), _set_params(given))
        raise InputError(f"{kind}: expected a name, a mapping or an estimator, got {type(given).__name__}")

    @property
    def label(self) -> str:
        """The path of the class, ``module:Class``."""
        return f"{self.factory.__module__}:{self.factory.__qualname__}"

    @property
    def group(self) -> str:
        """Which cells of a split share work in one process with this one's; empty where each is to be alone.

        What is shared must be the same whoever makes it: a cell's result may not depend on which of them ran before.
        """
        return ""

    @property
    def logs(self) -> tuple[str, ...]:
        """The kinds of logs of a fit that it can write, to be kept beside the store."""
        return ()

    @property
    def log(self) -> str | None:
        """The kind of log that is kept."""
        return None

    def with_log(self, log: str, name: str) -> Self:
        """Return the method with a log that is kept, or say why it has none."""
        raise InputError(f"method {name!r} ({self.label}) writes no {log} log: leave log out of it")

    def check_params(self, kind: str) -> None:
        """Refuse a parameter that the class does not have, with the nearest that it has."""
        try:
            signature = inspect.signature(self.factory)
        except (TypeError, ValueError):
            # A compiled class may not tell its parameters.
            return
        if any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values()):
            return
        for name in self.params:
            if name not in signature.parameters:
                raise unknown_name(f"parameter of {kind}", name, signature.parameters)

    def build(self, seed: int | None = None) -> Any:
        """Make the estimator; a seed parameter that was not set takes ``seed``."""
        params = {name: _built(value) for name, value in self.params.items()}
        if seed is not None:
            for name in self.seed_parameters():
                params[name] = seed
        return self.factory(**params)

    def seed_parameters(self) -> tuple[str, ...]:
        """Name the seed parameters of the class that were not set."""
        known = _parameter_names(self.factory)
        return tuple(name for name in SEED_PARAMETERS if name in known and name not in self.params)

    def with_files_read(self, folder: Path) -> Self:
        """Return the method with the files that its parameters name read, so that their content identifies it.

        A class says in ``file_parameters`` which of its parameters may name a file, and what reads it.

        Parameters
        ----------
        folder : Path
            What relative names are relative to.
        """
        readers: Mapping[str, Callable[[Path], Any]] = getattr(self.factory, "file_parameters", {})
        files = {
            name: value for name, value in self.params.items() if name in readers and isinstance(value, (str, Path))
        }
        read = {name: readers[name](folder / value) for name, value in files.items()}
        return replace(self, params={**self.params, **read}) if read else self

    def identity(self) -> str:
        """Return a hash of the class, by the name it was first released under, and the parameters that were set."""
        return digest({"class": first_name(self.label), "params": dict(self.params)})

    def described(self) -> dict[str, Any]:
        """Return the class and the parameters as plain values, for people to read."""
        return {"use": self.label, "params": {name: _plain(value) for name, value in self.params.items()}}

    def with_nested(self) -> list[Method]:
        """Return the method and those that its parameters hold.

        A class says in ``method_parameters`` which of its parameters may name a method by a text alone.
        """
        named = (self.params.get(name) for name in getattr(self.factory, "method_parameters", ()))
        by_name = [Method.declare(given) for given in named if isinstance(given, str)]
        return [self, *_nested(self.params), *by_name]

    def versions(self) -> dict[str, str]:
        """Return the version of every installed package involved, and a hash of every file that may be edited."""
        return code_words((method.factory for method in self.with_nested()), digest)


@lru_cache(maxsize=256)
def _parameter_names(factory: Any) -> frozenset[str]:
    """Return the parameters of a class; looking them up costs more than building many an estimator."""
    return frozenset(inspect.signature(factory).parameters)


def _built(value: Any) -> Any:
    if isinstance(value, Method):
        return value.build()
    if isinstance(value, Mapping) and "use" in value:
        return Method.declare(value).build()
    if isinstance(value, (list, tuple)):
        return type(value)(_built(item) for item in value)
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, Method):
        return value.described()
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _nested(params: Any) -> list[Method]:
    if isinstance(params, Method):
        return [params, *_nested(params.params)]
    if isinstance(params, Mapping):
        inner = [Method.declare(params)] if "use" in params else []
        return inner + [m for value in params.values() for m in _nested(value)]
    if isinstance(params, (list, tuple)):
        return [m for item in params for m in _nested(item)]
    return []


def _set_params(estimator: Any) -> dict[str, Any]:
    """Return the parameters of a configured estimator that differ from its class's defaults."""
    defaults = {name: p.default for name, p in inspect.signature(type(estimator)).parameters.items()}
    params = {}
    for name, value in _configured(estimator, defaults).items():
        if _differs(value, defaults.get(name, inspect.Parameter.empty)):
            is_estimator = hasattr(value, "get_params") and not inspect.isclass(value)
            params[name] = Method.declare(value) if is_estimator else value
    return params


def _configured(estimator: Any, names: Iterable[str]) -> dict[str, Any]:
    """Return the parameters of an estimator: as scikit-learn asks, or the attributes its __init__ names."""
    if hasattr(estimator, "get_params"):
        return dict(estimator.get_params(deep=False))
    missing = [name for name in names if not hasattr(estimator, name)]
    if missing:
        raise InputError(
            f"{type(estimator).__name__} does not keep its parameter {missing[0]!r} as an attribute, so it cannot "
            "be built again: derive it from sklearn.base.BaseEstimator"
        )
    return {name: getattr(estimator, name) for name in names}


def _differs(value: Any, default: Any) -> bool:
    if isinstance(value, np.ndarray) or isinstance(default, np.ndarray):
        return not (type(value) is type(default) and np.array_equal(value, default))
    return type(value) is not type(default) or bool(value != default)


def digest(value: Any) -> str:
    """Hash a nested value by content: equal content, equal hash, in any process and on any machine.

    Examples
    --------
    >>> digest({"b": 1, "a": [1.5, None]}) == digest({"a": [1.5, None], "b": 1})
    True
    >>> digest(1) == digest(1.0)
    False
    """
    if type(value) is list and all(type(item) is str for item in value):
        # The keys of cells: there may be very many, and their text is the same without looking deeper.
        text = ", ".join(map(encode_basestring_ascii, value))
        return hashlib.sha256(f"[{text}]".encode()).hexdigest()
    return hashlib.sha256(json.dumps(_canonical(value), sort_keys=True).encode()).hexdigest()


def _canonical(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, Method):
        return {"method": value.identity()}
    if isinstance(value, Mapping):
        return {str(key): _canonical(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_canonical(item) for item in value]
    if isinstance(value, np.ndarray):
        content = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return {"array": [value.dtype.str, list(value.shape), content]}
    if callable(value) and hasattr(value, "__qualname__"):
        return {
            "callable": first_name(f"{value.__module__}:{value.__qualname__}"),
            "source": code_words([value], digest),
        }
    raise InputError(
        f"a parameter of type {type(value).__name__} cannot be identified by content: use numbers, text, "
        "lists, arrays, functions or estimators"
    )
