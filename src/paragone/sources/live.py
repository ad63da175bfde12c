"""Live objects: a class or function without a file of its own, identified by all that it does."""

from __future__ import annotations

import hashlib
import inspect
import pickle
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

from paragone.sources.byte_code import byte_code
from paragone.sources.loaded import plain_function

_NOT_CODE = {
    "__dict__", "__doc__", "__firstlineno__", "__module__", "__orig_bases__", "__parameters__", "__qualname__",
    "__static_attributes__", "__weakref__", "__abstractmethods__", "_abc_impl", "__annotations__",
    "__annotate__", "__annotations_cache__", "__annotate_func__",
}  # fmt: skip


def live_digest(value: Any, plain: Callable[[Any], str]) -> tuple[str, set[str]]:
    """Hash a class or function of a notebook, a script or a function's inside, with what it refers to.

    Followed are the functions, classes and values that its code names, as far as they stand in the same module, the
    defaults of its parameters, and the variables of the function that it was made in.

    Parameters
    ----------
    value : type or function
        What to identify.
    plain : callable
        Hashes a plain value by content; raises ValueError for one that is none.

    Returns
    -------
    str, set of str
        The hash, and the other modules that it refers to.

    Examples
    --------
    >>> def scaled(factor):
    ...     return lambda x: x * factor
    >>> live_digest(scaled(2), repr)[0] == live_digest(scaled(3), repr)[0]
    False
    """
    walk = _Walk(value, plain)
    walk.visit(value)
    return hashlib.sha256(b"\0".join(walk.told)).hexdigest(), walk.modules


class _Walk:
    """One walk over what a live object refers to, each thing once."""

    def __init__(self, value: Any, plain: Callable[[Any], str]) -> None:
        self.told: list[bytes] = []
        self.modules: set[str] = set()
        self._home = str(value.__module__)
        self._plain = plain
        self._seen: dict[int, Any] = {}

    def visit(self, value: Any) -> None:
        """Tell what a value is; what stands in another module is told by that module."""
        if isinstance(value, ModuleType):
            self._refer(value.__name__, "")
        elif inspect.isclass(value):
            self._visit_class(value)
        elif (function := plain_function(value)) is not None:
            self._visit_function(function)
        elif callable(value) and hasattr(value, "__qualname__"):
            self._refer(str(value.__module__), value.__qualname__)
        else:
            self._visit_value(value)

    def _refer(self, module: str, name: str) -> None:
        if module not in ("builtins", "None"):
            self.modules.add(module)
        self.told.append(f"{module}:{name}".encode())

    def _is_new(self, value: Any) -> bool:
        # Kept, so that no other object takes its place in memory.
        new = id(value) not in self._seen
        self._seen[id(value)] = value
        return new

    def _visit_class(self, value: type) -> None:
        if value.__module__ != self._home:
            self._refer(value.__module__, value.__qualname__)
            return
        self.told.append(f"class {value.__qualname__}".encode())
        if not self._is_new(value):
            return
        for base in value.__bases__:
            self.visit(base)
        for name, member in sorted(vars(value).items()):
            if name not in _NOT_CODE:
                self.told.append(name.encode())
                self.visit(member)

    def _visit_function(self, function: FunctionType) -> None:
        if function.__module__ != self._home:
            self._refer(str(function.__module__), function.__qualname__)
            return
        self.told.append(f"function {function.__qualname__}".encode())
        if not self._is_new(function):
            return
        self.told.append(byte_code(function.__code__))
        for default in (*(function.__defaults__ or ()), *sorted((function.__kwdefaults__ or {}).items())):
            self.visit(default)
        for cell in function.__closure__ or ():
            try:
                self.visit(cell.cell_contents)
            except ValueError:
                self.told.append(b"empty")
        for name in sorted(set(_names(function.__code__))):
            if name in function.__globals__ and name != "__builtins__":
                self.told.append(name.encode())
                self.visit(function.__globals__[name])

    def _visit_value(self, value: Any) -> None:
        try:
            self.told.append(self._plain(value).encode())
        except ValueError:
            self._visit_object(value)

    def _visit_object(self, value: Any) -> None:
        """Tell an object that is no plain value by its class and, where it can be pickled, its state."""
        if not self._is_new(value):
            return
        self.visit(type(value))
        try:
            self.told.append(pickle.dumps(value, protocol=4))
        except Exception:  # noqa: BLE001  a stranger's object decides what its pickling raises
            self.told.append(b"not picklable")


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _names(const)
