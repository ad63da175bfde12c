"""Words that tables, charts and pages share: names, the verdict in one sentence, the literature."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from paragone.methods.method import reference_of
from paragone.metrics import metric_title, named_metric

if TYPE_CHECKING:
    from paragone.stats import DatasetComparison


def headline(comparison: DatasetComparison) -> str:
    """Say in a sentence or two how the leader does against its rivals, in both scopes, and its rank.

    Examples
    --------
    >>> import pandas as pd, paragone
    >>> scores = pd.DataFrame({"dataset": list("abcdefgh"), "new": [0.9] * 8, "old": [0.8] * 8})
    >>> print(headline(paragone.compare(scores, metric="accuracy", reference="new")))
    On new datasets, new is better than old: 0.900 against 0.800. Its average rank is 1.00, the best
    of 2.
    """
    return f"{comparison.finding} {_rank(comparison)}"


def listing(parts: Sequence[str]) -> str:
    """Join parts as a sentence does.

    Examples
    --------
    >>> listing(["a"]), listing(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _rank(comparison: DatasetComparison) -> str:
    ranks = dict(zip(comparison.scores.methods, comparison.friedman.average_ranks, strict=True))
    mine = ranks[comparison.leader]
    better = sorted((rank, name) for name, rank in ranks.items() if rank < mine)
    place = (
        f"the best of {len(ranks)}"
        if not better
        else f"behind {better[0][1]} with {better[0][0]:.2f}"
    )
    return f"Its average rank is {mine:.2f}, {place}."


LONGEST_NAME = 28


def short_names(names: Sequence[str], longest: int = LONGEST_NAME) -> dict[str, str]:
    """Return names for narrow places: in a long one the middle gives way, and no two become the same.

    Examples
    --------
    >>> short_names(["Tree", "HistGradientBoosting(learning_rate=0.01)", "HistGradientBoosting(learning_rate=0.02)"])
    {'Tree': 'Tree', 'HistGradientBoosting(learning_rate=0.01)': 'HistGradientBo…ng_rate=0.01)', ...
    """
    found: dict[str, str] = {}
    taken = set()
    for name in names:
        size, short = longest, _middled(name, longest)
        while short in taken and size < len(name):
            size += 1
            short = _middled(name, size)
        found[name] = short
        taken.add(short)
    return found


def _middled(name: str, longest: int) -> str:
    if len(name) <= longest:
        return name
    head = longest // 2
    return f"{name[:head]}…{name[len(name) - (longest - 1 - head) :]}"


def typeset(number: str) -> str:
    """Return a printed number with the sign that books use.

    Examples
    --------
    >>> typeset("-0.012"), typeset("-"), typeset("1e-05")
    ('−0.012', '-', '1e-05')
    """
    return f"−{number[1:]}" if number.startswith("-") and len(number) > 1 else number


def title_of(metric: str) -> str:
    """Return a metric's name for people."""
    return metric_title(metric)


def direction(metric: str) -> bool | None:
    """Return whether higher values of a metric are better; None where nobody has said so."""
    return named_metric(metric).higher_is_better


def size_of(metric: str) -> float:
    """Return the size of what a metric's values are made from, for telling ties."""
    return named_metric(metric).score_size


def direction_words(metric: str) -> str:
    """Say in a caption which way a metric is better.

    Examples
    --------
    >>> direction_words("hamming_loss")
    ' (lower is better)'
    """
    higher = direction(metric)
    return "" if higher is None else f" ({'higher' if higher else 'lower'} is better)"


STATISTICS = (
    "demsar2006",
    "friedman1937",
    "iman1980",
    "wilcoxon1945",
    "holm1979",
    "efron1987",
    "nadeau2003",
    "noether1987",
)


def bibtex(keys: Iterable[str]) -> str:
    """Return the entries of the keys, in their order; what is an entry already, such as a method's own, stays.

    Examples
    --------
    >>> print(bibtex(["holm1979"]).splitlines()[0])
    @article{holm1979,
    """
    entries = _entries()
    return "\n\n".join(entries.get(key, key) for key in keys)


def reference_keys(described: Mapping[str, Any], compared: bool) -> tuple[str, ...]:
    """Return what an experiment used: keys of statistics and stratification, entries of evaluator and rankers.

    Examples
    --------
    >>> split = {"kind": "kfold", "stratify": True, "order": 1}
    >>> described = {"split": split, "protocol": {}, "methods": {"A": {"use": "paragone.methods.rankers.dagfs:DAGFS"}}}
    >>> [found.partition(",")[0] for found in reference_keys(described, compared=False)]
    ['sechidis2011', '@misc{casu2026']
    """
    keys = list(STATISTICS) if compared else []
    split = described["split"]
    if split["kind"] in ("kfold", "holdout") and split["stratify"]:
        keys.append("sechidis2011" if split["order"] == 1 else "szymanski2017")
    used = [described["protocol"].get("evaluator", {}), *described["methods"].values()]
    return (*dict.fromkeys(keys), *method_references(used))


def method_references(described: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the papers of methods that brought one, as entries, each once."""
    found = map(reference_of, dict.fromkeys(str(method.get("use", "")) for method in described))
    return tuple(dict.fromkeys(filter(None, found)))


@cache
def _entries() -> dict[str, str]:
    text = (files("paragone.reporting") / "static" / "references.bib").read_text(encoding="utf-8")
    found = re.findall(r"^@\w+\{(\w+),\n.*?^\}$", text, re.MULTILINE | re.DOTALL)
    whole = re.findall(r"^@\w+\{\w+,\n.*?^\}$", text, re.MULTILINE | re.DOTALL)
    return dict(zip(found, whole, strict=True))
