"""Stages: ask the protocol which cells come next, once all of the first stage have a result."""

from __future__ import annotations

from collections.abc import Mapping

from paragone.cells import Fitted, Place
from paragone.experiment.planning import Layout
from paragone.plugins import Method
from paragone.store import Store


def extended(layout: Layout, methods: Mapping[str, Method], store: Store) -> Layout:
    """Return the layout with the cells of the next stage, where the store has all results of the first.

    Parameters
    ----------
    layout : Layout
        The first stage.
    methods : mapping of str to Method
        The methods by name.
    store : Store
        Where results are.

    Returns
    -------
    Layout
        The same one where results are missing, or where the protocol has one stage.
    """
    if not any(arrangement.later for arrangement in layout.arrangements.values()):
        return layout
    statuses = store.statuses(cell.key for cell in layout.cells)
    if any(cell.key not in statuses for cell in layout.cells):
        return layout
    cells = {cell.place: cell for cell in layout.cells}

    def fitted(place: Place) -> Fitted | None:
        cell = cells[place]
        return store.fitted(cell.fit_key) if statuses[cell.key] == "done" else None

    places = layout.protocol.next_places(tuple(layout.arrangements.values()), methods, fitted)
    return layout.with_places(places)
