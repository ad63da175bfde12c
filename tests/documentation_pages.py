"""Documentation pages as tests: every block of code on a page is run, in order, in one folder of its own.

A block is fenced and named: ``python`` (a session with ``>>>``, or plain statements), ``console``
(``$ paragone ...``, with the output below it where it is shown), ``toml`` (parsed), or ``text``,
which is not code. A ``python`` or ``toml`` block whose first line is a comment with a file's name
is written to that file. A comment right before a block says where it departs from that:

    <!-- not run: WHY -->     it is left out
    <!-- run: slow -->        it runs in the slow suite only
    <!-- run: with NAME -->   it needs the folder NAME of the data folder

A comment right before a picture names the file of the run that it is, ``<!-- picture:
answer/forest.svg -->``; one that shows times is that ``of this machine``, and is not compared.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from paragone.cli import main

ROOT = Path(__file__).resolve().parents[1]
GENERATED = [
    ROOT / "docs" / "reference" / name for name in ("command-line.md", "experiment-file.md")
]
LANGUAGES = ("python", "console", "toml", "text", "bibtex")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
COMMENT = re.compile(r"<!--\s*(not run|run):\s*(.*?)\s*-->\s*")
FILE_NAME = re.compile(r"#\s*([\w-]+\.(?:toml|py))\b")
PICTURE = re.compile(r"<!-- picture( of this machine)?: (\S+) -->\n!\[[^\]]*\]\((images/\S+)\)")
NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
BLOCK_MARKS = ("slow", "with ")


class PageError(AssertionError):
    """A block on a page does not do what the page says."""


@dataclass(frozen=True)
class Block:
    """One block of code: where it stands, what it is, and on what condition it runs."""

    line: int
    language: str
    text: str
    not_run: str | None = None
    condition: str | None = None


def pages() -> list[Path]:
    """Return the front page and everything written under docs; what a build generates there is no page of ours."""
    written = (page for page in (ROOT / "docs").rglob("*.md") if page not in GENERATED)
    return [ROOT / "README.md", *sorted(written)]


def blocks_of(text: str) -> list[Block]:
    """Return the blocks of a page in order; an indented one has no language."""
    found = []
    remark: re.Match[str] | None = None
    for token in MarkdownIt().parse(text):
        if token.type == "html_block":
            remark = COMMENT.fullmatch(token.content)
        elif token.type in ("fence", "code_block"):
            language = token.info.strip() if token.type == "fence" else ""
            kind, said = (remark[1], remark[2]) if remark else (None, None)
            line = (token.map or [0])[0] + 2
            not_run = said if kind == "not run" else None
            found.append(
                Block(line, language, token.content, not_run, said if kind == "run" else None)
            )
            remark = None
        else:
            remark = None
    return found


def code_of(page: Path) -> list[Block]:
    """Return the blocks of a page that can be run; directives of the site and plain text cannot."""
    return [
        b
        for b in blocks_of(page.read_text(encoding="utf-8"))
        if b.language in ("python", "console", "toml")
    ]


@dataclass(frozen=True)
class Picture:
    """A picture on a page: the file of the run that it is, where it is kept, and whether every run gives the same."""

    made: str
    kept: Path
    compared: bool

    def check(self, folder: Path, *, renew: bool) -> None:
        """Compare what a run made with what is kept, or keep what it made."""
        made = (folder / self.made).read_bytes()
        if renew:
            self.kept.write_bytes(made)
        elif self.compared and _rounded(made) != _rounded(self.kept.read_bytes()):
            raise PageError(
                f"{self.kept.name} is not what its page makes: PARAGONE_RENEW_PICTURES=1 renews it"
            )


def _rounded(drawing: bytes) -> str:
    """Return a drawing whose coordinates are whole numbers: another machine may add in another order."""
    return NUMBER.sub(
        lambda number: f"{float(number[0]) + 0.0:.0f}".replace("-0", "0"), drawing.decode("utf-8")
    )


def pictures_of(page: Path) -> list[Picture]:
    """Return the pictures of a page that its own run makes."""
    found = PICTURE.findall(page.read_text(encoding="utf-8"))
    return [Picture(made, page.parent / kept, not own) for own, made, kept in found]


class _Hearing(doctest.DocTestRunner):
    """Keeps what every example printed, besides comparing it with what is shown."""

    heard: list[str]

    def report_success(
        self, out: Any, test: doctest.DocTest, example: doctest.Example, got: str
    ) -> None:
        self.heard.append(got)
        super().report_success(out, test, example, got)


@contextlib.contextmanager
def _current_folder_importable() -> Iterator[None]:
    """Find modules in the current folder, as whoever types a page's lines into Python does."""
    found = list(sys.path)
    sys.path.insert(0, "")
    # A file may be newer than what the finder remembers of its folder.
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path[:] = found


