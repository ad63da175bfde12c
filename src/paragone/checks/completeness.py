"""PG401 to PG405: cells that are not there, and what that does to the conclusions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paragone.checks.finding import SHOWN, Ledger
from paragone.checks.registry import check
from paragone.checks.words import agree, counted, share
from paragone.errors import InputError
from paragone.lab.experiment import Experiment
from paragone.lab.store import Store
from paragone.lab.view import View
from paragone.metrics import named_metric
from paragone.stats import compare

if TYPE_CHECKING:
    import pandas as pd

CHECK = "completeness"
DECLARED = "the declaration against the plan in the store"
MOST_METHODS = 50
CODE_OF_STATUS = {
    "missing": "PG401",
    "running": "PG401",
    "failed": "PG402",
    "timeout": "PG403",
    "stale": "PG404",
}


@check(
    "PG401",
    "warning",
    "missing cells",
    "run the experiment again: it goes on where it was",
    of="store",
)
@check(
    "PG402",
    "warning",
    "failed cells",
    "see `paragone status STORE --tracebacks`; mend and run with --retry-failed",
    of="store",
)
@check(
    "PG403",
    "warning",
    "cells that ran out of time",
    "raise limits.seconds and run with --retry-failed",
    of="store",
)
@check(
    "PG404",
    "warning",
    "stale cells",
    "run the experiment again: what a result depends on has changed",
    of="store",
)
@check(
    "PG405",
    "error",
    "a verdict that hangs on incomplete datasets",
    "complete the cells before drawing a conclusion, or report both verdicts",
    of="store",
)
def check_completeness(view: View, ledger: Ledger) -> None:
    """Count the cells that have no result, and say what they do to the comparison."""
    places = view.places.assign(done=view.places["status"] == "done")
    ledger.look(CHECK, len(places), "planned cells")
    if places["done"].all():
        return
    effect = _effect(places)
    for code in dict.fromkeys(CODE_OF_STATUS.values()):
        rows = places[places["status"].map(CODE_OF_STATUS) == code]
        if len(rows):
            by_method = rows.groupby("method", sort=False).size()
            methods = [f"{count} of {method}" for method, count in by_method.items()]
            ledger.find(
                code,
                f"{share(len(rows), len(places), 'cells')} ({_first(methods, 'methods')}); {effect}",
                len(rows),
                len(places),
                [
                    f"{row.method} on {row.dataset}, fold {row.fold}:"
                    f" {row.status}{': ' * bool(row.why)}{row.why}"
                    for row in rows.head(SHOWN).itertuples()
                ],
            )
    _check_verdicts(view, places, ledger)


def _effect(places: pd.DataFrame) -> str:
    """Say which datasets are incomplete, and which methods have none that is complete."""
    whole = places.groupby(["dataset", "method"], sort=False)["done"]
    complete, nothing = whole.all().unstack("method"), ~whole.any().unstack("method")
    incomplete = complete.index[~complete.all(axis=1)].tolist()
    dropped = nothing.index[nothing.any(axis=1)].tolist()
    lost = nothing.columns[nothing.all(axis=0)].tolist()
    are = agree(len(incomplete), "is", "are")
    text = f"{share(len(incomplete), len(complete), 'datasets')} {are} incomplete ({_first(incomplete)})"
    if dropped:
        drop = agree(len(dropped), "drops", "drop")
        text += (
            f"; {len(dropped)} {drop} out of comparisons, since a method has no result there"
            f" ({_first(dropped)})"
        )
    if lost:
        text += f"; without any result: {_first(lost)}"
    return text


def _first(names: list[str], things: str = "") -> str:
    more = len(names) - SHOWN
    text = ", ".join(names[:SHOWN])
    if more <= 0:
        return text
    return f"{text} and {counted(more, f'more {things}') if things else f'{more} more'}"


@dataclass(frozen=True)
class _Verdict:
    """What a comparison concludes: who leads, and who is significantly better than whom."""

    leader: str
    better: frozenset[tuple[str, str]]

    def __str__(self) -> str:
        if not self.better:
            return f"{self.leader} has the best mean, no difference is significant"
        pairs = "; ".join(
            f"{winner} is better than {loser}" for winner, loser in sorted(self.better)
        )
        return f"{self.leader} has the best mean; {pairs}"


def _check_verdicts(view: View, places: pd.DataFrame, ledger: Ledger) -> None:
    """Compare the verdict on all datasets with the one on those that are complete."""
    done = places.groupby("dataset", sort=False)["done"].all()
    complete = set(done.index[done])
    for (protocol, metric), rows in view.tidy_scores.groupby(["protocol", "metric"], sort=False):
        if named_metric(metric).higher_is_better is None:
            continue
        n_methods = rows["method"].nunique()
        with_all, reason = None, f"{n_methods} methods are more than {MOST_METHODS}"
        if n_methods <= MOST_METHODS:
            with_all, reason = _verdict(rows, metric)
        if with_all is None:
            ledger.miss("verdict without incomplete datasets", 1, "verdicts", f"{metric}: {reason}")
            continue
        without, reason = _verdict(rows[rows["dataset"].isin(complete)], metric)
        if with_all == without:
            continue
        other = str(without) if without is not None else f"no verdict can be had ({reason})"
        n_all, n_complete = rows["dataset"].nunique(), len(complete & set(rows["dataset"]))
        ledger.find(
            "PG405",
            f"{metric} ({protocol}): on all {counted(n_all, 'datasets')}, incomplete ones with the"
            f" folds they have: {with_all}; on the {counted(n_complete, 'complete ones')}: {other}",
            n_all - n_complete,
            n_all,
        )


def _verdict(rows: pd.DataFrame, metric: str) -> tuple[_Verdict | None, str]:
    columns = ["dataset", "fold", "method", "metric", "at", "value"]
    try:
        # Verdicts are by p alone: intervals need not be sharp.
        found = compare(rows[columns], metric=metric, bayes=False)
    except InputError as error:
        return None, str(error)
    better = set()
    for pair in found.pairs:
        if pair.word in ("better", "worse"):
            names = (pair.method, pair.rival)
            better.add(names if pair.word == "better" else names[::-1])
    return _Verdict(found.leader, frozenset(better)), ""


def check_declaration(experiment: Experiment, store: Store, ledger: Ledger) -> None:
    """Find cells of the store's plan that the experiment, as it is declared now, would not give."""
    planned = store.planned_parts(experiment.name)
    mine = {cell.place: cell.parts for cell in experiment.cells()}
    changed = {
        place: ", ".join(parts.changed(planned[place]))
        for place, parts in mine.items()
        if place in planned and planned[place] != parts
    }
    ledger.look(DECLARED, len(mine), "cells")
    count = len(changed)
    if changed:
        by_part = Counter(changed.values()).items()
        why = "; ".join(f"{number} because {what} changed" for what, number in by_part)
        ledger.find(
            "PG404",
            f"{share(count, len(mine), 'cells')} {agree(count, 'is not one', 'are not those')} of"
            f" the experiment as it stands now: {why}",
            count,
            len(mine),
            [
                f"{method} on {dataset}, fold {fold}: {what} changed since it was planned"
                for (dataset, fold, method, *_), what in changed.items()
            ],
        )
