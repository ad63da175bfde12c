"""`paragone generate ...`: datasets that tell methods apart, and the published procedure that made such sets."""

import importlib

from paragone.cli.generate.group import generate

__all__ = ["generate"]

# A module adds its commands when it is imported: in this order `paragone generate --help` shows
# them.
for _name in ("sample", "published", "collections", "report"):
    importlib.import_module(f"{__name__}.{_name}")
