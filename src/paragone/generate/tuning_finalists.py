"""Tuning of every method on a candidate before it is measured, where a spec asks for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from paragone.generate.duel_settings import DuelSettings
from paragone.generate.evolve_spec import EvolveSpec
from paragone.generate.holdout import Holdout
from paragone.generate.laboratory import Laboratory, parted
from paragone.generate.methods import Contender
from paragone.generate.sampling import GeneratorSpec

TUNING_SEED = 500_000
"""Samples for tuning have seeds of their own, apart from those of searches, races and evidence."""
GIVE_UP = 0.1
"""A trial that falls further behind the best is not tried on all folds."""


def tuned(
    spec: EvolveSpec,
    laboratory: Laboratory,
    generator: GeneratorSpec,
    screened: Sequence[tuple[Contender, Mapping[str, Any]]],
) -> list[tuple[Contender, Mapping[str, Any]]]:
    """Tune every method that has a space on a sample that is used for nothing else; the portfolio is tried first."""
    sample = generator.sample(spec.n_train + spec.n_test, TUNING_SEED + spec.seed, name=generator.expression.md5)
    tuners = {}
    for method, _ in screened:
        if method.space:
            tuner = DuelSettings(folds=spec.folds, tolerance=GIVE_UP).tuner(method, spec.seed, spec.trials)
            tuner["params"]["first"] = [_within(params, method.space) for params in method.portfolio]
            tuners[method.name] = tuner
    if not tuners:
        return list(screened)
    found = laboratory.run(
        f"{spec.name} tunes {generator.expression.md5}",
        [parted(sample, np.arange(spec.n_train))],
        tuners,
        Holdout(keep_values=False),
        seed=spec.seed,
    )
    chosen = {method: fitted.info["params"] for (_, method), fitted in found.items()}
    return [(method, chosen.get(method.name, params)) for method, params in screened]


def _within(params: Mapping[str, Any], space: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that the space draws; others of a portfolio change the cost, not the outcome."""
    return {name: value for name, value in params.items() if name in space}
