"""The pages of generated data: a method on collections, a collection, a duel and its map, each with its folder."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from paragone.charts import BLUE, VERMILION, save_chart
from paragone.folders import replaced_folder
from paragone.generate import charts
from paragone.generate.benchmark import MethodBenchmark
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
from paragone.generate.duel_map import DuelMap
from paragone.generate.duels import DuelResult, ProvenSet, shown_seed, time_in_words
from paragone.generate.expressions import Expression
from paragone.generate.formulas import feature_name, mathematics, simplify, target_in_words
from paragone.generate.inspection import MARGIN, Inspection
from paragone.generate.methods import CEILINGS, METRICS, common_target, metric_of
from paragone.generate.proof import Evidence, Proof
from paragone.generate.sampling import GeneratorSpec, population
from paragone.generate.sets import VARIANTS
from paragone.generate.truth import TruthSheet, truth_sheet
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
from paragone.stats import Interval
from paragone.tables import Column, Table, TableCell, frame_as_csv
from paragone.ties import best_losses, loss_order, rank_losses

PAGE = "report.html"
FORMULA = "formula_"
CURVES = {
    "binary": "ROC and precision-recall curves",
    "multiclass": "ROC curves, each class against the rest",
}
"""The curves that a target has; numbers have none."""
COIN = 0.9
"""A lead on a smaller share of the samples is called a coin, whatever its mean."""
MOST_CLAIMS = 6
"""Claims that a card tells in words; the matrix holds all."""


# What all pages share


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


def gallery(*, wide: bool = False, **drawn: Any) -> tuple[Block, ...]:
    """Return charts, by name, beside each other; wide ones, which a column would cut, one under the other."""
    figures = tuple(figure(name, chart) for name, chart in drawn.items())
    return (Gallery(figures, wide=wide),) if figures else ()


def score_sheet(
    name: str, title: str, table: pd.DataFrame, behind: Mapping[tuple[str, str], str]
) -> Sheet:
    """Return scores by dataset (down) and method (across), the best of a row in bold, with what is behind each."""
    methods = [str(method) for method in table.columns]
    head = [Column("dataset", "left"), *(Column(method, "right") for method in methods)]
    rows, numbers, keys = [], [], []
    for dataset, row in table.iterrows():
        # All that are tied with the best are bold, as in every table of a report.
        best = best_losses(-row.to_numpy(dtype=float), size=1.0)
        marked = zip(row, best, strict=True)
        cells = [TableCell(f"{value:.4f}", bold=bool(mark)) for value, mark in marked]
        rows.append([TableCell(str(dataset)), *cells])
        numbers.append((None, *map(float, row)))
        keys.append(("", *(behind.get((str(dataset), method), "") for method in methods)))
    table_of = Table.of(head, rows)
    return Sheet(name, title, table_of, tuple(numbers), tuple(keys), wide=len(head) > 12)


def sample_evidence(
    scores: pd.DataFrame, over: str, metric: str = "AUROC"
) -> tuple[dict[str, NumberDetails], dict[tuple[str, str], str]]:
    """Return the single values behind every mean of a dataset and a method, and their keys."""
    found: dict[str, NumberDetails] = {}
    keys: dict[tuple[str, str], str] = {}
    for (dataset, method), part in scores.groupby(["dataset", "method"], sort=False):
        key = keys[str(dataset), str(method)] = f"{dataset}/{method}"
        values = zip(part["seed"], part["value"], strict=True)
        rows = tuple((str(seed), float(value), "") for seed, value in values)
        place = (str(dataset), str(method))
        found[key] = NumberDetails(f"{method} on {dataset}", (over, metric), rows, place=place)
    return found, keys


def interval_in_words(found: Interval, decimals: int = 3) -> str:
    """Return a number with its limits; the limits are left out where there are none.

    Examples
    --------
    >>> interval_in_words(Interval(0.12, 0.08, 0.16)), interval_in_words(Interval(0.12))
    ('0.120 [0.080, 0.160]', '0.120')
    """
    # Zero has no sign for a reader.
    ends = (found.estimate, found.low, found.high)
    told, below, above = (f"{round(end, decimals) + 0.0:.{decimals}f}" for end in ends)
    return f"{told} [{below}, {above}]" if np.isfinite(ends[1:]).all() else told


def counted(n: int, word: str) -> str:
    """Return a number of things.

    Examples
    --------
    >>> counted(1, "dataset"), counted(2, "dataset")
    ('1 dataset', '2 datasets')
    """
    return f"{n} {word}{'s' * (n != 1)}"


def formula_lines(
    generator: GeneratorSpec, simple: Expression, truth: TruthSheet, concept: str = ""
) -> list[str]:
    """Say of a dataset what its formula is, which columns matter, and the best score that there is."""
    whole, short = mathematics(generator.expression), mathematics(simple)
    shares = ", ".join(
        f"{feature_name(found.feature)} {found.shapley.value:.0%}" for found in truth.features
    )
    ceiling = truth.scores[CEILINGS[generator.target]].value
    return [
        f"Formula: {whole}." if whole == short else f"Formula: {whole}; simplified: {short}.",
        f"{len(truth.features)} of {len(generator.roles)} columns matter, with these Shapley"
        f" shares: {shares}.",
        f"Family: {', '.join(generator_families(generator))}.{concept} The best that any method can"
        f" reach: {METRICS[generator.target]} {ceiling:.3f}.",
    ]


def load_listing(reference: str, *, title: str = "Load it", is_open: bool = False) -> Listing:
    """Return the lines of Python that load a dataset."""
    place = json.dumps(reference, ensure_ascii=False)
    lines = f"import paragone\n\ndata = paragone.load({place})\nX, y = data.X, data.y"
    return Listing(title, lines, is_open=is_open)


# A method on collections


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
    wanted = tuple(dict.fromkeys(("svg", *formats)))
    return write_whole(folder, "benchmark", benchmark_page(several), wanted)


def benchmark_page(benchmarks: Sequence[MethodBenchmark]) -> Page:
    """Make the page of a method: the diagnosis over all collections, then each of them."""
    method = benchmarks[0].method
    target = common_target([(benchmark.collection, benchmark.target) for benchmark in benchmarks])
    metric = METRICS[target]
    evidence: dict[str, NumberDetails] = {}
    sections: list[Section] = []
    chosen: dict[str, Any] = {}
    for benchmark in benchmarks:
        found, keys = sample_evidence(benchmark.scores, "seed", metric)
        evidence |= found
        chosen |= benchmark.chosen
        where = "" if len(benchmarks) == 1 else f" on {benchmark.collection}"
        sections += _collection_sections(benchmark, keys, where)
    if all(benchmark.specimens for benchmark in benchmarks):
        # The finding is the first screen; then comes why.
        sections[1:1] = _diagnosis_sections(diagnose(benchmarks))
    parameters = json.dumps(chosen, indent=1)
    scores = pd.concat([benchmark.scores for benchmark in benchmarks], ignore_index=True)
    rules = Points(tuple(f"{family}: {words}." for family, words in family_rules(target).items()))
    blocks = (
        Prose(tuple(f"On {benchmark.collection}: {benchmark.how}" for benchmark in benchmarks)),
        Collapsible("The families of concepts, by their rules", (rules,)),
        Listing(f"Parameters of {method}, by dataset", parameters),
        Attachment("scores.csv", frame_as_csv(scores)),
        Attachment("parameters.json", f"{parameters}\n"),
    )
    sections.append(Section("how", "How it was done", blocks))
    n_sets = sum(len(benchmark.table()) for benchmark in benchmarks)
    n_methods = len(benchmarks[0].table().columns)
    of = " of each class against the rest" if target == "multiclass" else ""
    subtitle = f"{counted(n_sets, 'dataset')}, {n_methods} methods, {metric}{of}"
    named = " and ".join(benchmark.collection for benchmark in benchmarks)
    return Page(f"{method} on {named}", subtitle, (), tuple(sections), evidence)


def _diagnosis_sections(diagnosis: MethodDiagnosis) -> list[Section]:
    method, margin = diagnosis.method, f"{diagnosis.margin:g}"
    first, *others = diagnosis.sentences()
    # The first begins with the method's name, which is written as it is.
    more = tuple(f"{said[0].upper()}{said[1:]}." for said in others)
    families = pd.DataFrame(
        [
            {
                "family": record.family,
                "datasets": record.n_sets,
                "concepts": record.n_concepts,
                method: record.method,
                "references, median": record.typical,
                "best reference": f"{record.best_method} {record.best:.3f}",
                "behind the best of each concept": interval_in_words(
                    Interval(record.behind, record.low, record.high)
                ),
            }
            for record in diagnosis.records
        ]
    )
    notes = (
        "Means over concepts: datasets of one concept are one problem. Intervals: 95 %, over"
        " concepts.",
    )
    blocks = (
        Prose((f"{first}.",), "lead"),
        Points(more),
        Gallery((figure("profile", profile_plot(diagnosis)),)),
        frame_sheet("families", "By family of concepts", families, notes=notes),
        frame_sheet("likeness", "Which known method it is like", diagnosis.likeness),
    )
    tables: list[Block] = []
    outcomes = (("wins", "wins", diagnosis.wins), ("failures", "fails", diagnosis.failures))
    for name, word, rows in outcomes:
        if not len(rows):
            said = f"There is no dataset on which {method} {word} by {margin}."
            tables.append(Prose((said,)))
            continue
        shown = rows.assign(
            families=[", ".join(of) for of in rows["families"]],
            formula=[mathematics(Expression.parse(text)) for text in rows["formula"]],
        ).drop(columns=["concept", "place"])
        title = f"Datasets on which {method} {word} by {margin} or more"
        sheet = frame_sheet(name, title, shown)
        is_short = len(rows) <= 12
        tables.append(
            sheet if is_short else Collapsible(f"{title} ({len(rows)})", (sheet,), is_open=False)
        )
    return [
        Section("diagnosis", "The diagnosis", blocks),
        Section("outcomes", "Where it wins and where it fails", tuple(tables)),
    ]


def _collection_sections(
    benchmark: MethodBenchmark, keys: Mapping[tuple[str, str], str], where: str
) -> list[Section]:
    """Return the parts of the page that are about one collection; names get its name where there are several."""
    ending = f"_{benchmark.collection}" if where else ""
    made = benchmark.charts()

    def drawn(*names: str, wide: bool = True) -> tuple[Block, ...]:
        held = {f"{name}{ending}": made[name] for name in names if name in made}
        blocks = gallery(wide=wide, **held)
        # Charts of two collections on one page must not have one title: nobody could tell them
        # apart.
        return tuple(_titled(block, where) for block in blocks)

    table = benchmark.table()
    notes = tuple(f"Note: {note}." for note in benchmark.notes)
    standing = _ranking(table, benchmark.metric)
    ranking = frame_sheet(f"standing{ending}", f"Standing{where}", standing, decimals=4)
    scores = score_sheet(f"scores{ending}", f"{benchmark.metric} by dataset{where}", table, keys)
    parts: list[tuple[str, str, tuple[Block, ...]]] = [
        (
            "verdict",
            "The verdict",
            (
                *_verdict(benchmark, ending),
                *((Points(notes),) if notes else ()),
                Collapsible("Standing", (ranking,)),
            ),
        ),
        (
            "who",
            "Who beats whom",
            (*drawn("critical_difference"), *drawn("duels")),
        ),
        (
            "where",
            "Scores",
            (
                *drawn("heat_map"),
                *drawn("parallel_coordinates", "boxes", "boxes_over_seeds"),
                scores,
            ),
        ),
    ]
    if benchmark.target in CURVES:
        title = f"{CURVES[benchmark.target]}{where}"
        curves = Collapsible(title, drawn("roc", "precision_recall", wide=False), is_open=not where)
        parts.append(("curves", "Curves", (curves,)))
    return [Section(f"{name}{ending}", f"{title}{where}", blocks) for name, title, blocks in parts]


def _titled(block: Block, where: str) -> Block:
    if not isinstance(block, Gallery):
        return block
    figures = (one.retitled(f"{one.title}{where}") for one in block.figures)
    return replace(block, figures=tuple(figures))


def _verdict(benchmark: MethodBenchmark, ending: str = "") -> tuple[Block, ...]:
    table, method = benchmark.table(), benchmark.method
    best = best_losses(-table.to_numpy(dtype=float).T, size=1.0)
    first = int(best[table.columns.get_loc(method)].sum())
    duels = benchmark.duels().loc[method].drop(method)
    lead = (
        f"{method} is first on {first} of {len(table)} datasets, and beats"
        f" {int((duels > 0).sum())} of {len(duels)} methods by {MARGIN:g} {benchmark.metric} on"
        " some dataset."
    )
    if len(table) < 2:
        return (Prose((lead,), "lead"),)
    compared = benchmark.comparison(method)
    board = comparison_board(compared, f"board-{metric_of(benchmark.target)}{ending}")
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
    found = pd.DataFrame(
        {
            "method": table.columns,
            "mean rank": ranks,
            f"mean {metric}": table.mean().to_numpy(),
            "lowest": table.min().to_numpy(),
        }
    )
    return found.iloc[loss_order(ranks)].reset_index(drop=True)


# A collection


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
    if inspection is None:
        return write_whole(folder, "collection page", empty_page(collection, curve, opened))
    source = source or f"{Path(folder).as_posix()}/collection.json"
    page = collection_page(inspection, collection, curve, beside, opened, again, source)
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
    parts: list[Section] = []
    if opened is not None and len(opened):
        parts.append(Section("open", "The open pairs", (_tried(opened),)))
    if curve is not None and len(curve):
        last = curve.iloc[-1]
        said.append(
            f"{int(last['seen']):,} formulas were looked at, {int(last['fitted']):,} scored with"
            f" the methods, {int(last['raced'])} raced, {int(last['measured'])} put to proof, in"
            f" {last['seconds'] / 60:.1f} minutes."
        )
        if last["failed"]:
            n_failed = int(last["failed"])
            said.append(f"{n_failed} cells failed: `paragone status` on the store says why.")
        parts.append(Section("search", "How the search went", _search(curve)))
    finding = Section("finding", "The finding", (Prose(tuple(said), "lead"),))
    return Page(f"Collection{name}: nothing proven", "", (), (finding, *parts), {})


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
    findings = tuple(f"{said}." for said in inspection.findings())
    sections = [Section("holds", "What it holds", (Points(findings),))]
    details: dict[str, NumberDetails] = {}

    def add(name: str, title: str, blocks: tuple[Block, ...]) -> None:
        sections.append(Section(name, title, blocks))

    if collection is None:
        add("pairs", "Which pairs it tells apart", _published_pairs(inspection))
        add("datasets", "The datasets", _datasets(inspection, None, source))
    else:
        opened = open_table(collection.open) if opened is None else opened
        details, keys = sample_evidence(collection.scores(), "sample", collection.metric)
        matrix, leads = pair_matrix(collection)
        details |= leads
        pairs = _pairs(inspection, collection, matrix, opened)
        add("pairs", "Which pairs it tells apart", pairs)
        table, metric = collection.table(), collection.metric
        sheet = score_sheet("scores", f"Mean {metric} over the samples", table, keys)
        drawn = gallery(wide=True, heat_map=charts.heat_map(table, metric))
        add("evidence", "The evidence", (sheet, *drawn))
        if again is not None:
            add("again", "Measured again", _again(again, collection.margin))
        add("datasets", "The datasets", _datasets(inspection, collection, source))
        add("variants", "Variants", _variants(collection))
    if curve is not None:
        add("search", "How it came about", _search(curve))
    if beside is not None and collection is not None:
        add("beside", f"Beside it: {beside.name}", _beside(collection, beside))
    add("how", "How it was measured", (Prose(_how(inspection, collection)),))
    n_sets, n_concepts = len(inspection.sets), inspection.n_concepts
    subtitle = f"{counted(n_sets, 'dataset')}, {counted(n_concepts, 'concept')}"
    return Page(f"Collection {inspection.name}", subtitle, (), tuple(sections), details)


# Pairs


def claim_of(item: GeneratedSet, up: str, down: str) -> ClaimRecord | None:
    """Return what became of a claim on a dataset; None where it was not put to proof."""
    return next((one for one in item.claims if (one.up, one.down) == (up, down)), None)


def sample_leads(item: GeneratedSet, up: str, down: str) -> Sequence[float]:
    """Return the lead on every sample of the evidence."""
    claim = claim_of(item, up, down)
    return item.evidence().leads(up, down).tolist() if claim is None else claim.leads


def share_won(item: GeneratedSet, up: str, down: str) -> float:
    """Return the share of the evidence's samples on which a method was ahead of another."""
    claim = claim_of(item, up, down)
    if claim is not None:
        return claim.share_won
    return float(np.mean(np.array(sample_leads(item, up, down)) > 0))


