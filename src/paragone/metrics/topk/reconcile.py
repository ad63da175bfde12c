"""Reconcile: which conventions could have given a published number."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paragone.errors import InputError, unknown_name
from paragone.metrics.finding import metric_names
from paragone.metrics.topk.metrics import F1_OF_MEANS, TopKMetric, conventions_of, family_of
from paragone.metrics.topk.ranking import Ranking
from paragone.metrics.topk.result import harmonic_mean
from paragone.metrics.topk.ties import measure
from paragone.metrics.topk.truth import GroundTruth
from paragone.validation import FloatArray

if TYPE_CHECKING:
    import pandas as pd

_ENTRY = re.compile(r"^\s*([A-Za-z0-9_]+)@([0-9]+)\s*=\s*([0-9]*\.?[0-9]+)\s*(%?)\s*$")
_SLACK = 1e-9


@dataclass(frozen=True)
class Published:
    """A number from a paper: its metric, cut-off, value, and the unit of its last decimal."""

    text: str
    name: str
    k: int
    value: float
    unit: float


@dataclass(frozen=True)
class Candidate:
    """A way to compute it, and what it gives here."""

    metric: str
    ties: str
    samples: str
    value: float


def parse_published(text: str) -> tuple[Published, ...]:
    """Read ``p@5=.2878,r@20=46.31%`` and keep how many decimals were given.

    Examples
    --------
    >>> parse_published("p@5=.2878")
    (Published(text='p@5=.2878', name='precision', k=5, value=0.2878, unit=0.0001),)
    """
    found = []
    for part in text.split(","):
        match = _ENTRY.match(part)
        if not match:
            raise InputError(f"published value {part.strip()!r} is not of the form p@5=.2878")
        word, k, number, percent = match.groups()
        family = family_of(word.lower())
        if family is None:
            raise unknown_name("metric", word, metric_names("topk"))
        decimals = len(number.partition(".")[2])
        scale = 0.01 if percent or float(number) > 1 else 1.0
        if int(k) < 1:
            raise InputError(f"published value {part.strip()!r}: K must be at least 1")
        found.append(
            Published(
                part.strip(), family.name, int(k), float(number) * scale, scale * 10.0**-decimals
            )
        )
    return tuple(found)


def candidates(
    name: str, k: int, places: int, ranking: Ranking, truth: GroundTruth
) -> Iterator[Candidate]:
    """Compute a metric at ``k`` in every convention, tie rule and choice of samples we know of.

    ``places`` is the largest cut-off of the run, on which the ``hits`` ideal of NDCG depends.
    """
    family = ("f1", F1_OF_MEANS) if name in ("f1", F1_OF_MEANS) else (name,)
    metrics = [metric for member in family for metric in conventions_of(member)]
    rules = ["id"]
    if ranking.scores is not None and ranking.any_tie().any():
        rules += ["expected", "optimistic", "pessimistic"]
    evaluated = truth.sizes > 0
    for rule in rules:
        parts = [
            TopKMetric("precision", "k"),
            TopKMetric("recall", "n"),
            *(m for m in metrics if not m.parts),
        ]
        ks = np.unique([k, max(k, places)]).astype(np.int64)
        values = measure(ranking, truth, ks, parts, rule)[:, evaluated, 0]
        hits = values[0] * k
        for metric in metrics:
            if metric.parts:
                yield Candidate(
                    metric.key,
                    rule,
                    "all",
                    float(harmonic_mean(values[0].mean(), values[1].mean())),
                )
                continue
            column = values[parts.index(metric)]
            yield Candidate(metric.key, rule, "all", float(column.mean()))
            if (hits > 0).any() and not (hits > 0).all():
                yield Candidate(
                    metric.key, rule, "only those with a hit", float(column[hits > 0].mean())
                )
        yield from _pooled(name, rule, k, hits, truth.sizes[evaluated].astype(np.float64))


def _merge_ties(found: list[Candidate]) -> list[Candidate]:
    """Join the tie rules that give one and the same value; all of them together are called ``any``."""
    rules = {candidate.ties for candidate in found}
    groups: dict[tuple[str, str, float], list[str]] = {}
    for candidate in found:
        # Means of the same values may differ in the last bit.
        key = (candidate.metric, candidate.samples, round(candidate.value, 12))
        groups.setdefault(key, []).append(candidate.ties)
    return [
        Candidate(metric, "any" if set(ties) == rules else ", ".join(ties), samples, value)
        for (metric, samples, value), ties in groups.items()
    ]


def _pooled(
    name: str, rule: str, k: int, hits: FloatArray, sizes: FloatArray
) -> Iterator[Candidate]:
    if name == "recall":
        yield Candidate("recall", rule, "pooled", float(hits.sum() / sizes.sum()))
    if name in ("f1", F1_OF_MEANS):
        yield Candidate(
            "f1", rule, "pooled", float(2 * hits.sum() / (k * len(sizes) + sizes.sum()))
        )


def reconcile(
    ranking: Ranking,
    truth: GroundTruth,
    published: str | Sequence[Published],
    *,
    places: int | None = None,
) -> pd.DataFrame:
    """Say for each published number which conventions give it on this run.

    Parameters
    ----------
    ranking, truth : Ranking, GroundTruth
        The run, as in a `TopKResult`.
    published : str or sequence of Published
        Such as ``"p@5=.2878,ndcg@20=.576"``. As many decimals count as are written.
    places : int, optional
        The largest cut-off the other program used; the run's own where not given.

    Returns
    -------
    DataFrame
        One row a published number and convention, nearest first; ``verdict`` is ``rounds to it``,
        ``truncates to it`` or ``differs``.

    Examples
    --------
    >>> from paragone.metrics.topk import topk_scores
    >>> run = topk_scores([[0.9, 0.8, 0.1]], [[0, 2]], k=(1, 2))
    >>> table = reconcile(run.ranking, run.truth, "ndcg@2=.61")
    >>> table.loc[table.verdict == "rounds to it", "convention"].tolist()
    ['ndcg[idcg=min]', 'ndcg[idcg=k]']
    """
    import pandas as pd

    entries = parse_published(published) if isinstance(published, str) else tuple(published)
    longest = ranking.items.shape[1]
    rows = []
    for entry in entries:
        if entry.k > longest and longest < ranking.n_items:
            raise InputError(
                f"{entry.text}: the run holds the first {longest} places only, {entry.k} are needed"
            )
        found = _merge_ties(
            list(candidates(entry.name, entry.k, places or longest, ranking, truth))
        )
        for candidate in sorted(found, key=lambda one: abs(one.value - entry.value)):
            rows.append(
                {
                    "published": entry.text,
                    "convention": candidate.metric,
                    "ties": candidate.ties,
                    "samples": candidate.samples,
                    "computed": candidate.value,
                    "difference": candidate.value - entry.value,
                    "verdict": _verdict(candidate.value, entry),
                }
            )
    return pd.DataFrame(rows)


def _verdict(computed: float, entry: Published) -> str:
    difference = computed - entry.value
    if abs(difference) <= 0.5 * entry.unit + _SLACK * entry.unit:
        return "rounds to it"
    if -_SLACK * entry.unit <= difference < entry.unit:
        return "truncates to it"
    return "differs"
