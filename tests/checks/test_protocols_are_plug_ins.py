"""The audit and the command line come to protocols by the registry and the door, and know what is in none of them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import paragone
from paragone.lab.protocol import our_kinds

SOURCE = Path(paragone.__file__).parent


def imported(file: Path) -> set[str]:
    """Every module that a file imports or imports from, inside functions too."""
    nodes = list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    found = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    return found | {
        alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names
    }


@pytest.mark.parametrize("package", ["checks", "cli", "reporting", "lab"])
def test_no_module_imports_from_inside_a_protocol(package):
    files = sorted((SOURCE / package).rglob("*.py"))
    assert len(files) > 10
    inside = tuple(f"paragone.protocols.{kind}" for kind in our_kinds())
    assert inside
    for file in files:
        assert not [name for name in imported(file) if name.startswith(inside)], file
