"""Every table of every page compiles in a real LaTeX, whatever methods and datasets are called."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import paragone
from real_latex import compile_latex

sys.path.insert(0, str(Path(__file__).parent))
from small_labs import crossval_lab, topk_lab
from synthetic_stores import NASTY_NAMES, write_store

NAMES = (
    *NASTY_NAMES,
    "方法",
    "Łódź «ą»",
    "=1+1",
    "[b]",
    "~^\\x#",
    "e\u0301 \N{WOMAN}\u200d\N{MICROSCOPE}",
)


@pytest.mark.slow
@pytest.mark.parametrize("make", [write_store, crossval_lab, topk_lab])
def test_all_tables_of_a_page_compile_under_hostile_names(make, tmp_path):
    store = make(tmp_path / "lab.sqlite", NAMES, NAMES[:3])
    paragone.report(store, tmp_path / "out", charts=False)
    said = compile_latex(r"\input{tables.tex}", tmp_path / "out")
    assert "Overfull" not in "".join(line for line in said.splitlines() if "tabular" in line)
    assert (tmp_path / "out" / "paper.pdf").stat().st_size > 20_000
