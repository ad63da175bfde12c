"""Cells in processes of their own: what they find, what they leave, how they end, and how they are handed data."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from paragone.data import Dataset, scale_split
from paragone.lab.cells import Outcome
from paragone.lab.engine import Limits, Spool
from paragone.lab.engine.hermetic import ZYGOTES, CellProcesses, NoSeat, surroundings
from paragone.lab.engine.laid_split import lay_out_split
from paragone.lab.engine.packing import Abandoned, CellOrder, Loss, PackedTask, shared_group
from paragone.lab.engine.preloading import Preload, installed_modules
from paragone.lab.engine.processes import child_processes
from paragone.lab.engine.task import CellTask, SplitReference
from paragone.lab.experiment import Experiment
from paragone.lab.store import Store
from paragone.lab.store.records import StoredCells
from paragone.methods.method import Method
from paragone.protocols import Crossval, Curve, KGrid
from told_methods import Does

MIB = 1 << 20
CURVE = Curve(k=KGrid(1, 2, 1), metrics=("micro_f1",))


@pytest.fixture(scope="module")
def spool():
    with Spool() as made:
        yield made


@pytest.fixture(scope="module")
def folder(spool):
    rng = np.random.default_rng(0)
    return spool.add(Dataset("d", rng.random((40, 3)), rng.integers(0, 2, (40, 2)), "multilabel"))


@pytest.fixture
def seat(tmp_path):
    processes = CellProcesses(
        lambda: surroundings(str(tmp_path)), Preload(installed_modules([], [CURVE]))
    )
    processes.start()
    yield processes
    processes.kill()


def order(
    folder: str,
    source: str = "",
    limits: Limits | None = None,
    *,
    watch: bool = False,
    seed: int = 1,
) -> CellOrder:
    reference = SplitReference(
        folder, "split", np.arange(30), np.arange(30, 40), "minmax", "multilabel"
    )
    task = CellTask(reference, Method.declare(Does(source)), CURVE, seed, 2, None)
    return CellOrder(PackedTask.of(task, ()), limits or Limits(), watch)


def outcome(seat: CellProcesses, *args, **kwargs) -> Outcome:
    ended, _ = seat.run(order(*args, **kwargs))
    assert isinstance(ended, Outcome), ended
    return ended


class TestWhatACellFinds:
    def test_a_folder_for_temporary_files_of_its_own_that_goes_with_it(
        self, seat, folder, tmp_path
    ):
        source = (
            "import tempfile, pathlib; p = tempfile.mkdtemp(); print(p); pathlib.Path(p,"
            " 'f').write_text('x')"
        )
        places = [Path(outcome(seat, folder, source).output.strip()) for _ in range(2)]
        assert all(place.is_relative_to(tmp_path) for place in places)
        assert places[0].parent != places[1].parent
        assert list(tmp_path.iterdir()) == []

    def test_the_environment_folder_and_path_of_whoever_ordered_it(
        self, folder, tmp_path, monkeypatch
    ):
        monkeypatch.setenv("ORDERED_WITH", "this")
        monkeypatch.chdir(tmp_path)
        monkeypatch.syspath_prepend(str(tmp_path / "modules"))
        processes = CellProcesses(lambda: surroundings(str(tmp_path)), Preload())
        processes.start()
        told = outcome(
            processes,
            folder,
            "import os, sys; print(os.environ['ORDERED_WITH'], os.getcwd(), sys.path[0])",
        )
        processes.kill()
        assert told.output.split() == ["this", str(tmp_path), str(tmp_path / "modules")]

    def test_one_thread_and_the_same_hashes_everywhere(self, seat, folder):
        source = """
            import os, threadpoolctl
            print({pool['num_threads'] for pool in threadpoolctl.threadpool_info()}, os.environ['OMP_NUM_THREADS'])
            print(hash('text'))
        """
        threads, hashed = outcome(seat, folder, source).output.splitlines()
        assert threads == "{1} 1"
        fixed = {**os.environ, "PYTHONHASHSEED": "0"}
        known = subprocess.run(
            [sys.executable, "-c", "print(hash('text'))"], env=fixed, capture_output=True, text=True
        )
        assert hashed == known.stdout.strip()

    def test_no_descriptor_but_the_three_and_its_own(self, seat, folder):
        source = """
            import os
            for name in os.listdir('/proc/self/fd'):
                if int(name) > 2 and os.path.exists(f'/proc/self/fd/{name}'):
                    print(os.readlink(f'/proc/self/fd/{name}'))
        """
        told = outcome(seat, folder, source).output
        assert "pipe" not in told
        assert told.count("socket") == 1, told

    @pytest.mark.parametrize(
        "draw",
        [
            "import random; print(random.random())",
            "print(np.random.rand())",
            "import torch; print(torch.rand(1).item())",
            "import numba; print(numba.njit(lambda: np.random.random())())",
        ],
    )
    def test_every_global_generator_is_seeded_by_the_cell_alone(self, seat, folder, draw):
        first, again, other = (outcome(seat, folder, draw, seed=seed).output for seed in (1, 1, 2))
        assert first == again
        assert first != other

    def test_what_it_draws_does_not_depend_on_what_was_imported_before(self, folder, tmp_path):
        """Loading scikit-learn's ensembles draws from Python's generator; PyTorch seeds itself from the system."""
        source = """
            import importlib.util, random
            importlib.util.find_spec("torch")
            import sklearn.ensemble
            import torch
            print(random.random(), np.random.rand(), torch.rand(1).item())
        """
        told = []
        for modules in ((), ("sklearn.ensemble", "torch")):
            ZYGOTES.close()
            processes = CellProcesses(lambda: surroundings(str(tmp_path)), Preload(modules))
            processes.start()
            told.append(outcome(processes, folder, source).output)
            processes.kill()
        ZYGOTES.close()
        assert told[0] == told[1] != ""

    def test_the_users_module_as_it_stands_whatever_byte_code_lies_beside_it(
        self, folder, tmp_path, monkeypatch
    ):
        module = tmp_path / "mine" / "of_the_user.py"
        module.parent.mkdir()
        monkeypatch.syspath_prepend(str(module.parent))
        processes = CellProcesses(lambda: surroundings(str(tmp_path)), Preload())
        processes.start()
        source = "import of_the_user; print(of_the_user.VALUE)"
        module.write_text("VALUE = 1\n")
        subprocess.run([sys.executable, "-m", "compileall", "-q", str(module.parent)], check=True)
        stamp = module.stat()
        assert outcome(processes, folder, source).output == "1\n"
        module.write_text("VALUE = 2\n")
        os.utime(module, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        stale = [sys.executable, "-c", source]
        told = subprocess.run(
            stale, cwd=module.parent, capture_output=True, text=True, check=True
        ).stdout
        assert told == "1\n", "Python itself is to be misled here, or the test shows nothing"
        assert outcome(processes, folder, source).output == "2\n"
        processes.kill()


class TestHowItEnds:
    def test_what_it_printed_is_kept_its_middle_cut(self, seat, folder):
        ended = outcome(seat, folder, "print('begin'); print('x' * 1_000_000); print('end')")
        assert ended.status == "done"
        assert ended.output.startswith("begin\nxxx")
        assert ended.output.endswith("xxx\nend\n")
        assert len(ended.output) < 70_000
        assert "bytes left out" in ended.output

    def test_what_native_code_still_held_back_is_written(self, seat, folder):
        told = outcome(seat, folder, "import ctypes; ctypes.CDLL(None).printf(b'held back')").output
        assert told == "held back"

    def test_over_its_time_it_is_ended_and_says_where_it_was(self, seat, folder):
        source = (
            "import re, signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); re.match(r'(a+)+$',"
            " 'a' * 40 + 'b')"
        )
        ended = outcome(seat, folder, source, Limits(seconds=1.0))
        assert (ended.status, ended.error) == ("timeout", "took longer than the limit of 1 s")
        assert "most recent call first" in ended.traceback
        assert ended.cpu_seconds > 0.02
        assert outcome(seat, folder).status == "done"

    def test_a_printer_without_end_is_ended_too(self, seat, folder):
        ended = outcome(seat, folder, "while True: print('x' * 1000)", Limits(seconds=1.0))
        assert ended.status == "timeout"

    @pytest.mark.parametrize(
        "fill",
        [
            "a = np.ones(900 << 17)",
            "a = [np.ones(8 << 17) for _ in range(110)]",
            """
            import subprocess, sys
            subprocess.run([sys.executable, "-c", "import time; a = bytearray(b'1') * (900 << 20); time.sleep(60)"])
            """,
        ],
    )
    def test_over_its_memory_it_is_ended(self, seat, folder, fill):
        ended = outcome(seat, folder, fill, Limits(memory=400 * MIB))
        assert ended.status == "failed"
        assert ended.error.startswith("memory: held ")
        assert outcome(seat, folder).status == "done"

    def test_the_data_that_it_reads_and_writes_do_not_count_as_its_own(self, spool, tmp_path):
        rng = np.random.default_rng(0)
        big = spool.add(
            Dataset("big", rng.random((8000, 1000)), rng.integers(0, 2, (8000, 2)), "multilabel")
        )
        processes = CellProcesses(
            lambda: surroundings(str(tmp_path)), Preload(installed_modules([], [CURVE]))
        )
        processes.start()
        reference = SplitReference(
            big, "big", np.arange(7000), np.arange(7000, 8000), "none", "multilabel"
        )
        task = CellTask(
            reference,
            Method.declare(Does("print(sum(row.max() for row in X) > 0)")),
            CURVE,
            1,
            2,
            None,
        )
        ended, _ = processes.run(CellOrder(PackedTask.of(task, ()), Limits(memory=40 * MIB)))
        processes.kill()
        assert (ended.status, ended.error) == ("done", "")
        assert ended.peak_memory < 40 * MIB

    def test_its_peak_memory_is_what_it_allocated(self, seat, folder):
        small = outcome(seat, folder).peak_memory
        large = outcome(seat, folder, "a = np.ones(200 << 17); del a").peak_memory
        assert small < 30 * MIB
        assert 180 * MIB < large < 260 * MIB

    def test_its_processor_time_is_not_its_wall_time(self, seat, folder):
        sleeper = outcome(seat, folder, "import time; time.sleep(0.5)")
        assert sleeper.seconds >= 0.5
        assert sleeper.cpu_seconds < 0.4
        spins = (
            "import subprocess, sys; subprocess.run([sys.executable, '-c', 'for _ in"
            " range(4000000): pass'])"
        )
        assert outcome(seat, folder, spins).cpu_seconds > 0.02, "its children's time is its own"

    def test_nobody_waits_for_a_cell_that_nobody_wants(self, seat, folder):
        with pytest.raises(Abandoned):
            seat.run(order(folder, "import time; time.sleep(300)"), abandoned=lambda: True)
        assert not seat.is_ready

    def test_ended_from_outside_it_is_a_loss_and_the_next_one_runs(self, seat, folder):
        def kill() -> None:
            time.sleep(1.0)
            for cell in child_processes(seat._seat.process):
                os.kill(cell, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        ended, _ = seat.run(order(folder, "import time; time.sleep(300)"))
        killer.join()
        assert isinstance(ended, Loss)
        assert "SIGKILL" in ended.why
        assert outcome(seat, folder).status == "done"

    def test_a_seat_that_is_killed_is_a_loss_and_takes_its_cell_along(self, seat, folder):
        process = seat._seat.process

        def kill() -> None:
            time.sleep(1.0)
            cells.extend(child_processes(process))
            os.kill(process, signal.SIGKILL)

        cells: list[int] = []
        killer = threading.Thread(target=kill)
        killer.start()
        ended, _ = seat.run(order(folder, "import time; time.sleep(300)"))
        killer.join()
        assert isinstance(ended, Loss)
        assert len(cells) == 1
        assert _gone(cells[0])
        seat.start()
        assert outcome(seat, folder).status == "done"

    def test_a_zygote_that_is_killed_is_replaced(self, seat, folder, tmp_path):
        os.kill(ZYGOTES._running._process.pid, signal.SIGKILL)
        ended, _ = seat.run(order(folder, "import time; time.sleep(300)"))
        assert isinstance(ended, Loss)
        seat.start()
        assert outcome(seat, folder).status == "done"

    def test_many_cells_leave_neither_descriptors_nor_processes(self, seat, folder):
        def held() -> tuple[int, int, int]:
            process = seat._seat.process
            descriptors = len(os.listdir(f"/proc/{process}/fd"))
            return descriptors, len(child_processes(process)), len(os.listdir("/proc/self/fd"))

        def are_released() -> bool:
            # What other tests left open in this process, and the result before, may be closed
            # meanwhile.
            return all(now <= then for now, then in zip(held(), before, strict=True))

        outcome(seat, folder)
        before = [*held()]
        for _ in range(60):
            outcome(seat, folder, "import subprocess; subprocess.Popen(['sleep', '500'])")
        # The seat closes the last result after it has sent it.
        deadline = time.monotonic() + 5.0
        while not are_released() and time.monotonic() < deadline:
            time.sleep(0.01)
        assert are_released(), (before, held(), os.listdir(f"/proc/{seat._seat.process}/fd"))


def _gone(process: int) -> bool:
    deadline = time.monotonic() + 10.0
    while time.monotonic() < deadline:
        if not Path(f"/proc/{process}").exists():
            return True
        time.sleep(0.01)
    return False


class TestWhoeverOrders:
    def test_may_have_run_anything_parallel_before(self, tmp_path):
        """Forked from this process, a cell that uses OpenMP would hang: its threads are not in the child."""
        from sklearn.ensemble import HistGradientBoostingClassifier

        rng = np.random.default_rng(0)
        X, y = rng.random((500, 5)), rng.integers(0, 2, 500)
        HistGradientBoostingClassifier(max_iter=5).fit(X, y)
        lock = threading.Lock()
        lock.acquire()
        source = """
            from sklearn.ensemble import HistGradientBoostingClassifier
            import lightgbm, xgboost, torch
            HistGradientBoostingClassifier(max_iter=5).fit(X, Y[:, 0])
            lightgbm.LGBMClassifier(n_estimators=3, verbose=-1).fit(X, Y[:, 0])
            xgboost.XGBClassifier(n_estimators=3).fit(X, Y[:, 0])
            (torch.rand(200, 200) @ torch.rand(200, 200)).sum()
        """
        Y = np.column_stack([y, 1 - y])
        data = Dataset("d", X, Y, "multilabel")
        experiment = Experiment(
            [data], {"M": Does(source)}, {"folds": 2}, CURVE, seconds_limit=120.0
        )
        results = experiment.run(tmp_path / "a.sqlite", workers=2)
        assert list(results.places()["status"]) == ["done", "done"], results.failures()[
            "error"
        ].tolist()

    def test_may_end_at_any_time_and_everything_ends_with_it(self, tmp_path):
        """A cell inside native code that holds the interpreter hears no signal handler and no thread of its own."""
        (tmp_path / "stuck.py").write_text(STUCK)
        (tmp_path / "lab.toml").write_text(LAB)
        command = [sys.executable, "-m", "paragone", "run", "lab.toml", "--workers", "1"]
        run = subprocess.Popen(
            command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        marks = [tmp_path / "cell", tmp_path / "child"]
        deadline = time.monotonic() + 120.0
        while (
            not all(mark.exists() and mark.read_text() for mark in marks)
            and time.monotonic() < deadline
        ):
            time.sleep(0.02)
        os.kill(run.pid, signal.SIGKILL)
        run.wait()
        assert all(_gone(int(mark.read_text())) for mark in marks)

    def test_is_not_asked_for_memory_that_the_zygote_must_not_fork(
        self, tmp_path, folder, monkeypatch
    ):
        """A package that starts a thread at import is left to the cells: a fork copies its locks, not the thread."""
        (tmp_path / "starts_a_thread.py").write_text(
            "import threading, time\nthreading.Thread(target=time.sleep, args=(600,),"
            " daemon=True).start()\nVALUE = 3\n"
        )
        monkeypatch.syspath_prepend(str(tmp_path))
        ZYGOTES.close()
        processes = CellProcesses(
            lambda: surroundings(str(tmp_path)), Preload(("starts_a_thread", "json"))
        )
        processes.start()
        told = outcome(processes, folder, "import starts_a_thread; print(starts_a_thread.VALUE)")
        processes.kill()
        assert (told.status, told.output) == ("done", "3\n")
        tasks = Path(f"/proc/{ZYGOTES._running._process.pid}/task").iterdir()
        # PyArrow's allocator has a thread that a fork does no harm to.
        assert {(task / "comm").read_text().strip() for task in tasks} <= {
            "python",
            "python3",
            "jemalloc_bg_thd",
        }

    def test_is_told_why_no_seat_can_be_had(self, monkeypatch, tmp_path):
        ZYGOTES.close()
        monkeypatch.setattr(sys, "path", [str(tmp_path)])
        monkeypatch.setenv("PYTHONHOME", str(tmp_path))
        with pytest.raises(NoSeat, match="it said: "):
            CellProcesses(lambda: surroundings(str(tmp_path)), Preload()).start()


STUCK = """
import os, re, subprocess
from pathlib import Path

