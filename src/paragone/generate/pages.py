"""The page of a method on collections, and what all pages of generated data share: galleries, sheets, the folder.

The page of a collection: which pairs are proven and how surely, a card per dataset, and how it came about.

The page of a duel, and its folder: the finding, a card per proven dataset, what was tried, and files to load.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from paragone.charts import save_chart
from paragone.folders import replaced_folder
from paragone.generate.benchmark import MethodBenchmark
from paragone.generate.charts import (
    coverage_curve,
    duel_chart,
    formula_tree,
    heat_map,
    lead_chart,
    short_names,
)
from paragone.generate.collection import (
    ClaimRecord,
    Collection,
    GeneratedSet,
    open_table,
    variant_table,
)
from paragone.generate.concepts import agreements, concept_rule, numbered_concepts, signature
from paragone.generate.diagnosis import (
    MethodDiagnosis,
    diagnose,
    family_rules,
    generator_families,
    profile_plot,
)
from paragone.generate.duels import DuelResult, time_in_words
from paragone.generate.expressions import Expression
from paragone.generate.formulas import feature_name, mathematics, simplify, target_in_words
from paragone.generate.inspection import MARGIN, Inspection
from paragone.generate.laboratory import fresh_protocol
from paragone.generate.methods import CEILINGS, METRICS, common_target
from paragone.generate.pictures import (
    Picture,
    claims_chart,
    curve_chart,
    plane_chart,
    plane_of,
    search_chart,
)
from paragone.generate.proof import Evidence, Proof
from paragone.generate.sampling import population
from paragone.generate.sets import VARIANTS
from paragone.generate.truth import truth_sheet
from paragone.page import (
    Attachment,
    Block,
    Collapsible,
    Gallery,
    Listing,
    NumberDetails,
    Page,
    Points,
    Prose,
    Section,
    Sheet,
    figure,
    frame_sheet,
)
from paragone.reporting import comparison_board, panels_of, render_page
from paragone.tables import Column, Table, TableCell, frame_as_csv
from paragone.ties import best_losses, loss_order, rank_losses

PAGE = "report.html"
FORMULA = "formula_"
CURVES = {
    "binary": "ROC and precision-recall curves",
    "multiclass": "ROC curves, each class against the rest",
}
"""The curves that a target has; numbers have none."""


def score_sheet(
    name: str, title: str, table: pd.DataFrame, behind: Mapping[tuple[str, str], str]
) -> Sheet:
    """Return scores by dataset (down) and method (across), the best of a row in bold, with what is behind each."""
    head = [Column("dataset", "left"), *(Column(str(method), "right") for method in table.columns)]
    rows, numbers, keys = [], [], []
    for dataset, row in table.iterrows():
        # All that are tied with the best are bold, as in every table of a report.
        best = best_losses(-row.to_numpy(dtype=float), size=1.0)
        cells = [
            TableCell(f"{value:.4f}", bold=bool(mark))
            for value, mark in zip(row, best, strict=True)
        ]
        rows.append([TableCell(str(dataset)), *cells])
        numbers.append((None, *map(float, row)))
        keys.append(
            ("", *(behind.get((str(dataset), str(method)), "") for method in table.columns))
        )
    return Sheet(
        name, title, Table.of(head, rows), tuple(numbers), tuple(keys), wide=len(head) > 12
    )


def sample_evidence(
    scores: pd.DataFrame, over: str, metric: str = "AUROC"
) -> tuple[dict[str, NumberDetails], dict[tuple[str, str], str]]:
    """Return the single values behind every mean of a dataset and a method, and their keys."""
    found: dict[str, NumberDetails] = {}
    keys: dict[tuple[str, str], str] = {}
    for (dataset, method), part in scores.groupby(["dataset", "method"], sort=False):
        key = f"{dataset}/{method}"
        rows = tuple(
            (str(seed), float(value), "")
            for seed, value in zip(part["seed"], part["value"], strict=True)
        )
        found[key] = NumberDetails(
            f"{method} on {dataset}", (over, metric), rows, place=(str(dataset), str(method))
        )
        keys[str(dataset), str(method)] = key
    return found, keys


def write_benchmark(
    benchmarks: MethodBenchmark | Sequence[MethodBenchmark],
    folder: str | Path,
    formats: tuple[str, ...] = ("svg",),
) -> Path:
    """Write scores, parameters, charts and the page of a method into a folder, and return the page.

    Parameters
    ----------
    benchmarks : MethodBenchmark or sequence of MethodBenchmark
        What is shown: one method on one or more collections.
    folder : str or Path
        Made where it is missing; what an earlier benchmark wrote there is replaced as a whole.
    formats : tuple of str
        Chart formats; SVG is always among them.

    Examples
    --------
    >>> import tempfile
    >>> from paragone.generate import Contender, StageSettings, Laboratory, benchmark_method
    >>> own = Contender("NB", "sklearn.naive_bayes:GaussianNB")
    >>> with tempfile.TemporaryDirectory() as folder, Laboratory(Path(folder) / "lab.sqlite") as laboratory:
    ...     result = benchmark_method(own, laboratory, sets=["digen8"], settings=StageSettings(folds=3))
    ...     page = write_benchmark(result, Path(folder) / "page")
    ...     page.name, (Path(folder) / "page" / "heat_map.svg").is_file()
    ('report.html', True)
    """
    several = [benchmarks] if isinstance(benchmarks, MethodBenchmark) else list(benchmarks)
    return write_whole(
        folder, "benchmark", benchmark_page(several), tuple(dict.fromkeys(("svg", *formats)))
    )


def benchmark_page(benchmarks: Sequence[MethodBenchmark]) -> Page:
    """Make the page of a method: the diagnosis over all collections, then each of them."""
    method = benchmarks[0].method
    target = common_target([(benchmark.collection, benchmark.target) for benchmark in benchmarks])
    metric = METRICS[target]
    evidence: dict[str, NumberDetails] = {}
    sections: list[Section] = []
    for benchmark in benchmarks:
        found, keys = sample_evidence(benchmark.scores, "seed", metric)
        evidence |= found
        sections += _collection_sections(
            benchmark, keys, "" if len(benchmarks) == 1 else f" on {benchmark.collection}"
        )
    if all(benchmark.specimens for benchmark in benchmarks):
        # The finding is the first screen; then comes why.
        sections[1:1] = _diagnosis_sections(diagnose(benchmarks))
    chosen = {name: params for benchmark in benchmarks for name, params in benchmark.chosen.items()}
    parameters = json.dumps(chosen, indent=1)
    scores = pd.concat([benchmark.scores for benchmark in benchmarks], ignore_index=True)
    files = (
        Attachment("scores.csv", frame_as_csv(scores)),
        Attachment("parameters.json", f"{parameters}\n"),
    )
    listing = Listing(f"Parameters of {method}, by dataset", parameters)
    how = Prose(tuple(f"On {benchmark.collection}: {benchmark.how}" for benchmark in benchmarks))
    rules = Points(tuple(f"{family}: {words}." for family, words in family_rules(target).items()))
    families = (Collapsible("The families of concepts, by their rules", (rules,)),)
    sections.append(Section("how", "How it was done", (how, *families, listing, *files)))
    n_sets = sum(len(benchmark.table()) for benchmark in benchmarks)
    n_methods = len(benchmarks[0].table().columns)
    of = " of each class against the rest" if target == "multiclass" else ""
    subtitle = f"{n_sets} dataset{'s' * (n_sets != 1)}, {n_methods} methods, {metric}{of}"
    named = " and ".join(benchmark.collection for benchmark in benchmarks)
    return Page(f"{method} on {named}", subtitle, (), tuple(sections), evidence)


def _diagnosis_sections(diagnosis: MethodDiagnosis) -> list[Section]:

    first, *others = diagnosis.sentences()
    # The first begins with the method's name, which is written as it is.
    lead, more = f"{first}.", [f"{said[0].upper()}{said[1:]}." for said in others]
    families = pd.DataFrame(
        [
            {
                "family": record.family,
                "datasets": record.n_sets,
                "concepts": record.n_concepts,
                diagnosis.method: record.method,
                "references, median": record.typical,
                "best reference": f"{record.best_method} {record.best:.3f}",
                "behind the best of each concept": interval_in_words(
                    record.behind, record.low, record.high
                ),
            }
            for record in diagnosis.records
        ]
    )
    notes = (
        (
            "Means over concepts: datasets of one concept are one problem. Intervals: 95 %, over"
            " concepts."
        ),
    )
    sheet = frame_sheet("families", "By family of concepts", families, notes=notes)
    profile = figure("profile", profile_plot(diagnosis))
    blocks: list[Block] = [Prose((lead,), "lead"), Points(tuple(more)), Gallery((profile,))]
    near = frame_sheet("likeness", "Which known method it is like", diagnosis.likeness)
    sections = [Section("diagnosis", "The diagnosis", (*blocks, sheet, near))]
    told = {"wins": ("wins", diagnosis.wins), "failures": ("fails", diagnosis.failures)}
    tables: list[Block] = []
    for name, (word, rows) in told.items():
        if not len(rows):
            tables.append(
                Prose(
                    (
                        (
                            f"There is no dataset on which {diagnosis.method} {word} by"
                            f" {diagnosis.margin:g}."
                        ),
                    )
                )
            )
            continue
        shown = rows.assign(
            families=[", ".join(of) for of in rows["families"]],
            formula=[mathematics(Expression.parse(text)) for text in rows["formula"]],
        ).drop(columns=["concept", "place"])
        title = f"Datasets on which {diagnosis.method} {word} by {diagnosis.margin:g} or more"
        sheet = frame_sheet(name, title, shown)
        tables.append(
            sheet
            if len(rows) <= 12
            else Collapsible(f"{title} ({len(rows)})", (sheet,), is_open=False)
        )
    return [*sections, Section("outcomes", "Where it wins and where it fails", tuple(tables))]


def interval_in_words(value: float, low: float, high: float, decimals: int = 3) -> str:
    """Return a number with its limits; the limits are left out where there are none.

    Examples
    --------
    >>> interval_in_words(0.12, 0.08, 0.16), interval_in_words(0.12, float("nan"), float("nan"))
    ('0.120 [0.080, 0.160]', '0.120')
    """
    # Zero has no sign for a reader.
    told, below, above = (
        f"{round(number, decimals) + 0.0:.{decimals}f}" for number in (value, low, high)
    )
    return f"{told} [{below}, {above}]" if np.isfinite([low, high]).all() else told


def _collection_sections(
    benchmark: MethodBenchmark, keys: Mapping[tuple[str, str], str], where: str
) -> list[Section]:
    """Return the parts of the page that are about one collection; names get its name where there are several."""
    ending = f"_{benchmark.collection}" if where else ""
    charts = benchmark.charts()

    def named(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
        # Charts of two collections on one page must not have one title: nobody could tell them
        # apart.
        return tuple(
            (
                replace(
                    b,
                    figures=tuple(one.retitled(f"{one.title}{where}") for one in b.figures),
                )
                if isinstance(b, Gallery)
                else b
            )
            for b in blocks
        )

    def drawn(*names: str, wide: bool = True) -> tuple[Block, ...]:
        return named(
            gallery(
                **{f"{name}{ending}": charts[name] for name in names if name in charts}, wide=wide
            )
        )

    table = benchmark.table()
    notes: tuple[Block, ...] = (
        (Points(tuple(f"Note: {note}." for note in benchmark.notes)),) if benchmark.notes else ()
    )
    ranking = frame_sheet(
        f"standing{ending}", f"Standing{where}", _ranking(table, benchmark.metric), decimals=4
    )
    heat, duels = (
        named(gallery(wide=True, **{f"{name}{ending}": charts[name]}))
        for name in ("heat_map", "duels")
    )
    plots = (*heat, *drawn("parallel_coordinates", "boxes", "boxes_over_seeds"))
    scores = score_sheet(f"scores{ending}", f"{benchmark.metric} by dataset{where}", table, keys)
    sections = [
        Section(
            f"verdict{ending}",
            f"The verdict{where}",
            (*_verdict(benchmark, ending), *notes, Collapsible("Standing", (ranking,))),
        ),
        Section(f"who{ending}", f"Who beats whom{where}", (*drawn("critical_difference"), *duels)),
        Section(f"where{ending}", f"Scores{where}", (*plots, scores)),
    ]
    if benchmark.target in CURVES:
        title = f"{CURVES[benchmark.target]}{where}"
        curves = Collapsible(title, drawn("roc", "precision_recall", wide=False), is_open=not where)
        sections.append(Section(f"curves{ending}", f"Curves{where}", (curves,)))
    return sections


def _verdict(benchmark: MethodBenchmark, ending: str = "") -> tuple[Block, ...]:
    table = benchmark.table()
    first = int(
        best_losses(-table.to_numpy(dtype=float).T, size=1.0)[
            table.columns.get_loc(benchmark.method)
        ].sum()
    )
    duels = benchmark.duels().loc[benchmark.method].drop(benchmark.method)
    lead = (
        f"{benchmark.method} is first on {first} of {len(table)} datasets, and beats"
        f" {int((duels > 0).sum())} of {len(duels)} methods by {MARGIN:g} {benchmark.metric} on"
        " some dataset."
    )
    if len(table) < 2:
        return (Prose((lead,), "lead"),)
    compared = benchmark.comparison(benchmark.method)
    board = comparison_board(compared, f"board-{fresh_protocol(benchmark.target)[1]}{ending}")
    # A page of two collections has two boards, and each says of which it speaks.
    board = replace(board, scope=f"{board.scope} of {benchmark.collection}")
    words = Points(tuple(compared.verdict.splitlines()))
    return (
        board,
        *panels_of(board),
        Prose((lead,)),
        Collapsible("The verdict on every pair, in words", (words,)),
    )


def _ranking(table: pd.DataFrame, metric: str) -> pd.DataFrame:

    ranks = np.mean([rank_losses(-row, size=1.0) for row in table.to_numpy(dtype=float)], axis=0)
    rows = [
        {
            "method": method,
            "mean rank": rank,
            f"mean {metric}": table[method].mean(),
            "lowest": table[method].min(),
        }
        for method, rank in (
            (table.columns[place], float(ranks[place])) for place in loss_order(ranks)
        )
    ]
    return pd.DataFrame(rows)


def gallery(*, wide: bool = False, **charts: Any) -> tuple[Block, ...]:
    """Return charts, by name, beside each other; wide ones, which a column would cut, one under the other."""
    figures = tuple(figure(name, chart) for name, chart in charts.items())
    return (Gallery(figures, wide=wide),) if charts else ()


def write_whole(
    folder: str | Path,
    kind: str,
    page: Page,
    formats: tuple[str, ...] = ("svg",),
    collection: Collection | None = None,
) -> Path:
    """Write a page with its files, charts and datasets, all of it or nothing, and return where the page is."""
    with replaced_folder(folder, kind) as new:
        if collection is not None:
            collection.write(new / "collection.json")
            collection.write_data(new / "data")
        for file in (*page.attachments(), Attachment(PAGE, render_page(page))):
            (new / file.name).write_text(file.text, encoding="utf-8", newline="")
        for chart in page.figures():
            # Formulas are many: they have a folder of their own.
            stem = new / chart.name.replace(FORMULA, "formulas/", 1)
            stem.parent.mkdir(exist_ok=True)
            save_chart(chart.specification, stem, formats)
    return Path(folder) / PAGE


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
        drawn = gallery(wide=True, heat_map=heat_map(table, metric))
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
    return (
        *gallery(wide=True, **charts),
        Collapsible(f"{len(said)} open pairs", (Points(tuple(said)),)),
    )


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
        blocks += gallery(
            wide=True,
            duels=duel_chart(inspection.coverage, inspection.margin, metric=collection.metric),
        )
    if said:
        blocks.append(Points(tuple(said)))
    sheet = frame_sheet("leads", "The best lead of every ordered pair", leads)
    limits = (
        "95 % interval"
        if collection.plan is None
        else "interval of the proof, at one level for all claims"
    )
    chart = gallery(
        wide=True,
        leads=lead_chart(collection.leads(), collection.margin, limits, collection.metric),
    )
    blocks.append(
        Collapsible(
            "Every ordered pair with its interval and the share of samples won", (sheet, *chart)
        )
    )
    if opened is not None and len(opened):
        blocks.append(
            Collapsible(f"{len(opened)} open pair{'s' * (len(opened) != 1)}", (_tried(opened),))
        )
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
            Collapsible("The simplified formulas as trees", gallery(**trees)),
            *files,
        )
    concepts: Mapping[str, int] = dict(
        zip(inspection.sets["dataset"], inspection.sets["concept"], strict=True)
    )
    cards = tuple(
        _card(item, collection, concepts[item.name], trees, source) for item in collection.sets
    )
    return (Collapsible("All datasets as a table", (sheet,)), *cards, *files)


def _card(
    item: GeneratedSet,
    collection: Collection,
    concept: int,
    trees: Mapping[str, object],
    source: str,
) -> Collapsible:
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
    return Collapsible(title, (Points(tuple(lines)), *gallery(**charts), load))


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
    return (Prose(tuple(said)), Collapsible("Every claim on a variant", (sheet,)))


def _search(curve: pd.DataFrame) -> tuple[Block, ...]:
    shown = curve.assign(minutes=curve["seconds"] / 60).drop(columns="seconds")
    drawn = gallery(coverage_curve=coverage_curve(curve)) if len(curve) else ()
    return (
        *drawn,
        Collapsible(
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
    return (Prose((said,)), Collapsible("Every claim, measured again", (sheet,)))


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
    return (Points(tuple(lines)), *gallery(wide=True, duels_beside=drawn))


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


COIN = 0.9
"""A claim whose method is ahead on a smaller share of the samples is called a coin, whatever its mean."""


def write_duel(result: DuelResult, shown: Sequence[Picture], folder: str | Path, name: str) -> Path:
    """Write the page, the collection, the datasets and every fit into a folder, and return the page.

    Parameters
    ----------
    result : DuelResult
        What was found.
    shown : sequence of Picture
        The proven datasets; none is as good a page.
    folder : str or Path
        That of the duel. What an earlier sitting wrote is replaced as a whole; the store stays.
    name : str
        Of the collection.
    """
    page = duel_page(result, shown, folder, name)
    collection = duel_collection(result, shown, name)
    return write_whole(folder, "duel", page, collection=collection)


def duel_collection(result: DuelResult, shown: Sequence[Picture], name: str) -> Collection:
    """Return the proven datasets as a collection, with every method's score on every sample of its proof."""
    generators = [picture.generator for picture in shown]
    marks = [signature(made.expression, concept_rule(made), made.n_features) for made in generators]
    numbers = numbered_concepts(agreements(marks)) if marks else []
    sets = []
    for picture, concept in zip(shown, numbers, strict=True):
        scores = [
            [fit.score for fit in picture.proof.fits if fit.method == method]
            for method in result.names
        ]
        first = {fit.method: dict(fit.params) for fit in reversed(picture.proof.fits)}
        sets.append(
            GeneratedSet.of(
                picture.name,
                picture.generator,
                concept,
                seed_of(picture, result),
                result.plan.rows,
                Evidence(result.names, np.array(scores).T),
                first,
                (ClaimRecord.of(picture.proof),),
            )
        )
    proof = result.plan.proof()
    plan = result.plan
    return Collection(
        name, plan.margin, plan.fresh, tuple(sets), proof, plan.seed, target=plan.target
    )


