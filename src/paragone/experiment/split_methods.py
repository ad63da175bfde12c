"""SplitMethods: a method that is another one on every fold, such as rankings made elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from paragone.plugins import Method


@dataclass(frozen=True)
class SplitMethods(Method):
    """A method by dataset and fold; a cell is identified by the one of its own fold alone.

    Parameters
    ----------
    factory, params
        What stands where ``by_place`` has nothing.
    by_place : mapping of (str, int) to Method
        The method of a dataset's name and fold.

    Examples
    --------
    >>> from paragone.rankers.imported import ImportedRanking
    >>> first = Method(ImportedRanking, {"ranking": [1, 0]})
    >>> method_at(SplitMethods(ImportedRanking, by_place={("wine", 0): first}), "wine", 0) is first
    True
    """

    by_place: Mapping[tuple[str, int], Method] = field(default_factory=dict)


def method_at(method: Method, dataset: str, fold: int) -> Method:
    """Return what a method is on a fold: itself, unless it is another one on every fold."""
    if isinstance(method, SplitMethods):
        return method.by_place.get((dataset, fold), method)
    return method
