"""A store from a stranger: its declaration, and everything that lies beside it, names code that leaves marks."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paragone import Experiment
from paragone.protocols import Curve, KGrid

SHELL = 'use = "subprocess:Popen"\nparams = {{ args = ["touch", "{marks}/{name}"] }}'

MODULE = """
from pathlib import Path
MARKS = Path({marks!r})
(MARKS / "imported-{name}").touch()

class Ranker:
    file_parameters = {{"path": lambda path: (MARKS / "read-a-parameter").touch()}}
    def __init__(self, path=None):
        (MARKS / "built").touch()
    def fit(self, X, y):
        (MARKS / "fitted").touch()
        self.ranking_ = list(range(X.shape[1]))
        return self

class Splitter:
    def __init__(self):
        (MARKS / "built-a-splitter").touch()
    def split(self, X, y=None, groups=None):
        (MARKS / "split").touch()
        return iter(())

def metric(*given):
    (MARKS / "measured").touch()
    return 0.0

metric.higher_is_better = True

def read(*given, **options):
    (MARKS / "read").touch()

def section(view):
    (MARKS / "told").touch()
    return None

def corrected(p):
    (MARKS / "corrected").touch()
    return p

class Ours:
    kind = "strangers-own"
    def __init__(self):
        (MARKS / "built-a-protocol").touch()
"""

# Each names one kind of code, or of place, that a declaration can name.
DECLARATIONS = {
    "a process as a method": "[methods.V]\n{shell}\n",
    "a module beside the store": (
        '[methods.V]\nuse = "{module}:Ranker"\nparams = {{ path = "rows.csv" }}\n'
    ),
    "an estimator inside parameters": (
        "[methods.V]\nuse ="
        ' "sklearn.multioutput:MultiOutputClassifier"\n[methods.V.params.estimator]\n{shell}\n'
    ),
    "a tuner's evaluator": (
        '[methods.V]\nuse = "variance"\n[methods.V.tune]\ngrid = {{ x = [1]'
        " }}\n[methods.V.tune.evaluator]\n{shell}\n"
    ),
    "an evaluator": '[protocol.evaluator]\n{shell}\n[methods.V]\nuse = "variance"\n',
    "a splitter": '[split]\nkind = "{module}:Splitter"\n[methods.V]\nuse = "variance"\n',
    "steps of a cross-validation": (
        '[protocol]\nkind = "crossval"\n[methods.V]\nuse = "sklearn.linear_model:Ridge"\n'
        'steps = [{{ use = "{module}:Ranker" }}]\n'
    ),
    "a metric of lists": (
        '[protocol]\nkind = "topk"\nmetrics = ["{module}:metric"]\n[methods.V]\nuse ='
        ' "popularity"\n'
    ),
    "a metric of curves": (
        '[protocol]\nmetrics = ["{module}:metric"]\n[methods.V]\nuse = "variance"\n'
    ),
    "a scorer of predictions": (
        '[protocol]\nkind = "predict"\nmetrics = ["{module}:metric"]\n[methods.V]\nuse ='
        ' "sklearn.svm:SVC"\n'
    ),
    "a scorer that selects": (
        '[protocol]\nkind = "crossval"\nmetric = "{module}:metric"\n[methods.V]\nuse ='
        ' "sklearn.linear_model:Ridge"\n'
    ),
    "a protocol": '[protocol]\nkind = "{module}:Ours"\n[methods.V]\nuse = "variance"\n',
    "a space of parameters": (
        '[methods.V]\nuse = "dagfs"\n[methods.V.tune]\ntrials = 2\n'
        '[methods.V.tune.space.alpha]\nuse = "{module}:Ranker"\n'
    ),
    "parameters of a splitter": (
        '[split]\nkind = "sklearn.model_selection:KFold"\n[split.params.n_splits]\n{shell}\n'
        '[methods.V]\nuse = "variance"\n'
    ),
    "a test and a correction": (
        '[compare]\ntest = "{module}:corrected"\ncorrection ='
        ' "{module}:corrected"\n[methods.V]\nuse = "variance"\n'
    ),
}
READER = '{{ path = "rows.csv", target = "y", task = "regression", reader = "{module}:read" }}'
"""A dataset that is read by the stranger's own code."""
ENTRY_POINTS = """
[paragone.metrics]
strange = {module}:metric
[paragone.readers]
strange = {module}:read
[paragone.methods]
strange = {module}:Ranker
[paragone.protocols]
strange = {module}:Ours
[paragone.sections]
strange = {module}:section
[paragone.tests]
strange = {module}:corrected
[paragone.corrections]
strange = {module}:corrected
"""
"""What an installed package would add; here it only lies beside the store."""
SETS = (
    "wine-traits",
    "{outside}/secret.csv",
    "../secret.csv",
    "link.csv",
    "folds:/proc/self",
    "openml:iris",
)
SHADOWS = ("threading", "selectors", "json", "pickle", "numexpr", "bottleneck")
"""Modules of Python and optional packages: libraries look for them, and must not find them beside the store."""


