"""A real LaTeX for tests."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

HEAD = r"\documentclass{article}\usepackage{booktabs}\usepackage{graphicx}"


def compile_latex(body: str, folder: Path) -> str:
    """Compile a document with this body to paper.pdf in a folder, and return what LaTeX said."""
    compiler = shutil.which("pdflatex")
    assert compiler is not None, "there is no pdflatex: run scripts/install-latex"
    document = rf"{HEAD}\begin{{document}}{body}\end{{document}}"
    (folder / "paper.tex").write_text(document, encoding="utf-8")
    command = [compiler, "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    ended = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, errors="replace", check=False
    )
    assert ended.returncode == 0, ended.stdout[-2000:]
    return ended.stdout
