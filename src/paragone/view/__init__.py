"""The live view: the report's page while a run goes on, served to this machine only."""

from paragone.view.app import create_app
from paragone.view.serving import serve

__all__ = ["create_app", "serve"]
