"""One value per dataset, fold, method and metric, what the statistics say of it, and the tables of a paper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from paragone.errors import InputError
from paragone.metrics import named_metric
from paragone.reporting.words import Wording, title_of
from paragone.results import Results
from paragone.stats import DatasetComparison, compare
from paragone.tables import (
    Cell,
    Column,
    Table,
    format_mean_std,
    format_number,
    format_p,
    format_signed,
    mark_best,
    p_is,
)

if TYPE_CHECKING:
    import pandas as pd

NEAR = 1e-9


@dataclass(frozen=True, eq=False)
class GridScores:
    """The fold scores of one grid of an experiment, and how the grid was reduced.

    Parameters
    ----------
    grid : {"k", "p"}
        Which grid.
    reduction : str
        How a curve became one value, in words for a caption.
    suffix : str
        What file names call it: ``kgrid``, or ``p20`` for a target of 20 %.
    curves : DataFrame
        Tidy scores of the grid.
    folds : DataFrame
        Columns ``dataset, fold, method, metric, value``.
    """

    grid: str
    reduction: str
    suffix: str
    curves: pd.DataFrame
    folds: pd.DataFrame


def grid_scores(results: Results, experiment: str) -> list[GridScores]:
    """Reduce every grid of a curve experiment to fold scores.

    A k-grid counts its mean over the grid, a p-grid its value at the target.

    Parameters
    ----------
    results : Results
        An open store.
    experiment : str
        The experiment's name.

    Returns
    -------
    list of GridScores
        For the k-grid and the p-grid, as declared.
    """
    protocol = results.described(experiment)["protocol"]
    if protocol.get("kind") != "curve":
        raise InputError(f"experiment {experiment!r} is not a curve experiment")
    scores = results.scores()
    scores = scores[scores["experiment"] == experiment]
    _check_names(scores)
    declared = [grid for grid in ("k", "p") if protocol[grid] is not None]
    found = []
    for grid in declared:
        wanted = "curve" if len(declared) == 1 else f"curve-{grid}"
        curves = scores[scores["protocol"] == wanted]
        if curves.empty:
            raise InputError(f"experiment {experiment!r} has no scores yet: run it first")
        found.append(_reduced(grid, curves, protocol["p"]["target"] if grid == "p" else None))
    return found


def _check_names(scores: pd.DataFrame) -> None:
    """Refuse names that tables and tests, which strip blanks, would take for others."""
    for column in ("method", "dataset"):
        for name in scores[column].unique():
            if name != name.strip():
                raise InputError(f"the {column} {name!r} begins or ends with a blank: give it a name without")


def _reduced(grid: str, curves: pd.DataFrame, target: float | None) -> GridScores:
    keys = ["dataset", "fold", "method", "metric"]
    if target is None:
        folds = curves.groupby(keys, sort=False)["value"].mean().reset_index()
        return GridScores("k", "the mean over the k-grid", "kgrid", curves, folds)
    at_target = curves[(curves["at"] - target).abs() < NEAR]
    percent = f"{100 * target:g}"
    return GridScores(
        "p", f"the value at {percent} % of the features", f"p{percent}", curves, at_target[[*keys, "value"]]
    )


def at_point(scores: GridScores, at: float) -> GridScores:
    """Take the value at one point of the grid instead of what the grid is reduced to by declaration."""
    mine = scores.curves[(scores.curves["at"] - at).abs() < NEAR]
    if mine.empty:
        points = ", ".join(f"{point:g}" for point in sorted(scores.curves["at"].unique()))
        raise InputError(f"there is no point {scores.grid} = {at:g}: there are {points}")
    words = f"the value at k = {at:g}" if scores.grid == "k" else f"the value at {100 * at:g} % of the features"
    columns = ["dataset", "fold", "method", "metric", "value"]
    return GridScores(scores.grid, words, f"{scores.grid}{at:g}", scores.curves, mine[columns])


def score_table(scores: GridScores, metric: str, wording: Wording) -> Table:
    """Make the table of a metric: datasets down, methods across, mean and deviation over folds.

    The deviation has ddof = 1. The best mean of a row is bold, the second best underlined; means that
    differ by rounding alone (`paragone.ties`) count as equal.
    """
    rows = scores.folds[scores.folds["metric"] == metric]
    methods, datasets = _in_order(rows, "method"), _in_order(rows, "dataset")
    grouped = rows.groupby(["dataset", "method"], sort=False)["value"]
    means = grouped.mean().unstack("method").reindex(index=datasets, columns=methods)
    deviations = grouped.std(ddof=1).unstack("method").reindex(index=datasets, columns=methods)
    higher = bool(named_metric(metric).higher_is_better)
    body = []
    for dataset in datasets:
        values = means.loc[dataset].tolist()
        texts = [format_mean_std(m, s) for m, s in zip(values, deviations.loc[dataset], strict=True)]
        cells = mark_best(values, texts, higher_is_better=higher, size=named_metric(metric).score_size)
        body.append([Cell(wording.name(dataset)), *cells])
    n_folds = rows.groupby("dataset")["fold"].nunique()
    folds = f"{n_folds.min()}" if n_folds.min() == n_folds.max() else f"{n_folds.min()} to {n_folds.max()}"
    caption = (
        f"{title_of(metric)} ({'higher' if higher else 'lower'} is better): {scores.reduction}, mean ± standard "
        f"deviation over {folds} folds. Best in bold, second best underlined."
    )
    heading = ["Dataset", *(wording.name(method) for method in methods)]
    label = wording.label(f"{metric.replace('_', '-')}-{scores.suffix}")
    return Table.of(heading, body, caption=wording.caption(caption), label=label)


def comparisons(
    scores: GridScores, metrics: Sequence[str], reference: str, test_train_ratio: float | None = None
) -> dict[str, DatasetComparison]:
    """Compare every method with the reference, metric by metric, over datasets."""
    found = {}
    for metric in metrics:
        frame = scores.folds[scores.folds["metric"] == metric]
        found[metric] = compare(
            frame,
            metric=metric,
            reference=reference,
            correction="holm",
            bayes=False,
            test_train_ratio=test_train_ratio,
        )
    return found


def statistics_table(
    found: Mapping[str, DatasetComparison], scores: GridScores, reference: str, wording: Wording
) -> Table:
    """Make the table of the reference against each rival: gain, wins, p and Holm's p, a metric a block."""
    body: list[list[Cell]] = []
    rules: list[int] = []
    for metric, comparison in found.items():
        rules.append(len(body))
        for pair in comparison.leading_pairs:
            bold = pair.p_adjusted <= comparison.settings.alpha
            body.append(
                [
                    Cell(title_of(metric)),
                    Cell(wording.name(pair.rival)),
                    Cell(format_signed(pair.mean_difference)),
                    Cell(f"{len(pair.won)}/{len(pair.tied)}/{len(pair.lost)}"),
                    Cell(format_p(pair.p)),
                    Cell(format_p(pair.p_adjusted), bold=bold),
                ]
            )
    first = next(iter(found.values()))
    name = wording.name(reference)
    caption = (
        f"{name} against each rival over {len(first.scores.datasets)} datasets ({scores.reduction}, "
        "mean over folds): mean gain (positive favours "
        f"{name}), wins/ties/losses, two-sided Wilcoxon signed-rank p (zero differences dropped) and "
        f"its Holm adjustment over the {len(first.leading_pairs)} rivals of a metric; bold where at most "
        f"{first.settings.alpha:g}."
    )
    columns = (Column("Metric", "left"), Column("Rival", "left"), *map(Column, ("Gain", "W/T/L", "p", "p (Holm)")))
    return Table(
        columns,
        tuple(tuple(row) for row in body),
        wording.caption(caption),
        wording.label(f"stats-{scores.suffix}"),
        rules=tuple(rules[1:]),
    )


