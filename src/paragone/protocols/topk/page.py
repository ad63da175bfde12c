"""The page and the files of a topk experiment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from paragone.errors import InputError, unknown_name
from paragone.lab.view import View
from paragone.metrics import metric_in_words, metric_title, named_metric
from paragone.page import (
    Attachment,
    Block,
    Choice,
    Collapsible,
    Cover,
    Gallery,
    Leaderboard,
    NumberDetails,
    Prose,
    Section,
    Sheet,
    figure,
)
from paragone.protocols.topk.reader import TopKReader, usual_cut
from paragone.protocols.topk.tables import (
    TopKFigures,
    beyond_table,
    metric_table,
    of_place,
    segment_tables,
    tie_table,
    topk_plot,
)
from paragone.reporting.boards import facts_of
from paragone.reporting.compared import sample_board
from paragone.reporting.drawing import file_stem
from paragone.reporting.how import repeats_sentence, software_sentence
from paragone.reporting.pages import TITLES, counts_of
from paragone.reporting.sections import (
    BETTER,
    WORSE,
    Behind,
    each_method,
    evidence_key,
    folds_of,
    verdict_blocks,
)
from paragone.reporting.words import listing, method_references
from paragone.stats import SampleComparison
from paragone.tables import Column, Table, TableCell, format_number, frame_as_csv, number_cell
from paragone.ties import best_losses


def topk_tags(figures: TopKFigures, dataset: str, metric: str) -> dict[str, str]:
    """Return when a block about a dataset and metric shows."""
    several = len(figures.run.datasets) > 1
    return {"metric": metric, **({"dataset": dataset} if several else {})}


def places(figures: TopKFigures) -> list[tuple[str, str]]:
    """Return every dataset with each of its metrics."""
    rows = figures.scores[["dataset", "metric"]].drop_duplicates()
    return list(rows.itertuples(index=False, name=None))


def answer_sheet(figures: TopKFigures, dataset: str, metric: str, behind: Behind) -> Sheet:
    """Make the table of a metric on a dataset.

    Parameters
    ----------
    figures : TopKFigures
        What is to be told.
    dataset, metric : str
        Of which.
    behind : Behind
        Where the scores behind the numbers go.

    Returns
    -------
    Sheet
        With a mark where a method differs from the leader; the best that any list could have in
        the footer.
    """
    table = metric_table(figures, dataset, metric)
    rows = of_place(figures.scores, dataset, metric)
    methods, cuts = list(dict.fromkeys(rows["method"])), list(dict.fromkeys(rows["at"]))
    marks = sample_marks(figures.comparison)
    body = []
    for method, row in zip(methods, table.rows, strict=False):
        cells = [row[0]]
        for k, cell in zip(cuts, row[1:], strict=True):
            key = keep_folds(figures, (dataset, method, metric, k), behind)
            mark = marks.get((dataset, metric, k, method), "")
            cells.append(replace(cell, superscript=mark, behind=key))
        body.append(tuple(cells))
    footer = table.rows[len(methods) :]
    if figures.comparison is not None and marks:
        reference = figures.name(figures.comparison.leader)
        note = (
            f" {WORSE} and {BETTER}: worse and better than {reference} on the same samples "
            f"({figures.comparison.method.split(';')[0]}; "
            f"Holm over all differences, alpha = {figures.comparison.alpha:g})."
        )
        table = replace(table, caption=table.caption + note)
    return Sheet(
        file_stem(f"answer-{metric}-{dataset}"),
        f"{metric_title(metric)} on {figures.name(dataset)}",
        replace(table, rows=(*body, *footer)),
        n_footer=len(footer),
        wide=True,
        tags=topk_tags(figures, dataset, metric),
        printed=True,
    )


def sample_marks(comparison: SampleComparison | None) -> dict[tuple[str, str, float, str], str]:
    """Return the marks of values that differ from the leader's on the same samples, after Holm."""
    if comparison is None:
        return {}
    marks = {}
    for place, pair in zip(comparison.measurements, comparison.pairs, strict=True):
        if comparison.leader in (pair.method, pair.rival) and pair.p <= comparison.alpha:
            mine = pair.seen_from(comparison.leader)
            key = (place.dataset, place.metric, place.at, mine.rival)
            marks[key] = WORSE if mine.difference.estimate > 0 else BETTER
    return marks


