"""Run pages of the documentation and print, as JSON, the kernels in use and all that the pages' blocks print.

Called as a program of its own, because the kernels of the linear algebra are chosen when it is
loaded.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path

from threadpoolctl import threadpool_info

from documentation_pages import ROOT, Session, code_of

# What differs from run to run on one machine: what it took, how often progress was told, and when
# it was.
TIMES = re.compile(r"\d+(?:\.\d+)?(?:e[+-]\d+)?\s?(?:ms|seconds?|s|minutes?|min|hours?|h)\b")
PROGRESS = re.compile(r"^\d+ of \d+ cells.*\n", re.MULTILINE)
COSTS = re.compile(r"┃[^\n]*CPU s per cell[^└]*└")
RANKED = re.compile(
    r"^( *\d[^\n]*(?:best|better|worse|equivalent|undecided|failed)) +[\d.]+$", re.MULTILINE
)
DATES = re.compile(r"\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2})?)?")


def printed(page: str) -> str:
    """Return all that the blocks of a page print that run without conditions."""
    with tempfile.TemporaryDirectory() as folder:
        session = Session(page, Path(folder))
        for block in code_of(ROOT / page):
            if block.not_run is None and block.condition is None:
                session.run(block)
        text = "\n".join(session.heard).replace(folder, "FOLDER")
    text = COSTS.sub(lambda table: re.sub(r" +\d+\.\d+", " COST", table.group()), text)
    text = RANKED.sub(r"\1 COST", text)
    return DATES.sub("DATE", TIMES.sub("TIME", PROGRESS.sub("", text)))


if __name__ == "__main__":
    found = {page: printed(page) for page in sys.argv[1:]}
    kernels = sorted(
        {str(library["architecture"]) for library in threadpool_info() if "architecture" in library}
    )
    sys.stdout.write("\n" + json.dumps({"kernels": kernels, "pages": found}))
