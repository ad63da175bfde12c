"""The one exception for a user's mistake, the words that help to mend it, and the warning of a guard that acted."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from shlex import quote
from typing import Literal

Surface = Literal["arguments", "options", "keys"]
"""Where the reader of a message can set something: in Python, on the command line, in an experiment file."""
_SURFACE: ContextVar[Surface] = ContextVar("what messages speak of", default="arguments")


class InputError(ValueError):
    """Something the user gave cannot be used.

    The message is for a person: what is wrong, where, and what to do, in one or two lines.
    The command line prints it without a traceback and exits with code 2.

    Examples
    --------
    >>> import paragone
    >>> try:
    ...     paragone.Experiment(["wine-traits"], {"V": "varianze"})
    ... except paragone.InputError as error:
    ...     print(error)
    unknown method 'V' 'varianze': did you mean 'variance'?
    """


class GuardWarning(UserWarning):
    """A method's guard acted: it set something aside or stopped early, so the method is not quite the published one.

    Warnings of a cell are kept with it and told wherever its scores are.
    """


def unknown_name(kind: str, name: str, known: Iterable[str]) -> InputError:
    """Build the error for a name that does not exist, with the nearest one that does.

    Parameters
    ----------
    kind : str
        What the name should have named, such as ``"metric"``.
    name : str
        The name that was given.
    known : iterable of str
        Every name that would have been right.

    Returns
    -------
    InputError
        To be raised by the caller.

    Examples
    --------
    >>> print(unknown_name("metric", "micro-f1", ["macro_f1", "micro_f1"]))
    unknown metric 'micro-f1': did you mean 'micro_f1'?
    >>> print(unknown_name("split", "x", ["kfold", "holdout"]))
    unknown split 'x': choose one of kfold, holdout
    """
    options = list(known)
    near = get_close_matches(name.lower(), [option.lower() for option in options], n=1, cutoff=0.6)
    if near:
        match = next(option for option in options if option.lower() == near[0])
        return InputError(f"unknown {kind} {name!r}: did you mean {match!r}?")
    return InputError(f"unknown {kind} {name!r}: choose one of {', '.join(options)}")


@contextmanager
def messages_of_options() -> Iterator[None]:
    """Let messages speak of options of the command line instead of arguments of Python meanwhile."""
    with _messages_of("options"):
        yield


@contextmanager
def messages_of_keys() -> Iterator[None]:
    """Let messages speak of keys of an experiment file meanwhile, whoever reads the file."""
    with _messages_of("keys"):
        yield


@contextmanager
def _messages_of(surface: Surface) -> Iterator[None]:
    before = _SURFACE.set(surface)
    try:
        yield
    finally:
        _SURFACE.reset(before)


def setting(name: str) -> str:
    """Return how a message names a setting without a value: as an argument, an option or a key of the file.

    Examples
    --------
    >>> setting("target")
    'target='
    >>> with messages_of_options():
    ...     print(setting("drop_ids"))
    --drop-ids
    >>> with messages_of_keys():
    ...     print(setting("target"))
    the key 'target'
    """
    named = {
        "arguments": f"{name}=",
        "options": f"--{name.replace('_', '-')}",
        "keys": f"the key {name!r}",
    }
    return named[_SURFACE.get()]


def argument(name: str, value: object = None) -> str:
    """Return how a message sets a setting: as an argument, on the command line as an option, in a file as a key.

    Parameters
    ----------
    name : str
        The argument.
    value : object, optional
        What to set it to; False stands for the opposite flag, text in capitals for what the reader
        is to fill in.

    Examples
    --------
    >>> argument("repeats", 10), argument("missing", "worst")
    ('repeats=10', "missing='worst'")
    >>> with messages_of_options():
    ...     print(argument("test_train_ratio", 0.25), argument("higher_is_better", False), argument("bayes", True))
    --test-train-ratio 0.25 --lower-is-better --bayes
    >>> with messages_of_options():
    ...     print(argument("columns", {"my run": "seed"}))
    --column 'my run=seed'
    >>> with messages_of_keys():
    ...     print(argument("task", "multilabel"))
    task = "multilabel"
    """
    surface = _SURFACE.get()
    if surface == "keys":
        return (
            name
            if value is None
            else f"{name} = {json.dumps(value, default=str, ensure_ascii=False)}"
        )
    if surface == "arguments":
        if value is None:
            return name
        return f"{name}={value}" if _is_to_fill_in(value) else f"{name}={value!r}"
    option = f"--{name.replace('_', '-')}"
    if isinstance(value, Mapping):
        # One of a list: the option is given once for each.
        return " ".join(
            f"{option.removesuffix('s')} {quote(f'{key}={one}')}" for key, one in value.items()
        )
    if value is False:
        return (
            option.replace("--higher", "--lower")
            if "higher" in option
            else option.replace("--", "--no-", 1)
        )
    if value is None or value is True:
        return option
    return f"{option} {quote(value) if isinstance(value, str) else value}"


def _is_to_fill_in(value: object) -> bool:
    """Say whether a value stands for one that the reader knows, as ``N_TEST`` does and the code ``PG101`` does not."""
    return isinstance(value, str) and value.isupper() and not value[-1].isdigit()