def seed_of(picture: Picture, result: DuelResult) -> int:
    """Return the seed of the rows that are written."""
    from paragone.generate.duels import shown_seed

    return shown_seed(result.plan, picture.generator)


def duel_page(result: DuelResult, shown: Sequence[Picture], folder: str | Path, name: str) -> Page:
    """Make the page of a duel."""
    first, second = result.names
    sections = [Section("finding", "The finding", _finding(result, shown, folder))]
    for place, (up, down) in enumerate(result.directions, start=1):
        own = [picture for picture in shown if picture.proof.claim.up == up]
        # That nothing was found, and what was tried, stands in the finding: an empty section would
        # say it twice.
        if own:
            sections.append(
                Section(f"wins{place}", f"Where {up} beats {down}", _direction(result, own, folder))
            )
    sections.append(Section("tried", "What was tried", _duel_tried(result)))
    sections.append(Section("how", "How it was done", _duel_how(result)))
    n = len(shown)
    subtitle = (
        f"{n} proven dataset{'s' * (n != 1)}, {result.plan.rows} training rows,"
        f" {time_in_words(result.seconds)}"
    )
    evidence = {key: details for picture in shown for key, details in _behind(picture).items()}
    return Page(f"{first} against {second}", subtitle, (), tuple(sections), evidence)


