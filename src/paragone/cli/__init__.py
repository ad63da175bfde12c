"""The command line: parses, calls the API, prints. It holds no logic; every module here adds its verb to the app."""

import importlib
import pkgutil

from paragone.cli.app import app, main

__all__ = ["app", "main"]

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
