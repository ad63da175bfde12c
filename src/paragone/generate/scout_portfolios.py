"""Which stand-ins there are, and in which configurations they look candidates over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SCOUTS: Mapping[str, tuple[str, tuple[Mapping[str, Any], ...]]] = {
    "boosting": (
        "paragone.generate.scouts:BoostingScout",
        ({"n_trees": 60, "depth": 4, "rate": 0.25}, {"n_trees": 40, "depth": 8, "rate": 0.25, "penalty": 5.0}),
    ),
    "forest": (
        "paragone.generate.scouts:ForestScout",
        ({"n_trees": 25}, {"n_trees": 25, "every_feature": True}),
    ),
}
