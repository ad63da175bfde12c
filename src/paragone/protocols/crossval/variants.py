"""Variants: a method with a grid of parameters and alternatives of its preprocessing steps, written out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any

from typing_extensions import override

from paragone.errors import InputError
from paragone.hashing import digest
from paragone.methods.method import Method, methods, resolve
from paragone.registry import first_name

RAW = "raw"


@dataclass(frozen=True)
class StepAlias:
    """A short name: the class, its short parameter names, and defaults that differ from the class's own."""

    path: str
    short: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)


_WINDOW = {"window": "window_length", "poly": "polyorder"}
STEPS: dict[str, StepAlias] = {
    "snv": StepAlias("chemotools.scatter:StandardNormalVariate"),
    "rnv": StepAlias("chemotools.scatter:RobustNormalVariate"),
    "msc": StepAlias("chemotools.scatter:MultiplicativeScatterCorrection"),
    "emsc": StepAlias("chemotools.scatter:ExtendedMultiplicativeScatterCorrection"),
    "savgol": StepAlias(
        "chemotools.derivative:SavitzkyGolay", _WINDOW, {"window_length": 15, "polyorder": 2}
    ),
    "smooth": StepAlias(
        "chemotools.smooth:SavitzkyGolayFilter", _WINDOW, {"window_length": 15, "polyorder": 2}
    ),
    "detrend": StepAlias("chemotools.baseline:PolynomialCorrection"),
    "airpls": StepAlias("chemotools.baseline:AirPls"),
    "center": StepAlias("sklearn.preprocessing:StandardScaler", defaults={"with_std": False}),
    "autoscale": StepAlias("sklearn.preprocessing:StandardScaler"),
    "minmax": StepAlias("sklearn.preprocessing:MinMaxScaler"),
    "pca": StepAlias("sklearn.decomposition:PCA"),
}
"""Every step with a short name; ``raw`` stands for no step at all."""


@dataclass(frozen=True)
class Step:
    """One alternative of a preprocessing step: how tables call it, and the transformer; None for ``raw``."""

    label: str
    method: Method | None


def declare_step(given: Any, *, where: str) -> Step:
    """Make a step of a short name, ``module:Class``, a mapping with ``use``, or a transformer.

    Parameters
    ----------
    given : str, mapping, class or transformer
        A mapping holds the parameters beside ``use``, or under ``params``.
    where : str
        What to call it in an error.

    Returns
    -------
    Step
        With its label.

    Examples
    --------
    >>> declare_step("raw", where="step")
    Step(label='raw', method=None)
    >>> declare_step({"use": "minmax", "clip": True}, where="step").label
    'minmax(clip=True)'
    """
    if given == RAW:
        return Step(RAW, None)
    if isinstance(given, str):
        return _named(given, {}, where)
    if isinstance(given, Mapping):
        if "use" not in given:
            raise InputError(
                f"{where}: the key 'use' is missing; write {{ use = \"savgol\", window = 15 }}"
            )
        inline = {key: value for key, value in given.items() if key not in ("use", "params")}
        return _named(str(given["use"]), {**dict(given.get("params") or {}), **inline}, where)
    method = Method.declare(given, kind=where)
    return Step(_label(method.factory.__name__, method.params), method)


def _named(use: str, params: Mapping[str, Any], where: str) -> Step:
    alias = STEPS.get(use)
    if alias is None:
        if ":" not in use and use not in methods:
            from paragone.errors import unknown_name

            raise unknown_name(where, use, [RAW, *STEPS])
        method = Method(resolve(use, kind=where), dict(params))
        short = use.rpartition(":")[2]
    else:
        long = {alias.short.get(name, name): value for name, value in params.items()}
        method = Method(_imported(alias.path, where), {**alias.defaults, **long})
        short = use
    method.check_params(where)
    return Step(_label(short, params), method)


def _imported(path: str, where: str) -> Any:
    try:
        return resolve(path, kind=where)
    except InputError as error:
        if path.startswith("chemotools"):
            raise InputError(
                f"{where}: spectral preprocessing needs chemotools: pip install 'paragone[nirs]'"
            ) from error
        raise


