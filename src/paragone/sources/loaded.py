"""The code that is loaded now, and what its live objects refer to."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import inspect
import marshal
import pickle
import sys
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache, partial
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from paragone.errors import InputError
from paragone.sources.finding import Found


def byte_code(code: CodeType) -> bytes:
    r"""Return what a code object does, with the code inside it; where it stands in its file does not matter.

    Examples
    --------
    >>> one, other = (compile(text, "", "exec") for text in ("def f(): return 1", "\n\ndef f(): return 1"))
    >>> byte_code(one) == byte_code(other), one == other
    (True, False)
    """
    inner = b"".join(byte_code(const) for const in code.co_consts if isinstance(const, CodeType))
    plain = [_stable(const) for const in code.co_consts if not isinstance(const, CodeType)]
    return b"|".join(
        [code.co_code, repr((code.co_name, code.co_names, code.co_varnames, plain)).encode(), inner]
    )


def _stable(const: Any) -> Any:
    """Write a constant in a way that does not depend on the order of hashes."""
    if isinstance(const, frozenset):
        return "frozenset", sorted(map(repr, const))
    if isinstance(const, tuple):
        return tuple(_stable(item) for item in const)
    return type(const).__name__, repr(const)


_HEADER = 16
_FIRST_SEEN: dict[str, tuple[ModuleSpec, str]] = {}


def check_loaded(found: Found, source: bytes) -> None:
    """Refuse a module whose file says something else than what Python runs: no key could be true.

    Comments and empty lines may differ. A module that is not imported yet will be imported as it
    stands, and one that a tool rewrote while it was imported cannot be compared.

    Parameters
    ----------
    found : Found
        A module with a source file.
    source : bytes
        What the file says now.
    """
    module, spec = sys.modules.get(found.name), found.spec
    if (
        not isinstance(module, ModuleType)
        or spec is None
        or type(spec.loader) is not SourceFileLoader
    ):
        return
    meaning = _meaning(source)
    known = _FIRST_SEEN.get(found.name)
    if known is not None and known[0] is spec:
        if known[1] != meaning:
            raise _edited(found)
        return
    compiled = _compiled(source, str(found.file))
    if compiled is None:
        raise _edited(found)
    texts = {byte_code(code) for code in _codes(compiled)}
    for function in _functions(module, str(found.file)):
        if byte_code(function.__code__) not in texts:
            raise _edited(found, f" in {function.__qualname__!r}")
    if _is_outdated(found.file, spec, source, compiled):
        raise InputError(
            f"{found.shown}: Python runs old byte code of it, since size and time of the file are"
            " those of an earlier version: save the file again, or delete"
            f" {Path(str(spec.cached)).name!r} in __pycache__, and start again"
        )
    _FIRST_SEEN[found.name] = spec, meaning


def _edited(found: Found, where: str = "") -> InputError:
    return InputError(
        f"{found.shown} is not what Python imported{where}: it was edited since; restart Python (or"
        f" reload {found.name!r}) so that results belong to the code that made them"
    )


@lru_cache(maxsize=512)
def _meaning(source: bytes) -> str:
    """Hash a source without its comments and lines."""
    try:
        return hashlib.sha256(ast.dump(ast.parse(source)).encode()).hexdigest()
    except (SyntaxError, ValueError):
        return hashlib.sha256(source).hexdigest()


@lru_cache(maxsize=512)
def _compiled(source: bytes, file: str) -> CodeType | None:
    try:
        return compile(source, file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _codes(const)


def _functions(module: ModuleType, file: str) -> Iterator[FunctionType]:
    """Yield the functions that stand in a module and in its classes, and were written in its file."""
    for value in list(vars(module).values()):
        members = (
            list(vars(value).values())
            if inspect.isclass(value) and _belongs(value, module)
            else [value]
        )
        for member in members:
            function = plain_function(member)
            if (
                function is not None
                and _belongs(function, module)
                and function.__code__.co_filename == file
            ):
                yield function


def _belongs(value: Any, module: ModuleType) -> bool:
    return getattr(value, "__module__", None) == module.__name__


def plain_function(value: Any) -> FunctionType | None:
    """Return the function inside a method, a property, a decorated or a compiled function; None where there is none.

    Examples
    --------
    >>> class A:
    ...     @staticmethod
    ...     def f(): ...
    >>> plain_function(vars(A)["f"]).__name__, plain_function(3)
    ('f', None)
    """
    for _ in range(20):
        if isinstance(value, FunctionType):
            inner = vars(value).get("__wrapped__")
            if not isinstance(inner, FunctionType):
                return value
            value = inner
        else:
            value = _inner(value)
    return None


def _inner(value: Any) -> Any:
    """Return what a descriptor or a wrapper wraps; of an unknown object only what it plainly holds is asked."""
    if isinstance(value, (staticmethod, classmethod, MethodType)):
        return value.__func__
    if isinstance(value, property):
        return value.fget
    if isinstance(value, (partial, cached_property)):
        return value.func
    held = getattr(value, "__dict__", {}) if not inspect.isclass(value) else {}
    return held.get("py_func") or held.get("__wrapped__")


def _is_outdated(file: Path, spec: ModuleSpec, source: bytes, compiled: CodeType) -> bool:
    """Whether the byte code that Python takes for this file's was made from another text."""
    try:
        cached = Path(str(spec.cached)).read_bytes()
        stat = file.stat()
    except OSError:
        return False
    flags, second, size = (
        int.from_bytes(cached[start : start + 4], "little") for start in (4, 8, 12)
    )
    taken = (second, size) == (int(stat.st_mtime) & 0xFFFFFFFF, len(source) & 0xFFFFFFFF)
    if cached[:4] != importlib.util.MAGIC_NUMBER or flags or not taken:
        return False
    try:
        # The very bytes that Python itself has just run as this module.
        old = marshal.loads(cached[_HEADER:])  # noqa: S302
    except (EOFError, ValueError, TypeError):
        return False
    return isinstance(old, CodeType) and byte_code(old) != byte_code(compiled)


_NOT_CODE = {
    "__dict__", "__doc__", "__firstlineno__", "__module__", "__orig_bases__", "__parameters__", "__qualname__",
    "__static_attributes__", "__weakref__", "__abstractmethods__", "_abc_impl", "__annotations__",
    "__annotate__", "__annotations_cache__", "__annotate_func__",
}  # fmt: skip


def live_digest(value: Any, plain: Callable[[Any], str]) -> tuple[str, set[str]]:
    """Hash a class or function of a notebook, a script or a function's inside, with what it refers to.

    Followed are the functions, classes and values that its code names, as far as they stand in the
    same module, the defaults of its parameters, and the variables of the function that it was made
    in.

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
    walk = _ObjectWalk(value, plain)
    walk.visit(value)
    return hashlib.sha256(b"\0".join(walk.told)).hexdigest(), walk.modules


class _ObjectWalk:
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
        for default in (
            *(function.__defaults__ or ()),
            *sorted((function.__kwdefaults__ or {}).items()),
        ):
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
