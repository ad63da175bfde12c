"""Recommending: a recommender as a method, with the length of the lists that are kept of it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, NamedTuple

from typing_extensions import override

from paragone.errors import InputError, unknown_name
from paragone.metrics.topk.options import check_choice
from paragone.models.recommenders import FLOORS, RECOMMENDERS
from paragone.plugins import Method, aliases, digest

# Which arguments of a recommender's ``observe`` a log needs.
LOGS = {"classic": {"classic", "result_file"}, "json": {"log"}}


class Listing(NamedTuple):
    """How lists are made of scores: how many places, which of equal scores first, how finely they are compared."""

    places: int
    reverse: bool
    single: bool


@dataclass(frozen=True)
class Recommending(Method):
    """A configured recommender, and what is kept of its lists.

    Parameters
    ----------
    factory, params
        The class with ``fit(train, validation)`` and ``score(block)``, and its parameters.
    places : int
        How many places of every list are kept.
    reverse : bool
        Whether equal scores go to the higher item id.
    single : bool
        Whether scores are compared as float32.
    log : {"classic", "json"}, optional
        Which log of a fit is kept beside the store; it changes no result, so it is not part of the identity.
    """

    places: int = 0
    reverse: bool = False
    single: bool = False
    log: str | None = None

    @property
    def listing(self) -> Listing:
        """How its lists are made of its scores."""
        return Listing(self.places, self.reverse, self.single)

    @override
    def identity(self) -> str:
        # Whatever the fit depends on: scores at other cut-offs reuse it as long as its lists are long enough.
        return digest([super().identity(), self.places, self.reverse, *(["float32"] if self.single else [])])

    @override
    def versions(self) -> dict[str, str]:
        others = {package: version(package) for package in _packages(self.factory)}
        return {**super().versions(), **others}

    def with_log(self, log: Any, name: str) -> Recommending:
        """Return the method with a log that is kept, or say why it has none."""
        if log is None:
            return self
        check_choice(f"log of method {name!r}", log, LOGS)
        if not self.can_log(log):
            raise InputError(f"method {name!r} ({self.label}) writes no {log} log: leave log out of it")
        return replace(self, log=log)

    def can_log(self, log: str) -> bool:
        """Whether the recommender takes the places of a log in its ``observe``."""
        observe = getattr(self.factory, "observe", None)
        if not callable(observe):
            return False
        known = inspect.signature(observe).parameters
        return any(p.kind is p.VAR_KEYWORD for p in known.values()) or LOGS[log] <= set(known)

    def check(self, name: str) -> None:
        """Refuse what is no recommender, or needs a package that is not installed."""
        known = all(callable(getattr(self.factory, verb, None)) for verb in ("fit", "score"))
        if not known or hasattr(self.factory, "predict"):
            raise InputError(
                f"method {name!r} ({self.label}) is no recommender: it needs fit(train, validation) and score(block)"
            )
        for package in _packages(self.factory):
            if find_spec(package) is None:
                raise InputError(
                    f"method {name!r} needs {package}, which is not installed: pip install 'paragone[recsys]' "
                    f"(or pip install {package})"
                )


def _packages(factory: Any) -> tuple[str, ...]:
    """Name the packages that a recommender needs and whose version its scores depend on."""
    return tuple(getattr(factory, "packages", ()))


def declare(
    methods: Mapping[str, Any], *, floors: bool, places: int, reverse: bool, single: bool = False
) -> dict[str, Method]:
    """Make recommenders of what the user declared, and add the floors that were not.

    A short name means a recommender first: ``ridge`` is ours here, whatever it is elsewhere.

    Examples
    --------
    >>> list(declare({"mine": {"use": "ridge", "params": {"penalty": 5.0}}}, floors=True, places=20, reverse=False))
    ['mine', 'popularity', 'conditional', 'set-knn', 'ridge']
    """
    wanted = dict(methods)
    if floors:
        wanted |= {name: name for name in FLOORS if name not in methods}
    found: dict[str, Method] = {}
    for name, given in wanted.items():
        log = given.get("log") if isinstance(given, Mapping) else None
        method = Method.declare(_resolved(given), kind=f"method {name!r}")
        recommending = Recommending(method.factory, method.params, places, reverse, single)
        found[name] = recommending.with_log(log, name)
    return found


def _resolved(given: Any) -> Any:
    if isinstance(given, Mapping) and isinstance(given.get("use"), str):
        return {key: value for key, value in given.items() if key != "log"} | {"use": _path(given["use"])}
    return _path(given) if isinstance(given, str) else given


def _path(use: str) -> str:
    if use not in RECOMMENDERS and ":" not in use and use not in aliases():
        raise unknown_name("recommender", use, RECOMMENDERS)
    return RECOMMENDERS.get(use, use)
