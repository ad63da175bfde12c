"""The tables of a cross-validation, and which chains cannot be told from the best."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paragone.metrics import metric_values
from paragone.protocols.crossval.frames import final_frame, top_frame
from paragone.protocols.crossval.ledger import Chain, Predictions
from paragone.protocols.crossval.problem import Problem, Settings, choose
from paragone.protocols.crossval.run import CrossvalRun
from paragone.protocols.crossval.scores import (
    ChainScores,
    Naming,
    best_first,
    metric_name,
    score_name,
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


def problem_name(problem: Problem, run: CrossvalRun) -> str:
    """Return the dataset's name, with the target where there are several."""
    return (
        f"{problem.dataset}: {problem.target}"
        if len(run.of_dataset(problem.dataset)) > 1
        else problem.dataset
    )


def definitions(settings: Settings, metric: str, naming: Naming | None = None) -> str:
    """Say in one line what the scores of the tables are."""
    keys = ("cv_score", "mean_fold_cv", "test_score", "ens_test", "w_ens_test")
    cv, mean, test, plain, weighted = (
        score_name(key, metric, naming or settings.naming, holdout=settings.holdout) for key in keys
    )
    if settings.holdout:
        first = f"{cv} is of one hold-out, not of a cross-validation"
    else:
        first = (
            f"{cv} pools all out-of-fold predictions, {mean} is the mean of the folds' own scores"
        )
    return (
        f"{first}; {test} is of one model refitted on all of train, {plain} and {weighted} of the"
        " plain and weighted ensemble of the fold models."
    )


def final_table(
    problem: Problem, run: CrossvalRun, *, naming: Naming | None = None, metric: str | None = None
) -> Table:
    """Make the table of the refitted variants, the best by test score first.

    Parameters
    ----------
    problem : Problem
        Which one.
    run : CrossvalRun
        The experiment it belongs to.
    naming, metric : str, optional
        Other ones than declared.

    Returns
    -------
    Table
        In bold (a star in plain text) the best by test score among each criterion's choices.
    """
    settings = run.settings
    scoring = settings.scoring(problem.truth.task, metric)
    together = run.of_dataset(problem.dataset) if settings.aggregate else [problem]
    frame = final_frame(together, settings, naming=naming, metric=metric)
    frame = frame[frame["target"] == problem.target] if len(frame) else frame
    keys = ("test_score", "ens_test", "w_ens_test", "cv_score", "mean_fold_cv")
    shown = [
        score_name(k, scoring.metric, naming or settings.naming, holdout=settings.holdout)
        for k in keys
    ]
    digits = decimals_for(frame[shown].to_numpy(dtype=float)) if len(frame) else 4
    best = [bool(label) for label in frame["best_of"]] if len(frame) else []
    columns, rows = _numbered(frame, shown, digits, best, {"Selected_By": "selected_by"})
    notes = [
        definitions(settings, scoring.metric, naming),
        *choose(together, settings).notes,
        *_said(problem),
    ]
    title = f"Final scores on {problem_name(problem, run)}"
    return Table.of(columns, rows, caption=title, label=f"tab:final:{problem.dataset}", notes=notes)


def _said(problem: Problem) -> list[str]:
    """Say which variants failed, and which folds have no weight."""
    said = []
    by_stage = {
        "failed and were never eligible": {
            v: why for v, why in problem.failures.items() if v not in problem.chains
        },
        "failed when refitted": {
            v: why for v, why in problem.failures.items() if v in problem.chains
        },
    }
    for what, failures in by_stage.items():
        if failures:
            shown = "; ".join(
                f"{variant} ({reason})" for variant, reason in list(failures.items())[:3]
            )
            more = f"; and {len(failures) - 3} more" if len(failures) > 3 else ""
            said.append(
                f"{len(failures)} pipeline{'s' * (len(failures) != 1)} {what}: {shown}{more}."
            )
    empty = sum(not len(rows.val) for rows in problem.folds)
    if empty:
        said.append(f"{empty} fold(s) without validation rows have weight 0.")
    return said


def _numbered(
    frame: pd.DataFrame,
    values: Sequence[str],
    digits: int,
    best: Sequence[bool],
    texts: Mapping[str, str],
    key_of: Callable[[str], str] = lambda variant: "",
) -> tuple[list[str | Column], list[list[str | TableCell]]]:
    """Return the columns and rows of chains in their order: model, scores, the first in bold where best, variant."""
    rows: list[list[str | TableCell]] = []
    for place, row in enumerate(frame.to_dict("records")):
        key = key_of(str(row["variant"]))
        scores = [
            number_cell(float(row[name]), format_number(float(row[name]), digits), behind=key)
            for name in values
        ]
        scores[0] = replace(scores[0], bold=bool(best[place]))
        others = [str(row[name]) for name in (*texts.values(), "variant")]
        rows.append([number_cell(place + 1, str(place + 1)), str(row["model"]), *scores, *others])
    left = [Column(name, "left") for name in (*texts, "Pipeline")]
    return [Column("#", "right"), Column("Model", "left"), *values, *left], rows


