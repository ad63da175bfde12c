"""benchmark_method: put a method on a collection, next to the methods that were measured on it before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from paragone import stats
from paragone.data import Dataset
from paragone.errors import InputError, unknown_name
from paragone.generate.collection import Collection, GeneratedSet
from paragone.generate.expressions import Expression
from paragone.generate.inspection import MARGIN, duel_matrix, inspect_digen
from paragone.generate.laboratory import CellResult, Holdout, Laboratory, fresh_protocol, parted
from paragone.generate.methods import (
    METRICS,
    SCORED_BY,
    TARGET_WORDS,
    Contender,
    check_methods,
    drawn_configurations,
    reference_methods,
    usual_methods,
)
from paragone.generate.proof import ProofPlan, measure, row_seed, tuned_fits, tuner_of
from paragone.generate.published import StageSettings, published_split, seeded_dataset
from paragone.generate.sampling import GeneratorSpec, TargetKind
from paragone.generate.sets import DigenEntry, digen_entries, find_digen
from paragone.generate.shipped import CHOOSING_ROWS, best_configurations

SeedScore: TypeAlias = tuple[str, str, int, float]
Fits: TypeAlias = dict[str, tuple[Dataset, CellResult]]
"""By dataset: its rows, and what the tuned method gave on them."""


@dataclass(frozen=True)
class GeneratedFormula:
    """What a dataset of a collection was made of.

    Parameters
    ----------
    formula : str
        Its formula.
    n_features, concept : int
        The columns that the formula may use, and the number of its concept.
    ceiling : float
        The best score that any method can reach.
    source : GeneratorSpec, optional
        Where its rows come from; two classes, cut in the middle, where it is not given.

    Examples
    --------
    >>> GeneratedFormula("mul(X0, X1)", 3, concept=1, ceiling=1.0).generator().target
    'binary'
    """

    formula: str
    n_features: int
    concept: int
    ceiling: float
    source: GeneratorSpec | None = None

    def generator(self) -> GeneratorSpec:
        """Return the source of rows."""
        return self.source or GeneratorSpec(self.formula, self.n_features)


@dataclass(frozen=True, eq=False)
class MethodBenchmark:
    """A method's scores on a collection, with those of the other methods.

    Parameters
    ----------
    method, collection : str
        What was put on what.
    scores : DataFrame
        AUROC, or R2 of numbers, tidy: ``dataset, method, seed, value``; one seed per dataset on
        DIGEN, the evidence samples elsewhere.
    chosen : mapping
        The parameters that tuning chose, by dataset.
    predictions : mapping
        Labels and the method's values on test rows, by dataset; for several classes by dataset and
        class, each against the rest. Empty for numbers.
    notes : tuple of str
        What the reader must know, such as a method scored by hard labels.
    how : str
        How the method and the others were tuned and scored, in a paragraph.
    specimens : mapping of str to GeneratedFormula
        What every dataset was made of.
    target : {"binary", "multiclass", "regression"}, default="binary"
        What is predicted.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> own = Contender("NB", "sklearn.naive_bayes:GaussianNB")
    >>> with tempfile.TemporaryDirectory() as folder, Laboratory(Path(folder) / "lab.sqlite") as laboratory:
    ...     result = benchmark_method(own, laboratory, sets=["digen8"], settings=StageSettings(folds=3))
    >>> result.method, result.collection, list(result.charts())
    ('NB', 'digen', ['heat_map', 'boxes', 'parallel_coordinates', 'roc', 'precision_recall',
    'duels'])
    """

    method: str
    collection: str
    scores: pd.DataFrame
    chosen: Mapping[str, Mapping[str, Any]]
    predictions: Mapping[str, tuple[Any, Any]]
    notes: tuple[str, ...]
    how: str = ""
    specimens: Mapping[str, GeneratedFormula] = field(default_factory=dict)
    target: TargetKind = "binary"

    @property
    def metric(self) -> str:
        """What the scores are called."""
        return METRICS[self.target]

    def table(self) -> pd.DataFrame:
        """Return the mean score by dataset (down) and method (across)."""
        wide: pd.DataFrame = self.scores.pivot_table(
            index="dataset", columns="method", values="value", sort=False
        )
        return wide

    def comparison(self, reference: str | None = None) -> Any:
        """Return the statistical comparison over the datasets: of all pairs, or of a reference with the others."""
        tidy = self.scores.groupby(["dataset", "method"], sort=False, as_index=False)[
            "value"
        ].mean()
        metric = fresh_protocol(self.target)[1]
        return stats.compare(
            tidy.assign(metric=metric), metric=metric, higher_is_better=True, reference=reference
        )

    def duels(self, margin: float = MARGIN) -> pd.DataFrame:
        """Count the datasets on which the row's method beats the column's by the margin."""
        table = self.table()
        return duel_matrix(table.to_dict("records"), list(table.columns), margin)

    def charts(self) -> dict[str, Any]:
        """Draw everything, by name."""
        from paragone.generate import charts

        table, metric = self.table(), self.metric
        several = self.scores.groupby("dataset")["seed"].nunique().max() > 1
        drawn = {
            "heat_map": charts.heat_map(table, metric),
            "boxes": charts.score_boxes(
                self.scores, "datasets and seeds" if several else "datasets", metric=metric
            ),
            "parallel_coordinates": charts.parallel_coordinates(table, self.method, metric=metric),
        }
        if self.target == "binary":
            drawn["roc"] = charts.roc_curves(self.predictions, self.method)
            drawn["precision_recall"] = charts.pr_curves(self.predictions, self.method)
        elif self.target == "multiclass":
            # No precision-recall curves: guessing has another precision for every class, and one
            # line says it.
            lines = "One line per dataset and class, the class against the rest, on fresh rows"
            drawn["roc"] = charts.roc_curves(self.predictions, self.method, lines=lines)
        drawn["duels"] = charts.duel_chart(self.duels(), MARGIN, metric=metric)
        if several:
            drawn["boxes_over_seeds"] = charts.score_boxes(
                self.scores, "seeds", metric=metric, highlighted=self.method
            )
        if len(table) > 1:
            drawn["critical_difference"] = self.comparison().charts["critical_difference"]
        return drawn


PUBLISHED_TRIALS = 200
"""Trials that the published scores of DIGEN were tuned with."""


def benchmark_method(
    contender: Contender,
    laboratory: Laboratory,
    collection: Collection | None = None,
    *,
    sets: Sequence[str] = (),
    trials: int | None = None,
    settings: StageSettings | None = None,
    tell: Callable[[str], None] | None = None,
) -> MethodBenchmark:
    """Put a method on every dataset of a collection, beside the reference methods at the same tuning.

    On DIGEN the published scores stand beside it, tuned with 200 trials, and it is given 200 trials
    too. On a collection that was proven under tuning it is tuned on every sample of the proof with
    the trials that the others had; on one whose methods were measured in the best of a few
    configurations it is given as many, chosen in the same way. With another number of trials every
    method is tuned with that number here, the references too.

    Parameters
    ----------
    contender : Contender
        The classifier, or the regressor for numbers, with its search space; with none it is fitted
        as it is, and that is said.
    laboratory : Laboratory
        Where the fits run.
    collection : Collection, optional
        DIGEN where it is not given.
    sets : sequence of str
        Some of the datasets; all where it is empty.
    trials : int, optional
        Tune all methods with so many trials; without it only the new method is fitted, with the
        budget that the others had.
    settings : StageSettings, optional
        How it is tuned; by real AUROC where it is not given.
    tell : callable, optional
        Called with one sentence of progress after each dataset.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> own = Contender("NB", "sklearn.naive_bayes:GaussianNB")
    >>> with tempfile.TemporaryDirectory() as folder, Laboratory(Path(folder) / "lab.sqlite") as laboratory:
    ...     result = benchmark_method(own, laboratory, sets=["digen8"], settings=StageSettings(folds=3))
    >>> result.table().shape, "NB" in result.table()
    ((1, 9), True)
    """
    settings, say = settings or StageSettings(), tell or (lambda _: None)
    if collection is None:
        chosen = [find_digen(name) for name in sets] or list(digen_entries())
        return _on_digen(contender, laboratory, chosen, trials, settings, say)
    check_methods([contender], collection.target)
    if collection.target != "binary" and collection.plan is None:
        raise InputError(
            f"collection {collection.name!r} does not say how its claims were proven: with "
            f"{TARGET_WORDS[collection.target]} to predict, a report needs the samples of the proof"
        )
    members = [item for item in collection.sets if not sets or item.name in sets]
    missing = [name for name in sets if name not in {item.name for item in collection.sets}]
    if missing:
        raise unknown_name(
            f"dataset in {collection.name}", missing[0], [item.name for item in collection.sets]
        )
    if not members:
        raise InputError(f"collection {collection.name!r} has no datasets")
    return _on_collection(contender, laboratory, collection, members, trials, settings, say)


def _refuse_known(contender: Contender, known: Sequence[str]) -> None:
    if contender.name in known:
        raise InputError(
            f"two methods are called {contender.name!r}: give the new one another name"
        )


def _on_digen(
    contender: Contender,
    laboratory: Laboratory,
    chosen: Sequence[DigenEntry],
    trials: int | None,
    settings: StageSettings,
    say: Callable[[str], None],
) -> MethodBenchmark:
    _refuse_known(contender, list(chosen[0].auroc))
    others = _known_methods(list(chosen[0].auroc)) if trials is not None else []
    rows: list[SeedScore] = []
    if trials is None:
        rows = [
            (entry.name, method, entry.seed, value)
            for entry in chosen
            for method, value in entry.auroc.items()
        ]
    fits: Fits = {}
    given = PUBLISHED_TRIALS if trials is None else trials
    # An experiment has one seed, and folds and tuning follow from it: one experiment per seed.
    for seed in dict.fromkeys(entry.seed for entry in chosen):
        of_seed = [entry for entry in chosen if entry.seed == seed]
        datasets = [
            seeded_dataset(Expression.parse(entry.formula), seed, entry.name) for entry in of_seed
        ]
        tuned = {
            method.name: settings.tuner(method, seed, given) for method in (contender, *others)
        }
        found = laboratory.run(
            f"{contender.name} on digen, seed {seed}", datasets, tuned, Holdout(), seed=seed
        )
        for dataset in datasets:
            if any((dataset.name, method) not in found for method in tuned):
                continue
            rows += [
                (dataset.name, method, seed, found[dataset.name, method].scores["auroc"])
                for method in tuned
            ]
            fits[dataset.name] = dataset, found[dataset.name, contender.name]
        say(f"{contender.name}: {len(fits)} of {len(chosen)} datasets of digen")
    beside = (
        "The scores of the other methods are the published ones: 200 trials, same split."
        if trials is None
        else (
            "The other methods were tuned and scored here in the same way, with the same number of"
            " trials."
        )
    )
    how = (
        f"{contender.name} {_tuning(contender, given, settings)} on the 800 training rows of the"
        f" published split, and scored on its 200 test rows. {beside}"
    )
    specimens = {entry.name: _digen_formulas()[entry.name] for entry in chosen}
    return _result(contender, "digen", rows, fits, specimens, how)


@cache
def _digen_formulas() -> dict[str, GeneratedFormula]:
    """Return what the DIGEN sets are made of; telling their concepts apart takes seconds."""
    inspected = inspect_digen().sets.set_index("dataset")
    return {
        entry.name: GeneratedFormula(
            entry.formula,
            10,
            int(inspected.loc[entry.name, "concept"]),
            float(inspected.loc[entry.name, "ceiling"]),
        )
        for entry in digen_entries()
    }


def _on_collection(
    contender: Contender,
    laboratory: Laboratory,
    collection: Collection,
    chosen: Sequence[GeneratedSet],
    trials: int | None,
    settings: StageSettings,
    say: Callable[[str], None],
) -> MethodBenchmark:
    names = list(chosen[0].aurocs)
    _refuse_known(contender, names)
    others = _known_methods(names, collection.target) if trials is not None else []
    n_tried = _configurations_tried(names)
    rows: list[SeedScore] = []
    fits: Fits = {}
    is_binary = collection.target == "binary"
    for position, item in enumerate(chosen, start=1):
        if collection.plan is not None:
            found = _tuned_on_samples(contender, others, laboratory, collection, item, trials)
        else:
            found = _in_one_configuration(
                contender, others, laboratory, collection, item, trials, n_tried, settings
            )
        if found is not None:
            scores, params = found
            known = item.aurocs if trials is None else {}
            rows += [
                (item.name, m, i, v)
                for m, values in {**known, **scores}.items()
                for i, v in enumerate(values)
            ]
            shown = (
                _on_own_rows(contender, laboratory, item, params)
                if is_binary
                else _on_first_sample(contender, laboratory, collection, item, trials)
            )
            if shown is not None:
                fits[item.name] = shown
        say(f"{contender.name}: {position} of {len(chosen)} datasets of {collection.name}")
    how = _how_on_collection(contender, collection, trials, n_tried, settings)
    specimens = {
        i.name: GeneratedFormula(i.formula, i.n_features, i.concept, i.bayes, i.generator())
        for i in chosen
    }
    return _result(contender, collection.name, rows, fits, specimens, how, collection.target)


Measured: TypeAlias = tuple[dict[str, tuple[float, ...]], Mapping[str, Any]]
"""The score on every sample by method, and the configuration of the new method that its curves are drawn with."""


def _tuned_on_samples(
    contender: Contender,
    others: Sequence[Contender],
    laboratory: Laboratory,
    collection: Collection,
    item: GeneratedSet,
    trials: int | None,
) -> Measured | None:
    """Tune on every sample of the proof, with the budget that the others had there."""
    plan = _plan_of(collection, trials)
    samples = range(len(next(iter(item.aurocs.values()))))
    taking_part = (contender, *others)
    seed = collection.seed or 0
    fits = tuned_fits(item.generator(), taking_part, laboratory, plan, seed, samples, key=item.key)
    if len(fits) < len(samples) * len(taking_part):
        return None
    scores = {
        method.name: tuple(fits[method.name, i].score for i in samples) for method in taking_part
    }
    return scores, fits[contender.name, 0].params


def _plan_of(collection: Collection, trials: int | None) -> ProofPlan:
    assert collection.plan is not None
    return collection.plan if trials is None else replace(collection.plan, trials=trials)


def _on_first_sample(
    contender: Contender,
    laboratory: Laboratory,
    collection: Collection,
    item: GeneratedSet,
    trials: int | None,
) -> tuple[Dataset, CellResult] | None:
    """Return what the tuned method gave on the first sample of the proof: the store has it, and nothing is fitted."""
    plan, seed, generator = _plan_of(collection, trials), collection.seed or 0, item.generator()
    key = item.key or generator.identity
    dataset = generator.parts(
        plan.n_train, plan.n_fresh, row_seed("evidence", seed, key, 0), name="sample 0"
    )
    methods = {contender.name: tuner_of(contender, plan, collection.target)}
    protocol, _ = fresh_protocol(collection.target)
    found = laboratory.run(f"evidence {key}", [dataset], methods, protocol, seed=seed)
    fitted = found.get((dataset.name, contender.name))
    return None if fitted is None else (dataset, fitted)


def _in_one_configuration(
    contender: Contender,
    others: Sequence[Contender],
    laboratory: Laboratory,
    collection: Collection,
    item: GeneratedSet,
    trials: int | None,
    n_tried: int,
    settings: StageSettings,
) -> Measured | None:
    """Configure on rows that are used for nothing else, then score the configuration on the samples of the evidence."""
    if trials is None:
        options = [(contender, drawn_configurations(contender, n_tried, item.seed))]
        name = f"{item.name} for {contender.name}"
        configured = best_configurations(
            name, item.generator(), options, laboratory, n_train=item.n_rows
        )
    else:
        taking_part = (contender, *others)
        dataset = _split(item)
        tuned = {method.name: settings.tuner(method, item.seed, trials) for method in taking_part}
        name = f"{contender.name} tuned on {item.name}"
        shown = laboratory.run(name, [dataset], tuned, Holdout(metrics=("auroc",)), seed=item.seed)
        if len(shown) < len(tuned):
            return None
        configured = [
            (method, shown[dataset.name, method.name].info["params"]) for method in taking_part
        ]
    evidence = measure(
        f"{item.name} with {contender.name}",
        item.generator(),
        configured,
        laboratory,
        n_train=item.n_rows,
        n_fresh=collection.evidence_rows,
        n_seeds=len(next(iter(item.aurocs.values()))),
    )
    if evidence is None:
        return None
    scores = {
        method: tuple(map(float, evidence.aurocs[:, i]))
        for i, method in enumerate(evidence.methods)
    }
    return scores, dict(configured[0][1])


def _split(item: GeneratedSet) -> Dataset:
    """Return a dataset with the published kind of split of its own rows."""
    dataset = item.load()
    return parted(dataset, published_split(dataset, item.seed % 2**32)[0])


def _on_own_rows(
    contender: Contender, laboratory: Laboratory, item: GeneratedSet, params: Mapping[str, Any]
) -> tuple[Dataset, CellResult] | None:
    """Fit the new method on a dataset's own rows, for ROC and precision-recall curves."""
    dataset = _split(item)
    methods = {contender.name: contender.configured(params)}
    seed = item.seed % 2**32
    found = laboratory.run(
        f"{contender.name} on {item.name}", [dataset], methods, Holdout(), seed=seed
    )
    fitted = found.get((dataset.name, contender.name))
    return (
        None
        if fitted is None
        else (dataset, replace(fitted, info={**fitted.info, "params": dict(params)}))
    )


