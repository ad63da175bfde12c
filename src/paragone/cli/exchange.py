"""`paragone export` and `paragone import`: results for other programs, rankings made elsewhere, and archives."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from paragone.cli.app import KEEP, app
from paragone.cli.options import AsJson, ExperimentName, NewFolder, StoreFile
from paragone.cli.output import print_json, show_table
from paragone.terminal import say

if TYPE_CHECKING:
    from paragone.intake import Asked


@app.command(rich_help_panel=KEEP)
def export(
    store: StoreFile,
    out: NewFolder,
    experiment: ExperimentName = None,
    as_json: AsJson = False,
) -> None:
    """Write rankings, times and curves as the files of the original protocol.

    METHOD/DATASET_foldI_ranking.csv, _time.txt (wall), _cpu_time.txt, _kgrid_ and
    _pgrid_metrics.json.

    Example: paragone export first.sqlite --out first-files
    """
    from paragone.lab.protocol import exchange
    from paragone.lab.results import Results
    from paragone.lab.view import View

    with Results.open(store) as results:
        exported = exchange(View(results, experiment).kind, "exports")(results, out, experiment)
    if as_json:
        print_json(
            {
                "folder": str(exported.folder),
                "written": exported.written,
                "left_out": exported.left_out,
            }
        )
    else:
        say(str(exported))


@app.command("import", rich_help_panel=KEEP)
def import_run(
    sources: Annotated[
        list[str],
        typer.Argument(
            help=(
                "Files and folders of results that other programs wrote, where NAME=PATH names a"
                " method; or a folder "
                "with METHOD/DATASET_foldI_ranking.csv, 1-based; or an archive."
            ),
            show_default=False,
        ),
    ],
    store: Annotated[
        Path, typer.Option(help="Where results go; for an archive a new file.", show_default=False)
    ],
    data: Annotated[
        list[str] | None,
        typer.Option(
            help="A dataset, stored folds, a folder of those, or NAME=DATASET; repeat for several.",
            show_default=False,
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(help="The experiment's name; that of the first file or folder by default."),
    ] = None,
    as_format: Annotated[
        str | None,
        typer.Option("--as", help="The format of the files, where their content does not tell it."),
    ] = None,
    method: Annotated[
        str | None, typer.Option(help="The column or field that names the method.")
    ] = None,
    dataset: Annotated[
        str | None, typer.Option(help="The column or field that names the dataset or task.")
    ] = None,
    unit: Annotated[
        str | None, typer.Option(help="The column or field that names what is paired.")
    ] = None,
    value: Annotated[
        str | None, typer.Option(help="The column or field that holds the value.")
    ] = None,
    metric: Annotated[
        str | None, typer.Option(help="What the values of a table are that does not say it.")
    ] = None,
    k: Annotated[
        str | None, typer.Option(help="The k-grid, MIN:MAX:STEP; 10:300:10 where no grid is given.")
    ] = None,
    p: Annotated[
        str | None, typer.Option(help="The p-grid, MIN:MAX:STEP, such as 0.05:0.5:0.05.")
    ] = None,
    p_target: Annotated[float, typer.Option(help="The share that tables show.")] = 0.2,
    metrics: Annotated[str | None, typer.Option(help="Metrics with commas between.")] = None,
    evaluator: Annotated[
        str, typer.Option(help="Who predicts: mlknn, logistic, linear-svc, ...")
    ] = "mlknn",
    zero_division: Annotated[
        str, typer.Option(help="Macro F1 of an absent label: 0, 1 or skip.")
    ] = "0",
    mode: Annotated[
        str, typer.Option(help="The split of data without stored folds: kfold or holdout.")
    ] = "kfold",
    folds: Annotated[int | None, typer.Option(help="Its number of folds.")] = None,
    test_size: Annotated[
        float, typer.Option(help="Share of the rows that holdout tests on.")
    ] = 0.2,
    seed: Annotated[int | None, typer.Option(help="Its seed.")] = None,
    scale: Annotated[
        Literal["minmax", "zscore", "none"] | None,
        typer.Option(help="minmax, zscore or none; stored folds are taken as they are by default."),
    ] = None,
    allow_missing: Annotated[
        bool, typer.Option("--allow-missing", help="Let a method lack folds: those cells fail.")
    ] = False,
    workers: Annotated[
        int | None, typer.Option(help="Worker processes; one per core by default.", min=0)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Keep results of other programs in a store; evaluate rankings made elsewhere; or make an archive a store again.

    Results are kept as they are, each with its file, SHA-256 and format; those of an experiment
    that is there already are added to it. With --data the folder holds rankings, which are
    evaluated like those of any method.

    A folder with a manifest.json is an archive, as `paragone store archive` writes it:
    every hash is checked, and no option but --store applies.

    Example: paragone import llama.jsonl mistral.jsonl --store models.sqlite

    Example: paragone import run --data folds --store all.sqlite --p 0.05:0.5:0.05

    Example: paragone import first-archive --store first.sqlite
    """
    from paragone.cli.run import conclude, run_with_progress
    from paragone.data import SplitPlan
    from paragone.errors import InputError
    from paragone.lab.archive import is_archive
    from paragone.lab.protocol import default_kind, exchange

    run = Path(sources[0])
    if len(sources) == 1 and is_archive(run):
        import_whole(run, store, data, as_json=as_json)
        return
    named = as_format or method or dataset or unit or value or metric
    if not data and (len(sources) > 1 or named or not holds_rankings(run)):
        from paragone.intake import Asked

        import_results(
            sources,
            store,
            name,
            as_format,
            Asked(method, dataset, unit, value, metric),
            as_json=as_json,
        )
        return
    if not data:
        raise InputError("say which data the rankings are of with --data")
    for other in sources[1:]:
        raise InputError(
            f"rankings are imported folder by folder: leave {other} out, or leave --data out"
        )
    plan = SplitPlan(kind=mode, folds=folds, test_size=test_size, scale=scale)
    options = {"k": k, "p": p, "p_target": p_target, "metrics": metrics, "evaluator": evaluator}
    options |= {"zero_division": zero_division}
    imported = exchange(default_kind(), "imports")(
        run, data, plan, options, name=name, seed=seed, allow_missing=allow_missing
    )
    for note in imported.notes:
        say(f"note: {note}", stderr=True)
    conclude(
        run_with_progress(imported.experiment, store, workers),
        imported.experiment.name,
        as_json=as_json,
    )


