"""The first screen of a page: comparisons as leaderboards, and the findings of the drawings under them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from paragone.lab.measures import Measure
from paragone.lab.method_warnings import verdict_sentences
from paragone.lab.view import View
from paragone.metrics import in_target_unit
from paragone.page import Block, Leaderboard, PairVerdict, Panel, Prose, Standing
from paragone.reporting.words import direction, listing, title_of
from paragone.stats import DatasetComparison
from paragone.stats.pairs import Pair
from paragone.stats.ranking import MethodRanking
from paragone.stats.verdicts import Verdict
from paragone.stats.words import SCOPES, Findings, counted, number
from paragone.tables import Column, Table, TableCell, format_interval, format_number, number_cell
from paragone.ties import FloatArray, best_losses, loss_order, rank_losses

MOST_DOTS = 60
"""More splits of one dataset than these are no dots any more."""
MOST_PAIRED = 14
"""More methods than these have no matrix of pairs: the ranked table answers for the method that is chosen."""
CROWDED = 24
"""More methods than these show their first dozen until all are asked for."""
FIRST_METHODS = 12
FIRST_DATASETS = 40
"""What the drawing of the datasets shows of very many."""
MOST_DATASETS = 150
"""More datasets than these are no dots any more, and have no column each in a drawing."""
NAMED_UP_TO = 4
FAR = 3
"""A method that costs so many times more than the best is worth a title."""
BRIEF = 0.01
"""Seconds below which a fit's time is mostly what surrounds it: no ratio of such times is worth a title."""


@dataclass(frozen=True)
class MethodFacts:
    """What is known of the methods beside their scores, by the names to display, in declared order."""

    methods: tuple[str, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)
    warned: Mapping[str, str] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    total_seconds: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def standing(self, method: str, rank: float, mean: float, failed: str = "") -> Standing:
        """Return where a method stands."""
        return Standing(
            method,
            self.methods.index(method) if method in self.methods else len(self.methods),
            rank,
            mean,
            float(self.seconds.get(method, math.nan)),
            float(self.total_seconds.get(method, math.nan)),
            failed,
            self.warned.get(method, ""),
        )


def facts_of(view: View) -> MethodFacts:
    """Return what a store knows of the methods of a view: their costs, failures and warnings."""
    places = view.places.assign(method=[view.name(name) for name in view.places["method"]])
    ended = places.groupby("method", sort=False)["status"]
    failures = ended.agg(lambda found: int(found.isin(["failed", "timeout"]).sum())).to_dict()
    totals = ended.size().to_dict()
    done = places[places["status"] == "done"]
    if view.protocol is not None and view.protocol.facts.shares_work:
        done = done.assign(fit_cpu_seconds=math.nan)
    costs = done.groupby("method", sort=False)["fit_cpu_seconds"]
    warned: dict[str, list[str]] = {}
    for group in view.warned:
        if group.touches_numbers:
            warned.setdefault(group.method, []).append(group.sentence)
    return MethodFacts(
        tuple(view.name(name) for name in view.method_facts),
        {name: f"{n} of {totals[name]} fits failed" for name, n in failures.items() if n},
        {name: " ".join(sentences) for name, sentences in warned.items()},
        costs.median().to_dict(),
        costs.sum(min_count=1).to_dict(),
        (
            *view.accepted_leaks,
            *failure_notes(view),
            *sorted(verdict_sentences(view.warned), key=_may_wait),
            *view.seed_notes,
        ),
    )


def _may_wait(sentence: str) -> bool:
    """Whether a warning comes after those that say that a fit did not converge, which may have cost it its place."""
    return " did not converge " not in sentence


def failure_notes(view: View) -> tuple[str, ...]:
    """Say how many fits failed, and on which datasets no method has a score."""
    places = view.places
    failed = places["status"].isin(["failed", "timeout"])
    if not failed.any():
        return ()
    gone = places.assign(failed=failed).groupby("dataset", sort=False)["failed"].all()
    nothing = [view.name(str(name)) for name in gone.index[gone]]
    without = (
        f"; {listing(nothing)} {'has' if len(nothing) == 1 else 'have'} no score of any method"
        if nothing
        else ""
    )
    whose = [view.name(str(name)) for name in dict.fromkeys(places.loc[failed, "method"])]
    by = f" ({listing(whose)})" if len(whose) <= NAMED_UP_TO and not nothing else ""
    return (f"{int(failed.sum())} of {len(places)} fits failed{by}{without}.",)


