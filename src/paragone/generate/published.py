"""The published procedure: a duel of two methods (stage 1), tuning of the best (stage 2), new seeds (stage 3).

Two things are fixed that the original leaves to chance. A generation's candidates are gated against
the best of the generations before it, not of whatever ran before, so that the outcome does not
depend on the number of workers; and every random number follows from the duel's seed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from paragone.data import Dataset
from paragone.errors import InputError
from paragone.generate.classifiers import TrialScoring, auroc, confidence
from paragone.generate.expressions import Expression
from paragone.generate.formulas import Grammar, reason_to_reject
from paragone.generate.laboratory import METRICS, Holdout, Laboratory, parted
from paragone.generate.methods import (
    DIGEN_V1_SVC,
    Contender,
    digen_tuned,
    reference_method,
    reference_methods,
)
from paragone.generate.nsga3 import NSGA3Survival, reference_directions
from paragone.generate.sets import cut_in_half, digen_features, find_digen, make_digen
from paragone.ties import loss_order
from paragone.validation import FloatArray, IntArray


@dataclass(frozen=True)
class StageSettings:
    """The sizes of the published procedure.

    Parameters
    ----------
    population, generations : int
        Of a duel.
    trials, gate_folds, folds : int
        Trials per method and candidate, folds that the gate looks at, and all folds.
    tolerance : float
        How far a candidate may stay behind the best so far and still pass the gate, and a trial
        behind the best trial and still see all folds.
    scoring : {"auroc", "hard"}
        What tuning looks at.
    bounded_svc : bool
        Whether the SVC's iterations are bounded.
    methods : tuple of str
        The methods that the second objective is taken over.

    Examples
    --------
    >>> StageSettings.digen_v1().scoring, StageSettings().scoring
    ('hard', 'auroc')
    """

    population: int = 100
    generations: int = 40
    trials: int = 10
    gate_folds: int = 2
    folds: int = 10
    tolerance: float = 0.1
    scoring: TrialScoring = "auroc"
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
        return tuple(
            replace(m, fixed={**m.fixed, **DIGEN_V1_SVC}) if m.letter == "S" else m for m in chosen
        )

    def tuner(
        self, method: Contender, seed: int, trials: int, scored_folds: int | None = None
    ) -> dict[str, Any]:
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


TEST_SHARE = 0.2


@dataclass(frozen=True, eq=False)
class Refit:
    """A refitted method on the test rows: truth, confidence in class 1, AUROC."""

    dataset: str
    method: str
    truth: NDArray[Any]
    values: FloatArray
    auroc: float


def published_split(dataset: Dataset, seed: int) -> tuple[IntArray, IntArray]:
    """Return the rows of the stratified 80/20 split that the seed of a set gives.

    Examples
    --------
    >>> train, test = published_split(make_digen(find_digen("digen8")), 4426)
    >>> len(train), len(test)
    (800, 200)
    """
    from sklearn.model_selection import train_test_split

    rows = np.arange(dataset.n_samples)
    # The shuffle of scikit-learn is part of the published sets: another splitter gives other
    # scores.
    train, test = train_test_split(
        rows, test_size=TEST_SHARE, stratify=dataset.y, random_state=seed
    )
    return train, test


def refit(name: str, method: str, params: Mapping[str, Any] | None = None) -> Refit:
    """Fit a reference method on the train part of a DIGEN set and score it on the test part.

    Parameters
    ----------
    name : str
        The set, such as ``"digen8"``.
    method : str
        A reference method's name or letter.
    params : mapping, optional
        The published tuned parameters where they are not given.

    Returns
    -------
    Refit
        With the AUROC, which for the published parameters is the published one.

    Examples
    --------
    >>> round(refit("digen8", "KNeighborsClassifier").auroc, 4)
    0.5871
    """
    entry = find_digen(name)
    dataset = make_digen(entry)
    contender = reference_method(method)
    chosen = digen_tuned()[entry.name][contender.name] if params is None else params
    train, test = published_split(dataset, entry.seed)
    classifier = (
        contender.configured(chosen).build(entry.seed).fit(dataset.X[train], dataset.y[train])
    )
    values = confidence(classifier, dataset.X[test]).values
    return Refit(
        entry.name, contender.name, dataset.y[test], values, auroc(dataset.y[test], values)
    )


@dataclass(frozen=True, eq=False)
class Fighter:
    """A formula of a duel: its objectives and every method's score in tuning."""

    expression: Expression
    scores: tuple[float, ...]
    lead: float
    spread: float


@dataclass(frozen=True, eq=False)
class Stage1Outcome:
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
        """Return the survivors, one row per formula."""
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


