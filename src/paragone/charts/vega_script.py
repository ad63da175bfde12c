"""Vega as one script: putting it together takes a second, so it is kept in the user's cache from the first time on."""

from __future__ import annotations

import hashlib
import os
import tempfile
from contextlib import suppress
from functools import cache
from importlib.metadata import version as installed
from pathlib import Path

GLOBALS = "window.vegaEmbed = vegaEmbed; window.vega = vega; window.vegaLite = vegaLite;"


@cache
def vega_bundle() -> str:
    """Return Vega, Vega-Lite and vega-embed as one script that needs no network.

    Examples
    --------
    >>> "</script" in vega_bundle()
    False
    """
    version = vega_lite_version()
    file = kept_as(version)
    return read_kept(file) or make_bundle(version, file)


def vega_lite_version() -> str:
    """Return the version of Vega-Lite that Altair writes charts for.

    Examples
    --------
    >>> vega_lite_version().count(".")
    1
    """
    import altair as alt

    return ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])


def make_bundle(version: str, file: Path) -> str:
    """Put the script together for a version of Vega-Lite, and keep it."""
    import vl_convert

    bundle = str(vl_convert.javascript_bundle(snippet=GLOBALS, vl_version=version))
    script = bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--")
    keep(file, script)
    return script


def kept_as(version: str) -> Path:
    """Return where the script of a version of Vega-Lite is kept."""
    snippet = hashlib.sha256(GLOBALS.encode()).hexdigest()[:8]
    return cache_folder() / f"vega-{version}-{installed('vl-convert-python')}-{snippet}.js"


def cache_folder() -> Path:
    """Return where things are kept that can be made again at any time."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "paragone"


def read_kept(file: Path) -> str | None:
    """Return a text that was kept; None where there is none, or where it is not what was kept."""
    try:
        digest, _, text = file.read_bytes().partition(b"\n")
    except OSError:
        return None
    return text.decode() if hashlib.sha256(text).hexdigest().encode() == digest else None


def keep(file: Path, text: str) -> None:
    """Keep a text with its hash, whole or not at all; where that cannot be, it is made again the next time."""
    data = text.encode()
    with suppress(OSError, RuntimeError):
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as partial:
            partial.write(hashlib.sha256(data).hexdigest().encode() + b"\n" + data)
        Path(partial.name).replace(file)
