"""Estimates: how long a cell may take, learnt from those that ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from paragone.cells import Cell


@dataclass
class _Mean:
    total: float = 0.0
    count: int = 0

    def add(self, value: float, count: int = 1) -> None:
        self.total += value
        self.count += count

    @property
    def value(self) -> float:
        return self.total / self.count


@dataclass
class Estimates:
    """What cells took, by method and dataset, and what that says of others.

    A cell is expected to take the mean of its method on its dataset; where that has not ended yet, the mean of its
    method's seconds for each unit of a dataset's size, times its own dataset's size; where its method has not ended
    anywhere, nothing is known.

    Parameters
    ----------
    sizes : mapping of str to float
        The size of every dataset, such as rows times columns.

    Examples
    --------
    >>> from paragone.cells import Parts
    >>> def cell(method, dataset):
    ...     return Cell(dataset, 0, method, "curve", Parts("", "", "", "", "", ""), "")
    >>> estimates = Estimates({"small": 100.0, "large": 1000.0})
    >>> estimates.learn(cell("A", "small"), 2.0)
    >>> estimates.learn(cell("A", "small"), 4.0)
    >>> estimates.expect(cell("A", "small")), estimates.expect(cell("A", "large")), estimates.expect(cell("B", "small"))
    (3.0, 30.0, None)
    """

    sizes: Mapping[str, float]
    _by_place: dict[tuple[str, str], _Mean] = field(default_factory=dict)
    _rates: dict[str, _Mean] = field(default_factory=dict)
    _all: _Mean = field(default_factory=_Mean)

    def learn(self, cell: Cell, seconds: float) -> None:
        """Take note of a cell that ended by itself."""
        self.learn_at(cell.method, cell.dataset, seconds)

    def learn_at(self, method: str, dataset: str, seconds: float, count: int = 1) -> None:
        """Take note of what cells of a method on a dataset took together."""
        self._by_place.setdefault((method, dataset), _Mean()).add(seconds, count)
        self._rates.setdefault(method, _Mean()).add(seconds / self._size(dataset), count)
        self._all.add(seconds, count)

    def expect(self, cell: Cell) -> float | None:
        """Return the seconds that a cell may take; None where its method is not known yet."""
        return self.expect_at(cell.method, cell.dataset)

    def expect_at(self, method: str, dataset: str) -> float | None:
        """Return the seconds that a cell of a method on a dataset may take; None where the method is not known yet."""
        known = self._by_place.get((method, dataset))
        if known is not None:
            return known.value
        rate = self._rates.get(method)
        return None if rate is None else rate.value * self._size(dataset)

    @property
    def mean(self) -> float | None:
        """The mean over all cells that ended; None where there is none."""
        return self._all.value if self._all.count else None

    def _size(self, dataset: str) -> float:
        return max(self.sizes.get(dataset, 1.0), 1.0)


@dataclass(frozen=True)
class Rest:
    """What is left of a run: cells whose time is known by others of their kind, and cells of which nothing is known.

    Whoever says how long a run may still take says it by this, so that the terminal and the browser say the same.

    Examples
    --------
    >>> Rest(known_seconds=60.0, n_known=6, n_unknown=2).seconds_left(mean=10.0, at_once=4)
    20.0
    >>> Rest(known_seconds=60.0, n_known=1).seconds_left(mean=10.0, at_once=4)
    60.0
    """

    known_seconds: float = 0.0
    n_known: int = 0
    n_unknown: int = 0

    def __add__(self, other: Rest) -> Rest:
        return Rest(
            self.known_seconds + other.known_seconds, self.n_known + other.n_known, self.n_unknown + other.n_unknown
        )

    @classmethod
    def of(cls, expected: float | None, count: int = 1) -> Rest:
        """Return so many cells of one kind."""
        return cls(n_unknown=count) if expected is None else cls(expected * count, count)

    def seconds_left(self, mean: float | None, at_once: int) -> float | None:
        """Return the seconds that the rest may take on so many workers; None where nothing is known at all.

        A cell of which nothing is known counts as the mean of all that ended; no more workers count than cells.
        """
        cells = self.n_known + self.n_unknown
        if not cells:
            return 0.0
        if mean is None:
            return None
        return (max(0.0, self.known_seconds) + mean * self.n_unknown) / max(1, min(at_once, cells))
