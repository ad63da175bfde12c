"""Time the comparison against its peers, side by side in one run, all with one thread.

Run it as a script in an environment that has the peers. Those that are not installed (baycomp,
autorank, scikit-posthocs, skore, R's scmamp) are named and left out.
"""

from __future__ import annotations

import io
import resource
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from time import perf_counter, process_time
from types import ModuleType

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from paragone.stats import compare, pairwise
from paragone.stats.bayes import bayesian_signed_rank
from paragone.stats.signed_rank import wilcoxon_signed_rank

ROPE = 0.01


def cpu_seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """Return the best CPU time of a few runs."""
    best = float("inf")
    for _ in range(repeats):
        start = process_time()
        work()
        best = min(best, process_time() - start)
    return best


def peer(name: str) -> ModuleType | None:
    try:
        module = import_module(name)
    except ImportError as error:
        print(f"  {name}: not installed, left out ({error})")
        return None
    print(f"  ({name} {version(name.replace('_', '-'))})")
    return module


def score_frame(n_methods: int, n_datasets: int, n_folds: int, seed: int = 0) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    base = generator.uniform(0.5, 0.9, n_datasets)
    rows = [
        (f"method {m}", f"data {d}", f, "micro_f1", base[d] + 0.002 * m + generator.normal(0, 0.02))
        for m in range(n_methods)
        for d in range(n_datasets)
        for f in range(n_folds)
    ]
    return pd.DataFrame(rows, columns=["method", "dataset", "fold", "metric", "value"])


def whole_comparison() -> None:
    print("\n20 methods x 200 datasets, one score each (CPU s)")
    frame = score_frame(20, 200, 1)
    wide = frame.pivot(index="dataset", columns="method", values="value")
    runs = {
        "paragone, all 190 pairs, everything but the Bayesian matrix": lambda: compare(
            frame, bayes=False
        ),
        "paragone, reference against 19, everything with Bayes": lambda: compare(
            frame, reference="method 19"
        ),
        "paragone, all 190 pairs with the Bayesian matrix": lambda: compare(frame, bayes=True),
    }
    tied = frame.assign(value=frame["value"].round(2))
    runs["paragone, all 190 pairs, scores of two decimals"] = lambda: compare(tied, bayes=False)
    for name, work in runs.items():
        print(f"  {name:<62}{cpu_seconds(work, 2):8.3f}")
    time_autorank(wide)
    time_posthocs(wide)
    time_skore()
    time_scmamp(wide)
    print("\n30 methods x 40 datasets, every decision taken again without each dataset (CPU s)")
    many = score_frame(30, 40, 1)
    tied = many.assign(value=many["value"].round(2))
    print(f"  {'paragone, all 435 pairs':<62}{cpu_seconds(lambda: compare(many), 2):8.3f}")
    print(
        f"  {'paragone, all 435 pairs, scores of two decimals':<62}{cpu_seconds(lambda: compare(tied), 2):8.3f}"
    )
    print("\n8 methods x 30 datasets x 10 folds, everything with Bayes (CPU s)")
    folds = score_frame(8, 30, 10)
    print(f"  {'paragone, all 28 pairs':<62}{cpu_seconds(lambda: compare(folds)):8.3f}")


def time_autorank(wide: pd.DataFrame) -> None:
    module = peer("autorank")
    if module is None:
        return
    with warnings.catch_warnings(), redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        seconds = cpu_seconds(lambda: module.autorank(wide, alpha=0.05, approach="frequentist"), 2)
    print(f"  {'autorank, Friedman and Nemenyi with intervals':<62}{seconds:8.3f}")


def time_posthocs(wide: pd.DataFrame) -> None:
    module = peer("scikit_posthocs")
    if module is None:
        return
    long = wide.reset_index().melt(id_vars="dataset")
    runs = {
        "scikit-posthocs, Nemenyi-Friedman only": lambda: module.posthoc_nemenyi_friedman(
            wide.to_numpy()
        ),
        "scikit-posthocs, all Wilcoxon pairs with Holm only": lambda: module.posthoc_wilcoxon(
            long, val_col="value", group_col="method", p_adjust="holm"
        ),
    }
    for name, work in runs.items():
        print(f"  {name:<62}{cpu_seconds(work, 2):8.3f}")