@dataclass(frozen=True)
class Headline:
    """A finding as a title: the scope that leads and what holds there, and the other scope beside it."""

    scope: str
    text: str
    beside: str
    beside_text: str


def headline_of(found: Findings, failed: Sequence[str] = ()) -> Headline:
    """Return the findings as a title.

    Parameters
    ----------
    found : Findings
        What is said.
    failed : sequence of str
        Methods that are not in the comparison because they failed.

    Examples
    --------
    >>> import pandas as pd, paragone
    >>> scores = pd.DataFrame({"dataset": list("abcdefgh"), "new": [0.9] * 8, "old": [0.8] * 8})
    >>> title = headline_of(paragone.compare(scores, metric="accuracy").findings)
    >>> title.scope, title.text
    ('On new datasets', 'new is better than old: 0.900 against 0.800.')
    """
    shown = found.shown
    claim = found.standing if shown is None else found.claim(shown)
    gone = f"; {listing(failed)} failed" if failed else ""
    told = [] if shown is None else [found.untold.get(shown, "")]
    told += [found.beside(scope) for scope in SCOPES if scope != shown]
    beside = " ".join(text for text in told if text)
    return Headline(
        f"On {shown or SCOPES[0]}", f"{claim}{gone}.", "How sure that is" * bool(beside), beside
    )


def comparison_board(
    comparison: DatasetComparison,
    name: str,
    *,
    facts: MethodFacts | None = None,
    tags: Mapping[str, str] | None = None,
) -> Leaderboard:
    """Return a comparison over datasets as a leaderboard.

    Parameters
    ----------
    comparison : DatasetComparison
        What was found; every word and interval is its own.
    name : str
        What the leaderboard is called.
    facts : MethodFacts, optional
        What else is known of the methods; those that are not in the comparison failed.
    tags : mapping of str to str, optional
        When it shows.

    Examples
    --------
    >>> import pandas as pd, paragone
    >>> scores = pd.DataFrame({"dataset": list("abcdefgh"), "new": [0.9] * 8, "old": [0.8] * 8})
    >>> board = comparison_board(paragone.compare(scores, metric="accuracy"), "answer")
    >>> [one.method for one in board.standings], board.pairs[0].word, round(board.behind[1][0], 6)
    (['new', 'old'], 'better', -0.1)
    """
    facts = facts or MethodFacts(comparison.scores.methods)
    table = comparison.scores
    absent = [method for method in facts.methods if method not in table.methods]
    found = headline_of(comparison.findings, absent)
    pairs = comparison.verdicts
    if comparison.verdicts_here and comparison.findings.shown == SCOPES[0]:
        pairs = comparison.verdicts_here
    if not comparison.findings.pairs:
        pairs = ()
    standings = (*_standings(comparison, facts), *_failures(absent, facts))
    unit, units, best, behind = _dots(comparison, [one.method for one in standings])
    warnings = [text for text in comparison.method_warnings if text not in facts.notes]
    board = Leaderboard(
        name,
        title_of(table.metric) if table.metric else "score",
        found.scope,
        found.text,
        standings,
        tuple(map(_pair_verdict, pairs)),
        found.beside,
        found.beside_text,
        "" if comparison.family.reference is None else comparison.leader,
        unit,
        units,
        best,
        behind,
        "log-ratio" if table.differences == "log" else "difference",
        _drawn(comparison),
        _measured(comparison),
        comparison.settings.margin,
        (*facts.notes, *warnings),
        table.higher_is_better,
        _decimals(standings, logarithms=table.differences == "log"),
        tags=dict(tags or {}),
    )
    return replace(board, table=ranked_table(board))


