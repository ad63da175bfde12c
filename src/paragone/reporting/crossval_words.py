"""A cross-validation in words: the verdict, and the paragraph for a paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from paragone.protocols.crossval.ledger import repeats_of
from paragone.protocols.crossval.problem import Problem, choose
from paragone.protocols.crossval.selection import RANKINGS, Choice, Criterion
from paragone.reporting.crossval_answer import average_ranks
from paragone.reporting.crossval_views import ProblemView, n_compared
from paragone.reporting.provenance import software_sentence, span
from paragone.reporting.verdict_words import listing
from paragone.results import Results
from paragone.tables import format_number
from paragone.ties import least_loss

USED = {"PLS": "wold2001", "PLSRegression": "wold2001", "PLSCanonical": "wold2001"}
STEPS = {"snv": "barnes1989", "savgol": "savitzky1964"}
NAMED = 3


def headline(view: ProblemView) -> str:
    """Say in a sentence or three which chain is the best of a problem, how sure that is, and what was refitted."""
    best, scores = next(iter(view.scores.items()))
    cv = f"{view.called('cv_score')} {format_number(scores.cv_score, view.digits)}"
    text = f"{view.name}: {_best(view)} the best of {len(view.scores)} variants by {cv}."
    found = view.distinction
    if found is not None and found.others:
        same = [other.variant for other in found.others if other.indistinguishable]
        n = len(found.others)
        shown = f" ({listing(same)})" if 0 < len(same) <= NAMED else ""
        count = {0: "none", n: f"all {n}"}.get(len(same), f"{len(same)}")
        it = "it" if len(view.best) == 1 else best
        text += f" Of the {n} next best, {count} cannot be told from {it}{shown}."
    return " ".join([text, *_refitted(view)])


def _best(view: ProblemView) -> str:
    """Name the best chains as the subject of a sentence: one, or those that are tied."""
    names = view.best
    if len(names) == 1:
        return f"{names[0]} is"
    shown = listing(names) if len(names) <= NAMED else f"{names[0]} and {len(names) - 1} more"
    return f"{shown}, which are tied, are"


def summary(views: Sequence[ProblemView]) -> str:
    """Say in a sentence or two what holds over several problems."""
    variants = [v for v in views[0].run.settings.variants if all(v in view.scores for view in views)]
    best = [variant for view in views for variant in view.best]
    most = max(dict.fromkeys(best), key=best.count)
    text = f"Over {len(views)} problems, "
    ranks = average_ranks(views, variants)
    if ranks is not None and variants:
        leader = least_loss(ranks)
        text += (
            f"{variants[leader]} has the best average rank, {ranks[leader]:.2f} of {len(variants)}; it is the best on "
            f"{best.count(variants[leader])}. "
        )
        if best.count(most) > best.count(variants[leader]):
            text += f"Most often the best is {most}, on {best.count(most)}. "
    else:
        text += f"most often the best is {most}, on {best.count(most)}; no variant has them all. "
    alone = sum(view.distinction is not None and _stands_alone(view) for view in views)
    told = {0: "On no problem", len(views): "On every problem"}.get(alone, f"On {alone} problem{'s' * (alone != 1)}")
    return f"{text}{told} can the best be told from all it was compared with."


def _stands_alone(view: ProblemView) -> bool:
    found = view.distinction
    return found is not None and bool(found.others) and not any(other.indistinguishable for other in found.others)


def _refitted(view: ProblemView) -> list[str]:
    """Say what the choices came to on the test part."""
    if view.metric is not None:
        return []
    told = []
    for choice in _chosen(view)[:NAMED]:
        scores = view.scores.get(choice.variant)
        if scores is not None and scores.chain.final is not None and len(scores.chain.final.test):
            value = format_number(scores.test_score, view.digits)
            # A criterion whose own choice another had taken goes on to its next best, which it would not choose alone.
            by = f"chosen by {listing(choice.credit)}" if choice.credit else f"the next best by {choice.taken_by}"
            told.append(f"{choice.variant} ({by}) {value}")
    return [f"{view.called('test_score')} on the test part: {listing(told)}."] if told else []


def crossval_paragraph(results: Results, described: Mapping[str, Any], views: Sequence[ProblemView]) -> str:
    """Write the paragraph that can go into a paper."""
    run = views[0].run
    sentences = [
        _what(results, described, run.settings.variants),
        _splits(views),
        _scores(views),
        _choices(views),
        _statistics(views),
        software_sentence(results.runs()),
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def _what(results: Results, described: Mapping[str, Any], variants: Mapping[str, Mapping[str, Any]]) -> str:
    facts = results.datasets(described["name"]).values()
    methods = list(dict.fromkeys(str(facts.get("method", name)) for name, facts in variants.items()))
    data = list(dict.fromkeys(described["data"]))
    sizes = f"{span([f['n_samples'] for f in facts])} samples, {span([f['n_features'] for f in facts])} features"
    return (
        f"We compared {len(variants)} variant{'s' * (len(variants) != 1)} of {listing(methods)} on "
        f"{listing(data)} ({sizes})."
    )


def _splits(views: Sequence[ProblemView]) -> str:
    notes = [note for facts in views[0].run.settings.problems.values() for note in facts.get("notes", ())]
    each = list(dict.fromkeys(folds_in_words(view.problem) for view in views))
    folds = " or ".join(each) if len(each) <= NAMED else f"{span([len(v.problem.folds) for v in views])} folds"
    how = "a hold-out" if views[0].run.settings.holdout else f"cross-validation in {folds}"
    rest = f" ({'; '.join(notes)})" if notes and len(notes) <= NAMED else ""
    return (
        f"Performance was estimated by {how}{rest}. Every step, preprocessing included, was fitted on the training "
        "part of a fold only."
    )


def _scores(views: Sequence[ProblemView]) -> str:
    metrics = listing(list(dict.fromkeys(view.scoring.metric for view in views)))
    first = views[0]
    if first.run.settings.holdout:
        return f"{first.called('cv_score')} is {metrics} on the rows held out."
    return f"{first.called('cv_score')} is {metrics} of all out-of-fold predictions together."


def folds_in_words(problem: Problem) -> str:
    """Say how many folds a problem has, and how often they were drawn."""
    validations = [rows.val for rows in problem.folds]
    repeats = repeats_of(validations)
    n, n_repeats = len(repeats), 1 + max(repeats, default=0)
    if n_repeats > 1:
        sizes = sorted({repeats.count(repeat) for repeat in range(n_repeats)})
        return f"{span(sizes)} folds x {n_repeats} repeats"
    covered = np.concatenate(validations) if validations else np.empty(0)
    overlap = len(np.unique(covered)) < len(covered)
    return f"{n} splits whose validation parts overlap" if overlap else f"{n} fold{'s' * (n != 1)}"


def rule_in_words(criterion: Criterion, metric: str) -> str:
    """Say by what rule a criterion chooses, with the score that the metric makes of it."""
    score = "RMSECV" if metric == "rmse" else f"cross-validated {metric.replace('_', ' ')}"
    if criterion.ranking == "one_se":
        mean = f"mean {metric.replace('_', ' ')} over folds"
        what = "the simplest" if criterion.top_k == 1 else f"the {criterion.top_k} simplest"
        return f"{what} within one standard error of the best {mean} (one_se)"
    if RANKINGS[criterion.ranking] == "mean_fold_cv":
        score = f"mean over folds of {metric.replace('_', ' ')}"
    return f"the one with the best {score}" if criterion.top_k == 1 else f"the {criterion.top_k} best by {score}"


def _choices(views: Sequence[ProblemView]) -> str:
    settings = views[0].run.settings
    tasks = dict.fromkeys(view.problem.truth.task for view in views)
    rules = [rule_in_words(c, settings.scoring(task, c.metric).metric) for task in tasks for c in settings.select]
    tested = any(c.final is not None and len(c.final.test) for view in views for c in view.problem.chains.values())
    after = " and scored once on the test part, which no choice had seen" if tested else ""
    text = f"Of each problem's chains, {listing(list(dict.fromkeys(rules)))} "
    one = len(rules) == 1 and settings.select[0].top_k == 1
    text += f"{'was' if one else 'were'} refitted on all training rows{after}."
    passed = any(choice.taken_by not in choice.credit for view in views for choice in _chosen(view))
    return f"{text} Where an earlier rule had taken its choice, a rule took its next best." if passed else text


def _chosen(view: ProblemView) -> tuple[Choice, ...]:
    """Return the choices of a problem; none where a problem of its dataset has no chain."""
    run, problem = view.run, view.problem
    together = run.of_dataset(problem.dataset) if run.settings.aggregate else [problem]
    return choose(together, run.settings).choices if all(other.chains for other in together) else ()


def _statistics(views: Sequence[ProblemView]) -> str:
    if all(view.distinction is None or not view.distinction.others for view in views):
        return ""
    return (
        f"The {n_compared(views)} next best chains of a problem were compared with its best by a paired t on the "
        f"out-of-fold losses of the {_units(views)}, its variance corrected for shared training rows, with Holm's "
        "correction over all pairs of chains."
    )


def _units(views: Sequence[ProblemView]) -> str:
    grouped = [view.problem.truth.groups is not None for view in views]
    if not any(grouped):
        return "samples"
    return "groups (mean of their rows)" if all(grouped) else "samples, or groups where there are any (mean of rows)"


def crossval_choices(views: Sequence[ProblemView]) -> dict[str, str]:
    """Return the choices of the comparison, by name."""
    if not _statistics(views):
        return {}
    return {
        "compared": f"the best chain of a problem by its pooled score with the {n_compared(views)} next best",
        "unit": _units(views),
        "test": "paired t on absolute out-of-fold residuals (right or wrong, for classes), two-sided, with the "
        "variance of Nadeau and Bengio: s^2 (1/n + 1/n_train)",
        "correction": "Holm over all pairs of chains, since the best is chosen by the same data",
        "level": "0.05",
    }


def crossval_references(views: Sequence[ProblemView]) -> tuple[str, ...]:
    """Return the keys of what was used: statistics, the one-standard-error rule, models and preprocessing."""
    settings = views[0].run.settings
    keys = ["nadeau2003", "holm1979"] if _statistics(views) else []
    keys += ["breiman1984"] if any(criterion.ranking == "one_se" for criterion in settings.select) else []
    for facts in settings.variants.values():
        name = str(facts.get("use", "")).replace(":", ".").rpartition(".")[2]
        keys += [USED[name]] if name in USED else []
        keys += [key for word, key in STEPS.items() if any(str(s).startswith(word) for s in facts.get("steps", ()))]
    return tuple(dict.fromkeys(keys))
