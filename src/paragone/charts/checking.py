"""Build charts without Altair's check of every part against its schema, where the same charts are tested elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def unchecked() -> Iterator[None]:
    """Build charts in half the time: a page has hundreds, all of kinds that tests build with the check on.

    Examples
    --------
    >>> import altair as alt
    >>> with unchecked():
    ...     chart = alt.Chart(alt.Data(values=[])).mark_point()
    """
    from altair.utils import schemapi

    with schemapi.debug_mode(False):
        yield
