"""Finding the files that code is made of: where a module comes from, and what it imports."""

from __future__ import annotations

import ast
import dis
import importlib.util
import os
import re
import sys
import sysconfig
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.metadata import PathDistribution
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Literal, TypeAlias, TypeVar

Kind: TypeAlias = Literal["standard", "frozen", "file", "namespace", "missing"]

OURS = "paragone"
OUR_FOLDER = Path(__file__).resolve().parents[1]
PACKAGE_FOLDERS = {"site-packages", "dist-packages"}
_METADATA = re.compile(r"\.(dist|egg)-info$")
_Seen = TypeVar("_Seen")
_LOOK: ContextVar[dict[Hashable, Any] | None] = ContextVar("look", default=None)


@dataclass(frozen=True)
class Found:
    """Where a module comes from.

    Parameters
    ----------
    name : str
        The module's name.
    kind : {"standard", "frozen", "file", "namespace", "missing"}
        Of Python itself; of an installed distribution that nobody edits; a file that may be edited,
        such as one on PYTHONPATH or of an editable install; a package without a file; or nowhere.
    spec : ModuleSpec, optional
        What Python knows of it.
    version : str
        The version of the distribution, where it is frozen.
    """

    name: str
    kind: Kind
    spec: ModuleSpec | None = None
    version: str = ""

    @property
    def top(self) -> str:
        """The package that it is imported from."""
        return self.name.partition(".")[0]

    @property
    def file(self) -> Path:
        """The file of a module that has one."""
        return Path(str(self.spec.origin if self.spec else None))

    @property
    def is_package(self) -> bool:
        """Whether it has modules below it."""
        return self.spec is not None and self.spec.submodule_search_locations is not None

    @property
    def shown(self) -> str:
        """The file as its users know it: relative to the folder that it is imported from."""
        ending = (
            self.file.name
            if self.is_package
            else f"{self.name.rpartition('.')[2]}{self.file.suffix}"
        )
        folder = self.name if self.is_package else self.name.rpartition(".")[0]
        return "/".join([*filter(None, folder.split(".")), ending])


@contextmanager
def one_look() -> Iterator[None]:
    """Read every file once inside this block: what is planned together is seen at one moment.

    Examples
    --------
    >>> with one_look():
    ...     content(Path("no such file")) is None
    True
    """
    # Nothing is kept longer: size and time of a file may stay as they are when its content changes.
    token = _LOOK.set({} if _LOOK.get() is None else _LOOK.get())
    try:
        yield
    finally:
        _LOOK.reset(token)


def seen_once(key: Hashable, look: Callable[[], _Seen]) -> _Seen:
    """Return what a look gives: looked at once inside `one_look`, and every time outside of it.

    Examples
    --------
    >>> with one_look():
    ...     seen_once("a", lambda: 1), seen_once("a", lambda: 2)
    (1, 1)
    """
    seen = _LOOK.get()
    if seen is None:
        return look()
    if key not in seen:
        seen[key] = look()
    found: _Seen = seen[key]
    return found


def content(file: Path, spec: ModuleSpec | None = None) -> bytes | None:
    """Return the bytes of a module's file, also of one in an archive; None where it cannot be read."""
    return seen_once(("content", str(file)), lambda: _read(file, spec))


def _read(file: Path, spec: ModuleSpec | None) -> bytes | None:
    try:
        return file.read_bytes()
    except OSError:
        return _archived(file, spec)


def _archived(file: Path, spec: ModuleSpec | None) -> bytes | None:
    read = getattr(spec.loader if spec else None, "get_data", None)
    try:
        return bytes(read(str(file))) if read else None
    except OSError:
        return None


def find(name: str) -> Found:
    """Find a module: as it was imported, or as it would be.

    Examples
    --------
    >>> find("json").kind, find("numpy.linalg").kind, find("no_such_module").kind
    ('standard', 'frozen', 'missing')
    """
    return seen_once(("module", name), lambda: _find(name))


def _find(name: str) -> Found:
    spec = _spec(name)
    if spec is None:
        return Found(name, "missing")
    origin = spec.origin
    if origin in (None, "namespace"):
        return Found(
            name, "namespace" if spec.submodule_search_locations is not None else "standard", spec
        )
    if origin in ("built-in", "frozen") or _is_standard(Path(str(origin))):
        return Found(name, "standard", spec)
    found = Found(name, "file", spec)
    version = _frozen_version(found)
    return found if version is None else Found(name, "frozen", spec, version)


def _spec(name: str) -> ModuleSpec | None:
    if name in sys.modules:
        return _spec_of(sys.modules[name], name)
    parent, _, _ = name.rpartition(".")
    if not parent:
        try:
            return importlib.util.find_spec(name)
        except (ImportError, ValueError, AttributeError):
            return None
    if _is_plain_name(name, parent):
        return None
    above = _spec(parent)
    if above is None or above.submodule_search_locations is None:
        return None
    # importlib.util.find_spec would import the package above.
    for finder in sys.meta_path:
        spec = getattr(finder, "find_spec", _no_spec)(name, above.submodule_search_locations, None)
        if isinstance(spec, ModuleSpec):
            return spec
    return None


