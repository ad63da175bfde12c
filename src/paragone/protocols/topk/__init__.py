"""The topk protocol: recommenders trained once a seed, scored by their lists for the test queries."""

from paragone.protocols.topk.protocol import TopK

__all__ = ["TopK"]
