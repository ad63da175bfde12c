"""PG307 and PG308: the claims of a paper against what its results say.

A claims file is a list of what a paper says, each claim with its sentence::

    [[claim]]
    text = "Our forest beats the tree on all datasets (Section 5)"
    better = "forest"
    than = "tree"
    metric = "accuracy"

    [[claim]]
    value = 0.953
    of = "forest"
    on = "iris"
    metric = "accuracy"

Every claim *holds*, *does not follow* or *is contradicted*. An order holds where the comparison of
the store says so by its own words (`paragone.stats.verdicts`), with the correction over all rivals;
that a mean is higher is not enough. It is contradicted where the opposite is shown, and does not
follow where nothing is shown.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from paragone.checks.finding import Ledger
from paragone.checks.tables import numbers_in
from paragone.errors import InputError, unknown_name
from paragone.intervals import Interval
from paragone.lab.view import View
from paragone.stats import DatasetComparison, compare
from paragone.stats.verdicts import Word
from paragone.stats.words import datasets_in_words, number, signed

CHECK = "claims of the paper"
Standing: TypeAlias = Literal["holds", "does not follow", "is contradicted"]
WORSE: tuple[Standing, ...] = ("holds", "does not follow", "is contradicted")
Scope: TypeAlias = Literal["these", "like"]
KINDS = ("better", "best", "equal", "value")
KEYS = ("text", *KINDS, "than", "of", "on", "metric", "at", "datasets", "margin", "scope")


@dataclass(frozen=True)
class PaperClaim:
    """One claim of a paper.

    Attributes
    ----------
    number : int
        Its place in the file, from 1.
    kind : {"better", "best", "equal", "value"}
        That a method is better than others, than all others, that two are equivalent, or that a
        mean is a number.
    methods : tuple of str
        Whom it is about; the first is the one that is said to be better.
    metric, at : str
        By what, and at which point of a grid, such as ``k=10``; empty for what a grid is reduced
        to.
    datasets : tuple of str
        Where; everywhere where none is named.
    margin : float
        How much better at least, or within what two are equivalent, in units of the metric.
    scope : {"these", "like"}
        Whether it is about the datasets at hand, or about datasets like them.
    value : str
        The number as printed.
    text : str
        The sentence of the paper.
    """

    number: int
    kind: str
    methods: tuple[str, ...]
    metric: str
    at: str = ""
    datasets: tuple[str, ...] = ()
    margin: float = 0.0
    scope: Scope = "these"
    value: str = ""
    text: str = ""

    @property
    def where(self) -> str:
        """What findings call it."""
        return f"claim {self.number}" + (f" ({self.text!r})" if self.text else "")


@dataclass(frozen=True)
class Judged:
    """A claim with what the store says of it."""

    claim: PaperClaim
    standing: Standing
    sentence: str


def read_claims(file: str | Path) -> tuple[PaperClaim, ...]:
    """Read the claims of a TOML file."""
    path = Path(file)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    try:
        return parse_claims(text)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def parse_claims(text: str) -> tuple[PaperClaim, ...]:
    r"""Read claims from TOML.

    Examples
    --------
    >>> parse_claims('[[claim]]\nbetter = "A"\nthan = "B"\nmetric = "accuracy"\n')[0].methods
    ('A', 'B')
    >>> parse_claims('[[claim]]\nvalue = 0.950\nof = "A"\nmetric = "accuracy"\n')[0].value
    '0.950'
    >>> parse_claims('[[claim]]\nbeter = "A"\n')
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: claim 1: unknown key 'beter': did you mean 'better'?
    """
    try:
        # As decimals: a number stands for what rounds to its printed digits, the last zeros too.
        given = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"it is no TOML: {error}") from error
    unknown = next((key for key in given if key != "claim"), None)
    if unknown is not None:
        raise unknown_name("key", unknown, ("claim",))
    claims = given.get("claim")
    if (
        not isinstance(claims, list)
        or not claims
        or not all(isinstance(one, dict) for one in claims)
    ):
        raise InputError("it holds no claim: each begins with a line [[claim]]")
    return tuple(_claim(number, one) for number, one in enumerate(claims, start=1))


def _claim(number: int, given: Mapping[str, Any]) -> PaperClaim:
    try:
        return _checked(number, given)
    except InputError as error:
        raise InputError(f"claim {number}: {error}") from error


def _checked(number: int, given: Mapping[str, Any]) -> PaperClaim:
    for key in given:
        if key not in KEYS:
            raise unknown_name("key", key, KEYS)
    kinds = [kind for kind in KINDS if kind in given]
    if len(kinds) != 1:
        raise InputError(
            f"it says {' and '.join(kinds) or 'nothing'}: a claim has one of {', '.join(KINDS)}"
        )
    (kind,) = kinds
    allowed = {
        "better": ("than", "margin"),
        "best": ("margin",),
        "equal": ("margin",),
        "value": ("of", "on"),
    }[kind]
    for key in ("than", "margin", "of", "on"):
        if key in given and key not in allowed:
            raise InputError(f"{key} has no place beside {kind}")
    scope = _text(given, "scope", "these")
    if scope not in ("these", "like"):
        raise unknown_name("scope", scope, ("these", "like"))
    if kind == "value" and "datasets" in given:
        raise InputError("a value is of the datasets that `on` names")
    methods = (
        _texts(given, "equal")
        if kind == "equal"
        else (_text(given, "of" if kind == "value" else kind),)
    )
    methods += _texts(given, "than") if kind == "better" else ()
    if kind in ("better", "equal") and (
        len(set(methods)) < 2 or (kind == "equal" and len(methods) != 2)
    ):
        raise InputError(f"{kind} needs two methods: {', '.join(methods)} was given")
    margin = given.get("margin", 0)
    if (
        isinstance(margin, bool)
        or not isinstance(margin, (int, Decimal))
        or not 0 <= margin < 10**9
    ):
        raise InputError(f"margin is a difference in units of the metric, 0 or more, not {margin}")
    if kind == "equal" and not margin:
        raise InputError("that two are equal needs a margin: within what difference?")
    value = str(given.get("value", ""))
    if kind == "value" and len(numbers_in(value)) != 1:
        raise InputError(f"value must be one number, it is {value!r}")
    return PaperClaim(
        number,
        kind,
        methods,
        _text(given, "metric"),
        _text(given, "at", ""),
        _texts(given, "on" if kind == "value" else "datasets", ()),
        float(margin),
        "like" if scope == "like" else "these",
        value,
        _text(given, "text", ""),
    )


def _text(given: Mapping[str, Any], key: str, default: str | None = None) -> str:
    if key not in given and default is not None:
        return default
    value = given.get(key)
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{key} must be a text" if key in given else f"the key {key!r} is missing")
    return value


def _texts(
    given: Mapping[str, Any], key: str, default: tuple[str, ...] | None = None
) -> tuple[str, ...]:
    if isinstance(given.get(key), list):
        values = given[key]
        if not values or not all(isinstance(one, str) and one.strip() for one in values):
            raise InputError(f"{key} must be a text or a list of texts")
        return tuple(dict.fromkeys(values))
    return default if key not in given and default is not None else (_text(given, key),)


def check_claims(claims: Sequence[PaperClaim], view: View, ledger: Ledger, file: str = "") -> None:
    """Hold every claim against the comparison of the store."""
    judged = [judge_claim(claim, view) for claim in claims]
    codes = {"is contradicted": "PG307", "does not follow": "PG308"}
    for one in judged:
        if one.standing != "holds":
            words = f"{one.claim.where} {one.standing}: {one.sentence}"
            ledger.find(codes[one.standing], words, file=file, count=1, total=len(claims))
    held = [f"{one.claim.where} holds: {one.sentence}" for one in judged if one.standing == "holds"]
    ledger.look(CHECK, len(claims), "claims", "; ".join(held) or "none holds")


def judge_claim(claim: PaperClaim, view: View) -> Judged:
    """Say whether a claim holds in an experiment, and what the results say."""
    try:
        if claim.kind == "value":
            return _judge_value(claim, view)
        return _judge_methods(claim, view)
    except InputError as error:
        raise InputError(f"{claim.where}: {error}") from error


def _narrowed(claim: PaperClaim, view: View) -> View:
    known = list(view.described["methods"])
    for name in claim.methods:
        if name not in known:
            raise unknown_name("method", name, known)
    narrowed = view.narrowed(
        metric=claim.metric, at=claim.at, reference=claim.methods[0], datasets=claim.datasets
    )
    if len(narrowed.grids) > 1:
        raise InputError(
            f"there are {len(narrowed.grids)} grids: say at which point, such as at = 'k=10'"
        )
    return narrowed


def _judge_value(claim: PaperClaim, view: View) -> Judged:
    (scores,) = _narrowed(claim, view).grids
    mine = scores.folds[
        (scores.folds["metric"] == claim.metric) & (scores.folds["method"] == claim.methods[0])
    ]
    if mine.empty:
        raise InputError(f"{claim.methods[0]} has no score by {claim.metric} there")
    mean = float(mine.groupby("dataset", sort=False)["value"].mean().mean())
    (printed,) = numbers_in(claim.value)
    where = (
        ", ".join(claim.datasets)
        if claim.datasets
        else f"{datasets_in_words(mine['dataset'].nunique())}"
    )
    sentence = f"the mean {claim.metric} of {claim.methods[0]} on {where} is {mean:.6g}"
    if printed.agrees(mean):
        return Judged(claim, "holds", sentence)
    return Judged(claim, "is contradicted", f"{sentence}, not {claim.value}")


def _judge_methods(claim: PaperClaim, view: View) -> Judged:
    narrowed = _narrowed(claim, view)
    (scores,) = narrowed.grids
    rows = scores.folds[scores.folds["metric"] == claim.metric]
    declared = narrowed.results.declared_comparison(narrowed.experiment)
    if unknown := declared.code_to_import():
        raise InputError(f"{unknown[0]} is code, which --run-code imports")
    first = claim.methods[0]
    compared = compare(
        rows,
        metric=claim.metric,
        reference=first,
        test=declared.test,
        correction=declared.correction,
        margin=claim.margin if claim.kind == "equal" else declared.margin or 0.0,
        # A margin is in units of the metric.
        differences="plain" if claim.margin else None,
        bayes=False,
        designs=narrowed.designs,
    )
    rivals = claim.methods[1:] or tuple(pair.rival for pair in compared.leading_pairs)
    found = [_against(compared, first, rival, claim) for rival in rivals]
    standings = [standing for standing, _ in found]
    worst = max(standings, key=WORSE.index)
    told = [sentence for standing, sentence in found if standing == worst]
    return Judged(claim, worst, "; ".join(told))


def _against(
    compared: DatasetComparison, method: str, rival: str, claim: PaperClaim
) -> tuple[Standing, str]:
    pair = next(one for one in compared.leading_pairs if one.rival == rival)
    learner = next(iter(compared.learners_of(method, [rival])), None)
    told = pair if claim.scope == "like" or learner is None else learner
    if claim.kind == "equal":
        standing = standing_of_equal(told.verdict, told.difference, told.within, claim.margin)
    else:
        standing = standing_of_order(told.verdict, told.difference, claim.margin)
    n = len(compared.scores.datasets)
    where = (
        f"datasets like these {n}"
        if told is pair
        else ("this dataset" if n == 1 else f"these {n} datasets")
    )
    word = (
        f"{told.verdict} than" if told.verdict in ("better", "worse") else f"{told.verdict} against"
    )
    p = "" if np.isnan(told.p_adjusted) else f", p = {number(told.p_adjusted)}"
    sentence = (
        f"{method} is {word} {rival} by {claim.metric} on {where}: {signed(told.difference)}{p}"
    )
    if told is not pair and n > 1 and pair.verdict != told.verdict:
        sentence += f" (on datasets like these: {pair.verdict})"
    if claim.margin:
        sentence += f"; the margin claimed is {claim.margin:g}"
    return standing, sentence


def standing_of_order(word: Word, difference: Interval, margin: float = 0.0) -> Standing:
    """Say whether a method is better than another by at least a margin.

    Examples
    --------
    >>> found = Interval(0.05, 0.03, 0.07)
    >>> standing_of_order("better", found), standing_of_order("undecided", Interval(0.05, -0.1, 0.2))
    ('holds', 'does not follow')
    >>> [standing_of_order("better", found, margin) for margin in (0.02, 0.04, 0.1)]
    ['holds', 'does not follow', 'is contradicted']
    >>> standing_of_order("worse", Interval(-1, -2, -0.1))
    'is contradicted'
    """
    if word == "worse" or (margin > 0 and difference.high < margin):
        return "is contradicted"
    return (
        "holds"
        if word == "better" and (not margin or difference.low >= margin)
        else "does not follow"
    )


def standing_of_equal(word: Word, difference: Interval, within: bool, margin: float) -> Standing:
    """Say whether two methods differ by less than a margin.

    Examples
    --------
    >>> standing_of_equal("equivalent", Interval(0.0, -0.01, 0.01), True, 0.02)
    'holds'
    >>> standing_of_equal("better", Interval(0.05, 0.03, 0.07), False, 0.02)
    'is contradicted'
    >>> standing_of_equal("better", Interval(0.03, 0.01, 0.05), False, 0.02)
    'does not follow'
    """
    if within:
        return "holds"
    beyond = difference.low > margin or difference.high < -margin
    return "is contradicted" if word in ("better", "worse") and beyond else "does not follow"
