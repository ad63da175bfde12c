"""What the methods of a page cost."""

from __future__ import annotations

from paragone.lab.contents import costs_by_method
from paragone.lab.view import View
from paragone.page import Sheet
from paragone.stats.words import number as readable
from paragone.tables import Column, Table, TableCell, number_cell


def costs_sheet(view: View) -> Sheet | None:
    """Return the table of what every method cost; None where the store keeps none of it."""
    costs = costs_by_method(view.places)
    if costs["fit_cpu_seconds"].isna().all():
        return None
    sizes = costs[["peak_memory", "model_bytes"]] / 2**20
    rows: list[list[str | TableCell]] = [
        [
            view.name(str(name)),
            *(number_cell(value, readable(value)) for value in (fit, predict)),
            *(number_cell(value, readable(value)) for value in sizes.loc[name]),
        ]
        for name, fit, predict in costs[["fit_cpu_seconds", "predict_cpu_seconds"]].itertuples()
    ]
    headings = ("CPU s per fit", "CPU s per prediction", "peak MiB", "model MiB")
    caption = (
        "What a method costs on one split, in the mean: processor time of its fit and of predicting"
        " the test rows, the most memory that a cell held, the size of a fitted model on disk; a"
        " dash where not known."
    )
    return Sheet(
        "costs", "Cost", Table.of([Column("method", "left"), *headings], rows, caption=caption)
    )
