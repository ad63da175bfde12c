"""Write many charts at once: drawing is the slowest part of a report, and every core can draw."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paragone.charts.save import (
    draw_svg,
    one_font_is_enough,
    save_for_print,
    use_the_bundled_font,
    vega_lite_version,
)
from paragone.cores import available_cores

if TYPE_CHECKING:
    from concurrent.futures import Future

    from loky import ProcessPoolExecutor

WORTH_PROCESSES = 12
MOST_PROCESSES = 4
LONGEST_STEM = 80
SCHEMAS = "https://vega.github.io/schema/vega-lite"


def file_stem(name: str) -> str:
    """Return a file name for anything that has a name: no two names share one, and all are safe on every system.

    Examples
    --------
    >>> file_stem("emotions_micro_f1"), file_stem("a/b"), file_stem("a b")
    ('emotions_micro_f1', 'a_b-c14cdd', 'a_b-c8687a')
    """
    safe = re.sub(r"[^A-Za-z0-9_.@-]+", "_", name).lstrip(".-")
    if safe == name and 0 < len(name) <= LONGEST_STEM:
        return name
    # What was replaced or cut away is told apart by a few digits of a hash.
    return f"{safe[: LONGEST_STEM - 7]}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"


class Drawing:
    """Charts on their way into files; the first few wait until it is clear whether processes are worth starting."""

    def __init__(self, *, wanted: bool = True) -> None:
        self._wanted = wanted
        self._waiting: list[tuple[Path, Mapping[str, Any]]] = []
        self._futures: list[Future[Any]] = []
        self._processes: dict[bool, ProcessPoolExecutor] = {}
        self._begun: set[Path] = set()

    def add(self, stem: Path, specification: Mapping[str, Any]) -> None:
        """Draw a chart as SVG and PDF into a file given without its ending; one that was begun is not begun again."""
        if stem in self._begun or not self._wanted:
            return
        self._begun.add(stem)
        stem.parent.mkdir(parents=True, exist_ok=True)
        self._waiting.append((stem, specification))
        if self._futures or self._worth_processes(len(self._waiting)):
            self._futures += [
                self._pool(plain=one_font_is_enough(specification)).submit(
                    save_for_print, dict(specification), path
                )
                for path, specification in self._waiting
            ]
            self._waiting.clear()

    def expect(self, charts: int) -> None:
        """Say how many charts will come at least: processes that are worth it start at once, while scores are read."""
        if not self._wanted or not self._worth_processes(charts):
            return
        pool = self._pool(plain=True)
        self._futures.append(pool.submit(os.getpid))
        # The processes start while this one imports Altair to ask.
        version = vega_lite_version()
        nothing = {
            "$schema": f"{SCHEMAS}/v{version}.0.json",
            "data": {"values": []},
            "mark": "point",
        }
        # A process that has drawn an empty chart has the renderer ready.
        self._futures += [pool.submit(draw_svg, nothing) for _ in range(available_cores())]

    def _worth_processes(self, charts: int) -> bool:
        return charts >= WORTH_PROCESSES and available_cores() > 1

    def _pool(self, *, plain: bool) -> ProcessPoolExecutor:
        """Return processes to draw with: with one font only, where that has all the letters, or with the system's."""
        # Loky's processes, unlike spawned ones, need no guard in the script of whoever calls this.
        from loky import ProcessPoolExecutor

        if plain not in self._processes:
            begin = {"initializer": use_the_bundled_font} if plain else {}
            self._processes[plain] = ProcessPoolExecutor(
                min(MOST_PROCESSES, available_cores()), **begin
            )
        return self._processes[plain]

    def finish(self) -> None:
        """Wait until every chart is written; what went wrong with one is raised here."""
        for stem, specification in self._waiting:
            save_for_print(specification, stem)
        for future in self._futures:
            future.result()

    def close(self) -> None:
        """End the processes, whatever they are at."""
        for processes in self._processes.values():
            processes.shutdown(wait=True, kill_workers=True)


@contextmanager
def drawn_charts(*, wanted: bool = True) -> Iterator[Drawing]:
    """Draw charts into files while the caller goes on with other work; all are written when it ends.

    Parameters
    ----------
    wanted : bool, default=True
        Whether anything is drawn at all.

    Yields
    ------
    Drawing
        Takes the charts.
    """
    drawing = Drawing(wanted=wanted)
    try:
        yield drawing
        drawing.finish()
    finally:
        drawing.close()
