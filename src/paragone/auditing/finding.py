"""Finding: something an audit found, with its evidence; and what could not be looked at."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from paragone.auditing.codes import Severity, code_of

SHOWN = 5
"""Examples a finding carries at most."""


@dataclass(frozen=True)
class Finding:
    """Something an audit found.

    Attributes
    ----------
    code : str
        Which kind; see `CODES`.
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
    >>> finding = Finding("PG108", "2 of 9 columns hold a single value", dataset="d", count=2, total=9)
    >>> finding.severity, finding.is_open
    ('note', True)
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
        """Whether nobody has acknowledged it."""
        return not self.reason

    @property
    def where(self) -> str:
        """Dataset, method and file in one text."""
        return ", ".join(part for part in (self.dataset, self.method, self.file) if part)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        more = {"severity": self.severity, "title": self.title, "advice": self.advice, "open": self.is_open}
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
    >>> ledger.find("PG108", "1 of 3 columns holds a single value", dataset="d")
    >>> ledger.findings[0].experiment
    'lab'
    """

    def __init__(self, experiment: str) -> None:
        self.experiment = experiment
        self.findings: list[Finding] = []
        self.checked: list[Checked] = []
        self.unchecked: list[Unchecked] = []

    def find(self, code: str, message: str, **where: Any) -> None:
        """Write down a finding."""
        self.findings.append(Finding(code, message, experiment=self.experiment, **where))

    def look(self, check: str, count: int, unit: str, note: str = "") -> None:
        """Write down what was looked at."""
        if count:
            self.checked.append(Checked(check, count, unit, note))

    def miss(self, check: str, count: int, unit: str, why: str) -> None:
        """Write down what could not be looked at."""
        if count:
            self.unchecked.append(Unchecked(check, count, unit, why))
