"""A cross-validation as its page tells it: problem by problem, the table of all variants, and the words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from paragone.errors import InputError, unknown_name
from paragone.lab.measures import Wording
from paragone.lab.view import View
from paragone.page import NumberDetails, Sheet
from paragone.protocols.crossval.frames import tidy_frame
from paragone.protocols.crossval.ledger import repeats_of
from paragone.protocols.crossval.problem import Problem
from paragone.protocols.crossval.reader import known_metrics, whole_run
from paragone.protocols.crossval.run import CrossvalRun
from paragone.protocols.crossval.scores import (
    RANKINGS,
    ChainScores,
    Criterion,
    RefitChoice,
    Scoring,
    best_first,
    tied_best,
)
from paragone.protocols.crossval.tables import ALPHA, TEST, distinguish
from paragone.reporting.how import software_sentence, span
from paragone.reporting.sections import WORSE, Behind, evidence_key
from paragone.reporting.words import listing
from paragone.stats import SampleComparison
from paragone.stats.ranking import complete_methods
from paragone.stats.scores import score_table
from paragone.stats.standings import ordered_methods
from paragone.tables import (
    Column,
    Table,
    TableCell,
    decimals_for,
    format_mean_std,
    format_number,
    mark_best,
    number_cell,
)
from paragone.ties import FloatArray, best_losses, least_loss, rank_losses

COMPARED = 30


@dataclass(frozen=True, eq=False)
class ProblemView:
    """A problem as the page shows it: a target of a dataset, in an experiment under the names to display."""

    run: CrossvalRun
    problem: Problem

    @cached_property
    def name(self) -> str:
        """The dataset's name, with the target where there are several."""
        return self.run.name(self.problem)

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
        return self.run.scoring(self.problem)

    @cached_property
    def scores(self) -> dict[str, ChainScores]:
        """The scores of every chain that has a pooled one, the best first."""
        found = self.run.scores(self.problem).values()
        there = [scores for scores in found if not np.isnan(scores.cv_score)]
        return {scores.variant: scores for scores in best_first(there)}

    @cached_property
    def best(self) -> tuple[str, ...]:
        """The variants with the best pooled score: one, or all that are tied."""
        return tied_best(self.scores.values())

    @cached_property
    def size(self) -> float:
        """The size of what the scores are made from."""
        return self.scoring.size(self.problem.truth.y)

    @cached_property
    def distinction(self) -> SampleComparison | None:
        """Which of the best chains are not told from the very best; None where there is none."""
        return distinguish(self.problem, self.scores, COMPARED)

    @property
    def like_the_best(self) -> list[str]:
        """Those of the next best that may be as good as the best."""
        pairs = () if self.distinction is None else self.distinction.pairs
        return [pair.rival for pair in pairs if pair.word == "undecided"]

    @cached_property
    def choices(self) -> tuple[RefitChoice, ...]:
        """What was chosen to be refitted; nothing where a problem of its dataset has no chain."""
        mine = self.run.of_dataset(self.problem.dataset)
        together = mine if self.run.settings.aggregate else [self.problem]
        return self.run.selection(self.problem).choices if all(p.chains for p in together) else ()

    @cached_property
    def refitted(self) -> tuple[str, ...]:
        """The refitted variants, in the order they were chosen."""
        names = dict.fromkeys(choice.variant for choice in self.choices)
        chains = self.problem.chains
        return tuple(v for v in names if v in chains and chains[v].final is not None)

    @cached_property
    def digits(self) -> int:
        """How many decimals its scores are printed with."""
        return decimals_for([scores.cv_score for scores in self.scores.values()])

    def called(self, key: str) -> str:
        """Return what a score is called here."""
        return self.run.called(key, self.problem)

    def text(self, value: float) -> str:
        """Return a score as it is printed here."""
        return format_number(value, self.digits)


def crossval_views(run: CrossvalRun) -> tuple[ProblemView, ...]:
    """Return a view of every problem that has a chain with a score; a run without any is refused."""
    views = [ProblemView(run, problem) for problem in run.problems]
    found = tuple(view for view in views if view.scores)
    if not found:
        raise InputError(
            f"experiment {run.experiment!r} has no pipeline with all its folds yet: run it first"
        )
    return found


def problem_views(view: View) -> tuple[ProblemView, ...]:
    """Return the problems of a view, under the names to display, scored by its metric."""
    run = view.of_whole(whole_run)
    known = known_metrics(run)
    if view.metric and view.metric not in known:
        raise unknown_name("metric", view.metric, known or ["(the declared one)"])
    if view.metric and view.metric != known[0]:
        run = replace(run, metric=view.metric)
    return crossval_views(narrowed(renamed(run, view.wording), view.datasets, view.methods))


