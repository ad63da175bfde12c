"""Five tables as people have them, made with a seed, and what should be inferred of each."""

from __future__ import annotations

import numpy as np
import pandas as pd


def churn(n: int = 1_000) -> pd.DataFrame:
    """Ids, text, gaps, dates as text, two classes as words, names in other alphabets."""
    rng = np.random.default_rng(1)
    plan = rng.choice(["basic", "plus", "pro"], n)
    age = np.where(rng.random(n) < 0.3, np.nan, rng.integers(18, 90, n))
    since = pd.Timestamp("2015-01-01") + pd.to_timedelta(rng.integers(0, 3000, n), unit="D")
    signal = (plan == "basic") * 1.5 - 0.02 * np.nan_to_num(age, nan=40.0) + rng.normal(0, 0.5, n)
    return pd.DataFrame(
        {
            "customer": [f"C{i:06d}" for i in range(n)],
            "plan": plan,
            "возраст": age,
            "都市": rng.choice(["Rome", "Łódź", "東京"], n),
            "since": since.strftime("%Y-%m-%d"),
            "churned": np.where(signal > -0.1, "yes", "no"),
        }
    )


def prices(n: int = 2_000) -> pd.DataFrame:
    """A regression with skewed numbers, a constant column and a column twice under two names."""
    rng = np.random.default_rng(2)
    size = rng.lognormal(4, 0.4, n)
    return pd.DataFrame(
        {
            "size": size,
            "size in feet": size * 10.7639,
            "rooms": rng.integers(1, 8, n),
            "country": "IT",
            "heating": rng.choice(["gas", "heat pump", None], n),
            "price": 900 * size + rng.normal(0, 8_000, n),
        }
    )


def tickets(n: int = 1_500) -> pd.DataFrame:
    """Free text with many different words, four classes of which one is rare."""
    rng = np.random.default_rng(3)
    words = np.array([f"word{i}" for i in range(400)])
    kind = rng.choice(["bill", "bug", "praise", "fraud"], n, p=[0.5, 0.3, 0.19, 0.01])
    return pd.DataFrame(
        {
            "product": rng.choice(words, n),
            "subject": [" ".join(rng.choice(words, 8)) for _ in range(n)],
            "urgent": rng.random(n) < 0.2,
            "length": rng.poisson(80, n) + 40 * (kind == "bug"),
            "kind": kind,
        }
    )


def sensors(n: int = 3_000) -> pd.DataFrame:
    """Whole numbers as classes, numbers with text among them, an unnamed counting column."""
    rng = np.random.default_rng(4)
    state = rng.integers(0, 3, n)
    reading = (state + rng.normal(0, 0.7, n)).round(3).astype(object)
    reading[rng.random(n) < 0.05] = "error"
    return pd.DataFrame(
        {
            "Unnamed: 0": np.arange(n),
            "reading": reading,
            "volts": rng.normal(5, 1, n) + state,
            "machine": rng.integers(0, 40, n).astype(str),
            "y": state,
        }
    )


def loans(n: int = 100_000) -> pd.DataFrame:
    """Many rows with categories of many levels, times and gaps."""
    rng = np.random.default_rng(5)
    income = rng.lognormal(10, 0.5, n)
    purpose = pd.Categorical(rng.choice([f"purpose {i}" for i in range(50)], n))
    bad = rng.random(n) < 1 / (1 + np.exp((income - 25_000) / 8_000))
    return pd.DataFrame(
        {
            "income": np.where(rng.random(n) < 0.1, np.nan, income),
            "purpose": purpose,
            "zip": rng.integers(10_000, 99_999, n).astype(str),
            "asked": (
                pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 10**8, n), unit="s")
            ),
            "employed": rng.random(n) < 0.8,
            "default": bad,
        }
    )