@dataclass
class Session:
    """Runs the blocks of one page: one folder, one set of Python names; keeps all that is printed."""

    page: str
    folder: Path

    def __post_init__(self) -> None:
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.heard: list[str] = []

    def run(self, block: Block) -> None:
        """Run one block; an error names the page and the line."""
        with contextlib.chdir(self.folder), _current_folder_importable():
            getattr(self, f"_{block.language}")(block)

    def _where(self, block: Block) -> str:
        return f"{self.page}, line {block.line}"

    @staticmethod
    def _written(block: Block) -> bool:
        """Write a block to the file that its first line names, if it names one."""
        name = FILE_NAME.match(block.text)
        if name:
            Path(name[1]).write_text(block.text, encoding="utf-8")
        return name is not None

    def _toml(self, block: Block) -> None:
        tomllib.loads(block.text)
        self._written(block)

    def _python(self, block: Block) -> None:
        if self._written(block):
            return
        if ">>> " not in block.text:
            code = compile("\n" * (block.line - 1) + block.text, self.page, "exec")
            exec(code, self.names)  # noqa: S102  the page is ours
            return
        parsed = doctest.DocTestParser().get_doctest(
            block.text, {}, self.page, self.page, block.line - 1
        )
        parsed.globs = self.names
        said = io.StringIO()
        runner = _Hearing(optionflags=FLAGS, verbose=False)
        runner.heard = self.heard
        if runner.run(parsed, out=said.write, clear_globs=False).failed:
            raise PageError(said.getvalue())

    def _console(self, block: Block) -> None:
        for command, shown in commands_of(block.text):
            code, output = call(shlex.split(command, comments=True))
            self.heard.append(output)
            if code:
                raise PageError(
                    f"{self._where(block)}: `{command}` ended with code {code}:\n{output}"
                )
            if shown and not doctest.OutputChecker().check_output(shown, output, FLAGS):
                raise PageError(
                    f"{self._where(block)}: `{command}` printed\n{output}\nand the page"
                    f" shows\n{shown}"
                )


def commands_of(text: str) -> Iterator[tuple[str, str]]:
    """Yield every command of a console block with the output shown below it."""
    command, shown = "", ""
    for line in text.splitlines():
        if line.startswith("$ "):
            if command:
                yield command, shown
            command, shown = line[2:], ""
        elif command.endswith("\\"):
            command = command[:-1].rstrip() + " " + line.strip()
        else:
            shown += f"{line}\n"
    if command:
        yield command, shown


def call(words: list[str]) -> tuple[int, str]:
    """Run a command and return its exit code and all it printed: ours in this process, Python in one of its own."""
    if words[0] == "python":
        ended = subprocess.run(
            [sys.executable, *words[1:]], capture_output=True, text=True, check=False
        )
        return ended.returncode, ended.stdout + ended.stderr
    if words[0] != "paragone":
        raise PageError(
            f"`{shlex.join(words)}`: only paragone and python are run; say `<!-- not run: WHY -->`"
        )
    output = io.StringIO()
    arguments, sys.argv = sys.argv, words
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.argv = arguments
    return code, output.getvalue()
