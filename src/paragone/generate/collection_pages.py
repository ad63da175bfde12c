"""The page of a collection: which pairs are proven and how surely, a card per dataset, and how it came about."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from paragone.data import VARIANTS, Expression
from paragone.generate.charts import (
    coverage_curve,
    duel_chart,
    formula_tree,
    heat_map,
    lead_chart,
    short_names,
)
from paragone.generate.claims import open_table, variant_table
from paragone.generate.collection import Collection, GeneratedSet
from paragone.generate.families import generator_families
from paragone.generate.inspection import Inspection
from paragone.generate.mathematics import feature_name, mathematics, target_in_words
from paragone.generate.pages import (
    FORMULA,
    drawn_gallery,
    gallery,
    interval_in_words,
    sample_evidence,
    score_sheet,
    write_whole,
)
from paragone.generate.planes import plane_chart, plane_of
from paragone.generate.targets import CEILINGS, METRICS
from paragone.generate.truth import truth_sheet
from paragone.page import (
    Attachment,
    Block,
    Fold,
    Listing,
    NumberDetails,
    Page,
    Points,
    Prose,
    Section,
    Sheet,
    frame_sheet,
)
from paragone.tables import Column, Table, TableCell, frame_as_csv

if TYPE_CHECKING:
    import pandas as pd

COIN = 0.9
"""A pair whose method is ahead on a smaller share of the samples is called a coin, whatever its mean."""


def write_collection_page(
    inspection: Inspection | None,
    folder: str | Path,
    collection: Collection | None = None,
    curve: pd.DataFrame | None = None,
    beside: Collection | None = None,
    opened: pd.DataFrame | None = None,
    again: pd.DataFrame | None = None,
    source: str = "",
) -> Path:
    """Write the page, its tables as CSV and its charts as SVG into a folder, and return the page.

    Parameters
    ----------
    inspection : Inspection or None
        What the collection holds; None where it holds nothing: then the page says what was tried.
    folder : str or Path
        Made where it is missing; what an earlier page wrote there is replaced as a whole.
    collection : Collection, optional
        Its evidence.
    curve : DataFrame, optional
        The progress of the search over time; see `Evolved.curve_table`.
    beside : Collection, optional
        Another collection measured the same way, to compare with.
    opened : DataFrame, optional
        The pairs that are not proven; see `Evolved.open_table`. Without it those that the
        collection lists.
    again : DataFrame, optional
        The claims as a second script measured them; see `paragone.generate.shipped.measured_again`.
    source : str
        What `paragone.load` knows the collection by: its name, file or folder;
        ``FOLDER/collection.json`` without it.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from paragone.generate import Evidence, GeneratedSet, GeneratorSpec
    >>> evidence = Evidence(("A", "B"), np.array([[0.9, 0.7], [0.92, 0.71]]))
    >>> generator = GeneratorSpec("mul(X0, X1)")
    >>> item = GeneratedSet.of("product", generator, 1, seed=7, n_rows=50, evidence=evidence, parameters={})
    >>> collection = Collection("one", margin=0.05, evidence_rows=100, sets=(item,))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_collection_page(collection.inspect(), Path(folder) / "one", collection)
    ...     page.name, (Path(folder) / "one" / "sets.csv").is_file()
    ('report.html', True)
    """
    page = (
        empty_page(collection, curve, opened)
        if inspection is None
        else collection_page(
            inspection,
            collection,
            curve,
            beside,
            opened,
            again,
            source or f"{Path(folder).as_posix()}/collection.json",
        )
    )
    return write_whole(folder, "collection page", page)


def empty_page(
    collection: Collection | None, curve: pd.DataFrame | None, opened: pd.DataFrame | None
) -> Page:
    """Make the page of a search that proved nothing: what was tried, and every pair that stays open."""
    name = "" if collection is None else f" {collection.name}"
    margin = "" if collection is None else f" by {collection.margin:g} {collection.metric}"
    said = [
        f"No dataset was found on which one of the methods beats another{margin}, proven on fresh"
        " rows."
    ]
    if curve is not None and len(curve):
        last = curve.iloc[-1]
        said.append(
            f"{int(last['seen']):,} formulas were looked at, {int(last['fitted']):,} scored with"
            f" the methods, {int(last['raced'])} raced, {int(last['measured'])} put to proof, in"
            f" {last['seconds'] / 60:.1f} minutes."
        )
        if last["failed"]:
            said.append(
                f"{int(last['failed'])} cells failed: `paragone status` on the store says why."
            )
    sections = [Section("finding", "The finding", (Prose(tuple(said), "lead"),))]
    if opened is not None and len(opened):
        sections.append(Section("open", "The open pairs", (_tried(opened),)))
    if curve is not None and len(curve):
        sections.append(Section("search", "How the search went", _search(curve)))
    return Page(f"Collection{name}: nothing proven", "", (), tuple(sections), {})


def collection_page(
    inspection: Inspection,
    collection: Collection | None = None,
    curve: pd.DataFrame | None = None,
    beside: Collection | None = None,
    opened: pd.DataFrame | None = None,
    again: pd.DataFrame | None = None,
    source: str = "",
) -> Page:
    """Make the page; see `write_collection_page`."""
    if opened is None and collection is not None:
        opened = open_table(collection.open)
    behind, keys = dict[str, NumberDetails](), dict[tuple[str, str], str]()
    if collection:
        behind, keys = sample_evidence(collection.scores(), "sample", collection.metric)
    findings = [f"{said}." for said in inspection.findings()]
    sections = [Section("holds", "What it holds", (Points(tuple(findings)),))]
    if collection is None:
        sections.append(
            Section("pairs", "Which pairs it tells apart", _published_pairs(inspection))
        )
    else:
        matrix, leads = pair_matrix(collection)
        behind |= leads
        sections.append(
            Section(
                "pairs",
                "Which pairs it tells apart",
                _pairs(inspection, collection, matrix, opened),
            )
        )
        table, metric = collection.table(), collection.metric
        sheet = score_sheet("scores", f"Mean {metric} over the samples", table, keys)
        drawn = drawn_gallery(heat_map=heat_map(table, metric))
        sections.append(Section("evidence", "The evidence", (sheet, *drawn)))
    if again is not None and collection is not None:
        sections.append(Section("again", "Measured again", _again(again, collection.margin)))
    sections.append(Section("datasets", "The datasets", _datasets(inspection, collection, source)))
    if collection is not None:
        sections.append(Section("variants", "Variants", _variants(collection)))
    if curve is not None:
        sections.append(Section("search", "How it came about", _search(curve)))
    if beside is not None and collection is not None:
        sections.append(Section("beside", f"Beside it: {beside.name}", _beside(collection, beside)))
    sections.append(Section("how", "How it was measured", (Prose(_how(inspection, collection)),)))
    n_sets, n_concepts = len(inspection.sets), inspection.n_concepts
    subtitle = (
        f"{n_sets} dataset{'s' * (n_sets != 1)}, {n_concepts} concept{'s' * (n_concepts != 1)}"
    )
    return Page(f"Collection {inspection.name}", subtitle, (), tuple(sections), behind)


# Pairs


def share_won(item: GeneratedSet, up: str, down: str) -> float:
    """Return the share of the evidence's samples on which a method was ahead of another.

    Examples
    --------
    >>> import numpy as np
    >>> from paragone.generate import Evidence, GeneratorSpec
    >>> evidence = Evidence(("A", "B"), np.array([[0.9, 0.7], [0.6, 0.7], [0.9, 0.8], [0.9, 0.8]]))
    >>> share_won(GeneratedSet.of("one", GeneratorSpec("X0"), 1, 7, 50, evidence), "A", "B")
    0.75
    """
    for claim in item.claims:
        if (claim.up, claim.down) == (up, down):
            return claim.share_won
    return float(np.mean(item.evidence().leads(up, down) > 0))


def leads_table(collection: Collection) -> pd.DataFrame:
    """Return the best lead of every ordered pair with its interval, the share of samples won, and the verdict."""
    found = collection.leads()
    held = {item.name: item for item in collection.sets}
    found["samples won"] = [
        share_won(held[row.dataset], row.up, row.down) for row in found.itertuples()
    ]
    found["verdict"] = [
        pair_verdict(proven, (up, down) in collection.refuted, won)
        for up, down, proven, won in zip(
            found["up"], found["down"], found["proven"], found["samples won"], strict=True
        )
    ]
    return found.drop(columns="proven")


def pair_verdict(proven: bool, is_refuted: bool, won: float) -> str:
    """Say what a lead is worth.

    Examples
    --------
    >>> pair_verdict(True, False, 1.0), pair_verdict(True, False, 0.6), pair_verdict(True, True, 1.0)
    ('proven', 'proven, but a coin, not a margin', 'not shown under tuning')
    """
    if not proven:
        return "open"
    if is_refuted:
        return "not shown under tuning"
    return "proven" if won >= COIN else "proven, but a coin, not a margin"


def pair_matrix(collection: Collection) -> tuple[Sheet, dict[str, NumberDetails]]:
    """Return the matrix of ordered pairs, each lead with its interval, and the leads of every sample behind it."""
    methods = list(collection.sets[0].aurocs)
    held = {item.name: item for item in collection.sets}
    found = {(row["up"], row["down"]): row for row in leads_table(collection).to_dict("records")}
    rows, numbers, keys = [], [], []
    behind: dict[str, NumberDetails] = {}
    for up in methods:
        cells, own = [TableCell(short_names(methods)[methods.index(up)])], [""]
        values: list[float | None] = [None]
        for down in methods:
            row = found.get((up, down))
            if row is None:
                cells.append(TableCell(""))
                values.append(None)
                own.append("")
                continue
            mark = "†" if row["verdict"] == "not shown under tuning" else ""
            text = interval_in_words(row["mean"], row["low"], row["high"], decimals=2) + mark
            cells.append(TableCell(text, bold=row["verdict"].startswith("proven")))
            values.append(float(row["mean"]))
            key = f"lead/{up}/{down}"
            own.append(key)
            leads = sample_leads(held[row["dataset"]], up, down)
            title = (
                f"{up} over {down} on {row['dataset']}: ahead on {row['samples won']:.0%} of"
                f" {len(leads)} samples"
            )
            shown = tuple(
                (f"sample {place}", lead, "") for place, lead in enumerate(leads, start=1)
            )
            behind[key] = NumberDetails(title, ("sample", "lead"), shown, note=row["verdict"])
        rows.append(cells)
        numbers.append(tuple(values))
        keys.append(tuple(own))
    head = [
        Column("ahead ↓ of →", "left"),
        *(Column(name, "right") for name in short_names(methods)),
    ]
    notes = ["Bold: proven. The dataset and the samples behind every lead open with a click."]
    if collection.refuted:
        notes.append(
            "†: proven for fixed configurations, and not shown when both methods were tuned."
        )
    table = Table.of(head, rows, notes=tuple(notes))
    title = f"The best lead of every ordered pair in {collection.metric}, with its interval"
    return Sheet("pairs", title, table, tuple(numbers), tuple(keys), wide=True), behind


def sample_leads(item: GeneratedSet, up: str, down: str) -> Sequence[float]:
    """Return the lead on every sample of the evidence."""
    for claim in item.claims:
        if (claim.up, claim.down) == (up, down):
            return claim.leads
    return [float(lead) for lead in item.evidence().leads(up, down)]


def _published_pairs(inspection: Inspection) -> tuple[Block, ...]:
    charts = (
        {"duels": duel_chart(inspection.coverage, inspection.margin)}
        if len(inspection.coverage)
        else {}
    )
    said = [f"{up} over {down}" for up, down in inspection.open_pairs]
    return (*drawn_gallery(**charts), Fold(f"{len(said)} open pairs", (Points(tuple(said)),)))


def _pairs(
    inspection: Inspection, collection: Collection, matrix: Sheet, opened: pd.DataFrame | None
) -> tuple[Block, ...]:
    leads = leads_table(collection)
    coins = leads.loc[leads["verdict"].str.contains("coin")]
    said = [
        f"A coin, not a margin: {row.up} over {row.down} on {row.dataset}, ahead on {row._7:.0%} of"
        " the samples."
        for row in coins.rename(columns={"samples won": "_7"}).itertuples()
    ]
    blocks: list[Block] = [matrix]
    if len(inspection.coverage):
        blocks += drawn_gallery(
            duels=duel_chart(inspection.coverage, inspection.margin, metric=collection.metric)
        )
    if said:
        blocks.append(Points(tuple(said)))
    sheet = frame_sheet("leads", "The best lead of every ordered pair", leads)
    limits = (
        "95 % interval"
        if collection.plan is None
        else "interval of the proof, at one level for all claims"
    )
    chart = drawn_gallery(
        leads=lead_chart(collection.leads(), collection.margin, limits, collection.metric)
    )
    blocks.append(
        Fold("Every ordered pair with its interval and the share of samples won", (sheet, *chart))
    )
    if opened is not None and len(opened):
        blocks.append(Fold(f"{len(opened)} open pair{'s' * (len(opened) != 1)}", (_tried(opened),)))
    return tuple(blocks)


def _tried(opened: pd.DataFrame) -> Sheet:
    # Formulas are as wide as all numbers together; they are in the collection's file and in
    # open_pairs.csv.
    shown = opened.drop(columns=["formula", "race_formula"], errors="ignore")
    notes = (
        (
            "raced: candidates that were raced for the pair; raced_tuned: those that led and were"
            " raced under tuning, race_mean and race_won the best of these. tried: datasets on"
            " which it was put to proof, mean to ending the best of these."
        ),
    )
    return frame_sheet("open", "Open pairs, and how hard each was tried", shown, notes=notes)


# Datasets


def _datasets(
    inspection: Inspection, collection: Collection | None, source: str
) -> tuple[Block, ...]:
    notes: tuple[str, ...] = (
        (
            "noise: share of labels that do not follow from the formula. ceiling: AUROC of the"
            " formula itself. nearest: the other dataset with which the labels agree on most rows,"
            " whatever the features and classes are called."
        ),
    )
    if inspection.target == "regression":
        notes = (
            (
                "noise: its standard deviation in units of the formula's own. ceiling: R2 of the"
                " best prediction. nearest: the other dataset whose numbers correlate most,"
                " whatever the features are called; a correlation of r is an agreement of (1 + r)"
                " / 2."
            ),
        )
    sheet = frame_sheet("sets", "Datasets", inspection.sets.drop(columns="formula"), notes=notes)
    files = (
        Attachment("sets.csv", frame_as_csv(inspection.sets)),
        Attachment("coverage.csv", frame_as_csv(inspection.coverage.reset_index(names=""))),
    )
    trees = {
        f"{FORMULA}{row.dataset}": formula_tree(
            Expression.parse(str(row.simplified)), f"{row.dataset}, concept {row.concept}"
        )
        for row in inspection.sets.itertuples()
    }
    if collection is None:
        return (
            sheet,
            Fold("The simplified formulas as trees", drawn_gallery(wide=False, **trees)),
            *files,
        )
    concepts: Mapping[str, int] = dict(
        zip(inspection.sets["dataset"], inspection.sets["concept"], strict=True)
    )
    cards = tuple(
        _card(item, collection, concepts[item.name], trees, source) for item in collection.sets
    )
    return (Fold("All datasets as a table", (sheet,)), *cards, *files)


def _card(
    item: GeneratedSet,
    collection: Collection,
    concept: int,
    trees: Mapping[str, object],
    source: str,
) -> Fold:
    """Return what is known of a dataset: formula in mathematics, what matters, what it proves, and pictures."""
    generator = item.generator()
    simple = Expression.parse(item.simplified)
    whole = mathematics(generator.expression)
    truth = truth_sheet(generator)
    shares = ", ".join(
        f"{feature_name(found.feature)} {found.shapley.value:.0%}" for found in truth.features
    )
    family = ", ".join(generator_families(generator))
    metric, ceiling = METRICS[generator.target], truth.scores[CEILINGS[generator.target]].value
    lines = [
        (
            f"Formula: {whole}."
            if whole == mathematics(simple)
            else f"Formula: {whole}; simplified: {mathematics(simple)}."
        ),
        (
            f"{len(truth.features)} of {len(generator.roles)} columns matter, with these Shapley"
            f" shares: {shares}."
        ),
        (
            f"Family: {family}. Concept {concept}. The best that any method can reach: {metric}"
            f" {ceiling:.3f}."
        ),
    ]
    if item.data:
        lines.append(
            "The data: " + ", ".join(f"{key} {value}" for key, value in item.data.items()) + "."
        )
    shown = item.proven(collection.margin)[:MOST_CLAIMS]
    lines += [
        _proven_in_words(item, up, down, (up, down) in collection.refuted) for up, down in shown
    ]
    more = len(item.proven(collection.margin)) - MOST_CLAIMS
    if more > 0:
        lines.append(f"{more} more pairs are proven on it.")
    plane = plane_of(generator)
    charts = {
        f"plane_{item.name}": plane_chart(plane, plane.truth, "The truth"),
        f"{FORMULA}{item.name}": trees[f"{FORMULA}{item.name}"],
    }
    place = json.dumps(f"{source or collection.name}:{item.name}", ensure_ascii=False)
    load = Listing(
        "Load it", f"import paragone\n\ndata = paragone.load({place})\nX, y = data.X, data.y"
    )
    title = f"{item.name}: {target_in_words(simple, generator)}"
    # A tree is no scatter of points, which is what the page's own plots would make of it.
    return Fold(title, (Points(tuple(lines)), *drawn_gallery(wide=False, **charts), load))


MOST_CLAIMS = 6
"""Claims that a card tells in words; the matrix holds all."""


def _proven_in_words(item: GeneratedSet, up: str, down: str, is_refuted: bool) -> str:
    lead = item.lead(up, down)
    won = share_won(item, up, down)
    more = "" if won >= COIN else " A coin, not a margin."
    if is_refuted:
        more += " Not shown under tuning."
    return (
        f"{up} over {down} by {interval_in_words(lead.estimate, lead.low, lead.high)}, on {won:.0%}"
        f" of samples.{more}"
    )


# The rest


def _variants(collection: Collection) -> tuple[Block, ...]:
    """Say which variants there are, and that nothing is claimed of those that were not put to proof."""
    if collection.target != "binary":
        return (Prose(("The datasets have no variants: these are for two classes only.",)),)
    named = "; ".join(f"{variant.name}: {variant.words}" for variant in VARIANTS.values())
    example = collection.sets[0].name.rpartition("-")[2] if collection.sets else "1"
    said = [
        "Every dataset has variants with the same formula and cut, and rows of their own"
        f" ({named}): "
        f'`paragone.load("{collection.name}:{example}:noisy")`, or `paragone generate write'
        " --variant`.",
        (
            "All claims on this page are of the datasets as they are. Nothing is claimed of a"
            " variant that was not put to proof itself."
        ),
    ]
    if not collection.variants:
        return (Prose(tuple(said)),)
    table = variant_table(collection.variants)
    for name, found in table.groupby("variant", sort=False):
        said.append(
            f"{name}: {int(found['holds'].sum())} of {len(found)} claims that were put to proof"
            " hold."
        )
    said.append(
        "The claims on variants are a family of their own: the level covers all of them together."
    )
    sheet = frame_sheet("variants", "The claims on variants", table)
    return (Prose(tuple(said)), Fold("Every claim on a variant", (sheet,)))


def _search(curve: pd.DataFrame) -> tuple[Block, ...]:
    shown = curve.assign(minutes=curve["seconds"] / 60).drop(columns="seconds")
    drawn = gallery(coverage_curve=coverage_curve(curve)) if len(curve) else ()
    return (
        *drawn,
        Fold(
            "The progress of the search, moment by moment",
            (frame_sheet("curve", "Coverage", shown, decimals=1),),
        ),
    )


def _again(again: pd.DataFrame, margin: float) -> tuple[Block, ...]:
    """Say what became of the claims when a script that shares no code with the search measured them."""
    n_held = int((again["mean"] >= margin).sum())
    n_reversed = int((again["mean"] + 2 * again["se"] < 0).sum())
    least, most = int(again["samples"].min()), int(again["samples"].max())
    samples = f"{most}" if least == most else f"{least} to {most}"
    said = (
        f"A script that shares no code with the search measured again the {len(again)} claims that"
        f" had been shown, on {samples} new samples each, with other seeds and both methods tuned"
        f" by another tuner: {n_held} of {len(again)} mean leads are at or above {margin:g}"
        f" ({n_held / len(again):.1%}), and {n_reversed} {'is' if n_reversed == 1 else 'are'} below"
        " 0 by more than two standard errors."
    )
    n_lost = int((again["mean"] + 2 * again["se"] < margin).sum())
    if n_lost:
        is_one = n_lost == 1
        said += (
            f" {n_lost} of them {'lies' if is_one else 'lie'} below {margin:g} by more than two"
            f" standard errors: {'that claim is' if is_one else 'these claims are'} marked as not"
            f" confirmed, and no longer {'counts' if is_one else 'count'} as proven."
        )
    columns = {
        "dataset": "dataset",
        "up": "winner",
        "down": "loser",
        "printed_mean": "proven lead",
        "printed_low": "lower limit",
        "mean": "lead again",
        "se": "standard error",
        "share_won": "samples won",
        "samples": "samples",
    }
    sheet = frame_sheet(
        "again",
        "Every claim, as proven and measured again",
        again[list(columns)].rename(columns=columns),
    )
    return (Prose((said,)), Fold("Every claim, measured again", (sheet,)))


def _beside(collection: Collection, other: Collection) -> tuple[Block, ...]:
    mine, theirs = set(collection.covered()), set(other.covered())
    n_pairs = len(collection.leads())
    n_mine, n_theirs = (len({item.concept for item in which.sets}) for which in (collection, other))
    lines = [
        (
            f"{collection.name} proves {len(mine)} of {n_pairs} ordered pairs with"
            f" {len(collection.sets)} datasets of {n_mine} concepts{_of_these(collection)};"
            f" {other.name} proves {len(theirs)} with {len(other.sets)} datasets of {n_theirs}"
            " concepts."
        ),
        (
            f"{len(mine - theirs)} pairs are proven by {collection.name} only:"
            f" {_named(mine - theirs)}."
        ),
        f"{len(theirs - mine)} pairs are proven by {other.name} only: {_named(theirs - mine)}.",
    ]
    drawn = duel_chart(
        other.coverage(), other.margin, f"Proven by {other.name}", metric=other.metric
    )
    return (Points(tuple(lines)), *drawn_gallery(duels_beside=drawn))


def _of_these(collection: Collection) -> str:
    n_refuted = len(collection.refuted)
    return f", and {n_refuted} of these pairs were not shown under tuning" if n_refuted else ""


def _named(pairs: set[tuple[str, str]]) -> str:
    return ", ".join(f"{up} over {down}" for up, down in sorted(pairs)) or "none"


def _how(inspection: Inspection, collection: Collection | None) -> tuple[str, ...]:
    concepts = (
        "Two datasets are of one concept when their labels agree on 98 % of the rows of a probe"
        " sample, up to the names and signs of features and the names of the classes, or when a"
        " chain of such datasets links them."
    )
    if inspection.target == "regression":
        concepts = (
            "Two datasets are of one concept when their numbers correlate by .96 or more on the"
            " rows of a probe sample, up to the names and signs of features and the sign of the"
            " number, or when a chain of such datasets links them."
        )
    if inspection.target == "multiclass":
        concepts = (
            "Two datasets are of one concept when the numbers of their classes, lowest values"
            " first, correlate by .96 or more on the rows of a probe sample, up to the names and"
            " signs of features and the direction of the classes, or when a chain of such datasets"
            " links them."
        )
    if collection is None:
        return (f"Pairs are compared {inspection.basis}.", concepts)
    return (*family_statement(collection), concepts)


def family_statement(collection: Collection) -> tuple[str, ...]:
    """Say what the intervals of a collection promise together, and what they do not."""
    plan = collection.plan
    if plan is not None:
        tried = ", the settings of its library first," if plan.defaults else ""
        return (
            (
                f"Both methods of a claim were tuned on every sample with {plan.trials}"
                f" trials{tried} on {plan.folds} inner folds of {plan.n_train} training rows, with"
                f" seeds that are new on every sample, and scored on {plan.n_fresh:,} fresh rows."
                " Search, races and proof have different rows, and what the proof came to steered"
                " nothing."
            ),
            (
                f"{plan.n_claims} claims were allowed for before any was looked at. The chance that"
                f" any of their intervals misses its mean lead is at most {plan.alpha:.0%}, looks"
                f" at {', '.join(map(str, plan.looks))} samples included. A pair is proven when the"
                f" lower limit reaches {plan.margin:g}."
            ),
        )
    n_methods = len(collection.sets[0].aurocs) if collection.sets else 0
    n_claims = n_methods * (n_methods - 1) * len(collection.sets)
    said = [
        (
            "Every method was fitted in one configuration, chosen in the search, on samples of the"
            f" size of the dataset, and scored on {collection.evidence_rows:,} fresh rows of each;"
            " all methods saw the same samples. A pair is proven when the lower 95 % bound of the"
            f" paired difference reaches {collection.margin:g}."
        ),
        (
            "Each interval is at 95 % by itself. There is no level for all of them together: of"
            f" the {n_claims:,} leads that could be looked at here, some intervals miss by chance"
            " alone."
        ),
    ]
    if collection.refuted:
        said.append(
            f"Of the proven pairs {len(collection.refuted)} were not shown when both methods were"
            f" tuned: {_named(set(collection.refuted))}."
        )
    return tuple(said)
