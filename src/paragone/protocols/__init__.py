"""Protocols: how a method is run on a split, scored and told; each is found by its kind."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paragone.lab.protocol import Arrangement, Facts, Protocol, protocols
    from paragone.protocols.crossval.protocol import Crossval
    from paragone.protocols.crossval.scores import Criterion
    from paragone.protocols.curve.files import (
        Exported,
        Imported,
        export_protocol_files,
        import_rankings,
        read_ranking,
        write_ranking,
    )
    from paragone.protocols.curve.protocol import Curve, KGrid, PGrid, ranking_curve
    from paragone.protocols.predict import Predict
    from paragone.protocols.topk.protocol import TopK

__all__ = [
    "Arrangement",
    "Criterion",
    "Crossval",
    "Curve",
    "Exported",
    "Facts",
    "Imported",
    "KGrid",
    "PGrid",
    "Predict",
    "Protocol",
    "TopK",
    "export_protocol_files",
    "import_rankings",
    "protocols",
    "ranking_curve",
    "read_ranking",
    "write_ranking",
]

DEFAULT_KIND = "curve"
"""The protocol of an experiment that names none."""
GIVEN_KIND = "given"
"""The protocol of results from elsewhere."""
_HOMES = {
    "Arrangement": "paragone.lab.protocol",
    **dict.fromkeys(
        (
            "Exported",
            "Facts",
            "Imported",
            "export_protocol_files",
            "import_rankings",
            "read_ranking",
            "write_ranking",
        ),
        "paragone.protocols.curve.files",
    ),
    "Criterion": "paragone.protocols.crossval.scores",
    "Crossval": "paragone.protocols.crossval.protocol",
    "Curve": "paragone.protocols.curve.protocol",
    "KGrid": "paragone.protocols.curve.protocol",
    "PGrid": "paragone.protocols.curve.protocol",
    "Predict": "paragone.protocols.predict",
    "Facts": "paragone.lab.protocol",
    "Protocol": "paragone.lab.protocol",
    "TopK": "paragone.protocols.topk.protocol",
    "protocols": "paragone.lab.protocol",
    "ranking_curve": "paragone.protocols.curve.protocol",
}


def __getattr__(name: str) -> Any:
    """Import a protocol when it is first used: one alone takes longer than reading a store."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