def leads_table(collection: Collection) -> pd.DataFrame:
    """Return the best lead of every ordered pair with its interval, the share of samples won, and the verdict."""
    found = collection.leads()
    held = {item.name: item for item in collection.sets}
    won, verdicts = [], []
    for row in found.itertuples():
        won.append(share_won(held[row.dataset], row.up, row.down))
        is_refuted = (row.up, row.down) in collection.refuted
        verdicts.append(pair_verdict(row.proven, is_refuted, won[-1]))
    return found.assign(**{"samples won": won, "verdict": verdicts}).drop(columns="proven")


def pair_verdict(proven: bool, is_refuted: bool, won: float) -> str:
    """Say what a lead is worth.

    Examples
    --------
    >>> pair_verdict(True, False, 0.75)
    'proven, but a coin, not a margin'
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
    for up, short in zip(methods, charts.short_names(methods), strict=True):
        cells, values, own = [TableCell(short)], list[float | None]([None]), [""]
        for down in methods:
            row = found.get((up, down))
            if row is None:
                cells.append(TableCell(""))
                values.append(None)
                own.append("")
                continue
            verdict, key = row["verdict"], f"lead/{up}/{down}"
            lead = Interval(row["mean"], row["low"], row["high"])
            text = interval_in_words(lead, 2) + "†" * (verdict == "not shown under tuning")
            cells.append(TableCell(text, bold=verdict.startswith("proven")))
            values.append(float(row["mean"]))
            own.append(key)
            leads = sample_leads(held[row["dataset"]], up, down)
            title = (
                f"{up} over {down} on {row['dataset']}: ahead on {row['samples won']:.0%} of"
                f" {len(leads)} samples"
            )
            shown = tuple((f"sample {n}", lead, "") for n, lead in enumerate(leads, start=1))
            behind[key] = NumberDetails(title, ("sample", "lead"), shown, note=verdict)
        rows.append(cells)
        numbers.append(tuple(values))
        keys.append(tuple(own))
    head = [Column("ahead ↓ of →", "left")]
    head += [Column(name, "right") for name in charts.short_names(methods)]
    notes = ["Bold: proven. The dataset and the samples behind every lead open with a click."]
    if collection.refuted:
        notes.append(
            "†: proven for fixed configurations, and not shown when both methods were tuned."
        )
    table = Table.of(head, rows, notes=tuple(notes))
    title = f"The best lead of every ordered pair in {collection.metric}, with its interval"
    return Sheet("pairs", title, table, tuple(numbers), tuple(keys), wide=True), behind


def _published_pairs(inspection: Inspection) -> tuple[Block, ...]:
    said = [f"{up} over {down}" for up, down in inspection.open_pairs]
    fold = Collapsible(f"{len(said)} open pairs", (Points(tuple(said)),))
    return (*_duels(inspection), fold)


def _duels(inspection: Inspection, metric: str = "AUROC") -> tuple[Block, ...]:
    if not len(inspection.coverage):
        return ()
    chart = charts.duel_chart(inspection.coverage, inspection.margin, metric=metric)
    return gallery(wide=True, duels=chart)


def _pairs(
    inspection: Inspection, collection: Collection, matrix: Sheet, opened: pd.DataFrame
) -> tuple[Block, ...]:
    leads = leads_table(collection)
    coins = leads.loc[leads["verdict"].str.contains("coin")].to_dict("records")
    said = tuple(
        f"A coin, not a margin: {row['up']} over {row['down']} on {row['dataset']}, ahead on"
        f" {row['samples won']:.0%} of the samples."
        for row in coins
    )
    limits = "interval of the proof, at one level for all claims"
    if collection.plan is None:
        limits = "95 % interval"
    found = collection.leads().sort_values("low", ascending=False, kind="stable")
    names = list(collection.sets[0].aurocs)
    short = dict(zip(names, charts.short_names(names), strict=True))
    chart = charts.lead_chart(
        found.assign(
            label=[f"{short[row.up]} over {short[row.down]}" for row in found.itertuples()],
            kind=np.where(found["proven"], "proven", "open"),
        ),
        collection.margin,
        {"proven": BLUE, "open": VERMILION},
        "Every lead and its interval",
        f"Mean difference, {limits}; dashed: 0 and {collection.margin:g}",
        x=f"difference in {collection.metric}",
    )
    sheet = frame_sheet("leads", "The best lead of every ordered pair", leads)
    title = "Every ordered pair with its interval and the share of samples won"
    blocks = [matrix, *_duels(inspection, collection.metric)]
    blocks += [Points(said)] if said else []
    blocks.append(Collapsible(title, (sheet, *gallery(wide=True, leads=chart))))
    if len(opened):
        blocks.append(Collapsible(counted(len(opened), "open pair"), (_tried(opened),)))
    return tuple(blocks)


def _tried(opened: pd.DataFrame) -> Sheet:
    # Formulas are as wide as all numbers together; they are in the collection's file and in
    # open_pairs.csv.
    shown = opened.drop(columns=["formula", "race_formula"], errors="ignore")
    notes = (
        "raced: candidates that were raced for the pair; raced_tuned: those that led and were"
        " raced under tuning, race_mean and race_won the best of these. tried: datasets on"
        " which it was put to proof, mean to ending the best of these.",
    )
    return frame_sheet("open", "Open pairs, and how hard each was tried", shown, notes=notes)


# Datasets


def _datasets(
    inspection: Inspection, collection: Collection | None, source: str
) -> tuple[Block, ...]:
    note = (
        "noise: share of labels that do not follow from the formula. ceiling: AUROC of the"
        " formula itself. nearest: the other dataset with which the labels agree on most rows,"
        " whatever the features and classes are called."
    )
    if inspection.target == "regression":
        note = (
            "noise: its standard deviation in units of the formula's own. ceiling: R2 of the"
            " best prediction. nearest: the other dataset whose numbers correlate most,"
            " whatever the features are called; a correlation of r is an agreement of (1 + r)"
            " / 2."
        )
    sets = inspection.sets
    sheet = frame_sheet("sets", "Datasets", sets.drop(columns="formula"), notes=(note,))
    files = (
        Attachment("sets.csv", frame_as_csv(sets)),
        Attachment("coverage.csv", frame_as_csv(inspection.coverage.reset_index(names=""))),
    )
    trees = {
        f"{FORMULA}{row.dataset}": charts.formula_tree(
            Expression.parse(str(row.simplified)), f"{row.dataset}, concept {row.concept}"
        )
        for row in sets.itertuples()
    }
    if collection is None:
        drawn = gallery(**trees)
        return (sheet, Collapsible("The simplified formulas as trees", drawn), *files)
    concepts = dict(zip(sets["dataset"], sets["concept"], strict=True))
    cards = []
    for item in collection.sets:
        tree = trees[f"{FORMULA}{item.name}"]
        cards.append(_card(item, collection, concepts[item.name], tree, source))
    return (Collapsible("All datasets as a table", (sheet,)), *cards, *files)


def _card(
    item: GeneratedSet, collection: Collection, concept: int, tree: Any, source: str
) -> Collapsible:
    """Return what is known of a dataset: formula in mathematics, what matters, what it proves, and the tree."""
    generator, simple = item.generator(), Expression.parse(item.simplified)
    lines = formula_lines(generator, simple, truth_sheet(generator), f" Concept {concept}.")
    if item.data:
        lines.append(f"The data: {_kinds(item.data)}.")
    proven = item.proven(collection.margin)
    for up, down in proven[:MOST_CLAIMS]:
        won = share_won(item, up, down)
        more = "" if won >= COIN else " A coin, not a margin."
        more += " Not shown under tuning." * ((up, down) in collection.refuted)
        lead = interval_in_words(item.lead(up, down))
        lines.append(f"{up} over {down} by {lead}, on {won:.0%} of samples.{more}")
    if len(proven) > MOST_CLAIMS:
        lines.append(f"{len(proven) - MOST_CLAIMS} more pairs are proven on it.")
    drawn = gallery(**{f"{FORMULA}{item.name}": tree})
    load = load_listing(f"{source or collection.name}:{item.name}")
    title = f"{item.name}: {target_in_words(simple, generator)}"
    return Collapsible(title, (Points(tuple(lines)), *drawn, load))


def _kinds(data: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in data.items())


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
        "All claims on this page are of the datasets as they are. Nothing is claimed of a"
        " variant that was not put to proof itself.",
    ]
    if not collection.variants:
        return (Prose(tuple(said)),)
    table = variant_table(collection.variants)
    for name, found in table.groupby("variant", sort=False):
        n_held = int(found["holds"].sum())
        said.append(f"{name}: {n_held} of {len(found)} claims that were put to proof hold.")
    said.append(
        "The claims on variants are a family of their own: the level covers all of them together."
    )
    sheet = frame_sheet("variants", "The claims on variants", table)
    return (Prose(tuple(said)), Collapsible("Every claim on a variant", (sheet,)))


def _search(curve: pd.DataFrame) -> tuple[Block, ...]:
    shown = curve.assign(minutes=curve["seconds"] / 60).drop(columns="seconds")
    drawn = gallery(coverage_curve=charts.coverage_curve(curve)) if len(curve) else ()
    sheet = frame_sheet("curve", "Coverage", shown, decimals=1)
    return (*drawn, Collapsible("The progress of the search, moment by moment", (sheet,)))


def _again(again: pd.DataFrame, margin: float) -> tuple[Block, ...]:
    """Say what became of the claims when a script that shares no code with the search measured them."""
    upper = again["mean"] + 2 * again["se"]
    n_held, n = int((again["mean"] >= margin).sum()), len(again)
    n_reversed, n_lost = int((upper < 0).sum()), int((upper < margin).sum())
    least, most = int(again["samples"].min()), int(again["samples"].max())
    samples = f"{most}" if least == most else f"{least} to {most}"
    said = (
        f"A script that shares no code with the search measured again the {n} claims that"
        f" had been shown, on {samples} new samples each, with other seeds and both methods tuned"
        f" by another tuner: {n_held} of {n} mean leads are at or above {margin:g}"
        f" ({n_held / n:.1%}), and {n_reversed} {'is' if n_reversed == 1 else 'are'} below"
        " 0 by more than two standard errors."
    )
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
    shown = again[list(columns)].rename(columns=columns)
    sheet = frame_sheet("again", "Every claim, as proven and measured again", shown)
    return (Prose((said,)), Collapsible("Every claim, measured again", (sheet,)))


def _beside(collection: Collection, other: Collection) -> tuple[Block, ...]:
    mine, theirs = set(collection.covered()), set(other.covered())
    n_mine, n_theirs = (len({item.concept for item in which.sets}) for which in (collection, other))
    refuted = ""
    if collection.refuted:
        refuted = f", and {len(collection.refuted)} of these pairs were not shown under tuning"
    lines = [
        f"{collection.name} proves {len(mine)} of {len(collection.leads())} ordered pairs with"
        f" {len(collection.sets)} datasets of {n_mine} concepts{refuted};"
        f" {other.name} proves {len(theirs)} with {len(other.sets)} datasets of {n_theirs}"
        " concepts.",
    ]
    for name, pairs in ((collection.name, mine - theirs), (other.name, theirs - mine)):
        lines.append(f"{len(pairs)} pairs are proven by {name} only: {_named(pairs)}.")
    title = f"Proven by {other.name}"
    drawn = charts.duel_chart(other.coverage(), other.margin, title, metric=other.metric)
    return (Points(tuple(lines)), *gallery(wide=True, duels_beside=drawn))


def _named(pairs: set[tuple[str, str]]) -> str:
    return ", ".join(f"{up} over {down}" for up, down in sorted(pairs)) or "none"


ONE_CONCEPT = {
    "binary": (
        "labels agree on 98 % of the rows of a probe sample, up to the names and signs of features"
        " and the names of the classes"
    ),
    "regression": (
        "numbers correlate by .96 or more on the rows of a probe sample, up to the names and signs"
        " of features and the sign of the number"
    ),
    "multiclass": (
        "classes, numbered by their values, correlate by .96 or more on the rows of a probe sample,"
        " up to the names and signs of features and the direction of the classes"
    ),
}
"""When two datasets are of one concept, by what there is to predict."""


def _how(inspection: Inspection, collection: Collection | None) -> tuple[str, ...]:
    concepts = (
        f"Two datasets are of one concept when their {ONE_CONCEPT[inspection.target]}, or when a"
        " chain of such datasets links them."
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
            f"Both methods of a claim were tuned on every sample with {plan.trials}"
            f" trials{tried} on {plan.folds} inner folds of {plan.n_train} training rows, with"
            f" seeds that are new on every sample, and scored on {plan.n_fresh:,} fresh rows."
            " Search, races and proof have different rows, and what the proof came to steered"
            " nothing.",
            f"{plan.n_claims} claims were allowed for before any was looked at. The chance that"
            f" any of their intervals misses its mean lead is at most {plan.alpha:.0%}, looks"
            f" at {', '.join(map(str, plan.looks))} samples included. A pair is proven when the"
            f" lower limit reaches {plan.margin:g}.",
        )
    n_methods = len(collection.sets[0].aurocs) if collection.sets else 0
    n_claims = n_methods * (n_methods - 1) * len(collection.sets)
    said = (
        "Every method was fitted in one configuration, chosen in the search, on samples of the"
        f" size of the dataset, and scored on {collection.evidence_rows:,} fresh rows of each;"
        " all methods saw the same samples. A pair is proven when the lower 95 % bound of the"
        f" paired difference reaches {collection.margin:g}.",
        "Each interval is at 95 % by itself. There is no level for all of them together: of"
        f" the {n_claims:,} leads that could be looked at here, some intervals miss by chance"
        " alone.",
    )
    if not collection.refuted:
        return said
    named = _named(set(collection.refuted))
    return (
        *said,
        f"Of the proven pairs {len(collection.refuted)} were not shown when both methods were"
        f" tuned: {named}.",
    )


# A duel


def write_duel(
    result: DuelResult, shown: Sequence[ProvenSet], folder: str | Path, name: str
) -> Path:
    """Write the page, the collection, the datasets and every fit into a folder, and return the page.

    Parameters
    ----------
    result : DuelResult
        What was found.
    shown : sequence of ProvenSet
        The proven datasets; none is as good a page.
    folder : str or Path
        That of the duel. What an earlier sitting wrote is replaced as a whole; the store stays.
    name : str
        Of the collection.
    """
    page = duel_page(result, shown, folder)
    collection = duel_collection(result, shown, name)
    return write_whole(folder, "duel", page, collection=collection)


def duel_collection(result: DuelResult, shown: Sequence[ProvenSet], name: str) -> Collection:
    """Return the proven datasets as a collection, with every method's score on every sample of its proof."""
    generators = [item.generator for item in shown]
    marks = [signature(made.expression, concept_rule(made), made.n_features) for made in generators]
    numbers = numbered_concepts(agreements(marks)) if marks else []
    plan, sets = result.plan, []
    for item, concept in zip(shown, numbers, strict=True):
        scores = np.array([item.proof.scores_of(method) for method in result.names]).T
        sets.append(
            GeneratedSet.of(
                item.name,
                item.generator,
                concept,
                shown_seed(plan, item.generator),
                plan.rows,
                Evidence(result.names, scores),
                {fit.method: dict(fit.params) for fit in reversed(item.proof.fits)},
                (ClaimRecord.of(item.proof),),
            )
        )
    proof = plan.proof()
    return Collection(
        name, plan.margin, plan.fresh, tuple(sets), proof, plan.seed, target=plan.target
    )


