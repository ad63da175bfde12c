"""Every score a second way: from the definitions, sample by sample, in plain steps.

Nothing here goes through `paragone.metrics` or a protocol: packed arrays are read and metrics are
counted anew, so that a mistake there does not repeat itself. Tests compare the two.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.data.prescriptions import Prescriptions
from paragone.metrics import named_metric
from paragone.protocols.crossval.ledger import Chain, Predictions
from paragone.protocols.crossval.problem import Problem, Settings
from paragone.protocols.crossval.run import CrossvalRun
from paragone.protocols.crossval.scores import ChainScores, Criterion, Scoring
from paragone.protocols.crossval.variants import simplicity
from paragone.ties import least_loss, loss_order, slack_of
from paragone.validation import FloatArray


class StoredCurve:
    """Predictions of a cell at every number of features, out of their bytes."""

    def __init__(self, payload: bytes) -> None:
        with np.load(io.BytesIO(payload), allow_pickle=False) as archive:
            self._arrays = {name: archive[name] for name in archive.files}
        self.ks: list[int] = self._arrays["ks"].tolist()

    def labels(self, point: int) -> NDArray[np.bool_]:
        """Return the predicted labels: those whose probability is at least one half, or as predicted."""
        if "tables" in self._arrays:
            return self._looked_up(self._arrays["tables"][point] >= 0.5, point)
        return np.asarray(self._arrays["labels"][point] == 1)

    def order_codes(self, point: int) -> NDArray[Any] | None:
        """Return whole numbers in the order of the scores, 0 the highest; None where there are no scores."""
        if "tables" in self._arrays:
            table = self._arrays["tables"][point]
            levels = np.unique(table)
            places = len(levels) - 1 - np.searchsorted(levels, table)
            # Half the bytes sort quicker, and four are enough for the places of any table that fits
            # into memory.
            return self._looked_up(places.astype(np.int32), point)
        if "scores" not in self._arrays:
            return None
        scores = self._arrays["scores"][point]
        levels, codes = np.unique(scores, return_inverse=True)
        return np.asarray(len(levels) - 1 - codes.reshape(scores.shape))

    def _looked_up(self, table: NDArray[Any], point: int) -> NDArray[Any]:
        """Look a value up for every row and label by its count of neighbours; tables are labels x counts."""
        counts = self._arrays["counts"][point]
        return np.asarray(table[np.arange(len(table))[None, :], counts])


def features_at(score_grid: str, at: float, n_features: int, shares: Sequence[float] = ()) -> int:
    """Return the number of features at a point of a grid.

    Parameters
    ----------
    score_grid : {"k", "p"}
        Which grid.
    at : float
        The point: k itself, or the share p.
    n_features : int
        All there are.
    shares : sequence of float
        The shares as they were declared, unrounded: ``round(p d)`` goes by the float nearest to
        ``at``, halves to even.

    Returns
    -------
    int
        At least 1 and at most all.

    Examples
    --------
    >>> features_at("k", 10.0, 50), features_at("p", 0.25, 50), features_at("p", 0.001, 50)
    (10, 12, 1)
    >>> features_at("p", 0.15, 550), features_at("p", 0.15, 550, np.arange(0.05, 0.5, 0.05))
    (82, 83)
    """
    if score_grid == "k":
        return int(at)
    share = min(shares, key=lambda p: abs(p - at), default=at) if len(shares) else at
    return min(n_features, max(1, round(float(share) * n_features)))


def declared_shares(protocol: dict[str, Any]) -> list[float]:
    """Return the floats of a declared p-grid, as counting up with its step gives them; none without such a grid."""
    grid = protocol.get("p")
    return (
        [] if grid is None else np.arange(grid["min"], grid["max"] + 1e-12, grid["step"]).tolist()
    )


def curve_scores(
    curve: StoredCurve, truth: NDArray[Any], metrics: Sequence[str], zero_division: Any
) -> dict[tuple[int, str], float]:
    """Return every metric at every number of features."""
    Y = np.asarray(truth) == 1
    found = {}
    for point, k in enumerate(curve.ks):
        predicted = curve.labels(point)
        codes = curve.order_codes(point) if any(name in OF_ORDER for name in metrics) else None
        for name in metrics:
            if name == "macro_f1":
                found[k, name] = macro_f1(Y, predicted, zero_division)
            elif name in OF_LABELS:
                found[k, name] = OF_LABELS[name](Y, predicted)
            else:
                found[k, name] = np.nan if codes is None else OF_ORDER[name](Y, codes)
    return found


def micro_f1(Y: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> float:
    """Twice the hits over the hits, the false alarms and the hits and misses together."""
    hits, alarms, misses = (
        int((Y & predicted).sum()),
        int((~Y & predicted).sum()),
        int((Y & ~predicted).sum()),
    )
    return 2 * hits / (2 * hits + alarms + misses) if hits + alarms + misses else 0.0


def macro_f1(Y: NDArray[np.bool_], predicted: NDArray[np.bool_], zero_division: Any = 0) -> float:
    """Mean of the labels' F1; what a label counts that is neither there nor predicted is declared."""
    values = []
    for hits, alarms, misses in zip(
        (Y & predicted).sum(axis=0).tolist(),
        (~Y & predicted).sum(axis=0).tolist(),
        (Y & ~predicted).sum(axis=0).tolist(),
        strict=True,
    ):
        if hits + alarms + misses:
            values.append(2 * hits / (2 * hits + alarms + misses))
        elif zero_division != "skip":
            values.append(float(zero_division))
    return sum(values) / len(values) if values else 0.0


