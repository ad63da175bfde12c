"""The scores and predictions of a cross-validation as frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paragone.protocols.crossval.ledger import (
    ROLES,
    Aggregate,
    Chain,
    FoldLedger,
    Predictions,
    aggregate_by_group,
)
from paragone.protocols.crossval.problem import FINAL, Problem, Settings
from paragone.protocols.crossval.run import CrossvalRun
from paragone.protocols.crossval.scores import ChainScores, best_first, chain_scores, ensemble
from paragone.ties import loss_order

if TYPE_CHECKING:
    import pandas as pd

PLACE = ["dataset", "target", "model", "variant"]
CV_KEYS = ("cv_score", "mean_fold_cv", "ens_test", "w_ens_test")
FINAL_KEYS = ("test_score", "ens_test", "w_ens_test", "cv_score", "mean_fold_cv", "train_score")


def _place(run: CrossvalRun, problem: Problem, variant: str) -> dict[str, Any]:
    return {
        "dataset": problem.dataset,
        "target": problem.target,
        "model": run.method(variant),
        "variant": variant,
    }


def _scored(run: CrossvalRun) -> Iterator[tuple[Problem, dict[str, Any], ChainScores]]:
    """Walk over all chains, each with its place."""
    for problem in run.problems:
        for variant, scores in run.scores(problem).items():
            yield problem, _place(run, problem, variant), scores


def fold_frame(run: CrossvalRun) -> pd.DataFrame:
    """Return the scores of every fold: the real ones, ``avg``, ``w_avg`` and ``final``; NaN where none exists.

    Parameters
    ----------
    run : CrossvalRun
        With the chains.

    Returns
    -------
    DataFrame
        Columns ``dataset, target, model, variant, repeat, fold, metric, train_score, val_score,
        test_score, weight``.
    """
    import pandas as pd

    rows = []
    for _, place, scores in _scored(run):
        chain, nothing = scores.chain, np.nan
        values = zip(
            scores.fold_train, scores.fold_val, scores.fold_test, scores.weights, strict=True
        )
        found = [
            [fold.repeat, fold.fold, *map(float, four)]
            for fold, four in zip(chain.folds, values, strict=True)
        ]
        cv = scores.cv_score
        found.append([0, "avg", scores.ens_train, cv, scores.ens_test, nothing])
        found.append([0, "w_avg", scores.w_ens_train, cv, scores.w_ens_test, nothing])
        if chain.final is not None:
            found.append([0, FINAL, scores.train_score, nothing, scores.test_score, nothing])
        metric = scores.scoring.metric
        rows += [[*place.values(), *row[:2], metric, *row[2:]] for row in found]
    names = ["repeat", "fold", "metric", "train_score", "val_score", "test_score", "weight"]
    return pd.DataFrame(rows, columns=[*PLACE, *names])


def cv_frame(run: CrossvalRun) -> pd.DataFrame:
    """Return the scores of the cross-validation of every variant, in declared order.

    Parameters
    ----------
    run : CrossvalRun
        With the chains.

    Returns
    -------
    DataFrame
        One row a variant, with the repeats' mean and standard deviation where the cross-validation
        was repeated.
    """
    import pandas as pd

    rows, repeated = [], False
    for problem, place, scores in _scored(run):
        row = {**place, "metric": scores.scoring.metric}
        row |= {run.called(key, problem): getattr(scores, key) for key in CV_KEYS}
        each = scores.repeat_cv
        repeated |= len(each) > 1
        spread = float(each.std(ddof=1)) if len(each) > 1 else np.nan
        rows.append(
            {**row, "repeats": len(each), "repeat_mean": float(each.mean()), "repeat_sd": spread}
        )
    frame = pd.DataFrame(rows) if rows else pd.DataFrame(columns=PLACE)
    once = ["repeats", "repeat_mean", "repeat_sd"] if rows and not repeated else []
    return frame.drop(columns=once)


def final_frame(run: CrossvalRun) -> pd.DataFrame:
    """Return the refitted variants with all their scores, the best by test score first.

    Sorted by the test score, by that of the cross-validation where there is no test set. Criteria
    and their values are columns; ``best_of`` names the criteria among whose choices the variant is
    the best by test score.

    Parameters
    ----------
    run : CrossvalRun
        With the chains.

    Returns
    -------
    DataFrame
        One row a refitted variant of a problem.
    """
    import pandas as pd

    found = [_final_rows(run, problem) for problem in run.problems]
    frames = [frame for frame in found if len(frame)]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=PLACE)


def _final_rows(run: CrossvalRun, problem: Problem) -> pd.DataFrame:
    import pandas as pd

    scoring, scores = run.scoring(problem), run.scores(problem)
    rows = []
    for choice in run.selection(problem).choices:
        row = {**_place(run, problem, choice.variant), "metric": scoring.metric}
        mine = scores[choice.variant]
        row |= {run.called(key, problem): getattr(mine, key) for key in FINAL_KEYS}
        row[run.called("selection_score", problem)] = choice.selection_score
        row |= {"selected_by": choice.taken_by, "credit": ", ".join(choice.credit)}
        rows.append({**row, **{f"{label} value": value for label, value in choice.values.items()}})
    frame = pd.DataFrame(rows)
    if frame.empty:
        return frame
    test = frame[run.called("test_score", problem)]
    by = test if test.notna().any() else frame[run.called("cv_score", problem)]
    # Ties stay in the order they were chosen, and all that are tied are the best of their
    # criterion.
    frame["loss"] = scoring.settled(by, scoring.size(problem.truth.y))
    frame = frame.iloc[loss_order(frame["loss"].to_numpy())].reset_index(drop=True)
    is_best = frame["loss"] == frame.groupby("selected_by")["loss"].transform("first")
    frame["best_of"] = frame["selected_by"].where(is_best, "")
    return frame.drop(columns="loss")


def top_frame(run: CrossvalRun, n: int = 30) -> pd.DataFrame:
    """Return the best chains of every problem by RMSECV, with the scores of their folds in numeric order.

    Parameters
    ----------
    run : CrossvalRun
        With the chains.
    n : int, default=30
        How many of each problem.

    Returns
    -------
    DataFrame
        Columns of the place, the four scores, and ``f0, f1, ...``.
    """
    import pandas as pd

    frames = []
    for problem in run.problems:
        shown = [run.called(key, problem) for key in CV_KEYS]
        folds = [f"f{number}" for number in range(len(problem.folds))]
        there = [one for one in run.scores(problem).values() if not np.isnan(one.cv_score)]
        rows = [
            [
                *_place(run, problem, one.variant).values(),
                *(getattr(one, key) for key in CV_KEYS),
                *one.fold_val.tolist(),
            ]
            for one in best_first(there)[:n]
        ]
        frames.append(pd.DataFrame(rows, columns=[*PLACE, *shown, *folds]))
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=PLACE)


def tidy_frame(run: CrossvalRun) -> pd.DataFrame:
    """Return the folds' validation scores in the tidy form of all protocols."""
    import pandas as pd

    rows = []
    for problem in run.problems:
        scoring = run.scoring(problem)
        name = run.name(problem).replace(": ", ":")
        for variant, chain in problem.chains.items():
            head = [run.experiment, "crossval", name]
            values = [scoring.of(fold.val, chain.classes) for fold in chain.folds]
            rows += [
                [*head, number, variant, scoring.metric, np.nan, value]
                for number, value in enumerate(values)
            ]
    columns = ["experiment", "protocol", "dataset", "fold", "method", "metric", "at", "value"]
    return pd.DataFrame(rows, columns=columns)


