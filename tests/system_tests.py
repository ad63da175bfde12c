"""Which tests try the whole system: they start processes, browsers or clusters, or draw whole pages.

Tests that train or search for seconds belong here too. They are marked `system` here, file by file,
or by the mark itself in a file of mixed tests. `make test` runs them, `make test-fast`, which a
developer runs all day, does not.
"""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

SYSTEM = (
    "src/paragone/generate/shipped.py",  # fits all methods
    "src/paragone/generate/inspection.py",
    "src/paragone/testing/executors.py",  # starts worker processes
    "src/paragone/testing/protocols.py",
    "tests/charts",  # the renderer of charts, a program of its own
    "tests/checks/test_audit.py",  # whole stores, run and audited
    "tests/checks/test_published.py",  # whole reports, written and read back
    "tests/checks/test_method_leaks.py",  # every method run some ten times
    "tests/checks/test_reruns.py",
    "tests/cli",  # whole commands, many of them in processes of their own
    "tests/generate/digen/test_expression.py",  # a thousand trees, evaluated twice
    "tests/data/test_hostile_files.py",  # each file in a process with little memory
    "tests/data/test_mat_versions.py",
    "tests/data/test_prescription_sets.py",
    "tests/data/test_real_files.py",
    "tests/docs/test_kernels.py",  # pages in processes of their own
    "tests/docs/test_pages.py",
    "tests/examples",
    "tests/extension",  # whole commands
    "tests/fuzz",
    "tests/generate/test_published.py",  # whole searches
    "tests/generate/test_evolve.py",
    "tests/generate/test_proving.py",
    "tests/generate/test_scouts.py",  # compiles the kernels
    "tests/lab/engine",  # processes that are ended, clusters
    "tests/lab/store/test_checking.py",  # stores damaged byte by byte
    "tests/lab/test_experiment.py",
    "tests/lab/test_kept_logs.py",  # training runs
    "tests/lab/test_limits.py",
    "tests/protocols/test_round_trip.py",
    "tests/lab/test_seeds.py",  # every seeded ranker on every form of the data
    "tests/methods/recommenders/test_classic_log.py",  # training runs
    "tests/methods/recommenders/test_smgcn.py",
    "tests/methods/test_presets.py",  # every preset, built and fitted
    "tests/protocols/crossval/test_edge_cases.py",  # whole runs
    "tests/protocols/crossval/test_path_rank.py",
    "tests/protocols/crossval/test_protocol.py",
    "tests/protocols/topk/test_protocol.py",
    "tests/methods/rankers/test_guard.py",  # LSMFS on every real dataset
    "tests/methods/rankers/test_published_figures.py",
    "tests/methods/rankers/test_transcriptions.py",
    "tests/reporting/live",
    "tests/reporting/test_chart_files.py",
    "tests/reporting/test_crossval_report.py",
    "tests/reporting/test_crossval_words.py",  # whole reports
    "tests/reporting/test_curve_report.py",
    "tests/reporting/test_page.py",
    "tests/reporting/test_protocol_pages.py",
    "tests/reporting/test_topk_report.py",
    "tests/reporting/test_warnings_told.py",
    "tests/stats/test_charts.py",
    "tests/system",
    "tests/test_folders.py",  # processes that are ended
    "tests/test_known_answers.py",  # runs pytest
    "tests/testing/test_check_executor.py",  # Dask and local executors
    "tests/testing/test_check_protocol.py",  # whole experiments
    "tests/trust",  # every verb, in a process of its own
)


def mark_system_tests(items: list[pytest.Item]) -> None:
    """Mark the tests of the files and folders above."""
    places = [ROOT / place for place in SYSTEM]
    for item in items:
        if any(item.path == place or place in item.path.parents for place in places):
            item.add_marker(pytest.mark.system)
