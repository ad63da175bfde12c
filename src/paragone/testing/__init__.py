"""The contracts every plug-in must keep, as checks that a user runs on theirs with one call."""

from paragone.testing.contract import Contract, Law, require
from paragone.testing.executors import check_executor
from paragone.testing.metrics import check_metric
from paragone.testing.protocols import check_protocol
from paragone.testing.rankers import check_ranker
from paragone.testing.readers import check_reader
from paragone.testing.recommenders import check_recommender

__all__ = [
    "Contract",
    "Law",
    "check_executor",
    "check_metric",
    "check_protocol",
    "check_ranker",
    "check_reader",
    "check_recommender",
    "require",
]
