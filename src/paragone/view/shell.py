"""The frame of the live page: progress and choices above, the report below."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any


def render_shell(title: str, experiments: Sequence[str]) -> str:
    """Return the frame; everything else is asked for by its script.

    Examples
    --------
    >>> "&lt;lab&gt;.sqlite" in render_shell("<lab>.sqlite", ["a"])
    True
    """
    text: str = _environment().get_template("shell.html").render(title=title, experiments=experiments)
    return text


@cache
def view_file(name: str) -> str:
    """Return the text of a file of the view."""
    return (files("paragone.view") / "static" / name).read_text(encoding="utf-8")


@cache
def _environment() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(loader=PackageLoader("paragone.view"), autoescape=True, undefined=StrictUndefined)
