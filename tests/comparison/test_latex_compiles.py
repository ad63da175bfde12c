"""The LaTeX of a comparison compiles, whatever the methods are called."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

import paragone


@pytest.mark.slow
def test_tables_of_a_comparison_compile_in_a_real_latex(tmp_path):
    compiler = shutil.which("pdflatex")
    assert compiler is not None, "install texlive-latex-base and texlive-latex-recommended"
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((12, 3)), columns=["A_1 & B", "50% {x} #2", "~^\\$"])
    frame.insert(0, "dataset", [f"set_{i} & co" for i in range(12)])
    many = paragone.compare(frame, metric="accuracy").to_latex()
    two = paragone.pairwise(frame["A_1 & B"], frame["50% {x} #2"], metric="accuracy", threshold=0.3).to_latex()
    document = rf"\documentclass{{article}}\usepackage{{booktabs}}\begin{{document}}{many}{two}\end{{document}}"
    (tmp_path / "all.tex").write_text(document, encoding="utf-8")
    run = subprocess.run(
        [compiler, "-interaction=nonstopmode", "-halt-on-error", "all.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-2000:]
