"""Draw with the one font that comes with the renderer: half the time, and the same letters on every machine."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

LAST_PLAIN = "\u024f"
PLAIN = frozenset("–—‘’“”•…←→−≤≥≈")


def use_the_bundled_font() -> None:
    """Show the renderer of this process no font but its own, Liberation Sans; to be called before it draws.

    The renderer opens a font of the system anew for every letter that it measures, two thousand times a chart. Its
    own font lies in memory, and is what it takes for charts anyway where the system has no other.
    """
    folder = tempfile.mkdtemp(prefix="paragone-fonts-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    empty = Path(folder) / "empty"
    empty.mkdir()
    settings = Path(folder) / "fonts.conf"
    settings.write_text(
        f'<?xml version="1.0"?>\n<fontconfig><dir>{escape(str(empty))}</dir></fontconfig>\n', encoding="utf-8"
    )
    os.environ["FONTCONFIG_FILE"] = str(settings)


def one_font_is_enough(specification: Any) -> bool:
    r"""Say whether a chart has only letters that the bundled font has.

    Examples
    --------
    >>> one_font_is_enough({"title": "Größe ≤ 3"}), one_font_is_enough({"title": ["herb", "\u5934\u75db"]})
    (True, False)
    """
    if isinstance(specification, str):
        return specification.isascii() or all(letter <= LAST_PLAIN or letter in PLAIN for letter in specification)
    if isinstance(specification, Mapping):
        return all(one_font_is_enough(name) and one_font_is_enough(v) for name, v in specification.items())
    if isinstance(specification, (list, tuple)):
        return all(one_font_is_enough(value) for value in specification)
    return True
