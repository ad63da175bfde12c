"""benchmark_method: put a classifier on a collection, next to the methods that were measured on it before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from paragone.data import Dataset
from paragone.data.digen import DigenEntry, Expression, entries, find
from paragone.errors import InputError
from paragone.generate.collection import Collection, GeneratedSet
from paragone.generate.duel import DuelSettings, published_split, seeded_dataset
from paragone.generate.evidence import measure
from paragone.generate.inspection import MARGIN, duel_matrix
from paragone.generate.laboratory import CellResult, Holdout, Laboratory, parted
from paragone.generate.methods import Contender
from paragone.stats import compare

if TYPE_CHECKING:
    import pandas as pd

SeedScore: TypeAlias = tuple[str, str, int, float]
Fits: TypeAlias = dict[str, tuple[Dataset, CellResult]]
"""By dataset: its rows, and what the tuned method gave on them."""


@dataclass(frozen=True, eq=False)
class MethodBenchmark:
    """A method's scores on a collection, with those of the other methods.

    Parameters
    ----------
    method, collection : str
        What was put on what.
    scores : DataFrame
        AUROC, tidy: ``dataset, method, seed, value``; one seed per dataset on DIGEN, the evidence samples elsewhere.
    chosen : mapping
        The parameters that tuning chose, by dataset.
    predictions : mapping
        Labels and the method's values on test rows, by dataset.
    notes : tuple of str
        What the reader must know, such as a method scored by hard labels.
    how : str
        How the method was tuned and scored, in a paragraph.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> own = Contender("NB", "sklearn.naive_bayes:GaussianNB")
    >>> with tempfile.TemporaryDirectory() as folder, Laboratory(Path(folder) / "lab.sqlite") as laboratory:
    ...     result = benchmark_method(own, laboratory, sets=["digen8"], settings=DuelSettings(folds=3))
    >>> result.method, result.collection, list(result.charts())
    ('NB', 'digen', ['heat_map', 'boxes', 'parallel_coordinates', 'roc', 'precision_recall', 'duels'])
    """

    method: str
    collection: str
    scores: pd.DataFrame
    chosen: Mapping[str, Mapping[str, Any]]
    predictions: Mapping[str, tuple[Any, Any]]
    notes: tuple[str, ...]
    how: str = ""

    def table(self) -> pd.DataFrame:
        """Return mean AUROC by dataset (down) and method (across)."""
        wide: pd.DataFrame = self.scores.pivot_table(index="dataset", columns="method", values="value", sort=False)
        return wide

    def comparison(self, reference: str | None = None) -> Any:
        """Return the statistical comparison over the datasets: of all pairs, or of a reference with the others."""
        tidy = self.scores.groupby(["dataset", "method"], sort=False, as_index=False)["value"].mean()
        return compare(tidy.assign(metric="auroc"), metric="auroc", higher_is_better=True, reference=reference)

    def duels(self, margin: float = MARGIN) -> pd.DataFrame:
        """Count the datasets on which the row's method beats the column's by the margin."""
        table = self.table()
        return duel_matrix(table.to_dict("records"), list(table.columns), margin)

    def charts(self) -> dict[str, Any]:
        """Draw everything, by name."""
        from paragone.generate import charts

        table = self.table()
        several = self.scores.groupby("dataset")["seed"].nunique().max() > 1
        drawn = {
            "heat_map": charts.heat_map(table),
            "boxes": charts.score_boxes(self.scores, "datasets and seeds" if several else "datasets"),
            "parallel_coordinates": charts.parallel_coordinates(table, self.method),
            "roc": charts.roc_curves(self.predictions, self.method),
            "precision_recall": charts.pr_curves(self.predictions, self.method),
            "duels": charts.duel_chart(self.duels(), MARGIN),
        }
        if several:
            drawn["boxes_over_seeds"] = charts.seed_boxes(self.scores, self.method)
        if len(table) > 1:
            drawn["critical_difference"] = self.comparison().charts["critical_difference"]
        return drawn


def benchmark_method(
    contender: Contender,
    laboratory: Laboratory,
    collection: Collection | None = None,
    *,
    sets: Sequence[str] = (),
    trials: int = 200,
    settings: DuelSettings | None = None,
) -> MethodBenchmark:
    """Tune a classifier on every dataset of a collection as the protocol says; only its own fits are done.

    Parameters
    ----------
    contender : Contender
        The classifier with its search space; with none it is fitted as it is.
    laboratory : Laboratory
        Where the fits run.
    collection : Collection, optional
        DIGEN where it is not given.
    sets : sequence of str
        Some of the datasets; all where it is empty.
    trials : int, default=200
        Trials of the tuning.
    settings : DuelSettings, optional
        How it is tuned; by real AUROC where it is not given.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> own = Contender("NB", "sklearn.naive_bayes:GaussianNB")
    >>> with tempfile.TemporaryDirectory() as folder, Laboratory(Path(folder) / "lab.sqlite") as laboratory:
    ...     result = benchmark_method(own, laboratory, sets=["digen8"], settings=DuelSettings(folds=3))
    >>> result.table().shape, "NB" in result.table()
    ((1, 9), True)
    """
    settings = settings or DuelSettings()
    if collection is None:
        return _on_digen(contender, laboratory, [find(name) for name in sets] or list(entries()), trials, settings)
    chosen = [item for item in collection.sets if not sets or item.name in sets]
    if not chosen:
        raise InputError(f"collection {collection.name!r} has none of the datasets {', '.join(sets)}")
    return _on_collection(contender, laboratory, collection, chosen, trials, settings)


def _refuse_known(contender: Contender, known: Sequence[str]) -> None:
    if contender.name in known:
        raise InputError(f"two methods are called {contender.name!r}: give the new one another name")


def _on_digen(
    contender: Contender, laboratory: Laboratory, chosen: Sequence[DigenEntry], trials: int, settings: DuelSettings
) -> MethodBenchmark:
    _refuse_known(contender, list(chosen[0].auroc))
    rows = [(entry.name, method, entry.seed, value) for entry in chosen for method, value in entry.auroc.items()]
    fits: Fits = {}
    # An experiment has one seed, and folds and tuning follow from it: one experiment per seed.
    for seed in dict.fromkeys(entry.seed for entry in chosen):
        of_seed = [entry for entry in chosen if entry.seed == seed]
        datasets = [seeded_dataset(Expression.parse(entry.formula), seed, entry.name) for entry in of_seed]
        tuned = {contender.name: settings.tuner(contender, seed, trials)}
        name = f"{contender.name} on digen, seed {seed}"
        found = laboratory.run(name, datasets, tuned, Holdout(), seed=seed)
        for dataset in datasets:
            fitted = found.get((dataset.name, contender.name))
            if fitted is not None:
                rows.append((dataset.name, contender.name, seed, fitted.scores["auroc"]))
                fits[dataset.name] = dataset, fitted
    how = (
        f"{contender.name} {_tuning(contender, trials, settings)} on the 800 training rows of the published split, and "
        "scored on its 200 test rows. The scores of the other methods are the published ones: 200 trials, same split."
    )
    return _result(contender.name, "digen", rows, fits, len(chosen), how)


def _on_collection(
    contender: Contender,
    laboratory: Laboratory,
    collection: Collection,
    chosen: Sequence[GeneratedSet],
    trials: int,
    settings: DuelSettings,
) -> MethodBenchmark:
    """Tune on each dataset's own rows, then score the chosen configuration on the samples of the evidence."""
    _refuse_known(contender, list(chosen[0].aurocs))
    rows: list[SeedScore] = []
    fits: Fits = {}
    for item in chosen:
        dataset = item.load()
        dataset = parted(dataset, published_split(dataset, item.seed)[0])
        tuned = {contender.name: settings.tuner(contender, item.seed, trials)}
        found = laboratory.run(f"{contender.name} on {item.name}", [dataset], tuned, Holdout(), seed=item.seed)
        rows += [(item.name, m, seed, v) for m, values in item.aurocs.items() for seed, v in enumerate(values)]
        fitted = found.get((dataset.name, contender.name))
        if fitted is None:
            continue
        evidence = measure(
            f"{item.name} with {contender.name}",
            item.generator(),
            [(contender, fitted.info["params"])],
            laboratory,
            n_train=item.n_rows,
            n_fresh=collection.evidence_rows,
            n_seeds=len(next(iter(item.aurocs.values()))),
        )
        if evidence is not None:
            rows += [(item.name, contender.name, seed, float(v)) for seed, v in enumerate(evidence.aurocs[:, 0])]
            fits[item.name] = dataset, fitted
    how = (
        f"{contender.name} {_tuning(contender, trials, settings)} on 80 % of each dataset, and measured in that "
        f"configuration on the samples of the evidence, {collection.evidence_rows:,} fresh rows each: the samples on "
        "which the other methods were measured. ROC and precision-recall curves are of the other 20 % of the dataset."
    )
    return _result(contender.name, collection.name, rows, fits, len(chosen), how)


