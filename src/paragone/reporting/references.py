"""The literature behind a report, as BibTeX: only what was used."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

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
    >>> described = {"split": split, "protocol": {}, "methods": {"A": {"use": "paragone.rankers.dagfs:DAGFS"}}}
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
