"""Contract: a list of laws that something must keep, each with the sentence that says it was broken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Subject = TypeVar("Subject")


@dataclass(frozen=True)
class Law(Generic[Subject]):
    """One law: its sentence, the check that raises AssertionError, and where it applies.

    Examples
    --------
    >>> even = Law("it is even", lambda number: require(number % 2 == 0, "it is odd"), lambda number: True)
    >>> even.check(4)
    """

    sentence: str
    check: Callable[[Subject], None]
    applies: Callable[[Subject], bool]


@dataclass(frozen=True)
class Contract(Generic[Subject]):
    """The laws of one kind of plug-in, in the order they were written down.

    Examples
    --------
    >>> numbers = Contract[int]("number")
    >>> @numbers.law("it is even")
    ... def even(number: int) -> None:
    ...     require(number % 2 == 0, f"{number} leaves a rest")
    >>> numbers.check(4, name="four")
    ['it is even']
    >>> numbers.check(3, name="three")
    Traceback (most recent call last):
    AssertionError: the number three breaks the law "it is even": 3 leaves a rest
    """

    kind: str
    laws: list[Law[Subject]] = field(default_factory=list)

    def law(
        self, sentence: str, *, applies: Callable[[Subject], bool] = lambda _: True
    ) -> Callable[[Callable[[Subject], None]], Callable[[Subject], None]]:
        """Write a check down as a law of this contract."""

        def write_down(check: Callable[[Subject], None]) -> Callable[[Subject], None]:
            self.laws.append(Law(sentence, check, applies))
            return check

        return write_down

    def check(self, subject: Subject, *, name: str) -> list[str]:
        """Check every law that applies, and return their sentences.

        Raises
        ------
        AssertionError
            At the first law that is broken, or at whose check the subject itself fails.
        """
        kept = []
        for law in self.laws:
            if not law.applies(subject):
                continue
            try:
                law.check(subject)
            except Exception as error:
                reason = str(error) if isinstance(error, AssertionError) else repr(error)
                raise AssertionError(
                    f'the {self.kind} {name} breaks the law "{law.sentence}": {reason}'
                ) from error
            kept.append(law.sentence)
        return kept


def require(condition: object, reason: str) -> None:
    """Raise AssertionError with the reason unless the condition holds; ``python -O`` leaves it in.

    Examples
    --------
    >>> require(1 < 2, "arithmetic is broken")
    """
    if not condition:
        raise AssertionError(reason)
