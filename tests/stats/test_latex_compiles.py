"""The LaTeX of a comparison compiles, whatever the methods are called."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import paragone
from real_latex import compile_latex


@pytest.mark.slow
def test_tables_of_a_comparison_compile_in_a_real_latex(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((12, 3)), columns=["A_1 & B", "50% {x} #2", "~^\\$"])
    frame.insert(0, "dataset", [f"set_{i} & co" for i in range(12)])
    many = paragone.compare(frame, metric="accuracy").to_latex()
    two = paragone.pairwise(
        frame["A_1 & B"], frame["50% {x} #2"], metric="accuracy", threshold=0.3
    ).to_latex()
    compile_latex(many + two, tmp_path)
