"""The `paragone` command: one module per verb, and the one place where errors become exit codes."""

from __future__ import annotations

import io
import os
import re
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, NoReturn, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup
from typing_extensions import override

from paragone.cli.output import RUN_CODE, only_json, without_working_folder, write_line
from paragone.errors import InputError, messages_of
from paragone.folders import told
from paragone.terminal import say_in_words

START, LOOK, KEEP, MORE = "Start here", "Look", "Keep and exchange", "Data and more"
"""Where `paragone --help` shows a verb: the parts, from top to bottom."""

FIRST_VERBS = ("try", "init", "run", "compare", "report")
"""The verbs that come first in their part; the others follow by name."""

FIRST_STEPS = """\
Which method is better, and how sure is that?

  paragone try TABLE.csv --target COLUMN   the usual methods on your own table
  paragone compare SCORES.csv              scores that you have already
  paragone init TABLE.csv --target COLUMN  an experiment file, to change and run
  paragone demo                            a real experiment on bundled data

`paragone --help` lists every verb, `paragone VERB --help` its options with an
example; `paragone --install-completion` teaches your shell to complete them.
"""


PLAIN_TYPES = {
    "<path>": "PATH",
    "<str>": "TEXT",
    "<int>": "N",
    "<int range>": "N",
    "<float>": "NUMBER",
    "<float range>": "NUMBER",
    "<list[str]>": "TEXT",
    "<list[path]>": "PATH",
}


KEYWORD = Parameter.KEYWORD_ONLY

_BRACES = re.compile(r"\{(.*)\}")
"""What Typer puts around an argument that must be given."""


class Verb(TyperCommand):
    """A verb whose options are shown as people write them."""

    @override
    def get_params(self, ctx: Any) -> list[Any]:
        return with_plain_types(super().get_params(ctx), ctx)

    @override
    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [_BRACES.sub(r"\1", piece) for piece in super().collect_usage_pieces(ctx)]


class Verbs(TyperGroup):
    """Verbs in the order in which they are needed."""

    @override
    def get_params(self, ctx: Any) -> list[Any]:
        return with_plain_types(super().get_params(ctx), ctx)

    @override
    def list_commands(self, ctx: Any) -> list[str]:
        parts = (START, LOOK, KEEP, MORE)
        names = super().list_commands(ctx)
        panels = {name: getattr(self.commands[name], "rich_help_panel", None) for name in names}
        return sorted(
            names,
            key=lambda name: (
                parts.index(panels[name]) if panels[name] in parts else -1,
                FIRST_VERBS.index(name) if name in FIRST_VERBS else len(FIRST_VERBS),
            ),
        )


def with_plain_types(params: list[Any], context: Any) -> list[Any]:
    """Show options as people write them: a flag without a type, since it takes no value, and types by plain names.

    Versions of Typer before 0.26 do so by themselves, and do not know ``display_type``.
    """
    for param in params:
        if not hasattr(param, "display_type"):
            continue
        if param.param_type_name == "argument":
            param.metavar = param.metavar or param.name.upper()
            param.display_type_rich = lambda ctx: None
        elif getattr(param, "is_flag", False):
            param.metavar = ""
        elif param.metavar is None:
            param.metavar = PLAIN_TYPES.get(param.display_type(context).lower())
    return params


class CommandLine(typer.Typer):
    """A part of the command line, every verb of which is a `Verb`."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(
            cls=Verbs, rich_markup_mode="rich", pretty_exceptions_enable=False, **settings
        )

    @override
    def command(
        self, name: str | None = None, *, cls: type[TyperCommand] | None = Verb, **settings: Any
    ) -> Callable[[Any], Any]:
        register = super().command(name, cls=cls, **settings)

        def registered(command: Callable[..., Any]) -> Callable[..., Any]:
            register(flattened(command))
            return command

        return registered


def flattened(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command as Typer takes it: the fields of each dataclass of options are options of their own."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters = []
    for name, parameter in signature(command).parameters.items():
        if name not in groups:
            parameters.append(parameter.replace(annotation=hints[name], kind=KEYWORD))
            continue
        types = get_type_hints(groups[name], include_extras=True)
        for one in fields(groups[name]):
            default = Parameter.empty if one.default is MISSING else one.default
            parameters.append(
                Parameter(one.name, KEYWORD, default=default, annotation=types[one.name])
            )

    @wraps(command)
    def called(**given: Any) -> None:
        for name, kind in groups.items():
            given[name] = kind(**{one.name: given.pop(one.name) for one in fields(kind)})
        command(**given)

    called.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {one.name: one.annotation for one in parameters}
    return called


app = CommandLine(
    name="paragone", help="A laboratory for comparing machine-learning methods honestly."
)

EXIT_INPUT = 2
EXIT_PIPE = 141


def _print_version(value: bool) -> None:
    if value:
        from paragone import __version__

        write_line(f"paragone {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Compare machine-learning methods honestly."""
    if context.invoked_subcommand is None:
        write_line(FIRST_STEPS.rstrip())
        return
    context.with_resource(messages_of("options"))
    if context.invoked_subcommand not in RUN_CODE:
        context.with_resource(without_working_folder())


def main() -> None:
    """Run the command line; a user's mistake ends in one sentence and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal or a pipe that cannot take a letter gets an escape instead: no name ends a
        # command.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        with only_json("--json" in sys.argv[1:]):
            app()
    except InputError as error:
        _end(str(error))
    except BrokenPipeError:
        # Whoever read the output has enough, as `head` has: nothing is wrong, and there is nobody
        # left to tell.
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - open until the process ends
        sys.exit(EXIT_PIPE)
    except OSError as error:
        # A disk, a folder or a permission: the machine's, not the program's.
        _end(f"the system refused: {told(error)}")
    except MemoryError as error:
        _end(f"there is not enough memory{f' ({error})' if str(error) else ''}")
    except sqlite3.Error as error:
        _end(f"the store cannot be used: {error}; `paragone store check` says more")


def _end(sentence: str) -> NoReturn:
    """Say what is wrong on one line, and end."""
    say_in_words(f"paragone: {' '.join(sentence.splitlines())}", stderr=True)
    sys.exit(EXIT_INPUT)
