"""Every executor gives the same bits, keeps the order, holds a window, and stops at an error."""

import operator
import pickle
import threading
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
import threadpoolctl

from likely.compute.executor import (
    EXECUTORS,
    SERIAL_BYTES,
    WINDOW,
    Serial,
    Threads,
    executor_for,
    usable_cores,
)
from likely.data.block import ArrayBlocks
from likely.data.layouts.dense import Dense
from likely.distributions import DISTRIBUTIONS
from likely.errors import InvalidInput, UnknownName
from likely.numerics.additive import FieldwiseAdditive
from likely.objectives.components import block_totals
from tests.event_models import N_COMPONENTS, assert_same

ALL = [Serial(), Threads(1), Threads(3)]
every_executor = pytest.mark.parametrize("executor", ALL, ids=["serial", "one", "three"])


@dataclass(frozen=True, eq=False)
class Total(FieldwiseAdditive):
    value: np.ndarray


def weighted(power, block):
    return Total((block**power).sum(axis=0))


@pytest.mark.parametrize("n_blocks", [1, 2, 7, 64])
def test_all_executors_give_the_same_bits(n_blocks):
    rng = np.random.default_rng(n_blocks)
    blocks = [10.0 ** rng.integers(-8, 8) * rng.normal(size=(50, 3)) for _ in range(n_blocks)]
    term = partial(weighted, 3)
    one, *others = (executor.sum(term, blocks).value for executor in ALL)
    assert all(np.array_equal(one, other) for other in others)
    np.testing.assert_allclose(one, sum(np.vstack(blocks) ** 3), rtol=1e-9)


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_statistics_are_the_same_bits_on_every_executor(name):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (500, 3)).astype(float)
    blocks = ArrayBlocks(Dense(X), rng.integers(0, N_COMPONENTS, 500), rows_per_block=37)
    term = partial(block_totals, DISTRIBUTIONS[name], N_COMPONENTS)
    term = pickle.loads(pickle.dumps(term))  # every term travels
    one, *others = (executor.sum(term, blocks) for executor in ALL)
    for other in others:
        assert_same(other.statistics, one.statistics, rtol=0, atol=0)
        assert np.array_equal(other.count, one.count)


@every_executor
def test_results_come_in_the_order_of_the_blocks(executor):
    first = threading.Event()

    def slow_first(block):
        if block == 0 and executor == Threads(3):
            first.wait(5)  # a later block is done before this one
        if block == 2:
            first.set()
        return -block

    assert list(executor.map(slow_first, range(20))) == [-block for block in range(20)]


@every_executor
def test_only_a_window_of_blocks_is_in_flight(executor):
    drawn = done = most = 0

    def blocks():
        nonlocal drawn
        for block in range(50):
            drawn += 1
            yield block

    for _ in executor.map(operator.neg, blocks()):
        most = max(most, drawn - done)
        done += 1
    assert done == 50
    assert most <= (WINDOW * executor.workers if isinstance(executor, Threads) else 1)


@every_executor
def test_an_error_in_a_term_surfaces_and_stops_the_pass(executor):
    drawn = []

    def blocks():
        for block in range(1000):
            drawn.append(block)
            yield block

    def broken(block):
        if block == 5:
            raise InvalidInput("block 5 is bad")
        return Total(np.ones(1))

    with pytest.raises(InvalidInput, match="block 5 is bad"):
        executor.sum(broken, blocks())
    assert len(drawn) <= 6 + WINDOW * 3


def blas_threads():
    return {p["num_threads"] for p in threadpoolctl.threadpool_info() if p["user_api"] == "blas"}


def test_threads_hold_blas_to_one_thread_and_give_it_back():
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        within = list(Threads(2).map(lambda _: blas_threads(), range(3)))
        assert within == [{1}] * 3
        assert blas_threads() == before != {1}
        with pytest.raises(ZeroDivisionError):
            list(Threads(2).map(lambda block: 1 / block, [1, 0]))
        assert blas_threads() == before


@every_executor
def test_an_empty_sum_has_no_total(executor):
    with pytest.raises(ValueError, match="empty sum"):
        executor.sum(partial(weighted, 1), [])


def test_auto_is_serial_for_small_data_and_threads_above():
    assert executor_for("auto", SERIAL_BYTES - 1) == Serial()
    assert executor_for("auto", SERIAL_BYTES) == Threads()
    assert executor_for("auto", None) == Threads()


def test_an_executor_is_named_or_given():
    assert executor_for("serial", None) == Serial()
    assert executor_for(Threads(2), 0) == Threads(2)
    assert set(EXECUTORS) == {"serial", "threads"}
    with pytest.raises(UnknownName, match=r"no executor 'thread'.*Did you mean 'threads'"):
        executor_for("thread", 0)


def test_the_number_of_workers_follows_the_environment(monkeypatch):
    monkeypatch.setenv("LIKELY_JOBS", "3")
    assert usable_cores() == 3
    monkeypatch.setenv("LIKELY_JOBS", "many")
    with pytest.raises(InvalidInput, match="'many'; expected a whole number"):
        usable_cores()
    monkeypatch.delenv("LIKELY_JOBS")
    assert usable_cores() >= 1
