"""The working folder is no place to import from: a module there may be a stranger's."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

RUN_CODE = frozenset({"run", "demo", "generate", "import", "audit"})
"""Verbs that may run methods, whose own programs must find Python as it is; audit decides by what it is given."""
VARIABLE = "PYTHONSAFEPATH"


@contextmanager
def without_working_folder() -> Iterator[None]:
    """Let no Python that this process starts meanwhile look for modules in the working folder.

    Charts and pages are made in processes of their own, and Python puts the folder in which it is started first on
    their path: a ``threading.py`` beside a store would be run by them.

    Examples
    --------
    >>> with without_working_folder():
    ...     os.environ["PYTHONSAFEPATH"]
    '1'
    """
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before
