"""What the methods of an experiment warned of, put together and in sentences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paragone.lab.contents import StoreContents

if TYPE_CHECKING:
    import pandas as pd

CONVERGENCE = "ConvergenceWarning"
FOR_DEVELOPERS = ("DeprecationWarning", "ImportWarning", "ResourceWarning")
"""Endings of the classes that Python itself hides from users: they tell nothing about the numbers of a comparison."""
REFIT = "refit"
ONE_LINE = 200
_NUMBERS = re.compile(r"0x[0-9a-fA-F]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


@dataclass(frozen=True)
class Warned:
    """One kind of warning of one method, over all cells of an experiment that have a result.

    Messages that differ in their numbers only are of one kind, and all that say that a fit did not
    converge.

    Attributes
    ----------
    method, category, message : str
        Whose it is, the class, and the message as it was given first, on one line.
    fits, of_fits : int
        In how many fits of how many; a fit is a cell: one method on one split.
    refits, of_refits : int
        The same for the refits on all training rows of a cross-validation.
    times : int
        How often it was given in all.

    Examples
    --------
    >>> print(Warned("LR", "ConvergenceWarning", "lbfgs failed to converge", 10, 15, 1, 1, 11).sentence)
    LR did not converge in 10 of 15 fits and in 1 of 1 refits.
    >>> print(Warned("LSMFS", "GuardWarning", "it diverged", 2, 3, 0, 0, 2).sentence)
    LSMFS warned in 2 of 3 fits: it diverged
    >>> print(Warned("LSMFS", "GuardWarning", "it diverged", 2, 3, 0, 0, 2).line)
    LSMFS: GuardWarning in 2 of 3 cells: it diverged
    """

    method: str
    category: str
    message: str
    fits: int
    of_fits: int
    refits: int
    of_refits: int
    times: int

    @property
    def cells(self) -> int:
        """In how many cells it was given, refits included."""
        return self.fits + self.refits

    @property
    def of_cells(self) -> int:
        """How many cells of the method have a result."""
        return self.of_fits + self.of_refits

    @property
    def where(self) -> str:
        """In how many fits and refits."""
        fits = f"in {self.fits} of {self.of_fits} fits" if self.fits or not self.refits else ""
        refits = f"in {self.refits} of {self.of_refits} refits" if self.refits else ""
        return " and ".join(part for part in (fits, refits) if part)

    @property
    def sentence(self) -> str:
        """What a verdict says of it."""
        if self.category == CONVERGENCE:
            return f"{self.method} did not converge {self.where}."
        return f"{self.method} warned {self.where}: {self.message}"

    @property
    def line(self) -> str:
        """What a list says of it."""
        return (
            f"{self.method}: {self.category} in {self.cells} of {self.of_cells} cells:"
            f" {self.message}"
        )

    @property
    def touches_numbers(self) -> bool:
        """Whether a reader of the numbers should know; not where it is for developers of the method only."""
        return not self.category.endswith(FOR_DEVELOPERS)


def warned_groups(
    results: StoreContents, experiment: str, names: Mapping[str, str] | None = None
) -> tuple[Warned, ...]:
    """Put together what the methods of an experiment warned of.

    Parameters
    ----------
    results : Results
        An open store.
    experiment : str
        The experiment's name.
    names : mapping of str to str, optional
        Names to display instead of the declared ones.

    Returns
    -------
    tuple of Warned
        By method in the order of their declaration, what is in most cells first. The variants of a
        method that a cross-validation writes out count together.
    """
    warnings = results.warnings(experiment)
    if warnings.empty:
        return ()
    owners = {
        variant: str(facts.get("method", variant))
        for variant, facts in results.described(experiment)["methods"].items()
    }
    totals: Counter[tuple[str, bool]] = Counter()
    for (variant, protocol), count in results.ended_counts(experiment).items():
        totals[owners.get(variant, variant), protocol == REFIT] += count
    texts = list(zip(warnings["category"], warnings["message"], strict=True))
    kinds = {text: _kind(*text) for text in set(texts)}
    warnings = warnings.assign(
        owner=warnings["method"].map(owners).fillna(warnings["method"]),
        refit=warnings["protocol"] == REFIT,
        kind=[kinds[text] for text in texts],
    )
    shown = names or {}
    found = [
        _group(str(owner), shown.get(str(owner), str(owner)), rows, totals)
        for (owner, _, _), rows in warnings.groupby(["owner", "category", "kind"], sort=False)
    ]
    order = {
        owner: place
        for place, owner in enumerate(dict.fromkeys(shown.get(o, o) for o in owners.values()))
    }
    return tuple(
        sorted(found, key=lambda group: (order.get(group.method, len(order)), -group.cells))
    )


def _group(
    owner: str, shown: str, rows: pd.DataFrame, totals: Mapping[tuple[str, bool], int]
) -> Warned:
    cells = rows.drop_duplicates(["dataset", "fold", "method", "repeat"])
    refits = int(cells["refit"].sum())
    return Warned(
        shown,
        one_line(str(rows["category"].iloc[0])),
        one_line(str(rows["message"].iloc[0])),
        len(cells) - refits,
        int(totals.get((owner, False), 0)),
        refits,
        int(totals.get((owner, True), 0)),
        int(rows["count"].sum()),
    )


def verdict_sentences(groups: Iterable[Warned], most: int = 5) -> tuple[str, ...]:
    """Return what a verdict says of warnings: a sentence a kind, methods that warned of the same together.

    Parameters
    ----------
    groups : iterable of Warned
        As `warned_groups` gives them.
    most : int, default=5
        How many sentences at most; one more counts the rest.

    Examples
    --------
    >>> verdict_sentences([Warned(name, "GuardWarning", "set 3 aside", 3, 4, 0, 0, 3) for name in "AB"])
    ('A and B warned in 6 of 8 fits: set 3 aside',)
    >>> verdict_sentences([Warned("LR", "ConvergenceWarning", "gave up", 10, 15, 0, 0, 10)])
    ('LR did not converge in 10 of 15 fits.',)
    """
    together: dict[tuple[str, ...], list[Warned]] = {}
    for group in groups:
        if group.touches_numbers:
            # That a method did not converge is told of each by itself: the reader wants to know how
            # often.
            whose = (group.method,) if group.category == CONVERGENCE else ()
            together.setdefault(
                (*whose, group.category, _kind(group.category, group.message)), []
            ).append(group)
    sentences = [
        _joined(alike).sentence
        for alike in sorted(together.values(), key=lambda g: -_joined(g).cells)
    ]
    more = len(sentences) - most
    if more > 0:
        rest = (
            f"{more} more kind{'s' * (more != 1)} of warnings: see the list of failures and"
            " warnings."
        )
        return (*sentences[:most], rest)
    return tuple(sentences)


def _joined(groups: list[Warned]) -> Warned:
    names = [group.method for group in groups]
    shown = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    first = groups[0]
    totals = (
        sum(getattr(g, name) for g in groups)
        for name in ("fits", "of_fits", "refits", "of_refits", "times")
    )
    return Warned(shown, first.category, first.message, *totals)


def warning_lines(groups: Iterable[Warned], most: int = 20) -> tuple[str, ...]:
    """Return a line a kind of warning for a list, the last one counting those that are left out."""
    lines = [group.line for group in groups]
    more = len(lines) - most
    return (*lines[:most], *([f"{more} more kinds of warnings"] if more > 0 else ()))


def one_line(text: str, most: int = ONE_LINE) -> str:
    r"""Return a stranger's text on one line, without control characters, cut.

    Examples
    --------
    >>> one_line("lbfgs failed\n   to converge \x1b[31mred")
    'lbfgs failed to converge [31mred'
    """
    plain = " ".join("".join(c if c.isprintable() or c.isspace() else "" for c in text).split())
    return plain if len(plain) <= most else plain[: most - 1] + "…"


def _kind(category: str, message: str) -> str:
    return "" if category == CONVERGENCE else _NUMBERS.sub("#", message)
