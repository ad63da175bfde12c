"""Time the reading, pairing and comparing of evaluation logs: two methods on many tasks, as sample lines.

``python benchmarks/intake.py`` writes 2 x 200 files of 25,000 lines (10 million rows, hashes of 64
characters as the harness writes them) into a temporary folder, reads them, pairs them and compares,
and prints the seconds of each step and the largest memory. ``--tasks`` and ``--items`` make it
smaller; ``--text 4500`` gives every line a question of that length, as real logs have:
``--tasks 34 --items 1500 --text 4400`` is 2 x 250 MB, read and compared in at most 5 s and 300 MB.

``python benchmarks/intake.py --table 2000000`` does the same with a long CSV table of so many rows
(207 MB), read and compared in at most 8 s and 600 MB.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import resource
import tempfile
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

from paragone.intake import read_results

TIME = "2026-03-01T10-00-00.123456"
SCRAMBLE = 0x9E3779B97F4A7C15F39CC0605CEDC8341082276BF3A27251F86C6A11D0C18E95


def write_task(folder: Path, task: int, n_items: int, share: float, length: int = 0) -> int:
    """Write the samples of one task and return the bytes."""
    words = ("What is the answer to this question? " * (length // 37 + 1))[:length]
    right = np.random.default_rng(task * 2 + (share > 0.7)).random(n_items) < share
    lines = []
    for place in range(n_items):
        content = f"{(task * n_items + place + 1) * SCRAMBLE % 2**256:064x}"
        lines.append(
            f'{{"doc_id": {place}, "doc": {{"question": "What is {place}? {words}"}}, "target": "A",'
            ' "resps": [["A"]], "filtered_resps": ["A"], "filter": "none", "metrics": ["acc"],'
            f' "doc_hash": "{content}", "prompt_hash": "{content[::-1]}", "target_hash":'
            f' "{content[1:]}0", "acc": {float(right[place])}}}\n'
        )
    text = "".join(lines).encode()
    (folder / f"samples_task{task}_{TIME}.jsonl").write_bytes(text)
    return len(text)


def write_table(path: Path, n_rows: int) -> int:
    """Write a long table of two models on the questions of twenty tasks and return the bytes."""
    n_questions = n_rows // 2
    generator = np.random.default_rng(7)
    with path.open("w") as file:
        file.write("task,question_id,model,correct\n")
        for model, share in (("org/base-7b-instruct", 0.70), ("org/tuned-7b-instruct", 0.71)):
            right = generator.random(n_questions) < share
            for place in range(n_questions):
                content = f"{(place + 1) * SCRAMBLE % 2**256:064x}"
                file.write(f"mmlu_{place % 20:02d},{content},{model},{int(right[place])}\n")
    return path.stat().st_size


def main() -> None:
    """Write the logs or the table, then time each step."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=200)
    parser.add_argument("--items", type=int, default=25_000)
    parser.add_argument("--text", type=int, default=0, help="letters of a question")
    parser.add_argument("--table", type=int, default=0, help="rows of a table, in place of logs")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--folder", type=Path, help="where the logs are, or are written")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = chosen.folder or Path(scratch)
        sources = [folder / "a", folder / "b"]
        if chosen.table:
            folder.mkdir(parents=True, exist_ok=True)
            sources = [folder / "table.csv"]
            if not sources[0].exists():
                size = write_table(sources[0], chosen.table)
                print(f"wrote {chosen.table:,} rows, {size / 1e6:.0f} MB")
        elif not (folder / "a").is_dir():
            size = 0
            for name, share in (("a", 0.71), ("b", 0.70)):
                (folder / name).mkdir(parents=True)
                size += sum(
                    write_task(folder / name, task, chosen.items, share, chosen.text)
                    for task in range(chosen.tasks)
                )
            print(f"wrote {2 * chosen.tasks * chosen.items:,} lines, {size / 2**30:.2f} GiB")
        profile = cProfile.Profile()
        if chosen.profile:
            profile.enable()
        begin = start = perf_counter()
        used = process_time()
        found = read_results(*sources)
        print(f"read      {perf_counter() - start:6.1f} s")
        start = perf_counter()
        found.joined()
        print(f"pair      {perf_counter() - start:6.1f} s")
        start = perf_counter()
        result = found.compare()
        print(f"compare   {perf_counter() - start:6.1f} s (pairing again included)")
        print(
            f"all       {perf_counter() - begin:6.1f} s, {process_time() - used:.1f} s of one core"
        )
        if chosen.profile:
            profile.disable()
            pstats.Stats(profile).sort_stats("cumulative").print_stats(45)
        print(
            f"largest memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10:,.0f} MiB"
        )
        print(result.verdict)


if __name__ == "__main__":
    main()
