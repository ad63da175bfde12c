"""The verdict in words: the finding in both scopes, one line per rival with its evidence, every choice behind it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from paragone.errors import argument
from paragone.intervals import Interval
from paragone.metrics import metric_in_words
from paragone.stats.bayes import draws_in_words
from paragone.stats.designs import designs_in_words
from paragone.stats.family import ComparisonSettings, Family, leader_alone_within, wants_bayes
from paragone.stats.pairs import Pair
from paragone.stats.registries import Test
from paragone.stats.scores import ScoreTable, listed
from paragone.stats.signed_rank import pairs_needed
from paragone.stats.verdicts import Verdict
from paragone.tables import format_interval, format_p, p_is

_MISSING = {
    "complete": "only blocks (dataset and fold) that every method has",
    "worst": (
        "a missing score is a loss to any score, the largest in ranks; means and intervals leave"
        " it out"
    ),
    "refuse": "a missing score is refused",
}

MOST_NAMED = 4


def direction_in_words(higher_is_better: bool) -> str:
    """Say which way is better."""
    return "higher is better" if higher_is_better else "lower is better"


def dataset_choices(
    table: ScoreTable,
    family: Family,
    test: Test,
    pairs: Sequence[Pair],
    settings: ComparisonSettings,
) -> Mapping[str, str]:
    """Return what was chosen for a comparison over datasets, one line per choice.

    Parameters
    ----------
    table : ScoreTable
        The scores.
    family : Family
        The tests made together.
    test : Test
        How differences were tested.
    pairs : sequence of Pair
        Their results.
    settings : ComparisonSettings
        The options.

    Returns
    -------
    mapping of str to str
        Read-only, in the order of printing.
    """
    n = len(table.datasets)
    point = f", {table.point}" if table.point else ""
    who = "all pairs" if family.reference is None else "the reference against each"
    how = "average ranks, normal deviates, two-sided"
    if not family.on_ranks:
        how = test.in_words([pair.test for pair in pairs], settings.options)
    lines = {
        "metric": (
            f"{metric_in_words(table.metric) if table.metric else 'not named'} "
            f"({direction_in_words(table.higher_is_better)}){point}"
        ),
        "blocks": f"{datasets_in_words(n)}; {_folds(table)}",
        "missing": (
            _MISSING[settings.missing]
            + (f"; {len(table.dropped)} left out" if table.dropped else "")
        ),
        "test": f"{how}, n = {n}",
        "correction": f"{family.title} over a family of {len(family.pairs)} ({who})",
        "level": f"alpha = {settings.alpha:g}, {family.correction.controls} of the whole family",
        "margin": _margin(family, settings),
        "ties": f"scores within {settings.tolerance:g} (relative) are equal",
        "intervals": _intervals(table, family, test, settings),
        "bayes": _bayes(family, settings, len(table.datasets)),
        "per dataset": _per_dataset(table, family),
        "robustness": (
            "every decision taken again, correction included, without each dataset in turn"
        ),
        "power": (
            f"Noether's formula, 80 % at alpha / {len(family.pairs)}, the observed effect taken as"
            " the true one"
            if test.power is not None
            else "not worked out for this test"
        ),
        "seed": str(settings.seed),
    }
    return MappingProxyType(lines)


def datasets_in_words(n: int) -> str:
    """Return a number of datasets.

    Examples
    --------
    >>> datasets_in_words(1), datasets_in_words(2)
    ('1 dataset', '2 datasets')
    """
    return f"{n} dataset{'s' * (n != 1)}"


def _margin(family: Family, settings: ComparisonSettings) -> str:
    if settings.margin <= 0:
        return "none was stated, so nothing can be shown to be equivalent"
    if family.on_ranks:
        return f"{settings.margin:g}, but a test of average ranks cannot show an equivalence"
    return f"{settings.margin:g}, two one-sided tests, Holm over the family"


def _folds(table: ScoreTable) -> str:
    counts = sorted({len(folds) for folds in table.folds})
    if counts == [1]:
        return "one score each"
    span = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"each the mean of its {span} folds"


def _intervals(table: ScoreTable, family: Family, test: Test, settings: ComparisonSettings) -> str:
    if family.on_ranks:
        return "none: a test of average ranks gives no interval of a difference"
    if len(table.datasets) < 3:
        return f"none: of {datasets_in_words(len(table.datasets))} the spread is not known"
    return test.intervals(f"{1 - settings.alpha:.0%} for the whole family together")


def _bayes(family: Family, settings: ComparisonSettings, n: int) -> str:
    if not wants_bayes(family, settings):
        n = len(family.pairs)
        return f"left out for {n} pair{'s' * (n > 1)}; {argument('bayes', True)} computes it"
    margin = f"margin {settings.margin:g}, " if settings.margin > 0 else ""
    draws = draws_in_words(n, settings.n_samples, len(family.pairs))
    return f"signed-rank, {margin}prior weight 0.5 at zero, {draws}; decides no word"


def _per_dataset(table: ScoreTable, family: Family) -> str:
    if max(len(folds) for folds in table.folds) < 2:
        return "no folds, so no test within a dataset"
    if not any(table.designs):
        return "how the splits came about is not known, so no test within a dataset"
    alone = leader_alone_within(family, len(table.datasets))
    which = (
        "; of the leader against each other method only, for all pairs would be too many"
        if alone
        else ""
    )
    where = f"{designs_in_words(table.designs)}; p not adjusted{which}"
    if any(one is not None for one in table.moments):
        return f"rows and folds together, on {where}"
    apart = any(one is not None and one.ratio == 0 for one in table.designs)
    told = "; with the predictions, intervals would be about half as wide" if not apart else ""
    return f"corrected t on {where}{told}"


# One line per rival, with the evidence in brackets.


@dataclass(frozen=True)
class Told:
    """What the lines of a comparison need to know beside their pairs."""

    family: Family
    test: Test
    settings: ComparisonSettings
    decimals: int
    higher_is_better: bool
    where: str
    n_datasets: int
    logarithms: bool = False
    deciding: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By rival, what would decide it on these datasets, in words."""

    def of(self, label: str, interval: Interval, leader: str) -> str:
        """Return a difference with its interval, and whom it favours where a lower score is better."""
        if self.logarithms:
            label = label.replace("difference", "log-ratio")
        favours = "" if self.higher_is_better else f" (positive favours {leader})"
        return (
            f"{label}"
            f" {format_interval(interval.estimate, interval.low, interval.high, self.decimals)}{favours}"
        )


