"""Whatever goes wrong around a command, it ends in one sentence: full disks, closed folders, broken modules."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from command_ends import Ended, refused
from faults.disks import NEEDS_ROOT, fill, memory_disk
from paragone.cli import main

LAB = """
name = "lab"
[data]
sets = ["wine-traits"]
[split]
folds = 2
[protocol]
k = { min = 2, max = 4, step = 2 }
[methods.V]
use = "USE"
"""
NOBODY = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason=NEEDS_ROOT)


@pytest.fixture
def paragone(monkeypatch, capsys, tmp_path):
    """Run a command line in this process, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def run(*args: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["paragone", *map(str, args)])
        code = 0
        try:
            main()
        except SystemExit as ended:
            code = ended.code or 0
        return Ended(code, *capsys.readouterr())

    return run


def write_lab(use: str = "variance", extra: str = "") -> str:
    Path("lab.toml").write_text(LAB.replace("USE", use) + extra)
    return "lab.toml"


@pytest.mark.parametrize(
    ("module", "sentence"),
    [
        ("import os\n\ndef broken(:\n", "SyntaxError: invalid syntax"),
        ("\nraise ValueError('no licence')\n", "ValueError: no licence"),
        ("\nimport sys\nsys.exit()\n", "SystemExit"),
        ("\n\nsys.exit(3)\n", "NameError: name 'sys' is not defined"),
        (
            "class Odd(Exception):\n    def __str__(self): raise self\nraise Odd\n",
            "Odd: <exception str() failed>",
        ),
        ("\n\nimport nothing_of_this_name\n", "No module named 'nothing_of_this_name'"),
    ],
)
def test_a_module_that_cannot_be_imported_is_told_with_file_and_line(
    paragone, module, sentence, request
):
    name = f"broken_{abs(hash(request.node.name))}"
    Path(f"{name}.py").write_text(module)
    ended = paragone("run", write_lab(f"{name}:Method"), "--dry-run")
    refused(ended, sentence)
    assert f"{name}.py, line 3" in ended.err or "line 2" in ended.err


@pytest.mark.parametrize(
    "use", ["os:system", "builtins:print", "builtins:int", "os:sep", "math:sqrt", "time:sleep"]
)
def test_what_is_no_class_is_refused_before_anything_runs(paragone, use):
    ended = paragone("run", write_lab(use), "--dry-run")
    refused(ended, repr(use))
    assert not Path("lab.sqlite").exists()


def test_a_byte_order_mark_is_not_part_of_the_file(paragone):
    text = Path(write_lab()).read_bytes()
    Path("lab.toml").write_bytes(b"\xef\xbb\xbf" + text)
    assert paragone("run", "lab.toml", "--dry-run").code == 0


@pytest.mark.parametrize(
    ("extra", "sentence"),
    [
        (
            "seeds = 100000000\n",
            "the number of seeds must be a whole number from 1 to 100000, it is 100000000",
        ),
        (
            "params." + ".".join("a" * 100_000) + " = 1\n",
            "line 11: a dotted key has more than 100 parts",
        ),
        (
            "params = { " + ".".join(['"a b"'] * 5000) + " = 1 }\n",
            "a dotted key has more than 100 parts",
        ),
        ("x = '" + "a" * 20_000_000 + "'\n", "characters; more than 20000000 are not read"),
    ],
    ids=["seeds", "a dotted key", "a quoted one in a table", "a long file"],
)
def test_what_would_take_for_ever_is_refused(paragone, extra, sentence):
    refused(paragone("run", write_lab("random", extra), "--dry-run"), sentence)


@pytest.mark.parametrize(
    "attribute",
    ["@attribute 'l {0,1}", '@attribute "l m {0,1}', "@attribute l {'0,1}", '@attribute l {0,"1}'],
)
def test_an_open_quote_in_arff_is_refused(paragone, attribute):
    Path("a.arff").write_text(
        f"@relation 'r: -C 1'\n{attribute}\n@attribute x real\n@data\n1,2\n0,3\n"
    )
    refused(paragone("data", "describe", "a.arff"), "is never closed")


@needs_root
def test_a_run_with_a_full_temporary_folder_says_where_it_writes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with memory_disk(tmp_path / "disk", 1) as disk:
        filler = fill(disk)
        os.truncate(
            filler, filler.stat().st_size - 16384
        )  # room for a few bytes, so that Python takes this folder
        command = [sys.executable, "-m", "paragone", "run", write_lab(), "--workers", "0"]
        ended = subprocess.run(
            command, env={**os.environ, "TMPDIR": str(disk)}, capture_output=True, text=True
        )
        left = [path.name for path in disk.iterdir()]
    assert ended.returncode == 2, ended.stderr
    last = ended.stderr.strip().splitlines()[-1]
    assert last.startswith("paragone: the run cannot go on (")
    assert f"{disk} (TMPDIR)" in last
    assert "Traceback" not in ended.stderr
    assert left == ["filler"]


