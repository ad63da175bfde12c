"""The state of the user's own code: which files took part, their hashes, and the commit they belong to."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sysconfig
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

GIT_SECONDS = 20


OURS = Path(__file__).resolve().parents[1]


def is_installed(file: Path) -> bool:
    """Whether a file belongs to Python, to an installed package or to Paragone itself."""
    return file.resolve().is_relative_to(OURS) or _in_packages(file)


def _in_packages(file: Path) -> bool:
    folders = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    return any(file.resolve().is_relative_to(Path(folder).resolve()) for folder in folders)


@cache
def own_checkout() -> dict[str, Any]:
    """Return repository, commit and state of Paragone's own sources; nothing where it was installed from a package."""
    return {} if _in_packages(OURS) else _repository(OURS)


def code_state(files: Mapping[str, Path]) -> list[dict[str, Any]]:
    """Describe files of code: name, hash, and the git commit they stand in, where they do.

    Parameters
    ----------
    files : mapping of str to Path
        What each is, such as ``"experiment file"`` or a module's name, and where it is.

    Returns
    -------
    list of dict
        ``what``, ``file`` (its name without the folder, which is nobody's business), ``sha256``; in a repository also
        ``repository``, ``commit`` and ``dirty``: whether the file or any tracked one differs from the commit.
    """
    described = []
    repositories: dict[Path, dict[str, Any]] = {}
    for what, file in files.items():
        folder = file.resolve().parent
        if folder not in repositories:
            repositories[folder] = _repository(folder)
        told = {"what": what, "file": file.name, "sha256": _sha256(file), **repositories[folder]}
        if told.get("commit") and not told["dirty"]:
            told["dirty"] = _git(folder, "ls-files", "--error-unmatch", "--", file.name) is None
        described.append(told)
    return described


def _repository(folder: Path) -> dict[str, Any]:
    commit = _git(folder, "rev-parse", "--verify", "HEAD")
    top = _git(folder, "rev-parse", "--show-toplevel")
    if not commit or not top:
        return {}
    changes = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return {"repository": Path(top).name, "commit": commit, "dirty": changes is None or bool(changes)}


def _git(folder: Path, *arguments: str) -> str | None:
    """Ask git; None where it is not there, the folder is in no repository, or the answer is no."""
    program = shutil.which("git")
    if program is None:
        return None
    command = [program, "-c", "core.fsmonitor=false", "-C", str(folder), *arguments]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=GIT_SECONDS, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return None
    return ended.stdout.strip() if ended.returncode == 0 else None


def _sha256(file: Path) -> str | None:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return None
