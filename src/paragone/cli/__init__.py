"""The command line: parses, calls the API, prints. It holds no logic."""

from paragone.cli import demo, run, scores, status
from paragone.cli.app import app, main

__all__ = ["app", "demo", "main", "run", "scores", "status"]
