"""Registry: the things of one kind by name, our own, those of installed packages, and any ``module:name``."""

from __future__ import annotations

import importlib
import pkgutil
import traceback
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Generic, TypeVar

from paragone.errors import InputError, unknown_name

T = TypeVar("T")

_OURS = (str(Path(__file__).parent), str(Path(importlib.__file__).parent))

MOVED = {
    "paragone.models.pls:PLS": "paragone.methods.presets:PLS",
    "paragone.models.recommenders.conditional:Conditional": (
        "paragone.methods.recommenders.floors:Conditional"
    ),
    "paragone.models.recommenders.popularity:Popularity": (
        "paragone.methods.recommenders.floors:Popularity"
    ),
    "paragone.models.recommenders.ridge:Ridge": "paragone.methods.recommenders.floors:Ridge",
    "paragone.models.recommenders.set_knn:SetKNN": "paragone.methods.recommenders.floors:SetKNN",
    "paragone.models.": "paragone.methods.",
    "paragone.models:": "paragone.methods:",
    "paragone.protocols.tuning:TunedRanker": "paragone.protocols.curve.tuning:TunedRanker",
    "paragone.rankers.chi2:Chi2": "paragone.methods.rankers.floors:Chi2",
    "paragone.rankers.f_classif:FClassif": "paragone.methods.rankers.floors:FClassif",
    "paragone.rankers.mutual_info:MutualInfo": "paragone.methods.rankers.floors:MutualInfo",
    "paragone.rankers.random_order:RandomOrder": "paragone.methods.rankers.floors:RandomOrder",
    "paragone.rankers.variance:Variance": "paragone.methods.rankers.floors:Variance",
    "paragone.rankers.": "paragone.methods.rankers.",
    "paragone.rankers:": "paragone.methods.rankers:",
}
"""Where things of ours were in earlier releases, by the beginning of ``module:name``, and where they are now.

Stores, archives and experiment files name them by their old places; the first beginning that fits
counts.
"""


class Registry(Generic[T]):
    """Every thing of one kind, such as metrics or readers, by its name.

    A thing of our own adds itself when its module is imported, and every module of the packages is
    imported when a name is first asked for: adding one is writing one file. An installed package
    adds its things through the entry points ``paragone.<group>``; anything else is named
    ``module:name``.

    Parameters
    ----------
    kind : str
        What one of them is called in a message, such as ``"metric"``.
    group : str
        The last word of the entry points' group, such as ``"metrics"``.
    packages : tuple of str
        Packages whose modules hold our own.
    convert : callable, optional
        Makes a thing of what a name or ``module:name`` leads to, or refuses it in one sentence; by
        default it is taken as it is.
    names_of : callable, optional
        Returns the names of a thing, the first its own and the others aliases; by default what is
        called ``name`` or ``__name__``.

    Examples
    --------
    >>> shapes: Registry[type] = Registry("shape", "shapes")
    >>> @shapes.add
    ... class Circle:
    ...     name = "circle"
    >>> shapes.get("circle") is Circle, shapes.names()
    (True, ['circle'])
    >>> shapes.get("circel")
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: unknown shape 'circel': did you mean 'circle'?
    """

    def __init__(
        self,
        kind: str,
        group: str,
        packages: tuple[str, ...] = (),
        convert: Callable[[Any], T] | None = None,
        names_of: Callable[[T], tuple[str, ...]] | None = None,
    ) -> None:
        self.kind = kind
        self.group = f"paragone.{group}"
        self._packages = packages
        self._convert = convert
        self._names_of = names_of or _own_name
        self._known: dict[str, T] = {}
        self._aliases: dict[str, str] = {}
        self._installed: dict[str, str] = {}
        self._is_complete = False

    def add(self, thing: T, name: str | None = None) -> T:
        """Add a thing under a name, by default its own; also a decorator.

        The same thing may come again, as it does when its module is reloaded; another one under the
        same name is a mistake.

        Examples
        --------
        >>> dishes = Registry("dish", "dishes")
        >>> @dishes.add
        ... def soup():
        ...     return "leeks and potatoes"
        >>> dishes.names()
        ['soup']
        """
        called, *aliases = (name,) if name else self._names_of(thing)
        if not called:
            raise InputError(f"a {self.kind} needs a name")
        for one in (called, *aliases):
            known = self._known.get(self._aliases.get(one, one))
            if known is not None and known is not thing and _place(known) != _place(thing):
                raise InputError(f"{self.kind} {one!r} is there already: give it another name")
        self._known[called] = thing
        self._aliases |= dict.fromkeys(aliases, called)
        return thing

    def get(self, use: str) -> T:
        """Return what a name or ``module:name`` stands for; an unknown name is refused with the nearest known."""
        if not isinstance(use, str):
            raise InputError(f"{self.kind}: expected a name or 'module:name', got {use!r}")
        if ":" in use and use not in self._known:
            return self._made(imported(use, self.kind))
        if use not in self:
            raise unknown_name(self.kind, use, self.names())
        own = self._aliases.get(use, use)
        if own not in self._known:
            self._known[own] = self._made(imported(self._installed[own], self.kind))
        return self._known[own]

    def names(self) -> list[str]:
        """Return every name, in alphabetical order, without aliases."""
        self._complete()
        return sorted({*self._known, *self._installed})

    def at_hand(self) -> dict[str, T]:
        """Return all that is known, by name, without importing what others installed."""
        self._complete()
        return dict(self._known)

    def paths(self) -> dict[str, str]:
        """Return where every thing is defined, as ``module:name``; nothing that others installed is imported."""
        self._complete()
        return {
            **self._installed,
            **{name: ":".join(_place(thing)) for name, thing in self._known.items()},
        }

    def __contains__(self, name: object) -> bool:
        # What is known is known without the modules that were not imported yet, of which some are
        # slow.
        if name in self._known or name in self._aliases:
            return True
        self._complete()
        return name in self._known or name in self._aliases or name in self._installed

    def __iter__(self) -> Iterator[T]:
        """Go through all of them: our own in the order of their declaration, then those of installed packages."""
        self._complete()
        return iter(
            [
                *self._known.values(),
                *(self.get(name) for name in sorted(set(self._installed) - set(self._known))),
            ]
        )

    def _made(self, thing: Any) -> T:
        made: T = thing if self._convert is None else self._convert(thing)
        return made

    def _complete(self) -> None:
        """Import the modules of our own packages and look up what installed packages bring; once."""
        if self._is_complete:
            return
        # Set first: a module that asks for a name while it is imported must not start this again.
        self._is_complete = True
        for package in self._packages:
            door = importlib.import_module(package)
            for module in pkgutil.iter_modules(getattr(door, "__path__", [])):
                if not module.name.startswith("_"):
                    importlib.import_module(f"{package}.{module.name}")
        # Our own names win: an installed package cannot silently change what a name means.
        self._installed = {point.name: point.value for point in entry_points(group=self.group)}


