"""Every table of every page compiles in a real LaTeX, whatever methods and datasets are called."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import paragone

sys.path.insert(0, str(Path(__file__).parent))
from small_labs import crossval_lab, topk_lab
from synthetic_stores import NASTY_NAMES, write_store

NAMES = (*NASTY_NAMES, "方法", "Łódź «ą»", "=1+1", "[b]", "~^\\x#", "e\u0301 \N{WOMAN}\u200d\N{MICROSCOPE}")


def compiled(folder: Path) -> subprocess.CompletedProcess[str]:
    compiler = shutil.which("pdflatex")
    assert compiler is not None, "there is no pdflatex: run scripts/install-latex"
    packages = r"\usepackage{booktabs}\usepackage{graphicx}"
    (folder / "paper.tex").write_text(
        rf"\documentclass{{article}}{packages}\begin{{document}}\input{{tables.tex}}\end{{document}}"
    )
    command = [compiler, "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)


@pytest.mark.slow
@pytest.mark.parametrize("make", [write_store, crossval_lab, topk_lab])
def test_all_tables_of_a_page_compile_under_hostile_names(make, tmp_path):
    store = make(tmp_path / "lab.sqlite", NAMES, NAMES[:3])
    paragone.report(store, tmp_path / "out", charts=False)
    ended = compiled(tmp_path / "out")
    assert ended.returncode == 0, ended.stdout[-2000:]
    assert "Overfull" not in "".join(line for line in ended.stdout.splitlines() if "tabular" in line)
    assert (tmp_path / "out" / "paper.pdf").stat().st_size > 20_000
