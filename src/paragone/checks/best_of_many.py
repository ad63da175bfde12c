"""PG145: choosing on test, that is the best of many variants by the very scores that are then shown.

Nothing in it looks wrong row by row. What a store tells: how many variants of one method were
scored on the test rows, how much the best of them flatters, and what comes of the choice when it is
made without the fold that it is then scored on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from paragone.checks.arrays import codes_of
from paragone.checks.finding import Ledger
from paragone.checks.registry import check
from paragone.lab.view import View
from paragone.metrics import named_metric
from paragone.validation import FloatArray, IntArray

CHECK = "variants of one method, scored on the test rows"
FEWEST = 3
"""Two settings of one method are a comparison; from three on the best of them is a choice."""
SHUFFLES = 999
MOST_VALUES = 20_000_000
SAME = 1e-12


@dataclass(frozen=True)
class VariantFamily:
    """Methods of one class, or chain of classes, with different parameters."""

    name: str
    methods: tuple[str, ...]


def families(methods: Mapping[str, Any]) -> list[VariantFamily]:
    """Return the methods that are variants of each other, three or more.

    Examples
    --------
    >>> use = "sklearn.neighbors:KNeighborsClassifier"
    >>> knn = {f"k{k}": {"use": use, "params": {"n_neighbors": k}} for k in (1, 3, 5)}
    >>> families({**knn, "tree": {"use": "sklearn.tree:DecisionTreeClassifier"}})
    [VariantFamily(name='KNeighborsClassifier', methods=('k1', 'k3', 'k5'))]
    """
    alike: dict[tuple[str, ...], list[str]] = {}
    for name, described in methods.items():
        if uses := tuple(_uses(described)):
            alike.setdefault(uses, []).append(name)
    return [
        VariantFamily(" > ".join(use.rpartition(":")[2] for use in uses), tuple(names))
        for uses, names in alike.items()
        if len(names) >= FEWEST
    ]


def _uses(described: Any) -> Iterator[str]:
    """Walk over the classes that a description names, from the outside in."""
    if isinstance(described, Mapping):
        if isinstance(described.get("use"), str):
            yield described["use"]
        for key, value in described.items():
            if key != "use":
                yield from _uses(value)
    elif isinstance(described, list | tuple):
        for value in described:
            yield from _uses(value)


@dataclass(frozen=True)
class ChoiceOnTest:
    """The best of some variants by test scores, and what the choosing is worth.

    Attributes
    ----------
    best : int
        Which one.
    shown : float
        Its mean over datasets.
    chosen : float
        The mean when every fold is scored with the variant that is best on all other folds.
    lead, by_chance : float
        How far the best is above the mean of all, and how far it would be if all were equally good.
    p : float
        How often the best of equally good ones would lead by as much.
    """

    best: int
    shown: float
    chosen: float
    lead: float
    by_chance: float
    p: float


def choice(
    scores: FloatArray, datasets: IntArray, higher_is_better: bool = True, seed: int = 0
) -> ChoiceOnTest | None:
    """Weigh the choice of the best variant; None where there are fewer than two folds in all.

    Parameters
    ----------
    scores : ndarray of shape (n_folds, n_variants)
        A row for every fold of every dataset.
    datasets : ndarray of int
        The dataset of each row, from 0.
    higher_is_better : bool, default=True
        The direction of the scores.
    seed : int, default=0
        Of the shuffles.

    Returns
    -------
    ChoiceOnTest or None
        Chance is all variants exchanged within each fold, at random.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> luck = choice(0.8 + 0.02 * rng.normal(size=(10, 25)), np.repeat([0, 1], 5))
    >>> luck.shown > luck.chosen, luck.p > 0.05
    (True, True)
    >>> skill = choice(np.linspace(0.6, 0.9, 25) + 0.001 * rng.normal(size=(10, 25)), np.repeat([0, 1], 5))
    >>> bool(abs(skill.shown - skill.chosen) < 1e-9), skill.p <= 0.001
    (True, True)
    """
    n_folds = len(scores)
    if n_folds < 2:
        return None
    sign = 1.0 if higher_is_better else -1.0
    weights = _weights(datasets)
    means = weights @ scores
    best = int(np.argmax(sign * means))
    left = np.empty(n_folds)
    for fold in range(n_folds):
        others = np.arange(n_folds) != fold
        left[fold] = scores[
            fold, int(np.argmax(sign * (_weights(datasets[others]) @ scores[others])))
        ]
    rng = np.random.default_rng(seed)
    rounds = int(np.clip(MOST_VALUES // scores.size, 99, SHUFFLES))
    middle = float(means.mean())
    leads = [
        float((sign * (weights @ rng.permuted(scores, axis=1) - middle)).max())
        for _ in range(rounds)
    ]
    lead = sign * (float(means[best]) - middle)
    p = (1 + sum(one >= lead - SAME for one in leads)) / (1 + rounds)
    return ChoiceOnTest(
        best, float(means[best]), float(weights @ left), lead, float(np.mean(leads)), p
    )


def _weights(datasets: IntArray) -> FloatArray:
    """Weigh folds so that every dataset counts the same."""
    names, codes = np.unique(datasets, return_inverse=True)
    return np.asarray(1.0 / (len(names) * np.bincount(codes)[codes]))


def _weighed(view: View, family: VariantFamily, metric: str) -> ChoiceOnTest | None:
    """Weigh a choice on the folds that all variants have; None where there is no single grid of them."""
    if len(view.grids) != 1:
        return None
    rows = view.grids[0].folds
    rows = rows[(rows["metric"] == metric) & rows["method"].isin(family.methods)]
    table = rows.pivot_table(
        index=["dataset", "fold"], columns="method", values="value", aggfunc="mean", sort=False
    )
    table = table.reindex(columns=list(family.methods)).dropna()
    codes = codes_of(table.index.get_level_values("dataset").astype(str))
    higher = bool(named_metric(metric).higher_is_better)
    return choice(table.to_numpy(dtype=np.float64), codes, higher)


@check(
    "PG145",
    "note",
    "several variants of one method, all scored on the test rows",
    "show all of them, or choose one by inner splits (tune): the figure of the best one by test is too good",
    of="store",
)
def check_best_of_many(view: View, ledger: Ledger) -> None:
    """Note families of variants that were scored on the test rows, and how much the best of them flatters (PG145)."""
    methods = view.described["methods"]
    if any(one.code == "PG301" for one in ledger.findings):
        why = "scores do not follow from their predictions"
        ledger.miss(CHECK, len(methods), "methods", why)
        return
    # Of results from elsewhere nobody knows what was run.
    given = view.reader.kept_records(view) is not None
    found = [] if given else families(methods)
    metrics = [str(name) for name in view.tidy_scores["metric"].unique()] if found else []
    directed = [name for name in metrics if named_metric(name).higher_is_better is not None]
    if not directed:
        return
    metric = directed[0]
    ledger.look(CHECK, len(found), "sets of variants", f"by {metric}")
    for family in found:
        weighed = _weighed(view, family, metric)
        if weighed is None:
            why = f"{family.name}: fewer than two folds that all have, or several grids"
            ledger.miss(CHECK, 1, "sets of variants", why)
            continue
        luck = abs(weighed.shown - weighed.chosen)
        ledger.find(
            "PG145",
            f"{family.methods[weighed.best]} is the best of {len(family.methods)} variants of"
            f" {family.name} by the {metric} of the test rows, with {weighed.shown:.4g}; chosen"
            f" without the fold that it is then scored on, the choice comes to {weighed.chosen:.4g},"
            f" so about {luck:.2g} is the luck of choosing. It leads their mean by"
            f" {weighed.lead:.2g}, and the best of as many equally good ones would by"
            f" {weighed.by_chance:.2g} (p = {weighed.p:.2g})",
            len(family.methods),
            len(methods),
        )