def dataset_sentence(pair: Pair, learner: Verdict | None, told: Told) -> str:
    """Return one line about one pair in both scopes: each claim, and its evidence in brackets."""
    parts = []
    shown = learner is not None and not math.isnan(learner.p_raw)
    if learner is not None and shown:
        parts.append(
            f"{told.where} {_claim(learner, told.settings)}"
            f" ({'; '.join(_learner_evidence(learner, told))})."
        )
    if told.n_datasets > 1 or not shown:
        parts.append(_dataset_claim(pair, bool(parts), told))
    return " ".join(parts)


def _dataset_claim(pair: Pair, beside: bool, told: Told) -> str:
    evidence = "; ".join(_evidence(pair, told))
    if told.n_datasets == 1:
        return (
            f"{pair.method} against {pair.rival}: one dataset says nothing of others ({evidence})."
        )
    enough = enough_datasets(len(told.family.pairs), told.settings.alpha)
    if pair.word == "undecided" and not told.family.on_ranks and pair.n_used < enough:
        needed = (
            f"at least {enough} that differ are needed"
            if pair.n_used < pair.n
            else f"at least {enough} are needed"
        )
        if beside:
            return (
                f"Whether that holds for other datasets, {pair.n_used} cannot show ({needed};"
                f" {evidence})."
            )
        if len(pair.won) == pair.n or len(pair.lost) == pair.n:
            what = "wins" if pair.won else "loses"
            return (
                f"{pair.method} {what} on all {pair.n} datasets against {pair.rival}; whether that"
                f" holds for other datasets, {pair.n} cannot show ({needed}; {evidence})."
            )
    return f"On datasets like these {_claim(pair, told.settings)} ({evidence})."


def _claim(pair: Verdict, settings: ComparisonSettings) -> str:
    if pair.word == "equivalent":
        return f"{pair.method} and {pair.rival} are equivalent within {settings.margin:g}"
    if pair.word == "undecided":
        return f"{pair.method} against {pair.rival} is undecided"
    return f"{pair.method} is {pair.word} than {pair.rival}" + (
        ", by less than the margin" if pair.within else ""
    )


