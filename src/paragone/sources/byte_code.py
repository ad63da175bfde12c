"""Byte code as comparable bytes: without lines and file names, the same in every process of one Python."""

from __future__ import annotations

from types import CodeType
from typing import Any


def byte_code(code: CodeType) -> bytes:
    r"""Return what a code object does, with the code inside it; where it stands in its file does not matter.

    Examples
    --------
    >>> one, other = (compile(text, "", "exec") for text in ("def f(): return 1", "\n\ndef f(): return 1"))
    >>> byte_code(one) == byte_code(other), one == other
    (True, False)
    """
    inner = b"".join(byte_code(const) for const in code.co_consts if isinstance(const, CodeType))
    plain = [_stable(const) for const in code.co_consts if not isinstance(const, CodeType)]
    return b"|".join([code.co_code, repr((code.co_name, code.co_names, code.co_varnames, plain)).encode(), inner])


def _stable(const: Any) -> Any:
    """Write a constant in a way that does not depend on the order of hashes."""
    if isinstance(const, frozenset):
        return "frozenset", sorted(map(repr, const))
    if isinstance(const, tuple):
        return tuple(_stable(item) for item in const)
    return type(const).__name__, repr(const)
