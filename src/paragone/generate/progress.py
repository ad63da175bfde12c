"""Progress: where a search stands, and the time it has taken, earlier runs included."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from pathlib import Path

from paragone.errors import InputError


@dataclass(frozen=True)
class Progress:
    """Where a search stands.

    Parameters
    ----------
    generation : int
        Generations done.
    seen, rejected, duplicates, scouted, fitted, failed : int
        Candidates made; no dataset; met before; looked over by scouts; scored by every method; cells that failed.
    niches, concepts : int
        Filled niches of the archive, and the concepts in it.
    covered : int
        Pairs whose margin some candidate reaches in screening.
    raced, measured : int
        Candidates that were raced, and those that were measured in full.
    proven, proven_concepts, pairs : int
        Pairs that are proven, concepts that prove some pair, and all pairs.
    seconds : float
        Since the search began, pauses between runs left out.
    """

    generation: int = 0
    seen: int = 0
    rejected: int = 0
    duplicates: int = 0
    scouted: int = 0
    fitted: int = 0
    failed: int = 0
    niches: int = 0
    concepts: int = 0
    covered: int = 0
    raced: int = 0
    measured: int = 0
    proven: int = 0
    proven_concepts: int = 0
    pairs: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        return (
            f"generation {self.generation}: {self.proven} of {self.pairs} pairs proven by {self.proven_concepts} "
            f"concepts, {self.measured} measured, {self.raced} raced; "
            f"screened: {self.covered} pairs, {self.niches} niches, {self.concepts} concepts; {self.seen} seen, "
            f"{self.rejected} rejected, {self.duplicates} duplicates, {self.scouted} scouted, "
            f"{self.fitted} fitted, {self.failed} failed"
        )


@dataclass
class Stopwatch:
    """The time a search has taken at each of its moments, kept in a file so that a resumed search goes on counting.

    Parameters
    ----------
    path : Path, optional
        A file with a line a moment; nothing is kept where it is not given.
    key : str
        Of the search: lines of other searches in the file are left alone.

    Examples
    --------
    >>> watch = Stopwatch()
    >>> watch.at((1, 0)) <= watch.at((2, 0))
    True
    """

    path: Path | None = None
    key: str = ""
    _past: dict[tuple[int, int], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._begun = time.monotonic()
        self._before, self._ending = 0.0, ""
        if self.path is None or not self.path.exists():
            return
        text = self.path.read_text(encoding="utf-8")
        self._ending = "\n" if text and not text.endswith("\n") else ""
        for line in text.splitlines():
            # A kill in the middle of a write leaves a last line that is cut: that moment is timed again.
            try:
                entry = json.loads(line)
                if entry["search"] == self.key:
                    self._past[entry["generation"], entry["raced"]] = float(entry["seconds"])
            except ValueError:
                continue
            except (KeyError, TypeError) as error:
                raise InputError(f"{self.path} is not the time table of a search: {error}") from error
        # All that earlier runs took counts, what they proved after their last generation too.
        self._before = max(self._past.values(), default=0.0)

    def at(self, moment: tuple[int, int]) -> float:
        """Return the seconds at a moment: those of the first time it was reached."""
        if moment in self._past:
            self._begun = time.monotonic()
            return self._past[moment]
        now = time.monotonic()
        seconds = self._before + now - self._begun
        self._past[moment], self._before, self._begun = seconds, seconds, now
        if self.path is not None:
            entry = {"search": self.key, "generation": moment[0], "raced": moment[1], "seconds": round(seconds, 3)}
            with self.path.open("a", encoding="utf-8") as file:
                file.write(self._ending + json.dumps(entry) + "\n")
            self._ending = ""
        return seconds
