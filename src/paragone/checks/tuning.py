"""PG112: choices that do not follow from the inner scores that the store keeps.

What a store tells about a choice is checked: the parameters that tuning took must be those of its best inner score; the
variants that were refitted must be those that the cross-validation's own scores select; the epoch that a recommender
took must be the best on its validation rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from paragone.checks.finding import Ledger
from paragone.checks.recomputed import ChainFigures, Recomputation
from paragone.directions import higher_is_better, score_size
from paragone.lab.store.records import CellRecord, CellRecords
from paragone.protocols.crossval.problem import Problem
from paragone.protocols.crossval.scores import Criterion, Scoring
from paragone.protocols.crossval.variants import simplicity
from paragone.results import Results
from paragone.results.chains import CrossvalRun
from paragone.ties import best_losses, least_loss, loss_order, slack_of

CHECK = "choices against inner scores"


def check_tuning(records: CellRecords, results: Results, experiment: str, ledger: Ledger) -> None:
    """Check the parameters that were tuned and the epochs that were chosen."""
    methods = results.described(experiment)["methods"]
    checked = 0
    wrong: dict[str, list[str]] = {}
    for cell in records.cells:
        info = records.fit_info(cell)
        params = methods.get(cell.method, {}).get("params", {})
        for judged in (_tuned(cell, info, params), _epoch(cell, info)):
            if judged is not None:
                checked += 1
                if judged:
                    wrong.setdefault(cell.method, []).append(judged)
    ledger.look(CHECK, checked, "tuned cells")
    for method, lines in wrong.items():
        ledger.find(
            "PG112",
            f"in {len(lines)} of {checked} tuned cells the choice is not the best by inner scores",
            method=method,
            count=len(lines),
            total=checked,
            examples=lines,
        )


def _tuned(cell: CellRecord, info: dict[str, Any], params: dict[str, Any]) -> str | None:
    """Judge tuned parameters: None where there are none, empty where they are right."""
    if "tuned" not in info or not info.get("candidates"):
        return None
    metric = str(params.get("metric", "micro_f1"))
    sign = 1.0 if higher_is_better(metric) else -1.0
    scores = [sign * candidate["score"] for candidate in info["candidates"]]
    taken = [s for c, s in zip(info["candidates"], scores, strict=True) if c["params"] == info["tuned"]]
    losses, size = [-score for score in scores], score_size(metric)
    right = best_losses(losses, size=size)
    if any(c["params"] == info["tuned"] for c, is_best in zip(info["candidates"], right, strict=True) if is_best):
        return ""
    best = info["candidates"][least_loss(losses, size=size)]
    was = f"inner {metric} {sign * max(taken):.4g}" if taken else "which was no candidate"
    return f"{cell}: {info['tuned']} ({was}) was taken, {best['params']} has {best['score']:.4g}"


def _epoch(cell: CellRecord, info: dict[str, Any]) -> str | None:
    """Judge a chosen epoch against the history of evaluations that chose it."""
    history = [entry for entry in info.get("history", ()) if isinstance(entry, dict) and "metrics" in entry]
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
    losses, size = [-value for value in values], score_size(name)
    if info["epoch"] in epochs and best_losses(losses, size=size)[epochs.index(info["epoch"])]:
        return ""
    best = epochs[least_loss(losses, size=size)]
    return f"{cell}: epoch {info['epoch']} was taken, epoch {best} has the best {rule} on {where}"


def check_selection(run: CrossvalRun, refitted: dict[str, list[str]], ledger: Ledger) -> None:
    """Check that the refitted variants of every dataset are those that the cross-validation selects.

    Parameters
    ----------
    run : CrossvalRun
        With the ledgers.
    refitted : mapping of str to list of str
        The variants that were refitted, by the name of the cell's dataset.
    ledger : Ledger
        Where findings go.
    """
    checked = 0
    for name, described in run.settings.problems.items():
        problems = [p for p in run.problems if p.dataset == described["dataset"] and p.target in described["targets"]]
        if name not in refitted or not problems or any(problem.pending for problem in problems):
            continue
        checked += 1
        wanted = selected(problems, run)
        taken = refitted[name]
        if set(wanted) != set(taken):
            by_test = _by_test(problems, run)[: len(taken)]
            hint = "; they are the best by test score" if set(by_test) == set(taken) else ""
            ledger.find(
                "PG112",
                f"{len(set(taken) - set(wanted))} of {len(taken)} refitted variants are not those that the "
                f"cross-validation selects{hint}",
                dataset=name,
                count=len(set(taken) - set(wanted)),
                total=len(taken),
                examples=[f"refitted: {', '.join(taken)}", f"selected by cross-validation: {', '.join(wanted)}"],
            )
    ledger.look(CHECK, checked, "selections of variants")


def selected(problems: Sequence[Problem], run: CrossvalRun) -> list[str]:
    """Select variants by the declared criteria, from figures recomputed here; ties to the earlier declared."""
    taken: list[str] = []
    for criterion in run.settings.select:
        figures = _figures(problems, run, criterion.metric)
        order = [variant for variant in _order(criterion, figures, problems, run) if variant not in taken]
        taken += order[: criterion.top_k]
    return taken


def _figures(problems: Sequence[Problem], run: CrossvalRun, metric: str | None) -> dict[str, list[ChainFigures]]:
    scoring = run.settings.scoring(problems[0].truth.task, metric)
    again = Recomputation(problems[0].truth.task, scoring.metric, run.settings)
    return {v: [again.figures(problem.chains[v]) for problem in problems] for v in problems[0].chains}


def _order(
    criterion: Criterion, figures: dict[str, list[ChainFigures]], problems: Sequence[Problem], run: CrossvalRun
) -> list[str]:
    scoring = run.settings.scoring(problems[0].truth.task, criterion.metric)
    key = "cv_score" if criterion.ranking in ("rmsecv", "cv_score") else "mean_fold_cv"
    size = _size(problems, scoring)
    means = {variant: float(np.mean([getattr(found, key) for found in of])) for variant, of in figures.items()}
    eligible = [variant for variant, mean in means.items() if not np.isnan(mean)]
    losses = dict(zip(eligible, scoring.settled([means[v] for v in eligible], size), strict=True))
    ranked = _ranked(losses)
    if criterion.ranking != "one_se" or not ranked:
        return ranked
    folds = np.mean([found.fold_val for found in figures[ranked[0]]], axis=0)
    there = ~np.isnan(folds)
    error = 0.0
    if there.sum() > 1:
        validated = [rows.val for rows, counts in zip(problems[0].folds, there, strict=True) if counts]
        times = np.bincount(np.concatenate(validated))
        # Repeats validate a sample again and are no new folds: over how often a sample is validated, on average.
        error = float(folds[there].std(ddof=1) / np.sqrt(there.sum() / times[times > 0].mean()))
    limit = losses[ranked[0]] + error
    limit += slack_of(abs(limit), size)
    within = [variant for variant in eligible if losses[variant] <= limit]
    places = simplicity(run.settings.variants)
    return [
        *sorted(within, key=lambda variant: places[variant]),
        *(variant for variant in ranked if variant not in within),
    ]


def _ranked(losses: Mapping[str, float]) -> list[str]:
    """Sort by settled losses; equal ones stay in declared order."""
    return [list(losses)[place] for place in loss_order(list(losses.values()))]


def _size(problems: Sequence[Problem], scoring: Scoring) -> float:
    return max(scoring.size(problem.truth.y) for problem in problems)


def _by_test(problems: Sequence[Problem], run: CrossvalRun) -> list[str]:
    """Sort the variants by the plain ensemble's test score, the one test score that all of them have."""
    scoring = run.settings.scoring(problems[0].truth.task)
    figures = _figures(problems, run, None)
    means = {v: float(np.mean([found.ens_test for found in of])) for v, of in figures.items()}
    known = [variant for variant in means if not np.isnan(means[variant])]
    losses = scoring.settled([means[variant] for variant in known], _size(problems, scoring))
    return _ranked(dict(zip(known, losses, strict=True)))
