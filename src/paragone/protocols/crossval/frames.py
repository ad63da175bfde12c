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
from paragone.protocols.crossval.problem import FINAL, Problem, Settings, choose
from paragone.protocols.crossval.scores import (
    SCORE_KEYS,
    ChainScores,
    Naming,
    Scoring,
    best_first,
    chain_scores,
    ensemble,
    score_name,
)
from paragone.ties import loss_order

if TYPE_CHECKING:
    import pandas as pd

PLACE = ["dataset", "target", "model", "variant"]
CV_KEYS = ("cv_score", "mean_fold_cv", "ens_test", "w_ens_test")


def fold_frame(
    problems: Sequence[Problem], settings: Settings, metric: str | None = None
) -> pd.DataFrame:
    """Return the scores of every fold: the real ones, ``avg``, ``w_avg`` and ``final``; NaN where none exists.

    Parameters
    ----------
    problems : sequence of Problem
        With their chains.
    settings : Settings
        The declared metric and weighting.
    metric : str, optional
        Another metric.

    Returns
    -------
    DataFrame
        Columns ``dataset, target, model, variant, repeat, fold, metric, train_score, val_score,
        test_score, weight``.
    """
    import pandas as pd

    rows = []
    for problem, scoring in _scorings(problems, settings, metric):
        for variant, scores in problem.scores(scoring).items():
            place = place_of(problem, variant, settings)
            chain = problem.chains[variant]
            for number, fold in enumerate(chain.folds):
                values = (scores.fold_train, scores.fold_val, scores.fold_test, scores.weights)
                rows.append(
                    [
                        *place,
                        fold.repeat,
                        fold.fold,
                        scoring.metric,
                        *(float(v[number]) for v in values),
                    ]
                )
            cv = scores.cv_score
            rows.append(
                [*place, 0, "avg", scoring.metric, scores.ens_train, cv, scores.ens_test, np.nan]
            )
            rows.append(
                [
                    *place,
                    0,
                    "w_avg",
                    scoring.metric,
                    scores.w_ens_train,
                    cv,
                    scores.w_ens_test,
                    np.nan,
                ]
            )
            if chain.final is not None:
                final = [scores.train_score, np.nan, scores.test_score, np.nan]
                rows.append([*place, 0, FINAL, scoring.metric, *final])
    names = ["repeat", "fold", "metric", "train_score", "val_score", "test_score", "weight"]
    return pd.DataFrame(rows, columns=[*PLACE, *names])


def _scorings(
    problems: Sequence[Problem], settings: Settings, metric: str | None, *, grouped: bool = False
) -> Iterator[tuple[Problem, Scoring]]:
    """Walk over problems, each with the metric it is scored by; over those with groups alone where that is asked."""
    for problem in problems:
        if not grouped or problem.truth.groups is not None:
            yield problem, settings.scoring(problem.truth.task, metric)


def place_of(problem: Problem, variant: str, settings: Settings) -> list[str]:
    """Return dataset, target, model and variant."""
    return [
        problem.dataset,
        problem.target,
        str(settings.variants[variant].get("method", variant)),
        variant,
    ]


def cv_frame(
    problems: Sequence[Problem],
    settings: Settings,
    *,
    naming: Naming | None = None,
    metric: str | None = None,
) -> pd.DataFrame:
    """Return the scores of the cross-validation of every variant, in declared order.

    Parameters
    ----------
    problems : sequence of Problem
        With their chains.
    settings : Settings
        As declared.
    naming : {"nirs", "ml", "auto"}, optional
        Another naming.
    metric : str, optional
        Another metric.

    Returns
    -------
    DataFrame
        One row a variant, with the repeats' mean and standard deviation where the cross-validation
        was repeated.
    """
    import pandas as pd

    repeats = ["repeats", "repeat_mean", "repeat_sd"]
    frames = []
    for problem, scoring in _scorings(problems, settings, metric):
        names = _names(settings, scoring.metric, naming)
        rows = [
            [*place_of(problem, variant, settings), scoring.metric, *_cv_values(scores)]
            for variant, scores in problem.scores(scoring).items()
        ]
        shown = [names[key] for key in CV_KEYS]
        frames.append(pd.DataFrame(rows, columns=[*PLACE, "metric", *shown, *repeats]))
    frame = _together(frames)
    once = "repeats" in frame and len(frame) and (frame["repeats"] == 1).all()
    return frame.drop(columns=repeats) if once else frame