def _finding(result: DuelResult, shown: Sequence[Picture], folder: str | Path) -> tuple[Block, ...]:
    # What is proven comes first: it is what the duel was fought for.
    order = sorted(result.directions, key=lambda pair: not result.proven(*pair))
    said = tuple(_sentence(result.sentence(up, down)) for up, down in order)
    blocks: list[Block] = [Prose(said, "lead")]
    border = boundary(result, shown)
    if border:
        blocks.append(Points(border))
    # Where nothing came to a proof, the search is all that there is to see.
    blocks += (
        gallery(claims=claims_chart(result))
        if has_claims(result)
        else gallery(search=search_chart(result))
    )
    if shown:
        blocks.append(
            Listing(
                "Load a dataset into scikit-learn", load_lines(shown[0].name, folder), is_open=True
            )
        )
    return tuple(blocks)


def has_claims(result: DuelResult) -> bool:
    """Say whether any claim has leads to draw."""
    return any(proof.leads for proof in result.proofs)


def load_lines(name: str, folder: str | Path) -> str:
    """Return the lines of Python that load a dataset of a duel."""
    number = name.rpartition("-")[2]
    place = json.dumps(f"{Path(folder).as_posix()}/collection.json:{number}")
    return f"import paragone\n\ndata = paragone.load({place})\nX, y = data.X, data.y"


