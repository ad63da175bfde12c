"""Named code: what an experiment file would have Python import, and from where, told without importing it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from paragone.lab.declaration import Declaration
from paragone.lab.protocol import default_kind, protocols
from paragone.lab.provenance import nested_uses
from paragone.methods.method import methods


@dataclass(frozen=True)
class NamedCode:
    """A class or function that a declaration names.

    Attributes
    ----------
    use : str
        As it is written: an alias or ``module:Class``.
    module : str
        The module that would be imported.
    origin : str
        The file or folder that it would come from.
    """

    use: str
    module: str
    origin: str

    def __str__(self) -> str:
        return f"{self.use} ({self.module}, from {self.origin})"


def code_named_by(declaration: Declaration, folder: Path) -> tuple[NamedCode, ...]:
    r"""Return everything that running a declared experiment would import, in the order of the file.

    Parameters
    ----------
    declaration : Declaration
        The experiment.
    folder : Path
        Where modules are looked for last, as `Experiment.from_toml` does: the folder of the
        experiment file.

    Returns
    -------
    tuple of NamedCode
        Each once. Nothing is imported to find it out.

    Examples
    --------
    >>> from paragone.lab.declaration import parse_declaration
    >>> text = 'name = "x"\n[data]\nsets = ["iris"]\n[methods.A]\nuse = "nowhere_at_all:Thing"\n'
    >>> [str(found) for found in code_named_by(parse_declaration(text), Path("."))][-1]
    'nowhere_at_all:Thing (nowhere_at_all, from nowhere: there is no such module)'
    """
    uses = dict.fromkeys(_uses(declaration))
    found = []
    for use in uses:
        module = _path(use, declaration).partition(":")[0]
        if module:
            found.append(NamedCode(use, module, _origin(module, folder)))
    return tuple(found)


def _uses(declaration: Declaration) -> Iterator[str]:
    for entry in declaration.data.sets:
        if not isinstance(entry, str) and ":" in (entry.reader or ""):
            yield str(entry.reader)
    if ":" in declaration.split.kind:
        yield declaration.split.kind
    yield from nested_uses(dict(declaration.split.params))
    kind = declaration.protocol.get("kind", "")
    if ":" in str(kind):
        yield str(kind)
    compared = declaration.compare
    yield from (use for use in (compared.test, compared.correction) if use and ":" in use)
    for name, value in declaration.protocol.items():
        yield from _estimator(value) if name == "evaluator" else nested_uses(value)
        yield from _metrics(name, value)
    for method in declaration.methods.values():
        yield from _estimator({"use": method.use, "params": method.params, "grid": method.grid})
        for step in method.steps:
            yield from _step(step)
        if method.tune is not None:
            yield "tuned"
            yield from nested_uses({"grid": method.tune.grid, "space": method.tune.space})
            evaluator = method.tune.evaluator
            yield from _estimator(evaluator if isinstance(evaluator, str) else dict(evaluator))


def _metrics(key: str, value: Any) -> Iterator[str]:
    """Find functions that are named as metrics: under ``metric`` or ``metrics``, in a table or in a list of tables."""
    if key in ("metric", "metrics"):
        named = value if isinstance(value, (list, tuple)) else [value]
        yield from (each for each in named if isinstance(each, str) and ":" in each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _metrics("metric", each.get("metric")) if isinstance(each, Mapping) else ()


def _estimator(given: str | Mapping[str, Any]) -> Iterator[str]:
    if isinstance(given, str):
        yield given
    else:
        yield from nested_uses(given)


def _step(given: Any) -> Iterator[str]:
    """A step is a name or a mapping; a list of them stands for alternatives."""
    if isinstance(given, (list, tuple)):
        for one in given:
            yield from _step(one)
    elif isinstance(given, str):
        yield given
    else:
        yield from nested_uses(given)


def _path(use: str, declaration: Declaration) -> str:
    """Return ``module:Class`` of an alias; empty for what nobody knows, which nothing is imported for."""
    if ":" in use:
        return use
    kind = declaration.protocol.get("kind", default_kind())
    own = {} if ":" in str(kind) else protocols.get(kind).facts.aliases
    return own.get(use) or methods.paths().get(use, "")


def _origin(module: str, folder: Path) -> str:
    # Of the top-level name alone: looking a submodule up would import its package.
    top = module.partition(".")[0]
    spec = _spec(top) or PathFinder.find_spec(top, [str(folder)])
    if spec is None:
        return "nowhere: there is no such module"
    if spec.origin in ("built-in", "frozen"):
        return "Python itself"
    return (
        spec.origin or next(iter(spec.submodule_search_locations or ()), "") or "an unknown place"
    )


def _spec(top: str) -> ModuleSpec | None:
    try:
        return find_spec(top)
    except ValueError:
        # A module that was loaded without a spec, such as __main__, is there already.
        return ModuleSpec(top, None, origin=getattr(sys.modules.get(top), "__file__", None))
