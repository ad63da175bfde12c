"""PG145 and PG146: choosing on test, that is the best of many variants by the very scores that are then shown.

Nothing in it looks wrong row by row. What a store tells: how many variants of one method were
scored on the test rows, how much the best of them flatters, and what comes of the choice when it is
made without the fold that it is then scored on. What tables and claims tell: that only the best
variants are shown, or on every dataset another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
import pandas as pd

from paragone.checks.claims import PaperClaim
from paragone.checks.finding import Ledger
from paragone.checks.tables import PublishedNumber, PublishedTable, is_numeric, numbers_in
from paragone.checks.words import counted
from paragone.lab.view import View
from paragone.metrics import named_metric
from paragone.validation import FloatArray, IntArray

CHECK = "variants of one method, scored on the test rows"
SHOWN = "variants that tables show"
CLAIMED = "variants that are claimed"
FEWEST = 3
"""Two settings of one method are a comparison; from three on the best of them is a choice."""
SELDOM = 1 / 3
"""As often as this, or less, the variants shown must be the best by chance: one of three, for instance."""
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


def _families(view: View) -> list[VariantFamily]:
    """Return the families of a store; of results from elsewhere nobody knows what was run."""
    return [] if view.reader.kept_records(view) is not None else families(view.described["methods"])


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


def _folds(
    view: View, methods: Sequence[str], metric: str, datasets: Iterable[str] = ()
) -> pd.DataFrame | None:
    """Return the scores of methods, a row for every fold that all of them have; None where there is no single grid."""
    if len(view.grids) != 1:
        return None
    rows = view.grids[0].folds
    rows = rows[(rows["metric"] == metric) & rows["method"].isin(list(methods))]
    if wanted := list(datasets):
        rows = rows[rows["dataset"].isin(wanted)]
    table = rows.pivot_table(
        index=["dataset", "fold"], columns="method", values="value", aggfunc="mean", sort=False
    )
    return table.reindex(columns=list(methods)).dropna()


def _weighed(
    view: View, family: VariantFamily, metric: str, datasets: Iterable[str] = ()
) -> ChoiceOnTest | None:
    higher = named_metric(metric).higher_is_better
    table = _folds(view, family.methods, metric, datasets)
    if higher is None or table is None or len(table) < 2:
        return None
    codes = pd.factorize(table.index.get_level_values("dataset"))[0]
    return choice(table.to_numpy(dtype=np.float64), codes.astype(np.int64), higher)


def _metrics(view: View) -> list[str]:
    return [str(name) for name in view.tidy_scores["metric"].unique()]


def _in_words(found: ChoiceOnTest, family: VariantFamily, metric: str) -> str:
    luck = abs(found.shown - found.chosen)
    return (
        f"{family.methods[found.best]} is the best of {len(family.methods)} variants of"
        f" {family.name} by the {metric} of the test rows, with {found.shown:.4g}; chosen without"
        f" the fold that it is then scored on, the choice comes to {found.chosen:.4g}, so about"
        f" {luck:.2g} is the luck of choosing"
    )


def check_best_of_many(view: View, ledger: Ledger) -> None:
    """Note families of variants that were scored on the test rows, and how much the best of them flatters (PG145)."""
    found = _families(view)
    directed = [name for name in _metrics(view) if named_metric(name).higher_is_better is not None]
    if not found or not directed:
        return
    metric = directed[0]
    ledger.look(CHECK, len(found), "sets of variants", f"by {metric}")
    for family in found:
        weighed = _weighed(view, family, metric)
        if weighed is None:
            ledger.miss(
                CHECK,
                1,
                "sets of variants",
                f"{family.name}: fewer than two folds that all have, or several grids",
            )
            continue
        ledger.find(
            "PG145",
            f"{_in_words(weighed, family, metric)}. It leads their mean by {weighed.lead:.2g}, and"
            f" the best of as many equally good ones would by {weighed.by_chance:.2g} (p ="
            f" {weighed.p:.2g})",
            count=len(family.methods),
            total=len(view.described["methods"]),
        )


# ---------------------------------------------------------------- tables


@dataclass(frozen=True, eq=False)
class ShownVariants:
    """Variants by one metric, and which of them tables show.

    Attributes
    ----------
    family : VariantFamily
        The variants.
    metric : str
        By what.
    means : DataFrame
        Datasets by variants, means over folds of the test rows.
    higher : bool
        Whether higher is better.
    spelt : mapping of str to set of str
        How each variant may be called.
    shown : tuple of str
        Those that some row or column is called after.
    """

    family: VariantFamily
    metric: str
    means: pd.DataFrame
    higher: bool
    spelt: Mapping[str, set[str]]
    shown: tuple[str, ...]

    @property
    def best_of_each(self) -> pd.Series[float]:
        """The best mean of each dataset."""
        return self.means.max(axis=1) if self.higher else self.means.min(axis=1)

    @property
    def are_the_best(self) -> bool:
        """Whether all that are shown are better than all that are not."""
        overall = self.means.mean() * (1 if self.higher else -1)
        shown = list(self.shown)
        return bool(overall[shown].min() > overall.drop(shown).max() + SAME)


def check_shown_variants(
    tables: Sequence[PublishedTable], view: View, names: Mapping[str, str], ledger: Ledger
) -> None:
    """Find tables that show only the best variants by test score, or the best of each dataset as one method (PG146)."""
    found = _families(view)
    ledger.look(SHOWN, len(found), "sets of variants")
    texts = {
        text
        for table in tables
        for text in (*table.columns, *(row[0].text for row in table.rows if row))
    }
    for family in found:
        spelt = {name: {name, names.get(name, name)} for name in family.methods}
        shown = tuple(name for name in family.methods if spelt[name] & texts)
        if len(shown) == len(family.methods):
            continue
        for metric in _metrics(view):
            higher = named_metric(metric).higher_is_better
            folds = _folds(view, family.methods, metric)
            if higher is None or folds is None or folds.empty:
                continue
            means = folds.groupby("dataset", sort=False).mean()
            one = ShownVariants(family, metric, means, higher, spelt, shown)
            if _only_best(tables, one, view, ledger) or any(
                _best_of_each(table, one, ledger) for table in tables
            ):
                break


def _only_best(
    tables: Sequence[PublishedTable], one: ShownVariants, view: View, ledger: Ledger
) -> bool:
    """Judge a family of which the tables show some variants only."""
    family, shown = one.family, one.shown
    tries = comb(len(family.methods), len(shown))
    if (
        not shown
        or 1 / tries > SELDOM
        or not one.are_the_best
        or not any(_prints(table, one) for table in tables)
    ):
        return False
    weighed = _weighed(view, family, one.metric)
    told = f"; {_in_words(weighed, family, one.metric)}" if weighed is not None else ""
    ledger.find(
        "PG146",
        f"the tables show {', '.join(shown)} and not the other {len(family.methods) - len(shown)}"
        f" variants of {family.name} in the store, all of which have a worse {one.metric} on the"
        f" test rows; a choice that does not know them would be such once in {tries}{told}",
        method=shown[0] if len(shown) == 1 else "",
        count=len(shown),
        total=len(family.methods),
    )
    return True


def _prints(table: PublishedTable, one: ShownVariants) -> bool:
    """Whether a table prints the mean of a variant that it shows, by this metric, on some dataset."""
    for name, dataset, number in _numbers(table):
        for method in one.shown:
            is_his = name in one.spelt[method] and dataset in one.means.index
            if is_his and number.agrees(float(one.means.loc[dataset, method])):
                return True
    return False


def _numbers(table: PublishedTable) -> Iterator[tuple[str, str, PublishedNumber]]:
    """Walk over the numbers of a table under both readings: methods down and datasets across, and the other way."""
    for row in table.rows:
        for column, cell in zip(table.columns[1:], row[1:], strict=False):
            if is_numeric(cell.text) and (numbers := numbers_in(cell.text)):
                yield row[0].text, column, numbers[0]
                yield column, row[0].text, numbers[0]


def _best_of_each(table: PublishedTable, one: ShownVariants, ledger: Ledger) -> bool:
    """Judge rows or columns that are no method of the store: every number may be that of the best variant there."""
    known = {name for names in one.spelt.values() for name in names}
    by_name: dict[str, dict[str, PublishedNumber]] = {}
    for name, dataset, number in _numbers(table):
        if dataset in one.means.index and name not in known:
            by_name.setdefault(name, {})[dataset] = number
    best = one.best_of_each
    for name, printed in by_name.items():
        # One number proves nothing.
        if len(printed) < 2 or not all(
            number.agrees(float(best[where])) for where, number in printed.items()
        ):
            continue
        means = one.means.loc[list(printed)]
        winners = means.idxmax(axis=1) if one.higher else means.idxmin(axis=1)
        ledger.find(
            "PG146",
            f"table {table.number}: {name!r} is not a method of the store, and its numbers are on"
            f" each of {counted(len(printed), 'datasets')} those of the variant of"
            f" {one.family.name}, of {len(one.family.methods)}, that has the best {one.metric} on"
            " the test rows there",
            file=table.file,
            count=len(printed),
            total=len(printed),
            examples=tuple(f"{dataset}: {winners[dataset]}" for dataset in printed),
        )
        return True
    return False


# ---------------------------------------------------------------- claims


def check_claimed_variants(
    claims: Sequence[PaperClaim], view: View, ledger: Ledger, file: str = ""
) -> None:
    """Find claims about the best variant that do not hold for a choice made without the scores claimed (PG146)."""
    found = _families(view)
    claimed = {method for claim in claims for method in claim.methods[:1]}
    looked = [
        (claim, family)
        for claim in claims
        for family in found
        if claim.methods[0] in family.methods
    ]
    ledger.look(CLAIMED, len(looked), "claims")
    for claim, family in looked:
        narrowed = view.narrowed(metric=claim.metric, at=claim.at, datasets=claim.datasets)
        weighed = _weighed(narrowed, family, claim.metric)
        # Whoever claims something of every variant has chosen none.
        if (
            weighed is None
            or family.methods[weighed.best] != claim.methods[0]
            or claimed >= set(family.methods)
        ):
            continue
        words = _lost(claim, family, weighed, narrowed)
        if words:
            ledger.find(
                "PG146",
                f"{claim.where}: {_in_words(weighed, family, claim.metric)}{words}",
                file=file,
                method=claim.methods[0],
                count=1,
                total=len(claims),
            )


def _lost(claim: PaperClaim, family: VariantFamily, weighed: ChoiceOnTest, view: View) -> str:
    """Say what becomes of a claim when the variant is chosen without the scores: nothing where it stands."""
    higher = bool(named_metric(claim.metric).higher_is_better)
    if claim.kind == "value":
        (printed,) = numbers_in(claim.value)
        return "" if printed.agrees(weighed.chosen) else f"; {claim.value} is what the best one has"
    if claim.kind == "equal":
        return ""
    rivals = claim.methods[1:] or tuple(
        name for name in view.described["methods"] if name not in family.methods
    )
    for rival in rivals:
        folds = _folds(view, [rival], claim.metric)
        if rival in family.methods or folds is None or folds.empty:
            continue
        mean = float(folds[rival].groupby("dataset", sort=False).mean().mean())
        ahead = (weighed.chosen - mean) * (1 if higher else -1)
        if ahead <= claim.margin:
            return f", and {rival} has {mean:.4g}"
    return ""
