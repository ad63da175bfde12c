"""Cell warnings: what a method warned of while its cell ran, counted, so that it is kept beside the scores."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from paragone.cells import Fitted, WarningCount

MESSAGE_LENGTH = 500
"""How many characters of a message are kept."""
DISTINCT = 50
"""How many distinct warnings of a cell are kept; the others are counted together."""
THE_REST = "Warning"


@dataclass
class WarningTally:
    """Counts warnings as they come, so that a method that warns a million times costs no memory.

    Examples
    --------
    >>> tally = WarningTally()
    >>> for _ in range(3):
    ...     tally.add("ConvergenceWarning", "lbfgs failed to converge")
    >>> tally.counts
    (WarningCount(category='ConvergenceWarning', message='lbfgs failed to converge', count=3),)
    """

    _counts: dict[tuple[str, str], int] = field(default_factory=dict)
    _others: int = 0

    def add(self, category: str, message: str, count: int = 1) -> None:
        """Count a warning."""
        told = category, _cut(message)
        if told in self._counts or len(self._counts) < DISTINCT:
            self._counts[told] = self._counts.get(told, 0) + count
        else:
            self._others += count

    @property
    def counts(self) -> tuple[WarningCount, ...]:
        """Each distinct warning once, in the order in which they came first; then the rest together."""
        kept = tuple(WarningCount(*told, count) for told, count in self._counts.items())
        if self._others:
            kept += (WarningCount(THE_REST, f"further warnings, beyond {DISTINCT} distinct ones", self._others),)
        return kept


@contextmanager
def tallied_warnings() -> Iterator[WarningTally]:
    """Count every warning that is given inside, also those that Python hides by default, and print none.

    A method that filters its own warnings is heard as it wants to be.

    Examples
    --------
    >>> with tallied_warnings() as tally:
    ...     warnings.warn("careful", RuntimeWarning)
    >>> tally.counts
    (WarningCount(category='RuntimeWarning', message='careful', count=1),)
    """
    tally = WarningTally()

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        tally.add(category.__name__, _text(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        yield tally


def count_warnings(caught: Iterable[warnings.WarningMessage]) -> tuple[WarningCount, ...]:
    """Count what ``warnings.catch_warnings(record=True)`` caught: each class and message once.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     for _ in range(2):
    ...         warnings.warn("careful", RuntimeWarning)
    >>> count_warnings(caught)
    (WarningCount(category='RuntimeWarning', message='careful', count=2),)
    """
    tally = WarningTally()
    for warning in caught:
        tally.add(warning.category.__name__, _text(warning.message))
    return tally.counts


def warnings_together(*parts: Iterable[WarningCount]) -> tuple[WarningCount, ...]:
    """Add up the warnings of parts of a cell.

    Examples
    --------
    >>> warnings_together([WarningCount("A", "x", 2)], [WarningCount("A", "x"), WarningCount("B", "y")])
    (WarningCount(category='A', message='x', count=3), WarningCount(category='B', message='y', count=1))
    """
    tally = WarningTally()
    for part in parts:
        for warning in part:
            tally.add(warning.category, warning.message, warning.count)
    return tally.counts


def keep_in_fit(fitted: Fitted, told: tuple[WarningCount, ...]) -> Fitted:
    """Write the warnings of a fit into it: a later cell that reuses the fit gives them again."""
    return replace(fitted, warnings=told) if told else fitted


def kept_in_fit(fitted: Fitted) -> tuple[WarningCount, ...]:
    """Return the warnings that were given when a stored fit was made.

    Examples
    --------
    >>> kept_in_fit(keep_in_fit(Fitted({}), (WarningCount("A", "x", 2),)))
    (WarningCount(category='A', message='x', count=2),)
    """
    return fitted.warnings


def _text(message: object) -> str:
    try:
        return str(message)
    except Exception as error:  # noqa: BLE001  a stranger's class may raise anything where it is asked for its text
        return f"a message that cannot be read ({type(error).__name__})"


def _cut(message: str) -> str:
    # A lone surrogate cannot be written to the store, and one message must not cost a cell.
    whole = message.encode("utf-8", "replace").decode("utf-8")
    return whole if len(whole) <= MESSAGE_LENGTH else whole[: MESSAGE_LENGTH - 1] + "…"