def rank_table(found: Mapping[str, DatasetComparison], scores: GridScores, wording: Wording) -> Table:
    """Make the table of average ranks: methods down, metrics across, with Friedman's test in the notes."""
    first = next(iter(found.values()))
    methods = _in_order(scores.folds, "method")
    columns = []
    for comparison in found.values():
        by_method = dict(zip(comparison.scores.methods, comparison.friedman.average_ranks, strict=True))
        values = [by_method[method] for method in methods]
        texts = [format_number(value, 3) for value in values]
        columns.append(mark_best(values, texts, higher_is_better=False))
    body = [
        [Cell(wording.name(method)), *(column[place] for column in columns)] for place, method in enumerate(methods)
    ]
    notes = tuple(
        f"{title_of(metric)}: Friedman chi-square {c.friedman.chi2:.4g} (tie-corrected, {p_is(c.friedman.p)}), "
        f"Iman-Davenport F {c.friedman.f:.4g} ({p_is(c.friedman.p_f)})."
        for metric, c in found.items()
    )
    caption = (
        f"Average ranks over {len(first.scores.datasets)} datasets ({scores.reduction}, mean over folds; 1 is best, "
        "ties averaged)."
    )
    return replace(
        Table.of(
            ["Method", *(title_of(metric) for metric in found)],
            body,
            caption=wording.caption(caption),
            label=wording.label(f"ranks-{scores.suffix}"),
        ),
        notes=notes,
    )


