"""Methods by name: resolve an alias or ``module:Class``, keep the parameters, say what identifies them."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, Self

import numpy as np

from paragone.errors import InputError, unknown_name
from paragone.hashing import digest
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
        # The way Python itself writes it; a short name has no dots.
        module, dot, name = use.rpartition(".")
        if not dot:
            refused = unknown_name(kind, use, methods.names())
            is_near = "did you mean" in str(refused)
            raise (
                refused
                if is_near
                else InputError(f"{refused} (a class is written 'package.module:Class')")
            )
        use = f"{module}:{name}"
    found = imported(use, kind) if ":" in use else methods.get(use)
    if not callable(found):
        raise InputError(f"{kind} {use!r} is not a class")
    try:
        inspect.signature(found)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{kind} {use!r} is not a class of Python whose parameters can be seen"
        ) from error
    if inspect.isbuiltin(found):
        raise InputError(
            f"{kind} {use!r} is a built-in function: name a class with a fit method, or what"
            " makes one"
        )
    return found


def reference_of(use: str) -> str:
    """Return the paper behind a method of ours or of an installed package, as BibTeX; empty where none is known.

    It stands in the docstring of the class. Only code that adds methods to Paragone is imported for
    it, since the name may come from a store of somebody else.

    Examples
    --------
    >>> reference_of("paragone.rankers.dagfs:DAGFS").splitlines()[0]
    '@misc{casu2026,'
    >>> reference_of("somewhere:Else")
    ''
    """
    path = present_name(use)
    found = next(
        (methods.get(name) for name, place in methods.paths().items() if place == path), None
    )
    entry = re.search(
        r"^    @\w+\{.*?^    \}$", inspect.getdoc(found) or "", re.MULTILINE | re.DOTALL
    )
    return textwrap.dedent(entry[0]) if entry else ""


@dataclass(frozen=True)
class Method:
    """A configured estimator that can be built afresh anywhere, and hashed.

    Parameters
    ----------
    factory : type
        The class, or a function that makes the estimator.
    params : mapping
        The parameters that were set; a mapping with a ``use`` key inside stands for another
        estimator.
    output : str, default=""
        What ``set_output`` of scikit-learn was told, such as ``"pandas"``.

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
    output: str = field(default="", kw_only=True)

    @classmethod
    def declare(cls, given: Any, *, kind: str = "method") -> Self:
        """Make a method of an alias, a ``{use, params}`` mapping, a class or a configured estimator."""
        if isinstance(given, cls):
            return given
        if isinstance(given, str):
            return cls(resolve(given, kind=kind))
        if isinstance(given, Mapping):
            if not isinstance(given.get("use", ""), str):
                raise InputError(
                    f"{kind}: 'use' names a class, it is {type(given['use']).__name__}: give the"
                    " estimator itself in place of the mapping"
                )
            unknown = set(given) - {"use", "params"}
            if unknown or "use" not in given:
                wrong = (
                    f"unknown key {sorted(unknown)[0]!r}" if unknown else "the key 'use' is missing"
                )
                raise InputError(f"{kind}: {wrong}; write {{ use = ..., params = {{...}} }}")
            params = given.get("params") or {}
            if not isinstance(params, Mapping) or not all(isinstance(name, str) for name in params):
                raise InputError(f"{kind}: params are names with their values, not {params!r}")
            method = cls(
                resolve(given["use"], kind=kind),
                {name: _declared(value) for name, value in params.items()},
            )
            method.check_params(kind)
            return method
        if isinstance(given, partial) and not given.args:
            method = cls(
                given.func, {name: _declared(value) for name, value in given.keywords.items()}
            )
            method.check_params(kind)
            return method
        if inspect.isclass(given):
            if not hasattr(given, "fit"):
                raise InputError(f"{kind}: the class {given.__name__} has no fit()")
            return cls(given)
        if hasattr(given, "fit") or hasattr(given, "transform"):
            return cls(type(given), _set_params(given), output=_output_of(given))
        if inspect.isfunction(given):
            return cls(given)
        raise InputError(
            f"{kind}: expected a name, a mapping, an estimator or a function that makes one, got"
            f" {type(given).__name__}"
        )

    @property
    def label(self) -> str:
        """The path of the class, ``module:Class``."""
        return f"{self.factory.__module__}:{self.factory.__qualname__}"

    @property
    def group(self) -> str:
        """Which cells of a split share work in one process with this one's; empty where each is to be alone.

        What is shared must be the same whoever makes it: a cell's result may not depend on which of
        them ran before.
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
        estimator = self.factory(**params)
        if self.output:
            estimator.set_output(transform=self.output)
        if seed is not None and self.inner_seeds:
            estimator.set_params(**dict.fromkeys(self.inner_seeds, seed))
        return estimator

    def seed_parameters(self) -> tuple[str, ...]:
        """Name the seed parameters of the class that were not set."""
        known = _parameter_names(self.factory)
        return tuple(name for name in SEED_PARAMETERS if name in known and name not in self.params)

    def has_parameter(self, name: str) -> bool:
        """Say whether the class takes a parameter."""
        return name in _parameter_names(self.factory)

    @cached_property
    def inner_seeds(self) -> tuple[str, ...]:
        """The seed parameters that were not set inside a method that holds a list of estimators, such as a pipeline.

        An estimator that is alone a parameter of another draws from the global generators, which
        every cell seeds: so it was when results of such methods were first stored.
        """
        if not self._lists_methods:
            return ()
        held = self.factory(
            **{name: _built(value) for name, value in self.params.items()}
        ).get_params(deep=True)
        ends = tuple(f"__{name}" for name in SEED_PARAMETERS)
        return tuple(
            sorted(name for name, value in held.items() if value is None and name.endswith(ends))
        )

    @property
    def _lists_methods(self) -> bool:
        own = [
            value._lists_methods if isinstance(value, Method) else _holds_method(value)
            for value in self.params.values()
        ]
        return any(own)

    @property
    def has_seed(self) -> bool:
        """Whether the experiment's seed changes what the method does: a seed, its own or inside it, was not set."""
        inside = [value.has_seed for value in self.params.values() if isinstance(value, Method)]
        return bool(self.seed_parameters() or self.inner_seeds) or any(inside)

    def with_files_read(self, folder: Path) -> Self:
        """Return the method with the files that its parameters name read, so that their content identifies it.

        A class says in ``file_parameters`` which of its parameters may name a file, and what reads
        it.

        Parameters
        ----------
        folder : Path
            What relative names are relative to.
        """
        readers: Mapping[str, Callable[[Path], Any]] = getattr(self.factory, "file_parameters", {})
        files = {
            name: value
            for name, value in self.params.items()
            if name in readers and isinstance(value, (str, Path))
        }
        read = {name: readers[name](folder / value) for name, value in files.items()}
        return replace(self, params={**self.params, **read}) if read else self

    def __content__(self) -> dict[str, str]:
        """Return what stands for the method in a hash."""
        return {"method": self.identity()}

    def identity(self) -> str:
        """Return a hash of the class, by the name it was first released under, and the parameters that were set."""
        output = {"output": self.output} if self.output else {}
        return digest({"class": first_name(self.label), "params": dict(self.params), **output})

    def described(self) -> dict[str, Any]:
        """Return the class and the parameters as plain values, for people to read."""
        return {
            "use": self.label,
            "params": {name: _plain(value) for name, value in self.params.items()},
        }

    def with_nested(self) -> list[Method]:
        """Return the method and those that its parameters hold.

        A class says in ``method_parameters`` which of its parameters may name a method by a text
        alone.
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
    if isinstance(value, Mapping):
        if "use" in value:
            return Method.declare(value).build()
        return {key: _built(item) for key, item in value.items()} if _holds_method(value) else value
    if isinstance(value, (list, tuple)):
        return _rebuilt(value, [_built(item) for item in value])
    return value


def _rebuilt(value: Any, items: list[Any]) -> Any:
    return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)


def _holds_method(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(_holds_method(item) for item in value.values())
    if isinstance(value, (list, tuple)):
        return any(_holds_method(item) for item in value)
    return isinstance(value, Method)


def _declared(value: Any) -> Any:
    """Return a parameter with every estimator in it as a method, however deep in lists and mappings."""
    if isinstance(value, (list, tuple)):
        return _rebuilt(value, [_declared(item) for item in value])
    if isinstance(value, dict):
        return {key: _declared(item) for key, item in value.items()}
    # An estimator that is copied by its own rule, such as a frozen one, holds more than its
    # parameters.
    own_copy = hasattr(value, "__sklearn_clone__") and "__sklearn_clone__" in vars(type(value))
    if inspect.isclass(value) or not hasattr(value, "get_params") or own_copy:
        return value
    return Method(type(value), _set_params(value), output=_output_of(value))


def _output_of(estimator: Any) -> str:
    """Return what the estimator itself was told by ``set_output``; scikit-learn keeps it beside the parameters."""
    return str((getattr(estimator, "_sklearn_output_config", None) or {}).get("transform") or "")


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
    defaults = {
        name: p.default for name, p in inspect.signature(type(estimator)).parameters.items()
    }
    params = {}
    for name, value in _configured(estimator, defaults).items():
        if _differs(value, defaults.get(name, inspect.Parameter.empty)):
            params[name] = _declared(value)
    return params


def _configured(estimator: Any, names: Iterable[str]) -> dict[str, Any]:
    """Return the parameters of an estimator: as scikit-learn asks, or the attributes its __init__ names."""
    if hasattr(estimator, "get_params"):
        return dict(estimator.get_params(deep=False))
    missing = [name for name in names if not hasattr(estimator, name)]
    if missing:
        raise InputError(
            f"{type(estimator).__name__} does not keep its parameter {missing[0]!r} as an"
            " attribute, so it cannot be built again: derive it from sklearn.base.BaseEstimator"
        )
    return {name: getattr(estimator, name) for name in names}


def _differs(value: Any, default: Any) -> bool:
    if isinstance(value, np.ndarray) or isinstance(default, np.ndarray):
        return not (type(value) is type(default) and np.array_equal(value, default))
    if type(value) is not type(default):
        return True
    if isinstance(value, (list, tuple, dict)) or not _compares(value):
        # They may hold arrays or estimators, which do not compare to one answer; the hash tells.
        return value is not default and digest(_declared(value)) != digest(_declared(default))
    return bool(value != default)


def _compares(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str, bytes)) or callable(value)
