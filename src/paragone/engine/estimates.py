"""Estimates: how long a cell may take, learnt from those that ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from paragone.cells import Cell


@dataclass
class _Mean:
    total: float = 0.0
    count: int = 0

    def add(self, value: float) -> None:
        self.total += value
        self.count += 1

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
        self._by_place.setdefault((cell.method, cell.dataset), _Mean()).add(seconds)
        self._rates.setdefault(cell.method, _Mean()).add(seconds / self._size(cell))
        self._all.add(seconds)

    def expect(self, cell: Cell) -> float | None:
        """Return the seconds that a cell may take; None where its method is not known yet."""
        known = self._by_place.get((cell.method, cell.dataset))
        if known is not None:
            return known.value
        rate = self._rates.get(cell.method)
        return None if rate is None else rate.value * self._size(cell)

    @property
    def mean(self) -> float | None:
        """The mean over all cells that ended; None where there is none."""
        return self._all.value if self._all.count else None

    def _size(self, cell: Cell) -> float:
        return max(self.sizes.get(cell.dataset, 1.0), 1.0)