class Stage1:
    """Stage 1: evolve formulas on which one method beats another.

    Parameters
    ----------
    up, down : str
        Names or letters of reference methods.
    seed : int
        Seeds rows, folds, tuning and the search.
    laboratory : Laboratory
        Where candidates are scored.
    settings : StageSettings, optional
        Sizes; the published ones with the real AUROC where it is not given.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> small = StageSettings(population=4, generations=1, trials=1, folds=3, methods=("K", "R"))
    >>> with tempfile.TemporaryDirectory() as folder, Laboratory(Path(folder) / "duel.sqlite") as laboratory:
    ...     outcome = Stage1("K", "R", seed=5, laboratory=laboratory, settings=small).run()
    >>> outcome.up, outcome.seen == outcome.rejected + outcome.pruned + outcome.scored
    ('KNeighborsClassifier', True)
    """

    def __init__(
        self,
        up: str,
        down: str,
        seed: int,
        laboratory: Laboratory,
        settings: StageSettings | None = None,
    ) -> None:
        self.settings = settings or StageSettings()
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
        # As published, although most of these constants lie beyond all data.
        self._grammar = Grammar(constants="uniform")
        self._X = digen_features(seed)
        self._survival = NSGA3Survival(reference_directions(2))
        self._counts = dict.fromkeys(("seen", "rejected", "pruned", "scored"), 0)
        self._best_lead = 0.0

    def run(self, tell: Callable[[int, float], None] | None = None) -> Stage1Outcome:
        """Evolve for the generations of the settings and return the last population."""
        population: list[Fighter] = []
        for generation in range(self.settings.generations):
            # One generator per generation: a duel that is started again draws what it drew before.
            rng = np.random.default_rng([self.seed, generation])
            children = self._valid(
                [self._drawn(rng, population) for _ in range(self.settings.population)]
            )
            pool = [*population, *self._fought(generation, children)]
            if pool:
                objectives = np.array([[-fighter.lead, -fighter.spread] for fighter in pool])
                survivors = self._survival.select(objectives, self.settings.population, rng)
                population = [pool[position] for position in sorted(survivors.tolist())]
                # Of the whole pool: the bar must not fall when survival prefers others.
                self._best_lead = max(fighter.lead for fighter in pool)
            if tell is not None:
                tell(generation + 1, self._best_lead)
        return Stage1Outcome(
            self.up,
            self.down,
            self.seed,
            tuple(method.name for method in self.methods),
            tuple(
                population[place]
                for place in loss_order([-fighter.lead for fighter in population], size=1.0)
            ),
            **self._counts,
        )

    def _drawn(self, rng: np.random.Generator, population: Sequence[Fighter]) -> Expression:
        self._counts["seen"] += 1
        if not population:
            return self._grammar.half_and_half(rng)
        first, second = (
            population[int(rng.integers(len(population)))].expression for _ in range(2)
        )
        return self._grammar.breed(rng, first, second)

    def _valid(self, drawn: Sequence[Expression]) -> list[Expression]:
        """Keep formulas that give a dataset, each once."""
        # Ties at the cut are allowed, as in the published procedure: they become label noise.
        valid = list(
            dict.fromkeys(
                e for e in drawn if not reason_to_reject(e.evaluate(self._X), allow_ties=True)
            )
        )
        self._counts["rejected"] += len(drawn) - len(valid)
        return valid

    def _fought(self, generation: int, children: Sequence[Expression]) -> list[Fighter]:
        passed = self._through_gate(generation, children)
        self._counts["pruned"] += len(children) - len(passed)
        self._counts["scored"] += len(passed)
        scores = self._scores(f"generation {generation}", passed, self.methods, None)
        names = [method.name for method in self.methods]
        at = names.index(self.up), names.index(self.down)
        fighters = []
        for expression, row in zip(passed, scores, strict=True):
            if np.isfinite(row).all():
                lead = float(row[at[0]] - row[at[1]])
                fighters.append(
                    Fighter(expression, tuple(map(float, row)), lead, float(np.std(row)))
                )
        return fighters

    def _through_gate(self, generation: int, children: Sequence[Expression]) -> list[Expression]:
        """Keep candidates whose lead on a few folds is positive and not far behind the best so far."""
        pair = [
            method
            for name in (self.up, self.down)
            for method in self.methods
            if method.name == name
        ]
        scores = self._scores(f"gate {generation}", children, pair, self.settings.gate_folds)
        passed = []
        for expression, (up, down) in zip(children, scores, strict=True):
            if passes_gate(float(up - down), self._best_lead, self.settings.tolerance):
                passed.append(expression)
        return passed

    def _scores(
        self,
        step: str,
        expressions: Sequence[Expression],
        methods: Sequence[Contender],
        folds: int | None,
    ) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return each method's best score in tuning, NaN where a cell failed."""
        if not expressions:
            return np.zeros((0, len(methods)))
        datasets = [
            seeded_dataset(expression, self.seed, f"candidate {i}")
            for i, expression in enumerate(expressions)
        ]
        tuned = {
            m.name: self.settings.tuner(m, self.seed, self.settings.trials, folds) for m in methods
        }
        name = f"duel {self.up} {self.down} {self.seed} {step}"
        found = self.laboratory.run(
            name, datasets, tuned, Holdout(keep_values=False), seed=self.seed
        )
        cv = {place: result.scores.get("cv", np.nan) for place, result in found.items()}
        return np.array([[cv.get((d.name, m.name), np.nan) for m in methods] for d in datasets])


