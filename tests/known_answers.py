"""The known-answer tests: left out where their data is not there, counted, and never left out where it is.

Hooks of pytest, which `conftest.py` takes over; a plug-in of its own (``-p known_answers``) where
it is tested.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

DEFAULT = Path(__file__).resolve().parents[2] / "shared" / "data"
MARK = "known_answer"
LEFT_OUT = "known-answer test left out: no data folder"
SHOWN = 10


def data_folder_path() -> Path:
    """Return where the data should be, whether or not it is there."""
    return Path(os.environ.get("PARAGONE_TEST_DATA", DEFAULT))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the known-answer tests out where there is no data; where it is there, all of them run."""
    if data_folder_path().is_dir():
        return
    for item in items:
        if item.get_closest_marker(MARK):
            item.add_marker(pytest.mark.skip(reason=LEFT_OUT))


def _outcomes(config: pytest.Config) -> tuple[Counter[str], list[str]]:
    """Count the known-answer tests by outcome and name those left out, from reports, which workers send too."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    run: set[str] = set()
    left_out: dict[str, None] = {}
    for outcome, reports in reporter.stats.items() if reporter else ():
        for report in reports:
            if not isinstance(report, pytest.TestReport) or MARK not in report.keywords:
                continue
            run.add(report.nodeid)
            # A test that is expected to fail is not compared with anything either.
            if outcome in ("skipped", "xfailed"):
                left_out[report.nodeid] = None
    # The setting up of a test that is left out in its middle is reported too: it did not run for
    # that.
    return Counter(run=len(run - left_out.keys()), left_out=len(left_out)), list(left_out)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many known-answer tests ran and how many were left out."""
    counts, names = _outcomes(terminalreporter.config)
    if not sum(counts.values()):
        return
    told = f"known-answer tests: {counts['run']} run, {counts['left_out']} left out"
    folder = data_folder_path()
    if not names:
        terminalreporter.write_line(told)
    elif not folder.is_dir():
        terminalreporter.write_line(
            f"{told} for want of data: there is no folder {folder} (set PARAGONE_TEST_DATA to have"
            " them run)"
        )
    else:
        terminalreporter.write_line(
            f"{told} although the data folder {folder} is there, which is an error:", red=True
        )
        for name in names[:SHOWN]:
            terminalreporter.write_line(f"  {name}", red=True)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run that left a known-answer test out although the data is there."""
    if hasattr(session.config, "workerinput") or not data_folder_path().is_dir():
        return
    if _outcomes(session.config)[1] and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
