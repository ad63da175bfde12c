"""The chains of a ledger frame, read from nothing else."""

from __future__ import annotations

import numpy as np

from paragone.protocols.crossval.ledger import Chain, FoldLedger, Predictions


def chains_of_ledger(frame, task):
    """Make the chains of a ledger frame: all scores can be recomputed from it alone."""
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
            for role in ("train", "val", "test"):
                of = part[part["role"] == role]
                share = (
                    of[labels].to_numpy() if labels and of[labels].notna().all(axis=None) else None
                )
                truth, predicted = of["y_true"].to_numpy(), of["y_pred"].to_numpy()
                parts.append(Predictions(of["sample"].to_numpy(), truth, predicted, share))
            ledgers[fold] = FoldLedger(fold, int(repeat), *parts)
        numbers = sorted((fold for fold in ledgers if fold != "final"), key=int)
        folds = tuple(ledgers[number] for number in numbers)
        chains[dataset, target, variant] = Chain(
            variant, task, folds, ledgers.get("final"), classes
        )
    return chains
