"""Cross-validation beside a bare scikit-learn loop: the same fits, in CPU seconds of one process and one thread.

Every side computes on one thread: BLAS is pinned to one, here and in the peer's process. The loop
is run in two ways: every variant from the start, as most people write it, and at its best, with
each preprocessing fitted once per fold. Ratios are of CPU seconds that were measured in turns in
one run.

Run: python benchmarks/crossval.py [--folds 5] [--repeat 3] [--peer PYTHON_WITH_NIRS4ALL]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.cross_decomposition import PLSRegression
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from paragone import Dataset, Experiment
from paragone.protocols import Crossval

STEPS = [
    "raw",
    "snv",
    "msc",
    {"use": "savgol", "window": 15, "deriv": 1},
    {"use": "savgol", "window": 15, "deriv": 2},
]
SEED = 42
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def spectra(n: int, p: int) -> Dataset:
    """Smooth curves whose target is a mixture of some of their bands."""
    rng = np.random.default_rng(SEED)
    bands = np.exp(
        -((np.arange(p)[None, :] - rng.uniform(0, p, 12)[:, None]) ** 2) / (2 * (p / 25) ** 2)
    )
    amounts = rng.random((n, 12))
    X = amounts @ bands + 0.002 * rng.normal(size=(n, p)) + rng.normal(size=(n, 1)) * 0.1
    return Dataset(
        "spectra", X, amounts[:, 0] - amounts[:, 3] + 0.02 * rng.normal(size=n), "regression"
    )


@dataclass(frozen=True, eq=False)
class Ran:
    """CPU seconds from declaration to scores, the scores, and what the store then holds."""

    seconds: float
    scores: np.ndarray
    n_predictions: int = 0
    size: int = 0


def bare_loop(dataset: Dataset, models: list, n_folds: int) -> Ran:
    """Fit every model on every fold, predict train and validation rows, and pool the RMSE: nothing else."""
    begun = time.process_time()
    scores = []
    folds = list(KFold(n_folds, shuffle=True, random_state=SEED).split(dataset.X))
    for model in models:
        errors = []
        for fit, val in folds:
            fitted = clone(model).fit(dataset.X[fit], dataset.y[fit])
            fitted.predict(dataset.X[fit])
            errors.append(fitted.predict(dataset.X[val]).ravel() - dataset.y[val])
        scores.append(np.sqrt(np.mean(np.concatenate(errors) ** 2)))
    return Ran(time.process_time() - begun, np.array(scores))


def sharing_loop(dataset: Dataset, components: range, n_folds: int) -> Ran:
    """Do what a careful loop does: fit each preprocessing once per fold, then every number of components on it."""
    from paragone.protocols.crossval.variants import declare_step

    begun = time.process_time()
    folds = list(KFold(n_folds, shuffle=True, random_state=SEED).split(dataset.X))
    errors: dict[tuple[int, int], list] = {}
    for place, given in enumerate(STEPS):
        step = declare_step(given, where="step").method
        for fit, val in folds:
            X_fit, X_val = dataset.X[fit], dataset.X[val]
            if step is not None:
                transformer = step.build()
                X_fit, X_val = transformer.fit_transform(X_fit), transformer.transform(X_val)
            for m in components:
                fitted = PLSRegression(m).fit(X_fit, dataset.y[fit])
                fitted.predict(X_fit)
                errors.setdefault((place, m), []).append(
                    fitted.predict(X_val).ravel() - dataset.y[val]
                )
    scores = [np.sqrt(np.mean(np.concatenate(found) ** 2)) for found in errors.values()]
    return Ran(time.process_time() - begun, np.array(scores))


def by_paragone(dataset: Dataset, methods: dict, n_folds: int, share: bool) -> Ran:
    """Run the same as an experiment into a store, and read its scores."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "a.sqlite"
        begun = time.process_time()
        experiment = Experiment(
            [dataset], methods, {"folds": n_folds}, Crossval(share=share), seed=SEED
        )
        with experiment.run(store, workers=0) as results:
            scores = results.reader().cv_scores()["RMSECV"].to_numpy()
            seconds = time.process_time() - begun
            n_predictions = len(results.reader().ledger())
        return Ran(seconds, scores, n_predictions, store.stat().st_size)


def pls_models(components: range) -> list:
    """Return the pipelines of all variants, as a user of scikit-learn would write them."""
    from paragone.protocols.crossval.variants import declare_step

    models = []
    for given in STEPS:
        step = declare_step(given, where="step").method
        for m in components:
            steps = [] if step is None else [step.build()]
            models.append(make_pipeline(*steps, PLSRegression(m)))
    return models


