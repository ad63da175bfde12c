"""What a doctor finds in a store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

Level = Literal["damage", "note"]


@dataclass(frozen=True)
class Finding:
    """One thing that is not as it should be.

    Parameters
    ----------
    level : {"damage", "note"}
        Whether something is lost or only worth knowing.
    kind, key : str
        What it is about: ``cell``, ``fit``, ``split``, ``truth``, ``dataset``, ``experiment``, ``run``, or the
        ``database`` itself, and which.
    message : str
        What is wrong, for people.
    """

    level: Level
    kind: str
    key: str
    message: str


@dataclass(frozen=True)
class Diagnosis:
    """The state of a store.

    Parameters
    ----------
    path : Path
        The file.
    schema : int
        The version of its tables.
    size : int
        Bytes on disk, the write-ahead log included.
    checked : mapping
        How many artifacts of each kind were looked at.
    findings : tuple of Finding
        What was found, damage first.
    reclaimable : mapping
        How many rows a compaction would delete, by what they are.
    """

    path: Path
    schema: int
    size: int
    checked: Mapping[str, int]
    findings: tuple[Finding, ...] = ()
    reclaimable: Mapping[str, int] = field(default_factory=dict)

    @property
    def damage(self) -> tuple[Finding, ...]:
        """The findings that mean a loss."""
        return tuple(finding for finding in self.findings if finding.level == "damage")

    @property
    def is_healthy(self) -> bool:
        """Whether nothing is damaged."""
        return not self.damage

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        told = asdict(self)
        return {**told, "path": str(self.path), "healthy": self.is_healthy}

    def __str__(self) -> str:
        checked = ", ".join(f"{count} {kind}" for kind, count in self.checked.items())
        lines = [f"{self.path}: schema {self.schema}, {self.size:,} bytes; looked at {checked}"]
        lines += [f"{finding.level}: {finding.message}" for finding in self.findings]
        if any(self.reclaimable.values()):
            dead = ", ".join(f"{count} {what}" for what, count in self.reclaimable.items() if count)
            lines.append(f"note: --compact would delete {dead}")
        if self.is_healthy:
            sealed = not any(finding.kind == "checksum" for finding in self.findings)
            lines.append("healthy: every artifact can be read" + " and agrees with its checksum" * sealed)
        return "\n".join(lines)