def failure_frame(run: CrossvalRun) -> pd.DataFrame:
    """Return the variants that failed, which are never selected, with the reason."""
    import pandas as pd

    rows = [
        {**_place(run, problem, variant), "reason": reason}
        for problem in run.problems
        for variant, reason in problem.failures.items()
    ]
    return pd.DataFrame(rows, columns=[*PLACE, "reason"])


def group_frame(
    run: CrossvalRun, *, how: Aggregate | None = None, exclude_outliers: bool = False
) -> pd.DataFrame:
    """Return scores a physical sample beside those a spectrum: the same metric on aggregated predictions.

    Parameters
    ----------
    run : CrossvalRun
        Problems without groups are left out.
    how : {"mean", "median", "vote"}, optional
        Mean for regression, vote for classification where not given; probabilities are averaged.
    exclude_outliers : bool, default=False
        The MAD rule, see `aggregate_by_group`.

    Returns
    -------
    DataFrame
        One row a variant and role: ``val`` pooled out-of-fold, and ``test`` of the refit where
        there is one.
    """
    import pandas as pd

    rows = []
    for problem, place, scores in _scored(run):
        if problem.truth.groups is None:
            continue
        chain, scoring = scores.chain, scores.scoring
        parts = {"val": chain.validation()}
        if chain.final is not None:
            parts["test"] = chain.final.test
        for role, part in parts.items():
            if not len(part):
                continue
            found = aggregate_by_group(
                part,
                np.asarray(problem.truth.groups)[part.samples],
                task=problem.truth.task,
                how=how,
                exclude_outliers=exclude_outliers,
                classes=chain.classes,
            )
            numbers = np.arange(len(found.groups))
            together = Predictions(numbers, found.y_true, found.y_pred, found.probabilities)
            rows.append(
                {
                    **place,
                    "role": role,
                    "metric": scoring.metric,
                    "by_row": scoring.of(part, chain.classes),
                    "by_group": scoring.of(together, chain.classes),
                    "n_rows": len(part),
                    "n_groups": len(found.groups),
                    "n_excluded": int(found.excluded.sum()),
                }
            )
    return pd.DataFrame(rows)