def _how_on_collection(
    contender: Contender,
    collection: Collection,
    trials: int | None,
    n_tried: int,
    settings: StageSettings,
) -> str:
    curves = {
        "binary": (
            " ROC and precision-recall curves are of 20 % of the dataset's own rows, after a fit on"
            " the other 80 %."
        ),
        "multiclass": (
            " ROC curves are of the fresh rows of the first sample, each class against the rest."
        ),
        "regression": "",
    }[collection.target]
    plan = collection.plan
    if plan is not None:
        given = plan.trials if trials is None else trials
        rows = f"the {plan.n_train} training rows of every sample of the proof"
        tuned = (
            f"was tuned with {given} trials on {plan.folds} inner folds of {rows}"
            if contender.space
            else f"has no search space and was fitted as it is on {rows}"
        )
        # A collection knows its methods by name alone: what is tuned anew are the package's own of
        # these names.
        others = (
            f"The other methods, as far as they have anything to tune, were tuned with {given}"
            " trials in the proof"
            if trials is None
            else (
                f"The other methods are the package's own of these names, tuned with {given} trials"
                " here"
            )
        )
        return (
            f"{contender.name} {tuned}, and scored by {SCORED_BY[collection.target]} on"
            f" {plan.n_fresh:,} fresh rows. {others}, on the same samples.{curves}"
        )
    fresh = f"on the samples of the evidence, {collection.evidence_rows:,} fresh rows each"
    if trials is not None:
        return (
            f"{contender.name} {_tuning(contender, trials, settings)} on 80 % of each dataset, and"
            " so were the reference methods, with the same number of trials; all were measured in"
            f" the configurations found {fresh}.{curves}"
        )
    if not contender.space:
        return (
            f"{contender.name} has no search space: it was measured with its own defaults {fresh}."
            f" The other methods were measured in the best of up to {n_tried} configurations, on"
            f" the same samples.{curves}"
        )
    return (
        f"The other methods were measured in the best of up to {n_tried} configurations, chosen on"
        f" rows of their own, and not tuned further. {contender.name} got the same: its defaults"
        f" and draws of its space, {n_tried} configurations in all, the best of them on"
        f" {CHOOSING_ROWS:,} rows that are used for nothing else, measured {fresh}: the samples on"
        f" which the others were measured.{curves}"
    )


