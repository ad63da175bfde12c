"""`paragone compare`: the verdict over many methods and datasets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from paragone.cli.app import START, app
from paragone.cli.options import (
    READING,
    STATISTICS,
    AsJson,
    ChartFormats,
    Columns,
    Draws,
    HigherIsBetter,
    Ignored,
    LowerIsBetter,
    Margin,
    Ratio,
    Repeats,
    RowOfLog,
    Tolerance,
    Zeros,
)
from paragone.cli.output import show_comparison
from paragone.errors import InputError
from paragone.terminal import say_at_once

if TYPE_CHECKING:
    from paragone.lab.results import Results
    from paragone.stats.scores import ScoreTable

EXAMPLE = """Example: [bold]paragone compare scores.csv --metric micro_f1 --reference DAGFS --out answer[/bold]"""


@app.command(epilog=EXAMPLE, rich_help_panel=START)
def compare(
    sources: Annotated[
        list[str],
        typer.Argument(
            help=(
                "A store; a table of scores; or any number of files and folders that other programs"
                " wrote, where "
                "NAME=PATH names a method."
            ),
            show_default=False,
        ),
    ],
    metric: Annotated[
        str | None,
        typer.Option(
            help="Which metric, needed where there are several; a,b takes both as one family."
        ),
    ] = None,
    reference: Annotated[
        str | None, typer.Option(help="Compare this method with each other one.")
    ] = None,
    higher_is_better: HigherIsBetter = False,
    lower_is_better: LowerIsBetter = False,
    at: Annotated[
        float | None, typer.Option(help="Point of the grid (k, p or K); else the mean over it.")
    ] = None,
    margin: Margin = 0.0,
    missing: Annotated[
        Literal["complete", "worst", "refuse"] | None,
        typer.Option(
            metavar="HOW",
            help=(
                "Missing scores: complete (the default), worst (the default where failures are"
                " told) or refuse."
            ),
            rich_help_panel=STATISTICS,
        ),
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(
            help=(
                "How differences are tested: wilcoxon, paired-t, sign or permutation; for items"
                " also mcnemar, "
                "mcnemar-mid-p, clustered-t or stratified-t; or module:name."
            ),
            rich_help_panel=STATISTICS,
        ),
    ] = None,
    correction: Annotated[
        str | None,
        typer.Option(
            help=(
                "holm, shaffer, bergmann, hochberg, hommel, bonferroni, benjamini-hochberg,"
                " nemenyi, bonferroni-dunn, "
                "or module:name."
            ),
            rich_help_panel=STATISTICS,
        ),
    ] = None,
    alpha: Annotated[
        float, typer.Option(help="Level of the whole family.", rich_help_panel=STATISTICS)
    ] = 0.05,
    zeros: Zeros = "wilcox",
    tolerance: Tolerance = 1e-9,
    test_train_ratio: Ratio = None,
    repeats: Repeats = None,
    differences: Annotated[
        Literal["plain", "log"] | None,
        typer.Option(
            metavar="HOW",
            help="Compare scores plain, or by their log ratios; by default log where units differ.",
            rich_help_panel=STATISTICS,
        ),
    ] = None,
    methods_in: Annotated[
        Literal["rows", "columns"] | None,
        typer.Option(
            metavar="WHERE",
            help="Where the methods of a wide table stand: rows or columns.",
            rich_help_panel=READING,
        ),
    ] = None,
    column: Columns = None,
    ignore: Ignored = None,
    bayes: Annotated[
        bool | None,
        typer.Option(
            "--bayes/--no-bayes",
            help="Bayesian probabilities of every pair.",
            rich_help_panel=STATISTICS,
        ),
    ] = None,
    seed: Draws = 0,
    as_json: AsJson = False,
    out: Annotated[
        Path | None,
        typer.Option(help="Write the page, the tables and the charts into this folder."),
    ] = None,
    formats: ChartFormats = "svg,pdf",
    plan: Annotated[
        bool,
        typer.Option(
            "--plan",
            help="Take the scores for a pilot: how many datasets, folds and seeds --margin needs.",
            rich_help_panel=STATISTICS,
        ),
    ] = False,
    per_sample: Annotated[
        bool | None,
        typer.Option(
            "--per-sample/--per-dataset",
            help=(
                "Compare on the test samples of a topk experiment, or on the items of a file with"
                " one row per item: "
                "paired, clustered, Holm over all. By default where there is one dataset, or a"
                " column such as question."
            ),
            rich_help_panel=STATISTICS,
        ),
    ] = None,
    weights: Annotated[
        Literal["equal", "size"],
        typer.Option(
            metavar="HOW",
            help="How the tasks of items count: equal, or by size, the number of their items.",
            rich_help_panel=STATISTICS,
        ),
    ] = "equal",
    as_format: Annotated[
        str | None,
        typer.Option(
            "--as",
            help="The format of the files, where their content does not tell it.",
            rich_help_panel=READING,
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(help="The column or field that names the method.", rich_help_panel=READING),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(
            help="The column or field that names the dataset or task.", rich_help_panel=READING
        ),
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(
            help="The column or field that names what is paired.", rich_help_panel=READING
        ),
    ] = None,
    value: Annotated[
        str | None,
        typer.Option(help="The column or field that holds the value.", rich_help_panel=READING),
    ] = None,
    row: RowOfLog = None,
    trust_ids: Annotated[
        bool,
        typer.Option(
            "--trust-ids",
            help="Pair items by their names even where their contents differ.",
            rich_help_panel=READING,
        ),
    ] = False,
    run_code: Annotated[
        bool,
        typer.Option(
            "--run-code",
            help="Allow a pickle to be read, which runs what stands in it.",
            rich_help_panel=READING,
        ),
    ] = False,
    truth: Annotated[
        Path | None,
        typer.Option(
            help=(
                "What is relevant to whom: compares top-K runs or lists (TREC, Elliot, ids, scores)"
                " user by user; "
                "--metric ndcg,recall@20, --at 10."
            ),
            rich_help_panel=READING,
        ),
    ] = None,
    display_map: Annotated[
        Path | None,
        typer.Option(
            help="JSON file: identifier to displayed name, for the tables of a results folder.",
            rich_help_panel=READING,
        ),
    ] = None,
) -> None:
    """Say which methods are better, where, and how sure that is."""
    others = {
        "margin": margin,
        "test": test,
        "correction": correction,
        "bayes": bayes,
        "test-train-ratio": test_train_ratio,
        "repeats": repeats,
        "differences": differences,
        "methods-in": methods_in,
        "plan": plan or None,
    }
    say_at_once(f"reading {', '.join(sources[:3])}{' ...' if len(sources) > 3 else ''}")
    from paragone.cli.elsewhere import read_elsewhere, what_elsewhere
    from paragone.cli.sources import chart_formats, column_roles, is_store, what_was_read
    from paragone.intake import Asked

    if truth is not None:
        from paragone.intake.top_lists import compare_top_lists

        for name in [name for name in _set(others) if name not in ("test", "correction")]:
            raise InputError(f"--{name} is not for top-K lists, which are compared user by user")
        compared = compare_top_lists(
            sources,
            truth,
            metric=metric,
            at=at,
            reference=reference,
            test=test,
            correction=correction,
            alpha=alpha,
        )
        show_comparison(
            compared, as_json=as_json, out=out, read=partial(what_was_read, *sources, str(truth))
        )
        return
    if (folder := results_folder(sources)) is not None:
        for name in [
            name for name in ("bayes", "differences", "methods-in", "plan") if others[name]
        ]:
            raise InputError(f"--{name} is not for a folder of the protocol's results")
        show_comparison(
            folder(
                sources[0],
                reference=reference,
                metric=metric,
                at=at,
                names=None if display_map is None else displayed_names(display_map),
                higher_is_better=_direction(higher_is_better, lower_is_better),
                margin=margin,
                missing=missing or "complete",
                test=test,
                correction=correction,
                alpha=alpha,
                zeros=zeros,
                tolerance=tolerance,
                test_train_ratio=test_train_ratio,
                repeats=repeats,
            ),
            as_json=as_json,
            out=out,
        )
        return
    if display_map is not None:
        raise InputError("--display-map is for a folder of the protocol's results")
    asked = Asked(method, dataset, unit, value, metric, run_code, row)
    higher = _direction(higher_is_better, lower_is_better)
    found = read_elsewhere(sources, as_format, asked, quiet=as_json)
    if found is not None and found.unit == "item" and per_sample is not False:
        _refuse_beside_items(others)
        result: Any = found.compare(
            metric,
            trust_ids=trust_ids,
            reference=reference,
            higher_is_better=higher,
            test=test,
            weights=weights,
            alpha=alpha,
        )
        drawn = chart_formats(formats)
        show_comparison(
            result, as_json=as_json, out=out, read=partial(what_elsewhere, found), formats=drawn
        )
        return
    scores = sources[0]
    in_store = found is None and is_store(scores)
    if in_store and (
        per_sample or (per_sample is None and not _set(others) and one_set_of_samples(scores))
    ):
        for name in _set(others):
            raise InputError(
                f"--{name} is for the comparison over datasets; it has no place beside --per-sample"
            )
        compare_test_samples(scores, metric, reference, at, alpha, higher, as_json, out)
        return
    import pandas as pd

    from paragone.cli.sources import import_from_here, open_scores
    from paragone.lab.results import Results
    from paragone.stats import compare as run
    from paragone.stats import compare_metrics
    from paragone.stats.items import compare_items, item_table

    import_from_here(metric, test, correction)
    source = open_scores(scores) if found is None else found
    read = partial(what_was_read, scores) if found is None else partial(what_elsewhere, found)
    if isinstance(source, pd.DataFrame) and per_sample is not False:
        items = item_table(source, columns=column_roles(column), ignore=ignore or ())
        if items is None and per_sample:
            raise InputError(
                f"{scores} has no column that names its items, such as question, user or item"
            )
        if items is not None:
            _refuse_beside_items(others)
            result = compare_items(
                items,
                metric=metric,
                reference=reference,
                higher_is_better=higher,
                test=test,
                weights=weights,
                alpha=alpha,
            )
            show_comparison(
                result, as_json=as_json, out=out, read=read, formats=chart_formats(formats)
            )
            return
    if isinstance(source, Results) and len(source.experiments()) == 1:
        test, correction = as_declared(source, test, correction)
        margin = margin or source.declared_comparison().margin or 0.0
    several = [name.strip() for name in metric.split(",")] if metric and "," in metric else None
    if found is not None and (several is None or metric in found.metrics):
        several, metric = None, found.choose_metric(metric)
        higher = found.metrics[metric] if higher is None else higher
    for name in _set({"plan": others["plan"]}) if several is not None else ():
        raise InputError(f"--{name} is for one metric: name one in --metric")
    runs: Callable[..., Any] = partial(run, source, metric=metric)
    if several is not None:
        runs = partial(compare_metrics, source, metrics=several)
    elif found is not None:
        runs = partial(found.compare, metric, per_dataset=True, trust_ids=trust_ids)
    result = runs(
        reference=reference,
        higher_is_better=higher,
        at=at,
        margin=margin,
        missing=missing if found is not None and several is None else missing or "complete",
        test=test,
        correction=correction,
        alpha=alpha,
        zeros=zeros,
        tolerance=tolerance,
        test_train_ratio=test_train_ratio,
        repeats=repeats,
        differences=differences,
        methods_in=methods_in,
        columns=column_roles(column),
        ignore=ignore or (),
        bayes=bayes,
        seed=seed,
    )
    if plan:
        show_plan(result.scores, margin, alpha, reference, seed, as_json)
        return
    show_comparison(result, as_json=as_json, out=out, read=read, formats=chart_formats(formats))


def _refuse_beside_items(options: Mapping[str, object]) -> None:
    """Refuse options that belong to a comparison over datasets where every row is an item."""
    for name in _set({name: value for name, value in options.items() if name != "test"}):
        raise InputError(
            f"--{name} is not for files with one row per item; --per-dataset reads rows as datasets"
        )


def results_folder(sources: Sequence[str]) -> Callable[..., Any] | None:
    """Return what compares a folder of results that a protocol's files make up; None for anything else."""
    if len(sources) > 1 or not Path(sources[0]).is_dir():
        return None
    from paragone.lab.protocol import exchanging_part

    part = exchanging_part("elsewhere")
    found: Callable[..., Any] | None = (
        part.compare_results_folder if part.is_results_folder(Path(sources[0])) else None
    )
    return found


