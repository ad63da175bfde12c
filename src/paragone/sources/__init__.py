"""Sources: the files and packages behind a piece of code, so that a result knows which code it rests on."""

from __future__ import annotations

import hashlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from paragone.sources.finding import (
    OUR_FOLDER,
    OURS,
    Found,
    Imports,
    content,
    find,
    imports_of_code,
    imports_of_source,
    is_in_packages,
    is_installed,
    is_installed_module,
    one_look,
    own_version,
    seen_once,
)
from paragone.sources.loaded import check_loaded, live_digest, plain_function

__all__ = [
    "OUR_FOLDER",
    "changed_words",
    "code_words",
    "is_in_packages",
    "is_installed",
    "is_installed_module",
    "one_look",
    "own_code_files",
    "own_version",
]

MISSING = "not installed"
SOURCE = "source "


def changed_words(earlier: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    """Name what differs between two states of the code that a result rests on.

    Parameters
    ----------
    earlier, now : mapping of str to str
        A file to its hash, a package to its version.

    Returns
    -------
    tuple of str
        Files by their name, packages with both versions.

    Examples
    --------
    >>> changed_words({"lab.py": "source 1", "numpy": "1.0"}, {"lab.py": "source 2", "numpy": "2.0"})
    ('lab.py', 'numpy (1.0, now 2.0)')
    """
    told = []
    for name in sorted({*earlier, *now}):
        before, after = earlier.get(name), now.get(name)
        if before == after:
            continue
        versions = all(word is None or not word.startswith(SOURCE) for word in (before, after))
        told.append(
            f"{name} ({before or 'not used'}, now {after or 'not used'})" if versions else name
        )
    return tuple(told)


_HASH_LENGTH = 16
_IMPORTS: dict[tuple[str, str], Imports] = {}
_SOURCES = {".py", ".pyw"}


def code_words(roots: Iterable[Any], plain: Callable[[Any], str] = repr) -> dict[str, str]:
    """Say what code some classes and functions rest on: files by hash, frozen packages by version.

    Followed are the modules of the classes, of their bases and methods, and from there every
    import, also those inside functions and relative ones, and the packages that modules stand in. A
    package that was installed and is not editable counts by its version and is not followed; Python
    itself does not count.

    Parameters
    ----------
    roots : iterable of type, function or str
        What to begin at; a text is a module's name.
    plain : callable, default=repr
        Hashes a plain value by content; see `live_digest`.

    Returns
    -------
    dict
        File to ``"source ..."`` and package to version, sorted.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> list(code_words([LinearSVC]))
    ['sklearn']
    """
    words: dict[str, str] = {}
    with one_look():
        for root in roots:
            words |= seen_once(("words", root), partial(_words, root, plain))
    return dict(sorted(words.items()))


def _words(root: Any, plain: Callable[[Any], str]) -> dict[str, str]:
    walk = _ModuleWalk(plain)
    if isinstance(root, str):
        walk.add(root)
    else:
        walk.add_object(root)
    walk.work()
    return walk.words


def own_code_files(modules: Iterable[str]) -> dict[str, Path]:
    """Return the modules of the user's own that some modules rest on, themselves included, with their files.

    Examples
    --------
    >>> own_code_files(["sklearn.svm"])
    {}
    """
    walk = _ModuleWalk(repr)
    for module in modules:
        walk.add(module, needed=False)
    walk.work()
    return {name: found.file for name, found in sorted(walk.files.items()) if found.top != OURS}


class _ModuleWalk:
    """A walk over modules: each once, so that cycles end."""

    def __init__(self, plain: Callable[[Any], str]) -> None:
        self.words: dict[str, str] = {}
        self.files: dict[str, Found] = {}
        self._plain = plain
        self._open: list[str] = []
        self._known: dict[str, Found] = {}

    def add_object(self, value: Any) -> None:
        """Begin at a class or function."""
        for module in _modules_of(value):
            if module != "__main__":
                self.add(module)
        name = f"{value.__module__}:{value.__qualname__}"
        if value.__module__ == "__main__" or "<" in value.__qualname__:
            # A file's hash does not tell two classes apart that one function made, and a notebook
            # has no file.
            told, modules = live_digest(value, self._plain)
            self.words[name] = f"{SOURCE}{told[:_HASH_LENGTH]}"
            for module in sorted(modules - {"__main__"}):
                self.add(module)

    def add(self, name: str, *, needed: bool = True) -> Found:
        """Have a module looked at, with the packages that it stands in."""
        if name in self._known:
            return self._known[name]
        parent = name.rpartition(".")[0]
        above = self.add(parent, needed=needed) if parent else None
        if above is not None and above.kind in ("standard", "frozen", "missing"):
            # What stands in a frozen package is frozen; whether the module is there at all is the
            # package's matter.
            return above
        found = self._known[name] = find(name)
        if found.kind == "frozen":
            self.words[found.top] = found.version
        elif found.kind == "missing":
            if needed:
                self.words[name] = MISSING
            else:
                # It may be a name inside a module; that it is asked for again as a module is not
                # ruled out.
                del self._known[name]
        elif found.kind == "file":
            self._open.append(name)
        return found

    def work(self) -> None:
        """Look at the modules one after the other, until none is left."""
        while self._open:
            found = self._known[self._open.pop()]
            imports = self._look_at(found)
            for name in imports.wanted:
                self.add(name)
            for name in imports.possible:
                self.add(name, needed=False)
            if imports.computed and found.top != OURS:
                # Paragone's own packages import by name what was asked for, which is where a walk
                # begins.
                for name in (*imports.texts, *_beside(found)):
                    self.add(name, needed=False)

    def _look_at(self, found: Found) -> Imports:
        """Hash a module's file and return what it imports."""
        self.files[found.name] = found
        data = content(found.file, found.spec)
        if data is None:
            self.words[found.shown] = f"{SOURCE}cannot be read"
            return Imports()
        sha = hashlib.sha256(data).hexdigest()
        self.words[found.shown] = f"{SOURCE}{sha[:_HASH_LENGTH]}"
        is_source = found.file.suffix in _SOURCES
        if is_source and found.top != OURS:
            check_loaded(found, data)
        package = found.name if found.is_package else found.name.rpartition(".")[0]
        if (sha, package) not in _IMPORTS:
            _IMPORTS[sha, package] = (
                imports_of_source(data, package) if is_source else _imports_of_code(found, package)
            )
        return _IMPORTS[sha, package]


def _imports_of_code(found: Found, package: str) -> Imports:
    """Read the imports of a module that came as byte code alone; a compiled library tells none."""
    loader = found.spec.loader if found.spec else None
    get_code = getattr(loader, "get_code", None)
    code = get_code(found.name) if get_code else None
    return Imports() if code is None else imports_of_code(code, package)


def _modules_of(value: Any) -> Iterator[str]:
    """Yield the modules that a class or function is made of: its own, and those of bases and methods."""
    yield str(value.__module__)
    classes = value.__mro__ if inspect.isclass(value) else ()
    for each in classes:
        yield str(each.__module__)
        for member in vars(each).values():
            function = plain_function(member)
            if function is not None and isinstance(function.__globals__.get("__name__"), str):
                yield function.__globals__["__name__"]


def _beside(found: Found) -> list[str]:
    """Name the modules beside one that computes the names of what it imports, and in its own package."""
    folder, prefix = (
        found.file.parent,
        found.name if found.is_package else found.name.rpartition(".")[0],
    )
    return [f"{prefix}.{module.name}".lstrip(".") for module in pkgutil.iter_modules([str(folder)])]
