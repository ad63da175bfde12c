"""The command line: parses, calls the API, prints. It holds no logic."""

from paragone.cli import audit, compare, demo, export, import_, pairwise, report, run, scores, status, view
from paragone.cli.app import app, main

__all__ = [
    "app",
    "audit",
    "compare",
    "demo",
    "export",
    "import_",
    "main",
    "pairwise",
    "report",
    "run",
    "scores",
    "status",
    "view",
]
