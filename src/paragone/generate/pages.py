"""The pages of a collection and of a benchmarked method: a value each, written with its tables and charts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from paragone.charts import save_chart
from paragone.data.digen import Expression
from paragone.folders import replaced_folder
from paragone.generate.benchmark import MethodBenchmark
from paragone.generate.charts import coverage_curve, duel_chart, formula_tree, heat_map, lead_chart
from paragone.generate.collection import Collection
from paragone.generate.diagnosis import Diagnosis, diagnose, profile_chart
from paragone.generate.families import FAMILIES
from paragone.generate.inspection import Inspection, why_open
from paragone.generate.mathematics import mathematics
from paragone.page import (
    Attachment,
    Block,
    Fold,
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
from paragone.reporting.boards import comparison_board, panels_of
from paragone.reporting.render import render_page
from paragone.tables import Column, Table, TableCell, frame_as_csv
from paragone.ties import best_losses, loss_order, rank_losses

if TYPE_CHECKING:
    import pandas as pd

PAGE = "report.html"
FORMULA = "formula_"


def score_sheet(name: str, title: str, table: pd.DataFrame, behind: Mapping[tuple[str, str], str]) -> Sheet:
    """Return scores by dataset (down) and method (across), the best of a row in bold, with what is behind each."""
    head = [Column("dataset", "left"), *(Column(str(method), "right") for method in table.columns)]
    rows, numbers, keys = [], [], []
    for dataset, row in table.iterrows():
        # All that are tied with the best are bold, as in every table of a report.
        best = best_losses(-row.to_numpy(dtype=float), size=1.0)
        cells = [TableCell(f"{value:.4f}", bold=bool(mark)) for value, mark in zip(row, best, strict=True)]
        rows.append([TableCell(str(dataset)), *cells])
        numbers.append((None, *map(float, row)))
        keys.append(("", *(behind.get((str(dataset), str(method)), "") for method in table.columns)))
    return Sheet(name, title, Table.of(head, rows), tuple(numbers), tuple(keys), wide=len(head) > 12)


def sample_evidence(scores: pd.DataFrame, over: str) -> tuple[dict[str, NumberDetails], dict[tuple[str, str], str]]:
    """Return the single values behind every mean of a dataset and a method, and their keys."""
    found: dict[str, NumberDetails] = {}
    keys: dict[tuple[str, str], str] = {}
    for (dataset, method), part in scores.groupby(["dataset", "method"], sort=False):
        key = f"{dataset}/{method}"
        rows = tuple((str(seed), float(value), "") for seed, value in zip(part["seed"], part["value"], strict=True))
        found[key] = NumberDetails(f"{method} on {dataset}", (over, "AUROC"), rows, place=(str(dataset), str(method)))
        keys[str(dataset), str(method)] = key
    return found, keys


def write_collection_page(
    inspection: Inspection,
    folder: str | Path,
    collection: Collection | None = None,
    curve: pd.DataFrame | None = None,
    beside: Collection | None = None,
) -> Path:
    """Write the page, its tables as CSV and its charts as SVG into a folder, and return the page.

    Parameters
    ----------
    inspection : Inspection
        What the collection holds.
    folder : str or Path
        Made where it is missing; what an earlier page wrote there is replaced as a whole.
    collection : Collection, optional
        Its evidence.
    curve : DataFrame, optional
        The progress of the search over time; see `Evolved.curve_table`.
    beside : Collection, optional
        Another collection measured the same way, to compare with.

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
    return write_whole(folder, "collection page", collection_page(inspection, collection, curve, beside))


def collection_page(
    inspection: Inspection,
    collection: Collection | None = None,
    curve: pd.DataFrame | None = None,
    beside: Collection | None = None,
) -> Page:
    """Make the page; see `write_collection_page`."""
    behind, keys = sample_evidence(collection.scores(), "sample") if collection else (dict[str, NumberDetails](), {})
    sections = [
        Section("holds", "What it holds", (Points(tuple(f"{said}." for said in inspection.findings())),)),
        Section("pairs", "Which pairs it tells apart", _pairs(inspection, collection)),
    ]
    if collection is not None:
        sheet = score_sheet("scores", "Mean AUROC over the samples", collection.table(), keys)
        sections.append(Section("evidence", "The evidence", (*gallery(heat_map=heat_map(collection.table())), sheet)))
    sections.append(Section("datasets", "The datasets", _datasets(inspection)))
    if curve is not None:
        sections.append(Section("search", "How it came about", _search(curve)))
    if beside is not None and collection is not None:
        sections.append(Section("beside", f"Beside it: {beside.name}", _beside(collection, beside)))
    sections.append(Section("how", "How it was measured", (Prose(_how(inspection, collection)),)))
    n_sets, n_concepts = len(inspection.sets), inspection.n_concepts
    subtitle = f"{n_sets} dataset{'s' * (n_sets != 1)}, {n_concepts} concept{'s' * (n_concepts != 1)}"
    return Page(f"Collection {inspection.name}", subtitle, (), tuple(sections), behind)