def group_score_frame(run: CrossvalRun) -> pd.DataFrame:
    """Return the score of every variant on every group's out-of-fold predictions, ready to be paired by group.

    Parameters
    ----------
    run : CrossvalRun
        Problems without groups are left out.

    Returns
    -------
    DataFrame
        Columns ``dataset, target, group, method, metric, value``.
    """
    import pandas as pd

    rows = []
    for problem in run.problems:
        if problem.truth.groups is None:
            continue
        scoring = run.scoring(problem)
        for variant, chain in problem.chains.items():
            part = chain.validation()
            groups = np.asarray(problem.truth.groups)[part.samples]
            for name in np.unique(groups).tolist():
                value = scoring.of(part.rows(groups == name), chain.classes)
                rows.append([problem.dataset, problem.target, name, variant, scoring.metric, value])
    return pd.DataFrame(rows, columns=["dataset", "target", "group", "method", "metric", "value"])


LEDGER_COLUMNS = [
    "dataset",
    "target",
    "variant",
    "repeat",
    "fold",
    "role",
    "sample",
    "y_true",
    "y_pred",
]


def ledger_frame(run: CrossvalRun, *, ensembles: bool = False) -> pd.DataFrame:
    """Return the ledger: one row a prediction, with a column ``p(label)`` for every class where there are any.

    Parameters
    ----------
    run : CrossvalRun
        With the chains.
    ensembles : bool, default=False
        Whether the rows of the derived folds ``avg`` and ``w_avg`` stand there too.

    Returns
    -------
    DataFrame
        Columns ``dataset, target, variant, repeat, fold, role, sample, y_true, y_pred`` and
        probabilities.
    """
    import pandas as pd

    parts = [
        (
            (problem.dataset, problem.target, chain.variant, fold.repeat, fold.fold, role),
            fold.role(role),
            chain,
        )
        for problem in run.problems
        for chain in problem.chains.values()
        for fold in _ledgers(problem, chain, run.settings, ensembles)
        for role in ROLES
        if len(fold.role(role))
    ]
    if not parts:
        return pd.DataFrame(columns=LEDGER_COLUMNS)
    lengths = [len(part) for _, part, _ in parts]
    columns: dict[str, Any] = {
        name: np.repeat(np.array([labels[place] for labels, _, _ in parts], dtype=object), lengths)
        for place, name in enumerate(LEDGER_COLUMNS[:6])
    }
    for name, field in (("sample", "samples"), ("y_true", "y_true"), ("y_pred", "y_pred")):
        columns[name] = _stacked([getattr(part, field) for _, part, _ in parts])
    columns |= _probability_columns([(part, chain) for _, part, chain in parts])
    return pd.DataFrame(columns).astype({"repeat": int})


def _stacked(arrays: Sequence[Any]) -> Any:
    """Put columns one after the other; labels and numbers under each other stay what they are."""
    kinds = {array.dtype.kind for array in arrays}
    return np.concatenate(arrays if len(kinds) == 1 else [array.astype(object) for array in arrays])


def _probability_columns(parts: Sequence[tuple[Predictions, Chain]]) -> dict[str, Any]:
    labels = {
        label: None
        for _, chain in parts
        if chain.classes is not None
        for label in chain.classes.tolist()
    }
    known = any(part.probabilities is not None for part, _ in parts)
    columns = {
        label: np.full(sum(len(part) for part, _ in parts), np.nan)
        for label in (labels if known else ())
    }
    begin = 0
    for part, chain in parts:
        if part.probabilities is not None and chain.classes is not None:
            for place, label in enumerate(chain.classes.tolist()):
                columns[label][begin : begin + len(part)] = part.probabilities[:, place]
        begin += len(part)
    return {f"p({label})": column for label, column in columns.items()}


def _ledgers(
    problem: Problem, chain: Chain, settings: Settings, ensembles: bool
) -> Iterator[FoldLedger]:
    yield from chain.folds
    if ensembles:
        scoring = settings.scoring(problem.truth.task)
        weights = chain_scores(chain, scoring).weights
        confidence = scoring.weighting == "compat"
        val = chain.validation()
        yield FoldLedger("avg", 0, ensemble(chain, "train"), val, ensemble(chain, "test"))
        train = ensemble(chain, "train", weights, confidence=confidence)
        test = ensemble(chain, "test", weights, confidence=confidence)
        yield FoldLedger("w_avg", 0, train, val, test)
    if chain.final is not None:
        yield chain.final
