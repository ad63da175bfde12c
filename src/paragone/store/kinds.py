"""Which experiments of a store are of which protocol; asked before the modules that read them are imported."""

from __future__ import annotations

from paragone.store.store import Store

EXPERIMENTS = """
SELECT DISTINCT e.name FROM plan p JOIN experiments e ON e.id = p.experiment_id
WHERE p.current = 1 AND p.protocol = ? ORDER BY e.id
"""


def crossval_experiments(store: Store) -> list[str]:
    """Return the experiments of a store whose protocol is a cross-validation."""
    return _of_protocol(store, "crossval")


def topk_experiments(store: Store) -> list[str]:
    """Return the experiments of a store whose protocol is top-K recommendation."""
    return _of_protocol(store, "topk")


def _of_protocol(store: Store, protocol: str) -> list[str]:
    return [row[0] for row in store.read(EXPERIMENTS, (protocol,))]
