"""What tests and examples in docstrings share: names that one of them registers are gone for the next."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from paragone.data.reader import readers
from paragone.methods.method import methods
from paragone.metrics.metric import metrics
from paragone.registry import Registry
from paragone.reporting.pages import sections
from paragone.stats.registries import corrections, tests

REGISTRIES: tuple[Registry, ...] = (
    readers,
    methods,
    metrics,
    sections,
    tests,
    corrections,
)


@pytest.fixture(scope="session", autouse=True)
def _our_own_names_are_there() -> None:
    """Import what registers itself first, so that it is never taken for a test's own."""
    for registry in REGISTRIES:
        registry.names()


@pytest.fixture(autouse=True)
def _registered_names_end_with_their_test(_our_own_names_are_there: None) -> Iterator[None]:
    """Forget what a test or an example registered: the order in which they run must not matter."""
    before = [(dict(registry._known), dict(registry._aliases)) for registry in REGISTRIES]
    yield
    for registry, (known, aliases) in zip(REGISTRIES, before, strict=True):
        registry._known, registry._aliases = known, aliases
