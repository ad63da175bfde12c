"""The finding of a comparison as a headline: one sentence, and the scope that it holds in.

The two scopes are two claims. A headline speaks of one of them, whose pairs are the ones to draw
beside it, so that every word of it can be read off the picture; what the other scope shows stands
beside.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paragone.metrics import metric_in_words
from paragone.stats.datasets import DatasetComparison
from paragone.stats.verdicts import Verdict
from paragone.stats.words import TwoScopes, claims_in_words, enough_datasets, number, where_in_words

LIKE_THESE = "On datasets like these"
MOST_IN_HEADLINE = 4
"""More names than these are two names and a count."""


@dataclass(frozen=True)
class Headline:
    """A finding in one sentence.

    Attributes
    ----------
    scope, text : str
        Where it holds, and what was found there.
    beside, beside_text : str
        The other scope and what is said in it; empty where nothing is.
    pairs : tuple
        The pairs of the scope that the sentence speaks of; a pair without a p has no word.
    """

    scope: str
    text: str
    beside: str
    beside_text: str
    pairs: tuple[Verdict, ...]


def headline_of(comparison: DatasetComparison, failed: Sequence[str] = ()) -> Headline:
    """Return the headline of a comparison.

    Parameters
    ----------
    comparison : DatasetComparison
        Of all pairs, or with a reference, which the headline is then about.
    failed : sequence of str
        Methods that are not in the comparison because they failed.

    Examples
    --------
    >>> import pandas as pd, paragone
    >>> scores = pd.DataFrame({"dataset": list("abcdefgh"), "new": [0.9] * 8, "old": [0.8] * 8})
    >>> found = headline_of(paragone.compare(scores, metric="accuracy"))
    >>> found.scope, found.text
    ('On datasets like these', 'new is better than old.')
    """
    best = comparison.ordered[0]
    found = comparison.finding_of(comparison.leader)
    here, like = found.on_these, found.like_these
    n = len(found.datasets)
    told_here = any(not math.isnan(pair.p_raw) for pair in here)
    decided = [any(pair.word != "undecided" for pair in pairs) for pairs in (here, like)]
    if told_here and not (n > 1 and decided[1] and not decided[0]):
        text = _sentence(found, here, best, failed)
        beside = _like_these(found) if n > 1 else "One dataset cannot speak for others."
        return Headline(
            where_in_words(found.datasets), text, LIKE_THESE, beside, comparison.learners
        )
    if n > 1:
        text = _sentence(found, like, best, failed)
        here_text = "The folds alone do not show it." if told_here else found.untold
        if not decided[1]:
            text, here_text = (
                f"{_standing(found, best)}{_failed(failed)}.",
                f"{_like_these(found)} {here_text}".strip(),
            )
        return Headline(LIKE_THESE, text, "How sure that is" if not decided[1] else "On these datasets", here_text,
                        comparison.pairs)  # fmt: skip
    untold = (
        found.untold or "One score on one dataset says nothing of chance: give the scores of folds."
    )
    text = f"{_standing(found, best)}{_failed(failed)}."
    return Headline(where_in_words(found.datasets), text, "How sure that is", untold, ())


def _sentence(found: TwoScopes, pairs: Sequence[Verdict], best: str, failed: Sequence[str]) -> str:
    return pair_sentence(
        found.leader, best, pairs, found.means, failed, logarithms=found.logarithms
    )


def pair_sentence(
    leader: str,
    best: str,
    pairs: Sequence[Verdict],
    means: Mapping[str, float],
    failed: Sequence[str] = (),
    *,
    logarithms: bool = False,
) -> str:
    """Say how a method does: what is worse, what may be as good, what is equivalent, what is better, what failed.

    Parameters
    ----------
    leader, best : str
        The method that the sentence is about, and the one with the best mean.
    pairs : sequence of Verdict
        The leader against each rival.
    means : mapping of str to float
        Mean scores, the best first.
    failed : sequence of str
        Methods that were not compared because they failed.
    logarithms : bool
        Whether differences are log-ratios, so that a lead in units means nothing.

    Examples
    --------
    >>> from paragone.intervals import Interval
    >>> words = {"B": "undecided", "C": "better"}
    >>> told = Interval(0.1), 0.5, 0.5, "this data", "fold", 9
    >>> pairs = [Verdict("A", rival, word, *told) for rival, word in words.items()]
    >>> pair_sentence("A", "A", pairs, {"A": 0.9, "B": 0.8, "C": 0.7})
    'A scores best; B may be as good, and C is worse.'
    """
    words = {pair.rival: pair for pair in pairs}
    rivals = [name for name in means if name in words]
    by_word: dict[str, list[str]] = {}
    for name in rivals:
        by_word.setdefault(words[name].word, []).append(name)
    worse, equal, open_ = (by_word.get(word, []) for word in ("better", "equivalent", "undecided"))
    better = by_word.get("worse", [])
    small = (
        ", though by less than the margin"
        if worse and all(words[name].within for name in worse)
        else ""
    )
    if len(worse) == len(rivals):
        whom = rivals[0] if len(rivals) == 1 else _all(len(rivals))
        lead = (
            f"{leader} is better than {whom}"
            if len(rivals) == 1
            else f"{leader} is best: better than {whom}"
        )
        return f"{lead}{small}{_failed(failed)}."
    if len(open_) == len(rivals):
        return f"Undecided: {_open(leader, best, rivals, means, logarithms)}{_failed(failed)}."
    parts = []
    if better:
        parts.append(f"{_who(better)} {_are(better)} better")
    if equal:
        parts.append(f"{_who(equal)} {_are(equal)} equivalent")
    if open_:
        parts.append(f"{_who(open_)} may be as good")
    if worse:
        shown = str(len(worse)) if len(worse) > MOST_IN_HEADLINE else _who(worse)
        parts.append(f"{shown} {_are(worse)} worse{small}")
    if failed:
        parts.append(_counted(failed))
    joined = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])}, and {parts[-1]}"
    if leader != best:
        return f"Against {leader}: {joined}."
    # The dataset as the unit counts wins: a few large ones make the best mean of a method that
    # loses to another.
    return (
        f"{leader} has the best mean, yet {joined}."
        if better
        else f"{leader} scores best; {joined}."
    )


def _open(
    leader: str, best: str, rivals: Sequence[str], means: Mapping[str, float], logarithms: bool
) -> str:
    """Say that nothing is shown of any rival."""
    if leader != best:
        return f"nothing is shown of {leader} against {_who(rivals)}"
    ahead = abs(means[rivals[0]] - means[leader])
    if ahead == 0:
        return f"{leader} and {rivals[0]} score the same"
    of = "" if logarithms else f" of {number(ahead)}"
    return f"{leader} scores best, but its lead{of} could be chance"


def _standing(found: TwoScopes, best: str) -> str:
    """Say who has what, with no word of whether that is chance."""
    names = list(found.means)
    if len(names) < 2:
        return f"{names[0]} has {number(found.means[names[0]])} by {metric_in_words(found.metric)}"
    other = next(name for name in names if name != found.leader)
    mine, theirs = number(found.means[found.leader]), number(found.means[other])
    lead = "leads" if found.leader == best else "stands"
    return f"{found.leader} {lead} with {mine} against {theirs} of {other}, and nothing is shown"


def _like_these(found: TwoScopes) -> str:
    pairs, n = found.like_these, len(found.datasets)
    if any(pair.word != "undecided" for pair in pairs):
        order = [name for name in found.means if name != found.leader]
        return f"{found.leader} is {claims_in_words(pairs, order, found.settings)}."
    enough, many = (
        enough_datasets(len(found.family.pairs), found.settings.alpha),
        len(found.family.pairs),
    )
    if n < enough and not found.family.on_ranks:
        whom = f"{many} pairs" if many > 1 else "a pair"
        return f"Not shown yet: {n} datasets are too few for {whom}. At least {enough} are needed."
    return "No difference is shown."


def _who(names: Sequence[str]) -> str:
    if len(names) > MOST_IN_HEADLINE:
        return f"{', '.join(names[:2])} and {len(names) - 2} others"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _all(n: int) -> str:
    return "both others" if n == 2 else f"all {n} others"


def _are(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _counted(failed: Sequence[str]) -> str:
    return f"{_who(failed)} failed"


def _failed(failed: Sequence[str]) -> str:
    return f"; {_counted(failed)}" if failed else ""
