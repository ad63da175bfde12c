"""File names made of any name, and back: nothing that a user calls a method can leave its folder."""

from __future__ import annotations

from urllib.parse import quote, unquote

from paragone.errors import InputError

# Harmless in a file name on every system, and common in the names of methods.
_KEPT = " ()+,=@"


def safe_file_name(name: str) -> str:
    """Write a name so that it is one file name everywhere; `name_of_file` gives it back.

    Letters, digits and ``-_.~ ()+,=@`` stay; everything else, a leading dot, and a dot or blank at the
    end become ``%XX``.

    Examples
    --------
    >>> safe_file_name("DAGFS (a/b)"), safe_file_name("..")
    ('DAGFS (a%2Fb)', '%2E%2E')
    """
    if not name:
        raise InputError("an empty name cannot become a file name")
    quoted = quote(name, safe=_KEPT)
    if quoted[0] in ". ":
        quoted = _escaped(quoted[0]) + quoted[1:]
    if quoted[-1] in ". ":
        quoted = quoted[:-1] + _escaped(quoted[-1])
    return quoted


def name_of_file(file_name: str) -> str:
    """Give back the name that `safe_file_name` wrote; a name that it did not write stays as it is.

    Examples
    --------
    >>> name_of_file("DAGFS (a%2Fb)"), name_of_file("100%")
    ('DAGFS (a/b)', '100%')
    """
    try:
        return unquote(file_name, errors="strict")
    except UnicodeDecodeError:
        return file_name


def _escaped(character: str) -> str:
    return f"%{ord(character):02X}"