def duel_page(result: DuelResult, shown: Sequence[ProvenSet], folder: str | Path) -> Page:
    """Make the page of a duel."""
    sections = [Section("finding", "The finding", _finding(result, shown, folder))]
    for place, (up, down) in enumerate(result.directions, start=1):
        own = [item for item in shown if item.proof.claim.up == up]
        cards = tuple(
            _duel_card(result, item, folder, is_open=n == 0) for n, item in enumerate(own)
        )
        # That nothing was found, and what was tried, stands in the finding: an empty section would
        # say it twice.
        if own:
            sections.append(Section(f"wins{place}", f"Where {up} beats {down}", cards))
    sections.append(Section("tried", "What was tried", _duel_tried(result)))
    sections.append(Section("how", "How it was done", (Prose(_duel_how(result)),)))
    subtitle = (
        f"{counted(len(shown), 'proven dataset')}, {result.plan.rows} training rows,"
        f" {time_in_words(result.seconds)}"
    )
    evidence = {key: details for item in shown for key, details in _behind(item).items()}
    title = f"{result.names[0]} against {result.names[1]}"
    return Page(title, subtitle, (), tuple(sections), evidence)


def _duel_reference(item: ProvenSet, folder: str | Path) -> str:
    number = item.name.rpartition("-")[2]
    return f"{Path(folder).as_posix()}/collection.json:{number}"