def boundary(result: DuelResult, shown: Sequence[Picture]) -> tuple[str, ...]:
    """Say in words what kind of problem each method wins on."""
    said = []
    rules = family_rules(result.plan.target)
    for up, down in result.directions:
        own = [picture for picture in shown if picture.proof.claim.up == up]
        counts = Counter(family for picture in own for family in families_of(picture))
        for family, n in counts.most_common():
            rule = rules.get(family, "of no family that has a name here")
            of = f"{n} of {len(own)} dataset{'s' * (len(own) != 1)}"
            said.append(f"{up} wins on problems of the family {family} ({of}): {rule}.")
        ceilings = [picture for picture in own if picture.curve is not None and len(picture.curve)]
        for picture in ceilings:
            said.append(f"{picture.name}: {crossing(picture, up, down)}.")
    return tuple(said)


def families_of(picture: Picture) -> tuple[str, ...]:
    """Return the families of a dataset's formula."""
    return generator_families(picture.generator)


def crossing(picture: Picture, up: str, down: str) -> str:
    """Say between which numbers of training rows one method overtakes the other, as far as the curves show."""
    assert picture.curve is not None
    wide = picture.curve.pivot(index="rows", columns="method", values="mean").dropna()
    if wide.empty or up not in wide or down not in wide:
        return "its learning curves have no point that both methods reached"
    ahead = (wide[up] > wide[down]).to_list()
    sizes = [int(size) for size in wide.index]
    if all(ahead):
        return f"{up} is ahead at every size from {sizes[0]} to {sizes[-1]} training rows"
    last = max(place for place, won in enumerate(ahead) if not won)
    if last + 1 < len(ahead):
        return f"{up} overtakes {down} between {sizes[last]} and {sizes[last + 1]} training rows"
    return f"{down} is ahead at {sizes[last]} training rows, the most that were tried"


