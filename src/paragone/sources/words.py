"""Words on code that changed: which files and packages differ between two states."""

from __future__ import annotations

from collections.abc import Mapping

MISSING = "not installed"
SOURCE = "source "


def changed_words(earlier: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    """Name what differs between two states of the code that a result rests on.

    Parameters
    ----------
    earlier, now : mapping of str to str
        A file to its hash, a package to its version.

    Returns
    -------
    tuple of str
        Files by their name, packages with both versions.

    Examples
    --------
    >>> changed_words({"lab.py": "source 1", "numpy": "1.0"}, {"lab.py": "source 2", "numpy": "2.0"})
    ('lab.py', 'numpy (1.0, now 2.0)')
    """
    told = []
    for name in sorted({*earlier, *now}):
        before, after = earlier.get(name), now.get(name)
        if before == after:
            continue
        versions = all(word is None or not word.startswith(SOURCE) for word in (before, after))
        told.append(f"{name} ({before or 'not used'}, now {after or 'not used'})" if versions else name)
    return tuple(told)
