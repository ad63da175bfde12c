"""`paragone data ...`: which datasets there are, what one looks like, and its folds as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from paragone.cli.app import MORE, CommandLine, app
from paragone.cli.options import AsJson
from paragone.cli.output import print_json, write_line
from paragone.terminal import console, printable

if TYPE_CHECKING:
    from paragone.data import DatasetDescription

_NAMES_SHOWN = 12


Labels = Annotated[
    str | None,
    typer.Option(
        "--labels",
        help="ARFF without XML: label names with commas between, or their number (-6: the last).",
    ),
]


data = CommandLine(
    help="List and describe datasets, and write their folds to files.", no_args_is_help=True
)
app.add_typer(data, name="data", rich_help_panel=MORE)


@data.command("list")
def list_sets(as_json: AsJson = False) -> None:
    """List the datasets that come with Paragone and need no network.

    Example: paragone data list --json
    """
    from paragone.data import bundled_sets

    entries = bundled_sets()
    if as_json:
        print_json([{"name": entry.name, "summary": entry.summary} for entry in entries])
        return
    _print_pairs("Bundled datasets", [(entry.name, entry.summary) for entry in entries])


@data.command("describe")
def describe_set(
    name_or_path: Annotated[
        str,
        typer.Argument(
            help="A bundled name, a file, a folder, or openml:NAME.", metavar="NAME_OR_PATH"
        ),
    ],
    target: Annotated[
        list[str] | None,
        typer.Option("--target", help="A target column of a table; repeat for several."),
    ] = None,
    task: Annotated[
        Literal["multilabel", "classification", "regression"] | None,
        typer.Option("--task", help="multilabel, classification or regression."),
    ] = None,
    groups: Annotated[
        str | None, typer.Option("--groups", help="The column that names the group.")
    ] = None,
    labels: Labels = None,
    nominal: Annotated[
        Literal["onehot", "ordinal"] | None, typer.Option("--nominal", help="onehot or ordinal.")
    ] = None,
    keep_ids: Annotated[
        bool, typer.Option("--keep-ids", help="Keep columns that look like ids.")
    ] = False,
    drop: Annotated[
        list[str] | None, typer.Option("--drop", help="A column to leave out; repeat for several.")
    ] = None,
    reader: Annotated[
        str | None,
        typer.Option("--reader", help="The reader, by its name or as module:name."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Describe a dataset: its size, its targets, and what to look out for.

    Example: paragone data describe houses.csv --target price --task regression
    """
    from paragone.data import describe, load

    dataset = load(
        name_or_path,
        base=Path.cwd(),
        target=target or (),
        task=task,
        groups=groups,
        labels=_labels(labels),
        nominal=nominal,
        drop_ids=not keep_ids,
        drop=drop or (),
        reader=reader,
    )
    description = describe(dataset)
    if as_json:
        print_json(description.to_dict())
        return
    _print_pairs(f"Dataset {description.name}", _lines(description))


@data.command("export-folds")
def export_folds_of(
    dataset: Annotated[
        str,
        typer.Argument(help="A bundled name, a file, a folder, or openml:NAME.", metavar="DATASET"),
    ],
    out: Annotated[
        Path, typer.Option(help="The folder that gets one folder per dataset.", show_default=False)
    ],
    folds: Annotated[int, typer.Option(help="Number of folds or hold-outs.")] = 5,
    mode: Annotated[
        Literal["kfold", "holdout"], typer.Option(help="kfold, or holdout (repeated).")
    ] = "kfold",
    scale: Annotated[
        Literal["minmax", "zscore", "none"],
        typer.Option(help="minmax, zscore or none; fitted on each train part."),
    ] = "minmax",
    seed: Annotated[int, typer.Option(help="What the split follows from.")] = 42,
    test_size: Annotated[
        float, typer.Option(help="Share of the rows that holdout tests on.")
    ] = 0.2,
    labels: Labels = None,
    name: Annotated[
        str | None, typer.Option(help="What to call the dataset; its own name by default.")
    ] = None,
) -> None:
    """Write the folds of a multi-label dataset as OUT/DATASET/fold0.mat, ... and meta.json.

    Example: paragone data export-folds Arts.mat --out folds --folds 5 --mode kfold --scale minmax
    --seed 42
    """
    from paragone.data import SplitPlan, export_folds, load

    plan = SplitPlan(kind=mode, folds=folds, test_size=test_size, scale=scale)
    loaded = load(dataset, base=Path.cwd(), labels=_labels(labels), name=name)
    for note in loaded.notes:
        write_line(f"note: {note}", stderr=True)
    folder = export_folds(loaded, out, plan, seed)
    write_line(f"{folds} folds of {loaded.name} written to {folder}")


