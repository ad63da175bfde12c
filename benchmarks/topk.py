"""Top-K evaluation beside its peers, each at its best, interleaved in one run.

100,000 x 1,000 scores, five metrics at four K with per-sample values. Run as ``python
benchmarks/topk.py``. Every contender works on one thread, in float32, and on blocks of rows of the
size that suits it best (tried first); the peers' metrics come from one table lookup and one small
product rather than from comparing every pair. Each round runs all of them once, in turn; times are
CPU seconds (``time.process_time``) after compilation, and a ratio is the median over rounds of the
ratio inside a round. ranx and pytrec_eval take no blocks and are run once; one that is not
installed is said. The peers break ties as it happens and count none.
"""

from __future__ import annotations

import argparse
import functools
import gc
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from paragone.metrics.topk import Factors, topk_scores

N_ITEMS, N_RELEVANT = 1_000, 8
KS = (5, 10, 15, 20)
DISCOUNT = 1 / np.log2(np.arange(KS[-1]) + 2)
FIRST_K = (np.arange(KS[-1])[:, None] < np.asarray(KS)).astype(np.float64)
# What a hit at a rank is worth to rmrr, by its place in the truth counted from 1; 0 is no hit.
NEARNESS = 1 / (np.abs(np.arange(KS[-1])[:, None] - np.arange(-1, N_RELEVANT)[None, :]) + 1.0)
NEARNESS[:, 0] = 0.0
BLOCKS = (64, 128, 256, 512, 1024, 4096)
METRICS = ("precision", "recall", "f1", "rmrr", "ndcg")
PEER_METRICS = [f"{name}@{k}" for name in ("precision", "recall", "f1", "mrr", "ndcg") for k in KS]


def cpu_seconds(work: Callable[[], Any], repeats: int = 1) -> float:
    times = []
    for _ in range(repeats):
        gc.collect()
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def make_problem(n_rows: int) -> tuple[Any, tuple[Any, Any]]:
    rng = np.random.default_rng(0)
    scores = rng.random((n_rows, N_ITEMS), dtype=np.float32)
    # In small parts, so that making the problem needs no memory to speak of.
    parts = [
        np.argsort(rng.random((100, N_ITEMS)), axis=1)[:, :N_RELEVANT] for _ in range(n_rows // 100)
    ]
    return scores, (
        np.arange(n_rows + 1) * N_RELEVANT,
        np.concatenate(parts).astype(np.int32).ravel(),
    )


def top_lists(scores: Any) -> tuple[Any, Any]:
    """The best 20 of each row by argpartition and a sort: what one hands to a peer that selects nothing."""
    found = np.argpartition(scores, N_ITEMS - KS[-1], axis=1)[:, N_ITEMS - KS[-1] :]
    values = np.take_along_axis(scores, found, axis=1)
    order = np.argsort(-values, axis=1)
    return np.take_along_axis(found, order, axis=1), np.take_along_axis(values, order, axis=1)


def argpartition_lists(scores: Any) -> Any:
    return top_lists(scores)[0]


def torch_lists(scores: Any) -> Any:
    import torch

    return torch.topk(torch.from_numpy(scores), KS[-1]).indices.numpy()


def blocked(select: Callable[[Any], Any], block: int) -> Callable[[Any, Any], dict[str, Any]]:
    """Select and measure block by block, so that scores are still in the cache and nothing large is made."""

    def work(scores: Any, truth: Any) -> dict[str, Any]:
        relevant = truth[1].reshape(-1, N_RELEVANT)
        parts = [
            numpy_metrics(select(scores[start : start + block]), relevant[start : start + block])
            for start in range(0, len(scores), block)
        ]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    return work


def ours(scores: Any, truth: Any, metrics: tuple[str, ...] = METRICS) -> Any:
    result = topk_scores(scores, truth, k=KS, metrics=metrics)
    return result.means


def numpy_metrics(items: Any, relevant: Any) -> dict[str, Any]:
    """The same five metrics with NumPy on lists: a table of the truth, one lookup, one small product."""
    rows = np.arange(len(items))[:, None]
    table = np.zeros((len(items), N_ITEMS), dtype=np.int8)
    table[rows, relevant] = np.arange(1, N_RELEVANT + 1)
    place = table[rows, items]
    # Sums over the first K ranks, for every K at once, as one product with a narrow matrix.
    sums = (place > 0).astype(np.float64) @ np.hstack([FIRST_K, FIRST_K * DISCOUNT[:, None]])
    nearness = NEARNESS[np.arange(KS[-1]), place] @ FIRST_K
    values = {}
    for cut, k in enumerate(KS):
        hits = sums[:, cut]
        values[f"precision@{k}"] = hits / k
        values[f"recall@{k}"] = hits / N_RELEVANT
        values[f"f1@{k}"] = 2 * hits / (k + N_RELEVANT)
        values[f"rmrr@{k}"] = nearness[:, cut] / N_RELEVANT
        values[f"ndcg@{k}"] = sums[:, len(KS) + cut] / DISCOUNT[: min(k, N_RELEVANT)].sum()
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
        {
            f"q{row}": dict(zip(map(str, items[row]), values[row].tolist(), strict=True))
            for row in range(len(items))
        }
    )
    qrels = Qrels(
        {f"q{row}": {str(item): 1 for item in relevant[row]} for row in range(len(items))}
    )
    return evaluate(qrels, run, PEER_METRICS, threads=1)


