"""The contract of a recommender: what any plug-in must do, checked in one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from paragone.data.prescriptions import Prescriptions
from paragone.errors import InputError


def check_recommender(make: Callable[[], Any], *, train: Prescriptions | None = None) -> None:
    """Check that a recommender keeps the contract; an ``AssertionError`` names the first breach.

    Parameters
    ----------
    make : callable
        Returns a new, unfitted recommender.
    train : Prescriptions, optional
        What to fit it on; a small made-up set where not given.

    Examples
    --------
    >>> from paragone.models.recommenders import make_recommender
    >>> check_recommender(lambda: make_recommender("ridge"))
    """
    rows = train if train is not None else example_prescriptions()
    half = rows.n_rows // 2
    fit_rows, other = rows.take(np.arange(half)), rows.take(np.arange(half, rows.n_rows))
    _fits_and_scores(make, fit_rows, other)
    _is_deterministic(make, fit_rows, other)
    _scores_rows_alone(make, fit_rows, other)
    _leaves_its_input_alone(make, fit_rows, other)
    _refuses_other_sizes(make, fit_rows)


def example_prescriptions(n_rows: int = 60, n_tokens: int = 8, n_items: int = 12, seed: int = 0) -> Prescriptions:
    """Return made-up prescriptions in which tokens ask for their own items, with some noise.

    Examples
    --------
    >>> example_prescriptions()
    Prescriptions 'example': 60 rows, 8 tokens, 12 items
    """
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n_rows):
        tokens = rng.permutation(n_tokens)[: rng.integers(1, 4)].tolist()
        wanted = dict.fromkeys([*(token % n_items for token in tokens), int(rng.integers(n_items))])
        rows.append((tokens, list(wanted)))
    return Prescriptions.from_rows(rows, n_tokens=n_tokens, n_items=n_items, name="example")


def _fitted(make: Callable[[], Any], train: Prescriptions, validation: Prescriptions) -> Any:
    recommender = make()
    fitted = recommender.fit(train, validation)
    assert fitted is recommender, "fit must return self"
    return fitted


def _fits_and_scores(make: Callable[[], Any], train: Prescriptions, other: Prescriptions) -> None:
    scores = _fitted(make, train, other).score(other.queries)
    assert isinstance(scores, np.ndarray), "score must return an array"
    assert scores.shape == (other.n_rows, train.n_items), f"score returned the shape {scores.shape}"
    assert np.isfinite(scores).all(), "score must return finite numbers"


def _is_deterministic(make: Callable[[], Any], train: Prescriptions, other: Prescriptions) -> None:
    first, second = (_fitted(make, train, other).score(other.queries) for _ in range(2))
    assert np.array_equal(first, second), "two fits on the same rows must score the same"


def _scores_rows_alone(make: Callable[[], Any], train: Prescriptions, other: Prescriptions) -> None:
    fitted = _fitted(make, train, other)
    whole = fitted.score(other.queries)
    order = np.arange(other.n_rows)[::-1]
    backwards = fitted.score(other.queries[order])
    # A product may round differently for another block, so equality is up to rounding.
    assert np.allclose(backwards, whole[order], rtol=1e-4, atol=1e-6), "a row's scores must not depend on other rows"


def _leaves_its_input_alone(make: Callable[[], Any], train: Prescriptions, other: Prescriptions) -> None:
    before = [array.copy() for array in (train.queries.data, train.queries.indices, train.items, other.items)]
    _fitted(make, train, other).score(other.queries)
    after = (train.queries.data, train.queries.indices, train.items, other.items)
    assert all(map(np.array_equal, before, after)), "fit and score must not change their input"


def _refuses_other_sizes(make: Callable[[], Any], train: Prescriptions) -> None:
    fitted = make().fit(train)
    wider = np.ones((1, train.n_tokens + 1))
    try:
        fitted.score(wider)
    except InputError:
        return
    raise AssertionError("score must raise InputError for queries with another number of tokens")