def _labels(given: str | None) -> int | tuple[str, ...] | None:
    if given is None:
        return None
    return (
        int(given)
        if given.lstrip("-").isdigit()
        else tuple(name.strip() for name in given.split(","))
    )


def _lines(description: DatasetDescription) -> list[tuple[str, str]]:
    lines = [
        ("task", description.task),
        ("samples", str(description.n_samples)),
        (
            "features",
            (
                f"{description.n_features} ({description.storage},"
                f" {description.feature_density:.1%} not 0)"
            ),
        ),
        *_target_lines(description),
    ]
    if description.n_groups is not None:
        lines.append(("groups", str(description.n_groups)))
    if description.n_train_part is not None:
        lines.append(("parts", f"{description.n_train_part} train, {description.n_test_part} test"))
    lines += [
        ("duplicated rows", str(description.duplicated_rows)),
        ("constant features", str(description.constant_features)),
        (
            "missing values",
            f"{description.missing_features} in features, {description.missing_targets} in targets",
        ),
        ("fingerprint", description.fingerprint[:16]),
    ]
    return lines + [("note", note) for note in description.notes]


def _target_lines(description: DatasetDescription) -> list[tuple[str, str]]:
    if description.labels is not None:
        labels = description.labels
        positives = [f"{name} {count}" for name, count in labels.positives.items()]
        lines = [
            ("labels", str(description.n_targets)),
            ("labels per row", f"{labels.cardinality:.3f} (density {labels.density:.4f})"),
            (
                "label sets",
                (
                    f"{labels.distinct_sets} distinct, {labels.rows_without_labels} rows without a"
                    " label"
                ),
            ),
            ("positives", _shortened(positives)),
        ]
        if labels.without_positives:
            lines.append(("never positive", _shortened(labels.without_positives)))
        return lines
    if description.class_counts:
        counts = [f"{name} {count}" for name, count in description.class_counts.items()]
        return [("classes", str(len(counts))), ("rows per class", _shortened(counts))]
    if not description.target_ranges:
        return [("items", str(description.n_targets))]
    ranges = [
        f"{name} {low:g} to {high:g}" for name, (low, high) in description.target_ranges.items()
    ]
    return [("targets", str(description.n_targets)), ("ranges", _shortened(ranges))]


def _shortened(texts: list[str] | tuple[str, ...]) -> str:
    more = f", and {len(texts) - _NAMES_SHOWN} more" if len(texts) > _NAMES_SHOWN else ""
    return ", ".join(texts[:_NAMES_SHOWN]) + more


def _print_pairs(title: str, pairs: list[tuple[str, str]]) -> None:
    """Print a table on a terminal, and plain lines with a tab between elsewhere."""
    from rich.table import Table
    from rich.text import Text

    screen = console()
    if not screen.is_terminal:
        for left, right in pairs:
            write_line(f"{left}\t{right}")
        return
    table = Table(title=Text(printable(title)), show_header=False, title_justify="left")
    for left, right in pairs:
        table.add_row(Text(printable(left), style="bold"), Text(printable(right)))
    screen.print(table)
