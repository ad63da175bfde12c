"""Keys of scores: how they are spelt, sorted and told from summary rows."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

_SUMMARY = re.compile(
    r"^(grand[ _]|overall[ _]|macro[ _]|micro[ _])?"
    r"((mean|avg\.?|averages?)([ _]?rank)?|median|std\.?|sd|stdev|std\.?[ _]?dev|total|overall|sum)"
    r"([ _]?(±|\+/?-)[ _]?(std|sd))?$",
    re.IGNORECASE,
)

_DIGITS = re.compile(r"(\d+)")


def spell(key: Any) -> str:
    """Return a key as text; a whole number read as a float loses its decimal point.

    Examples
    --------
    >>> spell(3.0), spell(" iris "), spell(7)
    ('3', 'iris', '7')
    """
    if isinstance(key, float) and key.is_integer():
        return str(int(key))
    return str(key).strip()


def spell_all(keys: pd.Series) -> pd.Series:
    """Return a column of keys as text, empty where there is none.

    Examples
    --------
    >>> import pandas as pd
    >>> spell_all(pd.Series([1.0, None])).tolist()
    ['1', '']
    """
    codes, distinct = pd.factorize(keys, use_na_sentinel=True)
    # The last one stands for those that are missing, whose code is -1.
    spelt = np.array([*(spell(key) for key in distinct), ""], dtype=object)
    return pd.Series(spelt[codes], index=keys.index, name=keys.name, dtype=object)


def summary_rows(keys: pd.Series) -> pd.Series:
    """Say of every key whether its name says that the row sums up others.

    Examples
    --------
    >>> import pandas as pd
    >>> summary_rows(pd.Series(["iris", "MEAN", "iris"])).tolist()
    [False, True, False]
    """
    codes, distinct = pd.factorize(keys)
    return pd.Series(np.array([is_summary(key) for key in distinct], dtype=bool)[codes], index=keys.index)


@lru_cache(maxsize=4096)
def natural_order(key: str) -> tuple[tuple[tuple[int, int, str], ...], str]:
    """Return a sort key that puts fold 10 after fold 9.

    Examples
    --------
    >>> sorted(["fold10", "fold9", "10", "9"], key=natural_order)
    ['9', '10', 'fold9', 'fold10']
    """
    parts = [part for part in _DIGITS.split(key) if part]
    # The text itself comes last, so that 01 and 1 have a fixed order too.
    return tuple((0, int(p), "") if p.isdecimal() else (1, 0, p) for p in parts), key


def is_summary(key: str) -> bool:
    """Say whether a row's name says that it sums up the others.

    Examples
    --------
    >>> is_summary("MEAN"), is_summary("Avg."), is_summary("meander")
    (True, True, False)
    """
    return _SUMMARY.match(key.strip()) is not None
