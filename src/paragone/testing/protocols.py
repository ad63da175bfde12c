"""check_protocol: run a protocol through its contract, by the doors that users come in by."""

from __future__ import annotations

import json
import pickle
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from typing_extensions import override

from paragone.checks import Audit, audit
from paragone.data import Dataset
from paragone.lab.cells import Cell, Outcome
from paragone.lab.engine import Silent, Tally
from paragone.lab.experiment import Experiment
from paragone.lab.protocol import Protocol
from paragone.lab.results import Results
from paragone.reporting import report
from paragone.testing.contract import Contract, require
from paragone.testing.executors import content_of, first_difference


class _BreaksOff(Silent):
    """Ends a run as Ctrl-C does, after its first cell."""

    @override
    def finished(self, cell: Cell, outcome: Outcome | None, tally: Tally) -> None:
        raise KeyboardInterrupt


@dataclass(frozen=True)
class ProtocolCase:
    """A protocol, and a small experiment to try it in."""

    protocol: Protocol
    data: str | Dataset
    methods: Mapping[str, Any]
    folder: Path
    split: Mapping[str, Any] = field(default_factory=dict)

    def experiment(self) -> Experiment:
        """Return the experiment, declared anew."""
        return Experiment(
            [self.data], dict(self.methods), dict(self.split), self.protocol, name="contract"
        )

    def run(self, name: str, workers: int = 0) -> Path:
        """Run the experiment into a store of its own, or go on with it."""
        path = self.folder / f"{name}.sqlite"
        self.experiment().run(path, workers).close()
        return path

    @cached_property
    def store(self) -> Path:
        """A store with the whole experiment, run in this process."""
        return self.run("whole")

    @cached_property
    def audit(self) -> Audit:
        """What an audit of that store finds."""
        return audit(self.store, declaration=self.experiment(), in_process=True, sample=2)

    def require_same(self, other: Path, how: str) -> None:
        """Require that another store holds the same bytes."""
        mine, others = content_of(self.store), content_of(other)
        for part, rows in mine.items():
            if others[part] != rows:
                raise AssertionError(
                    f"{how}, the {part} are other ones{first_difference(rows, others[part])}"
                )

    def require_silent(self, *codes: str) -> None:
        """Require that the audit found nothing of some kinds."""
        for code in codes:
            for finding in self.audit.of(code):
                raise AssertionError("; ".join((finding.message, *finding.examples)))


PROTOCOL_CONTRACT = Contract[ProtocolCase]("protocol")


def check_protocol(
    protocol: Protocol,
    data: str | Dataset,
    methods: Mapping[str, Any],
    *,
    split: Mapping[str, Any] | None = None,
) -> list[str]:
    """Check that a protocol keeps every law of the contract.

    A small experiment is run with it. The laws: its description is plain values and it can be sent
    to another process; every cell ends well and has scores; a process per cell gives the same
    bytes, and so does a run that was broken off and goes on; what a fit gives does not change with
    the labels of the held-out rows; scores follow from what was kept; a report can be written.

    Parameters
    ----------
    protocol : Protocol
        What is checked.
    data : str or Dataset
        A small dataset that suits it.
    methods : mapping
        Methods by name, as in an `Experiment`.
    split : mapping, optional
        How to split, such as ``{"folds": 2}``.

    Returns
    -------
    list of str
        The laws that were checked.

    Raises
    ------
    AssertionError
        Names the law that is broken and how.

    Examples
    --------
    >>> from paragone.protocols import Curve, KGrid
    >>> laws = check_protocol(Curve(KGrid(2, 4, 2)), "wine-traits", {"Variance": "variance"}, split={"folds": 2})
    >>> laws[0]
    'it says what it is in plain values'
    """
    with tempfile.TemporaryDirectory(prefix="paragone-contract-") as folder:
        case = ProtocolCase(protocol, data, methods, Path(folder), split or {"folds": 2})
        return PROTOCOL_CONTRACT.check(case, name=protocol.kind)


@PROTOCOL_CONTRACT.law("it says what it is in plain values")
def _describes_itself(case: ProtocolCase) -> None:
    require(case.protocol.kind.isidentifier(), f"its kind {case.protocol.kind!r} is not a word")
    described = case.protocol.described()
    require(
        json.loads(json.dumps(described)).get("kind") == case.protocol.kind,
        "its description has no kind",
    )


@PROTOCOL_CONTRACT.law("it can be sent to another process")
def _pickles(case: ProtocolCase) -> None:
    again = pickle.loads(pickle.dumps(case.protocol))  # noqa: S301 - our own bytes
    require(
        again.identity() == case.protocol.identity(), "the one that was sent has another identity"
    )


@PROTOCOL_CONTRACT.law("every cell ends well and has scores")
def _ends_well(case: ProtocolCase) -> None:
    with Results.open(case.store) as results:
        for failure in results.failures().itertuples():
            raise AssertionError(
                f"{failure.method} on {failure.dataset}, fold {failure.fold}: {failure.traceback}"
            )
        scores = results.scores()
    require(len(scores), "there are no scores")
    require(scores["value"].notna().any(), "all scores are NaN")


@PROTOCOL_CONTRACT.law("a process per cell gives the same bytes")
def _is_hermetic(case: ProtocolCase) -> None:
    case.require_same(case.run("apart", workers=1), "in processes of their own")


@PROTOCOL_CONTRACT.law("a run that was broken off goes on to the same bytes")
def _goes_on(case: ProtocolCase) -> None:
    path = case.folder / "broken.sqlite"
    try:
        case.experiment().run(path, 0, observer=_BreaksOff()).close()
    except KeyboardInterrupt:
        case.require_same(case.run("broken"), "after it was broken off")
        return
    raise AssertionError("the run was not broken off: no cell was told of")


@PROTOCOL_CONTRACT.law("what a fit gives follows from the train rows alone, the same every time")
def _fits_on_train(case: ProtocolCase) -> None:
    case.require_silent("PG110", "PG201")
    require(
        any(one.check.startswith("canary") for one in case.audit.checked),
        "no cell could be run with other labels",
    )


@PROTOCOL_CONTRACT.law("scores follow from what was kept")
def _scores_follow(case: ProtocolCase) -> None:
    case.require_silent("PG301", "PG302")


@PROTOCOL_CONTRACT.law("a report can be written")
def _can_be_reported(case: ProtocolCase) -> None:
    files = report(case.store, case.folder / "report", charts=False)
    require(any(file.name == "report.html" for file in files), "there is no page")