def _direction(result: DuelResult, own: Sequence[Picture], folder: str | Path) -> tuple[Block, ...]:
    blocks: list[Block] = []
    for place, picture in enumerate(own):
        title = f"{picture.name}: {target_in_words(_simplified(picture), picture.generator)}"
        blocks.append(Collapsible(title, _duel_card(result, picture, folder), is_open=place == 0))
    return tuple(blocks)


def _simplified(picture: Picture) -> Expression:
    return simplify(picture.generator.expression, population(picture.generator.n_features))


def _duel_card(result: DuelResult, picture: Picture, folder: str | Path) -> tuple[Block, ...]:
    proof, generator = picture.proof, picture.generator
    claim, limits = proof.claim, proof.interval
    whole, simple = mathematics(generator.expression), mathematics(_simplified(picture))
    n_columns = len(generator.roles)
    shares = ", ".join(
        f"{feature_name(found.feature)} {found.shapley.value:.0%}"
        for found in picture.truth.features
    )
    matter = (
        f"{len(picture.truth.features)} of {n_columns} columns matter, with these Shapley shares:"
        f" {shares}."
    )
    lines = [
        f"Formula: {whole}." if whole == simple else f"Formula: {whole}; simplified: {simple}.",
        matter,
        (
            f"Family: {', '.join(families_of(picture))}. The best that any method can reach:"
            f" {picture.metric} {picture.ceiling:.3f}."
        ),
        (
            f"{claim.up} leads by {limits.estimate:.3f} [{limits.low:.3f}, {limits.high:.3f}],"
            f" ahead on {proof.share_won:.0%} of {proof.stopped_at} samples, both tuned on each."
        ),
    ]
    if proof.share_won < COIN:
        lines.append(coin_sentence(proof))
    drawn = {
        f"{picture.name}_truth": plane_chart(
            picture.plane, picture.plane.truth, "The truth", _points(picture)
        )
    }
    for method, values in picture.shown.items():
        drawn[f"{picture.name}_{_stem(method)}"] = plane_chart(
            picture.plane, values, f"What {method} learned"
        )
    curves: dict[str, Any] = {}
    if picture.curve is not None and len(picture.curve):
        curves[f"{picture.name}_curves"] = curve_chart(picture, result.methods)
    load = Listing("Load it", load_lines(picture.name, folder))
    return (
        Points(tuple(lines)),
        *gallery(**drawn),
        *gallery(**curves),
        _score_sheet(picture, result),
        load,
    )