def n_compared(views: Sequence[ProblemView]) -> int:
    """Return how many chains, at most, were compared with the best of a problem."""
    return max(
        (len(view.distinction.pairs) for view in views if view.distinction is not None), default=0
    )


def renamed(run: CrossvalRun, wording: Wording) -> CrossvalRun:
    """Return the experiment under the names to display; two that would share a name are refused."""
    if not wording.names:
        return run
    variants = {name: wording.name(name) for name in run.settings.variants}
    datasets = {problem.dataset: wording.name(problem.dataset) for problem in run.problems}
    for what, names in (("variants", variants), ("datasets", datasets)):
        if len(set(names.values())) < len(names):
            raise InputError(
                f"the display map gives two {what} the same name: {sorted(names.values())}"
            )
    problems = []
    for problem in run.problems:
        chains = {
            variants[v]: replace(chain, variant=variants[v]) for v, chain in problem.chains.items()
        }
        failures = {variants.get(v, v): reason for v, reason in problem.failures.items()}
        pending = tuple(variants.get(v, v) for v in problem.pending)
        found = replace(problem, chains=chains, failures=failures, pending=pending)
        problems.append(replace(found, dataset=datasets[problem.dataset]))
    known = {variants[name]: facts for name, facts in run.settings.variants.items()}
    settings = replace(run.settings, variants=known)
    return replace(run, settings=settings, problems=tuple(problems))


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
    names = {run.name(problem): problem for problem in run.problems}
    methods = {variant: run.method(variant) for variant in run.settings.variants}
    for name in datasets:
        if name not in names:
            raise unknown_name("dataset", name, sorted(names))
    for name in variants:
        if name not in {*methods, *methods.values()}:
            raise unknown_name("method", name, sorted({*methods, *methods.values()}))
    kept = []
    for problem in [names[name] for name in datasets] or run.problems:
        chains = {
            v: chain
            for v, chain in problem.chains.items()
            if not variants or v in variants or methods[v] in variants
        }
        kept.append(replace(problem, chains=chains))
    return replace(run, problems=tuple(kept))


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
        The best of a problem in bold, the second underlined, a mark where a chain is told from the
        best; with the average rank where there are several problems.
    """
    declared = views[0].run.settings.variants
    variants = [v for v in declared if any(v in view.scores for view in views)]
    columns = [_column(view, variants, behind) for view in views]
    heading: list[str | Column] = ["Pipeline", *(view.name for view in views)]
    # The best first, and what is incomplete last.
    places = {variant: float(place) for place, variant in enumerate(views[0].scores)}
    if len(views) > 1:
        ranks = problem_ranks(views)
        places = {variant: float(np.mean(each)) for variant, each in ranks.items()}
        columns.append(_rank_column(views, variants, ranks, behind))
        heading.append("Average rank")
    order = sorted(range(len(variants)), key=lambda i: places.get(variants[i], np.inf))
    rows = [[TableCell(variants[i]), *(column[i] for column in columns)] for i in order]
    table = Table.of(heading, rows, caption=_caption(views), label="tab:answer")
    return Sheet(
        "answer", f"{views[0].called('cv_score')} of every pipeline", table, wide=len(views) > 1
    )


def fold_key(view: ProblemView, variant: str) -> str:
    """Return the key of the folds of a chain."""
    return evidence_key(view.scoring.metric, view.name, variant)


def keep_folds(view: ProblemView, variant: str, behind: Behind) -> str:
    """Keep the fold scores of a chain as evidence and return its key."""
    scores = view.scores[variant]
    chain, metric = scores.chain, view.scoring.metric
    names = [fold.fold for fold in chain.folds]
    if chain.n_repeats > 1:
        names = [f"repeat {fold.repeat}, fold {fold.fold}" for fold in chain.folds]
    rows = tuple(
        (name, float(value), "") for name, value in zip(names, scores.fold_val, strict=True)
    )
    note = f"{view.called('cv_score')} is {view.text(scores.cv_score)}"
    if not view.run.settings.holdout:
        note += ", the score of all out-of-fold predictions together, not the mean of these"
    if chain.final is not None and len(chain.final.test):
        test = f"{view.called('test_score')} of the refitted model"
        note += f"; {test} is {view.text(scores.test_score)}"
    title = f"{variant} on {view.name}: {metric}"
    details = NumberDetails(title, ("fold", metric), rows, f"{note}.", (view.place, variant))
    return behind.add(fold_key(view, variant), details)


def told_apart(view: ProblemView) -> set[str]:
    """Return the chains that a test tells from the best of their problem."""
    pairs = () if view.distinction is None else view.distinction.pairs
    return {pair.rival for pair in pairs} - set(view.like_the_best)


def _column(view: ProblemView, variants: Sequence[str], behind: Behind) -> list[TableCell]:
    values, texts, links = [], [], []
    for variant in variants:
        scores = view.scores.get(variant)
        values.append(np.nan if scores is None else scores.cv_score)
        texts.append(format_mean_std(values[-1], _spread(scores), view.digits))
        links.append("" if scores is None else keep_folds(view, variant, behind))
    apart = told_apart(view)
    marks = [WORSE if variant in apart else "" for variant in variants]
    losses = view.scoring.settled(values, view.size).tolist()
    cells = mark_best(losses, texts, higher_is_better=False, superscripts=marks, behind=links)
    # Losses tell the best; a reader sorts by the scores.
    return [
        replace(c, number=number_cell(v, "").number) for c, v in zip(cells, values, strict=True)
    ]


def _spread(scores: ChainScores | None) -> float:
    """Return the deviation (ddof = 1) of the folds' own scores, NaN where there are fewer than two."""
    folds = np.array([]) if scores is None else scores.fold_val[~np.isnan(scores.fold_val)]
    return float(np.std(folds, ddof=1)) if len(folds) > 1 else np.nan


