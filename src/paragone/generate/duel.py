"""The published procedure: a duel of two methods (stage 1), tuning of the best (stage 2), new seeds (stage 3).

Two things are fixed that the original leaves to chance. A generation's candidates are gated against the best of the
generations before it, not of whatever ran before, so that the outcome does not depend on the number of workers; and
every random number follows from the duel's seed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from paragone.data import Dataset
from paragone.data.digen import Expression, cut_in_half
from paragone.data.digen.datasets import digen_features
from paragone.errors import InputError
from paragone.generate.duel_settings import DuelSettings
from paragone.generate.holdout import Holdout
from paragone.generate.laboratory import Laboratory, parted
from paragone.generate.methods import Contender, reference_method
from paragone.generate.nsga3 import NSGA3Survival, reference_directions
from paragone.generate.random_trees import Grammar
from paragone.generate.refitting import published_split
from paragone.generate.rejection import reason_to_reject
from paragone.ties import loss_order

if TYPE_CHECKING:
    import pandas as pd

CROSSOVER_SHARE = 0.7
N_PARTITIONS = 12


@dataclass(frozen=True, eq=False)
class Fighter:
    """A formula of a duel: its objectives and every method's score in tuning."""

    expression: Expression
    scores: tuple[float, ...]
    lead: float
    spread: float


@dataclass(frozen=True, eq=False)
class DuelOutcome:
    """What came of a duel.

    Parameters
    ----------
    up, down : str
        The method that was to win and the one that was to lose.
    seed : int
        Of the rows and of the search.
    survivors : tuple of Fighter
        The last population, largest lead first.
    seen, rejected, pruned, scored : int
        Candidates made; without a dataset; stopped at the gate; scored by all methods.
    """

    up: str
    down: str
    seed: int
    methods: tuple[str, ...]
    survivors: tuple[Fighter, ...]
    seen: int
    rejected: int
    pruned: int
    scored: int

    def table(self) -> pd.DataFrame:
        """Return the survivors, a row each."""
        import pandas as pd

        rows = [
            {
                "formula": str(f.expression),
                "lead": f.lead,
                "spread": f.spread,
                **dict(zip(self.methods, f.scores, strict=True)),
            }
            for f in self.survivors
        ]
        return pd.DataFrame(rows, columns=["formula", "lead", "spread", *self.methods])


def seeded_dataset(expression: Expression, seed: int, name: str | None = None) -> Dataset:
    """Return a formula's dataset of a seed, as DIGEN makes it, with the published split as its parts."""
    X = digen_features(seed)
    labels = cut_in_half(expression.evaluate(X)).labels.astype(np.int64)
    dataset = Dataset(name or f"{expression.md5[:12]}_{seed}", X, labels, "classification")
    return parted(dataset, published_split(dataset, seed)[0])