def _finding(
    result: DuelResult, shown: Sequence[ProvenSet], folder: str | Path
) -> tuple[Block, ...]:
    # What is proven comes first: it is what the duel was fought for.
    order = sorted(result.directions, key=lambda pair: not result.proven(*pair))
    sentences = [result.sentence(up, down) for up, down in order]
    blocks: list[Block] = [
        Prose(tuple(f"{said[0].upper()}{said[1:]}." for said in sentences), "lead")
    ]
    border = boundary(result, shown)
    if border:
        blocks.append(Points(border))
    # Where nothing came to a proof, the search is all that there is to see.
    blocks += gallery(claims=claims_chart(result)) if has_claims(result) else _duel_search(result)
    if shown:
        title = "Load a dataset into scikit-learn"
        reference = _duel_reference(shown[0], folder)
        blocks.append(load_listing(reference, title=title, is_open=True))
    return tuple(blocks)


def _duel_search(result: DuelResult) -> tuple[Block, ...]:
    return gallery(search=charts.search_chart(result.curve, result.names))


def has_claims(result: DuelResult) -> bool:
    """Say whether any claim has leads to draw."""
    return any(proof.leads for proof in result.proofs)


def claims_chart(result: DuelResult) -> Any:
    """Draw the lead of every claim that was put to proof with its family-wise interval, and the margin."""
    rows = [
        (f"claim {n}", proof.claim.up, *_limits(proof), proof.holds)
        for n, proof in enumerate(result.proofs, start=1)
        if proof.leads
    ]
    columns = ["label", "kind", "mean", "low", "high", "proven"]
    said = (
        "Intervals hold for all claims together; pale: not proven; dashed: 0 and"
        f" {result.plan.margin:g}"
    )
    return charts.lead_chart(
        pd.DataFrame(rows, columns=columns),
        result.plan.margin,
        dict(zip(result.names, (BLUE, VERMILION), strict=True)),
        "What the proof came to",
        said,
        x="lead of the winner, both tuned",
        width=230,
    )