def _together(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    import pandas as pd

    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=PLACE)


def _cv_values(scores: ChainScores) -> list[float]:
    n_repeats = len(scores.repeat_cv)
    spread = float(scores.repeat_cv.std(ddof=1)) if n_repeats > 1 else np.nan
    return [
        *(getattr(scores, key) for key in CV_KEYS),
        n_repeats,
        float(scores.repeat_cv.mean()),
        spread,
    ]


def _names(settings: Settings, metric: str, naming: Naming | None) -> dict[str, str]:
    chosen = naming or settings.naming
    return {key: score_name(key, metric, chosen, holdout=settings.holdout) for key in SCORE_KEYS}


def final_frame(
    problems: Sequence[Problem],
    settings: Settings,
    *,
    naming: Naming | None = None,
    metric: str | None = None,
) -> pd.DataFrame:
    """Return the refitted variants with all their scores, the best by test score first.

    Sorted by the test score, by that of the cross-validation where there is no test set. Criteria
    and their values are columns; ``best_of`` names the criteria among whose choices the variant is
    the best by test score.

    Parameters
    ----------
    problems : sequence of Problem
        With their chains.
    settings : Settings
        As declared.
    naming, metric : str, optional
        Other ones.

    Returns
    -------
    DataFrame
        One row a refitted variant of a problem.
    """
    frames = []
    for problem in problems:
        joint = [p for p in problems if p.dataset == problem.dataset and settings.aggregate]
        frames.append(_final_rows(problem, joint, settings, naming, metric))
    return _together([frame for frame in frames if len(frame)])


def _final_rows(
    problem: Problem,
    joint: list[Problem],
    settings: Settings,
    naming: Naming | None,
    metric: str | None,
) -> pd.DataFrame:
    import pandas as pd

    scoring = settings.scoring(problem.truth.task, metric)
    names = _names(settings, scoring.metric, naming)
    scores = problem.scores(scoring)
    rows = []
    for choice in choose(joint or [problem], settings).choices:
        of = scores[choice.variant]
        keys = ("test_score", "ens_test", "w_ens_test", "cv_score", "mean_fold_cv", "train_score")
        values = {names[key]: getattr(of, key) for key in keys}
        rows.append(
            {
                **dict(zip(PLACE, place_of(problem, choice.variant, settings), strict=True)),
                "metric": scoring.metric,
                **values,
                names["selection_score"]: choice.selection_score,
                "selected_by": choice.taken_by,
                "credit": ", ".join(choice.credit),
                **{f"{label} value": value for label, value in choice.values.items()},
            }
        )
    frame = pd.DataFrame(rows)
    if frame.empty:
        return frame
    tested = frame[names["test_score"]].notna().any()
    by = names["test_score"] if tested else names["cv_score"]
    # Ties stay in the order they were chosen, and all that are tied are the best of their
    # criterion.
    losses = scoring.settled(frame[by], scoring.size(problem.truth.y))
    order = loss_order(losses)
    frame, losses = frame.iloc[order].reset_index(drop=True), losses[order]
    taken = frame["selected_by"].to_numpy()
    best = [loss == losses[taken == label][0] for loss, label in zip(losses, taken, strict=True)]
    frame["best_of"] = [
        label if is_best else "" for label, is_best in zip(taken, best, strict=True)
    ]
    return frame