def _decimals(standings: Sequence[Standing], *, logarithms: bool) -> tuple[int, int]:
    """Return how many decimals keep three digits of the best mean that count; log-ratios have three."""
    best = next((abs(one.mean) for one in standings if math.isfinite(one.mean) and one.mean), 1.0)
    of_scores = min(6, max(0, 2 - math.floor(math.log10(best))))
    return of_scores, 3 if logarithms else of_scores


def ranked_table(board: Leaderboard) -> Table:
    """Return a leaderboard as a table: rank, method, mean, difference with interval, word, seconds of a fit."""
    of_scores, of_differences = board.decimals
    timed = any(math.isfinite(one.seconds) for one in board.standings)
    rows: list[list[str | TableCell]] = []
    for one in board.standings:
        pair = board.seen_from(one.method, board.compared_with)
        difference = (
            format_interval(pair.difference, pair.low, pair.high, of_differences)
            if pair is not None
            else ""
        )
        rank = f"{one.rank:g}" if math.isfinite(one.rank) else ""
        best = one.rank == board.standings[0].rank
        rows.append(
            [
                number_cell(one.rank, rank),
                TableCell(one.method, bold=best),
                number_cell(one.mean, _mean(one, of_scores), bold=best),
                *(
                    [difference, (pair.word if pair is not None else "") or one.failed]
                    if board.pairs
                    else []
                ),
                *([number_cell(one.seconds, number(one.seconds))] if timed else []),
            ]
        )
    columns: list[str | Column] = ["rank", Column("method", "left"), "mean"]
    if board.pairs:
        columns += [
            Column(f"{board.difference} to {board.compared_with}", "left"),
            Column("verdict", "left"),
        ]
    columns += ["CPU s per fit"] * timed
    drawn = f" In brackets: {board.drawn}." if board.pairs else ""
    facts = f", {board.facts}" if board.facts else ""
    caption = f"{board.scope}: methods ranked by {board.metric}{facts}.{drawn}".removeprefix(": ")
    return Table.of(
        columns, rows, caption=caption[:1].upper() + caption[1:], label=f"tab:{board.name}"
    )


def _mean(standing: Standing, decimals: int) -> str:
    """Return a mean score, with its own interval where there is one."""
    own = standing.own
    if own is None or math.isnan(own.low):
        return format_number(standing.mean, decimals)
    ends = f"[{own.low:.{decimals}f}, {own.high:.{decimals}f}]"
    return f"{format_number(standing.mean, decimals)} {ends}"


def _standings(comparison: DatasetComparison, facts: MethodFacts) -> list[Standing]:
    """Return the methods in the one order: by their mean, those without a score somewhere last."""
    table = comparison.scores
    missing = {
        name: int(n)
        for name, n in zip(table.methods, np.isnan(table.values).sum(axis=0), strict=True)
    }
    n = counted(len(table.datasets), "dataset")
    return [
        (
            facts.standing(name, math.nan, math.nan, f"failed on {missing[name]} of {n}")
            if missing[name]
            else replace(
                facts.standing(name, rank, _plain(comparison, comparison.means[name])),
                own=comparison.own_scores.get(name),
            )
        )
        for name, rank in zip(comparison.ordered, comparison.order.ranks, strict=True)
    ]


def _failures(absent: Iterable[str], facts: MethodFacts) -> list[Standing]:
    return [
        facts.standing(name, math.nan, math.nan, facts.failed.get(name, "no score in every split"))
        for name in absent
    ]


def _plain(comparison: DatasetComparison, value: float) -> float:
    """Return a score as it was measured: the mean of logarithms is that of a geometric mean."""
    return math.exp(value) if comparison.scores.differences == "log" else float(value)


