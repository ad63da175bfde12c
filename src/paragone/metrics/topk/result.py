"""TopKResult: what an evaluation found, and how it shows itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.errors import unknown_name
from paragone.metrics.topk.conventions import F1_OF_MEANS, Metric
from paragone.metrics.topk.intervals import bootstrap_means, percentile_interval
from paragone.metrics.topk.measure import measure
from paragone.metrics.topk.ranking import Ranking
from paragone.metrics.topk.truth import GroundTruth
from paragone.validation import FloatArray, IntArray

# Above this share of samples with a tie across a cut-off, the interval worst..best order is shown.
TIE_SHARE_SHOWN = 0.001


@dataclass(frozen=True, eq=False, repr=False)
class TopKResult:
    """Values of a top-K evaluation.

    Attributes
    ----------
    ks : tuple of int
        The cut-offs.
    metrics : tuple of Metric
        What was asked for, conventions settled.
    per_sample : dict of str to ndarray of shape (n_samples, n_cutoffs)
        The value of every sample; NaN where a sample was left out.
    evaluated : ndarray of bool
        Which samples count.
    ranking : Ranking
        The lists, with what is needed to judge their ties.
    truth : GroundTruth
        The relevant items.
    ties : str
        The rule for equal scores.
    errors : dict of str to str
        Metrics that failed, and why.
    notes : tuple of str
        What a reader of the numbers must know.

    Examples
    --------
    >>> from paragone.metrics.topk import topk_scores
    >>> result = topk_scores([[0.1, 0.9, 0.5], [0.3, 0.2, 0.1]], [[1], [1, 2]], k=(1, 2), metrics=("recall",))
    >>> result.value("recall", 2), result.per_sample["recall"][:, 1]
    (0.75, array([1. , 0.5]))
    """

    ks: tuple[int, ...]
    metrics: tuple[Metric, ...]
    per_sample: dict[str, FloatArray]
    evaluated: NDArray[np.bool_]
    ranking: Ranking
    truth: GroundTruth
    ties: str = "id"
    errors: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    n_sampled: int | None = None
    clusters: IntArray | None = None
    confidence: float = 0.95
    n_boot: int = 1000
    seed: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """Every metric that has a value, in the order asked for; a user's functions last."""
        asked = [metric.key for metric in self.metrics]
        helpers = {"precision", "recall"} if F1_OF_MEANS in asked else set()
        return tuple(asked + [key for key in self.per_sample if key not in asked and key not in helpers])

    @cached_property
    def means(self) -> dict[str, FloatArray]:
        """The value of each metric at each cut-off: the mean over all evaluated samples."""
        found = {key: values[self.evaluated].mean(axis=0) for key, values in self.per_sample.items()}
        if F1_OF_MEANS in self.names:
            found[F1_OF_MEANS] = _harmonic(found["precision"], found["recall"])
        return {name: found[name] for name in self.names}

    def value(self, metric: str, k: int) -> float:
        """Return one number; a bare name will do where only one convention of the metric is present.

        Examples
        --------
        >>> from paragone.metrics.topk import topk_scores
        >>> topk_scores([[0.1, 0.9]], [[1]], k=1, metrics=("ndcg",)).value("ndcg", 1)
        1.0
        """
        values = self.means.get(metric, self.as_dict().get(metric))
        if values is None:
            raise unknown_name("metric", metric, self.means)
        if k not in self.ks:
            raise unknown_name("cut-off", str(k), [str(cut) for cut in self.ks])
        return float(values[self.ks.index(k)])

    @cached_property
    def intervals(self) -> dict[str, tuple[FloatArray, FloatArray]]:
        """The bootstrap interval of each mean: lower and upper ends over the cut-offs."""
        keys = list(self.per_sample)
        if not keys:
            return {}
        stacked = np.concatenate([self.per_sample[key][self.evaluated] for key in keys], axis=1)
        clusters = None if self.clusters is None else self.clusters[self.evaluated]
        draws = bootstrap_means(stacked, clusters=clusters, n_boot=self.n_boot, seed=self.seed)
        width = len(self.ks)
        drawn = {key: draws[:, index * width : (index + 1) * width] for index, key in enumerate(keys)}
        if F1_OF_MEANS in self.names:
            drawn[F1_OF_MEANS] = _harmonic(drawn["precision"], drawn["recall"])
        return {name: percentile_interval(drawn[name], self.confidence) for name in self.names}

    @cached_property
    def tie_share(self) -> FloatArray:
        """The share of samples with equal scores across each cut-off; NaN where only lists are known."""
        shares = []
        for cut in self.ks:
            across = self.ranking.tie_across(cut)
            shares.append(np.nan if across is None else float(across[self.evaluated].mean()))
        return np.asarray(shares)

    @cached_property
    def tie_bounds(self) -> dict[str, tuple[FloatArray, FloatArray]]:
        """Each mean if all ties fell out worst, and best; for our own metrics of runs that have scores."""
        if self.ranking.scores is None:
            return {}
        own = [metric for metric in self.metrics if metric.name != F1_OF_MEANS]
        codes = [metric.code for metric in own]
        ks = np.asarray(self.ks, dtype=np.int64)
        # A sample with empty="zero" counts with 0 in every order.
        low, high = (
            np.nan_to_num(measure(self.ranking, self.truth, ks, codes, rule)[:, self.evaluated]).mean(axis=1)
            for rule in ("pessimistic", "optimistic")
        )
        return {metric.key: (low[index], high[index]) for index, metric in enumerate(own)}

    def as_dict(self) -> dict[str, FloatArray]:
        """Return the means in the classic form, one array over the cut-offs a metric.

        A metric keeps its bare name unless two conventions of it are present.

        Examples
        --------
        >>> from paragone.metrics.topk import topk_scores
        >>> topk_scores([[0.1, 0.9]], [[1]], k=(1,), metrics=("ndcg",)).as_dict()
        {'ndcg': array([1.])}
        """
        families = [metric.name for metric in self.metrics]
        bare = {m.key: m.name if families.count(m.name) == 1 else m.key for m in self.metrics}
        return {bare.get(key, key): values for key, values in self.means.items()}

    def label(self, key: str, k: int) -> str:
        """Name a value in full, as it is printed: ``ndcg@20[idcg=min]``."""
        for metric in self.metrics:
            if metric.key == key:
                return metric.at(k, sampled=self.n_sampled)
        return f"{key}@{k}"

    def table(self) -> Any:
        """Return a DataFrame, one row a metric and cut-off, with intervals and ties."""
        from paragone.metrics.topk.table import result_table

        return result_table(self)

    def samples(self) -> Any:
        """Return the per-sample values as a tidy DataFrame (sample, metric, at, value)."""
        from paragone.metrics.topk.table import samples_table

        return samples_table(self)

    def chart(self) -> Any:
        """Draw each metric over the cut-offs, with its interval, as an Altair chart."""
        from paragone.metrics.topk.chart import result_chart

        return result_chart(self)

    def __repr__(self) -> str:
        from paragone.metrics.topk.table import result_text

        return result_text(self)

    def _repr_html_(self) -> str:
        from paragone.charts import embedded

        picture = embedded(self.chart(), "Every metric over the cut-offs, with its interval")
        return f"<div>{picture}\n{self.table().to_html(index=False)}</div>"


def _harmonic(precision: FloatArray, recall: FloatArray) -> FloatArray:
    total = precision + recall
    safe = np.where(total > 0, total, 1.0)
    return np.asarray(np.where(total > 0, 2.0 * precision * recall / safe, 0.0))
