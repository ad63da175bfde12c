"""check_recommender: run a recommender through its contract."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from paragone.data.prescriptions import Prescriptions
from paragone.errors import InputError
from paragone.testing.contract import Contract, require
from paragone.validation import FloatArray


@dataclass(frozen=True)
class RecommenderCase:
    """A recommender that is not fitted, rows to fit it on, and other rows."""

    recommender: Any
    train: Prescriptions
    other: Prescriptions

    def fitted(self) -> Any:
        """Fit a copy and return what `fit` returned."""
        return copy.deepcopy(self.recommender).fit(self.train, self.other)

    def scores(self) -> FloatArray:
        """Return the scores of a freshly fitted copy for the other rows."""
        scores: FloatArray = self.fitted().score(self.other.queries)
        return scores


RECOMMENDER_CONTRACT = Contract[RecommenderCase]("recommender")


def check_recommender(recommender: Any, *, rows: Prescriptions | None = None) -> list[str]:
    """Check that a recommender keeps every law of the contract.

    The laws: `fit` returns itself, `score` gives a finite number for every query and item, the same
    rows and parameters give the same bytes, a row is scored for itself alone, the input is left
    alone, and queries with another number of tokens are refused.

    Parameters
    ----------
    recommender : object or type
        Something with ``fit(train, validation)`` and ``score(block)``, or a class that can be made
        without arguments. It is copied, never fitted itself.
    rows : Prescriptions, optional
        What to try it on: the first half to fit, the second to validate and score; made-up rows
        where not given.

    Returns
    -------
    list of str
        The laws that were checked.

    Raises
    ------
    AssertionError
        Names the law that is broken and how.

    Examples
    --------
    >>> from paragone.methods.recommenders import make_recommender
    >>> len(check_recommender(make_recommender("ridge")))
    6
    """
    subject = recommender() if isinstance(recommender, type) else recommender
    given = rows if rows is not None else example_prescriptions()
    half = given.n_rows // 2
    case = RecommenderCase(
        subject, given.take(np.arange(half)), given.take(np.arange(half, given.n_rows))
    )
    return RECOMMENDER_CONTRACT.check(case, name=type(subject).__name__)


def example_prescriptions(
    n_rows: int = 60, n_tokens: int = 8, n_items: int = 12, seed: int = 0
) -> Prescriptions:
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


@RECOMMENDER_CONTRACT.law("fit returns itself")
def _fit_returns_itself(case: RecommenderCase) -> None:
    fresh = copy.deepcopy(case.recommender)
    require(fresh.fit(case.train, case.other) is fresh, "it returned something else")


@RECOMMENDER_CONTRACT.law("score gives a finite number for every query and item")
def _scores_everything(case: RecommenderCase) -> None:
    scores = np.asarray(case.scores())
    wanted = (case.other.n_rows, case.train.n_items)
    require(scores.shape == wanted, f"the shape is {scores.shape}, {wanted} was expected")
    require(np.isfinite(scores).all(), "there are NaN or infinite scores")


@RECOMMENDER_CONTRACT.law("the same rows and parameters give the same bytes")
def _is_deterministic(case: RecommenderCase) -> None:
    first, second = case.scores(), case.scores()
    require(
        np.array_equal(first, second),
        f"two fits differ by up to {np.abs(first - second).max():.3g}",
    )


@RECOMMENDER_CONTRACT.law("a row is scored for itself alone")
def _scores_rows_alone(case: RecommenderCase) -> None:
    fitted = case.fitted()
    whole = fitted.score(case.other.queries)
    order = np.arange(case.other.n_rows)[::-1]
    backwards, alone = (
        fitted.score(case.other.queries[order]),
        fitted.score(case.other.queries[order[:1]]),
    )
    # A product may round differently for another block, so equality is up to rounding.
    require(
        np.allclose(backwards, whole[order], rtol=1e-4, atol=1e-6),
        "the order of the rows changes their scores",
    )
    require(
        np.allclose(alone, whole[order[:1]], rtol=1e-4, atol=1e-6),
        "the other rows change a row's scores",
    )


@RECOMMENDER_CONTRACT.law("the input is left alone")
def _leaves_its_input_alone(case: RecommenderCase) -> None:
    def arrays() -> list[Any]:
        return [
            part
            for rows in (case.train, case.other)
            for part in (rows.queries.data, rows.queries.indices, rows.items)
        ]

    before = [array.copy() for array in arrays()]
    case.scores()
    require(
        all(map(np.array_equal, before, arrays())), "fit or score changed the rows it was given"
    )


@RECOMMENDER_CONTRACT.law("queries with another number of tokens are refused")
def _refuses_other_sizes(case: RecommenderCase) -> None:
    try:
        case.fitted().score(np.ones((1, case.train.n_tokens + 1)))
    except InputError:
        return
    raise AssertionError("no InputError was raised")
