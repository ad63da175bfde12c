"""`paragone generate ...`: datasets that tell methods apart, and the published procedure that made such sets."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from paragone.cli.app import MORE, CommandLine, app
from paragone.cli.options import AddressOption, AsJson, EngineOption, chosen_executor
from paragone.cli.output import print_json, show_table, write_frame
from paragone.errors import InputError, unknown_name
from paragone.terminal import say
from paragone.ties import loss_order

if TYPE_CHECKING:
    import pandas as pd

    from paragone.generate import Collection, DuelSettings, Inspection


generate = CommandLine(help="Make datasets that tell methods apart.", no_args_is_help=True)
app.add_typer(generate, name="generate", rich_help_panel=MORE)


WHICH = "digen, the name of a collection that comes with the package, or a collection file or folder."
FileFormat = Annotated[str, typer.Option("--format", help="csv or parquet.")]

KINDS = "Kinds of data"
DataTarget = Annotated[
    Literal["binary", "multiclass", "regression"],
    typer.Option("--target", help="binary, multiclass or regression.", rich_help_panel=KINDS),
]
DataClasses = Annotated[int, typer.Option("--classes", help="Classes of a multiclass target.", rich_help_panel=KINDS)]
DataShares = Annotated[
    str, typer.Option("--shares", help="Shares of these classes: 0.2,0.3,0.5.", rich_help_panel=KINDS)
]
DataPositive = Annotated[
    float | None,
    typer.Option("--positive", help="The share of class 1; about half without it.", rich_help_panel=KINDS),
]
DataNoise = Annotated[float, typer.Option("--noise", help="The share of labels drawn anew.", rich_help_panel=KINDS)]
DataCorrelation = Annotated[
    float, typer.Option("--correlation", help="Of every two columns, from 0 to below 1.", rich_help_panel=KINDS)
]
DataIrrelevant = Annotated[
    int, typer.Option("--irrelevant", help="Columns added that mean nothing.", min=0, rich_help_panel=KINDS)
]
DataRedundant = Annotated[
    int, typer.Option("--redundant", help="Columns added that follow from others.", min=0, rich_help_panel=KINDS)
]
DataCategorical = Annotated[
    str, typer.Option("--categorical", help="Columns shown as levels only: 0,4.", rich_help_panel=KINDS)
]
DataLevels = Annotated[int, typer.Option("--levels", help="Of every categorical column.", rich_help_panel=KINDS)]
DataNominal = Annotated[bool, typer.Option("--nominal", help="Shuffle the numbers of levels.", rich_help_panel=KINDS)]
DataMissing = Annotated[float, typer.Option("--missing", help="The share of entries left out.", rich_help_panel=KINDS)]
DataMissingBy = Annotated[
    Literal["chance", "value"],
    typer.Option("--missing-by", help="chance, or value: large ones more often.", rich_help_panel=KINDS),
]
DataDrift = Annotated[
    float,
    typer.Option("--drift", help="Shift of the test rows, in standard deviations.", rich_help_panel=KINDS),
]
DataGroupSize = Annotated[
    int, typer.Option("--group-size", help="Rows that belong together; 0 for none.", min=0, rich_help_panel=KINDS)
]
DataGroupShare = Annotated[
    float, typer.Option("--group-share", help="The part of the variance that a group shares.", rich_help_panel=KINDS)
]


def data_kinds(**given: Any) -> dict[str, Any]:
    """Return the kinds of data that options ask for, as a generator declares them; the defaults are left out."""
    from dataclasses import fields

    from paragone.generate import GeneratorSpec

    parts = _listed(given.pop("categorical"))
    wrong = [part for part in parts if not part.isdigit()]
    if wrong:
        raise InputError(f"--categorical takes numbers of columns with commas between, not {wrong[0]!r}")
    try:
        shares = tuple(float(part) for part in _listed(given.pop("shares")))
    except ValueError as error:
        raise InputError("--shares takes numbers with commas between, such as 0.2,0.3,0.5") from error
    kinds = {
        **given,
        "categorical": tuple(map(int, parts)),
        "shares": shares,
        "n_classes": given["classes"],
    }
    defaults = {item.name: item.default for item in fields(GeneratorSpec)}
    return {name: value for name, value in kinds.items() if name in defaults and value != defaults[name]}


@generate.command("sample")
def draw_sample(
    formula: Annotated[str, typer.Argument(help="Over X0, X1, ...: 'mul(X0, X1)'.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", help="The folder to write to.", show_default=False)],
    rows: Annotated[int, typer.Option(help="Rows.", min=1)] = 1000,
    test_rows: Annotated[int, typer.Option(help="Rows of a test part, in a file of its own.", min=0)] = 0,
    seed: Annotated[int, typer.Option(help="The same seed gives the same rows.", min=0)] = 0,
    name: Annotated[str, typer.Option(help="What the dataset and its file are called.")] = "sample",
    features: Annotated[int, typer.Option(help="Columns the formula may use.", min=1)] = 10,
    target: DataTarget = "binary",
    classes: DataClasses = 3,
    shares: DataShares = "",
    positive: DataPositive = None,
    noise: DataNoise = 0,
    correlation: DataCorrelation = 0,
    irrelevant: DataIrrelevant = 0,
    redundant: DataRedundant = 0,
    categorical: DataCategorical = "",
    levels: DataLevels = 4,
    nominal: DataNominal = False,
    missing: DataMissing = 0,
    missing_by: DataMissingBy = "chance",
    drift: DataDrift = 0,
    group_size: DataGroupSize = 0,
    group_share: DataGroupShare = 0.5,
    file_format: FileFormat = "csv",
) -> None:
    """Draw fresh rows of a formula and write them with a manifest, and say what is true of them.

    Example: paragone generate sample "mul(X0, X1)" --rows 5000 --noise 0.1 --irrelevant 20 --out product
    """
    from paragone.generate import GeneratorSpec, truth_sheet, write_sets
    from paragone.generate.manifests import described_sample

    if Path(name).name != name:
        raise InputError(f"--name {name!r} is to be a file name: leave out folders")
    spec = GeneratorSpec(
        formula,
        features,
        **data_kinds(
            target=target,
            classes=classes,
            shares=shares,
            positive=positive,
            noise=noise,
            correlation=correlation,
            irrelevant=irrelevant,
            redundant=redundant,
            categorical=categorical,
            levels=levels,
            nominal=nominal,
            missing=missing,
            missing_by=missing_by,
            drift=drift,
            group_size=group_size,
            group_share=group_share,
        ),
    )
    dataset = spec.sample(rows, seed, name=name)
    made = [(dataset, described_sample(dataset, spec, seed))]
    if test_rows:
        fresh = spec.sample(test_rows, seed, name=f"{name}-test", part="test")
        made.append((fresh, described_sample(fresh, spec, seed, "test")))
    written = write_sets(made, out, name, file_format)
    for path, (table, _) in zip(written, made, strict=False):
        say(f"{table.n_samples} rows of {table.n_features} features in {path}, described in {written[-1].name}")
    sheet = truth_sheet(spec)
    for sentence in sheet.sentences():
        say(sentence)
    show_table(sheet.table(), title="How much the features matter", decimals=3)


ScoreStore = Annotated[Path, typer.Option("--store", help="Where scores are kept; the same command goes on with it.")]
Workers = Annotated[int, typer.Option("--workers", help="Worker processes, 0 for none.", min=0)]
Preset = Annotated[str | None, typer.Option("--preset", help="digen_v1: tune on hard labels, leave the SVC unbounded.")]
Limit = Annotated[float | None, typer.Option("--seconds", help="Time limit of a cell; needs workers.")]


@generate.command("stage1")
def run_stage1(
    up: Annotated[str, typer.Argument(help="The method that is to win: name or letter.")],
    down: Annotated[str, typer.Argument(help="The method that is to lose.")],
    seed: Annotated[int, typer.Option("--seed", help="Of rows, folds, tuning and search.")],
    store: ScoreStore = Path("duel.sqlite"),
    workers: Workers = 0,
    population: Annotated[int, typer.Option(help="Formulas per generation.", min=2)] = 100,
    generations: Annotated[int, typer.Option(help="How many generations.", min=1)] = 40,
    trials: Annotated[int, typer.Option(help="Trials of the tuning.", min=1)] = 10,
    methods: Annotated[str, typer.Option(help="Letters of the methods that take part.")] = "RKDSFGXL",
    preset: Preset = None,
    seconds: Limit = None,
    out: Annotated[Path | None, typer.Option(help="Write the survivors to a .csv or .parquet.")] = None,
) -> None:
    """Stage 1 of the published procedure: evolve formulas on which one method beats another.

    Example: paragone generate stage1 K R --seed 5 --population 20 --generations 4
    """
    from dataclasses import replace

    from paragone.generate import Duel, Laboratory

    settings = replace(
        _settings(preset), population=population, generations=generations, trials=trials, methods=tuple(methods)
    )
    with Laboratory(store, workers, seconds_limit=seconds) as laboratory:
        outcome = Duel(up, down, seed, laboratory, settings).run(
            lambda generation, lead: say(f"generation {generation}: best lead {lead:.4f}", stderr=True)
        )
    table = outcome.table()
    if out is not None:
        write_frame(table, out)
    show_table(table.head(10), title=f"{outcome.up} over {outcome.down}")
    say(f"{outcome.seen} seen, {outcome.rejected} rejected, {outcome.pruned} pruned, {outcome.scored} scored")


@generate.command("duel", hidden=True)
def run_stage1_by_its_former_name(
    up: Annotated[str, typer.Argument(help="The method that is to win: name or letter.")],
    down: Annotated[str, typer.Argument(help="The method that is to lose.")],
    seed: Annotated[int, typer.Option("--seed", help="Of rows, folds, tuning and search.")],
    store: ScoreStore = Path("duel.sqlite"),
    workers: Workers = 0,
    population: Annotated[int, typer.Option(help="Formulas per generation.", min=2)] = 100,
    generations: Annotated[int, typer.Option(help="How many generations.", min=1)] = 40,
    trials: Annotated[int, typer.Option(help="Trials of the tuning.", min=1)] = 10,
    methods: Annotated[str, typer.Option(help="Letters of the methods that take part.")] = "RKDSFGXL",
    preset: Preset = None,
    seconds: Limit = None,
    out: Annotated[Path | None, typer.Option(help="Write the survivors to a .csv or .parquet.")] = None,
) -> None:
    """Stage 1 of the published procedure, by its former name.

    Example: paragone generate stage1 K R --seed 5
    """
    say(
        "`generate duel` is now `generate stage1`, the published search of eight methods; "
        "`paragone duel A B` finds and proves datasets for any two methods",
        stderr=True,
    )
    run_stage1(up, down, seed, store, workers, population, generations, trials, methods, preset, seconds, out)


@generate.command("stage2")
def run_stage2(
    formulas: Annotated[Path, typer.Argument(help="A CSV with the columns formula and seed.")],
    out: Annotated[Path, typer.Option("--out", help="A .csv or .parquet.", show_default=False)],
    store: ScoreStore = Path("stage2.sqlite"),
    workers: Workers = 0,
    trials: Annotated[int, typer.Option(help="Trials of the tuning.", min=1)] = 200,
    methods: Annotated[str, typer.Option(help="Letters of the methods.")] = "RKDSFGXL",
    preset: Preset = None,
    seconds: Limit = None,
) -> None:
    """Stage 2 of the published procedure: tune every method on every formula's dataset.

    Example: paragone generate stage2 best.csv --out tuned.csv --workers 2
    """
    from dataclasses import replace

    from paragone.generate import Laboratory, stage2

    settings = replace(_settings(preset), methods=tuple(methods))
    with Laboratory(store, workers, seconds_limit=seconds) as laboratory:
        pairs = _read_formulas(formulas, ("formula", "seed"))
        table = stage2([(str(f), int(s)) for f, s in pairs], laboratory, settings, trials=trials)
        _conclude(table, out, laboratory)


@generate.command("stage3")
def run_stage3(
    formulas: Annotated[Path, typer.Argument(help="A CSV with the column formula.")],
    out: Annotated[Path, typer.Option("--out", help="A .csv or .parquet.", show_default=False)],
    store: ScoreStore = Path("stage3.sqlite"),
    workers: Workers = 0,
    trials: Annotated[int, typer.Option(help="Trials of the tuning.", min=1)] = 100,
    seeds: Annotated[int, typer.Option(help="How many new seeds.", min=1)] = 100,
    first_seed: Annotated[int, typer.Option(help="The first of them.", min=0)] = 1,
    methods: Annotated[str, typer.Option(help="Letters of the methods.")] = "RKDSFGXL",
    preset: Preset = None,
    seconds: Limit = None,
) -> None:
    """Stage 3 of the published procedure: score formulas on datasets of new seeds.

    Example: paragone generate stage3 best.csv --out seeds.csv --seeds 10 --trials 20
    """
    from dataclasses import replace

    from paragone.generate import Laboratory, stage3

    settings = replace(_settings(preset), methods=tuple(methods))
    with Laboratory(store, workers, seconds_limit=seconds) as laboratory:
        texts = list(dict.fromkeys(str(f) for (f,) in _read_formulas(formulas, ("formula",))))
        options: dict[str, Any] = {"first_seed": first_seed, "n_seeds": seeds, "trials": trials}
        _conclude(stage3(texts, laboratory, settings, **options), out, laboratory)


@generate.command("measure-digen")
def measure_published(
    out: Annotated[Path, typer.Option("--out", help="The collection file (JSON).", show_default=False)],
    store: ScoreStore = Path("digen.sqlite"),
    workers: Workers = 0,
    sets: Annotated[str, typer.Option(help="Some datasets, with commas between.")] = "",
    methods: Annotated[str, typer.Option(help="Letters of the methods.")] = "RKDSFGXL",
    seeds: Annotated[int, typer.Option(help="Samples per formula.", min=2)] = 10,
    rows: Annotated[int, typer.Option(help="Fresh rows per sample.", min=50)] = 20_000,
) -> None:
    """Measure the DIGEN formulas on fresh samples, with intervals, as evolved ones are measured.

    Example: paragone generate measure-digen --out digen.json --workers 2
    """
    from paragone.generate import Laboratory, measure_digen
    from paragone.generate.methods import reference_method

    if not out.parent.is_dir():
        raise InputError(f"--out {out}: the folder {out.parent} does not exist")
    contenders = [reference_method(letter) for letter in methods]
    with Laboratory(store, workers) as laboratory:
        found = measure_digen(
            laboratory,
            sets=_listed(sets),
            methods=contenders,
            n_fresh=rows,
            n_seeds=seeds,
            tell=lambda said: say(said, stderr=True),
        )
    found.write(out)
    n_pairs = len(contenders) * (len(contenders) - 1)
    say(f"{len(found.covered())} of {n_pairs} ordered pairs proven by {found.margin:g} on {len(found.sets)} formulas")
    _warn_of_failures(laboratory.n_failed, store)


def _settings(preset: str | None) -> DuelSettings:
    from paragone.generate import DuelSettings

    if preset not in (None, "digen_v1"):
        raise unknown_name("preset", str(preset), ["digen_v1"])
    return DuelSettings.digen_v1() if preset else DuelSettings()


def _read_formulas(path: Path, columns: tuple[str, ...]) -> list[tuple[Any, ...]]:
    import pandas as pd

    try:
        table = pd.read_csv(path)
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read as CSV: {error}") from error
    for column in columns:
        if column not in table.columns:
            raise InputError(f"{path} has no column {column!r}; it has {', '.join(map(str, table.columns))}")
    return list(table[list(columns)].itertuples(index=False, name=None))


def _conclude(table: Any, out: Path, laboratory: Any) -> None:
    write_frame(table, out)
    say(f"{len(table)} rows in {out}")
    _warn_of_failures(laboratory.n_failed, laboratory.store)


def _warn_of_failures(n_failed: int, store: Path) -> None:
    if n_failed:
        say(f"{n_failed} cells failed: paragone status {store} says why", stderr=True)


def _listed(text: str) -> list[str]:
    """Return what stands between commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