def time_skore() -> None:
    """Say why skore is not timed: it compares reports of fitted models and tests nothing."""
    if peer("skore") is not None:
        print("  skore compares reports and has no test of methods over datasets: nothing to time")


SCMAMP = """
library(scmamp)
scores <- as.matrix(read.csv(commandArgs(TRUE)[1], check.names = FALSE))
spent <- system.time({
  imanDavenportTest(scores)
  postHocTest(scores, test = "wilcoxon", correct = "shaffer")
})
cat(sum(spent[1:2]))
"""


def time_scmamp(wide: pd.DataFrame) -> None:
    rscript = shutil.which("Rscript")
    if rscript is None:
        print("  scmamp: there is no R, left out")
        return
    with tempfile.TemporaryDirectory() as folder:
        scores, script = Path(folder) / "scores.csv", Path(folder) / "scmamp.R"
        wide.to_csv(scores, index=False)
        script.write_text(SCMAMP, encoding="utf-8")
        done = subprocess.run(
            [rscript, str(script), str(scores)], capture_output=True, text=True, check=False
        )
    if done.returncode:
        print(f"  scmamp: left out ({done.stderr.strip().splitlines()[0]})")
        return
    print(
        f"  {'scmamp, Iman-Davenport, all Wilcoxon pairs with Shaffer':<62}{float(done.stdout):8.3f}"
    )


def bayesian_test() -> None:
    print("\nBayesian signed-rank, n = 200, 50 000 draws (CPU s)")
    generator = np.random.default_rng(1)
    x = generator.uniform(0.5, 0.9, 200)
    y = x + generator.normal(0.004, 0.06, 200)
    module = peer("baycomp")
    for rope in (0.0, ROPE):
        ours = cpu_seconds(lambda rope=rope: bayesian_signed_rank(y - x, margin=rope))  # type: ignore[misc]
        posterior = bayesian_signed_rank(y - x, margin=rope)
        print(f"  ROPE {rope:<5g} paragone {ours:8.3f}   worse/equal/better "
              f"{posterior.worse:.4f} {posterior.equal:.4f} {posterior.better:.4f}")  # fmt: skip
        if module is not None:
            start = process_time()
            sampled = module.SignedRankTest(x, y, rope, nsamples=50_000, random_state=2)
            theirs = process_time() - start
            shares = sampled.probs()
            print(f"  ROPE {rope:<5g} baycomp  {theirs:8.3f}   worse/equal/better "
                  f"{shares[0]:.4f} {shares[1]:.4f} {shares[2]:.4f}   ratio {theirs / ours:.1f}x")  # fmt: skip
            gap = max(abs(a - b) for a, b in
                      zip(shares, (posterior.worse, posterior.equal, posterior.better), strict=True))  # fmt: skip
            print(f"  ROPE {rope:<5g} largest gap {gap:.4f}; Monte-Carlo standard error of a gap at most "
                  f"{np.sqrt(2 * 0.25 / 50_000):.4f}")  # fmt: skip


def many_subjects() -> None:
    generator = np.random.default_rng(2)
    a = generator.uniform(size=100_000)
    b = a + generator.normal(0.0005, 0.1, size=a.size)
    seconds = cpu_seconds(lambda: pairwise(a, b, higher_is_better=True), 2)
    # Kilobytes on Linux; the peak of the whole process, what was measured before included.
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\npairwise on 100,000 subjects: {seconds:.2f} CPU s, peak of the process {peak:.0f} MB")


def exact_wilcoxon() -> None:
    for n in (50, 500):
        difference = np.random.default_rng(0).integers(1, 31, n) * np.where(
            np.arange(n) % 3, 1.0, -1.0
        )
        start = perf_counter()
        for _ in range(10):
            wilcoxon_signed_rank(difference)
        print(
            f"\nExact Wilcoxon with ties, n = {n}: {(perf_counter() - start) * 100:.3f} ms per test"
        )


def main() -> None:
    with threadpool_limits(1):
        many_subjects()
        whole_comparison()
        bayesian_test()
        exact_wilcoxon()


if __name__ == "__main__":
    main()