def present_name(name: str) -> str:
    """Return the ``module:name`` under which a thing of ours is found now, whatever it was when it was written down.

    Examples
    --------
    >>> present_name("paragone.rankers.dagfs:DAGFS"), present_name("sklearn.svm:LinearSVC")
    ('paragone.methods.rankers.dagfs:DAGFS', 'sklearn.svm:LinearSVC')
    """
    return next(
        (new + name.removeprefix(old) for old, new in MOVED.items() if name.startswith(old)), name
    )


def first_name(name: str) -> str:
    """Return the ``module:name`` under which a thing of ours was first released.

    What identifies a method goes by this name: moving a class must neither change the seeds that
    follow from its identity nor make stored results stale.

    Examples
    --------
    >>> first_name("paragone.methods.rankers.floors:Chi2"), first_name("paragone.methods.rankers.dagfs:DAGFS")
    ('paragone.rankers.chi2:Chi2', 'paragone.rankers.dagfs:DAGFS')
    """
    fits = [(old, new) for old, new in MOVED.items() if name.startswith(new)]
    old, new = max(fits, key=lambda pair: len(pair[1]), default=("", ""))
    return old + name.removeprefix(new)


def imported(use: str, kind: str) -> Any:
    """Import what ``module:name`` names; whatever goes wrong is one sentence that says where.

    Parameters
    ----------
    use : str
        Such as ``"sklearn.svm:LinearSVC"``; the name may have dots.
    kind : str
        What to call it in an error.

    Returns
    -------
    object
        What the module holds under that name.

    Examples
    --------
    >>> imported("math:tau", "number")
    6.283185307179586
    """
    module_name, _, attribute = present_name(use).partition(":")
    try:
        found: Any = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:
        # Importing runs a stranger's code, which may raise anything, an error that cannot be
        # printed among it.
        why = (
            str(error)
            if isinstance(error, ImportError)
            else traceback.format_exception_only(error)[-1].strip()
        )
        raise InputError(
            f"{kind} {use!r}: cannot import {module_name!r} ({why}){_place_of(error)}"
        ) from error
    for name in attribute.split("."):
        if not hasattr(found, name):
            public = [member for member in dir(found) if not member.startswith("_")]
            raise unknown_name(f"name in {module_name}", attribute, public)
        found = getattr(found, name)
    return found


def _place_of(error: BaseException) -> str:
    """Say where in the user's own files an import failed, where that is known."""
    if isinstance(error, SyntaxError) and error.filename is not None:
        return f" ({error.filename}, line {error.lineno})"
    frames = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    own = [
        place for place in frames if not place[0].startswith("<") and not place[0].startswith(_OURS)
    ]
    return f" ({own[-1][0]}, line {own[-1][1]})" if own else ""


def _own_name(thing: Any) -> tuple[str, ...]:
    return (str(getattr(thing, "name", "") or getattr(thing, "__name__", "")),)


def _place(thing: Any) -> tuple[str, str]:
    """Return where a thing, or its function, was defined: the same when its module is imported anew."""
    thing = getattr(thing, "function", None) or thing
    return str(getattr(thing, "__module__", "")), str(getattr(thing, "__qualname__", repr(thing)))