def _label(name: str, params: Mapping[str, Any]) -> str:
    shown = ", ".join(f"{key}={value}" for key, value in params.items())
    return f"{name}({shown})" if shown else name


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
    shares : bool
        Whether one fit is to serve all of those.
    """

    steps: tuple[Method, ...] = ()
    nested: Mapping[str, Any] = field(default_factory=dict)
    method: str = ""
    varied: Mapping[str, Any] = field(default_factory=dict)
    step_labels: tuple[str, ...] = ()
    path_end: int | None = None
    shares: bool = True

    @override
    def identity(self) -> str:
        if not self.steps and not self.nested:
            return super().identity()
        return digest(
            {
                "class": first_name(self.label),
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

    @property
    @override
    def group(self) -> str:
        return "PLS paths" if self.shares and self.path_end is not None else ""

    @cached_property
    def family(self) -> str:
        """A hash of everything but the number of components: what PLS variants of one path have in common."""
        others = {key: value for key, value in self.params.items() if key != "n_components"}
        return digest([self.label, others, [step.identity() for step in self.steps]])

    @override
    def with_nested(self) -> list[Method]:
        return [
            *super().with_nested(),
            *(method for step in self.steps for method in step.with_nested()),
        ]

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
        Name to alias, ``"module:Class"``, class, estimator, or a mapping of ``use``, ``params``,
        ``grid`` (parameter to list of values; ``step__parameter`` reaches into a composed model)
        and ``steps`` (a list of steps, each one step or a list of alternatives).

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
                raise InputError(
                    f"method {name!r}: two pipelines are called {label!r}; each may be declared"
                    " once"
                )
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
        raise InputError(
            f"{where}: grid.{key} must be a list with at least one value, it is {listed!r}"
        )
    return list(listed)


def _alternatives(step: Any, where: str) -> list[Step]:
    given = step if isinstance(step, (list, tuple)) else [step]
    if not given:
        raise InputError(
            f"{where}: a step has no alternative; name at least one, or 'raw' for none"
        )
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
    name: str,
    base: Method,
    chosen: Sequence[Step],
    point: Mapping[str, Any],
    alternatives: list[list[Step]],
) -> tuple[str, Variant]:
    varied_steps = [
        step.label for step, among in zip(chosen, alternatives, strict=True) if len(among) > 1
    ]
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
    return [
        (label, replace(v, path_end=ends.get(v.family)) if _nests(v.factory) else v)
        for label, v in family
    ]


def _nests(factory: Any) -> bool:
    """Say whether a fit with many components holds those with fewer: scikit-learn's PLS, by whatever defaults."""
    from sklearn.cross_decomposition import PLSRegression

    if not isinstance(factory, type) or not issubclass(factory, PLSRegression):
        return False
    return all(
        getattr(factory, name) is getattr(PLSRegression, name) for name in ("fit", "predict")
    )


def _shown(value: Any) -> str:
    if isinstance(value, Mapping) and "use" in value:
        return str(value["use"])
    return str(value) if not hasattr(value, "get_params") else type(value).__name__


def _plain(value: Any) -> Any:
    return value if isinstance(value, (bool, int, float, str)) or value is None else _shown(value)


MORE_IS_COMPLEX = (
    "n_components",
    "max_depth",
    "max_leaf_nodes",
    "n_features_to_select",
    "degree",
    "C",
)
MORE_IS_SIMPLE = ("alpha", "n_neighbors", "min_samples_leaf", "min_samples_split")
UNBOUNDED = ("max_depth", "max_leaf_nodes")


def simplicity(variants: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    """Number variants from the simplest up.

    Parameters
    ----------
    variants : mapping
        Name to what is known of the variant (``use``, ``params``, ``varied``, ``steps``), in
        declared order.

    Returns
    -------
    dict of str to int
        The place of every variant, 0 for the simplest.

    Examples
    --------
    >>> pls = {"use": "sklearn:PLSRegression"}
    >>> raw, snv = {**pls, "steps": ["raw"]}, {**pls, "steps": ["snv"]}
    >>> places = simplicity({
    ...     "raw 5": {**raw, "params": {"n_components": 5}},
    ...     "snv 2": {**snv, "params": {"n_components": 2}},
    ...     "raw 2": {**raw, "params": {"n_components": 2}},
    ... })
    >>> sorted(places, key=places.get)
    ['raw 2', 'snv 2', 'raw 5']
    """
    families: dict[tuple[str, tuple[str, ...]], int] = {}
    keys = {}
    for place, (name, facts) in enumerate(variants.items()):
        known = _known(facts)
        family = families.setdefault((str(facts.get("use", name)), tuple(known)), place)
        n_steps = sum(step != RAW for step in facts.get("steps", ()))
        keys[name] = (family, tuple(known.values()), n_steps, place)
    return {name: place for place, name in enumerate(sorted(keys, key=keys.__getitem__))}


def _known(facts: Mapping[str, Any]) -> dict[str, float]:
    """Return the parameters that order complexity, in declared order, as numbers that rise with it."""
    found: dict[str, float] = {}
    for key, value in {**facts.get("varied", {}), **facts.get("params", {})}.items():
        name = key.rpartition("__")[2]
        sign = 1.0 if name in MORE_IS_COMPLEX else -1.0 if name in MORE_IS_SIMPLE else 0.0
        if not sign:
            continue
        if value is None and name in UNBOUNDED:
            found[key] = math.inf
        elif (
            isinstance(value, (int, float))
            and not isinstance(value, bool)
            and not math.isnan(value)
        ):
            found[key] = sign * value
    return found
