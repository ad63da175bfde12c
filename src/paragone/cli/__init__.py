"""The command line: parses, calls the API, prints. It holds no logic."""

from paragone.cli import (
    compare,
    demo,
    doctor,
    export,
    import_,
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
    "compare",
    "demo",
    "doctor",
    "export",
    "import_",
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
