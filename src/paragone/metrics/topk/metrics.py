"""The top-K metrics: their names with conventions, and what each makes of the hits down a list."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from paragone.errors import InputError, unknown_name

# Numbers the compiled kernels switch on; their order is private to this package.
PRECISION, PRECISION_LIST, RECALL, RECALL_MIN, F1, RMRR = range(6)
NDCG_MIN, NDCG_K, NDCG_HITS, HIT_RATE, MRR, MAP_N, MAP_MIN, MAP_K = range(6, 14)

F1_OF_MEANS = "f1_of_means"

_OPTION = {
    "precision": ("over", {"k": PRECISION, "list": PRECISION_LIST}),
    "recall": ("over", {"n": RECALL, "min": RECALL_MIN}),
    "ndcg": ("idcg", {"min": NDCG_MIN, "k": NDCG_K, "hits": NDCG_HITS}),
    "map": ("over", {"n": MAP_N, "min": MAP_MIN, "k": MAP_K}),
}
_PLAIN = {"f1": F1, "rmrr": RMRR, "hit_rate": HIT_RATE, "mrr": MRR, F1_OF_MEANS: -1}
# Precision over K and recall over n are what everybody means by the bare word; their names stay bare.
_SILENT = {"precision": "k", "recall": "n"}
NAMES = ("precision", "recall", "f1", "rmrr", "ndcg", "hit_rate", "mrr", "map", F1_OF_MEANS)
ALIASES = {
    "p": "precision",
    "prec": "precision",
    "r": "recall",
    "hr": "hit_rate",
    "hit": "hit_rate",
    "hits": "hit_rate",
    "recip_rank": "mrr",
    "f1_means": F1_OF_MEANS,
}
_PATTERN = re.compile(r"^([a-z0-9_]+)(?:\[([a-z]+)=([a-z]+)\])?$")


@dataclass(frozen=True)
class TopKMetric:
    """One metric in one convention.

    Parameters
    ----------
    name : str
        The family: ``precision``, ``ndcg`` ...
    convention : str
        The choice inside the family, such as ``min``; empty where there is nothing to choose.

    Examples
    --------
    >>> TopKMetric("ndcg", "min").key
    'ndcg[idcg=min]'
    >>> TopKMetric("ndcg", "min").at(20)
    'ndcg@20[idcg=min]'
    >>> TopKMetric("precision", "k").at(5, sampled=99)
    'precision@5[sampled=99]'
    """

    name: str
    convention: str = ""

    @property
    def key(self) -> str:
        """The name with its convention, without a K."""
        return f"{self.name}{self._bracket(None)}"

    @property
    def code(self) -> int:
        """The number the kernels know it by; negative for a value that only a whole run has."""
        if self.name in _PLAIN:
            return _PLAIN[self.name]
        return _OPTION[self.name][1][self.convention]

    def at(self, k: int, *, sampled: int | None = None) -> str:
        """Name the metric at a cut-off, saying so where candidates were sampled."""
        return f"{self.name}@{k}{self._bracket(sampled)}"

    def _bracket(self, sampled: int | None) -> str:
        parts = []
        if self.convention and _SILENT.get(self.name) != self.convention:
            parts.append(f"{_OPTION[self.name][0]}={self.convention}")
        if sampled is not None:
            parts.append(f"sampled={sampled}")
        return f"[{','.join(parts)}]" if parts else ""


def parse_metric(text: str, *, idcg: str = "min", map_over: str = "n") -> TopKMetric:
    """Read a metric's name as a user writes it.

    Parameters
    ----------
    text : str
        ``"precision"``, ``"ndcg"``, ``"ndcg[idcg=k]"``, or a short form such as ``"p"``.
    idcg : {"min", "k", "hits"}
        The convention a bare ``ndcg`` means.
    map_over : {"n", "min", "k"}
        The convention a bare ``map`` means.

    Returns
    -------
    Metric
        The metric, its convention settled.

    Examples
    --------
    >>> parse_metric("ndcg").key, parse_metric("ndcg[idcg=k]").key, parse_metric("P").key
    ('ndcg[idcg=min]', 'ndcg[idcg=k]', 'precision')
    """
    found = _PATTERN.match(text.strip().lower().replace("-", "_"))
    if not found:
        raise unknown_name("metric", text, NAMES)
    name, option, choice = found.groups()
    name = ALIASES.get(name, name)
    if name not in NAMES:
        raise unknown_name("metric", text, NAMES)
    if name in _PLAIN:
        if option:
            raise InputError(f"metric {text!r}: {name} has no conventions to choose from; write {name!r}")
        return TopKMetric(name)
    known_option, choices = _OPTION[name]
    default = {"ndcg": idcg, "map": map_over}.get(name) or _SILENT[name]
    if option is None:
        choice = default
    elif option != known_option:
        raise InputError(f"metric {text!r}: the option of {name} is called {known_option!r}, not {option!r}")
    if choice not in choices:
        raise unknown_name(f"{known_option} convention", choice, choices)
    return TopKMetric(name, choice)


def conventions_of(name: str) -> tuple[TopKMetric, ...]:
    """List every convention of a family, the default first.

    Examples
    --------
    >>> [metric.key for metric in conventions_of("map")]
    ['map[over=n]', 'map[over=min]', 'map[over=k]']
    """
    if name in _PLAIN:
        return (TopKMetric(name),)
    return tuple(TopKMetric(name, choice) for choice in _OPTION[name][1])


def f1_at_k(precision: float, recall: float) -> float:
    """Return the harmonic mean of a precision and a recall.

    The F1 of a run is the mean of the samples' F1; this function of the two means is another number.

    Parameters
    ----------
    precision, recall : float
        Both in [0, 1].

    Returns
    -------
    float
        ``2 P R / (P + R)``, and 0.0 where both are 0.

    Raises
    ------
    ValueError
        Where one is NaN, infinite or outside [0, 1].

    Examples
    --------
    >>> round(f1_at_k(0.8, 0.6), 10)
    0.6857142857
    >>> f1_at_k(0.0, 0.0)
    0.0
    """
    for name, value in (("precision", precision), ("recall", recall)):
        if not math.isfinite(value) or not 0.0 <= value <= 1.0:
            raise InputError(f"{name} must lie in [0, 1], it is {value}")
    total = precision + recall
    # Halving the larger first keeps the product from vanishing for the smallest numbers.
    return 0.0 if total == 0 else float(2.0 * precision * (recall / total))