def coin_sentence(proof: Proof) -> str:
    """Say that a lead is a coin: large on some samples, none on others."""
    leads = sorted(proof.leads)
    return (
        f"A coin, not a margin: the lead is {leads[-1]:.3f} on the best sample and {leads[0]:.3f}"
        " on the worst; whoever draws one sample may see either."
    )


def _points(picture: Picture) -> list[tuple[float, float, float]]:
    """Return rows of the dataset for the plane, where all that matters lies in it."""
    plane = picture.plane
    if plane.held or picture.generator.categorical:
        return []
    rows = np.asarray(picture.data.X, dtype=np.float64)[:200]
    target = np.asarray(picture.data.y[:200])
    labels = target.tolist() if plane.target == "binary" else plane.drawn(target).round(3).tolist()
    found = zip(rows[:, plane.across], rows[:, plane.up], labels, strict=True)
    return [(round(float(a), 3), round(float(b), 3), label) for a, b, label in found]


def _stem(method: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in method)


def _score_sheet(picture: Picture, result: DuelResult) -> Sheet:

    rows = []
    for method in result.names:
        scores = np.array([fit.score for fit in picture.proof.fits if fit.method == method])
        rows.append(
            {
                "method": method,
                f"mean {picture.metric}": float(scores.mean()),
                "lowest": float(scores.min()),
                "highest": float(scores.max()),
                "samples": len(scores),
                "below the ceiling by": picture.ceiling - float(scores.mean()),
            }
        )
    sheet = frame_sheet(f"scores_{picture.name}", "Scores of the proof", pd.DataFrame(rows))
    keys = tuple(("", f"{picture.name}/{method}", "", "", "", "") for method in result.names)
    return Sheet(sheet.name, sheet.title, sheet.table, sheet.numbers, keys)