def pytrec_eval_dicts(scores: Any, truth: Any) -> Any:
    import pytrec_eval

    items, values = top_lists(scores)
    relevant = truth[1].reshape(-1, N_RELEVANT)
    rows = range(len(items))
    run = {
        str(row): dict(zip(map(str, items[row]), values[row].tolist(), strict=True)) for row in rows
    }
    qrels = {str(row): {str(item): 1 for item in relevant[row]} for row in rows}
    cuts = ",".join(map(str, KS))
    wanted = {f"{name}.{cuts}" for name in ("P", "recall", "ndcg_cut", "map_cut", "success")}
    return pytrec_eval.RelevanceEvaluator(qrels, wanted).evaluate(run)


def installed(name: str) -> bool:
    from importlib.util import find_spec

    return find_spec(name) is not None


def report(label: str, seconds: float, unit: float) -> None:
    print(f"{label:<50}{seconds:8.3f} s{seconds / unit:8.2f} x", flush=True)


def measure_memory(scores: Any, truth: Any) -> float:
    """Peak of what NumPy allocates; the resident peak would be hidden by that of the compiler before it."""
    tracemalloc.start()
    ours(scores, truth)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def check_agreement(
    contenders: dict[str, Callable[[Any, Any], Any]], scores: Any, truth: Any
) -> None:
    """A benchmark of wrong numbers is worth nothing: the contenders must give ours, and so must ranx."""
    mine = topk_scores(scores, truth, k=KS, metrics=METRICS)
    for name in ("argpartition and NumPy, blocked", "torch.topk and NumPy, blocked"):
        if name not in contenders:
            continue
        theirs = contenders[name](scores, truth)
        for metric in METRICS:
            for cut, k in enumerate(KS):
                key = "ndcg[idcg=min]" if metric == "ndcg" else metric
                np.testing.assert_allclose(
                    mine.per_sample[key][:, cut], theirs[f"{metric}@{k}"], atol=1e-12
                )
    if installed("ranx"):
        found = ranx_arrays(scores, truth)
        for k in KS:
            np.testing.assert_allclose(
                mine.per_sample["f1"][:, KS.index(k)], found[f"f1@{k}"], atol=1e-12
            )
            np.testing.assert_allclose(
                mine.per_sample["ndcg[idcg=min]"][:, KS.index(k)], found[f"ndcg@{k}"], atol=1e-9
            )


def best_block(select: Callable[[Any], Any], scores: Any, truth: Any) -> int:
    """The block size at which a way to select is fastest, on a tenth of the rows."""
    few = len(scores) // 10
    some = scores[:few], (truth[0][: few + 1], truth[1][: few * N_RELEVANT])
    times = {
        size: cpu_seconds(functools.partial(blocked(select, size), *some), 3) for size in BLOCKS
    }
    return min(times, key=lambda size: times[size])