def problem_ranks(views: Sequence[ProblemView]) -> dict[str, FloatArray]:
    """Return the rank on every problem, by the pooled score, of the variants that all problems have; ties averaged."""
    declared = views[0].run.settings.variants
    shared = [v for v in declared if all(v in view.scores for view in views)]
    columns = []
    for view in views if shared else ():
        scores = [view.scores[v].cv_score for v in shared]
        columns.append(rank_losses(view.scoring.settled(scores, view.size)))
    return dict(zip(shared, np.transpose(columns), strict=True))


def _rank_column(
    views: Sequence[ProblemView],
    variants: Sequence[str],
    ranks: Mapping[str, FloatArray],
    behind: Behind,
) -> list[TableCell]:
    means, links = [], []
    for variant in variants:
        each = ranks.get(variant, np.array([np.nan]))
        means.append(float(np.mean(each)))
        link = ""
        if variant in ranks:
            rows = tuple(
                (view.name, float(rank), fold_key(view, variant))
                for view, rank in zip(views, each, strict=True)
            )
            title = f"{variant}: rank on every problem"
            details = NumberDetails(title, ("problem", "rank"), rows)
            link = behind.add(evidence_key("ranks", variant), details)
        links.append(link)
    texts = [format_number(mean, 2) for mean in means]
    return list(mark_best(means, texts, higher_is_better=False, behind=links))


def _caption(views: Sequence[ProblemView]) -> str:
    first = views[0]
    what = "the hold-out" if first.run.settings.holdout else "all out-of-fold predictions together"
    text = f"{first.called('cv_score')}: {first.scoring.metric} of {what}"
    text += (
        "" if first.run.settings.holdout else ", ± the standard deviation of the folds' own scores"
    )
    text += (
        ". A pipeline is a way of preprocessing and a model with its parameters. Best of a problem"
        " in bold, second "
    )
    text += "underlined."
    if len(views) > 1:
        text += " Average rank over the problems, of the pipelines that all of them have."
    if any(told_apart(view) for view in views):
        n = n_compared(views)
        text += (
            f" {WORSE}: worse than the best of that problem by the {TEST}, replicates averaged"
            f" (Holm over all pairs of pipelines, alpha = {ALPHA:g}; the {n} next best are tested)"
        )
        untested = any(len(view.scores) > n + 1 for view in views)
        text += "; pipelines further down are not tested." if untested else "."
    return text


USED = {"PLS": "wold2001", "PLSRegression": "wold2001", "PLSCanonical": "wold2001"}
STEPS = {"snv": "barnes1989", "savgol": "savitzky1964"}
NAMED = 3


def problem_headline(view: ProblemView) -> str:
    """Say in a sentence or three which chain is the best of a problem, how sure that is, and what was refitted."""
    best, scores = next(iter(view.scores.items()))
    cv = f"{view.called('cv_score')} {view.text(scores.cv_score)}"
    text = f"{view.name}: {_best(view)} the best of {len(view.scores)} pipelines by {cv}."
    n = 0 if view.distinction is None else len(view.distinction.pairs)
    if n:
        same = view.like_the_best
        shown = f" ({listing(same)})" if 0 < len(same) <= NAMED else ""
        count = {0: "none", n: f"all {n}"}.get(len(same), f"{len(same)}")
        it = "it" if len(view.best) == 1 else best
        text += f" Of the {n} next best, {count} may be as good as {it}{shown}."
    return " ".join([text, *_refitted(view)])


