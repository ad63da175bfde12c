"""The conventions of other programs, so that their numbers can be had here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Preset:
    """How another program counts.

    Parameters
    ----------
    metrics : tuple of str
        Its metrics, in our names.
    ties : str
        What it does with equal scores.
    empty : str
        What it does with samples without relevant items.
    note : str
        What else to know.
    single : bool
        Whether it compares scores as float32, so that scores which differ by less are equal.

    Examples
    --------
    >>> PRESETS["smgcn"].ties, PRESETS["smgcn"].metrics[-1]
    ('id', 'ndcg[idcg=hits]')
    """

    metrics: tuple[str, ...]
    ties: str
    empty: str
    note: str
    single: bool = False


PRESETS: dict[str, Preset] = {
    "smgcn": Preset(
        ("precision", "recall", "f1", "rmrr", "ndcg[idcg=hits]"),
        "id",
        "error",
        "the authors' program; its NDCG divides by the ideal of the hits it retrieved in the top max(K)",
    ),
    "trec_eval": Preset(
        ("precision", "recall", "ndcg[idcg=min]", "map[over=n]", "mrr", "hit_rate"),
        "reverse_id",
        "skip",
        "scores are compared as float32; equal scores go to the later document name; queries without relevant "
        "documents are left out; its own recip_rank and map look at the whole list, so take the last K as long as "
        "the run",
        single=True,
    ),
    "recbole": Preset(
        ("recall", "mrr", "ndcg[idcg=min]", "hit_rate", "precision", "map[over=min]"),
        "id",
        "skip",
        "it selects with torch.topk, which orders equal scores in no defined way",
    ),
    "rectools": Preset(
        ("precision", "recall", "ndcg[idcg=k]", "map[over=n]", "mrr", "hit_rate"),
        "id",
        "skip",
        "it takes ranks as given, so ties are settled before; NDCG divides by the first K discounts",
    ),
}