class Stuck:
    def fit(self, X, Y):
        child = subprocess.Popen(["sleep", "600"], start_new_session=True)
        Path("child").write_text(str(child.pid))
        Path("cell").write_text(str(os.getpid()))
        re.match(r"(a+)+$", "a" * 60 + "b")
"""
LAB = """
name = "lab"
data.sets = ["wine-traits"]
split.folds = 2
protocol.k = { min = 2, max = 4, step = 2 }
methods.Stuck.use = "stuck:Stuck"
"""


class TestTheDataOfACell:
    @given(
        rows=st.integers(5, 40),
        columns=st.integers(1, 12),
        scale=st.sampled_from(["none", "minmax", "zscore"]),
        seed=st.integers(0, 2**16),
    )
    def test_a_laid_split_holds_the_bytes_of_the_plain_way(self, rows, columns, scale, seed):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(rows, columns)) * 10.0 ** rng.integers(-8, 8, columns)
        X[:, rng.random(columns) < 0.2] = 3.0
        y = rng.integers(0, 3, rows)
        order_of_rows = rng.permutation(rows)
        train, test = order_of_rows[: rows // 2], order_of_rows[rows // 2 :]
        with Spool() as spool:
            folder = spool.add(Dataset("d", X, y, "classification"))
            laid = lay_out_split(SplitReference(folder, "s", train, test, scale, "classification"))
            found = laid.mapped()
            laid.close()
        X_train, X_test = scale_split(X[train], X[test], scale)
        for name, wanted in (
            ("X_train", X_train),
            ("X_test", X_test),
            ("y_train", y[train]),
            ("y_test", y[test]),
        ):
            array = getattr(found, name)
            assert array.tobytes() == wanted.tobytes(), name
            assert array.dtype == wanted.dtype
            assert array.flags.writeable

    def test_text_classes_and_sparse_rows_arrive_as_they_are(self):
        rng = np.random.default_rng(0)
        X = rng.random((20, 4)) * (rng.random((20, 4)) < 0.5)
        y = np.array(["yes", "no"] * 10)
        with Spool() as spool:
            folder = spool.add(Dataset("d", sparse.csr_array(X), y, "classification"))
            laid = lay_out_split(
                SplitReference(
                    folder, "s", np.arange(15), np.arange(15, 20), "none", "classification"
                )
            )
            found = laid.mapped()
        assert np.array_equal(found.X_train, X[:15])
        assert found.y_test.tolist() == y[15:].tolist()
        laid.close()

    def test_what_one_cell_writes_no_other_sees_even_in_native_code(self):
        X = np.arange(12.0).reshape(6, 2)
        with Spool() as spool:
            folder = spool.add(Dataset("d", X, np.arange(6) % 2, "classification"))
            laid = lay_out_split(
                SplitReference(folder, "s", np.arange(4), np.arange(4, 6), "none", "classification")
            )
            first, second = laid.mapped(), laid.mapped()
            ctypes.memset(first.X_train.ctypes.data, 0, first.X_train.nbytes)
            first.y_train[...] = 7
            assert np.array_equal(second.X_train, X[:4])
            assert np.array_equal(laid.mapped().y_train, np.arange(4) % 2)
            with pytest.raises(PermissionError):
                os.write(laid.descriptor, b"x")
            with pytest.raises(PermissionError):
                os.ftruncate(laid.descriptor, 1)
            laid.close()


class TestIsolation:
    def test_one_process_per_worker_can_be_declared_and_is_kept_with_the_run(self, tmp_path):
        source = (
            "import builtins; builtins.seen = getattr(builtins, 'seen', 0) + 1;"
            " print(builtins.seen)"
        )
        printed = {}
        for isolation in ("cell", "worker"):
            experiment = Experiment(
                ["wine-traits"], {"M": Does(source)}, {"folds": 3}, CURVE, isolation=isolation
            )
            follower = Follower()
            results = experiment.run(tmp_path / f"{isolation}.sqlite", workers=1, observer=follower)
            assert results.runs()["environment"].iloc[0]["isolation"] == isolation
            printed[isolation] = [text.split()[-1] for text in follower.outputs]
        assert printed == {"cell": ["1", "1", "1"], "worker": ["1", "2", "3"]}

    def test_a_worker_that_is_killed_or_over_its_time_is_replaced(self, tmp_path):
        source = "import os, sys; sys.exit(3) if os.path.exists('x') else os.abort()"
        methods = {"Aborts": Does(source), "Quits": Does("raise SystemExit(0)"), "Good": Does()}
        methods["Hangs"] = Does("import time; time.sleep(100)")
        experiment = Experiment(
            ["wine-traits"], methods, {"folds": 2}, CURVE, isolation="worker", seconds_limit=2.0
        )
        statuses = (
            experiment.run(tmp_path / "a.sqlite", workers=1)
            .places()
            .groupby("method")["status"]
            .agg(set)
        )
        assert statuses.to_dict() == {
            "Aborts": {"failed"},
            "Quits": {"failed"},
            "Good": {"done"},
            "Hangs": {"timeout"},
        }

    def test_in_this_process_a_debugger_can_follow_and_quitting_costs_the_cell_only(self, tmp_path):
        here = os.getpid()
        source = f"import os; self.ranking_ = np.arange(X.shape[1]); assert os.getpid() == {here}"
        methods = {"Here": Does(source), "Quits": Does("raise SystemExit(0)")}
        results = Experiment(["wine-traits"], methods, {"folds": 2}, CURVE, isolation="none").run(
            tmp_path / "a.sqlite"
        )
        assert results.places().groupby("method")["status"].agg(set).to_dict() == {
            "Here": {"done"},
            "Quits": {"failed"},
        }

    def test_an_unknown_kind_is_refused(self):
        from paragone.errors import InputError

        with pytest.raises(InputError, match="unknown isolation 'cells': did you mean 'cell'"):
            Experiment(["wine-traits"], {"M": Does()}, isolation="cells")


class Follower:
    """Collects what cells printed."""

    def __init__(self) -> None:
        self.outputs: list[str] = []

    def began(self, tally) -> None:
        """Nothing to note."""

    def said(self, sentence, tally) -> None:
        """Nothing to note."""

    def finished(self, cell, outcome, tally) -> None:
        self.outputs.append(outcome.output)


class TestWhatMayBeShared:
    """The members of a PLS path of installed code share one process per split; nothing of the user's own ever does."""

    def test_the_bytes_do_not_depend_on_who_came_before_in_the_process(self, tmp_path):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(40, 12))
        data = Dataset("d", X, X[:, 0] - X[:, 1] + 0.1 * rng.normal(size=40), "regression")
        kept = {}
        for sizes in ([1, 2, 3, 4], [4, 3, 2, 1]):
            pls = {"use": "pls", "grid": {"n_components": sizes}, "steps": [["snv"]]}
            for isolation in ("cell", "none"):
                experiment = Experiment([data], {"PLS": pls}, {"folds": 2}, Crossval(), name="pls")
                path = tmp_path / f"{sizes[0]} {isolation}.sqlite"
                experiment.run(path, workers=1, isolation=isolation).close()
                with Store(path) as store:
                    cells = [cell for cell in StoredCells(store, "pls").cells if cell.fold < 2]
                    found = {
                        (c.method, c.fold): store.fitted(c.fit_key).arrays["y"].tobytes()
                        for c in cells
                    }
                kept[sizes[0], isolation] = dict(sorted(found.items()))
        assert len(kept[1, "cell"]) == 8
        assert all(found == kept[1, "cell"] for found in kept.values())

    def test_only_installed_code_is_grouped(self):
        nowhere = SplitReference("", "", np.arange(1), np.arange(1), "none")

        def group(share: bool, *steps: object) -> str:
            declared = {
                "use": "pls",
                "grid": {"n_components": [1, 2]},
                "steps": [list(steps)] if steps else [],
            }
            protocol = Crossval(share=share)
            variant = next(iter(protocol.declare({"PLS": declared}).values()))
            return shared_group(CellTask(nowhere, variant, protocol, 1, 2, None))

        assert group(True) == group(True, "snv") == "PLS paths"
        assert group(False) == ""
        assert group(True, "told_methods:Step") == ""
        assert shared_group(CellTask(nowhere, Method.declare(Does()), CURVE, 1, 2, None)) == ""