def _behind(picture: Picture) -> dict[str, NumberDetails]:
    found = {}
    for method in dict.fromkeys(fit.method for fit in picture.proof.fits):
        rows = tuple(
            (f"sample {f.sample}", f.score, "") for f in picture.proof.fits if f.method == method
        )
        place = (picture.name, method)
        found[f"{picture.name}/{method}"] = NumberDetails(
            f"{method} on {picture.name}", ("sample", picture.metric), rows, place=place
        )
    return found


def _duel_tried(result: DuelResult) -> tuple[Block, ...]:

    n_claims, n_races = len(result.proofs), len(result.raced)
    blocks: list[Block] = [
        Points(
            (
                (
                    f"{result.n_formulas:,} formulas were looked at, {result.n_screened:,} scored"
                    " with both methods."
                ),
                f"The search ended because {result.ended_by}.",
                (
                    f"{n_races} race{'s' * (n_races != 1)} under tuning, {n_claims}"
                    f" claim{'s' * (n_claims != 1)} put to proof,"
                    f" {sum(proof.holds for proof in result.proofs)} proven."
                ),
                *(
                    [
                        f"{result.n_failed} cells failed: `paragone status` on the store in this"
                        " folder says why."
                    ]
                    if result.n_failed
                    else []
                ),
            )
        ),
    ]
    if has_claims(result):
        blocks += gallery(search=search_chart(result))
    claims = claims_table(result)
    if len(claims):
        blocks.append(frame_sheet("claims", "Every claim that was put to proof", claims))
    races = pd.DataFrame(
        [
            {
                "winner": one.up,
                "loser": one.down,
                "formula": mathematics(Expression.parse(one.formula)),
                "lead in the search": one.screened,
                "lead in the race": one.lead,
            }
            for one in result.raced
        ]
    )
    if len(races):
        sheet = frame_sheet("races", "Every race: both methods tuned, three samples", races)
        blocks.append(Collapsible(f"{len(races)} race{'s' * (len(races) != 1)}", (sheet,)))
    opened = open_directions(result)
    return (
        *blocks,
        Attachment("claims.csv", frame_as_csv(claims)),
        Attachment("open_pairs.csv", frame_as_csv(opened)),
        Attachment("fits.csv", frame_as_csv(fits_table(result))),
    )