def _known_methods(names: Sequence[str], target: TargetKind = "binary") -> list[Contender]:
    """Return the methods of a collection, which can be tuned again where they are the references."""
    known = {method.name: method for method in usual_methods(target)}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InputError(
            f"{unknown[0]!r} is not one of the reference methods and cannot be tuned again from"
            " here: leave the number of trials out, and the new method gets the budget that it had"
        )
    return [known[name] for name in names]


def _configurations_tried(names: Sequence[str]) -> int:
    """Return how many configurations the methods of a collection were chosen from, at most."""
    known = {method.name: len(method.portfolio) for method in reference_methods()}
    return max((known.get(name, 1) for name in names), default=1)


def _tuning(contender: Contender, trials: int, settings: StageSettings) -> str:
    if not contender.space:
        return "has no search space and was fitted with its own defaults"
    scored = "AUROC" if settings.scoring == "auroc" else "balanced accuracy of hard labels"
    return f"was tuned with {trials} trials of TPE by {scored} on {settings.folds} stratified folds"


def _result(
    contender: Contender,
    collection: str,
    rows: Sequence[SeedScore],
    fits: Fits,
    specimens: Mapping[str, GeneratedFormula],
    how: str,
    target: TargetKind = "binary",
) -> MethodBenchmark:

    method, n_sets = contender.name, len(specimens)
    if not fits:
        raise InputError(
            f"{method} failed on every dataset: `paragone status` on the store says why"
        )
    scores = pd.DataFrame(rows, columns=["dataset", "method", "seed", "value"])
    notes = []
    if not contender.space:
        notes.append(
            f"{method} has no search space and was not tuned, while the others were: give it one,"
            " or read its place so"
        )
    # A mean over fewer datasets than the others have could not be compared with theirs.
    missing = n_sets - len(fits)
    if missing:
        scores = scores.loc[scores["dataset"].isin(list(fits))]
        notes.append(
            f"{method} failed on {missing} of {n_sets} datasets; these are left out for all methods"
        )
    infos = [fitted.info for _, fitted in fits.values()]
    # A number is what a regressor predicts, and nothing harder than another.
    if target != "regression" and any(info["source"] == "predict" for info in infos):
        notes.append(
            f"{method} has neither predict_proba nor decision_function: it is scored by its hard"
            " labels"
        )
    warned = [text for info in infos for text in info["warned"]]
    if warned:
        notes.append(
            f"{len(warned)} fits in tuning {method} warned, the first: {warned[0].splitlines()[0]}"
        )
    bounded = sum(int(info["bounded"]) for info in infos)
    if bounded:
        notes.append(f"{bounded} fits of {method} hit the bound on iterations")
    chosen = {name: fitted.info["params"] for name, (_, fitted) in fits.items()}
    kept = {name: specimens[name] for name in specimens if name in fits}
    return MethodBenchmark(
        method,
        collection,
        scores,
        chosen,
        _predictions(fits, target),
        tuple(notes),
        how,
        kept,
        target,
    )


def _predictions(fits: Fits, target: TargetKind) -> dict[str, tuple[Any, Any]]:
    """Return what curves are drawn of: labels and values, by dataset; for several classes each against the rest."""
    if target == "regression":
        return {}
    found: dict[str, tuple[Any, Any]] = {}
    for name, (dataset, fitted) in fits.items():
        train = np.asarray(dataset.train_part)
        labels, values = np.asarray(dataset.y)[~train], np.asarray(fitted.arrays["values"])
        if target == "binary":
            found[name] = labels, values
            continue
        for place, number in enumerate(np.unique(np.asarray(dataset.y)[train])):
            found[f"{name}, class {number}"] = (labels == number).astype(np.int64), values[:, place]
    return found