def _limits(proof: Proof) -> tuple[float, float, float]:
    return proof.interval.estimate, proof.interval.low, proof.interval.high


def boundary(result: DuelResult, shown: Sequence[ProvenSet]) -> tuple[str, ...]:
    """Say in words what kind of problem each method wins on."""
    said = []
    rules = family_rules(result.plan.target)
    for up, down in result.directions:
        own = [item for item in shown if item.proof.claim.up == up]
        counts = Counter(family for item in own for family in generator_families(item.generator))
        for family, n in counts.most_common():
            rule = rules.get(family, "of no family that has a name here")
            of = f"{n} of {counted(len(own), 'dataset')}"
            said.append(f"{up} wins on problems of the family {family} ({of}): {rule}.")
        said += [f"{item.name}: {crossing(item, up, down)}." for item in own if item.has_curve]
    return tuple(said)


def crossing(item: ProvenSet, up: str, down: str) -> str:
    """Say between which numbers of training rows one method overtakes the other, as far as the curves show."""
    assert item.curve is not None
    wide = item.curve.pivot(index="rows", columns="method", values="mean").dropna()
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


def _duel_card(
    result: DuelResult, item: ProvenSet, folder: str | Path, *, is_open: bool
) -> Collapsible:
    proof, generator = item.proof, item.generator
    simple = simplify(generator.expression, population(generator.n_features))
    limits = f"{proof.interval.estimate:.3f} [{proof.interval.low:.3f}, {proof.interval.high:.3f}]"
    lines = [
        *formula_lines(generator, simple, item.truth),
        f"{proof.claim.up} leads by {limits},"
        f" ahead on {proof.share_won:.0%} of {proof.stopped_at} samples, both tuned on each.",
    ]
    if proof.share_won < COIN:
        lines.append(coin_sentence(proof))
    drawn = gallery(**{f"{FORMULA}{item.name}": charts.formula_tree(simple)})
    if item.has_curve:
        assert item.curve is not None
        chart = charts.learning_chart(item.curve, result.names, item.ceiling, item.metric)
        curves: dict[str, Any] = {f"{item.name}_curves": chart}
        drawn += gallery(**curves)
    load = load_listing(_duel_reference(item, folder))
    title = f"{item.name}: {target_in_words(simple, generator)}"
    blocks = (Points(tuple(lines)), *drawn, _score_sheet(item, result), load)
    return Collapsible(title, blocks, is_open=is_open)