def _dots(
    comparison: DatasetComparison, order: Sequence[str]
) -> tuple[str, tuple[str, ...], tuple[float, ...], tuple[tuple[float, ...], ...]]:
    """Return what every method scored on every dataset, or on every split of the only one, as steps from the best."""
    table = comparison.scores
    values, names, unit = table.values, table.datasets, "dataset"
    if len(table.datasets) == 1:
        values = table.folds[0]
        if not 1 < len(values) <= MOST_DOTS:
            return "", (), (), tuple(() for _ in order)
        names, unit = tuple(f"split {place + 1}" for place in range(len(values))), "split"
    losses = -values if table.higher_is_better else values
    steps = np.array([_steps(row, comparison.settings.size) for row in losses])
    best = tuple(
        (
            _plain(comparison, float((-row if table.higher_is_better else row)[step == 0][0]))
            if (step == 0).any()
            else math.nan
        )
        for row, step in zip(losses, steps, strict=True)
    )
    nothing = (math.nan,) * len(names)
    columns = {
        name: tuple(map(float, column)) for name, column in zip(table.methods, steps.T, strict=True)
    }
    return unit, names, best, tuple(columns.get(name, nothing) for name in order)


def _steps(losses: FloatArray, size: float) -> FloatArray:
    """Return how far each is behind the best: nothing for all that are equal to it by the rule of ties."""
    if np.isnan(losses).all():
        return losses
    is_best = best_losses(losses, size=size)
    return np.where(is_best, 0.0, losses[is_best].min() - losses)


def _drawn(comparison: DatasetComparison) -> str:
    found = comparison.findings
    whom = "pair" if comparison.family.reference is None else "rival"
    new = found.shown == SCOPES[1]
    what = comparison.told.estimates[SCOPES[1]] if new else "mean difference"
    if comparison.family.on_ranks and new:
        return f"{what}; a test of average ranks gives no interval"
    many = found.n_family
    together = f", which holds for all {many} {whom}s at once" if many > 1 else ""
    return f"{what} and its {100 * found.level:g} % interval{together}"


def _measured(comparison: DatasetComparison) -> str:
    """Say what was measured: the metric, its direction, on how much."""
    table = comparison.scores
    splits = sorted({len(folds) for folds in table.folds})
    each = (
        ""
        if splits == [1]
        else f", {splits[0]}{f' to {splits[-1]}' if len(splits) > 1 else ''} splits each"
    )
    better = (
        ""
        if table.higher_is_better
        else "; lower is better, and a positive difference is better than the other"
    )
    mean = "geometric mean" if table.differences == "log" else "mean"
    unit = " in the target's unit" if in_target_unit(table.metric) else ""
    return f"{mean}{unit} over {counted(len(table.datasets), 'dataset')}{each}{better}"


def pair_board(
    name: str,
    metric: str,
    pairs: Sequence[Pair],
    means: Mapping[str, float],
    *,
    drawn: str,
    facts: MethodFacts | None = None,
    reference: str = "",
    higher_is_better: bool = True,
    measured: str = "",
    tags: Mapping[str, str] | None = None,
) -> Leaderboard:
    """Return pairs that were compared on samples, items or keys as a leaderboard, without dots.

    Parameters
    ----------
    name, metric : str
        What the leaderboard is called, and what its methods are ranked by.
    pairs : sequence of Pair
        Of a reference with each, or of all.
    means : mapping of str to float
        Mean scores by method, in declared order.
    drawn, measured : str
        What the intervals are, and what was measured.
    facts : MethodFacts, optional
        What else is known of the methods.
    reference : str
        The only method that the others were compared with.
    higher_is_better : bool
        The metric's direction.
    tags : mapping of str to str, optional
        When it shows.
    """
    facts = facts or MethodFacts(tuple(means))
    losses = np.array(list(means.values())) * (-1 if higher_is_better else 1)
    ranks = rank_losses(losses)
    names = list(means)
    order = loss_order(losses)
    standings = tuple(
        facts.standing(names[place], float(ranks[place]), means[names[place]]) for place in order
    )
    leader = reference or standings[0].method
    mine = [pair.seen_from(leader) for pair in pairs if leader in (pair.method, pair.rival)]
    found = Findings(
        leader,
        "",
        higher_is_better,
        {one.method: one.mean for one in standings},
        {SCOPES[0]: tuple(mine)},
    )
    board = Leaderboard(
        name,
        metric,
        "On this data",
        f"{found.claim(SCOPES[0])}.",
        standings,
        tuple(map(_pair_verdict, pairs)),
        reference=reference,
        drawn=drawn,
        facts=measured,
        notes=facts.notes,
        higher_is_better=higher_is_better,
        decimals=_decimals(standings, logarithms=False),
        tags=dict(tags or {}),
    )
    return replace(board, table=ranked_table(board))