def _learner_evidence(pair: Verdict, told: Told) -> list[str]:
    parts = [f"{p_is(pair.p)} {told.family.for_learners}"]
    if pair.within:
        parts.append(f"within the margin, {p_is(pair.p_equal)} Holm")
    parts.append(told.of("mean difference", pair.difference, pair.method))
    if pair.word == "undecided":
        parts += told.deciding.get(pair.rival, ())
        parts.append(_margin_shown(pair, "these datasets", told.decimals))
    return parts


def _evidence(pair: Pair, told: Told) -> list[str]:
    parts = [
        (f"{p_is(pair.p)} {told.family.title}" if not math.isnan(pair.p) else "no p at this size")
    ]
    if pair.within:
        parts.append(f"within the margin, {p_is(pair.p_equal)} Holm")
    parts.append(told.of(told.test.estimate, pair.difference, pair.method))
    if any(pair.failed):
        both = [
            f"{name} failed on {n}"
            for name, n in zip((pair.method, pair.rival), pair.failed, strict=True)
            if n
        ]
        parts.append(
            f"{' and '.join(both)}, counted as lost; the difference is of the {pair.n_common} that"
            " both have"
        )
    parts.append(f"won {len(pair.won)}, tied {len(pair.tied)}, lost {len(pair.lost)}")
    if pair.n_used == 0 and pair.word == "undecided":
        parts.append("every dataset is a tie")
    elif pair.word == "undecided":
        parts += _why_undecided(pair, told)
    elif pair.word in ("better", "worse"):
        parts += _doubts(pair)
    return parts


def _why_undecided(pair: Pair, told: Told) -> list[str]:
    settings = told.settings
    if not told.family.on_ranks and pair.smallest_p > settings.alpha:
        return [
            "cannot be significant at this size: the smallest attainable p is"
            f" {format_p(pair.test.smallest_p)}, {format_p(pair.smallest_p)} after"
            " correction"
        ]
    parts = []
    if told.test.power is not None:
        parts.append(_needed(pair.needed, pair.n, "show a difference of this size"))
    if settings.margin > 0 and not told.family.on_ranks:
        parts.append(
            _needed(pair.needed_for_margin, pair.n, f"show one of less than {settings.margin:g}")
        )
    if not told.family.on_ranks and not any(pair.failed):
        parts.append(_margin_shown(pair, datasets_in_words(pair.n), told.decimals))
    return parts


def _needed(needed: int | None, n: int, what: str) -> str:
    if needed is None:
        return f"more than 10 000 datasets like these would be needed to {what}"
    more = max(needed - n, 0)
    tail = f", {more} more" if more else ""
    return f"about {needed} datasets like these would {what} with 80 % power{tail}"


def _margin_shown(pair: Verdict, by: str, decimals: int) -> str:
    if math.isinf(pair.smallest_margin):
        return f"{by} cannot show any equivalence"
    unit = 10.0**-decimals
    return (
        f"the smallest margin that {by} could show is"
        f" {math.ceil(pair.smallest_margin / unit) * unit:.{decimals}f}"
    )


def _doubts(pair: Pair) -> list[str]:
    doubts = []
    if pair.mean_difference * (1 if pair.word == "better" else -1) < 0:
        few, many = ("losses", "wins") if pair.word == "better" else ("wins", "losses")
        doubts.append(
            f"the mean difference points the other way: a few large {few} outweigh many {many}"
        )
    if pair.flipped_by:
        doubts.append(
            f"not robust: leaving out {listed(pair.flipped_by, 3)} makes it undecided or turns it"
        )
    else:
        doubts.append("holds without any one dataset")
    return doubts


# The finding: what is shown in both scopes, in a sentence each.


