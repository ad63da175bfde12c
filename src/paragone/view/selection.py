"""What the reader chose to see: experiment, metric, point of the grid, reference, datasets, methods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from paragone.errors import InputError, unknown_name
from paragone.reporting.fold_scores import GridScores, at_point


@dataclass(frozen=True)
class Selection:
    """A choice; empty parts mean the first, or all.

    Attributes
    ----------
    experiment, metric, reference : str
        Names; empty for the first.
    at : str
        A point of the grid; empty for the grid reduced as the experiment declares.
    datasets, methods : tuple of str
        Names; empty for all.
    """

    experiment: str = ""
    metric: str = ""
    at: str = ""
    reference: str = ""
    datasets: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]]) -> Selection:
        """Read a selection from the pairs of a query; unknown names are refused.

        Examples
        --------
        >>> Selection.of([("metric", "micro_f1"), ("method", "A"), ("method", "B")]).methods
        ('A', 'B')
        """
        one: dict[str, str] = {}
        many: dict[str, list[str]] = {"dataset": [], "method": []}
        for name, value in pairs:
            if name in many:
                many[name].append(value)
            elif name in ("experiment", "metric", "at", "reference"):
                one[name] = value
            else:
                raise unknown_name("choice", name, ["experiment", "metric", "at", "reference", *many])
        return cls(**one, datasets=tuple(many["dataset"]), methods=tuple(many["method"]))


def select(selection: Selection, grids: Sequence[GridScores]) -> list[GridScores]:
    """Keep what was chosen; a name that is not there is refused.

    Parameters
    ----------
    selection : Selection
        The choice.
    grids : sequence of GridScores
        All there is.

    Returns
    -------
    list of GridScores
        One metric on one grid.
    """
    metrics = list(dict.fromkeys(metric for scores in grids for metric in scores.folds["metric"].unique()))
    metric = selection.metric or metrics[0]
    for kind, name, known in (
        ("metric", metric, metrics),
        *(("method", name, grids[0].folds["method"].unique().tolist()) for name in selection.methods),
        *(("dataset", name, grids[0].folds["dataset"].unique().tolist()) for name in selection.datasets),
    ):
        if name not in known:
            raise unknown_name(kind, name, known)
    chosen = [_kept(scores, metric, selection) for scores in grids]
    return [_at(chosen, selection.at)]


def _kept(scores: GridScores, metric: str, selection: Selection) -> GridScores:
    def keep(frame: Any) -> Any:
        frame = frame[frame["metric"] == metric]
        for column, names in (("method", selection.methods), ("dataset", selection.datasets)):
            frame = frame[frame[column].isin(names)] if names else frame
        return frame

    return replace(scores, curves=keep(scores.curves), folds=keep(scores.folds))


def _at(grids: Sequence[GridScores], at: str) -> GridScores:
    """Take a grid at a point, given as ``k=10`` or ``p=0.2``; the first grid as it is where none is given."""
    if not at:
        return grids[0]
    name, _, value = at.partition("=")
    found = [scores for scores in grids if scores.grid == name]
    try:
        point = float(value)
    except ValueError as error:
        raise InputError(f"the point {at!r} is no point of a grid: say k=10 or p=0.2") from error
    if not found:
        raise unknown_name("grid", name, [scores.grid for scores in grids])
    return at_point(found[0], point)


def options(described: Mapping[str, Any], grids: Sequence[GridScores]) -> dict[str, list[str]]:
    """Return what there is to choose from."""
    points = []
    for scores in grids:
        places = sorted(scores.curves["at"].unique())
        points += [f"{scores.grid}={place:g}" for place in places]
    return {
        "metric": list(described["protocol"]["metrics"]),
        "at": points,
        "reference": list(described["methods"]),
        "method": list(described["methods"]),
        "dataset": list(dict.fromkeys(name for scores in grids for name in scores.folds["dataset"].unique())),
    }
