"""Hostile input: whatever a file holds, a reader reads it or says in one sentence why not."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))
import run
from readers import READERS, RESULTS

from paragone.errors import InputError

FOLDER = Path(__file__).parent

MUST_SHOW = ("arff", "csv", "npz", "toml", "trec", "store")
GUIDED = ("arff", "csv", "npz", "toml", "trec", "herbs")
INPUTS, INPUTS_OF_OTHERS, INPUTS_OF_RESULTS, GUIDED_RUNS = 100_000, 30_000, 500, 50_000


@pytest.mark.parametrize("name", READERS)
def test_a_few_hostile_files_are_read_or_refused(name):
    # Results are compared too, which takes longer than reading them.
    count = 15 if name in RESULTS else 60
    outcome = run.fuzz(name, count, seed=1)
    assert not outcome.failures, outcome
    assert outcome.inputs == count


@pytest.mark.parametrize("name", READERS)
def test_the_files_to_start_from_are_good(name, tmp_path):
    """A fuzzer whose seeds are refused outright would test the first line of a reader only."""
    reader = READERS[name]
    accepted = 0
    for seed in reader.seeds():
        path = tmp_path / f"input{reader.ending}"
        path.write_bytes(seed)
        try:
            reader.read(path)
            accepted += 1
        except InputError:
            continue
    assert accepted >= 1


TEXTS = (
    "arff",
    "csv",
    "toml",
    "trec",
    "herbs",
    "rankings",
    "labels",
    "scores",
    "markdown",
    "latex",
    "html",
    "curves",
)


@pytest.mark.parametrize("name", TEXTS)
def test_any_text_is_read_or_refused(name, tmp_path):
    reader = READERS[name]
    path = tmp_path / f"input{reader.ending}"
    words = st.sampled_from(
        [
            *(word.decode("latin-1") for word in reader.words),
            "\n",
            ",",
            " ",
            "'",
            "{",
            "1e999",
            "\x00",
        ]
    )

    @settings(
        max_examples=60,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        derandomize=True,
    )
    @given(st.lists(st.one_of(words, st.text(max_size=8)), max_size=30))
    def law(parts: list[str]) -> None:
        path.write_bytes("".join(parts).encode("utf-8", "surrogatepass"))
        with contextlib.suppress(InputError):
            reader.read(path)

    law()


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_a_great_many_hostile_files_are_read_or_refused(name):
    """Each reader in a process of its own, so that one that dies is seen; outcomes and inputs a second are printed."""
    count = (
        INPUTS if name in MUST_SHOW else INPUTS_OF_RESULTS if name in RESULTS else INPUTS_OF_OTHERS
    )
    ended = subprocess.run(
        [sys.executable, str(FOLDER / "run.py"), name, str(count), "7"],
        capture_output=True,
        text=True,
        check=False,
    )
    sys.stdout.write(ended.stdout)
    died = f" (killed by {signal.Signals(-ended.returncode).name})" if ended.returncode < 0 else ""
    assert ended.returncode == 0, ended.stdout + ended.stderr[-2000:] + died
    assert f"{count:,} inputs" in ended.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", GUIDED)
def test_inputs_that_reach_new_code_are_read_or_refused(name):
    """The same by coverage, with atheris."""
    pytest.importorskip(
        "atheris", reason="atheris has wheels for Linux only: the mutations above stand alone"
    )
    ended = subprocess.run(
        [sys.executable, str(FOLDER / "guided.py"), name, str(GUIDED_RUNS)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-4000:]
    assert f"Done {GUIDED_RUNS} runs" in ended.stderr
