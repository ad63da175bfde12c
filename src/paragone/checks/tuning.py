"""PG112: choices that do not follow from the inner scores that the store keeps.

What a store tells about a choice is checked: the parameters that tuning took must be those of its
best inner score; the variants that were refitted must be those that the cross-validation's own
scores select; the epoch that a recommender took must be the best on its validation rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from paragone.checks.finding import Ledger
from paragone.checks.registry import check
from paragone.checks.words import agree, share
from paragone.lab.store.records import StoredCell
from paragone.lab.view import StageChoice, View
from paragone.metrics import named_metric
from paragone.ties import best_losses, least_loss

CHECK = "choices against inner scores"


@check(
    "PG112",
    "error",
    "a choice that does not follow from inner scores",
    "choose parameters and variants by inner splits or cross-validation alone, and run again",
    of="store",
)
def check_tuning(view: View, ledger: Ledger) -> None:
    """Check the parameters that were tuned, the epochs that were chosen, and what later stages took."""
    methods = view.described["methods"]
    checked = 0
    wrong: dict[str, list[str]] = {}
    for cell in view.cells.cells:
        info = view.cells.info(cell)
        params = methods.get(cell.method, {}).get("params", {})
        for judged in (_tuned(cell, info, params), _epoch(cell, info)):
            checked += judged is not None
            if judged:
                wrong.setdefault(cell.method, []).append(judged)
    ledger.look(CHECK, checked, "tuned cells")
    for method, lines in wrong.items():
        of = share(len(lines), checked, "tuned cells")
        message = f"in {of} the choice is not the best by inner scores"
        ledger.find("PG112", message, len(lines), checked, lines, method=method)
    check_selection(view.reader.stage_choices(view), ledger)


def _tuned(cell: StoredCell, info: dict[str, Any], params: dict[str, Any]) -> str | None:
    """Judge tuned parameters: None where there are none, empty where they are right."""
    if "tuned" not in info or not info.get("candidates"):
        return None
    metric = str(params.get("metric", "micro_f1"))
    known = named_metric(metric)
    candidates = info["candidates"]
    losses = [-one["score"] if known.higher_is_better else one["score"] for one in candidates]
    taken = [place for place, one in enumerate(candidates) if one["params"] == info["tuned"]]
    right = best_losses(losses, size=known.score_size)
    if any(right[place] for place in taken):
        return ""
    best = candidates[least_loss(losses, size=known.score_size)]
    was = "which was no candidate"
    if taken:
        nearest = candidates[min(taken, key=losses.__getitem__)]
        was = f"inner {metric} {nearest['score']:.4g}"
    return f"{cell}: {info['tuned']} ({was}) was taken, {best['params']} has {best['score']:.4g}"


def _epoch(cell: StoredCell, info: dict[str, Any]) -> str | None:
    """Judge a chosen epoch against the history of evaluations that chose it."""
    history = [
        entry for entry in info.get("history", ()) if isinstance(entry, dict) and "metrics" in entry
    ]
    rule, _, where = str(info.get("chosen_by", "")).partition(" on ")
    name, _, k = rule.partition("@")
    if not history or "epoch" not in info or not k.isdigit():
        return None
    if where == "test":
        return f"{cell}: epoch {info['epoch']} was chosen on the test rows"
    known = [key for key in history[0]["metrics"] if key.partition("[")[0] == name]
    if not known or int(k) not in history[0].get("ks", ()):
        return None
    values = [entry["metrics"][known[0]][entry["ks"].index(int(k))] for entry in history]
    epochs = [entry["epoch"] for entry in history]
    losses, size = [-value for value in values], named_metric(name).score_size
    if info["epoch"] in epochs and best_losses(losses, size=size)[epochs.index(info["epoch"])]:
        return ""
    best = epochs[least_loss(losses, size=size)]
    return f"{cell}: epoch {info['epoch']} was taken, epoch {best} has the best {rule} on {where}"


def check_selection(choices: Iterable[StageChoice], ledger: Ledger) -> None:
    """Check that what a later stage took is what the scores of the first stage choose."""
    checked = 0
    for one in choices:
        checked += 1
        strange = set(one.taken) - set(one.chosen)
        if set(one.taken) != set(one.chosen):
            by_test = set(one.by_test[: len(one.taken)]) == set(one.taken)
            hint = "; they are the best by test score" if by_test else ""
            ledger.find(
                "PG112",
                f"{share(len(strange), len(one.taken), 'refitted pipelines')}"
                f" {agree(len(strange), 'is not one', 'are not those')} that the cross-validation"
                f" selects{hint}",
                len(strange),
                len(one.taken),
                [
                    f"refitted: {', '.join(one.taken)}",
                    f"selected by cross-validation: {', '.join(one.chosen)}",
                ],
                dataset=one.dataset,
            )
    ledger.look(CHECK, checked, "selections of pipelines")
