"""SMGCN seconds an epoch on CPU and GPU, and a fused score-and-select pass over a large factor model.

Run as ``python benchmarks/topk_gpu.py [--users N] [--items N] [--epochs N] [--herb FOLDER]``.
Wall-clock seconds, as a GPU's work is not the process's CPU time; the GPU is waited for before each
reading. Without a GPU it says so and measures the CPU part alone, on fewer users.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from paragone.data.prescriptions import Prescriptions, cooccurring_pairs, read_prescriptions
from paragone.methods.recommenders.smgcn import SMGCN
from paragone.methods.recommenders.smgcn.log import Observation
from paragone.methods.recommenders.smgcn.settings import build_graphs
from paragone.methods.recommenders.smgcn.training import Trainer
from paragone.metrics.topk import Factors, topk_scores
from paragone.metrics.topk.device import DEVICE_TILE, select_tile, tile_scores

N_FACTORS, PLACES = 64, 20


def herb_rows(folder: Path | None) -> Prescriptions:
    """The herb data, or made-up rows of about their sizes and density where there are none."""
    if folder is not None:
        return read_prescriptions(folder / "train.txt")
    rng = np.random.default_rng(0)
    tokens, items = (1.0 / (np.arange(size) + 4.0) ** 1.5 for size in (360, 753))
    rows = [(draw(rng, tokens, 1.54), draw(rng, items, 6.98)) for _ in range(22_917)]
    return Prescriptions.from_rows(rows, n_tokens=360, n_items=753)


def draw(rng: np.random.Generator, weights: Any, mean: float) -> list[int]:
    size = 1 + int(rng.poisson(mean - 1))
    return list(rng.choice(len(weights), size, replace=False, p=weights / weights.sum()).tolist())


def seconds(work: Callable[[], Any], repeats: int, device: str) -> float:
    times = []
    for _ in range(repeats):
        wait(device)
        began = time.perf_counter()
        work()
        wait(device)
        times.append(time.perf_counter() - began)
    return min(times)


def wait(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def seconds_an_epoch(rows: Prescriptions, device: str, epochs: int) -> float:
    settings = SMGCN(device=device)._settings()
    graphs = build_graphs(
        rows, cooccurring_pairs(rows.queries, 5), cooccurring_pairs(rows.multi_hot(), 40)
    )
    trainer = Trainer(settings, graphs, rows, None, Observation(), "")
    torch.set_num_threads(1)
    trainer.train_epoch(0)
    return seconds(lambda: trainer.train_epoch(1), epochs, device)


def fused_pass(users: Any, items: Any) -> None:
    """Score and select, tile by tile, as `topk_scores` does it on a device; the lists stay there."""
    for start in range(0, len(users), DEVICE_TILE):
        scores = tile_scores(torch, users[start : start + DEVICE_TILE], items)
        select_tile(torch, scores, len(items), PLACES)


def plain_pass(users: Any, items: Any) -> None:
    """The same with torch.topk over whole rows."""
    for start in range(0, len(users), DEVICE_TILE):
        torch.topk(tile_scores(torch, users[start : start + DEVICE_TILE], items), PLACES, dim=1)


def multiply(users: Any, items: Any) -> None:
    """The matrix product alone, into one buffer."""
    scores = torch.empty((DEVICE_TILE, len(items)), dtype=users.dtype, device=users.device)
    for start in range(0, len(users), DEVICE_TILE):
        part = users[start : start + DEVICE_TILE]
        torch.matmul(part, items.T, out=scores[: len(part)])


def factor_model(n_users: int, n_items: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return (
        rng.standard_normal((n_users, N_FACTORS), dtype=np.float32),
        rng.standard_normal((n_items, N_FACTORS), dtype=np.float32),
    )


def on_gpu(n_users: int, n_items: int) -> None:
    torch.backends.cuda.matmul.allow_tf32 = False
    users, items = factor_model(n_users, n_items)
    on_device = torch.as_tensor(users).cuda(), torch.as_tensor(items).cuda()
    product = seconds(lambda: multiply(*on_device), 3, "cuda")
    print(f"GPU, {n_users:,} x {n_items:,} of {N_FACTORS} factors, float32, best {PLACES}:")
    truth = (np.arange(n_users + 1), np.zeros(n_users, dtype=np.int32))
    passes: list[tuple[str, Callable[[], Any]]] = [
        ("score and select, factors on the GPU", lambda: fused_pass(*on_device)),
        ("score and torch.topk of whole rows", lambda: plain_pass(*on_device)),
        ("topk_scores from NumPy to metrics", lambda: evaluate(users, items, truth, "cuda")),
    ]
    print(f"  {'the matrix product alone':<40}{product:8.3f} s{1:8.1f} x", flush=True)
    for name, work in passes:
        work()
        spent = seconds(work, 3, "cuda")
        print(f"  {name:<40}{spent:8.3f} s{spent / product:8.1f} x", flush=True)
    few = (truth[0][:5001], truth[1][:5000])
    there, here = (
        evaluate(users[:5000], items, few, device).ranking.items for device in ("cuda", None)
    )
    # The two round their products differently, so near-equal neighbours may change places.
    print(
        "  places (of the first 5,000 users) with the same item as on the CPU:"
        f" {np.mean(there == here):.6f}"
    )
    print(f"  peak GPU memory: {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB")


def evaluate(users: Any, items: Any, truth: Any, device: str | None) -> Any:
    return topk_scores(Factors(users, items, device), truth, k=PLACES, metrics=("recall", "ndcg"))


def on_cpu(n_users: int, n_items: int) -> None:
    users, items = factor_model(n_users, n_items)
    truth = (np.arange(n_users + 1), np.zeros(n_users, dtype=np.int32))
    evaluate(users[:300], items, (truth[0][:301], truth[1][:300]), None)
    with threadpool_limits(1):
        product = seconds(
            lambda: [users[at : at + 256] @ items.T for at in range(0, n_users, 256)], 2, "cpu"
        )
        fused = seconds(lambda: evaluate(users, items, truth, None), 2, "cpu")
    print(f"CPU engine, {n_users:,} x {n_items:,}, one thread: product {product:.3f} s, "
          f"with selection and metrics {fused:.3f} s ({fused / product:.1f} x)", flush=True)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=1_000_000)
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--cpu-users", type=int, default=50_000)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--herb", type=Path)
    options = parser.parse_args()
    rows = herb_rows(options.herb)
    print(f"torch {torch.__version__}; SMGCN on {rows}")
    devices = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
    for device in devices:
        name = torch.cuda.get_device_name() if device == "cuda" else "one CPU thread"
        print(
            f"SMGCN, {name}: {seconds_an_epoch(rows, device, options.epochs):.3f} s an epoch",
            flush=True,
        )
    on_cpu(options.cpu_users, options.items)
    if "cuda" in devices:
        on_gpu(options.users, options.items)
    else:
        print("no GPU here: the pass over the large model was left out")


if __name__ == "__main__":
    main()
