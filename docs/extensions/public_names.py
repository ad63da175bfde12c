"""What is public: the names that ``paragone`` and its public packages list, and where each is documented."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from importlib import import_module
from importlib.abc import SourceLoader
from pkgutil import ModuleInfo, iter_modules, walk_packages
from types import ModuleType
from typing import Any

import paragone


@dataclass(frozen=True)
class PublicName:
    """One public name of one module."""

    module: str
    name: str
    value: Any

    @property
    def path(self) -> str:
        """The dotted path to import it by."""
        return f"{self.module}.{self.name}"

    @property
    def kind(self) -> str:
        """``class``, ``exception``, ``function`` or ``data``."""
        if inspect.isclass(self.value):
            return "exception" if issubclass(self.value, BaseException) else "class"
        return "function" if inspect.isroutine(self.value) else "data"

    @property
    def first_sentence(self) -> str:
        """The first line of its docstring, or nothing for plain data."""
        text = inspect.getdoc(self.value) if self.kind != "data" else None
        return (text or "").partition("\n\n")[0].replace("\n", " ")


INTERNAL = ("paragone.lab.", "paragone.reporting.live", "paragone.report.live")
"""What lies inside public packages and is for Paragone itself."""


BUILT_OF = frozenset(f"paragone.{name}" for name in ("charts", "cli", "page", "sources", "tables"))
"""The packages that others are built of: their pages are the guides that use them."""


def public_modules() -> list[str]:
    """Return ``paragone``, its public packages, and the packages and modules inside those that list names."""
    found = ["paragone"]
    for each in iter_modules(paragone.__path__, "paragone."):
        if not each.ispkg or not _lists_names(each) or each.name in BUILT_OF:
            continue
        module, package = import_module(each.name), each.name
        found.append(package)
        inner = walk_packages(getattr(module, "__path__", []), f"{package}.")
        found += [
            each.name for each in inner if _lists_names(each) and not each.name.startswith(INTERNAL)
        ]
    return found


def _lists_names(found: ModuleInfo) -> bool:
    """Say whether a module has ``__all__``, without importing it: some need libraries that are not installed."""
    spec = found.module_finder.find_spec(found.name, None)
    source = (
        spec.loader.get_source(found.name)
        if spec is not None and isinstance(spec.loader, SourceLoader)
        else None
    )
    return source is not None and "\n__all__ = " in source


def names_of(module: str) -> list[PublicName]:
    """Return the public names of a module, in the order of the alphabet."""
    loaded: ModuleType = import_module(module)
    names = sorted(loaded.__all__, key=str.lower)
    return [
        PublicName(module, name, getattr(loaded, name))
        for name in names
        if not name.startswith("__")
    ]


def homes() -> dict[int, PublicName]:
    """Return for every public object the shortest public path to it, by the object's identity."""
    found: dict[int, PublicName] = {}
    for module in public_modules():
        for public in names_of(module):
            found.setdefault(id(public.value), public)
    return found