def _pairs(inspection: Inspection, collection: Collection | None) -> tuple[Block, ...]:
    charts = {"duels": duel_chart(inspection.coverage, inspection.margin)} if len(inspection.coverage) else {}
    if collection is None:
        said = [f"{up} over {down}" for up, down in inspection.open_pairs]
        return (*gallery(**charts), Fold(f"{len(said)} open pairs", (Points(tuple(said)),)))
    leads = collection.leads()
    charts["leads"] = lead_chart(leads, collection.margin)
    leads["why it may stay open"] = [
        "" if proven else why_open(up, down)
        for up, down, proven in zip(leads["up"], leads["down"], leads["proven"], strict=True)
    ]
    leads["proven"] = ["yes" if proven else "no" for proven in leads["proven"]]
    sheet = frame_sheet("leads", "The best difference of every ordered pair, with its 95 % interval", leads)
    return (*gallery(**charts), sheet)


def _datasets(inspection: Inspection) -> tuple[Block, ...]:
    notes = (
        "noise: share of labels that do not follow from the formula. ceiling: AUROC of the formula itself. nearest: "
        "the other dataset with which the labels agree on most rows, whatever the features and classes are called.",
    )
    trees = {
        f"{FORMULA}{row.dataset}": formula_tree(
            Expression.parse(str(row.simplified)), f"{row.dataset}, concept {row.concept}"
        )
        for row in inspection.sets.itertuples()
    }
    return (
        frame_sheet("sets", "Datasets", inspection.sets.drop(columns="formula"), notes=notes),
        Fold("The simplified formulas as trees", gallery(**trees)),
        Attachment("sets.csv", frame_as_csv(inspection.sets)),
        Attachment("coverage.csv", frame_as_csv(inspection.coverage.reset_index(names=""))),
    )


def _search(curve: pd.DataFrame) -> tuple[Block, ...]:
    shown = curve.assign(minutes=curve["seconds"] / 60).drop(columns="seconds")
    drawn = gallery(coverage_curve=coverage_curve(curve)) if len(curve) else ()
    return (
        *drawn,
        Fold("The progress of the search, moment by moment", (frame_sheet("curve", "Coverage", shown, decimals=1),)),
    )


def _beside(collection: Collection, other: Collection) -> tuple[Block, ...]:
    mine, theirs = set(collection.covered()), set(other.covered())
    n_pairs = len(collection.leads())
    n_mine, n_theirs = (len({item.concept for item in which.sets}) for which in (collection, other))
    lines = [
        f"{collection.name} proves {len(mine)} of {n_pairs} ordered pairs with {len(collection.sets)} datasets of "
        f"{n_mine} concepts; {other.name} proves {len(theirs)} with {len(other.sets)} datasets of {n_theirs} concepts.",
        f"{len(mine - theirs)} pairs are proven by {collection.name} only: {_named(mine - theirs)}.",
        f"{len(theirs - mine)} pairs are proven by {other.name} only: {_named(theirs - mine)}.",
    ]
    drawn = duel_chart(other.coverage(), other.margin, f"Proven by {other.name}")
    return (Points(tuple(lines)), *gallery(duels_beside=drawn))


def _named(pairs: set[tuple[str, str]]) -> str:
    return ", ".join(f"{up} over {down}" for up, down in sorted(pairs)) or "none"


def _how(inspection: Inspection, collection: Collection | None) -> tuple[str, ...]:
    concepts = (
        "Two datasets are of one concept when their labels agree on 98 % of the rows of a probe sample, up to the "
        "names and signs of features and the names of the classes, or when a chain of such datasets links them."
    )
    if collection is None:
        return (f"Pairs are compared {inspection.basis}.", concepts)
    measured = (
        f"Every method was fitted on samples of the size of the dataset and scored on {collection.evidence_rows:,} "
        f"fresh rows of each. All methods saw the same samples. A pair is proven when the lower 95 % bound of the "
        f"paired difference reaches {collection.margin:g}. No sample of the evidence was used in the search."
    )
    return (measured, concepts)


