"""check_ranker: run a feature ranker through its contract, the laws every feature ranker keeps."""

from __future__ import annotations

import inspect
import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from paragone.testing.contract import Contract, require
from paragone.validation import FloatArray, LabelArray, check_ranking

RANKER_CONTRACT: Contract[Any] = Contract("ranker")


@dataclass(frozen=True)
class Example:
    """A small multi-label problem with features in [0, 1] and labels 0/1."""

    X: FloatArray
    Y: LabelArray


def example(n_samples: int = 30, n_features: int = 8, n_labels: int = 3) -> Example:
    """Draw a problem whose labels depend on the first features; every label has both classes.

    Examples
    --------
    >>> example().X.shape, example().Y.mean(axis=0).round(1)
    ((30, 8), array([0.5, 0.5, 0.5]))
    """
    generator = np.random.default_rng(7)
    X = generator.random((n_samples, n_features))
    signal = X @ generator.random((n_features, n_labels)) ** 4
    return Example(X, (signal > np.median(signal, axis=0)).astype(np.uint8))


def _fitted(ranker: Any, X: Any, Y: Any) -> Any:
    return clone(ranker).fit(X, Y)


def _same_bytes(one: Any, other: Any) -> bool:
    return bool(
        one.scores_.tobytes() == other.scores_.tobytes() and (one.ranking_ == other.ranking_).all()
    )