def _best(view: ProblemView) -> str:
    """Name the best chains as the subject of a sentence: one, or those that are tied."""
    names = view.best
    if len(names) == 1:
        return f"{names[0]} is"
    shown = listing(names) if len(names) <= NAMED else f"{names[0]} and {len(names) - 1} more"
    return f"{shown}, which are tied, are"


def summary(views: Sequence[ProblemView]) -> str:
    """Say in a sentence or three what holds over several problems.

    The leader is that of the first screen and of the terminal, by its mean; ranks, by which the
    table of all pipelines is sorted, may put another one first, and then both are named.
    """
    best = [variant for view in views for variant in view.best]
    most = max(dict.fromkeys(best), key=best.count)
    text = f"Over {len(views)} problems, "
    ranks = {variant: float(np.mean(each)) for variant, each in problem_ranks(views).items()}
    if ranks:
        leader, mean = _leader_by_mean(views)
        losses = list(ranks.values())
        first = [v for v, is_best in zip(ranks, best_losses(losses), strict=True) if is_best]
        # Several may share the best average rank: the leader is then one of them.
        by_rank = leader if leader in first else list(ranks)[least_loss(losses)]
        rank = f"the best average rank, {ranks[by_rank]:.2f} of {len(ranks)}"
        if leader == by_rank:
            text += (
                f"{leader} has the best {mean} and {rank}; it is the best on {best.count(leader)}. "
            )
        elif leader:
            text += f"{leader} has the best {mean}; it is the best on {best.count(leader)}. "
            text += f"{by_rank} has {rank}; it is the best on {best.count(by_rank)}. "
        else:
            text += f"{by_rank} has {rank}; it is the best on {best.count(by_rank)}. "
        if best.count(most) > max(best.count(leader), best.count(by_rank)):
            text += f"Most often the best is {most}, on {best.count(most)}. "
    else:
        text += f"most often the best is {most}, on {best.count(most)}; no pipeline has them all. "
    alone = sum(view.distinction is not None and _stands_alone(view) for view in views)
    told = {0: "On no problem", len(views): "On every problem"}.get(
        alone, f"On {alone} problem{'s' * (alone != 1)}"
    )
    return f"{text}{told} is the best shown to be better than all it was compared with."


def _leader_by_mean(views: Sequence[ProblemView]) -> tuple[str, str]:
    """Return the pipeline with the best mean over folds and problems, and what kind of mean that is.

    Nothing where the problems are scored by several metrics, which have no common mean.
    """
    scoring = views[0].scoring
    frame = tidy_frame(views[0].run)
    frame = frame[frame["method"].isin(complete_methods(frame))]
    if len({view.scoring.metric for view in views}) > 1 or frame.empty:
        return "", ""
    table = score_table(frame, metric=scoring.metric, higher_is_better=scoring.higher_is_better)
    return ordered_methods(table)[0], "geometric mean" if table.differences == "log" else "mean"


def _stands_alone(view: ProblemView) -> bool:
    found = view.distinction
    return found is not None and bool(found.pairs) and not view.like_the_best


def _refitted(view: ProblemView) -> list[str]:
    """Say what the choices came to on the test part."""
    if view.run.metric is not None:
        return []
    found = []
    for choice in view.choices[:NAMED]:
        scores = view.scores.get(choice.variant)
        if scores is not None and scores.chain.final is not None and len(scores.chain.final.test):
            # A criterion whose own choice another had taken goes on to its next best, which it
            # would not choose alone.
            by = f"the next best by {choice.taken_by}"
            if choice.credit:
                by = f"chosen by {listing(choice.credit)}"
            found.append(f"{choice.variant} ({by}) {view.text(scores.test_score)}")
    return [f"{view.called('test_score')} on the test part: {listing(found)}."] if found else []