def fold_key(dataset: str, method: str, metric: str, at: float) -> str:
    """Return the key of the folds of a score."""
    return evidence_key(metric, f"{at:g}", dataset, method)


def keep_folds(figures: TopKFigures, place: tuple[str, str, str, float], behind: Behind) -> str:
    """Keep the score of every fold and seed behind a mean, and return the key."""
    dataset, method, metric, at = place
    rows = figures.tidy_by_place.loc[[place]]
    several = len(rows) > 1
    values = tuple(
        (f"fold {fold}, seed {repeat}" if several else f"fold {fold}", float(value), "")
        for fold, repeat, value in rows[["fold", "repeat", "value"]].itertuples(index=False)
    )
    score = metric_title(metric)
    title = f"{figures.name(method)} on {figures.name(dataset)}: {score} at {at:g}"
    note = (
        "The mean over the samples of a fold; the table's mean is over all samples, seeds averaged"
        " first."
    )
    details = NumberDetails(title, ("fold", score), values, note, (dataset, method))
    return behind.add(fold_key(*place), details)


def method_sheet(figures: TopKFigures, method: str, number: int, behind: Behind) -> Sheet:
    """Make the table of one method: every metric on every dataset, over the cut-offs.

    Parameters
    ----------
    figures : TopKFigures
        What is to be told.
    method : str
        Which method.
    number : int
        Its place, for the anchor.
    behind : Behind
        Knows the scores behind the numbers.

    Returns
    -------
    Sheet
        Bold where no rival is better.
    """
    cuts = list(dict.fromkeys(figures.scores["at"]))
    rows = []
    for dataset, metric in places(figures):
        everyone = of_place(figures.scores, dataset, metric)
        by_cut = everyone.pivot(index="method", columns="at", values="value")
        if method not in by_cut.index:
            continue
        known = named_metric(metric)
        sign = np.nan if known.higher_is_better is None else -1 if known.higher_is_better else 1
        mine = by_cut.index.get_loc(method)
        marks = best_losses(sign * by_cut.to_numpy(), size=known.score_size)[mine]
        best = dict(zip(by_cut.columns, marks.tolist(), strict=True))
        cells = []
        for k in cuts:
            value = by_cut.loc[method, k]
            key = behind.known(fold_key(dataset, method, metric, k))
            cells.append(number_cell(value, format_number(value), bold=best[k], behind=key))
        rows.append([TableCell(figures.name(dataset)), TableCell(metric_title(metric)), *cells])
    columns: list[str | Column] = [
        "dataset",
        Column("metric", "left"),
        *(f"K = {k:g}" for k in cuts),
    ]
    name = figures.name(method)
    caption = f"{name}: means over test samples; bold where no method is better."
    table = Table.of(columns, rows, caption=caption)
    return Sheet(f"method-{number}", f"{name} at every cut-off", table)


def headline(figures: TopKFigures, comparison: SampleComparison) -> str:
    """Say in one sentence how the reference does against its rivals on the samples."""
    names = {name: figures.name(name) for name in comparison.means}
    return str(comparison.findings.renamed(names))


