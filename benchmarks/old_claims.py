"""The six claims of paragone-v1 that are marked as not surviving tuning: untuned and tuned, on the same fresh rows.

The first release proved claims with one fixed configuration per method, the best of a small
portfolio. Here each of the six is measured on the dataset that claims it, on samples of 1,000 train
rows and 2,000 fresh ones: with that fixed configuration, and with both methods tuned on every
sample at one budget, by the tuner of the proof. Each mean lead is given with Student's 95 %
interval, for one claim by itself, and with the interval of the proof, which holds for all six
together and allows for one sample worse than any that was seen.

Fits are kept in STORE, and the same command goes on where it stopped.

Run: python benchmarks/old_claims.py [--samples 20] [--trials 40] [--workers 1] [--store
build/old_claims.sqlite]
"""

from __future__ import annotations

import argparse
import os
import sqlite3
from dataclasses import replace
from pathlib import Path

os.environ.update(
    dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
)

import numpy as np

from paragone.generate import Collection, Contender, Laboratory, reference_methods
from paragone.generate.proof import Looks, ProofPlan, tuned_fits

MARGIN = 0.05
SEED = 20


def leads_of(pairs, item, trials, samples, laboratory):
    """Return the leads of every pair on every sample: tuned, or in the fixed configurations where trials is 0."""
    known = {method.name: method for method in reference_methods()}
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    methods: list[Contender] = [known[name] for name in names]
    if not trials:
        methods = [
            replace(method, space={}, portfolio=(item.parameters[method.name],))
            for method in methods
        ]
    plan = ProofPlan(n_train=item.n_rows, n_fresh=2000, trials=max(trials, 1), folds=3)
    # The rows follow from the key alone, so every budget sees the same ones.
    fits = tuned_fits(
        item.generator(), methods, laboratory, plan, SEED, range(samples), key=f"old {item.name}"
    )
    lost = [(name, i) for name in names for i in range(samples) if (name, i) not in fits]
    if lost:
        raise SystemExit(f"fits failed: {lost}")
    return {
        (up, down): np.array([fits[up, i].score - fits[down, i].score for i in range(samples)])
        for up, down in pairs
    }


def print_claims(collection, trials, samples, laboratory):
    looks = Looks((samples,), n_claims=len(collection.refuted))
    alone = Looks((samples,), unseen=0.0)
    covered = collection.covered()
    print(
        f"\n{'fixed configurations' if not trials else f'both tuned, {trials} trials'}, {samples}"
        " samples"
    )
    print(
        f"{'claim':52s} {'dataset':16s} {'lead':>7s} {'95 % alone':>18s} {'of the proof':>18s}"
        f" {'won':>6s} proven alone"
    )
    for name in dict.fromkeys(covered[pair] for pair in collection.refuted):
        item = next(item for item in collection.sets if item.name == name)
        pairs = [pair for pair in collection.refuted if covered[pair] == name]
        for (up, down), leads in leads_of(pairs, item, trials, samples, laboratory).items():
            one, family = alone.interval(leads), looks.interval(leads)
            print(
                f"{f'{up} over {down}':52s} {name:16s} {one.estimate:7.3f} {limits(one):>18s}"
                f" {limits(family):>18s} {np.sum(leads > 0):3d}/{samples}"
                f" {'yes' if one.low >= MARGIN else 'no':>6s}"
                f" {'yes' if family.low >= MARGIN else 'no':>5s}",
                flush=True,
            )


def limits(interval):
    return f"[{interval.low:.3f}, {interval.high:.3f}]"


def cpu_seconds(store):
    with sqlite3.connect(store) as database:
        return database.execute("SELECT sum(cpu_seconds) FROM fit_costs").fetchone()[0] or 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=20)
    parser.add_argument("--trials", type=int, nargs="+", default=[40])
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--store", type=Path, default=Path("build/old_claims.sqlite"))
    options = parser.parse_args()
    options.store.parent.mkdir(parents=True, exist_ok=True)
    collection = Collection.named("paragone-v1")
    with Laboratory(options.store, options.workers) as laboratory:
        for trials in (0, *options.trials):
            print_claims(collection, trials, options.samples, laboratory)
    print(f"\nCPU seconds of all fits in the store: {cpu_seconds(options.store):.0f}")


if __name__ == "__main__":
    main()
