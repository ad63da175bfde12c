"""The house itself: one name for one class, and imports that go one way."""

from __future__ import annotations

import ast
from collections import defaultdict
from graphlib import TopologicalSorter
from pathlib import Path

import paragone

ROOT = Path(paragone.__file__).parent


def _modules() -> dict[str, ast.Module]:
    """Return every module of the package by its dotted name."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        name = ".".join(("paragone", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
        found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


MODULES = _modules()


def imported_at_once(tree: ast.Module) -> set[str]:
    """Return the modules of the package that a module imports when it is loaded."""
    found = set()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{name.name}" for name in node.names}
            found |= {name if name in MODULES else node.module for name in inner}
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
    return found & MODULES.keys()


def test_a_class_name_exists_once():
    homes = defaultdict(list)
    for name, tree in MODULES.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(name)
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}


def test_no_module_needs_itself_by_way_of_others():
    graph = {name: imported_at_once(tree) - {name} for name, tree in MODULES.items()}
    assert len(tuple(TopologicalSorter(graph).static_order())) == len(MODULES)
