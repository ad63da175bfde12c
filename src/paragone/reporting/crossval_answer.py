"""The answer table of a cross-validation: variants down, problems across, and the folds behind every number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paragone.reporting.answer_table import WORSE, Behind
from paragone.reporting.crossval_distinct import ALPHA, TEST
from paragone.reporting.crossval_views import ProblemView, n_compared
from paragone.reporting.page_model import Evidence, Sheet
from paragone.tables import Cell, Column, Table, format_mean_std, format_number, mark_best
from paragone.ties import FloatArray, rank_losses


def answer_sheet(views: Sequence[ProblemView], behind: Behind) -> Sheet:
    """Make the table of the pooled score of every variant on every problem.

    Parameters
    ----------
    views : sequence of ProblemView
        The problems.
    behind : Behind
        Where the fold scores behind the numbers go.

    Returns
    -------
    Sheet
        The best of a problem in bold, the second underlined, a mark where a chain is told from the best; with the
        average rank where there are several problems.
    """
    variants = [v for v in views[0].run.settings.variants if any(v in view.scores for view in views)]
    columns = [_column(view, variants, behind) for view in views]
    ranks = average_ranks(views, variants)
    if ranks is not None:
        columns.append(_rank_column(views, variants, ranks, behind))
    order = _order(views, variants, ranks)
    rows = [[Cell(variants[i]), *(column[0][i] for column in columns)] for i in order]
    numbers = tuple((None, *(column[1][i] for column in columns)) for i in order)
    links = tuple(("", *(column[2][i] for column in columns)) for i in order)
    heading: list[str | Column] = ["Variant", *(view.name for view in views)]
    heading += ["Average rank"] if ranks is not None else []
    return Sheet(
        "answer",
        f"{views[0].called('cv_score')} of every variant",
        Table.of(heading, rows, caption=_caption(views), label="tab:answer"),
        numbers,
        links,
        wide=len(views) > 1,
    )


def fold_key(view: ProblemView, variant: str) -> str:
    """Return the key of the folds of a chain; a slash inside a name is doubled, so that no two share a key."""
    return "/".join(part.replace("/", "//") for part in (view.scoring.metric, view.name, variant))


def keep_folds(view: ProblemView, variant: str, behind: Behind) -> str:
    """Keep the fold scores of a chain as evidence and return its key."""
    scores = view.scores[variant]
    chain = scores.chain
    several = len({fold.repeat for fold in chain.folds}) > 1
    rows = tuple(
        (f"repeat {fold.repeat}, fold {fold.fold}" if several else fold.fold, float(value), "")
        for fold, value in zip(chain.folds, scores.fold_val, strict=True)
    )
    note = f"{view.called('cv_score')} is {format_number(scores.cv_score, view.digits)}"
    if not view.run.settings.holdout:
        note += ", the score of all out-of-fold predictions together, not the mean of these"
    if chain.final is not None and len(chain.final.test):
        note += (
            f"; {view.called('test_score')} of the refitted model is {format_number(scores.test_score, view.digits)}"
        )
    title = f"{variant} on {view.name}: {view.scoring.metric}"
    evidence = Evidence(title, ("fold", view.scoring.metric), rows, f"{note}.", (view.place, variant))
    return behind.add(fold_key(view, variant), evidence)


def told_apart(view: ProblemView) -> set[str]:
    """Return the chains that a test tells from the best of their problem."""
    found = view.distinction
    return set() if found is None else {other.variant for other in found.others if not other.indistinguishable}


def _column(
    view: ProblemView, variants: Sequence[str], behind: Behind
) -> tuple[list[Cell], list[float | None], list[str]]:
    values = [view.scores[v].cv_score if v in view.scores else np.nan for v in variants]
    texts = [format_mean_std(value, _spread(view, v), view.digits) for v, value in zip(variants, values, strict=True)]
    apart = told_apart(view)
    marks = [WORSE if variant in apart else "" for variant in variants]
    losses = view.scoring.settled(values, view.size).tolist()
    cells = list(mark_best(losses, texts, higher_is_better=False, superscripts=marks))
    links = [keep_folds(view, v, behind) if v in view.scores else "" for v in variants]
    return cells, [None if np.isnan(value) else float(value) for value in values], links


def _spread(view: ProblemView, variant: str) -> float:
    """Return the deviation (ddof = 1) of the folds' own scores, NaN where there are fewer than two."""
    folds = view.scores[variant].fold_val if variant in view.scores else np.array([])
    folds = folds[~np.isnan(folds)]
    return float(np.std(folds, ddof=1)) if len(folds) > 1 else np.nan


def average_ranks(views: Sequence[ProblemView], variants: Sequence[str]) -> np.ndarray | None:
    """Return the rank of every variant averaged over problems, NaN where it lacks one; None for one problem."""
    if len(views) < 2:
        return None
    shared = [i for i, variant in enumerate(variants) if all(variant in view.scores for view in views)]
    ranks = np.full(len(variants), np.nan)
    if shared:
        ranks[shared] = np.mean([_ranks(view, [variants[i] for i in shared]) for view in views], axis=0)
    return ranks


def _ranks(view: ProblemView, variants: Sequence[str]) -> FloatArray:
    """Return the ranks of variants that all have a score, by the pooled one, ties averaged."""
    return rank_losses(view.scoring.settled([view.scores[v].cv_score for v in variants], view.size))


def _rank_column(
    views: Sequence[ProblemView], variants: Sequence[str], ranks: np.ndarray, behind: Behind
) -> tuple[list[Cell], list[float | None], list[str]]:
    cells = list(mark_best(ranks.tolist(), [format_number(rank, 2) for rank in ranks], higher_is_better=False))
    shared = [i for i in range(len(variants)) if not np.isnan(ranks[i])]
    each = {view.name: _ranks(view, [variants[i] for i in shared]) for view in views}
    links = [""] * len(variants)
    for place, i in enumerate(shared):
        rows = tuple((view.name, float(each[view.name][place]), fold_key(view, variants[i])) for view in views)
        evidence = Evidence(f"{variants[i]}: rank on every problem", ("problem", "rank"), rows)
        links[i] = behind.add(f"ranks/{variants[i].replace('/', '//')}", evidence)
    return cells, [None if np.isnan(rank) else float(rank) for rank in ranks], links


def _order(views: Sequence[ProblemView], variants: Sequence[str], ranks: np.ndarray | None) -> list[int]:
    """Put the best first, and what is incomplete last."""
    if ranks is None:
        places = {variant: place for place, variant in enumerate(views[0].scores)}
        return sorted(range(len(variants)), key=lambda i: places[variants[i]])
    return sorted(range(len(variants)), key=lambda i: (np.isnan(ranks[i]), ranks[i]))


def _caption(views: Sequence[ProblemView]) -> str:
    first = views[0]
    what = "the hold-out" if first.run.settings.holdout else "all out-of-fold predictions together"
    text = f"{first.called('cv_score')}: {first.scoring.metric} of {what}"
    text += "" if first.run.settings.holdout else ", ± the standard deviation of the folds' own scores"
    text += ". Best of a problem in bold, second underlined."
    if len(views) > 1:
        text += " Average rank over the problems, of the variants that all of them have."
    if any(told_apart(view) for view in views):
        n = n_compared(views)
        text += (
            f" {WORSE}: told from the best of that problem by the {TEST}, replicates averaged (Holm over all pairs of "
            f"chains, alpha = {ALPHA:g}; the {n} next best are tested)"
        )
        untested = any(len(view.scores) > n + 1 for view in views)
        text += "; chains further down are not tested." if untested else "."
    return text
