"""The one order of methods, best first: whoever names a leader or prints a ranked table asks here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paragone.stats.scores import ScoreTable
from paragone.ties import FloatArray, loss_order, rank_losses


@dataclass(frozen=True)
class Order:
    """Methods from best to worst.

    Attributes
    ----------
    places : tuple of int
        Columns of the scores, the best first.
    ranks : tuple of float
        The rank of each, equals sharing theirs; NaN for a method that lacks a score.
    """

    places: tuple[int, ...]
    ranks: tuple[float, ...]


def order_by_mean(
    values: FloatArray, *, higher_is_better: bool, average_ranks: FloatArray, size: float
) -> Order:
    """Order methods by their mean over the datasets, which is what the first sentence of a verdict is tested on.

    The first of equals leads. A method that lacks a score has no mean that others could be held
    against: it stands behind those that have all, by its average rank, in which a failure is the
    last place.

    Parameters
    ----------
    values : ndarray of shape (n_datasets, n_methods)
        Scores as they are compared: of logarithms where those are. NaN where a method failed.
    higher_is_better : bool
        Their direction.
    average_ranks : ndarray of shape (n_methods,)
        Over the datasets.
    size : float
        What the scores were made from, for telling ties; see `paragone.ties`.

    Examples
    --------
    >>> scores = np.array([[0.9, 0.5, 0.8], [0.7, 0.8, np.nan], [0.7, 0.8, 0.8]])
    >>> order_by_mean(scores, higher_is_better=True, average_ranks=np.array([2.0, 1.7, 2.3]), size=1.0)
    Order(places=(0, 1, 2), ranks=(1.0, 2.0, nan))
    """
    gone = np.isnan(values).any(axis=0)
    whole = np.flatnonzero(~gone)
    losses = values[:, whole].mean(axis=0) * (-1 if higher_is_better else 1)
    order = loss_order(losses, size=size)
    rest = sorted(np.flatnonzero(gone).tolist(), key=lambda place: average_ranks[place])
    ranks = rank_losses(losses, size=size)[order].tolist()
    return Order((*whole[order].tolist(), *rest), (*map(float, ranks), *[float("nan")] * len(rest)))


def ordered_methods(table: ScoreTable) -> tuple[str, ...]:
    """Return the methods of a table without gaps from best to worst, where no pair of them needs to be compared.

    Examples
    --------
    >>> import pandas as pd
    >>> from paragone.stats.scores import score_table
    >>> scores = pd.DataFrame({"dataset": list("abc"), "often": [0.7, 0.7, 0.7], "huge": [0.99, 0.69, 0.69]})
    >>> ordered_methods(score_table(scores, metric="accuracy"))
    ('huge', 'often')
    """
    # Average ranks order only methods that lack a score, and there are none.
    unused = np.zeros(len(table.methods))
    order = order_by_mean(
        table.values, higher_is_better=table.higher_is_better, average_ranks=unused, size=table.size
    )
    return tuple(table.methods[place] for place in order.places)
