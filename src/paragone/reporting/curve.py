"""The page, the charts and the files of a curve experiment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from paragone.charts import PALETTE, from_rows, styled
from paragone.charts.save import chart_specification
from paragone.charts.theme import unchecked, wrap
from paragone.errors import unknown_name
from paragone.page import Block, Choice, Figure, Fold, Gallery, Page, Points, Prose, Section, figure, words_of
from paragone.reporting.drawing import Drawing, file_stem
from paragone.reporting.how import how_it_was_done, methods_paragraph, page_choices, trouble, warned_words
from paragone.reporting.scores import (
    GridScores,
    View,
    grid_scores,
    means_frame,
    named,
    rank_table,
    score_table,
    statistics_table,
    views_of,
)
from paragone.reporting.sections import Behind, answer_sheet, dataset_figure_name, dataset_folds, method_blocks
from paragone.reporting.words import Wording, bibtex, headline, reference_keys, title_of
from paragone.reporting.write import Order, draw_page, write_page
from paragone.results import Results
from paragone.results.results import experiment_record
from paragone.tables import Table, frame_to_csv, to_latex
from paragone.validation import IntArray

if TYPE_CHECKING:
    import pandas as pd

WIDTH, HEIGHT = 460, 280
TITLE_WIDTH = 70
DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3]]


def dataset_chart(scores: GridScores, dataset: str, metric: str, wording: Wording) -> Any:
    """Draw the curves of all methods on one dataset: mean over folds, band of one standard deviation."""
    curves = scores.curves
    summary = _summaries(curves[(curves["dataset"] == dataset) & (curves["metric"] == metric)])[dataset]
    return _curves(summary, scores.grid, metric, *_heading(summary, dataset, metric, wording), wording)


def dataset_specifications(scores: GridScores, metric: str, wording: Wording) -> dict[str, dict[str, Any]]:
    """Return the specification of :func:`dataset_chart` for every dataset.

    The charts differ in their rows and titles only, so one is built for all that have the same methods: Altair takes
    longer to build a chart than a reader to look at it.
    """
    built: dict[tuple[str, ...], dict[str, Any]] = {}
    found = {}
    for dataset, summary in _summaries(scores.curves[scores.curves["metric"] == metric]).items():
        title, subtitle = _heading(summary, dataset, metric, wording)
        methods = tuple(summary["method"].unique())
        if methods not in built:
            built[methods] = chart_specification(_curves(summary, scores.grid, metric, title, subtitle, wording))
        heading = {**built[methods]["title"], "text": wrap(title, TITLE_WIDTH), "subtitle": wrap(subtitle)}
        found[dataset] = {**built[methods], "title": heading, "data": {"values": curve_rows(summary, wording)}}
    return found


def dataset_curves(grids: Sequence[GridScores]) -> Iterator[tuple[tuple[str, str], dict[str, dict[str, Any]]]]:
    """Yield the specifications of all curves: those of one grid and metric at a time, by dataset."""
    for scores in grids:
        for metric in scores.curves["metric"].unique():
            with unchecked():
                found = dataset_specifications(scores, metric, Wording())
            yield (scores.suffix, metric), found


def _summaries(curves: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return mean, deviation and number of folds of every method and point, by dataset."""
    grouped = curves.groupby(["dataset", "method", "at"], sort=False)["value"].agg(["mean", "std", "size"])
    return {str(dataset): rows for dataset, rows in grouped.reset_index().groupby("dataset", sort=False)}


def _heading(summary: pd.DataFrame, dataset: str, metric: str, wording: Wording) -> tuple[str, str]:
    n_folds = int(summary["size"].max())
    subtitle = f"mean over {n_folds} folds, band: ± one standard deviation" if n_folds > 1 else "one fold"
    return f"{title_of(metric)} on {wording.name(dataset)}", subtitle


