"""What a test and a correction are, and the two registries in which they are found by name.

A test is a function from paired differences, of which a positive one favours the method, to a
`TestResult`; a correction is a function from raw to adjusted p-values. Ours add themselves when
their module is imported; an installed package adds its own by the entry points ``paragone.tests``
and ``paragone.corrections``; any other is named ``module:name``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np

from paragone.errors import InputError
from paragone.intervals import Interval
from paragone.registry import Registry
from paragone.ties import FloatArray

Unit = Literal["dataset", "subject", "sample", "fold"]
"""What one difference belongs to. Datasets and subjects are independent, folds share training rows, samples cluster."""

OPTIONS = (
    "zeros",
    "exact_up_to",
    "test_train_ratio",
    "repeats",
    "n_train",
    "clusters",
    "strata",
    "weights",
    "level",
)
"""What a comparison can hand to a test that asks for it."""


@dataclass(frozen=True, kw_only=True)
class TestResult:
    """What a test on paired differences found.

    Attributes
    ----------
    p : float
        Two-sided p; NaN where the test cannot tell.
    side : float
        Positive where the differences favour the method, negative where they favour the rival.
    exact : bool
        Whether p is exact.
    smallest_p : float
        The smallest p that so many differences could have given; 0 where there is no such bound.
    interval : Interval or None
        The mean difference between its confidence limits, where the test gives them.

    Examples
    --------
    >>> TestResult(p=0.03, side=1.0).turned().side
    -1.0
    """

    p: float
    side: float
    exact: bool = False
    smallest_p: float = 0.0
    interval: Interval | None = None

    # Its name begins like that of a class of tests, which pytest would collect.
    __test__: ClassVar[bool] = False

    def turned(self) -> Self:
        """Return the result as it looks from the rival."""
        interval = None if self.interval is None else self.interval.turned()
        return replace(self, side=-self.side, interval=interval)

    def words(self, n: int, units: str) -> str:
        """Say in brackets behind a p how it came about."""
        return f"two-sided, {n} {units}"


@dataclass(frozen=True)
class Test:
    """A test on paired differences, as the registry has it.

    Attributes
    ----------
    name, title : str
        How it is asked for, and how a sentence calls it.
    function : callable
        From settled differences to a `TestResult`.
    needs : tuple of str
        The options it takes as keywords, out of `OPTIONS`.
    units : tuple of str
        The units whose differences it is right for.
    least : int
        The fewest differences it takes; with fewer, nothing is shown.
    heading, label : str
        How the beginning of a line and a row of a table call it; by default as the title does.
    remark : callable, optional
        From the options to what a caption says in brackets behind its p.
    chosen : callable, optional
        From the results and the options to the words behind the title among the choices.
    without_each : callable, optional
        A quicker way to p and side without each difference in turn than to run the test anew.
    by_rank : bool
        Whether only the order of the differences counts, so that a failed score can be the largest
        loss of all; other tests leave failed scores out.
    by_sign : bool
        Whether only the signs of the differences count: a failed score is a loss here too.
    estimate, interval_in_words : str
        What the test is about, and how the interval of it comes about; empty where it gives none.
    power : callable, optional
        From differences, the level ``alpha`` and the ``most`` worth naming to how many would give
        80 % power, or None.

    Examples
    --------
    >>> def always(differences):
    ...     return TestResult(p=0.01, side=float(differences.sum()))
    >>> Test("always", "always significant", always).run(np.array([1.0, 2.0]), {}).side
    3.0
    """

    name: str
    title: str
    function: Callable[..., TestResult]
    needs: tuple[str, ...] = ()
    units: tuple[Unit, ...] = get_args(Unit)
    least: int = 1
    heading: str = ""
    label: str = ""
    remark: Callable[[Mapping[str, Any]], str] | None = None
    chosen: Callable[[Sequence[Any], Mapping[str, Any]], str] | None = None
    without_each: Callable[..., tuple[FloatArray, FloatArray]] | None = None
    by_rank: bool = False
    by_sign: bool = False
    estimate: str = "mean difference"
    interval_in_words: str = "of the mean difference, from the same test"
    power: Callable[..., int | None] | None = None

    __test__: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "heading", self.heading or self.title[:1].upper() + self.title[1:])
        object.__setattr__(self, "label", self.label or self.title)

    def run(self, differences: FloatArray, options: Mapping[str, Any]) -> TestResult:
        """Test settled differences."""
        if differences.size < self.least:
            return TestResult(p=np.nan, side=0.0)
        found = self.function(differences, **self._wanted(options))
        if not isinstance(found, TestResult) or not (np.isnan(found.p) or 0 <= found.p <= 1):
            raise InputError(
                f"test {self.name!r} must return a TestResult with a p between 0 and 1, not"
                f" {found!r}"
            )
        return found

    def leave_one_out(
        self, differences: FloatArray, options: Mapping[str, Any]
    ) -> tuple[FloatArray, FloatArray]:
        """Return p and side without each of two or more differences in turn."""
        if self.without_each is not None:
            return self.without_each(differences, **self._wanted(options))
        found = [
            self.run(np.delete(differences, place), options) for place in range(differences.size)
        ]
        return np.array([test.p for test in found]), np.array([test.side for test in found])

    def in_words(self, results: Sequence[TestResult], options: Mapping[str, Any]) -> str:
        """Say which test it is and what was chosen for it."""
        return f"{self.title}, two-sided" + (
            "" if self.chosen is None else f", {self.chosen(results, options)}"
        )

    def intervals(self, level: str) -> str:
        """Say which intervals it gives at a level, if any."""
        return (
            f"{level}, {self.interval_in_words}"
            if self.interval_in_words
            else "none: this test gives no interval"
        )

    def p_in_words(self, options: Mapping[str, Any]) -> str:
        """Say in a caption what its p is."""
        return f"two-sided {self.title} p" + (
            "" if self.remark is None else f" ({self.remark(options)})"
        )

    def _wanted(self, options: Mapping[str, Any]) -> dict[str, Any]:
        return {name: options[name] for name in self.needs}


@dataclass(frozen=True)
class Correction:
    """A correction for several tests, as the registry has it.

    Attributes
    ----------
    name, title : str
        How it is asked for, and how it is printed.
    function : callable
        From raw to adjusted p-values, in the same order.
    family : {"any", "all pairs", "reference"}
        Which families of tests it fits.
    on_ranks : bool
        Whether it tests average ranks itself: then the function takes the average ranks, the number
        of datasets and the pairs (two arrays of positions), and returns adjusted p-values.
    most_methods : int or None
        The most methods it can handle.
    aliases : tuple of str
        Other names it is asked for by.
    instead, beside : str
        The one to choose where there is no reference but it needs one; the one whose p a table
        shows beside its own.
    controls : str
        The rate of errors that it keeps at the level.
    critical : callable, optional
        From the numbers of methods and datasets and the level to the critical difference of average
        ranks.

    Examples
    --------
    >>> Correction("none", "no correction", np.asarray).adjust(np.array([0.01, 0.2])).tolist()
    [0.01, 0.2]
    """

    name: str
    title: str
    function: Callable[..., Any]
    family: Literal["any", "all pairs", "reference"] = "any"
    on_ranks: bool = False
    most_methods: int | None = None
    aliases: tuple[str, ...] = ()
    instead: str = ""
    beside: str = ""
    controls: str = "family-wise error rate"
    critical: Callable[[int, int, float], float] | None = None

    def adjust(self, p: FloatArray) -> FloatArray:
        """Adjust the p-values of a whole family."""
        adjusted = np.asarray(self.function(p), dtype=np.float64)
        if adjusted.shape != p.shape or not ((adjusted >= 0) & (adjusted <= 1)).all():
            raise InputError(
                f"correction {self.name!r} must return as many p-values between 0 and 1 as it was"
                " given"
            )
        return adjusted

    def adjust_among(self, p: FloatArray, n_family: int) -> FloatArray:
        """Adjust some p of a larger family whose others stand at 1; a missing p (NaN) stays missing.

        That is valid whichever of the family are looked at, and by whatever rule.
        """
        there = ~np.isnan(p)
        adjusted = np.full(p.shape, np.nan)
        if there.any():
            family = np.ones(max(n_family, int(there.sum())))
            family[: there.sum()] = p[there]
            adjusted[there] = self.adjust(family)[: there.sum()]
        return adjusted


def _keywords(function: Callable[..., Any], kind: str) -> tuple[str, ...]:
    """Return which options a plain function asks for by its keyword-only parameters."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # some functions written in C do not tell
        return ()
    asked = [one for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY]
    for one in asked:
        if one.name not in OPTIONS and one.default is inspect.Parameter.empty:
            raise InputError(
                f"the {kind} {function.__name__!r} asks for {one.name!r}, which no comparison has:"
                f" it may ask for {', '.join(OPTIONS)}"
            )
    return tuple(one.name for one in asked if one.name in OPTIONS)


