"""The ledger as a frame, and back: one row a prediction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paragone.protocols.crossval.ledger import ROLES, Chain, FoldLedger, Predictions
from paragone.protocols.crossval.problem import FINAL, Problem, Settings
from paragone.protocols.crossval.scores import chain_scores, ensemble

if TYPE_CHECKING:
    import pandas as pd

LEDGER_COLUMNS = ["dataset", "target", "variant", "repeat", "fold", "role", "sample", "y_true", "y_pred"]


def ledger_frame(problems: Sequence[Problem], settings: Settings, *, ensembles: bool = False) -> pd.DataFrame:
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
        Columns ``dataset, target, variant, repeat, fold, role, sample, y_true, y_pred`` and probabilities.
    """
    import pandas as pd

    parts = [
        ((problem.dataset, problem.target, chain.variant, fold.repeat, fold.fold, role), fold.role(role), chain)
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
    labels = {label: None for _, chain in parts if chain.classes is not None for label in chain.classes.tolist()}
    known = any(part.probabilities is not None for part, _ in parts)
    columns = {label: np.full(sum(len(part) for part, _ in parts), np.nan) for label in (labels if known else ())}
    begin = 0
    for part, chain in parts:
        if part.probabilities is not None and chain.classes is not None:
            for place, label in enumerate(chain.classes.tolist()):
                columns[label][begin : begin + len(part)] = part.probabilities[:, place]
        begin += len(part)
    return {f"p({label})": column for label, column in columns.items()}


def _ledgers(problem: Problem, chain: Chain, settings: Settings, ensembles: bool) -> Iterator[FoldLedger]:
    yield from chain.folds
    if ensembles:
        scoring = settings.scoring(problem.truth.task)
        weights = chain_scores(chain, scoring).weights
        confidence = scoring.weighting == "compat"
        val = chain.validation()
        yield FoldLedger("avg", 0, ensemble(chain, "train"), val, ensemble(chain, "test"))
        parts = (ensemble(chain, role, weights, confidence=confidence) for role in ("train", "test"))
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
    for (dataset, target, variant), rows in frame.groupby(["dataset", "target", "variant"], sort=False):
        classes = None
        if task == "classification":
            classes = np.unique(np.concatenate([rows["y_true"].to_numpy(), rows["y_pred"].to_numpy()]))
        ledgers = {}
        for (fold, repeat), part in rows.groupby(["fold", "repeat"], sort=False):
            parts = []
            for role in ROLES:
                of = part[part["role"] == role]
                share = of[labels].to_numpy() if labels and of[labels].notna().all(axis=None) else None
                truth, predicted = of["y_true"].to_numpy(), of["y_pred"].to_numpy()
                parts.append(Predictions(of["sample"].to_numpy(), truth, predicted, share))
            ledgers[fold] = FoldLedger(fold, int(repeat), *parts)
        numbers = sorted((fold for fold in ledgers if fold != FINAL), key=int)
        folds = tuple(ledgers[number] for number in numbers)
        chains[dataset, target, variant] = Chain(variant, task, folds, ledgers.get(FINAL), classes)
    return chains