def view_boards(view: View) -> tuple[Block, ...]:
    """Return the leaderboard of every metric of a view, or why there is none."""
    view.reference  # noqa: B018 - a reference that is not there is refused here, and not told as a comparison that failed
    facts = view.once(facts_of)
    return tuple(_measure_board(view, measure, facts) for measure in view.measures)


def board_name(measure: Measure) -> str:
    """Return what the leaderboard of a metric is called."""
    return f"board-{measure.key}"


def _measure_board(view: View, measure: Measure, facts: MethodFacts) -> Block:
    if direction(measure.metric) is None:
        words = (
            f"Nothing is ranked by {title_of(measure.metric)}: which way it is better is not known."
        )
        return Prose((words,), tags=measure.tags)
    if measure.comparison is not None:
        board = comparison_board(
            measure.comparison, board_name(measure), facts=facts, tags=measure.tags
        )
        if not measure.scores.reduction:
            return board
        # A curve counts as one number: which one must stand beside it.
        board = replace(board, facts=f"{measure.scores.reduction}, {board.facts}")
        return replace(board, table=ranked_table(board))
    if len(view.method_facts) > 1:
        return Prose((measure.refusal,), "finding", measure.tags)
    ranking = _alone(view, measure)
    standings = tuple(facts.standing(one.method, one.rank, one.mean) for one in ranking.rows)
    return Leaderboard(
        board_name(measure),
        title_of(measure.metric),
        "",
        ranking.finding,
        standings,
        notes=facts.notes,
        tags=measure.tags,
        higher_is_better=bool(direction(measure.metric)),
    )


def _alone(view: View, measure: Measure) -> MethodRanking:
    """Return the ranking of a method that has no rival."""
    folds = measure.scores.folds
    mine = folds[folds["metric"] == measure.metric]
    designs = {name: view.designs.get(name) for name in mine["dataset"].unique().tolist()}
    methods = tuple(view.name(name) for name in view.method_facts)
    frame = mine[["dataset", "fold", "method", "value"]]
    return MethodRanking(measure.metric, bool(direction(measure.metric)), frame, designs, methods)


def panels_of(board: Leaderboard) -> tuple[Panel, ...]:
    """Return the drawings that a leaderboard has the numbers for, each under its finding.

    Examples
    --------
    >>> import pandas as pd, paragone
    >>> scores = pd.DataFrame({"dataset": list("abcdefgh"), "new": [0.9] * 8, "old": [0.8] * 8})
    >>> board = comparison_board(paragone.compare(scores, metric="accuracy"), "answer")
    >>> [panel.kind for panel in panels_of(board)]
    ['where']
    """
    made = []
    if board.unit == "dataset" and len(board.units) > 1 and len(board.ranked) > 1:
        made.append(Panel("where", board.name, *where_words(board), board.tags))
    if sum(one.seconds > 0 for one in board.ranked) > 1:
        made.append(Panel("cost", board.name, *cost_words(board), board.tags))
    if (
        not board.reference
        and 2 < len(board.ranked) <= MOST_PAIRED
        and any(pair.word for pair in board.pairs)
    ):
        made.append(Panel("pairs", board.name, *pairs_words(board), board.tags))
    return tuple(made)


def where_size(board: Leaderboard) -> tuple[int, int]:
    """Return of how many methods and datasets the drawing of the datasets has rows and columns: all, or the first."""
    n_methods, n_datasets = len(board.standings), len(board.units)
    return (
        n_methods if n_methods <= CROWDED else FIRST_METHODS,
        n_datasets if n_datasets <= MOST_DATASETS else FIRST_DATASETS,
    )