class Duel:
    """Stage 1: evolve formulas on which one method beats another.

    Parameters
    ----------
    up, down : str
        Names or letters of reference methods.
    seed : int
        Seeds rows, folds, tuning and the search.
    laboratory : Laboratory
        Where candidates are scored.
    settings : DuelSettings, optional
        Sizes; the published ones with the real AUROC where it is not given.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> small = DuelSettings(population=4, generations=1, trials=1, folds=3, methods=("K", "R"))
    >>> with tempfile.TemporaryDirectory() as folder, Laboratory(Path(folder) / "duel.sqlite") as laboratory:
    ...     outcome = Duel("K", "R", seed=5, laboratory=laboratory, settings=small).run()
    >>> outcome.up, outcome.seen == outcome.rejected + outcome.pruned + outcome.scored
    ('KNeighborsClassifier', True)
    """

    def __init__(
        self, up: str, down: str, seed: int, laboratory: Laboratory, settings: DuelSettings | None = None
    ) -> None:
        self.settings = settings or DuelSettings()
        self.methods = self.settings.contenders()
        names = [method.name for method in self.methods]
        self.up, self.down = reference_method(up).name, reference_method(down).name
        for name in (self.up, self.down):
            if name not in names:
                raise InputError(f"{name} is not among the methods of the duel: {', '.join(names)}")
        if self.up == self.down:
            raise InputError(f"a duel needs two methods, both are {self.up}")
        self.seed = seed
        self.laboratory = laboratory
        self._grammar = Grammar(constants="uniform")
        self._X = digen_features(seed)
        self._survival = NSGA3Survival(reference_directions(2, N_PARTITIONS))
        self._seen = self._rejected = self._pruned = self._scored = 0
        self._best_lead = 0.0

    def run(self, tell: Callable[[int, float], None] | None = None) -> DuelOutcome:
        """Evolve for the generations of the settings and return the last population."""
        population: list[Fighter] = []
        for generation in range(self.settings.generations):
            rng = np.random.default_rng([self.seed, generation])
            children = self._valid([self._drawn(rng, population) for _ in range(self.settings.population)])
            pool = [*population, *self._fought(generation, children)]
            if pool:
                objectives = np.array([[-fighter.lead, -fighter.spread] for fighter in pool])
                kept = self._survival.select(objectives, self.settings.population, rng)
                population = [pool[position] for position in sorted(kept.tolist())]
                self._best_lead = max(fighter.lead for fighter in pool)
            if tell is not None:
                tell(generation + 1, self._best_lead)
        return DuelOutcome(
            self.up,
            self.down,
            self.seed,
            tuple(method.name for method in self.methods),
            tuple(population[place] for place in loss_order([-fighter.lead for fighter in population], size=1.0)),
            self._seen,
            self._rejected,
            self._pruned,
            self._scored,
        )

    def _drawn(self, rng: np.random.Generator, population: Sequence[Fighter]) -> Expression:
        self._seen += 1
        if not population:
            return self._grammar.half_and_half(rng)
        first, second = (population[int(rng.integers(len(population)))].expression for _ in range(2))
        if rng.random() < CROSSOVER_SHARE:
            return self._grammar.cross(rng, first, second)
        return self._grammar.mutate(rng, first)

    def _valid(self, drawn: Sequence[Expression]) -> list[Expression]:
        """Keep formulas that give a dataset, each once."""
        valid = list(dict.fromkeys(e for e in drawn if not reason_to_reject(e.evaluate(self._X), allow_ties=True)))
        self._rejected += len(drawn) - len(valid)
        return valid

    def _fought(self, generation: int, children: Sequence[Expression]) -> list[Fighter]:
        passed = self._through_gate(generation, children)
        self._pruned += len(children) - len(passed)
        self._scored += len(passed)
        scores = self._scores(f"generation {generation}", passed, self.methods, None)
        names = [method.name for method in self.methods]
        at = names.index(self.up), names.index(self.down)
        fighters = []
        for expression, row in zip(passed, scores, strict=True):
            if np.isfinite(row).all():
                lead = float(row[at[0]] - row[at[1]])
                fighters.append(Fighter(expression, tuple(map(float, row)), lead, float(np.std(row))))
        return fighters

    def _through_gate(self, generation: int, children: Sequence[Expression]) -> list[Expression]:
        """Keep candidates whose lead on a few folds is positive and not far behind the best so far."""
        pair = [method for name in (self.up, self.down) for method in self.methods if method.name == name]
        scores = self._scores(f"gate {generation}", children, pair, self.settings.gate_folds)
        passed = []
        for expression, (up, down) in zip(children, scores, strict=True):
            if passes_gate(float(up - down), self._best_lead, self.settings.tolerance):
                passed.append(expression)
        return passed

    def _scores(
        self, step: str, expressions: Sequence[Expression], methods: Sequence[Contender], folds: int | None
    ) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return each method's best score in tuning, NaN where a cell failed."""
        if not expressions:
            return np.zeros((0, len(methods)))
        datasets = [seeded_dataset(expression, self.seed, f"candidate {i}") for i, expression in enumerate(expressions)]
        tuned = {m.name: self.settings.tuner(m, self.seed, self.settings.trials, folds) for m in methods}
        name = f"duel {self.up} {self.down} {self.seed} {step}"
        found = self.laboratory.run(name, datasets, tuned, Holdout(keep_values=False), seed=self.seed)
        table = [
            [float(found[d.name, m.name].arrays["cv"]) if (d.name, m.name) in found else np.nan for m in methods]
            for d in datasets
        ]
        return np.array(table)


def passes_gate(lead: float, best: float, tolerance: float) -> bool:
    """Say whether a lead on a few folds is worth all folds; NaN is not.

    Examples
    --------
    >>> passes_gate(0.1, 0.1, 0.1), passes_gate(0.09, 0.1, 0.1), passes_gate(0.0, 0.0, 0.1)
    (True, False, False)
    """
    return bool(lead > 0 and lead * (1 + tolerance) >= best)