def displayed_names(path: Path) -> dict[str, str]:
    """Read a display map."""
    from paragone.reporting import read_display_map

    return read_display_map(path)


def show_plan(
    pilot: ScoreTable, margin: float, alpha: float, reference: str | None, seed: int, as_json: bool
) -> None:
    """Print how large a study must be, from the scores of a pilot."""
    from paragone.cli.output import print_json, show_table
    from paragone.stats.plan import plan_study

    found = plan_study(pilot, margin=margin, alpha=alpha, reference=reference, seed=seed)
    if as_json:
        print_json(found.to_dict())
    else:
        show_table(found.table())


def as_declared(
    results: Results, test: str | None, correction: str | None
) -> tuple[str | None, str | None]:
    """Return test and correction as asked for or as the experiment declares, whose code is not imported unasked."""
    declared = results.declared_comparison()
    for name in declared.code_to_import():
        if (name == declared.test and test is None) or (
            name == declared.correction and correction is None
        ):
            option = "test" if name == declared.test else "correction"
            raise InputError(
                f"the experiment declares {name}, which is code: --{option} {name} imports it"
            )
    return test or declared.test, correction or declared.correction


def compare_test_samples(
    store: str,
    metric: str | None,
    reference: str | None,
    at: float | None,
    alpha: float,
    higher_is_better: bool | None,
    as_json: bool,
    out: Path | None,
) -> None:
    """Compare the methods of a store on the samples of its test sets."""
    from paragone.cli.sources import what_was_read
    from paragone.lab.results import Results
    from paragone.stats import compare_samples

    with Results.open(store) as results:
        samples = results.sample_scores(metric, None if at is None else int(at))
        warned = (*results.warned(), *results.seed_notes())
    result = compare_samples(
        samples, reference=reference, alpha=alpha, higher_is_better=higher_is_better
    )
    result = replace(result, warnings=(*warned, *result.warnings))
    show_comparison(result, as_json=as_json, out=out, read=partial(what_was_read, store))


def _direction(higher: bool, lower: bool) -> bool | None:
    from paragone.cli.sources import direction_flag

    return direction_flag(higher, lower)


def _set(options: Mapping[str, object]) -> list[str]:
    return [name for name, value in options.items() if value not in (None, 0.0)]


def one_set_of_samples(source: str) -> bool:
    """Say whether a source is a store of one experiment that is compared on test samples, for want of datasets."""
    from paragone.cli.sources import is_store
    from paragone.lab.results import Results
    from paragone.lab.view import View

    if not is_store(source) or not Path(source).is_file():
        return False
    with Results.open(source) as results:
        names = results.experiments()
        if len(names) != 1:
            return False
        view = View(results)
        return view.reader.compares_samples(view)