def _tuning(contender: Contender, trials: int, settings: DuelSettings) -> str:
    if not contender.space:
        return "was fitted with its own defaults"
    scored = "AUROC" if settings.scoring == "auroc" else "balanced accuracy of hard labels"
    return f"was tuned with {trials} trials of TPE by {scored} on {settings.folds} stratified folds"


def _result(
    method: str, collection: str, rows: Sequence[SeedScore], fits: Fits, n_sets: int, how: str
) -> MethodBenchmark:
    import pandas as pd

    if not fits:
        raise InputError(f"{method} failed on every dataset: `paragone status` on the store says why")
    scores = pd.DataFrame(rows, columns=["dataset", "method", "seed", "value"])
    notes = []
    # A mean over fewer datasets than the others have could not be compared with theirs.
    missing = n_sets - len(fits)
    if missing:
        scores = scores.loc[scores["dataset"].isin(list(fits))]
        notes.append(f"{method} failed on {missing} of {n_sets} datasets; these are left out for all methods")
    infos = [fitted.info for _, fitted in fits.values()]
    if any(info["source"] == "predict" for info in infos):
        notes.append(f"{method} has neither predict_proba nor decision_function: it is scored by its hard labels")
    warned = [text for info in infos for text in info["warned"]]
    if warned:
        notes.append(f"{len(warned)} fits in tuning {method} warned, the first: {warned[0].splitlines()[0]}")
    bounded = sum(int(info["bounded"]) for info in infos)
    if bounded:
        notes.append(f"{bounded} fits of {method} hit the bound on iterations")
    chosen = {name: fitted.info["params"] for name, (_, fitted) in fits.items()}
    predictions = {
        name: (dataset.y[~np.asarray(dataset.train_part)], fitted.arrays["values"])
        for name, (dataset, fitted) in fits.items()
    }
    return MethodBenchmark(method, collection, scores, chosen, predictions, tuple(notes), how)
