"""Feed a reader with hostile inputs: python tests/fuzz/run.py READER [COUNT] [SEED]; exit code 1 where it failed.

Nothing but success or `InputError` is right. An input that takes more than `SECONDS` or more memory
than `MEMORY` is a failure too. The inputs that failed are kept, and the same seed makes the same
inputs again.
"""

from __future__ import annotations

import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from readers import READERS

from paragone.errors import InputError

SECONDS = 10
MEMORY = 6 * 2**30
KEPT = 20
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108  a folder in memory, where there is one


class TooSlowError(Exception):
    """An input took too long."""


@dataclass
class Outcome:
    """What came of a number of inputs: how many were read and refused, how fast, and what failed, with an input."""

    reader: str
    inputs: int = 0
    read: int = 0
    refused: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    failures: Counter[str] = field(default_factory=Counter)
    examples: dict[str, bytes] = field(default_factory=dict)

    def __str__(self) -> str:
        rate = self.inputs / self.seconds if self.seconds else 0.0
        line = (
            f"{self.reader:12} {self.inputs:>8,} inputs {self.read:>8,} read {self.refused:>8,}"
            f" refused {sum(self.failures.values()):>6,} failed {rate:>8,.0f} a second, slowest"
            f" {self.slowest:.2f} s"
        )
        return "\n".join(
            [line, *(f"  {count:>6,} x {what}" for what, count in self.failures.most_common())]
        )


def fuzz(name: str, count: int, seed: int = 0, *, last: Path | None = None) -> Outcome:
    """Try a number of inputs on a reader; each is left in ``last`` while it is tried, should the process die."""
    reader, outcome, rng = READERS[name], Outcome(name), random.Random(seed)
    seeds = reader.seeds()
    place = SHARED_MEMORY if SHARED_MEMORY.is_dir() else None
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory(dir=place) as folder:
        path = Path(folder) / f"input{reader.ending}"
        begun = time.perf_counter()
        for _ in range(count):
            data = reader.mutate(seeds, rng, reader.words)
            path.write_bytes(data)
            if last is not None:
                last.write_bytes(data)
            _try(reader.read, path, data, outcome)
        outcome.seconds = time.perf_counter() - begun
    return outcome


def _try(read, path: Path, data: bytes, outcome: Outcome) -> None:
    outcome.inputs += 1
    begun = time.perf_counter()
    signal.alarm(SECONDS)
    try:
        read(path)
        outcome.read += 1
    except InputError:
        outcome.refused += 1
    except (
        Exception,  # noqa: BLE001
        RecursionError,
        MemoryError,
        TooSlowError,
    ) as error:  # noqa: BLE001, RUF100
        where = traceback.extract_tb(error.__traceback__)
        ours = [
            frame
            for frame in where
            if "paragone" in frame.filename and "fuzz" not in frame.filename
        ]
        frame = (ours or where)[-1]
        what = (
            f"{type(error).__name__} in {Path(frame.filename).name}:{frame.lineno}:"
            f" {str(error)[:100]!r}"
        )
        outcome.failures[what[:160]] += 1
        if len(outcome.examples) < KEPT:
            outcome.examples.setdefault(what[:160], data)
    finally:
        signal.alarm(0)
    outcome.slowest = max(outcome.slowest, time.perf_counter() - begun)


def _too_slow(*_: object) -> None:
    raise TooSlowError(f"more than {SECONDS} seconds")


def main() -> int:
    """Run as a script."""
    name = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    signal.signal(signal.SIGALRM, _too_slow)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    folder = Path(
        tempfile.mkdtemp(
            prefix=f"fuzz-{name}-", dir=SHARED_MEMORY if SHARED_MEMORY.is_dir() else None
        )
    )
    outcome = fuzz(name, count, seed, last=folder / "last")
    sys.stdout.write(f"{outcome}\n")
    for number, (what, data) in enumerate(outcome.examples.items()):
        (folder / f"{number}").write_bytes(data)
        sys.stdout.write(f"  kept {folder / str(number)}: {what}\n")
    if not outcome.examples:
        (folder / "last").unlink(missing_ok=True)
        folder.rmdir()
    return 1 if outcome.failures else 0


if __name__ == "__main__":
    sys.exit(main())
