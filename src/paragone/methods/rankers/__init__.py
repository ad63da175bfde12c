"""Feature rankers in scikit-learn's interface, one file each."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from paragone.methods.rankers.base import Ranker

if TYPE_CHECKING:
    from paragone.methods.rankers.dagfs import DAGFS
    from paragone.methods.rankers.floors import Chi2, FClassif, MutualInfo, RandomOrder, Variance
    from paragone.methods.rankers.grro import GRRO
    from paragone.methods.rankers.lrdg import LRDG
    from paragone.methods.rankers.lrmfs import LRMFS
    from paragone.methods.rankers.lsmfs import LSMFS
    from paragone.methods.rankers.relieff import ReliefF
    from paragone.methods.rankers.rfsfs import RFSFS
    from paragone.methods.rankers.scnmf import SCNMF
    from paragone.methods.rankers.srfs import SRFS
    from paragone.methods.rankers.top_features import TopFeatures

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
    "dagfs": "paragone.methods.rankers.dagfs:DAGFS",
    "lrmfs": "paragone.methods.rankers.lrmfs:LRMFS",
    "grro": "paragone.methods.rankers.grro:GRRO",
    "srfs": "paragone.methods.rankers.srfs:SRFS",
    "scnmf": "paragone.methods.rankers.scnmf:SCNMF",
    "lsmfs": "paragone.methods.rankers.lsmfs:LSMFS",
    "lrdg": "paragone.methods.rankers.lrdg:LRDG",
    "rfsfs": "paragone.methods.rankers.rfsfs:RFSFS",
    "random": "paragone.methods.rankers.floors:RandomOrder",
    "variance": "paragone.methods.rankers.floors:Variance",
    "chi2": "paragone.methods.rankers.floors:Chi2",
    "f-classif": "paragone.methods.rankers.floors:FClassif",
    "mutual-info": "paragone.methods.rankers.floors:MutualInfo",
    "relieff": "paragone.methods.rankers.relieff:ReliefF",
}
"""Short names of the rankers that come with Paragone, each with its ``module:Class``."""

_MODULES = {target.partition(":")[2]: target.partition(":")[0] for target in ALIASES.values()}
_MODULES["TopFeatures"] = "paragone.methods.rankers.top_features"


def __getattr__(name: str) -> Any:
    """Import a ranker when it is first used."""
    if name not in _MODULES:
        raise AttributeError(f"module 'paragone.methods.rankers' has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
