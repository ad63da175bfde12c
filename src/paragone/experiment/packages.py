"""The installed packages that an experiment rests on, with their versions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib import metadata

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_EXTRA = re.compile(r";.*\bextra\b")


def package_versions(modules: Iterable[str]) -> dict[str, str]:
    """Return the version of Paragone, of the packages of some modules, and of all that these require.

    Parameters
    ----------
    modules : iterable of str
        Names of modules, such as those of the methods.

    Returns
    -------
    dict
        Name of the distribution to its version, sorted; what is not installed is not there.

    Examples
    --------
    >>> found = package_versions(["sklearn.svm"])
    >>> {"paragone", "numpy", "scikit-learn", "joblib"} <= set(found)
    True
    """
    return dict(_closure(tuple(sorted({module.partition(".")[0] for module in modules}))))


@cache
def _closure(modules: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    open_names = ["paragone", *(name for module in modules for name in _distributions(module))]
    found: dict[str, str] = {}
    while open_names:
        name = normalised(open_names.pop())
        if name in found:
            continue
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        found[name] = distribution.version
        wanted = [text for text in distribution.requires or () if not _EXTRA.search(text)]
        open_names += [match[0] for text in wanted if (match := _NAME.match(text))]
    return tuple(sorted(found.items()))


def normalised(name: str) -> str:
    """Return a distribution's name as indexes write it.

    Examples
    --------
    >>> normalised("Vl_Convert.Python")
    'vl-convert-python'
    """
    return re.sub(r"[-_.]+", "-", name).lower()


@cache
def _distributions(module: str) -> tuple[str, ...]:
    try:
        metadata.distribution(module)
    except metadata.PackageNotFoundError:
        # Slow: it reads the files of everything installed. Most packages are called as they are imported.
        return tuple(metadata.packages_distributions().get(module, ()))
    return (module,)
