"""Executors: BLAS is held to one thread and given back; a map left by an error leaves no worker."""

import threading
from contextlib import ExitStack

import pytest
import scipy.linalg  # noqa: F401  # the BLAS that is counted
from threadpoolctl import threadpool_info

from likely.compute.executor import Serial, Threads, one_blas_thread
from likely.output.progress import report


def threads():
    return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]


def test_it_is_given_back():
    before = threads()
    with one_blas_thread():
        assert set(threads()) == {1}
    assert threads() == before


def test_fits_that_overlap_leave_it_as_they_found_it():
    """The first to begin is the first to end, as in two threads."""
    before = threads()
    first, second = ExitStack(), ExitStack()
    first.enter_context(one_blas_thread())
    second.enter_context(one_blas_thread())
    first.close()
    assert set(threads()) == {1}
    second.close()
    assert threads() == before


def workers():
    return [thread for thread in threading.enumerate() if thread.name.startswith("likely")]


@pytest.mark.parametrize("executor", [Serial(), Threads(2)])
def test_an_error_of_who_reads_the_results_ends_the_map(executor):
    with pytest.raises(OSError, match="full"), executor.mapping(abs, range(-9, 0)) as results:
        assert next(results) == 9
        raise OSError("full")
    assert not workers()


@pytest.mark.parametrize("executor", [Serial(), Threads(2)])
def test_a_map_has_every_result_in_order(executor):
    with executor.mapping(abs, range(-9, 0)) as results:
        assert list(results) == list(range(9, 0, -1))


@pytest.mark.parametrize("where", ["while it waits", "in between"])
def test_ctrl_c_stops_the_threads_at_their_next_report(where):
    begun, ended, cancelled = threading.Event(), threading.Event(), []

    def endless(block):
        if block == 0:
            return block
        if block > 1:
            cancelled.append(block)
        begun.set()
        try:
            while True:
                report("step", 1)
                ended.wait(0.001)
        finally:
            ended.set()

    def blocks():
        yield from (0, 1)
        if where == "while it waits":
            assert begun.wait(120)
            raise KeyboardInterrupt
        yield 2

    with (
        pytest.raises(KeyboardInterrupt),
        Threads(1).mapping(endless, blocks()) as results,
    ):
        for _ in results:
            assert begun.wait(120)
            raise KeyboardInterrupt
    assert ended.wait(120)
    assert cancelled == []


def test_a_report_goes_on_in_threads_that_are_not_stopped():
    assert list(Threads(2).map(lambda block: report("step", 1), range(3))) == [None] * 3