def passes_gate(lead: float, best: float, tolerance: float) -> bool:
    """Say whether a lead on a few folds is worth all folds; NaN is not.

    Examples
    --------
    >>> passes_gate(0.1, 0.1, 0.1), passes_gate(0.09, 0.1, 0.1), passes_gate(0.0, 0.0, 0.1)
    (True, False, False)
    """
    return bool(lead > 0 and lead * (1 + tolerance) >= best)


STAGE2_TRIALS = 200
STAGE3_TRIALS = 100
STAGE3_SEEDS = 100


def stage2(
    formulas: Sequence[tuple[str, int]],
    laboratory: Laboratory,
    settings: StageSettings | None = None,
    *,
    trials: int = STAGE2_TRIALS,
) -> pd.DataFrame:
    """Tune every method on every formula's dataset and score it on the test split.

    Parameters
    ----------
    formulas : sequence of (formula, seed)
        The best of stage 1.
    laboratory : Laboratory
        Where the fits run.
    settings : StageSettings, optional
        The methods and how they are tuned.
    trials : int, default=200
        Trials per method.

    Returns
    -------
    DataFrame
        Columns ``formula, seed, method, auroc, auprc, f1, cv``; a fit that failed has no row.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> small = StageSettings(folds=3, methods=("K", "R"))
    >>> with tempfile.TemporaryDirectory() as folder, Laboratory(Path(folder) / "tuned.sqlite") as laboratory:
    ...     table = stage2([("mul(X0, X1)", 7)], laboratory, small, trials=1)
    >>> table["method"].tolist(), bool(table["auroc"][0] > table["auroc"][1])
    (['KNeighborsClassifier', 'LogisticRegression'], True)
    """
    settings = settings or StageSettings()
    rows = []
    for seed in dict.fromkeys(seed for _, seed in formulas):
        texts = [formula for formula, own in formulas if own == seed]
        datasets = {text: seeded_dataset(Expression.parse(text), seed) for text in texts}
        tuned = {m.name: settings.tuner(m, seed, trials) for m in settings.contenders()}
        name = f"tuned with {trials} trials on seed {seed}"
        found = laboratory.run(name, list(datasets.values()), tuned, Holdout(), seed=seed)
        for text, dataset in datasets.items():
            for method in tuned:
                if (dataset.name, method) in found:
                    rows.append(
                        {
                            "formula": text,
                            "seed": seed,
                            "method": method,
                            **found[dataset.name, method].scores,
                        }
                    )
    return pd.DataFrame(rows, columns=["formula", "seed", "method", *METRICS, "cv"])


def stage3(
    formulas: Sequence[str],
    laboratory: Laboratory,
    settings: StageSettings | None = None,
    *,
    first_seed: int = 1,
    n_seeds: int = STAGE3_SEEDS,
    trials: int = STAGE3_TRIALS,
) -> pd.DataFrame:
    """Score formulas on datasets of new seeds: the table of `stage2` over ``n_seeds`` seeds from ``first_seed`` on.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> small = StageSettings(folds=3, methods=("K", "R"))
    >>> with tempfile.TemporaryDirectory() as folder, Laboratory(Path(folder) / "seeds.sqlite") as laboratory:
    ...     table = stage3(["mul(X0, X1)"], laboratory, small, n_seeds=2, trials=1)
    >>> table.groupby("seed").size().to_dict()
    {1: 2, 2: 2}
    """
    if n_seeds < 1:
        raise InputError(f"n_seeds must be at least 1, it is {n_seeds}")
    pairs = [
        (formula, seed) for seed in range(first_seed, first_seed + n_seeds) for formula in formulas
    ]
    return stage2(pairs, laboratory, settings, trials=trials)