def as_test(thing: Any) -> Test:
    """Make a test of a `Test` or of a plain function from differences to a `TestResult`."""
    if isinstance(thing, Test):
        return thing
    if not callable(thing):
        raise InputError(f"a test is a function of differences or a Test, not {thing!r}")
    name = str(getattr(thing, "__name__", type(thing).__name__))
    return Test(name, name.replace("_", " "), thing, _keywords(thing, "test"))


def as_correction(thing: Any) -> Correction:
    """Make a correction of a `Correction` or of a plain function from p-values to adjusted ones."""
    if isinstance(thing, Correction):
        return thing
    if not callable(thing):
        raise InputError(f"a correction is a function of p-values or a Correction, not {thing!r}")
    name = str(getattr(thing, "__name__", type(thing).__name__))
    return Correction(name, name.replace("_", " "), thing)


tests: Registry[Test] = Registry("test", "tests", ("paragone.stats",), as_test)
corrections: Registry[Correction] = Registry(
    "correction",
    "corrections",
    ("paragone.stats",),
    as_correction,
    lambda one: (one.name, *one.aliases),
)


def find_test(given: str | Test | Callable[..., TestResult], unit: Unit) -> Test:
    """Return the test that a name, ``module:name``, function or `Test` stands for, if it is right for the unit.

    Examples
    --------
    >>> find_test("wilcoxon", "dataset").title
    'Wilcoxon signed-rank'
    >>> find_test("wilcoxon", "fold")
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: the test 'wilcoxon' is not right for folds ...
    """
    test = tests.get(given) if isinstance(given, str) else as_test(given)
    if unit not in test.units:
        *fit, last = sorted(one.name for one in tests if unit in one.units)
        own = ", ".join(f"{one}s" for one in test.units)
        raise InputError(
            f"the test {test.name!r} is not right for {unit}s (but for {own}): choose"
            f" {', '.join(fit)} or {last}"
        )
    unknown = [name for name in test.needs if name not in OPTIONS]
    if unknown:
        raise InputError(
            f"test {test.name!r} needs {unknown[0]!r}, which no comparison has:"
            f" {', '.join(OPTIONS)}"
        )
    return test


def find_correction(given: str | Correction | Callable[..., Any]) -> Correction:
    """Return the correction that a name in any spelling, ``module:name``, function or `Correction` stands for.

    Examples
    --------
    >>> find_correction("Bergmann_Hommel").title, find_correction("fdr").title
    ('Bergmann-Hommel', 'Benjamini-Hochberg')
    """
    if not isinstance(given, str):
        return as_correction(given)
    spelt = given.strip().lower().replace("_", "-")
    return corrections.get(spelt if spelt in corrections else given)
