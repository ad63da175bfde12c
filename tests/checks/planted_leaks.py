"""The register of planted leaks: what is planted, how, how big, and the codes of which one must be found.

Plants of data are made from a generator, a number of rows and a size, so that their power can be
simulated: `data_plant` registers them. Plants of methods and of reports are functions from a seed
to the codes that an audit finds: `plant` registers them. All of them stand in ``plants.py``.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np

from paragone.checks.finding import Finding, Ledger
from paragone.checks.material import Material
from paragone.checks.procedure import data_checks


@dataclass(frozen=True)
class Plant:
    """A planted leak.

    Attributes
    ----------
    kind : str
        What it is planted in: rows, columns, methods, reports; or ``missed``, which the audit does
        not find.
    name, how : str
        What it is called, and how it is made, in one sentence.
    size : str
        How big it is, in words.
    codes : tuple of str
        The audit must find one of them.
    find : callable
        From a seed to the codes that the audit finds.
    slow : bool
        Whether it takes seconds, and is left to the slow tests.
    """

    kind: str
    name: str
    how: str
    size: str
    codes: tuple[str, ...]
    find: Callable[[int], set[str]]
    slow: bool = False

    def found(self, seed: int) -> bool:
        return bool(self.find(seed) & set(self.codes))


@dataclass(frozen=True)
class DataPlant(Plant):
    """A leak planted in data, of any size and any number of rows."""

    make: Callable[[np.random.Generator, int, float], Material] | None = None
    unit: str = ""
    n: int = 0
    amount: float = 0.0
    sizes: tuple[float, ...] = ()
    rows: tuple[int, ...] = ()

    def material(self, seed: int, n: int | None = None, amount: float | None = None) -> Material:
        rng = np.random.default_rng([zlib.crc32(self.name.encode()), seed])
        return self.make(rng, n or self.n, self.amount if amount is None else amount)


PLANTS: dict[str, Plant] = {}
_KINDS = ("rows", "columns", "methods", "reports", "missed")


def _register(one: Plant) -> None:
    # A collector of doctests reads a module of plants a second time.
    assert one.name not in PLANTS or PLANTS[one.name].how == one.how, (
        f"two plants are called {one.name!r}"
    )
    assert one.kind in _KINDS, one.kind
    PLANTS[one.name] = one


def plant(kind: str, name: str, *codes: str, size: str, slow: bool = False):
    """Register a function from a seed to the codes that an audit finds; its docstring says how the plant is made."""

    def keep(find: Callable[[int], Iterable[str]]):
        _register(
            Plant(kind, name, find.__doc__ or "", size, codes, lambda seed: set(find(seed)), slow)
        )
        return find

    return keep


def data_plant(
    kind: str,
    name: str,
    *codes: str,
    n: int,
    amount: float,
    unit: str,
    sizes: tuple[float, ...] = (),
    rows: tuple[int, ...] = (),
):
    """Register a function from a generator, a number of rows and a size to a material.

    ``n`` and ``amount`` are the size at which it must be found, ``unit`` says what the amount
    counts (``{amount}`` and ``{n}`` are put in), ``sizes`` and ``rows`` are the table of its power.
    """

    def keep(make: Callable[[np.random.Generator, int, float], Material]):
        def find(seed: int) -> set[str]:
            return codes_found(PLANTS[name].material(seed))

        words = unit.format(amount=f"{amount:g}", n=n)
        _register(
            DataPlant(
                kind,
                name,
                make.__doc__ or "",
                words,
                codes,
                find,
                False,
                make,
                unit,
                n,
                amount,
                sizes,
                rows,
            )
        )
        return make

    return keep


def findings_of(material: Material) -> list[Finding]:
    """Run all checks of the data over a material."""
    ledger = Ledger("zoo")
    for check in data_checks(material):
        check(material, ledger)
    return ledger.findings


def codes_found(material: Material) -> set[str]:
    return {finding.code for finding in findings_of(material)}


@cache
def all_plants() -> dict[str, Plant]:
    """Read the list of plants, and return the register."""
    import plants  # noqa: F401

    return PLANTS
