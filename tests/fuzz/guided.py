"""Let atheris look for inputs by coverage: python tests/fuzz/guided.py READER RUNS; exit code 1 where a reader failed.

The reader's own mutations serve as the custom mutator, so that what atheris keeps because it
reached new code is changed further in the ways that the format needs.
"""

from __future__ import annotations

import contextlib
import random
import sys
import tempfile
import warnings
from contextlib import nullcontext
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parent))
INSTRUMENTED = (
    "paragone.data",
    "paragone.reading",
    "paragone.lab",
    "arff",
    "tomllib",
)
# Only as a program: in a process that goes on, Numba could not compile what was instrumented.
with (
    atheris.instrument_imports(include=list(INSTRUMENTED))
    if __name__ == "__main__"
    else nullcontext()
):
    from readers import READERS

    from paragone.errors import InputError

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108  a folder in memory, where there is one


def main() -> None:
    """Run as a script."""
    name, runs = sys.argv[1], int(sys.argv[2])
    reader = READERS[name]
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory(
        dir=SHARED_MEMORY if SHARED_MEMORY.is_dir() else None
    ) as folder:
        corpus, path = Path(folder) / "corpus", Path(folder) / f"input{reader.ending}"
        corpus.mkdir()
        for number, seed in enumerate(reader.seeds()):
            (corpus / str(number)).write_bytes(seed)

        def target(data: bytes) -> None:
            path.write_bytes(data)
            with contextlib.suppress(InputError):
                reader.read(path)

        def mutate(data: bytes, max_size: int, seed: int) -> bytes:
            if not data:
                return b" "
            with contextlib.suppress(Exception):
                # A container that is broken already cannot be opened to change what is in it.
                return reader.mutate([data], random.Random(seed), reader.words)[:max_size]
            return bytes(atheris.Mutate(data, max_size))

        options = [
            f"-runs={runs}",
            "-max_len=100000",
            "-timeout=20",
            "-rss_limit_mb=6000",
            "-artifact_prefix=" + folder + "/",
        ]
        atheris.Setup([sys.argv[0], *options, str(corpus)], target, custom_mutator=mutate)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
