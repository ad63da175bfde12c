"""The registry of checks: a check is one function in one file, with what it finds declared above it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from paragone.errors import InputError, unknown_name
from paragone.registry import Registry

Severity: TypeAlias = Literal["error", "warning", "note"]
Subject: TypeAlias = Literal["data", "columns", "lists", "method", "store", "table", "audit"]


@dataclass(frozen=True)
class Code:
    """One kind of finding.

    Attributes
    ----------
    code : str
        ``PG1..`` leaks, ``PG2..`` determinism, ``PG3..`` verification, ``PG4..`` completeness.
    severity : {"error", "warning", "note"}
        ``error``: a number cannot be trusted; ``warning``: it may be too good; ``note``: worth
        knowing, and no answer is asked for.
    title : str
        What it is.
    advice : str
        What to do.

    Examples
    --------
    >>> code_of("PG103").severity, code_of("PG103").title
    ('error', 'groups on both sides of a split')
    """

    code: str
    severity: Severity
    title: str
    advice: str


@dataclass(frozen=True, eq=False)
class Check:
    """A function that looks at one thing and writes what it finds into a ledger.

    Attributes
    ----------
    function : callable
        Called with what is looked at and with the `Ledger`.
    of : str
        What is looked at: ``"data"``, a `Material`; ``"columns"``, the `Columns` of one target;
        ``"lists"``, a `Material` of top-K data; ``"method"``, a `Trial`; ``"store"``, a `View`;
        ``"table"``, the `MetricScores` of one metric; ``"audit"``, what the audit itself hands over.
    codes : tuple of Code
        What it may find.

    Examples
    --------
    >>> def check_size(material, ledger):
    ...     if material.dataset.n_samples < 2:
    ...         ledger.find("XY101", "there is one row", dataset=material.name)
    >>> code = Code("XY101", "warning", "a table of one row", "measure more")
    >>> Check(check_size, "data", (code,)).name
    'size'
    """

    function: Callable[..., Any]
    of: Subject
    codes: tuple[Code, ...]

    @property
    def name(self) -> str:
        """What progress calls it."""
        return str(self.function.__name__).removeprefix("check_").replace("_", " ")

    def __call__(self, subject: Any, ledger: Any, *more: Any, **options: Any) -> Any:
        """Look at a subject; what is said of data is said of them by their name."""
        if self.of == "columns":
            for one in subject.columns():
                self.function(one, ledger.at(dataset=one.name), *more, **options)
            return None
        if self.of in ("data", "lists"):
            ledger = ledger.at(dataset=subject.name)
        return self.function(subject, ledger, *more, **options)


checks: Registry[Check] = Registry("check", "checks", ("paragone.checks",))


def check(
    code: str, severity: Severity, title: str, advice: str, *, of: Subject
) -> Callable[[Callable[..., Any] | Check], Check]:
    """Declare a function as a check, with a code that it may find; several codes stand above each other.

    Examples
    --------
    >>> @check("XY101", "warning", "a table of one row", "measure more", of="data")
    ... def check_size(material, ledger):
    ...     if material.dataset.n_samples < 2:
    ...         ledger.find("XY101", "there is one row", dataset=material.name)
    >>> check_size.name, code_of("XY101").title
    ('size', 'a table of one row')
    """
    entry = Code(code, severity, title, advice)

    def declared(function: Callable[..., Any] | Check) -> Check:
        if _CODES.setdefault(code, entry) != entry:
            raise InputError(f"audit code {code!r} is there already: give the check another one")
        made = Check(function, of, (entry,)) if not isinstance(function, Check) else function
        if made is function:
            made = replace(made, codes=(entry, *made.codes))
        # What stands in a file of somebody else's is looked at where it is named, and there alone.
        ours = made.function.__module__.startswith("paragone.checks.")
        return checks.add(made) if ours else made

    return declared


_CODES: dict[str, Code] = {}


def all_codes() -> dict[str, Code]:
    """Return the catalogue, in the order of the codes.

    Examples
    --------
    >>> all_codes()["PG101"].severity
    'error'
    """
    return dict(sorted((code.code, code) for one in checks for code in one.codes))


def code_of(code: str) -> Code:
    """Return a code's entry.

    Examples
    --------
    >>> code_of("PG101").severity
    'error'
    >>> code_of("PG1O1")
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: unknown audit code 'PG1O1': did you mean ...?
    """
    if code not in _CODES and code not in all_codes():
        raise unknown_name("audit code", code, _CODES)
    return _CODES[code]


def checks_of(*subjects: Subject, more: Iterable[Check] = ()) -> list[Check]:
    """Return the checks of some subjects, our own, those of installed packages and more, by their codes."""
    found = [one for one in (*checks, *more) if one.of in subjects]
    return sorted(found, key=lambda one: one.codes[0].code)
