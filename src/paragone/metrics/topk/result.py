"""TopKResult: what an evaluation found, its intervals, and how it shows itself: text, table, chart, files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paragone.errors import InputError, unknown_name
from paragone.folders import replaced_folder, written_files
from paragone.intervals import bootstrap_means, percentile_interval
from paragone.metrics.topk.metrics import TopKMetric
from paragone.metrics.topk.ranking import Ranking
from paragone.metrics.topk.ties import measure
from paragone.metrics.topk.truth import GroundTruth, as_rows
from paragone.tables import Column, Table, frame_to_csv, to_text
from paragone.validation import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd


def result_chart(result: TopKResult) -> Any:
    """Return an Altair chart, one panel a metric, the interval as a band."""
    import altair as alt

    table = result.table()
    # Vega reads brackets in a field name as a path; the values are safe, the column names here have
    # none.
    base = alt.Chart(table).encode(x=alt.X("at:O", title="K", axis=alt.Axis(labelAngle=0)))
    band = base.mark_errorbar(ticks=alt.MarkConfig(size=7)).encode(
        y=alt.Y("low:Q", title="value", scale=alt.Scale(zero=False)), y2="high:Q"
    )
    line = base.mark_line(point=True).encode(
        y=alt.Y("value:Q"), tooltip=["metric", "value", "low", "high", "tie_share"]
    )
    panels = alt.layer(line, band).properties(width=160, height=140)
    return panels.facet(facet=alt.Facet("name:N", title=None), columns=4).resolve_scale(
        y="independent"
    )


def cluster_codes(cluster: Any, n_samples: int) -> IntArray | None:
    """Give every cluster a number; ``None`` stays ``None``.

    Examples
    --------
    >>> cluster_codes(["b", "a", "b"], 3)
    array([1, 0, 1])
    """
    if cluster is None:
        return None
    labels = np.asarray(cluster if hasattr(cluster, "__array__") else as_rows(cluster, "cluster"))
    if labels.ndim != 1 or len(labels) != n_samples:
        raise InputError(
            f"cluster needs one label a sample: {labels.shape} given, {n_samples} samples"
        )
    missing = [
        row
        for row, label in enumerate(labels.tolist())
        if label is None or (isinstance(label, float) and np.isnan(label))
    ]
    if missing:
        raise InputError(f"cluster has no label for sample {missing[0]}: give every sample one")
    try:
        return np.unique(labels, return_inverse=True)[1].astype(np.int64)
    except TypeError as error:
        raise InputError(
            f"cluster mixes labels that cannot be compared ({error}): make them all text"
        ) from error


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
    metrics: tuple[TopKMetric, ...]
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
        helpers = {part.key for metric in self.metrics for part in metric.parts}
        return tuple(
            asked + [key for key in self.per_sample if key not in asked and key not in helpers]
        )

    @cached_property
    def means(self) -> dict[str, FloatArray]:
        """The value of each metric at each cut-off: the mean over all evaluated samples."""
        found = {
            key: values[self.evaluated].mean(axis=0) for key, values in self.per_sample.items()
        }
        found |= _of_means(self.metrics, found)
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
    def intervals(self) -> dict[str, FloatArray]:
        """The interval of each mean (`percentile_interval`): lower and upper ends in two rows, over the cut-offs."""
        keys = list(self.per_sample)
        if not keys:
            return {}
        stacked = np.concatenate([self.per_sample[key][self.evaluated] for key in keys], axis=1)
        clusters = None if self.clusters is None else self.clusters[self.evaluated]
        draws = bootstrap_means(stacked, clusters=clusters, n_resamples=self.n_boot, seed=self.seed)
        width = len(self.ks)
        drawn = {
            key: draws[:, index * width : (index + 1) * width] for index, key in enumerate(keys)
        }
        drawn |= _of_means(self.metrics, drawn)
        units = len(stacked) if clusters is None else len(np.unique(clusters))
        return {
            name: percentile_interval(drawn[name], self.confidence, units) for name in self.names
        }

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
        own = [metric for metric in self.metrics if not metric.parts]
        ks = np.asarray(self.ks, dtype=np.int64)
        # A sample with empty="zero" counts with 0 in every order.
        low, high = (
            np.nan_to_num(measure(self.ranking, self.truth, ks, own, rule)[:, self.evaluated]).mean(
                axis=1
            )
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
        return result_table(self)

    def samples(self) -> Any:
        """Return the per-sample values as a tidy DataFrame (sample, metric, at, value)."""
        return samples_table(self)

    def chart(self) -> Any:
        """Draw each metric over the cut-offs, with its interval, as an Altair chart."""
        return result_chart(self)

    def __repr__(self) -> str:
        return result_text(self)

    def _repr_html_(self) -> str:
        from paragone.charts import embedded

        picture = embedded(self.chart(), "Every metric over the cut-offs, with its interval")
        return f"<div>{picture}\n{self.table().to_html(index=False)}</div>"


def _of_means(
    metrics: tuple[TopKMetric, ...], means: dict[str, FloatArray]
) -> dict[str, FloatArray]:
    """Return the metrics that are made of the means of others, by key."""
    return {
        one.key: harmonic_mean(*(means[part.key] for part in one.parts))
        for one in metrics
        if one.parts
    }


def harmonic_mean(precision: Any, recall: Any) -> FloatArray:
    """Return the F1 of precisions and recalls; 0 where both are 0."""
    total = precision + recall
    safe = np.where(total > 0, total, 1.0)
    return np.asarray(np.where(total > 0, 2.0 * precision * recall / safe, 0.0))


COLUMNS = ["metric", "name", "at", "value", "low", "high", "n", "tie_share", "tie_low", "tie_high"]


def result_table(result: TopKResult) -> pd.DataFrame:
    """Return one row a metric and cut-off: value, interval, share of tied samples, and what ties could do.

    ``tie_low`` and ``tie_high`` are filled where over 0.1 % of the samples have a tie across the
    cut-off.
    """
    import pandas as pd

    shown = result.tie_share > TIE_SHARE_SHOWN
    bounds = result.tie_bounds if shown.any() else {}
    rows: list[dict[str, Any]] = []
    for key in result.names:
        low, high = result.intervals[key]
        for index, k in enumerate(result.ks):
            tie_low, tie_high = bounds.get(key, (None, None))
            inside = tie_low is not None and bool(shown[index])
            rows.append(
                {
                    "metric": result.label(key, k),
                    "name": key,
                    "at": k,
                    "value": float(result.means[key][index]),
                    "low": float(low[index]),
                    "high": float(high[index]),
                    "n": int(result.evaluated.sum()),
                    "tie_share": float(result.tie_share[index]),
                    "tie_low": float(tie_low[index]) if inside and tie_low is not None else np.nan,
                    "tie_high": (
                        float(tie_high[index]) if inside and tie_high is not None else np.nan
                    ),
                }
            )
    return pd.DataFrame(rows, columns=COLUMNS)


def samples_table(result: TopKResult) -> pd.DataFrame:
    """Return the per-sample values of the evaluated samples in tidy form."""
    import pandas as pd

    samples = np.flatnonzero(result.evaluated)
    parts = (
        [pd.DataFrame({"sample": [], "metric": [], "at": [], "value": []})]
        if not result.per_sample
        else []
    )
    for key in result.names:
        if key not in result.per_sample:
            continue
        values = result.per_sample[key][samples]
        parts.append(
            pd.DataFrame(
                {
                    "sample": np.repeat(samples, len(result.ks)),
                    "metric": key,
                    "at": np.tile(result.ks, len(samples)),
                    "value": values.ravel(),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def result_text(result: TopKResult) -> str:
    """Write the result as a plain table with its notes."""
    table = result_table(result)
    percent = f"{100 * result.confidence:g} %"
    clustered = "" if result.clusters is None else f", {len(np.unique(result.clusters))} clusters"
    lines = [f"Top-K of {int(result.evaluated.sum())} samples{clustered}, ties: {result.ties}"]
    columns: list[str | Column] = ["metric", "value", f"{percent} interval", Column("", "left")]
    rows = [
        [
            row.metric,
            f"{row.value:.5f}",
            f"[{row.low:8.5f}, {row.high:8.5f}]",
            f"ties: {row.tie_low:.5f}..{row.tie_high:.5f}" if np.isfinite(row.tie_low) else "",
        ]
        for row in table.itertuples()
    ]
    lines.append(to_text(Table.of(columns, rows)))
    lines += [f"note: {note}" for note in (*_tie_notes(result), *result.notes)]
    lines += [f"failed: {name}: {error}" for name, error in result.errors.items()]
    return "\n".join(lines)


def _tie_notes(result: TopKResult) -> list[str]:
    if np.isnan(result.tie_share).all():
        return ["lists carry no scores, so ties are not known"]
    if not result.tie_share.any():
        return []
    shares = ", ".join(
        f"{100 * share:.2f} % at {k}" for share, k in zip(result.tie_share, result.ks, strict=True)
    )
    return [f"samples with equal scores across the cut-off: {shares}"]


def result_json(result: TopKResult) -> dict[str, Any]:
    """Return the result as JSON can hold it; NaN becomes ``None``."""
    rows = result.table().drop(columns="name").to_dict("records")
    return {
        "k": list(result.ks),
        "ties": result.ties,
        "n": int(result.evaluated.sum()),
        "confidence": result.confidence,
        "scores": [{key: _plain(value) for key, value in row.items()} for row in rows],
        "errors": result.errors,
        "notes": list(result.notes),
    }


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and np.isnan(value) else value


def save_result(
    result: TopKResult, folder: str | Path, beside: Mapping[str, pd.DataFrame] | None = None
) -> list[Path]:
    """Write a result into a folder; what an earlier one left there is replaced as a whole.

    Parameters
    ----------
    result : TopKResult
        Goes into ``scores.csv``, ``samples.csv``, ``result.json`` and ``lists.npz``.
    folder : str or Path
        Made where it is missing.
    beside : mapping of str to DataFrame, optional
        More tables, by the names of their files without the ending.

    Returns
    -------
    list of Path
        The files.
    """
    tables = {"scores": result.table(), "samples": result.samples(), **(beside or {})}
    with replaced_folder(folder, "topk") as content:
        for name, table in tables.items():
            frame_to_csv(table, content / f"{name}.csv")
        (content / "result.json").write_text(
            json.dumps(result_json(result), indent=1), encoding="utf-8"
        )
        lists: dict[str, Any] = {"items": result.ranking.items, "indptr": result.truth.indptr}
        lists["truth"] = result.truth.items
        if result.ranking.scores is not None:
            lists["scores"] = result.ranking.scores
        np.savez_compressed(content / "lists.npz", **lists)
        files = written_files(content)
    return [Path(folder) / name for name in files]
