"""A table of predictions beside what is right is no table of scores."""

from __future__ import annotations

import pandas as pd
import pytest

from paragone.errors import InputError
from paragone.intake.collect import frame_results


@pytest.mark.parametrize("truth", ["y_true", "label", "Ground Truth", "target"])
def test_what_is_right_is_not_taken_for_a_method(truth):
    rows = {"id": [1, 2, 3, 4], truth: [0, 1, 1, 0], "rf": [0, 1, 0, 0], "lr": [1, 1, 1, 0]}
    with pytest.raises(
        InputError, match=f"'{truth}' holds what is right, so rf, lr are predictions"
    ):
        frame_results(pd.DataFrame(rows))
    right = pd.DataFrame({"id": rows["id"], "rf": [1, 1, 0, 1], "lr": [0, 1, 1, 1]})
    assert frame_results(right).methods == ["rf", "lr"]
