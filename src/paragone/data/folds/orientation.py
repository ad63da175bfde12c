"""Which way round the matrices of stored folds stand: one answer for the whole set, by agreement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paragone.errors import InputError

_TURNS = (
    (False, False, ""),
    (False, True, "the label matrices were transposed: their columns are the samples"),
    (True, True, "all matrices were transposed: their columns are the samples"),
    (True, False, "the feature matrices were transposed: their columns are the samples"),
)


@dataclass(frozen=True, eq=False)
class Part:
    """The train or the test matrices of one fold file."""

    path: Path
    role: str
    X: Any
    Y: Any

    def turned(self, features: bool, labels: bool) -> Part:
        """Return the part with its matrices transposed as asked."""
        return Part(self.path, self.role, self.X.T if features else self.X, self.Y.T if labels else self.Y)


def oriented(parts: Sequence[Part]) -> tuple[list[Part], str]:
    """Turn all parts the same way, so that samples are rows and all counts agree.

    Samples as rows come first; the labels turned, everything turned and the features turned are tried
    after it, in that order. A label matrix that is square by chance is so decided by all the others.

    Returns
    -------
    list of Part, str
        The parts, and a note where they were turned.

    Examples
    --------
    >>> import numpy as np
    >>> train = Part(Path("fold0.mat"), "train", np.ones((3, 4)), np.ones((3, 3)))
    >>> test = Part(Path("fold0.mat"), "test", np.ones((2, 4)), np.ones((3, 2)))
    >>> both, note = oriented([train, test])
    >>> both[1].Y.shape, note
    ((2, 3), 'the label matrices were transposed: their columns are the samples')
    """
    problems = []
    for features, labels, note in _TURNS:
        turned = [part.turned(features, labels) for part in parts]
        problem = _disagreement(turned)
        if not problem:
            return turned, note
        problems.append((problem, turned))
    # The orientation in which the first part agrees with itself is the one whose trouble is worth telling.
    for problem, turned in problems:
        if turned[0].X.shape[0] == turned[0].Y.shape[0]:
            raise InputError(problem)
    raise InputError(problems[0][0])


def _disagreement(parts: Sequence[Part]) -> str:
    first = parts[0]
    for part in parts:
        where, role = part.path, part.role
        if part.X.shape[0] != part.Y.shape[0]:
            return (
                f"{where}: X_{role} has {part.X.shape[0]} rows and Y_{role} has {part.Y.shape[0]}; "
                "every sample needs one row in each"
            )
        for letter, what, own, wanted in (
            ("X", "features", part.X.shape[1], first.X.shape[1]),
            ("Y", "labels", part.Y.shape[1], first.Y.shape[1]),
        ):
            if own != wanted:
                return (
                    f"{where}: {letter}_{role} has {own} {what}, {letter}_{first.role} of {first.path.name} "
                    f"has {wanted}; all folds must have the same"
                )
    return ""