def _is_plain_name(name: str, parent: str) -> bool:
    """Whether what is imported from a module is known to be a class, a function or a value in it."""
    held = getattr(sys.modules.get(parent), "__dict__", {}).get(name.rpartition(".")[2])
    return held is not None and not isinstance(held, ModuleType)


def _no_spec(*_: object) -> None:
    return None


def _spec_of(module: ModuleType | None, name: str) -> ModuleSpec | None:
    """Return where a module that is there came from; None for one that somebody put there by hand."""
    spec = getattr(module, "__spec__", None)
    if isinstance(spec, ModuleSpec):
        return spec
    file = getattr(module, "__file__", None)
    return importlib.util.spec_from_file_location(name, file) if isinstance(file, str) else None


@cache
def _standard_folders() -> tuple[str, ...]:
    given = [Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")]
    return tuple({str(path) + os.sep for folder in given for path in (folder, folder.resolve())})


def _is_standard(file: Path) -> bool:
    return str(file).startswith(_standard_folders()) and not PACKAGE_FOLDERS & set(file.parts)


def own_version() -> str:
    """Return the version of Paragone.

    Examples
    --------
    >>> own_version().count(".")
    2
    """
    # Not imported: the door of the package names everything in it, and whatever imports it would
    # hang on all of that.
    return str(sys.modules[OURS].__version__)


def is_installed(path: str | Path) -> bool:
    """Tell whether a file or folder belongs to Python, to an installed package or to Paragone itself.

    What does not is the user's own: it is imported anew for every cell, sent to workers elsewhere,
    and named in the provenance of a run. A checkout of Paragone counts as installed.

    Examples
    --------
    >>> is_installed(sysconfig.get_path("stdlib")), is_installed("beside/the/experiment")
    (True, False)
    """
    whole = Path(path).resolve()
    return whole.is_relative_to(OUR_FOLDER) or is_in_packages(whole)


def is_in_packages(path: Path) -> bool:
    """Tell whether a file or folder stands where Python or an installer puts packages, as no checkout does."""
    whole = path.resolve()
    return bool(PACKAGE_FOLDERS & set(whole.parts)) or f"{whole}{os.sep}".startswith(
        _standard_folders()
    )


def is_installed_module(module: ModuleType) -> bool:
    """Tell whether a module belongs to an installed package or to Python, and so does not change between runs.

    Examples
    --------
    >>> import json
    >>> is_installed_module(json)
    True
    """
    file = getattr(module, "__file__", None)
    return (
        is_installed(file) if isinstance(file, str) else module.__name__ in sys.builtin_module_names
    )


def _frozen_version(found: Found) -> str | None:
    """Return the version of the installed distribution that has this very file; None where none has.

    An editable install has its files elsewhere, and a file that was copied among the installed ones
    is in no list.
    """
    depth = found.name.count(".") + found.is_package
    if depth >= len(found.file.parents):
        return None
    folder = found.file.parents[depth]
    start = folder / found.top / "__init__.py"
    file = start if found.file.is_relative_to(start.parent) and start.is_file() else found.file
    return _recorded_version(str(folder), file.relative_to(folder).as_posix())


@cache
def _recorded_version(folder: str, file: str) -> str | None:
    top = re.split(r"[/.]", file)[0]
    for metadata in _metadata(folder):
        if _lists(metadata, file, top):
            return PathDistribution(metadata).version
    return None


@cache
def _metadata(folder: str) -> tuple[Path, ...]:
    try:
        return tuple(sorted(path for path in Path(folder).iterdir() if _METADATA.search(path.name)))
    except OSError:
        return ()


def _lists(metadata: Path, file: str, top: str) -> bool:
    record = _text(metadata / "RECORD")
    if record:
        return f"\n{file}," in f"\n{record}"
    # Packages of a system's own distribution come without RECORD.
    return top in _text(metadata / "top_level.txt").split() or metadata.name.lower().startswith(
        f"{top.lower()}-"
    )


@cache
def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


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
    # Imports are statements; only where names may be computed do expressions matter, which are
    # many.
    statements_only = not any(name.encode() in source for name in _COMPUTED)
    for node in _executed(tree, statements_only):
        if isinstance(node, ast.Import):
            found += [(0, alias.name, ()) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append((node.level, node.module or "", tuple(alias.name for alias in node.names)))
        elif isinstance(node, (ast.Name, ast.Attribute)):
            computed = (
                computed or (node.id if isinstance(node, ast.Name) else node.attr) in _COMPUTED
            )
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
    found: Iterable[tuple[int, str, tuple[str, ...]]],
    texts: Iterable[str],
    package: str,
    computed: bool,
) -> Imports:
    wanted: dict[str, None] = {}
    possible: dict[str, None] = {}
    for level, name, names in found:
        module = _absolute("." * level + name, package)
        if module:
            wanted[module] = None
            possible |= {f"{module}.{each}": None for each in names if each != "*"}
    named = [
        module for text in texts if _DOTTED.fullmatch(text) and (module := _absolute(text, package))
    ]
    return Imports(tuple(wanted), tuple(possible), computed, tuple(dict.fromkeys(named)))


def _absolute(name: str, package: str) -> str:
    try:
        return importlib.util.resolve_name(name, package or None)
    except ImportError:
        return ""
