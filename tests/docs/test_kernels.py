"""What the pages print does not depend on the processor: byte by byte the same under other kernels and threads.

OpenBLAS adds up in another order on every family of processors, which changes the last bits of
everything that is fitted. OPENBLAS_CORETYPE makes it use the kernels of another family, where the
processor has the instructions.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from threadpoolctl import threadpool_info

from documentation_pages import ROOT, code_of, pages

HERE = Path(__file__).parent
NEEDS = {
    "Nehalem": "sse4_2",
    "Haswell": "avx2",
    "Zen": "avx2",
    "Prescott": "pni",
    "Sandybridge": "avx",
    "SkylakeX": "avx512f",
}
"""Core types of OpenBLAS for this kind of processor, and the instructions that each needs, as Linux names them."""
FAST = ("Haswell", "Zen", "Nehalem")
PAGE = "docs/howto-crossval.md"
"""The page whose variants are equal in exact arithmetic; other pages are in the long run."""


@cache
def _flags() -> frozenset[str]:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    return frozenset(
        next((line.split(":")[1].split() for line in lines if line.startswith("flags")), ())
    )


def _check_runnable(core: str) -> None:
    """Leave a core type out where this machine cannot run it, and say why; the summary of the tests counts it."""
    import numpy  # noqa: F401  loads OpenBLAS, if it is what NumPy uses

    if not any(library["internal_api"] == "openblas" for library in threadpool_info()):
        pytest.skip(f"core type {core} left out: NumPy does not use OpenBLAS here")
    if NEEDS[core] not in _flags():
        pytest.skip(f"core type {core} left out: this processor has no {NEEDS[core]}")


@cache
def transcript(page: str, core: str, threads: int) -> tuple[tuple[str, ...], str]:
    """Return the kernels that were in use and what the page printed, from a process of its own."""
    path = os.pathsep.join([str(HERE.parent), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    told = {"OPENBLAS_CORETYPE": core, "OPENBLAS_NUM_THREADS": str(threads), "PYTHONPATH": path}
    command = [sys.executable, str(HERE / "transcript.py"), page]
    ended = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **told}, check=False
    )
    assert ended.returncode == 0, f"{page} under {core}:\n{ended.stderr[-4000:]}"
    found = json.loads(ended.stdout.splitlines()[-1])
    return tuple(found["kernels"]), found["pages"][page]


def _pages_that_print() -> list[str]:
    found = []
    for page in pages():
        blocks = [b for b in code_of(page) if b.not_run is None and b.condition is None]
        if any(">>> " in block.text or block.language == "console" for block in blocks):
            found.append(str(page.relative_to(ROOT)))
    return found


@pytest.mark.parametrize("core", FAST[1:])
def test_the_page_of_equal_variants_prints_the_same_bytes_under_other_kernels(core):
    for each in (FAST[0], core):
        _check_runnable(each)
    assert transcript(PAGE, core, 1)[1] == transcript(PAGE, FAST[0], 1)[1]


def test_the_kernels_asked_for_are_the_kernels_used():
    for core in ("Haswell", "Nehalem"):
        _check_runnable(core)
        assert transcript(PAGE, core, 1)[0] == (core,)


@pytest.mark.slow
@pytest.mark.parametrize("page", _pages_that_print())
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("core", list(NEEDS))
def test_every_page_prints_the_same_bytes_under_all_kernels_and_threads(core, threads, page):
    _check_runnable(core)
    assert transcript(page, core, threads)[1] == transcript(page, "Nehalem", 1)[1]
