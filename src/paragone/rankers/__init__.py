"""Feature rankers in scikit-learn's interface, one file each."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from paragone.rankers.base import Ranker

if TYPE_CHECKING:
    from paragone.rankers.chi2 import Chi2
    from paragone.rankers.dagfs import DAGFS
    from paragone.rankers.f_classif import FClassif
    from paragone.rankers.grro import GRRO
    from paragone.rankers.lrdg import LRDG
    from paragone.rankers.lrmfs import LRMFS
    from paragone.rankers.lsmfs import LSMFS
    from paragone.rankers.mutual_info import MutualInfo
    from paragone.rankers.random_order import RandomOrder
    from paragone.rankers.relieff import ReliefF
    from paragone.rankers.rfsfs import RFSFS
    from paragone.rankers.scnmf import SCNMF
    from paragone.rankers.srfs import SRFS
    from paragone.rankers.top_features import TopFeatures
    from paragone.rankers.variance import Variance

__all__ = [
    "ALIASES",
    "DAGFS",
    "GRRO",
    "LRDG",
    "LRMFS",
    "LSMFS",
    "RFSFS",
    "SCNMF",
    "SRFS",
    "Chi2",
    "FClassif",
    "MutualInfo",
    "RandomOrder",
    "Ranker",
    "ReliefF",
    "TopFeatures",
    "Variance",
]

ALIASES: dict[str, str] = {
    "dagfs": "paragone.rankers.dagfs:DAGFS",
    "lrmfs": "paragone.rankers.lrmfs:LRMFS",
    "grro": "paragone.rankers.grro:GRRO",
    "srfs": "paragone.rankers.srfs:SRFS",
    "scnmf": "paragone.rankers.scnmf:SCNMF",
    "lsmfs": "paragone.rankers.lsmfs:LSMFS",
    "lrdg": "paragone.rankers.lrdg:LRDG",
    "rfsfs": "paragone.rankers.rfsfs:RFSFS",
    "random": "paragone.rankers.random_order:RandomOrder",
    "variance": "paragone.rankers.variance:Variance",
    "chi2": "paragone.rankers.chi2:Chi2",
    "f-classif": "paragone.rankers.f_classif:FClassif",
    "mutual-info": "paragone.rankers.mutual_info:MutualInfo",
    "relieff": "paragone.rankers.relieff:ReliefF",
}
"""Short names of the rankers that come with Paragone, each with its ``module:Class``."""

_MODULES = {target.partition(":")[2]: target.partition(":")[0] for target in ALIASES.values()}
_MODULES["TopFeatures"] = "paragone.rankers.top_features"


def __getattr__(name: str) -> Any:
    """Import a ranker when it is first used."""
    if name not in _MODULES:
        raise AttributeError(f"module 'paragone.rankers' has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