def coin_sentence(proof: Proof) -> str:
    """Say that a lead is a coin: large on some samples, none on others."""
    leads = sorted(proof.leads)
    return (
        f"A coin, not a margin: the lead is {leads[-1]:.3f} on the best sample and {leads[0]:.3f}"
        " on the worst; whoever draws one sample may see either."
    )


def _score_sheet(item: ProvenSet, result: DuelResult) -> Sheet:
    rows = []
    for method in result.names:
        scores = item.proof.scores_of(method)
        mean = float(np.mean(scores))
        rows.append((method, mean, min(scores), max(scores), len(scores), item.ceiling - mean))
    names = ["lowest", "highest", "samples", "below the ceiling by"]
    table = pd.DataFrame(rows, columns=["method", f"mean {item.metric}", *names])
    sheet = frame_sheet(f"scores_{item.name}", "Scores of the proof", table)
    keys = tuple(("", f"{item.name}/{method}", "", "", "", "") for method in result.names)
    return replace(sheet, behind=keys)


def _behind(item: ProvenSet) -> dict[str, NumberDetails]:
    found = {}
    for method in dict.fromkeys(fit.method for fit in item.proof.fits):
        scores = item.proof.scores_of(method)
        rows = tuple((f"sample {n}", score, "") for n, score in enumerate(scores))
        title, place = f"{method} on {item.name}", (item.name, method)
        details = NumberDetails(title, ("sample", item.metric), rows, place=place)
        found[f"{item.name}/{method}"] = details
    return found


