"""Moments: the time of day as a store writes it down."""

from __future__ import annotations

from datetime import UTC, datetime


def this_moment() -> str:
    """Return the time of day in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
