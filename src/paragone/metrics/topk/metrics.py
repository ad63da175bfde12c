"""The top-K metrics: what each gains down a list, what it divides by, and names that carry the convention."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from typing_extensions import override

from paragone.errors import InputError, unknown_name
from paragone.metrics.finding import find_metric, metric_names
from paragone.metrics.metric import Metric, metrics

# What is gathered down a list, at each cut-off: numbers of places in an array of the compiled
# kernels.
HITS, DCG, PRECISION_SUM, FIRST_HIT, NEARNESS, ANY_HIT = range(6)
# What the kernels can divide by; a list or a truth that leaves nothing to divide by has the value
# 0.
ONE, K, LIST_LENGTH, RELEVANT, REACHABLE, MEAN_SIZE, IDEAL_MIN, IDEAL_K, IDEAL_HITS = range(9)

_PATTERN = re.compile(r"^([a-z0-9_]+)(?:\[([a-z]+)=([a-z]+)\])?$")


@dataclass(frozen=True)
class TopKFamily(Metric):
    """A metric of lists that the compiled kernels know, in all its conventions.

    Parameters
    ----------
    conventions : mapping of str to (int, int)
        For each convention what is gained and what it is divided by; the first is the default. The
        only one is called ``""``.
    option : str
        What the choice is called in a name, such as ``idcg`` in ``ndcg[idcg=min]``.
    is_silent : bool
        Whether the default convention is left out of names: it is what everybody means by the bare
        word.
    needs_order : bool
        Whether it looks at the order of the relevant items.
    of_means : tuple of str
        The metrics whose means over all samples it is the harmonic mean of; such a value has no
        samples.
    """

    conventions: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    option: str = ""
    is_silent: bool = False
    needs_order: bool = False
    of_means: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(norm == IDEAL_HITS and gain != DCG for gain, norm in self.conventions.values()):
            # With ties both are random together, and the kernels know the mean of this one
            # quotient.
            raise InputError(
                f"metric {self.name!r}: only the discounted gain can be divided by the ideal of the"
                " hits"
            )

    @property
    @override
    def is_computable(self) -> bool:
        return True


def _declare(name: str, title: str, *conventions: tuple[str, int, int], **words: Any) -> None:
    forms = {convention: (gain, norm) for convention, gain, norm in conventions}
    common: dict[str, Any] = {
        "task": "topk",
        "needs": "lists",
        "higher_is_better": True,
        "lowest": 0.0,
        "highest": 1.0,
    }
    metrics.add(TopKFamily(name, title=title, conventions=forms, **{**common, **words}))


_declare(
    "precision",
    "Precision",
    ("k", HITS, K),
    ("list", HITS, LIST_LENGTH),
    option="over",
    is_silent=True,
    aliases=("p", "prec"),
    reference="hits in the first K, over K or over the length of a shorter list",
)
_declare(
    "recall",
    "Recall",
    ("n", HITS, RELEVANT),
    ("min", HITS, REACHABLE),
    option="over",
    is_silent=True,
    aliases=("r",),
    reference="hits in the first K, over the n relevant items or over min(K, n)",
)
_declare(
    "f1",
    "F1",
    ("", HITS, MEAN_SIZE),
    reference="2 hits / (K + n): the harmonic mean of precision and recall",
)
_declare(
    "rmrr",
    "RMRR",
    ("", NEARNESS, RELEVANT),
    needs_order=True,
    reference="sum over hits of 1 / (|rank in the list - rank in the truth| + 1), over n",
)
_declare(
    "ndcg",
    "NDCG",
    ("min", DCG, IDEAL_MIN),
    ("k", DCG, IDEAL_K),
    ("hits", DCG, IDEAL_HITS),
    option="idcg",
    reference=(
        "Järvelin and Kekäläinen 2002; the ideal gain is that of min(K, n), of K, or of the hits"
        " retrieved"
    ),
)
_declare(
    "hit_rate",
    "Hit rate",
    ("", ANY_HIT, ONE),
    aliases=("hr", "hit", "hits"),
    reference="1 with any hit, else 0",
)
_declare(
    "mrr",
    "MRR",
    ("", FIRST_HIT, ONE),
    aliases=("recip_rank",),
    reference="1 / rank of the first hit",
)
_declare(
    "map",
    "MAP",
    ("n", PRECISION_SUM, RELEVANT),
    ("min", PRECISION_SUM, REACHABLE),
    ("k", PRECISION_SUM, K),
    option="over",
    reference="sum over hits of the precision at their rank, over n, min(K, n) or K",
)
_declare(
    "f1_of_means",
    "F1 of means",
    ("", HITS, MEAN_SIZE),
    needs="run",
    of_means=("precision", "recall"),
    aliases=("f1_means",),
    reference="2 P R / (P + R) of the means over all samples; not the mean of the samples' F1",
)
F1_OF_MEANS = "f1_of_means"
# Of a whole run; `paragone.metrics.topk.segments.beyond_accuracy` computes them.
for _name, _title, _higher, _highest in (
    ("item_coverage", "Item coverage", True, 1.0),
    ("gini_exposure", "Gini of exposure", False, 1.0),
    ("novelty", "Novelty", True, math.inf),
    ("tail_recall", "Tail recall", True, 1.0),
):
    metrics.add(
        Metric(
            _name,
            title=_title,
            task="topk",
            needs="run",
            higher_is_better=_higher,
            lowest=0.0,
            highest=_highest,
            unit=0,
        )
    )


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
    def family(self) -> TopKFamily:
        """What is known about it in any convention."""
        return cast(TopKFamily, metrics.get(f"{self.name}@k"))

    @property
    def key(self) -> str:
        """The name with its convention, without a K."""
        return f"{self.name}{self._bracket(None)}"

    @property
    def form(self) -> tuple[int, int]:
        """What the kernels gather for it and divide by."""
        return self.family.conventions[self.convention]

    @property
    def parts(self) -> tuple[TopKMetric, ...]:
        """The metrics whose means it is made of; a metric that has any has no value of its own per sample."""
        return tuple(conventions_of(name)[0] for name in self.family.of_means)

    def at(self, k: int, *, sampled: int | None = None) -> str:
        """Name the metric at a cut-off, saying so where candidates were sampled."""
        return f"{self.name}@{k}{self._bracket(sampled)}"

    def _bracket(self, sampled: int | None) -> str:
        family, parts = self.family, []
        if self.convention and not (
            family.is_silent and self.convention == next(iter(family.conventions))
        ):
            parts.append(f"{family.option}={self.convention}")
        if sampled is not None:
            parts.append(f"sampled={sampled}")
        return f"[{','.join(parts)}]" if parts else ""


def parse_metric(text: str, *, idcg: str = "min") -> TopKMetric:
    """Read a metric's name as a user writes it.

    Parameters
    ----------
    text : str
        ``"precision"``, ``"ndcg"``, ``"ndcg[idcg=k]"``, or a short form such as ``"p"``.
    idcg : {"min", "k", "hits"}
        The convention a bare ``ndcg`` means.

    Returns
    -------
    TopKMetric
        The metric, its convention settled.

    Examples
    --------
    >>> parse_metric("ndcg").key, parse_metric("ndcg[idcg=k]").key, parse_metric("P").key
    ('ndcg[idcg=min]', 'ndcg[idcg=k]', 'precision')
    """
    found = _PATTERN.match(text.strip().lower().replace("-", "_"))
    family = family_of(found[1]) if found else None
    if found is None or family is None:
        raise unknown_name("metric", text, metric_names("topk"))
    option, choice = found[2], found[3]
    choices = list(family.conventions)
    if option and choices == [""]:
        raise InputError(
            f"metric {text!r}: {family.name} has no conventions to choose from; write"
            f" {family.name!r}"
        )
    if option is None:
        # ``idcg`` is an option of the whole evaluation too: it says what the bare word means.
        choice = idcg if family.option == "idcg" else choices[0]
    elif option != family.option:
        raise InputError(
            f"metric {text!r}: the option of {family.name} is called {family.option!r}, not"
            f" {option!r}"
        )
    if choice not in choices:
        raise unknown_name(f"{family.option} convention", choice, choices)
    return TopKMetric(family.name, choice)


def family_of(name: str) -> TopKFamily | None:
    """Return the family of a name or a short form; None where the kernels do not know it."""
    key = f"{name}@k"
    found = metrics.get(key) if key in metrics else None
    return found if isinstance(found, TopKFamily) else None


def conventions_of(name: str) -> tuple[TopKMetric, ...]:
    """List every convention of a family, the default first.

    Examples
    --------
    >>> [metric.key for metric in conventions_of("map")]
    ['map[over=n]', 'map[over=min]', 'map[over=k]']
    """
    return tuple(
        TopKMetric(name, choice)
        for choice in cast(TopKFamily, find_metric(name, "topk")).conventions
    )


def f1_at_k(precision: float, recall: float) -> float:
    """Return the harmonic mean of a precision and a recall.

    The F1 of a run is the mean of the samples' F1; this function of the two means is another
    number.

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
