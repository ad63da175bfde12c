"""One problem of a cross-validation under one metric: its scores, and which chains are not told from the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from paragone.errors import InputError, unknown_name
from paragone.protocols.crossval.naming import score_name
from paragone.protocols.crossval.problem import Problem
from paragone.protocols.crossval.scores import ChainScores, Scoring, best_first, tied_best
from paragone.reporting.crossval_distinct import Distinction, distinguish
from paragone.reporting.crossval_tables import problem_name
from paragone.reporting.wording import Wording
from paragone.store.chains import CrossvalRun
from paragone.tables import decimals_for

COMPARED = 30


@dataclass(frozen=True, eq=False)
class ProblemView:
    """A problem as the page shows it.

    Attributes
    ----------
    run : CrossvalRun
        The experiment, under the names to display.
    problem : Problem
        One target of one dataset.
    metric : str or None
        Another metric than declared.
    """

    run: CrossvalRun
    problem: Problem
    metric: str | None = None

    @cached_property
    def name(self) -> str:
        """The dataset's name, with the target where there are several."""
        return problem_name(self.problem, self.run)

    @cached_property
    def place(self) -> str:
        """What the plan calls the dataset of its cells; the name itself where names to display hide it."""
        target = self.problem.target
        for name, facts in self.run.settings.problems.items():
            if facts["dataset"] == self.problem.dataset and target in facts["targets"]:
                return name
        return self.name

    @cached_property
    def scoring(self) -> Scoring:
        """The metric and what goes with it."""
        return self.run.settings.scoring(self.problem.truth.task, self.metric)

    @cached_property
    def scores(self) -> dict[str, ChainScores]:
        """The scores of every chain that has a pooled one, the best first."""
        found = [scores for scores in self.problem.scores(self.scoring).values() if not np.isnan(scores.cv_score)]
        return {scores.variant: scores for scores in best_first(found)}

    @cached_property
    def best(self) -> tuple[str, ...]:
        """The variants with the best pooled score: one, or all that are tied."""
        return tied_best(self.scores.values())

    @cached_property
    def size(self) -> float:
        """The size of what the scores are made from."""
        return self.scoring.size(self.problem.truth.y)

    @cached_property
    def distinction(self) -> Distinction | None:
        """Which of the best chains are not told from the very best; None where there is none."""
        return distinguish(self.problem, self.scores, COMPARED)

    @cached_property
    def digits(self) -> int:
        """How many decimals its scores are printed with."""
        return decimals_for([scores.cv_score for scores in self.scores.values()])

    def called(self, key: str) -> str:
        """Return what a score is called here."""
        settings = self.run.settings
        return score_name(key, self.scoring.metric, settings.naming, holdout=settings.holdout)


def crossval_views(run: CrossvalRun, metric: str | None = None) -> tuple[ProblemView, ...]:
    """Return a view of every problem that has a chain with a score.

    Parameters
    ----------
    run : CrossvalRun
        The experiment, under the names to display.
    metric : str, optional
        Another metric than declared.

    Returns
    -------
    tuple of ProblemView
        At least one; a run without any score is refused.
    """
    views = [ProblemView(run, problem, metric) for problem in run.problems]
    found = tuple(view for view in views if view.scores)
    if not found:
        raise InputError(f"experiment {run.experiment!r} has no variant with all its folds yet: run it first")
    return found


def n_compared(views: Sequence[ProblemView]) -> int:
    """Return how many chains, at most, were compared with the best of a problem."""
    return max((len(view.distinction.others) for view in views if view.distinction is not None), default=0)


def renamed(run: CrossvalRun, wording: Wording) -> CrossvalRun:
    """Return the experiment under the names to display; two that would share a name are refused."""
    if not wording.names:
        return run
    variants = _names(wording, run.settings.variants, "variants")
    _names(wording, dict.fromkeys(problem.dataset for problem in run.problems), "datasets")
    settings = replace(run.settings, variants={variants[name]: facts for name, facts in run.settings.variants.items()})
    problems = tuple(
        replace(
            problem,
            dataset=wording.name(problem.dataset),
            chains={variants[v]: replace(chain, variant=variants[v]) for v, chain in problem.chains.items()},
            failures={variants.get(v, v): reason for v, reason in problem.failures.items()},
            pending=tuple(variants.get(v, v) for v in problem.pending),
        )
        for problem in run.problems
    )
    return replace(run, settings=settings, problems=problems)


def _names(wording: Wording, names: Mapping[str, object], what: str) -> dict[str, str]:
    shown = {name: wording.name(name) for name in names}
    if len(set(shown.values())) < len(shown):
        raise InputError(f"the display map gives two {what} the same name: {sorted(shown.values())}")
    return shown


def narrowed(run: CrossvalRun, datasets: tuple[str, ...], variants: tuple[str, ...]) -> CrossvalRun:
    """Keep some datasets and variants; none named keeps all, one that is not there is refused.

    Parameters
    ----------
    run : CrossvalRun
        The experiment.
    datasets : tuple of str
        Problems by name, as the page shows them.
    variants : tuple of str
        Variants or the methods they are of.

    Returns
    -------
    CrossvalRun
        With the problems and chains named.
    """
    names = {problem_name(problem, run): problem for problem in run.problems}
    methods = {variant: str(facts.get("method", variant)) for variant, facts in run.settings.variants.items()}
    for kind, wanted, known in (("dataset", datasets, names), ("method", variants, {*methods, *methods.values()})):
        for name in wanted:
            if name not in known:
                raise unknown_name(kind, name, sorted(known))
    kept = [names[name] for name in datasets] if datasets else list(run.problems)
    if variants:
        kept = [
            replace(p, chains={v: c for v, c in p.chains.items() if v in variants or methods[v] in variants})
            for p in kept
        ]
    return replace(run, problems=tuple(kept))
