"""The page of a method on collections, and what all pages of generated data share: galleries, sheets, the folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from paragone.charts import save_chart
from paragone.data import Expression
from paragone.folders import replaced_folder
from paragone.generate.benchmark import MethodBenchmark
from paragone.generate.collection import Collection
from paragone.generate.diagnosis import MethodDiagnosis, diagnose, profile_chart, profile_plot
from paragone.generate.families import family_rules
from paragone.generate.inspection import MARGIN
from paragone.generate.mathematics import mathematics
from paragone.generate.targets import METRICS, common_target, fresh_protocol
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
from paragone.reporting import comparison_board, panels_of, render_page
from paragone.tables import Column, Table, TableCell, frame_as_csv
from paragone.ties import best_losses, loss_order, rank_losses

if TYPE_CHECKING:
    import pandas as pd

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
    >>> from paragone.generate import Contender, DuelSettings, Laboratory, benchmark_method
    >>> own = Contender("NB", "sklearn.naive_bayes:GaussianNB")
    >>> with tempfile.TemporaryDirectory() as folder, Laboratory(Path(folder) / "lab.sqlite") as laboratory:
    ...     result = benchmark_method(own, laboratory, sets=["digen8"], settings=DuelSettings(folds=3))
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
    import pandas as pd

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
    families = (Fold("The families of concepts, by their rules", (rules,)),)
    sections.append(Section("how", "How it was done", (how, *families, listing, *files)))
    n_sets = sum(len(benchmark.table()) for benchmark in benchmarks)
    n_methods = len(benchmarks[0].table().columns)
    of = " of each class against the rest" if target == "multiclass" else ""
    subtitle = f"{n_sets} dataset{'s' * (n_sets != 1)}, {n_methods} methods, {metric}{of}"
    named = " and ".join(benchmark.collection for benchmark in benchmarks)
    return Page(f"{method} on {named}", subtitle, (), tuple(sections), evidence)


def _diagnosis_sections(diagnosis: MethodDiagnosis) -> list[Section]:
    import pandas as pd

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
    profile = figure("profile", profile_chart(diagnosis), plot=profile_plot(diagnosis))
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
            sheet if len(rows) <= 12 else Fold(f"{title} ({len(rows)})", (sheet,), is_open=False)
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
                    figures=tuple(
                        replace(one, alternative=f"{one.alternative}{where}") for one in b.figures
                    ),
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
        named(drawn_gallery(**{f"{name}{ending}": charts[name]})) for name in ("heat_map", "duels")
    )
    plots = (*heat, *drawn("parallel_coordinates", "boxes", "boxes_over_seeds"))
    scores = score_sheet(f"scores{ending}", f"{benchmark.metric} by dataset{where}", table, keys)
    sections = [
        Section(
            f"verdict{ending}",
            f"The verdict{where}",
            (*_verdict(benchmark, ending), *notes, Fold("Standing", (ranking,))),
        ),
        Section(f"who{ending}", f"Who beats whom{where}", (*drawn("critical_difference"), *duels)),
        Section(f"where{ending}", f"Scores{where}", (*plots, scores)),
    ]
    if benchmark.target in CURVES:
        title = f"{CURVES[benchmark.target]}{where}"
        curves = Fold(title, drawn("roc", "precision_recall", wide=False), is_open=not where)
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
        Fold("The verdict on every pair, in words", (words,)),
    )


def _ranking(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    import pandas as pd

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


def drawn_gallery(*, wide: bool = True, **charts: Any) -> tuple[Block, ...]:
    """Return charts as pictures, one under the other: for those whose colours or layers the page's own plots lack."""
    figures = (
        replace(figure(name, chart, only_file=True), only_file=False)
        for name, chart in charts.items()
    )
    return (Gallery(tuple(figures), wide=wide),) if charts else ()


def gallery(*, wide: bool = False, **charts: Any) -> tuple[Block, ...]:
    """Return charts, by name, beside each other; wide ones, which a column would cut, one under the other."""
    return (
        (Gallery(tuple(figure(name, chart) for name, chart in charts.items()), wide=wide),)
        if charts
        else ()
    )


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