def topk_paragraph(figures: TopKFigures, view: View) -> str:
    """Write the paragraph that can go into a paper."""
    run = figures.run
    methods = [figures.name(method) for method in run.methods]
    datasets = view.results.datasets(run.experiment)
    sets = listing([f"{figures.name(name)} ({_sizes(datasets[name])})" for name in run.datasets])
    whom = (
        f"the method {methods[0]}"
        if len(methods) == 1
        else f"{len(methods)} methods ({', '.join(methods)})"
    )
    notes = [note for notes in run.settings["notes"].values() for note in notes]
    cuts = listing([str(cut) for cut in run.ks])
    metrics = listing([metric_in_words(str(metric)) for metric in run.settings["metrics"]])
    sentences = [
        f"We compared {whom} on {sets}.",
        *(f"{note[:1].upper()}{note[1:]}." for note in notes),
        repeats_sentence(view),
        (
            "Every method was trained on the training rows and ordered all items for every test"
            f" row; the lists were scored at K = {cuts} by {metrics}, as means over test rows."
        ),
        f"Equal scores: {run.settings['ties']}; test rows without items: {run.settings['empty']}.",
        (
            "Intervals are 95 % percentile bootstrap intervals of 1000 draws that resample equal"
            " queries together."
        ),
        (
            f"Methods were compared on the same samples: {figures.comparison.method}."
            if figures.comparison
            else ""
        ),
        software_sentence(view.runs),
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def _sizes(facts: Mapping[str, Any]) -> str:
    return (
        f"{facts['n_samples']} rows, {facts['n_features']} tokens, {len(facts['target_names'])}"
        " items"
    )


def topk_references(figures: TopKFigures, described: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what was used: keys of metrics and statistics, entries of recommenders."""
    keys = (
        ["jarvelin2002"]
        if any(str(m).startswith("ndcg") for m in figures.run.settings["metrics"])
        else []
    )
    if figures.comparison is not None:
        keys += [*(["liang1986"] if figures.comparison.clustered else []), "holm1979"]
    return (*dict.fromkeys(keys), *method_references(described["methods"].values()))


def topk_choices(figures: TopKFigures) -> dict[str, str]:
    """Return the choices behind the numbers, by name."""
    run = figures.run
    found = {
        "ties": str(run.settings["ties"]),
        "test rows without items": str(run.settings["empty"]),
    }
    if figures.comparison is not None:
        found |= {
            "reference": figures.comparison.reference or "none: all pairs",
            "comparison": figures.comparison.method,
        }
        found["level"] = f"{figures.comparison.alpha:g}"
    return found


def sections(view: View) -> Iterable[Section | Cover]:
    """Return the page of a topk experiment but for what every page has: failures and how it was done."""
    figures, behind = view.once(topk_figures), Behind()
    boards, evidence = topk_boards(figures), _evidence(figures)
    yield Section("verdict", TITLES["verdict"], boards or evidence)
    yield Section("evidence", TITLES["evidence"], evidence if boards else ())
    answers = [answer_sheet(figures, *place, behind) for place in places(figures)]
    yield Section("answer", TITLES["answer"], (*answers, *_files(figures)))
    yield Section("charts", TITLES["charts"], _charts(figures))
    shown = {figures.name(dataset): _dataset(figures, dataset) for dataset in figures.run.datasets}
    yield Section("datasets", TITLES["datasets"], folds_of(shown))
    each = each_method(
        view, figures.run.methods, lambda name, n: [method_sheet(figures, name, n, behind)]
    )
    yield Section("methods", TITLES["methods"], each)
    metrics = {str(metric): metric_title(str(metric)) for _, metric in places(figures)}
    datasets = {dataset: figures.name(dataset) for dataset in figures.run.datasets}
    yield Cover(
        subtitle=counts_of(view, "top-K lists"),
        choices=(Choice("metric", "Metric", metrics), Choice("dataset", "Dataset", datasets)),
        paragraph=topk_paragraph(figures, view),
        references=topk_references(figures, view.described),
        decisions=topk_choices(figures),
        lines=tuple(lines(figures)),
        evidence=behind.found,
    )


def _files(figures: TopKFigures) -> list[Attachment]:
    """Return the frames as CSV, and the comparison on samples in a folder."""
    frames = {name: getattr(figures, name) for name in ("scores", "segments", "beyond")}
    found = [Attachment(f"{name}.csv", frame_as_csv(frame)) for name, frame in frames.items()]
    if figures.comparison is not None:
        # Not by its own save: this folder is part of the report, and replaced with it.
        texts = figures.comparison.texts()
        found += [
            Attachment(f"comparison/{name}", text.rstrip("\n") + "\n")
            for name, text in texts.items()
        ]
    return found


def topk_boards(figures: TopKFigures) -> tuple[Leaderboard, ...]:
    """Return the methods ranked by every metric on every dataset, at the cut-off that most readers look at."""
    found = figures.comparison
    if found is None:
        return ()
    named = replace(
        found,
        reference=figures.name(found.reference),
        pairs=tuple(
            replace(pair, method=figures.name(pair.method), rival=figures.name(pair.rival))
            for pair in found.pairs
        ),
    )
    facts, boards = figures.view.once(facts_of), []
    for dataset, metric in dict.fromkeys((one.dataset, one.metric) for one in found.measurements):
        mine = [one for one in found.measurements if (one.dataset, one.metric) == (dataset, metric)]
        cut = usual_cut([int(place.at) for place in mine])
        place = next(one for one in mine if one.at == cut)
        name = f"board-{file_stem(f'{dataset}-{metric}')}"
        tags = topk_tags(figures, dataset, metric)
        board = sample_board(named, name, place, facts=facts, tags=tags)
        boards.append(replace(board, scope=f"On rows like those of {figures.name(dataset)}"))
    return tuple(boards)


def _evidence(figures: TopKFigures) -> tuple[Block, ...]:
    found, view = figures.comparison, figures.view
    if found is None:
        words = "There is one method only, so there is nothing to compare it with."
        return verdict_blocks(view, Prose((words,), "lead"))
    table = _sheet("comparison", "The comparison on samples", found.as_table())
    evidence = Collapsible("Every difference with its interval and p", (table,))
    lead = Prose((headline(figures, found),), "lead")
    return verdict_blocks(view, lead, _verdict_lines(found), found.warnings, evidence)


def _charts(figures: TopKFigures) -> tuple[Block, ...]:
    blocks = []
    for dataset, metric in places(figures):
        drawn = figure(f"{metric}_at_k_{dataset}", topk_plot(figures, dataset, metric))
        blocks.append(Gallery((drawn,), topk_tags(figures, dataset, metric)))
    return tuple(blocks)


def _dataset(figures: TopKFigures, dataset: str) -> list[Block]:
    """Return what the page says of a dataset: its rows, ties, segments, and what is beyond accuracy."""
    name = figures.name(dataset)
    facts = figures.view.results.datasets(figures.run.experiment)[dataset]
    notes = figures.run.settings["notes"].get(dataset, ())
    segments = [
        _sheet(f"segments-{place}-{dataset}", f"Segments of {name}", table)
        for place, table in enumerate(segment_tables(figures, dataset))
    ]
    beyond = beyond_table(figures, dataset)
    return [
        Prose((f"{_sizes(facts)}.", *notes)),
        _sheet(f"ties-{dataset}", f"Ties on {name}", tie_table(figures, dataset)),
        *segments,
        _sheet(f"beyond-{dataset}", f"Beyond accuracy on {name}", beyond),
    ]


def _sheet(name: str, title: str, table: Table) -> Sheet:
    numbers = tuple(tuple(leading_number(cell.text) for cell in row) for row in table.rows)
    return Sheet(file_stem(name), title, table, numbers, printed=True)


def leading_number(text: str) -> float | None:
    """Return the number that a printed cell begins with, to sort by; None where it begins with none.

    Examples
    --------
    >>> leading_number("0.25 [0.2, 0.3]"), leading_number("1.50 % (0.1..0.2)"), leading_number("head")
    (0.25, 1.5, None)
    """
    first = text.partition(" ")[0]
    try:
        return float(first)
    except ValueError:
        return None


def topk_figures(view: View) -> TopKFigures:
    """Return the figures of a topk experiment, or say what is missing."""
    run = TopKReader(view.results).topk(view.experiment)
    if not run.cells:
        raise InputError(f"experiment {view.experiment!r} has no scores yet: run it first")
    wanted = view.wanted_reference
    if wanted is not None and wanted not in (
        view.described["methods"] if view.methods else run.methods
    ):
        raise unknown_name("reference", wanted, run.methods)
    shown = run.narrowed(view.datasets, view.methods)
    # A reference that the reader has just hidden gives way to the first that is shown.
    reference = wanted if wanted in shown.methods else None
    return TopKFigures(view, shown, reference, view.metric or None, _cut(view.at))


def _cut(at: str) -> int | None:
    """Read a cut-off, given as ``K=10``."""
    name, _, value = at.partition("=")
    if at and (name != "K" or not value.isdigit()):
        raise InputError(f"the point {at!r} is not a cut-off: say K=10")
    return int(value) if at else None


def lines(figures: TopKFigures) -> list[str]:
    """Say what the guards found, and what the comparison on samples shows."""
    found = [f"Note: {note}." for note in figures.run.notes]
    return [*found, *(_verdict_lines(figures.comparison) if figures.comparison else [])]


def _verdict_lines(comparison: SampleComparison) -> list[str]:
    """Return the evidence of the verdict, and by what of several metrics and cut-offs it is."""
    return [*comparison.verdict.splitlines(), *comparison.findings.remarks]