def mean_chart(scores: GridScores, metric: str, wording: Wording) -> Any:
    """Draw the mean over datasets, on a part of the grid that all of them have.

    Small datasets end early. The datasets and points are chosen so that as many scores as possible count, and
    the subtitle names the datasets left out: a mean whose datasets change along the curve would show steps that are
    nobody's.
    """
    curves = scores.curves[scores.curves["metric"] == metric]
    last = curves.groupby("dataset")["at"].max()
    points = curves["at"].drop_duplicates()
    end = max(sorted(set(last)), key=lambda m: (last >= m).sum() * (points <= m).sum())
    used = last.index[last >= end]
    mine = curves[curves["dataset"].isin(used) & (curves["at"] <= end) & curves["at"].isin(_shared(curves, used))]
    per_dataset = mine.groupby(["dataset", "method", "at"], sort=False)["value"].mean().reset_index()
    summary = per_dataset.groupby(["method", "at"], sort=False)["value"].agg(["mean"]).reset_index()
    summary["std"] = float("nan")
    left_out = ", ".join(wording.name(name) for name in last.index.difference(used))
    subtitle = f"mean over {len(used)} datasets"
    if left_out:
        subtitle += f"; without {left_out}: too few features"
    return _curves(summary, scores.grid, metric, f"{title_of(metric)}, mean over datasets", subtitle, wording)


def _shared(curves: pd.DataFrame, datasets: pd.Index) -> set[float]:
    """Return the points that every one of the datasets has."""
    sets = [set(curves.loc[curves["dataset"] == name, "at"]) for name in datasets]
    return set.intersection(*sets)


def curve_rows(summary: pd.DataFrame, wording: Wording) -> list[dict[str, Any]]:
    """Return the rows of a chart of curves: mean, and one standard deviation below and above."""
    middle = summary["mean"].to_numpy()
    spread = summary["std"].fillna(0.0).to_numpy()
    columns = (summary["at"].to_numpy(), middle, middle - spread, middle + spread)
    names = [wording.name(method) for method in summary["method"]]
    return [
        dict(zip(("method", "at", "value", "low", "high"), row, strict=True))
        for row in zip(names, *(column.astype(float).tolist() for column in columns), strict=True)
    ]


