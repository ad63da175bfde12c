"""Audits: leaks, determinism, verification and completeness of experiments and stores."""

from __future__ import annotations

from paragone.checks.finding import CODES, Acknowledgement, Audit, Checked, Code, Finding, Unchecked
from paragone.checks.procedure import audit

__all__ = ["CODES", "Acknowledgement", "Audit", "Checked", "Code", "Finding", "Unchecked", "audit"]
