"""`paragone topk ...`: evaluate scores from elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from paragone.cli.app import MORE, CommandLine, app
from paragone.cli.options import AsJson
from paragone.cli.output import print_json, write_line
from paragone.errors import InputError

_SCORES_HELP = "Scores (.npy, .npz, .csv), lists of item ids (.csv, .txt) or a TREC run."
_TRUTH_HELP = "Relevant items per sample: 'tokens<TAB>items' lines, lines of ids, or TREC qrels."


topk = CommandLine(
    help="Top-K recommendation: metrics at K from scores or lists.", no_args_is_help=True
)
app.add_typer(topk, name="topk", rich_help_panel=MORE)


@topk.command()
def evaluate(
    scores: Annotated[Path, typer.Option(help=_SCORES_HELP)],
    truth: Annotated[Path, typer.Option(help=_TRUTH_HELP)],
    k: Annotated[str, typer.Option(help="Cut-offs, rising, separated by commas.")] = "5,10,15,20",
    metrics: Annotated[
        str | None,
        typer.Option(help="Metrics, separated by commas, such as 'precision,ndcg\\[idcg=k],map'."),
    ] = None,
    ties: Annotated[
        str | None,
        typer.Option(help="Equal scores: id, expected, optimistic, pessimistic or reverse_id."),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(help="Conventions of another program: smgcn, trec_eval, recbole, rectools."),
    ] = None,
    empty: Annotated[
        str | None, typer.Option(help="Samples without truth: error, skip or zero.")
    ] = None,
    cluster: Annotated[
        Path | None,
        typer.Option(help="One group label per line; intervals then resample whole groups."),
    ] = None,
    cluster_queries: Annotated[
        bool,
        typer.Option(
            "--cluster-queries",
            help="Take equal queries of a 'tokens<TAB>items' truth as one group.",
        ),
    ] = False,
    train: Annotated[
        Path | None,
        typer.Option(help="Training rows 'tokens<TAB>items': guards, segments, beyond accuracy."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for tables, per-sample values and lists.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Evaluate scores or lists against a truth.

    Example: paragone topk evaluate --scores scores.npy --truth test.txt --k 5,10,20 --out result
    """
    from paragone.metrics.topk.evaluate import topk_scores
    from paragone.metrics.topk.result import result_json, save_result

    given, relevant, rows, options, notes = _inputs(scores, truth, preset)
    labels = _labels(cluster, cluster_queries, rows)
    result = topk_scores(
        given,
        relevant,
        k=_cutoffs(k),
        metrics=None if metrics is None else [name for name in metrics.split(",") if name.strip()],
        ties=ties,
        preset=preset,
        empty=empty,
        cluster=labels,
        **options,
    )
    surroundings = _surroundings(result, train, rows)
    beside = {name: surroundings[name] for name in ("segments",) if name in surroundings}
    written = [] if out is None else save_result(result, out, beside)
    if as_json:
        content = result_json(result) | {
            "findings": surroundings["findings"],
            "beyond": surroundings["beyond"],
        }
        content["notes"] += notes
        print_json(content)
        return
    write_line(repr(result))
    for line in (*notes, *surroundings["findings"]):
        write_line(f"note: {line}")
    for name, values in surroundings["beyond"].items():
        write_line(
            f"{name}: "
            + ", ".join(f"{value:.4f} at {at}" for value, at in zip(values, result.ks, strict=True))
        )
    for path in written:
        write_line(f"wrote {path}")


def _inputs(
    scores: Path, truth: Path, preset: str | None
) -> tuple[Any, Any, Any, dict[str, Any], list[str]]:
    """Read the files: what to rank, truth, rows with queries, options of `topk_scores`, and notes."""
    from paragone.data.toplists import (
        join_run,
        looks_like_run,
        read_qrels,
        read_run,
        read_scores,
        read_truth,
    )

    if looks_like_run(scores):
        joined = join_run(read_run(scores), read_qrels(truth))
        return (
            joined.scores,
            joined.truth,
            None,
            {"exclude": ~joined.retrieved, "kind": "scores"},
            list(joined.notes),
        )
    relevant, rows = read_truth(truth)
    notes = list(rows.notes) if rows is not None else []
    return read_scores(scores), relevant, rows, {}, notes


def _labels(path: Path | None, by_query: bool, rows: Any) -> Any:
    from paragone.data.prescriptions import read_lines

    if path is not None:
        return read_lines(path)
    if not by_query:
        return None
    if rows is None:
        raise InputError("--cluster-queries needs a truth file of lines 'tokens<TAB>items'")
    return rows.query_codes


def _cutoffs(text: str) -> list[int]:
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not words or not all(word.lstrip("-").isdigit() for word in words):
        raise InputError(
            f"--k must be whole numbers separated by commas, such as 5,10,20; it is {text!r}"
        )
    return [int(word) for word in words]


def _surroundings(result: Any, train: Path | None, rows: Any) -> dict[str, Any]:
    if train is None:
        return {"findings": [], "beyond": {}}
    if rows is None:
        raise InputError("--train needs a truth file of lines 'tokens<TAB>items'")
    from paragone.data.prescriptions import read_prescriptions
    from paragone.metrics.topk.segments import look_around

    return look_around(result, read_prescriptions(train), rows)
