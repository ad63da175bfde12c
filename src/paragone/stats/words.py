"""The one grammar of findings: a sentence is a function of verdicts, whatever the unit and the surface.

Four words, two scopes. What is said of a leader and its rivals stands in `Findings`; whoever writes
a sentence, a row of the answer, a title of a page or a caption asks it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from paragone.intervals import Interval
from paragone.metrics import metric_in_words
from paragone.stats.pairs import Pair
from paragone.stats.signed_rank import pairs_needed
from paragone.stats.verdicts import Scope, Verdict

SCOPES: tuple[Scope, ...] = ("this data", "new datasets")
MOST_NAMED = 4

CLAIMS = {
    "better": "better than {}",
    "equivalent": "equivalent to {} within {:g}",
    "undecided": "undecided against {}",
    "worse": "worse than {}",
}


@dataclass(frozen=True)
class Findings:
    """What is said of a leader and its rivals, in both scopes.

    Attributes
    ----------
    leader : str
        The method that the sentences are about: the best by its mean, or the reference.
    metric : str
        What was measured; empty where it has no name.
    higher_is_better : bool
        Its direction.
    means : mapping of str to float
        Mean scores, by method, the best first.
    scopes : mapping of str to tuple of Verdict
        By scope, the leader against each rival, the best rival first; a verdict without a p was not
        tested.
    untold : mapping of str to str
        By scope, why it cannot be told more, as a sentence.
    measured : str
        On how much, in words.
    won : mapping of str to str
        By rival, on how many units the leader is ahead.
    n_family : int
        How many comparisons the p-values are adjusted for.
    level : float
        Of the intervals, all together.
    margin : float
        Differences up to this size do not matter; 0: none was stated.
    logarithms : bool
        Whether differences are log-ratios, and the means geometric ones.
    tasks : mapping of str to Verdict
        The leader against its only rival, task by task.
    remarks : tuple of str
        What belongs below the rows: counts, and what would decide the rest.

    Examples
    --------
    >>> told = Interval(0.1, 0.02, 0.2), 0.02, 0.01, "this data", "fold", 10
    >>> pairs = Verdict("A", "B", "better", *told), Verdict("A", "C", "undecided", *told)
    >>> found = Findings("A", "accuracy", True, {"A": 0.9, "B": 0.8, "C": 0.7}, {"this data": pairs})
    >>> print(found)
    On this data, A is better than B, and undecided against C.
    """

    leader: str
    metric: str
    higher_is_better: bool
    means: Mapping[str, float]
    scopes: Mapping[Scope, tuple[Verdict, ...]]
    untold: Mapping[Scope, str] = field(default_factory=dict)
    measured: str = ""
    won: Mapping[str, str] = field(default_factory=dict)
    n_family: int = 1
    level: float = 0.95
    margin: float = 0.0
    logarithms: bool = False
    tasks: Mapping[str, Verdict] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    def renamed(self, names: Mapping[str, str]) -> Self:
        """Return the same with other names of the methods."""

        def told(pair: Verdict) -> Verdict:
            return replace(pair, method=names[pair.method], rival=names[pair.rival])

        return replace(
            self,
            leader=names[self.leader],
            means={names[name]: mean for name, mean in self.means.items()},
            scopes={scope: tuple(map(told, pairs)) for scope, pairs in self.scopes.items()},
            won={names[rival]: text for rival, text in self.won.items()},
            tasks={task: told(pair) for task, pair in self.tasks.items()},
        )

    @property
    def best(self) -> str:
        """The method with the best mean."""
        return next(iter(self.means))

    def tested(self, scope: Scope) -> tuple[Verdict, ...]:
        """Return the verdicts of a scope, if any pair was tested in it."""
        pairs = self.scopes.get(scope, ())
        return pairs if any(not math.isnan(pair.p_raw) for pair in pairs) else ()

    @property
    def shown(self) -> Scope | None:
        """The scope that leads, whose numbers stand beside the words: the first in which anything is decided."""
        tested = [scope for scope in SCOPES if self.tested(scope)]
        decided = [scope for scope in tested if is_decided(self.scopes[scope])]
        return next(iter([*decided, *tested]), None)

    @property
    def pairs(self) -> tuple[Verdict, ...]:
        """The verdicts of the scope that leads."""
        return () if self.shown is None else self.scopes[self.shown]

    def claim(self, scope: Scope, subject: str = "") -> str:
        """Say what the leader is in one scope, without the scope and without a full stop."""
        pairs, who = self.scopes[scope], subject or self.leader
        ends = ""
        if len(pairs) == 1 and not subject:
            mine, theirs = (number(self.means[name]) for name in (self.leader, pairs[0].rival))
            ends = f": {mine} against {theirs}"
        if is_decided(pairs):
            within = all(pair.within and pair.word == "better" for pair in pairs)
            small = ", by less than the margin" if within else ""
            # The dataset as the unit counts wins: a few large ones make the best mean of a method
            # that loses to another.
            yet = who == self.best and any(pair.word == "worse" for pair in pairs)
            has = " has the best mean, yet" if yet else ""
            return f"{who}{has} is {claims_in_words(pairs, self.margin)}{small}{ends}"
        if len(pairs) == 1:
            return f"{who} against {pairs[0].rival} is undecided{ends}"
        standing = f" (best mean, {number(self.means[who])})" if who == self.best else ""
        return f"{who}{standing} is {claims_in_words(pairs, self.margin)}"

    def sentence(self, scope: Scope) -> str:
        """Say what the leader is in one scope."""
        return f"On {scope}, {self.claim(scope)}."

    @property
    def standing(self) -> str:
        """Say who has what where nothing was tested, without a full stop."""
        names = [self.leader, *(name for name in self.means if name != self.leader)]
        told = [f"{name} has {number(self.means[name])}" for name in names[:2]]
        return f"{', '.join(told)}{self.by}"

    @property
    def by(self) -> str:
        """Name the metric, where it has a name."""
        if self.logarithms:
            named_or_not = metric_in_words(self.metric) if self.metric else "the scores"
            return f" by the geometric mean of {named_or_not}"
        return f" by {metric_in_words(self.metric)}" if self.metric else ""

    def beside(self, scope: Scope) -> str:
        """Say what is known in the scope that does not lead; nothing where there is nothing to say."""
        if self.untold.get(scope) or not self.tested(scope):
            return self.untold.get(scope, "")
        if is_decided(self.scopes[scope]):
            return f"On {scope}, {self.claim(scope, 'it')}."
        return f"On {scope}, all is undecided."

    def __str__(self) -> str:
        """Say what is shown in both scopes, in a sentence each."""
        told = [f"{self.standing}."] if self.shown is None else [self.sentence(self.shown)]
        if self.shown is not None:
            told.append(self.untold.get(self.shown, ""))
        told += [self.beside(scope) for scope in SCOPES if scope != self.shown]
        return " ".join(text for text in told if text)

    @property
    def said(self) -> str:
        """What is said in the scope that leads, without the scope and without a full stop."""
        return self.standing if self.shown is None else self.claim(self.shown)

    @property
    def decimals(self) -> tuple[int, int]:
        """How many decimals show three digits of the means, and two of the differences and their limits."""
        sizes = [abs(mean) for mean in self.means.values() if math.isfinite(mean) and mean]
        told = (*self.pairs, *self.tasks.values())
        widths = [
            (pair.difference.high - pair.difference.low) / 2
            for pair in told
            if pair.difference.high > pair.difference.low
        ]
        widths = widths or [
            abs(pair.difference.estimate) for pair in told if pair.difference.estimate
        ]
        of_means = _decimals(min(sizes, default=1.0), 3)
        return of_means, max(of_means, _decimals(min(widths, default=1.0), 2))


def _decimals(size: float, digits: int) -> int:
    return min(6, max(0, digits - 1 - math.floor(math.log10(size)))) if math.isfinite(size) else 3


def is_decided(pairs: Sequence[Verdict]) -> bool:
    """Say whether any of some verdicts is more than undecided.

    Examples
    --------
    >>> is_decided([])
    False
    """
    return any(pair.word != "undecided" for pair in pairs)


def claims_in_words(pairs: Sequence[Verdict], margin: float = 0.0) -> str:
    """Say what a method is against its rivals, word by word.

    Examples
    --------
    >>> told = Interval(0.1), 0.5, 0.5, "this data", "fold", 9
    >>> words = {"B": "undecided", "C": "better", "D": "undecided"}
    >>> claims_in_words([Verdict("A", rival, word, *told) for rival, word in words.items()])
    'better than C, and undecided against B and D'
    """
    told: dict[str, list[str]] = {}
    for pair in pairs:
        told.setdefault(pair.word, []).append(pair.rival)
    claims = [
        text.format(named(told[word], len(pairs)), margin)
        for word, text in CLAIMS.items()
        if word in told
    ]
    return claims[0] if len(claims) == 1 else f"{', '.join(claims[:-1])}, and {claims[-1]}"


def claim_of(pair: Verdict, margin: float) -> str:
    """Say what a method is against one rival.

    Examples
    --------
    >>> claim_of(Verdict("A", "B", "undecided", Interval(0.1), 0.5, 0.5, "this data", "fold", 9), 0.0)
    'A against B is undecided'
    """
    if pair.word == "undecided":
        return f"{pair.method} against {pair.rival} is undecided"
    small = ", by less than the margin" if pair.within and pair.word != "equivalent" else ""
    return f"{pair.method} is {claims_in_words([pair], margin)}{small}"


def direction_in_words(higher_is_better: bool) -> str:
    """Say which way is better."""
    return "higher is better" if higher_is_better else "lower is better"


def too_few(n_datasets: int, n_pairs: int, alpha: float) -> str:
    """Say how many datasets new ones need; nothing where there are as many.

    Examples
    --------
    >>> too_few(3, 4, 0.05), too_few(20, 4, 0.05)
    ('For new datasets, 3 are too few: at least 8 are needed.', '')
    """
    enough = enough_datasets(n_pairs, alpha)
    if n_datasets >= enough:
        return ""
    return f"For new datasets, {n_datasets} are too few: at least {enough} are needed."


def enough_datasets(n_pairs: int, alpha: float) -> int:
    """Return on how many datasets a method must win for a signed-rank test to show it, whichever of the pairs it is.

    Examples
    --------
    >>> enough_datasets(1, 0.05), enough_datasets(10, 0.05)
    (6, 9)
    """
    return pairs_needed(alpha / n_pairs)


def named(names: Sequence[str], n_all: int = 0) -> str:
    """Return names as a sentence has them; many that are all of them by their number.

    Examples
    --------
    >>> named(["a", "b", "c"]), named(list("abcdef")), named(list("abcdef"), 6)
    ('a, b and c', 'a, b, c, d and 2 others', 'all 6 others')
    """
    if len(names) > MOST_NAMED + 1:
        if len(names) == n_all:
            return f"all {n_all} others"
        return f"{', '.join(names[:MOST_NAMED])} and {len(names) - MOST_NAMED} others"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def counted(n: int, unit: str) -> str:
    """Return a number of things.

    Examples
    --------
    >>> counted(1, "dataset"), counted(2, "dataset"), counted(3, "query")
    ('1 dataset', '2 datasets', '3 queries')
    """
    if n == 1:
        return f"1 {unit}"
    return f"{n} {unit[:-1]}ies" if unit.endswith("ry") else f"{n} {unit}s"


def wins_in_words(pair: Pair) -> str:
    """Say on how many units a method is ahead of its rival: of all, or where there are ties against the losses."""
    return f"{pair.wins} to {pair.losses}" if pair.ties else f"{pair.wins} of {pair.n}"


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