def _curves(summary: pd.DataFrame, grid: str, metric: str, title: str, subtitle: str, wording: Wording) -> Any:
    import altair as alt

    methods = [wording.name(method) for method in summary["method"].unique()]
    colours = [PALETTE[i % len(PALETTE)] for i in range(len(methods))]
    dashes = [DASHES[(i // len(PALETTE)) % len(DASHES)] for i in range(len(methods))]
    if grid == "k":
        axis = alt.X("at:Q", title="number of features (k)", scale=alt.Scale(zero=False, nice=False))
    else:
        axis = alt.X(
            "at:Q", title="share of features (p)", axis=alt.Axis(format="%"), scale=alt.Scale(zero=False, nice=False)
        )
    legend = alt.Legend(symbolType="stroke", symbolOpacity=1, symbolStrokeWidth=3)
    scale = alt.Scale(domain=methods, range=colours)
    colour = alt.Color("method:N", title="method", sort=methods, scale=scale, legend=legend)
    dash = alt.StrokeDash("method:N", title="method", sort=methods, scale=alt.Scale(domain=methods, range=dashes))
    base = from_rows(curve_rows(summary, wording))
    band = base.mark_area(opacity=0.13).encode(
        x=axis, y=alt.Y("low:Q", title=title_of(metric), scale=alt.Scale(zero=False)), y2=alt.Y2("high:Q"), color=colour
    )
    line = base.mark_line(point=alt.OverlayMarkDef(size=18), strokeWidth=1.8).encode(
        x=axis,
        y=alt.Y("value:Q", title=title_of(metric), scale=alt.Scale(zero=False)),
        color=colour,
        strokeDash=dash,
        tooltip=[alt.Tooltip("method:N"), alt.Tooltip("at:Q"), alt.Tooltip("value:Q", format=".4f")],
    )
    return styled((band + line).properties(width=WIDTH, height=HEIGHT), title, subtitle)


GRID_TITLES = {"k": "mean over k", "p": "at the target p"}
MATRIX_UP_TO = 14
OPEN_UP_TO = 8


def curve_page(
    results: Results,
    described: Mapping[str, Any],
    views: Sequence[View],
    reference: str,
    wording: Wording,
    curves: Mapping[tuple[str, str], Mapping[str, Mapping[str, Any]]],
) -> Page:
    """Make the page of a curve experiment.

    Parameters
    ----------
    results : Results
        An open store.
    described : mapping
        What the store knows of the experiment's declaration.
    views : sequence of View
        Its metrics under the names to display, with their comparisons, as `views_of` gives them.
    reference : str
        The method that is compared with each other, by the name to display.
    wording : Wording
        Names to display, for what else the store tells.
    curves : mapping
        The charts of the datasets, by grid and metric, as `dataset_curves` gives them.

    Returns
    -------
    Page
        Ready to be rendered.
    """
    with unchecked():
        charts: list[Block] = [Gallery(_charts(view), view.tags) for view in views]
    behind = Behind()
    sheets = [answer_sheet(view.scores, view.metric, view.comparison, behind, view.key, view.tags) for view in views]
    compared = next((view.comparison for view in views if view.comparison is not None), None)
    paragraph = methods_paragraph(results, described, views, wording)
    references = bibtex(reference_keys(described, compared is not None))
    choices = page_choices(compared) if compared is not None else None
    verdict = [*_verdict(views, reference), *warned_words(results, described["name"], wording)]
    sections = (
        Section("verdict", "The verdict", tuple(verdict)),
        Section("answer", "The answer table", tuple(sheets)),
        Section("charts", "Charts", tuple(charts)),
        Section("datasets", "Dataset by dataset", dataset_folds(results, described, views, wording, behind, curves)),
        Section("methods", "Method by method", method_blocks(results, described, views, wording, behind)),
        Section("trouble", "Failures and warnings", trouble(results, described["name"], views, wording)),
        Section(
            "how",
            "How it was done",
            how_it_was_done(results, described, paragraph, references, wording, choices),
        ),
    )
    told = {"The verdict": words_of(verdict), "How it was done": paragraph}
    record = experiment_record(results, described["name"])
    return Page(
        f"{described['name']}",
        _subtitle(views[0]),
        _choices(views),
        sections,
        behind.found,
        references,
        told,
        record,
    )


def _choices(views: Sequence[View]) -> tuple[Choice, ...]:
    metrics = {view.metric: title_of(view.metric) for view in views}
    grids = {view.scores.suffix: GRID_TITLES[view.scores.grid] for view in views}
    return Choice("metric", "Metric", metrics), Choice("grid", "Score", grids)


def _subtitle(view: View) -> str:
    folds = view.scores.folds
    counts = [(folds["method"].nunique(), "method"), (folds["dataset"].nunique(), "dataset")]
    return ", ".join(f"{n} {what}{'s' * (n != 1)}" for n, what in counts) + "; feature-ranking curves"


def _verdict(views: Sequence[View], reference: str) -> list[Block]:
    blocks: list[Block] = []
    for suffix in dict.fromkeys(view.scores.suffix for view in views):
        mine = [view for view in views if view.scores.suffix == suffix]
        compared = any(view.comparison for view in mine)
        intro = [f"By {mine[0].scores.reduction}, {reference} against each other method."] if compared else []
        blocks.append(Prose((*intro, *_headlines(mine)), "lead", {"grid": suffix}))
    for view in views:
        if view.comparison is not None:
            lines = Points(tuple(view.comparison.verdict.splitlines()))
            title = f"The evidence on {title_of(view.metric)}, rival by rival"
            blocks.append(Fold(title, (lines,), len(lines.lines) <= OPEN_UP_TO, view.tags))
            blocks += [Prose((text,), "warning", view.tags) for text in view.comparison.warnings]
    return blocks


def _headlines(views: Sequence[View]) -> list[str]:
    """Return a sentence a metric, or one for all where none could be compared for the same reason."""
    refusals = {view.refusal for view in views}
    if len(refusals) == 1 and views[0].comparison is None:
        return [views[0].refusal]
    return [
        f"{title_of(view.metric)}: {headline(view.comparison) if view.comparison else view.refusal}" for view in views
    ]


def _charts(view: View) -> tuple[Figure, ...]:
    plain = Wording()
    found: dict[str, Any] = {}
    if view.scores.curves["dataset"].nunique() > 1:
        found["mean_curve"] = mean_chart(view.scores, view.metric, plain)
    if view.comparison is not None:
        charts = view.comparison.charts
        wanted = ["critical_difference", "forest", "win_tie_loss", "rank_boxes", "pair_matrix", "differences"]
        if len(view.comparison.scores.methods) > MATRIX_UP_TO:
            wanted.remove("pair_matrix")
        found |= {name: charts[name] for name in wanted}
    if not found:
        only = str(view.scores.curves["dataset"].iloc[0])
        found["curve"] = dataset_chart(view.scores, only, view.metric, plain)
    figures = {name: figure(f"{name}_{view.key}", chart) for name, chart in found.items()}
    if "critical_difference" in figures and figures["critical_difference"].alternative == "Pair matrix":
        # Where bars would mislead, the matrix stands in for the diagram; once is enough.
        figures.pop("pair_matrix", None)
    return tuple(figures.values())


TOP_SHARE = 0.2


def jaccard(a: IntArray, b: IntArray) -> float:
    """Return the size of the intersection over the size of the union of two sets of features.

    Examples
    --------
    >>> import numpy as np
    >>> jaccard(np.array([0, 1, 2]), np.array([1, 2, 3]))
    0.5
    """
    return float(len(np.intersect1d(a, b)) / len(np.union1d(a, b)))


def kuncheva(a: IntArray, b: IntArray, n_features: int) -> float:
    """Return Kuncheva's consistency of two sets of equal size: 0 by chance, 1 where equal; 1 for all features.

    References
    ----------
    L. I. Kuncheva, "A stability index for feature selection", Artificial Intelligence and Applications, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> kuncheva(np.array([0, 1]), np.array([1, 2]), 4)
    0.0
    """
    k, shared = len(a), len(np.intersect1d(a, b))
    if k == n_features:
        return 1.0
    return float((shared * n_features - k * k) / (k * (n_features - k)))


def seed_stability(results: Results, experiment: str, share: float = TOP_SHARE) -> pd.DataFrame:
    """Return the mean pairwise agreement over seeds of the top features, a row a dataset and repeated method.

    Parameters
    ----------
    results : Results
        An open store.
    experiment : str
        The experiment's name.
    share : float, default=0.2
        Share of the features that count as top.

    Returns
    -------
    DataFrame
        Columns ``dataset, method, seeds, top, jaccard, kuncheva, spread``; the first two agreements are means over
        folds and pairs of seeds, ``spread`` is the mean over folds of the deviation (ddof = 1) over seeds of the
        experiment's first metric, averaged over its grid.
    """
    import pandas as pd

    places = results.places()
    places = places[(places["experiment"] == experiment) & (places["status"] == "done")]
    scores = results.scores(repeats=True)
    scores = scores[scores["experiment"] == experiment]
    rows = []
    for (dataset, method), cells in places.groupby(["dataset", "method"], sort=False):
        seeds = cells["repeat"].nunique()
        if seeds < 2:
            continue
        pairs = [
            _agreement(results, dataset, fold, method, experiment, sorted(fold_cells["repeat"]), share)
            for fold, fold_cells in cells.groupby("fold")
        ]
        agreement = np.mean([pair for fold_pairs in pairs for pair in fold_pairs], axis=0)
        top = max(1, round(share * len(results.ranking(dataset, int(cells["fold"].iloc[0]), method, experiment))))
        rows.append((dataset, method, seeds, top, *agreement, _spread(scores, dataset, method)))
    return pd.DataFrame(rows, columns=["dataset", "method", "seeds", "top", "jaccard", "kuncheva", "spread"])


def _agreement(
    results: Results, dataset: str, fold: int, method: str, experiment: str, repeats: list[int], share: float
) -> list[tuple[float, float]]:
    rankings = [results.ranking(dataset, fold, method, experiment, repeat) for repeat in repeats]
    d = len(rankings[0])
    k = max(1, round(share * d))
    return [(jaccard(a[:k], b[:k]), kuncheva(a[:k], b[:k], d)) for a, b in combinations(rankings, 2)]


def _spread(scores: pd.DataFrame, dataset: str, method: str) -> float:
    mine = scores[(scores["dataset"] == dataset) & (scores["method"] == method)]
    first = mine[(mine["metric"] == mine["metric"].iloc[0]) & (mine["protocol"] == mine["protocol"].iloc[0])]
    per_seed = first.groupby(["fold", "repeat"])["value"].mean()
    return float(per_seed.groupby("fold").std(ddof=1).mean())


TABLE_NAMES = {"micro_f1": "microf1", "macro_f1": "macrof1", "hamming_loss": "hamming"}


def write_curve(order: Order, folder: Path, drawing: Drawing) -> None:
    """Write the page, the tables and the charts of a curve experiment into a folder that exists.

    Parameters
    ----------
    order : Order
        What is to be told, and how.
    folder : Path
        Where to.
    drawing : Drawing
        Draws the charts, while the rest is written.
    """
    drawing.expect(len(order.described["data"]) * len(order.described["protocol"]["metrics"]))
    grids = grid_scores(order.results, order.experiment)
    reference = chosen_reference(grids, order.reference)
    shown = [named(scores, order.wording) for scores in grids]
    curves = {}
    for (suffix, metric), mine in dataset_curves(shown):
        curves[suffix, metric] = mine
        # Most of the drawing is known now: it goes on while the rest is worked out.
        for dataset, specification in mine.items():
            name = dataset_figure_name(dataset, f"{metric}-{suffix}")
            drawing.add(folder / "figures" / file_stem(name), specification)
    chief = order.wording.name(reference)
    views = views_of(shown, chief, order.described["split"])
    page = curve_page(order.results, order.described, views, chief, order.wording, curves)
    draw_page(page, folder, drawing)
    for scores in grids:
        inside = folder / scores.suffix if len(grids) > 1 else folder
        inside.mkdir(exist_ok=True)
        frame_to_csv(means_frame(scores), inside / f"benchmark_means_{scores.suffix}.csv")
        here = [view for view in views if view.scores.suffix == scores.suffix]
        _write_tables(here, inside, chief, order)
    stability = seed_stability(order.results, order.experiment)
    if not stability.empty:
        frame_to_csv(stability, folder / "seed_stability.csv")
    write_page(page, folder, order.split_columns)


def chosen_reference(grids: list[GridScores], reference: str | None) -> str:
    """Return the reference, or the first method; one that is not there is refused."""
    methods = grids[0].folds["method"].unique().tolist()
    if reference is not None and reference not in methods:
        raise unknown_name("reference", reference, methods)
    return reference or methods[0]


def _write_tables(views: Sequence[View], folder: Path, reference: str, order: Order) -> None:
    """Write the tables of one grid; its views have the names to display already."""
    wording = replace(order.wording, names={})
    scores = views[0].scores
    for view in views:
        name = f"table_{TABLE_NAMES.get(view.metric, view.metric)}.tex"
        _write(folder / name, score_table(scores, view.metric, wording), order.split_columns)
    found = {view.metric: view.comparison for view in views if view.comparison is not None}
    if found and scores.folds["dataset"].nunique() > 1:
        _write(folder / "table_stats.tex", statistics_table(found, scores, reference, wording), None)
        _write(folder / "table_ranks.tex", rank_table(found, scores, wording), None)


def _write(file: Path, table: Table, split_columns: int | None) -> None:
    file.write_text(to_latex(table, columns_a_block=split_columns) + "\n", encoding="utf-8", newline="\n")
