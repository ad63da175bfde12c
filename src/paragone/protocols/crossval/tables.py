"""The tables of a cross-validation, and which chains cannot be told from the best."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paragone.metrics import metric_values
from paragone.protocols.crossval.frames import PLACE, final_frame, top_frame
from paragone.protocols.crossval.ledger import Chain
from paragone.protocols.crossval.problem import Problem
from paragone.protocols.crossval.run import CrossvalRun
from paragone.protocols.crossval.scores import (
    ChainScores,
    best_first,
    metric_name,
)
from paragone.stats import SampleComparison, compare_losses
from paragone.tables import Column, Table, TableCell, decimals_for, format_number, number_cell
from paragone.ties import best_losses, least_loss
from paragone.validation import FloatArray

if TYPE_CHECKING:
    import pandas as pd

ALPHA = 0.05
TEST = "corrected paired t on the out-of-fold losses of the samples"


def distinction_words(found: SampleComparison) -> str:
    """Say in a sentence which of the others are not told from the best."""
    if not found.pairs:
        return f"{found.reference} stands alone: there is no other pipeline to compare it with."
    same = [pair.rival for pair in found.pairs if pair.word == "undecided"]
    shown = ", ".join(same[:8]) + (f" and {len(same) - 8} more" if len(same) > 8 else "")
    return (
        f"Not significantly worse than the best by the pooled score, {found.reference}: {len(same)}"
        f" of the {len(found.pairs)} next best ({TEST}, {found.pairs[0].n} {found.units}, Holm over"
        f" all {found.n_family} pairs of pipelines): {shown or 'none'}."
    )


def distinguish(
    problem: Problem, scores: dict[str, ChainScores], n: int = 30
) -> SampleComparison | None:
    """Compare the best chains of a problem with the very best by RMSECV.

    Parameters
    ----------
    problem : Problem
        With its chains.
    scores : dict of str to ChainScores
        Their scores under one metric.
    n : int, default=30
        How many of the best chains take part.

    Returns
    -------
    SampleComparison or None
        None where no chain has a score.
    """
    there = [found for found in scores.values() if not np.isnan(found.cv_score)]
    if not there:
        return None
    groups = problem.truth.groups
    return compare_losses(
        {one.variant: losses(one.chain, groups) for one in best_first(there)[:n]},
        n_train=float(np.mean([_n_units(rows.train, groups) for rows in problem.folds])),
        # The best is itself chosen by the data, so the family is every pair of chains.
        n_family=len(there) * (len(there) - 1) // 2,
        # A residual is the rest of a measurement: chains that are equal on paper differ by the
        # rounding of that.
        size=1.0 if problem.truth.classes is not None else float(np.abs(problem.truth.y).max()),
        dataset=problem.dataset,
        units="samples" if groups is None else "groups",
        alpha=ALPHA,
    )


def _n_units(rows: NDArray[Any], groups: NDArray[Any] | None) -> int:
    return len(np.unique(rows if groups is None else groups[rows]))


def losses(chain: Chain, groups: NDArray[Any] | None = None) -> FloatArray:
    """Return the mean loss of every validated sample: absolute residual, or share of wrong labels.

    Parameters
    ----------
    chain : Chain
        With its out-of-fold predictions.
    groups : ndarray, optional
        The group of every row of the dataset: the physical sample that it is a replicate of.

    Returns
    -------
    ndarray
        One value per group in sorted order, per row where there are no groups. Repeated validations
        of a row are averaged first, then the rows of a group.
    """
    part = chain.validation()
    wrong = (
        np.abs(part.y_pred - part.y_true)
        if chain.task == "regression"
        else (part.y_pred != part.y_true) * 1.0
    )
    rows, codes = np.unique(part.samples, return_inverse=True)
    by_row = np.bincount(codes, weights=wrong) / np.bincount(codes)
    if groups is None:
        return np.asarray(by_row)
    _, codes = np.unique(groups[rows], return_inverse=True)
    return np.asarray(np.bincount(codes, weights=by_row) / np.bincount(codes))


REGRESSION_FIGURES = ("r2", "rmse", "mae", "sep", "rpd", "bias")
CLASS_FIGURES = (
    "accuracy",
    "balanced_accuracy",
    "f1",
    "precision",
    "recall",
    "cohen_kappa",
    "matthews_corrcoef",
)


def definitions(problem: Problem, run: CrossvalRun) -> str:
    """Say in one line what the scores of the tables are."""
    keys = ("cv_score", "mean_fold_cv", "test_score", "ens_test", "w_ens_test")
    cv, mean, test, plain, weighted = (run.called(key, problem) for key in keys)
    first = f"{cv} pools all out-of-fold predictions, {mean} is the mean of the folds' own scores"
    if run.settings.holdout:
        first = f"{cv} is of one hold-out, not of a cross-validation"
    return (
        f"{first}; {test} is of one model refitted on all of train, {plain} and {weighted} of the"
        " plain and weighted ensemble of the fold models."
    )


def final_table(problem: Problem, run: CrossvalRun) -> Table:
    """Make the table of the refitted variants, the best by test score first.

    Parameters
    ----------
    problem : Problem
        Which one.
    run : CrossvalRun
        The experiment it belongs to.

    Returns
    -------
    Table
        In bold (a star in plain text) the best by test score among each criterion's choices.
    """
    frame = final_frame(replace(run, problems=tuple(run.of_dataset(problem.dataset))))
    frame = frame[frame["target"] == problem.target] if len(frame) else frame
    keys = ("test_score", "ens_test", "w_ens_test", "cv_score", "mean_fold_cv")
    values = [run.called(key, problem) for key in keys]
    best = list(frame["best_of"] != "") if len(frame) else []
    notes = [definitions(problem, run), *run.selection(problem).notes, *_failures(problem)]
    title = f"Final scores on {run.name(problem)}"
    texts = {"Selected_By": "selected_by"}
    table = _numbered(frame, values, best, texts)
    return replace(table, caption=title, label=f"tab:final:{problem.dataset}", notes=tuple(notes))


def _failures(problem: Problem) -> list[str]:
    """Say which variants failed, and which folds have no weight."""
    lines = []
    for refitted, what in (
        (False, "failed and were never eligible"),
        (True, "failed when refitted"),
    ):
        failures = [
            f"{variant} ({reason})"
            for variant, reason in problem.failures.items()
            if (variant in problem.chains) is refitted
        ]
        if failures:
            more = f"; and {len(failures) - 3} more" if len(failures) > 3 else ""
            count = f"{len(failures)} pipeline{'s' * (len(failures) != 1)}"
            lines.append(f"{count} {what}: {'; '.join(failures[:3])}{more}.")
    empty = sum(not len(rows.val) for rows in problem.folds)
    if empty:
        lines.append(f"{empty} fold(s) without validation rows have weight 0.")
    return lines


def _numbered(
    frame: pd.DataFrame,
    values: Sequence[str],
    best: Sequence[bool],
    texts: Mapping[str, str],
    key_of: Callable[[str], str] = lambda variant: "",
) -> Table:
    """Return the table of chains in their order: model, scores, the first in bold where best, texts, variant."""
    digits = decimals_for(frame[list(values)].to_numpy(dtype=float)) if len(frame) else 4
    rows: list[list[str | TableCell]] = []
    for place, row in enumerate(frame.to_dict("records")):
        key = key_of(str(row["variant"]))
        numbers = [float(row[name]) for name in values]
        scores = [number_cell(v, format_number(v, digits), behind=key) for v in numbers]
        scores[0] = replace(scores[0], bold=bool(best[place]))
        others = [str(row[name]) for name in (*texts.values(), "variant")]
        rows.append([number_cell(place + 1, str(place + 1)), str(row["model"]), *scores, *others])
    left = [Column(name, "left") for name in (*texts, "Pipeline")]
    return Table.of([Column("#", "right"), Column("Model", "left"), *values, *left], rows)


def top_table(
    problem: Problem,
    run: CrossvalRun,
    n: int = 30,
    key_of: Callable[[str], str] = lambda variant: "",
) -> Table:
    """Make the table of the best chains by RMSECV, with their folds in numeric order.

    Parameters
    ----------
    problem : Problem
        Which one.
    run : CrossvalRun
        The experiment it belongs to.
    n : int, default=30
        How many chains.
    key_of : callable, optional
        Gives the key of what is behind the scores of a variant, on a page.

    Returns
    -------
    Table
        With a note on which of the others are not told from the best.
    """
    scoring = run.scoring(problem)
    frame = top_frame(replace(run, problems=(problem,)), n)
    values = [str(name) for name in frame.columns if name not in PLACE]
    best = best_losses(scoring.settled(frame[values[0]], scoring.size(problem.truth.y)))
    found = distinguish(problem, run.scores(problem), n)
    notes = [definitions(problem, run), *([distinction_words(found)] if found else [])]
    title = f"Top {min(n, len(frame))} pipelines by cross-validation on {run.name(problem)}"
    table = _numbered(frame, values, best.tolist(), {}, key_of)
    return replace(table, caption=title, label=f"tab:top:{problem.dataset}", notes=tuple(notes))


def model_table(problem: Problem, run: CrossvalRun, variant: str) -> Table:
    """Make the table of one model's figures: a row each for cross-validation, train and test.

    Parameters
    ----------
    problem : Problem
        Which one.
    run : CrossvalRun
        The experiment it belongs to.
    variant : str
        The chain.

    Returns
    -------
    Table
        Numbers of rows, the distribution of the truth, and the metrics.
    """
    chain, ddof = problem.chains[variant], run.settings.ddof
    parts = {"Hold-out" if run.settings.holdout else "Cross-val": chain.validation()}
    if chain.final is not None:
        parts |= {"Train": chain.final.train, "Test": chain.final.test}
    names: tuple[str, ...] = CLASS_FIGURES
    spread: tuple[str, ...] = ()
    note = "Labels as predicted."
    if chain.task == "regression":
        names, spread = REGRESSION_FIGURES, ("Mean", "Median", "Min", "Max", "SD")
        note = (
            f"standard deviations divide by n{' - 1' if ddof else ''}; the truth's distribution,"
            " then the metrics."
        )
    rows = []
    for name, part in parts.items():
        values = metric_values(
            names,
            chain.task,
            part.y_true,
            part.y_pred,
            probabilities=part.probabilities,
            classes=chain.classes,
            ddof=ddof,
        )
        figures = [*(_distribution(part.y_true, ddof) if spread else ()), *values.values()]
        rows.append([name, str(len(part)), str(problem.n_features), *map(format_number, figures)])
    columns = ["", "n", "Features", *spread, *(metric_name(name) for name in names)]
    return Table.of(columns, rows, caption=f"{variant} on {run.name(problem)}", notes=[note])


def _distribution(truth: NDArray[Any], ddof: int) -> list[float]:
    """Return mean, median, least, greatest and standard deviation; NaN where there are too few values."""
    if not len(truth):
        return [np.nan] * 5
    sd = float(np.std(truth, ddof=ddof)) if len(truth) > ddof else np.nan
    return [*(float(f(truth)) for f in (np.mean, np.median, np.min, np.max)), sd]


def gap_lines(run: CrossvalRun) -> list[str]:
    """Say how far grouped and ungrouped scores of the same data lie apart.

    Two problems are the same data where their targets are equal row by row and only one has groups.

    Parameters
    ----------
    run : CrossvalRun
        The experiment.

    Returns
    -------
    list of str
        One sentence a pair.
    """
    lines = []
    for grouped, plain in product(run.problems, repeat=2):
        same = np.array_equal(grouped.truth.y, plain.truth.y)
        if not same or grouped.truth.groups is None or plain.truth.groups is not None:
            continue
        ours, theirs = run.scores(grouped), run.scores(plain)
        gaps = {v: theirs[v].cv_score - ours[v].cv_score for v in ours if v in theirs}
        if not gaps:
            continue
        scoring = run.scoring(grouped)
        sizes = [-abs(gap) for gap in gaps.values()]
        best = list(gaps)[least_loss(sizes, size=scoring.size(grouped.truth.y))]
        lines.append(
            f"Groups kept together ({grouped.dataset}) or not ({plain.dataset}): pooled"
            f" {metric_name(scoring.metric)}, ungrouped minus grouped, is"
            f" {np.mean(list(gaps.values())):+.4f} on average over {len(gaps)} pipelines, most for"
            f" {best} ({ours[best].cv_score:.4f} grouped, {theirs[best].cv_score:.4f} ungrouped);"
            " ungrouped models have seen other rows of the same sample."
        )
    return lines


def crossval_tables(run: CrossvalRun, n: int = 30) -> list[Table]:
    """Make all tables of an experiment: final scores and the best chains of every problem."""
    made = [(final_table(one, run), top_table(one, run, n)) for one in run.problems]
    return [table for pair in made for table in pair]
