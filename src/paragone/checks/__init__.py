"""Audits: leaks, determinism, verification and completeness of experiments and stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paragone.checks.before_run import check_before_run
from paragone.checks.finding import CODES, Acknowledgement, Audit, Checked, Code, Finding, Unchecked

if TYPE_CHECKING:
    from paragone.checks.procedure import audit

__all__ = [
    "CODES",
    "Acknowledgement",
    "Audit",
    "Checked",
    "Code",
    "Finding",
    "Unchecked",
    "audit",
    "check_before_run",
]


def __getattr__(name: str) -> Any:
    """Import the audit, and with it pages and tables, when it is first asked for: a run needs none of them."""
    if name != "audit":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from paragone.checks import procedure

    return procedure.audit
