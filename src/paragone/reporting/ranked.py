"""The finding at the head of a page: a sentence per metric, the ranked table, differences with intervals."""

from __future__ import annotations

from paragone.lab.contents import costs_by_method
from paragone.lab.measures import Measure
from paragone.lab.method_warnings import verdict_sentences
from paragone.lab.view import View
from paragone.metrics import named_metric
from paragone.page import Block, Gallery, Points, Prose, Section, Sheet, figure
from paragone.stats.ranking import MethodRanking
from paragone.stats.words import number as readable
from paragone.tables import Column, Table, TableCell, number_cell


def ranking_of(view: View, measure: Measure) -> MethodRanking:
    """Return the ranking of a view's methods by one metric."""
    folds = measure.scores.folds
    mine = folds[folds["metric"] == measure.metric]
    shown = mine["dataset"].unique().tolist()
    places = view.places.assign(method=[view.name(name) for name in view.places["method"]]).groupby(
        "method", sort=False
    )
    return MethodRanking(
        measure.metric,
        bool(named_metric(measure.metric).higher_is_better),
        mine[["dataset", "fold", "method", "value"]],
        {name: view.designs.get(name) for name in shown},
        tuple(view.name(name) for name in view.method_facts),
        places["status"].agg(lambda ended: int(ended.isin(["failed", "timeout"]).sum())).to_dict(),
        places["fit_cpu_seconds"].sum().to_dict(),
        view.results.declared_comparison(view.experiment).margin or 0.0,
        measure.comparison,
    )


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
        "What a method costs on one split, in the mean: processor time of its fit and of predicting the test rows, the "
        "most memory that a cell held, the size of a fitted model on disk; a dash where not known."
    )
    return Sheet("costs", "Cost", Table.of([Column("method", "left"), *headings], rows, caption=caption))


def finding_section(view: View) -> Section:
    """Return the section with the finding of every metric, under the name of the common one that it stands for."""
    blocks: list[Block] = []
    for measure in view.measures:
        if named_metric(measure.metric).higher_is_better is None:
            told_nothing = f"Nothing is ranked by {measure.metric}: which way it is better is not known."
            blocks.append(Prose((told_nothing,), tags=measure.tags))
            continue
        ranking = ranking_of(view, measure)
        if measure.comparison is None and ranking.comparison is not None:
            # What was declared cannot be done, and another test must not pass for it.
            blocks.append(Prose((measure.refusal,), tags=measure.tags))
            continue
        blocks.append(Prose((ranking.finding,), kind="finding", tags=measure.tags))
        caption = (
            f"Methods ranked by {measure.metric}, the mean over splits and datasets; intervals hold for "
            f"{'all pairs' if ranking.reference is None else 'all rivals'}."
        )
        table = ranking.table(caption, f"tab:ranked-{measure.key}")
        blocks.append(Sheet(f"ranked_{measure.key}", "Ranked", table, tags=measure.tags))
        charts = {"ranked": ranking.chart(), "cost": ranking.cost_chart()}
        drawn = [figure(f"{name}-{measure.key}", one, measure.tags) for name, one in charts.items() if one is not None]
        if drawn:
            blocks.append(Gallery(tuple(drawn), tags=measure.tags))
    costs = costs_sheet(view)
    if costs is not None:
        blocks.append(costs)
    told = (*verdict_sentences(view.warned), *view.seed_notes)
    if told:
        blocks.append(Points(told))
    return Section("verdict", "The finding", tuple(blocks))
