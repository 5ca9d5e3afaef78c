"""A map that is left by an error leaves no worker behind."""

import threading

import pytest

from likely.compute.executor import Serial, Threads


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
