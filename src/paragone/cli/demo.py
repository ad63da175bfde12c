"""`paragone demo`: a real experiment on bundled data, end to end, ending in a page."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from paragone.cli.app import START, app
from paragone.terminal import say, say_at_once

DEMO = Path(__file__).with_name("demo.toml")


@app.command(rich_help_panel=START)
def demo(
    out: Annotated[Path, typer.Option(help="Folder to write to.")] = Path("paragone-demo"),
    workers: Annotated[
        int | None, typer.Option(help="Worker processes; one per core by default.", min=0)
    ] = None,
) -> None:
    """Run a real experiment on bundled data: multi-label sets, five rankers, five folds, a k-curve, ending in a page.

    Example: paragone demo --out my-demo
    """
    say_at_once(
        "a real experiment on bundled data: four datasets, five methods, five folds; under a minute"
    )
    from paragone.cli.run import conclude, looked_at, run_with_progress, show_verdict
    from paragone.lab.experiment import Experiment
    from paragone.reporting import report as write_report

    out.mkdir(parents=True, exist_ok=True)
    file = out / "demo.toml"
    shutil.copyfile(DEMO, file)
    say(f"experiment file: {file}")
    experiment = Experiment.from_toml(file)
    store = out / "demo.sqlite"
    results = run_with_progress(
        experiment, store, workers, checks=looked_at(experiment, store, None)
    )
    files = write_report(results, out / "report")
    show_verdict(experiment, store)
    conclude(results, experiment.name, as_json=False, files=tuple(files))