@dataclass(frozen=True)
class TwoScopes:
    """What is said of a leader against its rivals, in both scopes.

    Attributes
    ----------
    leader : str
        The method that the sentences are about.
    metric : str
        What it leads by.
    datasets : tuple of str
        Where.
    means : mapping of str to float
        Mean scores over the datasets, by method, the best first.
    on_these : tuple of Verdict
        The leader against each rival on the datasets at hand; empty where nothing can be told.
    untold : str
        Why nothing can be told on these datasets; empty where it can, or where there are no splits.
    like_these : tuple of Pair
        The leader against each rival with the dataset as the unit; empty for one dataset.
    family : Family
        The tests made together.
    test : Test
        How differences over datasets were tested.
    settings : ComparisonSettings
        The choices.
    logarithms : bool
        Whether differences are log-ratios, and the means geometric ones.
    """

    leader: str
    metric: str
    datasets: tuple[str, ...]
    means: Mapping[str, float]
    on_these: tuple[Verdict, ...]
    untold: str
    like_these: tuple[Pair, ...]
    family: Family
    test: Test
    settings: ComparisonSettings
    logarithms: bool = False

    def __str__(self) -> str:
        nothing_here = self.on_these and all(pair.word == "undecided" for pair in self.on_these)
        if nothing_here and any(pair.word != "undecided" for pair in self.like_these):
            # What is shown leads, whichever of the two scopes shows it.
            return (
                f"{_like_these(self, False)[0]} The folds of these datasets alone do not show it."
            )
        parts = [_on_these(self)] if self.on_these else []
        if not parts and (self.untold or len(self.datasets) == 1):
            parts.append(_standing(self))
        parts += _like_these(self, bool(self.on_these)) if len(self.datasets) > 1 else []
        untold = self.untold
        if not untold and not self.on_these and len(self.datasets) == 1:
            untold = "One score on one dataset says nothing of chance: give the scores of folds."
        return " ".join([*parts, *([untold] if untold else [])])


def where_in_words(datasets: Sequence[str]) -> str:
    """Say which datasets are meant.

    Examples
    --------
    >>> where_in_words(["iris"]), where_in_words(["iris", "wine"])
    ('On iris', 'On these 2 datasets')
    """
    return f"On {datasets[0]}" if len(datasets) == 1 else f"On these {len(datasets)} datasets"


def _standing(found: TwoScopes) -> str:
    """Say where the leader stands, without a word of whether that is chance."""
    best, second = list(found.means)[:2]
    leader, where = found.leader, where_in_words(found.datasets)
    other, place = (second, "next") if leader == best else (best, "best")
    mine, theirs = number(found.means[leader]), number(found.means[other])
    return f"{where}, {leader} has {mine}{_by(found)}; the {place} is {other} with {theirs}."


def _by(found: TwoScopes) -> str:
    """Name the metric, where it has a name."""
    if found.logarithms:
        return (
            " by the geometric mean of"
            f" {metric_in_words(found.metric) if found.metric else 'the scores'}"
        )
    return f" by {metric_in_words(found.metric)}" if found.metric else ""


def _on_these(found: TwoScopes) -> str:
    leader, where = found.leader, where_in_words(found.datasets)
    by = _by(found)
    words = {pair.rival: pair for pair in found.on_these}
    rivals = [name for name in found.means if name in words]
    mine = number(found.means[leader])
    if all(words[name].word == "better" for name in rivals):
        next_, whom = rivals[0], rivals[0] if len(rivals) == 1 else _all_of(len(rivals))
        against = " against" if len(rivals) == 1 else f"; the next, {next_}, has"
        difference = f"{'log-ratio ' * found.logarithms}{signed(words[next_].difference)}"
        small = (
            ", though by less than the margin" if all(words[name].within for name in rivals) else ""
        )
        return (
            f"{where}, {leader} is better than {whom}{by}{small}: {mine}{against}"
            f" {number(found.means[next_])} ({difference})."
        )
    first = next(iter(found.means)) == leader
    if all(words[name].word == "undecided" for name in rivals):
        other = f"{'next' if first else 'best'} {rivals[0]}, {number(found.means[rivals[0]])}"
        return f"{where}, no method differs significantly from {leader}{by} ({mine}; {other})."
    lead = f"{leader} leads{by} ({mine}):" if first else f"{leader} ({mine}{by}) is"
    return f"{where}, {lead} {claims_in_words(found.on_these, rivals, found.settings)}."


CLAIMS = {
    "better": "better than {}",
    "equivalent": "equivalent to {} within {:g}",
    "undecided": "not significantly different from {}",
    "worse": "worse than {}",
}