def claims_table(result: DuelResult):  # type: ignore[no-untyped-def]
    """Return every claim that was put to proof, one row each."""
    rows = [
        {
            "claim": place,
            "winner": proof.claim.up,
            "loser": proof.claim.down,
            "formula": mathematics(proof.claim.generator.expression),
            "lead": proof.interval.estimate,
            "low": proof.interval.low,
            "high": proof.interval.high,
            "samples won": proof.share_won,
            "samples": proof.stopped_at,
            "ended": "proven" if proof.holds else proof.ending,
        }
        for place, proof in enumerate(result.proofs, start=1)
    ]
    names = [
        "claim",
        "winner",
        "loser",
        "formula",
        "lead",
        "low",
        "high",
        "samples won",
        "samples",
        "ended",
    ]
    return pd.DataFrame(rows, columns=names)


def open_directions(result: DuelResult):  # type: ignore[no-untyped-def]
    """Return the directions that nothing proves, each with how hard it was tried."""
    rows = [
        (up, down, result.tried(up, down))
        for up, down in result.directions
        if not result.proven(up, down)
    ]
    return pd.DataFrame(rows, columns=["up", "down", "tried"])


def fits_table(result: DuelResult):  # type: ignore[no-untyped-def]
    """Return every fit of every proof: its rows, the configuration that tuning chose, and its scores."""
    rows = [
        (
            place,
            fit.method,
            fit.sample,
            fit.row_seed,
            json.dumps(dict(fit.params)),
            fit.tuning_score,
            fit.score,
        )
        for place, proof in enumerate(result.proofs, start=1)
        for fit in proof.fits
    ]
    names = [
        "claim",
        "method",
        "sample",
        "row seed",
        "parameters",
        "tuning score",
        result.plan.metric,
    ]
    return pd.DataFrame(rows, columns=names)


def _duel_how(result: DuelResult) -> tuple[Block, ...]:
    plan = result.plan
    untuned = [
        method.name for method in result.methods if not method.space and len(method.portfolio) < 2
    ]
    budget = (
        f"On every sample of races and proof each method tried {plan.trials}"
        f" configuration{'s' * (plan.trials != 1)} of its search space, the settings of its library"
        f" first, on {plan.folds} inner folds of the {plan.rows} training rows, with seeds that are"
        f" new on every sample, nested ones included, and was scored by {plan.metric} on"
        f" {plan.fresh:,} fresh rows."
    )
    if untuned:
        one = len(untuned) == 1
        budget += (
            f" {' and '.join(untuned)} {'has' if one else 'have'} no search space and"
            f" {'was fitted as it is' if one else 'were fitted as they are'}: what is proven"
            f" against {'it' if one else 'them'} is proven against these settings; give a space"
            " with --space-a or --space-b."
        )
    level = (
        f"{2 * plan.finalists} claims were allowed for before anything was seen. The chance that"
        " any interval of the family misses its mean lead is at most 5 %, looks at"
        f" {', '.join(map(str, plan.looks))} samples included. A claim is proven when the lower"
        f" limit reaches {plan.margin:g}."
    )
    rows = (
        "The search, the races, the proof and the rows that are written here have different rows."
        " The search proposes formulas by untuned screening; nothing that the proof came to changed"
        " what was searched."
    )
    kinds = ", ".join(f"{key} {value}" for key, value in plan.kinds.items())
    later = " Redundant columns follow from a formula, so the search itself had none." * (
        "redundant" in plan.kinds
    )
    data = (f"The data: {kinds}, in search, races and proof alike.{later}",) if kinds else ()
    return (Prose((budget, level, rows, *data)),)


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}." if text else ""
