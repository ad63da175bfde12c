"""Which variant is simpler: the order that the one-standard-error rule takes its choice by.

There is no general measure of complexity, so the order follows parameters whose meaning is known. Variants of one class
that set the same of these parameters are ordered by them, whatever their preprocessing:

- simpler with a smaller value: ``n_components``, ``max_depth``, ``max_leaf_nodes``, ``n_features_to_select``,
  ``degree``, ``C`` (``None``, which means no bound, is the least simple);
- simpler with a larger value: ``alpha``, ``n_neighbors``, ``min_samples_leaf``, ``min_samples_split``.

With several of them the one declared first counts first. What they leave equal is ordered by the number of
preprocessing steps, then by the place where it was declared. Variants that cannot be compared so, such as those of
different classes, stand in declared order: declare the simpler method first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from paragone.protocols.crossval.steps import RAW

MORE_IS_COMPLEX = ("n_components", "max_depth", "max_leaf_nodes", "n_features_to_select", "degree", "C")
MORE_IS_SIMPLE = ("alpha", "n_neighbors", "min_samples_leaf", "min_samples_split")
UNBOUNDED = ("max_depth", "max_leaf_nodes")


def simplicity(variants: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    """Number variants from the simplest up.

    Parameters
    ----------
    variants : mapping
        Name to what is known of the variant (``use``, ``params``, ``varied``, ``steps``), in declared order.

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
        elif isinstance(value, (int, float)) and not isinstance(value, bool) and not math.isnan(value):
            found[key] = sign * value
    return found
