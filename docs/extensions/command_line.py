"""The command line as a page: every verb with its help, read off the command itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer
from rich.text import Text

from paragone.cli import app

TITLE = "The command line"
INTRODUCTION = """\
Every verb ends with 0 when all went well, with 2 and one sentence when the input was wrong, and with 1 when cells of
a run failed. What is printed for people is coloured on a terminal and plain in a pipe; `--json` is for programs.
"""


def commands() -> Iterator[tuple[str, Any]]:
    """Yield every command with the words it is called by, groups before their members."""
    root = typer.main.get_command(app)
    yield from _inside("paragone", root)


def _inside(words: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield words, command
    for name, member in _members(command):
        yield from _inside(f"{words} {name}", member)


def _members(command: Any) -> list[tuple[str, Any]]:
    """Return the commands of a group; a former name still works and is not taught."""
    return sorted(
        (name, each) for name, each in getattr(command, "commands", {}).items() if not each.hidden
    )


def page() -> str:
    """Return the page as Markdown."""
    return "\n".join(
        [f"# {TITLE}", "", INTRODUCTION, *(section(words, each) for words, each in commands())]
    )


def section(words: str, command: Any) -> str:
    """Return the part about one command: what it does, how it is called, its arguments and options."""
    context = (
        type(command).context_class(command, info_name=words)
        if hasattr(command, "context_class")
        else None
    )
    usage = command.get_usage(context).removeprefix("Usage: ")
    said, example = _help(command)
    parts = [f"## `{words}`", "", said, "", "```text", usage, "```", ""]
    parts += ["```console", f"$ {example}", "```", ""] if example else []
    parts += [
        f"- [`{words} {name}`](#{_anchor(f'{words} {name}')}): {_first(member)}"
        for name, member in _members(command)
    ]
    records = [record for each in command.params if (record := each.get_help_record(context))]
    parts += ["", "| argument or option | what |", "|---|---|"] if records else []
    parts += [f"| `{_cell(name)}` | {_cell(_plain(text))} |" for name, text in records]
    return "\n".join([*parts, ""])


def _help(command: Any) -> tuple[str, str]:
    """Split the help text from its example, which stands in the text or below the options."""
    text = " ".join(_plain(f"{command.help or ''}\n\n{command.epilog or ''}").split())
    said, _, example = text.partition("Example: ")
    return said.strip(), example.strip()


def _first(command: Any) -> str:
    return _help(command)[0].partition(". ")[0].rstrip(".") + "."


def _plain(text: str) -> str:
    """Take the colours out of a help text."""
    return Text.from_markup(text).plain


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _anchor(words: str) -> str:
    return words.replace(" ", "-")
