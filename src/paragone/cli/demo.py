"""`paragone demo`: a real experiment on bundled data, end to end, ending in a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from paragone.cli.app import app
from paragone.cli.output import say

DEMO = """\
name = "demo"
seed = 42

[data]
sets = ["digits-traits", "digits-completion", "breast-cancer-traits", "synthetic-multilabel"]

[split]
kind = "kfold"
folds = 5
scale = "minmax"

[protocol]
kind = "curve"
k = { min = 4, max = 60, step = 4 }
evaluator = "mlknn"
metrics = ["micro_f1", "macro_f1", "hamming_loss"]

[methods.DAGFS]
use = "dagfs"

[methods.MutualInfo]
use = "mutual-info"

[methods.Chi2]
use = "chi2"

[methods.Variance]
use = "variance"

[methods.Random]
use = "random"
"""


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder to write to.")] = Path("paragone-demo"),
    workers: Annotated[int | None, typer.Option(help="Worker processes; one a core by default.", min=0)] = None,
) -> None:
    """Run a real experiment on bundled data: multi-label sets, five rankers, five folds, a k-curve, ending in a page.

    Example: paragone demo --out my-demo
    """
    from paragone.cli.run import conclude, run_with_progress
    from paragone.cli.scores import summarise
    from paragone.lab.experiment import Experiment
    from paragone.reporting import report as write_report

    out.mkdir(parents=True, exist_ok=True)
    file = out / "demo.toml"
    file.write_text(DEMO, encoding="utf-8")
    say(f"experiment file: {file}")
    experiment = Experiment.from_toml(file)
    results = run_with_progress(experiment, out / "demo.sqlite", workers)
    summarise(results.scores())
    write_report(results, out / "report")
    page = (out / "report" / "report.html").resolve()
    say(f"the page: {page}")
    say(f"open it in any browser, no network needed: {page.as_uri()}")
    conclude(results, experiment.name, as_json=False)
