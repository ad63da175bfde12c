"""PG301 for cross-validations: every derived score against a second derivation from the same predictions."""

from __future__ import annotations

from paragone.auditing.finding import Ledger
from paragone.auditing.recomputed_crossval import ChainFigures, Recomputation
from paragone.auditing.verify_curve import CHECK, report_wrong, same
from paragone.protocols.crossval.problem import Problem
from paragone.protocols.crossval.scores import ChainScores
from paragone.store.chains import CrossvalRun

TOLERANCE = 1e-9
WHOLE = (
    "cv_score",
    "mean_fold_cv",
    "ens_test",
    "w_ens_test",
    "ens_train",
    "w_ens_train",
    "test_score",
    "train_score",
)
BY_FOLD = ("fold_train", "fold_val", "fold_test", "weights")


def verify_crossval(run: CrossvalRun, ledger: Ledger) -> None:
    """Derive every score of a cross-validation twice and compare."""
    checked = 0
    wrong: dict[str, list[str]] = {}
    for problem in run.problems:
        scoring = run.settings.scoring(problem.truth.task)
        again = Recomputation(problem.truth.task, scoring.metric, run.settings)
        for variant, scores in problem.scores(scoring).items():
            figures = again.figures(problem.chains[variant])
            found, count = differing(scores, figures)
            checked += count
            if found:
                lines = [f"{variant} on {_name(problem, run)}: {line}" for line in found]
                wrong.setdefault(variant, []).extend(lines)
    ledger.look(CHECK, checked, "scores", f"of {sum(len(p.chains) for p in run.problems)} chains")
    report_wrong(wrong, checked, ledger)


def differing(scores: ChainScores, figures: ChainFigures) -> tuple[list[str], int]:
    """Return a line a score that differs, and how many were compared."""
    pairs = [(name, getattr(scores, name), getattr(figures, name)) for name in WHOLE]
    for name in BY_FOLD:
        both = zip(getattr(scores, name), getattr(figures, name), strict=True)
        pairs += [(f"{name}, fold {number}", float(a), b) for number, (a, b) in enumerate(both)]
    lines = [
        f"{name} is {float(a)!r}, the predictions give {b!r}"
        for name, a, b in pairs
        if not same(float(a), b, TOLERANCE)
    ]
    return lines, len(pairs)


def _name(problem: Problem, run: CrossvalRun) -> str:
    return f"{problem.dataset}:{problem.target}" if len(run.of_dataset(problem.dataset)) > 1 else problem.dataset
