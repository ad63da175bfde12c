"""Finding: what an audit can find, what it found, which findings are acknowledged, and the audit as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from paragone.checks.registry import Severity, code_of
from paragone.checks.words import counted
from paragone.errors import InputError, unknown_name
from paragone.tables import Column, Table, to_html

if TYPE_CHECKING:
    import pandas as pd

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
SHOWN = 5
"""Examples a finding carries at most."""


@dataclass(frozen=True)
class Finding:
    """Something an audit found.

    Attributes
    ----------
    code : str
        Which kind; see `all_codes`.
    message : str
        One sentence with the counts.
    experiment, dataset, method, file : str
        Where; empty where it is not about one.
    count, total : int
        How many, of how many.
    examples : tuple of str
        The first few, named.
    reason : str
        Why it is acknowledged; empty while it is open.

    Examples
    --------
    >>> finding = Finding("PG109", "2 of 9 columns number or order the rows", dataset="d", count=2, total=9)
    >>> finding.severity, finding.is_open
    ('warning', True)
    """

    code: str
    message: str
    experiment: str = ""
    dataset: str = ""
    method: str = ""
    file: str = ""
    count: int = 0
    total: int = 0
    examples: tuple[str, ...] = ()
    reason: str = ""

    def __post_init__(self) -> None:
        code_of(self.code)
        object.__setattr__(self, "examples", tuple(self.examples)[:SHOWN])

    @property
    def severity(self) -> Severity:
        """How bad it is."""
        return code_of(self.code).severity

    @property
    def title(self) -> str:
        """What kind of thing it is."""
        return code_of(self.code).title

    @property
    def advice(self) -> str:
        """What to do."""
        return code_of(self.code).advice

    @property
    def is_open(self) -> bool:
        """Whether it waits for an answer: an error or a warning that nobody has acknowledged. A note asks for none."""
        return not self.reason and self.severity != "note"

    @property
    def where(self) -> str:
        """Dataset, method and file in one text."""
        return ", ".join(part for part in (self.dataset, self.method, self.file) if part)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        more = {
            "severity": self.severity,
            "title": self.title,
            "advice": self.advice,
            "open": self.is_open,
        }
        return {**asdict(self), "examples": list(self.examples), **more}


@dataclass(frozen=True)
class Checked:
    """What was looked at: the check, how many of what, and how it was done where that must be known.

    Examples
    --------
    >>> Checked("repeated rows", 12, "pairs of splits").check
    'repeated rows'
    """

    check: str
    count: int
    unit: str
    note: str = ""


@dataclass(frozen=True)
class Unchecked:
    """What could not be looked at, how many of it, and why.

    Examples
    --------
    >>> Unchecked("repeated rows", 3, "datasets", "they are not at hand").why
    'they are not at hand'
    """

    check: str
    count: int
    unit: str
    why: str


class Ledger:
    """What the checks of an audit write down: findings, what was looked at, and what was not.

    Examples
    --------
    >>> ledger = Ledger("lab")
    >>> ledger.at(dataset="d").find("PG108", "1 of 3 columns holds a single value", 1, 3)
    >>> ledger.findings[0].experiment, ledger.findings[0].dataset
    ('lab', 'd')
    """

    def __init__(self, experiment: str) -> None:
        self.experiment = experiment
        self.findings: list[Finding] = []
        self.checked: list[Checked] = []
        self.unchecked: list[Unchecked] = []
        self._where: dict[str, str] = {}

    def at(self, **where: str) -> Ledger:
        """Return this ledger for a dataset, method or file: what is written there is written here."""
        place = copy(self)
        place._where = self._where | where
        return place

    def find(
        self,
        code: str,
        message: str,
        count: int = 0,
        total: int = 0,
        examples: Iterable[str] = (),
        **where: str,
    ) -> None:
        """Write down a finding."""
        place = {"experiment": self.experiment} | self._where | where
        found = Finding(code, message, count=count, total=total, examples=tuple(examples), **place)
        self.findings.append(found)

    def look(self, check: str, count: int, unit: str, note: str = "") -> None:
        """Write down what was looked at."""
        if count:
            self.checked.append(Checked(check, count, self._of(unit), note))

    def miss(self, check: str, count: int, unit: str, why: str) -> None:
        """Write down what could not be looked at."""
        if count:
            self.unchecked.append(Unchecked(check, count, self._of(unit), why))

    def audit(self, subject: str) -> Audit:
        """Return all that was written down."""
        return Audit(subject, tuple(self.findings), tuple(self.checked), tuple(self.unchecked))

    def _of(self, unit: str) -> str:
        dataset = self._where.get("dataset")
        return f"{unit} of {dataset}" if dataset else unit


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
    paragone.errors.InputError: audit.acknowledge of PG108: the reason is empty; say why the finding
    may stand
    """

    code: str
    reason: str
    dataset: str = ""
    method: str = ""
    file: str = ""

    def __post_init__(self) -> None:
        code_of(self.code)
        if not self.reason.strip():
            raise InputError(
                f"audit.acknowledge of {self.code}: the reason is empty; say why the finding may"
                " stand"
            )

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
        named = all(
            getattr(self, part) in ("", getattr(finding, part)) for part in ("dataset", "method")
        )
        return self.code == finding.code and named and finding.file.endswith(self.file)