def top_frame(
    problems: Sequence[Problem],
    settings: Settings,
    n: int = 30,
    *,
    naming: Naming | None = None,
    metric: str | None = None,
) -> pd.DataFrame:
    """Return the best chains of every problem by RMSECV, with the scores of their folds in numeric order.

    Parameters
    ----------
    problems : sequence of Problem
        With their chains.
    settings : Settings
        As declared.
    n : int, default=30
        How many of each problem.
    naming, metric : str, optional
        Other ones.

    Returns
    -------
    DataFrame
        Columns of the place, the four scores, and ``f0, f1, ...``.
    """
    import pandas as pd

    frames = []
    for problem, scoring in _scorings(problems, settings, metric):
        names = _names(settings, scoring.metric, naming)
        shown = [names[key] for key in CV_KEYS]
        folds = [f"f{number}" for number in range(len(problem.folds))]
        there = [
            scores for scores in problem.scores(scoring).values() if not np.isnan(scores.cv_score)
        ]
        rows = [
            [
                *place_of(problem, scores.variant, settings),
                *_cv_values(scores)[:4],
                *scores.fold_val.tolist(),
            ]
            for scores in best_first(there)[:n]
        ]
        frames.append(pd.DataFrame(rows, columns=[*PLACE, *shown, *folds]))
    return _together(frames)


def tidy_frame(
    problems: Sequence[Problem], settings: Settings, experiment: str, metric: str | None = None
) -> pd.DataFrame:
    """Return the folds' validation scores in the tidy form of all protocols."""
    import pandas as pd

    rows = []
    for problem, scoring in _scorings(problems, settings, metric):
        several = sum(p.dataset == problem.dataset for p in problems) > 1
        name = f"{problem.dataset}:{problem.target}" if several else problem.dataset
        for variant, chain in problem.chains.items():
            for number, fold in enumerate(chain.folds):
                value = scoring.of(fold.val, chain.classes)
                rows.append(
                    [experiment, "crossval", name, number, variant, scoring.metric, np.nan, value]
                )
    columns = ["experiment", "protocol", "dataset", "fold", "method", "metric", "at", "value"]
    return pd.DataFrame(rows, columns=columns)


def failure_frame(problems: Sequence[Problem], settings: Settings) -> pd.DataFrame:
    """Return the variants that failed, which are never selected, with the reason."""
    import pandas as pd

    rows = [
        [*place_of(problem, variant, settings), reason]
        for problem in problems
        for variant, reason in problem.failures.items()
    ]
    return pd.DataFrame(rows, columns=[*PLACE, "reason"])


def group_frame(
    problems: Sequence[Problem],
    settings: Settings,
    *,
    how: Aggregate | None = None,
    exclude_outliers: bool = False,
    metric: str | None = None,
) -> pd.DataFrame:
    """Return scores a physical sample beside those a spectrum: the same metric on aggregated predictions.

    Parameters
    ----------
    problems : sequence of Problem
        Those without groups are left out.
    settings : Settings
        As declared.
    how : {"mean", "median", "vote"}, optional
        Mean for regression, vote for classification where not given; probabilities are averaged.
    exclude_outliers : bool, default=False
        The MAD rule, see `aggregate_by_group`.
    metric : str, optional
        Another metric.

    Returns
    -------
    DataFrame
        One row a variant and role: ``val`` pooled out-of-fold, and ``test`` of the refit where
        there is one.
    """
    import pandas as pd

    rows = []
    for problem, scoring in _scorings(problems, settings, metric, grouped=True):
        groups = np.asarray(problem.truth.groups)
        for variant, chain in problem.chains.items():
            parts = {"val": chain.validation()}
            if chain.final is not None:
                parts["test"] = chain.final.test
            for role, part in parts.items():
                if not len(part):
                    continue
                found = aggregate_by_group(
                    part,
                    groups[part.samples],
                    task=problem.truth.task,
                    how=how,
                    exclude_outliers=exclude_outliers,
                    classes=chain.classes,
                )
                together = Predictions(
                    np.arange(len(found.groups)), found.y_true, found.y_pred, found.probabilities
                )
                values = [scoring.of(part, chain.classes), scoring.of(together, chain.classes)]
                counts = [len(part), len(found.groups), int(found.excluded.sum())]
                rows.append(
                    [*place_of(problem, variant, settings), role, scoring.metric, *values, *counts]
                )
    names = ["role", "metric", "by_row", "by_group", "n_rows", "n_groups", "n_excluded"]
    return pd.DataFrame(rows, columns=[*PLACE, *names])


