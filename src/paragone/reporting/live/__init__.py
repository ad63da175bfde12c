"""The live view: the report's page while a run goes on, served to this machine only."""

from __future__ import annotations

from paragone.reporting.live.app import create_app, serve

__all__ = ["create_app", "serve"]
