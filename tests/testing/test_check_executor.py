"""The executors that Paragone knows keep the contract, and one that does not is named with the law it breaks."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor

import pytest
from distributed import Client, LocalCluster
from loky import ProcessPoolExecutor as LokyExecutor

from paragone.testing import check_executor
from paragone.testing.executors import EXECUTOR_CONTRACT


def threads() -> Executor:
    return ThreadPoolExecutor(3)


def processes() -> Executor:
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))


def loky() -> Executor:
    return LokyExecutor(2)


@pytest.mark.parametrize("make", [threads, processes, pytest.param(loky, marks=pytest.mark.slow)])
def test_a_local_executor_keeps_the_contract(make):
    with make() as executor:
        assert len(check_executor(executor)) == len(EXECUTOR_CONTRACT.laws)


def test_a_dask_cluster_keeps_the_contract():
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        assert len(check_executor(client.get_executor(pure=False))) == len(EXECUTOR_CONTRACT.laws)


class Forgetful(ThreadPoolExecutor):
    """Loses every error."""

    def submit(self, function, /, *args, **kwargs):
        future: Future = Future()
        try:
            future.set_result(function(*args, **kwargs))
        except ZeroDivisionError:
            future.set_result(None)
        return future


def test_an_executor_that_loses_errors_is_found_out():
    with (
        Forgetful(1) as executor,
        pytest.raises(AssertionError, match='breaks the law "an error comes back as itself"'),
    ):
        check_executor(executor)