def group_score_frame(
    problems: Sequence[Problem], settings: Settings, metric: str | None = None
) -> pd.DataFrame:
    """Return the score of every variant on every group's out-of-fold predictions, ready to be paired by group.

    Parameters
    ----------
    problems : sequence of Problem
        Those without groups are left out.
    settings : Settings
        As declared.
    metric : str, optional
        Another metric.

    Returns
    -------
    DataFrame
        Columns ``dataset, target, group, method, metric, value``.
    """
    import pandas as pd

    rows = []
    for problem, scoring in _scorings(problems, settings, metric, grouped=True):
        groups = np.asarray(problem.truth.groups)
        for variant, chain in problem.chains.items():
            part = chain.validation()
            names, codes = np.unique(groups[part.samples], return_inverse=True)
            for code, name in enumerate(names.tolist()):
                value = scoring.of(part.rows(codes == code), chain.classes)
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


def ledger_frame(
    problems: Sequence[Problem], settings: Settings, *, ensembles: bool = False
) -> pd.DataFrame:
    """Return the ledger: one row a prediction, with a column ``p(label)`` for every class where there are any.

    Parameters
    ----------
    problems : sequence of Problem
        With their chains.
    settings : Settings
        For the weights of the ensembles.
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
        for problem in problems
        for chain in problem.chains.values()
        for fold in _ledgers(problem, chain, settings, ensembles)
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
        parts = (
            ensemble(chain, role, weights, confidence=confidence) for role in ("train", "test")
        )
        train, test = parts
        yield FoldLedger("w_avg", 0, train, val, test)
    if chain.final is not None:
        yield chain.final


def chains_of_ledger(frame: pd.DataFrame, task: str) -> dict[tuple[str, str, str], Chain]:
    """Make the chains of a ledger frame: all scores can be recomputed from it alone.

    Parameters
    ----------
    frame : DataFrame
        As `ledger_frame` gives it, without the derived folds.
    task : {"regression", "classification"}
        What is predicted.

    Returns
    -------
    dict
        Dataset, target and variant to the chain.
    """
    labels = [column for column in frame.columns if column.startswith("p(")]
    chains = {}
    for (dataset, target, variant), rows in frame.groupby(
        ["dataset", "target", "variant"], sort=False
    ):
        classes = None
        if task == "classification":
            classes = np.unique(
                np.concatenate([rows["y_true"].to_numpy(), rows["y_pred"].to_numpy()])
            )
        ledgers = {}
        for (fold, repeat), part in rows.groupby(["fold", "repeat"], sort=False):
            parts = []
            for role in ROLES:
                of = part[part["role"] == role]
                share = (
                    of[labels].to_numpy() if labels and of[labels].notna().all(axis=None) else None
                )
                truth, predicted = of["y_true"].to_numpy(), of["y_pred"].to_numpy()
                parts.append(Predictions(of["sample"].to_numpy(), truth, predicted, share))
            ledgers[fold] = FoldLedger(fold, int(repeat), *parts)
        numbers = sorted((fold for fold in ledgers if fold != FINAL), key=int)
        folds = tuple(ledgers[number] for number in numbers)
        chains[dataset, target, variant] = Chain(variant, task, folds, ledgers.get(FINAL), classes)
    return chains