def _duel_tried(result: DuelResult) -> tuple[Block, ...]:
    n_races, n_claims = counted(len(result.raced), "race"), counted(len(result.proofs), "claim")
    said = [
        f"{result.n_formulas:,} formulas were looked at, {result.n_screened:,} scored"
        " with both methods.",
        f"The search ended because {result.ended_by}.",
        f"{n_races} under tuning, {n_claims} put to proof,"
        f" {sum(proof.holds for proof in result.proofs)} proven.",
    ]
    if result.n_failed:
        said.append(
            f"{result.n_failed} cells failed: `paragone status` on the store in this"
            " folder says why."
        )
    blocks: list[Block] = [Points(tuple(said))]
    if has_claims(result):
        blocks += _duel_search(result)
    claims, fits = claims_table(result), fits_table(result)
    if len(claims):
        blocks.append(frame_sheet("claims", "Every claim that was put to proof", claims))
    if result.raced:
        races = pd.DataFrame(
            [(r.up, r.down, _mathematics(r.formula), r.screened, r.lead) for r in result.raced],
            columns=["winner", "loser", "formula", "lead in the search", "lead in the race"],
        )
        sheet = frame_sheet("races", "Every race: both methods tuned, three samples", races)
        blocks.append(Collapsible(n_races, (sheet,)))
    opened = [
        (*pair, result.tried(*pair)) for pair in result.directions if not result.proven(*pair)
    ]
    tables = {
        "claims": claims,
        "open_pairs": pd.DataFrame(opened, columns=["up", "down", "tried"]),
        "fits": fits,
    }
    files = (Attachment(f"{name}.csv", frame_as_csv(table)) for name, table in tables.items())
    return (*blocks, *files)


