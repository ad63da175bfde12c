"""Top-K evaluation beside its peers, in one run: 100,000 x 1,000 scores, four cut-offs, five metrics, per sample.

Run as ``python benchmarks/topk.py``. Times are CPU seconds (``time.process_time``) after compilation, the best of three
for ours and for the peers but the slowest. ranx, torch and pytrec_eval are peers; one that is not installed is said.
"""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

from paragone.metrics.topk import Factors, topk_scores

N_ROWS, N_ITEMS, N_RELEVANT = 100_000, 1_000, 8
KS = (5, 10, 15, 20)
METRICS = ("precision", "recall", "f1", "rmrr", "ndcg")
PEER_METRICS = [f"{name}@{k}" for name in ("precision", "recall", "f1", "mrr", "ndcg") for k in KS]


def cpu_seconds(work: Callable[[], Any], repeats: int = 3) -> float:
    times = []
    for _ in range(repeats):
        gc.collect()
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def make_problem() -> tuple[Any, tuple[Any, Any]]:
    rng = np.random.default_rng(0)
    scores = rng.random((N_ROWS, N_ITEMS), dtype=np.float32)
    # In small parts, so that making the problem needs no memory to speak of.
    parts = [np.argsort(rng.random((100, N_ITEMS)), axis=1)[:, :N_RELEVANT] for _ in range(N_ROWS // 100)]
    return scores, (np.arange(N_ROWS + 1) * N_RELEVANT, np.concatenate(parts).astype(np.int32).ravel())


def top_lists(scores: Any) -> tuple[Any, Any]:
    """The best 20 of each row by argpartition and a sort: what one hands to a peer that selects nothing."""
    found = np.argpartition(-scores, KS[-1], axis=1)[:, : KS[-1]]
    values = np.take_along_axis(scores, found, axis=1)
    order = np.argsort(-values, axis=1, kind="stable")
    return np.take_along_axis(found, order, axis=1), np.take_along_axis(values, order, axis=1)


def ours(scores: Any, truth: Any, metrics: tuple[str, ...] = METRICS) -> Any:
    result = topk_scores(scores, truth, k=KS, metrics=metrics)
    return result.means


def numpy_metrics(items: Any, truth: Any) -> dict[str, Any]:
    """The same five metrics with NumPy on lists, as evaluation scripts do it."""
    relevant = truth[1].reshape(N_ROWS, N_RELEVANT)
    match = items[:, :, None] == relevant[:, None, :]
    hit = match.any(axis=2)
    distance = np.abs(np.arange(items.shape[1])[:, None] - np.arange(N_RELEVANT)[None, :]) + 1.0
    place = (match / distance).sum(axis=2)
    discount = 1 / np.log2(np.arange(items.shape[1]) + 2)
    values = {}
    for k in KS:
        hits = hit[:, :k].sum(axis=1)
        values[f"precision@{k}"] = hits / k
        values[f"recall@{k}"] = hits / N_RELEVANT
        values[f"f1@{k}"] = 2 * hits / (k + N_RELEVANT)
        values[f"rmrr@{k}"] = place[:, :k].sum(axis=1) / N_RELEVANT
        values[f"ndcg@{k}"] = (hit[:, :k] * discount[:k]).sum(axis=1) / discount[: min(k, N_RELEVANT)].sum()
    return values


def ranx_arrays(scores: Any, truth: Any) -> Any:
    from ranx import evaluate

    items, values = top_lists(scores)
    run = np.stack([items.astype(np.float64), values.astype(np.float64)], axis=2)
    relevant = truth[1].reshape(-1, N_RELEVANT).astype(np.float64)
    qrels = np.stack([relevant, np.ones_like(relevant)], axis=2)
    return evaluate(qrels, run, PEER_METRICS, return_mean=False, threads=1)


def ranx_usual(scores: Any, truth: Any) -> Any:
    from ranx import Qrels, Run, evaluate

    items, values = top_lists(scores)
    relevant = truth[1].reshape(-1, N_RELEVANT)
    run = Run(
        {f"q{row}": dict(zip(map(str, items[row]), values[row].tolist(), strict=True)) for row in range(len(items))}
    )
    qrels = Qrels({f"q{row}": {str(item): 1 for item in relevant[row]} for row in range(len(items))})
    return evaluate(qrels, run, PEER_METRICS, threads=1)


def pytrec_eval_dicts(scores: Any, truth: Any) -> Any:
    import pytrec_eval

    items, values = top_lists(scores)
    relevant = truth[1].reshape(-1, N_RELEVANT)
    rows = range(len(items))
    run = {str(row): dict(zip(map(str, items[row]), values[row].tolist(), strict=True)) for row in rows}
    qrels = {str(row): {str(item): 1 for item in relevant[row]} for row in rows}
    cuts = ",".join(map(str, KS))
    wanted = {f"{name}.{cuts}" for name in ("P", "recall", "ndcg_cut", "map_cut", "success")}
    return pytrec_eval.RelevanceEvaluator(qrels, wanted).evaluate(run)


def torch_topk(scores: Any, truth: Any) -> Any:
    import torch

    torch.set_num_threads(1)
    return numpy_metrics(torch.topk(torch.as_tensor(scores), KS[-1]).indices.numpy(), truth)


def installed(name: str) -> bool:
    from importlib.util import find_spec

    return find_spec(name) is not None


def report(label: str, seconds: float, unit: float) -> None:
    print(f"{label:<58}{seconds:9.3f} s{seconds / unit:9.1f} x", flush=True)


def timed(scores: Any, truth: Any) -> float:
    return cpu_seconds(lambda: ours(scores, truth))


def measure_memory(scores: Any, truth: Any) -> float:
    """Peak of what NumPy allocates; the resident peak would be hidden by that of the compiler before it."""
    tracemalloc.start()
    ours(scores, truth)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def check_agreement(scores: Any, truth: Any) -> None:
    """A benchmark of wrong numbers is worth nothing: ours must be NumPy's, and ranx's where both have the metric."""
    mine = topk_scores(scores, truth, k=KS, metrics=METRICS)
    theirs = numpy_metrics(top_lists(scores)[0], truth)
    for metric in METRICS:
        for cut, k in enumerate(KS):
            key = "ndcg[idcg=min]" if metric == "ndcg" else metric
            np.testing.assert_allclose(mine.per_sample[key][:, cut], theirs[f"{metric}@{k}"], atol=1e-12)
    if installed("ranx"):
        found = ranx_arrays(scores, truth)
        for k in KS:
            np.testing.assert_allclose(mine.per_sample["f1"][:, KS.index(k)], found[f"f1@{k}"], atol=1e-12)
            np.testing.assert_allclose(mine.per_sample["ndcg[idcg=min]"][:, KS.index(k)], found[f"ndcg@{k}"], atol=1e-9)


def main() -> None:
    scores, truth = make_problem()
    ours(scores[:300], (truth[0][:301], truth[1][: 300 * N_RELEVANT]))
    memory = measure_memory(scores, truth)
    check_agreement(scores, truth)
    print(f"{N_ROWS:,} x {N_ITEMS:,} float32, K = {KS}, five metrics, per-sample values; CPU seconds, ratio to ours\n")
    unit = cpu_seconds(lambda: ours(scores, truth))
    report("one read of the matrix (max)", cpu_seconds(lambda: scores.max()), unit)
    report("paragone", unit, unit)
    report("paragone, ascending rows", timed(np.sort(scores, axis=1), truth), unit)
    report("paragone, worst order for its own selection", timed(adversarial(scores), truth), unit)
    for metric in ("f1", "ndcg"):
        report(f"paragone, {metric} alone", cpu_seconds(lambda name=metric: ours(scores, truth, (name,))), unit)
    factors = Factors(
        *np.split(np.random.default_rng(1).normal(size=(N_ROWS + N_ITEMS, 64)).astype(np.float32), [N_ROWS])
    )
    report("paragone, fused with a 64-factor model", cpu_seconds(lambda: ours(factors, truth), 2), unit)
    report("  the matrix product alone", cpu_seconds(lambda: factors.users @ factors.items.T, 2), unit)
    report("argpartition + NumPy", cpu_seconds(lambda: numpy_metrics(top_lists(scores)[0], truth), 1), unit)
    peers(scores, truth, unit)
    print(f"\npeak extra memory of paragone: {memory:.0f} MiB (the matrix has {scores.nbytes / 2**20:.0f} MiB)")


def adversarial(scores: Any) -> Any:
    """Rows whose best scores share as few lanes of the selection as possible: most insertions for it."""
    ordered = np.sort(scores, axis=1)
    stripes = 16
    lanes = -(-N_ITEMS // stripes)
    places = np.concatenate([np.arange(lane, N_ITEMS, lanes) for lane in range(lanes)])
    out = np.empty_like(ordered)
    out[:, places] = ordered
    return out


def peers(scores: Any, truth: Any, unit: float) -> None:
    if installed("torch"):
        report("torch.topk + NumPy", cpu_seconds(lambda: torch_topk(scores, truth), 1), unit)
    else:
        print("torch is not installed: left out")
    if installed("pytrec_eval"):
        report("pytrec_eval (dicts of strings)", cpu_seconds(lambda: pytrec_eval_dicts(scores, truth), 1), unit)
    else:
        print("pytrec_eval is not installed: left out")
    if not installed("ranx"):
        print("ranx is not installed: left out (pip install ranx)")
        return
    some = (scores[:200], (truth[0][:201], truth[1][: 200 * N_RELEVANT]))
    began = time.process_time()
    ranx_arrays(*some)
    ranx_usual(*some)
    compiling = time.process_time() - began
    report("ranx on arrays (argpartition before it)", cpu_seconds(lambda: ranx_arrays(scores, truth), 1), unit)
    report("ranx, its usual path (dicts of strings)", cpu_seconds(lambda: ranx_usual(scores, truth), 1), unit)
    print(f"{'  and its compilation, once':<58}{compiling:9.3f} s")


if __name__ == "__main__":
    main()
