"""Preprocessing steps by name: spectral ones from chemotools, plain ones from scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from paragone.errors import InputError
from paragone.plugins import Method, aliases, resolve

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
    "savgol": StepAlias("chemotools.derivative:SavitzkyGolay", _WINDOW, {"window_length": 15, "polyorder": 2}),
    "smooth": StepAlias("chemotools.smooth:SavitzkyGolayFilter", _WINDOW, {"window_length": 15, "polyorder": 2}),
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
            raise InputError(f"{where}: the key 'use' is missing; write {{ use = \"savgol\", window = 15 }}")
        inline = {key: value for key, value in given.items() if key not in ("use", "params")}
        return _named(str(given["use"]), {**dict(given.get("params") or {}), **inline}, where)
    method = Method.declare(given, kind=where)
    return Step(_label(method.factory.__name__, method.params), method)


def _named(use: str, params: Mapping[str, Any], where: str) -> Step:
    alias = STEPS.get(use)
    if alias is None:
        if ":" not in use and use not in aliases():
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
