"""What an audit costs beside the run it looks at: CPU seconds of one process, in one run.

Run: python benchmarks/audit.py [--seeds 8] [--folds 5]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from paragone import Curve, Experiment, Results
from paragone.checks.features import check_label_features
from paragone.checks.finding import Ledger
from paragone.checks.material import materials
from paragone.checks.near_rows import check_near_rows
from paragone.checks.rows import check_exact_rows
from paragone.checks.verify import verify_scores
from paragone.lab.store import Store
from paragone.lab.view import View
from paragone.protocols import KGrid

METRICS = (
    "micro_f1",
    "macro_f1",
    "hamming_loss",
    "micro_pr_auc",
    "macro_pr_auc",
    "avg_precision",
    "one_error",
)


def seconds(work: Callable[[], object]) -> float:
    """CPU seconds of a piece of work."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--folds", type=int, default=5)
    options = parser.parse_args()
    experiment = Experiment(
        ["digits-traits"],
        {"Random": "random"},
        {"folds": options.folds},
        Curve(k=KGrid(2, 60, 2), metrics=METRICS),
        repeats={"Random": options.seeds},
        name="audit",
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.sqlite"
        ran = seconds(lambda: experiment.run(path, workers=0).close())
        (material,) = materials(tuple(experiment.layout.arrangements.values()))
        with Store(path) as store:
            view = View(Results(store), "audit")
            verified = seconds(lambda: verify_scores(view, Ledger("audit")))
            n_scores = len(view.repeats)
            n_cells = len(view.cells.cells)
    rows = {
        f"the run itself ({n_cells} cells)": ran,
        f"every score recomputed ({n_scores})": verified,
        "equal rows": seconds(lambda: check_exact_rows(material, Ledger("audit"))),
        "near rows": seconds(lambda: check_near_rows(material, Ledger("audit"))),
        "features against labels": seconds(lambda: check_label_features(material, Ledger("audit"))),
    }
    print(f"{'work':<36}{'CPU s':>10}{'of the run':>12}{'a cell':>12}")
    for name, spent in rows.items():
        print(f"{name:<36}{spent:>10.2f}{spent / ran:>12.1%}{1000 * spent / n_cells:>9.1f} ms")


if __name__ == "__main__":
    main()