def holds_rankings(folder: Path) -> bool:
    """Say whether a folder has files of rankings, as `paragone export` writes them."""
    return folder.is_dir() and next(folder.glob("*/*_ranking.csv"), None) is not None


def import_results(
    sources: list[str],
    store: Path,
    name: str | None,
    as_format: str | None,
    asked: Asked,
    *,
    as_json: bool,
) -> None:
    """Read what other programs wrote, keep it in a store, and say what is there."""
    from dataclasses import asdict

    from paragone.cli.sources import import_from_here
    from paragone.intake import read_results
    from paragone.lab.protocol import exchange, given_kind

    import_from_here(as_format)
    found = read_results(*sources, reader=as_format, asked=asked)
    if not as_json:
        show_table(found.table(), title="Read")
        say("")
    first = found.parts[0].source
    called = name or (first.given or first.path).resolve().name.partition(".")[0]
    kept = exchange(given_kind(), "imports")(found, store, called)
    if as_json:
        print_json({**asdict(kept), "store": str(kept.store)})
        return
    for note in kept.notes:
        say(f"note: {note}", stderr=True)
    say(str(kept))


def import_whole(folder: Path, store: Path, data: list[str] | None, *, as_json: bool) -> None:
    """Make a store of an archive and say what is in it."""
    from paragone.errors import InputError
    from paragone.lab.archive import import_archive

    if data:
        raise InputError(
            f"{folder} is an archive and brings its data's results along: leave --data out"
        )
    archive = import_archive(folder, store)
    if as_json:
        print_json({"store": str(archive.place), "rows": dict(archive.rows)})
    else:
        say(str(archive))