def where_words(board: Leaderboard) -> tuple[str, str]:
    """Say on which dataset the methods differ most and on which least, and what is drawn."""
    behind = np.array(
        [
            row
            for row, one in zip(board.behind, board.standings, strict=True)
            if math.isfinite(one.mean)
        ]
    )
    spread = -np.nanmin(behind, axis=0)
    most, least = int(np.argmax(spread)), int(np.argmin(spread))
    first = board.ranked[0].method
    n_best = int((behind[0] == 0).sum())
    title = f"{board.units[most]} separates the methods most"
    if spread[least] < spread[most]:
        title += (
            f"; on {board.units[least]} all lie within"
            f" {format_number(float(spread[least]), board.decimals[1])}"
        )
    subtitle = (
        f"{board.difference.capitalize()} to the best method of every dataset by {board.metric}; a"
        f" stronger colour is further behind. Rows by rank, columns by spread. {first} is best on"
        f" {n_best} of {len(board.units)}."
    )
    rows, columns = where_size(board)
    if (rows, columns) != (len(board.standings), len(board.units)):
        subtitle += (
            f" Shown: {rows} of {len(board.standings)} methods on {columns} of {len(board.units)}"
            " datasets."
        )
    return title, subtitle


def cost_words(board: Leaderboard) -> tuple[str, str]:
    """Say what a higher score costs, and what is drawn."""
    known = [one for one in board.ranked if one.seconds > 0]
    best = known[0]
    front = pareto(board)
    dear = max(
        (one for one in known if one.method not in front), key=lambda one: one.seconds, default=best
    )
    cheap = min(known, key=lambda one: one.seconds)
    if all(one.seconds < BRIEF for one in known):
        title = f"Every method fits in less than {BRIEF:g} s: too little to compare costs by"
    elif dear.seconds > FAR * best.seconds:
        title = (
            f"{dear.method} costs {_times(dear, best)} times as much as {best.method} and scores no"
            " better"
        )
    elif cheap is best:
        title = f"{best.method} is the best and the cheapest"
    else:
        title = (
            f"{cheap.method} is the cheapest, {best.method} the best at {_times(best, cheap)} times"
            " its cost"
        )
    subtitle = (
        f"Mean {board.metric} against CPU seconds of a fit, the median (log scale). The line joins"
        " the methods that no other beats in both; the rest are hollow."
    )
    return title, subtitle


def _times(dear: Standing, cheap: Standing) -> str:
    """Return how many times the cost of the other a method costs, with two digits: seconds are not exact."""
    return f"{float(f'{dear.seconds / cheap.seconds:.2g}'):g}"


def pareto(board: Leaderboard) -> tuple[str, ...]:
    """Return the methods that no other beats in both score and cost, the cheapest first."""
    known = [one for one in board.ranked if one.seconds > 0]
    best: list[str] = []
    reached = math.inf
    for one in sorted(known, key=lambda one: (one.seconds, one.rank)):
        if one.rank < reached:
            best.append(one.method)
            reached = one.rank
    return tuple(best)


def pairs_words(board: Leaderboard) -> tuple[str, str]:
    """Say how many pairs are decided, and what is drawn."""
    words = [pair.word for pair in board.pairs]
    decided, equal = sum(word in ("better", "worse") for word in words), words.count("equivalent")
    rest = len(words) - decided - equal
    parts = [f"{decided} of {len(words)} pairs {'is' if decided == 1 else 'are'} decided"]
    parts += [f"{equal} {'is' if equal == 1 else 'are'} equivalent"] * bool(equal)
    parts += [f"{rest} {'is' if rest == 1 else 'are'} open"] * bool(rest)
    subtitle = (
        f"Row against column: above the diagonal the verdict, below it the {board.difference}."
        f" {board.scope}."
    )
    return listing(parts), subtitle


def _pair_verdict(pair: Verdict) -> PairVerdict:
    """Return what the page shows of a pair: difference, interval, and the word, empty where nothing was tested."""
    found = pair.difference
    return PairVerdict(
        pair.method,
        pair.rival,
        found.estimate,
        found.low,
        found.high,
        "" if math.isnan(pair.p_raw) else pair.word,
    )
