"""check_ranker passes on every ranker of the package and names the law that a broken one breaks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from paragone.methods.method import methods
from paragone.methods.rankers import DAGFS, GRRO, LSMFS, Ranker, Variance
from paragone.methods.rankers.base import Scored
from paragone.testing import check_ranker
from paragone.testing.rankers import RANKER_CONTRACT


def of_alias(alias: str) -> type:
    found: type = methods.get(alias)
    return found


RANKERS = [
    name for name, path in methods.paths().items() if path.startswith("paragone.methods.rankers.")
]


@pytest.mark.parametrize("alias", RANKERS)
def test_every_ranker_of_the_package_keeps_the_contract(alias: str) -> None:
    checked = check_ranker(of_alias(alias))
    assert len(checked) >= len(RANKER_CONTRACT.laws) - 2


VARIANTS = [
    DAGFS(feature_lift="none"),
    DAGFS(paired_penalty=False),
    GRRO(variant="label_specific"),
    LSMFS(form="consistent"),
    *[of_alias(alias)(over="max") for alias in ("chi2", "f-classif", "mutual-info", "relieff")],
    *[
        of_alias(alias)(guard=False)
        for alias in ("dagfs", "lrmfs", "grro", "srfs", "scnmf", "lsmfs", "rfsfs")
    ],
]


@pytest.mark.parametrize("ranker", VARIANTS, ids=repr)
def test_every_variant_keeps_the_contract(ranker: Ranker) -> None:
    check_ranker(ranker)


def test_the_ranker_that_is_checked_is_not_fitted() -> None:
    ranker = Variance()
    check_ranker(ranker)
    assert not hasattr(ranker, "ranking_")


class Good(Ranker):
    """Keeps every law; the broken ones below differ from it in one thing."""

    def __init__(self, factor: float = 1.0) -> None:
        self.factor = factor

    def _score(self, X: Any, Y: Any) -> Scored:
        return Scored(self.factor * X.var(axis=0))


class PeeksAtTest(Good):
    def fit(self, X: Any, Y: Any, X_test: Any) -> PeeksAtTest:  # type: ignore[override]
        return super().fit(X, Y)  # type: ignore[return-value]


class ForgetsItsParameter(Good):
    def __init__(self, factor: float = 1.0) -> None:
        self.factor = factor + 1


class ReturnsNothing(Good):
    def fit(self, X: Any, Y: Any) -> Any:
        super().fit(X, Y)


class ChangesItsParameter(Good):
    def _score(self, X: Any, Y: Any) -> Scored:
        self.factor += 1
        return super()._score(X, Y)


class RanksWorstFirst(Good):
    def fit(self, X: Any, Y: Any) -> Any:
        super().fit(X, Y)
        self.ranking_ = self.ranking_[::-1]
        return self


class RanksTwice(Good):
    def fit(self, X: Any, Y: Any) -> Any:
        super().fit(X, Y)
        self.ranking_ = np.zeros_like(self.ranking_)
        return self


class GivesNaN(Good):
    def _score(self, X: Any, Y: Any) -> Scored:
        return Scored(np.full(X.shape[1], np.nan))


class Unseeded(Good):
    def _score(self, X: Any, Y: Any) -> Scored:
        return Scored(np.random.default_rng().random(X.shape[1]))


class DrawsGlobally(Good):
    def _score(self, X: Any, Y: Any) -> Scored:
        np.random.random()  # noqa: NPY002
        return super()._score(X, Y)


class ChangesX(Good):
    def _score(self, X: Any, Y: Any) -> Scored:
        X *= 1.0
        return super()._score(X, Y)


class LovesFortran(Good):
    def fit(self, X: Any, Y: Any) -> Any:
        self.factor_ = 2.0 if np.isfortran(np.asarray(X)) else 1.0
        return super().fit(X, Y)

    def _score(self, X: Any, Y: Any) -> Scored:
        return Scored(self.factor_ * X.var(axis=0))


class TakesCodesAsTheyAre(Good):
    def fit(self, X: Any, Y: Any) -> Any:
        self.codes_ = float(np.min(np.asarray(Y)))
        return super().fit(X, Y)

    def _score(self, X: Any, Y: Any) -> Scored:
        return Scored(X.var(axis=0) + self.codes_)


class TakesAnyCode(Good):
    def fit(self, X: Any, Y: Any) -> Any:
        Y = np.asarray(Y)
        return super().fit(X, (Y.max() == Y).astype(int))


class TakesNaN(Good):
    def fit(self, X: Any, Y: Any) -> Any:
        X = np.asarray(X)
        return super().fit(np.nan_to_num(X, posinf=0.0) if X.size else np.zeros((len(Y), 1)), Y)


class NeedsPositives(Good):
    def _score(self, X: Any, Y: Any) -> Scored:
        if not Y.any(axis=0).all():
            raise ZeroDivisionError("no positives")
        return super()._score(X, Y)


class PrefersTheFirst(Good):
    deterministic = True

    def _score(self, X: Any, Y: Any) -> Scored:
        return Scored(X.var(axis=0) + np.arange(X.shape[1]))


class GuardsNothing(Good):
    def __init__(self, guard: bool = True) -> None:
        self.guard = guard

    def _score(self, X: Any, Y: Any) -> Scored:
        return Scored(-X.var(axis=0))


class CannotBePickled(Good):
    def fit(self, X: Any, Y: Any) -> Any:
        self.function_ = lambda: None
        return super().fit(X, Y)


BROKEN = [
    (PeeksAtTest, "training features and labels and nothing else"),
    (ForgetsItsParameter, "get_params, set_params and clone"),
    (ReturnsNothing, "returns the ranker itself"),
    (ChangesItsParameter, "leaves its parameters"),
    (RanksWorstFirst, "best score first"),
    (RanksTwice, "permutation of the features"),
    (GivesNaN, "permutation of the features"),
    (Unseeded, "the same bytes"),
    (DrawsGlobally, "global random state"),
    (ChangesX, "input is left as it was"),
    (LovesFortran, "memory layout"),
    (TakesCodesAsTheyAre, "-1/\\+1 mean the same"),
    (TakesAnyCode, "any other coding"),
    (TakesNaN, "NaN, infinity"),
    (NeedsPositives, "a label without positives"),
    (PrefersTheFirst, "permuting the features"),
    (GuardsNothing, "constant columns last"),
    (CannotBePickled, "pickling"),
]


def test_the_good_one_is_good() -> None:
    check_ranker(Good)


@pytest.mark.parametrize(("ranker", "law"), BROKEN)
def test_a_broken_law_is_named(ranker: type, law: str) -> None:
    with pytest.raises(AssertionError, match=f'ranker {ranker.__name__} breaks the law ".*{law}'):
        check_ranker(ranker)


def test_every_law_has_a_ranker_that_breaks_it() -> None:
    broken = {name for _, name in BROKEN}
    for law in RANKER_CONTRACT.laws:
        assert any(name.replace("\\", "") in law.sentence for name in broken), law.sentence
