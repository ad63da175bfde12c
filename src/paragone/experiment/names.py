"""Names of methods, datasets and experiments: anything that can be read back as it was written."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from paragone.errors import InputError


def check_names(kind: str, names: Iterable[str]) -> None:
    """Refuse names that a table, a file or a command line would take for others.

    Parameters
    ----------
    kind : str
        What is named, for the message.
    names : iterable of str
        The names; a blank at either end, nothing at all and control characters are refused, anything else is fine.

    Examples
    --------
    >>> check_names("method", ["A & B", "<b>", "%s"])
    >>> check_names("method", ["A "])
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: the method 'A ' begins or ends with a blank: give it a name without
    """
    for name in names:
        if not name:
            raise InputError(f"a {kind} has an empty name: give it one")
        if name != name.strip():
            raise InputError(f"the {kind} {name!r} begins or ends with a blank: give it a name without")
        bad = next((letter for letter in name if unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp")), None)
        if bad is not None:
            raise InputError(
                f"the {kind} {name!r} has a control character (U+{ord(bad):04X}) in its name: give it a name without"
            )