def _mathematics(formula: str) -> str:
    return mathematics(Expression.parse(formula))


def claims_table(result: DuelResult) -> pd.DataFrame:
    """Return every claim that was put to proof, one row each."""
    rows = []
    for place, proof in enumerate(result.proofs, start=1):
        claim, ended = proof.claim, "proven" if proof.holds else proof.ending
        found = (*_limits(proof), proof.share_won, proof.stopped_at, ended)
        rows.append((place, claim.up, claim.down, _mathematics(claim.generator.formula), *found))
    names = ["claim", "winner", "loser", "formula", "lead", "low", "high", "samples won"]
    return pd.DataFrame(rows, columns=[*names, "samples", "ended"])


def fits_table(result: DuelResult) -> pd.DataFrame:
    """Return every fit of every proof: its rows, the configuration that tuning chose, and its scores."""
    rows = []
    for place, proof in enumerate(result.proofs, start=1):
        for fit in proof.fits:
            params = json.dumps(dict(fit.params))
            own = (fit.method, fit.sample, fit.row_seed, params, fit.tuning_score, fit.score)
            rows.append((place, *own))
    names = ["claim", "method", "sample", "row seed", "parameters", "tuning score"]
    return pd.DataFrame(rows, columns=[*names, result.plan.metric])


def _duel_how(result: DuelResult) -> tuple[str, ...]:
    plan = result.plan
    untuned = [
        method.name for method in result.methods if not method.space and len(method.portfolio) < 2
    ]
    budget = (
        f"On every sample of races and proof each method tried"
        f" {counted(plan.trials, 'configuration')} of its search space, the settings of its library"
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
    if not plan.kinds:
        return budget, level, rows
    later = " Redundant columns follow from a formula, so the search itself had none." * (
        "redundant" in plan.kinds
    )
    data = f"The data: {_kinds(plan.kinds)}, in search, races and proof alike.{later}"
    return budget, level, rows, data


# The map of a duel


def write_map(found: DuelMap, folder: str | Path) -> Path:
    """Write the page of a map with its tables, and return the page."""
    return write_whole(folder, "duel map", map_page(found))


def map_page(found: DuelMap) -> Page:
    """Make the page of a map."""
    table, borders = found.table(), found.borders()
    finding = tuple(f"{said}." for said in found.sentences())
    sections = [Section("finding", "The finding", (Points(finding),))]
    for place, formula in enumerate(dict.fromkeys(table["formula"]), start=1):
        points = table.loc[table["formula"] == formula].drop(columns="formula")
        lines = tuple(
            f"{found.titles[row.axis].capitalize()} {row.value:g}: {row.what}."
            for row in borders.loc[borders["formula"] == formula].itertuples()
        )
        drawn = {
            f"map{place}_{axis}": plane_chart(found, formula, axis)
            for axis in dict.fromkeys(points["axis"])
        }
        blocks: tuple[Block, ...] = (
            *gallery(**drawn),
            Points(lines),
            frame_sheet(f"points{place}", "Every point, with its interval", points),
        )
        sections.append(Section(f"formula{place}", _mathematics(formula), blocks))
    how = (
        f"At every point both methods were tuned with {counted(found.trials, 'trial')}"
        f" on each of {found.samples} samples, and scored on"
        f" fresh rows. The intervals hold at 95 % for all {len(found.points)} points together"
        " (Bonferroni). The border is given as the two numbers of rows between which the mean"
        " lead changes its sign: nothing is known in between."
    )
    files = (
        Attachment("map.csv", frame_as_csv(table)),
        Attachment("borders.csv", frame_as_csv(borders)),
    )
    sections.append(Section("how", "How it was measured", (Prose((how,)), *files)))
    first, second = found.first, found.second
    title = f"Where {first} beats {second}, and where {second} beats {first}"
    subtitle = f"{len(found.points)} points, {found.samples} samples each"
    return Page(title, subtitle, (), tuple(sections), {})


def plane_chart(found: DuelMap, formula: str, axis: str) -> Any:
    """Draw the leads over training rows and one other thing, framed where sure."""
    table = found.table()
    own = table.loc[(table["formula"] == formula) & (table["axis"] == axis)]
    # One scale for all planes of a formula: a colour means the same lead on each.
    reach = max(0.05, float(table.loc[table["formula"] == formula, "lead"].abs().max()))
    said = (
        f"{METRICS[found.target]} of {found.first} minus {found.second}; framed: the interval"
        " excludes 0"
    )
    what = found.titles[axis]
    title = f"{found.first} (blue) or {found.second} (orange), by {what}"
    return charts.map_chart(own.assign(sure=own["ahead"] != "open"), reach, what, title, said)