@needs_root
@pytest.mark.parametrize(
    "command",
    [
        ["status", "HOME/x.sqlite"],
        ["run", "HOME/lab.toml"],
        ["scores", "HOME/x.sqlite"],
        ["report", "HOME/x.sqlite", "--out", "o"],
        ["store", "check", "HOME/x.sqlite"],
        ["compare", "HOME/x.csv"],
        ["data", "describe", "HOME/x.csv"],
        ["view", "HOME/x.sqlite"],
    ],
    ids=lambda command: " ".join(command),
)
def test_another_users_home_is_refused_in_a_sentence(paragone, command):
    # Once as oneself, so that everything is imported that the other user may not be able to read.
    assert paragone(*(part.replace("HOME", "none") for part in command)).code == 2
    with tempfile.TemporaryDirectory(prefix="home-") as home:
        Path(home, "lab.toml").write_text(LAB.replace("USE", "variance"))
        Path(home, "x.csv").write_text("a,b\n1,2\n")
        code, output = in_a_process(
            [part.replace("HOME", home) for part in command], lambda: os.setuid(NOBODY)
        )
    assert code == 2, output
    assert output.count("\n") == 1, output
    assert output.startswith("paragone: ")


def in_a_process(command: list[str], begin: Callable[[], None]) -> tuple[int, str]:
    """Run a command in a process of its own, in which something is done first; return its code and what it prints."""
    with tempfile.TemporaryFile() as printed:
        child = os.fork()
        if child == 0:
            code = 99
            try:
                begin()
                os.dup2(printed.fileno(), 1)
                os.dup2(printed.fileno(), 2)
                sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
                sys.argv = ["paragone", *command]
                main()
            except SystemExit as ended:
                code = ended.code or 0
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        printed.seek(0)
        return status, printed.read().decode()


WRONG = """
nonsense
run
run none.toml
run .
run lab.toml --workers -1
run lab.toml --workers many
run lab.toml --engine slurm --job walltime
run lab.toml --jobs 2
run lab.toml --address tcp://x
run lab.toml --budget soon
run lab.toml --budget -5m
run lab.toml --store . --dry-run
run lab.toml --store none/deep/x.sqlite --workers 0
run lab.toml --overwrite Z --dry-run
run text.toml
run binary.toml
run lab.toml extra
status
status none.sqlite
status .
status text.sqlite
status binary.sqlite
status empty.sqlite
scores none.sqlite
scores text.sqlite
scores empty.sqlite --metric none
scores empty.sqlite --out x.xls
scores empty.sqlite --out none/x.csv
scores empty.sqlite --naming x
report none.sqlite
report empty.sqlite
report text.sqlite --out text.toml
report empty.sqlite --display-map none.json
report empty.sqlite --split-columns 0
compare none.csv
compare text.toml
compare binary.csv
compare nothing.csv
compare short.csv
compare short.csv --metric none
compare short.csv --metric b --alpha 7
compare empty.sqlite
compare short.csv --direction up
compare short.csv --set zeros=none
compare short.csv --set zero=pratt
compare short.csv --set tolerance=much
pairwise a.csv b.csv
pairwise short.csv::x short.csv::y
pairwise short.csv
audit none.sqlite
audit text.sqlite
audit none.toml
store check none.sqlite
store check text.sqlite
store check binary.sqlite
store merge none.sqlite other.sqlite --out x.sqlite
export none.sqlite --out x
export empty.sqlite --out x
import none --store x.sqlite
import . --store x.sqlite
store reproduce none.sqlite
store reproduce text.toml
view none.sqlite
view text.sqlite
view empty.sqlite --port 99999
data describe none
data describe binary.csv
data describe short.csv --target z --task regression
data describe nothing.csv --target a --task regression
data export-folds none --out x
data export-folds wine-traits --out text.toml/x
data list extra
topk evaluate --scores none.npy --truth none.txt
topk evaluate --scores binary.npy --truth text.toml
generate sample none --out x
generate nonsense
generate report none:X --out x
generate report os:system --out x --sets digen8
generate inspect none
""".strip().splitlines()


@pytest.mark.parametrize("line", WRONG)
def test_no_wrong_command_line_ends_in_a_traceback(paragone, line):
    write_lab()
    Path("text.toml").write_text("this is not TOML\n")
    Path("text.sqlite").write_text("this is not a store\n" * 100)
    Path("empty.sqlite").touch()
    for name in ("binary.toml", "binary.sqlite", "binary.csv", "binary.npy"):
        Path(name).write_bytes(bytes(range(256)) * 4)
    Path("nothing.csv").touch()
    Path("short.csv").write_text("a,b\n1,2\n")
    ended = paragone(*line.split())
    assert ended.code == 2, (ended.out, ended.err)
    assert "Traceback" not in ended.out + ended.err
    # The program's own sentence, or the usage that the parser of the command line prints.
    assert ended.err.startswith("paragone: ") or "Usage:" in ended.err
    if ended.err.startswith("paragone: "):
        assert len(ended.err.strip().splitlines()) == 1