def acknowledge(
    findings: Iterable[Finding], known: Iterable[Acknowledgement]
) -> tuple[Finding, ...]:
    """Return the findings, each with the reason of the first acknowledgement that covers it.

    Examples
    --------
    >>> found = [Finding("PG106", "..."), Finding("PG109", "...")]
    >>> [finding.is_open for finding in acknowledge(found, [Acknowledgement("PG106", "known beforehand")])]
    [False, True]
    """
    known = tuple(known)

    def settled(finding: Finding) -> Finding:
        reason = next((one.reason for one in known if one.covers(finding)), "")
        return replace(finding, reason=reason)

    return tuple(settled(finding) for finding in findings)


COLUMNS = (
    "code",
    "severity",
    "experiment",
    "dataset",
    "method",
    "file",
    "message",
    "count",
    "total",
    "reason",
)


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
    >>> audit = Audit("lab", (Finding("PG109", "1 of 3 columns numbers or orders the rows", dataset="d"),))
    >>> audit.clean, len(audit.open)
    (False, 1)
    >>> print(audit)
    Audit of lab: 1 open finding (1 warning)
    PG109 warning: d: 1 of 3 columns numbers or orders the rows
      to do: drop the column: it tells where a row stands, not what it is
    >>> print(Audit("lab", (Finding("PG108", "1 of 3 columns holds a single value", dataset="d"),)).summary)
    Audit of lab: no open finding, 1 note
    """

    subject: str
    findings: tuple[Finding, ...] = ()
    checked: tuple[Checked, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()
    hidden: int = 0

    def __post_init__(self) -> None:
        ordered = sorted(
            self.findings, key=lambda found: (SEVERITIES.index(found.severity), found.code)
        )
        object.__setattr__(self, "findings", tuple(ordered))

    @property
    def open(self) -> tuple[Finding, ...]:
        """The errors and warnings that nobody has acknowledged."""
        return tuple(finding for finding in self.findings if finding.is_open)

    @property
    def acknowledged(self) -> tuple[Finding, ...]:
        """The findings that carry a reason."""
        return tuple(finding for finding in self.findings if finding.reason)

    @property
    def notes(self) -> tuple[Finding, ...]:
        """The notes that nobody has acknowledged: worth knowing, and no answer is asked for."""
        return tuple(
            finding
            for finding in self.findings
            if finding.severity == "note" and not finding.reason
        )

    @property
    def clean(self) -> bool:
        """Whether no finding is open."""
        return not self.open

    def of(self, code: str) -> tuple[Finding, ...]:
        """Return the findings of one code."""
        return tuple(finding for finding in self.findings if finding.code == code)

    def knowing(self, known: Iterable[Acknowledgement]) -> Audit:
        """Let acknowledged findings carry their reason."""
        return replace(self, findings=acknowledge(self.findings, known))

    def at_least(self, level: str) -> Audit:
        """Leave out what is less bad; how many that are is kept in ``hidden``."""
        kept = SEVERITIES[: SEVERITIES.index(check_level(level)) + 1]
        shown = tuple(finding for finding in self.findings if finding.severity in kept)
        return replace(self, findings=shown, hidden=self.hidden + len(self.findings) - len(shown))

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row per finding."""
        import pandas as pd

        rows = [[getattr(finding, column) for column in COLUMNS] for finding in self.findings]
        return pd.DataFrame(rows, columns=list(COLUMNS))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return {
            "subject": self.subject,
            "clean": self.clean,
            "open": len(self.open),
            "notes": len(self.notes),
            "acknowledged": len(self.acknowledged),
            "left_out_by_level": self.hidden,
            "findings": [finding.to_dict() for finding in self.findings],
            "checked": [asdict(checked) for checked in self.checked],
            "unchecked": [asdict(unchecked) for unchecked in self.unchecked],
        }

    @property
    def summary(self) -> str:
        """One line: what is open, what is acknowledged."""
        counts = [(sum(f.severity == s for f in self.open), f"{s}s") for s in SEVERITIES]
        each = ", ".join(counted(count, severities) for count, severities in counts if count)
        words = (
            f"{counted(len(self.open), 'open findings')} ({each})"
            if self.open
            else "no open finding"
        )
        if self.notes:
            words += f", {counted(len(self.notes), 'notes')}"
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
        lines += [f"not checked: {_words_not(one)}" for one in self.unchecked]
        return lines

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        columns: list[str | Column] = [
            Column(n, "left") for n in ("code", "severity", "where", "finding", "to do")
        ]
        rows = [
            [
                f.code,
                f.severity,
                f.where,
                f.message,
                f"acknowledged: {f.reason}" if f.reason else f.advice,
            ]
            for f in self.findings
        ]
        notes = [*(_words(one) for one in self.checked)]
        notes += [f"not checked: {_words_not(one)}" for one in self.unchecked]
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
    lines.append(
        f"  acknowledged: {finding.reason}" if finding.reason else f"  to do: {finding.advice}"
    )
    return lines


def _words(one: Checked) -> str:
    return f"{one.check}: {counted(one.count, one.unit)}" + (f" ({one.note})" if one.note else "")


def _words_not(one: Unchecked) -> str:
    return f"{one.check}: {counted(one.count, one.unit)}: {one.why}"
