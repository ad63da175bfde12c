"""Write many charts at once: drawing is the slowest part of a report, and every core can draw."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from paragone.charts import save_chart
from paragone.experiment.environment import available_cores

WORTH_PROCESSES = 12


@contextmanager
def written_charts(charts: Mapping[Path, Mapping[str, Any]]) -> Iterator[None]:
    """Draw charts into files while the caller goes on with other work; all are written when it ends.

    Parameters
    ----------
    charts : mapping of Path to specification
        File without its ending, and what is drawn there as SVG and PDF.
    """
    for folder in {stem.parent for stem in charts}:
        folder.mkdir(parents=True, exist_ok=True)
    if len(charts) < WORTH_PROCESSES or available_cores() < 2:
        for stem, specification in charts.items():
            save_chart(specification, stem)
        yield
        return
    # Loky's processes, unlike spawned ones, need no guard in the script of whoever calls this.
    from loky import ProcessPoolExecutor

    with ProcessPoolExecutor(min(4, available_cores())) as processes:
        futures = [processes.submit(save_chart, dict(spec), stem) for stem, spec in charts.items()]
        yield
        for future in futures:
            future.result()
