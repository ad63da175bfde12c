"""A trial: one run of the experiment that a fault meets at a random instant, and the judgement on it."""

from __future__ import annotations

import random
import re
import shutil
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from faults.fork_server import Command, ForkServer
from faults.lab import Contents, assert_sound, contents, count_cells, lab_of

N_METHODS, FOLDS = 8, 5
N_CELLS = N_METHODS * FOLDS
NAP_SECONDS = 0.02
PROGRESS = re.compile(rf"(\d+) of {N_CELLS} cells")


@dataclass(frozen=True)
class Outcome:
    """What came of a trial; times are left out, so that equal seeds tell equal stories as far as they can."""

    fault: str
    number: int
    variant: str
    at_cell: int
    codes: tuple[int, ...]
    sentence: str
    reported: int
    kept: int
    computed_again: int
    refused: bool = False
    repaired: bool = False
    mended: bool = True

    def as_dict(self) -> dict[str, object]:
        """Return it as plain values."""
        return asdict(self)


class Bench:
    """Where trials are made: the experiment, a server that starts runs of it, and the undisturbed result."""

    def __init__(self, folder: Path, environment: dict[str, str] | None = None) -> None:
        self.folder = folder
        self.lab = lab_of(folder, N_METHODS, FOLDS)
        self.server = ForkServer(self.lab, environment)
        undisturbed = self.start(folder, folder / "reference.sqlite", nap=0.0)
        assert undisturbed.wait() == 0, undisturbed.errors
        assert_sound(folder / "reference.sqlite", N_CELLS)
        self.reference = contents(folder / "reference.sqlite")

    def start(
        self,
        folder: Path,
        store: Path,
        *options: str,
        workers: int = 0,
        nap: float = NAP_SECONDS,
        fits: str = "fits",
        **environment: str,
    ) -> Command:
        """Start a run into a store; its fits are noted in the folder."""
        # Without workers all is in one process, which starts at once: a fault is tried at many
        # instants.
        where = ("--workers", workers) if workers else ("--isolation", "none")
        arguments = ("run", self.lab, "--store", store, *where, *options)
        told = {"LAB_NAP": str(nap), "LAB_FITS": str(folder / fits), **environment}
        return self.server.start(arguments, folder, **told)

    def close(self) -> None:
        """End the server."""
        with self.server:
            pass


@dataclass
class Trial:
    """One trial of a fault; its number seeds everything random in it."""

    bench: Bench
    fault: str
    number: int
    variant: str = ""
    at_cell: int = 0
    runs: list[Command] = field(default_factory=list)
    history: list[tuple[float, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = random.Random(f"{self.fault} {self.number}")
        self.folder = self.bench.folder / f"{self.fault.replace(' ', '-')}-{self.number}"
        self.folder.mkdir()
        self.store = self.folder / "a.sqlite"

    def start(self, *options: str, **how: object) -> Command:
        """Start a run that the fault may meet."""
        run = self.bench.start(self.folder, self.store, *options, **how)
        self.runs.append(run)
        return run

    def await_instant(self, run: Command) -> None:
        """Wait until a random number of cells was computed, and a random moment more."""
        self.at_cell = self.random.randrange(N_CELLS)
        fits = self.folder / "fits"
        deadline = time.monotonic() + 90
        while (count := count_lines(fits)) < self.at_cell and not run.ended:
            assert time.monotonic() < deadline, run.errors
            self.history.append((time.monotonic(), count))
            time.sleep(0.002)
        time.sleep(self.random.uniform(0.0, 0.3 if self.at_cell == 0 else 0.04))

    def command(self, verb: str, *options: object) -> Command:
        """Run another verb on the store, to its end."""
        command = self.bench.server.start((*verb.split(), self.store, *options), self.folder)
        command.wait()
        return command

    def judge(self, codes: set[int], *, deleted: bool = False) -> Outcome:
        """Check every law on what the fault left, resume, and check again.

        Parameters
        ----------
        codes : set of int
            The exit codes that the runs may have ended with.
        deleted : bool, default=False
            Whether the fault took results away, so that those reported need not be there.
        """
        ended = tuple(run.wait() for run in self.runs)
        for run, code in zip(self.runs, ended, strict=True):
            assert code in codes, (self, code, run.errors)
            assert_speaks_clearly(run, code)
        reported = max(reported_by(run) for run in self.runs)
        kept = count_done(self.store, self.bench.reference)
        assert deleted or kept >= reported, (self, kept, reported)
        again = repeated_lines(self.folder / "fits")
        self.resume(kept)
        return self.outcome(ended, reported, kept, again)

    def resume(self, kept: int) -> None:
        """Run to the end: only what is missing is computed, and all is as if nothing had happened."""
        run = self.bench.start(self.folder, self.store, "--retry-failed", nap=0.0, fits="later")
        assert run.wait() == 0, (self, run.errors)
        assert_speaks_clearly(run, 0)
        assert_sound(self.store, N_CELLS)
        assert contents(self.store) == self.bench.reference, self
        assert count_lines(self.folder / "later") == N_CELLS - kept, self

    def outcome(
        self, codes: tuple[int, ...], reported: int, kept: int, again: int, **more: bool
    ) -> Outcome:
        """Sum up the trial."""
        sentence = next((sentence_of(run) for run in self.runs if sentence_of(run)), "")
        sentence = sentence.replace(f"{self.folder}/", "")
        shutil.rmtree(self.folder, ignore_errors=True)
        return Outcome(
            self.fault,
            self.number,
            self.variant,
            self.at_cell,
            codes,
            sentence,
            reported,
            kept,
            again,
            **more,
        )

    def __repr__(self) -> str:
        return (
            f"{self.fault} {self.number} ({self.variant}) at cell {self.at_cell} in {self.folder}"
        )


def assert_speaks_clearly(command: Command, code: int) -> None:
    """Check that a user sees sentences: never a traceback, and always one where the command gave up."""
    assert "Traceback" not in command.errors, command.errors
    assert "Error:" not in command.errors, command.errors
    if code == 2:
        assert sentence_of(command), command.errors
        assert len(sentence_of(command)) < 500


def sentence_of(command: Command) -> str:
    """Return the sentence that a command gave up with; empty where it did not."""
    lines = [line for line in command.errors.splitlines() if line.startswith("paragone: ")]
    return lines[-1].removeprefix("paragone: ") if lines else ""


def reported_by(command: Command) -> int:
    """Return how many cells a run said were finished."""
    return max((int(count) for count in PROGRESS.findall(command.errors)), default=0)


def count_done(store: Path, reference: Contents) -> int:
    """Count the done cells and check them: each is there once, and all of it equals the undisturbed one."""
    if count_cells(store) == 0:
        return 0
    found = contents(store)
    for name, rows in found.items():
        assert len(set(rows)) == len(rows)
        assert set(rows) <= set(reference[name]), name
    scored = {row[0] for row in found["scores"]}
    assert scored == {row[0] for row in found["predictions"]}
    whole = [row for row in reference["scores"] if row[0] in scored]
    assert found["scores"] == whole
    return len(scored)


def count_lines(path: Path) -> int:
    """Count the lines of a file that may not be there yet."""
    return path.read_bytes().count(b"\n") if path.exists() else 0


def repeated_lines(path: Path) -> int:
    """Count the lines that stood in the file before."""
    lines = path.read_text().splitlines() if path.exists() else []
    return len(lines) - len(set(lines))
