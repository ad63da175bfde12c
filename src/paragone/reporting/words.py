"""Words that tables, charts and pages share: names, the verdict in one sentence, the literature."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from paragone.metrics import named_metric

if TYPE_CHECKING:
    from paragone.stats import DatasetComparison

NAMED = 3
CLAIMS = {
    "better": "better than {}",
    "practically equal": "practically equal to {}",
    "undecided": "not told apart from {}",
    "worse": "worse than {}",
}


def headline(comparison: DatasetComparison) -> str:
    """Say in one sentence how the leader does against its rivals.

    Examples
    --------
    >>> import pandas as pd, paragone
    >>> scores = pd.DataFrame({"dataset": list("abcdefgh"), "new": range(1, 9), "old": range(8)})
    >>> headline(paragone.compare(scores, metric="accuracy", reference="new"))
    'new is better than old. Its average rank is 1.00, the best of 2.'
    """
    verdicts: dict[str, list[str]] = {}
    for pair in comparison.leading_pairs:
        verdicts.setdefault(pair.verdict, []).append(pair.rival)
    n_rivals = len(comparison.leading_pairs)
    claims = [
        CLAIMS[verdict].format(_whom(verdicts[verdict], n_rivals, "any of its" if verdict == "undecided" else "all"))
        for verdict in CLAIMS
        if verdict in verdicts
    ]
    return " ".join([f"{comparison.leader} is {listing(claims)}.", *_size(comparison), _rank(comparison)])


def _size(comparison: DatasetComparison) -> list[str]:
    """Say so where no difference, however clear, could have been significant."""
    alpha, n = comparison.settings.alpha, len(comparison.scores.datasets)
    if comparison.family.on_ranks or any(pair.smallest_p_adjusted <= alpha for pair in comparison.leading_pairs):
        return []
    return [f"With {n} dataset{'s' * (n != 1)} nothing can be significant at this size."]


def listing(parts: Sequence[str]) -> str:
    """Join parts as a sentence does.

    Examples
    --------
    >>> listing(["a"]), listing(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _whom(rivals: Sequence[str], n_rivals: int, all_of: str) -> str:
    if len(rivals) <= NAMED:
        return listing(rivals)
    return f"{all_of} {n_rivals} rivals" if len(rivals) == n_rivals else f"{len(rivals)} of {n_rivals} rivals"


def _rank(comparison: DatasetComparison) -> str:
    ranks = dict(zip(comparison.scores.methods, comparison.friedman.average_ranks, strict=True))
    mine = ranks[comparison.leader]
    better = sorted((rank, name) for name, rank in ranks.items() if rank < mine)
    place = f"the best of {len(ranks)}" if not better else f"behind {better[0][1]} with {better[0][0]:.2f}"
    return f"Its average rank is {mine:.2f}, {place}."


@dataclass(frozen=True)
class Wording:
    """What the user wants tables to say: names to display, a note for captions, a suffix for labels."""

    names: Mapping[str, str] = field(default_factory=dict)
    caption_note: str = ""
    label_suffix: str = ""

    def name(self, identifier: str) -> str:
        """Return the display name of a method or dataset."""
        return self.names.get(identifier, identifier)

    def caption(self, text: str) -> str:
        """Return a caption with the note."""
        return f"{text} {self.caption_note}".strip()

    def label(self, text: str) -> str:
        """Return a label with the suffix."""
        return f"tab:{text}{self.label_suffix}"


def title_of(metric: str) -> str:
    """Return a metric's name for people."""
    return named_metric(metric).title


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
RANKERS = {
    "DAGFS": "casu2026",
    "LRMFS": "fan2025",
    "GRRO": "zhang2020",
    "SRFS": "li2025",
    "SCNMF": "he2024",
    "LSMFS": "fan2024",
    "LRDG": "zhang2024",
    "RFSFS": "li2023",
    "ReliefF": "kononenko1994",
}


def bibtex(keys: Iterable[str]) -> str:
    """Return the entries of the keys, in their order.

    Examples
    --------
    >>> print(bibtex(["holm1979"]).splitlines()[0])
    @article{holm1979,
    """
    entries = _entries()
    return "\n\n".join(entries[key] for key in keys)


def reference_keys(described: Mapping[str, Any], compared: bool) -> tuple[str, ...]:
    """Return the keys of what an experiment used: statistics, stratification, evaluator, rankers.

    Examples
    --------
    >>> split = {"kind": "kfold", "stratify": True, "order": 1}
    >>> described = {"split": split, "protocol": {}, "methods": {"A": {"use": "paragone.methods.rankers.dagfs:DAGFS"}}}
    >>> reference_keys(described, compared=False)
    ('sechidis2011', 'casu2026')
    """
    keys = list(STATISTICS) if compared else []
    split = described["split"]
    if split["kind"] in ("kfold", "holdout") and split["stratify"]:
        keys.append("sechidis2011" if split["order"] == 1 else "szymanski2017")
    if _class(described["protocol"].get("evaluator", {})) == "MLkNN":
        keys.append("zhang2007")
    keys += [RANKERS[name] for method in described["methods"].values() if (name := _class(method)) in RANKERS]
    return tuple(dict.fromkeys(keys))


def _class(declared: Mapping[str, Any]) -> str:
    return str(declared.get("use", "")).replace(":", ".").rpartition(".")[2]


@cache
def _entries() -> dict[str, str]:
    text = (files("paragone.reporting") / "static" / "references.bib").read_text(encoding="utf-8")
    found = re.findall(r"^@\w+\{(\w+),\n.*?^\}$", text, re.MULTILINE | re.DOTALL)
    whole = re.findall(r"^@\w+\{\w+,\n.*?^\}$", text, re.MULTILINE | re.DOTALL)
    return dict(zip(found, whole, strict=True))
