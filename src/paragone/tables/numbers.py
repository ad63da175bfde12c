"""How numbers are printed: one place, so that every table agrees."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike


def decimals_for(values: ArrayLike) -> int:
    """Return how many decimals show four figures of scores of this size: four for shares, fewer for large scores.

    Parameters
    ----------
    values : array-like
        The scores; their median size decides. NaN and zero are looked past.

    Returns
    -------
    int
        From 2 to 10; 4 where there is nothing to go by.

    Examples
    --------
    >>> decimals_for([0.71, 0.69]), decimals_for([85.2, 90.1]), decimals_for([3e-6, 4e-6]), decimals_for([0.0])
    (4, 2, 9, 4)
    """
    sizes = np.abs(np.asarray(values, dtype=np.float64)).ravel()
    sizes = sizes[np.isfinite(sizes) & (sizes > 0)]
    if sizes.size == 0:
        return 4
    return min(10, max(2, 3 - math.floor(math.log10(float(np.median(sizes))))))


def format_number(value: float, digits: int = 4) -> str:
    """Print a number with a fixed number of decimals; a dash where there is none.

    Examples
    --------
    >>> format_number(0.5), format_number(float("nan")), format_number(-0.00001)
    ('0.5000', '-', '0.0000')
    """
    if math.isnan(value):
        return "-"
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text


def format_signed(value: float, digits: int = 4) -> str:
    """Print a difference with its sign.

    Examples
    --------
    >>> format_signed(0.012), format_signed(-0.3), format_signed(0.0)
    ('+0.0120', '-0.3000', '0.0000')
    """
    text = format_number(value, digits)
    return f"+{text}" if value > 0 and float(text) != 0 else text


def format_interval(value: float, low: float, high: float, digits: int = 4) -> str:
    """Print a difference with its interval, or alone where there is none (NaN).

    Examples
    --------
    >>> format_interval(0.012, -0.003, 0.02), format_interval(0.012, float("nan"), float("nan"))
    ('+0.0120 [-0.0030, +0.0200]', '+0.0120')
    """
    alone = format_signed(value, digits)
    if math.isnan(low) or math.isnan(high):
        return alone
    return f"{alone} [{format_signed(low, digits)}, {format_signed(high, digits)}]"


def format_p(p: float) -> str:
    """Print a p-value with three significant figures, or as smaller than 0.0001.

    Examples
    --------
    >>> format_p(0.274414), format_p(0.00732), format_p(1e-7), format_p(1.0)
    ('0.274', '0.00732', '<0.0001', '1')
    """
    if math.isnan(p):
        return "-"
    if p < 1e-4:
        return "<0.0001"
    if p >= 0.9995:
        return "1"
    return f"{p:.{2 - math.floor(math.log10(p))}f}"


def p_is(p: float) -> str:
    """Print a p-value as it stands in a sentence.

    Examples
    --------
    >>> p_is(0.274414), p_is(1e-7)
    ('p = 0.274', 'p < 0.0001')
    """
    text = format_p(p)
    return f"p {text[0]} {text[1:]}" if text.startswith("<") else f"p = {text}"


def format_mean_std(mean: float, std: float, digits: int = 4) -> str:
    """Print a mean with its standard deviation, or alone where there is no spread to print.

    Examples
    --------
    >>> format_mean_std(0.71234, 0.012), format_mean_std(0.7, float("nan"))
    ('0.7123 ± 0.0120', '0.7000')
    """
    text = format_number(mean, digits)
    return text if math.isnan(std) or math.isnan(mean) else f"{text} ± {format_number(std, digits)}"
