"""What Python runs against what the file says: an edit after the import, and byte code that is out of date."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import inspect
import marshal
import sys
from collections.abc import Iterator
from functools import cached_property, lru_cache, partial
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from paragone.errors import InputError
from paragone.sources.byte_code import byte_code
from paragone.sources.finding import Found

_HEADER = 16
_FIRST_SEEN: dict[str, tuple[ModuleSpec, str]] = {}


def check_loaded(found: Found, source: bytes) -> None:
    """Refuse a module whose file says something else than what Python runs: no key could be true.

    Comments and empty lines may differ. A module that is not imported yet will be imported as it stands, and one that
    a tool rewrote while it was imported cannot be compared.

    Parameters
    ----------
    found : Found
        A module with a source file.
    source : bytes
        What the file says now.
    """
    module, spec = sys.modules.get(found.name), found.spec
    if not isinstance(module, ModuleType) or spec is None or type(spec.loader) is not SourceFileLoader:
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
            f"{found.shown}: Python runs old byte code of it, since size and time of the file are those of an earlier "
            f"version: save the file again, or delete {Path(str(spec.cached)).name!r} in __pycache__, and start again"
        )
    _FIRST_SEEN[found.name] = spec, meaning


def _edited(found: Found, where: str = "") -> InputError:
    return InputError(
        f"{found.shown} is not what Python imported{where}: it was edited since; restart Python (or reload "
        f"{found.name!r}) so that results belong to the code that made them"
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
        members = list(vars(value).values()) if inspect.isclass(value) and _belongs(value, module) else [value]
        for member in members:
            function = plain_function(member)
            if function is not None and _belongs(function, module) and function.__code__.co_filename == file:
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
    flags, second, size = (int.from_bytes(cached[start : start + 4], "little") for start in (4, 8, 12))
    taken = (second, size) == (int(stat.st_mtime) & 0xFFFFFFFF, len(source) & 0xFFFFFFFF)
    if cached[:4] != importlib.util.MAGIC_NUMBER or flags or not taken:
        return False
    try:
        # The very bytes that Python itself has just run as this module.
        old = marshal.loads(cached[_HEADER:])  # noqa: S302
    except (EOFError, ValueError, TypeError):
        return False
    return isinstance(old, CodeType) and byte_code(old) != byte_code(compiled)
