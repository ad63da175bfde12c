"""Tables as plain bytes on their way to the workers of a run."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd


def to_buffers(frame: pd.DataFrame) -> dict[str, NDArray[np.uint8]]:
    """Return a table as plain bytes: its description, and the memory of its columns apart, to be mapped where it lies.

    They never leave the run: pickle is between a run and its own workers only.
    """
    buffers: list[pickle.PickleBuffer] = []
    described = pickle.dumps(frame, protocol=5, buffer_callback=buffers.append)
    parts: list[Any] = [described, *(buffer.raw() for buffer in buffers)]
    return {str(place): np.frombuffer(part, dtype=np.uint8) for place, part in enumerate(parts)}


def from_buffers(parts: Mapping[str, NDArray[np.uint8]]) -> pd.DataFrame:
    """Return the table that `to_buffers` took apart; its columns lie in the given memory.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"a": [1.5, 2.5], "b": ["x", "y"]})
    >>> from_buffers(to_buffers(frame)).equals(frame)
    True
    """
    ordered = [parts[str(place)] for place in range(len(parts))]
    found: pd.DataFrame = pickle.loads(  # noqa: S301  what this run wrote itself
        ordered[0].tobytes(), buffers=[part.data for part in ordered[1:]]
    )
    return found
