"""Learning: what the cells in a store say about how long the others may take."""

from __future__ import annotations

from paragone.engine import Estimates
from paragone.experiment.planning import Layout
from paragone.store import Store


def learnt_estimates(layout: Layout, store: Store) -> Estimates:
    """Return estimates that know every cell of the layout which the store has.

    A cell that was ended at its time limit counts with the time it took until then.
    """
    sizes = {name: float(dataset.n_samples * dataset.n_features) for name, dataset in layout.datasets.items()}
    estimates = Estimates(sizes)
    taken = store.seconds_taken()
    for cell in layout.cells:
        if cell.key in taken:
            estimates.learn(cell, taken[cell.key])
    return estimates
