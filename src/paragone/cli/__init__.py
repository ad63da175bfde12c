"""The command line: parses, calls the API, prints. It holds no logic."""

from paragone.cli import demo, export, import_, run, scores, status
from paragone.cli.app import app, main

__all__ = ["app", "demo", "export", "import_", "main", "run", "scores", "status"]