def write_benchmark(
    benchmarks: MethodBenchmark | Sequence[MethodBenchmark], folder: str | Path, formats: tuple[str, ...] = ("svg",)
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
    >>> from paragone.generate import Contender, DuelSettings, Laboratory, benchmark_method
    >>> own = Contender("NB", "sklearn.naive_bayes:GaussianNB")
    >>> with tempfile.TemporaryDirectory() as folder, Laboratory(Path(folder) / "lab.sqlite") as laboratory:
    ...     result = benchmark_method(own, laboratory, sets=["digen8"], settings=DuelSettings(folds=3))
    ...     page = write_benchmark(result, Path(folder) / "page")
    ...     page.name, (Path(folder) / "page" / "heat_map.svg").is_file()
    ('report.html', True)
    """
    several = [benchmarks] if isinstance(benchmarks, MethodBenchmark) else list(benchmarks)
    return write_whole(folder, "benchmark", benchmark_page(several), tuple(dict.fromkeys(("svg", *formats))))


def benchmark_page(benchmarks: Sequence[MethodBenchmark]) -> Page:
    """Make the page of a method: the diagnosis over all collections, then each of them."""
    import pandas as pd

    method = benchmarks[0].method
    evidence: dict[str, NumberDetails] = {}
    sections: list[Section] = []
    for benchmark in benchmarks:
        found, keys = sample_evidence(benchmark.scores, "seed")
        evidence |= found
        sections += _collection_sections(benchmark, keys, "" if len(benchmarks) == 1 else f" on {benchmark.collection}")
    if all(benchmark.specimens for benchmark in benchmarks):
        # The finding is the first screen; then comes why.
        sections[1:1] = _diagnosis_sections(diagnose(benchmarks))
    chosen = {name: params for benchmark in benchmarks for name, params in benchmark.chosen.items()}
    parameters = json.dumps(chosen, indent=1)
    scores = pd.concat([benchmark.scores for benchmark in benchmarks], ignore_index=True)
    files = (Attachment("scores.csv", frame_as_csv(scores)), Attachment("parameters.json", f"{parameters}\n"))
    listing = Listing(f"Parameters of {method}, by dataset", parameters)
    how = Prose(tuple(f"On {benchmark.collection}: {benchmark.how}" for benchmark in benchmarks))
    rules = Points(tuple(f"{family}: {words}." for family, words in FAMILIES.items()))
    families = (Fold("The families of concepts, by their rules", (rules,)),)
    sections.append(Section("how", "How it was done", (how, *families, listing, *files)))
    n_sets = sum(len(benchmark.table()) for benchmark in benchmarks)
    n_methods = len(benchmarks[0].table().columns)
    subtitle = f"{n_sets} dataset{'s' * (n_sets != 1)}, {n_methods} methods, AUROC"
    named = " and ".join(benchmark.collection for benchmark in benchmarks)
    return Page(f"{method} on {named}", subtitle, (), tuple(sections), evidence)


def _diagnosis_sections(diagnosis: Diagnosis) -> list[Section]:
    import pandas as pd

    lead, *more = (f"{said[0].upper()}{said[1:]}." for said in diagnosis.sentences())
    families = pd.DataFrame(
        [
            {
                "family": record.family,
                "datasets": record.n_sets,
                "concepts": record.n_concepts,
                diagnosis.method: record.method,
                "references, median": record.typical,
                "best reference": f"{record.best_method} {record.best:.3f}",
                "behind the best of each concept": interval_in_words(record.behind, record.low, record.high),
            }
            for record in diagnosis.records
        ]
    )
    notes = ("Means over concepts: datasets of one concept are one problem. Intervals: 95 %, over concepts.",)
    sheet = frame_sheet("families", "By family of concepts", families, notes=notes)
    blocks: list[Block] = [Prose((lead,), "lead"), Points(tuple(more)), *gallery(profile=profile_chart(diagnosis))]
    near = frame_sheet("likeness", "Which known method it is like", diagnosis.likeness)
    sections = [Section("diagnosis", "The diagnosis", (*blocks, sheet, near))]
    told = {"wins": ("wins", diagnosis.wins), "failures": ("fails", diagnosis.failures)}
    tables: list[Block] = []
    for name, (word, rows) in told.items():
        if not len(rows):
            tables.append(Prose((f"There is no dataset on which {diagnosis.method} {word} by {diagnosis.margin:g}.",)))
            continue
        shown = rows.assign(
            families=[", ".join(of) for of in rows["families"]],
            formula=[mathematics(Expression.parse(text)) for text in rows["formula"]],
        ).drop(columns=["concept", "place"])
        title = f"Datasets on which {diagnosis.method} {word} by {diagnosis.margin:g} or more"
        sheet = frame_sheet(name, title, shown)
        tables.append(sheet if len(rows) <= 12 else Fold(f"{title} ({len(rows)})", (sheet,), is_open=False))
    return [*sections, Section("outcomes", "Where it wins and where it fails", tuple(tables))]


def interval_in_words(value: float, low: float, high: float) -> str:
    """Return a number with its limits; the limits are left out where there are none.

    Examples
    --------
    >>> interval_in_words(0.12, 0.08, 0.16), interval_in_words(0.12, float("nan"), float("nan"))
    ('0.120 [0.080, 0.160]', '0.120')
    """
    return f"{value:.3f} [{low:.3f}, {high:.3f}]" if np.isfinite([low, high]).all() else f"{value:.3f}"


def _collection_sections(benchmark: MethodBenchmark, keys: Mapping[tuple[str, str], str], where: str) -> list[Section]:
    """Return the parts of the page that are about one collection; names get its name where there are several."""
    ending = f"_{benchmark.collection}" if where else ""
    charts = benchmark.charts()

    def drawn(*names: str) -> tuple[Block, ...]:
        return gallery(**{f"{name}{ending}": charts[name] for name in names if name in charts})

    table = benchmark.table()
    notes: tuple[Block, ...] = (Points(tuple(f"Note: {note}." for note in benchmark.notes)),) if benchmark.notes else ()
    ranking = frame_sheet(f"standing{ending}", "Standing", _ranking(table), decimals=4)
    plots = drawn("heat_map", "parallel_coordinates", "boxes", "boxes_over_seeds")
    scores = score_sheet(f"scores{ending}", "AUROC by dataset", table, keys)
    curves = Fold(f"ROC and precision-recall curves{where}", drawn("roc", "precision_recall"), is_open=not where)
    return [
        Section(f"verdict{ending}", f"The verdict{where}", (*_verdict(benchmark, ending), *notes, ranking)),
        Section(f"who{ending}", f"Who beats whom{where}", drawn("critical_difference", "duels")),
        Section(f"where{ending}", f"Scores{where}", (*plots, scores)),
        Section(f"curves{ending}", f"Curves{where}", (curves,)),
    ]


def _verdict(benchmark: MethodBenchmark, ending: str = "") -> tuple[Block, ...]:
    table = benchmark.table()
    first = int(best_losses(-table.to_numpy(dtype=float).T, size=1.0)[table.columns.get_loc(benchmark.method)].sum())
    duels = benchmark.duels().loc[benchmark.method].drop(benchmark.method)
    lead = (
        f"{benchmark.method} is first on {first} of {len(table)} datasets, and beats {int((duels > 0).sum())} of "
        f"{len(duels)} methods by .05 on some dataset."
    )
    if len(table) < 2:
        return (Prose((lead,), "lead"),)
    compared = benchmark.comparison(benchmark.method)
    board = comparison_board(compared, f"board-auroc{ending}")
    return (board, *panels_of(board), Prose((lead,)), Points(tuple(compared.verdict.splitlines())))


def _ranking(table: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    ranks = np.mean([rank_losses(-row, size=1.0) for row in table.to_numpy(dtype=float)], axis=0)
    rows = [
        {"method": method, "mean rank": rank, "mean AUROC": table[method].mean(), "lowest": table[method].min()}
        for method, rank in ((table.columns[place], float(ranks[place])) for place in loss_order(ranks))
    ]
    return pd.DataFrame(rows)


def gallery(**charts: Any) -> tuple[Block, ...]:
    """Return charts, by name, beside each other."""
    return (Gallery(tuple(figure(name, chart) for name, chart in charts.items())),) if charts else ()


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
