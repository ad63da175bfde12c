"""The `paragone` command: one module per verb, and the one place where errors become exit codes."""

from __future__ import annotations

import io
import os
import sqlite3
import sys
from typing import Annotated, NoReturn

import typer

from paragone.cli.output import RUN_CODE, only_json, without_working_folder, write_line
from paragone.errors import InputError, messages_of_options
from paragone.folders import told
from paragone.terminal import say

app = typer.Typer(
    name="paragone",
    help="A laboratory for comparing machine-learning methods honestly.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)

EXIT_INPUT = 2
EXIT_PIPE = 141


def _print_version(value: bool) -> None:
    if value:
        from paragone import __version__

        write_line(f"paragone {__version__}")
        raise typer.Exit


@app.callback()
def root(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Compare machine-learning methods honestly."""
    context.with_resource(messages_of_options())
    if context.invoked_subcommand not in RUN_CODE:
        context.with_resource(without_working_folder())


def main() -> None:
    """Run the command line; a user's mistake ends in one sentence and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal or a pipe that cannot take a letter gets an escape instead: no name ends a command.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        with only_json("--json" in sys.argv[1:]):
            app()
    except InputError as error:
        _end(str(error))
    except BrokenPipeError:
        # Whoever read the output has enough, as `head` has: nothing is wrong, and there is nobody left to tell.
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - open until the process ends
        sys.exit(EXIT_PIPE)
    except OSError as error:
        # A disk, a folder or a permission: the machine's, not the program's.
        _end(f"the system refused: {told(error)}")
    except MemoryError as error:
        _end(f"there is not enough memory{f' ({error})' if str(error) else ''}")
    except sqlite3.Error as error:
        _end(f"the store cannot be used: {error}; `paragone doctor` says more")


def _end(sentence: str) -> NoReturn:
    """Say what is wrong on one line, and end."""
    say(f"paragone: {' '.join(sentence.splitlines())}", stderr=True)
    sys.exit(EXIT_INPUT)
