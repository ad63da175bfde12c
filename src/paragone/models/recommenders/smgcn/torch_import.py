"""PyTorch, imported only when a network is trained."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from paragone.errors import InputError


def require_torch() -> Any:
    """Return the torch module, or say how to install it."""
    try:
        return import_module("torch")
    except ImportError as error:
        raise InputError(
            "smgcn needs PyTorch, which is not installed: pip install 'paragone[recsys]' (or pip install torch)"
        ) from error