def crossval_paragraph(view: View, views: Sequence[ProblemView]) -> str:
    """Write the paragraph that can go into a paper."""
    run = views[0].run
    sentences = [
        _what(view, run.settings.variants),
        _splits(views),
        _scores(views),
        _choices(views),
        _statistics(views),
        software_sentence(view.runs),
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def _what(view: View, variants: Mapping[str, Mapping[str, Any]]) -> str:
    facts = view.dataset_facts.values()
    methods = list(
        dict.fromkeys(str(facts.get("method", name)) for name, facts in variants.items())
    )
    data = list(dict.fromkeys(view.described["data"]))
    sizes = (
        f"{span([f['n_samples'] for f in facts])} samples, {span([f['n_features'] for f in facts])}"
        " features"
    )
    return (
        f"We compared {len(variants)} pipeline{'s' * (len(variants) != 1)} of preprocessing and"
        " model, with the parameters of each such as the number of components, of"
        f" {listing(methods)} on {listing(data)} ({sizes})."
    )


def _splits(views: Sequence[ProblemView]) -> str:
    notes = [
        note for facts in views[0].run.settings.problems.values() for note in facts.get("notes", ())
    ]
    each = list(dict.fromkeys(folds_in_words(view.problem) for view in views))
    folds = (
        " or ".join(each)
        if len(each) <= NAMED
        else f"{span([len(v.problem.folds) for v in views])} folds"
    )
    how = "a hold-out" if views[0].run.settings.holdout else f"cross-validation in {folds}"
    rest = f" ({'; '.join(notes)})" if notes and len(notes) <= NAMED else ""
    return (
        f"Performance was estimated by {how}{rest}. Every step, preprocessing included, was fitted"
        " on the training part of a fold only."
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
    return (
        f"the one with the best {score}"
        if criterion.top_k == 1
        else f"the {criterion.top_k} best by {score}"
    )


def _choices(views: Sequence[ProblemView]) -> str:
    settings = views[0].run.settings
    tasks = dict.fromkeys(view.problem.truth.task for view in views)
    rules = [
        rule_in_words(c, settings.scoring(task, c.metric).metric)
        for task in tasks
        for c in settings.select
    ]
    tested = any(
        c.final is not None and len(c.final.test)
        for view in views
        for c in view.problem.chains.values()
    )
    after = " and scored once on the test part, which no choice had seen" if tested else ""
    text = f"Of each problem's pipelines, {listing(list(dict.fromkeys(rules)))} "
    one = len(rules) == 1 and settings.select[0].top_k == 1
    text += f"{'was' if one else 'were'} refitted on all training rows{after}."
    passed = any(choice.taken_by not in choice.credit for view in views for choice in view.choices)
    return (
        f"{text} Where an earlier rule had taken its choice, a rule took its next best."
        if passed
        else text
    )


def _statistics(views: Sequence[ProblemView]) -> str:
    if all(view.distinction is None or not view.distinction.pairs for view in views):
        return ""
    return (
        f"The {n_compared(views)} next best pipelines of a problem were compared with its best by a"
        f" paired t on the out-of-fold losses of the {_units(views)}, its variance corrected for"
        " shared training rows, with Holm's correction over all pairs of pipelines."
    )


def _units(views: Sequence[ProblemView]) -> str:
    grouped = [view.problem.truth.groups is not None for view in views]
    if not any(grouped):
        return "samples"
    return (
        "groups (mean of their rows)"
        if all(grouped)
        else "samples, or groups where there are any (mean of rows)"
    )


def crossval_choices(views: Sequence[ProblemView]) -> dict[str, str]:
    """Return the choices of the comparison, by name."""
    if not _statistics(views):
        return {}
    return {
        "compared": (
            f"the best pipeline of a problem by its pooled score with the {n_compared(views)} next"
            " best"
        ),
        "unit": _units(views),
        "test": (
            "paired t on absolute out-of-fold residuals (right or wrong, for classes), two-sided,"
            " with the variance of Nadeau and Bengio: s^2 (1/n + 1/n_train)"
        ),
        "correction": "Holm over all pairs of pipelines, since the best is chosen by the same data",
        "level": "0.05",
    }


def crossval_references(views: Sequence[ProblemView]) -> tuple[str, ...]:
    """Return the keys of what was used: statistics, the one-standard-error rule, models and preprocessing."""
    settings = views[0].run.settings
    keys = ["nadeau2003", "holm1979"] if _statistics(views) else []
    keys += (
        ["breiman1984"]
        if any(criterion.ranking == "one_se" for criterion in settings.select)
        else []
    )
    for facts in settings.variants.values():
        name = str(facts.get("use", "")).replace(":", ".").rpartition(".")[2]
        keys += [USED[name]] if name in USED else []
        keys += [
            key
            for word, key in STEPS.items()
            if any(str(s).startswith(word) for s in facts.get("steps", ()))
        ]
    return tuple(dict.fromkeys(keys))
