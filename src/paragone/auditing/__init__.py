"""Audits: leaks, determinism, verification and completeness of experiments and stores."""

from paragone.auditing.acknowledgement import Acknowledgement
from paragone.auditing.codes import CODES, Code
from paragone.auditing.finding import Checked, Finding, Unchecked
from paragone.auditing.procedure import audit
from paragone.auditing.result import Audit

__all__ = ["CODES", "Acknowledgement", "Audit", "Checked", "Code", "Finding", "Unchecked", "audit"]