def _refuse_file(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise InputError(f"--out {out} is a file: give a folder")


@generate.command("digen")
def digen(
    out: Annotated[Path, typer.Option("--out", help="The folder to write to.", show_default=False)],
    file_format: FileFormat = "csv",
) -> None:
    """Make the 40 datasets of the DIGEN collection from formulas and seeds, hashes checked.

    Example: paragone generate digen --out digen
    """
    from paragone.generate import write_digen

    written = write_digen(out, file_format)
    say(f"{len(written) - 1} datasets and {written[-1].name} in {out}: all hashes as published")


@generate.command("write")
def write_collection(
    collection: Annotated[str, typer.Argument(help=WHICH)],
    out: Annotated[Path, typer.Option("--out", help="The folder to write to.", show_default=False)],
    variant: Annotated[
        str | None, typer.Option(help="small, balanced, imbalanced or noisy: this variant of every dataset.")
    ] = None,
    file_format: FileFormat = "csv",
) -> None:
    """Write the datasets of a collection as tables with a manifest, hashes checked.

    Example: paragone generate write paragone-v1 --out sets --format parquet
    """
    from paragone.generate import write_digen

    found = _collection(collection)
    if found is None:
        if variant is not None:
            raise InputError("--variant is for evolved collections: the DIGEN sets are written as they were published")
        written = write_digen(out, file_format)
    else:
        written = found.write_data(out, file_format, variant)
    say(f"{len(written) - 1} datasets and {written[-1].name} in {out}")
    if variant is not None:
        say("nothing is claimed of a variant unless it was put to proof: paragone generate prove")


@generate.command("prove")
def prove_collection_variants(
    collection: Annotated[str, typer.Argument(help="A collection that was proven under tuning.", show_default=False)],
    variant: Annotated[
        list[str], typer.Option(help="small, balanced, imbalanced or noisy; may be repeated.", show_default=False)
    ],
    out: Annotated[Path, typer.Option("--out", help="The collection with these proofs (JSON).", show_default=False)],
    spec: Annotated[
        Path | None, typer.Option(help="The spec (TOML) of its search, for methods other than the references.")
    ] = None,
    hours: Annotated[float | None, typer.Option(help="Begin nothing new after this time.")] = None,
    store: Annotated[Path | None, typer.Option(help="Where scores are kept; OUT with .sqlite.")] = None,
    workers: Workers = 0,
    engine: EngineOption = "local",
    address: AddressOption = None,
) -> None:
    """Put the claims of a collection to proof on variants of its datasets; goes on where it was stopped.

    Example: paragone generate prove small/collection.json --variant noisy --spec small.toml --out small/noisy.json
    """
    import time

    from paragone.generate import EvolveSpec, Laboratory, prove_variants
    from paragone.generate.claims import variant_table

    _import_from_here()
    found = _collection(collection)
    if found is None:
        raise InputError("DIGEN claims nothing: give a collection that was proven under tuning")
    if not out.parent.is_dir():
        raise InputError(f"--out {out}: the folder {out.parent} does not exist")
    begun = time.monotonic()
    kept = store or out.with_suffix(".sqlite")
    with (
        chosen_executor(engine, address, workers) as executor,
        Laboratory(kept, workers, executor=executor) as laboratory,
    ):
        proven = prove_variants(
            found,
            laboratory,
            variant,
            methods=EvolveSpec.read(spec).contenders() if spec else (),
            tell=lambda said: say(said, stderr=True),
            over=lambda: hours is not None and time.monotonic() - begun > hours * 3600,
        )
    proven.write(out)
    table = variant_table(proven.variants)
    n_asked = sum(len(item.proven(found.margin)) for item in found.sets)
    for name in dict.fromkeys(variant):
        held = table.loc[table["variant"] == name, "holds"]
        say(f"{name}: {int(held.sum())} of {n_asked} claims hold, {n_asked - len(held)} were not put to proof")
    say(f"collection: {out}")
    _warn_of_failures(laboratory.n_failed, kept)


@generate.command("inspect")
def inspect_collection(
    collection: Annotated[str, typer.Argument(help=WHICH)],
    margin: Annotated[float, typer.Option(help="By how much AUROC must differ to tell two methods apart.")] = 0.05,
    out: Annotated[Path | None, typer.Option(help="Write a page, tables and charts here.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say what a collection really holds: concepts, label noise, Bayes ceilings, proven pairs.

    Example: paragone generate inspect digen
    """
    from paragone.generate import inspect_digen, write_collection_page

    found = _collection(collection)
    inspection = inspect_digen(margin) if found is None else found.inspect()
    if out is not None:
        page = write_collection_page(inspection, out, found, *_around(collection), source=collection)
        say(f"page: {page}", stderr=True)
    tried = () if found is None else found.open
    if as_json:
        print_json({**inspection.as_dict(), "tried": [pair.as_dict() for pair in tried]})
        return
    _show(inspection, {(pair.up, pair.down): str(pair) for pair in tried})


@generate.command("evolve")
def evolve_collection(
    spec: Annotated[Path, typer.Argument(help="The spec (TOML): name, seed, sizes, methods.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", help="The folder for the collection.", show_default=False)],
    strategy: Annotated[
        Literal["map-elites", "nsga3"] | None, typer.Option(help="map-elites or nsga3, in place of the spec's.")
    ] = None,
    hours: Annotated[float | None, typer.Option(help="Begin nothing new after this time.")] = None,
    store: Annotated[Path | None, typer.Option(help="Where scores are kept; the spec's name with .sqlite.")] = None,
    workers: Workers = 0,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Run failed cells again.")] = False,
    against: Annotated[str | None, typer.Option(help="A class of yours: find where it loses and wins.")] = None,
    goal: Annotated[str, typer.Option(help="What --against is to do: loses, wins or both.")] = "both",
    file_format: FileFormat = "csv",
    conclude: Annotated[
        bool, typer.Option("--conclude", help="Begin nothing new: write what the store has, as far as it was proven.")
    ] = False,
    taken_up: Annotated[
        Path | None,
        typer.Option("--from", help="Search nothing: go on with the proofs of this folder, with the fits it has."),
    ] = None,
    engine: EngineOption = "local",
    address: AddressOption = None,
) -> None:
    """Evolve a collection of datasets that tell the spec's methods apart, with evidence.

    Example: paragone generate evolve examples/evolve-small.toml --out small --workers 2 --hours 1
    """
    from dataclasses import replace

    from paragone.generate import EvolveSpec, evolve

    _import_from_here()
    declared = EvolveSpec.read(spec)
    if strategy is not None:
        declared = replace(declared, strategy=strategy)
    focus = None
    if against is not None:
        declared, focus = declared.against(against), against.rpartition(":")[2]
    _refuse_file(out)
    path = store or spec.with_suffix(".sqlite")
    with chosen_executor(engine, address, workers) as executor:
        evolved = evolve(
            declared,
            path,
            workers,
            executor=executor,
            hours=hours,
            focus=focus,
            goal=goal,
            retry_failed=retry_failed,
            conclude=conclude,
            taken_up=taken_up,
            tell=lambda said: say(said, stderr=True),
        )
    evolved.write(out, file_format)
    collection = evolved.collection
    concepts = len({item.concept for item in collection.sets})
    say(f"{len(collection.sets)} datasets of {concepts} concepts in {out}: {out / 'report.html'}")
    if evolved.curve:
        last = evolved.curve[-1]
        say(f"{last.proven} of {last.pairs} ordered pairs proven by {declared.margin:g}")
    else:
        say("the hours were over before the first generation: give more and start again")
    _warn_of_failures(evolved.n_failed, path)


Space = Annotated[
    Path | None, typer.Option(help="The search space (TOML); the usual ranges of a known class without one.")
]
Trials = Annotated[
    int | None,
    typer.Option(help="Tune all methods anew with so many trials; without it the budget that the others had.", min=1),
]
BenchmarkStore = Annotated[Path | None, typer.Option(help="Where scores are kept; OUT/benchmark.sqlite.")]
Formats = Annotated[str, typer.Option(help="Chart formats beside SVG: pdf, png, html.")]


@generate.command("report")
def report_method(
    method: Annotated[str, typer.Argument(help="A short name, module:Class, or FILE.py:Name.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", help="The folder for the page.", show_default=False)],
    collection: Annotated[
        list[str] | None, typer.Option(help="A collection; may be repeated. By default digen and all that are shipped.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="What to call it; its class by default.")] = None,
    space: Space = None,
    trials: Trials = None,
    sets: Annotated[str, typer.Option(help="Some datasets, with commas between.")] = "",
    store: BenchmarkStore = None,
    workers: Workers = 0,
    formats: Formats = "",
    engine: EngineOption = "local",
    address: AddressOption = None,
) -> None:
    """Diagnose a method on the collections: where it wins and fails, by families, and which method it is like.

    Example: paragone generate report mymethod.py:Poly --out poly --workers 2
    """
    from paragone.charts import check_formats
    from paragone.data.evolved import collections
    from paragone.generate import Laboratory, benchmark_method, write_benchmark
    from paragone.generate.diagnosis import diagnose
    from paragone.generate.methods import read_space
    from paragone.generate.opponents import opponent

    wanted = check_formats(_listed(formats))
    declared = opponent(method, name=name, space=read_space(space) if space else None)
    chosen = [(where, _collection(where)) for where in collection or ["digen", *collections()]]
    _refuse_file(out)
    out.mkdir(parents=True, exist_ok=True)
    asked = _asked_sets(_listed(sets), chosen)
    results = []
    with (
        chosen_executor(engine, address, workers) as executor,
        Laboratory(store or out / "benchmark.sqlite", workers, executor=executor) as laboratory,
    ):
        for where, found in chosen:
            if sets and not asked[where]:
                continue
            results.append(
                benchmark_method(
                    declared,
                    laboratory,
                    found,
                    sets=asked[where],
                    trials=trials,
                    tell=lambda said: say(said, stderr=True),
                )
            )
    page = write_benchmark(results, out, wanted)
    for result in results:
        means = result.table().mean()
        means = means.iloc[loss_order(-means, size=1.0)]
        show_table(means.rename_axis("method").reset_index(name="mean AUROC"), title=f"{result.collection}")
        for note in result.notes:
            say(f"note: {note}", stderr=True)
    for said in diagnose(results).sentences():
        say(said)
    say(f"page: {page}")


def _asked_sets(names: list[str], chosen: list[tuple[str, Collection | None]]) -> dict[str, list[str]]:
    """Return which of the named datasets every collection has; one that none has is refused."""
    from paragone.data.digen import find

    found: dict[str, list[str]] = {where: [] for where, _ in chosen}
    for name in names:
        homes = [where for where, held in chosen if held is not None and name in {one.name for one in held.sets}]
        if not homes and any(held is None for _, held in chosen):
            # DIGEN knows short names, and refuses what it does not know.
            homes = ["digen"] if find(name) else []
        if not homes:
            known = [item.name for _, held in chosen if held is not None for item in held.sets]
            raise unknown_name("dataset", name, known)
        for home in homes:
            found[home].append(name)
    return found


@generate.command("benchmark-method", hidden=True)
def benchmark(
    use: Annotated[str, typer.Argument(help="The classifier as module:Class.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", help="The folder for the page.", show_default=False)],
    collection: Annotated[str, typer.Option(help=WHICH)] = "digen",
    name: Annotated[str | None, typer.Option(help="What to call it; its class by default.")] = None,
    space: Space = None,
    trials: Trials = None,
    sets: Annotated[str, typer.Option(help="Some datasets, with commas between.")] = "",
    store: BenchmarkStore = None,
    workers: Workers = 0,
    formats: Formats = "",
    engine: EngineOption = "local",
    address: AddressOption = None,
) -> None:
    """Put a method on one collection: the former name of `generate report --collection NAME`.

    Example: paragone generate report sklearn.neural_network:MLPClassifier --out mlp --sets digen8,digen10
    """
    report_method(use, out, [collection], name, space, trials, sets, store, workers, formats, engine, address)


def _import_from_here() -> None:
    """Let classes in the current folder be named; worker processes start with the same path."""
    import sys

    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))


def _collection(reference: str) -> Collection | None:
    """Return the collection of a name, a file or a folder; None stands for DIGEN."""
    from paragone.data.evolved import collections
    from paragone.generate import Collection

    if reference == "digen":
        return None
    if reference in collections():
        return Collection.named(reference)
    path = Path(reference)
    if not reference.endswith(".json") and not path.exists():
        raise unknown_name("collection", reference, ["digen", *collections(), "FILE.json"])
    return Collection.read(path / "collection.json" if path.is_dir() else path)


def _around(reference: str) -> tuple[pd.DataFrame | None, Collection | None]:
    """Return the search's curve of a collection, and what is shown beside it, where they are known."""
    import pandas as pd

    from paragone.data.evolved import collections
    from paragone.generate.shipped import CURVE, digen_measured, search_curve

    if reference in collections():
        return search_curve(reference), digen_measured()
    curve = Path(reference) / CURVE
    return (pd.read_csv(curve) if curve.is_file() else None), None


def _show(inspection: Inspection, tried: Mapping[tuple[str, str], str]) -> None:
    show_table(
        inspection.sets.drop(columns=["formula", "active", "key"]), title=f"Datasets of {inspection.name}", decimals=3
    )
    counts = inspection.coverage.reset_index(names="beats by the margin")
    show_table(counts, title=f"Datasets on which the row beats the column by {inspection.margin:g}")
    for winner, loser in inspection.open_pairs:
        say(f"open: {tried.get((winner, loser), f'{winner} over {loser}')}")
    for finding in inspection.findings():
        say(finding)
