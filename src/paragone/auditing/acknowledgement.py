"""Acknowledgements: findings that somebody has looked at and gives a reason for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from paragone.auditing.codes import code_of
from paragone.auditing.finding import Finding
from paragone.errors import InputError, unknown_name

FIELDS = ("code", "reason", "dataset", "method", "file")


@dataclass(frozen=True)
class Acknowledgement:
    """A code that is known, with the reason; for one dataset, method or file where they are named.

    Examples
    --------
    >>> known = Acknowledgement("PG108", "padding pixels", dataset="digits")
    >>> known.covers(Finding("PG108", "...", dataset="digits")), known.covers(Finding("PG108", "...", dataset="x"))
    (True, False)
    >>> Acknowledgement("PG108", " ")
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: audit.acknowledge of PG108: the reason is empty; say why the finding may stand
    """

    code: str
    reason: str
    dataset: str = ""
    method: str = ""
    file: str = ""

    def __post_init__(self) -> None:
        code_of(self.code)
        if not self.reason.strip():
            raise InputError(f"audit.acknowledge of {self.code}: the reason is empty; say why the finding may stand")

    @classmethod
    def of(cls, given: Acknowledgement | Mapping[str, Any]) -> Acknowledgement:
        """Take it from the keys of an experiment file."""
        if isinstance(given, Acknowledgement):
            return given
        for key, value in given.items():
            if key not in FIELDS:
                raise unknown_name("key of audit.acknowledge", key, FIELDS)
            if not isinstance(value, str):
                raise InputError(f"audit.acknowledge: {key} must be a text, it is {value!r}")
        missing = [key for key in ("code", "reason") if key not in given]
        if missing:
            raise InputError(f"audit.acknowledge: the key {missing[0]!r} is missing")
        return cls(**given)

    def covers(self, finding: Finding) -> bool:
        """Say whether it is about this finding."""
        named = all(getattr(self, part) in ("", getattr(finding, part)) for part in ("dataset", "method"))
        return self.code == finding.code and named and finding.file.endswith(self.file)


def acknowledge(findings: Iterable[Finding], known: Iterable[Acknowledgement]) -> tuple[Finding, ...]:
    """Return the findings, each with the reason of the first acknowledgement that covers it.

    Examples
    --------
    >>> found = [Finding("PG108", "..."), Finding("PG109", "...")]
    >>> [finding.is_open for finding in acknowledge(found, [Acknowledgement("PG108", "padding")])]
    [False, True]
    """
    known = tuple(known)

    def settled(finding: Finding) -> Finding:
        reason = next((one.reason for one in known if one.covers(finding)), "")
        return replace(finding, reason=reason)

    return tuple(settled(finding) for finding in findings)