def _hamming_loss(Y: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> float:
    return float(np.logical_xor(Y, predicted).sum()) / Y.size


def _subset_accuracy(Y: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> float:
    right = np.asarray(~np.logical_xor(Y, predicted).any(axis=1))
    return float(right.sum()) / len(Y)


def _precisions(sorted_truth: NDArray[np.bool_]) -> FloatArray:
    """Return, row by row, the mean precision at the places of the relevant entries; NaN without any."""
    hits = sorted_truth.cumsum(axis=1)
    places = np.arange(1, sorted_truth.shape[1] + 1)
    sums = np.where(sorted_truth, hits / places, 0.0).sum(axis=1)
    return np.asarray(
        np.divide(sums, hits[:, -1], out=np.full(len(hits), np.nan), where=hits[:, -1] > 0)
    )


def _micro_pr_auc(Y: NDArray[np.bool_], codes: NDArray[Any]) -> float:
    order = np.argsort(codes.T.ravel(), kind="stable")
    value = float(_precisions(Y.T.ravel()[order][None, :])[0])
    return 0.0 if np.isnan(value) else value


def _macro_pr_auc(Y: NDArray[np.bool_], codes: NDArray[Any]) -> float:
    mixed = Y.any(axis=0) & ~Y.all(axis=0)
    if not mixed.any():
        return 0.0
    order = np.argsort(np.ascontiguousarray(codes[:, mixed].T), axis=1, kind="stable")
    return float(
        _precisions(np.take_along_axis(np.ascontiguousarray(Y[:, mixed].T), order, axis=1)).mean()
    )


def _avg_precision(Y: NDArray[np.bool_], codes: NDArray[Any]) -> float:
    order = np.argsort(codes, axis=1, kind="stable")
    return float(np.nan_to_num(_precisions(np.take_along_axis(Y, order, axis=1))).mean())


def _one_error(Y: NDArray[np.bool_], codes: NDArray[Any]) -> float:
    return 1.0 - float(Y[np.arange(len(Y)), codes.argmin(axis=1)].sum()) / len(Y)


def _ranking_loss(Y: NDArray[np.bool_], codes: NDArray[Any]) -> float:
    total = 0.0
    for relevant, row in zip(Y, codes.astype(np.int64), strict=True):
        inside, outside = row[relevant], row[~relevant]
        if len(inside) and len(outside):
            total += float((outside[None, :] <= inside[:, None]).mean())
    return total / len(Y)


def _coverage(Y: NDArray[np.bool_], codes: NDArray[Any]) -> float:
    last = np.where(Y, codes.astype(np.int64), -1).max(axis=1, keepdims=True)
    return float((codes <= last).sum(axis=1).mean())


OF_LABELS: dict[str, Callable[[NDArray[np.bool_], NDArray[np.bool_]], float]] = {
    "micro_f1": micro_f1,
    "macro_f1": macro_f1,
    "hamming_loss": _hamming_loss,
    "subset_accuracy": _subset_accuracy,
}
OF_ORDER: dict[str, Callable[[NDArray[np.bool_], NDArray[Any]], float]] = {
    "micro_pr_auc": _micro_pr_auc,
    "macro_pr_auc": _macro_pr_auc,
    "avg_precision": _avg_precision,
    "one_error": _one_error,
    "ranking_loss": _ranking_loss,
    "coverage": _coverage,
}


EPSILON = float(np.finfo(np.float64).eps)


def prediction_score(
    metric: str,
    task: str,
    y_true: NDArray[Any],
    y_pred: NDArray[Any],
    *,
    probabilities: FloatArray | None = None,
    classes: NDArray[Any] | None = None,
    ddof: int = 0,
) -> float:
    """Return one metric of one prediction; NaN where it does not exist.

    Examples
    --------
    >>> prediction_score("rmse", "regression", np.array([1.0, 2.0]), np.array([1.0, 4.0]))
    1.4142135623730951
    """
    if not len(y_true):
        return float("nan")
    if task == "regression":
        return float(REGRESSION[metric](np.asarray(y_true, float), np.asarray(y_pred, float), ddof))
    if metric in ("roc_auc", "log_loss"):
        if probabilities is None or classes is None:
            return float("nan")
        return (
            _roc_auc(y_true, probabilities, classes)
            if metric == "roc_auc"
            else _log_loss(y_true, probabilities, classes)
        )
    return float(CLASSIFICATION[metric](np.asarray(y_true), np.asarray(y_pred)))


def _constant(values: FloatArray) -> bool:
    return bool(values.max() == values.min())


def _std(values: FloatArray, ddof: int) -> float:
    if len(values) <= ddof:
        return float("nan")
    return 0.0 if _constant(values) else float(np.std(values, ddof=ddof))


def _rmse(y: FloatArray, p: FloatArray, ddof: int) -> float:
    return float(np.sqrt(np.mean((p - y) ** 2)))


def _over(above: float, below: float) -> float:
    if below == 0:
        return float("nan") if above == 0 or np.isnan(above) else float("inf")
    return above / below


def _r2(y: FloatArray, p: FloatArray, ddof: int) -> float:
    from sklearn.metrics import r2_score

    return float("nan") if _constant(y) else float(r2_score(y, p))


def _explained_variance(y: FloatArray, p: FloatArray, ddof: int) -> float:
    from sklearn.metrics import explained_variance_score

    return float("nan") if _constant(y) else float(explained_variance_score(y, p))


def _correlation(y: FloatArray, p: FloatArray, kind: str) -> float:
    from scipy import stats

    if _constant(y) or _constant(p):
        return float("nan")
    found = stats.pearsonr(y, p) if kind == "pearson" else stats.spearmanr(y, p)
    return float(found.statistic)


def _rpiq(y: FloatArray, p: FloatArray, ddof: int) -> float:
    quarters = np.quantile(y, [0.25, 0.75])
    return _over(float(quarters[1] - quarters[0]), _rmse(y, p, ddof))


REGRESSION: dict[str, Callable[[FloatArray, FloatArray, int], float]] = {
    "rmse": _rmse,
    "mse": lambda y, p, ddof: float(np.mean((p - y) ** 2)),
    "mae": lambda y, p, ddof: float(np.mean(np.abs(p - y))),
    "mape": lambda y, p, ddof: float(np.mean(np.abs(p - y) / np.maximum(np.abs(y), EPSILON))),
    "r2": _r2,
    "explained_variance": _explained_variance,
    "max_error": lambda y, p, ddof: float(np.max(np.abs(p - y))),
    "median_ae": lambda y, p, ddof: float(np.median(np.abs(p - y))),
    "bias": lambda y, p, ddof: float(np.mean(p - y)),
    "sep": lambda y, p, ddof: _std(p - y, ddof),
    "rpd": lambda y, p, ddof: _over(_std(y, ddof), _std(p - y, ddof)),
    "rpiq": _rpiq,
    "consistency": lambda y, p, ddof: (
        0.0 if _std(y, ddof) == 0 else 1.0 - _rmse(y, p, ddof) / _std(y, ddof)
    ),
    "nrmse": lambda y, p, ddof: (
        float("nan") if _constant(y) else _rmse(y, p, ddof) / float(np.ptp(y))
    ),
    "nmse": lambda y, p, ddof: (
        float("nan") if _constant(y) else float(np.mean((p - y) ** 2) / np.var(y))
    ),
    "nmae": lambda y, p, ddof: (
        float("nan") if _constant(y) else float(np.mean(np.abs(p - y)) / np.ptp(y))
    ),
    "pearson_r": lambda y, p, ddof: _correlation(y, p, "pearson"),
    "spearman_r": lambda y, p, ddof: _correlation(y, p, "spearman"),
}


def _labels(y: NDArray[Any], p: NDArray[Any]) -> NDArray[Any]:
    return np.unique(np.concatenate([y, p]))


def _averaged(name: str, average: str) -> Callable[[NDArray[Any], NDArray[Any]], float]:
    def score(y: NDArray[Any], p: NDArray[Any]) -> float:
        from sklearn import metrics

        return float(
            getattr(metrics, name)(y, p, average=average, zero_division=0.0, labels=_labels(y, p))
        )

    return score


def _accuracy(y: NDArray[Any], p: NDArray[Any]) -> float:
    return float(np.mean(y == p))


def _balanced(y: NDArray[Any], p: NDArray[Any]) -> float:
    return float(np.mean([np.mean(p[y == one] == one) for one in np.unique(y)]))


def _kappa(y: NDArray[Any], p: NDArray[Any]) -> float:
    labels = _labels(y, p)
    expected = float(sum(np.mean(y == one) * np.mean(p == one) for one in labels))
    return float("nan") if len(labels) == 1 else (_accuracy(y, p) - expected) / (1.0 - expected)


def _matthews(y: NDArray[Any], p: NDArray[Any]) -> float:
    from sklearn.metrics import matthews_corrcoef

    return float(matthews_corrcoef(y, p))


def _specificity(y: NDArray[Any], p: NDArray[Any]) -> float:
    labels = _labels(y, p)
    values = [
        float(np.mean(p[y != one] != one)) if (y != one).any() else float("nan") for one in labels
    ]
    there = [value for value in values if not np.isnan(value)]
    if not there:
        return float("nan")
    return values[-1] if len(labels) == 2 and len(there) == 2 else float(np.mean(there))


CLASSIFICATION: dict[str, Callable[[NDArray[Any], NDArray[Any]], float]] = {
    "balanced_accuracy": _balanced,
    "accuracy": _accuracy,
    "error_rate": lambda y, p: float(np.mean(y != p)),
    "f1": _averaged("f1_score", "weighted"),
    "precision": _averaged("precision_score", "weighted"),
    "recall": _averaged("recall_score", "weighted"),
    "jaccard": _averaged("jaccard_score", "weighted"),
    "precision_micro": _averaged("precision_score", "micro"),
    "precision_macro": _averaged("precision_score", "macro"),
    "recall_macro": _averaged("recall_score", "macro"),
    "f1_macro": _averaged("f1_score", "macro"),
    "cohen_kappa": _kappa,
    "matthews_corrcoef": _matthews,
    "specificity": _specificity,
}


def _roc_auc(y: NDArray[Any], probabilities: FloatArray, classes: NDArray[Any]) -> float:
    from sklearn.metrics import roc_auc_score

    columns = [1] if len(classes) == 2 else range(len(classes))
    areas = [
        roc_auc_score(y == classes[c], probabilities[:, c])
        for c in columns
        if (y == classes[c]).any() and (y != classes[c]).any()
    ]
    return float(np.mean(areas)) if areas else float("nan")


def _log_loss(y: NDArray[Any], probabilities: FloatArray, classes: NDArray[Any]) -> float:
    kept = np.clip(probabilities, EPSILON, 1 - EPSILON)
    own = [
        row[classes.tolist().index(label)] / row.sum()
        for row, label in zip(kept, y.tolist(), strict=True)
    ]
    return float(-np.mean(np.log(own)))


CLOSE_RELATIVE, CLOSE_ABSOLUTE, SHIFT = 1e-5, 1e-8, 1e-8


@dataclass(frozen=True, eq=False)
class ChainFigures:
    """Every score of a chain, recomputed; NaN where one does not exist."""

    cv_score: float
    mean_fold_cv: float
    ens_test: float
    w_ens_test: float
    ens_train: float
    w_ens_train: float
    test_score: float
    train_score: float
    fold_train: tuple[float, ...]
    fold_val: tuple[float, ...]
    fold_test: tuple[float, ...]
    weights: tuple[float, ...]


class Recomputation:
    """Scores of chains under one metric.

    Parameters
    ----------
    task, metric : str
        What is predicted and how it is scored.
    settings : Settings
        Weighting and ddof.
    """

    def __init__(self, task: str, metric: str, settings: Settings) -> None:
        self.task = task
        self.metric = metric
        self._ddof = settings.ddof
        self._weighting = settings.weighting

    def score(self, part: Predictions, classes: Any) -> float:
        """Score some predictions."""
        return prediction_score(
            self.metric,
            self.task,
            part.y_true,
            part.y_pred,
            probabilities=part.probabilities,
            classes=classes,
            ddof=self._ddof,
        )

    def figures(self, chain: Chain) -> ChainFigures:
        """Recompute every score of a chain."""
        classes = chain.classes
        val = [self.score(fold.val, classes) for fold in chain.folds]
        known = [value for value in val if not np.isnan(value)]
        weights = self._weights(val)
        equal = [1.0 / len(val)] * len(val)
        plain = {
            role: self._ensemble(chain, role, equal, confident=False) for role in ("test", "train")
        }
        confident = self._weighting == "compat"
        weighted = {
            role: self._ensemble(chain, role, weights, confident=confident)
            for role in ("test", "train")
        }
        final = chain.final
        return ChainFigures(
            cv_score=self.score(_together([fold.val for fold in chain.folds]), classes),
            mean_fold_cv=sum(known) / len(known) if known else float("nan"),
            ens_test=self.score(plain["test"], classes),
            w_ens_test=self.score(weighted["test"], classes),
            ens_train=self.score(plain["train"], classes),
            w_ens_train=self.score(weighted["train"], classes),
            test_score=float("nan") if final is None else self.score(final.test, classes),
            train_score=float("nan") if final is None else self.score(final.train, classes),
            fold_train=tuple(self.score(fold.train, classes) for fold in chain.folds),
            fold_val=tuple(val),
            fold_test=tuple(self.score(fold.test, classes) for fold in chain.folds),
            weights=tuple(weights),
        )

    def _weights(self, scores: Sequence[float]) -> list[float]:
        """Weigh the folds by their validation scores, as the specification of the ensemble has it."""
        higher = named_metric(self.metric).higher_is_better
        values = [abs(score) if higher is None else score for score in scores]
        there = [value for value in values if not np.isnan(value)]
        if not there:
            return [1.0 / len(values)] * len(values)
        raw = dict(zip(there, self._raw_weights(there, bool(higher)), strict=True))
        total = sum(raw[value] for value in there)
        return [0.0 if np.isnan(value) else raw[value] / total for value in values]

    def _raw_weights(self, there: list[float], higher: bool) -> list[float]:
        first = there[0]
        alike = all(
            abs(value - first) <= CLOSE_ABSOLUTE + CLOSE_RELATIVE * abs(first) for value in there
        )
        if self._weighting == "equal" or alike:
            return [1.0] * len(there)
        if self._weighting == "softmax":
            mean, deviation = float(np.mean(there)), float(np.std(there))
            units = [(value - mean) / deviation * (1.0 if higher else -1.0) for value in there]
            return [float(np.exp(unit - max(units))) for unit in units]
        least = min(there)
        if higher:
            lifted = [value - least if least < 0 else value for value in there]
            return lifted if any(lifted) else [1.0] * len(there)
        return [1.0 / (value - least + SHIFT if least <= 0 else value) for value in there]

    def _ensemble(
        self, chain: Chain, role: str, weights: Sequence[float], *, confident: bool
    ) -> Predictions:
        """Combine the fold models sample by sample; a train sample is predicted by every model that has it."""
        votes: dict[int, list[tuple[float, Any, Any, Any]]] = {}
        for fold, weight in zip(chain.folds, weights, strict=True):
            for part in (fold.test,) if role == "test" else (fold.train, fold.val):
                shares: Any = (
                    part.probabilities if part.probabilities is not None else [None] * len(part)
                )
                for sample, true, predicted, share in zip(
                    part.samples, part.y_true, part.y_pred, shares, strict=True
                ):
                    votes.setdefault(int(sample), []).append((weight, true, predicted, share))
        samples = sorted(votes)
        if not samples:
            return _together([])
        combined = [self._combined(votes[sample], chain, confident) for sample in samples]
        truth = np.array([votes[sample][0][1] for sample in samples])
        shares_known = [share for _, share in combined if share is not None]
        probabilities = np.stack(shares_known) if shares_known else None
        return Predictions(
            np.array(samples), truth, np.array([value for value, _ in combined]), probabilities
        )

    def _combined(
        self, votes: Sequence[tuple[float, Any, Any, Any]], chain: Chain, confident: bool
    ) -> tuple[Any, FloatArray | None]:
        weights = np.array([vote[0] for vote in votes])
        weights = (
            weights / weights.sum() if weights.sum() > 0 else np.full(len(votes), 1.0 / len(votes))
        )
        if chain.task == "regression":
            return float(sum(w * vote[2] for w, vote in zip(weights, votes, strict=True))), None
        if chain.classes is not None and all(vote[3] is not None for vote in votes):
            shares = np.stack([vote[3] for vote in votes])
            if confident:
                weights = weights * shares.max(axis=1)
                weights = (
                    weights / weights.sum()
                    if weights.sum() > 0
                    else np.full(len(votes), 1.0 / len(votes))
                )
            mean = np.asarray(weights @ shares)
            return chain.classes[least_loss(-mean, size=1.0)], mean
        totals: dict[Any, float] = {}
        for weight, vote in zip(weights, votes, strict=True):
            totals[vote[2]] = totals.get(vote[2], 0.0) + weight
        labels = sorted(totals)
        return labels[least_loss([-totals[label] for label in labels], size=1.0)], None


def _together(parts: Sequence[Predictions]) -> Predictions:
    kept = [part for part in parts if len(part)]
    if not kept:
        return Predictions(np.empty(0, dtype=np.int64), np.empty(0), np.empty(0))
    shares = [part.probabilities for part in kept]
    known = [share for share in shares if share is not None]
    return Predictions(
        np.concatenate([part.samples for part in kept]),
        np.concatenate([part.y_true for part in kept]),
        np.concatenate([part.y_pred for part in kept]),
        np.concatenate(known) if len(known) == len(kept) else None,
    )


PATTERN = re.compile(r"^(?P<name>\w+)(?:\[\w+=(?P<choice>\w+)\])?$")
NAMES = ("precision", "recall", "f1", "rmrr", "ndcg", "hit_rate", "mrr", "map")
IN_LIST_ORDER = ("id", "reverse_id")
"""Rules for ties under which a list counts as it was kept."""


def sample_values(
    items: NDArray[np.int32], test: Prescriptions, ks: Sequence[int], metrics: Sequence[str]
) -> dict[str, FloatArray]:
    """Return the value of every sample, samples x cut-offs a metric; NaN for a sample without relevant items.

    Parameters
    ----------
    items : ndarray of shape (n_samples, n_places)
        Lists, the best first, -1 after their end.
    test : Prescriptions
        The relevant items in their order.
    ks : sequence of int
        Cut-offs.
    metrics : sequence of str
        Full names, such as ``ndcg[idcg=min]``.

    Returns
    -------
    dict of str to ndarray
        By metric.
    """
    values = {metric: np.full((len(items), len(ks)), np.nan) for metric in metrics}
    # Lists count up to the largest cut-off: that is where the hits of idcg=hits are counted too.
    for row, (listed, truth) in enumerate(_rows(items[:, : max(ks)], test)):
        if not truth:
            continue
        place_of = {item: place for place, item in enumerate(truth)}
        places = [(rank, place_of[item]) for rank, item in enumerate(listed) if item in place_of]
        for metric in metrics:
            for column, k in enumerate(ks):
                hits = [(rank, place) for rank, place in places if rank < k]
                values[metric][row, column] = _value(
                    metric, k, len(truth), len(listed), hits, places
                )
    return values


def _rows(items: NDArray[np.int32], test: Prescriptions) -> Iterator[tuple[list[int], list[int]]]:
    for row, listed in enumerate(items.tolist()):
        truth = test.items[test.indptr[row] : test.indptr[row + 1]].tolist()
        yield [item for item in listed if item >= 0], list(dict.fromkeys(truth))


def _gain(ranks: Sequence[int]) -> float:
    return float(sum(1.0 / np.log2(rank + 2.0) for rank in ranks))


def _value(
    metric: str,
    k: int,
    n: int,
    length: int,
    hits: list[tuple[int, int]],
    everywhere: list[tuple[int, int]],
) -> float:
    found = PATTERN.match(metric)
    name, choice = (found["name"], found["choice"]) if found else (metric, None)
    count = len(hits)
    if name == "precision":
        return count / k if choice != "list" else (count / min(k, length) if length else 0.0)
    if name == "recall":
        return count / (min(k, n) if choice == "min" else n)
    if name == "f1":
        precision, recall = count / k, count / n
        return 0.0 if count == 0 else 2 * precision * recall / (precision + recall)
    if name == "rmrr":
        return sum(1.0 / (1 + abs(rank - place)) for rank, place in hits) / n
    if name == "hit_rate":
        return float(count > 0)
    if name == "mrr":
        return 1.0 / (1 + hits[0][0]) if hits else 0.0
    if name == "ndcg":
        ideal = {"min": min(k, n), "k": k, "hits": min(k, len(everywhere))}[choice or "min"]
        return _gain([rank for rank, _ in hits]) / _gain(range(ideal)) if ideal else 0.0
    precisions = sum((place + 1) / (rank + 1) for place, (rank, _) in enumerate(hits))
    return precisions / {"n": n, "min": min(k, n), "k": k}[choice or "n"]


def is_known(metric: str) -> bool:
    """Say whether a metric is one of those that can be recomputed here.

    Examples
    --------
    >>> is_known("ndcg[idcg=min]"), is_known("my_metric")
    (True, False)
    """
    found = PATTERN.match(metric)
    return bool(found and found["name"] in NAMES)


def selected(problems: Sequence[Problem], run: CrossvalRun) -> list[str]:
    """Select variants by the declared criteria, from figures recomputed here; ties to the earlier declared."""
    taken: list[str] = []
    for criterion in run.settings.select:
        figures = _figures(problems, run, criterion.metric)
        order = [
            variant for variant in _order(criterion, figures, problems, run) if variant not in taken
        ]
        taken += order[: criterion.top_k]
    return taken


def _figures(
    problems: Sequence[Problem], run: CrossvalRun, metric: str | None
) -> dict[str, list[ChainFigures]]:
    scoring = run.settings.scoring(problems[0].truth.task, metric)
    again = Recomputation(problems[0].truth.task, scoring.metric, run.settings)
    return {
        v: [again.figures(problem.chains[v]) for problem in problems] for v in problems[0].chains
    }


def _order(
    criterion: Criterion,
    figures: dict[str, list[ChainFigures]],
    problems: Sequence[Problem],
    run: CrossvalRun,
) -> list[str]:
    scoring = run.settings.scoring(problems[0].truth.task, criterion.metric)
    key = "cv_score" if criterion.ranking in ("rmsecv", "cv_score") else "mean_fold_cv"
    size = _size(problems, scoring)
    means = {
        variant: float(np.mean([getattr(found, key) for found in of]))
        for variant, of in figures.items()
    }
    eligible = [variant for variant, mean in means.items() if not np.isnan(mean)]
    losses = dict(zip(eligible, scoring.settled([means[v] for v in eligible], size), strict=True))
    ranked = _ranked(losses)
    if criterion.ranking != "one_se" or not ranked:
        return ranked
    folds = np.mean([found.fold_val for found in figures[ranked[0]]], axis=0)
    there = ~np.isnan(folds)
    error = 0.0
    if there.sum() > 1:
        validated = [
            rows.val for rows, counts in zip(problems[0].folds, there, strict=True) if counts
        ]
        times = np.bincount(np.concatenate(validated))
        # Repeats validate a sample again and are no new folds: over how often a sample is
        # validated, on average.
        error = float(folds[there].std(ddof=1) / np.sqrt(there.sum() / times[times > 0].mean()))
    limit = losses[ranked[0]] + error
    limit += slack_of(abs(limit), size)
    within = [variant for variant in eligible if losses[variant] <= limit]
    places = simplicity(run.settings.variants)
    return [
        *sorted(within, key=lambda variant: places[variant]),
        *(variant for variant in ranked if variant not in within),
    ]


def _ranked(losses: Mapping[str, float]) -> list[str]:
    """Sort by settled losses; equal ones stay in declared order."""
    return [list(losses)[place] for place in loss_order(list(losses.values()))]


def _size(problems: Sequence[Problem], scoring: Scoring) -> float:
    return max(scoring.size(problem.truth.y) for problem in problems)


WHOLE = (
    "cv_score",
    "mean_fold_cv",
    "ens_test",
    "w_ens_test",
    "ens_train",
    "w_ens_train",
    "test_score",
    "train_score",
)
BY_FOLD = ("fold_train", "fold_val", "fold_test", "weights")


def differing(scores: ChainScores, figures: ChainFigures) -> tuple[list[str], int]:
    """Return a line per score of the program that differs from ours, and how many were compared."""
    pairs = [(name, getattr(scores, name), getattr(figures, name)) for name in WHOLE]
    for name in BY_FOLD:
        both = zip(getattr(scores, name), getattr(figures, name), strict=True)
        pairs += [(f"{name}, fold {number}", float(a), b) for number, (a, b) in enumerate(both)]
    lines = [
        f"{name} is {float(a)!r}, the predictions give {b!r}"
        for name, a, b in pairs
        if not np.isclose(float(a), b, rtol=1e-9, atol=1e-9, equal_nan=True)
    ]
    return lines, len(pairs)


def differing_of_run(run: CrossvalRun) -> tuple[list[str], int]:
    """Derive every score of a cross-validation twice and compare."""
    lines, count = [], 0
    for problem in run.problems:
        scoring = run.settings.scoring(problem.truth.task)
        again = Recomputation(problem.truth.task, scoring.metric, run.settings)
        for variant, scores in problem.scores(scoring).items():
            found, compared = differing(scores, again.figures(problem.chains[variant]))
            lines += found
            count += compared
    return lines, count
