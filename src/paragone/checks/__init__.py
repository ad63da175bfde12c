"""Audits: leaks, determinism, verification and completeness of experiments and stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paragone.checks.before_run import check_before_run
from paragone.checks.finding import Acknowledgement, Audit, Checked, Finding, Ledger, Unchecked
from paragone.checks.registry import Check, Code, all_codes, check, checks

if TYPE_CHECKING:
    from paragone.checks.procedure import AuditOptions, audit

__all__ = [
    "Acknowledgement",
    "Audit",
    "AuditOptions",
    "Check",
    "Checked",
    "Code",
    "Finding",
    "Ledger",
    "Unchecked",
    "all_codes",
    "audit",
    "check",
    "check_before_run",
    "checks",
]


def __getattr__(name: str) -> Any:
    """Import the audit, and with it pages and tables, when it is first asked for: a run needs none of them."""
    if name not in ("audit", "AuditOptions"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from paragone.checks import procedure

    return getattr(procedure, name)
