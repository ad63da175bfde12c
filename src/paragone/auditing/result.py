"""Audit: what was found, what was looked at, what could not be; readable, and ready for a program."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from paragone.auditing.codes import SEVERITIES, Severity
from paragone.auditing.finding import Checked, Finding, Unchecked
from paragone.errors import unknown_name
from paragone.tables import Column, Table, to_html

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("code", "severity", "experiment", "dataset", "method", "file", "message", "count", "total", "reason")


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """What an audit of a store or an experiment found.

    Attributes
    ----------
    subject : str
        What was audited.
    findings : tuple of Finding
        The worst first; acknowledged ones carry their reason.
    checked : tuple of Checked
        What was looked at, counted.
    unchecked : tuple of Unchecked
        What could not be looked at, counted, and why.

    Examples
    --------
    >>> audit = Audit("lab", (Finding("PG108", "1 of 3 columns holds a single value", dataset="d"),))
    >>> audit.clean, len(audit.open)
    (False, 1)
    >>> print(audit)
    Audit of lab: 1 open finding (1 note)
    PG108 note: d: 1 of 3 columns holds a single value
      to do: drop them, or acknowledge them: no method can use them
    """

    subject: str
    findings: tuple[Finding, ...] = ()
    checked: tuple[Checked, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()
    hidden: int = 0

    def __post_init__(self) -> None:
        ordered = sorted(self.findings, key=lambda found: (SEVERITIES.index(found.severity), found.code))
        object.__setattr__(self, "findings", tuple(ordered))

    @property
    def open(self) -> tuple[Finding, ...]:
        """The findings that nobody has acknowledged."""
        return tuple(finding for finding in self.findings if finding.is_open)

    @property
    def acknowledged(self) -> tuple[Finding, ...]:
        """The findings that carry a reason."""
        return tuple(finding for finding in self.findings if not finding.is_open)

    @property
    def clean(self) -> bool:
        """Whether no finding is open."""
        return not self.open

    def of(self, code: str) -> tuple[Finding, ...]:
        """Return the findings of one code."""
        return tuple(finding for finding in self.findings if finding.code == code)

    def at_least(self, level: str) -> Audit:
        """Leave out what is less bad; how many that are is kept in ``hidden``."""
        kept = SEVERITIES[: SEVERITIES.index(check_level(level)) + 1]
        shown = tuple(finding for finding in self.findings if finding.severity in kept)
        return replace(self, findings=shown, hidden=self.hidden + len(self.findings) - len(shown))

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row a finding."""
        import pandas as pd

        rows = [[getattr(finding, column) for column in COLUMNS] for finding in self.findings]
        return pd.DataFrame(rows, columns=list(COLUMNS))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return {
            "subject": self.subject,
            "clean": self.clean,
            "open": len(self.open),
            "acknowledged": len(self.acknowledged),
            "left_out_by_level": self.hidden,
            "findings": [finding.to_dict() for finding in self.findings],
            "checked": [asdict(checked) for checked in self.checked],
            "unchecked": [asdict(unchecked) for unchecked in self.unchecked],
        }

    @property
    def summary(self) -> str:
        """One line: what is open, what is acknowledged."""
        counts = [(sum(f.severity == s for f in self.open), s) for s in SEVERITIES]
        each = ", ".join(f"{count} {severity}{'s' * (count != 1)}" for count, severity in counts if count)
        n = len(self.open)
        words = f"{n} open finding{'s' * (n != 1)} ({each})" if n else "no open finding"
        if self.acknowledged:
            words += f", {len(self.acknowledged)} acknowledged"
        if self.hidden:
            words += f", {self.hidden} below the level asked for"
        return f"Audit of {self.subject}: {words}"

    def lines(self) -> list[str]:
        """Return the audit as lines of text."""
        lines = [self.summary]
        for finding in self.findings:
            lines += finding_lines(finding)
        lines += [f"checked: {_words(one)}" for one in self.checked]
        lines += [f"not checked: {one.check}: {one.count} {one.unit}: {one.why}" for one in self.unchecked]
        return lines

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        columns: list[str | Column] = [Column(n, "left") for n in ("code", "severity", "where", "finding", "to do")]
        rows = [
            [f.code, f.severity, f.where, f.message, f.advice if f.is_open else f"acknowledged: {f.reason}"]
            for f in self.findings
        ]
        notes = [*(_words(one) for one in self.checked)]
        notes += [f"not checked: {one.check}: {one.count} {one.unit}: {one.why}" for one in self.unchecked]
        return to_html(Table.of(columns, rows, caption=self.summary, notes=notes))


def check_level(level: str) -> Severity:
    """Return the level if it is one.

    Examples
    --------
    >>> check_level("warning")
    'warning'
    """
    for known in SEVERITIES:
        if level == known:
            return known
    raise unknown_name("level", level, SEVERITIES)


def finding_lines(finding: Finding) -> list[str]:
    """Return a finding as lines: the sentence, examples, and what to do or why it may stand."""
    where = f"{finding.where}: " if finding.where else ""
    lines = [f"{finding.code} {finding.severity}: {where}{finding.message}"]
    lines += [f"  {example}" for example in finding.examples]
    lines.append(f"  to do: {finding.advice}" if finding.is_open else f"  acknowledged: {finding.reason}")
    return lines


def _words(one: Checked) -> str:
    return f"{one.check}: {one.count} {one.unit}" + (f" ({one.note})" if one.note else "")
