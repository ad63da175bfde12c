"""PG401 to PG405: cells that are not there, and what that does to the conclusions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from paragone.checks.finding import SHOWN, Ledger
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


def check_completeness(view: View, ledger: Ledger) -> None:
    """Count the cells that have no result, and say what they do to the comparison."""
    places = view.places
    ledger.look(CHECK, len(places), "planned cells")
    there = places["status"] == "done"
    if there.all():
        return
    effect = _effect(places)
    for code in dict.fromkeys(CODE_OF_STATUS.values()):
        rows = places[places["status"].map(CODE_OF_STATUS) == code]
        if len(rows):
            ledger.find(
                code,
                f"{share(len(rows), len(places), 'cells')} ({_by_method(rows)}); {effect}",
                count=len(rows),
                total=len(places),
                examples=[
                    f"{row.method} on {row.dataset}, fold {row.fold}:"
                    f" {row.status}{': ' * bool(row.why)}{row.why}"
                    for row in rows.head(SHOWN).itertuples()
                ],
            )
    _check_verdicts(view, places, ledger)


def _by_method(rows: pd.DataFrame) -> str:
    counts = rows.groupby("method", sort=False).size()
    shown = [f"{count} of {method}" for method, count in counts.items()]
    return ", ".join(shown[:SHOWN]) + (
        f" and {counted(len(shown) - SHOWN, 'more methods')}" if len(shown) > SHOWN else ""
    )


def _effect(places: pd.DataFrame) -> str:
    """Say which datasets are incomplete, and which methods have none that is complete."""
    whole = places.assign(done=places["status"] == "done").groupby(
        ["dataset", "method"], sort=False
    )["done"]
    complete, nothing = whole.all().unstack("method"), ~whole.any().unstack("method")
    incomplete = complete.index[~complete.all(axis=1)].tolist()
    dropped = nothing.index[nothing.any(axis=1)].tolist()
    lost = nothing.columns[nothing.all(axis=0)].tolist()
    are = agree(len(incomplete), "is", "are")
    text = (
        f"{share(len(incomplete), len(complete), 'datasets')} {are} incomplete"
        f" ({_listed(incomplete)})"
    )
    if dropped:
        drop = agree(len(dropped), "drops", "drop")
        text += (
            f"; {len(dropped)} {drop} out of comparisons, since a method has no result there"
            f" ({_listed(dropped)})"
        )
    if lost:
        text += f"; without any result: {_listed(lost)}"
    return text


def _listed(names: list[str]) -> str:
    return ", ".join(names[:SHOWN]) + (
        f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    )


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
    done = (
        places.assign(done=places["status"] == "done").groupby("dataset", sort=False)["done"].all()
    )
    complete = set(done.index[done])
    for (protocol, metric), rows in view.tidy_scores.groupby(["protocol", "metric"], sort=False):
        if named_metric(metric).higher_is_better is None:
            continue
        if rows["method"].nunique() > MOST_METHODS:
            why = f"{metric}: {rows['method'].nunique()} methods are more than {MOST_METHODS}"
            ledger.miss("verdict without incomplete datasets", 1, "verdicts", why)
            continue
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
            count=n_all - n_complete,
            total=n_all,
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
    changed: dict[str, int] = {}
    examples = []
    for place, parts in mine.items():
        if place in planned and planned[place] != parts:
            what = ", ".join(parts.changed(planned[place]))
            changed[what] = changed.get(what, 0) + 1
            examples.append(
                f"{place[2]} on {place[0]}, fold {place[1]}: {what} changed since it was planned"
            )
    ledger.look(DECLARED, len(mine), "cells")
    if changed:
        count = sum(changed.values())
        why = "; ".join(f"{number} because {what} changed" for what, number in changed.items())
        ledger.find(
            "PG404",
            f"{share(count, len(mine), 'cells')} {agree(count, 'is not one', 'are not those')} of"
            f" the experiment as it stands now: {why}",
            count=count,
            total=len(mine),
            examples=examples,
        )
