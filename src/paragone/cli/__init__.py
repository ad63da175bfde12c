"""The command line: parses, calls the API, prints. It holds no logic."""

from paragone.cli import (
    audit,
    compare,
    demo,
    doctor,
    exchange,
    merge,
    pairwise,
    report,
    reproduce,
    run,
    scores,
    status,
    view,
)
from paragone.cli.app import app, main

__all__ = [
    "app",
    "audit",
    "compare",
    "demo",
    "doctor",
    "exchange",
    "main",
    "merge",
    "pairwise",
    "report",
    "reproduce",
    "run",
    "scores",
    "status",
    "view",
]
