"""Imports of a module, read from its source or its byte code, also those inside functions."""

from __future__ import annotations

import ast
import dis
import importlib.util
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any

_COMPUTED = ("import_module", "__import__", "iter_modules", "walk_packages")
_BLOCKS = ("body", "handlers", "cases", "orelse", "finalbody")
_DOTTED = re.compile(r"\.*[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


@dataclass(frozen=True)
class Imports:
    """What a module imports.

    Parameters
    ----------
    wanted : tuple of str
        Modules that must be there.
    possible : tuple of str
        What may be a module or a name in one, as ``b`` of ``from a import b``.
    computed : bool
        Whether names are computed, so that any module beside it may be imported.
    texts : tuple of str
        Where names are computed, the texts that may be such names.
    """

    wanted: tuple[str, ...] = ()
    possible: tuple[str, ...] = ()
    computed: bool = False
    texts: tuple[str, ...] = ()


def imports_of_source(source: bytes, package: str) -> Imports:
    r"""Read the imports of a source file, but for those that only a type checker sees.

    Parameters
    ----------
    source : bytes
        The file.
    package : str
        What relative imports are relative to.

    Examples
    --------
    >>> imports_of_source(b"from . import near\ndef later():\n    import far.away", "lab")
    Imports(wanted=('lab', 'far.away'), possible=('lab.near',), computed=False, texts=())
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        # It cannot be imported, so it imports nothing.
        return Imports()
    found: list[tuple[int, str, tuple[str, ...]]] = []
    texts: list[str] = []
    computed = False
    # Imports are statements; only where names may be computed do expressions matter, which are many.
    statements_only = not any(name.encode() in source for name in _COMPUTED)
    for node in _executed(tree, statements_only):
        if isinstance(node, ast.Import):
            found += [(0, alias.name, ()) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append((node.level, node.module or "", tuple(alias.name for alias in node.names)))
        elif isinstance(node, (ast.Name, ast.Attribute)):
            computed = computed or (node.id if isinstance(node, ast.Name) else node.attr) in _COMPUTED
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.append(node.value)
    return _resolved(found, texts if computed else (), package, computed)


def imports_of_code(code: CodeType, package: str) -> Imports:
    r"""Read the imports of byte code that has no source.

    Examples
    --------
    >>> imports_of_code(compile("from . import near\nimport far.away", "", "exec"), "lab")
    Imports(wanted=('lab', 'far.away'), possible=('lab.near',), computed=False, texts=())
    """
    found: list[tuple[int, str, tuple[str, ...]]] = []
    texts: list[str] = []
    computed = False
    for inner in _codes(code):
        before: list[Any] = [None, None]
        for instruction in dis.get_instructions(inner):
            if instruction.opname == "IMPORT_NAME":
                level, names = before[-2:]
                found.append((int(level or 0), str(instruction.argval or ""), tuple(names or ())))
            if instruction.opname not in ("CACHE", "EXTENDED_ARG"):
                before.append(instruction.argval)
        computed = computed or any(name in _COMPUTED for name in inner.co_names)
        texts += [const for const in inner.co_consts if isinstance(const, str)]
    return _resolved(found, texts if computed else (), package, computed)


def _executed(tree: ast.Module, statements_only: bool) -> Iterator[ast.AST]:
    """Yield the nodes of a tree, in order, but for the blocks under ``if TYPE_CHECKING``."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.If) and _is_type_checking(node.test):
            inner: list[Any] = node.orelse
        elif statements_only:
            inner = [each for name in _BLOCKS for each in getattr(node, name, ())]
        else:
            inner = list(ast.iter_child_nodes(node))
        waiting += reversed(inner)


def _is_type_checking(test: ast.expr) -> bool:
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")
    return name == "TYPE_CHECKING"


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _codes(const)


def _resolved(
    found: Iterable[tuple[int, str, tuple[str, ...]]], texts: Iterable[str], package: str, computed: bool
) -> Imports:
    wanted: dict[str, None] = {}
    possible: dict[str, None] = {}
    for level, name, names in found:
        module = _absolute("." * level + name, package)
        if module:
            wanted[module] = None
            possible |= {f"{module}.{each}": None for each in names if each != "*"}
    named = [module for text in texts if _DOTTED.fullmatch(text) and (module := _absolute(text, package))]
    return Imports(tuple(wanted), tuple(possible), computed, tuple(dict.fromkeys(named)))


def _absolute(name: str, package: str) -> str:
    try:
        return importlib.util.resolve_name(name, package or None)
    except ImportError:
        return ""
