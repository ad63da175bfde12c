"""DuelSettings: the sizes of the published procedure and how its methods are tuned."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

from paragone.generate.methods import DIGEN_V1_SVC, Contender, reference_method, reference_methods
from paragone.generate.tuned import Scoring


@dataclass(frozen=True)
class DuelSettings:
    """The sizes of the published procedure.

    Parameters
    ----------
    population, generations : int
        Of a duel.
    trials, gate_folds, folds : int
        Trials a method gets for a candidate, folds that the gate looks at, and all folds.
    tolerance : float
        How far a candidate may stay behind the best so far and still pass the gate, and a trial behind the best trial
        and still see all folds.
    scoring : {"auroc", "hard"}
        What tuning looks at.
    bounded_svc : bool
        Whether the SVC's iterations are bounded.
    methods : tuple of str
        The methods that the second objective is taken over.

    Examples
    --------
    >>> DuelSettings.digen_v1().scoring, DuelSettings().scoring
    ('hard', 'auroc')
    """

    population: int = 100
    generations: int = 40
    trials: int = 10
    gate_folds: int = 2
    folds: int = 10
    tolerance: float = 0.1
    scoring: Scoring = "auroc"
    bounded_svc: bool = True
    methods: tuple[str, ...] = ()

    @classmethod
    def digen_v1(cls) -> Self:
        """Return the settings as published: hard labels in tuning, and an SVC that runs on."""
        return cls(scoring="hard", bounded_svc=False)

    def contenders(self) -> tuple[Contender, ...]:
        """Return the methods that take part."""
        chosen = [reference_method(name) for name in self.methods] or list(reference_methods())
        if self.bounded_svc:
            return tuple(chosen)
        return tuple(replace(m, fixed={**m.fixed, **DIGEN_V1_SVC}) if m.letter == "S" else m for m in chosen)

    def tuner(self, method: Contender, seed: int, trials: int, scored_folds: int | None = None) -> dict[str, Any]:
        """Return a method with its tuning, as an experiment declares it."""
        params = {
            "classifier": method.declared(),
            "space": {name: dict(limits) for name, limits in method.space.items()},
            "trials": trials,
            "folds": self.folds,
            "scored_folds": scored_folds,
            "tolerance": self.tolerance if scored_folds is None else None,
            "scoring": self.scoring,
            "seed": seed,
        }
        return {"use": "paragone.generate.tuned:TunedClassifier", "params": params}