@RANKER_CONTRACT.law("fit takes the training features and labels and nothing else")
def _train_only(ranker: Any) -> None:
    parameters = list(inspect.signature(ranker.fit).parameters.values())
    needed = [p.name for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
    require(len(needed) == 2, f"fit asks for {needed}")


@RANKER_CONTRACT.law("get_params, set_params and clone work as in scikit-learn")
def _parameters(ranker: Any) -> None:
    parameters = ranker.get_params(deep=False)
    copy = clone(ranker)
    require(copy is not ranker, "clone gave the same object")
    for name, value in parameters.items():
        again = copy.get_params(deep=False)[name]
        require(_equal(again, value), f"clone changed {name} from {value!r} to {again!r}")
    require(copy.set_params(**parameters) is copy, "set_params does not return the ranker itself")
    require(not hasattr(copy, "ranking_"), "a ranker has a ranking before it is fitted")


def _equal(one: Any, other: Any) -> bool:
    return np.array_equal(one, other) if isinstance(other, np.ndarray) else bool(one == other)


@RANKER_CONTRACT.law("fit returns the ranker itself and leaves its parameters as they were")
def _fit_returns_self(ranker: Any) -> None:
    copy, problem = clone(ranker), example()
    before = copy.get_params(deep=False)
    require(copy.fit(problem.X, problem.Y) is copy, "fit returned something else")
    for name, value in copy.get_params(deep=False).items():
        require(
            value is before[name] or _equal(value, before[name]),
            f"fit changed the parameter {name}",
        )


@RANKER_CONTRACT.law("the ranking is a permutation of the features, best score first")
def _permutation(ranker: Any) -> None:
    for shape in ((30, 8), (8, 30)):
        problem = example(*shape)
        fitted = _fitted(ranker, problem.X, problem.Y)
        scores = np.asarray(fitted.scores_)
        require(
            scores.shape == (shape[1],),
            f"scores_ has the shape {scores.shape} for {shape[1]} features",
        )
        require(np.isfinite(scores).all(), "scores_ holds NaN or infinity")
        ranking = check_ranking(fitted.ranking_, shape[1])
        expected = np.argsort(-scores, kind="stable")
        require((ranking == expected).all(), "ranking_ is not the stable order of falling scores")
        require(fitted.n_features_in_ == shape[1], "n_features_in_ is wrong")


@RANKER_CONTRACT.law("the same data and parameters give the same bytes")
def _deterministic(ranker: Any) -> None:
    problem = example()
    first = _fitted(ranker, problem.X, problem.Y)
    second = _fitted(ranker, problem.X, problem.Y)
    require(_same_bytes(first, second), "two fits differ")
    require(
        _same_bytes(first, first.fit(problem.X, problem.Y)),
        "fitting again differs from fitting once",
    )


@RANKER_CONTRACT.law("the global random state is neither read nor moved")
def _no_global_state(ranker: Any) -> None:
    problem = example()
    kept = np.random.get_state()  # noqa: NPY002 - this law is about the global state
    try:
        np.random.seed(1)  # noqa: NPY002
        first = _fitted(ranker, problem.X, problem.Y)
        after = np.random.random()  # noqa: NPY002
        np.random.seed(1)  # noqa: NPY002
        require(np.random.random() == after, "fit draws from numpy's global state")  # noqa: NPY002
        require(
            _same_bytes(first, _fitted(ranker, problem.X, problem.Y)),
            "the global seed changes the scores",
        )
    finally:
        np.random.set_state(kept)  # noqa: NPY002


@RANKER_CONTRACT.law("the input is left as it was")
def _input_untouched(ranker: Any) -> None:
    problem = example()
    X, Y = problem.X.copy(), problem.Y.astype(np.float64)
    X.flags.writeable = Y.flags.writeable = False
    clone(ranker).fit(X, Y)
    require((problem.X == X).all(), "fit changed X")
    require((problem.Y == Y).all(), "fit changed Y")


@RANKER_CONTRACT.law("the memory layout of the input does not matter")
def _layout(ranker: Any) -> None:
    problem = example()
    first = _fitted(ranker, problem.X, problem.Y)
    second = _fitted(ranker, np.asfortranarray(problem.X), problem.Y.astype(np.int64).tolist())
    require(_same_bytes(first, second), "Fortran order or lists give other scores")


@RANKER_CONTRACT.law("labels coded -1/+1 mean the same as 0/1")
def _coding(ranker: Any) -> None:
    problem = example()
    signed = problem.Y.astype(np.int64) * 2 - 1
    require(
        _same_bytes(_fitted(ranker, problem.X, problem.Y), _fitted(ranker, problem.X, signed)),
        "the two codings give different scores",
    )


@RANKER_CONTRACT.law("labels in any other coding are refused with a ValueError")
def _other_codings(ranker: Any) -> None:
    problem = example()
    for strange in (problem.Y + 1, problem.Y * 0.5, problem.Y - np.eye(*problem.Y.shape)):
        _refused(ranker, problem.X, strange, "a label matrix with other values than 0/1 or -1/+1")


@RANKER_CONTRACT.law(
    "NaN, infinity, emptiness and unequal row counts are refused with a ValueError"
)
def _bad_input(ranker: Any) -> None:
    problem = example()
    for value in (np.nan, np.inf):
        broken = problem.X.copy()
        broken[3, 2] = value
        _refused(ranker, broken, problem.Y, f"{value} in X")
    _refused(ranker, problem.X[:-1], problem.Y, "fewer feature rows than label rows")
    _refused(ranker, problem.X[:0], problem.Y[:0], "an empty matrix")


def _refused(ranker: Any, X: Any, Y: Any, what: str) -> None:
    try:
        clone(ranker).fit(X, Y)
    except ValueError as error:
        said = str(error).strip()
    else:
        raise AssertionError(f"{what} is not refused")
    require(said, f"{what} is refused without a word")


@RANKER_CONTRACT.law(
    "one label, a label without positives, a label without negatives and a single feature are"
    " ranked"
)
def _thin_labels(ranker: Any) -> None:
    problem = example()
    bare, full = problem.Y.copy(), problem.Y.copy()
    bare[:, 1], full[:, 1] = 0, 1
    thin = {
        "one label": (problem.X, problem.Y[:, :1]),
        "a label vector": (problem.X, problem.Y[:, 0]),
        "a label without positives": (problem.X, bare),
        "a label without negatives": (problem.X, full),
        "one feature": (problem.X[:, :1], problem.Y),
    }
    for what, (X, Y) in thin.items():
        fitted = _fitted(ranker, X, Y)
        require(np.isfinite(fitted.scores_).all(), f"{what} gives scores that are not finite")
        check_ranking(fitted.ranking_, X.shape[1])


@RANKER_CONTRACT.law(
    "permuting the features permutes the scores", applies=lambda r: _flag(r, "deterministic")
)
def _feature_order(ranker: Any) -> None:
    problem = example()
    order = np.random.default_rng(3).permutation(problem.X.shape[1])
    plain, permuted = (_fitted(ranker, X, problem.Y) for X in (problem.X, problem.X[:, order]))
    difference = np.abs(permuted.scores_ - plain.scores_[order]).max()
    require(difference <= 1e-8 * np.abs(plain.scores_).max(), f"scores move by {difference:.2g}")


def _flag(ranker: Any, name: str) -> bool:
    return bool(getattr(ranker, name, False))


@RANKER_CONTRACT.law(
    "a guarded ranker puts constant columns last",
    applies=lambda r: r.get_params().get("guard") is True,
)
def _constants_last(ranker: Any) -> None:
    problem = example()
    X = problem.X.copy()
    X[:, [0, 5]] = 0.0, 0.7
    fitted = _fitted(ranker, X, problem.Y)
    require(
        fitted.ranking_[-2:].tolist() == [0, 5],
        f"columns 0 and 5 are constant, {fitted.ranking_} came out",
    )
    flat = _fitted(ranker, np.zeros_like(X), problem.Y)
    require(
        flat.ranking_.tolist() == list(range(X.shape[1])), "constant columns alone keep their order"
    )


@RANKER_CONTRACT.law("a fitted ranker survives pickling")
def _pickles(ranker: Any) -> None:
    problem = example()
    fitted = _fitted(ranker, problem.X, problem.Y)
    again = pickle.loads(pickle.dumps(fitted))  # noqa: S301 - our own bytes
    require(_same_bytes(fitted, again), "the unpickled ranker has other scores")


def check_ranker(ranker: Any) -> list[str]:
    """Check that a ranker keeps every law of the contract.

    The laws: it sees training data only, gives the same bytes for the same data and parameters,
    leaves its input and the global random state alone, orders all features by falling score, takes
    labels coded 0/1 and -1/+1 and refuses others, refuses NaN, copes with thin labels, can be
    cloned and pickled. A class that sets ``deterministic = True`` must follow a permutation of the
    features; one with a parameter ``guard=True`` must put constant columns last.

    Parameters
    ----------
    ranker : Ranker or type
        A ranker, or a class that can be made without arguments. It is cloned, never fitted itself.

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
    >>> from paragone.methods.rankers import Variance
    >>> len(check_ranker(Variance)) > 10
    True
    """
    subject = ranker() if isinstance(ranker, type) else ranker
    return RANKER_CONTRACT.check(subject, name=type(subject).__name__)
