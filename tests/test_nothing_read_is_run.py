"""Nothing that is read from a file is run: no eval, no exec, no unpickling, in any module of the package."""

from __future__ import annotations

import ast
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "paragone"
FORBIDDEN = {"eval", "exec", "compile", "__import__"}
UNPICKLING = {
    ("pickle", "load"),
    ("pickle", "loads"),
    ("cloudpickle", "load"),
    ("cloudpickle", "loads"),
}
UNPICKLING |= {
    ("joblib", "load"),
    ("torch", "load"),
    ("marshal", "loads"),
    ("pd", "read_pickle"),
    ("shelve", "open"),
}
OUR_OWN_BYTES = {
    "testing/rankers.py",
    "testing/protocols.py",
    "lab/engine/packing.py",
    "lab/engine/table_buffers.py",
    "lab/engine/processes.py",
    "sources/loaded.py",
}
"""One unpickles what it just pickled, to see that it can be; two what a run sent its own processes, never a file;
the last reads the byte code of a module that Python has
imported already, to compare it."""
ON_REQUEST = {"intake/readers/scikit_learn.py"}
"""Reads a pickle of scores where the user says --run-code, and refuses it otherwise (tests/intake)."""
COMPILED_NOT_RUN = {("sources/loaded.py", "compile")}
"""Compiles the user's own module, to compare it with what was imported of it; nothing is executed."""


def calls() -> list[tuple[str, int, ast.Call]]:
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        name = path.relative_to(SOURCE).as_posix()
        found += [
            (name, node.lineno, node) for node in ast.walk(tree) if isinstance(node, ast.Call)
        ]
    return found


def test_no_module_evaluates_or_unpickles():
    assert len(calls()) > 5000
    for name, line, call in calls():
        target = call.func
        if isinstance(target, ast.Name):
            assert target.id not in FORBIDDEN or (name, target.id) in COMPILED_NOT_RUN, (
                f"{name}:{line}"
            )
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
            dotted = (target.value.id, target.attr)
            assert dotted not in UNPICKLING or name in OUR_OWN_BYTES | ON_REQUEST, f"{name}:{line}"


def test_numpy_never_unpickles():
    for name, line, call in calls():
        target = call.func
        if (
            isinstance(target, ast.Attribute)
            and isinstance(target.value, ast.Name)
            and target.value.id == "np"
        ):
            options = {keyword.arg: keyword.value for keyword in call.keywords}
            if target.attr == "load":
                allowed = options.get("allow_pickle")
                assert isinstance(allowed, ast.Constant), f"{name}:{line}"
                assert allowed.value is False, f"{name}:{line}"