@dataclass
class Watch:
    """What this process did while it was watched, by Python's own audit events."""

    opened: list[str] = field(default_factory=list)
    imported: list[str] = field(default_factory=list)
    processes: list[str] = field(default_factory=list)
    addresses: list[str] = field(default_factory=list)
    safe_paths: list[str | None] = field(default_factory=list)
    on: bool = False

    def hear(self, event: str, args: tuple[Any, ...]) -> None:
        if not self.on:
            return
        if event == "open":
            self.opened.append(str(args[0]))
        elif event == "import":
            self.imported.append(str(args[0]))
        elif event in ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn"):
            self.processes.append(str(args[0]))
        elif event in ("socket.connect", "socket.getaddrinfo"):
            self.addresses.append(str(args))
        elif event == "sqlite3.connect":
            self.safe_paths.append(os.environ.get("PYTHONSAFEPATH"))


_WATCH = Watch()
sys.addaudithook(_WATCH.hear)


@contextmanager
def watched() -> Iterator[Watch]:
    """Note what happens inside; an audit hook cannot be taken away again, so there is one for all."""
    _WATCH.opened, _WATCH.imported, _WATCH.processes, _WATCH.addresses = [], [], [], []
    _WATCH.safe_paths = []
    _WATCH.on = True
    try:
        yield _WATCH
    finally:
        _WATCH.on = False


@dataclass(frozen=True)
class Stranger:
    """A folder from elsewhere with a store in it, and the folder where its code would leave marks."""

    folder: Path
    outside: Path
    marks: Path
    module: str

    @property
    def store(self) -> Path:
        return self.folder / "lab.sqlite"

    def declare(self, text: str, given: tuple[str, ...] = SETS) -> None:
        """Put a declaration into the store, and beside it as a file; it always names a section of the page, too."""
        shell = SHELL.format(marks=self.marks, name="process")
        formatted = [one.format(outside=self.outside, module=self.module) for one in given]
        sets = ", ".join(one if one.startswith("{") else f'"{one}"' for one in formatted)
        declared = f'name = "lab"\nsections = ["{self.module}:section"]\n[data]\nsets = [{sets}]\n'
        declared += text.format(shell=shell, module=self.module)
        section = json.dumps([f"{self.module}:section"])
        with sqlite3.connect(self.store) as db:
            db.execute("UPDATE experiments SET declared = ?", (declared,))
            # Pages go by what was described when the plan was made.
            db.execute(
                "UPDATE experiments SET described = json_set(described, '$.sections', json(?))",
                (section,),
            )
        db.close()
        self.store.with_suffix(".toml").write_text(declared)

    def left(self) -> list[str]:
        """Name the marks that were left."""
        return sorted(mark.name for mark in self.marks.iterdir())

    def is_untouched(self, watch: Watch) -> None:
        """Check that nothing of the stranger's ran, and that nothing outside was read or called."""
        assert self.left() == []
        assert not watch.processes
        assert not watch.addresses
        assert self.module not in watch.imported
        assert self.module not in sys.modules
        assert not [name for name in watch.opened if name.endswith("secret.csv")]
        assert str(self.folder) not in sys.path
        assert not [
            name
            for name in watch.opened
            if name.startswith(str(self.folder)) and name.endswith(".py")
        ]


def made(folder: Path, number: int) -> Stranger:
    """Run a small experiment honestly, then let the stranger write into the store and beside it."""
    stranger = Stranger(
        folder / "from-elsewhere", folder, folder / "marks", f"strangers_module_{number}"
    )
    stranger.folder.mkdir()
    stranger.marks.mkdir()
    for name in (stranger.module, *SHADOWS):
        (stranger.folder / f"{name}.py").write_text(
            MODULE.format(marks=str(stranger.marks), name=name)
        )
    installed = stranger.folder / f"{stranger.module}-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {stranger.module}\nVersion: 1.0\n"
    )
    (installed / "entry_points.txt").write_text(ENTRY_POINTS.format(module=stranger.module))
    (folder / "secret.csv").write_text("a,b,y\n1,2,0\n3,4,1\n")
    (stranger.folder / "rows.csv").write_text("a,b,y\n1,2,0\n3,4,1\n")
    (stranger.folder / "link.csv").symlink_to(folder / "secret.csv")
    experiment = Experiment(
        ["wine-traits"],
        {"V": "variance", "R": "random"},
        {"folds": 2},
        Curve(k=KGrid(2, 6, 2)),
        name="lab",
    )
    experiment.run(stranger.store, workers=0).close()
    return stranger