def top_table(
    problem: Problem,
    run: CrossvalRun,
    n: int = 30,
    *,
    naming: Naming | None = None,
    metric: str | None = None,
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
    naming, metric : str, optional
        Other ones than declared.
    key_of : callable, optional
        Gives the key of what is behind the scores of a variant, on a page.

    Returns
    -------
    Table
        With a note on which of the others are not told from the best.
    """
    settings = run.settings
    scoring = settings.scoring(problem.truth.task, metric)
    frame = top_frame([problem], settings, n, naming=naming, metric=metric)
    values = [
        name for name in frame.columns if name not in ("dataset", "target", "model", "variant")
    ]
    digits = decimals_for(frame[values].to_numpy(dtype=float)) if len(frame) else 4
    best = best_losses(scoring.settled(frame[values[0]], scoring.size(problem.truth.y)))
    columns, rows = _numbered(frame, values, digits, best.tolist(), {}, key_of)
    found = distinguish(problem, problem.scores(scoring), n)
    notes = [
        definitions(settings, scoring.metric, naming),
        *([distinction_words(found)] if found else []),
    ]
    title = (
        f"Top {min(n, len(frame))} pipelines by cross-validation on {problem_name(problem, run)}"
    )
    return Table.of(columns, rows, caption=title, label=f"tab:top:{problem.dataset}", notes=notes)


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
    chain = problem.chains[variant]
    parts = _parts(chain, "Hold-out" if run.settings.holdout else "Cross-val")
    regression = chain.task == "regression"
    names = REGRESSION_FIGURES if regression else CLASS_FIGURES
    spread = ["Mean", "Median", "Min", "Max", "SD"] if regression else []
    rows = [
        [
            name,
            str(len(part)),
            str(problem.n_features),
            *_figures(part, chain, names, run.settings.ddof),
        ]
        for name, part in parts
    ]
    columns = ["", "n", "Features", *spread, *(metric_name(name) for name in names)]
    ddof = f"standard deviations divide by n{' - 1' if run.settings.ddof else ''}"
    note = (
        f"{ddof}; the truth's distribution, then the metrics."
        if regression
        else "Labels as predicted."
    )
    return Table.of(
        columns, rows, caption=f"{variant} on {problem_name(problem, run)}", notes=[note]
    )


def _parts(chain: Chain, cv_name: str) -> list[tuple[str, Predictions]]:
    parts = [(cv_name, chain.validation())]
    if chain.final is not None:
        parts += [("Train", chain.final.train), ("Test", chain.final.test)]
    return parts


def _figures(part: Predictions, chain: Chain, names: Sequence[str], ddof: int) -> list[str]:
    truth = part.y_true
    figures: list[float] = []
    if chain.task == "regression":
        figures = [np.nan] * 5
        if len(truth):
            sd = float(np.std(truth, ddof=ddof)) if len(truth) > ddof else np.nan
            figures = [float(f(truth)) for f in (np.mean, np.median, np.min, np.max)] + [sd]
    values = metric_values(
        names,
        chain.task,
        truth,
        part.y_pred,
        probabilities=part.probabilities,
        classes=chain.classes,
        ddof=ddof,
    )
    return [format_number(value) for value in (*figures, *values.values())]


def gap_lines(run: CrossvalRun, metric: str | None = None) -> list[str]:
    """Say how far grouped and ungrouped scores of the same data lie apart.

    Two problems are the same data where their targets are equal row by row and only one has groups.

    Parameters
    ----------
    run : CrossvalRun
        The experiment.
    metric : str, optional
        Another metric.

    Returns
    -------
    list of str
        One sentence a pair.
    """
    lines = []
    for grouped in run.problems:
        for plain in run.problems:
            same = np.array_equal(grouped.truth.y, plain.truth.y)
            if not same or grouped.truth.groups is None or plain.truth.groups is not None:
                continue
            scoring = run.settings.scoring(grouped.truth.task, metric)
            ours, theirs = grouped.scores(scoring), plain.scores(scoring)
            both = [variant for variant in ours if variant in theirs]
            gaps = [theirs[variant].cv_score - ours[variant].cv_score for variant in both]
            if gaps:
                best = both[
                    least_loss([-abs(gap) for gap in gaps], size=scoring.size(grouped.truth.y))
                ]
                lines.append(
                    f"Groups kept together ({grouped.dataset}) or not ({plain.dataset}): pooled"
                    f" {metric_name(scoring.metric)}, ungrouped minus grouped, is"
                    f" {np.mean(gaps):+.4f} on average over {len(gaps)} pipelines, most for {best}"
                    f" ({ours[best].cv_score:.4f} grouped, {theirs[best].cv_score:.4f} ungrouped);"
                    " ungrouped models have seen other rows of the same sample."
                )
    return lines


def crossval_tables(
    run: CrossvalRun, *, n: int = 30, naming: Naming | None = None, metric: str | None = None
) -> list[Table]:
    """Make all tables of an experiment: final scores and the best chains of every problem."""
    tables = []
    for problem in run.problems:
        tables.append(final_table(problem, run, naming=naming, metric=metric))
        tables.append(top_table(problem, run, n, naming=naming, metric=metric))
    return tables