def means_frame(scores: GridScores) -> pd.DataFrame:
    """Return mean, deviation (ddof = 1) and number of folds of every dataset, method and metric."""
    grouped = scores.folds.groupby(["dataset", "method", "metric"], sort=False)["value"]
    return grouped.agg(mean="mean", std=lambda values: values.std(ddof=1), folds="size").reset_index()


def _in_order(frame: pd.DataFrame, column: str) -> list[str]:
    names: list[str] = frame[column].unique().tolist()
    return names


@dataclass(frozen=True, eq=False)
class View:
    """One metric on one grid: its fold scores, and the comparison where there is one to make."""

    scores: GridScores
    metric: str
    comparison: DatasetComparison | None
    refusal: str

    @property
    def tags(self) -> dict[str, str]:
        """When its blocks show."""
        return {"metric": self.metric, "grid": self.scores.suffix}

    @cached_property
    def means(self) -> dict[str, dict[str, tuple[float, float]]]:
        """Mean and deviation (ddof = 1) over folds, by dataset and method, in the order of the folds."""
        mine = self.scores.folds[self.scores.folds["metric"] == self.metric]
        grouped = mine.groupby(["dataset", "method"], sort=False)["value"]
        found: dict[str, dict[str, tuple[float, float]]] = {}
        for dataset, method, mean, spread in grouped.agg(["mean", "std"]).reset_index().itertuples(index=False):
            found.setdefault(dataset, {})[method] = (float(mean), float(spread))
        return found

    @property
    def key(self) -> str:
        """What file names and anchors call it."""
        return f"{self.metric}-{self.scores.suffix}"


def named(scores: GridScores, wording: Wording) -> GridScores:
    """Return the scores under the names to display; two that would share a name are refused."""
    columns = {}
    for column in ("method", "dataset"):
        found = scores.folds[column].unique().tolist()
        names = {name: wording.name(name) for name in found}
        if len(set(names.values())) < len(found):
            raise InputError(f"the display map gives two {column}s the same name: {sorted(names.values())}")
        columns[column] = names
    return replace(scores, curves=_renamed(scores.curves, columns), folds=_renamed(scores.folds, columns))


def _renamed(frame: Any, columns: Mapping[str, Mapping[str, str]]) -> Any:
    return frame.assign(**{column: frame[column].map(names) for column, names in columns.items()})


def views_of(grids: Iterable[GridScores], reference: str, split: Mapping[str, Any]) -> list[View]:
    """Return a view for every metric of every grid; the declared split says how much training sets overlap."""
    ratio = split_ratio(split)
    return [_view(scores, metric, reference, ratio) for scores in grids for metric in scores.folds["metric"].unique()]


def _view(scores: GridScores, metric: str, reference: str, ratio: float | None) -> View:
    if scores.folds["method"].nunique() < 2:
        return View(scores, metric, None, "There is one method only, so there is nothing to compare it with.")
    try:
        return View(scores, metric, comparisons(scores, [metric], reference, ratio)[metric], "")
    except InputError as refusal:
        # A run in its middle may not have a single dataset that every method has finished.
        return View(scores, metric, None, f"No comparison yet: {refusal}")


def split_ratio(split: Mapping[str, Any]) -> float | None:
    """Return n_test / n_train of a declared split where the number of folds does not tell it.

    Examples
    --------
    >>> split_ratio({"kind": "holdout", "test_size": 0.2}), split_ratio({"kind": "kfold", "test_size": 0.2})
    (0.25, None)
    """
    if split["kind"] != "holdout":
        return None
    share = float(split["test_size"])
    return share / (1 - share)
