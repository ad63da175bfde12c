"""What was looked at before a run: kept with the run, so that nobody looks twice and what was accepted stays known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from paragone.lab.store import Store

KEPT_AS = "checks"
"""What a run's record calls it."""


@dataclass(frozen=True)
class AcceptedLeak:
    """A finding of level error that somebody let stand: its code, where, what was found, and why it may stand.

    Examples
    --------
    >>> AcceptedLeak("PG101", "tecator", "32 of 240 held-out rows occur in train", "as published").sentence
    'A leak was accepted (PG101 on tecator: 32 of 240 held-out rows occur in train): as published.'
    """

    code: str
    where: str
    message: str
    reason: str

    @property
    def sentence(self) -> str:
        """What a verdict must say of it."""
        place = f" on {self.where}" if self.where else ""
        return (
            f"A leak was accepted ({self.code}{place}: {self.message}): {self.reason.rstrip('.')}."
        )


@dataclass(frozen=True)
class PassedChecks:
    """The checks that an experiment's data passed before a run.

    Attributes
    ----------
    fingerprint : str
        Of the data, the splits and the checks: what has the same one need not be looked at again.
    accepted : tuple of AcceptedLeak
        Errors that were let stand.
    warnings : tuple of str
        What else was found, a sentence each.
    """

    fingerprint: str
    accepted: tuple[AcceptedLeak, ...] = ()
    warnings: tuple[str, ...] = ()

    def as_record(self) -> dict[str, Any]:
        """Return plain values for the record of a run.

        Examples
        --------
        >>> passed = PassedChecks("ab", (AcceptedLeak("PG105", "d", "...", "known"),))
        >>> PassedChecks.of_record(passed.as_record()).accepted
        (AcceptedLeak(code='PG105', where='d', message='...', reason='known'),)
        """
        return asdict(self)

    @classmethod
    def of_record(cls, record: Any) -> PassedChecks | None:
        """Read the record of a run; None where it holds none, for a store may be anybody's."""
        if not isinstance(record, Mapping) or not isinstance(record.get("fingerprint"), str):
            return None
        names = tuple(AcceptedLeak.__dataclass_fields__)
        given = [one for one in _items(record.get("accepted")) if isinstance(one, Mapping)]
        accepted = tuple(AcceptedLeak(*(str(one.get(name, "")) for name in names)) for one in given)
        return cls(record["fingerprint"], accepted, tuple(map(str, _items(record.get("warnings")))))


def _items(given: Any) -> list[Any]:
    return list(given) if isinstance(given, (list, tuple)) else []


def passed_checks(
    store: Store, experiment: str, fingerprint: str | None = None
) -> PassedChecks | None:
    """Return the last checks that an experiment passed before a run, or those with a fingerprint; None without any."""
    for record in store.run_records(fingerprint or f'"{KEPT_AS}"'):
        passed = PassedChecks.of_record(record.get(KEPT_AS))
        if (
            passed is not None
            and record.get("experiment") == experiment
            and fingerprint in (None, passed.fingerprint)
        ):
            return passed
    return None
