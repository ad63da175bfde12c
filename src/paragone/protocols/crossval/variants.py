"""Variants: a method with a grid of parameters and alternatives of its preprocessing steps, written out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any

from typing_extensions import override

from paragone.errors import InputError
from paragone.plugins import Method, digest
from paragone.protocols.crossval.steps import RAW, Step, declare_step

NESTED = "__"


@dataclass(frozen=True)
class Variant(Method):
    """One member of a method's family: preprocessing steps, a model, and what varies.

    Parameters
    ----------
    factory, params
        The model and its parameters.
    steps : tuple of Method
        Transformers before it, fitted on train inside the fold.
    nested : mapping
        Parameters inside a composed model, such as ``pls__n_components``.
    method : str
        The name of the declared method.
    varied : mapping
        The grid point.
    step_labels : tuple of str
        The alternative taken of every step.
    path_end : int, optional
        The largest number of components among the variants that differ from this one in that alone.
    """

    steps: tuple[Method, ...] = ()
    nested: Mapping[str, Any] = field(default_factory=dict)
    method: str = ""
    varied: Mapping[str, Any] = field(default_factory=dict)
    step_labels: tuple[str, ...] = ()
    path_end: int | None = None

    @override
    def identity(self) -> str:
        if not self.steps and not self.nested:
            return super().identity()
        return digest(
            {
                "class": self.label,
                "params": dict(self.params),
                "steps": [step.identity() for step in self.steps],
                "nested": dict(self.nested),
            }
        )

    @cached_property
    def prefix_identities(self) -> tuple[str, ...]:
        """A hash of the steps up to each one: what variants must have in common to share its work."""
        own = [step.identity() for step in self.steps]
        return tuple(digest(own[: place + 1]) for place in range(len(own)))

    @cached_property
    def family(self) -> str:
        """A hash of everything but the number of components: what PLS variants of one path have in common."""
        others = {key: value for key, value in self.params.items() if key != "n_components"}
        return digest([self.label, others, [step.identity() for step in self.steps]])

    @override
    def with_nested(self) -> list[Method]:
        return [*super().with_nested(), *(method for step in self.steps for method in step.with_nested())]

    @override
    def versions(self) -> dict[str, str]:
        found = super().versions()
        for step in self.steps:
            found |= step.versions()
        return dict(sorted(found.items()))

    def build_model(self, seed: int | None = None) -> Any:
        """Make the model without its preprocessing."""
        model = super().build(seed)
        return model.set_params(**self.nested) if self.nested else model

    @override
    def build(self, seed: int | None = None) -> Any:
        """Make the whole pipeline, as scikit-learn would run it."""
        if not self.steps:
            return self.build_model(seed)
        from sklearn.pipeline import make_pipeline

        return make_pipeline(*(step.build(seed) for step in self.steps), self.build_model(seed))

    @property
    def description(self) -> str:
        """The whole chain in words: steps, class and every parameter that was set."""
        shown = ", ".join(f"{key}={value}" for key, value in {**self.params, **self.nested}.items())
        model = f"{self.factory.__name__}({shown})"
        return " > ".join([*(label for label in self.step_labels if label != RAW), model])

    @override
    def described(self) -> dict[str, Any]:
        """Return what is kept of the variant beside its results."""
        return {
            **super().described(),
            "method": self.method,
            "varied": {key: _plain(value) for key, value in self.varied.items()},
            "steps": list(self.step_labels),
            "description": self.description,
        }


def expand(methods: Mapping[str, Any]) -> dict[str, Variant]:
    """Write out the variants of every method: steps outermost, the last key of a grid fastest.

    Parameters
    ----------
    methods : mapping
        Name to alias, ``"module:Class"``, class, estimator, or a mapping of ``use``, ``params``, ``grid``
        (parameter to list of values; ``step__parameter`` reaches into a composed model) and ``steps`` (a list of
        steps, each one step or a list of alternatives).

    Returns
    -------
    dict of str to Variant
        In declared order, every name once.

    Examples
    --------
    >>> pls = {"use": "sklearn.cross_decomposition:PLSRegression", "grid": {"n_components": [1, 2]}}
    >>> list(expand({"PLS": {**pls, "steps": [["raw", "minmax"]]}}))[1:3]
    ['PLS(raw, n_components=2)', 'PLS(minmax, n_components=1)']
    >>> expand({"PLS": pls})["PLS(n_components=1)"].path_end
    2
    """
    variants: dict[str, Variant] = {}
    for name, given in methods.items():
        for label, variant in _family(name, given):
            if label in variants:
                raise InputError(f"method {name!r}: two variants are called {label!r}; each may be declared once")
            variants[label] = variant
    return variants


def _family(name: str, given: Any) -> list[tuple[str, Variant]]:
    where = f"method {name!r}"
    grid: Mapping[str, Any] = {}
    steps: Sequence[Any] = ()
    if isinstance(given, Mapping):
        grid, steps = given.get("grid") or {}, given.get("steps") or ()
        given = {key: value for key, value in given.items() if key not in ("grid", "steps")}
    base = Method.declare(given, kind=where)
    values = [_values(key, listed, where) for key, listed in grid.items()]
    alternatives = [_alternatives(step, where) for step in steps]
    _check_grid(base, grid, values, where)
    family = [
        _variant(name, base, chosen, dict(zip(grid, point, strict=True)), alternatives)
        for chosen in product(*alternatives)
        for point in product(*values)
    ]
    return _with_paths(family)


def _values(key: str, listed: Any, where: str) -> list[Any]:
    if not isinstance(listed, Sequence) or isinstance(listed, str) or not listed:
        raise InputError(f"{where}: grid.{key} must be a list with at least one value, it is {listed!r}")
    return list(listed)


def _alternatives(step: Any, where: str) -> list[Step]:
    given = step if isinstance(step, (list, tuple)) else [step]
    if not given:
        raise InputError(f"{where}: a step has no alternative; name at least one, or 'raw' for none")
    return [declare_step(one, where=f"step of {where}") for one in given]


def _check_grid(base: Method, grid: Mapping[str, Any], values: list[list[Any]], where: str) -> None:
    plain = {key: listed[0] for key, listed in zip(grid, values, strict=True) if NESTED not in key}
    twice = [key for key in plain if key in base.params]
    if twice:
        raise InputError(f"{where}: {twice[0]!r} stands in params and in grid; keep one of them")
    replace(base, params={**base.params, **plain}).check_params(where)
    nested = [key for key in grid if NESTED in key]
    if nested:
        known = base.build().get_params(deep=True)
        for key in nested:
            if key not in known:
                from paragone.errors import unknown_name

                raise unknown_name(f"parameter of {where}", key, known)


def _variant(
    name: str, base: Method, chosen: Sequence[Step], point: Mapping[str, Any], alternatives: list[list[Step]]
) -> tuple[str, Variant]:
    varied_steps = [step.label for step, among in zip(chosen, alternatives, strict=True) if len(among) > 1]
    parts = [*varied_steps, *(f"{key}={_shown(value)}" for key, value in point.items())]
    variant = Variant(
        base.factory,
        {**base.params, **{key: value for key, value in point.items() if NESTED not in key}},
        steps=tuple(step.method for step in chosen if step.method is not None),
        nested={key: value for key, value in point.items() if NESTED in key},
        method=name,
        varied=point,
        step_labels=tuple(step.label for step in chosen),
    )
    return (f"{name}({', '.join(parts)})" if parts else name), variant


def _with_paths(family: list[tuple[str, Variant]]) -> list[tuple[str, Variant]]:
    """Tell PLS variants how far their family goes, so that one fit can serve all of it."""
    ends: dict[str, int] = {}
    for _, variant in family:
        size = variant.params.get("n_components")
        if _nests(variant.factory) and type(size) is int:
            ends[variant.family] = max(size, ends.get(variant.family, 0))
    return [(label, replace(v, path_end=ends.get(v.family)) if _nests(v.factory) else v) for label, v in family]


def _nests(factory: Any) -> bool:
    """Say whether a fit with many components holds those with fewer: scikit-learn's PLS, by whatever defaults."""
    from sklearn.cross_decomposition import PLSRegression

    if not isinstance(factory, type) or not issubclass(factory, PLSRegression):
        return False
    return all(getattr(factory, name) is getattr(PLSRegression, name) for name in ("fit", "predict"))


def _shown(value: Any) -> str:
    if isinstance(value, Mapping) and "use" in value:
        return str(value["use"])
    return str(value) if not hasattr(value, "get_params") else type(value).__name__


def _plain(value: Any) -> Any:
    return value if isinstance(value, (bool, int, float, str)) or value is None else _shown(value)
