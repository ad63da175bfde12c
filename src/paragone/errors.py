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
def messages_of(surface: Surface) -> Iterator[None]:
    """Let messages speak of options of the command line, or of keys of an experiment file, meanwhile."""
    before = _SURFACE.set(surface)
    try:
        yield
    finally:
        _SURFACE.reset(before)


RARE = [
    "bayes",
    "differences",
    "display_map",
    "ignore",
    "methods_in",
    "missing",
    "n_samples",
    "repeats",
    "row",
    "test_train_ratio",
    "tolerance",
    "trust_ids",
    "weights",
    "zeros",
]
"""Settings of a comparison that the command line takes by ``--set``."""
SPELT = {"higher_is_better": "direction", "columns": "column", "reader": "as"}
"""Settings that the command line calls otherwise than Python does."""


def setting(name: str) -> str:
    """Return how a message names a setting without a value: as an argument, an option or a key of the file.

    Examples
    --------
    >>> setting("target")
    'target='
    >>> with messages_of("options"):
    ...     print(setting("drop_ids"), setting("zeros"), setting("higher_is_better"))
    --drop-ids --set zeros --direction
    >>> with messages_of("keys"):
    ...     print(setting("target"))
    the key 'target'
    """
    if _SURFACE.get() == "options":
        return _option(name)
    return f"{name}=" if _SURFACE.get() == "arguments" else f"the key {name!r}"


def _option(name: str) -> str:
    if name in RARE:
        return f"--set {name}"
    return f"--{SPELT.get(name, name).replace('_', '-')}"


def argument(name: str, value: object = None) -> str:
    """Return how a message sets a setting: as an argument, on the command line as an option, in a file as a key.

    Parameters
    ----------
    name : str
        The argument.
    value : object, optional
        What to set it to; text in capitals stands for what the reader is to fill in.

    Examples
    --------
    >>> argument("repeats", 10), argument("missing", "worst")
    ('repeats=10', "missing='worst'")
    >>> with messages_of("options"):
    ...     print(argument("test_train_ratio", 0.25), argument("higher_is_better", False), argument("bayes", True))
    --set test_train_ratio=0.25 --direction lower --set bayes
    >>> with messages_of("options"):
    ...     print(argument("columns", {"my run": "seed"}))
    --column 'my run=seed'
    >>> with messages_of("keys"):
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
    return _option_with(name, value)


def direction_argument() -> str:
    """Return how a message asks for the better way of a metric: it is left open which, so that nobody pastes a guess.

    Examples
    --------
    >>> direction_argument()
    'higher_is_better=True or False'
    >>> with messages_of("options"):
    ...     print(direction_argument())
    --direction higher|lower
    """
    if _SURFACE.get() == "options":
        return f"{_option('higher_is_better')} higher|lower"
    return f"{argument('higher_is_better', True)} or False"


def _option_with(name: str, value: object) -> str:
    option = _option(name)
    if isinstance(value, Mapping):
        # One of a list: the option is given once for each.
        return " ".join(f"{option} {quote(f'{key}={one}')}" for key, one in value.items())
    if option == "--direction" and value is not None:
        return f"{option} {'higher' if value else 'lower'}"
    if value is None or value is True:
        return option
    if name in RARE:
        return f"--set {quote(f'{name}={value}')}"
    return f"{option} {quote(value) if isinstance(value, str) else value}"


def _is_to_fill_in(value: object) -> bool:
    """Say whether a value stands for one that the reader knows, as ``N_TEST`` does and the code ``PG101`` does not."""
    return isinstance(value, str) and value.isupper() and not value[-1].isdigit()