def make_contenders(scores: Any, truth: Any) -> dict[str, Callable[[Any, Any], Any]]:
    found: dict[str, Callable[[Any, Any], Any]] = {"paragone": ours}
    selections = {"argpartition and NumPy, blocked": argpartition_lists}
    if installed("torch"):
        import torch

        torch.set_num_threads(1)
        selections["torch.topk and NumPy, blocked"] = torch_lists
    else:
        print("torch is not installed: left out")
    for name, select in selections.items():
        size = best_block(select, scores, truth)
        print(f"{name}: {size} rows per block")
        found[name] = blocked(select, size)
    found["argpartition and NumPy, all rows at once"] = blocked(argpartition_lists, len(scores))
    found["paragone, F1 alone"] = functools.partial(ours, metrics=("f1",))
    found["paragone, NDCG alone"] = functools.partial(ours, metrics=("ndcg",))
    ascending, worst = np.sort(scores, axis=1), adversarial(scores)
    found["paragone, ascending rows"] = lambda _, relevant: ours(ascending, relevant)
    found["paragone, worst order for its own selection"] = lambda _, relevant: ours(worst, relevant)
    draws = np.random.default_rng(1).standard_normal((len(scores) + N_ITEMS, 64), dtype=np.float32)
    factors = Factors(draws[N_ITEMS:], draws[:N_ITEMS])
    found["paragone, fused with a 64-factor model"] = lambda _, relevant: ours(factors, relevant)
    found["the product of that model alone, in blocks"] = lambda _, relevant: multiply(factors)
    found["one read of the matrix (max)"] = lambda given, relevant: given.max()
    return found


def multiply(factors: Factors) -> None:
    for start in range(0, len(factors.users), 256):
        factors.block(slice(start, min(start + 256, len(factors.users))))


def rounds(
    contenders: dict[str, Callable[[Any, Any], Any]], scores: Any, truth: Any, n_rounds: int
) -> None:
    """Run all contenders in turn, some rounds long, and print seconds and ratios to ours inside a round."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(n_rounds):
        for name, work in contenders.items():
            times[name].append(cpu_seconds(functools.partial(work, scores, truth)))
    unit = np.asarray(times["paragone"])
    for name, spent in times.items():
        ratios = np.asarray(spent) / unit
        print(
            f"{name:<50}{min(spent):8.3f} s{np.median(ratios):8.2f} x   [{ratios.min():.2f},"
            f" {ratios.max():.2f}]",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=100_000)
    options = parser.parse_args()
    n_rounds = options.rounds
    scores, truth = make_problem(options.rows)
    ours(scores[:300], (truth[0][:301], truth[1][: 300 * N_RELEVANT]))
    memory = measure_memory(scores, truth)
    with threadpool_limits(1):
        contenders = make_contenders(scores, truth)
        check_agreement(contenders, scores, truth)
        print(
            f"\n{options.rows:,} x {N_ITEMS:,} float32, K = {KS}, five metrics, per-sample values,"
            " one thread each"
        )
        print(
            f"least CPU seconds of {n_rounds} rounds, median ratio to paragone, and the range of"
            " the ratio\n"
        )
        rounds(contenders, scores, truth, n_rounds)
        peers(scores, truth, cpu_seconds(lambda: ours(scores, truth), 3))
    print(
        f"\npeak extra memory of paragone: {memory:.0f} MiB (the matrix has"
        f" {scores.nbytes / 2**20:.0f} MiB)"
    )


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
    """Programs with formats of their own, which take all rows at once; each is run once."""
    if installed("pytrec_eval"):
        report(
            "pytrec_eval (dicts of strings)",
            cpu_seconds(lambda: pytrec_eval_dicts(scores, truth)),
            unit,
        )
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
    report(
        "ranx on arrays (argpartition before it)",
        cpu_seconds(lambda: ranx_arrays(scores, truth)),
        unit,
    )
    report(
        "ranx, its usual path (dicts of strings)",
        cpu_seconds(lambda: ranx_usual(scores, truth)),
        unit,
    )
    print(f"{'  and its compilation, once':<50}{compiling:8.3f} s")


if __name__ == "__main__":
    main()