def peer(python: str, dataset: Dataset, n_folds: int) -> tuple[str, float]:
    """Time nirs4all on the same data in an environment of its own."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data.npz"
        np.savez(data, X=dataset.X, y=dataset.y)
        script = Path(__file__).resolve().with_name("crossval_nirs4all.py")
        environment = {
            key: value for key, value in os.environ.items() if key != "PYTHONPATH"
        } | THREADS
        command = [python, str(script), str(data), str(n_folds), "20"]
        ended = subprocess.run(
            command, capture_output=True, text=True, check=True, cwd=folder, env=environment
        )
    answer = json.loads(ended.stdout.strip().splitlines()[-1])
    return f"nirs4all {answer['version']}", float(answer["cpu"])


def large(n_folds: int, repeat: int, python: str | None) -> None:
    """100 variants on 130 x 2151, with sharing and without."""
    dataset = spectra(130, 2151)
    pls = {
        "use": "sklearn.cross_decomposition:PLSRegression",
        "grid": {"n_components": list(range(1, 21))},
    }
    methods = {"PLS": {**pls, "steps": [STEPS]}}
    by_paragone(dataset, {"Ridge": Ridge()}, n_folds, True)
    roads = {
        "bare loop": lambda: bare_loop(dataset, pls_models(range(1, 21)), n_folds),
        "loop, steps fitted once": lambda: sharing_loop(dataset, range(1, 21), n_folds),
        "paragone, sharing": lambda: by_paragone(dataset, methods, n_folds, True),
        "paragone, no sharing": lambda: by_paragone(dataset, methods, n_folds, False),
    }
    times: dict[str, list[float]] = {name: [] for name in roads}
    found = {}
    for _ in range(repeat):
        for name, road in roads.items():
            found[name] = road()
            times[name].append(found[name].seconds)
    bare = min(times["bare loop"])
    print(f"100 variants x {n_folds} folds on 130 x 2151 (CPU s, best of {repeat})")
    for name, seconds in times.items():
        apart = np.abs(found[name].scores / found["bare loop"].scores - 1).max()
        print(
            f"  {name:24s} {min(seconds):7.3f} s   {min(seconds) / bare:5.2f}x   RMSECV apart by"
            f" {apart:.1e}"
        )
    if python is not None:
        name, seconds = peer(python, dataset, n_folds)
        print(f"  {name:24s} {seconds:7.3f} s   {seconds / bare:5.2f}x")


def small(n_folds: int, repeat: int) -> None:
    """Ridge on 48 x 30: what a fit costs over the bare one."""
    dataset = spectra(48, 30)
    alphas = np.logspace(-6, 2, 100).tolist()
    methods = {"Ridge": {"use": "sklearn.linear_model:Ridge", "grid": {"alpha": alphas}}}
    n_fits = n_folds * len(alphas)
    models = [Ridge(alpha=alpha) for alpha in alphas]
    both = [
        (
            bare_loop(dataset, models, n_folds).seconds,
            by_paragone(dataset, methods, n_folds, True).seconds,
        )
        for _ in range(repeat)
    ]
    bare, ours = (min(seconds) for seconds in zip(*both, strict=True))
    print(f"Ridge on 48 x 30, {n_fits} fits (CPU, best of {repeat})")
    print(
        f"  bare fit {1000 * bare / n_fits:6.3f} ms, with paragone {1000 * ours / n_fits:6.3f} ms,"
        " over it ",
        end="",
    )
    print(f"{1000 * (ours - bare) / n_fits:6.3f} ms")


def sizes(n_folds: int) -> None:
    """Bytes a prediction in the store, and how it grows with the number of variants and of rows."""
    print("store size")
    for n_rows, n_variants in ((48, 25), (48, 100), (48, 400), (1000, 25), (1000, 100)):
        alphas = np.logspace(-6, 2, n_variants).tolist()
        methods = {"Ridge": {"use": "sklearn.linear_model:Ridge", "grid": {"alpha": alphas}}}
        ran = by_paragone(spectra(n_rows, 30), methods, n_folds, True)
        n_predictions, size = ran.n_predictions, ran.size
        cells = n_variants * n_folds
        print(
            f"  {n_rows:5d} rows, {n_variants:4d} variants: {size / 1e6:7.3f} MB, "
            f"{size / n_predictions:6.1f} bytes a prediction, {size / cells:8.0f} bytes a cell"
        )


def main() -> None:
    """Print all three tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--peer", help="a Python that has nirs4all installed, to time beside")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        large(options.folds, options.repeat, options.peer)
        small(options.folds, options.repeat)
        sizes(options.folds)


if __name__ == "__main__":
    main()