def claims_in_words(
    pairs: Sequence[Verdict], order: Sequence[str], settings: ComparisonSettings
) -> str:
    """Say what a method is against its rivals, word by word, the rivals in some order."""
    told: dict[str, list[str]] = {}
    for pair in sorted(pairs, key=lambda one: order.index(one.rival)):
        told.setdefault(pair.word, []).append(pair.rival)
    claims = [
        text.format(named(told[word], len(pairs)), settings.margin)
        for word, text in CLAIMS.items()
        if word in told
    ]
    return claims[0] if len(claims) == 1 else f"{', '.join(claims[:-1])}, and {claims[-1]}"


def _like_these(found: TwoScopes, beside: bool) -> list[str]:
    """Say what the datasets show of others like them, the dataset as the unit."""
    n, pairs, leader = len(found.datasets), found.like_these, found.leader
    order = [name for name in found.means if name != leader]
    who = "it" if beside else leader
    how = f"{found.test.title} over datasets, {found.family.title}"
    if found.family.on_ranks:
        how = found.family.title
    if any(pair.word != "undecided" for pair in pairs):
        return [
            f"On datasets like these {who} is {claims_in_words(pairs, order, found.settings)}"
            f" ({how})."
        ]
    enough = enough_datasets(len(found.family.pairs), found.settings.alpha)
    if n < enough and not found.family.on_ranks:
        if beside:
            return [
                f"Whether that holds for other datasets, {n} cannot show (at least {enough} are"
                " needed)."
            ]
        beaten = [pair.rival for pair in pairs if len(pair.won) == n]
        lead = "Which method is better on datasets like these"
        if beaten:
            everywhere = f"all {n} datasets against {named(beaten, len(pairs))}"
            lead = f"{leader} wins on {everywhere}; whether that holds for other datasets"
        return [f"{lead}, {n} cannot show (at least {enough} are needed)."]
    if beside:
        return [f"On datasets like these no difference is shown ({how})."]
    return [
        f"On datasets like these {leader} is {claims_in_words(pairs, order, found.settings)}"
        f" ({how})."
    ]


def enough_datasets(n_pairs: int, alpha: float) -> int:
    """Return on how many datasets a method must win for a signed-rank test to show it, whichever of the pairs it is.

    Examples
    --------
    >>> enough_datasets(1, 0.05), enough_datasets(10, 0.05)
    (6, 9)
    """
    return pairs_needed(alpha / n_pairs)


def _all_of(n: int) -> str:
    return "both others" if n == 2 else f"all {n} others"


def named(names: Sequence[str], n_all: int = 0) -> str:
    """Return names as a sentence has them; many that are all of them by their number.

    Examples
    --------
    >>> named(["a", "b", "c"]), named(list("abcdef")), named(list("abcdef"), 6)
    ('a, b and c', 'a, b, c, d and 2 others', 'all 6 others')
    """
    if len(names) > MOST_NAMED + 1:
        if len(names) == n_all:
            return _all_of(n_all)
        return f"{', '.join(names[:MOST_NAMED])} and {len(names) - MOST_NAMED} others"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def number(value: float) -> str:
    """Return a number as people read it: three digits that count.

    Examples
    --------
    >>> number(0.97185), number(1234.5), number(-0.0), number(float("nan"))
    ('0.972', '1234', '0.000', '-')
    """
    if not math.isfinite(value):
        return "-"
    value += 0.0  # zero has no sign for a reader
    if abs(value) >= 1000:
        return f"{value:.0f}"
    return f"{value:.3g}" if abs(value) >= 1 or 0 < abs(value) < 0.001 else f"{value:.3f}"


def signed(interval: Interval) -> str:
    """Return a difference with its interval.

    Examples
    --------
    >>> signed(Interval(0.1, 0.05, 0.15)), signed(Interval(0.1))
    ('+0.100 [+0.050, +0.150]', '+0.100')
    """
    shown = signed_number(interval.estimate)
    if math.isfinite(interval.low):
        shown += f" [{signed_number(interval.low)}, {signed_number(interval.high)}]"
    return shown


def signed_number(value: float) -> str:
    """Return a difference as people read it.

    Examples
    --------
    >>> signed_number(0.0121), signed_number(-0.5)
    ('+0.012', '-0.500')
    """
    return f"+{number(value)}" if value >= 0 else number(value)
